"""Mimic joints: the equations of the free tree, coupled."""

from __future__ import annotations

import numpy as np
import pytest
import systems
from tree_lab import agree

from nexdyn.errors import InputError
from nexdyn.joints import JOINTS, Revolute
from nexdyn.model.joint import Mimic
from nexdyn.model.system import System
from nexdyn.tree.tree import Tree


def without_mimic(system: System) -> Tree:
    """The tree of a system whose followers are set free."""
    free = System("free", gravity=system.gravity)
    for body in system.bodies.values():
        free.add_body(body.copied())
    for joint in system.joints.values():
        free.add_joint(joint.copied(parent=joint.parent.name, child=joint.child.name, mimic=None))
    return Tree(free)


def test_a_follower_couples_the_equations_of_the_free_tree() -> None:
    # q_free = G q + g₀, v_free = G v;  M = Gᵀ M_free G, τ = Gᵀ τ_free, C = Gᵀ C_free G, J = J_free G
    tree = systems.trees()["mimic"]
    free = without_mimic(tree.system)
    q, v, a, _ = systems.state(tree, 31)
    own = systems.coordinates_of(tree, q)
    q_free = np.concatenate([own[joint] for joint in free.joint_names])
    G = np.zeros((free.nv, tree.nv))
    for joint, place in free.coordinates.items():
        factor, leader = 1.0, joint
        while (mimic := tree.system.joint(leader).mimic) is not None:
            factor, leader = factor * mimic.multiplier, mimic.joint
        G[place.v, tree.coordinates[leader].v] = factor * np.eye(place.v.stop - place.v.start)
    agree(tree.crba(q), G.T @ free.crba(q_free) @ G)
    agree(tree.rnea(q, v, a), G.T @ free.rnea(q_free, G @ v, G @ a))
    agree(tree.coriolis(q, v), G.T @ free.coriolis(q_free, G @ v) @ G)
    for body in tree.system.bodies:
        agree(tree.jacobian(q, body), free.jacobian(q_free, body) @ G)
        agree(tree.jacobian_rate(q, v, body), free.jacobian_rate(q_free, G @ v, body) @ G)


def test_followers_have_no_coordinates() -> None:
    tree = systems.trees()["mimic"]
    assert sorted(tree.joint_names) == ["j0", "j1", "j4", "j7", "j8"]
    assert (tree.nq, tree.nv) == (10, 9)


def test_a_follower_with_an_offset_does_not_move_its_leader() -> None:
    system = System("offset")
    leader = system.add_body("leader", mass=1.0, inertia=(1, 1, 1))
    follower = system.add_body("follower", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(Revolute("lead", system.ground, leader))
    system.add_joint(Revolute("follow", leader, follower, mimic=Mimic("lead", 1.0, 0.7)))
    tree = Tree(system)
    agree(tree.integrate([0.25], [0.5]), [0.75], 1e-15)


@pytest.mark.parametrize(
    ("mimics", "message"),
    [
        ({"j0": Mimic("j9")}, "no joint 'j9'"),
        ({"j0": Mimic("j1"), "j1": Mimic("j2"), "j2": Mimic("j0")}, "circle: j0 → j1 → j2 → j0"),
        ({"j0": Mimic("ball")}, "3 degrees of freedom; one is needed"),
    ],
)
def test_mimics_that_lead_nowhere_are_refused(mimics: dict[str, Mimic], message: str) -> None:
    system = System("nowhere")
    for name in ("j0", "j1", "j2"):
        system.add_body(name, mass=1.0, inertia=(1, 1, 1))
        system.add_joint(Revolute(name, system.ground, name, mimic=mimics.get(name)))
    system.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(JOINTS["spherical"]("ball", system.ground, "ball"))
    with pytest.raises(InputError, match=message):
        Tree(system)
