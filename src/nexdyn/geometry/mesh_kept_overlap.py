"""The depth of two meshes that cross along a motion, from the pairs of triangles that mesh_kept.py keeps.

As in mesh_distance.py, the depth is that of the deepest point on an edge of one that lies inside the other. What of a mesh of one
part is inside hangs together with triangles that cross; so the search starts at these and goes on to all triangles that have a corner
inside. A triangle with a corner less than R deep is among the pairs; where a corner is deeper, nothing is said. On an edge, only
what lies between the first and last triangle that it pierces, or an end that is inside, can be.

At pose X₁ each of these edges gets an upper bound U of its depth, and they are kept in the order of these. |φ| changes by no more than
a point moves. All kept triangles lie in a ball, whose points move by at most δ until pose X, so that then

    depth of an edge ≤ U + δ,    of a kept triangle that was outside ≤ δ,    of all others ≤ 0 while R > 0

Edges are looked at in their order until U + δ is no more than the greatest depth found, less those for which U and the way of their own
ends are no more than it, and those that the triangles near their ends bound. Where that is at least δ it is the depth of
the meshes, exactly.
"""

from __future__ import annotations

import math

from nexdyn.geometry.contact import Contact
from nexdyn.geometry.hierarchy import triangle
from nexdyn.geometry.mesh_distance import SMALL, into, inverse_of, placed, touching_normal
from nexdyn.geometry.mesh_point import Foot, below_chords, deepest_between, foot
from nexdyn.geometry.triangles import normal_of, of_triangles, pierces
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import T, Vec3, norm, plus_turned
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import PoseRows, Vec3Rows, row

MOST_KEPT = 8192
MOST_LOOKED, MOST_CORNERS = 2048, 1024
"""Triangles of a side that are kept, and corners of those that are looked at, in an overlap."""
SLOTS = 4096
"""Of hash tables, a power of two and twice as many as there are entries."""
MOST_TRACKED = 1024
"""Edges whose depths have bounds."""
LOW, COARSE = 0.5, 0.05
"""Of the deepest corner: the depth below which edges are not told apart, and by how much bounds may be too great."""
ROUNDING, SAME = 1e-12, 1e-2
"""In parts of lengths; and of SMALL, what rounding makes of depths that are the same."""
FINE = 1e5
"""Cells of hashed corners in a mesh's radius."""


@formula
def turned_by(R, Q):
    """|R − Q|₂ of two rotations."""
    square = (
        (R.xx - Q.xx) ** 2 + (R.xy - Q.xy) ** 2 + (R.xz - Q.xz) ** 2 + (R.yx - Q.yx) ** 2 + (R.yy - Q.yy) ** 2
        + (R.yz - Q.yz) ** 2 + (R.zx - Q.zx) ** 2 + (R.zy - Q.zy) ** 2 + (R.zz - Q.zz) ** 2
    )  # fmt: skip
    return sqrt(0.5 * square) * (1.0 + ROUNDING)


@formula
def moved_ball(c, radius, X, X0):
    """How far a point of B in a ball about c, in B's frame, is at most from where it was in pose X0, both in A."""
    p, q = plus_turned(X.p, X.R, c), plus_turned(X0.p, X0.R, c)
    return norm(p - q) + turned_by(X.R, X0.R) * radius + ROUNDING * (radius + norm(p))


@formula
def slot_of_triangle(kept, t):
    """Where triangle t is among `marks`, or is to be put (scattered by the golden ratio, Knuth 1998, 6.4)."""
    h = (t * 2654435769 >> 12) & (SLOTS - 1)
    while kept.marks[h, 0] >= 0 and kept.marks[h, 0] != t:
        h = (h + 1) & (SLOTS - 1)
    return h


