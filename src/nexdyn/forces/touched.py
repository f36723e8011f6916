"""What presses of an ellipsoid or a cylinder that touches a half-space at a point or along a line, for k = 1.

All follows from an energy U of the height h of the solid's origin and of the normal n, in the axes of the solid (``sunk``): the force is
f = −∂U/∂h along n, and it acts at x with x × f n = n × ∂U/∂n. So that what turns gets no energy from a stiffness that turns with it.

Ellipsoid of the semi-axes D, g = |D n|: its lowest point is −D² n/g, δ = g − h, and there

    κ₁ + κ₂ = g (tr D⁻² − n D⁻² n),   κ₁ κ₂ = g⁴/det² D,   A ≤ B: half of each
    given        U = δᵉ⁺¹/(e + 1)
    by Hertz     U = 2/5 χ δ^2.5,   χ = π/(2 K) √((K − E)/(A m K)),   m = 1 − b²/a²,   (E/(1 − m) − K)/(K − E) = B/A       k = 4/3 E*
                 a² = δ (K − E)/(A m K),   A a² + B b² = δ                      (Johnson, Contact Mechanics, 1985, 4.2: χ = √R_e F₂^−1.5)

For a given f the true ellipse has the least of its energies, so that ∂U/∂A = −f a²/5, ∂U/∂B = −f b²/5 at a given depth: the slopes
of χ take no more than a and b.

Cylinder of radius r and length L, c = n_z, s = √(1 − c²); d = r s − h − c z is the depth along its lowest line, d = s x − h − c z that
over the end that looks down, x along e, the way in which that goes down:

    U = s² ∫ u(d) dz + c² ∫ w(d) dA
    given        u' = dᵉ/L,   w' = dᵉ/(π r²)
    by Hertz     u': the inverse of  d = q/π ln(Q/q),  up to the width where 2 ln(4 r/b) is 4, then straight;   w' = 2 d/(π r)        k = E*

q is the force per length over E*. The first is how far a cylinder gives down to its axis, and a half-space under a strip of the length
L (there, 5.6; ρ the parts of both in 1/E*), with b² = 4 q r/π:

    d = q/π (ρ_A (2 ln(4 r/b) − 1) + ρ_B (2 ln(2 L/b) + 1))      Q = π/(4 r) (4 r)^(2 ρ_A) (2 L)^(2 ρ_B) exp(ρ_B − ρ_A)

the second spreads evenly what a flat punch takes, f = 2 E* r d. Both are approximations: how far a strip gives goes with all of the
body, and the weights s² and c² only lead from one to the other where the cylinder stands on its rim.
"""

from __future__ import annotations

from math import exp, expm1, log, pi, sqrt
from typing import NamedTuple

from nexdyn.forces.own_law import OWN
from nexdyn.forces.sunk import LEVEL, WAY, WEIGHT, Moments, Sunk, by_axes
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Vec3, basis, cross
from nexdyn.spatial.lanes import power

OVER_AREA, GIVEN, HERTZ = 0.0, 1.0, 2.0
"""What presses: over an area (``sunk``), by a given stiffness, by that of Hertz."""
ROUND = 1e-6
"""Up to this ln(B/A) the ellipse is found by powers of it."""
ITERATIONS = 20
NARROW = 2.0
"""ln(Q/q) up to which a strip is narrow."""


class Ellipse(NamedTuple):
    """Of B/A: m, K, and A a²/δ."""

    m: float
    K: float
    wide: float


class Law(NamedTuple):
    """OVER_AREA, GIVEN or HERTZ, the exponent of what is given, and Q."""

    by: float
    exponent: float
    reach: float


class Line(NamedTuple):
    """Of a depth: force per length or pressure, its slope, the energy."""

    f: float
    slope: float
    energy: float


class Sums(NamedTuple):
    """∫ 1, w, w², η² of the force and of its slope, w along e₁ = c e + s e_z and η across; U; the area that presses and the largest
    pressure."""

    f: float
    f1: float
    f11: float
    f22: float
    k: float
    k1: float
    k11: float
    k22: float
    energy: float
    area: float
    peak: float


@formula
def whole_elliptic(m, m1):
    """K(m) and 1 − E/K, m1 = 1 − m, by the arithmetic-geometric mean: nothing cancels where m is small."""
    a, b, total, weight = 1.0, sqrt(m1), 0.5 * m, 1.0
    c = 0.5 * m / (1.0 + b)
    for _ in range(ITERATIONS):
        total += weight * c * c
        if c <= 1e-17:
            break
        mean = 0.5 * (a + b)
        a, b, weight = mean, sqrt(a * b), 2.0 * weight
        c = 0.5 * (a - b)
    return pi / (a + b), total


