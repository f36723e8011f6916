"""SIMD lanes: several systems at once from the source that runs one.

A `Pack` is a vector of LANES doubles that stands where a float64 stands: + − * / on packs and floats, the functions of
this module (`zero`, `sin`, `cos`, `exp`, `sqrt`, `power`, `if_less`, `all_less`), and tables whose entry [i, k] is a pack. What a
kernel must not do is branch on the value of a lane: `if_less` selects instead.

LANES fills a register of the machine: 8 with AVX-512, 4 elsewhere (AVX2; two registers with NEON). The environment
variable NEXDYN_LANES sets another width, 2, 4 or 8. Interpreted, a pack is an array (LANES,).
"""

from __future__ import annotations

import math
import operator
import os
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic, lower_builtin, type_callable

from nexdyn.errors import InputError
from nexdyn.generic import is_instance
from nexdyn.kernel import overloaded
from nexdyn.numba_parts import cgutils, ir, llvm
from nexdyn.packs import Pack, call_vector, fields_of, vector_of, viewed
from nexdyn.packs import as_vector as _as_vector
from nexdyn.packs import splat as _splat
from nexdyn.records import Storage, add_storage


def width_of_machine() -> int:
    """Doubles in the widest register of the machine that Numba compiles for."""
    chosen = os.environ.get("NEXDYN_LANES")
    if chosen is not None:
        if chosen not in ("2", "4", "8"):
            raise InputError(f"NEXDYN_LANES is {chosen!r}; 2, 4 or 8 is needed")
        return int(chosen)
    config: Any = numba.config
    told = config.CPU_FEATURES
    if told is None and config.CPU_NAME in (None, llvm.get_host_cpu_name()):
        told = llvm.get_host_cpu_features().flatten()
    return 8 if "+avx512f" in (told or "").split(",") else 4


LANES = width_of_machine()
VECTOR = vector_of(LANES)
UNDEFINED = ir.Constant(VECTOR, ir.Undefined)
pack = Pack(LANES)


def splat(builder: Any, x: Any) -> Any:
    return _splat(builder, x, LANES)


def as_vector(builder: Any, numba_type: Any, value: Any) -> Any:
    return _as_vector(builder, numba_type, value, LANES)


# --- functions of a scalar: a float or a pack ---------------------------------------------------------------------


def _is_pack(x: Any) -> bool:
    """Whether x, met by the interpreter, is a pack."""
    return isinstance(x, np.ndarray)


def zero(x: Any) -> Any:
    """0 of the kind of x, for constants that must unify with a pack."""
    return np.zeros(LANES) if _is_pack(x) else 0.0


def sin(x: Any) -> Any:
    """sin x."""
    return np.sin(x) if _is_pack(x) else math.sin(x)


def cos(x: Any) -> Any:
    """cos x."""
    return np.cos(x) if _is_pack(x) else math.cos(x)


def sqrt(x: Any) -> Any:
    """√x."""
    return np.sqrt(x) if _is_pack(x) else math.sqrt(x)


def exp(x: Any) -> Any:
    """eˣ."""
    return np.exp(x) if _is_pack(x) else math.exp(x)


def tanh(x: Any) -> Any:
    """tanh x."""
    return np.tanh(x) if _is_pack(x) else math.tanh(x)


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y)."""
    return np.arctan2(y, x) if _is_pack(x) or _is_pack(y) else math.atan2(y, x)


def power(x: Any, y: float) -> Any:
    """xʸ, x ≥ 0."""
    return np.power(x, y) if _is_pack(x) else math.pow(x, y)


def if_less(x: Any, y: Any, then: Any, otherwise: Any) -> Any:
    """`then` where x < y, else `otherwise`: a selection, not a branch."""
    if any(map(_is_pack, (x, y, then, otherwise))):
        return np.where(x < y, then, otherwise)
    return then if x < y else otherwise


def greater(x: Any, y: Any) -> Any:
    """The larger of x and y; x where y is no number."""
    return if_less(x, y, y, x)


def all_less(x: Any, y: Any) -> bool:
    """Whether x < y, in every lane: what a kernel may branch on, where either way gives each lane the same."""
    return bool(np.all(x < y))


def lane(x: Any, s: int) -> Any:
    """What a pack holds for system s; a float is the same for all."""
    return x[s] if _is_pack(x) else x


def with_lane(x: Any, s: int, value: Any) -> Any:
    """The pack x with `value` for system s."""
    x = x.copy()
    x[s] = value
    return x


def common(data: Any, k: int) -> Any:
    """data[k] as a float, where it is the same in all lanes: what kernels may branch on."""
    return data.data[k, 0, 0] if isinstance(data, LaneVector) else data[k]


ROUNDING = 1.5 * 2.0**52
"""x + ROUNDING is ROUNDING + the integer nearest to x, |x| < 2⁵⁰, and ends in that integer's bits."""


