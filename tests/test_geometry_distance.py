"""Distances of convex shapes: the conditions of a shortest way, on random and on degenerate shapes and poses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from geometry_lab import (
    CUBE,
    KINDS,
    Description,
    deepest_by_brute_force,
    local,
    outside,
    random_poses,
    random_shape,
    slab,
    violation,
)  # fmt: skip
from scipy.spatial.transform import Rotation

import nexdyn as nx
from nexdyn.geometry.kinds import Catalogue
from nexdyn.geometry.narrow import ANSWER, FOUND, NO_DISTANCE, NOT_FINITE, distances, work

COMPILED = hasattr(distances, "py_func")
MANY = 20_000 if COMPILED else 200
UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
ROUNDED = 1e-12
SCRATCH = work()


def table(shapes: list[Description]) -> Any:
    catalogue = Catalogue()
    for name, sizes in shapes:
        catalogue.add(name, **sizes)
    return catalogue.tables()


def queried(
    tables: Any, pairs: np.ndarray, poses_a: np.ndarray, poses_b: np.ndarray, start: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Answers and status of pairs of shapes."""
    answers, status = np.zeros((len(pairs), ANSWER)), np.full(len(pairs), -1)
    if start is not None:
        answers[:, 1:4] = start
    distances(tables, np.ascontiguousarray(pairs), poses_a, poses_b, SCRATCH, answers, status)
    return answers, status


def one(
    a: Description, b: Description, p: Any = (0, 0, 0), q: Any = (0, 0, 0), R: Any = UNIT, Q: Any = UNIT
) -> np.ndarray:
    """The answer of one pair at positions p, q with rotations R, Q."""
    pose_a, pose_b = (np.hstack([np.ravel(T), x]).astype(float)[None] for T, x in ((R, p), (Q, q)))
    answers, status = queried(table([a, b]), np.array([[0, 1]]), pose_a, pose_b)
    assert status.tolist() == [FOUND]
    assert np.isfinite(answers).all()
    return np.asarray(answers[0])


def sphere(radius: float) -> Description:
    return "sphere", {"radius": radius}


def capsule(radius: float, length: float) -> Description:
    return "capsule", {"radius": radius, "length": length}


def box(*edges: float) -> Description:
    return "box", {"size": edges}


def cylinder(radius: float, length: float) -> Description:
    return "cylinder", {"radius": radius, "length": length}


def cone(radius: float, length: float) -> Description:
    return "cone", {"radius": radius, "length": length}


def ellipsoid(*semi_axes: float) -> Description:
    return "ellipsoid", {"semi_axes": semi_axes}


def hull(points: np.ndarray) -> Description:
    return "hull", {"points": points}


HALF_SPACE: Description = ("half-space", {})


