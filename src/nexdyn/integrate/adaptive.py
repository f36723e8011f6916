"""Adaptive steps of an embedded pair (``integrate.pairs``), with dense output.

error as the pair estimates it, scaled by atol + rtol scale in the root mean square,   accept if ≤ 1
h ← h min(f_max, max(f_min, s error^(−α) error_old^β)),  α = 1/p − ¾β, β = 0.4/p, errors go as h^p
(Hairer, Nørsett & Wanner, Solving ODEs I, sections II.4 and IV.2; after a rejection the step does not grow)

first step (II.4, automatic): h₀ = 0.01 ‖y‖/‖f‖ in the scaled norm, bounded by the interval
outputs are in the chart of the step in which they fall
"""

from __future__ import annotations

import numpy as np

from nexdyn.integrate.fixed import advance, evaluate, first_not_finite
from nexdyn.integrate.pairs.pair import EmbeddedPair
from nexdyn.integrate.problem import (
    MOVED,
    NOT_FINITE,
    OK,
    STEP_TOO_SMALL,
    confine,
    look_at_all,
    look_at_less,
    next_sample,
    rates_aside,
    recentre,
    record,
    scale,
    settle,
    take_samples,
)
from nexdyn.kernel import formula, shared
from nexdyn.records import Record

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0
OF_LOWER_ORDER = 0.01
"""Weight of the second estimate of an error (II.10)."""


class Control(Record):
    """The state of a march between two calls of its kernel."""

    t: float
    """[s]"""
    dt: float
    """The next step [s]; 0: choose it."""
    last_error: float
    steps: float
    next_output: float
    """Which of the output times comes next."""
    evaluations: float
    rejected: float
    """Steps."""
    rtol: float
    atol: float
    dt_min: float
    dt_max: float
    first_stage_known: float
    recorded: float
    """Whether the present state has been looked at for a record."""
    again: float
    """Whether the last step was rejected."""
    failed_at: float
    """When the evaluation that failed was [s]."""


def begin(method: EmbeddedPair, t: float, dt: float) -> tuple[Control, np.ndarray]:
    """The control of a march from t, with dt to begin with (0: choose it), and the numbers that it lies in."""
    numbers = np.zeros(Control.columns)
    control = Control(numbers)
    control.t, control.dt, control.last_error = t, dt, 1e-4
    control.rtol, control.atol = method.rtol, method.atol
    control.dt_min, control.dt_max = method.dt_min, min(method.dt_max, 1e300)
    return control, numbers


@formula
def scaled_norm(E, k, dt, K, rtol, atol, s, size):
    """‖h Σ e_i K_i / (atol + rtol s)‖_rms, e row k of E."""
    total = 0.0
    for m in range(size):
        error = 0.0
        for i in range(E.shape[1]):
            error += E[k, i] * K[i, m]
        total += (dt * error / (atol + rtol * s[m])) ** 2
    return np.sqrt(total / max(size, 1))


@formula
def error_norm(E, dt, K, rtol, atol, s, size):
    """E, or E² / √(E² + 0.01 E'²) of two estimates."""
    error = scaled_norm(E, 0, dt, K, rtol, atol, s, size)
    if len(E) > 1:
        lower = scaled_norm(E, 1, dt, K, rtol, atol, s, size)
        both = np.sqrt(error * error + OF_LOWER_ORDER * lower * lower)
        error = error * error / both if both != 0.0 else 0.0
    return error


@formula
def worst_component(E, K, rtol, atol, s, size):
    """The component with the largest share in `error_norm`; the first that is not a number, if one is not."""
    worst, largest = 0, -1.0
    for m in range(size):
        error = 0.0
        for i in range(E.shape[1]):
            error += E[0, i] * K[i, m]
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
def extend(problem, pair, t, dt, y, K, stage, size):
    """The stages for dense output alone. Returns a status."""
    A, c = pair.A, pair.c
    for i in range(pair.end + 1, len(c)):
        for m in range(size):
            total = 0.0
            for j in range(i):
                total += A[i, j] * K[j, m]
            stage[m] = y[m] + dt * total
        status = rates_aside(problem, t + c[i] * dt, stage, K, i)
        if status != OK:
            return status
    return OK


@formula
def interpolate(problem, pair, t, theta, dt, y, y_new, K, stage, size, out, row):
    """The state at t + θ dt into a row of `out`, its acceleration evaluated there. Returns a status."""
    D, end, between = pair.D, pair.end, len(K) - 1
    for m in range(size):
        beyond = 0.0
        for k in range(len(D) - 1, -1, -1):
            weighted = 0.0
            for i in range(D.shape[1]):
                weighted += D[k, i] * K[i, m]
            beyond = (theta if k % 2 else 1.0 - theta) * (dt * weighted + beyond)
        # Hermite's cubic, and what is beyond
        change = y_new[m] - y[m]
        first = dt * K[0, m] - change
        second = change - dt * K[end, m] - first
        stage[m] = y[m] + theta * (change + (1.0 - theta) * (first + theta * (second + beyond)))
    if first_not_finite(stage, size) >= 0:
        return NOT_FINITE
    status = rates_aside(problem, t + theta * dt, stage, K, between)
    if status == OK:
        record(problem, t + theta * dt, stage, K[between:], out, row)
    return status


