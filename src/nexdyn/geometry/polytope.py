"""The depth of the origin in convex C = B − A, by a polytope of its support points that grows (van den Bergen 2001).

The polytope holds the origin; the distance of its nearest face is a lower bound of the depth, the support of C along
that face's normal an upper one. Each step adds the support point: the faces that see it go, their rim is joined to it.

`faces` rows are (outward normal, distance of the plane, of the triangle: of triangles in one plane the one that holds
the nearest point is meant), `corners` (i, j, k, alive) counter-clockwise from outside; `twin[i, j]` is
the face that has the edge from i to j. Faces that see a point are found by walking from the nearest face, so that the
hole is connected whatever the rounding.
"""

from __future__ import annotations

from nexdyn.geometry.simplex import on_triangle, put_support
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Vec3, basis, cross, norm
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import Vec3Rows, row

MOST_POINTS = 192
MOST_FACES = 2 * MOST_POINTS
REACHED, FULL = 0, 1
FAR = 1e300


@formula
def add_face(work, count, i, j, k):
    """Put face (i, j, k) behind the `count` that stand; it is never the nearest where it has no area."""
    W, N = Vec3Rows(work.points, 0), Vec3Rows(work.faces, 0)
    p, q, r = W[i], W[j], W[k]
    n = cross(q - p, r - p)
    area, longest = norm(n), max(norm(q - p), norm(r - p), norm(r - q))
    work.faces[count, 3], work.faces[count, 4] = FAR, FAR
    if area > 1e-14 * longest * longest:
        u = (1.0 / area) * n
        N[count] = u
        work.faces[count, 3] = max(u @ p, u @ q, u @ r)
        square, _, _, _ = on_triangle(p, q, r)
        work.faces[count, 4] = sqrt(square)
    work.corners[count, 0], work.corners[count, 1], work.corners[count, 2] = i, j, k
    work.corners[count, 3] = 1
    work.twin[i, j], work.twin[j, k], work.twin[k, i] = count, count, count
    return count + 1


@formula
def sees(work, f, w):
    """Whether the outside of face f holds w."""
    if work.faces[f, 3] == FAR:  # by its corners alone
        W = Vec3Rows(work.points, 0)
        i, j, k = work.corners[f, 0], work.corners[f, 1], work.corners[f, 2]
        return cross(W[j] - W[i], W[k] - W[i]) @ (w - W[i]) > 0.0
    N = Vec3Rows(work.faces, 0)
    return N[f] @ w > work.faces[f, 3]


@outlined
def enclose(A, B, X, tables, work, m, size):
    """Complete the simplex of m points to a tetrahedron around the origin and make its faces; False for a flat C."""
    points = work.points
    W = Vec3Rows(points, 0)
    thin = 1e-12 * size
    if m == 1:
        for k in range(6):
            s = 1.0 if k % 2 == 0 else -1.0
            u = Vec3(s if k < 2 else 0.0, s if 2 <= k and k < 4 else 0.0, s if k >= 4 else 0.0)
            w = put_support(A, B, X, tables, u, points, 1)
            if norm(w - row(W, 0)) > thin:
                m = 2
                break
    if m == 2:
        e = row(W, 1) - row(W, 0)
        e = (1.0 / norm(e)) * e
        t, u = basis(e)
        for k in range(4):
            s = 1.0 if k % 2 == 0 else -1.0
            w = put_support(A, B, X, tables, s * t if k < 2 else s * u, points, 2)
            if norm(cross(e, w - row(W, 0))) > thin:
                m = 3
                break
    if m == 3:
        n = cross(row(W, 1) - row(W, 0), row(W, 2) - row(W, 0))
        n = (1.0 / max(norm(n), 1e-300)) * n
        for k in range(2):
            w = put_support(A, B, X, tables, n if k == 0 else -n, points, 3)
            if abs(n @ (w - row(W, 0))) > thin:
                m = 4
                break
    if m < 4:
        return False
    p = row(W, 0)
    if cross(row(W, 1) - p, row(W, 2) - p) @ (row(W, 3) - p) > 0.0:  # the fourth point must be behind face 0, 1, 2
        for c in range(9):
            points[1, c], points[2, c] = points[2, c], points[1, c]
    count = add_face(work, 0, 0, 1, 2)
    count = add_face(work, count, 0, 2, 3)
    count = add_face(work, count, 0, 3, 1)
    count = add_face(work, count, 1, 3, 2)
    return True


@formula
def open_hole(work, count, first, w):
    """Take away the faces that see w, connected with face `first`; how many, their numbers in `stack`."""
    work.stack[0] = first
    work.corners[first, 3] = 0
    found, at = 1, 0
    while at < found:
        f = work.stack[at]
        at += 1
        for e in range(3):
            i, j = work.corners[f, e], work.corners[f, (e + 1) % 3]
            g = work.twin[j, i]
            if work.corners[g, 3] == 1 and sees(work, g, w):
                work.corners[g, 3] = 0
                work.stack[found] = g
                found += 1
    return found


@outlined
def grow(A, B, X, tables, work, m, count, gap):
    """Add points until the bounds of the depth differ by less than `gap`.

    Returns (REACHED or FULL, points, faces, the nearest face)."""
    N = Vec3Rows(work.faces, 0)
    while True:
        nearest, least = -1, FAR
        for f in range(count):
            if work.corners[f, 3] == 1 and work.faces[f, 4] < least:
                nearest, least = f, work.faces[f, 4]
        if nearest < 0 or m >= MOST_POINTS:
            return FULL, m, count, nearest
        n = N[nearest]
        w = put_support(A, B, X, tables, -n, work.points, m)
        if n @ w - work.faces[nearest, 3] <= gap:
            return REACHED, m, count, nearest
        holes = open_hole(work, count, nearest, w)
        # the rim: edges whose twin stands; the new faces take first the rows that went
        rim = 0
        for h in range(holes):
            f = work.stack[h]
            for e in range(3):
                i, j = work.corners[f, e], work.corners[f, (e + 1) % 3]
                if work.corners[work.twin[j, i], 3] == 1:
                    work.rim[rim, 0], work.rim[rim, 1] = i, j
                    rim += 1
        if count + rim - holes > MOST_FACES or rim > MOST_FACES:
            for h in range(holes):
                work.corners[work.stack[h], 3] = 1
            return FULL, m, count, nearest
        for k in range(rim):
            place = work.stack[k] if k < holes else count
            end = add_face(work, place, work.rim[k, 0], work.rim[k, 1], m)
            count = max(count, end)
        m += 1


@formula
def weigh_face(work, f):
    """Bring the corners of face f to the first three rows, weighted for the point of its plane nearest to the origin.

    Ends the growth: the rows of the polytope are no longer its."""
    points = work.points
    W, N = Vec3Rows(points, 0), Vec3Rows(work.faces, 0)
    i, j, k = work.corners[f, 0], work.corners[f, 1], work.corners[f, 2]
    p, q, r = W[i], W[j], W[k]
    n = N[f]
    v = work.faces[f, 3] * n
    f1, g1, h1 = n @ cross(q - v, r - v), n @ cross(r - v, p - v), n @ cross(p - v, q - v)
    f1, g1, h1 = max(f1, 0.0), max(g1, 0.0), max(h1, 0.0)
    total = max(f1 + g1 + h1, 1e-300)
    return i, j, k, f1 / total, g1 / total, h1 / total
