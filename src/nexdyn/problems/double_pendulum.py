"""The double pendulum, two links of 1 kg and 1 m from horizontal and at rest: point masses, or uniform rods.

angles of both links from straight down; the motion is chaotic, so that errors grow
"""

from __future__ import annotations

import numpy as np

from nexdyn.integrate.methods import RungeKutta4
from nexdyn.joints import Revolute
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, Run, index1, index3, minimal, potential
from nexdyn.results.result import Result


def double_pendulum(kind: str = "rods") -> System:
    """kind: "points" at the ends of massless links, or "rods"."""
    system = System(f"double pendulum of {kind}", gravity=(0, -9.81, 0))
    parent = system.ground
    for i in (0, 1):
        at_end = kind == "points"
        inertia = (0, 0, 0) if at_end else (1 / 12, 1 / 12, 1 / 12)
        link = system.add_body(f"link{i + 1}", mass=1.0, inertia=inertia, position=(i + (1.0 if at_end else 0.5), 0, 0))
        system.add_joint(Revolute(f"hinge{i + 1}", parent, link, at=(i, 0, 0), axis=(0, 0, 1)))
        parent = link
    return system


def angles(result: Result) -> np.ndarray:
    """Angles of the links from straight down (N, 2) [rad]."""
    R = [result.rotation(f"link{i}").values for i in (1, 2)]
    return np.stack([np.arctan2(r[:, 1, 0], r[:, 0, 0]) + np.pi / 2 for r in R], axis=1)


OTHERS = (
    Run("minimal coordinates, rk4", RungeKutta4(1e-3), 1e-8),
    *index3(1e-4, dt=5e-4),
    *index1(1e-7),
    *potential(1e-4, dt=5e-4, until=1.0),
)
QUANTITIES = {"θ1": "rad", "θ2": "rad"}

POINTS = Problem(
    "points", "double pendulum of point masses", "recomputed in extended precision", lambda: double_pendulum("points"),
    QUANTITIES,
    {
        0.5: (0.5704720512, 1.2038751112),
        1.0: (-0.6250876998, -1.0345850857),
        2.0: (-0.4829715343, -1.3240487123),
    },
    angles, (*minimal(1e-8, massless=True), *OTHERS), angles=frozenset(QUANTITIES),
)  # fmt: skip

RODS = Problem(
    "rods", "double pendulum of uniform rods", "recomputed in extended precision", lambda: double_pendulum("rods"),
    QUANTITIES,
    {
        0.5: (0.4481426259, 1.0419628873),
        1.0: (-1.2077162382, -0.8143910231),
        2.0: (-0.0827583068, 0.4073620749),
    },
    angles, (*minimal(1e-8), *OTHERS), angles=frozenset(QUANTITIES),
)  # fmt: skip
