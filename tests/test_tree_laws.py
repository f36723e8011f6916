"""Laws of the tree algorithms, on the random systems of `systems`: identities that hold for every tree and state.

Tolerances are relative to the largest entry of what is compared: 1e-11 where both sides are sums of the same terms,
1e-8 where one side is a difference quotient.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import systems

from nexdyn.errors import InputError, SingularError, UnknownNameError
from nexdyn.joints import JOINTS, Fixed, Prismatic, Revolute
from nexdyn.model.body import Body
from nexdyn.model.joint import Mimic
from nexdyn.model.system import System
from nexdyn.spatial.poses import cross_force_matrix, force_matrix, motion_matrix, spatial_inertia
from nexdyn.spatial.rotations import quaternion, rotation_matrix
from nexdyn.tree import entries, tables
from nexdyn.tree.tree import REFERENCES, Tree

on_all = pytest.mark.parametrize("name", systems.NAMES)
on_free = pytest.mark.parametrize("name", systems.FREE_NAMES)
in_references = pytest.mark.parametrize("reference", list(REFERENCES))


def agree(found: Any, expected: Any, tolerance: float = 1e-11) -> None:
    """Equal to `tolerance` times the largest entry."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * scale)


def along(f: Any, tree: Tree, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return systems.difference(f, tree, q, v)


def bodies_of(tree: Tree) -> dict[str, np.ndarray]:
    """Each body's 6 × 6 inertia about its own origin in its own axes."""
    return {name: spatial_inertia(*body.resolved(tree.system.values)[:3]) for name, body in tree.system.bodies.items()}


def arcs_and_links(tree: Tree) -> tuple[list[Any], np.ndarray]:
    """Bodies with their joints, and the link of each as the kernels see it; 0 is what is welded to ground."""
    return tree.compiled.forest.arcs, tree.compiled.link


def armatures(tree: Tree) -> np.ndarray:
    """Gᵀ diag(armature) G."""
    A = np.diag(tree.compiled.model.freedom[: tree.compiled.nv, tables.ARMATURE])
    if tree.coupling is None:
        return A
    G = tree.coupling.matrix()
    return G.T @ A @ G


def world_poses(tree: Tree, q: np.ndarray) -> dict[str, systems.Frame]:
    R, p = tree.pose(q)
    return {name: (R[i], p[i]) for i, name in enumerate(tree.body_names)}


# --- forward and inverse dynamics, mass matrix -----------------------------------------------------------------------


@on_all
def test_inverse_dynamics_undoes_forward_dynamics(name: str) -> None:
    tree = systems.trees()[name]
    q, v, a, tau = systems.state(tree, 1, 20)
    agree(tree.rnea(q, v, tree.aba(q, v, tau)), tau)
    agree(tree.aba(q, v, tree.rnea(q, v, a)), a)


@on_all
def test_mass_times_acceleration_plus_bias_is_the_effort(name: str) -> None:
    tree = systems.trees()[name]
    q, v, a, _ = systems.state(tree, 2, 5)
    agree(np.einsum("nij,nj->ni", tree.crba(q), a) + tree.bias(q, v), tree.rnea(q, v, a))


@on_all
def test_inverse_dynamics_is_affine_in_the_acceleration_and_its_matrix_is_M(name: str) -> None:
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 3)
    h = tree.bias(q, v)
    columns = [tree.rnea(q, v, e) - h for e in np.eye(tree.nv)]
    agree(np.stack(columns, axis=1), tree.crba(q))


@on_all
def test_mass_matrix_is_symmetric_and_positive_definite(name: str) -> None:
    tree = systems.trees()[name]
    M = tree.crba(systems.state(tree, 4, 10)[0])
    agree(M, np.swapaxes(M, 1, 2), 1e-14)
    assert np.linalg.eigvalsh(M).min() > 0.0


@on_all
def test_mass_matrix_is_the_sum_over_bodies_of_the_inertia_seen_by_their_jacobians(name: str) -> None:
    # M = Σ Jᵀ I J + armatures
    tree = systems.trees()[name]
    q, *_ = systems.state(tree, 5)
    M = armatures(tree)
    for body, I in bodies_of(tree).items():
        J = tree.jacobian(q, body, "local")
        M = M + J.T @ I @ J
    agree(tree.crba(q), M)


