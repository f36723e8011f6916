"""What reaches people, and what they press: stdout and stderr, colours, warnings, Ctrl-C.

Answers go to stdout; errors, warnings and progress to stderr. Colours and the bar appear on terminals only; NO_COLOR
turns colours off. A terminal that is not UTF-8 gets plain substitutes for the characters it lacks.
"""

from __future__ import annotations

import _thread
import codecs
import os
import signal
import sys
import textwrap
import threading
import warnings
from collections.abc import Iterator
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


def columns() -> int | None:
    """The width of the terminal that stdout is; None where it is none."""
    return _console(stderr=False).width if sys.stdout.isatty() else None


def wrapped(text: str, width: int | None) -> str:
    """The text in lines of at most `width` columns, broken between words; words that are longer, like addresses, stay whole."""
    if width is None:
        return text
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())] + "  "
        fits = len(line) <= width or len(indent) >= width // 2
        lines += [line] if fits else textwrap.wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )  # fmt: skip
    return "\n".join(lines)


def say(what: RenderableType = "") -> None:
    """Print text or a table on stdout."""
    try:
        text = isinstance(what, str)
        _console(stderr=False).print(wrapped(what, columns()) if isinstance(what, str) else what, soft_wrap=text)
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
        console = _bar or _console(stderr=True)
        told = wrapped(f"{label}: {message}", console.width if console.is_terminal else None)
        console.print(Text.assemble((f"{label}:", style), told.removeprefix(f"{label}:")), soft_wrap=True)


_bar: Console | None = None
"""The console of the progress bar while there is one: lines printed through it stand above the bar."""


@contextmanager
def console_of_bar() -> Iterator[Console]:
    """A console on stderr for a bar, which errors, warnings and notes use too while the block lasts."""
    global _bar
    _bar = _console(stderr=True)
    try:
        yield _bar
    finally:
        _bar = None


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


# --- Ctrl-C ---------------------------------------------------------------------------------------------------------


class CtrlC:
    """Within its block the first Ctrl-C only sets `pressed`, once `gentle` is true; another one stops at once.

    A run sets `gentle` when its first steps are done and stops itself where nothing gets lost. SIGTERM, which batch
    systems send before they kill, counts as Ctrl-C; a signal that the shell has set to be ignored stays ignored. One that comes in a
    callback from C or while an object is freed, where Python drops what is raised, comes again a moment later.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.gentle = self.pressed = False
        self._before: dict[signal.Signals, Any] = {}
        self._last: int = signal.SIGINT
        self._hook = sys.unraisablehook

    def __enter__(self) -> CtrlC:
        if threading.current_thread() is threading.main_thread():
            heard = [number for number in self.SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
            self._before = {number: signal.signal(number, self._handle) for number in heard}
            self._hook, sys.unraisablehook = sys.unraisablehook, self._tell_again
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if sys.unraisablehook == self._tell_again:
            sys.unraisablehook = self._hook

    def _tell_again(self, dropped: Any) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            return self._hook(dropped)
        again = threading.Timer(0.05, _thread.interrupt_main, (self._last,))
        again.daemon = True
        return again.start()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._last = number
        if self.pressed or not self.gentle:
            raise KeyboardInterrupt
        self.pressed = True
