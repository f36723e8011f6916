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

import os
import threading
from collections.abc import Callable
from typing import Any

from nexdyn.joints.verbs import constraint_columns, motion_columns
from nexdyn.kernel import formula, kernel, shared
from nexdyn.spatial.algebra import Force, Motion, Vec3, to_child
from nexdyn.spatial.mobility import mobility, mobility_less
from nexdyn.spatial.table import ForceRows, InverseInertiaRows, MobilityRows, MotionRows
from nexdyn.tree.cfa import add_acceleration, bias_forces, change_motion, pose
from nexdyn.tree.cfa_any import factor_small
from nexdyn.tree.cfa_chains import RIGHT, Chains, rounds
from nexdyn.tree.cfa_entries import put_constraint_wrenches
from nexdyn.tree.cfa_tables import (
    ACCELERATION_,
    ANY,
    BETA_,
    BIAS_,
    FORCE_,
    INVERSE_,
    LEAST_PIVOT,
    PARENT,
    RUNNING_,
    SLOT,
    WAY,
    ConstraintTables,
)
from nexdyn.tree.entries import is_finite
from nexdyn.tree.handle import tables_at
from nexdyn.tree.tables import ARMATURE, H_, IQ, IV, KIND, NV, PITCH
from nexdyn.tree.tree import Tree

NO_COLUMN = 1.0
"""Diagonal of A where a joint has fewer than six columns of W: 0 · F = 0 would be singular."""


# --- equivalent control forces and the blocks of A -----------------------------------------------------------------


@kernel
def bias_and_columns(handle, cfa, chains, q, v):  # type: ignore[no-untyped-def]
    """RNEA(q, v, 0), and the columns of H and W of every joint."""
    model, work, _, _ = tables_at(handle)
    topology, index = model.topology, cfa.index
    bias_forces(model, cfa, q, v, None, work)
    F, H = ForceRows(cfa.turn, BIAS_), MotionRows(work.columns, H_)
    for i in range(len(index) - 1, 0, -1):
        kind, k, j, p = topology[i, KIND], topology[i, IQ], topology[i, IV], index[i, PARENT]
        W, m = ForceRows(chains.W[i], 0), 6 - topology[i, NV]
        motion_columns(kind, model.body[i, PITCH], q, k, H, j)
        constraint_columns(kind, model.body[i, PITCH], q, k, W)
        for n in range(j, j + topology[i, NV]):
            if model.freedom[n, ARMATURE] > 0.0:
                h = H[n]
                scale = 1.0 / (h.w @ h.w + h.v @ h.v)
                W[m] = Force(scale * h.w, scale * h.v)
                m += 1
        for n in range(m, 6):
            W[n] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
        if p > 0:
            F[p] = F[p] + pose(model, cfa, i) @ F[i]


@kernel
def change_bias(handle, cfa, qdd):  # type: ignore[no-untyped-def]
    """RNEA(q, v, q̈) in the place of RNEA(q, v, 0)."""
    model, work, _, _ = tables_at(handle)
    change_motion(model, cfa, work, qdd)