def nearest(x: Any) -> Any:
    """The integer nearest to x, |x| < 2⁵⁰."""
    return (x + ROUNDING) - ROUNDING


def doubles(x: Any) -> Any:
    """The numbers of a table (n, m), one after another, of all lanes where it has lanes."""
    return (x.data if isinstance(x, LaneTable) else x).reshape(-1)


def count(x: Any) -> int:
    """Rows of an array or of a table of lanes."""
    return len(x.data) if isinstance(x, LaneTable | LaneVector | SharedTable) else len(x)


def in_quarter(rounded: Any, s: Any, c: Any) -> Any:
    """Sine and cosine of r + n π/2 from those of r, rounded = ROUNDING + n: (s, c), (c, −s), (−s, −c), (−c, s) in turn."""
    if _is_pack(rounded):
        quarters = [in_quarter(*numbers) for numbers in zip(rounded, s, c, strict=True)]
        return np.array([q[0] for q in quarters]), np.array([q[1] for q in quarters])
    n = int(rounded - ROUNDING) % 4 if math.isfinite(rounded) else 0
    return ((s, c), (c, -s), (-s, -c), (-c, s))[n]


@intrinsic
def _in_quarter(context: Any, rounded: Any, s: Any, c: Any) -> Any:
    kind = rounded if rounded is pack else types.float64

    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        floats = args[0].type
        bits = ir.VectorType(ir.IntType(64), LANES) if sig.args[0] is pack else ir.IntType(64)

        def constant(k: int) -> Any:
            return ir.Constant(bits, [k] * LANES if sig.args[0] is pack else k)

        def signed(x: Any, n: Any) -> Any:
            sign = builder.shl(builder.and_(n, constant(2)), constant(62))
            return builder.bitcast(builder.xor(builder.bitcast(x, bits), sign), floats)

        n = builder.bitcast(args[0], bits)
        odd = builder.icmp_unsigned("!=", builder.and_(n, constant(1)), constant(0))
        s, c = builder.select(odd, args[2], args[1]), builder.select(odd, args[1], args[2])
        return ctx.make_tuple(builder, sig.return_type, [signed(s, n), signed(c, builder.add(n, constant(1)))])

    return types.UniTuple(kind, 2)(kind, kind, kind), codegen


@overloaded(in_quarter)
def _in_quarter_of(rounded: Any, s: Any, c: Any) -> Any:
    return lambda rounded, s, c: _in_quarter(rounded, s, c)


@intrinsic
def _zero_pack(context: Any, x: Any) -> Any:
    return pack(x), lambda ctx, builder, sig, args: ir.Constant(VECTOR, [0.0] * LANES)


@intrinsic
def _splat_float(context: Any, x: Any) -> Any:
    return pack(types.float64), lambda ctx, builder, sig, args: splat(builder, args[0])


@intrinsic
def _less_pack(context: Any, x: Any, y: Any, then: Any, otherwise: Any) -> Any:
    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b, c, d = (as_vector(builder, t, v) for t, v in zip(sig.args, args, strict=True))
        return builder.select(builder.fcmp_ordered("<", a, b), c, d)

    return pack(x, y, then, otherwise), codegen


@intrinsic
def _all_less_pack(context: Any, x: Any, y: Any) -> Any:
    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (as_vector(builder, t, v) for t, v in zip(sig.args, args, strict=True))
        bits = builder.bitcast(builder.fcmp_ordered("<", a, b), ir.IntType(LANES))
        return builder.icmp_unsigned("==", bits, ir.Constant(ir.IntType(LANES), 2**LANES - 1))

    return types.boolean(x, y), codegen


