"""Steps of constant length: one grid of times, and legs of compiled work between two looks of Python.

    t_k = t_0 + k h,   counted on from leg to leg, so that the times of steps do not depend on where legs end

A formulation gives `leg`, compiled steps, and `after_leg`, what their status asks for.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.simulation.march import ROUNDED, Look, March, Memory

SLICE = 0.05
"""Seconds that compiled work runs between two looks of Python."""
MOST_STEPS = 1e15
ROWS = 4096
"""Most rows that one crossing into compiled work fills."""
PARTS = 4
"""Parts of a constant step that is taken again."""


def unseen() -> None:
    """No look within a step."""


class Leg(NamedTuple):
    """What compiled work has done: its status, how many steps are done, rows filled, the component and time of a failure."""

    status: int
    done: int
    rows: int
    bad: int = -1
    t: float = math.nan


class Pace:
    """How much compiled work does between two looks of Python: as much as takes SLICE."""

    def __init__(self, size: int, least: int = 1) -> None:
        self.size, self.least, self._began, self._took = size, least, 0.0, 0.0

    def begin(self) -> None:
        """The compiled work begins."""
        self._began = time.perf_counter()

    def end(self) -> None:
        """It has ended."""
        self._took = time.perf_counter() - self._began

    def adapt(self, done: float) -> None:
        """After `done` of it."""
        self.size = max(self.least, int(done * min(8.0, SLICE / max(self._took, 1e-6))))


class Steps(March):
    """A march by steps, those of constant length on one grid."""

    _leg_start: tuple[Memory, dict[str, Any], int] | None = None
    _repeating = False
    """Whether a step is being taken again in parts."""

    def go_by(self, dt: float, t_end: float, times: np.ndarray, look: Look) -> None:
        """Steps of dt [s] to t_end. They lie on one grid: a shorter step, to a requested time or to the end, is of the method's own
        order and is taken back before the next, so that the steps do not depend on these. An event lies on no grid; nor
        does a sample of a controller's that cannot be taken back."""
        every = 0 if len(times) else self.output_every
        self.whole_steps(dt, t_end)  # not too many
        for target in dict.fromkeys([*times.tolist(), t_end]):
            self._back_to_grid()
            whole, rest = self.whole_steps(dt, target)
            self.march_by(dt, whole, every, look)
            if (
                not rest
                and not self.keeps_before
                and self._rows
                and abs(self._rows[-1][-1, 0] - target) <= ROUNDED * dt
            ):
                self._rows[-1][-1, 0] = target  # which steps, counted from their start, miss by rounding
            if rest:
                self.t = self._from + self._behind * dt
                aside = not self._for_events and self.next_sample > target + ROUNDED * dt
                grid = (self.memory(), self._users.told()) if aside else None
                self.march_by(rest, 1, int(self.keeps_before and every > 0 and whole % every == 0), look)
                self._grid = grid
            self.t = target
            if target in times:
                self._sample()
                self._keep_at(target)

    def _back_to_grid(self) -> None:
        """To the steps, from the shorter one that left them."""
        if self._grid is not None:
            memory, users = self._grid
            self.recall(memory)
            self._users_back(users)

    def _keep_at(self, t: float) -> None:
        """Keep the row of the present state, at exactly t."""
        row = self.present()
        row[0, 0] = t
        self._keep(row)

    def whole_steps(self, dt: float, t_end: float) -> tuple[int, float]:
        """How many steps of dt [s] fit from here to t_end, and the rest [s], 0 where it is rounding."""
        if not (t_end - self.t) / dt < MOST_STEPS:
            raise InputError(
                f"t_end = {t_end:g} s takes more than {MOST_STEPS:.0e} steps of dt = {dt:g} s; choose a longer dt"
            )
        whole = math.floor((t_end - self.t) / dt + ROUNDED)
        t0, behind = self.count_steps(dt, 0)
        rest = t_end - (t0 + (behind + whole) * dt)
        return whole, rest if rest > ROUNDED * dt else 0.0

    def march_steps(self, dt: float, steps: int, every: int, look: Look) -> None:
        """So many steps of dt [s] by `leg`; every `every`-th state (0: none) is kept."""
        t0, first = self.count_steps(dt, every)
        self.march_from(t0, dt, first, first + steps, every, look)
        self._behind = first + steps

    def march_from(self, t0: float, dt: float, first: int, until: int, every: int, look: Look) -> None:
        """Steps `first` … `until` − 1 of dt from t0 by `leg`; every `every`-th state (0: none) is kept."""
        room = self.room(max(2, min(ROWS, (until - first) // every + 2)) if every else 1)
        done, pace = first, Pace(16)
        while done < until:
            count = min(self.until_look(pace.size), until - done, (len(room) - 1) * every if every else until)
            pace.begin()
            leg = self.leg(t0, dt, done, done + count, every, room)
            pace.end()
            taken, done = leg.done - done, leg.done
            self._steps += taken
            self.t = t0 + done * dt
            self._keep(room[: leg.rows])
            repeated = self.after_leg(leg, t0, dt, taken)
            done += repeated
            self.note_done(taken + repeated)
            look()
            pace.adapt(count)

    def note_leg(self, done: int) -> None:
        """Remember the state at which a leg begins, `done` steps behind the time from which it counts, for `repeat_step`."""
        self._leg_start = self.memory(), self._users.told(), done

    def repeat_step(self, leg: Leg, t0: float, dt: float, look: Look) -> bool:
        """The step after which a leg has ended too far from the constraints again, in quarters; whether they end closer. The state at
        the start of the step is found anew from that of the leg."""
        if self._leg_start is None or self._repeating:
            return False
        (memory, users, first), steps, room = self._leg_start, self._steps, self.room(2)
        self.recall(memory)
        self._users_back(users)
        self._repeating = True
        try:
            if first < leg.done and self.leg(t0, dt, first, leg.done, 0, room).done < leg.done:
                return False
            self._steps, self.t = steps, t0 + leg.done * dt
            self.march_from(self.t, dt / PARTS, 0, PARTS, 0, look)
        finally:
            self._repeating = False
        self._steps, self.t = steps + 1, t0 + (leg.done + 1) * dt
        return True

    def room(self, rows: int = 0) -> np.ndarray:
        """Room for so many rows; as many as one crossing fills at most where none are given."""
        return np.empty((rows or ROWS, self.numbers))

    def leg(self, t0: float, dt: float, done: int, until: int, every: int, room: np.ndarray) -> Leg:
        """Compiled steps `done` … `until` − 1 of dt from t0, rows into room."""
        raise NotImplementedError

    def after_leg(self, leg: Leg, t0: float, dt: float, taken: int) -> int:
        """Act on the status of a leg, whose steps were `taken`: SolveError, or how many steps were taken otherwise."""
        raise NotImplementedError

    def _keep(self, rows: np.ndarray) -> None:
        """Rows not recorded before: a state that ends one leg begins the next."""
        if self._rows and len(rows) and rows[0, 0] <= self._rows[-1][-1, 0]:
            rows = rows[1:]
        if len(rows):
            self._rows.append(rows.copy())
