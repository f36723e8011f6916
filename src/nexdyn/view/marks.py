"""Marks that are fixed to bodies, all of a kind in one message: joint axes, body frames, ellipsoids of inertia.

semi-axes of an ellipsoid of even density:  a² = 5 (I_b + I_c − I_a) / 2m
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.model.system import System
from nexdyn.spatial.rotations import quaternion
from nexdyn.view.geometry import sphere
from nexdyn.view.motion import Frame
from nexdyn.view.placing import arrow, linear, placed

AXES, INERTIA = (30, 150, 70), (40, 90, 200)
NO_AXIS = frozenset({"fixed", "free", "spherical", "cartesian", "rod"})
MANY = 40
"""Marks beyond which they are smaller."""


class Marks:
    """Instances of one node, at R_BM (n, 3, 3), p_BM (n, 3) [m] of the bodies in `rows` of a frame."""

    def __init__(self, rows: list[int], R: list[np.ndarray], p: list[np.ndarray]) -> None:
        self.rows = np.array(rows, dtype=int)
        self.q = quaternion(np.array(R).reshape(-1, 3, 3)).astype(np.float32) if rows else np.zeros((0, 4), np.float32)
        self.p = np.array(p, dtype=np.float32).reshape(-1, 3)
        self.handle: Any = None

    def at(self, f: Frame) -> tuple[np.ndarray, np.ndarray]:
        """Position and quaternion of each in the world."""
        return placed(f, self.rows, self.q, self.p)

    def show(self, f: Frame) -> None:
        """Put them where their bodies are."""
        self.handle.batched_positions, self.handle.batched_wxyzs = self.at(f)


def joint_axes(scene: Any, system: System, row: dict[str, int], f: Frame, size: float) -> Marks | None:
    """An arrow along z of the frame of each joint that has an axis, on its child."""
    joints = [joint for joint in system.joints.values() if joint.kind not in NO_AXIS]
    if not joints:
        return None
    frames = [joint.frames(system.values) for joint in joints]
    marks = Marks([row[j.child.name] for j in joints], [x.R_BJ for x in frames], [x.p_BJ for x in frames])
    at, q = marks.at(f)
    vertices, faces = arrow((0.12 if len(joints) < MANY else 0.04) * size)
    marks.handle = scene.add_batched_meshes_simple(
        "/motion/axes", vertices, faces, q, at, batched_colors=linear(np.array(AXES) / 255.0), lod="off"
    )
    return marks


def body_frames(scene: Any, f: Frame, size: float) -> Marks:
    """Axes x, y, z of each body."""
    count = len(f.position) - 1
    marks = Marks(list(range(count)), [np.eye(3)] * count, [np.zeros(3)] * count)
    at, q = marks.at(f)
    length = (0.06 if count < MANY else 0.02) * size
    marks.handle = scene.add_batched_axes("/motion/frames", q, at, axes_length=length, axes_radius=0.05 * length)
    return marks


def inertias(scene: Any, system: System, row: dict[str, int], f: Frame, size: float) -> Marks | None:
    """The ellipsoid of even density of each body with mass, about its centre of mass; of a point mass a small ball."""
    rows, R, p, axes = [], [], [], []
    for name in row:
        body = system.bodies[name].resolved(system.values) if name in system.bodies else None
        if body is not None and body.mass > 0.0:
            moments, turned = np.linalg.eigh(body.inertia)
            turned[:, 2] *= np.linalg.det(turned)
            squared = 2.5 * (moments.sum() - 2.0 * moments) / body.mass
            rows.append(row[name])
            R.append(turned)
            p.append(body.com)
            axes.append(np.sqrt(np.maximum(squared, (0.005 * size) ** 2)))
    if not rows:
        return None
    marks, ball = Marks(rows, R, p), sphere(1.0)
    at, q = marks.at(f)
    marks.handle = scene.add_batched_meshes_simple(
        "/motion/inertia", ball.vertices, ball.faces, q, at, batched_scales=np.array(axes, dtype=np.float32),
        batched_colors=linear(np.array(INERTIA) / 255.0), opacity=0.45, lod="off", cast_shadow=False,
    )  # fmt: skip
    return marks
