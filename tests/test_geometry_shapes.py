"""What the pages of shapes say of them: support, bounding sphere, volume, inertia and curvatures agree with each other."""

from __future__ import annotations

import dataclasses
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from geometry_lab import CUBE, KINDS, Description, outside, random_shape, width

import nexdyn as nx
from nexdyn.geometry import dispatch, hull, kinds
from nexdyn.geometry.kinds import PAGES, Catalogue
from nexdyn.geometry.solid import HALF_SPACE, Page, solid_of
from nexdyn.kernel import kernel
from nexdyn.spatial import solids
from nexdyn.spatial.table import Vec3Rows


@kernel
def supports(tables, i, directions, points):  # type: ignore[no-untyped-def]
    """Support points (n, 3) of the core of shape i along `directions` (n, 3)."""
    s, n, x = solid_of(tables.shapes, i), Vec3Rows(directions, 0), Vec3Rows(points, 0)
    for k in range(len(directions)):
        x[k] = kinds.support(s, tables, n[k])


def support_points(shape: Description, n: np.ndarray) -> np.ndarray:
    """Points of the shape farthest along unit n (k, 3)."""
    catalogue = Catalogue()
    i = catalogue.add(shape[0], **shape[1])
    points = np.zeros_like(n)
    supports(catalogue.tables(), i, n, points)
    return points + catalogue.tables().shapes[i, 4] * n


def directions(count: int, seed: int) -> np.ndarray:
    n = np.random.default_rng(seed).normal(size=(count, 3))
    return np.asarray(n / np.linalg.norm(n, axis=1)[:, None])


SHAPES = [random_shape(kind, np.random.default_rng(seed)) for kind in KINDS for seed in range(3)]
NAMES = [f"{kind}-{k % 3}" for k, (kind, _) in enumerate(SHAPES)]


@pytest.mark.parametrize("shape", SHAPES, ids=NAMES)
def test_a_support_point_is_of_the_shape_and_none_is_farther(shape: Description) -> None:
    axes = np.vstack([np.eye(3), -np.eye(3)])
    n = np.vstack([directions(200, 1), axes])
    points = support_points(shape, n)
    np.testing.assert_allclose(np.einsum("ij,ij->i", n, points), width(shape, n), rtol=0, atol=1e-14)
    assert max(outside(shape, x) for x in points) < 1e-14


@pytest.mark.parametrize("shape", SHAPES, ids=NAMES)
def test_the_bounding_sphere_holds_the_shape_and_no_smaller_one_does(shape: Description) -> None:
    catalogue = Catalogue()
    i = catalogue.add(shape[0], **shape[1])
    radius = catalogue.tables().shapes[i, 5]
    n = directions(4000, 2)
    points = support_points(shape, n)
    assert np.linalg.norm(points, axis=1).max() <= radius * (1 + 1e-14)
    assert width(shape, n).max() > 0.97 * radius


@pytest.mark.parametrize("shape", [s for s in SHAPES if s[0] != "hull"], ids=[k for k in NAMES if "hull" not in k])
def test_volume_centre_and_inertia_are_those_of_the_shape_cut_into_tetrahedra(shape: Description) -> None:
    catalogue = Catalogue()
    massive = catalogue.massive(catalogue.add(shape[0], **shape[1]))
    n = directions(12_000 if shape[0] == "ellipsoid" else 2000, 3)
    # also the flat ends and the side of round shapes, which few support points tell
    angle = np.arange(180) * 2 * np.pi / 180
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(180)])
    tipped = [ring * math.cos(t) + [0, 0, math.sin(t)] for t in (1e-3, -1e-3, 1.5, -1.5)]
    cut = hull.massive_of(hull.surface(np.unique(support_points(shape, np.vstack([n, *tipped])).round(12), axis=0))[2])
    assert cut.volume == pytest.approx(massive.volume, rel=8e-3)
    np.testing.assert_allclose(cut.centre, massive.centre, rtol=0, atol=3e-3 * catalogue.tables().shapes[0, 5])
    np.testing.assert_allclose(cut.inertia, massive.inertia, rtol=0, atol=1e-2 * np.trace(massive.inertia))


def test_a_hull_of_many_points_takes_memory_as_its_points_are() -> None:
    points = directions(6000, 5)
    tracemalloc.start()
    vertices, faces, _ = hull.surface(points)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(vertices) == 6000 and len(faces) > 11_000
    np.testing.assert_allclose((faces[:50, :3] @ vertices.T).max(axis=1), faces[:50, 3], rtol=1e-14)
    assert most < 40e6, "not faces times points, 600 MB"


def test_a_cube_of_tetrahedra_has_the_inertia_of_a_box_wherever_it_is() -> None:
    size = np.array([1.0, 2.0, 0.5])
    _, faces, triangles = hull.surface(CUBE * size + [5.0, -3.0, 2.0])
    assert len(faces) == 6
    massive = hull.massive_of(triangles)
    assert massive.volume == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(massive.centre, [5.0, -3.0, 2.0], rtol=1e-14)
    np.testing.assert_allclose(massive.inertia, solids.box(1.0, size), rtol=0, atol=1e-14)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s[0] in ("sphere", "ellipsoid")], ids=lambda s: s[0])
