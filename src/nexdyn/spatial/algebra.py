"""Spatial algebra in value types: what kernels compute with (Featherstone 2008, chapter 2).

A motion is (ω, v), a force (n, f), angular part first. A pose X_PC = (R, p) takes what is expressed in C to P:

    X @ V = (R ω,  R v + p × R ω)          to_child(X, V) = (Rᵀ ω,  Rᵀ(v − p × ω))
    X @ F = (R n + p × R f,  R f)          to_child(X, F) = (Rᵀ(n − p × f),  Rᵀ f)
    X @ I = inertia moved to P

A rigid inertia is (m, h = m c, I about the origin); an articulated inertia is the block matrix [A B; Bᵀ D]. The axes
of one-freedom joints are types without content (`AboutZ`, `AlongZ`), so that their zeros and ones cost nothing.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from nexdyn.generic import defines, generic
from nexdyn.kernel import formula, inlined
from nexdyn.spatial.lanes import atan2, if_less, sin, sqrt, zero
from nexdyn.spatial.sincos import sincos


class Vec3(NamedTuple):
    x: float
    y: float
    z: float


class Mat3(NamedTuple):
    xx: float
    xy: float
    xz: float
    yx: float
    yy: float
    yz: float
    zx: float
    zy: float
    zz: float


class Sym3(NamedTuple):
    xx: float
    xy: float
    xz: float
    yy: float
    yz: float
    zz: float


class Quat(NamedTuple):
    w: float
    x: float
    y: float
    z: float


class Motion(NamedTuple):
    w: Vec3
    v: Vec3


class Force(NamedTuple):
    n: Vec3
    f: Vec3


class Pose(NamedTuple):
    R: Mat3
    p: Vec3


class RigidInertia(NamedTuple):
    m: float
    h: Vec3
    I: Sym3


class ArticulatedInertia(NamedTuple):
    A: Sym3
    B: Mat3
    D: Sym3


class AboutZ(NamedTuple):
    """Unit rotation about z: H = (e_z, 0)."""


class AlongZ(NamedTuple):
    """Unit translation along z: H = (0, e_z)."""


class TurnZ(NamedTuple):
    """s (e_z, 0)."""

    s: float


class SlideZ(NamedTuple):
    """s (0, e_z)."""

    s: float


ABOUT_Z = AboutZ()
ALONG_Z = AlongZ()

to_child = generic("to_child", "A motion or force of the parent's frame, expressed in the child's: X⁻¹ V, X⁻¹ F.")
cross = generic("cross", "a × b of vectors; V × m of motions; V ×* f of a motion and a force.")


# --- vectors and matrices ---------------------------------------------------------------------------------------


@defines(operator.add)
def _(a: Vec3, b: Vec3) -> Any:
    return Vec3(a.x + b.x, a.y + b.y, a.z + b.z)


@defines(operator.sub)
def _(a: Vec3, b: Vec3) -> Any:
    return Vec3(a.x - b.x, a.y - b.y, a.z - b.z)


@defines(operator.neg)
def _(a: Vec3) -> Any:
    return Vec3(-a.x, -a.y, -a.z)


@defines(operator.mul)
def _(s: float, a: Vec3) -> Any:
    return Vec3(s * a.x, s * a.y, s * a.z)


@defines(operator.matmul)
def _(a: Vec3, b: Vec3) -> Any:
    """aᵀ b."""
    return a.x * b.x + a.y * b.y + a.z * b.z


@defines(cross)
def _(a: Vec3, b: Vec3) -> Any:
    return Vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


@defines(operator.matmul)
def _(R: Mat3, a: Vec3) -> Any:
    return Vec3(
        R.xx * a.x + R.xy * a.y + R.xz * a.z,
        R.yx * a.x + R.yy * a.y + R.yz * a.z,
        R.zx * a.x + R.zy * a.y + R.zz * a.z,
    )


@defines(operator.matmul)
def _(S: Sym3, a: Vec3) -> Any:
    return Vec3(
        S.xx * a.x + S.xy * a.y + S.xz * a.z,
        S.xy * a.x + S.yy * a.y + S.yz * a.z,
        S.xz * a.x + S.yz * a.y + S.zz * a.z,
    )


@defines(operator.matmul)
def _(A: Mat3, B: Mat3) -> Any:
    return Mat3(
        A.xx * B.xx + A.xy * B.yx + A.xz * B.zx, A.xx * B.xy + A.xy * B.yy + A.xz * B.zy, A.xx * B.xz + A.xy * B.yz + A.xz * B.zz,
        A.yx * B.xx + A.yy * B.yx + A.yz * B.zx, A.yx * B.xy + A.yy * B.yy + A.yz * B.zy, A.yx * B.xz + A.yy * B.yz + A.yz * B.zz,
        A.zx * B.xx + A.zy * B.yx + A.zz * B.zx, A.zx * B.xy + A.zy * B.yy + A.zz * B.zy, A.zx * B.xz + A.zy * B.yz + A.zz * B.zz,
    )  # fmt: skip


@defines(operator.add)
def _(A: Sym3, B: Sym3) -> Any:
    return Sym3(A.xx + B.xx, A.xy + B.xy, A.xz + B.xz, A.yy + B.yy, A.yz + B.yz, A.zz + B.zz)


@defines(operator.add)
def _(A: Mat3, B: Mat3) -> Any:
    return Mat3(
        A.xx + B.xx, A.xy + B.xy, A.xz + B.xz, A.yx + B.yx, A.yy + B.yy, A.yz + B.yz, A.zx + B.zx, A.zy + B.zy, A.zz + B.zz
    )  # fmt: skip


@formula
def T(A):
    """Aᵀ."""
    return Mat3(A.xx, A.yx, A.zx, A.xy, A.yy, A.zy, A.xz, A.yz, A.zz)


@formula
def full(S):
    """A symmetric matrix with all its entries."""
    return Mat3(S.xx, S.xy, S.xz, S.xy, S.yy, S.yz, S.xz, S.yz, S.zz)


@formula
def norm(a):
    """|a|."""
    return sqrt(a @ a)


@formula
def basis(n):
    """Two unit vectors that make a right-handed frame with unit n (Duff et al., J. Comput. Graph. Tech. 6, 2017)."""
    s = 1.0 if n.z >= 0.0 else -1.0
    f = -1.0 / (s + n.z)
    g = n.x * n.y * f
    return Vec3(1.0 + s * n.x * n.x * f, s * g, -s * n.x), Vec3(g, s + n.y * n.y * f, -n.y)


@formula
def plus_cross(a, b, c):
    """a + b × c: six products that add up, one instruction each."""
    return Vec3(a.x + b.y * c.z - b.z * c.y, a.y + b.z * c.x - b.x * c.z, a.z + b.x * c.y - b.y * c.x)


@formula
def plus_turned(a, R, b):
    """a + R b."""
    return Vec3(
        a.x + R.xx * b.x + R.xy * b.y + R.xz * b.z,
        a.y + R.yx * b.x + R.yy * b.y + R.yz * b.z,
        a.z + R.zx * b.x + R.zy * b.y + R.zz * b.z,
    )


@formula
def plus_skew_times(A, p, M):
    """A + [p]× M."""
    return Mat3(
        A.xx + p.y * M.zx - p.z * M.yx, A.xy + p.y * M.zy - p.z * M.yy, A.xz + p.y * M.zz - p.z * M.yz,
        A.yx + p.z * M.xx - p.x * M.zx, A.yy + p.z * M.xy - p.x * M.zy, A.yz + p.z * M.xz - p.x * M.zz,
        A.zx + p.x * M.yx - p.y * M.xx, A.zy + p.x * M.yy - p.y * M.xy, A.zz + p.x * M.yz - p.y * M.xz,
    )  # fmt: skip


@formula
def skew_times(p, M):
    """[p]× M."""
    return Mat3(
        p.y * M.zx - p.z * M.yx, p.y * M.zy - p.z * M.yy, p.y * M.zz - p.z * M.yz,
        p.z * M.xx - p.x * M.zx, p.z * M.xy - p.x * M.zy, p.z * M.xz - p.x * M.zz,
        p.x * M.yx - p.y * M.xx, p.x * M.yy - p.y * M.xy, p.x * M.yz - p.y * M.xz,
    )  # fmt: skip


@formula
def turned(R, S):
    """R S Rᵀ for symmetric S."""
    Q = R @ full(S)
    return Sym3(
        Q.xx * R.xx + Q.xy * R.xy + Q.xz * R.xz, Q.xx * R.yx + Q.xy * R.yy + Q.xz * R.yz, Q.xx * R.zx + Q.xy * R.zy + Q.xz * R.zz,
        Q.yx * R.yx + Q.yy * R.yy + Q.yz * R.yz, Q.yx * R.zx + Q.yy * R.zy + Q.yz * R.zz, Q.zx * R.zx + Q.zy * R.zy + Q.zz * R.zz,
    )  # fmt: skip


# --- poses ------------------------------------------------------------------------------------------------------


@defines(operator.matmul)
def _(X: Pose, Y: Pose) -> Any:
    return Pose(X.R @ Y.R, plus_turned(X.p, X.R, Y.p))


@formula
def inverse(X):
    """X⁻¹ = (Rᵀ, −Rᵀ p)."""
    Rt = T(X.R)
    return Pose(Rt, -(Rt @ X.p))


@formula
def turned_about_z(R, angle):
    """R Rz(angle)."""
    s, c = sincos(angle)
    return times_turn_z(R, c, s)


@inlined
def times_turn_z(R, c, s):
    """R Rz of the angle of cosine c and sine s."""
    return Mat3(
        c * R.xx + s * R.xy, c * R.xy - s * R.xx, R.xz,
        c * R.yx + s * R.yy, c * R.yy - s * R.yx, R.yz,
        c * R.zx + s * R.zy, c * R.zy - s * R.zx, R.zz,
    )  # fmt: skip


@formula
def z_column(R):
    """R e_z."""
    return Vec3(R.xz, R.yz, R.zz)


@formula
def vector_at(array, j):
    """The three numbers from j on."""
    return Vec3(array[j], array[j + 1], array[j + 2])


@formula
def column(R, i):
    """R e_i."""
    if i == 0:
        return Vec3(R.xx, R.yx, R.zx)
    if i == 1:
        return Vec3(R.xy, R.yy, R.zy)
    return Vec3(R.xz, R.yz, R.zz)


@formula
def axis(i):
    """e_i."""
    return Vec3(1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)


@formula
def quaternion_if_less(a, b, x, y):
    """x where a < b, else y."""
    return Quat(if_less(a, b, x.w, y.w), if_less(a, b, x.x, y.x), if_less(a, b, x.y, y.y), if_less(a, b, x.z, y.z))


# --- motions and forces -----------------------------------------------------------------------------------------


@defines(operator.add)
def _(a: Motion, b: Motion) -> Any:
    return Motion(a.w + b.w, a.v + b.v)


@defines(operator.sub)
def _(a: Motion, b: Motion) -> Any:
    return Motion(a.w - b.w, a.v - b.v)


@defines(operator.mul)
def _(s: float, a: Motion) -> Any:
    return Motion(s * a.w, s * a.v)


@defines(operator.add)
def _(a: Force, b: Force) -> Any:
    return Force(a.n + b.n, a.f + b.f)


@defines(operator.sub)
def _(a: Force, b: Force) -> Any:
    return Force(a.n - b.n, a.f - b.f)


@defines(operator.neg)
def _(a: Force) -> Any:
    return Force(-a.n, -a.f)


@defines(operator.mul)
def _(s: float, a: Force) -> Any:
    return Force(s * a.n, s * a.f)


@defines(operator.matmul)
def _(f: Force, m: Motion) -> Any:
    """Power of a force along a motion."""
    return f.n @ m.w + f.f @ m.v


@defines(operator.matmul)
def _(X: Pose, m: Motion) -> Any:
    w = X.R @ m.w
    return Motion(w, plus_cross(X.R @ m.v, X.p, w))


@defines(operator.matmul)
def _(X: Pose, f: Force) -> Any:
    g = X.R @ f.f
    return Force(plus_turned(cross(X.p, g), X.R, f.n), g)


@defines(to_child)
def _(X: Pose, m: Motion) -> Any:
    Rt = T(X.R)
    return Motion(Rt @ m.w, Rt @ plus_cross(m.v, m.w, X.p))


@defines(to_child)
def _(X: Pose, f: Force) -> Any:
    Rt = T(X.R)
    return Force(Rt @ plus_cross(f.n, f.f, X.p), Rt @ f.f)


@defines(cross)
def _(a: Motion, b: Motion) -> Any:
    return Motion(cross(a.w, b.w), plus_cross(cross(a.w, b.v), a.v, b.w))


@defines(cross)
def _(m: Motion, f: Force) -> Any:
    return Force(plus_cross(cross(m.w, f.n), m.v, f.f), cross(m.w, f.f))


# --- inertias ---------------------------------------------------------------------------------------------------


@defines(operator.matmul)
def _(I: RigidInertia, m: Motion) -> Any:
    return Force(plus_cross(I.I @ m.w, I.h, m.v), plus_cross(I.m * m.v, m.w, I.h))


@defines(operator.add)
def _(a: RigidInertia, b: RigidInertia) -> Any:
    return RigidInertia(a.m + b.m, a.h + b.h, a.I + b.I)


@formula
def moved_inertia(p, m, h, I):
    """About a point that p leads from: h' = h + m p,  I' = I − [p]×[h]× − [h]×[p]× − m [p]×[p]×."""
    there = h + m * p
    k, r = h + there, 0.5 * p  # k is twice that of the middle of the way
    return RigidInertia(m, there, Sym3(
        I.xx + p.y * k.y + p.z * k.z, I.xy - r.x * k.y - k.x * r.y, I.xz - r.x * k.z - k.x * r.z,
        I.yy + p.x * k.x + p.z * k.z, I.yz - r.y * k.z - k.y * r.z,
        I.zz + p.x * k.x + p.y * k.y,
    ))  # fmt: skip


@defines(operator.matmul)
def _(X: Pose, I: RigidInertia) -> Any:
    """About the parent's origin, in its axes."""
    return moved_inertia(X.p, I.m, X.R @ I.h, turned(X.R, I.I))


