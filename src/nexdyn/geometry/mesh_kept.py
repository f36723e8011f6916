"""The distance of two meshes along a motion, with the pairs of triangles that may be nearest kept.

At pose X₀ of B in A all pairs with a distance d_k below a limit are found, in the order of these. A point of B at r from a centre c
moves until pose X by no more than

    δ(r) = |X c − X₀ c| + |R − R₀|₂ r,     |R − R₀|₂ = |R − R₀|_F/√2     for rotations

The limit is d₀ + m + μ r, d₀ the least distance then, r the farthest of a triangle of B from c: bodies that roll on each other move little
where they meet, and much where they are far apart. Kept pairs, r at most ρ, are no nearer than d_k − δ(ρ) in pose X, and all others than

    R = d₀ + m − |X c − X₀ c| + min(0, μ − |R − R₀|₂) r_B,     r_B the farthest of all of B

The pairs are tried in their order until d_k − δ(ρ) exceeds the least distance d found, less those that were tried at a later pose,
from where to here the sum of the steps δ(ρ) does not take them to d. Where d ≤ R it is the least of all, exactly; else
pairs are found anew, with c in the middle of those that were kept. Surfaces that are farther apart than δ(ρ), and others
than 0, cannot have passed through each other, so that what was outside then is outside.
Where they cross, mesh_kept_overlap.py finds the depth from the same pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.geometry.contact import Contact
from nexdyn.geometry.hierarchy import between, positive_parts, triangle
from nexdyn.geometry.mesh import Surface
from nexdyn.geometry.mesh_distance import (
    A_FIRST,
    BY_POSE,
    MeshWork,
    has_inside,
    into,
    inverse_of,
    mesh_work,
    nearest_triangles,
    normal_apart,
    order_of,
    overlap_of,
    placed,
    push,
)
from nexdyn.geometry.mesh_kept_overlap import (
    MOST_CORNERS,
    MOST_KEPT,
    MOST_LOOKED,
    MOST_TRACKED,
    ROUNDING,
    SLOTS,
    depth_near,
    moved_ball,
    overlap_near,
    turned_by,
    widened,
)
from nexdyn.geometry.narrow import ANSWER, FOUND, NOT_FINITE, is_finite, pose_first, turned_round, without_margins
from nexdyn.geometry.triangles import FAR, Near, of_triangles
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.spatial.algebra import Pose, T, Vec3, norm, plus_turned
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import PoseRows, Vec3Rows, row

MARGIN, WHERE_THEY_CROSS, BY_TURN = 0.01, 0.025, 0.02
"""m, in parts of the smaller mesh's radius, also where surfaces cross, for R is to exceed the depth; and μ."""
LESS = 0.7
"""Part of m and μ that is left where there are more pairs than there is room for."""
STEPS = 16.0
"""Pairs that are tried are measured as far as they may be nearest in so many steps like the last."""
DEEP = -1.0
"""In place of the distance: an overlap that the kept pairs do not hold, to be searched in the whole meshes."""


class Kept(NamedTuple):
    """pairs (MOST_KEPT, 2) of triangles in the order of their distances `least`; pose (3, 12) of B in A when these were found, that when
    edges were, and the last; state = (count, −1 for none, which goes first, count of tracked edges, how many were sought on then, the
    deepest, more sought on since, the nearest pair); known = (d₀ + m, distance then, μ, ρ, r_B, last depth, the way of kept triangles of
    B since pairs were found, how much farther pairs are measured). ahead: the way at which a pair may meet. For overlaps: the rows of
    pairs with a triangle for the first time, `once`, how many are `listed` (2,) of A and B, and of those that cross; triangles
    (MOST_LOOKED, 2) that are to be looked at, each with one of the other mesh, the rows of their corners (`ends`), and these
    (MOST_CORNERS, 10) with their feet; edges (MOST_TRACKED, 8) in the frames of their meshes with the part that was inside, each with its
    side and the triangles near the ends of that part, and in the order of their bounds `rank`. ball (3, 4), in B: of all kept triangles
    when edges were found, of those of B, and c. marks: hash tables."""

    pairs: np.ndarray
    least: np.ndarray
    pose: np.ndarray
    state: np.ndarray
    known: np.ndarray
    once: np.ndarray
    listed: np.ndarray
    open: np.ndarray
    corners: np.ndarray
    feet: np.ndarray
    ends: np.ndarray
    tracked: np.ndarray
    sides: np.ndarray
    bound: np.ndarray
    rank: np.ndarray
    ball: np.ndarray
    ahead: np.ndarray
    crossing: np.ndarray
    marks: np.ndarray


