"""States of forces in statics, linearizations and inverse dynamics: a plant with its controller, against closed forms and runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import mechanisms
import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

import nexdyn as nx

G = 9.81
MASS, ARM, ABOUT_HINGE = 2.0, 0.5, 0.1 + 2.0 * 0.5**2


def arm(*forces: nx.Force, damping: float = 0.0, **parameters: float) -> nx.System:
    """A link of 2 kg that gravity turns about its hinge, horizontal at 0."""
    system = nx.System("arm", gravity=(0, -G, 0))
    for name, value in parameters.items():
        system.parameter(name, value)
    system.add_body("link", mass=MASS, inertia=(0.1, 0.1, 0.1), position=(ARM, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, "link", at=(0, 0, 0), axis=(0, 0, 1), damping=damping))
    for force in forces:
        system.add_force(force)
    return system


def pid(**options: Any) -> nx.Force:
    return nx.PositionActuator("servo", "hinge", **({"kp": 30.0, "kd": 4.0, "ki": 20.0, "target": 0.3} | options))


def load(angle: float) -> float:
    """What holds the arm [N m]."""
    return MASS * G * ARM * float(np.cos(angle))


def in_order(values: Any) -> np.ndarray:
    return np.sort_complex(np.round(values, 12))


@pytest.mark.parametrize("sample_time", [None, 0.01])
def test_an_integral_holds_its_target_with_what_that_takes_and_a_run_stays_there(sample_time: float | None) -> None:
    system = arm(pid(time_constant=0.05, sample_time=sample_time))
    found = nx.equilibrium(system)
    assert_allclose(found.joint("hinge"), 0.3, atol=1e-12)
    assert found.states == pytest.approx(
        {
            "servo.integral": load(0.3) / 20.0,
            "servo.lagged": load(0.3),
            "servo.held": load(0.3),
            "servo.next_sample": 0.0,
        },
        rel=1e-10,
    )
    assert found.to_dict()["states"] == found.states
    # the reaction of the bearing is the weight, what the motor gives no part of it
    assert_allclose(found.reaction("hinge").force, [0.0, MASS * G, 0.0], atol=1e-9)
    for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3)):
        run = nx.simulate(system, 0.5, method, initial=found.report)
        assert np.ptp(run.position("link").values, axis=0).max() < 1e-11
        assert_allclose(run.effort("servo").values, load(0.3), rtol=1e-9)


def test_at_its_limit_an_integral_gives_way_to_where_the_limit_balances_the_load() -> None:
    found = nx.equilibrium(arm(pid(effort_limit=5.0)))
    assert_allclose(found.joint("hinge"), -np.arccos(5.0 / (MASS * G * ARM)), atol=1e-9)
    assert found.states["servo.integral"] == pytest.approx(5.0 / 20.0)
    run = nx.simulate(arm(pid(effort_limit=5.0), damping=3.0), 12.0, nx.RungeKutta4(2e-3), output_every=1000)
    assert_allclose(run.recording.q[-1, 0], found.joint("hinge")[0], atol=1e-5)


def test_a_bristle_holds_up_to_its_static_friction_and_from_there_on_what_it_can() -> None:
    dry = {"sliding": 6.0, "static": 8.0, "stiffness": 5e3, "damping": 50.0}
    light = nx.equilibrium(arm(nx.JointFriction("dry", "hinge", **dry)), q0={"hinge": 1.2})
    assert_allclose(load(light.joint("hinge")[0]), 5e3 * (1.2 - light.joint("hinge")[0]), rtol=1e-9)
    run = nx.simulate(
        arm(nx.JointFriction("dry", "hinge", **dry)), 2.0, nx.RungeKutta4(1e-4), q0=[1.2], output_every=4000
    )
    assert_allclose(run.recording.q[-1, 0], light.joint("hinge")[0], atol=1e-9)
    heavy = nx.equilibrium(arm(nx.JointFriction("dry", "hinge", **dry)), q0={"hinge": 0.0})
    assert_allclose(load(heavy.joint("hinge")[0]), 8.0, rtol=1e-9)
    assert heavy.stability == "stable"


@pytest.mark.parametrize("lag", [0.0, 0.05])
def test_a_plant_with_its_controller_has_the_eigenvalues_of_the_closed_loop(lag: float) -> None:
    """(T s + 1)(I s² − m g l sin q) + k_d s + k_p + k_i/s = 0."""
    system = arm(pid(time_constant=lag))
    lin = nx.linearize(system, at=nx.equilibrium(system), inputs=["hinge"], outputs=["hinge", "servo.integral"])
    plant = [ABOUT_HINGE, 0.0, -MASS * G * ARM * np.sin(0.3), 0.0]
    polynomial = np.polyadd(np.polymul([lag, 1.0] if lag else [1.0], plant), [4.0, 30.0, 20.0])
    assert_allclose(in_order(lin.eigenvalues), in_order(np.roots(polynomial)), rtol=1e-10)
    assert lin.states == ["hinge", "hinge.rate", "servo.integral", *(["servo.lagged"] if lag else [])]
    assert lin.outputs == ["hinge", "servo.integral"]
    assert_allclose(lin.B[:, 0], [0.0, 1.0 / ABOUT_HINGE, 0.0, 0.0][: len(lin.states)], atol=1e-12)
    assert lin.stable
    assert all(np.isfinite(lin.motion(k).position("link").values).all() for k in range(len(lin.modes)))


def test_a_gain_too_large_for_the_lag_is_found_by_a_sweep_about_each_equilibrium() -> None:
    system = arm(nx.PositionActuator("servo", "hinge", kp="=kp", kd=4.0, target=0.3, time_constant=0.1), kp=30.0)
    swept = nx.stability(system, "kp", np.linspace(20.0, 60.0, 5), rest=True)
    # Routh: T I s³ + I s² + (k_d − T c) s + (k_p − c), where c = m g l sin q at the q that k_p leaves
    limit = next(x for x in swept.limits if x.eigenvalue.imag)
    lean = nx.equilibrium(system.with_parameters({"kp": limit.value})).joint("hinge")[0]
    c = MASS * G * ARM * np.sin(lean)
    assert_allclose(limit.value - c, (4.0 - 0.1 * c) / 0.1, rtol=1e-9)
    assert_allclose(limit.eigenvalue.imag, np.sqrt((4.0 - 0.1 * c) / (0.1 * ABOUT_HINGE)), rtol=1e-7)
    assert not limit.gets_stable


def closed_loop(**options: Any) -> nx.System:
    """A four-bar under gravity with a PID actuator, friction that sticks and a damper."""
    system = mechanisms.four_bar()
    servo = {"kp": 200.0, "kd": 20.0, "ki": 300.0, "target": 0.1, "time_constant": 0.02} | options
    system.add_force(nx.PositionActuator("servo", "A", **servo))
    return system


def test_on_a_closed_loop_small_motions_are_those_of_the_linearization() -> None:
    system = closed_loop()
    rest = nx.equilibrium(system)
    lin = nx.linearize(system, at=rest, outputs=["servo.lagged", "servo.integral"])
    assert [name for name in lin.states if name.startswith("servo")] == ["servo.integral", "servo.lagged"]
    assert rest.report.states is not None
    off = np.add(rest.report.states, [1e-5, 0.0, 0.0, 0.0])
    run = nx.simulate(system, 0.5, nx.RungeKutta4(5e-4), initial=replace(rest.report, states=off), output_every=100)
    x0 = np.array([1e-5 if name == "servo.integral" else 0.0 for name in lin.states])
    expected = np.array([lin.C @ scipy.linalg.expm(lin.A * t) @ x0 for t in run.t.values])
    for k, name in enumerate(lin.outputs):
        moved = run.force_state(name).values - rest.states[name]
        assert_allclose(moved, expected[:, k], atol=2e-4 * np.abs(expected[:, k]).max())


def test_inverse_dynamics_asks_for_nothing_beside_what_controllers_gave() -> None:
    """The run's own states; and those integrated along its coordinates alone."""
    for sample_time in (None, 0.007):
        system = arm(pid(target="=0.3*sin(4*t)", time_constant=0.02, sample_time=sample_time, effort_limit=25.0))
        run = nx.simulate(system, 0.6, nx.RungeKutta4(5e-4), output_every=4)
        assert np.abs(nx.inverse_dynamics(system, run).tau).max() < 1e-10
        along = nx.inverse_dynamics(system, {"hinge": run.recording.q[:, 0]}, run.t.values)
        assert_allclose(along.motion.recording.z, run.recording.z, atol=2e-3)  # of efforts of 10 N m
        if sample_time is None:
            assert np.abs(along.tau[3:-3]).max() < 5e-3
    system = closed_loop(target="=0.3*sin(4*t)")
    run = nx.simulate(system, 0.2, nx.RungeKutta4(5e-4), output_every=10)
    assert np.abs(nx.inverse_dynamics(system, run, actuators=["A"]).tau).max() < 1e-8


