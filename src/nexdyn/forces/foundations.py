"""Contacts over areas: what their classes have in common (``surface_contact``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.contact import AREA, DEPTH, PRESSURE, ContactForce, Placed
from nexdyn.forces.contact_law import LawNumbers
from nexdyn.forces.kinds import SURFACE
from nexdyn.model.element import Element
from nexdyn.model.shapes import HalfSpace, Shape
from nexdyn.spatial.rotations import rotation_matrix


class Foundations(ContactForce):
    """What a contact over an area has: the foundations of both sides."""

    code = SURFACE
    foundation_a: Any
    foundation_b: Any

    @property
    def over_area(self) -> bool:
        """Whether it has an area, not a point."""
        return True

    def states(self, values: Mapping[str, float]) -> list[tuple[str, str, float]]:
        return [(f"held_{axis}", "J^0.5", 0.0) for axis in ("x", "y", "z", "about")] if self.sticks else []

    def stiffness_unit(self, values: Mapping[str, float]) -> str:
        return "N/m^3" if self.over_area else super().stiffness_unit(values)

    def law(self, values: Mapping[str, float]) -> LawNumbers:
        return (
            super().law(values)._replace(stiffness=1.0 / sum(self._gives(values)))
            if self.over_area
            else super().law(values)
        )

    def _gives(self, values: Mapping[str, float]) -> list[float]:
        """c_A and c_B [m³/N]."""
        given = [self.__dict__[f"foundation_{x}"] for x in "ab"]
        gives = [
            0.0 if k is None else 1.0 / self._positive(f"foundation_{x}", values)
            for k, x in zip(given, "ab", strict=True)
        ]
        if not sum(gives) > 0.0:
            raise InputError(f"{self} has no foundation; give foundation_a or foundation_b, or both")
        return gives

    def pressed(self, values: Mapping[str, float], A: np.ndarray, B: np.ndarray) -> tuple[float, float]:
        """The penetration [m], and the largest pressure times the area [N], which is much also where forces cancel."""
        a, b = (np.concatenate([pose, np.zeros(6)])[None] for pose in (A, B))
        row = self.motion_table(self.data(values), a, b, np.zeros((1, 0)))[0, 0]
        return float(row[DEPTH]), float(row[AREA] * row[PRESSURE])

    def parts(self, values: Mapping[str, float]) -> list[float]:
        """w_A and w_B (``overlap``)."""
        gives = self._gives(values)
        return [give / sum(gives) for give in gives]


class BetweenSolids(Foundations):
    """A contact over an area of a solid of `a` and a solid of `b`.

    solid_a, solid_b: resolved shapes, in the axes of `a` and `b`; not both half-spaces.
    foundation_a, foundation_b [N/m³]: of the layer on each; None of what is rigid. All else: :class:`ContactLaw`.
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
        **law: Any,
    ) -> None:
        super().__init__(name, a=a, b=b, **{**law, "stiffness": 1.0, "exponent": 1.0})
        self._store(solid_a=solid_a, solid_b=solid_b, foundation_a=foundation_a, foundation_b=foundation_b)

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
