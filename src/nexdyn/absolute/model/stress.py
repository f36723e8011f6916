"""Self-stresses of a block with loops: all n with nᵀ Cq = 0, from its spanning tree and the rows that close it.

With A the part of a tree edge's rows for the child, A = L Q by rows (Gram–Schmidt, the largest row first; r pivot rows
with L_p, F the rows that complete Q to a basis), and T what moves the child rigidly with its parent:

    V_child = T V_parent + Fᵀ ẏ                                             tree coordinates ẏ
    J ẏ = 0: a closing row with gradient w on a body i takes J += w Fᵢᵀ and hands w Tᵢ on to the parent, up to where
    the bodies of the row meet; beyond there it vanishes, as a row does not feel a common motion of all its bodies

    zᵀ J = 0;   w = Σ z · gradients on each body;   leaves first:  λ_p = −L_p⁻ᵀ Q w,   w_parent += Tᵀ w

A row of an edge that depends on the pivot rows of the same edge is a self-stress by itself.
"""

from __future__ import annotations

import numpy as np

from nexdyn.kernel import allocating, formula, kernel


@formula
def _orthogonalised(v, basis, n):
    """v less its part in the first n rows of `basis`, twice; returns its length."""
    for _ in range(2):
        for s in range(n):
            dot = 0.0
            for c in range(6):
                dot += v[c] * basis[s, c]
            for c in range(6):
                v[c] -= dot * basis[s, c]
    total = 0.0
    for c in range(6):
        total += v[c] * v[c]
    return np.sqrt(total)


@kernel
@allocating
def edge_bases(first, count, nodes, grads, bodies, tolerance, Q, L, pivot, rank):
    """Q (n, 6, 6) with F in its last rows, L (rows, 6), pivot (n, 6) rows of the block, rank (n,).

    nodes (rows, w) global bodies of each row, grads (rows, w, 6); bodies (n,) global numbers."""
    v = np.zeros(6)
    left = np.zeros((count.max(), 6))
    for i in range(len(first)):
        r = 0
        m, start = count[i], first[i]
        largest = 0.0
        for k in range(m):
            side = 0 if nodes[start + k, 0] == bodies[i] else 1
            size = 0.0
            for c in range(6):
                left[k, c] = grads[start + k, side, c]
                size += left[k, c] * left[k, c]
            largest = max(largest, size)
        while r < min(m, 6):
            best, at = -1.0, -1
            for k in range(m):
                size = 0.0
                for c in range(6):
                    size += left[k, c] * left[k, c]
                if size > best:
                    best, at = size, k
            if not best > tolerance * tolerance * largest:
                break
            for c in range(6):
                v[c] = left[at, c]
            length = _orthogonalised(v, Q[i], r)
            for c in range(6):
                Q[i, r, c] = v[c] / length
            pivot[i, r] = start + at
            for k in range(m):
                dot = 0.0
                for c in range(6):
                    dot += left[k, c] * Q[i, r, c]
                L[start + k, r] = dot
                for c in range(6):
                    left[k, c] = 0.0 if k == at else left[k, c] - dot * Q[i, r, c]
            r += 1
        rank[i] = r
        for s in range(r, 6):
            best, at = -1.0, -1
            for k in range(6):
                for c in range(6):
                    v[c] = 1.0 if c == k else 0.0
                size = _orthogonalised(v, Q[i], s)
                if size > best + 1e-3:
                    best, at = size, k
            for c in range(6):
                v[c] = 1.0 if c == at else 0.0
            length = _orthogonalised(v, Q[i], s)
            for c in range(6):
                Q[i, s, c] = v[c] / length