@outlined
def list_once(kept):
    """Put the first pair of every kept triangle on the list `once`; whether there is room."""
    for side in range(2):
        count = 0
        kept.marks[:, 0] = -1
        for k in range(kept.state[0]):
            t = kept.pairs[k, side]
            h = slot_of_triangle(kept, t)
            if kept.marks[h, 0] < 0:
                if count == MOST_LOOKED:
                    return False
                kept.marks[h, 0], kept.once[count, side] = t, k
                count += 1
        kept.listed[side] = count
    return True


@formula
def noted(kept, count, i, j):
    """Put triangle i on the list where it is not yet, with j of the other mesh; how many there are."""
    h = slot_of_triangle(kept, i)
    if kept.marks[h, 0] == i:
        return count
    kept.marks[h, 0], kept.open[count, 0], kept.open[count, 1] = i, i, j
    return count + 1


@formula
def slot_of_corner(kept, x, fine):
    """Where corner x is among `marks`, or is to be put; fine: one over a length that is small among corners."""
    at = kept.corners
    h = math.floor(fine * (0.7549 * x.x + 0.5698 * x.y + 0.4302 * x.z)) & (SLOTS - 1)
    k = kept.marks[h, 1]
    while k >= 0 and not (at[k, 0] == x.x and at[k, 1] == x.y and at[k, 2] == x.z):
        h = (h + 1) & (SLOTS - 1)
        k = kept.marks[h, 1]
    return h


@formula
def known_foot(B, X, work, kept, count, x, guess, fine):
    """(its row, how many corners are known then) of corner x of A: the foot on B of x, looked up or found; −1 where there is no room."""
    h, at = slot_of_corner(kept, x, fine), kept.corners
    if kept.marks[h, 1] >= 0:
        return kept.marks[h, 1], count
    if count == MOST_CORNERS:
        return -1, count
    f = foot(B, work, into(X, x), guess)
    at[count, 3] = f.d
    Vec3Rows(at, 0)[count], Vec3Rows(at, 4)[count], Vec3Rows(at, 7)[count] = x, f.y, f.n
    kept.feet[count], kept.marks[h, 1] = f.t, count
    return count, count + 1


@formula
def is_inside(kept, x, fine):
    """Whether x is a corner that is known to be inside."""
    k = kept.marks[slot_of_corner(kept, x, fine), 1]
    return k >= 0 and kept.corners[k, 3] < 0.0


@formula
def foot_of(kept, k):
    """Row k as a foot."""
    return Foot(kept.corners[k, 3], Vec3Rows(kept.corners, 4)[k], Vec3Rows(kept.corners, 7)[k], kept.feet[k])


@outlined
def deepest_inside(A, B, X, work, kept, side, crossed, edge, i, k, m, best, small):
    """(Foot, left, low, high): the deepest point of the edge of triangle i between corners k and m, −1 where none exceeds `best`; and the
    part of the edge, from 0 to 1, that may be inside. The triangles of B at the ends of that are noted as those of tracked edge `edge`.

    Between an end that is outside and the first triangle that the edge pierces, of those in the first `crossed` rows that cross, it is
    outside."""
    x, y = Vec3Rows(kept.corners, 0)[k], Vec3Rows(kept.corners, 0)[m]
    a, b = foot_of(kept, k), foot_of(kept, m)
    low, high = 0.0 if a.d < 0.0 else 2.0, 1.0 if b.d < 0.0 else -1.0
    for c in range(crossed):
        n = kept.crossing[c]
        if kept.pairs[n, side] == i:
            t = placed(X, triangle(B.corners, kept.pairs[n, 1 - side]))
            hit, s = pierces(x, y, t, normal_of(t.q - t.p, t.r - t.p))
            if hit and s < low:
                low, a = s, Foot(0.0, into(X, x + s * (y - x)), a.n, kept.pairs[n, 1 - side])
            if hit and s > high:
                high, b = s, Foot(0.0, into(X, x + s * (y - x)), b.n, kept.pairs[n, 1 - side])
    e = y - x
    kept.sides[edge, 1], kept.sides[edge, 2] = a.t, b.t
    if not low < high or 0.5 * ((high - low) * norm(e) - a.d - b.d) <= best + small:
        return Foot(0.0, a.y, a.n, -1), 0.0, low, high
    f, _, left = deepest_between(B, work, into(X, x + low * e), (high - low) * (T(X.R) @ e), a, b, best, small)
    return f, left, low, high


