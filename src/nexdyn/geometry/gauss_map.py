"""The contact of two features whose points follow from their normals, by Newton's method on the normal alone.

The inverse of the Gauss map gives the point x(n) of a feature where its outward normal is n, up to a move u along a straight
tangent t where it has one (an edge, the side of a cylinder, a generator of a cone). H = dx/dn is the Hessian of the support function:

    vertex       x fixed                                     H = 0
    edge         x₀ + u t,        n·t = 0                    H = 0
    rim, side    r (n_x, n_y)/ρ   at its z,  ρ = |(n_x, n_y)|   H = r/ρ e eᵀ,  e = (−n_y, n_x)/ρ
    slant        as the side, with the radius at its z
    ellipsoid    D² n/|D n|                                  H = (D² − x xᵀ)/|D n|

Unknown are the turn φ of n along unit vectors e_i across it, and the moves u and w. With r = b − a and d = n·r

    (d + H_A + H_B) φ + t_A u − t_B w = r                    across n: b − a is along n
    t_A·φ = −n·t_A,    t_B·φ = −n·t_B                        n is normal to both straight tangents

Against a face the normal is the face's, and nothing is left to solve.
"""

from __future__ import annotations

from typing import NamedTuple

from nexdyn.geometry.features import EGG, FLAT, SIDE, SLANT, Feature
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import T, Vec3, basis, cross, norm, plus_turned
from nexdyn.spatial.lanes import sqrt

MOST_STEPS = 10
LONGEST_STEP = 0.4
ENOUGH = 1e-7
"""The last step: what it leaves is of its square."""
STEEPEST = 1e3
"""H over the size, above which a point is too sensitive to the normal."""
LEAST = 1e-100
WELL = 1e-6
"""Determinant, over the squares of its entries, above which equations are solved."""


class Place(NamedTuple):
    """A point of a feature, H in the basis e1, e2, and the straight tangent, 0 where there is none."""

    x: Vec3
    h11: float
    h12: float
    h22: float
    t: Vec3


@formula
def is_face(feature):
    """Whether it is flat and has two tangents."""
    return feature.code == FLAT and feature.t2 @ feature.t2 > 0.0


@formula
def place(s, feature, n, e1, e2):
    """The point of the feature of s where the outward normal is n, all in the frame of s."""
    none = Vec3(0.0, 0.0, 0.0)
    if feature.code == FLAT:
        return Place(feature.x, 0.0, 0.0, 0.0, feature.t1)
    if feature.code == EGG:
        b = Vec3(s.size.x * s.size.x, s.size.y * s.size.y, s.size.z * s.size.z)
        m = Vec3(b.x * n.x, b.y * n.y, b.z * n.z)
        f = 1.0 / sqrt(n @ m)
        x = f * m
        p, q = e1 @ x, e2 @ x
        g, h = Vec3(b.x * e1.x, b.y * e1.y, b.z * e1.z), Vec3(b.x * e2.x, b.y * e2.y, b.z * e2.z)
        return Place(x, f * (e1 @ g - p * p), f * (e1 @ h - p * q), f * (e2 @ h - q * q), none)
    g = 1.0 / max(sqrt(n.x * n.x + n.y * n.y), LEAST)
    ex, ey = g * n.x, g * n.y
    z, h, radius, t = feature.x.z, s.size.z, s.size.x, none
    if feature.code == SIDE:
        t = Vec3(0.0, 0.0, 1.0)
    elif feature.code == SLANT:
        f = 1.0 / sqrt(4.0 * h * h + radius * radius)
        t = Vec3(-f * radius * ex, -f * radius * ey, 2.0 * f * h)
        radius = radius * (h - z) / (2.0 * h)
    # H = r/ρ e eᵀ
    p, q, f = ex * e1.y - ey * e1.x, ex * e2.y - ey * e2.x, radius * g
    return Place(Vec3(radius * ex, radius * ey, z), f * p * p, f * p * q, f * q * q, t)


class Turn(NamedTuple):
    """The turn of n along e1 and e2, and the moves of a and b along their straight tangents; ok: whether there is a solution."""

    f: float
    g: float
    u: float
    w: float
    ok: bool


