"""Surfaces by formulas: what shapes, links and marks are drawn with. A piece is a surface that is fixed to a body."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from nexdyn.geometry.hull import surface as hull_surface

Color = tuple[float, float, float, float]
AROUND, WHEEL = 32, 96
"""Edges of what is round, and of cylinders, which may be as large as wheels."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles: `vertices` (n, 3) [m], `faces` (m, 3) counterclockwise from outside; `smooth`: shade across edges."""

    vertices: np.ndarray
    faces: np.ndarray
    smooth: bool = True

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest x, y, z (3,) [m] of the vertices."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def scaled(self, scale: Iterable[float]) -> Surface:
        """The surface stretched along its axes; a mirrored one keeps its outside."""
        s = np.asarray(tuple(scale), dtype=np.float32)
        faces = self.faces if s.prod() > 0.0 else self.faces[:, ::-1]
        return Surface(self.vertices * s, np.ascontiguousarray(faces), self.smooth)


class Piece(NamedTuple):
    """A surface fixed to `body` ("ground" is one) at R_BS (3, 3), p_BS (3,) [m], in one colour."""

    body: str
    name: str
    surface: Surface
    R_BS: np.ndarray
    p_BS: np.ndarray
    color: Color


def with_z(z: np.ndarray) -> np.ndarray:
    """A rotation whose third column is along z."""
    z = z / np.linalg.norm(z)
    x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


@lru_cache(maxsize=1024)
def box(size: tuple[float, float, float]) -> Surface:
    """Six faces of four vertices each, so that its edges stay sharp."""
    vertices: list[np.ndarray] = []
    faces = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = np.eye(3)[(axis + 1) % 3], sign * np.eye(3)[(axis + 2) % 3]
            n, first = sign * np.eye(3)[axis], len(vertices)
            vertices += [n - u - v, n + u - v, n + u + v, n - u + v]
            faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return made(np.array(vertices) * 0.5 * np.array(size), faces)


@lru_cache(maxsize=16)
def square(size: float) -> Surface:
    """In the plane z = 0."""
    h = size / 2
    return made(np.array([(-h, -h, 0.0), (h, -h, 0.0), (h, h, 0.0), (-h, h, 0.0)]), [(0, 1, 2), (0, 2, 3)])


@lru_cache(maxsize=1024)
def sphere(radius: float) -> Surface:
    return revolved(_arc(radius, -np.pi / 2, np.pi / 2, AROUND // 2))


@lru_cache(maxsize=1024)
def capsule(radius: float, length: float) -> Surface:
    low, high = _arc(radius, -np.pi / 2, 0.0, AROUND // 4), _arc(radius, 0.0, np.pi / 2, AROUND // 4)
    half = np.array((0.0, length / 2))
    return revolved(np.concatenate([low - half, high + half]))


@lru_cache(maxsize=1024)
def cylinder(radius: float, length: float) -> Surface:
    """The ends have vertices of their own, so that their edges stay sharp."""
    r, h = radius, length / 2
    side = revolved(np.array([(r, -h), (r, h)]), WHEEL)
    ends = [revolved(np.array(line), WHEEL) for line in ([(0.0, -h), (r, -h)], [(r, h), (0.0, h)])]
    return joined([side, *ends])


@lru_cache(maxsize=1024)
def hull(points: tuple[tuple[float, ...], ...]) -> Surface:
    """Equal hulls share one surface, so that they are drawn together."""
    corners = hull_surface(np.array(points))[2]
    return made(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


@lru_cache(maxsize=1024)
def cone(radius: float, length: float) -> Surface:
    """The base has vertices of its own, so that its edge stays sharp."""
    r, h = radius, length / 2
    parts = [np.array(line) for line in ([(0.0, -h), (r, -h)], [(r, -h), (0.0, h)])]
    return joined([revolved(line, WHEEL) for line in parts])


def _arc(radius: float, start: float, end: float, count: int) -> np.ndarray:
    """Points (count + 1, 2): distance from the axis and height, on a circle about the origin."""
    angle = np.linspace(start, end, count + 1)
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def revolved(profile: np.ndarray, around: int = AROUND) -> Surface:
    """The surface that a line of points (distance from z, height), from below to above, sweeps about z."""
    rings = []
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    for rho, z in profile:
        count = 1 if rho < 1e-12 * np.abs(profile).max() else around
        ring = np.column_stack([rho * np.cos(angle), rho * np.sin(angle), np.full(around, z)])
        rings.append(ring[:count] * (1.0 if count > 1 else (0.0, 0.0, 1.0)))
    faces, first = [], 0
    for low, high in itertools.pairwise(rings):
        n, m = len(low), len(high)
        for i in range(around):
            a, b = first + i % n, first + (i + 1) % n
            c, d = first + n + i % m, first + n + (i + 1) % m
            faces += [face for face in ((a, b, d), (a, d, c)) if len(set(face)) == 3]
        first += n
    return made(np.concatenate(rings), faces)


def coil(radius: float, wire: float, length: float, turns: int) -> Surface:
    """A round wire that winds about z from 0 to `length`, its ends on the axis."""
    s = np.linspace(0.0, 1.0, 16 * turns + 1)
    out = radius * np.clip(np.minimum(s, 1.0 - s) / 0.06, 0.0, 1.0)
    angle = 2.0 * np.pi * turns * s
    line = np.column_stack([out * np.cos(angle), out * np.sin(angle), length * s])
    return wire_along(line, np.column_stack([np.cos(angle), np.sin(angle), np.zeros(len(s))]), wire)


def wire_along(line: np.ndarray, outward: np.ndarray, wire: float) -> Surface:
    """A round wire of radius `wire` along points (n, 3), at each of which `outward` (n, 3) is across it."""
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = np.cross(along, outward)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    outward = np.cross(across, along)
    n, turn = 8, np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    rings = line[:, None] + wire * (np.cos(turn)[:, None] * outward[:, None] + np.sin(turn)[:, None] * across[:, None])
    first = n * np.arange(len(line) - 1)[:, None] + np.arange(n)
    after = n * np.arange(len(line) - 1)[:, None] + (np.arange(n) + 1) % n
    quads = np.stack([first, after, after + n, first + n], axis=-1).reshape(-1, 4)
    return made(rings.reshape(-1, 3), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]))


def ring(radius: float, width: float, height: float) -> Surface:
    """A flat ring about z, `radius` its outer one, its section `width` × `height`; sharp edges."""
    low, high, inside = -height / 2, height / 2, radius - width
    corners = [(radius, low), (radius, high), (inside, high), (inside, low), (radius, low)]
    return joined([revolved(np.array(side), WHEEL) for side in itertools.pairwise(corners)])


def moved(surface: Surface, R: np.ndarray, p: np.ndarray) -> Surface:
    """The surface turned by R (3, 3) and shifted by p (3,) [m]."""
    return made(surface.vertices @ np.asarray(R).T + p, surface.faces, surface.smooth)


def joined(surfaces: list[Surface]) -> Surface:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(s.vertices) for s in surfaces)])
    faces = np.concatenate([s.faces + start for s, start in zip(surfaces, starts, strict=False)])
    return made(np.concatenate([s.vertices for s in surfaces]), faces, surfaces[0].smooth)


def made(vertices: np.ndarray, faces: Any, smooth: bool = True) -> Surface:
    v, f = np.ascontiguousarray(vertices, dtype=np.float32), np.ascontiguousarray(faces, dtype=np.int32)
    v.setflags(write=False)
    f.setflags(write=False)
    return Surface(v, f, smooth)
