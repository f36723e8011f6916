"""Adaptive steps of an embedded pair whose last stage is the next step's first, with dense output.

error = ‖h Σ e_i K_i / (atol + rtol scale)‖_rms,   accept if ≤ 1
h ← h min(f_max, max(f_min, s error^(−α) error_old^β)),  α = 1/p − ¾β, β = 0.4/p, p the order
(Hairer, Nørsett & Wanner, Solving ODEs I, sections II.4 and IV.2; after a rejection the step does not grow)

first step (II.4, automatic): h₀ = 0.01 ‖y‖/‖f‖ in the scaled norm, bounded by the interval
dense output (II.6): y(t + θh) = y + h Σ_i b_i(θ) K_i, b_i(θ) = Σ_k P_ik θ^(k+1), in the chart of the step
"""

from __future__ import annotations

import numpy as np

from nexdyn.integrate.fixed import advance, evaluate, first_not_finite
from nexdyn.integrate.problem import (
    MOVED,
    NOT_FINITE,
    OK,
    STEP_TOO_SMALL,
    confine,
    next_sample,
    rates_aside,
    recentre,
    record,
    scale,
    settle,
    take_samples,
)
from nexdyn.kernel import formula, shared

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0


@formula
def error_norm(e, dt, K, rtol, atol, s, size):
    """‖h Σ e_i K_i / (atol + rtol s)‖_rms."""
    total = 0.0
    for m in range(size):
        error = 0.0
        for i in range(len(e)):
            error += e[i] * K[i, m]
        total += (dt * error / (atol + rtol * s[m])) ** 2
    return np.sqrt(total / max(size, 1))


@formula
def worst_component(e, K, rtol, atol, s, size):
    """The component with the largest share in `error_norm`; the first that is not a number, if one is not."""
    worst, largest = 0, -1.0
    for m in range(size):
        error = 0.0
        for i in range(len(e)):
            error += e[i] * K[i, m]
        error = abs(error) / (atol + rtol * s[m])
        if not error <= largest:
            worst, largest = m, error
        if error != error:
            break
    return worst


@formula
def first_step(K, rtol, atol, s, size, dt_max):
    """A step over which y changes by a hundredth of its scale."""
    slope = 0.0
    for m in range(size):
        slope += (K[0, m] / (atol / rtol + s[m])) ** 2
    slope = np.sqrt(slope / max(size, 1))
    return min(dt_max, 0.01 / slope if slope > 1e-8 else 1e-3)


@formula
def interpolate(problem, P, t, theta, dt, y, K, stage, size, out, row):
    """The state at t + θ dt into a row of `out`, its acceleration evaluated there (with stage 1 as scratch)."""
    for m in range(size):
        total = 0.0
        for i in range(len(P)):
            weight = 0.0
            for k in range(P.shape[1] - 1, -1, -1):
                weight = theta * (weight + P[i, k])
            total += weight * K[i, m]
        stage[m] = y[m] + dt * total
    # stage 1 of this pair has no weight in the dense output, so its place is free
    status = rates_aside(problem, t + theta * dt, stage, K, 1)
    if status == OK:
        record(problem, t + theta * dt, stage, K[1:], out, row)
    return status


@shared
def march_adaptive(problem, A, b, c, e, P, control, t_end, work, every, times, y, y_old, stage, s, K, n, out):
    """Steps until t_end (each sample of the problem ends one), until `out` is full, or until `work` evaluations are spent.

    control (15): t, dt (0: choose), last error, steps, next time wanted, evaluations, rejected steps, rtol, atol,
    dt_min, dt_max, whether K_0 is known, whether the present state is recorded, whether the last step was rejected,
    the time at which it failed.
    States go to `out` at `times`, or without times before every `every`-th step (0: never).
    Returns (status, rows, component where it failed).
    """
    size = K.shape[1]
    t, dt, old = control[0], control[1], control[2]
    control[14] = t
    rtol, atol, dt_min, dt_max = control[7], control[8], control[9], control[10]
    order = 5.0
    beta = 0.4 / order
    alpha = 1.0 / order - 0.75 * beta
    row, spent = 0, 0
    status, bad = OK, -1
    if control[11] == 0.0:
        status = rates_aside(problem, t, y, K, 0)
        control[11] = 1.0
        spent += 1
        bad = first_not_finite(K[0], size)
        if status == OK and bad >= 0:
            status = NOT_FINITE
    while status == OK and t < t_end and spent < work and row + 1 < len(out):
        if take_samples(problem, t, y) > 0:
            control[14] = t
            status = rates_aside(problem, t, y, K, 0)
            if status != OK:
                break
        target = min(t_end, next_sample(problem))
        if control[12] == 0.0 and len(times) == 0 and every > 0 and control[3] % every == 0:
            record(problem, t, y, K, out, row)
            row += 1
        control[12] = 1.0
        scale(problem, y, s, n)
        if dt <= 0.0:
            dt = first_step(K, rtol, atol, s, size, dt_max)
        last = t + 1.01 * dt >= target and target - t <= dt_max
        h = target - t if last else dt
        for m in range(size):
            y_old[m] = y[m]
        status, _, control[14] = evaluate(problem, A, c, t, h, y, stage, K, size, 1)
        spent += len(b) - 1
        if status != OK:
            break
        advance(h, b, y, K, size)
        bad = first_not_finite(y, size)
        error = error_norm(e, h, K, rtol, atol, s, size) if bad < 0 else np.inf
        if not (error <= 1.0):
            # rejected: back to the old state with a smaller step
            for m in range(size):
                y[m] = y_old[m]
            control[6] += 1.0
            control[13] = 1.0
            dt = h * (max(SHRINK, SAFETY * error ** (-alpha)) if error < np.inf else SHRINK)
            if dt < dt_min or t + dt == t:
                status = NOT_FINITE if bad >= 0 else STEP_TOO_SMALL
                bad = bad if bad >= 0 else worst_component(e, K, rtol, atol, s, size)
            continue
        confine(problem, y, K, len(b) - 1)
        # outputs inside the step, in the chart of its start
        t_new = target if last else t + h
        while control[4] < len(times) and times[int(control[4])] <= t_new and row + 1 < len(out):
            theta = (times[int(control[4])] - t) / h
            status = interpolate(problem, P, t, theta, h, y_old, K, stage, size, out, row)
            spent += 1
            if status != OK:
                control[14] = times[int(control[4])]
                break
            row += 1
            control[4] += 1.0
        factor = SAFETY * max(error, 1e-10) ** (-alpha) * max(old, 1e-4) ** beta
        most = 1.0 if control[13] else GROW
        dt = h * min(most, max(SHRINK, factor)) if not last else max(dt, h)
        dt = min(dt, dt_max)
        old = error
        t = t_new
        control[3] += 1.0
        control[13] = 0.0
        # the last stage is the next first one, in the chart about the new position
        for m in range(size):
            K[0, m] = K[len(b) - 1, m]
        recentre(problem, y, K, 0)
        control[12] = 0.0
        status = settle(problem, t, y, K)
        control[14] = t
        if status == MOVED:
            # the last stage belongs to the state before
            status = rates_aside(problem, t, y, K, 0)
            spent += 1
    control[0], control[1], control[2] = t, dt, old
    control[5] += spent
    return status, row, bad
