"""HHT-α for index-3 equations in the form HHT-I3, with its time loop.

Newmark's formulas with the pseudo-acceleration a (Negrut, Rampalli, Ottarsson & Sajdak 2007; for rotations and varying
inertia Arnold & Brüls 2007, Brüls & Cardona 2010), on increments (θ, δ) of a body, R exp θ, p + δ:

    (θ, δ) = h v + h² ((½ − β) a + β a⁺),   v⁺ = v + h ((1 − γ) a + γ a⁺),   γ = ½ − α,  β = ¼ (1 − α)²
    a⁺ = (1 + α) v̇⁺ − α v̇,      M v̇⁺ + … + Cqᵀ λ⁺ = Q,      C(q⁺, t⁺) = 0

With the unknowns a⁺ and λ⁺ the inertia in the iteration matrix has the factor 1/(1 + α), and the constraints divided by
β h² have Cq: its condition stays as h → 0. Velocity rows A v + b = 0 hold for v⁺ and are
divided by γ h: index 2 beside the others' 3, with the same matrix. The error of the positions is that of Newmark's formula,

    e = c h² (a⁺ − a) = c h³ v̈,   c = β + ½ α − ⅙

and of turns −h³/12 ω × ω̇ more, since θ is exact at h ω + ½ h² ω̇ + ⅙ h³ ω̈ + 1/12 h³ ω × ω̇ + … Along the constraints there can be
none, and e is judged almost without it; there the velocities run at v − c h² v̈ (+ h²/12 ω × ω̇), and a at v̇ (t + α h). Where h changes,
both are moved to where they belong, or λ would have an error of first order for a while (after Arnold, Brüls & Cardona 2015).

Newton's iteration: ``newton``; the steps of a march that chooses them: ``step_control``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.absolute.motion.elements import lacks_blocks, states_error
from nexdyn.absolute.motion.equations import NO_PIVOT, independence, jacobian_times, place_bodies, solved_here, turn
from nexdyn.absolute.motion.force_states import (
    Steps,
    contacts_accepted,
    states_accepted,
    states_judged,
    states_recorded,
)
from nexdyn.absolute.motion.newton import (
    CAUTIOUS,
    DONE,
    HARD,
    LOST,
    ON,
    PART_OF_ACCELERATIONS,
    PART_OF_ERROR,
    TOLERANCE,
    Memory,
    begin,
    corrected,
    drop_matrix,
    is_stale,
    new_memory,
    newton_verdict,
    note_independence,
    note_refactored,
    remember,
    rounding,
    weights,
)
from nexdyn.absolute.motion.outside import solve
from nexdyn.absolute.motion.recorded import Record, copy, record
from nexdyn.absolute.motion.step_control import Control, after_acceptance, after_rejection, first_step, fitted
from nexdyn.absolute.motion.tables import Masses, MotionState, MotionTables
from nexdyn.absolute.motion.turns import (
    SURE,
    UNCOUNTED,
    UNSURE,
    count_angles,
    expect_angles,
    keep_angles,
    most_turned,
    return_angles,
)
from nexdyn.constraints.tables import LEFT, within_ends
from nexdyn.generic import defines, generic
from nexdyn.integrate.problem import FORCE_FAILED
from nexdyn.kernel import formula, inlined, kernel, outlined, shared
from nexdyn.linalg.rows import WIDTH, flat, larger, load, store, total
from nexdyn.spatial.algebra import Motion, Pose, Vec3, cross, rotation
from nexdyn.spatial.lanes import count, greater, sqrt
from nexdyn.spatial.table import MotionRows, PoseRows, row

OK, NOT_FINITE, STALLED, SINGULAR, STEP_TOO_SMALL, DEPENDENT, APART = range(7)
"""How a march ends; APART: where the matrix has no block of bodies that may touch now."""
BENT = 1.2
"""Part of the last change of accelerations by which it may differ from the one before, for it to stand for v̈: to and fro is 1.5
and more, even where it grows by half from step to step."""
ACROSS = 0.05
"""What a change of accelerations along the constraints counts in the error of a step."""
FAILED = 4.0
"""err of a step that failed."""
MOST_DAMPED, LEAST_DAMPED, SHORTER = 40, 1e-3, 0.25
"""Corrections of a damped step, the least part taken of one, and by what share of that part the next must be shorter."""
LEAST_MOVED, OF_PLACE = 1e-12, 2e-5
"""Smallest length scale where all points of the mechanism are one: parts of the largest radius of gyration up to 1 m, or of 1 m without
inertia; and of bodies' distance from the origin, whose rounding is 1e-11."""


