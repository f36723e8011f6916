"""Distance: C = |d|, of the frames' origins; n = d/|d|.

    Ċ = n · ḋ:   g = (n × s_A, −n, s_B × n, n)
    Γ(V, V') = (ḋ · ḋ' − (n · ḋ)(n · ḋ'))/|d| + n · d̈

Where the two origins coincide there is no direction; the distance is then taken along A's x.
"""

from __future__ import annotations

from nexdyn.constraints.pair import PairVelocity, column, displacement_rate, displacement_second
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Vec3, cross
from nexdyn.spatial.lanes import if_less, sqrt, zero

TINY = 1e-24


@formula
def _length(d):  # type: ignore[no-untyped-def]
    squared = d @ d
    return sqrt(if_less(squared, TINY, zero(squared) + TINY, squared))


@formula
def value(pair):  # type: ignore[no-untyped-def]
    return sqrt(pair.d @ pair.d)


@formula
def _direction(pair):  # type: ignore[no-untyped-def]
    squared, d, x = pair.d @ pair.d, pair.d, column(pair.R_A, 0)
    s = 1.0 / _length(d)
    return Vec3(
        if_less(squared, TINY, x.x, s * d.x), if_less(squared, TINY, x.y, s * d.y), if_less(squared, TINY, x.z, s * d.z)
    )


@formula
def gradient(pair):  # type: ignore[no-untyped-def]
    n = _direction(pair)
    return PairVelocity(cross(n, pair.s_A), -n, cross(pair.s_B, n), n)


@formula
def second(pair, V, V_):  # type: ignore[no-untyped-def]
    n, rate, rate_ = _direction(pair), displacement_rate(pair, V), displacement_rate(pair, V_)
    across = rate @ rate_ - (n @ rate) * (n @ rate_)
    return (1.0 / _length(pair.d)) * across + n @ displacement_second(pair, V, V_)
