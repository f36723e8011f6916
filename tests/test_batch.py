"""Batches: many systems in one run, each as it would run alone, whoever its neighbours are."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import systems

import nexdyn as nx
from nexdyn.batch import lanes as batch_run
from nexdyn.batch import simulation as batch_simulation
from nexdyn.errors import FileError, InputError, SolveError, UnknownNameError
from nexdyn.spatial.lanes import LANES
from nexdyn.tree.threads import cores, pool

MEMBERS = 2 * LANES + 3
DT, END = 1e-3, 0.0305  # with a step that is shorter than the others


def pendulum(damping: float = 0.1) -> nx.System:
    """Two links, a spring to the ground and a motor that follows a wave."""
    system = nx.System("pendulum", gravity=(0, 0, -9.81))
    system.parameter("L", 0.5)
    upper = system.add_body("upper", mass=1.0, inertia=(0.02, 0.02, 0.001), position=(0, 0, "=-L/2"))
    lower = system.add_body("lower", mass=0.7, inertia=(0.02, 0.02, 0.001), position=(0, 0, "=-3*L/2"))
    system.add_joint(nx.Revolute("hinge", system.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), damping=damping))
    system.add_joint(nx.Revolute("elbow", upper, lower, at=(0, 0, "=-L"), axis=(0, 1, 0), q0=0.2))
    system.add_force(nx.PointSpring("spring", "lower", "ground", stiffness=20.0, length=0.3, at_b=(1, 0, 0)))
    system.add_force(nx.JointForce("motor", "elbow", nx.Harmonic(0.5, 2.0)))
    system.add_measure(nx.PointPosition("tip", "lower"))
    return system


def plain() -> nx.System:
    """The same without forces, and a floating body beside it."""
    system = nx.System("plain", gravity=(0, 0, -9.81))
    upper = system.add_body("upper", mass=1.0, inertia=(0.02, 0.03, 0.01), position=(0, 0, -0.5))
    system.add_body("stone", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(1, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), damping=0.1))
    return system


def breaking(compiled: bool = True) -> nx.System:
    """The same with a spring of the user's that raises beyond 1 rad."""
    import numba

    def spring(t, q, v):  # type: ignore[no-untyped-def]
        if q > 1.0:
            raise ValueError("it broke")
        return -10.0 * q

    system = plain()
    system.add_force(nx.UserJointForce("spring", "hinge", numba.njit(spring) if compiled else spring))
    return system


