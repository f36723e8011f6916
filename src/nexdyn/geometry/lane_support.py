"""Support points in SIMD lanes: of one shape, along a direction of each lane."""

from __future__ import annotations

from nexdyn.geometry.solid import BOX, CONE, CYLINDER, ELLIPSOID, POINT, SEGMENT
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import if_less, sqrt, zero
from nexdyn.spatial.table import Vec3Rows


@formula
def magnitude(x):
    """|x|."""
    return if_less(x, zero(x), -x, x)


@formula
def held(x, h):
    """x, at least −h and at most h."""
    o = zero(x)
    return if_less(x, o - h, o - h, if_less(h, x, o + h, x))


@formula
def signed(h, x):
    """h with the sign of x; h at 0."""
    o = zero(x)
    return if_less(x, o, o - h, o + h)


@formula
def choose(x, y, then, otherwise):
    """`then` in the lanes where x < y, of vectors."""
    return Vec3(
        if_less(x, y, then.x, otherwise.x), if_less(x, y, then.y, otherwise.y), if_less(x, y, then.z, otherwise.z)
    )  # fmt: skip


@formula
def lane_support(s, tables, n):
    """A point of the core that is farthest along n, in each lane."""
    o, h = zero(n.x), s.size
    if s.kind == SEGMENT:
        return Vec3(o, o, signed(h.z, n.z))
    if s.kind == BOX:
        return Vec3(signed(h.x, n.x), signed(h.y, n.y), signed(h.z, n.z))
    if s.kind == CYLINDER or s.kind == CONE:
        across = sqrt(n.x * n.x + n.y * n.y)
        f = if_less(o, across, h.x / if_less(o, across, across, o + 1.0), o)
        rim = Vec3(f * n.x, f * n.y, signed(h.z, n.z) if s.kind == CYLINDER else o - h.z)
        if s.kind == CYLINDER:
            return rim
        return choose(h.x * across, 2.0 * h.z * n.z, Vec3(o, o, o + h.z), rim)
    if s.kind == ELLIPSOID:
        m = Vec3(h.x * n.x, h.y * n.y, h.z * n.z)
        f = 1.0 / sqrt(m @ m)
        return Vec3(f * h.x * m.x, f * h.y * m.y, f * h.z * m.z)
    best = Vec3(o, o, o)
    if s.kind == POINT:
        return best
    x, most = Vec3Rows(tables.vertices, 0), o - 1e300
    for k in range(s.first, s.last):
        v = Vec3(o + x[k].x, o + x[k].y, o + x[k].z)
        height = n @ v
        best, most = choose(most, height, v, best), if_less(most, height, height, most)
    return best
