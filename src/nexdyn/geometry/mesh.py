"""Triangle meshes: what is described, what is checked and repaired, and the tables that kernels read.

    repaired and named     vertices at one place (to 1e-9 of the size) become one; triangles with fewer than three vertices
                           and repeated ones go; where all edges belong to two triangles, those that face the other way than
                           most of their part are turned
    refused by name        what is not finite, no triangle, no size, indices of no vertex, too many triangles, edges of three and
                           more triangles, triangles that face both ways where that cannot be repaired, a closed mesh that is
                           inside out
    told (`notes`)         holes: the mesh is open, and points behind it count as inside

A closed mesh has for every edge one triangle on either side. Its volume, centre and inertia are sums over tetrahedra
(`hull.massive_of`). The sign of a distance is that of the pseudonormal of the nearest feature (Baerentzen and Aanaes 2005):
of a face its normal, of an edge the sum of its faces', of a vertex the sum weighted by the angles at it.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError, counted
from nexdyn.geometry import hierarchy
from nexdyn.geometry.hull import massive_of
from nexdyn.geometry.solid import Massive

MOST_TRIANGLES = 4_000_000
SAME = 1e-9
"""Part of the size within which vertices are one."""


class MeshTables(NamedTuple):
    """What kernels read; triangles in the order of the hierarchy.

    corners (nt, 9), normals (nt, 21): of the face, of the edges pq, qr, rp, of the corners; nodes, child: hierarchy.py;
    owned (nt,): bits of the edges that this triangle has first; parts (nc, 3): a vertex of each connected part; radius (2,): of
    a ball about the box of all that holds them, and 1 where closed, else 0."""

    corners: np.ndarray
    normals: np.ndarray
    nodes: np.ndarray
    child: np.ndarray
    owned: np.ndarray
    parts: np.ndarray
    radius: np.ndarray


class Surface(NamedTuple):
    """What has a distance: the tables of triangles, the radius of a ball that sweeps them, and a key, equal for equal ones.

    outside [m]: how far the surface that the triangles stand for is at most outside them: not 0 for inscribed polyhedra."""

    tables: MeshTables
    margin: float
    key: bytes
    outside: float = 0.0


@dataclass(frozen=True, eq=False)
class Mesh:
    """vertices (nv, 3) [m] and triangles (nt, 3), counter-clockwise from outside. `closed`: with inside and outside.

    `repairs` and `notes` say in words what was changed and what was left as it is."""

    vertices: np.ndarray
    triangles: np.ndarray
    closed: bool
    repairs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = field(default="mesh", compare=False)

    @cached_property
    def surface(self) -> Surface:
        """What queries take."""
        key = hashlib.sha256(self.vertices.tobytes() + self.triangles.tobytes()).digest()
        return Surface(tables_of(self.vertices, self.triangles), 0.0, key)

    @property
    def massive(self) -> Massive:
        """Volume, centre and inertia per density; InputError for an open mesh."""
        if not self.closed:
            raise InputError(f"{self.name} is open ({'; '.join(self.notes)}): it has no volume")
        return massive_of(self.vertices[self.triangles])


def mesh(vertices: Any, triangles: Any, name: str = "mesh") -> Mesh:
    """The mesh of vertices (nv, 3) [m] and triangles (nt, 3); InputError for one that is none (see above)."""
    x, t = _checked(vertices, triangles, name)
    repairs: list[str] = []
    x, t = _merged(x, t, name, repairs)
    edges = _edges(t)
    if edges.most > 2:
        at = np.round(x[edges.ends[edges.count.argmax()]], 6).tolist()
        raise InputError(
            f"{name}: {counted(int((edges.count > 2).sum()), 'edge')} of more than two triangles, one from {at[0]} to "
            f"{at[1]} m; leave walls inside out, or make parts of their own"
        )
    rims = int((edges.count == 1).sum())
    t = _oriented(x, t, edges, name, repairs)
    notes = (f"{name} is open: {counted(rims, 'edge')} of one triangle",) if rims else ()
    if not rims:
        volume = _volume(x[t])
        if not volume > 0.0:
            raise InputError(
                f"{name} is inside out, or flat: its volume is {volume:.3g} m³; list the vertices of each triangle "
                "counter-clockwise, seen from outside"
            )
    x.setflags(write=False)
    t.setflags(write=False)
    return Mesh(x, t, not rims, tuple(repairs), notes, name)


def _volume(corners: np.ndarray) -> float:
    """Σ a·(b × c)/6, about the mean of the corners (nt, 3, 3)."""
    a, b, c = np.moveaxis(corners - corners.mean(axis=(0, 1)), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def _checked(vertices: Any, triangles: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        x = np.array(vertices, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"vertices of {name} are {vertices!r:.80}; numbers (n, 3) are needed") from None
    t = np.array(triangles)
    if x.ndim != 2 or x.shape[1] != 3 or len(x) < 3:
        raise InputError(f"vertices of {name} have shape {x.shape}; (n, 3) with n of 3 and more is needed")
    if t.ndim != 2 or t.shape[1] != 3 or not len(t) or t.dtype.kind not in "iu":
        raise InputError(f"triangles of {name} have shape {t.shape} of {t.dtype}; whole numbers (n, 3) are needed")
    if len(t) > MOST_TRIANGLES:
        raise InputError(f"{name} has {len(t)} triangles; at most {MOST_TRIANGLES} are taken: simplify it")
    t = t.astype(np.int64)
    if t.min() < 0 or t.max() >= len(x):
        wrong = t.min() if t.min() < 0 else t.max()
        raise InputError(f"a triangle of {name} names vertex {wrong}; there are {len(x)}, from 0")
    finite = np.isfinite(x).all(axis=1) & (abs(x) < 1e100).all(axis=1)
    if not finite.all():
        raise InputError(f"vertex {finite.argmin()} of {name} is {x[finite.argmin()].tolist()}; finite ones are needed")
    return x, t


def _merged(x: np.ndarray, t: np.ndarray, name: str, repairs: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """With one vertex at a place, no others than triangles have, and each triangle once."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    used, t = np.unique(t, return_inverse=True)
    x, t = x[used], t.reshape(-1, 3)
    size = float(np.ptp(x, axis=0).max())
    if not size > 1e-100:
        raise InputError(f"{name} has no size: all vertices are at {x[0].tolist()}")
    same, first, of = np.unique(x, axis=0, return_index=True, return_inverse=True)
    of = of.ravel()
    pairs = cKDTree(same).query_pairs(SAME * size, output_type="ndarray")
    n = len(same)
    if len(pairs):
        links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        n, label = connected_components(links, directed=False)
        of = label[of]
        _, first = np.unique(of, return_index=True)
    if n < len(x):
        repairs.append(
            f"{counted(len(x) - n, 'vertex').replace('vertexs', 'vertices')} merged with others at one place"
        )
        # in the order in which they came
        rank = np.argsort(np.argsort(first))
        x, t = x[np.sort(first)], rank[of][t]
    whole = (t[:, 0] != t[:, 1]) & (t[:, 1] != t[:, 2]) & (t[:, 2] != t[:, 0])
    if not whole.all():
        repairs.append(f"{counted(int((~whole).sum()), 'triangle')} of fewer than three vertices left out")
        t = t[whole]
    turned = np.take_along_axis(t, (t.argmin(axis=1)[:, None] + np.arange(3)) % 3, axis=1)
    _, once = np.unique(turned, axis=0, return_index=True)
    if len(once) < len(t):
        repairs.append(f"{counted(len(t) - len(once), 'triangle')} that were there twice left out")
        t = t[np.sort(once)]
    normals = np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]]) if len(t) else np.zeros((0, 3))
    if not (normals != 0.0).any():
        raise InputError(f"{name} has no area: its triangles are all segments or points")
    return x, t


