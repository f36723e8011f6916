"""Initial velocity, acceleration and reactions: two linear KKT systems.

    [ W_v  Cqᵀ ] [v]   [ W_v v₀ ]          [ M   Cqᵀ ] [a]   [ Q ]
    [ Cq   0   ] [λ] = [ ν      ],         [ Cq  0   ] [λ] = [ γ ]

A multiplier is unique if no self-stress reaches it: the null space N of Cqᵀ has a zero there. Where it is not, the
solution with the dropped rows at zero and the one of minimum norm, λ − N (NᵀN)⁻¹ Nᵀ λ, are two choices among many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nexdyn.absolute.model.kkt import KKT, Solver, factor_kkt
from nexdyn.absolute.model.model import AbsoluteModel, scaled_rows
from nexdyn.absolute.model.redundancy import Redundancy
from nexdyn.constraint_rows import tied_joints
from nexdyn.constraints.tables import BodyPairs, RowsOfTerms, Terms
from nexdyn.errors import SingularError
from nexdyn.linalg.matrices import Matrix
from nexdyn.spatial.rotations import rotation_matrix

EPS_A = 1e-10
"""Relative change of accelerations and multipliers, scaled as the equations are, at which they have settled."""
NOTHING = 1e-300
MAX_ITERATIONS = 25


def consistent_velocity(
    model: AbsoluteModel, q: np.ndarray, v0: np.ndarray, kept: np.ndarray, nu: np.ndarray, W: np.ndarray,
    given: tuple[Matrix, np.ndarray, list[str]] | None = None, solver: Solver = "lu", t: float = 0.0,
) -> np.ndarray:  # fmt: skip
    """v (nb + 1, 6) nearest to v₀ with Cq v = ν, and with `given` rows (matrix, value) held exactly."""
    Cq = model.jacobian(q, t)[kept]
    right = nu[kept]
    if given is not None and given[0].shape[0]:
        Cq = np.vstack([Cq, given[0]]) if model.small else sp.vstack([Cq, given[0]]).tocsr()
        right = np.concatenate([right, given[1]])
    size = np.sqrt(np.asarray((Cq.multiply(Cq) if sp.issparse(Cq) else Cq * Cq) @ (1.0 / W)))
    unit = 1.0 / np.where(size > 0.0, size, 1.0)
    kkt = factor_kkt(model.diagonal(W), scaled_rows(Cq, unit), 1e-12 if given is not None else 0.0, solver)
    v, _ = kkt.solve(W * v0[1:].reshape(-1), unit * right)
    out = np.zeros_like(v0)
    out[1:] = v.reshape(-1, 6)
    return out


def accelerations(
    model: AbsoluteModel,
    q: np.ndarray,
    force: np.ndarray,
    kept: np.ndarray,
    gamma: np.ndarray,
    solver: Solver = "lu",
    t: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, KKT]:
    """a (nb + 1, 6), λ (nc,) with the dropped rows at zero, and the factored system."""
    kkt = factor_kkt(model.mass_matrix(q), model.jacobian(q, t)[kept], solver=solver)
    a, lam_kept = kkt.solve_surely(force, gamma[kept])
    lam = np.zeros(model.nc)
    lam[kept] = lam_kept
    out = np.zeros((model.nb + 1, 6))
    out[1:] = a.reshape(-1, 6)
    return out, lam, kkt


def settled(
    kkt: KKT, kept: np.ndarray, force: Callable[[np.ndarray, np.ndarray], np.ndarray], gamma: np.ndarray,
    a: np.ndarray, lam: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
    """a, λ where the forces `force(a, λ)` (6 nb,) depend on them, from a first guess, and the iterations it took.

    Ψ(a, λ) = (M a + Cqᵀ λ − Q(a, λ), Cq a − γ) = 0 by Newton's method; with K = ∂Ψ without ∂Q, each step solves
    (1 − K⁻¹ ∂Q) Δ = K⁻¹ [Q; γ] − (a, λ) by GMRES, ∂Q taken along its directions. SingularError where it does not settle.
    """
    n, unit = kkt.n, kkt.scale
    dropped = np.zeros(len(kept))

    def whole(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = unit * x
        rows = dropped.copy()
        rows[kept] = x[n:]
        return np.concatenate([np.zeros((1, 6)), x[:n].reshape(-1, 6)]), rows

    def answer(x: np.ndarray) -> np.ndarray:
        return np.concatenate(kkt.solve(force(*whole(x)), gamma[kept])) / unit

    x = np.concatenate([a[1:].reshape(-1), lam[kept]]) / unit
    for iteration in range(1, MAX_ITERATIONS + 1):
        y = answer(x)
        off = y - x
        scale = max(float(np.abs(y).max(initial=0.0)), NOTHING)
        if not np.isfinite(off).all():
            break
        if np.abs(off).max(initial=0.0) <= EPS_A * scale:
            return *whole(y), iteration

        def along(d: np.ndarray, x: np.ndarray = x, y: np.ndarray = y, scale: float = scale) -> np.ndarray:
            h = 1e-6 * scale / max(float(np.abs(d).max()), 1e-300)
            return d - (answer(x + h * d) - y) / h

        operator = spla.LinearOperator((len(x), len(x)), along, dtype=float)
        step, _ = spla.gmres(operator, off, rtol=1e-6, atol=0.0, restart=min(60, len(x)), maxiter=5)
        x = x + step
    raise SingularError(
        f"accelerations and reactions do not settle with the forces that depend on them, in {MAX_ITERATIONS} iterations"
    )


def self_stresses(model: AbsoluteModel, redundancy: Redundancy) -> sp.csr_matrix:
    """N (nc, redundancies): N has 1 in the dropped row and minus its coefficients in the rows that it depends on."""
    dropped = redundancy.dropped
    rows = [np.concatenate([[d.row], d.rows]) for d in dropped]
    entries = [np.concatenate([[1.0], -d.coefficients]) for d in dropped]
    columns = np.repeat(np.arange(len(dropped)), [len(r) for r in rows])
    if not dropped:
        return sp.csr_matrix((model.nc, 0))
    return sp.csr_matrix((np.concatenate(entries), (np.concatenate(rows), columns)), shape=(model.nc, len(dropped)))


def minimum_norm(lam: np.ndarray, N: sp.csr_matrix) -> np.ndarray:
    """The multipliers of least norm that give the same motion."""
    if N.shape[1] == 0:
        return lam
    some = np.flatnonzero(np.diff(N.indptr))
    dense = N[some].toarray()
    out = lam.copy()
    out[some] -= dense @ scipy.linalg.lstsq(dense, lam[some], check_finite=False)[0]
    return out


def joint_wrench(model: AbsoluteModel, q: np.ndarray, joint: str, lam: np.ndarray, J: np.ndarray) -> np.ndarray:
    """(moment, force) of a joint on its child from the multipliers, −Cqᵀ λ at the joint's point in the parent-side frame.

    lam (rows of the joint, …) may hold several; J as of `term_jacobian`."""
    return rows_wrench(model, q, joint, model.rows_of_joint.get(joint, []), lam, J)


def rows_wrench(
    model: AbsoluteModel, q: np.ndarray, joint: str, rows: list[int], lam: np.ndarray, J: np.ndarray
) -> np.ndarray:
    """(moment, force) that `rows` put on the child of a joint, of couplings the terms of its coordinates; otherwise as `joint_wrench`."""
    tables = model.tables
    k = model.pair_of_joint[joint]
    child, terms, of_rows = BodyPairs(tables.pairs).b, Terms(tables.terms), RowsOfTerms(tables.rows)
    wrench = np.zeros((6, *lam.shape[1:]))
    for n, r in enumerate(rows):
        tied = tied_joints(model.system, model.rows[r])
        for i, e in enumerate(range(of_rows[r].first, of_rows[r].first + of_rows[r].count)):
            if not tied or tied[i] == joint:
                on = 6 if child[terms[e].pair] == child[k] else 0
                wrench -= np.multiply.outer(J[e, on : on + 6], lam[n])
    return at_joint(model, q, joint, wrench)


def at_joint(model: AbsoluteModel, q: np.ndarray, joint: str, wrench: np.ndarray) -> np.ndarray:
    """A generalized force (6, …) on the child of a joint, (torque in its axes, force in the world), at the joint's point
    in the parent-side frame."""
    k = model.pair_of_joint[joint]
    a, b = model.tables.pairs[k].tolist()
    frame = model.tables.frames[k]
    R_a, R_b = rotation_matrix(q[a, :4]), rotation_matrix(q[b, :4])
    p_A = q[a, 4:] + R_a @ frame[9:12]
    R_A = R_a @ frame[:9].reshape(3, 3)
    n, f = R_b @ wrench[:3], wrench[3:]
    n = n + np.cross(q[b, 4:] - p_A, f, axisb=0, axisc=0)
    return np.concatenate([R_A.T @ n, R_A.T @ f])
