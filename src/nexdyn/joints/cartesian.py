"""Cartesian joint: translations q along x, y, z; no rotation.

R = 1,  p = q;   H = [(0, e_x), (0, e_y), (0, e_z)],  Ḣ = 0;   W = three unit couples
"""

from __future__ import annotations

from nexdyn.joints import kinds
from nexdyn.kernel import formula
from nexdyn.model.joint import Joint, Step
from nexdyn.spatial.algebra import Force, Motion, Pose, Vec3, vector_at


class Cartesian(Joint):
    """Translates the child any way and keeps its orientation; q = (x, y, z) [m]."""

    kind, code, nq, nv = "cartesian", kinds.CARTESIAN, 3, 3
    rows = (("DotZX", 0), ("DotZY", 0), ("DotXY", 0))
    coordinates = ("DX", "DY", "DZ")
    directions = (("slide", "A", 0), ("slide", "A", 1), ("slide", "A", 2))
    coordinate_labels = (("x", "m"), ("y", "m"), ("z", "m"))
    steps = (Step("slide", 0, 0), Step("slide", 1, 1), Step("slide", 2, 2))


@formula
def pose(X, q, k):
    return Pose(X.R, X.p + X.R @ vector_at(q, k))


@formula
def coordinates_of(R, p, q, k):
    """q of the pose (R, p) of B in A, or of the nearest that the joint takes."""
    q[k], q[k + 1], q[k + 2] = p.x, p.y, p.z


@formula
def motion_subspace(H, j):
    H[j] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0))
    H[j + 1] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0))
    H[j + 2] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))


@formula
def constraint_subspace(W):
    W[0] = Force(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[1] = Force(Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[2] = Force(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
