"""Every joint: pose, motion subspace H, constraint subspace W, bias, and the chart of those with quaternions.

Laws of ``nexdyn/joints``: WᵀH = 0;  V_J = H v is the derivative of the pose;  ḣ, Ḣ v are those of H;  ξ̇ is that of ξ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems

from nexdyn.joints import JOINTS, verbs
from nexdyn.model.system import System
from nexdyn.spatial.algebra import Motion, Vec3
from nexdyn.spatial.poses import compose, exp_pose, inverse, log_pose
from nexdyn.spatial.rotations import (
    log_quaternion,
    normalized,
    quaternion_conjugate,
    quaternion_multiply,
    right_jacobian_inverse,
    rotation_matrix,
)
from nexdyn.tree.tree import Tree

PITCH = 0.3
COLUMNS_TURN = ["universal", "planar"]
"""The kinds whose H depends on q."""

moving = pytest.mark.parametrize("kind", systems.MOVING)
every = pytest.mark.parametrize("kind", systems.KINDS)
with_quaternion = pytest.mark.parametrize("kind", systems.QUATERNION)


def alone(kind: str) -> Tree:
    """One joint between ground and a body, whose frames are those of the joint: X_WB = X_J(q)."""
    system = System(kind)
    body = system.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    options: dict[str, Any] = {"pitch": PITCH} if kind == "helical" else {}
    system.add_joint(JOINTS[kind]("joint", system.ground, body, axis=(0, 0, 1), **options))
    return Tree(system)


def twist(tree: Tree, q: np.ndarray, v: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """(ω, v) of the child in its own frame along v, from differences of the pose."""
    here = tree.pose(q, "body")

    def offset(k: int) -> np.ndarray:
        return log_pose(*compose(*inverse(*here), *tree.pose(tree.integrate(q, k * h * v), "body")))

    return (offset(-2) - 8 * offset(-1) + 8 * offset(1) - offset(2)) / (12 * h)


def scaled(kind: str, rng: np.random.Generator, *scale: float) -> list[np.ndarray]:
    """Random velocities of these sizes."""
    return [s * systems.unit(rng, JOINTS[kind].nv) for s in scale]


@every
def test_pose_is_that_of_the_turns_and_translations_of_the_joint(kind: str, rng: np.random.Generator) -> None:
    tree = alone(kind)
    q, *_ = systems.state(tree, 1, 20)
    R, p = tree.pose(q, "body")
    for n in range(20):
        R_J, p_J = systems.joint_pose(kind, q[n], PITCH)
        np.testing.assert_allclose(R[n], R_J, atol=1e-14)
        np.testing.assert_allclose(p[n], p_J, atol=1e-14)


@every
def test_forces_of_W_do_no_work_along_motions_of_H(kind: str) -> None:
    tree = alone(kind)
    for n in range(20):
        q, *_ = systems.state(tree, n)
        H, W = tree.motion_subspace("joint", q), tree.constraint_subspace("joint", q)
        assert H.shape == (6, JOINTS[kind].nv)
        assert W.shape == (6, 6 - JOINTS[kind].nv)
        assert abs(W.T @ H).max(initial=0.0) < 1e-15
        np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-15)


@moving
def test_H_is_orthonormal_or_has_the_stated_pseudo_inverse(kind: str) -> None:
    tree = alone(kind)
    for n in range(20):
        H = tree.motion_subspace("joint", systems.state(tree, n)[0])
        square = 1.0 + PITCH**2 if kind == "helical" else 1.0
        np.testing.assert_allclose(np.linalg.pinv(H), H.T / square, atol=1e-14)


@moving
def test_H_v_is_the_derivative_of_the_pose(kind: str) -> None:
    tree = alone(kind)
    for n in range(10):
        q, v, *_ = systems.state(tree, n)
        np.testing.assert_allclose(tree.motion_subspace("joint", q) @ v, twist(tree, q, v), atol=1e-10)


@moving
def test_each_column_of_H_is_the_twist_of_its_freedom(kind: str) -> None:
    tree = alone(kind)
    q, *_ = systems.state(tree, 3)
    H = tree.motion_subspace("joint", q)
    for j, e in enumerate(np.eye(tree.nv)):
        np.testing.assert_allclose(H[:, j], twist(tree, q, e), atol=1e-10)


def rate_of_H(tree: Tree, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Ḣ along v by differences, (6, nv)."""
    return systems.difference(lambda x: tree.motion_subspace("joint", x), tree, q, v)


