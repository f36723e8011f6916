"""How independent the kept constraint equations are in a pose, whatever step led there.

    G = D⁻¹ Cq M^(−½), rows of length 1;   G = L Q;   the least L_kk²

the square of the sine between a row and those before it. The matrix of a step shows the same up to a factor
(``equations.independence``) as long as the step turns no body far: it holds Cq T(θ), and T(θ) of a rotation increment θ shrinks
what is across θ by sin(θ/2) / (θ/2), which a step of many turns makes as small as one likes.

Where a method factors no such matrix, states of a run are looked at when it has ended, by the least σ_r² of G, r the rank of the kept
rows: some, evenly, and between those where it is least, by halves. Two poses as near as two of these are one.

Of large blocks the kept rows alone are looked at, by inverse iterations with the sparse factors of G Gᵀ; where they become dependent, all
rows of that pose tell whether the others make up for them, unless there are too many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import csr_array, identity
from scipy.sparse.linalg import splu

from nexdyn.absolute.model.choice import row_shares
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.absolute.motion.elements import stiff_pairs
from nexdyn.absolute.motion.tables import MotionTables, motion_tables
from nexdyn.simulation.kept import Poses
from nexdyn.spatial.rotations import cross_product, rotation_matrix

NEARLY = 1e-4
"""Part of the best independence of constraint rows, a square of sines, below which a pose is nearly singular."""
LOOKED_AT, CLOSE, BETWEEN = 32, 0.3, 16
"""States of a run that are looked at first; the part of the greatest margin below which the least is sought between two states, by so
many poses there."""
GOLDEN = 0.381966
LARGEST, CONFIRMED, MOST = 150, 1500, 5000
"""Rows of a block up to which all are looked at in every state, in the pose that seems singular, and up to which any are."""
SHIFT, INVERSE_ITERATIONS = 1e-10, 12
"""What is added to G Gᵀ, whose rows are of length 1, so that it has factors in a singular pose; and how often it is solved with."""


def independence_here(
    model: AbsoluteModel, tables: MotionTables, kept: np.ndarray, q: np.ndarray, t: float, near: np.ndarray
) -> float:
    """Of the rows `kept` (nc,) bool, in blocks with loops; q (nb + 1, 7) of the bodies' origins."""
    least = np.inf
    for rows, G in _rows_of_blocks(model, tables, kept, q, t, near):
        L = np.linalg.qr(G.T, mode="r")
        least = min(least, float((np.diagonal(L) ** 2).min(initial=np.inf)) if len(L) == len(rows) else 0.0)
    return least


def margin_here(
    model: AbsoluteModel, tables: MotionTables, kept: np.ndarray, q: np.ndarray, t: float, near: np.ndarray
) -> float:
    """The least σ_r² of the rows of blocks with loops, r as many as are `kept` (nc,) bool."""
    least, ranks = np.inf, iter([int(kept[block.rows].sum()) for block in model.loop_blocks])
    for _, G in _rows_of_blocks(model, tables, np.ones_like(kept), q, t, near):
        sigma, r = np.linalg.svd(G, compute_uv=False), next(ranks)
        least = min(least, float(sigma[r - 1]) ** 2 if 0 < r <= len(sigma) else np.inf)
    return least


def margin_of_kept(
    model: AbsoluteModel, tables: MotionTables, kept: np.ndarray, q: np.ndarray, t: float, near: np.ndarray
) -> float:
    """The least σ² of the rows `kept` (nc,) bool of blocks with loops, by inverse iterations: no less than it is."""
    least, random = np.inf, np.random.default_rng(0)
    for rows, G in _sparse_rows_of_blocks(model, tables, kept, q, t, near):
        factors = splu((G @ G.T + SHIFT * identity(len(rows))).tocsc())
        x = random.standard_normal(len(rows))
        for _ in range(INVERSE_ITERATIONS):
            x = factors.solve(x / np.linalg.norm(x))
        least = min(least, float(np.linalg.norm(G.T @ x) / np.linalg.norm(x)) ** 2)
    return least


def may_be_looked_at(model: AbsoluteModel) -> bool:
    """Whether there are loops, and none is too large to be looked at in many states."""
    return 0 < _largest(model) <= MOST


def _largest(model: AbsoluteModel) -> int:
    """Rows of the largest block with loops."""
    return max((len(block.rows) for block in model.loop_blocks), default=0)


def singular_in(model: AbsoluteModel, kept: np.ndarray, length: float, states: Poses) -> float | None:
    """When a run passes a singular pose, by its states; None where it passes none. `kept` (nc,) bool: as many rows as are independent."""
    tables = motion_tables(model, kept, length, stiff_pairs(model))
    is_large = _largest(model) > LARGEST
    seen: dict[float, float] = {}

    def at(k: float, of: Callable[..., float]) -> float:
        q, t = pose_between(states, k)
        near = model.near(q, t) if states.near is None else states.near[round(k)]
        return of(model, tables, kept, q, t, near)

    def margin(k: float) -> float:
        seen[k] = at(k, margin_of_kept if is_large else margin_here)
        return seen[k]

    k, least, greatest = least_of_run(margin, len(states.t))
    if least < NEARLY * greatest and LARGEST < _largest(model) <= CONFIRMED:
        best = max(seen, key=seen.__getitem__)
        least, greatest = at(k, margin_here), at(best, margin_here)
    return pose_between(states, k)[1] if least < NEARLY * greatest else None


