"""Capsules on capsules and on convex solids, at points: the law alone, by Hertz, then in motion, at rest, and what is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from contact_lab import Bench, at_random, motion
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq, minimize_scalar
from scipy.spatial.transform import Rotation
from test_contact_slopes import slopes
from test_interpreted import run

import nexdyn as nx
from nexdyn.cli.info import _contact
from nexdyn.describe import from_dict, to_dict
from nexdyn.forces.capsule_contact import CapsuleContact
from nexdyn.forces.capsule_press import ALIGNED
from nexdyn.forces.contact_group import hertz_radius

G, R, LENGTH, K = 9.81, 0.05, 0.3, 1e6
HALF = 0.5 * LENGTH
ROD = nx.Capsule(R, LENGTH)
SOLIDS: dict[str, nx.Shape] = {
    "capsule": nx.Capsule(0.08, 0.4),
    "box": nx.Box((0.3, 0.2, 0.14)),
    "small box": nx.Box((0.1, 0.1, 0.1)),
    "hull": nx.Hull(np.random.default_rng(1).normal(size=(14, 3)) * 0.1),
    "cylinder": nx.Cylinder(0.1, 0.18),
    "cone": nx.Cone(0.12, 0.25),
    "ellipsoid": nx.Ellipsoid((0.15, 0.1, 0.07)),
}
SOFT, HARD = nx.Material("soft", young=4e6, poisson=0.45), nx.Material("hard", young=2.1e11, poisson=0.3)
E = 1.0 / ((1.0 - 0.45**2) / 4e6 + (1.0 - 0.3**2) / 2.1e11)
"""E* of both [Pa]."""
BOTH: dict[str, Any] = {"material_a": SOFT, "material_b": HARD, "friction": 0.5}
ALONG_X, ALONG_Y = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0), (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)
"""Orientations in which the axis of a capsule is x, and y."""
PLACED = motion((0.01, 0.02, 0.03), Rotation.from_rotvec((0.2, 0.1, 0.0)).as_matrix())


def bench(solid: nx.Shape, rod: nx.Shape = ROD, **law: Any) -> Bench:
    return Bench(CapsuleContact("c", "a", "b", solid_a=rod, solid_b=solid, **{"stiffness": K, **law}))


def by_hertz(other: float) -> dict[str, float]:
    """The law between a capsule like ROD and a capsule or a cylinder of the radius `other`."""
    return {"stiffness": 4.0 / 3.0 * E, "hertz": hertz_radius(1.0 / R, 1.0 / R + 1.0 / other)}


LAWS: dict[str, tuple[nx.Shape, dict[str, Any]]] = {
    **{kind: (solid, {}) for kind, solid in SOLIDS.items()},
    "capsule, linear": (SOLIDS["capsule"], {"exponent": 1.0}),
    "capsule, by Hertz": (SOLIDS["capsule"], by_hertz(0.08)),
    "cylinder, by Hertz": (SOLIDS["cylinder"], by_hertz(0.1)),
    "box, damped": (SOLIDS["box"], {"damping": 2.0}),
}


def on_solid(
    solid: nx.Shape, at: Any, law: dict[str, Any], *, rod: nx.Capsule | None = None, turned: bool = False, gravity: Any = (0.0, 0.0, -G),
    v0: Any = None, mass: float = 1.0, inertia: Any = (0.003, 0.02, 0.02),
) -> nx.System:  # fmt: skip
    """A rod at `at` over a log of the shape `solid`, which is held at the origin; `turned`: the contact names the log first."""
    system = nx.System("rod", gravity=gravity)
    system.add_body("log", mass=1.0, collision=[solid])
    system.add_joint(nx.Fixed("held", "ground", "log"))
    shape = nx.Capsule(R, LENGTH, orientation=ALONG_X) if rod is None else rod
    system.add_body("rod", mass=mass, inertia=inertia, position=at, collision=[shape])
    system.add_joint(nx.Free("free", "ground", "rod", v0=v0))
    if turned:
        law = {
            key[:-1] + {"a": "b", "b": "a"}[key[-1]] if key[-2:] in ("_a", "_b") else key: x for key, x in law.items()
        }
    system.add_contact(nx.Contact("c", *(("log", "rod") if turned else ("rod", "log")), **law))
    return system


# --- the law alone --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LAWS)
def test_forces_are_those_of_a_potential_and_opposite(kind: str) -> None:
    solid, law = LAWS[kind]
    one, step = bench(solid, **law), 1e-6
    A = at_random(np.random.default_rng(1), 2000, 0.15)
    B = np.repeat(PLACED[None], len(A), axis=0)
    depth = one.seen(A, B)[:, 8]
    A = A[(depth > 1e-4) & (depth < 0.03)]
    B = B[: len(A)]
    assert len(A) > 150
    F = one.wrenches(A, B)
    size = np.abs(F[:, 3:6]).max()
    for axis in range(6):
        moved = []
        for sign in (1.0, -1.0):
            rows = A.copy()
            if axis >= 3:
                rows[:, 9 + axis - 3] += sign * step
            else:
                turn = Rotation.from_rotvec(sign * step * np.eye(3)[axis]).as_matrix()
                rows[:, :9] = (turn @ A[:, :9].reshape(-1, 3, 3)).reshape(-1, 9)
            moved.append(one.energies(rows, B))
        assert_allclose(F[:, axis], -(moved[0] - moved[1]) / (2.0 * step), atol=1e-8 * size)
    assert_allclose(F[:, 3:6] + F[:, 9:], 0.0, atol=1e-13 * size)
    about = F[:, :3] + np.cross(A[:, 9:12], F[:, 3:6]) + F[:, 6:9] + np.cross(B[:, 9:12], F[:, 9:])
    assert_allclose(about, 0.0, atol=1e-13 * size)


def test_damping_takes_energy_and_never_pulls() -> None:
    one, free = bench(SOLIDS["box"], damping=2.0), bench(SOLIDS["box"])
    A = at_random(np.random.default_rng(4), 3000, 0.15, speed=1.0, turning=2.0)
    B = np.repeat(motion((0, 0, 0))[None], len(A), axis=0)
    F, bare = one.wrenches(A, B)[:, :6], free.wrenches(A, B)[:, :6]
    rates = np.concatenate([A[:, 12:15], A[:, 15:18]], axis=1)
    lost = np.sum((bare - F) * rates, axis=1)
    pressed = np.abs(bare[:, 3:]).max(axis=1) > 0.0
    assert pressed.sum() > 200 and lost[pressed].min() >= -1e-9 and lost.max() > 1.0
    assert one.seen(A, B)[:, 6].min() == 0.0 and one.seen(A, B)[:, 6].max() > 10.0


@pytest.mark.parametrize("kind", SOLIDS)
def test_both_points_are_where_their_share_of_the_energy_is_greatest(kind: str) -> None:
    """By `nx.distance` of balls along the axis, and a search among all of them."""
    one, rng = bench(SOLIDS[kind]), np.random.default_rng(7)
    A = at_random(rng, 400, 0.15)
    still = motion((0, 0, 0))[None]
    depth = one.seen(A, np.repeat(still, len(A), axis=0))[:, 8]
    A = A[(depth > 1e-3) & (depth < 0.03)][:6]
    assert len(A) == 6
    for row in A:
        axis = row[:9].reshape(3, 3)[:, 2]

        def depth_at(s: float, axis: np.ndarray = axis, row: np.ndarray = row) -> float:
            return -nx.distance(nx.Sphere(R, position=tuple(row[9:12] + s * axis)), SOLIDS[kind]).distance

        known = 0.0
        for side in (1.0, -1.0):

            def missing(s: float, side: float = side, depth_at: Any = depth_at) -> float:
                return -0.5 * (1.0 + side * s / HALF) * max(depth_at(s), 0.0) ** 2.5

            grid = np.linspace(-HALF, HALF, 201)
            best = int(np.argmin([missing(s) for s in grid]))
            ends = grid[max(best - 1, 0)], grid[min(best + 1, 200)]
            found = minimize_scalar(missing, bounds=ends, method="bounded", options={"xatol": 1e-10})
            known -= min(float(found.fun), missing(-HALF), missing(HALF))
        assert one.energies(row[None], still)[0] == pytest.approx(K / 2.5 * known, rel=1e-8)


def test_what_lies_has_its_stiffness_at_each_end_and_what_crosses_in_one_place() -> None:
    """The point is midway between capsules, and on other solids; to the part by which those of crossed axes are apart."""
    depth = 1e-5
    across = Rotation.from_rotvec((0.5 * math.pi, 0, 0)).as_matrix()
    for solid, height, x in ((nx.Capsule(0.08, 0.4), 0.13, 0.08 - 0.5 * depth), (nx.Cylinder(0.1, 0.5), 0.15, 0.1)):
        for turn, force in ((np.eye(3), 2.0), (np.diag([1.0, -1.0, -1.0]), 2.0), (across, 1.0)):
            seen = bench(solid).seen(motion((height - depth, 0, 0.02), turn)[None], motion((0, 0, 0))[None])[0]
            rel = 1e-9 if force == 2.0 else 2.0 * depth * height / (5.0 * HALF**2)
            assert seen[6] == pytest.approx(force * K * depth**1.5, rel=rel)
            assert_allclose(seen[3:6], (x, 0.0, 0.02), atol=1e-12 if force == 2.0 else 1e-9)
            assert_allclose(seen[9:12], (1.0, 0.0, 0.0), atol=1e-12)
    lying = motion((0, 0, R + 0.07 - depth), Rotation.from_rotvec((0, 0.5 * math.pi, 0)).as_matrix())
    seen = bench(nx.Box((0.4, 0.2, 0.14))).seen(lying[None], motion((0, 0, 0))[None])[0]
    assert seen[6] == pytest.approx(2.0 * K * depth**1.5, rel=1e-9)


def test_over_a_part_of_its_length_it_lies_on_both_ends_of_that() -> None:
    """A bar across a block of the width w has (1 + w/l) k; then one that reaches beyond the end of another with a half of it."""
    depth, w = 1e-6, 0.1
    lying = motion((0.02, 0, 0.05 + 0.05 - depth), Rotation.from_rotvec((0, 0.5 * math.pi, 0)).as_matrix())
    seen = bench(nx.Box((w, 0.2, 0.1))).seen(lying[None], motion((0, 0, 0))[None])[0]
    assert seen[6] == pytest.approx((1.0 + w / LENGTH) * K * depth**1.5, rel=1e-4)
    # about its middle, 0.02 from that of the block, both ends have shares of ½ (1 ± s/a)
    shares = np.array([0.5 * (1.0 + (0.5 * w - 0.02) / HALF), 0.5 * (1.0 + (0.5 * w + 0.02) / HALF)])
    centre = float(shares @ (0.5 * w, -0.5 * w) / shares.sum())
    assert_allclose(seen[3:6], (centre, 0.0, 0.05), atol=1e-5)
    apart = motion((0.13 - depth, 0, 0.2))
    seen = bench(nx.Capsule(0.08, 0.4)).seen(apart[None], motion((0, 0, 0))[None])[0]
    assert seen[6] == pytest.approx((1.0 + 0.5) * K * depth**1.5, rel=1e-4)  # from its middle on
    assert seen[5] == pytest.approx(0.2 - HALF / 1.5, abs=1e-5)


@pytest.mark.parametrize("kind", ["capsule", "capsule, by Hertz", "cylinder, by Hertz", "small box", "hull"])
@pytest.mark.parametrize("way", ["crossed to parallel", "leaning", "along", "across"])
def test_forces_and_torques_do_not_jump_on_any_way(kind: str, way: str) -> None:
    """What changes most between two places is an eighth where there are eight times as many; a jump would stay."""
    solid, law = LAWS[kind]
    one, origin = bench(solid, **law), np.zeros(3)
    along_z = kind not in ("small box", "hull")
    lie = np.eye(3) if along_z else Rotation.from_rotvec((0, 0.5 * math.pi, 0)).as_matrix()
    up, ahead = (
        (np.array([1.0, 0, 0]), np.array([0, 0, 1.0])) if along_z else (np.array([0, 0, 1.0]), np.array([1.0, 0, 0]))
    )
    flat = motion(origin, lie)
    # so high that it is 1 mm deep
    above = float(brentq(lambda h: one.seen(_at(flat, h * up), motion(origin)[None])[0, 8] - 1e-3, 0.06, 0.4))
    changes = []
    for n in (4001, 32001):
        rows = np.repeat(flat[None], n, axis=0)
        t = np.linspace(-1.0, 1.0, n)
        turn = {"crossed to parallel": 0.5 * t[:, None] * up, "leaning": 0.4 * t[:, None] * np.cross(up, ahead)}.get(
            way
        )
        path = above * up + np.zeros((n, 3))
        if turn is not None:
            slant = Rotation.from_rotvec(3e-3 * np.cross(up, ahead) + 2e-3 * up)  # nothing is met all at once
            rows[:, :9] = (Rotation.from_rotvec(turn) * slant * Rotation.from_matrix(lie)).as_matrix().reshape(n, 9)
            path = path + 0.05 * np.abs(t)[:, None] * up * (way == "leaning") + 0.01 * ahead
        else:
            side = ahead if way == "along" else np.cross(up, ahead)
            path = path + 0.4 * t[:, None] * side
            rows[:, :9] = (
                (Rotation.from_rotvec(1e-3 * up + 2e-3 * side) * Rotation.from_matrix(lie)).as_matrix().ravel()
            )
        rows[:, 9:12] = path
        still = np.repeat(motion(origin)[None], n, axis=0)
        assert one.seen(rows, still)[:, 8].max() < R  # the axis is outside
        F = one.wrenches(rows, still)[:, 6:]
        assert np.abs(F[:, 3:]).max() > 1.0
        changes.append(np.abs(np.diff(F, axis=0)).max())
    assert changes[1] < 0.3 * changes[0]


def _at(row: np.ndarray, p: np.ndarray) -> np.ndarray:
    moved = row.copy()
    moved[9:12] = p
    return moved[None]


# --- by Hertz -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [90.0, 60.0, 30.0, 15.0, 7.0])
@pytest.mark.parametrize("other", [R, 0.08])
def test_crossed_capsules_have_the_ellipse_of_hertz(angle: float, other: float) -> None:
    """To the part by which its points are apart, which is of the order of depth over radius."""
    depth, phi = 1e-7, math.radians(angle)
    known = nx.hertz(SOFT, HARD, radii_a=(R, math.inf), radii_b=(other, math.inf), angle=phi)
    turn = Rotation.from_rotvec((phi, 0, 0)).as_matrix()
    for solid in (nx.Capsule(other, 0.4), nx.Cylinder(other, 0.4)):
        one = bench(solid, **by_hertz(other))
        seen = one.seen(motion((R + other - depth, 0.0, 0.0), turn)[None], motion((0, 0, 0))[None])[0]
        apart = depth * (R + other) / (5.0 * HALF**2 * math.sin(phi) ** 2)
        assert seen[6] == pytest.approx(known.stiffness * depth**1.5, rel=2.0 * apart + 1e-9)
        a, b = known.semi_axes(seen[6])
        assert seen[16] == pytest.approx(math.pi * a * b, rel=2.0 * apart + 1e-9)
        assert seen[17] == pytest.approx(known.pressure(seen[6]), rel=2.0 * apart + 1e-9)


def test_near_parallel_the_stiffness_goes_over_into_that_of_both_ends_without_a_kink() -> None:
    contact = bench(SOLIDS["capsule"], **by_hertz(0.08)).contact
    assert isinstance(contact, CapsuleContact)
    ball = hertz_radius(1.0 / R, 1.0 / R + 1.0 / 0.08)
    assert contact.factor({}, 0.0) == pytest.approx(math.sqrt(ball), rel=1e-12)
    h = 1e-6
    for sign in (-1.0, 1.0):
        inside = (contact.factor({}, ALIGNED) - contact.factor({}, ALIGNED - h)) / h
        outside = (contact.factor({}, ALIGNED + h) - contact.factor({}, ALIGNED)) / h
        assert inside == pytest.approx(outside, rel=1e-3), sign
    depth = 1e-4
    seen = bench(SOLIDS["capsule"], **by_hertz(0.08)).seen(motion((0.13 - depth, 0, 0))[None], motion((0, 0, 0))[None])[
        0
    ]
    assert seen[6] == pytest.approx(2.0 * 4.0 / 3.0 * E * math.sqrt(ball) * depth**1.5, rel=1e-9)


def test_on_faces_each_end_is_a_sphere() -> None:
    system = on_solid(nx.Box((0.5, 0.3, 0.1)), (0, 0, 0.2), BOTH)
    assert system.forces["c rod log"].stiffness == pytest.approx(4.0 / 3.0 * E * math.sqrt(R), rel=1e-12)


# --- at rest --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turned", [False, True])
def test_a_log_in_a_groove_of_two_logs(turned: bool) -> None:
    """2 · 2 k δᵉ cos α = m g, by Hertz as both ends of the upper one have it."""
    m, c, r, below = 2.0, 0.06, R, 0.08
    k = 4.0 / 3.0 * E * math.sqrt(hertz_radius(1.0 / r, 1.0 / r + 1.0 / below))

    def off(z: float) -> float:
        D = math.hypot(c, z)
        return 4.0 * k * (r + below - D) ** 1.5 * z / D - m * G

    z = float(brentq(off, 0.05, math.sqrt((r + below) ** 2 - c * c), xtol=1e-15))
    system = nx.System("groove")
    for i, x in enumerate((-c, c)):
        log = nx.Capsule(below, 0.5, orientation=ALONG_Y)
        system.add_body(f"log{i}", mass=1.0, position=(x, 0, 0), collision=[log])
        system.add_joint(nx.Fixed(f"held{i}", "ground", f"log{i}"))
    upper = nx.Capsule(r, LENGTH, orientation=ALONG_Y)
    system.add_body("rod", mass=m, inertia=(0.02, 0.003, 0.02), position=(0.001, 0.0, z + 1e-4), collision=[upper])
    system.add_joint(nx.Free("free", "ground", "rod"))
    sides = ("log*", "rod") if turned else ("rod", "log*")
    law = {"material_a": HARD, "material_b": SOFT} if turned else {"material_a": SOFT, "material_b": HARD}
    system.add_contact(nx.Contact("c", *sides, friction=0.0, **law))
    rest = nx.equilibrium(system)
    assert rest.position("rod")[2] == pytest.approx(z, rel=1e-8)
    assert rest.stability in ("stable", "neutral")


def test_a_rod_on_a_box_rocks_as_on_two_springs() -> None:
    m, k, (_, J, _) = 1.0, 1e5, (0.003, 0.02, 0.02)
    law = {"stiffness": k, "exponent": 1.0}
    rest = nx.equilibrium(on_solid(nx.Box((0.5, 0.3, 0.1)), (0.0, 0.0, 0.0999), law))
    assert rest.position("rod")[2] == pytest.approx(0.1 - m * G / (2.0 * k), rel=1e-9)
    rates = 2.0 * math.pi * np.sort(np.asarray(rest.frequencies))
    # both springs have their ends on the axis; the weight above them, and the force that turns with the face, are of the order m g r/J
    known = [math.sqrt(2.0 * k / m), math.sqrt(2.0 * k * HALF**2 / J)]
    assert_allclose(np.sort(rates[rates > 10.0]), np.sort(known), rtol=1e-3)


# --- in motion ------------------------------------------------------------------------------------------------------


METHODS = {
    "RungeKutta4": (nx.RungeKutta4(5e-5), 1e-6),
    "Projection": (nx.Projection(5e-5), 1e-6),
    "HHT": (nx.HHT(rtol=1e-6), 2e-5),
    "HHT of a step": (nx.HHT(dt=2e-4), 2e-4),
    "BDF2": (nx.ImplicitEuler(2e-4, bdf2=True), 2e-4),
    "ImplicitEuler": (nx.ImplicitEuler(1e-4), 2e-2),
}
BELOW: dict[str, nx.Shape] = {
    "capsule": nx.Capsule(0.08, 0.4, orientation=ALONG_Y),
    "like": nx.Capsule(R, LENGTH, orientation=ALONG_Y),
    "box": nx.Box((0.2, 0.3, 0.16)),
    "hull": nx.Hull([(x, y, z) for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.08, 0.08)] + [(0.0, 0.0, 0.1)]),
}


def thrown(kind: str, turned: bool = False) -> nx.System:
    law = BOTH | {"damping": 0.5, "turning_resistance": 0.001}
    v0 = (3.0, 1.0, 2.0, 0.5, -0.2, 0.0)
    return on_solid(BELOW[kind], (0.02, 0.05, 0.22), law, v0=v0, turned=turned)


@pytest.fixture(scope="module")
def exact() -> dict[str, np.ndarray]:
    """Where each is after 0.3 s."""
    found = {}
    for kind in BELOW:
        ran = nx.simulate(thrown(kind), 0.3, nx.DormandPrince(rtol=1e-9))
        assert ran.contacts("c").normal.values.max() > 20.0
        found[kind] = ran.position("rod").values[-1]
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", BELOW)
def test_every_formulation_throws_it_alike(kind: str, method: str, exact: dict[str, np.ndarray]) -> None:
    given, tolerance = METHODS[method]
    found = nx.simulate(thrown(kind), 0.3, given, output_times=[0.3])
    assert_allclose(found.position("rod").values[-1], exact[kind], atol=tolerance)


@pytest.mark.parametrize("kind", BELOW)
def test_the_order_of_bodies_changes_nothing(kind: str) -> None:
    """To the last digit, of two that are alike, too."""
    one, other = (nx.simulate(thrown(kind, turned), 0.3, nx.RungeKutta4(2e-4)) for turned in (False, True))
    assert one.contacts("c").normal.values.max() > 20.0
    assert_array_equal(other.position("rod").values, one.position("rod").values)


def flying(law: dict[str, Any], *, spins: Any = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), aside: float = 0.0) -> nx.System:
    """Two rods that cross, and fly towards each other at 1 m/s each, without gravity; of the masses 1 and 2 kg."""
    system = nx.System("flying", gravity=(0.0, 0.0, 0.0))
    for i, (name, turn) in enumerate((("p", ALONG_X), ("q", ALONG_Y))):
        inertia = (0.003, 0.02, 0.02) if i == 0 else (0.04, 0.006, 0.04)
        rod = nx.Capsule(R, LENGTH + 0.1 * i, orientation=turn)
        system.add_body(
            name, mass=1.0 + i, inertia=inertia, position=(aside * i, 0.5 * aside * i, 0.12 * i), collision=[rod]
        )
        v = (*spins[i], 0.0, 0.0, 1.0 - 2.0 * i)
        system.add_joint(nx.Free(f"free {name}", "ground", name, v0=v))
    system.add_contact(nx.Contact("c", "p", "q", **law))
    return system


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_a_free_impact_keeps_momentum_and_what_is_elastic_energy(friction: float) -> None:
    law = {"material_a": SOFT, "material_b": SOFT, "friction": friction}
    system = flying(law, spins=((0.5, 2.0, 1.0), (-1.0, 0.3, -2.0)), aside=0.06)
    ran = nx.simulate(system, 0.15, nx.DormandPrince(rtol=1e-12, atol=1e-13))
    normal = ran.contacts("c").normal.values
    assert normal.max() > 50.0 and normal[-1].max() == 0.0
    p, L = momenta(ran)
    assert_allclose(p, p[0] + np.zeros_like(p), atol=1e-10)
    assert_allclose(L, L[0] + np.zeros_like(L), atol=1e-10)
    total = ran.energy().total.values
    if friction == 0.0:
        assert_allclose(total, total[0], rtol=1e-9)
    else:
        assert total[-1] < 0.999 * total[0]


def momenta(ran: nx.Result) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum about the origin at all times, (N, 3) each."""
    p, L = 0.0, 0.0
    for name, m, inertia in (("p", 1.0, (0.003, 0.02, 0.02)), ("q", 2.0, (0.04, 0.006, 0.04))):
        x, v, w = (f(name).values for f in (ran.position, ran.velocity, ran.angular_velocity))
        turn = Rotation.from_quat(ran.orientation(name).values, scalar_first=True)
        p = p + m * v
        L = L + np.cross(x, m * v) + turn.apply(np.array(inertia) * turn.inv().apply(w))
    return np.asarray(p), np.asarray(L)


