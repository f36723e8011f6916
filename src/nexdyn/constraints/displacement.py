"""Displacement components DX, DY, DZ: C = u · d with the axis u of A.

Ċ = u̇ · d + u · ḋ:   g = (u × (d + s_A), −u, s_B × u, u)
Γ(V, V') = ü · d + u̇ · ḋ' + u̇' · ḋ + u · d̈
"""

from __future__ import annotations

from nexdyn.constraints.pair import PairVelocity, displacement_rate, displacement_second, twice
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import column, cross


@formula
def value(pair, i):
    return column(pair.R_A, i) @ pair.d


@formula
def gradient(pair, i):
    u = column(pair.R_A, i)
    return PairVelocity(cross(u, pair.d + pair.s_A), -u, cross(pair.s_B, u), u)


@formula
def second(pair, i, V, V_):
    u = column(pair.R_A, i)
    mixed = cross(V.w_a, u) @ displacement_rate(pair, V_) + cross(V_.w_a, u) @ displacement_rate(pair, V)
    return twice(V.w_a, V_.w_a, u) @ pair.d + mixed + u @ displacement_second(pair, V, V_)
