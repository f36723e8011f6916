"""What a Python program says at a terminal, or in a notebook, while it compiles: what, that it is once, and for how long so far.

The first two seconds of compiling pass in silence. Then one line stays, and another one below it moves until the function is compiled.
Where kernels came with the package and do not serve, as they are of other versions, a second line says why, and what to do.
Pipes, files and the processes of a sweep stay silent; so does the command line, which has its own bar. NEXDYN_QUIET=1 leaves it out.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from nexdyn.assembly.stopwatch import compiling
from nexdyn.errors import counted
from nexdyn.numba_parts import event

SILENT = 2.0
"""Seconds of compiling before anything is said."""
EVERY = 0.5
"""Seconds between two states of the line that moves."""
QUIET = "NEXDYN_QUIET"


class CompileNotice(event.Listener):
    """Writes to stderr while this process compiles. clock: time [s]."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._mine = threading.local()
        self._seconds, self._count = 0.0, 0
        self._written = -float("inf")
        self._width = 0  # of the line that stands there now
        self._said = False

    def on_start(self, event: Any) -> None:
        depth = getattr(self._mine, "depth", 0)
        self._mine.depth = depth + 1
        if depth == 0:  # of whoever compiles: what is not NexDyn's may lack any of these
            function = getattr(event.data.get("dispatcher"), "py_func", None)
            floor, _, module = str(getattr(function, "__module__", None) or "").rpartition(".")
            self._mine.began, self._mine.name = self._clock(), f"{module}.{getattr(function, '__name__', '')}"
            self._mine.ours = floor.partition(".")[0] == "nexdyn"
        self._tell()

    def on_end(self, event: Any) -> None:
        self._mine.depth = getattr(self._mine, "depth", 1) - 1
        if self._mine.depth > 0:
            self._tell()
        elif getattr(self._mine, "ours", False):
            self._seconds, self._count = self._so_far(), self._count + 1
            self._write("")

    def _so_far(self) -> float:
        return self._seconds + self._clock() - self._mine.began

    def _tell(self) -> None:
        """Say how long it has taken, where it is NexDyn that compiles, long enough, and the line does not stand there just now."""
        seconds = self._so_far()
        if not self._mine.ours or seconds < SILENT or self._clock() - self._written < EVERY or not _is_wanted():
            return
        if not self._said:
            self._said = True
            with suppress(OSError, ValueError):  # nobody reads stderr, or it is closed
                sys.stderr.write("".join(f"nexdyn: {line}\n" for line in (_first_line(), unserved()) if line))
        others = counted(self._count, "other function")
        self._write(f"nexdyn: compiling {self._mine.name}, after {others}, for {seconds:.0f} s so far")

    def _write(self, text: str) -> None:
        """Put `text` where the line that moves stands; an empty one takes it away."""
        if not text and not self._width:
            return
        text = text[: shutil.get_terminal_size().columns - 1]
        with suppress(OSError, ValueError):
            sys.stderr.write("\r" + text.ljust(self._width) + ("" if text else "\r"))
            sys.stderr.flush()
        self._width, self._written = len(text), self._clock()


def _first_line() -> str:
    from nexdyn.kernel_folders import cache_folder

    kept = "is kept for later runs" if cache_folder() else "is not kept: set NEXDYN_CACHE_DIR to a folder for it"
    return f"compiling what has not run before, once; it {kept} ({QUIET}=1 leaves this out)"


def unserved() -> str:
    """Why kernels that came with the package do not serve here, and the cure; nothing where they do, or none came."""
    from nexdyn.kernel_folders import other_versions

    differs = other_versions()
    return (
        f"kernels came with the package, but {differs}; `nexdyn warm` compiles what first commands need"
        if differs
        else ""
    )


def _is_wanted() -> bool:
    """Whether somebody watches: at a terminal or in a notebook, in the main process, without the command line's own bar."""
    if os.environ.get(QUIET, "0") not in ("", "0") or compiling().told or "nexdyn.cli.app" in sys.modules:
        return False
    if multiprocessing.current_process().name != "MainProcess" or sys.stderr is None:
        return False
    try:
        return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel")
    except ValueError:  # closed
        return False


@cache
def announce_compiling() -> None:
    """From now on this process says while it compiles."""
    compiling()  # hears of the same functions: both from their beginning
    event.register("numba:compile", CompileNotice())
