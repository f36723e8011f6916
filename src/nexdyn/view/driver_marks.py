"""What shows the drivers of points and of orientations (links.py places it).

    a point          an arrow from it along the axis of the world that is driven
    an angle         a ring about its axis that ends in an arrow, the positive sense: yaw about z of `seen_from`, pitch about y of it turned
                     by the yaw, roll about x of `frame`
    an orientation   a ring about each axis of `frame`

Rings stand on their axis where the body ends, arrows go on beyond it, so that neither is hidden in the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nexdyn.model.driver import COMPONENTS, OrientationDriver, PointDriver
from nexdyn.model.system import System
from nexdyn.view.geometry import unit_of, vertices_of
from nexdyn.view.parts import rod, turning_arrow
from nexdyn.view.surfaces import Surface, cone, joined, moved

ARROW, RING = 6.0, 4.0
"""How far an arrow goes beyond its body, and the radius of a ring, in radii of a drawn rod."""
LARGEST = 0.7
"""The largest radius of a ring, of half the largest width of its body."""

Along = tuple[tuple[str, np.ndarray], ...]


class DriverMark(NamedTuple):
    """A surface about z, at p_B (3,) [m] of a body. z is along a vector (3,) of another body; of two vectors along their cross product.
    length: how far the surface goes along z [m]."""

    name: str
    body: str
    p_B: np.ndarray
    along: Along
    surface: Surface
    length: float


def driver_marks(system: System) -> list[DriverMark]:
    """The marks of a system."""
    found: list[DriverMark] = []
    wanted = [driver for driver in system.drivers.values() if isinstance(driver, PointDriver | OrientationDriver)]
    usual = unit_of(system) if wanted else 0.0
    for driver in wanted:
        name = driver.point if isinstance(driver, PointDriver) else driver.frame
        body, R_BF, p_BF = system.frame(name)
        vertices = vertices_of(system, body.name)
        half = float(np.ptp(vertices, axis=0).max() / 2) if len(vertices) else usual
        unit = min(usual, LARGEST * half / RING)
        for along in _axes(system, driver, body.name, R_BF):
            end = _end(system, body.name, vertices - p_BF, along)
            if isinstance(driver, PointDriver):
                length = end + ARROW * unit
                surface = _arrow(length, unit)
            else:
                length = end + unit
                surface = moved(turning_arrow(RING * unit, 0.5 * unit), np.eye(3), np.array((0.0, 0.0, length)))
            found.append(DriverMark(driver.name, body.name, p_BF, along, surface, length))
    return found


def direction(turns: Any, along: Sequence[tuple[Any, np.ndarray]]) -> np.ndarray:
    """The unit vector (3,) in the world of vectors in bodies, whose R (3, 3) `turns` has; 0 where two vectors are parallel."""
    n = turns[along[0][0]] @ along[0][1]
    for other, v in along[1:]:
        n = np.cross(n, turns[other] @ v)
    size = float(np.linalg.norm(n))
    return np.asarray(n / size if size > 1e-12 else np.zeros(3))


def _axes(system: System, driver: PointDriver | OrientationDriver, body: str, R_BF: np.ndarray) -> list[Along]:
    if isinstance(driver, PointDriver):
        return [(("ground", np.eye(3)[COMPONENTS.index(driver.component)]),)]
    seen_from, R_SG, _ = system.frame(driver.seen_from)
    roll, yaw = (body, R_BF[:, 0]), (seen_from.name, R_SG[:, 2])
    match driver.angle:
        case "yaw":
            return [(yaw,)]
        case "pitch":
            return [(yaw, roll)]
        case "roll":
            return [(roll,)]
    return [((body, R_BF[:, k]),) for k in range(3)]


def _end(system: System, body: str, from_it: np.ndarray, along: Along) -> float:
    """How far what is drawn of a body goes along an axis from a point of it, `from_it` (n, 3), as described [m]."""
    turns = {name: system.body(name).pose(system.values)[0] for name in {body, *(name for name, _ in along)}}
    n = turns[body].T @ direction(turns, along)
    return max(0.0, float((from_it @ n).max(initial=0.0)))


def _arrow(length: float, unit: float) -> Surface:
    head = min(4.0 * unit, 0.5 * length)
    tip = moved(cone(0.4 * head, head), np.eye(3), np.array((0.0, 0.0, length - head / 2)))
    return joined([rod(0.6 * unit, length - head), tip])
