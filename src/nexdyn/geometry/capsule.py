"""Capsule: the segment from −h to h on the z axis, h half the `length`, with the margin r.

Curvatures 1/r, 0 on the cylindrical part and 1/r, 1/r on the caps. Volume π r² (2 h + 4/3 r).
"""

from __future__ import annotations

import math

import numpy as np

from nexdyn.geometry.solid import SEGMENT, Massive, Page, positive
from nexdyn.kernel import formula
from nexdyn.spatial import solids
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import sqrt


@formula
def support(s, tables, n):
    """The end that n points to."""
    return Vec3(0.0, 0.0, s.size.z if n.z >= 0.0 else -s.size.z)


@formula
def excess(s, tables, x):
    """The distance to the segment."""
    d, _ = nearest(s, tables, x)
    return d


@formula
def nearest(s, tables, x):
    """Distance to the segment, and the unit vector from its nearest point; e_x on the segment itself."""
    r = Vec3(x.x, x.y, x.z - min(max(x.z, -s.size.z), s.size.z))
    d = sqrt(r @ r)
    if d > 0.0:
        return d, (1.0 / d) * r
    return 0.0, Vec3(1.0, 0.0, 0.0)


def _made(radius: float, length: float) -> tuple[tuple[float, float, float], float, float]:
    r, h = positive(radius, "radius of the capsule"), 0.5 * positive(length, "length of the capsule")
    return (0.0, 0.0, h), r, h + r


def _massive(radius: float, length: float) -> Massive:
    volume = math.pi * radius**2 * (length + 4.0 / 3.0 * radius)
    return Massive(volume, np.zeros(3), solids.capsule(volume, radius, length))


PAGE = Page(
    name="capsule",
    kind=SEGMENT,
    sizes=("radius", "length"),
    round=False,
    support=support,
    excess=excess,
    nearest=nearest,
    made=_made,
    massive=_massive,
    curvatures=lambda x, n, radius, length: (1.0 / radius, 1.0 / radius if abs(x[2]) > 0.5 * length else 0.0),
)
