"""What is seen of work under way: a bar with the time left, and a word when kernels are compiled."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

from nexdyn.cli import terminal
from nexdyn.errors import counted

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """A line that moves: `stage` names what goes on, `at` shows a simulated time. Without a terminal it is nothing."""

    def __init__(self, name: str, drawn: Progress | None = None) -> None:
        self._name, self._drawn = name, drawn

    def draw_on(self, drawn: Progress | None) -> None:
        """From now on it is seen."""
        self._drawn = drawn

    def clear(self) -> None:
        """Take the line away, so that something else can be printed where it stands."""
        if self._drawn:
            for task in self._drawn.task_ids:
                self._drawn.remove_task(task)
            self._drawn.refresh()

    def stage(self, text: str) -> None:
        """Say what goes on, for work that cannot be measured."""
        if self._drawn:
            self._line(text)

    def at(self, t: float, t_start: float, t_end: float) -> None:
        """Show that a run from `t_start` to `t_end` has reached `t` [s]."""
        decimals = min(12, max(0, 2 - math.floor(math.log10(abs(t_end) or 1.0))))
        now = f"t = {t:{len(f'{t_end:.{decimals}f}')}.{decimals}f} of {t_end:g} s"
        self._reach(t - t_start, t_end - t_start, now)

    def count(self, done: int, total: int) -> None:
        """Show that so many members of a sweep are done."""
        self._reach(done, total, f"{done} of {total}")

    def _reach(self, done: float, total: float, now: str) -> None:
        """Show how much of the work that the bar is named after is done."""
        if not self._drawn:
            return
        line = self._drawn.tasks[0] if self._drawn.tasks else None
        measured = line is not None and line.description == self._name and line.total is not None
        task = line.id if line is not None and measured else self._line(self._name)
        self._drawn.update(task, completed=done, total=total, now=now, left="left")

    def _line(self, text: str) -> TaskID:
        """The bar's only line, made anew."""
        assert self._drawn
        for task in self._drawn.task_ids:
            self._drawn.remove_task(task)
        return self._drawn.add_task(text, total=None, now="", left="")


@contextmanager
def progress_bar(name: str, show: bool) -> Iterator[Bar]:
    """A bar on stderr, drawn if `show` is true and stderr is a terminal, and gone when the block ends."""
    with _drawing() if show else nullcontext() as drawn:
        yield Bar(name, drawn)


@contextmanager
def _drawing() -> Iterator[Progress | None]:
    """What draws lines that move on stderr; None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
        TextColumn("{task.fields[now]}"), TimeRemainingColumn(), TextColumn("{task.fields[left]}"),
    )  # fmt: skip
    with (
        terminal.console_of_bar() as console,
        Progress(
            *columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty(), refresh_per_second=8
        ) as drawn,
    ):
        yield drawn


@contextmanager
def compilation_announced(bar: Bar | None = None) -> Iterator[Bar]:
    """Say on stderr when kernels are compiled while the block lasts: that it is once, on the bar which and how far, at the end how long it
    took. Without a bar one is drawn while kernels are compiled; where something is printed in the block, `clear` makes room."""
    from nexdyn.assembly.compile_notice import unserved
    from nexdyn.assembly.stopwatch import compiling_told
    from nexdyn.kernel_folders import cache_folder

    first: tuple[int, float] | None = None
    seen = bar or Bar("")

    def tell(name: str, count: int, seconds: float) -> None:
        nonlocal first
        if first is None:
            first = count, seconds
            kept = "kept for later runs" if cache_folder() else "not kept: set NEXDYN_CACHE_DIR to a folder for it"
            terminal.note(f"compiling what has not run before, once, which is {kept}")
            if why := unserved():
                terminal.note(why)
            if bar is None:
                seen.draw_on(own.enter_context(_drawing()))
        seen.stage(f"compiling {name}, after {counted(count - first[0], 'other')} in {seconds - first[1]:.0f} s")

    own = ExitStack()
    with compiling_told(tell) as compiled:
        try:
            with own:
                yield seen
        finally:
            if first is not None:
                count, seconds = compiled.count - first[0], compiled.seconds - first[1]
                terminal.note(
                    f"compiled {counted(count, 'function')} in {seconds:.0f} s, which times of runs leave out"
                )
