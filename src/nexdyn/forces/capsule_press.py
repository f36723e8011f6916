"""Contact of a capsule with a convex solid at points: two that share what it presses with, and move along its axis.

A: a capsule of the radius r and the axis c(s) = p_A + s z_A, −a ≤ s ≤ a.   B: a convex solid, φ its signed distance, n = ∇φ (``ball``).

    d(s) = r − φ(c(s)),   φ' = n · z_A                depth of the axis' point s; φ is convex, so φ' never falls and d is concave
    ω_i = ½ (1 ± s/a),   ω_1 + ω_2 = 1                share of the points i = 1, 2
    U = k χ Σ max_s ω_i dᵉ⁺¹/(e + 1)                  s_i where it is greatest:  a φ' (1 ± s/a)(e + 1) = ± d
    f_i = k χ ω_i dᵉ n   at s_i                       for ∂U/∂s = 0 there, so that no motion of s_i has a part in −∂U

ω is linear and greater than 0, and d is concave: ln ω + (e + 1) ln d is strictly concave where d > 0 and has one greatest value,
whatever the solid. So s_i, the forces and all torques are continuous in every pose, from crossed to parallel too, as long as n is, which
it is while the axis is outside the solid. No force pulls.

    crossed              d is narrow: both points are where the axes cross, to δ over the curvature of d, and share k χ δᵉ
    lying                d is even along the axis: the points are at its ends, and each has k χ dᵉ, as on a half-space
    lying over a part    they are at both ends of that part, ω k χ dᵉ each
    leaning, standing    each goes to the end that is deep: one point at k χ δᵉ

With the curvature φ'' of crossed axes s_i are δ/((e + 1) a φ'') from the place of the greatest depth δ, and U is greater by the part
δ/(2 (e + 1) a² φ'').

χ is 1, but by Hertz between a capsule and one or a cylinder of the radius r_B, with x = sin² of the angle between their axes:

    A + B = ½ (1/r + 1/r_B),   A B = x/(4 r r_B),   χ = π/(2 K) √((K − E)/(A m K)) as in ``touched``          k = 4/3 E*
    x < x_1 = `ALIGNED`:   χ = χ_0 + α x + β x²,   smooth at x_1, χ_0 that of a sphere of the radius r on the side of B

As χ depends on the pose, there is a couple −∂U/∂x dx/dφ on A as well: 2 (z_A · z_B) (dχ/dx) U/χ z_A × z_B.

Data from OVERLAP on: `ball.SolidData` of B with its faces; where r_B in `PointData` is greater than 0, which has no faces, χ_0, α, β.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import NamedTuple

from nexdyn.forces import ball
from nexdyn.forces.contact import across, along, running
from nexdyn.forces.contact_data import OF_CAPSULE, OVERLAP, Parts, PointData
from nexdyn.forces.pressed import DISC, NO_SPREAD, Pressed, nothing_pressed, relative, share
from nexdyn.forces.touched import ROUND, ellipse
from nexdyn.geometry.solid import SEGMENT
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.spatial.algebra import Force, T, Vec3, cross
from nexdyn.spatial.lanes import power

ALIGNED = 0.01
"""sin² of the angle between axes below which Hertz's stiffness of crossed cylinders is led over to that of ends: 5.7°."""
ITERATIONS, NEAR = 200, 1e-15
"""How often a place on the axis is improved, and the part of a to which it is found."""


class Axis(NamedTuple):
    """The middle of the axis and its direction in the frame of B, a, r, and e + 1."""

    p: Vec3
    u: Vec3
    half: float
    radius: float
    power: float


class Crossed(NamedTuple):
    """χ, dχ/dx, and the area of contact over δ, 0 where it is not known."""

    factor: float
    slope: float
    area: float


class Place(NamedTuple):
    """A place on the axis: d and n, the point of the surface of B (of a capsule B midway), in the frame of B, and its share."""

    depth: float
    n: Vec3
    p: Vec3
    share: float


@formula
def is_capsule(data, j):
    """Whether the data of ``overlap`` from j on are those of a capsule and a solid."""
    return Parts(data, j).form == OF_CAPSULE


