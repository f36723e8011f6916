"""The steps of adaptive HHT, chosen by their error.

With err = e/tol, where e = O(h³) is the error of the positions in the step h (``hht``) and that of states of forces:

    err ≤ 1   accepted   h⁺ = h min(2, 0.9 err^(−⅓))          kept as it is where that is 1 … 1.15 of it
    err > 1   rejected   h⁺ = h max(0.2, 0.9 err^(−⅓))
    Newton's iteration failed, or a force did:   h⁺ = h/4

A small change is not worth a new matrix (Hairer & Wanner, Solving Ordinary Differential Equations II, IV.8, where it is 1 … 1.2 in the step
and the factor is also less the more iterations were needed; here ``newton`` makes a new matrix instead).
Steps end at output times: the last one is stretched by a thousandth or cut; where less than two steps are left each is half of the rest, so
that no short one changes the step. A step that was cut proposes none that is shorter.

The first step is h₀ = 0.1 √(tol/a): its displacement ½ a h₀² is a small part of what the tolerance allows.
"""

from __future__ import annotations

from nexdyn.kernel import formula
from nexdyn.records import Record

SAFETY, GROWTH, SHRINKING, AFTER_FAILURE = 0.9, 2.0, 0.2, 0.25
EXPONENT = -1.0 / 3.0
"""err is of order h³."""
LEAST_ERROR = 1e-9
"""err below which the step grows by all that it may, and 0 has no power."""
WORTH_A_MATRIX = 1.15
"""Least growth for which a matrix is made anew."""
STRETCH = 1.001
"""By how much a step may be longer to end at an output time."""
FIRST = 0.1
"""Of √(tol/a): the displacement in the first step is 0.005 tol."""
OF_GRAVITY, AT_REST = 1e-4, 1e-3
"""Part of gravity, and without gravity the acceleration [lengths/s²], below which none decides of the first step."""


class Control(Record):
    """What chooses the steps."""

    t: float
    h: float
    """Time [s], and the step to try next [s]; 0: choose."""
    steps: float
    output: float
    """Accepted so far; which of the output times is wanted next."""
    rejected: float
    error: float
    """Rejected so far; err of the last step."""


@formula
def first_step(a, gravity, length, tolerance):
    """h₀; a in lengths/s²."""
    g = (gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]) ** 0.5
    return FIRST * (tolerance / max(a, OF_GRAVITY * g / length if g > 0.0 else AT_REST)) ** 0.5


@formula
def fitted(t, h, target):
    """The step to take at t, where the next but one may have to end at `target`."""
    if t + STRETCH * h >= target:
        return target - t
    return 0.5 * (target - t) if t + 2.0 * h > target else h


@formula
def after_rejection(step, error, failed):
    """The step to try once `step` was rejected."""
    return step * (AFTER_FAILURE if failed else max(SHRINKING, SAFETY * error**EXPONENT))


@formula
def after_acceptance(h, step, error, dt_max):
    """The step to try once `step` was accepted, of which h was proposed."""
    growth = min(GROWTH, SAFETY * max(error, LEAST_ERROR) ** EXPONENT)
    if step * growth <= h and step < 0.999 * h:
        return h
    return min(dt_max, h if 1.0 <= growth < WORTH_A_MATRIX and step == h else step * growth)
