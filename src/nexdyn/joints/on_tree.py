"""What the algorithms of trees ask of a joint, which may be one that is described from a body to the ground.

A tree hangs the body on the ground, so that it moves along X′ = X_J(q)⁻¹: the pose of A in B, with the coordinates as described. With
Ad(X) m = X m, which takes a motion from B to A, and all of the joint as described on the right (``verbs``):

    X′ = X⁻¹,   H′ = −Ad(X) H,   Ḣ′ q̇ = −Ad(X) Ḣ q̇,   W′ = X W
    ḣ′ = −Ad(X) ḣ − V′ × h′,   V′ = H′ q̇
    ∂h′_m/∂q_n = −Ad(X) ∂h_m/∂q_n − h′_n × h′_m,   ∂(Ḣ′ q̇)/∂q_n = −Ad(X) ∂(Ḣ q̇)/∂q_n − h′_n × Ḣ′ q̇

for Ad(X)˙ = Ad(X) ad(V). How q follows from v, and efforts along v, do not change. Joints whose coordinates are turns about z and slides
along z need none of this: they are themselves again in other frames (``model.joint``).

Mechanisms without reversed and registered joints, whose numbers are int64, are compiled without it.
"""

from __future__ import annotations

import numpy as np

from nexdyn.joints import registered, verbs
from nexdyn.joints.kinds import REVERSED
from nexdyn.joints.registered import may_be_registered
from nexdyn.kernel import formula, overloaded
from nexdyn.spatial.algebra import Mat3, Pose, Vec3, cross, inverse, to_child
from nexdyn.spatial.lanes import lane, zero


def is_reversed(kind):
    """Whether a joint of this number is described from a body to the ground, and no joint about z."""
    return bool(kind & REVERSED)


def described_as(kind):
    """The number of the joint as it is described."""
    return kind & (REVERSED - 1)


@overloaded(is_reversed)
def _is_reversed(kind):
    if may_be_registered(kind):
        return lambda kind: kind & REVERSED != 0
    return lambda kind: False


@overloaded(described_as)
def _described_as(kind):
    if may_be_registered(kind):
        return lambda kind: np.int32(kind & (REVERSED - 1))
    return lambda kind: kind


@formula
def count_of(kind, pitch):
    """How many degrees of freedom a joint has."""
    if registered.is_registered(kind):
        return registered.count_of(lane(pitch, 0))
    return verbs.freedoms(kind)


@formula
def pose_as_described(kind, pitch, q, k):
    """X_J(q), B in A."""
    o = zero(q[k])
    e = o + 1.0
    return verbs.child_pose(kind, Pose(Mat3(e, o, o, o, e, o, o, o, e), Vec3(o, o, o)), pitch, q, k)


# --- of reversed joints; `kind` is that as described ------------------------------------------------------------------


@formula
def reversed_pose(kind, X, pitch, q, k):
    return X @ inverse(pose_as_described(kind, pitch, q, k))


@formula
def reversed_columns(kind, pitch, q, k, H, j):
    verbs.motion_columns(kind, pitch, q, k, H, j)
    X = pose_as_described(kind, pitch, q, k)
    for n in range(j, j + count_of(kind, pitch)):
        H[n] = -1.0 * (X @ H[n])


@formula
def reversed_bias(kind, pitch, q, k, v, j, o):
    return -1.0 * (pose_as_described(kind, pitch, q, k) @ verbs.joint_bias(kind, pitch, q, k, v, j, o))


@formula
def reversed_rate(kind, pitch, q, k, v, j, n, H):
    X, h = pose_as_described(kind, pitch, q, k), H[j + n]
    V = v[j] * H[j]
    for m in range(1, count_of(kind, pitch)):
        V = V + v[j + m] * H[j + m]
    rate = verbs.column_rate(kind, pitch, q, k, v, j, n, -1.0 * to_child(X, h))
    return -1.0 * (X @ rate) - cross(V, h)


