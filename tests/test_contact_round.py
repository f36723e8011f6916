"""Round solids over areas: in closed form on half-spaces, compared with the same solids of facets; wheels, cans and stones that move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contact_lab import Bench, at_random, motion
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import nexdyn as nx
from nexdyn.forces.mesh_contact import MeshContact
from nexdyn.forces.round_contact import RoundContact

K = 3e6
"""Stiffness of a foundation [N/m³]."""
G = 9.81
FLOOR = nx.HalfSpace()
SOLIDS: dict[str, nx.Shape] = {
    "cylinder": nx.Cylinder(0.1, 0.3),
    "disc": nx.Cylinder(0.2, 0.02),
    "cone": nx.Cone(0.1, 0.25),
    "flat cone": nx.Cone(0.2, 0.05),
    "capsule": nx.Capsule(0.1, 0.2),
    "ellipsoid": nx.Ellipsoid((0.1, 0.2, 0.15)),
}
EVERY = pytest.mark.parametrize("kind", SOLIDS)
ALONG_X = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
"""An orientation in which the axis of a shape is x."""


def on_floor(shape: nx.Shape, ka: float | None = None, kb: float | None = K, **law: Any) -> Bench:
    """A round solid and a half-space."""
    return Bench(RoundContact("c", "a", "b", solid_a=shape, solid_b=FLOOR, foundation_a=ka, foundation_b=kb, **law))


def floors(n: int) -> np.ndarray:
    """A half-space that leans, n times."""
    return np.repeat(motion((0.1, -0.2, 0.05), Rotation.from_rotvec((0.2, 0.1, 0.0)).as_matrix())[None], n, axis=0)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def segment(r: float, d: float) -> float:
    """Area of a disc of radius r below a line, d deep."""
    return float(2.0 * r * r * np.arcsin(np.sqrt(0.5 * d / r)) - (r - d) * np.sqrt(d * (2.0 * r - d)))


@pytest.mark.parametrize("kind", ["cylinder", "disc", "cone", "flat cone"])
def test_the_moment_of_a_face_that_lies_flat_grows_from_nothing(kind: str) -> None:
    """M = −k π R⁴/4 θ, however little it leans: a face that lies as exactly as numbers allow pushes at its middle."""
    solid, depth = SOLIDS[kind], 1e-6
    lean = np.array([0.0, 1e-16, 1e-14, 1e-13, 9e-13, 1.1e-12, 1e-11, 1e-9])
    turned = Rotation.from_rotvec(lean[:, None] * np.array([0.6, -0.8, 0.0])).as_matrix()
    height = 0.5 * solid.length - depth  # type: ignore[attr-defined]
    A = np.array([motion((0.0, 0.0, height), R) for R in turned])
    bench = on_floor(solid)
    seen = bench.seen(A, np.repeat(motion((0.0, 0.0, 0.0))[None], len(A), axis=0))
    moment = np.cross(seen[:, 3:6] - A[:, 9:12], seen[:, :3])
    stiff = K * np.pi * solid.radius**4 / 4.0 - seen[:, 6] * 0.5 * solid.length  # type: ignore[attr-defined]
    assert_allclose(moment @ (0.6, -0.8, 0.0), -stiff * lean, rtol=1e-3, atol=1e-25)
    assert_allclose(moment @ (0.8, 0.6, 0.0), 0.0, atol=1e-6 * K * 1e-9)


@pytest.mark.parametrize(
    "method", [nx.ImplicitEuler(1e-3), nx.ImplicitEuler(2e-4), nx.ImplicitEuler(5e-4, bdf2=True)], ids=str
)
@pytest.mark.parametrize("kind", ["cylinder", "cone"])
def test_what_is_put_down_on_its_face_stands_under_implicit_euler(kind: str, method: nx.Method) -> None:
    solid, R, k = (nx.Cylinder(0.05, 0.1) if kind == "cylinder" else nx.Cone(0.05, 0.1)), 0.05, 1e8
    system = nx.System("stands")
    system.add_body("can", mass=1.0, inertia=(2e-3,) * 3, position=(0.003, 0.002, 0.05001), collision=[solid])
    system.add_joint(nx.Free("free", "ground", "can"))
    system.add_contact(nx.Contact("on", "can", foundation_b=k, damping=20.0, friction=0.5))
    place = nx.simulate(system, 0.3, method, output_times=[0.0, 0.2, 0.3]).position("can").values
    assert place[-1, 2] == pytest.approx(0.05 - G / (k * np.pi * R * R), abs=3e-9)
    assert_allclose(place[-1], place[-2], rtol=0, atol=1e-12)
    assert_allclose(place[-1, :2], place[0, :2], rtol=0, atol=1e-12)


@pytest.mark.parametrize("d", [1e-7, 1e-5, 1e-3, 0.02])
def test_volumes_that_are_known(d: float) -> None:
    r, length = 0.1, 0.3
    upright, lying = np.eye(3), Rotation.from_euler("y", 90, degrees=True).as_matrix()
    upside_down = Rotation.from_euler("x", 180, degrees=True).as_matrix()
    cap = np.pi * d * d * (r - d / 3.0)
    known: list[tuple[nx.Shape, np.ndarray, float, float]] = [
        (nx.Cylinder(r, length), upright, 0.15, np.pi * r * r * d),
        (nx.Cylinder(r, length), lying, r, length * segment(r, d)),
        (nx.Capsule(r, length), upright, 0.15 + r, cap),
        (nx.Capsule(r, length), lying, r, length * segment(r, d) + cap),
        (nx.Cone(r, length), upside_down, 0.15, np.pi / 3.0 * (r / length) ** 2 * d**3),
        (nx.Cone(r, length), upright, 0.15, np.pi * r * r * length / 3.0 * (1.0 - (1.0 - d / length) ** 3)),
        (nx.Ellipsoid((r, r, r)), lying, r, cap),
        (nx.Ellipsoid((2.0 * r, r, 3.0 * r)), lying, 2.0 * r, 3.0 * np.pi / 2.0 * d * d * (r - d / 6.0)),
    ]
    for shape, R, reach, volume in known:
        seen = on_floor(shape).seen(motion((0.3, -0.1, reach - d), R)[None], motion((0, 0, 0))[None])[0]
        assert_allclose(seen[:3], [0.0, 0.0, K * volume], rtol=1e-8, atol=1e-12 * K * volume, err_msg=f"{shape} {d}")
        assert_allclose(seen[8], d, rtol=1e-9)


@EVERY
@pytest.mark.parametrize("soft", [(None, K), (2.0 * K, None), (K, 3.0 * K)], ids=["b", "a", "both"])
def test_forces_are_those_of_a_potential(kind: str, soft: tuple[Any, Any], rng: np.random.Generator) -> None:
    bench, step = on_floor(SOLIDS[kind], *soft), 1e-6
    A = at_random(rng, 80, 0.12)
    B = floors(len(A))
    F, size = bench.wrenches(A, B), K * 1e-3
    assert (F[:, 5] != 0.0).sum() > 20
    for axis in range(6):
        moved = []
        for sign in (1.0, -1.0):
            rows = A.copy()
            if axis >= 3:
                rows[:, 9 + axis - 3] += sign * step
            else:
                turn = Rotation.from_rotvec(sign * step * np.eye(3)[axis]).as_matrix()
                rows[:, :9] = (turn @ A[:, :9].reshape(-1, 3, 3)).reshape(-1, 9)
            moved.append(bench.energies(rows, B))
        assert_allclose(F[:, axis], -(moved[0] - moved[1]) / (2.0 * step), atol=1e-5 * size)
    # no force and no moment on both together
    assert_allclose(F[:, 3:6] + F[:, 9:], 0.0, atol=1e-12 * size)
    about = F[:, :3] + np.cross(A[:, 9:12], F[:, 3:6]) + F[:, 6:9] + np.cross(B[:, 9:12], F[:, 9:])
    assert_allclose(about, 0.0, atol=1e-12 * size)


@EVERY
def test_the_same_solid_of_facets_does_the_same(kind: str, rng: np.random.Generator) -> None:
    """With damping, also of what turns, and friction that is regularised, which acts as over a disc on what is round."""
    shape, law = SOLIDS[kind], {"damping": 2.0}
    exact = on_floor(shape, **law)
    faceted = Bench(MeshContact("c", "a", "b", solid_a=shape, solid_b=FLOOR, foundation_b=K, **law))
    A = at_random(rng, 600, 0.15, 0.05, 0.1)
    B = np.repeat(motion((0, 0, 0))[None], len(A), axis=0)
    A[:, 11] = abs(A[:, 11])
    depth = exact.seen(A, B)[:, 8]
    few = (depth > 0.02) & (depth < 0.05)
    assert few.sum() > 20
    one, other = exact.wrenches(A[few], B[few]), faceted.wrenches(A[few], B[few])
    scale = abs(one[:, 5]).max()
    assert_allclose(other[:, 3:6], one[:, 3:6], atol=0.01 * scale)
    assert_allclose(other[:, :3], one[:, :3], atol=0.002 * scale)
    assert_allclose(faceted.energies(A[few], B[few]), exact.energies(A[few], B[few]), rtol=0.03, atol=1e-3)
    if kind in ("disc", "flat cone"):
        return  # whose rims have sides that press against each other, each with friction of its own
    # friction, of what slides without turning
    slow = {"friction": 0.5, "friction_speed": 0.01}
    A[:, 12:15] = 0.0
    low = (depth > 0.005) & (depth < 0.02)
    A, B = A[low], B[low]
    rubbed = on_floor(shape, **slow).seen(A, B)
    by_facets = Bench(MeshContact("c", "a", "b", solid_a=shape, solid_b=FLOOR, foundation_b=K, **slow)).seen(A, B)
    assert_allclose(by_facets[:, :2], rubbed[:, :2], atol=0.1 * abs(rubbed[:, 6]).max())


def test_what_leaves_fast_never_pulls(rng: np.random.Generator) -> None:
    bench = on_floor(SOLIDS["disc"], damping=5.0)
    A = at_random(rng, 2000, 0.1, 1.0, 10.0)
    B = np.repeat(motion((0, 0, 0))[None], len(A), axis=0)
    found = bench.wrenches(A, B)
    assert (found[:, 5] >= 0.0).all()
    assert np.isfinite(found).all()


@pytest.mark.parametrize("kind", SOLIDS)
def test_depths_of_the_size_of_rounding_give_numbers(kind: str, rng: np.random.Generator) -> None:
    """Near right angles and by a few last places under the plane, where moments of what is under it cancel."""
    shape, tiny = SOLIDS[kind], 2.0**-52
    bench = on_floor(shape, damping=2.0, friction=0.5, friction_speed=0.01)
    turns = [Rotation.from_euler("x", angle, degrees=True).as_matrix() for angle in (0, 90, 180, 270)]
    turns += [np.array([[1, 0, 0], [0, tiny, -1], [0, 1, tiny]])]
    low = []
    for R in turns:
        still = motion((0, 0, 10.0), R)[None]
        reach = 10.0 + bench.seen(still, motion((0, 0, 0))[None])[0, 8]
        heights = reach * (1.0 - tiny * rng.integers(-8, 8, size=60))
        low += [motion((0, 0, z), R, (0.1, 0.2, 0.3), (0.1, 0.2, -0.3)) for z in heights]
    A, B = np.array(low), np.repeat(motion((0, 0, 0))[None], len(low), axis=0)
    found = bench.wrenches(A, B)
    assert np.isfinite(found).all()
    assert np.isfinite(bench.energies(A, B)).all()
    assert (abs(found) < 1e-6).all()


def placed(shape: nx.Shape, z: float, mass: float, inertia: Any, law: dict[str, Any], **more: Any) -> nx.System:
    """A body on the ground, first of the contact or, with `turned`, second of it."""
    turned = more.pop("turned", False)
    system = nx.System("round", gravity=more.pop("gravity", (0.0, 0.0, -G)))
    system.add_body("stone", mass=mass, inertia=inertia, position=(0, 0, z), shapes=[shape], **more)
    system.add_joint(nx.Free("free", "ground", "stone", v0=more.pop("v0", None)))
    ends = ("ground", "stone") if turned else ("stone", "ground")
    system.add_contact(nx.Contact("floor", *ends, **law))
    return system


WHEEL = nx.Cylinder(0.1, 0.04, orientation=(np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))
"""A wheel whose axle is y."""
METHODS = [
    nx.HHT(rtol=1e-7),
    nx.HHT(dt=1e-3),
    nx.RungeKutta4(dt=1e-4),
    nx.ImplicitEuler(dt=5e-4),
    nx.ImplicitEuler(dt=5e-4, bdf2=True),
]


def depth_of(weight: float, k: float = 1e7) -> float:
    """How deep the wheel stands."""
    from scipy.optimize import brentq

    return float(brentq(lambda d: k * 0.04 * segment(0.1, d) - weight, 1e-9, 0.05, xtol=1e-15))


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("slides", [False, True])
def test_a_wheel_rolls_down_or_slides(slides: bool, method: Any) -> None:
    """a = g sin φ/(1 + I/(m s²)), s the height of the axle over the ground, where friction holds, else a = g (sin φ − μ cos φ)."""
    phi, mu, m = 0.3, 0.05 if slides else 0.5, 1.0
    gravity = (G * np.sin(phi), 0.0, -G * np.cos(phi))
    d = depth_of(m * G * np.cos(phi))
    inertia = (m * (3 * 0.1**2 + 0.04**2) / 12, 0.5 * m * 0.1**2, m * (3 * 0.1**2 + 0.04**2) / 12)
    law = {"foundation_b": 1e7, "friction": mu}
    system = placed(WHEEL, 0.1 - d, m, inertia, law, gravity=gravity)
    result = nx.simulate(system, 0.3, method, output_times=[0.0, 0.2, 0.3])
    v = result.velocity("stone").values[:, 0]
    rolls = G * np.sin(phi) / (1.0 + inertia[1] / (m * (0.1 - d) ** 2))
    known = G * (np.sin(phi) - mu * np.cos(phi)) if slides else rolls
    assert_allclose((v[2] - v[1]) / 0.1, known, rtol=2e-3)
    assert abs(result.position("stone").values[-1, 1]) < 1e-9


@pytest.mark.parametrize("turned", [False, True])
def test_a_can_that_is_hit_rocks_and_comes_to_rest(turned: bool) -> None:
    law = {("foundation_a" if turned else "foundation_b"): 1e7, "damping": 50.0, "friction": 0.4}
    m, r, length = 0.8, 0.05, 0.2
    inertia = (m * (3 * r * r + length**2) / 12,) * 2 + (0.5 * m * r * r,)
    d = m * G / (1e7 * np.pi * r * r)
    ends = []
    for method in (nx.HHT(rtol=1e-8), nx.RungeKutta4(dt=1e-4)):
        system = placed(nx.Cylinder(r, length), 0.5 * length - d, m, inertia, law, turned=turned)
        result = nx.simulate(
            system, 1.0, method, v0={"free": (4.0, 0.0, 3.0, 0.0, 0.0, 0.0)}, output_times=np.linspace(0.0, 1.0, 51)
        )
        z = result.orientation("stone").values
        tilt = 2.0 * np.hypot(z[:, 1], z[:, 2])
        assert tilt.max() > 0.02  # it stands on its rim
        assert tilt[-1] < 1e-3  # and again on its end
        ends.append(result.position("stone").values)
    assert_allclose(ends[0], ends[1], atol=2e-5)


def test_a_can_rocks_at_the_frequency_of_its_metacentre() -> None:
    """J θ̈ = −(k I − W b) θ, I the second moment of its end, b how high the centre of mass is above that of the volume under the plane."""
    m, r, length, k = 0.8, 0.05, 0.2, 1e6
    inertia = (m * (3 * r * r + length**2) / 12,) * 2 + (0.5 * m * r * r,)
    system = placed(nx.Cylinder(r, length), 0.5 * length, m, inertia, {"foundation_b": k})
    rest = nx.equilibrium(system)
    d = m * G / (k * np.pi * r * r)
    assert_allclose(rest.position("stone")[2], 0.5 * length - d, rtol=1e-9)
    rates = 2.0 * np.pi * np.sort(np.asarray(rest.frequencies))[::-1]
    stiff = k * np.pi * r**4 / 4.0 - m * G * (0.5 * length - 0.5 * d)
    up, rocking = np.sqrt(k * np.pi * r * r / m), np.sqrt(stiff / inertia[0])
    expected = sorted([up, rocking, rocking], reverse=True)
    assert_allclose(rates[:3], expected, rtol=1e-5)


def test_an_egg_wobbles_as_long_as_nothing_rubs() -> None:
    """What is stored and what moves add up, by a method of high order and by the implicit ones to their own."""
    shape = nx.Ellipsoid((0.1, 0.07, 0.14))
    system = placed(shape, 0.1401, 1.0, (0.005, 0.006, 0.003), {"foundation_b": 1e6})
    result = nx.simulate(
        system, 0.5, nx.DormandPrince(rtol=1e-10), v0={"free": (3.0, -2.0, 1.0, 0.2, 0.0, 0.0)}, output_every=10
    )
    energy = result.energy()
    total = energy.total.values
    assert result.contacts("floor").normal.values.max() > 0.0
    assert_allclose(total, total[0], atol=3e-8 * abs(total).max())


@pytest.mark.parametrize("kind", ["cylinder", "capsule", "ellipsoid", "sphere"])
@pytest.mark.parametrize("turned", [False, True])
def test_on_a_box_it_stands_by_facets_as_on_the_ground(kind: str, turned: bool) -> None:
    shape = nx.Sphere(0.1) if kind == "sphere" else nx.Capsule(0.1, 0.2) if kind == "capsule" else SOLIDS[kind]
    found = []
    for below in (nx.HalfSpace(), nx.HeightField(((0.0,) * 3,) * 3, (2.0, 2.0), bottom=-0.5)):
        system = nx.System("stand")
        system.add_body("stone", mass=4.0, inertia=(0.02,) * 3, collision=[shape], position=(0.04, 0.03, 0.0))
        system.add_joint(nx.Prismatic("up", "ground", "stone", axis=(0, 0, 1), q0=0.16))
        system.add_body("plate", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[below])
        system.add_joint(nx.Fixed("held", "ground", "plate"))
        ends = ("plate", "stone") if turned else ("stone", "plate")
        soft = {"foundation_a" if turned else "foundation_b": 2e6}
        system.add_contact(nx.Contact("floor", *ends, **soft))
        found.append(float(nx.equilibrium(system).position("stone")[2]))
    assert abs(found[1] - found[0]) < 0.0012 * 0.1  # of 64 facets around


def test_rollers_carry_a_roller_by_their_facets() -> None:
    """A pair that has no closed form: each presses along the line of centres, and both together carry the weight."""
    r, m, half = 0.05, 2.0, 0.04
    system, high = nx.System("rollers"), float(np.sqrt((2.0 * r) ** 2 - half**2))
    for name, x in (("left", -half), ("right", half)):
        system.add_body(name, mass=1.0, inertia=(1.0,) * 3, position=(x, 0, 0), collision=[lying(r, 0.3)])
        system.add_joint(nx.Fixed(f"{name} held", "ground", name))
    system.add_body("top", mass=m, inertia=(0.01,) * 3, collision=[lying(r, 0.2)])
    system.add_joint(nx.Prismatic("up", "ground", "top", axis=(0, 0, 1), q0=high))
    system.add_contact(nx.Contact("bed", ["left", "right"], "top", foundation_a=2e9, foundation_b=2e9, damping=30.0))
    result = nx.simulate(system, 1.0, nx.HHT(rtol=1e-6))
    forces = result.contacts("bed").force.values[-1]
    line = np.array([-half, high]) / (2.0 * r)
    for force, side in zip(forces, (1.0, -1.0), strict=True):
        assert_allclose(force[[0, 2]] / np.linalg.norm(force), [side * line[0], -line[1]], atol=0.02)
    assert_allclose(abs(forces[:, 2].sum()), m * G, rtol=1e-3)


def lying(r: float, length: float) -> nx.Cylinder:
    """A cylinder along y."""
    return nx.Cylinder(r, length, orientation=(np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))


RESTING: dict[str, tuple[nx.Shape, str, float]] = {
    "box": (nx.Box((0.2, 0.2, 0.3)), "stable", 0.1 - G / (1e6 * 0.06)),
    "cylinder": (nx.Cylinder(0.1, 0.3), "neutral", 0.0),
    "capsule": (nx.Capsule(0.1, 0.3), "neutral", 0.0),
}


@pytest.mark.parametrize("kind", RESTING)
@pytest.mark.parametrize(("z", "turned"), [(0.1, 1.551), (0.1, 1.501), (0.12, 1.5)])
def test_what_is_put_down_askew_comes_to_rest_lying(kind: str, z: float, turned: float) -> None:
    """Rolling is no slip: what has rolled has no spring of friction that pulls it back, and rolls on freely."""
    shape, stability, height = RESTING[kind]
    law = {"foundation_b": 1e6, "damping": 2.0, "friction": 0.5}
    around = (float(np.cos(0.5 * turned)), float(np.sin(0.5 * turned)), 0.0, 0.0)
    system = placed(shape, z, 1.0, (0.01,) * 3, law, orientation=around)
    rest = nx.equilibrium(system)
    assert rest.stability == stability
    free = nx.equilibrium(placed(shape, z, 1.0, (0.01,) * 3, {**law, "friction": 0.0}, orientation=around))
    assert_allclose(rest.position("stone")[2], free.position("stone")[2], rtol=1e-8)
    if kind == "box":
        assert_allclose(rest.position("stone")[2], height, rtol=1e-8)
    assert rest.iterations < 12
