"""Index-1 equations in absolute coordinates for explicit methods, and three ways to keep the constraints.

    [ M   Cqᵀ ] [a]   [ Q                              ]
    [ Cq  −ε  ] [λ] = [ γ − 2 α (Cq v − ν) − β² C      ]        (Haug 1989, chapter 7; Shabana 2013, chapter 5)

BAUMGARTE    C̈ + 2 α Ċ + β² C = 0: a violation dies like a damped oscillator, critically where α = β (Baumgarte 1972)
PROJECTION   α = β = 0; after every step q and v go back to C = 0 and Cq v = ν by the shortest way in the metric of M
             (Lubich 1991):   [M Cqᵀ; Cq 0] [Δq; μ] = − [0; C],   likewise for v
PARTITION    the independent coordinates are integrated, at every evaluation the others follow from C = 0 and Cq v = ν
             (Wehage & Haug 1982):   Δq_d = − C_d⁻¹ C,   v_d from C_d v_d = ν − C_i v_i

Where some rows are left out, all but PARTITION watch how independent the kept ones are (``choice``); PARTITION sees it by the
pivots of C_d. Both end as DEGRADED, with the state as it was at the start of the step.

The state is y = (ξ, v, z) about the base poses q0, ξ of a body an increment (θ, δ): R exp θ, p + δ; z are states of forces.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from nexdyn.absolute.motion.elements import act, joint_motion
from nexdyn.absolute.motion.equations import (
    acceleration_residual,
    constraint_residual,
    independence,
    inertial_residual,
    jacobian_times,
    pair_of,
    place_bodies,
    turn,
    velocity_residual,
)
from nexdyn.absolute.motion.hht import copy
from nexdyn.absolute.motion.tables import KeptRows, Links, Slots, Spares
from nexdyn.absolute.motion.turns import UNCOUNTED, UNSURE, count_angles, expect_angles, keep_angles
from nexdyn.constraints.tables import LEFT, within_ends
from nexdyn.constraints.turns import Angles
from nexdyn.constraints.verbs import gradient
from nexdyn.forces import states
from nexdyn.generic import defines
from nexdyn.integrate.problem import (
    OK,
    confine,
    look_at_all,
    look_at_less,
    next_sample,
    rates,
    recentre,
    record,
    scale,
    settle,
    stretch,
    stretches,
    take_samples,
)
from nexdyn.integrate.stabilised import Damping, rate, speed2
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.linalg.lu import factor, solve
from nexdyn.linalg.rows import WIDTH
from nexdyn.spatial.algebra import T, Vec3, right_jacobian_inverse_times, vector_at
from nexdyn.spatial.table import MotionRows, PoseRows

BAUMGARTE, PROJECTION, PARTITION = range(3)
SINGULAR, OPEN, DEGRADED = 50, 51, 52
"""Statuses: no pivot; constraints that do not close; a partition, or kept rows, that no longer serve."""
CLOSED, MOST = 1e-12, 15
ROUNDING = 1e-15
"""Rounding of an angle relative to its size."""
WORSE, WORST = 0.3, 1e-6
"""Part of its first smallest pivot at which a partition is chosen anew, and below which it serves for no state between steps."""
LEAST = 0.1
"""Part of the best independence below which kept rows are chosen anew."""
NOT_NOW = -1.0
"""The best independence until a step has been taken with rows chosen anew."""
EXACT, MOST_REFINED, FEWEST_REFINED, SLOW = 1e-15, 40, 2, 0.5
"""Part of the accelerations that refinement may leave of borrowed inertia, its steps, and the ρ at which it ends elsewhere."""


class BodyProblem(NamedTuple):
    """Motion in absolute coordinates for Runge–Kutta methods; see ``integrate.problem``."""

    tables: Any
    acts: Any
    s: Any
    kind: int
    damping: Any
    """(5,) of Baumgarte's stabilisation (``integrate.stabilised``)."""
    dependent: Any
    """(m,) the columns of the dependent coordinates."""
    J: Any
    """(m, 6 nb) dense Cq of the kept rows, (1, 1) where it is not needed."""
    D: Any
    """(m, m) its dependent columns, then their factors."""
    right: Any
    """(m, 2)"""
    quality: Any
    """(2,) smallest pivot of D now, and when the partition was chosen (0: not yet), with the signs of det D; without a partition
    the independence of the kept rows now, and the best since they were chosen."""
    missed: Any
    """(1,) by how much the last step turned otherwise than its increments tell [rad]."""
    length: float
    units: Any
    """As ``C``: 1/L for rows of positions, 1 for those of directions, 0 for rows of velocities."""
    apart: Any
    """(2,) the largest |C| after a step, in these units, since it was set to zero, and that with which the run stops."""
    end: int = 0
    """The row of K of the end of a step; 0 where the method evaluates none."""
    between: int = 0
    """That of states between steps; 0 where there are none."""


