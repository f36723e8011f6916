"""`Pack`, the type of 8 doubles in one register of the machine: + − * / on packs and floats, nothing else.

LLVM splits the vector where the machine is narrower. What 8 numbers stand for is another matter: eight systems in
``spatial.lanes``, a row of a block in ``linalg``.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import models, register_model

from nexdyn.kernel import FLOATING_POINT

LANES = 8
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
FLAGS = tuple(sorted(FLOATING_POINT))
UNDEFINED = ir.Constant(VECTOR, ir.Undefined)


class Pack(types.Type):
    """The Numba type of 8 doubles."""

    def __init__(self) -> None:
        super().__init__(name=f"Pack{LANES}")

    def unify(self, context: Any, other: Any) -> Any:
        return self if isinstance(other, types.Float | types.Integer) else None


pack = Pack()


@register_model(Pack)
class _PackModel(models.PrimitiveModel):
    def __init__(self, data_model_manager: Any, fe_type: Any) -> None:
        super().__init__(data_model_manager, fe_type, VECTOR)


def splat(builder: Any, x: Any) -> Any:
    one = builder.insert_element(UNDEFINED, x, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, UNDEFINED, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def as_vector(builder: Any, numba_type: Any, value: Any) -> Any:
    return value if isinstance(numba_type, Pack) else splat(builder, value)


@lower_cast(types.Float, Pack)
def _float_to_pack(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    return splat(builder, context.cast(builder, value, fromty, types.float64))


def _define_operator(op: Any, instruction: str) -> None:
    @infer_global(op)
    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and pack in args and all(a is pack or a == types.float64 for a in args):
                return signature(pack, *args)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (as_vector(builder, t, v) for t, v in zip(sig.args, args, strict=True))
        return getattr(builder, instruction)(a, b, flags=FLAGS)

    for pair in ((pack, pack), (pack, types.float64), (types.float64, pack)):
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
        return signature(pack, pack) if args[0] is pack else None


@lower_builtin(operator.neg, pack)
def _negate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


@lower_builtin(abs, pack)
def _absolute(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return call_vector(builder, "llvm.fabs", args[0])


def call_vector(builder: Any, name: str, x: Any) -> Any:
    """LLVM's own function of a vector."""
    kind = ir.FunctionType(VECTOR, [VECTOR])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{LANES}f64"), [x])