@outlined
def track(A, B, X, work, kept, side, delta, free, edges, best, small):
    """(whether nothing is missed, how many edges are tracked then, the depth of the deepest corner): put the edges of A that may be
    partly inside B behind `edges` others, with upper bounds of their depths.

    side: the column of A in the pairs; X the pose of B in A; delta: how far kept triangles have moved; free: no others are nearer;
    best: a depth that is known already."""
    count, corners, looked, crossed, fine = 0, 0, 0, 0, FINE / A.radius[0]
    way, wide = kept.known[6], max(kept.known[7], small)
    kept.marks[:] = -1
    for k in range(kept.state[0]):  # those that cross
        if kept.least[k] > delta:
            break
        if kept.ahead[k] > way + small:
            continue
        i, j = kept.pairs[k, side], kept.pairs[k, 1 - side]
        near = of_triangles(triangle(A.corners, i), placed(X, triangle(B.corners, j)), wide * wide)
        kept.ahead[k] = sqrt(near.square) + way
        if near.square == 0.0:
            count = noted(kept, count, i, j)
            kept.crossing[crossed] = k
            crossed += 1
    known = 0
    while looked < count:
        i, j = kept.open[looked, 0], kept.open[looked, 1]
        t = triangle(A.corners, i)
        p, corners = known_foot(B, X, work, kept, corners, t.p, j, fine)
        q, corners = known_foot(B, X, work, kept, corners, t.q, j, fine)
        r, corners = known_foot(B, X, work, kept, corners, t.r, j, fine)
        if p < 0 or q < 0 or r < 0:
            return False, edges, best
        kept.ends[looked, 0], kept.ends[looked, 1], kept.ends[looked, 2] = p, q, r
        looked += 1
        if looked == count and known < corners:  # all that has a corner inside is looked at, too
            for k in range(known, corners):
                best = max(best, -kept.corners[k, 3])
            known = corners
            if best >= free:
                return False, edges, best
            for k in range(kept.listed[side]):
                n = kept.once[k, side]
                t = triangle(A.corners, kept.pairs[n, side])
                if is_inside(kept, t.p, fine) or is_inside(kept, t.q, fine) or is_inside(kept, t.r, fine):
                    count = noted(kept, count, kept.pairs[n, side], kept.pairs[n, 1 - side])
    base, coarse = LOW * best, COARSE * best + small
    for looked in range(count):
        for edge in range(3):
            k, m = kept.ends[looked, edge], kept.ends[looked, edge + 1 if edge < 2 else 0]
            if k > m:  # of the two triangles of an edge that is partly inside both are looked at
                continue
            if edges == MOST_TRACKED:
                return False, edges, best
            f, left, low, high = deepest_inside(
                A, B, X, work, kept, side, crossed, edges, kept.open[looked, 0], k, m, base, coarse
            )
            x = Vec3Rows(kept.corners, 0)
            Vec3Rows(kept.tracked, 0)[edges], Vec3Rows(kept.tracked, 3)[edges] = x[k], x[m]
            kept.bound[edges] = (base if f.t < 0 else -f.d) + coarse + left
            kept.tracked[edges, 6], kept.tracked[edges, 7] = low, high
            kept.rank[edges], kept.sides[edges, 0] = edges, side
            edges += 1
    return True, edges, best


