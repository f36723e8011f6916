"""Rotations: laws on random values, the ends of the range, SciPy as an oracle, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from nexdyn.errors import InputError
from nexdyn.spatial import rotations as rot

pytestmark = pytest.mark.filterwarnings("error")

ONE = np.eye(3)
PI = np.pi
ANGLES = [0.0, 1e-300, 1e-160, 1e-20, 1e-9, 1e-5, 0.01, 0.5, 0.999, 1.0, 1.001, 2.0, 3.0, PI - 1e-5, PI - 1e-9]
TURNS = [PI - 1e-12, PI, np.nextafter(PI, 4.0), PI + 1e-9, 4.0, 2 * PI - 1e-3, 2 * PI, 10.0]

numbers = st.floats(-10, 10)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)


def directions(n, seed=0):
    """Random ones, and all that lie along axes and diagonals."""
    grid = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)])
    d = np.vstack([grid, np.random.default_rng(seed).normal(size=(n, 3))])
    return d / np.linalg.norm(d, axis=1)[:, None]


def rotation_vectors(angles, n=50):
    """(angle, direction, 3)"""
    return np.array(angles)[:, None, None] * directions(n)


def quaternions(n, seed=1):
    q = np.random.default_rng(seed).normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1)[:, None]


def rotations(n, seed=1):
    return Rotation.from_quat(quaternions(n, seed), scalar_first=True).as_matrix()


# ---------------------------------------------------------------------------------------------- quaternions


def test_a_quaternion_gives_the_matrix_of_the_textbook_and_of_scipy():
    q = quaternions(200)
    w, x, y, z = q.T
    textbook = np.array(
        [
            [1 - 2 * (y**2 + z**2), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x**2 + z**2), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x**2 + y**2)],
        ]
    )
    assert_allclose(rot.rotation_matrix(q), np.moveaxis(textbook, -1, 0), atol=1e-15)
    assert_allclose(rot.rotation_matrix(q), Rotation.from_quat(q, scalar_first=True).as_matrix(), atol=1e-15)


def test_q_and_minus_q_are_one_rotation():
    q = quaternions(100)
    assert np.array_equal(rot.rotation_matrix(q), rot.rotation_matrix(-q))
    assert_allclose(rot.log_quaternion(q), rot.log_quaternion(-q), atol=1e-15)
    assert np.array_equal(rot.normalized(q, positive=True), rot.normalized(-q, positive=True))
    assert (rot.normalized(q, positive=True)[:, 0] >= 0).all()


def test_a_positive_quaternion_is_unique_where_w_is_zero():
    for q in [(0, -1, 2, 3), (0, 0, -2, 1), (0, 0, 0, -1), (-0.0, 1, -1, 0)]:
        positive = rot.normalized(q, positive=True)
        assert np.array_equal(positive, rot.normalized(np.negative(q), positive=True))
        assert positive[np.flatnonzero(positive)[0]] > 0


def test_quaternion_inverts_rotation_matrix_with_any_component_largest_or_zero():
    q = np.vstack([quaternions(300), np.eye(4), rot.exp_quaternion(rotation_vectors(ANGLES + TURNS)).reshape(-1, 4)])
    back = rot.quaternion(rot.rotation_matrix(q))
    assert (back[:, 0] >= 0).all()
    assert_allclose(np.abs(np.vecdot(back, q)), 1.0, atol=1e-15)
    assert_allclose(rot.rotation_matrix(back), rot.rotation_matrix(q), atol=1e-15)
    assert np.array_equal(rot.quaternion(ONE), (1, 0, 0, 0))


def test_a_product_of_quaternions_is_the_product_of_their_rotations():
    a, b = quaternions(100, 2), quaternions(100, 3)
    ab = rot.quaternion_multiply(a, b)
    assert_allclose(rot.rotation_matrix(ab), rot.rotation_matrix(a) @ rot.rotation_matrix(b), atol=1e-14)
    assert_allclose(rot.quaternion_multiply(a, rot.quaternion_conjugate(a)), [[1, 0, 0, 0]] * 100, atol=1e-15)
    i, j, k = np.eye(4)[1:]
    assert np.array_equal(rot.quaternion_multiply(i, j), k)


def test_quaternion_products_take_quaternions_that_are_not_unit():
    a, b = np.random.default_rng(4).normal(size=(2, 50, 4)) * 10
    norm = np.linalg.norm
    assert_allclose(norm(rot.quaternion_multiply(a, b), axis=1), norm(a, axis=1) * norm(b, axis=1))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4))
def test_normalized_is_unit_for_every_quaternion_but_zero(q):
    if any(q):
        unit = rot.normalized(q)
        assert abs(np.linalg.norm(unit) - 1) < 1e-15 * 4
        assert_allclose(
            unit * max(map(abs, q)), np.array(q) * np.abs(unit).max(), rtol=1e-14, atol=1e-300 * max(map(abs, q))
        )
    else:
        with pytest.raises(InputError, match="length above 0"):
            rot.normalized(q)


# ---------------------------------------------------------------------------------------------- exp and log


def test_exp_agrees_with_the_exponential_of_the_skew_matrix_and_with_scipy():
    phi = rotation_vectors(ANGLES + TURNS, 5)
    assert_allclose(rot.exp_rotation(phi), expm(rot.skew(phi)), atol=2e-14)
    assert_allclose(
        rot.exp_rotation(phi), Rotation.from_rotvec(phi.reshape(-1, 3)).as_matrix().reshape(*phi.shape, 3), atol=1e-15
    )
    assert_allclose(rot.exp_rotation(phi), rot.rotation_matrix(rot.exp_quaternion(phi)), atol=1e-15)


def test_exp_is_a_rotation_to_rounding_for_any_vector():
    R = rot.exp_rotation(rotation_vectors(ANGLES + TURNS + [1e3, 1e9, 9e14]))
    assert_allclose(R.swapaxes(-1, -2) @ R, np.broadcast_to(ONE, R.shape), atol=2e-15)
    assert_allclose(np.linalg.det(R), 1.0, atol=2e-15)


@pytest.mark.parametrize("angle", ANGLES)
def test_log_inverts_exp_inside_pi_to_relative_accuracy(angle):
    phi = angle * directions(50)
    scale = angle + (angle == 0)
    assert_allclose(rot.log_quaternion(rot.exp_quaternion(phi)) / scale, phi / scale, atol=2e-15)
    assert_allclose(rot.log_rotation(rot.exp_rotation(phi)) / scale, phi / scale, atol=4e-15)


def test_log_at_pi_is_exact_up_to_the_sign_that_nobody_can_know():
    e = directions(50)
    exact = 2 * np.einsum("ni,nj->nij", e, e) - ONE
    for R in (exact, rot.exp_rotation(PI * e), rot.exp_rotation(np.nextafter(PI, 4) * e)):
        phi = rot.log_rotation(R)
        assert_allclose(np.linalg.norm(phi, axis=1), PI, atol=1e-15)
        assert_allclose(np.abs(np.vecdot(phi, e)), PI, atol=1e-14)
        assert_allclose(rot.exp_rotation(phi), R, atol=1e-15)
    assert np.array_equal(rot.log_rotation(np.diag([1.0, -1.0, -1.0])), (PI, 0, 0))
    assert np.array_equal(rot.log_rotation(np.diag([-1.0, 1.0, -1.0])), (0, PI, 0))
    assert np.array_equal(rot.log_rotation(np.diag([-1.0, -1.0, 1.0])), (0, 0, PI))


def test_beyond_pi_log_gives_the_same_turn_the_short_way():
    e = directions(50)
    for angle in (PI + 1e-9, 4.0, 6.0):
        assert_allclose(rot.log_rotation(rot.exp_rotation(angle * e)), (angle - 2 * PI) * e, atol=5e-15)
    assert_allclose(rot.log_rotation(rot.exp_rotation(2 * PI * e)), 0.0, atol=2e-15)


def test_exp_inverts_log():
    R = np.vstack([rotations(500), rot.exp_rotation(rotation_vectors(ANGLES + TURNS)).reshape(-1, 3, 3)])
    phi = rot.log_rotation(R)
    assert (np.linalg.norm(phi, axis=1) <= PI + 1e-15).all()
    assert_allclose(rot.exp_rotation(phi), R, atol=2e-15)
    assert_allclose(rot.log_rotation(rotations(500)), Rotation.from_matrix(rotations(500)).as_rotvec(), atol=1e-13)


@given(vectors)
def test_turns_about_one_axis_add(phi):
    assert_allclose(rot.exp_rotation(phi) @ rot.exp_rotation(2 * phi), rot.exp_rotation(3 * phi), atol=1e-13)


# ---------------------------------------------------------------------------------------------- Jacobians


def test_the_left_jacobian_is_the_mean_of_exp_along_the_vector():
    # J_l(φ) = ∫₀¹ exp(sφ) ds is a block of the exponential of [[φ×, 1], [0, 0]]
    for phi in rotation_vectors(ANGLES + TURNS, 3).reshape(-1, 3):
        block = np.zeros((6, 6))
        block[:3, :3], block[:3, 3:] = rot.skew(phi), ONE
        assert_allclose(rot.left_jacobian(phi), expm(block)[:3, 3:], atol=1e-13)


def test_left_and_right_jacobians_differ_by_the_rotation():
    phi = rotation_vectors(ANGLES + TURNS)
    R, left, right = rot.exp_rotation(phi), rot.left_jacobian(phi), rot.right_jacobian(phi)
    assert_allclose(left, R @ right, atol=3e-15)
    assert_allclose(right, left.swapaxes(-1, -2), atol=1e-15)


def test_the_inverse_jacobians_invert():
    phi = rotation_vectors([*ANGLES, PI, PI + 1e-9, 4.0, 6.0, 10.0])
    one = np.broadcast_to(ONE, (*phi.shape, 3))
    assert_allclose(rot.left_jacobian(phi) @ rot.left_jacobian_inverse(phi), one, atol=1e-13)
    assert_allclose(rot.right_jacobian(phi) @ rot.right_jacobian_inverse(phi), one, atol=1e-13)


def test_the_jacobians_are_the_derivatives_of_exp():
    phi = rotation_vectors([1e-9, 1e-3, 0.5, 1.0, 2.0, PI - 1e-9, PI, 5.0], 10)
    delta, h = np.random.default_rng(5).normal(size=phi.shape), 1e-5
    ahead, behind = rot.exp_rotation(phi + h * delta), rot.exp_rotation(phi - h * delta)
    left = rot.log_rotation(ahead @ behind.swapaxes(-1, -2)) / (2 * h)
    right = rot.log_rotation(behind.swapaxes(-1, -2) @ ahead) / (2 * h)
    assert_allclose(left, np.einsum("...ij,...j", rot.left_jacobian(phi), delta), atol=1e-9)
    assert_allclose(right, np.einsum("...ij,...j", rot.right_jacobian(phi), delta), atol=1e-9)


def test_the_inverse_jacobian_is_the_derivative_of_log():
    phi, h = rotation_vectors([1e-9, 1e-3, 0.5, 1.0, 2.0, 3.0], 10), 1e-5
    delta = np.random.default_rng(6).normal(size=phi.shape)
    ahead, behind = (rot.log_rotation(rot.exp_rotation(s * h * delta) @ rot.exp_rotation(phi)) for s in (1, -1))
    expected = np.einsum("...ij,...j", rot.left_jacobian_inverse(phi), delta)
    assert_allclose((ahead - behind) / (2 * h), expected, atol=1e-8)


@pytest.mark.parametrize("angle", [1e-150, 1e-8, 1e-3, 0.1, 0.5, 0.7, 0.99, 1.0, 1.01, 1.5, 2.5])
def test_the_coefficients_of_the_jacobians_keep_their_digits_near_zero(angle):
    # for φ = (x, x, 0), entry (0, 1) is c x² in J_l and d x² in its inverse: exact sums in rational numbers as oracle
    x = angle / math.sqrt(2)
    square = 2 * Fraction(x) ** 2
    sums = [sum((-square) ** k / math.factorial(2 * k + n) for k in range(25)) for n in (1, 2, 3)]
    sinc, b, c = sums
    d = (1 - sinc / (2 * b)) / square
    phi = np.array([x, x, 0.0])
    assert_allclose(rot.left_jacobian(phi)[0, 1], float(c * square / 2), rtol=1e-14, atol=0)
    assert_allclose(rot.left_jacobian_inverse(phi)[0, 1], float(d * square / 2), rtol=1e-14, atol=0)


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_an_inverse_jacobian_that_does_not_exist_is_refused(turns):
    with pytest.raises(InputError, match="multiple of 2π"):
        rot.left_jacobian_inverse([0, 2 * PI * turns, 0])
    with pytest.raises(InputError, match=r"at index \(1,\)"):
        rot.right_jacobian_inverse([[1, 2, 3], [2 * PI * turns, 0, 0]])


# ---------------------------------------------------------------------------------------------- Euler angles


def test_euler_angles_agree_with_scipy_and_reproduce_the_rotation():
    R = rotations(500)
    yaw, pitch, roll, lock = rot.euler_zyx(R)
    assert not lock.any()
    assert_allclose(np.stack([yaw, pitch, roll], -1), Rotation.from_matrix(R).as_euler("ZYX"), atol=1e-11)
    assert_allclose(rot.rotation_from_euler_zyx(yaw, pitch, roll), R, atol=2e-15)


@given(st.floats(-3.1, 3.1), st.floats(-1.57, 1.57), st.floats(-3.1, 3.1))
def test_euler_angles_come_back(yaw, pitch, roll):
    back = rot.euler_zyx(rot.rotation_from_euler_zyx(yaw, pitch, roll))
    assert_allclose(back[:3], (yaw, pitch, roll), atol=1e-12)
    assert not back.gimbal_lock


@pytest.mark.parametrize("side", [1, -1])
def test_gimbal_lock_is_reported_and_the_rotation_kept(side):
    yaw, roll = np.random.default_rng(7).uniform(-PI, PI, (2, 100))
    R = rot.rotation_from_euler_zyx(yaw, side * PI / 2, roll)
    angles = rot.euler_zyx(R)
    assert angles.gimbal_lock.all()
    assert np.array_equal(angles.roll, np.zeros(100))
    assert_allclose(angles.pitch, side * PI / 2, atol=1e-12)
    assert_allclose(np.exp(1j * angles.yaw), np.exp(1j * (yaw - side * roll)), atol=1e-12)
    assert_allclose(rot.rotation_from_euler_zyx(*angles[:3]), R, atol=1e-12)


@pytest.mark.parametrize("distance", [1e-13, 1e-11, 1e-9, 1e-6, 1e-3])
def test_the_rotation_survives_euler_angles_close_to_gimbal_lock(distance):
    R = rot.rotation_from_euler_zyx(np.linspace(-3, 3, 50), PI / 2 - distance, np.linspace(2, -3, 50))
    angles = rot.euler_zyx(R)
    assert angles.gimbal_lock.all() == (distance < 1e-12)
    assert_allclose(rot.rotation_from_euler_zyx(*angles[:3]), R, atol=1e-12)


def test_yaw_turns_about_z_pitch_about_y_roll_about_x():
    assert_allclose(rot.rotation_from_euler_zyx(PI / 2, 0, 0) @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    assert_allclose(rot.rotation_from_euler_zyx(0, PI / 2, 0) @ [1, 0, 0], [0, 0, -1], atol=1e-15)
    assert_allclose(rot.rotation_from_euler_zyx(0, 0, PI / 2) @ [0, 1, 0], [0, 0, 1], atol=1e-15)


# ---------------------------------------------------------------------------------------------- axes


@given(vectors, st.floats(-100, 100))
def test_a_rotation_about_an_axis_leaves_it_and_ignores_its_length(axis, angle):
    if not axis.any():
        return
    R = rot.rotation_about(axis, angle)
    unit = rot.unit_vector(axis)
    assert_allclose(R @ unit, unit, atol=1e-15)
    assert_allclose(R, rot.exp_rotation(angle * unit), atol=1e-13)
    assert_allclose(np.trace(R), 1 + 2 * np.cos(angle), atol=1e-14)


def test_frame_from_z_is_a_rotation_with_z_third_and_x_in_the_plane():
    z, x = np.random.default_rng(8).normal(size=(2, 200, 3)) * 10
    for R in (rot.frame_from_z(z), rot.frame_from_z(z, x), rot.frame_from_z(directions(20))):
        assert_allclose(R.swapaxes(-1, -2) @ R, np.broadcast_to(ONE, R.shape), atol=2e-15)
        assert_allclose(np.linalg.det(R), 1.0, atol=1e-15)
    R = rot.frame_from_z(z, x)
    assert_allclose(R[..., 2], z / np.linalg.norm(z, axis=1)[:, None], atol=1e-15)
    assert_allclose(np.vecdot(R[..., 1], x), 0.0, atol=1e-13)
    assert (np.vecdot(R[..., 0], x) > 0).all()


def test_frame_from_z_alone_keeps_to_the_coordinate_axes():
    assert np.array_equal(rot.frame_from_z((0, 0, 5)), ONE)
    assert np.array_equal(rot.frame_from_z((1, 0, 0)), np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]))
    assert np.array_equal(rot.frame_from_z((0, 0, 1e-300), (1e300, 0, 1e300)), ONE)


def test_frame_from_z_stays_square_when_x_is_nearly_parallel():
    R = rot.frame_from_z((1, 2, 3), np.array((1, 2, 3)) + 1e-6 * np.array((1, 0, 0)))
    assert_allclose(R.T @ R, ONE, atol=1e-15)
    with pytest.raises(InputError, match="parallel"):
        rot.frame_from_z((1, 2, 3), (-2, -4, -6))


# ---------------------------------------------------------------------------------------------- batches and refusals

UNARY = {
    rot.rotation_matrix: (4,),
    rot.quaternion_conjugate: (4,),
    rot.normalized: (4,),
    rot.log_quaternion: (4,),
    rot.check_unit_quaternion: (4,),
    rot.exp_rotation: (3,),
    rot.exp_quaternion: (3,),
    rot.left_jacobian: (3,),
    rot.left_jacobian_inverse: (3,),
    rot.right_jacobian: (3,),
    rot.right_jacobian_inverse: (3,),
    rot.skew: (3,),
    rot.unit_vector: (3,),
    rot.frame_from_z: (3,),
    rot.quaternion: (3, 3),
    rot.log_rotation: (3, 3),
    rot.check_rotation: (3, 3),
    rot.euler_zyx: (3, 3),
}
SAMPLES = {(4,): quaternions(12), (3,): np.random.default_rng(9).normal(size=(12, 3)), (3, 3): rotations(12)}


@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.__name__)
def test_leading_dimensions_are_a_batch(f):
    tail = UNARY[f]
    sample = SAMPLES[tail]
    single = [f(x) for x in sample]
    batch = f(sample.reshape(3, 4, *tail))
    empty = f(sample[:0])
    if f is rot.euler_zyx:
        single, batch, empty = [np.stack(e) for e in single], np.stack(batch, -1), np.stack(empty, -1)
    assert_allclose(batch, np.reshape(single, (3, 4, *np.shape(single)[1:])), atol=1e-14)
    assert empty.shape == (0, *batch.shape[2:])


@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_with_its_place(f, bad):
    sample = SAMPLES[UNARY[f]].copy()
    sample[(2, *(0 for _ in UNARY[f]))] = bad
    with pytest.raises(InputError, match=r"must be finite, received -?(nan|inf) at index \(2, 0"):
        f(sample)


@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("value", [(1, 2), 1.0, np.zeros((4, 5)), [[1, 2], [3]], "abc", None, [1, "2", 3], [1j, 0, 0]])
def test_a_wrong_shape_is_refused_naming_both(f, value):
    with pytest.raises(InputError, match=r"expected .*shape \(\.\.\., .*received"):
        f(value)


@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [1e200, 1e308, 1e15, 1e-200, 5e-324])
def test_no_size_of_input_gives_a_warning_or_a_nan(f, size):
    try:
        out = f(np.clip(SAMPLES[UNARY[f]], -1.0, 1.0) * size)
    except InputError:
        return
    assert np.isfinite(np.stack(out)).all()


def test_batches_that_do_not_fit_are_refused():
    for call in (
        lambda: rot.quaternion_multiply(np.ones((2, 4)), np.ones((3, 4))),
        lambda: rot.rotation_about(np.ones((2, 3)), np.ones(3)),
        lambda: rot.frame_from_z(np.ones((2, 3)), np.ones((3, 3))),
        lambda: rot.rotation_from_euler_zyx(np.ones(2), 0.0, np.ones(3)),
    ):
        with pytest.raises(InputError, match=r"broadcast together, received \(2,\) and .*\(3,\)"):
            call()


def test_batches_broadcast():
    axes, angles = directions(0)[:5], np.linspace(0, 3, 7)
    R = rot.rotation_about(axes[:, None], angles)
    assert R.shape == (5, 7, 3, 3)
    assert_allclose(R[3, 2], rot.rotation_about(axes[3], angles[2]), atol=1e-15)
    assert rot.rotation_from_euler_zyx(angles, 0.0, angles[:, None]).shape == (7, 7, 3, 3)
    assert rot.quaternion_multiply(np.ones((5, 1, 4)), np.ones((7, 4))).shape == (5, 7, 4)
    assert rot.frame_from_z((0, 0, 1), directions(0)[:1] * 0 + [[1, 0, 0]]).shape == (1, 3, 3)


def test_reflections_are_refused():
    for mirror in (-ONE, np.diag([1.0, 1.0, -1.0]), rotations(1)[0] @ np.diag([-1, 1, 1])):
        with pytest.raises(InputError, match=r"camera: a reflection, det R = −1"):
            rot.check_rotation(mirror, what="camera")
    with pytest.raises(InputError, match=r"reflection at index \(1,\)"):
        rot.log_rotation(np.stack([ONE, -ONE]))


@pytest.mark.parametrize("R", [2 * ONE, np.ones((3, 3)), np.zeros((3, 3)), ONE + 1e-8, 1e200 * ONE])
def test_what_is_not_a_rotation_is_refused(R):
    with pytest.raises(InputError, match=r"orientation: not a rotation: \|RᵀR − 1\| = .*at most 1e-09"):
        rot.check_rotation(R)
    with pytest.raises(InputError, match=r"not a rotation at index \(1,\)"):
        rot.quaternion(np.stack([ONE, R]))


def test_the_tolerance_of_check_rotation_is_the_callers():
    R = ONE + 1e-8
    assert rot.check_rotation(R, tol=1e-6) is R
    assert rot.check_rotation([[0, -1, 0], [1, 0, 0], [0, 0, 1]]).dtype == np.float64


def test_a_quaternion_that_is_not_unit_is_refused_with_its_norm():
    with pytest.raises(InputError, match=r"body 'arm': a quaternion .*received norm 2$"):
        rot.check_unit_quaternion([2, 0, 0, 0], what="body 'arm'")
    with pytest.raises(InputError, match=r"received norm 0 at index \(1,\)"):
        rot.rotation_matrix([[1, 0, 0, 0], [0, 0, 0, 0]])
    drifted = np.array([1 + 5e-7, 0, 0, 0])
    assert np.array_equal(rot.check_unit_quaternion(drifted), [1, 0, 0, 0])
    with pytest.raises(InputError):
        rot.check_unit_quaternion(drifted, tol=1e-7)


def test_an_axis_of_length_zero_is_refused():
    with pytest.raises(InputError, match="axis: expected a length above 0"):
        rot.rotation_about([0, 0, 0], 1.0)
    with pytest.raises(InputError, match=r"hinge axis: expected a length above 0, received 0 at index \(1,\)"):
        rot.unit_vector([[1, 0, 0], [0, 0, 0]], what="hinge axis")
    with pytest.raises(InputError, match="reference x"):
        rot.frame_from_z([0, 0, 1], [0, 0, 0])


def test_what_comes_in_is_not_changed():
    for f, tail in UNARY.items():
        sample = SAMPLES[tail].copy()
        sample.setflags(write=False)
        f(sample)
