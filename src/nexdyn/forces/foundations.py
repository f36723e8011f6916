"""Contacts over areas: what their classes have in common (``surface_contact``)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.between import non_negative, positive
from nexdyn.forces.contact import ContactForce, Placed, Seen, mass_of, mean_inertia_of
from nexdyn.forces.contact_data import POINT_DATA, Resistance
from nexdyn.forces.contact_law import LawNumbers, is_nothing
from nexdyn.forces.kinds import SURFACE
from nexdyn.model.element import Element
from nexdyn.model.shapes import HalfSpace, Shape
from nexdyn.spatial.rotations import rotation_matrix

if TYPE_CHECKING:
    from nexdyn.model.system import System

RESISTANCES = ("rolling_resistance", "turning_resistance")
"""Arms [m]: what resists rolling, and turning about the normal, by a torque of no more than the arm times the normal force."""


class Foundations(ContactForce):
    """What a contact over an area has, and that of a sphere at a point: the foundations of both sides, and what resists rolling.

    rolling_resistance, turning_resistance [m]: what resists rolling, and turning about the normal, sticks as friction does until its
        torque is that arm times the normal force (``surface_contact``).
    """

    code = SURFACE
    foundation_a: Any
    foundation_b: Any
    rolling_resistance: Any
    turning_resistance: Any

    over_surfaces = True

    @property
    def over_area(self) -> bool:
        """Whether it has an area, not a point."""
        return True

    def states(self, values: Mapping[str, float]) -> list[tuple[str, str, float]]:
        held = ("held", "rolled") if self.resists else ("held",)
        return (
            [(f"{one}_{axis}", "J^0.5", 0.0) for one in held for axis in ("x", "y", "z", "about")]
            if self.sticks
            else []
        )

    @property
    def resists(self) -> bool:
        """Whether it has what resists rolling or turning, with states of its own."""
        return not all(is_nothing(self.__dict__[x]) for x in RESISTANCES)

    @property
    def sticks(self) -> bool:
        return super().sticks or (self.friction_speed is None and self.resists)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Those of a point of contact, then l_r, l_t and c/l, of bodies without inertia."""
        return [*super().data(values), *(non_negative(self, x, values) for x in RESISTANCES), 1.0]

    def data_in(self, system: System) -> list[float]:
        data = super().data_in(system)
        if not self.resists:
            return data
        data = list(data)
        own = Resistance(data, POINT_DATA)
        most = max(own.rolls, own.turns)
        if most > 0.0 and (l := self.arm(system)) > 0.0:
            own.rolls, own.turns, own.part = l * (own.rolls / most), l * (own.turns / most), most / l
        return data

    def arm(self, system: System) -> float:
        m = self.reduced(system, mass_of)
        I = self.reduced(system, mean_inertia_of)
        return math.sqrt(I / m) if m > 0.0 and I > 0.0 else 0.0

    def stiffness_unit(self, values: Mapping[str, float]) -> str:
        return "N/m^3" if self.over_area else super().stiffness_unit(values)

    def law(self, values: Mapping[str, float]) -> LawNumbers:
        if self.over_area and self.normal_force is not None:
            raise InputError(
                f"{self} touches over an area, and has a normal_force, of points; give foundation_a or foundation_b alone"
            )
        law = super().law(values)
        if self.resists and self.friction_speed is not None:
            raise InputError(
                f"{self} resists rolling or turning, by what sticks, and has a friction_speed, with which nothing sticks; give one of them"
            )
        return law._replace(stiffness=1.0 / sum(self._gives(values))) if self.over_area else law

    def _gives(self, values: Mapping[str, float]) -> list[float]:
        """c_A and c_B [m³/N]."""
        given = [self.__dict__[f"foundation_{x}"] for x in "ab"]
        gives = [
            0.0 if k is None else 1.0 / positive(self, f"foundation_{x}", values)
            for k, x in zip(given, "ab", strict=True)
        ]
        if not sum(gives) > 0.0:
            raise InputError(f"{self} has no foundation; give foundation_a or foundation_b, or both")
        return gives

    def pressed(self, values: Mapping[str, float], A: np.ndarray, B: np.ndarray) -> tuple[float, float]:
        """The penetration [m], and the largest pressure times the area [N], which is much also where forces cancel."""
        a, b = (np.concatenate([pose, np.zeros(6)])[None] for pose in (A, B))
        row = Seen(self.motion_table(self.numbers(values), a, b, np.zeros((1, 0)))[0, 0])
        return float(row.depth), float(row.area * row.pressure)

    def parts(self, values: Mapping[str, float]) -> list[float]:
        """w_A and w_B (``overlap``)."""
        gives = self._gives(values)
        return [give / sum(gives) for give in gives]


class BetweenSolids(Foundations):
    """A contact over an area of a solid of `a` and a solid of `b`.

    solid_a, solid_b: resolved shapes, in the axes of `a` and `b`; not both half-spaces.
    foundation_a, foundation_b [N/m³]: of the layer on each; None of what is rigid. rolling_resistance, turning_resistance:
    :class:`Foundations`. All else: :class:`ContactLaw`.
    """

    structural = ContactForce.structural | {"solid_a", "solid_b"}
    solid_a: Shape
    solid_b: Shape

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str,
        *,
        solid_a: Shape,
        solid_b: Shape,
        foundation_a: Any = None,
        foundation_b: Any = None,
        rolling_resistance: Any = 0.0,
        turning_resistance: Any = 0.0,
        **law: Any,
    ) -> None:
        super().__init__(name, a=a, b=b, **{**law, "stiffness": 1.0, "exponent": 1.0})
        self._store(
            solid_a=solid_a, solid_b=solid_b, foundation_a=foundation_a, foundation_b=foundation_b,
            rolling_resistance=rolling_resistance, turning_resistance=turning_resistance,
        )  # fmt: skip

    def shape(self, values: Mapping[str, float]) -> tuple[float, float, float, float]:
        return 0.0, 0.0, 0.0, 0.0

    def normals(self, values: Mapping[str, float]) -> tuple[np.ndarray | None, np.ndarray | None]:
        return normal_of(self.solid_a), normal_of(self.solid_b)


def normal_of(solid: Shape) -> np.ndarray | None:
    """The normal (3,) of a half-space, in the axes of its body; None of what has no one plane."""
    return place_of(solid).R[:, 2] if isinstance(solid, HalfSpace) else None


def place_of(solid: Shape) -> Placed:
    """The frame of a solid in the axes of its body."""
    return Placed(rotation_matrix(np.array(solid.orientation)), np.array(solid.position))
