"""What presses over an area, summed up: forces, centre of pressure, area, depth, of polygons or of closed forms.

A polygon is cut to where 1 + a δ̇ ≥ 0 and divided into triangles about its centre. What is integrated is of degree 4 at most, for which
six points are exact (Dunavant, Int. J. Numer. Meth. Eng. 21, 1985), but for friction that is regularised.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from nexdyn.forces.contact import across, along
from nexdyn.forces.contact_data import PointData
from nexdyn.forces.overlap import cut, flat
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Force, Vec3, cross

DISC = 2.0 * sqrt(2.0) / 3.0
"""r of a disc of even pressure, as a part of its radius of gyration."""
INNER, OUTER, W_INNER, W_OUTER = 0.445948490915965, 0.091576213509771, 0.223381589678011, 0.109951743655322
"""The points of a triangle of degree 4: two of their three coordinates, and weights."""


class Pressed(NamedTuple):
    """Sums about o: forces on A, with friction that is regularised; those of the normal pressure alone; ∫ p dA, ∫ p x dA,
    ∫ p x² dA; the area that presses, the largest depth and pressure, and the stiffness along the normal at rest, as friction has it."""

    all: Force
    normal: Vec3
    pressure: float
    first: Vec3
    second: float
    area: float
    depth: float
    peak: float
    slope: float


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
    return Pressed(
        Force(s.all.n + cross(x, f), s.all.f + f), s.normal + normal, s.pressure + p, s.first + p * x, s.second + p * (x @ x), s.area,
        s.depth, s.peak, s.slope,
    )  # fmt: skip


@outlined
def add_side(data, k, side, part_of, room, v0, w, u, rubs, s):
    """The part `part_of` of a polygon, by triangles about its centre, which are the same from whichever corner it is counted."""
    whole, centre = flat(side, room)
    if not whole > 0.0:
        return s
    last, own = side.first + side.corners - 1, PointData(data, k)
    a = side.foot + room[last, 0] * side.one + room[last, 1] * side.two
    peak = 0.0
    for j in range(side.first, last + 1):
        b = side.foot + room[j, 0] * side.one + room[j, 1] * side.two
        grip = 1.0 - own.damping * (side.deeper @ (v0 + cross(w, b)))
        peak = max(peak, own.stiffness * (side.at - side.n @ b) * grip)
        part = 0.5 * part_of * abs(side.m @ cross(a - centre, b - centre))
        for h in range(2):
            near_two, weight = (INNER, W_INNER * part) if h == 0 else (OUTER, W_OUTER * part)
            far = 1.0 - 2.0 * near_two
            s = add_point(data, k, side, far * a + near_two * (b + centre), weight, v0, w, u, rubs, s)
            s = add_point(data, k, side, far * b + near_two * (centre + a), weight, v0, w, u, rubs, s)
            s = add_point(data, k, side, far * centre + near_two * (a + b), weight, v0, w, u, rubs, s)
        a = b
    return Pressed(
        s.all, s.normal, s.pressure, s.first, s.second, s.area + part_of * whole, s.depth, max(s.peak, peak),
        s.slope + own.stiffness * (part_of * whole),
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
    return Pressed(s.all, s.normal, s.pressure, s.first, s.second, s.area, max(s.depth, depth), s.peak, s.slope)


@formula
def nothing_pressed(depth):
    """The sums of nothing, with a depth."""
    zero = Vec3(0.0, 0.0, 0.0)
    return Pressed(Force(zero, zero), zero, 0.0, zero, 0.0, 0.0, depth, 0.0, 0.0)
