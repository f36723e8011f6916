"""HHT-α for index-3 equations in the form HHT-I3, with its time loop.

Newmark's formulas with the pseudo-acceleration a (Negrut, Rampalli, Ottarsson & Sajdak 2007; for rotations and varying
inertia Arnold & Brüls 2007, Brüls & Cardona 2010), on increments (θ, δ) of a body, R exp θ, p + δ:

    (θ, δ) = h v + h² ((½ − β) a + β a⁺),   v⁺ = v + h ((1 − γ) a + γ a⁺),   γ = ½ − α,  β = ¼ (1 − α)²
    a⁺ = (1 + α) v̇⁺ − α v̇,      M v̇⁺ + … + Cqᵀ λ⁺ = Q,      C(q⁺, t⁺) = 0

With the unknowns a⁺ and λ⁺ the inertia in the iteration matrix has the factor 1/(1 + α), and the constraints divided by
β h² have Cq: its condition stays as h → 0. Velocity rows A v + b = 0 hold for v⁺ and are
divided by γ h: index 2 beside the others' 3, with the same matrix. The error of the positions is that of Newmark's formula,

    e = c h² (a⁺ − a),   c = β + ½ α − ⅙
"""

from __future__ import annotations

import numpy as np

from nexdyn.absolute.equations import place_bodies, residual, turn, velocity_residual
from nexdyn.kernel import formula, kernel
from nexdyn.linalg.ldl import factor, solve
from nexdyn.linalg.rows import WIDTH, load, store
from nexdyn.spatial.algebra import Motion, Pose, Vec3, rotation
from nexdyn.spatial.table import MotionRows, PoseRows

OK, NOT_FINITE, STALLED, SINGULAR, STEP_TOO_SMALL = range(5)
MOST_ITERATIONS = 12
LARGEST_CORRECTION = 2.0
"""A correction by more than this, in rad or lengths of the mechanism, is no correction."""
TOLERANCE, ROUNDING = 1e-11, 1e-17
"""Error of the positions that Newton's iteration may leave, in rad or lengths of the mechanism; what rounding leaves."""
PART = 1e-11
"""… and of the accelerations, as a part of the largest."""
SINGULAR_POSE = 1e-9
"""Correction that still counts as solved where the rows become dependent and rounding is amplified."""
UNKNOWN = 0.3
"""Contraction that is reckoned with before it has been measured in the step."""
REUSE = 0.01
"""Contraction up to which a matrix serves another step."""


@formula
def copy(target, first, source):  # type: ignore[no-untyped-def]
    """The rows of `source` into those of `target` from `first` on."""
    to, of = target.reshape(-1), source.reshape(-1)
    for i in range(len(source)):
        store(to, WIDTH * (first + i), load(of, WIDTH * i))


@kernel
def new_motion(tables, s, h, alpha, i0):  # type: ignore[no-untyped-def]
    """q1, v1, v̇ = d1, poses and twists from a1."""
    gamma, beta = 0.5 - alpha, 0.25 * (1.0 - alpha) * (1.0 - alpha)
    v0, v1, a0, a1 = s.v0.reshape(-1), s.v1.reshape(-1), s.a0.reshape(-1), s.a1.reshape(-1)
    d0, d1 = s.d0.reshape(-1), s.d1.reshape(-1)
    X, V = PoseRows(s.poses, 0), MotionRows(s.twists, 0)
    h_old, h_new, part = h * (1.0 - gamma), h * gamma, 1.0 / (1.0 + alpha)
    x_old, x_new = h * h * (0.5 - beta), h * h * beta
    for i in range(1, len(s.q1)):
        o = WIDTH * i
        v, a, a_ = load(v0, o), load(a0, o), load(a1, o)
        store(v1, o, v + h_old * a + h_new * a_)
        store(d1, o, part * (a_ + alpha * load(d0, o)))
        step = h * v + x_old * a + x_new * a_
        store(s.q1.reshape(-1), o, step)  # a place to take its entries from
        theta = Vec3(s.q1[i, 0], s.q1[i, 1], s.q1[i, 2])
        p = Vec3(s.q0[i, 4] + s.q1[i, 3], s.q0[i, 5] + s.q1[i, 4], s.q0[i, 6] + s.q1[i, 5])
        q = turn(s.q0, i, theta)
        s.q1[i, 0], s.q1[i, 1], s.q1[i, 2], s.q1[i, 3] = q.w, q.x, q.y, q.z
        s.q1[i, 4], s.q1[i, 5], s.q1[i, 6], s.q1[i, 7] = p.x, p.y, p.z, 0.0
        R = rotation(q)
        X[i] = Pose(R, p)
        V[i] = Motion(R @ Vec3(s.v1[i, 0], s.v1[i, 1], s.v1[i, 2]), Vec3(s.v1[i, 3], s.v1[i, 4], s.v1[i, 5]))


