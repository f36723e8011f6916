"""Baumgarte's stabilisation beside a constant step: what a step makes of a violation.

    C̈ + 2 α Ċ + β² C = 0,   y = (C, Ċ),   ẏ = A y
    explicit Runge–Kutta   y⁺ = (1 + Σ b_i K_i) y,   K_i = dt A (1 + Σ a_ij K_j)
    semi-implicit Euler    Ċ⁺ = Ċ − dt (2 α Ċ + β² C),   C⁺ = C + dt Ċ⁺

With α = β = c/dt a violation dies while c < 2 under explicit Euler, 2.78 under RK4 and 2√2 − 2 = 0.83 under semi-implicit Euler.
"""

from __future__ import annotations

import numpy as np

from nexdyn.errors import InputError
from nexdyn.integrate.tableaus import Tableau

GROWS = 1e-9
"""By how much more than 1 a factor of growth must be to be one, and no rounding."""


def growth(tableau: Tableau | None, dt: float, alpha: float, beta: float) -> float:
    """By how much a violation grows in a step at most: the largest |eigenvalue|; without a tableau, of semi-implicit Euler."""
    x, y = 2.0 * alpha * dt, (beta * dt) ** 2
    if tableau is None:
        step = np.array([[1.0 - y, 1.0 - x], [-y, 1.0 - x]])
    else:
        A, stages = np.array([[0.0, 1.0], [-y, -x]]), list[np.ndarray]()
        for row in tableau.A:
            stages.append(A @ (np.eye(2) + sum(a * K for a, K in zip(row, stages, strict=False))))
        step = np.eye(2) + sum(b * K for b, K in zip(tableau.b, stages, strict=True))
    return float(np.abs(np.linalg.eigvals(step)).max())


def refuse_growing(what: str, tableau: Tableau | None, dt: float, alpha: float, beta: float) -> None:
    """InputError where violations grow from step to step; `what` has alpha and beta [1/s]."""
    if (alpha, beta) == (0.0, 0.0):
        return  # nothing stabilises, and nothing grows
    most = growth(tableau, dt, alpha, beta)
    if not most <= 1.0 + GROWS:
        usual = (0.5 if tableau is None else 1.0) / dt
        raise InputError(
            f"with alpha = {alpha:g} 1/s and beta = {beta:g} 1/s of {what} violations grow {most:.3g} times a step of {dt:g} s; "
            f"leave both out, which takes {usual:g} 1/s, or shorten the step"
        )
