"""Butcher's theory: Σ b_i Φ_i(τ) = 1/γ(τ) for every rooted tree τ (Hairer, Nørsett & Wanner, theorem II.2.13)."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import prod
from typing import Any

import numpy as np

RootedTree = tuple[Any, ...]
"""The subtrees that hang on the root."""


def partitions(n: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Ways to write n as a sum of numbers up to `largest`, largest first."""
    if n == 0:
        yield ()
    for first in range(min(n, largest), 0, -1):
        for rest in partitions(n - first, first):
            yield (first, *rest)


@functools.cache
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
    size = max(1.0, float(np.abs(b).sum()))
    return all(abs(defect(tree, A, b, theta)) < 1e-14 * size for n in range(1, order + 1) for tree in rooted_trees(n))


def order_of(A: np.ndarray, b: np.ndarray) -> int:
    """The order of the weights b."""
    order = 0
    while holds_up_to(order + 1, A, b):
        order += 1
    return order
