"""Bodies thin about an axis: the inertia of a rod, which is that of its axis, and what remains.

    I = J (1 − e eᵀ) + I_r,     u = R e,     J the mean of the two large principal moments
    E = ½ J |u − û|² + ½ (θ − θ_p)ᵀ I_r (θ − θ_p) + g · (θ − θ_p)
    for world rotations: gradient J u × (u − û),   second derivative J ((u · û) 1 − ½ (u ûᵀ + û uᵀ))

The rotation vector of ``inertia`` takes ½ θ₁ θ⊥ of a turn θ₁ about e into that of the axis. Where I keeps θ₁ near θ̂₁ this is of
no account; of a thin body the joints decide θ₁, and it would push the axis, by as much at any step. u knows nothing of θ₁.

û is where the axis goes by itself, all in the axes of the body at the start of the step:

    implicit Euler   û along its great circle, by dt u̇ₙ;   u̇ along that from uₙ to u             a free rod keeps |u̇|
    BDF2             û = ũ + dt̃ (4 u̇ₙ − u̇ₙ₋₁)/3,  ũ = (4 uₙ − uₙ₋₁)/3;   u̇ = (u − ũ)/dt̃ across u

ω is e × u̇ and what the rotation vector says about e. g, with which E of the rest has the gradient of Euler's equations at a
predicted θ_p, is as in ``inertia``: all of it is of the size of I_r, and vanishes with it.
"""

from __future__ import annotations

import math

from nexdyn.kernel import formula
from nexdyn.potential.increments import coefficients, series_matrix
from nexdyn.potential.tables import ThinBodies
from nexdyn.spatial.algebra import Sym3, T, cross

NO_ANGLE = 1e-150


@formula
def axis(model, i):
    """(J, e) of body i; J = 0 of one that is not thin."""
    thin = ThinBodies(model.rods)[i]
    return thin.J, thin.e


@formula
def shift(theta, e):
    """exp(θ) e − e."""
    k, n = coefficients(theta), cross(theta, e)
    return k.a * n + k.b * cross(theta, n)


@formula
def across(w, e):
    """The part of w across e."""
    return w - (w @ e) * e


@formula
def goal(e, w, dt):
    """û − e of implicit Euler."""
    return shift(dt * across(w, e), e)


@formula
def goal_bdf2(e, moved, w, w_before, dt):
    """û − e of BDF2; moved: θ of the step before, in which w_before was the rate at its start; dt = dt̃."""
    k, third = coefficients(moved), 1.0 / 3.0
    back = T(series_matrix(moved, k.a, k.b))
    return -third * shift(-moved, e) + (dt * third) * (4.0 * cross(w, e) - back @ cross(w_before, e))


@formula
def value(J, e, theta, to):
    """(½ J |u − û|², the size of what rounding leaves of it); to = û − e."""
    s = shift(theta, e)
    d = s - to
    E = 0.5 * J * (d @ d)
    return E, E + J * (d @ d * (s @ s)) ** 0.5


@formula
def covector(J, e, theta, to):
    """J u × (u − û), axes of the start of the step."""
    s = shift(theta, e)
    return J * cross(e + s, s - to)


@formula
def curvature(J, e, theta, to, curved):
    """Second derivative for world rotations, axes of the start of the step; not `curved`: J (1 − u uᵀ)."""
    u = e + shift(theta, e)
    g = J * (e + to) if curved else J * u
    d = u @ g
    return Sym3(
        d - u.x * g.x, -0.5 * (u.x * g.y + g.x * u.y), -0.5 * (u.x * g.z + g.x * u.z),
        d - u.y * g.y, -0.5 * (u.y * g.z + g.y * u.z),
        d - u.z * g.z,
    )  # fmt: skip


@formula
def rate(e, theta, dt):
    """ω across e at the end of a step of implicit Euler, in the axes there."""
    s = -shift(-theta, e)  # u − uₙ
    n = cross(e, s)  # axis × sin φ
    size = (n @ n) ** 0.5
    angle = math.atan2(size, 1.0 - s @ e)
    return (angle / size / dt if size > NO_ANGLE else 1.0 / dt) * n


@formula
def rate_bdf2(e, theta, moved, dt):
    """ω across e at the end of a step of BDF2; moved: θ of the step before, dt = dt̃."""
    k, third = coefficients(theta), 1.0 / 3.0
    end = T(series_matrix(theta, k.a, k.b))
    return (1.0 / dt) * cross(e, third * (end @ shift(-moved, e)) - shift(-theta, e))
