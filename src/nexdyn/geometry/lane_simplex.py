"""The distance of the origin from convex C = B − A in each of LANES poses, by simplices of support points (Gilbert, Johnson, Keerthi 1988).

All lanes go on together, without a branch on what a lane holds. Three points w_k with weights λ_k have the nearest point
v = Σ λ_k w_k so far; w is the support point against v. What is nearest in the tetrahedron lies on one of the six edges and triangles
that end in w, else w would not be nearer. Of these candidates

    edge      v = w + t (w_k − w),  t = −w·e/e·e held in [0, 1],  e = w_k − w
    triangle  v = (f w + g w_i + h w_j)/(f + g + h),  N = (w_i − w) × (w_j − w),  f = N·(w_i × w_j),  g = N·(w_j × w),  h = N·(w × w_i) > 0

the one with the greatest least v·(r − v) over the points r that are left is taken: it is 0 or more where none of them is nearer. Where it
is far below 0 for all, the origin is inside. Points without weight make room for w, and for copies of it, which do no harm.

A lane ends where the bounds |v| ≥ d ≥ v·w/|v| meet or w is a point that it has; what it holds stays while others go on.
"""

from __future__ import annotations

from nexdyn.geometry.contact import Contact
from nexdyn.geometry.lane_support import choose, lane_support
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import T, cross, plus_turned
from nexdyn.spatial.lanes import all_less, if_less, sqrt, zero

MOST_SUPPORTS = 48
MEETS = 1e-15
"""Difference of the bounds at which a lane ends, in units of the shapes' size."""
UNKNOWN = 1e300
"""The error of a lane that found nothing: its shapes overlap or touch."""


@formula
def along_edge(w, r):
    """The weight t of r in the point w + t (r − w) of the edge that is nearest to the origin."""
    o, e = zero(w.x), r - w
    square, along = e @ e, -(w @ e)
    return if_less(o, along, if_less(along, square, along / if_less(o, square, square, o + 1.0), o + 1.0), o)


@formula
def keeps(v, r):
    """v·(r − v): not negative where point r keeps v the nearest one."""
    return v @ (r - v)


@formula
def in_triangle(w, p, q):
    """The weights of w, p and q in the point of their plane that is nearest to the origin; 0 where it is not inside."""
    o = zero(w.x)
    N = cross(p - w, q - w)
    f, g, h = N @ cross(p, q), N @ cross(q, w), N @ cross(w, p)
    total = f + g + h
    least = if_less(f, g, f, g)
    least = if_less(least, h, least, h)
    scale = if_less(o, least, 1.0 / if_less(o, total, total, o + 1.0), o)
    return scale * f, scale * g, scale * h


@formula
def equal(p, q):
    """1 in the lanes where p is q, else 0."""
    o, r = zero(p.x), p - q
    return if_less(o, r @ r, o, o + 1.0)


@formula
def better(chosen, x, l0, l1, l2):
    """(how far it keeps the points behind it, weights of w0, w1, w2): a candidate, in the lanes where that is more than `chosen`."""
    most, m0, m1, m2 = chosen
    return if_less(most, x, x, most), if_less(most, x, l0, m0), if_less(most, x, l1, m1), if_less(most, x, l2, m2)


@formula
def lane_apart(A, B, X, tables, v, done, size):
    """The contact of the cores of A and B, X the pose of B in A, in each lane that is not `done` (1); its error tells whether it is proven.

    v: a first guess of b − a, not 0. size [m]: of the shapes and their distance."""
    o = zero(v.x)
    one = o + 1.0
    a = lane_support(A, tables, v)
    b = plus_turned(X.p, X.R, lane_support(B, tables, T(X.R) @ (-v)))
    w0 = b - a
    w1, w2, a0, a1, a2, b0, b1, b2 = w0, w0, a, a, a, b, b, b
    l0, l1, l2, v, short = one, o, o, w0, o + UNKNOWN
    for _ in range(MOST_SUPPORTS):
        length = sqrt(v @ v)
        positive = if_less(o, length, length, one)
        a = lane_support(A, tables, v)
        b = plus_turned(X.p, X.R, lane_support(B, tables, T(X.R) @ (-v)))
        w = b - a
        bound = length - (v @ w) / positive
        ends = if_less(bound, MEETS * size, one, o) + equal(w, w0) + equal(w, w1) + equal(w, w2)
        inside = if_less(1e-14 * size, length, o, one)
        short = if_less(done, 0.5 * one, if_less(inside, 0.5 * one, bound, o + UNKNOWN), short)
        done = if_less(o, done + ends + inside, one, o)
        if all_less(0.5 * one, done):
            break
        # edges
        t0, t1, t2 = along_edge(w, w0), along_edge(w, w1), along_edge(w, w2)
        u, q, r = w + t0 * (w0 - w), w + t1 * (w1 - w), w + t2 * (w2 - w)
        x, y = keeps(u, w1), keeps(u, w2)
        chosen = if_less(x, y, x, y), t0, o, o
        x, y = keeps(q, w0), keeps(q, w2)
        chosen = better(chosen, if_less(x, y, x, y), o, t1, o)
        x, y = keeps(r, w0), keeps(r, w1)
        chosen = better(chosen, if_less(x, y, x, y), o, o, t2)
        # triangles
        f, g, h = in_triangle(w, w0, w1)
        chosen = better(chosen, if_less(o, f, keeps(f * w + g * w0 + h * w1, w2), o - UNKNOWN), g, h, o)
        f, g, h = in_triangle(w, w1, w2)
        chosen = better(chosen, if_less(o, f, keeps(f * w + g * w1 + h * w2, w0), o - UNKNOWN), o, g, h)
        f, g, h = in_triangle(w, w2, w0)
        chosen = better(chosen, if_less(o, f, keeps(f * w + g * w2 + h * w0, w1), o - UNKNOWN), h, o, g)
        most, m0, m1, m2 = chosen
        # the origin inside: no candidate keeps all points behind it
        lost = if_less(most, -1e-9 * size * length, one - done, o)
        short, done = if_less(lost, 0.5 * one, short, o + UNKNOWN), done + lost
        # lanes that are done keep what they hold; w, and copies of it, take the places without weight
        rest = one - m0 - m1 - m2
        m0, m1, m2 = (
            if_less(done, 0.5 * one, m0, l0),
            if_less(done, 0.5 * one, m1, l1),
            if_less(done, 0.5 * one, m2, l2),
        )
        free = one - done
        c0, c1, c2 = if_less(o, m0, o, free), if_less(o, m1, o, free), if_less(o, m2, o, free)
        w0, a0, b0 = choose(o, c0, w, w0), choose(o, c0, a, a0), choose(o, c0, b, b0)
        w1, a1, b1 = choose(o, c1, w, w1), choose(o, c1, a, a1), choose(o, c1, b, b1)
        w2, a2, b2 = choose(o, c2, w, w2), choose(o, c2, a, a2), choose(o, c2, b, b2)
        l0 = if_less(o, c0, rest, m0)
        l1 = if_less(o, c1 * (one - c0), rest, m1)
        l2 = if_less(o, c2 * (one - c0) * (one - c1), rest, m2)
        v = l0 * w0 + l1 * w1 + l2 * w2
    length = sqrt(v @ v)
    n = (1.0 / if_less(o, length, length, one)) * v
    error = if_less(o, done, short, o + UNKNOWN)
    return Contact(
        length, n, l0 * a0 + l1 * a1 + l2 * a2, l0 * b0 + l1 * b1 + l2 * b2, if_less(error, o, -error, error)
    )
