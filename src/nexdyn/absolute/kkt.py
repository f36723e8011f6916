"""The KKT systems of the analyses: [[A, Cqᵀ], [Cq, −ε]] with sparse LU and one refinement step.

ε regularises dependent rows; the refinement against the unregularised system takes its effect away again where the
rows are consistent. The condition is estimated from the pivots of the factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nexdyn.errors import SingularError

REGULARISATION = 1e-10


@dataclass
class KKT:
    """A factored KKT system."""

    matrix: sp.csc_matrix
    factors: spla.SuperLU
    n: int

    @property
    def pivot_ratio(self) -> float:
        """Smallest over largest pivot, a cheap sign of ill-conditioning."""
        pivots = np.abs(self.factors.U.diagonal())
        return float(pivots.min() / pivots.max()) if pivots.size else 1.0

    def solve(self, top: np.ndarray, bottom: np.ndarray, refine: int = 2) -> tuple[np.ndarray, np.ndarray]:
        """(x, λ) of A x + Cqᵀ λ = top, Cq x = bottom."""
        right = np.concatenate([top, bottom])
        x = self.factors.solve(right)
        for _ in range(refine):
            x += self.factors.solve(right - self.matrix @ x)
        return x[: self.n], x[self.n :]


def factor_kkt(A: sp.spmatrix, Cq: sp.spmatrix, regularisation: float = 0.0) -> KKT:
    """Factor [[A, Cqᵀ], [Cq, −ε]]; SingularError where a pivot is zero."""
    n, m = A.shape[0], Cq.shape[0]
    matrix = sp.bmat([[A, Cq.T], [Cq, None]], format="csc") if m else sp.csc_matrix(A)
    damped = matrix
    if regularisation and m:
        damped = matrix - sp.diags(np.concatenate([np.zeros(n), np.full(m, regularisation)]), format="csc")
    try:
        factors = spla.splu(sp.csc_matrix(damped))
    except RuntimeError as error:
        raise SingularError("the constrained system of equations is singular") from error
    return KKT(matrix, factors, n)
