"""The distance of two meshes along a motion, with the pairs of triangles that may be nearest kept.

At pose X₀ of B in A all pairs with a distance d_k below R are found, in the order of these. A point of B, at most ρ from the
centre c of its box, moves by no more than

    δ = |X c − X₀ c| + |R − R₀|₂ ρ,     |R − R₀|₂ = |R − R₀|_F/√2     for rotations

until pose X, so that pair k is no nearer than d_k − δ and all others no nearer than R − δ. The pairs are tried in their order until
d_k − δ exceeds the least distance d found. Where d ≤ R − δ it is the least of all, exactly; else pairs are found anew, with
R = d + MARGIN of the size. Surfaces that are farther apart than δ cannot have passed through each other, so that what was
outside then is outside.

Where they cross, the deepest points are sought from the pairs that cross, on to all triangles that have a corner inside.
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
    SMALL,
    MeshWork,
    has_inside,
    into,
    inverse_of,
    mesh_work,
    order_of,
    overlap_of,
    placed,
    push,
    touching_normal,
)
from nexdyn.geometry.mesh_point import Foot, deepest_between, foot
from nexdyn.geometry.narrow import ANSWER, FOUND, NOT_FINITE, is_finite, pose_first, turned_round, without_margins
from nexdyn.geometry.triangles import FAR, Near, length, normal_of, of_triangles, pierces
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.spatial.algebra import Pose, T, Vec3, plus_turned
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import PoseRows, Vec3Rows, row

MARGIN = 0.02
"""Of the smaller mesh's radius."""
MOST_KEPT = 2048
MOST_CORNERS = 512
"""Corners of triangles that are looked at in an overlap."""
ROUNDING = 1e-12
DEEP = -1.0
"""In place of the distance: an overlap that the kept pairs do not hold, to be searched in the whole meshes."""


class Kept(NamedTuple):
    """pairs (MOST_KEPT, 2) of triangles in the order of their distances `least`; pose (1, 12) of B in A when these were found;
    state = (count, −1 for none, and which goes first); known = (R, distance then). For overlaps: triangles (MOST_KEPT, 2) that are
    to be looked at, each with one of the other mesh, the rows of their corners (`ends`),
    and these (MOST_CORNERS, 10) with their feet."""

    pairs: np.ndarray
    least: np.ndarray
    pose: np.ndarray
    state: np.ndarray
    known: np.ndarray
    open: np.ndarray
    corners: np.ndarray
    feet: np.ndarray
    ends: np.ndarray


def kept_pairs() -> Kept:
    """Room for one pair of meshes, none of whose triangles are known."""
    return Kept(
        np.zeros((MOST_KEPT, 2), dtype=np.int64), np.zeros(MOST_KEPT), np.zeros((1, 12)), np.array([-1, -1]), np.zeros(2),
        np.zeros((MOST_KEPT, 2), dtype=np.int64), np.zeros((MOST_CORNERS, 10)), np.zeros(MOST_CORNERS, dtype=np.int64),
        np.zeros((MOST_KEPT, 3), dtype=np.int64),
    )  # fmt: skip


@formula
def moved(B, X, X0):  # type: ignore[no-untyped-def]
    """δ: how far a point of B is at most from where it was in pose X0, both in A."""
    c = row(Vec3Rows(B.nodes, 0), 0)
    p, q = plus_turned(X.p, X.R, c), plus_turned(X0.p, X0.R, c)
    R, Q = X.R, X0.R
    square = (
        (R.xx - Q.xx) ** 2 + (R.xy - Q.xy) ** 2 + (R.xz - Q.xz) ** 2 + (R.yx - Q.yx) ** 2 + (R.yy - Q.yy) ** 2
        + (R.yz - Q.yz) ** 2 + (R.zx - Q.zx) ** 2 + (R.zy - Q.zy) ** 2 + (R.zz - Q.zz) ** 2
    )  # fmt: skip
    return length(p - q) + sqrt(0.5 * square) * B.radius[0] * (1.0 + ROUNDING) + ROUNDING * (B.radius[0] + length(p))


@formula
def compacted(kept, count, most):  # type: ignore[no-untyped-def]
    """Drop the pairs that are not nearer than `most`; how many stay."""
    n = 0
    for k in range(count):
        if kept.least[k] < most:
            kept.least[n], kept.pairs[n, 0], kept.pairs[n, 1] = kept.least[k], kept.pairs[k, 0], kept.pairs[k, 1]
            n += 1
    return n


