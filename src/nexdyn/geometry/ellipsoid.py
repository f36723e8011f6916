"""Ellipsoid Σ (x_i/a_i)² ≤ 1; size = (a, b, c). Support D² n/|D n| with D = diag(a, b, c). Volume 4/3 π a b c.

With F = Σ x_i²/a_i², g = ∇F/2 and n = g/|g|, the curvatures are the eigenvalues of D⁻²/|g| on the tangent plane.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nexdyn.errors import InputError
from nexdyn.geometry.solid import ELLIPSOID, Massive, Page, positive
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import sqrt

ITERATIONS = 60


@formula
def farthest(s, n):
    """D² n/|D n|."""
    a = s.size
    m = Vec3(a.x * n.x, a.y * n.y, a.z * n.z)
    f = 1.0 / sqrt(m @ m)
    return Vec3(f * a.x * m.x, f * a.y * m.y, f * a.z * m.z)


@formula
def support(s, tables, n):
    """The point with normal n."""
    return farthest(s, n)


@formula
def excess(s, tables, x):
    """(|D⁻¹ x| − 1) times the least half axis."""
    a = s.size
    u = Vec3(x.x / a.x, x.y / a.y, x.z / a.z)
    return max((sqrt(u @ u) - 1.0) * min(a.x, a.y, a.z), 0.0)


@formula
def ratio(x, y):
    """x/y; 0 where both are."""
    return x / y if x != 0.0 else 0.0


@formula
def nearest(s, tables, x):
    """The foot p_i = a_i² x_i/(a_i² + t), where t is the largest root of S(t) = Σ (a_i x_i/(a_i² + t))² = 1; d = t |u|, u_i = p_i/a_i².

    s = t + a² of the least half axis, and a_i² less that, leave nothing that cancels. 1/√S grows and is concave, so that Newton's method
    from the left of the root comes to it from there. Where no root is above s = 0, the foot is along the least half axis."""
    a = s.size
    b = Vec3(a.x * a.x, a.y * a.y, a.z * a.z)
    c = Vec3(abs(a.x * x.x), abs(a.y * x.y), abs(a.z * x.z))
    least = min(b.x, b.y, b.z)
    gap = Vec3(b.x - least, b.y - least, b.z - least)
    w = max(c.x - gap.x, c.y - gap.y, c.z - gap.z, 0.0)
    for _ in range(ITERATIONS):
        e = Vec3(ratio(c.x, gap.x + w), ratio(c.y, gap.y + w), ratio(c.z, gap.z + w))
        S = e @ e
        if not S > 1.0:
            break
        slope = e.x * ratio(e.x, gap.x + w) + e.y * ratio(e.y, gap.y + w) + e.z * ratio(e.z, gap.z + w)
        step = S * (sqrt(S) - 1.0) / slope
        w += step
        if not step > 1e-16 * w:
            break
    u = Vec3(ratio(x.x, gap.x + w), ratio(x.y, gap.y + w), ratio(x.z, gap.z + w))
    left = 1.0 - (b.x * u.x * u.x + b.y * u.y * u.y + b.z * u.z * u.z)
    if w == 0.0 and left > 0.0:
        more = sqrt(left / least)
        if b.x == least:
            u = Vec3(more, u.y, u.z)
        elif b.y == least:
            u = Vec3(u.x, more, u.z)
        else:
            u = Vec3(u.x, u.y, more)
    length = sqrt(u @ u)
    return (w - least) * length, (1.0 / length) * u


def _axes(semi_axes: Sequence[float]) -> tuple[float, float, float]:
    if np.shape(semi_axes) != (3,):
        raise InputError(f"semi_axes of the ellipsoid is {semi_axes!r}; three lengths are needed")
    a, b, c = (positive(x, f"semi_axes[{i}] of the ellipsoid") for i, x in enumerate(semi_axes))
    return a, b, c


def _made(semi_axes: Sequence[float]) -> tuple[tuple[float, float, float], float, float]:
    axes = _axes(semi_axes)
    return axes, 0.0, max(axes)


def _massive(semi_axes: Sequence[float]) -> Massive:
    a, b, c = _axes(semi_axes)
    volume = 4.0 / 3.0 * math.pi * a * b * c
    return Massive(volume, np.zeros(3), volume / 5.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b]))


def _curvatures(x: np.ndarray, n: np.ndarray, semi_axes: Sequence[float]) -> tuple[float, float]:
    squares = np.square(_axes(semi_axes))
    length = np.linalg.norm(x / squares)
    project = np.eye(3) - np.outer(n, n)
    shape = project @ np.diag(1.0 / squares) @ project / length
    _, second, first = np.linalg.eigvalsh(shape)
    return float(first), float(second)


PAGE = Page(
    name="ellipsoid",
    kind=ELLIPSOID,
    sizes=("semi_axes",),
    round=True,
    support=support,
    excess=excess,
    nearest=nearest,
    made=_made,
    massive=_massive,
    curvatures=_curvatures,
)
