"""States of users' forces: ż = f(t, motion, z). Implicit steps and equilibria solve for z.

    between A and B   f(t, A, B, z, out, rate)    fills out (6) and rate (k)
    in a joint        τ = f(t, q, v, z, rate)     fills rate (k)

    a z − c − g ż(z) = 0          a = 1: an implicit step, z = c + g ż;   a = 0, c = 0, g = −1: at rest, ż = 0
    Newton's iteration with slopes by differences:   (a 1 − g ∂ż/∂z) Δz = −(a z − c − g ż),   by elimination with pivots

A difference is over a part of the size of the state, the given one or the present one, whichever is larger, since a rate may be a small
difference of large numbers. Where the equation already holds, no slopes are taken: at rest, a state whose rate is always 0 keeps its value.
Explicit methods need only ż. Where the iteration does not converge, z becomes NaN, and the force reports it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from nexdyn.forces.kinds import USER, USER_JOINT
from nexdyn.forces.tables import FIRST, KIND, MOST_STATES, STATE, STATES
from nexdyn.forces.verbs import force_element, freedom_element
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.spatial.algebra import Motion, Pose

RESIDUAL, SLOPED, GIVEN, CHANGE = range(MOST_STATES, MOST_STATES + 4)
SLOPE = CHANGE + 1
"""Columns of `newton` behind the matrix: what is left, ż where slopes are taken, c, Δz; and ∂ż/∂z as last taken, NaN where not at all."""
ITERATIONS, NUDGE, ENOUGH, CLOSE = 40, 1e-7, 1e-14, 1e-9
LITTLE = 1e-6
"""Part of the size of a state that its changes are compared with at least, for states near 0."""
SLOWER = 0.1
"""Ratio of a change to the one before it, below which the iteration still converges."""


class InJoint(NamedTuple):
    """Coordinate and velocity of a freedom."""

    q: float
    v: float


class Between(NamedTuple):
    """Poses and velocities of the frames A and B."""

    A: Pose
    V_A: Motion
    B: Pose
    V_B: Motion


rates_at = generic("rates_at", "ż of force e into `rate`.")


@defines(rates_at)
def _(tables: Any, e: Any, t: Any, where: InJoint) -> Any:
    return freedom_element(tables, e, t, where.q, where.v)[0]


@defines(rates_at)
def _(tables: Any, e: Any, t: Any, where: Between) -> Any:
    return force_element(tables, e, t, where.A, where.V_A, where.B, where.V_B)[0]


@formula
def of_user(tables, e):
    """How many states force e has, if it is a user's."""
    kind = tables.index[e, KIND]
    return tables.index[e, STATES] if kind == USER or kind == USER_JOINT else 0


@formula
def eliminate(W, n):
    """Δz ← −W⁻¹ r; whether there is one. W is used up."""
    for i in range(n):
        W[i, CHANGE] = -W[i, RESIDUAL]
    for j in range(n):
        p = j
        for i in range(j + 1, n):
            if abs(W[i, j]) > abs(W[p, j]):
                p = i
        if not abs(W[p, j]) > 0.0:
            return False
        for m in range(n):
            W[j, m], W[p, m] = W[p, m], W[j, m]
        W[j, CHANGE], W[p, CHANGE] = W[p, CHANGE], W[j, CHANGE]
        for i in range(j + 1, n):
            f = W[i, j] / W[j, j]
            for m in range(j, n):
                W[i, m] -= f * W[j, m]
            W[i, CHANGE] -= f * W[j, CHANGE]
    for r in range(n):
        j = n - 1 - r
        x = W[j, CHANGE]
        for m in range(j + 1, n):
            x -= W[j, m] * W[m, CHANGE]
        W[j, CHANGE] = x / W[j, j]
    return True


@kernel
@outlined
def solve_states(tables, e, t, where, a, g):
    """z of force e with a z − c − g ż(z) = 0, c in `newton`; whether it was found: NaN where not."""
    W, z, rate, s, n = tables.newton, tables.z, tables.rate, tables.index[e, STATE], tables.index[e, STATES]
    sizes = tables.index[e, FIRST] + 1
    largest = math.inf
    W[0, SLOPE] = math.nan
    for _ in range(ITERATIONS):
        rates_at(tables, e, t, where)
        left = False
        for i in range(n):
            W[i, SLOPED] = rate[s + i]
            W[i, RESIDUAL] = a * z[s + i] - W[i, GIVEN] - g * rate[s + i]
            left = left or not abs(W[i, RESIDUAL]) <= a * ENOUGH * (abs(z[s + i]) + abs(W[i, GIVEN]))
        if not left:
            return True
        for m in range(n):
            x = z[s + m]
            step = NUDGE * max(abs(x), abs(W[m, GIVEN]), a * abs(g * W[m, SLOPED]), tables.data[sizes + m])
            z[s + m] = x + step
            step = z[s + m] - x
            rates_at(tables, e, t, where)
            for i in range(n):
                W[i, SLOPE + m] = (rate[s + i] - W[i, SLOPED]) / step
                W[i, m] = (a if i == m else 0.0) - g * W[i, SLOPE + m]
            z[s + m] = x
        if not eliminate(W, n):
            break
        before, largest = largest, 0.0
        for i in range(n):
            d = W[i, CHANGE]
            part = abs(d) / (abs(z[s + i]) + abs(W[i, GIVEN]) + LITTLE * tables.data[sizes + i])
            z[s + i] += d
            largest = part if not part <= largest else largest
        if not largest > ENOUGH or (largest <= CLOSE and largest > SLOWER * before):
            break
    if largest <= CLOSE:
        return True
    for i in range(n):
        z[s + i] = math.nan
    return False
