"""Closed forms of triangles: nearest points of a point, a segment and a triangle to a triangle, and whether an edge pierces one.

Point x and triangle p, q, r: `simplex.on_triangle` of the corners less x. Segments p + s e and q + t f, 0 ≤ s, t ≤ 1, with
N = e × f and w = q − p (Ericson 2005, 5.1.9, the determinants by N):

    s = N·(w × f)/|N|²,     t = (s e − w)·f/|f|²,     each clamped; where t is, s = (t f + w)·e/|e|²

Two triangles that do not meet are nearest between an edge of each (9 pairs) or a corner and a face (6 pairs). They meet
where an edge of one pierces the other: its ends lie on both sides of the plane, and the three volumes of the edge
with those of the triangle have one sign.

`n` of an answer is normal to what the nearest points lie on: N of two edges, the face's normal, else along b − a. So it is
exact to rounding however near the triangles are.
"""

from __future__ import annotations

from typing import NamedTuple

from nexdyn.geometry.simplex import on_triangle
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Vec3, cross

FAR = 1e300
FLAT = 1e-30
"""Square of the sine below which two edges of a triangle are one."""


class Triangle(NamedTuple):
    p: Vec3
    q: Vec3
    r: Vec3


class Near(NamedTuple):
    """Square of the distance, points a and b, and a vector along the normal from a to b (not unit; 0 where they meet)."""

    square: float
    a: Vec3
    b: Vec3
    n: Vec3


@formula
def clamped(x):
    """x, at least 0 and at most 1."""
    return min(max(x, 0.0), 1.0)


@formula
def of_segments(p, e, q, f):
    """(|b − a|², s, t) of the nearest points a = p + s e, b = q + t f."""
    w, N = q - p, cross(e, f)
    ee, ff, NN = e @ e, f @ f, N @ N
    s = clamped((N @ cross(w, f)) / NN) if NN > 1e-28 * ee * ff else 0.0
    t = (s * e - w) @ f / ff if ff > 0.0 else 0.0
    if not (0.0 <= t and t <= 1.0):
        t = clamped(t)
        s = clamped((t * f + w) @ e / ee) if ee > 0.0 else 0.0
    elif not NN > 1e-28 * ee * ff and ee > 0.0:
        s = clamped((t * f + w) @ e / ee)
    r = w + t * f - s * e
    return r @ r, s, t


@formula
def to_point(tri, x):
    """(|y − x|², weights of the corners) of the point y of the triangle that is nearest to x."""
    return on_triangle(tri.p - x, tri.q - x, tri.r - x)


@formula
def pierces(x, y, tri, N):
    """Whether segment x, y goes through the triangle with normal N; (yes, fraction of the way)."""
    h, g = N @ (x - tri.p), N @ (y - tri.p)
    if not (h * g < 0.0 or (h != g and (h == 0.0 or g == 0.0))):
        return False, 0.0
    d = y - x
    p, q, r = tri.p - x, tri.q - x, tri.r - x
    u, v, w = d @ cross(q, r), d @ cross(r, p), d @ cross(p, q)
    if (u >= 0.0 and v >= 0.0 and w >= 0.0) or (u <= 0.0 and v <= 0.0 and w <= 0.0):
        return True, h / (h - g)
    return False, 0.0


@formula
def edge_pair(best, p, e, q, f):
    """The nearer of `best` and of edges p + s e and q + t f."""
    square, s, t = of_segments(p, e, q, f)
    if square < best.square:
        a, b = p + s * e, q + t * f
        r, N = b - a, cross(e, f)
        n = r
        if 0.0 < s and s < 1.0 and 0.0 < t and t < 1.0 and N @ N > 1e-20 * (e @ e) * (f @ f):
            n = N if N @ r >= 0.0 else -N
        best = Near(square, a, b, n)
    return best


@formula
def corner_and_face(best, x, tri, N, swapped):
    """The nearer of `best` and of corner x over the inside of the triangle with normal N."""
    h = N @ (x - tri.p)
    NN = N @ N
    if NN > 0.0 and h * h < best.square * NN:
        y = x - (h / NN) * N
        u, v, w = N @ cross(tri.q - y, tri.r - y), N @ cross(tri.r - y, tri.p - y), N @ cross(tri.p - y, tri.q - y)
        if u >= 0.0 and v >= 0.0 and w >= 0.0:
            n = N if h >= 0.0 else -N
            best = Near(h * h / NN, y, x, n) if swapped else Near(h * h / NN, x, y, -n)
    return best


