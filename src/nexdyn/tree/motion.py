"""A tree as a problem of time integration: ξ̇ and v̇ from the state, with all that acts.

    q = base ∘ ξ,   τ = τ_joints(q, v) + forces(t, …),   v̇ = M⁻¹ (τ + u − h)   by ABA, CFA, or CRBA and factorisation

With mimic joints the state is the independent q, v; the tree's own are q_tree = G q + g₀, v_tree = G v, and the reduced
equations Gᵀ M G v̇ = Gᵀ (τ − h) + u are solved.
"""

from __future__ import annotations

from math import nan
from typing import Annotated, Any, NamedTuple

from nexdyn.forces import states
from nexdyn.forces.tables import ForceTables
from nexdyn.generic import defines, generic
from nexdyn.integrate import problem as integration
from nexdyn.integrate.problem import OK
from nexdyn.joints.kinds import FREE, SPHERICAL
from nexdyn.joints.verbs import chart_rate, chart_step, turns
from nexdyn.kernel import formula
from nexdyn.records import Record, holds_records
from nexdyn.spatial.lanes import zero
from nexdyn.tree.cfa.cfa import bias_forces, constraint_forces, pay_back
from nexdyn.tree.cfa.tables import ConstraintTables
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.core.crba import factor, mass_matrix, mirror, solve_factored
from nexdyn.tree.core.rnea import inverse_dynamics
from nexdyn.tree.core.tables import TreeModel, TreeWork
from nexdyn.tree.elements import act
from nexdyn.tree.loads import joint_efforts
from nexdyn.tree.wound import count_turns


class CouplingTables(NamedTuple):
    """G and g₀ of mimic joints, and room for the tree's own q and v."""

    q_column: Any
    q_factor: Any
    q_offset: Any
    v_column: Any
    v_factor: Any
    q: Any
    v: Any


class Factorisation(NamedTuple):
    """What CRBA works in: the degrees of freedom above each, M of the tree and of the independent coordinates, h, and a zero v̇."""

    above: Any
    M_tree: Any
    M: Any
    h: Any
    no_a: Any


class Run(Record):
    """Coordinates of one joint, or of several: kind, first q, first v, how many."""

    kind: int
    iq: int
    iv: int
    nv: int


@holds_records
class TreeProblem(NamedTuple):
    """A tree in motion. `joints`: those with coordinates of their own; `runs`: the same, neighbours without quaternions as one, so that
    their coordinates move in one loop."""

    model: TreeModel
    work: TreeWork
    joints: Annotated[Any, Run]
    runs: Annotated[Any, Run]
    n: int
    base: Any
    q: Any
    v: Any
    a: Any
    tau: Any
    u: Any
    rate: Any
    forces: Any  # ForceTables or None
    coupling: Any  # CouplingTables or None
    factorisation: Any  # Factorisation, ConstraintTables for CFA, or None for ABA


tree_state = generic("tree_state", "The tree's own (q, v) of a problem's independent ones.")
solve_motion = generic("solve_motion", "a from q, v, τ and external forces of the tree, and u.")


@formula
def with_states(problem, y):
    """q = base ∘ ξ, v, and z of the forces, from y = (ξ, v, z)."""
    place(problem, y)
    states.put_states(problem.forces, y, 2 * problem.n)


@formula
def place(problem, y):
    """q = base ∘ ξ and v from y = (ξ, v)."""
    runs, base, q, v, n = problem.runs, problem.base, problem.q, problem.v, problem.n
    for e in range(len(runs)):
        run = runs[e]
        kind, k, j, count = run.kind, run.iq, run.iv, run.nv
        if kind == SPHERICAL or kind == FREE:
            chart_step(kind, base, k, y, j, q)
        else:
            for m in range(count):
                q[k + m] = base[k + m] + y[j + m]
        for m in range(j, j + count):
            v[m] = y[n + m]


@formula
def put_chart_rates(problem, y, K, i):
    """K[i, :n] = ξ̇: the velocity itself, but for quaternions."""
    runs, base, v, rate = problem.runs, problem.base, problem.v, problem.rate
    for e in range(len(runs)):
        run = runs[e]
        kind, k, j, count = run.kind, run.iq, run.iv, run.nv
        if kind == SPHERICAL or kind == FREE:
            chart_rate(kind, base, k, y, v, j, rate)
            for m in range(j, j + count):
                K[i, m] = rate[m]
        else:
            for m in range(j, j + count):
                K[i, m] = v[m]


