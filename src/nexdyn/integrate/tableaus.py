"""Explicit Runge–Kutta methods as data (Hairer, Nørsett & Wanner, Solving ODEs I, chapter II).

K_i = f(t + c_i h, y + h Σ_{j<i} a_ij K_j),   y⁺ = y + h Σ b_i K_i

Those of embedded pairs are on pages of their own: ``integrate.pairs``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Tableau(NamedTuple):
    """A (s × s), b, c."""

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray
    order: int


def tableau(rows: list[list[float]], b: list[float], c: list[float], order: int) -> Tableau:
    """The tableau of the rows below the diagonal. c_i = Σ_j a_ij is given: summed it would be 1 − 2e-16 for 1."""
    A = np.zeros((len(b), len(b)))
    for i, coefficients in enumerate(rows, start=1):
        A[i, : len(coefficients)] = coefficients
    return Tableau(A, np.array(b), np.array(c), order)


EULER = tableau([], [1.0], [0.0], order=1)

CLASSICAL_4 = tableau([[0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], [0.0, 0.5, 0.5, 1.0], order=4)
