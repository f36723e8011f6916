"""Curves in space, for joints that keep a point on one.

    c(s), c′(s), c″(s) for s from `start` to `end`;   a closed curve repeats, an open one is longer by its end tangents

The coordinates of a curve are those of the frame that a joint puts it in [m]. `row(values)` gives it to a kernel:

    code, start, end, closed, three floats for ``constraints.curve``, then by code
    SPLINE      n, the n parameters, then for each of the n − 1 pieces c0, c1, c2, c3 (3 each) in powers of s − s_j
    EXPRESSION  the rows of x, y, z as in ``time_kernels``, with s in place of the time
    USER        the addresses of c, c′, c″; 0 where not given
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError
from nexdyn.model.callbacks import CURVE, Callback, callback_of
from nexdyn.model.expressions import Expression, as_expression
from nexdyn.model.functions import Function, as_function
from nexdyn.model.parameters import floats, frozen, number, sequence
from nexdyn.model.time_kernels import time_callbacks, time_row

SPLINE, EXPRESSION, USER = range(3)
HEAD = 7
"""Floats before those of the kind."""
CLOSE = 1e-6
"""Part of its size by which the ends of a closed curve may lie apart."""
SAME = 1e-12
"""Part of the length of a polygon below which two points are one."""


@dataclass(frozen=True)
class Curve(metaclass=CheckedCalls):
    """Base of all curves."""

    code: ClassVar[int]

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, frozen(getattr(self, item.name)))

    def __str__(self) -> str:
        return type(self).__name__

    def row(self, values: Mapping[str, float]) -> list[float]:
        """The curve's floats for a kernel under the parameter `values`. InputError where they make no curve."""
        raise NotImplementedError

    def callbacks(self, values: Mapping[str, float]) -> tuple[Callback, ...]:
        """The user functions that the row names by address; they must outlive it."""
        return ()

    def _range(self, start: Any, end: Any, values: Mapping[str, float]) -> tuple[float, float]:
        a, b = number(start, values, f"start of {self}"), number(end, values, f"end of {self}")
        if not a < b:
            raise InputError(f"{self} goes from start = {a:g} to end = {b:g}; the end must be greater")
        return a, b

    def _check_closed(self, at: Callable[[float], Sequence[float]], start: float, end: float) -> None:
        first, *others, last = (at(start + part * (end - start)) for part in (0.0, 0.25, 0.5, 0.75, 1.0))
        gap, size = math.dist(first, last), max(math.dist(first, x) for x in others)
        if not gap <= CLOSE * size:
            raise InputError(
                f"{self} is said to be closed, but its ends are {gap:.3g} m apart; closed=False leaves it open"
            )


@dataclass(frozen=True)
class SplineCurve(Curve):
    """The cubic spline through `points` [m], by the length of their polygon; its first two derivatives are continuous.

    closed: goes on from the last point to the first, which is not repeated. An open one has no kink at its second and
    second to last points (not-a-knot).
    """

    code: ClassVar[int] = SPLINE
    points: Any
    closed: bool = False

    def row(self, values: Mapping[str, float]) -> list[float]:
        from scipy.interpolate import CubicSpline

        given = sequence(self.points, f"points of {self}", "points of three numbers")
        points = np.array([floats(p, 3, values, f"points[{i}] of {self}") for i, p in enumerate(given)]).reshape(-1, 3)
        if len(points) < (3 if self.closed else 2):
            raise InputError(f"{self} has {len(points)} points; {'3' if self.closed else '2'} or more are needed")
        if self.closed:
            points = np.concatenate([points, points[:1]])
        step = np.linalg.norm(np.diff(points, axis=0), axis=1)
        apart = step > SAME * step.sum()
        if not apart.all():
            i = int(np.flatnonzero(~apart)[0])
            raise InputError(f"points[{i}] and points[{(i + 1) % len(given)}] of {self} are the same; leave one out")
        s = np.concatenate([[0.0], np.cumsum(step)])
        spline = CubicSpline(s, points, bc_type="periodic" if self.closed else "not-a-knot")
        pieces = spline.c[::-1].transpose(1, 0, 2)
        head = [float(self.code), 0.0, float(s[-1]), float(self.closed), 0.0, 0.0, 0.0]
        return [*head, float(len(s)), *s.tolist(), *pieces.ravel().tolist()]


