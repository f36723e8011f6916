"""Signed distance, witness points and normal of two convex shapes: the narrow phase.

The cores are compared, and their margins taken off. Pairs with a closed form go first, and boxes that overlap or face
each other (boxes.py); all others take

    apart        simplices of support points (simplex.py) until Newton's method finds the features' contact: on the normal
                 alone where points follow from it (gauss_map.py), on points and normal elsewhere (newton.py)
    overlapping  a growing polytope (polytope.py), and Newton's method from its nearest face

and the proof of contact.py decides when that is enough. Pairs are put in an order that depends on the shapes and poses
alone, so that the answer for (b, a) is that for (a, b) turned round, bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nexdyn.geometry import simplex
from nexdyn.geometry.boxes import of_boxes
from nexdyn.geometry.contact import Contact, proven
from nexdyn.geometry.kinds import has_nearest, is_round, nearest, support
from nexdyn.geometry.newton import polished
from nexdyn.geometry.polytope import FAR, FULL, MOST_FACES, MOST_POINTS, enclose, grow, weigh_face
from nexdyn.geometry.simplex import CONVERGED, INSIDE, STALLED, approach, weighted
from nexdyn.geometry.solid import BOX, COLUMNS, HALF_SPACE, POINT, SEGMENT, solid_of
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.spatial.algebra import Pose, T, Vec3, cross, norm, plus_turned
from nexdyn.spatial.table import PoseRows, Vec3Rows

FOUND, NO_DISTANCE, NOT_FINITE = 0, 1, 2
"""Status of a pair; NO_DISTANCE: two half-spaces that overlap without bound."""
ANSWER = 11
"""Columns of an answer: d, n (3), a (3), b (3), error."""
PRECISION = 1e-13
"""Error of an answer that is enough, in units of the shapes' size."""


class Work(NamedTuple):
    """Scratch of one query."""

    points: np.ndarray
    faces: np.ndarray
    corners: np.ndarray
    twin: np.ndarray
    stack: np.ndarray
    rim: np.ndarray
    matrix: np.ndarray


def work() -> Work:
    """Scratch for one thread: 320 kB."""
    return Work(
        points=np.zeros((MOST_POINTS + 1, simplex.COLUMNS_OF_POINTS)),
        faces=np.zeros((MOST_FACES + 1, 5)),
        corners=np.zeros((MOST_FACES + 1, 4), dtype=np.int32),
        twin=np.zeros((MOST_POINTS + 1, MOST_POINTS + 1), dtype=np.int32),
        stack=np.zeros(MOST_FACES + 1, dtype=np.int32),
        rim=np.zeros((MOST_FACES + 1, 2), dtype=np.int32),
        matrix=np.zeros((8, 7)),
    )


@formula
def turned_round(c):
    """The contact of (b, a)."""
    return Contact(c.d, -c.n, c.b, c.a, c.error)


@formula
def without_margins(c, r, s):
    """The contact of cores as that of the shapes with margins r and s."""
    return Contact(c.d - r - s, c.n, c.a + r * c.n, c.b - s * c.n, c.error)


@formula
def half_space_and(B, X, tables):
    """n = e_z; b the lowest point of B."""
    n = Vec3(0.0, 0.0, 1.0)
    b = plus_turned(X.p, X.R, support(B, tables, T(X.R) @ (-n)))
    return Contact(b.z, n, Vec3(b.x, b.y, 0.0), b, 0.0)


@formula
def point_and(A, B, XA, XB, tables):
    """The origin of A, a point, and B by its closed form, in the world."""
    y = T(XB.R) @ (XA.p - XB.p)
    d, n = nearest(B, tables, y)
    return Contact(d, -(XB.R @ n), XA.p, plus_turned(XB.p, XB.R, y - d * n), 0.0)


@formula
def segments(A, B, X):
    """Nearest points s e and p + t f of segments |s| ≤ h, |t| ≤ g (Ericson 2005, 5.1.9), s = (e × f)·(p × f)/|e × f|².

    Parallel ones take the middle of the length that they share. n is normal to each segment whose end is not the nearest
    point, also where they touch; of crossing ones it is along e × f."""
    h, g, p = A.size.z, B.size.z, X.p
    e, f = Vec3(0.0, 0.0, 1.0), Vec3(X.R.xz, X.R.yz, X.R.zz)
    N = cross(e, f)
    square, c = N @ N, f.z
    crossing = square > 1e-28
    if crossing:
        s = min(max((N @ cross(p, f)) / square, -h), h)
    else:  # the middle of the part of A that lies beside B
        low, high = max(p.z - g * abs(c), -h), min(p.z + g * abs(c), h)
        s = min(max(0.5 * (low + high), -h), h)
    t = min(max(c * s - f @ p, -g), g)
    if crossing:
        s = min(max(p.z + c * t, -h), h)
    a, b = s * e, p + t * f
    r = b - a
    n, small = r, 1e-14 * (h + g)
    if abs(t) < g:
        n = n - (n @ f) * f
    if abs(s) < h:
        n = Vec3(n.x, n.y, 0.0)
    inside = abs(s) < h and abs(t) < g and norm(n) < norm(N) * (h + g)  # then N has the smaller error of rounding
    if inside or not norm(n) > small:
        n = Vec3(1.0, 0.0, 0.0) if not crossing else N if n @ N >= 0.0 else -N
    n = (1.0 / norm(n)) * n
    return Contact(n @ r, n, a, b, 0.0)


