"""Records: names for the columns of tables and the slots of vectors, compiled, interpreted and in lanes.

    class Body(Record):
        \"\"\"A row of the table of bodies.\"\"\"

        parent: int
        joint: Pose          # a value type takes as many columns as it has numbers

    Bodies = rows_of(Body)

    bodies = Bodies(table)           a table (n, Body.columns) whose row i is a Body
    body = bodies[i]                 the row itself: what is written to it stands in the table
    body.parent, body.joint          read or written
    X = bodies.joint                 a column: X[i] is bodies[i].joint, read or written
    Memory(vector), Spring(data, o)  a record that lies in a vector, from its first number on, or from number o on

The table stays a plain array, so what Python allocates, copies, saves and hands to kernels does not change. The order of the
annotations is the order of the columns. To Python a column of numbers of an array is a view of it.

Compiled, a row is the address of its first number and an attribute is one load or store at a fixed distance from it: no
table is found twice, and no column is a number that several pages must agree on. Tables lie contiguous and are as wide as
their record; bounds are checked where Numba checks them (NUMBA_BOUNDSCHECK).
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterator
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import models, register_model, type_callable
from numba.np.arrayobj import make_array

R = TypeVar("R", bound="Record")


class Field(NamedTuple):
    """Where a field of a record begins, how many numbers it has, and its value type (None: one number)."""

    first: int
    columns: int
    kind: Any


def leaves(cls: Any) -> int:
    """The numbers that a value type holds."""
    return sum(leaves(kind) if hasattr(kind, "_fields") else 1 for kind in get_type_hints(cls).values())


class Record:
    """Base of records; see the top of this page. Interpreted, it holds where its first number is."""

    __slots__ = ("_first", "_table")
    fields: ClassVar[dict[str, Field]]
    columns: ClassVar[int]

    def __init__(self, vector: Any, first: Any = 0) -> None:
        object.__setattr__(self, "_table", vector)
        object.__setattr__(self, "_first", first)

    def __init_subclass__(cls) -> None:
        fields, first = {}, 0
        hints = get_type_hints(cls)
        for name in inspect.get_annotations(cls):
            if hasattr(Record, name):
                raise TypeError(f"{cls.__name__}.{name}: records have {name} themselves; choose another name")
            value = hints[name] if hasattr(hints[name], "_fields") else None
            width = 1 if value is None else leaves(value)
            fields[name] = Field(first, width, value)
            first += width
        cls.fields, cls.columns = fields, first
        for name, field in fields.items():
            setattr(cls, name, _interpreted(field))
        _compile_record(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.fields:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(self.fields)}")
        object.__setattr__(self, name, value)


class Rows(Generic[R]):
    """A table whose rows are records of one kind; made by `rows_of`."""

    __slots__ = ("_table",)
    record: ClassVar[type[Record]]

    def __init__(self, table: Any) -> None:
        width = getattr(table, "data", table).shape[1] if not isinstance(table, np.ndarray) else table.shape[1]
        if width != self.record.columns:
            raise TypeError(f"a row of {self.record.__name__} has {self.record.columns} columns; the table has {width}")
        self._table = table

    def __len__(self) -> int:
        return len(self._table if isinstance(self._table, np.ndarray) else self._table.data)

    def __getitem__(self, i: int) -> R:
        return self.record(self._table, (i, 0))  # type: ignore[return-value]

    def __getattr__(self, name: str) -> Any:
        field = self.record.fields.get(name)
        if field is None:
            raise AttributeError(f"{self.record.__name__} has no {name!r}; it has {', '.join(self.record.fields)}")
        if field.kind is None and isinstance(self._table, np.ndarray):
            return self._table[:, field.first]
        return _Column(self, name)


class _Column:
    """A column, interpreted."""

    def __init__(self, rows: Any, name: str) -> None:
        self.rows, self.name = rows, name

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> Any:
        return getattr(self.rows[i], self.name)

    def __setitem__(self, i: int, value: Any) -> None:
        setattr(self.rows[i], self.name, value)


def rows_of(record: type[R]) -> type[Rows[R]]:
    """The type of tables whose rows are `record`."""
    made: Any = type(
        f"{record.__name__}Rows", (Rows,), {"record": record, "__slots__": (), "__module__": record.__module__}
    )
    made.__doc__ = f"A table whose row i is one {record.__name__}, in {record.columns} columns."
    _compile_rows(made)
    return made


# --- interpreted --------------------------------------------------------------------------------------------------


def _place(first: Any, k: int) -> Any:
    """The index of number k behind `first`: of a vector, or of a row."""
    return (first[0], first[1] + k) if isinstance(first, tuple) else first + k


def _interpreted(field: Field) -> property:
    def get(self: Any) -> Any:
        table, first = self._table, self._first
        if field.kind is None:
            return table[_place(first, field.first)]
        return _value(
            field.kind, iter([table[_place(first, k)] for k in range(field.first, field.first + field.columns)])
        )

    def put(self: Any, value: Any) -> None:
        table, first = self._table, self._first
        for k, x in enumerate([value] if field.kind is None else flat(value)):
            table[_place(first, field.first + k)] = x

    return property(get, put)


def _value(cls: Any, numbers: Iterator[Any]) -> Any:
    kinds = get_type_hints(cls).values()
    return cls(*[_value(kind, numbers) if hasattr(kind, "_fields") else next(numbers) for kind in kinds])


def flat(value: Any) -> Iterator[Any]:
    """The numbers of a value, one after another."""
    for part in value:
        if isinstance(part, tuple):
            yield from flat(part)
        else:
            yield part


# --- compiled -----------------------------------------------------------------------------------------------------


class Storage:
    """How numbers lie in memory and what they are in a kernel: here as floats or integers, one after another."""

    def __init__(self, scalar: Any, name: str) -> None:
        self.scalar, self.name = scalar, name

    step = 1
    """Machine numbers from one entry to the next."""

    def of(self, table: Any) -> bool:
        """Whether it is how a table or vector of this Numba type lies."""
        return isinstance(table, types.Array) and table.layout == "C" and table.dtype == self.scalar

    def array(self, builder: Any, table_type: Any, table: Any) -> tuple[Any, Any]:
        """The array in it: its type and value."""
        return table_type, table

    def dimensions(self, table: Any) -> int:
        """1 of a vector, 2 of a table."""
        return int(table.ndim)

    def start(self, builder: Any, table: Any, data: Any) -> Any:
        """The address of its first number; `data` is that of the array's."""
        return data

    def number(self) -> Any:
        """LLVM's type of a number in memory."""
        return ir.DoubleType() if self.scalar == types.float64 else ir.IntType(64)

    def load(self, builder: Any, pointer: Any) -> Any:
        """What stands there."""
        return builder.load(pointer)

    def store(self, context: Any, builder: Any, kind: Any, value: Any, pointer: Any) -> None:
        """Put a value of Numba type `kind` there."""
        builder.store(context.cast(builder, value, kind, self.scalar), pointer)


