"""What of a round solid lies under a plane, for a contact over an area: its volume, centre and moments, as of a ship in water.

A rigid solid presses into a half-space with p = k d (1 + a ḋ), d the depth under the plane n · x + h = 0 (x in the axes of the
solid). With V the volume of what lies under the plane, C its centre and S the area that the plane cuts, by Gauss's law

    F = k V n at C      U = k ∫ d dV      −∂F/∂x = k ∫ g gᵀ dS,   g = ((x − p) × n, n)                        (Archimedes)

Cylinder, cone and capsule are cut across their axis z into discs of radius r(z). c = n_z, s = √(1 − c²), and e is the direction
in which discs go down. The plane cuts a disc at ξ = t(z) = (h + c z)/s along e, η across it; with cos α = t/r, q = r sin α,

    A = r² (α − ½ sin 2α)      ∫ ξ dA = ⅔ q³      ∫ ξ² dA = ¼ A r² + ½ t q³      ∫ η² dA = ¼ A r² − ⅙ t q³
    ∫ d dA = s r³ (¾ sin α + 1/12 sin 3α − α cos α)                                          where |t| < r; dry or whole elsewhere

Each is integrated over z by Gauss's rule, from where discs begin to be cut to where they end: with z = a + (b − a) u² (3 − 2 u) what
is integrated is smooth in u there. Small α are done by powers of α, without differences of large numbers. An ellipsoid is the unit ball,
stretched along its axes.

Data from OVERLAP on: `RoundData`.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt
from typing import NamedTuple

import numpy as np

from nexdyn.forces.contact_data import OF_ROUND, Parts
from nexdyn.geometry import capsule, cone, cylinder, ellipsoid
from nexdyn.geometry.solid import CONE, CYLINDER, ELLIPSOID, Solid
from nexdyn.kernel import formula, outlined
from nexdyn.records import Record
from nexdyn.spatial.algebra import Vec3, basis, cross

LEVEL = 1e-12
"""A plane that leans by less than this against a disc cuts it as if it leaned so, and centres are away in proportion to what it leans."""
SMALL = 0.3
"""An angle up to which segments are found by powers of it."""

_nodes, _weights = np.polynomial.legendre.leggauss(10)
_u = 0.5 + 0.5 * _nodes
WAY = tuple(float(x) for x in _u * _u * (3.0 - 2.0 * _u))
WEIGHT = tuple(float(x) for x in 3.0 * _u * (1.0 - _u) * _weights)
"""u² (3 − 2 u) at Gauss's points of (0, 1), and its rate times their weights."""
_nodes, _weights = np.polynomial.legendre.leggauss(3)
EVEN_WAY, EVEN_WEIGHT = (
    tuple(float(x) for x in 0.5 + 0.5 * _nodes),
    tuple(float(x) for x in 0.5 * _weights),
)


class RoundData(Record):
    """w_A, w_B, what tells it, kind of the solid, its sizes and margin, how it presses and Q (``touched``)."""

    part_a: float
    part_b: float
    form: float
    kind: float
    size: Vec3
    margin: float
    by: float
    reach: float


class Moments(NamedTuple):
    """Of a volume or an area: its size, centre, and ∫ y yᵀ about that along e₁ and e₂ of the plane."""

    size: float
    centre: Vec3
    m11: float
    m12: float
    m22: float


class Sunk(NamedTuple):
    """What lies under the plane: its volume, the area that the plane cuts, ∫ d dV; how deep it is, and where (x); e₁ and e₂; the area
    that presses, the largest pressure. Where it is touched (``touched``): force, slope and energy, of k = 1."""

    volume: Moments
    area: Moments
    energy: float
    depth: float
    lowest: Vec3
    one: Vec3
    two: Vec3
    pressed: float
    peak: float


class Sums(NamedTuple):
    """∫ 1, w, w², η² over the volume and over the area, w along e₁ = c e + s e_z, and ∫ d dV."""

    v: float
    v1: float
    v11: float
    v22: float
    a: float
    a1: float
    a11: float
    a22: float
    energy: float


class Lean(NamedTuple):
    """The plane against the axis: h, c, s."""

    h: float
    c: float
    s: float


class Profile(NamedTuple):
    """Discs whose radius is r + slope z, or those of a ball of radius r about z = `centre`."""

    r: float
    slope: float
    centre: float
    ball: bool


class Disc(NamedTuple):
    """Where a disc is cut: z, t."""

    z: float
    t: float


@formula
def segment(angle):
    """α − ½ sin 2α and ¾ sin α + 1/12 sin 3α − α cos α."""
    if angle > SMALL:
        one = sin(angle)
        return angle - one * cos(angle), 0.75 * one + sin(3.0 * angle) / 12.0 - angle * cos(angle)
    x = angle * angle
    # ½ Σ −(−4 x)^m α/(2 m + 1)! and Σ (−x)^m (¾ + 9^m/4 − 2 m − 1) α/(2 m + 1)!
    area = x * (2.0 / 2835.0 - x * (4.0 / 155925.0 - x * 4.0 / 6081075.0))
    area = 2.0 / 3.0 - x * (2.0 / 15.0 - x * (4.0 / 315.0 - area))
    deep = x * (14752.0 / 39916800.0 - x * (132848.0 / 6227020800.0 - x * 1195728.0 / 1307674368000.0))
    deep = 2.0 / 15.0 - x * (11.0 / 315.0 - x * (1632.0 / 362880.0 - deep))
    return angle * x * area, angle * x * x * deep


