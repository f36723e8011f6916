"""Block elimination along a graph: what a dense solver gives, on random trees and graphs, without fill on trees."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.linalg.ldl import FINE, factor, refine, solve
from nexdyn.linalg.plan import Pivots, Plan, elimination_plan, locate
from nexdyn.linalg.solvers import SOLVERS, sparse_matrix


class Sample:
    """A random matrix on a graph, as blocks and dense."""

    def __init__(self, sizes, edges, constraint, rng, epsilon: float = 0.0) -> None:
        self.sizes, self.edges = np.asarray(sizes), np.asarray(edges).reshape(-1, 2)
        self.constraint = np.asarray(constraint, dtype=bool)
        self.plan = elimination_plan(self.sizes, self.edges, self.constraint)
        self.blocks = self.plan.new_blocks()
        self.first = np.concatenate([[0], np.cumsum(self.sizes)])
        self.A = np.zeros((self.first[-1], self.first[-1]))
        for i, n in enumerate(self.sizes):
            if not self.constraint[i]:
                G = rng.normal(size=(n, n))
                self.add(i, i, G @ G.T + n * np.eye(n))
            elif epsilon:
                self.add(i, i, -epsilon * np.eye(n))
        for i, j in self.edges:
            scale = 1.0 if self.constraint[i] != self.constraint[j] else 0.1
            self.add(i, j, scale * rng.normal(size=(self.sizes[i], self.sizes[j])))

    def part(self, i: int) -> slice:
        return slice(self.first[i], self.first[i + 1])

    def add(self, i: int, j: int, block: np.ndarray) -> None:
        self.A[self.part(i), self.part(j)] += block
        if i != j:
            self.A[self.part(j), self.part(i)] += block.T
        out = np.empty((1, 3), dtype=np.int64)
        locate(self.plan, np.array([i]), np.array([j]), out)
        place, step_i, step_j = out[0]
        assert place >= 0
        for a, b in np.ndindex(block.shape):
            self.blocks[place + a * step_i + b * step_j] += block[a, b]

    def rows(self, x: np.ndarray) -> np.ndarray:
        out = self.plan.new_vector()
        for i, n in enumerate(self.sizes):
            out[i, :n] = x[self.part(i)]
        return out

    def flat(self, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[i, :n] for i, n in enumerate(self.sizes)])


def random_tree(n: int, rng, joint_sizes=(1, 6)) -> tuple[list[int], list[tuple[int, int]], list[bool]]:
    """n bodies, each on a joint to an earlier one or to ground."""
    sizes = [6] * n + [int(x) for x in rng.integers(joint_sizes[0], joint_sizes[1], n)]
    edges = [(n + i, i) for i in range(n)] + [
        (int(rng.integers(0, i)), n + i) for i in range(1, n) if rng.random() < 0.9
    ]
    return sizes, edges, [False] * n + [True] * n


def no_fill(plan: Plan, edges) -> bool:
    return len(plan.edges) == len({frozenset(map(int, e)) for e in edges})


@pytest.mark.parametrize("seed", range(5))
def test_trees_are_solved_without_fill(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sample = Sample(*random_tree(30, rng), rng)
    assert no_fill(sample.plan, sample.edges)
    x = rng.normal(size=len(sample.A))
    for name in ("block", "superlu"):
        found = SOLVERS[name](sample.plan, sample.blocks)(sample.rows(sample.A @ x))
        np.testing.assert_allclose(sample.flat(found), x, rtol=0, atol=1e-9)
        assert not found[:, 6:].any()


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_of_bodies_and_joints_are_solved(seed: int) -> None:
    """Loops, joints between up to four bodies, springs between bodies; the joints' rows are fewer than the motions."""
    rng = np.random.default_rng(seed)
    n, m = 12, 13
    sizes = [6] * n + [int(x) for x in rng.integers(1, 4, m)]
    edges = [(n + j, int(b)) for j in range(m) for b in rng.choice(n, rng.integers(2, 5), replace=False)]
    edges += [tuple(map(int, rng.choice(n, 2, replace=False))) for _ in range(5)]
    sample = Sample(sizes, edges, [False] * n + [True] * m, rng)
    assert np.array_equal(np.sort(Pivots(sample.plan.pivots).node), np.arange(n + m))
    np.testing.assert_allclose(sparse_matrix(sample.plan, sample.blocks).toarray(), sample.A, rtol=0, atol=1e-14)
    x = rng.normal(size=len(sample.A))
    for name, make in SOLVERS.items():
        found = sample.flat(make(sample.plan, sample.blocks)(sample.rows(sample.A @ x)))
        np.testing.assert_allclose(found, x, rtol=0, atol=1e-6 if name == "minres" else 1e-10)


@pytest.mark.parametrize("size", range(1, 7))
def test_every_size_of_node_is_factored(size: int) -> None:
    rng = np.random.default_rng(size)
    edges = [e for e in itertools.combinations(range(7), 2) if rng.random() < 0.6]
    sample = Sample([size] * 7, edges, [False] * 7, rng)
    sample.A += 20.0 * np.eye(len(sample.A))
    for i in range(7):
        sample.add(i, i, 0.0 * np.eye(size))
    wide = sample.plan.new_blocks()
    wide[:] = sample.blocks
    out = np.empty((7, 3), dtype=np.int64)
    locate(sample.plan, np.arange(7), np.arange(7), out)
    for place in out[:, 0]:
        for k in range(size):
            wide[place + 9 * k] += 20.0
    x = rng.normal(size=len(sample.A))
    b = sample.rows(sample.A @ x)
    assert factor(sample.plan, wide, sample.plan.new_work()) == (FINE, FINE)
    solve(sample.plan, wide, b)
    np.testing.assert_allclose(sample.flat(b), x, rtol=0, atol=1e-12)