@pytest.fixture(scope="module")
def crowd() -> tuple[list[Description], Any, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Random shapes of all kinds in random poses, a third of the pairs overlapping, and their answers."""
    rng = np.random.default_rng(22)
    shapes = [random_shape(kind, rng) for kind in KINDS for _ in range(6)]
    pairs = rng.integers(0, len(shapes), (MANY, 2))
    poses_a, poses_b = random_poses(MANY, rng), random_poses(MANY, rng)
    tables = table(shapes)
    answers, status = queried(tables, pairs, poses_a, poses_b)
    assert (status == FOUND).all()
    return shapes, tables, pairs, poses_a, poses_b, answers


def test_witness_points_lie_on_both_surfaces_along_the_normal_of_the_widest_slab(crowd: Any) -> None:
    shapes, _, pairs, poses_a, poses_b, answers = crowd
    assert np.isfinite(answers).all()
    assert 0.2 < (answers[:, 0] < 0.0).mean() < 0.5
    worst = np.array([
        violation(shapes[i], shapes[j], X, Y, answer)
        for (i, j), X, Y, answer in zip(pairs, poses_a, poses_b, answers, strict=True)
    ])  # fmt: skip
    assert worst[:, 0].max() < ROUNDED
    assert worst[:, 1].max() < 1e-14
    assert answers[:, 10].max() < 1e-12


def test_no_direction_parts_two_shapes_sooner(crowd: Any) -> None:
    shapes, _, pairs, poses_a, poses_b, answers = crowd
    rng = np.random.default_rng(5)
    directions = rng.normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for k in range(0, len(pairs), max(1, len(pairs) // 4000)):
        i, j = pairs[k]
        near = answers[k, 1:4] + 0.1 * directions[:100]
        near /= np.linalg.norm(near, axis=1)[:, None]
        widths = slab(shapes[i], shapes[j], poses_a[k], poses_b[k], np.vstack([directions, near]))
        assert widths.max() <= answers[k, 0] + 1e-12, (shapes[i], shapes[j])


def test_bodies_in_the_other_order_give_the_same_answer_bit_for_bit(crowd: Any) -> None:
    _, tables, pairs, poses_a, poses_b, answers = crowd
    swapped, _ = queried(tables, pairs[:, ::-1], poses_b, poses_a)
    np.testing.assert_array_equal(swapped[:, 0], answers[:, 0])
    np.testing.assert_array_equal(swapped[:, 1:4], -answers[:, 1:4])
    np.testing.assert_array_equal(swapped[:, 4:7], answers[:, 7:10])
    np.testing.assert_array_equal(swapped[:, 7:10], answers[:, 4:7])


def test_an_answer_has_the_same_bits_whatever_was_asked_before_it(crowd: Any) -> None:
    """In any order of the pairs, and alone with scratch of its own."""
    _, tables, pairs, poses_a, poses_b, answers = crowd
    order = np.random.default_rng(3).permutation(len(pairs))
    shuffled, _ = queried(tables, pairs[order], poses_a[order], poses_b[order])
    np.testing.assert_array_equal(shuffled, answers[order])
    for k in range(0, len(pairs), max(1, len(pairs) // 200)):
        alone, status = np.zeros((1, ANSWER)), np.zeros(1, dtype=int)
        distances(tables, pairs[k : k + 1], poses_a[k : k + 1], poses_b[k : k + 1], work(), alone, status)
        np.testing.assert_array_equal(alone[0], answers[k])


def test_an_answer_does_not_depend_on_where_the_search_begins(crowd: Any) -> None:
    _, tables, pairs, poses_a, poses_b, answers = crowd
    rng = np.random.default_rng(6)
    for start in (answers[:, 1:4], -answers[:, 1:4], rng.normal(size=(len(pairs), 3))):
        again, _ = queried(tables, pairs, poses_a, poses_b, start)
        apart = answers[:, 0] > 0.0
        assert np.abs(again[apart, 0] - answers[apart, 0]).max() < ROUNDED
        # overlapping: of minima that differ by less than the polytope's gap either may be found
        assert np.abs(again[:, 0] - answers[:, 0]).max() < 1e-5


def test_distances_are_the_same_in_every_frame_and_scale_with_the_world() -> None:
    rng = np.random.default_rng(7)
    shapes = [random_shape(kind, rng) for kind in KINDS]
    count = 2000 if COMPILED else 50
    pairs = rng.integers(0, len(shapes), (count, 2))
    poses_a, poses_b = random_poses(count, rng), random_poses(count, rng)
    answers, _ = queried(table(shapes), pairs, poses_a, poses_b)
    S, s = Rotation.from_rotvec([1.0, -2.0, 0.5]).as_matrix(), np.array([3.0, -1.0, 2.0])

    def carried(poses: np.ndarray) -> np.ndarray:
        R = S @ poses[:, :9].reshape(-1, 3, 3)
        return np.hstack([R.reshape(-1, 9), poses[:, 9:] @ S.T + s])

    moved, _ = queried(table(shapes), pairs, carried(poses_a), carried(poses_b))
    apart = answers[:, 0] > 0.0
    assert np.abs(moved[apart, 0] - answers[apart, 0]).max() < 1e-11
    assert np.abs(moved[:, 0] - answers[:, 0]).max() < 1e-5
    for factor in (1e-6, 1e6):
        scaled = [(kind, {key: np.multiply(x, factor) for key, x in sizes.items()}) for kind, sizes in shapes]
        stretch = np.array([1.0] * 9 + [factor] * 3)
        larger, _ = queried(table(scaled), pairs, poses_a * stretch, poses_b * stretch)
        assert np.abs(larger[apart, 0] / factor - answers[apart, 0]).max() < 1e-11
        assert np.abs(larger[:, 0] / factor - answers[:, 0]).max() < 1e-5


def test_polytopes_overlap_by_what_all_their_normals_and_edges_say() -> None:
    rng = np.random.default_rng(8)
    count = 300 if COMPILED else 20
    clouds = [random_shape("hull", rng, corners=8)[1]["points"] for _ in range(12)] + [CUBE * rng.uniform(0.3, 2, 3)]
    pairs = rng.integers(0, len(clouds), (count, 2))
    poses_a, poses_b = random_poses(count, rng, 0.2), random_poses(count, rng, 0.2)
    answers, _ = queried(table([hull(points) for points in clouds]), pairs, poses_a, poses_b)
    overlapping = 0
    for (i, j), X, Y, answer in zip(pairs, poses_a, poses_b, answers, strict=True):
        x, y = (clouds[m] @ T[:9].reshape(3, 3).T + T[9:] for m, T in ((i, X), (j, Y)))
        if answer[0] < 0.0:
            overlapping += 1
            assert answer[0] == pytest.approx(deepest_by_brute_force(x, y), abs=1e-12)
    assert overlapping > count // 2


def test_boxes_and_their_hulls_give_the_same_distances() -> None:
    rng = np.random.default_rng(9)
    count = 2000 if COMPILED else 50
    edges = rng.uniform(0.1, 2.0, (4, 3))
    shapes = (
        [box(*size) for size in edges] + [hull(CUBE * size) for size in edges] + [cylinder(0.3, 1.0), cone(0.5, 0.5)]
    )
    pairs = np.column_stack([rng.integers(0, 4, count), rng.integers(0, 10, count)])
    poses_a, poses_b = random_poses(count, rng), random_poses(count, rng)
    boxes, _ = queried(table(shapes), pairs, poses_a, poses_b)
    hulls, _ = queried(table(shapes), pairs + np.array([4, 0]), poses_a, poses_b)
    assert np.abs(boxes[:, 0] - hulls[:, 0]).max() < 1e-12


@pytest.mark.parametrize("shape", [cylinder(0.5, 1.0), cone(0.5, 1.0), ellipsoid(0.5, 0.7, 0.3)], ids=lambda s: s[0])
def test_a_round_shape_and_its_hull_of_points_agree_to_the_chord_error(shape: Description) -> None:
    rng = np.random.default_rng(10)
    angle = np.arange(128) * 2 * np.pi / 128
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(128)])
    if shape[0] == "ellipsoid":
        points = rng.normal(size=(3000, 3))
        points = points / np.linalg.norm(points, axis=1)[:, None] * shape[1]["semi_axes"]
        chord = 0.01
    else:
        top = ring if shape[0] == "cylinder" else np.zeros((1, 3))
        points = np.vstack([0.5 * ring - [0, 0, 0.5], 0.5 * top + [0, 0, 0.5]])
        chord = 0.5 * (1 - math.cos(math.pi / 128))
    count = 300 if COMPILED else 10
    shapes = [shape, hull(points), box(1.0, 0.4, 0.2)]
    poses_a, poses_b = random_poses(count, rng), random_poses(count, rng)
    exact, _ = queried(table(shapes), np.tile([0, 2], (count, 1)), poses_a, poses_b)
    faceted, _ = queried(table(shapes), np.tile([1, 2], (count, 1)), poses_a, poses_b)
    assert (faceted[:, 0] >= exact[:, 0] - 1e-9).all()  # the hull lies inside
    assert np.abs(faceted[:, 0] - exact[:, 0]).max() < chord


def test_distances_are_those_of_coal() -> None:
    coal = pytest.importorskip("coal")
    rng = np.random.default_rng(11)
    shapes = [random_shape(kind, rng) for kind in KINDS if kind != "hull" for _ in range(3)]
    made = {
        "sphere": lambda s: coal.Sphere(s["radius"]),
        "capsule": lambda s: coal.Capsule(s["radius"], s["length"]),
        "box": lambda s: coal.Box(*s["size"]),
        "cylinder": lambda s: coal.Cylinder(s["radius"], s["length"]),
        "cone": lambda s: coal.Cone(s["radius"], s["length"]),
        "ellipsoid": lambda s: coal.Ellipsoid(*s["semi_axes"]),
    }
    theirs = [made[kind](sizes) for kind, sizes in shapes]
    count = 3000 if COMPILED else 50
    pairs = rng.integers(0, len(shapes), (count, 2))
    poses_a, poses_b = random_poses(count, rng), random_poses(count, rng)
    answers, _ = queried(table(shapes), pairs, poses_a, poses_b)
    request = coal.DistanceRequest()
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    for (i, j), X, Y, answer in zip(pairs, poses_a, poses_b, answers, strict=True):
        placed = [coal.Transform3s(T[:9].reshape(3, 3), T[9:]) for T in (X, Y)]
        d = coal.distance(theirs[i], placed[0], theirs[j], placed[1], request, coal.DistanceResult())
        if answer[0] > 0.0:
            assert answer[0] == pytest.approx(d, abs=1e-6)
        else:
            assert d <= answer[0] + 1e-5  # no direction that it finds parts them sooner


ROTATIONS = Rotation.create_group("O").as_matrix()
TURNED_45 = Rotation.from_rotvec([0, 0, math.pi / 4]).as_matrix()
X_UP = Rotation.from_rotvec([0, math.pi / 2, 0]).as_matrix()  # z to x


@pytest.mark.parametrize(
    ("a", "b", "q", "Q", "d"),
    [
        (box(1, 1, 1), box(1, 1, 1), (1.5, 0, 0), UNIT, 0.5),
        (box(1, 1, 1), box(1, 1, 1), (1, 0, 0), UNIT, 0.0),
        (box(1, 1, 1), box(1, 1, 1), (1, 1, 0), UNIT, 0.0),
        (box(1, 1, 1), box(1, 1, 1), (1, 1, 1), UNIT, 0.0),
        (box(1, 1, 1), box(1, 1, 1), (0.75, 0.25, 0), UNIT, -0.25),
        (box(1, 1, 1), box(1, 1, 1), (0, 0, 0), UNIT, -1.0),
        (box(1, 1, 1), box(1, 1, 1), (0, 0, 0), TURNED_45, -1.0),
        (box(1, 1, 1), box(1, 1, 1), (2, 0, 0), TURNED_45, 1.5 - math.sqrt(0.5)),
        (hull(CUBE), box(1, 1, 1), (0, 1, 0.5), UNIT, 0.0),
        (hull(CUBE), hull(CUBE), (0, 0, 0), UNIT, -1.0),
        (box(4, 4, 1e-3), box(1e-3, 1e-3, 4), (0, 0, 1), UNIT, -1.0005),
        (sphere(1), sphere(0.5), (0, 0, 0), UNIT, -1.5),
        (sphere(1), sphere(0.5), (0, 1.5, 0), UNIT, 0.0),
        (sphere(0.5), box(1, 1, 1), (0, 0, 0), UNIT, -1.0),
        (sphere(0.5), box(1, 1, 1), (0.5, 0, 0), UNIT, -0.5),
        (sphere(0.5), box(1, 1, 1), (0.5, 0.5, 0.5), UNIT, -0.5),
        (sphere(0.5), cylinder(1, 2), (0, 0, 0), UNIT, -1.5),
        (sphere(0.5), cone(1, 2), (0, 0, -1), UNIT, -0.5),
        (sphere(0.5), ellipsoid(1, 2, 3), (0, 0, 0), UNIT, -1.5),
        (sphere(0.5), capsule(0.25, 2), (0, 0, 0.5), UNIT, -0.75),
        (capsule(0.25, 2), capsule(0.25, 2), (1, 0, 0.5), UNIT, 0.5),
        (capsule(0.25, 2), capsule(0.25, 2), (0, 0, 0), X_UP, -0.5),
        (capsule(0.25, 2), capsule(0.25, 2), (0, 0, 0), UNIT, -0.5),
        (capsule(0.25, 2), capsule(0.25, 2), (0, 0, 3), UNIT, 0.5),
        (capsule(0.25, 2), capsule(0.25, 2), (1, 0, 1), X_UP, -0.5),
        (capsule(0.25, 2), capsule(0.25, 2), (0, 0, 2), UNIT, -0.5),
        (cylinder(0.5, 1), box(1e-3, 1e-3, 3), (0, 0, 0), UNIT, -0.5005),
        (ellipsoid(0.5, 0.5, 0.5), box(2, 1, 1), (1, 0.5, 0), UNIT, -0.5),
        (capsule(0.25, 2), box(1, 1, 1), (0, 0, 0), UNIT, -0.75),
        (capsule(0.25, 2), box(1, 1, 1), (1, 0, 0), UNIT, 0.25),
        (cylinder(0.5, 1), cylinder(0.5, 1), (0, 0, 1), UNIT, 0.0),
        (cylinder(0.5, 1), cylinder(0.5, 1), (0, 0, 1.5), UNIT, 0.5),
        (cylinder(0.5, 1), cylinder(0.5, 1), (1, 0, 0.5), UNIT, 0.0),
        (cylinder(0.5, 1), cylinder(0.5, 1), (1.5, 0, 0.25), UNIT, 0.5),
        (cylinder(0.5, 1), cylinder(0.5, 1), (0, 0, 0), UNIT, -1.0),
        (cylinder(0.5, 1), cylinder(0.5, 1), (1, 0, 1), X_UP, math.hypot(0.5, 0.0) - 0.5),
        (cylinder(0.5, 1), box(1, 1, 1), (0.25, 0.25, 1.25), UNIT, 0.25),
        (cylinder(0.5, 1), cone(0.5, 1), (0, 0, 1), UNIT, 0.0),
        (cone(0.5, 1), cone(0.5, 1), (0, 0, 1), UNIT, 0.0),
        (cone(0.5, 1), box(1, 1, 1), (0, 0, 1.25), UNIT, 0.25),
        (ellipsoid(1, 0.5, 0.5), ellipsoid(1, 0.5, 0.5), (2, 0, 0), UNIT, 0.0),
        (ellipsoid(1, 0.5, 0.5), ellipsoid(1, 0.5, 0.5), (0, 0, 0), UNIT, -1.0),
        (ellipsoid(0.5, 0.5, 0.5), ellipsoid(0.5, 0.5, 0.5), (0, 0, 0), UNIT, -1.0),
        (ellipsoid(1, 0.5, 0.25), box(1, 1, 1), (0, 0, 1), UNIT, 0.25),
        (HALF_SPACE, sphere(0.5), (3, 4, 0.25), UNIT, -0.25),
        (HALF_SPACE, box(1, 1, 1), (0, 0, 0.5), UNIT, 0.0),
        (HALF_SPACE, ellipsoid(1, 1, 2), (0, 0, 3), X_UP, 2.0),
        (HALF_SPACE, hull(CUBE), (0, 0, 1), TURNED_45, 0.5),
        (HALF_SPACE, capsule(0.25, 2), (0, 0, 1), X_UP, 0.75),
    ],
)  # fmt: skip
def test_flat_parallel_concentric_and_touching_shapes_have_their_known_distance(
    a: Description, b: Description, q: Any, Q: Any, d: float
) -> None:
    for first, second, sign in ((a, b, 1.0), (b, a, -1.0)):
        poses = {"q": q, "Q": Q} if sign > 0 else {"p": q, "R": Q}
        answer = one(first, second, **poses)
        assert answer[0] == pytest.approx(d, abs=1e-14)
        assert np.linalg.norm(answer[1:4]) == pytest.approx(1.0, abs=1e-14)
        np.testing.assert_allclose(answer[7:10] - answer[4:7], answer[0] * answer[1:4], rtol=0, atol=1e-14)
        frames = [np.hstack([np.ravel(UNIT), (0, 0, 0)]), np.hstack([np.ravel(Q), q])][:: int(sign)]
        for shape, pose, x in ((first, frames[0], answer[4:7]), (second, frames[1], answer[7:10])):
            if shape is not HALF_SPACE:
                assert abs(outside(shape, local(pose, x))) < 1e-14


@pytest.mark.parametrize("tilt", [0.0, 1.0])
def test_poses_on_a_grid_or_all_but_on_it_give_numbers_with_an_honest_error(tilt: float) -> None:
    """Coplanar faces, parallel edges, coaxial and concentric shapes, needles and plates, exactly or to 1e-15 … 1e-2."""
    rng = np.random.default_rng(12)
    shapes = [
        sphere(0.5), capsule(0.5, 1), box(1, 1, 1), box(2, 1, 0.5), cylinder(0.5, 1), cone(0.5, 1), ellipsoid(0.5, 0.5, 0.5),
        ellipsoid(1, 0.5, 0.5), hull(CUBE), hull(CUBE * [4, 1e-3, 1e-3]), hull(np.eye(4)[:, :3]), box(4, 4, 1e-3),
        cylinder(1e-3, 4), cylinder(2, 1e-3), cone(1e-2, 4), ellipsoid(2, 0.01, 0.02), capsule(1e-3, 4),
    ]  # fmt: skip
    pairs = rng.integers(0, len(shapes), (MANY, 2))
    poses = []
    for _ in range(2):
        turn = Rotation.from_rotvec(
            tilt * rng.normal(size=(MANY, 3)) * 10.0 ** rng.uniform(-15, -2, (MANY, 1))
        ).as_matrix()
        shift = tilt * rng.normal(size=(MANY, 3)) * 10.0 ** rng.uniform(-16, -3, (MANY, 1))
        R = ROTATIONS[rng.integers(0, 24, MANY)] @ turn
        poses.append(np.hstack([R.reshape(MANY, 9), 0.25 * rng.integers(-6, 7, (MANY, 3)) + shift]))
    answers, status = queried(table(shapes), pairs, *poses)
    assert (status == FOUND).all()
    assert np.isfinite(answers).all()
    assert np.abs(np.linalg.norm(answers[:, 1:4], axis=1) - 1.0).max() < 1e-14
    # what is left overlaps by all but the same depth in many directions, or is a needle; its error is told
    assert (answers[:, 10] > 2e-12).mean() < 1e-3
    assert (answers[:, 10] > 1e-7).mean() < 2e-4
    for k in range(0, MANY, max(1, MANY // 4000)):
        i, j = pairs[k]
        by, _ = violation(shapes[i], shapes[j], poses[0][k], poses[1][k], answers[k])
        assert by < max(2.0 * answers[k, 10], 2e-12), (shapes[i], shapes[j])


def test_two_half_spaces_have_a_distance_only_face_to_face() -> None:
    over = Rotation.from_rotvec([math.pi, 0, 0]).as_matrix()
    answer = one(HALF_SPACE, HALF_SPACE, q=(0, 0, 2), Q=over)
    assert answer[0] == pytest.approx(2.0, abs=1e-14)
    poses = np.hstack([UNIT, (0, 0, 0)])[None], np.hstack([UNIT, (0, 0, 1)])[None]
    answers, status = queried(table([HALF_SPACE]), np.array([[0, 0]]), *poses)
    assert status.tolist() == [NO_DISTANCE]
    assert np.isfinite(answers).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_pose_that_is_not_finite_is_told_by_its_status(kind: str) -> None:
    tables = table([random_shape(kind, np.random.default_rng(1)), box(1, 1, 1)])
    for wrong in (math.nan, math.inf):
        for entry in (0, 8, 9):
            pose_a, pose_b = np.hstack([UNIT, (0, 0, 0)])[None], np.hstack([UNIT, (0.3, 0, 0)])[None]
            pose_a[0, entry] = wrong
            _, status = queried(
                tables, np.array([[0, 1], [1, 0]]), np.vstack([pose_a, pose_b]), np.vstack([pose_b, pose_a])
            )
            assert (status == NOT_FINITE).all()


def test_shapes_far_apart_and_far_from_the_origin_keep_their_digits() -> None:
    far = np.array([1e6, -2e6, 3e6])
    near = one(cone(0.5, 1), cylinder(0.5, 1), q=(2, 1, 0.5), Q=TURNED_45 @ X_UP)
    moved = one(cone(0.5, 1), cylinder(0.5, 1), p=far, q=far + np.array([2, 1, 0.5]), Q=TURNED_45 @ X_UP)
    assert moved[0] == pytest.approx(near[0], abs=1e-13)  # only the difference of positions counts
    across = one(box(1, 1, 1), ellipsoid(1, 2, 3), q=(1e6, 0, 0))
    assert across[0] == pytest.approx(1e6 - 1.5, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "sizes", "told"),
    [
        ("blob", {}, "no shape 'blob'"),
        ("spher", {"radius": 1.0}, "did you mean 'sphere'"),
        ("sphere", {"radius": 0.0}, "radius of the sphere is 0; it must be greater than 0"),
        ("sphere", {"radius": math.nan}, "radius of the sphere is nan"),
        ("sphere", {"radius": "wide"}, "radius of the sphere is 'wide'; a length"),
        ("sphere", {"size": 1.0}, "a sphere is made from radius; size is given"),
        ("capsule", {"radius": 1.0, "length": -1.0}, "length of the capsule is -1"),
        ("box", {"size": (1.0, 2.0)}, "three edges"),
        ("box", {"size": (1.0, math.inf, 1.0)}, r"size\[1\] of the box is inf"),
        ("ellipsoid", {"semi_axes": (1.0, 1.0, 0.0)}, r"semi_axes\[2\] of the ellipsoid is 0"),
        ("hull", {"points": CUBE[:3]}, "at least four points"),
        ("hull", {"points": CUBE * [1, 1, 0]}, "lie in one plane"),
        ("hull", {"points": np.full((5, 3), math.nan)}, "point 0 of the hull is not finite"),
        ("hull", {"points": "cube"}, "an array of shape"),
    ],
)
def test_a_shape_that_is_none_is_refused_by_name(name: str, sizes: dict[str, Any], told: str) -> None:
    with pytest.raises(nx.InputError, match=told):
        Catalogue().add(name, **sizes)
