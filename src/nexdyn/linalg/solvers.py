"""Three ways to solve with the blocks of a plan: our elimination, SuperLU, and MINRES.

    solver = SOLVERS["block"](plan, blocks);   x = solver(b)

b and x are (n, 8), a row a node. MINRES (Paige & Saunders 1975) is preconditioned by the diagonal blocks A of the bodies
and S = −diag(B A⁻¹ Bᵀ) of the constraint rows; it needs no factor, and on the ill-conditioned systems of long chains as
many iterations as there are bodies. It is here to be compared with.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nexdyn.errors import SingularError
from nexdyn.linalg.ldl import factor, refine, solve
from nexdyn.linalg.plan import Edges, Pivots, Plan
from nexdyn.linalg.rows import WIDTH

Solver = Callable[[np.ndarray], np.ndarray]


def unknowns(plan: Plan) -> np.ndarray:
    """Of each unknown its place in a flattened (n, 8) vector, node after node."""
    pivots, sizes = Pivots(plan.pivots), np.empty(len(plan.pivots), dtype=np.int64)
    sizes[pivots.node] = pivots.unknowns
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return WIDTH * np.repeat(np.arange(len(sizes)), sizes) + within


def sparse_matrix(plan: Plan, blocks: np.ndarray) -> sp.csc_matrix:
    """The matrix of `blocks`, before they are factored, its unknowns node after node."""
    number = np.full(WIDTH * len(plan.pivots), -1, dtype=np.int64)
    places = unknowns(plan)
    number[places] = np.arange(len(places))
    rows: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    entries: list[np.ndarray] = []
    edges = Edges(plan.edges)
    for p in Pivots(plan.pivots):
        i, n = p.node, p.unknowns
        D = np.triu(blocks[p.diagonal : p.diagonal + WIDTH * n].reshape(n, WIDTH)[:, :n])
        parts = [(i, D + np.triu(D, 1).T)]
        for e in (edges[k] for k in range(p.first, p.first + p.count)):
            parts.append((e.other, blocks[e.place : e.place + WIDTH * n].reshape(n, WIDTH)))
        for j, block in parts:
            r = np.repeat(number[WIDTH * i : WIDTH * i + n], block.shape[1])
            c = np.tile(number[WIDTH * j : WIDTH * j + block.shape[1]], n)
            x, kept = block.reshape(-1), c >= 0
            r, c, x = r[kept], c[kept], x[kept]
            rows += [r] if j == i else [r, c]
            columns += [c] if j == i else [c, r]
            entries += [x] if j == i else [x, x]
    shape = (len(places), len(places))
    return sp.csc_matrix((np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), shape=shape)


class Pattern:
    """Where the entries of a matrix without symmetry lie in its blocks, see ``lu``."""

    def __init__(self, plan: Plan) -> None:
        places = unknowns(plan)
        number = np.full((len(plan.pivots), WIDTH), -1, dtype=np.int64)
        number.reshape(-1)[places] = np.arange(len(places))
        self._n = len(places)
        above: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        below: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for p in Pivots(plan.pivots):
            i, n, D = p.node, p.unknowns, p.diagonal
            own, within = number[i, :n], WIDTH * np.arange(n)[:, None] + np.arange(WIDTH)
            # the diagonal block lies transposed
            below.append((np.tile(own, (n, 1)), np.repeat(own[:, None], n, 1), D + within[:, :n]))
            for j, place in plan.edges[p.first : p.first + p.count]:
                other = number[j][number[j] >= 0]
                m = len(other)
                r, c, at = np.repeat(own[:, None], m, 1), np.tile(other, (n, 1)), place + within[:, :m]
                above.append((r, c, at - p.shift))
                below.append((c, r, at))
        nothing = (np.empty(0, dtype=np.int64),) * 3
        self._parts = [
            tuple(np.concatenate([x[k].reshape(-1) for x in part]) for k in range(3)) if part else nothing
            for part in (above, below)
        ]

    def matrix(self, upper: np.ndarray, lower: np.ndarray) -> sp.csc_matrix:
        """The matrix, before it is factored, its unknowns node after node."""
        (r, c, at), (r_, c_, at_) = self._parts
        entries = np.concatenate([upper[at], lower[at_]])
        return sp.csc_matrix((entries, (np.concatenate([r, r_]), np.concatenate([c, c_]))), shape=(self._n, self._n))


def iterative(A: sp.csc_matrix) -> Callable[[np.ndarray], np.ndarray]:
    """GMRES on an incomplete factorisation. SingularError where there is none, or where it does not converge."""
    try:
        factors = spla.spilu(A, drop_tol=1e-5, fill_factor=30)
    except RuntimeError as error:
        raise SingularError("the matrix is singular") from error
    preconditioner = spla.LinearOperator(A.shape, factors.solve)

    def solution(b: np.ndarray) -> np.ndarray:
        x, info = spla.gmres(A, b, rtol=1e-10, atol=0.0, restart=60, maxiter=20, M=preconditioner)
        if info:
            raise SingularError(f"GMRES stopped after {info} iterations")
        return np.asarray(x)

    return solution


def by_blocks(plan: Plan, blocks: np.ndarray, rounds: int = 1) -> Solver:
    """L D Lᵀ along the plan, with `rounds` of refinement. SingularError names the node without a pivot."""
    factors = blocks.copy()
    _, failed = factor(plan, factors, plan.new_work())
    if failed >= 0:
        raise SingularError(f"node {failed} has no pivot")

    def solution(b: np.ndarray) -> np.ndarray:
        x = b.copy()
        solve(plan, factors, x)
        refine(plan, blocks, factors, b, x, plan.new_vector(), rounds)
        return x

    return solution


def by_superlu(plan: Plan, blocks: np.ndarray) -> Solver:
    """SuperLU of the sparse matrix."""
    places = unknowns(plan)
    try:
        factors = spla.splu(sparse_matrix(plan, blocks))
    except RuntimeError as error:
        raise SingularError("the matrix is singular") from error
    return lambda b: _spread(plan, places, factors.solve(b.reshape(-1)[places]))


def by_minres(plan: Plan, blocks: np.ndarray, rtol: float = 1e-12) -> Solver:
    """MINRES, preconditioned. SingularError where it does not converge."""
    places, A = unknowns(plan), sparse_matrix(plan, blocks)
    of_node = np.full(WIDTH * len(plan.pivots), -1, dtype=np.int64)
    of_node[places] = np.arange(len(places))
    inverse: list[tuple[np.ndarray, np.ndarray]] = []
    body = np.zeros(len(places), dtype=bool)
    for p in Pivots(plan.pivots):
        if p.sign < 0:
            continue
        own = of_node[WIDTH * p.node : WIDTH * p.node + p.unknowns]
        body[own] = True
        inverse.append((own, np.linalg.inv(A[own][:, own].toarray())))
    rows = [own[:, None].repeat(len(own), 1).ravel() for own, _ in inverse]
    columns = [own[None].repeat(len(own), 0).ravel() for own, _ in inverse]
    values = [x.ravel() for _, x in inverse]
    P = sp.csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=A.shape)
    B = A[:, body][~body]
    if B.shape[0]:
        S = (B @ P[body][:, body]).multiply(B).sum(axis=1)
        P = P + sp.csr_matrix((1.0 / np.asarray(S).ravel(), (np.flatnonzero(~body),) * 2), shape=A.shape)

    def solution(b: np.ndarray) -> np.ndarray:
        x, status = spla.minres(A, b.reshape(-1)[places], M=P, rtol=rtol, maxiter=20 * len(places))
        if status != 0:
            raise SingularError(f"MINRES did not converge in {20 * len(places)} iterations")
        return _spread(plan, places, x)

    return solution


def _spread(plan: Plan, places: np.ndarray, x: np.ndarray) -> np.ndarray:
    out = plan.new_vector()
    out.reshape(-1)[places] = x
    return out


SOLVERS: dict[str, Callable[[Plan, np.ndarray], Solver]] = {
    "block": by_blocks, "superlu": by_superlu, "minres": by_minres,
}  # fmt: skip