@defines(tree_state)
def _(problem: TreeProblem, coupling: None) -> Any:
    return problem.q, problem.v


@defines(tree_state)
def _(problem: TreeProblem, coupling: CouplingTables) -> Any:
    for k in range(len(coupling.q_column)):
        coupling.q[k] = coupling.q_factor[k] * problem.q[coupling.q_column[k]] + coupling.q_offset[k]
    for j in range(len(coupling.v_column)):
        coupling.v[j] = coupling.v_factor[j] * problem.v[coupling.v_column[j]]
    return coupling.q, coupling.v


@defines(solve_motion)
def _(problem: TreeProblem, factorisation: None) -> Any:
    for j in range(problem.n):
        problem.tau[j] = problem.tau[j] + problem.u[j]
    q, v = tree_state(problem, problem.coupling)
    articulated_bodies(problem.model, q, v, problem.tau, problem.forces, problem.work, problem.a)


@defines(solve_motion)
def _(problem: TreeProblem, factorisation: Factorisation) -> Any:
    M, h = factorisation.M_tree, factorisation.h
    size = problem.model.topology[0].iv
    q, v = tree_state(problem, problem.coupling)
    inverse_dynamics(problem.model, q, v, factorisation.no_a, problem.work, h)
    for j in range(size):
        for i in range(size):
            M[i, j] = zero(h[j])
    mass_matrix(problem.model, q, problem.work, M)
    reduce_motion(problem, problem.coupling)
    factor(factorisation.M, factorisation.above)
    solve_factored(factorisation.M, factorisation.above, problem.a)


@defines(solve_motion)
def _(problem: TreeProblem, factorisation: ConstraintTables) -> Any:
    for j in range(problem.n):
        problem.tau[j] = problem.tau[j] + problem.u[j]
    bias_forces(problem.model, factorisation, problem.q, problem.v, problem.forces, problem.work)
    lends = factorisation.lends[0] != 0
    lost = constraint_forces(problem.model, factorisation, problem.q, problem.tau, lends, problem.work, problem.a)
    lost = max(lost, pay_back(problem.model, factorisation, problem.tau, problem.work, problem.a))
    if lost > 0:
        # forces without a sign are no motion: this stops it, and `lost` says why
        factorisation.lost[0] = lost
        for j in range(problem.n):
            problem.a[j] = nan


reduce_motion = generic("reduce_motion", "M and a ← the right-hand side, of the independent coordinates.")


@defines(reduce_motion)
def _(problem: TreeProblem, coupling: None) -> Any:
    # M is M_tree itself;  right-hand side τ + u − h
    for j in range(problem.n):
        problem.a[j] = problem.tau[j] + problem.u[j] - problem.factorisation.h[j]


@defines(reduce_motion)
def _(problem: TreeProblem, coupling: CouplingTables) -> Any:
    # M = Gᵀ M_tree G,  right-hand side Gᵀ (τ − h) + u
    M, M_tree, h = problem.factorisation.M, problem.factorisation.M_tree, problem.factorisation.h
    column, scale = coupling.v_column, coupling.v_factor
    mirror(M_tree, len(column))
    for j in range(problem.n):
        problem.a[j] = problem.u[j]
        for i in range(problem.n):
            M[i, j] = zero(h[0])
    for j in range(len(column)):
        problem.a[column[j]] = problem.a[column[j]] + scale[j] * (problem.tau[j] - h[j])
        for i in range(len(column)):
            M[column[i], column[j]] = M[column[i], column[j]] + scale[i] * scale[j] * M_tree[i, j]


