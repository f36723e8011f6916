"""Rotations: matrices, unit quaternions (w, x, y, z), rotation vectors and ZYX Euler angles, for arrays of any batch.

    R(q) = 1 + 2w [v]× + 2 [v]×²,  q = (w, v)                              x_A = R_AB x_B
    exp φ = (cos θ/2, sin(θ/2)/θ φ),  θ = |φ|
    J_l(φ) = 1 + b [φ]× + c [φ]×²,    b = (1 − cos θ)/θ²,  c = (θ − sin θ)/θ³
    J_l⁻¹(φ) = 1 − ½ [φ]× + d [φ]×²,  d = (1 − (θ/2) cot(θ/2))/θ²
    J_r(φ) = J_l(−φ),  exp(φ + δ) ≈ exp(J_l δ) exp φ ≈ exp φ exp(J_r δ),  ω = J_l φ̇ in A, J_r φ̇ in B
    R = R_z(yaw) R_y(pitch) R_x(roll)

Sources: Solà, Deray, Atchuthan, "A micro Lie theory for state estimation in robotics" (2018), appendix B;
Shepperd, "Quaternion from rotation matrix" (1978). c and d are summed as series where their formulas cancel.
Every function takes leading batch dimensions, and raises InputError on a wrong shape or a number that is not finite.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nexdyn.errors import InputError

Array = NDArray[np.float64]

_ONE = np.eye(3)
_ONE.setflags(write=False)
_SKEW: Array = np.zeros((3, 3, 3))  # [v]×_ij = Σ_k v_k S_kij
_SKEW[[0, 1, 2], [2, 0, 1], [1, 2, 0]], _SKEW[[0, 1, 2], [1, 2, 0], [2, 0, 1]] = 1.0, -1.0
_SKEW = _SKEW.reshape(3, 9)

_LONGEST = 1e15  # [rad] a longer rotation vector has no digit of its angle left
_SERIES = 1.0  # [rad] below this angle c and d are summed as series, to full precision
_C = [(-1) ** k / math.factorial(2 * k + 3) for k in range(9)]
_BERNOULLI = [1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510, 43867 / 798, 174611 / 330]  # |B_2k|
_D = [B / math.factorial(2 * k + 2) for k, B in enumerate(_BERNOULLI)]
_GIMBAL = 1e-12  # |cos pitch| below which yaw and roll cannot be told apart
_PARALLEL = 1e-8  # sine of the angle below which two directions count as parallel


class EulerZYX(NamedTuple):
    """Angles [rad] of R = R_z(yaw) R_y(pitch) R_x(roll), pitch in [−π/2, π/2], each of shape (...).

    `gimbal_lock` is true where pitch = ±π/2: only yaw ∓ roll is determined there, and roll is 0.
    """

    yaw: Any
    pitch: Any
    roll: Any
    gimbal_lock: Any


# ---------------------------------------------------------------------------------------------- what comes in


def shaped(value: ArrayLike, tail: tuple[int, ...], what: str) -> Array:
    """`value` as finite float64 of shape (..., *tail), or InputError naming `what`, the expected and the received."""
    try:
        array = np.asarray(value)
        if array.dtype != np.float64:
            if array.dtype.kind not in "fiuO" or (array.dtype == object and any(x is None for x in array.flat)):
                raise TypeError  # text, flags, complex numbers; None would turn into NaN
            with np.errstate(over="ignore"):
                array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}: expected real numbers of shape {_shape(tail)}, received {value!r:.80}") from None
    if tail and array.shape[-len(tail) :] != tail:
        raise InputError(f"{what}: expected shape {_shape(tail)}, received {array.shape}")
    finite = np.isfinite(array)
    if not finite.all():
        raise InputError(f"{what}: every number must be finite, received {array[~finite][0]}{_where(~finite)}")
    return array


def check_batches(what: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The batch shape that `shapes` broadcast to, or InputError naming `what` and the shapes."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = " and ".join(str(s) for s in shapes)
        raise InputError(f"{what}: expected batch shapes that broadcast together, received {listed}") from None


def check_rotation(R: ArrayLike, what: str = "orientation", tol: float = 1e-9) -> Array:
    """`R` (..., 3, 3) as float64, values unchanged. InputError naming `what` where |RᵀR − 1| > `tol` or det R < 0."""
    R = shaped(R, (3, 3), what)
    with np.errstate(all="ignore"):
        error = np.abs(R.swapaxes(-1, -2) @ R - _ONE)
        if not error.max(initial=0.0) <= tol:
            error = error.max(axis=(-1, -2))
            off = ~(error <= tol)
            raise InputError(
                f"{what}: not a rotation{_where(off)}: |RᵀR − 1| = {error[off].max():.3g}, at most {tol:g} is allowed; "
                "the columns of R must be unit vectors at right angles (give all digits)"
            )
        mirrored = np.linalg.det(R) < 0.0
    if mirrored.any():
        raise InputError(
            f"{what}: a reflection{_where(mirrored)}, det R = −1; a rotation has det R = +1 (right-handed axes)"
        )
    return R


def check_unit_quaternion(q: ArrayLike, what: str = "orientation", tol: float = 1e-6) -> Array:
    """`q` (..., 4), (w, x, y, z), with its rounding removed, or InputError naming `what`, where ||q| − 1| > `tol`."""
    q = shaped(q, (4,), what)
    with np.errstate(over="ignore"):
        norm = np.sqrt(np.vecdot(q, q))
    off = ~(np.abs(norm - 1.0) <= tol)
    if off.any():
        received = f"{norm[off][0]:.9g}{_where(off)}"
        raise InputError(f"{what}: a quaternion (w, x, y, z) must have norm 1 to {tol:g}, received norm {received}")
    unit: Array = q / norm[..., None]
    return unit


def _rotation_vector(phi: ArrayLike) -> tuple[Array, Array]:
    phi = shaped(phi, (3,), "rotation vector")
    with np.errstate(over="ignore"):
        theta = np.hypot(np.hypot(phi[..., 0], phi[..., 1]), phi[..., 2])
    if theta.max(initial=0.0) > _LONGEST:
        raise InputError(f"rotation vector: expected |φ| of at most {_LONGEST:g} rad, received {theta.max():g}")
    return phi, theta


def _shape(tail: tuple[int, ...]) -> str:
    return "(...)" if not tail else "(..., " + ", ".join(map(str, tail)) + ")"


def _where(bad: Any) -> str:
    """' at index (2, 0)', the first of the batch; nothing for a single one."""
    return f" at index {tuple(int(i) for i in np.argwhere(bad)[0])}" if np.ndim(bad) else ""


# ---------------------------------------------------------------------------------------------- vectors


def skew(v: ArrayLike) -> Array:
    """[v]× (..., 3, 3) of `v` (..., 3): [v]× u = v × u."""
    v = shaped(v, (3,), "vector")
    return _skew(v)


def _skew(v: Array) -> Array:
    return (v @ _SKEW).reshape(*v.shape, 3)


def cross_product(a: ArrayLike, b: ArrayLike) -> Array:
    """a × b (..., 3) of arrays (..., 3) that broadcast: `numpy.cross` in a fifth of its time for one vector."""
    a, b = np.asarray(a), np.asarray(b)
    ab = np.empty(np.broadcast_shapes(a.shape, b.shape))
    a0, a1, a2, b0, b1, b2 = (x[..., i] for x in (a, b) for i in range(3))
    ab[..., 0] = a1 * b2 - a2 * b1
    ab[..., 1] = a2 * b0 - a0 * b2
    ab[..., 2] = a0 * b1 - a1 * b0
    return ab


def unit_vector(v: ArrayLike, what: str = "axis") -> Array:
    """v/|v| (..., 3); InputError naming `what` where v is 0."""
    return _unit(shaped(v, (3,), what), what)


def _unit(v: Array, what: str) -> Array:
    # the largest component first, so that no square under- or overflows
    largest = np.abs(v).max(axis=-1, keepdims=True)
    if not largest.all():
        raise InputError(f"{what}: expected a length above 0, received 0{_where(largest[..., 0] == 0.0)}")
    v = v / largest
    unit: Array = v / np.sqrt(np.vecdot(v, v))[..., None]
    return unit


# ---------------------------------------------------------------------------------------------- quaternions


def normalized(q: ArrayLike, positive: bool = False) -> Array:
    """q/|q| for any q ≠ 0 (..., 4). `positive` picks of q and −q (one rotation) the one with w ≥ 0.

    Where w = 0 that is the one whose first non-zero component is positive.
    """
    q = _unit(shaped(q, (4,), "quaternion"), "quaternion")
    if not positive:
        return q
    first = np.take_along_axis(q, (q != 0.0).argmax(axis=-1)[..., None], axis=-1)
    return np.copysign(1.0, first) * q + 0.0


def quaternion_multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Hamilton's product a b (..., 4): R(a b) = R(a) R(b). Any quaternions, unit or not."""
    a, b = shaped(a, (4,), "first quaternion"), shaped(b, (4,), "second quaternion")
    batch = check_batches("quaternion_multiply", a.shape[:-1], b.shape[:-1])
    aw, av, bw, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    # a b = (a_w b_w − a·b, a_w b + b_w a + a × b)
    ab = np.empty((*batch, 4))
    ab[..., 0] = aw[..., 0] * bw[..., 0] - np.vecdot(av, bv)
    ab[..., 1:] = aw * bv + bw * av + cross_product(av, bv)
    return ab


