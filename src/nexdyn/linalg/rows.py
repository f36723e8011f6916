"""Rows of blocks: 8 consecutive doubles of a flat array, in one register.

flat(x)           the numbers of a table (n, 8), one after another
load(x, o)        x[o : o + 8]
store(x, o, row)  x[o : o + 8] = row
ahead(x, o)       asks memory for x[o : o + 8], which is wanted soon; o may lie outside
total(row)        the sum of the 8 numbers
larger(x, y)      of each two numbers the larger one; y where x is no number

Of several systems, a number is a pack of theirs, and a row what ``absolute.motion.lane_rows`` makes of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, lower_builtin, type_callable

from nexdyn.kernel import overloaded
from nexdyn.numba_parts import cgutils, ir
from nexdyn.packs import LANES, VECTOR, as_vector, fields_of, pack, viewed

WIDTH = LANES
"""Doubles from one row of a block to the next."""


def flat(x: Any) -> Any:
    """The numbers of a table (n, 8), one after another."""
    return x.reshape(-1)


def load(x: Any, o: Any) -> Any:
    """x[o : o + 8]."""
    return x[o : o + WIDTH].copy()


def store(x: Any, o: Any, row: Any) -> None:
    """x[o : o + 8] = row."""
    x[o : o + WIDTH] = row


def ahead(x: Any, o: Any) -> None:
    """Ask memory for x[o : o + 8], which is wanted soon; o may lie outside."""


def total(row: Any) -> Any:
    """Σ of the 8 numbers of a row."""
    return np.sum(row, axis=0)


def larger(x: Any, y: Any) -> Any:
    """Of each two numbers the larger one; y where x is no number."""
    return np.where(x > y, x, y)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, o: Any) -> Any:
    a = fields_of(context, builder, array_type, array)
    if context.enable_boundscheck:
        (size,) = cgutils.unpack_tuple(builder, a.shape)
        last = builder.add(o, ir.Constant(o.type, WIDTH))
        outside = builder.or_(builder.icmp_signed("<", o, ir.Constant(o.type, 0)), builder.icmp_signed(">", last, size))
        with cgutils.if_unlikely(builder, outside):
            context.call_conv.return_user_exc(builder, IndexError, ("a row of a block outside the array",))
    return builder.bitcast(builder.gep(a.data, [o]), VECTOR.as_pointer())


@intrinsic
def _load(context: Any, x: Any, o: Any) -> Any:
    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_pointer(ctx, builder, sig.args[0], *args), align=8)

    return pack(x, types.int64), codegen


@intrinsic
def _store(context: Any, x: Any, o: Any, row: Any) -> Any:
    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = as_vector(builder, sig.args[2], args[2])
        builder.store(value, _pointer(ctx, builder, sig.args[0], *args[:2]), align=8)
        return ctx.get_dummy_value()

    return types.void(x, types.int64, row if row is pack else types.float64), codegen


@intrinsic
def _ahead(context: Any, x: Any, o: Any) -> Any:
    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = fields_of(ctx, builder, sig.args[0], args[0]).data
        address, number = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        builder.call(prefetch, [address, number(0), number(3), number(1)])  # to be read, into all caches, data
        return ctx.get_dummy_value()

    return types.void(x, types.int64), codegen


@intrinsic
def _total(context: Any, row: Any) -> Any:
    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        # halves folded onto each other: log₂ 8 additions
        x, width = args[0], WIDTH
        while width > 1:
            width //= 2
            index = [ir.Constant(ir.IntType(32), i) for i in range(2 * width)]
            low = ir.Constant(ir.VectorType(ir.IntType(32), width), index[:width])
            high = ir.Constant(ir.VectorType(ir.IntType(32), width), index[width:])
            x = builder.fadd(builder.shuffle_vector(x, x, low), builder.shuffle_vector(x, x, high))
        return builder.extract_element(x, ir.Constant(ir.IntType(32), 0))

    return types.float64(pack), codegen


@intrinsic
def _larger(context: Any, x: Any, y: Any) -> Any:
    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[0], args[1])

    return pack(pack, pack), codegen


@type_callable(flat)
def _type_flat(context: Any) -> Any:
    return lambda x: types.Array(x.dtype, 1, "C") if isinstance(x, types.Array) and x.layout == "C" else None


@lower_builtin(flat, types.Array)
def _flat(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return viewed(context, builder, sig.args[0], args[0], sig.return_type)


@overloaded(load)
def _(x, o):
    return (lambda x, o: _load(x, o)) if isinstance(x, types.Array) else None


@overloaded(ahead)
def _(x, o):
    return (lambda x, o: _ahead(x, o)) if isinstance(x, types.Array) else (lambda x, o: None)


@overloaded(store)
def _(x, o, row):
    return (lambda x, o, row: _store(x, o, row)) if isinstance(x, types.Array) else None


@overloaded(larger)
def _(x, y):
    return (lambda x, y: _larger(x, y)) if x is pack else None


@overloaded(total)
def _(row):
    return (lambda row: _total(row)) if row is pack else None