def kept_pairs() -> Kept:
    """Room for one pair of meshes, none of whose triangles are known."""

    def whole(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int64)

    return Kept(
        pairs=whole(MOST_KEPT, 2), least=np.zeros(MOST_KEPT), pose=np.zeros((3, 12)), state=np.array([-1, -1, 0, 0, -1, 0, -1]),
        known=np.zeros(8), once=whole(MOST_LOOKED, 2), listed=whole(2), open=whole(MOST_LOOKED, 2), corners=np.zeros((MOST_CORNERS, 10)),
        feet=whole(MOST_CORNERS), ends=whole(MOST_LOOKED, 3), tracked=np.zeros((MOST_TRACKED, 8)), sides=whole(MOST_TRACKED, 3),
        bound=np.zeros(MOST_TRACKED), rank=whole(MOST_TRACKED), ball=np.zeros((3, 4)),
        ahead=np.zeros(MOST_KEPT), crossing=whole(MOST_KEPT), marks=whole(SLOTS, 2),
    )  # fmt: skip


@formula
def moved(kept, X):
    """δ(ρ): how far a point of a kept triangle of B is at most from where it was, both in A."""
    return moved_ball(row(Vec3Rows(kept.ball, 0), 2), kept.known[3], X, row(PoseRows(kept.pose, 0), 0))


@formula
def free_of(kept, X):
    """R: no pair that is not kept is nearer."""
    X0, c, reach = row(PoseRows(kept.pose, 0), 0), row(Vec3Rows(kept.ball, 0), 2), kept.known[4]
    turn = max(turned_by(X.R, X0.R) - kept.known[2], 0.0)
    return kept.known[0] - moved_ball(c, 0.0, X, X0) - turn * reach - ROUNDING * reach


@formula
def reach_of(B, t, c):
    """How far triangle t of B is at most from c."""
    tri = triangle(B.corners, t)
    p, q, r = tri.p - c, tri.q - c, tri.r - c
    return sqrt(max(p @ p, q @ q, r @ r))


@formula
def limit_of(d, turn, reach):
    """The square of d + μ r."""
    return (d + turn * reach) * (d + turn * reach)


@formula
def compacted(B, kept, count, c, d, turn):
    """Drop the pairs that are not nearer than their limit, d + μ r; how many stay."""
    n = 0
    for k in range(count):
        if kept.least[k] < d + turn * reach_of(B, kept.pairs[k, 1], c):
            kept.least[n], kept.pairs[n, 0], kept.pairs[n, 1] = kept.least[k], kept.pairs[k, 0], kept.pairs[k, 1]
            n += 1
    return n


@formula
def sort(kept, count):
    """Pairs in the order of their distances (Shell 1959, gaps of Ciura)."""
    for gap in (701, 301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, count):
            f, s, t, j = kept.least[i], kept.pairs[i, 0], kept.pairs[i, 1], i
            while j >= gap and kept.least[j - gap] > f:
                kept.least[j], kept.pairs[j, 0], kept.pairs[j, 1] = (
                    kept.least[j - gap], kept.pairs[j - gap, 0], kept.pairs[j - gap, 1]
                )  # fmt: skip
                j -= gap
            kept.least[j], kept.pairs[j, 0], kept.pairs[j, 1] = f, s, t


@formula
def centre_for(B, kept, near):
    """Where B is expected to be near A: the middle of what was kept, where it still is; `near` is a point of B that is near A."""
    c = row(Vec3Rows(kept.ball, 0), 1)
    return c if norm(near - c) <= kept.ball[1, 3] else near


@outlined
def enclose_kept(B, kept, count, c):
    """Write ρ, r_B, c and the ball around the kept triangles of B."""
    low, high, far = Vec3(1e300, 1e300, 1e300), Vec3(-1e300, -1e300, -1e300), 0.0
    for k in range(count):
        t = triangle(B.corners, kept.pairs[k, 1])
        for x in (t.p, t.q, t.r):
            low, high = widened(low, high, x)
        far = max(far, reach_of(B, kept.pairs[k, 1], c))
    kept.known[3] = far
    kept.known[4] = norm(row(Vec3Rows(B.nodes, 0), 0) - c) + B.radius[0] * (1.0 + ROUNDING)
    Vec3Rows(kept.ball, 0)[1], Vec3Rows(kept.ball, 0)[2] = 0.5 * (low + high), c
    kept.ball[1, 3] = 0.5 * norm(high - low)


