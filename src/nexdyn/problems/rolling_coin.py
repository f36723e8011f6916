"""A thin coin, tilted by a degree and turning about the vertical, rolls on a plane without slipping.

    v_contact = 0: two rows that no position fulfils; lean, place and normal force after half a second

Recomputed in extended precision and confirmed by a second code.
"""

from __future__ import annotations

import numpy as np

from nexdyn.io.loader import load
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, closed, index1, index3
from nexdyn.results.result import Result


def rolling_coin() -> System:
    """The demo `rolling-coin`."""
    return load("rolling-coin")


def contact(result: Result) -> np.ndarray:
    """Place of the contact, lean from upright, force of the ground across it (N, 4)."""
    of = result.rolling("contact")
    x, y = of.point.values[:, :2].T
    return np.stack([x, y, np.degrees(of.lean.values), of.normal.values], axis=1)


ROLLING_COIN = Problem(
    "coin", "rolling coin", "recomputed in extended precision", rolling_coin, {"x": "m", "y": "m", "lean": "°", "N": "N"},
    {0.5: (2.0049470e-3, 2.5969231e-3, 12.55510700, 9.83551981)},
    contact,
    (*closed(1e-7), *index3(5e-5, dt=2e-4), *index1(1e-6, nonholonomic=True)),
    scale=(1e-3, 1e-3, 10.0, 10.0),
)  # fmt: skip
