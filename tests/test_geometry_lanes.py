"""Distances in SIMD lanes: every lane has what the scalar kernel finds for its pose, whatever the other lanes hold."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_lab import KINDS, random_poses, random_shape

from nexdyn.geometry.kinds import Catalogue
from nexdyn.geometry.lane_pairs import lane_distances
from nexdyn.geometry.narrow import ANSWER, FOUND, NO_DISTANCE, NOT_FINITE, distances, work
from nexdyn.spatial.lanes import LANES

COMPILED = hasattr(distances, "py_func")
ROUNDS = 20 if COMPILED else 1
ALL = ("half-space", *KINDS)


def in_lanes(catalogue: Catalogue, pairs: np.ndarray, X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Answers (n, LANES, ANSWER) and status (n, LANES) of pairs (n, 2) in poses (n, LANES, 12)."""
    n = len(pairs)
    answers, status = np.zeros((n, ANSWER, LANES)), np.full((n, LANES), -1)
    P, Q = (np.ascontiguousarray(np.swapaxes(poses, 1, 2)) for poses in (X, Y))
    lane_distances(catalogue.tables(), pairs, P, Q, work(), answers, status)
    return np.swapaxes(answers, 1, 2), status


def one_by_one(catalogue: Catalogue, pairs: np.ndarray, X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n = len(pairs) * LANES
    answers, status = np.zeros((n, ANSWER)), np.zeros(n, dtype=int)
    distances(
        catalogue.tables(), np.repeat(pairs, LANES, axis=0), X.reshape(n, 12), Y.reshape(n, 12), work(), answers, status
    )  # fmt: skip
    return answers.reshape(-1, LANES, ANSWER), status.reshape(-1, LANES)


@pytest.mark.parametrize("first", ALL)
def test_every_lane_has_the_answer_of_the_scalar_kernel(first: str) -> None:
    rng = np.random.default_rng(ALL.index(first))
    catalogue, pairs = Catalogue(), []
    for second in ALL:
        for _ in range(ROUNDS):
            made = [("half-space", {}) if kind == "half-space" else random_shape(kind, rng) for kind in (first, second)]
            pairs.append([catalogue.add(name, **sizes) for name, sizes in made])
    n = len(pairs)
    X, Y = (random_poses(n * LANES, rng).reshape(n, LANES, 12) for _ in range(2))
    answers, status = in_lanes(catalogue, np.array(pairs), X, Y)
    expected, told = one_by_one(catalogue, np.array(pairs), X, Y)
    np.testing.assert_array_equal(status, told)
    assert set(np.unique(status)) <= {FOUND, NO_DISTANCE}
    found = (told == FOUND) & (expected[:, :, 10] < 1e-9)
    assert found.sum() > 0.8 * n * LANES * (1.0 - 1.0 / len(ALL))
    np.testing.assert_allclose(answers[found], expected[found], atol=2e-12)


def test_degenerate_poses_have_their_scalar_answer_too() -> None:
    """Concentric, crossing, parallel, on an axis, on a face: where the scalar kernel branches."""
    catalogue = Catalogue()
    ids = {
        "sphere": catalogue.add("sphere", radius=0.5), "ball": catalogue.add("sphere", radius=0.6),
        "capsule": catalogue.add("capsule", radius=0.2, length=1.0),
        "box": catalogue.add("box", size=(1.0, 0.8, 0.6)), "cylinder": catalogue.add("cylinder", radius=0.4, length=1.0),
        "half-space": catalogue.add("half-space"), "cone": catalogue.add("cone", radius=0.4, length=1.0),
    }  # fmt: skip
    upright, lying = np.eye(3).ravel(), np.array([0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0])
    places = [(0, 0, 0), (0, 0, 0.25), (0.5, 0, 0), (0.4, 0, 0.5), (0, 0, 2), (1, 1, 1), (0.3, 0.3, 0), (0, 0.4, 0.2)]
    pairs, X, Y = [], [], []
    for a, b in (
        ("sphere", "ball"),
        ("sphere", "capsule"),
        ("sphere", "box"),
        ("cylinder", "sphere"),
        ("capsule", "capsule"),
        ("cone", "half-space"),
    ):
        for turn in (upright, lying):
            for begin in range(0, len(places), LANES):
                some = [places[(begin + k) % len(places)] for k in range(LANES)]
                pairs.append([ids[a], ids[b]])
                X.append([np.hstack([upright, np.zeros(3)])] * LANES)
                Y.append([np.hstack([turn, place]) for place in some])
    answers, status = in_lanes(catalogue, np.array(pairs), np.array(X), np.array(Y))
    expected, _ = one_by_one(catalogue, np.array(pairs), np.array(X), np.array(Y))
    assert (status == FOUND).all() and np.isfinite(answers).all()
    np.testing.assert_allclose(answers[:, :, 0], expected[:, :, 0], atol=1e-15)
    np.testing.assert_allclose(answers[:, :, 1:10], expected[:, :, 1:10], atol=1e-14)


def test_a_lane_that_is_not_finite_leaves_the_others_their_bits() -> None:
    rng = np.random.default_rng(9)
    catalogue = Catalogue()
    pairs = np.array([
        [catalogue.add("sphere", radius=0.5), catalogue.add("box", size=(1.0, 1.0, 1.0))],
        [catalogue.add("hull", points=rng.normal(size=(12, 3))), catalogue.add("cone", radius=0.4, length=1.0)],
        [catalogue.add("hull", points=rng.normal(size=(12, 3))), catalogue.add("hull", points=rng.normal(size=(12, 3)))],
    ])  # fmt: skip
    X, Y = (random_poses(3 * LANES, rng).reshape(3, LANES, 12) for _ in range(2))
    Y[2, :, 9:] += 8.0  # apart in every lane
    clean, _ = in_lanes(catalogue, pairs, X, Y)
    X[:, 1, 9] = np.nan
    answers, status = in_lanes(catalogue, pairs, X, Y)
    assert (status[:, 1] == NOT_FINITE).all() and not answers[:, 1].any()
    others = np.arange(LANES) != 1
    np.testing.assert_array_equal(answers[:, others], clean[:, others])


def hulls(rng: np.random.Generator, catalogue: Catalogue) -> list[int]:
    """A cube, a wedge, a flat stone and a round one, of corners."""
    cube = np.stack(np.meshgrid(*[[-0.5, 0.5]] * 3), axis=-1).reshape(-1, 3)
    round_one = rng.normal(size=(60, 3))
    shapes = (
        cube,
        cube[[0, 1, 2, 3, 4, 6]],
        rng.normal(size=(9, 3)) * (1.0, 1.0, 1e-3),
        round_one / np.linalg.norm(round_one, axis=1)[:, None],
    )
    return [catalogue.add("hull", points=points) for points in shapes]


def test_hulls_far_near_touching_and_deep_have_their_scalar_answer() -> None:
    """One pose of each sort in every pack, so that lanes end after unlike numbers of support points and by unlike ways."""
    rng = np.random.default_rng(4)
    catalogue = Catalogue()
    ids = [
        *hulls(rng, catalogue),
        catalogue.add("sphere", radius=0.3),
        catalogue.add("capsule", radius=0.2, length=0.7),
    ]
    ids.append(catalogue.add("box", size=(0.7, 0.5, 0.4)))
    pairs = np.array([(i, j) for i in ids for j in ids for _ in range(ROUNDS)])
    n = len(pairs)
    X, Y = (random_poses(n * LANES, rng).reshape(n, LANES, 12) for _ in range(2))
    away = rng.normal(size=(n, LANES, 3))
    away /= np.linalg.norm(away, axis=2)[:, :, None]
    Y[:, :, 9:] = X[:, :, 9:] + away * np.resize([2.5, 1.2, 0.9, 0.6, 0.3, 30.0, 1e-3, 0.0], LANES)[None, :, None]
    answers, status = in_lanes(catalogue, pairs, X, Y)
    expected, _ = one_by_one(catalogue, pairs, X, Y)
    assert (status == FOUND).all()
    assert (expected[:, :, 0] > 0.1).mean() > 0.3 and (expected[:, :, 0] < -0.01).mean() > 0.2
    np.testing.assert_allclose(answers[:, :, 0], expected[:, :, 0], atol=1e-12)
    apart = expected[:, :, 0] > 1e-3
    np.testing.assert_allclose(answers[apart][:, 1:10], expected[apart][:, 1:10], atol=1e-10)
    r = answers[:, :, 7:10] - answers[:, :, 4:7] - answers[:, :, :1] * answers[:, :, 1:4]
    assert np.abs(r).max() < 1e-12 * 30.0


def test_faces_of_hulls_that_are_parallel_have_their_distance_and_normal() -> None:
    rng = np.random.default_rng(6)
    catalogue = Catalogue()
    cube = hulls(rng, catalogue)[0]
    pairs = np.tile([cube, cube], (ROUNDS, 1))
    X = random_poses(ROUNDS * LANES, rng).reshape(ROUNDS, LANES, 12)
    Y, gap = X.copy(), rng.uniform(1e-3, 1.0, (ROUNDS, LANES))
    along = X[
        :, :, [0, 3, 6]
    ]  # the world's components of x: cubes side by side, shifted across by less than their edge
    across = X[:, :, [1, 4, 7]] * rng.uniform(-0.9, 0.9, (ROUNDS, LANES, 1))
    Y[:, :, 9:] = X[:, :, 9:] + along * (1.0 + gap)[:, :, None] + across
    answers, status = in_lanes(catalogue, pairs, X, Y)
    assert (status == FOUND).all()
    np.testing.assert_allclose(answers[:, :, 0], gap, atol=1e-14 * 10.0)
    np.testing.assert_allclose(answers[:, :, 1:4], along, atol=1e-11)


def test_swapped_shapes_have_the_same_bits_turned_round() -> None:
    """Also of equal shapes, whose poses decide which goes first, lane by lane."""
    rng = np.random.default_rng(8)
    catalogue = Catalogue()
    ids = [
        *hulls(rng, catalogue),
        *(catalogue.add(name, **sizes) for name, sizes in (random_shape(kind, rng) for kind in KINDS)),
    ]
    pairs = np.array([(i, j) for i in ids for j in ids])
    X, Y = (random_poses(len(pairs) * LANES, rng).reshape(-1, LANES, 12) for _ in range(2))
    there, _ = in_lanes(catalogue, pairs, X, Y)
    back, _ = in_lanes(catalogue, pairs[:, ::-1].copy(), Y, X)
    np.testing.assert_array_equal(there[:, :, 0], back[:, :, 0])
    np.testing.assert_array_equal(there[:, :, 1:4], -back[:, :, 1:4])
    np.testing.assert_array_equal(there[:, :, 4:7], back[:, :, 7:10])
