"""The decorators of compiled code."""

from __future__ import annotations

from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit, typeof
from numba.core.datamodel.packer import ArgPacker
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

from nexdyn.forces.mesh_tables import Meshes
from nexdyn.kernel import allocating, formula, kernel, outlined
from nexdyn.tree.motion import Factorisation


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


@outlined
def divided(x, by):  # type: ignore[no-untyped-def]
    return x / by if by > 0.0 else -1.0


@kernel
def half_of(x):  # type: ignore[no-untyped-def]
    return divided(x, 2.0)


def test_what_an_entry_makes_of_a_formula_is_its_own() -> None:
    """The linker of the process finds functions by name; an entry may leave out what its own calls do not need."""

    @njit
    def of_a_user(x, by):  # type: ignore[no-untyped-def]
        return divided(x, by), divided(x, -by)

    assert half_of(3.0) == 1.5
    assert of_a_user(3.0, 4.0) == (0.75, -1.0)


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


def shapes(of, out):  # type: ignore[no-untyped-def]
    """What a function that is called sees of arrays that it is given in a tuple."""
    row, table, block, turned = of.first, of.cells, of.planes, of.nodes
    out[0], out[1], out[2], out[3] = row.shape[0], row.size, row.strides[0], row.itemsize
    out[4], out[5], out[6], out[7], out[8] = (
        table.shape[0],
        table.shape[1],
        table.size,
        table.strides[0],
        table.strides[1],
    )
    out[9], out[10], out[11], out[12] = block.size, block.strides[0], block.strides[1], block.strides[2]
    out[13], out[14], out[15] = turned.strides[0], turned.strides[1], turned.size
    out[16], out[17], out[18] = of.child.strides[0], of.kept.size, of.open
    total = 0.0
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            total += block[i, j, 1] + table[i % 2, 1:][0] + turned[1, 0]
    row[0] = total


def test_arrays_of_named_tuples_are_whole_in_what_is_called() -> None:
    """They are handed over by address and lengths; the rest follows. Arrays with gaps are handed over as Numba does."""
    called = outlined(shapes)

    @kernel
    def call(of, out):  # type: ignore[no-untyped-def]
        called(of, out)

    block, turned = np.arange(24.0).reshape(2, 3, 4), np.arange(6.0).reshape(2, 3).T
    seen = []
    for call_it in (call, shapes):
        row, out = np.arange(5.0), np.zeros(19, np.int64)
        call_it(
            Meshes(row, np.arange(6.0).reshape(2, 3), block, turned, np.array([True, False]), np.zeros((0, 7)), 4), out
        )
        seen.append((out.tolist(), row.tolist()))
    assert seen[0] == seen[1]
    assert seen[0][1][0] == block[:, :, 1].sum() + 3 * (1.0 + 4.0) + 6 * 1.0


def test_named_tuples_of_ours_are_handed_over_slim_and_others_as_numba_does() -> None:
    def count(value: Any) -> int:
        return len(ArgPacker(cpu_target.target_context.data_model_manager, [typeof(value)]).argument_types)

    row, table = np.zeros(3), np.zeros((2, 2))
    assert count(Factorisation(row, table, row, table, 1.0)) == 2 * (2 + 3) + 1
    assert count(Tables(row, table)) == 7 + 9
