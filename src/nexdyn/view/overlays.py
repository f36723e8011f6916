"""Lines of pictures beside the bodies: arrows of contact forces and of what joints transmit, and the axes of joints.

They are those of the page (arrows.py, marks.py), as lines of a few pixels: points (n, 3) [m], half width [pixels], colour.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.arrows import FORCE, MOMENT, PARTS
from nexdyn.view.marks import AXES, MANY, NO_AXIS, frame_on_carried
from nexdyn.view.motion import Frame, Motion

Lines = list[tuple[np.ndarray, float, Any]]
CONTACT = (0.86, 0.12, 0.55)
HALF = 1.5
"""Half the width of an arrow's lines [pixels]."""
LONGEST = 0.2
"""Length of the largest arrow of what joints transmit, of the extent of all."""


def arrow(start: np.ndarray, end: np.ndarray, sight: np.ndarray, back: float, color: Any) -> Lines:
    """A shaft and the two sides of a head, `back` [m] long, across the line of sight."""
    along = (end - start) / np.linalg.norm(end - start)
    across = np.cross(along, sight)
    across /= max(float(np.linalg.norm(across)), 1e-9)
    sides = np.stack([end - back * (along - 0.5 * across), end, end - back * (along + 0.5 * across)])
    return [(np.stack([start, end]), HALF, color), (sides, HALF, color)]


class Transmitted:
    """Arrows of reactions, and axes of joints; extent [m]: size of all that is drawn."""

    def __init__(self, motion: Motion, row: dict[str, int], extent: float) -> None:
        values = motion.system.values
        joints = [motion.system.joints[name] for name in motion.joints]
        frames = [joint.frames(values) for joint in joints]
        self._row = np.array([row[joint.parent.name] for joint in joints], dtype=int)
        self._R = np.array([x.R_AJ for x in frames]).reshape(-1, 3, 3)
        self._p = np.array([x.p_AJ for x in frames]).reshape(-1, 3)
        self._extent = extent
        turning = [j for j in motion.system.joints.values() if j.kind not in NO_AXIS and j.carried.name in row]
        axes = [frame_on_carried(joint, values) for joint in turning]
        self._axis_row = np.array([row[joint.carried.name] for joint in turning], dtype=int)
        self._axis = np.array([R[:, 2] for R, _ in axes]).reshape(-1, 3)
        self._axis_p = np.array([p for _, p in axes]).reshape(-1, 3)
        wrench = np.zeros((1, len(joints), 6)) if motion.wrench is None else motion.wrench
        sizes = [float(np.linalg.norm(wrench[..., part], axis=-1).max(initial=0.0)) for part in PARTS]
        nothing = 1e-6 * max(sizes[0], sizes[1] / extent)  # what rounding leaves of a moment that is zero
        least = (nothing, nothing * extent)
        self._scale = [LONGEST * extent / size if size > no else 0.0 for size, no in zip(sizes, least, strict=True)]

    def wrenches(self, f: Frame, part: int, length: float, sight: np.ndarray) -> Lines:
        """Arrows of forces (part 0) or moments (part 1) on the children, at the joints' points on the parents; `length` times as long."""
        if f.wrench is None:
            return []
        R, p = rotation_matrix(f.quaternion[self._row].astype(float)), f.position[self._row].astype(float)
        start = p + np.einsum("nij,nj->ni", R, self._p)
        given = np.einsum("nij,njk,nk->ni", R, self._R, f.wrench[:, PARTS[part]].astype(float))
        along = given * self._scale[part] * length
        color = np.array((FORCE, MOMENT)[part]) / 255.0
        found: Lines = []
        for p_J, d in zip(start, along, strict=True):
            size = float(np.linalg.norm(d))
            if size > 1e-3 * self._extent:
                found += arrow(p_J, p_J + d, sight, min(0.035 * self._extent, size), color)
        return found

    def axes(self, f: Frame, sight: np.ndarray) -> Lines:
        """Arrows along the axes of joints, on the children."""
        half = (0.06 if len(self._axis) < MANY else 0.02) * self._extent
        R, p = rotation_matrix(f.quaternion[self._axis_row].astype(float)), f.position[self._axis_row].astype(float)
        at, along = p + np.einsum("nij,nj->ni", R, self._axis_p), np.einsum("nij,nj->ni", R, self._axis)
        color = np.array(AXES) / 255.0
        return [
            line
            for x, z in zip(at, along, strict=True)
            for line in arrow(x - half * z, x + half * z, sight, 0.4 * half, color)
        ]