@outlined
def find(A, B, X, work, kept):
    """Find all pairs below their limits anew and keep them; the nearest of them and its triangles."""
    ca, ha, cb, hb = Vec3Rows(A.nodes, 0), Vec3Rows(A.nodes, 3), Vec3Rows(B.nodes, 0), Vec3Rows(B.nodes, 3)
    S = positive_parts(X.R)
    s, t = (kept.pairs[0, 0], kept.pairs[0, 1]) if kept.state[0] > 0 else (-1, -1)
    best, s, t = nearest_triangles(A, B, X, work, s, t)
    d, found, turn = sqrt(best.square), 0, BY_TURN
    size = min(A.radius[0], B.radius[0])
    far = d + (WHERE_THEY_CROSS if d == 0.0 else MARGIN) * size
    if d == 0.0 and kept.known[5] > 0.0:
        far = min(far, 1.5 * kept.known[5] + 0.5 * MARGIN * size)
    c = into(X, best.b)
    if kept.state[0] > 0:
        c = centre_for(B, kept, c)
    count = push(work, 0, 0, 0, 0.0, FAR)
    while count > 0:
        count -= 1
        i, j = work.pairs[count, 0], work.pairs[count, 1]
        k, m = A.child[i], B.child[j]
        if k < 0 and m < 0:
            limit = limit_of(far, turn, reach_of(B, -1 - m, c))
            near = of_triangles(triangle(A.corners, -1 - k), placed(X, triangle(B.corners, -1 - m)), limit)
            if near.square >= limit:
                continue
            while found == MOST_KEPT:
                found = compacted(B, kept, found, c, far, turn)
                if found == MOST_KEPT:
                    far, turn = d + LESS * (far - d), LESS * turn
            kept.least[found], kept.pairs[found, 0], kept.pairs[found, 1] = sqrt(near.square), -1 - k, -1 - m
            found += 1
            continue
        first = m < 0 or (k >= 0 and ha[i] @ ha[i] >= hb[j] @ hb[j])
        i1, j1 = (k, j) if first else (i, m)
        i2, j2 = (k + 1, j) if first else (i, m + 1)
        limit = limit_of(far, turn, norm(cb[j1] - c) + norm(hb[j1]))
        count = push(work, count, i1, j1, between(ca[i1], ha[i1], cb[j1], hb[j1], X, S), limit)
        if not first:
            limit = limit_of(far, turn, norm(cb[j2] - c) + norm(hb[j2]))
        count = push(work, count, i2, j2, between(ca[i2], ha[i2], cb[j2], hb[j2], X, S), limit)
    found = compacted(B, kept, found, c, far, turn)
    sort(kept, found)
    enclose_kept(B, kept, found, c)
    kept.state[0], kept.state[2], kept.known[0], kept.known[1], kept.known[2] = found, 0, far, d, turn
    for k in range(found):
        kept.ahead[k] = kept.least[k]
    kept.state[6], kept.known[6], kept.known[7] = 0, 0.0, 0.0
    PoseRows(kept.pose, 0)[2] = X
    PoseRows(kept.pose, 0)[0] = X
    kept.listed[0] = 0
    return best, s, t


@formula
def follow(kept, X):
    """Add how far kept triangles have moved since the last pose to their way."""
    step = moved_ball(row(Vec3Rows(kept.ball, 0), 2), kept.known[3], X, row(PoseRows(kept.pose, 0), 2))
    kept.known[6] += step
    kept.known[7] = STEPS * step
    PoseRows(kept.pose, 0)[2] = X


@formula
def among(A, B, X, kept, delta):
    """The nearest of the kept pairs and its triangles; the one that was the nearest goes first."""
    zero, way, wide, last = Vec3(0.0, 0.0, 0.0), kept.known[6], kept.known[7], kept.state[6]
    best, s, t, d = Near(FAR, zero, zero, zero), -1, -1, 1e150
    for k in range(-1 if last >= 0 else 0, kept.state[0]):
        r = k if k >= 0 else last
        if k >= 0 and kept.least[k] - delta >= d:
            break
        if k >= 0 and (kept.ahead[k] - way >= d or k == last):
            continue
        i, j = kept.pairs[r, 0], kept.pairs[r, 1]
        near = of_triangles(triangle(A.corners, i), placed(X, triangle(B.corners, j)), (d + wide) * (d + wide))
        kept.ahead[r] = sqrt(near.square) + way
        if near.square < best.square:
            best, s, t, d, kept.state[6] = near, i, j, sqrt(near.square), r
    return best, s, t


