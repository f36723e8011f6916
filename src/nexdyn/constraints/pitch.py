"""Pitch, the second of the angles yaw, pitch, roll: C = θ = −asin(z_A · x_B), within ±π/2.

    A to B:  R = Rz(ψ) Ry(θ) Rx(φ),   z_A · x_B = −sin θ

With s = −z_A · x_B and r = cos θ = √(1 − s²):

    Ċ = ṡ/r
    Γ(V, V') = s̈/r + s ṡ ṡ'/r³

where ṡ, s̈ are those of the direction product. Yaw and roll are angles (`constraints.angle`): about z of A from x_A to x_B, and about
x of B from z_A to z_B. At θ = ±π/2 yaw and roll turn about one axis and the gradient grows without bound; r is kept above `LEAST`.
"""

from __future__ import annotations

from nexdyn.constraints import direction
from nexdyn.constraints.pair import PairVelocity
from nexdyn.kernel import formula
from nexdyn.spatial.lanes import atan2, greater, sqrt, zero

LEAST = 1e-12
"""cos θ below which the pitch is ±π/2."""


@formula
def _cosine(s):
    return sqrt(greater(1.0 - s * s, zero(s) + LEAST * LEAST))


@formula
def value(pair):
    s = -direction.value(pair, 2, 0)
    return atan2(s, _cosine(s))


@formula
def gradient(pair):
    k = -1.0 / _cosine(direction.value(pair, 2, 0))
    g = direction.gradient(pair, 2, 0)
    w = k * g.w_a
    return PairVelocity(w, g.v_a, -w, g.v_b)


@formula
def second(pair, V, V_):
    s = -direction.value(pair, 2, 0)
    g = direction.gradient(pair, 2, 0)
    ds, ds_ = -(g.w_a @ V.w_a + g.w_b @ V.w_b), -(g.w_a @ V_.w_a + g.w_b @ V_.w_b)
    k = 1.0 / _cosine(s)
    return -k * direction.second(pair, 2, 0, V, V_) + (k * k * k) * s * ds * ds_
