"""Cone about the z axis: base of radius r at z = −h, apex at z = h, h half the `length`; size = (r, r, h).

Its surface is made of the side, whose radius is ρ(z) = r (h − z)/(2 h), the flat base, its rim, and the apex.
Volume 2/3 π r² h; the centre of mass is at z = −h/2.
"""

from __future__ import annotations

import math

import numpy as np

from nexdyn.geometry.solid import CONE, Massive, Page, positive
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import sqrt


@formula
def support(s, tables, n):
    """The apex where n_z h exceeds r |n_xy| − n_z h, else the point of the rim that n points to."""
    across, h = sqrt(n.x * n.x + n.y * n.y), s.size.z
    if 2.0 * h * n.z >= s.size.x * across and n.z > 0.0:
        return Vec3(0.0, 0.0, h)
    if across > 0.0:
        f = s.size.x / across
        return Vec3(f * n.x, f * n.y, -h)
    return Vec3(0.0, 0.0, -h)


@formula
def excess(s, tables, x):
    """max over the base and the side; the side's normal is (2 h, r)/√(4 h² + r²) in (ρ, z)."""
    r, h = s.size.x, s.size.z
    side = (2.0 * h * sqrt(x.x * x.x + x.y * x.y) + r * (x.z - h)) / sqrt(4.0 * h * h + r * r)
    return max(side, -h - x.z, 0.0)


@formula
def nearest(s, tables, x):
    """Of the triangle (±r, −h), (0, h) in the plane of (ρ, z); on the axis the side's normal lies in the xz plane."""
    r, h = s.size.x, s.size.z
    rho = sqrt(x.x * x.x + x.y * x.y)
    e = Vec3(x.x / rho, x.y / rho, 0.0) if rho > 0.0 else Vec3(1.0, 0.0, 0.0)
    slant = sqrt(4.0 * h * h + r * r)
    side, base = (2.0 * h * rho + r * (x.z - h)) / slant, -h - x.z
    if side <= 0.0 and base <= 0.0:  # inside
        if side >= base:
            return side, Vec3(2.0 * h / slant * e.x, 2.0 * h / slant * e.y, r / slant)
        return base, Vec3(0.0, 0.0, -1.0)
    if base > 0.0 and rho <= r:
        return base, Vec3(0.0, 0.0, -1.0)
    # along the generator from the rim to the apex: −r (ρ − r) + 2 h (z + h), 0 at the rim and slant² at the apex
    t = (2.0 * h * (x.z + h) - r * (rho - r)) / (slant * slant)
    if 0.0 < t and t < 1.0:
        return side, Vec3(2.0 * h / slant * e.x, 2.0 * h / slant * e.y, r / slant)
    g, f = (rho, x.z - h) if t >= 1.0 else (rho - r, x.z + h)
    d = sqrt(g * g + f * f)
    if d > 0.0:
        return d, Vec3(g / d * e.x, g / d * e.y, f / d)
    return 0.0, Vec3(0.0, 0.0, 1.0 if t >= 1.0 else -1.0)


def _made(radius: float, length: float) -> tuple[tuple[float, float, float], float, float]:
    r, h = positive(radius, "radius of the cone"), 0.5 * positive(length, "length of the cone")
    return (r, r, h), 0.0, math.hypot(r, h)


def _massive(radius: float, length: float) -> Massive:
    volume = math.pi * radius**2 * length / 3.0
    across = 3.0 / 20.0 * radius**2 + 3.0 / 80.0 * length**2
    inertia = volume * np.diag([across, across, 0.3 * radius**2])
    return Massive(volume, np.array([0.0, 0.0, -0.25 * length]), inertia)


def _curvatures(x: np.ndarray, n: np.ndarray, radius: float, length: float) -> tuple[float, float]:
    """On the side n_ρ/ρ, 0; on the rim n_ρ/r and inf; 0, 0 on the base; inf, inf at the apex."""
    across, rho = math.hypot(n[0], n[1]), math.hypot(x[0], x[1])
    if across < 1e-9 and n[2] < 0.0:
        return 0.0, 0.0
    if rho < 1e-9 * radius:
        return math.inf, math.inf
    slanted = abs(length * n[2] - radius * across) < 1e-9 * math.hypot(radius, length)
    return across / rho, 0.0 if slanted else math.inf


PAGE = Page(
    name="cone",
    kind=CONE,
    sizes=("radius", "length"),
    round=True,
    support=support,
    excess=excess,
    nearest=nearest,
    made=_made,
    massive=_massive,
    curvatures=_curvatures,
)
