"""A tree with constraint rows as a problem of time integration.

    M a + h + Cqᵀ λ = τ,   Cq a = γ − 2 α (Cq v − ν) − β² C

Two ways to keep C = 0 and Cq v = ν, or neither:

    Baumgarte    α, β > 0: C̈ + 2 α Ċ + β² C = 0
    projection   after every step  Δq = −M⁻¹Cqᵀ A⁻¹ C until C = 0,  Δv = −M⁻¹Cqᵀ A⁻¹ (Cq v − ν),  A = Cq M⁻¹Cqᵀ:
                 the shortest way in the metric of M

A tree that is left without the joints that were cut need not move inertia in every freedom: what the rows leave free must. Freedoms
without inertia borrow some, as armature b, for the tree's factors, and pay it back:

    (M + B) a_k + h + Cqᵀ λ_k = τ + B a_(k−1),   Cq a_k = γ       until a_k = a_(k−1), which falls by b over the inertia that moves,
                                                                            or no longer falls: what is left then is rounding, of which
                                                                            there is more the closer the rows are to dependent;
                                                                            NaN where that takes too long

The projection solves with what the last evaluation left factored, at a state that differs by the error of the step: a
simplified Newton iteration, which is factored anew where it does not converge. Rows at velocity level have no part in Δq.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any, NamedTuple

from nexdyn.constraints.tables import LEFT, within_ends
from nexdyn.forces import states
from nexdyn.generic import defines
from nexdyn.integrate import problem as integration
from nexdyn.integrate.problem import MOVED, OK
from nexdyn.integrate.stabilised import Damping, rate, speed2
from nexdyn.joints.kinds import FREE, SPHERICAL
from nexdyn.joints.verbs import chart_rate, chart_step
from nexdyn.kernel import formula, inlined, kernel, outlined
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.core.kinematics import kinematics, world_poses
from nexdyn.tree.elements import act
from nexdyn.tree.loads import joint_efforts
from nexdyn.tree.loops.cuts import act_own, count_angles, foresee_angles, measure_own
from nexdyn.tree.loops.loops import POSITIONS, VELOCITIES, LoopTables, equation, evaluate_rows
from nexdyn.tree.loops.solve import (
    factor_rows,
    largest_left_out,
    largest_residual,
    response,
    solve_rows,
    take_rows,
    watch_dependence,
)
from nexdyn.tree.motion import TreeProblem, place, put_chart_rates, turns_counted, with_states

OPEN = 53
"""Status: the rows do not close after a step."""
CLOSED, ALONG = 1e-12, 1e-13
"""|C| in units of the mechanism's size at which positions, and |Ċ − ν| as a part of the speed at which velocities are projected enough."""
ROUNDED = 1e-9
"""What is accepted where rounding leaves no less."""
ASTRAY = 1e-6
"""|C| of rows that the others should have closed at which the mechanism has left its branch."""
PAID, LEAST_PAID, MOST_PAID = 1e-13, 1e-10, 40
"""Part of what is paid back up to which it is the same; up to which it has to be, and most evaluations to find it."""
PAID_BUT_ROUNDING, GREW = 1e-6, 2
"""Part up to which it may be where it no longer falls: where it has grown so often, below that."""
OF_FREE = 1e-4
"""Part of the accelerations without the rows that counts where those with them are less: rounding leaves some 1e-15 of it."""
MOST = 40
"""Iterations: factors of another pose leave up to a third from each to the next."""


class LoopProblem(NamedTuple):
    """A tree with rows in motion. tree.q, tree.v and tree.tau are longer by the coordinates of joints that were cut.

    project: whether states are projected after a step. stages (ns, m + 2): of each row of the integrator's K its time,
    |C| and λ; stamp (1 + ns,): a counter, and when each was evaluated last.
    """

    tree: TreeProblem
    loops: LoopTables
    project: int
    stages: Any
    stamp: Any


@formula
def damping_here(work, loops):
    """α, β at the velocities of the links."""
    damping, needed, V = Damping(loops.damping), loops.needed, work.body.V
    a, b = damping.alpha, damping.beta
    if a < 0.0 or b < 0.0:
        squared = 0.0
        for n in range(len(needed)):
            squared += speed2(V[needed[n]], damping.length)
        usual = rate(damping, squared / max(len(needed), 1))
        a, b = usual if a < 0.0 else a, usual if b < 0.0 else b
    return a, b


