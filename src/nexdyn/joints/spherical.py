"""Spherical joint: any rotation, as a unit quaternion q = (w, x, y, z); velocity ω in the child's frame.

R = R(q),  p = 0;   H = [(e_x, 0), (e_y, 0), (e_z, 0)],  Ḣ = 0;   W = three unit forces
chart about q:  q ⊗ exp(φ),  φ̇ = Jᵣ⁻¹(φ) ω
"""

from __future__ import annotations

from nexdyn.joints import kinds
from nexdyn.kernel import formula
from nexdyn.model.joint import Joint, Step
from nexdyn.spatial.algebra import Force, Motion, Pose, Quat, Vec3, normalized, quaternion_if_less, rotation
from nexdyn.spatial.lanes import greater, if_less, zero


class Spherical(Joint):
    """Turns the child any way about the joint's point; q = unit quaternion (w, x, y, z), v = ω in the child [rad/s]."""

    kind, code, nq, nv = "spherical", kinds.SPHERICAL, 4, 3
    rows = (("DX", 1), ("DY", 1), ("DZ", 1))
    directions = (("turn", "B", 0), ("turn", "B", 1), ("turn", "B", 2))
    coordinate_labels = (("qw", "1"), ("qx", "1"), ("qy", "1"), ("qz", "1"))
    velocity_labels = (("wx", "rad"), ("wy", "rad"), ("wz", "rad"))
    steps = (Step("quaternion", 0, 0),)


@formula
def pose(X, q, k):
    return Pose(X.R @ rotation(Quat(q[k], q[k + 1], q[k + 2], q[k + 3])), X.p)


@formula
def quaternion_near(R, q, k):
    """The unit quaternion of R, of its two signs that nearer to q."""
    trace, o = R.xx + R.yy + R.zz, zero(R.xx)
    x = Quat(R.yx - R.xy, R.xz + R.zx, R.yz + R.zy, 1.0 + 2.0 * R.zz - trace)
    y = Quat(R.xz - R.zx, R.xy + R.yx, 1.0 + 2.0 * R.yy - trace, R.yz + R.zy)
    x = quaternion_if_less(R.yy, R.zz, x, y)
    y = Quat(R.zy - R.yz, 1.0 + 2.0 * R.xx - trace, R.xy + R.yx, R.xz + R.zx)
    x = quaternion_if_less(R.xx, greater(R.yy, R.zz), x, y)
    y = Quat(1.0 + trace, R.zy - R.yz, R.xz - R.zx, R.yx - R.xy)
    x = normalized(quaternion_if_less(trace, greater(R.xx, greater(R.yy, R.zz)), x, y))
    across = x.w * q[k] + x.x * q[k + 1] + x.y * q[k + 2] + x.z * q[k + 3]
    return if_less(across, 0.0, o - 1.0, o + 1.0) * x


@formula
def coordinates_of(R, p, q, k):
    """q of the pose (R, p) of B in A, or of the nearest that the joint takes."""
    x = quaternion_near(R, q, k)
    q[k], q[k + 1], q[k + 2], q[k + 3] = x.w, x.x, x.y, x.z


@formula
def motion_subspace(H, j):
    H[j] = Motion(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    H[j + 1] = Motion(Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 0.0))
    H[j + 2] = Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))


@formula
def constraint_subspace(W):
    W[0] = Force(Vec3(0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0))
    W[1] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0))
    W[2] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))
