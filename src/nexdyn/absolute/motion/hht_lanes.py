"""HHT-α of several systems at once, one in each lane: the steps of `hht` on packs, with a constant step.

The systems share links, rows, plan and step; all numbers are their own. What a step decides (whether a matrix still
serves, whether the iteration has ended) each system decides for itself, by `newton_verdict` and its own memory, as it would alone:

- one that is done is frozen: its corrections are 0 from then on
- where some want a new matrix it is assembled and factored for all, and kept for those (`fresh` holds the new ones)
- one that is lost starts again from a0, λ0 once, as alone; then it has failed: it stands still from there on, so that what it
  computes stays numbers, and means nothing

so that nobody's bits depend on the neighbours.
"""

from __future__ import annotations

from math import inf

from nexdyn.absolute.motion import lane_rows  # noqa: F401  (rows of packs)
from nexdyn.absolute.motion.equations import residual_here
from nexdyn.absolute.motion.hht import accept, error_constant, new_motion, predict, weight
from nexdyn.absolute.motion.newton import (
    CAUTIOUS,
    LOST,
    ON,
    Memories,
    begin,
    corrected,
    newton_verdict,
    note_independence,
    note_refactored,
    remember,
    weights,
)
from nexdyn.absolute.motion.outside import factor, solve
from nexdyn.absolute.motion.recorded import recorded
from nexdyn.absolute.motion.turns import SURE, UNSURE, count_angles, expect_angles, most_turned, return_angles
from nexdyn.kernel import formula, shared
from nexdyn.linalg.rows import WIDTH, flat
from nexdyn.records import Record
from nexdyn.spatial.lanes import LANES, OneLane, count, doubles, if_less
from nexdyn.spatial.lanes import lane as of_lane

ACTING, FAILED = 0, 1
NEVER = -1


class Numbers(Record):
    """Of each lane: 1 where the next correction is taken, and its part; 1 where a new matrix is kept; weights of the extrapolation; the
    ratio of the last two steps; the size of the mechanism [m]; the least independence of the rows by a matrix so far, as a part of the
    best before it."""

    taken: float
    part: float
    factor: float
    c: float
    d: float
    ratio: float
    length: float
    least: float


@formula
def mask_corrections(x, taken, part):
    """The part of the correction that is taken; 0 of those that are done."""
    for o in range(count(x)):
        x[o] = if_less(0.5, taken, part * x[o], 0.0)


@formula
def keep(blocks, fresh, chosen):
    """Blocks of the lanes chosen ← fresh."""
    for o in range(count(blocks)):
        blocks[o] = if_less(0.5, chosen, fresh[o], blocks[o])


@formula
def stand_still(s, i):
    """Velocities, accelerations and multipliers of lane i, and what they come from, become 0."""
    for table in (s.v0, s.v1, s.d0, s.d1, s.a0, s.a1, s.da, s.dda, s.lam0, s.lam1, s.dlam, s.ddlam):
        x = doubles(table)
        for o in range(i, len(x), LANES):
            x[o] = 0.0


@formula
def start_again(s, i):
    """a1, λ1 ← a0, λ0 of lane i."""
    for one, from_ in ((s.a1, s.a0), (s.lam1, s.lam0)):
        x, y = doubles(one), doubles(from_)
        for o in range(i, len(x), LANES):
            x[o] = y[o]


@formula
def watch_lane(tables, fresh, memory, lane, i):
    """How independent the new matrix of lane i shows its rows to be: `hht.watch`."""
    watched, lower, least = tables.watched.data, fresh.lower.data, inf
    first = count(tables.body) - 1
    for g in range(len(watched)):
        o = tables.diagonal[first + g]
        for c in range(WIDTH):
            if watched[g, c, i] > 0.0:
                least = min(least, watched[g, c, i] / abs(lower[o + (WIDTH + 1) * c, 0, i]))
    if len(watched) > 0:
        note_independence(memory, least)
        lane.least = min(lane.least, least / memory.best_independence)


