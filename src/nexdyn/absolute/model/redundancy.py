"""Which constraint rows are redundant, and on which others they depend.

A self-stress n (nᵀ Cq = 0) lives in a block of the constraint graph that has loops (`blocks`); all of a block's are
found in tree coordinates (`stress`), where zᵀ J = 0 is a rank-revealing QR.

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

from nexdyn.absolute.model import stress
from nexdyn.absolute.model.blocks import LoopBlock
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.constraints.tables import row_units
from nexdyn.spatial.rotations import rotation_matrix

RANK_TOLERANCE = 1e-8
"""A pivot below this part of the largest one is a zero."""
COEFFICIENT_TOLERANCE = 1e-7
"""A coefficient below this is a zero."""
COINCIDENT = 1e-9
"""Points nearer than this part of their distance from the origin are one: an assembled pose is closed to 1e-10."""


@dataclass
class Dependence:
    """A redundant row: row = Σ coefficient · kept row, in the units of the rows; any of them could be dropped instead."""

    row: int
    rows: np.ndarray
    coefficients: np.ndarray

    @property
    def depends_on(self) -> dict[int, float]:
        """Coefficient by row."""
        return dict(zip(self.rows.tolist(), self.coefficients.tolist(), strict=True))


@dataclass
class Block:
    """What was found in a block of the constraint graph that has loops.

    length: its size L [m]. rank: its independent rows. gap: the last pivot that counts over the first that does not.
    tree: its tree coordinates; J: its closing rows in them, without units.
    """

    shape: LoopBlock
    length: float = 1.0
    rank: int = 0
    gap: float = np.inf
    dropped: list[Dependence] = field(default_factory=list)
    tree: TreeCoordinates | None = None
    J: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))


@dataclass
class TreeCoordinates:
    """The arrays of `stress.edge_bases`, and the first coordinate of each body."""

    Q: np.ndarray
    T: np.ndarray
    L: np.ndarray
    pivot: np.ndarray
    rank: np.ndarray
    column: np.ndarray
    count: int


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


def find_redundancy(model: AbsoluteModel, q: np.ndarray, t: float = 0.0) -> Redundancy:
    """The redundant rows at q; those that do not act are neither kept nor redundant."""
    kept = model.acting.copy()
    if not model.loop_blocks:
        return Redundancy(kept, [], [])
    gradients = model.row_gradients(q, t)
    local = np.zeros(len(model.bodies), dtype=np.int64)
    blocks = [Block(shape) for shape in model.loop_blocks]
    for block in blocks:
        _analyse(model, q, gradients, local, block)
        kept[[d.row for d in block.dropped]] = False
    dropped = [dependence for block in blocks for dependence in block.dropped]
    return Redundancy(kept, sorted(dropped, key=lambda d: d.row), blocks)


def block_length(model: AbsoluteModel, q: np.ndarray, shape: LoopBlock) -> float:
    """The size of a block: the largest distance of its joints from their centre; 1 where all coincide."""
    k = np.array([element for element in shape.elements if element < len(model.tables.pairs)])
    if not len(k):
        return 1.0
    i = model.tables.pairs[k]
    p = model.tables.frames[k].reshape(-1, 2, 12)[:, :, 9:]
    points = q[i, 4:] + np.einsum("ksij,ksj->ksi", rotation_matrix(q[i, :4]), p)
    points = points.reshape(-1, 3)
    spread = float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).max()))
    arms = max(model.arm, float(np.abs(q[i, 4:]).max()))
    return spread if spread > COINCIDENT * arms else 1.0


def stresses_of_blocks(
    model: AbsoluteModel, q: np.ndarray, t: float, near: np.ndarray, some: np.ndarray
) -> list[tuple[LoopBlock, np.ndarray]]:
    """The blocks that have any of the rows `some` (nc,) bool, with their self-stresses N (rows of the block, n) in the units of
    the rows, Nᵀ Cq = 0."""
    found = []
    local = np.zeros(len(model.bodies), dtype=np.int64)
    gradients = model.row_gradients(q, t, near)
    for shape in model.loop_blocks:
        if some[shape.rows].any():
            N, unit = _stressed(model, q, gradients, local, Block(shape))
            found.append((shape, N * unit[:, None]))
    return found


def _stressed(
    model: AbsoluteModel, q: np.ndarray, gradients: np.ndarray, local: np.ndarray, block: Block
) -> tuple[np.ndarray, np.ndarray]:
    """N (rows of the block, n) without units, and what takes the units of its rows away."""
    shape = block.shape
    L = block.length = block_length(model, q, shape)
    unit = row_units(model.tables, L)[shape.rows]
    grads = gradients[shape.rows] * unit[:, None, None]
    grads[:, :, 3:] *= L
    nodes = model.incidence.nodes[shape.rows]
    local[shape.bodies] = np.arange(len(shape.bodies))
    return _self_stresses(block, rigid_transport(shape, q, L), nodes, grads, local), unit


def _analyse(model: AbsoluteModel, q: np.ndarray, gradients: np.ndarray, local: np.ndarray, block: Block) -> None:
    shape = block.shape
    N, unit = _stressed(model, q, gradients, local, block)
    if N.shape[1] == 0:
        return
    backwards = np.lexsort((-shape.rows, model.row_priority[shape.rows]))
    chosen = np.zeros(N.shape[1], dtype=np.int64)
    count = stress.independent_rows(N, backwards, COEFFICIENT_TOLERANCE * np.abs(N).max(), chosen)
    chosen = chosen[:count]
    B = np.linalg.inv(N[chosen]) if count == N.shape[1] else np.linalg.pinv(N[chosen])
    N = N @ B
    N[np.abs(N) <= COEFFICIENT_TOLERANCE] = 0.0
    for c, i in enumerate(chosen.tolist()):
        if not model.acting[shape.rows[i]]:
            continue
        m = np.flatnonzero(N[:, c])
        m = m[m != i]
        coefficients = -N[m, c] * unit[m] / unit[i]  # Σ stress_r row_r = 0 in the rows' own units
        order = np.argsort(shape.rows[m])
        block.dropped.append(Dependence(int(shape.rows[i]), shape.rows[m][order], coefficients[order]))


def rigid_transport(shape: LoopBlock, q: np.ndarray, length: float) -> np.ndarray:
    """T (n, 6, 6): (ω in the body, v / L) of each body as its parent's motion carries it; 0 for a root."""
    R, p = rotation_matrix(q[shape.bodies, :4]), q[shape.bodies, 4:]
    up = shape.parent
    R_p, d = R[up], (p - p[up]) / length
    T = np.zeros((len(up), 6, 6))
    T[:, :3, :3] = np.swapaxes(R, 1, 2) @ R_p
    T[:, 3:, :3] = -np.cross(d[:, :, None], R_p, axis=1)
    T[:, 3:, 3:] = np.eye(3)
    T[up < 0] = 0.0
    return T


