"""The contract of a march, held against four formulations that do not exist yet: none needs more than it gives.

contact points     their number, and what they remember, change from step to step
flexible body      k coordinates beside those of its frame
impulses           steps of velocities that return impulses
from C             a compiled march behind a pointer, whose state is bytes
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.absolute.model.model import absolute_model
from nexdyn.absolute.motion.observe import BodyMotion
from nexdyn.results.recording import BodyRecording
from nexdyn.results.result import Result
from nexdyn.simulation.continuing import seen_bodies
from nexdyn.simulation.impulses import with_rows
from nexdyn.simulation.march import Look, March
from nexdyn.simulation.run import Runs
from nexdyn.simulation.steps import Leg

DT = 2.0**-9
HALF, END = 128 * DT, 256 * DT
RIGID = 20
"""Numbers of a row before those of a formulation's own: t, pose, velocity, acceleration."""


class Falling(Runs):
    """A ball that falls and bounces along z; formulations say how."""

    def __init__(self, system: nx.System, method: Any, *, initial: Any = None, output_every: int = 1) -> None:
        system, initial = self.begin_march(system, initial, output_every)
        self.system, self.method, self.t = system, method, 0.0
        self.state = np.array([1.0, 0.0, 0.0])  # height, velocity, acceleration
        self.g = float(system.gravity[2])
        if isinstance(initial, Result):
            self.t = float(initial.recording.t[-1])
            self.state[:2] = initial.recording.q[-1, 0, 6], initial.recording.v[-1, 0, 5]
        self.begin()
        self.go_on(initial, False)
        self._rows = [self.row()]

    def begin(self) -> None:
        """What a formulation has beside the state."""

    def step(self, dt: float) -> None:
        raise NotImplementedError

    def own(self) -> np.ndarray:
        """Numbers of a row beside those of the ball."""
        return np.zeros(0)

    # --- the contract -----------------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return type(self).__name__

    @property
    def numbers(self) -> int:
        return RIGID + len(self.own())

    def row(self) -> np.ndarray:
        z, v, a = self.state
        pose, still = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, z], [0.0] * 5
        return np.array([[self.t, *pose, *still, v, *still, a, *self.own()]])

    def live(self) -> Mapping[str, np.ndarray]:
        return {"state": self.state}

    def start_rows(self, keep_start: bool) -> None:
        if not keep_start and not self._begun:
            self._rows.clear()

    def go_to(self, t_end: float, times: np.ndarray, look: Look) -> None:
        self.go_by(self.method.dt, t_end, times, look)

    def march_by(self, dt: float, steps: int, every: int, look: Look) -> None:
        self.march_steps(dt, steps, every, look)

    def leg(self, t0: float, dt: float, done: int, until: int, every: int, room: np.ndarray) -> Leg:
        rows = 0
        for k in range(done, until):
            self.step(dt)
            self.t = t0 + (k + 1) * dt
            if not np.isfinite(self.state).all():
                return Leg(1, k, rows, t=self.t)
            if every and (k + 1) % every == 0:
                room[rows] = self.row()
                rows += 1
        return Leg(0, until, rows)

    def after_leg(self, leg: Leg, t0: float, dt: float, taken: int) -> int:
        if leg.status:
            raise nx.SolveError(f"not finite at {leg.t:g} s", time=leg.t, result=self.result("failed", "not finite"))
        return 0

    def present(self) -> np.ndarray:
        return self._rows[-1][-1:].copy() if self._rows else self.row()

    def _sample(self) -> None:
        self._keep(self.row())

    def _result(self, rows: np.ndarray, status: str = "finished", message: str = "") -> Result:
        n, none = len(rows), np.zeros((len(rows), 0))
        q, v, a = (x.reshape(n, 1, -1).copy() for x in np.split(rows[:, 1:RIGID], [7, 13], axis=1))
        recording = BodyRecording(
            rows[:, 0].copy(), q, v, a, method=repr(self.method), steps=self._steps, status=status, message=message,
            settings={"coordinates": "bodies", "own": rows[:, RIGID:].tolist()}, multipliers=none, violation=np.zeros(n), z=none,
            followed=none,
        )  # fmt: skip
        return Result(self.system, recording, tree=BodyMotion(self.system, absolute_model(self.system)))  # type: ignore[arg-type]

    def closed_at_start(self) -> tuple[list[Any], None]:
        return [], None

    def let_stop_act(self, name: str, acts: bool) -> None:
        raise NotImplementedError("a ball has no stops")

    def anew(self, system: nx.System, t: float, observed: Any, position: Any, velocity: Any) -> Falling:
        new = type(self)(system, self.method, output_every=self.output_every)
        q, v = seen_bodies(observed, absolute_model(system))
        new.t, new.state[:2] = t, (q[1, 6], v[1, 5])
        for name, x in (velocity or {}).items():
            assert name == "flight"
            new.state[1] = x[5]
        new._rows = [new.row()]
        return new

    def after_impact(self, observed: Any, joint: str, freedom: int, restitution: float) -> dict[str, np.ndarray]:
        return with_rows(self.system, self.t, observed, joint, freedom, restitution)


