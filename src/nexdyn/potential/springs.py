"""Springs, dampers, friction, armature and efforts along a scalar coordinate c of two bodies: a length, an angle, a shift.

    E = dt² U(c) + dt³ Φ(r) + ½ J (c − ĉ)²,   r = (c − c̃)/dt,   ĉ = c̃ + dt r̃           dt, c̃, r̃ as in ``step``
    U′ = k (c − c₀) + f₀       a spring,           F(c − c₀) of a table,           −τ(t) of an effort
    Φ′ = d r + f tanh(r/v_f)   a damper and Coulomb's friction, regularised: Φ = ½ d r² + f v_f ln cosh (r/v_f)

    dE/dc = dt² (U′ + Φ′) + J (c − ĉ),   d²E/dc² = dt² U″ + dt Φ″ + J
    gradient (dE/dc) g,   Hessian (d²E/dc²) g gᵀ + (dE/dc) c_qq,      g, c_qq derivatives of c (constraints/)

What dissipates has a potential in the increment of a step (Rayleigh's): its force is that of the velocity at the end. c̃ is c
at the start of the step. Stops, and contacts in the height of their points, have one as well (``penetration``). Actuators and
functions of the user's give an effort alone; its work in the step is then that of the trapezoidal rule, exact where it is
linear, −½ dt² (τ(c) + τ(c̃)) (c − c̃), and `guessed` is how much of E rests on it. So it is for forces with states (``own_states``).
"""

from __future__ import annotations

import math
from typing import Any

from nexdyn.constraints.kinds import ANGLE
from nexdyn.constraints.rows import unit_velocity
from nexdyn.constraints.tables import Terms
from nexdyn.constraints.turns import turned
from nexdyn.constraints.verbs import gradient, second, value
from nexdyn.forces.actuator import effort_and_rates
from nexdyn.forces.curve import curve_slope, curve_value, curve_work
from nexdyn.forces.joint_stop import Stop
from nexdyn.forces.own_law import OWN
from nexdyn.forces.registered import effort_of_one
from nexdyn.forces.user import joint_effort
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula
from nexdyn.model.time_kernels import time_value
from nexdyn.potential.blocks import add_outer, add_second_entry
from nexdyn.potential.islands import wake_joined
from nexdyn.potential.nearby import choose_springs, listed
from nexdyn.potential.own_states import begin_states, effort_at_end, finish_states, little_of, sample_state
from nexdyn.potential.pairs import pair_at, put_rows
from nexdyn.potential.penetration import both_ends, cancelled
from nexdyn.potential.tables import (
    ACTUATED,
    BRISTLE,
    CONTROLLED,
    EFFORT,
    LAW,
    LINEAR,
    REGISTERED,
    STOP,
    TABLE,
    USER,
    Damper,
    Linear,
    SpringEntries,
    SpringTables,
)
from nexdyn.spatial.algebra import Force, T, z_column
from nexdyn.spatial.table import ForceRows, Mat3Rows, PoseRows

DIFFERENCE = 1e-6


@formula
def log_cosh(x):
    """ln cosh x."""
    y = abs(x)
    return y + math.log1p(math.exp(-2.0 * y)) - math.log(2.0)


@formula
def damped(data, k, c, past, past_rate, dt):
    """E, dE/dc and d²E/dc² of damper, friction and armature."""
    own = Damper(data, k)
    r, v_f, d, f, J = (c - past) / dt, own.speed, own.damping, own.friction, own.armature
    off = c - past - dt * past_rate
    s = math.tanh(r / v_f)
    E = dt * dt * dt * (0.5 * d * r * r + f * v_f * log_cosh(r / v_f)) + 0.5 * J * off * off
    slope = dt * dt * (d * r + f * s) + J * off
    return E, slope, dt * (d + f / v_f * (1.0 - s * s)) + J