@defines(operator.matmul)
def _(I: ArticulatedInertia, m: Motion) -> Any:
    return Force(plus_turned(I.A @ m.w, I.B, m.v), plus_turned(I.D @ m.v, T(I.B), m.w))


@defines(operator.add)
def _(a: ArticulatedInertia, b: ArticulatedInertia) -> Any:
    return ArticulatedInertia(a.A + b.A, a.B + b.B, a.D + b.D)


@defines(operator.add)
def _(a: ArticulatedInertia, b: RigidInertia) -> Any:
    h = b.h
    B = Mat3(a.B.xx, a.B.xy - h.z, a.B.xz + h.y, a.B.yx + h.z, a.B.yy, a.B.yz - h.x, a.B.zx - h.y, a.B.zy + h.x, a.B.zz)
    D = Sym3(a.D.xx + b.m, a.D.xy, a.D.xz, a.D.yy + b.m, a.D.yz, a.D.zz + b.m)
    return ArticulatedInertia(a.A + b.I, B, D)


@formula
def moved(p, A, B, D):
    """[A B; Bᵀ D] about the parent's origin: B' = B + [p]× D,  A' = A + [p]× Bᵀ + ([p]× B'ᵀ)ᵀ."""
    C = plus_skew_times(B, p, full(D))
    x, y, z = p.x, p.y, p.z
    shifted = Sym3(
        A.xx + y * B.xz - z * B.xy + y * C.xz - z * C.xy, A.xy + y * B.yz - z * B.yy + z * C.xx - x * C.xz,
        A.xz + y * B.zz - z * B.zy + x * C.xy - y * C.xx, A.yy + z * B.yx - x * B.yz + z * C.yx - x * C.yz,
        A.yz + z * B.zx - x * B.zz + x * C.yy - y * C.yx, A.zz + x * B.zy - y * B.zx + x * C.zy - y * C.zx,
    )  # fmt: skip
    return ArticulatedInertia(shifted, C, D)