@pytest.mark.parametrize("bdf2", [False, True])
@pytest.mark.parametrize("sample_time", [None, 0.01])
def test_implicit_euler_carries_states_with_its_own_order(bdf2: bool, sample_time: float | None) -> None:
    """Of order 2 by BDF2, but for samples, at which efforts jump."""
    system = arm(pid(target="=0.3*sin(4*t)", time_constant=0.02, sample_time=sample_time))
    exact = nx.simulate(system, 0.2, nx.RungeKutta4(1e-4), output_every=200)
    off = []
    for dt in (1e-3, 5e-4):
        found = nx.simulate(system, 0.2, nx.ImplicitEuler(dt, bdf2=bdf2), output_every=round(0.02 / dt))
        off.append(np.abs(found.recording.z[:, :3] - exact.recording.z[:, :3]).max())
    assert off[0] < 0.15  # of efforts of 20 N m
    assert off[0] / off[1] > (3.6 if bdf2 and sample_time is None else 1.8)


def test_implicit_euler_sticks_slides_and_goes_on_with_its_bristle() -> None:
    strong = arm(nx.JointFriction("dry", "hinge", sliding=14.0, static=16.0, stiffness=5e3, damping=50.0))
    held = nx.simulate(strong, 3.0, nx.ImplicitEuler(1e-2))
    assert_allclose(-5e3 * held.recording.z[-1, 0], load(0.0), rtol=1e-5)
    half = nx.simulate(strong, 0.02, nx.ImplicitEuler(1e-3))
    rest, whole = (nx.simulate(strong, 0.04, nx.ImplicitEuler(1e-3), initial=start) for start in (half, None))
    assert_allclose(rest.recording.z[-1], whole.recording.z[-1], rtol=1e-3)
    weak = arm(nx.JointFriction("dry", "hinge", sliding=6.0, static=8.0, stiffness=5e3, damping=50.0))
    exact = nx.simulate(weak, 0.3, nx.RungeKutta4(1e-4), output_every=3000).recording.q[-1, 0]
    at_end = nx.simulate(weak, 0.3, nx.ImplicitEuler(1e-3), output_every=300).position("link").values[-1]
    assert_allclose(np.arctan2(at_end[1], at_end[0]), exact, atol=2e-3)


