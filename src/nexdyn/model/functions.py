"""Functions of time, each with exact first and second derivatives.

    Harmonic    y = y0 + A sin(2π f t + φ)
    Step5       y = y0 + (y1 − y0)(10 s³ − 15 s⁴ + 6 s⁵),  s = (t − t0)/(t1 − t0) clamped to [0, 1]
    expression  (u, u̇, ü) is carried through every operation (``jets``)

A function is plain data. Its numbers may be expressions of parameters; `resolved(values)` has floats in their place,
and `row()` gives it to a compiled kernel: a code from the table below and a list of floats.

    code             row
    CONSTANT         value
    LINEAR           offset, slope
    HARMONIC         amplitude, frequency, phase, offset
    POLYNOMIAL       c0, c1, c2, …  (lowest power first)
    STEP5            t0, y0, t1, y1
    STEP_CHANGE      time, before, after
    TABLE_LINEAR     n, the n times, the n values
    TABLE_CUBIC      n, the n times, then for each of the n − 1 intervals c0, c1, c2, c3 in powers of t − t_k
    TIME_EXPRESSION  postfix tape: (opcode, operand) a step, opcodes in ``expressions.OPCODES``; operand 0 where unused
    USER             nothing: the function itself is `f`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, SolveError, counted, is_one_of, unknown
from nexdyn.model import jets
from nexdyn.model.expressions import OPCODES, Expression, as_expression, parse_expression, run_tape
from nexdyn.model.jets import Jet
from nexdyn.model.parameters import frozen, names_in, number, sequence

Array = NDArray[np.float64]
(
    CONSTANT,
    LINEAR,
    HARMONIC,
    POLYNOMIAL,
    STEP5,
    STEP_CHANGE,
    TABLE_LINEAR,
    TABLE_CUBIC,
    TIME_EXPRESSION,
    USER,
) = range(10)


_SEQUENCES = {"coefficients", "times", "values"}
"""Fields that are sequences of numbers."""


@dataclass(frozen=True)
class Function(metaclass=CheckedCalls):
    """Base of all functions of time. A subclass sets `code` and gives `_jet(t)`: y, dy/dt, d²y/dt² at times t (n,)."""

    code: ClassVar[int]

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, frozen(getattr(self, item.name)))
        if not self.names:
            for name, value in self._numbers({}).items():
                object.__setattr__(self, name, value)
            self._check()

    def __str__(self) -> str:
        return type(self).__name__

    @property
    def names(self) -> frozenset[str]:
        """The parameters it depends on."""
        return names_in(self)

    def resolved(self, values: Mapping[str, float]) -> Self:
        """The same function with numbers in place of expressions."""
        return replace(self, **self._numbers(values)) if self.names else self

    def value(self, t: ArrayLike) -> Array:
        """The function at times `t` [s] of any shape. InputError where it has no finite value."""
        return self._at(t, 0, "value")

    def derivative(self, t: ArrayLike) -> Array:
        """Its first derivative [1/s] at times `t`; at a corner, that from the right."""
        return self._at(t, 1, "derivative")

    def second_derivative(self, t: ArrayLike) -> Array:
        """Its second derivative [1/s²] at times `t`; a jump of the first derivative is not part of it."""
        return self._at(t, 2, "second derivative")

    def breaks(self) -> tuple[float, ...]:
        """Times [s] where the function or one of its derivatives jumps, for integrators that stop there."""
        return ()

    def row(self) -> tuple[int, list[float]]:
        """Code and floats for a compiled kernel; parameters must be resolved."""
        self._require_numbers()
        return self.code, self._row()

    def _row(self) -> list[float]:
        return [getattr(self, item.name) for item in fields(self)]

    def _numbers(self, values: Mapping[str, float]) -> dict[str, Any]:
        """Every field as a float or, where a sequence is meant, a tuple of floats."""
        for item in fields(self):
            if isinstance(getattr(self, item.name), tuple) and item.name not in _SEQUENCES:
                raise InputError(f"{item.name} of {self} is {getattr(self, item.name)}; one number is needed")
        return {
            item.name: _number_or_tuple(getattr(self, item.name), values, f"{item.name} of {self}")
            for item in fields(self)
        }

    def _check(self) -> None:
        """Raise InputError where the numbers do not make a function."""

    def _require_numbers(self) -> None:
        if self.names:
            raise InputError(f"{self} depends on {', '.join(sorted(self.names))}; call resolved(system.values) first")

    def _at(self, t: ArrayLike, order: int, what: str) -> Array:
        self._require_numbers()
        t = np.asarray(t, dtype=float)
        times = t.reshape(-1)
        with np.errstate(all="ignore"):
            y = np.broadcast_to(self._jet(times)[order], times.shape)
        if not np.isfinite(y).all():
            raise InputError(f"{self} has no finite {what} at t = {times[~np.isfinite(y)][0]:g} s")
        return np.array(y, dtype=float).reshape(t.shape)[()]

    def _jet(self, t: Array) -> Jet:
        raise NotImplementedError


@dataclass(frozen=True)
class Constant(Function):
    """y = c."""

    code: ClassVar[int] = CONSTANT
    constant: Any

    def _jet(self, t: Array) -> Jet:
        return self.constant, 0.0, 0.0


@dataclass(frozen=True)
class Linear(Function):
    """y = offset + slope · t, slope in 1/s."""

    code: ClassVar[int] = LINEAR
    offset: Any
    slope: Any

    def _jet(self, t: Array) -> Jet:
        return self.offset + self.slope * t, self.slope, 0.0


@dataclass(frozen=True)
class Harmonic(Function):
    """y = offset + amplitude · sin(2π frequency t + phase); frequency in Hz, phase in rad."""

    code: ClassVar[int] = HARMONIC
    amplitude: Any
    frequency: Any
    phase: Any = 0.0
    offset: Any = 0.0

    def _jet(self, t: Array) -> Jet:
        omega = 2.0 * np.pi * self.frequency
        wave, quarter = np.sin(omega * t + self.phase), np.cos(omega * t + self.phase)
        A = self.amplitude
        return self.offset + A * wave, A * omega * quarter, -A * omega**2 * wave


@dataclass(frozen=True)
class Polynomial(Function):
    """y = c0 + c1 t + c2 t² + …; `coefficients` from the lowest power."""

    code: ClassVar[int] = POLYNOMIAL
    coefficients: Any

    def _check(self) -> None:
        if not isinstance(self.coefficients, tuple) or not self.coefficients:
            raise InputError(f"coefficients of {self} are {self.coefficients!r}; give c0, c1, …")

    def _jet(self, t: Array) -> Jet:
        polynomial = np.polynomial.Polynomial(self.coefficients)
        return polynomial(t), polynomial.deriv()(t), polynomial.deriv(2)(t)

    def _row(self) -> list[float]:
        return list(self.coefficients)


@dataclass(frozen=True)
class Step5(Function):
    """From `y0` at `t0` to `y1` at `t1` [s] by the quintic whose first and second derivatives are 0 at both ends."""

    code: ClassVar[int] = STEP5
    t0: Any
    y0: Any
    t1: Any
    y1: Any

    def _check(self) -> None:
        if not self.t0 < self.t1:
            raise InputError(f"{self} ends at t1 = {self.t1:g} s, not after it starts at t0 = {self.t0:g} s")

    def breaks(self) -> tuple[float, ...]:
        return self.t0, self.t1

    def _jet(self, t: Array) -> Jet:
        T, rise = self.t1 - self.t0, self.y1 - self.y0
        s = np.clip((t - self.t0) / T, 0.0, 1.0)
        return (
            self.y0 + rise * s**3 * (10.0 - 15.0 * s + 6.0 * s**2),
            rise * 30.0 * s**2 * (1.0 - s) ** 2 / T,
            rise * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / T**2,
        )


@dataclass(frozen=True)
class StepChange(Function):
    """`before` until `time` [s], `after` from then on. Its derivatives are 0: the jump is not part of them."""

    code: ClassVar[int] = STEP_CHANGE
    time: Any
    before: Any
    after: Any

    def breaks(self) -> tuple[float, ...]:
        return (self.time,)

    def _jet(self, t: Array) -> Jet:
        return np.where(t < self.time, self.before, self.after), 0.0, 0.0


@dataclass(frozen=True)
class Table(Function):
    """Interpolates `values` at strictly increasing `times` [s]; outside, it holds the first and the last value.

    kind: "linear", or "cubic" (not-a-knot spline; two continuous derivatives between the ends).
    """

    times: Any
    values: Any
    kind: str = "linear"

    def __post_init__(self) -> None:
        if not is_one_of(self.kind, ("linear", "cubic")):
            raise unknown("kind of table", self.kind, ("linear", "cubic"), plural="kinds")
        super().__post_init__()

    @property
    def code(self) -> int:  # type: ignore[override]
        """TABLE_LINEAR or TABLE_CUBIC."""
        return TABLE_CUBIC if self.kind == "cubic" else TABLE_LINEAR

    def breaks(self) -> tuple[float, ...]:
        return tuple(self.times)

    def _numbers(self, values: Mapping[str, float]) -> dict[str, Any]:
        return {
            name: tuple(
                number(x, values, f"{name}[{i}] of {self}")
                for i, x in enumerate(sequence(getattr(self, name), f"{name} of {self}", "numbers"))
            )
            for name in ("times", "values")
        }

    def _check(self) -> None:
        if len(self.times) != len(self.values) or len(self.times) < 2:
            told = f"{counted(len(self.times), 'time')} and {counted(len(self.values), 'value')}"
            raise InputError(f"{self} has {told}; as many, 2 or more, are needed")
        for i, (earlier, later) in enumerate(zip(self.times, self.times[1:], strict=False)):
            if not earlier < later:
                raise InputError(
                    f"times of {self} must increase, but times[{i + 1}] = {later:g} follows times[{i}] = {earlier:g}"
                )

    def _coefficients(self) -> Array:
        """c0, c1, c2, c3 of each interval, (n − 1, 4), in powers of t − t_k."""
        times, values = np.array(self.times), np.array(self.values)
        if self.kind == "linear":
            slope = np.diff(values) / np.diff(times)
            return np.stack([values[:-1], slope, 0.0 * slope, 0.0 * slope], axis=1)
        known = self.__dict__.get("_cubic")
        if known is None:
            from scipy.interpolate import CubicSpline

            known = np.ascontiguousarray(CubicSpline(times, values).c[::-1].T)
            self.__dict__["_cubic"] = known
        return known

    def _jet(self, t: Array) -> Jet:
        times = np.array(self.times)
        inside = (t >= times[0]) & (t <= times[-1])
        k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
        c0, c1, c2, c3 = self._coefficients()[k].T
        x = t - times[k]
        held = np.where(t < times[0], self.values[0], self.values[-1])
        return (
            np.where(inside, c0 + x * (c1 + x * (c2 + x * c3)), held),
            np.where(inside, c1 + x * (2.0 * c2 + x * 3.0 * c3), 0.0),
            np.where(inside, 2.0 * c2 + 6.0 * c3 * x, 0.0),
        )

    def _row(self) -> list[float]:
        data = self.values if self.kind == "linear" else self._coefficients().ravel().tolist()
        return [float(len(self.times)), *self.times, *data]


@dataclass(frozen=True)
class TimeExpression(Function):
    """An expression of the time t [s] and of parameters: ``TimeExpression("3*sin(2*pi*t)")``."""

    code: ClassVar[int] = TIME_EXPRESSION
    expression: Any

    def __post_init__(self) -> None:
        given = self.expression
        if isinstance(given, str):
            given = parse_expression(given.removeprefix("="), time=True)
        elif not isinstance(given, Expression):
            raise InputError(f"expression of {type(self).__name__} is {given!r}; text like '3*sin(2*pi*t)' is needed")
        object.__setattr__(self, "expression", given)

    def __str__(self) -> str:
        return f"'={self.expression}'"

    def resolved(self, values: Mapping[str, float]) -> Self:
        known = {name: number(as_expression(f"={name}"), values, f"{name} in {self}") for name in self.names}
        tape = ((("const", known[x]) if op == "name" else (op, x)) for op, x in self.expression.tape)
        return replace(self, expression=Expression(tuple(tape))) if known else self

    def _jet(self, t: Array) -> Jet:
        def load(op: str, operand: Any) -> Jet:
            return (t, 1.0, 0.0) if op == "time" else (np.float64(operand), 0.0, 0.0)

        jet: Jet = run_tape(self.expression.tape, jets.UNARY, jets.BINARY, load)
        return jet

    def _row(self) -> list[float]:
        return [x for op, operand in self.expression.tape for x in (float(OPCODES[op]), float(operand or 0.0))]


@dataclass(frozen=True)
class UserFunction(Function):
    """A function of your own: `f(t)` gives a float. What is not given of its derivatives is taken by differences."""

    code: ClassVar[int] = USER
    f: Callable[[float], float]
    df: Callable[[float], float] | None = None
    ddf: Callable[[float], float] | None = None

    def __post_init__(self) -> None:
        for name in ("f", "df", "ddf"):
            if not callable(getattr(self, name)) and (name == "f" or getattr(self, name) is not None):
                raise InputError(
                    f"{name} of {type(self).__name__} is {getattr(self, name)!r}; a function of t is needed"
                )

    def __str__(self) -> str:
        return f"user function {getattr(self.f, '__name__', repr(self.f))!r}"

    def _row(self) -> list[float]:
        return []

    def _at(self, t: ArrayLike, order: int, what: str) -> Array:
        t = np.asarray(t, dtype=float)
        call = (self._value, self._first, self._second)[order]
        return np.array([call(float(time)) for time in t.ravel()]).reshape(t.shape)[()]

    def _value(self, t: float) -> float:
        return self._call(self.f, t)

    def _first(self, t: float) -> float:
        if self.df is not None:
            return self._call(self.df, t)
        # central difference; error ~ h² with h ~ ε^⅓
        h = 6e-6 * max(1.0, abs(t))
        return (self._value(t + h) - self._value(t - h)) / (2.0 * h)

    def _second(self, t: float) -> float:
        if self.ddf is not None:
            return self._call(self.ddf, t)
        h = 1.2e-4 * max(1.0, abs(t))
        return (self._value(t + h) - 2.0 * self._value(t) + self._value(t - h)) / h**2

    def _call(self, f: Callable[[float], float], t: float) -> float:
        try:
            y = float(f(t))
        except Exception as error:
            raise SolveError(f"{self} raised {type(error).__name__}: {error} at t = {t:g} s", time=t) from error
        if not np.isfinite(y):
            raise SolveError(f"{self} returned {y} at t = {t:g} s; a finite number is needed", time=t)
        return y


def as_function(x: Any, what: str = "function") -> Function:
    """A function of time from a number, an expression, a string "=3*sin(t)", a callable, or a function itself."""
    if isinstance(x, Function):
        return x
    if isinstance(x, str | Expression):
        expression = as_expression(x, what)
        return TimeExpression(expression) if expression.has_time else Constant(expression)
    if callable(x):
        return UserFunction(x)
    return Constant(number(x, None, what))


def _number_or_tuple(x: Any, values: Mapping[str, float], what: str) -> Any:
    if isinstance(x, tuple):
        return tuple(number(item, values, f"{what}[{i}]") for i, item in enumerate(x))
    return number(x, values, what)