def _by_lanes(name: str, arity: int) -> Any:
    """A pack function that calls the C library lane by lane, in one function of the module: 8 calls wherever it is used
    would take long to compile."""

    def function_in(module: Any) -> Any:
        of_packs = ir.FunctionType(VECTOR, [VECTOR] * arity)
        f = cgutils.get_or_insert_function(module, of_packs, f"nexdyn_{name}_{LANES}")
        if f.blocks:
            return f
        f.linkage = "linkonce_odr"
        f.attributes.add("noinline")
        builder = ir.IRBuilder(f.append_basic_block())
        of_doubles = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * arity)
        scalar = cgutils.get_or_insert_function(module, of_doubles, name)
        out = UNDEFINED
        for s in range(LANES):
            index = ir.Constant(ir.IntType(32), s)
            y = builder.call(scalar, [builder.extract_element(x, index) for x in f.args])
            out = builder.insert_element(out, y, index)
        builder.ret(out)
        return f

    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        vectors = [as_vector(builder, t, v) for t, v in zip(sig.args, args, strict=True)]
        return builder.call(function_in(builder.module), vectors)

    if arity == 1:

        @intrinsic
        def unary(context: Any, x: Any) -> Any:
            return pack(x), codegen

        return unary

    @intrinsic
    def binary(context: Any, y: Any, x: Any) -> Any:
        return pack(y, x), codegen

    return binary


@intrinsic
def _sqrt_pack(context: Any, x: Any) -> Any:
    return pack(x), lambda ctx, builder, sig, args: call_vector(builder, "llvm.sqrt", args[0])


_SIN, _COS, _TANH, _ATAN2 = _by_lanes("sin", 1), _by_lanes("cos", 1), _by_lanes("tanh", 1), _by_lanes("atan2", 2)
_EXP, _POW = _by_lanes("exp", 1), _by_lanes("pow", 2)


@overloaded(zero)
def _zero(x: Any) -> Any:
    return (lambda x: _zero_pack(x)) if x is pack else (lambda x: 0.0)


def _overload_unary(f: Any, on_pack: Any, on_float: Any) -> None:
    @overloaded(f)
    def _typed(x: Any) -> Any:
        return (lambda x: on_pack(x)) if x is pack else (lambda x: on_float(x))


_overload_unary(sin, _SIN, math.sin)
_overload_unary(cos, _COS, math.cos)
_overload_unary(sqrt, _sqrt_pack, math.sqrt)
_overload_unary(tanh, _TANH, math.tanh)
_overload_unary(exp, _EXP, math.exp)


@overloaded(atan2)
def _atan2(y: Any, x: Any) -> Any:
    return (lambda y, x: _ATAN2(y, x)) if pack in (x, y) else (lambda y, x: math.atan2(y, x))


@overloaded(power)
def _power(x: Any, y: Any) -> Any:
    return (lambda x, y: _POW(x, y)) if pack in (x, y) else (lambda x, y: math.pow(x, y))


@intrinsic
def _lane_of_pack(context: Any, x: Any, s: Any) -> Any:
    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(args[0], builder.trunc(args[1], ir.IntType(32)))

    return types.float64(x, types.int64), codegen


@intrinsic
def _with_lane_of_pack(context: Any, x: Any, s: Any, value: Any) -> Any:
    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.insert_element(args[0], args[2], builder.trunc(args[1], ir.IntType(32)))

    return x(x, types.int64, types.float64), codegen


@overloaded(lane)
def _lane(x: Any, s: Any) -> Any:
    return (lambda x, s: _lane_of_pack(x, s)) if x is pack else (lambda x, s: x)


@overloaded(with_lane)
def _with_lane(x: Any, s: Any, value: Any) -> Any:
    return lambda x, s, value: _with_lane_of_pack(x, s, value)


@overloaded(common)
def _common(data: Any, k: Any) -> Any:
    if is_instance(data, LaneVector):
        return lambda data, k: data.data[k, 0, 0]
    return lambda data, k: data[k]


@overloaded(all_less)
def _all_less(x: Any, y: Any) -> Any:
    return (lambda x, y: _all_less_pack(x, y)) if pack in (x, y) else (lambda x, y: x < y)


