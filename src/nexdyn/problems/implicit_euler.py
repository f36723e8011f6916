"""The double pendulum of unit inertia by implicit Euler with augmented-Lagrangian hinges, as it was published.

    h = 0.01 s, μ = 1000, ten updates of the multipliers a step

The published numbers are those of this method at this step, not those of the exact motion, which keeps its energy.
"""

from __future__ import annotations

import numpy as np

from nexdyn.integrate.methods import ImplicitEuler
from nexdyn.io.loader import load
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, Run
from nexdyn.results.result import Result

H = 0.01


def published() -> System:
    """The demo `implicit-euler`."""
    return load("implicit-euler")


def motion(result: Result) -> np.ndarray:
    """Position, velocity and acceleration in the plane of both links (N, 12)."""
    of = [getattr(result, what)(name).values[:, :2] for name in ("link1", "link2")
          for what in ("position", "velocity", "acceleration")]  # fmt: skip
    return np.hstack(of)


PUBLISHED = Problem(
    "alm", "double pendulum by implicit Euler", "specification, reproduced independently", published,
    {f"{what}{link}{axis}": unit for link in "12" for what, unit in (("p", "m"), ("v", "m/s"), ("a", "m/s²")) for axis in "xy"},
    {
        3.0: (0.40104968, -0.29859530, -0.14322074, -0.19333218, -2.3166936, -2.9761086,
              0.93728972, -1.07856733, -2.18170893, -0.95965349, -6.3504886, 1.7645872),
    },
    motion,
    (Run("potential, implicit Euler", ImplicitEuler(H, mu=1000.0, updates=10), 1e-6),),
    scale=(1.0, 1.0, 1.0, 1.0, 10.0, 10.0) * 2,
)  # fmt: skip
