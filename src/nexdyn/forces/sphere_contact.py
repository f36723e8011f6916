"""Contact of a sphere or a point of a body with a sphere of another, from outside or in its hollow: see ``contact``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nexdyn.errors import InputError
from nexdyn.forces.between import non_negative, positive
from nexdyn.forces.contact import ContactForce
from nexdyn.model.element import Element


class SphereContact(ContactForce):
    """Contact of a sphere or a point of body `a` with a sphere of body `b`.

    radius_a [m]: of the sphere of `a`, 0 for a point; radius_b [m]: of that of `b`, greater than 0.
    hollow: whether the sphere of `a` lies in a hollow of `b`, as a ball in its socket with a clearance of radius_b − radius_a.
    anchor_a or at_a, anchor_b or at_b: the centres (default: the origins of `a` and `b`).
    stiffness, exponent, damping or restitution and impact_speed, friction and what belongs to it, surface_velocity_a and
    surface_velocity_b: :class:`ContactLaw`.
    """

    kind = "sphere_contact"
    structural = ContactForce.structural | {"hollow"}
    radius_a: Any
    radius_b: Any
    hollow: bool

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str,
        *,
        radius_b: Any,
        radius_a: Any = 0.0,
        hollow: bool = False,
        **law: Any,
    ) -> None:
        super().__init__(name, a=a, b=b, **law)
        self._store(radius_a=radius_a, radius_b=radius_b, hollow=hollow)

    def shape(self, values: Mapping[str, float]) -> tuple[float, float, float, float]:
        if type(self.hollow) is not bool:
            raise InputError(f"hollow of {self} is {self.hollow!r}; True or False is valid")
        radius_a, radius_b = non_negative(self, "radius_a", values), positive(self, "radius_b", values)
        if self.hollow and radius_a >= radius_b:
            raise InputError(
                f"radius_a of {self} is {radius_a:g}, and its hollow has radius_b {radius_b:g}; radius_a must be less"
            )
        return radius_a, 0.0, -1.0 if self.hollow else 1.0, radius_b
