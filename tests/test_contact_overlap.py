"""Contact over areas, the law alone: its energy, its forces, and what two solids do to each other as they stand and move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contact_lab import Bench, at_random, motion
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection
from scipy.spatial.transform import Rotation

import nexdyn as nx
from nexdyn.forces.surface_contact import SurfaceContact, solid_numbers

K, L = 3e6, 0.2
"""Stiffness of a foundation [N/m³], and a length of the solids [m]."""
FLOOR = nx.HalfSpace()
BRICK, CUBE = nx.Box((0.3, 0.2, 0.1)), nx.Box((0.2, 0.2, 0.2))
TURNED = nx.Box((0.2, 0.1, 0.25), position=(0.02, -0.01, 0.03), orientation=(0.8, 0.0, 0.6, 0.0))
STONE = nx.Hull(np.random.default_rng(1).normal(size=(14, 3)) * 0.1)
GRAVEL = nx.Hull(np.random.default_rng(2).normal(size=(9, 3)) * 0.1)
PAIRS: dict[str, tuple[nx.Shape, nx.Shape, float | None, float | None]] = {
    "boxes": (BRICK, CUBE, K, 2.0 * K),
    "boxes, a rigid": (BRICK, TURNED, None, K),
    "boxes, b rigid": (TURNED, CUBE, K, None),
    "hull and box": (STONE, CUBE, K, K),
    "hulls": (STONE, GRAVEL, 3.0 * K, K),
    "hulls, a rigid": (GRAVEL, STONE, None, K),
    "box and floor": (BRICK, FLOOR, K, 2.0 * K),
    "floor and hull": (FLOOR, STONE, None, K),
}
EVERY = pytest.mark.parametrize("pair", PAIRS)


def solids(a: nx.Shape, b: nx.Shape, ka: float | None, kb: float | None, **law: Any) -> Bench:
    """Two solids with foundations."""
    return Bench(SurfaceContact("c", "a", "b", solid_a=a, solid_b=b, foundation_a=ka, foundation_b=kb, **law))


def floor_low(pair: str, A: np.ndarray, B: np.ndarray) -> None:
    """Put a half-space where about half of the positions of the other touch it, beside its origin."""
    for side, rows in zip(PAIRS[pair][:2], (A, B), strict=True):
        if isinstance(side, nx.HalfSpace):
            rows[:, 9:12] = (0.1, -0.2, 0.0)
            rows[:, :9] = Rotation.from_rotvec((0.2, 0.1, 0.0)).as_matrix().ravel()


def both(
    rng: np.random.Generator, pair: str, n: int, speed: float = 0.0, turning: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Motions of the two of a pair, of which many touch."""
    A, B = at_random(rng, n, 0.12, speed, turning), at_random(rng, n, 0.02, speed, turning)
    floor_low(pair, A, B)
    return A, B


