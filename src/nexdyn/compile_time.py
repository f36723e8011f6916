"""What Numba asks again and again while it compiles, answered once.

    flags     each of the ten meanings that `a * b` may have is tried, and each try looks up what was compiled under these flags:
              it compares thirty of them by name
    timers    each function that is compiled inside others starts two more timers, and each timer hears of all that happens
    garbage   Python looks for it all the while among millions of objects that are none; what compiles looks a twentieth as often

Timers are left out where NexDyn's own functions are compiled; what a user compiles is as before. To remember which meaning was found, too,
would save as much again, but Numba notes with the trial which code to call, and that depends on the flags.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator
from typing import Any

from numba.core import dispatcher, event, targetconfig

GARBAGE = 14_000
"""Objects made since Python last looked for garbage, when it looks again."""


class _Here(threading.local):
    """Whether this thread compiles for NexDyn."""

    ours = False


_here = _Here()


@contextlib.contextmanager
def ours() -> Iterator[None]:
    """Compile one of NexDyn's functions, and what it calls."""
    if _here.ours:
        yield
        return
    thresholds = gc.get_threshold()
    _here.ours = True
    if thresholds[0]:  # zero: it never looks
        gc.set_threshold(max(thresholds[0], GARBAGE), *thresholds[1:])
    try:
        yield
    finally:
        _here.ours = False
        gc.set_threshold(*thresholds)


def _compare_flags_at_once() -> None:
    """Two sets of flags are equal where what was set is. The hash that Numba takes is of the names alone."""
    flags: Any = targetconfig.TargetConfig
    by_name, hashes = flags.__eq__, {}

    def equal(self: Any, other: Any) -> Any:
        return (type(self) is type(other) and self._values == other._values) or by_name(self, other)

    def hashed(self: Any) -> int:
        kind = type(self)
        if kind not in hashes:
            hashes[kind] = hash(tuple(sorted(kind.options)))
        return hashes[kind]

    flags.__eq__, flags.__hash__ = equal, hashed


def _leave_out_timers() -> None:
    """Of the two that Numba starts for each function that it compiles."""

    class Events:
        def __getattr__(self, name: str) -> Any:
            return getattr(event, name)

        @staticmethod
        def install_timer(kind: str, callback: Any) -> Any:
            return contextlib.nullcontext() if _here.ours else event.install_timer(kind, callback)

    dispatcher.ev = Events()  # type: ignore[attr-defined]


_compare_flags_at_once()
_leave_out_timers()
