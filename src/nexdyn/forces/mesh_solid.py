"""Solids as triangles whose depth is known: what a contact of meshes over areas reads (``mesh_overlap``).

    depth in the cell of triangle t     δ(x) = o_t − n_t · x,   0 ≤ δ ≤ ½ thickness
    its sides, one for each edge        ν · (x − p) ≥ 0,   ν = (n_t + n_h) × d/|…|       (d the edge, p its first corner, h the neighbour)

So the cells of two neighbours meet in the plane that halves the angle between them, where both depths are one. A cell ends too where
another triangle at a corner is nearer, o_h − o_t − (n_h − n_t) · x ≥ 0, if each of both lies behind the other and they do not face much
the same way. The thickness is how
far it is from the centre of the triangle along −n_t to where that leaves the solid: what goes in farther is nearer to the other side.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.geometry.height_field import height_field
from nexdyn.geometry.hierarchy import MOST_OPEN
from nexdyn.geometry.mesh import Mesh as Triangles
from nexdyn.geometry.mesh import MeshTables
from nexdyn.geometry.mesh_file import read_mesh
from nexdyn.geometry.mesh_shapes import facets, surface_of
from nexdyn.kernel import formula, kernel
from nexdyn.model.body import Body
from nexdyn.model.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Hull,
    Mesh,
    Shape,
    Sphere,
)
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import Vec3, cross

TURNED, MOST_PLANES = 0.2, 32
"""|n_h − n_t| of triangles at a corner that face much the same way; how many further planes a cell has at most."""
FLAT = 1e-12
"""|n_t + n_h| of two triangles that lie back to back."""
ON_EDGE = 1e-9
"""By how much of an edge a ray may miss a triangle and still be counted as one that leaves through it."""
SLIVER, NO_CELL = 1e-9, -1.0
"""A triangle whose height is no more than this part of its longest edge has no cell, and those around it are neighbours across it."""
NO_MESH = -1
"""The number of a half-space: it has one plane, and no mesh."""


class Cell(Record):
    """Three corners, n, o, ν of the edges pq, qr, rp, half the thickness, first and last further plane."""

    p: Vec3
    q: Vec3
    r: Vec3
    n: Vec3
    offset: float
    pq: Vec3
    qr: Vec3
    rp: Vec3
    deepest: float
    first: float
    last: float


Cells = rows_of(Cell)


class Solid(NamedTuple):
    """cells (nt, 25), their further planes (n, 4), the boxes of a hierarchy over the triangles (2 nt − 1, 6) and their children; centre and
    radius of a ball about all; whether it is closed."""

    cells: np.ndarray
    planes: np.ndarray
    nodes: np.ndarray
    child: np.ndarray
    ball: np.ndarray
    closed: bool


@formula
def passes(nodes, i, x, d):
    """Whether the ray from x along d may meet box i."""
    near, far = 0.0, np.inf
    for c in range(3):
        at = x.x if c == 0 else (x.y if c == 1 else x.z)
        along = d.x if c == 0 else (d.y if c == 1 else d.z)
        low, high = nodes[i, c] - nodes[i, 3 + c] - at, nodes[i, c] + nodes[i, 3 + c] - at
        if along == 0.0:
            if low > 0.0 or high < 0.0:
                return False
        else:
            a, b = low / along, high / along
            near, far = max(near, min(a, b)), min(far, max(a, b))
    return near <= far * (1.0 + 1e-12)


@formula
def corner(cells, t, c):
    """Corner c of cell t."""
    cell = Cells(cells)[t]
    return cell.p if c == 0 else (cell.q if c == 1 else cell.r)


@formula
def wall(cells, t, c):
    """ν of the side of cell t at its edge c."""
    cell = Cells(cells)[t]
    return cell.pq if c == 0 else (cell.qr if c == 1 else cell.rp)


@formula
def normal(cells, t):
    """n of cell t."""
    return Cells(cells)[t].n


@formula
def hit(cells, t, x, d):
    """How far along d the ray from x leaves through triangle t; without end where it does not."""
    n, p = normal(cells, t), corner(cells, t, 0)
    out = n @ d
    if out <= 0.0:
        return np.inf
    s = (n @ (p - x)) / out
    y = x + s * d
    for c in range(3):
        a, b = corner(cells, t, c), corner(cells, t, (c + 1) % 3)
        if n @ cross(b - a, y - a) < -ON_EDGE * ((b - a) @ (b - a)):
            return np.inf
    return s if s > 0.0 else np.inf


@kernel
def halve_thickness(cells, nodes, child, open):
    """Fill in half of how thick the solid is under the centre of each triangle."""
    deepest = Cells(cells).deepest
    for t in range(len(cells)):
        if deepest[t] == NO_CELL:
            continue
        n = normal(cells, t)
        x = (1.0 / 3.0) * (corner(cells, t, 0) + corner(cells, t, 1) + corner(cells, t, 2))
        thick, count = np.inf, 1
        open[0, 0] = 0
        while count > 0:
            count -= 1
            i = open[count, 0]
            if not passes(nodes, i, x, -n):
                continue
            if child[i] < 0:
                if -1 - child[i] != t and deepest[-1 - child[i]] != NO_CELL:
                    thick = min(thick, hit(cells, -1 - child[i], x, -n))
            else:
                open[count, 0], open[count + 1, 0] = child[i], child[i] + 1
                count += 2
        deepest[t] = 0.5 * thick


def solid_of(tables: MeshTables) -> Solid:
    """The solid of the triangles of a mesh."""
    x = tables.corners.reshape(-1, 3, 3)
    n = tables.normals[:, :3]
    _, vertex = np.unique(x.reshape(-1, 3) + 0.0, axis=0, return_inverse=True)
    vertex = vertex.reshape(-1, 3)
    ends = np.stack([vertex, np.roll(vertex, -1, axis=1)], axis=2).reshape(-1, 2)
    count = int(vertex.max()) + 1
    key, back = ends[:, 0] * count + ends[:, 1], ends[:, 1] * count + ends[:, 0]
    order = np.argsort(key, kind="stable")
    twin = order[np.minimum(np.searchsorted(key[order], back), len(key) - 1)]
    twin = np.where(key[twin] == back, twin, -1)
    edges = np.linalg.norm(np.roll(x, -1, axis=1) - x, axis=2)
    thin = np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1) <= SLIVER * edges.max(axis=1) ** 2
    of = np.repeat(np.arange(len(x)), 3)
    other = np.where(twin >= 0, twin // 3, of)
    for e in np.flatnonzero(thin[other] & ~thin[of]):
        other[e] = _across(int(twin[e]), twin, thin, edges.ravel(), int(of[e]))
    d = (np.roll(x, -1, axis=1) - x).reshape(-1, 3)
    mean = n[of] + n[other]
    mean = np.where((np.linalg.norm(mean, axis=1) > FLAT)[:, None], mean, n[of])
    across = np.cross(mean, d)
    size = np.linalg.norm(across, axis=1, keepdims=True)
    across = np.divide(
        across, size, out=np.zeros_like(across), where=size > 0.0
    )  # 0 of a triangle without area: it has no cell
    o = np.einsum("ti,ti->t", n, x.mean(axis=1))
    planes, ranges = _further(x, vertex, n, o, np.column_stack([other.reshape(-1, 3), np.arange(len(x))]), thin)
    cells = np.hstack(
        [tables.corners, n, o[:, None], across.reshape(-1, 9), np.where(thin, NO_CELL, 0.0)[:, None], ranges]
    )
    open_ = np.zeros((MOST_OPEN, 2), dtype=np.int64)
    halve_thickness(cells, tables.nodes, tables.child, open_)
    Cells(cells).deepest[thin] = 0.0
    return Solid(
        cells,
        planes,
        tables.nodes,
        tables.child,
        np.array([*tables.nodes[0, :3], tables.radius[0]]),
        bool(tables.radius[1]),
    )


def _across(e: int, twin: np.ndarray, thin: np.ndarray, lengths: np.ndarray, of: int) -> int:
    """The triangle with a cell behind the sliver that has edge e, first by its longest edge; `of` itself where there is none."""
    seen, around = {e // 3}, [e]
    while around:
        at = around.pop(0)
        sides = [side for side in range(3 * (at // 3), 3 * (at // 3) + 3) if side != at and twin[side] >= 0]
        for side in sorted(sides, key=lambda side: -lengths[side]):
            behind = int(twin[side]) // 3
            if not thin[behind] and behind != of:
                return behind
            if thin[behind] and behind not in seen:
                seen.add(behind)
                around.append(int(twin[side]))
    return of


def _further(
    x: np.ndarray, vertex: np.ndarray, n: np.ndarray, o: np.ndarray, known: np.ndarray, thin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(planes (np, 4), ranges (nt, 2)): of each triangle n_h − n_t and o_h − o_t of others at its corners, each behind the other."""
    small = FLAT * float(np.ptp(x.reshape(-1, 3), axis=0).max())
    order = np.argsort(vertex.ravel(), kind="stable")
    starts = np.searchsorted(vertex.ravel()[order], np.arange(int(vertex.max()) + 2))
    around = order // 3
    # where all at a corner face much the same way there are none
    change = np.linalg.norm(n[around] - n[around[starts[vertex.ravel()[order]]]], axis=1)
    turned = np.zeros(len(starts) - 1)
    np.maximum.at(turned, vertex.ravel()[order], np.where(thin[around], 0.0, change))
    sharp = (turned > 0.5 * TURNED)[vertex] & ~thin[:, None]
    planes: list[np.ndarray] = []
    ranges = np.zeros((len(vertex), 2))
    for t in np.flatnonzero(sharp.any(axis=1)):
        ring = np.concatenate([around[starts[v] : starts[v + 1]] for v in vertex[t]])
        ring = ring[~thin[ring] & (np.linalg.norm(n[ring] - n[t], axis=1) > TURNED)]
        behind = (x[ring] @ n[t] <= o[t] + small).all(axis=1)
        behind &= (n[ring] @ x[t].T <= o[ring][:, None] + small).all(axis=1)
        found = np.column_stack([n[ring] - n[t], o[ring] - o[t]])[behind]
        beside = n[known[t]] - n[t]
        # not those of its neighbours, which lie in one plane with them
        found = found[(np.linalg.norm(found[:, None, :3] - beside, axis=2) > FLAT).all(axis=1)]
        _, first = np.unique(np.round(found, 9), axis=0, return_index=True)
        found = found[np.sort(first)][:MOST_PLANES]
        ranges[t] = len(planes), len(planes) + len(found)
        planes.extend(found)
    return np.array(planes).reshape(-1, 4), ranges