@kernel
def correct(s, nb):  # type: ignore[no-untyped-def]
    """a1 and λ1 with the solution x; returns the largest component of (angular, linear) in it, ∞ if one is no number."""
    w_max, v_max, total = 0.0, 0.0, 0.0
    for i in range(nb):
        x = s.x[i]
        for c in range(3):
            s.a1[i + 1, c] += x[c]
            s.a1[i + 1, c + 3] += x[c + 3]
            w_max = max(w_max, abs(x[c]))
            v_max = max(v_max, abs(x[c + 3]))
            total += x[c] + x[c + 3]
    if not (total - total == 0.0):
        w_max = np.inf  # max passes NaN over
    flat, lam = s.x.reshape(-1), s.lam1.reshape(-1)
    for g in range(len(s.lam1)):
        store(lam, WIDTH * g, load(lam, WIDTH * g) + load(flat, WIDTH * (nb + g)))
    return w_max, v_max


@formula
def largest_change(s, length):  # type: ignore[no-untyped-def]
    """max |a⁺ − a| of all bodies, lengths beside that of the mechanism."""
    w_max, v_max = 0.0, 0.0
    for i in range(1, len(s.a1)):
        for c in range(3):
            w_max = max(w_max, abs(s.a1[i, c] - s.a0[i, c]))
            v_max = max(v_max, abs(s.a1[i, c + 3] - s.a0[i, c + 3]))
    return max(w_max, v_max / length)


@formula
def largest_component(d, length):  # type: ignore[no-untyped-def]
    most = 0.0
    for i in range(1, len(d)):
        for c in range(3):
            most = max(most, abs(d[i, c]), abs(d[i, c + 3]) / length)
    return most


@formula
def shift(s, alpha, h, memory):  # type: ignore[no-untyped-def]
    """a0, which stands for the rates at t + α h of another h, for those of this h: a0 + α (h − h₀) v̈."""
    if memory[4] > 0.0 and memory[4] != h:
        a, rate, c = s.a0.reshape(-1), s.rate.reshape(-1), alpha * (h - memory[4])
        for i in range(1, len(s.a0)):
            store(a, WIDTH * i, load(a, WIDTH * i) + c * load(rate, WIDTH * i))
    memory[4] = h