@defines(operator.matmul)
def _(X: Pose, I: ArticulatedInertia) -> Any:
    return moved(X.p, turned(X.R, I.A), X.R @ I.B @ T(X.R), turned(X.R, I.D))


@formula
def minus_outer(I, U, k):
    """I − U kᵀ for k parallel to U."""
    n, f, a, b = U.n, U.f, k.n, k.f
    return ArticulatedInertia(
        Sym3(I.A.xx - n.x * a.x, I.A.xy - n.x * a.y, I.A.xz - n.x * a.z, I.A.yy - n.y * a.y, I.A.yz - n.y * a.z, I.A.zz - n.z * a.z),
        Mat3(I.B.xx - n.x * b.x, I.B.xy - n.x * b.y, I.B.xz - n.x * b.z, I.B.yx - n.y * b.x, I.B.yy - n.y * b.y, I.B.yz - n.y * b.z,
             I.B.zx - n.z * b.x, I.B.zy - n.z * b.y, I.B.zz - n.z * b.z),
        Sym3(I.D.xx - f.x * b.x, I.D.xy - f.x * b.y, I.D.xz - f.x * b.z, I.D.yy - f.y * b.y, I.D.yz - f.y * b.z, I.D.zz - f.z * b.z),
    )  # fmt: skip


