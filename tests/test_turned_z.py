"""Poses that turn about z do what general poses do, and trees use them where axes are parallel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.kernel import kernel
from nexdyn.spatial.algebra import to_child
from nexdyn.spatial.solids import box
from nexdyn.spatial.table import ArticulatedInertiaRows, ForceRows, MotionRows, PoseRows
from nexdyn.spatial.turned_z import about_z
from nexdyn.tree.core import tables
from nexdyn.tree.tree import Tree


@kernel
def both(poses, values, out):
    """Of row i: X⁻¹ V, X F, X I by the general pose in row 2i of `out`, by the pose about z in row 2i + 1."""
    X, V, F, I = PoseRows(poses, 0), MotionRows(values, 0), ForceRows(values, 6), ArticulatedInertiaRows(values, 12)
    V_out, F_out, I_out = MotionRows(out, 0), ForceRows(out, 6), ArticulatedInertiaRows(out, 12)
    for i in range(len(poses)):
        X_i = X[i]
        V_out[2 * i], F_out[2 * i], I_out[2 * i] = to_child(X_i, V[i]), X_i @ F[i], X_i @ I[i]
        X_z = about_z(X_i)
        V_out[2 * i + 1], F_out[2 * i + 1], I_out[2 * i + 1] = to_child(X_z, V[i]), X_z @ F[i], X_z @ I[i]


def test_a_pose_about_z_moves_motions_forces_and_inertias_as_the_pose_that_it_is() -> None:
    rng = np.random.default_rng(0)
    n = 20
    poses, values, out = np.zeros((n, 12)), rng.normal(size=(n, 33)), np.zeros((2 * n, 33))
    angle = rng.uniform(-np.pi, np.pi, n)
    poses[:, 0] = poses[:, 4] = np.cos(angle)
    poses[:, 3], poses[:, 1], poses[:, 8] = np.sin(angle), -np.sin(angle), 1.0
    poses[:, 9:] = rng.normal(size=(n, 3))
    both(poses, values, out)
    assert np.abs(out).min() > 0.0
    np.testing.assert_allclose(out[1::2], out[::2], rtol=0.0, atol=1e-13)


def chain(axis: Any, joints: list[type[nx.Joint]]) -> Tree:
    """Links along x, whose joints have one axis in common."""
    system = nx.System("chain", gravity=(0.3, -9.0, 2.0))
    parent = system.ground
    for i, kind in enumerate(joints):
        link = system.add_body(
            f"link{i}", mass=1.0 + i, inertia=box(1.0 + i, (0.2, 0.3, 0.4)), position=(i + 0.5, 0.1, 0)
        )
        pitch = {"pitch": 0.1} if kind is nx.Helical else {}
        system.add_joint(kind(f"joint{i}", parent, link, at=(i, 0.0, 0.2), axis=axis, **pitch))
        parent = link
    return Tree(system)


JOINTS = [nx.Revolute, nx.Revolute, nx.Prismatic, nx.Helical, nx.Revolute, nx.Cylindrical, nx.Revolute]


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, 1), (0.6, 0.0, 0.8), (1, 2, 3)])
def test_axes_that_are_parallel_but_for_rounding_turn_about_z_and_give_the_motion_of_general_poses(axis: Any) -> None:
    tree = chain(axis, JOINTS)
    model = tree.compiled.model
    assert (model.topology.flags[2:] & tables.TURNS_Z != 0).all()
    R = model.body.X_PJ.R.numbers[2:].reshape(-1, 3, 3)
    np.testing.assert_array_equal(R[:, 2], np.tile([0.0, 0.0, 1.0], (len(R), 1)))
    np.testing.assert_array_equal(R[:, :, 2], R[:, 2])
    np.testing.assert_allclose(np.swapaxes(R, 1, 2) @ R, np.tile(np.eye(3), (len(R), 1, 1)), rtol=0.0, atol=1e-15)

    rng = np.random.default_rng(2)
    q, v, tau = rng.normal(size=(3, tree.nv))
    quick = tree.aba(q, v, tau)
    np.testing.assert_allclose(tree.rnea(q, v, quick), tau, rtol=0.0, atol=1e-11 * np.abs(tau).max())
    flags = model.topology.flags
    flags &= ~tables.TURNS_Z
    np.testing.assert_allclose(quick, tree.aba(q, v, tau), rtol=0.0, atol=1e-12 * np.abs(quick).max())


def test_joints_about_other_axes_than_the_parents_do_not_turn_about_z_alone() -> None:
    tree = chain((0, 0, 1), [nx.Revolute, nx.Revolute])
    link = tree.system.add_body("across", mass=1.0, inertia=box(1.0, (0.2, 0.3, 0.4)), position=(3, 0, 0))
    tree.system.add_joint(nx.Revolute("tilted", tree.system.body("link1"), link, at=(2, 0, 0), axis=(0.0, 1e-9, 1.0)))
    ball = tree.system.add_body("ball", mass=1.0, inertia=box(1.0, (0.2, 0.3, 0.4)), position=(4, 0, 0))
    tree.system.add_joint(nx.Spherical("ball", link, ball, at=(3, 0, 0)))
    flags = Tree(tree.system).compiled.model.topology.flags[1:]
    assert (flags & tables.TURNS_Z != 0).tolist() == [True, True, False, False]
