"""Ellipsoids at a point and cylinders along a line on half-spaces: Hertz by their own curvatures, energies, motions that are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from contact_lab import Bench, at_random, motion
from numba import njit
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import nexdyn as nx
from nexdyn.cli.info import _contact
from nexdyn.forces.round_contact import RoundContact
from nexdyn.geometry.kinds import PAGES

G = 9.81
EGG = nx.Ellipsoid((0.1, 0.2, 0.15))
CAN = nx.Cylinder(0.1, 0.3)
SOFT, HARD = nx.Material("soft", young=4e6, poisson=0.45), nx.Material("hard", young=2.1e11, poisson=0.3)
FLAT = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
"""An orientation in which the axis of a cylinder is x."""
E = 1.0 / ((1.0 - 0.45**2) / 4e6 + (1.0 - 0.3**2) / 2.1e11)
"""E* of both [Pa]."""
BOTH = {"material_a": SOFT, "material_b": HARD, "friction": 0.5}
LAWS: dict[str, tuple[nx.Shape, dict[str, Any]]] = {
    "egg, given": (EGG, {"stiffness": 1e6, "exponent": 1.7}),
    "egg, by Hertz": (EGG, {"stiffness": 1e6, "hertz": 1.0}),
    "of revolution": (nx.Ellipsoid((0.1, 0.1, 0.2)), {"stiffness": 1e6, "hertz": 1.0}),
    "nearly a sphere": (nx.Ellipsoid((0.1, 0.1000001, 0.10002)), {"stiffness": 1e6, "hertz": 1.0}),
    "can, given": (CAN, {"stiffness": 1e5}),
    "can, linear": (CAN, {"stiffness": 1e5, "exponent": 1.0}),
    "can, by Hertz": (CAN, {"stiffness": 1e6, "exponent": 1.0, "hertz": 0.5}),
    "coin, by Hertz": (nx.Cylinder(0.2, 0.02), {"stiffness": 1e6, "exponent": 1.0, "hertz": 0.5}),
}
FLOOR = np.array([motion((0.1, -0.2, 0.05), Rotation.from_rotvec((0.2, 0.1, 0.0)).as_matrix())])


def bench(shape: nx.Shape, **law: Any) -> Bench:
    return Bench(RoundContact("c", "a", "b", solid_a=shape, solid_b=nx.HalfSpace(), **law))


def on_ground(
    shape: nx.Shape, height: float, law: dict[str, Any], *, mass: float = 1.0, inertia: Any = (4e-3, 3e-3, 2e-3), turned: bool = False,
    gravity: Any = (0.0, 0.0, -G), v0: Any = None,
) -> nx.System:  # fmt: skip
    """A body on the ground; `turned`: the contact names the ground first."""
    system = nx.System("touched", gravity=gravity)
    system.add_body("stone", mass=mass, inertia=inertia, position=(0, 0, height), shapes=[shape])
    system.add_joint(nx.Free("free", "ground", "stone", v0=v0))
    if turned:
        law = {
            key[:-1] + {"a": "b", "b": "a"}[key[-1]] if key[-2:] in ("_a", "_b") else key: x for key, x in law.items()
        }
    system.add_contact(nx.Contact("floor", *(("ground", "stone") if turned else ("stone", "ground")), **law))
    return system


# --- the law alone --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LAWS)
def test_forces_are_those_of_a_potential(kind: str) -> None:
    shape, law = LAWS[kind]
    one, step, rng = bench(shape, **law), 1e-6, np.random.default_rng(1)
    A = at_random(rng, 2000, 0.12)
    depth = one.seen(A, np.repeat(FLOOR, len(A), axis=0))[:, 8]
    A = A[(depth > 1e-5) & (depth < 0.03)]
    assert len(A) >= 20
    B = np.repeat(FLOOR, len(A), axis=0)
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
        assert_allclose(F[:, axis], -(moved[0] - moved[1]) / (2.0 * step), atol=2e-8 * size)
    assert_allclose(F[:, 3:6] + F[:, 9:], 0.0, atol=1e-13 * size)
    about = F[:, :3] + np.cross(A[:, 9:12], F[:, 3:6]) + F[:, 6:9] + np.cross(B[:, 9:12], F[:, 9:])
    assert_allclose(about, 0.0, atol=1e-13 * size)


def test_an_ellipsoid_has_the_ellipse_of_hertz_wherever_it_is_touched() -> None:
    page, depth = PAGES["ellipsoid"], 1e-4
    rng = np.random.default_rng(2)
    one = bench(EGG, stiffness=4.0 / 3.0 * E, hertz=1.0)
    turns = [np.eye(3)[[2, 0, 1]], np.eye(3), *Rotation.random(8, rng=rng).as_matrix()]
    D = np.array(EGG.semi_axes)
    for R in turns:
        n = -R[2]  # the outward normal at the lowest point, in the axes of the solid
        g = float(np.linalg.norm(D * n))
        first, second = page.curvatures(D * D * n / g, n, semi_axes=EGG.semi_axes)
        known = nx.hertz(SOFT, HARD, radii_a=(1.0 / first, 1.0 / second))
        seen = one.seen(motion((0.3, 0.1, g - depth), R)[None], motion((0, 0, 0))[None])[0]
        assert seen[6] == pytest.approx(known.stiffness * depth**1.5, rel=1e-9)
        assert seen[8] == pytest.approx(depth, rel=1e-9)
        a, b = known.semi_axes(seen[6])
        assert seen[16] == pytest.approx(math.pi * a * b, rel=1e-9)
        assert seen[17] == pytest.approx(known.pressure(seen[6]), rel=1e-9)
        # the point: where the ellipsoid is lowest, but for as much as its stiffness turns with it
        lowest = (R @ (D * D * n / g) + (0.3, 0.1, 0.0))[:2]
        assert_allclose(seen[3:6], [*lowest, 0.0], atol=2.0 * depth)


def test_a_sphere_that_is_an_ellipsoid_does_what_a_sphere_does() -> None:
    depth = 2e-4
    for axes, rel in (((0.1, 0.1, 0.1), 1e-12), ((0.1, 0.1, 0.1 + 1e-9), 1e-7), ((0.1, 0.1, 0.1 + 1e-6), 1e-4)):
        seen = bench(nx.Ellipsoid(axes), stiffness=4.0 / 3.0 * E, hertz=1.0).seen(
            motion((0, 0, axes[2] - depth))[None], motion((0, 0, 0))[None]
        )[0]
        assert seen[6] == pytest.approx(4.0 / 3.0 * E * math.sqrt(0.1) * depth**1.5, rel=rel)
        assert seen[16] == pytest.approx(math.pi * 0.1 * depth, rel=rel)


def give(q: float, r: float, length: float) -> float:
    """How far a cylinder of SOFT gives down to its axis, and a half-space of HARD under a strip, under q [N/m]: Johnson, and sums."""
    b = math.sqrt(4.0 * q * r / (math.pi * E))
    of_cylinder, of_plane = ((1.0 - nu * nu) / (math.pi * young) for young, nu in ((4e6, 0.45), (2.1e11, 0.3)))
    return q * (of_cylinder * (2.0 * math.log(4.0 * r / b) - 1.0) + of_plane * (2.0 * math.log(2.0 * length / b) + 1.0))


def test_how_far_a_half_space_gives_under_a_strip() -> None:
    """(1 − ν²)/(π E) ∫∫ p/ρ dA at the middle, of p as Hertz has it across and even along: 2 ln(2 L/b) + 1 per length."""
    length, b = 0.3, 0.002

    def across(y: float) -> float:  # ∫ dz/√(z² + y²), times the pressure of 1 N/m at y
        return 2.0 * math.asinh(0.5 * length / y) * 2.0 / (math.pi * b * b) * math.sqrt(b * b - y * y)

    total = 2.0 * quad(across, 0.0, b, epsabs=0.0, epsrel=1e-10, limit=200)[0]
    assert total == pytest.approx(2.0 * math.log(2.0 * length / b) + 1.0, rel=1e-5)


def test_a_cylinder_that_lies_gives_as_hertz_has_it_per_length() -> None:
    r, length = 0.1, 0.3
    system = on_ground(nx.Cylinder(r, length, orientation=FLAT), r, BOTH)
    contact = system.forces["floor stone ground"]
    data = contact.data(system.values)
    ends = contact.frames(system)
    for q in (1.0, 50.0, 2e3):
        depth = give(q, r, length)
        A = np.concatenate([ends[0].R_BF.ravel(), (0.0, 0.0, r - depth), np.zeros(6)])[None]
        seen = contact.motion_table(data, A, motion((0, 0, 0))[None], np.zeros((1, 0)))[0, 0]
        b = math.sqrt(4.0 * q * r / (math.pi * E))
        assert seen[6] == pytest.approx(q * length, rel=1e-9)
        assert seen[16] == pytest.approx(2.0 * b * length, rel=1e-9)
        assert seen[17] == pytest.approx(math.sqrt(q * E / (math.pi * r)), rel=1e-9)


def test_a_cylinder_of_a_given_stiffness_has_it_along_its_line_and_on_its_ends() -> None:
    depth = 1e-3
    for exponent in (1.0, 1.5):
        one = bench(CAN, stiffness=1e6, exponent=exponent)
        for R, height in ((np.eye(3), 0.15), (np.diag([1.0, -1.0, -1.0]), 0.15), (np.eye(3)[[1, 2, 0]], 0.1)):
            seen = one.seen(motion((0, 0, height - depth), R)[None], motion((0, 0, 0))[None])[0]
            assert seen[6] == pytest.approx(1e6 * depth**exponent, rel=1e-7)
            assert_allclose(seen[3:6], 0.0, atol=1e-12)


def test_a_law_of_your_own_presses_at_the_lowest_point() -> None:
    @njit
    def law(depth: float, rate: float) -> float:
        return float(1e5 * depth**1.5 * (1.0 + 0.3 * rate))

    found = []
    for given in ({"stiffness": 1e5, "damping": 0.3}, {"normal_force": law}):
        for slow in ({"friction": 0.4}, {"friction": 0.4, "friction_speed": 0.01}):
            system = on_ground(EGG, 0.16, given | slow, v0=(2.0, 1.0, 0.5, 0.3, 0.1, -0.5))
            found.append(
                [nx.simulate(system, 0.1, m).position("stone").values for m in (nx.RungeKutta4(2e-4), nx.HHT(dt=5e-4))]
            )
    for by_law, own in zip(found[:2], found[2:], strict=True):
        assert_allclose(own[0], by_law[0], atol=1e-9)
        assert_allclose(own[1], by_law[1], atol=1e-7)


# --- at rest --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turned", [False, True])
def test_the_depth_under_weight(turned: bool) -> None:
    m = 2.0
    curved = nx.hertz(SOFT, HARD, radii_a=(0.2**2 / 0.1, 0.15**2 / 0.1))
    x = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)  # the short axis upright
    rest = nx.equilibrium(on_ground(nx.Ellipsoid(EGG.semi_axes, orientation=x), 0.1, BOTH, mass=m, turned=turned))
    assert rest.position("stone")[2] == pytest.approx(0.1 - curved.depth(m * G), rel=1e-9)
    lies = nx.Cylinder(0.1, 0.3, orientation=FLAT)
    rest = nx.equilibrium(on_ground(lies, 0.0999, BOTH, mass=m, turned=turned))
    assert rest.position("stone")[2] == pytest.approx(0.1 - give(m * G / 0.3, 0.1, 0.3), rel=1e-9)
    rest = nx.equilibrium(on_ground(CAN, 0.1499, BOTH, mass=m, turned=turned))
    assert rest.position("stone")[2] == pytest.approx(0.15 - m * G / (2.0 * E * 0.1), rel=1e-9)
    assert rest.stability == "stable"


def test_an_egg_rocks_as_its_shape_says() -> None:
    """Without friction J θ̈ = −m g (D_x² − D_z²)/D_z θ; where it rolls, with J + m D_z²; to the order of depth over radius."""
    m, D, J = 1.0, (0.2, 0.3, 0.1), (4e-3, 3e-3, 2e-3)
    for friction in (0.0, 0.5):
        law = {"material_a": HARD, "material_b": HARD, "friction": friction}
        rest = nx.equilibrium(on_ground(nx.Ellipsoid(D), 0.1, law, mass=m, inertia=J))
        rates = 2.0 * np.pi * np.sort(np.asarray(rest.frequencies))
        rolls = friction > 0.0
        known = [math.sqrt(m * G * (D[i] ** 2 - D[2] ** 2) / D[2] / (J[1 - i] + rolls * m * D[2] ** 2)) for i in (0, 1)]
        slow = rates[(rates > 1.0) & (rates < 50.0)]
        assert_allclose(slow, sorted(known), rtol=1e-4)


# --- in motion ------------------------------------------------------------------------------------------------------


METHODS = {
    "RungeKutta4": (nx.RungeKutta4(2e-4), 1e-6),
    "Projection": (nx.Projection(2e-4), 1e-6),
    "HHT": (nx.HHT(rtol=1e-6), 1e-5),
    "HHT of a step": (nx.HHT(dt=2e-4), 1e-4),
    "BDF2": (nx.ImplicitEuler(2e-4, bdf2=True), 1e-4),
    "ImplicitEuler": (nx.ImplicitEuler(1e-4), 2e-2),
}


def thrown(kind: str, turned: bool = False) -> nx.System:
    shape = EGG if kind == "egg" else CAN
    law = BOTH | {"damping": 0.5, "rolling_resistance": 0.002, "turning_resistance": 0.001}
    return on_ground(shape, 0.2, law, inertia=(0.02, 0.015, 0.01), v0=(3.0, 1.0, 2.0, 0.5, -0.2, 0.0), turned=turned)


@pytest.fixture(scope="module")
def exact() -> dict[str, np.ndarray]:
    """Where each is after 0.3 s."""
    found = {}
    for kind in ("egg", "can"):
        run = nx.simulate(thrown(kind), 0.3, nx.DormandPrince(rtol=1e-9))
        assert run.contacts("floor").normal.values.max() > 100.0
        found[kind] = run.position("stone").values[-1]
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["egg", "can"])
def test_every_formulation_throws_it_alike(kind: str, method: str, exact: dict[str, np.ndarray]) -> None:
    given, tolerance = METHODS[method]
    found = nx.simulate(thrown(kind), 0.3, given, output_times=[0.3])
    assert_allclose(found.position("stone").values[-1], exact[kind], atol=tolerance)


@pytest.mark.parametrize("kind", ["egg", "can"])
def test_the_order_of_bodies_changes_nothing(kind: str, exact: dict[str, np.ndarray]) -> None:
    found = nx.simulate(thrown(kind, True), 0.3, nx.DormandPrince(rtol=1e-9))
    assert_allclose(found.position("stone").values[-1], exact[kind], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["egg", "can"])
def test_halved_steps_halve_the_error_as_the_method_has_it(kind: str) -> None:
    """While it stays in touch and slides without friction, so that nothing jumps: order 4 and 2."""
    shape = EGG if kind == "egg" else nx.Cylinder(0.1, 0.3, orientation=FLAT)
    law = {"material_a": SOFT, "material_b": HARD, "friction": 0.0}
    height, v0 = (
        (0.14975, (0.2, 0.4, 0.1, 0.1, 0.0, 0.0)) if kind == "egg" else (0.09997, (1.0, 2e-3, 0.3, 0.1, 0.0, 0.0))
    )
    system = on_ground(shape, height, law, v0=v0)
    fine = nx.simulate(system, 0.05, nx.DormandPrince(rtol=1e-12)).position("stone").values[-1]
    for make, order in (
        (nx.RungeKutta4, 4),
        (lambda dt: nx.HHT(dt=dt), 2),
        (lambda dt: nx.ImplicitEuler(dt, bdf2=True), 2),
    ):
        off = [
            float(np.abs(nx.simulate(system, 0.05, make(dt)).position("stone").values[-1] - fine).max())
            for dt in ((1e-3, 5e-4) if kind == "egg" else (2e-4, 1e-4))
        ]
        assert order - 0.35 < math.log2(off[0] / off[1]) < order + 0.6


@pytest.mark.parametrize("name", ["RungeKutta4", "HHT", "HHT of a step", "BDF2", "ImplicitEuler"])
def test_a_cylinder_that_rolls_keeps_its_energy(name: str) -> None:
    r, length, m = 0.1, 0.3, 2.0
    height = r - give(m * G / length, r, length)
    spin = 3.0
    system = on_ground(
        nx.Cylinder(r, length, orientation=(math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)), height, BOTH, mass=m,
        inertia=(0.02, 0.01, 0.02), v0=(0.0, spin, 0.0, spin * height, 0.0, 0.0),
    )  # fmt: skip
    result = nx.simulate(system, 1.0, METHODS[name][0], output_times=[0.0, 0.5, 1.0])
    kinetic = result.energy().kinetic.values
    assert_allclose(kinetic, 0.5 * (m * height**2 + 0.01) * spin**2, rtol=1e-6)
    place = result.position("stone").values
    assert_allclose(place[-1], [spin * height, 0.0, height], atol=2e-6)
    assert result.contacts("floor").sticks.values.all()


@pytest.mark.parametrize("kind", ["egg", "can"])
def test_what_tumbles_without_friction_keeps_its_energy(kind: str) -> None:
    """From its end over its rim to its side, a can; an egg whose stiffness turns with it."""
    law = {"material_a": SOFT, "material_b": HARD, "friction": 0.0}
    shape, height, spin = (EGG, 0.16, 3.0) if kind == "egg" else (CAN, 0.151, 12.0)
    system = on_ground(shape, height, law, mass=3.0, inertia=(0.03, 0.02, 0.012), v0=(spin, 1.0, 0.2, 0.0, 0.0, -0.2))
    result = nx.simulate(system, 0.6, nx.DormandPrince(rtol=1e-10), output_every=5)
    total = result.energy().total.values
    up = Rotation.from_quat(result.orientation("stone").values, scalar_first=True).as_matrix()[:, 2, 2]
    assert result.contacts("floor").normal.values.max() > 100.0 and np.ptp(up) > 0.5
    assert_allclose(total, total[0], atol=1e-8 * np.abs(total).max())


@pytest.mark.parametrize("method", [nx.HHT(rtol=1e-5), nx.ImplicitEuler(5e-4), nx.RungeKutta4(1e-4)], ids=str)
def test_a_can_that_is_nudged_rocks_and_stands_again(method: Any) -> None:
    system = on_ground(
        CAN, 0.1499, BOTH | {"damping": 30.0}, mass=2.0, inertia=(0.02, 0.02, 0.01), v0=(0.3, 0.1, 0.2, 0.0, 0.0, 0.0)
    )
    result = nx.simulate(system, 1.0, method, output_times=[0.0, 0.9, 1.0])
    place, up = result.position("stone").values, result.orientation("stone").values
    assert_allclose(place[-1], place[-2], atol=1e-6)
    assert place[-1, 2] == pytest.approx(0.15 - 2.0 * G / (2.0 * E * 0.1), abs=1e-6)
    assert 2.0 * np.hypot(up[-1, 1], up[-1, 2]) < 1e-5


# --- what is told ---------------------------------------------------------------------------------------------------


def test_info_tells_the_stiffness() -> None:
    told = _contact(on_ground(EGG, 0.2, BOTH), "floor")
    known = [
        nx.hertz(SOFT, HARD, radii_a=(x * x / z, y * y / z)).stiffness
        for x, y, z in ((0.1, 0.2, 0.15), (0.2, 0.15, 0.1), (0.15, 0.1, 0.2))
    ]
    assert (told["unit"], told["of"], told["points"]) == ("N/m^1.5", "point", 1)
    assert told["stiffness"] == pytest.approx([min(known), max(known)], rel=1e-9)
    told = _contact(on_ground(CAN, 0.2, BOTH), "floor")
    q = brentq(lambda q: give(q, 0.1, 0.3) - 1e-5, 1e-6, 1e6)
    assert told["unit"] == "N/m"
    assert told["stiffness"] == pytest.approx([0.3 * q / 1e-5], rel=1e-6)
    told = _contact(on_ground(CAN, 0.2, {"stiffness": 1e5}), "floor")
    assert (told["unit"], told["stiffness"]) == ("N/m^1.5", [1e5])


def test_a_step_that_is_too_long_is_refused_before_the_run() -> None:
    for shape, height in ((EGG, 0.16), (nx.Cylinder(0.1, 0.3, orientation=FLAT), 0.11)):
        law = {"material_a": HARD, "material_b": HARD, "friction": 0.0}
        with pytest.raises(nx.InputError, match="contact 'floor'"):
            nx.simulate(on_ground(shape, height, law), 0.1, nx.RungeKutta4(1e-3))


@pytest.mark.parametrize("solid", [nx.Cone(0.1, 0.2)])
def test_what_is_not_known_is_refused_by_name(solid: nx.Shape) -> None:
    with pytest.raises(nx.InputError, match="contact between Cone of body 'stone' and the ground's HalfSpace is not"):
        on_ground(solid, 0.2, {"stiffness": 1e5})
    with pytest.raises(
        nx.InputError, match="a cylinder touches a half-space along a line, and normal_force is of points"
    ):
        on_ground(CAN, 0.2, {"normal_force": lambda depth, rate: 1e5 * depth})


def test_linearize_sees_what_rocks_and_what_holds() -> None:
    """The rates of equilibrium, by A with the states of the spring along the plane."""
    system = on_ground(nx.Ellipsoid((0.2, 0.3, 0.1)), 0.1, BOTH)
    rest = nx.equilibrium(system)
    rates = np.sort(np.abs(nx.linearize(system, rest).eigenvalues.imag))
    slow = 2.0 * np.pi * np.sort(np.asarray(rest.frequencies))[:2]
    rocking = rates[(rates > 1.0) & (rates < 50.0)]
    assert_allclose(rocking, np.repeat(slow, 2), rtol=1e-4)
