"""The signed distance of two triangle meshes, by their hierarchies.

    apart        the least distance of two triangles; pairs of boxes that are farther than the best so far are left out
    overlapping  surfaces that cross, or a part of one inside the other:  −d is the depth

        max of { −φ_B(x) : x on edges of A } ∪ { −φ_A(x) : x on edges of B },    φ the signed distances (mesh_point.py)

the greatest distance to the other's surface of a point on an edge that lies inside it. For a face on a face, a corner in a
face and round bodies that overlap little that is the least translation that parts them; for crossed edges it is less. A node with
its centre at depth g and half diagonal r holds no depth beyond g + r: that, and the bounds along an edge, end the search.

Bodies that touch have d = 0 and the pseudonormal of the point where they do. A mesh that is open counts as solid behind it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.geometry.contact import Contact
from nexdyn.geometry.hierarchy import MOST_OPEN, between, gap, positive_parts, triangle
from nexdyn.geometry.mesh import Surface
from nexdyn.geometry.mesh_point import MOST_INTERVALS, Foot, deepest_of_segment, foot
from nexdyn.geometry.narrow import ANSWER, FOUND, NOT_FINITE, is_finite, pose_first, turned_round, without_margins
from nexdyn.geometry.triangles import FAR, Near, Triangle, of_triangles, to_point
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.spatial.algebra import Pose, T, Vec3, cross, norm, plus_turned
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import PoseRows, Vec3Rows, row

SMALL = 1e-13
"""Depths are found to this part of the size."""
BY_POSE, A_FIRST, B_FIRST = 0, 1, 2
NEAR_PARTS = 1.0 + 1e-9
CLOSE, ROUNDED = 1e-7, 1e-14
"""Parts of the size: below the first, b − a gives the normal to 1e-7 or worse; what rounding makes of points, and of d."""
ON_POINT, MOST_CROSSED = 1e-10, 64
"""Part of the size within which a triangle is at a point; pairs of such triangles whose edges are crossed."""


class MeshWork(NamedTuple):
    """Scratch of one query: stacks of a point's search, of a pair's, and of intervals."""

    open: np.ndarray
    bound: np.ndarray
    pairs: np.ndarray
    least: np.ndarray
    cuts: np.ndarray
    over: np.ndarray


def mesh_work() -> MeshWork:
    """Scratch for one thread: 14 kB."""
    return MeshWork(
        open=np.zeros((MOST_OPEN, 1), dtype=np.int64), bound=np.zeros(MOST_OPEN),
        pairs=np.zeros((MOST_OPEN, 2), dtype=np.int64), least=np.zeros(MOST_OPEN),
        cuts=np.zeros((MOST_INTERVALS, 6)), over=np.zeros((MOST_INTERVALS, 3), dtype=np.int64),
    )  # fmt: skip


@formula
def placed(X, t):
    """A triangle of B in A's frame."""
    return Triangle(plus_turned(X.p, X.R, t.p), plus_turned(X.p, X.R, t.q), plus_turned(X.p, X.R, t.r))


@formula
def push(work, count, i, j, bound, best):
    """Put a pair on the stack where it may be nearer than `best`."""
    if bound < best:
        work.pairs[count, 0], work.pairs[count, 1], work.least[count] = i, j, bound
        return count + 1
    return count


@outlined
def nearest_triangles(A, B, X, work, s, t):
    """(Near, s, t): nearest points of the surfaces in A's frame, and their triangles; the given ones are tried first, −1 is none."""
    ca, ha, cb, hb = Vec3Rows(A.nodes, 0), Vec3Rows(A.nodes, 3), Vec3Rows(B.nodes, 0), Vec3Rows(B.nodes, 3)
    zero, S = Vec3(0.0, 0.0, 0.0), positive_parts(X.R)
    best = Near(FAR, zero, zero, zero)
    if s >= 0 and t >= 0:
        best = of_triangles(triangle(A.corners, s), placed(X, triangle(B.corners, t)), FAR)
    count = push(work, 0, 0, 0, 0.0, best.square)
    while count > 0:
        count -= 1
        if work.least[count] >= best.square:
            continue
        i, j = work.pairs[count, 0], work.pairs[count, 1]
        k, m = A.child[i], B.child[j]
        if k < 0 and m < 0:
            found = of_triangles(triangle(A.corners, -1 - k), placed(X, triangle(B.corners, -1 - m)), best.square)
            if found.square < best.square:
                best, s, t = found, -1 - k, -1 - m
            continue
        # the larger box is opened
        if m < 0 or (k >= 0 and ha[i] @ ha[i] >= hb[j] @ hb[j]):
            f = between(ca[k], ha[k], cb[j], hb[j], X, S)
            g = between(ca[k + 1], ha[k + 1], cb[j], hb[j], X, S)
            if f < g:
                count = push(work, count, k + 1, j, g, best.square)
                count = push(work, count, k, j, f, best.square)
            else:
                count = push(work, count, k, j, f, best.square)
                count = push(work, count, k + 1, j, g, best.square)
        else:
            f = between(ca[i], ha[i], cb[m], hb[m], X, S)
            g = between(ca[i], ha[i], cb[m + 1], hb[m + 1], X, S)
            if f < g:
                count = push(work, count, i, m + 1, g, best.square)
                count = push(work, count, i, m, f, best.square)
            else:
                count = push(work, count, i, m, f, best.square)
                count = push(work, count, i, m + 1, g, best.square)
    return best, s, t


