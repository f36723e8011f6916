"""The heavy top: a body that spins at 150 rad/s about a fixed point, its centre of mass 1 m from it.

    steady precession at 90° of tilt  Ω = m g l / (I₃ ω_s);   T + V = 5435.696790866 J

Géradin & Cardona, Flexible Multibody Dynamics; Brüls & Cardona, J. Comput. Nonlinear Dyn. 5 (2010) 031002.
"""

from __future__ import annotations

import numpy as np

from nexdyn.integrate.methods import RungeKutta4
from nexdyn.joints import Spherical
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, Run, index1, index3, minimal, potential
from nexdyn.results.result import Result


def heavy_top() -> System:
    """The origin of the body is its centre of mass."""
    system = System("heavy top", gravity=(0, 0, -9.81))
    top = system.add_body("top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375), position=(0, 1, 0))
    system.add_joint(Spherical("point", system.ground, top, at=(0, 0, 0), v0=(0, 150, -4.61538)))
    return system


def centre(result: Result) -> np.ndarray:
    """The centre of mass (N, 3) [m]."""
    return result.position("top").values


HEAVY_TOP = Problem(
    "top", "heavy top", "Brüls & Cardona 2010", heavy_top, {"x": "m", "y": "m", "z": "m"},
    {
        0.1: (0.4212966589, 0.8945719743, -0.1491647006),
        0.2: (0.6055505614, 0.5989576818, -0.5239830274),
        1.0: (0.1733439641, 0.6400885921, -0.7484907911),
    },
    centre,
    (
        *minimal(1e-8),
        Run("minimal coordinates, rk4", RungeKutta4(1e-4), 1e-6),
        *index3(1e-4, dt=1e-4),
        *index1(1e-8),
        *potential(1e-4, dt=1e-4, until=0.2),
    ),
)  # fmt: skip