def tree_coordinates(shape: LoopBlock, T: np.ndarray, nodes: np.ndarray, grads: np.ndarray) -> TreeCoordinates:
    """The motions that the edges of the spanning tree leave."""
    n, m = len(shape.bodies), len(shape.rows)
    Q, L = np.zeros((n, 6, 6)), np.zeros((m, 6))
    pivot, rank = np.zeros((n, 6), dtype=np.int64), np.zeros(n, dtype=np.int64)
    stress.edge_bases(shape.first, shape.count, nodes, grads, shape.bodies, RANK_TOLERANCE, Q, L, pivot, rank)
    free = 6 - rank
    free[0] = 0
    column = np.cumsum(free) - free
    return TreeCoordinates(Q, T, L, pivot, rank, column, int(free.sum()))


def _self_stresses(block: Block, T: np.ndarray, nodes: np.ndarray, grads: np.ndarray, local: np.ndarray) -> np.ndarray:
    """N (rows of the block, number of self-stresses)."""
    shape = block.shape
    tree = block.tree = tree_coordinates(shape, T, nodes, grads)
    J = block.J = np.zeros((len(shape.cut), tree.count))
    stress.loop_matrix(shape.parent, tree.column, tree.rank, tree.Q, tree.T, shape.cut, nodes, grads, local, J)
    z, rank, block.gap = left_null_space(J)
    block.rank = rank + int(tree.rank.sum())
    N = np.zeros((len(shape.rows), z.shape[1]))
    if z.shape[1]:
        stress.extended(
            shape.parent, tree.rank, tree.Q, tree.T, tree.L, tree.pivot, shape.cut, z, nodes, grads, local, N
        )
    inside = [_inside(shape, tree, i) for i in np.flatnonzero(shape.count > tree.rank).tolist()]
    return np.concatenate([N, *inside], axis=1) if inside else N


def _inside(shape: LoopBlock, tree: TreeCoordinates, i: int) -> np.ndarray:
    """The self-stresses (rows of the block, …) of dependent rows of one edge."""
    rows = np.arange(shape.first[i], shape.first[i] + shape.count[i])
    r = int(tree.rank[i])
    pivots = tree.pivot[i, :r]
    others = np.setdiff1d(rows, pivots)
    N = np.zeros((len(shape.rows), len(others)))
    N[others, np.arange(len(others))] = 1.0
    if r:
        N[pivots] = -np.linalg.solve(tree.L[pivots, :r].T, tree.L[others, :r].T)
    return N


def left_null_space(J: np.ndarray) -> tuple[np.ndarray, int, float]:
    """z with zᵀ J = 0, the rank of J, and the last pivot that counts over the first that does not."""
    m = len(J)
    J = J[:, np.any(J, axis=0)]
    if not J.size:
        return np.eye(m), 0, np.inf
    if J.shape[1] > 2 * m:
        J = scipy.linalg.qr(J.T, mode="r", check_finite=False)[0][:m].T  # as good, and square
    Q, R, _ = scipy.linalg.qr(J, pivoting=True, check_finite=False)
    pivots = np.abs(np.diagonal(R))
    rank = int((pivots > RANK_TOLERANCE * max(1.0, pivots.max(initial=0.0))).sum())
    rounding = np.finfo(float).eps * pivots.max(initial=0.0)
    gap = float(pivots[rank - 1] / max(pivots[rank], rounding)) if 0 < rank < len(pivots) else np.inf
    return Q[:, rank:], rank, gap
