"""One joint of any kind in the constraint force algorithm; `cfa.py` has the equations.

    u = Ĥ F_T,   S = Wᵀ (Λ_i + P̂ᵀ Λ_p P̂) W = L D Lᵀ,   Y = Λ_p P̂ W,   Z = Y L⁻ᵀ

The columns of W are those of the joint and, after them, ĥ of the freedoms with armature, whose rows of S and of the right
side have 1/D and F_T/D added.
"""

from __future__ import annotations

from nexdyn.joints.verbs import constraint_columns, motion_columns
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Force, Vec3
from nexdyn.spatial.mobility import mobility_less
from nexdyn.spatial.table import ForceRows, MotionRows
from nexdyn.tree.cfa_tables import COLUMNS, SLOT
from nexdyn.tree.tables import ARMATURE, H_, IQ, IV, KIND, NV, PITCH


@formula
def prepare_any(model, cfa, work, i, q, tau, F):  # type: ignore[no-untyped-def]
    """Columns of W, armatured freedoms included, and Ĥ F_T of a joint of any kind, into its slot."""
    topology, freedom = model.topology, model.freedom
    slot, kind, k, j = cfa.index[i, SLOT], topology[i, KIND], topology[i, IQ], topology[i, IV]
    W, H = ForceRows(cfa.W[slot], 0), MotionRows(work.columns, H_)
    constraint_columns(kind, model.body[i, PITCH], q, k, W)
    motion_columns(kind, model.body[i, PITCH], q, k, H, j)
    m = 6 - topology[i, NV]
    u = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    for n in range(j, j + topology[i, NV]):
        h = H[n]
        scale = 1.0 / (h.w @ h.w + h.v @ h.v)
        along = Force(scale * h.w, scale * h.v)
        t = tau[n] - F @ h
        if freedom[n, ARMATURE] > 0.0:
            W[m] = along
            m += 1
        else:
            u = u + t * along
    ForceRows(cfa.u, 0)[slot] = u


@formula
def eliminate_any(model, cfa, work, i, X, M, beta, tau, F, M_p, beta_p):  # type: ignore[no-untyped-def]
    """A joint of any kind out of the system: (Λ_p, β_p, whether S > 0); its factors and φ go to its slot."""
    topology, freedom = model.topology, model.freedom
    slot, m = cfa.index[i, SLOT], cfa.index[i, COLUMNS]
    W, W_p, Y, S = ForceRows(cfa.W[slot], 0), ForceRows(cfa.W_p, 0), MotionRows(cfa.Y[slot], 0), cfa.S[slot]
    phi = cfa.u[slot]  # from column 6 on
    u = ForceRows(cfa.u, 0)[slot]
    u_p = X @ u
    # the acceleration across the joint without F_S:  β_i + Λ_i u − P̂ᵀ (β_p − Λ_p P̂ u)
    a, a_p = beta + M @ u, beta_p - M_p @ u_p
    for k in range(m):
        W_p[k] = X @ W[k]
        Y[k] = M_p @ W_p[k]
    for k in range(m):
        Mw = M @ W[k]
        for l in range(k, m):
            S[l, k] = W[l] @ Mw + W_p[l] @ Y[k]
        phi[6 + k] = W_p[k] @ a_p - W[k] @ a
    # armature: 1/D on the diagonal, F_T/D on the right
    k = 6 - topology[i, NV]
    H = MotionRows(work.columns, H_)
    for n in range(topology[i, IV], topology[i, IV] + topology[i, NV]):
        if freedom[n, ARMATURE] > 0.0:
            S[k, k] += 1.0 / freedom[n, ARMATURE]
            phi[6 + k] += (tau[n] - F @ H[n]) / freedom[n, ARMATURE]
            k += 1
    sound = factor_small(S, m)
    solve_small(S, m, phi, 6)
    # β_p − Λ_p P̂ (W φ + u);  Λ_p − Y S⁻¹ Yᵀ = Λ_p − Σ z zᵀ/d, Z = Y L⁻ᵀ in the place of Y
    beta_p = a_p
    for k in range(m):
        beta_p = beta_p - phi[6 + k] * Y[k]
    for k in range(m):
        z = Y[k]
        for l in range(k):
            z = z - S[k, l] * Y[l]
        Y[k] = z
        M_p = mobility_less(M_p, S[k, k], z)
    return M_p, beta_p, sound


@formula
def force_of_any(cfa, slot, m, G):  # type: ignore[no-untyped-def]
    """W F_S + H F_T of a joint of any kind from its factors and the force G on its parent, in the child's frame."""
    W, Z, S, u = ForceRows(cfa.W[slot], 0), MotionRows(cfa.Y[slot], 0), cfa.S[slot], cfa.u[slot]
    # F_S = φ + L⁻ᵀ D⁻¹ Zᵀ G
    F = ForceRows(cfa.u, 0)[slot]
    for k in range(m):
        u[12 + k] = S[k, k] * (G @ Z[k])
    for k in range(m - 1, -1, -1):
        for l in range(k + 1, m):
            u[12 + k] -= S[l, k] * u[12 + l]
        F = F + (u[6 + k] + u[12 + k]) * W[k]
    return F


@formula
def factor_small(S, m):  # type: ignore[no-untyped-def]
    """S = L D Lᵀ in place: L below the diagonal, 1/D on it. Whether D > 0."""
    sound = True
    for k in range(m):
        d = S[k, k]
        sound = sound & (d > 0.0)
        r = 1.0 / d
        for l in range(k + 1, m):
            a = r * S[l, k]
            for n in range(l, m):
                S[n, l] -= a * S[n, k]
        for l in range(k + 1, m):
            S[l, k] *= r
        S[k, k] = r
    return sound


@formula
def solve_small(S, m, x, first):  # type: ignore[no-untyped-def]
    """x[first:first + m] ← (L D Lᵀ)⁻¹ x with the factors of `factor_small`."""
    for k in range(m):
        for l in range(k):
            x[first + k] -= S[k, l] * x[first + l]
    for k in range(m):
        x[first + k] *= S[k, k]
    for k in range(m - 1, -1, -1):
        for l in range(k + 1, m):
            x[first + k] -= S[l, k] * x[first + l]
