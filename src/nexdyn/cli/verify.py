"""`nexdyn verify`: published problems under every formulation, beside the published values."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from nexdyn.cli import terminal
from nexdyn.cli.codes import DONE, NO_SOLUTION
from nexdyn.cli.options import OUTPUT, SAYING_PLAINLY, Saying, flag
from nexdyn.cli.progress import compilation_announced

if TYPE_CHECKING:
    from nexdyn.problems.problem import Outcome

NAME = "verify"
EXAMPLES = """\
Examples:
  nexdyn verify                  all, under every formulation
  nexdyn verify A03 top          some of them
  nexdyn verify --all            every value, not only the farthest off
  nexdyn verify --json           all of it for a program

Exit codes: 0 every value holds, 3 one does not."""


def command(
    names: Annotated[tuple[str, ...], Parameter(name="PROBLEM", help="Problems; all where none is named.")] = (),
    /,
    *,
    all_values: Annotated[bool, flag("A line for every value.", name="--all", group=OUTPUT)] = False,
    saying: Saying = SAYING_PLAINLY,
) -> int:
    """Run published problems under every formulation and compare with the published values."""
    from nexdyn.problems.table import Table
    from nexdyn.problems.verify import chosen, verify

    table = Table(chosen(names or None))

    def told(outcome: Outcome) -> None:
        for text in table.lines(outcome) if all_values else [table.line(outcome)]:
            terminal.say(text)
        sys.stdout.flush()

    if not saying.json:
        terminal.say(table.head)
    with compilation_announced():
        found = verify(names or None, told=None if saying.json else told)
    if saying.json:
        terminal.say_json(found.to_dict())
    else:
        failed = sum(not outcome.holds for outcome in found.outcomes)
        terminal.say(f"{len(found.outcomes)} runs, {f'{failed} of them do not hold' if failed else 'all hold'}")
    return DONE if found.holds else NO_SOLUTION
