"""Initial velocity, acceleration and reactions: two linear KKT systems.

    [ W_v  Cqᵀ ] [v]   [ W_v v₀ ]          [ M   Cqᵀ ] [a]   [ Q ]
    [ Cq   0   ] [λ] = [ ν      ],         [ Cq  0   ] [λ] = [ γ ]

A multiplier is unique if no self-stress reaches it: the null space N of Cqᵀ has a zero there. Where it is not, the
solution with the dropped rows at zero and the one of minimum norm, λ − N (NᵀN)⁻¹ Nᵀ λ, are two choices among many.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from nexdyn.absolute.kkt import KKT, factor_kkt
from nexdyn.absolute.model import AbsoluteModel
from nexdyn.absolute.redundancy import Redundancy


def consistent_velocity(
    model: AbsoluteModel, q: np.ndarray, v0: np.ndarray, kept: np.ndarray, nu: np.ndarray, W: np.ndarray,
    given: tuple[sp.csr_matrix, np.ndarray] | None = None,
) -> np.ndarray:  # fmt: skip
    """v (nb + 1, 6) nearest to v₀ with Cq v = ν, and with `given` rows (matrix, value) held exactly."""
    Cq = model.jacobian(q)[kept]
    right = nu[kept]
    if given is not None and given[0].shape[0]:
        Cq, right = sp.vstack([Cq, given[0]]).tocsr(), np.concatenate([right, given[1]])
    weight = sp.diags(W)
    kkt = factor_kkt(weight, Cq, 1e-12 if given is not None else 0.0)
    v, _ = kkt.solve(W * v0[1:].reshape(-1), right)
    out = np.zeros_like(v0)
    out[1:] = v.reshape(-1, 6)
    return out


def accelerations(
    model: AbsoluteModel, q: np.ndarray, v: np.ndarray, force: np.ndarray, kept: np.ndarray, gamma: np.ndarray
) -> tuple[np.ndarray, np.ndarray, KKT]:
    """a (nb + 1, 6), λ (nc,) with the dropped rows at zero, and the factored system."""
    Cq = model.jacobian(q)[kept]
    kkt = factor_kkt(model.mass_matrix(q), Cq)
    a, lam_kept = kkt.solve(force, gamma[kept])
    lam = np.zeros(model.nc)
    lam[kept] = lam_kept
    out = np.zeros((model.nb + 1, 6))
    out[1:] = a.reshape(-1, 6)
    return out, lam, kkt


def self_stresses(model: AbsoluteModel, redundancy: Redundancy) -> sp.csc_matrix:
    """N (nc, redundancies): N has 1 in the dropped row and minus its coefficients in the rows that it depends on."""
    rows, columns, entries = [], [], []
    for c, found in enumerate(redundancy.dropped):
        rows += [found.row, *found.depends_on]
        columns += [c] * (1 + len(found.depends_on))
        entries += [1.0, *(-x for x in found.depends_on.values())]
    return sp.csc_matrix((entries, (rows, columns)), shape=(model.nc, len(redundancy.dropped)))


def minimum_norm(lam: np.ndarray, N: sp.csc_matrix) -> np.ndarray:
    """The multipliers of least norm that give the same motion."""
    if N.shape[1] == 0:
        return lam
    dense = N.toarray()
    return lam - dense @ np.linalg.lstsq(dense, lam, rcond=None)[0]


def joint_wrench(model: AbsoluteModel, q: np.ndarray, joint: int, lam: np.ndarray, J: np.ndarray) -> np.ndarray:
    """(moment, force) of joint `joint` (a pair) on its child from the multipliers, −Cqᵀ λ at the joint's point in the
    parent-side frame; `lam` (nc, …) may hold several."""
    tables = model.tables
    wrench = np.zeros((6, *lam.shape[1:]))
    for r in np.flatnonzero(tables.terms[tables.rows[:, 0], 0] == joint):
        first, count = tables.rows[r, :2]
        wrench -= np.multiply.outer(J[first : first + count, 6:].sum(axis=0), lam[r])
    a, b = tables.pairs[joint]
    frame = tables.frames[joint]
    R_a, R_b = _rotation(q[a]), _rotation(q[b])
    p_A = q[a, 4:] + R_a @ frame[9:12]
    R_A = R_a @ frame[:9].reshape(3, 3)
    n, f = R_b @ wrench[:3], wrench[3:]
    n = n + np.cross(q[b, 4:] - p_A, f, axisb=0, axisc=0)
    return np.concatenate([R_A.T @ n, R_A.T @ f])


def _rotation(q: np.ndarray) -> np.ndarray:
    from nexdyn.spatial.rotations import rotation_matrix

    return rotation_matrix(q[:4])
