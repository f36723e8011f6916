"""Height fields, distance fields and convex parts: what they are of, how exact, how smooth."""

from __future__ import annotations

import importlib.util
import sys
from types import SimpleNamespace
from typing import Any

import mesh_lab as lab
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.geometry.convex_parts import convex_parts
from nexdyn.geometry.field import Field, field
from nexdyn.geometry.height_field import height_field
from nexdyn.geometry.hull import surface as hull_surface
from nexdyn.geometry.mesh import Mesh, mesh
from nexdyn.geometry.mesh_distance import signed_distances, surface_distances
from nexdyn.geometry.mesh_shapes import surface_of

# --- height fields ---------------------------------------------------------------------------------------------------


def test_a_height_field_is_the_solid_below_its_triangles() -> None:
    rng = np.random.default_rng(0)
    z = 0.3 * rng.normal(size=(6, 9))
    made = height_field(z, (2.0, 3.0))
    assert made.closed and made.repairs == ()
    # two flat halves to a cell: the volume is that over the mean of their corners
    a, b, c, d = z[:-1, :-1], z[1:, :-1], z[1:, 1:], z[:-1, 1:]
    cell = 2.0 / 5.0 * 3.0 / 8.0
    bottom = z.min() - 3.0
    over = 0.5 * cell * ((a + b + c) / 3.0 + (a + c + d) / 3.0 - 2.0 * bottom)
    assert made.massive.volume == pytest.approx(over.sum(), rel=1e-12)
    x = rng.uniform(-1.0, 1.0, size=(200, 3)) * [1.2, 1.7, 1.0]
    tri = made.vertices[made.triangles]
    assert signed_distances(made.surface, x)[:, 0] == pytest.approx(lab.signed(x, tri), abs=1e-12)


def test_a_ball_on_a_slope_has_the_distance_of_a_plane() -> None:
    x = np.linspace(-1.0, 1.0, 11)
    slope = np.tan(0.3)
    made = height_field(np.outer(slope * x, np.ones(7)), (2.0, 2.0))
    ball = surface_of("sphere", radius=0.1)
    Y = lab.poses(np.array([[0.1, 0.2, 0.5], [0.0, 0.0, 0.05]]))
    answers = surface_distances(made.surface, ball, lab.poses(np.zeros((2, 3))), Y)
    expected = (Y[:, 11] - slope * Y[:, 9]) * np.cos(0.3) - 0.1
    assert answers[:, 0] == pytest.approx(expected, abs=1e-14)
    assert answers[:, 1:4] == pytest.approx(np.tile([-np.sin(0.3), 0.0, np.cos(0.3)], (2, 1)), abs=1e-14)


@pytest.mark.parametrize(
    ("heights", "size", "more", "told"),
    [
        ("hills", (1, 1), {}, "heights of the height field are 'hills'"),
        ([[0.0, 1.0]], (1, 1), {}, r"have shape \(1, 2\)"),
        ([[0.0, 1.0], [np.nan, 0.0]], (1, 1), {}, r"heights\[1, 0\] of the height field is nan"),
        (np.zeros((2, 2)), (1, 0), {}, r"size\[1\] of the height field is 0"),
        (np.zeros((2, 2)), 1.0, {}, "two edges"),
        (np.zeros((2, 2)), (1, 1), {"bottom": 0.5}, "must be below the lowest height, 0"),
        (np.zeros((600, 600)), (1, 1), {}, "358801 cells; at most 250000"),
    ],
)
def test_what_is_no_height_field_is_refused_by_name(heights: Any, size: Any, more: Any, told: str) -> None:
    with pytest.raises(nx.InputError, match=told):
        height_field(heights, size, **more)


# --- distance fields -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cube() -> tuple[Mesh, Field]:
    made = mesh(*lab.box())
    return made, field(made, 1.0 / 32)


def test_a_field_is_as_exact_as_it_states(cube: tuple[Mesh, Field]) -> None:
    made, of = cube
    x = np.random.default_rng(1).uniform(-0.55, 0.55, size=(20000, 3))
    exact = signed_distances(made.surface, x)[:, 0]
    near = abs(exact) < 2.0 * of.spacing
    error = abs(of.at(x)[near, 0] - exact[near])
    assert error.max() < 1.2 * of.error
    assert of.error < 0.002 * of.spacing  # a spline alone rounds edges of 90° by 0.21


