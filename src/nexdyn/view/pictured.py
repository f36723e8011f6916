"""Marks of pictures that the page has as layers and on what is selected: frames, names, ellipsoids, centres of mass, measured points.

They are those of the page (marks.py, highlight.py, ruler.py): solids join the bodies' mesh, lines and words lie before it.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.errors import unknown
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.marks import CENTER, INERTIA, MANY, MOST_NAMES, ellipsoids, frame_on_carried, named
from nexdyn.view.overlays import HALF, Lines
from nexdyn.view.ruler import COLOR as RULED
from nexdyn.view.surfaces import Piece, sphere

if TYPE_CHECKING:
    from nexdyn.model.system import System
    from nexdyn.view.motion import Frame

XYZ = ((0.84, 0.15, 0.16), (0.17, 0.63, 0.17), (0.12, 0.35, 0.85))
"""Colours of the axes of frames."""
SEE_THROUGH = 0.45
"""Opacity of the ellipsoids of inertia."""
OUTLINE = (250, 140, 10)
"""Colour of the outline of the selected body, of 255."""


class Frames(NamedTuple):
    """Frames that are fixed to the bodies `row`: attitude (n, 3, 3), place (n, 3) [m] in them, and the length [m] of their axes."""

    row: np.ndarray
    R: np.ndarray
    p: np.ndarray
    length: float

    def lines(self, f: Frame) -> Lines:
        """Their axes at a moment."""
        R_WB, p_WB = rotation_matrix(f.quaternion[self.row].astype(float)), f.position[self.row].astype(float)
        at, R = p_WB + np.einsum("nij,nj->ni", R_WB, self.p), R_WB @ self.R
        return [
            (np.stack([p, p + self.length * axes[:, k]]), HALF, XYZ[k])
            for p, axes in zip(at, R, strict=True)
            for k in range(3)
        ]


def body_frames(bodies: list[str], size: float) -> Frames:
    """The frames of bodies, in a scene of `size` [m]."""
    n = len(bodies)
    return Frames(np.arange(n), np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)), (0.06 if n < MANY else 0.02) * size)


def joint_frames(system: System, row: dict[str, int], size: float, only: str = "") -> Frames:
    """The frames of joints on their children; of the joint `only` alone, larger, where that is given."""
    joints = [joint for joint in system.joints.values() if joint.carried.name in row and only in ("", joint.name)]
    found = [frame_on_carried(joint, system.values) for joint in joints]
    share = 0.15 if only else 0.05 if len(joints) < MANY else 0.018
    return Frames(
        np.array([row[joint.carried.name] for joint in joints], dtype=int),
        np.array([R for R, _ in found]).reshape(-1, 3, 3),
        np.array([p for _, p in found]).reshape(-1, 3),
        share * size,
    )


def solids(system: System, row: dict[str, int], size: float, inertia: bool, centers: bool) -> list[Piece]:
    """The ellipsoids of inertia, and balls at the centres of mass."""
    found, ball = [], sphere(1.0)
    for body, R, p, axes in ellipsoids(system, row, size) if inertia else []:
        found.append(Piece(body, "inertia", ball.scaled(axes), R, p, (*_part(INERTIA), SEE_THROUGH)))
    heavy = {name: system.bodies[name].resolved(system.values) for name in row if name in system.bodies}
    heavy = {name: body for name, body in heavy.items() if body.mass > 0.0} if centers else {}
    small = sphere((0.012 if len(heavy) < MANY else 0.005) * size)
    return found + [
        Piece(name, "centre of mass", small, np.eye(3), body.com, (*_part(CENTER), 1.0)) for name, body in heavy.items()
    ]


def words_at(system: System, row: dict[str, int]) -> list[tuple[str, int, np.ndarray]]:
    """The names of joints and bodies, and where they are written: row of the body, and place (3,) [m] in it."""
    return named(system, row)[:MOST_NAMES]


def selected_of(system: System, bodies: list[str], given: str) -> tuple[str, str]:
    """ "body" or "joint", and the name, of what is to be marked: "body:NAME", "joint:NAME", or a name of either; UnknownNameError."""
    kind, colon, name = given.partition(":")
    if not given:
        return "", ""
    if colon and kind in ("body", "joint"):
        valid = bodies if kind == "body" else list(system.joints)
        if name not in valid:
            raise unknown(kind, name, valid)
        return kind, name
    if given in bodies or given in system.joints:
        return ("body" if given in bodies else "joint"), given
    raise unknown("body or joint", given, [*bodies, *system.joints], plural="bodies and joints")


def outlined(image: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The picture (h, w, 3) with a line about the pixels that are `inside` (h, w)."""
    from scipy.ndimage import binary_dilation

    around = binary_dilation(inside, iterations=max(2, image.shape[0] // 300)) & ~inside
    image = image.copy()
    image[around] = OUTLINE
    return image


def write(picture: Any, at: list[tuple[float, float]], texts: list[str], height: int, ink: Any, behind: Any) -> None:
    """Words at points of a picture [pixels], with a rim in the colour of what is behind."""
    from PIL import ImageDraw, ImageFont

    drawing, font = ImageDraw.Draw(picture), ImageFont.load_default(height)
    for (x, y), text in zip(at, texts, strict=True):
        for k, line in enumerate(reversed(text.split("\n"))):
            place = x + 3, y - 2 - 1.2 * height * k
            drawing.text(place, line, ink, font, anchor="ls", stroke_width=1, stroke_fill=behind)


def rule(picture: Any, at: list[tuple[float, float]], height: int, behind: Any) -> None:
    """Measured points of a picture [pixels], A, B and C, and the line through them."""
    from PIL import ImageDraw

    drawing, r = ImageDraw.Draw(picture), height / 4
    for (x, y), (u, v) in itertools.pairwise(at):
        drawing.line([x, y, u, v], RULED, max(2, height // 7))
    for x, y in at:
        drawing.ellipse([x - r, y - r, x + r, y + r], RULED)
    write(picture, at, [chr(65 + k) for k in range(len(at))], height, RULED, behind)


def _part(color: tuple[int, int, int]) -> tuple[float, float, float]:
    r, g, b = (x / 255.0 for x in color)
    return r, g, b