def starts(system: nx.System, count: int = MEMBERS, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    tree, rng = nx.Tree(system), np.random.default_rng(seed)
    return np.array([tree.random(rng) for _ in range(count)]), rng.normal(size=(count, tree.nv))


def same_to(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    for name in ("t", "q", "v", "a"):
        x, y = getattr(found.recording, name), getattr(expected.recording, name)
        np.testing.assert_allclose(x, y, rtol=0.0, atol=tolerance * max(1.0, np.abs(y).max()), err_msg=name)


# --- each member is what it is alone ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [nx.RungeKutta4(DT), nx.SemiImplicitEuler(DT), nx.ExplicitEuler(DT)], ids=repr)
@pytest.mark.parametrize("every", [1, 7])
def test_members_agree_with_runs_of_their_own(method: Any, every: int) -> None:
    system = pendulum()
    q0, v0 = starts(system)
    together = nx.simulate(system, END, method, batch=nx.Batch(q0=q0, v0=v0), output_every=every)
    assert (together.members, together.failures, together.status) == (MEMBERS, {}, "finished")
    for m in range(0, MEMBERS, 5):
        alone = nx.simulate(system, END, method, q0=q0[m], v0=v0[m], output_every=every)
        same_to(together.member(m), alone)
        assert together.recording.steps == alone.recording.steps


def test_quaternions_are_recentred_in_every_lane() -> None:
    system = plain()
    q0, v0 = starts(system)
    together = nx.simulate(system, 0.5, nx.RungeKutta4(0.01), batch={"q0": q0, "v0": 5.0 * v0})
    for m in (0, LANES, MEMBERS - 1):
        same_to(together.member(m), nx.simulate(system, 0.5, nx.RungeKutta4(0.01), q0=q0[m], v0=5.0 * v0[m]))
    place = nx.Tree(system).coordinates["stone"].q.start
    q = together.joint_position().values[..., place : place + 4]
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, rtol=0, atol=1e-14)


def test_coupled_joints_march_too() -> None:
    tree = systems.trees()["mimic"]
    system, rng = tree.system, np.random.default_rng(8)
    q0 = np.array([tree.random(rng) for _ in range(3)])
    together = nx.simulate(system, 0.02, nx.RungeKutta4(DT), batch={"q0": q0})
    for m in range(3):
        same_to(together.member(m), nx.simulate(system, 0.02, nx.RungeKutta4(DT), q0=q0[m]), 1e-11)


def test_a_member_has_the_same_bits_in_any_batch_on_any_number_of_threads() -> None:
    system, method = pendulum(), nx.RungeKutta4(DT)
    q0, v0 = starts(system)
    parameters = {"upper.mass": np.linspace(1.0, 2.0, MEMBERS), "L": np.linspace(0.4, 0.6, MEMBERS)}

    def rows(members: list[int], threads: int | None = None, named: bool = True) -> np.ndarray:
        batch = nx.Batch(
            q0[members], v0[members], {name: x[members] for name, x in parameters.items()} if named else None
        )
        return nx.simulate(system, END, method, batch=batch, threads=threads).recording.rows

    for named in (False, True):
        whole = rows(list(range(MEMBERS)), named=named)
        for members in ([0], [MEMBERS - 1], [5, 2], list(range(LANES + 1))):
            np.testing.assert_array_equal(rows(members, named=named), whole[members])
        for threads in (1, 2):
            np.testing.assert_array_equal(rows(list(range(MEMBERS)), threads, named), whole)
    # nor does it matter whether a parameter was named
    one = nx.simulate(system, END, method, batch=nx.Batch(q0[:1], v0[:1], {"upper.mass": [1.0]})).recording.rows
    np.testing.assert_array_equal(one, rows([0], named=False))


def test_members_may_differ_in_named_parameters() -> None:
    system, method = pendulum(), nx.RungeKutta4(DT)
    parameters = {
        "upper.mass": [1.0, 2.0, 3.0], "L": [0.4, 0.5, 0.6], "spring.stiffness": [0.0, 10.0, 30.0], "hinge.damping": [0, 0, 2],
        "motor.effort": [1.0, "=t", "=3*sin(40*t)"], "gravity": [(0, 0, -9.81), (1, 0, -9.81), (0, 0, 0)],
    }  # fmt: skip
    together = nx.simulate(system, END, method, batch={"parameters": parameters})
    for m in range(3):
        own = system.with_parameters({name: values[m] for name, values in parameters.items()})
        same_to(together.member(m), nx.simulate(own, END, method))
    assert together.joint_position("elbow").coords["L"].values.tolist() == [0.4, 0.5, 0.6]
    assert together.member(2).system.values["L"] == 0.6


def test_members_may_differ_in_their_inputs() -> None:
    system, rng = pendulum(), np.random.default_rng(4)
    tree, steps = nx.Tree(system), 31
    held = rng.normal(size=(3, steps, 2))
    together = nx.simulate(system, END, nx.RungeKutta4(DT), batch={"inputs": held})
    by_joint = nx.simulate(
        system, END, nx.RungeKutta4(DT), batch={"inputs": {"hinge": held[..., 0], "elbow": held[..., 1]}}
    )
    np.testing.assert_array_equal(together.recording.rows, by_joint.recording.rows)
    for m in range(3):
        alone = nx.Simulation(system, nx.RungeKutta4(DT))
        for k in range(steps):
            alone.step(DT if k < 30 else END - 30 * DT, held[m, k])
        q, v = together.member(m).recording.q, together.member(m).recording.v
        np.testing.assert_allclose(q[-1], alone.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(v[-1], alone.v, rtol=0, atol=1e-12)
    constant = nx.simulate(system, END, nx.RungeKutta4(DT), batch={"inputs": [[1.0, 0.0], [0.0, 0.0]]})
    assert constant.member(0).not_conservative[-1] == "efforts given to Simulation.step"
    np.testing.assert_array_equal(
        constant.recording.rows[1], nx.simulate(system, END, nx.RungeKutta4(DT), batch={"v0": np.zeros((1, tree.nv))}).recording.rows[0]
    )  # fmt: skip


def test_a_batch_goes_on_from_a_result() -> None:
    system, method = pendulum(), nx.RungeKutta4(DT)
    first = nx.simulate(system, 0.01, method)
    together = nx.simulate(system, 0.02, method, initial=first, batch={"v0": {"hinge": [0.0, 1.0]}})
    alone = nx.simulate(system, 0.02, method, initial=first, v0={"hinge": 1.0})
    assert together.t.values[0] == 0.01
    same_to(together.member(1), alone)


def test_other_methods_run_member_by_member() -> None:
    system, times = pendulum(), [0.0, 0.01, 0.02]
    q0, _ = starts(system, 3)
    together = nx.simulate(system, 0.02, nx.DormandPrince(), batch={"q0": q0}, output_times=times)
    alone = nx.simulate(system, 0.02, nx.DormandPrince(), q0=q0[2], output_times=times)
    np.testing.assert_array_equal(together.joint_position().values[2], alone.joint_position().values)
    with pytest.raises(InputError, match="different times"):
        nx.simulate(system, 0.2, nx.DormandPrince(), batch={"q0": q0})


def test_closed_loops_run_member_by_member() -> None:
    system, method = nx.load("four-bar"), nx.HHT(dt=2e-3, solver="lu")
    name = next(iter(system.bodies))
    together = nx.simulate(system, 0.01, method, batch={"parameters": {f"{name}.mass": [1.0, 2.0]}})
    for m, mass in enumerate((1.0, 2.0)):
        alone = nx.simulate(system.with_parameters({f"{name}.mass": mass}), 0.01, method)
        np.testing.assert_array_equal(together.position(name).values[m], alone.position(name).values)


# --- what fails ---------------------------------------------------------------------------------------------------


def test_a_member_that_fails_is_told_and_the_rest_run() -> None:
    system, method = pendulum(), nx.RungeKutta4(DT)
    q0, v0 = starts(system)
    sound = nx.simulate(system, END, method, batch=nx.Batch(q0, v0))
    spoilt_q, spoilt_v = q0.copy(), v0.copy()
    spoilt_q[1, 0], spoilt_v[LANES, 1] = np.nan, 1e200
    result = nx.simulate(system, END, method, batch=nx.Batch(spoilt_q, spoilt_v))
    assert list(result.failures) == [1, LANES]
    assert "must be finite" in result.failures[1]
    assert "the motion is no" in result.failures[LANES]
    assert "in joint 'hinge'" in result.failures[LANES] or "in joint 'elbow'" in result.failures[LANES]
    assert result.status == "finished"
    others = [m for m in range(MEMBERS) if m not in result.failures]
    np.testing.assert_array_equal(result.recording.rows[others], sound.recording.rows[others])
    assert np.isnan(result.recording.rows[1]).all()
    with pytest.raises(SolveError, match=r"member 1: q0 is \[ *nan"):
        result.member(1)
    assert np.isnan(result.position("lower").values[1]).all()
    assert np.isfinite(result.position("lower").values[others]).all()


def test_a_member_that_fails_on_the_way_keeps_what_it_reached() -> None:
    system = pendulum(damping=0.1)
    method = nx.ExplicitEuler(0.01)
    # damping far beyond what the step can follow: the motion grows until it is no number
    batch = {"parameters": {"hinge.damping": [0.1, 2e3, 0.1]}, "v0": {"hinge": [1.0, 1.0, 1.0]}}
    result = nx.simulate(system, 2.0, method, batch=batch)
    assert list(result.failures) == [1]
    with pytest.raises(SolveError) as alone:
        nx.simulate(system.with_parameters({"hinge.damping": 2e3}), 2.0, method, v0={"hinge": 1.0})
    assert alone.value.result is not None
    reached = result.member(1)
    assert (reached.status, reached.message) == ("failed", result.failures[1])
    same_to(reached, alone.value.result)
    assert result.failure_times[1] == pytest.approx(alone.value.time)
    assert np.isnan(result.joint_position("hinge").values[1, len(reached.t) :]).all()
    assert np.isfinite(result.joint_position("hinge").values[[0, 2]]).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_members_fail_alone_among_packs_that_march_together(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    together: list[int] = []
    march = batch_run.march_packs

    def noted(*arguments: Any) -> Any:
        together.append(len(arguments[-3]))  # a row of failures a pack
        return march(*arguments)

    monkeypatch.setattr(batch_run, "march_packs", noted)
    monkeypatch.setattr(batch_run, "SLICE", 1e9)
    system, method, count = pendulum(), nx.RungeKutta4(DT), 41 * LANES + 3
    q0, v0 = starts(system, count)
    v0[[17 * LANES + 2, count - 1]] = 1e160  # its square is no number
    v0[29 * LANES] = 1e150  # that of the next step
    q0[5] = np.nan
    result = nx.simulate(system, 0.03, method, batch=nx.Batch(q0=q0, v0=v0), threads=threads)
    assert list(result.failures) == [5, 17 * LANES + 2, 29 * LANES, count - 1]
    assert max(together) > 3
    for m in (17 * LANES + 2, count - 1):
        assert "the motion is not finite at t = 0 s in joint" in result.failures[m]
        assert np.isnan(result.recording.rows[m]).all()
    assert "the motion is no longer finite at t = 0 s in joint" in result.failures[29 * LANES]
    assert len(result.member(29 * LANES).t) == 1
    for m in set(range(0, count, 13)) - set(result.failures):
        alone = nx.simulate(system, 0.03, method, batch=nx.Batch(q0=q0[m : m + 1], v0=v0[m : m + 1]))
        np.testing.assert_array_equal(result.recording.rows[m], alone.recording.rows[0])


@pytest.mark.parametrize("system", [pendulum(), plain()], ids=["forces", "quaternions"])
def test_members_by_the_mass_matrix_move_as_by_aba(system: nx.System) -> None:
    q0, v0 = starts(system)
    by_aba, by_crba = (
        nx.simulate(system, 0.03, nx.RungeKutta4(DT), batch=nx.Batch(q0=q0, v0=v0), dynamics=dynamics)
        for dynamics in ("aba", "crba")
    )
    assert by_crba.failures == {}
    for m in (0, LANES, MEMBERS - 1):
        same_to(by_crba.member(m), by_aba.member(m), 1e-10)
        same_to(by_crba.member(m), nx.simulate(system, 0.03, nx.RungeKutta4(DT), q0=q0[m], v0=v0[m], dynamics="crba"))


def test_members_with_bad_parameters_or_without_inertia_fail_alone() -> None:
    result = nx.simulate(plain(), 0.01, nx.RungeKutta4(DT), batch={"parameters": {
        "upper.mass": [1.0, -1.0, 0.0, np.nan], "upper.inertia": [(1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1)],
    }})  # fmt: skip
    assert list(result.failures) == [1, 2, 3]
    assert "mass -1 kg is negative" in result.failures[1]
    assert "joint 'hinge' moves no inertia" in result.failures[2]
    assert "mass of body 'upper' is nan" in result.failures[3]
    assert result.to_dataset()["failure"].values[0] == ""


def test_what_a_function_raises_is_told() -> None:
    system = breaking()
    result = nx.simulate(system, 0.01, nx.RungeKutta4(DT), batch={"q0": {"hinge": [0.5, 1.5, 0.3]}}, threads=1)
    assert list(result.failures) == [1]
    assert "ValueError: it broke" in result.failures[1]
    same_to(result.member(2), nx.simulate(system, 0.01, nx.RungeKutta4(DT), q0={"hinge": 0.3}))


def test_what_a_function_raises_is_told_of_members_in_several_packs() -> None:
    system, count = breaking(), 10 * LANES
    q0, v0 = np.zeros(count), np.zeros(count)
    late, early = [LANES + 4, 5 * LANES + 4], [5 * LANES + 1, 8 * LANES]
    q0[late], v0[late], q0[early] = 0.995, 2.0, 1.5
    batch = nx.Batch(q0={"hinge": q0}, v0={"hinge": v0})
    result = nx.simulate(system, 0.01, nx.RungeKutta4(DT), batch=batch, threads=1)
    assert list(result.failures) == sorted(late + early)
    for m, cause in result.failures.items():
        assert f"raised ValueError: it broke at t = {0.002 if m in late else 0:g} s" in cause


def test_what_functions_raise_is_told_of_every_member_of_one_pack() -> None:
    """Two that raise in the same step, and two later: each is told its own error, with its own time."""
    system, count = breaking(), LANES
    q0, v0 = np.zeros(count), np.zeros(count)
    q0[:4], v0[:4] = 0.99, [10.0, 10.0, 3.0, 1.5]
    batch = nx.Batch(q0={"hinge": q0}, v0={"hinge": v0})
    result = nx.simulate(system, 0.01, nx.RungeKutta4(DT), batch=batch, threads=1)
    assert list(result.failures) == [0, 1, 2, 3]
    for m, cause in result.failures.items():
        assert "force 'spring' raised ValueError: it broke at t = " in cause
        with pytest.raises(SolveError, match="it broke") as alone:
            nx.simulate(system, 0.01, nx.RungeKutta4(DT), q0={"hinge": q0[m]}, v0={"hinge": v0[m]})
        assert abs(result.failure_times[m] - (alone.value.time or 0.0)) <= DT


ANY_METHOD = [
    nx.RungeKutta4(DT), nx.DormandPrince(), nx.HHT(dt=DT), nx.HHT(), nx.Projection(dt=DT), nx.Baumgarte(), nx.ImplicitEuler(DT),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*is plain Python")
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "Python"])
@pytest.mark.parametrize("method", ANY_METHOD, ids=repr)
def test_what_a_function_raises_is_told_of_a_member_under_every_kind_of_method(method: Any, compiled: bool) -> None:
    """With its own error and time, as in a run alone; the others go on."""
    system = breaking(compiled)
    at = {"output_times": [0.01, 0.02, END]}
    given = {"q0": {"hinge": [0.3, 0.95, 0.2]}, "v0": {"hinge": [0.0, 4.0, 0.0]}}
    batch = nx.simulate(system, END, method, batch=given, threads=1, **at)
    with pytest.raises(SolveError, match="force 'spring' raised ValueError: it broke at t = ") as alone:
        nx.simulate(system, END, method, q0={"hinge": 0.95}, v0={"hinge": 4.0}, **at)
    assert batch.failures == {1: str(alone.value)}
    assert batch.failure_times == {1: alone.value.time}
    assert batch.member(0).status == batch.member(2).status == "finished"


def test_a_batch_of_failures_alone_is_a_result_that_says_so() -> None:
    result = nx.simulate(plain(), 0.01, nx.RungeKutta4(DT), batch={"v0": np.full((2, 7), np.nan)})
    assert list(result.failures) == [0, 1]
    with pytest.raises(SolveError, match="no member of 'plain' started"):
        result.position("upper")


BAD = {
    "zero members": ({"q0": np.zeros((0, 2))}, "the batch has no members: q0 is empty"),
    "nothing": ({}, "says nothing of its members"),
    "one for all": ({"v0": [0.0, 1.0]}, "says nothing of its members"),
    "ragged": ({"q0": [[0.0, 1.0], [0.0]]}, r"q0 is ragged: member 0 has shape \(2,\), member 1 has \(1,\); \(members, 2\)"),
    "text": ({"q0": "fast"}, r"q0 is 'fast'; numbers \(members, 2\) are needed"),
    "shape": ({"q0": np.zeros((5, 3))}, r"q0 has shape \(5, 3\); \(members, 2\) is needed"),
    "deep": ({"q0": np.zeros((5, 2, 2))}, r"q0 has shape \(5, 2, 2\); \(members, 2\) is needed"),
    "counts": ({"q0": np.zeros((5, 2)), "v0": np.zeros((4, 2))}, r"has 5 members by one part.*: q0 5, v0 4; all must agree"),
    "parameter counts": ({"q0": np.zeros((5, 2)), "parameters": {"L": [1, 2]}}, r"q0 5, parameter 'L' 2"),
    "joint": ({"q0": {"hing": [1.0, 2.0]}}, "no moving joint 'hing'; did you mean 'hinge'"),
    "joint's shape": ({"q0": {"hinge": np.zeros((3, 2))}}, r"q0 of joint 'hinge' has shape \(3, 2\); \(members, 1\)"),
    "part": ({"q": np.zeros((5, 2))}, "no part of a batch 'q'; did you mean 'q0'"),
    "parameters": ({"parameters": [1, 2]}, "parameters of the batch are"),
    "steps": ({"inputs": np.zeros((2, 5, 2))}, r"inputs have 5 steps; the run takes 31, so \(members, 31, …\) is needed"),
    "inputs": ({"inputs": np.zeros((2, 31, 3))}, r"\(members, 2\) or \(members, steps, 2\) is needed"),
}  # fmt: skip


@pytest.mark.parametrize(("batch", "message"), BAD.values(), ids=BAD.keys())
def test_a_batch_of_wrong_shape_is_refused(batch: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        nx.simulate(pendulum(), END, nx.RungeKutta4(DT), batch=batch)


def test_names_that_nothing_carries_are_refused_for_all() -> None:
    with pytest.raises(UnknownNameError, match="uper"):
        nx.simulate(pendulum(), END, nx.RungeKutta4(DT), batch={"parameters": {"uper.mass": [1.0, 2.0]}})


@pytest.mark.parametrize(("options", "message"), [
    ({"batch": 3}, "batch is 3; an nx.Batch is needed"),
    ({"threads": 0}, "threads is 0"),
    ({"q0": (0, 0)}, "q0 is given together with batch"),
    ({"output_every": 0}, "output_every is 0"),
    ({"output_times": [0.5, 0.1]}, "output_times must increase"),
    ({"batch": None, "threads": 2}, "threads and store belong to a batch"),
    ({"batch": {"inputs": [[0.0, 0.0]]}, "method": nx.DormandPrince()}, r"together, and DormandPrince\(.*\) keeps them apart"),
    ({"t_end": -1.0}, "t_end is -1 s"),
])  # fmt: skip
def test_wrong_arguments_beside_a_batch_are_refused(options: dict[str, Any], message: str) -> None:
    given = {"t_end": END, "method": nx.RungeKutta4(DT), "batch": {"v0": np.zeros((2, 2))}, **options}
    with pytest.raises(InputError, match=message):
        nx.simulate(pendulum(), **given)


# --- the result ---------------------------------------------------------------------------------------------------


def test_a_batch_result_tells_what_the_results_of_its_members_tell() -> None:
    system = pendulum()
    q0, v0 = starts(system, 3)
    result = nx.simulate(system, END, nx.RungeKutta4(DT), batch=nx.Batch(q0, v0))
    asked = {
        "joint_position": ["elbow"], "joint_velocity": [], "joint_acceleration": [], "reaction": ["hinge"], "transmitted": [],
        "position": ["lower"], "orientation": ["lower"], "rotation": [], "velocity": ["upper"], "angular_velocity": [],
        "acceleration": [], "angular_acceleration": ["upper"], "measure": ["tip"],
    }  # fmt: skip
    for name, names in asked.items():
        together = getattr(result, name)(*names)
        assert together.dims[:2] == ("member", "time")
        for m in range(3):
            alone = getattr(result.member(m), name)(*names)
            np.testing.assert_array_equal(together.sel(member=m).values, alone.values)
        assert together.attrs == alone.attrs
    np.testing.assert_array_equal(result.energy()["total"].values[1], result.member(1).energy()["total"].values)
    assert len(result) == 3
    assert repr(result).startswith("BatchResult('pendulum': 3 members, t = 0")
    for wrong in (3, -1, "a", True):
        with pytest.raises(InputError, match="there are members 0 to 2"):
            result.member(wrong)


def test_a_batch_is_saved_as_a_dataset(tmp_path: Path) -> None:
    import xarray as xr

    system = pendulum()
    result = nx.simulate(system, END, nx.RungeKutta4(DT), batch={"parameters": {"L": [0.4, -1.0, 0.6]}})
    result.save(tmp_path / "runs.nc")
    with xr.open_dataset(tmp_path / "runs.nc") as read:
        np.testing.assert_array_equal(read["joint_position"].values, result.joint_position().values)
        assert read["L"].values.tolist() == [0.4, -1.0, 0.6]
        assert read["failure"].values[0] == ""
    with pytest.raises(InputError, match=r"ends in '.csv'"):
        result.save(tmp_path / "runs.csv")


def test_states_stream_to_zarr(tmp_path: Path) -> None:
    xr, _ = pytest.importorskip("xarray"), pytest.importorskip("zarr")
    system = pendulum()
    q0, v0 = starts(system)
    v0[2] = np.nan
    batch = nx.Batch(q0, v0, {"upper.mass": np.linspace(1.0, 2.0, MEMBERS)})
    memory = nx.simulate(system, END, nx.RungeKutta4(DT), batch=batch)
    stored = nx.simulate(system, END, nx.RungeKutta4(DT), batch=batch, store=tmp_path / "runs.zarr")
    for name in ("joint_position", "joint_velocity", "joint_acceleration"):
        np.testing.assert_array_equal(getattr(stored, name)().values, getattr(memory, name)().values)
    with xr.open_zarr(tmp_path / "runs.zarr", consolidated=False) as read:
        np.testing.assert_array_equal(read["joint_velocity"].values, memory.joint_velocity().values)
        assert read["upper.mass"].values[-1] == 2.0
        assert json.loads(read.attrs["failures"]) == {"2": memory.failures[2]}
        assert read.attrs["status"] == "finished"
    with pytest.raises(FileError, match="exists already"):
        nx.simulate(system, END, nx.RungeKutta4(DT), batch=batch, store=tmp_path / "runs.zarr")


# --- on the way ---------------------------------------------------------------------------------------------------


def test_progress_goes_from_the_start_to_the_end() -> None:
    told: list[tuple[float, float]] = []
    q0, _ = starts(pendulum())
    nx.simulate(pendulum(), END, nx.RungeKutta4(DT), batch={"q0": q0}, progress=lambda t, end: told.append((t, end)))
    times = [t for t, _ in told]
    assert times == sorted(times)
    assert told[-1] == (END, END)


def test_an_interrupt_keeps_what_was_reached() -> None:
    q0, _ = starts(pendulum())

    def stop(t: float, end: float) -> None:
        if t > 0.0:
            raise KeyboardInterrupt

    with pytest.warns(nx.NexDynWarning, match="interrupted"):
        result = nx.simulate(pendulum(), 1e4, nx.RungeKutta4(DT), batch={"q0": q0}, progress=stop, output_every=10000)
    assert result.status == "interrupted"
    assert result.failures == {}
    reached = result.member(0)
    assert reached.status == "interrupted"
    assert 0 < len(reached.t) < len(result.t)


def test_other_packs_begin_before_the_first_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    others, calls, march = threading.Event(), dict[int, int](), batch_run.march_packs
    first: list[int] = []

    def noted(*arguments: Any) -> Any:
        me = threading.get_ident()
        first[:] = first or [me]
        calls[me] = calls.get(me, 0) + 1
        if me != first[0]:
            others.set()
        elif calls[me] == 3:  # after the start and the first steps
            assert others.wait(120.0)
        return march(*arguments)

    with ThreadPoolExecutor(2) as pool:
        monkeypatch.setattr(batch_run, "march_packs", noted)
        monkeypatch.setattr(batch_run, "pool", lambda: pool)
        monkeypatch.setattr(batch_simulation, "cores", lambda: 2)
        q0 = np.zeros((2 * LANES, 2))
        result = nx.simulate(pendulum(), 1.0, nx.RungeKutta4(1e-3), batch={"q0": q0})
    assert result.status == "finished" and others.is_set() and len(calls) == 2


def test_a_batch_of_no_time_tells_the_start_under_its_inputs() -> None:
    q0, v0 = starts(pendulum())
    none, one = (
        nx.simulate(pendulum(), t, nx.RungeKutta4(DT), batch=nx.Batch(q0, v0)).recording.rows for t in (0.0, DT)
    )
    np.testing.assert_array_equal(none[:, 0], one[:, 0])


def test_the_states_of_a_batch_go_when_nobody_holds_them() -> None:
    nx.simulate(pendulum(), END, nx.RungeKutta4(DT), batch={"q0": np.zeros((3 * LANES, 2))})
    gc.collect()
    gc.disable()
    try:
        result = nx.simulate(pendulum(), END, nx.RungeKutta4(DT), batch={"q0": np.zeros((3 * LANES, 2))})
        rows = weakref.ref(result.recording.rows)
        del result
        assert rows() is None  # at once, not when Python looks for circles: they may be all of the memory
    finally:
        gc.enable()


class Full:
    """Where rows are recorded that takes none."""

    def __setitem__(self, members: Any, rows: Any) -> None:
        raise OSError("no space left on device")


def test_a_batch_whose_rows_find_no_place_ends_with_the_error_and_leaves_the_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    q0 = np.zeros((12 * LANES, 2))
    monkeypatch.setattr(batch_simulation, "Store", lambda *_: Full())
    with pytest.raises(OSError, match="no space left"):
        nx.simulate(pendulum(), 0.01, nx.RungeKutta4(1e-3), batch={"q0": q0}, store="anywhere")
    idle = [pool().submit(threading.get_ident) for _ in range(2 * cores())]
    assert all(future.result(timeout=60.0) for future in idle)


@pytest.mark.parametrize("store", [False, True])
def test_progress_may_use_the_threads_of_the_batch(store: bool, tmp_path: Path) -> None:
    tree, q0 = nx.Tree(pendulum()), np.zeros((40 * LANES, 2))
    told: list[float] = []

    def progress(t: float, end: float) -> None:
        told.append(float(tree.crba(np.zeros((2000, 2)))[-1, 0, 0]))

    nx.simulate(
        pendulum(), 0.2, nx.RungeKutta4(1e-4), batch={"q0": q0}, progress=progress,
        **({"store": tmp_path / "rows.zarr"} if store else {}),
    )  # fmt: skip
    assert told and len(set(told)) == 1


def test_several_batches_at_once_share_the_cores() -> None:
    system = pendulum()
    q0, _ = starts(system)
    expected = nx.simulate(system, END, nx.RungeKutta4(DT), batch={"q0": q0}).recording.rows
    found: list[np.ndarray] = []

    def run() -> None:
        found.append(nx.simulate(system, END, nx.RungeKutta4(DT), batch={"q0": q0}).recording.rows)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for rows in found:
        np.testing.assert_array_equal(rows, expected)
    names = [thread.name for thread in threading.enumerate() if thread.name.startswith("nexdyn-batch")]
    assert len(names) <= pool()._max_workers


def test_fewer_cores_are_taken_where_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert cores() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    assert cores() >= 1


OTHER_WAYS = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import nexdyn as nx
from test_batch import plain, starts
q0, v0 = starts(plain(), 3)
result = nx.simulate(plain(), 0.003, nx.RungeKutta4(1e-3), batch=nx.Batch(q0, v0, {"upper.mass": [1.0, 2.0, 3.0]}))
np.save(sys.argv[2], result.recording.rows)
"""


@pytest.mark.parametrize(
    "environment", [{"NEXDYN_LANES": "4" if LANES == 8 else "8"}, {"NUMBA_DISABLE_JIT": "1"}], ids=str
)
def test_lanes_of_another_width_and_interpreted_lanes_agree(environment: dict[str, str], tmp_path: Path) -> None:
    q0, v0 = starts(plain(), 3)
    batch = nx.Batch(q0, v0, {"upper.mass": [1.0, 2.0, 3.0]})
    expected = nx.simulate(plain(), 0.003, nx.RungeKutta4(1e-3), batch=batch).recording.rows
    file = tmp_path / "rows.npy"
    done = subprocess.run(
        [sys.executable, "-c", OTHER_WAYS, str(Path(__file__).parent), str(file)],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(file), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_a_width_that_no_machine_has_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import nexdyn; nexdyn.Tree"],
        env={**os.environ, "NEXDYN_LANES": "7"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "NEXDYN_LANES is '7'; 2, 4 or 8 is needed" in done.stderr
