"""Shapes as surfaces of triangles, to be compared with meshes.

sphere, capsule           a point, a segment, and a margin: exact
box, hull                 their triangles: exact
cylinder, cone, ellipsoid inscribed polyhedra of 64 sides: their surface lies inside by at most r (1 − cos π/64) = 0.0012 r
                          with r the radius (the largest semi-axis; of an ellipsoid twice that, for both of its angles)

`facets` has them, spheres and capsules as solids that press, not inscribed but of the same volume.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.geometry import hierarchy
from nexdyn.geometry.hull import surface as hull_surface
from nexdyn.geometry.kinds import PAGES
from nexdyn.geometry.mesh import MeshTables, Surface, chord_error, mesh

SIDES = 64


def surface_of(name: str, **sizes: Any) -> Surface:
    """The surface of a shape of kinds.py; InputError for one that is none, or has no end."""
    page = PAGES.get(name)
    if page is None:
        raise unknown("shape", name, PAGES)
    if name == "half-space":
        raise InputError("a half-space has no end; it has no distance from a mesh")
    (x, y, z), margin, _ = page.made(**sizes)
    if name in ("sphere", "capsule"):
        return _wire(z, margin)
    corners: Any
    if name == "hull":
        corners = hull_surface(**sizes)[2]
        made = mesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3), "the hull")
        return made.surface
    if name == "box":
        corners = [(i, j, k) for i in (-x, x) for j in (-y, y) for k in (-z, z)]
    elif name == "ellipsoid":
        corners = np.array([x, y, z]) * _ball()
    else:
        rim = _circle(x)
        low = np.column_stack([rim, np.full(SIDES, -z)])
        top = [(0.0, 0.0, z)] if name == "cone" else np.column_stack([rim, np.full(SIDES, z)])
        corners = np.vstack([low, top])
    outside = 0.0 if name == "box" else chord_error(max(x, y, z) if name == "ellipsoid" else x, SIDES)
    return surface_of("hull", points=corners)._replace(outside=(2.0 if name == "ellipsoid" else 1.0) * outside)


FACETS = 96
"""How many facets a round solid has around it that presses by facets."""


def facets(name: str, **sizes: float | tuple[float, ...]) -> Surface:
    """A sphere, a capsule, a cylinder, a cone or an ellipsoid of flat facets, FACETS around the cylinder and the cone and SIDES around the
    others, with the volume of the round one; InputError for other shapes."""
    (x, y, z), margin, _ = PAGES[name].made(**sizes)
    if name in ("cylinder", "cone"):
        # of equal area across the axis
        rim = _circle(x, FACETS) / math.sqrt(0.5 * FACETS / math.pi * math.sin(2.0 * math.pi / FACETS))
        low = np.column_stack([rim, np.full(FACETS, -z)])
        top = [(0.0, 0.0, z)] if name == "cone" else np.column_stack([rim, np.full(FACETS, z)])
        return surface_of("hull", points=np.vstack([low, top]))
    if name not in ("sphere", "capsule", "ellipsoid"):
        raise InputError(f"a {name} is not round; it needs no facets")
    from scipy.spatial import ConvexHull  # 0.1 s: only for meshes of round shapes

    ball = _ball()
    ball *= (4.0 / 3.0 * math.pi / ConvexHull(ball).volume) ** (1.0 / 3.0)
    if name == "ellipsoid":
        return surface_of("hull", points=np.array([x, y, z]) * ball)
    ends = [margin * ball[up * ball[:, 2] >= -1e-9] + np.array([0.0, 0.0, up * z]) for up in (1.0, -1.0)]
    return surface_of("hull", points=np.vstack(ends))


def _circle(radius: float, sides: int = SIDES) -> np.ndarray:
    angle = 2.0 * np.pi / sides * np.arange(sides)
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _ball() -> np.ndarray:
    """Points of the unit sphere: SIDES meridians, half as many parallels, the poles."""
    latitude = np.linspace(-0.5 * np.pi, 0.5 * np.pi, SIDES // 2 + 1)[1:-1]
    rings = [np.column_stack([np.cos(v) * _circle(1.0), np.full(SIDES, np.sin(v))]) for v in latitude]
    return np.vstack([*rings, [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)]])


def _wire(half: float, margin: float) -> Surface:
    """The segment from −half to half along z, a triangle without area whose first edge it is, swept by a ball."""
    corners = np.array([[0.0, 0.0, -half, 0.0, 0.0, half, 0.0, 0.0, half]])
    child = np.array([-1])
    tables = MeshTables(
        corners, np.zeros((1, 21)), hierarchy.nodes_of(corners, child), child, np.array([1]), corners[:, :3].copy(),
        np.array([half, 1.0]),
    )  # fmt: skip
    return Surface(tables, margin, hashlib.sha256(np.array([half, margin]).tobytes()).digest())
