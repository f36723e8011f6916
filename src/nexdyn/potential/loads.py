"""Loads without a scalar coordinate: applied forces, bushings, user's forces, what acts in ball and free joints.

    Q(x) = generalized force of the element at x, t + dt and the velocity (x − x̃)/dt
    gradient −dt² Q(x),   E = −½ dt² (Q(x) + Q(0)) · x,   Hessian −dt² ∂Q/∂x, symmetric part, by differences

of areas in closed form, without what the normal force makes of friction (``surface_stiffness``): its symmetric part leads nowhere.

Armature of ball and free joints acts there with −J (r − r̃)/dt, r the relative velocity in B's axes, r̃ as ṽ in ``step``.

E is the work in the step by the trapezoidal rule, exact where Q is linear: springs, dampers, constant forces. Many of these
have no potential. Where E is not exact, the gradient is what counts; `guessed` is how much of E rests on the rule.
"""

from __future__ import annotations

from typing import Any

from nexdyn.forces.apart import apart, let_go
from nexdyn.forces.contact_functions import renewed
from nexdyn.forces.joint import friction_effort, spherical_spring
from nexdyn.forces.nearby import choose_here
from nexdyn.forces.nearby import count as count_near
from nexdyn.forces.sticking import Slip
from nexdyn.forces.surface_contact import NOT_BEGUN, NOT_HELD, ONE, Begun, slip_state, surface_stretch
from nexdyn.forces.surface_stiffness import SECANT, TANGENT, stiffness_over_area
from nexdyn.forces.tables import ForceEntries, frames_a, frames_b
from nexdyn.forces.verbs import force_element
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula, outlined
from nexdyn.potential.blocks import add_second_entry
from nexdyn.potential.carried import carried
from nexdyn.potential.increments import coefficients, series_matrix
from nexdyn.potential.islands import wake_joined
from nexdyn.potential.tables import (
    BALL,
    FLOATING,
    OF_ONE,
    SURFACE,
    AreaStates,
    LoadEntries,
    LoadTables,
)
from nexdyn.records import Record
from nexdyn.spatial.algebra import Force, Motion, Pose, Quat, T, Vec3, column, cross, normalized
from nexdyn.spatial.table import ForceRows, Mat3Rows, MotionRows, PoseRows

DIFFERENCE, HERE = 1e-7, -1
STICKS = 0.99
"""Part of its bound, squared, below which y sticks."""


class Ball(Record):
    """Data of a ball joint, in B's axes."""

    stiffness: Vec3
    rest: Vec3
    damping: Vec3
    friction: Vec3
    speed: Vec3
    armature: Vec3


class Floating(Record):
    """Those of a free joint."""

    damping: Motion
    friction: Motion
    speed: Motion
    armature: Motion


@formula
def body_at(base, x, past, dt):
    """Pose, A and velocity (of the centre, world axes) of a body at the increments x."""
    k = coefficients(x.w)
    J = series_matrix(x.w, k.b, k.c)
    A = base.R @ J
    s = 1.0 / dt
    return (
        Pose(base.R @ series_matrix(x.w, k.a, k.b), base.p + x.v),
        A,
        Motion(A @ (s * (x.w - past.w)), s * (x.v - past.v)),
    )


@formula
def quaternion_of(R):
    """The unit quaternion of R, from that of its four expressions whose leading entry is largest."""
    trace = R.xx + R.yy + R.zz
    w, x = 1.0 + trace, 1.0 + 2.0 * R.xx - trace
    y, z = 1.0 + 2.0 * R.yy - trace, 1.0 + 2.0 * R.zz - trace
    if w >= x and w >= y and w >= z:
        return normalized(Quat(w, R.zy - R.yz, R.xz - R.zx, R.yx - R.xy))
    if x >= y and x >= z:
        return normalized(Quat(R.zy - R.yz, x, R.xy + R.yx, R.xz + R.zx))
    if y >= z:
        return normalized(Quat(R.xz - R.zx, R.xy + R.yx, y, R.yz + R.zy))
    return normalized(Quat(R.yx - R.xy, R.xz + R.zx, R.yz + R.zy, z))


@formula
def relative_rate(X_A, V_A, X_B, V_B):
    """The spatial velocity of B in A, in B's axes."""
    R = T(X_B.R)
    return Motion(R @ (V_B.w - V_A.w), R @ (V_B.v - V_A.v - cross(V_A.w, X_B.p - X_A.p)))