def quaternion_conjugate(q: ArrayLike) -> Array:
    """(w, −x, −y, −z) (..., 4): the inverse rotation, for a unit quaternion."""
    return shaped(q, (4,), "quaternion") * (1.0, -1.0, -1.0, -1.0)


def rotation_matrix(q: ArrayLike) -> Array:
    """R(q) (..., 3, 3) of a unit quaternion (..., 4); InputError where |q| is off 1 by more than 1e-6."""
    return _matrix(check_unit_quaternion(q, "quaternion"))


def _matrix(q: Array) -> Array:
    # R = 1 + 2w [v]× + 2 [v]×²
    w, K = q[..., :1, None], _skew(q[..., 1:])
    return _ONE + 2.0 * (w * K + K @ K)


def quaternion(R: ArrayLike) -> Array:
    """The unit quaternion (..., 4) with w ≥ 0 of a rotation matrix (..., 3, 3)."""
    R = check_rotation(R, "rotation matrix")
    # 4 q qᵀ is linear in R; its row with the largest diagonal entry is q without cancellation (Shepperd)
    trace = np.trace(R, axis1=-2, axis2=-1)
    Q = np.empty((*R.shape[:-2], 4, 4))
    Q[..., 0, 0] = 1.0 + trace
    Q[..., 0, 1:] = Q[..., 1:, 0] = R[..., [2, 0, 1], [1, 2, 0]] - R[..., [1, 2, 0], [2, 0, 1]]
    Q[..., 1:, 1:] = R + R.swapaxes(-1, -2) + (1.0 - trace)[..., None, None] * _ONE
    largest = Q.diagonal(axis1=-2, axis2=-1).argmax(axis=-1)
    return normalized(np.take_along_axis(Q, largest[..., None, None], axis=-2)[..., 0, :], positive=True)


