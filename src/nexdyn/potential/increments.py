"""Rotation increments: a body turns by the rotation vector θ within a step, in its axes at the start of the step.

    R(θ) = Rₙ exp θ = Rₙ (1 + a [θ]× + b [θ]×²),      a = sin θ/θ,  b = (1 − cos θ)/θ²
    world rotation of dθ:  A dθ,   A = Rₙ J_l(θ) = R J_r(θ),   J_l = 1 + b [θ]× + c [θ]×²,   c = (θ − sin θ)/θ³

An energy f of the orientation with covector n (its derivative for world rotations φ, exp(φ) R) and second derivative K
for the same has, along θ,

    gradient  Aᵀ n,     Hessian  Aᵀ K A + D,    aᵀ D a = g · (∂J_r/∂θ [a] a),   g = Rᵀ n
    D = c ((g·θ) 1 − ½ (g θᵀ + θ gᵀ)) + ½ (θ eᵀ + e θᵀ),   e = −b₂ g × θ + c₂ θ × (θ × g),   b₂ = b′/θ,  c₂ = c′/θ

(J_r = 1 − b [θ]× + c [θ]×², derivatives for θ.) θ lives in a vector space, so that Newton and line search are those of
one; A is regular for |θ| < 2π, that is below one turn a step.
"""

from __future__ import annotations

from typing import NamedTuple

from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Mat3, Sym3, cross
from nexdyn.spatial.lanes import cos, sin, sqrt

SERIES = 0.1
"""θ² below which the coefficients are summed as series, to full precision."""


class Coefficients(NamedTuple):
    """a, b, c, b₂, c₂ of a rotation vector."""

    a: float
    b: float
    c: float
    b2: float
    c2: float


@formula
def coefficients(theta):
    """a, b, c, b₂, c₂ of θ."""
    t = theta @ theta
    if t < SERIES:
        a = 1.0 - t * (
            1.0 / 6.0 - t * (1.0 / 120.0 - t * (1.0 / 5040.0 - t * (1.0 / 362880.0 - t * (1.0 / 39916800.0))))
        )
        b = 0.5 - t * (
            1.0 / 24.0 - t * (1.0 / 720.0 - t * (1.0 / 40320.0 - t * (1.0 / 3628800.0 - t * (1.0 / 479001600.0))))
        )
        c = 1.0 / 6.0 - t * (1.0 / 120.0 - t * (1.0 / 5040.0 - t * (1.0 / 362880.0 - t * (1.0 / 39916800.0))))
        b2 = -1.0 / 12.0 + t * (1.0 / 180.0 - t * (1.0 / 6720.0 - t * (1.0 / 453600.0 - t * (1.0 / 47900160.0))))
        c2 = -1.0 / 60.0 + t * (1.0 / 1260.0 - t * (1.0 / 60480.0 - t * (1.0 / 4989600.0 - t * (1.0 / 622702080.0))))
        return Coefficients(a, b, c, b2, c2)
    x = sqrt(t)
    s, k = sin(x), 1.0 / t
    u = 1.0 - cos(x)
    b, c = u * k, (x - s) * k / x
    return Coefficients(s / x, b, c, (s / x - 2.0 * b) * k, (b - 3.0 * c) * k)


@formula
def series_matrix(theta, p, q):
    """1 + p [θ]× + q [θ]×²."""
    x, y, z = theta.x, theta.y, theta.z
    qx, qy, qz = q * x, q * y, q * z
    xy, xz, yz = qx * y, qx * z, qy * z
    xx, yy, zz = qx * x, qy * y, qz * z
    px, py, pz = p * x, p * y, p * z
    return Mat3(1.0 - yy - zz, xy - pz, xz + py, xy + pz, 1.0 - xx - zz, yz - px, xz - py, yz + px, 1.0 - xx - yy)


@formula
def chart_curvature(theta, g, k):
    """D of the covector g in the body's axes."""
    e = -k.b2 * cross(g, theta) + k.c2 * cross(theta, cross(theta, g))
    # ½ (θ pᵀ + p θᵀ) with p = e − c g
    p = 0.5 * (e - k.c * g)
    d = k.c * (g @ theta)
    return Sym3(
        d + 2.0 * theta.x * p.x, theta.x * p.y + theta.y * p.x, theta.x * p.z + theta.z * p.x,
        d + 2.0 * theta.y * p.y, theta.y * p.z + theta.z * p.y,
        d + 2.0 * theta.z * p.z,
    )  # fmt: skip