@kernel
def try_step(tables, acts, s, t, h, alpha, memory):  # type: ignore[no-untyped-def]
    """One step from (q0, v0, d0, a0, λ0) at t to t + h; returns a status.

    memory (6): contraction of the last Newton iteration, step of the matrix at hand (0: none), iterations and
    factorisations so far, the step that a0 belongs to (0: none).
    """
    gamma, beta = 0.5 - alpha, 0.25 * (1.0 - alpha) * (1.0 - alpha)
    bh2, gh, scale = beta * h * h, gamma * h, 1.0 / (1.0 + alpha)
    nb, length = len(s.q1) - 1, tables.length
    shift(s, alpha, h, memory)
    copy(s.a1, 0, s.a0)
    copy(s.lam1, 0, s.lam0)
    new_motion(tables, s, h, alpha, 1)
    assemble = memory[1] != h or memory[0] > REUSE
    theta, before, count = UNKNOWN, 0.0, 0
    for k in range(MOST_ITERATIONS):
        status = residual(tables, acts, s, t + h, scale, gh, bh2, assemble)
        if status != OK:
            return status
        if assemble:
            memory[1] = 0.0
            _, failed = factor(tables.plan, s.blocks, s.work)
            if failed >= 0:
                return SINGULAR
            memory[1] = h
            memory[3] += 1.0
            count = 0
        solve(tables.plan, s.blocks, s.x)
        w, v = correct(s, nb)
        memory[2] += 1.0
        size = bh2 * max(w, v / length)
        if not (size < LARGEST_CORRECTION):
            memory[1] = 0.0
            return STALLED
        new_motion(tables, s, h, alpha, 1)
        if count > 0:
            theta = size / before if before > 0.0 else 0.0
            memory[0] = theta
        wanted = min(TOLERANCE, max(ROUNDING, PART * bh2 * largest_component(s.a1, length)))
        if theta < 1.0 and theta / (1.0 - theta) * size <= wanted:
            return OK
        if size <= ROUNDING or (k > 0 and size < TOLERANCE and theta > 0.3):
            return OK  # what rounding leaves
        before = size
        count += 1
        # slow: a new matrix, here
        assemble = count > 1 and theta > 0.3
    memory[1] = 0.0
    return OK if before < SINGULAR_POSE else STALLED


@kernel
def accept(s, h):  # type: ignore[no-untyped-def]
    """The end of a step h becomes the start of the next."""
    d0, d1, rate, c = s.d0.reshape(-1), s.d1.reshape(-1), s.rate.reshape(-1), 1.0 / h
    for i in range(1, len(s.d0)):
        store(rate, WIDTH * i, c * (load(d1, WIDTH * i) - load(d0, WIDTH * i)))
    copy(s.q0, 0, s.q1)
    copy(s.v0, 0, s.v1)
    copy(s.d0, 0, s.d1)
    copy(s.a0, 0, s.a1)
    copy(s.lam0, 0, s.lam1)


@kernel
def record(tables, acts, s, t, alpha, h, out, row):  # type: ignore[no-untyped-def]
    """Row `row` of out ← t, largest |C|, then q (7), v (6), v̇ (6) of each body, then the multipliers of the kept rows.

    The velocity is projected to Cq v = ν, in the metric of the iteration matrix; the march does not see it.
    """
    nb = len(s.q1) - 1
    v = s.spare
    copy(v, 0, s.v1)
    status = residual(
        tables, acts, s, t, 1.0 / (1.0 + alpha), (0.5 - alpha) * h, 0.25 * (1.0 - alpha) ** 2 * h * h, False
    )
    most = 0.0
    for g in range(len(s.C)):
        for c in range(WIDTH):
            most = max(most, abs(s.C[g, c]))
    if len(s.C) > 0:
        for _ in range(2):
            velocity_residual(tables, s, t, v, s.C)
            s.x[:nb] = 0.0
            copy(s.x, nb, s.C)
            solve(tables.plan, s.blocks, s.x)
            for i in range(nb):
                for c in range(6):
                    v[i + 1, c] -= s.x[i, c]
    out[row, 0], out[row, 1] = t, most
    o = 2
    for i in range(1, nb + 1):
        for c in range(7):
            out[row, o + c] = s.q1[i, c]
        for c in range(6):
            out[row, o + 7 + c] = v[i, c]
            out[row, o + 13 + c] = s.d1[i, c]
        o += 19
    for r in range(len(tables.rows)):
        out[row, o + r] = s.lam1[tables.rows[r, 0], tables.rows[r, 1]]
    return status


