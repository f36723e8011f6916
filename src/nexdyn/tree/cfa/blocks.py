"""Blocks of A and Ẋ joint by joint, for the rounds of odd–even elimination, and what is done with a block of six.

    A_i = Wᵀ (I_i⁻¹ + P̂ᵀ I_p⁻¹ P̂) W (31),   L_i = −W_pᵀ I_p⁻¹ P̂ W,   Ẋ_i = −Wᵀ (α_i − P̂ᵀ α_p),   α = I⁻¹ P Ĥ F_T

W has six columns: those of the joint, then ĥ of its degrees of freedom with armature, then zeros.
"""

from __future__ import annotations

from typing import Any

from nexdyn.joints.on_tree import constraint_columns, motion_columns
from nexdyn.kernel import formula, kernel, shared
from nexdyn.spatial.algebra import Force, Vec3, to_child
from nexdyn.spatial.mobility import mobility
from nexdyn.spatial.table import ForceRows, MotionRows
from nexdyn.tree.cfa.any_joint import factor_small
from nexdyn.tree.cfa.cfa import bias_forces, change_motion, pose
from nexdyn.tree.cfa.tables import LEAST_PIVOT
from nexdyn.tree.core.handle import tables_at

NO_COLUMN = 1.0
"""Diagonal of A where a joint has fewer than six columns of W: 0 · F = 0 would be singular."""


@kernel
def bias_and_columns(handle, cfa, chains, q, v):
    """RNEA(q, v, 0), and the columns of H and W of every joint."""
    model, work, _, _ = tables_at(handle)
    bodies, index = model.topology, cfa.index
    bias_forces(model, cfa, q, v, None, work)
    F, H = cfa.turn.F, work.columns.H
    for i in range(len(index) - 1, 0, -1):
        kind, k, j, p = bodies[i].kind, bodies[i].iq, bodies[i].iv, index[i].parent
        W, m = ForceRows(chains.W[i], 0), 6 - bodies[i].nv
        motion_columns(kind, model.body[i].pitch, q, k, H, j)
        constraint_columns(kind, model.body[i].pitch, q, k, W)
        for n in range(j, j + bodies[i].nv):
            if model.freedom[n].armature > 0.0:
                h = H[n]
                scale = 1.0 / (h.w @ h.w + h.v @ h.v)
                W[m] = Force(scale * h.w, scale * h.v)
                m += 1
        for n in range(m, 6):
            W[n] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
        if p > 0:
            F[p] = F[p] + pose(model, cfa, i) @ F[i]


@kernel
def change_bias(handle, cfa, qdd):
    """RNEA(q, v, q̈) in the place of RNEA(q, v, 0)."""
    model, work, _, _ = tables_at(handle)
    change_motion(model, cfa, work, qdd)


@kernel
def control_forces(handle, cfa, chains, tau, qdd):
    """F_T of every joint, its Ĥ F_T, and the acceleration I⁻¹ P Ĥ F_T of every body."""
    model, work, _, _ = tables_at(handle)
    bodies, dofs, index = model.topology, model.freedom, cfa.index
    F, H = cfa.turn.F, work.columns.H
    u, net, inverse = ForceRows(chains.u, 0), ForceRows(chains.net, 0), cfa.body.inverse
    alpha = MotionRows(chains.alpha, 0)
    none: Any = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    for i in range(1, len(index)):
        net[i] = none
    for i in range(len(index) - 1, 0, -1):
        j, p, u_i, m = bodies[i].iv, index[i].parent, none, 6 - bodies[i].nv
        for n in range(j, j + bodies[i].nv):
            h = H[n]
            t = tau[n] - F[i] @ h
            if dofs[n].armature > 0.0:
                chains.x[i, m] = t / dofs[n].armature - qdd[n]
                m += 1
            else:
                scale = t / (h.w @ h.w + h.v @ h.v)
                u_i = u_i + Force(scale * h.w, scale * h.v)
        for k in range(m, 6):
            chains.x[i, k] = 0.0
        u[i] = u_i
        alpha[i] = inverse[i] @ (net[i] + u_i)
        if p > 0:
            net[p] = net[p] - pose(model, cfa, i) @ u_i


@shared
def blocks_of_joints(handle, cfa, chains, first, last):
    """A_i (31), what couples a joint with the one inward, and Ẋ, of the joints first … last − 1, counted from 1."""
    model, _, _, _ = tables_at(handle)
    bodies, dofs, index = model.topology, model.freedom, cfa.index
    inverse, alpha = cfa.body.inverse, MotionRows(chains.alpha, 0)
    for i in range(first + 1, last + 1):
        p, A, L, x = index[i].parent, chains.A[i], chains.L[i], chains.x[i]
        W, W_p, W_inward = ForceRows(chains.W[i], 0), ForceRows(chains.W_p[i], 0), ForceRows(chains.W[p], 0)
        X_i, I_i, I_p = pose(model, cfa, i), mobility(inverse[i]), mobility(inverse[p])
        chains.sound[i] = 1
        own, parents = chains.carries_node[i] == 0, p > 0 and chains.on_node[i] == 0
        for k in range(6):
            W_p[k] = X_i @ W[k]
        # Ẋ = −Wᵀ (α_i − P̂ᵀ α_p); a freedom with armature has F_T/D there already
        a = alpha[i]
        if p > 0:
            a = a - to_child(X_i, alpha[p])
        m = 6 - bodies[i].nv
        for k in range(6):
            x[k] = (x[k] if k >= m else 0.0) - W[k] @ a
        for k in range(6):
            # the parts of a node's body stay with the node
            own_k, parent_k = I_i @ W[k], I_p @ W_p[k]
            chains.least[i, k] = LEAST_PIVOT * (W[k] @ own_k + W_p[k] @ parent_k)
            for l in range(6):
                A[l, k] = (W[l] @ own_k if own else 0.0) + (W_p[l] @ parent_k if parents else 0.0)
                L[k, l] = -(W_inward[l] @ parent_k) if parents else 0.0
        for n in range(bodies[i].iv, bodies[i].iv + bodies[i].nv):
            if dofs[n].armature > 0.0:
                A[m, m] += 1.0 / dofs[n].armature
                m += 1
        for k in range(m, 6):
            A[k, k], chains.least[i, k] = NO_COLUMN, 0.0


# --- blocks of six ------------------------------------------------------------------------------------------------


@formula
def solve_columns(A, Z, first):
    """Z[:, first:] ← A⁻¹ Z[:, first:] with the factors of `factor_small`."""
    for k in range(6):
        for l in range(k):
            for c in range(first, Z.shape[1]):
                Z[k, c] -= A[k, l] * Z[l, c]
    for k in range(5, -1, -1):
        for c in range(first, Z.shape[1]):
            Z[k, c] *= A[k, k]
        for l in range(k + 1, 6):
            for c in range(first, Z.shape[1]):
                Z[k, c] -= A[l, k] * Z[l, c]


@formula
def copied(X, out):
    """out ← X, 6 × 6."""
    for k in range(6):
        for l in range(6):
            out[k, l] = X[k, l]


@formula
def factor_joint(chains, i, A):
    """The factors of A to joint i; notes where it is not positive definite."""
    copied(A, chains.S[i])
    if not factor_small(chains.S[i], 6, chains.least[i]):
        chains.sound[i] = 0


@formula
def solve_vector(S, x):
    for k in range(6):
        for l in range(k):
            x[k] -= S[k, l] * x[l]
    for k in range(5, -1, -1):
        x[k] *= S[k, k]
        for l in range(k + 1, 6):
            x[k] -= S[l, k] * x[l]