# ---------------------------------------------------------------------------------------------- rotation vectors


def exp_quaternion(phi: ArrayLike) -> Array:
    """The unit quaternion (..., 4) of a turn by |φ| [rad] about φ (..., 3)."""
    phi, theta = _rotation_vector(phi)
    q = np.empty((*phi.shape[:-1], 4))
    q[..., 0] = np.cos(0.5 * theta)
    q[..., 1:] = (0.5 * _sinc(0.5 * theta))[..., None] * phi
    return q


def log_quaternion(q: ArrayLike) -> Array:
    """φ (..., 3) [rad] with |φ| ≤ π of a unit quaternion (..., 4); q and −q have the same, but for a turn by π."""
    q = check_unit_quaternion(q, "quaternion")
    q = np.where(q[..., :1] < 0.0, -q, q)
    w, v = q[..., 0], q[..., 1:]
    # φ = 2 atan2(|v|, w) v/|v|
    n = np.hypot(np.hypot(v[..., 0], v[..., 1]), v[..., 2])
    zero = n == 0.0
    return np.where(zero, 2.0, 2.0 * np.arctan2(n, w) / np.where(zero, 1.0, n))[..., None] * v


def exp_rotation(phi: ArrayLike) -> Array:
    """The rotation matrix (..., 3, 3) of a turn by |φ| [rad] about φ (..., 3)."""
    return _matrix(exp_quaternion(phi))