@formula
def take(problem, y):
    """q1 ← q0 ∘ ξ, v1 ← v, and the places of the bodies; z of the forces."""
    s = problem.s
    n = 6 * (len(s.q1) - 1)
    states.put_states(problem.acts.forces, y, 2 * n)
    for i in range(1, len(s.q1)):
        o = 6 * (i - 1)
        q = turn(s.q0, i, vector_at(y, o))
        s.q1[i, 0], s.q1[i, 1], s.q1[i, 2], s.q1[i, 3] = q.w, q.x, q.y, q.z
        for c in range(3):
            s.moved[i, c] = y[o + c]
            s.q1[i, 4 + c] = s.q0[i, 4 + c] + y[o + 3 + c]
        for c in range(6):
            s.v1[i, c] = y[n + o + c]
    place_bodies(s, 1)
    expect_angles(problem.tables, s)


@formula
def damping_here(problem):
    """α, β at v1."""
    damping, V = Damping(problem.damping), MotionRows(problem.s.v1, 0)
    a, b = damping.alpha, damping.beta
    if a < 0.0 or b < 0.0:
        squared = 0.0
        for i in range(1, len(problem.s.v1)):
            squared += speed2(V[i], damping.length)
        usual = rate(damping, squared / (len(problem.s.v1) - 1))
        a, b = usual if a < 0.0 else a, usual if b < 0.0 else b
    return a, b


@kernel
@outlined
def accelerate(problem, t):
    """d1 and λ1 at q1, v1; the matrix stays factored. Returns a status."""
    tables, s = problem.tables, problem.s
    nb = len(s.q1) - 1
    s.d1[:] = 0.0
    s.lam1[:] = 0.0
    s.turn[:] = 0.0  # what a step has turned is in the pose by now
    inertial_residual(tables, s, 1.0, 0.0, True)
    constraint_residual(tables, s, t, 0.0, True)
    status = act(tables, s, t, 0.0, 0.0, False, problem.acts)
    if status != OK:
        return status
    if factor(tables.plan, s.upper, s.lower, s.work) >= 0:
        return SINGULAR
    velocity_residual(tables, s, t, s.v1, s.lam0)
    acceleration_residual(tables, s, t, s.v1, s.lam1)
    a, b = damping_here(problem)
    for g in range(len(s.C)):
        for c in range(WIDTH):
            s.lam0[g, c] = s.lam1[g, c] - 2.0 * a * s.lam0[g, c] - b * b * s.C[g, c]
            s.x[nb + g, c] = s.lam0[g, c]
    solve(tables.plan, s.upper, s.lower, s.x)
    for i in range(nb):
        for c in range(6):
            s.d1[i + 1, c] = s.x[i, c]
    for g in range(len(s.C)):
        for c in range(WIDTH):
            s.lam1[g, c] = s.x[nb + g, c]
    return refine(problem, t)


