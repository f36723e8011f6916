"""The smooth features of surfaces: what a witness point may move on, with its tangents and curvatures.

A feature is a vertex, an edge or a face (FLAT, with tangents of its own), the rim of a cylinder or cone (RIM), a cylinder's
side (SIDE), a cone's (SLANT), an ellipsoid (EGG). At a point x it has up to two unit tangents t1, t2 (zero where there is
none) and, for a normal n, the curvatures k_i = n·x_ii along them; x_12·n = 0 for all of them at a contact.
"""

from __future__ import annotations

from typing import NamedTuple

from nexdyn.geometry import ellipsoid
from nexdyn.geometry.solid import CONE, CYLINDER, ELLIPSOID
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import T, Vec3, basis, norm, plus_turned
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import Vec3Rows

NONE, FLAT, RIM, SIDE, SLANT, EGG = -1, 0, 1, 2, 3, 4
CANDIDATES = 3
NEARLY = 0.05
"""Sine of the angle to a face or side within which a contact with it is tried."""


WITHIN = 1.0 - 1e-9
"""Of half the length: between the ends."""


class Feature(NamedTuple):
    code: int
    x: Vec3
    t1: Vec3
    t2: Vec3


class Frame(NamedTuple):
    t1: Vec3
    t2: Vec3
    k1: float
    k2: float


@formula
def spanned(points, column, i, j, k, x, thin):
    """The flat feature through x that rows i, j, k of `points` span; −1 is no row."""
    P = Vec3Rows(points, column)
    none = Vec3(0.0, 0.0, 0.0)
    t1, t2 = none, none
    e, f = none, none
    if j >= 0:
        e = P[j] - P[i]
    if k >= 0:
        f = P[k] - P[i]
    if norm(f) > norm(e):
        e, f = f, e
    if norm(e) > thin:
        t1 = (1.0 / norm(e)) * e
        f = f - (f @ t1) * t1
        if norm(f) > thin:
            t2 = (1.0 / norm(f)) * f
    return Feature(FLAT, x, t1, t2)


@formula
def flat(x, t1, t2):
    """A flat feature."""
    return Feature(FLAT, x, t1, t2)


@formula
def round_feature(s, P, x, n, which):
    """Candidate `which` of the features of a round shape near x with outward normal n; x, n in the frame of P.

    Its point is the one whose normal is n, as far as the feature has one."""
    none = Vec3(0.0, 0.0, 0.0)
    y, m = T(P.R) @ (x - P.p), T(P.R) @ n
    across = sqrt(m.x * m.x + m.y * m.y)
    ex, ey = P.R @ Vec3(1.0, 0.0, 0.0), P.R @ Vec3(0.0, 1.0, 0.0)
    ez = P.R @ Vec3(0.0, 0.0, 1.0)
    h = s.size.z
    if s.kind == ELLIPSOID:
        return Feature(EGG if which == 0 else NONE, plus_turned(P.p, P.R, ellipsoid.farthest(s, m)), none, none)
    if which == 0:  # the flat ends
        on_end = across < NEARLY and (s.kind == CYLINDER or m.z < 0.0)
        end = h if m.z > 0.0 else -h
        return Feature(FLAT if on_end else NONE, x + (end - y.z) * ez, ex, ey)
    u = s.size.x / across if across > 1e-9 else 0.0
    beside = plus_turned(P.p, P.R, Vec3(u * m.x, u * m.y, y.z)) if u > 0.0 else x
    if (which == 1) == (abs(y.z) < WITHIN * h):  # the side, first where x is between the ends
        if s.kind == CYLINDER:
            return Feature(SIDE if abs(m.z) < NEARLY else NONE, beside, none, none)
        slant = sqrt(4.0 * h * h + s.size.x * s.size.x)
        return Feature(SLANT if abs(2.0 * h * m.z - s.size.x * across) < NEARLY * slant else NONE, beside, none, none)
    if s.kind == CONE and 2.0 * h * m.z > s.size.x * across:  # the apex
        return Feature(FLAT, plus_turned(P.p, P.R, Vec3(0.0, 0.0, h)), none, none)
    end = h if s.kind == CYLINDER and m.z > 0.0 else -h
    return Feature(RIM, beside + (end - y.z) * ez, none, none)


@formula
def settled(s, P, feature):
    """The feature with its point brought onto the surface."""
    if feature.code == FLAT or feature.code == NONE:
        return feature
    y = T(P.R) @ (feature.x - P.p)
    if feature.code == EGG:
        a = s.size
        u = Vec3(y.x / a.x, y.y / a.y, y.z / a.z)
        length = norm(u)
        f = 1.0 / length if length > 0.0 else 0.0
        y = Vec3(f * y.x, f * y.y, f * y.z) if f > 0.0 else Vec3(a.x, 0.0, 0.0)
    else:
        rho, radius = sqrt(y.x * y.x + y.y * y.y), s.size.x
        if feature.code == SLANT:
            radius = s.size.x * (s.size.z - y.z) / (2.0 * s.size.z)
        f = radius / rho if rho > 0.0 else 0.0
        y = Vec3(f * y.x, f * y.y, y.z) if f > 0.0 else Vec3(radius, 0.0, y.z)
    return Feature(feature.code, plus_turned(P.p, P.R, y), feature.t1, feature.t2)


@formula
def frame_of(s, P, feature, n):
    """Tangents and curvatures at the feature's point for normal n."""
    if feature.code == FLAT or feature.code == NONE:
        return Frame(feature.t1, feature.t2, 0.0, 0.0)
    y, m = T(P.R) @ (feature.x - P.p), T(P.R) @ n
    if feature.code == EGG:
        a = s.size
        u = Vec3(y.x / a.x, y.y / a.y, y.z / a.z)
        u = (1.0 / norm(u)) * u
        t, v = basis(u)
        # x = D u: tangents D t, and x_ii = −x
        t, v = Vec3(a.x * t.x, a.y * t.y, a.z * t.z), Vec3(a.x * v.x, a.y * v.y, a.z * v.z)
        f, g = 1.0 / norm(t), 1.0 / norm(v)
        return Frame(P.R @ (f * t), P.R @ (g * v), -(m @ y) * f * f, -(m @ y) * g * g)
    rho = sqrt(y.x * y.x + y.y * y.y)
    if not rho > 1e-14 * s.size.x:
        return Frame(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), 0.0, 0.0)
    e = Vec3(y.x / rho, y.y / rho, 0.0)
    k = -(m @ e) / rho
    t = P.R @ Vec3(-e.y, e.x, 0.0)
    if feature.code == SIDE:
        return Frame(t, P.R @ Vec3(0.0, 0.0, 1.0), k, 0.0)
    if feature.code == SLANT:
        r, h = s.size.x, s.size.z
        f = 1.0 / sqrt(4.0 * h * h + r * r)
        return Frame(t, P.R @ Vec3(-f * r * e.x, -f * r * e.y, 2.0 * f * h), k, 0.0)
    return Frame(t, Vec3(0.0, 0.0, 0.0), k, 0.0)
