"""Which constraint rows are kept where some repeat others, chosen anew as the mechanism moves.

Rows that are redundant depend on the others by self-stresses n, nᵀ Cq = 0 (``redundancy``). Which of them may be left out
depends on the pose: those kept are as independent as the part of N that belongs to the rows left out,

    σ_min(G_kept) ≥ σ_min(G) σ_min(N_out),      G = D⁻¹ Cq M^(−½), rows of length 1, N orthonormal, nᵀ G = 0

where σ_min(G) is the smallest singular value that is not zero. Two kinds of pose are told apart: where N_out is singular, these
rows have become dependent and another choice helps, which pivoting of Nᵀ finds; where σ_min(G) is small, the rank of Cq itself
falls, and no choice helps.

Multipliers of another choice that put the same forces on the bodies are λ + n x, with x such that those left out are zero.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from nexdyn.absolute.model.blocks import LoopBlock
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.absolute.model.redundancy import stresses_of_blocks
from nexdyn.absolute.motion.tables import Masses, MotionTables, Spares
from nexdyn.linalg.rows import WIDTH
from nexdyn.spatial.rotations import cross_product, rotation_matrix

BETTER = 2.0
"""By how much a choice must be more independent than that at hand to take its place."""
PREFERRED = 3.0
"""By how much a row of lower priority is rather left out than one of the next higher, …"""
HELD = 1e3
"""… and one of velocities than one of positions, which it follows from but for a constant."""
LARGEST = 500_000
"""Numbers of a block's self-stresses up to which its rows are chosen anew."""
WATCHED = 600
"""Rows of a block up to which it is watched where none can be chosen in place of others."""


Stresses = list[tuple[LoopBlock, np.ndarray]]
"""Of each block in which rows are left out, N (rows of the block, n) in the units of the rows."""


def stresses_here(model: AbsoluteModel, q: np.ndarray, t: float, near: np.ndarray, kept: np.ndarray) -> Stresses | None:
    """Those at q; None where the rank of Cq is not the number of rows `kept` (nc,) bool."""
    found = stresses_of_blocks(model, q, t, near, ~kept)
    return found if all(N.shape[1] == (~kept[shape.rows]).sum() for shape, N in found) else None


def carried(stresses: Stresses, kept: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """Multipliers (nc,) that are zero on the rows left out and put the same forces on the bodies as `lam`."""
    lam = lam.copy()
    for shape, N in stresses:
        out = ~kept[shape.rows]
        lam[shape.rows] -= N @ np.linalg.solve(N[out], lam[shape.rows[out]])
    lam[~kept] = 0.0
    return lam


def left_out(model: AbsoluteModel, kept: np.ndarray) -> bool:
    """Whether a block leaves rows out, and none too many for another choice."""
    counts = [int((~kept[shape.rows]).sum()) for shape in model.loop_blocks]
    sizes = [count * len(shape.rows) for count, shape in zip(counts, model.loop_blocks, strict=True)]
    return 0 < max(sizes, default=0) <= LARGEST


def row_shares(model: AbsoluteModel, tables: MotionTables, q: np.ndarray, t: float, near: np.ndarray) -> np.ndarray:
    """The diagonal of Cq M⁻¹ Cqᵀ (nc,), about, as ``equations`` reckons it; q (nb + 1, 7) of the bodies' origins."""
    spare = Spares(tables.spare)
    m, J = Masses(tables.body).m + spare.m, tables.body[:, [1, 4, 6]].mean(axis=1) + spare.J
    per_mass, per_inertia = (np.divide(1.0, x, out=np.zeros(len(x)), where=x > 0.0) for x in (m, J))
    com = model.mass[:, 1:4] / np.where(model.mass[:, 0] > 0.0, model.mass[:, 0], 1.0)[:, None]
    nodes = model.incidence.nodes
    i = np.maximum(nodes, 0)
    gradients = model.row_gradients(q, t, near)
    v, R = gradients[..., 3:], rotation_matrix(q[:, :4])[i]
    w = gradients[..., :3] + cross_product(np.einsum("rkij,rki->rkj", R, v), com[i])
    share = per_mass[i] * (v**2).sum(axis=2) + per_inertia[i] * (w**2).sum(axis=2)
    total: np.ndarray = np.where(nodes > 0, share, 0.0).sum(axis=1)
    return np.maximum(total, 1e-30 * max(float(total.max(initial=0.0)), 1e-270))


def watched_rows(tables: MotionTables, kept: np.ndarray, model: AbsoluteModel, shares: np.ndarray) -> np.ndarray:
    """(ng, 8): reciprocal shares of the kept rows of blocks with loops, else 0 (``equations.independence``); (0, 8) where there are
    none. Of blocks beyond `WATCHED` rows those in which some are left out."""
    watched = np.zeros((len(tables.offset), WIDTH))
    of_block = np.zeros(model.nc, dtype=bool)
    for shape in model.loop_blocks:
        if len(shape.rows) <= WATCHED or not kept[shape.rows].all():
            of_block[shape.rows] = True
    if not of_block.any():
        return watched[:0]
    for g, c, r in tables.rows.tolist():
        if of_block[r]:
            watched[g, c] = 1.0 / shares[r]
    return watched


def choose_rows(
    model: AbsoluteModel, stresses: Stresses, kept: np.ndarray, shares: np.ndarray
) -> np.ndarray | None:  # fmt: skip
    """As many rows (nc,) bool as `kept` that are more independent where the `stresses` are; None where none are clearly so."""
    chosen, better = kept.copy(), False
    movable = np.array([row.driver is None for row in model.rows], dtype=bool)
    weight = _weights(model)
    for shape, N in stresses:
        rows, here = shape.rows, np.flatnonzero(movable[shape.rows])
        Z = np.linalg.qr(N * np.sqrt(shares[rows])[:, None])[0]
        order = scipy.linalg.qr((Z * weight[rows, None])[here].T, mode="r", pivoting=True, check_finite=False)[1]
        out = here[order[: N.shape[1]]]
        before, after = (np.linalg.svd(x, compute_uv=False)[-1] for x in (Z[~kept[rows]], Z[out]))
        if after > BETTER * before:
            better = True
            chosen[rows] = True
            chosen[rows[out]] = False
    return chosen if better else None


def _weights(model: AbsoluteModel) -> np.ndarray:
    """How willingly each row (nc,) is left out: those of joints of low priority rather, of velocities before all others."""
    _, rank = np.unique(model.row_priority, return_inverse=True)
    weight = PREFERRED ** -np.minimum(rank, 4).astype(float)
    return weight if model.positional.all() else np.where(model.positional, weight / HELD, weight)
