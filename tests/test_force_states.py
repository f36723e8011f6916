"""States of forces, lag, integral, sampling, bristle, wherever there are loops: the same on every spanning tree, and kept."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import mechanisms
import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx
from nexdyn.simulation.choice import simulation_of


def controlled(joint: str = "A", **options: Any) -> nx.System:
    """A four-bar with a PID actuator in a joint and dry friction in another."""
    system = mechanisms.four_bar()
    servo = {"kp": 200.0, "kd": 20.0, "ki": 300.0, "target": "=0.3*sin(4*t)", "time_constant": 0.02} | options
    system.add_force(nx.PositionActuator("servo", joint, **servo))
    system.add_force(nx.JointFriction("dry", "D", sliding=2.0, static=3.0, stiffness=5e3, damping=5.0))
    return system


@pytest.mark.parametrize("joint", ["A", "C"])
@pytest.mark.parametrize("sample_time", [None, 0.007])
def test_states_do_not_depend_on_where_a_loop_is_cut(joint: str, sample_time: float | None) -> None:
    """The joint that has the actuator, or friction, is of the tree or cut."""
    method = nx.RungeKutta4(2e-4)
    found, other = (
        nx.simulate(controlled(joint, sample_time=sample_time), 0.2, method, loops=nx.Loops(cut=[cut]), output_every=50)
        for cut in ("C", "D")
    )
    assert_allclose(found.recording.z, other.recording.z, rtol=1e-6, atol=1e-8)
    for name in "ABCD":
        assert_allclose(found.reaction(name).values, other.reaction(name).values, atol=2e-5)  # of 20 to 30 N
        assert_allclose(found.transmitted(name).values, other.transmitted(name).values, atol=2e-5)
    assert_allclose(found.effort().values, other.effort().values, atol=2e-5)
    assert np.ptp(found.effort("servo").values) > 1.0


def test_a_closed_loop_goes_on_with_the_states_of_its_forces(tmp_path: Path) -> None:
    system = controlled(sample_time=0.007)
    whole = nx.simulate(system, 0.1, nx.RungeKutta4(1e-3))
    half = nx.simulate(system, 0.05, nx.RungeKutta4(1e-3))
    half.save(tmp_path / "half.nc", full=False)
    rest = nx.simulate(system, 0.1, nx.RungeKutta4(1e-3), initial=nx.open_result(tmp_path / "half.nc"))
    assert_allclose(rest.recording.z[-1], whole.recording.z[-1], rtol=1e-9, atol=1e-12)
    assert_allclose(rest.recording.q[-1], whole.recording.q[-1], atol=1e-12)


@pytest.mark.parametrize("method", [nx.Projection(dt=1e-3), nx.Baumgarte(dt=1e-3)], ids=lambda m: m.name)
@pytest.mark.parametrize("sample_time", [None, 0.007])
def test_absolute_coordinates_carry_the_same_states(method: Any, sample_time: float | None, tmp_path: Path) -> None:
    system = controlled("C", sample_time=sample_time)
    found = nx.simulate(system, 0.1, method)
    expected = nx.simulate(system, 0.1, nx.RungeKutta4(1e-3))
    most = 1e-6 if isinstance(method, nx.Projection) else 3e-4  # of up to 26 N m
    assert_allclose(found.recording.z, expected.recording.z, rtol=1e-6, atol=most)
    assert_allclose(found.effort("servo").values, expected.effort("servo").values, rtol=1e-6, atol=most)
    assert set(found.force_state().state.values) == set(expected.force_state().state.values)
    found.save(tmp_path / "bodies.nc", full=False)
    kept = nx.open_result(tmp_path / "bodies.nc")
    assert_allclose(kept.transmitted("C").values, found.transmitted("C").values, atol=1e-12)
    assert_allclose(kept.recording.z, found.recording.z)
    further = nx.simulate(system, 0.12, method, initial=kept)
    assert_allclose(further.recording.z[-1], nx.simulate(system, 0.12, method).recording.z[-1], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("sample_time", [None, 0.007])
def test_hht_integrates_states_with_its_own_order(sample_time: float | None) -> None:
    system = controlled(sample_time=sample_time)
    expected = nx.simulate(system, 0.1, nx.RungeKutta4(2e-4), output_every=10**6).recording.z[-1]
    errors = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        found = nx.simulate(system, 0.1, nx.HHT(dt=dt), output_every=10**6)
        errors.append(np.abs(found.recording.z[-1] - expected))
    assert errors[-1][1] < 5e-3  # N m of the lagged effort, about 20
    # of the integral and the lagged effort
    assert (errors[0][:2] / errors[1][:2] > 3.5).all() and (errors[1][:2] / errors[2][:2] > 3.5).all()
    adaptive = nx.simulate(system, 0.1, nx.HHT(rtol=1e-4), output_every=10**6)
    assert_allclose(adaptive.recording.z[-1], expected, rtol=1e-4, atol=1e-5)


def test_a_lag_far_stiffer_than_the_steps_of_hht_is_none_and_a_joint_that_sticks_stays() -> None:
    """A lag of 1 µs in steps of 10 ms."""
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
    system.add_joint(nx.Revolute("axle", system.ground, "wheel", axis=(0, 0, 1)))
    system.add_force(nx.TorqueActuator("motor", "axle", target=3.0, time_constant=1e-6))
    result = nx.simulate(system, 1.0, nx.HHT(dt=0.01))
    assert result.joint_velocity("axle").values[-1] == pytest.approx(
        1.5, rel=6e-3
    )  # the first step sees half of the jump
    assert result.effort("motor").values[1:] == pytest.approx(3.0, rel=1e-4)
    system.add_force(nx.JointFriction("dry", "axle", sliding=5.0, stiffness=1e5, damping=100.0))
    result = nx.simulate(system, 1.0, nx.HHT(dt=0.01))
    assert abs(result.joint_velocity("axle").values[-1]) < 1e-12
    assert abs(result.joint_position("axle").values[-1]) < 5.0 / 1e5
    assert result.force_state("dry.deflection").values[-1] == pytest.approx(3.0 / 1e5, rel=1e-9)


@pytest.mark.parametrize(
    "method", [nx.RungeKutta4(1e-3), nx.Projection(dt=1e-3), nx.HHT(dt=1e-3)], ids=lambda m: m.name
)
def test_states_go_on_over_an_event_that_changes_the_motion(method: Any) -> None:
    system = controlled()
    system.add_event(nx.Event("nudge", time=0.05, parameters={}, action=lambda state: None))
    plain = nx.simulate(controlled(), 0.08, method)
    changed = 1e-3 if isinstance(method, nx.HHT) else 1e-8  # HHT starts anew behind an event
    assert_allclose(nx.simulate(system, 0.08, method).recording.z[-1], plain.recording.z[-1], rtol=changed, atol=1e-7)

    def stand_still(state: Any) -> None:
        state.velocity = {name: np.zeros(1) for name in state.velocity}

    system = controlled()
    system.add_event(nx.Event("stop", time=0.05, action=stand_still))
    result = nx.simulate(system, 0.08, method)
    before, after = np.flatnonzero(np.abs(result.t.values - 0.05) < 1e-9)
    assert_allclose(result.recording.z[after], result.recording.z[before], atol=1e-12)
    assert abs(result.joint_velocity("A").values[after]) < 1e-9 < abs(result.joint_velocity("A").values[before])


def test_adaptive_steps_end_at_samples_in_a_closed_loop_too() -> None:
    fixed = nx.simulate(controlled(sample_time=0.007), 0.1, nx.RungeKutta4(1e-4), output_every=10**6)
    adaptive = nx.simulate(controlled(sample_time=0.007), 0.1, nx.DormandPrince(rtol=1e-8), output_every=10**6)
    assert_allclose(adaptive.recording.q[-1], fixed.recording.q[-1], atol=1e-7)
    assert_allclose(adaptive.force_state("servo.held")[-1], fixed.force_state("servo.held")[-1], rtol=1e-6)


@pytest.mark.filterwarnings("ignore:user function")
@pytest.mark.parametrize("sample_time", [0.007, 0.0025, 0.0004], ids=["steps", "divides a step", "many in a step"])
def test_what_hht_records_changes_no_sample_and_no_motion(sample_time: float) -> None:
    """Steps of 1 ms, samples on them, between them, and several in each; recorded at every step, at some, and at the end alone."""

    def run(every: int) -> tuple[nx.Result, list[tuple[float, float, float]]]:
        seen: list[tuple[float, float, float]] = []

        def law(t: float, q: float, v: float) -> float:
            seen.append((t, q, v))
            return 40.0 * (0.2 - q) - 5.0 * v

        system = controlled("A", ki=300.0, sample_time=sample_time)
        system.add_force(nx.Controller("mine", "D", function=law, sample_time=sample_time, time_constant=0.003))
        return nx.simulate(system, 0.05, nx.HHT(dt=1e-3), output_every=every), seen

    every_step, samples = run(1)
    assert len(samples) == int(0.05 / sample_time + 1e-9) + 1
    t = every_step.recording.t
    for every in (3, 7, 10**6):
        found, seen = run(every)
        assert seen == samples
        shared = [0, *range(every, 51, every)] + ([50] if 50 % every else [])
        np.testing.assert_array_equal(found.recording.t, t[shared])
        for name in ("q", "v", "a", "z", "multipliers"):
            np.testing.assert_array_equal(getattr(found.recording, name), getattr(every_step.recording, name)[shared])


def wheel(*forces: nx.Force) -> nx.System:
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 1.0))
    system.add_joint(nx.Revolute("axle", system.ground, "wheel", axis=(0, 0, 1)))
    for force in forces:
        system.add_force(force)
    return system


SERVO = {"kp": 40.0, "kd": 8.0, "ki": 30.0, "time_constant": 0.01, "target": "=sin(2*t)"}


@pytest.mark.parametrize(
    ("force", "largest"),
    [
        (nx.PositionActuator("servo", "axle", **SERVO), 1e-2),
        (nx.TorqueActuator("motor", "axle", target="=sin(200*t)", time_constant=1e-3), 5e-4),
    ],
    ids=["PID with a lag of 10 ms", "lag of 1 ms, 32 Hz"],
)
def test_adaptive_hht_keeps_the_error_of_states_and_by_the_power_of_its_order(force: nx.Force, largest: float) -> None:
    """e ~ rtol. 0.025 and 0.2 of the states where steps saw the motion alone."""
    system, times = wheel(force), np.linspace(0.0, 1.0, 11)
    exact = nx.simulate(system, 1.0, nx.DormandPrince(rtol=1e-10, atol=1e-12), output_times=times).recording.z[:, :2]
    size = np.abs(exact).max(axis=0)
    size[size == 0.0] = 1.0  # no integral
    errors = []
    for rtol in (1e-2, 5e-4, 2e-5):
        found = nx.simulate(system, 1.0, nx.HHT(rtol=rtol), output_times=times).recording.z[:, :2]
        errors.append(float((np.abs(found - exact).max(axis=0) / size).max()))
    assert errors[0] < largest, errors
    assert errors[1] < errors[0] / 10.0, errors
    assert errors[2] < errors[1] / 10.0, errors


@pytest.mark.parametrize("stiffness", [1e5, 1e7])
def test_adaptive_hht_slides_and_sticks_as_its_bristle_does(stiffness: float) -> None:
    """On a slope: s = ½ (g sin φ − F/m) t² with friction F = 3 N, but for what the bristle gives; below, it holds."""
    for angle, stays in ((0.1, True), (0.5, False)):
        system = nx.System("slope", gravity=(9.81 * math.sin(angle), 0, -9.81 * math.cos(angle)))
        system.add_body("block", mass=2.0, inertia=(0.1, 0.1, 0.1))
        system.add_joint(nx.Prismatic("way", system.ground, "block", axis=(1, 0, 0)))
        damping = 2.0 * math.sqrt(2.0 * stiffness)
        system.add_force(nx.JointFriction("dry", "way", sliding=3.0, stiffness=stiffness, damping=damping))
        result = nx.simulate(system, 1.0, nx.HHT(rtol=2e-3))
        load = 2.0 * 9.81 * math.sin(angle)
        x, v = result.joint_position("way").values[-1], result.joint_velocity("way").values[-1]
        if stays:
            assert x == pytest.approx(load / stiffness, rel=1e-3)
            assert abs(v) < 1e-9
        else:
            assert v == pytest.approx(load / 2.0 - 1.5, rel=5.0 / math.sqrt(stiffness))
            assert x == pytest.approx(0.5 * (load / 2.0 - 1.5), rel=5.0 / math.sqrt(stiffness))
            if stiffness < 1e6:
                exact = nx.simulate(system, 1.0, nx.DormandPrince(rtol=1e-8), output_every=10**6)
                assert x == pytest.approx(exact.joint_position("way").values[-1], rel=1e-5)


@pytest.mark.parametrize("rtol", [5e-2, 1e-2, 5e-4])
def test_adaptive_hht_passes_where_an_effort_leaves_its_limit(rtol: float) -> None:
    """Accelerations ring after the jump of the damping; driven on by changes of the step they ended runs at 1e-13 s."""
    for damping, limit, lag in ((5.0, 15.0, 0.0), (20.0, 15.0, 0.0), (60.0, 25.0, 0.0), (20.0, 15.0, 0.01)):
        system = nx.System("arm", gravity=(0, -9.81, 0))
        system.add_body("link", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
        system.add_joint(nx.Revolute("hinge", system.ground, "link", at=(0, 0, 0), axis=(0, 0, 1)))
        gains = {"kp": 300.0, "kd": damping, "ki": 100.0, "effort_limit": limit, "time_constant": lag}
        system.add_force(nx.PositionActuator("servo", "hinge", target=1.2, **gains))
        times = np.linspace(0.0, 1.0, 6)
        exact = nx.simulate(system, 1.0, nx.DormandPrince(rtol=1e-8), output_times=times).joint_position("hinge").values
        result = nx.simulate(system, 1.0, nx.HHT(rtol=rtol), output_times=times)
        assert_allclose(result.joint_position("hinge").values, exact, atol=4.3 * rtol)


def test_a_controller_at_rest_asks_for_no_short_steps() -> None:
    """Its states are rounding, beside efforts that are none."""
    system = wheel(nx.PositionActuator("servo", "axle", **SERVO | {"target": 0.0}))
    result = nx.simulate(system, 1.0, nx.HHT(rtol=2e-5))
    assert result.recording.steps < 30
    pushed = nx.simulate(system, 1.0, nx.HHT(rtol=2e-5), q0={"axle": 1e-10})
    assert pushed.recording.steps < 30


@pytest.mark.parametrize("sample_time", [None, 0.007])
@pytest.mark.parametrize("every", [1.37, 0.4])
def test_times_asked_for_between_steps_of_hht_leave_states_and_steps_as_they_are(
    sample_time: float | None, every: float
) -> None:
    system, method = controlled(sample_time=sample_time), nx.HHT(dt=1e-3)
    whole = nx.simulate(system, 0.05, method)
    asked = nx.simulate(system, 0.05, method, output_times=[*np.arange(every, 49, every) * method.dt, 0.05])
    by_parts = simulation_of(system, method)
    for t in np.arange(every, 49, every) * method.dt:
        by_parts.run(float(t))
    for result in (asked, by_parts.run(0.05)):
        # but for rounding of the times at which the target is asked for
        assert_allclose(result.recording.z[-1], whole.recording.z[-1], rtol=1e-12)
        assert_allclose(result.effort("servo")[-1], whole.effort("servo")[-1], rtol=1e-12)
        assert_allclose(result.reaction("B")[-1], whole.reaction("B")[-1], rtol=0, atol=1e-8)
    # what is told between lies on the motion
    precise = nx.simulate(system, 0.05, nx.HHT(dt=1e-4), output_times=asked.t.values)
    size = np.ptp(precise.recording.z, axis=0)
    assert (np.abs(asked.recording.z - precise.recording.z).max(axis=0) <= 0.05 * size).all(), size
