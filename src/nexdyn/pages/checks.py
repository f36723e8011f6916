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
from nexdyn.pages.functions import PageFunction
from nexdyn.pages.samples import sampled
from nexdyn.spatial.rotations import exp_rotation

TRIES, CLOSE = 8, 1e-6
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