def test_what_bounces_has_its_restitution() -> None:
    law = {"material_a": HARD, "material_b": HARD, "friction": 0.0, "restitution": 0.7, "impact_speed": 2.0}
    ran = nx.simulate(flying(law), 0.02, nx.DormandPrince(rtol=1e-10))
    apart = ran.velocity("q").values[-1] - ran.velocity("p").values[-1]
    assert_allclose(apart, (0.0, 0.0, 0.7 * 2.0), atol=2e-6)


def test_halved_steps_halve_the_error_as_the_method_has_it_or_better() -> None:
    """While it stays in touch, rocking and turning on the log across, without friction: order 4 and 2."""
    law = {"material_a": SOFT, "material_b": HARD, "friction": 0.0}
    log = nx.Capsule(0.08, 0.4, orientation=ALONG_Y)
    system = on_solid(log, (0.0, 0.0, 0.1297), law, v0=(0.2, 0.3, 0.4, 0.0, 0.1, 0.0))
    fine = nx.simulate(system, 0.03, nx.DormandPrince(rtol=1e-12))
    assert fine.contacts("c").normal.values.min() > 0.0
    for make, order in (
        (nx.RungeKutta4, 4),
        (lambda dt: nx.HHT(dt=dt), 2),
        (lambda dt: nx.ImplicitEuler(dt, bdf2=True), 2),
    ):
        off = [
            float(
                np.abs(
                    nx.simulate(system, 0.03, make(dt)).position("rod").values[-1] - fine.position("rod").values[-1]
                ).max()
            )
            for dt in ((2e-3, 1e-3) if order == 4 else (5e-4, 2.5e-4))
        ]
        assert math.log2(off[0] / off[1]) > order - 0.35