@inlined
def closed_accelerations(model, work, loops, t, q, v, tau, forces, a):
    """a (nv,) of the closed mechanism, and λ into loops.mu; `forces` tells whether links carry external forces."""
    row_of, mu, lent = loops.row_of, loops.mu, loops.lent
    owed, before, grew = 0.0, inf, 0
    for _ in range(MOST_PAID if len(lent) > 0 else 1):
        articulated_bodies(model, q, v, tau, forces, work, a)
        free = 0.0
        for j in range(len(lent)):
            free = max(free, abs(a[j]))
        evaluate_rows(model, work, loops, t, True)
        factor_rows(work, loops, False)
        alpha, beta = damping_here(work, loops)
        for r in range(len(mu)):
            # (Cq M⁻¹Cqᵀ) λ = C̈₀ + 2 α Ċ + β² C
            row = equation(loops, row_of[r].group, row_of[r].lane)
            mu[r] = row.second + 2.0 * alpha * row.rate
            if not loops.velocity_level[r]:
                mu[r] += beta * beta * row.C
        solve_rows(loops)
        response(model, work, loops)
        for j in range(len(loops.change)):
            a[j] -= loops.change[j]
        owed = paid_back(lent, a, tau, OF_FREE * free)
        grew += owed >= before and owed < PAID_BUT_ROUNDING
        if grew == GREW or not owed > PAID:
            break
        before = owed
    if owed > LEAST_PAID and grew < GREW:
        a[0] = nan  # what moves is too light beside what was lent
    for j in range(len(lent)):
        tau[j] -= lent[j].effort
        lent[j].effort = 0.0


@formula
def paid_back(lent, a, tau, least):
    """τ ← τ + B a in place of what was there for the a before; what that changes it by, as a part of what the largest |a|, or `least`,
    would ask."""
    most, lends, fastest = 0.0, 0.0, least
    for j in range(len(lent)):
        effort = lent[j].inertia * a[j]
        most, lends, fastest = (
            max(most, abs(effort - lent[j].effort)),
            max(lends, lent[j].inertia),
            max(fastest, abs(a[j])),
        )
        tau[j] += effort - lent[j].effort
        lent[j].effort = effort
    return most / (lends * fastest) if lends * fastest > 0.0 else 0.0


@kernel
def closed_dynamics(model, work, loops, t, q, v, tau, forces, a):
    """The same as an entry."""
    closed_accelerations(model, work, loops, t, q, v, tau, forces, a)


@kernel
def correction(model, work, loops, t, q, v, tau, a, which):
    """loops.change ← M⁻¹Cqᵀ (Cq M⁻¹Cqᵀ)⁻¹ x, what to take from q for x = C, from v for x = Cq v − ν; `which` says which."""
    articulated_bodies(model, q, v, tau, None, work, a)
    evaluate_rows(model, work, loops, t, False)
    factor_rows(work, loops, which == POSITIONS)
    take_rows(loops, which)
    solve_rows(loops)
    response(model, work, loops)


@kernel
def efforts(model, work, loops, t, q, v, tau, forces):
    """τ of joints and forces, F_ext of forces and of what acts in cut joints. Returns a status."""
    for j in range(len(loops.change), len(tau)):
        tau[j] = 0.0
    joint_efforts(model, q, v, tau)
    if len(tau) > len(loops.change) and forces is not None:
        kinematics(model, q, v, work)
        world_poses(model, work, work.spare.X_W)
        measure_own(model, work, loops, t, q, v, forces)
    status = act(model, work, t, q, v, tau, forces)
    act_own(work, loops, t, q, v, tau, forces)
    return status


