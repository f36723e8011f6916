"""Inverse inertias: the motions that forces give, and what the constraint force algorithm does with them.

A body's inverse inertia is (1/m, c, J⁻¹ about the centre of mass c):

    I⁻¹ (n, f) = (ω, f/m + c × ω),   ω = J⁻¹ (n − c × f)

A mobility is the block matrix [A B; Bᵀ D] that takes a force (n, f) to a motion (ω, v): I⁻¹ in full, or the inverse of
an articulated inertia. Of a joint about z the constraint forces are the five that `Five` holds, (n_x, n_y, f_x, f_y, f_z).
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from nexdyn.generic import defines
from nexdyn.kernel import formula, inlined
from nexdyn.spatial.algebra import Force, Mat3, Motion, Sym3, T, Vec3, cross, full


class InverseInertia(NamedTuple):
    w: float
    c: Vec3
    J: Sym3


class Mobility(NamedTuple):
    A: Sym3
    B: Mat3
    D: Sym3


class Five(NamedTuple):
    a: float
    b: float
    c: float
    d: float
    e: float


class Factor5(NamedTuple):
    """L (unit, below the diagonal) and the reciprocals r of D of a symmetric 5 × 5 matrix L D Lᵀ."""

    ba: float
    ca: float
    da: float
    ea: float
    cb: float
    db: float
    eb: float
    dc: float
    ec: float
    ed: float
    r: Five


@defines(operator.matmul)
def _(I: InverseInertia, F: Force) -> Any:
    w: Any = I.J @ (F.n - cross(I.c, F.f))
    v: Any = I.w * F.f + cross(I.c, w)
    return Motion(w, v)


@defines(operator.matmul)
def _(M: Mobility, F: Force) -> Any:
    return Motion(M.A @ F.n + M.B @ F.f, T(M.B) @ F.n + M.D @ F.f)


@defines(operator.add)
def _(a: Mobility, b: Mobility) -> Any:
    return Mobility(a.A + b.A, a.B + b.B, a.D + b.D)


@formula
def mobility(I):
    """I⁻¹ in full: [J⁻¹, −J⁻¹ [c]×; …, 1/m − [c]× J⁻¹ [c]×]."""
    c, J = I.c, I.J
    B = times_skew(full(J), -c)
    D = Sym3(
        I.w + c.y * B.zx - c.z * B.yx, c.y * B.zy - c.z * B.yy, c.y * B.zz - c.z * B.yz,
        I.w + c.z * B.xy - c.x * B.zy, c.z * B.xz - c.x * B.zz, I.w + c.x * B.yz - c.y * B.xz,
    )  # fmt: skip
    return Mobility(J, B, D)


@formula
def mobility_less(M, r, z):
    """M − r z zᵀ for a motion z."""
    w, v, a, b = z.w, z.v, r * z.w, r * z.v
    A, B, D = M.A, M.B, M.D
    return Mobility(
        Sym3(A.xx - a.x * w.x, A.xy - a.x * w.y, A.xz - a.x * w.z, A.yy - a.y * w.y, A.yz - a.y * w.z, A.zz - a.z * w.z),
        Mat3(B.xx - a.x * v.x, B.xy - a.x * v.y, B.xz - a.x * v.z, B.yx - a.y * v.x, B.yy - a.y * v.y, B.yz - a.y * v.z,
             B.zx - a.z * v.x, B.zy - a.z * v.y, B.zz - a.z * v.z),
        Sym3(D.xx - b.x * v.x, D.xy - b.x * v.y, D.xz - b.x * v.z, D.yy - b.y * v.y, D.yz - b.y * v.z, D.zz - b.z * v.z),
    )  # fmt: skip


# --- turns about z ------------------------------------------------------------------------------------------------


@formula
def turned_back_z(c, s, a):
    """Rzᵀ a of a vector."""
    return Vec3(c * a.x + s * a.y, c * a.y - s * a.x, a.z)


@formula
def symmetric_turned_z(c, s, S):
    """Rz S Rzᵀ."""
    cc, ss, cs = c * c, s * s, c * s
    m = 2.0 * cs * S.xy
    return Sym3(
        cc * S.xx + ss * S.yy - m, cs * (S.xx - S.yy) + (cc - ss) * S.xy, c * S.xz - s * S.yz,
        ss * S.xx + cc * S.yy + m, s * S.xz + c * S.yz, S.zz,
    )  # fmt: skip


@formula
def matrix_turned_z(c, s, B):
    """Rz B Rzᵀ."""
    xx, xy = c * B.xx - s * B.yx, c * B.xy - s * B.yy
    yx, yy = s * B.xx + c * B.yx, s * B.xy + c * B.yy
    return Mat3(
        c * xx - s * xy, s * xx + c * xy, c * B.xz - s * B.yz,
        c * yx - s * yy, s * yx + c * yy, s * B.xz + c * B.yz,
        c * B.zx - s * B.zy, s * B.zx + c * B.zy, B.zz,
    )  # fmt: skip


@formula
def mobility_turned_z(c, s, M):
    """M of a frame turned about z by the angle of cosine c and sine s."""
    return Mobility(symmetric_turned_z(c, s, M.A), matrix_turned_z(c, s, M.B), symmetric_turned_z(c, s, M.D))


# --- the five constraint forces of a joint about z -----------------------------------------------------------------


@formula
def across_z(m):
    """Wᵀ m of a motion."""
    return Five(m.w.x, m.w.y, m.v.x, m.v.y, m.v.z)


@formula
def force_across_z(x, t):
    """W x + t (e_z, 0)."""
    return Force(Vec3(x.a, x.b, t), Vec3(x.c, x.d, x.e))


@defines(operator.add)
def _(x: Five, y: Five) -> Any:
    return Five(x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d, x.e + y.e)


@defines(operator.sub)
def _(x: Five, y: Five) -> Any:
    return Five(x.a - y.a, x.b - y.b, x.c - y.c, x.d - y.d, x.e - y.e)


@defines(operator.mul)
def _(s: float, x: Five) -> Any:
    return Five(s * x.a, s * x.b, s * x.c, s * x.d, s * x.e)


@formula
def scaled(x, y):
    """x with its entries times those of y."""
    return Five(x.a * y.a, x.b * y.b, x.c * y.c, x.d * y.d, x.e * y.e)


@formula
def dot5(x, y):
    """xᵀ y."""
    return x.a * y.a + x.b * y.b + x.c * y.c + x.d * y.d + x.e * y.e


@formula
def factor_across_z(M, least):
    """L D Lᵀ of Wᵀ M W, and whether D > least."""
    A, B, D = M.A, M.B, M.D
    d1 = A.xx
    r1 = 1.0 / d1
    ba, ca, da, ea = r1 * A.xy, r1 * B.xx, r1 * B.xy, r1 * B.xz
    d2 = A.yy - ba * A.xy
    r2 = 1.0 / d2
    bc, bd, be = B.yx - ba * B.xx, B.yy - ba * B.xy, B.yz - ba * B.xz
    cb, db, eb = r2 * bc, r2 * bd, r2 * be
    d3 = D.xx - ca * B.xx - cb * bc
    r3 = 1.0 / d3
    cd, ce = D.xy - ca * B.xy - cb * bd, D.xz - ca * B.xz - cb * be
    dc, ec = r3 * cd, r3 * ce
    d4 = D.yy - da * B.xy - db * bd - dc * cd
    r4 = 1.0 / d4
    de = D.yz - da * B.xz - db * be - dc * ce
    ed = r4 * de
    d5 = D.zz - ea * B.xz - eb * be - ec * ce - ed * de
    r5 = 1.0 / d5
    sound = (d1 > least.a) & (d2 > least.b) & (d3 > least.c) & (d4 > least.d) & (d5 > least.e)
    return Factor5(ba, ca, da, ea, cb, db, eb, dc, ec, ed, Five(r1, r2, r3, r4, r5)), sound


@formula
def column_about_z(M):
    """Wᵀ M (e_z, 0)."""
    return Five(M.A.xz, M.A.yz, M.B.zx, M.B.zy, M.B.zz)


@formula
def lower_solve(L, x):
    """L⁻¹ x."""
    b = x.b - L.ba * x.a
    c = x.c - L.ca * x.a - L.cb * b
    d = x.d - L.da * x.a - L.db * b - L.dc * c
    return Five(x.a, b, c, d, x.e - L.ea * x.a - L.eb * b - L.ec * c - L.ed * d)


@formula
def upper_solve(L, x):
    """L⁻ᵀ x."""
    d = x.d - L.ed * x.e
    c = x.c - L.ec * x.e - L.dc * d
    b = x.b - L.eb * x.e - L.db * d - L.cb * c
    return Five(x.a - L.ea * x.e - L.da * d - L.ca * c - L.ba * b, b, c, d, x.e)


@formula
def solve_across_z(L, x):
    """(L D Lᵀ)⁻¹ x."""
    return upper_solve(L, scaled(L.r, lower_solve(L, x)))


class Coupling5(NamedTuple):
    """Y = M X W of a joint about z: a row a component of the motion, a column a constraint force; y is M X (e_z, 0)."""

    wx: Five
    wy: Five
    wz: Five
    vx: Five
    vy: Five
    vz: Five
    y: Motion


@formula
def coupled(Y, x, t):
    """Y x + t y."""
    return Motion(
        Vec3(dot5(Y.wx, x) + t * Y.y.w.x, dot5(Y.wy, x) + t * Y.y.w.y, dot5(Y.wz, x) + t * Y.y.w.z),
        Vec3(dot5(Y.vx, x) + t * Y.y.v.x, dot5(Y.vy, x) + t * Y.y.v.y, dot5(Y.vz, x) + t * Y.y.v.z),
    )


@formula
def coupled_back(Y, F):
    """Yᵀ F."""
    n, f = F.n, F.f
    return n.x * Y.wx + n.y * Y.wy + n.z * Y.wz + f.x * Y.vx + f.y * Y.vy + f.z * Y.vz


@inlined
def less_coupled(M, Y, L):
    """M − Y (L D Lᵀ)⁻¹ Yᵀ."""
    a, b, c = lower_solve(L, Y.wx), lower_solve(L, Y.wy), lower_solve(L, Y.wz)
    d, e, f = lower_solve(L, Y.vx), lower_solve(L, Y.vy), lower_solve(L, Y.vz)
    ra, rb, rc = scaled(L.r, a), scaled(L.r, b), scaled(L.r, c)
    rd, re, rf = scaled(L.r, d), scaled(L.r, e), scaled(L.r, f)
    A, B, D = M.A, M.B, M.D
    return Mobility(
        Sym3(A.xx - dot5(a, ra), A.xy - dot5(a, rb), A.xz - dot5(a, rc),
             A.yy - dot5(b, rb), A.yz - dot5(b, rc), A.zz - dot5(c, rc)),
        Mat3(B.xx - dot5(a, rd), B.xy - dot5(a, re), B.xz - dot5(a, rf),
             B.yx - dot5(b, rd), B.yy - dot5(b, re), B.yz - dot5(b, rf),
             B.zx - dot5(c, rd), B.zy - dot5(c, re), B.zz - dot5(c, rf)),
        Sym3(D.xx - dot5(d, rd), D.xy - dot5(d, re), D.xz - dot5(d, rf),
             D.yy - dot5(e, re), D.yz - dot5(e, rf), D.zz - dot5(f, rf)),
    )  # fmt: skip


@inlined
def seen_from(X, M):
    """M of the parent's frame as forces in the child's frame feel it: P̂ᵀ M P̂ and M P̂, in the frame of X = (R, p)."""
    R, Rt = X.R, T(X.R)
    # M P̂ (n, f): the parent's force is (R n + p × R f, R f)
    An, B, Dn = full(M.A), M.B, full(M.D)
    wn, vn = An @ R, T(B) @ R
    # the columns of f: (A [p]× + B) R,  (Bᵀ [p]× + D) R
    wf, vf = (times_skew(An, X.p) + B) @ R, (times_skew(T(B), X.p) + Dn) @ R
    # the child sees Rᵀ ω and Rᵀ (v − p × ω)
    Ac, Bc, Dc = Rt @ wn, Rt @ wf, Rt @ (vf + skew_negated(X.p, wf))
    seen = Mobility(
        Sym3(Ac.xx, Ac.xy, Ac.xz, Ac.yy, Ac.yz, Ac.zz), Bc, Sym3(Dc.xx, Dc.xy, Dc.xz, Dc.yy, Dc.yz, Dc.zz)
    )  # fmt: skip
    return seen, wn, wf, vn, vf


@formula
def times_skew(A, p):
    """A [p]×."""
    return Mat3(
        A.xy * p.z - A.xz * p.y, A.xz * p.x - A.xx * p.z, A.xx * p.y - A.xy * p.x,
        A.yy * p.z - A.yz * p.y, A.yz * p.x - A.yx * p.z, A.yx * p.y - A.yy * p.x,
        A.zy * p.z - A.zz * p.y, A.zz * p.x - A.zx * p.z, A.zx * p.y - A.zy * p.x,
    )  # fmt: skip


@formula
def skew_negated(p, M):
    """−[p]× M."""
    return Mat3(
        p.z * M.yx - p.y * M.zx, p.z * M.yy - p.y * M.zy, p.z * M.yz - p.y * M.zz,
        p.x * M.zx - p.z * M.xx, p.x * M.zy - p.z * M.xy, p.x * M.zz - p.z * M.xz,
        p.y * M.xx - p.x * M.yx, p.y * M.xy - p.x * M.yy, p.y * M.xz - p.x * M.yz,
    )  # fmt: skip


@formula
def coupling_about_z(wn, wf, vn, vf):
    """Y of `Coupling5` from the four blocks of M P̂."""
    return Coupling5(
        Five(wn.xx, wn.xy, wf.xx, wf.xy, wf.xz), Five(wn.yx, wn.yy, wf.yx, wf.yy, wf.yz), Five(wn.zx, wn.zy, wf.zx, wf.zy, wf.zz),
        Five(vn.xx, vn.xy, vf.xx, vf.xy, vf.xz), Five(vn.yx, vn.yy, vf.yx, vf.yy, vf.yz), Five(vn.zx, vn.zy, vf.zx, vf.zy, vf.zz),
        Motion(Vec3(wn.xz, wn.yz, wn.zz), Vec3(vn.xz, vn.yz, vn.zz)),
    )  # fmt: skip
