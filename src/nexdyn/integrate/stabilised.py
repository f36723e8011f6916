"""Baumgarte's stabilisation beside a constant step: what a step makes of a violation.

    rows of positions     C̈ + 2 α Ċ + β² C = 0,   y = (C, Ċ)
    rows of velocities    ẇ + 2 α w = 0,           y = w                     ẏ = A y
    explicit Runge–Kutta   y⁺ = (1 + Σ b_i K_i) y,   K_i = dt A (1 + Σ a_ij K_j)
    semi-implicit Euler    Ċ⁺ = Ċ − dt (2 α Ċ + β² C),   C⁺ = C + dt Ċ⁺;   w⁺ = w − 2 α dt w

With α = β = c/dt violations die while c < 2√2 − 2 = 0.83 under semi-implicit Euler, 2 under explicit Euler and 2.78 under RK4;
those of velocities while c < 1, 1 and 1.39.
"""

from __future__ import annotations

import numpy as np

from nexdyn.errors import InputError
from nexdyn.integrate.tableaus import Tableau

Array = np.ndarray
MOST = 2.0**0.01
"""Factor of growth a step that doubles a violation in a hundred steps."""


def growth(tableau: Tableau | None, dt: float, alpha: float, beta: float, of_velocities: bool = False) -> float:
    """By how much a violation of positions, or of velocities, grows in a step at most: the largest |eigenvalue|.

    Without a tableau, of semi-implicit Euler."""
    with np.errstate(over="ignore", invalid="ignore"):
        x, y = np.float64(2.0 * alpha) * dt, np.square(np.float64(beta) * dt)
        if of_velocities:
            step = np.array([[1.0 - x]]) if tableau is None else _stepped(tableau, np.array([[-x]]))
        elif tableau is None:
            step = np.array([[1.0 - y, 1.0 - x], [-y, 1.0 - x]])
        else:
            step = _stepped(tableau, np.array([[0.0, 1.0], [-y, -x]]))
    return float(np.abs(np.linalg.eigvals(step)).max()) if np.isfinite(step).all() else np.inf


def _stepped(tableau: Tableau, A: Array) -> Array:
    """What a step makes of y, dt A given."""
    one, K = np.eye(len(A)), list[Array]()
    for row in tableau.A:
        K.append(A @ (one + sum(a * k for a, k in zip(row, K, strict=False))))
    return np.asarray(one + sum(b * k for b, k in zip(tableau.b, K, strict=True)))


def refuse_growing(
    what: str, tableau: Tableau | None, dt: float, damping: tuple[float, float], given: tuple[object, object], usual: float,
    has_velocity_rows: bool,
) -> None:  # fmt: skip
    """InputError where violations grow from step to step under α and β, the `damping` [1/s] of `what`; of these None was given
    where they are the default, `usual`."""
    if damping == (0.0, 0.0):
        return  # nothing stabilises, and nothing grows
    most = {"positions": growth(tableau, dt, *damping)}
    if has_velocity_rows:
        most["velocities"] = growth(tableau, dt, *damping, of_velocities=True)
    rows = max(most, key=lambda name: most[name])
    if not most[rows] <= MOST:
        names = ("alpha", "beta")
        told = " and ".join(
            f"{name} = {x:g} 1/s{' (by default)' if own is None else ''}"
            for name, x, own in zip(names, damping, given, strict=True)
        )
        with np.errstate(over="ignore"):
            ten = np.float64(most[rows]) ** 10
        raise InputError(
            f"with {told} of {what} violations of {rows} grow {ten:.3g} times in ten steps of {dt:g} s; leave both out, which "
            f"takes {usual:g} 1/s, or choose what fits the step"
        )
