"""The contact patch of two triangle meshes: where their surfaces run parallel at an answer of mesh_distance.py.

The feature of A along n is what lies within `tolerance` times its size of the plane n·x = n·a, a the witness point: triangles
with all three corners there; where none of them holds a, edges with both ends there; where none does either, a alone. So is
that of B at b. Every piece of A meets every piece of B in a convex polygon, a segment or a point, in the plane halfway between
(patch.py). Faces overlap in no area but their common one, so that

    area = Σ A_k,     centre = Σ A_k c_k / area     over the polygons; over the lengths of segments where there is no area

`polygon` is the convex hull of all of them: the patch itself where it is convex.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.geometry.hierarchy import MOST_OPEN, triangle
from nexdyn.geometry.mesh import Surface
from nexdyn.geometry.patch import area_and_centre, convex, intersection, patch_work
from nexdyn.kernel import formula, kernel
from nexdyn.spatial.algebra import T, basis, plus_turned
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import PoseRows, Vec3Rows, row

MOST_PIECES = 4096
"""Pieces of a feature; of larger ones the first count, and `complete` is false."""
MOST_CORNERS = 8192
"""Corners of pieces that the hull is made of."""
FACE, EDGE, VERTEX = 3, 2, 1


class Pieces(NamedTuple):
    """Corners in the plane (MOST_PIECES, 6), and least and most u, v of each (MOST_PIECES, 4)."""

    corners: np.ndarray
    box: np.ndarray


class MeshPatch(NamedTuple):
    """polygon (k, 3) [m], area [m²], centre (3,) [m]; complete: no piece was left out."""

    polygon: np.ndarray
    area: float
    centre: np.ndarray
    complete: bool


def pieces() -> Pieces:
    return Pieces(np.zeros((MOST_PIECES, 6)), np.zeros((MOST_PIECES, 4)))


@formula
def put(into, count, X, x, y, z, corners, o, e1, e2):
    """Append a piece of one to three corners, projected into the plane; the count goes on beyond the room."""
    if count < MOST_PIECES:
        low_u, low_v, high_u, high_v = np.inf, np.inf, -np.inf, -np.inf
        for c in range(corners):
            r = plus_turned(X.p, X.R, x if c == 0 else y if c == 1 else z) - o
            u, v = e1 @ r, e2 @ r
            into.corners[count, 2 * c], into.corners[count, 2 * c + 1] = u, v
            low_u, low_v, high_u, high_v = min(low_u, u), min(low_v, v), max(high_u, u), max(high_v, v)
        into.box[count, 0], into.box[count, 1], into.box[count, 2], into.box[count, 3] = low_u, low_v, high_u, high_v
    return count + 1


@formula
def longer(x, y, near):
    """Whether y is farther from x than `near`."""
    return (y - x) @ (y - x) > near * near


@formula
def feature_pieces(mesh, X, n, level, near, kind, open, into, o, e1, e2):
    """Faces or edges of the mesh in pose X within `near` of the plane n·x = level (n, level in the mesh's frame)."""
    centre, half = Vec3Rows(mesh.nodes, 0), Vec3Rows(mesh.nodes, 3)
    open[0, 0], waiting, count = 0, 1, 0
    while waiting > 0:
        waiting -= 1
        k = open[waiting, 0]
        c, h = centre[k], half[k]
        if abs(n @ c - level) > abs(n.x) * h.x + abs(n.y) * h.y + abs(n.z) * h.z + near:
            continue
        i = mesh.child[k]
        if i >= 0:
            open[waiting, 0], open[waiting + 1, 0] = i + 1, i
            waiting += 2
            continue
        t = -1 - i
        tri = triangle(mesh.corners, t)
        p, q, r = abs(n @ tri.p - level) <= near, abs(n @ tri.q - level) <= near, abs(n @ tri.r - level) <= near
        if kind == FACE:
            m = row(Vec3Rows(mesh.normals, 0), t)
            if p and q and r and m @ n > 0.5:
                count = put(into, count, X, tri.p, tri.q, tri.r, 3, o, e1, e2)
        else:
            if p and q and longer(tri.p, tri.q, near) and mesh.owned[t] & 1:
                count = put(into, count, X, tri.p, tri.q, tri.q, 2, o, e1, e2)
            if q and r and longer(tri.q, tri.r, near) and mesh.owned[t] & 2:
                count = put(into, count, X, tri.q, tri.r, tri.r, 2, o, e1, e2)
            if r and p and longer(tri.r, tri.p, near) and mesh.owned[t] & 4:
                count = put(into, count, X, tri.r, tri.p, tri.p, 2, o, e1, e2)
    return count


@formula
def copy_piece(of, k, corners, out):
    """Piece k counter-clockwise into rows of `out`."""
    for c in range(corners):
        out[c, 0], out[c, 1] = of.corners[k, 2 * c], of.corners[k, 2 * c + 1]
    if corners == 3:
        turn = (out[1, 0] - out[0, 0]) * (out[2, 1] - out[0, 1]) - (out[1, 1] - out[0, 1]) * (out[2, 0] - out[0, 0])
        if turn < 0.0:
            for c in range(2):
                f = out[1, c]
                out[1, c] = out[2, c]
                out[2, c] = f


@formula
def clear(p, m, q, k, u, v, near):
    """Whether m points p and k points q are farther apart than `near` along unit (u, v)."""
    f = u * p[0, 0] + v * p[0, 1]
    g = u * p[m - 1, 0] + v * p[m - 1, 1]
    s = u * q[0, 0] + v * q[0, 1]
    t = u * q[k - 1, 0] + v * q[k - 1, 1]
    return max(f, g) + near < min(s, t) or max(s, t) + near < min(f, g)


@formula
def off(p, m, q, k, near):
    """Whether points or segments p and q (m, k rows) do not meet: along the axes, or along and across one of them."""
    if clear(p, m, q, k, 1.0, 0.0, near) or clear(p, m, q, k, 0.0, 1.0, near):
        return True
    for side in range(2):
        s, count = (p, m) if side == 0 else (q, k)
        u, v = s[count - 1, 0] - s[0, 0], s[count - 1, 1] - s[0, 1]
        length = sqrt(u * u + v * v)
        if length > 0.0:
            u, v = u / length, v / length
            if clear(p, m, q, k, u, v, near) or clear(p, m, q, k, -v, u, near):
                return True
    return False


@formula
def holds(p, x, y, near):
    """Whether triangle p, counter-clockwise, holds (x, y) to `near`."""
    for i in range(3):
        j = i + 1 if i < 2 else 0
        u, v = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1]
        if u * (y - p[i, 1]) - v * (x - p[i, 0]) < -near * sqrt(u * u + v * v):
            return False
    return True


