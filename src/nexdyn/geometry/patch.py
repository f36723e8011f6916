"""The contact patch of two shapes: where their surfaces run parallel, as a polygon, with its area and centre.

A shape's feature along n is made of its points within an angle `tolerance` of the farthest: those with

    n·x ≥ h(n) − tolerance × bounding radius of the core

A face, an edge, a vertex; the end of a cylinder or cone is a polygon of CIRCLE points on its rim (its area 0.16 % small),
the line of contact of a side is a segment. The patch is the intersection of the features of A along n and of B along −n,
both projected along n onto the plane halfway between: a polygon (3 and more points, counter-clockwise seen against n, with
its area and centroid), a segment (2 points and its middle), or a point. Polygons are clipped edge by edge (Sutherland and
Hodgman 1974); hulls in the plane are monotone chains (Andrew 1979).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from nexdyn.geometry.kinds import support
from nexdyn.geometry.solid import BOX, CONE, CYLINDER, HALF_SPACE, HULL, SEGMENT, solid_of
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.spatial.algebra import T, Vec3, basis, plus_turned
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import PoseRows, Vec3Rows

CIRCLE = 64
SKEW = 0.6180339887
"""Points are sorted along (1, SKEW): edges across it, along which rounding would order them, are rare."""
MOST_OF_FEATURE = 128
MOST_OF_PATCH = 2 * MOST_OF_FEATURE
PATCHED, TOO_MANY = 0, 1
"""Status of a patch; TOO_MANY: a face has more than MOST_OF_FEATURE vertices."""

COS = np.array([math.cos(2 * math.pi * k / CIRCLE) for k in range(CIRCLE)])
SIN = np.array([math.sin(2 * math.pi * k / CIRCLE) for k in range(CIRCLE)])


class PatchWork(NamedTuple):
    """Scratch: two features and two stages of clipping, each (MOST_OF_PATCH + 2, 2), and a feature in space."""

    space: np.ndarray
    first: np.ndarray
    second: np.ndarray
    clipped: np.ndarray
    spare: np.ndarray


def patch_work() -> PatchWork:
    """Scratch for one thread."""
    flat = [np.zeros((MOST_OF_PATCH + 2, 2)) for _ in range(4)]
    return PatchWork(np.zeros((MOST_OF_FEATURE, 3)), *flat)


@formula
def keep(points, count, x, n, least):
    """Append x where it reaches the plane n·x = least; the count goes on beyond the room, so that it is noticed."""
    if n @ x < least:
        return count
    if count < MOST_OF_FEATURE:
        P = Vec3Rows(points, 0)
        P[count] = x
    return count + 1


@outlined
def feature(s, tables, n, tolerance, points):
    """Write the points of the core's feature along n, in its own frame; how many."""
    P = Vec3Rows(points, 0)
    top = support(s, tables, n)
    least = n @ top - tolerance * (s.radius - s.margin)
    h, count = s.size, 0
    if s.kind == SEGMENT:
        count = keep(points, count, Vec3(0.0, 0.0, -h.z), n, least)
        return keep(points, count, Vec3(0.0, 0.0, h.z), n, least)
    if s.kind == BOX:
        for k in range(8):
            x = Vec3(h.x if k & 1 else -h.x, h.y if k & 2 else -h.y, h.z if k & 4 else -h.z)
            count = keep(points, count, x, n, least)
        return count
    if s.kind == HULL:
        x = Vec3Rows(tables.vertices, 0)
        for k in range(s.first, s.last):
            count = keep(points, count, x[k], n, least)
        return count
    if s.kind == CYLINDER or s.kind == CONE:
        across = sqrt(n.x * n.x + n.y * n.y)
        if across <= tolerance and (s.kind == CYLINDER or n.z < 0.0):  # the end
            z = h.z if n.z > 0.0 else -h.z
            for k in range(CIRCLE):
                P[k] = Vec3(h.x * COS[k], h.x * SIN[k], z)
            return CIRCLE
        f = h.x / across if across > 0.0 else 0.0
        upper = Vec3(f * n.x, f * n.y, h.z) if s.kind == CYLINDER else Vec3(0.0, 0.0, h.z)
        count = keep(points, count, Vec3(f * n.x, f * n.y, -h.z), n, least)
        return keep(points, count, upper, n, least)
    P[0] = top
    return 1


