"""Constant steps: explicit Runge–Kutta methods and semi-implicit Euler, compiled with their time loop.

Time is t₀ + k dt, not a sum. The state y has 2n components: ξ (n), zero between steps, and v (n).
"""

from __future__ import annotations

from nexdyn.integrate.problem import (
    MOVED,
    NOT_FINITE,
    OK,
    confine,
    look_at_all,
    look_at_less,
    next_sample,
    rates_aside,
    recentre,
    record,
    settle,
    stage_rates,
    stretch,
    stretches,
    take_samples,
)
from nexdyn.kernel import formula, inlined, kernel, shared


@formula
def first_not_finite(y, size):
    """The first component that is NaN or infinite (x − x ≠ 0); −1 if none is."""
    for m in range(size):
        if not (y[m] - y[m] == 0.0):
            return m
    return -1


@formula
def first_beyond(y, most, begin, end):
    """The first component that is NaN or of greater size than `most` allows; −1 if none is."""
    for m in range(begin, end):
        if not (abs(y[m]) <= most[m]):
            return m
    return -1


@formula
def beyond(problem, y, most, size):
    """`first_beyond` of what may differ from 0."""
    for p in range(stretches(problem, y)):
        begin, end = stretch(problem, p, size)
        bad = first_beyond(y, most, begin, end)
        if bad >= 0:
            return bad
    return -1


@inlined
def evaluate(problem, A, c, t, dt, y, stage, K, size, first):
    """K_i = f(t + c_i dt, y + dt Σ_{j<i} a_ij K_j), i = first, …: the status, how many are known, when it failed."""
    for i in range(first, len(c)):
        at = y
        for j in range(i):
            h = dt * A[i, j]
            if h != 0.0:
                for p in range(stretches(problem, y)):
                    begin, end = stretch(problem, p, size)
                    for m in range(begin, end):
                        stage[m] = at[m] + h * K[j, m]
                at = stage
        t_i = t + c[i] * dt
        status = stage_rates(problem, t_i, at, K, i)
        if status != OK:
            return status, i, t_i
        if i == 0:
            confine(problem, y, K, 0)
    return OK, len(c), t


@inlined
def advance(problem, dt, b, y, K, size):
    """y ← y + dt Σ b_i K_i."""
    for p in range(stretches(problem, y)):
        begin, end = stretch(problem, p, size)
        for m in range(begin, end):
            total = b[0] * K[0, m]
            for i in range(1, len(b)):
                total = total + b[i] * K[i, m]
            y[m] = y[m] + dt * total


@inlined
def semi_implicit_step(problem, dt, y, K, n):
    """v ← v + dt a,  ξ ← dt ξ̇(v⁺);  a in K_0."""
    for m in range(n, 2 * n):
        y[m] = y[m] + dt * K[0, m]
    # at ξ = 0 nothing moves: this gives the chart's rate of the new velocity
    recentre(problem, y, K, 0)
    for m in range(n):
        y[m] = dt * K[0, m]


@shared
def march(problem, A, b, c, semi_implicit, t0, dt, k, k_stop, every, y, most, stage, K, n, out):
    """Steps k … k_stop − 1; every `every`-th state (0: none) goes to the next row of `out` before its step.

    A step is divided where something is sampled inside it. Where a component of y becomes larger than `most` (size,) the
    march ends as NOT_FINITE. Returns (status, steps done in all, rows written, component where it failed, time at which it
    failed).
    """
    row, size = 0, K.shape[1]
    t = t0 + k * dt
    look_at_all(problem)
    while k < k_stop:
        t = t0 + k * dt
        at, last, kept = t, False, False
        while not last:
            take_samples(problem, at, y)
            then = next_sample(problem)
            last = then >= t + dt * (1.0 - 1e-9)
            h = then - at
            if last:
                h = dt if at == t else t + dt - at
            status, known, t_failed = evaluate(problem, A, c, at, h, y, stage, K, size, 0)
            broken = False
            if at == t and every > 0 and k % every == 0 and known > 0:
                kept = True
                record(problem, t, y, K, out, row)
                row += 1
            if status != OK:
                return status, k, row, -1, t_failed
            if semi_implicit:
                if size > 2 * n:
                    broken = first_not_finite(K[0], 2 * n) >= 0
                semi_implicit_step(problem, h, y, K, n)
                if size > 2 * n and first_beyond(y, most, 0, 2 * n) < 0:
                    # ξ and z by v⁺ half way: at the start what goes round with a body would leave its circle, and friction not see it
                    for p in range(stretches(problem, y)):
                        begin, end = stretch(problem, p, size)
                        for m in range(begin, end):
                            stage[m] = 0.5 * y[m] if m < n else y[m]
                    status = stage_rates(problem, at + 0.5 * h, stage, K, 0)
                    if status != OK:
                        return status, k, row, -1, at + 0.5 * h
                    for m in range(n):
                        y[m] = h * K[0, m]
                    for p in range(stretches(problem, y)):
                        begin, end = stretch(problem, p, size)
                        for m in range(max(begin, 2 * n), end):
                            y[m] = y[m] + h * K[0, m]
            else:
                advance(problem, h, b, y, K, size)
            bad = beyond(problem, y, most, size)
            if bad >= 0:
                # the state just kept is no use where its acceleration was not finite already
                spoilt = kept and (broken if semi_implicit and size > 2 * n else first_not_finite(K[0], 2 * n) >= 0)
                bent = y[bad] - y[bad] == 0.0
                return NOT_FINITE, k, row - 1 if spoilt else row, bad, at + h if bent else t
            recentre(problem, y, K, 0)
            at = t0 + (k + 1) * dt if last else then
            status = settle(problem, at, y, K)
            if status != OK and status != MOVED:
                return status, k, row, -1, at
            look_at_less(problem, K)
        k += 1
    return OK, k, row, -1, t


@kernel
def sample(problem, t, y, K, n, out):
    """The state at t, with its acceleration if that is finite, into row 0 of `out`.

    Returns (status, component that is not finite).
    """
    look_at_all(problem)
    take_samples(problem, t, y)
    status = rates_aside(problem, t, y, K, 0)
    if status != OK:
        return status, -1
    bad = first_not_finite(K[0], 2 * n)
    if bad >= 0:
        return NOT_FINITE, bad
    confine(problem, y, K, 0)
    record(problem, t, y, K, out, 0)
    return OK, -1
