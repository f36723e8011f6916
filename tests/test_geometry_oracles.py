"""Meshes against other libraries: features of triangles by ipctk, masses and signed distances by trimesh. Where they are installed."""

from __future__ import annotations

import itertools

import mesh_lab as lab
import numpy as np
import pytest

from nexdyn.geometry.hierarchy import triangle
from nexdyn.geometry.mesh import mesh
from nexdyn.geometry.mesh_distance import signed_distances
from nexdyn.geometry.triangles import FAR, of_triangles
from nexdyn.kernel import kernel

MANY = 300


@kernel
def between(corners):  # type: ignore[no-untyped-def]
    """The distance of the triangles of both rows of corners (2, 9)."""
    return np.sqrt(of_triangles(triangle(corners, 0), triangle(corners, 1), FAR).square)


def test_two_triangles_are_apart_by_the_least_distance_of_their_features_as_ipctk_has_it() -> None:
    ipctk = pytest.importorskip("ipctk")
    rng = np.random.default_rng(1)
    apart = 0
    for k in range(MANY):
        P, Q = rng.normal(size=(2, 3, 3))
        Q[:, 0] += 2.0
        if k % 5 == 0:  # parallel, coplanar, needle-like
            Q = P + rng.choice([0.0, 1.0], 3) * [2.0, 1.5, 0.1] + [0.0, 0.0, 1e-3]
        if k % 7 == 0:
            Q[2] = Q[1] + 1e-6 * rng.normal(size=3)
        found = between(np.array([P.ravel(), Q.ravel()]))
        squares = [ipctk.point_triangle_distance(x, *T) for X, T in ((P, Q), (Q, P)) for x in X]
        squares += [
            ipctk.edge_edge_distance(P[i], P[j], Q[m], Q[n])
            for (i, j), (m, n) in itertools.product(itertools.combinations(range(3), 2), repeat=2)
        ]
        if found > 0.0:  # features that do not pierce each other
            apart += 1
            assert found == pytest.approx(np.sqrt(min(squares)), abs=1e-7)  # theirs is a square
    assert apart > MANY // 2


def test_volume_centre_and_inertia_are_those_of_trimesh() -> None:
    trimesh = pytest.importorskip("trimesh")
    rng = np.random.default_rng(2)
    for raw in (lab.bumpy(rng, 2), lab.gear(12, 4), lab.box((1.0, 2.0, 3.0))):
        x = raw[0] @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + rng.normal(size=3)
        turned = (x, raw[1]) if mesh_volume(x, raw[1]) > 0.0 else (x, raw[1][:, ::-1])
        theirs, ours = trimesh.Trimesh(*turned, process=False), mesh(*turned).massive
        assert ours.volume == pytest.approx(theirs.volume, rel=1e-10)
        np.testing.assert_allclose(ours.centre, theirs.center_mass, atol=1e-10)
        np.testing.assert_allclose(ours.inertia, theirs.moment_inertia, atol=1e-10)


def mesh_volume(x: np.ndarray, t: np.ndarray) -> float:
    a, b, c = np.moveaxis(x[t], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def test_points_have_the_signed_distance_that_trimesh_finds() -> None:
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("rtree")
    rng = np.random.default_rng(3)
    raw = lab.bumpy(rng, 2)
    points = 1.2 * rng.normal(size=(MANY, 3))
    theirs = trimesh.proximity.signed_distance(trimesh.Trimesh(*raw, process=False), points)
    np.testing.assert_allclose(signed_distances(mesh(*raw).surface, points)[:, 0], -theirs, atol=1e-8)
