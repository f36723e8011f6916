"""One step: the free motion, then minima of the energies while the multipliers are updated, then the new state.

x̂ → x, λ → v = (x − x̃)/dt̃, a = (v − ṽ)/dt̃           implicit Euler: x̃ = 0, ṽ = vₙ, dt̃ = dt
                                                      BDF2: x̃ = Δₙ/3, ṽ = (4 vₙ − vₙ₋₁)/3, dt̃ = 2 dt/3

BDF2 continues the line of the step before, which is none across an impact. A step in which a stop or a contact begins to press,
or lets go, is taken again as one of implicit Euler, and so is the one after it, whose step before is that of the impact. So is one with
contacts over areas whose minimum is not reached: where these are struck, the line of the step before can lead deep into damped ones.
"""

from __future__ import annotations

from nexdyn.constraints.tables import LEFT, within_ends
from nexdyn.constraints.turns import UNCOUNTED, UNSURE, count_angles
from nexdyn.kernel import formula, kernel, outlined, shared
from nexdyn.linalg.rows import WIDTH
from nexdyn.potential import rod
from nexdyn.potential.contact import begin_contacts, finish_contacts, renew_contacts
from nexdyn.potential.increments import coefficients, series_matrix
from nexdyn.potential.inertia import free_rate, free_turn_bdf2, slope_at, sym_solve
from nexdyn.potential.islands import wake_all
from nexdyn.potential.joints import add_joints
from nexdyn.potential.loads import (
    add_loads,
    begin_loads,
    finish_loads,
    keep_loads,
    lacks_load_blocks,
    measure_loads,
    presses,
    struck_loads,
)
from nexdyn.potential.minimum import OK, place_bodies
from nexdyn.potential.solve import APART, LOAD_FAILED, NOT_CONVERGED, solve
from nexdyn.potential.springs import (
    begin_springs,
    finish_springs,
    lacks_blocks,
    measure_rates,
    measure_springs,
    record_states,
    sample_states,
    struck,
)
from nexdyn.potential.tables import (
    COUPLED,
    HINGE,
    CoupledRows,
    Groups,
    Masses,
    Run,
    ThinBodies,
)
from nexdyn.spatial.algebra import Motion, Pose, Sym3, T, Vec3, exp_quaternion, normalized, rotation
from nexdyn.spatial.table import MotionRows, PoseRows, QuatRows, Vec3Rows

NEARER = 0.3


@formula
def stand(model, state, work):
    """Base poses, and the bodies there: x = 0."""
    q, p, X, x, o = (
        QuatRows(state.q, 0),
        Vec3Rows(state.q, 4),
        PoseRows(work.base, 0),
        MotionRows(work.x, 0),
        Vec3(0.0, 0.0, 0.0),
    )
    for i in range(1, len(model.mass)):
        X[i] = Pose(rotation(q[i]), p[i])
        x[i] = Motion(o, o)
    for k in range(len(state.near)):
        work.near[k] = work.counted[k] = state.near[k]
    place_bodies(model, work)


@outlined
def begin(model, state, work, t, dt, second_order):
    """Base poses, x̃, x̂ and the x to start from. Returns dt̃ and the load that failed, or −1."""
    v, off, off_before = MotionRows(state.v, 0), MotionRows(state.off, 0), MotionRows(state.off_before, 0)
    moved, before, past = MotionRows(state.moved, 0), MotionRows(state.v_before, 0), MotionRows(work.past, 0)
    free = MotionRows(work.free, 0)
    x, o, third = MotionRows(work.x, 0), Vec3(0.0, 0.0, 0.0), 1.0 / 3.0
    to_axis, slope, rest = Vec3Rows(work.rod, 0), Vec3Rows(work.rod, 3), ThinBodies(model.rods).rest
    h = 2.0 * dt / 3.0 if second_order else dt
    stand(model, state, work)
    wake_all(work)
    for i in range(1, len(model.mass)):
        J, e = rod.axis(model, i)
        if second_order:
            past[i] = third * moved[i]
            k = coefficients(moved[i].w)
            back = T(series_matrix(moved[i].w, k.a, k.b))  # Rₙᵀ Rₙ₋₁
            momentum = third * (4.0 * (rest[i] @ v[i].w) - back @ (rest[i] @ before[i].w))
            turn = (0.5 * dt) * (3.0 * v[i].w - before[i].w)
            if J > 0.0:
                to_axis[i] = rod.goal_bdf2(e, moved[i].w, v[i].w, before[i].w, h)
                slope[i] = slope_at(rest[i], turn, past[i].w, momentum, h)
            else:
                turn = free_turn_bdf2(rest[i], turn, past[i].w, momentum, h, model.spare[i, 0])
            free[i] = Motion(turn, past[i].v + (h * third) * (4.0 * v[i].v - before[i].v))
        else:
            past[i], turn = Motion(o, o), dt * v[i].w
            if J > 0.0:
                to_axis[i] = rod.goal(e, v[i].w, dt)
                slope[i] = slope_at(rest[i], turn, o, rest[i] @ v[i].w, dt)
            else:
                turn = dt * free_rate(rest[i], v[i].w, dt)
            free[i] = Motion(turn, dt * v[i].v)
    begin_springs(model.springs, second_order)
    begin_contacts(model.springs, model.contacts, second_order)
    begin_loads(model.loads, second_order)
    wrong = renew_contacts(model.contacts, t + dt)
    _, _, failed = add_loads(model, model.loads, t + dt, h, work)
    keep_loads(model.loads)
    for i in range(1, len(model.mass)):
        x[i] = free[i] + off[i]
        if Run(state.run).straight > 0.0:
            x[i] = x[i] + (off[i] - off_before[i])
    return h, wrong if wrong >= 0 else failed


