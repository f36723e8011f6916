"""Contacts with answers that are published or in closed form: turntables, planks on rollers, billiards, wedges, rods that fall, discs that
spin; momentum of boxes that strike, slip told by events, and derivatives of motions that slide, stick and bounce."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import nexdyn as nx
from nexdyn.problems import recast

G = 9.81
METHODS: dict[str, Any] = {
    "dopri": nx.DormandPrince(rtol=1e-8, atol=1e-10), "hht": nx.HHT(rtol=1e-5), "hht dt": nx.HHT(dt=2e-4),
    "bdf2": nx.ImplicitEuler(2e-4, bdf2=True), "euler": nx.ImplicitEuler(2e-4),
}  # fmt: skip
EACH = pytest.mark.parametrize("name", METHODS)
INDEX1: dict[str, Any] = {
    x.__name__.lower(): x(rtol=1e-8, atol=1e-10) for x in (nx.Baumgarte, nx.Projection, nx.Partitioning)
}
"""Explicit methods in absolute coordinates."""
FIRST = {"euler": 3e-3}
"""Errors of implicit Euler, of first order, at these steps."""
HARD = 1e8
"""Of balls, after Hertz [N/m^1.5]."""


def ball(system: nx.System, name: str, R: float, m: float, place: Any, v0: Any = (0.0,) * 6) -> None:
    """A solid ball that is free."""
    J = 0.4 * m * R * R
    system.add_body(name, mass=m, inertia=(J, J, J), position=place, collision=[nx.Sphere(R)])
    system.add_joint(nx.Free(f"{name} free", "ground", name, v0=v0))


def sunk(load: float, stiffness: float = HARD) -> float:
    return float((load / stiffness) ** (2.0 / 3.0))


# --- what rolls and slides ------------------------------------------------------------------------------------------


@EACH
def test_a_ball_on_a_turntable_goes_in_circles_at_two_sevenths_of_its_rate(name: str) -> None:
    """Weltner, Am. J. Phys. 47 (1979): whatever its speed, which stays. On s = R − δ it is Ω I/(I + m s²)."""
    R, rate, v = 0.05, 6.0, 0.2
    s = R - sunk(G)
    system = nx.System("turntable")
    system.add_body("table", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[nx.HalfSpace()])
    system.add_joint(nx.Revolute("spin", "ground", "table", axis=(0, 0, 1)))
    system.add_driver(nx.Driver("drive", "spin", f"={rate}*t"))
    ball(system, "ball", R, 1.0, (0.3, 0.0, s), ((0.3 * rate - v) / s, 0.0, 0.0, 0.0, v, 0.0))
    system.add_contact(nx.Contact("on", "ball", "table", stiffness=HARD, friction=0.8))
    result = nx.simulate(system, 2.0, METHODS[name], output_times=np.linspace(0.0, 2.0, 101))
    found = result.velocity("ball").values
    turned = np.unwrap(np.arctan2(found[:, 1], found[:, 0]))
    known = rate * 0.4 * R * R / (0.4 * R * R + s * s)
    assert (turned[-1] - turned[0]) / 2.0 == pytest.approx(known, rel=3e-5)
    assert np.abs(np.linalg.norm(found[:, :2], axis=1) - v).max() < (1e-3 if name == "euler" else 5e-5) * v
    assert (result.contacts("on").sticks.values[1:] == 1.0).all()


@pytest.mark.parametrize("name", ["dopri", "hht", "bdf2"])
@pytest.mark.parametrize("law", [{"stiffness": 1e8}, {"foundation_b": 1e10}], ids=["points", "areas"])
def test_a_plank_on_rollers_swings_as_timoshenko_says(name: str, law: dict[str, float]) -> None:
    """Rollers c to the left and right turn towards each other: ẍ = −μ g x/(c − μ h), h the height of the plank's middle above them."""
    c, mu, h, start = 0.4, 0.25, 0.01, 0.1
    system = nx.System("plank")
    plank = [nx.Box((3.0, 0.2, 2.0 * h))]
    system.add_body("plank", mass=2.0, inertia=(0.01, 0.4, 0.4), position=(start, 0.0, h), collision=plank)
    system.add_joint(nx.Planar("plane", "ground", "plank", axis=(0, 1, 0), reference=(1, 0, 0)))
    for side, x, runs in (("left", -c, 3.0), ("right", c, -3.0)):
        system.add_body(side, mass=1.0, inertia=(1.0, 1.0, 1.0), position=(x, 0.0, -0.1), collision=[nx.Sphere(0.1)])
        system.add_joint(nx.Fixed(f"{side} stands", "ground", side))
        given = {"friction": mu, "damping": 20.0, "surface_velocity_b": (runs, 0.0, 0.0), **law}
        system.add_contact(nx.Contact(f"{side} on", "plank", side, **given))
    t = np.linspace(0.0, 3.0, 61)
    found = nx.simulate(system, 3.0, METHODS[name], output_times=t).position("plank").values[:, 0]
    known = start * np.cos(math.sqrt(mu * G / (c - mu * h)) * t)
    assert np.abs(found - known).max() < 1.5e-3 * start