class ContactPoints(Falling):
    """Points under the ball touch one after the other; each remembers how long it has been pressed."""

    HEIGHTS = (0.0, 0.01, 0.02, 0.04)

    def begin(self) -> None:
        self.points: dict[int, float] = {}

    def step(self, dt: float) -> None:
        z, v, _ = self.state
        depths = {i: h - z for i, h in enumerate(self.HEIGHTS) if z < h}
        self.points = {i: self.points.get(i, 0.0) + dt * depth for i, depth in depths.items()}
        a = self.g + sum(2e3 * depth + 1e3 * self.points[i] for i, depth in depths.items())
        self.state[:] = z + dt * (v + dt * a), v + dt * a, a

    def lists(self) -> Mapping[str, np.ndarray]:
        return {"ids": np.array([*self.points], dtype=float), "pressed": np.array([*self.points.values()])}

    def put_lists(self, lists: Mapping[str, np.ndarray]) -> None:
        self.points = {int(i): float(x) for i, x in zip(lists["ids"], lists["pressed"], strict=True)}

    def own(self) -> np.ndarray:
        return np.array([len(self.points)], dtype=float)

    def go_on_from(self, old: March) -> None:
        super().go_on_from(old)
        self.put_lists(old.lists())


class Flexible(Falling):
    """Three modes ride on the ball and shake it."""

    OMEGA = np.array([20.0, 55.0, 90.0])

    def begin(self) -> None:
        self.modes = np.zeros((2, 3))

    def step(self, dt: float) -> None:
        z, v, _ = self.state
        shape, rate = self.modes
        force = self.OMEGA**2 * shape + 0.1 * rate
        a = self.g + (1e4 * max(0.0, -z) + 0.02 * force.sum())
        rate += dt * (-force - a + self.g)
        shape += dt * rate
        self.state[:] = z + dt * (v + dt * a), v + dt * a, a

    def live(self) -> Mapping[str, np.ndarray]:
        return {**super().live(), "modes": self.modes}

    def own(self) -> np.ndarray:
        return self.modes.ravel()

    def go_on_from(self, old: March) -> None:
        super().go_on_from(old)
        assert isinstance(old, Flexible)
        self.modes[:] = old.modes


class Impulses(Falling):
    """Velocities jump by an impulse at the end of a step that would go through the floor."""

    def begin(self) -> None:
        self.impulse = np.zeros(1)

    def step(self, dt: float) -> None:
        z, v, _ = self.state
        free = v + dt * self.g
        self.impulse[0] = max(0.0, -(1.0 + 0.8 * (v < -0.1)) * free) if z + dt * free < 0.0 else 0.0
        v = free + self.impulse[0]
        self.state[:] = z + dt * v, v, self.g

    def live(self) -> Mapping[str, np.ndarray]:
        return {**super().live(), "impulse": self.impulse}

    def own(self) -> np.ndarray:
        return self.impulse


@numba.cfunc(numba.void(numba.types.CPointer(numba.float64), numba.float64, numba.int64))
def c_steps(x: Any, dt: float, steps: int) -> None:
    for _ in range(steps):
        a = x[3] + 1e4 * max(0.0, -x[0])
        x[1] += dt * a
        x[0] += dt * x[1]
        x[2] = a
        x[4] += 1.0


class Block(ctypes.Structure):
    """What the C side calls its state."""

    _fields_ = (("x", ctypes.c_double * 5),)


class FromC(Falling):
    """Steps behind a C pointer, on a block of memory that only its owner understands."""

    def begin(self) -> None:
        self.block = Block()
        self.block.x[:] = [*self.state, self.g, 0.0]
        self.call = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_double), ctypes.c_double, ctypes.c_int64)(
            c_steps.address
        )

    def step(self, dt: float) -> None:
        if self.block.x[4] == 0.0:  # of a start that was put in
            self.block.x[:3] = self.state.tolist()
        self.call(self.block.x, dt, 1)
        self.state[:] = self.block.x[:3]

    def save(self) -> bytes:
        return bytes(self.block)

    def restore(self, saved: bytes) -> None:
        ctypes.memmove(ctypes.byref(self.block), saved, len(saved))

    def lists(self) -> Mapping[str, np.ndarray]:
        return {"block": np.frombuffer(self.save(), dtype=np.uint8)}

    def put_lists(self, lists: Mapping[str, np.ndarray]) -> None:
        self.restore(lists["block"].astype(np.uint8).tobytes())


DOUBLES = (ContactPoints, Flexible, Impulses, FromC)
every_double = pytest.mark.parametrize("double", DOUBLES, ids=lambda cls: cls.__name__)