@kernel
@outlined
def refine(problem, t):
    """Steps of refinement: pay back the inertia that bodies borrow for the matrix, and take −ε out.

    A step leaves of the error what it found of the one before, ρ; where bodies live on what they borrow, that is a good part, and it
    takes many. Elsewhere it ends where ρ is large: near a singular pose more steps would take out the −ε that bears it."""
    tables, s = problem.tables, problem.s
    nb = len(s.q1) - 1
    before = largest(s.d1, 1, nb, tables.length)
    slow = 1.0 if borrowed(tables.spare) else SLOW
    for k in range(MOST_REFINED):
        jacobian_times(tables, s, t, s.d1, s.turn, s.C)  # Cq d1: turn = 0
        for g in range(len(s.C)):
            for c in range(WIDTH):
                s.x[nb + g, c] = s.lam0[g, c] - s.C[g, c]
        inertial_residual(tables, s, 1.0, 0.0, False)
        constraint_residual(tables, s, t, 0.0, False)
        status = act(tables, s, t, 0.0, 0.0, False, problem.acts)
        if status != OK:
            return status
        solve(tables.plan, s.upper, s.lower, s.x)
        size = largest(s.x, 0, nb, tables.length)
        for i in range(nb):
            for c in range(6):
                s.d1[i + 1, c] += s.x[i, c]
        for g in range(len(s.C)):
            for c in range(WIDTH):
                s.lam1[g, c] += s.x[nb + g, c]
        if k + 1 >= FEWEST_REFINED and not (size * size > EXACT * largest(s.d1, 1, nb, tables.length) * before):
            break
        if k > 0 and not (size < slow * before):
            break  # what rounding leaves, or −ε bears
        before = size
    return OK


@formula
def borrowed(spare):
    """Whether a body borrows inertia."""
    spares, most = Spares(spare), 0.0
    for i in range(len(spares)):
        most = max(most, spares[i].J)
    return most > 0.0


@formula
def largest(x, first, n, length):
    """The largest component of rows first … first + n − 1, lengths beside that of the mechanism."""
    most = 0.0
    for i in range(first, first + n):
        for c in range(3):
            most = max(most, abs(x[i, c]), abs(x[i, c + 3]) / length)
    return most


@formula
def watched(problem):
    """OK, or DEGRADED where the kept rows have become dependent, by the matrix at hand."""
    quality = problem.quality
    if problem.kind == PARTITION or len(problem.tables.watched) == 0:
        return OK
    quality[0] = independence(problem.tables, problem.s)
    if quality[1] == NOT_NOW:
        return OK
    quality[1] = max(quality[1], quality[0])
    return DEGRADED if quality[0] < LEAST * quality[1] else OK


@defines(rates)
def _(problem: BodyProblem, t: float, y: Any, K: Any, i: Any) -> Any:
    if problem.kind == PARTITION:
        status = follow(problem, t, y, WORST if i == problem.between > 0 else WORSE)
        if status != OK:
            return status
    take(problem, y)
    status = accelerate(problem, t)
    if status == OK and (i == 0 or i == problem.end):
        status = watched(problem)
    s = problem.s
    n = 6 * (len(s.q1) - 1)
    for b in range(1, len(s.q1)):
        o = 6 * (b - 1)
        w = right_jacobian_inverse_times(vector_at(y, o), Vec3(s.v1[b, 0], s.v1[b, 1], s.v1[b, 2]))
        K[i, o], K[i, o + 1], K[i, o + 2] = w.x, w.y, w.z
        for c in range(3):
            K[i, o + 3 + c] = s.v1[b, 3 + c]
        for c in range(6):
            K[i, n + o + c] = s.d1[b, c]
    states.put_rates(problem.acts.forces, K, i, 2 * n)
    return status


@defines(stretches)
def _(problem: BodyProblem, y: Any) -> Any:
    return states.stretches(problem.acts.forces, y)


@defines(stretch)
def _(problem: BodyProblem, p: Any, size: Any) -> Any:
    return states.stretch(problem.acts.forces, p, 12 * (len(problem.s.q1) - 1), size)


@defines(look_at_all)
def _(problem: BodyProblem) -> Any:
    states.look_at_all(problem.acts.forces)


@defines(look_at_less)
def _(problem: BodyProblem, K: Any) -> Any:
    states.look_at_less(problem.acts.forces, K, 12 * (len(problem.s.q1) - 1))


