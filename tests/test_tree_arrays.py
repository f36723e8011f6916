"""What the methods of a tree take and refuse: batches, arrays of any kind, wrong arguments, states that overflow."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import systems
from tree_lab import agree, on_free

from nexdyn.errors import InputError, SingularError, UnknownNameError
from nexdyn.tree.core import entries
from nexdyn.tree.tree import Tree


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
            assert len([s for s in kernel.signatures if not of_registered(s)]) <= 1, kernel.__name__


def of_registered(signature: tuple[Any, ...]) -> bool:
    """Whether a kernel is one of trees with joints from outside the package, whose handle, or table of bodies, has another type."""
    return any(mark in str(kind) for kind in signature for mark in ("uint64", "int32"))


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
        (lambda t, q, v: t.forward_dynamics(q, v, v, "lu"), "no dynamics 'lu'; valid: aba, crba, cfa"),
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