@formula
def turn(p, i, j, x, y):
    """Twice the area of the triangle of rows i, j of p and (x, y); positive counter-clockwise."""
    return (p[j, 0] - p[i, 0]) * (y - p[i, 1]) - (p[j, 1] - p[i, 1]) * (x - p[i, 0])


@formula
def bulges(p, i, j, x, y, small):
    """Whether row j of p is to the right of the line from row i to (x, y), by more than `small`."""
    return turn(p, i, j, x, y) > small * (abs(x - p[i, 0]) + abs(y - p[i, 1]))


@outlined
def convex(p, count, out, small):
    """The hull of `count` points p (·, 2), sorted in place, counter-clockwise into `out`; how many (1, 2 or more)."""
    for i in range(1, count):
        x, y, j = p[i, 0], p[i, 1], i
        while j > 0 and p[j - 1, 0] + SKEW * p[j - 1, 1] > x + SKEW * y:
            p[j, 0], p[j, 1] = p[j - 1, 0], p[j - 1, 1]
            j -= 1
        p[j, 0], p[j, 1] = x, y
    m = 0
    for i in range(count):  # the lower chain
        while m >= 2 and not bulges(out, m - 2, m - 1, p[i, 0], p[i, 1], small):
            m -= 1
        if m == 0 or abs(p[i, 0] - out[m - 1, 0]) + abs(p[i, 1] - out[m - 1, 1]) > small:
            out[m, 0], out[m, 1] = p[i, 0], p[i, 1]
            m += 1
    lower = m
    for i in range(count - 2, -1, -1):  # the upper one
        while m > lower and not bulges(out, m - 2, m - 1, p[i, 0], p[i, 1], small):
            m -= 1
        if abs(p[i, 0] - out[m - 1, 0]) + abs(p[i, 1] - out[m - 1, 1]) > small:
            out[m, 0], out[m, 1] = p[i, 0], p[i, 1]
            m += 1
    if m > 2 and abs(out[m - 1, 0] - out[0, 0]) + abs(out[m - 1, 1] - out[0, 1]) <= small:
        m -= 1
    return m


@formula
def clip(p, count, x, y, u, v, out):
    """The part of polygon, segment or point p on the left of the line through (x, y) along (u, v), into `out`."""
    m = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        f = u * (p[i, 1] - y) - v * (p[i, 0] - x)
        g = u * (p[j, 1] - y) - v * (p[j, 0] - x)
        if f >= 0.0:
            out[m, 0], out[m, 1] = p[i, 0], p[i, 1]
            m += 1
        if (f > 0.0 and g < 0.0) or (f < 0.0 and g > 0.0):
            if count == 2 and i == 1:  # a segment has one side
                break
            s = f / (f - g)
            out[m, 0], out[m, 1] = p[i, 0] + s * (p[j, 0] - p[i, 0]), p[i, 1] + s * (p[j, 1] - p[i, 1])
            m += 1
    return m


@formula
def copied(p, count, out):
    """p into `out`."""
    for i in range(count):
        out[i, 0], out[i, 1] = p[i, 0], p[i, 1]
    return count


@outlined
def intersection(w, m, k, tolerance):
    """The common part of w.first (m points) and w.second (k points), into w.clipped; how many, 0 where there is none.

    Neither is a half-space; a polygon clips what has fewer points, segments clip each other where they are parallel."""
    p, q = w.first, w.second
    if m > 2 and k < 3:
        p, q, m, k = q, p, k, m
    count = copied(p, m, w.clipped)
    if m == 1 or k == 1:
        if k == 1:
            count = copied(q, 1, w.clipped)
        return count
    if k == 2:
        u, v = q[1, 0] - q[0, 0], q[1, 1] - q[0, 1]
        x, y = p[1, 0] - p[0, 0], p[1, 1] - p[0, 1]
        crossed = u * y - v * x
        if abs(crossed) > tolerance * sqrt((u * u + v * v) * (x * x + y * y)):  # one point
            s = (u * (q[0, 1] - p[0, 1]) - v * (q[0, 0] - p[0, 0])) / crossed
            w.clipped[0, 0], w.clipped[0, 1] = p[0, 0] + s * x, p[0, 1] + s * y
            return 1
        count = clip(w.clipped, count, q[0, 0], q[0, 1], v, -u, w.spare)
        return clip(w.spare, count, q[1, 0], q[1, 1], -v, u, w.clipped)
    for i in range(k):
        j = i + 1 if i + 1 < k else 0
        count = clip(w.clipped, count, q[i, 0], q[i, 1], q[j, 0] - q[i, 0], q[j, 1] - q[i, 1], w.spare)
        count = copied(w.spare, count, w.clipped)
    return count