@defines(next_sample)
def _(problem: BodyProblem) -> Any:
    return states.next_sample(problem.acts.forces)


@defines(take_samples)
def _(problem: BodyProblem, t: float, y: Any) -> Any:
    tables, acts, s = problem.tables, problem.acts, problem.s
    if states.next_sample(acts.forces) == inf:
        return 0
    take(problem, y)
    for j in range(len(acts.joints)):
        joint_motion(tables, s, acts, j)
    return states.sample_forces(acts.forces, t, acts.q, acts.v, y, 12 * (len(s.q1) - 1))


@defines(confine)
def _(problem: BodyProblem, y: Any, K: Any, i: Any) -> Any:
    states.confine_states(problem.acts.forces, y, K, i, 12 * (len(problem.s.q1) - 1))


@defines(recentre)
def _(problem: BodyProblem, y: Any, K: Any, i: Any) -> Any:
    s = problem.s
    take(problem, y)
    problem.missed[0] = count_angles(problem.tables, s)
    base_here(problem, y, K, i)


@formula
def base_here(problem, y, K, i):
    """base ← q1, whose angles are counted, v ← v1."""
    s = problem.s
    n = 6 * (len(s.q1) - 1)
    keep_angles(s)
    copy(s.q0, 0, s.q1)
    for b in range(1, len(s.q1)):
        o = 6 * (b - 1)
        for c in range(6):
            y[o + c] = 0.0
            y[n + o + c] = s.v1[b, c]
            K[i, o + c] = s.v1[b, c]


@formula
def violation(problem):
    """The largest |C|, lengths beside that of the mechanism."""
    C, most = problem.s.C, 0.0
    for g in range(len(C)):
        for c in range(WIDTH):
            x = problem.units[g, c] * abs(C[g, c])
            if not x <= most and most == most:  # NaN counts as the largest
                most = x
    return most


@formula
def closed(problem):
    """|C| at which constraints count as met: in rows, an angle of many turns is rounded as a number of its size, and so is what has slid
    far."""
    tables, most, X = problem.tables, CLOSED, PoseRows(problem.s.poses, 0)
    links, angles = Links(tables.links), Angles(tables.angles)
    for l in range(len(links)):
        link = links[l]
        d = pair_of(tables, X, link.pair, link.a, link.b).d
        most = max(most, ROUNDING * (d @ d) ** 0.5 / problem.length)
    for n in range(len(tables.expected)):
        most = max(most, ROUNDING * abs(problem.s.near[angles[tables.expected[n]].near]))
    return most


@defines(settle)
def _(problem: BodyProblem, t: float, y: Any, K: Any) -> Any:
    if not problem.missed[0] < UNSURE:
        return UNCOUNTED
    if problem.kind != PARTITION and problem.quality[1] == NOT_NOW:
        problem.quality[1] = problem.quality[0]
    if problem.kind == PROJECTION:
        take(problem, y)
        project(problem, t)
        count_angles(problem.tables, problem.s)
        base_here(problem, y, K, 0)
    guided = len(problem.tables.constraints.ends) > 0
    if problem.kind == PARTITION and not guided:
        return OK  # which closes its constraints at every evaluation, or ends as OPEN
    take(problem, y)
    constraint_residual(problem.tables, problem.s, t, 0.0, False)  # where points are now, not where a stage was
    if problem.kind != PARTITION:
        most = violation(problem)
        problem.apart[0] = max(problem.apart[0], most)
        if not most <= problem.apart[1]:
            return OPEN
    if not guided:
        return OK
    return OK if within_ends(problem.tables.constraints, problem.s.near) else LEFT