# --- axes without content ---------------------------------------------------------------------------------------


@defines(operator.mul)
def _(s: float, H: AboutZ) -> Any:
    return TurnZ(s)


@defines(operator.mul)
def _(s: float, H: AlongZ) -> Any:
    return SlideZ(s)


@defines(operator.add)
def _(a: Motion, b: TurnZ) -> Any:
    return Motion(Vec3(a.w.x, a.w.y, a.w.z + b.s), a.v)


@defines(operator.add)
def _(a: Motion, b: SlideZ) -> Any:
    return Motion(a.w, Vec3(a.v.x, a.v.y, a.v.z + b.s))


@defines(cross)
def _(a: Motion, b: TurnZ) -> Any:
    o = zero(b.s)
    return Motion(Vec3(a.w.y * b.s, -(a.w.x * b.s), o), Vec3(a.v.y * b.s, -(a.v.x * b.s), o))


@defines(cross)
def _(a: Motion, b: SlideZ) -> Any:
    o = zero(b.s)
    return Motion(Vec3(o, o, o), Vec3(a.w.y * b.s, -(a.w.x * b.s), o))


@defines(operator.matmul)
def _(f: Force, H: AboutZ) -> Any:
    return f.n.z


@defines(operator.matmul)
def _(f: Force, H: AlongZ) -> Any:
    return f.f.z