@dataclass(frozen=True)
class _Edges:
    """ends (ne, 2), how many triangles each has (ne,), the edge of every half edge (3 nt,) and whether it runs backward."""

    ends: np.ndarray
    count: np.ndarray
    of: np.ndarray
    backward: np.ndarray

    @property
    def most(self) -> int:
        return int(self.count.max())


def _edges(t: np.ndarray) -> _Edges:
    half = np.stack([t, np.roll(t, -1, axis=1)], axis=2).reshape(-1, 2)
    low, high = half.min(axis=1), half.max(axis=1)
    key, of, count = np.unique(low * (int(t.max()) + 1) + high, return_inverse=True, return_counts=True)
    ends = np.column_stack(np.divmod(key, int(t.max()) + 1))
    return _Edges(ends, count, of.ravel(), half[:, 0] > half[:, 1])


def _neighbours(edges: _Edges) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(i, j, same): triangles that share an edge, and whether both run along it in one direction."""
    order = np.argsort(edges.of, kind="stable")
    sorted_of = edges.of[order]
    twin = np.flatnonzero(sorted_of[:-1] == sorted_of[1:])
    f, g = order[twin], order[twin + 1]
    return f // 3, g // 3, edges.backward[f] == edges.backward[g]


def _oriented(x: np.ndarray, t: np.ndarray, edges: _Edges, name: str, repairs: list[str]) -> np.ndarray:
    """With the triangles of each part facing one way, where edges of two triangles tell which."""
    i, j, same = _neighbours(edges)
    if not same.any():
        return t
    wrong = int(same.sum())
    if (edges.count == 1).any():
        raise InputError(
            f"{name}: at {counted(wrong, 'edge')} neighbours face opposite ways, and it is open, so that no side is the "
            "outer one; turn them (trimesh.repair.fix_normals, for instance)"
        )
    flip, part = _flips(len(t), i, j, same)
    if ((flip[i] != flip[j]) != same).any():
        raise InputError(f"{name}: its surface has one side only (a Möbius strip or a Klein bottle)")
    for k in np.unique(part[i[same]]):  # of each part that disagrees, the fewer are turned
        mine = part == k
        if 2 * int(flip[mine].sum()) > int(mine.sum()):
            flip[mine] = ~flip[mine]
    repairs.append(f"{counted(int(flip.sum()), 'triangle')} that faced the other way turned")
    t = t.copy()
    t[flip] = t[flip][:, ::-1]
    return t


def _flips(n: int, i: np.ndarray, j: np.ndarray, same: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(flip (n,), part (n,)): which triangles face the other way than the first of their connected part."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    links = coo_array((np.where(same, 2.0, 1.0), (i, j)), shape=(n, n)).tocsr()
    links = links.maximum(links.T).tocsr()
    count, part = connected_components(links, directed=False)
    flip = np.zeros(n, dtype=bool)
    for k in range(count):
        order, before = breadth_first_order(links, int((part == k).argmax()), directed=False)
        for f in order[1:]:
            flip[f] = flip[before[f]] ^ (links[f, before[f]] > 1.5)
    return flip, part


def tables_of(x: np.ndarray, t: np.ndarray) -> MeshTables:
    """The tables of vertices and triangles that are checked."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    order, child = hierarchy.build(x[t])
    t = t[order]
    corners = np.ascontiguousarray(x[t].reshape(-1, 9))
    edges = _edges(t)
    first = np.full(len(edges.ends), len(edges.of))
    np.minimum.at(first, edges.of, np.arange(len(edges.of)))
    mine = (first[edges.of] == np.arange(len(edges.of))).reshape(-1, 3)
    links = coo_array((np.ones(len(edges.ends)), tuple(edges.ends.T)), shape=(len(x), len(x)))
    _, part = connected_components(links, directed=False)
    _, some = np.unique(part, return_index=True)
    nodes = hierarchy.nodes_of(corners, child)
    radius = float(np.sqrt(((x - nodes[0, :3]) ** 2).sum(axis=1).max()))
    return MeshTables(
        corners, _normals(x, t, edges), nodes, child, (mine @ [1, 2, 4]).astype(np.int64), np.ascontiguousarray(x[some]),
        np.array([radius, float(edges.count.min() > 1)]),
    )  # fmt: skip


