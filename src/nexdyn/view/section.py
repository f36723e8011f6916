"""A section: what of the bodies lies beyond a plane across an axis of the world is taken away.

kept:  s (n·x − d) ≤ 0,   n a unit vector of the world, s = 1, or −1 where the side below d is taken away
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.view.placing import turn_z_to

SIDES = ("x", "y", "z", "-x", "-y", "-z")
"""The side that is taken away."""
NODE = "/motion/section"
NOWHERE = 1e12
"""Where the node is that tells of no section [m]; scene.js knows it."""


class Section(NamedTuple):
    """The outward normal (3,) of what is kept, and its plane's place along it [m]:  kept is n·x ≤ d."""

    normal: np.ndarray
    d: float

    def sight(self, origin: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
        """Between which parts s of the line of sight o + s e, s > 0, bodies are seen; infinity, 0 where nowhere."""
        o, e = float(self.normal @ origin) - self.d, float(self.normal @ direction)
        if e == 0.0:
            return (0.0, math.inf) if o <= 0.0 else (math.inf, 0.0)
        return (0.0, max(0.0, -o / e)) if e > 0.0 else (max(0.0, -o / e), math.inf)


def section_of(given: Any) -> Section | None:
    """The section that ("y", 0.1) means: y > 0.1 m is taken away; ("-y", 0.1): y < 0.1 m. InputError for what is none."""
    if given is None:
        return None
    if not isinstance(given, tuple | list) or len(given) != 2 or not isinstance(given[1], int | float | np.number):
        raise InputError(
            f'section is {given!r}; the side that is taken away and a place [m] are needed, like ("y", 0.1)'
        )
    side, at = given
    if side not in SIDES:
        raise unknown("side of a section", str(side), SIDES, plural="sides of a section")
    if not math.isfinite(at):
        raise InputError(f"section is {given!r}; its place is finite")
    sign = -1.0 if side[0] == "-" else 1.0
    return Section(sign * np.eye(3)["xyz".index(side[-1])], sign * float(at))


def opacity_of(given: Any) -> float:
    """The share of light that bodies stop. InputError for what is none."""
    if not isinstance(given, int | float | np.number) or isinstance(given, bool) or not 0.0 < given <= 1.0:
        raise InputError(f"opacity is {given!r}; a number above 0, and 1 at most, is needed")
    return float(given)


def pose_of(section: Section | None) -> tuple[np.ndarray, np.ndarray]:
    """Position and quaternion of the frame that tells the page of the plane, z its outward normal; without a section it is far away."""
    if section is None:
        return np.array((NOWHERE, 0.0, 0.0)), np.array((1.0, 0.0, 0.0, 0.0))
    return section.d * section.normal, turn_z_to(section.normal)


def cut(
    position: np.ndarray, normal: np.ndarray, faces: np.ndarray, section: Section
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What a section leaves of triangles: vertices (n, 3) with those that are new, normals, faces (m, 3), and the face that each is of.

    An edge from a kept corner a to b, which is not, ends in a + s (b − a),  s = (d − n·a) / (n·b − n·a).
    """
    above = position @ section.normal - section.d
    out = above[faces] > 0.0
    count = out.sum(axis=1)
    whole = np.flatnonzero(count == 0)
    new_p, new_n, new_faces, of = [position], [normal], [faces[whole]], [whole]
    first = len(position)
    for many in (1, 2):
        rows = np.flatnonzero(count == many)
        if not len(rows):
            continue
        # turned so that the corner which is alone on its side comes first
        alone = (out[rows] if many == 1 else ~out[rows]).argmax(axis=1)
        a, b, c = (faces[rows, (alone + k) % 3] for k in range(3))
        ends = []
        for other in (b, c):
            s = (above[a] / (above[a] - above[other]))[:, None]
            new_p.append(position[a] + s * (position[other] - position[a]))
            new_n.append(normal[a] + s * (normal[other] - normal[a]))
            ends.append(first + np.arange(len(rows)))
            first += len(rows)
        ab, ac = ends
        if many == 1:
            new_faces += [np.stack([ab, b, c], axis=1), np.stack([ab, c, ac], axis=1)]
            of += [rows, rows]
        else:
            new_faces.append(np.stack([a, ab, ac], axis=1))
            of.append(rows)
    return np.concatenate(new_p), np.concatenate(new_n), np.concatenate(new_faces).astype(np.int32), np.concatenate(of)
