"""Derivatives of inverse and forward dynamics: against differences of fourth order, Pinocchio, and laws.

Differences of `systems.gradient` with h = 1e-3 are good to 1e-10 of the largest entry; what is linear or quadratic in v
and linear in a and τ is differenced without error but rounding's.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import systems
from tree_lab import agree, on_all, on_free, pendulum_with_empty_tip

import nexdyn as nx
from nexdyn.tree.tree import Tree

EXACT = 1e-10


def quadratic(f: Any, v: np.ndarray) -> np.ndarray:
    """df/dv of a function of second degree, by central differences, which are exact for it."""
    return np.stack([(f(v + e) - f(v - e)) / 2.0 for e in np.eye(len(v))], axis=-1)


@on_all
def test_derivatives_of_inverse_dynamics_are_differences(name: str) -> None:
    tree = systems.trees()[name]
    q, v, a, _ = systems.state(tree, 41)
    found = tree.rnea_derivatives(q, v, a)
    agree(found.q, systems.gradient(lambda x: tree.rnea(x, v, a), tree, q, 1e-3), EXACT)
    agree(found.v, quadratic(lambda x: tree.rnea(q, x, a), v), 1e-12)
    agree(found.a, tree.crba(q), 1e-12)


@on_all
def test_derivatives_of_forward_dynamics_are_differences(name: str) -> None:
    tree = systems.trees()[name]
    q, v, _, tau = systems.state(tree, 42)
    found = tree.aba_derivatives(q, v, tau)
    agree(found.q, systems.gradient(lambda x: tree.aba(x, v, tau), tree, q, 1e-3), EXACT)
    agree(found.v, quadratic(lambda x: tree.aba(q, x, tau), v), EXACT)
    agree(found.tau @ tree.crba(q), np.eye(tree.nv), EXACT)
    agree(found.tau, found.tau.T, 1e-12)


@on_all
def test_forward_and_inverse_derivatives_are_each_others(name: str) -> None:
    # a(q, v, τ(q, v, a)) = a, differentiated:  ∂a/∂x + ∂a/∂τ ∂τ/∂x = 0
    tree = systems.trees()[name]
    q, v, a, _ = systems.state(tree, 43)
    inverse = tree.rnea_derivatives(q, v, a)
    forward = tree.aba_derivatives(q, v, tree.rnea(q, v, a))
    agree(forward.q + forward.tau @ inverse.q, np.zeros((tree.nv, tree.nv)), 1e-9)
    agree(forward.v + forward.tau @ inverse.v, np.zeros((tree.nv, tree.nv)), 1e-9)


@on_all
def test_a_batch_gives_what_its_states_give_alone(name: str) -> None:
    tree = systems.trees()[name]
    q, v, a, tau = systems.state(tree, 44, 11)
    inverse, forward = tree.rnea_derivatives(q, v, a), tree.aba_derivatives(q, v, tau)
    for s in (0, 7, 10):
        for found, alone in zip(inverse, tree.rnea_derivatives(q[s], v[s], a[s]), strict=True):
            agree(found[s], alone, 1e-12)
        for found, alone in zip(forward, tree.aba_derivatives(q[s], v[s], tau[s]), strict=True):
            agree(found[s], alone, 1e-11)


def test_a_state_gives_the_same_bits_in_a_batch_of_any_size_and_place() -> None:
    tree = systems.trees()["forest"]
    q, v, a, tau = systems.state(tree, 45, 3, 7)
    inverse, forward = tree.rnea_derivatives(q, v, a), tree.aba_derivatives(q, v, tau)
    assert inverse.q.shape == forward.tau.shape == (3, 7, tree.nv, tree.nv)
    for place in ((0, 0), (1, 4), (2, 6)):
        one = [x[place][None] for x in (q, v, a, tau)]
        for found, alone in zip(inverse, tree.rnea_derivatives(*one[:3]), strict=True):
            np.testing.assert_array_equal(found[place], alone[0])
        for found, alone in zip(forward, tree.aba_derivatives(one[0], one[1], one[3]), strict=True):
            np.testing.assert_array_equal(found[place], alone[0])


def test_the_place_of_a_floating_tree_does_not_enter_its_rounding() -> None:
    # 1,000 km from the world's origin, world axes at that origin would lose twelve digits
    tree = systems.trees()["quaternions"]
    q, v, a, tau = systems.state(tree, 46)
    far = q.copy()
    roots = [tree.coordinates[name] for name in tree.joint_names if tree.coordinates[name].q.start == 0]
    far[roots[0].q.start + 4 : roots[0].q.stop] += 1e6
    for found, expected in zip(tree.rnea_derivatives(far, v, a), tree.rnea_derivatives(q, v, a), strict=True):
        agree(found, expected, 1e-12)
    for found, expected in zip(tree.aba_derivatives(far, v, tau), tree.aba_derivatives(q, v, tau), strict=True):
        agree(found, expected, 1e-9)


@on_free
def test_external_wrenches_in_the_scratch_are_differentiated_too(name: str) -> None:
    # they keep their components in their bodies' axes
    tree = Tree(systems.descriptions()[name])
    q, v, a, _ = systems.state(tree, 47)
    without = tree.rnea_derivatives(q, v, a)
    tree.work.body.external.numbers[1:] = np.random.default_rng(48).normal(size=(tree.nb, 6))
    found = tree.rnea_derivatives(q, v, a)
    agree(found.q, systems.gradient(lambda x: tree.rnea(x, v, a), tree, q, 1e-3), EXACT)
    assert tree.nb == tree.nv or np.abs(found.q - without.q).max() > 1e-3


def test_derivatives_of_a_double_pendulum_are_those_by_hand() -> None:
    # links of length 1 with points of mass 1 at their ends, hanging along −y where q₁ = −π/2: τ(q, 0, 0) = ∂U/∂q
    system = nx.System("double pendulum", gravity=(0, -9.81, 0))
    before = system.ground
    for i in range(2):
        link = system.add_body(f"link{i}", mass=1.0, position=(i + 1, 0, 0))
        system.add_joint(nx.Revolute(f"hinge{i}", before, link, at=(i, 0, 0), axis=(0, 0, 1), armature=0.0))
        before = link
    tree, (q1, q2) = Tree(system), (0.4, -1.1)
    g, (s1, s12) = 9.81, np.sin([q1, q1 + q2])
    found = tree.rnea_derivatives([q1, q2], [0.0, 0.0], [0.0, 0.0])
    agree(found.q, [[-2 * g * s1 - g * s12, -g * s12], [-g * s12, -g * s12]], 1e-14)
    agree(found.v, np.zeros((2, 2)), 1e-14)
    c2, s2, (v1, v2) = np.cos(q2), np.sin(q2), (0.7, -0.3)
    found = tree.rnea_derivatives([q1, q2], [v1, v2], [0.0, 0.0])
    agree(found.v, [[-2 * s2 * v2, -2 * s2 * (v1 + v2)], [2 * s2 * v1, 0.0]], 1e-14)
    agree(found.a, [[3 + 2 * c2, 1 + c2], [1 + c2, 1]], 1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_are_those_of_pin(seed: int) -> None:
    # B of planar joints turns, and pin leaves Ḣ of universal joints out of its derivatives
    pin = pytest.importorskip("pinocchio")
    from test_tree_pin import Pin

    rng = np.random.default_rng(50 + seed)
    kinds = [str(kind) for kind in rng.permutation(systems.MOVING * 2) if kind not in ("planar", "universal")]
    tree = Tree(systems.random_system(60 + seed, kinds, roots=2, floating=seed % 2, reach=1 + seed))
    o = Pin(tree)
    q, v, a, tau = systems.state(tree, seed)
    q_pin, B = o.q(q), o.B(q)
    found = tree.rnea_derivatives(q, v, a)
    pin.computeRNEADerivatives(o.model, o.data, q_pin, B @ v, B @ a)
    agree(found.q, B.T @ o.data.dtau_dq @ B, 1e-9)
    agree(found.v, B.T @ o.data.dtau_dv @ B, 1e-9)
    M = np.triu(o.data.M)
    agree(found.a, B.T @ (M + np.triu(M, 1).T) @ B, 1e-9)
    forward = tree.aba_derivatives(q, v, tau)
    pin.computeABADerivatives(o.model, o.data, q_pin, B @ v, np.linalg.solve(B.T, tau))
    agree(forward.q, B.T @ o.data.ddq_dq @ B, 1e-9)
    agree(forward.v, B.T @ o.data.ddq_dv @ B, 1e-9)
    inverse = np.triu(o.data.Minv)
    agree(forward.tau, B.T @ (inverse + np.triu(inverse, 1).T) @ B, 1e-9)


ROBOTS = ["panda.urdf", "solo12.urdf", "talos_reduced.urdf", "icub_reduced.urdf", "anymal.urdf", "ur5_robot.urdf"]


@pytest.mark.parametrize("file", ROBOTS)
def test_derivatives_of_real_robots_are_those_of_pin(file: str) -> None:
    pin = pytest.importorskip("pinocchio")
    from pin_oracle import PinOracle
    from test_urdf_robots import ROBOTS as FILES

    path = next(path for path in FILES if path.name == file)
    base = "fixed" if file in ("panda.urdf", "ur5_robot.urdf") else "free"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nx.NexDynWarning)
        system = nx.load(path, base=base)
    tree = Tree(system)
    oracle = PinOracle(path, system, tree.joint_names, base=base)
    q, v, a, tau = oracle.random_state(np.random.default_rng(70))
    B, q_pin = oracle.B(q), oracle.q_pin(q)
    model, data = oracle.model, oracle.data
    found = tree.rnea_derivatives(q, v, a)
    pin.computeRNEADerivatives(model, data, q_pin, B @ v, B @ a)
    agree(found.q, B.T @ data.dtau_dq @ B, 1e-9)
    agree(found.v, B.T @ data.dtau_dv @ B, 1e-9)
    if tree.coupling is None:
        forward = tree.aba_derivatives(q, v, tau)
        pin.computeABADerivatives(model, data, q_pin, B @ v, np.linalg.solve(B.T, tau))
        inverse = np.triu(data.Minv)
        agree(forward.q, B.T @ data.ddq_dq @ B, 1e-9)
        agree(forward.v, B.T @ data.ddq_dv @ B, 1e-9)
        agree(forward.tau, B.T @ (inverse + np.triu(inverse, 1).T) @ B, 1e-9)


def test_a_joint_that_moves_no_inertia_is_named() -> None:
    tree = pendulum_with_empty_tip()
    q, v, tau = np.zeros((3, 2))
    with pytest.raises(nx.SingularError, match="joint 'wrist' moves no inertia"):
        tree.aba_derivatives(q, v, tau)
    with pytest.raises(nx.SingularError, match="joint 'wrist' moves no inertia"):
        tree.aba_derivatives(np.zeros((3, 2)), v, tau)
    assert tree.rnea_derivatives(q, v, tau).a[1, 1] == 0.0


def test_states_of_wrong_shape_are_refused_with_both_shapes() -> None:
    tree = systems.trees()["arm"]
    q, v, a, _ = systems.state(tree, 49, 3)
    with pytest.raises(nx.InputError, match=r"v has shape \(3, 5\); \(…, 6\) is needed"):
        tree.rnea_derivatives(q, v[:, :5], a)
    with pytest.raises(nx.InputError, match="batch dimensions do not fit together"):
        tree.aba_derivatives(q, v, a[:2])
    with pytest.raises(nx.InputError, match=r"tau\[1, 2\] is nan"):
        bad = a.copy()
        bad[1, 2] = np.nan
        tree.aba_derivatives(q, v, bad)