@dataclass(frozen=True)
class ExpressionCurve(Curve):
    """x, y, z [m] as expressions of the parameter s, like "=0.3*cos(s)", for s from `start` to `end`.

    Numbers and functions as in ``nx.Polynomial`` do too; in them s stands where else the time does. closed: whether the
    end is the start.
    """

    code: ClassVar[int] = EXPRESSION
    x: Any
    y: Any
    z: Any
    start: Any
    end: Any
    closed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in "xyz":
            given = getattr(self, name)
            if isinstance(given, str):
                expression = as_expression(given, f"{name} of {self}")
                tape = ((("time", None) if step == ("name", "s") else step) for step in expression.tape)
                object.__setattr__(self, name, Expression(tuple(tape)))

    def row(self, values: Mapping[str, float]) -> list[float]:
        start, end = self._range(self.start, self.end, values)
        functions = self._functions(values)

        def at(s: float) -> list[float]:
            return [float(f.value(s)) for f in functions]

        at(start), at(end)
        if self.closed:
            self._check_closed(at, start, end)
        head = [float(self.code), start, end, float(self.closed), 0.0, 0.0, 0.0]
        return [*head, *(x for f in functions for x in time_row(f))]

    def callbacks(self, values: Mapping[str, float]) -> tuple[Callback, ...]:
        return tuple(callback for f in self._functions(values) for callback in time_callbacks(f))

    def _functions(self, values: Mapping[str, float]) -> list[Function]:
        return [as_function(getattr(self, name), f"{name} of {self}").resolved(values) for name in "xyz"]


@dataclass(frozen=True)
class UserCurve(Curve):
    """A curve of your own: f(s) gives x, y, z [m] for s from `start` to `end`; `df`, `ddf` give c′, c″ likewise.

    What is not given of the derivatives is taken by differences. Compiled by ``numba.njit``, or plain Python. closed:
    whether the end is the start.
    """

    code: ClassVar[int] = USER
    f: Callable[[float], Any]
    start: Any
    end: Any
    df: Callable[[float], Any] | None = None
    ddf: Callable[[float], Any] | None = None
    closed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_callables(self, ("f", "df", "ddf"), "(s)")

    def row(self, values: Mapping[str, float]) -> list[float]:
        start, end = self._range(self.start, self.end, values)
        self._point(start), self._point(end)
        if self.closed:
            self._check_closed(self._point, start, end)
        head = [float(self.code), start, end, float(self.closed), 0.0, 0.0, 0.0]
        given = (self.f, self.df, self.ddf)
        return [*head, *(0.0 if f is None else callback_of(f, CURVE).address for f in given)]

    def _point(self, s: float) -> list[float]:
        try:
            found: list[float] = np.array(self.f(s), dtype=float).reshape(3).tolist()
        except Exception as error:
            raise InputError(f"f of {self} gives no point (x, y, z) at s = {s:g}: {error}") from error
        return found

    def callbacks(self, values: Mapping[str, float]) -> tuple[Callback, ...]:
        return tuple(callback_of(f, CURVE) for f in (self.f, self.df, self.ddf) if f is not None)


def _check_callables(shape: Any, names: tuple[str, ...], arguments: str) -> None:
    for i, name in enumerate(names):
        given = getattr(shape, name)
        if not callable(given) and (i == 0 or given is not None):
            raise InputError(f"{name} of {shape} is {given!r}; a function {arguments} is needed")


def sampled(row: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """n parameters from the start to the end of a row."""
    return np.linspace(row[1], row[2], n)
