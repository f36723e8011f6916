"""The broad phase: the pairs that a comparison of all with all gives, in the same order, whatever went before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from geometry_lab import KINDS, random_poses, random_shape

import nexdyn as nx
from nexdyn.geometry import broad
from nexdyn.geometry.broad import TOO_LITTLE_ROOM, Crowd, near, room
from nexdyn.geometry.kinds import Catalogue, Tables
from nexdyn.geometry.narrow import FOUND, distances, work

COMPILED = hasattr(near, "py_func")
MANY = 300 if COMPILED else 40


def crowd_of(count: int, seed: int, **more: Any) -> tuple[Crowd, np.ndarray]:
    """Shapes of all kinds, sizes over four decades and two half-spaces, the first level."""
    rng = np.random.default_rng(seed)
    catalogue, shapes = Catalogue(), []
    for k in range(count):
        name, sizes = random_shape(KINDS[k % len(KINDS)], rng)
        scale = 10.0 ** rng.uniform(-3.0, 1.0)
        shapes.append(catalogue.add(name, **{key: scale * np.asarray(value) for key, value in sizes.items()}))
    shapes[:2] = [catalogue.add("half-space")] * 2
    poses = random_poses(count, rng, spread=5.0)
    poses[0] = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -2]
    return Crowd(catalogue.tables(), shapes, **more), poses


def all_with_all(boxes: np.ndarray) -> np.ndarray:
    low, high = boxes[:, :3], boxes[:, 3:]
    meet = ((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(axis=2)
    return np.argwhere(np.triu(meet, 1))


@pytest.mark.parametrize("margin", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_pairs_are_those_of_all_with_all(seed: int, margin: float) -> None:
    crowd, poses = crowd_of(MANY, seed, margin=margin)
    pairs = crowd.near(poses)
    assert len(pairs) > 0
    np.testing.assert_array_equal(pairs, all_with_all(crowd.boxes))


def test_along_a_motion_kept_candidates_miss_no_pair() -> None:
    crowd, poses = crowd_of(MANY, 9, margin=0.2)
    rng = np.random.default_rng(1)
    for _ in range(30):
        poses[:, 9:] += 0.05 * rng.uniform(-1.0, 1.0, (len(poses), 3))
        np.testing.assert_array_equal(crowd.near(poses), all_with_all(crowd.boxes))


def test_candidates_are_kept_until_a_box_leaves_its_fat_one() -> None:
    crowd, poses = crowd_of(MANY, 9, margin=0.2)
    crowd.near(poses)
    fat = crowd._room.fat.copy()
    poses[3:, 9:] += 0.19
    crowd.near(poses)
    np.testing.assert_array_equal(crowd._room.fat, fat)
    poses[5, 9:] += 0.02
    crowd.near(poses)
    assert (crowd._room.fat[5] != fat[5]).all()


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("step", [1.0, 8.0, 4096.0, 65536.0])
def test_lattices_of_any_pitch_have_their_pairs_and_crowd_no_place_of_the_table(axis: int, step: float) -> None:
    """Pairs of boxes 1 m across that touch, `step` m from the next along an axis: no multiple of the table's size is its stride."""
    n = 2000 if COMPILED else 40
    boxes = np.zeros((n, 6))
    boxes[:, :3], boxes[:, 3:] = -0.5, 0.5
    boxes[:, [axis, axis + 3]] += (2.0 * step * (np.arange(n) // 2) + 0.75 * (np.arange(n) % 2))[:, None]
    place = room(n, n)
    shape = (catalogue := Catalogue()).add("sphere", radius=0.5)
    crowd = Crowd(catalogue.tables(), np.full(n, shape))
    status, count = near(boxes, crowd.filters, 0.0, place, out := np.zeros((n, 2), dtype=np.int64))
    assert (status, count) == (broad.FOUND, n // 2)
    np.testing.assert_array_equal(out[:count], np.arange(n).reshape(-1, 2))
    assert np.diff(place.begin[1:]).max() <= 16


def test_shapes_in_another_order_have_the_same_pairs() -> None:
    crowd, poses = crowd_of(MANY, 2)
    shuffled = np.random.default_rng(5).permutation(MANY)
    again = Crowd(crowd.tables, crowd.shapes[shuffled]).near(poses[shuffled])
    named = np.sort(shuffled[again], axis=1)
    np.testing.assert_array_equal(named[np.lexsort(named.T[::-1])], crowd.near(poses))


def test_filters_leave_out_bodies_groups_and_pairs_set_apart() -> None:
    _, poses = crowd_of(MANY, 3)
    rng = np.random.default_rng(0)
    body, group, mask = rng.integers(0, 20, MANY), 1 << rng.integers(0, 3, MANY), rng.integers(0, 8, MANY)
    apart = rng.integers(0, 20, (40, 2))
    crowd, _ = crowd_of(MANY, 3, body=body, group=group, mask=mask, apart=apart)
    pairs = crowd.near(poses)
    every = all_with_all(crowd.boxes)
    i, j = every.T
    kept = (body[i] != body[j]) & (group[i] & mask[j] != 0) & (group[j] & mask[i] != 0)
    set_apart = {frozenset(pair) for pair in apart.tolist()}
    kept &= [frozenset((p, q)) not in set_apart for p, q in zip(body[i].tolist(), body[j].tolist(), strict=True)]
    assert 0 < kept.sum() < len(every)
    np.testing.assert_array_equal(pairs, every[kept])


def test_a_crowd_in_motion_has_the_distances_of_its_near_pairs() -> None:
    """From the last answers of a pair or from nothing, over pairs that come and go."""
    crowd, poses = crowd_of(MANY, 6, margin=0.1)
    rng = np.random.default_rng(2)
    seen: set[tuple[int, int]] = set()
    for _ in range(4):
        poses[:, 9:] += 0.2 * rng.uniform(-1.0, 1.0, (len(poses), 3))
        pairs, answers, status = crowd.distances(poses)
        np.testing.assert_array_equal(pairs, all_with_all(crowd.boxes))
        expected, told = np.zeros_like(answers), np.zeros_like(status)
        i, j = pairs.T
        distances(crowd.tables, crowd.shapes[pairs], poses[i], poses[j], work(), expected, told)
        np.testing.assert_array_equal(status, told)
        found, apart = told == FOUND, expected[:, 0] > 0.0
        assert np.abs(answers[found & apart, 0] - expected[found & apart, 0]).max() < 1e-12
        # overlapping: of minima that differ by less than the polytope's gap either may be found
        assert np.abs(answers[found, 0] - expected[found, 0]).max() < 1e-5
        now = set(map(tuple, pairs.tolist()))
        assert not COMPILED or not seen or (now - seen and seen - now and now & seen)
        seen = now


def test_too_little_room_is_told_with_what_is_needed() -> None:
    crowd, poses = crowd_of(MANY, 4)
    pairs = crowd.near(poses).copy()
    small, out = room(MANY, 3), np.zeros((3, 2), dtype=np.int64)
    assert near(crowd.boxes, crowd.filters, 0.0, small, out) == (TOO_LITTLE_ROOM, len(pairs))
    enough, out = room(MANY, len(pairs)), np.zeros((len(pairs), 2), dtype=np.int64)
    assert near(crowd.boxes, crowd.filters, 0.0, enough, out) == (broad.FOUND, len(pairs))
    np.testing.assert_array_equal(out, pairs)


def test_a_pose_that_is_not_finite_is_named_and_leaves_nothing_behind() -> None:
    crowd, poses = crowd_of(MANY, 4)
    good = crowd.near(poses).copy()
    for k in (0, 1, 7):
        wrong = poses.copy()
        wrong[k, 10:] = np.nan
        with pytest.raises(nx.InputError, match=f"the pose of shape {k} is not finite"):
            crowd.near(wrong)
    np.testing.assert_array_equal(crowd.near(poses), good)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"shapes": [0, 5]}, r"shapes\[1\] is 5; there are 1"),
        ({"shapes": [0.5]}, "whole numbers"),
        ({"margin": -1.0}, "margin is -1.0"),
        ({"body": [0]}, r"body is \[0\]"),
        ({"body": [0, -2]}, r"body\[1\] is -2"),
        ({"apart": [(0, 7)]}, "apart names body 7; there are 2"),
    ],
)
def test_a_crowd_that_is_none_is_refused(more: dict[str, Any], told: str) -> None:
    catalogue = Catalogue()
    catalogue.add("sphere", radius=1.0)
    tables: Tables = catalogue.tables()
    with pytest.raises(nx.InputError, match=told):
        Crowd(tables, **{"shapes": [0, 0], **more})
