"""Rod: a massless bar with a ball at each end keeps two points at a constant distance.

    Distance = |d| − length = 0      (d from the parent's point to the child's)

The sense in which it bears is free: it pulls and pushes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.model.joint import TURNS, Joint, JointFrames
from nexdyn.model.parameters import number


class Rod(Joint):
    """Keeps `anchor_a` of the parent and `anchor_b` of the child (their origins by default) `length` [m] apart.

    `length` is the described distance where it is not given. A constraint only, supported by absolute coordinates.
    """

    kind, tree = "rod", False
    rows = (("Distance", 1),)
    ways = (*TURNS, ("swings about its other end", 2))
    structural = Joint.structural | {"at"}

    def __init__(self, name: str, parent: Any, child: Any, *, length: Any = None, **options: Any) -> None:
        super().__init__(name, parent, child, **options)
        self.length = length

    def frames(self, values: Mapping[str, float]) -> JointFrames:
        """The joint's frames, each at its own body's point."""
        R_AJ, _, R_BJ, _ = super().frames(values)
        return JointFrames(R_AJ, self._point("anchor_a", values), R_BJ, self._point("anchor_b", values))

    def _point(self, attribute: str, values: Mapping[str, float]) -> np.ndarray:
        given = self.__dict__[attribute] is not None
        return np.array(self.floats_of(attribute, 3, values)) if given else np.zeros(3)

    def offset(self, equation: str, values: Mapping[str, float]) -> float:
        """The length [m] under the parameter `values`."""
        if self.length is not None:
            return number(self.length, values, f"length of {self}")
        R_WP, p_WP = self.parent.pose(values)
        R_WC, p_WC = self.child.pose(values)
        _, p_A, _, p_B = self.frames(values)
        return float(np.linalg.norm(p_WC + R_WC @ p_B - p_WP - R_WP @ p_A))

    def check(self, values: Mapping[str, float]) -> None:
        if self.at is not None:
            raise InputError(f"{self} has two points, not one at={self.at}; give anchor_a and anchor_b")
        super().check(values)

    def check_own(self, values: Mapping[str, float]) -> None:
        length = self.offset("Distance", values)
        if not length > 0.0:
            how = (
                "is 0 in the reference configuration: its two points coincide"
                if self.length is None
                else f"is {length:g}"
            )
            raise InputError(f"length of {self} {how}; it must be greater than 0")
