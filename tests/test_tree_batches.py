"""Every method of `Tree` on batches: each state gives what it gives alone, whatever the leading dimensions."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import systems

import nexdyn as nx
from nexdyn.errors import InputError, SingularError
from nexdyn.spatial.lanes import LANES
from nexdyn.tree import threads
from nexdyn.tree.lanes import entries as lane_entries
from nexdyn.tree.lanes.memory import LINE, aligned, lane_zeros

NAMES = ("every joint", "forest", "mimic")
COUNT = LANES + 3


def states(tree: nx.Tree, count: int = COUNT) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(21)
    q = np.array([tree.random(rng) for _ in range(count)])
    return q, *rng.normal(size=(2, count, tree.nv))


def methods(tree: nx.Tree) -> dict[str, Any]:
    """Every method that takes states, as a function of (q, v, x)."""
    body, joint = tree.body_names[-1], tree.joint_names[-1]
    found: dict[str, Any] = {
        "aba": tree.aba, "rnea": tree.rnea, "crba": lambda q, v, x: tree.crba(q), "gravity": lambda q, v, x: tree.gravity(q),
        "forward_dynamics": lambda q, v, x: tree.forward_dynamics(q, v, x, dynamics="crba"),
        "bias": lambda q, v, x: tree.bias(q, v), "coriolis": lambda q, v, x: tree.coriolis(q, v),
        "pose": lambda q, v, x: tree.pose(q, body), "poses": lambda q, v, x: tree.pose(q),
        "velocity": lambda q, v, x: tree.velocity(q, v, body), "velocities": lambda q, v, x: tree.velocity(q, v),
        "jacobian": lambda q, v, x: tree.jacobian(q, body), "jacobian_rate": lambda q, v, x: tree.jacobian_rate(q, v, body),
        "kinetic_energy": lambda q, v, x: tree.kinetic_energy(q, v),
        "potential_energy": lambda q, v, x: tree.potential_energy(q),
        "centroidal_momentum": lambda q, v, x: tree.centroidal_momentum(q, v),
        "centroidal_momentum_matrix": lambda q, v, x: tree.centroidal_momentum_matrix(q),
        "center_of_mass": lambda q, v, x: tree.center_of_mass(q), "of subtree": lambda q, v, x: tree.center_of_mass(q, body),
        "center_of_mass_jacobian": lambda q, v, x: tree.center_of_mass_jacobian(q),
        "motion_subspace": lambda q, v, x: tree.motion_subspace(joint, q),
        "constraint_subspace": lambda q, v, x: tree.constraint_subspace(joint, q),
        "joint_wrenches": lambda q, v, x: tuple(tree.joint_wrenches(q, v, x).values()),
        "integrate": lambda q, v, x: tree.integrate(q, v), "normalized": lambda q, v, x: tree.normalized(q),
    }  # fmt: skip
    if tree.coupling is None:
        found["cfa"] = lambda q, v, x: tree.cfa(q, v, x)[0]
        found["constraint_condition"] = lambda q, v, x: tree.constraint_condition(q)
        found["constraint_matrices"] = lambda q, v, x: tuple(tree.constraint_matrices(q))[1:]
    return found


def parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("name", NAMES)
def test_every_method_takes_leading_dimensions(name: str) -> None:
    tree = systems.trees()[name]
    q, v, x = states(tree, 6)
    for what, method in methods(tree).items():
        together = parts(method(*(a.reshape(2, 3, -1) for a in (q, v, x))))
        for s in (0, 4, 5):
            for found, expected in zip(together, parts(method(q[s], v[s], x[s])), strict=True):
                expected = np.asarray(expected)
                assert found.shape == (2, 3, *expected.shape), what
                scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
                np.testing.assert_allclose(
                    found[divmod(s, 3)], expected, rtol=0, atol=(1e-9 if what == "constraint_condition" else 1e-11) * scale,
                    err_msg=what,
                )  # fmt: skip


def test_batches_broadcast_as_numpy_does() -> None:
    tree = systems.trees()["forest"]
    q, v, x = states(tree, 4)
    a = tree.aba(q[:, None], v[:3], x[0])
    assert a.shape == (4, 3, tree.nv)
    np.testing.assert_allclose(a[2, 1], tree.aba(q[2], v[1], x[0]), rtol=0, atol=1e-11 * np.abs(a).max())


def test_a_state_has_the_same_bits_in_batches_of_any_size() -> None:
    tree = systems.trees()["every joint"]
    q, v, x = states(tree)
    for method in (tree.aba, tree.rnea, lambda q, v, x: tree.crba(q)):
        whole = method(q, v, x)
        for part in ([0], [COUNT - 1], [5, 2], list(range(LANES))):
            np.testing.assert_array_equal(method(q[part], v[part], x[part]), whole[part])


def test_batches_on_threads_have_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = systems.trees()["forest"]
    q, v, x = states(tree, 5 * LANES + 1)
    expected = tree.aba(q, v, x), tree.rnea(q, v, x), tree.crba(q)
    monkeypatch.setattr(lane_entries, "ENOUGH", 0)
    monkeypatch.setattr(threads, "cores", lambda: 2)
    for found, wanted in zip((tree.aba(q, v, x), tree.rnea(q, v, x), tree.crba(q)), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_parts_cover_a_range_once_and_the_pool_does_not_wait_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int, str]] = []

    def work(first: int, stop: int) -> None:
        seen.append((first, stop, threading.current_thread().name))

    monkeypatch.setattr(threads, "cores", lambda: 3)
    for count in (1, 7, 8, 24, 25, 100):
        seen.clear()
        threads.in_parts(work, count, 8)
        assert sorted(k for first, stop, _ in seen for k in range(first, stop)) == list(range(count))
        assert all(first % 8 == 0 for first, _, _ in seen)
    seen.clear()
    threads.pool().submit(threads.in_parts, work, 100, 8).result()
    assert [(first, stop) for first, stop, _ in seen] == [(0, 100)]

    def fails(first: int, stop: int) -> None:
        raise ValueError(str(first))

    with pytest.raises(ValueError, match=r"8|16|0"):
        threads.in_parts(fails, 24, 8)


@pytest.mark.parametrize(("given", "message"), [
    (lambda q, v, x: (q[:, :-1], v, x), r"q has shape \(4, \d+\); \(…, \d+\) is needed"),
    (lambda q, v, x: (q, v[:3], x), r"do not fit together: q \(4, \d+\), v \(3, \d+\), tau \(4, \d+\); the leading ones"),
    (lambda q, v, x: (q[:0], v[:0], x[:0]), r"a batch of no members: q \(0, \d+\), v \(0, \d+\), tau \(0, \d+\)"),
    (lambda q, v, x: ([q[0], q[1][:2]], v, x), r"q is ragged: entry 0 has shape \(\d+,\), entry 1 has \(2,\); numbers of"),
    (lambda q, v, x: ("fast", v, x), r"q is 'fast'; numbers of shape"),
    (lambda q, v, x: (np.where(np.arange(4)[:, None] == 2, np.nan, q), v, x), r"q\[2, 0\] is nan; all must be finite"),
])  # fmt: skip
def test_batches_that_do_not_fit_are_refused(given: Any, message: str) -> None:
    tree = systems.trees()["forest"]
    with pytest.raises(InputError, match=message):
        tree.aba(*given(*states(tree, 4)))


def test_a_singular_state_in_a_batch_names_the_joint() -> None:
    system = nx.System("no inertia")
    body = system.add_body("body", mass=0.0, inertia=(0, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(SingularError, match="joint 'hinge' moves no inertia"):
        nx.Tree(system).aba(np.zeros((3, 1)), np.zeros((3, 1)), np.ones((3, 1)))


def test_lanes_start_where_lines_of_the_cache_do() -> None:
    rng = np.random.default_rng(3)
    nest = (rng.normal(size=(5, 3, LANES)), (np.arange(4), [1.5]), np.zeros((0, LANES)))
    copy = aligned(nest)
    for k in (0, 2):
        assert copy[k] is not nest[k]
        np.testing.assert_array_equal(copy[k], nest[k])
    assert copy[1][0] is nest[1][0]  # whole numbers stay where they are
    assert all(lane_zeros((n, 1, LANES)).ctypes.data % LINE == 0 for n in range(1, 40))
    scratch = lane_entries.new_scratch(3, 4, 3)
    tables = [*scratch.work, scratch.q, scratch.v, scratch.x, scratch.y, scratch.M]
    assert all(table.data.ctypes.data % LINE == 0 for table in tables)
