"""The contact of two smooth features to the last digit, by Newton's method.

Unknown are the moves u of a and w of b along the tangents of their features, and the turn φ of the normal n along unit
vectors e1, e2 across it. With d = n·(b − a), all lengths in units of L,

    e_i·(t_a u − t_b w) + d φ_i = e_i·(b − a)            b − a is along n
    k_a u + t_a·e φ             = −n·t_a                  n is normal to A's feature
    k_b w + t_b·e φ             = −n·t_b                  and to B's

Where a feature curves along its tangent, the move along it follows from φ and is put into the first two equations; those along
straight tangents stay unknown, so that 2 to 6 equations are left. Where features have fewer tangents, or are parallel, the matrix
has a lower rank, and pivots that are rounding are left out with their unknowns. Convergence is quadratic, touching (d = 0) and
overlapping as well as apart.
"""

from __future__ import annotations

from typing import NamedTuple

from nexdyn.geometry.contact import proven, width
from nexdyn.geometry.features import (
    CANDIDATES,
    NONE,
    Feature,
    frame_of,
    round_feature,
    settled,
    spanned,
)  # fmt: skip
from nexdyn.geometry.gauss_map import by_normals
from nexdyn.geometry.kinds import has_nearest, is_round, nearest
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Mat3, Pose, T, Vec3, basis, norm, plus_turned

MOST_STEPS = 24
LONGEST_STEP = 0.4
FAR = 1e3
ENOUGH = 1e-8
"""The last step: what it leaves is of its square."""
MOST_SLIDES = 60
SLOWEST = 0.999
"""What is left of the way to both faces after a slide, above which they do not lie opposite."""
ROUNDING = 1e-13
WELL = 1e-6
"""Determinant over the cube of the largest entry above which equations are solved by Cramer's rule."""
BENT = 1e-3
"""Curvature, in units of 1/L, above which the move along a tangent follows from the turn of the normal."""


@outlined
def solve(M, n):
    """Gauss elimination of n rows of M (·, 7), right sides in column 6, with full pivoting; the solution comes in row 7.

    Row 6 holds the order of the columns. Pivots below ROUNDING times the first are dropped."""
    for c in range(n):
        M[6, c] = float(c)
    first, rank = 0.0, n
    for p in range(n):
        most, i, j = 0.0, p, p
        for r in range(p, n):
            for c in range(p, n):
                if abs(M[r, c]) > most:
                    most, i, j = abs(M[r, c]), r, c
        if p == 0:
            first = most
        if not most > ROUNDING * first:
            rank = p
            break
        if i != p:
            for c in range(7):
                M[p, c], M[i, c] = M[i, c], M[p, c]
        if j != p:
            for r in range(7):
                M[r, p], M[r, j] = M[r, j], M[r, p]
        for r in range(p + 1, n):
            f = M[r, p] / M[p, p]
            for c in range(p, n):
                M[r, c] -= f * M[p, c]
            M[r, 6] -= f * M[p, 6]
    for p in range(n - 1, -1, -1):
        if p >= rank:
            M[p, 6] = 0.0
        else:
            x = M[p, 6]
            for c in range(p + 1, rank):
                x -= M[p, c] * M[c, 6]
            M[p, 6] = x / M[p, p]
    for p in range(n):  # back to the order of the unknowns, in row 7
        M[7, int(M[6, p])] = M[p, 6]


class Moves(NamedTuple):
    """How many equations there are, and the first two: (g11, g12; g12, g22) φ + side (x, y) u = (b1, b2), with the third,
    (x, y) φ + k u = h, of the first straight tangent."""

    n: int
    g11: float
    g12: float
    g22: float
    b1: float
    b2: float
    side: float
    x: float
    y: float
    k: float
    h: float


