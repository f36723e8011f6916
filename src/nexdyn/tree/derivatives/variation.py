"""What the variational equation of a run asks of a tree: the stages of its steps, and what of its efforts is unbalanced.

R(q, v, a, t) = RNEA(q, v, a) − Q(q, v, t)          0 along a motion;  Q: all that acts
"""

from __future__ import annotations

from nexdyn.integrate.problem import OK, rates_aside
from nexdyn.kernel import shared
from nexdyn.spatial.lanes import LANES, zero
from nexdyn.tree.core.rnea import inverse_dynamics
from nexdyn.tree.elements import act
from nexdyn.tree.loads import joint_efforts


@shared
def stages(problem, A, c, t, h, q, v, y, K, q_out, v_out, a_out):
    """q (steps, stages, nq), v, a (steps, stages, nv) of the stages of steps h from q (steps, nq), v at t; a status."""
    n = problem.n
    for r in range(len(t)):
        for k in range(q.shape[1]):
            problem.base[k] = q[r, k]
        for i in range(len(c)):
            for m in range(2 * n):
                y[m] = v[r, m - n] if m >= n else 0.0
                for j in range(i):
                    y[m] = y[m] + h[r] * A[i, j] * K[j, m]
            status = rates_aside(problem, t[r] + c[i] * h[r], y, K, i)
            if status != OK:
                return status
            for k in range(q.shape[1]):
                q_out[r, i, k] = problem.q[k]
            for j in range(n):
                v_out[r, i, j], a_out[r, i, j] = problem.v[j], K[i, n + j]
    return OK


@shared
def unbalanced(problem, own, t, q, v, a, out):
    """R (states, LANES, nv) of states in lanes, at t (states,) and a (states, nv); a status.

    q, v (states, LANES or 1, …): a system in each lane, or one for all. own: with the efforts of the joints themselves.
    """
    n = problem.n
    for k in range(len(t)):
        for s in range(LANES):
            of_q, of_v = min(s, q.shape[1] - 1), min(s, v.shape[1] - 1)
            for m in range(q.shape[2]):
                problem.q.data[m, 0, s] = q[k, of_q, m]
            for j in range(n):
                problem.v.data[j, 0, s], problem.a.data[j, 0, s] = v[k, of_v, j], a[k, j]
        if own:
            joint_efforts(problem.model, problem.q, problem.v, problem.tau)
        else:
            for j in range(n):
                problem.tau[j] = zero(problem.v[j])
        status = act(problem.model, problem.work, t[k], problem.q, problem.v, problem.tau, problem.forces)
        if status != OK:
            return status
        inverse_dynamics(problem.model, problem.q, problem.v, problem.a, problem.work, problem.rate)
        for s in range(LANES):
            for j in range(n):
                out[k, s, j] = problem.rate.data[j, 0, s] - problem.tau.data[j, 0, s]
    return OK
