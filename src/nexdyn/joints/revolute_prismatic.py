"""Revolute and prismatic joint in a row: the child turns about an axis of the parent, and slides along a direction fixed in itself.

    DotZX = z_A · x_B = 0,   DotZY = z_A · y_B = 0                 turn about z only
    SlotY = y_S · (p_A − p_B) = 0,   SlotZ = z_S · (p_A − p_B) = 0    the parent's point stays on the line of the slide

with frame S on the child at B, whose x is against the direction s of the slide, so that the coordinate x_S · (p_A − p_B) = s · (p_B − p_A)
is how far the child has moved along it. The slide may be at any angle to z but 0. A pin of the parent in a slot of the child.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.model.joint import TURNS, Joint
from nexdyn.model.placement import direction, frame, sine_between

ALONG = 1e-6
"""Sine of the angle between slide and axis below which they are parallel."""


class RevolutePrismatic(Joint):
    """The child turns about z of the parent side and slides along a direction of its own; coordinates (angle [rad], slide [m]).

    slide: that direction in the world as described; with anchors and axes of the bodies, in the child's frame. By default x of the joint's
        frame on the child, across the axis. A constraint only: drivers and couplings take its coordinates. Which of the two comes
        first says which body is the parent: make the body with the slot the child.
    """

    kind, tree = "revolute_prismatic", False
    rows = (("DotZX", 0), ("DotZY", 0), ("SlotY", 1), ("SlotZ", 1))
    ways = (TURNS[2], ("slides along its slot", 1))
    coordinates = ("Angle", "Slide")
    slide: Any

    def __init__(self, name: str, parent: Any, child: Any, *, slide: Any = None, **options: Any) -> None:
        super().__init__(name, parent, child, **options)
        self._store(slide=slide)

    def slot(self, values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """R_BS (3, 3) and p_BS (3,) [m] of frame S in the child."""
        _, _, R_BJ, p_BJ = self.frames(values)
        z = R_BJ[:, 2]
        if self.slide is None:
            s = R_BJ[:, 0]
        else:
            s = np.array(direction(self.floats_of("slide", 3, values), values, f"slide of {self}"))
            s = s if self.anchored else self.child.pose(values)[0].T @ s
        if sine_between(tuple(s.tolist()), tuple(z.tolist())) < ALONG:
            raise InputError(f"slide of {self} is parallel to its axis; that is a Cylindrical joint")
        across = z - (z @ s) * s
        return frame(tuple((across / np.linalg.norm(across)).tolist()), tuple((-s).tolist())), p_BJ

    def check_own(self, values: Mapping[str, float]) -> None:
        if self.slide is not None:
            direction(self.floats_of("slide", 3, values), values, f"slide of {self}")
        if not isinstance(self.parent, str) and not isinstance(self.child, str):
            self.slot(values)
