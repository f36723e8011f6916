"""Spherical joint: any rotation, as a unit quaternion q = (w, x, y, z); velocity ω in the child's frame.

R = R(q),  p = 0;   H = [(e_x, 0), (e_y, 0), (e_z, 0)],  Ḣ = 0;   W = three unit forces
chart about q:  q ⊗ exp(φ),  φ̇ = Jᵣ⁻¹(φ) ω
"""

from __future__ import annotations

from nexdyn.joints import kinds
from nexdyn.kernel import formula
from nexdyn.model.joint import Joint
from nexdyn.spatial.algebra import Force, Motion, Pose, Quat, Vec3, rotation


class Spherical(Joint):
    """Turns the child any way about the joint's point; q = unit quaternion (w, x, y, z), v = ω in the child [rad/s]."""

    kind, code, nq, nv = "spherical", kinds.SPHERICAL, 4, 3
    rows = (("DX", 1), ("DY", 1), ("DZ", 1))
    directions = (("turn", "B", 0), ("turn", "B", 1), ("turn", "B", 2))


@formula
def pose(X, q, k):
    return Pose(X.R @ rotation(Quat(q[k], q[k + 1], q[k + 2], q[k + 3])), X.p)


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
