"""Contact of spheres with solids, at points and over areas: the law alone, then in motion, at rest, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from contact_lab import Bench, at_random, motion
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import ellipe, ellipk

import nexdyn as nx
from nexdyn.cli.info import _contact
from nexdyn.describe import from_dict, to_dict
from nexdyn.forces.ball_contact import BallContact
from nexdyn.forces.contact_group import hertz_radius
from nexdyn.view.floor import contact_plane

G, R, K = 9.81, 0.05, 2e7
POSED: dict[str, Any] = {"position": (0.02, -0.01, 0.03), "orientation": (0.8, 0.0, 0.6, 0.0)}
SOLIDS: dict[str, nx.Shape] = {
    "half-space": nx.HalfSpace(**POSED),
    "sphere": nx.Sphere(0.12, **POSED),
    "capsule": nx.Capsule(0.06, 0.2, **POSED),
    "box": nx.Box((0.3, 0.2, 0.14), **POSED),
    "cylinder": nx.Cylinder(0.1, 0.18, **POSED),
    "cone": nx.Cone(0.12, 0.25, **POSED),
    "ellipsoid": nx.Ellipsoid((0.15, 0.1, 0.07), **POSED),
    "hull": nx.Hull(np.random.default_rng(1).normal(size=(14, 3)) * 0.1, **POSED),
}
FLAT = ("half-space", "box", "hull", "sphere")
"""What has a foundation."""
FOUNDATIONS = {"rigid ball": (None, K), "soft ball": (K, None), "both": (2.0 * K, K)}


def ball(solid: nx.Shape, **law: Any) -> Bench:
    return Bench(BallContact("c", "a", "b", radius=R, solid=solid, **law))


def system_of(solid: nx.Shape, at: Any, lean: float = 0.0) -> nx.System:
    """A ball at `at`, and a rock of the shape `solid` at the origin; gravity leans by `lean` towards x."""
    system = nx.System("rock", gravity=(G * math.sin(lean), 0.0, -G * math.cos(lean)))
    system.add_body("rock", mass=1.0, collision=[solid])
    system.add_joint(nx.Fixed("held", "ground", "rock"))
    system.add_body("ball", mass=0.4, position=at, shapes=[nx.Sphere(R)])
    system.add_joint(nx.Free("free", "ground", "ball"))
    return system


# --- the law alone --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SOLIDS)
def test_depth_and_direction_are_those_of_the_nearest_points(kind: str) -> None:
    """Against the signed distance of geometry, where the centre of the ball is outside or a little within."""
    system = system_of(SOLIDS[kind], (0.0, 0.0, 0.0))
    system.add_contact(
        nx.Contact("c", "ball", "rock", **({"foundation_b": K} if kind in FLAT[::3] else {"stiffness": K}))
    )
    force = next(iter(system.forces.values()))
    assert isinstance(force, BallContact)
    frame = force.frames(system)[1]
    B = motion(frame.p_BF, frame.R_BF)[None]
    seen = 0
    for x in np.random.default_rng(2).normal(size=(40, 3)) * 0.2:
        apart = nx.distance(nx.Sphere(R, position=tuple(x)), SOLIDS[kind])
        if apart.distance < -1.2 * R:
            continue
        seen += 1
        row = force.motion_table(force.data({}), motion(x)[None], B, np.zeros((1, 0)))[0, 0]
        assert row[8] == pytest.approx(-apart.distance, abs=1e-12)
        assert_allclose(row[9:12], -np.array(apart.normal), atol=1e-9)  # from the rock to the ball
        below = R - (0.5 if kind == "sphere" else 1.0) * row[8]  # on the rock, of two spheres midway
        assert_allclose(row[3:6], x - below * row[9:12], atol=1e-12)
    assert seen > 10


@pytest.mark.parametrize("foundations", FOUNDATIONS)
@pytest.mark.parametrize("kind", ["sphere", "half-space"])
def test_the_force_over_an_area_is_the_integral_over_both_surfaces(kind: str, foundations: str) -> None:
    ka, kb = FOUNDATIONS[foundations]
    radius = 0.12
    solid = nx.Sphere(radius) if kind == "sphere" else nx.HalfSpace()
    bench = ball(solid, foundation_a=ka, foundation_b=kb)
    give_a, give_b = (0.0 if k is None else 1.0 / k for k in (ka, kb))
    for h in (1e-6, 1e-3, 0.02, 0.045):
        d = R + radius - h if kind == "sphere" else R - h

        def pressed(r: float, other: float, d: float) -> float:
            """∫ of the depth in a sphere of radius `other` over the surface of one of radius r, d between their centres."""
            last = math.acos((r * r + d * d - other * other) / (2.0 * r * d))
            depth = lambda c: other - math.sqrt(r * r + d * d - 2.0 * r * d * c)  # noqa: E731
            ring = lambda x: depth(math.cos(x)) * math.cos(x) * 2.0 * math.pi * r * r * math.sin(x)  # noqa: E731
            return quad(ring, 0.0, last, epsrel=1e-12)[0]

        if kind == "sphere":
            of_a, of_b = pressed(R, radius, d), pressed(radius, R, d)
        else:
            of_a = math.pi * h * h * (R - h / 3.0)
            edge = math.sqrt(R * R - d * d)
            of_b = quad(lambda p, d=d: (R - math.hypot(p, d)) * 2.0 * math.pi * p, 0.0, edge, epsrel=1e-12)[0]
        expected = (of_a * give_b + of_b * give_a) / (give_a + give_b) ** 2
        row = bench.seen(motion((0, 0, d))[None], motion((0, 0, 0))[None])[0]
        assert row[6] == pytest.approx(expected, rel=1e-5 if h < 1e-5 else 1e-9)
        assert row[17] == pytest.approx(h / (give_a + give_b), rel=1e-9)
        assert row[9:12] == pytest.approx((0, 0, 1), abs=1e-15)


@pytest.mark.parametrize("kind", SOLIDS)
@pytest.mark.parametrize("law", ["point", *FOUNDATIONS])
def test_forces_are_slopes_of_the_energy_and_opposite(kind: str, law: str) -> None:
    if law != "point" and kind not in FLAT:
        return
    given = {"stiffness": 3e5, "exponent": 1.5} if law == "point" else dict(
        zip(("foundation_a", "foundation_b"), FOUNDATIONS[law], strict=True)
    )  # fmt: skip
    bench, rng, h = ball(SOLIDS[kind], **given), np.random.default_rng(3), 1e-7
    A, B = at_random(rng, 200, 0.15), at_random(rng, 200, 0.02)
    if kind == "half-space":
        A[:, 9:12] *= 0.3
    deep = bench.seen(A, B)[:, 8]
    chosen = (deep > 2e-3) & (deep < 0.9 * R)
    A, B = A[chosen], B[chosen]
    assert len(A) > 8
    F = bench.wrenches(A, B)
    assert np.abs(F[:, 3:6]).max() > 0.0
    assert_allclose(F[:, 3:6], -F[:, 9:12], rtol=1e-13)
    arm = np.cross(A[:, 9:12] - B[:, 9:12], F[:, 3:6])
    assert_allclose(F[:, 0:3] + F[:, 6:9] + arm, 0.0, atol=1e-13 * np.abs(F).max())
    for c in range(3):
        ends = []
        for sign in (1.0, -1.0):
            moved = A.copy()
            moved[:, 9 + c] += sign * h
            ends.append(bench.energies(moved, B))
        assert_allclose(-(ends[0] - ends[1]) / (2.0 * h), F[:, 3 + c], atol=2e-6 * np.abs(F[:, 3:6]).max())


def test_a_disc_holds_against_turning_by_eight_fifteenths() -> None:
    """μ ∫ p ρ dA of p = 1 − ρ²/a² where it spins alone, with friction that is regularised; the sum of both where it also slides."""
    mu, h = 0.4, 1e-4
    bench = ball(nx.HalfSpace(), foundation_b=K, friction=mu, friction_speed=1e-9)
    a = math.sqrt(2.0 * R * h - h * h)
    A, B = motion((0, 0, R - h), w=(0, 0, 3.0))[None], motion((0, 0, 0))[None]
    F, f_n = bench.wrenches(A, B)[0], bench.seen(A, B)[0, 6]
    assert F[2] == pytest.approx(-mu * f_n * 8.0 / 15.0 * a, rel=1e-6)
    assert bench.seen(A, B)[0, 20] == pytest.approx(F[2], rel=1e-12)
    A = motion((0, 0, R - h), w=(0, 0, 3.0), v=(0.02, 0, 0))[None]
    F = bench.wrenches(A, B)[0]
    assert math.hypot(F[3], F[2] / (8.0 / 15.0 * a)) == pytest.approx(mu * f_n, rel=1e-9) and F[3] < 0.0 > F[2]


def test_damping_acts_on_the_rate_of_the_depth_and_a_force_never_pulls() -> None:
    bench = ball(SOLIDS["ellipsoid"], stiffness=1e5, exponent=1.5, damping=2.0)
    A, B = motion((0.02, 0.0, 0.11))[None], motion((0, 0, 0))[None]
    row = bench.seen(A, B)[0]
    assert row[8] > 0.0
    for speed in (-3.0, -0.1, 0.2, 10.0):
        A[0, 15:18] = speed * row[9:12]
        f = bench.seen(A, B)[0, 6]
        assert f == pytest.approx(1e5 * row[8] ** 1.5 * max(0.0, 1.0 - 2.0 * speed), rel=1e-12)


@pytest.mark.parametrize("e", [0.3, 0.8, 0.99, 0.9999])
def test_the_radius_of_hertz_is_that_of_his_ellipse(e: float) -> None:
    """From an ellipse a = 1, b = √(1 − e²) and p₀/E* = 1: depth b K, force 2/3 π a b, curvatures by Johnson (4.26)."""
    b = math.sqrt(1.0 - e * e)
    first, second = float(ellipk(e * e)), float(ellipe(e * e))
    A, B = b / e**2 * (first - second), b / e**2 * (second / b**2 - first)
    depth, force = b * first, 2.0 / 3.0 * math.pi * b
    for pair in ((2.0 * A, 2.0 * B), (2.0 * B, 2.0 * A)):
        assert 4.0 / 3.0 * math.sqrt(hertz_radius(*pair)) * depth**1.5 == pytest.approx(force, rel=1e-9)
    assert hertz_radius(4.0, 4.0) == pytest.approx(0.25)


def test_the_radius_of_hertz_is_there_for_all_sizes() -> None:
    assert hertz_radius(1.0, 1.0) == 1.0
    for ratio in (1.0 + 1e-12, 1.0 + 1e-7, 1.0 + 1e-5, 1.00009, 1.00011, 1.1, 1e6):
        R_e = hertz_radius(1.0, ratio)
        assert 0.5 / math.sqrt(ratio) < R_e < 1.0
        if ratio < 1.001:
            assert R_e == pytest.approx(1.0 / math.sqrt(ratio), rel=1e-7)


AXES = (0.15, 0.1, 0.07)


@pytest.mark.parametrize("off", [0.0, 1e-300, 1e-20, 1e-17, 1e-14, 1e-9, 1e-5])
def test_a_ball_deep_in_an_ellipsoid_is_as_deep_as_it_is(off: float) -> None:
    """Near its planes of symmetry, where the nearest point is at the end of the least half axis, or on a circle."""
    for axes in (AXES, AXES[::-1], (0.1, 0.07, 0.07), (0.1, 0.1, 0.1)):
        bench, least = ball(nx.Ellipsoid(axes), stiffness=1.0, exponent=1.0), int(np.argmin(axes))
        for k in range(3):
            x = np.zeros(3)
            x[k] = off
            row = bench.seen(motion(x)[None], motion((0, 0, 0))[None])[0]
            # along another axis the nearest point moves off the least one by less than this, and the depth grows
            expected = R + axes[least] - (off if axes[k] == axes[least] else 0.0)
            assert row[8] == pytest.approx(expected, abs=1e-15 + 20.0 * off * off)
            assert np.linalg.norm(row[9:12]) == pytest.approx(1.0, abs=1e-14)
    apart = nx.distance(nx.Sphere(R, position=(0.0, 0.0, off)), nx.Ellipsoid(AXES))
    assert apart.distance == pytest.approx(-(R + 0.07 - off), abs=1e-13)


@pytest.mark.filterwarnings("ignore:contact .* starts")
@pytest.mark.parametrize("foundations", FOUNDATIONS)
@pytest.mark.parametrize("solid", [nx.HalfSpace(), nx.Sphere(0.03)], ids=["half-space", "sphere"])
def test_friction_holds_at_any_depth(solid: nx.Shape, foundations: str) -> None:
    """Also where the force falls with the depth, and where it stays as it is."""
    given = dict(zip(("foundation_a", "foundation_b"), FOUNDATIONS[foundations], strict=True))
    z = solid.radius if isinstance(solid, nx.Sphere) else 0.0
    for depth in (0.01, 0.06, 0.07, 0.079, 0.09):
        system = system_of(solid, (0.0, 0.0, z + R - depth))
        system = system.with_parameters({"free.v0": (0, 0, 0, 0.1, 0, 0)})
        system.add_contact(nx.Contact("c", "ball", "rock", friction=0.4, damping=0.1, **given))
        seen = nx.simulate(system, 2e-5, nx.RungeKutta4(1e-6)).contacts("c").isel(time=-1, contact=0)
        assert 0.0 < seen.tangential.item() <= 0.4001 * seen.normal.item(), depth


def test_a_hull_with_many_points_in_its_faces_knows_what_is_inside() -> None:
    """A prism far from its origin, with points along its edges, to rounding."""
    angles, rng, centre = (
        np.linspace(0.0, 2.0 * math.pi, 64, endpoint=False),
        np.random.default_rng(4),
        np.array([10.0, 4.0, -3.0]),
    )
    rim = 0.1 * np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.vstack([np.column_stack([rim, np.full(64, z)]) for z in (-0.2, -0.1, 0.0, 0.13, 0.2)]) + centre
    bench = ball(nx.Hull(points + 1e-15 * rng.normal(size=points.shape)), stiffness=1.0, exponent=1.0)
    for _ in range(200):
        rho, angle, z = 0.09 * math.sqrt(rng.random()), 2.0 * math.pi * rng.random(), 0.19 * (2.0 * rng.random() - 1.0)
        x = np.array([rho * math.cos(angle), rho * math.sin(angle), z])
        row = bench.seen(motion(x + centre)[None], motion((0, 0, 0))[None])[0]
        flat = np.max(np.cos(angles + math.pi / 64.0) * x[0] + np.sin(angles + math.pi / 64.0) * x[1])
        inside = min(0.1 * math.cos(math.pi / 64.0) - flat, 0.2 - abs(z))
        assert row[8] == pytest.approx(R + inside, abs=1e-9)


# --- in motion ------------------------------------------------------------------------------------------------------

METHODS: dict[str, Any] = {
    "hht": nx.HHT(rtol=1e-7),
    "hht dt": nx.HHT(dt=1e-4),
    "rk4": nx.RungeKutta4(1e-4),
    "implicit-euler": nx.ImplicitEuler(2e-4, bdf2=True),
}
LAW: dict[str, Any] = {"stiffness": 5e4, "exponent": 1.5, "damping": 0.5, "friction": 0.3}


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_on_a_box_does_what_it_does_on_a_plane(method: str) -> None:
    """It falls 1 cm, sliding, and bounces: the box's top against the half-space of the ground."""
    ends = []
    for on_box in (True, False):
        top = nx.Box((2.0, 2.0, 0.2), position=(0, 0, -0.1)) if on_box else nx.HalfSpace()
        system = system_of(top, (0.0, 0.0, R + 0.01))
        system = system.with_parameters({"free.v0": (0, 0, 0, 1.0, 0.2, 0)})
        system.add_contact(nx.Contact("c", "ball", "rock", **LAW))
        assert isinstance(system.forces["c ball rock"], BallContact) == on_box
        result = nx.simulate(system, 0.2, METHODS[method], output_times=np.linspace(0.0, 0.2, 21))
        ends.append(np.hstack([result.position("ball").values, result.angular_velocity("ball").values]))
    close = {"hht": 2e-6, "hht dt": 1e-6, "rk4": 1e-9, "implicit-euler": 1e-3}[
        method
    ]  # at points its friction is of first order
    assert np.abs(ends[0]).max() > 1.0
    assert_allclose(ends[0], ends[1], atol=close * np.abs(ends[1]).max())


