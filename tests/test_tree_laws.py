"""Laws of dynamics on the random systems of `systems`: forward and inverse dynamics, mass, energy, Coriolis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems
from tree_lab import agree, along, arcs_and_links, armatures, bodies_of, on_all, on_free, pendulum_with_empty_tip

from nexdyn.errors import SingularError
from nexdyn.joints import Prismatic, Revolute
from nexdyn.model.system import System
from nexdyn.tree.tree import Tree

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


def test_the_mass_matrix_keeps_an_inertia_a_billionth_of_the_others() -> None:
    # a shaft that hardly resists its own turning, at the end of an arm: M_jj is its moment and nothing else
    system = System("drill", gravity=(0, 0, 0))
    last = system.ground
    for i in range(3):
        arm = system.add_body(f"arm{i}", mass=2.0, inertia=(0.3, 0.1, 0.2), position=(i + 0.3, 0.1, 0.2))
        system.add_joint(Revolute(f"joint{i}", last, arm, at=(i, 0, 0), axis=(0.3 * i, 1.0, 0.2)))
        last = arm
    shaft = system.add_body("shaft", mass=1.0, inertia=(0.7, 0.7, 1e-9), position=(3.0, 0, 0))
    system.add_joint(Revolute("spindle", last, shaft, at=(3.0, 0, 0), axis=(0, 0, 1)))
    tree = Tree(system)
    M = tree.crba(np.array([tree.random(np.random.default_rng(seed)) for seed in range(20)]))
    np.testing.assert_allclose(M[:, 3, 3], 1e-9, rtol=1e-14)
    assert M[:, 0, 0].min() > 1.0


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
