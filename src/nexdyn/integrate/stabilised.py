"""Baumgarte's stabilisation: how fast violations die by default, and what a constant step makes of them.

    rows of positions     C̈ + 2 α Ċ + β² C = 0,   y = (C, Ċ)
    rows of velocities    ẇ + 2 α w = 0,           y = w                     ẏ = A y

By default α = β follows the motion, r its rate, over the links or bodies that rows move:

    α = P r / √(1 + (P r / most)²),   r² = g/L + mean (|ω|² + |v|²/L²),   L the size of the mechanism, most = c/dt

It depends on the state alone, so that methods keep their order. With α = c/dt instead, the C of order dt² in the stages of a
Runge–Kutta method would come into the accelerations as β² C, whatever dt is. Euler's methods have no stages: they take α = 1/(2 dt).

    explicit Runge–Kutta   y⁺ = (1 + Σ b_i K_i) y,   K_i = dt A (1 + Σ a_ij K_j)
    semi-implicit Euler    Ċ⁺ = Ċ − dt (2 α Ċ + β² C),   C⁺ = C + dt Ċ⁺;   w⁺ = w − 2 α dt w

With α = β = c/dt violations die while c < 2√2 − 2 = 0.83 under semi-implicit Euler, 2 under explicit Euler and 2.78 under RK4;
those of velocities while c < 1, 1 and 1.39.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from nexdyn.errors import InputError
from nexdyn.integrate.tableaus import Tableau
from nexdyn.kernel import formula
from nexdyn.records import Record

Array = np.ndarray
PACE = 6.0
"""P, how much faster than the motion violations die: 20 1/s for a Bennett linkage of 1 m under gravity, which lower rates lose
where it passes its flat pose."""
MOST = 2.0**0.01
"""Factor of growth a step that doubles a violation in a hundred steps."""


class Damping(Record):
    """What a `damping` says: α and β [1/s], by default −1; g/L [1/s²]; L [m]; the greatest rate by default [1/s]."""

    alpha: float
    beta: float
    rate2: float
    length: float
    at_most: float


def damping(alpha: float | None, beta: float | None, gravity: Array, length: float, at_most: float) -> Array:
    """(5,) α and β as given, by default those that follow the motion under gravity [m/s²]."""
    given = [-1.0 if x is None else x for x in (alpha, beta)]
    return np.array([*given, float(np.linalg.norm(gravity)) / length, length, at_most])


@formula
def speed2(V, length):
    """|ω|² + |v|²/L² of a velocity."""
    w, v = V.w, V.v
    return w @ w + (v @ v) / (length * length)


@formula
def rate(damping, squared):
    """α [1/s] by default, where `squared` is the mean of |ω|² + |v|²/L² [1/s²]."""
    own = Damping(damping)
    most = own.at_most
    r2 = PACE * PACE * (own.rate2 + squared)
    return sqrt(r2 / (1.0 + r2 / (most * most)))


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
    what: str, tableau: Tableau | None, dt: float, given: tuple[float | None, float | None], at_most: float,
    has_velocity_rows: bool,
) -> None:  # fmt: skip
    """InputError where violations grow from step to step under α and β [1/s], `given` to `what`; None is the default, which is
    `at_most` so much."""
    damping = (at_most if given[0] is None else given[0], at_most if given[1] is None else given[1])
    if damping == (0.0, 0.0) or given == (None, None):
        return  # nothing stabilises, and nothing grows
    most = {"positions": growth(tableau, dt, *damping)}
    if has_velocity_rows:
        most["velocities"] = growth(tableau, dt, *damping, of_velocities=True)
    rows = max(most, key=lambda name: most[name])
    if not most[rows] <= MOST:
        names = ("alpha", "beta")
        told = " and ".join(
            f"{name} = {x:g} 1/s{' (the most by default)' if own is None else ''}"
            for name, x, own in zip(names, damping, given, strict=True)
        )
        with np.errstate(over="ignore"):
            ten = np.float64(most[rows]) ** 10
        raise InputError(
            f"with {told} of {what} violations of {rows} grow {ten:.3g} times in ten steps of {dt:g} s; leave both out, which "
            f"takes {at_most:g} 1/s at most, or choose what fits the step"
        )