_STORAGES: dict[str, Storage] = {}


def add_storage(storage: Storage) -> None:
    """Records may lie so, too."""
    _STORAGES[storage.name] = storage


add_storage(Storage(types.float64, "float64"))
add_storage(Storage(types.int64, "int64"))


def _storage(table: Any) -> Storage | None:
    return next((storage for storage in _STORAGES.values() if storage.of(table)), None)


class RecordType(types.Type):
    """The Numba type of a record: an address."""

    def __init__(self, record: Any, storage: Storage) -> None:
        self.record, self.lies = record, storage.name
        super().__init__(name=f"{record.__module__}.{record.__qualname__}({storage.name})")

    @property
    def storage(self) -> Storage:
        """How its numbers lie."""
        return _STORAGES[self.lies]


class RowsType(types.Type):
    """The Numba type of a table of records: an address and the number of rows."""

    def __init__(self, rows: Any, storage: Storage) -> None:
        self.rows, self.lies = rows, storage.name
        super().__init__(name=f"{rows.__module__}.{rows.__qualname__}({storage.name})")

    @property
    def row(self) -> RecordType:
        """The type of a row."""
        return RecordType(self.rows.record, _STORAGES[self.lies])


class ColumnType(types.Type):
    """The Numba type of a column of a table of records: the address of its first number and the number of rows."""

    def __init__(self, row: RecordType, name: str) -> None:
        self.row, self.field = row, name
        super().__init__(name=f"{row.name}.{name}")

    @property
    def value(self) -> Any:
        """The type of an entry."""
        return _kind_of(self.row, self.field)


