"""The faces that a section leaves where it cuts closed surfaces: what would else be seen hollow (scene.js does the same on the page).

    outline      of each triangle that the plane cuts the way from where its edges go out to where they come in: so all ways turn alike
    filling      between the heights of two neighbouring corners of the outline, slabs, its ways are straight; from left to right they
                 are counted, upward +1 and downward −1, and where the sum is not 0 is inside

A surface whose sums do not end at 0 is not closed, and gets no face.
"""

from __future__ import annotations

import numpy as np

MOST = 3000
"""Ways of an outline; longer ones are not filled."""
FINE = 1e-9
"""Heights of corners that differ by less, of the outline's size, are one."""


def outline(position: np.ndarray, faces: np.ndarray, normal: np.ndarray, d: float) -> np.ndarray:
    """The ways (n, 2, 3) [m] in the plane n·x = d where it cuts triangles, faces (m, 3) of vertices `position` (k, 3)."""
    above = position @ normal - d
    out = above[faces] > 0.0
    cut = out.any(axis=1) & ~out.all(axis=1)
    faces, out = faces[cut], out[cut]
    ends = []
    for goes in (True, False):  # out, and in
        k = np.argmax((out != goes) & (np.roll(out, -1, axis=1) == goes), axis=1)
        first, second = (faces[np.arange(len(faces)), (k + j) % 3] for j in (0, 1))
        a, b = (first, second) if goes else (second, first)  # from what is kept, so that neighbours find the same point
        s = (above[a] / (above[a] - above[b]))[:, None]
        ends.append(position[a] + s * (position[b] - position[a]))
    return np.stack(ends, axis=1)


def filled(ways: np.ndarray) -> np.ndarray | None:
    """Triangles (m, 3, 2) that fill an outline, ways (n, 2, 2) in its plane; None for one that is not closed, or too long."""
    if not len(ways) or len(ways) > MOST:
        return None
    size = float(np.ptp(ways.reshape(-1, 2), axis=0).max())
    if not size > 0.0:
        return None
    step = FINE * size
    ways = ways.copy()
    ways[..., 1] = np.round(ways[..., 1] / step) * step
    heights = np.unique(ways[..., 1])
    (x0, y0), (x1, y1) = ways[:, 0].T, ways[:, 1].T
    first, behind = (np.searchsorted(heights, of(y0, y1)) for of in (np.minimum, np.maximum))
    count = behind - first
    way = np.repeat(np.arange(len(ways)), count)  # each with each slab that it crosses
    slab = np.arange(len(way)) + np.repeat(first - np.cumsum(count) + count, count)
    low, high = heights[slab], heights[slab + 1]
    x, y, slope = x0[way], y0[way], ((x1 - x0) / np.where(count > 0, y1 - y0, 1.0))[way]
    at_low, at_high = x + slope * (low - y), x + slope * (high - y)
    order = np.lexsort((at_low + at_high, slab))
    slab, low, high, at_low, at_high = (one[order] for one in (slab, low, high, at_low, at_high))
    turns = np.cumsum(np.sign(y1 - y0)[way[order]])
    last = np.append(slab[1:] != slab[:-1], True)[: len(slab)]
    if turns[last].any():
        return None
    left = np.flatnonzero(turns != 0.0)  # what is right of it is of the same slab, which ends at 0
    right = left + 1
    a, b = np.stack([at_low[left], low[left]], 1), np.stack([at_low[right], low[left]], 1)
    c, e = np.stack([at_high[right], high[left]], 1), np.stack([at_high[left], high[left]], 1)
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, e], axis=1)])


def axes(normal: np.ndarray) -> np.ndarray:
    """Two unit vectors (2, 3) that span the plane across a unit vector."""
    u = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    u /= np.linalg.norm(u)
    return np.stack([u, np.cross(normal, u)])


def cap(position: np.ndarray, faces: np.ndarray, normal: np.ndarray, d: float) -> np.ndarray | None:
    """Triangles (m, 3, 3) [m] of the face where a plane cuts a closed surface; None where there is none."""
    plane = axes(normal)
    flat = filled(outline(position, faces, normal, d) @ plane.T)
    return None if flat is None else flat @ plane + d * normal


def area(triangles: np.ndarray) -> float:
    """Area [m²] of triangles (m, 3, 2) [m] in their plane: of several faces a smaller one is drawn before a larger one."""
    e, g = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    return 0.5 * float(np.abs(e[:, 0] * g[:, 1] - e[:, 1] * g[:, 0]).sum())


def covers(triangles: np.ndarray, x: np.ndarray) -> bool:
    """Whether a point (2,) lies in one of some triangles (m, 3, 2)."""
    to = triangles - x
    turn = np.roll(to, -1, axis=1)
    side = to[..., 0] * turn[..., 1] - to[..., 1] * turn[..., 0]
    return bool(((side >= 0.0).all(axis=1) | (side <= 0.0).all(axis=1)).any())
