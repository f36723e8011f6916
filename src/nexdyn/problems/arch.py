"""A semicircular arch of 25 stones with radial joints, without mortar: it stands if a line of thrust lies within it, else it falls.

Limit analysis with unlimited friction finds the least thickness over the mean radius: 0.10748 for many stones (Milankovitch 1907), 0.10703
for 25 with round faces and 0.10696 for 25 with straight ones, as here (`tests/test_contact_arch.py`). Friction μ = 0.7 is
enough for it. One arch is 12 % thicker, another 11 % thinner.

    arch        what its crown sinks: joints that take up the load at once give by tenths of a millimetre
    thin-arch   whether its crown sinks faster and faster: three times as far, and more, in twice the time
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from nexdyn.forces.contact_group import Contact
from nexdyn.integrate.methods import HHT, ImplicitEuler
from nexdyn.integrate.pairs.dormand_prince import DormandPrince
from nexdyn.joints import Free
from nexdyn.model.shapes import Hull
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, Run
from nexdyn.results.result import Result
from nexdyn.statics.mass_properties import mass_properties

DENSITY, WIDTH, MU, STONES, JOINT = 2000.0, 0.2, 0.7, 25, 1e11
"""Of the stones [kg/m³, m]; foundation of each side of a joint [N/m³]."""
THICK, THIN = 0.12, 0.095
"""Thickness over mean radius, of the arch that stands and the one that falls."""


def corners(ratio: float, n: int) -> np.ndarray:
    """(n, 4, 2) of stones with radial joints, the mean radius 1 m, the thickness `ratio` [m]: inner, outer, of one end, then the other."""
    angles = np.linspace(0.0, np.pi, n + 1)
    ways = np.column_stack([np.cos(angles), np.sin(angles)])
    inner, outer = (1.0 - 0.5 * ratio) * ways, (1.0 + 0.5 * ratio) * ways
    return np.stack([inner[:-1], outer[:-1], inner[1:], outer[1:]], axis=1)


def area_and_centre(x: np.ndarray) -> tuple[float, np.ndarray]:
    """Of a quadrilateral of corners (inner, outer, inner, outer)."""
    p = x[[0, 1, 3, 2]]
    q = np.roll(p, -1, axis=0)
    c = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
    area = 0.5 * c.sum()
    return abs(area), ((p + q) * c[:, None]).sum(axis=0) / (6.0 * area)


def add_arch(system: System, of: str, ratio: float, n: int, stiffness: float, y: float = 0.0) -> None:
    """The stones as hulls, each with its neighbours and the first and the last with the ground."""
    names = [f"{of}{i}" for i in range(n)]
    for name, flat in zip(names, corners(ratio, n), strict=True):
        _, centre = area_and_centre(flat)
        points = tuple((x - centre[0], y, z - centre[1]) for x, z in flat for y in (-0.5 * WIDTH, 0.5 * WIDTH))
        hull = Hull(points)
        its = mass_properties(hull, DENSITY)
        system.add_body(
            name, mass=its.mass, com=tuple(its.com), inertia=its.inertia, position=(centre[0], y, centre[1]), collision=[hull]
        )  # fmt: skip
        system.add_joint(Free(f"{name} free", "ground", name))
    law: dict[str, Any] = {"foundation_a": stiffness, "foundation_b": stiffness, "damping": 5.0, "friction": MU}
    system.add_contact(Contact(f"{of} feet", [names[0], names[-1]], "ground", **law))
    for one, other in itertools.pairwise(names):
        system.add_contact(Contact(f"{one} and {other}", one, other, **law))


def arch(ratio: float, stiffness: float = JOINT) -> System:
    """An arch of a thickness over its mean radius."""
    system = System("arch")
    add_arch(system, "stone", ratio, STONES, stiffness)
    return system


def sinks(result: Result) -> np.ndarray:
    """How far the crown is below where it began [m] (N, 1)."""
    z = result.position(f"stone{STONES // 2}").values[:, 2:]
    return np.asarray(z[0] - z)


def falls(result: Result) -> np.ndarray:
    """Whether the crown sinks by more than a hundredth of the radius, and three times as far in twice the time (N, 1)."""
    sunk = sinks(result)
    return np.asarray((sunk > 0.01) & (sunk > 3.0 * sunk[len(sunk) // 2])).astype(float)


RUNS = (
    Run("minimal coordinates, ABA", DormandPrince(rtol=1e-5, atol=1e-8), 1.0),
    Run("absolute coordinates, index 3, HHT-α", HHT(rtol=1e-4), 1.0),
    Run("potential, implicit Euler with bdf2", ImplicitEuler(1e-3, bdf2=True), 1.0),
)
UNTIL = 0.35
"""Before the stones of the one that falls come apart [s]."""
STANDS = Problem(
    "arch", "arch of 25 stones, thick enough to stand", "Milankovitch 1907; limit analysis, recomputed", lambda: arch(THICK),
    {"sinks": "m"}, {UNTIL: (0.0,)}, sinks, RUNS, scale=(1e-3,), recorded=(0.5 * UNTIL,),
)  # fmt: skip
FALLS = Problem(
    "thin-arch", "arch of 25 stones, too thin to stand", "Milankovitch 1907; limit analysis, recomputed", lambda: arch(THIN),
    {"falls": "1"}, {UNTIL: (1.0,)}, falls, RUNS, scale=(1e-9,), recorded=(0.5 * UNTIL,),
)  # fmt: skip

ARCHES = (STANDS, FALLS)
