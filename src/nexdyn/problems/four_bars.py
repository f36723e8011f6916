"""A02, n four-bars side by side, which pass the flat pose where one degree of freedom becomes n + 1.

    2n + 1 rods of 1 m and 1 kg; the first joint's tip B0 starts at (0, 1) with 1 m/s

IFToMM library of computational benchmark problems, A02. The reference stays on the branch of parallelograms.
"""

from __future__ import annotations

import numpy as np

from nexdyn.integrate.methods import Baumgarte
from nexdyn.joints import Revolute
from nexdyn.model.marker import Marker
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, Run, index3, potential
from nexdyn.results.result import Result

AXIS = (0.0, 0.0, 1.0)


def four_bars(n: int = 2) -> System:
    """n + 1 standing rods and n lying ones on their tips."""
    system = System(f"A02 with {n} loops", gravity=(0, -9.81, 0))
    inertia = (1 / 12, 1 / 12, 1 / 12)
    standing = []
    for i in range(n + 1):
        rod = system.add_body(f"standing{i}", mass=1.0, inertia=inertia, position=(i, 0.5, 0))
        system.add_joint(Revolute(f"ground{i}", system.ground, rod, at=(i, 0, 0), axis=AXIS, v0=-1.0))
        standing.append(rod)
    for i in range(n):
        rod = system.add_body(f"lying{i}", mass=1.0, inertia=inertia, position=(i + 0.5, 1, 0))
        system.add_joint(Revolute(f"left{i}", standing[i], rod, at=(i, 1, 0), axis=AXIS))
        system.add_joint(Revolute(f"right{i}", rod, standing[i + 1], at=(i + 1, 1, 0), axis=AXIS))
    system.add_marker(Marker("B0", standing[0], position=(0, 0.5, 0)))
    return system


def tip(result: Result) -> np.ndarray:
    """Place and velocity of B0 (N, 4)."""
    return np.hstack([result.position("B0").values[:, :2], result.velocity("B0").values[:, :2]])


A02 = Problem(
    "A02", "two four-bars", "IFToMM benchmark library", four_bars, {"x": "m", "y": "m", "ẋ": "m/s", "ẏ": "m/s"},
    {
        1.0: (-0.1950203019, -0.9807992057, -6.6766780369, 1.3275783252),
        5.0: (-0.8113104610, -0.5846155454, -3.5691173972, 4.9531051713),
        10.0: (0.3284581115, 0.9445185382, 1.4230514702, -0.4948688455),
    },
    tip,
    (
        # where the mechanism is flat partitioning stops; projection and loops in minimal coordinates leave the branch of the
        # reference
        *index3(2e-4, dt=1e-3),
        Run("absolute coordinates, index 1, baumgarte", Baumgarte(rtol=1e-10, atol=1e-12), 1e-4),
        *potential(2e-4, dt=5e-4),
    ),
    scale=(1.0, 1.0, 10.0, 10.0), singular=True,
)  # fmt: skip
