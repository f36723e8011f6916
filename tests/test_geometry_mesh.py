"""Triangle meshes: distances against brute force over all features, depths, swapped order, degenerate cases, refitting."""

from __future__ import annotations

import math

import mesh_lab as lab
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nexdyn.geometry.hierarchy import refit
from nexdyn.geometry.mesh import Mesh, Surface, mesh
from nexdyn.geometry.mesh_distance import (
    BY_POSE,
    mesh_distances,
    mesh_work,
    order_of,
    signed_distances,
    surface_distances,
)
from nexdyn.geometry.mesh_shapes import surface_of
from nexdyn.geometry.narrow import ANSWER, NOT_FINITE


def surface(raw: lab.Raw) -> Surface:
    return mesh(*raw).surface


def swapped(answers: np.ndarray) -> np.ndarray:
    d, n, a, b, error = np.split(answers, [1, 4, 7, 10], axis=1)
    return np.hstack([d, -n, b, a, error])


@pytest.mark.parametrize("seed", range(4))
def test_meshes_apart_have_the_least_distance_of_all_their_features(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = lab.bumpy(rng), lab.bumpy(rng)
    X, Y = lab.poses(np.zeros((25, 3)), rng), lab.poses(rng.normal(size=(25, 3)), rng)
    Y[:, 9:] *= (rng.uniform(1.7, 3.0, 25) / np.linalg.norm(Y[:, 9:], axis=1))[:, None]
    answers = surface_distances(surface(a), surface(b), X, Y)
    apart = answers[:, 0] > 0.0
    assert apart.sum() > 15
    for k in np.flatnonzero(apart):
        d, n, p, q = answers[k, 0], answers[k, 1:4], answers[k, 4:7], answers[k, 7:10]
        P, Q = lab.placed(a, X[k]), lab.placed(b, Y[k])
        assert d == pytest.approx(lab.apart_by_brute_force(a, b, X[k], Y[k]), abs=1e-12)
        assert lab.point_to_triangles(p[None], P).min() < 1e-12
        assert lab.point_to_triangles(q[None], Q).min() < 1e-12
        assert q - p == pytest.approx(d * n, abs=1e-12)
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-14)


def test_swapped_meshes_have_the_same_answer_turned_round_bit_for_bit() -> None:
    rng = np.random.default_rng(5)
    a, b = surface(lab.bumpy(rng)), surface(lab.bumpy(rng))
    X, Y = lab.poses(np.zeros((200, 3)), rng), lab.poses(rng.normal(size=(200, 3)), rng)
    for one, two in ((a, b), (a, a)):
        there, back = surface_distances(one, two, X, Y), surface_distances(two, one, Y, X)
        assert (there[:, 0] < 0.0).any()
        assert (there[:, 0] > 0.0).any()
        assert np.array_equal(there, swapped(back))