@defines(operator.matmul)
def _(X: Pose, H: AboutZ) -> Any:
    z = z_column(X.R)
    return Motion(z, cross(X.p, z))


@defines(operator.matmul)
def _(X: Pose, H: AlongZ) -> Any:
    o = zero(X.p.x)
    return Motion(Vec3(o, o, o), z_column(X.R))


@defines(operator.matmul)
def _(I: ArticulatedInertia, H: AboutZ) -> Any:
    return Force(Vec3(I.A.xz, I.A.yz, I.A.zz), Vec3(I.B.zx, I.B.zy, I.B.zz))


@defines(operator.matmul)
def _(I: ArticulatedInertia, H: AlongZ) -> Any:
    return Force(Vec3(I.B.xz, I.B.yz, I.B.zz), Vec3(I.D.xz, I.D.yz, I.D.zz))


@defines(operator.matmul)
def _(I: RigidInertia, H: AboutZ) -> Any:
    o = zero(I.m)
    return Force(Vec3(I.I.xz, I.I.yz, I.I.zz), Vec3(-I.h.y, I.h.x, o))


@defines(operator.matmul)
def _(I: RigidInertia, H: AlongZ) -> Any:
    o = zero(I.m)
    return Force(Vec3(I.h.y, -I.h.x, o), Vec3(o, o, I.m))


