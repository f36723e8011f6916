"""The linear systems of the analyses, [[A, Cqᵀ], [Cq, 0]] [x, λ] = [top, bottom], and how they are solved.

    "lu"         with pivoting: LAPACK's for small systems, SuperLU for others; two steps of refinement
    "qr"         least squares of least norm by pivoted QR, dense: for what is singular or nearly so
    "iterative"  GMRES on an incomplete factorisation

For "lu" unknowns and equations are scaled alike, K → S K S, by powers of two that bring the largest number of every row to about 1
(Ruiz 2001): a mechanism of micrometres and nanograms is solved as one of metres and kilograms.

Where a factorisation breaks down or its solution does not fulfil the equations, the rows are regularised,
[[A, Cqᵀ], [Cq, −ε]], which refinement takes away again where the rows are consistent; where that does not do, the
solution of least norm is taken. `fallback` says so.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from scipy.linalg.lapack import dgetrf, dgetrs

from nexdyn.errors import InputError, SingularError, is_one_of
from nexdyn.linalg.matrices import Matrix, dense

Solver = Literal["lu", "qr", "iterative"]
SOLVERS = ("lu", "qr", "iterative")

SMALL = 200
"""Unknowns up to which matrices are dense."""
LARGEST_DENSE = 4000
"""Unknowns up to which the dense QR is taken."""
REGULARISATION = 1e-9
"""ε of a fallback, in rows that are scaled to about 1."""
SOLVED, ROUNDED = 1e-9, 1e-5
"""A residual below this part of the right-hand side counts as a solution; and below that part of it, beside the solution."""
SCALINGS = 5


class KKT:
    """A factored KKT system.

    A (n, n), Cq (m, n): arrays, or sparse. regularisation: ε that is wanted anyway, with all rows as they are; fallback: ε of the scaled
    rows.
    """

    def __init__(
        self, A: Matrix, Cq: Matrix, regularisation: float = 0.0, solver: Solver = "lu", fallback: float = 0.0
    ) -> None:
        self.n, self.m = A.shape[0], Cq.shape[0]
        self.solver = solver
        self.fallback = ""
        self.pivot_ratio = 1.0
        """Smallest over largest pivot, a cheap sign of ill-conditioning."""
        if isinstance(A, np.ndarray):
            self._matrix: Matrix = np.zeros((self.n + self.m,) * 2)
            self._matrix[: self.n, : self.n] = A
            self._matrix[self.n :, : self.n] = Cq
            self._matrix[: self.n, self.n :] = Cq.T
        else:
            self._matrix = sp.bmat([[A, Cq.T], [Cq, None]], format="csc") if self.m else sp.csc_matrix(A)
        self._plain = self._matrix
        self._scale = np.ones(self.n + self.m)
        if solver == "lu":
            self._equilibrate()
        self._factor(regularisation, fallback)

    @property
    def scale(self) -> np.ndarray:
        """(n + m,) S: the unknowns are S times those of the scaled equations."""
        return self._scale

    def _equilibrate(self) -> None:
        """Scale rows and columns by powers of two, from where the units of A's diagonal put them: in other units the same scaled matrix."""
        size = np.abs(self._plain)
        s = _first_scale(size, self.n)
        for _ in range(SCALINGS):
            K = size * s[:, None] * s if isinstance(size, np.ndarray) else sp.diags(s) @ size @ sp.diags(s)
            most = K.max(axis=1)
            most = most if isinstance(most, np.ndarray) else most.toarray().reshape(-1)
            s = s / np.sqrt(np.where(most > 0.0, most, 1.0))
        self._scale = s = _power_of_two(s)
        self._matrix = (
            self._plain * s[:, None] * s
            if isinstance(self._plain, np.ndarray)
            else (sp.diags(s) @ self._plain @ sp.diags(s)).tocsc()
        )

    def _factor(self, regularisation: float, of_scaled: float = 0.0) -> None:
        if self.solver == "qr":
            self._least()
            return
        damped = self._matrix
        if (regularisation or of_scaled) and self.m:
            epsilon = np.concatenate([np.zeros(self.n), regularisation * self._scale[self.n :] ** 2 + of_scaled])
            damped = damped - (np.diag(epsilon) if isinstance(damped, np.ndarray) else sp.diags(epsilon, format="csc"))
        if isinstance(damped, np.ndarray) and self.solver == "lu":
            lu, pivots, info = dgetrf(damped)
            if info:
                raise SingularError("the constrained system of equations is singular")
            self._apply = lambda b: dgetrs(lu, pivots, b)[0]
            diagonal = np.abs(lu.diagonal())
        elif self.solver == "iterative":
            self._incomplete(sp.csc_matrix(damped))
            return
        else:
            try:
                factors = spla.splu(sp.csc_matrix(damped))
            except RuntimeError as error:
                raise SingularError("the constrained system of equations is singular") from error
            self._apply = factors.solve
            diagonal = np.abs(factors.U.diagonal())
        self.pivot_ratio = float(diagonal.min() / diagonal.max()) if diagonal.size else 1.0

    def _incomplete(self, matrix: sp.csc_matrix) -> None:
        try:
            factors = spla.spilu(matrix, drop_tol=1e-5, fill_factor=30)
        except RuntimeError as error:
            raise SingularError("the constrained system of equations is singular; take solver='qr'") from error
        preconditioner = spla.LinearOperator(matrix.shape, factors.solve)

        def apply(b: np.ndarray) -> np.ndarray:
            x, info = spla.gmres(matrix, b, rtol=1e-12, atol=0.0, restart=60, maxiter=20, M=preconditioner)
            if info:
                raise SingularError(f"the iterative solver stopped after {info} iterations; take solver='lu'")
            return np.asarray(x)

        self._apply = apply

    def _least(self) -> None:
        size = self.n + self.m
        if size > LARGEST_DENSE:
            raise InputError(f"solver 'qr' is dense: {size} unknowns are more than its {LARGEST_DENSE}; take 'lu'")
        self._matrix, self._scale = self._plain, np.ones(size)
        A = dense(self._matrix)
        scale = 1.0 / np.sqrt(np.maximum(np.abs(A).max(axis=1, initial=0.0), 1e-300))
        scale[self.n :] = scale[self.n :].mean() if self.m else 1.0  # one for all of λ, whose norm is to be least
        Z, R, order = scipy.linalg.qr(A * scale[:, None] * scale, pivoting=True, check_finite=False)
        pivots = np.abs(R.diagonal())
        rank = int((pivots > 1e-12 * pivots.max(initial=0.0)).sum())
        # R = [R₁ R₂] of rank r: [R₁ R₂] = [T 0] Yᵀ makes the least norm plain
        Y, T = scipy.linalg.qr(R[:rank].T, mode="economic", check_finite=False)
        self.pivot_ratio = float(pivots.min() / pivots.max()) if pivots.size else 1.0

        def apply(b: np.ndarray) -> np.ndarray:
            x = np.zeros(size)
            x[order] = Y @ scipy.linalg.solve_triangular(T, Z[:, :rank].T @ (scale * b), trans="T", check_finite=False)
            return scale * x

        self._apply = apply

    def solve(self, top: np.ndarray, bottom: np.ndarray, refine: int = 2) -> tuple[np.ndarray, np.ndarray]:
        """(x, λ) of A x + Cqᵀ λ = top, Cq x = bottom."""
        x = self._scale * self._refined(self._scale * np.concatenate([top, bottom]), refine)
        return x[: self.n], x[self.n :]

    def _refined(self, right: np.ndarray, steps: int) -> np.ndarray:
        x = self._apply(right)
        for _ in range(steps):
            x = x + self._apply(right - self._matrix @ x)
        return np.asarray(x)

    def solve_surely(self, top: np.ndarray, bottom: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same, and where it does not fulfil the equations, the fallbacks. SingularError where none does."""
        given = np.concatenate([top, bottom])
        right = self._scale * given
        x = self._refined(right, 2)
        if self._off(x, right) and self.solver == "lu":
            self._factor(0.0, REGULARISATION)
            self.fallback = "regularised"
            x = self._refined(right, 30)
            if self._off(x, right) and self.n + self.m <= LARGEST_DENSE:
                self._least()
                self.fallback = "minimum norm"
                right = given
                x = self._refined(right, 2)
        if self._off(x, right):
            raise SingularError("the constrained system of equations is singular")
        x = self._scale * x
        return x[: self.n], x[self.n :]

    def _off(self, x: np.ndarray, right: np.ndarray) -> bool:
        if not np.isfinite(x).all():
            return True
        residual = np.abs(self._matrix @ x - right).max(initial=0.0)
        size = max(np.abs(right).max(initial=0.0), ROUNDED * np.abs(x).max(initial=0.0), 1e-300)
        return bool(residual > SOLVED * size)


def _first_scale(size: Any, n: int) -> np.ndarray:
    """The scale of unknowns and rows before their equilibration, the same in any units.

    1/√m̂ (m/m̂)^(−1/4) of A's diagonal m, m̂ the largest of its kind (turning or sliding, three by three); 1 over the largest entry
    of each row of Cq; where m is 0, over that of Cq's column. (m/m̂)^(−1/2), which makes every body 1, buries a heavy body that a
    light one bears: their rows differ by √(m/m̂). (m/m̂)⁰ buries what moves the light one.
    """
    diagonal = size.diagonal()[:n]
    s = np.zeros(size.shape[0])
    turns = (np.arange(n) % 6 < 3) & (n % 6 == 0)
    for kind in (turns, ~turns):
        some = np.flatnonzero(kind & (diagonal > 0.0))
        most = diagonal[some].max(initial=0.0)
        s[some] = (diagonal[some] / most) ** -0.25 / np.sqrt(most)
    for some in (np.arange(n, len(s)), np.flatnonzero(s[:n] == 0.0)):
        if len(some):
            if isinstance(size, np.ndarray):
                most = (size[some] * s).max(axis=1)
            else:
                most = (size.tocsr()[some] @ sp.diags(s)).max(axis=1).toarray().ravel()
            s[some] = 1.0 / np.where(most > 0.0, most, 1.0)
    return s


def _power_of_two(s: np.ndarray) -> np.ndarray:
    """The powers of two nearest to s."""
    part, exponent = np.frexp(s)
    return np.ldexp(1.0, np.where(part < math.sqrt(0.5), exponent - 1, exponent))


def factor_kkt(A: Matrix, Cq: Matrix, regularisation: float = 0.0, solver: Solver = "lu") -> KKT:
    """Factor [[A, Cqᵀ], [Cq, −ε]]; where it is singular, with an ε, and SingularError where that is too."""
    try:
        return KKT(A, Cq, regularisation, solver)
    except SingularError:
        if regularisation or solver != "lu":
            raise
    kkt = KKT(A, Cq, solver=solver, fallback=REGULARISATION)
    kkt.fallback = "regularised"
    return kkt


def chosen_solver(solver: str) -> Solver:
    """`solver`, if it is one; InputError with those there are."""
    if not is_one_of(solver, SOLVERS):
        raise InputError(f"solver {solver!r} is none of {', '.join(SOLVERS)}")
    return solver  # type: ignore[return-value]