@formula
def into(X, x):
    """A point of A's frame in B's, X the pose of B in A."""
    return T(X.R) @ (x - X.p)


@formula
def has_inside(B, A, X, work):
    """Whether a part of A is inside B, where the surfaces do not cross; X the pose of B in A."""
    x = Vec3Rows(A.parts, 0)
    middle = row(Vec3Rows(B.nodes, 0), 0)
    for k in range(len(A.parts)):
        y = into(X, x[k])
        if B.radius[1] == 0.0 or norm(y - middle) <= NEAR_PARTS * B.radius[0]:
            at = foot(B, work, y, -1)
            if at.d < 0.0:
                return True
    return False


@formula
def inverse_of(X):
    """The pose of A in B where X is that of B in A."""
    return Pose(T(X.R), -(T(X.R) @ X.p))


@formula
def node_depth(A, B, X, S, work, i, count, best, guess):
    """Put node i of A on the stack where a point of it may be deeper than `best` inside B."""
    c, h = Vec3Rows(A.nodes, 0)[i], Vec3Rows(A.nodes, 3)[i]
    root, half = row(Vec3Rows(B.nodes, 0), 0), row(Vec3Rows(B.nodes, 3), 0)
    if B.radius[1] > 0.0 and between(c, h, root, half, X, S) > 0.0:
        return count
    at = foot(B, work, into(X, c), guess)
    bound = norm(h) - at.d
    if bound > best:
        work.pairs[count, 0], work.pairs[count, 1], work.least[count] = i, at.t, bound
        count += 1
    return count


@outlined
def deepest_edges(A, B, X, work, best, small):
    """(Foot on B in B's frame, x in A's, left): the deepest point on edges of A inside B; triangle −1 where none exceeds `best`."""
    p, q, r, S = Vec3Rows(A.corners, 0), Vec3Rows(A.corners, 3), Vec3Rows(A.corners, 6), positive_parts(X.R)
    zero = Vec3(0.0, 0.0, 0.0)
    found, x, left = Foot(0.0, zero, zero, -1), zero, 0.0
    count = node_depth(A, B, X, S, work, 0, 0, best + small, -1)
    while count > 0:
        count -= 1
        i, guess = work.pairs[count, 0], work.pairs[count, 1]
        if work.least[count] <= best + small:
            continue
        k = A.child[i]
        if k >= 0:
            before = count
            count = node_depth(A, B, X, S, work, k, count, best + small, guess)
            count = node_depth(A, B, X, S, work, k + 1, count, best + small, guess)
            if count == before + 2 and work.least[before] > work.least[before + 1]:  # the deeper one first
                for c in range(2):
                    f = work.pairs[before, c]
                    work.pairs[before, c], work.pairs[before + 1, c] = work.pairs[before + 1, c], f
                g = work.least[before]
                work.least[before], work.least[before + 1] = work.least[before + 1], g
            continue
        t = -1 - k
        for edge in range(3):
            if (A.owned[t] >> edge) & 1 == 1:
                begin = p[t] if edge == 0 else q[t] if edge == 1 else r[t]
                end = q[t] if edge == 0 else r[t] if edge == 1 else p[t]
                y, e = into(X, begin), T(X.R) @ (end - begin)
                at, s, missed = deepest_of_segment(B, work, y, e, best, small, guess)
                left = max(left, missed)
                if at.t >= 0:
                    found, x, best = at, begin + s * (end - begin), -at.d
    return found, x, left


@outlined
def triangles_at(mesh, work, x, small, column):
    """Write the triangles that are no farther than √small from x into work.over[:, column]; how many, as far as there is room."""
    centre, half = Vec3Rows(mesh.nodes, 0), Vec3Rows(mesh.nodes, 3)
    work.open[0, 0] = 0
    count, found = 1, 0
    while count > 0 and found < len(work.over):
        count -= 1
        k = work.open[count, 0]
        i = mesh.child[k]
        if i < 0:
            square, _, _, _ = to_point(triangle(mesh.corners, -1 - i), x)
            if square <= small:
                work.over[found, column] = -1 - i
                found += 1
            continue
        for c in range(2):
            if gap(x - centre[i + c], half[i + c]) <= small:
                work.open[count, 0] = i + c
                count += 1
    return found


