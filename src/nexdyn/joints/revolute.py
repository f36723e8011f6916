"""Revolute joint: one turn q about z.

R = Rz(q),  p = 0;   H = (e_z, 0),  Ḣ = 0;   W = the other five unit forces
"""

from __future__ import annotations

from nexdyn.joints import kinds
from nexdyn.kernel import formula
from nexdyn.model.joint import Joint, Step
from nexdyn.spatial.algebra import Force, Motion, Pose, Vec3, turned_about_z
from nexdyn.spatial.lanes import atan2


class Revolute(Joint):
    """Turns the child about z of the joint frame; q [rad]."""

    kind, code, nq, nv = "revolute", kinds.REVOLUTE, 1, 1
    about_z = True
    rows = (("DX", 1), ("DY", 1), ("DZ", 1), ("DotZX", 0), ("DotZY", 0))
    coordinates = ("Angle",)
    directions = (("turn", "B", 2),)
    coordinate_labels = (("", "rad"),)
    steps = (Step("turn", 2, 0),)


@formula
def pose(X, q, k):
    return Pose(turned_about_z(X.R, q[k]), X.p)


@formula
def coordinates_of(R, p, q, k):
    """q of the pose (R, p) of B in A, or of the nearest that the joint takes."""
    q[k] = atan2(R.yx - R.xy, R.xx + R.yy)


@formula
def motion_subspace(H, j):
    H[j] = Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))


@formula
def constraint_subspace(W):
    W[0] = Force(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[1] = Force(Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[2] = Force(Vec3(0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0))
    W[3] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0))
    W[4] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))
