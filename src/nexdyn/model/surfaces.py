"""Surfaces, for joints that keep a point on one.

    sphere     |x| = r                      cylinder   √(x² + y²) = r, about z
    plane      z = 0                        torus      (√(x² + y²) − R)² + z² = r², about z
    ellipsoid  Σ (x_i/a_i)² = 1             implicit   F(x, y, z) = 0
    parametric x = S(u, w)

The coordinates of a surface are those of the frame that a joint puts it in [m]. `row(values)` gives it to a kernel: its
code, then

    SPHERE r;   CYLINDER r;   PLANE;   ELLIPSOID a1, a2, a3;   TORUS R, r
    IMPLICIT    scale, size, the addresses of F, ∇F, F″ (0 where not given)
    PARAMETRIC  u0, u1, closed, w0, w1, closed, the addresses of S, (S_u, S_w), (S_uu, S_uw, S_ww)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError
from nexdyn.model.callbacks import (
    IMPLICIT,
    IMPLICIT_GRADIENT,
    IMPLICIT_HESSIAN,
    PARAMETRIC,
    PARAMETRIC_FIRST,
    PARAMETRIC_SECOND,
    Callback,
    Shape,
    callback_of,
)
from nexdyn.model.curves import _check_callables
from nexdyn.model.parameters import floats, frozen, number

SPHERE, CYLINDER, PLANE, ELLIPSOID, TORUS, IMPLICIT_SURFACE, PARAMETRIC_SURFACE = range(7)


@dataclass(frozen=True)
class Surface(metaclass=CheckedCalls):
    """Base of all surfaces. Positive numbers are expected of its fields."""

    code: ClassVar[int]
    parameters: ClassVar[int] = 0
    """How many parameters of a point on it are followed along a motion."""

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, frozen(getattr(self, item.name)))

    def __str__(self) -> str:
        return type(self).__name__

    def row(self, values: Mapping[str, float]) -> list[float]:
        """The surface's floats for a kernel under the parameter `values`. InputError where they make no surface."""
        return [float(self.code), *(self._length(item.name, values) for item in fields(self))]

    def callbacks(self) -> tuple[Callback, ...]:
        """The user functions that the row names by address; they must outlive it."""
        return ()

    def _length(self, name: str, values: Mapping[str, float]) -> float:
        x = number(getattr(self, name), values, f"{name} of {self}")
        if not x > 0.0:
            raise InputError(f"{name} of {self} is {x:g}; it must be greater than 0")
        return x


@dataclass(frozen=True)
class SphereSurface(Surface):
    """A sphere of `radius` [m] about the frame's origin."""

    code: ClassVar[int] = SPHERE
    radius: Any


@dataclass(frozen=True)
class CylinderSurface(Surface):
    """A cylinder of `radius` [m] about the frame's z, without ends."""

    code: ClassVar[int] = CYLINDER
    radius: Any


@dataclass(frozen=True)
class PlaneSurface(Surface):
    """The frame's plane of x and y."""

    code: ClassVar[int] = PLANE


@dataclass(frozen=True)
class EllipsoidSurface(Surface):
    """An ellipsoid about the frame's origin with three semi-axes [m] along x, y, z."""

    code: ClassVar[int] = ELLIPSOID
    semi_axes: Any

    def row(self, values: Mapping[str, float]) -> list[float]:
        axes = floats(self.semi_axes, 3, values, f"semi_axes of {self}")
        if not min(axes) > 0.0:
            raise InputError(f"semi_axes of {self} are {axes}; they must be greater than 0")
        return [float(self.code), *axes]


@dataclass(frozen=True)
class TorusSurface(Surface):
    """A torus about the frame's z: a tube of radius `tube` [m] about a circle of `radius` [m]."""

    code: ClassVar[int] = TORUS
    radius: Any
    tube: Any

    def row(self, values: Mapping[str, float]) -> list[float]:
        row = super().row(values)
        if not row[1] > row[2]:
            raise InputError(f"tube of {self} is {row[2]:g}; it must be less than its radius {row[1]:g}")
        return row


@dataclass(frozen=True)
class ImplicitSurface(Surface):
    """Where a function of yours is 0: f(x, y, z) gives a number.

    gradient(x, y, z) gives (F_x, F_y, F_z), hessian(x, y, z) gives (F_xx, F_yy, F_zz, F_xy, F_xz, F_yz); what is not
    given is taken by differences. Compiled by ``numba.njit``, or plain Python. size: the length [m] over which the
    function changes, for the steps of differences. F may have any unit: it is divided by its gradient where described.
    """

    code: ClassVar[int] = IMPLICIT_SURFACE
    f: Callable[[float, float, float], float]
    gradient: Callable[[float, float, float], Any] | None = None
    hessian: Callable[[float, float, float], Any] | None = None
    size: Any = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_callables(self, ("f", "gradient", "hessian"), "(x, y, z)")

    def row(self, values: Mapping[str, float]) -> list[float]:
        return [float(self.code), 1.0, self._length("size", values), *_addresses(self._functions())]

    def callbacks(self) -> tuple[Callback, ...]:
        return _callbacks(self._functions())

    def _functions(self) -> list[tuple[Callable[..., Any] | None, Shape]]:
        return [(self.f, IMPLICIT), (self.gradient, IMPLICIT_GRADIENT), (self.hessian, IMPLICIT_HESSIAN)]


@dataclass(frozen=True)
class ParametricSurface(Surface):
    """A surface of your own: f(u, w) gives x, y, z [m] for u and w between two numbers each.

    df(u, w) gives the six numbers of S_u, S_w, ddf(u, w) the nine of S_uu, S_uw, S_ww; what is not given is taken by
    differences. Compiled by ``numba.njit``, or plain Python. closed_u, closed_w: whether the surface goes on from the
    end of u, of w, to its start.
    """

    code: ClassVar[int] = PARAMETRIC_SURFACE
    parameters: ClassVar[int] = 2
    f: Callable[[float, float], Any]
    u: Any
    w: Any
    df: Callable[[float, float], Any] | None = None
    ddf: Callable[[float, float], Any] | None = None
    closed_u: bool = False
    closed_w: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_callables(self, ("f", "df", "ddf"), "(u, w)")

    def row(self, values: Mapping[str, float]) -> list[float]:
        row = [float(self.code)]
        for name, closed in (("u", self.closed_u), ("w", self.closed_w)):
            a, b = floats(getattr(self, name), 2, values, f"{name} of {self}")
            if not a < b:
                raise InputError(f"{name} of {self} goes from {a:g} to {b:g}; the second must be greater")
            row += [a, b, float(closed)]
        return row + _addresses(self._functions())

    def callbacks(self) -> tuple[Callback, ...]:
        return _callbacks(self._functions())

    def _functions(self) -> list[tuple[Callable[..., Any] | None, Shape]]:
        return [(self.f, PARAMETRIC), (self.df, PARAMETRIC_FIRST), (self.ddf, PARAMETRIC_SECOND)]


def _addresses(functions: list[tuple[Callable[..., Any] | None, Shape]]) -> list[float]:
    return [0.0 if f is None else callback_of(f, shape).address for f, shape in functions]


def _callbacks(functions: list[tuple[Callable[..., Any] | None, Shape]]) -> tuple[Callback, ...]:
    return tuple(callback_of(f, shape) for f, shape in functions if f is not None)