@formula
def axis_of(data, k, X_A, X_B):
    """The axis of A."""
    own, R, R_t = PointData(data, k), X_A.R, T(X_B.R)
    return Axis(R_t @ (X_A.p - X_B.p), R_t @ Vec3(R.xz, R.yz, R.zz), own.half, own.radius, own.exponent + 1.0)


@outlined
def at(data, j, axis, s):
    """φ and n at s."""
    return ball.distance(data, j, axis.p + s * axis.u)


@outlined
def rising(data, j, axis, side, s):
    """Greater than 0 where ω dᵉ⁺¹ rises with s, of the point of `side` ±1; of 0 where d does."""
    d, n = at(data, j, axis, s)
    return side * (axis.radius - d) / axis.half - axis.power * (1.0 + side * s / axis.half) * (n @ axis.u)


@formula
def lowered(x, f):
    """By what the value at the far end is multiplied where the near one went from f to x (Anderson and Björck, BIT 13, 1973)."""
    return 1.0 - x / f if abs(x) < abs(f) else 0.5


@outlined
def summit(data, j, axis, side, low, high):
    """The s between `low` and `high` at which that is greatest: by false position, or halves where that is slow."""
    f, g, last = rising(data, j, axis, side, low), rising(data, j, axis, side, high), 0
    if f <= 0.0:
        return low
    if g >= 0.0:
        return high
    apart, width = 0.5 * NEAR * axis.half, high - low
    for i in range(ITERATIONS):
        s = low + (high - low) * (f / (f - g))
        if i % 4 == 3:
            if high - low > 0.25 * width:
                s = 0.5 * (low + high)
            width = high - low
        s = max(low + apart, min(high - apart, s))  # off both ends, so that each moves
        x = rising(data, j, axis, side, s)
        if x == 0.0:
            return s
        if x > 0.0:
            g = lowered(x, f) * g if last == 1 else g
            low, f, last = s, x, 1
        else:
            f = lowered(x, g) * f if last == -1 else f
            high, g, last = s, x, -1
        if high - low <= 2.0 * apart:
            break
    return 0.5 * (low + high)


@outlined
def place(data, j, axis, side, s):
    """The place s, a point of `side` ±1; of 0 it has no share."""
    d, n = at(data, j, axis, s)
    depth = axis.radius - d
    below = d + 0.5 * depth if int(ball.SolidData(data, j).kind) == SEGMENT else d
    return Place(depth, n, axis.p + s * axis.u - below * n, 0.5 * (1.0 + side * s / axis.half) if side != 0.0 else 0.0)


@formula
def deepest(data, j, axis):
    """s of the greatest depth."""
    return summit(data, j, axis, 0.0, -axis.half, axis.half)


@formula
def point(data, j, axis, side, s):
    """The point of `side` ±1, s the place of the greatest depth."""
    low, high = (s, axis.half) if side > 0.0 else (-axis.half, s)
    return place(data, j, axis, side, summit(data, j, axis, side, low, high))


@outlined
def crossed(r, other, x):
    """χ and dχ/dx of cylinders."""
    total, per_x = 0.5 * (1.0 / r + 1.0 / other), 0.25 / (r * other)
    apart = sqrt(share(total * total - 4.0 * per_x * x))
    high = 0.5 * (total + apart)
    low = per_x * x / high
    found = ellipse(max(high / low, 1.0))
    wide = found.wide / low
    factor = 0.5 * pi / found.K * sqrt(wide)
    # ∂U/∂A = −f a²/5, ∂U/∂B = −f b²/5 at a given depth;  d(A B) = dA (B − A)
    differ = found.m / apart if high > (1.0 + ROUND) * low else 4.0 / (3.0 * low)
    return Crossed(factor, -0.5 * factor * wide * per_x * differ, pi * wide * sqrt(1.0 - found.m))


@kernel
def fill_crossed(r, other, x, out):
    """χ and dχ/dx into out (2,)."""
    found = crossed(r, other, x)
    out[0], out[1] = found.factor, found.slope


