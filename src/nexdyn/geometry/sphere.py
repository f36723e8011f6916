"""Sphere of radius r about the origin: a point with the margin r. Curvatures 1/r, 1/r; volume 4/3 π r³."""

from __future__ import annotations

import math

import numpy as np

from nexdyn.geometry.solid import POINT, Massive, Page, positive
from nexdyn.kernel import formula
from nexdyn.spatial import solids
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import sqrt


@formula
def support(s, tables, n):
    """The origin."""
    return Vec3(0.0, 0.0, 0.0)


@formula
def excess(s, tables, x):
    """|x|."""
    return sqrt(x @ x)


@formula
def nearest(s, tables, x):
    """|x|, x/|x|; e_x at the origin itself."""
    d = sqrt(x @ x)
    if d > 0.0:
        return d, (1.0 / d) * x
    return 0.0, Vec3(1.0, 0.0, 0.0)


def _made(radius: float) -> tuple[tuple[float, float, float], float, float]:
    r = positive(radius, "radius of the sphere")
    return (0.0, 0.0, 0.0), r, r


def _massive(radius: float) -> Massive:
    volume = 4.0 / 3.0 * math.pi * radius**3
    return Massive(volume, np.zeros(3), solids.sphere(volume, radius))


PAGE = Page(
    name="sphere",
    kind=POINT,
    sizes=("radius",),
    round=False,
    support=support,
    excess=excess,
    nearest=nearest,
    made=_made,
    massive=_massive,
    curvatures=lambda x, n, radius: (1.0 / radius, 1.0 / radius),
)
