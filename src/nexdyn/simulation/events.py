"""Events in a run, in every formulation: found between steps, located by shorter steps of the same method, acted on.

    g_e(t) = signal − value;   an event lies in (t₀, t₁] where g_e has left the side that it was on, in its direction

The march stays compiled: it goes through a chunk of steps, then g of all events is looked at on the states of the chunk. Where
one has crossed, the chunk is gone back on, repeated to the step before, and the crossing is closed in: each trial takes one
shorter step from the last state before it, to where the line through g crosses zero, and to either side of it; what has no
event in it is kept. The state at an event is therefore a step of the method like any other, and the event lies in the last
`tolerance` before it, as a rule within rounding: the line through the last interval is tried, too. A signal that crosses twice
within one step is not seen.

After an event steps count from its time anew. Two rows of the result stand for one that changes the state: before, at its
time, and after, at the next number; behind 0 at `SOON`. Where it changes the system (parameters, forces off and on), the
rows after it are looked at with the changed one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from functools import partial
from typing import Any

import numpy as np

from nexdyn.assembly.notices import Notice
from nexdyn.assembly.stopwatch import Stopwatch
from nexdyn.errors import InputError, NexDynError, SolveError, warn
from nexdyn.forces.states import state_labels
from nexdyn.joints.clamp import Clamp
from nexdyn.model.system import System
from nexdyn.results.result import Result
from nexdyn.results.segments import changed_by, switched
from nexdyn.simulation.continuing import reassembled, states_of
from nexdyn.simulation.interrupt import interrupts_wait
from nexdyn.simulation.march import ROUNDED, March, Snapshot, WatchedState
from nexdyn.simulation.steps import ROWS
from nexdyn.simulation.watched import Watched, watched_in

CHUNK = 64
"""Steps of a chunk between two looks at events."""
SOON = 1e-100
"""The time [s] of a row behind an event at 0: what is divided by it stays finite."""
FAR = 100.0
"""So many tolerances two states are apart at least from which a speed of a signal is taken."""
BACK = 10.0
"""Tolerances within which a joint is back from an end of its stop that it has just struck."""
MOST_AT_ONCE = 100
"""Events within as many tolerances that count as never ending."""


class EventState:
    """What an event's `action` is given, and may change.

    t [s], name; `position`, `velocity`: {joint: numbers}, to be replaced by new ones; with closed loops and in absolute
    coordinates they are made consistent. `parameters`: {name: value} to change. `off`, `on`: sets of forces, contacts and clamps to
    switch.
    `stop`: True ends the run.
    """

    def __init__(self, name: str, t: float, position: dict[str, np.ndarray], velocity: dict[str, np.ndarray]) -> None:
        self.name, self.t = name, t
        self.position, self.velocity = position, velocity
        self.parameters: dict[str, Any] = {}
        self.off: set[str] = set()
        self.on: set[str] = set()
        self.stop = False


class Run:
    """A run with events: what has been recorded, and what has happened."""

    by_clock = True
    """Whether constraints are looked at now and then; who goes on by parts looks at the end of each."""

    def __init__(self, march: March, t_end: float, times: np.ndarray, keep_start: bool, progress: Any) -> None:
        self.march, self.t_end, self.progress = march, t_end, progress
        self.kept = march.recorded_rows()
        row = march.sampled()
        if keep_start and not (self.kept and self.kept[-1][-1, 0] >= march.t):
            self.kept.append(row)
        self.since = 0  # rows of `kept` before that are of another system
        if not keep_start:
            march.note_left_out()
        self.times = after(times, march.t)
        self.steps = 0  # states since the last that was kept
        self.accepted: Snapshot | None = None
        """The last state behind which no event lies, where the march is beyond it."""
        self.every = march.output_every if not len(times) else 0
        self.happened: list[dict[str, Any]] = list(march.happened)
        for event in march.system.events.values():
            if event.parameters:
                change = {"parameters": dict(event.parameters), "off": [], "on": []}
                check_states(march.system, changed_by(march.system, change), event.name)
        self.watched = watched_in(march.system)
        self.g, self.at = self.signals(march.present()), float(march.t)
        before = {(one.name, one.end): one for one in march.watched or ()}
        self.seen: list[Watched] = []
        """Joint stops that the run before has seen in the state that this one begins with, which it may have left with an impact."""
        for watched, g in zip(self.watched, self.g[:, 0], strict=True):
            if (watched.name, watched.end) in before:  # as the run before has left it
                watched.side, watched.done, watched.acting = before[watched.name, watched.end][2:]
                self.seen += [watched] * (watched.stop is not None)
                continue
            watched.begin(g)
            watched.acting = watched.stop is not None and bool(watched.sign * g >= 0.0)
            self.tell_passed(watched)
        self.set_active_stops()
        step = march.constant_step
        self.most = CHUNK if self.watched else ROWS
        self.chunk = self.most * step if step else (t_end - march.t) / 50.0
        self.message = ""

    def tell_passed(self, watched: Watched) -> None:
        """Warn of an event whose time has passed before it happened."""
        if watched.of_time and watched.side > 0.0 and not watched.done:
            t = self.march.t
            text = f"{watched.event} is at {watched.level:g} s, which has passed at t = {t:g} s: it does not happen"
            self.march.note(Notice("event", watched.name, watched.level, "s", 0.0, text))

    def signals(self, rows: np.ndarray) -> np.ndarray:
        """g (events, N) on rows."""
        observed = self.march.observed(rows)
        return np.array([watched.signal(observed) for watched in self.watched]).reshape(len(self.watched), len(rows))

    # --- marching ---------------------------------------------------------------------------------------------------

    def go(self) -> None:
        """To the end, or to where an event stops it."""
        with interrupts_wait() as check:

            def look() -> None:
                if self.progress is not None:
                    self.progress(self.march.t, self.t_end)
                check()
                if self.by_clock:
                    self.march.look_at_constraints()

            self.look = look
            self.happen([one for one in self.fired(self.g[:, 0]) if one[0] not in self.seen])
            while self.march.t < self.t_end and not self.message:
                ahead = self.chunk_end()
                if ahead > self.t_end - 1e-9 * self.chunk:
                    ahead = self.t_end
                asked = self.between_steps(ahead)
                target = min(self.t_end, asked, ahead)
                if target < self.t_end and target == asked:
                    target = self.step_before(target)
                if target == self.march.t:
                    if self.sample_off_grid(asked):
                        self.times = after(self.times, asked)
                        continue
                    target = asked
                self.go_to(target)
                self.times = after(self.times, self.march.t)

    def between_steps(self, until: float) -> float:
        """The first of the times asked for, up to `until`, that is not one of a whole step ahead; inf where there is none."""
        dt, asked = self.march.constant_step, up_to(self.times, until)
        if dt is not None and len(asked):
            t0, behind = self.march.count_steps(dt, 0)
            k = np.rint((asked - t0) / dt)
            asked = asked[(k <= behind) | (np.abs(asked - (t0 + k * dt)) > ROUNDED * dt)]
        return float(asked[0]) if len(asked) else math.inf

    def at_asked(self, rows: np.ndarray, to_the_bit: bool) -> np.ndarray:
        """Which rows are of times asked for, which these times are then told of; of the last row, with `to_the_bit` or where the time lies
        behind it, the time is left to be asked for."""
        wanted, asked = np.zeros(len(rows), dtype=bool), up_to(self.times, rows[-1, 0])
        near = ROUNDED * (self.march.constant_step or 0.0)
        for t in asked.tolist():
            i = int(np.searchsorted(rows[:, 0], t - near))
            if t == rows[i, 0] or (abs(t - rows[i, 0]) <= near and not (to_the_bit and i == len(rows) - 1)):
                wanted[i], rows[i, 0] = True, t
        if wanted.any():
            self.times = after(self.times, rows[wanted][-1, 0])
        return wanted

    def step_before(self, t: float) -> float:
        """The last whole step before a time asked for, where a shorter one would disturb those after it; else t."""
        march, dt = self.march, self.march.constant_step
        if dt is None:
            return t
        steps = math.floor((t - march.t) / dt + 1e-9)
        if t - march.t - steps * dt <= 1e-9 * dt or march.next_sample <= t + 1e-9 * dt:
            return t
        t0, behind = march.count_steps(dt, 0)
        return t0 + (behind + steps) * dt

    def chunk_end(self) -> float:
        """Where the next chunk ends, whole steps ahead where those are constant."""
        dt = self.march.constant_step
        if dt is None:
            return self.march.t + self.chunk
        t0, behind = self.march.count_steps(dt, 0)
        return t0 + (behind + self.most) * dt

    def sample_off_grid(self, t: float) -> bool:
        """Keep the state at t, less than a step ahead, and go back to the present one; False where an event lies before t."""
        before = self.accepted = self.march.snapshot()
        rows = self.advanced(t)
        crossed = any(self.any_crossed(g) for g in self.signals(rows).T)
        if not crossed:
            self.kept.append(rows[-1:].copy())
        self.march.go_back(before)
        self.accepted = None
        return not crossed

    def go_to(self, target: float) -> None:
        """Through one chunk, or to its first event."""
        self._go_to(target)
        self.accepted = None

    def _go_to(self, target: float) -> None:
        before = self.accepted = self.march.snapshot()
        try:
            rows = self.march.advance(target, self.look)
            failed: SolveError | None = None
        except SolveError as error:  # past an event, where the motion means nothing, a method may fail
            rows, failed = self.march.rows_after(before.t), error
            if not len(rows):
                raise
        g = self.signals(rows)
        first = self.first_crossing(g)
        if first is None and failed is not None:
            self.accept(rows, g)
            raise failed
        if self.march.constant_step is None:
            self.chunk *= min(4.0, max(0.25, self.most / len(rows)))
        if first is None:
            self.accept(rows, g)
            return
        self.march.go_back(before)
        behind = float(rows[first, 0])
        if first > 0:
            again = self.march.advance(float(rows[first - 1, 0]), self.look)
            self.accept(again, self.signals(again))
            self.accepted = self.march.snapshot()
        self.locate(behind)

    def first_crossing(self, g: np.ndarray) -> int | None:
        """The first state that lies behind an event; the sides are then those of the state before."""
        for j in range(g.shape[1]):
            if self.any_crossed(g[:, j]):
                return j
            for watched, x in zip(self.watched, g[:, j], strict=True):
                watched.move_on(x)
        return None

    def any_crossed(self, g: np.ndarray) -> bool:
        return any(watched.crossed(x) for watched, x in zip(self.watched, g, strict=True))

    def accept(self, rows: np.ndarray, g: np.ndarray, keep: bool = False) -> None:
        """States without an event in them."""
        apart = np.diff(rows[:, 0], prepend=self.at)
        changes = np.abs(np.diff(g, prepend=self.g))
        for watched, change, x in zip(self.watched, changes, g[:, -1], strict=True):
            far = apart > FAR * watched.tolerance
            watched.fastest = max(watched.fastest, float((change[far] / apart[far]).max(initial=0.0)))
            watched.move_on(x)
        self.g, self.at = g[:, -1:], float(rows[-1, 0])
        self.march.look_at(rows)
        wanted = np.zeros(len(rows), dtype=bool)
        if self.every:
            counts = self.steps + 1 + np.arange(len(rows))
            wanted = counts % self.every == 0
            self.steps = int(counts[-1])
        elif len(self.times):
            wanted = self.at_asked(rows, keep)
        wanted[-1] |= keep
        if not wanted.all():
            self.march.note_left_out()
        if wanted.any():
            self.kept.append(rows[wanted])

    def locate(self, high: float) -> None:
        """From the present state, before the event, to the event; it is within (t, high]."""
        before = self.march.snapshot()
        rows = self.advanced(high)
        g = self.signals(rows)
        if not self.is_at_end(g):
            self.march.go_back(before)
            rows = self.advanced(self.closed_in(high))
            g = self.signals(rows)
        fired = self.fired(g[:, -1])
        self.accept(rows, g, keep=True)
        self.happen(fired)

    def fired(self, g: np.ndarray, to_come: bool = False) -> list[tuple[Watched, float]]:
        """The events that have happened, and where their signals are; to_come: of those of a time that was still to come."""
        seen = zip(self.watched, g.tolist(), strict=True)
        fired = [(w, x) for w, x in seen if w.crossed(x) and not (to_come and not (w.of_time and w.side < 0.0))]
        for watched, _ in fired:
            watched.done = watched.event is not None and watched.event.once
        return fired

    def happen(self, fired: list[tuple[Watched, float]]) -> None:
        """Do what events ask for that have happened: what goes on to the other side is no second one. They may move others to now."""
        while fired:
            for watched, x in fired:
                if x == 0.0:
                    watched.side = -watched.side
                else:
                    watched.move_on(x)
            for watched, _ in fired:
                self.act(watched)
            fired = [] if self.message else self.fired(self.g[:, 0], to_come=True)

    def is_at_end(self, g: np.ndarray) -> bool:
        """Whether events happen at the last of the rows of `g` to the bit, as those of a time do, and none before."""
        last = [x for watched, x in zip(self.watched, g[:, -1], strict=True) if watched.crossed(x)]
        return bool(last) and not any(last) and not any(self.any_crossed(g[:, j]) for j in range(g.shape[1] - 1))

    def closed_in(self, high: float) -> float:
        """The time of the event, from the present state to a state shortly before it."""
        low, g_low = self.march.t, self.g[:, 0]
        tolerance = max(min(watched.tolerance for watched in self.watched), 8.0 * math.ulp(high))
        g_high: np.ndarray | None = None
        while high - low > tolerance:
            trials = [0.5 * (low + high)]
            if g_high is not None:
                guess = self.zero(low, g_low, high, g_high)
                width = max(0.4 * tolerance, 1e-3 * (high - low))
                trials = [min(guess + width, 0.5 * (guess + high)), max(guess - width, 0.5 * (low + guess))]
            shrunk = high - low
            for trial in trials:
                if not low < trial < high:
                    continue
                low, g_low, high, g_high = self.try_to(trial, low, g_low, high, g_high)
            if high - low > 0.5 * shrunk:
                trial = 0.5 * (low + high)
                if low < trial < high:
                    low, g_low, high, g_high = self.try_to(trial, low, g_low, high, g_high)
                else:
                    break
        return self.nearest(low, g_low, high, g_high)

    def zero(self, low: float, g_low: np.ndarray, high: float, g_high: np.ndarray) -> float:
        """Where the first of the lines through g crosses zero."""
        return min(
            (
                low + (high - low) * a / (a - b)
                for watched, a, b in zip(self.watched, g_low, g_high, strict=True)
                if watched.crossed(b) and a != b
            ),
            default=low,
        )

    def nearest(self, low: float, g_low: np.ndarray, high: float, g_high: np.ndarray | None) -> float:
        """The end of an interval within `tolerance`, moved to where lines cross zero: its miss, of the tolerance squared, is rounding, so
        that what happens later is a smooth function of all numbers in the system."""
        if g_high is None:
            return high
        trial = self.zero(low, g_low, high, g_high) + 8.0 * math.ulp(high)
        if not low < trial < high:
            return high
        before = self.march.snapshot()
        crossed = self.any_crossed(self.signals(self.advanced(trial))[:, -1])
        self.march.go_back(before)
        return trial if crossed else high

    def try_to(
        self, trial: float, low: float, g_low: np.ndarray, high: float, g_high: np.ndarray | None
    ) -> tuple[float, np.ndarray, float, np.ndarray | None]:
        """The interval after one more step, to `trial`: kept where the event is not in it."""
        before = self.march.snapshot()
        rows = self.advanced(trial)
        g = self.signals(rows)[:, -1]
        if self.any_crossed(g):
            self.march.go_back(before)
            return low, g_low, float(rows[-1, 0]), g
        return trial, g, high, g_high

    def advanced(self, t: float) -> np.ndarray:
        """The rows of all states on the way to t; where the method fails there, those up to the first behind an event, if one is."""
        began = self.march.t
        try:
            return self.march.advance(t, self.look)
        except SolveError:
            rows = self.march.rows_after(began)
            g = self.signals(rows) if len(rows) else np.empty((len(self.watched), 0))
            crossed = [j for j in range(len(rows)) if self.any_crossed(g[:, j])]
            if not crossed:
                raise
            rows = rows[: crossed[0] + 1]
            self.march.keep_only(rows[-1:])
            return rows

    # --- acting -----------------------------------------------------------------------------------------------------

    def act(self, watched: Watched) -> None:
        """What an event asks for."""
        t = float(self.march.t)
        self.happened.append({"time": t, "name": watched.name})
        self.refuse_endless(watched)
        observed = self.march.observed(self.march.present())
        event = watched.event
        if event is None:
            self.strike(watched, observed)
            return
        parameters, off, on, stop = dict(event.parameters or {}), set(event.off), set(event.on), event.stop
        position: dict[str, Any] | None = None
        velocity: dict[str, Any] | None = None
        if event.action is not None:
            state = EventState(event.name, t, *states_of(observed))
            kept = {n: x.copy() for n, x in state.position.items()}, {n: x.copy() for n, x in state.velocity.items()}
            try:
                event.action(state)
            except Exception as error:
                raise SolveError(
                    f"action of {event} raised {type(error).__name__}: {error} at t = {t:g} s", time=t, where=event.name
                ) from error
            parameters |= state.parameters
            off, on, stop = off | set(state.off), on | set(state.on), stop or state.stop
            position, velocity = _new(kept[0], state.position), _new(kept[1], state.velocity)
        if parameters or off or on or position or velocity:
            try:
                self.replace(position, velocity, parameters, off, on)
            except NexDynError as error:
                error.args = (f"{event}, at t = {t:g} s: {error.args[0]}", *error.args[1:])
                if isinstance(error, SolveError) and error.time is None:
                    error.time = t
                raise
        if stop:
            self.message = f"event {event.name!r} ended the run at t = {t:g} s"

    def strike(self, watched: Watched, observed: Any) -> None:
        """A joint at the end of its stop: it bounces, comes to rest on it, or leaves it."""
        stop = watched.stop
        assert stop is not None
        if watched.acting:
            self.happened.pop()
            watched.acting = False
            self.set_active_stops()
            return
        values, speed = (
            self.march.system.values,
            float(observed.of_joint("joint_velocity", stop.joint)[0, stop.freedom]),
        )
        outward = speed if watched.end else -speed
        rest_speed = stop.number_of("rest_speed", values)
        beyond = abs(float(watched.signal(observed)[0]))
        if -outward > rest_speed and beyond < BACK * watched.tolerance * -outward:  # it comes from an impact
            self.happened.pop()
            watched.side = -float(watched.sign)
            return
        velocity: dict[str, np.ndarray] | None = None  # too slow for an impulse
        if outward > rest_speed:
            restitution = stop.number_of("restitution", values)
            velocity = self.march.after_impact(observed, stop.joint, stop.freedom, restitution)
        watched.acting = velocity is None
        self.set_active_stops()
        if velocity is not None:
            self.happened[-1]["impulse"] = True
            self.replace(None, velocity, {}, set(), set())
            watched.side = -float(watched.sign)  # inside, however little it lies beyond

    def set_active_stops(self) -> None:
        """The compliant parts of the stops on which joints rest act, the others do not: they would meet an impact first."""
        acting: dict[str, bool] = {}
        for watched in self.watched:
            if watched.stop is not None:
                acting[watched.name] = acting.get(watched.name, False) or watched.acting
        for name, acts in acting.items():
            self.march.let_stop_act(name, acts)

    def refuse_endless(self, watched: Watched) -> None:
        """SolveError where one event follows itself without end."""
        last = [one["time"] for one in self.happened if one["name"] == watched.name][-MOST_AT_ONCE:]
        if len(last) == MOST_AT_ONCE and last[-1] - last[0] < MOST_AT_ONCE * max(watched.tolerance, 1e-9):
            raise SolveError(
                f"event {watched.name!r} happens again and again at t = {last[-1]:g} s; an action must leave the value that "
                "is watched, or use once=True",
                time=last[-1], where=watched.name,
            )  # fmt: skip

    def replace(
        self, position: Mapping[str, Any] | None, velocity: Mapping[str, Any] | None, parameters: Mapping[str, Any],
        off: Set[str], on: Set[str],
    ) -> None:  # fmt: skip
        """Go on from a changed state, or with a changed system."""
        old, t = self.march, float(self.march.t)
        observed = old.observed(old.present())
        system = old.system
        if parameters or off or on:
            change = {"parameters": dict(parameters), "off": sorted(off), "on": sorted(on)}
            clamps = [name for name in on if any(e.is_off for e in switched(system, name) if isinstance(e, Clamp))]
            if clamps:
                from nexdyn.simulation.impulses import held_by, when_clamped

                without = changed_by(system, change | {"on": sorted(on - set(clamps))})
                report = reassembled(without, t, observed, position, velocity)
                change["held"] = held_by(report, clamps)
            system = changed_by(system, change)
            check_states(old.system, system, self.happened[-1]["name"])
            if clamps:
                near = {**states_of(observed)[0], **(position or {})}
                velocity, self.happened[-1]["impulses"] = when_clamped(system, report, near, clamps)
            self.happened[-1]["change"] = {k: x for k, x in change.items() if x}
        if system is not old.system:
            self.look_behind()
            self.since = len(self.kept)
        self.march = old.anew(system, math.nextafter(t, math.inf) if t > 0.0 else SOON, observed, position, velocity)
        self.march.go_on_from(old)
        self.kept.append(self.march.present())
        if system is not old.system:
            known = {(w.name, w.end): w for w in self.watched}
            self.watched = watched_in(system)
            for w in self.watched:
                if (before := known.get((w.name, w.end))) is not None:
                    w.side, w.done, w.acting, w.fastest = before.side, before.done, before.acting, before.fastest
                    w.level_before = before.level
        self.set_active_stops()
        self.g, self.at = self.signals(self.march.present()), float(self.march.t)
        for w, x in zip(self.watched, self.g[:, 0], strict=True):
            moved = position is not None or (velocity is not None and w.of_velocity)
            if w.of_time and w.level != w.level_before and w.side < 0.0:
                w.begin(x)
                self.tell_passed(w)
            elif w.side == 0.0 or moved or not w.goes_on:
                w.move_on(x)
            w.level_before = w.level
            if "impulses" in self.happened[-1]:
                w.stay(x)

    def look_behind(self) -> None:
        """At the constraints, and for singular poses, since the last event that changed the system."""
        self.march.look_at_constraints(self.march.present())
        self.march.look_for_singular(np.concatenate([*self.kept[self.since :], self.march.present()]))

    def result(self, first: System, status: str) -> Result:
        """All that was recorded."""
        last = self.march.present()
        if not self.kept or self.kept[-1][-1, 0] < last[0, 0]:
            self.kept.append(last)
        return self.march.finish(first, np.concatenate(self.kept), self.happened, self.stand(), status, self.message)

    def stand(self) -> list[WatchedState]:
        """How events stand now."""
        return [WatchedState(w.name, w.end, w.side, w.done, w.acting) for w in self.watched]

    def so_far(self, first: System, status: str, message: str) -> Result:
        """What was recorded up to the present state, to go on from; where an event may lie behind it, to the last that has none."""
        march, accepted = self.march, self.accepted
        if accepted is None:
            return self.told_at(march.present(), first, status, message)
        if not (self.watched or len(self.times)):
            return march.midway(lambda now: self.told_at(now, first, status, message))
        return march.midway(lambda _: march.at(accepted, lambda now: self.told_at(now, first, status, message)))

    def told_at(self, now: np.ndarray, first: System, status: str, message: str) -> Result:
        """What was recorded, and then the row `now` of the march."""
        rows = list(self.kept)
        if not rows or rows[-1][-1, 0] < now[0, 0]:
            rows.append(now)
        return self.march.so_far(first, np.concatenate(rows), self.happened, status, message, self.stand())


def up_to(times: np.ndarray, t: float) -> np.ndarray:
    """Those of times (n,) that increase which are t or before."""
    return times[: np.searchsorted(times, t, side="right")]


def after(times: np.ndarray, t: float) -> np.ndarray:
    """The others."""
    return times[np.searchsorted(times, t, side="right") :]


def check_states(before: System, now: System, event: str) -> None:
    """InputError where an event gives forces other states than they have, or none."""
    had, has = ({label for label, _ in state_labels(system)} for system in (before, now))
    if had != has:
        label = min(had ^ has)
        force = next(force for force in before.forces.values() if label.startswith(f"{force.name}."))
        raise InputError(
            f"event {event!r} makes friction or resistance of {force} begin or end, which have states that stay for a whole run; give the "
            f'attribute as an expression, "=mu" of a parameter that the event changes, which may be 0, or switch the contact off'
        )


def _new(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any] | None:
    """What is another than before; None where nothing is."""
    return {name: x for name, x in now.items() if name not in before or not np.array_equal(before[name], x)} or None


def run_with_events(march: March, t_end: float, times: np.ndarray, keep_start: bool, progress: Any) -> Result:
    """As ``run`` of a march that looks at all steps, for events or peaks; afterwards it stands where the run has ended."""
    first, watch = march.first, Stopwatch()
    run: Run | None = None
    try:
        run = Run(march, t_end, times, keep_start, progress)
        march.told_by(partial(run.so_far, first))
        run.go()
        run.look_behind()
        run.march.spent(watch.seconds)
        return run.result(first, "finished")
    except KeyboardInterrupt:
        if run is None:
            raise
        run.message = f"interrupted at t = {run.march.t:g} s of {t_end:g} s"
        warn(f"{run.message}; the result holds what was reached")
        return run.result(first, "interrupted")
    except SolveError as error:
        if run is not None and run.kept:
            run.message = str(run.march.with_singular_pose(error))
            run.march.spent(watch.seconds)
            error.result = run.result(first, "failed")
        raise
    finally:
        if run is not None:
            march.become(run.march)
        march.told_by(None)