@formula
def with_tangent(M, q, t, k, side, n, e1, e2):
    """Add the tangent t of A (side 1) or B (side −1) with curvature k in units of 1/L."""
    x, y, h = t @ e1, t @ e2, -(n @ t)
    if abs(k) > BENT:
        f = side / k
        return Moves(
            q.n, q.g11 - f * x * x, q.g12 - f * x * y, q.g22 - f * y * y, q.b1 - f * x * h, q.b2 - f * y * h,
            q.side, q.x, q.y, q.k, q.h,
        )  # fmt: skip
    if not t @ t > 0.0:
        return q
    c = q.n
    for i in range(2, c):
        M[i, c], M[c, i] = 0.0, 0.0
    M[0, c], M[1, c], M[c, 0], M[c, 1], M[c, c], M[c, 6] = side * x, side * y, x, y, k, h
    if c > 2:
        return Moves(c + 1, q.g11, q.g12, q.g22, q.b1, q.b2, q.side, q.x, q.y, q.k, q.h)
    return Moves(c + 1, q.g11, q.g12, q.g22, q.b1, q.b2, side, x, y, k, h)


@formula
def move_along(M, c, t, k, n, e1, e2, f, g):
    """(the move along a tangent where the normal turns by f, g, in units of L; the next row of M)."""
    if abs(k) > BENT:
        return (-(n @ t) - f * (t @ e1) - g * (t @ e2)) / k, c
    if not t @ t > 0.0:
        return 0.0, c
    return M[7, c], c + 1


@formula
def newton_step(M, fa, fb, n, e1, e2, r, d, L):
    """Moves of a and b along their tangents, and the turn of n, in units of L."""
    q = Moves(2, d / L, 0.0, d / L, (e1 @ r) / L, (e2 @ r) / L, 0.0, 0.0, 0.0, 1.0, 0.0)
    q = with_tangent(M, q, fa.t1, L * fa.k1, 1.0, n, e1, e2)
    q = with_tangent(M, q, fa.t2, L * fa.k2, 1.0, n, e1, e2)
    q = with_tangent(M, q, fb.t1, L * fb.k1, -1.0, n, e1, e2)
    q = with_tangent(M, q, fb.t2, L * fb.k2, -1.0, n, e1, e2)
    # two or three equations by Cramer's rule, where they are far from dependent
    sx, sy = q.side * q.x, q.side * q.y
    c11, c12, c13 = q.g22 * q.k - sy * q.y, sy * q.x - q.g12 * q.k, q.g12 * q.y - q.g22 * q.x
    determinant = q.g11 * c11 + q.g12 * c12 + sx * c13
    size = max(max(abs(q.g11), abs(q.g12), abs(q.g22)), max(abs(q.x), abs(q.y), abs(q.k)))
    if q.n <= 3 and abs(determinant) > WELL * size * size * size:
        o = 1.0 / determinant
        c21, c22, c23 = sx * q.y - q.g12 * q.k, q.g11 * q.k - sx * q.x, q.g12 * q.x - q.g11 * q.y
        c31, c32, c33 = q.g12 * sy - sx * q.g22, sx * q.g12 - q.g11 * sy, q.g11 * q.g22 - q.g12 * q.g12
        f = o * (c11 * q.b1 + c21 * q.b2 + c31 * q.h)
        g = o * (c12 * q.b1 + c22 * q.b2 + c32 * q.h)
        M[7, 2] = o * (c13 * q.b1 + c23 * q.b2 + c33 * q.h)
    else:
        M[0, 0], M[0, 1], M[1, 0], M[1, 1], M[0, 6], M[1, 6] = q.g11, q.g12, q.g12, q.g22, q.b1, q.b2
        solve(M, q.n)
        f, g = M[7, 0], M[7, 1]
    a1, c = move_along(M, 2, fa.t1, L * fa.k1, n, e1, e2, f, g)
    a2, c = move_along(M, c, fa.t2, L * fa.k2, n, e1, e2, f, g)
    b1, c = move_along(M, c, fb.t1, L * fb.k1, n, e1, e2, f, g)
    b2, c = move_along(M, c, fb.t2, L * fb.k2, n, e1, e2, f, g)
    return a1, a2, b1, b2, f, g


