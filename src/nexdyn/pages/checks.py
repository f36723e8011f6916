"""What is looked for when a page is registered: its functions at random motions, each against differences of the others.

Of a force between frames, and of an effort:

    F_A + F_B = 0,   n_A + n_B + (p_B − p_A) × f_B = 0
    at rest   P = F_A · V_A + F_B · V_B = −U̇,   else   P ≤ −U̇       unless it `drives`
    K at rest = −∂F_B/∂(motion of B), its symmetric part;   D = −∂F_B/∂V_B

Derivatives are differences of sixth order, right to about 1e-10 of what they are of, where that changes over units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.joints.registered import ACROSS, BIAS, COLUMNS, MOST, PLACE, POSE
from nexdyn.pages.functions import PageFunction
from nexdyn.pages.samples import sampled, sampled_q
from nexdyn.spatial.rotations import exp_rotation

TRIES, CLOSE, INDEPENDENT = 8, 1e-6, 1e-6
STEP = 2e-3
WEIGHTS = ((1, 45.0 / 60.0), (2, -9.0 / 60.0), (3, 1.0 / 60.0))
"""f′ = Σ w (f(i h) − f(−i h))/h, of sixth order."""
Array = np.ndarray


def derivative(f: Callable[[float], Array], h: float = STEP) -> Array:
    """f′(0)."""
    total: Array = sum(w * (f(i * h) - f(-i * h)) for i, w in WEIGHTS) / h
    return total


def called(cls: type, f: PageFunction, t: float, given: Any, p: list[float]) -> Array:
    """What a function of the page gives; InputError where it raises or gives what is not finite."""
    s = np.concatenate([np.ravel(x) for x in given] + [p])
    try:
        out = f(t, s)
    except Exception as error:
        raise InputError(f"{f} raises {type(error).__name__}: {error}, at {_shown(cls, p)}") from error
    if not np.isfinite(out).all():
        raise InputError(
            f"{f} gives a value that is not finite at {_shown(cls, p)}; where its numbers must be others, say so in sample"
        )
    return out


def _shown(cls: Any, p: list[float]) -> str:
    """The numbers of a page, in words."""
    return ", ".join(f"{name} = {x:.3g}" for name, x in zip(cls._numbers, p, strict=True)) or "a random motion"


def refuse(f: object, what: str, most: float, cls: Any, p: list[float], hint: str = "") -> None:
    raise InputError(f"{f}: {what}, by {most:.2g} at {_shown(cls, p)}{hint}")


def check_force(cls: Any) -> None:
    """InputError, naming the page and what is wrong, for a page of a force between frames."""
    rng = np.random.default_rng(1)
    law, energy, slopes = cls.functions()
    for _ in range(TRIES):
        p = sampled(cls, rng)
        X_A, X_B = _random_pose(rng), _random_pose(rng)
        V_A, V_B = rng.normal(size=6), rng.normal(size=6)
        F = called(cls, law, 0.3, (X_A, V_A, X_B, V_B), p)
        size = 1.0 + float(np.abs(F).max())
        d = X_B[9:] - X_A[9:]
        unbalanced = np.concatenate([F[:3] + F[6:9] + np.cross(d, F[9:]), F[3:6] + F[9:]])
        if (most := float(np.abs(unbalanced).max())) > CLOSE * size:
            hint = "; F_B = Force(cross(p, F_A.f) − F_A.n, −F_A.f) with p = X_WB.p − X_WA.p balances F_A"
            refuse(law, "F_A and F_B do not balance in force and moment", most, cls, p, hint)
        if energy is not None and not cls.drives:
            U_dot = _rate(cls, energy, X_A, V_A, X_B, V_B, p)
            rest = called(cls, law, 0.3, (X_A, np.zeros(6), X_B, np.zeros(6)), p)
            power, moving = (float(x[:6] @ V_A + x[6:] @ V_B) for x in (rest, F))
            _check_power(cls, energy, power, moving, U_dot, p)
        if slopes is not None:
            _check_slopes(cls, law, slopes, X_A, X_B, p)


def _check_power(cls: Any, energy: Any, power: float, moving: float, U_dot: float, p: list[float]) -> None:
    size = 1.0 + abs(power) + abs(moving) + abs(U_dot)
    hint = "; a page that does work which it has not stored says drives = True"
    if abs(power + U_dot) > CLOSE * size:
        refuse(energy, "−U̇ is not the power of the force at rest", abs(power + U_dot), cls, p, hint)
    if moving + U_dot > CLOSE * size:
        refuse(energy, "with motion the force gives power beyond −U̇", moving + U_dot, cls, p, hint)


def _rate(cls: Any, energy: Any, X_A: Array, V_A: Array, X_B: Array, V_B: Array, p: list[float]) -> float:
    """U̇ along V_A and V_B."""
    return float(derivative(lambda h: called(cls, energy, 0.0, (_moved(X_A, h * V_A), _moved(X_B, h * V_B)), p))[0])


def _check_slopes(cls: Any, law: Any, slopes: Any, X_A: Array, X_B: Array, p: list[float]) -> None:
    still, K, D = np.zeros(6), np.zeros((6, 6)), np.zeros((6, 6))
    for j in range(6):
        e = np.eye(6)[j]
        K[:, j] = -derivative(lambda h, e=e: called(cls, law, 0.3, (X_A, still, _moved(X_B, h * e), still), p)[6:])  # type: ignore[misc]
        D[:, j] = -derivative(lambda h, e=e: called(cls, law, 0.3, (X_A, still, X_B, h * e), p)[6:])  # type: ignore[misc]
    room = 16 - len(p)
    for what, true, weights in (("stiffness", K, (0.0, 1.0)), ("damping", D, (1.0, 0.0))):
        given = called(cls, slopes, 0.0, (X_A, still, X_B, still), [*p, *[0.0] * room, *weights][:18]).reshape(6, 6)
        symmetric = 0.5 * (true + true.T)
        if (most := float(np.abs(given - symmetric).max())) > CLOSE * (1.0 + float(np.abs(true).max())):
            refuse(slopes, f"its {what} is not the symmetric part of −∂F_B by differences", most, cls, p)


def check_effort(cls: Any) -> None:
    """InputError, naming the page and what is wrong, for a page of an effort."""
    rng = np.random.default_rng(1)
    law, energy = cls.functions()
    for _ in range(TRIES):
        p = sampled(cls, rng)
        q, v = rng.normal(size=2)
        moving = float(called(cls, law, 0.3, ([q, v],), p)[0]) * v
        if energy is not None and not cls.drives:
            power = float(called(cls, law, 0.3, ([q, 0.0],), p)[0]) * v
            U_dot = v * float(derivative(lambda h, q=q, p=p: called(cls, energy, 0.0, ([q + h],), p))[0])  # type: ignore[misc]
            _check_power(cls, energy, power, moving, U_dot, p)


def _random_pose(rng: np.random.Generator) -> Array:
    """R row by row, and p, (12,)."""
    return np.concatenate([exp_rotation(rng.normal(size=3)).ravel(), rng.normal(size=3)])


def _moved(X: Array, x: Array) -> Array:
    """A pose after a turn and a displacement of its origin, world axes."""
    R = exp_rotation(x[:3]) @ X[:9].reshape(3, 3)
    return np.concatenate([R.ravel(), X[9:] + x[3:]])


# --- joints -----------------------------------------------------------------------------------------------------------


def check_joint(cls: Any) -> None:
    """InputError, naming the page and what is wrong, for a page of a joint: with V = H q̇

    (Rᵀ Ṙ, Rᵀ ṗ) = V along each coordinate;   X(coordinates_of(X(q))) = X(q);   Ḣ q̇ of `bias`;   Wᵀ H = 0;   H and (H, W) of full rank
    """
    rng = np.random.default_rng(1)
    motion, n = cls.functions().motion, cls.nv
    for _ in range(TRIES):
        p, v = sampled(cls, rng), np.zeros(MOST)
        q, v[:n] = sampled_q(cls, rng), rng.normal(size=n)
        block = np.array([motion.address, float(n), *p])
        seen = _Seen(cls, motion, block, p)
        X, H = seen(POSE, q)[:12], seen(COLUMNS, q)[: 6 * n].reshape(n, 6)
        _check_columns(seen, q, X, H)
        _check_inverse(seen, q, X)
        _check_bias(seen, q, v)
        W = seen(ACROSS, q)[: 6 * (6 - n)].reshape(6 - n, 6)
        if (most := float(np.abs(W @ H.T).max())) > CLOSE * (1.0 + float(np.abs(W).max() * np.abs(H).max())):
            seen.refuse("constraint_subspace", "its forces do work on motion_subspace", most)
        if np.linalg.svd(W, compute_uv=False)[-1] < INDEPENDENT:
            seen.refuse("constraint_subspace", "its forces depend on each other", 0.0)


def _check_columns(seen: _Seen, q: Array, X: Array, H: Array) -> None:
    """R is a rotation; the columns of H are the derivatives of X, and independent."""
    R = X[:9].reshape(3, 3)
    if (most := float(np.abs(R.T @ R - np.eye(3)).max())) > CLOSE or np.linalg.det(R) < 0.0:
        seen.refuse("pose", "its R is no rotation matrix", most)
    for m, e in enumerate(np.eye(len(H))):
        rate = derivative(lambda h, e=e: seen(POSE, q + h * e)[:12])  # type: ignore[misc]
        turn = R.T @ rate[:9].reshape(3, 3)
        V = np.array([turn[2, 1], turn[0, 2], turn[1, 0], *(R.T @ rate[9:])])
        if (most := float(np.abs(V - H[m]).max())) > CLOSE * (1.0 + float(np.abs(V).max())):
            found = f"it is {np.round(H[m], 6).tolist()}, by differences {np.round(V, 6).tolist()}"
            what = f"column {m} is not the derivative of pose by q[{m}], in axes of B"
            seen.refuse("motion_subspace", what, most, f", q = {np.round(q, 3).tolist()}: {found}")
    if np.linalg.svd(H, compute_uv=False)[-1] < INDEPENDENT:
        seen.refuse("motion_subspace", "its columns depend on each other", 0.0)


def _check_inverse(seen: _Seen, q: Array, X: Array) -> None:
    """X(coordinates_of(X)) = X."""
    back = seen(PLACE, X)[: len(q)]
    if (most := float(np.abs(seen(POSE, back)[:12] - X).max())) > CLOSE * (1.0 + float(np.abs(X).max())):
        where = f", q = {np.round(q, 3).tolist()}; ranges says where its coordinates may be"
        seen.refuse("coordinates_of", "it does not undo pose: X(coordinates_of(X)) is not X", most, where)


def _check_bias(seen: _Seen, q: Array, v: Array) -> None:
    """Ḣ q̇."""
    n = len(q)
    H_dot = derivative(lambda h: seen(COLUMNS, q + h * v[:n])[: 6 * n]).reshape(n, 6)
    bias = H_dot.T @ v[:n]
    if (most := float(np.abs(seen(BIAS, q, v)[:6] - bias).max())) > CLOSE * (1.0 + float(np.abs(bias).max())):
        seen.refuse("bias", "it is not Ḣ q̇ by differences", most)


class _Seen:
    """What the motion of a page gives, looked at for finite numbers."""

    def __init__(self, cls: Any, f: PageFunction, block: Array, p: list[float]) -> None:
        self.cls, self.f, self.block, self.p = cls, f, block, p

    def refuse(self, function: str, what: str, most: float, where: str = "") -> None:
        """The error of a function of the page."""
        refuse(f"{function} of {self.cls.__name__}", what, most, self.cls, self.p, where)

    def __call__(self, what: int, *given: Array) -> Array:
        s = np.zeros(13)
        s[0], at = self.block.ctypes.data, 1
        for x in given:
            s[at : at + len(x)] = x
            at = 6
        try:
            out = self.f(float(what), s)
        except Exception as error:
            raise InputError(
                f"{self.f} raises {type(error).__name__}: {error}, at {_shown(self.cls, self.p)}"
            ) from error
        if not np.isfinite(out).all():
            raise InputError(
                f"{self.f} gives a value that is not finite, at {_shown(self.cls, self.p)}; see its sample and ranges"
            )
        return out