@EACH
def test_a_billiard_ball_with_spin_goes_straight_once_it_rolls(name: str) -> None:
    """Coriolis 1835: it slides along the velocity u of its lowest point, which keeps its direction, until t = 2 |u|/(7 μ g), and then
    rolls with v₀ − 2/7 u; its spin about the vertical stays."""
    R, m, mu, stiff = 0.03, 0.2, 0.3, 1e9
    w, v = np.array([60.0, -40.0, 25.0]), np.array([1.5, 0.0, 0.0])
    system = nx.System("billiards")
    ball(system, "ball", R, m, (0.0, 0.0, R - sunk(m * G, stiff)), (*w, *v))
    system.add_contact(nx.Contact("on", "ball", friction=mu, damping=1.0, stiffness=stiff))
    result = nx.simulate(system, 0.5, METHODS[name], output_times=[0.0, 0.25, 0.5])
    u = v + np.cross(w, (0.0, 0.0, -R))
    until = 2.0 * np.linalg.norm(u) / (7.0 * mu * G)
    place = v * until - 0.5 * mu * G * until**2 * u / np.linalg.norm(u) + (v - 2.0 / 7.0 * u) * (0.5 - until)
    off = FIRST.get(name, 1e-4)
    assert np.abs(result.velocity("ball").values[-1] - (v - 2.0 / 7.0 * u)).max() < off
    assert np.abs(result.position("ball").values[-1] - result.position("ball").values[0] - place).max() < off
    assert result.angular_velocity("ball").values[-1, 2] == pytest.approx(w[2], rel=4.0 * off)


@EACH
def test_a_ball_on_a_plank_that_is_pulled_follows_with_two_sevenths(name: str) -> None:
    """a = F/(M + 2/7 m) of the plank, 2/7 a of the ball: it rolls back on it."""
    M, m, F, R = 3.0, 1.0, 5.0, 0.1
    system = nx.System("plank and ball")
    place, top = (0.0, 0.0, -0.1), [nx.Box((8.0, 1.0, 0.2))]
    system.add_body("plank", mass=M, inertia=(1.0, 1.0, 1.0), position=place, collision=top)
    system.add_joint(nx.Prismatic("slide", "ground", "plank", axis=(1, 0, 0)))
    ball(system, "ball", R, m, (0.0, 0.0, R - sunk(m * G)))
    system.add_contact(nx.Contact("on", "ball", "plank", stiffness=HARD, friction=0.5))
    system.add_force(nx.AppliedForce("pull", "plank", force=(F, 0.0, 0.0)))
    result = nx.simulate(system, 0.5, METHODS[name], output_times=[0.0, 0.5])
    a = F / (M + 2.0 / 7.0 * m)
    assert result.velocity("plank").values[-1, 0] == pytest.approx(0.5 * a, rel=1e-4)
    assert result.velocity("ball").values[-1, 0] == pytest.approx(0.5 * 2.0 / 7.0 * a, rel=5e-4)


