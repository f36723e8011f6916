"""The contact of two smooth features to the last digit, by Newton's method.

Unknown are the moves u of a and w of b along the tangents of their features, and the turn φ of the normal n along unit
vectors e1, e2 across it. With d = n·(b − a), all lengths in units of L,

    e_i·(t_a u − t_b w) + d φ_i = e_i·(b − a)            b − a is along n
    k_a u + t_a·e φ             = −n·t_a                  n is normal to A's feature
    k_b w + t_b·e φ             = −n·t_b                  and to B's

Six equations; where features have fewer tangents, or are parallel, the matrix has a lower rank, and pivots that are
rounding are left out with their unknowns. Convergence is quadratic, touching (d = 0) and overlapping as well as apart.
"""

from __future__ import annotations

from nexdyn.geometry.contact import basis, norm, proven, width
from nexdyn.geometry.features import (
    CANDIDATES,
    NONE,
    Feature,
    frame_of,
    round_feature,
    settled,
    spanned,
)  # fmt: skip
from nexdyn.geometry.kinds import has_nearest, is_round, nearest
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Mat3, Pose, T, Vec3, plus_turned

MOST_STEPS = 24
LONGEST_STEP = 0.4
FAR = 1e3
ENOUGH = 1e-8
"""The last step: what it leaves is of its square."""
MOST_SLIDES = 60
ROUNDING = 1e-13


@outlined
def solve(M):  # type: ignore[no-untyped-def]
    """Gauss elimination of M (6, 7) with full pivoting; the solution comes back in column 6, in the order of unknowns.

    Rows of M (7, ·): the last holds the order of the columns. Pivots below ROUNDING times the first are dropped."""
    for c in range(6):
        M[6, c] = float(c)
    first, rank = 0.0, 6
    for p in range(6):
        most, i, j = 0.0, p, p
        for r in range(p, 6):
            for c in range(p, 6):
                if abs(M[r, c]) > most:
                    most, i, j = abs(M[r, c]), r, c
        if p == 0:
            first = most
        if not most > ROUNDING * first:
            rank = p
            break
        for c in range(7):
            M[p, c], M[i, c] = M[i, c], M[p, c]
        for r in range(7):
            M[r, p], M[r, j] = M[r, j], M[r, p]
        for r in range(p + 1, 6):
            f = M[r, p] / M[p, p]
            for c in range(p, 7):
                M[r, c] -= f * M[p, c]
    for p in range(5, -1, -1):
        if p >= rank:
            M[p, 6] = 0.0
        else:
            x = M[p, 6]
            for c in range(p + 1, rank):
                x -= M[p, c] * M[c, 6]
            M[p, 6] = x / M[p, p]
    for p in range(6):  # back to the order of the unknowns, in row 7
        M[7, int(M[6, p])] = M[p, 6]


@formula
def assemble(M, fa, fb, n, e1, e2, r, d, L):  # type: ignore[no-untyped-def]
    """Write the six equations into M (6, 7)."""
    for i in range(6):
        for j in range(7):
            M[i, j] = 0.0
    for i in range(2):
        e = e1 if i == 0 else e2
        M[i, 0], M[i, 1], M[i, 2], M[i, 3] = e @ fa.t1, e @ fa.t2, -(e @ fb.t1), -(e @ fb.t2)
        M[i, 4 + i] = d / L
        M[i, 6] = (e @ r) / L
    for i in range(4):
        t = fa.t1 if i == 0 else fa.t2 if i == 1 else fb.t1 if i == 2 else fb.t2
        M[i + 2, i] = L * (fa.k1 if i == 0 else fa.k2 if i == 1 else fb.k1 if i == 2 else fb.k2)
        M[i + 2, 4], M[i + 2, 5] = t @ e1, t @ e2
        M[i + 2, 6] = -(n @ t)