@formula
def in_order_of_bounds(kept, edges):
    """The tracked edges from the greatest bound on (Shell 1959, gaps of Ciura)."""
    for gap in (301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, edges):
            f, r, j = kept.bound[i], kept.rank[i], i
            while j >= gap and kept.bound[j - gap] < f:
                kept.bound[j], kept.rank[j] = kept.bound[j - gap], kept.rank[j - gap]
                j -= gap
            kept.bound[j], kept.rank[j] = f, r


@formula
def widened(low, high, x):
    """The box with x in it."""
    return (
        Vec3(min(low.x, x.x), min(low.y, x.y), min(low.z, x.z)), Vec3(max(high.x, x.x), max(high.y, x.y), max(high.z, x.z))
    )  # fmt: skip


@outlined
def enclose(A, B, X, kept):
    """Write the pose, and the ball around all kept triangles: its centre in B, and its radius."""
    low, high = Vec3(1e300, 1e300, 1e300), Vec3(-1e300, -1e300, -1e300)
    for side in range(2):
        for k in range(kept.listed[side]):
            i = kept.pairs[kept.once[k, side], side]
            t = triangle(A.corners, i) if side == 0 else placed(X, triangle(B.corners, i))
            for x in (t.p, t.q, t.r):
                low, high = widened(low, high, x)
    PoseRows(kept.pose, 0)[1] = X
    Vec3Rows(kept.ball, 0)[0] = into(X, 0.5 * (low + high))
    kept.ball[0, 3] = 0.5 * norm(high - low)


@formula
def shift(side, x, X, Y):
    """How far x of A (side 0) is in B's frame from where it was in pose Y, or x of B in A's; along an edge it is at most that of an end."""
    return norm(into(X, x) - into(Y, x) if side == 0 else plus_turned(X.p, X.R, x) - plus_turned(Y.p, Y.R, x))


@outlined
def deepest_edge(mesh, work, x, e, low, high, s, t, best, small):
    """As `deepest_of_segment`, with triangles s and t that are near where it came in and went out; it is cut there first."""
    a, c = foot(mesh, work, x, s), foot(mesh, work, x + e, t)
    if not (low < high and (low > 0.0 or high < 1.0)):
        return deepest_between(mesh, work, x, e, a, c, best, small)
    found, at, left, s0 = Foot(0.0, a.y, a.n, -1), 0.0, 0.0, 0.0
    for cut in (low, high, 1.0):
        if s0 < cut:
            b = c if cut == 1.0 else foot(mesh, work, x + cut * e, s if cut == low else t)
            f, s1, missed = deepest_between(mesh, work, x + s0 * e, (cut - s0) * e, a, b, best, small)
            left = max(left, missed)
            if f.t >= 0:
                found, at, best = f, s0 + s1 * (cut - s0), -f.d
            a, s0 = b, cut
    return found, at, left


@outlined
def deepest_part(mesh, work, kept, r, x, e, way, best, small):
    """(Foot, s, left, whether feet were sought): the deepest point of tracked edge r, which is x + s e in the frame of the other mesh, and
    has moved by at most `way`.

    What was outside is no deeper than `way`. What was inside is no deeper than it is far from the triangles that were near its ends: where
    that is no more than `best`, nothing is sought."""
    low, high, s, t = kept.tracked[r, 6], kept.tracked[r, 7], kept.sides[r, 1], kept.sides[r, 2]
    if not (low < high and way <= best):
        f, z, left = deepest_edge(mesh, work, x, e, low, high, s, t, best, small)
        return f, z, left, True
    y, d = x + low * e, (high - low) * e
    bound, _ = below_chords(mesh, y, d, 0.0, 1.0, s, t)
    if bound <= best + SAME * small:
        return Foot(0.0, y, d, -1), 0.0, 0.0, False
    f, z, left = deepest_between(mesh, work, y, d, foot(mesh, work, y, s), foot(mesh, work, y + d, t), best, small)
    return f, low + z * (high - low), left, True


