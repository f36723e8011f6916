"""Point on a surface: the row that keeps the point x of B on a surface of A.

    sphere     C = |x| − r                 ∇C = n,  C″ = (1 − n nᵀ)/|x|
    cylinder   C = ρ − r,  ρ = |(x, y)|    ∇C = n,  C″ = (1 − n nᵀ)/ρ in x and y
    plane      C = z
    ellipsoid  C = m (w − 1),  w² = xᵀ A x,  A = diag(1/a_i²),  m = min a_i
               ∇C = (m/w) A x,  C″ = (m/w) (A − A x xᵀ A/w²)
    torus      C = |(ρ − R, z)| − r        with q = ρ − R, δ = |(q, z)|, ψ̇ = n · ẋ:
               C″(ẋ, ẋ') = (ρ̇ ρ̇' + ż ż' − ψ̇ ψ̇')/δ + (q/δ) (ẋ · ẋ' in x and y − ρ̇ ρ̇')/ρ
    implicit   C = F(x) · scale

A parametric surface S(u, w) has its parameters ν = (u, w) eliminated: those of the nearest point to x, S_a · r = 0 with
r = x − S, found from the last ones by descent. C is the distance from it along its normal n ∥ S_u × S_w:

    C = n · r,   r = C n;   g_ab = S_a · S_b,   b_ab = n · S_ab
    (g − C b) dν = S_a · dx,   ∇C = n,   C″(dx, dx') = −dνᵀ (b − C b g⁻¹ b) dν'

At the centre of a sphere, on the axis of a cylinder, in the middle of a torus's tube there is no direction; x is taken.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from nexdyn.constraints import point
from nexdyn.errors import InputError
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.model import surfaces
from nexdyn.model.callbacks import call
from nexdyn.records import Record
from nexdyn.spatial.algebra import Vec3, cross

SPHERE, CYLINDER, PLANE, ELLIPSOID, TORUS, IMPLICIT, PARAMETRIC = (
    surfaces.SPHERE, surfaces.CYLINDER, surfaces.PLANE, surfaces.ELLIPSOID, surfaces.TORUS, surfaces.IMPLICIT_SURFACE,
    surfaces.PARAMETRIC_SURFACE,
)  # fmt: skip
STEPS, SAMPLES = 60, 48
TINY = 1e-200
"""|a|² below which a has no direction."""
NAN = math.nan


class Implicit(Record):
    """Numbers of F(x) = 0: 1/|∇F| where described, the length over which F changes [m], addresses of F and its derivatives (0: not
    given)."""

    code: float
    scale: float
    size: float
    function: float
    gradient: float
    hessian: float


class Range(NamedTuple):
    """Of a parameter: its range, and whether it is closed."""

    start: float
    end: float
    closed: float


class Parametric(Record):
    """Numbers of S(u, w): the ranges, addresses of S and its derivatives (0: not given)."""

    code: float
    u: Range
    w: Range
    function: float
    first: float
    second: float


@formula
def direction(a):
    """(a/|a|, |a|); x where there is none."""
    squared = a @ a
    if squared < TINY:
        return Vec3(1.0, 0.0, 0.0), math.sqrt(TINY)
    length = math.sqrt(squared)
    return (1.0 / length) * a, length


@formula
def stretched(p, q, r, x):
    return Vec3(p * x.x, q * x.y, r * x.z)


@formula
def meridian(e, a):
    """(ρ̇, 0, ż) of a."""
    return Vec3(e @ a, 0.0, a.z)


# --- functions of x ---------------------------------------------------------------------------------------------------


@formula
def closed_form(data, k, x):
    """C and ∇C of what has a formula, and of implicit surfaces."""
    code = int(data[k])
    if code == SPHERE:
        n, length = direction(x)
        return length - data[k + 1], n
    if code == CYLINDER:
        n, length = direction(Vec3(x.x, x.y, 0.0))
        return length - data[k + 1], n
    if code == PLANE:
        return x.z, Vec3(0.0, 0.0, 1.0)
    if code == ELLIPSOID:
        a, b, c = data[k + 1], data[k + 2], data[k + 3]
        m = min(a, min(b, c))
        n, w = direction(Vec3(x.x / a, x.y / b, x.z / c))
        return m * (w - 1.0), Vec3(m * n.x / a, m * n.y / b, m * n.z / c)
    if code == TORUS:
        e, rho = direction(Vec3(x.x, x.y, 0.0))
        n, delta = direction(Vec3(rho - data[k + 1], 0.0, x.z))
        return delta - data[k + 2], Vec3(n.x * e.x, n.x * e.y, n.z)
    scale = Implicit(data, k).scale
    return scale * implicit(data, k, x), scale * implicit_gradient(data, k, x)


@formula
def closed_form_second(data, k, x, a, b):
    """C″(a, b) of the same."""
    code = int(data[k])
    if code == SPHERE:
        n, length = direction(x)
        return (a @ b - (n @ a) * (n @ b)) / length
    if code == CYLINDER:
        n, length = direction(Vec3(x.x, x.y, 0.0))
        return (a.x * b.x + a.y * b.y - (n @ a) * (n @ b)) / length
    if code == PLANE:
        return 0.0
    if code == ELLIPSOID:
        p, q, r = 1.0 / data[k + 1], 1.0 / data[k + 2], 1.0 / data[k + 3]
        m = min(data[k + 1], min(data[k + 2], data[k + 3]))
        n, w = direction(stretched(p, q, r, x))
        a_, b_ = stretched(p, q, r, a), stretched(p, q, r, b)
        return m * (a_ @ b_ - (n @ a_) * (n @ b_)) / w
    if code == TORUS:
        e, rho = direction(Vec3(x.x, x.y, 0.0))
        n, delta = direction(Vec3(rho - data[k + 1], 0.0, x.z))
        a_, b_ = meridian(e, a), meridian(e, b)
        across = (a.x * b.x + a.y * b.y - a_.x * b_.x) / rho
        return (a_ @ b_ - (n @ a_) * (n @ b_)) / delta + n.x * across
    return Implicit(data, k).scale * implicit_second(data, k, x, a, b)


@formula
def implicit(data, k, x):
    status, out = call(Implicit(data, k).function, 0.0, x, (NAN,))
    return out[0] if status == 0 else NAN


@formula
def implicit_gradient(data, k, x):
    given = Implicit(data, k)
    if given.gradient != 0.0:
        status, out = call(given.gradient, 0.0, x, (NAN, NAN, NAN))
        return Vec3(out[0], out[1], out[2]) if status == 0 else Vec3(NAN, NAN, NAN)
    h = 6e-6 * given.size
    return Vec3(
        (implicit(data, k, Vec3(x.x + h, x.y, x.z)) - implicit(data, k, Vec3(x.x - h, x.y, x.z))) / (2.0 * h),
        (implicit(data, k, Vec3(x.x, x.y + h, x.z)) - implicit(data, k, Vec3(x.x, x.y - h, x.z))) / (2.0 * h),
        (implicit(data, k, Vec3(x.x, x.y, x.z + h)) - implicit(data, k, Vec3(x.x, x.y, x.z - h))) / (2.0 * h),
    )


@formula
def implicit_second(data, k, x, a, b):
    """aᵀ F″ b; by differences along a and b where F″ is not given."""
    given = Implicit(data, k)
    if given.hessian != 0.0:
        status, H = call(given.hessian, 0.0, x, (NAN, NAN, NAN, NAN, NAN, NAN))
        straight = H[0] * a.x * b.x + H[1] * a.y * b.y + H[2] * a.z * b.z
        mixed = H[3] * (a.x * b.y + a.y * b.x) + H[4] * (a.x * b.z + a.z * b.x) + H[5] * (a.y * b.z + a.z * b.y)
        return straight + mixed if status == 0 else NAN
    length_a, length_b = math.sqrt(a @ a), math.sqrt(b @ b)
    if length_a == 0.0 or length_b == 0.0:
        return 0.0
    if given.gradient != 0.0:
        h = 6e-6 * given.size / length_a
        return ((implicit_gradient(data, k, x + h * a) - implicit_gradient(data, k, x - h * a)) @ b) / (2.0 * h)
    h = 1.2e-4 * given.size
    a_, b_ = (h / length_a) * a, (h / length_b) * b
    along = implicit(data, k, x + (a_ + b_)) + implicit(data, k, x - (a_ + b_))
    across = implicit(data, k, x + (a_ - b_)) + implicit(data, k, x - (a_ - b_))
    return (along - across) * (length_a * length_b / (4.0 * h * h))


# --- parametric surfaces ----------------------------------------------------------------------------------------------


@formula
def wrapped(within, x):
    """A parameter in its range, where that is closed."""
    if within.closed == 0.0:
        return x
    return x - (within.end - within.start) * math.floor((x - within.start) / (within.end - within.start))


@formula
def place(data, k, u, w):
    """S."""
    given = Parametric(data, k)
    status, out = call(given.function, 0.0, (wrapped(given.u, u), wrapped(given.w, w)), (NAN, NAN, NAN))
    return Vec3(out[0], out[1], out[2]) if status == 0 else Vec3(NAN, NAN, NAN)


@formula
def sizes(data, k):
    """By how much u and w may change."""
    given = Parametric(data, k)
    return given.u.end - given.u.start, given.w.end - given.w.start


@formula
def first(data, k, u, w):
    """S_u, S_w."""
    given = Parametric(data, k)
    if given.first != 0.0:
        at = (wrapped(given.u, u), wrapped(given.w, w))
        status, out = call(given.first, 0.0, at, (NAN, NAN, NAN, NAN, NAN, NAN))
        if status != 0:
            return Vec3(NAN, NAN, NAN), Vec3(NAN, NAN, NAN)
        return Vec3(out[0], out[1], out[2]), Vec3(out[3], out[4], out[5])
    U, W = sizes(data, k)
    h, l = 1e-6 * U, 1e-6 * W
    return (
        (0.5 / h) * (place(data, k, u + h, w) - place(data, k, u - h, w)),
        (0.5 / l) * (place(data, k, u, w + l) - place(data, k, u, w - l)),
    )


@formula
def curved(data, k, u, w):
    """S_uu, S_uw, S_ww."""
    given, (U, W) = Parametric(data, k), sizes(data, k)
    if given.second != 0.0:
        at = (wrapped(given.u, u), wrapped(given.w, w))
        status, out = call(given.second, 0.0, at, (NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN))
        if status != 0:
            return Vec3(NAN, NAN, NAN), Vec3(NAN, NAN, NAN), Vec3(NAN, NAN, NAN)
        return Vec3(out[0], out[1], out[2]), Vec3(out[3], out[4], out[5]), Vec3(out[6], out[7], out[8])
    if given.first != 0.0:
        h, l = 1e-6 * U, 1e-6 * W
        u_ahead, u_behind = first(data, k, u + h, w), first(data, k, u - h, w)
        w_ahead, w_behind = first(data, k, u, w + l), first(data, k, u, w - l)
        return (
            (0.5 / h) * (u_ahead[0] - u_behind[0]),
            (0.5 / h) * (u_ahead[1] - u_behind[1]),
            (0.5 / l) * (w_ahead[1] - w_behind[1]),
        )
    h, l = 2e-5 * U, 2e-5 * W
    S = place(data, k, u, w)
    along = place(data, k, u + h, w + l) + place(data, k, u - h, w - l)
    across = place(data, k, u + h, w - l) + place(data, k, u - h, w + l)
    return (
        (1.0 / (h * h)) * (place(data, k, u + h, w) - 2.0 * S + place(data, k, u - h, w)),
        (0.25 / (h * l)) * (along - across),
        (1.0 / (l * l)) * (place(data, k, u, w + l) - 2.0 * S + place(data, k, u, w - l)),
    )


@formula
def solved(a, b, d, p, q):
    """(x, y) of [[a, b], [b, d]] (x, y) = (p, q)."""
    over = 1.0 / (a * d - b * b)
    return over * (d * p - b * q), over * (a * q - b * p)


@formula
def nearest(data, k, x, u, w):
    """u, w of the nearest point to x, by Newton's steps downhill on ½ |x − S|² from u, w."""
    U, W = sizes(data, k)
    U, W = 0.1 * U, 0.1 * W
    for _ in range(STEPS):
        r = x - place(data, k, u, w)
        S_u, S_w = first(data, k, u, w)
        S_uu, S_uw, S_ww = curved(data, k, u, w)
        p, q = S_u @ r, S_w @ r
        E, F, G = S_u @ S_u, S_u @ S_w, S_w @ S_w
        a, b, d = E - S_uu @ r, F - S_uw @ r, G - S_ww @ r
        fine = a > 0.1 * E and d > 0.1 * G and a * d - b * b > 0.01 * (E * G - F * F)
        du, dw = solved(a, b, d, p, q) if fine else solved(E, F, G, p, q)
        size = max(abs(du) / U, abs(dw) / W)
        if not size < math.inf:
            return u + du, w + dw
        if size > 1.0:
            du, dw = du / size, dw / size
        if size <= 1e-15 * (1.0 + abs(u) / U + abs(w) / W):
            return u + du, w + dw
        for _ in range(30):
            ahead = x - place(data, k, u + du, w + dw)
            if not ahead @ ahead > (r @ r) * (1.0 + 1e-14):
                break
            du, dw = 0.5 * du, 0.5 * dw
        u, w = u + du, w + dw
        if size <= 1e-9 and fine:
            return u, w
    return u, w


