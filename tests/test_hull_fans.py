"""Faces of a hull are divided into triangles by the order of its points alone, not as rounding has it: the same in other units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nexdyn.geometry.hull import fanned, massive_of, surface
from nexdyn.geometry.mesh_shapes import facets

SCALES = (1e3, 3.0, 0.1, 7e-4)
ROUND: dict[str, dict[str, Any]] = {
    "sphere": {"radius": 0.37},
    "capsule": {"radius": 0.07, "length": 0.31},
    "cylinder": {"radius": 0.13, "length": 0.29},
    "cone": {"radius": 0.11, "length": 0.23},
    "ellipsoid": {"semi_axes": (0.11, 0.07, 0.19)},
}


def prism(sides: int, seed: int) -> np.ndarray:
    """Corners of a prism, somehow turned: faces of several triangles each, which no axis lies along."""
    angle = 2.0 * np.pi / sides * np.arange(sides)
    rim = np.column_stack([np.cos(angle), 1.3 * np.sin(angle)])
    corners = np.vstack([np.column_stack([rim, np.full(sides, z)]) for z in (-0.4, 0.7)])
    return np.asarray(Rotation.random(random_state=seed).apply(corners))


def same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two lots of triangles (nt, 3, 3) are the same, in any order."""

    def told(triangles: np.ndarray) -> set[tuple[tuple[float, ...], ...]]:
        return {tuple(sorted(map(tuple, (np.round(t, 9) + 0.0).tolist()))) for t in triangles}

    return len(one) == len(other) and told(one) == told(other)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ROUND)
def test_round_shapes_have_the_same_facets_in_other_units(name: str, scale: float) -> None:
    sizes = {key: np.multiply(x, scale) for key, x in ROUND[name].items()}
    one, other = (facets(name, **given).tables.corners.reshape(-1, 3, 3) for given in (ROUND[name], sizes))
    assert same(one, other / scale)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("sides", [3, 4, 5, 8, 30])
def test_faces_of_a_hull_are_divided_the_same_in_other_units(sides: int, scale: float) -> None:
    for seed in range(5):
        corners = prism(sides, seed)
        _, _, triangles = surface(corners)
        assert same(triangles, surface(scale * corners)[2] / scale)
        assert len(triangles) == 4 * sides - 4
        made = massive_of(triangles)
        assert made.volume == pytest.approx(1.1 * 0.5 * sides * 1.3 * np.sin(2.0 * np.pi / sides), rel=1e-12)
        n = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        assert (np.einsum("ij,ij->i", n, triangles.mean(axis=1) - corners.mean(axis=0)) > 0.0).all()


def test_what_lies_in_no_plane_stays_as_it_is() -> None:
    points = np.random.default_rng(1).normal(size=(40, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    triangles, normals = fanned(hull.simplices, hull.neighbors, hull.equations[:, :3])
    assert triangles is hull.simplices and (normals == hull.equations[:, :3]).all()
