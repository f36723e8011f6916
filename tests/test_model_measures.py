"""Measures: their values in known poses, their laws on random motion."""

import math

import numpy as np
import pytest

from nexdyn.errors import InputError
from nexdyn.model.measure import (
    MEASURES,
    Angle,
    Direction,
    Displacement,
    Distance,
    PointPosition,
    PointVelocity,
)
from nexdyn.spatial import rotations

ALL = [
    PointPosition("m", "b", "a"),
    PointVelocity("m", "b", "a"),
    Distance("m", "a", "b"),
    Angle("m", "a", "b"),
    Angle("m", "a", "b", "xy"),
    *(Displacement("m", "a", "b", component) for component in ("dx", "dy", "dz")),
    *(Direction("m", "a", "b", u + v) for u in "xyz" for v in "xyz"),
]


def random_frame(rng, n):
    R = rotations.rotation_matrix(rotations.normalized(rng.normal(size=(n, 4))))
    return R, rng.normal(size=(n, 3)), rng.normal(size=(n, 6))


@pytest.mark.parametrize("measure", ALL, ids=repr)
def test_a_measure_does_not_depend_on_the_world_it_is_seen_from(measure, rng):
    A, B = random_frame(rng, 9), random_frame(rng, 9)
    here = measure.evaluate(*A, *B)

    # a rigid motion of everything: R, p turned and shifted, velocities those of a moving observer
    (R,), (p,), (V,) = random_frame(rng, 1)

    def moved(R_W, p_W, V_W):
        r = p_W @ R.T
        omega = V_W[:, :3] @ R.T + V[:3]
        velocity = V_W[:, 3:] @ R.T + V[3:] + np.cross(V[:3], r)
        return R @ R_W, r + p, np.concatenate([omega, velocity], axis=1)

    assert np.allclose(measure.evaluate(*moved(*A), *moved(*B)), here, atol=1e-12)


@pytest.mark.parametrize("measure", ALL, ids=repr)
def test_a_measure_works_on_one_pose_and_along_the_time(measure, rng):
    A, B = random_frame(rng, 5), random_frame(rng, 5)
    history = measure.evaluate(*A, *B)
    assert history.shape == (5, *([len(measure.axes)] if measure.axes else []))
    for k in range(5):
        one = measure.evaluate(*(x[k] for x in A), *(x[k] for x in B))
        assert np.allclose(one, history[k], atol=1e-15)


def test_velocity_is_the_rate_of_position(rng):
    (R_A, p_A, V_A), (R_B, p_B, V_B) = random_frame(rng, 20), random_frame(rng, 20)

    def after(h):
        turned = rotations.exp_rotation(h * V_A[:, :3]) @ R_A, rotations.exp_rotation(h * V_B[:, :3]) @ R_B
        at = turned[0], p_A + h * V_A[:, 3:], V_A, turned[1], p_B + h * V_B[:, 3:], V_B
        return PointPosition("m", "b", "a").evaluate(*at)

    h = 1e-6
    rate = (after(h) - after(-h)) / (2 * h)
    assert np.allclose(PointVelocity("m", "b", "a").evaluate(R_A, p_A, V_A, R_B, p_B, V_B), rate, atol=1e-8)


def test_displacements_are_the_components_of_the_position_and_distance_its_length(rng):
    frames = (*random_frame(rng, 20), *random_frame(rng, 20))
    position = PointPosition("m", "b", "a").evaluate(*frames)
    parts = [Displacement("m", "a", "b", component).evaluate(*frames) for component in ("dx", "dy", "dz")]
    assert np.allclose(np.stack(parts, axis=-1), position, atol=1e-14)
    assert np.allclose(Distance("m", "a", "b").evaluate(*frames), np.linalg.norm(position, axis=-1), atol=1e-14)


def test_directions_are_the_entries_of_the_relative_rotation_and_cosines_of_the_angles(rng):
    frames = (*random_frame(rng, 20), *random_frame(rng, 20))
    R_AB = np.swapaxes(frames[0], -1, -2) @ frames[3]
    for i, u in enumerate("xyz"):
        for j, v in enumerate("xyz"):
            assert np.allclose(Direction("m", "a", "b", u + v).evaluate(*frames), R_AB[:, i, j], atol=1e-14)
            assert np.allclose(np.cos(Angle("m", "a", "b", u + v).evaluate(*frames)), R_AB[:, i, j], atol=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 0.5, math.pi / 2, math.pi - 1e-7, math.pi - 1e-12, math.pi])
def test_an_angle_is_exact_also_near_zero_and_pi(angle):
    still = (np.zeros(3), np.zeros(6))
    measured = Angle("m", "a", "b").evaluate(np.eye(3), *still, rotations.rotation_about((1, 0, 0), angle), *still)
    assert measured == pytest.approx(angle, abs=1e-15)


def test_points_are_seen_from_the_world_unless_said_otherwise():
    assert PointPosition("m", "b").a == PointVelocity("m", "b").a == "ground"
    assert PointPosition("m", "b").b == PointPosition("m", "b").of == "b"
    assert PointPosition("m", "b", "tip").seen_from == "tip"
    assert PointVelocity("m", "b").unit == "m/s"
    assert set(MEASURES) == {"point_position", "point_velocity", "distance", "angle", "displacement", "direction"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Displacement("m", "a", "b", "x"), "component of measure 'm' is 'x'; dx, dy, dz are valid"),
        (
            lambda: Direction("m", "a", "b", "zw"),
            "product of measure 'm' is 'zw'; an axis of a and one of b are needed",
        ),
        (lambda: Angle("m", "a", "b", "z"), "product of measure 'm' is 'z'"),
        (lambda: Angle("m", "a", "b", 3), "product of measure 'm' is 3"),
        (lambda: Distance("m", "a", None), "None is neither an element of the system nor the name of one"),
        (lambda: Distance("", "a", "b"), "'' cannot name a measure"),
    ],
)
def test_a_bad_measure_is_refused(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)