@formula
def face_contact(A, B, X, tables, work, f):
    """The rows of the corners of face f of the polytope, and its contact: n is inward, d its distance below 0."""
    i, j, k, p, q, r = weigh_face(work, f)
    P, Q = Vec3Rows(work.points, 3), Vec3Rows(work.points, 6)
    n = -Vec3Rows(work.faces, 0)[f]
    a, b = p * P[i] + q * P[j] + r * P[k], p * Q[i] + q * Q[j] + r * Q[k]
    return (i, j, k), proven(A, B, X, tables, a, b, n)


@outlined
def of_any_face(A, B, X, tables, work, count, best, L, fine):
    """All but the same depth in many directions: the least deep contact that is proven from any face of the polytope.

    A face that is farther than a proven depth leads to no lesser one."""
    for f in range(count):
        if work.corners[f, 3] == 1 and work.faces[f, 3] < (FAR if best.error > fine else -best.d):
            rows, raw = face_contact(A, B, X, tables, work, f)
            c = raw if raw.error <= fine else polished(A, B, X, tables, work, rows, raw, L, fine)
            if c.error <= fine and (best.error > fine or c.d > best.d):
                best = c
    return best


@outlined
def overlapping(A, B, X, tables, work, m, best, L, fine):
    """The contact of cores that overlap or touch, from a simplex of m points that holds the origin."""
    if not enclose(A, B, X, tables, work, m, L):
        return best
    m, count, gap = 4, 4, 1e-6 * L
    while True:
        status, m, count, f = grow(A, B, X, tables, work, m, count, gap)
        if f < 0:
            return best
        rows, raw = face_contact(A, B, X, tables, work, f)
        best = raw if raw.error < best.error else best
        if best.error > fine:
            best = polished(A, B, X, tables, work, rows, best, L, fine)
        if status == FULL:
            return of_any_face(A, B, X, tables, work, count, best, L, fine)
        if best.error <= fine or gap <= fine:
            return best
        gap *= 1e-3


@formula
def first_gap(round_a, round_b):
    """Where Newton's method takes over from the simplices, over the size. Polytopes need it seldom, for simplices end by themselves."""
    if round_a and round_b:
        return 3e-3
    return 4e-4 if round_a or round_b else 1e-4


@outlined
def iterated(A, B, X, tables, work, start):
    """The contact of two cores by simplices, polytope and Newton's method; `start` is a first guess of b − a."""
    L = min(A.radius - A.margin, 1e300) + (B.radius - B.margin) + norm(X.p)
    fine = PRECISION * L
    v = start if start @ start > 0.0 else X.p
    if A.kind == BOX and B.kind == BOX:
        slab = of_boxes(A, B, X, tables, fine, L, start)
        if slab.error <= fine:
            return slab
    v = v if v @ v > 0.0 else Vec3(1.0, 0.0, 0.0)
    best = Contact(0.0, Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), 1e300)
    m, gap = 0, first_gap(is_round(A.kind), is_round(B.kind)) * L
    while True:
        status, m, v, short = approach(A, B, X, tables, work.points, m, v, gap, 1e-14 * L)
        if status == INSIDE:
            break
        a, b = weighted(work.points, m, 3), weighted(work.points, m, 6)
        n = (1.0 / norm(v)) * v
        if status == CONVERGED and short > fine:  # points of both shapes and the width of a slab: a proof already
            raw = Contact(norm(v), n, a, b, short)
        else:
            raw = proven(A, B, X, tables, a, b, n)
        best = raw if raw.error < best.error else best
        if best.error > fine:
            rows = (0, 1 if m > 1 else -1, 2 if m > 2 else -1)
            best = polished(A, B, X, tables, work, rows, raw, L, fine)
        if best.error <= fine:
            return best
        if status == STALLED:
            break
        gap = max(1e-3 * gap, 0.1 * fine)
    if status == STALLED and norm(v) > 1e-6 * L:
        return best
    return overlapping(A, B, X, tables, work, m, best, L, fine)


@formula
def of_cores(A, B, X, tables, work, start):
    """The contact of the shapes A and B of ordered kinds, in A's frame."""
    if A.kind == SEGMENT and B.kind == SEGMENT:
        c = segments(A, B, X)
        c = proven(A, B, X, tables, c.a, c.b, c.n)
        if c.error > PRECISION * (A.size.z + B.size.z):  # ends that all but touch, all but in line
            again = iterated(A, B, X, tables, work, start)
            c = again if again.error < c.error else c
        return without_margins(c, A.margin, B.margin)
    return without_margins(iterated(A, B, X, tables, work, start), A.margin, B.margin)


