"""States of forces along the steps of HHT.

They go by the BDF of order 2, ω = h/h₋ beside the step before (implicit Euler's where there is none, or ω > 2),

    z⁺ = z + (ω² (z − z₋) + h (1 + ω) ż⁺)/(1 + 2ω),   ż⁺ = f(t⁺, q⁺, v⁺, z⁺)

(implicit Euler's also for friction of a contact behind a step in which it slid: there z followed its bound and not ż)

which each force solves for itself wherever its effort is asked for, so that its stiffness knows of it. A lag or bristle
much faster than the step reaches its limit within it.

Adaptive steps look at their error, too: the trapezoidal rule with the rates of both ends stands beside z⁺,

    d = z⁺ − z − ½ h (ż + ż⁺),    e = d k/(1 + ½ x + ½ x²),    k = c/(c − 1/12),   c = (1 + ω)²/(6 ω (1 + 2ω)),   x = −h ∂ż⁺/∂z

c h³ z⃛ is the error of the BDF, 1/12 h³ z⃛ that of the rule (k = 1 for implicit Euler); where z fades within the step, x ≫ 1, it errs by
what is left of it, as the divisor says. Of the states of a user's force x is a matrix, and the rates' slopes are those that its steps have
been solved with. What e makes of the effort is held against the largest effort that the force has had, or tended to by its lag, and no
less than what its gains make of a displacement by 1 rad, or the length of the mechanism: so much the motion's error makes, too.
"""

from __future__ import annotations

from nexdyn.forces.contact import points_of, stretch
from nexdyn.forces.contact_functions import renewed
from nexdyn.forces.kinds import SURFACE
from nexdyn.forces.nearby import count as count_near
from nexdyn.forces.states import of_contact
from nexdyn.forces.sticking import Slip
from nexdyn.forces.surface_contact import NOT_HELD, ONE, Begun, resists, surface_stretch
from nexdyn.forces.tables import NO_DOF, ForceEntries, Unknowns
from nexdyn.forces.user_states import Between, InJoint, eliminate, of_user, solve_states
from nexdyn.forces.verbs import force_element, freedom_element
from nexdyn.kernel import formula, kernel
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import Vec3

STATE_ITERATIONS, ROUNDED = 60, 1e-15
GROWTH = 2.2
"""Longest step, beside the one before, that the BDF of order 2 takes; it is stable below 1 + √2."""
HELD = 0.99
"""Part of the square of its bound below which y of a contact sticks."""
NUDGE = 1e-7
"""Change of a state, beside that which makes the largest effort, by which ∂ż/∂z is found."""


class Steps(Record):
    """The step at whose end states of forces are [s] (0: they are as they stand), that before it (0: none), and 1 where the matrix of
    areas is to be whole (``surface_stiffness``)."""

    h: float
    before: float
    whole: float


class Began(Record):
    """A state at the start of the step, and of that before."""

    z: float
    before: float


class Judged(Record):
    """What a state is judged by: its rate at the start of the step, effort of a unit of it (0: not looked at), its lag [s] (0: none), the
    largest effort of its force, and that with the step at hand."""

    rate: float
    weight: float
    lag: float
    size: float
    size_now: float


class Stuck(Record):
    """The same of friction that sticks in a contact: the rate, √σ, whether it slid at the start of the step."""

    rate: float
    root: float
    slid: float
    spare: float
    spare_: float


BegunStates, States, Bristles = rows_of(Began), rows_of(Judged), rows_of(Stuck)


@formula
def users_step(acts, e):
    """c of the states of a user's force e into its scratch; g of the step at hand, z⁺ = c + g ż⁺."""
    tables, step = acts.forces, Steps(acts.step)
    h, before, began = step.h, step.before, BegunStates(acts.began)
    force, given = ForceEntries(tables.index)[e], Unknowns(tables.newton.unknowns).given
    r = h / before if before > 0.0 and h < GROWTH * before else 0.0
    for i in range(force.states):
        m = force.state + i
        given[i] = began[m].z + r * r / (1.0 + 2.0 * r) * (began[m].z - began[m].before)
        if not tables.z[m] - tables.z[m] == 0.0:
            tables.z[m] = given[i]  # what failed before starts anew
    return h * (1.0 + r) / (1.0 + 2.0 * r)


@formula
def users_at_end(acts, e, t, where):
    """The states of a user's force e at the end of the step; their slopes, where they have been taken, are kept."""
    tables = acts.forces
    force = ForceEntries(tables.index)[e]
    solve_states(tables, e, t, where, 1.0, users_step(acts, e))
    S, first, n = tables.newton.slopes, force.state, force.states
    if S[0, 0] - S[0, 0] == 0.0:
        for i in range(n):
            for m in range(n):
                acts.slopes[first + i, m] = S[i, m]