@defines(record)
def _(problem: BodyProblem, t: float, y: Any, K: Any, out: Any, r: Any) -> Any:
    s, tables = problem.s, problem.tables
    n = 6 * (len(s.q1) - 1)
    if problem.kind == PARTITION:
        follow(problem, t, y, WORST)  # the last step moved the dependent coordinates only as far as it integrates
    take(problem, y)
    accelerate(problem, t)  # λ and C of this state, whatever was evaluated last
    count_angles(tables, s)
    most = 0.0
    for g in range(len(s.C)):
        for c in range(WIDTH):
            most = max(most, abs(s.C[g, c]))
    out[r, 0], out[r, 1] = t, most
    o = 2
    for b in range(1, len(s.q1)):
        for c in range(7):
            out[r, o + c] = s.q1[b, c]
        for c in range(6):
            out[r, o + 7 + c] = s.v1[b, c]
            out[r, o + 13 + c] = K[0, n + 6 * (b - 1) + c]
        o += 19
    nc = len(tables.constraints.rows)
    for k in range(nc):
        out[r, o + k] = 0.0
    rows = KeptRows(tables.rows)
    for k in range(len(rows)):
        out[r, o + rows[k].number] = s.lam1[rows[k].node, rows[k].row]
    o += nc
    for k in range(len(s.near)):
        out[r, o + k] = s.near[k]
    states.record_states(problem.acts.forces, y, 2 * n, out, r, o + len(s.near))


@defines(scale)
def _(problem: BodyProblem, y: Any, s: Any, n: Any) -> Any:
    for m in range(n):
        s[m] = 1.0 if m % 6 < 3 else problem.length
        s[n + m] = abs(y[n + m])
    states.scale_states(problem.acts.forces, y, s, 2 * n)


# --- projection ---------------------------------------------------------------------------------------------------


@kernel
@outlined
def project(problem, t):
    """q1 to C = 0 and v1 to Cq v = ν, by the shortest way in the metric of M."""
    tables, s = problem.tables, problem.s
    nb = len(s.q1) - 1
    if len(s.C) == 0:
        return
    s.d1[:] = 0.0
    s.lam1[:] = 0.0
    for _ in range(MOST):
        inertial_residual(tables, s, 1.0, 0.0, True)
        constraint_residual(tables, s, t, 0.0, True)
        factor(tables.plan, s.upper, s.lower, s.work)
        most = violation(problem)
        s.x[:] = 0.0
        for g in range(len(s.C)):
            for c in range(WIDTH):
                s.x[nb + g, c] = -s.C[g, c]
        if most < closed(problem) or not (most < 1e3):
            break
        solve(tables.plan, s.upper, s.lower, s.x)
        for i in range(nb):
            q = turn(s.q1, i + 1, Vec3(s.x[i, 0], s.x[i, 1], s.x[i, 2]))
            s.q1[i + 1, 0], s.q1[i + 1, 1], s.q1[i + 1, 2], s.q1[i + 1, 3] = q.w, q.x, q.y, q.z
            for c in range(3):
                s.q1[i + 1, 4 + c] += s.x[i, 3 + c]
        place_bodies(s, 1)
    for _ in range(2):
        velocity_residual(tables, s, t, s.v1, s.lam0)
        s.x[:] = 0.0
        for g in range(len(s.C)):
            for c in range(WIDTH):
                s.x[nb + g, c] = s.lam0[g, c]
        solve(tables.plan, s.upper, s.lower, s.x)
        for i in range(nb):
            for c in range(6):
                s.v1[i + 1, c] -= s.x[i, c]


# --- partition ----------------------------------------------------------------------------------------------------


@kernel
def dense_jacobian(tables, s, t, J):
    """J (m, 6 nb) ← Cq of the kept rows at the poses of the state."""
    X, links, slots, constraints = PoseRows(s.poses, 0), Links(tables.links), Slots(tables.slots), tables.constraints
    J[:] = 0.0
    rows = KeptRows(tables.rows)
    for r in range(len(rows)):
        s.lam0[rows[r].node, rows[r].row] = float(r)
    for l in range(len(links)):
        link = links[l]
        a, b, g = link.a, link.b, link.node
        pair = pair_of(tables, X, link.pair, a, b)
        for e in range(link.first, link.first + link.count):
            term = slots[e].term
            r = int(s.lam0[g, slots[e].row])
            z, k = gradient(constraints, term, t, pair, s.near), constraints.scale[term]
            for side in range(2):
                i = a if side == 0 else b
                if i == 0:
                    continue
                w = T(X[i].R) @ (z.w_a if side == 0 else z.w_b)
                v = z.v_a if side == 0 else z.v_b
                o = 6 * (i - 1)
                J[r, o] += k * w.x
                J[r, o + 1] += k * w.y
                J[r, o + 2] += k * w.z
                J[r, o + 3] += k * v.x
                J[r, o + 4] += k * v.y
                J[r, o + 5] += k * v.z


