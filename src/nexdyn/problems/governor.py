"""A05, the stiff flyball governor: a shaft that turns freely, two rods with balls, a slider on stiff springs with dampers.

    angular momentum about the shaft = 53.8689986584 N m s, always

IFToMM library of computational benchmark problems, A05.
"""

from __future__ import annotations

import numpy as np

from nexdyn.forces import PointSpring
from nexdyn.joints import Prismatic, Revolute
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, index1, index3, minimal, potential
from nexdyn.results.result import Result
from nexdyn.spatial.rotations import exp_quaternion


def governor() -> System:
    """Each rod and its ball are one body, whose axis x is along the rod."""
    system = System("A05 governor", gravity=(0, 0, -9.81))
    across, along = 0.3 * (1 + 1e-4) / 12, 0.3 * 1e-4 / 6
    shaft = system.add_body("shaft", mass=0.3, inertia=(across, across, along), position=(0, 0, 0.5))
    system.add_joint(Revolute("bearing", system.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1), v0=2 * np.pi))
    slider = system.add_body("slider", mass=3.0, inertia=(0.005,) * 3, position=(0, 0, 0.5))
    system.add_joint(Prismatic("guide", shaft, slider, at=(0, 0, 0.5), axis=(0, 0, 1), v0=0.0))
    tilt = np.pi / 6
    for side, sign in (("left", -1.0), ("right", 1.0)):
        hinge = np.array([0.05 * sign, 0.0, 1.0])
        way = np.array([sign * np.cos(tilt), 0.0, -np.sin(tilt)])
        m, c = 5.3, (0.3 * 0.5 + 5.0 * 1.0) / 5.3
        I = across + 0.3 * (c - 0.5) ** 2 + 5.0 * (1.0 - c) ** 2
        angle = tilt if sign > 0 else np.pi - tilt  # about y, from x to the rod
        rod = system.add_body(
            f"{side} rod", mass=m, inertia=(along, I, I), position=hinge + c * way,
            orientation=exp_quaternion(np.array([0.0, angle, 0.0])),
        )  # fmt: skip
        system.add_joint(Revolute(f"{side} hinge", shaft, rod, at=hinge, axis=(0, 1, 0), v0=0.0))
        system.add_force(
            PointSpring(
                f"{side} spring", slider, rod, anchor_a=(0.05 * sign, 0, 0), anchor_b=(0.5 - c, 0, 0), stiffness=8e5,
                damping=4e4, length=0.5,
            )
        )  # fmt: skip
    return system


def slider_and_shaft(result: Result) -> np.ndarray:
    """Height and velocity of the slider, speed of the shaft (N, 3)."""
    return np.stack(
        [
            result.position("slider").values[:, 2],
            result.velocity("slider").values[:, 2],
            result.angular_velocity("shaft").values[:, 2],
        ],
        axis=1,
    )


A05 = Problem(
    "A05", "stiff flyball governor", "IFToMM benchmark library", governor, {"s": "m", "ṡ": "m/s", "ω": "rad/s"},
    {
        0.1: (0.5238364756, 0.459271810, 6.103717809),
        0.5: (0.7432494248, 0.052119780, 5.103415422),
        1.0: (0.5014209224, -0.122151493, 6.271125742),
        2.0: (0.5059092943, -0.240783147, 6.236223614),
    },
    slider_and_shaft,
    (*minimal(1e-8), *index3(1e-5, dt=1e-3), *index1(1e-9), *potential(1e-4, dt=1e-3)),
    scale=(1.0, 20.0, 10.0),
)  # fmt: skip
