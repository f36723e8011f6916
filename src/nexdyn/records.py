"""Records: names for the columns of tables and the slots of vectors, compiled, interpreted and in lanes.

    class Body(Record):
        \"\"\"A row of the table of bodies.\"\"\"

        parent: int
        joint: Pose          # a value type takes as many columns as it has numbers

    Bodies = rows_of(Body)

    bodies = Bodies(table)           a table (n, Body.columns) whose row i is a Body
    body = bodies[i]                 the row itself: what is written to it stands in the table
    body.parent, body.joint          read or written
    X = bodies.joint                 a column: X[i] is bodies[i].joint, read or written;  X.p one of its parts
    Memory(vector), Spring(data, o)  a record that lies in a vector, from its first number on, or from number o on

    @holds_records
    class Model(NamedTuple):
        bodies: Annotated[Any, Body]   # holds a plain table, and is read as a table of records

The table stays a plain array, so what Python allocates, copies, saves and hands to kernels does not change. The order of the
annotations is the order of the columns. To Python a column of numbers of an array is a view of it; `X.numbers` is one of the
columns of a value type, and `bodies.table` the table itself.

Compiled, a row is the address of its first number and an attribute is one load or store at a fixed distance from it: no
table is found twice, and no column is a number that several pages must agree on. Tables lie contiguous and are as wide as
their record; bounds are checked where Numba checks them (NUMBA_BOUNDSCHECK). An address keeps no array alive: one that a kernel
makes must outlive the records in it.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_type_hints

import numpy as np
from numba import types
from numba.extending import lower_builtin, models, register_model, type_callable

from nexdyn.compiler.options import LINE
from nexdyn.errors import counted
from nexdyn.numba_parts import (
    AbstractTemplate,
    AttributeTemplate,
    cgutils,
    impl_ret_borrowed,
    infer_getattr,
    infer_global,
    ir,
    lower_getattr_generic,
    lower_setattr_generic,
    signature,
)

R = TypeVar("R", bound="Record")
C = TypeVar("C")


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
    fields: ClassVar[dict[str, Field]] = {}
    columns: ClassVar[int] = 0

    def __init__(self, vector: Any, first: Any = 0) -> None:
        object.__setattr__(self, "_table", vector)
        object.__setattr__(self, "_first", first)

    def __init_subclass__(cls) -> None:
        hints, names = get_type_hints(cls), inspect.get_annotations(cls)
        for name in names:
            if hasattr(Record, name) or hasattr(Rows, name):
                raise TypeError(f"{cls.__name__}.{name}: records have {name} themselves; choose another name")
        cls.fields = _fields({name: hints[name] for name in names}, 0)
        cls.columns = sum(field.columns for field in cls.fields.values())
        for name, field in cls.fields.items():
            setattr(cls, name, _interpreted(field))
        _compile_record(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.fields:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(self.fields)}")
        object.__setattr__(self, name, value)


class Rows(Generic[R]):
    """A table whose rows are records of one kind; made by `rows_of`."""

    __slots__ = ("_table",)
    record: ClassVar[type[Record]] = Record

    def __init__(self, table: Any) -> None:
        self._table = table.table if isinstance(table, Rows) else table
        width = _array(self._table).shape[1]
        if width != self.record.columns:
            raise TypeError(
                f"a row of {self.record.__name__} has {counted(self.record.columns, 'column')}; the table has {width}"
            )

    @property
    def table(self) -> Any:
        """The plain table."""
        return self._table

    def __len__(self) -> int:
        return len(_array(self._table))

    def __getitem__(self, i: int) -> R:
        return self.record(self._table, (i, 0))  # type: ignore[return-value]

    def __iter__(self) -> Iterator[R]:
        return (self[i] for i in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        return _column(self._table, self.record, name)


class _Column:
    """A column of a value type or of packs, to Python."""

    def __init__(self, table: Any, record: Any, path: str, field: Field) -> None:
        self._table, self._record, self._path, self._field = table, record, path, field

    @property
    def numbers(self) -> Any:
        """What stands in it, (n, numbers of the value type, …): a view."""
        first, kind = self._field.first, self._field.kind
        return _array(self._table)[:, first if kind is None else slice(first, first + self._field.columns)]

    def __len__(self) -> int:
        return len(_array(self._table))

    def __getitem__(self, i: int) -> Any:
        return _get(self._table, (i, 0), self._field)

    def __setitem__(self, i: int, value: Any) -> None:
        _put(self._table, (i, 0), self._field, value)

    def __getattr__(self, name: str) -> Any:
        return _column(self._table, self._record, f"{self._path}.{name}")


def _column(table: Any, record: Any, path: str) -> Any:
    field = field_of(record, path)
    if field is None:
        raise AttributeError(f"{record.__name__} has no {path!r}; it has {', '.join(record.fields)}")
    return (
        table[:, field.first]
        if field.kind is None and isinstance(table, np.ndarray)
        else _Column(table, record, path, field)
    )


def _array(table: Any) -> Any:
    return table if isinstance(table, np.ndarray) else table.data


@cache
def field_of(record: Any, path: str) -> Field | None:
    """The field of that name, or what lies deeper in its value type: "joint.p"; None where there is none."""
    name, *parts = path.split(".")
    field: Field | None = record.fields.get(name)
    for part in parts:
        fields = {} if field is None or field.kind is None else _fields(get_type_hints(field.kind), field.first)
        field = fields.get(part)
    return field


def _fields(hints: dict[str, Any], first: int) -> dict[str, Field]:
    fields = {}
    for name, hint in hints.items():
        kind = hint if hasattr(hint, "_fields") else None
        fields[name] = Field(first, 1 if kind is None else leaves(kind), kind)
        first += fields[name].columns
    return fields


_ROWS: dict[type[Record], Any] = {}


def rows_of(record: type[R]) -> type[Rows[R]]:
    """The type of tables whose rows are `record`."""
    if record not in _ROWS:
        made: Any = type(
            f"{record.__name__}Rows", (Rows,), {"record": record, "__slots__": (), "__module__": record.__module__}
        )
        made.__doc__ = f"A table whose row i is one {record.__name__}, in {counted(record.columns, 'column')}."
        _ROWS[record] = made
        _compile_rows(made)
    return _ROWS[record]


def _held_table(k: int, rows: type[Rows[Any]]) -> property:
    return property(lambda self: rows(self[k]))


_HELD: dict[Any, dict[str, type[Record]]] = {}
"""Of NamedTuples the fields that hold tables of records."""


def holds_records(cls: C) -> C:
    """Decorator of a NamedTuple whose fields `Annotated[Any, SomeRecord]` hold plain tables: an attribute is read as a table of records;
    what is made, unpacked and replaced stays plain."""
    names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    hints = get_type_hints(cls, include_extras=True)
    held = {name: hints[name].__metadata__[0] for name in names if hasattr(hints[name], "__metadata__")}
    for name, record in held.items():
        setattr(cls, name, _held_table(names.index(name), rows_of(record)))
    _HELD[cls] = held
    return cls


def prefetch(rows: Any, i: Any, lines: Any) -> None:
    """Row i of a table of records, wanted soon, out of memory into the caches, so many lines of 64 bytes of it; it may lie outside."""


# --- interpreted --------------------------------------------------------------------------------------------------


def _place(first: Any, k: int) -> Any:
    """The index of number k behind `first`: of a vector, or of a row."""
    return (first[0], first[1] + k) if isinstance(first, tuple) else first + k


def _get(table: Any, first: Any, field: Field) -> Any:
    numbers = (table[_place(first, k)] for k in range(field.first, field.first + field.columns))
    return next(numbers) if field.kind is None else _value(field.kind, numbers)


def _put(table: Any, first: Any, field: Field, value: Any) -> None:
    for k, x in enumerate([value] if field.kind is None else flat(value)):
        table[_place(first, field.first + k)] = x


def _interpreted(field: Field) -> property:
    k = field.first

    def get(self: Any) -> Any:
        return _get(self._table, self._first, field)

    def number(self: Any) -> Any:
        first = self._first
        return self._table[first[0], first[1] + k] if type(first) is tuple else self._table[first + k]

    def put(self: Any, value: Any) -> None:
        _put(self._table, self._first, field, value)

    return property(number if field.kind is None else get, put)


def _value(cls: Any, numbers: Iterator[Any]) -> Any:
    return cls(*[next(numbers) if kind is None else _value(kind, numbers) for kind in _parts(cls)])


@cache
def _parts(cls: Any) -> tuple[Any, ...]:
    """Of each part of a value its type, None of a number."""
    return tuple(kind if hasattr(kind, "_fields") else None for kind in get_type_hints(cls).values())


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
        return ir.DoubleType() if self.scalar == types.float64 else ir.IntType(self.scalar.bitwidth)

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


for _scalar in (types.float64, types.int64, types.int32):
    add_storage(Storage(_scalar, _scalar.name))


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

    def __init__(self, record: Any, storage: Storage) -> None:
        self.row = RecordType(record, storage)
        super().__init__(name=f"rows of {self.row.name}")


class ColumnType(types.Type):
    """The Numba type of a column of a table of records: the address of its first number and the number of rows."""

    def __init__(self, row: RecordType, path: str) -> None:
        self.row, self.path = row, path
        super().__init__(name=f"column {row.name}.{path}")

    @property
    def field(self) -> Field:
        """What it is a column of."""
        field = field_of(self.row.record, self.path)
        assert field is not None
        return field


def _kind_of(row: RecordType, field: Field) -> Any:
    """The Numba type of a field."""
    return row.storage.scalar if field.kind is None else typed(field.kind, row.storage.scalar)


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
        array = cgutils.create_struct_proxy(array_type)(context, builder, value)
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


def _rows_type(record: Any, table: Any) -> RowsType | None:
    """The type of a table of records that is stored in a table of this type."""
    storage = _storage(table)
    return RowsType(record, storage) if storage is not None and storage.dimensions(table) == 2 else None


def _rows_in(context: Any, builder: Any, kind: RowsType, table_type: Any, table: Any) -> Any:
    """The table of records that is stored in a table."""
    array_type, value = kind.row.storage.array(builder, table_type, table)
    array = cgutils.create_struct_proxy(array_type)(context, builder, value)
    count, width, *_ = cgutils.unpack_tuple(builder, array.shape)
    if context.enable_boundscheck:  # as wide as the record
        last = context.get_constant(types.intp, kind.row.record.columns - 1)
        cgutils.do_boundscheck(context, builder, last, width, 1)
        cgutils.do_boundscheck(context, builder, builder.sub(width, last), context.get_constant(types.intp, 2), 1)
    rows = _proxy(context, builder, kind)
    rows.data, rows.count = kind.row.storage.start(builder, table, array.data), count
    return rows._getvalue()


def _compile_rows(cls: Any) -> None:
    """Give the compiler Rows(table), where the table may be one of other records as wide."""

    @type_callable(cls)
    def type_of(context: Any) -> Any:
        def typer(table: Any) -> Any:
            if isinstance(table, RowsType):
                return (
                    RowsType(cls.record, table.row.storage) if table.row.record.columns == cls.record.columns else None
                )
            return _rows_type(cls.record, table)

        return typer

    @lower_builtin(cls, types.Any)
    def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        [table] = sig.args
        return args[0] if isinstance(table, RowsType) else _rows_in(context, builder, sig.return_type, table, args[0])


def _held_rows(holder: Any, name: str) -> RowsType | None:
    """The type of a field that holds a table of records, of a NamedTuple's type."""
    record = _HELD.get(holder.instance_class, {}).get(name)
    return None if record is None else _rows_type(record, holder[holder.fields.index(name)])