@formula
def effort_of(code, t, data, k, q, v, dt):
    """τ at the end of a step of an actuator, a bristle, a function of the user's, or a registered page."""
    if code == CONTROLLED or code == BRISTLE:
        return effort_at_end(code, t, data, k, q, v, dt)
    if code == ACTUATED:
        effort, _, _ = effort_and_rates(t, data, k, q, v, 0.0, 0.0, 0.0)
        return effort
    return effort_of_one(t, data, k, q, v) if code == REGISTERED else joint_effort(t, data, k, q, v)


@formula
def law(code, data, k, t, c, past, past_rate, dt, unit):
    """E − E(c̃), dE/dc, d²E/dc² of an element at c, 1 rad or a length beside `unit`. Data from k on: `Damper`, then those of U."""
    E, slope, curve = damped(data, k, c, past, past_rate, dt)
    i, h, moved = k + LAW, dt * dt, c - past
    if code == LINEAR:
        own = Linear(data, i)
        F = own.stiffness * (c - own.rest) + own.force
        return E + h * moved * (F - 0.5 * own.stiffness * moved), slope + h * F, curve + h * own.stiffness
    if code == TABLE:
        x, work = c - data[i], curve_work(data, i + 1, past - data[i], c - data[i])
        return E + h * work, slope + h * curve_value(data, i + 1, x), curve + h * curve_slope(data, i + 1, x)
    if code == EFFORT:
        tau = time_value(data, i, t)
        return E - h * tau * moved, slope - h * tau, curve
    if code == STOP:
        U, force, stiffness = both_ends(data, i, c, past, dt)
        return E + U, slope + force, curve + stiffness
    tau, tau_past = effort_of(code, t, data, i, c, moved / dt, dt), effort_of(code, t, data, i, past, 0.0, dt)
    step = DIFFERENCE * (little_of(data, i) if code == BRISTLE else max(unit, abs(c)))
    stiffness = (tau - effort_of(code, t, data, i, c + step, (moved + step) / dt, dt)) / step
    return E - 0.5 * h * (tau + tau_past) * moved, slope - h * tau, curve + h * stiffness


measure_springs = generic("measure_springs", "c of all springs, and its rate, at the start of a run.")
measure_rates = generic("measure_rates", "The rates of c alone, where the step changes.")
begin_springs = generic("begin_springs", "c̃, r̃ and z̃ of all springs; with BDF2 from two steps.")
add_springs = generic(
    "add_springs",
    "c, dE/dc, d²E/dc² and g of all springs, and their covectors; returns E, its size, what of it is guessed.",
)
add_springs_hessian = generic("add_springs_hessian", "(d²E/dc²) g gᵀ + (dE/dc) c_qq; not `curved`: squares only.")
lacks_blocks = generic(
    "lacks_blocks", "Whether the Hessian has no block of the bodies of surfaces that are near each other."
)
struck = generic("struck", "Whether something has begun to press, or has let go, since the step began.")
finish_springs = generic("finish_springs", "c, its rate and states at the end t of a step.")


@defines(measure_springs)
def _(model: Any, springs: None, work: Any, V: Any) -> Any:
    return None


@formula
def rate_at(tables, e, pair, near, X, V):
    """ċ of spring e; the poses X, the velocities V (ω in the body)."""
    a, b = tables.pairs[e, 0], tables.pairs[e, 1]
    g = gradient(tables, e, 0.0, pair, near)
    return g.w_a @ (X[a].R @ V[a].w) + g.v_a @ V[a].v + g.w_b @ (X[b].R @ V[b].w) + g.v_b @ V[b].v


@defines(measure_springs)
def _(model: Any, springs: SpringTables, work: Any, V: Any) -> Any:
    tables, state = springs.coordinates, springs.state
    X0, X = PoseRows(work.base, 0), PoseRows(work.pose, 0)
    for e in range(len(springs.index)):
        pair = pair_at(tables, e, X0, X)
        c, rate = value(tables, e, 0.0, pair, springs.near), rate_at(tables, e, pair, springs.near, X, V)
        state[e, 0], state[e, 1], state[e, 2], state[e, 3] = c, rate, c, rate


@defines(measure_rates)
def _(springs: None, work: Any, V: Any) -> Any:
    return None