@pytest.mark.parametrize(
    ("solid", "height"),
    [
        (nx.Box((0.5, 0.3, 0.1)), 0.1 - G / 2e6),
        (nx.Capsule(0.08, 0.5, orientation=ALONG_X), 0.13 - G / 2e6),
        (nx.Capsule(0.08, 0.5, orientation=ALONG_Y), 0.13 - G / 1e6),
        (nx.Box((0.1, 0.3, 0.1)), 0.1 - G / 1.3e6),
    ],
    ids=["lies on a box", "lies on a log", "crosses a log", "lies on a part"],
)
def test_slopes_are_those_of_the_forces_where_it_sticks(solid: nx.Shape, height: float) -> None:
    law = {"stiffness": 1e6, "exponent": 1.0, "damping": 20.0, "friction": 0.5}
    matrix, expected = slopes(on_solid(solid, (0.0, 0.0, height), law), 0.002)
    assert np.abs(matrix - expected).max() < 5e-6 * np.abs(expected).max()
    assert np.abs(expected).max() > 1.1  # the contact does count


STEADY = {
    "RungeKutta4": nx.RungeKutta4(2e-4),
    "HHT": nx.HHT(),
    "ImplicitEuler": nx.ImplicitEuler(2e-3),
    "BDF2": nx.ImplicitEuler(2e-3, bdf2=True),
}


