"""Cylindrical joint: a turn q₁ about z and a translation q₂ along z.

R = Rz(q₁),  p = q₂ e_z;   H = [(e_z, 0), (0, e_z)],  Ḣ = 0;   W = the four unit forces across z
"""

from __future__ import annotations

from nexdyn.joints import kinds
from nexdyn.kernel import formula
from nexdyn.model.joint import Joint, Step
from nexdyn.spatial.algebra import Force, Motion, Pose, Vec3, turned_about_z, z_column
from nexdyn.spatial.lanes import atan2


class Cylindrical(Joint):
    """Turns the child about z and slides it along z; q = (angle [rad], distance [m])."""

    kind, code, nq, nv = "cylindrical", kinds.CYLINDRICAL, 2, 2
    about_z = True
    rows = (("DX", 1), ("DY", 1), ("DotZX", 0), ("DotZY", 0))
    coordinates = ("Angle", "DZ")
    directions = (("turn", "B", 2), ("slide", "A", 2))
    coordinate_labels = (("angle", "rad"), ("z", "m"))
    steps = (Step("turn", 2, 0), Step("slide", 2, 1))


@formula
def pose(X, q, k):
    return Pose(turned_about_z(X.R, q[k]), X.p + q[k + 1] * z_column(X.R))


@formula
def coordinates_of(R, p, q, k):
    """q of the pose (R, p) of B in A, or of the nearest that the joint takes."""
    q[k], q[k + 1] = atan2(R.yx - R.xy, R.xx + R.yy), p.z


@formula
def motion_subspace(H, j):
    H[j] = Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
    H[j + 1] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))


@formula
def constraint_subspace(W):
    W[0] = Force(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[1] = Force(Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[2] = Force(Vec3(0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0))
    W[3] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0))
