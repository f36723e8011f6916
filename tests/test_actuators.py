"""Actuators: control laws against closed form, saturation, lag, sampling, states in results and restarts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import nexdyn as nx

J, K, D = 2.0, 50.0, 4.0


def wheel(*actuators: Any, v0: float = 0.0) -> nx.System:
    """A wheel of inertia J on a joint, without gravity."""
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, J))
    system.add_joint(nx.Revolute("axle", system.ground, "wheel", axis=(0, 0, 1), v0=v0))
    for actuator in actuators:
        system.add_force(actuator)
    return system


def last(result: nx.Result) -> tuple[float, float]:
    return float(result.joint_position("axle")[-1]), float(result.joint_velocity("axle")[-1])


METHODS = [nx.DormandPrince(), nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3, alpha=0.0), nx.ImplicitEuler(5e-4, bdf2=True)]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_a_position_actuator_is_a_spring_and_damper_to_its_target(method: Any) -> None:
    system = wheel(nx.PositionActuator("servo", "axle", kp=K, kd=D, target=0.5))
    q, _ = last(nx.simulate(system, 1.0, method))
    decay, omega = D / (2 * J), math.sqrt(K / J - (D / (2 * J)) ** 2)
    exact = 0.5 - 0.5 * math.exp(-decay) * (math.cos(omega) + decay / omega * math.sin(omega))
    assert q == pytest.approx(exact, abs=2e-5)


def test_a_velocity_actuator_follows_a_ramp_with_the_lag_of_its_gain_and_without_by_its_integral() -> None:
    for ki, left in ((0.0, 0.3 * J / 5.0), (20.0, 0.0)):
        system = wheel(nx.VelocityActuator("drive", "axle", kv=5.0, ki=ki, target="=0.3*t"))
        _, v = last(nx.simulate(system, 20.0, nx.DormandPrince()))
        assert 0.3 * 20.0 - v == pytest.approx(left, abs=1e-6)


def test_effort_is_cut_off_at_its_limit_and_above_the_velocity_limit_none_drives_on() -> None:
    system = wheel(nx.TorqueActuator("motor", "axle", target=100.0, effort_limit=4.0, velocity_limit=3.0, knee=0.2))
    result = nx.simulate(system, 6.0, nx.DormandPrince())
    v, u = result.joint_velocity("axle").values, result.effort("motor").values
    assert u[0] == 4.0
    slow = v < 0.8 * 3.0
    assert np.allclose(u[slow], 4.0)
    assert np.allclose(u[~slow], 4.0 * (3.0 - v[~slow]) / 0.6, atol=1e-9)
    assert v.max() <= 3.0
    assert v[-1] > 2.95
    # braking is not limited by the velocity
    system = wheel(nx.TorqueActuator("motor", "axle", target=-100.0, effort_limit=4.0, velocity_limit=3.0), v0=10.0)
    assert last(nx.simulate(system, 1.0, nx.DormandPrince()))[1] == pytest.approx(10.0 - 4.0 / J, rel=1e-9)


def test_the_power_of_an_actuator_is_the_rate_of_the_kinetic_energy() -> None:
    system = wheel(nx.PositionActuator("servo", "axle", kp=K, kd=D, ki=30.0, target="=sin(3*t)", effort_limit=20.0))
    result = nx.simulate(system, 2.0, nx.RungeKutta4(1e-3))
    power = result.effort("servo").values * result.joint_velocity("axle").values
    work = np.concatenate([[0.0], np.cumsum(0.5e-3 * (power[1:] + power[:-1]))])
    assert np.abs(result.energy().total.values - work).max() < 1e-4 * work.max()


def test_the_lag_of_a_drive_is_first_order() -> None:
    system = wheel(nx.TorqueActuator("motor", "axle", target=4.0, time_constant=0.3))
    result = nx.simulate(system, 1.0, nx.DormandPrince())
    t = result.t.values
    assert np.allclose(result.effort("motor").values, 4.0 * (1.0 - np.exp(-t / 0.3)), atol=1e-7)
    v = 4.0 / J * (t - 0.3 * (1.0 - np.exp(-t / 0.3)))
    assert np.allclose(result.joint_velocity("axle").values, v, atol=1e-7)


def test_an_integral_takes_away_what_a_constant_load_leaves_and_does_not_wind_up() -> None:
    def run(ki: float, **limits: Any) -> nx.Result:
        load = nx.JointForce("load", "axle", -5.0)
        servo = nx.PositionActuator("servo", "axle", kp=K, kd=20.0, ki=ki, target=1.0, **limits)
        return nx.simulate(wheel(servo, load), 15.0, nx.DormandPrince())

    assert last(run(0.0))[0] == pytest.approx(1.0 - 5.0 / K, abs=1e-6)
    assert last(run(60.0))[0] == pytest.approx(1.0, abs=1e-5)
    tight = run(60.0, effort_limit=7.0)
    assert last(tight)[0] == pytest.approx(1.0, abs=1e-4)
    assert np.abs(tight.effort("servo").values).max() <= 7.0

    def naive(t: float, y: np.ndarray) -> list[float]:  # an integral that winds up
        u = K * (1.0 - y[0]) - 20.0 * y[1] + 60.0 * y[2]
        return [y[1], (max(-7.0, min(u, 7.0)) - 5.0) / J, 1.0 - y[0]]

    wound = solve_ivp(naive, (0.0, 15.0), [0.0, 0.0, 0.0], rtol=1e-8, max_step=0.05).y[0].max()
    assert tight.joint_position("axle").values.max() - 1.0 < 0.5 * (wound - 1.0)


def sampled_exactly(delta: float, n: int) -> np.ndarray:
    """Positions at k Δ of q̈ = u_k/J, u_k = K (1 − q_k) − D v_k: exact under a held input."""
    q = v = 0.0
    out = [q]
    for _ in range(n):
        u = (K * (1.0 - q) - D * v) / J
        q, v = q + delta * v + 0.5 * delta**2 * u, v + delta * u
        out.append(q)
    return np.array(out)


@pytest.mark.parametrize("method", [nx.RungeKutta4(0.01), nx.RungeKutta4(0.03), nx.DormandPrince()], ids=str)
def test_a_sampled_controller_holds_its_output_between_samples(method: Any) -> None:
    delta = 0.02
    system = wheel(nx.PositionActuator("servo", "axle", kp=K, kd=D, target=1.0, sample_time=delta))
    result = nx.simulate(system, 0.6, method)
    exact = sampled_exactly(delta, 30)
    q, t = result.joint_position("axle").values, result.t.values
    at = np.isclose(t / delta, np.round(t / delta), atol=1e-6)
    assert at.sum() >= 2
    assert np.allclose(q[at], exact[np.round(t[at] / delta).astype(int)], atol=1e-9)
    held = result.force_state("servo.held").values
    assert np.allclose(held[at], result.effort("servo").values[at])
    assert set(result.force_state().state.values) == {
        f"servo.{x}" for x in ("integral", "lagged", "held", "next_sample")
    }


def test_a_controller_of_the_user_is_called_once_a_sample() -> None:
    calls: list[float] = []

    def law(t: float, q: float, v: float) -> float:
        calls.append(t)
        return K * (1.0 - q) - D * v

    with pytest.warns(nx.NexDynWarning) if not _warned() else _nothing():
        system = wheel(nx.Controller("mine", "axle", function=law, sample_time=0.02))
        result = nx.simulate(system, 0.1, nx.RungeKutta4(1e-3))
    assert np.allclose(sorted(set(calls)), np.arange(6) * 0.02, atol=1e-9)
    assert len(calls) == 6
    assert result.joint_position("axle").values[::20] == pytest.approx(sampled_exactly(0.02, 5), abs=1e-9)


def _warned() -> bool:
    from nexdyn.model import callbacks

    return callbacks._said_that_python_is_slow


def _nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()


def test_a_compiled_controller_says_the_same() -> None:
    @numba.njit
    def law(t, q, v):  # type: ignore[no-untyped-def]
        return 50.0 * (1.0 - q) - 4.0 * v

    result = nx.simulate(
        wheel(nx.Controller("mine", "axle", function=law, sample_time=0.02)), 0.1, nx.RungeKutta4(1e-3)
    )
    assert result.joint_position("axle").values[::20] == pytest.approx(sampled_exactly(0.02, 5), abs=1e-9)


def test_a_run_goes_on_from_a_result_with_the_states_of_its_forces(tmp_path: Path) -> None:
    system = wheel(
        nx.PositionActuator("slow", "axle", kp=K, kd=D, ki=9.0, target=1.0, sample_time=0.07, time_constant=0.05),
        nx.VelocityActuator("drag", "axle", kv=0.5, ki=0.3),
    )
    whole = nx.simulate(system, 1.0, nx.RungeKutta4(1e-3))
    half = nx.simulate(system, 0.5, nx.RungeKutta4(1e-3))
    half.save(tmp_path / "half.nc", full=False)
    rest = nx.simulate(system, 1.0, nx.RungeKutta4(1e-3), initial=nx.open_result(tmp_path / "half.nc"))
    assert np.allclose(rest.recording.q[-1], whole.recording.q[-1], atol=1e-12)
    assert np.allclose(rest.recording.z[-1], whole.recording.z[-1], atol=1e-12)
    other = wheel(nx.TorqueActuator("motor", "axle", time_constant=0.1))
    with pytest.raises(nx.InputError, match="8 states of forces, the model has 4"):
        nx.simulate(other, 1.0, initial=half)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sample_time": 0.0}, "sample_time of force 'f' is 0 s; it must be greater than 0"),
        ({"sample_time": -0.1}, "sample_time of force 'f' is -0.1"),
        ({"effort_limit": 0.0}, "effort_limit of force 'f' is 0"),
        ({"velocity_limit": -1.0}, "velocity_limit of force 'f' is -1"),
        ({"time_constant": -1.0}, "time_constant of force 'f' is -1"),
        ({"knee": 0.0}, "knee of force 'f' is 0"),
        ({"kp": -1.0}, "kp of force 'f' is -1"),
        ({"target": "=t*"}, "target of force 'f'"),
        ({"freedom": 1}, "freedom of force 'f' is 1"),
    ],
)
def test_a_wrong_actuator_is_refused_by_name(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        wheel(nx.PositionActuator("f", "axle", **({"kp": 1.0} | wrong)))


SCENE = """
gravity: [0, 0, 0]
bodies:
  wheel: {mass: 1, inertia: [1, 1, 2]}
joints:
  axle: {type: revolute, parent: ground, child: wheel}
forces:
  servo: {type: position_actuator, joint: axle, kp: 50, kd: 4, target: 1, sample_time: 0.02, effort_limit: 1000}
  drag: {type: velocity_actuator, joint: axle, kv: 0}
  motor: {type: torque_actuator, joint: axle, target: "=0*t"}
"""


def test_a_scene_says_the_same_and_is_written_again(tmp_path: Path) -> None:
    (tmp_path / "wheel.yaml").write_text(SCENE)
    system = nx.load(tmp_path / "wheel.yaml")
    nx.save_scene(system, tmp_path / "again.yaml")
    for known in (system, nx.load(tmp_path / "again.yaml")):
        result = nx.simulate(known, 0.1, nx.RungeKutta4(1e-3))
        assert result.joint_position("axle").values[::20] == pytest.approx(sampled_exactly(0.02, 5), abs=1e-9)