@kernel
def control_forces(handle, cfa, chains, tau, qdd):  # type: ignore[no-untyped-def]
    """F_T of every joint, its Ĥ F_T, and the acceleration I⁻¹ P Ĥ F_T of every body."""
    model, work, _, _ = tables_at(handle)
    topology, freedom, index = model.topology, model.freedom, cfa.index
    F, H = ForceRows(cfa.turn, BIAS_), MotionRows(work.columns, H_)
    u, net, inverse = ForceRows(chains.u, 0), ForceRows(chains.net, 0), InverseInertiaRows(cfa.body, INVERSE_)
    alpha = MotionRows(chains.alpha, 0)
    none: Any = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    for i in range(1, len(index)):
        net[i] = none
    for i in range(len(index) - 1, 0, -1):
        j, p, u_i, m = topology[i, IV], index[i, PARENT], none, 6 - topology[i, NV]
        for n in range(j, j + topology[i, NV]):
            h = H[n]
            t = tau[n] - F[i] @ h
            if freedom[n, ARMATURE] > 0.0:
                chains.x[i, m] = t / freedom[n, ARMATURE] - qdd[n]
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
def blocks_of_joints(handle, cfa, chains, first, last):  # type: ignore[no-untyped-def]
    """A_i (31), what couples a joint with the one inward, and Ẋ, of the joints first … last − 1, counted from 1."""
    model, _, _, _ = tables_at(handle)
    topology, freedom, index = model.topology, model.freedom, cfa.index
    inverse, alpha = InverseInertiaRows(cfa.body, INVERSE_), MotionRows(chains.alpha, 0)
    for i in range(first + 1, last + 1):
        p, A, L, x = index[i, PARENT], chains.A[i], chains.L[i], chains.x[i]
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
        m = 6 - topology[i, NV]
        for k in range(6):
            x[k] = (x[k] if k >= m else 0.0) - W[k] @ a
        for k in range(6):
            # the parts of a node's body stay with the node
            own_k, parent_k = I_i @ W[k], I_p @ W_p[k]
            chains.least[i, k] = LEAST_PIVOT * (W[k] @ own_k + W_p[k] @ parent_k)
            for l in range(6):
                A[l, k] = (W[l] @ own_k if own else 0.0) + (W_p[l] @ parent_k if parents else 0.0)
                L[k, l] = -(W_inward[l] @ parent_k) if parents else 0.0
        for n in range(topology[i, IV], topology[i, IV] + topology[i, NV]):
            if freedom[n, ARMATURE] > 0.0:
                A[m, m] += 1.0 / freedom[n, ARMATURE]
                m += 1
        for k in range(m, 6):
            A[k, k], chains.least[i, k] = NO_COLUMN, 0.0


@shared
def fill_rows(chains, first, last):  # type: ignore[no-untyped-def]
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


# --- the rounds ---------------------------------------------------------------------------------------------------


@formula
def solve_columns(A, Z, first):  # type: ignore[no-untyped-def]
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
def copied(X, out):  # type: ignore[no-untyped-def]
    """out ← X, 6 × 6."""
    for k in range(6):
        for l in range(6):
            out[k, l] = X[k, l]


@formula
def factor_joint(chains, i, A):  # type: ignore[no-untyped-def]
    """The factors of A to joint i; notes where it is not positive definite."""
    copied(A, chains.S[i])
    if not factor_small(chains.S[i], 6, chains.least[i]):
        chains.sound[i] = 0


@shared
def prepare_round(chains, s, first, last):  # type: ignore[no-untyped-def]
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
def take_round(chains, s, first, last):  # type: ignore[no-untyped-def]
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
def end_round(chains, s, first, last):  # type: ignore[no-untyped-def]
    """The couplings of the next round in the place of those of this one."""
    for r in range(first, last):
        if r - 2 * s >= chains.first[r]:
            copied(chains.L_next[r], chains.L_row[r])


@shared
def end_chains(chains, first, last):  # type: ignore[no-untyped-def]
    """Z_r = A_r⁻¹ [U_r, V_r, X_r] after the last round."""
    for r in range(first, last):
        Z = chains.Z[r]
        for k in range(6):
            for l in range(RIGHT):
                Z[k, 12 + l] = chains.right[r, k, l]
        factor_joint(chains, chains.joint[r], chains.A_row[r])
        solve_columns(chains.S[chains.joint[r]], Z, 12)


# --- the nodes ----------------------------------------------------------------------------------------------------


