"""Convex hull of points: vertices x_k and faces n_f·x ≤ o_f, both in tables that all hulls share.

Qhull finds the hull; points inside it and faces that lie in one plane (to 1e-10 of the size) are kept once, and divided into triangles by
the order of the points alone. Volume and
inertia are sums over the tetrahedra that the triangles of the surface make with the origin (Tonon 2004).
"""

from __future__ import annotations

import collections
import itertools
import math

import numpy as np
from numpy.typing import ArrayLike

from nexdyn.errors import InputError
from nexdyn.geometry.solid import HULL, Massive, Page
from nexdyn.kernel import formula
from nexdyn.spatial.table import Vec3Rows

COPLANAR = 1e-9
"""|n − n'| below which two neighbouring triangles lie in one plane."""
BLOCK = 1_000_000
"""Products of faces and vertices that are computed at once."""


@formula
def support(s, tables, n):
    """The vertex that is farthest along n, of equal ones the first."""
    x = Vec3Rows(tables.vertices, 0)
    best = s.first
    most = x[best] @ n
    for k in range(s.first + 1, s.last):
        h = x[k] @ n
        if h > most:
            best, most = k, h
    return x[best]


@formula
def excess(s, tables, x):
    """max over the faces of n_f·x − o_f, and 0."""
    normals = Vec3Rows(tables.faces, 0)
    most = 0.0
    for k in range(s.first_face, s.last_face):
        most = max(most, normals[k] @ x - tables.faces[k, 3])
    return most


