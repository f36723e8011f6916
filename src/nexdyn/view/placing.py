"""Poses of what is fixed to bodies, colours as viser takes them, and the arrow of an axis.

p = p_WB + R(q_WB) p_BS,   q = q_WB q_BS,   R(q) v = v + 2 (w u × v + u × (u × v)),   q = (w, u)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.spatial.rotations import cross_product
from nexdyn.view.motion import Frame


def placed(f: Frame, rows: np.ndarray, q: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and quaternion in the world of what is fixed at q, p to the bodies `rows`."""
    a = f.quaternion[rows]
    w, x, y, z = a.T
    W, X, Y, Z = q.T
    out = np.empty_like(q)
    out[:, 0] = w * W - x * X - y * Y - z * Z
    out[:, 1] = w * X + x * W + y * Z - z * Y
    out[:, 2] = w * Y - x * Z + y * W + z * X
    out[:, 3] = w * Z + x * Y - y * X + z * W
    return f.position[rows] + turned(a, p), out


def turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """R(q) v = v + 2 (w u × v + u × (u × v)),  q = (w, u)."""
    w, u = q[:, :1], q[:, 1:]
    uv = cross_product(u, v)
    return np.asarray(v + 2.0 * (w * uv + cross_product(u, uv)))


def rgb(color: Any) -> tuple[int, int, int]:
    r, g, b = (round(255 * part) for part in color[:3])
    return r, g, b


def linear(color: Any) -> tuple[int, int, int]:
    """The colour of an instance in a batch, which viser takes as linear light: c ↦ ((c + 0.055)/1.055)^2.4."""
    c = np.asarray(color[:3], dtype=float)
    return rgb(np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4).tolist())


def turn_z_to(up: np.ndarray) -> np.ndarray:
    """The quaternion of the shortest turn from z to `up`."""
    if up[2] < -0.999999:
        return np.array((0.0, 1.0, 0.0, 0.0))
    q = np.array((1.0 + up[2], -up[1], up[0], 0.0))
    return np.asarray(q / np.linalg.norm(q))


def arrow(length: float) -> tuple[np.ndarray, np.ndarray]:
    """An arrow along z about its middle: vertices and faces."""
    from nexdyn.view.surfaces import revolved

    r = 0.018 * length
    line = [(0.0, -0.5), (r / length, -0.5), (r / length, 0.38), (3.2 * r / length, 0.38), (0.0, 0.5)]
    surface = revolved(np.array(line) * length)
    return surface.vertices, surface.faces
