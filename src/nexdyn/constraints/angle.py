"""Angle about A's z from A's x to B's x: C = θ = atan2(x_B · y_A, x_B · x_A), within ±π of a given reference θ₀.

With s = x_B · y_A and c = x_B · x_A, r² = s² + c²:

    Ċ = (c ṡ − s ċ)/r²
    Γ(V, V') = (c s̈ − s c̈)/r² + ((s² − c²)(ṡ ċ' + ċ ṡ') + 2 s c (ċ ċ' − ṡ ṡ'))/r⁴

where ṡ, ċ, s̈, c̈ are those of the direction products. θ counts full turns from its reference, so that a driver may
turn a joint many times.
"""

from __future__ import annotations

from nexdyn.constraints import direction
from nexdyn.constraints.pair import PairVelocity
from nexdyn.kernel import formula
from nexdyn.spatial.lanes import atan2
from nexdyn.spatial.turns import near


@formula
def value(pair, reference):
    return near(atan2(direction.value(pair, 1, 0), direction.value(pair, 0, 0)), reference)


@formula
def gradient(pair):
    s, c = direction.value(pair, 1, 0), direction.value(pair, 0, 0)
    g_s, g_c = direction.gradient(pair, 1, 0), direction.gradient(pair, 0, 0)
    k = 1.0 / (s * s + c * c)
    w = (c * k) * g_s.w_a - (s * k) * g_c.w_a
    return PairVelocity(w, g_s.v_a, -w, g_s.v_b)


@formula
def second(pair, V, V_):
    s, c = direction.value(pair, 1, 0), direction.value(pair, 0, 0)
    g_s, g_c = direction.gradient(pair, 1, 0), direction.gradient(pair, 0, 0)
    k = 1.0 / (s * s + c * c)
    ds, dc = g_s.w_a @ V.w_a + g_s.w_b @ V.w_b, g_c.w_a @ V.w_a + g_c.w_b @ V.w_b
    ds_, dc_ = g_s.w_a @ V_.w_a + g_s.w_b @ V_.w_b, g_c.w_a @ V_.w_a + g_c.w_b @ V_.w_b
    straight = c * direction.second(pair, 1, 0, V, V_) - s * direction.second(pair, 0, 0, V, V_)
    curved = (s * s - c * c) * (ds * dc_ + dc * ds_) + 2.0 * s * c * (dc * dc_ - ds * ds_)
    return k * straight + (k * k) * curved