@formula
def ball_torque(data, k, X_A, V_A, X_B, V_B, past, dt):
    """Torque on B, world axes, of a ball joint's spring, damper, friction and armature, in B's axes. past = r̃."""
    q, w, ball = quaternion_of(T(X_A.R) @ X_B.R), relative_rate(X_A, V_A, X_B, V_B).w, Ball(data, k)
    d, f, v_f = ball.damping, ball.friction, ball.speed
    n = spherical_spring(q, ball.stiffness, ball.rest)
    n = n - Vec3(
        d.x * w.x - friction_effort(w.x, f.x, v_f.x),
        d.y * w.y - friction_effort(w.y, f.y, v_f.y),
        d.z * w.z - friction_effort(w.z, f.z, v_f.z),
    )
    n = n - resisted(ball.armature, w - past.w, dt)
    return X_B.R @ n


@formula
def resisted(J, change, dt):
    """J Δr/dt of the armature J."""
    return Vec3(J.x * change.x / dt, J.y * change.y / dt, J.z * change.z / dt)


@formula
def floating_wrench(data, k, X_A, V_A, X_B, V_B, past, dt):
    """Forces on A and B, each at its origin, of a free joint's dampers, friction and armature: against the spatial velocity of
    B in A, in B's axes. past = r̃."""
    d, rate = X_B.p - X_A.p, relative_rate(X_A, V_A, X_B, V_B)
    w, v, free = rate.w, rate.v, Floating(data, k)
    D, F, v_f = free.damping, free.friction, free.speed
    n = Vec3(
        friction_effort(w.x, F.w.x, v_f.w.x) - D.w.x * w.x,
        friction_effort(w.y, F.w.y, v_f.w.y) - D.w.y * w.y,
        friction_effort(w.z, F.w.z, v_f.w.z) - D.w.z * w.z,
    )
    f = Vec3(
        friction_effort(v.x, F.v.x, v_f.v.x) - D.v.x * v.x,
        friction_effort(v.y, F.v.y, v_f.v.y) - D.v.y * v.y,
        friction_effort(v.z, F.v.z, v_f.v.z) - D.v.z * v.z,
    )
    n = X_B.R @ (n - resisted(free.armature.w, w - past.w, dt))
    f = X_B.R @ (f - resisted(free.armature.v, v - past.v, dt))
    return Force(-(n + cross(d, f)), -f), Force(n, f)


@formula
def frame_motion(X, V, p):
    """Velocity of the point p of a body, from that of its centre."""
    return Motion(V.w, V.v + cross(V.w, X.R @ p))


