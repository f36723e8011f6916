"""The earliest contact of moving shapes: never later than the first of a dense sample, and as near to it as is told."""

from __future__ import annotations

from typing import Any

import mesh_lab as lab
import numpy as np
import pytest
from geometry_lab import KINDS, random_poses, random_shape, size, width
from scipy.spatial.transform import Rotation

from nexdyn.geometry.height_field import height_field
from nexdyn.geometry.kinds import Catalogue
from nexdyn.geometry.mesh import mesh
from nexdyn.geometry.mesh_distance import surface_distances
from nexdyn.geometry.mesh_half_space import space_distances
from nexdyn.geometry.mesh_moving import space_contacts, surface_contacts
from nexdyn.geometry.mesh_shapes import surface_of
from nexdyn.geometry.moving import APART, NO_ANSWER, TOUCH, UNDECIDED, first_contacts
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


EVERY = ("half-space", *KINDS, "height field", "box mesh", "star")


class Shown:
    """A shape of a kind, in the catalogue where it is convex, and as a surface of triangles but for a half-space."""

    def __init__(self, kind: str, rng: np.random.Generator, catalogue: Catalogue) -> None:
        self.meshed, self.number, self.surface = kind not in ("half-space", *KINDS), -1, None
        if kind == "star":
            self.surface, self.size = mesh(*lab.bumpy(rng, 1)).surface, 1.0
        elif kind == "height field":
            self.surface = height_field(rng.uniform(0.0, 0.5, (5, 6)), (1.5, 1.2), -0.3).surface
            self.size = 1.0
        else:
            name, sizes = (kind, {}) if kind == "half-space" else random_shape(kind.removesuffix(" mesh"), rng)
            self.number = catalogue.add(name, **sizes)
            self.size = 0.0 if kind == "half-space" else size((name, sizes))
            if self.meshed:
                self.surface = mesh(*lab.box(sizes["size"])).surface
            elif kind != "half-space":
                self.surface = surface_of(name, **sizes)


def meet(a: Shown, b: Shown, tables: Any, X: Any, U: Any, Y: Any, V: Any) -> tuple[Any, Any, Any]:
    """Times, answers and status, by what compares the two."""
    if not (a.meshed or b.meshed):
        return contacts(tables, np.tile([a.number, b.number], (len(X), 1)), X, U, Y, V)
    if a.surface is None:
        return space_contacts(b.surface, X, U, Y, V, 1.0, TOLERANCE)
    if b.surface is None:
        return space_contacts(a.surface, Y, V, X, U, 1.0, TOLERANCE)
    return surface_contacts(a.surface, b.surface, X, U, Y, V, 1.0, TOLERANCE)


def apart(a: Shown, b: Shown, tables: Any, X: Any, Y: Any) -> tuple[np.ndarray, float]:
    """Signed distances in poses, and by how much the true ones may be less: of convex shapes exact, also where triangles describe them."""
    if a.number >= 0 and b.number >= 0:
        return signed(tables, np.tile([a.number, b.number], (len(X), 1)), X, Y), 0.0
    if a.surface is None:
        return space_distances(b.surface, X, Y)[:, 0], 0.0
    if b.surface is None:
        return space_distances(a.surface, Y, X)[:, 0], 0.0
    return surface_distances(a.surface, b.surface, X, Y)[:, 0], a.surface.outside + b.surface.outside


