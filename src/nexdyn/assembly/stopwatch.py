"""The machine's time that work takes, without the time in which its kernels are compiled: that is spent once, and told apart.

Numba tells when it begins to compile a function and when it is done. Of functions that need each other the outermost counts, in
each thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from nexdyn.numba_parts import event

Told = Callable[[str, int, float], None]
"""Called with the name of what is to be compiled now, how many functions were before, and how long they took [s]."""


class Compiling(event.Listener):
    """What this process has compiled: how many functions, and for how long [s]."""

    def __init__(self) -> None:
        self.count, self.seconds = 0, 0.0
        self.told: list[Told] = []
        self._mine = threading.local()

    def on_start(self, event: Any) -> None:
        depth = getattr(self._mine, "depth", 0)
        self._mine.depth = depth + 1
        if depth == 0:
            self._mine.began = time.perf_counter()
            function = event.data["dispatcher"].py_func
            for tell in self.told:
                tell(f"{function.__module__.rpartition('.')[2]}.{function.__name__}", self.count, self.seconds)

    def on_end(self, event: Any) -> None:
        self._mine.depth -= 1
        if self._mine.depth == 0:
            self.count += 1
            self.seconds += time.perf_counter() - self._mine.began


@cache
def compiling() -> Compiling:
    """What is compiled from the first call on."""
    listener = Compiling()
    event.register("numba:compile", listener)
    return listener


@contextmanager
def compiling_told(tell: Told) -> Iterator[Compiling]:
    """Within, `tell` is called whenever a function begins to be compiled."""
    listener = compiling()
    listener.told.append(tell)
    try:
        yield listener
    finally:
        listener.told.remove(tell)


class Stopwatch:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._compiling = compiling()
        self._before, self._began = self._compiling.seconds, time.perf_counter()

    @property
    def seconds(self) -> float:
        """Time so far [s], without compiling."""
        return time.perf_counter() - self._began - (self._compiling.seconds - self._before)