@EACH
def test_a_block_pushes_the_wedge_away_on_which_it_slides(name: str) -> None:
    """Momentum along the floor stays, and the block keeps to the wedge's face."""
    lean, mu, m, M, h = 0.5, 0.2, 1.0, 2.0, 0.05
    c, s = math.cos(lean), math.sin(lean)
    turned = (math.cos(0.5 * lean), 0.0, math.sin(0.5 * lean), 0.0)
    system = nx.System("wedge")
    face = [nx.HalfSpace(orientation=turned)]
    system.add_body("wedge", mass=M, inertia=(1.0, 1.0, 1.0), collision=face)
    system.add_joint(nx.Prismatic("slide", "ground", "wedge", axis=(1, 0, 0)))
    system.add_body(
        "block", mass=m, inertia=(0.01,) * 3, position=(s * h, 0.0, c * h), orientation=turned, collision=[nx.Box((0.4, 0.3, 2.0 * h))]
    )  # fmt: skip
    system.add_joint(nx.Free("free", "ground", "block"))
    system.add_contact(nx.Contact("on", "block", "wedge", stiffness=1e7, exponent=1.0, damping=10.0, friction=mu))
    result = nx.simulate(system, 0.4, METHODS[name], output_times=[0.0, 0.2, 0.4])
    N = G * c / ((s - mu * c) * s * (1.0 / m + 1.0 / M) + (c + mu * s) * c / m)
    gained = {x: float(np.diff(result.velocity(x).values[1:, 0])[0]) / 0.2 for x in ("wedge", "block")}
    assert gained["wedge"] == pytest.approx(-N * (s - mu * c) / M, rel=1e-6)
    assert gained["block"] == pytest.approx(N * (s - mu * c) / m, rel=1e-6)


@EACH
def test_a_rod_that_falls_on_a_smooth_floor_falls_straight(name: str) -> None:
    """½ J ω² + ½ m (½ L ω sin θ)² = ½ m g L (cos θ₀ − cos θ): its middle moves along the vertical."""
    L, m, start, r = 1.0, 1.0, 0.05, 1e-3
    J = m * L * L / 12.0
    system = nx.System("rod")
    system.add_body(
        "rod", mass=m, inertia=(J, J, 1e-4), orientation=(math.cos(0.5 * start), 0.0, math.sin(0.5 * start), 0.0),
        position=(0.0, 0.0, 0.5 * L * math.cos(start) + r - m * G / 1e6), collision=[nx.Capsule(r, L)],
    )  # fmt: skip
    system.add_joint(nx.Free("free", "ground", "rod"))
    system.add_contact(nx.Contact("on", "rod", stiffness=1e6, exponent=1.0, damping=100.0, friction=0.0))
    result = nx.simulate(system, 0.6, METHODS[name], output_times=np.linspace(0.0, 0.6, 61))
    R, w = result.rotation("rod").values, result.angular_velocity("rod").values[:, 1]
    lean = np.arctan2(R[:, 0, 2], R[:, 2, 2])
    assert 0.8 < lean[-1] < 1.5  # it has fallen far, and not yet onto its side
    known = np.sqrt(m * G * L * (math.cos(start) - np.cos(lean)) / (J + m * (0.5 * L * np.sin(lean)) ** 2))
    assert np.abs(w[20:] / known[20:] - 1.0).max() < (2e-3 if name == "euler" else 2e-4)
    assert np.abs(result.position("rod").values[:, 0]).max() < 1e-9