def memory_at_start(tables: MotionTables, s: MotionState) -> np.ndarray:
    """What a march remembers, at its start from q0."""
    return new_memory(_grain(tables, s.q0), tables.length)


def without_size(tables: MotionTables, memory: np.ndarray, q: np.ndarray) -> None:
    """All points of the mechanism coincide at q (nb + 1, …): errors are compared with the largest displacement so far. From rest
    that is 0, and the first step would shrink without end: so it is never taken smaller than `least`."""
    size, m, J = Memory(memory), Masses(tables.body).m[1:], tables.body[1:, [1, 4, 6]].mean(axis=1)
    size.length, size.moved, size.home = 0.0, 0.0, Vec3(*q[1:, 4:7].mean(axis=0))
    gyration = np.sqrt(np.divide(J, m, out=np.zeros(len(m)), where=m > 0.0)).max()
    size.least = LEAST_MOVED * (min(1.0, gyration) if gyration > 0.0 else 1.0)


def _grain(tables: MotionTables, q: np.ndarray) -> float:
    """Turns [rad] that rounding of the positions q may leave: a displacement of a joint by δ turns a body of mass m and inertia J by
    up to δ m l / (J + m l²), where l is its distance from the centre of mass."""
    arms = np.zeros(len(q))
    for k, bodies in enumerate(tables.constraints.pairs.T):
        np.maximum.at(arms, bodies, np.linalg.norm(tables.constraints.frames[:, 12 * k + 9 : 12 * k + 12], axis=1))
    m, J = Masses(tables.body).m[1:], tables.body[1:, [1, 4, 6]].mean(axis=1)
    turned = np.divide(m * arms[1:], J + m * arms[1:] ** 2, out=np.zeros(len(m)), where=J > 0.0)
    return float(16.0 * np.finfo(float).eps * np.abs(q[1:, 4:7]).max(initial=0.0) * turned.max(initial=0.0))


@inlined
def new_motion(s, h, alpha, corrected, length):
    """q1, v1, v̇ = d1, poses and twists from a1, after a1 and λ1 have taken the solution x where `corrected`.

    Returns the largest components of x, a1 − a0 and a1, lengths beside that of the mechanism; NaN where x is no number.
    """
    gamma, beta = 0.5 - alpha, 0.25 * (1.0 - alpha) * (1.0 - alpha)
    v0, v1, a0, a1 = flat(s.v0), flat(s.v1), flat(s.a0), flat(s.a1)
    d0, d1, x, turns = flat(s.d0), flat(s.d1), flat(s.x), flat(s.turn)
    X, V, most = PoseRows(s.poses, 0), MotionRows(s.twists, 0), flat(s.most)
    h_old, h_new, part = h * (1.0 - gamma), h * gamma, 1.0 / (1.0 + alpha)
    x_old, x_new = h * h * (0.5 - beta), h * h * beta
    nothing = load(most, 3 * WIDTH)
    x_most, change_most, a_most, sum_of_x = nothing, nothing, nothing, nothing
    for i in range(1, count(s.q1)):
        o = WIDTH * i
        v, a, a_ = load(v0, o), load(a0, o), load(a1, o)
        if corrected:
            dx = load(x, o - WIDTH)
            a_ = a_ + dx
            store(a1, o, a_)
            x_most, sum_of_x = larger(abs(dx), x_most), sum_of_x + dx
        change_most, a_most = larger(abs(a_ - a), change_most), larger(abs(a_), a_most)
        store(v1, o, v + h_old * a + h_new * a_)
        store(d1, o, part * (a_ + alpha * load(d0, o)))
        store(turns, o, h * v + x_old * a + x_new * a_)
        theta = Vec3(s.turn[i, 0], s.turn[i, 1], s.turn[i, 2])
        p = Vec3(s.q0[i, 4] + s.turn[i, 3], s.q0[i, 5] + s.turn[i, 4], s.q0[i, 6] + s.turn[i, 5])
        q = turn(s.q0, i, theta)
        s.q1[i, 0], s.q1[i, 1], s.q1[i, 2], s.q1[i, 3] = q.w, q.x, q.y, q.z
        s.q1[i, 4], s.q1[i, 5], s.q1[i, 6] = p.x, p.y, p.z
        R = rotation(q)
        X[i] = Pose(R, p)
        V[i] = Motion(R @ Vec3(s.v1[i, 0], s.v1[i, 1], s.v1[i, 2]), Vec3(s.v1[i, 3], s.v1[i, 4], s.v1[i, 5]))
    if corrected:
        lam, first = flat(s.lam1), WIDTH * (count(s.q1) - 1)
        for o in range(0, count(lam), WIDTH):
            store(lam, o, load(lam, o) + load(x, first + o))
    total_of_x = total(sum_of_x)
    size = of_row(s.most, x_most, length) + (total_of_x - total_of_x)  # `larger` passes NaN over
    return size, of_row(s.most, change_most, length), of_row(s.most, a_most, length)


