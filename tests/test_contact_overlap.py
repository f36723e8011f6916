"""Forces of surfaces in contact, without a run: `overlap.py` and `surface_contact.py` against volumes, energy and symmetry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection
from scipy.spatial.transform import Rotation

import nexdyn as nx
from nexdyn.forces.surface_contact import SurfaceContact, surface_energy, surface_wrench
from nexdyn.forces.tables import ForceTables
from nexdyn.kernel import kernel
from nexdyn.spatial.table import MotionRows, PoseRows

K = 3e6
FLOOR = nx.HalfSpace()
BRICK, CUBE = nx.Box((0.3, 0.2, 0.1)), nx.Box((0.2, 0.2, 0.2))
STONE = nx.Hull(np.random.default_rng(3).normal(size=(14, 3)) * 0.1)
STILL = np.zeros(6)


@kernel
def put_wrenches(tables, a, b, out):  # type: ignore[no-untyped-def]
    X, Y, V, W = PoseRows(a, 0), PoseRows(b, 0), MotionRows(a, 12), MotionRows(b, 12)
    for i in range(len(out)):
        F, G = surface_wrench(tables, 0, 0, X[i], V[i], Y[i], W[i])
        o = out[i]
        o[0], o[1], o[2], o[3], o[4], o[5] = F.n.x, F.n.y, F.n.z, F.f.x, F.f.y, F.f.z
        o[6], o[7], o[8], o[9], o[10], o[11] = G.n.x, G.n.y, G.n.z, G.f.x, G.f.y, G.f.z


@kernel
def put_energies(tables, a, b, out):  # type: ignore[no-untyped-def]
    X, Y = PoseRows(a, 0), PoseRows(b, 0)
    for i in range(len(out)):
        out[i] = surface_energy(tables, 0, 0, X[i], Y[i])


def contact(a: nx.Shape, b: nx.Shape, k_a: float | None, k_b: float | None, **law: Any) -> SurfaceContact:
    return SurfaceContact("c", "a", "b", solid_a=a, solid_b=b, foundation_a=k_a, foundation_b=k_b, **law)


def tables(c: SurfaceContact) -> ForceTables:
    """Of one contact without states."""
    index = np.zeros((1, 10), dtype=np.int64)
    return ForceTables(index, np.zeros((1, 24)), np.array(c.data({})), room=np.zeros((c.room({}), 4)))


def wrenches(c: SurfaceContact, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Moment and force on A, then on B, about their origins, (n, 12), at motions (n, 18)."""
    out = np.zeros((len(a), 12))
    put_wrenches(tables(c), np.ascontiguousarray(a), np.ascontiguousarray(b), out)
    return out


