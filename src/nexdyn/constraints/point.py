"""What depends on where B's origin is in A:  C = F(x),  x = R_Aᵀ d.

ẋ = R_Aᵀ (ḋ − ω_a × d)
ẍ(V, V') = R_Aᵀ (d̈(V, V') − ω_a × ḋ' − ω_a' × ḋ + d̈_A(V, V')),   d̈_A that of d as if fixed in A
Ċ = ∇F · ẋ:   with u = R_A ∇F   g = (u × (d + s_A), −u, s_B × u, u)
Γ(V, V') = ∇F · ẍ(V, V') + ẋ · F″ ẋ'
"""

from __future__ import annotations

from nexdyn.constraints.pair import PairVelocity, displacement_rate, displacement_second, twice
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import T, cross


@formula
def place(pair):
    """x."""
    return T(pair.R_A) @ pair.d


@formula
def rate(pair, V):
    """ẋ."""
    return T(pair.R_A) @ (displacement_rate(pair, V) - cross(V.w_a, pair.d))


@formula
def second_rate(pair, V, V_):
    """ẍ(V, V')."""
    across = cross(V.w_a, displacement_rate(pair, V_)) + cross(V_.w_a, displacement_rate(pair, V))
    return T(pair.R_A) @ (displacement_second(pair, V, V_) - across + twice(V.w_a, V_.w_a, pair.d))


@formula
def gradient(pair, slope):
    """g of a function whose ∇F at x is `slope`."""
    u = pair.R_A @ slope
    return PairVelocity(cross(u, pair.d + pair.s_A), -u, cross(pair.s_B, u), u)
