"""Joints of registered pages (``nexdyn.pages``): what a page does is called by address, so that one kernel serves all pages.

A joint has a block of numbers in memory, whose address stands where a screw has its pitch: the address of the page's C function, how many
coordinates the joint has (nq = nv, 1 to 5), and the numbers of the page. The C function is given what to do, and

    POSE       block, q                R (9), p (3)     X_J(q)
    COLUMNS    block, q                (5, 6)           H
    BIAS       block, q, v             (6,)             Ḣ q̇
    RATE       block, q, v, –, m       (6,)             ḣ of column m
    SLOPE      block, q, –, n, m       (6,)             ∂h/∂q_n of column m
    BENT       block, q, v, n          (6,)             ∂(Ḣ q̇)/∂q_n at constant q̇
    ACROSS     block, q                (6, 6)           W, a column a row
    DUAL       block, q                (5, 6)           G = (HᵀH)⁻¹ Hᵀ:  q̇ = G V,  and F = Gᵀ τ has Hᵀ F = τ
    PLACE      block, R, p             (5,)             q of the pose (R, p)

Of lanes one after another; PLACE and DUAL are for one system.

A mechanism with registered joints has the numbers of its joints as int32 (``kinds.OF_ANY``), all others as int64. Kernels of the latter are
compiled without what stands here; those of the former once, for all pages.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from nexdyn.generic import is_instance
from nexdyn.joints.kinds import REGISTERED
from nexdyn.kernel import formula, outlined, overloaded
from nexdyn.model.callbacks import call, stored
from nexdyn.spatial.algebra import Force, Mat3, Motion, Pose, Vec3
from nexdyn.spatial.by_lane import force_with_lane, is_of_lanes, motion_with_lane, pose_with_lane
from nexdyn.spatial.lanes import LANES, LaneVector, lane, zero

POSE, COLUMNS, BIAS, RATE, SLOPE, BENT, ACROSS, DUAL, PLACE = range(9)
MOST = 5
"""Coordinates of a joint, at most."""
HEAD = 2
"""What stands in a block before the numbers of the page."""
NAN = math.nan
NAN5, NAN6, NAN12 = (NAN,) * 5, (NAN,) * 6, (NAN,) * 12
NAN30, NAN36 = (NAN,) * 30, (NAN,) * 36


def may_be_registered(kind: Any) -> bool:
    """Whether a mechanism whose joints have numbers of this Numba type may have registered ones."""
    return isinstance(kind, types.Integer) and int(kind.bitwidth) == 32  # type: ignore[attr-defined]


def is_registered(kind):
    """Whether a joint of this number is registered."""
    return bool(kind == REGISTERED)


@overloaded(is_registered)
def _is_registered(kind):
    if may_be_registered(kind):
        return lambda kind: kind == REGISTERED
    return lambda kind: False


@formula
def count_of(block):
    """How many coordinates the joint has."""
    return int(stored(block + 8.0))


@formula
def coordinate(q, k, i, n, s):
    """Coordinate i of the joint, whose first is q[k], in lane s; 0 beyond its n."""
    return lane(q[k + i], s) if i < n else 0.0


@formula
def own_of(q, k, block, s):
    """The coordinates (or velocities) of the joint in lane s, as many as a call has room for."""
    n = count_of(block)
    return (
        coordinate(q, k, 0, n, s), coordinate(q, k, 1, n, s), coordinate(q, k, 2, n, s), coordinate(q, k, 3, n, s),
        coordinate(q, k, 4, n, s),
    )  # fmt: skip


# --- one system -------------------------------------------------------------------------------------------------------


@outlined
def one_pose(block, q):
    """X_J; NaN where the page fails."""
    status, x = call(stored(block), POSE, (block, q), NAN12)
    wrong = 0.0 if status == 0 else NAN
    return Pose(Mat3(x[0] + wrong, x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]), Vec3(x[9] + wrong, x[10], x[11]))


@outlined
def one_motion(what, block, q, v, n, m):
    """BIAS, RATE, SLOPE or BENT."""
    status, x = call(stored(block), what, (block, q, v, n, m), NAN6)
    wrong = 0.0 if status == 0 else NAN
    return Motion(Vec3(x[0] + wrong, x[1], x[2]), Vec3(x[3], x[4], x[5]))


@outlined
def one_table(what, block, q):
    """COLUMNS or DUAL."""
    _, x = call(stored(block), what, (block, q), NAN30)
    return x


@outlined
def one_across(block, q):
    """ACROSS."""
    _, x = call(stored(block), ACROSS, (block, q), NAN36)
    return x


@outlined
def one_place(block, R, p):
    """PLACE."""
    _, x = call(stored(block), PLACE, (block, R, p), NAN5)
    return x


@formula
def motion_in(x, m):
    """Row m of a table of numbers."""
    return Motion(Vec3(x[6 * m], x[6 * m + 1], x[6 * m + 2]), Vec3(x[6 * m + 3], x[6 * m + 4], x[6 * m + 5]))


# --- one system, or lanes ---------------------------------------------------------------------------------------------


@formula
def pose_of_one(block, q, k):
    return one_pose(block, own_of(q, k, block, 0))


@formula
def pose_of_lanes(block, q, k):
    o = zero(q[k])
    X = Pose(Mat3(o, o, o, o, o, o, o, o, o), Vec3(o, o, o))
    for s in range(LANES):
        b = lane(block, s)
        X = pose_with_lane(X, s, one_pose(b, own_of(q, k, b, s)))
    return X


def own_pose(block, q, k):
    """X_J(q)."""
    return (pose_of_lanes if is_of_lanes(q) else pose_of_one)(block, q, k)


@overloaded(own_pose)
def _own_pose(block, q, k):
    if is_instance(q, LaneVector):
        return lambda block, q, k: pose_of_lanes(block, q, k)
    return lambda block, q, k: pose_of_one(block, q, k)


@formula
def pose_behind(X, block, q, k):
    return X @ own_pose(block, q, k)


def pose(kind, X, block, q, k):
    """X_PC = X_PJ X_J(q)."""
    return pose_behind(X, block, q, k)


@overloaded(pose)
def _pose(kind, X, block, q, k):
    if may_be_registered(kind):
        return lambda kind, X, block, q, k: pose_behind(X, block, q, k)
    return lambda kind, X, block, q, k: X


@formula
def columns_of_one(block, q, k, H, j):
    x = one_table(COLUMNS, block, own_of(q, k, block, 0))
    for m in range(count_of(block)):
        H[j + m] = motion_in(x, m)


@formula
def columns_of_lanes(block, q, k, H, j):
    for s in range(LANES):
        b = lane(block, s)
        x = one_table(COLUMNS, b, own_of(q, k, b, s))
        for m in range(count_of(b)):
            H[j + m] = motion_with_lane(H[j + m], s, motion_in(x, m))


def motion_subspace(kind, H, j, q, k, block):
    """H."""
    (columns_of_lanes if is_of_lanes(q) else columns_of_one)(block, q, k, H, j)


@overloaded(motion_subspace)
def _motion_subspace(kind, H, j, q, k, block):
    if not may_be_registered(kind):
        return lambda kind, H, j, q, k, block: None
    if is_instance(q, LaneVector):
        return lambda kind, H, j, q, k, block: columns_of_lanes(block, q, k, H, j)
    return lambda kind, H, j, q, k, block: columns_of_one(block, q, k, H, j)


@formula
def motion_of_one(what, block, q, k, v, j, n, m):
    return one_motion(what, block, own_of(q, k, block, 0), own_of(v, j, block, 0), float(n), float(m))


@formula
def motion_of_lanes(what, block, q, k, v, j, n, m):
    o = zero(q[k])
    V = Motion(Vec3(o, o, o), Vec3(o, o, o))
    for s in range(LANES):
        b = lane(block, s)
        V = motion_with_lane(V, s, one_motion(what, b, own_of(q, k, b, s), own_of(v, j, b, s), float(n), float(m)))
    return V


def motion(kind, what, block, q, k, v, j, n, m):
    """BIAS, RATE, SLOPE or BENT."""
    return (motion_of_lanes if is_of_lanes(q) else motion_of_one)(what, block, q, k, v, j, n, m)


@overloaded(motion)
def _motion(kind, what, block, q, k, v, j, n, m):
    if not may_be_registered(kind):
        return lambda kind, what, block, q, k, v, j, n, m: Motion(
            Vec3(zero(q[k]), zero(q[k]), zero(q[k])), Vec3(zero(q[k]), zero(q[k]), zero(q[k]))
        )
    if is_instance(q, LaneVector):
        return lambda kind, what, block, q, k, v, j, n, m: motion_of_lanes(what, block, q, k, v, j, n, m)
    return lambda kind, what, block, q, k, v, j, n, m: motion_of_one(what, block, q, k, v, j, n, m)


@formula
def force_in(x, m):
    return Force(Vec3(x[6 * m], x[6 * m + 1], x[6 * m + 2]), Vec3(x[6 * m + 3], x[6 * m + 4], x[6 * m + 5]))


@formula
def across_of_one(W, q, k, block):
    x = one_across(block, own_of(q, k, block, 0))
    for m in range(6 - count_of(block)):
        W[m] = force_in(x, m)


@formula
def across_of_lanes(W, q, k, block):
    for s in range(LANES):
        b = lane(block, s)
        x = one_across(b, own_of(q, k, b, s))
        for m in range(6 - count_of(b)):
            W[m] = force_with_lane(W[m], s, force_in(x, m))


def constraint_subspace(kind, W, q, k, block):
    """W."""
    (across_of_lanes if is_of_lanes(q) else across_of_one)(W, q, k, block)


@overloaded(constraint_subspace)
def _constraint_subspace(kind, W, q, k, block):
    if not may_be_registered(kind):
        return lambda kind, W, q, k, block: None
    if is_instance(q, LaneVector):
        return lambda kind, W, q, k, block: across_of_lanes(W, q, k, block)
    return lambda kind, W, q, k, block: across_of_one(W, q, k, block)


# --- one system alone -------------------------------------------------------------------------------------------------


@formula
def place_of_one(R, p, q, k, block):
    x = one_place(block, R, p)
    for m in range(count_of(block)):
        q[k + m] = x[m]


def coordinates_of(kind, R, p, q, k, block):
    """q of the pose (R, p) of B in A, or of the nearest that the joint takes; lanes, which have no such joints, keep what they have."""
    place_of_one(R, p, q, k, block)


@overloaded(coordinates_of)
def _coordinates_of(kind, R, p, q, k, block):
    if not may_be_registered(kind):
        return lambda kind, R, p, q, k, block: None
    if is_instance(q, LaneVector):
        return lambda kind, R, p, q, k, block: None
    return lambda kind, R, p, q, k, block: place_of_one(R, p, q, k, block)


@formula
def dual_of_one(H, j, q, k, block):
    x = one_table(DUAL, block, own_of(q, k, block, 0))
    for m in range(count_of(block)):
        H[j + m] = motion_in(x, m)


def dual_subspace(kind, H, j, q, k, block):
    """G."""
    dual_of_one(H, j, q, k, block)


@overloaded(dual_subspace)
def _dual_subspace(kind, H, j, q, k, block):
    if not may_be_registered(kind):
        return lambda kind, H, j, q, k, block: None
    if is_instance(q, LaneVector):
        return lambda kind, H, j, q, k, block: None
    return lambda kind, H, j, q, k, block: dual_of_one(H, j, q, k, block)
