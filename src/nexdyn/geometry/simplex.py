"""The distance of the origin from convex C = B − A, by simplices of its support points (Gilbert, Johnson, Keerthi 1988).

Row k of `points` is (w, a, b) with w = b − a, and its weight in the nearest point v = Σ λ_k w_k. Apart,

    |v| ≥ d ≥ v·w/|v|   with w the support point of C against v,

so that the gap of both bounds tells when to stop. The nearest point of a triangle is in its inside where the three areas
N·(q × r), … are positive, N its normal, else on one of its edges; a flat or needle-like triangle is its edges.
"""

from __future__ import annotations

from nexdyn.geometry.contact import support_pair
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Vec3, cross, norm
from nexdyn.spatial.table import Vec3Rows, row

COLUMNS_OF_POINTS = 10
MOST_SUPPORTS = 128
MOST_IDLE = 8
CONVERGED, INSIDE, STALLED = 0, 1, 2


@formula
def on_segment(p, q):
    """(|v|², λ_p, λ_q) of the point of the segment that is nearest to the origin."""
    e = q - p
    ee, along = e @ e, -(p @ e)
    if not along > 0.0:
        return p @ p, 1.0, 0.0
    if along >= ee:
        return q @ q, 0.0, 1.0
    t = along / ee
    v = p + t * e
    return v @ v, 1.0 - t, t


@formula
def beyond(v, r):
    """v·(r − v): not negative where point r keeps v the nearest one; of rounding first order, where |v| shows second."""
    return v @ (r - v)


@formula
def on_triangle(p, q, r):
    """(|v|², λ_p, λ_q, λ_r) of the point of the triangle that is nearest to the origin."""
    N = cross(q - p, r - p)
    f, g, h = N @ cross(q, r), N @ cross(r, p), N @ cross(p, q)
    total = f + g + h
    if f > 0.0 and g > 0.0 and h > 0.0 and total > 0.0:
        height = p @ N
        return height * height / (N @ N), f / total, g / total, h / total
    square, f, g = on_segment(p, q)
    h = 0.0
    most = beyond(f * p + g * q, r)
    s, i, j = on_segment(q, r)
    b = beyond(i * q + j * r, p)
    if b > most:
        square, f, g, h, most = s, 0.0, i, j, b
    s, i, j = on_segment(r, p)
    if beyond(i * r + j * p, q) > most:
        square, f, g, h = s, j, 0.0, i
    return square, f, g, h


@formula
def outside_face(p, q, r, s):
    """Whether the origin is not on the side of plane p, q, r on which s lies; true for a flat tetrahedron."""
    N = cross(q - p, r - p)
    return not (-(p @ N)) * ((s - p) @ N) > 0.0


@outlined
def weigh(points, m):
    """Write the weights of the nearest point of the simplex of m points; True where it holds the origin."""
    W = Vec3Rows(points, 0)
    for k in range(m):
        points[k, 9] = 0.0
    if m == 1:
        points[0, 9] = 1.0
        return False
    p, q = row(W, 0), row(W, 1)
    if m == 2:
        _, points[0, 9], points[1, 9] = on_segment(p, q)
        return False
    r = row(W, 2)
    if m == 3:
        _, points[0, 9], points[1, 9], points[2, 9] = on_triangle(p, q, r)
        return False
    inside, most = True, 0.0
    for face in range(4):
        # the face without point `left`
        left = 3 - face
        i, j, k = (1 if left == 0 else 0), (2 if left <= 1 else 1), (3 if left <= 2 else 2)
        if outside_face(W[i], W[j], W[k], W[left]):
            _, f, g, h = on_triangle(W[i], W[j], W[k])
            b = beyond(f * W[i] + g * W[j] + h * W[k], W[left])
            if inside or b > most:
                points[i, 9], points[j, 9], points[k, 9], points[left, 9] = f, g, h, 0.0
                inside, most = False, b
    return inside


@formula
def keep_weighted(points, m):
    """Drop the points of no weight; how many stay."""
    kept = 0
    for k in range(m):
        if points[k, 9] > 0.0:
            for c in range(COLUMNS_OF_POINTS):
                points[kept, c] = points[k, c]
            kept += 1
    return kept


@formula
def weighted(points, m, column):
    """Σ λ_k x_k of the vectors that begin in `column`."""
    x = Vec3Rows(points, column)
    total = Vec3(0.0, 0.0, 0.0)
    for k in range(m):
        total = total + points[k, 9] * x[k]
    return total


@formula
def put_support(A, B, X, tables, n, points, k):
    """Support point of C against n into row k."""
    a, b = support_pair(A, B, X, tables, n)
    w = b - a
    W, P, Q = Vec3Rows(points, 0), Vec3Rows(points, 3), Vec3Rows(points, 6)
    W[k], P[k], Q[k] = w, a, b
    return w


@outlined
def approach(A, B, X, tables, points, m, v, gap, small):
    """Go on from the simplex of m points, whose nearest point is v, until the bounds differ by less than `gap`.

    Returns (CONVERGED, INSIDE or STALLED, m, v, the difference). INSIDE: C holds the origin to `small`."""
    W = Vec3Rows(points, 0)
    idle = 0
    for _ in range(MOST_SUPPORTS):
        length = norm(v)
        if m > 0 and length <= small:
            return INSIDE, m, v, 0.0
        w = put_support(A, B, X, tables, v, points, m)  # the same for any length of v
        short = length - (v @ w) / length
        if m > 0 and short <= gap:
            return CONVERGED, m, v, short
        for k in range(m):  # a point of the simplex again: no nearer one is found in this precision
            if W[k].x == w.x and W[k].y == w.y and W[k].z == w.z:
                return STALLED, m, v, short
        if weigh(points, m + 1):
            return INSIDE, m + 1, v, 0.0
        old = m
        m = keep_weighted(points, m + 1)
        nearer = weighted(points, m, 0)
        # faces that are all but parallel: a turn of v shows in |v| only to second order, so no step need shorten it
        idle = idle + 1 if old > 0 and norm(nearer) >= length else 0
        v = nearer
        if idle > MOST_IDLE:
            break
    return STALLED, m, v, 1e300
