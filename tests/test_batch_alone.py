"""Batches that no lanes carry: members run one by one, on several threads, each as it would alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mechanisms
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.batch import simulation as batch_simulation
from nexdyn.batch.alone import in_turn, on_threads, runs_beside_others
from nexdyn.errors import UnknownNameError
from nexdyn.spatial.lanes import LANES

pytestmark = pytest.mark.filterwarnings("ignore:.*is plain Python")
MEMBERS = 3
HHT = nx.HHT(dt=2e-3)
Case = Callable[[], tuple[nx.System, Any, dict[str, Any]]]


def pendulum() -> nx.System:
    system = nx.System("pendulum", gravity=(0, 0, -9.81))
    bob = system.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    system.add_joint(nx.Revolute("hinge", system.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), damping=0.1))
    return system


def with_force(make: Callable[[], Any]) -> nx.System:
    system = pendulum()
    system.add_force(make())
    return system


def bead() -> nx.System:
    system = nx.System("bead", gravity=(0, 0, -9.81))
    system.add_body("bead", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    s = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    points = np.column_stack([np.cos(s), np.zeros(8), np.sin(s)])
    curve = nx.SplineCurve(points=points.tolist(), closed=True)
    system.add_joint(nx.PointOnCurve("track", "ground", "bead", curve=curve))
    return system


def driven() -> nx.System:
    system = pendulum()
    system.add_driver(nx.Driver("swing", "hinge", nx.Harmonic(0.3, 2.0)))
    return system


CASES: dict[str, Case] = {
    "stop": lambda: (with_force(lambda: nx.JointStop("stop", "hinge", stiffness=10.0, upper=0.01)), HHT, {}),
    "contact": lambda: (
        with_force(lambda: nx.PlaneContact("floor", "bob", radius=0.1, stiffness=1e3, at_b=(0, 0, -1.05))), HHT, {},
    ),
    "table of forces": lambda: (
        with_force(lambda: nx.ForceTable("table", joint="hinge", deflections=(-1.0, 0.0, 2.0), forces=(-3.0, 0.0, 1.0))), HHT, {},
    ),
    "the user's force": lambda: (
        with_force(lambda: nx.UserJointForce("brake", "hinge", lambda t, q, v: -0.3 * v)), HHT, {},
    ),
    "times of its own": lambda: (pendulum(), HHT, {"output_times": [0.0, 0.011, 0.02]}),
    "adaptive steps": lambda: (mechanisms.four_bar(), nx.HHT(), {"output_times": [0.0, 0.01, 0.02]}),
    "implicit Euler": lambda: (pendulum(), nx.ImplicitEuler(2e-3), {}),
    "dense output": lambda: (pendulum(), nx.DormandPrince(), {"output_times": [0.0, 0.01, 0.02]}),
    "a closed loop by RK4": lambda: (mechanisms.four_bar(), nx.RungeKutta4(2e-3), {}),
    "a stop by RK4": lambda: (
        with_force(lambda: nx.JointStop("stop", "hinge", stiffness=10.0, upper=0.01)), nx.RungeKutta4(2e-3), {},
    ),
}  # fmt: skip


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Two cores for every machine; the members that went to threads."""
    monkeypatch.setattr(batch_simulation, "cores", lambda: 2)
    went: list[list[int]] = []

    def noted(members: Any, *arguments: Any) -> Any:
        went.append(list(members))
        return on_threads(members, *arguments)

    monkeypatch.setattr(batch_simulation, "on_threads", noted)
    return went


@pytest.mark.parametrize("name", CASES)
def test_members_that_no_lanes_carry_are_what_they_are_alone(name: str, threads: list[list[int]]) -> None:
    system, method, options = CASES[name]()
    joint = next(iter(system.joints))
    speeds = np.linspace(0.5, 1.5, MEMBERS)
    together = nx.simulate(system, 0.02, method, batch={"v0": {joint: speeds}}, **options)
    assert (together.failures, together.status) == ({}, "finished")
    body = next(iter(system.bodies))
    for m, speed in enumerate(speeds):
        own = nx.simulate(system, 0.02, method, v0={joint: speed}, **options)
        np.testing.assert_array_equal(together.position(body).values[m], own.position(body).values)
    assert threads == ([] if name == "the user's force" else [[1, 2]])


def sphere_track() -> nx.System:
    system = nx.System("bead", gravity=(0, 0, -9.81))
    system.add_body("bead", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    system.add_joint(nx.PointOnSurface("track", "ground", "bead", surface=nx.SphereSurface(1.0)))
    return system


def skate() -> nx.System:
    system = nx.System("skate", gravity=(0, 0, -9.81))
    body = system.add_body("skate", mass=2.0, inertia=(0.1, 0.2, 0.3))
    system.add_joint(nx.Planar("ice", system.ground, body, v0=(0, 0, 2.0)))
    system.add_joint(nx.KnifeEdge("blade", system.ground, body, axis_b=(0, 1, 0)))
    return system


def bouncing(**event: Any) -> nx.System:
    """A ball that falls on a stop after 10 ms or so, or whose push ends then."""
    system = nx.System("bounce", gravity=(0, 0, -9.81))
    system.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("slide", system.ground, "ball", axis=(0, 0, 1), q0=5e-4, limits=(0.0, 2.0)))
    if event:
        system.add_force(nx.JointForce("push", "slide", 3.0))
        system.add_event(nx.Event("release", parameters={"push.effort": 0.0}, **event))
    else:
        system.add_force(nx.JointStop("stop", "slide", stiffness=1e5, restitution=0.7))
    return system


