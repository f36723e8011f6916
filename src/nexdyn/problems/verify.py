"""`nx.verify`: every published problem under every formulation that supports it, compared with the published values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import InputError, unknown
from nexdyn.problems.andrews import A03
from nexdyn.problems.bicycle import BICYCLE, RIDE
from nexdyn.problems.bricard import A04
from nexdyn.problems.contacts import CONTACTS
from nexdyn.problems.double_pendulum import POINTS, RODS
from nexdyn.problems.forms import FORMS
from nexdyn.problems.four_bars import A02
from nexdyn.problems.governor import A05
from nexdyn.problems.heavy_top import HEAVY_TOP
from nexdyn.problems.implicit_euler import PUBLISHED
from nexdyn.problems.pendulum import A01
from nexdyn.problems.problem import Outcome, Problem
from nexdyn.problems.rolling_coin import ROLLING_COIN
from nexdyn.problems.table import Table
from nexdyn.problems.tumbling import TUMBLING

PROBLEMS = {
    p.name: p
    for p in (
        A01,
        A02,
        A03,
        A04,
        A05,
        HEAVY_TOP,
        TUMBLING,
        POINTS,
        RODS,
        PUBLISHED,
        ROLLING_COIN,
        BICYCLE,
        RIDE,
        *CONTACTS,
    )
}


@dataclass(frozen=True)
class Verification(metaclass=CheckedCalls):
    """What all runs gave, in order."""

    outcomes: list[Outcome]

    @property
    def holds(self) -> bool:
        """Whether every value of every run is within its tolerance."""
        return bool(self.outcomes) and all(outcome.holds for outcome in self.outcomes)

    def __str__(self) -> str:
        table = Table({o.problem.name: o.problem for o in self.outcomes}.values())
        return "\n".join([table.head, *(table.line(outcome) for outcome in self.outcomes)])

    def to_dict(self) -> dict[str, Any]:
        """All values as plain data (for JSON)."""
        return {
            "holds": self.holds,
            "runs": [
                {
                    "problem": o.problem.name, "title": o.problem.title, "source": o.problem.source,
                    "formulation": o.run.formulation, "method": None if o.run.method is None else repr(o.run.method), "holds": o.holds,
                    "wall_time": o.wall_time, "failure": o.failure,
                    "values": [
                        {"quantity": v.quantity, "unit": v.unit, "t": v.t, "value": v.value, "reference": v.reference,
                         "error": v.error, "tolerance": v.tolerance}
                        for v in o.values
                    ],
                }
                for o in self.outcomes
            ],
        }  # fmt: skip


def chosen(names: Sequence[str] | None, forms: bool = False) -> list[Problem]:
    """The problems and forms of these names, all problems for None; `forms`: with the other forms of each.

    Raises UnknownNameError for one that there is not."""
    there = {**PROBLEMS, **FORMS}
    if names is not None and (isinstance(names, str) or not isinstance(names, Sequence)):
        raise InputError(f"names are {names!r}; a list of problems is needed, like {[*PROBLEMS][:2]}")
    for name in names or ():
        if name not in there:
            raise unknown("problem", name, list(there))
    found = []
    for problem in PROBLEMS.values() if names is None else [there[name] for name in names]:
        found.append(problem)
        if forms:
            found += [form for name, form in FORMS.items() if name.startswith(f"{problem.name}/")]
    return found


@checked_call
def verify(
    problems: Sequence[str] | None = None, *, forms: bool = False, told: Callable[[Outcome], None] | None = None
) -> Verification:
    """Run the published problems (all, or those named) under every formulation and compare with the published values.

    forms: also those of contact in other forms, with their bodies swapped, over areas, and as meshes; each has a name, too, as
    "sliding/meshes". told: called with each outcome as it comes. Raises UnknownNameError for a problem that there is not.
    """
    outcomes = []
    for problem in chosen(problems, forms):
        for run in problem.runs:
            outcomes.append(problem.check(run))
            if told is not None:
                told(outcomes[-1])
    return Verification(outcomes)