@formula
def at(profile, z):
    """r² at z."""
    if profile.ball:
        x = z - profile.centre
        return max((profile.r - x) * (profile.r + x), 0.0)
    x = profile.r + profile.slope * z
    return x * x


@formula
def cut_at(lean, z):
    """The disc at z."""
    return Disc(z, (lean.h + lean.c * z) / lean.s)


@formula
def between(lean, cut, least, most):
    """`cut`, or the first or last disc where it lies beyond."""
    if not cut.z > least:
        return cut_at(lean, least)
    return cut if cut.z < most else cut_at(lean, most)


@outlined
def add_discs(a, b, profile, lean, s):
    """The discs from a to b, all of which are cut, or dry, or whole."""
    dz, dt = b.z - a.z, b.t - a.t
    if not dz > 0.0:
        return s
    middle = 0.5 * (a.t + b.t)
    v, v1, v11, v22, a0, a1, a11, a22, energy = s
    if middle * middle < at(profile, 0.5 * (a.z + b.z)):
        # of the area along e₁
        length = sqrt(dz * dz + dt * dt)
        for k in range(len(WAY)):
            z, t = a.z + WAY[k] * dz, a.t + WAY[k] * dt
            square = at(profile, z)
            q = sqrt(max(square - t * t, 0.0))
            area, deep = segment(atan2(q, t))
            area *= square
            cube = q * q * q
            across, far = lean.s * z * area, lean.c * (2.0 / 3.0) * cube
            w = WEIGHT[k] * dz
            v += w * area
            v1 += w * (across + far)
            v11 += w * (lean.s * z * (across + 2.0 * far) + lean.c * lean.c * (0.25 * area * square + 0.5 * t * cube))
            v22 += w * (0.25 * area * square - t * cube / 6.0)
            energy += w * lean.s * deep * square * sqrt(square)
            w, x = WEIGHT[k] * length, lean.s * z + lean.c * t
            a0 += w * 2.0 * q
            a1 += w * 2.0 * q * x
            a11 += w * 2.0 * q * x * x
            a22 += w * (2.0 / 3.0) * cube
    elif middle < 0.0:
        for k in range(len(EVEN_WAY)):
            z = a.z + EVEN_WAY[k] * dz
            square = at(profile, z)
            area, w, x = pi * square, EVEN_WEIGHT[k] * dz, lean.s * z
            v += w * area
            v1 += w * area * x
            v11 += w * area * (x * x + lean.c * lean.c * 0.25 * square)
            v22 += w * area * 0.25 * square
            energy -= w * area * (lean.h + lean.c * z)
    return Sums(v, v1, v11, v22, a0, a1, a11, a22, energy)


@formula
def add_part(first, last, profile, one, two, lean, s):
    """The discs from z = `first` to `last` of a profile; `one` and `two`: where they begin and end to be cut."""
    low = between(lean, one if one.z < two.z else two, first, last)
    high = between(lean, two if one.z < two.z else one, first, last)
    s = add_discs(cut_at(lean, first), low, profile, lean, s)
    s = add_discs(low, high, profile, lean, s)
    return add_discs(high, cut_at(lean, last), profile, lean, s)


@formula
def add_straight(first, last, r, slope, lean, s):
    """Discs whose radius is r + slope z."""
    # s (r + slope z) = ± (h + c z)
    low, high = lean.c - lean.s * slope, lean.c + lean.s * slope
    low, high = low if low != 0.0 else LEVEL * LEVEL, high if high != 0.0 else LEVEL * LEVEL
    z, y = (lean.s * r - lean.h) / low, -(lean.s * r + lean.h) / high
    profile = Profile(r, slope, 0.0, False)
    return add_part(first, last, profile, Disc(z, r + slope * z), Disc(y, -(r + slope * y)), lean, s)


@formula
def add_cap(first, last, r, centre, lean, s):
    """Discs of a ball of radius r about z = `centre`."""
    d = lean.h + lean.c * centre
    profile = Profile(r, 0.0, centre, True)
    if d * d >= r * r:
        nowhere = cut_at(lean, first)
        return add_part(first, last, profile, nowhere, nowhere, lean, s)
    half = sqrt(r * r - d * d)
    z, t = centre - lean.c * d, lean.s * d
    one, two = Disc(z - lean.s * half, t - lean.c * half), Disc(z + lean.s * half, t + lean.c * half)
    return add_part(first, last, profile, one, two, lean, s)


