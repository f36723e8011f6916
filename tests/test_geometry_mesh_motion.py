"""Meshes along a motion: kept pairs change no answer, times of contact are never late; patches of meshes against those of solids."""

from __future__ import annotations

import mesh_lab as lab
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nexdyn.errors import InputError
from nexdyn.geometry.height_field import height_field
from nexdyn.geometry.kinds import Catalogue
from nexdyn.geometry.mesh import Surface, mesh
from nexdyn.geometry.mesh_distance import surface_distances
from nexdyn.geometry.mesh_kept import MovingMeshes
from nexdyn.geometry.mesh_moving import surface_contacts
from nexdyn.geometry.mesh_patch import MeshPatch, patch_of
from nexdyn.geometry.mesh_shapes import surface_of
from nexdyn.geometry.moving import APART, NO_ANSWER, TOUCH, first_contacts
from nexdyn.geometry.narrow import ANSWER, distances, work
from nexdyn.geometry.patch import MOST_OF_PATCH, patch_work, patches

COMPILED = hasattr(distances, "py_func")
MANY = 400 if COMPILED else 6
TOLERANCE = 1e-6


def surface(raw: lab.Raw) -> Surface:
    return mesh(*raw).surface


def path(count: int, rng: np.random.Generator, step: float, spread: float) -> np.ndarray:
    """Poses (count, 12) of a random walk that turns and moves by about `step`, and stays near the origin."""
    turns = Rotation.from_rotvec(step * rng.normal(size=(count, 3)))
    R, p, made = Rotation.from_quat(rng.normal(size=4)), spread * rng.normal(size=3), []
    for k in range(count):
        R, p = turns[k] * R, (1.0 - step) * p + step * rng.normal(size=3)
        made.append(np.hstack([R.as_matrix().ravel(), p]))
    return np.array(made)


# --- kept pairs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1e-3, 3e-2, 1.0])
def test_along_a_motion_kept_pairs_give_the_answers_of_searches_from_nothing(step: float) -> None:
    rng = np.random.default_rng(1)
    rod, toothed = surface_of("capsule", radius=0.2, length=1.0), surface(lab.gear(12, 4))
    bumpy = [surface(lab.bumpy(rng, 2)) for _ in range(2)]
    for a, b, gap in ((*bumpy, 2.0), (bumpy[0], rod, 1.2), (rod, bumpy[1], 1.2), (toothed, toothed, 0.112)):
        scale = gap / 2.0
        X, Y = path(MANY, rng, step, 0.1), path(MANY, rng, step, 0.1)
        X[:, 9:], Y[:, 9:] = scale * X[:, 9:], scale * Y[:, 9:] + [gap, 0.0, 0.0]
        answers, expected = MovingMeshes(a, b).distances(X, Y), surface_distances(a, b, X, Y)
        assert answers[:, 0] == pytest.approx(expected[:, 0], abs=1e-13 * gap)
        apart = expected[:, 0] > 1e-6 * gap
        assert apart.any()
        ends = answers[apart, 7:10] - answers[apart, 4:7]
        assert ends == pytest.approx(answers[apart, :1] * answers[apart, 1:4], abs=1e-12)


