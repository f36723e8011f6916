"""The members of a batch as they are chosen on the page: their numbers, what varies among them, and which failed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nexdyn.errors import NexDynError, SolveError
from nexdyn.results.batch import BatchResult
from nexdyn.results.result import Result
from nexdyn.view.cards import number
from nexdyn.view.words import Words

MOST = 2000
"""Members that the list of a page offers."""
PARAMETERS = 3
"""Parameters that a label tells."""


def labels(batch: BatchResult, words: Words, numbers: Iterable[int] | None = None) -> list[str]:
    """A label for each member of these numbers, the first ones without them: "7: L = 0.5, failed at 1.2 s"."""
    found = []
    for m in range(min(batch.members, MOST)) if numbers is None else numbers:
        told = [
            f"{name} = {number(float(values[m]))}"
            for name, values in list(batch.parameters.items())[:PARAMETERS]
            if np.ndim(values[m]) == 0
        ]
        if m in batch.failures:
            told.append(f"{words('failed at')} {batch.failure_times[m]:.4g} s")
        found.append(f"{m}: {', '.join(told)}" if told else str(m))
    return found


def first_of(batch: BatchResult) -> tuple[int, Result]:
    """The first member that has a motion, with its number. SolveError, with the cause, where none has."""
    cause: NexDynError | None = None
    for m in range(batch.members):
        try:
            return m, batch.member(m)
        except SolveError as error:
            cause = cause or error
    raise cause or SolveError("the batch has no members")
