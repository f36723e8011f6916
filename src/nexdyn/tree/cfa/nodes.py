"""The nodes of a tree by themselves, between the rounds: Ā_node F_node = X̄_node (44).

What chains leave on the joints at their ends is taken off first (see ``rounds``). Then from the outermost node inward as
``cfa`` solves the tree: joints on one body meet in its Λ, joints at the two ends of a chain in the block that the chain
leaves between them; and back outward.
"""

from __future__ import annotations

from nexdyn.kernel import shared
from nexdyn.spatial.algebra import Force, Motion, Vec3
from nexdyn.spatial.mobility import mobility, mobility_less
from nexdyn.spatial.table import ForceRows, MotionRows
from nexdyn.tree.cfa.blocks import copied, factor_joint, solve_columns, solve_vector


@shared
def solve_nodes(cfa, chains, first, last):
    """F_S of the nodes' joints: Ā_node F_node = X̄_node (44), from the outermost inward and back."""
    index, inverse = cfa.index, cfa.body.inverse
    running, beta, net = chains.node.M, chains.node.beta, ForceRows(chains.net, 0)
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
        p, a, A, x = index[i].parent, chains.inward[n], chains.A[i], chains.x[i]
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
        p, a, S, F = index[i].parent, chains.inward[n], chains.S[i], chains.F_S[i]
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