def is_meshed(shape: Shape) -> bool:
    """Whether a shape is compared by its triangles."""
    return isinstance(shape, Mesh | HeightField)


def triangles_of(shape: Shape) -> Triangles:
    """The triangles of a mesh file or a height field."""
    if isinstance(shape, HeightField):
        return _field(shape.heights, shape.size, shape.bottom, str(shape))
    assert isinstance(shape, Mesh)
    return read_mesh(shape.path, shape.scale, shape.unit)


def drawn_meshes(body: Body, values: Mapping[str, float]) -> list[tuple[Mesh, int]]:
    """The meshes that stand in for `collision` shapes of a body that has none given, and how many triangles each has.

    Files that cannot be read are not among them."""
    found = []
    for shape in body.shapes if body.collision is None else ():
        if isinstance(shape, Mesh):
            try:
                found.append((shape, len(triangles_of(shape.resolved(values)).triangles)))
            except InputError:
                continue
    return found


@functools.lru_cache(maxsize=16)
def _field(heights: Any, size: Any, bottom: float | None, name: str) -> Triangles:
    return height_field(heights, size, bottom, name)


@functools.lru_cache(maxsize=64)
def _solid(made: Triangles) -> Solid:
    return solid_of(made.surface.tables)


@functools.lru_cache(maxsize=64)
def _of_faces(name: str, sizes: tuple[tuple[str, Any], ...]) -> Solid:
    return solid_of(surface_of(name, **dict(sizes)).tables)


@functools.lru_cache(maxsize=64)
def _of_facets(name: str, sizes: tuple[tuple[str, Any], ...]) -> Solid:
    return solid_of(facets(name, **dict(sizes)).tables)


def solid_from(shape: Shape) -> Solid | None:
    """The solid of a mesh, a height field, a box or a hull, or of the facets of a round shape, in its own frame; None of a half-space.

    Raises InputError for other shapes."""
    match shape:
        case HalfSpace():
            return None
        case Mesh() | HeightField():
            return _solid(triangles_of(shape))
        case Box():
            return _of_faces("box", (("size", tuple(shape.size)),))
        case Hull():
            return _of_faces("hull", (("points", tuple(map(tuple, shape.points))),))
        case Sphere():
            return _of_facets("sphere", (("radius", shape.radius),))
        case Capsule() | Cylinder() | Cone():
            return _of_facets(type(shape).__name__.lower(), (("radius", shape.radius), ("length", shape.length)))
        case Ellipsoid():
            return _of_facets("ellipsoid", (("semi_axes", tuple(shape.semi_axes)),))
    raise InputError(f"{shape} knows no contact over areas")