@formula
def normal(S_u, S_w):
    n = cross(S_u, S_w)
    return (1.0 / math.sqrt(n @ n)) * n


# --- the row ----------------------------------------------------------------------------------------------------------


@outlined
def value(data, k, pair, near, at):
    """C; near[at], near[at + 1] are u and w of a parametric surface, and take the new ones."""
    x = point.place(pair)
    if int(data[k]) != PARAMETRIC:
        return closed_form(data, k, x)[0]
    u, w = nearest(data, k, x, near[at], near[at + 1])
    near[at], near[at + 1] = u, w
    S_u, S_w = first(data, k, u, w)
    return normal(S_u, S_w) @ (x - place(data, k, u, w))


@outlined
def gradient(data, k, pair, near, at):
    x = point.place(pair)
    if int(data[k]) != PARAMETRIC:
        return point.gradient(pair, closed_form(data, k, x)[1])
    u, w = nearest(data, k, x, near[at], near[at + 1])
    S_u, S_w = first(data, k, u, w)
    return point.gradient(pair, normal(S_u, S_w))


@outlined
def second(data, k, pair, near, at, V, V_):
    x, dx, dx_ = point.place(pair), point.rate(pair, V), point.rate(pair, V_)
    ddx = point.second_rate(pair, V, V_)
    if int(data[k]) != PARAMETRIC:
        return closed_form(data, k, x)[1] @ ddx + closed_form_second(data, k, x, dx, dx_)
    u, w = nearest(data, k, x, near[at], near[at + 1])
    S_u, S_w = first(data, k, u, w)
    S_uu, S_uw, S_ww = curved(data, k, u, w)
    n = normal(S_u, S_w)
    C = n @ (x - place(data, k, u, w))
    E, F, G = S_u @ S_u, S_u @ S_w, S_w @ S_w
    l, m, o = n @ S_uu, n @ S_uw, n @ S_ww
    du, dw = solved(E - C * l, F - C * m, G - C * o, S_u @ dx, S_w @ dx)
    du_, dw_ = solved(E - C * l, F - C * m, G - C * o, S_u @ dx_, S_w @ dx_)
    # b dν and b dν', then dνᵀ b dν' − C (b dν)ᵀ g⁻¹ (b dν')
    p, q = l * du + m * dw, m * du + o * dw
    p_, q_ = l * du_ + m * dw_, m * du_ + o * dw_
    i, j = solved(E, F, G, p_, q_)
    return n @ ddx - (du * p_ + dw * q_ - C * (p * i + q * j))