@pytest.mark.parametrize("method", STEADY)
def test_a_rod_on_a_slope_just_below_the_cone_stays(method: str) -> None:
    lean = 0.3
    gravity = (G * math.sin(lean), 0.0, -G * math.cos(lean))
    for mu, stays in ((1.002 * math.tan(lean), True), (0.9 * math.tan(lean), False)):
        law = {"stiffness": 1e5, "exponent": 1.0, "damping": 20.0, "friction": mu}
        system = on_solid(nx.Box((4.0, 0.3, 0.1)), (-1.0, 0.0, 0.1), law, gravity=gravity)
        times = [0.0, 10.0, 60.0] if stays else [0.0, 0.2, 0.4]
        x = nx.simulate(system, times[-1], STEADY[method], output_times=times).position("rod").values[:, 0]
        if stays:
            assert abs(x[2] - x[1]) < 5e-8
        else:  # slides with g (sin φ − μ cos φ)
            a = G * (math.sin(lean) - mu * math.cos(lean))
            assert x[2] - 2.0 * x[1] + x[0] == pytest.approx(a * 0.04, rel=2e-2)


def test_a_rod_that_spins_on_a_box_is_held_at_both_ends() -> None:
    """By μ m g a: each end bears half of the weight, the arm a away."""
    mu, m, J, spin, k = 0.3, 1.0, 0.02, 4.0, 1e5
    law = {"stiffness": k, "exponent": 1.0, "friction": mu}
    system = on_solid(
        nx.Box((1.0, 1.0, 0.1)), (0.0, 0.0, 0.1 - m * G / (2.0 * k)), law, v0=(0.0, 0.0, spin, 0.0, 0.0, 0.0)
    )
    ran = nx.simulate(system, 0.3, nx.HHT(rtol=1e-7), output_times=[0.0, 0.02, 0.12, 0.3])
    w = ran.angular_velocity("rod").values[:, 2]
    assert w[1] - w[2] == pytest.approx(mu * m * G * HALF / J * 0.1, rel=1e-4)
    assert abs(w[3]) < 1e-3


