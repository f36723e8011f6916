"""Runs: what is recorded and when, starts and restarts, steps under a controller, the two ways to the acceleration."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import systems as S  # noqa: N812

import nexdyn as nx
from nexdyn.simulation import steps
from nexdyn.tree.observe import observe_motion

OMEGA = 3.0


def oscillator() -> nx.System:
    """A mass on a slide with a spring: x = sin(ωt)."""
    system = nx.System("oscillator", gravity=(0, 0, 0))
    mass = system.add_body("mass", mass=2.0)
    system.add_joint(nx.Prismatic("slide", system.ground, mass, stiffness=2.0 * OMEGA**2, v0=OMEGA))
    return system


def pendulums() -> nx.System:
    """Two hinges, a ball joint and a floating body: chaotic enough that a wrong bit shows."""
    system = nx.System("pendulums")
    a = system.add_body("a", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.5, 0, 0))
    b = system.add_body("b", mass=2.0, inertia=(0.1, 0.1, 0.15), position=(1.0, 0, 0.5))
    c = system.add_body("c", mass=0.5, inertia=(0.05, 0.02, 0.04), position=(1.0, 0, 1.5))
    system.add_body("stone", mass=1.0, inertia=(1, 2, 2.5), position=(0, 3, 0))
    system.add_joint(nx.Revolute("shoulder", system.ground, a, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("elbow", a, b, at=(1, 0, 0), axis=(0, 1, 0)))
    system.add_joint(nx.Spherical("ball", b, c, at=(1, 0, 1), v0=(0.1, 2.0, 3.0)))
    return system


SPIN = {"stone": (0.3, 2.0, -1.0, 1.0, 0.0, 4.0)}


def same(a: nx.Result, b: nx.Result) -> bool:
    """Whether two runs recorded the same to the last bit."""
    x, y = a.recording, b.recording
    return all(np.array_equal(getattr(x, name), getattr(y, name)) for name in ("t", "q", "v", "a"))


def total_energy(result: nx.Result) -> np.ndarray:
    r = result.recording
    seen = observe_motion(nx.Tree(result.system), r.t, r.q, r.v, r.a)
    return seen.kinetic + seen.gravitational + seen.elastic


# --- what is recorded, and when ---------------------------------------------------------------------------------------


def test_every_step_is_recorded_at_its_exact_time() -> None:
    r = nx.simulate(oscillator(), 1.0, nx.RungeKutta4(1e-3)).recording
    np.testing.assert_array_equal(r.t[:-1], np.arange(1000) * 1e-3)
    assert r.t[-1] == 1.0
    assert r.steps == 1000
    assert r.status == "finished"
    assert (r.q.shape, r.v.shape, r.a.shape) == ((1001, 1), (1001, 1), (1001, 1))
    np.testing.assert_allclose(r.q[:, 0], np.sin(OMEGA * r.t), atol=1e-11)
    np.testing.assert_allclose(r.v[:, 0], OMEGA * np.cos(OMEGA * r.t), atol=1e-10)
    np.testing.assert_allclose(r.a[:, 0], -(OMEGA**2) * np.sin(OMEGA * r.t), atol=1e-10)


@pytest.mark.parametrize(
    ("t_end", "every", "times"),
    [
        (1.2, 5, [0.0, 0.5, 1.0, 1.2]),
        (1.0, 5, [0.0, 0.5, 1.0]),
        (1.25, 5, [0.0, 0.5, 1.0, 1.25]),
        (1.05, 5, [0.0, 0.5, 1.0, 1.05]),
        (0.05, 1, [0.0, 0.05]),
        (0.25, 1, [0.0, 0.1, 0.2, 0.25]),
        (0.25, 100, [0.0, 0.25]),
    ],
)
def test_every_nth_step_and_the_end_are_recorded(t_end: float, every: int, times: list[float]) -> None:
    r = nx.simulate(oscillator(), t_end, nx.RungeKutta4(0.1), output_every=every).recording
    np.testing.assert_allclose(r.t, times, atol=1e-15)
    assert r.t[-1] == t_end


def test_last_step_is_shorter_where_the_end_is_no_multiple_of_dt() -> None:
    r = nx.simulate(oscillator(), 0.98765, nx.RungeKutta4(1e-3)).recording
    assert (r.t[-1], r.steps) == (0.98765, 988)
    np.testing.assert_allclose(r.q[:, 0], np.sin(OMEGA * r.t), atol=1e-11)


@pytest.mark.parametrize("method", [nx.RungeKutta4(0.1), nx.SemiImplicitEuler(0.1), nx.DormandPrince()])
def test_run_to_the_present_time_records_the_start_only(method: Any) -> None:
    r = nx.simulate(oscillator(), 0.0, method).recording
    assert (r.t.tolist(), r.q.tolist(), r.v.tolist(), r.steps) == ([0.0], [[0.0]], [[OMEGA]], 0)


def test_outputs_stand_exactly_at_the_times_asked_for_ends_included() -> None:
    times = np.unique([0.0, 1 / 3, 1e-7, *np.linspace(0.5, 0.5001, 40), 1.0, 2.0])
    r = nx.simulate(oscillator(), 2.0, nx.DormandPrince(1e-10, 1e-12), output_times=times).recording
    np.testing.assert_array_equal(r.t, times)
    np.testing.assert_allclose(r.q[:, 0], np.sin(OMEGA * times), atol=1e-8)
    np.testing.assert_allclose(r.v[:, 0], OMEGA * np.cos(OMEGA * times), atol=1e-8)
    np.testing.assert_allclose(r.a[:, 0], -(OMEGA**2) * np.sin(OMEGA * times), atol=1e-7)


def test_the_end_is_always_the_last_output() -> None:
    r = nx.simulate(oscillator(), 1.0, nx.DormandPrince(), output_times=[0.25, 0.5]).recording
    assert r.t.tolist() == [0.25, 0.5, 1.0]


def test_outputs_do_not_change_the_steps() -> None:
    plain = nx.simulate(pendulums(), 1.0, nx.DormandPrince(), v0=SPIN)
    dense = nx.simulate(pendulums(), 1.0, nx.DormandPrince(), v0=SPIN, output_times=np.linspace(0, 1, 1001))
    assert dense.recording.steps == plain.recording.steps == len(plain.recording.t) - 1
    assert np.array_equal(plain.recording.q[-1], dense.recording.q[-1])


@pytest.mark.parametrize("every", [2, 3, 7, 10**6])
def test_every_nth_adaptive_step_is_recorded(every: int) -> None:
    full = nx.simulate(oscillator(), 3.0, nx.DormandPrince()).recording
    some = nx.simulate(oscillator(), 3.0, nx.DormandPrince(), output_every=every).recording
    assert some.t.tolist() == [*full.t[:-1][::every], 3.0]
    assert some.steps == full.steps


def test_acceleration_is_that_of_the_equations_of_motion() -> None:
    system = S.random_system(3, S.MOVING)
    tree, rng = nx.Tree(system), np.random.default_rng(1)
    start = {"q0": tree.random(rng), "v0": rng.normal(size=tree.nv)}
    for options in ({}, {"dynamics": "crba"}):
        r = nx.simulate(system, 0.2, nx.RungeKutta4(0.01), **start, **options).recording
        np.testing.assert_allclose(r.a, tree.aba(r.q, r.v, np.zeros(tree.nv)), rtol=1e-9, atol=1e-9)


# --- the same whatever the crossings into compiled code ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (nx.RungeKutta4(1e-3), {}),
        (nx.RungeKutta4(3e-3), {"output_every": 7}),
        (nx.SemiImplicitEuler(1e-3), {"output_every": 3}),
        (nx.DormandPrince(1e-6, 1e-8), {}),
        (nx.DormandPrince(1e-6, 1e-8), {"output_every": 5}),
        (nx.DormandPrince(1e-6, 1e-8), {"output_times": np.linspace(0.1, 0.5, 77)}),
    ],
)
def test_results_are_the_same_bits_however_the_loop_is_sliced(
    method: Any, options: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = nx.simulate(pendulums(), 0.5, method, v0=SPIN, **options)
    for seconds, rows in ((0.0, 4096), (1e-6, 2), (1e9, 3)):
        monkeypatch.setattr(steps, "SLICE", seconds)
        monkeypatch.setattr(steps, "ROWS", rows)
        assert same(nx.simulate(pendulums(), 0.5, method, v0=SPIN, **options), whole)


@pytest.mark.parametrize("method", [nx.RungeKutta4(2e-3), nx.SemiImplicitEuler(2e-3)], ids=lambda method: method.name)
def test_output_times_between_constant_steps_are_of_the_method_and_leave_its_steps_alone(method: Any) -> None:
    """A shorter step from the last whole one, taken back: as a run that ends there."""
    times = np.array([0.0, 0.0413, 0.1, 0.1001, 0.25, 0.4999])
    told = nx.simulate(pendulums(), 0.5, method, v0=SPIN, output_times=times)
    plain = nx.simulate(pendulums(), 0.5, method, v0=SPIN)
    np.testing.assert_array_equal(told.recording.t, [*times, 0.5])
    np.testing.assert_allclose(told.recording.q[-1], plain.recording.q[-1], rtol=0, atol=1e-13)
    assert told.recording.steps == plain.recording.steps
    for t, q, v in zip(times[1:], told.recording.q[1:], told.recording.v[1:], strict=False):
        there = nx.simulate(pendulums(), float(t), method, v0=SPIN).recording
        np.testing.assert_allclose(q, there.q[-1], rtol=0, atol=1e-13)
        np.testing.assert_allclose(v, there.v[-1], rtol=0, atol=1e-12)


def test_runs_are_deterministic_and_independent_of_each_other() -> None:
    system = pendulums()
    first, second = nx.Simulation(system, v0=SPIN), nx.Simulation(system, v0=SPIN)
    for sim in (first, second, first, second):
        sim.step(0.01)
    assert same(first.result(), second.result())
    assert same(first.run(0.1), second.run(0.1))


def test_progress_is_told_up_to_the_end() -> None:
    for method in (nx.RungeKutta4(1e-4), nx.DormandPrince()):
        seen: list[tuple[float, float]] = []
        nx.simulate(oscillator(), 1.00003, method, progress=lambda t, t_end, seen=seen: seen.append((t, t_end)))
        times = [t for t, _ in seen]
        assert times == sorted(times)
        assert seen[-1] == (1.00003, 1.00003)


# --- where it starts --------------------------------------------------------------------------------------------------


def test_start_by_array_by_names_and_by_attributes_of_the_joints_is_the_same() -> None:
    q0, v0 = [0.3, -0.2], [1.0, 2.0]

    def chain(**options: Any) -> nx.System:
        system = nx.System("chain")
        a = system.add_body("a", mass=1.0, position=(1, 0, 0))
        b = system.add_body("b", mass=1.0, position=(2, 0, 0))
        first, second = options.get("first", {}), options.get("second", {})
        system.add_joint(nx.Revolute("first", system.ground, a, at=(0, 0, 0), axis=(0, 1, 0), **first))
        system.add_joint(nx.Revolute("second", a, b, at=(1, 0, 0), axis=(0, 1, 0), **second))
        return system

    by_array = nx.simulate(chain(), 0.1, q0=q0, v0=np.array(v0))
    by_name = nx.simulate(chain(), 0.1, q0={"first": 0.3, "second": [-0.2]}, v0={"second": 2.0, "first": 1.0})
    by_joint = nx.simulate(chain(first={"q0": 0.3, "v0": 1.0}, second={"q0": -0.2, "v0": 2.0}), 0.1)
    assert same(by_array, by_name)
    assert same(by_array, by_joint)
    assert by_array.recording.q[0].tolist() == q0
    # what is given by name goes before what the joint says
    mixed = nx.simulate(
        chain(first={"q0": 9.0}, second={"q0": -0.2, "v0": 2.0}), 0.1, q0={"first": 0.3}, v0={"first": 1.0}
    )
    assert same(by_array, mixed)


def anchored(kind: str, gap: float = 0.0, twist: float = 0.0) -> tuple[nx.System, np.ndarray]:
    """A joint given by anchors and axes whose two sides stand apart by what its freedoms allow, plus `gap` across z."""
    rng = np.random.default_rng(5)
    q = S.joint_pose  # X_J(q)
    own = rng.normal(size=nx.joints.JOINTS[kind].nq) * 0.8
    if kind in S.QUATERNION:
        own[:4] /= np.linalg.norm(own[:4])
        own[:4] *= np.sign(own[0])
    R_J, p_J = q(kind, own, 0.3)
    X_A, X_B = S.somewhere(rng), {"anchor_b": rng.normal(size=3), "axis_b": S.unit(rng, 3)}
    reference_b = np.cross(X_B["axis_b"], S.unit(rng, 3))
    R_WA, p_WA = nx.spatial.rotations.rotation_matrix(X_A["orientation"]), X_A["position"]
    anchor_a, axis_a = rng.normal(size=3), S.unit(rng, 3)
    reference_a = np.cross(axis_a, S.unit(rng, 3))
    frame = nx.spatial.rotations.frame_from_z
    R_WJ, p_WJ = R_WA @ frame(axis_a, reference_a), p_WA + R_WA @ anchor_a
    R_WB = (
        R_WJ @ R_J @ nx.spatial.rotations.rotation_about((1.0, 0.0, 0.0), twist) @ frame(X_B["axis_b"], reference_b).T
    )
    p_WB = p_WJ + R_WJ @ p_J + gap * R_WJ @ R_J[:, 0] - R_WB @ X_B["anchor_b"]
    system = nx.System("anchored", gravity=(0, 0, 0))
    a = system.add_body("a", mass=1.0, inertia=(1, 1, 1), **X_A)
    orientation = nx.spatial.rotations.quaternion(R_WB)
    b = system.add_body("b", mass=1.0, inertia=(1, 1, 1), position=p_WB, orientation=orientation)
    axes = {"anchor_a": anchor_a, "axis_a": axis_a, "reference_a": reference_a, "reference_b": reference_b, **X_B}
    pitch = {"pitch": 0.3} if kind == "helical" else {}
    system.add_joint(nx.joints.JOINTS[kind]("joint", a, b, **axes, **pitch))
    return system, own


@pytest.mark.parametrize("kind", S.MOVING)
def test_described_pose_of_anchored_joints_is_where_the_motion_starts(kind: str) -> None:
    system, own = anchored(kind)
    tree = nx.Tree(system)
    q = nx.simulate(system, 0.0).recording.q[0]
    found = q[tree.coordinates["joint"].q]
    if kind in S.QUATERNION:
        found[:4] *= np.sign(found[0])
    np.testing.assert_allclose(found, own, atol=1e-12)
    for name, body in system.bodies.items():
        R, p = tree.pose(q, name)
        R_WB, p_WB = body.pose({})
        np.testing.assert_allclose(R, R_WB, atol=1e-12)
        np.testing.assert_allclose(p, p_WB, atol=1e-12)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "universal", "spherical", "helical", "cylindrical"])
def test_open_joint_is_named_with_its_gap(kind: str) -> None:
    system, _ = anchored(kind, gap=0.05)
    with pytest.warns(
        nx.NexDynWarning, match=r"joint 'joint' stays open by 0\.05 m and .* as described; closed by moving the child"
    ):
        nx.simulate(system, 0.0)
    # nothing to say where the coordinates are given
    nx.simulate(system, 0.0, q0={"joint": nx.Tree(system).neutral()[nx.Tree(system).coordinates["joint"].q]})
    nx.simulate(system, 0.0, q0=nx.Tree(system).neutral())


def test_twisted_joint_is_named_with_its_angle() -> None:
    system, _ = anchored("prismatic", twist=0.1)
    with pytest.warns(nx.NexDynWarning, match=r"'joint' stays open by .* m and 0\.1 rad"):
        nx.simulate(system, 0.0)


# --- going on ---------------------------------------------------------------------------------------------------------


def test_run_goes_on_from_a_result_to_the_bit() -> None:
    system = pendulums()
    v0 = {**SPIN, "ball": (0, 0, 0), "shoulder": 1.0}
    method = nx.RungeKutta4(2.0**-10)
    whole = nx.simulate(system, 1.0, method, v0=v0).recording
    half = nx.simulate(system, 0.5, method, v0=v0)
    rest = nx.simulate(system, 1.0, method, initial=half).recording
    assert (rest.t[0], rest.t[-1], rest.steps) == (0.5, 1.0, 512)
    np.testing.assert_array_equal(rest.t, whole.t[512:])
    np.testing.assert_allclose(rest.q, whole.q[512:], rtol=0, atol=1e-13)
    np.testing.assert_allclose(rest.v, whole.v[512:], rtol=0, atol=1e-13)
    hinges = nx.Tree(system).coordinates["shoulder"].q
    assert np.array_equal(rest.q[:1], whole.q[512:513]) or np.array_equal(rest.q[0, hinges], whole.q[512, hinges])


def test_run_goes_on_from_a_file_as_from_the_result(tmp_path: Path) -> None:
    half = nx.simulate(pendulums(), 0.25, v0=SPIN)
    half.save(tmp_path / "half.nc")
    from_file = nx.simulate(pendulums(), 0.5, initial=nx.open_result(tmp_path / "half.nc"))
    assert same(from_file, nx.simulate(pendulums(), 0.5, initial=half))


def test_restart_takes_other_values_where_they_are_given() -> None:
    half = nx.simulate(oscillator(), 0.5)
    again = nx.simulate(oscillator(), 0.6, initial=half, v0={"slide": 0.0}).recording
    assert again.q[0] == half.recording.q[-1]
    assert again.v[0] == 0.0


def test_one_simulation_runs_in_legs_as_in_one_go() -> None:
    method = nx.RungeKutta4(2.0**-8)
    sim = nx.Simulation(pendulums(), method, v0=SPIN)
    sim.run(0.25)
    sim.run(0.25)
    legs = sim.run(1.0)
    assert same(legs, nx.simulate(pendulums(), 1.0, method, v0=SPIN))
    assert legs.recording.steps == 256
    assert sim.t == 1.0
    assert np.array_equal(sim.q, legs.recording.q[-1])
    assert np.array_equal(sim.v, legs.recording.v[-1])
    assert np.array_equal(sim.a, legs.recording.a[-1])


def test_adaptive_legs_meet_the_tolerance_of_one_go() -> None:
    method = nx.DormandPrince(1e-10, 1e-12)
    sim = nx.Simulation(pendulums(), method, v0=SPIN)
    for t in (0.1, 0.5, 0.500001, 1.0):
        legs = sim.run(t).recording
    assert (np.diff(legs.t) > 0).all()
    np.testing.assert_allclose(legs.q[-1], nx.simulate(pendulums(), 1.0, method, v0=SPIN).recording.q[-1], atol=1e-7)


# --- a controller in the loop -----------------------------------------------------------------------------------------


def pendulum(**options: Any) -> nx.System:
    system = nx.System("pendulum", gravity=(0, -9.81, 0))
    rod = system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 0, 1), **options))
    return system


def test_pd_controller_with_gravity_compensation_brings_the_pendulum_to_its_goal() -> None:
    system = pendulum()
    tree = nx.Tree(system)
    sim = nx.Simulation(system)
    goal = 0.8
    while sim.t < 5.0:
        sim.step(0.01, u=tree.gravity(sim.q) + 20.0 * (goal - sim.q) - 5.0 * sim.v)
    assert abs(sim.q[0] - goal) < 1e-4
    assert abs(sim.v[0]) < 1e-3
    r = sim.result().recording
    assert r.t[0] == 0.0
    np.testing.assert_allclose(r.t, np.arange(len(r.t)) * 0.01, atol=1e-12)
    assert r.steps == 10 * (len(r.t) - 1)


@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-3), nx.SemiImplicitEuler(1e-3), nx.DormandPrince(1e-10, 1e-12)])
def test_steps_with_efforts_equal_the_same_efforts_as_a_force(method: Any) -> None:
    efforts = [3.0, -2.0, 0.5, 4.0]
    sim = nx.Simulation(pendulum(damping=0.2), method)
    for k, effort in enumerate(efforts):
        sim.step(0.1, {"hinge": effort} if k % 2 else [effort])
        assert sim.t == pytest.approx(0.1 * (k + 1), abs=1e-15)
    stepped = sim.result().recording
    assert stepped.t == pytest.approx(np.arange(5) * 0.1)

    driven: nx.Result | None = None
    for k, effort in enumerate(efforts):
        system = pendulum(damping=0.2)
        system.add_force(nx.JointForce("motor", "hinge", effort))
        driven = nx.simulate(system, 0.1 * (k + 1), method, initial=driven)
        np.testing.assert_allclose(stepped.q[k + 1], driven.recording.q[-1], atol=1e-9)
        np.testing.assert_allclose(stepped.v[k + 1], driven.recording.v[-1], atol=1e-9)
        np.testing.assert_allclose(stepped.a[k + 1], driven.recording.a[-1], atol=1e-8)


def test_step_with_a_function_of_time_equals_simulate() -> None:
    system = pendulum()
    system.add_force(nx.JointForce("motor", "hinge", "=5*sin(7*t)"))
    sim = nx.Simulation(system)
    for _ in range(100):
        sim.step(1e-3)
    np.testing.assert_allclose(sim.q, nx.simulate(system, 0.1).recording.q[-1], atol=1e-13)


def test_long_step_is_divided_into_steps_of_the_method() -> None:
    sim = nx.Simulation(oscillator(), nx.RungeKutta4(1e-3))
    sim.step(0.9995)
    assert sim.result().recording.steps == 1000
    assert sim.result().recording.t.tolist() == [0.0, 0.9995]
    assert sim.q[0] == pytest.approx(np.sin(OMEGA * 0.9995), abs=1e-11)


def test_steps_and_runs_follow_each_other_and_all_is_recorded_once() -> None:
    sim = nx.Simulation(oscillator(), nx.RungeKutta4(0.125))
    sim.step(0.125)
    sim.run(0.5)
    sim.step(0.125)
    r = sim.run(1.0).recording
    assert r.t.tolist() == [0.125 * k for k in range(9)]
    assert same(sim.result(), nx.simulate(oscillator(), 1.0, nx.RungeKutta4(0.125)))


def test_run_is_without_the_efforts_of_the_last_step() -> None:
    sim = nx.Simulation(oscillator(), nx.RungeKutta4(1e-3))
    sim.step(0.1, [0.0])
    sim.step(0.1, [50.0])
    q, v = sim.q[0], sim.v[0]
    r = sim.run(1.0).recording
    tau = OMEGA * 0.8
    assert r.q[-1, 0] == pytest.approx(q * np.cos(tau) + v / OMEGA * np.sin(tau), abs=1e-9)


@pytest.mark.parametrize(
    ("dt", "u", "message"),
    [
        (0.0, None, "dt of step is 0; it must be finite and greater than 0"),
        (-1.0, None, "dt of step"),
        (np.nan, None, "dt of step"),
        (0.1, [1.0, 2.0], "u has 2 numbers; 1 number is needed, in the order of Tree.joint_names"),
        (0.1, {"hing": 1.0}, r"u: no moving joint 'hing'; did you mean 'hinge'\?"),
        (0.1, {"hinge": [1.0, 2.0]}, "u of joint 'hinge' has 2 numbers; 1 number is needed"),
        (0.1, [np.nan], "u is .* must be finite"),
        (0.1, "full", "u is 'full'; 1 numbers are needed"),
    ],
)
def test_step_refuses_what_is_no_step_or_effort(dt: float, u: Any, message: str) -> None:
    sim = nx.Simulation(pendulum())
    with pytest.raises(nx.InputError, match=message):
        sim.step(dt, u)
    assert sim.t == 0.0


# --- the two ways to the acceleration, mimic joints -------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_motion_by_factorisation_is_that_by_articulated_bodies(seed: int) -> None:
    system = S.random_system(seed, [*S.KINDS, *reversed(S.KINDS)], roots=2, floating=seed - 1)
    tree, rng = nx.Tree(system), np.random.default_rng(4)
    start = {"q0": tree.random(rng), "v0": 0.3 * rng.normal(size=tree.nv)}
    aba, crba = (
        nx.simulate(system, 0.2, nx.RungeKutta4(0.002), dynamics=way, **start).recording for way in ("aba", "crba")
    )
    np.testing.assert_allclose(crba.q, aba.q, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(crba.v, aba.v, rtol=1e-6, atol=1e-6)


def test_mimic_joints_follow_in_motion_and_energy_stays() -> None:
    system = S.mimicking(8)
    tree, rng = nx.Tree(system), np.random.default_rng(4)
    start = {"q0": tree.random(rng), "v0": 0.3 * rng.normal(size=tree.nv)}
    result = nx.simulate(system, 1.0, nx.DormandPrince(1e-10, 1e-10), **start)
    r = result.recording
    energy = total_energy(result)
    assert np.ptp(energy) < 1e-7 * np.abs(energy).max()
    # what a follower does, seen on the bodies themselves
    full = tree.coupling.full_q(r.q)
    assert full.shape[1] > r.q.shape[1]
    for k in (0, len(r.t) // 2, -1):
        expected = S.poses(tree, r.q[k])
        for body in system.bodies:
            np.testing.assert_allclose(tree.pose(r.q[k], body)[1], expected[body][1], atol=1e-10)


def test_mimic_joints_share_damping_stiffness_and_forces_by_the_principle_of_virtual_power() -> None:
    """Two slides, y = −2 x: (m + 4 m) ẍ = −k x − 4 d ẋ + F_x − 2 F_y."""
    system = nx.System("coupled", gravity=(0, 0, 0))
    a, b = system.add_body("a", mass=1.0), system.add_body("b", mass=1.0)
    system.add_joint(nx.Prismatic("x", system.ground, a, stiffness=3.0, q0=0.1))
    system.add_joint(nx.Prismatic("y", system.ground, b, damping=0.5, mimic=nx.Mimic("x", -2.0)))
    system.add_force(nx.JointForce("on x", "x", 1.0))
    system.add_force(nx.JointForce("on y", "y", 0.25))
    r = nx.simulate(system, 1.0).recording
    np.testing.assert_allclose(r.a, (-3.0 * r.q - 4 * 0.5 * r.v + 1.0 - 0.5) / 5.0, atol=1e-12)


# --- degenerate systems -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [nx.RungeKutta4(0.25), nx.DormandPrince()])
def test_system_without_freedoms_stands_still(method: Any) -> None:
    system = nx.System("statue")
    stone = system.add_body("stone", mass=1.0)
    system.add_joint(nx.Fixed("foot", system.ground, stone))
    r = nx.simulate(system, 1.0, method).recording
    assert (r.t[0], r.t[-1], r.q.shape[1], r.v.shape[1]) == (0.0, 1.0, 0, 0)


def test_recording_says_how_it_was_made() -> None:
    r = nx.simulate(oscillator(), 0.01, nx.RungeKutta4(1e-3)).recording
    assert dataclasses.is_dataclass(r)
    assert r.method == "RungeKutta4(dt=0.001)"
    assert (r.status, r.message) == ("finished", "")
    assert 0.0 < r.wall_time < 60.0