def _kind_of(row: RecordType, name: str) -> Any:
    """The Numba type of a field; None without one of that name."""
    field, scalar = row.record.fields.get(name), row.storage.scalar
    return None if field is None else scalar if field.kind is None else typed(field.kind, scalar)


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, data_model_manager: Any, fe_type: Any) -> None:
        super().__init__(data_model_manager, fe_type, fe_type.storage.number().as_pointer())


@register_model(RowsType)
@register_model(ColumnType)
class _RowsModel(models.StructModel):
    def __init__(self, data_model_manager: Any, fe_type: Any) -> None:
        super().__init__(data_model_manager, fe_type, [("data", fe_type.row), ("count", types.intp)])


def typed(cls: Any, scalar: Any) -> Any:
    """The Numba type of value type `cls` over a scalar."""
    kinds = get_type_hints(cls).values()
    parts = [typed(kind, scalar) if hasattr(kind, "_fields") else scalar for kind in kinds]
    return types.NamedUniTuple(parts[0], len(parts), cls) if len(set(parts)) == 1 else types.NamedTuple(parts, cls)


def _compile_record(cls: Any) -> None:
    """Give the compiler Record(vector) and Record(vector, first)."""

    @type_callable(cls)
    def type_of(context: Any) -> Any:
        def typer(vector: Any, first: Any = None) -> Any:
            storage = _storage(vector)
            return RecordType(cls, storage) if storage is not None and storage.dimensions(vector) == 1 else None

        return typer

    def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        storage = sig.return_type.storage
        array_type, value = storage.array(builder, sig.args[0], args[0])
        array = make_array(array_type)(context, builder, value)
        zero = context.get_constant(types.intp, 0)
        first = context.cast(builder, args[1], sig.args[1], types.intp) if len(args) > 1 else zero
        if context.enable_boundscheck:
            [count, *_] = cgutils.unpack_tuple(builder, array.shape)
            last = builder.add(first, context.get_constant(types.intp, cls.columns - 1))
            cgutils.do_boundscheck(context, builder, first, count, 0)
            cgutils.do_boundscheck(context, builder, last, count, 0)
        start = storage.start(builder, args[0], array.data)
        return builder.gep(start, [builder.mul(first, context.get_constant(types.intp, storage.step))])

    lower_builtin(cls, types.Any)(build)
    lower_builtin(cls, types.Any, types.Integer)(build)


def _compile_rows(cls: Any) -> None:
    """Give the compiler Rows(table)."""

    @type_callable(cls)
    def type_of(context: Any) -> Any:
        def typer(table: Any) -> Any:
            storage = _storage(table)
            return RowsType(cls, storage) if storage is not None and storage.dimensions(table) == 2 else None

        return typer

    @lower_builtin(cls, types.Any)
    def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        storage = sig.return_type.row.storage
        array_type, value = storage.array(builder, sig.args[0], args[0])
        array = make_array(array_type)(context, builder, value)
        count, width, *_ = cgutils.unpack_tuple(builder, array.shape)
        if context.enable_boundscheck:  # as wide as the record
            last = context.get_constant(types.intp, cls.record.columns - 1)
            cgutils.do_boundscheck(context, builder, last, width, 1)
            cgutils.do_boundscheck(context, builder, builder.sub(width, last), context.get_constant(types.intp, 2), 1)
        rows = cgutils.create_struct_proxy(sig.return_type)(context, builder)
        rows.data, rows.count = array.data, count
        return rows._getvalue()


def _proxy(context: Any, builder: Any, kind: Any, value: Any = None) -> Any:
    return cgutils.create_struct_proxy(kind)(context, builder, value)


