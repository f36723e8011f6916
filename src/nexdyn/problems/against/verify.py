"""`nx.verify_against`: the cases of a peer's test suite under every formulation that supports them, compared with the peer's curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import FileError, unknown
from nexdyn.problems.against import adams, dymola, exudyn_models, recurdyn
from nexdyn.problems.against.case import Case, Distance, Outcome

SUITES: dict[str, dict[str, Case]] = {
    "adams": adams.CASES, "dymola": dymola.CASES, "exudyn": exudyn_models.CASES, "recurdyn": recurdyn.CASES,
}  # fmt: skip
HEAD = ("case", "formulation", "quantity", "from peer", "from tightest", "peer's own error", "time [s]", "")
NARROW_HEAD = ("case", "formulation", "quantity", "from peer", "tightest", "peer's", "time [s]", "")
"""Of a narrow terminal, where case and formulation stand on a line of their own."""


@dataclass(frozen=True)
class AgainstPeer(metaclass=CheckedCalls):
    """What all runs gave, in order."""

    suite: str
    outcomes: list[Outcome]

    @property
    def holds(self) -> bool:
        """Whether every quantity of every run is within what is allowed."""
        return bool(self.outcomes) and all(outcome.holds for outcome in self.outcomes)

    def __str__(self) -> str:
        table = PeerTable({o.case.name: o.case for o in self.outcomes}.values())
        return "\n".join([table.head, *(table.line(outcome) for outcome in self.outcomes)])

    def to_dict(self) -> dict[str, Any]:
        """All distances as plain data (for JSON); None for an error that is not known."""
        return {"suite": self.suite, "holds": self.holds, "runs": [_plain(outcome) for outcome in self.outcomes]}


class PeerTable:
    """What the runs gave as lines, one by one as they come, with columns wide enough for some cases; on two lines each where one is
    wider than `width`."""

    def __init__(self, cases: Iterable[Case], width: int | None = None) -> None:
        found = list(cases)
        names, runs = [c.name for c in found], [run.formulation for c in found for _, run in c.runs()]
        columns = (names, runs, ["angular acceleration [rad/s²]"], *([""] * 5))
        self._head: tuple[str, ...] = HEAD
        self._widths = self._wide(columns)
        self._narrow = width is not None and sum(self._widths) + 2 * len(HEAD) + len("holds") > width
        if self._narrow:
            self._head = NARROW_HEAD
            self._widths = self._wide(columns)

    def _wide(self, columns: Sequence[Sequence[str]]) -> list[int]:
        return [max(len(text) for text in (head, *column)) for head, column in zip(self._head, columns, strict=True)]

    @property
    def head(self) -> str:
        """The names of the columns."""
        return self._line(self._head)

    def line(self, outcome: Outcome) -> str:
        """An outcome by its quantity that is nearest to what is allowed, or furthest beyond."""
        return self._line(_row(outcome, outcome.worst))

    def lines(self, outcome: Outcome) -> list[str]:
        """An outcome with all its quantities."""
        return [self._line(_row(outcome, d)) for d in outcome.distances] or [self.line(outcome)]

    def _line(self, row: Iterable[str]) -> str:
        texts = list(row)
        cells = [text.ljust(width) for text, width in zip(texts, self._widths, strict=True)]
        if self._narrow:
            return f"{texts[0]}  {texts[1].replace(' coordinates', '')}\n  {'  '.join(cells[2:]).rstrip()}"
        return "  ".join(cells).rstrip()


def cases_of(suite: str, names: Sequence[str] | None = None) -> list[Case]:
    """The cases of a suite, all for None. Raises UnknownNameError for a suite or a case that there is not."""
    if suite not in SUITES:
        raise unknown("suite", suite, list(SUITES))
    cases = SUITES[suite]
    for name in names or ():
        if name not in cases:
            raise unknown(f"{suite} case", name, list(cases))
    return list(cases.values()) if names is None else [cases[name] for name in names]


@checked_call
def verify_against(
    suite: str,
    cases: Sequence[str] | None = None,
    *,
    curves: str | Path | None = None,
    told: Callable[[Outcome], None] | None = None,
) -> AgainstPeer:
    """Run a peer's cases (all, or those named) under every formulation that supports them and compare with the peer's curves.

    suite: "adams", "dymola", "exudyn" or "recurdyn". curves: the folder of a copy of the repository that publishes them, in place of
    the curves that NexDyn keeps; of "exudyn", whose models are then run in Exudyn itself. told: called with each outcome as it comes.
    Raises UnknownNameError for a suite or a case that there is not, InputError where curves are missing or Exudyn is not installed.
    """
    chosen = cases_of(suite, cases)
    folder = None if curves is None else Path(curves)
    if folder is not None and not folder.is_dir():
        raise FileError(f"no folder {str(folder)!r}; curves= takes the folder of a copy of the peer's repository")
    outcomes = []
    for case in chosen:
        for outcome in case.check(folder):
            outcomes.append(outcome)
            if told is not None:
                told(outcome)
    return AgainstPeer(suite, outcomes)


def _row(outcome: Outcome, distance: Distance | None) -> tuple[str, ...]:
    case, run, wall = outcome.case.name, outcome.run.formulation, f"{outcome.wall_time:.2f}"
    if distance is None:
        return (case, run, "", "", "", "", wall, f"FAILED: {outcome.failure}")
    own = f"{distance.own_error:.1e}" if np.isfinite(distance.own_error) else "not known"
    return (
        case, run, f"{distance.quantity} [{distance.unit}]", f"{distance.from_peer:.1e}", f"{distance.from_tightest:.1e}", own, wall,
        "holds" if distance.share <= 1.0 else "FAILS",
    )  # fmt: skip


def _plain(outcome: Outcome) -> dict[str, Any]:
    return {
        "case": outcome.case.name, "title": outcome.case.title, "source": outcome.case.source,
        "formulation": outcome.run.formulation, "method": repr(outcome.run.method), "holds": outcome.holds,
        "wall_time": outcome.wall_time if np.isfinite(outcome.wall_time) else None, "failure": outcome.failure,
        "quantities": [
            {"quantity": d.quantity, "unit": d.unit, "from_peer": d.from_peer, "from_tightest": d.from_tightest,
             "own_error": d.own_error if np.isfinite(d.own_error) else None, "allowed_from_peer": d.allowed_from_peer,
             "allowed_from_tightest": d.allowed_from_tightest}
            for d in outcome.distances
        ],
    }  # fmt: skip