def faces_of(solid: nx.Shape, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normals (n, 3) and offsets (n,) of its faces in the world."""
    faces, _, _ = solid_numbers(solid)
    normals = faces[:, :3] @ row[:9].reshape(3, 3).T
    return normals, faces[:, 3] + normals @ row[9:12]


def volume_and_centroid(normals: np.ndarray, offsets: np.ndarray) -> tuple[float, np.ndarray]:
    """Of the points x with n · x ≤ o for all; of nothing (0, zeros)."""
    found = linprog(
        (0, 0, 0, -1),
        A_ub=np.column_stack([normals, np.ones(len(normals))]),
        b_ub=offsets,
        bounds=[(None, None)] * 3 + [(None, 1.0)],
    )
    if found.x[3] <= 1e-6:
        return 0.0, np.zeros(3)
    corners = HalfspaceIntersection(np.column_stack([normals, -offsets]), found.x[:3]).intersections
    hull = ConvexHull(corners)
    inside = corners.mean(axis=0)
    a, b, c = (corners[hull.simplices[:, k]] for k in range(3))
    parts = np.abs(np.einsum("ij,ij->i", a - inside, np.cross(b - inside, c - inside))) / 6.0
    return float(parts.sum()), (parts[:, None] * (a + b + c + inside) / 4.0).sum(axis=0) / parts.sum()


# --- what the forces are --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solid", [BRICK, TURNED, STONE], ids=["box", "turned box", "hull"])
def test_a_rigid_solid_floats_in_a_soft_floor_by_the_volume_under_its_plane(
    solid: nx.Shape, rng: np.random.Generator
) -> None:
    """k V upwards at the centroid of V, and k ∫ depth dV."""
    bench, immersed = solids(solid, FLOOR, None, K), 0
    A, B = at_random(rng, 100), np.tile(motion((0.1, -0.2, 0.0)), (100, 1))
    F, U = bench.wrenches(A, B), bench.energies(A, B)
    for i in range(len(A)):
        normals, offsets = faces_of(solid, A[i])
        V, centroid = volume_and_centroid(np.vstack([normals, (0, 0, 1)]), np.append(offsets, 0.0))
        if V < 1e-7:  # a spike so thin that Qhull's own rounding shows
            assert np.abs(F[i, 3:6]).max() < 2.0 * K * 1e-7
            continue
        immersed += 1
        force = np.array([0.0, 0.0, K * V])
        assert_allclose(F[i, 3:6], force, rtol=0, atol=1e-11 * K * V)
        assert_allclose(F[i, :3], np.cross(centroid - A[i, 9:12], force), rtol=0, atol=1e-11 * K * V * L)
        assert_allclose(U[i], -K * V * centroid[2], rtol=1e-11)
    assert 30 < immersed < 100


@EVERY
def test_forces_are_those_of_a_potential(pair: str, rng: np.random.Generator) -> None:
    """Central differences of U as either body is moved and turned; their own errors are of the order of k L h² and ε U/h."""
    bench, h = solids(*PAIRS[pair]), 1e-6
    A, B = both(rng, pair, 60)
    F = bench.wrenches(A, B)
    touching = 0
    for i in range(len(A)):
        size = np.abs(F[i, 3:6]).max()
        touching += size > 1e-3 * K * L**3
        for side, rows in enumerate((A, B)):
            changed = np.tile(rows[i], (12, 1))
            for j in range(12):
                step = h * np.eye(3)[j % 6 // 2] * (1.0, -1.0)[j % 2]
                if j < 6:
                    changed[j, :9] = (Rotation.from_rotvec(step).as_matrix() @ changed[j, :9].reshape(3, 3)).ravel()
                else:
                    changed[j, 9:12] += step
            other = np.tile((B, A)[side][i], (12, 1))
            U = bench.energies(*((changed, other) if side == 0 else (other, changed))).reshape(6, 2)
            slope = (U[:, 1] - U[:, 0]) / (2.0 * h)
            assert_allclose(F[i, 6 * side : 6 * side + 6], slope, rtol=0, atol=1e-6 * size + 2e-10 * K * L**3)
    assert touching > 20


RUBBING = {"damping": 0.3, "friction": 0.4, "friction_speed": 0.05}


@EVERY
@pytest.mark.parametrize(
    ("law", "speed", "turning"),
    [({}, 0.0, 0.0), (RUBBING, 0.5, 0.0), ({"damping": 0.3}, 0.5, 0.5)],
    ids=["at rest", "moving", "turning"],
)
def test_swapped_bodies_feel_the_same_and_what_one_feels_the_other_does_against_it(
    pair: str, law: dict[str, float], speed: float, turning: float, rng: np.random.Generator
) -> None:
    """Where they turn as well, regularised friction is no polynomial: it is left out."""
    a, b, ka, kb = PAIRS[pair]
    A, B = both(rng, pair, 200, speed, turning)
    one, two = solids(a, b, ka, kb, **law), solids(b, a, kb, ka, **law)
    F, G = one.wrenches(A, B), two.wrenches(B, A)
    floor = 1e-15 * K * L**3
    size = np.abs(F[:, 3:6]).max(axis=1) + floor
    assert (size > 1e-3 * K * L**3).sum() > 60
    assert (np.abs(np.hstack([G[:, 6:], G[:, :6]]) - F) < 1e-12 * size[:, None] + floor).all()
    assert_allclose(two.energies(B, A), one.energies(A, B), rtol=1e-12, atol=floor * L)
    # force and moment of both together, about the origin of the world
    assert (np.abs(F[:, 3:6] + F[:, 9:12]) <= 1e-15 * size[:, None]).all()
    moment = F[:, :3] + np.cross(A[:, 9:12], F[:, 3:6]) + F[:, 6:9] + np.cross(B[:, 9:12], F[:, 9:12])
    assert (np.abs(moment) < 1e-14 * L * size[:, None]).all()


@EVERY
def test_friction_loses_energy_and_never_gains(pair: str, rng: np.random.Generator) -> None:
    """Of the power of the forces, what is not that of the forces at rest."""
    A, B = both(rng, pair, 300, speed=0.5, turning=0.5)
    V = np.hstack([A[:, 12:], B[:, 12:]])
    law = {"friction": 0.4, "friction_speed": 0.05}
    bare = solids(*PAIRS[pair]).wrenches(A, B)
    lost = np.einsum("ij,ij->i", solids(*PAIRS[pair], **law).wrenches(A, B) - bare, V)
    size = np.abs(bare[:, 3:6]).max(axis=1)
    assert (lost <= 1e-13 * size).all()
    touches = size > 1e-3 * K * L**3
    assert touches.sum() > 90 and (lost[touches] < 0.0).all()


def test_damping_of_a_rigid_body_that_moves_without_turning_makes_no_energy(rng: np.random.Generator) -> None:
    """On a soft floor: −a ∫ p (n · v)(m · v) dA, and ∫ p m dA is along n."""
    A, B = both(rng, "floor and hull", 300, speed=0.5)
    A[:, 12:15] = B[:, 12:15] = 0.0
    V = np.hstack([A[:, 12:], B[:, 12:]])
    hull = (FLOOR, STONE, K, None)
    bare = solids(*hull).wrenches(A, B)
    lost = np.einsum("ij,ij->i", solids(*hull, damping=0.3).wrenches(A, B) - bare, V)
    size = np.abs(bare[:, 3:6]).max(axis=1)
    assert (lost <= 1e-12 * size).all()
    touches = size > 1e-3 * K * L**3
    assert touches.sum() > 90 and (lost[touches] < 0.0).all()


def test_a_box_and_the_hull_of_its_corners_are_one(rng: np.random.Generator) -> None:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.5 * np.array(BRICK.size)
    place: dict[str, Any] = {"position": (0.02, -0.01, 0.03), "orientation": (0.8, 0.0, 0.6, 0.0)}
    A, B = both(rng, "boxes", 200, speed=0.5, turning=0.5)
    one, two = (
        solids(solid, CUBE, K, 2.0 * K, damping=0.3)
        for solid in (nx.Box(BRICK.size, **place), nx.Hull(corners, **place))
    )
    F, G = one.wrenches(A, B), two.wrenches(A, B)
    assert_allclose(G, F, rtol=0, atol=1e-14 * K * L**3)
    assert_allclose(two.energies(A, B), one.energies(A, B), rtol=0, atol=1e-14 * K * L**4)
    assert_allclose(two.seen(A, B), one.seen(A, B), rtol=0, atol=1e-9 * K)
    assert (np.abs(F).max(axis=1) > 0.0).sum() > 60


@EVERY
def test_forces_turn_and_move_with_the_bodies(pair: str, rng: np.random.Generator) -> None:
    """Also 1 km away, where positions are rounded to 1e-13 m."""
    bench = solids(*PAIRS[pair], **RUBBING)
    A, B = both(rng, pair, 100, speed=0.5)
    F = bench.wrenches(A, B)
    for away in (0.0, 1e3):
        R, p = Rotation.random(rng=rng).as_matrix(), away * np.array([0.6, -0.64, 0.48])
        far = []
        for rows in (A, B):
            X = (R @ rows[:, :9].reshape(-1, 3, 3)).reshape(-1, 9)
            far.append(np.hstack([X, *(rows[:, j : j + 3] @ R.T + (p if j == 9 else 0.0) for j in (9, 12, 15))]))
        G = bench.wrenches(*far)
        expected = np.hstack([F[:, j : j + 3] @ R.T for j in (0, 3, 6, 9)])
        # the gradient of the pressure, k, over the surface of a solid, times by how much places err; friction adds v/v_f to that
        error = 30.0 * K * L * L * (2e-16 + 2e-16 * away)
        assert np.abs(G - expected).max() < error
        assert np.abs(F).max() > 1e5 * error


# --- boxes face on face ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ka", "kb"), [(None, K), (K, 2.0 * K)], ids=["rigid on soft", "both soft"])
def test_a_small_box_presses_on_a_large_one_by_area_and_depth(ka: float | None, kb: float) -> None:
    """Rigid a, all under b's top at δ presses with k δ over its bottom; and where both give, p = δ/(c_a + c_b) is that of the surface
    midway, where depths x_a and x_b of layers in equilibrium, x_a/c_a = x_b/c_b, add up to δ. The top of b gives its part only so far
    as the sides of a are farther than the bottom: less near them by δ³ and smaller terms."""
    size, d = (0.1, 0.06, 0.04), 1e-3
    k = K if ka is None else 1.0 / (1.0 / ka + 1.0 / kb)
    bench = solids(nx.Box(size), nx.Box((0.5, 0.4, 0.2)), ka, kb)
    A, B = motion((0.07, -0.05, 0.12 - d))[None], motion((0, 0, 0))[None]
    F, told = bench.wrenches(A, B)[0], bench.seen(A, B)[0]
    S, P = size[0] * size[1], 2.0 * (size[0] + size[1])
    w_a = 0.0 if ka is None else k / ka
    # ∫ min(δ, distance from the nearest side) over the bottom
    under = S * d - 0.5 * P * d * d + 4.0 / 3.0 * d**3
    expected = k * ((1.0 - w_a) * S * d + w_a * under)
    assert_allclose(F[3:6], (0, 0, expected), rtol=1e-12, atol=1e-12 * expected)
    assert_allclose(expected, k * S * d, rtol=1e-12 if ka is None else w_a * P * d / S)
    assert_allclose(told[:3], (0, 0, expected), rtol=1e-12, atol=1e-12 * expected)
    assert_allclose(told[[6, 8, 17]], (expected, d, k * d), rtol=1e-12)
    assert_allclose(told[9:12], (0, 0, 1), atol=1e-13)
    # its surface: the bottom and what of the sides is in b; of b, the top in a
    assert_allclose(told[16], (1.0 - w_a) * (S + P * d) + w_a * S, rtol=1e-12)
    assert_allclose(told[3:5], (0.07, -0.05), atol=1e-14)
    # below the top of b: the bottom at δ, sides at 2/3 δ with the mean of what presses there, and the top itself
    deep = (1.0 - w_a) * (S * d * d + P * d**3 / 3.0)
    assert_allclose(0.1 - told[5], deep / ((1.0 - w_a) * (S * d + 0.5 * P * d * d) + w_a * under), rtol=1e-10)


def test_boxes_that_overhang_press_on_what_they_have_in_common() -> None:
    """Their upper sides fall off towards the edges: I = ∫ min(δ, u, w) over the a × b in common, where two sides of b are near."""
    d, x, y = 0.01, 0.05, 0.04
    a, b, k = 0.2 - x, 0.2 - y, 0.5 * K
    for ka, kb, k in ((K, K, 0.5 * K), (None, K, K)):
        F = solids(CUBE, CUBE, ka, kb).wrenches(motion((x, y, 0.2 - d))[None], motion((0, 0, 0))[None])[0]
        normal = k * (a * b * d - 0.5 * (a + b) * d * d + d**3 / 3.0)
        sides = [k * (0.5 * c * d * d - d**3 / 6.0) for c in (b, a)]
        assert_allclose(F[3:6], (*sides, normal), rtol=1e-12)
        # a thin overlap is k times area and depth, but for what is δ/a of it
        assert abs(normal / (k * a * b * d) - 1.0) < d / a + d / b


# --- nothing jumps --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("soft", [(None, K), (K, K)], ids=["rigid a", "both soft"])
@pytest.mark.parametrize("under", [FLOOR, nx.Box((0.5, 0.4, 0.2), position=(0, 0, -0.1))], ids=["floor", "box"])
def test_forces_do_not_jump_as_a_box_turns_from_a_face_over_an_edge_onto_a_corner(
    soft: tuple[float | None, float], under: nx.Shape
) -> None:
    """As it turns by h, points of its surface S move by no more than r h, and pressures by k r h."""
    bench = solids(BRICK, under, *soft)
    r, S = 0.5 * np.linalg.norm(BRICK.size), 2.0 * (0.06 + 0.03 + 0.02)
    largest = []
    for n in (200, 800):
        s = np.linspace(0.0, 1.0, n + 1)[:, None]
        # about y onto an edge, then about x onto a corner; 0.045 m above the top, so that the flat box reaches 5 mm into it
        angles = 0.8 * np.hstack([np.maximum(0.0, 2.0 * s - 1.0), np.minimum(1.0, 2.0 * s)])
        R = Rotation.from_euler("xy", angles).as_matrix()
        A = np.array([motion((0.02, 0.01, 0.045), x) for x in R])
        F = bench.wrenches(A, np.tile(motion((0, 0, 0)), (n + 1, 1)))[:, :6]
        steps = np.abs(np.diff(F, axis=0))
        assert steps[:, 3:].max() < K * S * r * 1.6 / n
        assert (np.linalg.norm(F[:, 3:], axis=1) > 0.0).all()
        largest.append(steps.max(axis=0))
    # of what jumps, the largest step would be the same with steps of a quarter
    big = largest[0] > 1e-6 * K * L**3
    assert big.sum() >= 3
    assert (largest[1][big] < 0.3 * largest[0][big]).all()


# --- where faces, edges and corners coincide ------------------------------------------------------------------------

FLAT = np.eye(3)
DIAGONAL = Rotation.from_euler("z", 45.0, degrees=True).as_matrix()
EDGE = Rotation.from_euler("x", 45.0, degrees=True).as_matrix()
CROSSED = Rotation.from_euler("zx", (90.0, 45.0), degrees=True).as_matrix()
QUARTER = Rotation.from_euler("z", 90.0, degrees=True).as_matrix()
PLACES: dict[str, tuple[Any, np.ndarray, np.ndarray, int]] = {
    "touching faces": ((0, 0, 0.2), FLAT, FLAT, 0),
    "touching faces, turned": ((0, 0, 0.2), DIAGONAL, FLAT, 0),
    "touching edges": ((0.2, 0, 0.2), FLAT, FLAT, 0),
    "touching corners": ((0.2, 0.2, 0.2), FLAT, FLAT, 0),
    "edge on face, touching": ((0, 0, 0.1 + 0.1 * 2.0**0.5), EDGE, FLAT, 0),
    "sides in one plane": ((0, 0, 0.19), FLAT, FLAT, 1),
    "sides in one plane, a quarter turned": ((0, 0, 0.19), QUARTER, FLAT, 1),
    "a side in one plane": ((0.05, 0, 0.19), FLAT, FLAT, 1),
    "corner on diagonal": ((0.1, 0.1, 0.19), FLAT, FLAT, 1),
    "edges of thin overlap": ((0.19, 0, 0.19), FLAT, FLAT, 1),
    "edge in a face": ((0, 0, 0.23), EDGE, FLAT, 1),
    "edges crossed": ((0, 0, 0.27), EDGE, CROSSED, 1),
    "edges along each other": ((0, 0, 0.27), EDGE, EDGE, 1),
    "one upon itself": ((0, 0, 0), FLAT, FLAT, -1),
    "one upon itself, turned": ((0, 0, 0), DIAGONAL, FLAT, -1),
    "1e-15 m from itself": ((1e-15, -1e-15, 1e-15), FLAT, FLAT, -1),
    "faces of 1e-16 m": ((0, 0, 0.2 - 1e-16), FLAT, FLAT, -1),
    "far": ((0, 0, 1e6), FLAT, FLAT, 0),
}
"""Position and rotation of a, rotation of b, and what is expected: 1 a push, 0 no force, -1 any finite force."""


@pytest.mark.parametrize(
    "soft", [(None, K), (K, None), (K, K), (K, 2.0 * K)], ids=["a rigid", "b rigid", "alike", "soft"]
)
@pytest.mark.parametrize("place", PLACES)
def test_cubes_where_faces_edges_or_corners_coincide(place: str, soft: tuple[float | None, float | None]) -> None:
    p, R_A, R_B, presses = PLACES[place]
    for law in ({}, {"damping": 0.5, "friction": 0.5, "friction_speed": 0.1}):
        bench = solids(CUBE, CUBE, *soft, **law)
        A, B = motion(p, R_A, (0.1, 0.2, 0.3), (0.3, 0.1, -0.2))[None], motion((0, 0, 0), R_B)[None]
        F, U, told = bench.wrenches(A, B)[0], bench.energies(A, B)[0], bench.seen(A, B)[0]
        assert np.isfinite(F).all() and np.isfinite(told).all() and np.isfinite(U)
        rest = solids(CUBE, CUBE, *soft).wrenches(A, B)[0]
        tiny = 1e-12 * K * L**3
        if presses == 0:
            assert np.abs(F).max() <= tiny and abs(U) <= tiny * L
        elif presses == 1:
            assert rest[3:6] @ np.array(p) > 1e6 * tiny and U > 0.0
            assert told[9:12] @ np.array(p) > 0.0 and told[6] > 0.0 and told[16] > 0.0
        assert rest[3:6] @ np.array(p) >= -tiny * np.linalg.norm(p)


def test_cubes_that_stand_exactly_in_line_press_straight() -> None:
    """Sides in one plane do not press: their depth is 0. A shift by 1e-12 m changes nothing."""
    d = 0.01
    for soft in ((None, K), (K, K)):
        bench, B = solids(CUBE, CUBE, *soft), motion((0, 0, 0))[None]
        F = bench.wrenches(motion((0, 0, 0.2 - d))[None], B)[0]
        k = K if soft[0] is None else 0.5 * K
        expected = k * (0.04 * d - 0.4 * d * d + 4.0 / 3.0 * d**3)
        assert_allclose(F[:6], (0, 0, 0, 0, 0, expected), rtol=1e-12, atol=1e-13 * expected)
        beside = bench.wrenches(motion((1e-12, -1e-12, 0.2 - d))[None], B)[0]
        assert np.abs(beside - F).max() < 10.0 * k * L * L * 1e-12


@pytest.mark.parametrize("soft", [(None, K), (K, None), (K, 2.0 * K)], ids=["a rigid", "b rigid", "soft"])
def test_a_box_within_another_is_pressed_towards_the_nearest_side_of_what_gives(
    soft: tuple[float | None, float | None], rng: np.random.Generator
) -> None:
    """Still k times a slope: where only the large one gives, buoyancy of the small one in a pressure that grows with the depth."""
    small, large = nx.Box((0.04, 0.05, 0.03)), nx.Box((0.5, 0.5, 0.5))
    bench = solids(small, large, *soft)
    R = Rotation.random(rng=rng).as_matrix()
    A, B = motion((0.02, 0.01, 0.15), R)[None], motion((0, 0, 0))[None]
    F, U = bench.wrenches(A, B)[0], bench.energies(A, B)[0]
    k = 1.0 / sum(1.0 / x for x in soft if x is not None)
    w_b = 1.0 if soft[0] is None else (0.0 if soft[1] is None else k / soft[1])
    V = 0.04 * 0.05 * 0.03
    # the depth of a box over itself: ∫ = Σ over its three pairs of faces of the pyramids on them, with o = the centre
    assert_allclose(F[3:6], (0, 0, w_b * k * V), rtol=1e-11, atol=1e-11 * k * V)
    assert_allclose(F[:3], 0.0, atol=1e-11 * k * V * L)
    inner = _depth_of_box(0.5 * np.array(small.size))
    assert_allclose(U, k * (w_b * V * (0.25 - 0.15) + (1.0 - w_b) * inner), rtol=1e-11)


def _depth_of_box(half: np.ndarray) -> float:
    """∫ of the distance from the nearest face over a box: ∫ over t of the volume that is farther than t."""
    t, weight = np.polynomial.legendre.leggauss(4)
    t, weight = 0.5 * half.min() * (t + 1.0), 0.5 * half.min() * weight
    return float(weight @ np.prod(2.0 * (half - t[:, None]), axis=1))


@pytest.mark.parametrize("place", ["boxes", "hulls"])
def test_solids_apart_press_with_nothing_and_tell_no_more_than_their_distance(
    place: str, rng: np.random.Generator
) -> None:
    bench = solids(*PAIRS[place])
    A, B = both(rng, place, 300)
    A[:, 9:12] *= 2.0
    F, U, told = bench.wrenches(A, B), bench.energies(A, B), bench.seen(A, B)
    apart = 0
    for i in range(len(A)):
        (n_a, o_a), (n_b, o_b) = faces_of(PAIRS[place][0], A[i]), faces_of(PAIRS[place][1], B[i])
        overlap = linprog(
            (0, 0, 0, -1), A_ub=np.column_stack([np.vstack([n_a, n_b]), np.ones(len(n_a) + len(n_b))]), b_ub=np.append(o_a, o_b),
            bounds=[(None, None)] * 4,
        ).x[3]  # fmt: skip
        if abs(overlap) < 1e-9:
            continue
        apart += overlap < 0.0
        assert (np.abs(F[i]).max() > 0.0) == (U[i] > 0.0) == (told[i, 8] > 0.0) == (overlap > 0.0)
        assert told[i, 8] <= 0.0 or told[i, 17] > 0.0
    assert 30 < apart < 270


@pytest.mark.parametrize("offset", [0.0, 0.03])
def test_energy_of_boxes_whose_sides_lie_in_one_plane(offset: float) -> None:
    """k δ²/2 of the area, but for edges, also where both are turned and rounding puts one side before or behind the other."""
    k, depth = 1e7, 1e-5
    block = nx.Box((0.3, 0.3, 0.2))
    bench = solids(block, block, 2.0 * k, 2.0 * k)
    for R in [np.eye(3), *Rotation.random(12, random_state=5).as_matrix()]:
        a, b = motion(R @ (offset, 0.0, 0.2 - depth), R)[None], motion(np.zeros(3), R)[None]
        assert bench.energies(a, b)[0] == pytest.approx(0.5 * k * depth**2 * (0.3 - offset) * 0.3, rel=1e-3)


@pytest.mark.parametrize("gap", [1e-3, 0.05, 0.2])
def test_bodies_apart_are_so_also_where_no_face_separates_them(gap: float) -> None:
    """Cubes turned by 45° about x and about y: their edges cross."""
    a = motion((0.0, 0.0, 0.2 * np.sqrt(2.0) + gap), Rotation.from_euler("x", np.pi / 4).as_matrix())[None]
    b = motion(np.zeros(3), Rotation.from_euler("y", np.pi / 4).as_matrix())[None]
    assert -gap <= solids(CUBE, CUBE, K, K).seen(a, b)[0, 8] < 0.0


def test_what_leaves_too_fast_to_press_is_still_deep() -> None:
    bench = solids(CUBE, FLOOR, None, K, damping=50.0)
    for speed, presses in ((0.03, False), (0.01, True)):
        a = motion((0.0, 0.0, 0.1 - 1e-4), v=(0.0, 0.0, speed))[None]
        row = bench.seen(a, motion(np.zeros(3))[None])[0]
        assert row[8] == pytest.approx(1e-4, rel=1e-9)
        assert row[17] == pytest.approx(K * 1e-4 * (1.0 - 50.0 * speed) if presses else 0.0, rel=1e-9)
        assert row[6] == pytest.approx(row[17] * 0.04, rel=1e-9)


def test_bodies_about_one_centre_are_told() -> None:
    system = nx.System("lost")
    system.add_body("inner", mass=1.0, shapes=[CUBE])
    system.add_body("outer", mass=1.0, shapes=[nx.Box((0.3, 0.3, 0.3))])
    system.add_contact(nx.Contact("c", "inner", "outer", foundation_b=1e6))
    with pytest.warns(nx.NexDynWarning, match="contact 'c inner outer' starts 0.05 m deep"):
        result = nx.simulate(system, 1e-3, nx.RungeKutta4(1e-4))
    assert np.isfinite(result.position().values).all()