@pytest.mark.parametrize("seed", range(3))
def test_meshes_that_overlap_are_as_deep_as_the_deepest_point_of_an_edge(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    a, b = lab.bumpy(rng), lab.bumpy(rng)
    X, Y = lab.poses(np.zeros((12, 3)), rng), lab.poses(0.5 * rng.normal(size=(12, 3)), rng)
    answers = surface_distances(surface(a), surface(b), X, Y)
    overlapping = answers[:, 0] < 0.0
    assert overlapping.sum() > 8
    parts = 20
    for k in np.flatnonzero(overlapping):
        d, n, p, q, error = answers[k, 0], answers[k, 1:4], answers[k, 4:7], answers[k, 7:10], answers[k, 10]
        ends = np.concatenate([lab.edges(a, X[k]), lab.edges(b, Y[k])])
        step = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max() / parts
        sampled = lab.depth_by_brute_force(a, b, X[k], Y[k], parts)
        # between samples the depth grows by half their distance at most
        assert sampled - 1e-12 <= -d <= sampled + 0.5 * step
        assert error < 1e-12
        assert q - p == pytest.approx(d * n, abs=1e-12)
        P, Q = lab.placed(a, X[k]), lab.placed(b, Y[k])
        of_a, of_b = lab.signed(p[None], Q)[0], lab.signed(q[None], P)[0]
        assert min(abs(of_a - d) + lab.point_to_triangles(q[None], Q).min(),
                   abs(of_b - d) + lab.point_to_triangles(p[None], P).min()) < 1e-12  # fmt: skip


def test_a_point_has_its_signed_distance_from_a_mesh() -> None:
    rng = np.random.default_rng(6)
    raw = lab.bumpy(rng, 2)
    x = rng.uniform(-1.1, 1.1, size=(2000, 3))
    answers = signed_distances(surface(raw), x)
    tri = lab.placed(raw, lab.poses(np.zeros((1, 3)))[0])
    assert answers[:, 0] == pytest.approx(lab.signed(x, tri), abs=1e-13)
    d, y, n = answers[:, :1], answers[:, 1:4], answers[:, 4:]
    assert x == pytest.approx(y + d * n, abs=1e-12)


def test_a_component_inside_another_overlaps_it_and_a_body_in_a_hole_does_not() -> None:
    inner, outer = lab.box((0.2, 0.2, 0.2)), lab.box((3.0, 3.0, 3.0))
    X = lab.poses(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    origin = lab.poses(np.zeros((2, 3)))
    answers = surface_distances(surface(outer), surface(inner), origin, X)
    # the far corners and edges of the small box are deepest
    assert answers[:, 0] == pytest.approx([-1.6 + 0.2, -0.6], abs=1e-12)
    wall, hole = lab.box((4.0, 4.0, 4.0)), lab.box((2.0, 2.0, 2.0))
    hollow = (np.vstack([wall[0], hole[0]]), np.vstack([wall[1], hole[1][:, ::-1] + 8]))
    answers = surface_distances(surface(hollow), surface(inner), origin, X)
    assert answers[:, 0] == pytest.approx([0.9, -0.1], abs=1e-12)


def test_faces_that_touch_have_no_distance_and_their_common_normal() -> None:
    one = surface(lab.box())
    for step in ([1.0, 0.0, 0.0], [1.0, 0.3, -0.2], [1.0, 0.5, 0.5]):
        answer = surface_distances(one, one, lab.poses(np.zeros((1, 3))), lab.poses(np.array([step])))[0]
        assert answer[0] == pytest.approx(0.0, abs=1e-15)
        assert answer[1:4] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
        assert answer[4:7] == pytest.approx(answer[7:10], abs=1e-15)


def test_edges_corners_and_walls_that_touch_have_the_normal_that_separates_the_bodies() -> None:
    """Edge across edge, a corner in a face, and boxes on each other whose edges and walls coincide: only z parts them."""
    box, wide = surface(lab.split(lab.box())), surface(lab.split(lab.box((1.0, 1.4, 1.0))))
    corner = Rotation.align_vectors([[0.0, 0.1, -1.0]], [np.ones(3)])[0]
    for one, two, low, high in (
        (box, box, Rotation.from_euler("x", 0.5), Rotation.from_euler("y", 0.4)),
        (box, box, Rotation.from_euler("x", 0.9), Rotation.from_euler("yz", [0.7, 0.3])),
        (box, box, Rotation.identity(), corner), (box, box, Rotation.identity(), Rotation.identity()),
        (box, wide, Rotation.identity(), Rotation.identity()), (wide, box, Rotation.identity(), Rotation.identity()),
    ):  # fmt: skip
        top, bottom = (sign * (lab.box((1.0, 1.4 if of is wide else 1.0, 1.0))[0] @ (sign * turn.as_matrix()[2])).max()
                       for of, turn, sign in ((one, low, 1.0), (two, high, -1.0)))  # fmt: skip
        X, Y = np.zeros((1, 12)), np.zeros((1, 12))
        X[0, :9], Y[0, :9], Y[0, 11] = low.as_matrix().ravel(), high.as_matrix().ravel(), top - bottom
        if low is not high and high is corner:
            Y[0, 9:11] = [0.1, 0.2]
        for gap in (0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3):
            answer = surface_distances(one, two, X, Y + np.array([0.0] * 11 + [gap]))[0]
            assert answer[0] == pytest.approx(gap, abs=1e-15)
            # from afar the difference of the points, to rounding; close by the normal of what is nearest
            assert answer[1:4] == pytest.approx([0.0, 0.0, 1.0], abs=1e-9), (gap, one is wide, two is wide)


def test_coincident_concentric_and_needle_like_meshes_have_finite_answers() -> None:
    rng = np.random.default_rng(8)
    ball = lab.ball(1.0, 1)
    needle = lab.box((1.0, 1e-8, 1e-6))
    flat = (
        np.array([[0, 0, 0], [1, 0, 0], [0.5, 1e-12, 0], [0, 1, 1.0]]),
        np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]),
    )
    same = lab.poses(np.zeros((30, 3)))
    for one in (ball, needle, flat):
        for two in (ball, needle, flat):
            Y = lab.poses(np.vstack([np.zeros((10, 3)), rng.normal(size=(20, 3))]), rng)
            Y[0] = same[0]
            answers = surface_distances(surface(one), surface(two), same, Y)
            assert np.isfinite(answers).all()
            assert np.linalg.norm(answers[:, 1:4], axis=1) == pytest.approx(np.ones(30), abs=1e-9)
            apart = answers[:, 0] > 1e-9
            d, n, p, q = answers[apart, :1], answers[apart, 1:4], answers[apart, 4:7], answers[apart, 7:10]
            assert q - p == pytest.approx(d * n, abs=1e-12)


