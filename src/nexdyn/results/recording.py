"""The bare motion that a run records, before names and units."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nexdyn.results.restart import Restart


@dataclass
class Recording:
    """States at the output times of a run, in the order of a tree's coordinates.

    t (N,) [s]; q (N, nq); v, a (N, nv). `status` is "finished", "interrupted" or "failed"; `message` says why.
    `wall_time` [s] is what the run took. `settings` holds more of how it was run, as JSON has it.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    method: str = ""
    steps: int = 0
    status: str = "finished"
    message: str = ""
    wall_time: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)
    z: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(N, nz) states of forces, in the order of ``forces.states.state_labels``; (0, 0) where nothing has any."""
    followed: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(N, nk) angles counted over whole turns, and where points on curves and surfaces are; (0, 0) where nothing was."""
    restart: Restart | None = None
    """All of the run's state at its end; None where it is not known, as in files of older versions."""


EVENT = 1e-9
"""How near [s, or of the time] to an event a sample is of it."""


@dataclass
class BodyRecording(Recording):
    """States of bodies at the output times: q (N, nb, 7), v, a (N, nb, 6) as in ``constraints.tables``, without ground;
    multipliers (N, nc) of all rows, 0 where a row is not kept; `violation` (N,) is the largest |C|."""

    multipliers: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    violation: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass
class LoopRecording(Recording):
    """States of the spanning tree as in `Recording`; multipliers (N, m) of the rows that were kept; `violation` (N,) is the
    largest |C|, lengths in parts of the mechanism's size. settings["cut"] and settings["redundant"] name the joints that
    were cut and the rows that were left out; settings["turned over"] those whose quaternions began with w < 0 as described."""

    multipliers: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    violation: np.ndarray = field(default_factory=lambda: np.zeros(0))


def without_events(recording: Recording) -> np.ndarray:
    """The times of the samples that no event made; the first and last among them."""
    t = recording.t
    moments = np.array([float(event["time"]) for event in recording.settings.get("events", [])])
    made = (np.abs(t[:, None] - moments) <= EVENT * (1.0 + np.abs(t[:, None]))).any(axis=1)
    made[[0, -1]] = False
    return t[~made]
