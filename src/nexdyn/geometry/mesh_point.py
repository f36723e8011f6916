"""The signed distance of a point from a mesh, and the deepest point of a segment in one.

    φ(x) = ± least distance to a triangle, with the sign of n·(x − y), n the pseudonormal of the nearest feature at y

The depth g(s) = −φ along a segment of length L is, with |φ| ≤ the distance δ_T to any triangle T, which is convex along it,

    g(s) ≤ chords of δ_T for the nearest triangles T of both ends of an interval,     g(s) ≤ g(s_i) + L |s − s_i|

The chords go from end to end by way of where the segment leaves the prism over T: up to there δ_T is the height over its plane, a straight
line. The least of these lines bounds an interval from above, and cuts it where they cross: on flat pieces that is the maximum itself.
"""

from __future__ import annotations

from typing import NamedTuple

from nexdyn.geometry.hierarchy import gap, triangle
from nexdyn.geometry.triangles import FAR, normal_of, to_point
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Vec3, cross, norm
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import Vec3Rows

MOST_INTERVALS = 128
MOST_CUTS = 400
BESIDE = 1e-10
"""Part of a segment's length by which it may pass beside a triangle and still count as over it."""


class Foot(NamedTuple):
    """Signed distance of a point, the nearest point y of the surface, the outward unit normal there, the triangle."""

    d: float
    y: Vec3
    n: Vec3
    t: int


@formula
def pseudonormal(normals, t, u, v, w):
    """Of the feature of triangle t on which weights u, v, w of its corners lie."""
    if u > 0.0 and v > 0.0 and w > 0.0:
        column = 0
    elif u > 0.0 and v > 0.0:
        column = 3
    elif v > 0.0 and w > 0.0:
        column = 6
    elif w > 0.0 and u > 0.0:
        column = 9
    else:
        column = 12 if u > 0.0 else 15 if v > 0.0 else 18
    return Vec3Rows(normals, column)[t]


@outlined
def foot(mesh, work, x, guess):
    """The foot of x on the surface; triangle `guess` is tried first, −1 is none."""
    centre, half = Vec3Rows(mesh.nodes, 0), Vec3Rows(mesh.nodes, 3)
    best, t, u, v, w = FAR, -1, 1.0, 0.0, 0.0
    if guess >= 0:
        t = guess
        best, u, v, w = to_point(triangle(mesh.corners, guess), x)
    work.open[0, 0] = 0
    work.bound[0] = 0.0
    count = 1
    while count > 0:
        count -= 1
        if work.bound[count] >= best:
            continue
        k = work.open[count, 0]
        i = mesh.child[k]
        if i < 0:
            square, f, g, h = to_point(triangle(mesh.corners, -1 - i), x)
            if square < best:
                best, t, u, v, w = square, -1 - i, f, g, h
            continue
        f, g = gap(x - centre[i], half[i]), gap(x - centre[i + 1], half[i + 1])
        near, far = i, i + 1
        if g < f:
            near, far, f, g = i + 1, i, g, f
        if g < best:
            work.open[count, 0], work.bound[count] = far, g
            count += 1
        if f < best:
            work.open[count, 0], work.bound[count] = near, f
            count += 1
    tri = triangle(mesh.corners, t)
    y = u * tri.p + v * tri.q + w * tri.r
    n = pseudonormal(mesh.normals, t, u, v, w)
    r = x - y
    d = sqrt(best)
    inside = n @ r < 0.0
    if not (u > 0.0 and v > 0.0 and w > 0.0) and d > 1e-12 * mesh.radius[0]:
        n = (-1.0 / d if inside else 1.0 / d) * r  # of a face its own normal is the more exact
    return Foot(-d if inside else d, y, n, t)


@formula
def to_triangle(mesh, t, x):
    """The distance of x from triangle t."""
    square, _, _, _ = to_point(triangle(mesh.corners, t), x)
    return sqrt(square)


@formula
def over_triangle(mesh, t, x, e, s0, s1, last):
    """(s, distance from triangle t): the last or first point of x + s e, from s0 to s1, that lies over the triangle, to rounding; s1 or
    s0 where none does. Whatever s, the distance is that of its point."""
    tri = triangle(mesh.corners, t)
    N = normal_of(tri.q - tri.p, tri.r - tri.p)
    low, high = s0, s1
    for p, q in ((tri.p, tri.q), (tri.q, tri.r), (tri.r, tri.p)):
        inward = cross(N, q - p)
        h, rise = inward @ (x - p) + BESIDE * norm(inward) * norm(e), inward @ e
        if rise > 0.0:
            low = max(low, -h / rise)
        elif rise < 0.0:
            high = min(high, -h / rise)
        elif h < 0.0:
            high = s0 - 1.0
    if not (low <= high and N @ N > 0.0):
        low, high = s0, s1
    s = high if last else low
    return s, to_triangle(mesh, t, x + s * e)


@formula
def on_chords(s, s0, f0, sm, fm, s1, f1):
    """The height at s of the line from s0, f0 by way of sm, fm to s1, f1."""
    if s < sm:
        return f0 + (fm - f0) * ((s - s0) / (sm - s0))
    return fm + (f1 - fm) * ((s - sm) / (s1 - sm)) if s > sm else fm