@pytest.mark.parametrize("first", EVERY)
def test_of_every_pair_of_kinds_the_time_found_is_none_too_late(first: str) -> None:
    """Both move and turn, half-spaces too. Held against a dense sample of distances; meshes of boxes against those of the boxes."""
    rng, n = np.random.default_rng(EVERY.index(first)), 16 if COMPILED else 1
    touching = 0
    partners = EVERY[EVERY.index(first) :]
    for second in partners if COMPILED else partners[1:2]:
        if second == "half-space":
            continue
        catalogue = Catalogue()
        a, b = Shown(first, rng, catalogue), Shown(second, rng, catalogue)
        tables = catalogue.tables()
        X, Y = random_poses(n, rng, 0.1), random_poses(n, rng, 0.1)
        way = X[:, [2, 5, 8]] if first == "half-space" else lab.poses(np.zeros((n, 3)), rng)[:, [0, 3, 6]]
        Y[:, 9:] = X[:, 9:] + (a.size * 1.8 + b.size * 1.8 + 0.3) * way
        U, V = rng.normal(size=(n, 6)), rng.normal(size=(n, 6))
        U[:, :3] *= 0.2 if first == "half-space" else 1.0
        V[:, 3:] = 0.3 * V[:, 3:] + 1.5 * (X[:, 9:] - Y[:, 9:])
        times, answers, status = meet(a, b, tables, X, U, Y, V)
        assert np.isfinite(answers).all() and set(status.tolist()) <= {TOUCH, APART}, second
        touching += int((status == TOUCH).sum())
        began, less = apart(a, b, tables, X, Y)
        assert (began > less).all(), second
        late, _ = apart(a, b, tables, moved(X, U, times), moved(Y, V, times))
        chord = sum(0.0 if of.surface is None else of.surface.outside for of in (a, b)) if a.meshed or b.meshed else 0.0
        assert (late[status == TOUCH] <= TOLERANCE + chord + 1e-12).all(), second
        assert (late[status == TOUCH] > -1e-12).all(), second
        for fraction in np.linspace(0.0, 1.0, 61 if COMPILED else 3):
            d, _ = apart(a, b, tables, moved(X, U, fraction * times), moved(Y, V, fraction * times))
            assert (d > less - 1e-12).all(), (second, fraction)
    assert touching > n // 2 or not COMPILED


def test_half_spaces_face_to_face_meet_when_their_planes_do_and_have_no_time_where_one_turns() -> None:
    catalogue = Catalogue()
    pair = np.full((1, 2), catalogue.add("half-space"))
    X, Y = lab.poses(np.zeros((1, 3))), lab.poses(np.array([[5.0, 0.0, 2.0]]))
    Y[0, :9] = np.diag([1.0, -1.0, -1.0]).ravel()
    U, V = np.array([[0.0, 0, 3, 0, 0, 1]]), np.array([[0.0, 0, 0, 7, 0, -3]])  # U turns about the normal
    times, _, status = contacts(catalogue.tables(), pair, X, U, Y, V)
    assert status[0] == TOUCH and 0.5 - TOLERANCE < times[0] <= 0.5
    U[0, 0] = 1.0  # tilted, both meet at once far away
    times, _, status = contacts(catalogue.tables(), pair, X, U, Y, V)
    assert status[0] == UNDECIDED and times[0] == 0.0


def test_a_half_space_that_turns_meets_a_ball_when_its_plane_does() -> None:
    """The plane turns about y through the origin: a ball at x = 2, r = 0.5 is met where 2 sin θ = 0.5; as a mesh and as a sphere."""
    catalogue = Catalogue()
    ground, ball = catalogue.add("half-space"), catalogue.add("sphere", radius=0.5)
    still = np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]])
    X = lab.poses(np.array([[0.0, 0.0, 0.0]]))
    turn = Rotation.from_euler("y", 1.2).as_matrix()  # the normal away from the ball
    X[0, :9] = turn.ravel()
    Y, U, V = still + np.array([0.0] * 9 + [2.0, 0.0, 0.0]), np.array([[0.0, -1.0, 0, 0, 0, 0]]), np.zeros((1, 6))
    expected = 1.2 - np.arcsin(0.25)
    for times, _, status in (
        contacts(catalogue.tables(), np.array([[ground, ball]]), X, U, Y, V, 2.0),
        space_contacts(surface_of("sphere", radius=0.5), X, U, Y, V, 2.0, TOLERANCE),
    ):
        assert status[0] == TOUCH
        assert times[0] == pytest.approx(expected, abs=1e-6) and times[0] <= expected


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
