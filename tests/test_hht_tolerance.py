"""What adaptive HHT makes of its tolerance: the error of a motion goes as rtol, under its default it has three digits."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from regular_problems import PROBLEMS, oscillator, pendulum

import nexdyn as nx
from nexdyn.joints import JOINTS

RTOLS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)


@functools.cache
def errors_of(name: str) -> list[float]:
    """The largest errors under RTOLS at eleven times, of rotation matrices and beside the largest distance from the origin."""
    make, end = PROBLEMS[name]
    system, t = make(), np.linspace(0.0, end, 11)
    exact = nx.simulate(system, end, nx.DormandPrince(rtol=1e-12, atol=1e-13), output_times=t)
    size = max(float(np.linalg.norm(exact.position(body).values, axis=1).max()) for body in system.bodies) or 1.0
    found = []
    for rtol in RTOLS:
        result = nx.simulate(system, end, nx.HHT(rtol=rtol), output_times=t)
        off = [np.abs(result.position(b).values - exact.position(b).values).max() / size for b in system.bodies]
        off += [np.abs(result.rotation(b).values - exact.rotation(b).values).max() for b in system.bodies]
        found.append(float(max(off)))
    return found


@pytest.mark.filterwarnings("ignore:joint 'guide' stays open")  # the slider-crank is described so
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_error_of_the_motion_goes_as_rtol_and_the_default_gives_three_digits(name: str) -> None:
    errors = errors_of(name)
    slope = np.polyfit(np.log(RTOLS), np.log(errors), 1)[0]
    assert 0.85 < slope < 1.15, errors
    assert errors[RTOLS.index(nx.HHT().rtol)] < 1e-3, errors


@pytest.mark.parametrize("times", [np.linspace(0.0, 5.0, 501), None], ids=["output_times", "every step"])
def test_reactions_are_as_accurate_as_positions_whatever_the_tolerance(times: np.ndarray | None) -> None:
    """With the method's own multipliers they were off by 0.018, 1.35, 0.59, 0.19 N as steps were shortened."""
    positions, reactions = [], []
    for rtol in (1e-3, 1e-4, 1e-5, 1e-6):
        result = nx.simulate(pendulum(), 5.0, nx.HHT(rtol=rtol), output_times=times)
        t = result.t.values
        exact = nx.simulate(pendulum(), 5.0, nx.DormandPrince(rtol=1e-11, atol=1e-12), output_times=t)
        positions.append(np.abs(result.position("link").values - exact.position("link").values).max() / 2.0)
        reactions.append(np.abs(result.reaction("hinge").values - exact.reaction("hinge").values).max() / 29.0)
        accelerations = np.abs(result.acceleration("link").values - exact.acceleration("link").values).max() / 19.6
        assert max(reactions[-1], accelerations) < 3.0 * positions[-1], (rtol, positions, reactions)
    assert reactions[0] > 100.0 * reactions[3]