def test_sharp_edges_are_kept_to_rounding_convex_and_concave_ones_and_corners() -> None:
    rng = np.random.default_rng(4)
    blade = [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1), (0.5, 0.16, 0), (0.5, 0.16, 1)]
    for made in (bent(), surface_mesh(np.array(blade)), mesh(*lab.box())):
        of = field(made, 1.0 / 24)
        ends = sharp_edges(made)
        some, t = ends[rng.integers(0, len(ends), 4000)], rng.uniform(size=(4000, 1))
        x = some[:, 0] * (1.0 - t) + some[:, 1] * t + of.spacing * rng.uniform(-1.5, 1.5, size=(4000, 3))
        found, exact = of.at(x), signed_distances(made.surface, x)
        np.testing.assert_allclose(found[:, 0], exact[:, 0], atol=1e-12)
        assert np.linalg.norm(found[:, 1:], axis=1) == pytest.approx(1.0, abs=1e-9)
        corner = of.at(made.vertices)
        np.testing.assert_allclose(corner[:, 0], 0.0, atol=1e-12)
        assert np.isfinite(corner).all()


def test_walls_thinner_than_four_spacings_have_the_error_that_is_stated() -> None:
    made = mesh(*lab.split(lab.split(lab.box((1.0, 1.0, 0.05)))))
    of = field(made, 1.0 / 40)  # two spacings thick
    x = np.random.default_rng(5).uniform(-1.0, 1.0, size=(20000, 3)) * [0.5, 0.5, 0.06]
    error = abs(of.at(x)[:, 0] - signed_distances(made.surface, x)[:, 0])
    assert 0.05 * of.spacing < error.max() < 1.2 * of.error < 0.35 * of.spacing


def test_far_from_the_surface_a_field_is_that_of_a_coarser_one() -> None:
    made = mesh(*lab.ball(1.0, 3))
    of = field(made, 1.0 / 40)
    x = np.random.default_rng(6).uniform(-1.0, 1.0, size=(4000, 3))
    exact = signed_distances(made.surface, x)[:, 0]
    error, deep = abs(of.at(x)[:, 0] - exact), abs(exact) > 8.0 * of.spacing
    assert error[~deep].max() < 0.2 * of.spacing  # kinks from edges of 11°, less than those that are kept
    assert error[deep].max() < of.spacing  # at the centre, where all of the surface is as near


def off_bisectors(x: np.ndarray, h: float) -> np.ndarray:
    """Points of a unit cube off the planes between two faces, where the distance itself has a kink, which is kept along the edges."""
    least = np.sort(0.5 - abs(x), axis=1)
    return np.asarray(x[(least[:, 1] - least[:, 0] > 0.01 * h) & (least[:, 2] - least[:, 1] > 0.01 * h)])


def test_a_field_has_a_gradient_with_continuous_slopes(cube: tuple[Mesh, Field]) -> None:
    _, of = cube
    h = of.spacing
    rng = np.random.default_rng(2)
    x = off_bisectors(rng.uniform(-0.5, 0.5, size=(3000, 3)), h)
    assert (
        np.sort(0.5 - abs(x), axis=1)[:, 1] < 10.0 * h
    ).sum() > 200  # also where the spline passes into the distance itself
    found, step = of.at(x), 1e-4 * h
    for axis in range(3):
        e = step * np.eye(3)[axis]
        slope = (of.at(x + e)[:, 0] - of.at(x - e)[:, 0]) / (2.0 * step)
        assert found[:, 1 + axis] == pytest.approx(slope, abs=1e-6)
    # second derivatives on both sides of the faces between cells, where pieces of the spline meet
    origin = of.tables.grid[:3]
    for axis in range(3):
        x[:, axis] = origin[axis] + h * np.round((x[:, axis] - origin[axis]) / h)
        x = off_bisectors(x, h)
        e = 1e-3 * h * np.eye(3)[axis]
        left = (of.at(x - 0.1 * e)[:, 1:] - of.at(x - 1.1 * e)[:, 1:]) / (1e-3 * h)
        right = (of.at(x + 1.1 * e)[:, 1:] - of.at(x + 0.1 * e)[:, 1:]) / (1e-3 * h)
        # they differ by the third derivative, of order 1/h², times the 1.2e-3 h between both places
        assert abs(left - right).max() * h < 0.01


def test_a_field_converges_where_the_distance_is_smooth() -> None:
    made = mesh(*lab.split(lab.box()))
    coarse, fine = field(made, 1.0 / 16), field(made, 1.0 / 32)
    assert fine.error < 0.6 * coarse.error
    x = np.array([[0.0, 0.01, 0.52]])  # off edges the error of their rounding dies out by 0.27 a node
    assert abs(fine.at(x)[0, 0] - 0.02) < 1e-6
    assert fine.at(x)[0, 1:] == pytest.approx([0.0, 0.0, 1.0], abs=1e-4)


