"""BLAS with one thread in analyses of small systems.

A dense matrix of some hundred unknowns is factored in a tenth of a millisecond. OpenBLAS wakes its threads for it all the
same: they spin for 0.1 s after each call and, where the cores are busy, wait for each other (76 ms instead of 0.1).

The number of threads belongs to the process: of analyses that overlap, the first to begin sets it, and the last to end sets it back.
If each did, the second to begin would take the first one's 1 for what was there before, and leave it. A thread of its own does both:
the analyses may be on any threads, and threadpoolctl lets only the one that has set the number set it again. A BLAS with OpenMP has a
number for each thread, which this does not reach.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from nexdyn.checked_calls import checked_call
from nexdyn.model.system import System

F = TypeVar("F", bound=Callable[..., Any])

LARGE = 200
"""Bodies from which the matrices of an analysis are large enough for several threads to pay."""


class _Together:
    """The analyses that overlap now."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """None are."""
        self._lock = threading.Lock()
        self._count = 0
        self._holder: threading.Thread | None = None
        self._last_ended = threading.Event()

    def __enter__(self) -> None:
        with self._lock:
            if self._count == 0 and any(library.num_threads != 1 for library in _libraries().lib_controllers):
                held, self._last_ended = threading.Event(), threading.Event()
                self._holder = threading.Thread(target=_hold, args=(held, self._last_ended), daemon=True)
                try:
                    self._holder.start()
                    held.wait()
                except RuntimeError:  # no thread can be started: the analysis does without
                    self._holder = None
                except BaseException:  # an interruption
                    self._last_ended.set()
                    raise
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._count = max(0, self._count - 1)
            if self._count == 0 and self._holder is not None:
                self._last_ended.set()
                self._holder.join()
                self._holder = None


def _hold(held: threading.Event, until: threading.Event) -> None:
    """One thread of BLAS until an event."""
    try:
        with _libraries().limit(limits=1):
            held.set()
            until.wait()
    finally:
        held.set()


_TOGETHER = _Together()
if hasattr(os, "register_at_fork"):  # a child has neither the thread nor what holds the lock
    os.register_at_fork(after_in_child=_TOGETHER.begin)


@functools.cache
def _libraries() -> ThreadpoolController:
    """The BLAS libraries that NumPy and SciPy have brought."""
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    return ThreadpoolController().select(user_api="blas")


def small_on_one_thread(analysis: F) -> F:
    """`analysis` of a System, its first argument, or that of a simulation whose method it is, as described above. Wrong arguments
    of a function are an InputError."""

    @functools.wraps(analysis)
    def limited(subject: Any, *arguments: Any, **options: Any) -> Any:
        first = arguments[0] if arguments else options.get("system")
        system = subject if isinstance(subject, System) else getattr(subject, "system", first)
        large = isinstance(system, System) and len(system.bodies) >= LARGE
        if large:
            return analysis(subject, *arguments, **options)
        with _TOGETHER:
            return analysis(subject, *arguments, **options)

    is_method = next(iter(inspect.signature(analysis).parameters), "") == "self"
    return limited if is_method else checked_call(limited)  # type: ignore[return-value]