@formula
def moments(size, first, m11, m22, n, off, one, part):
    """Of the sums about the foot of the origin; `off`: the centre along n; `part`: of what it is away along e₁."""
    if not size > 0.0:
        return Moments(0.0, off * n, 0.0, 0.0, 0.0)
    w = first / size
    # not negative, nor where depths are of the size of rounding
    return Moments(size, (part * w) * one + off * n, max(m11 - w * first, 0.0), 0.0, max(m22, 0.0))


@outlined
def of_revolution(kind, size, margin, n, h):
    """(Volume, area, ∫ d dV, e₁, e₂) of a cylinder, a cone or a capsule."""
    level = sqrt(n.x * n.x + n.y * n.y)
    s = max(level, LEVEL)
    e = Vec3(-n.x / level, -n.y / level, 0.0) if level > 0.0 else Vec3(1.0, 0.0, 0.0)
    lean, r, half, part = Lean(h, n.z, s), size.x, size.z, level / s
    sums = Sums(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if kind == CYLINDER:
        sums = add_straight(-half, half, r, 0.0, lean, sums)
    elif kind == CONE:
        sums = add_straight(-half, half, 0.5 * r, -0.5 * r / half, lean, sums)
    else:
        sums = add_cap(-half - margin, -half, margin, -half, lean, sums)
        sums = add_straight(-half, half, margin, 0.0, lean, sums)
        sums = add_cap(half, half + margin, margin, half, lean, sums)
    one = n.z * e + Vec3(0.0, 0.0, s)
    mean = sums.energy / sums.v if sums.v > 0.0 else 0.0
    volume = moments(sums.v, sums.v1, sums.v11, sums.v22, n, -h - mean, one, part)
    return volume, moments(sums.a, sums.a1, sums.a11, sums.a22, n, -h, one, part), sums.energy, one, cross(n, one)


@formula
def by_axes(D, a):
    """D a, D diagonal."""
    return Vec3(D.x * a.x, D.y * a.y, D.z * a.z)


@formula
def stretched(a, b, D, nu, along, across):
    """aᵀ D (across (1 − ν νᵀ) + along ν νᵀ) D b."""
    x, y = by_axes(D, a), by_axes(D, b)
    return across * (x @ y) + (along - across) * (x @ nu) * (y @ nu)


@outlined
def of_ellipsoid(D, n, h):
    """The same of an ellipsoid of the semi-axes D."""
    one, two = basis(n)
    nu = by_axes(D, n)
    g = sqrt(nu @ nu)
    nu = (1.0 / g) * nu
    most, foot = D.x * D.y * D.z, by_axes(D, nu)
    # ∫ over v from the lowest point of the unit ball up, whose disc at v is π v (2 − v)
    x = max(min(1.0 - h / g, 2.0), 0.0)
    V = most * pi * x * x * (1.0 - x / 3.0)
    v = x * (2.0 / 3.0 - 0.25 * x) / (1.0 - x / 3.0)
    along = max(most * pi * x * x * x * (0.5 * x - 0.2 * x * x) - V * v * v, 0.0)
    across = 0.25 * pi * most * x * x * x * (4.0 / 3.0 - x + 0.2 * x * x)
    # wholly under the plane, it lies by so much deeper
    energy = most * g * pi * x * x * x * (1.0 / 3.0 - x / 12.0) + V * max(-1.0 - h / g, 0.0) * g
    square = x * (2.0 - x)
    S, middle = most * pi * square / g, -(1.0 - x)
    volume = Moments(
        V, -(1.0 - v) * foot, stretched(one, one, D, nu, along, across), stretched(one, two, D, nu, along, across),
        stretched(two, two, D, nu, along, across),
    )  # fmt: skip
    across = 0.25 * S * square
    area = Moments(
        S, middle * foot, stretched(one, one, D, nu, 0.0, across), stretched(one, two, D, nu, 0.0, across),
        stretched(two, two, D, nu, 0.0, across),
    )  # fmt: skip
    return volume, area, energy, one, two


@formula
def is_round(data, j):
    """Whether the data of ``overlap`` from j on are those of a round solid."""
    return Parts(data, j).form == OF_ROUND


@formula
def farthest(s, n):
    """The point of a solid that is farthest along n."""
    if s.kind == CYLINDER:
        return cylinder.support(s, 0, n)
    if s.kind == CONE:
        return cone.support(s, 0, n)
    return ellipsoid.support(s, 0, n) if s.kind == ELLIPSOID else capsule.support(s, 0, n) + s.margin * n


@outlined
def sunk(kind, size, margin, n, h):
    """What of a solid of ROUND lies under n · x + h = 0."""
    lowest = farthest(Solid(kind, size, margin, 0.0, 0, 0, 0, 0), -n)
    depth = -h - n @ lowest
    if not depth > 0.0:
        nothing, (one, two) = Moments(0.0, lowest, 0.0, 0.0, 0.0), basis(n)
        return Sunk(nothing, nothing, 0.0, depth, lowest, one, two, 0.0, 0.0)
    if kind == ELLIPSOID:
        volume, area, energy, one, two = of_ellipsoid(size, n, h)
    else:
        volume, area, energy, one, two = of_revolution(kind, size, margin, n, h)
    return Sunk(volume, area, energy, depth, lowest, one, two, area.size, depth)