@formula
def comes_first(shapes, i, j, XA, XB):
    """Whether A goes first: by kind, then sizes, then position, then axes; any order would do that knows no a and b."""
    if i != j:
        for c in range(COLUMNS):
            if shapes[i, c] != shapes[j, c]:
                return shapes[i, c] < shapes[j, c]
    return pose_first(XA, XB)


@formula
def pose_first(XA, XB):
    """Whether A goes first, by position, then axes."""
    p, q = XA.p, XB.p
    if p.x != q.x:
        return p.x < q.x
    if p.y != q.y:
        return p.y < q.y
    if p.z != q.z:
        return p.z < q.z
    R, Q = XA.R, XB.R
    if R.xx != Q.xx:
        return R.xx < Q.xx
    if R.yy != Q.yy:
        return R.yy < Q.yy
    if R.zz != Q.zz:
        return R.zz < Q.zz
    if R.yx != Q.yx:
        return R.yx < Q.yx
    return R.zx <= Q.zx


@formula
def is_finite(X):
    """Whether all numbers of a pose are finite."""
    R, p = X.R, X.p
    total = abs(R.xx) + abs(R.xy) + abs(R.xz) + abs(R.yx) + abs(R.yy) + abs(R.yz) + abs(R.zx) + abs(R.zy) + abs(R.zz)
    return total + abs(p.x) + abs(p.y) + abs(p.z) < 1e300


@outlined
def ordered(tables, i, j, XA, XB, work, start):
    """(status, contact) of shape i in pose XA and shape j in pose XB, with i first; `start` guesses b − a."""
    A, B = solid_of(tables.shapes, i), solid_of(tables.shapes, j)
    if A.kind == POINT and has_nearest(B.kind):
        return FOUND, without_margins(point_and(A, B, XA, XB, tables), A.margin, B.margin)
    X = Pose(T(XA.R) @ XB.R, T(XA.R) @ (XB.p - XA.p))
    status = FOUND
    if A.kind == HALF_SPACE:
        if B.kind == HALF_SPACE:
            nothing = Vec3(0.0, 0.0, 0.0)
            status = FOUND if X.R.zz <= -1.0 + 1e-15 else NO_DISTANCE
            d = X.p.z if status == FOUND else 0.0
            c = Contact(d, Vec3(0.0, 0.0, 1.0), nothing, Vec3(0.0, 0.0, d), 0.0)
        else:
            c = without_margins(half_space_and(B, X, tables), 0.0, B.margin)
    else:
        c = of_cores(A, B, X, tables, work, T(XA.R) @ start)
    return status, Contact(c.d, XA.R @ c.n, plus_turned(XA.p, XA.R, c.a), plus_turned(XA.p, XA.R, c.b), c.error)


@formula
def pair_distance(tables, i, j, XA, XB, work, start):
    """(status, contact) of shape i in pose XA and shape j in pose XB, in the world; `start` guesses n, 0 is no guess."""
    if not (is_finite(XA) and is_finite(XB)):
        zero = Vec3(0.0, 0.0, 0.0)
        return NOT_FINITE, Contact(0.0, zero, zero, zero, 0.0)
    if comes_first(tables.shapes, i, j, XA, XB):
        return ordered(tables, i, j, XA, XB, work, start)
    status, c = ordered(tables, j, i, XB, XA, work, -start)
    return status, turned_round(c)


@kernel
def distances(tables, pairs, poses_a, poses_b, work, answers, status):
    """Answers (n, ANSWER) of pairs (n, 2) of shapes in poses (n, 12) = (R row by row, p); status (n,).

    The normal in `answers` is where the search begins (the last one of a pair that moves on; 0 where none is known)."""
    XA, XB = PoseRows(poses_a, 0), PoseRows(poses_b, 0)
    n, a, b = Vec3Rows(answers, 1), Vec3Rows(answers, 4), Vec3Rows(answers, 7)
    for k in range(len(pairs)):
        status[k], c = pair_distance(tables, pairs[k, 0], pairs[k, 1], XA[k], XB[k], work, n[k])
        answers[k, 0], answers[k, 10] = c.d, c.error
        n[k], a[k], b[k] = c.n, c.a, c.b


@kernel
def distances_among(tables, shapes, pairs, poses, before, known, work, answers, status):
    """As `distances`, of sorted pairs (n, 2) of shapes (m,) in poses (m, 12).

    known: answers of sorted pairs `before`, where the search of the same pair begins."""
    X = PoseRows(poses, 0)
    n, a, b, start = Vec3Rows(answers, 1), Vec3Rows(answers, 4), Vec3Rows(answers, 7), Vec3Rows(known, 1)
    m = 0
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        while m < len(before) and (before[m, 0] < i or (before[m, 0] == i and before[m, 1] < j)):
            m += 1
        guess = Vec3(0.0, 0.0, 0.0)
        if m < len(before) and before[m, 0] == i and before[m, 1] == j:
            guess = start[m]
        status[k], c = pair_distance(tables, shapes[i], shapes[j], X[i], X[j], work, guess)
        answers[k, 0], answers[k, 10] = c.d, c.error
        n[k], a[k], b[k] = c.n, c.a, c.b
