"""Expressions: scalars that are computed from named parameters, and from the time where they describe a function of it.

An expression is its postfix tape: 2*L is (const 2) (name L) (*). It is immutable, hashable, has no recursion to
overflow, and is what a compiled function of time runs (``functions.TimeExpression``). Text becomes an expression by a
walk over its syntax tree that knows numbers, names, + - * / ** and the functions below: nothing is ever executed.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, reduce
from typing import Any

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, UnknownNameError, unknown

Tape = tuple[tuple[str, Any], ...]
"""Postfix, one (operation, operand) a step; the operand is a float for "const", a text for "name", None otherwise."""

MAX_TEXT, MAX_DEPTH, MAX_TAPE = 4000, 200, 10_000

UNARY: dict[str, Callable[[float], float]] = {
    "neg": operator.neg,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "tanh": math.tanh,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "abs": abs,
}
BINARY: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": math.pow,
    "atan2": math.atan2,
    "min": min,
    "max": max,
}
FUNCTIONS = sorted((set(UNARY) - {"neg"}) | {"atan2", "min", "max"})
CONSTANTS = {"pi": math.pi, "e": math.e}
RESERVED = {*FUNCTIONS, *CONSTANTS, "t", "gravity"}
OPCODES = {op: code for code, op in enumerate(("const", "time", *BINARY, *UNARY))}

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "**": 4}
_OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


class Expression(metaclass=CheckedCalls):
    """An immutable scalar expression of named parameters: ``2 * L + np.sin(angle)``.

    Operators + - * / ** and abs() build larger ones; so do the methods sin, cos, tan, arcsin, arccos, arctan, arctan2,
    tanh, sqrt, exp, log (NumPy's functions call them: ``np.sqrt(L)``) and ``minimum(a, b)``, ``maximum(a, b)``.
    `tape`: postfix, one (operation, operand) a step. `names`: the parameters it depends on.
    """

    __slots__ = ("tape",)
    tape: Tape

    def __init__(self, tape: Tape) -> None:
        if len(tape) > MAX_TAPE:
            raise InputError(f"an expression of {len(tape)} operations is too long; {MAX_TAPE} at most")
        object.__setattr__(self, "tape", tape)

    @property
    def names(self) -> frozenset[str]:
        """Names of the parameters the value depends on."""
        return frozenset(operand for op, operand in self.tape if op == "name")

    @property
    def has_time(self) -> bool:
        """Whether the value depends on the time t."""
        return any(op == "time" for op, _ in self.tape)

    def __setattr__(self, attribute: str, value: object) -> None:
        raise InputError(f"an expression cannot be changed; system.with_parameters changes the values in {self}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (self.tape,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.tape == other.tape

    def __hash__(self) -> int:
        return hash(self.tape)

    def __str__(self) -> str:
        return _infix(self.tape)

    def __repr__(self) -> str:
        return f"Expression({str(self)!r})"

    def __add__(self, other: Any) -> Expression:
        return _binary("+", self, other)

    def __radd__(self, other: Any) -> Expression:
        return _binary("+", other, self)

    def __sub__(self, other: Any) -> Expression:
        return _binary("-", self, other)

    def __rsub__(self, other: Any) -> Expression:
        return _binary("-", other, self)

    def __mul__(self, other: Any) -> Expression:
        return _binary("*", self, other)

    def __rmul__(self, other: Any) -> Expression:
        return _binary("*", other, self)

    def __truediv__(self, other: Any) -> Expression:
        return _binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return _binary("/", other, self)

    def __pow__(self, other: Any) -> Expression:
        return _binary("**", self, other)

    def __rpow__(self, other: Any) -> Expression:
        return _binary("**", other, self)

    def __neg__(self) -> Expression:
        return self._unary("neg")

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return self._unary("abs")

    def sin(self) -> Expression:
        return self._unary("sin")

    def cos(self) -> Expression:
        return self._unary("cos")

    def tan(self) -> Expression:
        return self._unary("tan")

    def arcsin(self) -> Expression:
        return self._unary("asin")

    def arccos(self) -> Expression:
        return self._unary("acos")

    def arctan(self) -> Expression:
        return self._unary("atan")

    def tanh(self) -> Expression:
        return self._unary("tanh")

    def sqrt(self) -> Expression:
        return self._unary("sqrt")

    def exp(self) -> Expression:
        return self._unary("exp")

    def log(self) -> Expression:
        return self._unary("log")

    def arctan2(self, other: Any) -> Expression:
        return _binary("atan2", self, other)

    def _unary(self, op: str) -> Expression:
        return Expression((*self.tape, (op, None)))


TIME = Expression((("time", None),))
"""The time t [s], for functions of time built in Python: ``TimeExpression(3 * np.sin(2 * np.pi * TIME))``."""


def minimum(a: Any, b: Any) -> Expression:
    """The smaller of two quantities, as an expression."""
    return _binary("min", a, b)


def maximum(a: Any, b: Any) -> Expression:
    """The larger of two quantities, as an expression."""
    return _binary("max", a, b)


# --- tapes ----------------------------------------------------------------------------------------------------------


def run_tape(
    tape: Tape,
    unary: Mapping[str, Callable[[Any], Any]],
    binary: Mapping[str, Callable[[Any, Any], Any]],
    load: Callable[[str, Any], Any],
) -> Any:
    """The value of a postfix tape over any algebra: `load(op, operand)` gives constants, names and the time."""
    stack: list[Any] = []
    for op, operand in tape:
        if op in binary:
            right = stack.pop()
            stack.append(binary[op](stack.pop(), right))
        elif op in unary:
            stack.append(unary[op](stack.pop()))
        else:
            stack.append(load(op, operand))
    return stack.pop()


def evaluated(expression: Expression, values: Mapping[str, float], what: str) -> float:
    """The float value of an expression of parameters; InputError, naming `what`, where it has none."""

    def load(op: str, operand: Any) -> float:
        if op == "const":
            return float(operand)
        if op == "time":
            raise InputError(f"{what} = {expression} depends on the time t; only functions of time may")
        if operand not in values:
            raise UnknownNameError(f"{what} = {expression}: {unknown('parameter', operand, values)}")
        return values[operand]

    try:
        return float(run_tape(expression.tape, UNARY, BINARY, load))
    except (ArithmeticError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = {
            "math domain error": "outside the domain of a function",
            "math range error": "the result is too large",
        }
        raise InputError(f"{what} = {expression} has no value: {reason.get(str(error), str(error))}") from None


def _binary(op: str, a: Any, b: Any) -> Expression:
    return Expression((*_operand(a).tape, *_operand(b).tape, (op, None)))


def _operand(x: Any) -> Expression:
    if isinstance(x, Expression):
        return x
    if isinstance(x, str):
        return as_expression(x, "an operand")
    return _constant(x)


def _constant(x: Any) -> Expression:
    """The expression of a finite number."""
    try:
        value = math.nan if isinstance(x, bool) else float(x)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{shown(x)} cannot be part of an expression; a finite number is needed")
    return Expression((("const", value),))


# --- text -----------------------------------------------------------------------------------------------------------


def as_expression(x: str | Expression, what: str = "value") -> Expression:
    """The expression itself, or that of a string "=…"; other text is refused."""
    if isinstance(x, Expression):
        return x
    if not x.startswith("="):
        raise InputError(f"{what} is the text {shown(x)}; write {_meant_by(x)}")
    try:
        return _parsed(x[1:], True)
    except InputError as error:
        raise type(error)(f"{what}: {error}") from None


def parse_expression(text: str, names: Iterable[str] | None = None, *, time: bool = False) -> Expression:
    """The expression that `text` says; the "=" of an attribute is not part of it.

    names: the parameters it may use; None for any. time: whether t may occur.
    Constants: pi, e. Functions: abs acos asin atan atan2 cos exp log max min sin sqrt tan tanh.
    Raises InputError for anything else, and UnknownNameError with the nearest name.
    """
    if not isinstance(text, str):
        raise InputError(f"an expression is text, not {shown(text)}")
    expression = _parsed(text, time)
    if names is not None:
        known = list(names)
        for name in sorted(expression.names.difference(known)):
            raise unknown("parameter", name, known)
    return expression


@lru_cache(maxsize=4096)
def _parsed(text: str, time: bool) -> Expression:
    if len(text) > MAX_TEXT:
        raise InputError(f"an expression of {len(text)} characters is too long; {MAX_TEXT} at most")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        at = f" at character {error.offset}" if error.offset else ""
        raise InputError(f"{shown(text)} is no expression: {error.msg}{at}") from None
    except (ValueError, RecursionError, MemoryError, OverflowError):
        raise InputError(f"{shown(text)} is no expression, or nested too deeply") from None
    return _walk(tree.body, text, time, 0)


def _walk(node: ast.expr, text: str, time: bool, depth: int) -> Expression:
    """One node of the syntax tree as an expression; whatever is not listed is refused."""
    if depth > MAX_DEPTH:
        raise InputError(f"{shown(text)} is nested too deeply; {MAX_DEPTH} levels at most")
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _constant(node.value)
    if isinstance(node, ast.Name):
        if node.id in CONSTANTS:
            return _constant(CONSTANTS[node.id])
        if node.id == "t":
            if not time:
                raise InputError(f"{shown(text)} depends on the time t; only functions of time may")
            return TIME
        if node.id in FUNCTIONS:
            raise InputError(f"{shown(text)}: {node.id} is a function; write {node.id}(…)")
        return Expression((("name", node.id),))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _walk(node.left, text, time, depth + 1), _walk(node.right, text, time, depth + 1)
        return _binary(_OPERATORS[type(node.op)], left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _walk(node.operand, text, time, depth + 1)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.Call):
        return _call(node, text, time, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        raise InputError(f"{shown(text)}: ^ is no power here; write **")
    raise InputError(
        f"{shown(text)}: {shown(_source(node, text))} is not allowed; "
        f"valid are numbers, names, + - * / ** ( ) and the functions {', '.join(FUNCTIONS)}"
    )


def _source(node: ast.expr, text: str) -> str:
    """The text of a node. `ast.unparse` would recurse as deeply as it is nested."""
    return ast.get_source_segment(text.strip(), node) or text


def _call(node: ast.Call, text: str, time: bool, depth: int) -> Expression:
    name = node.func.id if isinstance(node.func, ast.Name) else _source(node.func, text)
    if name not in FUNCTIONS:
        raise unknown("function", name, FUNCTIONS)
    if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
        raise InputError(f"{shown(text)}: {name} takes plain arguments only")
    args = [_walk(arg, text, time, depth + 1) for arg in node.args]
    if name in UNARY:
        if len(args) != 1:
            raise InputError(f"{shown(text)}: {name} takes one argument, not {len(args)}")
        return args[0]._unary(name)
    if len(args) < 2 or (name == "atan2" and len(args) != 2):
        raise InputError(f"{shown(text)}: {name} takes two arguments{'' if name == 'atan2' else ' or more'}")
    return reduce(lambda a, b: _binary(name, a, b), args)


def _infix(tape: Tape) -> str:
    """The tape as text that parses back to it."""

    def load(op: str, operand: Any) -> tuple[str, float]:
        if op == "const":
            return repr(operand), 3 if operand < 0 else 9
        return ("t" if op == "time" else operand), 9

    def unary(op: str) -> Callable[[tuple[str, float]], tuple[str, float]]:
        if op == "neg":
            return lambda a: (f"-{_bracketed(a, 3)}", 3)
        return lambda a: (f"{op}({a[0]})", 9)

    def binary(op: str) -> Callable[[tuple[str, float], tuple[str, float]], tuple[str, float]]:
        if op not in _PRECEDENCE:
            return lambda a, b: (f"{op}({a[0]}, {b[0]})", 9)
        level = _PRECEDENCE[op]
        # + - * / group from the left, ** from the right and tighter than a minus before it
        left, right = (level + 1, 3) if op == "**" else (level, level + 1)
        space = " " if level == 1 else ""
        return lambda a, b: (f"{_bracketed(a, left)}{space}{op}{space}{_bracketed(b, right)}", level)

    return run_tape(tape, {op: unary(op) for op in UNARY}, {op: binary(op) for op in BINARY}, load)[0]


def _bracketed(part: tuple[str, float], level: float) -> str:
    return part[0] if part[1] >= level else f"({part[0]})"


_DEGREES = ("deg", "degree", "degrees", "°")
_WITH_UNIT = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\W\d_][\w/*^²³·]*|°)")


def _meant_by(text: str) -> str:
    """What to write where a quantity is `text` that does not begin with "="."""
    text = text.strip()
    if _reads_as_number(text):
        return f"the number {text} without quotes"
    if _reads_as_number(pointed := text.replace(",", ".", 1)):
        return f"the number {pointed}, with a point"
    if (unit := _WITH_UNIT.fullmatch(text)) is not None:
        if unit[2] in _DEGREES:
            return f"'={unit[1]}*pi/180', since angles are in rad"
        return "the number alone, in SI units (m, kg, s, rad)"
    try:
        computed = not _parsed(text, True).names or not text.isidentifier()
    except InputError:
        computed = False
    return f"{('=' + text)!r} for an expression" if computed else "'=…' for an expression"


def _reads_as_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def shown(x: Any) -> str:
    """`x` for a message, short."""
    text = str(x) if isinstance(x, float | Expression) else repr(x)
    return text if len(text) <= 60 else text[:57] + "…"
