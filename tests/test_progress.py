"""The bar of the command line: each of its verbs may come first, and in any order."""

from __future__ import annotations

import io
import itertools
import sys

import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from nexdyn.assembly.stopwatch import compiling
from nexdyn.cli.progress import Bar, compilation_announced, progress_bar

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


class Screen(io.StringIO):
    """What stands for stderr. seen: whether at a terminal."""

    def __init__(self, seen: bool) -> None:
        super().__init__()
        self.seen = seen

    def isatty(self) -> bool:
        return self.seen


@pytest.mark.parametrize("seen", [True, False])
def test_compiling_draws_a_line_of_its_own_where_no_bar_is(seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(seen)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with compilation_announced() as bar:
        bar.clear()
        assert screen.getvalue() == ""
        for tell in list(compiling().told):
            tell("aba.inward", compiling().count, compiling().seconds)
        bar.clear()
        for tell in list(compiling().told):
            tell("aba.outward", compiling().count + 1, compiling().seconds + 2.0)
    text = screen.getvalue()
    assert text.count("compiling what has not run before, once") == 1
    assert ("compiling aba.outward, after 1 other in 2 s" in text) is seen
    assert text.rstrip().endswith("which times of runs leave out")


def test_what_is_printed_beside_a_bar_goes_to_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, out = Screen(True), Screen(False)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("pendulum", True) as bar:
        bar.stage("preparing")
        print("a row")
    assert out.getvalue() == "a row\n"
    assert "a row" not in screen.getvalue()
