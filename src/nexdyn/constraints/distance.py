"""Distance: C = |d|, of the frames' origins; n = d/|d|.

    Ċ = n · ḋ:   g = (n × s_A, −n, s_B × n, n)
    Γ(V, V') = (ḋ · ḋ' − (n · ḋ)(n · ḋ'))/|d| + n · d̈

Where the two origins coincide there is no direction; the distance is then taken along A's x.
"""

from __future__ import annotations

from nexdyn.constraints.pair import PairVelocity, displacement_rate, displacement_second
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Vec3, column, cross
from nexdyn.spatial.lanes import if_less, sqrt

ROUNDED, NOTHING = 1e-24, 1e-300
"""|d|² as a part of the squares of the two arms, and alone, below which the origins coincide."""


@formula
def _rounded(pair):
    return ROUNDED * (pair.s_A @ pair.s_A + pair.s_B @ pair.s_B) + NOTHING


@formula
def _length(pair):
    squared, rounded = pair.d @ pair.d, _rounded(pair)
    return sqrt(if_less(squared, rounded, rounded, squared))


@formula
def value(pair):
    return sqrt(pair.d @ pair.d)


@formula
def _direction(pair):
    squared, rounded, d, x = pair.d @ pair.d, _rounded(pair), pair.d, column(pair.R_A, 0)
    s = 1.0 / _length(pair)
    return Vec3(
        if_less(squared, rounded, x.x, s * d.x),
        if_less(squared, rounded, x.y, s * d.y),
        if_less(squared, rounded, x.z, s * d.z),
    )


@formula
def gradient(pair):
    n = _direction(pair)
    return PairVelocity(cross(n, pair.s_A), -n, cross(pair.s_B, n), n)


@formula
def second(pair, V, V_):
    n, rate, rate_ = _direction(pair), displacement_rate(pair, V), displacement_rate(pair, V_)
    across = rate @ rate_ - (n @ rate) * (n @ rate_)
    return (1.0 / _length(pair)) * across + n @ displacement_second(pair, V, V_)
