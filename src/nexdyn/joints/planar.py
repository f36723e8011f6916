"""Planar joint: translations q₁, q₂ along x and y of the parent side and a turn q₃ about z.

R = Rz(q₃),  p = (q₁, q₂, 0)
H = [(0, Rᵀ e_x), (0, Rᵀ e_y), (e_z, 0)];   Ḣ q̇ = (0, −q̇₃ e_z × Rᵀ(q̇₁, q̇₂, 0));   W = (e_x, 0), (e_y, 0), (0, e_z)
"""

from __future__ import annotations

from nexdyn.joints import kinds
from nexdyn.kernel import formula
from nexdyn.model.joint import Joint, Step
from nexdyn.spatial.algebra import Force, Motion, Pose, Vec3, turned_about_z
from nexdyn.spatial.lanes import atan2, zero
from nexdyn.spatial.sincos import sincos


class Planar(Joint):
    """Moves the child in the plane across z; q = (x [m], y [m], angle [rad]), v = q̇."""

    kind, code, nq, nv = "planar", kinds.PLANAR, 3, 3
    rows = (("DZ", 1), ("DotZX", 0), ("DotZY", 0))
    coordinates = ("DX", "DY", "Angle")
    directions = (("slide", "A", 0), ("slide", "A", 1), ("turn", "B", 2))
    coordinate_labels = (("x", "m"), ("y", "m"), ("angle", "rad"))
    steps = (Step("slide", 0, 0), Step("slide", 1, 1), Step("turn", 2, 2))
    urdf = "planar"


@formula
def pose(X, q, k):
    p = X.p + X.R @ Vec3(q[k], q[k + 1], zero(q[k]))
    return Pose(turned_about_z(X.R, q[k + 2]), p)


@formula
def coordinates_of(R, p, q, k):
    """q of the pose (R, p) of B in A, or of the nearest that the joint takes."""
    q[k], q[k + 1], q[k + 2] = p.x, p.y, atan2(R.yx - R.xy, R.xx + R.yy)


@formula
def motion_subspace(H, j, q, k):
    s, c = sincos(q[k + 2])
    H[j] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(c, -s, 0.0))
    H[j + 1] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(s, c, 0.0))
    H[j + 2] = Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))


@formula
def bias(q, k, v, j):
    """Ḣ q̇."""
    s, c = sincos(q[k + 2])
    x, y = c * v[j] + s * v[j + 1], c * v[j + 1] - s * v[j]
    o = zero(s)
    return Motion(Vec3(o, o, o), Vec3(v[j + 2] * y, -(v[j + 2] * x), o))


@formula
def column_rate(v, j, h):
    """Rate of a column h of H: the translations turn back with the child, ḣ = (0, −q̇₃ e_z × h)."""
    r, o = v[j + 2], zero(v[j])
    return Motion(Vec3(o, o, o), Vec3(r * h.v.y, -(r * h.v.x), o))


@formula
def column_slope(m, n, h):
    """∂h_m/∂q_n of column m, which is h: ∂h/∂q₃ = (0, −e_z × h) of the translations, the others are 0."""
    o = zero(h.v.x)
    if m < 2 and n == 2:
        return Motion(Vec3(o, o, o), Vec3(h.v.y, -h.v.x, o))
    return Motion(Vec3(o, o, o), Vec3(o, o, o))


@formula
def bias_slope(q, k, v, j, n):
    """∂(Ḣ q̇)/∂q_n at constant q̇: −q̇₃ Rᵀ(q̇₁, q̇₂, 0) for the turn, n = 2."""
    s, c = sincos(q[k + 2])
    x, y = c * v[j] + s * v[j + 1], c * v[j + 1] - s * v[j]
    o = zero(s)
    r = v[j + 2] if n == 2 else o
    return Motion(Vec3(o, o, o), Vec3(-(r * x), -(r * y), o))


@formula
def constraint_subspace(W):
    W[0] = Force(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[1] = Force(Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[2] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))
