"""Rolling on a plane of A, z = 0: a disk or a torus about z of B, a sphere, and the edge of a blade.

    n = z_A,  e = z_B,  u = n · e,  s = √(1 − u²);   m = (u e − n)/s from the disk's centre to its lowest point
    P = p_B + q,  q = r m − ρ n           the point of contact: r the radius of the circle, ρ that of the tube about it
    Contact = n · d − r s − ρ

With p_a, p_b from the bodies' origins to P, the two bodies slip on each other with

    w = v_b + ω_b × p_b − v_a − ω_a × p_a,   slip = t · w:   g = (−p_a × t, −t, p_b × t, t)

along t = e × n/s (Forward: where the disk goes when it turns about e), (e − u n)/s (Sideways), x_A, y_A (RollX, RollY of a
sphere, which is r = 0), and e at the origin of B (Edge: of a knife, or a wheel that is none). Along n it is the rate of
Contact. Where the point of contact goes, not its matter, is Ṗ = ṗ_B + q̇, and the rate of g along V gives

    Γ(V, V') = ṫ · w' + t · (ω_b' × ṗ_b − ω_a' × ṗ_a),   ṗ_b = ω_b × s_B + q̇,   ṗ_a = ḋ_B + q̇ − v_a

Slips have no position: their C is 0. A disk that lies flat has no lowest point.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from nexdyn.constraints.kinds import CONTACT, EDGE, FORWARD, ROLL_X, ROLL_Y, SIDEWAYS
from nexdyn.constraints.pair import PairVelocity
from nexdyn.kernel import formula
from nexdyn.records import Record
from nexdyn.spatial.algebra import Vec3, column, cross

FLAT = 1e-24


class Wheel(Record):
    """The radius of the circle and that of the tube about it [m]."""

    r: float
    rho: float


class Touch(NamedTuple):
    """How the two bodies touch: n, e, u, s, m, and the place of P from the bodies' origins."""

    n: Vec3
    e: Vec3
    u: float
    s: float
    m: Vec3
    p_a: Vec3
    p_b: Vec3


@formula
def touch(data, k, pair):
    n, e = column(pair.R_A, 2), column(pair.R_B, 2)
    u = n @ e
    s = math.sqrt(max(1.0 - u * u, FLAT))
    m = (1.0 / s) * (u * e - n)
    wheel = Wheel(data, k)
    q = wheel.r * m - wheel.rho * n
    return Touch(n, e, u, s, m, pair.s_A + pair.d + q, pair.s_B + q)


@formula
def slips_along(kind, pair, c):
    """t."""
    if kind == CONTACT:
        return c.n
    if kind == FORWARD:
        return (1.0 / c.s) * cross(c.e, c.n)
    if kind == SIDEWAYS:
        return (1.0 / c.s) * (c.e - c.u * c.n)
    if kind == ROLL_X:
        return column(pair.R_A, 0)
    if kind == ROLL_Y:
        return column(pair.R_A, 1)
    return c.e


@formula
def value(data, k, kind, pair):
    if kind != CONTACT:
        return 0.0
    n, e = column(pair.R_A, 2), column(pair.R_B, 2)
    u = n @ e
    return n @ pair.d - Wheel(data, k).r * math.sqrt(max(1.0 - u * u, FLAT))


@formula
def gradient(data, k, kind, pair):
    c = touch(data, k, pair)
    t = slips_along(kind, pair, c)
    return PairVelocity(-cross(c.p_a, t), -t, cross(c.p_b, t), t)


@formula
def rate_along(data, k, kind, pair, V, V_):
    """The rate of g along V, times V'."""
    c = touch(data, k, pair)
    t = slips_along(kind, pair, c)
    n_, e_ = cross(V.w_a, c.n), cross(V.w_b, c.e)
    u_ = n_ @ c.e + c.n @ e_
    s_ = -c.u * u_ / c.s
    m_ = (1.0 / c.s) * (u_ * c.e + c.u * e_ - n_ - s_ * c.m)
    wheel = Wheel(data, k)
    q_ = wheel.r * m_ - wheel.rho * n_
    if kind == CONTACT:
        t_ = n_
    elif kind == FORWARD:
        t_ = (1.0 / c.s) * (cross(e_, c.n) + cross(c.e, n_) - s_ * t)
    elif kind == SIDEWAYS:
        t_ = (1.0 / c.s) * (e_ - u_ * c.n - c.u * n_ - s_ * t)
    elif kind == EDGE:
        t_ = e_
    else:
        t_ = cross(V.w_a, t)
    arm = cross(V.w_b, pair.s_B)
    p_b, p_a = arm + q_, V.v_b + arm + q_ - V.v_a
    slip = V_.v_b + cross(V_.w_b, c.p_b) - V_.v_a - cross(V_.w_a, c.p_a)
    return t_ @ slip + t @ (cross(V_.w_b, p_b) - cross(V_.w_a, p_a))


@formula
def second(data, k, kind, pair, V, V_):
    """Γ(V, V'), symmetric."""
    return 0.5 * (rate_along(data, k, kind, pair, V, V_) + rate_along(data, k, kind, pair, V_, V))
