"""Angles beyond a turn: of those that an orientation allows, 2 π apart, the one that is meant."""

from __future__ import annotations

import math

from nexdyn.kernel import formula
from nexdyn.spatial.lanes import nearest

TURN = 2.0 * math.pi


@formula
def near(angle, reference):
    """`angle` and whole turns, near `reference`."""
    return angle + TURN * nearest((reference - angle) / TURN)
