"""The constraint force algorithm in full matrices, as the paper prints it (Liu, Hu, Zhang 2016, equations 9 to 29).

A node is a body that carries several joints, a chain a row of bodies that carry one or none. The parts of the tree are
ordered layer by layer from the outermost inward, the bodies of a chain from its end inward, so that P has the blocks

    P_chain (10)     U on the diagonal, −P̂ below it
    P_node (13)      −P̂_{j,o(j_m)} in the row of node j, under the innermost body o(j_m) of each outer chain
    P (17)–(21)      −P̂ in the first row of a chain, under the node that ends it

which is one rule for all: a row of P has U, and −P̂ under each body that it carries. Every body but the roots has its column
below it in the row of the body that carries it. These matrices are for small trees, for tests and to look at; `cfa.py`
never forms them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.spatial.rotations import skew
from nexdyn.tree.cfa.tables import inverse_inertias
from nexdyn.tree.core import entries

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree

Array = np.ndarray


class ConstraintMatrices(NamedTuple):
    """The matrices of (11), (16) and (26) at one q; a row or column of blocks a body of `order`, in its joint's child frame.

    H is Ĥ = H (HᵀH)⁻¹ where the columns of a joint are not of length 1.
    """

    order: list[str]
    P: Array
    H: Array
    W: Array
    I: Array
    A: Array
    B: Array
    C: Array


def order_of(parent: Array) -> list[int]:
    """Links (from 1; parent[0] is the world's −1) in the order that the paper prescribes: parts from the outermost layer
    inward, a chain from its end inward."""
    n = len(parent)
    children = np.bincount(np.maximum(parent[1:], 0), minlength=n)
    parts: list[list[int]] = []
    part, layer = np.full(n, -1), list[int]()
    for i in range(1, n):
        p = parent[i]
        if p > 0 and children[p] == 1 and children[i] < 2:
            part[i] = part[p]
            parts[part[i]].append(i)
        else:
            part[i] = len(parts)
            parts.append([i])
            layer.append(layer[part[p]] + 1 if p > 0 else 0)
    outermost_first = sorted(range(len(parts)), key=lambda k: -layer[k])
    return [i for k in outermost_first for i in reversed(parts[k])]


class Blocks(NamedTuple):
    """What stands in the matrices, a row a link (0 the world): P̂ (6, 6), Ĥ (6, n) and W (6, 6 − n) of its joint, I (6, 6)
    and I⁻¹; the wrench of RNEA(q, v, 0)."""

    P: Array
    H: list[Array]
    W: list[Array]
    I: Array
    inverse: Array
    bias: Array


def blocks(tree: Tree, q: Array, v: Array) -> Blocks:
    """The blocks at one state (nq,), (nv,)."""
    compiled, model, work = tree.compiled, tree.compiled.model, tree.work
    tau = np.empty((1, tree.nv))
    entries.rnea(tree.address, q[None], v[None], np.zeros((1, tree.nv)), tau)
    bodies = work.body
    R, p = bodies.X.R.numbers.reshape(-1, 3, 3), bodies.X.p.numbers
    n = len(bodies)
    P = np.zeros((n, 6, 6))
    P[:, :3, :3], P[:, :3, 3:], P[:, 3:, 3:] = R, skew(p) @ R, R
    H, W = [np.zeros((6, 0))], [np.zeros((6, 0))]
    arcs = compiled.forest.arcs
    for a in compiled.arc_of_link[1:].tolist():
        columns, across = tree.subspaces(arcs[a].name, q)
        H.append(columns / np.einsum("ij,ij->j", columns, columns))
        W.append(across)
    inverse = inverse_inertias(model, tree.link_names, lending=False).full
    I = np.zeros((n, 6, 6))
    I[1:] = np.linalg.inv(inverse[1:])
    return Blocks(P, H, W, I, inverse, bodies.F.numbers.copy())


def _diagonal(parts: list[Array]) -> Array:
    rows, columns = sum(x.shape[0] for x in parts), sum(x.shape[1] for x in parts)
    out = np.zeros((rows, columns))
    r = c = 0
    for x in parts:
        out[r : r + x.shape[0], c : c + x.shape[1]] = x
        r, c = r + x.shape[0], c + x.shape[1]
    return out


def constraint_matrices(tree: Tree, q: Any) -> ConstraintMatrices:
    """See `Tree.constraint_matrices`."""
    (q,) = tree.batch(("q", q, tree.nq))[1]
    part = blocks(tree, q[0], np.zeros(tree.nv))
    parent = tree.compiled.model.topology.parent
    order = order_of(parent)
    place = {i: k for k, i in enumerate(order)}
    # (10), (13), (17)–(21)
    P = np.eye(6 * len(order))
    for i in order:
        if parent[i] > 0:
            r, c = 6 * place[parent[i]], 6 * place[i]
            P[r : r + 6, c : c + 6] = -part.P[i]
    # (11), (14)
    H, W = _diagonal([part.H[i] for i in order]), _diagonal([part.W[i] for i in order])
    I, inverse = _diagonal([part.I[i] for i in order]), _diagonal([part.inverse[i] for i in order])
    # (26)
    PW, PH = P @ W, P @ H
    A, B, C = PW.T @ inverse @ PW, PW.T @ inverse @ PH, PH.T @ inverse @ PH
    names = tree.link_names
    return ConstraintMatrices([names[i - 1] for i in order], P, H, W, I, A, B, C)


def sparse_factors(tree: Tree, q: Array) -> tuple[Any, Any, Any]:
    """G = P W, I and I⁻¹ as sparse matrices, links in the order of the tables: A = Gᵀ I⁻¹ G."""
    import scipy.sparse as sp

    part = blocks(tree, q, np.zeros(tree.nv))
    parent = tree.compiled.model.topology.parent
    n = len(parent) - 1
    W = sp.block_diag(part.W[1:], format="csr") if n else sp.csr_matrix((0, 0))
    child = np.flatnonzero(parent > 0)
    blocks_of = np.concatenate([np.broadcast_to(np.eye(6), (n, 6, 6)), -part.P[child]])
    rows = np.concatenate([np.arange(n), parent[child] - 1])
    columns = np.concatenate([np.arange(n), child - 1])
    six = np.arange(6)
    r = (6 * rows[:, None, None] + six[:, None] + 0 * six).ravel()
    c = (6 * columns[:, None, None] + 0 * six[:, None] + six).ravel()
    P = sp.csr_matrix((blocks_of.ravel(), (r, c)), shape=(6 * n, 6 * n))
    return P @ W, sp.block_diag(list(part.I[1:])), sp.block_diag(list(part.inverse[1:]), format="csr")


DENSE_ROWS = 400


def condition_number(tree: Tree, q: Any) -> float:
    """See `Tree.constraint_condition`."""
    import scipy.sparse as sp
    from scipy.sparse.linalg import LinearOperator, eigsh, splu

    (q,) = tree.batch(("q", q, tree.nq))[1]
    G, I, inverse = sparse_factors(tree, q[0])
    m = G.shape[1]
    if m == 0:
        return 1.0
    if m <= DENSE_ROWS:
        values = np.linalg.eigvalsh((G.T @ inverse @ G).toarray())
        return float(values[-1] / values[0]) if values[0] > 0.0 else float("inf")
    A = LinearOperator((m, m), matvec=lambda x: G.T @ (inverse @ (G @ x)), dtype=float)
    # A x = b as [I, −G; Gᵀ, 0] [y; x] = [0; b]: no block between siblings
    factors = splu(sp.block_array([[I, -G], [G.T, None]], format="csc"))
    pad = np.zeros(G.shape[0])
    solve = LinearOperator((m, m), matvec=lambda b: factors.solve(np.concatenate([pad, b]))[len(pad) :], dtype=float)
    start = np.random.default_rng(0).normal(size=m)
    largest = eigsh(A, k=1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)[0]
    least = eigsh(A, k=1, sigma=0.0, OPinv=solve, which="LM", v0=start, tol=1e-3, return_eigenvectors=False)[0]
    return float(largest / least) if least > 0.0 else float("inf")