@formula
def try_steps(tables, acts, s, fresh, t, h, alpha, memories, state, numbers):
    """One step of all lanes, as `hht.try_step`. state (LANES,) int64: ACTING or FAILED."""
    beta = 0.25 * (1.0 - alpha) * (1.0 - alpha)
    bh2, gh, scale, length = beta * h * h, (0.5 - alpha) * h, 1.0 / (1.0 + alpha), Numbers(numbers).length
    error_of = error_constant(alpha) * h * h
    of, most, left, g = Numbers(numbers), s.most.data, 0, weight(tables, length)
    for i in range(LANES):
        memories[i].shifted_for = h
        memories[i].extrapolated = 1.0 if memories[i].smooth > 0.0 else 0.0
        lane = Numbers(OneLane(numbers.data, i))
        lane.c, lane.d = weights(memories[i], h)
        begin(memories[i], h)
        lane.taken = 1.0 if state[i] == ACTING else 0.0
        left += state[i] == ACTING
    predict(s, of.c, of.d)
    return_angles(s)
    mask_corrections(flat(s.x), 0.0, 0.0)
    while True:
        size, change, largest = new_motion(s, h, alpha, True, length)
        s.most[0, 0], s.most[0, 1], s.most[0, 2] = size, change, largest
        turned_back, assemble = False, False
        for i in range(LANES):
            memory, lane = memories[i], Numbers(OneLane(numbers.data, i))
            if lane.taken == 0.0:
                continue
            verdict = ON
            if memory.k > 0.0:
                verdict = newton_verdict(
                    memory, most[0, 0, i], most[0, 1, i], most[0, 2, i], of_lane(g, i), bh2, error_of
                )
            if verdict == LOST:
                turned_back = True
                if memory.extrapolated > 0.0:
                    memory.extrapolated, memory.smooth = 0.0, CAUTIOUS
                    start_again(s, i)
                    begin(memory, h)
                    verdict = ON
                else:
                    stand_still(s, i)
                    state[i] = FAILED
            if verdict == ON:
                assemble = assemble or memory.assemble > 0.0
            else:
                lane.taken = 0.0
                left -= 1
        if turned_back:
            mask_corrections(flat(s.x), 0.0, 0.0)
            new_motion(s, h, alpha, True, length)
        if left == 0:
            break
        expect_angles(tables, s)
        residual_here(tables, acts, fresh, t + h, scale, gh, bh2, assemble)
        if assemble:
            factor(tables, fresh)
            for i in range(LANES):
                memory, lane = memories[i], Numbers(OneLane(numbers.data, i))
                new = lane.taken > 0.0 and memory.assemble > 0.0
                lane.factor = 1.0 if new else 0.0
                if new:
                    note_refactored(memory, h)
                    watch_lane(tables, fresh, memory, lane, i)
            keep(s.upper, fresh.upper, of.factor)
            keep(s.lower, fresh.lower, of.factor)
        solve(tables, s)
        for i in range(LANES):
            lane = Numbers(OneLane(numbers.data, i))
            if lane.taken > 0.0:
                lane.part = memories[i].part
                corrected(memories[i])
        mask_corrections(flat(s.x), of.taken, of.part)
    s.most[0, 0], sure = most_turned(s), True
    for i in range(LANES):
        memories[i].turning = memories[i].turned + 2.0 * most[0, 0, i]
        sure = sure and memories[i].turning < SURE
    if sure:
        return
    s.most[0, 0] = count_angles(tables, s)
    for i in range(LANES):
        memories[i].turning = 0.0
        if state[i] == ACTING and not most[0, 0, i] < UNSURE:
            stand_still(s, i)
            state[i] = FAILED


@shared
def march_lanes(tables, acts, s, fresh, told, t0, dt, k, k_stop, every, alpha, memory, state, failed, numbers, out):
    """Steps k … k_stop − 1 of the constant dt; every `every`-th state (0: none) goes to the next row of `out` after its step.

    memory (LANES, …); failed (LANES,) int64: the step that a lane failed in, −1 before. Stops where all have failed, or `out` is
    full. Returns (steps done in all, rows written).
    """
    memories, row = Memories(memory), 0
    while k < k_stop and row < count(out):
        try_steps(tables, acts, s, fresh, t0 + k * dt, dt, alpha, memories, state, numbers)
        acting = 0
        for i in range(LANES):
            if state[i] == FAILED and failed[i] == NEVER:
                failed[i] = k
            acting += state[i] == ACTING
            Numbers(OneLane(numbers.data, i)).ratio = remember(memories[i], dt)
        if acting == 0:
            return k, row
        accept(s, Numbers(numbers).ratio)
        k += 1
        if every > 0 and k % every == 0:
            recorded(acts, s, told, t0 + k * dt, dt, out, row)
            row += 1
    return k, row