@formula
def reversed_slope(kind, pitch, q, k, m, n, H, j):
    X, h = pose_as_described(kind, pitch, q, k), H[j + m]
    slope = verbs.column_slope(kind, pitch, q, k, m, n, -1.0 * to_child(X, h))
    return -1.0 * (X @ slope) - cross(H[j + n], h)


@formula
def reversed_bias_slope(kind, pitch, q, k, v, j, n, H):
    X = pose_as_described(kind, pitch, q, k)
    bias = -1.0 * (X @ verbs.joint_bias(kind, pitch, q, k, v, j, zero(v[j])))
    return -1.0 * (X @ verbs.bias_slope(kind, pitch, q, k, v, j, n)) - cross(H[j + n], bias)


@formula
def reversed_across(kind, pitch, q, k, W):
    verbs.constraint_columns(kind, pitch, q, k, W)
    X = pose_as_described(kind, pitch, q, k)
    for n in range(6 - count_of(kind, pitch)):
        W[n] = X @ W[n]


# --- of any joint -----------------------------------------------------------------------------------------------------


def child_pose(kind, X, pitch, q, k):
    """X_PC = X_PJ X_J(q), or X_PJ X_J(q)⁻¹; q of the joint starts at k."""
    if is_reversed(kind):
        return reversed_pose(described_as(kind), X, pitch, q, k)
    return verbs.child_pose(kind, X, pitch, q, k)


@overloaded(child_pose)
def _child_pose(kind, X, pitch, q, k):
    if may_be_registered(kind):
        return lambda kind, X, pitch, q, k: child_pose_of_any(kind, X, pitch, q, k)
    return lambda kind, X, pitch, q, k: verbs.child_pose(kind, X, pitch, q, k)


@formula
def child_pose_of_any(kind, X, pitch, q, k):
    if is_reversed(kind):
        return reversed_pose(described_as(kind), X, pitch, q, k)
    return verbs.child_pose(kind, X, pitch, q, k)


def motion_columns(kind, pitch, q, k, H, j):
    """Columns of H in the child's frame, into rows j, j + 1, … of the table H."""
    if is_reversed(kind):
        return reversed_columns(described_as(kind), pitch, q, k, H, j)
    return verbs.motion_columns(kind, pitch, q, k, H, j)


@overloaded(motion_columns)
def _motion_columns(kind, pitch, q, k, H, j):
    if may_be_registered(kind):
        return lambda kind, pitch, q, k, H, j: motion_columns_of_any(kind, pitch, q, k, H, j)
    return lambda kind, pitch, q, k, H, j: verbs.motion_columns(kind, pitch, q, k, H, j)


@formula
def motion_columns_of_any(kind, pitch, q, k, H, j):
    if is_reversed(kind):
        return reversed_columns(described_as(kind), pitch, q, k, H, j)
    return verbs.motion_columns(kind, pitch, q, k, H, j)


def joint_bias(kind, pitch, q, k, v, j, o):
    """Ḣ q̇; `o` is a zero of the scalar's kind."""
    if is_reversed(kind):
        return reversed_bias(described_as(kind), pitch, q, k, v, j, o)
    return verbs.joint_bias(kind, pitch, q, k, v, j, o)


@overloaded(joint_bias)
def _joint_bias(kind, pitch, q, k, v, j, o):
    if may_be_registered(kind):
        return lambda kind, pitch, q, k, v, j, o: joint_bias_of_any(kind, pitch, q, k, v, j, o)
    return lambda kind, pitch, q, k, v, j, o: verbs.joint_bias(kind, pitch, q, k, v, j, o)


@formula
def joint_bias_of_any(kind, pitch, q, k, v, j, o):
    if is_reversed(kind):
        return reversed_bias(described_as(kind), pitch, q, k, v, j, o)
    return verbs.joint_bias(kind, pitch, q, k, v, j, o)


def column_rate(kind, pitch, q, k, v, j, n, H):
    """Rate ḣ of column n in the child's frame, row j + n of the table H; q of the joint starts at k, v at j."""
    if is_reversed(kind):
        return reversed_rate(described_as(kind), pitch, q, k, v, j, n, H)
    return verbs.column_rate(kind, pitch, q, k, v, j, n, H[j + n])


