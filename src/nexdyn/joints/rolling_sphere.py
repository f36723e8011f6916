"""Rolling sphere: a sphere of the child rolls on a plane of the parent.

DZ = radius; RollX = RollY = 0: velocity rows, which no position fulfils (``constraints.rolling``)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nexdyn.errors import InputError
from nexdyn.joints.sided import SidedJoint


class RollingSphere(SidedJoint):
    """Keeps a sphere of the child on a plane of the parent, where it rolls and does not slip. A constraint only.

    radius [m]. anchor_a, axis_a: a point and the normal of the plane in the parent, its origin and z by default; the sphere
    is on the side that the normal shows to. anchor_b: its centre in the child, its origin by default.
    """

    kind = "rolling_sphere"
    rows = (("DZ", 1), ("RollX", 1), ("RollY", 1))
    ways = (("rolls on its plane", 3),)
    refused = ("at", "axis", "reference", "axis_b", "reference_b")
    radius: Any

    def __init__(self, name: str, parent: Any, child: Any, *, radius: Any, **options: Any) -> None:
        super().__init__(name, parent, child, **options)
        self._store(radius=radius)

    def data(self, values: Mapping[str, float]) -> list[float]:
        return [0.0, self.number_of("radius", values)]

    def offset(self, equation: str, values: Mapping[str, float]) -> float:
        return self.number_of("radius", values) if equation == "DZ" else 0.0

    def check_own(self, values: Mapping[str, float]) -> None:
        if not self.number_of("radius", values) > 0.0:
            raise InputError(f"radius of {self} is {self.radius}; it must be greater than 0")