@formula
def turn_of(a, b, tb, n, e1, e2):
    """The solution of the equations above; tb is b's straight tangent in A's frame."""
    r = b.x - a.x
    d = n @ r
    g11, g12, g22 = d + a.h11 + b.h11, a.h12 + b.h12, d + a.h22 + b.h22
    b1, b2 = e1 @ r, e2 @ r
    with_a, with_b = a.t @ a.t > 0.0, tb @ tb > 0.0
    if with_a and with_b:
        # φ from (a₁ a₂; b₁ b₂) φ = −(n·t_A, n·t_B), then u and w from the transposed matrix
        a1, a2, c1, c2 = a.t @ e1, a.t @ e2, tb @ e1, tb @ e2
        determinant = a1 * c2 - a2 * c1
        ok = abs(determinant) > WELL
        o = 1.0 / determinant if ok else 0.0
        p, q = -(n @ a.t), -(n @ tb)
        f, g = o * (c2 * p - a2 * q), o * (a1 * q - c1 * p)
        p, q = b1 - g11 * f - g12 * g, b2 - g12 * f - g22 * g
        return Turn(f, g, o * (c2 * p - c1 * q), o * (a2 * p - a1 * q), ok)
    if with_a or with_b:
        # the third equation x f + y g = h, and its unknown s u
        t, s = (a.t, 1.0) if with_a else (tb, -1.0)
        x, y, h = t @ e1, t @ e2, -(n @ t)
        # along (−y, x) no move is left: g is eliminated by it
        p, q = g12 * x - g11 * y, g22 * x - g12 * y
        determinant = p * y - q * x
        ok = abs(determinant) > WELL * max(abs(g11), abs(g12), abs(g22))
        o = 1.0 / determinant if ok else 0.0
        k = b2 * x - b1 * y
        f, g = o * (k * y - q * h), o * (p * h - k * x)
        u = s * (x * (b1 - g11 * f - g12 * g) + y * (b2 - g12 * f - g22 * g)) / max(x * x + y * y, LEAST)
        return Turn(f, g, u if with_a else 0.0, 0.0 if with_a else u, ok)
    determinant, size = g11 * g22 - g12 * g12, max(abs(g11), abs(g12), abs(g22))
    ok = abs(determinant) > WELL * size * size
    o = 1.0 / determinant if ok else 0.0
    return Turn(o * (g22 * b1 - g12 * b2), o * (g11 * b2 - g12 * b1), 0.0, 0.0, ok)


@formula
def along(feature, t, u):
    """The feature with its point moved by u along its straight tangent t; of a curved one only the height is kept."""
    return Feature(feature.code, feature.x + u * t, feature.t1, feature.t2)


@formula
def turned_back(X, feature):
    """A feature in A's frame as one in B's, X the pose of B in A."""
    R = T(X.R)
    return Feature(feature.code, R @ (feature.x - X.p), R @ feature.t1, R @ feature.t2)


@formula
def placed(B, X, feature, n, e1, e2):
    """The point of B's feature that faces n, in A's frame; its straight tangent in B's."""
    R = T(X.R)
    b = place(B, feature, -(R @ n), R @ e1, R @ e2)
    return Place(plus_turned(X.p, X.R, b.x), b.h11, b.h12, b.h22, b.t)


@formula
def normal_of(t1, t2, n):
    """The unit normal of a face with tangents t1 and t2, on the side of n."""
    m = cross(t1, t2)
    return (1.0 / norm(m) if m @ n >= 0.0 else -1.0 / norm(m)) * m


@outlined
def by_normals(A, B, X, feature_a, feature_b, n, L):
    """(found, a, b, n): where the equations hold, in A's frame, as are the features."""
    on_a, on_b = is_face(feature_a), is_face(feature_b)
    if on_a or on_b:
        n = normal_of(feature_a.t1, feature_a.t2, n) if on_a else normal_of(feature_b.t1, feature_b.t2, n)
    feature_b = turned_back(X, feature_b)
    if on_a or on_b:
        e1, e2 = basis(n)
        a, b = place(A, feature_a, n, e1, e2), placed(B, X, feature_b, n, e1, e2)
        d = n @ (b.x - a.x)
        if on_a:
            return not b.t @ b.t > 0.0, b.x - d * n, b.x, n
        return not a.t @ a.t > 0.0, a.x, a.x + d * n, n
    per = 1.0 / L
    for _ in range(MOST_STEPS):
        e1, e2 = basis(n)
        a, b = place(A, feature_a, n, e1, e2), placed(B, X, feature_b, n, e1, e2)
        s = turn_of(a, b, X.R @ b.t, n, e1, e2)
        if not (s.ok and max(a.h11 + b.h11, a.h22 + b.h22) < STEEPEST * L):
            break
        step, k = max(max(abs(s.f), abs(s.g)), per * max(abs(s.u), abs(s.w))), 1.0
        if step > LONGEST_STEP:
            k = LONGEST_STEP / step
        f, g = k * s.f, k * s.g
        n = (1.0 / sqrt(1.0 + f * f + g * g)) * (n + f * e1 + g * e2)
        feature_a, feature_b = along(feature_a, a.t, k * s.u), along(feature_b, b.t, k * s.w)
        if step < ENOUGH:
            a, b = place(A, feature_a, n, e1, e2), placed(B, X, feature_b, n, e1, e2)
            return True, a.x, b.x, n
    return False, feature_a.x, feature_a.x, n
