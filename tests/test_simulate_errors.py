"""Runs that go wrong: refused at the door, stopped with time and name, interrupted; what was reached is kept."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.problems.four_bars import four_bars
from nexdyn.simulation.interrupt import interrupts_wait


def pendulum(**options: Any) -> nx.System:
    system = nx.System("pendulum", gravity=(0, -9.81, 0))
    rod = system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 0, 1), **options))
    return system


def floating() -> nx.System:
    system = nx.System("stone")
    system.add_body("stone", mass=1.0, inertia=(1.0, 2.0, 2.5))
    return system


# --- at the door ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"t_end": -1.0}, "t_end is -1 s; it must be finite and not before the present time 0 s"),
        ({"t_end": np.nan}, "t_end is nan s"),
        ({"t_end": "1"}, "t_end is '1'; a time in seconds is needed"),
        ({"t_end": True}, "t_end is True; a time in seconds"),
        ({"t_end": np.inf}, "t_end is inf s"),
        ({"t_end": "soon"}, "t_end is 'soon'; a time in seconds is needed"),
        ({"t_end": None}, "t_end is None"),
        ({"method": "rk5"}, "no method 'rk5'.*methods: rk4, euler, semi-implicit, dopri5"),
        ({"method": nx.RungeKutta4}, r"method is the class RungeKutta4; give one made of it, like nx.RungeKutta4\(\)"),
        ({"method": 1e-3}, "method is 0.001"),
        ({"output_every": 0}, "output_every is 0"),
        ({"output_every": 2.0}, r"output_every is 2\.0"),
        ({"output_every": True}, "output_every is True"),
        ({"output_times": [0.5, 0.1]}, "output_times must increase strictly"),
        ({"dynamics": "abba"}, r"no dynamics 'abba'; did you mean 'aba'\? valid: aba, crba, cfa"),
        ({"q0": [np.nan]}, r"q0 is \[nan\]; it must be finite"),
        ({"q0": [1.0, 2.0]}, "q0 has 2 numbers; 1 number is needed, in the order of Tree.joint_names"),
        ({"q0": {"hinge": [1.0, 2.0]}}, "q0 of joint 'hinge' has 2 numbers; 1 number is needed"),
        ({"q0": {"hinge": np.inf}}, "q0 of joint 'hinge' is .*inf.*; it must be finite"),
        ({"q0": {"hing": 1.0}}, r"q0: no moving joint 'hing'; did you mean 'hinge'\? moving joints: hinge"),
        ({"q0": "up"}, "q0 is 'up'; 1 numbers are needed"),
        (
            {"method": nx.HHT(), "dynamics": "cfa"},
            "dynamics='cfa' is for minimal coordinates; HHT.* leave dynamics out",
        ),
        ({"v0": {"rod": 1.0}}, "v0: no moving joint 'rod'"),
        ({"v0": [np.nan]}, r"v0 is \[nan\]"),
        (
            {"initial": 3.0},
            "initial is a float; a Result, .*, the report of nx.assemble or nx.equilibrium, or the posture of nx.inverse_kin",
        ),
    ],
)
def test_bad_argument_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        nx.simulate(pendulum(), **{"t_end": 1.0, **options})


@pytest.mark.parametrize(
    "method", [nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.ImplicitEuler(1e-3)], ids=lambda m: m.name
)
def test_a_result_of_another_mechanism_in_absolute_coordinates_is_refused_with_both(method: Any) -> None:
    other = nx.System("other")
    for name in ("left", "right"):
        other.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
    of_bodies = nx.simulate(other, 2e-3, nx.HHT(dt=1e-3))
    with pytest.raises(nx.InputError, match=r"another mechanism, with the bodies left, right; 'pendulum' has rod"):
        nx.simulate(pendulum(), 1.0, method, initial=of_bodies)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([], r"output_times has shape \(0,\); one time or more"),
        ([[0.1, 0.2]], r"output_times has shape \(1, 2\)"),
        (["a"], "output_times is .*; times in seconds are needed"),
        ([np.nan], "output_times must increase strictly from 0 s or later to 1 s at most"),
        ([0.1, 0.1], "output_times must increase strictly"),
        ([0.2, 0.1], "output_times must increase strictly"),
        ([-0.1], "output_times must increase strictly"),
        ([0.5, 1.1], "output_times must increase strictly"),
    ],
)
def test_bad_output_times_are_refused(times: Any, message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        nx.simulate(pendulum(), 1.0, nx.DormandPrince(), output_times=times)


@pytest.mark.parametrize("q0", [[2.0, 0, 0, 0, 0, 0, 0], [0.0] * 7, {"stone": [0.5, 0.5, 0.5, 0.4, 0, 0, 0]}])
def test_quaternion_that_is_not_unit_is_refused_with_its_joint(q0: Any) -> None:
    with pytest.raises(nx.InputError, match=r"q0 of joint 'stone': a quaternion .* must have norm 1 .* received norm"):
        nx.simulate(floating(), 1.0, q0=q0)


def test_rounding_of_a_quaternion_is_removed() -> None:
    r = nx.simulate(floating(), 0.01, q0=[0.6 + 1e-8, 0.8, 0, 0, 1, 2, 3]).recording
    np.testing.assert_allclose(np.linalg.norm(r.q[:, :4], axis=1), 1.0, atol=1e-15)


def test_what_is_no_system_is_refused() -> None:
    with pytest.raises(nx.InputError, match=r"system is 'robot\.urdf'; a System is needed"):
        nx.simulate("robot.urdf", 1.0)  # type: ignore[arg-type]


def test_result_of_another_mechanism_is_no_start() -> None:
    with pytest.raises(nx.InputError, match="initial has 1 coordinate and 1 velocity; 'stone' has 7 and 6"):
        nx.simulate(floating(), 2.0, initial=nx.simulate(pendulum(), 0.01))


def test_time_before_the_present_is_refused_after_a_restart() -> None:
    first = nx.simulate(pendulum(), 0.5)
    with pytest.raises(nx.InputError, match=r"t_end is 0\.4 s; .* not before the present time 0\.5 s"):
        nx.simulate(pendulum(), 0.4, initial=first)


# --- no inertia -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dynamics", ["aba", "crba"])
@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-3), nx.DormandPrince()])
def test_child_without_mass_is_named_at_the_start(method: Any, dynamics: Any) -> None:
    system = pendulum()
    ghost = system.add_body("ghost", position=(1, 0, 0))
    system.add_joint(nx.Revolute("loose", system.body("rod"), ghost, at=(1, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(nx.SingularError, match="joint 'loose' moves no inertia") as caught:
        nx.simulate(system, 1.0, method, dynamics=dynamics)
    assert caught.value.where == "loose"
    assert caught.value.result is None


@pytest.mark.parametrize("dynamics", ["aba", "crba"])
def test_inertia_that_is_only_rounding_is_named_too(dynamics: Any) -> None:
    turned = np.array([1, 2, 3, 4]) / math.sqrt(30)
    rod = {"mass": 1.0, "inertia": (1 / 12, 0, 1 / 12), "com": (0, 0.5, 0), "orientation": turned}
    on_a_ball = nx.System("rod on a ball joint")
    body = on_a_ball.add_body("rod", **rod)
    on_a_ball.add_joint(nx.Spherical("ball", on_a_ball.ground, body, axis=(1, 2, 3)))
    on_its_axis = pendulum()
    body = on_its_axis.add_body("point", mass=1.0, position=(0.3, 0.1, 0.7))
    axis = {"at": (0.1 + 0.2, 0.1, 0.7), "axis": (1, 2, 3)}
    on_its_axis.add_joint(nx.Revolute("idle", on_its_axis.body("rod"), body, **axis))
    free_point = nx.System("point mass beside its frame")
    free_point.add_body("point", mass=1.0, com=(0.1, 0.2, 0.3))
    for system, joint in ((on_a_ball, "ball"), (on_its_axis, "idle"), (free_point, "point")):
        with pytest.raises(nx.SingularError, match=f"joint '{joint}' moves no inertia") as caught:
            nx.simulate(system, 1.0, dynamics=dynamics)
        assert caught.value.where == joint


def test_small_and_slender_bodies_are_not_refused() -> None:
    """A wire of 10 m and 0.1 mm on a ball joint, and a speck of dust on a long arm."""
    system = nx.System("wire")
    I = 1e-4 * 100 / 12
    wire = system.add_body("wire", mass=1e-4, inertia=(I, 0.5e-4 * 1e-8, I), com=(0, 5, 0))
    speck = system.add_body("speck", mass=1e-15, inertia=(1e-27, 1e-27, 1e-27), position=(0, 10, 0))
    system.add_joint(nx.Spherical("ball", system.ground, wire, at=(0, 0, 0)))
    system.add_joint(nx.Revolute("pin", wire, speck, at=(0, 10, 0), axis=(1, 0, 0)))
    assert nx.simulate(system, 1e-3).recording.steps == 1


@pytest.mark.parametrize("dynamics", ["aba", "crba"])
def test_outermost_joint_without_inertia_is_the_one_that_is_named(dynamics: Any) -> None:
    system = pendulum()
    for name, at in (("first", 1.0), ("second", 2.0), ("third", 3.0)):
        body = system.add_body(name, mass=0.0 if name != "third" else 1.0, position=(at, 0, 0))
        parent = system.body({"first": "rod", "second": "first", "third": "rod"}[name])
        axis = (0, 1, 0) if name == "third" else (0, 0, 1)
        system.add_joint(nx.Revolute(f"to {name}", parent, body, at=(min(at, 2.0), 0, 0), axis=axis))
    with pytest.raises(nx.SingularError, match="joint 'to second' moves no inertia"):
        nx.simulate(system, 1.0, dynamics=dynamics)


def test_armature_is_inertia_enough() -> None:
    system = pendulum()
    ghost = system.add_body("ghost", position=(1, 0, 0))
    system.add_joint(nx.Revolute("loose", system.body("rod"), ghost, at=(1, 0, 0), axis=(0, 0, 1), armature=0.1))
    assert np.isfinite(nx.simulate(system, 0.1).recording.q).all()


# --- motion that is no longer finite ----------------------------------------------------------------------------------


def unstable(dt: float) -> dict[str, Any]:
    """A spring far too stiff for the step: the amplitude grows with every step."""
    system = nx.System("stiff", gravity=(0, 0, 0))
    still = system.add_body("still", mass=1.0)
    bob = system.add_body("bob", mass=1.0)
    system.add_joint(nx.Prismatic("rail", system.ground, still))
    system.add_joint(nx.Prismatic("spring", system.ground, bob, stiffness=1e8, q0=0.1))
    return {"system": system, "t_end": 100.0, "method": nx.RungeKutta4(dt)}


def test_blow_up_is_stopped_with_time_joint_and_body_and_what_was_reached_is_kept() -> None:
    with pytest.raises(
        nx.SolveError, match=r"no longer finite at t = .* s in joint 'spring' \(body 'bob'\); reduce dt"
    ) as caught:
        nx.simulate(**unstable(0.1))
    error = caught.value
    assert error.where == "bob"
    assert 0.0 < error.time < 100.0
    assert error.result is not None
    r = error.result.recording
    assert r.status == "failed"
    assert r.message == str(error)
    assert 0 < len(r.t) < 1000
    for recorded in (r.t, r.q, r.v, r.a):
        assert np.isfinite(recorded).all()
    assert r.t[-1] <= error.time


@pytest.mark.parametrize("method", [nx.ExplicitEuler(0.1), nx.SemiImplicitEuler(0.1)])
def test_blow_up_of_the_euler_methods_is_seen_too(method: Any) -> None:
    with pytest.raises(nx.SolveError, match="no longer finite") as caught:
        nx.simulate(**{**unstable(0.1), "method": method})
    assert np.isfinite(caught.value.result.recording.a).all()


def test_blow_up_in_a_controlled_step_keeps_the_steps_before() -> None:
    arguments = unstable(0.1)
    sim = nx.Simulation(arguments["system"], arguments["method"])
    with pytest.raises(nx.SolveError) as caught:
        for _ in range(1000):
            sim.step(0.1)
    r = caught.value.result.recording
    assert r.t[0] == 0.0
    assert len(r.t) > 2
    assert np.isfinite(r.q).all()


@numba.njit
def square(t, q, v):  # type: ignore[no-untyped-def]
    return v * v


def test_force_that_grows_without_bound_stops_the_adaptive_method_with_time_and_body() -> None:
    """v̇ = v² from v = 1 has its pole at t = 1."""
    system = nx.System("pole", gravity=(0, 0, 0))
    still, bob = system.add_body("still", mass=1.0), system.add_body("bob", mass=1.0)
    system.add_joint(nx.Prismatic("rail", system.ground, still))
    system.add_joint(nx.Prismatic("slide", system.ground, bob, v0=1.0))
    system.add_force(nx.UserJointForce("runaway", "slide", square))
    with pytest.raises(
        nx.SolveError, match=r"the step fell to .* at t = 1 s .* in joint 'slide' \(body 'bob'\)"
    ) as caught:
        nx.simulate(system, 2.0, nx.DormandPrince(1e-6, 1e-8))
    assert caught.value.time == pytest.approx(1.0, abs=1e-5)
    assert caught.value.where == "bob"
    r = caught.value.result.recording
    early = r.t < 0.99
    np.testing.assert_allclose(r.v[early, 1], 1.0 / (1.0 - r.t[early]), rtol=1e-3)


# --- interrupted ------------------------------------------------------------------------------------------------------


@contextmanager
def interrupted() -> Iterator[Any]:
    with pytest.warns(nx.NexDynWarning, match="interrupted at t = .*; the result holds what was reached") as caught:
        yield caught


@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-4), nx.DormandPrince(1e-10, 1e-12)])
def test_interrupt_from_the_progress_callback_keeps_the_result_and_the_run_can_go_on(method: Any) -> None:
    sim = nx.Simulation(pendulum(), method)

    def stop(t: float, t_end: float) -> None:
        assert t_end == 20.0
        raise KeyboardInterrupt

    with interrupted():
        result = sim.run(20.0, progress=stop)
    r = result.recording
    assert r.status == "interrupted"
    assert r.message.startswith("interrupted at t = ")
    assert 0.0 < r.t[-1] < 20.0
    assert r.t[-1] == sim.t
    assert r.steps == len(r.t) - 1
    whole = nx.simulate(pendulum(), 4.0, method).recording
    end = sim.run(4.0).recording
    np.testing.assert_allclose(end.q[-1], whole.q[-1], atol=1e-8)
    assert (np.diff(end.t) > 0).all()


def ctrl_c_after(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.skipif(os.name == "nt", reason="os.kill(SIGINT) ends the process on Windows")
def test_ctrl_c_keeps_all_that_was_reached_and_the_run_goes_on_to_the_bit() -> None:
    method = nx.RungeKutta4(2.0**-16)
    sim = nx.Simulation(pendulum(), method, output_every=64)
    sim.run(2.0**-10)  # compiled
    timer = ctrl_c_after(0.2)
    started = time.perf_counter()
    with interrupted():
        result = sim.run(1e5)
    assert time.perf_counter() - started < 5.0
    timer.join()
    r = result.recording
    assert r.status == "interrupted"
    assert r.t[-1] == sim.t == r.steps * 2.0**-16
    assert np.array_equal(r.q[-1], sim.q)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    # going on from there is the run that was never interrupted
    end = sim.t + 0.0625
    assert np.array_equal(sim.run(end).recording.q[-1], nx.simulate(pendulum(), end, method).recording.q[-1])


@pytest.mark.skipif(os.name == "nt", reason="os.kill(SIGINT) ends the process on Windows")
def test_ctrl_c_ends_a_controller_loop_with_a_whole_state() -> None:
    sim = nx.Simulation(pendulum(), nx.RungeKutta4(2.0**-12))
    sim.step(2.0**-12)
    timer = ctrl_c_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        while True:
            sim.step(2.0**-6)
    timer.join()
    r = sim.result().recording
    assert r.t[-1] == sim.t == r.steps * 2.0**-12
    assert np.array_equal(sim.q, nx.simulate(pendulum(), sim.t, nx.RungeKutta4(2.0**-12)).recording.q[-1])


def test_second_interrupt_does_not_wait() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts_wait() as check:
        signal.raise_signal(signal.SIGINT)
        reached = True
        signal.raise_signal(signal.SIGINT)
        check()
        pytest.fail("the second one waits")
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_interrupt_that_nothing_asked_for_comes_at_the_end() -> None:
    done = False
    with pytest.raises(KeyboardInterrupt), interrupts_wait():
        signal.raise_signal(signal.SIGINT)
        done = True
    assert done


def test_program_that_handles_interrupts_itself_is_left_alone() -> None:
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with interrupts_wait() as check:
            signal.raise_signal(signal.SIGINT)
            check()
        assert seen == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def test_runs_work_in_other_threads() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(nx.simulate(pendulum(), 0.1)))
    thread.start()
    thread.join()
    assert np.array_equal(found[0].recording.q, nx.simulate(pendulum(), 0.1).recording.q)


# --- dry friction under steps that are too long -----------------------------------------------------------------------


@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-3), nx.SemiImplicitEuler(1e-3), nx.Projection(1e-3)])
@pytest.mark.parametrize("damping", [0.0, 100.0])
def test_steps_too_long_for_a_bristle_are_advised_and_the_advice_holds(method: Any, damping: float) -> None:
    system = pendulum(v0=2.0)
    friction = {"sliding": 1.0, "static": 1.5, "stiffness": 1e5, "damping": damping}
    system.add_force(nx.JointFriction("brake", "hinge", **friction))
    with pytest.raises(
        nx.SolveError, match=r"the bristle of force 'brake' slides after .* 1e-05.* take HHT or"
    ) as told:
        nx.simulate(system, 0.3, method)
    assert "reduce dt = 0.001 s or its stiffness" in str(told.value) and told.value.result is not None
    fastest = 3.0
    short = type(method)(2.0e-5 / fastest / (1.0 + damping))
    with_short_steps = nx.simulate(system, 2e3 * short.dt, short)
    assert np.abs(with_short_steps.joint_velocity("hinge").values).max() < fastest


def wheel_on_a_bristle(inertia: float, **friction: float) -> nx.System:
    """A wheel that turns against dry friction, whose bristle gives by a millionth of a radian and is damped as hard."""
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, inertia))
    system.add_joint(nx.Revolute("axle", system.ground, "wheel", axis=(0, 0, 1), v0=5.0))
    system.add_force(nx.JointFriction("dry", "axle", sliding=5.0, stiffness=1e7, damping=1e4, **friction))
    return system


@pytest.mark.parametrize("inertia", [1.99, 0.6])
def test_a_bristle_that_a_motion_starts_on_unbent_does_not_drive_it_off(inertia: float) -> None:
    """At the start it is not bent, and its damping brakes with 50,000 N m, for a ten-millionth of a second.

    J ω = J ω₀ − σ₁ z_s − F_c t: what the damping takes in all while the bristle bends, and what sliding does."""
    expected = 5.0 - (1e4 * 5e-7 + 5.0 * 0.1) / inertia
    for dt in (1e-3, 1e-4):
        result = nx.simulate(wheel_on_a_bristle(inertia), 0.1, nx.HHT(dt=dt))
        speed = result.joint_velocity("axle").values
        assert speed[-1] == pytest.approx(expected, abs=1e-5)
        assert np.abs(speed - (5.0 - 5.0 * result.t.values / inertia)).max() < 1.5 * 5e-3 / inertia
        # the first instant is told as it is
        assert result.joint_acceleration("axle").values[0] == pytest.approx(-5e4 / inertia, rel=1e-9)
    adaptive = nx.simulate(wheel_on_a_bristle(inertia), 0.1, nx.HHT()).joint_velocity("axle").values
    assert adaptive[-1] == pytest.approx(expected, abs=2e-2)


@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-3), nx.RungeKutta4(1e-6), nx.Projection(1e-3)], ids=repr)
def test_a_run_that_bends_a_bristle_beyond_its_law_stops_although_its_numbers_are_finite(method: Any) -> None:
    with pytest.raises(
        nx.SolveError, match=r"the bristle of force 'dry' is bent by .* steps are too long .*HHT"
    ) as told:
        nx.simulate(wheel_on_a_bristle(1.99), 0.01, method)
    assert told.value.where == "dry" and told.value.result is not None
    assert told.value.result.recording.status == "failed"


def test_a_step_within_which_a_bristle_sticks_says_so_and_steps_of_its_own_pass() -> None:
    with pytest.raises(nx.SolveError, match="force 'dry' may stick or break away within the step: take HHT"):
        nx.simulate(wheel_on_a_bristle(0.01), 0.1, nx.HHT(dt=1e-3))
    result = nx.simulate(wheel_on_a_bristle(0.01), 0.1, nx.HHT())
    assert abs(result.joint_velocity("axle").values[-1]) < 1e-6


# --- limits -----------------------------------------------------------------------------------------------------------


def test_partitioned_coordinates_end_at_a_singular_pose_with_constant_steps_too() -> None:
    """They chose the same coordinates for the same step again and again."""
    with pytest.raises(
        nx.SolveError, match=r"no choice of independent coordinates serves here: a singular pose; use HHT"
    ) as told:
        nx.simulate(four_bars(), 2.0, nx.Partitioning(1e-3))
    assert 0.6 < told.value.time < 0.75 and told.value.result is not None


def test_what_the_page_of_limits_calls_refused_is_refused_by_name() -> None:
    loop = nx.load("four-bar")
    heavy = loop.with_parameters({f"{name}.armature": 0.1 for name in loop.joints})
    with pytest.raises(nx.InputError, match=r"joint 'C' \(revolute\) would be cut open, and only .* have armature"):
        nx.simulate(heavy, 0.1, nx.RungeKutta4(1e-3))
    assert nx.simulate(heavy, 0.01, nx.HHT(dt=1e-3)).status == "finished"
    with pytest.raises(
        nx.InputError, match=r"joint 'D' closes the loop ground . crank . coupler . rocker; .* nx.ClosedTree"
    ):
        nx.Tree(loop)
    assert nx.ClosedTree(loop).nq == 3
    long = nx.System("chain")
    for i in range(667):
        long.add_body(f"link{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(i + 0.5, 0, 0))
        parent = f"link{i - 1}" if i else "ground"
        long.add_joint(nx.Revolute(f"hinge{i}", parent, f"link{i}", at=(i, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(nx.InputError, match="667 bodies are more than its 666"):
        nx.inverse_kinematics(long, {"link666": (1.0, 0.0, 0.0)})
    with pytest.raises(nx.InputError, match="667 bodies are more than their 300; ask for the lowest modes"):
        nx.linearize(long)
    with pytest.raises(nx.InputError, match="'bicycle' moves, and modes are of a pose at rest"):
        nx.linearize(nx.load("bicycle"), modes=3)


def test_a_limit_without_a_stop_is_data() -> None:
    system = nx.System("drop", gravity=(0, 0, -9.81))
    system.add_body("weight", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("guide", "ground", "weight", axis=(0, 0, 1), limits=(-0.1, 0.1)))
    assert float(nx.simulate(system, 1.0).position("weight")[-1, 2]) == pytest.approx(-9.81 / 2, abs=1e-9)


@pytest.mark.parametrize(
    "method", [nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.ImplicitEuler(1e-3)], ids=["rk4", "hht", "euler"]
)
def test_more_samples_than_memory_holds_are_refused_before_the_run(method: nx.Method) -> None:
    system = nx.load("double-pendulum")
    with pytest.raises(
        nx.InputError,
        match=r"to record 1e\+13 times takes .* GB, and this machine has .*; record fewer, by output_every=10+ or",
    ):
        nx.simulate(system, 1e10, method)