@formula
def weight(tables, length):
    """|g| in units of `length`: accelerations of bodies that rest have its rounding."""
    x, y, z = row(tables.gravity, 0), row(tables.gravity, 1), row(tables.gravity, 2)
    return sqrt(x * x + y * y + z * z) / length


@formula
def of_row(most, row, length):
    """The largest of the six numbers, lengths beside `length`."""
    store(flat(most), 0, row)
    turned = greater(most[0, 0], greater(most[0, 1], most[0, 2]))
    return greater(turned, greater(most[0, 3], greater(most[0, 4], most[0, 5])) / length)


@formula
def largest_component(d, length):
    most = 0.0
    for i in range(1, len(d)):
        for c in range(3):
            most = max(most, abs(d[i, c]), abs(d[i, c + 3]) / length)
    return most


@formula
def steady(s, length):
    """Whether accelerations do not go to and fro: then Δ² is more than Δ."""
    da, dda, nothing = flat(s.da), flat(s.dda), load(flat(s.most), 3 * WIDTH)
    changed, bent = nothing, nothing
    for o in range(WIDTH, len(da), WIDTH):
        changed, bent = larger(abs(load(da, o)), changed), larger(abs(load(dda, o)), bent)
    return of_row(s.most, bent, length) < BENT * of_row(s.most, changed, length)


@formula
def shift(tables, s, alpha, h, length, memory):
    """a0 and v0, which belong to another step h₀, to where they belong for h:

    a0 + α (h − h₀) v̈,   v0 + (h² − h₀²) (−c v̈ + 1/12 ω × ω̇)

    Velocity rows hold for v itself, so that with them v0 stays. Where accelerations go to and fro, as after a
    jump of the effort, their difference is no v̈: then both stay, or they would be driven on from step to step, the faster the
    shorter these are."""
    h0 = memory.shifted_for
    memory.shifted_for = h
    if h0 == 0.0 or h0 == h or memory.h_last == 0.0 or memory.smooth < 0.0 or not steady(s, length):
        return
    over, squares = 1.0 / memory.h_last, h * h - h0 * h0 if len(tables.slips) == 0 else 0.0
    a, v, da = flat(s.a0), flat(s.v0), flat(s.da)
    of_a, of_v = alpha * (h - h0) * over, -error_constant(alpha) * squares * over
    for o in range(WIDTH, len(a), WIDTH):
        change = load(da, o)
        store(a, o, load(a, o) + of_a * change)
        i = o // WIDTH
        w = Vec3(s.v0[i, 0], s.v0[i, 1], s.v0[i, 2])
        n = squares / 12.0 * cross(w, Vec3(s.d0[i, 0], s.d0[i, 1], s.d0[i, 2]))
        store(v, o, load(v, o) + of_v * change)
        s.v0[i, 0] += n.x
        s.v0[i, 1] += n.y
        s.v0[i, 2] += n.z


@formula
def error_constant(alpha):
    """c."""
    return 0.25 * (1.0 - alpha) * (1.0 - alpha) + 0.5 * alpha - 1.0 / 6.0


@formula
def extrapolate(x, x0, dx, ddx, c, d):
    """x ← x0 + c Δ + d Δ²."""
    for o in range(0, count(x), WIDTH):
        store(x, o, load(x0, o) + c * load(dx, o) + d * load(ddx, o))


@formula
def shorten(x, part):
    for o in range(0, len(x), WIDTH):
        store(x, o, part * load(x, o))


@formula
def difference(x1, x0, dx, ddx, c):
    """Δ, Δ² ← x1 − x0, Δ of now less c times Δ of before; x0 ← x1."""
    for o in range(0, count(x1), WIDTH):
        x = load(x1, o)
        new = x - load(x0, o)
        store(ddx, o, new - c * load(dx, o))
        store(dx, o, new)
        store(x0, o, x)


