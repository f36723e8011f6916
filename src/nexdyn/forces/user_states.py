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
from nexdyn.forces.tables import ForceEntries, Unknowns
from nexdyn.forces.verbs import force_element, freedom_element
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.spatial.algebra import Motion, Pose

ITERATIONS, NUDGE, ENOUGH, CLOSE = 40, 1e-7, 1e-14, 1e-9
LITTLE = 1e-6
"""Part of the size of a state that its changes are compared with at least, for states near 0."""
SLOWER = 0.1
"""Ratio of a change to the one before it, below which the iteration still converges."""


class InJoint(NamedTuple):
    """Coordinate and velocity of a degree of freedom."""

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
    force = ForceEntries(tables.index)[e]
    return force.states if force.kind == USER or force.kind == USER_JOINT else 0


@formula
def eliminate(newton, n):
    """Δz ← −W⁻¹ r; whether there is one. W is used up."""
    W, unknowns = newton.matrix, Unknowns(newton.unknowns)
    x, r = unknowns.change, unknowns.residual
    for i in range(n):
        x[i] = -r[i]
    for j in range(n):
        p = j
        for i in range(j + 1, n):
            if abs(W[i, j]) > abs(W[p, j]):
                p = i
        if not abs(W[p, j]) > 0.0:
            return False
        for m in range(n):
            W[j, m], W[p, m] = W[p, m], W[j, m]
        x[j], x[p] = x[p], x[j]
        for i in range(j + 1, n):
            f = W[i, j] / W[j, j]
            for m in range(j, n):
                W[i, m] -= f * W[j, m]
            x[i] -= f * x[j]
    for k in range(n):
        j = n - 1 - k
        left = x[j]
        for m in range(j + 1, n):
            left -= W[j, m] * x[m]
        x[j] = left / W[j, j]
    return True


@kernel
@outlined
def solve_states(tables, e, t, where, a, g):
    """z of force e with a z − c − g ż(z) = 0, c in `newton`; whether it was found: NaN where not."""
    force = ForceEntries(tables.index)[e]
    W, slopes, unknowns = tables.newton.matrix, tables.newton.slopes, Unknowns(tables.newton.unknowns)
    z, rate, s, n = tables.z, tables.rate, force.state, force.states
    sizes = force.first + 1
    largest = math.inf
    slopes[0, 0] = math.nan
    for _ in range(ITERATIONS):
        rates_at(tables, e, t, where)
        left = False
        for i in range(n):
            own = unknowns[i]
            own.sloped = rate[s + i]
            own.residual = a * z[s + i] - own.given - g * rate[s + i]
            left = left or not abs(own.residual) <= a * ENOUGH * (abs(z[s + i]) + abs(own.given))
        if not left:
            return True
        for m in range(n):
            x, own = z[s + m], unknowns[m]
            step = NUDGE * max(abs(x), abs(own.given), a * abs(g * own.sloped), tables.data[sizes + m])
            z[s + m] = x + step
            step = z[s + m] - x
            rates_at(tables, e, t, where)
            for i in range(n):
                slopes[i, m] = (rate[s + i] - unknowns[i].sloped) / step
                W[i, m] = (a if i == m else 0.0) - g * slopes[i, m]
            z[s + m] = x
        if not eliminate(tables.newton, n):
            break
        before, largest = largest, 0.0
        for i in range(n):
            d = unknowns[i].change
            part = abs(d) / (abs(z[s + i]) + abs(unknowns[i].given) + LITTLE * tables.data[sizes + i])
            z[s + i] += d
            largest = part if not part <= largest else largest
        if not largest > ENOUGH or (largest <= CLOSE and largest > SLOWER * before):
            break
    if largest <= CLOSE:
        return True
    for i in range(n):
        z[s + i] = math.nan
    return False