def test_a_box_as_primitive_and_as_mesh_are_the_same() -> None:
    from nexdyn.geometry.kinds import Catalogue
    from nexdyn.geometry.narrow import distances, work

    rng = np.random.default_rng(9)
    size = (1.0, 0.6, 0.4)
    X, Y = lab.poses(np.zeros((60, 3)), rng), lab.poses(1.2 * rng.normal(size=(60, 3)), rng)
    box = surface(lab.split(lab.box(size)))
    for name, sizes, off in (
        ("box", {"size": (0.5, 0.7, 0.9)}, 0.0), ("sphere", {"radius": 0.4}, 0.0), ("capsule", {"radius": 0.3, "length": 0.7}, 0.0),
        ("cylinder", {"radius": 0.4, "length": 0.8}, 0.0013 * 0.4), ("cone", {"radius": 0.4, "length": 0.8}, 0.0013 * 0.4),
        ("ellipsoid", {"semi_axes": (0.5, 0.3, 0.4)}, 0.0025 * 0.5),
    ):  # fmt: skip
        catalogue = Catalogue()
        pairs = np.tile([catalogue.add("box", size=size), catalogue.add(name, **sizes)], (60, 1))
        exact = np.zeros((60, ANSWER))
        distances(catalogue.tables(), pairs, X, Y, work(), exact, np.zeros(60, dtype=int))
        answers = surface_distances(box, surface_of(name, **sizes), X, Y)
        apart = exact[:, 0] > 0.01
        assert apart.sum() > 20
        error = answers[apart, 0] - exact[apart, 0]
        assert error.min() > -1e-12
        assert error.max() < off + 1e-12
        assert (answers[exact[:, 0] < -0.01, 0] < 0.0).all()


def test_a_shallow_overlap_of_a_ball_and_a_face_is_the_least_translation() -> None:
    box = surface(lab.box())
    Y = lab.poses(np.array([[0.1, 0.2, 0.5 + 0.3 - 0.01]]))
    answer = surface_distances(box, surface_of("sphere", radius=0.3), lab.poses(np.zeros((1, 3))), Y)[0]
    assert answer[:4] == pytest.approx([-0.01, 0.0, 0.0, 1.0], abs=1e-14)
    assert answer[4:7] == pytest.approx([0.1, 0.2, 0.5], abs=1e-14)


def test_a_refitted_hierarchy_answers_as_one_built_anew() -> None:
    rng = np.random.default_rng(10)
    raw, other = lab.bumpy(rng), surface(lab.bumpy(rng))
    bent = raw[0] * [1.0, 1.3, 0.8] + 0.2 * np.sin(3.0 * raw[0][:, [1, 2, 0]])
    tables = surface(raw).tables
    anew = surface((bent, raw[1]))
    # corners of the old order, moved
    place = {tuple(x): k for k, x in enumerate(raw[0])}
    moved = np.array([bent[place[tuple(x)]] for x in tables.corners.reshape(-1, 3)]).reshape(-1, 9)
    nodes = tables.nodes.copy()
    refit(moved, tables.child, nodes)
    X, Y = lab.poses(np.zeros((20, 3)), rng), lab.poses(np.tile([2.6, 0.0, 0.0], (20, 1)), rng)
    expected = surface_distances(anew, other, X, Y)
    answers, status = np.zeros((20, ANSWER)), np.zeros(20, dtype=int)
    refitted = tables._replace(corners=moved, nodes=nodes, normals=anew.tables.normals)
    mesh_distances(
        refitted,
        other.tables,
        np.zeros(2),
        order_of(anew, other),
        X,
        Y,
        mesh_work(),
        answers,
        np.full((20, 2), -1),
        status,
    )
    assert (expected[:, 0] > 0.0).all()
    assert answers[:, 0] == pytest.approx(expected[:, 0], abs=1e-13)