@formula
def predict(s, c, d):
    """a1, λ1 on the polynomials."""
    extrapolate(flat(s.a1), flat(s.a0), flat(s.da), flat(s.dda), c, d)
    extrapolate(flat(s.lam1), flat(s.lam0), flat(s.dlam), flat(s.ddlam), c, d)


@formula
def watch(tables, s, memory):
    """How independent the new matrix shows the rows to be."""
    if len(tables.watched) > 0:
        note_independence(memory, independence(tables, s))


@formula
def turns_known(tables, s, memory):
    """Whether turns are counted at the end of a step. While no angle can have moved by as much as `SURE` there is nothing to count."""
    memory.turning = memory.turned + 2.0 * most_turned(s)
    if memory.turning < SURE:
        return True
    memory.turning = 0.0
    return count_angles(tables, s) < UNSURE


@formula
def size_of(s, h, memory):
    """The length beside which displacements are judged in a step h [m]."""
    if memory.length > 0.0:
        return memory.length
    moved, place, moving, home = memory.moved, 0.0, 0.0, memory.home
    for i in range(1, len(s.q0)):
        for c, start in enumerate((home.x, home.y, home.z)):
            p = s.q0[i, 4 + c]
            moved, place = max(moved, abs(p - start)), max(place, abs(p))
            moving = max(moving, abs(h * s.v0[i, 3 + c] + 0.5 * h * h * s.a0[i, 3 + c]))
    memory.moved = moved
    return max(moved, moving, memory.least, OF_PLACE * place)


has_areas = generic("has_areas", "Whether there are contacts over areas, which have rows in a `room`.")


@defines(has_areas)
def _(room: None) -> Any:
    return False


@defines(has_areas)
def _(room: Any) -> Any:
    return len(room.rows) > 0


@kernel
def try_step(tables, acts, s, t, h, alpha, memory):
    """One step from (q0, v0, d0, a0, λ0) at t to t + h: a1, λ1 with all that follows from them. Where the extrapolated start
    leads nowhere, once more from a0, λ0. Returns a status and the error of the positions."""
    beta = 0.25 * (1.0 - alpha) * (1.0 - alpha)
    bh2, gh, scale, length = beta * h * h, (0.5 - alpha) * h, 1.0 / (1.0 + alpha), size_of(s, h, memory)
    error_of, failed, g = error_constant(alpha) * h * h, STALLED, weight(tables, length)
    Steps(acts.step).h = h
    shift(tables, s, alpha, h, length, memory)
    foretold = memory.smooth > 0.0
    for _ in range(2):
        c, d = weights(memory, h)
        predict(s, c, d)
        begin(memory, h)
        return_angles(s)
        failed = STALLED
        while True:
            k = memory.k
            size, change, most = new_motion(s, h, alpha, k > 0.0, length)
            verdict = newton_verdict(memory, size, change, most, g, bh2, error_of) if k > 0.0 else ON
            if verdict == DONE:
                return OK if turns_known(tables, s, memory) else UNCOUNTED, memory.error
            if verdict == LOST:
                break
            expect_angles(tables, s)
            if k >= HARD and memory.new > 0.0 and memory.whole == 0.0 and has_areas(acts.forces.room):
                memory.whole, memory.assemble = 1.0, 1.0
            assemble = memory.assemble > 0.0
            if assemble:
                memory.made_for = 0.0
                Steps(acts.step).whole = memory.whole
            status = solved_here(tables, acts, s, t + h, scale, gh, bh2, assemble)
            if status == NO_PIVOT:
                failed = SINGULAR
                break
            if status != OK:
                return status, memory.error
            if assemble:
                note_refactored(memory, h)
                watch(tables, s, memory)
            if memory.part < 1.0:
                shorten(flat(s.x), memory.part)
            corrected(memory)
        if not foretold:
            break
        foretold, memory.smooth = False, CAUTIOUS
    return failed, memory.error


@formula
def copy_back(target, source, first):
    """The rows of `target` from those of `source` from `first` on."""
    to, of = flat(target), flat(source)
    for o in range(0, len(to), WIDTH):
        store(to, o, load(of, WIDTH * first + o))


@formula
def correction(s, nb, length):
    """The largest component of x of the bodies, lengths beside that of the mechanism; NaN where one is."""
    most = 0.0
    for i in range(nb):
        for c in range(6):
            size = abs(s.x[i, c]) / (1.0 if c < 3 else length)
            if not (size <= most):
                most = size
    return most


