"""What reaches people: stdout and stderr, colours, warnings, the progress bar, and Ctrl-C.

Answers go to stdout; errors, warnings and progress to stderr. Colours and the bar appear on terminals only; NO_COLOR
turns colours off. A terminal that is not UTF-8 gets plain substitutes for the characters it lacks.
"""

from __future__ import annotations

import codecs
import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

from nexdyn.cli.jsons import to_json
from nexdyn.errors import NexDynWarning

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

WIDE = 400
"""Columns of a table that goes to a file or a pipe."""

_PLAIN = {
    "…": "...", "·": ".", "−": "-", "–": "-", "—": "-", "×": "x", "→": "->", "²": "^2", "³": "^3", "°": " deg",
    "±": "+-", "≤": "<=", "≥": ">=", "∞": "inf", "Δ": "d", "ω": "w", "•": "*", "’": "'", "“": '"', "”": '"',
}  # fmt: skip


# --- streams --------------------------------------------------------------------------------------------------------


def prepare_streams() -> None:
    """Make stdout and stderr fit for use, whatever the shell gave."""
    codecs.register_error("nexdyn", _substitute)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the shell: `>&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="nexdyn")


def _substitute(error: UnicodeError) -> tuple[str, int]:
    """Plain text for characters that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in missing), error.end


def _console(stderr: bool) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=None if stream.isatty() else WIDE)


def say(what: RenderableType) -> None:
    """Print text or a table on stdout."""
    try:
        _console(stderr=False).print(what, soft_wrap=isinstance(what, str))
    except OSError as error:
        error.filename = "stdout"
        raise


def say_json(data: Any) -> None:
    """Print one JSON object on stdout; plain ASCII, whatever the terminal."""
    sys.stdout.write(to_json(data) + "\n")


def say_error(message: str) -> None:
    """Print a message on stderr."""
    _say_aside("error", message, "bold red")


def note(message: str) -> None:
    """Print a remark on stderr."""
    _say_aside("note", message, "bold cyan")


def _say_aside(label: str, message: str, style: str) -> None:
    from rich.text import Text

    with suppress(OSError, SystemExit):  # nobody reads stderr
        _stderr().print(Text.assemble((f"{label}:", style), " ", message), soft_wrap=True)


_beside_the_bar: Console | None = None
"""The console of the bar while there is one: lines printed through it stand above the bar."""


def _stderr() -> Console:
    return _beside_the_bar or _console(stderr=True)


# --- warnings -------------------------------------------------------------------------------------------------------


def show_warnings() -> None:
    """Until `warnings.catch_warnings` ends, NexDyn's warnings are lines on stderr, and others are not shown."""

    def show(message: Warning | str, category: type[Warning], *_: Any) -> None:
        if issubclass(category, NexDynWarning):
            _say_aside("warning", str(message), "bold yellow")

    warnings.simplefilter("ignore")
    warnings.simplefilter("always", NexDynWarning)
    warnings.filterwarnings("ignore", "interrupted at t = ", NexDynWarning)  # `run` says so, and where it is kept
    warnings.showwarning = show  # type: ignore[assignment]


# --- progress -------------------------------------------------------------------------------------------------------


@contextmanager
def progress_bar(name: str, t_start: float, t_end: float, show: bool) -> Iterator[Callable[[float], None]]:
    """A bar on stderr with the simulated time and the wall time left; the body calls what it gets with t [s].

    Nothing is drawn unless `show` is true and stderr is a terminal.
    """
    if not (show and sys.stderr.isatty()):
        yield lambda t: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    global _beside_the_bar
    _beside_the_bar = _console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
        TextColumn("{task.fields[now]}"), TimeRemainingColumn(), TextColumn("{task.fields[left]}"),
    )  # fmt: skip
    bar = Progress(*columns, console=_beside_the_bar, transient=True, refresh_per_second=8)
    task = bar.add_task("preparing", total=max(t_end - t_start, 1e-300), start=False, now="", left="")
    decimals = max(0, 2 - math.floor(math.log10(t_end)))
    width = len(f"{t_end:.{decimals}f}")

    def show_time(t: float) -> None:
        if not bar.tasks[0].started:
            bar.start_task(task)
        now = f"t = {t:{width}.{decimals}f} of {t_end:g} s"
        bar.update(task, completed=t - t_start, description=name, now=now, left="left")

    try:
        with bar:
            yield show_time
    finally:
        _beside_the_bar = None


# --- Ctrl-C ---------------------------------------------------------------------------------------------------------


class CtrlC:
    """Within its block the first Ctrl-C only sets `pressed`, once `gentle` is true; another one stops at once.

    A run sets `gentle` when its first steps are done and stops itself where nothing gets lost.
    """

    def __init__(self) -> None:
        self.gentle = self.pressed = False
        self._before: Any = None

    def __enter__(self) -> CtrlC:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.pressed or not self.gentle:
            raise KeyboardInterrupt
        self.pressed = True