def log_rotation(R: ArrayLike) -> Array:
    """φ (..., 3) [rad] with |φ| ≤ π of a rotation matrix (..., 3, 3).

    At |φ| = π, where φ and −φ are one rotation, the first non-zero component is positive.
    """
    return log_quaternion(quaternion(R))


def left_jacobian(phi: ArrayLike) -> Array:
    """J_l(φ) (..., 3, 3): exp(φ + δ) ≈ exp(J_l δ) exp φ, ω = J_l φ̇ in the frame that φ turns from."""
    phi, theta = _rotation_vector(phi)
    K, b, c = _skew(phi), 0.5 * _sinc(0.5 * theta) ** 2, _c(theta)
    return _ONE + b[..., None, None] * K + c[..., None, None] * (K @ K)


def left_jacobian_inverse(phi: ArrayLike) -> Array:
    """J_l⁻¹(φ) (..., 3, 3): φ̇ = J_l⁻¹ ω. InputError where J_l is singular: |φ| = 2π, 4π, …"""
    phi, theta = _rotation_vector(phi)
    singular = (theta > _SERIES) & (np.abs(np.sin(0.5 * theta)) < 1e-12)
    if singular.any():
        raise InputError(
            f"rotation vector: the Jacobian has no inverse{_where(singular)}, where |φ| is a multiple of 2π; "
            "expected |φ| < 2π (log_rotation gives at most π)"
        )
    K, d = _skew(phi), _d(theta)
    return _ONE - 0.5 * K + d[..., None, None] * (K @ K)


def right_jacobian(phi: ArrayLike) -> Array:
    """J_r(φ) = J_l(−φ) (..., 3, 3): exp(φ + δ) ≈ exp φ exp(J_r δ), ω = J_r φ̇ in the frame that φ turns to."""
    return left_jacobian(-shaped(phi, (3,), "rotation vector"))


def right_jacobian_inverse(phi: ArrayLike) -> Array:
    """J_r⁻¹(φ) = J_l⁻¹(−φ) (..., 3, 3). InputError where |φ| = 2π, 4π, …"""
    return left_jacobian_inverse(-shaped(phi, (3,), "rotation vector"))


def _sinc(x: Array) -> Array:
    """sin x / x."""
    zero = x == 0.0
    return np.where(zero, 1.0, np.sin(x) / np.where(zero, 1.0, x))


def _c(theta: Array) -> Array:
    """(θ − sin θ)/θ³."""
    small = theta < _SERIES
    large = np.where(small, 1.0, theta)
    return np.where(small, _series(_C, np.where(small, theta, 0.0)), (large - np.sin(large)) / large**3)


def _d(theta: Array) -> Array:
    """(1 − (θ/2) cot(θ/2))/θ²."""
    small = theta < _SERIES
    large = np.where(small, 1.0, theta)
    exact = (1.0 - 0.5 * large / np.tan(0.5 * large)) / large**2
    return np.where(small, _series(_D, np.where(small, theta, 0.0)), exact)


