"""Sine and cosine by polynomials, beside exact arithmetic; alone and in lanes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from nexdyn.kernel import kernel
from nexdyn.spatial.lanes import LANES, LaneVector
from nexdyn.spatial.sincos import FAR, sincos

PI = Fraction(314159265358979323846264338327950288419716939937510582097494459230781640628620899862803, 10**86)


@kernel
def fill(x, s, c, n):
    for i in range(n):
        s[i], c[i] = sincos(x[i])


def alone(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    s, c = np.empty((2, len(x)))
    fill(x, s, c, len(x))
    return s, c


def exact(x: float) -> tuple[Fraction, Fraction]:
    """sin x and cos x to 30 digits: the angle in the first octant, then the series."""
    quarter = round(Fraction(x) / (PI / 2))
    r = Fraction(x) - quarter * PI / 2
    series = [Fraction(0), Fraction(0)]
    term = Fraction(1)
    for k in range(28):
        series[k % 2] += term if k % 4 < 2 else -term
        term = Fraction(int(term * r / (k + 1) * 2**220), 2**220)
    c, s = series
    return ((s, c), (c, -s), (-s, -c), (-c, s))[quarter % 4]


def ulps(found: float, expected: Fraction) -> float:
    return float(abs(Fraction(found) - expected) / Fraction(float(np.spacing(abs(float(expected))))))


def test_the_error_is_below_two_units_in_the_last_place() -> None:
    rng = np.random.default_rng(0)
    multiples = 0.5 * np.pi * rng.integers(1, 63_661, 400)
    x = np.concatenate(
        [
            rng.uniform(-FAR, FAR, 500),
            rng.uniform(-7.0, 7.0, 500),
            multiples,  # where one of the two is nearly zero
            0.25 * np.pi * np.arange(-9, 10),
            10.0 ** rng.uniform(-12.0, 0.0, 50),
            [np.nextafter(FAR, 0.0), -np.nextafter(FAR, 0.0)],
        ]
    )
    found = np.stack(alone(x))
    worst = max(
        ulps(f, e) for values in zip(x, *found, strict=True) for f, e in zip(values[1:], exact(values[0]), strict=True)
    )
    assert 0.5 <= worst < 2.0


def test_zero_and_what_is_next_to_it_are_exact() -> None:
    x = np.array([0.0, 5e-324, 1e-300, -1e-20])
    s, c = alone(x)
    np.testing.assert_array_equal(s, x)
    np.testing.assert_array_equal(c, 1.0)


def test_beyond_the_range_the_results_are_the_librarys() -> None:
    x = np.array([FAR, -FAR, 1.5e5, 1e9, 1e300, -1e22])
    s, c = alone(x)
    assert s.tolist() == [math.sin(y) for y in x]
    assert c.tolist() == [math.cos(y) for y in x]


def test_what_is_not_finite_gives_no_number() -> None:
    assert np.isnan(alone(np.array([np.nan, np.inf, -np.inf]))).all()


def test_lanes_give_the_bits_of_each_angle_alone_far_ones_among_them() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-10.0, 10.0, (LANES, 20))
    x[1, ::2], x[-2, 7], x[-1, 8] = 1e7 * x[1, ::2], np.nan, np.inf
    s, c = LaneVector.of(np.zeros_like(x)), LaneVector.of(np.zeros_like(x))
    fill(LaneVector.of(x), s, c, 20)
    expected = np.array([alone(row) for row in x])
    np.testing.assert_array_equal(s.systems(), expected[:, 0])
    np.testing.assert_array_equal(c.systems(), expected[:, 1])
