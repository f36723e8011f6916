"""A run: from the present state to an end, with rows, progress, Ctrl-C, events, and a result, for every formulation alike."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from typing import Any

import numpy as np

from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.contact_steps import constant_step
from nexdyn.assembly.notices import Notice, kept_notices
from nexdyn.assembly.stopwatch import Stopwatch
from nexdyn.errors import SolveError, warn
from nexdyn.integrate.problem import FORCE_FAILED
from nexdyn.results.result import Result
from nexdyn.simulation.events import run_with_events
from nexdyn.simulation.growth import LOOKED_AT, growth_of, is_watched
from nexdyn.simulation.interrupt import interrupts_wait
from nexdyn.simulation.march import Progress
from nexdyn.simulation.room import refuse_too_much
from nexdyn.simulation.span import checked_end, checked_times
from nexdyn.simulation.steps import Steps
from nexdyn.simulation.watched import has_events

LEAST = 1e-14
"""Of the time, the least step that is tried where a longer one met a force that is not finite."""


class Runs(Steps):
    """A march that a user runs."""

    def may_be_shorter(self, status: int, h: float) -> bool:
        """Whether a step that ended in a force that is not finite may be tried again, h [s] long. What a function raised is not asked for
        twice."""
        if status < FORCE_FAILED or not h > max(getattr(self.method, "dt_min", 0.0), LEAST * abs(self.t)):
            return False
        force = list(self.system.forces.values())[status - FORCE_FAILED]
        return not any(callback.failed for callback in force.callbacks())

    @small_on_one_thread
    def run(
        self, t_end: float, *, output_times: Any = None, progress: Progress | None = None, peaks: bool = False
    ) -> Result:
        """Go on until `t_end` [s] and return all that was recorded. Arguments and errors as for `nx.simulate`."""
        t_end = checked_end(t_end, self.t)
        self.tell_start()
        times = checked_times(output_times, self.t, t_end)
        if not len(times):
            refuse_too_much(self, t_end)
        keep_start = not len(times) or times[0] == self.t
        times = times[times > self.t]
        thinned = bool(len(times)) or self.output_every > 1
        if peaks and thinned:
            self.keep_peaks()
        if (peaks and thinned) or has_events(self.system):
            return self._watched(run_with_events(self, t_end, times, keep_start, progress), None)
        if thinned:
            self.note_left_out()
        self.start_rows(keep_start)
        watch, self._begun = Stopwatch(), True
        try:
            with interrupts_wait() as check:

                def look() -> None:
                    if progress is not None:
                        progress(self.t, t_end)
                    check()
                    self.look_at_constraints()

                self._marching = True
                try:
                    self.go_to(t_end, times, look)
                finally:
                    self._marching = False
                self.t = t_end
                look()
        except KeyboardInterrupt:
            self._wall += watch.seconds
            with suppress(SolveError, KeyboardInterrupt):
                self._sample()
            message = f"interrupted at t = {self.t:g} s of {t_end:g} s"
            warn(f"{message}; the result holds what was reached")
            return self.result("interrupted", message)
        except SolveError as error:
            raise self.with_singular_pose(error) from error.__cause__
        self._sample()
        self._wall += watch.seconds
        rows = np.concatenate([*self._rows, self.present()])
        self.look_at_constraints(rows)
        self.look_for_singular(rows)
        return self._watched(self.result(), rows)

    def _watched(self, result: Result, rows: np.ndarray | None) -> Result:
        """The result of a run that has ended, whose energy has been looked at where it tells of steps too long for a contact: in a few of
        its rows, or, where these are None, in all that it holds. SolveError where explicit steps have thrown bodies off."""
        if result.status != "finished" or not is_watched(self.system, self.method):
            return result
        seen = result
        if rows is not None:
            seen = self._result(rows[np.unique(np.linspace(0, len(rows) - 1, LOOKED_AT).astype(int))])
        growth = growth_of(seen, result, self.method)
        if growth is None:
            return result
        if constant_step(self.method) is not None:
            result.recording = dataclasses.replace(result.recording, status="failed", message=growth.text)
            raise SolveError(growth.text, time=self.t, result=result)
        if not any(notice.kind == "energy" for notice in self.warnings or ()):
            self.note(Notice("energy", "", growth.energy, "J", 0.0, growth.text))
            settings = result.recording.settings | kept_notices(self.warnings or [])
            result.recording = dataclasses.replace(result.recording, settings=settings)
        return result