def test_a_pivot_that_is_not_positive_is_reported() -> None:
    rng = np.random.default_rng(3)
    sample = Sample([3, 6, 2], [(0, 1), (1, 2)], [False] * 3, rng)
    sample.add(1, 1, -100.0 * np.eye(6))
    x = rng.normal(size=len(sample.A))
    b = sample.rows(sample.A @ x)
    factors = sample.blocks.copy()
    assert factor(sample.plan, factors, sample.plan.new_work()) == (1, FINE)
    solve(sample.plan, factors, b)  # symmetric, indefinite, and still solved
    np.testing.assert_allclose(sample.flat(b), x, rtol=0, atol=1e-10)
    nothing = sample.plan.new_blocks()
    assert factor(sample.plan, nothing, sample.plan.new_work())[1] == Pivots(sample.plan.pivots)[0].node
    with pytest.raises(nx.SingularError):
        SOLVERS["block"](sample.plan, nothing)


def test_constraints_wait_for_their_bodies() -> None:
    """A joint leaves after a body that hung on no other joint, or after all its bodies."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sizes, edges, constraint = random_tree(25, rng)
        edges += [(25 + int(rng.integers(25)), int(rng.integers(25))) for _ in range(6)]
        edges += [tuple(map(int, rng.choice(25, 2, replace=False))) for _ in range(6)]  # springs
        plan = elimination_plan(sizes, edges, constraint)
        left = {i: set() for i in range(50)}
        for i, j in edges:
            left[i].add(j)
            left[j].add(i)
        bodies = {j: {i for i in left[j] if i < 25} for j in range(25, 50)}
        hung, gone = set(), set()
        for p in Pivots(plan.pivots):
            node = int(p.node)
            if node >= 25:
                assert node in hung or bodies[node] <= gone
                assert p.sign == -1
            elif sum(i >= 25 for i in left[node]) == 1:
                hung |= {i for i in left[node] if i >= 25}
            neighbours = left.pop(node)
            assert p.count == len(neighbours)
            for i in neighbours:
                left[i] |= neighbours - {i}
                left[i].discard(node)
            gone.add(node)


def test_dependent_rows_are_solved_with_epsilon_and_refinement() -> None:
    """Two joints with the same rows: −ε makes a pivot, and refinement takes its effect out of the consistent solution."""
    rng = np.random.default_rng(5)
    sample = Sample([6, 6, 5, 5], [(0, 2), (1, 2), (0, 3), (1, 3)], [False, False, True, True], rng)
    for b in (0, 1):  # joint 3 as joint 2
        sample.add(3, b, sample.A[sample.part(2), sample.part(b)] - sample.A[sample.part(3), sample.part(b)])
    damped = sample.blocks.copy()
    out = np.empty((2, 3), dtype=np.int64)
    locate(sample.plan, np.array([2, 3]), np.array([2, 3]), out)
    for place in out[:, 0]:
        for k in range(5):
            damped[place + 9 * k] -= 1e-8
    b = sample.rows(sample.A @ rng.normal(size=len(sample.A)))
    assert factor(sample.plan, damped, sample.plan.new_work())[1] == FINE
    x = b.copy()
    solve(sample.plan, damped, x)
    first = np.abs(sample.A @ sample.flat(x) - sample.flat(b)).max()
    refine(sample.plan, sample.blocks, damped, b, x, sample.plan.new_vector(), 2)
    assert np.abs(sample.A @ sample.flat(x) - sample.flat(b)).max() < min(1e-12, 1e-3 * first)


def test_plans_refuse_what_they_cannot_order() -> None:
    with pytest.raises(nx.InputError, match="0 to 7 unknowns"):
        elimination_plan([0, 7], [])
    with pytest.raises(nx.InputError, match="edges name nodes"):
        elimination_plan([6, 6], [(0, 2)])
    with pytest.raises(nx.InputError, match="no edge to a body"):
        elimination_plan([6, 5], [], [False, True])
    plan = elimination_plan([], [])
    assert plan.size == 0
    assert factor(plan, plan.new_blocks(), plan.new_work()) == (FINE, FINE)


def test_time_of_long_chains_and_stars_is_linear() -> None:
    """A second for 10⁵ bodies would be a hundred times what it takes; quadratic work would take minutes."""
    n = 100_000
    constraint = np.arange(2 * n) >= n
    joint = np.arange(n)
    for parent in (joint[1:] - 1, np.zeros(n - 1, dtype=np.int64)):
        edges = np.concatenate([np.stack([n + joint, joint], 1), np.stack([n + joint[1:], parent], 1)])
        sizes = np.where(constraint, 5, 6)
        elimination_plan(sizes[[0, n]], [(0, 1)], constraint[[0, n]])
        began = time.process_time()
        plan = elimination_plan(sizes, edges, constraint)
        assert time.process_time() - began < 5.0
        assert len(plan.edges) == len(edges)
        assert plan.size == 8 * (6 + 6 + 5 + 5) * n - 40
