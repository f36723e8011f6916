"""Whether a mesh crosses itself: pairs of triangles without a common corner of which an edge of one pierces the other.

Triangles that only touch do not cross, as those with corners on one line do where edges are divided: the point that both have is then on
the rim of both, but for rounding.
"""

from __future__ import annotations

import numpy as np

from nexdyn.geometry.hierarchy import triangle
from nexdyn.geometry.mesh import Mesh
from nexdyn.geometry.triangles import crossing
from nexdyn.kernel import formula, kernel
from nexdyn.spatial.algebra import cross
from nexdyn.spatial.table import Vec3Rows

MOST_CROSSINGS = 10_000
"""Are counted; that there are more is all that is known then."""
MOST_LOOKS, LOOKS_OF_EACH = 20_000_000, 100
"""Pairs of boxes that are looked at, and as many more for each triangle: meshes of solids take 30 for each. It is a second or two."""
RIM = 1e-9
"""The part of a triangle's height within which a point is on its rim."""


@formula
def within(t, N, x):
    """Whether a point of the plane of a triangle lies inside it, and not on its rim."""
    least = RIM * (N @ N)
    return (
        N @ cross(t.q - t.p, x - t.p) > least
        and N @ cross(t.r - t.q, x - t.q) > least
        and N @ cross(t.p - t.r, x - t.r) > least
    )


@formula
def same(a, b):
    """Whether two corners are one vertex."""
    return a.x == b.x and a.y == b.y and a.z == b.z


@formula
def of_any(a, t):
    """Whether a is a corner of t."""
    return same(a, t.p) or same(a, t.q) or same(a, t.r)


@formula
def boxes_meet(mesh, i, j):
    """Whether the boxes of nodes i and j do."""
    c, h = Vec3Rows(mesh.nodes, 0), Vec3Rows(mesh.nodes, 3)
    r, s = c[j] - c[i], h[i] + h[j]
    return abs(r.x) <= s.x and abs(r.y) <= s.y and abs(r.z) <= s.z


@kernel
def crossings(mesh, most, stack, where):
    """(how many pairs of triangles cross, whether all were looked at), and a point of the first in `where` (1, 3)."""
    count, found, looks = 1, 0, 0
    stack[0, 0], stack[0, 1] = 0, 0
    point = Vec3Rows(where, 0)
    while count > 0 and found < MOST_CROSSINGS and looks < most:
        count, looks = count - 1, looks + 1
        i, j = stack[count, 0], stack[count, 1]
        k, m = mesh.child[i], mesh.child[j]
        if k < 0 and m < 0:
            if i != j:
                A, B = triangle(mesh.corners, -1 - k), triangle(mesh.corners, -1 - m)
                if not (of_any(A.p, B) or of_any(A.q, B) or of_any(A.r, B)):
                    NA, NB = cross(A.q - A.p, A.r - A.p), cross(B.q - B.p, B.r - B.p)
                    hit, x = crossing(A, B, NA, NB)
                    if hit and (within(A, NA, x) or within(B, NB, x)):
                        if found == 0:
                            point[0] = x
                        found += 1
            continue
        if i == j:
            for half in range(2):
                stack[count, 0], stack[count, 1] = k + half, k + half
                count += 1
            i, j, k, m = k, k + 1, mesh.child[k], mesh.child[k + 1]
            if boxes_meet(mesh, i, j):
                stack[count, 0], stack[count, 1] = i, j
                count += 1
            continue
        a, b = Vec3Rows(mesh.nodes, 3)[i], Vec3Rows(mesh.nodes, 3)[j]
        first = m < 0 or (k >= 0 and a @ a >= b @ b)
        for half in range(2):
            f, g = (k + half, j) if first else (i, m + half)
            if boxes_meet(mesh, f, g):
                stack[count, 0], stack[count, 1] = f, g
                count += 1
    return found, count == 0


def self_crossings(mesh: Mesh) -> tuple[int, np.ndarray, bool]:
    """How many pairs of triangles cross (at most MOST_CROSSINGS are counted), a point (3,) [m] where the first do, and whether all were
    looked at: not where there are too many pairs of which the boxes overlap."""
    where, most = np.zeros((1, 3)), MOST_LOOKS + LOOKS_OF_EACH * len(mesh.triangles)
    found, whole = crossings(mesh.surface.tables, most, np.zeros((256, 2), dtype=np.int64), where)
    return int(found), where[0], bool(whole)
