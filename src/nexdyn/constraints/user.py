"""Rows of your own: C(x, R, t) of where B is in A,  x = R_Aᵀ d,  R = R_Aᵀ R_B,  and of the time.

With z = (x, θ, t), where θ turns R exp(θ), and ż = (ẋ, ω, 1), ω = R_Bᵀ (ω_b − ω_a):

    Ċ = C_x · ẋ + C_θ · ω + C_t:   u = R_A C_x,  n = R_B C_θ,   g = (u × (d + s_A) − n, −u, s_B × u + n, u)
    Γ(V, V') = C_x · ẍ(V, V') + C_θ · ω̇(V, V') + (ẋ, ω)ᵀ C″ (ẋ', ω'),   ω̇(V, V') = ½ R_Bᵀ (ω_b × ω_a' + ω_b' × ω_a)
    ν = −C_t,   γ = −Γ(V, V) − 2 C″_t · (ẋ, ω) − C_tt

C″ is the second derivative of C(x + δ, R exp(θ), t + τ) at 0. What is not given of the derivatives is differenced:
C″(a, b) of directions a, b from the gradient along a, whose C_θ turns with R,

    C″(a, b) = D_a ∇C · b − ½ C_θ · (a_θ × b_θ)

or from C at the four corners ±h (a ± b).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from nexdyn.constraints import point
from nexdyn.constraints.pair import PairVelocity
from nexdyn.kernel import formula, outlined
from nexdyn.model.callbacks import call
from nexdyn.records import Record
from nexdyn.spatial.algebra import Mat3, T, Vec3, cross, exp_quaternion, rotation

NAN = math.nan
NAN7 = (NAN,) * 7
NAN49 = (NAN,) * 49


class Given(Record):
    """What is given of C: addresses of it and of its derivatives (0: not given), the length [m] and the time [s] over which it changes; of
    a registered joint also which of its rows it is, and its block (``joints.registered``), which its functions are given behind x and R."""

    function: float
    gradient: float
    hessian: float
    size: float
    period: float
    row: float
    block: float


class Seen(NamedTuple):
    """What the function sees: x, R, t."""

    x: Vec3
    R: Mat3
    t: float


class Change(NamedTuple):
    """A change of what it sees, or a gradient: of x, of θ, of t."""

    x: Vec3
    w: Vec3
    t: float


@formula
def seen(pair, t):
    return Seen(point.place(pair), T(pair.R_A) @ pair.R_B, t)


@formula
def change(pair, V, t):
    """(ẋ, ω, t)."""
    return Change(point.rate(pair, V), T(pair.R_B) @ (V.w_b - V.w_a), t)


@formula
def dot(a, b):
    return a.x @ b.x + a.w @ b.w + a.t * b.t


@formula
def moved(z, h, a):
    """z after h a."""
    return Seen(z.x + h * a.x, z.R @ rotation(exp_quaternion(h * a.w)), z.t + h * a.t)


@formula
def of(data, k, z):
    """C; NaN where the function fails."""
    given = Given(data, k)
    status, out = call(given.function, z.t, (z.x, z.R, given.row, given.block), (NAN,))
    return out[0] if status == 0 else NAN


@formula
def along(data, k, z, h, x, w, t):
    """The derivative of C along (x, w, t) by a central difference of step h."""
    a = Change(x, w, t)
    return (of(data, k, moved(z, h, a)) - of(data, k, moved(z, -h, a))) / (2.0 * h)


@formula
def slope(data, k, z):
    """(C_x, C_θ, C_t)."""
    given = Given(data, k)
    if given.gradient != 0.0:
        status, g = call(given.gradient, z.t, (z.x, z.R, given.row, given.block), NAN7)
        if status != 0:
            return Change(Vec3(NAN, NAN, NAN), Vec3(NAN, NAN, NAN), NAN)
        return Change(Vec3(g[0], g[1], g[2]), Vec3(g[3], g[4], g[5]), g[6])
    o, x, y, u = Vec3(0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)
    h, l, p = 6e-6, 6e-6 * given.size, 6e-6 * given.period
    return Change(
        Vec3(along(data, k, z, l, x, o, 0.0), along(data, k, z, l, y, o, 0.0), along(data, k, z, l, u, o, 0.0)),
        Vec3(along(data, k, z, h, o, x, 0.0), along(data, k, z, h, o, y, 0.0), along(data, k, z, h, o, u, 0.0)),
        along(data, k, z, p, o, o, 1.0),
    )


@formula
def size_of(data, k, a):
    """The length of a change, in the units over which C changes."""
    given = Given(data, k)
    l, p = 1.0 / given.size, 1.0 / given.period
    return math.sqrt((l * l) * (a.x @ a.x) + a.w @ a.w + (p * a.t) * (p * a.t))


@formula
def component(a, i):
    if i == 0:
        return a.x.x
    if i == 1:
        return a.x.y
    if i == 2:
        return a.x.z
    if i == 3:
        return a.w.x
    if i == 4:
        return a.w.y
    if i == 5:
        return a.w.z
    return a.t


@formula
def curvature(data, k, z, a, b):
    """C″(a, b)."""
    given = Given(data, k)
    if given.hessian != 0.0:
        status, H = call(given.hessian, z.t, (z.x, z.R), NAN49)
        total = 0.0
        for i in range(7):
            for j in range(7):
                total += H[7 * i + j] * component(a, i) * component(b, j)
        return total if status == 0 else NAN
    m, n = size_of(data, k, a), size_of(data, k, b)
    if m == 0.0 or n == 0.0:
        return 0.0
    if given.gradient != 0.0:
        h = 6e-6 / m
        ahead, behind = slope(data, k, moved(z, h, a)), slope(data, k, moved(z, -h, a))
        turning = slope(data, k, z).w @ cross(a.w, b.w)
        return (dot(ahead, b) - dot(behind, b)) / (2.0 * h) - 0.5 * turning
    h = 1.2e-4
    i, j = h / m, h / n
    plus = Change(i * a.x + j * b.x, i * a.w + j * b.w, i * a.t + j * b.t)
    minus = Change(i * a.x - j * b.x, i * a.w - j * b.w, i * a.t - j * b.t)
    corners = of(data, k, moved(z, 1.0, plus)) + of(data, k, moved(z, -1.0, plus))
    corners -= of(data, k, moved(z, 1.0, minus)) + of(data, k, moved(z, -1.0, minus))
    return corners / (4.0 * i * j)


# --- the row ----------------------------------------------------------------------------------------------------------


@outlined
def value(data, k, pair, t):
    return of(data, k, seen(pair, t))


@outlined
def gradient(data, k, pair, t):
    C = slope(data, k, seen(pair, t))
    g, n = point.gradient(pair, C.x), pair.R_B @ C.w
    return PairVelocity(g.w_a - n, g.v_a, g.w_b + n, g.v_b)


@outlined
def second(data, k, pair, t, V, V_):
    z = seen(pair, t)
    C = slope(data, k, z)
    turning = 0.5 * (T(pair.R_B) @ (cross(V.w_b, V_.w_a) + cross(V_.w_b, V.w_a)))
    return (
        C.x @ point.second_rate(pair, V, V_)
        + C.w @ turning
        + curvature(data, k, z, change(pair, V, 0.0), change(pair, V_, 0.0))
    )


@outlined
def explicit_rate(data, k, pair, t):
    """C_t."""
    return slope(data, k, seen(pair, t)).t


@outlined
def explicit_second(data, k, pair, t, V):
    """2 C_qt v + C_tt."""
    z, o = seen(pair, t), Vec3(0.0, 0.0, 0.0)
    now = Change(o, o, 1.0)
    return 2.0 * curvature(data, k, z, change(pair, V, 0.0), now) + curvature(data, k, z, now, now)