@formula
def side(N, tri, p):
    """(least, greatest) height N·(x − p) of the corners of a triangle."""
    f, g, h = N @ (tri.p - p), N @ (tri.q - p), N @ (tri.r - p)
    return min(f, g, h), max(f, g, h)


@formula
def apart(low, high):
    """How far an interval is from 0."""
    return max(low, -high, 0.0)


@formula
def normal_of(e, f):
    """e × f of two edges, 0 where it is rounding: what a triangle that is a segment has for a normal."""
    N = cross(e, f)
    if N @ N > FLAT * (e @ e) * (f @ f):
        return N
    return Vec3(0.0, 0.0, 0.0)


@formula
def crossing(A, B, NA, NB):
    """(whether an edge of one pierces the other, a point of both)."""
    hit, s = pierces(A.p, A.q, B, NB)
    if hit:
        return True, A.p + s * (A.q - A.p)
    hit, s = pierces(A.q, A.r, B, NB)
    if hit:
        return True, A.q + s * (A.r - A.q)
    hit, s = pierces(A.r, A.p, B, NB)
    if hit:
        return True, A.r + s * (A.p - A.r)
    hit, s = pierces(B.p, B.q, A, NA)
    if hit:
        return True, B.p + s * (B.q - B.p)
    hit, s = pierces(B.q, B.r, A, NA)
    if hit:
        return True, B.q + s * (B.r - B.q)
    hit, s = pierces(B.r, B.p, A, NA)
    return hit, B.r + s * (B.p - B.r)


@formula
def apart_along(a, b, c, p, q, r):
    """How far the intervals of a, b, c and of p, q, r are apart."""
    return max(min(p, q, r) - max(a, b, c), min(a, b, c) - max(p, q, r), 0.0)


@formula
def box_gap(A, B):
    """The square of the distance of the boxes of two triangles along the axes."""
    x = apart_along(A.p.x, A.q.x, A.r.x, B.p.x, B.q.x, B.r.x)
    y = apart_along(A.p.y, A.q.y, A.r.y, B.p.y, B.q.y, B.r.y)
    z = apart_along(A.p.z, A.q.z, A.r.z, B.p.z, B.q.z, B.r.z)
    return x * x + y * y + z * z


@outlined
def of_triangles(A, B, limit):
    """The nearest points of two triangles, or no answer (square `limit`) where they are not nearer than √limit."""
    zero = Vec3(0.0, 0.0, 0.0)
    best = Near(limit, zero, zero, zero)
    if box_gap(A, B) > limit:
        return best
    e1, e2, e3 = A.q - A.p, A.r - A.q, A.p - A.r
    NA = normal_of(e1, A.r - A.p)
    low_b, high_b = side(NA, B, A.p)
    gap = apart(low_b, high_b)
    if gap * gap > limit * (NA @ NA):
        return best
    f1, f2, f3 = B.q - B.p, B.r - B.q, B.p - B.r
    NB = normal_of(f1, B.r - B.p)
    low_a, high_a = side(NB, A, B.p)
    gap = apart(low_a, high_a)
    if gap * gap > limit * (NB @ NB):
        return best
    if low_a <= 0.0 and high_a >= 0.0 and low_b <= 0.0 and high_b >= 0.0:
        hit, x = crossing(A, B, NA, NB)
        if hit:
            return Near(0.0, x, x, zero)
    best = corner_and_face(best, B.p, A, NA, True)
    best = corner_and_face(best, B.q, A, NA, True)
    best = corner_and_face(best, B.r, A, NA, True)
    best = corner_and_face(best, A.p, B, NB, False)
    best = corner_and_face(best, A.q, B, NB, False)
    best = corner_and_face(best, A.r, B, NB, False)
    best = edge_pair(best, A.p, e1, B.p, f1)
    best = edge_pair(best, A.p, e1, B.q, f2)
    best = edge_pair(best, A.p, e1, B.r, f3)
    best = edge_pair(best, A.q, e2, B.p, f1)
    best = edge_pair(best, A.q, e2, B.q, f2)
    best = edge_pair(best, A.q, e2, B.r, f3)
    best = edge_pair(best, A.r, e3, B.p, f1)
    best = edge_pair(best, A.r, e3, B.q, f2)
    return edge_pair(best, A.r, e3, B.r, f3)
