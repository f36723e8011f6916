"""Contact patches: polygons of parallel faces with area and centre, segments of parallel edges, points of all else."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from geometry_lab import CUBE, KINDS, Description, local, outside, random_poses, random_shape
from scipy.spatial.transform import Rotation

from nexdyn.geometry.kinds import Catalogue
from nexdyn.geometry.narrow import ANSWER, distances, work
from nexdyn.geometry.patch import MOST_OF_PATCH, PATCHED, TOO_MANY, patch_work, patches

SCRATCH, PATCH_SCRATCH = work(), patch_work()
TOLERANCE = 1e-6
UNIT = np.eye(3)


class Patch(NamedTuple):
    polygon: np.ndarray
    area: float
    centre: np.ndarray
    answer: np.ndarray
    status: int


def patched(a: Description, b: Description, pose_a: Any, pose_b: Any, tolerance: float = TOLERANCE) -> Patch:
    """The patch of one pair; poses are (R, p)."""
    catalogue = Catalogue()
    pairs = np.array([[catalogue.add(a[0], **a[1]), catalogue.add(b[0], **b[1])]])
    X, Y = (np.hstack([np.ravel(R), p]).astype(float)[None] for R, p in (pose_a, pose_b))
    answers, status = np.zeros((1, ANSWER)), np.zeros(1, dtype=int)
    tables = catalogue.tables()
    distances(tables, pairs, X, Y, SCRATCH, answers, status)
    polygons, counts = np.zeros((1, MOST_OF_PATCH, 3)), np.zeros(1, dtype=int)
    areas, centres = np.zeros(1), np.zeros((1, 3))
    patches(tables, pairs, X, Y, answers, tolerance, PATCH_SCRATCH, polygons, counts, areas, centres, status)
    return Patch(polygons[0, : counts[0]], float(areas[0]), centres[0], answers[0], int(status[0]))


def box(*edges: float) -> Description:
    return "box", {"size": edges}


def hull(points: np.ndarray) -> Description:
    return "hull", {"points": points}


CYLINDER: Description = ("cylinder", {"radius": 0.5, "length": 1.0})
CONE: Description = ("cone", {"radius": 0.5, "length": 1.0})
CAPSULE: Description = ("capsule", {"radius": 0.25, "length": 2.0})
SPHERE: Description = ("sphere", {"radius": 0.5})
GROUND: Description = ("half-space", {})
X_UP = Rotation.from_rotvec([0, math.pi / 2, 0]).as_matrix()
TURNED_45 = Rotation.from_rotvec([0, 0, math.pi / 4]).as_matrix()
DISC = 32 * math.sin(2 * math.pi / 64) * 0.25  # the polygon of 64 points in the circle of 0.5 m


@pytest.mark.parametrize(
    ("a", "b", "pose", "count", "area", "centre"),
    [
        (box(1, 1, 1), box(1, 1, 1), (UNIT, (0.25, 0, 1)), 4, 0.75, (0.125, 0, 0.5)),
        (box(1, 1, 1), box(1, 1, 1), (UNIT, (0.25, 0.5, 1.5)), 4, 0.375, (0.125, 0.25, 0.75)),
        (box(1, 1, 1), box(1, 1, 1), (UNIT, (0.25, 0.5, 0.9)), 4, 0.375, (0.125, 0.25, 0.45)),
        (box(1, 1, 1), box(1, 1, 1), (TURNED_45, (0, 0, 1)), 8, 2 * (math.sqrt(2) - 1), (0, 0, 0.5)),
        (box(1, 1, 1), hull(CUBE), (TURNED_45, (0, 0, 1)), 8, 2 * (math.sqrt(2) - 1), (0, 0, 0.5)),
        (box(1, 1, 1), box(1, 1, 1), (UNIT, (1, 0.25, 1)), 2, 0.0, (0.5, 0.125, 0.5)),
        (box(1, 1, 1), box(1, 1, 1), (UNIT, (1, 1, 1)), 1, 0.0, (0.5, 0.5, 0.5)),
        (box(4, 4, 1), CYLINDER, (UNIT, (0.5, 0, 1)), 64, DISC, (0.5, 0, 0.5)),
        (box(4, 4, 1), CYLINDER, (X_UP, (0.5, 0, 1)), 2, 0.0, (0.5, 0, 0.5)),
        (box(4, 4, 1), CONE, (UNIT, (0.5, 0, 1)), 64, DISC, (0.5, 0, 0.5)),
        (box(4, 4, 1), CAPSULE, (X_UP, (0.5, 0, 1)), 2, 0.0, (0.5, 0, 0.625)),
        (box(4, 4, 1), CAPSULE, (X_UP, (2, 0, 1)), 2, 0.0, (1.5, 0, 0.625)),
        (box(4, 4, 1), SPHERE, (UNIT, (1, 0, 1)), 1, 0.0, (1, 0, 0.5)),
        (CYLINDER, CYLINDER, (UNIT, (0, 0, 1)), 64, DISC, (0, 0, 0.5)),
        (CYLINDER, CYLINDER, (UNIT, (1, 0, 0.5)), 2, 0.0, (0.5, 0, 0.25)),
        (CYLINDER, CYLINDER, (X_UP, (0, 0, 1)), 2, 0.0, (0, 0, 0.5)),
        (CAPSULE, CAPSULE, (UNIT, (0, 0.5, 0.5)), 2, 0.0, (0, 0.25, 0.25)),
        (CAPSULE, CAPSULE, (X_UP, (0, 0.5, 0.5)), 1, 0.0, (0, 0.25, 0.5)),
        (GROUND, box(1, 2, 1), (UNIT, (3, 0, 0.5)), 4, 2.0, (3, 0, 0)),
        (GROUND, CYLINDER, (UNIT, (3, 0, 0.4)), 64, DISC, (3, 0, -0.05)),
        (GROUND, CAPSULE, (X_UP, (3, 0, 0.25)), 2, 0.0, (3, 0, 0)),
        (GROUND, SPHERE, (UNIT, (3, 0, 0.5)), 1, 0.0, (3, 0, 0)),
    ],
)
def test_parallel_features_have_the_patch_that_they_share(
    a: Description, b: Description, pose: Any, count: int, area: float, centre: Any
) -> None:
    for first, second, X, Y in ((a, b, (UNIT, (0, 0, 0)), pose), (b, a, pose, (UNIT, (0, 0, 0)))):
        patch = patched(first, second, X, Y)
        assert patch.status == PATCHED
        assert len(patch.polygon) == count
        assert patch.area == pytest.approx(area, abs=1e-12)
        np.testing.assert_allclose(patch.centre, centre, rtol=0, atol=1e-12)


def test_shapes_without_parallel_features_meet_in_the_point_between_their_witnesses() -> None:
    rng = np.random.default_rng(1)
    for k in range(100):
        a, b = (random_shape(KINDS[i], rng) for i in rng.integers(0, len(KINDS), 2))
        X, Y = ((T[:9].reshape(3, 3), T[9:] + np.array([0, 0, 3.0 * i])) for i, T in enumerate(random_poses(2, rng)))
        patch = patched(a, b, X, Y)
        assert len(patch.polygon) == 1, k
        middle = 0.5 * (patch.answer[4:7] + patch.answer[7:10])
        np.testing.assert_allclose(patch.centre, middle, rtol=0, atol=1e-9)


def test_faces_in_a_random_pose_have_a_convex_patch_on_both() -> None:
    rng = np.random.default_rng(2)
    seen = 0
    for _ in range(200):
        points = [np.vstack([c, [0.1, 0.1, 0.8]]) for c in (rng.normal(size=(6, 3)) * [1, 1, 0] for _ in range(2))]
        lower, upper = hull(points[0] * [1, 1, -1]), hull(points[1])
        R = Rotation.from_quat(rng.normal(size=4)).as_matrix()
        spin = Rotation.from_rotvec([0, 0, rng.uniform(0, 6)]).as_matrix()
        patch = patched(lower, upper, (R, (1, 2, 3)), (R @ spin, np.add((1, 2, 3), R @ [0.2, 0.1, 0.3])))
        if patch.answer[1:4] @ R[:, 2] < 1 - 1e-12:
            continue  # faces that do not lie above each other
        if len(patch.polygon) < 3:
            continue
        seen += 1
        edges = np.roll(patch.polygon, -1, axis=0) - patch.polygon
        turns = np.cross(edges, np.roll(edges, -1, axis=0)) @ patch.answer[1:4]
        assert (turns > 0.0).all()
        for x in (*patch.polygon, patch.centre):
            for shape, T, sign in (
                (lower, (R, (1, 2, 3)), -1),
                (upper, (R @ spin, np.add((1, 2, 3), R @ [0.2, 0.1, 0.3])), 1),
            ):
                on = local(np.hstack([np.ravel(T[0]), T[1]]), x + 0.5 * sign * patch.answer[0] * patch.answer[1:4])
                assert outside(shape, on) < 1e-12
    assert seen > 50


def test_a_face_tilted_beyond_the_tolerance_touches_along_its_edge() -> None:
    for angle, count in ((1e-8, 4), (1e-4, 2)):
        tilted = Rotation.from_rotvec([angle, 0, 0]).as_matrix()
        assert len(patched(GROUND, box(1, 1, 1), (UNIT, (0, 0, 0)), (tilted, (0, 0, 0.5))).polygon) == count
        assert len(patched(GROUND, box(1, 1, 1), (UNIT, (0, 0, 0)), (tilted, (0, 0, 0.5)), 1e-3).polygon) == 4


def test_a_face_of_too_many_corners_is_told() -> None:
    angle = np.arange(200) * 2 * np.pi / 200
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(200)])
    drum = hull(np.vstack([ring, ring + np.array([0, 0, 1])]))
    assert patched(GROUND, drum, (UNIT, (0, 0, 0)), (UNIT, (0, 0, 0))).status == TOO_MANY
