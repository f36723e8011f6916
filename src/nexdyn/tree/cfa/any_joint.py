"""One joint of any kind in the constraint force algorithm; `cfa.py` has the equations.

    u = Ĥ F_T,   S = Wᵀ (Λ_i + P̂ᵀ Λ_p P̂) W = L D Lᵀ,   Y = Λ_p P̂ W,   Z = Y L⁻ᵀ

The columns of W are those of the joint and, after them, ĥ of the degrees of freedom with armature, whose rows of S and of the right
side have 1/D and F_T/D added.
"""

from __future__ import annotations

from typing import Any

from nexdyn.joints.on_tree import constraint_columns, motion_columns
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Force, Vec3, to_child
from nexdyn.spatial.mobility import mobility, mobility_less
from nexdyn.spatial.table import ForceRows, MotionRows
from nexdyn.tree.cfa.tables import LEAST_PIVOT


@formula
def columns_any(model, cfa, work, i, q):
    """Columns of W, armatured degrees of freedom included, into the joint's slot, and its columns of H."""
    bodies = model.topology
    kind, k, j = bodies[i].kind, bodies[i].iq, bodies[i].iv
    W, H = ForceRows(cfa.W[cfa.index[i].slot], 0), work.columns.H
    constraint_columns(kind, model.body[i].pitch, q, k, W)
    motion_columns(kind, model.body[i].pitch, q, k, H, j)
    m = 6 - bodies[i].nv
    for n in range(j, j + bodies[i].nv):
        if model.freedom[n].armature > 0.0:
            h = H[n]
            scale = 1.0 / (h.w @ h.w + h.v @ h.v)
            W[m] = Force(scale * h.w, scale * h.v)
            m += 1


@formula
def control_force_any(model, cfa, work, i, tau, qdd, F):
    """Ĥ F_T of a joint that carries F while it moves with q̈, and F_T/D of freedoms with armature on the right side."""
    bodies, dofs, H = model.topology, model.freedom, work.columns.H
    slot, j, m = cfa.index[i].slot, bodies[i].iv, 6 - bodies[i].nv
    u: Any = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    for n in range(j, j + bodies[i].nv):
        h = H[n]
        t = tau[n] - F @ h
        if dofs[n].armature > 0.0:
            cfa.u[slot, 12 + m] = t / dofs[n].armature - qdd[n]
            m += 1
        else:
            scale = t / (h.w @ h.w + h.v @ h.v)
            u = u + Force(scale * h.w, scale * h.v)
    ForceRows(cfa.u, 0)[slot] = u


@formula
def factor_any(model, cfa, i, X, M, M_p):
    """A joint of any kind out of the system: (Λ_p, whether S > least); its factors, Λ_i and Λ_p go to its slot."""
    bodies, dofs = model.topology, model.freedom
    slot, m = cfa.index[i].slot, cfa.index[i].nw
    W, W_p, Y, S = ForceRows(cfa.W[slot], 0), ForceRows(cfa.W_p, 0), MotionRows(cfa.Y[slot], 0), cfa.S[slot]
    cfa.M.M[slot], cfa.M.M_p[slot] = M, M_p
    inverse = cfa.body.inverse
    I_i, I_p = mobility(inverse[i]), mobility(inverse[cfa.index[i].parent])
    for k in range(m):
        W_p[k] = X @ W[k]
        Y[k] = M_p @ W_p[k]
        cfa.least[k] = LEAST_PIVOT * (W[k] @ (I_i @ W[k]) + W_p[k] @ (I_p @ W_p[k]))
    for k in range(m):
        Mw = M @ W[k]
        for l in range(k, m):
            S[l, k] = W[l] @ Mw + W_p[l] @ Y[k]
    k = 6 - bodies[i].nv
    for n in range(bodies[i].iv, bodies[i].iv + bodies[i].nv):
        if dofs[n].armature > 0.0:
            S[k, k] += 1.0 / dofs[n].armature
            k += 1
    sound = factor_small(S, m, cfa.least)
    # Λ_p − Y S⁻¹ Yᵀ = Λ_p − Σ z zᵀ/d, Z in the place of Y
    for k in range(m):
        z = Y[k]
        for l in range(k):
            z = z - S[k, l] * Y[l]
        Y[k] = z
        M_p = mobility_less(M_p, S[k, k], z)
    return M_p, sound


@formula
def solve_any(cfa, i, X, beta, beta_p):
    """φ of a joint from its factors, into its slot, and β_p − Λ_p P̂ (W φ + Ĥ F_T)."""
    slot, m = cfa.index[i].slot, cfa.index[i].nw
    W, Z, S, x = ForceRows(cfa.W[slot], 0), MotionRows(cfa.Y[slot], 0), cfa.S[slot], cfa.u[slot]
    M, M_p, u = cfa.M.M[slot], cfa.M.M_p[slot], ForceRows(cfa.u, 0)[slot]
    # the acceleration across the joint without F_S:  β_i + Λ_i u − P̂ᵀ (β_p − Λ_p P̂ u)
    a, a_p = beta + M @ u, beta_p - M_p @ (X @ u)
    across = to_child(X, a_p) - a
    for k in range(m):
        x[6 + k] = W[k] @ across + x[12 + k]
    # D⁻¹ L⁻¹ x, which is Lᵀ φ:  β_p − Y φ = β_p − Z Lᵀ φ
    for k in range(m):
        for l in range(k):
            x[6 + k] -= S[k, l] * x[6 + l]
    for k in range(m):
        x[6 + k] *= S[k, k]
        a_p = a_p - x[6 + k] * Z[k]
    for k in range(m - 1, -1, -1):
        for l in range(k + 1, m):
            x[6 + k] -= S[l, k] * x[6 + l]
    return a_p


@formula
def force_of_any(cfa, slot, m, G):
    """W F_S + H F_T of a joint of any kind from its factors and the force G on its parent, in the child's frame."""
    W, Z, S, u = ForceRows(cfa.W[slot], 0), MotionRows(cfa.Y[slot], 0), cfa.S[slot], cfa.u[slot]
    # F_S = φ + L⁻ᵀ D⁻¹ Zᵀ G
    F = ForceRows(cfa.u, 0)[slot]
    for k in range(m):
        u[18 + k] = S[k, k] * (G @ Z[k])
    for k in range(m - 1, -1, -1):
        for l in range(k + 1, m):
            u[18 + k] -= S[l, k] * u[18 + l]
        F = F + (u[6 + k] + u[18 + k]) * W[k]
    return F


@formula
def factor_small(S, m, least):
    """S = L D Lᵀ in place: L below the diagonal, 1/D on it. Whether D > least."""
    sound = True
    for k in range(m):
        d = S[k, k]
        sound = sound & (d > least[k])
        r = 1.0 / d
        for l in range(k + 1, m):
            a = r * S[l, k]
            for n in range(l, m):
                S[n, l] -= a * S[n, k]
        for l in range(k + 1, m):
            S[l, k] *= r
        S[k, k] = r
    return sound