@formula
def compliance(model, body, J, r, first):
    """J M⁻¹ Jᵀ of one row and one body."""
    if body == 0:
        return 0.0
    own, s = Masses(model.mass)[body], model.spare[body, 0]
    m = own.m + model.spare[body, 1]
    w, v = Vec3(J[r, first], J[r, first + 1], J[r, first + 2]), Vec3(J[r, first + 3], J[r, first + 4], J[r, first + 5])
    K = own.I + Sym3(s, 0.0, 0.0, s, 0.0, s)
    turning = w @ sym_solve(K, w)
    return turning + (v @ v) / m if m > 0.0 else turning


@kernel
def start_springs(model, state, work, t):
    """c of the springs, and its rate, and that of loads, at the present pose and velocity; the samples that are due at t."""
    stand(model, state, work)
    measure_springs(model, model.springs, work, MotionRows(state.v, 0))
    measure_loads(model.loads, work, MotionRows(state.v, 0))
    sample_states(model.springs, t)


@kernel
def change_step(model, state, work):
    """Set the rates of springs and loads from the velocities. Those of the last step are differences, enlarged by a shorter step."""
    stand(model, state, work)
    measure_rates(model.springs, work, MotionRows(state.v, 0))
    measure_loads(model.loads, work, MotionRows(state.v, 0))
    run = Run(state.run)
    run.ahead = run.ahead_before = 0.0


@kernel
def choose_stiffness(model, state, work, t, stiffness):
    """μ of every row: `stiffness` times the mass that it moves, 1/(J M⁻¹ Jᵀ), at the present pose.

    The three displacements of a hinge have one μ, and its three directions: no axis is better than another."""
    stand(model, state, work)
    add_joints(model, state.lam, state.mu, t, work)
    groups, mu, J = Groups(model.groups), state.mu, work.J
    for i in range(len(groups)):
        group, coupled = groups[i], CoupledRows(model.groups)[i]
        r, count = group.first, group.count
        for k in range(r, r + count):
            soft = 0.0
            if group.kind == COUPLED:
                for slot in range(coupled.slot, coupled.slot + coupled.slots):
                    soft += compliance(model, model.slot_body[slot], J, slot, 0)
            else:
                for side in range(2):
                    soft += compliance(model, group.body_a if side == 0 else group.body_b, J, k, WIDTH * side)
            mu[k] = soft
        if group.kind == HINGE:
            d, n = (mu[r] + mu[r + 1] + mu[r + 2]) / 3.0, (mu[r + 3] + mu[r + 4] + mu[r + 5]) / 2.0
            for k in range(3):
                mu[r + k], mu[r + 3 + k] = d, n
        for k in range(r, r + count):
            mu[k] = stiffness / mu[k] if mu[k] > 0.0 else 0.0
    Run(state.run).stiffness = stiffness


