"""Explicit Runge–Kutta methods as data (Hairer, Nørsett & Wanner, Solving ODEs I, chapter II).

K_i = f(t + c_i h, y + h Σ_{j<i} a_ij K_j),   y⁺ = y + h Σ b_i K_i,   error = h Σ e_i K_i
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Tableau(NamedTuple):
    """A (s × s), b, c, and e = b − b̂ of an embedded method (empty without one)."""

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray
    e: np.ndarray
    order: int


def tableau(
    rows: list[list[float]], b: list[float], c: list[float], order: int, e: list[float] | None = None
) -> Tableau:
    """The tableau of the rows below the diagonal. c_i = Σ_j a_ij is given: summed it would be 1 − 2e-16 for 1."""
    A = np.zeros((len(b), len(b)))
    for i, coefficients in enumerate(rows, start=1):
        A[i, : len(coefficients)] = coefficients
    return Tableau(A, np.array(b), np.array(c), np.array(e or []), order)


EULER = tableau([], [1.0], [0.0], order=1)

CLASSICAL_4 = tableau([[0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], [0.0, 0.5, 0.5, 1.0], order=4)

# table 5.2; the last row of A is b, so that K_7 is the first stage of the next step
DORMAND_PRINCE = tableau(
    [
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ],
    [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0],
    [0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0],
    order=5,
    e=[71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40],
)

# dense output of order 4 (section II.6): y(t + θh) = y + h Σ_i b_i(θ) K_i, b_i(θ) = Σ_k P_ik θ^(k+1)
DORMAND_PRINCE_DENSE = np.array(
    [
        [1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
)
