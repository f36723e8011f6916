"""A run whose system was changed by events: which samples belong to which system."""

from __future__ import annotations

import numpy as np

from nexdyn.model.system import System
from nexdyn.results.recording import Recording


def segments(system: System, recording: Recording) -> list[tuple[int, int, System]]:
    """(first sample, sample after the last, system) in order; one where nothing was changed.

    A change holds from the second of the two samples that stand for its time.
    """
    found: list[tuple[int, int, System]] = []
    start, t = 0, recording.t
    for event in recording.settings.get("events", []):
        change = event.get("change")
        if not change:
            continue
        stop = int(np.searchsorted(t, event["time"], side="right"))
        if stop > start:
            found.append((start, stop, system))
            start = stop
        system = system.with_parameters(change.get("parameters", {}))
        for state in ("off", "on"):
            for name in change.get(state, ()):
                system.force(name).__dict__["_off"] = state == "off"
    found.append((start, len(t), system))
    return found