@outlined
def ellipse(ratio):
    """The ellipse of contact of B/A = `ratio`, 1 or more."""
    wanted = log(ratio)
    if wanted <= ROUND:
        m = 4.0 / 3.0 * wanted
        return Ellipse(m, 0.5 * pi * (1.0 + 0.25 * m), 0.5 + 0.0625 * m)
    # t = ln(a²/b²); of (m − σ)/(m₁ σ) = B/A, σ = 1 − E/K
    t = 1.272 * wanted
    m, K, part = 0.0, 0.0, 0.0
    for _ in range(ITERATIONS):
        m1, m = exp(-t), -expm1(-t)
        K, part = whole_elliptic(m, m1)
        off = log((m - part) / (m1 * part)) - wanted
        slope = (1.0 - part - 0.5 * m1) / (m - part) - 0.5 * (1.0 - part) / part
        step = off / slope
        t = t - step if step < 0.9 * t else 0.1 * t
        if abs(step) <= 1e-9 * t:
            break
    m1, m = exp(-t), -expm1(-t)
    K, part = whole_elliptic(m, m1)
    return Ellipse(m, K, part / m)


@outlined
def of_ellipsoid(law, D, n, h):
    """The ellipsoid of the semi-axes D, which touches."""
    squares = by_axes(D, D)
    foot, (one, two) = by_axes(squares, n), basis(n)
    g = sqrt(n @ foot)
    lowest, depth = (-1.0 / g) * foot, g - h
    none = Moments(0.0, lowest, 0.0, 0.0, 0.0)
    if not depth > 0.0:
        return Sunk(none, none, 0.0, depth, lowest, one, two, 0.0, 0.0)
    if law.exponent == OWN:  # what it does is asked of the law itself
        unit = Moments(1.0, lowest, 0.0, 0.0, 0.0)
        return Sunk(unit, unit, 0.0, depth, lowest, one, two, 0.0, 0.0)
    inverse = Vec3(1.0 / squares.x, 1.0 / squares.y, 1.0 / squares.z)
    flat, det = by_axes(inverse, n), D.x * D.y * D.z
    span = inverse.x + inverse.y + inverse.z - n @ flat
    total, gauss = g * span, (g * g / det) * (g * g / det)
    # (B − A)², and A + B = ½ (κ₁ + κ₂)
    apart = sqrt(max(0.25 * total * total - gauss, 0.0))
    high = 0.5 * (0.5 * total + apart)
    low = 0.25 * gauss / high
    found = ellipse(max(high / low, 1.0))
    at, e, factor = lowest, law.exponent, 1.0
    wide = depth * found.wide / low
    if law.by == HERTZ:
        factor = 0.5 * pi / found.K * sqrt(found.wide / low)
        # x = lowest + (a² dA + b² dB)/5
        up = (1.0 / g) * foot
        d_total = span * up - (2.0 * g) * flat
        d_gauss = (4.0 * g * g * g / (det * det)) * up
        d_apart = (0.5 * total) * d_total - d_gauss
        differ = wide * found.m / apart if high > (1.0 + ROUND) * low else 4.0 / 3.0 * wide / low
        shift = 0.05 * ((wide * (2.0 - found.m)) * d_total - differ * d_apart)
        at = lowest + shift - (n @ shift) * n
    f = factor * power(depth, e)
    area = pi * wide * sqrt(1.0 - found.m) if e == 1.5 else 0.0
    return Sunk(
        Moments(f, at, 0.0, 0.0, 0.0), Moments(e * f / depth, at, 0.0, 0.0, 0.0), f * depth / (e + 1.0), depth, lowest, one, two,
        area, 1.5 * f / area if area > 0.0 else 0.0,
    )  # fmt: skip


@formula
def strip(law, half, d):
    """Of the lowest line at the depth d > 0."""
    if law.by == GIVEN:
        f = power(d, law.exponent) / (2.0 * half)
        return Line(f, law.exponent * f / d, f * d / (law.exponent + 1.0))
    # −x ln x = y, by l = ln(1/x): l − ln l = ln(1/y)
    y, Q = pi * d / law.reach, law.reach
    x, end = exp(-NARROW), NARROW * exp(-NARROW)
    if y >= end:
        beyond = y - end
        U = x * x * (0.5 * NARROW - 0.25) + beyond * (x + 0.5 * beyond / (NARROW - 1.0))
        return Line(Q * (x + beyond / (NARROW - 1.0)), pi / (NARROW - 1.0), Q * Q / pi * U)
    wanted = -log(y)
    l = wanted + log(wanted + log(max(wanted, 1.0)) + 1.0)
    for _ in range(ITERATIONS):
        step = (l - log(l) - wanted) / (1.0 - 1.0 / l)
        l = max(l - step, NARROW)
        if abs(step) <= 1e-9 * l:
            break
    x = y / l
    return Line(Q * x, pi / (l - 1.0), Q * Q / pi * x * x * (0.5 * l - 0.25))


@formula
def end_of(law, r, d):
    """Of a point of an end at the depth d > 0."""
    if law.by == GIVEN:
        f = power(d, law.exponent) / (pi * r * r)
        return Line(f, law.exponent * f / d, f * d / (law.exponent + 1.0))
    k = 2.0 / (pi * r)
    return Line(k * d, k, 0.5 * k * d * d)


