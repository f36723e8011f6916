"""Peaks of the joints' reactions over all steps of a run, also of those that leave no row."""

from __future__ import annotations

from typing import Any

from nexdyn.results.observed import Peaks


class PeakKeeper:
    """The largest reactions so far."""

    def __init__(self) -> None:
        self.peaks: Peaks | None = None
        self.joints: list[str] = []

    def look(self, observed: Any) -> None:
        """At the states of a stretch of the run."""
        if not observed.knows("reaction"):
            return
        self.joints = list(observed.labels.dims["joint"])
        found: Peaks = observed.peaks
        self.peaks = found if self.peaks is None else self.peaks.beside(found)

    def told(self) -> dict[str, list[float]]:
        """As the settings of a recording keep them."""
        return {} if self.peaks is None else self.peaks.told(self.joints)
