"""Parallel axes: z of the child side stays parallel to z of the parent side; where they are does not matter.

DotZX = z_A · x_B = 0,   DotZY = z_A · y_B = 0
"""

from __future__ import annotations

from nexdyn.model.joint import Joint


class Parallel(Joint):
    """Keeps z of the two sides parallel: rows DotZX, DotZY. A constraint only, supported by absolute coordinates."""

    kind, tree = "parallel", False
    rows = (("DotZX", 0), ("DotZY", 0))
    coordinates = ("DX", "DY", "DZ", "Angle")
