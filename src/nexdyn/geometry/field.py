"""The signed distance field of a closed mesh: cubic B-splines on a grid, with continuous second derivatives.

    φ(x) = Σ c_ijk B(u − i) B(v − j) B(w − k),     (u, v, w) = (x − origin)/h,     B the cubic B-spline

interpolates the exact signed distances (mesh_point.py) at all nodes, so that forces which depend on φ and its gradient have
continuous slopes. Where the distance is smooth its error is of order h⁴; at edges, and where the nearest triangle changes
inside, the distance itself has a kink, which the spline rounds over about h. Both errors are measured when the field is
made, at points between the nodes within 2 h of the surface, and stated: `error` everywhere, `error_off_edges` farther than 4 h
from an edge whose faces differ by more than SHARP.

Outside the grid, which is MARGIN nodes wider than the mesh, the distance to the grid is a lower bound of that to the mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.geometry.mesh import Mesh, Surface
from nexdyn.geometry.mesh_distance import mesh_work, signed_distances
from nexdyn.geometry.mesh_point import foot
from nexdyn.kernel import formula, kernel
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import Vec3Rows

CELLS, NODES = 192, 3_000_000
"""By default, the longest edge has so many cells, or fewer where the grid would have more nodes."""
MOST_NODES = 12_000_000
"""96 MB."""
MARGIN = 10
"""The mirror that the filter sees at the rim bends the spline; that dies out by 0.27 a node."""
SHARP = 0.9
"""Cosine of the angle of the normals of two faces below which their edge is one."""
SAMPLES = 20_000


class FieldTables(NamedTuple):
    """What kernels read: coefficients (nx, ny, nz), and (origin, h) (4,)."""

    coefficients: np.ndarray
    grid: np.ndarray


@dataclass(frozen=True, eq=False)
class Field:
    """A signed distance field in the frame of its mesh: spacing h [m], and the errors [m] that were measured (see above)."""

    tables: FieldTables
    spacing: float
    error: float
    error_off_edges: float

    def at(self, points: Any) -> np.ndarray:
        """(n, 4) at points (n, 3): φ [m] and its gradient."""
        x = np.array(points, dtype=float)
        if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
            raise InputError(f"points have shape {x.shape}, or are not finite; finite ones (n, 3) are needed")
        answers = np.zeros((len(x), 4))
        field_values(self.tables, x, answers)
        return answers


@formula
def weights(s):  # type: ignore[no-untyped-def]
    """The four cubic B-splines at a fraction s of a cell."""
    r = 1.0 - s
    return (
        r * r * r / 6.0,
        (4.0 - 6.0 * s * s + 3.0 * s * s * s) / 6.0,
        (4.0 - 6.0 * r * r + 3.0 * r * r * r) / 6.0,
        s * s * s / 6.0,
    )


@formula
def slopes(s):  # type: ignore[no-untyped-def]
    """Their derivatives."""
    r = 1.0 - s
    return -0.5 * r * r, -2.0 * s + 1.5 * s * s, 2.0 * r - 1.5 * r * r, 0.5 * s * s


@formula
def sum_of(w, c, i, j, k):  # type: ignore[no-untyped-def]
    """Σ w_a c[i, j, k + a]."""
    return w[0] * c[i, j, k] + w[1] * c[i, j, k + 1] + w[2] * c[i, j, k + 2] + w[3] * c[i, j, k + 3]


@formula
def cell_of(u, nodes):  # type: ignore[no-untyped-def]
    """The cell that u lies in, so that the nodes before and behind it are there too."""
    return min(max(int(u), 1), nodes - 3)


@formula
def field_value(field, x):  # type: ignore[no-untyped-def]
    """(φ, ∇φ) at x; outside the grid the distance to it, a lower bound, and its gradient."""
    c, h = field.coefficients, field.grid[3]
    n0, n1, n2 = c.shape
    u, v, w = (x.x - field.grid[0]) / h, (x.y - field.grid[1]) / h, (x.z - field.grid[2]) / h
    # within the grid less one cell all round
    r = Vec3(
        u - min(max(u, 1.0), n0 - 2.0), v - min(max(v, 1.0), n1 - 2.0), w - min(max(w, 1.0), n2 - 2.0)
    )  # fmt: skip
    away = sqrt(r @ r)
    if away > 0.0:
        return away * h, (1.0 / away) * r
    i, j, k = cell_of(u, n0), cell_of(v, n1), cell_of(w, n2)
    a, da = weights(u - i), slopes(u - i)
    b, db = weights(v - j), slopes(v - j)
    e, de = weights(w - k), slopes(w - k)
    phi, gx, gy, gz = 0.0, 0.0, 0.0, 0.0
    for p in range(4):
        along, ay, az = 0.0, 0.0, 0.0
        for q in range(4):
            s = sum_of(e, c, i + p - 1, j + q - 1, k - 1)
            along += b[q] * s
            ay += db[q] * s
            az += b[q] * sum_of(de, c, i + p - 1, j + q - 1, k - 1)
        phi += a[p] * along
        gx += da[p] * along
        gy += a[p] * ay
        gz += a[p] * az
    return phi, (1.0 / h) * Vec3(gx, gy, gz)


@kernel
def field_values(field, points, answers):  # type: ignore[no-untyped-def]
    """Answers (n, 4) = φ and its gradient at points (n, 3)."""
    x, g = Vec3Rows(points, 0), Vec3Rows(answers, 1)
    for k in range(len(points)):
        answers[k, 0], g[k] = field_value(field, x[k])


@kernel
def sample(mesh, grid, work, values):  # type: ignore[no-untyped-def]
    """The signed distances (nx, ny, nz) of all nodes, each search from where that of its neighbour ended."""
    n0, n1, n2 = values.shape
    guess = -1
    for i in range(n0):
        for row in range(n1):
            j = row if i % 2 == 0 else n1 - 1 - row
            for step in range(n2):
                k = step if row % 2 == 0 else n2 - 1 - step
                x = Vec3(grid[0] + i * grid[3], grid[1] + j * grid[3], grid[2] + k * grid[3])
                at = foot(mesh, work, x, guess)
                values[i, j, k], guess = at.d, at.t


def field(mesh: Mesh, spacing: float | None = None) -> Field:
    """The field of a closed mesh on a grid of `spacing` [m], by default 1/192 of its longest edge, or wider for 3 million nodes.

    InputError for an open mesh, and for a spacing that needs more than 12 million nodes."""
    from scipy.ndimage import spline_filter  # 0.1 s: only for fields

    if not mesh.closed:
        raise InputError(f"{mesh.name} has no distance field: {'; '.join(mesh.notes)}")
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    size = high - low
    h = spacing
    if h is None:
        h = max(float(size.max()) / CELLS, float((size.prod() / NODES) ** (1.0 / 3.0)))
    if not (isinstance(h, int | float) and 0.0 < h < np.inf):
        raise InputError(f"spacing is {h!r}; a length greater than 0 is needed")
    count = np.ceil((high - low) / h) + 1 + 2 * MARGIN
    if count.prod() > MOST_NODES:
        least = float(((high - low).prod() / MOST_NODES) ** (1.0 / 3.0))
        raise InputError(
            f"spacing is {h:g}: that is {count.prod():.3g} nodes; at most {MOST_NODES} are made, about {least:.3g} m apart"
        )
    origin = 0.5 * (low + high) - 0.5 * h * (count - 1)
    values = np.zeros(tuple(int(n) for n in count))
    grid = np.array([*origin, h])
    sample(mesh.surface.tables, grid, mesh_work(), values)
    tables = FieldTables(np.ascontiguousarray(spline_filter(values, order=3)), grid)
    everywhere, off = _errors(mesh, tables, values)
    return Field(tables, float(h), everywhere, off)


def _errors(mesh: Mesh, tables: FieldTables, values: np.ndarray) -> tuple[float, float]:
    """The greatest errors at points of cells near the surface, of all of them and of those off the edges."""
    h, rng = tables.grid[3], np.random.default_rng(0)
    near = np.argwhere(abs(values) < 2.0 * h)
    some = near[rng.integers(0, len(near), min(SAMPLES, 8 * len(near)))]
    x = tables.grid[:3] + h * (some + rng.uniform(-0.5, 0.5, some.shape))
    found = np.zeros((len(x), 4))
    field_values(tables, x, found)
    exact = signed_distances(mesh.surface, x)
    error = abs(found[:, 0] - exact[:, 0])
    error = np.where(abs(exact[:, 0]) < 2.0 * h, error, 0.0)
    off = _from_edges(mesh.surface, x, 4.0 * h)
    return float(error.max()), float(error[off].max(initial=0.0))


def _from_edges(surface: Surface, x: np.ndarray, far: float) -> np.ndarray:
    """Whether points are farther than `far` from all sharp edges, as far as points on these, `far`/4 apart, tell."""
    from scipy.spatial import cKDTree

    corners, normals = surface.tables.corners.reshape(-1, 3, 3), surface.tables.normals
    ends = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2)
    # the pseudonormal of an edge makes half the angle with that of its face
    half = np.einsum("ti,tei->te", normals[:, :3], normals[:, 3:12].reshape(-1, 3, 3))
    sharp = ends[half < np.sqrt(0.5 * (1.0 + SHARP))]
    if not len(sharp):
        return np.ones(len(x), dtype=bool)
    pieces = np.ceil(np.linalg.norm(sharp[:, 1] - sharp[:, 0], axis=1) / (0.25 * far)).astype(int) + 1
    s = np.concatenate([np.linspace(0.0, 1.0, n) for n in pieces])[:, None]
    of = np.repeat(sharp, pieces, axis=0)
    away, _ = cKDTree(of[:, 0] * (1.0 - s) + of[:, 1] * s).query(x)
    return np.asarray(away > far)