def test_a_log_rolls_down_a_slope_where_that_is_steeper_than_its_resistance() -> None:
    """It stands up to tan φ = c/r, and rolls with (g sin φ − c/r g cos φ)/(1 + J/(m r²)) beyond."""
    m, J, lean, k = 1.0, 0.003, 0.1, 1e5
    gravity = (G * math.sin(lean), 0.0, -G * math.cos(lean))
    log = nx.Capsule(R, LENGTH, orientation=ALONG_Y)
    for part in (1.05, 0.5):
        c = part * R * math.tan(lean)
        law = {"stiffness": k, "exponent": 1.0, "damping": 20.0, "friction": 0.8, "rolling_resistance": c}
        height = 0.05 + R - m * G * math.cos(lean) / (2.0 * k)
        system = on_solid(
            nx.Box((4.0, 0.5, 0.1)), (-1.0, 0.0, height), law, rod=log, gravity=gravity, inertia=(0.02, J, 0.02)
        )
        x = nx.simulate(system, 1.0, nx.HHT(rtol=1e-7), output_times=[0.0, 0.2, 0.6, 1.0]).position("rod").values[:, 0]
        if part > 1.0:
            assert abs(x[3] - x[1]) < 1e-6
        else:
            r = height - 0.05  # from the axis down to the face
            a = (G * math.sin(lean) - c / r * G * math.cos(lean)) / (1.0 + J / (m * r * r))
            assert (x[3] - 2.0 * x[2] + x[1]) / 0.16 == pytest.approx(a, rel=1e-4)


