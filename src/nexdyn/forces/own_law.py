"""A normal force of the user's, for contacts at points: a function of the penetration and its rate, called inside the compiled loop.

    f_n = max(0, f(δ, δ̇))   where δ > 0, else 0                                 it never pulls
    U = ∫ f_n(s, 0) ds,   0 ≤ s ≤ δ
    in a step of ``potential``   E = dt² ∫ f_n(s, (s − δ̃)/dt) ds,   0 ≤ s ≤ δ

Integrals are those of Gauss and Legendre with eight points in x, s = δ x²: exact for powers of √s up to s⁶, so for Hertz's and for linear
laws. Slopes are differences over a part of δ, and of a speed with which δ would pass in a second, or of the rate at hand.

Data: in place of k the address of the function, in place of e 0 (``contact``). Lanes have none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nexdyn.kernel import formula, outlined, overloaded
from nexdyn.model.callbacks import call
from nexdyn.spatial.lanes import pack, zero

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
NODES = tuple((0.25 * (1.0 + _NODES) ** 2).tolist())
"""x² of the nodes in 0 ≤ x ≤ 1."""
WEIGHTS = tuple((0.5 * _WEIGHTS * (1.0 + _NODES)).tolist())
"""2 x times their weights."""
OWN = 0.0
"""In place of e."""
LEAST, MOST = 1e-15, 1e3
"""Depths [m] between which that is looked for which carries a load."""
DIFFERENCE = 1e-6
"""The part of a depth or of a rate over which differences are taken."""


@outlined
def own_force(address, depth, rate):
    """f_n; NaN where the function fails or gives no number."""
    if not depth > 0.0:
        return 0.0 * depth
    status, out = call(address, 0.0, (depth, rate), (math.nan,))
    if status != 0:
        return math.nan
    return 0.0 if out[0] < 0.0 else out[0]


@formula
def own_slope(address, depth, rate):
    """∂f_n/∂δ, not less than 0."""
    if not depth > 0.0:
        return 0.0
    h = DIFFERENCE * depth
    slope = (own_force(address, depth + h, rate) - own_force(address, depth - h, rate)) / (2.0 * h)
    return 0.0 if slope < 0.0 else slope


@formula
def own_hold(address, depth, f_n):
    """What the stiffness of friction is a part of: the slope at rest, or f_n/δ where that is more, as of a law that does not grow."""
    if not depth > 0.0:
        return 0.0
    return max(own_slope(address, depth, 0.0), f_n / depth)


@formula
def own_damping(address, depth, rate):
    """∂f_n/∂δ̇, not less than 0."""
    if not depth > 0.0:
        return 0.0
    h = DIFFERENCE * max(depth, abs(rate))
    slope = (own_force(address, depth, rate + h) - own_force(address, depth, rate - h)) / (2.0 * h)
    return 0.0 if slope < 0.0 else slope


@formula
def own_work(address, depth, past, per_time):
    """∫ f_n(s, (s − past) · per_time) ds, 0 ≤ s ≤ δ."""
    if not depth > 0.0:
        return 0.0
    W = 0.0
    for i in range(len(NODES)):
        s = depth * NODES[i]
        W += WEIGHTS[i] * own_force(address, s, (s - past) * per_time)
    return depth * W


def own_slope_at(law: Callable[[float, float], float], depth: float, load: float) -> float:
    """df_n/dδ at rest, at a depth, or at that which carries a load where this is deeper; called from Python. 0 where the law raises or
    gives no number: the run stops with an error when the motion comes there."""
    try:
        slope = _slope_at(law, depth, load)
    except Exception:
        return 0.0
    return slope if slope > 0.0 else 0.0


def _slope_at(law: Callable[[float, float], float], depth: float, load: float) -> float:
    if load > 0.0 and not law(max(depth, LEAST), 0.0) >= load:
        low = high = max(depth, LEAST)
        while not law(high, 0.0) >= load and high < MOST:
            low, high = high, 2.0 * high
        while high - low > DIFFERENCE * high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if law(middle, 0.0) >= load else (middle, high)
        depth = high
    if not depth > 0.0:
        return 0.0
    h = DIFFERENCE * depth
    return float(law(depth + h, 0.0) - law(depth - h, 0.0)) / (2.0 * h)


def force_of(address: Any, depth: Any, rate: Any) -> Any:
    """f_n; of lanes, which have no law of the user's, NaN."""
    return own_force(address, depth, rate)


@overloaded(force_of)
def _force_of(address, depth, rate):
    if depth is pack:
        return lambda address, depth, rate: zero(depth) + math.nan
    return lambda address, depth, rate: own_force(address, depth, rate)


def hold_of(address: Any, depth: Any, f_n: Any) -> Any:
    """What the stiffness of friction is a part of; of lanes, which have no law of the user's, NaN."""
    return own_hold(address, depth, f_n)


@overloaded(hold_of)
def _hold_of(address, depth, f_n):
    if depth is pack:
        return lambda address, depth, f_n: zero(depth) + math.nan
    return lambda address, depth, f_n: own_hold(address, depth, f_n)


def energy_of(address: Any, depth: Any) -> Any:
    """U; of lanes, which have no law of the user's, NaN."""
    return own_work(address, depth, 0.0, 0.0)


@overloaded(energy_of)
def _energy_of(address, depth):
    if depth is pack:
        return lambda address, depth: zero(depth) + math.nan
    return lambda address, depth: own_work(address, depth, 0.0, 0.0)
