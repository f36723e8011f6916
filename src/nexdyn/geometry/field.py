"""The signed distance field of a closed mesh: cubic B-splines on a grid, and the distance itself around sharp edges.

    S(x) = Σ c_ijk B(u − i) B(v − j) B(w − k),     (u, v, w) = (x − origin)/h,     B the cubic B-spline
    m(x) = Σ m_ijk B(u − i) B(v − j) B(w − k),     m_ijk = 1 at nodes within AROUND h of a sharp edge, else 0
    φ(x) = S(x) + m(x) (E(x) − S(x)),              E the exact signed distance (mesh_point.py)

S interpolates E at all nodes within BAND h of the surface, and farther off a spline whose nodes are 4 h apart. It has continuous
second derivatives, so that forces which depend on φ and its gradient have continuous slopes. What has a kink it rounds over about h.
So around edges whose faces differ by more than SHARP, m is 1, and φ is E: sharp edges are kept to the last digit, and their kinks with
them. m has continuous second derivatives, too, so that φ has them where S passes into E, wherever E has them.

The error is measured when the field is made, at points between the nodes within 2 h of the surface, and stated. What is left are edges that
are less than SHARP, and walls thinner than 4 h, in whose middle the nearest side changes.

Outside the grid, which is MARGIN nodes wider than the mesh, the distance to the grid is a lower bound of that to the mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.geometry.mesh import Mesh, MeshTables, Surface
from nexdyn.geometry.mesh_distance import mesh_work, signed_distances
from nexdyn.geometry.mesh_point import foot
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import Vec3Rows

CELLS, NODES = 192, 3_000_000
"""By default, the longest edge has so many cells, or fewer where the grid would have more nodes."""
MOST_NODES = 8_000_000
"""96 MB."""
BAND, COARSE = 8.0, 4
"""Nodes farther than BAND from the surface take the spline through every COARSEth node."""
AROUND = 6.5
"""Spacings; so m is 1 within 3 h of an edge, as far as the 64 nodes around a point reach, and 0 beyond 10 h."""
MARKED, NEARBY = 1, 2
"""Bits of a hint: m of the node is 1; m is not 0 in the cell behind the node."""
MARGIN = 10
"""The mirror that the filter sees at the rim bends the spline; that dies out by 0.27 a node."""
SHARP = 0.9
"""Cosine of the angle of the normals of two faces below which their edge is one."""
SAMPLES = 20_000


class FieldTables(NamedTuple):
    """What kernels read: coefficients (nx, ny, nz), (origin, h) (4,), and hints (nx, ny, nz): 4 t and bits, t the nearest triangle of the
    node, −1 where it is not known."""

    coefficients: np.ndarray
    grid: np.ndarray
    hints: np.ndarray
    mesh: MeshTables


@dataclass(frozen=True, eq=False)
class Field:
    """A signed distance field in the frame of its mesh: spacing h [m], and the error [m] that was measured (see above)."""

    tables: FieldTables
    spacing: float
    error: float

    def at(self, points: Any) -> np.ndarray:
        """(n, 4) at points (n, 3): φ [m] and its gradient."""
        x = np.array(points, dtype=float)
        if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
            raise InputError(f"points have shape {x.shape}, or are not finite; finite ones (n, 3) are needed")
        answers = np.zeros((len(x), 4))
        field_values(self.tables, mesh_work(), x, answers)
        return answers


@formula
def weights(s):
    """The four cubic B-splines at a fraction s of a cell."""
    r = 1.0 - s
    return (
        r * r * r / 6.0,
        (4.0 - 6.0 * s * s + 3.0 * s * s * s) / 6.0,
        (4.0 - 6.0 * r * r + 3.0 * r * r * r) / 6.0,
        s * s * s / 6.0,
    )


@formula
def slopes(s):
    """Their derivatives."""
    r = 1.0 - s
    return -0.5 * r * r, -2.0 * s + 1.5 * s * s, 2.0 * r - 1.5 * r * r, 0.5 * s * s


@formula
def sum_of(w, c, i, j, k):
    """Σ w_a c[i, j, k + a]."""
    return w[0] * c[i, j, k] + w[1] * c[i, j, k + 1] + w[2] * c[i, j, k + 2] + w[3] * c[i, j, k + 3]


@formula
def cell_of(u, nodes):
    """The cell that u lies in, so that the nodes before and behind it are there too."""
    return min(max(int(u), 1), nodes - 3)


@formula
def spline(c, i, j, k, u, v, w):
    """(Σ, its derivatives by u, v, w) of the cell i, j, k."""
    a, da = weights(u - i), slopes(u - i)
    b, db = weights(v - j), slopes(v - j)
    e, de = weights(w - k), slopes(w - k)
    total, gx, gy, gz = 0.0, 0.0, 0.0, 0.0
    for p in range(4):
        along, ay, az = 0.0, 0.0, 0.0
        for q in range(4):
            s = sum_of(e, c, i + p - 1, j + q - 1, k - 1)
            along += b[q] * s
            ay += db[q] * s
            az += b[q] * sum_of(de, c, i + p - 1, j + q - 1, k - 1)
        total += a[p] * along
        gx += da[p] * along
        gy += a[p] * ay
        gz += a[p] * az
    return total, Vec3(gx, gy, gz)


@outlined
def share(hints, i, j, k, u, v, w):
    """(m, its derivatives by u, v, w) in the cell i, j, k."""
    a, da = weights(u - i), slopes(u - i)
    b, db = weights(v - j), slopes(v - j)
    e, de = weights(w - k), slopes(w - k)
    total, gx, gy, gz = 0.0, 0.0, 0.0, 0.0
    for p in range(4):
        for q in range(4):
            for r in range(4):
                if hints[i + p - 1, j + q - 1, k + r - 1] & MARKED:
                    total += a[p] * b[q] * e[r]
                    gx += da[p] * b[q] * e[r]
                    gy += a[p] * db[q] * e[r]
                    gz += a[p] * b[q] * de[r]
    return total, Vec3(gx, gy, gz)


@formula
def field_value(field, work, x):
    """(φ, ∇φ) at x; outside the grid the distance to it, a lower bound, and its gradient. work: of `mesh_work`."""
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
    phi, g = spline(c, i, j, k, u, v, w)
    g = (1.0 / h) * g
    if field.hints[i, j, k] & NEARBY:
        m, slope = share(field.hints, i, j, k, u, v, w)
        at = foot(field.mesh, work, x, field.hints[i, j, k] >> 2)
        lack = at.d - phi
        # ∇φ = ∇S + m (∇E − ∇S) + (E − S) ∇m
        g = g + m * (at.n - g) + (lack / h) * slope
        phi += m * lack
    return phi, g


@kernel
def field_values(field, work, points, answers):
    """Answers (n, 4) = φ and its gradient at points (n, 3)."""
    x, g = Vec3Rows(points, 0), Vec3Rows(answers, 1)
    for k in range(len(points)):
        answers[k, 0], g[k] = field_value(field, work, x[k])


@kernel
def sample(mesh, grid, work, values):
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


@kernel
def sample_band(mesh, grid, coarse, coarse_grid, work, values, hints):
    """The signed distances of nodes within BAND, those of the coarse spline elsewhere; hints: nearest triangles, or −1."""
    n0, n1, n2 = values.shape
    m0, m1, m2 = coarse.shape
    h, H, guess = grid[3], coarse_grid[3], -1
    for i in range(n0):
        for row in range(n1):
            j = row if i % 2 == 0 else n1 - 1 - row
            for step in range(n2):
                k = step if row % 2 == 0 else n2 - 1 - step
                x = Vec3(grid[0] + i * h, grid[1] + j * h, grid[2] + k * h)
                u, v, w = (x.x - coarse_grid[0]) / H, (x.y - coarse_grid[1]) / H, (x.z - coarse_grid[2]) / H
                far, _ = spline(coarse, cell_of(u, m0), cell_of(v, m1), cell_of(w, m2), u, v, w)
                values[i, j, k], hints[i, j, k] = far, -4
                if abs(far) < BAND * h:
                    at = foot(mesh, work, x, guess)
                    guess = at.t
                    values[i, j, k], hints[i, j, k] = at.d, 4 * at.t


@kernel
def mark(points, grid, hints):
    """Mark the nodes within AROUND of points (n, 3), and the cells that these have a part in."""
    n0, n1, n2 = hints.shape
    h = grid[3]
    reach = int(AROUND) + 1
    for t in range(len(points)):
        u, v, w = (points[t, 0] - grid[0]) / h, (points[t, 1] - grid[1]) / h, (points[t, 2] - grid[2]) / h
        for i in range(max(int(u) - reach, 0), min(int(u) + reach + 2, n0)):
            for j in range(max(int(v) - reach, 0), min(int(v) + reach + 2, n1)):
                for k in range(max(int(w) - reach, 0), min(int(w) + reach + 2, n2)):
                    if (i - u) * (i - u) + (j - v) * (j - v) + (k - w) * (k - w) < AROUND * AROUND:
                        hints[i, j, k] |= MARKED
    for i in range(n0):
        for j in range(n1):
            for k in range(n2):
                if hints[i, j, k] & MARKED:
                    for p in range(max(i - 2, 0), min(i + 2, n0)):
                        for q in range(max(j - 2, 0), min(j + 2, n1)):
                            for r in range(max(k - 2, 0), min(k + 2, n2)):
                                hints[p, q, r] |= NEARBY


def field(mesh: Mesh, spacing: float | None = None) -> Field:
    """The field of a closed mesh on a grid of `spacing` [m], by default 1/192 of its longest edge, or wider for 3 million nodes.

    InputError for an open mesh, and for a spacing that needs more than 8 million nodes."""
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
    grid, work, given = np.array([*origin, h]), mesh_work(), mesh.surface.tables
    values, hints = np.zeros(tuple(int(n) for n in count)), np.zeros(tuple(int(n) for n in count), dtype=np.int32)
    # as much wider that what the filter does at its rim has died out
    coarse_grid = np.array([*(origin - 4 * COARSE * h), COARSE * h])
    coarse = np.zeros(tuple(int(n) for n in np.ceil((count - 1) / COARSE) + 9))
    sample(given, coarse_grid, work, coarse)
    sample_band(given, grid, spline_filter(coarse, order=3), coarse_grid, work, values, hints)
    near = abs(values) < 2.0 * h
    mark(_on_edges(mesh.surface, 0.5 * h), grid, hints)
    tables = FieldTables(np.ascontiguousarray(spline_filter(values, order=3)), grid, hints, given)
    return Field(tables, float(h), _error(mesh, tables, np.argwhere(near)))


def _error(mesh: Mesh, tables: FieldTables, near: np.ndarray) -> float:
    """The greatest error at points of cells about the nodes `near` the surface."""
    h, rng = tables.grid[3], np.random.default_rng(0)
    some = near[rng.integers(0, len(near), min(SAMPLES, 8 * len(near)))]
    x = tables.grid[:3] + h * (some + rng.uniform(-0.5, 0.5, some.shape))
    found = np.zeros((len(x), 4))
    field_values(tables, mesh_work(), x, found)
    exact = signed_distances(mesh.surface, x)[:, 0]
    return float(abs(found[:, 0] - exact)[abs(exact) < 2.0 * h].max(initial=0.0))


def _on_edges(surface: Surface, apart: float) -> np.ndarray:
    """Points (n, 3) on all sharp edges, at most so far apart."""
    corners, normals = surface.tables.corners.reshape(-1, 3, 3), surface.tables.normals
    ends = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2)
    # the pseudonormal of an edge makes half the angle with that of its face
    half = np.einsum("ti,tei->te", normals[:, :3], normals[:, 3:12].reshape(-1, 3, 3))
    owned = (surface.tables.owned[:, None] >> np.arange(3)) & 1 == 1
    sharp = ends[(half < np.sqrt(0.5 * (1.0 + SHARP))) & owned]
    pieces = np.ceil(np.linalg.norm(sharp[:, 1] - sharp[:, 0], axis=1) / apart).astype(int) + 1
    s = np.concatenate([np.linspace(0.0, 1.0, n) for n in pieces] or [np.zeros(0)])[:, None]
    of = np.repeat(sharp, pieces, axis=0)
    return np.ascontiguousarray(of[:, 0] * (1.0 - s) + of[:, 1] * s)