def test_it_goes_on_from_a_state_and_through_a_scene_and_a_batch() -> None:
    system = on_solid(BELOW["capsule"], (0.02, 0.05, 0.14), {"stiffness": 1e5, "friction": 0.3})
    system.parameter("k", 1e5)
    system.add_contact(nx.Contact("more", "rod", "log", stiffness="=k", friction=0.0))
    assert to_dict(from_dict(to_dict(system))) == to_dict(system)
    method, times = nx.RungeKutta4(1e-4), [0.0, 0.1, 0.2]
    whole = nx.simulate(system, 0.2, method, output_times=times)
    half = nx.simulate(system, 0.1, method, output_times=times[:2])
    rest = nx.simulate(from_dict(to_dict(system)), 0.2, method, output_times=[0.2], initial=half)
    assert rest.position("rod").values[-1] == pytest.approx(whole.position("rod").values[-1], abs=1e-14)
    other = nx.simulate(system.with_parameters({"k": 2e5}), 0.2, method, output_times=times)
    assert np.abs(other.position("rod").values[-1] - whole.position("rod").values[-1]).max() > 1e-5
    together = nx.simulate(system, 0.2, method, batch=nx.Batch(parameters={"k": [1e5, 2e5]}), output_times=times)
    for i, one in enumerate((whole, other)):
        assert_allclose(together.member(i).position("rod").values, one.position("rod").values, atol=1e-13)


