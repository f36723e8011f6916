"""An orientation that follows one of the time:  C = φ = log(R_W(t)ᵀ R) = 0,   R = R_Aᵀ R_B,  |φ| ≤ π.

With φ = log Q, the rates Ω of Q in its own axes, ω_W and α_W those of R_W in the axes of W, u = Qᵀ ω_W and u̇ = u × Ω + Qᵀ α_W:

    φ̇ = Jᵣ⁻¹(φ) Ω,   Ω = ω − u,   ω = R_Bᵀ (ω_b − ω_a)
    g_i of component i:  n = R_B Jᵣ⁻¹(−φ) e_i,   g = (−n, 0, n, 0),   C_t = −Jᵣ⁻¹(φ) u
    Γ(V, V') = Jᵣ⁻¹(φ) ω̇(V, V') + B(ω, ω'),   ω̇(V, V') = ½ R_Bᵀ (ω_b × ω_a' + ω_b' × ω_a)
    2 C_qt v + C_tt = −Jᵣ⁻¹(φ) (u × ω + Qᵀ α_W) − 2 B(ω, u) + B(u, u)

    B(a, b) = ½ (D_a Jᵣ⁻¹ b + D_b Jᵣ⁻¹ a),   D_a Jᵣ⁻¹ b = ½ p × b + β (p × (φ × b) + φ × (p × b)) + β′/θ (φ · p) φ × (φ × b),   p = Jᵣ⁻¹ a

Jᵣ and β are those of ``spatial.algebra``. No orientation is singular: only where B is half a turn from what is wanted φ has two values.

R_W comes from functions of the time and their derivatives, of one of

    rotation vector ρ        e = (cos ½θ, k ρ),  k = sin(½θ)/θ,  θ = |ρ|
    quaternion e             of any length but 0
    yaw ψ, pitch ϑ, roll ϕ   R_W = Rz(ψ) Ry(ϑ) Rx(ϕ),   ω_W = (ϕ̇ − ψ̇ sin ϑ, ϑ̇ cos ϕ + ψ̇ cos ϑ sin ϕ, ψ̇ cos ϑ cos ϕ − ϑ̇ sin ϕ)

    of a quaternion:  ω_W = 2 vec(ē ė)/|e|²,   α_W = 2 vec(ē ë)/|e|² − 2 (e · ė)/|e|² ω_W

Data: which of the three, then the rows of its functions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from nexdyn.constraints.pair import PairVelocity
from nexdyn.kernel import formula, outlined
from nexdyn.model.time_kernels import next_row, time_jet
from nexdyn.spatial.algebra import (
    Quat,
    T,
    Vec3,
    cross,
    exp_quaternion,
    log_quaternion,
    normalized,
    right_jacobian_inverse_times,
    rotation,
)

VECTOR, QUATERNION, ANGLES = range(3)
SMALL = 1e-2
"""θ² below which series stand for β′/θ."""
NEAR = 0.25
"""|ρ|² below which series stand for k and its derivatives."""


class Wanted(NamedTuple):
    """What is wanted: the unit quaternion of R_W, ω_W, α_W."""

    e: Quat
    w: Vec3
    alpha: Vec3


# --- what is wanted ---------------------------------------------------------------------------------------------------


@formula
def vector_of(a, b):
    """vec(ā b) of two quaternions."""
    p = Quat(a.w, -a.x, -a.y, -a.z) @ b
    return Vec3(p.x, p.y, p.z)


@formula
def dot(a, b):
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z


@formula
def of_quaternion(e, de, dde):
    """R_W of a quaternion of any length."""
    n = dot(e, e)
    w = (2.0 / n) * vector_of(e, de)
    return Wanted(normalized(e), w, (2.0 / n) * vector_of(e, dde) - (2.0 * dot(e, de) / n) * w)


@formula
def half_sine(s):
    """k, dk/ds, d²k/ds² of k = sin(½√s)/√s."""
    if s < NEAR:
        # k = Σ a_n sⁿ,  a_0 = ½,  a_n = −a_n−1/(8 n (2 n + 1)); Horner's scheme from n = 7 on
        k, dk, half = 0.0, 0.0, 0.0
        for m in range(8):
            n = 7 - m
            a = 0.5
            for i in range(1, n + 1):
                a = -a / (8.0 * i * (2.0 * i + 1.0))
            half = half * s + dk
            dk = dk * s + k
            k = k * s + a
        return k, dk, 2.0 * half
    r = math.sqrt(s)
    k, c = math.sin(0.5 * r) / r, math.cos(0.5 * r)
    dk = (0.25 * c - 0.5 * k) / s
    return k, dk, -(0.0625 * k + 1.5 * dk) / s


@formula
def of_vector(r, dr, ddr):
    """R_W of a rotation vector: of e = (c, k ρ), c = cos(½√s), s = ρ · ρ, dc/ds = −¼ k."""
    s, ds = r @ r, 2.0 * (r @ dr)
    dds = 2.0 * (dr @ dr + r @ ddr)
    k, k1, k2 = half_sine(s)
    dk, ddk = k1 * ds, k2 * ds * ds + k1 * dds
    v, dv, ddv = k * r, dk * r + k * dr, ddk * r + (2.0 * dk) * dr + k * ddr
    return of_quaternion(
        Quat(math.cos(0.5 * math.sqrt(s)), v.x, v.y, v.z), Quat(-0.25 * k * ds, dv.x, dv.y, dv.z),
        Quat(-0.25 * (dk * ds + k * dds), ddv.x, ddv.y, ddv.z),
    )  # fmt: skip


@formula
def turn(axis, angle):
    """The quaternion of a turn about a unit axis."""
    s = math.sin(0.5 * angle)
    return Quat(math.cos(0.5 * angle), s * axis.x, s * axis.y, s * axis.z)


@formula
def of_angles(yaw, pitch, roll):
    """R_W of the three angles, each with its rate and second derivative."""
    (y, dy, ddy), (p, dp, ddp), (r, dr, ddr) = yaw, pitch, roll
    sp, cp, sr, cr = math.sin(p), math.cos(p), math.sin(r), math.cos(r)
    e = turn(Vec3(0.0, 0.0, 1.0), y) @ turn(Vec3(0.0, 1.0, 0.0), p) @ turn(Vec3(1.0, 0.0, 0.0), r)
    w = Vec3(dr - dy * sp, dp * cr + dy * cp * sr, dy * cp * cr - dp * sr)
    alpha = Vec3(
        ddr - ddy * sp - dy * dp * cp,
        ddp * cr - dp * dr * sr + ddy * cp * sr - dy * dp * sp * sr + dy * dr * cp * cr,
        ddy * cp * cr - dy * dp * sp * cr - dy * dr * cp * sr - ddp * sr - dp * dr * cr,
    )
    return Wanted(e, w, alpha)


@formula
def wanted(data, k, t):
    first = k + 1
    second_ = next_row(data, first)
    third = next_row(data, second_)
    a, b, c = time_jet(data, first, t), time_jet(data, second_, t), time_jet(data, third, t)
    if data[k] == ANGLES:
        return of_angles(a, b, c)
    if data[k] == VECTOR:
        return of_vector(Vec3(a[0], b[0], c[0]), Vec3(a[1], b[1], c[1]), Vec3(a[2], b[2], c[2]))
    d = time_jet(data, next_row(data, third), t)
    return of_quaternion(Quat(a[0], b[0], c[0], d[0]), Quat(a[1], b[1], c[1], d[1]), Quat(a[2], b[2], c[2], d[2]))


# --- what is missed ---------------------------------------------------------------------------------------------------


@formula
def quaternion_of(R):
    """A unit quaternion of R, from its largest component."""
    trace = R.xx + R.yy + R.zz
    if trace > 0.0:
        return normalized(Quat(1.0 + trace, R.zy - R.yz, R.xz - R.zx, R.yx - R.xy))
    if R.xx >= R.yy and R.xx >= R.zz:
        return normalized(Quat(R.zy - R.yz, 1.0 + R.xx - R.yy - R.zz, R.xy + R.yx, R.xz + R.zx))
    if R.yy >= R.zz:
        return normalized(Quat(R.xz - R.zx, R.xy + R.yx, 1.0 + R.yy - R.xx - R.zz, R.yz + R.zy))
    return normalized(Quat(R.yx - R.xy, R.xz + R.zx, R.yz + R.zy, 1.0 + R.zz - R.xx - R.yy))


@formula
def missed(pair, e):
    """φ."""
    q = quaternion_of(T(pair.R_A) @ pair.R_B)
    return log_quaternion(Quat(e.w, -e.x, -e.y, -e.z) @ q)


@formula
def relative(pair, V):
    """ω, in the axes of B."""
    return T(pair.R_B) @ (V.w_b - V.w_a)


@formula
def beta_of(squared):
    """β and β′/θ at θ²."""
    if squared < SMALL:
        beta = 1.0 / 12.0 + squared * (1.0 / 720.0 + squared * (1.0 / 30240.0 + squared * (1.0 / 1209600.0)))
        return beta, 1.0 / 360.0 + squared * (1.0 / 7560.0 + squared * (1.0 / 201600.0))
    theta = math.sqrt(squared)
    s, c = math.sin(0.5 * theta), math.cos(0.5 * theta)
    beta = (1.0 - 0.5 * theta * c / s) / squared
    return beta, ((0.25 * theta / (s * s) - 0.5 * c / s) / theta - 2.0 * beta) / squared


@formula
def turning(phi, a, b):
    """D_a Jᵣ⁻¹ b."""
    beta, slope = beta_of(phi @ phi)
    p, m = right_jacobian_inverse_times(phi, a), cross(phi, b)
    return 0.5 * cross(p, b) + beta * (cross(p, m) + cross(phi, cross(p, b))) + (slope * (phi @ p)) * cross(phi, m)


@formula
def both(phi, a, b):
    """B(a, b)."""
    return 0.5 * (turning(phi, a, b) + turning(phi, b, a))


@formula
def component(a, i):
    if i == 0:
        return a.x
    return a.y if i == 1 else a.z


# --- the row of component i -------------------------------------------------------------------------------------------


@outlined
def value(data, k, i, pair, t):
    return component(missed(pair, wanted(data, k, t).e), i)


@outlined
def gradient(data, k, i, pair, t):
    phi = missed(pair, wanted(data, k, t).e)
    axis = Vec3(1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
    n, o = pair.R_B @ right_jacobian_inverse_times(-phi, axis), Vec3(0.0, 0.0, 0.0)
    return PairVelocity(-n, o, n, o)


@outlined
def second(data, k, i, pair, t, V, V_):
    """Γ(V, V')."""
    phi = missed(pair, wanted(data, k, t).e)
    turn = 0.5 * (T(pair.R_B) @ (cross(V.w_b, V_.w_a) + cross(V_.w_b, V.w_a)))
    w, w_ = relative(pair, V), relative(pair, V_)
    return component(right_jacobian_inverse_times(phi, turn) + both(phi, w, w_), i)


@outlined
def explicit_rate(data, k, i, pair, t):
    """C_t."""
    lead = wanted(data, k, t)
    phi = missed(pair, lead.e)
    return -component(right_jacobian_inverse_times(phi, turned_back(phi, lead.w)), i)


@formula
def turned_back(phi, a):
    """Qᵀ a,  Q = exp(φ)."""
    return T(rotation(exp_quaternion(phi))) @ a


@outlined
def explicit_second(data, k, i, pair, t, V):
    """2 C_qt v + C_tt."""
    lead, w = wanted(data, k, t), relative(pair, V)
    phi = missed(pair, lead.e)
    u, alpha = turned_back(phi, lead.w), turned_back(phi, lead.alpha)
    moving = right_jacobian_inverse_times(phi, cross(u, w) + alpha)
    return component(both(phi, u, u) - 2.0 * both(phi, w, u) - moving, i)
