"""Poses, spatial vectors and inertias: laws on random values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from nexdyn.errors import InputError
from nexdyn.spatial import poses
from nexdyn.spatial.rotations import exp_rotation, skew

pytestmark = pytest.mark.filterwarnings("error")

N = 100
RNG = np.random.default_rng(0)


def random_poses(n=N):
    return exp_rotation(RNG.uniform(-2, 2, (n, 3))), RNG.normal(size=(n, 3))


def random_inertias(n=N):
    """Mass, centre of mass, and inertia about it of clouds of points."""
    points, m = RNG.normal(size=(n, 10, 3)), RNG.uniform(0.1, 1.0, (n, 10))
    mass = m.sum(axis=1)
    com = np.einsum("nk,nki->ni", m, points) / mass[:, None]
    K = skew(points - com[:, None])
    return points, m, mass, com, -np.einsum("nk,nkij->nij", m, K @ K)


def times(M, x):
    return np.einsum("...ij,...j->...i", M, x)


# ---------------------------------------------------------------------------------------------- poses


def test_a_product_of_homogeneous_matrices_is_the_composition():
    AB, BC = random_poses(), random_poses()
    T_AC = poses.homogeneous(*AB) @ poses.homogeneous(*BC)
    assert_allclose(poses.homogeneous(*poses.compose(*AB, *BC)), T_AC, atol=1e-14)
    x_C = RNG.normal(size=(N, 3))
    x_A = poses.transform_point(*AB, poses.transform_point(*BC, x_C))
    assert_allclose(poses.transform_point(*poses.compose(*AB, *BC), x_C), x_A, atol=1e-14)
    assert_allclose(times(T_AC, np.c_[x_C, np.ones(N)])[:, :3], x_A, atol=1e-14)


def test_a_long_chain_is_the_product_of_its_transforms():
    R, p = random_poses(7)
    T, pose = np.eye(4), (np.eye(3), np.zeros(3))
    for k in range(7):
        T, pose = T @ poses.homogeneous(R[k], p[k]), poses.compose(*pose, R[k], p[k])
    assert_allclose(poses.homogeneous(*pose), T, atol=1e-14)


def test_the_inverse_pose_undoes_the_pose():
    AB = random_poses()
    R, p = poses.compose(*AB, *poses.inverse(*AB))
    assert_allclose(R, np.broadcast_to(np.eye(3), R.shape), atol=1e-14)
    assert_allclose(p, 0.0, atol=1e-14)
    assert_allclose(poses.homogeneous(*poses.inverse(*AB)), np.linalg.inv(poses.homogeneous(*AB)), atol=1e-14)


def test_from_homogeneous_inverts_homogeneous():
    R, p = random_poses()
    back = poses.from_homogeneous(poses.homogeneous(R, p))
    assert np.array_equal(back[0], R)
    assert np.array_equal(back[1], p)


# ---------------------------------------------------------------------------------------------- exp and log


def twists(angle):
    e = RNG.normal(size=(N, 3))
    return np.hstack([angle * e / np.linalg.norm(e, axis=1)[:, None], RNG.normal(size=(N, 3))])


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-9, 1e-4, 0.5, 1.0, 2.0, 3.0, np.pi - 1e-9, np.pi, 4.0, 2 * np.pi])
def test_exp_of_a_twist_is_the_exponential_of_its_matrix(angle):
    twist = twists(angle)
    generator = np.zeros((N, 4, 4))
    generator[:, :3, :3], generator[:, :3, 3] = skew(twist[:, :3]), twist[:, 3:]
    assert_allclose(poses.homogeneous(*poses.exp_pose(twist)), expm(generator), atol=1e-13)


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-9, 1e-4, 0.5, 1.0, 2.0, 3.0, np.pi - 1e-9])
def test_log_of_a_pose_inverts_exp_inside_pi(angle):
    twist = twists(angle)
    assert_allclose(poses.log_pose(*poses.exp_pose(twist)), twist, atol=1e-14)


def test_exp_of_a_log_is_the_pose_at_pi_too():
    R, p = random_poses()
    half_turns = exp_rotation(twists(np.pi)[:, :3])
    for rotation in (R, half_turns, np.diag([1.0, -1.0, -1.0])):
        back = poses.exp_pose(poses.log_pose(rotation, p))
        assert_allclose(back[0], np.broadcast_to(rotation, back[0].shape), atol=1e-14)
        assert_allclose(back[1], p, atol=1e-14)


def test_a_screw_about_a_point_leaves_it_on_its_axis():
    # unit turn about z through (1, 2, 0), rising by 3: ω = e_z, v = −ω × r + 3 e_z
    R, p = poses.exp_pose([0, 0, 1, 2, -1, 3])
    assert_allclose(poses.transform_point(R, p, (1, 2, 0)), (1, 2, 3), atol=1e-15)


# ---------------------------------------------------------------------------------------------- motions and forces


def test_adjoints_compose_and_invert_like_their_poses():
    AB, BC = random_poses(), random_poses()
    AC, BA = poses.compose(*AB, *BC), poses.inverse(*AB)
    for matrix in (poses.motion_matrix, poses.force_matrix):
        assert_allclose(matrix(*AB) @ matrix(*BC), matrix(*AC), atol=1e-13)
        assert_allclose(matrix(*BA), np.linalg.inv(matrix(*AB)), atol=1e-13)


def test_forces_are_dual_to_motions_and_power_is_the_same_in_every_frame():
    AB = random_poses()
    X, X_star = poses.motion_matrix(*AB), poses.force_matrix(*AB)
    assert_allclose(X_star.swapaxes(-1, -2) @ X, np.broadcast_to(np.eye(6), X.shape), atol=1e-14)
    V, F = RNG.normal(size=(2, N, 6))
    assert_allclose(np.vecdot(times(X_star, F), times(X, V)), np.vecdot(F, V), atol=1e-12)


def test_a_motion_vector_moves_the_same_points_in_both_frames():
    R, p = random_poses()
    V_B, x_B = RNG.normal(size=(N, 6)), RNG.normal(size=(N, 3))
    V_A, x_A = times(poses.motion_matrix(R, p), V_B), poses.transform_point(R, p, x_B)
    velocity_B = V_B[:, 3:] + np.cross(V_B[:, :3], x_B)
    assert_allclose(V_A[:, 3:] + np.cross(V_A[:, :3], x_A), times(R, velocity_B), atol=1e-13)


def test_a_force_at_a_point_has_its_moment_about_the_other_origin():
    R, p = random_poses()
    f, x_B = RNG.normal(size=(2, N, 3))
    F_A = times(poses.force_matrix(R, p), np.hstack([np.cross(x_B, f), f]))
    f_A, x_A = times(R, f), poses.transform_point(R, p, x_B)
    assert_allclose(F_A, np.hstack([np.cross(x_A, f_A), f_A]), atol=1e-13)


def test_the_adjoint_of_an_exponential_is_the_exponential_of_the_cross_operator():
    twist = RNG.normal(size=(N, 6))
    pose = poses.exp_pose(twist)
    assert_allclose(poses.motion_matrix(*pose), expm(poses.cross_motion_matrix(twist)), atol=1e-12)
    assert_allclose(poses.force_matrix(*pose), expm(poses.cross_force_matrix(twist)), atol=1e-12)


def test_cross_operators_obey_their_laws():
    U, V = RNG.normal(size=(2, N, 6))
    X = poses.motion_matrix(*random_poses())
    crm, crf = poses.cross_motion_matrix, poses.cross_force_matrix
    assert np.array_equal(crf(V), -crm(V).swapaxes(-1, -2))
    assert_allclose(times(crm(V), V), 0.0, atol=1e-14)
    assert_allclose(times(crm(U), V), -times(crm(V), U), atol=1e-14)
    # (U × V) × = (U ×)(V ×) − (V ×)(U ×), and X (V ×) X⁻¹ = (X V) ×
    assert_allclose(crm(times(crm(U), V)), crm(U) @ crm(V) - crm(V) @ crm(U), atol=1e-13)
    assert_allclose(crm(times(X, V)), X @ crm(V) @ np.linalg.inv(X), atol=1e-12)


# ---------------------------------------------------------------------------------------------- inertias


def test_spatial_inertia_is_the_sum_over_its_points():
    points, m, mass, com, I_com = random_inertias()
    inertia = poses.spatial_inertia(mass, com, I_com)
    V = RNG.normal(size=(N, 6))
    velocity = V[:, None, 3:] + np.cross(V[:, None, :3], points)
    energy = 0.5 * np.einsum("nk,nki,nki->n", m, velocity, velocity)
    assert_allclose(0.5 * np.vecdot(V, times(inertia, V)), energy, rtol=1e-12)
    momentum = np.einsum("nk,nki->ni", m, velocity)
    angular = np.einsum("nk,nki->ni", m, np.cross(points, velocity))
    assert_allclose(times(inertia, V), np.hstack([angular, momentum]), atol=1e-12)
    assert np.array_equal(inertia, inertia.swapaxes(-1, -2))
    assert (np.linalg.eigvalsh(inertia) > 0).all()


def test_a_transformed_inertia_is_that_of_the_transformed_body():
    R, p = random_poses()
    _, _, mass, com, I_com = random_inertias()
    expected = poses.spatial_inertia(mass, poses.transform_point(R, p, com), R @ I_com @ R.swapaxes(-1, -2))
    assert_allclose(poses.transform_inertia(R, p, poses.spatial_inertia(mass, com, I_com)), expected, atol=1e-12)


def test_kinetic_energy_does_not_depend_on_the_frame_for_articulated_inertias_too():
    AB = random_poses()
    A = RNG.normal(size=(N, 6, 6))
    inertia, V = A @ A.swapaxes(-1, -2), RNG.normal(size=(N, 6))
    V_A = times(poses.motion_matrix(*AB), V)
    energy_A = np.vecdot(V_A, times(poses.transform_inertia(*AB, inertia), V_A))
    assert_allclose(energy_A, np.vecdot(V, times(inertia, V)), rtol=1e-10)


# ---------------------------------------------------------------------------------------------- batches and refusals

R1, P1 = np.eye(3), np.zeros(3)


def test_batches_broadcast_against_single_poses():
    R, p = random_poses(5)
    assert poses.homogeneous(R1, p).shape == (5, 4, 4)
    assert poses.motion_matrix(R, P1).shape == (5, 6, 6)
    assert poses.transform_point(R1, P1, p[:, None]).shape == (5, 1, 3)
    assert poses.spatial_inertia(1.0, p, R1).shape == (5, 6, 6)
    assert_allclose(poses.compose(R, p, R1, P1)[1], p)
    assert poses.log_pose(R1, p).shape == (5, 6)
    for f in (poses.exp_pose, poses.cross_motion_matrix):
        assert len(f(np.zeros((0, 6)))[0:]) in (0, 2)
    for k in range(5):
        assert_allclose(poses.motion_matrix(R[k], p[k]), poses.motion_matrix(R, p)[k], atol=1e-15)
        assert_allclose(poses.homogeneous(R[k], p[k]), poses.homogeneous(R, p)[k])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: poses.homogeneous(-R1, P1), "pose R: a reflection"),
        (lambda: poses.homogeneous(R1, np.zeros(2)), r"pose p: expected shape \(\.\.\., 3\), received \(2,\)"),
        (
            lambda: poses.homogeneous(np.stack([R1] * 2), np.zeros((3, 3))),
            r"broadcast together, received \(2,\) and \(3,\)",
        ),
        (lambda: poses.compose(R1, P1, 2 * R1, P1), "second pose R: not a rotation"),
        (lambda: poses.compose(R1, np.zeros((2, 3)), R1, np.zeros((3, 3))), "compose: .*broadcast"),
        (lambda: poses.from_homogeneous(R1), r"expected shape \(\.\.\., 4, 4\), received \(3, 3\)"),
        (lambda: poses.from_homogeneous(np.ones((4, 4))), r"last row \(0, 0, 0, 1\), received \[1\.0, 1"),
        (lambda: poses.from_homogeneous(np.stack([np.eye(4), 2 * np.eye(4)])), r"received \[0\.0, 0\.0, 0\.0, 2\.0\]"),
        (lambda: poses.from_homogeneous(np.diag([1.0, 1.0, -1.0, 1.0])), "homogeneous matrix: a reflection"),
        (lambda: poses.transform_point(R1, P1, [1, 2]), r"point: expected shape \(\.\.\., 3\), received \(2,\)"),
        (lambda: poses.cross_motion_matrix([1, 2, 3]), r"motion vector: expected shape \(\.\.\., 6\), received \(3,\)"),
        (lambda: poses.cross_force_matrix([1, 2, 3]), r"motion vector: expected shape \(\.\.\., 6\), received \(3,\)"),
        (
            lambda: poses.exp_pose([0, 0, np.nan, 0, 0, 0]),
            r"twist: every number must be finite, received nan at index \(2,\)",
        ),
        (lambda: poses.spatial_inertia(-1.0, P1, R1), "mass: expected 0 or more, received -1"),
        (
            lambda: poses.spatial_inertia(1.0, P1, [[1, 2, 0], [0, 1, 0], [0, 0, 1]]),
            "I_com: expected a symmetric matrix",
        ),
        (lambda: poses.transform_inertia(R1, P1, R1), r"spatial inertia: expected shape \(\.\.\., 6, 6\)"),
    ],
)
def test_bad_input_is_refused_with_what_was_expected(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_what_comes_out_shares_nothing_with_what_went_in():
    R, p = random_poses(3)
    T = poses.homogeneous(R, p)
    for out in (*poses.from_homogeneous(T), *poses.inverse(R, p), poses.motion_matrix(R, p)):
        assert not any(np.shares_memory(out, given) for given in (R, p, T))
