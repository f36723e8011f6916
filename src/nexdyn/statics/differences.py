"""Derivatives of a smooth function by differences that judge themselves.

D(h) = (45 (f(h) − f(−h)) − 9 (f(2h) − f(−2h)) + f(3h) − f(−3h))/(60 h)      central, of sixth order
D = (64 D(h/2) − D(h))/63,   error ≈ |D(h) − D(h/2)|/63
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from nexdyn.errors import SolveError

STEPS = (1e-2, 2.5e-3, 6e-4)
"""Steps of the differences, in rad and lengths of the mechanism, the largest first."""
SHORTER, SHORTEST, NEAR = 0.25, 1e-6, (1e-5, 1e-6, 1e-7, 1e-8)
"""By how much further ones are shortened while errors fall, the shortest, and those by which slopes are checked."""
NOTHING = 1e-300
BENT, HALF = 1e-3, (0.45, 0.55)
"""A function has two slopes at 0 where f(h) + f(−h) − 2 f(0) is more than this part of its largest change by any x, and half as much at
h/2; of a smooth one it is a quarter."""
OTHER, ROUNDING = 1e-5, 1e-14
"""From which part of a slope, or of what counts as 1 of it, another one is another; what rounding is of a function, which steps divide."""
GOOD, POOR = 1e-10, 1e-6
"""An error estimate below this part of the largest entry is good enough; above that, steps are shortened though errors do not fall yet, as
where a force saturates within them."""


def derivative(
    f: Callable[[np.ndarray], np.ndarray], n: int, units: np.ndarray, steps: Sequence[float] = STEPS,
    columns: np.ndarray | None = None, sizes: np.ndarray | None = None, shorten: bool = True,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """(∂f/∂x at 0, estimate of its error), all columns or some: central differences of sixth order over h and h/2,
    extrapolated.

    units (n,): of which the steps are parts. sizes (m,): beside which errors of f are judged, 1 without; 0: beside their own derivative.
    shorten: whether steps are shortened further where a function changes faster than they tell.
    Where f raises SolveError, as where a mechanism cannot go that far, steps are shorter; it is raised where there is none."""
    found, worst = [], 0.0
    for j in range(n) if columns is None else columns.tolist():
        e = np.zeros(n)
        e[j] = units[j]
        best, error = _column(f, e, steps, sizes, shorten)
        for near in NEAR if shorten else ():
            if not _bent_within(f, e, best, sizes, near):
                break
            with suppress(SolveError):
                best, error = _column(f, e, (near,), sizes, shorten)
        found.append(best / units[j])
        worst = max(worst, error / units[j])
    return (np.array(found).T if found else np.zeros((len(f(np.zeros(n))), 0))), worst


def _bent_within(
    f: Callable[[np.ndarray], np.ndarray],
    e: np.ndarray,
    slope: np.ndarray,
    sizes: np.ndarray | None,
    step: float,
) -> bool:
    """Whether a function has another slope close to 0 than the steps tell, as where a force saturates within the shortest of them."""
    try:
        near = (f(step * e) - f(-step * e)) / (2.0 * step)
    except SolveError:
        return False
    per = _per(near, sizes)
    other, size = np.abs(near - slope) / per, np.maximum(np.abs(near) / per, 1.0)
    return bool((other > np.maximum(OTHER * size, ROUNDING / step)).any())


def _per(slope: np.ndarray, sizes: np.ndarray | None) -> np.ndarray:
    """What the entries of a slope are judged relative to."""
    return np.ones(len(slope)) if sizes is None else np.where(sizes > 0.0, sizes, np.abs(slope) + NOTHING)


def _column(
    f: Callable[[np.ndarray], np.ndarray],
    e: np.ndarray,
    steps: Sequence[float],
    sizes: np.ndarray | None,
    shorten: bool,
) -> tuple[np.ndarray, float]:
    """(f along e, estimate of its error)."""
    best, best_error, judged = None, np.inf, np.inf
    h, tried = steps[0], 0
    refused: SolveError | None = None
    while True:
        try:
            d = {k: f(k * h * e) - f(-k * h * e) for k in (0.5, 1.0, 1.5, 2.0, 3.0)}
        except SolveError as one:
            refused, tried = one, tried + 1
            if SHORTER * h < SHORTEST:
                break
            h = steps[tried] if tried < len(steps) else SHORTER * h
            continue
        wide = (45.0 * d[1.0] - 9.0 * d[2.0] + d[3.0]) / (60.0 * h)
        narrow = (45.0 * d[0.5] - 9.0 * d[1.0] + d[1.5]) / (30.0 * h)
        per = _per(narrow, sizes)
        error, most = (float((x / per).max(initial=0.0)) for x in (np.abs(wide - narrow) / 63.0, np.abs(narrow)))
        falls = error < 0.5 * judged
        if error < judged:
            best, judged = (64.0 * narrow - wide) / 63.0, error
            best_error = float(np.abs(wide - narrow).max(initial=0.0)) / 63.0
        if error <= GOOD * max(1.0, most):
            break
        tried += 1
        more = shorten and (falls or error > POOR * most) and SHORTER * h >= SHORTEST
        if tried >= len(steps) and not more:
            break
        h = steps[tried] if tried < len(steps) else SHORTER * h
    if best is None:
        assert refused is not None
        raise refused
    return best, best_error


ROUNDED = 1e-9
"""Slopes that are rounding, in units of what is differenced over what it is differenced by."""


def two_slopes(
    f: Callable[[np.ndarray], np.ndarray], units: np.ndarray, sizes: np.ndarray | None = None, step: float = STEPS[-1]
) -> list[tuple[int, int, float, float]]:
    """(i, j, slope behind, slope ahead) of the f_i that have two slopes at 0 along x_j. sizes: what counts as 1 of each f_i; slopes
    that are nothing beside it are rounding."""
    still = f(np.zeros(len(units)))
    values = np.zeros((4, len(still), len(units)))
    for j in range(len(units)):
        with suppress(SolveError):
            values[:, :, j] = _on_both_sides(f, still, units, j, step)
    ahead, behind, half_ahead, half_behind = values
    off, half = ahead + behind, half_ahead + half_behind
    much = np.abs(off) > BENT * np.abs(ahead - behind).max(axis=1, keepdims=True, initial=0.0) + NOTHING
    if sizes is not None:
        much &= np.abs(off) > ROUNDED * step * sizes[:, None]
    part = np.divide(half, off, out=np.zeros_like(off), where=much)
    bent = (part > HALF[0]) & (part < HALF[1])
    for j in np.flatnonzero(
        bent.any(axis=0)
    ).tolist():  # a force that saturates within the step has one slope close to 0
        for near in NEAR:
            with suppress(SolveError):
                one, other, *_ = _on_both_sides(f, still, units, j, near)
                bent[:, j] &= np.abs(one + other) > HALF[0] * near / step * np.abs(off[:, j])
    return [
        (
            int(i),
            int(j),
            float(-2.0 * half_behind[i, j] / (step * units[j])),
            float(2.0 * half_ahead[i, j] / (step * units[j])),
        )
        for i, j in np.argwhere(bent)
    ]


def _on_both_sides(
    f: Callable[[np.ndarray], np.ndarray], still: np.ndarray, units: np.ndarray, j: int, step: float
) -> np.ndarray:
    """What f changes by (4, m): a step ahead along x_j, behind, and half of it."""
    e = np.zeros(len(units))
    e[j] = step * units[j]
    return np.array([f(k * e) - still for k in (1.0, -1.0, 0.5, -0.5)])
