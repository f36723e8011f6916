"""[[A, Cᵀ], [C, 0]] with A sparse and symmetric, eliminated along the graph of bodies and joints, and what signs its pivots have.

    A' = A + ρ Cᵀ C,   [[A', Cᵀ], [C, 0]] = L D Lᵀ          the same solutions where C x = 0

L D Lᵀ has as many negative pivots as there are rows of C, and as many more as A has negative eigenvalues on C x = 0 (Sylvester's
law; Gould 1985): one factorisation tells whether A is positive definite there. ρ keeps the pivots of bodies away from 0.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.errors import SingularError
from nexdyn.kernel import kernel
from nexdyn.linalg.ldl import factor, solve
from nexdyn.linalg.plan import Pivots, elimination_plan, locate
from nexdyn.linalg.rows import WIDTH
from nexdyn.linalg.solvers import unknowns

REFINEMENTS = 3


class SaddleGraph:
    """The plan of the elimination, for rows `kept` of a model and bodies that feel one another as `felt` (nb, nb) says."""

    def __init__(self, model: AbsoluteModel, kept: np.ndarray, felt: sp.csr_matrix) -> None:
        self.nb, self.rows = model.nb, np.flatnonzero(kept)
        element = model.incidence.element[self.rows]
        order = np.argsort(element, kind="stable")
        self.rows = self.rows[order]
        element = element[order]
        first = np.r_[True, element[1:] != element[:-1]] if len(element) else np.zeros(0, dtype=bool)
        begin = np.flatnonzero(first)
        within = np.arange(len(element)) - np.repeat(begin, np.diff(np.r_[begin, len(element)]))
        group = np.cumsum(within % 6 == 0) - 1
        n = int(group[-1]) + 1 if len(group) else 0
        sizes = np.concatenate([np.full(self.nb, 6), np.bincount(group, minlength=n)])
        bodies = model.incidence.nodes[self.rows] - 1
        on = [(self.nb + group[:, None]).repeat(bodies.shape[1], 1)[bodies >= 0], bodies[bodies >= 0]]
        edges = [np.stack(on, axis=1), np.stack(felt.nonzero(), axis=1)]
        for a in range(bodies.shape[1]):
            for b in range(a):
                both = (bodies[:, a] >= 0) & (bodies[:, b] >= 0)
                edges.append(bodies[both][:, [a, b]])
        self.plan = elimination_plan(sizes, np.concatenate(edges), np.arange(len(sizes)) >= self.nb)
        self.node = np.repeat(np.arange(len(sizes)), sizes)
        self.within = np.arange(len(self.node)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self.places = unknowns(self.plan)

    def factored(self, A: sp.csr_matrix, C: sp.csr_matrix) -> SaddleMatrix:
        """A (6 nb, 6 nb), C: the rows that are kept, in the order of `rows`."""
        return SaddleMatrix(self, A, C)


class SaddleMatrix:
    """A factored saddle matrix. SingularError where a pivot vanishes."""

    def __init__(self, graph: SaddleGraph, A: sp.csr_matrix, C: sp.csr_matrix) -> None:
        self.graph, plan = graph, graph.plan
        m, size = C.shape[0], max(float(abs(A).max()) if A.nnz else 0.0, 1e-300)
        norm = np.sqrt(np.asarray(C.multiply(C).sum(axis=1)).ravel()) if m else np.zeros(0)
        self._scale = size / np.where(norm > 0.0, norm, 1.0)
        C = sp.diags(self._scale) @ C if m else C
        A = 0.5 * (A + A.T) + (4.0 / size) * (C.T @ C)
        self._matrix = sp.csr_matrix(sp.bmat([[A, C.T], [C, None]]) if m else A)
        whole = sp.coo_matrix(self._matrix)
        i, j = graph.node[whole.row], graph.node[whole.col]
        a, b = graph.within[whole.row], graph.within[whole.col]
        before = plan.position[i] < plan.position[j]
        kept = before | ((i == j) & (a <= b))
        i, j, a, b, x = i[kept], j[kept], a[kept], b[kept], whole.data[kept]
        where = np.empty((len(i), 3), dtype=np.int64)
        locate(plan, i, j, where)
        self._blocks = plan.new_blocks()
        self._blocks[where[:, 0] + a * where[:, 1] + b * where[:, 2]] = x
        _, failed = factor(plan, self._blocks, plan.new_work())
        if failed >= 0 or not np.isfinite(self._blocks).all():
            raise SingularError("a pivot of the saddle matrix vanishes")
        self.negative = int(negative_pivots(plan.pivots, self._blocks)) - m
        """Negative eigenvalues of A on C x = 0."""

    def solve(self, top: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(x, λ) of A x + Cᵀ λ = top, C x = 0."""
        n = 6 * self.graph.nb
        right = np.concatenate([top, np.zeros(len(self._scale))])
        x = self._once(right)
        for _ in range(REFINEMENTS):
            x += self._once(right - self._matrix @ x)
        return x[:n], self._scale * x[n:]

    def _once(self, right: np.ndarray) -> np.ndarray:
        out = self.graph.plan.new_vector()
        out.reshape(-1)[self.graph.places] = right
        solve(self.graph.plan, self._blocks, out)
        return np.asarray(out.reshape(-1)[self.graph.places])


@kernel
def negative_pivots(table, blocks):
    """How many of D are below 0."""
    pivots, count = Pivots(table), 0
    for p in range(len(pivots)):
        pivot = pivots[p]
        for k in range(pivot.unknowns):
            count += blocks[pivot.diagonal + (WIDTH + 1) * k] < 0.0
    return count