@on_all
def test_factorised_dynamics_are_those_of_articulated_bodies(name: str) -> None:
    tree = systems.trees()[name]
    q, v, _, tau = systems.state(tree, 6, 20)
    agree(tree.forward_dynamics(q, v, tau, dynamics="crba"), tree.aba(q, v, tau))
    expected = np.linalg.solve(tree.crba(q), (tau - tree.bias(q, v))[..., None])[..., 0]
    agree(tree.forward_dynamics(q, v, tau, dynamics="aba"), expected)


@on_free
def test_freedoms_of_different_branches_do_not_couple(name: str) -> None:
    # M_jk = 0 unless one freedom stands above the other: what the branch-sparse factorisation relies on
    tree = systems.trees()[name]
    above = tree.compiled.above
    related = np.eye(tree.nv, dtype=bool)
    for j in range(tree.nv):
        k = above[j]
        while k >= 0:
            related[j, k] = related[k, j] = True
            k = above[k]
    M = tree.crba(systems.state(tree, 7)[0])
    assert not M[~related].any()


# --- near singular ------------------------------------------------------------------------------------------------


def pendulum_with_empty_tip(**tip: Any) -> Tree:
    """A pendulum with a second link that turns about the first one's tip; without `tip` it has no inertia."""
    system = System("tip")
    arm = system.add_body("arm", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.5, 0, 0))
    end = system.add_body("end", position=(1, 0, 0), **tip)
    system.add_joint(Revolute("shoulder", system.ground, arm, at=(0, 0, 0)))
    system.add_joint(Revolute("wrist", arm, end, at=(1, 0, 0), axis=(1, 2, 2)))
    return Tree(system)


@pytest.mark.parametrize("dynamics", ["aba", "crba"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_a_joint_that_moves_no_inertia_is_named(dynamics: Any, batch: tuple[int, ...]) -> None:
    tree = pendulum_with_empty_tip()
    q, v, _, tau = systems.state(tree, 1, *batch)
    with pytest.raises(SingularError, match="joint 'wrist' moves no inertia") as caught:
        tree.forward_dynamics(q, v, tau, dynamics=dynamics)
    assert caught.value.where == "wrist"


@pytest.mark.parametrize("dynamics", ["aba", "crba"])
def test_tiny_but_honest_inertias_are_solved(dynamics: Any) -> None:
    tree = pendulum_with_empty_tip(mass=1e-9, inertia=(1e-15, 1e-15, 1e-15))
    q, v, a, _ = systems.state(tree, 1)
    agree(tree.forward_dynamics(q, v, tree.rnea(q, v, a), dynamics=dynamics), a, 1e-6)


def test_two_freedoms_of_one_motion_are_reported_by_name() -> None:
    # two slides along one line with no mass between them: M is singular though no entry of it is zero
    system = System("twice")
    inner = system.add_body("inner")
    outer = system.add_body("outer", mass=2.0, inertia=(1.0, 1.0, 1.0))
    axis = systems.unit(np.random.default_rng(1), 3)
    system.add_joint(Prismatic("first", system.ground, inner, at=(0, 0, 0), axis=axis))
    system.add_joint(Prismatic("second", inner, outer, at=(0, 0, 0), axis=axis))
    tree = Tree(system)
    with pytest.raises(SingularError, match="'first'"):
        tree.forward_dynamics(np.zeros(2), np.zeros(2), np.ones(2), dynamics="crba")


def test_armature_makes_a_joint_without_inertia_solvable() -> None:
    system = System("armed")
    end = system.add_body("end")
    system.add_joint(Revolute("hinge", system.ground, end, armature=0.5))
    agree(Tree(system).aba(np.zeros(1), np.zeros(1), np.array([2.0])), [4.0])


# --- energy and Coriolis --------------------------------------------------------------------------------------------


@on_all
def test_kinetic_energy_is_half_v_M_v(name: str) -> None:
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 8, 5)
    agree(tree.kinetic_energy(q, v), 0.5 * np.einsum("ni,nij,nj->n", v, tree.crba(q), v))


@on_all
def test_power_of_the_efforts_without_gravity_is_the_rate_of_kinetic_energy(name: str) -> None:
    # vᵀ (τ − G) = dT/dt
    tree = systems.trees()[name]
    q, v, _, tau = systems.state(tree, 9)
    a = tree.aba(q, v, tau)
    h = 1e-4

    def kinetic(k: int) -> float:
        return tree.kinetic_energy(tree.integrate(q, k * h * v), v + k * h * a)

    rate = (kinetic(-2) - 8 * kinetic(-1) + 8 * kinetic(1) - kinetic(2)) / (12 * h)
    agree(rate, v @ (tau - tree.gravity(q)), 1e-8)


@on_all
def test_gravity_term_is_the_gradient_of_potential_energy(name: str) -> None:
    tree = systems.trees()[name]
    q, *_ = systems.state(tree, 10)
    agree(tree.gravity(q), systems.gradient(tree.potential_energy, tree, q), 1e-8)


@on_all
def test_potential_energy_is_minus_the_weight_times_the_centre_of_mass(name: str) -> None:
    tree = systems.trees()[name]
    q, *_ = systems.state(tree, 11, 3)
    moving = sum(arc.child.resolved({}).mass for arc, link in zip(*arcs_and_links(tree), strict=True) if link)
    assert tree.mass == pytest.approx(moving, rel=1e-14)
    agree(tree.potential_energy(q), -moving * tree.center_of_mass(q) @ tree.system.gravity)


@on_all
def test_coriolis_matrix_times_v_plus_gravity_is_the_bias(name: str) -> None:
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 12, 5)
    agree(np.einsum("nij,nj->ni", tree.coriolis(q, v), v) + tree.gravity(q), tree.bias(q, v))