@formula
def row_unit(problem, r):
    """What makes a number of kept row r."""
    row = KeptRows(problem.tables.rows)[r]
    return problem.units[row.node, row.row]


@formula
def column_unit(problem, column):
    """What a coordinate of a body is a part of: 1 rad, or the mechanism's length."""
    return 1.0 if column % 6 < 3 else problem.length


@kernel
@outlined
def follow(problem, t, y, worse):
    """The dependent parts of y = (ξ, v) from the independent ones. Returns a status: DEGRADED below the part `worse` of the
    first smallest pivot."""
    tables, s, dep = problem.tables, problem.s, problem.dependent
    J, D, right = problem.J, problem.D, problem.right
    m, n, rows = len(dep), 6 * (len(s.q1) - 1), KeptRows(tables.rows)
    if m == 0:
        return OK
    s.lam1[:] = 0.0
    s.d1[:] = 0.0
    for _ in range(MOST):
        take(problem, y)
        s.lam1[:] = 0.0
        constraint_residual(tables, s, t, 0.0, False)
        most = 0.0
        for r in range(m):
            right[r, 0] = row_unit(problem, r) * s.C[rows[r].node, rows[r].row]
            most = max(most, abs(right[r, 0]))
        if not (most < 1e3):
            return OPEN
        dense_jacobian(tables, s, t, J)
        for r in range(m):
            right[r, 1] = 0.0
            for c in range(m):
                D[r, c] = row_unit(problem, r) * column_unit(problem, dep[c]) * J[r, dep[c]]
        velocity_residual(tables, s, t, s.v1, s.lam0)
        for r in range(m):
            right[r, 1] = row_unit(problem, r) * s.lam0[rows[r].node, rows[r].row]
        smallest = eliminate(D, right)
        problem.quality[0] = smallest
        if problem.quality[1] == 0.0:
            problem.quality[1] = smallest
        # where det D has changed its sign it was 0 on the way
        if not (smallest / problem.quality[1] > worse):
            return DEGRADED
        # the velocities belong to the pose only when that is found
        for c in range(m):
            y[dep[c]] -= column_unit(problem, dep[c]) * right[c, 0]
        if most < closed(problem):
            for c in range(m):
                y[n + dep[c]] -= column_unit(problem, dep[c]) * right[c, 1]
            return OK
    return OPEN


@kernel
def eliminate(D, right):
    """right ← D⁻¹ right by Gauss with row pivoting, in place; the smallest pivot, with the sign of det D."""
    m = len(D)
    smallest, sign = 1e300, 1.0
    for k in range(m):
        best = k
        for r in range(k + 1, m):
            if abs(D[r, k]) > abs(D[best, k]):
                best = r
        if best != k:
            sign = -sign
            for c in range(m):
                D[k, c], D[best, c] = D[best, c], D[k, c]
            for c in range(2):
                right[k, c], right[best, c] = right[best, c], right[k, c]
        d = D[k, k]
        smallest = min(smallest, abs(d))
        if d == 0.0:
            return 0.0
        if d < 0.0:
            sign = -sign
        for r in range(k + 1, m):
            f = D[r, k] / d
            if f != 0.0:
                for c in range(k + 1, m):
                    D[r, c] -= f * D[k, c]
                for c in range(2):
                    right[r, c] -= f * right[k, c]
    for k in range(m - 1, -1, -1):
        for c in range(2):
            total = right[k, c]
            for j in range(k + 1, m):
                total -= D[k, j] * right[j, c]
            right[k, c] = total / D[k, k]
    return sign * smallest
