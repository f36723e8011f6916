"""What Numba asks again and again while it compiles, answered once.

    meanings  each of the ten meanings that `a * b` may have is tried, wherever it stands; which one holds depends on types alone. It is
              tried alone where these types have been met before: with the trial Numba notes which code to call
    flags     each try looks up what was compiled under these flags: it compares thirty of them by name
    variables of each statement are listed nine times, each time by what an instruction is, down to its names and numbers
    timers    each function that is compiled inside others starts two more timers, and each timer hears of all that happens
    garbage   Python looks for it all the while among millions of objects that are none; what compiles looks a twentieth as often
    lengths   what `a[:] = b` says where lengths differ is put together of words and numbers by fifty functions, which every process
              that meets such a line would compile; here it is one sentence

Without meanings the first run of a double pendulum takes 16 % more processor time, without flags 7 %, variables 8 %, timers 13 %,
garbage 3 %, and a four-bar under HHT 6 % without lengths (Numba 0.68).

Meanings are remembered, and timers left out, where NexDyn's own functions are compiled; what a user compiles is as before.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator
from typing import Any

from nexdyn.numba_parts import arrayobj, dispatcher, event, functions, overload, targetconfig, templates
from nexdyn.numba_parts import numba_ir as ir

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
        if type(self) is not type(other):
            return by_name(self, other)
        one, two = self._values, other._values
        return one == two or all(getattr(self, name) == getattr(other, name) for name in one.keys() | two.keys())

    def hashed(self: Any) -> int:
        kind = type(self)
        if kind not in hashes:
            hashes[kind] = hash(tuple(sorted(kind.options)))
        return hashes[kind]

    flags.__eq__, flags.__hash__ = equal, hashed


def _list_variables_at_once() -> None:
    """What holds no variables is told by its type."""
    instruction: Any = ir.Inst
    listed = instruction._rec_list_vars
    nothing = (str, int, float, bool, type(None), ir.Loc)

    def variables(self: Any, value: Any) -> list[Any]:
        kind = type(value)
        if kind is ir.Var:
            return [value]
        if kind in nothing:
            return []
        if kind is dict or kind is list or kind is tuple:
            found = []
            for member in value.values() if kind is dict else value:
                if type(member) is ir.Var:
                    found.append(member)
                elif type(member) not in nothing:
                    found += variables(self, member)
            return found
        return list(listed(self, value))

    instruction._rec_list_vars = variables


def _remember_meanings() -> None:
    """Of a function with several templates, which one was found for the types of its arguments."""
    base: Any = functions.BaseFunction
    looked_up = base.get_call_type
    found: list[Any] = [None]
    known: dict[Any, Any] = {}
    alone: dict[Any, Any] = {}

    def told(template: Any) -> None:
        of = template.get_impl_key

        def get_impl_key(self: Any, signature: Any) -> Any:
            key, found[0] = of(self, signature), type(self)
            return key

        template.get_impl_key = get_impl_key

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        kind: Any = type(self)
        if not _here.ours or kind is not functions.Function or len(self.templates) == 1:
            return looked_up(self, context, args, kws)
        key = self._code, *(a._code for a in args), *((name, a._code) for name, a in kws.items())
        if key not in known:
            found[0] = None
            signature = looked_up(self, context, args, kws)
            if found[0] is not None:
                known[key] = alone.setdefault(found[0], functions.Function(found[0]))
            return signature
        signature = looked_up(known[key], context, args, kws)
        self._impl_keys[signature.args] = known[key]._impl_keys[signature.args]
        return signature

    for template in (templates.FunctionTemplate, templates._OverloadFunctionTemplate):
        told(template)
    base.get_call_type = get_call_type


def _leave_out_timers() -> None:
    """Of the two that Numba starts for each function that it compiles."""

    class Events:
        def __getattr__(self, name: str) -> Any:
            return getattr(event, name)

        @staticmethod
        def install_timer(kind: str, callback: Any) -> Any:
            return contextlib.nullcontext() if _here.ours else event.install_timer(kind, callback)

    dispatcher.ev = Events()  # type: ignore[attr-defined]


def _lengths_differ(given: Any, wanted: Any) -> None:
    """Refuse to write an array of the lengths `given` where there are `wanted` ones."""


def _say_lengths_in_one_sentence() -> None:
    """Numba's own words stay for what users compile. Numba before 0.62 has none that need functions."""
    write: Any = arrayobj.fancy_setslice

    @overload(_lengths_differ)
    def _(given: Any, wanted: Any) -> Any:
        def refuse(given: Any, wanted: Any) -> None:
            raise ValueError("an array is written into one of another length")

        return refuse

    def fancy_setslice(*given: Any) -> Any:
        words = arrayobj.raise_with_shape_context
        arrayobj.raise_with_shape_context = _lengths_differ if _here.ours else words  # one thread compiles at a time
        try:
            return write(*given)
        finally:
            arrayobj.raise_with_shape_context = words

    if hasattr(arrayobj, "raise_with_shape_context"):
        arrayobj.fancy_setslice = fancy_setslice


_say_lengths_in_one_sentence()
_compare_flags_at_once()
_list_variables_at_once()
_remember_meanings()
_leave_out_timers()