class _OfHolder(AttributeTemplate):
    def generic_resolve(self, value: Any, attr: str) -> Any:  # type: ignore[override]
        return _held_rows(value, attr)


for _key in (types.NamedTuple, types.NamedUniTuple):
    infer_getattr(type(_OfHolder.__name__, (_OfHolder,), {"key": _key}))


@lower_getattr_generic(types.NamedTuple)
@lower_getattr_generic(types.NamedUniTuple)
def _held(context: Any, builder: Any, holder: Any, value: Any, attr: str) -> Any:
    k, kind = holder.fields.index(attr), _held_rows(holder, attr)
    table = builder.extract_value(value, k)
    if kind is None:
        return impl_ret_borrowed(context, builder, holder[k], table)
    return _rows_in(context, builder, kind, holder[k], table)


def _proxy(context: Any, builder: Any, kind: Any, value: Any = None) -> Any:
    return cgutils.create_struct_proxy(kind)(context, builder, value)


@infer_global(operator.getitem)
class _Get(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        rows, i = args
        if not isinstance(rows, RowsType | ColumnType) or not isinstance(i, types.Integer):
            return None
        entry = rows.row if isinstance(rows, RowsType) else _kind_of(rows.row, rows.field)
        return signature(entry, rows, types.intp)


@infer_global(operator.setitem)
class _Set(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        rows, _, value = args
        if not isinstance(rows, ColumnType):
            return None
        kind = rows.field.kind
        fits = getattr(value, "instance_class", None) is kind and isinstance(value, types.BaseTuple) == (
            kind is not None
        )
        return signature(types.void, rows, types.intp, value) if fits else None


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.intp, *args) if len(args) == 1 and isinstance(args[0], RowsType | ColumnType) else None


@infer_global(prefetch)
class _Prefetch(AbstractTemplate):
    prefer_literal = True

    def generic(self, args: Any, kws: Any) -> Any:
        rows, _, lines = args
        fits = isinstance(rows, RowsType) and isinstance(lines, types.IntegerLiteral)
        return signature(types.void, rows, types.intp, lines) if fits else None


@lower_builtin(prefetch, RowsType, types.Integer, types.IntegerLiteral)
def _ask(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, row = sig.args[0], sig.args[0].row
    data = builder.bitcast(_proxy(context, builder, kind, args[0]).data, ir.IntType(8).as_pointer())
    bytes_of_row = row.record.columns * row.storage.step * context.get_abi_sizeof(row.storage.number())
    first = builder.mul(args[1], context.get_constant(types.intp, bytes_of_row))
    number = ir.IntType(32)
    of = ir.FunctionType(ir.VoidType(), [data.type, number, number, number])
    ask = builder.module.declare_intrinsic("llvm.prefetch", [data.type], of)
    for k in range(sig.args[2].literal_value):
        line = builder.gep(data, [builder.add(first, context.get_constant(types.intp, LINE * k))])
        builder.call(ask, [line, number(0), number(3), number(1)])  # to be read, into all caches, data
    return context.get_dummy_value()


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
    return _load(context, builder, column.row, _row_at(context, builder, column, *args), column.field, 0)


@lower_builtin(operator.setitem, ColumnType, types.Integer, types.Any)
def _put_entry(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    column = sig.args[0]
    address = _row_at(context, builder, column, *args[:2])
    _store(context, builder, column.row, address, column.field, 0, sig.args[2], args[2])
    return context.get_dummy_value()


@infer_getattr
class _OfRecord(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, value: Any, attr: str) -> Any:  # type: ignore[override]
        field = value.record.fields.get(attr)
        return None if field is None else _kind_of(value, field)


@infer_getattr
class _OfRows(AttributeTemplate):
    key = RowsType

    def generic_resolve(self, value: Any, attr: str) -> Any:  # type: ignore[override]
        return ColumnType(value.row, attr) if attr in value.row.record.fields else None


@infer_getattr
class _OfColumn(AttributeTemplate):
    key = ColumnType

    def generic_resolve(self, value: Any, attr: str) -> Any:  # type: ignore[override]
        path = f"{value.path}.{attr}"
        return ColumnType(value.row, path) if field_of(value.row.record, path) is not None else None


@lower_getattr_generic(RowsType)
def _column_of(context: Any, builder: Any, kind: Any, value: Any, attr: str) -> Any:
    return _column_at(context, builder, kind, value, ColumnType(kind.row, attr), 0)


@lower_getattr_generic(ColumnType)
def _part_of(context: Any, builder: Any, kind: Any, value: Any, attr: str) -> Any:
    return _column_at(context, builder, kind, value, ColumnType(kind.row, f"{kind.path}.{attr}"), kind.field.first)


def _column_at(context: Any, builder: Any, kind: Any, value: Any, column_type: ColumnType, at: int) -> Any:
    """A column of a table of records, or of a column that begins at number `at` of each row."""
    rows, column = _proxy(context, builder, kind, value), _proxy(context, builder, column_type)
    column.data, column.count = _number(builder, kind.row, rows.data, column_type.field.first - at), rows.count
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
