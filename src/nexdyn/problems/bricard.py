"""A04, Bricard's mechanism: five rods and six hinges about x, y and z by turns move although Grübler counts none.

    6 · 5 − 6 · 5 = 0 degrees of freedom counted, one there is, one row depends on the others

IFToMM library of computational benchmark problems, A04.
"""

from __future__ import annotations

import numpy as np

from nexdyn.joints import Revolute
from nexdyn.model.marker import Marker
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, closed, index1, index3, potential
from nexdyn.results.result import Result

POINTS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


def bricard() -> System:
    """Rods of 1 m and 1 kg along the edges of a cube; the first and the last hinge are on the ground."""
    system = System("A04 Bricard", gravity=(0, -9.81, 0))
    across, along = (1 + 0.01) / 12, 0.01 / 6
    rods = []
    for i in range(5):
        axis = np.abs(POINTS[i + 1] - POINTS[i])
        inertia = np.where(axis > 0.5, along, across)
        rods.append(system.add_body(f"rod{i}", mass=1.0, inertia=inertia, position=(POINTS[i] + POINTS[i + 1]) / 2))
    chain = [system.ground, *rods, system.ground]
    for i, axis in enumerate("yzxyzx"):
        a, b = chain[i], chain[i + 1]
        a, b = (b, a) if b is system.ground else (a, b)
        system.add_joint(Revolute(f"P{i + 1}", a, b, at=POINTS[i], axis=AXES[axis]))
    system.add_marker(Marker("P3", rods[1], position=POINTS[2] - (POINTS[1] + POINTS[2]) / 2))
    return system


def corner(result: Result) -> np.ndarray:
    """The place of P3 (N, 3) [m]."""
    return result.position("P3").values


A04 = Problem(
    "A04", "Bricard's mechanism", "IFToMM benchmark library", bricard, {"x": "m", "y": "m", "z": "m"},
    {
        0.5: (0.7747178080, -0.9798150477, -0.1999061590),
        1.0: (0.2744813193, -0.8867079387, -0.4623300027),
        2.0: (-0.7781353730, -0.9803526834, -0.1972526706),
        5.0: (0.9999327423, -0.9999999977, -6.72554e-5),
        10.0: (0.9997309873, -0.9999999638, -2.689765e-4),
    },
    corner,
    (*closed(1e-8), *index3(3e-6, dt=1e-3), *index1(1e-8), *potential(1e-4, dt=1e-3, until=1.0)),
)  # fmt: skip
