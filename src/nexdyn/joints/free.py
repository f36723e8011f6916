"""Free joint: six degrees of freedom. q = (w, x, y, z, p) with the unit quaternion first, v = (ω, v) in the child's frame.

R = R(q),  p = p;   H = 1₆,  Ḣ = 0;   W has no column
chart about q:  q ⊗ exp(φ), p + d;   φ̇ = Jᵣ⁻¹(φ) ω,  ḋ = R v
"""

from __future__ import annotations

from nexdyn.joints import kinds
from nexdyn.joints.spherical import Spherical, quaternion_near
from nexdyn.kernel import formula
from nexdyn.model.joint import Joint, Step
from nexdyn.spatial.algebra import Motion, Pose, Quat, Vec3, rotation


class Free(Joint):
    """Leaves the child free; q = (w, x, y, z, px, py, pz), v = (ω, v) of the child's origin in the child's frame."""

    kind, code, nq, nv = "free", kinds.FREE, 7, 6
    directions = tuple((way, "B", axis) for way in ("turn", "slide") for axis in range(3))
    coordinate_labels = (*Spherical.coordinate_labels, ("px", "m"), ("py", "m"), ("pz", "m"))
    velocity_labels = (*Spherical.velocity_labels, ("vx", "m"), ("vy", "m"), ("vz", "m"))
    steps = (Step("slide", 0, 4), Step("slide", 1, 5), Step("slide", 2, 6), Step("quaternion", 0, 0))
    urdf = "floating"


@formula
def pose(X, q, k):
    p = X.p + X.R @ Vec3(q[k + 4], q[k + 5], q[k + 6])
    return Pose(X.R @ rotation(Quat(q[k], q[k + 1], q[k + 2], q[k + 3])), p)


@formula
def coordinates_of(R, p, q, k):
    """q of the pose (R, p) of B in A, or of the nearest that the joint takes."""
    x = quaternion_near(R, q, k)
    q[k], q[k + 1], q[k + 2], q[k + 3] = x.w, x.x, x.y, x.z
    q[k + 4], q[k + 5], q[k + 6] = p.x, p.y, p.z


@formula
def motion_subspace(H, j):
    H[j] = Motion(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    H[j + 1] = Motion(Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 0.0))
    H[j + 2] = Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
    H[j + 3] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0))
    H[j + 4] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0))
    H[j + 5] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))
