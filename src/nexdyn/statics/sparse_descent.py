"""The way to an equilibrium, with sparse matrices: systems of any size; see ``descent`` for the way.

    [ 1   Cqᵀ ] [r]   [Q]            [ K   Cqᵀ ] [d]   [r]
    [ Cq  0   ] [λ] = [0],           [ Cq  0   ] [·] = [0],        K = −∂Q/∂x + Σ λ C_xx (6 nb, 6 nb)

∂Q/∂x by differences of many bodies at once (``load_derivatives``). Where K is not positive definite on Cq d = 0, which the pivots of
its elimination along the graph tell (``saddle_matrix``), K + τ takes its place, τ the least power of 4 that makes it so (Levenberg);
where that brings little, the motion of the lowest eigenvalue is followed, down.

The softest motions, K x + Cqᵀ μ = κ x, and the slowest, … = ω² M x, on Cq x = 0: Lanczos' method (ARPACK) on the inverse about a shift
below all of them, which the pivots tell too; without a potential Arnoldi's.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nexdyn.absolute.model.kkt import factor_kkt
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.absolute.model.redundancy import find_redundancy
from nexdyn.errors import SingularError, SolveError
from nexdyn.statics.descent import STABILITY, Array, Rest, Search, sign_of
from nexdyn.statics.load_derivatives import LoadGraph, turned_stiffness
from nexdyn.statics.resting import RestingLoads
from nexdyn.statics.saddle_matrix import SaddleGraph, SaddleMatrix

RAISED = 4.0
MOST_RAISED = 60
FINE = 1e-9
"""Eigenvalues of K below this part of its largest entry count as 0: a long chain's softest is far below those of its parts."""
SLOW = 0.9
"""Where a lifted step leaves more than this of r, a saddle may attract."""
KICK = 1e-2
"""The least way off it [rad, L]."""
UNCONFIRMED = 1e-4
"""What K x − κ M x of a motion may be, as a part of κ M x."""
SAMPLES = 3
SEED = 1
"""Of the vectors that Lanczos' method starts from."""


class _Here(NamedTuple):
    """What is known of a pose beside its loads: Cq of the rows kept, in units, and the elimination along them."""

    C: sp.csr_matrix
    graph: SaddleGraph


