"""Which constraint rows are redundant, and on which others they depend.

A self-stress n (nᵀ Cq = 0) lives in a loop of the constraint graph. For every block of the graph that has loops
(a biconnected component; a joint written twice is one):

    1. a spanning tree; the freedoms H of its edges are the null space of their own rows
    2. the rows of the other edges in tree coordinates, J = J_cut J_tree; a rank-revealing QR of Jᵀ gives z, zᵀ J = 0
    3. z extended over the tree by the balance of forces on its bodies: the self-stress N (rows × redundancies)

Greedy in the order (priority descending, index), a row is kept if it does not depend on rows kept before. In the dual
that is: going backwards through that order, a row is dropped if its row of N is independent of those dropped before.
With N normalised to the identity on the dropped rows, a column of N holds minus the coefficients of the kept rows on
which that dropped row depends, and every row with a non-zero entry could be dropped instead.

Lengths are measured by the block's own size L, so that units do not matter: position rows divided by L, and the
translations of bodies measured in L.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from nexdyn.absolute.model import AbsoluteModel

RANK_TOLERANCE = 1e-8
"""A pivot below this part of the largest one is a zero."""
COEFFICIENT_TOLERANCE = 1e-7
"""A coefficient below this is a zero."""
COINCIDENT = 1e-9
"""Points nearer than this part of their distance from the origin are one: an assembled pose is closed to 1e-10."""


@dataclass
class Dependence:
    """A redundant row: row = Σ coefficient · kept row, in the units of the rows."""

    row: int
    depends_on: dict[int, float]
    alternatives: list[int]
    """Rows that could be dropped instead."""


@dataclass
class Block:
    """A block of the constraint graph with loops: its joints (pairs), bodies, and what was found in it."""

    pairs: list[int]
    bodies: list[int]
    length: float = 1.0
    rank: int = 0
    gap: float = np.inf
    """Ratio of the last pivot that counts to the first that does not."""
    dropped: list[Dependence] = field(default_factory=list)


@dataclass
class Redundancy:
    """Result of the analysis: rows kept and dropped, and the blocks."""

    kept: np.ndarray
    dropped: list[Dependence]
    blocks: list[Block]

    @property
    def rank(self) -> int:
        """Independent rows."""
        return int(self.kept.sum())


def find_redundancy(model: AbsoluteModel, q: np.ndarray) -> Redundancy:
    """The redundant rows at q."""
    J = model.term_jacobian(q)
    kept = np.ones(model.nc, dtype=bool)
    dropped: list[Dependence] = []
    blocks = [Block(pairs, bodies) for pairs, bodies in cyclic_blocks(model.tables.pairs, len(model.bodies))]
    for block in blocks:
        _analyse(model, q, J, block)
        for dependence in block.dropped:
            kept[dependence.row] = False
        dropped += block.dropped
    # a joint alone may carry dependent rows too (a row written twice)
    return Redundancy(kept, sorted(dropped, key=lambda d: d.row), blocks)


def cyclic_blocks(pairs: np.ndarray, n: int) -> list[tuple[list[int], list[int]]]:
    """Biconnected components with more than one edge: (edges, nodes) each. Hopcroft & Tarjan 1973, without recursion."""
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for e, (a, b) in enumerate(pairs.tolist()):
        neighbours[a].append((b, e))
        neighbours[b].append((a, e))
    depth, low = [-1] * n, [0] * n
    found: list[tuple[list[int], list[int]]] = []
    for root in range(n):
        if depth[root] >= 0:
            continue
        depth[root] = low[root] = 0
        edges: list[int] = []
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
                        block = []
                        while True:
                            e = edges.pop()
                            block.append(e)
                            if e == entered:
                                break
                        if len(block) > 1:
                            found.append((sorted(block), sorted({int(i) for e in block for i in pairs[e]})))
                continue
            other, e = step
            if e == entered:
                continue
            if depth[other] < 0:
                edges.append(e)
                depth[other] = low[other] = depth[node] + 1
                stack.append((other, e, iter(neighbours[other])))
            elif depth[other] < depth[node]:
                edges.append(e)
                low[node] = min(low[node], depth[other])
    return found


def block_length(model: AbsoluteModel, q: np.ndarray, block: Block) -> float:
    """The size of a block: the largest distance of its joints from their centre; 1 where all coincide."""
    points = []
    for k in block.pairs:
        pair = model.tables.pairs[k]
        for side in (0, 1):
            i = pair[side]
            w, x, y, z = q[i, :4]
            u = np.array([x, y, z])
            p = model.tables.frames[k, 12 * side + 9 : 12 * side + 12]
            points.append(q[i, 4:] + p + 2.0 * np.cross(u, np.cross(u, p) + w * p))
    spread = np.linalg.norm(np.array(points) - np.mean(points, axis=0), axis=1).max()
    scale = max(1e-300, float(np.abs(points).max()))
    return float(spread) if spread > COINCIDENT * scale else 1.0


def _analyse(model: AbsoluteModel, q: np.ndarray, J: np.ndarray, block: Block) -> None:
    tables = model.tables
    L = block.length = block_length(model, q, block)
    rows_of: dict[int, list[int]] = {k: [] for k in block.pairs}
    in_block = set(block.pairs)
    for r in range(model.nc):
        k = int(tables.terms[tables.rows[r, 0], 0])
        if k in in_block:
            rows_of[k].append(r)
    # dense rows of each edge over its two bodies, unit-free: rotations (rad), translations in L
    size = np.array([1.0, 1.0, 1.0, L, L, L] * 2)
    edge_rows: dict[int, np.ndarray] = {}
    row_scale: dict[int, float] = {}
    for k, rows in rows_of.items():
        dense = np.zeros((len(rows), 12))
        for n, r in enumerate(rows):
            first, count = tables.rows[r, :2]
            dense[n] = J[first : first + count].sum(axis=0) * size
            row_scale[r] = 1.0 / L if tables.terms[first, 1] < 3 or tables.terms[first, 1] == 12 else 1.0
            dense[n] *= row_scale[r]
        edge_rows[k] = dense

    order, parent_edge, cut = _spanning_tree(tables.pairs, block)
    N = _self_stresses(tables.pairs, order, parent_edge, cut, edge_rows, block)
    rows = [r for k in block.pairs for r in rows_of[k]]
    place = {k: i for i, k in enumerate(block.pairs)}
    del place
    if N.shape[1] == 0:
        return
    # greedy in the dual: backwards through (priority descending, index)
    backwards = sorted(range(len(rows)), key=lambda i: (model.rows[rows[i]].priority, -rows[i]))
    chosen: list[int] = []
    basis = N.copy()
    for i in backwards:
        if len(chosen) == N.shape[1]:
            break
        c = len(chosen)
        pivot = c + int(np.argmax(np.abs(basis[i, c:])))
        if abs(basis[i, pivot]) <= COEFFICIENT_TOLERANCE * np.abs(basis).max():
            continue
        # make column c the one with 1 in row i and the others 0 there
        basis[:, [c, pivot]] = basis[:, [pivot, c]]
        basis[:, c] /= basis[i, c]
        for other in range(N.shape[1]):
            if other != c:
                basis[:, other] -= basis[i, other] * basis[:, c]
        chosen.append(i)
    scale = np.array([row_scale[r] for r in rows])
    for c, i in enumerate(chosen):
        stress = basis[:, c] * scale / scale[i]  # Σ stress_r row_r = 0 in the rows' own units
        significant = np.abs(basis[:, c]) > COEFFICIENT_TOLERANCE
        depends = {rows[m]: -float(stress[m]) for m in np.flatnonzero(significant) if m != i}
        block.dropped.append(Dependence(rows[i], depends, sorted(depends)))


def _spanning_tree(pairs: np.ndarray, block: Block) -> tuple[list[int], dict[int, int], list[int]]:
    """Bodies root first, the edge by which each was reached, and the edges left over."""
    neighbours: dict[int, list[tuple[int, int]]] = {i: [] for i in block.bodies}
    for k in block.pairs:
        a, b = (int(i) for i in pairs[k])
        neighbours[a].append((b, k))
        neighbours[b].append((a, k))
    root = block.bodies[0]
    order, parent_edge = [root], {}
    seen = {root}
    for body in order:
        for other, k in neighbours[body]:
            if other not in seen:
                seen.add(other)
                parent_edge[other] = k
                order.append(other)
    used = set(parent_edge.values())
    return order, parent_edge, [k for k in block.pairs if k not in used]


def _self_stresses(
    pairs: np.ndarray, order: list[int], parent_edge: dict[int, int], cut: list[int],
    edge_rows: dict[int, np.ndarray], block: Block,
) -> np.ndarray:  # fmt: skip
    """N (rows of the block, number of self-stresses), rows in the order of the block's pairs."""
    # motion of every body in tree coordinates: V_child = T V_parent + B ẏ with R_child V_child = −R_parent V_parent
    columns: dict[int, np.ndarray] = {}
    carried: dict[int, np.ndarray] = {}
    count = 0
    motion: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for body in order[1:]:
        k = parent_edge[body]
        a, b = (int(i) for i in pairs[k])
        A = edge_rows[k]
        of_child, of_parent = (A[:, 6:], A[:, :6]) if body == b else (A[:, :6], A[:, 6:])
        U, s, Vt = np.linalg.svd(of_child)
        rank = int((s > RANK_TOLERANCE * max(1.0, s.max(initial=0.0))).sum())
        free = Vt[rank:].T
        pseudo = (Vt[:rank].T / s[:rank]) @ U[:, :rank].T
        motion[body] = (-pseudo @ of_parent, free)
        carried[body] = np.arange(count, count + free.shape[1])
        count += free.shape[1]
    dense = {order[0]: np.zeros((6, count))}
    for body in order[1:]:
        k = parent_edge[body]
        a, b = (int(i) for i in pairs[k])
        parent = a if body == b else b
        carry, free = motion[body]
        columns[body] = carry @ dense[parent]
        columns[body][:, carried[body]] += free
        dense[body] = columns[body]
    loop = np.concatenate(
        [edge_rows[k][:, :6] @ dense[int(pairs[k, 0])] + edge_rows[k][:, 6:] @ dense[int(pairs[k, 1])] for k in cut]
    )
    # zᵀ loop = 0 by pivoted QR of loop
    Q, R, _ = scipy.linalg.qr(loop, pivoting=True)
    pivots = np.abs(np.diagonal(R)) if min(R.shape) else np.zeros(0)
    rank = int((pivots > RANK_TOLERANCE * max(1.0, pivots.max(initial=0.0))).sum())
    block.rank = rank + sum(len(edge_rows[parent_edge[body]]) for body in order[1:])
    if rank and rank < len(pivots):
        block.gap = float(pivots[rank - 1] / max(pivots[rank], 1e-300))
    z = Q[:, rank:]

    # extend over the tree: balance of every body, leaves first; λ of an edge from its rows on the child
    stress: dict[int, np.ndarray] = {}
    load = {body: np.zeros((6, z.shape[1])) for body in order}
    at = 0
    for k in cut:
        n = len(edge_rows[k])
        stress[k] = z[at : at + n]
        at += n
        a, b = (int(i) for i in pairs[k])
        load[a] += edge_rows[k][:, :6].T @ stress[k]
        load[b] += edge_rows[k][:, 6:].T @ stress[k]
    for body in reversed(order[1:]):
        k = parent_edge[body]
        a, b = (int(i) for i in pairs[k])
        A = edge_rows[k]
        of_child, of_parent, parent = (A[:, 6:], A[:, :6], a) if body == b else (A[:, :6], A[:, 6:], b)
        stress[k] = -np.linalg.lstsq(of_child.T, load[body], rcond=None)[0]
        load[parent] += of_parent.T @ stress[k]
    return np.concatenate([stress[k] for k in block.pairs])