def test_what_is_recorded_fulfils_the_equations_of_motion_at_a_stiff_stop() -> None:
    """Where a stop of 1e7 N/m is touched, at every recorded state: a = Q/m of that very state."""
    system = nx.System("stop", gravity=(0, 0, -9.81))
    system.add_body("block", mass=2.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Prismatic("way", system.ground, "block", axis=(0, 0, 1)))
    system.add_force(nx.JointStop("floor", "way", lower=-0.1, stiffness=1e7, damping=100.0))
    result = nx.simulate(system, 0.3, nx.HHT(rtol=1e-4))
    q, v, a = (getattr(result, f"joint_{what}")("way").values for what in ("position", "velocity", "acceleration"))
    touching = np.flatnonzero(q < -0.1)
    assert len(touching) > 20
    for k in touching[:: len(touching) // 20]:
        there = nx.Simulation(system, nx.RungeKutta4(1e-3), q0=[q[k]], v0=[v[k]]).a[0]
        assert a[k] == pytest.approx(there, rel=1e-9, abs=1e-6), k


def test_reactions_of_redundant_joints_are_those_of_least_norm() -> None:
    system, t = nx.load("four-bar"), np.linspace(0.0, 1.0, 11)
    result = nx.simulate(system, 1.0, nx.HHT(rtol=1e-5), output_times=t)
    compared = 0
    for k in range(1, 11):
        start = {"A": float(result.joint_position("A")[k])}
        report = nx.assemble(system, q0=start, v0={"A": float(result.joint_velocity("A")[k])})
        where = report.q[report.model.body_index["coupler"], 4:]
        if np.abs(where - result.position("coupler")[k].values).max() > 1e-6:
            continue  # the linkage closes in two ways
        compared += 1
        for joint in system.joints:
            expected = report.reaction(joint)
            found = result.reaction(joint)[k].values
            np.testing.assert_allclose(found[:3], expected.force, rtol=0, atol=3e-5)
    assert compared >= 4


@pytest.mark.parametrize("amplitude", [1.0, 1e-3, 1e-6, 1e-9])
def test_an_amplitude_of_a_nanometre_has_the_relative_error_of_one_of_a_metre(amplitude: float) -> None:
    system, t = oscillator(amplitude), np.linspace(0.0, 3.0, 31)
    result = nx.simulate(system, 3.0, nx.HHT(rtol=1e-4), output_times=t)
    error = np.abs(result.joint_position("way").values / amplitude - np.cos(2.0 * np.pi * t)).max()
    assert 4e-4 < error < 8e-4


def nut(kind: str, load: str, ends: tuple[str, str] = ("ground", "nut")) -> nx.System:
    """A body all of whose points are one with those of its joint, at rest, so that nothing has a length."""
    own = {"helical": {"pitch": 0.05}, "steep": {"pitch": -0.5}}.get(kind, {})
    system = nx.System("nut", gravity=(0, 0, -9.81) if load in ("friction", "damping") else (0, 0, 0))
    system.add_body("nut", mass=1.0, inertia=(0.02, 0.03, 0.05))
    damped = {"damping": 1.0} if load == "damping" else {}
    where = {"at": (0, 0, 0), "axis": (0, 0, 1)}
    joint = JOINTS["helical" if kind == "steep" else kind]("thread", *ends, **where, **own, **damped)
    system.add_joint(joint)
    freedom = joint.nv - 1  # that along z
    if load == "friction":
        system.add_force(nx.JointFriction("dry", "thread", sliding=0.2, stiffness=1e3, damping=1.0, freedom=freedom))
    elif load != "damping":
        system.add_force(nx.JointForce("push", "thread", load, freedom=freedom))
    return system


@pytest.mark.parametrize("ends", [("ground", "nut"), ("nut", "ground")], ids=["from ground", "to ground"])
@pytest.mark.parametrize("kind", ["helical", "steep", "prismatic", "cylindrical"])
@pytest.mark.parametrize("load", ["friction", "damping", "=sin(20*t)", "=20*max(t-0.005,0)"])
def test_from_rest_where_all_points_are_one_it_begins_under_any_tolerance(
    kind: str, load: str, ends: tuple[str, str]
) -> None:
    """Errors are compared with the largest displacement, which is 0 at the start: steps fell to 1e-12 s, or Newton failed."""
    end = 0.02
    exact = (
        nx.simulate(nut(kind, load, ends), end, nx.RungeKutta4(1e-5), output_every=1000)
        .joint_position("thread")
        .values[-1]
    )
    for rtol in (1e-4, 1e-8):
        found = (
            nx.simulate(nut(kind, load, ends), end, nx.HHT(rtol=rtol), output_times=[end])
            .joint_position("thread")
            .values[-1]
        )
        assert np.abs(found - exact).max() < max(2.0 * rtol, 1e-7) * np.abs(exact).max()


def test_from_rest_it_begins_in_other_bodies_and_units_too() -> None:
    """Bodies that float or slide in three directions, and one of a nanometre, a microgram and 1 m/s²."""
    for kind in ("free", "cartesian", "planar"):
        system = nx.System("drop", gravity=(0, 0, -9.81))
        system.add_body("drop", mass=1.0, inertia=(0, 0, 0) if kind == "cartesian" else (0.1, 0.2, 0.3))
        system.add_joint(JOINTS[kind]("way", "ground", "drop", axis=(0, 1, 0), damping=2.0))
        found, exact = (
            nx.simulate(system, 0.1, method, output_times=[0.1]).position("drop").values[-1]
            for method in (nx.HHT(rtol=1e-8), nx.DormandPrince(rtol=1e-12, atol=1e-14))
        )
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-8 * np.abs(exact).max())
    small = nx.System("speck", gravity=(0, 0, 0))
    small.add_body("speck", mass=1e-9, inertia=(1e-27,) * 3)
    small.add_joint(nx.Prismatic("way", "ground", "speck", axis=(1, 0, 0), damping=1e-5))
    small.add_force(nx.JointForce("push", "way", 1e-9))
    # x = F/d (t − m/d (1 − exp(−d t/m)))
    t, lag = 1e-4, 1e-4
    found = nx.simulate(small, t, nx.HHT(rtol=1e-6), output_times=[t]).joint_position("way").values[-1]
    assert found == pytest.approx(1e-4 * (t - lag * (1.0 - np.exp(-t / lag))), rel=1e-6)