@infer_global(operator.getitem)
class _Get(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        rows, i = args
        if not isinstance(rows, RowsType | ColumnType) or not isinstance(i, types.Integer):
            return None
        return signature(rows.row if isinstance(rows, RowsType) else rows.value, rows, types.intp)


@infer_global(operator.setitem)
class _Set(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        rows, _, value = args
        if not isinstance(rows, ColumnType):
            return None
        kind = rows.row.record.fields[rows.field].kind
        fits = getattr(value, "instance_class", None) is kind and isinstance(value, types.BaseTuple) == (
            kind is not None
        )
        return signature(types.void, rows, types.intp, value) if fits else None


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.intp, *args) if len(args) == 1 and isinstance(args[0], RowsType | ColumnType) else None


@lower_builtin(len, RowsType)
@lower_builtin(len, ColumnType)
def _count(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _proxy(context, builder, sig.args[0], args[0]).count


def _row_at(context: Any, builder: Any, kind: Any, value: Any, i: Any) -> Any:
    """The address behind that of a table or column by i rows."""
    rows, row = _proxy(context, builder, kind, value), kind.row
    if context.enable_boundscheck:
        cgutils.do_boundscheck(context, builder, i, rows.count, 0)
    return builder.gep(
        rows.data, [builder.mul(i, context.get_constant(types.intp, row.record.columns * row.storage.step))]
    )


@lower_builtin(operator.getitem, RowsType, types.Integer)
def _row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _row_at(context, builder, sig.args[0], *args)


@lower_builtin(operator.getitem, ColumnType, types.Integer)
def _entry(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    column = sig.args[0]
    return _load(
        context,
        builder,
        column.row,
        _row_at(context, builder, column, *args),
        column.row.record.fields[column.field],
        0,
    )


@lower_builtin(operator.setitem, ColumnType, types.Integer, types.Any)
def _put(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    column = sig.args[0]
    address = _row_at(context, builder, column, *args[:2])
    _store(context, builder, column.row, address, column.row.record.fields[column.field], 0, sig.args[2], args[2])
    return context.get_dummy_value()


@infer_getattr
class _OfRecord(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, value: Any, attr: str) -> Any:  # type: ignore[override]
        return _kind_of(value, attr)


@infer_getattr
class _OfRows(AttributeTemplate):
    key = RowsType

    def generic_resolve(self, value: Any, attr: str) -> Any:  # type: ignore[override]
        return ColumnType(value.row, attr) if attr in value.row.record.fields else None


@lower_getattr_generic(RowsType)
def _column(context: Any, builder: Any, kind: Any, value: Any, attr: str) -> Any:
    rows, column = _proxy(context, builder, kind, value), _proxy(context, builder, ColumnType(kind.row, attr))
    column.data = _number(builder, kind.row, rows.data, kind.row.record.fields[attr].first)
    column.count = rows.count
    return column._getvalue()


@lower_getattr_generic(RecordType)
def _read(context: Any, builder: Any, row: Any, address: Any, attr: str) -> Any:
    field = row.record.fields[attr]
    return _load(context, builder, row, address, field, field.first)


@lower_setattr_generic(RecordType)
def _write(context: Any, builder: Any, sig: Any, args: Any, attr: str) -> Any:
    row, kind = sig.args
    field = row.record.fields[attr]
    _store(context, builder, row, args[0], field, field.first, kind, args[1])


def _number(builder: Any, row: Any, address: Any, k: int) -> Any:
    return builder.gep(address, [ir.Constant(ir.IntType(64), k * row.storage.step)])


def _load(context: Any, builder: Any, row: Any, address: Any, field: Field, first: int) -> Any:
    """The value of a field whose first number stands `first` behind the address."""
    storage = row.storage
    numbers = (storage.load(builder, _number(builder, row, address, first + k)) for k in range(field.columns))
    return next(numbers) if field.kind is None else built(context, builder, typed(field.kind, storage.scalar), numbers)


def _store(context: Any, builder: Any, row: Any, address: Any, field: Field, first: int, kind: Any, value: Any) -> None:
    parts = [(kind, value)] if field.kind is None else spread(builder, kind, value)
    for k, (part, x) in enumerate(parts):
        row.storage.store(context, builder, part, x, _number(builder, row, address, first + k))


def built(context: Any, builder: Any, value_type: Any, numbers: Iterator[Any]) -> Any:
    """A value of `value_type` from its numbers."""
    parts = []
    for part in value_type:
        nested = isinstance(part, types.BaseTuple)
        parts.append(built(context, builder, part, numbers) if nested else next(numbers))
    return context.make_tuple(builder, value_type, parts)


def spread(builder: Any, value_type: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Types and values of the numbers of a value."""
    for n, part in enumerate(value_type):
        item = builder.extract_value(value, n)
        if isinstance(part, types.BaseTuple):
            yield from spread(builder, part, item)
        else:
            yield part, item