@overloaded(greater)
def _greater(x: Any, y: Any) -> Any:
    return lambda x, y: if_less(x, y, y, x)


@overloaded(nearest)
def _nearest(x: Any) -> Any:
    return lambda x: (x + ROUNDING) - ROUNDING


@type_callable(doubles)
def _type_doubles(context: Any) -> Any:
    def typer(x: Any) -> Any:
        array = x[0] if is_instance(x, LaneTable) else x
        return types.Array(array.dtype, 1, "C") if isinstance(array, types.Array) and array.layout == "C" else None

    return typer


@lower_builtin(doubles, types.Array)
@lower_builtin(doubles, types.BaseNamedTuple)
def _doubles(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    if isinstance(sig.args[0], types.Array):
        return viewed(context, builder, sig.args[0], args[0], sig.return_type)
    return viewed(context, builder, sig.args[0][0], builder.extract_value(args[0], 0), sig.return_type)


@overloaded(count)
def _count(x: Any) -> Any:
    if any(is_instance(x, table) for table in (LaneTable, LaneVector, SharedTable)):
        return lambda x: len(x.data)
    return lambda x: len(x)


@overloaded(if_less)
def _if_less(x: Any, y: Any, then: Any, otherwise: Any) -> Any:
    if pack in (x, y, then, otherwise):
        return lambda x, y, then, otherwise: _less_pack(x, y, then, otherwise)
    return lambda x, y, then, otherwise: then if x < y else otherwise


# --- tables of lanes ----------------------------------------------------------------------------------------------


class LaneTable(NamedTuple):
    """A table whose entry [i, k] is a pack; `data` is (rows, columns, LANES) float64."""

    data: np.ndarray
    kind: int  # tells the types of tables and vectors apart

    @classmethod
    def of(cls, array: Any) -> LaneTable:
        """From an array (…, rows, columns) with 8 systems on the leading axis, or one table repeated for all."""
        a = np.asarray(array, dtype=float)
        a = np.repeat(a[None], LANES, axis=0) if a.ndim == 2 else a
        return cls(np.ascontiguousarray(np.moveaxis(a, 0, -1)), 0)

    def reshape(self, _: int) -> LaneVector:
        """The entries, row after row."""
        return LaneVector(self.data.reshape(-1, 1, LANES), 0)

    def systems(self) -> np.ndarray:
        """The array (LANES, rows, columns)."""
        return np.moveaxis(self.data, -1, 0).copy()

    def __getitem__(self, index: Any) -> Any:
        return self.data[index].copy()

    def __setitem__(self, index: Any, value: Any) -> None:
        self.data[index] = value


class SharedTable(NamedTuple):
    """A plain table that all lanes share; entry [i, k] is read as a pack. `data` is (rows, columns) float64."""

    data: np.ndarray
    kind: int

    def __getitem__(self, index: Any) -> Any:
        return np.full(LANES, self.data[index])


class LaneVector(NamedTuple):
    """A vector whose entry [i] is a pack; `data` is (rows, 1, LANES) float64."""

    data: np.ndarray
    kind: int

    @classmethod
    def of(cls, array: Any) -> LaneVector:
        """From an array (LANES, n)."""
        return cls(np.ascontiguousarray(np.asarray(array, dtype=float).T[:, None, :]), 0)

    def systems(self) -> np.ndarray:
        """The array (LANES, n)."""
        return self.data[:, 0, :].T.copy()

    def __getitem__(self, index: Any) -> Any:
        return self.data[index, 0].copy()

    def __setitem__(self, index: Any, value: Any) -> None:
        self.data[index, 0] = value


class OneLane(NamedTuple):
    """A vector of lanes as system `lane` sees it: entry [i] is a float."""

    data: np.ndarray
    lane: int

    def __getitem__(self, index: Any) -> Any:
        return self.data[index, 0, self.lane]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.data[index, 0, self.lane] = value


class LaneOfTable(NamedTuple):
    """A table of lanes as system `lane` sees it: entry [i, k] is a float; to kernels a table of records."""

    data: np.ndarray
    lane: int

    def __getitem__(self, index: Any) -> Any:
        return self.data[index][self.lane]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.data[index][self.lane] = value


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, i: Any, k: Any) -> Any:
    a = fields_of(context, builder, array_type, array)
    width = cgutils.unpack_tuple(builder, a.shape)[1]
    offset = builder.mul(builder.add(builder.mul(i, width), k), ir.Constant(ir.IntType(64), LANES))
    return builder.bitcast(builder.gep(a.data, [offset]), VECTOR.as_pointer())