@formula
def held_by(loads, e):
    """How many numbers of `states` surface e has."""
    return OF_ONE * (ForceEntries(loads.forces.index)[LoadEntries(loads.index)[e].element].states // ONE)


@formula
def begun_here(loads, e, dt):
    """ỹ and dt̃ of surface e."""
    own = AreaStates(loads.states, loads.held[e])
    if held_by(loads, e) > OF_ONE:
        rolled = AreaStates(loads.states, loads.held[e] + OF_ONE)
        return Begun(own.now, dt * own.whole, rolled.now, dt * rolled.whole)
    return Begun(own.now, dt * own.whole, NOT_HELD, 0.0)


@formula
def load(loads, e, t, dt, X_a, V_a, X_b, V_b):
    """(status, F_a, F_b): force on the bodies of load e about their centres, world axes."""
    entry, tables, past = LoadEntries(loads.index)[e], loads.forces, MotionRows(loads.rates, 0)
    kind, k = entry.kind, entry.element
    force = ForceEntries(tables.index)[k]
    if kind == SURFACE and apart(tables, k, X_a, X_b, dt):
        let_go(tables, k, dt)
        o = Vec3(0.0, 0.0, 0.0)
        return 0, Force(o, o), Force(o, o)
    X_LA, X_LB = frames_a(tables), frames_b(tables)
    X_aA, X_bB = X_LA[k], X_LB[k]
    X_A, X_B = X_a @ X_aA, X_b @ X_bB
    V_A, V_B = frame_motion(X_a, V_a, X_aA.p), frame_motion(X_b, V_b, X_bB.p)
    if kind == BALL:
        n = ball_torque(tables.data, force.first, X_A, V_A, X_B, V_B, past[e], dt)
        o = Vec3(0.0, 0.0, 0.0)
        return 0, Force(-n, o), Force(n, o)
    if kind == FLOATING:
        status = 0
        F_A, F_B = floating_wrench(tables.data, force.first, X_A, V_A, X_B, V_B, past[e], dt)
    else:
        if kind == SURFACE and loads.held[e] >= 0:
            renewed(tables, k, t, dt)
            begun = begun_here(loads, e, dt)
            surface_stretch(tables.room, tables, k, force.first, (X_A, V_A, X_B, V_B), begun)
        status, F_A, F_B = force_element(tables, k, t, X_A, V_A, X_B, V_B)
    F_a = Force(F_A.n + cross(X_a.R @ X_aA.p, F_A.f), F_A.f)
    return status, F_a, Force(F_B.n + cross(X_b.R @ X_bB.p, F_B.f), F_B.f)


@formula
def body_here(work, i, dt):
    """Pose and velocity of body i at work.x; the ground stands."""
    X0, X, A = PoseRows(work.base, 0), PoseRows(work.pose, 0), Mat3Rows(work.turning, 0)
    x, past = MotionRows(work.x, 0), MotionRows(work.past, 0)
    s = 1.0 / dt
    return Pose(X[i].R, X0[i].p + X[i].p), Motion(A[i] @ (s * (x[i].w - past[i].w)), s * (x[i].v - past[i].v))


@formula
def bodies_here(loads, e, dt, work):
    """The same of both bodies of load e; of surfaces b moves against a as bodies that turn together do."""
    entry = LoadEntries(loads.index)[e]
    X_a, V_a = body_here(work, entry.body_a, dt)
    X_b, V_b = body_here(work, entry.body_b, dt)
    if entry.kind == SURFACE:
        V_b = Motion(V_b.w, V_b.v + (1.0 / dt) * carried(work, entry.body_a, entry.body_b))
    return X_a, V_a, X_b, V_b


@formula
def chart_force(loads, e, t, dt, work, i, length):
    """Q of load e in the chart, of bodies a and b, at x with component i of the two increased by DIFFERENCE, or that part of `length`;
    HERE: at x."""
    x, past, base = MotionRows(work.x, 0), MotionRows(work.past, 0), PoseRows(work.base, 0)
    entry = LoadEntries(loads.index)[e]
    a, b = entry.body_a, entry.body_b
    x_a, x_b = x[a], x[b]
    d, D = DIFFERENCE, DIFFERENCE * length
    w = Vec3(d if i % 6 == 0 else 0.0, d if i % 6 == 1 else 0.0, d if i % 6 == 2 else 0.0)
    v = Vec3(D if i % 6 == 3 else 0.0, D if i % 6 == 4 else 0.0, D if i % 6 == 5 else 0.0)
    if 0 <= i < 6:
        x_a = x_a + Motion(w, v)
    elif i >= 6:
        x_b = x_b + Motion(w, v)
    X_a, A_a, V_a = body_at(base[a], x_a, past[a], dt)
    X_b, A_b, V_b = body_at(base[b], x_b, past[b], dt)
    _, F_a, F_b = load(loads, e, t, dt, X_a, V_a, X_b, V_b)
    return Force(T(A_a) @ F_a.n, F_a.f), Force(T(A_b) @ F_b.n, F_b.f)


add_loads = generic(
    "add_loads",
    "Add −dt² Q of all loads to the gradient; returns (E, guessed, element that failed or −1).",
)
measure_loads = generic("measure_loads", "r of all ball and free joints at the start of a run.")
begin_loads = generic("begin_loads", "r̃ and ỹ of a step; with BDF2 from two steps.")
finish_loads = generic("finish_loads", "r and y at the end t of a step.")
lacks_load_blocks = generic(
    "lacks_load_blocks", "Whether the Hessian has no block of the bodies of a load that may act."
)
struck_loads = generic("struck_loads", "Whether a surface has begun to press, or has let go, in the step.")
presses = generic("presses", "Whether a surface presses, or did at the start of the step.")
keep_loads = generic("keep_loads", "Q(0) ← Q of the last evaluation, at x = 0.")
add_loads_hessian = generic(
    "add_loads_hessian", "−dt² times the symmetric part of ∂Q/∂x; `careful`: of friction over areas its secant."
)


@defines(add_loads)
def _(model: Any, loads: None, t: Any, dt: Any, work: Any) -> Any:
    return 0.0, 0.0, -1


@defines(add_loads)
def _(model: Any, loads: LoadTables, t: Any, dt: Any, work: Any) -> Any:
    return add_forces(loads, t, dt, work)


@formula
def choose_loads(loads, work):
    """Bring the list of what may act up to date at x; what is not on it any more has no Q. Whether it is another now."""
    forces = loads.forces
    if len(forces.watched) == 0:
        return False
    X0, X, here = PoseRows(work.base, 0), PoseRows(work.pose, 0), PoseRows(loads.poses, 0)
    for i in range(len(loads.poses)):
        here[i] = Pose(X[i].R, X0[i].p + X[i].p)
    anew = choose_here(forces, here)
    if anew:
        for e in range(len(loads.index)):
            for k in range(12):
                loads.now[e, k] = 0.0
    return anew


@formula
def stands(loads, e, work):
    """Whether load e is a surface between bodies that are still: it is as it was."""
    entry = LoadEntries(loads.index)[e]
    return entry.kind == SURFACE and work.still[entry.body_a] > 0.0 and work.still[entry.body_b] > 0.0


@outlined
def add_forces(loads, t, dt, work):
    """`add_loads`, once for all that evaluate."""
    entries, x, A, g = (
        LoadEntries(loads.index),
        MotionRows(work.x, 0),
        Mat3Rows(work.turning, 0),
        ForceRows(work.gradient, 0),
    )
    Q_0a, Q_0b, now_a, now_b = (
        ForceRows(loads.before, 0), ForceRows(loads.before, 6), ForceRows(loads.now, 0), ForceRows(loads.now, 6)
    )  # fmt: skip
    E = guessed = 0.0
    h = dt * dt
    anew = choose_loads(loads, work)
    for n in range(count_near(loads.forces)):
        e = loads.of_element[loads.forces.acting[n]]
        if e < 0:
            continue
        a, b = entries[e].body_a, entries[e].body_b
        if anew or not stands(loads, e, work):
            X_a, V_a, X_b, V_b = bodies_here(loads, e, dt, work)
            status, F_a, F_b = load(loads, e, t, dt, X_a, V_a, X_b, V_b)
            if status != 0:
                return E, guessed, entries[e].element
            now_a[e], now_b[e] = Force(T(A[a]) @ F_a.n, F_a.f), Force(T(A[b]) @ F_b.n, F_b.f)
            wake_joined(work, entries[e], F_a.f @ F_a.f > 0.0)
        Q_a, Q_b = now_a[e], now_b[e]
        change = 0.0
        if a != 0:
            g[a - 1] = g[a - 1] + -h * Q_a
            E -= h * (Q_a @ x[a])
            change += (Q_a - Q_0a[e]) @ x[a]
        if b != 0:
            g[b - 1] = g[b - 1] + -h * Q_b
            E -= h * (Q_b @ x[b])
            change += (Q_b - Q_0b[e]) @ x[b]
        E += 0.5 * h * change
        guessed += h * abs(change)
    return E, guessed, -1


@formula
def rate_of(loads, e, X_a, V_a, X_b, V_b):
    """r of load e, where the bodies are at X_a, X_b."""
    k = LoadEntries(loads.index)[e].element
    X_aA, X_bB = frames_a(loads.forces)[k], frames_b(loads.forces)[k]
    V_A, V_B = frame_motion(X_a, V_a, X_aA.p), frame_motion(X_b, V_b, X_bB.p)
    return relative_rate(X_a @ X_aA, V_A, X_b @ X_bB, V_B)


@formula
def has_rate(loads, e):
    """Whether load e has armature, whose torque depends on r̃."""
    kind = LoadEntries(loads.index)[e].kind
    return kind == BALL or kind == FLOATING


@defines(measure_loads)
def _(loads: None, work: Any, V: Any) -> Any:
    return None


@defines(measure_loads)
def _(loads: LoadTables, work: Any, V: Any) -> Any:
    X, now, before = PoseRows(work.base, 0), MotionRows(loads.rates, 6), MotionRows(loads.rates, 12)
    for e in range(len(loads.index)):
        entry = LoadEntries(loads.index)[e]
        a, b = entry.body_a, entry.body_b
        V_a, V_b = Motion(X[a].R @ V[a].w, V[a].v), Motion(X[b].R @ V[b].w, V[b].v)
        now[e] = before[e] = rate_of(loads, e, X[a], V_a, X[b], V_b)


@defines(begin_loads)
def _(loads: None, second_order: Any) -> Any:
    return None


@defines(begin_loads)
def _(loads: LoadTables, second_order: Any) -> Any:
    past, now, before = MotionRows(loads.rates, 0), MotionRows(loads.rates, 6), MotionRows(loads.rates, 12)
    third = 1.0 / 3.0
    for e in range(len(loads.index)):
        if has_rate(loads, e):
            past[e] = third * (4.0 * now[e] - before[e]) if second_order else now[e]
        if loads.held[e] >= 0:
            for j in range(loads.held[e], loads.held[e] + held_by(loads, e), OF_ONE):
                own = AreaStates(loads.states, j)
                goes_on = second_order and own.slid == 0.0
                own.now = third * (4.0 * own.y - own.before) if goes_on else own.y
                own.whole = 1.5 if second_order and not goes_on else 1.0


@defines(finish_loads)
def _(loads: None, work: Any, t: Any, dt: Any) -> Any:
    return None


@defines(finish_loads)
def _(loads: LoadTables, work: Any, t: Any, dt: Any) -> Any:
    now, before, nothing = MotionRows(loads.rates, 6), MotionRows(loads.rates, 12), Vec3(0.0, 0.0, 0.0)
    choose_loads(loads, work)
    for e in range(len(loads.index)):
        if loads.held[e] >= 0:  # surfaces that are apart hold nothing
            for j in range(loads.held[e], loads.held[e] + held_by(loads, e), OF_ONE):
                own = AreaStates(loads.states, j)
                own.before, own.y, own.slid = own.y, Slip(nothing, 0.0), 1.0
    for n in range(count_near(loads.forces)):
        e = loads.of_element[loads.forces.acting[n]]
        if e < 0:
            continue
        entry = LoadEntries(loads.index)[e]
        X_a, V_a, X_b, V_b = bodies_here(loads, e, dt, work)
        if has_rate(loads, e):
            before[e] = now[e]
            now[e] = rate_of(loads, e, X_a, V_a, X_b, V_b)
        if loads.held[e] >= 0:
            load(loads, e, t, dt, X_a, V_a, X_b, V_b)
            m = ForceEntries(loads.forces.index)[entry.element].state
            for i in range(held_by(loads, e) // OF_ONE):
                keep_held(loads, m + ONE * i, loads.held[e] + OF_ONE * i)


@formula
def keep_held(loads, m, j):
    """y of the last evaluation, the states from m on, becomes that of the step; that of the step before is kept already."""
    tables, own = loads.forces, AreaStates(loads.states, j)
    y, most = slip_state(tables.z, m), tables.bound[m]
    own.y = y
    own.slid = 0.0 if y @ y < STICKS * most * most else 1.0


@defines(keep_loads)
def _(loads: None) -> Any:
    return None


@defines(keep_loads)
def _(loads: LoadTables) -> Any:
    for e in range(len(loads.index)):
        for k in range(12):
            loads.before[e, k] = loads.now[e, k]


@defines(lacks_load_blocks)
def _(loads: None) -> Any:
    return False


@defines(lacks_load_blocks)
def _(loads: LoadTables) -> Any:
    entries = LoadEntries(loads.index)
    if len(loads.forces.watched) > 0:
        for n in range(count_near(loads.forces)):
            e = loads.of_element[loads.forces.acting[n]]
            if e >= 0 and entries[e].place < 0 and entries[e].body_a > 0 and entries[e].body_b > 0:
                return True
    return False


@defines(struck_loads)
def _(loads: None) -> Any:
    return False


@defines(struck_loads)
def _(loads: LoadTables) -> Any:
    now, before = ForceRows(loads.now, 0), ForceRows(loads.before, 0)
    for e in range(len(loads.index)):
        if LoadEntries(loads.index)[e].kind == SURFACE:
            f, g = now[e].f, before[e].f
            if (f @ f > 0.0) != (g @ g > 0.0):
                return True
    return False


@defines(presses)
def _(loads: None) -> Any:
    return False


@defines(presses)
def _(loads: LoadTables) -> Any:
    now, before = ForceRows(loads.now, 0), ForceRows(loads.before, 0)
    for e in range(len(loads.index)):
        area = LoadEntries(loads.index)[e].kind == SURFACE
        if area and now[e].f @ now[e].f + before[e].f @ before[e].f > 0.0:
            return True
    return False


@defines(add_loads_hessian)
def _(model: Any, loads: None, t: Any, dt: Any, work: Any, careful: Any) -> Any:
    return None


@defines(add_loads_hessian)
def _(model: Any, loads: LoadTables, t: Any, dt: Any, work: Any, careful: Any) -> Any:
    for n in range(count_near(loads.forces)):
        e = loads.of_element[loads.forces.acting[n]]
        if e < 0:
            continue
        if LoadEntries(loads.index)[e].kind == SURFACE:
            if stands(loads, e, work):
                continue
            add_area(loads.forces.room, model, loads, e, dt, work, careful)
        else:
            add_differences(model, loads, e, t, dt, work)


@outlined
def add_differences(model, loads, e, t, dt, work):
    """That of load e by differences."""
    entry, F, rate, zero = (
        LoadEntries(loads.index)[e],
        ForceRows(loads.rate, 0),
        loads.rate.reshape(-1),
        Vec3(0.0, 0.0, 0.0),
    )
    turning = -dt * dt / DIFFERENCE
    a, b = entry.body_a, entry.body_b
    Q_a, Q_b = Force(zero, zero), Force(zero, zero)
    for i in range(HERE, 12):
        P_a, P_b = chart_force(loads, e, t, dt, work, i, model.length)
        if i == HERE:
            Q_a, Q_b = P_a, P_b
        else:
            s = turning if i % 6 < 3 else turning / model.length
            F[2 * i], F[2 * i + 1] = s * (P_a - Q_a), s * (P_b - Q_b)
    for i in range(12):
        for j in range(i, 12):
            h = 0.5 * (rate[12 * i + j] + rate[12 * j + i])
            add_second_entry(work.blocks, model.diagonal, a, b, entry.place, entry.turned, i, j, h)


add_area = generic("add_area", "That of load e, a contact over an area, in closed form; of systems without, nothing.")


@defines(add_area)
def _(room: None, model: Any, loads: Any, e: Any, dt: Any, work: Any, careful: Any) -> Any:
    return None


@defines(add_area)
def _(room: Any, model: Any, loads: Any, e: Any, dt: Any, work: Any, careful: Any) -> Any:
    # scratch: rows 0 to 5 K, 6 to 17 the motions of B against A of the coordinates of both bodies, 18 K times one of them
    entry, tables, rows, A = LoadEntries(loads.index)[e], loads.forces, loads.rate, Mat3Rows(work.turning, 0)
    k, a, b = entry.element, entry.body_a, entry.body_b
    X_a, V_a, X_b, V_b = bodies_here(loads, e, dt, work)
    if apart(tables, k, X_a, X_b, dt):
        return
    X_aA, X_bB = frames_a(tables)[k], frames_b(tables)[k]
    X_A, X_B = X_a @ X_aA, X_b @ X_bB
    begun = NOT_BEGUN
    if loads.held[e] >= 0:
        begun = begun_here(loads, e, dt)
    for i in range(6):
        for m in range(6):
            rows[i, m] = 0.0
    motion = (X_A, frame_motion(X_a, V_a, X_aA.p), X_B, frame_motion(X_b, V_b, X_bB.p))
    kept = SECANT if careful else TANGENT
    stiffness_over_area(tables, k, ForceEntries(tables.index)[k].first, rows, (dt, dt * dt), motion, begun, kept)
    for side in range(2):
        body, sign, arm = (a, -1.0, X_B.p - X_a.p) if side == 0 else (b, 1.0, X_B.p - X_b.p)
        for c in range(3):
            w = sign * column(A[body], c)
            v = cross(w, arm)
            turns, moves = 6 + 6 * side + c, 9 + 6 * side + c
            rows[turns, 0], rows[turns, 1], rows[turns, 2] = w.x, w.y, w.z
            rows[turns, 3], rows[turns, 4], rows[turns, 5] = v.x, v.y, v.z
            for m in range(6):
                rows[moves, m] = sign if m == 3 + c else 0.0
    for n in range(12):
        for i in range(6):
            rows[18, i] = 0.0
            for m in range(6):
                rows[18, i] += rows[i, m] * rows[6 + n, m]
        for i in range(n + 1):
            h = 0.0
            for m in range(6):
                h += rows[6 + i, m] * rows[18, m]
            add_second_entry(work.blocks, model.diagonal, a, b, entry.place, entry.turned, i, n, h)
