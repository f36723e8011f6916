"""The methods a user chooses: a method is data and a docstring."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from nexdyn.errors import InputError
from nexdyn.integrate.tableaus import CLASSICAL_4, DORMAND_PRINCE, EULER, Tableau


class Method:
    """Base of all methods."""

    name: ClassVar[str]


def positive(value: object, what: str) -> float:
    """`value` as a finite float above 0, or InputError naming `what`."""
    if isinstance(value, str):
        raise InputError(f"{what} is the text {value!r}; a number is needed")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"{what} is {value!r}; a number is needed") from None
    if not (math.isfinite(number) and number > 0.0):
        raise InputError(f"{what} is {number:g}; it must be finite and greater than 0")
    return number


@dataclass(frozen=True)
class FixedStep(Method):
    """Base of methods of constant step `dt` [s]."""

    dt: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "dt", positive(self.dt, f"dt of {type(self).__name__}"))


@dataclass(frozen=True)
class RungeKutta4(FixedStep):
    """The classical Runge–Kutta method of order 4, four evaluations a step of `dt` [s]."""

    name: ClassVar[str] = "rk4"
    tableau: ClassVar[Tableau] = CLASSICAL_4


@dataclass(frozen=True)
class ExplicitEuler(FixedStep):
    """Explicit Euler, order 1: q⁺ = q ∘ dt v, v⁺ = v + dt a(q, v). Gains energy; here to be compared with."""

    name: ClassVar[str] = "euler"
    tableau: ClassVar[Tableau] = EULER


@dataclass(frozen=True)
class SemiImplicitEuler(FixedStep):
    """Semi-implicit (symplectic) Euler, order 1: v⁺ = v + dt a(q, v), q⁺ = q ∘ dt v⁺. Energy stays bounded."""

    name: ClassVar[str] = "semi-implicit"


@dataclass(frozen=True)
class DormandPrince(Method):
    """Dormand–Prince 5(4) with adaptive step and dense output.

    The local error of every component stays, in the root mean square, below atol + rtol · |component| (angles and
    rotations count as 1 rad). `dt_max` [s] bounds the step, `dt_min` [s] is where it gives up.
    Hairer, Nørsett & Wanner, Solving ODEs I, sections II.4 to II.6.
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    dt_max: float = math.inf
    dt_min: float = 1e-14

    name: ClassVar[str] = "dopri5"
    tableau: ClassVar[Tableau] = DORMAND_PRINCE

    def __post_init__(self) -> None:
        for what in ("rtol", "atol", "dt_min"):
            object.__setattr__(self, what, positive(getattr(self, what), f"{what} of DormandPrince"))
        if self.rtol < 1e-14:
            raise InputError(f"rtol of DormandPrince is {self.rtol:g}; below 1e-14 rounding decides")
        try:
            longer = float(self.dt_max) > self.dt_min
        except (TypeError, ValueError):
            longer = False
        if not longer:
            raise InputError(
                f"dt_max of DormandPrince is {self.dt_max}; a number greater than dt_min = {self.dt_min:g} is needed"
            )


METHODS: dict[str, type[Method]] = {
    cls.name: cls for cls in (RungeKutta4, ExplicitEuler, SemiImplicitEuler, DormandPrince)
}