@formula
def under(first, last, at_first, at_last):
    """Where between two places the depth, straight between them, is greater than 0: its first and last, the same where it is nowhere."""
    low, high = first, last
    if at_first <= 0.0 and at_last <= 0.0:
        high = low
    elif at_first < 0.0:
        low = first + at_first / (at_first - at_last) * (last - first)
    elif at_last < 0.0:
        high = first + at_first / (at_first - at_last) * (last - first)
    return low, high


@outlined
def add_line(law, size, c, s, h, sums):
    """The lowest line, by the weight s²."""
    r, half = size.x, size.z
    first, last = r * s - h + c * half, r * s - h - c * half
    low, high = under(-half, half, first, last)
    f, f1, f11, f22, k, k1, k11, k22, U, area, peak = sums
    length, part = high - low, s * s
    if not length > 0.0:
        return sums
    for i in range(len(WAY)):
        z, raw = low + WAY[i] * length, WEIGHT[i] * length
        d = r * s - h - c * z
        if d > 0.0:
            one, w, weight = strip(law, half, d), c * r + s * z, part * raw
            f, f1, f11 = f + weight * one.f, f1 + weight * one.f * w, f11 + weight * one.f * w * w
            k, k1, k11 = k + weight * one.slope, k1 + weight * one.slope * w, k11 + weight * one.slope * w * w
            U, f1 = U + weight * one.energy, f1 + 2.0 * c * s * raw * one.energy
            if law.by == HERTZ:
                area += 2.0 * weight * sqrt(4.0 / pi * one.f * r)
                peak = max(peak, part * sqrt(one.f / (pi * r)))
    return Sums(f, f1, f11, f22, k, k1, k11, k22, U, area, peak)


@outlined
def add_end(law, size, c, s, h, sums):
    """The end that looks down, by the weight c²."""
    r, z = size.x, -size.z if c > 0.0 else size.z
    first, last = -s * r - h - c * z, s * r - h - c * z
    low, high = under(-r, r, first, last)
    f, f1, f11, f22, k, k1, k11, k22, U, area, peak = sums
    length, part = high - low, c * c
    if not length > 0.0:
        return sums
    for i in range(len(WAY)):
        x = low + WAY[i] * length
        d, square = s * x - h - c * z, max((r - x) * (r + x), 0.0)
        if d > 0.0:
            raw = 2.0 * WEIGHT[i] * length * sqrt(square)
            one, w, across, weight = end_of(law, r, d), c * x + s * z, square / 3.0, part * raw
            f, f1, f11, f22 = (
                f + weight * one.f, f1 + weight * one.f * w, f11 + weight * one.f * w * w, f22 + weight * one.f * across
            )  # fmt: skip
            k, k1, k11, k22 = (
                k + weight * one.slope, k1 + weight * one.slope * w, k11 + weight * one.slope * w * w, k22 + weight * one.slope * across
            )  # fmt: skip
            U, f1 = U + weight * one.energy, f1 - 2.0 * c * s * raw * one.energy
            if law.by == HERTZ:
                area, peak = area + weight, max(peak, part * one.f)
    return Sums(f, f1, f11, f22, k, k1, k11, k22, U, area, peak)


@formula
def moments(size, first, m11, m22, foot, one):
    """Of sums about `foot`."""
    if not size > 0.0:
        return Moments(0.0, foot, 0.0, 0.0, 0.0)
    w = first / size
    return Moments(size, foot + w * one, max(m11 - w * first, 0.0), 0.0, max(m22, 0.0))


@outlined
def of_cylinder(law, size, n, h):
    """The cylinder of the half length size.z."""
    level = sqrt(n.x * n.x + n.y * n.y)
    s, c = max(level, LEVEL), n.z
    e = Vec3(-n.x / level, -n.y / level, 0.0) if level > 0.0 else Vec3(1.0, 0.0, 0.0)
    r, half = size.x, size.z
    lowest = Vec3(r * e.x, r * e.y, -half if c > 0.0 else half)
    one, depth = c * e + Vec3(0.0, 0.0, s), r * level + half * abs(c) - h
    none = Moments(0.0, lowest, 0.0, 0.0, 0.0)
    if not depth > 0.0:
        return Sunk(none, none, 0.0, depth, lowest, one, cross(n, one), 0.0, 0.0)
    sums = Sums(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    sums = add_line(law, size, c, s, h, sums)
    sums = add_end(law, size, c, s, h, sums)
    foot = -h * n
    return Sunk(
        moments(sums.f, level / s * sums.f1, sums.f11, sums.f22, foot, one),
        moments(sums.k, level / s * sums.k1, sums.k11, sums.k22, foot, one),
        sums.energy, depth, lowest, one, cross(n, one), sums.area, sums.peak,
    )  # fmt: skip