@defines(measure_rates)
def _(springs: SpringTables, work: Any, V: Any) -> Any:
    tables, state = springs.coordinates, springs.state
    X0, X = PoseRows(work.base, 0), PoseRows(work.pose, 0)
    for m in range(listed(springs)):
        e = springs.acting[m]
        state[e, 1] = rate_at(tables, e, pair_at(tables, e, X0, X), springs.near, X, V)


@defines(begin_springs)
def _(springs: None, second_order: Any) -> Any:
    return None


@defines(begin_springs)
def _(springs: SpringTables, second_order: Any) -> Any:
    state, entries, third = springs.state, SpringEntries(springs.index), 1.0 / 3.0
    for m in range(listed(springs)):
        e = springs.acting[m]
        c, r = state[e, 0], state[e, 1]
        begin_states(entries[e].law, springs.data, entries[e].first + LAW, second_order)
        if second_order:
            c, r = third * (4.0 * c - state[e, 2]), third * (4.0 * r - state[e, 3])
        springs.past[e, 0], springs.past[e, 1], springs.near_now[e] = c, r, springs.near[e]


@defines(add_springs)
def _(model: Any, springs: None, t: Any, dt: Any, work: Any) -> Any:
    return 0.0, 0.0, 0.0


@defines(add_springs)
def _(model: Any, springs: SpringTables, t: Any, dt: Any, work: Any) -> Any:
    entries, tables, past, near = SpringEntries(springs.index), springs.coordinates, springs.past, springs.near_now
    X0, X = PoseRows(work.base, 0), PoseRows(work.pose, 0)
    A, F = Mat3Rows(work.turning, 0), ForceRows(work.force, 0)
    choose_springs(model, springs, work)
    E = size = guessed = 0.0
    for m in range(listed(springs)):
        e = springs.acting[m]
        spring = entries[e]
        a, b, code = spring.body_a, spring.body_b, spring.law
        pair = pair_at(tables, e, X0, X)
        if Terms(tables.terms)[e].primitive == ANGLE:
            near[e] = springs.near[e] + turned(work.pose, work.x, a, b, z_column(pair.R_A))
        c = value(tables, e, t, pair, near)
        g = gradient(tables, e, t, pair, near)
        put_rows(springs.G, e, T(A[a]) @ g.w_a, g.v_a, T(A[b]) @ g.w_b, g.v_b)
        energy, slope, curve = law(code, springs.data, spring.first, t, c, past[e, 0], past[e, 1], dt, springs.unit[e])
        springs.value[e, 0], springs.value[e, 1], springs.value[e, 2] = c, slope, curve
        wake_joined(work, spring, slope != 0.0)
        F[a] = F[a] + Force(slope * g.w_a, slope * g.v_a)
        F[b] = F[b] + Force(slope * g.w_b, slope * g.v_b)
        E += energy
        # an angle is rounded as sines are, a length as arms are
        size += abs(energy) + abs(slope) * (
            abs(c) + (1.0 if Terms(tables.terms)[e].primitive == ANGLE else model.reach)
        )
        own = False
        if code == STOP:
            own = Stop(springs.data, spring.first + LAW).exponent == OWN
            size += cancelled(springs.data, spring.first + LAW, c, past[e, 0], dt)
        if own or (code >= USER and code != STOP):
            guessed += abs(slope * (c - past[e, 0]))
    return E, size, guessed


@defines(add_springs_hessian)
def _(model: Any, springs: None, t: Any, work: Any, curved: Any) -> Any:
    return None


