"""Box about the origin with half edges (x, y, z). Flat faces; volume 8 x y z."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nexdyn.errors import InputError
from nexdyn.geometry.solid import BOX, Massive, Page, positive
from nexdyn.kernel import formula
from nexdyn.spatial import solids
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import sqrt


@formula
def support(s, tables, n):
    """The corner with the signs of n."""
    h = s.size
    return Vec3(h.x if n.x >= 0.0 else -h.x, h.y if n.y >= 0.0 else -h.y, h.z if n.z >= 0.0 else -h.z)


@formula
def excess(s, tables, x):
    """max(|x_i| − h_i, 0)."""
    return max(abs(x.x) - s.size.x, abs(x.y) - s.size.y, abs(x.z) - s.size.z, 0.0)


@formula
def nearest(s, tables, x):
    """Outside |x − clamp(x)|; inside, −the least distance to a face, of equal ones the first."""
    h = s.size
    r = Vec3(
        x.x - min(max(x.x, -h.x), h.x), x.y - min(max(x.y, -h.y), h.y), x.z - min(max(x.z, -h.z), h.z)
    )  # fmt: skip
    d = sqrt(r @ r)
    if d > 0.0:
        return d, (1.0 / d) * r
    gx, gy, gz = abs(x.x) - h.x, abs(x.y) - h.y, abs(x.z) - h.z
    if gx >= gy and gx >= gz:
        return gx, Vec3(1.0 if x.x >= 0.0 else -1.0, 0.0, 0.0)
    if gy >= gz:
        return gy, Vec3(0.0, 1.0 if x.y >= 0.0 else -1.0, 0.0)
    return gz, Vec3(0.0, 0.0, 1.0 if x.z >= 0.0 else -1.0)


def _half(size: Sequence[float]) -> tuple[float, float, float]:
    if np.shape(size) != (3,):
        raise InputError(f"size of the box is {size!r}; three edges (x, y, z) are needed")
    x, y, z = (0.5 * positive(edge, f"size[{i}] of the box") for i, edge in enumerate(size))
    return x, y, z


def _made(size: Sequence[float]) -> tuple[tuple[float, float, float], float, float]:
    half = _half(size)
    return half, 0.0, math.hypot(*half)


def _massive(size: Sequence[float]) -> Massive:
    volume = 8.0 * math.prod(_half(size))
    return Massive(volume, np.zeros(3), solids.box(volume, size))


def _curvatures(x: np.ndarray, n: np.ndarray, size: Sequence[float]) -> tuple[float, float]:
    """0 on a face; along an edge 0, across it inf; inf at a corner."""
    components = int((np.abs(n) > 1e-9).sum())
    return (math.inf if components > 1 else 0.0), (math.inf if components > 2 else 0.0)


PAGE = Page(
    name="box",
    kind=BOX,
    sizes=("size",),
    round=False,
    support=support,
    excess=excess,
    nearest=nearest,
    made=_made,
    massive=_massive,
    curvatures=_curvatures,
)