@shared
def march_adaptive(problem, pair, numbers, t_end, work, every, times, y, y_old, stage, s, K, n, out):
    """Steps until t_end (each sample of the problem ends one), until `out` is full, or until `work` evaluations are spent.

    pair: its tables; K (`Pair.size`, size of y); numbers: of a `Control`. States go to `out` at `times`, or without times before every
    `every`-th step (0: never). Where rates inside a step fail, y is the state at its start.
    Returns (status, rows, component where it failed).
    """
    control = Control(numbers)
    size, end, stages = K.shape[1], pair.end, len(pair.b)
    t, dt, old = control.t, control.dt, control.last_error
    control.failed_at = t
    rtol, atol, dt_min, dt_max = control.rtol, control.atol, control.dt_min, control.dt_max
    beta = 0.4 / pair.error_order
    alpha = 1.0 / pair.error_order - 0.75 * beta
    row, spent = 0, 0
    status, bad = OK, -1
    look_at_all(problem)
    if control.first_stage_known == 0.0:
        status = rates_aside(problem, t, y, K, 0)
        control.first_stage_known = 1.0
        spent += 1
        bad = first_not_finite(K[0], size)
        if status == OK and bad >= 0:
            status = NOT_FINITE
    while status == OK and t < t_end and spent < work and row + 1 < len(out):
        if take_samples(problem, t, y) > 0:
            control.failed_at = t
            status = rates_aside(problem, t, y, K, 0)
            if status != OK:
                break
        target = min(t_end, next_sample(problem))
        if control.recorded == 0.0 and len(times) == 0 and every > 0 and control.steps % every == 0:
            record(problem, t, y, K, out, row)
            row += 1
        control.recorded = 1.0
        scale(problem, y, s, n)
        if dt <= 0.0:
            dt = first_step(K, rtol, atol, s, size, dt_max)
        last = t + 1.01 * dt >= target and target - t <= dt_max
        h = target - t if last else dt
        t_new = target if last else t + h
        for m in range(size):
            y_old[m] = y[m]
        status, _, control.failed_at = evaluate(problem, pair.A, pair.c[:stages], t, h, y, stage, K, size, 1)
        spent += stages - 1
        if status != OK:
            break
        advance(problem, h, pair.b, y, K, size)
        bad = first_not_finite(y, size)
        error = error_norm(pair.E, h, K, rtol, atol, s, size) if bad < 0 else np.inf
        if error <= 1.0 and end == stages:
            # no stage is at the end of the step
            control.failed_at = t_new
            status = rates_aside(problem, t_new, y, K, end)
            spent += 1
            bad = first_not_finite(K[end], size) if status == OK else -1
            error = error if bad < 0 else np.inf
        if not (error <= 1.0) or status != OK:
            for m in range(size):
                y[m] = y_old[m]
            if status != OK:
                break
            # rejected: a smaller step from the old state
            control.rejected += 1.0
            control.again = 1.0
            dt = h * (max(SHRINK, SAFETY * error ** (-alpha)) if error < np.inf else SHRINK)
            if dt < dt_min or t + dt == t:
                status = NOT_FINITE if bad >= 0 else STEP_TOO_SMALL
                bad = bad if bad >= 0 else worst_component(pair.E, K, rtol, atol, s, size)
            continue
        confine(problem, y, K, end)
        # outputs inside the step, in the chart of its start
        extended = False
        while control.next_output < len(times) and times[int(control.next_output)] <= t_new and row + 1 < len(out):
            control.failed_at = times[int(control.next_output)]
            if not extended:
                extended = True
                status = extend(problem, pair, t, h, y_old, K, stage, size)
                spent += len(pair.c) - end - 1
            if status == OK:
                theta = (times[int(control.next_output)] - t) / h
                status = interpolate(problem, pair, t, theta, h, y_old, y, K, stage, size, out, row)
                spent += 1
            if status != OK:
                bad = first_not_finite(stage, size) if status == NOT_FINITE else bad
                break
            row += 1
            control.next_output += 1.0
        if status != OK:
            for m in range(size):
                y[m] = y_old[m]
            break
        factor = SAFETY * max(error, 1e-10) ** (-alpha) * max(old, 1e-4) ** beta
        most = 1.0 if control.again else GROW
        dt = h * min(most, max(SHRINK, factor)) if not last else max(dt, h)
        dt = min(dt, dt_max)
        old = error
        t = t_new
        control.steps += 1.0
        control.again = 0.0
        # the end of the step is the start of the next, in the chart about the new position
        for m in range(size):
            K[0, m] = K[end, m]
        recentre(problem, y, K, 0)
        control.recorded = 0.0
        status = settle(problem, t, y, K)
        control.failed_at = t
        if status == MOVED:
            # the last stage belongs to the state before
            status = rates_aside(problem, t, y, K, 0)
            spent += 1
        look_at_less(problem, K)
    control.t, control.dt, control.last_error = t, dt, old
    control.evaluations += spent
    return status, row, bad
