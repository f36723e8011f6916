"""A body free of torque that spins about its middle axis, and turns over again and again (Dzhanibekov).

    u = τ t + K,  ω₁ = 1.00004999875 dn u,  ω₂ = sn u,  ω₃ = 0.57735026919 cn u,  m = 0.999900009999

Jacobi's solution of Euler's equations: Landau & Lifshitz, Mechanics, § 37.
"""

from __future__ import annotations

import numpy as np

from nexdyn.integrate.methods import RungeKutta4
from nexdyn.joints import Free
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, Run, index1, index3, minimal, potential
from nexdyn.results.result import Result


def tumbling() -> System:
    """Moments of inertia 1, 2, 3, and almost all of the spin about the second."""
    system = System("tumbling body", gravity=(0, 0, 0))
    body = system.add_body("body", mass=1.0, inertia=(1, 2, 3))
    system.add_joint(Free("free", system.ground, body, v0=(0.01, 1, 0, 0, 0, 0)))
    return system


def spin(result: Result) -> np.ndarray:
    """The angular velocity in the axes of the body (N, 3) [rad/s]."""
    R, omega = result.rotation("body").values, result.angular_velocity("body").values
    return np.einsum("nji,nj->ni", R, omega)


TUMBLING = Problem(
    "tumbling", "torque-free body", "Jacobi's elliptic functions", tumbling, {"ω1": "rad/s", "ω2": "rad/s", "ω3": "rad/s"},
    {10.0: (0.976782616339, 0.214466128838, -0.563916152036)},
    spin,
    (
        *minimal(1e-9),
        Run("minimal coordinates, rk4", RungeKutta4(1e-3), 1e-8),
        *index3(3e-5, dt=2e-3),
        *index1(1e-6),
        *potential(1e-3, dt=1e-3),
    ),
)  # fmt: skip