@outlined
def solved_apart(tables, acts, s, t, scale, gh, bh2, assemble):
    """`solved_here`, for what is seldom run."""
    return solved_here(tables, acts, s, t, scale, gh, bh2, assemble)


@kernel
def damped_step(tables, acts, s, t, h, alpha, memory):
    """The same step by Newton's iteration with a new and whole matrix each time, from a0, λ0, of whose corrections so much is taken that
    the next, with the same matrix, is shorter (natural monotonicity, Deuflhard, Newton Methods for Nonlinear Problems, 2004, 3.1.4)."""
    beta = 0.25 * (1.0 - alpha) * (1.0 - alpha)
    bh2, gh, scale, length = beta * h * h, (0.5 - alpha) * h, 1.0 / (1.0 + alpha), size_of(s, h, memory)
    error_of, part, bodies = error_constant(alpha) * h * h, 1.0, len(s.a1)
    multipliers = bodies + len(s.lam1)
    predict(s, 0.0, 0.0)
    return_angles(s)
    Steps(acts.step).whole = 1.0
    new_motion(s, h, alpha, False, length)
    drop_matrix(memory)
    for _ in range(MOST_DAMPED):
        expect_angles(tables, s)
        status = solved_apart(tables, acts, s, t + h, scale, gh, bh2, True)
        if status != OK:
            return SINGULAR if status == NO_PIVOT else status, memory.error
        note_refactored(memory, h)
        watch(tables, s, memory)
        memory.made_for = 0.0
        copy(acts.kept, 0, s.a1)
        copy(acts.kept, bodies, s.lam1)
        copy(acts.kept, multipliers, s.x)
        part = min(1.0, 2.0 * part)
        while True:
            shorten(flat(s.x), part)
            size, change, most = new_motion(s, h, alpha, True, length)
            size, memory.error = size * (bh2 / part), error_of * change
            memory.iterations += 1.0
            wanted = min(TOLERANCE, max(PART_OF_ACCELERATIONS * bh2 * most, PART_OF_ERROR * memory.error))
            if part == 1.0 and size <= max(rounding(memory), wanted):
                return OK if turns_known(tables, s, memory) else UNCOUNTED, memory.error
            expect_angles(tables, s)
            status = solved_apart(tables, acts, s, t + h, scale, gh, bh2, False)
            if status == OK and bh2 * correction(s, bodies - 1, length) <= (1.0 - SHORTER * part) * size:
                break
            if part < LEAST_DAMPED:
                return STALLED, memory.error
            part *= 0.5
            copy_back(s.a1, acts.kept, 0)
            copy_back(s.lam1, acts.kept, bodies)
            copy_back(s.x, acts.kept, multipliers)
    return STALLED, memory.error


@kernel
def error_of_step(tables, s, t, h, alpha, length):
    """The largest component of e = c h² (a1 − a0), of which A⁻¹ [0; Cq e], along the constraints, counts by ACROSS: there a goes to
    and fro where the step has changed, and the positions have no error; but where e − A⁻¹ [0; Cq e] passes zero, it alone says
    how fast a changes."""
    nb, x = len(s.q1) - 1, flat(s.x)
    for o in range(0, WIDTH * nb, WIDTH):
        store(x, o, 0.0)
    if len(s.C) > 0:
        jacobian_times(tables, s, t, s.a1, s.a0, s.C)
        copy(s.x, nb, s.C)
        solve(tables, s)
    a1, a0, most = flat(s.a1), flat(s.a0), load(flat(s.most), 3 * WIDTH)
    whole = most
    for o in range(0, WIDTH * nb, WIDTH):
        change = load(a1, WIDTH + o) - load(a0, WIDTH + o)
        most, whole = larger(abs(change - load(x, o)), most), larger(abs(change), whole)
    size = max(of_row(s.most, most, length), ACROSS * of_row(s.most, whole, length))
    return error_constant(alpha) * h * h * size


@formula
def accept(s, c):
    """The end of a step becomes the start of the next; c is its ratio to the one before."""
    difference(flat(s.a1), flat(s.a0), flat(s.da), flat(s.dda), c)
    difference(flat(s.lam1), flat(s.lam0), flat(s.dlam), flat(s.ddlam), c)
    copy(s.q0, 0, s.q1)
    copy(s.v0, 0, s.v1)
    copy(s.d0, 0, s.d1)
    keep_angles(s)