@formula
def freedom_at_end(acts, e, t, q, v):
    """(status, effort) of force e in a joint, with its states at the end of the step."""
    tables, step = acts.forces, Steps(acts.step)
    h, before = step.h, step.before
    force = ForceEntries(tables.index)[e]
    first, count = force.state, force.states
    if of_user(tables, e) > 0 and h > 0.0 and force.off == 0:
        users_at_end(acts, e, t, InJoint(q, v))
    elif count > 0 and h > 0.0:
        r, began = h / before if before > 0.0 and h < GROWTH * before else 0.0, BegunStates(acts.began)
        for m in range(first, first + count):
            # z⁺ = c + g ż⁺; what is held stays to the last digit
            c = began[m].z + r * r / (1.0 + 2.0 * r) * (began[m].z - began[m].before)
            solve_state(tables, e, m, t, q, v, c, h * (1.0 + r) / (1.0 + 2.0 * r))
    return freedom_element(tables, e, t, q, v)


@formula
def element_at_end(acts, e, t, X_A, V_A, X_B, V_B):
    """(status, F_A, F_B) of force e between frames, with its states at the end of the step."""
    tables, h = acts.forces, Steps(acts.step).h
    force = ForceEntries(tables.index)[e]
    if force.states > 0 and h > 0.0 and force.off == 0:
        first, k = force.state, force.first
        renewed(tables, e, t, X_A.p.x)
        if of_user(tables, e) > 0:
            users_at_end(acts, e, t, Between(X_A, V_A, X_B, V_B))
        elif force.kind == SURFACE:
            root = surface_stretch(tables.room, tables, e, k, (X_A, V_A, X_B, V_B), surface_step(acts, e))
            for m in range(first, first + force.states, ONE):
                Bristles(acts.judged)[m].root = root
        else:
            for i in range(points_of(tables.data, k)):
                c, g = contact_step(acts, first + 3 * i)
                Bristles(acts.judged)[first + 3 * i].root = stretch(tables, e, k, X_A, V_A, X_B, V_B, i, c, g)
    return force_element(tables, e, t, X_A, V_A, X_B, V_B)


@formula
def step_ahead(acts, m):
    """What of the last change goes into c of the states from m on, and g."""
    step = Steps(acts.step)
    h, before = step.h, step.before
    goes_on = before > 0.0 and h < GROWTH * before and Bristles(acts.judged)[m].slid == 0.0
    r = h / before if goes_on else 0.0
    return r * r / (1.0 + 2.0 * r), h * (1.0 + r) / (1.0 + 2.0 * r)


@formula
def ahead(acts, m, back):
    """c of state m; as it stands where no step is taken."""
    began = BegunStates(acts.began)[m]
    return began.z + back * (began.z - began.before) if Steps(acts.step).h > 0.0 else acts.forces.z[m]


@formula
def contact_step(acts, m):
    """c of the states from m on (axes of B), and g, of the step at hand: z⁺ = c + g ż⁺ (h = 0: as they stand, and 0)."""
    back, g = step_ahead(acts, m)
    return Vec3(ahead(acts, m, back), ahead(acts, m + 1, back), ahead(acts, m + 2, back)), g


@formula
def slip_step(acts, m):
    """The same of the four states from m on."""
    c, g = contact_step(acts, m)
    back, _ = step_ahead(acts, m)
    return Slip(c, ahead(acts, m + 3, back)), g


@formula
def surface_step(acts, e):
    """The same of force e, which holds over an area."""
    m = ForceEntries(acts.forces.index)[e].state
    c, g = slip_step(acts, m)
    if resists(acts.forces, e):
        rolled, g_rolled = slip_step(acts, m + ONE)
        return Begun(c, g, rolled, g_rolled)
    return Begun(c, g, NOT_HELD, 0.0)


@formula
def state_residual(tables, e, m, t, q, v, c, g, x):
    """r(x) = x − c − g ż(x); z_m ← x."""
    tables.z[m] = x
    freedom_element(tables, e, t, q, v)
    return x - c - g * tables.rate[m]


@formula
def solve_state(tables, e, m, t, q, v, c, g):
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


@formula
def error_share(r):
    """k."""
    if r == 0.0:
        return 1.0
    c = (1.0 + r) * (1.0 + r) / (6.0 * r * (1.0 + 2.0 * r))
    return c / (c - 1.0 / 12.0)


@formula
def holds(tables, m, together):
    """Whether friction whose states begin at m, so many together, sticks."""
    squared, most = 0.0, tables.bound[m]
    for i in range(m, m + together):
        squared += tables.z[i] * tables.z[i]
    return squared < HELD * most * most


@formula
def error_of_contact(acts, first, end, together, h):
    """The largest d of the states of friction that sticks, as the displacement d/√σ relative to the length of the mechanism, as
    positions are judged; none of what slides."""
    tables, stuck, began, most = acts.forces, Bristles(acts.judged), BegunStates(acts.began), 0.0
    for m in range(first, end, together):
        if holds(tables, m, together):
            # of its length alone: where the normal turns, y has been laid anew, which is no error
            now, expected = 0.0, 0.0
            for i in range(m, m + together):
                y = began[i].z + 0.5 * h * (stuck[i].rate + tables.rate[i])
                now, expected = now + tables.z[i] * tables.z[i], expected + y * y
            most = max(most, abs(now**0.5 - expected**0.5) / (stuck[m].root * acts.length))
    return most


