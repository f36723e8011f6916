"""`nx.kinematics` with states of forces, which go along the motion that the drivers give: against what integrates both."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx

TIMES = np.linspace(0.0, 0.4, 5)


def driven(joint: str = "D", **options: Any) -> nx.System:
    """A four-bar that a driver turns, against a lagged PID actuator and dry friction."""
    system = mechanisms.four_bar()
    system.add_driver(nx.Driver("motor", "A", "=0.3*sin(4*t)"))
    servo = {"kp": 200.0, "kd": 20.0, "ki": 300.0, "target": "=0.2*sin(6*t)", "time_constant": 0.02} | options
    system.add_force(nx.PositionActuator("servo", joint, **servo))
    system.add_force(nx.JointFriction("dry", "B", sliding=2.0, static=3.0, stiffness=5e3, damping=5.0))
    return system


@pytest.mark.parametrize("joint", ["D", "C"])
@pytest.mark.parametrize("sample_time", [None, 0.007])
def test_states_reactions_and_efforts_are_those_of_the_integrated_motion(joint: str, sample_time: float | None) -> None:
    """The actuator in a joint of the tree, and in one that is cut; between two times it takes many samples."""
    found = nx.kinematics(driven(joint, sample_time=sample_time), TIMES)
    expected = nx.simulate(driven(joint, sample_time=sample_time), 0.4, nx.RungeKutta4(1e-4), output_every=1000)
    z = expected.force_state().values
    assert (np.abs(found.force_state().values - z) <= 1e-6 * np.abs(z).max(axis=0)).all()
    for name in "ABCD":
        assert_allclose(found.reaction(name).values, expected.reaction(name).values, atol=1e-4)  # of up to 37 N
    assert_allclose(found.effort("motor").values, expected.effort("motor").values, atol=1e-4)
    assert np.ptp(expected.effort("motor").values) > 10.0


@pytest.mark.parametrize("sample_time", [None, 0.007])
def test_hht_in_small_steps_comes_to_the_same_reactions_and_efforts(sample_time: float | None) -> None:
    found = nx.kinematics(driven(sample_time=sample_time), TIMES)
    errors = []
    for dt in (1e-3, 5e-4):
        expected = nx.simulate(driven(sample_time=sample_time), 0.4, nx.HHT(dt=dt), output_times=TIMES)
        errors.append(
            [np.abs(found.effort(x).values - expected.effort(x).values)[1:].max() for x in ("motor", "servo")]
            + [np.abs(found.reaction(x).values - expected.reaction(x).values)[1:].max() for x in "ABCD"]
        )
    assert (np.array(errors[1]) < 0.02).all()  # of up to 30
    assert (np.array(errors[0]) > 3.0 * np.array(errors[1])).all()  # which is of HHT, of order 2


def test_a_lag_shorter_and_longer_than_the_time_between_poses_follows_its_closed_form() -> None:
    """T τ̇ = u − τ from 0: τ = u (1 − exp(−t/T)), however coarse the times; with none, τ = u at once."""
    for lag in (1e-7, 1e-3, 0.03, 5.0):
        system = nx.System("wheel", gravity=(0, 0, 0))
        system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
        system.add_joint(nx.Revolute("axle", system.ground, "wheel", axis=(0, 0, 1)))
        system.add_driver(nx.Driver("motor", "axle", "=t"))
        system.add_force(nx.TorqueActuator("brake", "axle", target=-3.0, time_constant=lag))
        times = [0.0, 0.05, 1.0]
        found = nx.kinematics(system, times)
        tau = -3.0 * -np.expm1(-np.array(times) / lag)
        assert_allclose(found.force_state("brake.lagged").values, tau, atol=1e-6)
        assert_allclose(found.effort("motor").values, -tau, atol=1e-6)


@pytest.mark.filterwarnings("ignore:user function")
def test_what_is_sampled_is_called_once_a_sample_where_the_mechanism_stands_then() -> None:
    seen: list[tuple[float, float]] = []

    def law(t: float, q: float, v: float) -> float:
        seen.append((t, q))
        return -5.0 * q

    system = mechanisms.four_bar()
    system.add_driver(nx.Driver("motor", "A", "=0.3*sin(4*t)"))
    system.add_force(nx.Controller("law", "A", function=law, sample_time=0.01))
    found = nx.kinematics(system, [0.0, 0.025, 0.1])
    due = 0.01 * np.arange(11)
    assert_allclose([t for t, _ in seen], due, atol=1e-12)
    assert_allclose([q for _, q in seen], 0.3 * np.sin(4 * due), atol=1e-8)
    assert_allclose(found.effort("law").values, -1.5 * np.sin(4 * np.array([0.0, 0.02, 0.1])), atol=1e-7)


@pytest.mark.filterwarnings("ignore:user function")
def test_a_law_that_fails_on_the_way_is_named_with_its_time() -> None:
    system = mechanisms.four_bar()
    system.add_driver(nx.Driver("motor", "A", "=0.3*sin(4*t)"))
    system.add_force(nx.Controller("law", "D", function=lambda t, q, v: 1.0 / (t < 0.055), sample_time=0.01))
    with pytest.raises(nx.SolveError, match="law") as stopped:
        nx.kinematics(system, [0.0, 0.1])
    assert stopped.value.time is not None and 0.055 < stopped.value.time < 0.07


def test_inverse_dynamics_takes_every_sample_between_two_of_a_table() -> None:
    """An integral of 1 ms samples along a table of 50 ms."""
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
    system.add_joint(nx.Revolute("axle", system.ground, "wheel", axis=(0, 0, 1)))
    system.add_force(nx.PositionActuator("servo", "axle", kp=10.0, ki=50.0, sample_time=1e-3))
    times = np.linspace(0.0, 1.0, 21)
    found = nx.inverse_dynamics(system, {"axle": 0.1 * times}, times).motion.force_state("servo.integral").values
    # x is the sum of −Δ q before and at each sample
    k = np.round(times / 1e-3)
    assert_allclose(found, -1e-3 * 0.1 * 1e-3 * k * (k + 1) / 2, rtol=1e-7, atol=1e-9)


def test_a_bristle_in_a_ball_joint_bends_as_far_as_the_joint_turns() -> None:
    system = nx.System("ball", gravity=(0, 0, 0))
    system.add_body("ball", mass=1.0, inertia=(1.0, 1.0, 2.0))
    system.add_joint(nx.Spherical("socket", system.ground, "ball", at=(0, 0, 0)))
    system.add_force(nx.JointFriction("dry", "socket", sliding=10.0, stiffness=1.0, freedom=2))
    times = np.linspace(0.0, 1.0, 6)
    turned = np.stack([np.cos(times), 0 * times, 0 * times, np.sin(times)], axis=1)  # at 2 rad/s
    found = nx.inverse_dynamics(system, {"socket": turned}, times)
    assert_allclose(found.motion.force_state("dry.deflection").values, 2.0 * times, atol=1e-6)
    assert_allclose(found.tau[:, 2], 2.0 * times, atol=1e-6)
