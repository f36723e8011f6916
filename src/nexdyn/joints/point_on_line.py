"""Point on a line: the child's point stays on z of the parent side, wherever the child turns.

DX = x_A · d = 0,   DY = y_A · d = 0      (d from the parent-side point to the child's)
"""

from __future__ import annotations

from nexdyn.model.joint import Joint


class PointOnLine(Joint):
    """Keeps the child's point on z of the parent side: rows DX, DY. A constraint only, supported by absolute coordinates."""

    kind, tree = "point_on_line", False
    rows = (("DX", 1), ("DY", 1))
    coordinates = ("DZ",)