@formula
def moved(feature, frame, u, w):  # type: ignore[no-untyped-def]
    """The feature with its point moved along the tangents."""
    return Feature(feature.code, feature.x + u * frame.t1 + w * frame.t2, feature.t1, feature.t2)


@outlined
def converge(A, B, X, M, feature_a, feature_b, n, L):  # type: ignore[no-untyped-def]
    """(a, b, n) where the equations hold, or what MOST_STEPS reached."""
    I = Pose(Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
    feature_a, feature_b = settled(A, I, feature_a), settled(B, X, feature_b)
    for _ in range(MOST_STEPS):
        fa, fb = frame_of(A, I, feature_a, n), frame_of(B, X, feature_b, n)
        e1, e2 = basis(n)
        r = feature_b.x - feature_a.x
        assemble(M, fa, fb, n, e1, e2, r, n @ r, L)
        solve(M)
        step = max(max(abs(M[7, 0]), abs(M[7, 1]), abs(M[7, 2])), max(abs(M[7, 3]), abs(M[7, 4]), abs(M[7, 5])))
        if not step < FAR:  # no solution, or not a number
            break
        f = min(1.0, LONGEST_STEP / max(step, 1e-300))
        feature_a = settled(A, I, moved(feature_a, fa, f * L * M[7, 0], f * L * M[7, 1]))
        feature_b = settled(B, X, moved(feature_b, fb, f * L * M[7, 2], f * L * M[7, 3]))
        n = n + f * (M[7, 4] * e1 + M[7, 5] * e2)
        n = (1.0 / norm(n)) * n
        if step < ENOUGH:
            break
    return feature_a.x, feature_b.x, n


@formula
def into(s, tables, x):  # type: ignore[no-untyped-def]
    """The point of the core nearest to x, where x is outside and the page has a closed form; else x."""
    if not has_nearest(s.kind):
        return x
    d, n = nearest(s, tables, x)
    return x - max(d, 0.0) * n


@outlined
def slid(A, B, X, tables, contact, fine):  # type: ignore[no-untyped-def]
    """Parallel features: the same distance and normal, with both points moved into their faces by turns."""
    a, b, n, d = contact.a, contact.b, contact.n, contact.d
    best = contact
    for _ in range(MOST_SLIDES):
        a = into(A, tables, b - d * n)
        b = plus_turned(X.p, X.R, into(B, tables, T(X.R) @ (a + d * n - X.p)))
        r = b - a - d * n
        if norm(r) < 0.5 * fine:
            break
    again = proven(A, B, X, tables, a, b, n)
    return again if again.error < best.error else best


@outlined
def polished(A, B, X, tables, work, rows, contact, L, fine):  # type: ignore[no-untyped-def]
    """The best contact that the features near `contact` give; rows (i, j, k) of the points that span flat ones."""
    i, j, k = rows
    I = Pose(Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
    best = contact
    floor = width(A, B, X, tables, contact.n) - fine  # Newton's method may find a slab that is no widest one
    for p in range(CANDIDATES):
        if p > 0 and not is_round(A.kind):
            break
        feature_a = spanned(work.points, 3, i, j, k, contact.a, 1e-9 * L)
        if is_round(A.kind):
            feature_a = round_feature(A, I, contact.a, contact.n, p)
        if feature_a.code == NONE:
            continue
        for q in range(CANDIDATES):
            if q > 0 and not is_round(B.kind):
                break
            feature_b = spanned(work.points, 6, i, j, k, contact.b, 1e-9 * L)
            if is_round(B.kind):
                feature_b = round_feature(B, X, contact.b, -contact.n, q)
            if feature_b.code == NONE:
                continue
            a, b, n = converge(A, B, X, work.matrix, feature_a, feature_b, contact.n, L)
            found = proven(A, B, X, tables, a, b, n)
            if found.error > fine and found.error < 0.1 * L:
                found = slid(A, B, X, tables, found, fine)
            if found.error < best.error and found.d >= floor:
                best = found
            if best.error <= fine:
                return best
    return best
