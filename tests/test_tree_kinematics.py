"""Laws of motion without forces: poses, velocities, Jacobians, momentum and centres of mass of random systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems
from tree_lab import (
    agree,
    along,
    arcs_and_links,
    bodies_of,
    in_references,
    on_all,
    pendulum_with_empty_tip,
    world_poses,
)

from nexdyn.errors import SingularError
from nexdyn.joints import JOINTS, Revolute
from nexdyn.model.body import Body
from nexdyn.model.system import System
from nexdyn.spatial.poses import force_matrix
from nexdyn.tree.tree import Tree

# --- kinematics -----------------------------------------------------------------------------------------------------


@on_all
def test_pose_of_each_body_is_the_product_of_transforms_along_its_branch(name: str) -> None:
    tree = systems.trees()[name]
    q, *_ = systems.state(tree, 16)
    expected = systems.poses(tree, q)
    for body, (R, p) in world_poses(tree, q).items():
        agree(R, expected[body][0], 1e-14)
        agree(p, expected[body][1], 1e-13)
        agree(tree.pose(q, body)[1], p, 0.0)
        agree(R.T @ R, np.eye(3), 1e-14)


@on_all
def test_described_coordinates_put_every_body_where_it_was_described(name: str) -> None:
    # joints by anchors do not meet as described in general; those by `at` do
    rng = np.random.default_rng(17)
    system = System("described")
    bodies: list[Body] = [system.ground]
    for i, joint in enumerate(systems.descriptions()[name].joints.values()):
        bodies.append(system.add_body(f"b{i}", **systems.solid(rng), **systems.somewhere(rng)))
        parent = bodies[rng.integers(max(0, i - 2), i + 1)]
        options = {**systems.options(rng, joint.kind), "at": rng.normal(size=3), "axis": systems.unit(rng, 3)}
        system.add_joint(JOINTS[joint.kind](joint.name, parent, bodies[-1], **options))
    tree = Tree(system)
    R, p = tree.pose(tree.described())
    for i, body in enumerate(tree.body_names):
        described = system.body(body).resolved({})
        agree(R[i], described.R, 1e-13)
        agree(p[i], described.p, 1e-13)


@on_all
def test_velocity_is_the_derivative_of_the_pose(name: str) -> None:
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 18)
    w, u = tree.velocity(q, v)
    agree(u, along(lambda x: tree.pose(x)[1], tree, q, v), 1e-9)
    R_dot = along(lambda x: tree.pose(x)[0], tree, q, v)
    spin = R_dot @ np.swapaxes(tree.pose(q)[0], 1, 2)
    agree(w, np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1), 1e-9)


@in_references
@on_all
def test_jacobian_times_v_is_the_twist_in_its_reference(name: str, reference: Any) -> None:
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 19)
    w, u = tree.velocity(q, v)
    for i, body in enumerate(tree.body_names):
        R, p = tree.pose(q, body)
        expected = {
            "world_aligned": (w[i], u[i]),
            "local": (R.T @ w[i], R.T @ u[i]),
            "world": (w[i], u[i] - np.cross(w[i], p)),
        }[reference]
        agree(tree.jacobian(q, body, reference) @ v, np.concatenate(expected))


@in_references
@on_all
def test_jacobian_rate_is_the_derivative_of_the_jacobian(name: str, reference: Any) -> None:
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 20)
    for body in tree.body_names[-3:]:
        expected = along(lambda x, body=body: tree.jacobian(x, body, reference), tree, q, v)
        agree(tree.jacobian_rate(q, v, body, reference), expected, 1e-8)


@in_references
def test_jacobians_of_markers_are_those_of_their_frames(reference: Any) -> None:
    rng = np.random.default_rng(21)
    system = systems.random_system(21, ["universal", "fixed", "planar", "spherical"], reach=1)
    for body in system.bodies:
        system.add_marker(f"on {body}", body, position=rng.normal(size=3), orientation=systems.unit(rng, 4))
    tree = Tree(system)
    q, v, *_ = systems.state(tree, 21)
    for body in system.bodies:
        marker = f"on {body}"
        _, R_BF, p_BF = system.frame(marker)
        (R, p), (R_WF, p_WF) = tree.pose(q, body), tree.pose(q, marker)
        agree(R_WF, R @ R_BF, 1e-14)
        agree(p_WF, p + R @ p_BF, 1e-14)
        w, u = tree.velocity(q, v, marker)
        agree(u, along(lambda x, m=marker: tree.pose(x, m)[1], tree, q, v), 1e-9)
        expected = along(lambda x, m=marker: tree.jacobian(x, m, reference), tree, q, v)
        agree(tree.jacobian_rate(q, v, marker, reference), expected, 1e-8)
        if reference == "world_aligned":
            agree(tree.jacobian(q, marker) @ v, np.concatenate([w, u]))


def test_ground_does_not_move() -> None:
    tree = systems.trees()["arm"]
    q, v, *_ = systems.state(tree, 22)
    agree(tree.pose(q, "ground")[0], np.eye(3), 0.0)
    assert not np.concatenate(tree.velocity(q, v, "ground")).any()
    assert not tree.jacobian(q, "ground").any()


# --- momentum and centres of mass ------------------------------------------------------------------------------------


def momentum_of(tree: Tree, q: np.ndarray, v: np.ndarray, about: np.ndarray) -> np.ndarray:
    """Σ X* I V of all bodies about a point, in world axes."""
    total = np.zeros(6)
    for body, I in bodies_of(tree).items():
        R, p = tree.pose(q, body)
        total += force_matrix(R, p - about) @ I @ (tree.jacobian(q, body, "local") @ v)
    return total


@on_all
def test_centroidal_momentum_is_that_of_the_bodies_about_the_centre_of_mass(name: str) -> None:
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 23)
    h = tree.centroidal_momentum(q, v)
    agree(h, momentum_of(tree, q, v, tree.center_of_mass(q)))
    agree(tree.centroidal_momentum_matrix(q) @ v, h)


@on_all
def test_linear_momentum_is_mass_times_the_velocity_of_the_centre_of_mass(name: str) -> None:
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 24)
    velocity = along(tree.center_of_mass, tree, q, v)
    agree(tree.center_of_mass_jacobian(q) @ v, velocity, 1e-9)
    agree(tree.centroidal_momentum(q, v)[3:], tree.mass * velocity, 1e-9)


@on_all
def test_centre_of_mass_of_a_subtree_is_that_of_its_bodies_and_moves_by_its_jacobian(name: str) -> None:
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 25)
    X = world_poses(tree, q)
    arcs, link = arcs_and_links(tree)
    parent = tree.compiled.model.topology.parent
    for a, arc in enumerate(arcs):
        if link[a] == 0:
            continue
        mass, moment = 0.0, np.zeros(3)
        for b, other in enumerate(arcs):
            at = link[b]
            while at > 0 and at != link[a]:
                at = parent[at]
            if at > 0:
                m, c, *_ = other.child.resolved({})
                R, p = X[other.child.name]
                mass, moment = mass + m, moment + m * (p + R @ c)
        agree(tree.center_of_mass(q, arc.child.name), moment / mass)
        expected = along(lambda x, body=arc.child.name: tree.center_of_mass(x, body), tree, q, v)
        agree(tree.center_of_mass_jacobian(q, arc.child.name) @ v, expected, 1e-8)


def test_a_subtree_without_mass_has_no_centre_of_mass() -> None:
    with pytest.raises(SingularError, match="'end'"):
        pendulum_with_empty_tip().center_of_mass(np.zeros(2), "end")


@pytest.mark.parametrize(
    "ask",
    [
        Tree.center_of_mass,
        Tree.center_of_mass_jacobian,
        Tree.centroidal_momentum_matrix,
        lambda tree, q: tree.centroidal_momentum(q, q),
    ],
)
def test_a_tree_without_mass_has_no_centre_of_mass_but_has_energy(ask: Any) -> None:
    system = System("rotor")
    system.add_joint(Revolute("hinge", system.ground, system.add_body("disc"), armature=0.5))
    tree = Tree(system)
    with pytest.raises(SingularError, match="no centre of mass"):
        ask(tree, np.zeros(1))
    assert tree.kinetic_energy([0.0], [2.0]) == 1.0
    assert tree.potential_energy([0.0]) == 0.0