@pytest.mark.parametrize("name", ["hht", "bdf2", "euler"])
def test_a_disc_that_spins_on_its_face_stops_by_two_thirds_of_mu_m_g_r(name: str) -> None:
    """ω = ω₀ − 4 μ g t/(3 R); it stands from 3 R ω₀/(4 μ g) on."""
    R, m, k, mu, w = 0.1, 1.0, 1e7, 0.3, 20.0
    system = nx.System("disc")
    place = (0.0, 0.0, 0.01 - m * G / (k * math.pi * R * R))
    inertia = (0.25 * m * R * R, 0.25 * m * R * R, 0.5 * m * R * R)
    system.add_body("disc", mass=m, inertia=inertia, position=place, collision=[nx.Cylinder(R, 0.02)])
    system.add_joint(nx.Free("free", "ground", "disc", v0=(0.0, 0.0, w, 0.0, 0.0, 0.0)))
    system.add_contact(nx.Contact("on", "disc", foundation_b=k, damping=50.0, friction=mu))
    t = np.array([0.0, 0.2, 0.4, 0.6])
    found = nx.simulate(system, 0.6, METHODS[name], output_times=t).angular_velocity("disc").values[:, 2]
    known = np.maximum(0.0, w - 4.0 * mu * G * t / (3.0 * R))
    assert np.abs(found - known).max() < 2e-3 * w and abs(found[-1]) < 1e-6


# --- what strikes ---------------------------------------------------------------------------------------------------


@functools.cache
def strike(kind: str) -> nx.System:
    """Two boxes, meshes or balls that fly into each other, turning, and rub."""
    rng, size = np.random.default_rng(3), (0.1, 0.08, 0.06)
    corners = np.array([(i, j, k) for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)]) * size
    shapes: dict[str, nx.Shape] = {
        "boxes": nx.Box(size), "meshes": recast.mesh_of(corners, recast.triangles_about(corners)), "balls": nx.Sphere(0.05)
    }  # fmt: skip
    system = nx.System("strike", gravity=(0.0, 0.0, 0.0))
    placed = (
        ((-0.08, 0.0, 0.0), (2.0, 0.0, 0.0), (3.0, -5.0, 8.0)),
        ((0.05, 0.02, 0.01), (-2.0, 0.0, 0.0), (-4.0, 2.0, 6.0)),
    )
    for i, (place, v, w) in enumerate(placed):
        m, turned = 1.0 + i, Rotation.random(rng=rng)
        inertia = (1e-3 * m, 1.5e-3 * m, 2e-3 * m)
        orientation = np.roll(turned.as_quat(), 1)
        system.add_body(
            f"box{i}", mass=m, inertia=inertia, position=place, orientation=orientation, collision=[shapes[kind]]
        )
        v0 = (*turned.inv().apply(w), *turned.inv().apply(v))  # in the axes of the body
        system.add_joint(nx.Free(f"free{i}", "ground", f"box{i}", v0=v0))
    law: dict[str, float] = {"stiffness": 1e7} if kind == "balls" else {"foundation_a": 1e10, "foundation_b": 2e10}
    system.add_contact(nx.Contact("hit", "box0", "box1", damping=0.1, friction=0.4, **law))
    return system


def momenta(kind: str, method: Any) -> tuple[float, float]:
    """By how much momentum [kg m/s] and its moment about the origin [kg m²/s] change at most."""
    result = nx.simulate(strike(kind), 0.06, method, output_times=np.linspace(0.0, 0.06, 13))
    total = np.zeros((13, 6))
    for i in range(2):
        m, name = 1.0 + i, f"box{i}"
        p, v, w, R = (getattr(result, x)(name).values for x in ("position", "velocity", "angular_velocity", "rotation"))
        J = np.diag((1e-3 * m, 1.5e-3 * m, 2e-3 * m))
        total[:, :3] += m * v
        total[:, 3:] += m * np.cross(p, v) + np.einsum("nij,jk,nlk,nl->ni", R, J, R, w)
    lost = result.energy().total.values
    assert lost[0] - lost[-1] > 0.02 and np.linalg.norm(total[0, 3:]) > 0.02  # they did strike, and turn
    off = np.abs(total - total[0])
    return float(off[:, :3].max()), float(off[:, 3:].max())


