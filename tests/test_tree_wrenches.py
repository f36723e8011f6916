"""Joint wrenches, and what must not depend on how a system was described: welds, frames, order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems
from tree_lab import agree, armatures, bodies_of, on_all, on_free

from nexdyn.joints import Fixed, Revolute
from nexdyn.model.system import System
from nexdyn.spatial.poses import cross_force_matrix, force_matrix, motion_matrix
from nexdyn.spatial.rotations import quaternion, rotation_matrix
from nexdyn.tree.tree import Tree

# --- joint wrenches --------------------------------------------------------------------------------------------------


def carried(tree: Tree, q: np.ndarray, wrench: np.ndarray, joint: str) -> np.ndarray:
    """A wrench at a joint's parent-side frame, about the world's origin in world axes."""
    if joint not in tree.system.joints:  # a floating body's: at the world's own frame
        return wrench
    element = tree.system.joint(joint)
    R_PJ, p_PJ, *_ = element.frames({})
    R, p = (np.eye(3), np.zeros(3)) if element.parent.is_ground else tree.pose(q, element.parent.name)
    return force_matrix(R @ R_PJ, p + R @ p_PJ) @ wrench


@on_all
def test_joint_wrenches_carry_every_body(name: str) -> None:
    # of each body: wrench of its joint − wrenches that it puts on its children + weight = İ V + I V̇  (Newton, Euler)
    tree = systems.trees()[name]
    q, v, a, _ = systems.state(tree, 26)
    wrenches = tree.joint_wrenches(q, v, a)
    assert set(wrenches) == {*tree.system.joints, *(set(tree.coordinates) - set(tree.system.joints))}
    carriers = {joint.child.name: joint.name for joint in tree.system.joints.values()}
    for body, I in bodies_of(tree).items():
        R, p = tree.pose(q, body)
        X = force_matrix(R, p)
        J, J_dot = tree.jacobian(q, body, "local"), tree.jacobian_rate(q, v, body, "local")
        V = J @ v
        felt = J @ a + J_dot @ v
        felt[3:] -= R.T @ tree.system.gravity
        needed = X @ (I @ felt + cross_force_matrix(V) @ I @ V)
        total = carried(tree, q, wrenches[carriers.get(body, body)], carriers.get(body, body))
        for joint in tree.system.joints.values():
            if joint.parent.name == body:
                total = total - carried(tree, q, wrenches[joint.name], joint.name)
        agree(total, needed, 1e-10)


@on_free
def test_wrench_of_a_joint_along_its_freedoms_is_the_effort(name: str) -> None:
    # τ = Hᵀ F + armature · a, F moved from the parent-side to the child-side frame by X_J(q)
    tree = systems.trees()[name]
    q, v, a, _ = systems.state(tree, 27)
    tau, wrenches, own = tree.rnea(q, v, a), tree.joint_wrenches(q, v, a), systems.coordinates_of(tree, q)
    inertia = np.diag(armatures(tree))
    for joint, place in tree.coordinates.items():
        element = tree.system.joints.get(joint)
        kind, pitch = ("free", 0.0) if element is None else (element.kind, getattr(element, "pitch", 0.0))
        X_J = motion_matrix(*systems.joint_pose(kind, own[joint], pitch))  # F_child = X_Jᵀ F_parent
        effort = tree.motion_subspace(joint, q).T @ X_J.T @ wrenches[joint]
        agree(effort, tau[place.v] - inertia[place.v] * a[place.v], 1e-10)


# --- welds, frames, order --------------------------------------------------------------------------------------------


@on_free
def test_welded_bodies_as_one_link_move_as_bodies_of_their_own(name: str) -> None:
    # every fixed joint becomes a hinge that is held: a ≡ 0 there, the rest as before
    tree = systems.trees()[name]
    held = System("held", gravity=tree.system.gravity)
    for body in tree.system.bodies.values():
        held.add_body(body.copied())
    hinges = []
    for joint in tree.system.joints.values():
        if isinstance(joint, Fixed):
            R_AJ, p_AJ, R_BJ, p_BJ = joint.frames({})
            places = {"anchor_a": p_AJ, "axis_a": R_AJ[:, 2], "reference_a": R_AJ[:, 0]}
            places |= {"anchor_b": p_BJ, "axis_b": R_BJ[:, 2], "reference_b": R_BJ[:, 0]}
            held.add_joint(Revolute(joint.name, joint.parent.name, joint.child.name, **places))
            hinges.append(joint.name)
        else:
            held.add_joint(joint.copied(parent=joint.parent.name, child=joint.child.name))
    other = Tree(held)
    free = np.concatenate([np.arange(other.nv)[other.coordinates[j].v] for j in tree.joint_names])
    free_q = np.concatenate([np.arange(other.nq)[other.coordinates[j].q] for j in tree.joint_names])
    q, v, a, _ = systems.state(tree, 28)
    q_all, v_all, a_all = np.zeros(other.nq), np.zeros(other.nv), np.zeros(other.nv)
    q_all[free_q], v_all[free], a_all[free] = q, v, a
    agree(other.rnea(q_all, v_all, a_all)[free], tree.rnea(q, v, a))
    agree(other.crba(q_all)[np.ix_(free, free)], tree.crba(q))
    agree(other.kinetic_energy(q_all, v_all), tree.kinetic_energy(q, v))
    for body in tree.system.bodies:
        agree(other.pose(q_all, body)[1], tree.pose(q, body)[1], 1e-13)
        agree(other.jacobian(q_all, body)[:, free], tree.jacobian(q, body))


def moved_frames(system: System, seed: int) -> System:
    """The same mechanism with every body's frame elsewhere on the body: com, inertia and anchors in the new one."""
    rng = np.random.default_rng(seed)
    moved = System("moved", gravity=system.gravity)
    turn = {"ground": (np.eye(3), np.zeros(3))}
    for name, body in system.bodies.items():
        m, c, I, R, p = body.resolved({})
        q = systems.unit(rng, 4)
        Q, d = rotation_matrix(q), rng.normal(size=3)  # the new frame in the old one
        turn[name] = Q, d
        place = {"position": p + R @ d, "orientation": quaternion(R @ Q)}
        moved.add_body(name, mass=m, com=Q.T @ (c - d), inertia=Q.T @ I @ Q, **place)
    for joint in system.joints.values():
        R_AJ, p_AJ, R_BJ, p_BJ = joint.frames({})
        places: dict[str, Any] = dict.fromkeys(("at", "axis", "reference"))
        for side, R_J, p_J, body in (("a", R_AJ, p_AJ, joint.parent), ("b", R_BJ, p_BJ, joint.child)):
            Q, d = turn[body.name]
            places[f"anchor_{side}"] = Q.T @ (p_J - d)
            places[f"axis_{side}"], places[f"reference_{side}"] = Q.T @ R_J[:, 2], Q.T @ R_J[:, 0]
        moved.add_joint(joint.copied(parent=joint.parent.name, child=joint.child.name, **places))
    return moved