def start(acts: Any, s: MotionState, told: Record, t: float, out: np.ndarray) -> int:
    """Place the bodies at q0, v0, d0, λ0, take what rates there are for pseudo-accelerations, and record the state. Returns a status."""
    s.q1[:], s.v1[:], s.lam1[:] = s.q0, s.v0, s.lam0
    s.d1[:], s.a0[:], s.a1[:] = s.d0, s.d0, s.d0
    place_bodies(s, 1)
    status: int = record(acts, s, told, t, 0.0, out, 0)
    return SINGULAR if status == NO_PIVOT else status


@shared
def march_fixed(tables, acts, s, told, t0, dt, k, k_stop, every, alpha, numbers, out):
    """Steps k … k_stop − 1 of the constant dt; every `every`-th state (0: none) goes to the next row of `out` after its step.

    numbers: the `Memory`. Returns (status, steps done in all, rows written); after a step that ends DEPENDENT, rows are to be chosen anew,
    after one that ends APART the blocks of the matrix.
    """
    memory, row = Memory(numbers), 0
    while k < k_stop and row < len(out):
        status, _ = try_step(tables, acts, s, t0 + k * dt, dt, alpha, memory)
        if status == STALLED and has_areas(acts.forces.room):
            status, _ = damped_step(tables, acts, s, t0 + k * dt, dt, alpha, memory)
        if status != OK:
            return status, k, row
        accept(s, remember(memory, dt))
        states_accepted(acts)
        contacts_accepted(acts)
        k += 1
        if every > 0 and k % every == 0:
            status = record(acts, s, told, t0 + k * dt, dt, out, row)
            if status > OK:  # a pose without a matrix is none to stop at
                return status, k, row
            states_recorded(acts, out, row)
            row += 1
        if not within_ends(tables.constraints, s.near):
            return LEFT, k, row
        if is_stale(memory):
            return DEPENDENT, k, row
        if lacks_blocks(acts):
            return APART, k, row
    return OK, k, row


@shared
def march_adaptive(
    tables, acts, s, told, chosen, tolerance, dt_min, dt_max, t_end, work, every, times, alpha, numbers, out
):
    """Steps chosen by their error until t_end, until `out` is full, or until `work` iterations are spent.

    chosen, numbers: `Control` and `Memory`. Steps end at `times`; without times every `every`-th state (0: none) is recorded.
    Returns (status, rows).
    """
    control, memory, length, row, status = Control(chosen), Memory(numbers), tables.length, 0, OK
    t, h, spent = control.t, control.h, memory.iterations
    if h <= 0.0:
        h = min(dt_max, first_step(largest_component(s.d0, length), tables.gravity, length, tolerance), t_end - t)
    while t < t_end and row < len(out) and memory.iterations - spent < work:
        target = t_end
        if control.output < len(times):
            target = min(target, times[int(control.output)])
        step = fitted(t, h, target)
        status, error = try_step(tables, acts, s, t, step, alpha, memory)
        if status == OK:
            error = error_of_step(tables, s, t + step, step, alpha, size_of(s, step, memory))
            error = max(error, states_error(acts, t + step))
        error = error / tolerance if status == OK else FAILED
        if not (error <= 1.0):
            control.rejected += 1.0
            control.error = error
            h = after_rejection(step, error, status != OK)
            memory.made_for = 0.0
            if status >= FORCE_FAILED:
                break
            if h < dt_min or t + h == t:
                status = status if status != OK else STEP_TOO_SMALL
                break
            status = OK
            continue
        accept(s, remember(memory, step))
        states_accepted(acts)
        contacts_accepted(acts)
        states_judged(acts)
        t = target if step == target - t else t + step
        h = after_acceptance(h, step, error, dt_max)
        control.steps += 1.0
        control.error = error
        wanted = control.output < len(times) and t >= times[int(control.output)]
        if wanted:
            control.output += 1.0
        if wanted or (len(times) == 0 and every > 0 and control.steps % every == 0):
            status = record(acts, s, told, t, step, out, row)
            if status > OK:
                break
            status = OK
            states_recorded(acts, out, row)
            row += 1
        if not within_ends(tables.constraints, s.near):
            status = LEFT
            break
        if is_stale(memory):
            status = DEPENDENT
            break
        if lacks_blocks(acts):
            status = APART
            break
    control.t, control.h = t, h
    return status, row