@formula
def holds_origin(of, count, kind, near, first):
    """Whether any of the pieces holds (0, 0) to `near`."""
    for k in range(count):
        b = of.box[k]
        if b[0] <= near and b[1] <= near and b[2] >= -near and b[3] >= -near:
            copy_piece(of, k, kind, first)
            if kind == FACE:
                if holds(first, 0.0, 0.0, near):
                    return True
            else:
                u, v = first[1, 0] - first[0, 0], first[1, 1] - first[0, 1]
                if abs(u * first[0, 1] - v * first[0, 0]) <= near * sqrt(u * u + v * v):
                    return True
    return False


@formula
def feature_of(mesh, X, n, x, tolerance, open, into, o, e1, e2, first):
    """(kind, count): the pieces of the highest kind that lie in the plane through x normal to n and hold x; else x alone.

    All in the world; x is above or below o."""
    m, y = T(X.R) @ n, T(X.R) @ (x - X.p)
    near = tolerance * mesh.radius[0] + 1e-13 * sqrt(X.p @ X.p)
    for kind in (FACE, EDGE):
        count = feature_pieces(mesh, X, m, m @ y, near, kind, open, into, o, e1, e2)
        if holds_origin(into, min(count, MOST_PIECES), kind, near, first):
            return kind, count
    return VERTEX, put(into, 0, X, y, y, y, 1, o, e1, e2)