def test_outside_its_grid_a_field_bounds_the_distance_from_below(cube: tuple[Mesh, Field]) -> None:
    made, of = cube
    x = np.random.default_rng(3).normal(size=(500, 3)) * 3.0
    far = signed_distances(made.surface, x)[:, 0]
    outside = (abs(x) > 0.5 + 10.0 * of.spacing).any(axis=1)
    found = of.at(x)
    assert np.isfinite(found).all()
    assert (found[outside, 0] <= far[outside]).all()
    assert (found[outside, 0] > 0.0).all()


def test_what_has_no_field_is_refused_by_name(cube: tuple[Mesh, Field]) -> None:
    made, of = cube
    sheet = mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    with pytest.raises(nx.InputError, match="mesh has no distance field: mesh is open: 3 edges"):
        field(sheet)
    with pytest.raises(nx.InputError, match="at most 8000000 are made"):
        field(made, 1e-4)
    for spacing in (0.0, -1.0, np.nan, "fine"):
        with pytest.raises(nx.InputError, match="spacing is"):
            field(made, spacing)  # type: ignore[arg-type]
    with pytest.raises(nx.InputError, match="points have shape"):
        of.at([[0.0, 0.0, np.nan]])


# --- convex parts ----------------------------------------------------------------------------------------------------


def surface_mesh(points: np.ndarray) -> Mesh:
    """The hull of points."""
    corners = hull_surface(points)[2]
    return mesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def sharp_edges(made: Mesh) -> np.ndarray:
    """The edges (n, 2, 3) between triangles that do not lie in one plane."""
    of: dict[tuple[int, ...], list[int]] = {}
    for t, corners in enumerate(made.triangles.tolist()):
        for a, b in ((0, 1), (1, 2), (2, 0)):
            of.setdefault(tuple(sorted((corners[a], corners[b]))), []).append(t)
    a, b, c = (made.vertices[made.triangles[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    return np.array([made.vertices[list(e)] for e, (s, t) in of.items() if n[s] @ n[t] < 1.0 - 1e-9])


def bent() -> Mesh:
    """An L of three cubes."""
    corners = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], dtype=float)
    low, high = (np.column_stack([corners, np.full(6, z)]) for z in (0.0, 1.0))
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    walls = [row for i in range(6) for row in ((i, (i + 1) % 6, 6 + (i + 1) % 6), (i, 6 + (i + 1) % 6, 6 + i))]
    return mesh(np.vstack([low, high]), [*[c[::-1] for c in caps], *[tuple(6 + k for k in c) for c in caps], *walls])


def test_without_coacd_what_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(nx.InputError, match="convex_parts needs coacd: pip install coacd"):
        convex_parts(bent())


def test_convex_parts_are_the_hulls_of_what_coacd_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = [(lab.box((2.0, 1.0, 1.0))[0] + [1.0, 0.5, 0.5], None), (lab.box()[0] + [0.5, 1.5, 0.5], None)]
    asked: dict[str, Any] = {}

    def run(given: Any, **arguments: Any) -> Any:
        asked.update(arguments, given=given)
        return cut

    stand_in = SimpleNamespace(set_log_level=lambda level: None, Mesh=lambda x, t: (x, t), run_coacd=run)
    monkeypatch.setitem(sys.modules, "coacd", stand_in)
    parts = convex_parts(bent(), concavity=0.1, most=5)
    assert [part.massive.volume for part in parts] == pytest.approx([2.0, 1.0])
    assert (asked["threshold"], asked["max_convex_hull"], asked["seed"]) == (0.1, 5, 0)
    assert np.array_equal(asked["given"][0], bent().vertices)


@pytest.mark.skipif(importlib.util.find_spec("coacd") is None, reason="coacd is not installed")
def test_convex_parts_of_a_bent_bar_fill_it() -> None:
    parts = convex_parts(bent(), concavity=0.02)
    assert 2 <= len(parts) <= 6
    assert sum(part.massive.volume for part in parts) == pytest.approx(3.0, rel=0.05)


def test_what_has_no_convex_parts_is_refused_by_name() -> None:
    sheet = mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    with pytest.raises(nx.InputError, match="mesh has no convex parts: mesh is open"):
        convex_parts(sheet)
    with pytest.raises(nx.InputError, match="3 is no mesh"):
        convex_parts(3)
    with pytest.raises(nx.InputError, match=r"there is no such file"):
        convex_parts(nx.Mesh("gone.stl"))
    with pytest.raises(nx.InputError, match="concavity is 2"):
        convex_parts(bent(), concavity=2)
    with pytest.raises(nx.InputError, match="most is 0"):
        convex_parts(bent(), most=0)
