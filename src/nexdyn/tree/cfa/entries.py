"""Where Python meets the constraint force algorithm: kernels over a batch of states, one row a state."""

from __future__ import annotations

from nexdyn.kernel import formula, kernel
from nexdyn.spatial.algebra import Force, Vec3, to_child
from nexdyn.spatial.table import ForceRows
from nexdyn.spatial.turned_z import turned_z
from nexdyn.tree.cfa.cfa import bias_forces, constraint_forces, pay_back, pose, refine
from nexdyn.tree.cfa.tables import ANY
from nexdyn.tree.core.entries import is_finite
from nexdyn.tree.core.handle import tables_at


@formula
def put_constraint_wrenches(model, cfa, out):
    """W (F_S + Wᵀ RNEA) of every joint at its point in its parent-side frame, into rows 0, 1, … of `out`."""
    index, bodies, X_PJ = cfa.index, model.topology, model.body.X_PJ
    F, F_bias, rows = cfa.result.F, cfa.turn.F, ForceRows(out, 0)
    for i in range(1, len(index)):
        F_i = F[i] + F_bias[i]
        if index[i].way == ANY:
            W = ForceRows(cfa.W[index[i].slot], 0)
            across = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
            for k in range(6 - bodies[i].nv):
                w = W[k]
                across = across + (w.n @ F_i.n + w.f @ F_i.f) * w
            rows[i - 1] = to_child(X_PJ[i], pose(model, cfa, i) @ across)
        else:
            c, s = cfa.turn[i].cos, cfa.turn[i].sin
            rows[i - 1] = Force(turned_z(c, s, Vec3(F_i.n.x, F_i.n.y, 0.0)), turned_z(c, s, F_i.f))


@kernel
def constraint_force_algorithm(handle, cfa, q, v, tau, refinements, qdd, wrench):
    """q̈ (N, nv) and the joints' constraint wrenches (N, nb, 6). Returns the first state that has no solution, and the link
    whose block of A is not positive definite (0: the numbers are not finite); or −1, 0."""
    model, work, _, _ = tables_at(handle)
    for s in range(len(q)):
        bias_forces(model, cfa, q[s], v[s], None, work)
        refined = refinements > 0 or cfa.lends[0] != 0
        lost = max(
            constraint_forces(model, cfa, q[s], tau[s], refined, work, qdd[s]),
            pay_back(model, cfa, tau[s], work, qdd[s]),
        )
        if lost > 0 or not is_finite(qdd[s]):
            return s, lost
        for _ in range(refinements):
            refine(model, cfa, tau[s], work, qdd[s])
        put_constraint_wrenches(model, cfa, wrench[s])
    return -1, 0
