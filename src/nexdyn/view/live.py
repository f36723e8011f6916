"""A run as it goes: the state that was computed last, up to 30 times a second, and the energies so far."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import NexDynError
from nexdyn.view.charts import Line, Panel
from nexdyn.view.motion import Motion, latest_of

if TYPE_CHECKING:
    from nexdyn.view.desk import Desk

RATE = 30.0
"""Moments a second."""
EVERY = 0.5
"""Seconds between drawings of the energies."""


class Live:
    """Follows one run of a simulation; `progress` is what the run calls."""

    def __init__(self, desk: Desk, simulation: Any) -> None:
        self._desk, self._simulation = desk, simulation
        self._pushed = self._drawn = 0.0
        self._energies: list[tuple[float, list[float]]] = []

    def progress(self, t: float, t_end: float) -> None:
        """Show where the run is, unless that was just done or nobody looks."""
        desk, now = self._desk, time.monotonic()
        if desk.viewer.ended or now - self._pushed < 1.0 / RATE or not desk.viewer.watched:
            return
        self._pushed = now
        latest = Motion.of(latest_of(self._simulation))
        with desk.lock, contextlib.suppress(NexDynError):
            desk.time.playing, desk.time.t = False, latest.start
            desk.frame = latest.at(latest.start)
            desk.stage.grow(desk.t, desk.frame)
            desk.stage.show(desk.t, desk.frame)
            self._draw(latest, t_end)

    def _draw(self, latest: Motion, t_end: float) -> None:
        """The energies so far, and the numbers of what is selected."""
        energy = latest.result.observed.energies if latest.result else {}
        self._energies.append((latest.start, [float(values[-1]) for values in energy.values()]))
        now = time.monotonic()
        if now - self._drawn < EVERY:
            return
        self._drawn = now
        t, values = np.array([t for t, _ in self._energies]), np.array([row for _, row in self._energies])
        lines = [Line(name.removesuffix("_energy"), t, values[:, k]) for k, name in enumerate(energy)]
        self._desk.controls.follow(float(t[-1]), t_end, Panel("energy", "time [s]", "energy [J]", lines))
        self._desk.inquiry.tell()