def pose_between(states: Poses, k: float) -> tuple[np.ndarray, float]:
    """Poses (nb + 1, 7) and the time at state k, or between two states: cubic in the places of bodies."""
    n, s = divmod(k, 1.0)
    i = int(n)
    if s == 0.0:
        return states.q[i], float(states.t[i])
    a, b, h = states.q[i], states.q[i + 1], float(states.t[i + 1] - states.t[i])
    q = (1.0 - s) * a + s * np.where((a[:, :4] * b[:, :4]).sum(axis=1) < 0.0, -1.0, 1.0)[:, None] * b
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1)[:, None]
    u, w, p = states.v[i, :, 3:], states.v[i + 1, :, 3:], b[:, 4:] - a[:, 4:]
    q[:, 4:] = a[:, 4:] + s * p + s * (1.0 - s) * ((1.0 - s) * (h * u - p) - s * (h * w - p))
    return q, float(states.t[i]) + s * h


def least_of_run(margin: Callable[[float], float], n: int) -> tuple[float, float, float]:
    """(k, its margin, the greatest margin) of the states 0 … n − 1 of a run that is nearest to a singular pose."""
    some = np.unique(np.linspace(0, n - 1, LOOKED_AT).astype(int)).tolist()
    seen = {k: margin(k) for k in some}
    greatest = max(seen.values())
    for i, k in enumerate(some):
        low, high = some[max(i - 1, 0)], some[min(i + 1, len(some) - 1)]
        if seen[k] > min(seen[low], seen[high]) or seen[k] > 0.5 * greatest:
            continue
        while high - low > 2:
            for x in ((low + k) // 2, (k + high + 1) // 2):
                seen.setdefault(x, -1.0)
                seen[x] = margin(x) if seen[x] < 0.0 else seen[x]
            inside = sorted({low, (low + k) // 2, k, (k + high + 1) // 2, high})
            k = min(inside, key=seen.__getitem__)
            at = inside.index(k)
            before = low, high
            low, high = inside[max(at - 1, 0)], inside[min(at + 1, len(inside) - 1)]
            if (low, high) == before:
                break
    k = min(seen, key=seen.__getitem__)
    if not seen[k] < CLOSE * greatest or n == 1:
        return k, seen[k], greatest
    low, high = max(k - 1.0, 0.0), min(k + 1.0, n - 1.0)
    for _ in range(BETWEEN):
        a, b = low + GOLDEN * (high - low), high - GOLDEN * (high - low)
        low, high = (low, b) if margin(a) < margin(b) else (a, high)
    x = 0.5 * (low + high)
    between = margin(x)
    return (x, between, greatest) if between < seen[k] else (k, seen[k], greatest)


def _rows_of_blocks(
    model: AbsoluteModel, tables: MotionTables, kept: np.ndarray, q: np.ndarray, t: float, near: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(rows, G) of every block with loops, of the rows `kept`."""
    for rows, G in _sparse_rows_of_blocks(model, tables, kept, q, t, near):
        yield rows, G.toarray()


def _sparse_rows_of_blocks(
    model: AbsoluteModel, tables: MotionTables, kept: np.ndarray, q: np.ndarray, t: float, near: np.ndarray
) -> Iterator[tuple[np.ndarray, csr_array]]:
    """The same, sparse."""
    per_mass, per_inertia = (np.divide(1.0, x, out=np.zeros(len(x)), where=x > 0.0) for x in _of_bodies(tables))
    nodes, gradients = model.incidence.nodes, model.row_gradients(q, t, near)
    com = model.mass[:, 1:4] / np.where(model.mass[:, 0] > 0.0, model.mass[:, 0], 1.0)[:, None]
    i, R = np.maximum(nodes, 0), rotation_matrix(q[:, :4])
    v = gradients[..., 3:]
    w = gradients[..., :3] + cross_product(np.einsum("rkij,rki->rkj", R[i], v), com[i])
    entries = np.concatenate([np.sqrt(per_inertia[i])[..., None] * w, np.sqrt(per_mass[i])[..., None] * v], axis=2)
    entries[nodes <= 0] = 0.0
    entries /= np.sqrt(row_shares(model, tables, q, t, near))[:, None, None]
    for block in model.loop_blocks:
        rows = block.rows[kept[block.rows]]
        places, columns = np.unique(i[rows], return_inverse=True)
        column = 6 * columns.reshape(i[rows].shape)[..., None] + np.arange(6)
        row = np.broadcast_to(np.arange(len(rows))[:, None, None], column.shape)
        shape = len(rows), 6 * len(places)
        yield rows, csr_array((entries[rows].ravel(), (row.ravel(), column.ravel())), shape=shape)


def _of_bodies(tables: MotionTables) -> tuple[np.ndarray, np.ndarray]:
    """Masses and mean moments of inertia (nb + 1,), as the step's matrix reckons rows by."""
    return tables.body[:, 0] + tables.spare[:, 1], tables.body[:, [1, 4, 6]].mean(axis=1) + tables.spare[:, 0]
