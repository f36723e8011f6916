"""Direction products DotIJ: C = u · w with axis u of A and axis w of B.

Ċ = ω_a · (u × w) + ω_b · (w × u):   g = (u × w, 0, w × u, 0)
Γ(V, V') = ü · w + u̇ · ẇ' + u̇' · ẇ + u · ẅ
"""

from __future__ import annotations

from nexdyn.constraints.pair import PairVelocity, twice
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Vec3, column, cross
from nexdyn.spatial.lanes import zero


@formula
def value(pair, i, j):
    return column(pair.R_A, i) @ column(pair.R_B, j)


@formula
def gradient(pair, i, j):
    n = cross(column(pair.R_A, i), column(pair.R_B, j))
    o = zero(n.x)
    return PairVelocity(n, Vec3(o, o, o), -n, Vec3(o, o, o))


@formula
def second(pair, i, j, V, V_):
    u, w = column(pair.R_A, i), column(pair.R_B, j)
    mixed = cross(V.w_a, u) @ cross(V_.w_b, w) + cross(V_.w_a, u) @ cross(V.w_b, w)
    return twice(V.w_a, V_.w_a, u) @ w + mixed + u @ twice(V.w_b, V_.w_b, w)