@kernel
def start(tables, acts, s, t, alpha, h, out):  # type: ignore[no-untyped-def]
    """Place the bodies at q0, v0, d0, λ0, take what rates there are for pseudo-accelerations, and record the state."""
    copy(s.q1, 0, s.q0)
    copy(s.v1, 0, s.v0)
    copy(s.d1, 0, s.d0)
    copy(s.a0, 0, s.d0)
    copy(s.a1, 0, s.d0)
    copy(s.lam1, 0, s.lam0)
    place_bodies(s, 1)
    gamma, beta = 0.5 - alpha, 0.25 * (1.0 - alpha) * (1.0 - alpha)
    status = residual(tables, acts, s, t, 1.0 / (1.0 + alpha), gamma * h, beta * h * h, True)
    if status != OK:
        return status
    _, failed = factor(tables.plan, s.blocks, s.work)
    if failed >= 0:
        return SINGULAR
    return record(tables, acts, s, t, alpha, h, out, 0)


@kernel
def march_fixed(tables, acts, s, t0, dt, k, k_stop, every, alpha, memory, out):  # type: ignore[no-untyped-def]
    """Steps k … k_stop − 1 of the constant dt; every `every`-th state (0: none) goes to the next row of `out` after its step.

    Returns (status, steps done in all, rows written).
    """
    row = 0
    while k < k_stop and row < len(out):
        status = try_step(tables, acts, s, t0 + k * dt, dt, alpha, memory)
        if status != OK:
            return status, k, row
        accept(s, dt)
        k += 1
        if every > 0 and k % every == 0:
            status = record(tables, acts, s, t0 + k * dt, alpha, dt, out, row)
            if status != OK:
                return status, k, row
            row += 1
    return OK, k, row


@kernel
def march_adaptive(tables, acts, s, control, rtol, dt_min, dt_max, t_end, work, every, times, alpha, memory, out):  # type: ignore[no-untyped-def]
    """Steps chosen by their error until t_end, until `out` is full, or until `work` iterations are spent.

    control (6): t, step to try next (0: choose), steps, next of `times` wanted, rejected steps, error of the last step.
    Steps end at `times`; without times every `every`-th state (0: none) is recorded. Returns (status, rows).
    """
    beta = 0.25 * (1.0 - alpha) * (1.0 - alpha)
    factor_of_error, length = beta + 0.5 * alpha - 1.0 / 6.0, tables.length
    t, h, row, spent = control[0], control[1], 0, memory[2]
    status = OK
    if h <= 0.0:
        # the displacement ½ a h² of the first step is a part of what the tolerance allows
        a = largest_component(s.d0, length)
        h = min(dt_max, 0.1 * (rtol / max(a, 1e-3)) ** 0.5, t_end - t)
    while t < t_end and row < len(out) and memory[2] - spent < work:
        target = t_end
        if control[3] < len(times):
            target = min(target, times[int(control[3])])
        step = h
        if t + 1.001 * step >= target:
            step = target - t
        elif t + 2.0 * step > target:
            step = 0.5 * (target - t)
        status = try_step(tables, acts, s, t, step, alpha, memory)
        error = 4.0
        if status == OK:
            error = factor_of_error * step * step * largest_change(s, length) / rtol
        if not (error <= 1.0):
            control[4] += 1.0
            h = step * (0.25 if status != OK else max(0.2, 0.9 * error ** (-1.0 / 3.0)))
            memory[0] = 1.0
            if status >= 100:
                break
            if h < dt_min or t + h == t:
                status = status if status != OK else STEP_TOO_SMALL
                break
            status = OK
            continue
        accept(s, step)
        t = target if step == target - t else t + step
        factor_of_step = min(2.0, 0.9 * max(error, 1e-9) ** (-1.0 / 3.0))
        # small changes are not worth a new matrix
        proposed = step * factor_of_step
        if proposed > h or step >= 0.999 * h:
            h = min(dt_max, h if 1.0 <= factor_of_step < 1.15 and step == h else proposed)
        control[2] += 1.0
        control[5] = error
        wanted = control[3] < len(times) and t >= times[int(control[3])]
        if wanted:
            control[3] += 1.0
        if wanted or (len(times) == 0 and every > 0 and control[2] % every == 0):
            status = record(tables, acts, s, t, alpha, step, out, row)
            if status != OK:
                break
            row += 1
    control[0], control[1] = t, h
    return status, row