@shared
def solve_nodes(cfa, chains, first, last):  # type: ignore[no-untyped-def]
    """F_S of the nodes' joints: Ā_node F_node = X̄_node (44), from the outermost inward and back."""
    index, inverse = cfa.index, InverseInertiaRows(cfa.body, INVERSE_)
    running, beta, net = MobilityRows(chains.node, RUNNING_), MotionRows(chains.node, BETA_), ForceRows(chains.net, 0)
    node = chains.carries_node
    # what the chains leave on the joints at their ends
    for r in range(len(chains.joint)):
        i, a, b = chains.joint[r], chains.inner[r], chains.outer[r]
        Z = chains.Z[r]
        if r == chains.first[r] and a > 0:
            # A_a − L_1ᵀ Z_1
            for k in range(6):
                for l in range(6):
                    g = chains.L[i, l, k]
                    for c in range(6):
                        chains.A[a, k, c] -= g * Z[l, 12 + c]
                    chains.x[a, k] -= g * Z[l, 24]
        if r == chains.last[r] and b > 0:
            for k in range(6):
                for l in range(6):
                    e = chains.L[b, k, l]
                    for c in range(6):
                        chains.A[b, k, c] -= e * Z[l, 18 + c]
                    chains.x[b, k] -= e * Z[l, 24]
    for k in range(len(chains.nodes)):
        i = chains.nodes[k]
        if node[i] != 0:
            running[node[i]] = mobility(inverse[i])
            beta[node[i]] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
        r, link = chains.end[k], chains.link[k]
        copied(chains.L[i], link)
        if r >= 0:
            # through a chain: −L_b Z_e
            for m in range(6):
                for c in range(6):
                    total = 0.0
                    for l in range(6):
                        total -= chains.L[i, m, l] * chains.Z[r, l, 12 + c]
                    link[m, c] = total

    for n in range(len(chains.nodes) - 1, -1, -1):
        i = chains.nodes[n]
        p, a, A, x = index[i, PARENT], chains.inward[n], chains.A[i], chains.x[i]
        W, W_p, Y = ForceRows(chains.W[i], 0), ForceRows(chains.W_p[i], 0), MotionRows(chains.Y[n], 0)
        on = chains.on_node[i] != 0
        if node[i] != 0:
            M, b = running[node[i]], beta[node[i]]
            for k in range(6):
                Mw = M @ W[k]
                for l in range(6):
                    A[l, k] += W[l] @ Mw
                x[k] -= W[k] @ b
        if on:
            M_p, b_p = running[node[p]], beta[node[p]]
            for k in range(6):
                Y[k] = M_p @ W_p[k]
            for k in range(6):
                for l in range(6):
                    A[l, k] += W_p[l] @ Y[k]
                x[k] += W_p[k] @ b_p
        factor_joint(chains, i, A)
        S, phi = chains.S[i], chains.F_S[i]
        for k in range(6):
            phi[k] = x[k]
        solve_vector(S, phi)
        if on:
            # Λ_p − Y S⁻¹ Yᵀ,  β_p − Y φ
            for k in range(6):
                b_p = b_p - phi[k] * Y[k]
            for k in range(6):
                z = Y[k]
                for l in range(k):
                    z = z - S[k, l] * Y[l]
                Y[k] = z
                M_p = mobility_less(M_p, S[k, k], z)
            running[node[p]], beta[node[p]] = M_p, b_p
        elif a > 0:
            # A_a − Cᵀ S⁻¹ C,  x_a − Cᵀ φ
            C, Z = chains.link[n], chains.Y[n]
            copied(C, Z)
            solve_columns(S, Z, 0)
            for k in range(6):
                for l in range(6):
                    g = C[l, k]
                    for c in range(6):
                        chains.A[a, k, c] -= g * Z[l, c]
                    chains.x[a, k] -= g * phi[l]

    for n in range(len(chains.nodes)):
        i = chains.nodes[n]
        p, a, S, F = index[i, PARENT], chains.inward[n], chains.S[i], chains.F_S[i]
        W, W_p, Z = ForceRows(chains.W[i], 0), ForceRows(chains.W_p[i], 0), MotionRows(chains.Y[n], 0)
        g = chains.x[i]
        for k in range(6):
            g[k] = 0.0
        if chains.on_node[i] != 0:
            # φ + L⁻ᵀ D⁻¹ Zᵀ G
            G = net[p]
            for k in range(6):
                g[k] = S[k, k] * (G @ Z[k])
            for k in range(5, -1, -1):
                for l in range(k + 1, 6):
                    g[k] -= S[l, k] * g[l]
            for k in range(6):
                F[k] += g[k]
                G = G - F[k] * W_p[k]
            net[p] = G
        elif a > 0:
            for k in range(6):
                for l in range(6):
                    g[k] += chains.link[n, k, l] * chains.F_S[a, l]
            solve_vector(S, g)
            for k in range(6):
                F[k] -= g[k]
        if node[i] != 0:
            G = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
            for k in range(6):
                G = G + F[k] * W[k]
            net[i] = G


@formula
def solve_vector(S, x):  # type: ignore[no-untyped-def]
    for k in range(6):
        for l in range(k):
            x[k] -= S[k, l] * x[l]
    for k in range(5, -1, -1):
        x[k] *= S[k, k]
        for l in range(k + 1, 6):
            x[k] -= S[l, k] * x[l]


# --- forces and accelerations -------------------------------------------------------------------------------------


