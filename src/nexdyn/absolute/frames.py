"""The two frames of a pair in world axes, from the poses of the bodies."""

from __future__ import annotations

from nexdyn.constraints.pair import Pair
from nexdyn.kernel import formula
from nexdyn.spatial.table import PoseRows


@formula
def pair_of(tables, X, k, a, b):
    """The two frames of pair k in world axes."""
    X_aA, X_bB = PoseRows(tables.constraints.frames, 0)[k], PoseRows(tables.constraints.frames, 12)[k]
    R_a, R_b = X[a].R, X[b].R
    s_A, s_B = R_a @ X_aA.p, R_b @ X_bB.p
    return Pair(R_a @ X_aA.R, R_b @ X_bB.R, s_A, s_B, X[b].p + s_B - X[a].p - s_A)
