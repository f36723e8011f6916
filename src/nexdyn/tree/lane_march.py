"""Constant steps of several systems at once, one in each lane: the loop of `integrate.fixed` on packs.

    y (2n), K, base, u, … of LANES systems;   t₀ + k dt is the time of all

A system whose state is no longer finite has failed: its lane is told the step, goes on from rest where it was, so that
what it computes stays numbers, and means nothing from then on. The others do not notice.
"""

from __future__ import annotations

from nexdyn.integrate.fixed import advance, evaluate, semi_implicit_step
from nexdyn.integrate.problem import OK, rates, recentre, record
from nexdyn.kernel import formula, shared
from nexdyn.spatial.lanes import LANES, all_less, zero

STEP, COMPONENT = 0, 1
NEVER = -1
EXPLICIT, SEMI_IMPLICIT = range(2)


@formula
def all_finite(y, size):  # type: ignore[no-untyped-def]
    """Whether all components are, in every lane: x − x is 0 only where x is, and a NaN spoils the sum."""
    total = zero(y[0])
    for m in range(size):
        total = total + (y[m] - y[m])
    return all_less(abs(total), 1.0)


@formula
def mark_failed(y, size, k, failed):  # type: ignore[no-untyped-def]
    """The step k and the component into the row of each lane that is not finite, and its state to zero."""
    for s in range(LANES):
        for m in range(size):
            x = y.data[m, 0, s]
            if not (x - x == 0.0):
                if failed[s, STEP] == NEVER:
                    failed[s, STEP], failed[s, COMPONENT] = k, m
                for other in range(size):
                    y.data[other, 0, s] = 0.0
                break


@formula
def drive(problem, inputs, k, n):  # type: ignore[no-untyped-def]
    """u ← the row of the inputs (rows, n) for step k; before the first and behind the last step those hold."""
    row = max(0, min(k, len(inputs.data) - 1))
    for j in range(n):
        problem.u[j] = inputs[row, j]


@shared
def march_lanes(problem, A, b, c, scheme, t0, dt, k, k_stop, every, y, stage, K, n, inputs, shift, failed, out):  # type: ignore[no-untyped-def]
    """Steps k … k_stop − 1; every `every`-th state (0: none) goes to the next row of `out` before its step.

    scheme: EXPLICIT by A, b, c, or SEMI_IMPLICIT. inputs (rows, n): efforts, one row a step, row k + shift for step k.
    failed (LANES, 2) int64: step and component where a lane was first seen not to be finite, −1 before. Returns (status, rows written).
    """
    row = 0
    size = 2 * n
    while k < k_stop:
        t = t0 + k * dt
        drive(problem, inputs, k + shift, n)
        status, _, _ = evaluate(problem, A, c, t, dt, y, stage, K, size, 0)
        if status != OK:
            return status, row
        if every > 0 and k % every == 0:
            record(problem, t, y, K, out, row)
            row += 1
        if scheme == SEMI_IMPLICIT:
            semi_implicit_step(problem, dt, y, K, n)
        else:
            advance(dt, b, y, K, size)
        if not all_finite(y, size):
            mark_failed(y, size, k, failed)
        recentre(problem, y, K, 0)
        k += 1
    return OK, row


@formula
def untwine(room, count, first, rows):  # type: ignore[no-untyped-def]
    """rows (members, …, width) from row `first` on ← `count` rows of room (…, 1 + width, LANES), without their times."""
    for r in range(count):
        for s in range(len(rows)):
            for k in range(rows.shape[2]):
                rows[s, first + r, k] = room.data[r, 1 + k, s]


@shared
def march_and_keep(  # type: ignore[no-untyped-def]
    problem, A, b, c, scheme, t0, dt, k, k_stop, every, y, stage, K, n, inputs, shift, t_end, failed, room, rows, row
):
    """`march_lanes` by way of `room`, as full as it gets, into rows (members, …, width) from `row` on. Returns the next row.

    Where t_end is not NaN, the states that are reached follow, as at t_end and under the inputs of the last step, their
    accelerations in K_0.
    """
    while k < k_stop:
        stop = min(k_stop, k + len(room.data) * every) if every > 0 else k_stop
        _, written = march_lanes(
            problem, A, b, c, scheme, t0, dt, k, stop, every, y, stage, K, n, inputs, shift, failed, room
        )
        untwine(room, written, row, rows)
        row += written
        k = stop
    if t_end == t_end:
        drive(problem, inputs, k_stop - 1 + shift, n)
        rates(problem, t_end, y, K, 0)
        record(problem, t_end, y, K, room, 0)
        untwine(room, 1, row, rows)
        row += 1
    return row