def _normals(x: np.ndarray, t: np.ndarray, edges: _Edges) -> np.ndarray:
    """(nt, 21): unit pseudonormals of the face, of the edges pq, qr, rp and of the corners; 0 where there is none."""
    c = x[t]
    e = np.roll(c, -1, axis=1) - c  # pq, qr, rp
    face = _unit(np.cross(e[:, 0], -e[:, 2]))
    along = np.zeros((len(edges.ends), 3))
    np.add.at(along, edges.of, np.repeat(face, 3, axis=0))
    back = -np.roll(e, 1, axis=1)
    sine = np.linalg.norm(np.cross(e, back), axis=2)
    angle = np.arctan2(sine, np.einsum("tki,tki->tk", e, back))
    at = np.zeros((len(x), 3))
    np.add.at(at, t.ravel(), (angle[:, :, None] * face[:, None]).reshape(-1, 3))
    of_edges = _unit(along)[edges.of].reshape(-1, 9)
    return np.ascontiguousarray(np.hstack([face, of_edges, _unit(at)[t].reshape(-1, 9)]))


def _unit(n: np.ndarray) -> np.ndarray:
    size = np.sqrt((n * n).sum(axis=1, keepdims=True))
    return np.divide(n, size, out=np.zeros_like(n), where=size > 0.0)


def chord_error(radius: float, sides: int) -> float:
    """How far [m] a circle is at most from the polygon of so many sides with its corners on it."""
    return radius * (1.0 - math.cos(math.pi / sides))