def energies(c: SurfaceContact, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.zeros(len(a))
    put_energies(tables(c), np.ascontiguousarray(a), np.ascontiguousarray(b), out)
    return out


def at(turn: Rotation, p: Any, V: Any = STILL) -> np.ndarray:
    """A motion (18,): pose, ω and velocity."""
    return np.concatenate([turn.as_matrix().ravel(), p, V])


def placed(rng: np.random.Generator, n: int, spread: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of motions, A near B, which is turned anyhow about the origin."""
    turns = Rotation.random(2 * n, random_state=rng)
    return [(at(turns[2 * i], rng.normal(size=3) * spread), at(turns[2 * i + 1], np.zeros(3))) for i in range(n)]


def under(turn: Rotation, p: np.ndarray, size: Any) -> tuple[float, np.ndarray]:
    """Volume and centre of what a box has below z = 0, by qhull; 0 of less than a millionth."""
    R = turn.as_matrix()
    n = np.vstack([R.T, -R.T])
    planes = np.vstack([np.column_stack([n, -(0.5 * np.tile(size, 2) + n @ p)]), [0.0, 0.0, 1.0, 0.0]])
    inside = linprog(
        [0, 0, 0, -1],
        np.column_stack([planes[:, :3], np.ones(7)]),
        -planes[:, 3],
        bounds=[(None, None)] * 3 + [(0, None)],
    )
    if not inside.success or inside.x[3] < 1e-4:
        return 0.0, p
    hull = ConvexHull(HalfspaceIntersection(planes, inside.x[:3]).intersections)
    a, b, c = (hull.points[hull.simplices[:, i]] for i in range(3))
    m = hull.points.mean(axis=0)
    volume = np.abs(np.einsum("ij,ij->i", a - m, np.cross(b - m, c - m))) / 6.0
    return volume.sum(), (volume[:, None] * (a + b + c + m) / 4.0).sum(axis=0) / volume.sum()


def test_a_rigid_box_on_a_foundation_floats_as_in_water() -> None:
    rng = np.random.default_rng(0)
    c = contact(BRICK, FLOOR, None, K)
    found = 0
    for turn in Rotation.random(200, random_state=rng):
        p = np.array([0.1, -0.2, rng.uniform(-0.12, 0.12)])
        volume, centre = under(turn, p, BRICK.size)
        if not volume:
            continue
        found += 1
        a, b = at(turn, p)[None], at(Rotation.identity(), np.zeros(3))[None]
        F, force = wrenches(c, a, b)[0], np.array([0.0, 0.0, K * volume])
        assert F[3:6] == pytest.approx(force, abs=1e-11 * force[2])
        assert F[:3] == pytest.approx(np.cross(centre - p, force), abs=1e-11 * 0.3 * force[2])
        assert energies(c, a, b)[0] == pytest.approx(-K * volume * centre[2], rel=1e-11)
    assert found > 100


PAIRS = {
    "rigid brick, cube": (BRICK, CUBE, None, 2e6),
    "brick, cube": (BRICK, CUBE, 1e6, 2e6),
    "stone, cube": (STONE, CUBE, 1e6, 1e6),
    "stone, rigid stone": (STONE, nx.Hull(np.array(STONE.points)[::-1] * 0.9 + 0.01), 1e6, None),
    "brick, floor": (BRICK, FLOOR, 1e6, 2e6),
}


@pytest.mark.parametrize("offset", [0.0, 0.03])
def test_energy_of_boxes_whose_sides_lie_in_one_plane(offset: float) -> None:
    """k δ²/2 of the area, but for edges, also where both are turned and rounding puts one side before or behind the other."""
    k, depth = 1e7, 1e-5
    c = contact(nx.Box((0.3, 0.3, 0.2)), nx.Box((0.3, 0.3, 0.2)), 2 * k, 2 * k)
    for turn in [Rotation.identity(), *Rotation.random(12, random_state=np.random.default_rng(5))]:
        a, b = at(turn, turn.apply((offset, 0.0, 0.2 - depth)))[None], at(turn, np.zeros(3))[None]
        assert energies(c, a, b)[0] == pytest.approx(0.5 * k * depth**2 * (0.3 - offset) * 0.3, rel=1e-3)


@pytest.mark.parametrize("gap", [1e-3, 0.05, 0.2])
def test_bodies_apart_are_so_also_where_no_face_separates_them(gap: float) -> None:
    """Cubes turned by 45° about x and about y: their edges cross."""
    c = contact(CUBE, CUBE, 2e6, 2e6)
    a = at(Rotation.from_rotvec((np.pi / 4, 0.0, 0.0)), (0.0, 0.0, 0.2 * np.sqrt(2.0) + gap))[None]
    b = at(Rotation.from_rotvec((0.0, np.pi / 4, 0.0)), np.zeros(3))[None]
    assert -gap <= c.motion_table(c.data({}), a, b, np.zeros((1, 0)))[0, 0, 8] < 0.0


def test_what_leaves_too_fast_to_press_is_still_deep() -> None:
    c = contact(CUBE, FLOOR, None, K, damping=50.0)
    for speed, presses in ((0.03, False), (0.01, True)):
        a = at(Rotation.identity(), (0.0, 0.0, 0.1 - 1e-4), (0.0, 0.0, 0.0, 0.0, 0.0, speed))[None]
        row = c.motion_table(c.data({}), a, at(Rotation.identity(), np.zeros(3))[None], np.zeros((1, 0)))[0, 0]
        assert row[8] == pytest.approx(1e-4, rel=1e-9)
        assert row[17] == pytest.approx(K * 1e-4 * (1.0 - 50.0 * speed) if presses else 0.0, rel=1e-9)
        assert row[6] == pytest.approx(row[17] * 0.04, rel=1e-9)


def test_bodies_about_one_centre_do_not_press_either_way_and_are_told() -> None:
    system = nx.System("lost")
    system.add_body("inner", mass=1.0, shapes=[CUBE])
    system.add_body("outer", mass=1.0, shapes=[nx.Box((0.3, 0.3, 0.3))])
    system.add_contact(nx.Contact("c", "inner", "outer", foundation_b=1e6))
    with pytest.warns(nx.NexDynWarning, match="contact 'c inner outer' starts 0.05 m deep"):
        result = nx.simulate(system, 1e-3, nx.RungeKutta4(1e-4))
    assert np.isfinite(result.position().values).all()


@pytest.mark.parametrize("pair", PAIRS)
def test_forces_are_slopes_of_the_energy_and_balance(pair: str) -> None:
    c, rng, h, found = contact(*PAIRS[pair]), np.random.default_rng(1), 1e-6, 0
    for a, b in placed(rng, 60, 0.12):
        F = wrenches(c, a[None], b[None])[0]
        if not F.any():
            continue
        found += 1
        moved = []
        for i in range(6):
            for sign in (1.0, -1.0):
                step = sign * h * np.eye(3)[i % 3]
                R = Rotation.from_matrix(a[:9].reshape(3, 3))
                moved.append(at(Rotation.from_rotvec(step) * R, a[9:12]) if i < 3 else at(R, a[9:12] + step))
        U = energies(c, np.array(moved), np.repeat(b[None], 12, axis=0)).reshape(6, 2)
        # rounding of U, and the curvature of its edges, over 2 h
        least = 1e-16 * np.abs(U).max() / h + 1e-6
        assert -(U[:, 0] - U[:, 1]) / (2.0 * h) == pytest.approx(F[:6], abs=1e-5 * np.abs(F[3:6]).max() + least)
        size = np.abs(F).max()
        assert F[9:] == pytest.approx(-F[3:6], abs=1e-12 * size)
        about_a = F[6:9] + np.cross(b[9:12] - a[9:12], F[9:])
        assert about_a == pytest.approx(-F[:3], abs=1e-12 * size)
    assert found > 20


@pytest.mark.parametrize("law", [{"damping": 0.02}, {"damping": 3.0, "friction": 0.4, "friction_speed": 0.05}])
@pytest.mark.parametrize("pair", PAIRS)
def test_bodies_change_places(pair: str, law: dict[str, Any]) -> None:
    a, b, k_a, k_b = PAIRS[pair]
    one, other = contact(a, b, k_a, k_b, **law), contact(b, a, k_b, k_a, **law)
    rng, found = np.random.default_rng(2), 0
    for x, y in placed(rng, 60, 0.12):
        x[12:], y[12:] = rng.normal(size=6), rng.normal(size=6)
        F, G = wrenches(one, x[None], y[None])[0], wrenches(other, y[None], x[None])[0]
        found += bool(F.any())
        assert np.concatenate([G[6:], G[:6]]) == pytest.approx(F, abs=1e-11 * (np.abs(F).max() + 1.0))
    assert found > 20


def test_far_from_the_origin() -> None:
    c, rng = contact(*PAIRS["brick, cube"]), np.random.default_rng(4)
    there = np.array([1e3, -2e3, 5e2])
    for a, b in placed(rng, 20, 0.1):
        far_a, far_b = a.copy(), b.copy()
        far_a[9:12] += there
        far_b[9:12] += there
        F, G = wrenches(c, a[None], b[None])[0], wrenches(c, far_a[None], far_b[None])[0]
        assert G == pytest.approx(F, abs=1e-12 * 2e3 * 3e6 * 0.3**2)  # rounding of places, times stiffness


@pytest.mark.parametrize(("k_a", "k_b"), [(None, 2e6), (2e6, None), (2e6, 1e6)])
def test_faces_that_meet_flat(k_a: float | None, k_b: float | None) -> None:
    """What is k of both layers in series, the area and the centre of a face that reaches over an edge."""
    c = contact(CUBE, nx.Box((0.4, 0.4, 0.2)), k_a, k_b)
    k = 1.0 / sum(1.0 / x for x in (k_a, k_b) if x is not None)
    depth = 1e-6
    a, b = at(Rotation.identity(), (0.15, 0.05, 0.2 - depth))[None], at(Rotation.identity(), np.zeros(3))[None]
    row = c.motion_table(c.data({}), a, b, np.zeros((1, 0)))[0, 0]
    assert row[6] == pytest.approx(k * 0.15 * 0.2 * depth, rel=1e-4)  # but for sides of the height of the depth
    assert row[3:5] == pytest.approx((0.125, 0.05), abs=1e-5)
    assert row[8] == pytest.approx(depth, rel=1e-9)
    assert row[9:12] == pytest.approx((0.0, 0.0, 1.0), abs=1e-4)
    assert row[16] == pytest.approx(0.15 * 0.2, rel=1e-4)
    assert row[17] == pytest.approx(k * depth, rel=1e-9)


def test_a_rocking_box_presses_without_jumps() -> None:
    """From a face over an edge and a corner, 1e-4 rad at a time: no force changes by more than its stiffness tells."""
    c = contact(CUBE, CUBE, 2e6, 2e6)
    angles = np.linspace(-0.1, 0.1, 2001)
    a = np.array([at(Rotation.from_rotvec(x * np.array([0.8, 0.6, 0.1])), (0.0, 0.03, 0.198)) for x in angles])
    b = np.repeat(at(Rotation.identity(), np.zeros(3))[None], len(a), axis=0)
    F = wrenches(c, a, b)
    steps = np.abs(np.diff(F[:, 3:6], axis=0)).max()
    assert steps < 1e6 * 0.2**2 * 1e-4 * 0.15  # k A times the way of a corner
    assert F[:, 5].max() > 100.0


@pytest.mark.parametrize("k_a", [None, 2e6])
@pytest.mark.parametrize(
    ("turn", "p"),
    [
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.2)), ((0.0, 0.0, 0.0), (0.0, 0.0, 0.19)), ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        ((0.0, 0.0, 0.0), (0.2, 0.2, 0.2)), ((0.0, 0.0, np.pi / 4), (0.0, 0.0, 0.19)), ((np.pi / 4, 0.0, 0.0), (0.0, 0.0, 0.24)),
        ((0.0, 0.0, np.pi / 2), (0.0, 0.0, 0.199)), ((0.0, 0.0, 0.0), (0.2, 0.0, 0.0)), ((0.0, 0.0, 0.0), (0.05, 0.0, 0.1)),
    ],
)  # fmt: skip
def test_faces_edges_and_corners_in_line_are_finite_and_do_not_pull(
    k_a: float | None, turn: tuple[float, ...], p: tuple[float, ...]
) -> None:
    c = contact(CUBE, CUBE, k_a, 2e6)
    a, b = at(Rotation.from_rotvec(turn), p)[None], at(Rotation.identity(), np.zeros(3))[None]
    F, row = wrenches(c, a, b)[0], c.motion_table(c.data({}), a, b, np.zeros((1, 0)))[0, 0]
    assert np.isfinite(F).all() and np.isfinite(row).all() and np.isfinite(energies(c, a, b)).all()
    assert F[3:6] @ np.array(p) >= -1e-9
    for away in (1e-9, 1e-7):  # and the same beside it
        beside = a + away * np.concatenate([np.zeros(9), (0.3, -0.5, 0.7), np.zeros(6)])
        assert wrenches(c, beside, b)[0] == pytest.approx(F, abs=4e6 * 0.2**2 * away * 2.0)