@overloaded(column_rate)
def _column_rate(kind, pitch, q, k, v, j, n, H):
    if may_be_registered(kind):
        return lambda kind, pitch, q, k, v, j, n, H: column_rate_of_any(kind, pitch, q, k, v, j, n, H)
    return lambda kind, pitch, q, k, v, j, n, H: verbs.column_rate(kind, pitch, q, k, v, j, n, H[j + n])


@formula
def column_rate_of_any(kind, pitch, q, k, v, j, n, H):
    if is_reversed(kind):
        return reversed_rate(described_as(kind), pitch, q, k, v, j, n, H)
    return verbs.column_rate(kind, pitch, q, k, v, j, n, H[j + n])


def column_slope(kind, pitch, q, k, m, n, H, j):
    """∂h/∂q_n of column m in the child's frame, row j + m of the table H, by coordinate n of the joint; q starts at k."""
    if is_reversed(kind):
        return reversed_slope(described_as(kind), pitch, q, k, m, n, H, j)
    return verbs.column_slope(kind, pitch, q, k, m, n, H[j + m])


@overloaded(column_slope)
def _column_slope(kind, pitch, q, k, m, n, H, j):
    if may_be_registered(kind):
        return lambda kind, pitch, q, k, m, n, H, j: column_slope_of_any(kind, pitch, q, k, m, n, H, j)
    return lambda kind, pitch, q, k, m, n, H, j: verbs.column_slope(kind, pitch, q, k, m, n, H[j + m])


@formula
def column_slope_of_any(kind, pitch, q, k, m, n, H, j):
    if is_reversed(kind):
        return reversed_slope(described_as(kind), pitch, q, k, m, n, H, j)
    return verbs.column_slope(kind, pitch, q, k, m, n, H[j + m])


def bias_slope(kind, pitch, q, k, v, j, n, H):
    """∂(Ḣ q̇)/∂q_n at constant q̇ in the child's frame, by coordinate n of the joint; q starts at k, v and columns of H at j."""
    if is_reversed(kind):
        return reversed_bias_slope(described_as(kind), pitch, q, k, v, j, n, H)
    return verbs.bias_slope(kind, pitch, q, k, v, j, n)


@overloaded(bias_slope)
def _bias_slope(kind, pitch, q, k, v, j, n, H):
    if may_be_registered(kind):
        return lambda kind, pitch, q, k, v, j, n, H: bias_slope_of_any(kind, pitch, q, k, v, j, n, H)
    return lambda kind, pitch, q, k, v, j, n, H: verbs.bias_slope(kind, pitch, q, k, v, j, n)


@formula
def bias_slope_of_any(kind, pitch, q, k, v, j, n, H):
    if is_reversed(kind):
        return reversed_bias_slope(described_as(kind), pitch, q, k, v, j, n, H)
    return verbs.bias_slope(kind, pitch, q, k, v, j, n)


def constraint_columns(kind, pitch, q, k, W):
    """Columns of W in the child's frame, into rows 0, 1, … of the table W."""
    if is_reversed(kind):
        return reversed_across(described_as(kind), pitch, q, k, W)
    return verbs.constraint_columns(kind, pitch, q, k, W)


@overloaded(constraint_columns)
def _constraint_columns(kind, pitch, q, k, W):
    if may_be_registered(kind):
        return lambda kind, pitch, q, k, W: constraint_columns_of_any(kind, pitch, q, k, W)
    return lambda kind, pitch, q, k, W: verbs.constraint_columns(kind, pitch, q, k, W)


@formula
def constraint_columns_of_any(kind, pitch, q, k, W):
    if is_reversed(kind):
        return reversed_across(described_as(kind), pitch, q, k, W)
    return verbs.constraint_columns(kind, pitch, q, k, W)


@formula
def columns_turn(kind):
    """Whether columns of H depend on q."""
    return is_reversed(kind) or verbs.columns_turn(kind)
