"""The plan of an elimination along a graph: order, fill and the place of every block, found once.

A symmetric matrix has a node for each body or group of joint rows, 1 to 6 unknowns each, and a block for each edge.
The order is one of minimum degree (Tinney & Walker 1967; George & Liu 1981, chapter 5). A node of constraint rows has no
pivot of its own: it may be eliminated after a body that hung on no other constraint, or after all its bodies, since only then its
Schur complement −B A⁻¹ Bᵀ has full rank. On trees that is from the leaves to the root, without fill. A body that has no pivot of its
own either, but is carried by another, goes right after it, its rows before it: what both leave is what the other left, and no fill.

A block lies in rows of 8 numbers, the rest zero: of edge (p, j), p eliminated before j, one row for each unknown of p,
along it the unknowns of j.

    pivots   int64 (n, 8)   `Pivot`, in the order of the elimination
    edges    int64 (ne, 2)  `Edge`, pivot after pivot
    updates  int64 (nu,)    for each pivot, for each pair (i, j) of its edges, i not after j: place of block (i, j)
    position int64 (n,)     the pivot of each node
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.kernel import allocating, kernel
from nexdyn.linalg.rows import WIDTH
from nexdyn.records import Record, rows_of

LIVE = 16 * WIDTH
"""Where in the scratch of `factor` those edges stand whose blocks are not 0: bodies that might touch mostly do not."""
LARGEST = 6
"""Most unknowns of a node."""


class Pivot(Record):
    """A node, in the order of the elimination: its number and unknowns; +1 of a body, −1 of constraint rows; the place of its diagonal
    block; its first edge and their count; numbers of the diagonal blocks up to here; its first update."""

    node: int
    unknowns: int
    sign: int
    diagonal: int
    first: int
    count: int
    shift: int
    updates: int


class Edge(Record):
    """From a pivot to a later node: that node, and the place of the block."""

    other: int
    place: int


Pivots, Edges = rows_of(Pivot), rows_of(Edge)


class Plan(NamedTuple):
    """The frozen tables of an elimination; it crosses into kernels as it is."""

    pivots: Any
    edges: Any
    updates: Any
    position: Any
    size: int
    """Doubles of all blocks."""

    def new_blocks(self) -> np.ndarray:
        """Blocks of zeros, (size,)."""
        return np.zeros(self.size)

    def new_upper(self) -> np.ndarray:
        """Blocks of zeros above the diagonal, for matrices without symmetry."""
        return np.zeros(self.size - (int(Pivots(self.pivots).shift[-1]) if len(self.pivots) else 0))

    def new_vector(self) -> np.ndarray:
        """A vector of zeros: row i has the unknowns of node i, then zeros, (n, 8)."""
        return np.zeros((len(self.pivots), WIDTH))

    def new_work(self) -> np.ndarray:
        """Scratch of `factor`: a block, the unit matrix, and as many numbers as a pivot has edges."""
        most = int(Pivots(self.pivots).count.max(initial=0))
        return np.concatenate([np.zeros(8 * WIDTH), np.eye(8, WIDTH).reshape(-1), np.zeros(most)])


def elimination_plan(
    sizes: Any, edges: Any, constraint: Any = None, carried: Sequence[tuple[int, int, int]] = ()
) -> Plan:  # fmt: skip
    """The plan for nodes of `sizes` (n,), joined by `edges` (ne, 2), of which `constraint` (n,) marks constraint rows.

    carried: bodies without a pivot, each with its only rows and the only other body that these have.
    Edges may repeat. InputError for a size that is not 1 to 6, an edge to no node, or a constraint without a body.
    """
    sizes = np.ascontiguousarray(sizes, dtype=np.int64)
    n = len(sizes)
    edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    marked = np.zeros(n, dtype=np.bool_) if constraint is None else np.ascontiguousarray(constraint, dtype=np.bool_)
    if n and not (1 <= sizes.min() and sizes.max() <= LARGEST):
        raise InputError(f"nodes have {sizes.min()} to {sizes.max()} unknowns; 1 to {LARGEST} are possible")
    if len(edges) and not (0 <= edges.min() and edges.max() < n):
        raise InputError(f"edges name nodes {edges.min()} to {edges.max()}; there are 0 to {n - 1}")
    if marked.shape != (n,):
        raise InputError(f"constraint has shape {marked.shape}; ({n},) is needed")
    edges = edges[edges[:, 0] != edges[:, 1]]
    apart = np.zeros(n, dtype=np.bool_)
    apart[[node for body, rows, _ in carried for node in (body, rows)]] = True
    edges = edges[~apart[edges].any(axis=1)]
    directed = np.concatenate([edges, edges[:, ::-1]])
    both = np.unique(directed[:, 0] * max(n, 1) + directed[:, 1])
    start = np.searchsorted(both, np.arange(n + 1) * max(n, 1))
    adjacent = both % max(n, 1)
    order, first, found = order_nodes(n, start, adjacent, marked & ~apart)
    if len(order) < n:
        raise InputError("a node of constraint rows has no edge to a body")
    if len(carried):
        order, first, found = _with_carried(order, first, found, carried, apart)
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    count = np.diff(first)
    # later nodes in the order of their elimination
    owner = np.repeat(np.arange(n), count)
    found = found[np.lexsort((position[found], owner))]
    own = sizes[order]
    rows = own * (1 + count)
    begin = WIDTH * (np.cumsum(rows) - rows)
    within = np.arange(len(found)) - np.repeat(first[:-1], count)
    place = begin[owner] + WIDTH * own[owner] * (1 + within)
    diagonals = WIDTH * np.cumsum(own)
    pairs = count * (count + 1) // 2
    sign = np.where(marked[order], -1, 1)
    columns = [order, own, sign, begin, first[:-1], count, diagonals, np.cumsum(pairs) - pairs]
    pivots = np.ascontiguousarray(np.stack(columns, axis=1))
    table = np.ascontiguousarray(np.stack([found, place], axis=1))
    updates = np.empty(int(pairs.sum()), dtype=np.int64)
    find_updates(pivots, table, position, updates)
    return Plan(pivots, table, updates, position, int(WIDTH * rows.sum()))


def _with_carried(
    order: np.ndarray, first: np.ndarray, found: np.ndarray, carried: Sequence[tuple[int, int, int]], apart: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """The order and later neighbours, as of `order_nodes`, with what each body carries right after it."""
    on: dict[int, list[int]] = {}
    for body, rows, other in carried:
        on.setdefault(other, []).extend((rows, body))
    nodes: list[int] = []
    later: list[list[int]] = []
    for p, node in enumerate(order.tolist()):
        if not apart[node]:
            group, after = [node, *on.get(node, ())], found[first[p] : first[p + 1]].tolist()
            for i, member in enumerate(group):
                nodes.append(member)
                later.append(group[i + 1 :] + after)
    count = np.array([len(x) for x in later], dtype=np.int64)
    return (
        np.array(nodes),
        np.concatenate([[0], np.cumsum(count)]),
        np.array([j for x in later for j in x], dtype=np.int64),
    )


@kernel
@allocating
def order_nodes(n, start, adjacent, constraint):
    """(order, first, later): the elimination order, and of its p-th node the neighbours later[first[p] : first[p + 1]].

    The graph changes as nodes leave: lists of neighbours in a pool, an eliminated one skipped when met. A node that is
    never allowed to leave is missing from the order.
    """
    order, first = np.empty(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    later = np.empty(max(16, len(adjacent)), dtype=np.int64)
    pool = np.empty(max(16, 2 * len(adjacent)), dtype=np.int64)
    pool[: len(adjacent)] = adjacent
    used = len(adjacent)
    begin, length, room = start[:-1].copy(), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    degree, stamp = np.empty(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    waiting = np.zeros(n, dtype=np.int64)  # bodies that a constraint still waits for
    gone, hung = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    head, after, before = np.full(n + 1, -1, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    queued = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        length[i] = room[i] = degree[i] = start[i + 1] - start[i]
        if constraint[i]:
            for e in range(start[i], start[i + 1]):
                waiting[i] += not constraint[adjacent[e]]
            if waiting[i] == 0:
                waiting[i] = -1  # never allowed
    lowest = n
    for i in range(n - 1, -1, -1):
        if not constraint[i]:
            _enqueue(i, degree[i], head, after, before)
            queued[i] = True
            lowest = min(lowest, degree[i])
    done = 0
    while True:
        while lowest < n and head[lowest] < 0:
            lowest += 1
        if lowest >= n:
            break
        p = head[lowest]
        _dequeue(p, degree[p], head, after, before)
        queued[p], gone[p] = False, True
        order[done] = p
        # its neighbours that are left
        at = first[done]
        if at + degree[p] > len(later):
            longer = np.empty(2 * (at + degree[p]), dtype=np.int64)
            longer[:at] = later[:at]
            later = longer
        count = 0
        for e in range(begin[p], begin[p] + length[p]):
            if not gone[pool[e]]:
                later[at + count] = pool[e]
                count += 1
        done += 1
        first[done] = at + count
        neighbours = later[at : at + count]
        # the longest list last: it is never walked through
        for a in range(1, count):
            x, b = neighbours[a], a - 1
            while b >= 0 and length[neighbours[b]] > length[x]:
                neighbours[b + 1] = neighbours[b]
                b -= 1
            neighbours[b + 1] = x
        if not constraint[p]:
            above, which = 0, -1
            for a in range(count):
                if constraint[neighbours[a]]:
                    above, which = above + 1, neighbours[a]
            if above == 1:
                hung[which] = True
            for e in range(start[p], start[p + 1]):
                if constraint[adjacent[e]]:
                    waiting[adjacent[e]] -= 1
        for a in range(count):
            i = neighbours[a]
            if queued[i]:
                _dequeue(i, degree[i], head, after, before)
            degree[i] -= 1
        for a in range(count - 1):
            i = neighbours[a]
            kept = 0
            for e in range(begin[i], begin[i] + length[i]):
                if not gone[pool[e]]:
                    pool[begin[i] + kept] = pool[e]
                    stamp[pool[e]] = i + n * done
                    kept += 1
            length[i] = kept
            for b in range(a + 1, count):
                j = neighbours[b]
                if stamp[j] != i + n * done:
                    for s in range(2):
                        x, y = (i, j) if s == 0 else (j, i)
                        if length[x] == room[x]:
                            # to the end of the pool, with twice the room
                            if used + 2 * length[x] + 4 > len(pool):
                                larger = np.empty(2 * (used + 2 * length[x] + 4), dtype=np.int64)
                                larger[:used] = pool[:used]
                                pool = larger
                            pool[used : used + length[x]] = pool[begin[x] : begin[x] + length[x]]
                            begin[x], room[x] = used, 2 * length[x] + 4
                            used += room[x]
                        pool[begin[x] + length[x]] = y
                        length[x] += 1
                        degree[x] += 1
        for a in range(count):
            i = neighbours[a]
            if not constraint[i] or hung[i] or waiting[i] == 0:
                _enqueue(i, degree[i], head, after, before)
                queued[i] = True
                lowest = min(lowest, degree[i])
    return order[:done], first[: done + 1], later[: first[done]]


@kernel
def _enqueue(i, degree, head, after, before):
    """Node i to the front of the list of its degree."""
    after[i], before[i] = head[degree], -1
    if head[degree] >= 0:
        before[head[degree]] = i
    head[degree] = i


@kernel
def _dequeue(i, degree, head, after, before):
    if before[i] >= 0:
        after[before[i]] = after[i]
    else:
        head[degree] = after[i]
    if after[i] >= 0:
        before[after[i]] = before[i]


@kernel
def find_updates(pivot_table, edge_table, position, updates):
    """The places of the blocks that each pivot changes."""
    pivots, edges, u = Pivots(pivot_table), Edges(edge_table), 0
    for p in range(len(pivots)):
        first, end = pivots[p].first, pivots[p].first + pivots[p].count
        for a in range(first, end):
            later = pivots[position[edges[a].other]]
            updates[u] = later.diagonal
            u += 1
            e = later.first
            for b in range(a + 1, end):
                while edges[e].other != edges[b].other:
                    e += 1
                updates[u] = edges[e].place
                u += 1


def upper_places(plan: Plan, i: np.ndarray, j: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Where the blocks (i, j) (m,) that lie at `place` lie above the diagonal, see ``lu``; −1 where there are none."""
    first = np.minimum(plan.position[i], plan.position[j])
    return np.where((place < 0) | (i == j), -1, place - Pivots(plan.pivots).shift[first])


@kernel
def locate(plan, i, j, out):
    """Where block (i, j) of the matrix lies, for arrays of nodes i, j (m,).

    out (m, 3): place of entry (0, 0), step from one unknown of i to the next, and of j; −1 where there is no block.
    """
    pivots, edges = Pivots(plan.pivots), Edges(plan.edges)
    for k in range(len(i)):
        p, q = plan.position[i[k]], plan.position[j[k]]
        turned = q < p
        if turned:
            p, q = q, p
        out[k, 0] = -1
        out[k, 1], out[k, 2] = (1, WIDTH) if turned else (WIDTH, 1)
        if p == q:
            out[k, 0] = pivots[p].diagonal
            continue
        low, high = pivots[p].first, pivots[p].first + pivots[p].count
        while low < high:
            middle = (low + high) // 2
            at = plan.position[edges[middle].other]
            if at == q:
                out[k, 0] = edges[middle].place
                break
            if at < q:
                low = middle + 1
            else:
                high = middle