@formula
def summit(top, s0, p0, q0, s1, p1, q1):
    """(height, s): `top`, or the greatest height below two lines from s0 to s1, from p0 to p1 and from q0 to q1, where that is higher."""
    best, at = top
    if min(p0, q0) > best:
        best, at = min(p0, q0), s0
    if min(p1, q1) > best:
        best, at = min(p1, q1), s1
    f, g = p0 - q0, p1 - q1
    if f * g < 0.0:
        z = f / (f - g)
        h = p0 + z * (p1 - p0)
        if h > best:
            best, at = h, s0 + z * (s1 - s0)
    return best, at


@outlined
def below_chords(mesh, x, e, s0, s1, t0, t1):
    """(bound, s): no point of x + s e, from s0 to s1, is farther from the nearer of triangles t0 and t1; where it is highest."""
    f0, f1 = to_triangle(mesh, t0, x + s0 * e), to_triangle(mesh, t1, x + s1 * e)
    d0, d1 = to_triangle(mesh, t0, x + s1 * e), to_triangle(mesh, t1, x + s0 * e)
    a, fa = over_triangle(mesh, t0, x, e, s0, s1, True)
    b, fb = over_triangle(mesh, t1, x, e, s0, s1, False)
    low, high = min(a, b), max(a, b)
    p0, p1 = on_chords(low, s0, f0, a, fa, s1, d0), on_chords(high, s0, f0, a, fa, s1, d0)
    q0, q1 = on_chords(low, s0, d1, b, fb, s1, f1), on_chords(high, s0, d1, b, fb, s1, f1)
    top = summit((-1.0, s0), s0, f0, d1, low, p0, q0)
    top = summit(top, low, p0, q0, high, p1, q1)
    return summit(top, high, p1, q1, s1, d0, f1)


@formula
def put_interval(mesh, work, count, x, e, L, s0, s1, g0, g1, t0, t1, level, best):
    """Put the interval s0, s1 with depths g0, g1 over triangles t0, t1 where more than `best` may be in it; how many there are.

    Its row is s0, s1, g0, g1, where to cut, upper bound."""
    width = L * (s1 - s0)
    bound, s = below_chords(mesh, x, e, s0, s1, t0, t1)
    steep = 0.5 * (g0 + g1 + width)
    if steep < bound:
        bound = steep
        s = s0 + (s1 - s0) * (0.5 * (g1 - g0 + width) / width if width > 0.0 else 0.5)
    if not bound > best or count >= MOST_INTERVALS:
        return count, bound
    if level % 2 == 1:  # lines that cross near one end again and again would halve nothing
        s = 0.5 * (s0 + s1)
    cuts = work.cuts
    cuts[count, 0], cuts[count, 1], cuts[count, 2], cuts[count, 3] = s0, s1, g0, g1
    cuts[count, 4], cuts[count, 5] = s, bound
    work.over[count, 0], work.over[count, 1], work.over[count, 2] = t0, t1, level
    return count + 1, 0.0


@outlined
def deepest_of_segment(mesh, work, x, e, best, small, guess):
    """(Foot, s, left): the deepest point x + s e of a segment, where deeper than `best` by more than `small`; else t is −1.

    left: by how much a deeper one than the found may have been missed."""
    a = foot(mesh, work, x, guess)
    return deepest_between(mesh, work, x, e, a, foot(mesh, work, x + e, a.t), best, small)


@outlined
def deepest_between(mesh, work, x, e, a, b, best, small):
    """As deepest_of_segment, with the feet a and b of both ends."""
    L = norm(e)
    found, at, left = Foot(0.0, a.y, a.n, -1), 0.0, 0.0
    if -a.d > best:
        found, at, best = a, 0.0, -a.d
    if -b.d > best:
        found, at, best = b, 1.0, -b.d
    count, missed = put_interval(mesh, work, 0, x, e, L, 0.0, 1.0, -a.d, -b.d, a.t, b.t, 0, best + small)
    for _ in range(MOST_CUTS):
        if count == 0:
            return found, at, left
        count -= 1
        cuts = work.cuts
        s0, s1, g0, g1, s, bound = (
            cuts[count, 0], cuts[count, 1], cuts[count, 2], cuts[count, 3], cuts[count, 4], cuts[count, 5]
        )  # fmt: skip
        t0, t1, level = work.over[count, 0], work.over[count, 1], work.over[count, 2]
        if bound <= best + small:
            continue
        if not (s0 < s and s < s1):
            s = 0.5 * (s0 + s1)
        if not (s0 < s and s < s1):
            left = max(left, bound - best)
            continue
        c = foot(mesh, work, x + s * e, t0)
        if -c.d > best:
            found, at, best = c, s, -c.d
        # the better half is taken up first
        if g0 < g1:
            count, missed = put_interval(mesh, work, count, x, e, L, s0, s, g0, -c.d, t0, c.t, level + 1, best + small)
            left = max(left, missed - best - small)
            count, missed = put_interval(mesh, work, count, x, e, L, s, s1, -c.d, g1, c.t, t1, level + 1, best + small)
        else:
            count, missed = put_interval(mesh, work, count, x, e, L, s, s1, -c.d, g1, c.t, t1, level + 1, best + small)
            left = max(left, missed - best - small)
            count, missed = put_interval(mesh, work, count, x, e, L, s0, s, g0, -c.d, t0, c.t, level + 1, best + small)
        left = max(left, missed - best - small)
    for k in range(count):
        left = max(left, work.cuts[k, 5] - best)
    return found, at, left
