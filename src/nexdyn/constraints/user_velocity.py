"""Velocity rows of your own: a linear function of how B moves in A,

    a_x(x, R, t) · ẋ + a_θ(x, R, t) · ω + b(x, R, t) = 0,   x = R_Aᵀ d,  R = R_Aᵀ R_B,  ω = R_Bᵀ (ω_b − ω_a)

    u = R_A a_x,  n = R_B a_θ,   g = (u × (d + s_A) − n, −u, s_B × u + n, u),   ν = −b
    Γ(V, V) = a_x · ẍ + a_θ · ω̇ + D_V a · (ẋ, ω),   γ = −Γ − D_t a · (ẋ, ω) − D_V b − D_t b

as in ``constraints.user``, whose C_x, C_θ, C_t stand for a_x, a_θ, b where such a row is the rate of a position row.
D is the derivative along a direction, by a central difference of fourth order over ±h, ±2h.
"""

from __future__ import annotations

from nexdyn.constraints import point
from nexdyn.constraints.pair import PairVelocity
from nexdyn.constraints.user import NAN, NAN7, Change, Given, change, moved, seen, size_of
from nexdyn.kernel import kernel
from nexdyn.model.callbacks import call
from nexdyn.spatial.algebra import T, Vec3, cross

STEP = 1e-3


@kernel
def coefficients(data, k, z):
    """(a_x, a_θ, b); NaN where the function fails."""
    status, g = call(Given(data, k).function, z.t, (z.x, z.R), NAN7)
    if status != 0:
        return Change(Vec3(NAN, NAN, NAN), Vec3(NAN, NAN, NAN), NAN)
    return Change(Vec3(g[0], g[1], g[2]), Vec3(g[3], g[4], g[5]), g[6])


@kernel
def along(data, k, z, a):
    """D_a of the coefficients."""
    size = size_of(data, k, a)
    if size == 0.0:
        return Change(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), 0.0)
    h = STEP / size
    p, m = coefficients(data, k, moved(z, h, a)), coefficients(data, k, moved(z, -h, a))
    p2, m2 = coefficients(data, k, moved(z, 2.0 * h, a)), coefficients(data, k, moved(z, -2.0 * h, a))
    c, d = 2.0 / (3.0 * h), -1.0 / (12.0 * h)
    return Change(
        c * (p.x - m.x) + d * (p2.x - m2.x), c * (p.w - m.w) + d * (p2.w - m2.w), c * (p.t - m.t) + d * (p2.t - m2.t)
    )


@kernel
def gradient(data, k, pair, t):
    C = coefficients(data, k, seen(pair, t))
    g, n = point.gradient(pair, C.x), pair.R_B @ C.w
    return PairVelocity(g.w_a - n, g.v_a, g.w_b + n, g.v_b)


@kernel
def second(data, k, pair, t, V, V_):
    """Γ(V, V'), symmetric."""
    z = seen(pair, t)
    C = coefficients(data, k, z)
    a, b = change(pair, V, 0.0), change(pair, V_, 0.0)
    A, B = along(data, k, z, a), along(data, k, z, b)
    turning = 0.5 * (T(pair.R_B) @ (cross(V.w_b, V_.w_a) + cross(V_.w_b, V.w_a)))
    varying = 0.5 * (A.x @ b.x + A.w @ b.w + B.x @ a.x + B.w @ a.w)
    return C.x @ point.second_rate(pair, V, V_) + C.w @ turning + varying


@kernel
def explicit_rate(data, k, pair, t):
    """b."""
    return coefficients(data, k, seen(pair, t)).t


@kernel
def explicit_second(data, k, pair, t, V):
    """D_t a · (ẋ, ω) + D_V b + D_t b."""
    z, o = seen(pair, t), Vec3(0.0, 0.0, 0.0)
    a = change(pair, V, 0.0)
    now, moving = along(data, k, z, Change(o, o, 1.0)), along(data, k, z, a)
    return now.x @ a.x + now.w @ a.w + moving.t + now.t