@outlined
def deepest_tracked(A, B, X, work, kept, delta, small):
    """(how many edges were sought on, contact): the deepest point of the tracked edges, d = 0 where none is inside.

    The edge that was the deepest goes first."""
    p, q, Y = Vec3Rows(kept.tracked, 0), Vec3Rows(kept.tracked, 3), row(PoseRows(kept.pose, 0), 1)
    zero = Vec3(0.0, 0.0, 0.0)
    best, missed, tried, first = Contact(0.0, zero, zero, zero, 0.0), 0.0, 0, kept.state[4]
    for k in range(-1 if first >= 0 else 0, kept.state[2]):
        if k >= 0 and kept.bound[k] + delta <= -best.d:
            break
        r = kept.rank[k] if k >= 0 else first
        x, e, side = p[r], q[r] - p[r], kept.sides[r, 0]
        way = max(shift(side, x, X, Y), shift(side, x + e, X, Y))
        if k >= 0 and (kept.bound[k] + way <= -best.d or r == first):
            continue
        if side == 0:
            y, d = into(X, x), T(X.R) @ e
            f, s, left, sought = deepest_part(B, work, kept, r, y, d, way, -best.d, small)
            if f.t >= 0:
                best = Contact(f.d, -(X.R @ f.n), x + s * e, plus_turned(X.p, X.R, f.y), 0.0)
        else:
            y, d = plus_turned(X.p, X.R, x), X.R @ e
            f, s, left, sought = deepest_part(A, work, kept, r, y, d, way, -best.d, small)
            if f.t >= 0:
                best = Contact(f.d, f.n, f.y, y + s * d, 0.0)
        if f.t >= 0:
            kept.state[4] = r
        tried += 1 if sought else 0
        missed = max(missed, left)
    return tried, Contact(best.d, best.n, best.a, best.b, missed)


@outlined
def overlap_near(A, B, X, work, kept, delta, free, s, t, touch):
    """(whether nothing is missed, contact): as `mesh_distance.overlap_of`, from the kept pairs.

    What of A is inside B hangs together with triangles that cross, where A is one part; and all that has a corner less than `free`
    deep is among the pairs."""
    zero = Vec3(0.0, 0.0, 0.0)
    nothing = Contact(0.0, zero, zero, zero, 0.0)
    small = SMALL * (A.radius[0] + B.radius[0])
    if len(A.parts) > 1 or len(B.parts) > 1 or A.radius[1] == 0.0 or B.radius[1] == 0.0:
        return False, nothing
    kept.state[2], kept.state[4] = 0, -1
    if kept.listed[0] == 0 and not list_once(kept):
        return False, nothing
    whole, edges, best = track(A, B, X, work, kept, 0, delta, free, 0, 0.0, small)
    if not whole:
        return False, nothing
    whole, edges, best = track(B, A, inverse_of(X), work, kept, 1, delta, free, edges, best, small)
    if not whole:
        return False, nothing
    in_order_of_bounds(kept, edges)
    enclose(A, B, X, kept)
    kept.state[2] = edges
    kept.state[5] = 0
    kept.state[3], c = deepest_tracked(A, B, X, work, kept, 0.0, small)
    if c.d < 0.0:
        return True, c
    return True, Contact(0.0, touching_normal(A, B, X, work, s, t, touch), touch, touch, c.error)


@outlined
def depth_near(A, B, X, work, kept):
    """(whether it is the depth of the meshes, contact), from the tracked edges."""
    delta = moved_ball(row(Vec3Rows(kept.ball, 0), 0), kept.ball[0, 3], X, row(PoseRows(kept.pose, 0), 1))
    tried, c = deepest_tracked(A, B, X, work, kept, delta, SMALL * (A.radius[0] + B.radius[0]))
    kept.state[5] += max(tried - kept.state[3], 0)
    if kept.state[5] > kept.state[2]:  # more than bounds cost: the next time they are found anew
        kept.state[2] = 0
    return c.d < 0.0 and -c.d >= delta, c
