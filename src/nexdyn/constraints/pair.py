"""What a constraint primitive sees: two frames on two bodies, in world axes.

    A on body a, B on body b:  R_A, R_B rotations,  s_A, s_B from the bodies' origins to the frames' origins,
    d = p_B − p_A

A velocity of the pair is (ω_a, v_a, ω_b, v_b), all in world axes, v of the bodies' origins. With no accelerations

    u̇ = ω_a × u for an axis u of A,   ü = ω_a × (ω_a × u)
    ḋ = v_b + ω_b × s_B − v_a − ω_a × s_A,   d̈ = ω_b × (ω_b × s_B) − ω_a × (ω_a × s_A)

A primitive is C with its gradient g, Ċ = g · velocity, and its second derivative as a symmetric bilinear form Γ of two
velocities: C̈ = g · acceleration + Γ(V, V), hence γ = −Γ(V, V), and Γ of unit velocities is the matrix C_qq for
increments exp(φ) R, p + δ. The polarised second derivatives are

    ü(V, V') = ½ (ω_a × (ω_a' × u) + ω_a' × (ω_a × u)),   d̈(V, V') likewise
"""

from __future__ import annotations

from typing import NamedTuple

from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Mat3, Vec3, cross


class Pair(NamedTuple):
    """Frames A and B in world axes."""

    R_A: Mat3
    R_B: Mat3
    s_A: Vec3
    s_B: Vec3
    d: Vec3


class PairVelocity(NamedTuple):
    """Velocity of the two bodies in world axes; also a gradient, its dual."""

    w_a: Vec3
    v_a: Vec3
    w_b: Vec3
    v_b: Vec3


@formula
def twice(w, w_, u):
    """½ (ω × (ω' × u) + ω' × (ω × u)): the second derivative of a vector fixed in a body."""
    return 0.5 * (cross(w, cross(w_, u)) + cross(w_, cross(w, u)))


@formula
def displacement_rate(pair, V):
    """ḋ = v_b + ω_b × s_B − v_a − ω_a × s_A."""
    return V.v_b + cross(V.w_b, pair.s_B) - V.v_a - cross(V.w_a, pair.s_A)


@formula
def displacement_second(pair, V, V_):
    """d̈(V, V')."""
    return twice(V.w_b, V_.w_b, pair.s_B) - twice(V.w_a, V_.w_a, pair.s_A)