@pytest.mark.parametrize("part", [0.5, 1.5])
def test_a_ball_rolls_or_slides_down_a_leaning_board(part: float) -> None:
    """a = 5/7 g sin φ where μ > 2/7 tan φ, else g (sin φ − μ cos φ); the board is a box, and named first. It rolls on R less its depth."""
    phi = 0.4
    mu = 2.0 / 7.0 * math.tan(phi) * part
    system = system_of(nx.Box((4.0, 1.0, 0.2), position=(0, 0, -0.1)), (0.0, 0.0, R - 1e-5), phi)
    system.add_contact(nx.Contact("c", "rock", "ball", **{**LAW, "friction": mu, "stiffness": 1e6, "damping": 20.0}))
    result = nx.simulate(system, 0.5, nx.HHT(rtol=1e-6), output_times=[0.1, 0.5])
    v = result.velocity("ball").values[:, 0]
    rolls = R - result.contacts("c").penetration.values[-1, 0]
    expected = G * math.sin(phi) / (1.0 + 0.4 * (R / rolls) ** 2)
    if part < 1.0:
        expected = G * (math.sin(phi) - mu * math.cos(phi))
    assert (v[1] - v[0]) / 0.4 == pytest.approx(expected, rel=2e-4)
    assert result.contacts("c").sticks.values[-1] == (part > 1.0)