@pytest.mark.parametrize("name", ["every joint", "welds", "turning subspaces", "mimic"])
def test_nothing_depends_on_where_a_body_has_its_frame(name: str) -> None:
    tree = systems.trees()[name]
    other = Tree(moved_frames(tree.system, 29))
    q, v, a, tau = systems.state(tree, 29)
    agree(other.rnea(q, v, a), tree.rnea(q, v, a))
    agree(other.crba(q), tree.crba(q))
    agree(other.aba(q, v, tau), tree.aba(q, v, tau))
    agree(other.coriolis(q, v), tree.coriolis(q, v))
    agree(other.center_of_mass(q), tree.center_of_mass(q))
    agree(other.centroidal_momentum(q, v), tree.centroidal_momentum(q, v))


def reordered(system: System, seed: int) -> System:
    """The same system, its bodies and joints added in another order."""
    rng = np.random.default_rng(seed)
    other = System("reordered", gravity=system.gravity)
    for n in rng.permutation(len(system.bodies)):
        other.add_body(list(system.bodies.values())[n].copied())
    for n in rng.permutation(len(system.joints)):
        joint = list(system.joints.values())[n]
        other.add_joint(joint.copied(parent=joint.parent.name, child=joint.child.name))
    return other


@on_all
def test_the_order_in_which_things_are_added_changes_the_order_of_coordinates_only(name: str) -> None:
    tree = systems.trees()[name]
    other = Tree(reordered(tree.system, 30))
    assert sorted(other.joint_names) == sorted(tree.joint_names)
    q, v, a, tau = systems.state(tree, 30)
    iq, iv = np.empty(tree.nq, dtype=int), np.empty(tree.nv, dtype=int)  # places in `other`
    for joint, place in tree.coordinates.items():
        iq[place.q] = np.arange(tree.nq)[other.coordinates[joint].q]
        iv[place.v] = np.arange(tree.nv)[other.coordinates[joint].v]
    q_other, v_other, a_other, tau_other = np.empty(tree.nq), *np.empty((3, tree.nv))
    q_other[iq], v_other[iv], a_other[iv], tau_other[iv] = q, v, a, tau
    agree(other.rnea(q_other, v_other, a_other)[iv], tree.rnea(q, v, a))
    agree(other.aba(q_other, v_other, tau_other)[iv], tree.aba(q, v, tau))
    agree(other.crba(q_other)[np.ix_(iv, iv)], tree.crba(q))
    agree(other.coriolis(q_other, v_other)[np.ix_(iv, iv)], tree.coriolis(q, v))
    for body in tree.system.bodies:
        agree(other.pose(q_other, body)[1], tree.pose(q, body)[1], 1e-13)