FLY = 6.0
"""Σ m |v| of what flies into each other [kg m/s]."""
EXACT = 1e-10
"""Of methods of high order, of both momenta."""
MOMENTA: dict[str, tuple[Any, float, float]] = {
    "rk4": (nx.RungeKutta4(1e-5), EXACT, EXACT), "dopri": (nx.DormandPrince(rtol=1e-10, atol=1e-12), EXACT, EXACT),
    "bogacki": (nx.BogackiShampine32(rtol=1e-11, atol=1e-13), EXACT, EXACT), "dop853": (nx.DOP853(rtol=1e-10, atol=1e-12), EXACT, EXACT),
    **{name: (type(method)(rtol=1e-9, atol=1e-11), EXACT, EXACT) for name, method in INDEX1.items()},
    "hht": (nx.HHT(rtol=1e-5), EXACT, 3e-7), "hht dt": (nx.HHT(dt=2e-4), EXACT, 5e-5),
    "bdf2": (nx.ImplicitEuler(2e-4, bdf2=True), EXACT, 2e-4), "euler": (nx.ImplicitEuler(2e-4), EXACT, 1.5e-3),
    "semi-implicit": (nx.SemiImplicitEuler(2e-5), 5e-4, 5e-4), "explicit Euler": (nx.ExplicitEuler(2e-5), 1e-3, 3e-4),
}  # fmt: skip
"""Every method, with what it loses at most of momentum, as a part of `FLY`, and of its moment [kg m²/s]."""


@pytest.mark.parametrize("name", MOMENTA)
@pytest.mark.parametrize("kind", ["boxes", "meshes", "balls"])
def test_what_strikes_keeps_its_momentum_to_1e_10_under_every_method(kind: str, name: str) -> None:
    """But for the methods of Euler in minimal coordinates, for which the axes of a free body turn in the step: these keep it to their
    order, as the implicit ones do its moment."""
    method, straight, about = MOMENTA[name]
    found = momenta(kind, method)
    assert found[0] < straight * FLY
    assert found[1] < about


@pytest.mark.parametrize("kind", ["boxes", "balls"])
def test_what_is_lost_of_the_moment_of_momentum_falls_with_the_order_of_the_method(kind: str) -> None:
    for name, order in (("hht dt", 2), ("bdf2", 2), ("euler", 1), ("semi-implicit", 1), ("explicit Euler", 1)):
        method = MOMENTA[name][0]
        coarse, fine = (momenta(kind, dataclasses.replace(method, dt=by * method.dt)) for by in (1.0, 0.25))
        for k in (0, 1):
            assert fine[k] < 1.5 * 0.25**order * coarse[k] or fine[k] < EXACT, (name, coarse, fine)
    loose, tight = (momenta(kind, nx.HHT(rtol=rtol))[1] for rtol in (1e-5, 1e-7))
    assert tight < 0.1 * loose, (loose, tight)


# --- events and derivatives -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*METHODS, *INDEX1])
@pytest.mark.parametrize(
    "law",
    [{"stiffness": 1e5, "exponent": 1.0, "damping": 2.0}, {"foundation_b": 1e8, "damping": 50.0}],
    ids=["points", "area"],
)
def test_an_event_tells_when_a_crate_slips_under_every_method(name: str, law: dict[str, float]) -> None:
    """Pushed by 40 t it breaks away at μ m g, and has 1e-2 m/s √(2 m v/40) later; what its springs give first is less than 3e-4 s."""
    m, mu = 2.0, 0.5
    depth = m * G / (4.0 * law["stiffness"] if "stiffness" in law else law["foundation_b"] * 0.16)
    system, shapes = nx.System("pushed"), [nx.Box((0.4, 0.4, 0.2))]
    system.add_body("crate", mass=m, inertia=(0.02,) * 3, position=(0.0, 0.0, 0.1 - depth), shapes=shapes)
    system.add_joint(nx.Free("free", "ground", "crate"))
    system.add_contact(nx.Contact("floor", "crate", friction=mu, **law))
    system.add_force(nx.AppliedForce("push", "crate", force=("=40*t", 0, 0), at=(0, 0, 0)))
    slips = {"contact": "floor", "of": "velocity", "value": 1e-2, "direction": "rising", "stop": True}
    system.add_event(nx.Event("slips", **slips))
    (event,) = nx.simulate(system, 1.0, (METHODS | INDEX1)[name]).events
    assert event["time"] == pytest.approx(mu * m * G / 40.0 + math.sqrt(2.0 * m * 1e-2 / 40.0), abs=4e-4)