# --- interpreted ----------------------------------------------------------------------------------------------------

PROGRAM = """
import json
import numpy as np
from test_contact_capsules import interpreted
print(json.dumps(interpreted(), default=np.ndarray.tolist))
"""


def interpreted() -> dict[str, Any]:
    """Forces of each law in some poses, and a few steps in touch."""
    found: dict[str, Any] = {}
    for kind, (solid, law) in LAWS.items():
        one, A = bench(solid, **law), at_random(np.random.default_rng(11), 60, 0.12, speed=0.5, turning=1.0)
        A = A[one.seen(A, np.repeat(PLACED[None], len(A), axis=0))[:, 8] < 0.9 * R][:20]  # the axis is outside
        B = np.repeat(PLACED[None], len(A), axis=0)
        found[kind] = np.concatenate([one.wrenches(A, B), one.seen(A, B), one.energies(A, B)[:, None]], axis=1)
    system = on_solid(BELOW["like"], (0.02, 0.05, 0.0995), BOTH, v0=(0.3, 0.1, 0.2, 0.1, 0.0, 0.0))
    found["motion"] = nx.simulate(system, 2e-3, nx.SemiImplicitEuler(2e-4)).position("rod").values
    return found


def test_interpreted_kernels_give_what_compiled_ones_give() -> None:
    done = run(PROGRAM, NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr[-3000:]
    others = json.loads(done.stdout)
    for what, known in interpreted().items():
        assert np.abs(known).max() > 0.0
        assert_allclose(np.array(others[what]), known, atol=1e-11 * np.abs(known).max(), err_msg=what)


# --- what is told ---------------------------------------------------------------------------------------------------


def test_info_tells_the_stiffness() -> None:
    told = _contact(on_solid(BELOW["capsule"], (0, 0, 0.2), BOTH), "c")
    assert (told["unit"], told["of"], told["points"]) == ("N/m^1.5", "point", 1)
    ball = 4.0 / 3.0 * E * math.sqrt(hertz_radius(1.0 / R, 1.0 / R + 1.0 / 0.08))
    near = nx.hertz(SOFT, HARD, radii_a=(R, math.inf), radii_b=(0.08, math.inf), angle=math.asin(math.sqrt(ALIGNED)))
    assert told["stiffness"][0] == pytest.approx(ball, rel=1e-9)
    assert near.stiffness * (1.0 - 1e-9) <= told["stiffness"][1] < 1.1 * near.stiffness
    told = _contact(on_solid(BELOW["box"], (0, 0, 0.2), {"stiffness": 1e5}), "c")
    assert (told["unit"], told["stiffness"]) == ("N/m^1.5", [1e5])


def test_a_step_that_is_too_long_is_refused_before_the_run() -> None:
    law = {"material_a": HARD, "material_b": HARD, "friction": 0.0}
    with pytest.raises(nx.InputError, match="contact 'c'"):
        nx.simulate(on_solid(BELOW["capsule"], (0, 0, 0.14), law), 0.1, nx.RungeKutta4(1e-3))


def test_what_is_not_known_is_refused_by_name() -> None:
    with pytest.raises(nx.InputError, match="touch at two points that share their force, and normal_force is of one"):
        on_solid(BELOW["box"], (0, 0, 0.2), {"normal_force": lambda depth, rate: 1e5 * depth})
    for solid in (nx.Cone(0.1, 0.2), nx.Ellipsoid((0.1, 0.2, 0.3))):
        with pytest.raises(nx.InputError, match=r"have no radius for the law of Hertz.*give a stiffness"):
            on_solid(solid, (0, 0, 1.0), BOTH)
    with pytest.raises(nx.InputError, match="Cylinder of body 'log' is not supported; spheres, capsules, boxes"):
        system = on_solid(nx.Cylinder(0.1, 0.3), (0, 0, 1.0), {"stiffness": 1e5})
        system.add_body("can", mass=1.0, collision=[nx.Cylinder(0.1, 0.2)])
        system.add_contact(nx.Contact("cans", "can", "log", stiffness=1e5))
    with pytest.raises(nx.InputError, match="must be a Capsule"):
        CapsuleContact("c", "a", "b", solid_a=nx.Sphere(0.1), solid_b=nx.Box((1, 1, 1)), stiffness=1e5)
