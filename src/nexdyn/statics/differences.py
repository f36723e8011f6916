"""Derivatives of a smooth function by differences that judge themselves.

D(h) = (45 (f(h) − f(−h)) − 9 (f(2h) − f(−2h)) + f(3h) − f(−3h))/(60 h)      central, of sixth order
D = (64 D(h/2) − D(h))/63,   error ≈ |D(h) − D(h/2)|/63
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

STEPS = (1e-2, 2.5e-3, 6e-4)
"""Steps of the differences, in rad and lengths of the mechanism, the largest first."""
GOOD = 1e-10
"""An error estimate below this part of the largest entry is good enough."""


def derivative(
    f: Callable[[np.ndarray], np.ndarray], n: int, units: np.ndarray, steps: Sequence[float] = STEPS,
    columns: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """(∂f/∂x at 0, estimate of its error), all columns or some: central differences of sixth order over h and h/2,
    extrapolated."""
    found, worst = [], 0.0
    for j in range(n) if columns is None else columns.tolist():
        e = np.zeros(n)
        e[j] = units[j]
        best, best_error = None, np.inf
        for h in steps:
            d = {k: f(k * h * e) - f(-k * h * e) for k in (0.5, 1.0, 1.5, 2.0, 3.0)}
            wide = (45.0 * d[1.0] - 9.0 * d[2.0] + d[3.0]) / (60.0 * h)
            narrow = (45.0 * d[0.5] - 9.0 * d[1.0] + d[1.5]) / (30.0 * h)
            error = float(np.abs(wide - narrow).max(initial=0.0)) / 63.0
            if error < best_error:
                best, best_error = (64.0 * narrow - wide) / 63.0, error
            if error <= GOOD * max(1.0, float(np.abs(narrow).max(initial=0.0))):
                break
        assert best is not None
        found.append(best / units[j])
        worst = max(worst, best_error / units[j])
    return (np.array(found).T if found else np.zeros((len(f(np.zeros(n))), 0))), worst
