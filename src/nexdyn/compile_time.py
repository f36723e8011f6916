"""What Numba asks again and again while it compiles, answered once.

A third of the time that the first run of a four-bar compiled went into questions whose answers were known:

    which signature   each of the ten meanings that `a * b` may have is tried at each product; of 17,000 calls 1,000 differ
    flags             each try looks up what was compiled under these flags, and compares thirty of them by name
    timers            each function that is compiled inside others starts two more timers, and each timer hears of all that happens

Signatures are remembered, and timers left out, where NexDyn's own functions are compiled; what a user compiles is as before.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from numba.core import dispatcher, event, targetconfig
from numba.core.types.functions import BaseFunction


class _Here(threading.local):
    """Whether this thread compiles for NexDyn."""

    ours = False


_here = _Here()


@contextlib.contextmanager
def ours() -> Iterator[None]:
    """Compile one of NexDyn's functions, and what it calls."""
    before, _here.ours = _here.ours, True
    try:
        yield
    finally:
        _here.ours = before


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


def _remember_signatures() -> None:
    """What a function of Numba's returns for arguments of these types. One that gets a new meaning is another function type."""
    by_trial = BaseFunction.get_call_type
    known: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if not _here.ours or kws:
            return by_trial(self, context, args, kws)
        answers, asked = known.setdefault(self, {}), (context, tuple(args), targetconfig.ConfigStack.top_or_none())
        if asked not in answers:
            answers[asked] = by_trial(self, context, args, kws)
        return answers[asked]

    BaseFunction.get_call_type = get_call_type  # type: ignore[method-assign]


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
_remember_signatures()
_leave_out_timers()