@formula
def sort(kept, count):  # type: ignore[no-untyped-def]
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


@outlined
def find(A, B, X, work, kept):  # type: ignore[no-untyped-def]
    """Find all pairs nearer than R anew and keep them; the nearest of them and its triangles."""
    ca, ha, cb, hb = Vec3Rows(A.nodes, 0), Vec3Rows(A.nodes, 3), Vec3Rows(B.nodes, 0), Vec3Rows(B.nodes, 3)
    zero, S = Vec3(0.0, 0.0, 0.0), positive_parts(X.R)
    best, s, t, d = Near(FAR, zero, zero, zero), -1, -1, 1e150
    margin, found = MARGIN * min(A.radius[0], B.radius[0]), 0
    if kept.state[0] > 0:  # the pair that was nearest bounds the distance
        best = of_triangles(
            triangle(A.corners, kept.pairs[0, 0]), placed(X, triangle(B.corners, kept.pairs[0, 1])), FAR
        )
        d = sqrt(best.square)
        best = Near(FAR, zero, zero, zero)  # to be met again, with its triangles
    limit = (d + margin) * (d + margin)
    count = push(work, 0, 0, 0, 0.0, limit)
    while count > 0:
        count -= 1
        if work.least[count] >= limit:
            continue
        i, j = work.pairs[count, 0], work.pairs[count, 1]
        k, m = A.child[i], B.child[j]
        if k < 0 and m < 0:
            near = of_triangles(triangle(A.corners, -1 - k), placed(X, triangle(B.corners, -1 - m)), limit)
            if near.square >= limit:
                continue
            if near.square < best.square:
                best, s, t = near, -1 - k, -1 - m
                d = min(d, sqrt(near.square))
                limit = (d + margin) * (d + margin)
            while found == MOST_KEPT:
                found = compacted(kept, found, d + margin)
                if found == MOST_KEPT:
                    margin *= 0.5
                    limit = (d + margin) * (d + margin)
            kept.least[found], kept.pairs[found, 0], kept.pairs[found, 1] = sqrt(near.square), -1 - k, -1 - m
            found += 1
            continue
        first = m < 0 or (k >= 0 and ha[i] @ ha[i] >= hb[j] @ hb[j])
        i1, j1 = (k, j) if first else (i, m)
        i2, j2 = (k + 1, j) if first else (i, m + 1)
        f, g = between(ca[i1], ha[i1], cb[j1], hb[j1], X, S), between(ca[i2], ha[i2], cb[j2], hb[j2], X, S)
        if f < g:
            count = push(work, count, i2, j2, g, limit)
            count = push(work, count, i1, j1, f, limit)
        else:
            count = push(work, count, i1, j1, f, limit)
            count = push(work, count, i2, j2, g, limit)
    found = compacted(kept, found, d + margin)
    sort(kept, found)
    kept.state[0], kept.known[0], kept.known[1] = found, d + margin, d
    PoseRows(kept.pose, 0)[0] = X
    return best, s, t


@formula
def among(A, B, X, kept, delta):  # type: ignore[no-untyped-def]
    """The nearest of the kept pairs and its triangles."""
    zero = Vec3(0.0, 0.0, 0.0)
    best, s, t, d = Near(FAR, zero, zero, zero), -1, -1, 1e150
    for k in range(kept.state[0]):
        if kept.least[k] - delta >= d:
            break
        i, j = kept.pairs[k, 0], kept.pairs[k, 1]
        near = of_triangles(triangle(A.corners, i), placed(X, triangle(B.corners, j)), best.square)
        if near.square < best.square:
            best, s, t, d = near, i, j, sqrt(near.square)
    return best, s, t


@formula
def noted(kept, count, i, j):  # type: ignore[no-untyped-def]
    """Put triangle i on the list where it is not yet, with j of the other mesh; how many there are."""
    for k in range(count):
        if kept.open[k, 0] == i:
            return count
    kept.open[count, 0], kept.open[count, 1] = i, j
    return count + 1


@formula
def known_foot(B, X, work, kept, count, x, guess):  # type: ignore[no-untyped-def]
    """(its row, how many corners are known then) of corner x of A: the foot on B of x, looked up or found; −1 where there is no room."""
    at = kept.corners
    for k in range(count):
        if at[k, 0] == x.x and at[k, 1] == x.y and at[k, 2] == x.z:
            return k, count
    if count == MOST_CORNERS:
        return -1, count
    f = foot(B, work, into(X, x), guess)
    at[count, 3] = f.d
    Vec3Rows(at, 0)[count], Vec3Rows(at, 4)[count], Vec3Rows(at, 7)[count] = x, f.y, f.n
    kept.feet[count] = f.t
    return count, count + 1


