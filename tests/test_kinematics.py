"""`nx.kinematics`: driven mechanisms over time against closed forms and against what integrates them."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_closed_tree import five_bar, slider_crank

import nexdyn as nx
from nexdyn.errors import InputError, SolveError

TIMES = np.linspace(0.0, 1.0, 6)


def driven_crank(function: Any = "=6*t") -> nx.System:
    system = slider_crank()
    system.add_driver(nx.Driver("motor", "main", function))
    return system


def test_a_slider_crank_moves_as_its_closed_form() -> None:
    """x = r cos θ + √(l² − r² sin² θ), through many turns of the crank, at steps far longer than a branch allows at once."""
    result = nx.kinematics(driven_crank(), TIMES)
    r, l, w = 0.5, float(np.hypot(1.2, 0.4)), 6.0
    theta = np.arctan2(0.4, 0.3) + w * TIMES
    s, c = np.sin(theta), np.cos(theta)
    root = np.sqrt(l * l - r * r * s * s)
    dx = -r * s - r * r * s * c / root
    ddx = -r * c - r * r * (c * c - s * s) / root - (r * r * s * c) ** 2 / root**3
    assert_allclose(result.position("slider").values[:, 0], r * c + root, atol=1e-10)
    assert_allclose(result.velocity("slider").values[:, 0], dx * w, atol=1e-9)
    assert_allclose(result.acceleration("slider").values[:, 0], ddx * w * w, atol=1e-8)
    assert_allclose(result.joint_position("main").values, w * TIMES, atol=1e-10)
    assert result.recording.violation.max() < 1e-11


def test_the_effort_of_the_driver_is_the_power_that_the_motion_takes() -> None:
    """motor · ω = d(T + V)/dt where nothing else does work."""
    times = np.linspace(0.2, 0.21, 11)
    result = nx.kinematics(driven_crank(), times)
    energy = result.energy()["total"].values
    power = np.gradient(energy, times, edge_order=2)
    assert_allclose(result.effort("motor").values[1:-1] * 6.0, power[1:-1], rtol=2e-3)


def test_reactions_are_those_of_the_simulated_motion() -> None:
    found = nx.kinematics(driven_crank(), [0.0, 0.1, 0.2])
    simulated = nx.simulate(driven_crank(), 0.2, nx.RungeKutta4(1e-3), output_every=100)
    assert_allclose(found.position().values, simulated.position().values, atol=1e-9)
    for joint in found.system.joints:
        assert_allclose(found.reaction(joint).values, simulated.reaction(joint).values, atol=1e-6)
    assert_allclose(found.effort("motor").values, simulated.effort("motor").values, atol=1e-6)


def test_events_are_refused_by_name() -> None:
    system = driven_crank()
    system.add_force(nx.PointSpring("pull", "slider", "ground", stiffness=3.0))
    system.add_event(nx.Event("let go", time=0.1, off="pull"))
    with pytest.raises(InputError, match=r"event 'let go' of system .* happens in runs alone"):
        nx.kinematics(system, TIMES)


def test_a_nonholonomic_joint_is_refused_by_name() -> None:
    """A knife edge holds no pose: where the body is depends on how it came there."""
    system = nx.System("skate")
    system.add_body("skate", mass=1.0, inertia=(1.0, 1.0, 1.0))
    system.add_joint(nx.Planar("ice", "ground", "skate", axis=(0.0, 0.0, 1.0)))
    system.add_joint(nx.KnifeEdge("blade", "ground", "skate", axis_b=(0.0, 1.0, 0.0)))
    system.add_driver(nx.Driver("turn", "ice", nx.Linear(0.0, 1.0), freedom=2))
    system.add_driver(nx.Driver("go", "ice", nx.Linear(0.0, 1.0), freedom=0))
    with pytest.raises(
        InputError, match=r"joint 'blade' is nonholonomic, which nx.kinematics does not carry; its pose"
    ):
        nx.kinematics(system, TIMES)


def test_springs_and_dampers_load_the_driver() -> None:
    plain = nx.kinematics(driven_crank(), [0.0, 0.3])
    system = driven_crank()
    system.add_force(nx.JointForce("brake", "main", -7.0))
    loaded = nx.kinematics(system, [0.0, 0.3])
    assert_allclose(loaded.effort("motor").values - plain.effort("motor").values, 7.0, atol=1e-9)


def test_five_bars_take_two_drivers_and_a_point_may_be_driven() -> None:
    system = five_bar()
    system.add_driver(nx.Driver("left", "pin0", "=0.3*sin(2*t)"))
    with pytest.raises(InputError, match=r"is not fully driven: 1 motion remains \(pin"):
        nx.kinematics(system, TIMES)
    system.add_driver(nx.Driver("right", "pin4", "=0.2*t"))
    result = nx.kinematics(system, TIMES)
    assert_allclose(result.joint_position("pin0").values, 0.3 * np.sin(2 * TIMES), atol=1e-10)
    assert_allclose(result.joint_position("pin4").values, 0.2 * TIMES, atol=1e-10)
    arm = nx.System("arm", gravity=(0, -9.81, 0))
    upper, lower = (
        mechanisms.rod(arm, "upper", (0, 0, 0), (1, 0, 0)),
        mechanisms.rod(arm, "lower", (1, 0, 0), (1, -1, 0)),
    )
    arm.add_joint(nx.Revolute("shoulder", arm.ground, upper, at=(0, 0, 0), axis=(0, 0, 1)))
    arm.add_joint(nx.Revolute("elbow", upper, lower, at=(1, 0, 0), axis=(0, 0, 1)))
    arm.add_marker("hand", lower, position=(0, -0.5, 0))
    arm.add_driver(nx.PointDriver("x", "hand", "x", "=1 + 0.2*t"))
    arm.add_driver(nx.PointDriver("y", "hand", "y", "=-1 + 0.1*t"))
    reached = nx.kinematics(arm, TIMES).position("hand").values
    assert_allclose(reached[:, :2], np.stack([1 + 0.2 * TIMES, -1 + 0.1 * TIMES], axis=1), atol=1e-10)


def test_what_cannot_be_driven_is_said_with_its_names() -> None:
    with pytest.raises(InputError, match=r"'slider-crank' is not fully driven: 1 motion remains \(main turns about z"):
        nx.kinematics(slider_crank(), TIMES)
    system = driven_crank()
    system.add_driver(nx.Driver("ram", "bore", "=-0.5*t"))
    with pytest.raises(InputError, match="over-driven: drivers 'motor' and 'ram' drive the same motion"):
        nx.kinematics(system, TIMES)
    system = slider_crank()
    system.add_driver(nx.Driver("ram", "bore", "=-0.5*t"))
    with pytest.raises(SolveError, match=r"locks at t = 1\.470") as stopped:
        nx.kinematics(system, [0.0, 1.0, 2.0])
    assert stopped.value.time == pytest.approx(2 * (1.5 - float(np.hypot(1.2, 0.4)) + 0.5), abs=1e-4)
    with pytest.raises(InputError, match="times that increase"):
        nx.kinematics(driven_crank(), [0.1, 0.0])


@pytest.mark.filterwarnings("ignore:user function")
def test_a_function_that_fails_is_named() -> None:
    system = slider_crank()
    system.add_driver(nx.Driver("motor", "main", lambda t: 1.0 / (0.5 - t) if t < 0.4 else float("nan")))
    with pytest.raises(SolveError, match="motor"):
        nx.kinematics(system, [0.0, 0.45])


# --- turns that no coordinate counts --------------------------------------------------------------------------------

TURNED = 24.0 * np.pi
"""Twelve turns, at whose end a body stands as it did at first."""
SMOOTH = "=24*pi*t*t*(3 - 2*t)"
"""They begin and end at rest, so that nothing of them is seen at either."""


def wound_ball(**given: Any) -> nx.System:
    """A driven body in a ball, against a torsion spring."""
    system = nx.System("ball", gravity=(0.0, 0.0, 0.0))
    system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Spherical("ball", "ground", "b"))
    if given:
        system.add_driver(nx.OrientationDriver("turn", "b", **given))
    system.add_force(nx.TorsionSpring("spring", "ground", "b", stiffness=0.5))
    return system


def check_wound(result: nx.Result, angle: float) -> None:
    assert_allclose(result.force("spring").energy.values[-1], 0.25 * angle**2, rtol=1e-9)
    assert_allclose(result.energy()["elastic"].values[-1], 0.25 * angle**2, rtol=1e-9)
    assert_allclose(result.recording.followed[-1, -1], angle, rtol=1e-9)


@pytest.mark.parametrize("times", [[0.0, 1.0], [0.0, 0.01, 1.0], np.linspace(0.0, 1.0, 101)], ids=len)
def test_turns_of_a_spring_across_a_ball_are_counted_however_far_the_times_are_apart(times: Any) -> None:
    for rate in (30.0, TURNED):
        result = nx.kinematics(wound_ball(angles=(f"={rate}*t", 0.0, 0.0)), times)
        check_wound(result, rate)
        assert_allclose(result.effort("turn").values[-1], [0.0, 0.0, 0.5 * rate], atol=1e-9 * rate)


@pytest.mark.parametrize(
    "given",
    [
        {"angles": (SMOOTH, 0.0, 0.0)},
        {"rotation_vector": (0.0, 0.0, SMOOTH)},
        {"quaternion": ("=cos(12*pi*t*t*(3 - 2*t))", 0.0, 0.0, "=sin(12*pi*t*t*(3 - 2*t))")},
    ],
    ids=str,
)
def test_turns_are_counted_between_two_poses_at_rest(given: dict[str, Any]) -> None:
    """As the drivers say, whose functions are known between the times; k θ − I α, α = −6 · 24π/s²."""
    result = nx.kinematics(wound_ball(**given), [0.0, 1.0])
    check_wound(result, TURNED)
    assert_allclose(result.effort("turn").values[-1], [0.0, 0.0, 0.5 * TURNED - 0.1 * 6.0 * TURNED], atol=1e-8)


def test_turns_are_counted_where_a_driver_tells_its_angle_within_half_a_turn() -> None:
    result = nx.kinematics(wound_ball(angles=("=atan2(sin(30*t), cos(30*t))", 0.0, 0.0)), [0.0, 0.3, 1.0])
    check_wound(result, 30.0)


@pytest.mark.parametrize("cut", ["hinge", "ball"])
def test_turns_are_counted_in_a_loop_whichever_joint_is_cut(cut: str) -> None:
    """A ball beside a driven hinge with a spring of its own."""
    system = wound_ball()
    system.add_joint(nx.Revolute("hinge", "ground", "b", at=(0.0, 0.0, 0.3), axis=(0.0, 0.0, 1.0), stiffness=0.5))
    system.add_driver(nx.Driver("turn", "hinge", SMOOTH))
    result = nx.kinematics(system, [0.0, 1.0], loops=nx.Loops(cut=cut))
    assert_allclose(result.force("spring").energy.values[-1], 0.25 * TURNED**2, rtol=1e-9)
    assert_allclose(result.energy()["elastic"].values[-1], 0.5 * TURNED**2, rtol=1e-9)
    assert_allclose(result.joint_position("hinge").values[-1], TURNED, rtol=1e-9)
    assert_allclose(result.effort("turn").values[-1], TURNED - 0.1 * 6.0 * TURNED, rtol=1e-8)


def test_turns_of_a_floating_body_beside_states_are_those_of_the_run() -> None:
    """Poses between the times are gone back to where forces have states."""
    system = nx.System("floating", gravity=(0.0, 0.0, 0.0))
    system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Free("ball", "ground", "b"))
    system.add_driver(nx.OrientationDriver("turn", "b", angles=(SMOOTH, "=0.3*sin(t)", 0.2)))
    for axis in "xyz":
        system.add_driver(nx.PointDriver(axis, "b", axis, "=t"))
    system.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(3.0, 0.0, 0.0))
    system.add_joint(nx.Revolute("axle", "ground", "wheel", at=(3.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add_driver(nx.Driver("motor", "axle", "=sin(t)"))
    system.add_force(nx.PositionActuator("servo", "axle", kp=3.0, kd=1.0, ki=2.0, target="=t"))
    system.add_force(nx.TorsionSpring("spring", "ground", "b", stiffness=0.5))
    times = [0.0, 0.5, 1.0]
    found = nx.kinematics(system, times)
    expected = nx.simulate(system, 1.0, nx.RungeKutta4(1e-3), output_times=times)
    assert_allclose(found.recording.followed, expected.recording.followed, rtol=1e-9, atol=1e-9)
    assert found.recording.followed[-1, -1] > 0.99 * TURNED
    for name in ("turn", "motor"):
        assert_allclose(found.effort(name).values, expected.effort(name).values, atol=1e-6)


def test_an_angle_that_jumps_is_refused_by_name() -> None:
    """A pitch of a quarter of a turn takes x of the body along z of the ground, where its angle is none; past it, it is counted."""
    with pytest.raises(SolveError, match=r"turns of torsion spring 'spring' cannot be counted at t = 1.57") as caught:
        nx.kinematics(wound_ball(angles=(0.0, "=t", 0.0)), [0.0, 2.0])
    assert caught.value.time == pytest.approx(0.5 * np.pi, abs=1e-5)
    assert caught.value.where == "spring"
    past = wound_ball(rotation_vector=("=2*sin(3*t)", "=sin(2*t)", SMOOTH))
    found, run = nx.kinematics(past, [0.0, 1.7]), nx.simulate(past, 1.7, nx.RungeKutta4(5e-4))
    assert_allclose(found.recording.followed[-1], run.recording.followed[-1], atol=1e-6)