@moving
def test_joint_bias_is_the_rate_of_H_times_v(kind: str) -> None:
    tree = alone(kind)
    for n in range(5):
        q, v, *_ = systems.state(tree, n)
        bias = verbs.joint_bias(JOINTS[kind].code, 0.0, q, 0, v, 0, 0.0)
        np.testing.assert_allclose(np.ravel(bias), rate_of_H(tree, q, v) @ v, atol=1e-10)


@moving
def test_column_rate_is_the_rate_of_each_column_of_H(kind: str) -> None:
    tree = alone(kind)
    q, v, *_ = systems.state(tree, 5)
    H, H_dot = tree.motion_subspace("joint", q), rate_of_H(tree, q, v)
    for j in range(tree.nv):
        h = Motion(Vec3(*H[:3, j]), Vec3(*H[3:, j]))
        rate = verbs.column_rate(JOINTS[kind].code, 0.0, q, 0, v, 0, j, h)
        np.testing.assert_allclose(np.ravel(rate), H_dot[:, j], atol=1e-10)


@moving
def test_only_universal_and_planar_turn_their_subspaces(kind: str) -> None:
    tree = alone(kind)
    first, second = (tree.motion_subspace("joint", systems.state(tree, n)[0]) for n in (1, 2))
    assert np.array_equal(first, second) == (kind not in COLUMNS_TURN)


# --- charts of joints with quaternions --------------------------------------------------------------------------------


def chart(kind: str, base: np.ndarray, q: np.ndarray) -> np.ndarray:
    """ξ with q = base ∘ ξ, |φ| ≤ π."""
    phi = log_quaternion(normalized(quaternion_multiply(quaternion_conjugate(base[:4]), q[:4])))
    return phi if kind == "spherical" else np.concatenate([phi, q[4:] - base[4:]])


def stepped(kind: str, base: np.ndarray, xi: np.ndarray) -> np.ndarray:
    q = np.full(len(base), np.nan)
    verbs.chart_step(JOINTS[kind].code, base, 0, xi, 0, q)
    return q


@with_quaternion
@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-5, 0.9e-3, 1.1e-3, 0.1, 1.0, 3.0])
def test_chart_step_is_undone_by_the_logarithm(kind: str, size: float, rng: np.random.Generator) -> None:
    base, *_ = systems.state(alone(kind), 1)
    xi = rng.normal(size=JOINTS[kind].nv)
    xi[:3] *= size / np.linalg.norm(xi[:3])
    np.testing.assert_allclose(chart(kind, base, stepped(kind, base, xi)), xi, rtol=1e-13, atol=4e-16)


@with_quaternion
@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-9, 1e-3, 1.0, np.pi, 2 * np.pi, 1e3, 1e8])
def test_quaternions_stay_unit_over_steps_of_any_size(kind: str, size: float, rng: np.random.Generator) -> None:
    tree = alone(kind)
    q, *_ = systems.state(tree, 2, 50)
    step = rng.normal(size=(50, tree.nv))
    step[:, :3] *= size / np.linalg.norm(step[:, :3], axis=1, keepdims=True)
    norm = np.linalg.norm(tree.integrate(q, step)[:, :4], axis=1)
    np.testing.assert_allclose(norm, 1.0, rtol=0.0, atol=4e-16)
    for n in range(5):
        assert abs(np.linalg.norm(stepped(kind, q[n], step[n])[:4]) - 1.0) <= 4e-16


@with_quaternion
def test_tiny_steps_are_not_lost(kind: str, rng: np.random.Generator) -> None:
    # q is at the identity: a turn of 1e-200 rad shows in full beside a zero
    tree = alone(kind)
    step = np.zeros(tree.nv)
    step[:3] = 1e-200 * systems.unit(rng, 3)
    np.testing.assert_allclose(tree.integrate(tree.neutral(), step)[1:4], 0.5 * step[:3], rtol=1e-14)


