"""Which body a line of sight meets first, and where: the line o + s d, s > 0, against the triangles that are drawn.

    a + u (b − a) + v (c − a) = o + s d,   0 ≤ u, v,  u + v ≤ 1        in the frame of each surface

Surfaces whose ball the line misses are left out. Where the line comes through the plane of a section it meets the faces that this leaves
(caps.py), as they are drawn: of closed surfaces that are not seen through. Of several the smallest lies before the others.

Source: Möller and Trumbore, J. Graphics Tools 2 (1997), 21.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.caps import area, axes, covers, filled, outline
from nexdyn.view.motion import Frame
from nexdyn.view.section import Section
from nexdyn.view.surfaces import Piece


class Hit(NamedTuple):
    """A body, the point p_B (3,) in its frame and p_W in the world [m], and its distance along the line [m]."""

    body: str
    p_B: np.ndarray
    p_W: np.ndarray
    distance: float


class Face(NamedTuple):
    """The face that the plane n·x = d leaves, in the axes of a surface: triangles (m, 3, 2) [m], none where it is not drawn; their area."""

    n: np.ndarray
    d: float
    triangles: np.ndarray
    area: float


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
        # what shares a surface is drawn together (stage.py), and has no face where one of it is seen through
        clear = {id(piece.surface) for piece in drawn if piece.color[3] < 1.0}
        self._opaque = np.array([id(piece.surface) not in clear for piece in self._pieces], dtype=bool)
        self._faces: dict[int, Face] = {}

    def pick(
        self, f: Frame, origin: np.ndarray, direction: np.ndarray, section: Section | None = None, caps: bool = True
    ) -> Hit | None:
        """What the line from `origin` (3,) [m] along `direction` (3,) meets first at the moment `f` of what a section leaves; caps: with
        the faces that it leaves."""
        length = float(np.linalg.norm(direction))
        if not self._pieces or not length > 0.0 or not np.isfinite([*origin, *direction]).all():
            return None
        d = direction / length
        least, most = (0.0, np.inf) if section is None else section.sight(origin, d)
        if most <= least:
            return None
        R, p = rotation_matrix(f.quaternion[self._rows].astype(float)), f.position[self._rows].astype(float)
        to = p + np.einsum("nij,nj->ni", R, self._middle) - origin
        along = to @ d
        near = (((to**2).sum(axis=1) - along**2) <= self._radius**2) & (along > -self._radius)
        if caps and section is not None and least > 0.0:  # it comes through the plane
            cut = near & self._opaque & (np.abs(along - least) <= self._radius)
            k = self._face_at(origin + least * d, np.flatnonzero(cut), R, p, section)
            if k is not None:
                return self._hit(k, origin + least * d, least, R, p)
        found, nearest = None, np.inf
        for k in np.flatnonzero(near)[np.argsort((along - self._radius)[near])]:
            if along[k] - self._radius[k] > nearest:
                break
            piece = self._pieces[k]
            R_WS = R[k] @ piece.R_BS
            o = R_WS.T @ (origin - p[k] - R[k] @ piece.p_BS)
            s = _first(piece, o, R_WS.T @ d, least, most)
            if s < nearest:
                found, nearest = int(k), s
        return None if found is None else self._hit(found, origin + nearest * d, nearest, R, p)

    def _hit(self, k: int, p_W: np.ndarray, distance: float, R: np.ndarray, p: np.ndarray) -> Hit:
        return Hit(self._pieces[k].body, R[k].T @ (p_W - p[k]), p_W, distance)

    def _face_at(
        self, x: np.ndarray, among: np.ndarray, R: np.ndarray, p: np.ndarray, section: Section
    ) -> int | None:  # fmt: skip
        """Of which of some pieces the face is that is drawn at a point (3,) [m] of a section's plane: the smallest; None where none is."""
        found, smallest = None, np.inf
        for k in among:
            piece = self._pieces[k]
            R_WS, p_WS = R[k] @ piece.R_BS, p[k] + R[k] @ piece.p_BS
            face = self._face(int(k), R_WS.T @ section.normal, section.d - float(section.normal @ p_WS))
            if face.area <= smallest and covers(face.triangles, axes(face.n) @ (R_WS.T @ (x - p_WS))):
                found, smallest = int(k), face.area
        return found

    def _face(self, k: int, n: np.ndarray, d: float) -> Face:
        """The face of a piece, found anew where the plane lies otherwise in it than at the last time."""
        known = self._faces.get(k)
        if known is None or known.d != d or not np.array_equal(known.n, n):
            surface = self._pieces[k].surface
            flat = filled(outline(surface.vertices.astype(float), surface.faces, n, d) @ axes(n).T)
            triangles = np.zeros((0, 3, 2)) if flat is None else flat
            known = self._faces[k] = Face(n, d, triangles, area(triangles))
        return known


def _first(piece: Piece, o: np.ndarray, d: np.ndarray, least: float, most: float) -> float:
    """The least s of a hit between two limits, infinity where there is none."""
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
    return float(s[hit].min(initial=np.inf))