@on_all
def test_rate_of_mass_less_twice_coriolis_is_skew(name: str) -> None:
    # hence vᵀ (Ṁ − 2C) v = 0
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 13)
    C, M_dot = tree.coriolis(q, v), along(tree.crba, tree, q, v)
    agree(M_dot, C + C.T, 1e-8)
    assert abs(v @ (M_dot - 2 * C) @ v) < 1e-8 * max(1.0, abs(M_dot).max() * (v @ v))


@on_all
def test_coriolis_matrix_is_linear_in_v(name: str) -> None:
    tree = systems.trees()[name]
    q, v, u, _ = systems.state(tree, 14)
    agree(tree.coriolis(q, 2.0 * v - u), 2.0 * tree.coriolis(q, v) - tree.coriolis(q, u))


@pytest.mark.parametrize("name", ["arm", "turning subspaces"])
def test_coriolis_matrix_is_that_of_christoffel_symbols(name: str) -> None:
    # where the coordinates are the integrals of the velocities: C_ij = ½ Σ_k (∂_k M_ij + ∂_j M_ik − ∂_i M_jk) v_k
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 15)
    dM = systems.gradient(tree.crba, tree, q)
    C = 0.5 * (np.einsum("ijk,k->ij", dM, v) + np.einsum("ikj,k->ij", dM, v) - np.einsum("jki,k->ij", dM, v))
    agree(tree.coriolis(q, v), C, 1e-8)


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
    parent = tree.compiled.model.topology[:, tables.PARENT]
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


# --- mimic -----------------------------------------------------------------------------------------------------------


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
        ({"j0": Mimic("ball")}, "3 freedoms; one is needed"),
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


def test_kernels_are_compiled_once_whatever_arrays_come() -> None:
    # a second signature would cost the compiler's seconds again: read-only, strided, Fortran and batched arrays, lists
    tree = systems.trees()["mimic"]
    q, v, a, tau = systems.state(tree, 32, 2, 3)
    systems.trees()["arm"].aba(*np.zeros((3, 6)))
    frozen, wide = q.copy(), np.repeat(v, 2, axis=-1)[..., ::2]
    frozen.setflags(write=False)
    for q_in, v_in in (
        (q, v),
        (q[0, 0], v),
        (frozen, v[0, 0]),
        (np.asfortranarray(q), wide),
        (q[0, 0].tolist(), v[0, 0]),
    ):
        tree.rnea(q_in, v_in, a), tree.aba(q_in, v_in, tau), tree.coriolis(q_in, v_in), tree.integrate(q_in, v_in)
        tree.crba(q_in), tree.forward_dynamics(q_in, v_in, tau, "crba"), tree.kinetic_energy(q_in, v_in)
        (
            tree.jacobian(q_in, tree.body_names[-1]),
            tree.center_of_mass(q_in, tree.body_names[-1]),
            tree.velocity(q_in, v_in),
        )
    for kernel in vars(entries).values():
        if hasattr(kernel, "signatures") and kernel.__module__ == entries.__name__:
            assert len(kernel.signatures) <= 1, kernel.__name__