# --- rotations by quaternion --------------------------------------------------------------------------------------


@formula
def rotation(q):
    """R of the quaternion q, which need not be unit: R = R(q/|q|)."""
    s = 2.0 / (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z)
    x, y, z = s * q.x, s * q.y, s * q.z
    wx, wy, wz = q.w * x, q.w * y, q.w * z
    xx, xy, xz = q.x * x, q.x * y, q.x * z
    yy, yz, zz = q.y * y, q.y * z, q.z * z
    return Mat3(1.0 - (yy + zz), xy - wz, xz + wy, xy + wz, 1.0 - (xx + zz), yz - wx, xz - wy, yz + wx, 1.0 - (xx + yy))


@defines(operator.mul)
def _(s: float, q: Quat) -> Any:
    return Quat(s * q.w, s * q.x, s * q.y, s * q.z)


@defines(operator.matmul)
def _(a: Quat, b: Quat) -> Any:
    """The product of quaternions."""
    return Quat(
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    )


@formula
def normalized(q):
    """q/|q|."""
    return (1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z)) * q


@formula
def exp_quaternion(phi):
    """The unit quaternion of the rotation vector φ: (cos ½θ, sin(½θ)/θ φ); a series where θ² < 1e-6."""
    squared = phi @ phi
    theta = sqrt(if_less(squared, 1e-6, zero(squared) + 1.0, squared))
    series = 0.5 - squared * (1.0 / 48.0 - squared * (1.0 / 3840.0))
    sine, cosine = sincos(0.5 * theta)
    s = if_less(squared, 1e-6, series, sine / theta)
    w = if_less(squared, 1e-6, 1.0 - squared * (0.125 - squared * (1.0 / 384.0)), cosine)
    return Quat(w, s * phi.x, s * phi.y, s * phi.z)


@formula
def log_quaternion(q):
    """The rotation vector φ, |φ| ≤ π, of the unit quaternion q: φ = 2 atan2(|u|, w)/|u| u with w ≥ 0."""
    sign = if_less(q.w, 0.0, zero(q.w) - 1.0, zero(q.w) + 1.0)
    w, u = sign * q.w, sign * Vec3(q.x, q.y, q.z)
    squared = u @ u
    n = sqrt(if_less(squared, 1e-14, zero(squared) + 1.0, squared))
    s = if_less(squared, 1e-14, 2.0 / w, 2.0 * atan2(n, w) / n)
    return s * u


@formula
def right_jacobian_inverse_times(phi, a):
    """Jᵣ⁻¹(φ) a = a + ½ φ × a + β φ × (φ × a), β = (1 − ½θ cot ½θ)/θ²: the rate of φ when the body turns at a."""
    squared = phi @ phi
    theta = sqrt(if_less(squared, 1e-4, zero(squared) + 1.0, squared))
    series = 1.0 / 12.0 + squared * (1.0 / 720.0 + squared * (1.0 / 30240.0))
    s, c = sincos(0.5 * theta)
    beta = if_less(squared, 1e-4, series, (1.0 - 0.5 * theta * c / s) / (theta * theta))
    b = cross(phi, a)
    return a + 0.5 * b + beta * cross(phi, b)


@formula
def left_jacobian_times(phi, a):
    """Jₗ(φ) a = a + b φ × a + c φ × (φ × a), b = (1 − cos θ)/θ², c = (θ − sin θ)/θ³: the translation of a screw."""
    squared = phi @ phi
    theta = sqrt(if_less(squared, 1e-4, zero(squared) + 1.0, squared))
    half = sin(0.5 * theta) / theta
    b = if_less(squared, 1e-4, 0.5 - squared * (1.0 / 24.0 - squared * (1.0 / 720.0)), 2.0 * half * half)
    c_series = 1.0 / 6.0 - squared * (1.0 / 120.0 - squared * (1.0 / 5040.0))
    c = if_less(squared, 1e-4, c_series, (theta - sin(theta)) / (theta * theta * theta))
    m = cross(phi, a)
    return a + b * m + c * cross(phi, m)