@defines(integration.rates)
def _(problem: TreeProblem, t: float, y: Any, K: Any, i: float) -> Any:
    with_states(problem, y)
    q, v = tree_state(problem, problem.coupling)
    joint_efforts(problem.model, q, v, problem.tau)
    status = act(problem.model, problem.work, t, q, v, problem.tau, problem.forces)
    if status != OK:
        return status
    solve_motion(problem, problem.factorisation)
    put_chart_rates(problem, y, K, i)
    for j in range(problem.n):
        K[i, problem.n + j] = problem.a[j]
    states.put_rates(problem.forces, K, i, 2 * problem.n)
    return OK


@defines(integration.stretches)
def _(problem: TreeProblem, y: Any) -> Any:
    return states.stretches(problem.forces, y)


@defines(integration.stretch)
def _(problem: TreeProblem, p: Any, size: Any) -> Any:
    return states.stretch(problem.forces, p, 2 * problem.n, size)


@defines(integration.look_at_all)
def _(problem: TreeProblem) -> Any:
    states.look_at_all(problem.forces)


@defines(integration.look_at_less)
def _(problem: TreeProblem, K: Any) -> Any:
    states.look_at_less(problem.forces, K, 2 * problem.n)


@defines(integration.next_sample)
def _(problem: TreeProblem) -> Any:
    return states.next_sample(problem.forces)


@defines(integration.take_samples)
def _(problem: TreeProblem, t: float, y: Any) -> Any:
    with_states(problem, y)
    q, v = tree_state(problem, problem.coupling)
    return states.sample_forces(problem.forces, t, q, v, y, 2 * problem.n)


@defines(integration.confine)
def _(problem: TreeProblem, y: Any, K: Any, i: Any) -> Any:
    states.confine_states(problem.forces, y, K, i, 2 * problem.n)


@defines(integration.recentre)
def _(problem: TreeProblem, y: Any, K: Any, i: float) -> Any:
    place(problem, y)
    runs, base, q = problem.runs, problem.base, problem.q
    for e in range(len(runs)):
        run = runs[e]
        extra = 1 if run.kind == SPHERICAL or run.kind == FREE else 0
        for k in range(run.iq, run.iq + run.nv + extra):
            base[k] = q[k]
    for j in range(problem.n):
        y[j] = zero(y[j])
    put_chart_rates(problem, y, K, i)


@defines(integration.settle)
def _(problem: TreeProblem, t: float, y: Any, K: Any) -> Any:
    turns_counted(problem, y, problem.forces)
    return OK


turns_counted = generic("turns_counted", "Angles of torsion springs among the states ← those of the pose.")


@defines(turns_counted)
def _(problem: TreeProblem, y: Any, forces: None) -> Any:
    return None


@defines(turns_counted)
def _(problem: TreeProblem, y: Any, forces: ForceTables) -> Any:
    if len(forces.winding) > 0:
        place(problem, y)
        q, v = tree_state(problem, problem.coupling)
        count_turns(problem.model, problem.work, q, v, y, 2 * problem.n, forces)


@defines(integration.record)
def _(problem: TreeProblem, t: float, y: Any, K: Any, out: Any, r: float) -> Any:
    place(problem, y)
    runs, n = problem.runs, problem.n
    out[r, 0] = t
    nq = 0
    for e in range(len(runs)):
        run = runs[e]
        extra = 1 if run.kind == SPHERICAL or run.kind == FREE else 0
        for k in range(run.iq, run.iq + run.nv + extra):
            out[r, 1 + k] = problem.q[k]
            nq += 1
    for j in range(n):
        out[r, 1 + nq + j] = problem.v[j]
        out[r, 1 + nq + n + j] = K[0, n + j]
    states.record_states(problem.forces, y, 2 * n, out, r, 1 + nq + 2 * n)


@defines(integration.scale)
def _(problem: TreeProblem, y: Any, s: Any, n: Any) -> Any:
    # angles and rotations count as 1 rad; lengths and velocities as they are
    joints, base = problem.joints, problem.base
    for e in range(len(joints)):
        joint = joints[e]
        kind, k, j, count = joint.kind, joint.iq, joint.iv, joint.nv
        for m in range(count):
            if turns(kind, m):
                s[j + m] = 1.0
            else:
                s[j + m] = abs(base[k + m + 1] if kind == FREE else base[k + m])
    for m in range(n, 2 * n):
        s[m] = abs(y[m])
    states.scale_states(problem.forces, y, s, 2 * n)