@formula
def foot_of(kept, k):  # type: ignore[no-untyped-def]
    """Row k as a foot."""
    return Foot(kept.corners[k, 3], Vec3Rows(kept.corners, 4)[k], Vec3Rows(kept.corners, 7)[k], kept.feet[k])


@formula
def has_corner(t, x):  # type: ignore[no-untyped-def]
    """Whether x is a corner of triangle t."""
    return (
        (t.p.x == x.x and t.p.y == x.y and t.p.z == x.z) or (t.q.x == x.x and t.q.y == x.y and t.q.z == x.z)
        or (t.r.x == x.x and t.r.y == x.y and t.r.z == x.z)
    )  # fmt: skip


@outlined
def deepest_inside(A, B, X, work, kept, side, delta, i, k, m, best, small):  # type: ignore[no-untyped-def]
    """(Foot, s, left): the deepest point x + s e of the edge of triangle i between corners k and m; −1 where none exceeds `best`.

    Between an end that is outside and the first triangle that the edge pierces it is outside."""
    x, y = Vec3Rows(kept.corners, 0)[k], Vec3Rows(kept.corners, 0)[m]
    a, b = foot_of(kept, k), foot_of(kept, m)
    low, high = 0.0 if a.d < 0.0 else 2.0, 1.0 if b.d < 0.0 else -1.0
    for n in range(kept.state[0]):
        if kept.least[n] > delta:
            break
        if kept.pairs[n, side] == i:
            t = placed(X, triangle(B.corners, kept.pairs[n, 1 - side]))
            hit, s = pierces(x, y, t, normal_of(t.q - t.p, t.r - t.p))
            if hit and s < low:
                low, a = s, Foot(0.0, into(X, x + s * (y - x)), a.n, kept.pairs[n, 1 - side])
            if hit and s > high:
                high, b = s, Foot(0.0, into(X, x + s * (y - x)), b.n, kept.pairs[n, 1 - side])
    e = y - x
    if not low < high or 0.5 * ((high - low) * length(e) - a.d - b.d) <= best + small:
        return Foot(0.0, a.y, a.n, -1), 0.0, 0.0
    f, s, left = deepest_between(B, work, into(X, x + low * e), (high - low) * (T(X.R) @ e), a, b, best, small)
    return f, low + s * (high - low), left


@outlined
def deepest_near(A, B, X, work, kept, side, delta, best, small):  # type: ignore[no-untyped-def]
    """(whether nothing is missed, Foot on B in B's frame, x in A's, left): as `mesh_distance.deepest_edges`, from the kept pairs.

    side: the column of A in the pairs; X the pose of B in A."""
    zero = Vec3(0.0, 0.0, 0.0)
    found, at, left = Foot(0.0, zero, zero, -1), zero, 0.0
    count, corners, looked = 0, 0, 0
    for k in range(kept.state[0]):  # those that cross
        if kept.least[k] > delta:
            break
        i, j = kept.pairs[k, side], kept.pairs[k, 1 - side]
        if of_triangles(triangle(A.corners, i), placed(X, triangle(B.corners, j)), small * small).square == 0.0:
            count = noted(kept, count, i, j)
    inside = 0
    while looked < count:
        i, j = kept.open[looked, 0], kept.open[looked, 1]
        looked += 1
        t = triangle(A.corners, i)
        p, corners = known_foot(B, X, work, kept, corners, t.p, j)
        q, corners = known_foot(B, X, work, kept, corners, t.q, j)
        r, corners = known_foot(B, X, work, kept, corners, t.r, j)
        if p < 0 or q < 0 or r < 0:
            return False, found, at, left
        kept.ends[looked - 1, 0], kept.ends[looked - 1, 1], kept.ends[looked - 1, 2] = p, q, r
        while looked == count and inside < corners:  # all that has a corner inside is looked at, too
            x, d = Vec3Rows(kept.corners, 0)[inside], kept.corners[inside, 3]
            if -d > best:
                found, at, best = foot_of(kept, inside), x, -d
            inside += 1
            if -d >= kept.known[0] - delta:
                return False, found, at, left
            if d < 0.0:
                for k in range(kept.state[0]):
                    if has_corner(triangle(A.corners, kept.pairs[k, side]), x):
                        count = noted(kept, count, kept.pairs[k, side], kept.pairs[k, 1 - side])
    for looked in range(count):
        for edge in range(3):
            k, m = kept.ends[looked, edge], kept.ends[looked, edge + 1 if edge < 2 else 0]
            if k > m:  # of the two triangles of an edge that is partly inside both are looked at
                continue
            f, s, missed = deepest_inside(A, B, X, work, kept, side, delta, kept.open[looked, 0], k, m, best, small)
            left = max(left, missed)
            if f.t >= 0:
                x = Vec3Rows(kept.corners, 0)[k]
                found, at, best = f, x + s * (Vec3Rows(kept.corners, 0)[m] - x), -f.d
    return True, found, at, left