# --- arrays ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["every joint", "mimic"])
def test_batch_dimensions_broadcast_and_each_state_is_computed_alone(name: str) -> None:
    tree = systems.trees()[name]
    q, _, _, _ = systems.state(tree, 33, 3, 1)
    _, v, a, tau = systems.state(tree, 34, 2)
    body, crba = tree.body_names[-1], partial(tree.forward_dynamics, dynamics="crba")
    results = {
        "rnea": (tree.rnea(q, v, a), lambda i, j: tree.rnea(q[i, 0], v[j], a[j])),
        "aba": (tree.aba(q, v, tau), lambda i, j: tree.aba(q[i, 0], v[j], tau[j])),
        "crba": (crba(q, v, tau), lambda i, j: crba(q[i, 0], v[j], tau[j])),
        "coriolis": (tree.coriolis(q, v), lambda i, j: tree.coriolis(q[i, 0], v[j])),
        "velocity": (np.stack(tree.velocity(q, v)), lambda i, j: np.stack(tree.velocity(q[i, 0], v[j]))),
        "jacobian_rate": (tree.jacobian_rate(q, v, body), lambda i, j: tree.jacobian_rate(q[i, 0], v[j], body)),
        "energy": (tree.kinetic_energy(q, v), lambda i, j: tree.kinetic_energy(q[i, 0], v[j])),
        "momentum": (tree.centroidal_momentum(q, v), lambda i, j: tree.centroidal_momentum(q[i, 0], v[j])),
        "integrate": (tree.integrate(q, v), lambda i, j: tree.integrate(q[i, 0], v[j])),
    }  # fmt: skip
    for what, (all_states, one) in results.items():
        states = all_states if what != "velocity" else np.moveaxis(all_states, 0, 2)
        assert states.shape[:2] == (3, 2), what
        for i in range(3):
            for j in range(2):
                agree(states[i, j], one(i, j), 1e-13)


def test_what_depends_on_q_alone_takes_batches() -> None:
    tree = systems.trees()["every joint"]
    q, *_ = systems.state(tree, 35, 2, 3)
    body = tree.body_names[-1]
    nv, n = tree.nv, len(tree.body_names)
    assert tree.crba(q).shape == (2, 3, nv, nv)
    assert [x.shape for x in tree.pose(q)] == [(2, 3, n, 3, 3), (2, 3, n, 3)]
    assert [x.shape for x in tree.pose(q, body)] == [(2, 3, 3, 3), (2, 3, 3)]
    assert tree.jacobian(q, body).shape == (2, 3, 6, nv)
    assert tree.center_of_mass(q).shape == tree.center_of_mass(q, body).shape == (2, 3, 3)
    assert tree.center_of_mass_jacobian(q).shape == tree.center_of_mass_jacobian(q, body).shape == (2, 3, 3, nv)
    assert tree.potential_energy(q).shape == (2, 3)
    assert tree.centroidal_momentum_matrix(q).shape == (2, 3, 6, nv)
    assert tree.potential_energy(q[0, 0]).shape == ()


def test_an_empty_batch_gives_an_empty_answer() -> None:
    tree = systems.trees()["arm"]
    q, v, _, tau = systems.state(tree, 36, 0)
    assert tree.aba(q, v, tau).shape == (0, tree.nv)
    assert tree.crba(q).shape == (0, tree.nv, tree.nv)


def test_lists_integers_and_strided_arrays_are_read_like_any_other() -> None:
    tree = systems.trees()["arm"]
    q, v, _, tau = systems.state(tree, 37)
    expected = tree.aba(q, v, tau)
    agree(tree.aba(q.tolist(), tuple(v), tau), expected, 0.0)
    wide = np.zeros((tree.nv, 2))
    wide[:, 0] = tau
    agree(tree.aba(q, v, wide[:, 0]), expected, 1e-15)
    agree(tree.aba(np.zeros(6, dtype=int), np.zeros(6, dtype=np.float32), [0] * 6), tree.aba(*np.zeros((3, 6))), 0.0)


