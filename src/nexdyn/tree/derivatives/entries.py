"""Where Python meets the derivatives: one state after another, or eight at once in lanes.

Each takes the handle of a tree, `above` and `ends` of its degrees of freedom, scratch, the states (N, …) and its outputs (N, nv, nv).
"""

from __future__ import annotations

from nexdyn.kernel import formula, kernel
from nexdyn.spatial.lanes import LANES, LaneTable, LaneVector, SharedTable
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.core.crba import factor
from nexdyn.tree.core.entries import is_finite
from nexdyn.tree.core.handle import tables_at
from nexdyn.tree.core.tables import TreeModel
from nexdyn.tree.derivatives.derivatives import (
    inverse_derivatives,
    inverse_of_mass,
    solve_all,
    solve_related,
)


@formula
def padded(n):
    """The whole number of packs that n columns need, in columns."""
    return (n + LANES - 1) // LANES * LANES


@formula
def from_padded(matrix, out):
    """The columns of out (n, n) from those of `matrix`, which has more."""
    for m in range(len(out)):
        for k in range(len(out)):
            out[m, k] = matrix[m, k]


@formula
def forward_derivatives_alone(model, above, ends, q, v, a, work, scratch, M, matrices, packs, columns):
    """∂a/∂q, ∂a/∂v, M⁻¹ of one state, each w columns of `matrices`; `packs` is that table as so many `columns` of packs."""
    n, w = len(above), padded(len(above))
    M[:] = 0.0
    matrices[:] = 0.0
    inverse_derivatives(model, above, q, v, a, work, scratch, matrices, matrices[:, w:], M)
    factor(M, above)
    for m in range(n):
        matrices[m, 2 * w + m] = -1.0
    solve_all(M, above, ends, packs, columns)


@formula
def forward_derivatives(model, above, ends, q, v, a, work, scratch, M, dq, dv, dtau):
    """∂a/∂q, ∂a/∂v, M⁻¹ of eight systems in lanes; all and M zeroed by the caller, M takes the factors Lᵀ D L."""
    inverse_derivatives(model, above, q, v, a, work, scratch, dq, dv, M)
    factor(M, above)
    solve_related(M, above, ends, dq)
    solve_related(M, above, ends, dv)
    inverse_of_mass(M, above, ends, dtau)


@kernel
def inverse_alone(handle, above, scratch, q, v, a, dq, dv, M):
    """∂τ/∂q, ∂τ/∂v and M of every state, from zeros."""
    model, work, _, _ = tables_at(handle)
    for s in range(len(q)):
        inverse_derivatives(model, above, q[s], v[s], a[s], work, scratch, dq[s], dv[s], M[s])


@kernel
def forward_alone(handle, above, ends, scratch, M, matrices, packs, columns, q, v, tau, a, dq, dv, dtau):
    """∂a/∂q, ∂a/∂v and M⁻¹ of every state. Returns the first state whose acceleration is not finite, or −1."""
    model, work, _, _ = tables_at(handle)
    w = padded(len(above))
    for s in range(len(q)):
        articulated_bodies(model, q[s], v[s], tau[s], None, work, a[s])
        if not is_finite(a[s]):
            return s
        forward_derivatives_alone(model, above, ends, q[s], v[s], a[s], work, scratch, M, matrices, packs, columns)
        from_padded(matrices, dq[s])
        from_padded(matrices[:, w:], dv[s])
        from_padded(matrices[:, 2 * w :], dtau[s])
    return -1


@formula
def to_lanes(x, first, out):
    """States first … first + 7 of x (N, n) side by side; the last one again where there are no more."""
    for s in range(LANES):
        row = min(first + s, len(x) - 1)
        for k in range(x.shape[1]):
            out[k, 0, s] = x[row, k]


@formula
def from_lanes(matrix, first, out):
    """The matrices of lanes to states first … first + 7 of out (N, n, n)."""
    n = out.shape[1]
    for s in range(min(LANES, len(out) - first)):
        for m in range(n):
            for k in range(n):
                out[first + s, m, k] = matrix[m, k, s]


@kernel
def inverse_lanes(handle, above, work, scratch, states, matrices, q, v, a, dq, dv, M):
    """∂τ/∂q, ∂τ/∂v and M of every state; `states` (q, v, a) and `matrices` (4, nv, w, 8) are scratch."""
    (topology, body, freedom), _, _, _ = tables_at(handle)
    shared = TreeModel(topology, SharedTable(body, 0), SharedTable(freedom, 0))
    for first in range(0, len(q), LANES):
        to_lanes(q, first, states[0])
        to_lanes(v, first, states[1])
        to_lanes(a, first, states[2])
        matrices[:] = 0.0
        inverse_derivatives(
            shared, above, LaneVector(states[0], 0), LaneVector(states[1], 0), LaneVector(states[2], 0), work, scratch,
            LaneTable(matrices[0], 0), LaneTable(matrices[1], 0), LaneTable(matrices[2], 0),
        )  # fmt: skip
        from_lanes(matrices[0], first, dq)
        from_lanes(matrices[1], first, dv)
        from_lanes(matrices[2], first, M)


@kernel
def forward_lanes(handle, above, ends, work, scratch, states, matrices, q, v, tau, a, dq, dv, dtau):
    """∂a/∂q, ∂a/∂v, M⁻¹ and a of every state; `states` (q, v, τ, a) and `matrices` (4, nv, w, 8) are scratch."""
    (topology, body, freedom), _, _, _ = tables_at(handle)
    shared = TreeModel(topology, SharedTable(body, 0), SharedTable(freedom, 0))
    for first in range(0, len(q), LANES):
        to_lanes(q, first, states[0])
        to_lanes(v, first, states[1])
        to_lanes(tau, first, states[2])
        matrices[:] = 0.0
        q_8, v_8, tau_8, a_8 = (
            LaneVector(states[0], 0), LaneVector(states[1], 0), LaneVector(states[2], 0), LaneVector(states[3], 0)
        )  # fmt: skip
        articulated_bodies(shared, q_8, v_8, tau_8, None, work, a_8)
        forward_derivatives(
            shared, above, ends, q_8, v_8, a_8, work, scratch,
            LaneTable(matrices[3], 0), LaneTable(matrices[0], 0), LaneTable(matrices[1], 0), LaneTable(matrices[2], 0),
        )  # fmt: skip
        for s in range(min(LANES, len(q) - first)):
            for k in range(a.shape[1]):
                a[first + s, k] = states[3][k, 0, s]
        from_lanes(matrices[0], first, dq)
        from_lanes(matrices[1], first, dv)
        from_lanes(matrices[2], first, dtau)
