"""The bar of the command line: each of its verbs may come first, and in any order."""

from __future__ import annotations

import io
import itertools

import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from nexdyn.cli.progress import Bar

VERBS = {
    "stage": lambda bar: bar.stage("preparing"),
    "at": lambda bar: bar.at(0.25, 0.0, 1.0),
    "at of a run of no length": lambda bar: bar.at(0.0, 0.0, 0.0),
    "at before t = 0": lambda bar: bar.at(-2.0, -3.0, -1.0),
    "count": lambda bar: bar.count(1, 4),
    "count nothing": lambda bar: bar.count(0, 0),
}


@pytest.mark.parametrize("order", list(itertools.permutations(VERBS, 3)), ids=" then ".join)
def test_the_verbs_of_a_bar_may_come_in_any_order(order: tuple[str, ...]) -> None:
    screen = io.StringIO()
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[now]} {task.fields[left]}")
    with Progress(*columns, console=Console(file=screen, force_terminal=True, width=100)) as drawn:
        bar = Bar("pendulum", drawn)
        for verb in order:
            VERBS[verb](bar)
            drawn.refresh()
            assert len(drawn.tasks) == 1
    assert ("preparing" if order[-1] == "stage" else "pendulum") in screen.getvalue()


@pytest.mark.parametrize("verb", VERBS)
def test_without_a_terminal_a_bar_does_nothing(verb: str) -> None:
    VERBS[verb](Bar("pendulum"))
