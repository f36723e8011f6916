"""Where redundancy can be: the blocks of the constraint graph that have loops.

Bodies are nodes, joints (pairs) are edges. A row over more than two bodies, a coupling's, is a node of its own, with an
edge to each of its bodies. A self-stress lives in a biconnected component: what hangs on a body alone can carry nothing
but its own balance. It does not stop at a coupling, so that components that share one are one block.

In a block a spanning tree, breadth first, gives tree coordinates; all other rows close its loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Incidence(NamedTuple):
    """Which bodies each row is about: nodes (nc, w), −1 where there are fewer; slot (nt, 2) where the two bodies of a
    term stand in its row; element (nc,), the pair of a row, or len(pairs) + the number of its coupling row."""

    nodes: np.ndarray
    slot: np.ndarray
    element: np.ndarray
    couplings: list[list[int]]


@dataclass
class LoopBlock:
    """A block with loops, in its own numbers. Bodies stand breadth first, a child after its parent.

    bodies (n,): numbers in the model; parent (n,): −1 for a root; rows (m,): numbers in the model, those of one pair
    together; first, count (n,): the rows of the edge to the parent; cut: the rows, in the block's numbers, of all else.
    """

    elements: list[int]
    bodies: np.ndarray
    parent: np.ndarray
    rows: np.ndarray
    first: np.ndarray
    count: np.ndarray
    cut: np.ndarray


def incidence(pairs: np.ndarray, terms: np.ndarray, rows: np.ndarray) -> Incidence:
    """The bodies of every row, from the tables of the constraints."""
    nc, nt = len(rows), len(terms)
    of_term = pairs[terms[:, 0]] if nt else np.zeros((0, 2), dtype=np.int64)
    lead = rows[:, 0]
    nodes = of_term[lead] if nc else np.zeros((0, 2), dtype=np.int64)
    slot = np.broadcast_to(np.arange(2), (nt, 2)).copy()
    element = terms[lead, 0].copy() if nc else np.zeros(0, dtype=np.int64)
    row_of = np.repeat(np.arange(nc), rows[:, 1])
    mixed = np.unique(row_of[terms[:, 0] != element[row_of]]) if nt else np.zeros(0, dtype=np.int64)
    couplings: list[list[int]] = []
    for r in mixed.tolist():
        found: list[int] = []
        for e in range(rows[r, 0], rows[r, 0] + rows[r, 1]):
            for side in (0, 1):
                body = int(of_term[e, side])
                if body not in found:
                    found.append(body)
                slot[e, side] = found.index(body)
        if len(found) > nodes.shape[1]:
            nodes = np.pad(nodes, ((0, 0), (0, len(found) - nodes.shape[1])), constant_values=-1)
        nodes[r] = -1
        nodes[r, : len(found)] = found
        element[r] = len(pairs) + len(couplings)
        couplings.append(found)
    return Incidence(nodes, slot, element, couplings)


def loop_blocks(pairs: np.ndarray, about: Incidence, n: int, suspects: np.ndarray) -> list[LoopBlock]:
    """The blocks among `n` bodies; `suspects` are pairs to be looked at though they close no loop."""
    stars = [(n + i, body) for i, bodies in enumerate(about.couplings) for body in bodies]
    edges = np.concatenate([pairs, np.array(stars, dtype=np.int64).reshape(-1, 2)])
    element_of = np.concatenate(
        [np.arange(len(pairs)), np.repeat(np.arange(len(about.couplings)), [len(b) for b in about.couplings]) + len(pairs)]
    )  # fmt: skip
    found = components(edges, n + len(about.couplings), single=bool(about.couplings))
    groups = _merged([sorted({int(element_of[e]) for e in group}) for group in found], len(pairs))
    known = {k for group in groups for k in group}
    groups += [[int(k)] for k in suspects if k not in known]
    if not groups:
        return []
    order = np.argsort(about.element, kind="stable")
    bounds = np.searchsorted(about.element[order], np.arange(len(pairs) + len(about.couplings) + 1))
    return [_block(group, pairs, about, [order[bounds[k] : bounds[k + 1]] for k in group]) for group in groups]


def _merged(groups: list[list[int]], n_pairs: int) -> list[list[int]]:
    """Groups that share a coupling become one; those of a single pair are none."""
    home: dict[int, int] = {}
    merged: dict[int, set[int]] = {}
    for i, group in enumerate(groups):
        into = {home[k] for k in group if k >= n_pairs and k in home}
        members = set(group).union(*(merged.pop(j) for j in into))
        merged[i] = members
        home.update((k, i) for k in members if k >= n_pairs)
    found = [sorted(members) for members in merged.values()]
    return [members for members in found if len(members) > 1 or members[0] >= n_pairs]


def _block(elements: list[int], pairs: np.ndarray, about: Incidence, rows_of: list[np.ndarray]) -> LoopBlock:
    neighbours: dict[int, list[tuple[int, int]]] = {}
    for i, k in enumerate(elements):
        if k < len(pairs):
            a, b = pairs[k].tolist()
            neighbours.setdefault(a, []).append((b, i))
            neighbours.setdefault(b, []).append((a, i))
        else:
            for body in about.couplings[k - len(pairs)]:
                neighbours.setdefault(body, [])
    order: list[int] = []
    parent: list[int] = []
    edge: list[int] = []
    seen: dict[int, int] = {}
    for root in sorted(neighbours):
        if root in seen:
            continue
        seen[root] = len(order)
        order.append(root)
        parent.append(-1)
        edge.append(-1)
        at = seen[root]
        while at < len(order):
            for other, i in neighbours[order[at]]:
                if other not in seen:
                    seen[other] = len(order)
                    order.append(other)
                    parent.append(at)
                    edge.append(i)
            at += 1
    counts = np.array([len(rows) for rows in rows_of])
    starts = np.concatenate([[0], np.cumsum(counts)])
    reached = np.array(edge)
    tree = reached >= 0
    first = np.where(tree, starts[reached], 0)
    count = np.where(tree, counts[reached], 0)
    closing = np.ones(len(elements), dtype=bool)
    closing[reached[tree]] = False
    rows = np.concatenate(rows_of) if rows_of else np.zeros(0, dtype=np.int64)
    return LoopBlock(
        elements, np.array(order), np.array(parent), rows, first, count, np.flatnonzero(np.repeat(closing, counts))
    )


def components(edges: np.ndarray, n: int, single: bool = False) -> list[list[int]]:
    """Biconnected components as lists of edges, those of one edge only where `single`.

    Hopcroft & Tarjan 1973, without recursion.
    """
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for e, (a, b) in enumerate(edges.tolist()):
        neighbours[a].append((b, e))
        neighbours[b].append((a, e))
    depth, low = [-1] * n, [0] * n
    found: list[list[int]] = []
    for root in range(n):
        if depth[root] >= 0:
            continue
        depth[root] = low[root] = 0
        pending: list[int] = []
        stack = [(root, -1, iter(neighbours[root]))]
        while stack:
            node, entered, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    low[above] = min(low[above], low[node])
                    if low[node] >= depth[above]:
                        group = []
                        while True:
                            e = pending.pop()
                            group.append(e)
                            if e == entered:
                                break
                        if len(group) > 1 or single:
                            found.append(sorted(group))
                continue
            other, e = step
            if e == entered:
                continue
            if depth[other] < 0:
                pending.append(e)
                depth[other] = low[other] = depth[node] + 1
                stack.append((other, e, iter(neighbours[other])))
            elif depth[other] < depth[node]:
                pending.append(e)
                low[node] = min(low[node], depth[other])
    return found
