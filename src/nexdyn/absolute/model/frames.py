"""The two frames of a pair in world axes, from the poses of the bodies."""

from __future__ import annotations

from nexdyn.constraints.pair import Pair
from nexdyn.constraints.tables import FramesOfPairs
from nexdyn.kernel import formula


@formula
def pair_of(tables, X, k, a, b):
    """The two frames of pair k in world axes."""
    frames = FramesOfPairs(tables.constraints.frames)[k]
    X_aA, X_bB = frames.X_aA, frames.X_bB
    R_a, R_b = X[a].R, X[b].R
    s_A, s_B = R_a @ X_aA.p, R_b @ X_bB.p
    return Pair(R_a @ X_aA.R, R_b @ X_bB.R, s_A, s_B, X[b].p + s_B - X[a].p - s_A)