def test_an_event_switches_a_controller_off_and_on_under_implicit_euler() -> None:
    system = arm(pid(ki=20.0))
    system.add_event(nx.Event("off", time=0.05, off="servo"))
    run, exact = (nx.simulate(system, 0.1, method) for method in (nx.ImplicitEuler(1e-3), nx.RungeKutta4(1e-3)))
    assert [event["name"] for event in run.events] == ["off"]
    ends = [each.position("link").sel(time=0.1).values for each in (run, exact)]
    assert_allclose(ends[0], ends[1], atol=1e-3)  # 15 mm off where the controller goes on


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (
            lambda: nx.simulate(arm(pid(sample_time=0.007)), 0.1, nx.ImplicitEuler(2e-3)),
            nx.InputError,
            r"'servo' is sampled every 0\.007 s, and ImplicitEuler samples where its steps begin",
        ),
        (lambda: nx.linearize(arm(pid())), nx.InputError, "no equilibrium: .*nx.equilibrium finds one"),
        (lambda: nx.linearize(arm(pid(sample_time=0.01))), nx.InputError, "'servo' is sampled every 0.01 s"),
        (
            lambda: nx.equilibrium(arm(pid(kp=0.0, effort_limit=5.0))),
            nx.SolveError,
            "'servo' is at its limit of 5, and its integral winds up",
        ),
        (
            lambda: nx.equilibrium(arm(nx.VelocityActuator("servo", "hinge", kv=1.0, ki=2.0, target=3.0))),
            nx.InputError,
            "'servo' asks for a velocity of 3, which is no rest",
        ),
        (
            lambda: nx.simulate(arm(), 1.0, initial=nx.equilibrium(arm()).report),
            nx.InputError,
            "initial is the report of another system",
        ),
    ],
)
def test_what_has_no_rest_or_no_linearization_is_named(ask: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ask()


def test_the_command_line_says_states_and_finds_the_equilibrium_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    from nexdyn.cli import main

    path = tmp_path / "arm.yaml"
    nx.save_scene(arm(pid()), path)
    assert main(["equilibrium", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["states"]["servo.integral"] == pytest.approx(load(0.3) / 20.0)
    assert main(["linearize", str(path), "--json"]) == 2
    assert "--rest" in capsys.readouterr().out
    assert main(["linearize", str(path), "--rest", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["states"] == ["hinge", "hinge.rate", "servo.integral"]


@pytest.mark.parametrize("method", [nx.DormandPrince(), nx.HHT(dt=1e-3), nx.ImplicitEuler(1e-3)], ids=lambda m: m.name)
def test_an_integral_waits_while_its_actuator_is_off_under_every_method(method: Any) -> None:
    system = nx.System("held", gravity=(0, -9.81, 0))
    system.add_body("link", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, "link", at=(0, 0, 0), axis=(0, 0, 1), damping=3.0))
    system.add_force(nx.PositionActuator("servo", "hinge", kp=30.0, kd=4.0, ki=20.0, target=0.3))
    system.add_event(nx.Event("off", time=0.2, action=lambda state: state.off.add("servo")))
    system.add_event(nx.Event("on", time=0.25, action=lambda state: state.on.add("servo")))
    result = nx.simulate(system, 0.4, method)
    t, z = result.t.values, result.force_state("servo.integral").values.reshape(-1)
    waits = z[(t > 0.201) & (t < 0.249)]
    assert np.ptp(waits) < 1e-12 and waits[0] == pytest.approx(0.0606, rel=1e-2)
    assert z[-1] == pytest.approx(0.11263, rel=1e-2)  # it goes on from there
