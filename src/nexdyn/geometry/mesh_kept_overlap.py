"""The depth of two meshes that cross, from the pairs of triangles that mesh_kept.py keeps.

As in mesh_distance.py, the depth is that of the deepest point on an edge of one that lies inside the other. What of a mesh of one
part is inside hangs together with triangles that cross; so the search starts at these and goes on to all triangles that have a corner
inside. A triangle with a corner less than R − δ deep is among the pairs; where a corner is deeper, nothing is said. On an edge, only
what lies between the first and last triangle that it pierces, or an end that is inside, can be.
"""

from __future__ import annotations

from nexdyn.geometry.contact import Contact
from nexdyn.geometry.hierarchy import triangle
from nexdyn.geometry.mesh_distance import SMALL, into, inverse_of, placed, touching_normal
from nexdyn.geometry.mesh_point import Foot, deepest_between, foot
from nexdyn.geometry.triangles import length, normal_of, of_triangles, pierces
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import T, Vec3, plus_turned
from nexdyn.spatial.table import Vec3Rows

MOST_CORNERS = 512
"""Corners of triangles that are looked at in an overlap."""


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
