"""The constraint force algorithm: its matrices are the paper's, its three solvers agree with articulated bodies and RNEA.

Numbers in parentheses are the paper's equations (Liu, Hu, Zhang 2016).
"""

from __future__ import annotations

import os
import signal
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
import systems

import nexdyn as nx
from nexdyn.spatial.poses import force_matrix
from nexdyn.tree.cfa.solve import SOLVERS
from nexdyn.tree.cfa.text import blocks
from nexdyn.tree.tree import Tree

EPS = np.finfo(float).eps
NAMES = systems.FREE_NAMES
on_free = pytest.mark.parametrize("name", NAMES)
by_each = pytest.mark.parametrize("solver", SOLVERS)


def off(found: Any, expected: Any) -> float:
    """Largest difference beside the largest entry."""
    return float(np.abs(np.asarray(found) - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0)))


def across(tree: Tree, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
    """The part of each joint's RNEA wrench that its W carries, at its point in its parent-side frame: X_J W Wᵀ F."""
    wrenches, own, found = tree.joint_wrenches(q, v, a), systems.coordinates_of(tree, q), {}
    for name, wrench in wrenches.items():
        joint = tree.system.joints.get(name)
        kind = "free" if joint is None else joint.kind
        X = force_matrix(*systems.joint_pose(kind, own.get(name, np.zeros(0)), getattr(joint, "pitch", 0.0)))
        W = X @ tree.constraint_subspace(name, q)
        # W in the parent-side frame is no longer orthonormal where the child's origin has moved
        found[name] = W @ tree.constraint_subspace(name, q).T @ np.linalg.solve(X, wrench)
    return found


def straight_chain(n: int, axis: tuple[float, float, float] = (0, 1, 0)) -> nx.System:
    """n equal rods of 1 m and 1 kg along x, hinged end to end about `axis`."""
    system = nx.System("straight chain", gravity=(0, 0, -9.81))
    parent = system.ground
    for i in range(n):
        link = system.add_body(f"l{i}", mass=1.0, inertia=(0.01, 1 / 12, 1 / 12), position=(i + 0.5, 0, 0))
        system.add_joint(nx.Revolute(f"h{i}", parent, link, at=(i, 0, 0), axis=axis))
        parent = link
    return system


def star(n: int) -> nx.System:
    """A floating hub with n children on hinges."""
    system = nx.System("star", gravity=(0, 0, -9.81))
    hub = system.add_body("hub", mass=float(n), inertia=(float(n),) * 3)
    rng = np.random.default_rng(n)
    for i in range(n):
        arm = system.add_body(f"a{i}", **systems.solid(rng), **systems.somewhere(rng))
        system.add_joint(nx.Revolute(f"j{i}", hub, arm, at=systems.unit(rng, 3), axis=systems.unit(rng, 3)))
    return system


# --- the matrices of the text -------------------------------------------------------------------------------------


def two_nodes() -> nx.System:
    """Ground ─ chain c1 c2 ─ node n1 ─ {chain d1 d2 ─ node n2 ─ {leaf e, leaf f}, chain g1 g2}."""
    rng = np.random.default_rng(11)
    system = nx.System("two nodes")
    tree = {
        "c1": "ground", "c2": "c1", "n1": "c2", "d1": "n1", "d2": "d1", "n2": "d2", "e": "n2", "f": "n2", "g1": "n1", "g2": "g1",
    }  # fmt: skip
    for body, parent in tree.items():
        child = system.add_body(body, **systems.solid(rng), **systems.somewhere(rng))
        on = system.ground if parent == "ground" else system.body(parent)
        system.add_joint(systems.joint_of("revolute", f"j_{body}", on, child, rng))
    return system


def test_P_has_the_blocks_of_the_text_in_its_order() -> None:
    tree = Tree(two_nodes())
    q = systems.state(tree, 1)[0]
    m = tree.constraint_matrices(q)
    # layers from the outermost inward; a chain from its end inward
    assert m.order == ["e", "f", "n2", "d2", "d1", "g2", "g1", "n1", "c2", "c1"]
    P_hat = dict(zip(tree.link_names, blocks(tree, q, np.zeros(tree.nv)).P[1:], strict=True))
    at = {name: slice(6 * k, 6 * k + 6) for k, name in enumerate(m.order)}
    expected = np.eye(60)
    # within chains (10); under the bodies that nodes carry (13), (19); a chain's first row under its node (21)
    for row, column in [("d1", "d2"), ("g1", "g2"), ("c1", "c2"), ("n2", "e"), ("n2", "f"), ("n1", "d1"), ("n1", "g1"),
                        ("d2", "n2"), ("c2", "n1")]:  # fmt: skip
        expected[at[row], at[column]] = -P_hat[column]
    np.testing.assert_array_equal(m.P, expected)
    assert not np.triu(m.P, 6).any()  # lower triangular: bodies come before what carries them


def test_coupling_of_A_is_that_of_a_chain_a_node_and_its_children() -> None:
    tree = Tree(two_nodes())
    q = systems.state(tree, 1)[0]
    m, part = tree.constraint_matrices(q), blocks(tree, q, np.zeros(tree.nv))
    link = {name: i + 1 for i, name in enumerate(tree.link_names)}
    at = {name: slice(5 * k, 5 * k + 5) for k, name in enumerate(m.order)}

    def Wt(b: str) -> np.ndarray:
        return part.W[link[b]].T

    def P(b: str) -> np.ndarray:
        return part.P[link[b]]

    def Ii(b: str) -> np.ndarray:
        return part.inverse[link[b]]

    # (31), (37), (33): a joint's own block; (31), (34), (38): with the joint of the body inside; (36): of two on one node
    np.testing.assert_allclose(
        m.A[at["d2"], at["d2"]], Wt("d2") @ (Ii("d2") + P("d2").T @ Ii("d1") @ P("d2")) @ Wt("d2").T
    )
    np.testing.assert_allclose(m.A[at["d1"], at["d2"]], -Wt("d1") @ Ii("d1") @ P("d2") @ Wt("d2").T)
    np.testing.assert_allclose(m.A[at["n2"], at["e"]], -Wt("n2") @ Ii("n2") @ P("e") @ Wt("e").T, atol=1e-12)
    np.testing.assert_allclose(m.A[at["e"], at["f"]], Wt("e") @ P("e").T @ Ii("n2") @ P("f") @ Wt("f").T, atol=1e-12)
    assert not m.A[at["e"], at["d2"]].any() and not m.A[at["d2"], at["g1"]].any() and not m.A[at["c1"], at["n1"]].any()


@on_free
def test_constraint_forces_do_no_work_and_A_is_symmetric_positive_definite(name: str) -> None:
    tree = systems.trees()[name]
    for seed in range(3):
        m = tree.constraint_matrices(systems.state(tree, seed)[0])
        assert off(m.W.T @ m.H, 0.0) < 1e-15
        assert off(m.W.T @ m.W, np.eye(m.W.shape[1])) < 1e-14
        assert off(m.A, m.A.T) < 1e-12
        assert np.linalg.eigvalsh(m.A)[0] > 0.0
        assert tree.constraint_condition(systems.state(tree, seed)[0]) == pytest.approx(np.linalg.cond(m.A), rel=1e-6)


def as_printed(tree: Tree, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(25)–(29) with full matrices: Q̇ in the tree's order and the constraint force F_S + Wᵀ RNEA(q, v, 0), stacked.

    Freedoms with armature D transmit F_T − D Q̇.
    """
    m, part = tree.constraint_matrices(q), blocks(tree, q, v)
    order = [tree.link_names.index(name) + 1 for name in m.order]
    topology, freedom = tree.compiled.model.topology, tree.compiled.model.freedom
    own = np.concatenate([np.arange(topology[i].iv, topology[i].iv + topology[i].nv) for i in order])
    F_T = (tau - tree.rnea(q, v, np.zeros(tree.nv)))[own]
    D = np.diag(freedom.armature[own])
    schur = m.C - m.B.T @ np.linalg.solve(m.A, m.B)
    Q = np.linalg.solve(np.eye(len(own)) + schur @ D, schur @ F_T)
    F_S = -np.linalg.solve(m.A, m.B @ (F_T - D @ Q))
    out = np.empty(tree.nv)
    out[own] = Q
    bias = np.concatenate([part.bias[i] for i in order])
    return out, F_S + m.W.T @ bias


@on_free
@by_each
def test_forces_and_accelerations_are_those_of_the_full_matrices(name: str, solver: Any) -> None:
    tree = systems.trees()[name]
    q, v, _, tau = systems.state(tree, 3)
    a, force = tree.cfa(q, v, tau, solver=solver)
    Q, F = as_printed(tree, q, v, tau)
    assert off(a, Q) < 1e-10
    # W F as the solver gives it: back from the parent-side frame to the columns of W
    own, order, found = systems.coordinates_of(tree, q), tree.constraint_matrices(q).order, []
    for body in order:
        joint = next(j for j in tree.joint_names if tree.carried_body(j).name == body)
        described = tree.system.joints.get(joint)
        kind = "free" if described is None else described.kind
        X = force_matrix(*systems.joint_pose(kind, own[joint], getattr(described, "pitch", 0.0)))
        found.append(tree.constraint_subspace(joint, q).T @ np.linalg.solve(X, force[joint]))
    assert off(np.concatenate(found), F) < 1e-10


# --- agreement ----------------------------------------------------------------------------------------------------


@on_free
@by_each
def test_agrees_with_articulated_bodies_and_with_the_wrenches_of_inverse_dynamics(name: str, solver: Any) -> None:
    tree = systems.trees()[name]
    for seed in range(4):
        q, v, _, tau = systems.state(tree, 20 + seed)
        a, force = tree.cfa(q, v, tau, solver=solver)
        expected = tree.aba(q, v, tau)
        assert off(a, expected) < 1e-10
        wrenches = across(tree, q, v, expected)
        assert set(force) == set(wrenches) and len(force) == len(wrenches)
        largest = max(np.abs(w).max() for w in wrenches.values())
        # τ is what is left of the wrenches along the freedoms
        assert np.abs(tree.rnea(q, v, a) - tau).max() < 1e-10 * max(1.0, largest)
        for joint, wrench in wrenches.items():
            assert np.abs(force[joint] - wrench).max() < 1e-10 * max(1.0, largest), joint


@pytest.mark.parametrize(("seed", "reach"), [(1, 1), (2, 2), (3, 5), (4, 100), (5, 3)])
@by_each
def test_random_trees_of_a_hundred_bodies_over_all_joints_to_1e_10(seed: int, reach: int, solver: Any) -> None:
    rng = np.random.default_rng(seed)
    kinds = [str(kind) for kind in rng.choice(systems.KINDS, 98)]
    tree = Tree(systems.random_system(seed, kinds, roots=2, floating=2, reach=reach))
    q, v, _, tau = systems.state(tree, seed)
    v *= 0.1
    a, force = tree.cfa(q, v, tau, solver=solver)
    assert off(a, tree.aba(q, v, tau)) < 1e-10
    wrenches = across(tree, q, v, a)
    largest = max(np.abs(w).max() for w in wrenches.values())
    assert max(np.abs(force[joint] - wrench).max() for joint, wrench in wrenches.items()) < 1e-10 * largest


@by_each
def test_a_batch_is_its_states_one_by_one(solver: Any) -> None:
    tree = systems.trees()["forest"]
    q, v, _, tau = systems.state(tree, 5, 2, 3)
    a, force = tree.cfa(q, v, tau, solver=solver)
    assert a.shape == (2, 3, tree.nv) and force.array.shape == (2, 3, tree.nb, 6)
    for i in np.ndindex(2, 3):
        one, wrench = tree.cfa(q[i], v[i], tau[i], solver=solver)
        np.testing.assert_array_equal(a[i], one)
        np.testing.assert_array_equal(force.array[i], wrench.array)
    assert force[tree.joint_names[-1]].shape == (2, 3, 6)


def test_a_free_body_falls_and_needs_no_force() -> None:
    system = nx.System("free body", gravity=(0, 0, -9.81))
    system.add_body("stone", mass=2.0, inertia=(1, 2, 3), com=(0.1, 0.2, 0.3))
    tree = Tree(system)
    q, v, _, tau = systems.state(tree, 2)
    a, force = tree.cfa(q, v, tau)
    assert off(a, tree.aba(q, v, tau)) < 1e-14
    np.testing.assert_array_equal(force["stone"], np.zeros(6))
    assert tree.constraint_condition(q) == 1.0


@pytest.mark.parametrize("n", [10, 100, 1000])
@by_each
def test_on_straight_chains_the_error_stays_below_100_eps_cond(n: int, solver: Any) -> None:
    tree = Tree(straight_chain(n))
    q, v, tau = np.zeros(n), np.zeros(n), np.random.default_rng(n).normal(size=n)
    a, force = tree.cfa(q, v, tau, solver=solver, refinements=0)
    expected = tree.aba(q, v, tau)
    bound = 100 * EPS * tree.constraint_condition(q)
    assert off(a, expected) < bound
    wrenches = across(tree, q, v, expected)
    largest = max(np.abs(w).max() for w in wrenches.values())
    assert max(np.abs(force[j] - w).max() for j, w in wrenches.items()) < bound * largest


def test_condition_of_straight_chains_grows_with_the_fourth_power_of_their_length() -> None:
    cond = [Tree(straight_chain(n)).constraint_condition(np.zeros(n)) for n in (20, 40, 80, 160)]
    powers = np.log2(np.array(cond[1:]) / cond[:-1])
    assert np.all((3.7 < powers) & (powers < 4.2)), powers


# --- cost ---------------------------------------------------------------------------------------------------------


@by_each
def test_a_star_of_ten_thousand_children_is_no_clique(solver: Any) -> None:
    n = 10_000
    tree = Tree(star(n))
    q, v, _, tau = systems.state(tree, 1)
    tree.cfa(q, v, tau, solver=solver)  # tables, compiled kernels
    tracemalloc.start()
    a, _ = tree.cfa(q, v, tau, solver=solver)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert off(a, tree.aba(q, v, tau)) < 1e-10
    assert peak < 5000 * n  # one 5 × 5 block a pair of siblings would be 200 n² = 2,000,000 n
    began = time.process_time()
    tree.cfa(q, v, tau, solver=solver)
    assert time.process_time() - began < 2.0


def test_tables_take_memory_in_proportion_to_the_bodies() -> None:
    sizes = []
    for n in (200, 2000):
        tree = Tree(straight_chain(n))
        tree.cfa(np.zeros(n), np.zeros(n), np.zeros(n))
        sizes.append(sum(x.nbytes for x in tree.constraint_tables) / n)
    assert sizes[1] < 1.05 * sizes[0] < 1500


# --- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"mass": 0.0},
        {"mass": 1.0},
        {"mass": 1.0, "inertia": (0.0, 1 / 12, 1 / 12)},
        {"mass": 1.0, "inertia": (1e-13, 1 / 12, 1 / 12)},
        {"mass": 1e-12, "inertia": (1e-3, 1e-3, 1e-3)},
    ],
)
@pytest.mark.parametrize("solver", ["serial", "odd-even", "parallel"])
def test_a_body_without_inertia_moves_as_the_articulated_body_algorithm_moves_it(
    given: dict[str, Any], solver: Any
) -> None:
    """In the middle of a chain, between hinges that cross; what carries it is a hundred thousand times as heavy as what it carries."""
    system = straight_chain(2)
    thin = system.add_body("thin rod", **given, position=(2.5, 0, 0))
    end = system.add_body("end", mass=1e-5, inertia=(1e-6, 2e-6, 2e-6), position=(3.5, 0, 0))
    system.add_joint(nx.Revolute("h2", system.body("l1"), thin, at=(2, 0, 0), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("h3", thin, end, at=(3, 0, 0), axis=(0.1, 0, 1)))
    tree, rng = Tree(system), np.random.default_rng(2)
    q, v, tau = rng.normal(size=(3, 20, tree.nv))
    tau[:, 2:] *= 1e-5
    expected = tree.aba(q, v, tau)
    a, force = tree.cfa(q, v, tau, solver=solver)
    assert off(a, expected) < 1e-9
    wrenches = tree.joint_wrenches(q, v, expected)
    for name, wrench in wrenches.items():
        moment = force[name] - wrench  # they differ by what the joint's own effort is along its axis
        assert np.abs(moment[..., 3:]).max() < 1e-8 * np.abs(wrench[..., 3:]).max()


def test_a_run_by_constraint_forces_carries_bodies_without_mass() -> None:
    system = straight_chain(2)
    cross = system.add_body("cross", position=(2, 0, 0))
    end = system.add_body("end", mass=1.0, inertia=(0.1, 0.2, 0.2), position=(2.5, 0, 0))
    system.add_joint(nx.Revolute("h2", system.body("l1"), cross, at=(2, 0, 0), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("h3", cross, end, at=(2, 0, 0), axis=(0, 0, 1)))
    start = {"v0": {"h3": 1.0}}
    there, here = (nx.simulate(system, 0.2, nx.RungeKutta4(1e-3), dynamics=how, **start) for how in ("cfa", "aba"))
    np.testing.assert_allclose(there.recording.q, here.recording.q, atol=1e-10)


def test_what_moves_no_inertia_by_constraint_forces_is_said() -> None:
    alone = nx.System("alone")
    alone.add_body("nothing")
    alone.add_joint(nx.Revolute("h", "ground", "nothing", axis=(0, 0, 1)))
    with pytest.raises((nx.InputError, nx.SingularError), match=r"nothing|no inertia"):
        Tree(alone).cfa([0.0], [0.0], [0.0])
    beside = straight_chain(2)
    beside.add_body("nothing", position=(2, 0, 0))
    beside.add_joint(nx.Revolute("h2", beside.body("l1"), "nothing", at=(2, 0, 0), axis=(0, 1, 0)))
    with pytest.raises((nx.InputError, nx.SingularError), match="without inertia"):
        Tree(beside).cfa(np.zeros(3), np.zeros(3), np.ones(3))


@pytest.mark.parametrize("solver", ["serial", "odd-even", "parallel"])
def test_refinement_may_be_repeated(solver: Any) -> None:
    tree, rng = Tree(straight_chain(5)), np.random.default_rng(3)
    q, v, tau = rng.normal(size=(3, 10, 5))
    expected = tree.aba(q, v, tau)
    for refinements in (0, 1, 2, 5):
        assert off(tree.cfa(q, v, tau, solver=solver, refinements=refinements)[0], expected) < 1e-11


def test_a_body_without_inertia_may_be_welded() -> None:
    system = straight_chain(2)
    tip = system.add_body("tip", position=(2, 0, 0))
    system.add_joint(nx.Fixed("weld", system.body("l1"), tip, at=(2, 0, 0)))
    tree = Tree(system)
    a, force = tree.cfa(np.zeros(2), np.zeros(2), np.zeros(2))
    assert off(a, tree.aba(np.zeros(2), np.zeros(2), np.zeros(2))) < 1e-12
    assert off(force["weld"], 0.0) < 1e-12 and "weld" in force


def sandwich(inertia: float) -> nx.System:
    """Between two floating bodies of 9e9 kg one of 1 kg: what the outer one leaves of its mobility is lost in rounding."""
    system, heavy = nx.System("sandwich"), 9e9
    bodies = [
        system.add_body(name, mass=m, inertia=(i, i, i), position=(x, 0, 0))
        for name, m, i, x in (("inner", heavy, heavy, 0.0), ("light", 1.0, inertia, 0.5), ("outer", heavy, heavy, 1.0))
    ]
    system.add_joint(nx.Revolute("a", bodies[0], bodies[1], at=(0, 0, 0), axis=(0.3, 1, 0.2)))
    system.add_joint(nx.Revolute("b", bodies[1], bodies[2], at=(1, 0, 0), axis=(0.1, 1, 0.3)))
    return system


@by_each
@pytest.mark.parametrize(
    ("inertia", "condition"), [(1e-6, r"beyond 1e16|\d\.\de\+(1[6-9]|2\d)"), (1e-8, "beyond 1e16")]
)
def test_a_lost_definiteness_is_reported_with_the_condition(solver: Any, inertia: float, condition: str) -> None:
    tree = Tree(sandwich(inertia))
    with pytest.raises(
        nx.SingularError, match=rf"no longer positive definite at joint 'a': .* is ({condition})"
    ) as caught:
        tree.cfa(tree.neutral(), np.zeros(8), np.ones(8), solver=solver)
    assert caught.value.where == "a"


def test_a_run_stops_where_definiteness_is_lost() -> None:
    with pytest.raises(nx.SingularError, match="no longer positive definite at joint 'a'"):
        nx.simulate(sandwich(1e-8), 0.01, dynamics="cfa")


def test_the_same_bodies_in_sound_proportions_are_solved() -> None:
    tree = Tree(sandwich(1.0))
    q, tau = tree.neutral(), np.ones(8)
    assert off(tree.cfa(q, np.zeros(8), tau)[0], tree.aba(q, np.zeros(8), tau)) < 1e-6


def test_mimic_joints_unknown_solvers_and_wrong_shapes_are_refused() -> None:
    tree = systems.trees()["mimic"]
    with pytest.raises(nx.InputError, match=r"joint 'j\d' mimics another"):
        tree.cfa(*np.zeros((3, tree.nv)))
    tied = nx.System("tied")
    for name in ("a", "b"):
        tied.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
        tied.add_joint(nx.Revolute(f"hinge {name}", tied.ground, name, axis=(0, 0, 1)))
    tied.add_coupling(nx.Coupling("pair", [("hinge a", 0, 1.0), ("hinge b", 0, 2.0)]))
    with pytest.raises(nx.InputError, match="coupling 'pair' ties joints"):
        nx.simulate(tied, 0.1, dynamics="cfa")
    arm = systems.trees()["arm"]
    zero = np.zeros(arm.nv)
    with pytest.raises(nx.InputError, match="no solver 'seriall'; did you mean 'serial'"):
        arm.cfa(zero, zero, zero, solver="seriall")  # type: ignore[arg-type]
    with pytest.raises(nx.InputError, match="tau has shape"):
        arm.cfa(zero, zero, np.zeros(7))
    with pytest.raises(nx.SingularError, match="not finite"):
        arm.cfa(zero, zero + 1e250, zero)
    with pytest.raises(nx.NexDynError, match="no joint 'k'"):
        arm.cfa(zero, zero, zero)[1]["k"]


# --- motion -------------------------------------------------------------------------------------------------------


@on_free
def test_a_motion_is_that_of_articulated_bodies(name: str) -> None:
    tree = systems.trees()[name]
    q, v, *_ = systems.state(tree, 9)
    run = {
        dynamics: nx.simulate(tree.system, 0.05, nx.RungeKutta4(1e-3), q0=q, v0=0.2 * v, dynamics=dynamics).recording
        for dynamics in ("aba", "cfa")
    }
    assert off(run["cfa"].q, run["aba"].q) < 1e-10 and off(run["cfa"].a, run["aba"].a) < 1e-8


def test_forces_on_bodies_and_efforts_in_joints_enter() -> None:
    system = straight_chain(3)
    system.add_force(
        nx.PointSpring("spring", system.ground, system.body("l2"), at_a=(0, 0, 1), at_b=(3, 0, 0), stiffness=50.0)
    )
    run = {
        dynamics: nx.simulate(system, 0.2, nx.RungeKutta4(1e-3), dynamics=dynamics).recording
        for dynamics in ("aba", "cfa")
    }
    assert off(run["cfa"].a, run["aba"].a) < 1e-9
    sim = nx.Simulation(system, nx.RungeKutta4(1e-3), dynamics="cfa")
    other = nx.Simulation(system, nx.RungeKutta4(1e-3))
    for s in (sim, other):
        s.step(0.01, {"h1": 3.0})
    assert off(sim.a, other.a) < 1e-10


# --- threads ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_threads_do_not_hang_a_forked_child() -> None:
    tree = Tree(straight_chain(300))
    q = np.zeros(300)
    expected, _ = tree.cfa(q, q, q, solver="parallel", threads=2)
    child = os.fork()
    if child == 0:
        found, _ = tree.cfa(q, q, q, solver="parallel", threads=2)
        os._exit(0 if np.array_equal(found, expected) else 1)
    began, status, done = time.monotonic(), 0, 0
    while not done and time.monotonic() - began < 60.0:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not done:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert done and os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_any_number_of_threads_gives_the_same_bits(threads: int) -> None:
    tree = Tree(straight_chain(50))
    rng = np.random.default_rng(4)
    q, v, tau = rng.normal(size=(3, 50))
    one, force = tree.cfa(q, v, tau, solver="odd-even")
    more, forces = tree.cfa(q, v, tau, solver="parallel", threads=threads)
    np.testing.assert_array_equal(more, one)
    np.testing.assert_array_equal(forces.array, force.array)


# --- the space robot ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def robot() -> dict[str, nx.Result]:
    """The demo for ten seconds by this algorithm and by articulated bodies."""
    system = nx.load("space-robot")
    return {
        dynamics: nx.simulate(system, 10.0, nx.RungeKutta4(1e-3), dynamics=dynamics, output_every=100)
        for dynamics in ("cfa", "aba")
    }


def test_the_space_robot_moves_as_by_articulated_bodies_and_its_arm_bears_the_same_forces(robot: Any) -> None:
    kept, other = robot["cfa"].recording, robot["aba"].recording
    assert off(kept.q, other.q) < 1e-11 and off(kept.v, other.v) < 1e-11
    tree = robot["cfa"].tree
    tau = tree.rnea(kept.q, kept.v, kept.a)
    _, force = tree.cfa(kept.q, kept.v, tau)
    wrench = tree.joint_wrenches(other.q, other.v, other.a)["J11"].copy()
    wrench[:, 2] = 0.0  # the effort about the axis
    assert np.abs(wrench).max() > 5.0
    assert off(force["J11"], wrench) < 1e-10
    attitude = 2 * np.arccos(np.abs(kept.q[:, 0]))
    assert attitude.max() > 0.02  # the arms do turn the base


def test_the_momentum_of_the_space_robot_is_conserved(robot: Any) -> None:
    kept, tree = robot["cfa"].recording, robot["cfa"].tree
    momentum = tree.centroidal_momentum(kept.q, kept.v)
    # beside what the base alone has of it
    base = 375.0 * np.abs(kept.v[:, :3]).max()
    assert np.abs(momentum).max() < 1e-10 * max(1.0, base)
    assert np.abs(tree.center_of_mass(kept.q) - tree.center_of_mass(kept.q[0])).max() < 1e-10


def test_the_space_robot_runs_from_the_command_line_by_this_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    from nexdyn.cli import main
    from nexdyn.io.loader import load_scene_or_robot

    assert load_scene_or_robot("space-robot").simulation["dynamics"] == "cfa"
    assert main(["run", "space-robot", "--t-end", "0.05", "--json"]) == 0
    assert '"status"' in capsys.readouterr().out
