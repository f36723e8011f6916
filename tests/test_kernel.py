"""The decorators of compiled code."""

from __future__ import annotations

from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

from nexdyn.kernel import allocating, formula, kernel


class Tables(NamedTuple):
    a: Any
    b: Any


def of_first(tables):  # type: ignore[no-untyped-def]
    return tables.a[0] + tables.b[0]


def room(n):  # type: ignore[no-untyped-def]
    x = np.zeros(n)
    for i in range(n):
        x[i] = i
    return x[n - 1]


def copy_of(f: Any) -> Any:
    return FunctionType(f.__code__, f.__globals__, f.__name__)


def test_kernels_do_not_count_references() -> None:
    inner = formula(of_first)

    @kernel
    def outer(a, b):  # type: ignore[no-untyped-def]
        return inner(Tables(a, b)) + inner(Tables(b[1:], a))

    assert outer(np.arange(3.0), np.arange(3.0)) == 1.0
    (code,) = outer.inner.inspect_llvm().values()  # the bitcode that entries link
    body = code[code.index("define") :]
    assert "call void @NRT_incref" not in body and "call void @NRT_decref" not in body


def test_only_code_that_says_so_makes_arrays() -> None:
    said, silent = formula(allocating(copy_of(room))), formula(copy_of(room))

    @kernel
    def good(n):  # type: ignore[no-untyped-def]
        return said(n)

    @kernel
    def bad(n):  # type: ignore[no-untyped-def]
        return silent(n)

    assert good(4) == 3.0
    with pytest.raises(TypingError, match="Only accept returning of array passed into the function"):
        bad(4)
