"""What is recorded of a step of HHT: the state at its end, and accelerations and multipliers that belong to it.

The step's own v̇⁺ and λ⁺ come from constraints on positions: divided by β h², what is left of C is an error in them that grows as h
falls, and a change of the step moves it to where it was not. Positions know nothing of it. From q⁺ there follow

    v:  Cq v = ν,  the nearest in the metric of M + h D     a, λ:  [ M   Cqᵀ ] [a]   [ Q ]
                                                                   [ Cq  0   ] [λ] = [ γ ]

D is the damping of what acts, h the step: a foot that sticks is not moved across the floor, where friction would answer nanometres
per second by newtons. Each has a matrix of its own (where nothing acts they share one); refinement of the accelerations takes out
what bodies borrow for the pivots and what keeps pivots of dependent rows.
Where that matrix is singular, or the refinement leads nowhere, what the step found stands.

All of it happens in a state of its own, `Record`, so that a march does not depend on what is recorded of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.absolute.motion.elements import act, matrices
from nexdyn.absolute.motion.equations import (
    NO_PIVOT,
    acceleration_residual,
    add_constraints,
    add_inertia,
    jacobian_times,
    place_bodies,
    velocity_residual,
    violation,
)
from nexdyn.absolute.motion.outside import Outside, factor, solve
from nexdyn.absolute.motion.tables import KeptRows, MotionState, MotionTables
from nexdyn.absolute.motion.turns import count_angles
from nexdyn.constraints.kinds import LENGTHS
from nexdyn.constraints.tables import RowsOfTerms, Terms
from nexdyn.integrate.problem import OK
from nexdyn.kernel import formula, kernel
from nexdyn.linalg.rows import WIDTH, flat, load, store
from nexdyn.spatial.lanes import all_less, count, doubles, greater, if_less, zero
from nexdyn.spatial.table import row

PROJECTIONS, REFINEMENTS, SETTLED, TOLD = 8, 8, 1e-10, 1e-8
"""Most solutions for the velocities and for the accelerations; the part of the largest acceleration that those may leave; the
part of the violation that those for the velocities may."""
INDEPENDENT, DEPENDENT, BORROWED, NOTHING = 1e-10, 1e-7, 1e-2, 1e-300
"""What a first solution is reckoned to leave of its right-hand side: of rows that cannot depend on each other, of those that
may, where bodies borrow inertia; no acceleration."""


class Record(NamedTuple):
    """Where what is recorded is computed: the tables, and a state that shares with the march's what no step goes on from."""

    tables: Any
    s: Any
    numbers: Any
    """(2,) the size of the mechanism [m], and what a first solution leaves of its right-hand side; each lane's own."""
    loops: Any
    """(1,) 1 where rows may come to depend on each other."""
    lengths: Any
    """(m,) 1 of kept rows that are lengths."""


def new_record(tables: MotionTables, s: MotionState, solver: str | None = None) -> tuple[Record, Outside | None]:
    """The place to record the states s of `tables`; `solver`: one outside the loop, which is returned with it."""
    own = ("v1", "d1", "lam0", "lam1", "twists", "near", "upper", "lower")
    told = s._replace(**{name: np.zeros_like(getattr(s, name)) for name in own})
    outside = Outside(solver, tables, told) if solver is not None else None
    seen = tables if outside is None else tables._replace(outside=outside.address)
    left = BORROWED if tables.spare.any() else DEPENDENT if tables.closing.any() else INDEPENDENT
    numbers, loops = np.array([tables.length, left]), np.array([int(tables.closing.any())])
    return Record(seen, told, numbers, loops, rows_are_lengths(tables)), outside


def rows_are_lengths(tables: MotionTables) -> np.ndarray:
    """(m,) 1 of kept rows whose first term is a length."""
    first = RowsOfTerms(tables.constraints.rows).first[KeptRows(tables.rows).number]
    return np.isin(Terms(tables.constraints.terms).primitive[first], LENGTHS).astype(np.int64)


