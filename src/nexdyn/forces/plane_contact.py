"""Contact of a sphere, a capsule or a point of a body with a plane of another: see ``contact``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.forces.between import check_points, non_negative
from nexdyn.forces.contact import ContactForce, Placed
from nexdyn.forces.contact_law import is_nothing
from nexdyn.model.element import Element
from nexdyn.model.placement import direction, frame


class PlaneContact(ContactForce):
    """Contact of a sphere, capsule or point of body `a` with a plane of `b` (the ground by default).

    radius [m]: of the sphere or capsule; 0 for a point. length [m]: of a capsule, between the centres of its ends.
    anchor_a or at_a: its centre (default: the origin of `a`); axis: that of a capsule, in the axes of `a`.
    normal: of the plane, outward, in the axes of `b`; anchor_b or at_b: a point of the plane (default: the origin of `b`).
    stiffness, exponent, damping or restitution and impact_speed, friction and what belongs to it, surface_velocity_a and
    surface_velocity_b: :class:`ContactLaw`.
    """

    kind = "plane_contact"
    radius: Any
    length: Any
    axis: Any
    normal: Any

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str = "ground",
        *,
        radius: Any = 0.0,
        length: Any = 0.0,
        axis: Any = (0.0, 0.0, 1.0),
        normal: Any = (0.0, 0.0, 1.0),
        **law: Any,
    ) -> None:
        super().__init__(name, a=a, b=b, **law)
        self._store(radius=radius, length=length, axis=axis, normal=normal)

    @property
    def points(self) -> int:
        """Contact points: 2 of a capsule, else 1. A length that is an expression makes a capsule."""
        return 1 if is_nothing(self.length) else 2

    def placed(self, values: Mapping[str, float]) -> tuple[Placed, Placed]:
        # the axes of `a` and `b` as given are those of the bodies or markers
        A, B = (frame(direction(self.__dict__[x], values, f"{x} of {self}")) for x in ("axis", "normal"))
        return Placed(A), Placed(B)

    def normals(self, values: Mapping[str, float]) -> tuple[np.ndarray | None, np.ndarray | None]:
        return None, self.placed(values)[1].R[:, 2]

    def check(self, values: Mapping[str, float]) -> None:
        check_points(self, ("_a", "_b"), values)
        for attribute in ("axis", "normal"):
            direction(self.__dict__[attribute], values, f"{attribute} of {self}")
        self.numbers(values)

    def shape(self, values: Mapping[str, float]) -> tuple[float, float, float, float]:
        return non_negative(self, "radius", values), 0.5 * non_negative(self, "length", values), 0.0, 0.0
