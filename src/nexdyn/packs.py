"""`Pack(n)`, the type of n doubles in one register of the machine: + − * / on packs and floats, nothing else.

LLVM splits the vector where the machine is narrower. What the numbers stand for is another matter: a system each in
``spatial.lanes``, as many as the machine has room for; a row of a block in ``linalg``, always 8.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.extending import lower_builtin, lower_cast, models, register_model

from nexdyn.kernel import FLOATING_POINT
from nexdyn.numba_parts import AbstractTemplate, cgutils, impl_ret_borrowed, infer_global, ir, signature

FLAGS = tuple(sorted(FLOATING_POINT))


class Pack(types.Type):
    """The Numba type of `width` doubles."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Pack{width}")

    def unify(self, context: Any, other: Any) -> Any:
        return self if isinstance(other, types.Float | types.Integer) else None


def vector_of(width: int) -> Any:
    """LLVM's type of `width` doubles."""
    return ir.VectorType(ir.DoubleType(), width)


LANES = 8
VECTOR = vector_of(LANES)
pack = Pack(LANES)


@register_model(Pack)
class _PackModel(models.PrimitiveModel):
    def __init__(self, data_model_manager: Any, fe_type: Any) -> None:
        super().__init__(data_model_manager, fe_type, vector_of(fe_type.width))


def splat(builder: Any, x: Any, width: int = LANES) -> Any:
    undefined = ir.Constant(vector_of(width), ir.Undefined)
    one = builder.insert_element(undefined, x, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width))


def as_vector(builder: Any, numba_type: Any, value: Any, width: int = LANES) -> Any:
    return value if isinstance(numba_type, Pack) else splat(builder, value, width)


@lower_cast(types.Float, Pack)
def _float_to_pack(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    return splat(builder, context.cast(builder, value, fromty, types.float64), toty.width)


def _define_operator(op: Any, instruction: str) -> None:
    @infer_global(op)
    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            packs = {a for a in args if isinstance(a, Pack)}
            if len(args) == 2 and len(packs) == 1 and all(a in packs or a == types.float64 for a in args):
                return signature(packs.pop(), *args)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        width = sig.return_type.width
        a, b = (as_vector(builder, t, v, width) for t, v in zip(sig.args, args, strict=True))
        return getattr(builder, instruction)(a, b, flags=FLAGS)

    for pair in ((Pack, Pack), (Pack, types.float64), (types.float64, Pack)):
        lower_builtin(op, *pair)(lower)


for _op, _name in {
    operator.add: "fadd", operator.iadd: "fadd", operator.sub: "fsub", operator.isub: "fsub",
    operator.mul: "fmul", operator.imul: "fmul", operator.truediv: "fdiv", operator.itruediv: "fdiv",
}.items():  # fmt: skip
    _define_operator(_op, _name)


@infer_global(operator.neg)
@infer_global(abs)
class _OfOnePack(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0], args[0]) if isinstance(args[0], Pack) else None


@lower_builtin(operator.neg, Pack)
def _negate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


@lower_builtin(abs, Pack)
def _absolute(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return call_vector(builder, "llvm.fabs", args[0])


def fields_of(context: Any, builder: Any, array_type: Any, array: Any = None) -> Any:
    """An array's `data`, `shape`, `strides` and so on, to be read or set; of a new one without `array`."""
    return cgutils.create_struct_proxy(array_type)(context, builder, array)


def viewed(context: Any, builder: Any, array_type: Any, array: Any, view_type: Any) -> Any:
    """A contiguous array as one of another number of dimensions: (n,) of all numbers, or (n, 1, width) where `view_type` has
    three. What Numba's own reshape gives, a function that counts no references must not return."""
    a, view = fields_of(context, builder, array_type, array), fields_of(context, builder, view_type)
    size, item = a.nitems, a.itemsize
    shape, strides = [size], [item]
    if view_type.ndim == 3:
        width = cgutils.unpack_tuple(builder, a.shape)[2]
        row = builder.mul(item, width)
        shape, strides = [builder.sdiv(size, width), ir.Constant(size.type, 1), width], [row, row, item]
    view.shape, view.strides = cgutils.pack_array(builder, shape), cgutils.pack_array(builder, strides)
    view.data, view.nitems, view.itemsize, view.meminfo, view.parent = a.data, size, item, a.meminfo, a.parent
    return impl_ret_borrowed(context, builder, view_type, view._getvalue())


def call_vector(builder: Any, name: str, x: Any) -> Any:
    """LLVM's own function of a vector."""
    kind = ir.FunctionType(x.type, [x.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{x.type.count}f64"), [x])
