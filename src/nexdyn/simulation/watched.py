"""What a run watches for events: the signal of each, and the side of its value that it is on.

g_e(t) = signal − value;   an event has happened where g_e has left the side that it was on, in its direction
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nexdyn.errors import SolveError
from nexdyn.forces.joint_stop import JointStop
from nexdyn.model.event import Event
from nexdyn.model.system import System
from nexdyn.results.contacts import columns_of


class Watched:
    """An event, or one end of a joint stop, and the side of zero that its signal is on."""

    def __init__(self, system: System, event: Event | None, stop: JointStop | None = None, end: int = 0) -> None:
        self.event, self.stop, self.end = event, stop, end
        self.name = event.name if event is not None else stop.name if stop is not None else ""
        self.side = 0.0
        self.fastest = 0.0
        """The largest |ġ| so far."""
        self.done = False
        self.acting = False
        """Of a joint stop: whether its compliant part acts, because the joint rests on it."""
        values = system.values
        if event is not None:
            self.sign, self.tolerance = event.sign, event.number_of("tolerance", values)
            self.level = event.number_of("value" if event.time is None else "time", values)
        else:
            assert stop is not None
            self.sign, self.tolerance, self.level = 1 if end else -1, 1e-9, stop.ends(system)[end]
        self.level_before = self.level
        self.points = columns_of(system, event.contact) if event is not None and event.contact is not None else []

    @property
    def of_velocity(self) -> bool:
        """Whether a velocity that an action changes may change the signal."""
        event = self.event
        return event is not None and (event.function is not None or event.of == "velocity")

    @property
    def goes_on(self) -> bool:
        """Whether the signal is where it was after an event that has left the state as it is. What closes the constraints anew moves
        it by what they were off, and must not take it back over the value that it has passed: the event would happen twice."""
        of_state = self.event is None or (self.event.measure is None and self.event.contact is None)
        return of_state and self.level == self.level_before

    def signal(self, observed: Any) -> np.ndarray:
        """g at the samples (N,)."""
        recording, event = observed.recording, self.event
        if event is None:
            assert self.stop is not None
            return observed.of_joint("joint_position", self.stop.joint)[:, self.stop.freedom] - self.level
        if event.time is not None:
            return recording.t - self.level
        if event.joint is not None:
            return observed.of_joint(f"joint_{event.of}", event.joint)[:, event.freedom] - self.level
        if event.measure is not None:
            label = event.measure if event.component is None else f"{event.measure}.{event.component}"
            return observed.take("measure")[:, observed.labels.dims["output"].index(label)] - self.level
        if event.contact is not None:
            own = self.points
            if event.of == "position":
                return -observed.take("penetration")[:, own].max(axis=1) - self.level
            speed = np.linalg.norm(observed.take("contact_sliding")[:, own], axis=2)
            return np.where(observed.take("contact_normal")[:, own] > 0.0, speed, 0.0).max(axis=1) - self.level
        q, v = observed.take("joint_position"), observed.take("joint_velocity")
        return np.array([self._call(*state) for state in zip(recording.t.tolist(), q, v, strict=True)]) - self.level

    def _call(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        assert self.event is not None and self.event.function is not None
        try:
            g = float(self.event.function(t, q.copy(), v.copy()))
        except Exception as error:
            raise SolveError(
                f"function of {self.event} raised {type(error).__name__}: {error} at t = {t:g} s",
                time=t,
                where=self.name,
            ) from error
        if not math.isfinite(g):
            raise SolveError(f"function of {self.event} gives {g} at t = {t:g} s", time=t, where=self.name)
        return g

    def crossed(self, g: float) -> bool:
        """Whether g is an event after the side that it was on."""
        if self.done or self.side == 0.0 or g * self.side > 0.0:
            return False
        if self.stop is not None:
            return self.acting is (self.sign * self.side > 0.0)  # it leaves, or it strikes
        return self.sign == 0 or self.sign * self.side < 0.0

    def move_on(self, g: float) -> None:
        """Take note of where g is now; of one that was at the level, when it has left it."""
        if abs(g) > (self.band if self.side == 0.0 else 0.0):
            self.side = math.copysign(1.0, g)

    @property
    def band(self) -> float:
        """What g may change by within `tolerance`: as near as this it is at the level."""
        return self.tolerance * self.fastest

    def begin(self, g: float) -> None:
        """Take note of where g is when a run begins: a time that it begins at is still to come."""
        if self.of_time and 0.0 <= g <= self.tolerance:
            self.side = -1.0
        else:
            self.move_on(g)

    @property
    def of_time(self) -> bool:
        """Whether it is the time that is watched."""
        return self.event is not None and self.event.time is not None

    def stay(self, g: float) -> None:
        """Where a clamp holds the signal at the level: no event until it has left, whatever rounding does."""
        if self.event is not None and abs(g) <= self.band:
            self.side = 0.0


def watched_in(system: System) -> list[Watched]:
    """What a run of `system` has to watch."""
    found = [Watched(system, event) for event in system.events.values() if not event.__dict__.get("_off", False)]
    for force in system.forces.values():
        if isinstance(force, JointStop) and force.by_impulse and not force.is_off:
            ends = force.ends(system)
            found += [Watched(system, None, force, end) for end in (0, 1) if math.isfinite(ends[end])]
    return found


def has_events(system: System) -> bool:
    """Whether a run of `system` watches anything."""
    return bool(system.events) or any(isinstance(f, JointStop) and f.by_impulse for f in system.forces.values())