def on_a_slope(lean: float) -> nx.System:
    system = nx.System("slope", gravity=(G * math.sin(lean), 0.0, -G * math.cos(lean)))
    system.parameter("mu", 0.4)
    system.parameter("k", 1e6)
    place = (0.0, 0.0, 0.05 - G * math.cos(lean) / 4e6)
    system.add_body("block", mass=1.0, inertia=(0.01,) * 3, position=place, collision=[nx.Box((0.3, 0.3, 0.1))])
    system.add_joint(nx.Free("free", "ground", "block"))
    system.add_contact(nx.Contact("on", "block", stiffness="=k", exponent=1.0, damping=50.0, friction="=mu"))
    return system


@EACH
def test_derivatives_of_what_slides_and_sticks_are_those_of_the_closed_forms(name: str) -> None:
    """dv/dμ = −g cos φ t and dx/dμ = −½ g cos φ t² of a block that slides, dz/dk = m g cos φ/(4 k²) as it is pressed in; of one that
    sticks dx/dμ = 0, and dx/dk as its springs give."""
    steep, flat = 0.6, 0.15
    slides = nx.sensitivity(on_a_slope(steep), 0.4, ["mu", "k"], method=METHODS[name], output_times=[0.0, 0.4])
    down = G * math.cos(steep)
    assert slides.of("velocity.block.x").values[-1, 0] == pytest.approx(-down * 0.4, rel=2e-3)
    assert slides.of("position.block.x").values[-1, 0] == pytest.approx(-0.5 * down * 0.16, rel=4e-3)
    assert slides.of("position.block.z").values[-1, 1] == pytest.approx(down / 4e12, rel=1e-4)
    sticks = nx.sensitivity(on_a_slope(flat), 0.6, ["mu", "k"], method=METHODS[name], output_times=[0.0, 0.6])
    found = sticks.of("position.block.x")
    assert abs(found.values[-1, 0]) < 1e-15
    known = -G * math.sin(flat) / 4e12 * (1.0 / 0.82 + 0.05**2 / 0.15**2)
    assert found.values[-1, 1] == pytest.approx(known, rel=0.1 if name == "hht" else 1e-2)


@pytest.mark.parametrize(
    "method",
    [nx.DormandPrince(rtol=1e-9, atol=1e-12), nx.HHT(rtol=1e-7), nx.ImplicitEuler(1e-5, bdf2=True)],
    ids=["dopri", "hht", "bdf2"],
)
def test_derivatives_by_the_restitution_are_those_of_the_bounce(method: Any) -> None:
    """v_z = −ε v and v_x = v − μ (1 + ε) v of a ball that slides throughout."""
    system = nx.System("bounce", gravity=(0.0, 0.0, 0.0))
    system.parameter("rebound", 0.6)
    ball(system, "ball", 0.1, 1.0, (0.0, 0.0, 0.11), (0.0, 0.0, 0.0, 3.0, 0.0, -1.0))
    system.add_contact(nx.Contact("on", "ball", stiffness=1e7, restitution="=rebound", impact_speed=1.0, friction=0.1))
    found = nx.sensitivity(system, 0.03, ["rebound"], method=method, output_times=[0.0, 0.03])
    assert found.of("velocity.ball.z").values[-1, 0] == pytest.approx(1.0, rel=1e-2)
    assert found.of("velocity.ball.x").values[-1, 0] == pytest.approx(-0.1, rel=1e-2)