def test_on_a_smooth_surface_the_normal_turns_by_the_curvatures(shape: Description) -> None:
    catalogue = Catalogue()
    i = catalogue.add(shape[0], **shape[1])
    step = 1e-5
    for n in directions(20, 4):
        e1 = np.cross(n, [1.0, 0.0, 0.0] if abs(n[0]) < 0.9 else [0.0, 1.0, 0.0])
        e1 /= np.linalg.norm(e1)
        e2 = np.cross(n, e1)
        turned = np.array([n + sign * step * e for e in (e1, e2) for sign in (1.0, -1.0)])
        turned /= np.linalg.norm(turned, axis=1)[:, None]
        x = support_points(shape, turned)
        moved = np.array([x[0] - x[1], x[2] - x[3]]) / (2 * math.atan(step))  # dx/dφ: radii of curvature
        radii = np.linalg.eigvalsh(moved @ np.column_stack([e1, e2]))
        first, second = catalogue.curvatures(i, support_points(shape, n[None])[0], n)
        np.testing.assert_allclose([first, second], 1.0 / radii[::-1], rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "sizes", "x", "n", "curvatures"),
    [
        ("half-space", {}, (1, 2, 0), (0, 0, 1), (0, 0)),
        ("capsule", {"radius": 0.5, "length": 2}, (0.5, 0, 0.3), (1, 0, 0), (0, 2)),
        ("capsule", {"radius": 0.5, "length": 2}, (0, 0, 1.5), (0, 0, 1), (2, 2)),
        ("box", {"size": (1, 1, 1)}, (0.5, 0.1, 0), (1, 0, 0), (0, 0)),
        ("box", {"size": (1, 1, 1)}, (0.5, 0.5, 0), (0.6, 0.8, 0), (0, math.inf)),
        ("box", {"size": (1, 1, 1)}, (0.5, 0.5, 0.5), (0.48, 0.64, 0.6), (math.inf, math.inf)),
        ("cylinder", {"radius": 0.5, "length": 1}, (0.5, 0, 0.1), (1, 0, 0), (0, 2)),
        ("cylinder", {"radius": 0.5, "length": 1}, (0.1, 0, 0.5), (0, 0, 1), (0, 0)),
        ("cylinder", {"radius": 0.5, "length": 1}, (0.5, 0, 0.5), (0.6, 0, 0.8), (1.2, math.inf)),
        ("cone", {"radius": 3, "length": 4}, (1.5, 0, 0), (0.8, 0, 0.6), (0, 0.8 / 1.5)),
        ("cone", {"radius": 3, "length": 4}, (0, 0, 2), (0, 0, 1), (math.inf, math.inf)),
        ("cone", {"radius": 3, "length": 4}, (0.5, 0, -2), (0, 0, -1), (0, 0)),
        ("cone", {"radius": 3, "length": 4}, (3, 0, -2), (1, 0, 0), (1 / 3, math.inf)),
        ("hull", {"points": CUBE}, (0.5, 0.1, 0), (1, 0, 0), (0, 0)),
        ("hull", {"points": CUBE}, (0.5, 0.5, 0), (0.6, 0.8, 0), (0, math.inf)),
        ("hull", {"points": CUBE}, (0.5, 0.5, 0.5), (0.48, 0.64, 0.6), (math.inf, math.inf)),
    ],
)
def test_faces_edges_rims_and_corners_have_their_curvatures(
    name: str, sizes: dict[str, Any], x: Any, n: Any, curvatures: tuple[float, float]
) -> None:
    catalogue = Catalogue()
    assert catalogue.curvatures(catalogue.add(name, **sizes), x, n) == pytest.approx(curvatures)


def test_every_page_says_all_and_one_that_does_not_cannot_be_made() -> None:
    assert [page.kind for page in PAGES.values()] == list(range(len(PAGES)))
    for page in PAGES.values():
        assert (page.massive is None) == (page.kind == HALF_SPACE)
        for item in dataclasses.fields(Page):
            said = {field.name: getattr(page, field.name) for field in dataclasses.fields(Page) if field != item}
            with pytest.raises(TypeError, match=item.name):
                Page(**said)


@pytest.mark.parametrize("name", ["support", "excess"])
def test_a_page_without_a_function_or_with_another_kind_of_it_is_named(name: str) -> None:
    pages = list(PAGES.values())
    parameters = ("s", "tables", "n" if name == "support" else "x")
    without: Any = dataclasses.replace(pages[5], **{name: None})
    with pytest.raises(TypeError, match=f"page of cone has no {name}"):
        dispatch.verb(name, parameters, [*pages[:5], without, *pages[6:]])
    other: Any = dataclasses.replace(pages[5], **{name: lambda s, n: n})
    with pytest.raises(TypeError, match=f"{name} of the page of cone takes"):
        dispatch.verb(name, parameters, [*pages[:5], other, *pages[6:]])


def test_a_half_space_has_no_volume() -> None:
    catalogue = Catalogue()
    with pytest.raises(nx.InputError, match="a half-space has no volume"):
        catalogue.massive(catalogue.add("half-space"))


def test_a_hull_keeps_its_corners_and_one_face_a_plane() -> None:
    rng = np.random.default_rng(3)
    inside = rng.uniform(-0.4, 0.4, (50, 3))
    vertices, faces, triangles = hull.surface(np.vstack([inside, CUBE, CUBE]))
    assert len(vertices) == 8
    assert len(faces) == 6
    assert len(triangles) == 12
    np.testing.assert_allclose(faces[:, 3], 0.5, rtol=1e-15)
