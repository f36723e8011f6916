"""Prismatic joint: one translation q along z.

R = 1,  p = q e_z;   H = (0, e_z),  Ḣ = 0;   W = the other five unit forces
"""

from __future__ import annotations

from nexdyn.joints import kinds
from nexdyn.kernel import formula
from nexdyn.model.joint import Joint, Step
from nexdyn.spatial.algebra import Force, Motion, Pose, Vec3, z_column


class Prismatic(Joint):
    """Slides the child along z of the joint frame; q [m]."""

    kind, code, nq, nv = "prismatic", kinds.PRISMATIC, 1, 1
    about_z = True
    rows = (("DX", 1), ("DY", 1), ("DotXY", 0), ("DotZY", 0), ("DotZX", 0))
    coordinates = ("DZ",)
    directions = (("slide", "A", 2),)
    coordinate_labels = (("", "m"),)
    steps = (Step("slide", 2, 0),)


@formula
def pose(X, q, k):
    return Pose(X.R, X.p + q[k] * z_column(X.R))


@formula
def coordinates_of(R, p, q, k):
    """q of the pose (R, p) of B in A, or of the nearest that the joint takes."""
    q[k] = p.z


@formula
def motion_subspace(H, j):
    H[j] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))


@formula
def constraint_subspace(W):
    W[0] = Force(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[1] = Force(Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[2] = Force(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
    W[3] = Force(Vec3(0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0))
    W[4] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0))
