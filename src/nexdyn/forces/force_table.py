"""Force-deflection table: the force as a curve through given points, along a line or in a degree of freedom of a joint.

    between A and B   x = L − x₀,  tension T = F(x) + d L̇;  f on A = T u, f on B = −T u   (letters as in PointSpring)
    in a joint        x = q − x₀,  effort τ = −F(x) − d v
    U = ∫₀ˣ F

F is what resists the deflection x in both cases, as a spring's k x does. Outside the table the curve goes on with its
slope at the end, or with its value there (`extrapolation`). Data: x₀, d, the curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.forces.between import PairForce, check_freedom, check_points, non_negative
from nexdyn.forces.curve import curve_energy, curve_row, curve_value
from nexdyn.forces.kinds import FORCE_TABLE, JOINT_TABLE
from nexdyn.forces.page import BY_DIFFERENCES, TREE_LANES, Between, InFreedom
from nexdyn.forces.point_spring import along, length_and_direction
from nexdyn.kernel import formula
from nexdyn.model.element import Element, name_of
from nexdyn.model.force import Force as ForceElement
from nexdyn.model.force import Frame
from nexdyn.model.parameters import floats, sequence
from nexdyn.records import Record

if TYPE_CHECKING:
    from nexdyn.model.system import System

INTERPOLATIONS = ("linear", "monotone", "natural")
EXTRAPOLATIONS = ("linear", "constant")


class Head(Record):
    """Its data before the curve: x₀, d."""

    rest: float
    damping: float


CURVE = Head.columns


class ForceTable(PairForce):
    """A spring whose force is a table over its deflection, between points of `a` and `b`, or in a `joint`.

    deflections: strictly increasing [m, rad], forces: what resists there [N, N m], two points or more each.
    rest: distance, or coordinate of the joint, where the deflection is 0. damping [N s/m, N m s/rad].
    interpolation: "linear", "monotone" (cubic without overshoot), "natural" (cubic spline).
    extrapolation: "linear" (the slope at the end goes on) or "constant" (the value).
    joint, freedom: which degree of freedom; then without a and b. anchor_a, …: where (:class:`PairForce`).
    """

    kind = "force_table"
    joint: str | None
    freedom: int
    deflections: Any
    forces: Any
    rest: Any
    damping: Any
    interpolation: str
    extrapolation: str
    structural = ForceElement.structural | {"interpolation", "extrapolation"}

    def __init__(
        self,
        name: str,
        a: Element | str | None = None,
        b: Element | str | None = None,
        *,
        deflections: Any,
        forces: Any,
        joint: Element | str | None = None,
        freedom: int = 0,
        rest: Any = 0.0,
        damping: Any = 0.0,
        interpolation: str = "linear",
        extrapolation: str = "linear",
        anchor_a: Any = None,
        anchor_b: Any = None,
        at_a: Any = None,
        at_b: Any = None,
    ) -> None:
        ForceElement.__init__(self, name)
        self._store(a=None, b=None, joint=None)  # what its repr reads, for the error below
        if (joint is None) == (a is None or b is None) or (joint is not None and not a is b is None):
            raise InputError(f"{self} acts between a and b, or in a joint; give a and b, or joint")
        self._store(
            a=None if a is None else name_of(a),
            b=None if b is None else name_of(b),
            joint=None if joint is None else name_of(joint),
            freedom=freedom,
            deflections=deflections,
            forces=forces,
            rest=rest,
            damping=damping,
            interpolation=interpolation,
            extrapolation=extrapolation,
            anchor_a=anchor_a,
            anchor_b=anchor_b,
            at_a=at_a,
            at_b=at_b,
        )

    def __repr__(self) -> str:
        return f"ForceTable({self.name!r}, in {self.joint!r})" if self.joint else super().__repr__()

    codes = (FORCE_TABLE, JOINT_TABLE)

    @property
    def code(self) -> int:  # type: ignore[override]
        """JOINT_TABLE or FORCE_TABLE."""
        return JOINT_TABLE if self.joint else FORCE_TABLE

    def joints(self) -> tuple[str, ...]:
        return (self.joint,) if self.joint else ()

    def frames(self, system: System) -> tuple[Frame, ...]:
        return () if self.joint else super().frames(system)

    def check_in(self, system: System) -> None:
        if self.joint:
            check_freedom(self, system, needs_coordinate=True)
        else:
            super().check_in(system)

    def check(self, values: Mapping[str, float]) -> None:
        for attribute, valid in (("interpolation", INTERPOLATIONS), ("extrapolation", EXTRAPOLATIONS)):
            if self.__dict__[attribute] not in valid:
                raise unknown(f"{attribute} of {self}", self.__dict__[attribute], valid, plural="valid")
        check_points(self, ("_a", "_b"), values)
        if self.joint and any(getattr(self, point) is not None for point in ("anchor_a", "anchor_b", "at_a", "at_b")):
            raise InputError(f"{self} acts in a joint, which has no points; leave out anchor_a, anchor_b, at_a, at_b")
        if not self.joint and (type(self.freedom) is not int or self.freedom):
            raise InputError(
                f"freedom of {self} is {self.freedom!r}, but it acts between a and b; freedom is of a joint"
            )
        self._points(values)
        self._head(values)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """x₀, d, the curve."""
        self.check(values)
        x, F = self._points(values)
        return [*self._head(values), *curve_row(x, F, self.interpolation, self.extrapolation)]

    def _head(self, values: Mapping[str, float]) -> tuple[float, float]:
        return self.number_of("rest", values), non_negative(self, "damping", values)

    def _points(self, values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        x, F = (self._column(attribute, values) for attribute in ("deflections", "forces"))
        if len(x) != len(F) or len(x) < 2:
            raise InputError(f"{self} has {len(x)} deflections and {len(F)} forces; as many, 2 or more, are needed")
        if (wrong := np.flatnonzero(np.diff(x) <= 0.0)).size:
            i = int(wrong[0])
            raise InputError(
                f"deflections of {self} must increase, but [{i + 1}] = {x[i + 1]:g} follows [{i}] = {x[i]:g}"
            )
        return x, F

    def _column(self, attribute: str, values: Mapping[str, float]) -> np.ndarray:
        what = f"{attribute} of {self}"
        items = sequence(self.__dict__[attribute], what, "numbers")
        return np.array(floats(items, len(items), values, what))


@formula
def wrench(data, k, X_WA, V_A, X_WB, V_B):
    """Forces on A and on B, each at its origin, in the world."""
    L, u = length_and_direction(X_WA.p, X_WB.p)
    head = Head(data, k)
    return along(curve_value(data, k + CURVE, L - head.rest) + head.damping * (u @ (V_B.v - V_A.v)), u)


@formula
def energy(data, k, X_WA, X_WB):
    """U = ∫₀ˣ F."""
    L, _ = length_and_direction(X_WA.p, X_WB.p)
    return curve_energy(data, k + CURVE, L - Head(data, k).rest)


@formula
def joint_table_effort(data, k, q, v):
    """τ = −F(q − x₀) − d v."""
    head = Head(data, k)
    return -curve_value(data, k + CURVE, q - head.rest) - head.damping * v


@formula
def joint_table_energy(data, k, q):
    """U = ∫₀ˣ F."""
    return curve_energy(data, k + CURVE, q - Head(data, k).rest)


PAGE = Between(FORCE_TABLE, "ForceTable", wrench, energy, BY_DIFFERENCES, TREE_LANES)
JOINT_PAGE = InFreedom(JOINT_TABLE, "ForceTable in a joint", joint_table_effort, joint_table_energy, TREE_LANES)