@formula
def moved(feature, frame, u, w):
    """The feature with its point moved along the tangents."""
    return Feature(feature.code, feature.x + u * frame.t1 + w * frame.t2, feature.t1, feature.t2)


@outlined
def converge(A, B, X, M, feature_a, feature_b, n, L):
    """(a, b, n) where the equations hold, or what MOST_STEPS reached."""
    I = Pose(Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
    feature_a, feature_b = settled(A, I, feature_a), settled(B, X, feature_b)
    for _ in range(MOST_STEPS):
        fa, fb = frame_of(A, I, feature_a, n), frame_of(B, X, feature_b, n)
        e1, e2 = basis(n)
        r = feature_b.x - feature_a.x
        a1, a2, b1, b2, turn1, turn2 = newton_step(M, fa, fb, n, e1, e2, r, n @ r, L)
        step = max(max(abs(a1), abs(a2), abs(b1)), max(abs(b2), abs(turn1), abs(turn2)))
        if not step < FAR:  # no solution, or not a number
            break
        f = min(1.0, LONGEST_STEP / max(step, 1e-300))
        feature_a = settled(A, I, moved(feature_a, fa, f * L * a1, f * L * a2))
        feature_b = settled(B, X, moved(feature_b, fb, f * L * b1, f * L * b2))
        n = n + f * (turn1 * e1 + turn2 * e2)
        n = (1.0 / norm(n)) * n
        if step < ENOUGH:
            break
    return feature_a.x, feature_b.x, n


@formula
def into(s, tables, x):
    """The point of the core nearest to x, where x is outside and the page has a closed form; else x."""
    if not has_nearest(s.kind):
        return x
    d, n = nearest(s, tables, x)
    return x - max(d, 0.0) * n


@outlined
def slid(A, B, X, tables, contact, fine):
    """Parallel features: the same distance and normal, with both points moved into their faces by turns."""
    a, b, n, d = contact.a, contact.b, contact.n, contact.d
    best, left = contact, 1e300
    for _ in range(MOST_SLIDES):
        a = into(A, tables, b - d * n)
        b = plus_turned(X.p, X.R, into(B, tables, T(X.R) @ (a + d * n - X.p)))
        r = b - a - d * n
        if norm(r) < 0.5 * fine or not norm(r) < SLOWEST * left:
            break
        left = norm(r)
    again = proven(A, B, X, tables, a, b, n)
    return again if again.error < best.error else best


@outlined
def polished(A, B, X, tables, work, rows, contact, L, fine):
    """The best contact that the features near `contact` give; rows (i, j, k) of the points that span flat ones."""
    i, j, k = rows
    I = Pose(Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
    best = contact
    floor = contact.d - contact.error - fine  # Newton's method may find a slab that is no widest one
    for p in range(CANDIDATES):
        if p > 0 and not is_round(A.kind):
            break
        if is_round(A.kind):
            feature_a = round_feature(A, I, contact.a, contact.n, p)
        else:
            feature_a = spanned(work.points, 3, i, j, k, contact.a, 1e-9 * L)
        if feature_a.code == NONE:
            continue
        for q in range(CANDIDATES):
            if q > 0 and not is_round(B.kind):
                break
            if is_round(B.kind):
                feature_b = round_feature(B, X, contact.b, -contact.n, q)
            else:
                feature_b = spanned(work.points, 6, i, j, k, contact.b, 1e-9 * L)
            if feature_b.code == NONE:
                continue
            follows, a, b, n = by_normals(A, B, X, feature_a, feature_b, contact.n, L)
            if not follows:
                a, b, n = converge(A, B, X, work.matrix, feature_a, feature_b, contact.n, L)
            found = proven(A, B, X, tables, a, b, n)
            # the widest slab, but its points beside the features
            if found.error > fine and found.d - width(A, B, X, tables, n) <= fine:
                found = slid(A, B, X, tables, found, fine)
            if found.error < best.error and found.d >= floor:
                best = found
            if best.error <= fine:
                return best
    return best
