"""Universal joint: a turn q₁ about z of the parent side, then q₂ about x of the child side.

R = Rz(q₁) Rx(q₂),  p = 0
H = [(Rxᵀ e_z, 0), (e_x, 0)],  Rxᵀ e_z = (0, s₂, c₂);   Ḣ q̇ = q̇₁ q̇₂ (0, c₂, −s₂; 0)
W = [(0, c₂, −s₂; 0), three unit forces]
"""

from __future__ import annotations

from nexdyn.joints import kinds
from nexdyn.kernel import formula
from nexdyn.model.joint import Joint, Step
from nexdyn.spatial.algebra import Force, Mat3, Motion, Pose, Vec3, turned_about_z
from nexdyn.spatial.lanes import atan2, zero
from nexdyn.spatial.sincos import sincos


class Universal(Joint):
    """Two turns about crossing axes, z of the parent side and x of the child side; q = (q₁, q₂) [rad]."""

    kind, code, nq, nv = "universal", kinds.UNIVERSAL, 2, 2
    rows = (("DX", 1), ("DY", 1), ("DZ", 1), ("DotZX", 0))
    coordinates = ("Angle", "Tilt")
    directions = (("turn", "A", 2), ("turn", "B", 0))
    coordinate_labels = (("angle1", "rad"), ("angle2", "rad"))
    steps = (Step("turn", 2, 0), Step("turn", 0, 1))


@formula
def pose(X, q, k):
    R = turned_about_z(X.R, q[k])
    s, c = sincos(q[k + 1])
    R = Mat3(
        R.xx, c * R.xy + s * R.xz, c * R.xz - s * R.xy,
        R.yx, c * R.yy + s * R.yz, c * R.yz - s * R.yy,
        R.zx, c * R.zy + s * R.zz, c * R.zz - s * R.zy,
    )  # fmt: skip
    return Pose(R, X.p)


@formula
def coordinates_of(R, p, q, k):
    """q of the pose (R, p) of B in A, or of the nearest that the joint takes."""
    # R = Rz(q₁) Rx(q₂): the first column is (c₁, s₁, 0), the third ends in c₂, the second in s₂
    q[k], q[k + 1] = atan2(R.yx, R.xx), atan2(R.zy, R.zz)


@formula
def motion_subspace(H, j, q, k):
    s, c = sincos(q[k + 1])
    H[j] = Motion(Vec3(0.0, s, c), Vec3(0.0, 0.0, 0.0))
    H[j + 1] = Motion(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))


@formula
def bias(q, k, v, j):
    """Ḣ q̇."""
    s, c = sincos(q[k + 1])
    r, o = v[j] * v[j + 1], zero(s)
    return Motion(Vec3(o, r * c, -(r * s)), Vec3(o, o, o))


@formula
def column_rate(q, k, v, j, n):
    """Rate of column n of H: ḣ₁ = q̇₂ (0, c₂, −s₂; 0),  ḣ₂ = 0."""
    s, c = sincos(q[k + 1])
    o = zero(s)
    r = v[j + 1] if n == 0 else o
    return Motion(Vec3(o, r * c, -(r * s)), Vec3(o, o, o))


@formula
def column_slope(q, k, m, n):
    """∂h_m/∂q_n: ∂h₁/∂q₂ = (0, c₂, −s₂; 0), the others are 0."""
    s, c = sincos(q[k + 1])
    o = zero(s)
    if m == 0 and n == 1:
        return Motion(Vec3(o, c, -s), Vec3(o, o, o))
    return Motion(Vec3(o, o, o), Vec3(o, o, o))


@formula
def bias_slope(q, k, v, j, n):
    """∂(Ḣ q̇)/∂q_n at constant q̇: q̇₁ q̇₂ (0, −s₂, −c₂; 0) for n = 1 (counted from 0)."""
    s, c = sincos(q[k + 1])
    o = zero(s)
    r = v[j] * v[j + 1] if n == 1 else o
    return Motion(Vec3(o, -(r * s), -(r * c)), Vec3(o, o, o))


@formula
def constraint_subspace(W, q, k):
    s, c = sincos(q[k + 1])
    W[0] = Force(Vec3(0.0, c, -s), Vec3(0.0, 0.0, 0.0))
    W[1] = Force(Vec3(0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0))
    W[2] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0))
    W[3] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))