@defines(integration.rates)
def _(problem: LoopProblem, t: float, y: Any, K: Any, i: float) -> Any:
    tree, loops = problem.tree, problem.loops
    with_states(tree, y)
    foresee_angles(loops, t, tree.q)
    status = efforts(tree.model, tree.work, loops, t, tree.q, tree.v, tree.tau, tree.forces)
    if status != OK:
        return status
    for j in range(tree.n):
        tree.tau[j] = tree.tau[j] + tree.u[j]
    closed_accelerations(tree.model, tree.work, loops, t, tree.q, tree.v, tree.tau, tree.forces, tree.a)
    count_angles(tree.work, loops, t)
    watch_dependence(loops, t)
    put_chart_rates(tree, y, K, i)
    for j in range(tree.n):
        K[i, tree.n + j] = tree.a[j]
    states.put_rates(tree.forces, K, i, 2 * tree.n)
    problem.stamp[0] += 1.0
    problem.stamp[1 + i] = problem.stamp[0]
    problem.stages[i, 0] = t
    problem.stages[i, 1] = largest_residual(loops, POSITIONS)
    for r in range(len(loops.mu)):
        problem.stages[i, 2 + r] = loops.mu[r]
    return OK


@defines(integration.stretches)
def _(problem: LoopProblem, y: Any) -> Any:
    return states.stretches(problem.tree.forces, y)


@defines(integration.stretch)
def _(problem: LoopProblem, p: Any, size: Any) -> Any:
    return states.stretch(problem.tree.forces, p, 2 * problem.tree.n, size)


@defines(integration.look_at_all)
def _(problem: LoopProblem) -> Any:
    states.look_at_all(problem.tree.forces)


@defines(integration.look_at_less)
def _(problem: LoopProblem, K: Any) -> Any:
    states.look_at_less(problem.tree.forces, K, 2 * problem.tree.n)


@defines(integration.next_sample)
def _(problem: LoopProblem) -> Any:
    return states.next_sample(problem.tree.forces)


@defines(integration.take_samples)
def _(problem: LoopProblem, t: float, y: Any) -> Any:
    tree, loops = problem.tree, problem.loops
    if states.next_sample(tree.forces) == inf:
        return 0
    with_states(tree, y)
    foresee_angles(loops, t, tree.q)
    if len(tree.tau) > len(loops.change):
        kinematics(tree.model, tree.q, tree.v, tree.work)
        world_poses(tree.model, tree.work, tree.work.spare.X_W)
        measure_own(tree.model, tree.work, loops, t, tree.q, tree.v, tree.forces)
    return states.sample_forces(tree.forces, t, tree.q, tree.v, y, 2 * tree.n)


@defines(integration.confine)
def _(problem: LoopProblem, y: Any, K: Any, i: Any) -> Any:
    integration.confine(problem.tree, y, K, i)


@defines(integration.recentre)
def _(problem: LoopProblem, y: Any, K: Any, i: float) -> Any:
    integration.recentre(problem.tree, y, K, i)


@defines(integration.scale)
def _(problem: LoopProblem, y: Any, s: Any, n: Any) -> Any:
    integration.scale(problem.tree, y, s, n)


@defines(integration.record)
def _(problem: LoopProblem, t: float, y: Any, K: Any, out: Any, r: float) -> Any:
    integration.record(problem.tree, t, y, K, out, r)
    # λ and |C| of the stage evaluated last at this time, which rounding may move
    stages, stamp = problem.stages, problem.stamp
    found = 0
    for i in range(1, len(stages)):
        apart, least = abs(stages[i, 0] - t), abs(stages[found, 0] - t)
        if apart < least or (apart == least and stamp[1 + i] > stamp[1 + found]):
            found = i
    first, near = out.shape[1] - stages.shape[1] + 1, problem.loops.near
    for k in range(len(near)):
        out[r, first - len(near) + k] = near[k]
    for c in range(stages.shape[1] - 1):
        out[r, first + c] = stages[found, 1 + c]


@formula
def move_base(tree, step):
    """base ← base moved against the velocity `step` for a unit of time."""
    runs, base, q = tree.runs, tree.base, tree.q
    for e in range(len(runs)):
        run = runs[e]
        kind, k, j, count = run.kind, run.iq, run.iv, run.nv
        if kind == SPHERICAL or kind == FREE:
            for m in range(j, j + count):
                tree.v[m] = -step[m]
                tree.a[m] = 0.0
            chart_rate(kind, base, k, tree.a, tree.v, j, tree.rate)
            chart_step(kind, base, k, tree.rate, j, q)
            for m in range(count + 1):
                base[k + m] = q[k + m]
        else:
            for m in range(count):
                base[k + m] -= step[j + m]