def test_arguments_are_not_written_to() -> None:
    tree = systems.trees()["every joint"]
    q, v, a, tau = systems.state(tree, 38)
    kept = [x.copy() for x in (q, v, a, tau)]
    for x in (q, v, a, tau):
        x.setflags(write=False)
    tree.aba(q, v, tau), tree.rnea(q, v, a), tree.forward_dynamics(q, v, tau, "crba"), tree.integrate(q, v)
    for x, before in zip((q, v, a, tau), kept, strict=True):
        agree(x, before, 0.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t, q, v: t.rnea(q[:-1], v, v), r"q has shape \(5,\); \(…, 6\) is needed"),
        (lambda t, q, v: t.rnea(q, v[:-1], v), r"v has shape \(5,\); \(…, 6\) is needed"),
        (lambda t, q, v: t.aba(q, v, np.zeros(7)), r"tau has shape \(7,\); \(…, 6\) is needed"),
        (lambda t, q, v: t.aba(q, v, 1.0), r"tau has shape \(\); \(…, 6\) is needed"),
        (lambda t, q, v: t.crba("six"), r"q is 'six'; numbers of shape \(…, 6\) are needed"),
        (lambda t, q, v: t.rnea(np.zeros((2, 6)), np.zeros((3, 6)), v), r"q \(2, 6\), v \(3, 6\)"),
        (lambda t, q, v: t.jacobian(q, "nobody"), "no .*'nobody'"),
        (lambda t, q, v: t.jacobian(q, "revolute0", "wrld"), "no reference 'wrld'; did you mean 'world'"),
        (lambda t, q, v: t.forward_dynamics(q, v, v, "lu"), "no dynamics 'lu'; valid: aba, crba"),
        (lambda t, q, v: t.motion_subspace("j"), "no joint 'j'"),
    ],
)
def test_wrong_arguments_are_named_with_what_is_needed(call: Any, message: str) -> None:
    tree = systems.trees()["arm"]
    q, v, *_ = systems.state(tree, 39)
    with pytest.raises(InputError, match=message):
        call(tree, q, v)


def test_names_that_nothing_carries_come_with_the_nearest() -> None:
    tree = systems.trees()["arm"]
    with pytest.raises(UnknownNameError, match="did you mean 'revolute0'"):
        tree.pose(tree.neutral(), "revolut0")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("argument", [0, 1, 2])
def test_accelerations_that_are_not_finite_are_an_error(bad: float, argument: int) -> None:
    tree = systems.trees()["arm"]
    arguments = [x.copy() for x in systems.state(tree, 40)[:3]]
    arguments[argument][2] = bad
    with pytest.raises((InputError, SingularError)):
        tree.aba(*arguments)
    agree(tree.rnea(*systems.state(tree, 40)[:3]), tree.rnea(*systems.state(tree, 40)[:3]), 0.0)


@on_free
def test_a_state_that_overflows_is_an_error_and_leaves_no_trace(name: str) -> None:
    tree = systems.trees()[name]
    q, v, _, tau = systems.state(tree, 43)
    expected = tree.aba(q, v, tau), tree.rnea(q, v, tau), tree.crba(q)
    with pytest.raises(SingularError, match="not finite"):
        tree.aba(q, 1e250 * v, tau)
    with pytest.raises(SingularError, match="not finite"):
        tree.aba(np.stack([q, q]), np.stack([v, 1e250 * v]), tau)
    for found, before in zip((tree.aba(q, v, tau), tree.rnea(q, v, tau), tree.crba(q)), expected, strict=True):
        agree(found, before, 0.0)


def test_quaternions_of_any_length_are_normalised_and_those_of_none_refused() -> None:
    tree = systems.trees()["quaternions"]
    q = 3.0 * systems.state(tree, 41, 2)[0]
    for joint in tree.joint_names:
        part = tree.normalized(q)[:, tree.coordinates[joint].q][:, :4]
        agree(np.linalg.norm(part, axis=1), [1.0, 1.0], 1e-15)
    with pytest.raises(InputError, match=r"joint 'j0' has a quaternion of length 0"):
        tree.normalized(np.zeros(tree.nq))


def test_trees_of_one_shape_share_no_scratch() -> None:
    first, second = (Tree(systems.random_system(42, ["revolute", "spherical"])) for _ in range(2))
    q, v, _, tau = systems.state(first, 42)
    expected = first.aba(q, v, tau)
    second.aba(q, -v, 2.0 * tau)
    agree(first.aba(q, v, tau), expected, 0.0)