@intrinsic
def _load(context: Any, data: Any, i: Any, k: Any) -> Any:
    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_pointer(ctx, builder, sig.args[0], *args), align=8)

    return pack(data, types.int64, types.int64), codegen


@intrinsic
def _store(context: Any, data: Any, i: Any, k: Any, value: Any) -> Any:
    def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        target = _pointer(ctx, builder, sig.args[0], *args[:3])
        builder.store(as_vector(builder, sig.args[3], args[3]), target, align=8)
        return ctx.get_dummy_value()

    kept = value if isinstance(value, Pack) else types.float64
    return types.void(data, types.int64, types.int64, kept), codegen


@overloaded(operator.getitem)
def _get(table, index):
    if is_instance(table, LaneTable):
        return lambda table, index: _load(table.data, index[0], index[1])
    if is_instance(table, LaneVector):
        return lambda table, index: _load(table.data, index, 0)
    if is_instance(table, SharedTable):
        return lambda table, index: _splat_float(table.data[index])
    if is_instance(table, OneLane):
        return lambda table, index: table.data[index, 0, table.lane]
    return None


@overloaded(operator.setitem)
def _set(table, index, value):
    if is_instance(table, LaneTable):
        return lambda table, index, value: _store(table.data, index[0], index[1], value)
    if is_instance(table, LaneVector):
        return lambda table, index, value: _store(table.data, index, 0, value)
    return None


def packs(array: Any) -> Any:
    """An array (rows, columns, LANES) as a table whose entry [i, k] is a pack; interpreted, the LANES numbers at [i, k]."""
    return array


@overloaded(packs)
def _packs(array: Any) -> Any:
    return lambda array: LaneTable(array, 0)


class _Packs(Storage):
    """Records in tables and vectors of lanes: their numbers are packs, except where all lanes share a table or one is looked at."""

    step = LANES

    def __init__(self, cls: Any, scalar: Any = pack) -> None:
        super().__init__(scalar, cls.__name__)
        self.cls = cls

    def of(self, table: Any) -> bool:
        return is_instance(table, self.cls)

    def array(self, builder: Any, table_type: Any, table: Any) -> tuple[Any, Any]:
        return table_type[0], builder.extract_value(table, 0)

    def dimensions(self, table: Any) -> int:
        return 2 if self.cls in (LaneTable, LaneOfTable) else 1

    def number(self) -> Any:
        return ir.DoubleType()

    def load(self, builder: Any, pointer: Any) -> Any:
        return builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=8)

    def store(self, context: Any, builder: Any, kind: Any, value: Any, pointer: Any) -> None:
        x = value if isinstance(kind, Pack) else splat(builder, context.cast(builder, value, kind, types.float64))
        builder.store(x, builder.bitcast(pointer, VECTOR.as_pointer()), align=8)


class _Shared(_Packs):
    """A plain table that all lanes share: what stands there is read as a pack, and never written."""

    step = 1

    def dimensions(self, table: Any) -> int:
        return 2

    def load(self, builder: Any, pointer: Any) -> Any:
        return splat(builder, builder.load(pointer))

    def store(self, context: Any, builder: Any, kind: Any, value: Any, pointer: Any) -> None:
        raise TypeError("a table that all lanes share is not written")


class _One(_Packs):
    """One lane of a vector or table, as floats."""

    def start(self, builder: Any, table: Any, data: Any) -> Any:
        return builder.gep(data, [builder.extract_value(table, 1)])

    def load(self, builder: Any, pointer: Any) -> Any:
        return builder.load(pointer)

    def store(self, context: Any, builder: Any, kind: Any, value: Any, pointer: Any) -> None:
        builder.store(context.cast(builder, value, kind, types.float64), pointer)


for _storage in (
    _Packs(LaneTable), _Packs(LaneVector), _Shared(SharedTable), _One(OneLane, types.float64), _One(LaneOfTable, types.float64)
):  # fmt: skip
    add_storage(_storage)
