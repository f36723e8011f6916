"""The earliest contact of moving shapes: never later than the first of a dense sample, and as near to it as is told."""

from __future__ import annotations

from typing import Any

import mesh_lab as lab
import numpy as np
import pytest
from geometry_lab import KINDS, random_poses, random_shape, width
from scipy.spatial.transform import Rotation

from nexdyn.geometry.kinds import Catalogue
from nexdyn.geometry.moving import APART, NO_ANSWER, TOUCH, first_contacts
from nexdyn.geometry.narrow import ANSWER, distances, work

COMPILED = hasattr(distances, "py_func")
MANY = 300 if COMPILED else 4
TOLERANCE = 1e-6
SCRATCH = work()


def moved(poses: np.ndarray, twists: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Poses (n, 12) at times (n,)."""
    turns = Rotation.from_rotvec(twists[:, :3] * t[:, None]).as_matrix() @ poses[:, :9].reshape(-1, 3, 3)
    return np.hstack([turns.reshape(-1, 9), poses[:, 9:] + twists[:, 3:] * t[:, None]])


def contacts(tables: Any, pairs: Any, X: Any, U: Any, Y: Any, V: Any, duration: float = 1.0) -> tuple[Any, Any, Any]:
    n = len(pairs)
    times, answers, status = np.zeros(n), np.zeros((n, ANSWER)), np.full(n, -1)
    first_contacts(tables, pairs, X, U, Y, V, duration, TOLERANCE, SCRATCH, times, answers, status)
    return times, answers, status


def signed(tables: Any, pairs: Any, X: Any, Y: Any) -> np.ndarray:
    answers, status = np.zeros((len(pairs), ANSWER)), np.zeros(len(pairs), dtype=int)
    distances(tables, pairs, X, Y, SCRATCH, answers, status)
    return answers[:, 0]


def test_no_shapes_touch_before_the_time_found_and_at_it_they_do() -> None:
    rng = np.random.default_rng(3)
    catalogue = Catalogue()
    for kind in KINDS:
        for _ in range(3):
            name, sizes = random_shape(kind, rng)
            catalogue.add(name, **sizes)
    tables, pairs = catalogue.tables(), rng.integers(0, len(catalogue), (MANY, 2))
    X, Y = random_poses(MANY, rng), random_poses(MANY, rng)
    Y[:, 9:] += 3.0 * rng.normal(size=(MANY, 3))
    U, V = rng.normal(size=(MANY, 6)), 3.0 * rng.normal(size=(MANY, 6))
    V[:, 3:] = 0.1 * V[:, 3:] + 1.2 * (X[:, 9:] - Y[:, 9:])  # most meet
    times, answers, status = contacts(tables, pairs, X, U, Y, V)
    assert set(status) == {TOUCH, APART}
    assert ((status == TOUCH) & (times > 0.0)).mean() > 0.2
    assert (answers[status == TOUCH, 0] <= TOLERANCE).all()
    at = signed(tables, pairs, moved(X, U, times), moved(Y, V, times))
    began_apart = signed(tables, pairs, X, Y) > 0.0
    touched = (status == TOUCH) & began_apart
    assert np.abs(at[touched]).max() <= TOLERANCE + 1e-12
    assert (at[touched] > -1e-12).all()
    for fraction in np.linspace(0.0, 1.0, 101):  # a dense sample of all that went before
        t = fraction * times
        d = signed(tables, pairs, moved(X, U, t), moved(Y, V, t))
        assert (d[began_apart] > -1e-12).all()


def test_a_sphere_meets_a_plane_and_another_sphere_when_it_should() -> None:
    catalogue = Catalogue()
    ball, ground = catalogue.add("sphere", radius=0.5), catalogue.add("half-space")
    X = np.tile([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 3], (3, 1))
    Y = np.tile([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], (3, 1))
    U, V = np.tile([0.0, 5, 0, 0, 0, -2], (3, 1)), np.zeros((3, 6))
    U[2, 5] = 2.0
    times, _, status = contacts(
        catalogue.tables(), np.array([[ball, ground], [ball, ball], [ball, ball]]), X, U, Y, V, 2.0
    )
    assert status.tolist() == [TOUCH, TOUCH, APART]
    assert times == pytest.approx([1.25, 1.0, 2.0], abs=TOLERANCE)
    assert times[0] <= 1.25


@pytest.mark.parametrize("kind", [*KINDS, "mesh"])
def test_every_kind_that_tumbles_meets_a_half_space_as_its_lowest_point_does(kind: str) -> None:
    """A mesh by the hull of its vertices. The half-space moves, too."""
    rng = np.random.default_rng(7)
    n = 40 if COMPILED else 2
    catalogue = Catalogue()
    name, sizes = ("hull", {"points": lab.bumpy(rng, 1)[0]}) if kind == "mesh" else random_shape(kind, rng)
    shape, ground = catalogue.add(name, **sizes), catalogue.add("half-space")
    tables, pairs = catalogue.tables(), np.tile([shape, ground], (n, 1))
    X, Y = random_poses(n, rng), np.tile([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], (n, 1))
    X[:, 11] = 5.0 + abs(X[:, 11])
    U, V = 2.0 * rng.normal(size=(n, 6)), np.zeros((n, 6))
    U[:, 5], V[:, 3:] = -8.0 - abs(U[:, 5]), rng.normal(size=(n, 3))
    times, answers, status = contacts(tables, pairs, X, U, Y, V)
    lower = width((name, sizes), -moved(X, U, times)[:, [6, 7, 8]])
    gap = moved(X, U, times)[:, 11] - lower - moved(Y, V, times)[:, 11]
    assert (status == TOUCH).sum() > n // 2
    assert np.abs(gap - answers[:, 0]).max() < 1e-12
    assert (gap[status == TOUCH] <= TOLERANCE + 1e-12).all()
    for fraction in np.linspace(0.0, 1.0, 51):
        P, Q = moved(X, U, fraction * times), moved(Y, V, fraction * times)
        assert (P[:, 11] - width((name, sizes), -P[:, [6, 7, 8]]) - Q[:, 11] > -1e-12).all()


def test_a_fast_bullet_does_not_pass_a_thin_wall() -> None:
    catalogue = Catalogue()
    bullet, wall = catalogue.add("capsule", radius=1e-3, length=0.01), catalogue.add("box", size=(5.0, 5.0, 1e-4))
    X = np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1]])
    Y = np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]])
    U = np.array([[300.0, 0, 0, 0, 0, -1000.0]])
    times, answers, status = contacts(catalogue.tables(), np.array([[bullet, wall]]), X, U, Y, np.zeros((1, 6)))
    assert status[0] == TOUCH
    assert 0.0 <= answers[0, 0] <= TOLERANCE
    assert 0.9e-3 < times[0] < 1e-3


def test_a_pose_that_is_not_finite_has_no_time() -> None:
    catalogue = Catalogue()
    ball = catalogue.add("sphere", radius=0.5)
    X = np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, np.nan]])
    Y, still = np.nan_to_num(X), np.zeros((1, 6))
    _, answers, status = contacts(catalogue.tables(), np.array([[ball, ball]]), X, still, Y, still)
    assert status[0] == NO_ANSWER
    assert np.isfinite(answers).all()
