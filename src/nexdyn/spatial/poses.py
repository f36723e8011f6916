"""Poses and spatial vectors for arrays of any batch, angular part first.

A pose of B in A is (R_AB, p_AB) or T_AB = [[R, p], [0, 1]]: x_A = R x_B + p. Inner letters cancel: T_AC = T_AB T_BC.

    motion  V = (ω, v), v of the point at the origin     V_A = X V_B,    X  = [[R, 0], [[p]× R, R]]
    force   F = (n, f), n about the origin               F_A = X* F_B,   X* = [[R, [p]× R], [0, R]] = X⁻ᵀ
    V ×  = [[[ω]×, 0], [[v]×, [ω]×]],    V ×* = [[[ω]×, [v]×], [0, [ω]×]] = −(V ×)ᵀ
    I = [[I_c + m [c]× [c]×ᵀ, m [c]×], [m [c]×ᵀ, m 1]],    I_A = X* I_B X*ᵀ
    exp (φ, ρ) = (exp φ, J_l(φ) ρ)

Source: Featherstone, "Rigid Body Dynamics Algorithms" (2008), chapter 2 (his X is the inverse of this one: it goes
from A to B). InputError on a wrong shape, a number that is not finite, or an R that is not a rotation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nexdyn.errors import InputError
from nexdyn.spatial.rotations import (
    _ONE,
    Array,
    _skew,
    check_batches,
    check_rotation,
    exp_rotation,
    left_jacobian,
    left_jacobian_inverse,
    log_rotation,
    shaped,
)

# ---------------------------------------------------------------------------------------------- poses


def homogeneous(R: ArrayLike, p: ArrayLike) -> Array:
    """T (..., 4, 4) of R (..., 3, 3) and p (..., 3)."""
    R, p, batch = _pose(R, p)
    T = np.zeros((*batch, 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, p, 1.0
    return T


def from_homogeneous(T: ArrayLike) -> tuple[Array, Array]:
    """R (..., 3, 3) and p (..., 3) of T (..., 4, 4); InputError where the last row is not (0, 0, 0, 1)."""
    T = shaped(T, (4, 4), "homogeneous matrix")
    off = (np.abs(T[..., 3, :] - (0.0, 0.0, 0.0, 1.0)) > 1e-9).any(axis=-1)
    if off.any():
        raise InputError(f"homogeneous matrix: expected the last row (0, 0, 0, 1), received {T[off][0, 3].tolist()}")
    return check_rotation(T[..., :3, :3].copy(), "homogeneous matrix"), T[..., :3, 3].copy()


def compose(R_AB: ArrayLike, p_AB: ArrayLike, R_BC: ArrayLike, p_BC: ArrayLike) -> tuple[Array, Array]:
    """(R_AC, p_AC): the pose of C in A from those of B in A and of C in B; shapes (..., 3, 3) and (..., 3)."""
    R_AB, p_AB, first = _pose(R_AB, p_AB, "first pose")
    R_BC, p_BC, second = _pose(R_BC, p_BC, "second pose")
    check_batches("compose", first, second)
    return R_AB @ R_BC, _turned(R_AB, p_BC) + p_AB


def inverse(R_AB: ArrayLike, p_AB: ArrayLike) -> tuple[Array, Array]:
    """(R_BA, p_BA): the pose of A in B; shapes (..., 3, 3) and (..., 3)."""
    R, p, _ = _pose(R_AB, p_AB)
    R = R.swapaxes(-1, -2).copy()
    return R, -_turned(R, p)


def transform_point(R_AB: ArrayLike, p_AB: ArrayLike, x_B: ArrayLike) -> Array:
    """x_A = R x_B + p (..., 3)."""
    R, p, batch = _pose(R_AB, p_AB)
    x = shaped(x_B, (3,), "point")
    check_batches("transform_point", batch, x.shape[:-1])
    return _turned(R, x) + p


def exp_pose(twist: ArrayLike) -> tuple[Array, Array]:
    """The pose (R, p) reached in unit time under a constant `twist` (..., 6) = (φ, ρ) [rad, m]: exp φ, J_l(φ) ρ."""
    twist = shaped(twist, (6,), "twist")
    phi, rho = twist[..., :3], twist[..., 3:]
    return exp_rotation(phi), _turned(left_jacobian(phi), rho)


def log_pose(R: ArrayLike, p: ArrayLike) -> Array:
    """The twist (..., 6) = (φ, ρ) [rad, m] with |φ| ≤ π whose exp_pose is (R, p)."""
    R, p, batch = _pose(R, p)
    phi = log_rotation(R)
    twist = np.empty((*batch, 6))
    twist[..., :3], twist[..., 3:] = phi, _turned(left_jacobian_inverse(phi), p)
    return twist


# ---------------------------------------------------------------------------------------------- motions and forces


def motion_matrix(R_AB: ArrayLike, p_AB: ArrayLike) -> Array:
    """X (..., 6, 6), the adjoint of the pose of B in A: V_A = X V_B."""
    R, p, batch = _pose(R_AB, p_AB)
    return _blocks(batch, R, None, _skew(p) @ R, R)


def force_matrix(R_AB: ArrayLike, p_AB: ArrayLike) -> Array:
    """X* = X⁻ᵀ (..., 6, 6): F_A = X* F_B, so that F·V is the same in both frames."""
    R, p, batch = _pose(R_AB, p_AB)
    return _blocks(batch, R, _skew(p) @ R, None, R)


def cross_motion_matrix(V: ArrayLike) -> Array:
    """V × (..., 6, 6) of V (..., 6): the rate of a motion vector that is carried along with V."""
    V = shaped(V, (6,), "motion vector")
    w, v = _skew(V[..., :3]), _skew(V[..., 3:])
    return _blocks(V.shape[:-1], w, None, v, w)


def cross_force_matrix(V: ArrayLike) -> Array:
    """V ×* = −(V ×)ᵀ (..., 6, 6) of V (..., 6): the rate of a force vector that is carried along with V."""
    V = shaped(V, (6,), "motion vector")
    w, v = _skew(V[..., :3]), _skew(V[..., 3:])
    return _blocks(V.shape[:-1], w, v, None, w)


# ---------------------------------------------------------------------------------------------- inertias


def spatial_inertia(mass: ArrayLike, com: ArrayLike, I_com: ArrayLike) -> Array:
    """I (..., 6, 6) about the frame's origin of `mass` (...) [kg], `com` (..., 3) [m], `I_com` (..., 3, 3) [kg·m²].

    InputError where the mass is negative or I_com is not symmetric (to 1e-9 of its largest entry).
    """
    m, c, I_c = shaped(mass, (), "mass"), shaped(com, (3,), "com"), shaped(I_com, (3, 3), "I_com")
    batch = check_batches("spatial_inertia", m.shape, c.shape[:-1], I_c.shape[:-2])
    if m.min(initial=0.0) < 0.0:
        raise InputError(f"mass: expected 0 or more, received {m.min():g}")
    if (np.abs(I_c - I_c.swapaxes(-1, -2)) > 1e-9 * np.abs(I_c).max(axis=(-1, -2), keepdims=True)).any():
        raise InputError(f"I_com: expected a symmetric matrix, received {I_c.tolist()!r:.200}")
    m, K = m[..., None, None], _skew(c)
    about_origin = 0.5 * (I_c + I_c.swapaxes(-1, -2)) - m * (K @ K)
    return _blocks(batch, about_origin, m * K, -m * K, m * _ONE)


def transform_inertia(R_AB: ArrayLike, p_AB: ArrayLike, I_B: ArrayLike) -> Array:
    """I_A = X* I_B X*ᵀ (..., 6, 6): the same inertia, rigid or articulated, about A's origin in A's axes."""
    X, inertia = force_matrix(R_AB, p_AB), shaped(I_B, (6, 6), "spatial inertia")
    check_batches("transform_inertia", X.shape[:-2], inertia.shape[:-2])
    return X @ inertia @ X.swapaxes(-1, -2)


def _pose(R: ArrayLike, p: ArrayLike, what: str = "pose") -> tuple[Array, Array, tuple[int, ...]]:
    R, p = check_rotation(R, f"{what} R"), shaped(p, (3,), f"{what} p")
    return R, p, check_batches(what, R.shape[:-2], p.shape[:-1])


def _turned(R: Array, x: Array) -> Array:
    return (R @ x[..., None])[..., 0]


def _blocks(batch: tuple[int, ...], A: Array, B: Array | None, C: Array | None, D: Array) -> Array:
    """[[A, B], [C, D]] of 3×3 blocks; None is zero."""
    M = np.zeros((*batch, 6, 6))
    M[..., :3, :3], M[..., 3:, 3:] = A, D
    if B is not None:
        M[..., :3, 3:] = B
    if C is not None:
        M[..., 3:, :3] = C
    return M
