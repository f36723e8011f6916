"""`nexdyn verify`: published problems and cases of peers under every formulation, compared with published values and curves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from nexdyn.cli import terminal
from nexdyn.cli.codes import DONE, NO_SOLUTION
from nexdyn.cli.options import OUTPUT, SAYING_PLAINLY, Saying, flag
from nexdyn.cli.progress import compilation_announced
from nexdyn.errors import InputError, counted

if TYPE_CHECKING:
    from nexdyn.problems.against.case import Outcome as PeerOutcome
    from nexdyn.problems.problem import Outcome

NAME = "verify"
EXAMPLES = """\
Examples:
  nexdyn verify                   all, under every formulation
  nexdyn verify A03 top           some of them
  nexdyn verify --all             every value, not only the farthest off
  nexdyn verify sliding --forms   with bodies swapped, as meshes, …
  nexdyn verify --json            all of it for a program
  nexdyn verify --against dymola  examples that another program computed
  nexdyn verify --against exudyn --curves EXUDYN
                                  Exudyn's own models, run in Exudyn now

Exit codes: 0 every value holds, 3 one does not."""


def command(
    names: Annotated[tuple[str, ...], Parameter(name="PROBLEM", help="Problems; all where none is named.")] = (),
    /,
    *,
    all_values: Annotated[bool, flag("A line for every value.", name="--all", group=OUTPUT)] = False,
    forms: Annotated[
        bool,
        flag(
            "Contact problems also with bodies swapped, over areas, as meshes and with constant steps.", name="--forms"
        ),
    ] = False,
    against: Annotated[
        str | None, Parameter(help="Cases of a peer's suite in place of problems: adams, dymola, exudyn, recurdyn.")
    ] = None,
    curves: Annotated[
        Path | None, Parameter(help="Copy of the peer's repository, in place of the curves that are kept.")
    ] = None,
    saying: Saying = SAYING_PLAINLY,
) -> int:
    """Run published problems under every formulation and compare with the published values."""
    if against is not None:
        if forms:
            raise InputError("--forms cannot be combined with --against")
        return _against_peer(against, names or None, curves, all_values, saying)
    if curves is not None:
        raise InputError("--curves needs --against, like --against adams --curves chrono")
    from nexdyn.problems.table import Table
    from nexdyn.problems.verify import chosen, verify

    table = Table(chosen(names or None, forms), terminal.columns())

    def told(outcome: Outcome) -> None:
        bar.clear()
        for text in table.lines(outcome) if all_values else [table.line(outcome)]:
            terminal.say(text)
        sys.stdout.flush()

    if not saying.json:
        terminal.say(table.head)
    with compilation_announced() as bar:
        found = verify(names or None, forms=forms, told=None if saying.json else told)
    return _told_in_all(found, saying.json)


def _told_in_all(found: Any, as_json: bool) -> int:
    """Say how many runs hold, or all of them as JSON; the exit code."""
    if as_json:
        terminal.say_json(found.to_dict())
    else:
        failed = sum(not outcome.holds for outcome in found.outcomes)
        terminal.say(
            f"{counted(len(found.outcomes), 'run')}, {f'{failed} of them do not hold' if failed else 'all hold'}"
        )
    return DONE if found.holds else NO_SOLUTION


def _against_peer(
    suite: str, names: tuple[str, ...] | None, curves: Path | None, all_values: bool, saying: Saying
) -> int:
    from nexdyn.problems.against.verify import PeerTable, cases_of, verify_against

    table = PeerTable(cases_of(suite, names), terminal.columns())

    begun: list[str] = []

    def told(outcome: PeerOutcome) -> None:
        bar.clear()
        if not begun:
            begun.append(table.head)
            terminal.say(table.head)
        for text in table.lines(outcome) if all_values else [table.line(outcome)]:
            terminal.say(text)
        sys.stdout.flush()

    with compilation_announced() as bar:
        found = verify_against(suite, names, curves=curves, told=None if saying.json else told)
    return _told_in_all(found, saying.json)