def ball(*events: nx.Event) -> nx.System:
    system = nx.System("ball", gravity=(0, 0, -9.81))
    system.parameter("load", 1.0)
    system.add_body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 1))
    system.add_joint(nx.Free("flight", "ground", "ball"))
    for event in events:
        system.add_event(event)
    return system


def made(double: type[Falling], system: nx.System | None = None, **options: Any) -> Falling:
    return double(system or ball(), nx.SemiImplicitEuler(DT), **options)


def whole(double: type[Falling]) -> Result:
    result = made(double).run(END)
    assert result.recording.v[:, 0, 5].max() > 0.5, "it bounces"
    return result


def same(a: Result, b: Result) -> None:
    """To the bit, the formulation's own numbers included."""
    np.testing.assert_array_equal(a.recording.t[-1], b.recording.t[-1])
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(a.recording, name)[-1], getattr(b.recording, name)[-1])
    assert a.recording.settings["own"][-1] == b.recording.settings["own"][-1]


@every_double
@pytest.mark.parametrize("end", [HALF, 233 * DT, 233.4 * DT], ids=["flying", "later", "between steps"])
def test_two_legs_are_one_in_memory_through_a_result_and_through_a_file(
    double: type[Falling], end: float, tmp_path: Path
) -> None:
    expected = whole(double)
    twice = made(double)
    half = twice.run(end)
    same(twice.run(END), expected)
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        same(made(double, initial=initial).run(END), expected)


def test_the_halves_are_cut_where_contact_points_are_remembered() -> None:
    """So that the law above is about them: none, some and all points touch at some time."""
    touching = {int(own[0]) for own in whole(ContactPoints).recording.settings["own"]}
    assert touching == {0, 1, 2, 3, 4}
    end = made(ContactPoints).run(233 * DT)
    assert end.recording.restart is not None and len(end.recording.restart.arrays["list.ids"]) > 0


@every_double
def test_times_asked_for_leave_the_steps_as_they_are(double: type[Falling]) -> None:
    times = [3.25 * DT, 3.5 * DT, 64 * DT, 201.7 * DT]
    told = made(double).run(END, output_times=times)
    assert told.t.values.tolist() == [*times, END]
    same(told, whole(double))
    some = made(double, output_every=7).run(END)
    assert some.t.values.tolist() == [*(DT * np.arange(0, 256, 7)), END]
    same(some, whole(double))


@every_double
def test_events_are_located_and_act(double: type[Falling]) -> None:
    """A time at which the ball is kicked, a height above the described one that is passed, and a stop."""

    def kick(state: Any) -> None:
        state.velocity["flight"] = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 3.0])

    system = ball(
        nx.Event("kick", time=0.1001, action=kick),
        nx.Event("high", function=lambda t, q, v: float(q[6]), value=0.2, direction="rising"),
        nx.Event("enough", time=0.45, stop=True),
    )
    result = made(double, system).run(END)
    happened = result.recording.settings["events"]
    assert [one["name"] for one in happened] == ["kick", "high", "enough"]
    assert happened[0]["time"] == pytest.approx(0.1001, abs=1e-9)
    at = int(np.searchsorted(result.recording.t, happened[1]["time"]))
    assert result.recording.q[at, 0, 6] == pytest.approx(1.2, abs=1e-6)
    assert result.recording.t[-1] == pytest.approx(0.45, abs=1e-9)
    just_after = int(np.searchsorted(result.recording.t, happened[0]["time"], side="right"))
    assert result.recording.v[just_after, 0, 5] == 3.0


@every_double
def test_a_failure_keeps_what_was_reached(double: type[Falling]) -> None:
    march = made(double)
    march.run(HALF)
    march.state[1] = np.nan
    if isinstance(march, FromC):
        march.block.x[1] = np.nan
    with pytest.raises(nx.SolveError, match="not finite") as told:
        march.run(END)
    assert told.value.result is not None
    assert told.value.result.status == "failed"
    assert told.value.result.t.values[-1] == HALF


@every_double
def test_progress_is_told_and_an_interrupt_returns_what_was_reached(double: type[Falling]) -> None:
    seen: list[float] = []
    march = made(double)

    def progress(t: float, end: float) -> None:
        seen.append(t)
        assert march.latest().recording.t[-1] <= t
        if len(seen) == 2:
            raise KeyboardInterrupt

    assert threading.current_thread() is threading.main_thread()
    with pytest.warns(nx.NexDynWarning, match="interrupted"):
        result = march.run(END, progress=progress)
    assert result.status == "interrupted"
    assert 0.0 < result.t.values[-1] < END
    same(march.run(END), whole(double))


def test_a_formulation_that_leaves_something_out_cannot_be_made() -> None:
    class Half(Runs):
        """Has steps, and no rows."""

        def march_by(self, dt: float, steps: int, every: int, look: Look) -> None:
            pass

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]
