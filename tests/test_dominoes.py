"""Dominoes: the rigid row that `nexdyn.problems.dominoes` is compared with, integrated here."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nexdyn.problems.dominoes import COUNT, GAP, HEIGHT, PITCH, PUSH, THICK, UNTIL, WAVE

G = 9.81


def lean(front: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles θ_i of dominoes that lean on each other, the foremost last, and w_i = dθ_i/dθ_n (count,)."""
    turned, rates = np.full(count, front), np.ones(count)
    for i in range(count - 2, -1, -1):
        sine = (PITCH * math.cos(turned[i + 1]) - THICK) / HEIGHT
        turned[i] = turned[i + 1] + math.asin(sine)
        rates[i] = rates[i + 1] * (1.0 - PITCH * math.sin(turned[i + 1]) / (HEIGHT * math.sqrt(1.0 - sine**2)))
    return turned, rates


def strikes(count: int, push: float) -> np.ndarray:
    """When each domino of a rigid row but the first is struck [s] (count − 1,)."""
    inertia = (HEIGHT**2 + THICK**2) / 3.0
    reach, when = math.asin(GAP / HEIGHT), [0.0]
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for n in range(1, count):

        def potential(turned: np.ndarray) -> float:
            return float(0.5 * G * np.sum(HEIGHT * np.cos(turned) + THICK * np.sin(turned)))

        turned, rates = lean(0.0, n)
        energy = 0.5 * inertia * float(rates @ rates) * push**2 + potential(turned)

        def rate(front: float, n: int = n, energy: float = energy) -> float:
            turned, rates = lean(front, n)
            return math.sqrt(2.0 * (energy - potential(turned)) / (inertia * float(rates @ rates)))

        over = [1.0 / rate(0.5 * reach * (x + 1.0)) for x in nodes]
        when.append(when[-1] + 0.5 * reach * float(weights @ over))
        before = np.append(lean(reach, n)[1] * rate(reach), 0.0)
        after = lean(0.0, n + 1)[1]
        push = float(after @ before) / float(after @ after)
    return np.array(when[1:])


def test_the_rigid_row_has_the_speeds_that_are_compared_with() -> None:
    when = strikes(COUNT, PUSH)
    np.testing.assert_allclose(PITCH / np.diff(when), WAVE, rtol=0, atol=1e-11)
    assert when[-1] < UNTIL


def test_a_long_rigid_row_forgets_how_it_was_pushed() -> None:
    slow, fast = (PITCH / np.diff(strikes(40, push))[-1] for push in (4.0, 20.0))
    assert slow == pytest.approx(fast, rel=1e-6)