@formula
def stiffened(data, k, u):
    """χ at the direction u of the axis of A in the frame of B."""
    own, j = PointData(data, k), k + OVERLAP + ball.FIRST_FACE
    if not own.other > 0.0:
        return Crossed(1.0, 0.0, 0.0)
    x = u.x * u.x + u.y * u.y
    if x >= ALIGNED:
        return crossed(own.radius, own.other, x)
    return Crossed(data[j] + x * (data[j + 1] + x * data[j + 2]), data[j + 1] + 2.0 * x * data[j + 2], 0.0)


@outlined
def capsule_energy(data, k, X_A, X_B):
    """U."""
    j, own, axis = k + OVERLAP, PointData(data, k), axis_of(data, k, X_A, X_B)
    s, U = deepest(data, j, axis), 0.0
    if not place(data, j, axis, 0.0, s).depth > 0.0:
        return 0.0
    for i in range(2):
        q = point(data, j, axis, 1.0 - 2.0 * i, s)
        U += q.share * power(share(q.depth), axis.power) / axis.power
    return own.stiffness * stiffened(data, k, axis.u).factor * U


@formula
def second_moment(pressure, first, turning):
    """∫ p x² of a force p about whose centre ∫ |ρ| dp is `turning`/p, the arm of what friction holds against turning."""
    if not pressure > 0.0:
        return 0.0
    gyration = turning / (DISC * pressure)
    return ((first @ first) + gyration * gyration) / pressure


@outlined
def press_capsule(data, k, X_A, V_A, X_B, V_B, rubs):
    """The sums of both points, and what they are about: the place of the greatest depth."""
    j, own, axis = k + OVERLAP, PointData(data, k), axis_of(data, k, X_A, X_B)
    s = deepest(data, j, axis)
    lowest, nothing = place(data, j, axis, 0.0, s), Vec3(0.0, 0.0, 0.0)
    o = X_B.p + X_B.R @ lowest.p
    if not lowest.depth > 0.0:
        return nothing_pressed(lowest.depth), o
    chi, u = stiffened(data, k, axis.u), running(data, k, X_A, X_B)
    stiff = own.stiffness * chi.factor
    F, normal, pressure, first = Force(nothing, nothing), nothing, 0.0, nothing
    slope, energy, area, f_1, x_1, turning = 0.0, 0.0, 0.0, 0.0, nothing, 0.0
    for i in range(2):
        q = point(data, j, axis, 1.0 - 2.0 * i, s)
        if not q.depth > 0.0:
            continue
        n, p = X_B.R @ q.n, X_B.p + X_B.R @ q.p
        v, _ = relative(X_A, V_A, X_B, V_B, p)
        f_0 = q.share * power(q.depth, own.exponent)
        f_n, x = stiff * f_0 * share(1.0 - own.damping * (n @ v)), p - o
        f = f_n * n
        if rubs:
            rub, v = along(u, n), v + u.u
            glide = across(rub, v - (n @ v) * n)
            f = f - (own.mu * f_n / sqrt(glide @ glide + own.friction_speed * own.friction_speed)) * across(rub, glide)
        F = Force(F.n + cross(x, f), F.f + f)
        normal, pressure, first = normal + f_n * n, pressure + f_n, first + f_n * x
        slope, energy = slope + stiff * own.exponent * f_0 / q.depth, energy + f_0 * q.depth / axis.power
        area += q.share * q.depth * chi.area
        # ∫ |ρ| of both about their centre, times the whole force
        off = x - x_1
        turning, f_1, x_1 = 2.0 * f_1 * f_n * sqrt(off @ off), f_n, x
    # 2 (z_A · z_B) (dχ/dx) U/χ z_A × z_B
    couple = X_B.R @ cross(axis.u, Vec3(0.0, 0.0, 2.0 * axis.u.z * own.stiffness * chi.slope * energy))
    return Pressed(
        Force(F.n + couple, F.f), normal, pressure, first, second_moment(pressure, first, turning), area, lowest.depth,
        1.5 * pressure / area if area > 0.0 else 0.0, slope, NO_SPREAD, NO_SPREAD,
    ), o  # fmt: skip


@outlined
def towards(data, k, X_A, X_B):
    """n where the depth is greatest, in the world."""
    axis, j = axis_of(data, k, X_A, X_B), k + OVERLAP
    return X_B.R @ place(data, j, axis, 0.0, deepest(data, j, axis)).n
