"""Two boxes with half edges a, b: the widest slab between them, over their 15 candidate normals (Gottschalk 1996).

With p the centre of B in A, R its axes r_j there, e_i those of A, and s = n·p ≥ 0 by the sign of n,

    n = ±e_i         σ = |p_i| − a_i − Σ_j |R_ij| b_j
    n = ±r_j         σ = |p·r_j| − b_j − Σ_i |R_ij| a_i
    n = ±e_i × r_j   σ |n| = |p·n| − Σ_k a_k |n_k| − Σ_l b_l |n·r_l|

Boxes overlap where the greatest σ is not positive, and then it is the distance, exactly and of all directions; the
witness points are those of two edges where n is across both, and else a common point of both features, found by turns in
A and B. Apart, σ is a lower bound, and the distance where its witness points are those of faces.
"""

from __future__ import annotations

from typing import NamedTuple

from nexdyn.geometry import box
from nexdyn.geometry.contact import Contact, proven
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import T, Vec3, axis, column, cross, norm, plus_turned

PARALLEL = 1e-12
"""Square of the sine below which edges are parallel."""
CLEARLY = 1e-10
"""Part of the size by which a normal of edges must be the better one."""
ALONG = 1.0 - 1e-12
"""Cosine within which two normals are one."""
MOST_TURNS = 8
ALIGNED = 1e-9
"""Component of a normal along an edge below which the edge lies across it."""


class Slab(NamedTuple):
    """Width σ, unit normal from A to B, and the edges i, j that it is across (−1: a face's normal)."""

    width: float
    n: Vec3
    i: int
    j: int


@formula
def component(a, i):
    """a_i."""
    return a.x if i == 0 else a.y if i == 1 else a.z


@formula
def wider(best, width, n, s, i, j):
    """The wider of two slabs; n is turned to have n·p = s positive."""
    if width > best.width:
        return Slab(width, n if s >= 0.0 else -n, i, j)
    return best


@formula
def reach(h, n):
    """Σ h_i |n_i|: the support function of a box along n in its axes."""
    return h.x * abs(n.x) + h.y * abs(n.y) + h.z * abs(n.z)


@formula
def widest(a, b, X, L):
    """The widest slab of all candidates, of a face where edges are no better; of faces alone where one parts the boxes."""
    R, p = X.R, X.p
    best = Slab(-1e300, Vec3(1.0, 0.0, 0.0), -1, -1)
    best = wider(best, abs(p.x) - a.x - reach(b, Vec3(R.xx, R.xy, R.xz)), Vec3(1.0, 0.0, 0.0), p.x, -1, -1)
    best = wider(best, abs(p.y) - a.y - reach(b, Vec3(R.yx, R.yy, R.yz)), Vec3(0.0, 1.0, 0.0), p.y, -1, -1)
    best = wider(best, abs(p.z) - a.z - reach(b, Vec3(R.zx, R.zy, R.zz)), Vec3(0.0, 0.0, 1.0), p.z, -1, -1)
    q = T(R) @ p
    best = wider(best, abs(q.x) - b.x - reach(a, column(R, 0)), column(R, 0), q.x, -1, -1)
    best = wider(best, abs(q.y) - b.y - reach(a, column(R, 1)), column(R, 1), q.y, -1, -1)
    best = wider(best, abs(q.z) - b.z - reach(a, column(R, 2)), column(R, 2), q.z, -1, -1)
    clearly = CLEARLY * L
    if best.width > clearly:  # apart: simplices find edges and corners sooner
        return best
    for i in range(3):
        e = axis(i)
        for j in range(3):
            n = cross(e, column(R, j))
            square = n @ n
            if square > PARALLEL:
                f = 1.0 / norm(n)
                s = n @ p
                width = f * (abs(s) - reach(a, n) - reach(b, T(R) @ n))
                best = wider(best, width if width > best.width + clearly else -1e300, f * n, s, i, j)
    return best


@formula
def on_edges(a, b, X, slab):
    """The nearest points of the edges i of A and j of B that are farthest along n and −n."""
    n, e, r = slab.n, axis(slab.i), column(X.R, slab.j)
    m = T(X.R) @ n
    x = box_corner(a, n)
    y = plus_turned(X.p, X.R, box_corner(b, -m))
    x = x - component(x, slab.i) * e
    y = y - (r @ (y - X.p)) * r
    # lines x + s e, y + t r:  (y + t r − x − s e) ⟂ e, r
    w, c = y - x, e @ r
    below = 1.0 - c * c
    s = (e @ w - c * (r @ w)) / below
    t = (c * (e @ w) - r @ w) / below
    h, g = component(a, slab.i), component(b, slab.j)
    return x + min(max(s, -h), h) * e, y + min(max(t, -g), g) * r


@formula
def box_corner(h, n):
    """The corner with the signs of n."""
    return Vec3(h.x if n.x >= 0.0 else -h.x, h.y if n.y >= 0.0 else -h.y, h.z if n.z >= 0.0 else -h.z)


@formula
def into(s, tables, x):
    """The point of the box nearest to x, where x is outside."""
    d, n = box.nearest(s, tables, x)
    return x - max(d, 0.0) * n


@formula
def feature_middle(h, n):
    """(the middle of what of the box is farthest along n, how many directions it extends in: 0 a corner, 2 a face)."""
    x = h.x if n.x > ALIGNED else -h.x if n.x < -ALIGNED else 0.0
    y = h.y if n.y > ALIGNED else -h.y if n.y < -ALIGNED else 0.0
    z = h.z if n.z > ALIGNED else -h.z if n.z < -ALIGNED else 0.0
    return Vec3(x, y, z), (1 if x == 0.0 else 0) + (1 if y == 0.0 else 0) + (1 if z == 0.0 else 0)


@formula
def on_faces(A, B, X, tables, n, d, turns, fine):
    """Points a of A and b of B with b − a = d n, by turns in both, from the middle of the smaller of the two features."""
    a, extent_a = feature_middle(A.size, n)
    b, extent_b = feature_middle(B.size, T(X.R) @ (-n))
    b = plus_turned(X.p, X.R, b)
    if extent_b < extent_a:
        a = into(A, tables, b - d * n)
    for _ in range(turns):
        r = b - a - d * n
        if norm(r) < 0.5 * fine:
            break
        b = plus_turned(X.p, X.R, into(B, tables, T(X.R) @ (a + d * n - X.p)))
        r = b - a - d * n
        if norm(r) < 0.5 * fine:
            break
        a = into(A, tables, b - d * n)
    return a, b


@outlined
def of_boxes(A, B, X, tables, fine, L, start):
    """The contact by the widest slab, with its error: no proof where an edge or corner is nearest and the boxes are apart.

    Apart, faces are tried only where the normal is along `start`, as it is in a motion."""
    slab = widest(A.size, B.size, X, L)
    if slab.width > 0.0 and not slab.n @ start > ALONG * norm(start):
        return Contact(slab.width, slab.n, X.p, X.p, 1e300)
    if slab.i >= 0:
        a, b = on_edges(A.size, B.size, X, slab)
    else:
        a, b = on_faces(A, B, X, tables, slab.n, slab.width, 2 if slab.width > 0.0 else MOST_TURNS, fine)
    found = proven(A, B, X, tables, a, b, slab.n)
    return Contact(slab.width, found.n, found.a, found.b, found.error)