@formula
def error_of_user(acts, first, end, h):
    """The largest e of the states of a user's force, each as a part of the largest that it has been.

    (1 + ½ X + ½ X²) e = d,   X = −h ∂ż/∂z
    """
    tables, judged, S, n, most = acts.forces, States(acts.judged), acts.slopes, end - first, 0.0
    began = BegunStates(acts.began)
    W, unknowns = tables.newton.matrix, Unknowns(tables.newton.unknowns)
    for i in range(n):
        m, own = first + i, unknowns[i]
        own.given = tables.z[m] - began[m].z - 0.5 * h * (judged[m].rate + tables.rate[m])
        own.residual = -own.given
        for j in range(n):
            squared = 0.0
            for k in range(n):
                squared += S[m, k] * S[first + k, j]
            W[i, j] = (1.0 if i == j else 0.0) - 0.5 * h * S[m, j] + 0.5 * h * h * squared
    solved = eliminate(tables.newton, n)
    for i in range(n):
        m = first + i
        size = max(judged[m].size, abs(tables.z[m]))
        judged[m].size_now = size
        most = max(most, abs(unknowns[i].change if solved else unknowns[i].given) / size)
    return most


@kernel
def error_of_states(acts, t):
    """Largest error of a state in the step that ends at t, as a part of the largest effort that its force has had."""
    tables, judged, began, step = acts.forces, States(acts.judged), BegunStates(acts.began), Steps(acts.step)
    h, before = step.h, step.before
    r = h / before if before > 0.0 and h < GROWTH * before else 0.0
    share, most = error_share(r), 0.0
    for e in range(len(tables.index)):
        force = ForceEntries(tables.index)[e]
        first, end = force.state, force.state + force.states
        if first == end or force.off != 0:
            continue
        if of_user(tables, e) > 0:
            most = max(most, share * error_of_user(acts, first, end, h))
            continue
        if force.dof == NO_DOF:
            most = max(most, share * error_of_contact(acts, first, end, of_contact(tables, e), h))
            continue
        q, v = acts.q[force.coordinate], acts.v[force.dof]
        _, effort = freedom_element(tables, e, t, q, v)
        size = max(judged[first].size, abs(effort))
        for m in range(first, end):
            size = max(size, abs(judged[m].weight * (tables.z[m] + judged[m].lag * tables.rate[m])))
        for m in range(first, end):
            judged[m].size_now = size
            weight, z, rate = judged[m].weight, tables.z[m], tables.rate[m]
            d = abs(z - began[m].z - 0.5 * h * (judged[m].rate + rate))
            if not weight * d > 0.0:
                continue
            nudge = NUDGE * max(size / weight, abs(z))
            tables.z[m] = z + nudge
            freedom_element(tables, e, t, q, v)
            x = h * max(0.0, (rate - tables.rate[m]) / nudge)
            tables.z[m] = z
            freedom_element(tables, e, t, q, v)
            most = max(most, share * weight * d / (size * (1.0 + 0.5 * x + 0.5 * x * x)))
    return most


@formula
def looked_at(forces):
    """Of how many forces states are looked at: of all, or of those that may act where the others' are settled."""
    return len(forces.index) if forces.unsettled[0] > 0.0 else count_near(forces)


@formula
def number_of(forces, n):
    """The n-th force that is looked at."""
    return n if forces.unsettled[0] > 0.0 else forces.acting[n]


@kernel
def states_begin(acts):
    """The states as they stand, and their rates, start a march."""
    acts.step[:] = 0.0
    began, judged = BegunStates(acts.began), States(acts.judged)
    for m in range(len(began)):
        began[m].z = acts.forces.z[m]
        judged[m].rate = acts.forces.rate[m]


@kernel
def states_accepted(acts):
    """The end of a step becomes the start of the next."""
    step, began, forces = Steps(acts.step), BegunStates(acts.began), acts.forces
    step.before, step.h = step.h, 0.0
    for n in range(looked_at(forces)):
        force = ForceEntries(forces.index)[number_of(forces, n)]
        for m in range(force.state, force.state + force.states):
            began[m].before, began[m].z = began[m].z, forces.z[m]


@kernel
def contacts_accepted(acts):
    """Which contacts have slid in the step: what they hold is then no start for a difference of second order."""
    tables = acts.forces
    for n in range(looked_at(tables)):
        e = number_of(tables, n)
        force = ForceEntries(tables.index)[e]
        if force.dof == NO_DOF:
            o, together = force.state, of_contact(tables, e)
            for m in range(o, o + force.states, max(1, together)):
                Bristles(acts.judged)[m].slid = 0.0 if holds(tables, m, together) else 1.0
    if tables.unsettled[0] > 0.0:
        tables.unsettled[0] -= 1.0


@kernel
def states_judged(acts):
    """The step has been taken: what the next is judged by."""
    judged = States(acts.judged)
    for m in range(len(acts.began)):
        judged[m].rate, judged[m].size = acts.forces.rate[m], judged[m].size_now


@formula
def states_recorded(acts, out, row):
    """The last numbers of a row of `out` ← z."""
    first = out.shape[1] - len(acts.began)
    for m in range(len(acts.began)):
        out[row, first + m] = acts.forces.z[m]