@outlined
def finish(model, state, work, t, dt, h, second_order):
    """q, v, a of the end of the step from x. Returns what the increments miss the angles by at most."""
    Q, P, V, A = QuatRows(state.q, 0), Vec3Rows(state.q, 4), MotionRows(state.v, 0), MotionRows(state.a, 0)
    x, free, off = MotionRows(work.x, 0), MotionRows(work.free, 0), MotionRows(state.off, 0)
    moved, before = MotionRows(state.moved, 0), MotionRows(state.v_before, 0)
    off_before = MotionRows(state.off_before, 0)
    s, from_last, from_line = 1.0 / h, 0.0, 0.0
    for i in range(1, len(model.mass)):
        old, at, here, last = V[i], x[i], x[i] - free[i], off[i]
        change = here - last
        bend = change - (last - off_before[i])
        from_last += (change.w @ change.w) * model.length * model.length + change.v @ change.v
        from_line += (bend.w @ bend.w) * model.length * model.length + bend.v @ bend.v
        J, e = rod.axis(model, i)
        if second_order:
            third = 1.0 / 3.0
            k = coefficients(at.w)
            past = third * moved[i]
            v = Motion(s * (series_matrix(at.w, -k.b, k.c) @ (at.w - past.w)), s * (at.v - past.v))
            if J > 0.0:
                v = Motion((v.w @ e) * e + rod.rate_bdf2(e, at.w, moved[i].w, h), v.v)
            A[i] = s * (v - third * (4.0 * old - before[i]))
        else:
            v = s * at
            if J > 0.0:
                v = Motion((v.w @ e) * e + rod.rate(e, at.w, h), v.v)
            A[i] = s * (v - old)
        V[i], before[i], moved[i] = v, old, at
        off_before[i], off[i] = last, here
        Q[i] = normalized(Q[i] @ exp_quaternion(at.w))
        P[i] = P[i] + at.v
    run = Run(state.run)
    run.straight = 1.0 if from_line < NEARER * NEARER * from_last else 0.0
    now = 0.0 if second_order else -0.5 * dt
    before_it = (4.0 * run.ahead - run.ahead_before) / 3.0 if second_order else run.ahead
    run.told = 1.0 + (now - before_it) / h
    run.ahead_before, run.ahead = run.ahead, now
    place_bodies(model, work)
    missed = count_angles(model.angles, model.angle_frames, work.pose, work.x, work.counted, work.near)
    for k in range(len(state.near)):
        state.near[k] = work.near[k]
    finish_springs(model.springs, work, t + dt, h)
    finish_contacts(model, model.contacts, work, h)
    finish_loads(model.loads, work, t + dt, h)
    return missed


@formula
def record(model, state, t, gap, out, r):
    """Row r of out ← t, |C|, then q, v, a of each body but the ground, λ/dt², what is followed, states of forces, what a is of something
    that moves with ẍ = 1, and how many steps were alike."""
    k = 2
    out[r, 0], out[r, 1] = t, gap
    for i in range(1, len(state.q)):
        for m in range(7):
            out[r, k + m] = state.q[i, m]
        for m in range(6):
            out[r, k + 7 + m], out[r, k + 13 + m] = state.v[i, m], state.a[i, m]
        k += 19
    run = Run(state.run)
    s = 1.0 / (run.whole * run.whole)
    for m in range(len(state.lam)):
        out[r, k + m] = s * state.lam[m]
    k += len(state.lam)
    for m in range(len(state.near)):
        out[r, k + m] = state.near[m]
    record_states(model.springs, out, r, k + len(state.near))
    out[r, out.shape[1] - 2], out[r, out.shape[1] - 1] = run.told, run.even


@kernel
def sample(model, state, t, out):
    """The present state into row 0 of out; the samples that are due at t."""
    sample_states(model.springs, t)
    record(model, state, t, Run(state.run).gap, out, 0)


@shared
def march(model, state, work, t0, dt, k, k_stop, every, updates, bdf2, out):
    """Steps k … k_stop − 1 from t₀ + k dt, adaptive where `updates` is None.

    Every `every`-th state (0: none) goes to the next row of `out` before its step. Returns (status, steps done in all, rows
    written, body or load where it failed, largest |C|, Newton steps).
    """
    row = newton = 0
    worst, run = 0.0, Run(state.run)
    while k < k_stop:
        t = t0 + k * dt
        second_order = bdf2 and run.dt > 0.0
        sample_states(model.springs, t)
        if every > 0 and k % every == 0:
            record(model, state, t, run.gap, out, row)
            row += 1
        impact = False
        status, where, steps, gap, h = OK, -1, 0, 0.0, dt
        for _ in range(2):
            h, failed = begin(model, state, work, t, dt, second_order)
            status, where, steps, gap = LOAD_FAILED, failed, 0, 0.0
            if failed < 0:
                status, where, steps, gap = solve(updates, model, state, work, t + dt, h)
            impact = bdf2 and status == OK and (struck(model.springs) or struck_loads(model.loads))
            impact = impact or (second_order and status == NOT_CONVERGED and presses(model.loads))
            if not (impact and second_order):
                break
            second_order = False
            newton += steps
            if updates is None:
                for r in range(len(state.lam)):
                    state.lam[r] = state.lam_before[r]
        if status == OK and not finish(model, state, work, t, dt, h, second_order) < UNSURE:
            status = UNCOUNTED
        newton += steps
        worst = max(worst, gap)
        if status != OK:
            return status, k, row, where, gap, newton
        run.even = 0.0 if impact else run.even + 1.0
        run.dt, run.gap = 0.0 if impact else dt, gap
        run.whole = 2.0 * dt / 3.0 if second_order else dt
        k += 1
        if not within_ends(model.constraints, state.near):
            return LEFT, k, row, -1, worst, newton
        if lacks_blocks(model.springs) or lacks_load_blocks(model.loads):
            return APART, k, row, -1, worst, newton
    return OK, k, row, -1, worst, newton