def surface(points: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (nv, 3), faces (nf, 4), and triangles (nt, 3, 3) seen counter-clockwise from outside, of the hull of
    `points` (n, 3) [m]. InputError where they are fewer than four, not finite, or in one plane."""
    from scipy.spatial import ConvexHull, QhullError  # 0.1 s: only for hulls

    try:
        x = np.array(points, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"points of the hull are {points!r:.200}; an array of shape (n, 3) is needed") from None
    if x.ndim != 2 or x.shape[1] != 3 or len(x) < 4:
        raise InputError(f"points of the hull have shape {x.shape}; at least four points, (n, 3), are needed")
    if not np.isfinite(x).all():
        raise InputError(f"point {int(np.argmin(np.isfinite(x).all(axis=1)))} of the hull is not finite")
    x = x[np.sort(np.unique(x, axis=0, return_index=True)[1])]  # of points at one place Qhull would take any
    middle = 0.5 * (x.min(axis=0) + x.max(axis=0))
    size = float(np.abs(x - middle).max())
    spread = np.linalg.svd((x - x.mean(axis=0)) / (size or 1.0), compute_uv=False)
    if size == 0.0 or spread[-1] < 1e-10 * math.sqrt(len(x)):
        raise InputError(f"the {len(x)} points of the hull lie in one plane (or line, or point); a hull needs a volume")
    try:
        hull = ConvexHull((x - middle) / size)
    except QhullError as error:
        raise InputError(f"no hull of the {len(x)} points: {str(error).splitlines()[0]}") from None
    corners, planes = fanned(hull.simplices, hull.neighbors, hull.equations[:, :3])
    # Qhull's planes hold to 1e-15 of the size; each kept once, with the offset of the farthest vertex
    normals = hull.equations[:, :3]
    _, kept = np.unique(np.round(hull.equations, 10), axis=0, return_index=True)
    vertices = x[np.sort(hull.vertices)]
    blocks = np.array_split(normals[kept], len(kept) * len(vertices) // BLOCK + 1)
    faces = np.column_stack([normals[kept], np.concatenate([(block @ vertices.T).max(axis=1) for block in blocks])])
    a, b, c = (x[corners[:, k]] for k in range(3))
    flipped = np.einsum("ij,ij->i", np.cross(b - a, c - a), planes) < 0.0
    b, c = np.where(flipped[:, None], c, b), np.where(flipped[:, None], b, c)
    return vertices, faces, np.stack([a, b, c], axis=1)


def fanned(simplices: np.ndarray, neighbors: np.ndarray, normals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Triangles (nt, 3) of a hull and their normals (nt, 3), those in one plane laid anew as a fan about the first of its vertices: Qhull
    divides a face as rounding has it, which is another way in other units."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    flat = np.linalg.norm(normals[neighbors] - normals[:, None], axis=2) < COPLANAR
    if not flat.any():
        return simplices, normals
    one, k = np.nonzero(flat)
    joined = coo_array((np.ones(len(one)), (one, neighbors[one, k])), shape=(len(simplices),) * 2)
    _, face = connected_components(joined, directed=False)
    laid, of = [], []
    for together in np.split(np.argsort(face, kind="stable"), np.cumsum(np.bincount(face))[:-1]):
        triangles = simplices[together].tolist()
        loop = _loop(triangles) if len(together) > 1 else None
        if loop is not None:
            triangles = [[loop[0], *pair] for pair in itertools.pairwise(loop[1:])]
        laid += triangles
        of += [together[0]] * len(triangles)
    return np.array(laid), normals[of]


def _loop(triangles: list[list[int]]) -> list[int] | None:
    """The vertices around triangles that lie together, from the smallest on, in that direction in which the smaller of its two neighbours
    comes first; None where they are not around one polygon."""
    edges = collections.Counter(frozenset(pair) for t in triangles for pair in itertools.combinations(t, 2))
    neighbours: dict[int, list[int]] = {}
    for edge, count in edges.items():
        if count == 1:
            one, other = edge
            neighbours.setdefault(one, []).append(other)
            neighbours.setdefault(other, []).append(one)
    if any(len(ends) != 2 for ends in neighbours.values()):
        return None
    first = min(neighbours)
    loop, here = [first], min(neighbours[first])
    while here != first:
        loop.append(here)
        here = next(x for x in neighbours[here] if x != loop[-2])
    return loop if len(loop) == len(neighbours) else None


def massive_of(triangles: np.ndarray) -> Massive:
    """Volume, centre and inertia of the closed surface of `triangles` (nt, 3, 3), counter-clockwise from outside."""
    middle = triangles.mean(axis=(0, 1))
    t = triangles - middle
    six = np.einsum("ij,ij->i", t[:, 0], np.cross(t[:, 1], t[:, 2]))
    volume = six.sum() / 6.0
    total = t.sum(axis=1)
    centre = six @ total / (24.0 * volume)
    # ∫ x xᵀ over the tetrahedron (0, a, b, c) = det/120 (Σ v vᵀ + s sᵀ),  s = a + b + c
    second = np.einsum("t,tki,tkj->ij", six, t, t) + np.einsum("t,ti,tj->ij", six, total, total)
    about = second / 120.0 - volume * np.outer(centre, centre)
    return Massive(float(volume), centre + middle, np.trace(about) * np.eye(3) - about)


def _made(points: ArrayLike) -> tuple[tuple[float, float, float], float, float]:
    vertices, _, _ = surface(points)
    return (0.0, 0.0, 0.0), 0.0, float(np.linalg.norm(vertices, axis=1).max())


def _curvatures(x: np.ndarray, n: np.ndarray, points: ArrayLike) -> tuple[float, float]:
    """0, 0 on a face; 0, inf on an edge; inf, inf at a vertex."""
    vertices, _, _ = surface(points)
    size = np.ptp(vertices, axis=0).max()
    farthest = vertices[(vertices - x) @ n > -1e-9 * size]
    rank = np.linalg.matrix_rank(farthest - farthest.mean(axis=0), tol=1e-7 * size)
    return (math.inf if rank == 0 else 0.0), (math.inf if rank < 2 else 0.0)


PAGE = Page(
    name="hull",
    kind=HULL,
    sizes=("points",),
    round=False,
    support=support,
    excess=excess,
    nearest=None,
    made=_made,
    massive=lambda points: massive_of(surface(points)[2]),
    curvatures=_curvatures,
)
