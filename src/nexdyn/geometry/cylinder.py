"""Cylinder of radius r about the z axis, |z| ≤ h, h half the `length`; size = (r, r, h).

Its surface is made of the side (curvatures 1/r, 0), two flat ends, and two rims. Volume 2 π r² h.
"""

from __future__ import annotations

import math

import numpy as np

from nexdyn.geometry.solid import CYLINDER, Massive, Page, positive
from nexdyn.kernel import formula
from nexdyn.spatial import solids
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import sqrt


@formula
def support(s, tables, n):
    """The point of a rim that n points to; the centre of an end where n is the axis."""
    across, z = sqrt(n.x * n.x + n.y * n.y), s.size.z if n.z >= 0.0 else -s.size.z
    if across > 0.0:
        f = s.size.x / across
        return Vec3(f * n.x, f * n.y, z)
    return Vec3(0.0, 0.0, z)


@formula
def excess(s, tables, x):
    """max(ρ − r, |z| − h, 0), ρ the distance from the axis."""
    return max(sqrt(x.x * x.x + x.y * x.y) - s.size.x, abs(x.z) - s.size.z, 0.0)


@formula
def nearest(s, tables, x):
    """As a box in the plane of (ρ, z); on the axis the side's normal is e_x."""
    rho = sqrt(x.x * x.x + x.y * x.y)
    e = Vec3(x.x / rho, x.y / rho, 0.0) if rho > 0.0 else Vec3(1.0, 0.0, 0.0)
    up = 1.0 if x.z >= 0.0 else -1.0
    g, f = rho - s.size.x, abs(x.z) - s.size.z
    if g > 0.0 and f > 0.0:
        d = sqrt(g * g + f * f)
        return d, Vec3(g / d * e.x, g / d * e.y, f / d * up)
    if g >= f:
        return g, e
    return f, Vec3(0.0, 0.0, up)


def _made(radius: float, length: float) -> tuple[tuple[float, float, float], float, float]:
    r, h = positive(radius, "radius of the cylinder"), 0.5 * positive(length, "length of the cylinder")
    return (r, r, h), 0.0, math.hypot(r, h)


def _massive(radius: float, length: float) -> Massive:
    volume = math.pi * radius**2 * length
    return Massive(volume, np.zeros(3), solids.cylinder(volume, radius, length))


def _curvatures(x: np.ndarray, n: np.ndarray, radius: float, length: float) -> tuple[float, float]:
    """0, 0 on an end; 1/r, 0 on the side; on a rim inf across it, and along it that of the circle seen along n."""
    across = math.hypot(n[0], n[1])
    if across < 1e-9:
        return 0.0, 0.0
    return across / radius, 0.0 if abs(n[2]) < 1e-9 else math.inf


PAGE = Page(
    name="cylinder",
    kind=CYLINDER,
    sizes=("radius", "length"),
    round=True,
    support=support,
    excess=excess,
    nearest=nearest,
    made=_made,
    massive=_massive,
    curvatures=_curvatures,
)
