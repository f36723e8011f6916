"""Time integration: the tableaus by Butcher's theory, the orders as they are measured on every kind of joint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import prod
from typing import Any, ClassVar

import numpy as np
import pytest
import systems as S

import nexdyn as nx
from nexdyn.integrate.methods import METHODS, FixedStep
from nexdyn.integrate.tableaus import CLASSICAL_4, DORMAND_PRINCE, DORMAND_PRINCE_DENSE, EULER, Tableau

# --- tableaus: Σ b_i Φ_i(τ) = 1/γ(τ) for every rooted tree τ (Hairer, Nørsett & Wanner, theorem II.2.13) ----------------

RootedTree = tuple[Any, ...]
"""The subtrees that hang on the root."""


def partitions(n: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Ways to write n as a sum of numbers up to `largest`, largest first."""
    if n == 0:
        yield ()
    for first in range(min(n, largest), 0, -1):
        for rest in partitions(n - first, first):
            yield (first, *rest)


def rooted_trees(n: int) -> list[RootedTree]:
    """All rooted trees of n vertices."""
    found: set[RootedTree] = set()
    for sizes in partitions(n - 1, n - 1):
        choices: list[RootedTree] = [()]
        for size in sorted(set(sizes)):
            same = list(combinations_with_replacement(rooted_trees(size), sizes.count(size)))
            choices = [(*chosen, *more) for chosen in choices for more in same]
        found.update(choices)
    return sorted(found, key=repr)


def vertices(tree: RootedTree) -> int:
    return 1 + sum(vertices(child) for child in tree)


def density(tree: RootedTree) -> int:
    return vertices(tree) * prod(density(child) for child in tree)


def weights(tree: RootedTree, A: np.ndarray) -> np.ndarray:
    """Φ_i: the product over the subtrees of Σ_j a_ij Φ_j."""
    return np.prod([np.ones(len(A)), *(A @ weights(child, A) for child in tree)], axis=0)


def defect(tree: RootedTree, A: np.ndarray, b: np.ndarray, theta: float = 1.0) -> float:
    """What is left of the condition of `tree` for the weights b of the solution at t + θh."""
    return float(b @ weights(tree, A) - theta ** vertices(tree) / density(tree))


def holds_up_to(order: int, A: np.ndarray, b: np.ndarray, theta: float = 1.0) -> bool:
    return all(abs(defect(tree, A, b, theta)) < 1e-14 for n in range(1, order + 1) for tree in rooted_trees(n))


def test_rooted_trees_are_as_many_as_cayley_counted() -> None:
    assert [len(rooted_trees(n)) for n in range(1, 8)] == [1, 1, 2, 4, 9, 20, 48]


@pytest.mark.parametrize(("method", "order"), [(EULER, 1), (CLASSICAL_4, 4), (DORMAND_PRINCE, 5)])
def test_tableau_meets_all_conditions_of_its_order_and_not_of_the_next(method: Tableau, order: int) -> None:
    assert method.order == order
    assert holds_up_to(order, method.A, method.b)
    assert not holds_up_to(order + 1, method.A, method.b)
    assert np.array_equal(np.triu(method.A), np.zeros_like(method.A))
    np.testing.assert_allclose(method.A.sum(axis=1), method.c, atol=1e-15)


def test_embedded_method_has_order_4_exactly() -> None:
    embedded = DORMAND_PRINCE.b - DORMAND_PRINCE.e
    assert holds_up_to(4, DORMAND_PRINCE.A, embedded)
    assert not holds_up_to(5, DORMAND_PRINCE.A, embedded)
    assert abs(DORMAND_PRINCE.e.sum()) < 1e-16


def test_last_stage_is_the_first_of_the_next_step() -> None:
    assert np.array_equal(DORMAND_PRINCE.A[-1], DORMAND_PRINCE.b)
    assert DORMAND_PRINCE.c[-1] == 1.0
    assert DORMAND_PRINCE.b[-1] == 0.0


def dense_weights(theta: float) -> np.ndarray:
    """b_i(θ)."""
    return np.asarray(DORMAND_PRINCE_DENSE @ theta ** np.arange(1.0, 5.0))


@pytest.mark.parametrize("theta", [0.1, 1 / 3, 0.5, 0.77, 1.0])
def test_dense_output_has_order_4_everywhere_in_the_step(theta: float) -> None:
    assert holds_up_to(4, DORMAND_PRINCE.A, dense_weights(theta), theta)


def test_dense_output_meets_the_step_at_both_ends_with_its_slope() -> None:
    np.testing.assert_allclose(dense_weights(1.0), DORMAND_PRINCE.b, atol=1e-15)
    # b_i'(0) = 1 for the first stage and b_i'(1) = 1 for the last, 0 for the others
    np.testing.assert_allclose(DORMAND_PRINCE_DENSE[:, 0], np.eye(7)[0], atol=1e-15)
    np.testing.assert_allclose(DORMAND_PRINCE_DENSE @ np.arange(1.0, 5.0), np.eye(7)[6], atol=1e-13)
    assert not DORMAND_PRINCE_DENSE[1].any()  # stage 1 is scratch while outputs are interpolated


# --- measured orders ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FixedDormandPrince(FixedStep):
    """The pair's method of order 5 with steps of constant length."""

    name: ClassVar[str] = "fixed dopri5"
    tableau: ClassVar[Tableau] = DORMAND_PRINCE


SYSTEMS = {
    "revolute": ["revolute"] * 3,
    "universal": ["universal"] * 2,
    "planar": ["planar", "revolute"],
    "spherical": ["spherical"] * 2,
    "free": ["free", "spherical"],
    "every joint": S.MOVING,
}
STEPS = 20
T_END = 0.4


def motion(kinds: list[str], method: Any, seed: int = 3) -> np.ndarray:
    """q and v at the end; the largest component of a quaternion has the positive sign."""
    system = S.random_system(seed, kinds)
    tree = nx.Tree(system)
    rng = np.random.default_rng(seed)
    result = nx.simulate(system, T_END, method, q0=tree.random(rng), v0=rng.normal(size=tree.nv), output_every=10**6)
    q = result.recording.q[-1]
    for place in tree.coordinates.values():
        if place.q.stop - place.q.start > place.v.stop - place.v.start:
            four = slice(place.q.start, place.q.start + 4)
            q[four] *= np.sign(q[four][np.argmax(np.abs(q[four]))])
    return np.concatenate([q, result.recording.v[-1]])


@pytest.mark.parametrize(
    ("method", "order", "dt"),
    [
        (nx.ExplicitEuler, 1, T_END / 3200),
        (nx.SemiImplicitEuler, 1, T_END / 3200),
        (nx.RungeKutta4, 4, T_END / 100),
        (FixedDormandPrince, 5, T_END / 30),
    ],
)
@pytest.mark.parametrize("kinds", list(SYSTEMS))
def test_measured_order_is_that_of_the_method(kinds: str, method: Any, order: int, dt: float) -> None:
    exact = motion(SYSTEMS[kinds], FixedDormandPrince(T_END / 500))
    errors = [np.linalg.norm(motion(SYSTEMS[kinds], method(dt / k)) - exact) for k in (1, 2, 4)]
    print(kinds, method.__name__, errors, np.log2(np.array(errors[:-1]) / errors[1:]))
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes[-1] == pytest.approx(order, abs=0.3)