@kernel
@allocating
def loop_matrix(parent, column, rank, Q, T, cut, nodes, grads, local, J):
    """J (closing rows, tree coordinates), zeroed; column (n,) where those of a body start, local: body → its place."""
    width = nodes.shape[1]
    at = np.zeros(width, dtype=np.int64)
    w = np.zeros((width, 6))
    up = np.zeros(6)
    for j in range(len(cut)):
        row, n = cut[j], 0
        for k in range(width):
            if nodes[row, k] >= 0:
                at[n] = local[nodes[row, k]]
                for c in range(6):
                    w[n, c] = grads[row, k, c]
                n += 1
        past_root = False
        while n > 1 or (past_root and n == 1):
            k = 0
            for other in range(1, n):
                if at[other] > at[k]:
                    k = other
            i = at[k]
            for s in range(rank[i], 6):
                dot = 0.0
                for c in range(6):
                    dot += w[k, c] * Q[i, s, c]
                if i > 0:
                    J[j, column[i] + s - rank[i]] += dot
            for c in range(6):
                up[c] = 0.0
                for d in range(6):
                    up[c] += w[k, d] * T[i, d, c]
            n -= 1
            at[k] = at[n]
            w[k] = w[n]
            if parent[i] < 0:
                past_root = True
                continue
            into = n
            for other in range(n):
                if at[other] == parent[i]:
                    into = other
            if into == n:
                at[n] = parent[i]
                w[n] = 0.0
                n += 1
            for c in range(6):
                w[into, c] += up[c]


@kernel
@allocating
def extended(parent, rank, Q, T, L, pivot, cut, z, nodes, grads, local, N):
    """N (rows, stresses), zeroed, from z (closing rows, stresses)."""
    ns = z.shape[1]
    w = np.zeros((len(parent), 6, ns))
    for j in range(len(cut)):
        row = cut[j]
        for n in range(ns):
            N[row, n] = z[j, n]
        for k in range(nodes.shape[1]):
            if nodes[row, k] < 0:
                continue
            i = local[nodes[row, k]]
            for c in range(6):
                g = grads[row, k, c]
                if g != 0.0:
                    for n in range(ns):
                        w[i, c, n] += g * z[j, n]
    x = np.zeros(6)
    for i in range(len(parent) - 1, -1, -1):
        if parent[i] < 0:
            continue
        for n in range(ns):
            for s in range(rank[i] - 1, -1, -1):
                total = 0.0
                for c in range(6):
                    total += Q[i, s, c] * w[i, c, n]
                for s_ in range(s + 1, rank[i]):
                    total -= L[pivot[i, s_], s] * x[s_]
                x[s] = total / L[pivot[i, s], s]
                N[pivot[i, s], n] = -x[s]
            for c in range(6):
                up = 0.0
                for d in range(6):
                    up += T[i, d, c] * w[i, d, n]
                w[parent[i], c, n] += up


@kernel
@allocating
def independent_rows(N, order, tolerance, chosen):
    """The rows of N, in `order`, that do not depend on those before; into `chosen`. Returns how many."""
    ns = N.shape[1]
    basis = np.zeros((ns, ns))
    v = np.zeros(ns)
    found = 0
    for i in order:
        if found == ns:
            break
        size = 0.0
        for c in range(ns):
            v[c] = N[i, c]
            size += v[c] * v[c]
        if not size > tolerance * tolerance:
            continue
        for _ in range(2):
            for s in range(found):
                dot = 0.0
                for c in range(ns):
                    dot += v[c] * basis[s, c]
                if dot != 0.0:
                    for c in range(ns):
                        v[c] -= dot * basis[s, c]
        size = 0.0
        for c in range(ns):
            size += v[c] * v[c]
        if size > tolerance * tolerance:
            size = np.sqrt(size)
            for c in range(ns):
                basis[found, c] = v[c] / size
            chosen[found] = i
            found += 1
    return found


@kernel
def body_motions(parent, column, rank, Q, T, y, V):
    """V (n, 6, motions), zeroed, of the bodies of a block for tree coordinates y (coordinates, motions)."""
    for i in range(1, len(parent)):
        for n in range(y.shape[1]):
            for c in range(6):
                total = 0.0
                for s in range(rank[i], 6):
                    total += Q[i, s, c] * y[column[i] + s - rank[i], n]
                if parent[i] >= 0:
                    for d in range(6):
                        total += T[i, c, d] * V[parent[i], d, n]
                V[i, c, n] = total