@pytest.mark.parametrize("step", [2e-4, 1e-3, 5e-3])
def test_along_a_motion_in_each_other_meshes_have_the_depths_of_searches_from_nothing(step: float) -> None:
    """Bounds of edges serve most poses of small steps; the depths are those without them, also where others become the deepest."""
    rng = np.random.default_rng(4)
    toothed, bumpy = surface(lab.gear(12, 4)), [surface(lab.bumpy(rng, 2)) for _ in range(2)]
    for a, b, gap in ((toothed, toothed, 0.108), (*bumpy, 1.87)):
        turn = step * np.arange(MANY // 2)
        X, Y = lab.poses(np.zeros((len(turn), 3))), lab.poses(np.zeros((len(turn), 3)))
        X[:, :9] = Rotation.from_rotvec(np.outer(turn, [0.0, 0.0, 1.0])).as_matrix().reshape(-1, 9)
        Y[:, :9] = Rotation.from_rotvec(np.outer(turn, [0.1, 0.0, -1.0])).as_matrix().reshape(-1, 9)
        Y[:, 9:] = [gap, 0.0, 0.05 * gap] - 3e-3 * gap * np.outer(np.sin(turn / step / 20.0), [1.0, 0.3, 0.0])
        moving, tracked = MovingMeshes(a, b), 0
        answers = []
        for k in range(len(turn)):
            tracked += int(moving._kept.state[2] > 0)
            answers.append(moving.distances(X[k : k + 1], Y[k : k + 1])[0])
        found, expected = np.array(answers), surface_distances(a, b, X, Y)
        assert found[:, 0] == pytest.approx(expected[:, 0], abs=1e-13 * gap)
        assert (expected[:, 0] < 0.0).sum() > len(turn) // 10
        assert not COMPILED or np.ptp(expected[:, 0]) > 1e-3 * gap
        assert not COMPILED or step > 2e-4 or tracked > 0.5 * len(turn)
        ends = found[:, 7:10] - found[:, 4:7]
        assert ends == pytest.approx(found[:, :1] * found[:, 1:4], abs=1e-12)


def test_a_body_that_jumps_into_a_hollow_one_is_outside_its_walls_and_one_in_the_wall_is_not() -> None:
    """A hollow cube: its inner walls face inwards. A small cube passes from outside through the wall in jumps."""
    x, t = lab.box((1.0, 1.0, 1.0))
    outer = 4.0 * x
    hollow = surface((np.vstack([outer, 3.0 * x]), np.vstack([t, t[:, ::-1] + 8])))
    small = surface(lab.box((0.1, 0.1, 0.1)))
    at = np.array([3.0, 1.75, 0.0, 1.75, 3.0, 0.0])
    X, Y = lab.poses(np.zeros((6, 3))), lab.poses(np.column_stack([at, np.zeros(6), np.zeros(6)]))
    found = MovingMeshes(hollow, small).distances(X, Y)[:, 0]
    assert found == pytest.approx([0.95, -0.25, 1.45, -0.25, 0.95, 1.45], abs=1e-12)


def test_more_pairs_than_there_is_room_for_shrink_the_margin_and_change_nothing() -> None:
    """Two faces of many triangles, parallel and near."""
    plate = lab.box((1.0, 1.0, 0.1))
    for _ in range(3):
        plate = lab.split(plate)
    one = surface(plate)
    X = lab.poses(np.zeros((30, 3)))
    Y = lab.poses(np.column_stack([np.linspace(0.0, 0.1, 30), np.zeros(30), np.full(30, 0.1004)]))
    assert MovingMeshes(one, one).distances(X, Y)[:, 0] == pytest.approx(np.full(30, 4e-4), abs=1e-14)


def test_swapped_moving_meshes_have_the_same_distance() -> None:
    rng = np.random.default_rng(2)
    a, b = surface(lab.bumpy(rng, 2)), surface(lab.bumpy(rng, 1))
    X, Y = path(40, rng, 0.01, 0.1), path(40, rng, 0.01, 0.1) + np.array([*np.zeros(9), 2.0, 0.0, 0.0])
    there, back = MovingMeshes(a, b).distances(X, Y), MovingMeshes(b, a).distances(Y, X)
    np.testing.assert_array_equal(there[:, 0], back[:, 0])
    np.testing.assert_array_equal(there[:, 1:4], -back[:, 1:4])


# --- time of contact -------------------------------------------------------------------------------------------------


def moved(poses: np.ndarray, twists: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Poses (n, 12) at times (n,)."""
    turns = Rotation.from_rotvec(twists[:, :3] * t[:, None]).as_matrix() @ poses[:, :9].reshape(-1, 3, 3)
    return np.hstack([turns.reshape(-1, 9), poses[:, 9:] + twists[:, 3:] * t[:, None]])


def test_no_meshes_touch_before_the_time_found_and_at_it_they_do() -> None:
    rng = np.random.default_rng(3)
    n = 40 if COMPILED else 1
    a, b = surface(lab.bumpy(rng, 1)), surface(lab.bumpy(rng, 1))
    X, Y = lab.poses(np.zeros((n, 3)), rng), lab.poses(2.0 * rng.normal(size=(n, 3)) + [2.5, 0.0, 0.0], rng)
    U, V = rng.normal(size=(n, 6)), rng.normal(size=(n, 6))
    V[:, 3:] = 0.2 * V[:, 3:] + 1.5 * (X[:, 9:] - Y[:, 9:])
    times, answers, status = surface_contacts(a, b, X, U, Y, V, 1.0, TOLERANCE)
    assert set(status.tolist()) <= {TOUCH, APART}
    assert (status == TOUCH).sum() > n // 4
    touch = status == TOUCH
    assert (answers[touch, 0] <= TOLERANCE).all()
    late = surface_distances(a, b, moved(X, U, times), moved(Y, V, times))[:, 0]
    assert late[touch] == pytest.approx(answers[touch, 0], abs=1e-9)
    for s in np.linspace(0.0, 0.999, 40 if COMPILED else 2):
        before = surface_distances(a, b, moved(X, U, s * times), moved(Y, V, s * times))[:, 0]
        started = answers[:, 0] > -1e-3  # what overlaps at the start has time 0
        assert (before[started & (times > 0.0)] > 0.0).all()
    back = surface_contacts(b, a, Y, V, X, U, 1.0, TOLERANCE)[0]
    np.testing.assert_array_equal(back, times)


def test_boxes_as_meshes_meet_when_the_boxes_do() -> None:
    rng = np.random.default_rng(4)
    n = 30 if COMPILED else 1
    catalogue = Catalogue()
    pair = np.tile([catalogue.add("box", size=(1.0, 0.6, 0.4)), catalogue.add("box", size=(0.5, 0.5, 0.7))], (n, 1))
    a, b = surface(lab.box((1.0, 0.6, 0.4))), surface(lab.box((0.5, 0.5, 0.7)))
    X, Y = lab.poses(np.zeros((n, 3)), rng), lab.poses(np.tile([2.0, 0.0, 0.0], (n, 1)), rng)
    U, V = rng.normal(size=(n, 6)), rng.normal(size=(n, 6))
    V[:, 3:] = [-3.0, 0.0, 0.0]
    times, _, status = surface_contacts(a, b, X, U, Y, V, 1.0, TOLERANCE)
    of_boxes, answers, told = np.zeros(n), np.zeros((n, ANSWER)), np.zeros(n, dtype=int)
    first_contacts(catalogue.tables(), pair, X, U, Y, V, 1.0, TOLERANCE, work(), of_boxes, answers, told)
    np.testing.assert_array_equal(status, told)
    assert times == pytest.approx(of_boxes, abs=1e-5)


def test_a_fast_mesh_does_not_pass_a_thin_wall_and_what_is_no_number_has_no_time() -> None:
    wall, bullet = surface(lab.box((0.01, 2.0, 2.0))), surface(lab.ball(0.02, 1))
    X, Y = lab.poses(np.zeros((1, 3))), lab.poses(np.array([[-1.0, 0.0, 0.0]]))
    still, fast = np.zeros((1, 6)), np.array([[0.0, 0.0, 500.0, 1000.0, 0.0, 0.0]])
    times, _, status = surface_contacts(wall, bullet, X, still, Y, fast, 1.0, TOLERANCE)
    assert status[0] == TOUCH
    assert 0.97e-3 < times[0] <= (1.0 - 0.005 - 0.02 * 0.9) / 1000.0
    _, answers, status = surface_contacts(wall, bullet, X, still, Y, fast * np.nan, 1.0, TOLERANCE)
    assert status[0] == NO_ANSWER and not answers.any()


# --- patches ---------------------------------------------------------------------------------------------------------


def patch(a: Surface, b: Surface, X: np.ndarray, Y: np.ndarray) -> MeshPatch:
    return patch_of(a, b, X, Y, surface_distances(a, b, X, Y), 1e-9)


def of_solids(one: dict[str, object], two: dict[str, object], X: np.ndarray, Y: np.ndarray) -> tuple[float, np.ndarray]:
    """Area and centre of the patch of two convex shapes."""
    catalogue = Catalogue()
    pair = np.array([[catalogue.add(**one), catalogue.add(**two)]])  # type: ignore[arg-type]
    answers, status = np.zeros((1, ANSWER)), np.zeros(1, dtype=int)
    distances(catalogue.tables(), pair, X, Y, work(), answers, status)
    areas, centres = np.zeros(1), np.zeros((1, 3))
    patches(
        catalogue.tables(), pair, X, Y, answers, 1e-9, patch_work(), np.zeros((1, MOST_OF_PATCH, 3)), np.zeros(1, dtype=int),
        areas, centres, status,
    )  # fmt: skip
    return float(areas[0]), centres[0]


def test_meshes_of_solids_have_the_patches_of_the_solids() -> None:
    rng = np.random.default_rng(7)
    sizes = (1.0, 0.8, 0.6), (0.5, 0.7, 0.9)
    boxes = [{"name": "box", "size": size} for size in sizes]
    meshes = [surface(lab.split(lab.split(lab.box(size)))) for size in sizes]
    for _ in range(30 if COMPILED else 1):
        frame = Rotation.from_quat(rng.normal(size=4))
        spin = Rotation.from_euler("z", rng.uniform(0.0, 2.0 * np.pi))
        at = np.array([*rng.uniform(-0.4, 0.4, 2), 0.75 + rng.choice([0.2, -0.05])])
        X = np.hstack([frame.as_matrix().ravel(), np.zeros(3)])[None]
        Y = np.hstack([(frame * spin).as_matrix().ravel(), frame.apply(at)])[None]
        area, centre = of_solids(*boxes, X, Y)  # type: ignore[arg-type]
        for a, b in ((meshes[0], meshes[1]), (meshes[0], surface_of("box", size=sizes[1]))):
            found = patch(a, b, X, Y)
            assert found.complete
            assert found.area == pytest.approx(area, abs=1e-9) and area > 0.0
            assert found.centre == pytest.approx(centre, abs=1e-9)
            back = patch(b, a, Y, X)
            assert back.area == pytest.approx(area, abs=1e-9)


def test_edges_on_faces_share_a_segment_and_corners_a_point() -> None:
    c = np.sqrt(0.5)
    floor, cube = surface(lab.split(lab.box((2.0, 2.0, 1.0)))), surface(lab.split(lab.box()))
    X = lab.poses(np.zeros((1, 3)))
    on_edge = np.array([[c, 0.0, c, 0.0, 1.0, 0.0, -c, 0.0, c, 0.7, 0.8, 1.5]])
    found = patch(floor, cube, X, on_edge)
    assert found.area == 0.0
    np.testing.assert_allclose(
        found.centre, [0.7, 0.65, 0.5 + 0.5 * (1.0 - c)], atol=1e-12
    )  # from y = 0.3 to the rim at 1
    assert sorted(found.polygon[:, 1]) == pytest.approx([0.3, 1.0], abs=1e-12)
    rod = np.array([[0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.9, 0.0, 0.8]])  # a capsule along x
    found = patch(floor, surface_of("capsule", radius=0.1, length=1.0), X, rod)
    assert sorted(found.polygon[:, 0]) == pytest.approx([0.4, 1.0], abs=1e-12)
    point = patch(floor, surface_of("sphere", radius=0.1), X, lab.poses(np.array([[0.3, 0.2, 1.0]])))
    assert len(point.polygon) == 1
    np.testing.assert_allclose(point.centre, [0.3, 0.2, 0.7], atol=1e-12)


def test_crossed_edges_meet_in_a_point_and_parallel_ones_in_a_segment() -> None:
    roof = np.array([(-1.0, -0.5, 0), (1.0, -0.5, 0), (1.0, 0.5, 0), (-1.0, 0.5, 0), (-1.0, 0.0, 0.5), (1.0, 0.0, 0.5)])
    faces = [(0, 3, 2), (0, 2, 1), (0, 1, 5), (0, 5, 4), (2, 3, 4), (2, 4, 5), (0, 4, 3), (1, 2, 5)]
    one = surface((roof, np.array(faces)))
    X, over = lab.poses(np.zeros((1, 3))), np.diag([1.0, -1.0, -1.0])
    for angle, centre, ends in ((0.6, [0.2, 0.0, 0.55], 1), (0.0, [0.1, 0.0, 0.55], 2)):
        R = Rotation.from_euler("z", angle).as_matrix() @ over
        found = patch(one, one, X, np.hstack([R.ravel(), [0.2, 0.0, 1.1]])[None])
        assert len(found.polygon) == ends and found.area == 0.0
        np.testing.assert_allclose(found.centre, centre, atol=1e-12)


def test_a_table_stands_on_its_four_feet() -> None:
    """The patch of a body that is not convex has the area of its feet, and their hull as polygon."""
    x, t = lab.box((0.1, 0.1, 0.5))
    feet = np.array([(0.45, 0.45, 0.25), (-0.45, 0.45, 0.25), (-0.45, -0.45, 0.25), (0.45, -0.45, 0.25)])
    table = surface((np.vstack([x + foot for foot in feet]), np.vstack([t + 8 * k for k in range(4)])))
    floor = height_field(np.zeros((5, 5)), (4.0, 4.0)).surface
    found = patch(floor, table, lab.poses(np.zeros((1, 3))), lab.poses(np.array([[0.3, 0.2, 0.01]])))
    assert found.area == pytest.approx(0.04, abs=1e-12)
    np.testing.assert_allclose(found.centre, [0.3, 0.2, 0.005], atol=1e-12)
    assert np.ptp(found.polygon[:, :2], axis=0) == pytest.approx([1.0, 1.0], abs=1e-12)
    assert len(found.polygon) == 4


def test_kept_pairs_tell_of_a_pose_that_is_not_finite() -> None:
    one = surface(lab.box())
    moving = MovingMeshes(one, one)
    X = lab.poses(np.zeros((1, 3)))
    with pytest.raises(InputError, match="pose 0 is not finite"):
        moving.distances(X, X * np.nan)
    assert moving.distances(X, X + np.array([*np.zeros(9), 2.0, 0.0, 0.0]))[0, 0] == pytest.approx(1.0)
