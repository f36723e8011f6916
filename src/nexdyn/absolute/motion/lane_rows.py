"""Rows of blocks of several systems: what `linalg.rows` does with 8 numbers, with 6 packs, one system in each lane.

No node has more than 6 unknowns; the two numbers beside them, which fill a register of one system, are left alone here.
Interpreted, a row of a LaneVector is an array (8, LANES), which NumPy's operators serve.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from numba import types
from numba.extending import lower_builtin, type_callable

from nexdyn.generic import defines, is_instance
from nexdyn.kernel import overloaded
from nexdyn.linalg.rows import flat, larger, load, store, total
from nexdyn.packs import viewed
from nexdyn.spatial.lanes import LaneTable, LaneVector, if_less


class Row(NamedTuple):
    """Six packs."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float


@defines(operator.add)
def _(x: Row, y: Row) -> Any:
    return Row(x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d, x.e + y.e, x.f + y.f)


@defines(operator.sub)
def _(x: Row, y: Row) -> Any:
    return Row(x.a - y.a, x.b - y.b, x.c - y.c, x.d - y.d, x.e - y.e, x.f - y.f)


@defines(operator.mul)
def _(s: float, x: Row) -> Any:
    return Row(s * x.a, s * x.b, s * x.c, s * x.d, s * x.e, s * x.f)


@defines(operator.mul)
def _(x: Row, y: Row) -> Any:
    return Row(x.a * y.a, x.b * y.b, x.c * y.c, x.d * y.d, x.e * y.e, x.f * y.f)


@overloaded(abs)
def _(x):
    if is_instance(x, Row):
        return lambda x: Row(abs(x.a), abs(x.b), abs(x.c), abs(x.d), abs(x.e), abs(x.f))
    return None


@overloaded(larger)
def _(x, y):
    if is_instance(x, Row):
        return lambda x, y: Row(
            if_less(y.a, x.a, x.a, y.a), if_less(y.b, x.b, x.b, y.b), if_less(y.c, x.c, x.c, y.c),
            if_less(y.d, x.d, x.d, y.d), if_less(y.e, x.e, x.e, y.e), if_less(y.f, x.f, x.f, y.f),
        )  # fmt: skip
    return None


@overloaded(total)
def _(row):
    if is_instance(row, Row):
        return lambda row: ((row.a + row.b) + (row.c + row.d)) + (row.e + row.f)
    return None


@type_callable(flat)
def _type_flat(context: Any) -> Any:
    return lambda x: types.NamedTuple([x[0], types.int64], LaneVector) if is_instance(x, LaneTable) else None


@lower_builtin(flat, types.BaseNamedTuple)
def _flat(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    vector = sig.return_type
    data = viewed(context, builder, sig.args[0][0], builder.extract_value(args[0], 0), vector[0])
    return context.make_tuple(builder, vector, [data, context.get_constant(types.int64, 0)])


@overloaded(load)
def _(x, o):
    if is_instance(x, LaneVector):
        return lambda x, o: Row(x[o], x[o + 1], x[o + 2], x[o + 3], x[o + 4], x[o + 5])
    return None


@overloaded(store)
def _(x, o, row):
    if not is_instance(x, LaneVector):
        return None
    if isinstance(row, types.Float):

        def fill(x, o, row):
            x[o], x[o + 1], x[o + 2], x[o + 3], x[o + 4], x[o + 5] = row, row, row, row, row, row

        return fill

    def put(x, o, row):
        x[o], x[o + 1], x[o + 2], x[o + 3], x[o + 4], x[o + 5] = row.a, row.b, row.c, row.d, row.e, row.f

    return put