@outlined
def overlap_near(A, B, X, work, kept, delta, s, t, touch):  # type: ignore[no-untyped-def]
    """(whether nothing is missed, contact): as `mesh_distance.overlap_of`, from the kept pairs.

    What of A is inside B hangs together with triangles that cross, where A is one part; and all that has a corner less than R − δ
    deep is among the pairs."""
    zero = Vec3(0.0, 0.0, 0.0)
    nothing = Contact(0.0, zero, zero, zero, 0.0)
    small = SMALL * (A.radius[0] + B.radius[0])
    if len(A.parts) > 1 or len(B.parts) > 1 or A.radius[1] == 0.0 or B.radius[1] == 0.0:
        return False, nothing
    whole, at, x, left = deepest_near(A, B, X, work, kept, 0, delta, 0.0, small)
    if not whole:
        return False, nothing
    whole, back, y, missed = deepest_near(B, A, inverse_of(X), work, kept, 1, delta, max(-at.d, 0.0), small)
    left = max(left, missed)
    if not whole:
        return False, nothing
    if back.t >= 0:
        return True, Contact(back.d, back.n, back.y, plus_turned(X.p, X.R, y), left)
    if at.t >= 0:
        return True, Contact(at.d, -(X.R @ at.n), x, plus_turned(X.p, X.R, at.y), left)
    return True, Contact(0.0, touching_normal(A, B, X, work, s, t, touch), touch, touch, left)


@outlined
def of_kept(A, B, X, work, kept):  # type: ignore[no-untyped-def]
    """The contact in A's frame."""
    passed = False  # whether one may have come into the other
    near, s, t = Near(FAR, Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)), -1, -1
    delta = 0.0
    if kept.state[0] > 0:
        delta = moved(B, X, row(PoseRows(kept.pose, 0), 0))
        near, s, t = among(A, B, X, kept, delta)
        passed = delta >= kept.known[1]
        if sqrt(near.square) > kept.known[0] - delta:
            s = -1
    if s < 0:
        near, s, t = find(A, B, X, work, kept)
        passed, delta = True, 0.0
    d = sqrt(near.square)
    if d > 0.0 and not (passed and (has_inside(B, A, X, work) or has_inside(A, B, inverse_of(X), work))):
        return Contact(d, (1.0 / length(near.n)) * near.n, near.a, near.b, 0.0)
    deep = kept.known[1] == DEEP and delta < 0.5 * kept.known[0]
    kept.known[1] = 0.0  # the next time it is to be seen whether one is inside
    if d == 0.0 and not deep:
        whole, c = overlap_near(A, B, X, work, kept, delta, s, t, near.a)
        if not whole and delta > 0.0:
            near, s, t = find(A, B, X, work, kept)
            whole, c = overlap_near(A, B, X, work, kept, 0.0, s, t, near.a)
        if whole:
            kept.known[1] = 0.0
            return c
    kept.known[1] = DEEP if d == 0.0 else 0.0
    return overlap_of(A, B, X, work, s, t, near.a)


@formula
def in_order(A, B, X, Y, ra, rb, work, kept):  # type: ignore[no-untyped-def]
    """The contact in the world of A and B in poses X and Y with margins ra and rb, A first."""
    c = without_margins(of_kept(A, B, Pose(T(X.R) @ Y.R, T(X.R) @ (Y.p - X.p)), work, kept), ra, rb)
    return Contact(c.d, X.R @ c.n, plus_turned(X.p, X.R, c.a), plus_turned(X.p, X.R, c.b), c.error)


@kernel
def kept_distances(A, B, margins, order, poses_a, poses_b, work, kept, answers, status):  # type: ignore[no-untyped-def]
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
                kept.state[0], kept.state[1] = -1, first
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
