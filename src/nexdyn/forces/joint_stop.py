"""Stops at the ends of a joint's freedom: compliant, after Hunt and Crossley, and with restitution by an impulse.

    δ = q_min − q  at the lower end,   q − q_max  at the upper one
    τ = ± k δᵉ max(0, 1 + a δ̇)   where δ > 0, away from the stop;   U = k δᵉ⁺¹/(e + 1)

`restitution` ε with an `impact_speed` gives a as in ``contact``. ε alone is Newton's law by an impulse: where the stop is
reached faster than `rest_speed` the run has an event, and the velocities jump,

    v⁺ = v + M⁻¹ h p,   h the freedom's direction,   p so that   v_j⁺ = −ε v_j

with rows of closed loops as rows of the jump. It costs the energy ½ (1 − ε²) v_j² / (hᵀ M⁻¹ h). Below `rest_speed` the compliant
stop alone carries the joint, so that bounces end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.between import FreedomForce, non_negative
from nexdyn.forces.contact_law import damping_number
from nexdyn.forces.kinds import JOINT_STOP
from nexdyn.forces.page import NO_LANES, InFreedom
from nexdyn.kernel import formula
from nexdyn.model.element import Element, name_of
from nexdyn.model.parameters import bound
from nexdyn.records import Record
from nexdyn.spatial.lanes import if_less, power, zero

if TYPE_CHECKING:
    from nexdyn.model.system import System


class Stop(Record):
    """Its data: k, e, a, q_min, q_max."""

    stiffness: float
    exponent: float
    damping: float
    lower: float
    upper: float


class JointStop(FreedomForce):
    """Stops that keep a degree of freedom of a joint between `lower` and `upper` [m, rad] (default: the joint's own limits).

    stiffness [N/mᵉ, N m/radᵉ] with `exponent` e (1 to 3). damping [s/m, s/rad]: a of Hunt and Crossley; or restitution, above
        0 up to 1, at impact_speed [m/s, rad/s]; or restitution alone, 0 to 1, for impulses.
    rest_speed [m/s, rad/s]: below it there are no impulses. freedom: which of the joint's degrees of freedom, from 0.
    """

    kind, code = "joint_stop", JOINT_STOP
    stiffness: Any
    lower: Any
    upper: Any
    exponent: Any
    damping: Any
    restitution: Any
    impact_speed: Any
    rest_speed: Any

    def __init__(
        self, name: str, joint: Element | str, *, stiffness: Any, lower: Any = None, upper: Any = None, exponent: Any = 1.0,
        damping: Any = 0.0, restitution: Any = None, impact_speed: Any = None, rest_speed: Any = 1e-2, freedom: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(name)
        self._store(
            joint=name_of(joint), stiffness=stiffness, lower=lower, upper=upper, exponent=exponent, damping=damping,
            restitution=restitution, impact_speed=impact_speed, rest_speed=rest_speed, freedom=freedom,
        )  # fmt: skip

    def check_in(self, system: System) -> None:
        super().check_in(system)
        if not np.isfinite(self.ends(system)).any():
            raise InputError(f"{self} has no end: give lower or upper, or {system.joint(self.joint)} its limits")

    def check(self, values: Mapping[str, float]) -> None:
        self._law(values)
        if not self.number_of("rest_speed", values) > 0.0:
            raise InputError(f"rest_speed of {self} is {self.rest_speed}; it must be greater than 0")
        lower, upper = self._given(values)
        if lower is not None and upper is not None and not lower < upper:
            raise InputError(f"limits of {self} are reversed: lower {lower:g}, upper {upper:g}; give lower < upper")

    def data(self, values: Mapping[str, float]) -> list[float]:
        """k, e, a, and the ends as far as they are given."""
        lower, upper = self._given(values)
        return [*self._law(values), -np.inf if lower is None else lower, np.inf if upper is None else upper]

    def data_in(self, system: System) -> list[float]:
        return [*self._law(system.values), *self.ends(system)]

    def ends(self, system: System) -> tuple[float, float]:
        """q_min and q_max in a system."""
        own = system.joint(self.joint).resolved(system.values)
        lower, upper = self._given(system.values)
        found = (
            float(own.lower[self.freedom]) if lower is None else lower,
            float(own.upper[self.freedom]) if upper is None else upper,
        )
        if not found[0] < found[1]:
            raise InputError(
                f"limits of {self} are reversed: lower {found[0]:g}, upper {found[1]:g}; give lower < upper"
            )
        return found

    @property
    def by_impulse(self) -> bool:
        """Whether its restitution is Newton's law."""
        return self.restitution is not None and self.impact_speed is None

    def working(self, values: Mapping[str, float]) -> str:
        return str(self) if self._law(values)[2] > 0.0 or self.by_impulse else ""

    def _given(self, values: Mapping[str, float]) -> tuple[float | None, float | None]:
        lower, upper = (
            None if self.__dict__[end] is None else bound(self.__dict__[end], values, f"{end} of {self}")
            for end in ("lower", "upper")
        )
        return lower, upper

    def _law(self, values: Mapping[str, float]) -> tuple[float, float, float]:
        """k, e, a."""
        k, e = self.number_of("stiffness", values), self.number_of("exponent", values)
        if not k > 0.0:
            raise InputError(f"stiffness of {self} is {k:g}; it must be greater than 0")
        if not 1.0 <= e <= 3.0:
            raise InputError(f"exponent of {self} is {e:g}; 1 (linear) to 3 is valid")
        a = non_negative(self, "damping", values)
        if self.restitution is None:
            if self.impact_speed is not None:
                raise InputError(f"{self} has an impact_speed and no restitution; give both, or damping")
            return k, e, a
        restitution = self.number_of("restitution", values)
        least_is_fine = self.by_impulse and restitution == 0.0
        if not (0.0 < restitution <= 1.0 or least_is_fine):
            raise InputError(f"restitution of {self} is {restitution:g}; it must lie from 0 to 1")
        if self.by_impulse:
            return k, e, a
        speed = self.number_of("impact_speed", values)
        if not speed > 0.0:
            raise InputError(f"impact_speed of {self} is {speed:g}; it must be greater than 0")
        if a != 0.0:
            raise InputError(f"{self} takes damping, or restitution at an impact_speed; leave one out")
        return k, e, damping_number(restitution) / speed


@formula
def side(stop, depth, rate):
    """k δᵉ max(0, 1 + a δ̇)."""
    o = zero(depth)
    pressed, grip = if_less(depth, o, o, depth), 1.0 + stop.damping * rate
    return stop.stiffness * power(pressed, stop.exponent) * if_less(grip, o, o, grip)


@formula
def effort(data, k, q, v):
    """τ of both stops."""
    stop = Stop(data, k)
    return side(stop, stop.lower - q, -v) - side(stop, q - stop.upper, v)


@formula
def energy(data, k, q):
    """k δᵉ⁺¹/(e + 1)."""
    stop = Stop(data, k)
    o, e = zero(q), stop.exponent + 1.0
    low, high = stop.lower - q, q - stop.upper
    low, high = if_less(low, o, o, low), if_less(high, o, o, high)
    return stop.stiffness / e * (power(low, e) + power(high, e))


PAGE = InFreedom(JOINT_STOP, "JointStop", effort, energy, NO_LANES)
