"""Odd–even elimination along chains and then the nodes, as the paper serialises it; serially or over threads.

With s = 2^(k−1), the k-th round takes from row r of a chain what it shares with the rows r − s and r + s (39)–(40):

    E = L_rᵀ₊ₛ A⁻¹_{r+s},   G = L_r A⁻¹_{r−s}
    A_r ← A_r − G L_rᵀ − E L_{r+s},   L_r ← −G L_{r−s},   X_r ← X_r − G X_{r−s} − E X_{r+s}

Here L_r is the block under A_{r−s}. X holds Ẋ and, beside it, the columns U and V of the joints of the nodes at the two ends
of a chain. The paper writes the rule of D and b, which are what U is called there, for one neighbour only and leaves open what
a chain between two nodes keeps of the outer one; eliminating rows r ± s from the whole row, both columns follow the
rule of Ẋ, with both neighbours. Neighbours beyond an end of the chain are none. After K rounds

    A_r F_r + U_r F_in + V_r F_out = X_r

and what chains put on the nodes' own blocks is, for the chain from row 1 to row e between the joints a and b,

    A_a ← A_a − L_1ᵀ A_1⁻¹ U_1,   A_b ← A_b − L_b A_e⁻¹ V_e,   block (b, a) = −L_b A_e⁻¹ U_e,   Ẋ likewise:

the zero below Ā_chain in (41). Ā_node F_node = X̄_node (44) is solved from the outermost node inward as `cfa.py` solves the
tree, its blocks (34)–(36) on one body as products through Λ; then every row of a chain by itself.
"""

from __future__ import annotations

from nexdyn.kernel import kernel, shared
from nexdyn.spatial.algebra import Motion, Vec3
from nexdyn.spatial.table import ForceRows
from nexdyn.tree.cfa.blocks import copied, factor_joint, solve_columns
from nexdyn.tree.cfa.cfa import add_acceleration, pose
from nexdyn.tree.cfa.chains import RIGHT
from nexdyn.tree.cfa.entries import put_constraint_wrenches
from nexdyn.tree.cfa.tables import ANY
from nexdyn.tree.core.entries import is_finite
from nexdyn.tree.core.handle import tables_at


@shared
def fill_rows(chains, first, last):
    """The rows of the chains: A, L, and on the right the nodes' columns and Ẋ."""
    for r in range(first, last):
        i = chains.joint[r]
        copied(chains.A[i], chains.A_row[r])
        right = chains.right[r]
        for k in range(6):
            for l in range(RIGHT):
                right[k, l] = 0.0
            right[k, 12] = chains.x[i, k]
        if r > chains.first[r]:
            copied(chains.L[i], chains.L_row[r])
        elif chains.inner[r] > 0:
            for k in range(6):
                for l in range(6):
                    right[k, l] = chains.L[i, k, l]
        if r == chains.last[r] and chains.outer[r] > 0:
            for k in range(6):
                for l in range(6):
                    right[k, 6 + l] = chains.L[chains.outer[r], l, k]


@shared
def prepare_round(chains, s, first, last):
    """Z_r = A_r⁻¹ [L_{r+s}ᵀ, L_r, X_r]: what the neighbours of row r need of it."""
    for r in range(first, last):
        Z = chains.Z[r]
        more, less = r + s <= chains.last[r], r - s >= chains.first[r]
        for k in range(6):
            for l in range(6):
                Z[k, l] = chains.L_row[r + s, l, k] if more else 0.0
                Z[k, 6 + l] = chains.L_row[r, k, l] if less else 0.0
            for l in range(RIGHT):
                Z[k, 12 + l] = chains.right[r, k, l]
        factor_joint(chains, chains.joint[r], chains.A_row[r])
        solve_columns(chains.S[chains.joint[r]], Z, 0)


@shared
def take_round(chains, s, first, last):
    """(39)–(40) for the rows first … last − 1, on both sides of a row at once."""
    for r in range(first, last):
        A, right = chains.A_row[r], chains.right[r]
        if r - s >= chains.first[r]:
            L, Z = chains.L_row[r], chains.Z[r - s]
            for k in range(6):
                for l in range(6):
                    g = L[k, l]
                    for c in range(6):
                        A[k, c] -= g * Z[l, c]
                    for c in range(RIGHT):
                        right[k, c] -= g * Z[l, 12 + c]
            for k in range(6):
                for c in range(6):
                    total = 0.0
                    for l in range(6):
                        total -= L[k, l] * Z[l, 6 + c]
                    chains.L_next[r, k, c] = total
        if r + s <= chains.last[r]:
            L, Z = chains.L_row[r + s], chains.Z[r + s]
            for k in range(6):
                for l in range(6):
                    e = L[l, k]
                    for c in range(6):
                        A[k, c] -= e * Z[l, 6 + c]
                    for c in range(RIGHT):
                        right[k, c] -= e * Z[l, 12 + c]


@shared
def end_round(chains, s, first, last):
    """The couplings of the next round in the place of those of this one."""
    for r in range(first, last):
        if r - 2 * s >= chains.first[r]:
            copied(chains.L_next[r], chains.L_row[r])


@shared
def end_chains(chains, first, last):
    """Z_r = A_r⁻¹ [U_r, V_r, X_r] after the last round."""
    for r in range(first, last):
        Z = chains.Z[r]
        for k in range(6):
            for l in range(RIGHT):
                Z[k, 12 + l] = chains.right[r, k, l]
        factor_joint(chains, chains.joint[r], chains.A_row[r])
        solve_columns(chains.S[chains.joint[r]], Z, 12)


# --- forces and accelerations -------------------------------------------------------------------------------------


@shared
def forces_of_joints(handle, cfa, chains, first, last):
    """F_S of the chains' rows, from those of the nodes, and F_i = W F_S + Ĥ F_T of every joint, counted from 1."""
    F, u = cfa.result.F, ForceRows(chains.u, 0)
    for i in range(first + 1, last + 1):
        r, F_S, W = chains.row[i], chains.F_S[i], ForceRows(chains.W[i], 0)
        if r >= 0:
            Z, a, b = chains.Z[r], chains.inner[r], chains.outer[r]
            for k in range(6):
                F_S[k] = Z[k, 24]
                for l in range(6):
                    if a > 0:
                        F_S[k] -= Z[k, 12 + l] * chains.F_S[a, l]
                    if b > 0:
                        F_S[k] -= Z[k, 18 + l] * chains.F_S[b, l]
        F_i = u[i]
        for k in range(6):
            F_i = F_i + F_S[k] * W[k]
        F[i] = F_i


@kernel
def end(handle, cfa, chains, qdd, wrench):
    """Q̇ += what (28) gives, and the joints' constraint wrenches. Returns a link whose block was not positive definite; −1: not finite."""
    model, work, _, _ = tables_at(handle)
    index, F, A = cfa.index, cfa.result.F, cfa.result.A
    net, inverse = ForceRows(chains.net, 0), cfa.body.inverse
    for i in range(1, len(index)):
        net[i] = F[i]
        if index[i].parent > 0:
            net[index[i].parent] = net[index[i].parent] - pose(model, cfa, i) @ F[i]
    for i in range(1, len(index)):
        A[i] = inverse[i] @ net[i]
        if index[i].way == ANY:
            copied(chains.W[i], cfa.W[index[i].slot])
    A[0] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    for i in range(1, len(index)):
        add_acceleration(model, cfa, work, i, qdd)
    put_constraint_wrenches(model, cfa, wrench)
    for i in range(1, len(index)):
        if chains.sound[i] == 0:
            return i
    return 0 if is_finite(qdd) else -1