@with_quaternion
@pytest.mark.parametrize("size", [0.0, 1e-9, 0.9e-2, 1.1e-2, 0.5, 2.0, 3.1])
def test_chart_rate_is_the_derivative_of_the_chart(kind: str, size: float, rng: np.random.Generator) -> None:
    tree = alone(kind)
    base, v, *_ = systems.state(tree, 3)
    xi = rng.normal(size=tree.nv)
    xi[:3] *= size / np.linalg.norm(xi[:3])
    rate = np.full(tree.nv, np.nan)
    verbs.chart_rate(JOINTS[kind].code, base, 0, xi, v, 0, rate)
    q = stepped(kind, base, xi)
    expected = systems.difference(lambda x: chart(kind, base, x), tree, q, v, h=2e-4)
    np.testing.assert_allclose(rate, expected, rtol=1e-9, atol=1e-9 * max(1.0, abs(rate).max()))


SIZES = [0.0, 1e-9, 1e-4, 0.9e-3, 1.1e-3, 0.99e-2, 1.01e-2, 0.5, 2.0, 3.1]
"""Angles [rad] on both sides of where the formulas turn to series."""


@pytest.mark.parametrize("size", SIZES)
def test_chart_rate_is_the_inverse_of_the_right_jacobian(size: float, rng: np.random.Generator) -> None:
    xi, v = size * systems.unit(rng, 3), rng.normal(size=3)
    rate = np.full(3, np.nan)
    verbs.chart_rate(JOINTS["spherical"].code, np.array([1.0, 0, 0, 0]), 0, xi, v, 0, rate)
    np.testing.assert_allclose(rate, right_jacobian_inverse(xi) @ v, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("size", SIZES)
def test_a_free_joint_moves_along_a_screw(size: float, rng: np.random.Generator) -> None:
    # X exp(V): the exponential of the twist in the child's frame
    tree = alone("free")
    q, v, *_ = systems.state(tree, 8)
    v[:3] *= size / np.linalg.norm(v[:3])
    R, p = compose(*tree.pose(q, "body"), *exp_pose(v))
    moved = tree.pose(tree.integrate(q, v), "body")
    np.testing.assert_allclose(moved[0], R, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(moved[1], p, rtol=0.0, atol=1e-14)


@with_quaternion
def test_chart_rate_at_its_base_is_the_velocity(kind: str) -> None:
    tree = alone(kind)
    base, v, *_ = systems.state(tree, 4)
    rate = np.full(tree.nv, np.nan)
    verbs.chart_rate(JOINTS[kind].code, base, 0, np.zeros(tree.nv), v, 0, rate)
    expected = v.copy()
    if kind == "free":
        expected[3:] = rotation_matrix(base[:4]) @ v[3:]
    np.testing.assert_allclose(rate, expected, rtol=1e-14)


@with_quaternion
def test_q_and_minus_q_and_any_multiple_are_one_pose(kind: str) -> None:
    tree = alone(kind)
    q, *_ = systems.state(tree, 5)
    R, p = tree.pose(q, "body")
    for factor in (-1.0, 2.0, 1e-3):
        other = q.copy()
        other[:4] *= factor
        R_other, p_other = tree.pose(other, "body")
        np.testing.assert_allclose(R_other, R, atol=1e-15)
        np.testing.assert_array_equal(p_other, p)


@moving
def test_constant_velocity_is_a_one_parameter_motion(kind: str) -> None:
    # (q + s v) + t v = q + (s + t) v: screws of free joints included
    tree = alone(kind)
    q, v, *_ = systems.state(tree, 6, 10)
    once = tree.pose(tree.integrate(q, 1.7 * v), "body")
    twice = tree.pose(tree.integrate(tree.integrate(q, 0.9 * v), 0.8 * v), "body")
    np.testing.assert_allclose(twice[0], once[0], atol=1e-14)
    np.testing.assert_allclose(twice[1], once[1], atol=1e-13)


@moving
def test_no_step_goes_nowhere(kind: str) -> None:
    tree = alone(kind)
    q, *_ = systems.state(tree, 7)
    np.testing.assert_allclose(tree.integrate(q, np.zeros(tree.nv)), q, rtol=0.0, atol=2e-16)


def test_every_joint_of_trees_has_a_number_of_its_own() -> None:
    assert sorted(JOINTS[kind].code for kind in systems.KINDS) == list(range(len(systems.KINDS)))
    assert {kind: cls.kind for kind, cls in JOINTS.items()} == {kind: kind for kind in JOINTS}