@pytest.mark.parametrize("inertia", [0.0, 1e-9])
@pytest.mark.parametrize("angle", [0.1, 0.5, 2.0, 3.0])
def test_a_light_cart_under_a_massless_pole_passes_where_its_mass_turns_round(inertia: float, angle: float) -> None:
    """The tip falls straight down; below the cart, that is thrown from one side to the other within a microsecond, and throws the tip up
    again as fast as it came: z is that of a ball that bounces at −1."""
    system = nx.System("light cart-pole", gravity=(0, 0, -9.81))
    cart = system.add_body("cart", mass=1e-6, inertia=(0, 0, 0))
    tip = system.add_body("tip", mass=1.0, inertia=(inertia,) * 3, position=(np.sin(angle), 0, np.cos(angle)))
    system.add_joint(nx.Prismatic("rail", system.ground, cart, at=(0, 0, 0), axis=(1, 0, 0)))
    system.add_joint(nx.Revolute("pivot", cart, tip, at=(0, 0, 0), axis=(0, 1, 0)))
    half = np.sqrt(2.0 * (np.cos(angle) + 1.0) / 9.81)  # from the top to the bottom
    # what the strikes lose, at the looser tolerances more than a metre
    for method, allowed in {
        nx.HHT(rtol=1e-3): None,
        nx.HHT(rtol=5e-4): None,
        nx.HHT(rtol=1e-4): 0.2,
        nx.HHT(): 2e-3,
    }.items():
        result = nx.simulate(system, 3.0, method, output_every=100)
        assert result.status == "finished"
        x, _, z = result.position("tip").values.T
        assert np.abs(x - np.sin(angle)).max() < 1e-5
        since_top = (result.t.values + half) % (2.0 * half) - half
        if allowed is not None:
            assert np.abs(z - np.cos(angle) + 0.5 * 9.81 * since_top**2).max() < allowed


OTHER_SIZES = [(1.0, 1e-9), (1e-9, 1e-20), (1e-6, 1e-15), (1e3, 1e6)]
"""Lengths [m] and masses [kg] of a four-bar."""


@functools.cache
def motion_of_four_bar(l: float, m: float, method: nx.Method) -> list[np.ndarray]:
    """Positions and velocities of its coupler and forces in its joints, as parts of l, l/s and 100 m l/s²."""
    system = nx.System("four-bar", gravity=(0, -9.81 * l, 0))
    J = m * l * l
    crank = system.add_body("crank", mass=m, inertia=(0.08 * J, 0.002 * J, 0.08 * J), position=(0, 0.5 * l, 0))
    coupler = system.add_body(
        "coupler", mass=1.5 * m, inertia=(0.02 * J, 0.3 * J, 0.3 * J), position=(0.75 * l, 1.2 * l, 0)
    )
    rocker = system.add_body(
        "rocker", mass=1.4 * m, inertia=(0.2 * J, 0.02 * J, 0.2 * J), position=(1.75 * l, 0.7 * l, 0)
    )
    for name, a, b, at in (
        ("A", system.ground, crank, (0, 0, 0)), ("B", crank, coupler, (0, l, 0)),
        ("C", coupler, rocker, (1.5 * l, 1.4 * l, 0)), ("D", system.ground, rocker, (2 * l, 0, 0)),
    ):  # fmt: skip
        system.add_joint(nx.Revolute(name, a, b, at=at, axis=(0, 0, 1)))
    result = nx.simulate(system, 2.0, method, output_times=np.linspace(0.0, 2.0, 9))
    force = np.stack([result.reaction(joint).values[:, :3] / (m * l) for joint in "ABCD"])
    return [result.position("coupler").values / l, result.velocity("coupler").values / l, force / 100.0]


@pytest.mark.parametrize(("length", "mass"), OTHER_SIZES)
def test_a_four_bar_of_other_units_moves_alike(length: float, mass: float) -> None:
    for method, tolerance in ((nx.HHT(dt=1e-3), 1e-7), (nx.HHT(rtol=1e-4), 1e-5)):
        for x, y in zip(motion_of_four_bar(length, mass, method), motion_of_four_bar(1.0, 1.0, method), strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=tolerance)


OTHER_METHODS: dict[str, tuple[Any, float, float]] = {
    "projection": (nx.Projection(1e-3), 3e-13, 3e-13),
    "baumgarte": (nx.Baumgarte(1e-3), 3e-13, 3e-13),
    "partitioning": (nx.Partitioning(1e-3), 3e-13, 3e-13),
    "implicit-euler": (nx.ImplicitEuler(1e-3), 3e-12, 3e-10),
    "bdf2": (nx.ImplicitEuler(1e-3, bdf2=True), 3e-12, 4e-10),
    "rk4": (nx.RungeKutta4(1e-3), 3e-13, 3e-13),
}
"""Methods of constant step, what motions of other sizes differ by, and forces, which the implicit ones tell by differences over a step."""


@pytest.mark.parametrize(("method", "of_motion", "of_forces"), OTHER_METHODS.values(), ids=OTHER_METHODS)
@pytest.mark.parametrize(("length", "mass"), OTHER_SIZES)
def test_so_it_does_under_the_other_methods(
    length: float, mass: float, method: Any, of_motion: float, of_forces: float
) -> None:
    found, expected = (motion_of_four_bar(l, m, method) for l, m in ((length, mass), (1.0, 1.0)))
    assert np.ptp(expected[0][:, 0]) > 1.0
    for x, y, tolerance in zip(found, expected, (of_motion, of_motion, of_forces), strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=tolerance)