@formula
def projected(s, X, tables, n, tolerance, points, o, e1, e2, out):
    """The feature of s in pose X along n, in the plane through o of e1, e2, into `out`; how many points."""
    P = Vec3Rows(points, 0)
    count = feature(s, tables, T(X.R) @ n, tolerance, points)
    for k in range(min(count, MOST_OF_FEATURE)):
        r = plus_turned(X.p, X.R, P[k]) - o
        out[k, 0], out[k, 1] = e1 @ r, e2 @ r
    return count


@formula
def area_and_centre(p, count):
    """(area, x, y): of a polygon its centroid, of a segment its middle."""
    x, y, area = 0.0, 0.0, 0.0
    for i in range(count):
        x += p[i, 0] / count
        y += p[i, 1] / count
    cx, cy = 0.0, 0.0
    for i in range(1, count - 1):
        t = 0.5 * turn(p, 0, i, p[i + 1, 0], p[i + 1, 1])
        area += t
        cx += t * (p[0, 0] + p[i, 0] + p[i + 1, 0]) / 3.0
        cy += t * (p[0, 1] + p[i, 1] + p[i + 1, 1]) / 3.0
    if area > 0.0:
        return area, cx / area, cy / area
    return 0.0, x, y


@kernel
def patches(tables, pairs, poses_a, poses_b, answers, tolerance, work, polygons, counts, areas, centres, status):
    """The patches of pairs (n, 2) whose distances are `answers` (narrow.distances), within an angle `tolerance` [rad].

    polygons (n, MOST_OF_PATCH, 3) of which counts (n,) points are written, areas (n,) [m²], centres (n, 3), in the world,
    halfway between the surfaces; status (n,)."""
    XA, XB = PoseRows(poses_a, 0), PoseRows(poses_b, 0)
    N, P, Q, centre = Vec3Rows(answers, 1), Vec3Rows(answers, 4), Vec3Rows(answers, 7), Vec3Rows(centres, 0)
    for pair in range(len(pairs)):
        A, B = solid_of(tables.shapes, pairs[pair, 0]), solid_of(tables.shapes, pairs[pair, 1])
        n, o = N[pair], 0.5 * (P[pair] + Q[pair])
        e1, e2 = basis(n)
        small = 1e-12 * (min(A.radius, 1e300) + min(B.radius, 1e300))
        if A.kind == HALF_SPACE or B.kind == HALF_SPACE:
            small = 1e-12 * min(A.radius, B.radius, 1e300)
        m = k = 0
        if A.kind != HALF_SPACE:
            m = projected(A, XA[pair], tables, n, tolerance, work.space, o, e1, e2, work.spare)
            status[pair] = TOO_MANY if m > MOST_OF_FEATURE else PATCHED
            m = convex(work.spare, min(m, MOST_OF_FEATURE), work.first, small)
        if B.kind != HALF_SPACE:
            k = projected(B, XB[pair], tables, -n, tolerance, work.space, o, e1, e2, work.spare)
            status[pair] = TOO_MANY if k > MOST_OF_FEATURE else PATCHED if m == 0 else status[pair]
            k = convex(work.spare, min(k, MOST_OF_FEATURE), work.second, small)
        if m == 0:
            count = copied(work.second, k, work.spare)
        elif k == 0:
            count = copied(work.first, m, work.spare)
        else:
            count = intersection(work, m, k, tolerance)
            count = copied(work.clipped, count, work.spare)
        count = convex(work.spare, count, work.clipped, small) if count > 0 else 0
        if count == 0:  # features that meet in a point of rounding
            work.clipped[0, 0], work.clipped[0, 1] = 0.0, 0.0
            count = 1
        areas[pair], x, y = area_and_centre(work.clipped, count)
        counts[pair] = count
        centre[pair] = o + x * e1 + y * e2
        polygon = Vec3Rows(polygons[pair], 0)
        for i in range(count):
            polygon[i] = o + work.clipped[i, 0] * e1 + work.clipped[i, 1] * e2
