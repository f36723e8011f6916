"""A01, the simple pendulum: a mass of 1 kg at the end of a massless bar of 1 m, from horizontal and at rest.

    θ̈ = −(g/l) sin θ,  period 4 K(sin 45°) √(l/g) = 2.3678419475762 s

IFToMM library of computational benchmark problems, A01; its limit of error for high precision is 1e-3.
"""

from __future__ import annotations

import numpy as np

from nexdyn.integrate.methods import RungeKutta4
from nexdyn.joints import Revolute
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, Run, index1, index3, minimal, potential
from nexdyn.results.result import Result


def pendulum() -> System:
    """The mass is the body; the bar is where its hinge is."""
    system = System("A01 simple pendulum", gravity=(0, -9.81, 0))
    mass = system.add_body("mass", mass=1.0, inertia=(0, 0, 0), position=(-1, 0, 0))
    system.add_joint(Revolute("hinge", system.ground, mass, at=(0, 0, 0), axis=(0, 0, 1)))
    return system


def place(result: Result) -> np.ndarray:
    """x and y of the mass (N, 2) [m]."""
    return result.position("mass").values[:, :2]


A01 = Problem(
    "A01", "simple pendulum", "IFToMM benchmark library", pendulum, {"x": "m", "y": "m"},
    {
        1.0: (0.9862917511, -0.1650108531),
        5.0: (-0.9423054350, -0.3347543384),
        10.0: (-0.2750874626, -0.9614192051),
        100.0: (-0.1815133514, -0.9833884803),
    },
    place,
    (
        *minimal(1e-8, massless=True),
        Run("minimal coordinates, rk4", RungeKutta4(1e-3), 1e-8),
        *index3(2e-4, dt=1e-3, until=10.0),
        *index1(1e-8, until=10.0),
        *potential(1e-4, dt=1e-3, until=1.0),
    ),
)  # fmt: skip
