"""Samples that several runs have in common.

A sample counts where it stands alone in its run: an event records two at one time, with the jump between them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nexdyn.results.result import Result

SAME = 1e-9
"""Times that differ by this part of a run are one."""


def alone(t: np.ndarray) -> np.ndarray:
    """Which times (N,) have no other beside them."""
    apart = np.diff(t) > SAME * (t[-1] - t[0])
    return np.append(True, apart) & np.append(apart, True)


def in_common(results: Sequence[Result]) -> list[np.ndarray]:
    """The rows of each result at the times that all of them recorded."""
    t = results[0].recording.t
    kept = alone(t)
    rows = []
    for result in results:
        other = result.recording.t
        at = np.clip(np.searchsorted(other, t), 1, max(1, len(other) - 1))
        at = np.where(np.abs(other[at - 1] - t) < np.abs(other[np.minimum(at, len(other) - 1)] - t), at - 1, at)
        at = np.minimum(at, len(other) - 1)
        kept &= (np.abs(other[at] - t) <= SAME * (t[-1] - t[0])) & alone(other)[at]
        rows.append(at)
    return [at[kept] for at in rows]


def on_one_side_of_events(results: Sequence[Result], rows: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Of common rows, those before which as many events happened in one run as in another."""
    counts = [
        np.searchsorted(np.array([event["time"] for event in result.events]), result.recording.t[at], side="right")
        for result, at in zip(results, rows, strict=True)
    ]
    kept = np.all([count == counts[0] for count in counts], axis=0)
    return [at[kept] for at in rows]
