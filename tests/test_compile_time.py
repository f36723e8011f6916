"""What Numba is not asked twice: the answers are those that it gives."""

from __future__ import annotations

import operator
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.compiler import Flags
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.extending import overload

from nexdyn import compile_time
from nexdyn.kernel import kernel


def flags(**given: Any) -> Any:
    made: Any = Flags()
    for name, value in given.items():
        setattr(made, name, value)
    return made


def test_flags_are_compared_as_by_name() -> None:
    default, explicit, other = flags(), flags(nrt=flags().nrt), flags(nrt=not flags().nrt)
    assert default == explicit and explicit == default and hash(default) == hash(explicit)
    assert default != other and other != explicit
    assert default.values() == explicit.values() != other.values()
    assert default != object()
    assert {default: 1}[explicit] == 1 and other not in {default: 1}


ARGUMENTS = [
    types.float64, types.int64, types.boolean, types.literal(3), types.Array(types.float64, 1, "C"), types.Array(types.float64, 2, "C"),
    types.UniTuple(types.int64, 2), types.unicode_type,
]  # fmt: skip


ONE, TWO = [(a,) for a in ARGUMENTS], [(a, b) for a in ARGUMENTS for b in ARGUMENTS]
CALLS = {
    abs: ONE,
    np.sqrt: ONE,
    min: TWO,
    operator.add: TWO,
    operator.mul: TWO,
    operator.getitem: TWO,
    operator.lt: TWO,
}


@pytest.mark.parametrize("function", CALLS, ids=lambda f: f.__name__)
def test_signatures_are_those_found_by_trial(function: Any) -> None:
    context = cpu_target.typing_context
    context.refresh()

    def answers() -> list[Any]:
        function_type = context.resolve_value_type(function)
        found = []
        for arguments in CALLS[function]:
            try:
                found.append(function_type.get_call_type(context, arguments, {}))
            except TypingError:
                found.append(None)
        return found

    by_trial = answers()
    assert any(by_trial) and None in by_trial
    with compile_time.ours():
        assert answers() == by_trial
        assert answers() == by_trial


def test_a_new_meaning_is_found_though_the_function_was_asked_before() -> None:
    def twice(x: Any) -> Any:
        raise NotImplementedError

    @overload(twice)
    def of_numbers(x):  # type: ignore[no-untyped-def]
        return (lambda x: 2.0 * x) if isinstance(x, types.Float) else None

    @kernel
    def number(x):  # type: ignore[no-untyped-def]
        return twice(x)

    assert number(2.0) == 4.0

    @overload(twice)
    def of_marks(x):  # type: ignore[no-untyped-def]
        return (lambda x: 7) if isinstance(x, types.Boolean) else None

    @kernel
    def text(x):  # type: ignore[no-untyped-def]
        return twice(x) == 7

    assert text(True)
    assert number(3.0) == 6.0


def test_functions_of_users_have_their_timers() -> None:
    @numba.njit
    def f(x):  # type: ignore[no-untyped-def]
        return 2.0 * x

    assert f(1.0) == 2.0
    (timers,) = (made["timers"] for made in f.get_metadata().values())
    assert {"compiler_lock", "llvm_lock"} <= set(timers)
