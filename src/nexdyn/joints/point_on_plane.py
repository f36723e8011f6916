"""Point on a plane: the child's point stays in the plane across z of the parent side.

DZ = z_A · d = 0      (d from the parent-side point to the child's)
"""

from __future__ import annotations

from nexdyn.model.joint import Joint


class PointOnPlane(Joint):
    """Keeps the child's point in the plane across z of the parent side: row DZ. A constraint only."""

    kind, tree = "point_on_plane", False
    rows = (("DZ", 1),)
    coordinates = ("DX", "DY")