@formula
def add_hull(w, count, hull, corners, small):
    """Append `count` rows of w.spare to `hull`; a full one is replaced by its own hull."""
    if corners + count > MOST_CORNERS:
        corners = min(convex(hull, corners, w.wide, small), MOST_CORNERS // 2)
        for i in range(corners):
            hull[i, 0], hull[i, 1] = w.wide[i, 0], w.wide[i, 1]
    for i in range(count):
        hull[corners + i, 0], hull[corners + i, 1] = w.spare[i, 0], w.spare[i, 1]
    return corners + count


class Scratch(NamedTuple):
    """As PatchWork, with room for a hull."""

    space: np.ndarray
    first: np.ndarray
    second: np.ndarray
    clipped: np.ndarray
    spare: np.ndarray
    wide: np.ndarray


@formula
def met(w, kind_a, kind_b, tolerance, near):
    """The common part of pieces w.first and w.second, into w.clipped; how many points, 0 where there is none."""
    if kind_a < FACE and kind_b < FACE and off(w.first, kind_a, w.second, kind_b, near):
        return 0
    if kind_a > VERTEX and kind_b > VERTEX:
        return intersection(w, kind_a, kind_b, tolerance)
    point, other, kind = (w.first, w.second, kind_b) if kind_a == VERTEX else (w.second, w.first, kind_a)
    w.clipped[0, 0], w.clipped[0, 1] = point[0, 0], point[0, 1]
    return 1 if kind < FACE or holds(other, point[0, 0], point[0, 1], near) else 0


@formula
def add(w, count, sums, hull, corners, small):
    """Add the part in w.clipped to `sums` (3, 3) = (area or length or 1, times u, times v) and to the hull; its corners then."""
    for c in range(count):
        w.spare[c, 0], w.spare[c, 1] = w.clipped[c, 0], w.clipped[c, 1]
    corners = add_hull(w, count, hull, corners, small)
    area, u, v = area_and_centre(w.clipped, count)
    length = 0.0
    if count == 2:
        x, y = w.clipped[1, 0] - w.clipped[0, 0], w.clipped[1, 1] - w.clipped[0, 1]
        length = sqrt(x * x + y * y)
    for k in range(3):
        s = area if k == 0 else length if k == 1 else 1.0
        sums[k, 0], sums[k, 1], sums[k, 2] = sums[k, 0] + s, sums[k, 1] + s * u, sums[k, 2] + s * v
    return corners


@kernel
def mesh_patch(A, B, margins, on_plane, pose_a, pose_b, answer, tolerance, open, of_a, of_b, w, sums, hull, found):
    """The patch of one answer of meshes with margins (2,): its corners in w.space; `found` (7,) = count, area, centre (3,), pieces
    of A and of B. on_plane: B is a plane, whatever its tables."""
    XA, XB = row(PoseRows(pose_a, 0), 0), row(PoseRows(pose_b, 0), 0)
    n, a, b = row(Vec3Rows(answer, 1), 0), row(Vec3Rows(answer, 4), 0), row(Vec3Rows(answer, 7), 0)
    o = 0.5 * (a + b)
    e1, e2 = basis(n)
    size = A.radius[0] + (0.0 if on_plane else B.radius[0])
    small, near = 1e-12 * size, tolerance * size
    kind_a, count_a = feature_of(A, XA, n, a - margins[0] * n, tolerance, open, of_a, o, e1, e2, w.first)
    kind_b, count_b = VERTEX, 0
    if not on_plane:
        kind_b, count_b = feature_of(B, XB, -n, b + margins[1] * n, tolerance, open, of_b, o, e1, e2, w.first)
    found[5], found[6] = count_a, count_b
    sums[:, :] = 0.0
    corners = 0
    for i in range(min(count_a, MOST_PIECES)):
        if on_plane:
            copy_piece(of_a, i, kind_a, w.clipped)
            corners = add(w, kind_a, sums, hull, corners, small)
        for j in range(min(count_b, MOST_PIECES)):
            f, g = of_a.box[i], of_b.box[j]
            if f[0] <= g[2] + near and g[0] <= f[2] + near and f[1] <= g[3] + near and g[1] <= f[3] + near:
                copy_piece(of_a, i, kind_a, w.first)
                copy_piece(of_b, j, kind_b, w.second)
                count = met(w, kind_a, kind_b, tolerance, near)
                if count > 0:
                    corners = add(w, count, sums, hull, corners, small)
    k = 0 if sums[0, 0] > small * small else 1 if sums[1, 0] > small else 2
    if corners == 0:  # features that meet in a point of rounding
        hull[0, 0], hull[0, 1], corners, sums[2, 0] = 0.0, 0.0, 1, 1.0
    middle = o + (sums[k, 1] / sums[k, 0]) * e1 + (sums[k, 2] / sums[k, 0]) * e2
    count = convex(hull, corners, w.wide, near)
    found[0], found[1] = count, sums[0, 0] if k == 0 else 0.0
    found[2], found[3], found[4] = middle.x, middle.y, middle.z
    P = Vec3Rows(w.space, 0)
    for i in range(min(count, len(w.space))):
        P[i] = o + w.wide[i, 0] * e1 + w.wide[i, 1] * e2


def patch_of(
    a: Surface, b: Surface | None, pose_a: np.ndarray, pose_b: np.ndarray, answer: np.ndarray, tolerance: float
) -> MeshPatch:  # fmt: skip
    """The patch of surfaces in poses (1, 12) whose distance is `answer` (1, ANSWER), of features parallel to `tolerance` of the size.

    b: None for a plane."""
    base: Any = patch_work()
    w = Scratch(
        np.zeros((MOST_CORNERS, 3)), base.first, base.second, base.clipped, base.spare, np.zeros((2 * MOST_CORNERS, 2))
    )
    found, other = np.zeros(7), a if b is None else b
    mesh_patch(
        a.tables, other.tables, np.array([a.margin, other.margin]), b is None, pose_a, pose_b, answer, tolerance,
        np.zeros((MOST_OPEN, 1), dtype=np.int64), pieces(), pieces(), w, np.zeros((3, 3)), np.zeros((2 * MOST_CORNERS, 2)), found,
    )  # fmt: skip
    count = int(found[0])
    return MeshPatch(w.space[:count].copy(), float(found[1]), found[2:5].copy(), bool(found[5:].max() <= MOST_PIECES))
