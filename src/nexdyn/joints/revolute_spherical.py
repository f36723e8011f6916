"""Revolute–spherical link: a massless bar with a hinge on the parent and a ball on the child, as one constraint.

    DZ = z_A · d − along = 0,   Distance = |d| − length = 0      (d from the hinge's point to the ball's, z_A the hinge's axis)

The ball moves on a circle about the axis, of radius √(length² − along²); the child turns about it in all directions. The bar pulls and
pushes, and bears loads along the axis, which the hinge takes.

E. J. Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, 1989, section 9.4.8 (composite joints).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.joints.sided import SidedJoint
from nexdyn.model.joint import TURNS
from nexdyn.model.parameters import number

FLAT = 1e-9
"""How near the ball may come to the axis, as a part of the length squared."""


class RevoluteSpherical(SidedJoint):
    """A massless link from a hinge about `axis_a` at `anchor_a` of the parent to a ball at `anchor_b` of the child.

    length [m]: distance of the two points. along [m]: how far the ball is from the hinge's point along the axis, 0 for a link across the
    axis. Both are as described where they are not given. anchor_a, anchor_b: the bodies' origins by default; axis_a: z of the parent.
    A constraint only.
    """

    kind = "revolute_spherical"
    rows = (("DZ", 1), ("Distance", 1))
    ways = (*TURNS, ("swings about its axis", 1))
    refused = ("at", "axis", "reference", "axis_b", "reference_b")
    length: Any
    along: Any

    def __init__(
        self, name: str, parent: Any, child: Any, *, length: Any = None, along: Any = None, **options: Any
    ) -> None:
        super().__init__(name, parent, child, **options)
        self._store(length=length, along=along)

    def offset(self, equation: str, values: Mapping[str, float]) -> float:
        """The length [m], or what the ball is along the axis [m], under the parameter `values`."""
        attribute = "length" if equation == "Distance" else "along"
        given = self.__dict__[attribute]
        if given is not None:
            return number(given, values, f"{attribute} of {self}")
        R_WP, p_WP = self.parent.pose(values)
        R_WC, p_WC = self.child.pose(values)
        R_A, p_A, _, p_B = self.frames(values)
        d = p_WC + R_WC @ p_B - p_WP - R_WP @ p_A
        return float(np.linalg.norm(d) if equation == "Distance" else (R_WP @ R_A)[:, 2] @ d)

    def check_own(self, values: Mapping[str, float]) -> None:
        length, along = self.offset("Distance", values), self.offset("DZ", values)
        if not length > 0.0:
            how = (
                "is 0 in the reference configuration: its two points coincide"
                if self.length is None
                else f"is {length:g}"
            )
            raise InputError(f"length of {self} {how}; it must be greater than 0")
        if not abs(along) < length * (1.0 - FLAT):
            raise InputError(
                f"{self}: its ball is {along:g} m along the axis and its length {length:g} m, which leaves no circle to move on; the "
                f"length must be greater"
            )
