"""States of forces along the steps of HHT.

They go by the BDF of order 2, ω = h/h₋ beside the step before (implicit Euler's where there is none, or ω > 2),

    z⁺ = z + (ω² (z − z₋) + h (1 + ω) ż⁺)/(1 + 2ω),   ż⁺ = f(t⁺, q⁺, v⁺, z⁺)

which each force solves for itself wherever its effort is asked for, so that its stiffness knows of it. A lag or bristle far
stiffer than the step is at once where it tends to.
"""

from __future__ import annotations

from nexdyn.forces.tables import STATE, STATES
from nexdyn.forces.verbs import freedom_element
from nexdyn.kernel import formula, kernel

STATE_ITERATIONS, ROUNDED = 60, 1e-15
GROWTH = 2.0
"""Longest step, beside the one before, that the BDF of order 2 takes; it is stable below 1 + √2."""


@formula
def freedom_at_end(acts, e, t, q, v):  # type: ignore[no-untyped-def]
    """(status, effort) of force e in a joint, with its states at the end of the step."""
    tables, h, before = acts.forces, acts.step[0], acts.step[1]
    first, count = tables.index[e, STATE], tables.index[e, STATES]
    if count > 0 and h > 0.0:
        r = h / before if before > 0.0 and h < GROWTH * before else 0.0
        for m in range(first, first + count):
            # z⁺ = c + g ż⁺; what is held stays to the last digit
            c = acts.began[m, 0] + r * r / (1.0 + 2.0 * r) * (acts.began[m, 0] - acts.began[m, 1])
            solve_state(tables, e, m, t, q, v, c, h * (1.0 + r) / (1.0 + 2.0 * r))
    return freedom_element(tables, e, t, q, v)


@formula
def state_residual(tables, e, m, t, q, v, c, g, x):  # type: ignore[no-untyped-def]
    """r(x) = x − c − g ż(x); z_m ← x."""
    tables.z[m] = x
    freedom_element(tables, e, t, q, v)
    return x - c - g * tables.rate[m]


@formula
def solve_state(tables, e, m, t, q, v, c, g):  # type: ignore[no-untyped-def]
    """z_m = c + g ż(z_m). No state makes itself grow, ∂ż/∂z ≤ 0: r rises by 1 or more, so that its zero lies between x and x − r."""
    a = tables.z[m]
    r_a = state_residual(tables, e, m, t, q, v, c, g, a)
    b = a - r_a
    r_b = state_residual(tables, e, m, t, q, v, c, g, b)
    for _ in range(STATE_ITERATIONS):
        if not (abs(r_b) > ROUNDED * (abs(b) + abs(c))):
            return
        x = b - r_b * (b - a) / (r_b - r_a)
        r = state_residual(tables, e, m, t, q, v, c, g, x)
        if r * r_b < 0.0:
            a, r_a = b, r_b
        else:
            r_a *= 0.5  # Illinois: neither end stays for ever
        b, r_b = x, r


@kernel
def states_begin(acts):  # type: ignore[no-untyped-def]
    """The states as they stand start a march."""
    acts.step[:] = 0.0
    for m in range(len(acts.began)):
        acts.began[m, 0] = acts.forces.z[m]


@kernel
def states_accepted(acts):  # type: ignore[no-untyped-def]
    """The end of a step becomes the start of the next."""
    acts.step[1] = acts.step[0]
    acts.step[0] = 0.0
    for m in range(len(acts.began)):
        acts.began[m, 1] = acts.began[m, 0]
        acts.began[m, 0] = acts.forces.z[m]


@formula
def states_recorded(acts, out, row):  # type: ignore[no-untyped-def]
    """The last numbers of a row of `out` ← z."""
    first = out.shape[1] - len(acts.began)
    for m in range(len(acts.began)):
        out[row, first + m] = acts.forces.z[m]
