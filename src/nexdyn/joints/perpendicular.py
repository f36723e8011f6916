"""Perpendicular axes: z of the child side stays at right angles to z of the parent side.

    DotZZ = z_A · z_B = 0

`axis` alone would describe both sides by the same direction, which is never at right angles to itself: `axis_a` and
`axis_b` are both wanted.
"""

from __future__ import annotations

from collections.abc import Mapping

from nexdyn.errors import InputError
from nexdyn.model.joint import SLIDES, Joint


class Perpendicular(Joint):
    """Keeps `axis_a` of the parent and `axis_b` of the child at right angles: row DotZZ. A constraint only."""

    kind, tree = "perpendicular", False
    rows = (("DotZZ", 0),)
    ways = (("turns about its two axes", 2), *SLIDES)

    def check(self, values: Mapping[str, float]) -> None:
        super().check(values)
        if self.axis_a is None or self.axis_b is None:
            raise InputError(f"{self} needs two directions: axis_a in the parent, axis_b in the child")
