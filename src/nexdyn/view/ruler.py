"""Distances and angles between points of bodies, told at the shown time and drawn as a line through them.

d = |p_2 − p_1|,   Δ = p_2 − p_1;   at the middle one of three:  cos φ = (p_1 − p_2)·(p_3 − p_2) / (|…| |…|)
"""

from __future__ import annotations

import html
from typing import Any, NamedTuple

import numpy as np

from nexdyn.view.motion import Frame
from nexdyn.view.placing import linear, turned
from nexdyn.view.surfaces import sphere
from nexdyn.view.units import Units
from nexdyn.view.words import Words

MOST = 3
"""Points that are kept; a further one begins anew."""
COLOR = (0, 150, 200)


class Point(NamedTuple):
    """A point p_B (3,) [m] in the frame of a body ("ground" is one)."""

    body: str
    p_B: np.ndarray


class Ruler:
    """Points of bodies; `row` is that of each body in a frame."""

    def __init__(self, scene: Any, points: list[Point], row: dict[str, int], f: Frame, size: float) -> None:
        self.points, self._rows = points, np.array([row[point.body] for point in points])
        self._p = np.array([point.p_B for point in points], dtype=np.float32)
        ball, at = sphere(0.008 * size), self.places(f)
        turn = np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (len(points), 1))
        self._balls = scene.add_batched_meshes_simple(
            "/motion/points", ball.vertices, ball.faces, turn, at, batched_colors=linear(np.array(COLOR) / 255.0),
            lod="off", cast_shadow=False,
        )  # fmt: skip
        self._line = scene.add_line_segments(
            "/motion/ruler", self._segments(at), COLOR, thickness=3.0, thickness_units="screen"
        )

    def places(self, f: Frame) -> np.ndarray:
        """The points (n, 3) in the world [m]."""
        return np.asarray(f.position[self._rows] + turned(f.quaternion[self._rows], self._p), dtype=np.float32)

    def show(self, _: float, f: Frame) -> None:
        """Put points and line where they are."""
        at = self.places(f)
        self._balls.batched_positions, self._line.points = at, self._segments(at)

    def remove(self) -> None:
        """Take them away."""
        self._balls.remove()
        self._line.remove()

    def _segments(self, at: np.ndarray) -> np.ndarray:
        return np.stack([at[:-1], at[1:]], axis=1) if len(at) > 1 else np.stack([at, at], axis=1)

    def text(self, f: Frame, units: Units, words: Words) -> str:
        """Places, distances and the angle as an HTML table."""
        from nexdyn.view.cards import table_row

        p = self.places(f).astype(float)
        names = [f"{chr(65 + k)} ({html.escape(point.body)})" for k, point in enumerate(self.points)]
        rows = [table_row(name, at, "m", units) for name, at in zip(names, p, strict=True)]
        for k in range(len(p) - 1):
            pair = f"{chr(65 + k)}{chr(66 + k)}"
            rows.append(table_row(f"|{pair}|", np.array([np.linalg.norm(p[k + 1] - p[k])]), "m", units))
            rows.append(table_row(f"Δ {pair}", p[k + 1] - p[k], "m", units))
        if len(p) == 3:
            rows.append(table_row(words("angle at B"), np.array([angle(*p)]), "rad", units))
        title = html.escape(words("Measured"))
        return f'<table class="nexdyn-card nexdyn-ruler"><caption>{title}</caption>{"".join(rows)}</table>'


def angle(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """The angle at b [rad]: atan2 of the product's size and the scalar product, exact for small ones too."""
    u, v = a - b, c - b
    return float(np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v))
