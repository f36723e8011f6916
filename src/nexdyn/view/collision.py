"""The shapes that distances and contacts are computed of, as a layer: a little larger than they are, so that they are seen about equal
shapes that are drawn; of a half-space a square of its plane."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from nexdyn.model.system import System
from nexdyn.view.geometry import colliding_pieces
from nexdyn.view.highlight import larger
from nexdyn.view.marks import Marks
from nexdyn.view.motion import Frame
from nexdyn.view.placing import linear
from nexdyn.view.surfaces import Piece

LAYER = "collision shapes"
COLOR, OPACITY = (0, 150, 170), 0.4
OUTWARD = 0.0015
"""Of the size of the scene."""


def collision_pieces(system: System, row: dict[str, int], size: float) -> list[Piece]:
    """The collision shapes of the bodies in `row`, larger by a small part of `size` [m]; equal ones share one surface."""
    made: dict[int, Any] = {}
    r, g, b = (c / 255.0 for c in COLOR)
    found = []
    for piece in colliding_pieces(system, size):
        if piece.body in row:
            surface = made.setdefault(id(piece.surface), larger(piece.surface, OUTWARD * size))
            found.append(piece._replace(surface=surface, color=(r, g, b, OPACITY)))
    return found


class CollisionShapes:
    """All of them on the page: instances of each surface."""

    def __init__(self, scene: Any, drawn: Sequence[Piece], row: dict[str, int], f: Frame) -> None:
        by_surface: dict[int, list[Piece]] = defaultdict(list)
        for piece in drawn:
            by_surface[id(piece.surface)].append(piece)
        self.groups = []
        for k, group in enumerate(by_surface.values()):
            marks = Marks([row[p.body] for p in group], [p.R_BS for p in group], [p.p_BS for p in group])
            at, q = marks.at(f)
            surface = group[0].surface
            marks.handle = scene.add_batched_meshes_simple(
                f"/motion/collision{k}", surface.vertices, surface.faces, q, at, opacity=OPACITY, side="double",
                batched_colors=linear(np.array(COLOR) / 255.0), lod="off", cast_shadow=False, receive_shadow=False,
                flat_shading=not surface.smooth,
            )  # fmt: skip
            self.groups.append(marks)

    @property
    def nodes(self) -> list[Any]:
        """What is seen or not."""
        return [marks.handle for marks in self.groups]

    def show(self, f: Frame) -> None:
        """Put them where their bodies are."""
        for marks in self.groups:
            marks.show(f)
