"""Rolling disk: the edge of a disk rolls on a plane of the parent. A coin, a wheel, a tyre with a round section.

Contact = 0; Forward = Sideways = 0: velocity rows, which no position fulfils (``constraints.rolling``)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nexdyn.errors import InputError
from nexdyn.joints.sided import SidedJoint


class RollingDisk(SidedJoint):
    """Keeps a disk of the child on a plane of the parent, where it rolls and does not slip. A constraint only.

    radius [m]: of the disk, or of the circle in the middle of a torus; tube [m]: radius of its section, 0 for a sharp edge.
    anchor_a, axis_a: a point and the normal of the plane in the parent, its origin and z by default; the disk is on the
    side that the normal shows to. anchor_b, axis_b: centre and axle of the disk in the child, its origin and z by default.
    """

    kind = "rolling_disk"
    rows = (("Contact", 1), ("Forward", 1), ("Sideways", 1))
    ways = (("rolls on its plane", 3),)
    radius: Any
    tube: Any

    def __init__(self, name: str, parent: Any, child: Any, *, radius: Any, tube: Any = 0.0, **options: Any) -> None:
        super().__init__(name, parent, child, **options)
        self._store(radius=radius, tube=tube)

    def data(self, values: Mapping[str, float]) -> list[float]:
        return [self.number_of("radius", values), self.number_of("tube", values)]

    def offset(self, equation: str, values: Mapping[str, float]) -> float:
        return self.number_of("tube", values) if equation == "Contact" else 0.0

    def check_own(self, values: Mapping[str, float]) -> None:
        if not self.number_of("radius", values) > 0.0:
            raise InputError(f"radius of {self} is {self.radius}; it must be greater than 0")
        if self.number_of("tube", values) < 0.0:
            raise InputError(f"tube of {self} is {self.tube}; it must be 0 or more")