def test_triangles_that_are_tried_first_change_no_distance() -> None:
    rng = np.random.default_rng(11)
    a, b = surface(lab.bumpy(rng, 2)), surface(lab.bumpy(rng, 2))
    X, Y = lab.poses(np.zeros((50, 3)), rng), lab.poses(np.tile([2.2, 0.0, 0.0], (50, 1)), rng)
    expected = surface_distances(a, b, X, Y)
    answers, status, near = (
        np.zeros((50, ANSWER)),
        np.zeros(50, dtype=int),
        rng.integers(0, len(a.tables.corners), (50, 2)),
    )
    mesh_distances(a.tables, b.tables, np.zeros(2), order_of(a, b), X, Y, mesh_work(), answers, near, status)
    assert answers[:, 0] == pytest.approx(expected[:, 0], abs=1e-14)


def test_an_open_mesh_counts_as_solid_behind_it() -> None:
    sheet = mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    assert not sheet.closed
    assert sheet.notes == ("mesh is open: 4 edges of one triangle",)
    d = signed_distances(sheet.surface, [[0.5, 0.5, 0.3], [0.5, 0.5, -0.3]])[:, 0]
    assert d == pytest.approx([0.3, -0.3])
    balls = surface_distances(
        sheet.surface, surface_of("sphere", radius=0.1), lab.poses(np.zeros((2, 3))),
        lab.poses(np.array([[0.5, 0.5, 0.3], [0.5, 0.5, 0.08]])),
    )  # fmt: skip
    assert balls[:, 0] == pytest.approx([0.2, -0.02])


def test_gears_that_mesh_with_a_gap_have_it_and_parallel_flanks_do_not_stall() -> None:
    raw = lab.gear(12, 8)
    one = surface(raw)
    X, Y = lab.poses(np.zeros((8, 3))), lab.poses(np.tile([0.112, 0.0, 0.002], (8, 1)))
    answers = surface_distances(one, one, X, Y)
    assert answers[:, 0] == pytest.approx(lab.apart_by_brute_force(raw, raw, X[0], Y[0]), abs=1e-14)


def test_a_pose_that_is_not_finite_has_a_status_and_no_answer() -> None:
    one = surface(lab.box())
    X, Y = lab.poses(np.zeros((1, 3))), lab.poses(np.array([[math.nan, 0.0, 0.0]]))
    answers, status = np.ones((1, ANSWER)), np.zeros(1, dtype=int)
    mesh_distances(
        one.tables, one.tables, np.zeros(2), BY_POSE, X, Y, mesh_work(), answers, np.full((1, 2), -1), status
    )
    assert status[0] == NOT_FINITE
    assert not answers.any()


def test_coal_finds_the_same_distances_of_meshes() -> None:
    coal = pytest.importorskip("coal")
    rng = np.random.default_rng(12)
    a, b = lab.bumpy(rng, 2), lab.bumpy(rng, 2)
    X, Y = lab.poses(np.zeros((40, 3)), rng), lab.poses(np.tile([2.2, 0.0, 0.0], (40, 1)), rng)
    answers = surface_distances(surface(a), surface(b), X, Y)

    def theirs(raw: lab.Raw) -> object:
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(raw[1]), len(raw[0]))
        x, t = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        x.extend(list(raw[0]))
        t.extend([coal.Triangle(*map(int, row)) for row in raw[1]])
        model.addSubModel(x, t)
        model.endModel()
        return model

    one, two = theirs(a), theirs(b)
    for k in range(40):
        T, U = (coal.Transform3s(P[:9].reshape(3, 3), P[9:]) for P in (X[k], Y[k]))
        found = coal.distance(one, T, two, U, coal.DistanceRequest(), coal.DistanceResult())
        assert answers[k, 0] == pytest.approx(found, abs=1e-9)


def test_volume_and_inertia_of_a_closed_mesh_are_those_of_the_solid() -> None:
    made: Mesh = mesh(*lab.split(lab.box((1.0, 2.0, 3.0))))
    assert made.massive.volume == pytest.approx(6.0)
    assert made.massive.inertia == pytest.approx(np.diag([13.0, 10.0, 5.0]) * 6.0 / 12.0)
    assert made.massive.centre == pytest.approx(np.zeros(3), abs=1e-15)
    sphere = mesh(*lab.ball(1.0, 4))
    assert sphere.massive.volume == pytest.approx(4.0 / 3.0 * np.pi, rel=0.01)