# --- once a model -----------------------------------------------------------------------------------------------------


@kernel
def slope(data, k, x):
    """F and |∇F| of an implicit surface at x (3,)."""
    p = Vec3(x[0], x[1], x[2])
    g = implicit_gradient(data, k, p)
    return implicit(data, k, p), math.sqrt(g @ g)


@kernel
def distances(data, k, x, u, w, out):
    """|x − S| at all u (n,) and w (m,), (n, m)."""
    p = Vec3(x[0], x[1], x[2])
    for i in range(len(u)):
        for j in range(len(w)):
            r = p - place(data, k, u[i], w[j])
            out[i, j] = math.sqrt(r @ r)


@kernel
def settle(data, k, x, u, w):
    """u, w of the nearest point to x (3,) from u, w, and its distance."""
    p = Vec3(x[0], x[1], x[2])
    u, w = nearest(data, k, p, u, w)
    r = p - place(data, k, u, w)
    return u, w, math.sqrt(r @ r)


def prepared(data: np.ndarray, k: int, x: np.ndarray, what: str) -> tuple[float, ...]:
    """Scale the surface at k where it is implicit; the parameters of its point nearest to x (3,)."""
    code = int(data[k])
    if code == IMPLICIT:
        F, steep = slope(data, k, x)
        if not (math.isfinite(F) and math.isfinite(steep)):
            raise InputError(f"the surface of {what} has no value, or no gradient, where described: x = {x.tolist()}")
        if not steep > 0.0:
            raise InputError(
                f"the gradient of the surface of {what} is 0 where described, x = {x.tolist()}; describe it elsewhere"
            )
        Implicit(data, k).scale = 1.0 / steep
        return ()
    if code != PARAMETRIC:
        return ()
    given = Parametric(data, k)
    u, w = (np.linspace(x.start, x.end, SAMPLES) for x in (given.u, given.w))
    away = np.empty((SAMPLES, SAMPLES))
    distances(data, k, x, u, w, away)
    if not np.isfinite(away).all():
        i, j = np.argwhere(~np.isfinite(away))[0]
        raise InputError(f"the surface of {what} has no point at u = {u[i]:g}, w = {w[j]:g}")
    order = np.argsort(away, axis=None)[:5]
    found = [settle(data, k, x, float(u[n // SAMPLES]), float(w[n % SAMPLES])) for n in order]
    best = min(found, key=lambda found: found[2] if math.isfinite(found[2]) else math.inf)
    return best[:2]


def ranges(data: np.ndarray, k: int) -> list[tuple[str, float, float]]:
    """(letter, start, end) of the parameters of the surface at k; endless where it is closed."""
    if int(data[k]) != PARAMETRIC:
        return []
    given = Parametric(data, k)
    return [
        (letter, -math.inf, math.inf) if x.closed else (letter, float(x.start), float(x.end))
        for letter, x in (("u", given.u), ("w", given.w))
    ]
