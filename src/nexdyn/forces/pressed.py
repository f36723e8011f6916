"""What presses over an area, summed up: forces, centre of pressure, area, depth, of polygons or of closed forms.

A polygon is cut to where 1 + a δ̇ ≥ 0 and divided into triangles about its centre. What is integrated is of degree 4 at most, for which
six points are exact (Dunavant, Int. J. Numer. Meth. Eng. 21, 1985), but for friction that is regularised.

Where polygons i press with f_i along m_i, which are not parallel (walls of a groove, a bore around a pin), a body that slides along e is
held by each, and by more in all than by what their sum presses with, F = |Σ f m|:

    Σ μ f |e − (m · e) m|  ≤  μ F √(e · Q e),   Q = (1 − N/Σ f) (Σ f/F)²,   N = Σ f m mᵀ,   e ⊥ Σ f m

with = where all are held alike, by Cauchy and Schwarz; Q ≥ 1, and 1 where all m are parallel. It is an ellipse: its longer half axis is
`gain` F, the shorter one `part` of that, along `weak`. An edge that goes into a plane presses through two faces, and yet slides on one
plane. So E = Q − 1 is taken of the normals of A's faces and of B's, and of both the lesser, ½ (E_A + E_B − |E_A − E_B|), 0 where one is. A
face along n that is pressed into has f m · n.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from nexdyn.forces.contact import across, along
from nexdyn.forces.contact_data import PointData
from nexdyn.forces.overlap import cut, flat
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Force, Sym3, Vec3, basis, cross

DISC = 2.0 * sqrt(2.0) / 3.0
"""r of a disc of even pressure, as a part of its radius of gyration."""
INNER, OUTER, W_INNER, W_OUTER = 0.445948490915965, 0.091576213509771, 0.223381589678011, 0.109951743655322
"""The points of a triangle of degree 4: two of their three coordinates, and weights."""


PARALLEL = 1e-12
"""Of Q, what is less above 1 is rounding."""


class Sums(NamedTuple):
    """About o: forces on A, with friction that is regularised; those of the normal pressure alone; ∫ p dA, ∫ p x dA, ∫ p x² dA."""

    all: Force
    normal: Vec3
    pressure: float
    first: Vec3
    second: float


class Spread(NamedTuple):
    """How the normals spread of the faces of one body: Σ f, Σ f m, N. All 0 where all are one."""

    load: float
    along: Vec3
    squares: Sym3


class Pressed(NamedTuple):
    """`Sums`; the area that presses, the largest depth and pressure, the stiffness along the normal at rest, as friction has it; and how
    the normals of both bodies spread."""

    all: Force
    normal: Vec3
    pressure: float
    first: Vec3
    second: float
    area: float
    depth: float
    peak: float
    slope: float
    of_a: Spread
    of_b: Spread


class Uneven(NamedTuple):
    """By what friction along surfaces that are not parallel is more than on a plane."""

    gain: float
    part: float
    weak: Vec3


NOWHERE = Vec3(0.0, 0.0, 0.0)
NO_SPREAD = Spread(0.0, NOWHERE, Sym3(0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
EVEN = Uneven(1.0, 1.0, NOWHERE)


@formula
def share(x):
    """x, not negative."""
    return x if x > 0.0 else 0.0


@outlined
def add_point(data, k, side, x, weight, v0, w, u, rubs, s):
    """What stands at the point x about o, of the area `weight`; v = v0 + w × x, and the surfaces rub by u (``contact.Rub``)."""
    v, own = v0 + cross(w, x), PointData(data, k)
    rate = -(side.deeper @ v)
    p = weight * own.stiffness * share(side.at - side.n @ x) * share(1.0 + own.damping * rate)
    normal = p * side.m
    f = normal
    if rubs:
        v_t, rub = v + u.u, along(u, side.m)
        glide = across(rub, v_t - (side.m @ v_t) * side.m)
        f = f - (own.mu * p / sqrt(glide @ glide + own.friction_speed * own.friction_speed)) * across(rub, glide)
    return Sums(
        Force(s.all.n + cross(x, f), s.all.f + f), s.normal + normal, s.pressure + p, s.first + p * x, s.second + p * (x @ x)
    )  # fmt: skip


@formula
def spread(s, f, n):
    """The same with f more along n."""
    more = Sym3(f * n.x * n.x, f * n.x * n.y, f * n.x * n.z, f * n.y * n.y, f * n.y * n.z, f * n.z * n.z)
    return Spread(s.load + f, s.along + f * n, s.squares + more)


class Sym2(NamedTuple):
    """A symmetric matrix of two directions along the surfaces."""

    xx: float
    xy: float
    yy: float


@formula
def held_more(own, one, two):
    """E = Q − 1, of the axes `one` and `two`."""
    squared = own.load * own.load / (own.along @ own.along)
    part, Ne, Nf = squared / own.load, own.squares @ one, own.squares @ two
    return Sym2(squared - part * (one @ Ne) - 1.0, -part * (one @ Nf), squared - part * (two @ Nf) - 1.0)


@formula
def lesser(a, b):
    """½ (A + B − |A − B|)."""
    half, xy, mean = 0.5 * (a.xx - b.xx - a.yy + b.yy), a.xy - b.xy, 0.5 * (a.xx - b.xx + a.yy - b.yy)
    off = sqrt(half * half + xy * xy)
    # |A − B| = whole 1 + part (A − B − mean 1), by its eigenvalues mean ± off
    one, other = abs(mean + off), abs(mean - off)
    whole, part = 0.5 * (one + other), 0.5 * (one - other) / off if off > 0.0 else 0.0
    return Sym2(
        0.5 * (a.xx + b.xx - whole - part * half),
        0.5 * (a.xy + b.xy - part * xy),
        0.5 * (a.yy + b.yy - whole + part * half),
    )


@formula
def uneven(s, n):
    """gain, part and weak of the sums, whose resultant is along n."""
    if not (s.of_a.along @ s.of_a.along > 0.0 and s.of_b.along @ s.of_b.along > 0.0):
        return EVEN
    one, two = basis(n)
    a, b = held_more(s.of_a, one, two), held_more(s.of_b, one, two)
    if a.xx + a.yy < PARALLEL or b.xx + b.yy < PARALLEL:
        return EVEN
    more = lesser(a, b)
    half, mean = 0.5 * (more.xx - more.yy), 0.5 * (more.xx + more.yy)
    off = sqrt(half * half + more.xy * more.xy)
    if mean + off < PARALLEL:
        return EVEN
    # the eigenvector of the lesser eigenvalue
    x, y = (-more.xy, half + off) if half >= 0.0 else (off - half, -more.xy)
    length = sqrt(x * x + y * y)
    weak = (1.0 / length) * (x * one + y * two) if length > 0.0 else one
    most = 1.0 + mean + off
    return Uneven(sqrt(most), sqrt((1.0 + share(mean - off)) / most), weak)


@formula
def evened(h, x):
    """x along the surfaces, with `part` of what it has along `weak`."""
    return x - ((1.0 - h.part) * (h.weak @ x)) * h.weak


@outlined
def add_side(data, k, side, one, part_of, room, v0, w, u, rubs, s):
    """The part `part_of` of a polygon of A (one = 0) or B, by triangles about its centre, the same from whichever corner it is counted."""
    whole, centre = flat(side, room)
    if not whole > 0.0:
        return s
    last, own = side.first + side.corners - 1, PointData(data, k)
    a = side.foot + room[last, 0] * side.one + room[last, 1] * side.two
    peak, sums = 0.0, Sums(s.all, s.normal, s.pressure, s.first, s.second)
    for j in range(side.first, last + 1):
        b = side.foot + room[j, 0] * side.one + room[j, 1] * side.two
        grip = 1.0 - own.damping * (side.deeper @ (v0 + cross(w, b)))
        peak = max(peak, own.stiffness * (side.at - side.n @ b) * grip)
        part = 0.5 * part_of * abs(side.m @ cross(a - centre, b - centre))
        for h in range(2):
            near_two, weight = (INNER, W_INNER * part) if h == 0 else (OUTER, W_OUTER * part)
            far = 1.0 - 2.0 * near_two
            sums = add_point(data, k, side, far * a + near_two * (b + centre), weight, v0, w, u, rubs, sums)
            sums = add_point(data, k, side, far * b + near_two * (centre + a), weight, v0, w, u, rubs, sums)
            sums = add_point(data, k, side, far * centre + near_two * (a + b), weight, v0, w, u, rubs, sums)
        a = b
    f = sums.pressure - s.pressure
    g = f * share(side.m @ side.deeper)
    f_a, m_a, f_b, m_b = (f, side.m, g, side.deeper) if one == 0 else (g, side.deeper, f, side.m)
    return Pressed(
        sums.all, sums.normal, sums.pressure, sums.first, sums.second, s.area + part_of * whole, s.depth, max(s.peak, peak),
        s.slope + own.stiffness * (part_of * whole), spread(s.of_a, f_a, m_a),
        spread(s.of_b, f_b, m_b),
    )  # fmt: skip


@formula
def pressing(data, k, side, found, room, v0, w):
    """What of a polygon presses: where 1 + a δ̇ ≥ 0."""
    a = PointData(data, k).damping
    if a == 0.0:
        return side
    # δ̇ = −deeper · (v0 + w × ξ)
    other = found.polygons + (found.polygons + len(room)) // 2 - side.first
    side, _ = cut(room, side, other, a * cross(side.deeper, w), 1.0 - a * (side.deeper @ v0))
    return side


@formula
def relative(X_A, V_A, X_B, V_B, o):
    """The velocity of A against B at o, and of turning."""
    v = V_A.v + cross(V_A.w, o - X_A.p) - V_B.v - cross(V_B.w, o - X_B.p)
    return v, V_A.w - V_B.w


@formula
def deeper_by(s, depth):
    """The sums with a depth that also counts where a body leaves too fast to press."""
    return Pressed(
        s.all, s.normal, s.pressure, s.first, s.second, s.area, max(s.depth, depth), s.peak, s.slope, s.of_a, s.of_b
    )


@formula
def nothing_pressed(depth):
    """The sums of nothing, with a depth."""
    zero = Vec3(0.0, 0.0, 0.0)
    return Pressed(Force(zero, zero), zero, 0.0, zero, 0.0, 0.0, depth, 0.0, 0.0, NO_SPREAD, NO_SPREAD)