def servo() -> nx.Force:
    return nx.PositionActuator("servo", "hinge", kp=20.0, kd=2.0, ki=30.0, target="=0.3*sin(4*t)", time_constant=0.02)


def bristle() -> nx.Force:
    return nx.JointFriction("dry", "hinge", sliding=0.2, static=0.3, stiffness=1e3, damping=2.0)


RK4 = nx.RungeKutta4(2e-3)
KINDS: dict[str, Case] = {
    "a controller with states": lambda: (with_force(servo), HHT, {}),
    "a controller with states by RK4": lambda: (with_force(servo), RK4, {}),
    "friction that sticks": lambda: (with_force(bristle), HHT, {}),
    "friction that sticks by RK4": lambda: (with_force(bristle), RK4, {}),
    "a point on a curve": lambda: (bead(), HHT, {}),
    "a point on a curve by RK4": lambda: (bead(), RK4, {}),
    "a point on a surface": lambda: (sphere_track(), HHT, {}),
    "rolling": lambda: (nx.load("rolling-coin"), HHT, {}),
    "rolling by RK4": lambda: (nx.load("rolling-coin"), RK4, {}),
    "a knife edge": lambda: (skate(), HHT, {}),
    "an event at a time": lambda: (bouncing(time=0.009), HHT, {}),
    "an event at a time by RK4": lambda: (bouncing(time=0.009), RK4, {}),
    "impacts": lambda: (bouncing(), nx.HHT(dt=1e-3), {"output_times": np.linspace(0.0, 0.02, 6)}),
    "impacts between adaptive steps": lambda: (bouncing(), nx.DormandPrince(), {"output_times": np.linspace(0.0, 0.02, 6)}),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_states_of_forces_curves_surfaces_rolling_and_events_are_in_a_batch_what_they_are_alone(
    name: str, threads: list[list[int]], tmp_path: Path
) -> None:
    zarr = pytest.importorskip("zarr")
    system, method, options = KINDS[name]()
    gravity = [[0.1 * m, 0.0, -9.81 - 0.2 * m] for m in range(MEMBERS)]
    batch = {"parameters": {"gravity": gravity}}
    together = nx.simulate(system, 0.02, method, batch=batch, **options)
    assert (together.failures, together.status) == ({}, "finished")
    stored = nx.simulate(system, 0.02, method, batch=batch, store=tmp_path / "runs.zarr", **options)
    body = next(iter(system.bodies))
    for m, pull in enumerate(gravity):
        own = nx.simulate(system.with_parameters({"gravity": pull}), 0.02, method, **options)
        for result in (together.member(m), stored.member(m)):
            for field, value in vars(own.recording).items():
                if isinstance(value, np.ndarray):
                    np.testing.assert_array_equal(getattr(result.recording, field), value, err_msg=field)
            np.testing.assert_array_equal(result.position(body).values, own.position(body).values)
            assert json.dumps(result.events) == json.dumps(own.events)
    np.testing.assert_array_equal(stored.position(body).values, together.position(body).values)
    group, whole = zarr.open_group(str(tmp_path / "runs.zarr"), mode="r"), together.joint_position()
    t, positions = (np.asarray(group[name][...]) for name in ("time", "joint_position"))
    assert len(t) > 5 and set(t) <= set(whole.time.values)
    np.testing.assert_array_equal(positions, whole.sel(time=t).values)
    acts_at_events = bool(system.events) or name.startswith("impacts")
    assert threads == ([] if acts_at_events else [[1, 2], [1, 2]])


def test_members_of_every_method_stream_to_zarr_as_they_end(tmp_path: Path) -> None:
    xr, _ = pytest.importorskip("xarray"), pytest.importorskip("zarr")
    masses = [1.0, -1.0, 1.2]
    for k, (system, method) in enumerate(((pendulum(), HHT), (mechanisms.four_bar(), nx.RungeKutta4(2e-3)))):
        name, joint = next(iter(system.bodies)), next(iter(system.joints))
        batch = {"parameters": {f"{name}.mass": masses}}
        there = tmp_path / f"{k}.zarr"
        seen: list[int] = []

        def look(t: float, end: float, there: Path = there, seen: list[int] = seen) -> None:
            kept = there / "recordings"
            seen.append(sum(p.is_dir() for p in kept.iterdir()) if kept.is_dir() else 0)

        memory = nx.simulate(system, 0.02, method, batch=batch)
        stored = nx.simulate(system, 0.02, method, batch=batch, store=there, progress=look)
        assert stored.failures == memory.failures and list(stored.failures) == [1]
        assert stored.parameters[f"{name}.mass"].tolist() == masses
        with pytest.raises(nx.SolveError, match="member 1"):
            stored.member(1)
        for quantity in ("reaction", "joint_velocity"):
            np.testing.assert_array_equal(
                getattr(stored, quantity)(joint).values, getattr(memory, quantity)(joint).values
            )
        with xr.open_zarr(there, consolidated=False) as read:
            np.testing.assert_array_equal(read["joint_acceleration"].values, memory.joint_acceleration().values)
            assert (
                json.loads(read.attrs["failures"]) == {"1": memory.failures[1]} and read.attrs["status"] == "finished"
            )
        assert seen == sorted(seen)
        with pytest.raises(nx.FileError, match="exists already"):
            nx.simulate(system, 0.02, method, batch=batch, store=there)


def test_systems_that_call_python_or_act_at_events_see_one_run_after_another() -> None:
    assert runs_beside_others(pendulum())
    assert runs_beside_others(mechanisms.four_bar())
    braked = with_force(lambda: nx.UserJointForce("f", "hinge", lambda t, q, v: -v))
    nx.assemble(braked)
    assert not runs_beside_others(braked)
    own = pendulum()
    own.add_driver(nx.Driver("swing", "hinge", nx.UserFunction(lambda t: 0.1 * t)))
    assert not runs_beside_others(own)
    assert runs_beside_others(driven())


def test_a_member_that_fails_on_a_thread_is_told_and_the_rest_run(threads: list[list[int]]) -> None:
    system = mechanisms.four_bar()
    batch = {"v0": {"A": [1.0, np.nan, 2.0, 1.0]}, "parameters": {"coupler.mass": [1.0, 1.0, 1.0, -1.0]}}
    result = nx.simulate(system, 0.01, nx.RungeKutta4(2e-3), batch=batch)
    assert list(result.failures) == [1, 3]
    assert "is negative" in result.failures[3]
    own = nx.simulate(system, 0.01, nx.RungeKutta4(2e-3), v0={"A": 2.0})
    np.testing.assert_array_equal(result.member(2).position("coupler").values, own.position("coupler").values)


class Told:
    """A result that knows how its run ended."""

    def __init__(self, status: str = "finished") -> None:
        self.status = status


@pytest.mark.parametrize("way", [in_turn, on_threads])
def test_members_run_once_each_and_progress_comes_to_their_number(way: Any) -> None:
    ran: list[int] = []
    told: list[float] = []

    def run(m: int, look: Any) -> Any:
        look(0.5)
        ran.append(m)
        return None if m == 4 else Told()

    results: dict[int, Any] = {}
    interrupted = way(list(range(7)), run, told.append, results, 2)
    assert (sorted(ran), sorted(results), interrupted) == (list(range(7)), [0, 1, 2, 3, 5, 6], False)
    assert told == sorted(told)
    assert told[-1] <= 7.0


def test_an_interrupt_stops_all_threads_and_keeps_what_was_reached() -> None:
    begun = threading.Event()

    def run(m: int, look: Any) -> Any:
        begun.set()
        try:
            while True:
                look(0.1)
        except KeyboardInterrupt:
            return Told("interrupted")

    def tell(done: float) -> None:
        if begun.is_set():
            raise KeyboardInterrupt

    results: dict[int, Any] = {}
    assert on_threads([3, 5, 8], run, tell, results, 2)
    assert set(results) <= {3, 5}
    assert all(result.status == "interrupted" for result in results.values())


def test_what_concerns_all_members_stops_all_threads() -> None:
    def run(m: int, look: Any) -> Any:
        if m == 0:
            raise UnknownNameError("no joint")
        try:
            while True:
                look(0.1)
        except KeyboardInterrupt:
            return Told("interrupted")

    with pytest.raises(UnknownNameError):
        on_threads([0, 1, 2], run, lambda done: None, {}, 2)


THREADS = f"""
import hashlib, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import mechanisms
import nexdyn as nx
from nexdyn.tree.threads import cores
import test_batch_alone as lab

count = {2 * LANES + 3}
digest = hashlib.sha256()
rows = nx.simulate(lab.pendulum(), 0.05, nx.RungeKutta4(1e-3), batch={{"v0": np.linspace(-2, 2, count)[:, None]}})
digest.update(np.ascontiguousarray(rows.recording.rows).tobytes())
for system, joint, method in (
    (mechanisms.four_bar(), "A", nx.HHT(dt=2e-3)), (mechanisms.four_bar(), "A", nx.RungeKutta4(2e-3))
):
    found = nx.simulate(system, 0.02, method, batch={{"v0": {{joint: np.linspace(0.5, 2, count)}}}})
    digest.update(np.ascontiguousarray(found.position("coupler").values).tobytes())
print(cores(), digest.hexdigest())
"""


def test_the_number_of_threads_does_not_touch_a_bit() -> None:
    here = os.path.dirname(__file__)

    def bits(count: int) -> tuple[int, str]:
        environment = {**os.environ, "NUMBA_NUM_THREADS": str(count), "OMP_NUM_THREADS": str(count)}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", THREADS, here],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        cores, digest = done.stdout.split()
        return int(cores), digest

    (one, first), (several, second) = bits(1), bits(2)
    assert one == 1
    assert several == min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    assert first == second