@formula
def copy(target, first, source):
    """The rows of `source` into those of `target` from `first` on."""
    to, of = doubles(target), doubles(source)
    begin = first * (len(of) // max(1, count(source)))
    for o in range(0, len(of), WIDTH):
        store(to, begin + o, load(of, o))


@formula
def of_velocities(told, t):
    """v1 ← v1 − W⁻¹ Cqᵀ (Cq W⁻¹ Cqᵀ)⁻¹ (Cq v1 − ν), by the matrix of W = M + h D at hand."""
    tables, s = told.tables, told.s
    nb, nothing = count(s.q1) - 1, zero(s.v1[0, 0])
    before, going, first = nothing + 1e300, nothing + 1.0, nothing
    rows, per_length = KeptRows(tables.rows), 1.0 / row(told.numbers, 0)
    for k in range(PROJECTIONS):
        velocity_residual(tables, s, t, s.v1, s.C)
        most = nothing
        for r in range(len(rows)):
            missed = abs(s.C[rows[r].node, rows[r].row])
            most = greater(most, per_length * missed if told.lengths[r] > 0 else missed)
        first = most if k == 0 else first
        going = if_less(TOLD * first, most, if_less(most, 0.5 * before, going, nothing), nothing)
        before = most
        if all_less(going, 0.5):
            break
        for o in range(0, WIDTH * nb, WIDTH):
            store(flat(s.x), o, 0.0)
        copy(s.x, nb, s.C)
        solve(tables, s)
        for i in range(nb):
            for c in range(6):
                s.v1[i + 1, c] -= going * s.x[i, c]
        if not told.loops[0] > 0:
            break


@formula
def of_accelerations(s, numbers, before):
    """d1, λ1 ← d1, λ1 + x, where x is less than half of what it was before. Returns its size, and what is left beside d1."""
    nb, nothing = count(s.q1) - 1, zero(s.v1[0, 0])
    size, most, total, per_length = nothing, nothing, nothing, 1.0 / row(numbers, 0)
    for i in range(nb):
        for c in range(6):
            unit = nothing + 1.0 if c < 3 else per_length
            dx = s.x[i, c]
            size, total = greater(size, unit * abs(dx)), total + dx
            most = greater(most, unit * abs(s.d1[i + 1, c] + dx))
    size = size + (total - total)  # `greater` passes NaN over
    for i in range(nb):
        for c in range(6):
            s.d1[i + 1, c] = if_less(size, 0.5 * before, s.d1[i + 1, c] + s.x[i, c], s.d1[i + 1, c])
    for g in range(count(s.C)):
        for c in range(6):
            s.lam1[g, c] = if_less(size, 0.5 * before, s.lam1[g, c] + s.x[nb + g, c], s.lam1[g, c])
    left = if_less(before, 1e299, size / before, row(numbers, 1)) * size
    return size, if_less(size, 0.5 * before, left, nothing), most


@formula
def tell(acts, told, t, h):
    """v1, d1, λ1 of the pose q1 at t, after a step of h (0: none). Returns a status."""
    tables, s = told.tables, told.s
    nb, nothing = count(s.q1) - 1, zero(s.v1[0, 0])
    before = nothing + 1e300
    place_bodies(s, 1)
    made = matrices(acts)
    for k in range(made + REFINEMENTS):
        # r = M a + … + Cqᵀ λ − Q, and at first the matrices, of this pose alone: M + h D, then M
        damping = h if k + 1 < made else 0.0
        add_inertia(tables, s, 1.0, damping, k < made)
        add_constraints(tables, s, t, 0.0, k < made)
        status = act(tables, s, t, damping, 0.0, k < made, acts)
        if status != OK:
            return status
        if k < made and not factor(tables, s):
            return NO_PIVOT
        if k == 0:
            of_velocities(told, t)
            place_bodies(s, 1)
            continue
        # γ − Cq a;  nothing has turned: turn = 0
        acceleration_residual(tables, s, t, s.v1, s.C)
        jacobian_times(tables, s, t, s.d1, s.turn, s.lam0)
        gamma, Cq_a, x = flat(s.C), flat(s.lam0), flat(s.x)
        for o in range(0, WIDTH * count(s.C), WIDTH):
            store(x, WIDTH * nb + o, load(gamma, o) - load(Cq_a, o))
        solve(tables, s)
        size, left, most = of_accelerations(s, told.numbers, before)
        if all_less(left, SETTLED * most + NOTHING):
            break
        before = if_less(SETTLED * most, left, size, nothing)
    return OK


@formula
def recorded(acts, s, told, t, h, out, at):
    """Row `at` of out ← t, largest |C|, then q (7), v (6), v̇ (6) of each body, then the multipliers of all rows, 0 of those left
    out, and what is counted: of the state s after a step of h, by way of `told`. Returns a status; the row stands, whatever it is."""
    tables, r = told.tables, told.s
    nb = count(s.q1) - 1
    copy(r.v1, 0, s.v1)
    copy(r.d1, 0, s.d1)
    copy(r.lam1, 0, s.lam1)
    for k in range(count(s.near)):
        r.near[k] = s.near[k]
    for o in range(0, WIDTH * (nb + 1), WIDTH):
        store(flat(r.turn), o, 0.0)
    status = tell(acts, told, t, h)
    out[at, 0] = t
    out[at, 1] = violation(tables, r, t)
    o = 2
    for i in range(1, nb + 1):
        for c in range(7):
            out[at, o + c] = r.q1[i, c]
        for c in range(6):
            out[at, o + 7 + c] = r.v1[i, c]
            out[at, o + 13 + c] = r.d1[i, c]
        o += 19
    nc = len(tables.constraints.rows)
    for k in range(nc):
        out[at, o + k] = zero(r.v1[0, 0])
    rows = KeptRows(tables.rows)
    for k in range(len(rows)):
        out[at, o + rows[k].number] = r.lam1[rows[k].node, rows[k].row]
    o += nc
    count_angles(tables, r)
    for k in range(count(r.near)):
        out[at, o + k] = r.near[k]
    return status


@kernel
def record(acts, s, told, t, h, out, row):
    """See `recorded`."""
    return recorded(acts, s, told, t, h, out, row)
