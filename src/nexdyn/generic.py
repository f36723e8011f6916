"""One definition of an operator on value types serves compiled and interpreted code.

    @defines(operator.matmul)
    def _(R: Mat3, a: Vec3):
        return Vec3(...)

Compiled, the types are NamedTuples whose fields live in registers and the line becomes a Numba overload; interpreted,
it becomes the class's dunder method. `float` in a signature stands for any scalar: a Python float, a float64, a pack of
lanes. `generic("name")` makes a named function that is defined over several types the same way.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

from numba import types

from nexdyn.kernel import overloaded

Definition = tuple[tuple[type, ...], Callable[..., Any]]

_DUNDER = {
    operator.add: "__add__",
    operator.sub: "__sub__",
    operator.matmul: "__matmul__",
    operator.mul: "__rmul__",  # the scalar stands on the left
    operator.neg: "__neg__",
}
_TABLE: dict[Any, list[Definition]] = {}


def is_instance(numba_type: Any, cls: Any) -> bool:
    """Whether a Numba type is the value type `cls`; `float` is any scalar, `Any` is anything, `None` is None."""
    if cls is Any:
        return True
    if cls is None:
        return isinstance(numba_type, types.NoneType)
    if cls is float:
        return not isinstance(numba_type, types.BaseTuple)
    return isinstance(numba_type, types.BaseNamedTuple) and numba_type.instance_class is cls  # type: ignore[attr-defined]


def _found(op: Any, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """The definition of `op` for interpreted arguments."""
    for signature, f in _TABLE[op]:
        if len(signature) == len(args) and all(
            cls is Any or (x is None if cls is None else not isinstance(x, tuple) if cls is float else type(x) is cls)
            for cls, x in zip(signature, args, strict=True)
        ):
            return f
    return None


def _typed(op: Any, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """The definition of `op` for Numba types."""
    for signature, f in _TABLE[op]:
        if len(signature) == len(args) and all(map(is_instance, args, signature)):
            return f
    return None


def _register_overload(op: Any, arity: int) -> None:
    # Numba matches the arguments of an overload by name and number, so each number has its own
    def unary(a):
        return _typed(op, (a,))

    def binary(a, b):
        return _typed(op, (a, b))

    def ternary(a, b, c):
        return _typed(op, (a, b, c))

    def of_four(a, b, c, d):
        return _typed(op, (a, b, c, d))

    def of_five(a, b, c, d, e):
        return _typed(op, (a, b, c, d, e))

    def of_six(a, b, c, d, e, f):
        return _typed(op, (a, b, c, d, e, f))

    def of_seven(a, b, c, d, e, f, g):
        return _typed(op, (a, b, c, d, e, f, g))

    by_arity = {1: unary, 2: binary, 3: ternary, 4: of_four, 5: of_five, 6: of_six, 7: of_seven}
    overloaded(op)(by_arity[arity])


def defines(op: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as `op` for the types of its annotations."""

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        signature = tuple(p.annotation for p in inspect.signature(f, eval_str=True).parameters.values())
        if op not in _TABLE:
            _TABLE[op] = []
            _register_overload(op, len(signature))
        _TABLE[op].append((signature, f))
        _TABLE[op].sort(key=lambda known: known[0].count(Any))  # what is for anything comes after what is for something
        if op in _DUNDER:
            _set_dunder(op, signature)
        return f

    return register


def _set_dunder(op: Any, signature: tuple[type, ...]) -> None:
    owner: Any = next(cls for cls in signature if cls is not float)

    def unary(self: Any) -> Any:
        f = _found(op, (self,))
        return NotImplemented if f is None else f(self)

    def binary(self: Any, other: Any) -> Any:
        args = (other, self) if op is operator.mul else (self, other)
        f = _found(op, args)
        return NotImplemented if f is None else f(*args)

    setattr(owner, _DUNDER[op], unary if len(signature) == 1 else binary)
    owner.__array_ufunc__ = None  # interpreted: NumPy scalars on the left leave the product to us


def generic(name: str, doc: str) -> Callable[..., Any]:
    """A named function whose meaning depends on the value types it is given."""

    def call(*args: Any) -> Any:
        f = _found(call, args)
        if f is None:
            raise TypeError(f"{name} is not defined for {', '.join(type(a).__name__ for a in args)}")
        return f(*args)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call
