"""A sphere of one body and a solid of another: how deep it is, and what presses it out.

    φ(c)     signed distance of the centre c from the surface of B, less than 0 inside      n = ∇φ       δ = r − φ
    foot     x = c − φ n, on the surface of B, where the force acts; of two spheres it acts midway, at c − (φ + ½ δ) n

    at a point            f = k δᵉ                                                 U = k δᵉ⁺¹/(e + 1)
    over an area, B flat  f = k (w_B π δ² (r − δ/3) + w_A π (r δ² − ⅔ δ³))         U = k (w_B π (r δ³/3 − δ⁴/12) + w_A π (r δ³/3 − δ⁴/6))

Over an area the first part is that of the sphere's surface in the depths of B, k times the volume under the plane (Archimedes); the
second that of the plane's disc in the depths of the sphere, r less the distance from c (``overlap`` has w_A and w_B). Beyond an edge of
B it is as if its face went on. Of two spheres, with u the depth in B of a ring of the surface of A and s = R − u its distance from the
centre of B,

    f = 2 π k r/d ∫ u s cos θ du,   cos θ = (r² + d² − s²)/(2 r d),   0 ≤ u ≤ δ = r + R − d         and the other way round

in powers of u, for differences of large numbers would round where δ is small against r. Deeper than the smaller radius f stays as it is.
Of a plane, its disc presses less again where it has passed the centre.
What is held against turning is that of the pressure 1 − ρ²/a² over the disc of contact, 8/15 μ f a, a² = 2 r δ − δ² (for two
spheres with 1/r the sum of both curvatures), to the order of δ/r.

φ is a closed form but for a hull: inside it is that of the nearest face, and outside all triangles are looked at. Inside a solid the
nearest face counts: where the centre of the sphere goes that deep, n jumps where another face becomes the nearest.

Data from OVERLAP on: `SolidData`, then the faces (n, o), the corners of the triangles.
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

from nexdyn.forces.contact_data import OF_BALL, Parts, PointData
from nexdyn.forces.own_law import OWN, own_damping, own_force, own_slope, own_work
from nexdyn.geometry.kinds import nearest
from nexdyn.geometry.simplex import on_triangle
from nexdyn.geometry.solid import HULL, POINT, Solid
from nexdyn.kernel import formula, outlined
from nexdyn.records import Record
from nexdyn.spatial.algebra import Vec3, vector_at
from nexdyn.spatial.lanes import power, sqrt

HELD_TURNING = 8.0 / 15.0
"""What is held against turning, as a part of μ f a."""


class SolidData(Record):
    """w_A, w_B (both 0: at a point), what tells it, the kind of B (``geometry.solid``), its three sizes and margin, the numbers of
    triangles and of faces."""

    part_a: float
    part_b: float
    form: float
    kind: float
    size: Vec3
    margin: float
    triangles: float
    faces: float


FIRST_FACE = SolidData.columns


class Law(NamedTuple):
    """Force at rest, its slope, what of it friction's stiffness is a part of (the slope, or f/δ where that is more), energy, the area that
    presses, the largest depth of it, and the radius of what holds against turning."""

    f: float
    slope: float
    hold: float
    energy: float
    area: float
    peak: float
    turning: float


@formula
def is_ball(data, j):
    """Whether the data of ``overlap`` from j on are those of a sphere and a solid."""
    return Parts(data, j).form == OF_BALL


@outlined
def of_hull(data, j, faces, triangles, x):
    """Signed distance of x from a hull, and its normal, from the faces from j on, and the triangles of its surface behind them."""
    inside, n = -1e300, Vec3(0.0, 0.0, 1.0)
    for i in range(j, j + 4 * faces, 4):
        above = vector_at(data, i) @ x - data[i + 3]
        if above > inside:
            inside, n = above, vector_at(data, i)
    if not inside > 0.0:
        return inside, n
    least, r, first = 1e300, n, j + 4 * faces
    for i in range(first, first + 9 * triangles, 9):
        p, q, s = vector_at(data, i), vector_at(data, i + 3), vector_at(data, i + 6)
        square, u, v, w = on_triangle(p - x, q - x, s - x)
        if square < least:
            least, r = square, x - (u * p + v * q + w * s)
    if not least > 0.0:
        return inside, n
    d = sqrt(least)
    return d, (1.0 / d) * r


@formula
def distance(data, j, x):
    """φ and n at x, both in the frame of the solid."""
    of_b = SolidData(data, j)
    kind = int(of_b.kind)
    if kind == HULL:
        return of_hull(data, j + FIRST_FACE, int(of_b.faces), int(of_b.triangles), x)
    solid = Solid(kind, of_b.size, of_b.margin, 0.0, 0, 0, 0, 0)
    d, n = nearest(solid, 0, x)
    return d - of_b.margin, n


@formula
def cap(r, other, d, depth):
    """∫ over the surface of a sphere of radius r in the depths of another, centres d apart: force, slope by −d, energy, of k = 1.

    f = π/d² ∫ u (R − u) (r² + d² − (R − u)²) du,   r² + d² − (R − u)² = (r² + d² − R²) + 2 R u − u²"""
    R, h = other, depth
    g = r * r + d * d - R * R
    # u (R − u)(g + 2 R u − u²) = R g u + (2 R² − g) u² − 3 R u³ + u⁴
    I = h * h * (0.5 * R * g + h * ((2.0 * R * R - g) / 3.0 + h * (-0.75 * R + 0.2 * h)))
    # dI/dd: the end moves by −1, g by 2 d
    end = h * (R - h) * (g + h * (2.0 * R - h))
    rate = -end + 2.0 * d * h * h * (0.5 * R - h / 3.0)
    f = pi * I / (d * d)
    return f, -pi * (rate - 2.0 * I / d) / (d * d)


@formula
def lens_energy(r, other, d, depth):
    """∫ of the depth in a sphere of radius R = `other` over what it has in common with one of radius r.

    Shells of depth u, s = R − u, of which the part (r² − (d − s)²)/(4 d s) lies in the other: r² − (d − s)² = (h − u)(2 r − h + u)
    ∫ u π s/d (h − u)(2 r − h + u) du, 0 ≤ u ≤ h"""
    R, h, p = other, depth, 2.0 * r - depth
    # u (R − u)(h − u)(p + u) = u (R − u)(h p + (h − p) u − u²)
    #                         = R h p u + (R (h − p) − h p) u² − (R + h − p) u³ + u⁴
    I = h * h * (0.5 * R * h * p + h * ((R * (h - p) - h * p) / 3.0 + h * (-0.25 * (R + h - p) + 0.2 * h)))
    return pi * I / d


@formula
def law_over_area(data, k, j, depth):
    """The law by foundations, depth > 0."""
    own, of_b = PointData(data, k), SolidData(data, j)
    r, w_A, w_B, stiff = own.radius, of_b.part_a, of_b.part_b, own.stiffness
    if int(of_b.kind) == POINT:
        R = of_b.margin
        h = min(depth, min(r, R))
        d = r + R - h
        f_B, slope_B = cap(r, R, d, h)
        f_A, slope_A = cap(R, r, d, h)
        U = w_B * lens_energy(r, R, d, h) + w_A * lens_energy(R, r, d, h)
        if depth > h:
            U, slope_A, slope_B = U + (w_A * f_A + w_B * f_B) * (depth - h), 0.0, 0.0
        # height of the cap that each has in the other
        z_A, z_B = h * (2.0 * R - h) / (2.0 * d), h * (2.0 * r - h) / (2.0 * d)
        area = 2.0 * pi * (w_B * r * z_A + w_A * R * z_B)
        square = z_A * (2.0 * r - z_A)
    else:
        h = min(depth, 2.0 * r)
        square = h * (2.0 * r - h)
        f_B, slope_B = pi * h * h * (r - h / 3.0), pi * square
        # of the plane's disc, the same as far above the centre as below it
        i = h if h < r else 2.0 * r - h
        f_A, slope_A = pi * i * i * (r - 2.0 / 3.0 * i), 2.0 * pi * h * (r - h) if h < r else -2.0 * pi * i * (r - i)
        U_A = pi * i * i * i * (r - 0.5 * i) / 3.0
        U_A = U_A if h < r else pi * r * r * r * r / 3.0 - U_A
        U = w_A * U_A + w_B * (pi * h * h * h * (r - 0.25 * h) / 3.0 + 4.0 / 3.0 * pi * r * r * r * (depth - h))
        area = pi * (w_B * 2.0 * r * h + w_A * square)
    f, slope = w_B * f_B + w_A * f_A, w_B * slope_B + w_A * slope_A
    return Law(
        stiff * f, stiff * slope, stiff * max(slope, f / depth), stiff * U, area, stiff * h, HELD_TURNING * sqrt(square)
    )


@formula
def law_of(data, k, j, depth):
    """The law of a sphere, whose data begin at k, and those of its solid at j."""
    if not depth > 0.0:
        return Law(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    own, parts = PointData(data, k), Parts(data, j)
    if parts.a + parts.b > 0.0:
        return law_over_area(data, k, j, depth)
    e = own.exponent
    if e == OWN:
        slope = own_slope(own.stiffness, depth, 0.0)
        U = own_work(own.stiffness, depth, 0.0, 0.0)
        f = own_force(own.stiffness, depth, 0.0)
        return Law(f, slope, max(slope, f / depth), U, 0.0, 0.0, 0.0)
    f = own.stiffness * power(depth, e)
    return Law(f, e * f / depth, e * f / depth, f * depth / (e + 1.0), 0.0, 0.0, 0.0)


@formula
def pressing(data, k, law, depth, rate):
    """f_n at the rate of the penetration."""
    own = PointData(data, k)
    if own.exponent == OWN:
        return own_force(own.stiffness, depth, rate)
    grip = 1.0 + own.damping * rate
    return (0.0 if grip < 0.0 else grip) * law.f


@formula
def hold(data, k, law, f_n, depth):
    """What the stiffness of friction is a part of, at the normal force f_n."""
    return max(law.hold, f_n / depth) if PointData(data, k).exponent == OWN and depth > 0.0 else law.hold


@formula
def slopes(data, k, law, f_n, depth, rate):
    """∂f_n/∂δ and ∂f_n/∂δ̇ where f_n > 0."""
    own = PointData(data, k)
    if own.exponent == OWN:
        return own_slope(own.stiffness, depth, rate), own_damping(own.stiffness, depth, rate)
    return max(law.slope, 0.0) * (f_n / law.f), own.damping * law.f