def test_a_sphere_that_is_an_ellipsoid_meets_another_as_spheres_do() -> None:
    ends = []
    for shape in (nx.Sphere(0.08), nx.Ellipsoid((0.08, 0.08, 0.08))):
        system = system_of(shape, (0.03, 0.01, 0.14))
        system.add_contact(nx.Contact("c", "ball", "rock", **{**LAW, "friction": 0.0}))
        ends.append(nx.simulate(system, 0.15, nx.RungeKutta4(1e-4), output_times=[0.15]).position("ball").values[-1])
    assert_allclose(ends[0], ends[1], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_on_a_foundation_rests_where_archimedes_says(method: str) -> None:
    """m g = k π h² (R − h/3) on a half-space, at rest and after a while."""
    system = system_of(nx.HalfSpace(), (0.0, 0.0, R - 1e-3))
    system.add_contact(nx.Contact("c", "ball", "rock", foundation_b=K, damping=5.0, friction=0.5))
    plane = contact_plane(system, np.array([0.0, 0.0, 1.0]))
    assert plane is not None and plane.normal == pytest.approx((0, 0, 1)) and plane.point == pytest.approx((0, 0, 0))
    result = nx.simulate(system, 0.8, METHODS[method], output_times=[0.8])
    seen = result.contacts("c").isel(time=-1, contact=0)
    h = seen.penetration.item()
    assert K * math.pi * h * h * (R - h / 3.0) == pytest.approx(seen.normal.item(), rel=1e-9)
    assert seen.normal.item() == pytest.approx(0.4 * G, rel=1e-4)
    assert seen.area.item() == pytest.approx(2.0 * math.pi * R * h, rel=1e-9)
    assert nx.equilibrium(system).stability == "neutral"  # it rolls


def test_a_gripper_lifts_a_ball_as_long_as_friction_holds() -> None:
    """Two fingers press with N each; the ball is held for 2 μ N > m (g + a)."""
    N, m, a = 10.0, 0.4, 2.0
    for part in (1.05, 0.95):
        mu = part * m * (G + a) / (2.0 * N)
        system = nx.System("gripper")
        system.add_body("ball", mass=m, shapes=[nx.Sphere(R)])
        system.add_joint(nx.Free("free", "ground", "ball"))
        system.add_body("hand", mass=1.0, inertia=(0.01,) * 3)
        system.add_joint(nx.Prismatic("lift", "ground", "hand", axis=(0, 0, 1)))
        system.add_driver(nx.Driver("up", "lift", f"=0.5*{a}*t**2"))
        pressed = (N / 1e6) ** (1.0 / 1.5)
        for side, name in ((-1.0, "left"), (1.0, "right")):
            system.add_body(
                name, mass=0.1, position=(side * (R - pressed + 0.01), 0, 0), shapes=[nx.Box((0.02, 0.06, 0.3))]
            )
            system.add_joint(nx.Prismatic(f"{name} slide", "hand", name, axis=(1, 0, 0)))
            system.add_force(nx.JointForce(f"{name} push", f"{name} slide", -side * N))
        system.add_contact(nx.Contact("grip", ["left", "right"], "ball", stiffness=1e6, damping=5.0, friction=mu))
        result = nx.simulate(system, 0.3, nx.HHT(rtol=1e-6), output_times=[0.0, 0.1, 0.3])
        slid = result.position("hand").values[:, 2] - result.position("ball").values[:, 2]
        assert (abs(slid[-1] - slid[1]) < 1e-6) == (part > 1.0), (part, slid)
        assert result.contacts("grip").sticks.values[-1].all() == (part > 1.0)


def test_it_goes_on_from_a_state_and_through_a_scene_and_a_batch() -> None:
    system = system_of(nx.Cylinder(0.1, 0.3, orientation=(0.6, 0.8, 0.0, 0.0)), (0.02, 0.01, 0.16))
    system.parameter("mu", 0.3)
    system.add_contact(nx.Contact("c", "ball", "rock", **{**LAW, "friction": "=mu"}))
    assert to_dict(from_dict(to_dict(system))) == to_dict(system)
    method, times = nx.RungeKutta4(1e-4), [0.0, 0.1, 0.2]
    whole = nx.simulate(system, 0.2, method, output_times=times)
    half = nx.simulate(system, 0.1, method, output_times=times[:2])
    rest = nx.simulate(from_dict(to_dict(system)), 0.2, method, output_times=[0.2], initial=half)
    assert rest.position("ball").values[-1] == pytest.approx(whole.position("ball").values[-1], abs=1e-14)
    other = nx.simulate(system.with_parameters({"mu": 0.0}), 0.2, method, output_times=times)
    assert np.abs(other.position("ball").values[-1] - whole.position("ball").values[-1]).max() > 1e-5
    together = nx.simulate(system, 0.2, method, batch=nx.Batch(parameters={"mu": [0.3, 0.0]}), output_times=times)
    for i, one in enumerate((whole, other)):
        assert_allclose(together.member(i).position("ball").values, one.position("ball").values, atol=1e-13)


# --- laws and refusals ----------------------------------------------------------------------------------------------


def test_materials_give_the_stiffness_of_hertz() -> None:
    steel = nx.Material("steel", young=2.1e11, poisson=0.3, friction=0.1)
    modulus = 0.5 * steel.young / (1.0 - steel.poisson**2)
    laws = {}
    for shape in (nx.Box((0.3, 0.3, 0.3)), nx.Cylinder(0.1, 0.4), nx.Capsule(0.1, 0.4)):
        system = system_of(shape, (0.0, 0.0, 1.0))
        system.add_contact(nx.Contact("c", "ball", "rock", material_a=steel, material_b=steel))
        laws[type(shape).__name__] = system.forces["c ball rock"].stiffness / (4.0 / 3.0 * modulus)
    assert laws["Box"] == pytest.approx(math.sqrt(R))
    assert laws["Cylinder"] == laws["Capsule"] == pytest.approx(math.sqrt(hertz_radius(1 / R, 1 / R + 10.0)))
    assert laws["Cylinder"] < laws["Box"]
    for shape in (nx.Cone(0.1, 0.2), nx.Ellipsoid((0.1, 0.2, 0.3))):
        system = system_of(shape, (0.0, 0.0, 1.0))
        with pytest.raises(nx.InputError, match=r"have no radius for the law of Hertz.*give a stiffness"):
            system.add_contact(nx.Contact("c", "ball", "rock", material_a=steel, material_b=steel))


def test_info_tells_points_and_areas() -> None:
    for law, of, unit in (({"stiffness": 1e4}, "point", "N/m^1.5"), ({"foundation_b": K}, "area", "N/m^3")):
        system = system_of(nx.Box((0.1, 0.1, 0.1)), (0.0, 0.0, 1.0))
        system.add_contact(nx.Contact("c", "ball", "rock", **law))
        told = _contact(system, "c")
        assert (told["of"], told["unit"], told["stiffness"]) == (of, unit, [next(iter(law.values()))])


@pytest.mark.parametrize("height", [0.003, 0.02, 3.0])
@pytest.mark.parametrize("law", [{"stiffness": 1e4}, {"foundation_a": K}])
def test_what_starts_apart_comes_to_rest_on_what_is_below(height: float, law: dict[str, float]) -> None:
    """A thin board, which a step as long as the mechanism would pass through."""
    system = system_of(nx.Box((0.6, 0.4, 0.02)), (0.02, 0.01, 0.01 + R + height))
    system.add_contact(nx.Contact("c", "rock", "ball", friction=0.5, **law))
    rest = nx.equilibrium(system)
    z = rest.report.q[-1, 6]
    assert 0.01 + R - 0.01 < z < 0.01 + R and rest.stability == "neutral"


def test_boxes_that_start_apart_come_to_rest_on_each_other() -> None:
    system = nx.System("shelf")
    system.add_body("board", mass=1.0, collision=[nx.Box((0.6, 0.4, 0.02))])
    system.add_joint(nx.Fixed("held", "ground", "board"))
    for i in range(2):
        system.add_body(f"box{i}", mass=1.0, position=(0.02, 0.01, 0.2 + 0.3 * i), shapes=[nx.Box((0.1, 0.1, 0.1))])
        system.add_joint(nx.Free(f"free{i}", "ground", f"box{i}"))
    law: dict[str, Any] = {"foundation_a": K, "friction": 0.5}
    system.add_contact(nx.Contact("shelf", "board", "box*", **law))
    system.add_contact(nx.Contact("stack", "box0", "box1", **law))
    rest = nx.equilibrium(system)
    assert rest.stability == "stable"
    assert_allclose(rest.report.q[-2:, 6], (0.06, 0.16), atol=3e-4)
