"""Tables whose row i is one value type: `X[i]` reads it, `X[i] = …` writes it, compiled, interpreted and in lanes.

A value type takes consecutive columns of a plain table, so several live side by side in one row of a body:

    X, V = PoseRows(work, 0), MotionRows(work, 12)

Compiled, a row is one intrinsic that finds the row once and moves its columns; written out entry by entry in Python,
reading and writing would take a quarter of the time that kernels take to compile.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple, get_type_hints

from numba import types
from numba.extending import intrinsic

from nexdyn.generic import is_instance
from nexdyn.kernel import formula, overloaded
from nexdyn.numba_parts import cgutils, ir
from nexdyn.records import built, flat, leaves, spread, typed
from nexdyn.spatial import algebra, lanes, mobility

_VALUE_OF: dict[Any, Any] = {}
"""The value type of each type of rows."""


@functools.cache
def _parts(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def columns(cls: Any) -> int:
    """How many columns a value type takes."""
    return leaves(cls)


# --- compiled -----------------------------------------------------------------------------------------------------


def _is_lanes(table: Any) -> bool:
    return is_instance(table, lanes.LaneTable) or is_instance(table, lanes.SharedTable)


def _entries(context: Any, builder: Any, rows: Any, row: Any, i: Any) -> Any:
    """pointer(k) of column k of row i: to a double, or to the first of the doubles of a pack."""
    table_type, table = rows[0], builder.extract_value(row, 0)
    if _is_lanes(table_type):
        table_type, table = table_type[0], builder.extract_value(table, 0)
    array = cgutils.create_struct_proxy(table_type)(context, builder, table)
    shape, strides = (cgutils.unpack_tuple(builder, x, table_type.ndim) for x in (array.shape, array.strides))
    first, zeros = builder.extract_value(row, 1), [ir.Constant(shape[0].type, 0)] * (table_type.ndim - 2)
    if zeros:  # the lanes: a constant, so that all columns lie at fixed distances
        shape = [*shape[:2], ir.Constant(shape[0].type, lanes.LANES)]

    def pointer(k: int) -> Any:
        column = builder.add(first, ir.Constant(first.type, k))
        return cgutils.get_item_pointer2(
            context, builder, array.data, shape, strides, table_type.layout, [i, column, *zeros],
            boundscheck=context.enable_boundscheck,
        )  # fmt: skip

    return pointer


@intrinsic
def _read(context: Any, rows: Any, i: Any) -> Any:
    cls, on_lanes = _VALUE_OF[rows.instance_class], _is_lanes(rows[0])
    value_type = typed(cls, lanes.pack if on_lanes else rows[0].dtype)

    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _entries(ctx, builder, sig.args[0], *args)
        packed = is_instance(rows[0], lanes.LaneTable)

        def leaf(k: int) -> Any:
            if packed:
                return builder.load(builder.bitcast(pointer(k), lanes.VECTOR.as_pointer()), align=8)
            x = builder.load(pointer(k))
            return lanes.splat(builder, x) if on_lanes else x

        return built(ctx, builder, value_type, map(leaf, range(columns(cls))))

    return value_type(rows, types.intp), codegen


@intrinsic
def _write(context: Any, rows: Any, i: Any, value: Any) -> Any:
    cls = _VALUE_OF[rows.instance_class]
    if not is_instance(value, cls):
        return None
    packed = is_instance(rows[0], lanes.LaneTable)

    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _entries(ctx, builder, sig.args[0], *args[:2])
        for k, (kind, x) in enumerate(spread(builder, sig.args[2], args[2])):
            if packed:
                target = builder.bitcast(pointer(k), lanes.VECTOR.as_pointer())
                builder.store(lanes.as_vector(builder, kind, x), target, align=8)
            else:
                builder.store(ctx.cast(builder, x, kind, rows[0].dtype), pointer(k))
        return ctx.get_dummy_value()

    return types.void(rows, types.intp, value), codegen


def _is_rows(rows: Any) -> bool:
    return isinstance(rows, types.BaseNamedTuple) and rows.instance_class in _VALUE_OF


@overloaded(operator.getitem)
def _get(rows, i):
    return (lambda rows, i: _read(rows, i)) if _is_rows(rows) else None


@overloaded(operator.setitem)
def _put(rows, i, value):
    return (lambda rows, i, value: _write(rows, i, value)) if _is_rows(rows) else None


# --- interpreted --------------------------------------------------------------------------------------------------


def _value(cls: Any, table: Any, i: int, column: int) -> tuple[Any, int]:
    """The value in row i from `column` on, and the column after it."""
    parts = []
    for kind in _parts(cls).values():
        part, column = _value(kind, table, i, column) if hasattr(kind, "_fields") else (table[i, column], column + 1)
        parts.append(part)
    return cls(*parts), column


def _rows_of(cls: Any) -> Any:
    """The table type of value type `cls`; its columns start at `first`."""
    rows: Any = NamedTuple(f"{cls.__name__}Rows", [("table", Any), ("first", int)])  # type: ignore[misc]
    rows.__doc__ = f"Row i is one {cls.__name__}, in {columns(cls)} columns of `table` from column `first`."
    rows.__module__ = __name__

    def get(self: Any, i: int) -> Any:
        return _value(cls, self.table, i, self.first)[0]

    def put(self: Any, i: int, value: Any) -> None:
        for k, x in enumerate(flat(value)):
            self.table[i, self.first + k] = x

    rows.__getitem__, rows.__setitem__ = get, put  # type: ignore[assignment]
    _VALUE_OF[rows] = cls
    return rows


Vec3Rows = _rows_of(algebra.Vec3)
QuatRows = _rows_of(algebra.Quat)
Mat3Rows = _rows_of(algebra.Mat3)
PoseRows = _rows_of(algebra.Pose)
MotionRows = _rows_of(algebra.Motion)
ForceRows = _rows_of(algebra.Force)
ArticulatedInertiaRows = _rows_of(algebra.ArticulatedInertia)
FiveRows = _rows_of(mobility.Five)


@formula
def row(rows, i):
    """rows[i] for a literal i, which compiled code would take for an index into the tuple itself."""
    return rows[i]
