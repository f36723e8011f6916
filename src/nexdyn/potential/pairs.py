"""Two frames on two bodies at their present poses, and rows of derivatives for x of the two."""

from __future__ import annotations

from nexdyn.constraints.pair import Pair
from nexdyn.constraints.tables import BodyPairs
from nexdyn.kernel import formula
from nexdyn.spatial.table import PoseRows


@formula
def pair_at(tables, k, X0, X):
    """The two frames of pair k in world axes; X0 at the start of the step, X = (R, δ) now."""
    a, b = BodyPairs(tables.pairs)[k].a, BodyPairs(tables.pairs)[k].b
    return pair_of(tables, k, X0[a].p, X0[b].p, X[a], X[b])


@formula
def pair_of(tables, k, p_a, p_b, X_a, X_b):
    """The same of bodies that were at p_a and p_b at the start of the step.

    d is summed from differences: places far from the origin cost no digits within a step.
    """
    X_aA, X_bB = PoseRows(tables.frames, 0)[k], PoseRows(tables.frames, 12)[k]
    s_A, s_B = X_a.R @ X_aA.p, X_b.R @ X_bB.p
    return Pair(X_a.R @ X_aA.R, X_b.R @ X_bB.R, s_A, s_B, (p_b - p_a) + ((X_b.p - X_a.p) + (s_B - s_A)))


@formula
def put_rows(J, r, w_a, v_a, w_b, v_b):
    """Row r of J ← derivatives for (θ, δ) of bodies a and b."""
    J[r, 0], J[r, 1], J[r, 2], J[r, 3], J[r, 4], J[r, 5] = w_a.x, w_a.y, w_a.z, v_a.x, v_a.y, v_a.z
    J[r, 8], J[r, 9], J[r, 10], J[r, 11], J[r, 12], J[r, 13] = w_b.x, w_b.y, w_b.z, v_b.x, v_b.y, v_b.z
