"""Which body a line of sight meets first, and where: the line o + s d, s > 0, against the triangles that are drawn.

    a + u (b − a) + v (c − a) = o + s d,   0 ≤ u, v,  u + v ≤ 1        in the frame of each surface

Surfaces whose ball the line misses are left out. Where the line comes through the plane of a section it meets the faces that this leaves
(caps.py): of a surface that it leaves more often beyond the plane than it enters it. Of several the smallest lies before the others.

Source: Möller and Trumbore, J. Graphics Tools 2 (1997), 21.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.motion import Frame
from nexdyn.view.section import Section
from nexdyn.view.surfaces import Piece


class Hit(NamedTuple):
    """A body, the point p_B (3,) in its frame and p_W in the world [m], and its distance along the line [m]."""

    body: str
    p_B: np.ndarray
    p_W: np.ndarray
    distance: float


class Picker:
    """Finds what is hit of the pieces that are drawn; `row` is that of each body in a frame."""

    def __init__(self, drawn: list[Piece], row: dict[str, int]) -> None:
        self._pieces = [piece for piece in drawn if len(piece.surface.faces)]
        self._rows = np.array([row[piece.body] for piece in self._pieces], dtype=int)
        middles = [(p.surface.vertices.min(axis=0) + p.surface.vertices.max(axis=0)) / 2 for p in self._pieces]
        self._middle = np.array(
            [p.R_BS @ m + p.p_BS for p, m in zip(self._pieces, middles, strict=True)]
        ).reshape(-1, 3)  # fmt: skip
        self._radius = np.array(
            [
                np.sqrt(((p.surface.vertices - m) ** 2).sum(axis=1).max())
                for p, m in zip(self._pieces, middles, strict=True)
            ]
        )

    def pick(
        self, f: Frame, origin: np.ndarray, direction: np.ndarray, section: Section | None = None, caps: bool = True
    ) -> Hit | None:
        """What the line from `origin` (3,) [m] along `direction` (3,) meets first at the moment `f` of what a section leaves; caps: with
        the faces that it leaves."""
        length = float(np.linalg.norm(direction))
        if not self._pieces or not length > 0.0 or not np.isfinite([*origin, *direction]).all():
            return None
        d = direction / length
        part = (0.0, np.inf) if section is None else section.sight(origin, d)
        R, p = rotation_matrix(f.quaternion[self._rows].astype(float)), f.position[self._rows].astype(float)
        to = p + np.einsum("nij,nj->ni", R, self._middle) - origin
        along = to @ d
        near = (((to**2).sum(axis=1) - along**2) <= self._radius**2) & (along > -self._radius)
        found: Hit | None = None
        smallest = np.inf  # radius of what the plane has cut where the line comes through it
        for k in np.flatnonzero(near)[np.argsort((along - self._radius)[near])]:
            if found is not None and along[k] - self._radius[k] > max(found.distance, part[0]):
                break
            piece = self._pieces[k]
            R_WS = R[k] @ piece.R_BS
            o = R_WS.T @ (origin - p[k] - R[k] @ piece.p_BS)
            s, inside = _first(piece, o, R_WS.T @ d, *part)
            if caps and inside and part[0] > 0.0:
                if self._radius[k] >= smallest:
                    continue
                s, smallest = part[0], self._radius[k]
            elif smallest < np.inf:
                continue
            if s < (np.inf if found is None else found.distance) or s == part[0]:
                p_W = origin + s * d
                found = Hit(piece.body, R[k].T @ (p_W - p[k]), p_W, s)
        return found


def _first(piece: Piece, o: np.ndarray, d: np.ndarray, least: float, most: float) -> tuple[float, bool]:
    """The least s of a hit between two limits, infinity where there is none; and whether the line is inside at the lower one."""
    a, b, c = (piece.surface.vertices[piece.surface.faces[:, k]].astype(float) for k in range(3))
    e, g = b - a, c - a
    h = np.cross(d, g)
    det = np.einsum("ni,ni->n", e, h)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = o - a
        u = np.einsum("ni,ni->n", r, h) / det
        w = np.cross(r, e)
        v, s = (w @ d) / det, np.einsum("ni,ni->n", g, w) / det
        hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (s > least) & (s <= most)
    return float(s[hit].min(initial=np.inf)), bool(np.sign(det[hit]).sum() < 0.0)
