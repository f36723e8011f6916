"""The answer of a query of two shapes, and the proof of it.

The signed distance of convex bodies A and B is the greatest width of a slab between them,

    d = max over |n| = 1 of  σ(n) = −h_A(n) − h_B(−n),     h(n) = max of n·x over the body,

positive apart, negative where they overlap (then −d is the least translation that parts them). For points a of A and b
of B with b − a = d n, n from A to B, |b − a| ≥ d ≥ σ(n) apart: where d = σ(n) both are exact. Overlapping, d = σ(n) says
that n is a local minimum of the depth. `error` is the largest violation of this proof [m], whatever way a, b, n were found.
"""

from __future__ import annotations

from typing import NamedTuple

from nexdyn.geometry.kinds import excess, support
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import T, Vec3, norm, plus_turned


class Contact(NamedTuple):
    d: float
    n: Vec3
    a: Vec3
    b: Vec3
    error: float


@formula
def support_pair(A, B, X, tables, n):
    """The points of A farthest along n and of B farthest along −n, in A's frame; X is the pose of B in A."""
    return support(A, tables, n), plus_turned(X.p, X.R, support(B, tables, T(X.R) @ (-n)))


@outlined
def width(A, B, X, tables, n):
    """σ(n) = −h_A(n) − h_B(−n)."""
    x, y = support_pair(A, B, X, tables, n)
    return n @ (y - x)


@outlined
def proven(A, B, X, tables, a, b, n):
    """The contact of points a, b with unit normal n, and its error."""
    d = n @ (b - a)
    x, y = support_pair(A, B, X, tables, n)
    short = d - n @ (y - x)  # d − σ(n)
    r = (b - a) - d * n
    outside = max(excess(A, tables, a), excess(B, tables, T(X.R) @ (b - X.p)))
    return Contact(d, n, a, b, max(abs(short), outside, norm(r)))
