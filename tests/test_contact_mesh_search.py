"""Solids of triangles that lie deep in each other: no pair that presses is left out, and few that do not are looked at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from contact_lab import Bench, motion
from mesh_lab import ball
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from test_contact_mesh_list import alone
from test_contact_meshes import K, meshes, saved

import nexdyn as nx
from nexdyn.forces import mesh_tables
from nexdyn.forces.contact_data import OVERLAP
from nexdyn.forces.mesh_search import begin, next_boxes, none, reaching, start_in_cells
from nexdyn.forces.mesh_solid import Cell, Solid, solid_from
from nexdyn.forces.overlap import UNBOUNDED
from nexdyn.kernel import kernel
from nexdyn.spatial.table import PoseRows


@kernel
def count_pairs(meshes, data, A, B, reach, out):  # type: ignore[no-untyped-def]
    walk, _, _ = begin(data, OVERLAP, PoseRows(A, 0)[len(A) - 1], PoseRows(B, 0)[len(B) - 1])
    walk = reaching(walk, reach)
    i, _, one, left, _ = next_boxes(
        meshes, walk.a, walk.b, walk.X, reach, none(), start_in_cells(meshes, walk), UNBOUNDED
    )
    while i >= 0:
        out[one] += 1
        i, _, one, left, _ = next_boxes(meshes, walk.a, walk.b, walk.X, reach, none(), left, UNBOUNDED)


def planes_of(solid: Solid, t: int) -> tuple[np.ndarray, np.ndarray]:
    """(N, c): the cell of triangle t is N x ≤ c."""
    cell = Cell(solid.cells[t])
    n, nu = np.array(cell.n), np.array([cell.pq, cell.qr, cell.rp])
    more = solid.planes[int(cell.first) : int(cell.last)]
    N = np.vstack([n, -n, -nu, more[:, :3]])
    corners = np.array([cell.p, cell.q, cell.r])
    c = [cell.offset, cell.deepest - cell.offset, *-np.einsum("ij,ij->i", nu, corners), *more[:, 3]]
    return N, np.array(c)


def cut(x: np.ndarray, n: np.ndarray, c: float) -> np.ndarray:
    """What of a polygon (m, 3) lies in n · x ≤ c."""
    h, found = c - x @ n, []
    for i in range(len(x)):
        j = (i + 1) % len(x)
        if h[i] >= 0.0:
            found.append(x[i])
        if (h[i] < 0.0) != (h[j] < 0.0):
            found.append(x[i] + h[i] / (h[i] - h[j]) * (x[j] - x[i]))
    return np.array(found).reshape(-1, 3)


def pressed_by_all_pairs(surface: Solid, solid: Solid, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """∫ δ n dA (3,) over what a surface, at pose (R, p) in a solid, has in its cells, in the axes of the solid."""
    tri = surface.cells[:, :9].reshape(-1, 3, 3) @ R.T + p
    n, total = np.transpose(Cell(surface.cells.T).n) @ R.T, np.zeros(3)
    for t in range(len(solid.cells)):
        N, c = planes_of(solid, t)
        for f in np.flatnonzero(((tri @ N.T - c).min(axis=1) < 0.0).all(axis=1)):
            x = tri[f]
            for k in range(len(N)):
                x = cut(x, N[k], c[k]) if len(x) > 2 else x[:0]
            if len(x) < 3:
                continue
            areas = 0.5 * np.linalg.norm(np.cross(x[1:-1] - x[0], x[2:] - x[0]), axis=1)
            depths = c[0] - (x[0] + x[1:-1] + x[2:]) / 3.0 @ N[0]
            total += areas @ depths * n[f]
    return total


@pytest.mark.parametrize("turned", [0.0, 0.7, 2.0])
def test_deep_solids_press_by_all_their_pairs(turned: float, tmp_path: Path) -> None:
    """By brute force, in NumPy."""
    x, t = ball(1.0, 2)
    a, b = saved(tmp_path / "a.obj", [1.0, 0.9, 0.8] * x, t), saved(tmp_path / "b.obj", 0.8 * x, t)
    R = Rotation.from_rotvec(turned * np.array([0.6, 0.0, 0.8])).as_matrix()
    X = np.array([0.05, 0.1, 1.2])
    solid_a, solid_b = solid_from(a), solid_from(b)
    assert solid_a is not None
    assert solid_b is not None
    into_b = pressed_by_all_pairs(solid_a, solid_b, R, X)
    into_a = R @ pressed_by_all_pairs(solid_b, solid_a, R.T, -R.T @ X)
    A, B = motion(X, R)[None], motion((0.0, 0.0, 0.0))[None]
    for ka, kb in ((K, 3.0 * K), (None, K), (K, None)):
        c_a, c_b = (0.0 if k is None else 1.0 / k for k in (ka, kb))
        expected = (c_a * into_a - c_b * into_b) / (c_a + c_b) ** 2
        found = meshes(a, b, ka, kb).wrenches(A, B)[0]
        assert_allclose(found[3:6], expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
        assert np.abs(expected).max() > 0.01 * K


def looked_at(bench: Bench, A: np.ndarray, B: np.ndarray, reach: float) -> np.ndarray:
    """How many pairs a search goes through: of triangles of a in cells of b, and the other way round."""
    out = np.zeros(2, dtype=np.int64)
    count_pairs(bench.tables.room.meshes, bench.tables.data, A[None], B[None], reach, out)
    return out


@pytest.mark.parametrize("reach", [1e-3, 0.1])
def test_few_pairs_of_deep_solids_are_looked_at(reach: float) -> None:
    """Two capsules of some four thousand facets each, half in each other: all boxes are within the longer reach."""
    rod = nx.Capsule(0.06, 0.16)
    bench = meshes(rod, rod, K, K)
    lying = Rotation.from_euler("y", 90, degrees=True).as_matrix()
    count = len(bench.tables.room.meshes.cells)
    assert count > 2000
    found = looked_at(bench, motion((0.0, 0.01, 0.06)), motion((0.0, 0.0, 0.0), lying), reach)
    assert (found > 0).all()
    assert found.max() < 20 * count


def test_forces_are_the_same_to_the_last_bit_as_solids_go_deep_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Near boxes are searched first and cells later; and with a list that is too long."""
    x, t = ball(1.0, 2)
    a, b = saved(tmp_path / "a.obj", [1.0, 0.9, 0.8] * x, t), saved(tmp_path / "b.obj", 0.8 * x, t)
    R = Rotation.from_rotvec((0.3, 0.2, 0.1)).as_matrix()
    z = np.concatenate([np.linspace(1.59, 1.1, 15), 1.1 + 1e-7 * np.arange(5), np.linspace(1.15, 1.59, 10)])
    A = np.array([motion((0.05, 0.1, h), R, (0.1, 0.2, 0.3), (0.0, 0.0, -0.1)) for h in z])
    B = np.repeat(motion((0.0, 0.0, 0.0))[None], len(A), axis=0)
    bench = meshes(a, b, K, 2.0 * K, damping=1.0)
    found = bench.wrenches(A, B)
    assert (found[:, 3:6] != 0.0).any(axis=1).sum() > 20
    assert_array_equal(found, alone(bench, A, B))
    monkeypatch.setattr(mesh_tables, "MOST_KEPT", 100)
    short = meshes(a, b, K, 2.0 * K, damping=1.0)
    assert short.tables.room.meshes.kept.first[-1] == 100
    assert_array_equal(short.wrenches(A, B), found)
