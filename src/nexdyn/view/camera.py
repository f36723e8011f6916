"""Where a scene is seen from, on the page as in pictures: what is up, from which side, how far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nexdyn.model.system import System

FIELD = 0.55
"""Height of what is seen, as an angle [rad]."""
MARGIN = 1.2
"""The frame is so many times as large as what it holds: of its area the subject's box takes 70 % at most."""
ELEVATION = 18.0
"""Above the horizon [deg]."""


class Camera(NamedTuple):
    """R_CW (3, 3), rows right, up, backwards, at `eye` (3,) [m]; `up` of the world; `distance` to what it looks at [m]."""

    R_CW: np.ndarray
    eye: np.ndarray
    up: np.ndarray
    distance: float

    @property
    def target(self) -> np.ndarray:
        """What it looks at (3,) [m]."""
        return np.asarray(self.eye - self.distance * self.R_CW[2])


def up_of(system: System) -> np.ndarray:
    """Against gravity; z where there is none."""
    g = system.gravity
    size = float(np.linalg.norm(g))
    return -g / size if size > 0.0 else np.array([0.0, 0.0, 1.0])


def side(system: System, up: np.ndarray) -> np.ndarray:
    """The horizontal direction from which most is seen: along the axes of the hinges where they are all parallel."""
    x = np.cross((0.0, 1.0, 0.0) if abs(up[1]) < 0.9 else (0.0, 0.0, 1.0), up)
    x /= np.linalg.norm(x)
    y = np.cross(up, x)
    axes = []
    for joint in system.joints.values():
        if joint.about_z and joint.nv:
            R_WP, _ = joint.parent.pose(system.values)
            axes.append(R_WP @ joint.frames(system.values).R_AJ[:, 2])
    if axes and np.linalg.svd(np.array(axes))[1][1:].max(initial=0.0) < 1e-3 * len(axes):
        a = axes[0] - (axes[0] @ up) * up
        if np.linalg.norm(a) > 0.9:
            return np.asarray(a + 0.35 * np.cross(up, a))
    return np.asarray(x - 1.3 * y)


def corners(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The corners (8, 3) of a box [m]."""
    return np.array([[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i, j, k in np.ndindex(2, 2, 2)])


def look(
    system: System,
    points: np.ndarray,
    aspect: float,
    azimuth: float | None = None,
    elevation: float = ELEVATION,
    field: float = FIELD,
) -> Camera:
    """A camera that has `points` (n, 3) in sight, `aspect` times as wide as high.

    azimuth [deg]: about `up`, 0 from x (of the world, or the nearest to it across up); None chooses a side that shows
    much. elevation [deg]: above the horizon. field [rad]: height of what is seen.
    """  # fmt: skip
    up = up_of(system)
    if azimuth is None:
        out = side(system, up)
    else:
        x = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
        x = x - (x @ up) * up
        angle = np.radians(azimuth)
        out = np.cos(angle) * x / np.linalg.norm(x) + np.sin(angle) * np.cross(up, x / np.linalg.norm(x))
    out = out - (out @ up) * up
    out /= np.linalg.norm(out)
    rise = np.radians(elevation)
    back = np.cos(rise) * out + np.sin(rise) * up
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    R_CW = np.stack([right, np.cross(back, right), back])
    high = np.tan(field / 2) / MARGIN
    p = points @ R_CW.T
    middle = (p.min(axis=0) + p.max(axis=0)) / 2
    # |x| ≤ aspect tan(φ/2) (d − z), |y| ≤ tan(φ/2) (d − z) for all points
    for _ in range(3):
        r = p - middle
        wide = np.maximum(np.abs(r[:, 0]) / (aspect * high), np.abs(r[:, 1]) / high)
        distance = float((wide + r[:, 2]).max())
        d = distance - r[:, 2]
        seen = r[:, :2] / d[:, None]
        middle[:2] += (seen.min(axis=0) + seen.max(axis=0)) / 2 * distance
    distance = max(distance, 1e-6)
    return Camera(R_CW, (middle + distance * np.array([0.0, 0.0, 1.0])) @ R_CW, up, distance)


def camera_at(system: System, eye: Sequence[float], target: Sequence[float]) -> Camera:
    """A camera at `eye` (3,) that looks at `target` (3,) [m]; straight up or down, x is to its right."""
    up, p = up_of(system), np.asarray(eye, dtype=float)
    back = p - np.asarray(target, dtype=float)
    distance = float(np.linalg.norm(back))
    back /= distance
    right = np.cross(up, back)
    if np.linalg.norm(right) < 1e-9:
        right = np.cross((0.0, 1.0, 0.0) if abs(up[1]) < 0.9 else (0.0, 0.0, 1.0), back)
    right /= np.linalg.norm(right)
    return Camera(np.stack([right, np.cross(back, right), back]), p, up, distance)