def _series(coefficients: list[float], theta: Array) -> Array:
    """Σ a_k θ^2k, by Horner's rule."""
    total, square = np.zeros_like(theta), theta * theta
    for a in reversed(coefficients):
        total = total * square + a
    return total


# ---------------------------------------------------------------------------------------------- angles and axes


def rotation_about(axis: ArrayLike, angle: ArrayLike) -> Array:
    """The rotation matrix (..., 3, 3) of a turn by `angle` (...) [rad] about `axis` (..., 3), of any length but 0."""
    axis, angle = unit_vector(axis), shaped(angle, (), "angle")
    batch = check_batches("rotation_about", axis.shape[:-1], angle.shape)
    q = np.empty((*batch, 4))
    q[..., 0] = np.cos(0.5 * angle)
    q[..., 1:] = np.sin(0.5 * angle)[..., None] * axis
    return _matrix(q)


def rotation_from_euler_zyx(yaw: ArrayLike, pitch: ArrayLike, roll: ArrayLike) -> Array:
    """R_z(yaw) R_y(pitch) R_x(roll) (..., 3, 3), angles (...) [rad]."""
    yaw, pitch, roll = shaped(yaw, (), "yaw"), shaped(pitch, (), "pitch"), shaped(roll, (), "roll")
    check_batches("rotation_from_euler_zyx", yaw.shape, pitch.shape, roll.shape)
    x, y, z = _ONE
    return rotation_about(z, yaw) @ rotation_about(y, pitch) @ rotation_about(x, roll)


def euler_zyx(R: ArrayLike) -> EulerZYX:
    """Yaw, pitch, roll [rad] (...) of a rotation matrix (..., 3, 3), and where they are in gimbal lock."""
    R = check_rotation(R, "rotation matrix")
    cos_pitch = np.hypot(R[..., 0, 0], R[..., 1, 0])
    lock = cos_pitch < _GIMBAL
    yaw = np.where(lock, np.arctan2(-R[..., 0, 1], R[..., 1, 1]), np.arctan2(R[..., 1, 0], R[..., 0, 0]))
    # row 2 of R_z(−yaw) R = R_y R_x is (0, cos roll, −sin roll): what yaw lost near the lock, roll takes up
    s, c = np.sin(yaw), np.cos(yaw)
    roll = np.arctan2(s * R[..., 0, 2] - c * R[..., 1, 2], c * R[..., 1, 1] - s * R[..., 0, 1])
    return EulerZYX(yaw[()], np.arctan2(-R[..., 2, 0], cos_pitch), np.where(lock, 0.0, roll)[()], lock)


def frame_from_z(z: ArrayLike, x: ArrayLike | None = None) -> Array:
    """R (..., 3, 3) whose third column is `z` (..., 3) normalised, and whose first is `x` (..., 3) made square to it.

    Without `x`, it is the coordinate axis that `z` leans to least (the first of equals): z = (0, 0, 1) gives R = 1.
    InputError where z or x is 0, or x parallel to z.
    """
    z = unit_vector(z, "axis z")
    r = _ONE[np.abs(z).argmin(axis=-1)] if x is None else unit_vector(x, "reference x")
    check_batches("frame_from_z", z.shape[:-1], r.shape[:-1])
    r = r - np.vecdot(r, z)[..., None] * z
    parallel = np.vecdot(r, r) < _PARALLEL**2
    if parallel.any():
        raise InputError(f"reference x: expected a direction off axis z, received one parallel to it{_where(parallel)}")
    r = _unit(r, "reference x")
    r = _unit(r - np.vecdot(r, z)[..., None] * z, "reference x")  # again: the first difference may have cancelled
    return np.stack([r, cross_product(z, r), np.broadcast_to(z, r.shape)], axis=-1)