class SparseSearch(Search):
    """The way to an equilibrium of a large system; modes: how many motions are told."""

    def __init__(
        self, model: AbsoluteModel, q: Array, t: float, acting: RestingLoads, nearest: bool, modes: int
    ) -> None:  # fmt: skip
        super().__init__(model, q, t, acting, nearest)
        self.modes = modes
        self.feel = LoadGraph(acting, [], [], self.length)
        self._kept: np.ndarray | None = None
        self._graph: SaddleGraph | None = None
        self._raised, self._left_before = 0.0, np.inf

    def at(self, q: Array) -> Rest:
        Q = self.loads(q)
        kept = find_redundancy(self.model, q, self.t).kept
        if self._kept is None or (kept != self._kept).any():
            self._kept, self._graph = kept, SaddleGraph(self.model, kept, self.feel.felt)
        assert self._graph is not None
        C = sp.csr_matrix(sp.csr_matrix(self.model.jacobian(q, self.t))[self._graph.rows] @ sp.diags(self.units))
        r, lam_kept = self._graph.factored(sp.csr_matrix(sp.identity(len(Q))), C).solve(Q)
        lam = np.zeros(self.model.nc)
        lam[self._graph.rows] = lam_kept
        return Rest(q, Q, lam, r, _Here(C, self._graph))

    def dof(self, here: Rest) -> int:
        return self.model.nv - here.T.C.shape[0]

    def flat(self, K: Any) -> float:
        return FINE * max(float(abs(K).max()), 1e-3 * self.size, 1e-300)

    def stiffness(self, here: Rest, careful: bool = False) -> Any:
        """K (6 nb, 6 nb)."""
        self.feel.step, self.feel.reach = self.small(here.q)
        Q_x = self.feel.by_poses(here.q, self.motionless, self.t, self.acting.described, careful)
        U = sp.diags(self.units)
        torque = np.where(np.tile([True] * 3 + [False] * 3, self.model.nb), here.Q, 0.0)
        K = sp.csr_matrix(self.model.curvature(here.q, here.lam, self.t)) - Q_x
        return sp.csr_matrix(U @ K @ U + turned_stiffness(torque))

    def newton(self, here: Rest, K: Any) -> Array:
        try:
            return np.asarray(factor_kkt(K, here.T.C).solve(here.r, np.zeros(here.T.C.shape[0]))[0])
        except SingularError:
            return self._lifted(here, K, self.flat(K))[0].solve(here.r)[0]

    def downhill(self, here: Rest, K: Any) -> Array:
        least = 1e-3 * self.flat(K)
        if self._is_definite(here, K, 0.0) is not None:
            d = self.newton(here, K)
            if d @ here.r > 0.0:
                return d
        lifted, self._raised = self._lifted(here, K, max(least, self._raised / RAISED**2))
        d = lifted.solve(here.r)[0]
        left = float(np.linalg.norm(here.r))
        if left > SLOW * self._left_before:
            d = self._off_saddle(here, K, d)
        self._left_before = left
        return d

    def _off_saddle(self, here: Rest, K: Any, d: Array) -> Array:
        """d with the lowest eigenvalue of K by its size, and some way along its motion."""
        values, vectors = self._lowest(here, K, 1)
        v = vectors[:, 0] / np.linalg.norm(vectors[:, 0])
        along = float(v @ here.r)
        way = max(abs(along) / max(abs(float(values[0])), self.flat(K)), KICK / float(np.abs(v).max()))
        return np.asarray(d - v * (v @ d) + v * math.copysign(way, along))

    def saddle(self, here: Rest, K: Any) -> Array | None:
        if self._is_definite(here, K, self.flat(K)) is not None:
            return None
        vectors = self._lowest(here, K, 1)[1]
        return 1e-2 * vectors[:, 0] / np.linalg.norm(vectors[:, 0])

    def settled(self, here: Rest, K: Any) -> Rest:
        return super().settled(here, K) if self._is_definite(here, K, -self.flat(K)) is not None else here

    def _is_definite(self, here: Rest, K: Any, shift: float, mass: Any = None) -> SaddleMatrix | None:
        """K + shift M (1 by default), factored, if it is positive definite on Cq d = 0."""
        try:
            M = sp.identity(K.shape[0]) if mass is None else mass
            found = here.T.graph.factored(sp.csr_matrix(K + shift * M), here.T.C)
        except SingularError:
            return None
        return found if found.negative == 0 else None

    def _lifted(self, here: Rest, K: Any, raised: float, mass: Any = None) -> tuple[SaddleMatrix, float]:
        """(K + τ M, τ), the first that is positive definite of τ = raised · 4ⁿ."""
        for _ in range(MOST_RAISED):
            found = self._is_definite(here, K, raised, mass)
            if found is not None:
                return found, raised
            raised *= RAISED
        raise SolveError(
            f"the stiffness of system {self.model.system.name!r} cannot be factored; check its forces and constraints",
            time=self.t, where=self.restless(),
        )  # fmt: skip

    def bearing(self, here: Rest, kept: np.ndarray) -> Array:
        return here.lam[kept]

    # --- motions ----------------------------------------------------------------------------------------------------

    def spectrum(self, here: Rest, K: Any) -> tuple[str, Array, Array | None, Array]:
        K = self.stiffness(here, careful=True)
        flat = self.flat(K)
        values, vectors = self._lowest(here, K, self.modes)
        M = sp.diags(self.units) @ sp.csr_matrix(self.model.mass_matrix(here.q)) @ sp.diags(self.units)
        symmetric = self._has_potential(here, K)
        squares = self._squares(here, K, sp.csr_matrix(M), symmetric)
        if not symmetric and squares is not None:
            low = sign_of(squares)
        elif self._is_definite(here, K, flat) is None:
            low = -1.0
        else:
            low = 0.0 if self._is_definite(here, K, -flat) is None else 1.0
        return STABILITY[low], values, squares, vectors[:, 0]

    def _has_potential(self, here: Rest, K: Any) -> bool:
        """Whether K is symmetric on Cq d = 0, by some motions there."""
        onto = here.T.graph.factored(sp.csr_matrix(sp.identity(K.shape[0])), here.T.C)
        random = np.random.default_rng(SEED)
        for _ in range(SAMPLES):
            x = onto.solve(random.choice([-1.0, 1.0], K.shape[0]))[0]
            if np.abs(onto.solve(K @ x - K.T @ x)[0]).max() > 10.0 * self.flat(K):
                return False
        return True

    def _squares(self, here: Rest, K: Any, M: Any, symmetric: bool) -> Array | None:
        """ω²; None where M is singular on Cq x = 0."""
        if self._is_definite(here, M, -1e-12 * float(abs(M).max())) is None:
            return None
        if symmetric:
            return self._lowest(here, K, self.modes, M)[0]
        n, m = self.model.nv, here.T.C.shape[0]
        count = min(self.modes, self.dof(here))
        if self._is_most(here, count):
            basis = _motions(here)
            squares = scipy.linalg.eigvals(basis.T @ (K @ basis), basis.T @ (M @ basis))
            return np.sort_complex(squares[np.argsort(np.abs(squares))[:count]])
        scale = float(abs(K).max()) / float(abs(M).max())
        shift = -1e-3 * scale
        solver = factor_kkt(sp.csr_matrix(K - shift * M), here.T.C)
        operator = spla.LinearOperator((n, n), lambda x: solver.solve(M @ x, np.zeros(m))[0], dtype=float)
        values = self._eigenvalues(operator, count, here)
        return np.sort_complex(shift + 1.0 / values)

    def _eigenvalues(self, operator: Any, count: int, here: Rest) -> Array:
        n = operator.shape[0]
        start = operator.matvec(np.random.default_rng(SEED).standard_normal(n))
        return np.asarray(spla.eigs(operator, min(count, n - 2), v0=start, return_eigenvectors=False))

    def _lowest(self, here: Rest, K: Any, count: int, M: Any = None) -> tuple[Array, Array]:
        """The lowest eigenvalues of K x + Cqᵀ μ = κ M x, M = 1 by default, and their motions (6 nb, …)."""
        n, count = self.model.nv, min(count, self.dof(here))
        K = 0.5 * (K + K.T)
        if self._is_most(here, count):
            basis = _motions(here)
            mass = None if M is None else basis.T @ (M @ basis)
            values, vectors = scipy.linalg.eigh(basis.T @ (K @ basis), mass)
            return values[:count], basis @ vectors[:, :count]
        shift = self.flat(K) if M is None else self.flat(K) / float(abs(M).max())
        below, raised = self._lifted(here, K, shift, M)
        M = sp.csr_matrix(sp.identity(n)) if M is None else M
        inverse = spla.LinearOperator((n, n), lambda x: below.solve(x)[0], dtype=float)
        start = inverse.matvec(M @ np.random.default_rng(SEED).standard_normal(n))
        values, vectors = spla.eigsh(
            sp.csr_matrix(K), count, M=M, sigma=-raised, OPinv=inverse, v0=start, which="LM", tol=1e-12
        )
        # Where some motions are much softer than others, 1/(κ + τ) has the rounding of the softest; on their plane κ has its own.
        on_them = vectors.T @ (K @ vectors), vectors.T @ (M @ vectors)
        values, turned = scipy.linalg.eigh(*on_them)
        vectors = vectors @ turned
        self._confirm(here, K, M, values, vectors)
        return values, vectors

    def _is_most(self, here: Rest, count: int) -> bool:
        """Whether so many motions are asked for that Lanczos' method has no room."""
        return count >= self.dof(here) - 1 or 2 * count + 2 >= self.dof(here)

    def _confirm(self, here: Rest, K: Any, M: Any, values: Array, vectors: Array) -> None:
        """SolveError where K x − κ M x does not vanish along the motions that the rows leave."""
        onto = here.T.graph.factored(sp.csr_matrix(sp.identity(K.shape[0])), here.T.C)
        for value, x in zip(values.tolist(), vectors.T, strict=True):
            left = float(np.abs(onto.solve(K @ x - value * (M @ x))[0]).max())
            size = max(abs(value) * float(np.abs(M @ x).max()), 1e-7 * float(abs(K).max()) * float(np.abs(x).max()))
            if not left <= UNCONFIRMED * size:
                raise SolveError(
                    f"the motions of system {self.model.system.name!r} are not told: one of {value:.3g} misses by {left / size:.1e}; "
                    f"ask for fewer modes",
                    time=self.t, where=self.restless(),
                )  # fmt: skip


def _motions(here: Rest) -> Array:
    """The motions that the rows leave (6 nb, dof), at right angles to each other."""
    return np.asarray(scipy.linalg.null_space(here.T.C.toarray()))
