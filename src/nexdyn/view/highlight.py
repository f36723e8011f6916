"""How the selected body or joint is marked on the page: a body by an outline, a joint by the axes of its frame.

An outline is the body's own surface, a little larger and seen from inside:  v + d n,  n the mean normal at the vertex.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.model.system import System
from nexdyn.spatial.rotations import quaternion
from nexdyn.view.marks import Marks, on_children
from nexdyn.view.motion import Frame
from nexdyn.view.surfaces import Piece, Surface

COLOR = (250, 140, 10)
NAME = "/motion/selected"
WIDTH, OF_BODY = 0.003, 0.03
"""Of an outline, of the size of the scene and, at most, of the body."""


class Highlight:
    """The mark of one body or joint, as a node that `show` puts where it belongs."""

    def __init__(
        self, scene: Any, system: System, drawn: list[Piece], row: dict[str, int], key: str, f: Frame, size: float
    ) -> None:
        kind, _, name = key.partition(":")
        self._scene = scene
        if kind == "joint":
            joint = system.joints[name]
            self._marks = on_children(system, [joint], row)
            at, q = self._marks.at(f)
            self.node = scene.add_frame(
                NAME, axes_length=0.15 * size, axes_radius=0.005 * size, origin_color=COLOR, origin_radius=0.012 * size,
                position=at[0], wxyz=q[0],
            )  # fmt: skip
            return
        self._marks = Marks([row[name]], [np.eye(3)], [np.zeros(3)])
        at, q = self._marks.at(f)
        self.node = scene.add_frame(NAME, show_axes=False, position=at[0], wxyz=q[0])
        for k, piece in enumerate(piece for piece in drawn if piece.body == name):
            extent = float(np.ptp(piece.surface.vertices, axis=0).max())
            outline = larger(piece.surface, min(WIDTH * size, OF_BODY * extent))
            scene.add_mesh_simple(
                f"{NAME}/piece{k}", outline.vertices, outline.faces, color=COLOR, side="back", material="toon3",
                cast_shadow=False, receive_shadow=False, wxyz=quaternion(piece.R_BS), position=piece.p_BS,
            )  # fmt: skip

    def show(self, _: float, f: Frame) -> None:
        """Put it where its body is."""
        at, q = self._marks.at(f)
        self.node.position, self.node.wxyz = at[0], q[0]

    def remove(self) -> None:
        """Take it away."""
        self.node.remove()


def larger(surface: Surface, by: float) -> Surface:
    """The surface moved outwards by `by` [m], without gaps where several vertices lie at one place."""
    v, f = surface.vertices.astype(float), surface.faces
    a, b, c = (v[f[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    scale = max(float(np.ptp(v, axis=0).max()), 1e-30)
    _, place = np.unique(np.round(v / scale * 1e5).astype(np.int64), axis=0, return_inverse=True)
    place = place.reshape(-1)
    total = np.zeros((place.max() + 1, 3))
    for k in range(3):
        np.add.at(total, place[f[:, k]], normals)
    total /= np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-30)
    return Surface((v + by * total[place]).astype(np.float32), f, surface.smooth)
