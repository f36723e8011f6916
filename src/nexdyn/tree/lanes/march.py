"""Constant steps of several systems at once, one in each lane: the loop of `integrate.fixed` on packs.

    y (2n + nz), K, base, u, … of LANES systems, nz the states of friction that sticks;   t₀ + k dt is the time of all

A system whose state is no longer finite has failed: its lane is told the step, goes on from rest where it was, so that
what it computes stays numbers, and means nothing from then on. The others do not notice.
"""

from __future__ import annotations

from typing import Any

from nexdyn.generic import defines, generic
from nexdyn.integrate.fixed import advance, evaluate, semi_implicit_step
from nexdyn.integrate.problem import OK, confine, rates_aside, recentre, record, stage_rates
from nexdyn.kernel import formula, shared
from nexdyn.records import Record, rows_of
from nexdyn.spatial.lanes import LANES, all_less, lane, zero
from nexdyn.tree.lanes.entries import gather
from nexdyn.tree.motion import Factorisation, TreeProblem

NEVER = -1
EXPLICIT, SEMI_IMPLICIT = range(2)


class Failed(Record):
    """The step at which a lane was first seen not to be finite, `NEVER` before, and the component."""

    step: int
    component: int


Failures = rows_of(Failed)


@formula
def all_finite(y, size):
    """Whether all components are, in every lane: x − x is 0 only where x is, and a NaN spoils the sum."""
    total = zero(y[0])
    for m in range(size):
        total = total + (y[m] - y[m])
    return all_less(abs(total), 1.0)


@formula
def mark_failed(y, size, k, failed):
    """The step k and the component into the row of each lane that is not finite, and its state to zero."""
    for s in range(LANES):
        for m in range(size):
            x = y.data[m, 0, s]
            if not (x - x == 0.0):
                if failed[s].step == NEVER:
                    failed[s].step, failed[s].component = k, m
                for other in range(size):
                    y.data[other, 0, s] = 0.0
                break


@formula
def drive(problem, inputs, k, n):
    """u ← the row of the inputs (rows, n) for step k; before the first and behind the last step those hold."""
    row = max(0, min(k, len(inputs.data) - 1))
    for j in range(n):
        problem.u[j] = inputs[row, j]


@formula
def states_step(problem, t, dt, y, stage, K, n, size):
    """ξ and z by v⁺ half way, as ``integrate.fixed`` does."""
    for m in range(size):
        stage[m] = 0.5 * y[m] if m < n else y[m]
    stage_rates(problem, t + 0.5 * dt, stage, K, 0)
    for m in range(n):
        y[m] = dt * K[0, m]
    for m in range(2 * n, size):
        y[m] = y[m] + dt * K[0, m]


@shared
def march_lanes(problem, A, b, c, scheme, t0, dt, k, k_stop, every, y, stage, K, n, inputs, shift, failed, out):
    """Steps k … k_stop − 1; every `every`-th state (0: none) goes to the next row of `out` before its step.

    scheme: EXPLICIT by A, b, c, or SEMI_IMPLICIT. inputs (rows, n): efforts, one row a step, row k + shift for step k.
    failed (LANES, 2) int64: a `Failed` each. Returns (status, rows written).
    """
    row = 0
    size = K.data.shape[1]
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
            if size > 2 * n:
                states_step(problem, t, dt, y, stage, K, n, size)
        else:
            advance(problem, dt, b, y, K, size)
        if not all_finite(y, size):
            mark_failed(y, size, k, Failures(failed))
        recentre(problem, y, K, 0)
        k += 1
    return OK, row


@formula
def untwine(room, count, rows, first, stop, row):
    """rows (members, …, width), of members first … stop − 1 from `row` on ← `count` rows of room (…, 1 + width, LANES),
    without their times."""
    for r in range(count):
        for s in range(stop - first):
            for k in range(rows.shape[2]):
                rows[first + s, row + r, k] = room.data[r, 1 + k, s]


@formula
def begin(problem, q, v, z, first, stop, y, n):
    """base ← q, y ← (0, v, z) of members first … stop − 1, z (nz,) of all; lanes that are left over do as the last member."""
    gather(q, first, stop, problem.base)
    gather(v, first, stop, problem.v)
    for j in range(n):
        y[j], y[n + j] = zero(y[j]), problem.v[j]
    for m in range(len(z)):
        y[2 * n + m] = zero(y[0]) + z[m]


inverse_pivot = generic("inverse_pivot", "D⁻¹ of freedom j in the last evaluation.")


@defines(inverse_pivot)
def _(problem: TreeProblem, factorisation: None, j: float) -> Any:
    return problem.work.freedom[j].r


@defines(inverse_pivot)
def _(problem: TreeProblem, factorisation: Factorisation, j: float) -> Any:
    return 1.0 / factorisation.M[j, j]


@formula
def mark_sound(problem, sure, K, n, sound):
    """sound (LANES,) ← 1 where all accelerations are finite, and all pivots inertias beyond doubt: above `sure` (LANES,)."""
    for s in range(LANES):
        sound[s] = 1
        for m in range(2 * n):
            x = K.data[0, m, s]
            if not (x - x == 0.0):
                sound[s] = 0
        for j in range(n):
            r = lane(inverse_pivot(problem, problem.factorisation, j), s)
            # an infinite pivot, D⁻¹ = 0, is none
            if not (r > 0.0 and sure[s] * r < 1.0):
                sound[s] = 0


@shared
def march_packs(
    problem, A, b, c, scheme, t0, dt, k, k_stop, every, shift, t_end, y, stage, K, n, inputs, room,
    anew, q, v, z, sure, sound, failed, rows, row,
):  # fmt: skip
    """`march_lanes` of one pack of members after another, by way of `room` as full as it gets, into rows (members, …, width)
    from `row` on. Returns the next row.

    anew: each pack begins where q (members, nq), v (members, nv) and z (nz,) say, and sound (packs, LANES) tells which members can
    (see `mark_sound`); otherwise the one pack there is goes on. failed (packs, LANES, 2).
    Where t_end is not NaN, the states that are reached follow, as at t_end and under the inputs of the last step, their
    accelerations in K_0.
    """
    written = row
    for p in range(len(failed)):
        first, stop = p * LANES, min((p + 1) * LANES, len(q))
        if anew:
            begin(problem, q, v, z, first, stop, y, n)
            drive(problem, inputs, k + shift, n)
            rates_aside(problem, t0, y, K, 0)
            mark_sound(problem, sure, K, n, sound[p])
        at, written = k, row
        while at < k_stop:
            end = min(k_stop, at + len(room.data) * every) if every > 0 else k_stop
            _, count = march_lanes(
                problem, A, b, c, scheme, t0, dt, at, end, every, y, stage, K, n, inputs, shift, failed[p], room
            )
            untwine(room, count, rows, first, stop, written)
            written += count
            at = end
        if t_end == t_end:
            drive(problem, inputs, k_stop - 1 + shift, n)
            rates_aside(problem, t_end, y, K, 0)
            confine(problem, y, K, 0)
            record(problem, t_end, y, K, room, 0)
            untwine(room, 1, rows, first, stop, written)
            written += 1
    return written