@outlined
def parting(A, B, X, work, na, nb, n):
    """By how much n parts the triangles in work.over: the lowest corner of B's along it over the highest of A's."""
    low, high = FAR, -FAR
    for k in range(na):
        P = triangle(A.corners, work.over[k, 0])
        high = max(high, n @ P.p, n @ P.q, n @ P.r)
    for k in range(nb):
        Q = placed(X, triangle(B.corners, work.over[k, 1]))
        low = min(low, n @ Q.p, n @ Q.q, n @ Q.r)
    return low - high


@formula
def side(t, c):
    """The edge c of a triangle."""
    return t.q - t.p if c == 0 else t.r - t.q if c == 1 else t.p - t.r


@outlined
def touching_normal(A, B, X, work, s, t, touch):
    """Of the normals of all triangles that touch at a point, and of A's feature there, the one that parts these triangles best; where none
    does, also of the products of their edges.

    Two alone do not tell: walls that stand edge to edge are parted by their own normals, but the faces between them are not."""
    at = foot(A, work, touch, s)
    small = ON_POINT * (A.radius[0] + B.radius[0])
    na, nb = triangles_at(A, work, touch, small * small, 0), triangles_at(B, work, into(X, touch), small * small, 1)
    if na == 0 or nb == 0:
        work.over[0, 0], work.over[0, 1], na, nb = s, t, 1, 1
    best, n = -FAR, Vec3(1.0, 0.0, 0.0)
    for k in range(na + nb + 1):
        if k < na:
            m = Vec3Rows(A.normals, 0)[work.over[k, 0]]
        elif k < na + nb:
            m = -(X.R @ Vec3Rows(B.normals, 0)[work.over[k - na, 1]])
        else:
            m = at.n
        size = norm(m)
        if size > 0.0:
            m = (1.0 / size) * m
            parts = parting(A, B, X, work, na, nb, m)
            if parts > best:
                best, n = parts, m
    if na * nb <= MOST_CROSSED and best < -small:
        for k in range(9 * na * nb):
            P, Q = (
                triangle(A.corners, work.over[k // 9 // nb, 0]),
                placed(X, triangle(B.corners, work.over[k // 9 % nb, 1])),
            )
            m = cross(side(P, k % 3), side(Q, k // 3 % 3))
            size = norm(m)
            for sign in (-1.0, 1.0):
                if size > ON_POINT * norm(side(P, k % 3)) * norm(side(Q, k // 3 % 3)):
                    parts = parting(A, B, X, work, na, nb, (sign / size) * m)
                    if parts > best:
                        best, n = parts, (sign / size) * m
    return n


@outlined
def normal_apart(A, B, X, work, near, s, t):
    """The normal of meshes that are apart: along b − a, which rounding leaves ROUNDED size/d of; where they are CLOSE, of the normals of
    triangles s and t and the products of their edges the nearest to that, if it is as near as that; where they all but touch, as there."""
    n, d, size = (1.0 / norm(near.n)) * near.n, sqrt(near.square), A.radius[0] + B.radius[0]
    if d > CLOSE * size:
        return n
    if d <= ROUNDED * size:
        return touching_normal(A, B, X, work, s, t, near.a)
    P, Q = triangle(A.corners, s), placed(X, triangle(B.corners, t))
    off, best = ROUNDED * size / d, n
    for k in range(11):
        if k == 0:
            m = Vec3Rows(A.normals, 0)[s]
        elif k == 1:
            m = -(X.R @ Vec3Rows(B.normals, 0)[t])
        else:
            e, f = side(P, (k - 2) % 3), side(Q, (k - 2) // 3)
            m = cross(e, f)
            m = (1.0 if m @ n > 0.0 else -1.0) * m if norm(m) > ON_POINT * norm(e) * norm(f) else Vec3(0.0, 0.0, 0.0)
        if m @ m > 0.0:
            m = (1.0 / norm(m)) * m
            if norm(m - n) < off:
                off, best = norm(m - n), m
    return best


@outlined
def overlap_of(A, B, X, work, s, t, touch):
    """The contact of meshes that touch or overlap, in A's frame; `touch` is a point of both where they do, on triangles s and t."""
    small = SMALL * (A.radius[0] + B.radius[0])
    at, x, left = deepest_edges(A, B, X, work, 0.0, small)
    depth = max(-at.d, 0.0)
    back, y, missed = deepest_edges(B, A, inverse_of(X), work, depth, small)
    left = max(left, missed)
    if back.t >= 0:
        return Contact(back.d, back.n, back.y, plus_turned(X.p, X.R, y), left)
    if at.t >= 0:
        return Contact(at.d, -(X.R @ at.n), x, plus_turned(X.p, X.R, at.y), left)
    n = touching_normal(A, B, X, work, s, t, touch)
    return Contact(0.0, n, touch, touch, left)


@outlined
def of_meshes(A, B, X, work, s, t):
    """(contact in A's frame, triangles s, t)."""
    near, s, t = nearest_triangles(A, B, X, work, s, t)
    d = sqrt(near.square)
    if d > 0.0 and not has_inside(B, A, X, work) and not has_inside(A, B, inverse_of(X), work):
        return Contact(d, normal_apart(A, B, X, work, near, s, t), near.a, near.b, 0.0), s, t
    return overlap_of(A, B, X, work, s, t, near.a), s, t


@formula
def ordered_meshes(A, B, XA, XB, ra, rb, work, s, t):
    """(contact in the world, s, t) of A and B with margins ra and rb, A first."""
    X = Pose(T(XA.R) @ XB.R, T(XA.R) @ (XB.p - XA.p))
    c, s, t = of_meshes(A, B, X, work, s, t)
    c = without_margins(c, ra, rb)
    return Contact(c.d, XA.R @ c.n, plus_turned(XA.p, XA.R, c.a), plus_turned(XA.p, XA.R, c.b), c.error), s, t


@kernel
def mesh_distances(A, B, margins, order, poses_a, poses_b, work, answers, near, status):
    """Answers (n, ANSWER) of meshes A and B in poses (n, 12), as `narrow.distances`.

    margins: radii of balls that sweep them. order: which goes first. near (n, 2): the triangles between which they are
    nearest; on entry those that are tried first, −1 for none."""
    XA, XB = PoseRows(poses_a, 0), PoseRows(poses_b, 0)
    n, a, b = Vec3Rows(answers, 1), Vec3Rows(answers, 4), Vec3Rows(answers, 7)
    for k in range(len(poses_a)):
        X, Y = XA[k], XB[k]
        zero = Vec3(0.0, 0.0, 0.0)
        c, status[k] = Contact(0.0, zero, zero, zero, 0.0), NOT_FINITE
        if is_finite(X) and is_finite(Y):
            status[k] = FOUND
            if order == A_FIRST or (order == BY_POSE and pose_first(X, Y)):
                c, near[k, 0], near[k, 1] = ordered_meshes(
                    A, B, X, Y, margins[0], margins[1], work, near[k, 0], near[k, 1]
                )
            else:
                c, near[k, 1], near[k, 0] = ordered_meshes(
                    B, A, Y, X, margins[1], margins[0], work, near[k, 1], near[k, 0]
                )
                c = turned_round(c)
        answers[k, 0], answers[k, 10] = c.d, c.error
        n[k], a[k], b[k] = c.n, c.a, c.b


@kernel
def feet(mesh, points, work, answers):
    """Answers (n, 7) = signed distance, nearest point, outward normal there, of points (n, 3) in the frame of the mesh."""
    x, y, n = Vec3Rows(points, 0), Vec3Rows(answers, 1), Vec3Rows(answers, 4)
    guess = -1
    for k in range(len(points)):
        at = foot(mesh, work, x[k], guess)
        answers[k, 0], y[k], n[k], guess = at.d, at.y, at.n, at.t


def order_of(a: Surface, b: Surface) -> int:
    """Which of two goes first, whatever their order."""
    return BY_POSE if a.key == b.key else A_FIRST if a.key < b.key else B_FIRST


def signed_distances(surface: Surface, points: Any) -> np.ndarray:
    """(n, 7) of `points` (n, 3) in the frame of the surface: signed distance [m], nearest point, outward unit normal there."""
    try:
        x = np.array(points, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"points are {points!r:.80}; numbers (n, 3) are needed") from None
    if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
        raise InputError(f"points have shape {x.shape}, or are not finite; finite ones (n, 3) are needed")
    answers = np.zeros((len(x), 7))
    feet(surface.tables, x, mesh_work(), answers)
    n = answers[:, 4:]
    answers[:, 0] -= surface.margin
    answers[:, 1:4] += surface.margin * n
    return answers


def surface_distances(a: Surface, b: Surface, poses_a: np.ndarray, poses_b: np.ndarray) -> np.ndarray:
    """Answers (n, ANSWER) of two surfaces in poses (n, 12). InputError for a pose that is not finite."""
    n = len(poses_a)
    answers, status = np.zeros((n, ANSWER)), np.zeros(n, dtype=np.int64)
    mesh_distances(
        a.tables, b.tables, np.array([a.margin, b.margin]), order_of(a, b), poses_a, poses_b, mesh_work(), answers,
        np.full((n, 2), -1), status,
    )  # fmt: skip
    if (status != FOUND).any():
        raise InputError(f"pose {(status != FOUND).argmax()} is not finite")
    return answers