@shared
def forces_of_joints(handle, cfa, chains, first, last):  # type: ignore[no-untyped-def]
    """F_S of the chains' rows, from those of the nodes, and F_i = W F_S + Ĥ F_T of every joint, counted from 1."""
    F, u = ForceRows(cfa.result, FORCE_), ForceRows(chains.u, 0)
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
def end(handle, cfa, chains, qdd, wrench):  # type: ignore[no-untyped-def]
    """Q̇ += what (28) gives, and the joints' constraint wrenches. Returns a link whose block was not positive definite; −1: not finite."""
    model, work, _, _ = tables_at(handle)
    index, F, A = cfa.index, ForceRows(cfa.result, FORCE_), MotionRows(cfa.result, ACCELERATION_)
    net, inverse = ForceRows(chains.net, 0), InverseInertiaRows(cfa.body, INVERSE_)
    for i in range(1, len(index)):
        net[i] = F[i]
        if index[i, PARENT] > 0:
            net[index[i, PARENT]] = net[index[i, PARENT]] - pose(model, cfa, i) @ F[i]
    for i in range(1, len(index)):
        A[i] = inverse[i] @ net[i]
        if index[i, WAY] == ANY:
            copied(chains.W[i], cfa.W[index[i, SLOT]])
    A[0] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    for i in range(1, len(index)):
        add_acceleration(model, cfa, work, i, qdd)
    put_constraint_wrenches(model, cfa, wrench)
    for i in range(1, len(index)):
        if chains.sound[i] == 0:
            return i
    return 0 if is_finite(qdd) else -1


# --- threads ------------------------------------------------------------------------------------------------------

Phase = tuple[Callable[..., Any], tuple[Any, ...], int]
"""A kernel, its arguments, and of how many rows, which are shared out: kernel(*arguments, first, last)."""


def by_rounds(
    tree: Tree,
    cfa: ConstraintTables,
    q: Any,
    v: Any,
    tau: Any,
    refinements: int,
    a: Any,
    wrench: Any,
    threads: int | None,
) -> tuple[int, int]:
    """The algorithm over states (N, …) on so many threads. Returns the first state without a solution and its link (0: not
    finite), or −1, 0."""
    chains, address = tree.chains, tree._address
    work, count = phases(tree, cfa, chains), threads or cores()
    for s in range(len(q)):
        bias_and_columns(address, cfa, chains, q[s], v[s])
        a[s] = 0.0
        for again in range(1 + refinements):
            if again:
                change_bias(address, cfa, a[s])
            control_forces(address, cfa, chains, tau[s], a[s])
            run(work, count)
            bad = end(address, cfa, chains, a[s], wrench[s])
            if bad != 0:
                return s, max(bad, 0)
    return -1, 0


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def phases(tree: Tree, cfa: ConstraintTables, chains: Chains) -> list[Phase]:
    """What is done one after the other, each over all joints, rows or nodes."""
    joints, rows = tree.nb, len(chains.joint)
    work: list[Phase] = [(blocks_of_joints, (tree._address, cfa, chains), joints), (fill_rows, (chains,), rows)]
    for k in range(rounds(chains)):
        work += [(kernel, (chains, 1 << k), rows) for kernel in (prepare_round, take_round, end_round)]
    work += [(end_chains, (chains,), rows), (solve_nodes, (cfa, chains), 1)]
    return [*work, (forces_of_joints, (tree._address, cfa, chains), joints)]


def run(work: list[Phase], threads: int) -> None:
    """Every phase on so many threads, which meet after each.

    The threads are made for the call and end with it: none is left that a forked process would wait for in vain.
    """
    if threads <= 1:
        for kernel_of, arguments, rows in work:
            kernel_of(*arguments, 0, rows)
        return
    together, failed = threading.Barrier(threads), []

    def take(t: int) -> None:
        try:
            for kernel_of, arguments, rows in work:
                first, last = rows * t // threads, rows * (t + 1) // threads
                if first < last:
                    kernel_of(*arguments, first, last)
                together.wait()
        except BaseException as error:  # told to who waits, in the thread that called
            failed.append(error)
            together.abort()

    others = [threading.Thread(target=take, args=(t,), daemon=True) for t in range(1, threads)]
    for thread in others:
        thread.start()
    take(0)
    for thread in others:
        thread.join()
    if failed:
        raise next((e for e in failed if not isinstance(e, threading.BrokenBarrierError)), failed[0])
