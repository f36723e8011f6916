"""Named parameters, and quantities: what turns a number, an expression or its text into a float.

Every numeric attribute of a body, joint, force or marker is a *quantity*: a number, an :class:`Expression`, or a
string that starts with "=" ("=2*L"). Elements keep what was given; :func:`number` and :func:`vector` turn it into
finite floats with a mapping of parameter values, so that a value changes without rebuilding.
"""

from __future__ import annotations

import keyword
import math
import numbers
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError
from nexdyn.model.expressions import RESERVED, Expression, as_expression, evaluated, parse_expression, shown

__all__ = [
    "Expression",
    "Parameter",
    "bound",
    "evaluate",
    "floats",
    "frozen",
    "has_nan",
    "names_in",
    "number",
    "parameter_name",
    "parse_expression",
    "sequence",
    "vector",
]

_NONE: frozenset[str] = frozenset()
_LABELS = {"name", "path", "joint"}
"""Fields that hold text, never an expression."""


class Parameter(Expression, metaclass=CheckedCalls):
    """A named number of a system: ``L = system.parameter("L", 0.5)``; `value` may be an expression of others."""

    __slots__ = ("name", "value")
    name: str
    value: float | Expression

    def __init__(self, name: str, value: Any) -> None:
        name = parameter_name(name)
        super().__init__((("name", name),))
        object.__setattr__(self, "name", name)
        if isinstance(value, str | Expression):
            value = as_expression(value, f"parameter {name!r}")
        else:
            value = number(value, None, f"parameter {name!r}")
        object.__setattr__(self, "value", value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Parameter, (self.name, self.value)

    def __repr__(self) -> str:
        return f"Parameter({self.name!r}, {self.value if isinstance(self.value, float) else '=' + str(self.value)!r})"


def parameter_name(name: object) -> str:
    """The name of a parameter, NFKC as Python's own identifiers; InputError if an expression could not use it."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise InputError(f"{name!r} cannot name a parameter; use letters, digits and _, not starting with a digit")
    if name in RESERVED:
        raise InputError(f"{name!r} cannot name a parameter; reserved are {', '.join(sorted(RESERVED))}")
    return unicodedata.normalize("NFKC", name)


SURELY = 1e300
"""Numbers below it in size are finite, and integers too."""

# --- quantities to floats -------------------------------------------------------------------------------------------


def number(x: Any, values: Mapping[str, float] | None = None, what: str = "value") -> float:
    """The finite float that the quantity `x` stands for under the parameter `values`; InputError names `what`."""
    if type(x) is float and -math.inf < x < math.inf:
        return x
    result = bound(x, values, what)
    if math.isinf(result):
        raise InputError(f"{what} is {_result(x, result)}; a finite number is needed")
    return result


def bound(x: Any, values: Mapping[str, float] | None = None, what: str = "value") -> float:
    """As :func:`number`, but ±inf is allowed (no limit); NaN is not."""
    if isinstance(x, str | Expression):
        result = evaluated(as_expression(x, what), values or {}, what)
    elif isinstance(x, bool | np.bool_) or not isinstance(x, numbers.Real):
        if isinstance(x, np.ndarray) and x.ndim == 0:
            return bound(x.item(), values, what)
        raise InputError(f"{what} is {shown(x)}; a number or an expression like '=2*L' is needed")
    else:
        try:
            result = float(x)
        except OverflowError:
            raise InputError(f"{what} is too large for a number") from None
    if math.isnan(result):
        raise InputError(f"{what} is {_result(x, result)}; a number is needed")
    return result


def _result(x: Any, result: float) -> str:
    return f"{shown(x)} = {result}" if isinstance(x, str | Expression) else str(result)


def floats(x: Any, n: int, values: Mapping[str, float] | None = None, what: str = "value") -> tuple[float, ...]:
    """The `n` finite floats of a sequence of quantities; InputError names `what` and the component."""
    items = sequence(x, what, f"{n} numbers")
    if len(items) != n:
        raise InputError(f"{what} has {len(items)} components; {n} are needed")
    for item in items:
        if (type(item) is not float and type(item) is not int) or not -SURELY < item < SURELY:
            return tuple([number(item, values, f"{what}[{i}]") for i, item in enumerate(items)])
    return tuple(map(float, items))


def vector(x: Any, n: int, values: Mapping[str, float] | None = None, what: str = "value") -> np.ndarray:
    """The `n` finite numbers of a sequence of quantities, (n,) float64; InputError names `what` and the component."""
    return np.array(floats(x, n, values, what))


def sequence(x: Any, what: str, needed: str) -> tuple[Any, ...]:
    """`x` as a tuple; InputError for what is no sequence (text is none)."""
    if type(x) is tuple:
        return x
    if isinstance(x, np.ndarray):
        x = x.tolist()
    if isinstance(x, Sequence) and not isinstance(x, str | bytes):
        return tuple(x)
    raise InputError(f"{what} is {shown(x)}; {needed} are needed")


def evaluate(x: Any, values: Mapping[str, float]) -> float:
    """The value of a quantity under the parameter `values`. UnknownNameError for a name that `values` lacks."""
    return number(x, values, "the expression")


def names_in(x: Any) -> frozenset[str]:
    """The parameters that a value depends on: a quantity, a sequence of them, or a plain object that holds them."""
    kind = type(x)
    if kind is float:
        return _NONE
    if kind is tuple:
        found = _NONE
        for item in x:
            if type(item) is not float:
                found |= names_in(item)
        return found
    if isinstance(x, str):
        return as_expression(x).names if x.startswith("=") else _NONE
    if isinstance(x, Expression):
        return x.names
    if hasattr(kind, "__dataclass_fields__"):
        return _NONE.union(*(names_in(item) for field, item in vars(x).items() if field not in _LABELS))
    return _NONE


def has_nan(x: Any) -> bool:
    """Whether a NaN is among the numbers of a value or a nested tuple."""
    if type(x) is tuple:
        return any(item != item or (type(item) is tuple and has_nan(item)) for item in x)
    return bool(type(x) is float and x != x)


def frozen(x: Any) -> Any:
    """`x` with lists and arrays made tuples, and NumPy scalars Python's, so that nobody can change it later."""
    kind = type(x)
    if kind is tuple or kind is list:
        for item in x:
            if type(item) is not float:
                return tuple([frozen(item) for item in x])
        return tuple(x)
    if isinstance(x, np.ndarray | np.generic):
        return frozen(x.tolist())
    return x