@defines(add_springs_hessian)
def _(model: Any, springs: SpringTables, t: Any, work: Any, curved: Any) -> Any:
    entries, tables, G, blocks = SpringEntries(springs.index), springs.coordinates, springs.G, work.blocks
    X0, X, A = PoseRows(work.base, 0), PoseRows(work.pose, 0), Mat3Rows(work.turning, 0)
    for m in range(listed(springs)):
        e = springs.acting[m]
        spring = entries[e]
        a, b, place, turned = spring.body_a, spring.body_b, spring.place, spring.turned
        s = springs.value[e, 2]
        if s == 0.0 and springs.value[e, 1] == 0.0:
            continue
        if not curved:
            s = max(s, 0.0)
        for side in range(2):
            body = a if side == 0 else b
            if body != 0:
                add_outer(blocks, model.diagonal[body], G, e, 8 * side, 8 * side, s)
        if place >= 0:
            add_outer(blocks, place, G, e, 8 * turned, 8 * (1 - turned), s)
        if curved:
            pair, slope = pair_at(tables, e, X0, X), springs.value[e, 1]
            for i in range(12):
                V = unit_velocity(A[a], A[b], i)
                for j in range(i, 12):
                    h = slope * second(tables, e, t, pair, springs.near_now, V, unit_velocity(A[a], A[b], j))
                    add_second_entry(blocks, model.diagonal, a, b, place, turned, i, j, h)


@formula
def pressed_end(data, i, c):
    """−1 below q_min, 1 above q_max, 0 between."""
    stop = Stop(data, i)
    return (1 if c > stop.upper else 0) - (1 if c < stop.lower else 0)


@defines(lacks_blocks)
def _(springs: None) -> Any:
    return False


@defines(lacks_blocks)
def _(springs: SpringTables) -> Any:
    entries = SpringEntries(springs.index)
    for m in range(listed(springs)):
        e = springs.acting[m]
        own, s = entries[e], springs.skin[e]
        if s > 0.0 and own.place < 0 and springs.state[e, 0] < Stop(springs.data, own.first + LAW).lower + s:
            return True
    return False


@defines(struck)
def _(springs: None) -> Any:
    return False


@defines(struck)
def _(springs: SpringTables) -> Any:
    entries, data = SpringEntries(springs.index), springs.data
    for m in range(listed(springs)):
        e = springs.acting[m]
        i, now, before = entries[e].first + LAW, springs.value[e, 0], springs.state[e, 0]
        if entries[e].law == STOP and pressed_end(data, i, now) != pressed_end(data, i, before):
            return True
    return False


@defines(finish_springs)
def _(springs: None, work: Any, t: Any, dt: Any) -> Any:
    return None


@defines(finish_springs)
def _(springs: SpringTables, work: Any, t: Any, dt: Any) -> Any:
    X0, X, state, tables = PoseRows(work.base, 0), PoseRows(work.pose, 0), springs.state, springs.coordinates
    for m in range(listed(springs)):
        e = springs.acting[m]
        pair, spring = pair_at(tables, e, X0, X), SpringEntries(springs.index)[e]
        if Terms(tables.terms)[e].primitive == ANGLE:
            springs.near[e] += turned(work.pose, work.x, spring.body_a, spring.body_b, z_column(pair.R_A))
        c = value(tables, e, 0.0, pair, springs.near)
        state[e, 2], state[e, 3] = state[e, 0], state[e, 1]
        state[e, 0], state[e, 1] = c, (c - springs.past[e, 0]) / dt
        finish_states(spring.law, t, springs.data, spring.first + LAW, c, state[e, 1], dt)


sample_states = generic("sample_states", "Take the samples that are due at t.")


@defines(sample_states)
def _(springs: None, t: Any) -> Any:
    return None


@defines(sample_states)
def _(springs: SpringTables, t: Any) -> Any:
    if len(springs.own) == 0:
        return
    for m in range(listed(springs)):
        e = springs.acting[m]
        spring = SpringEntries(springs.index)[e]
        if spring.law == CONTROLLED:
            sample_state(t, springs.data, spring.first + LAW, springs.state[e, 0], springs.state[e, 1])


record_states = generic("record_states", "States of forces into the row r of out from column k on.")


@defines(record_states)
def _(springs: None, out: Any, r: Any, k: Any) -> Any:
    return None


@defines(record_states)
def _(springs: SpringTables, out: Any, r: Any, k: Any) -> Any:
    for m in range(len(springs.own)):
        out[r, k + m] = springs.data[springs.own[m]] if springs.own[m] >= 0 else 0.0