@outlined
def of_kept(A, B, X, work, kept):
    """The contact in A's frame."""
    passed = False  # whether one may have come into the other
    near, s, t = Near(FAR, Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)), -1, -1
    delta, free = 0.0, 0.0
    if kept.state[0] > 0:
        delta, free = moved(kept, X), free_of(kept, X)
        follow(kept, X)
        if kept.state[2] > 0 and free > 0.0:
            whole, c = depth_near(A, B, X, work, kept)
            if whole:
                kept.known[5] = -c.d
                return c
        near, s, t = among(A, B, X, kept, delta)
        passed = delta >= kept.known[1] or free <= 0.0
        if sqrt(near.square) > free:
            s = -1
    if s < 0:
        near, s, t = find(A, B, X, work, kept)
        passed, delta, free = True, 0.0, kept.known[0]
    d = sqrt(near.square)
    if d > 0.0 and not (passed and (has_inside(B, A, X, work) or has_inside(A, B, inverse_of(X), work))):
        return Contact(d, normal_apart(A, B, X, work, near, s, t), near.a, near.b, 0.0)
    deep = kept.known[1] == DEEP and free > 0.5 * kept.known[0]
    kept.known[1] = 0.0  # the next time it is to be seen whether one is inside
    if d == 0.0 and not deep:
        whole, c = overlap_near(A, B, X, work, kept, delta, free, s, t, near.a)
        if not whole and delta > 0.0:
            near, s, t = find(A, B, X, work, kept)
            whole, c = overlap_near(A, B, X, work, kept, 0.0, kept.known[0], s, t, near.a)
        if whole:
            kept.known[1], kept.known[5] = 0.0, -c.d
            return c
    kept.known[1] = DEEP if d == 0.0 else 0.0
    c = overlap_of(A, B, X, work, s, t, near.a)
    kept.known[5] = -c.d
    return c


@formula
def in_order(A, B, X, Y, ra, rb, work, kept):
    """The contact in the world of A and B in poses X and Y with margins ra and rb, A first."""
    c = without_margins(of_kept(A, B, Pose(T(X.R) @ Y.R, T(X.R) @ (Y.p - X.p)), work, kept), ra, rb)
    return Contact(c.d, X.R @ c.n, plus_turned(X.p, X.R, c.a), plus_turned(X.p, X.R, c.b), c.error)


@kernel
def kept_distances(A, B, margins, order, poses_a, poses_b, work, kept, answers, status):
    """Answers (n, ANSWER) of meshes A and B in poses (n, 12) that follow one another, as `mesh_distance.mesh_distances`."""
    XA, XB = PoseRows(poses_a, 0), PoseRows(poses_b, 0)
    n, a, b = Vec3Rows(answers, 1), Vec3Rows(answers, 4), Vec3Rows(answers, 7)
    for k in range(len(poses_a)):
        X, Y = XA[k], XB[k]
        zero = Vec3(0.0, 0.0, 0.0)
        c, status[k] = Contact(0.0, zero, zero, zero, 0.0), NOT_FINITE
        if is_finite(X) and is_finite(Y):
            status[k] = FOUND
            first = 1 if order == A_FIRST or (order == BY_POSE and pose_first(X, Y)) else 0
            if kept.state[1] != first:
                kept.state[0], kept.state[1], kept.state[2] = -1, first, 0
            if first == 1:
                c = in_order(A, B, X, Y, margins[0], margins[1], work, kept)
            else:
                c = turned_round(in_order(B, A, Y, X, margins[1], margins[0], work, kept))
        answers[k, 0], answers[k, 10] = c.d, c.error
        n[k], a[k], b[k] = c.n, c.a, c.b


class MovingMeshes:
    """Two surfaces whose poses change little from query to query: what may be nearest is kept. Poses in any order are right, too."""

    def __init__(self, a: Surface, b: Surface) -> None:
        self._a, self._b = a, b
        self._margins, self._order = np.array([a.margin, b.margin]), order_of(a, b)
        self._work: MeshWork = mesh_work()
        self._kept = kept_pairs()

    def distances(self, poses_a: np.ndarray, poses_b: np.ndarray) -> np.ndarray:
        """Answers (n, ANSWER) in poses (n, 12) that follow those of the last call. InputError for a pose that is not finite."""
        n = len(poses_a)
        answers, status = np.zeros((n, ANSWER)), np.zeros(n, dtype=np.int64)
        kept_distances(
            self._a.tables, self._b.tables, self._margins, self._order, poses_a, poses_b, self._work, self._kept, answers, status
        )  # fmt: skip
        if (status != FOUND).any():
            raise InputError(f"pose {(status != FOUND).argmax()} is not finite")
        return answers