@outlined
def evaluate_at_base(problem, t, y):
    """C and Ċ − ν at the base with the velocities of y; what is factored stays."""
    tree = problem.tree
    place(tree, y)
    foresee_angles(problem.loops, t, tree.q)
    kinematics(tree.model, tree.q, tree.v, tree.work)
    evaluate_rows(tree.model, tree.work, problem.loops, t, False)


@outlined
def factored_at_base(problem, t, y, of_positions):
    """The same, factored there."""
    tree = problem.tree
    place(tree, y)
    foresee_angles(problem.loops, t, tree.q)
    articulated_bodies(tree.model, tree.q, tree.v, tree.tau, None, tree.work, tree.a)
    evaluate_rows(tree.model, tree.work, problem.loops, t, False)
    factor_rows(tree.work, problem.loops, of_positions)


@outlined
def found_change(tree, loops, which):
    """loops.change ← M⁻¹Cqᵀ A⁻¹ of C or of Ċ − ν, with what is factored."""
    take_rows(loops, which)
    solve_rows(loops)
    response(tree.model, tree.work, loops)


@formula
def largest_speed(loops, y, n):
    """The largest velocity of the tree, lengths in units of the mechanism's size."""
    most = 0.0
    for j in range(n):
        most = max(most, loops.speed_units[j] * abs(y[n + j]))
    return most


@kernel
@outlined
def project(problem, t, y):
    """The base to C = 0, the velocities in y to Cq v = ν. Returns a status."""
    tree, loops = problem.tree, problem.loops
    mixed = False
    for r in range(len(loops.mu)):
        mixed = mixed or loops.velocity_level[r]
    fresh = False
    if mixed:
        factored_at_base(problem, t, y, True)
        fresh = True
    else:
        evaluate_at_base(problem, t, y)
    before = largest_residual(loops, POSITIONS)
    for _ in range(MOST):
        if before <= CLOSED:
            break
        found_change(tree, loops, POSITIONS)
        move_base(tree, loops.change)
        if fresh:
            factored_at_base(problem, t, y, True)
        else:
            evaluate_at_base(problem, t, y)
        now = largest_residual(loops, POSITIONS)
        if not now < 0.3 * before and now > CLOSED:
            if fresh and now < ROUNDED:
                before = now
                break
            fresh = True
            factored_at_base(problem, t, y, True)
        before = now
    if not before < ROUNDED or not largest_left_out(loops) < ASTRAY:
        return OPEN
    if mixed or fresh:
        factor_rows(tree.work, loops, False)
    most = largest_residual(loops, VELOCITIES)
    for _ in range(MOST):
        if most <= ALONG * largest_speed(loops, y, tree.n):
            break
        found_change(tree, loops, VELOCITIES)
        for j in range(tree.n):
            y[tree.n + j] -= loops.change[j]
        if fresh:
            break  # factored here, the velocities are exact
        evaluate_at_base(problem, t, y)
        now = largest_residual(loops, VELOCITIES)
        if not now < 0.3 * most:
            factored_at_base(problem, t, y, False)
            fresh = True
        most = now
    return OK


@defines(integration.settle)
def _(problem: LoopProblem, t: float, y: Any, K: Any) -> Any:
    status = OK
    if problem.project == 0 and len(problem.loops.tables.ends) > 0:
        evaluate_at_base(problem, t, y)  # where points are now, not where a stage was
    if problem.project != 0:
        status = project(problem, t, y)
        place(problem.tree, y)
        put_chart_rates(problem.tree, y, K, 0)
        if status != OK:
            return status
        status = MOVED
    turns_counted(problem.tree, y, problem.tree.forces)
    return status if within_ends(problem.loops.tables, problem.loops.near) else LEFT


@kernel
def lead(problem, t0, dt, steps, y, K):
    """Positions, velocities and accelerations at t₀ + dt, …, t₀ + steps dt of a mechanism that its rows determine.

    Each pose is sought from where the velocity of the one before leads. Returns a status.
    """
    n = problem.tree.n
    for s in range(steps):
        t = t0 + (s + 1) * dt
        for j in range(n):
            y[j] = dt * K[0, j]
        integration.recentre(problem, y, K, 0)
        status = integration.settle(problem, t, y, K)
        if status == OK or status == MOVED:
            status = integration.rates_aside(problem, t, y, K, 0)
        if status != OK:
            return status
    return OK
