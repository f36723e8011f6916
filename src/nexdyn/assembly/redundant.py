"""The redundant rows of an assembled mechanism in words and numbers: consistent or not, structural or of this pose only.

A row that was dropped repeats what its circuit says; it is consistent if Σ stress · (C, ν, γ) = 0 at position, velocity
and acceleration level. It is structural if it is redundant too at a pose reached along the mechanism's own motions,
which is looked for block by block: what lies outside a block has no part in it.

A motion v with Cq v = 0 goes on to second order only if Cq a = γ(v, v) has a solution, that is if Ω γ(v, v) = 0 for every
self-stress ω, Ω Cq = 0. Where a sum of the forms ω · γ(v, v) is definite on all that Cq leaves, no motion does: the block is
shaky, rigid to second order, although degrees of freedom are counted (Connelly & Whiteley, SIAM J. Discrete Math. 9, 1996).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from nexdyn.absolute.model.configuration import feasible_pose, row_units
from nexdyn.absolute.model.initial import consistent_velocity, self_stresses
from nexdyn.absolute.model.mobility import remaining_motions
from nexdyn.absolute.model.model import AbsoluteModel, part_of
from nexdyn.absolute.model.redundancy import Block, Redundancy, find_redundancy
from nexdyn.assembly.closing import OPEN, Closing
from nexdyn.assembly.report import AssemblyReport, RedundancyReport, RedundantRow
from nexdyn.linalg.matrices import dense

PROBE = 0.05
"""Size [rad, L] of the step along the mechanism's motions at which redundant rows are looked at again."""
PROBES = 3
"""Most steps that are tried until one closes again."""
LARGEST = 600
"""Velocities of a block up to which its second order is looked at."""
SUMS = 50
"""Sums of self-stresses that are tried, besides each alone."""
SECOND_ORDER = 1e-6
"""A form ω · γ(v, v) is definite where its eigenvalues exceed this, for motions of size 1 and rows in units of the block."""
ACCELERATIONS_AGREE = 1e-6
"""Dropped rows that differ by less in γ, in units of the mechanism's size, are consistent."""


def redundancy_report(
    model: AbsoluteModel, redundancy: Redundancy, q: np.ndarray, v: np.ndarray, gamma: np.ndarray, how: Closing
) -> RedundancyReport:
    """What `nx.assemble` reports of its redundant rows."""
    units = row_units(model, how.length)
    C = model.residual(q, how.t)
    Cv = model.jacobian(q, how.t) @ v[1:].reshape(-1) - model.nu(how.t, q)
    holds = structural_rows(model, redundancy, q, how)
    shaky: list[str] = []
    for block in redundancy.blocks:
        if not all(holds[d.row] for d in block.dropped) and _rigid_to_second_order(model, block, q, how):
            shaky += [name for k, name in enumerate(model.system.joints) if k in set(block.shape.elements)]
    names = [str(row) for row in model.rows] if redundancy.dropped else []
    rows = []
    for found in redundancy.dropped:
        off = [float(abs(x[found.row] - found.coefficients @ x[found.rows])) for x in (C, Cv, gamma)]
        row, unit = model.rows[found.row], units[found.row]
        depends_on = dict(zip([names[r] for r in found.rows.tolist()], found.coefficients.tolist(), strict=True))
        rows.append(
            RedundantRow(
                joint=row.joint or (row.coupling or ""),
                equation=row.equation,
                direction=row.direction,
                priority=row.priority,
                depends_on=depends_on,
                alternatives=list(depends_on),
                conflict=(off[0], off[1], off[2]),
                consistent=bool(max(off[0], off[1]) * unit < OPEN and off[2] * unit < ACCELERATIONS_AGREE),
                structural=holds.get(found.row),
            )
        )
    acting = int(model.acting.sum())
    gaps = [block.gap for block in redundancy.blocks if np.isfinite(block.gap)]
    return RedundancyReport(
        redundant=rows, constraints=acting, independent=redundancy.rank, grubler=model.nv - acting,
        dof=model.nv - redundancy.rank, rank_gap=min(gaps, default=np.inf), joints=len(model.system.joints),
        loops=len(redundancy.blocks), motions=remaining_motions(model, redundancy, q),
        shaky=shaky,
    )  # fmt: skip


def structural_rows(
    model: AbsoluteModel, redundancy: Redundancy, q: np.ndarray, how: Closing
) -> dict[int, bool | None]:
    """Whether each dropped row is redundant also at another pose of its block; None where that has no other."""
    holds: dict[int, bool | None] = {}
    for block in redundancy.blocks:
        if block.dropped:
            holds |= _structural(model, block, q, how)
    return holds


def _structural(model: AbsoluteModel, block: Block, q: np.ndarray, how: Closing) -> dict[int, bool | None]:
    """Whether each dropped row of a block is redundant also at another of its poses; None where it has no other."""
    part, rows = part_of(model, block.shape, model.near(q, how.t))
    here = q[block.shape.bodies]
    number_of = {r: i for i, r in enumerate(rows.tolist())}
    dropped = [found.row for found in block.dropped if found.row in number_of]
    now = find_redundancy(part, here, how.t)
    unknown: dict[int, bool | None] = dict.fromkeys(dropped, None)
    if part.nv == now.rank:
        return unknown
    L = block.length
    size = np.array([1.0] * 3 + [L] * 3)
    W = np.tile(1.0 / size**2, part.nb)
    rng = np.random.default_rng(0)
    for _ in range(PROBES):
        push = np.zeros((part.nb + 1, 6))
        push[1:] = rng.normal(size=(part.nb, 6)) * size
        direction = consistent_velocity(part, here, push, now.kept, np.zeros(part.nc), W, t=how.t)[1:].reshape(-1)
        far = float(np.abs(direction.reshape(-1, 6) / size).max())
        if far < 1e-9:
            continue
        # all rows that hold everywhere keep holding, so that feasibility is asked of all of them
        moved = feasible_pose(part, part.moved(here, PROBE / far * direction), W, L, t=how.t)
        if not moved.converged:
            continue
        there = find_redundancy(part, moved.q, how.t)
        if len(there.dropped) == len(now.dropped):
            return dict.fromkeys(dropped, True)
        still = {found.row for found in there.dropped}
        return {row: number_of[row] in still for row in dropped}
    return unknown


def _rigid_to_second_order(model: AbsoluteModel, block: Block, q: np.ndarray, how: Closing) -> bool:
    """Whether a sum of ω · γ(v, v) over the self-stresses of a block is definite on the motions that it has to first order."""
    part, _ = part_of(model, block.shape, model.near(q, how.t))
    if part.nv > LARGEST:
        return False
    here, L = q[block.shape.bodies], block.length
    size = np.tile([1.0] * 3 + [L] * 3, part.nb)
    jacobian = part.jacobian(here, how.t)
    Cq = dense(jacobian) * size * row_units(part, L)[:, None]
    T = scipy.linalg.null_space(Cq, rcond=1e-9, check_finite=False)
    stresses = self_stresses(part, find_redundancy(part, here, how.t)).toarray().T
    stresses /= np.linalg.norm(stresses / row_units(part, L), axis=1, keepdims=True)
    if not T.shape[1] or not len(stresses):
        return False

    def gamma(y: np.ndarray) -> np.ndarray:
        v = np.zeros((part.nb + 1, 6))
        v[1:] = (size * (T @ y)).reshape(-1, 6)
        return np.asarray(part.gamma(here, v, how.t))

    def form(y: np.ndarray) -> np.ndarray:  # what is of second order in y
        return stresses @ (0.5 * (gamma(y) + gamma(-y)) - gamma(np.zeros_like(y)))

    d = np.eye(T.shape[1])
    own = np.array([form(y) for y in d])
    M = np.array([[0.5 * (form(a + b) - own[i] - own[j]) for j, b in enumerate(d)] for i, a in enumerate(d)])
    sums = np.concatenate([np.eye(len(stresses)), np.random.default_rng(0).normal(size=(SUMS, len(stresses)))])
    values = np.linalg.eigvalsh(np.einsum("ijk,nk->nij", M, sums))
    one_sign = (np.sign(values) == np.sign(values[:, :1])).all(axis=1)
    return bool((one_sign & (np.abs(values).min(axis=1) > SECOND_ORDER)).any())


def kept_rows(report: AssemblyReport) -> np.ndarray:
    """Rows (nc,) of a run, of those that act: redundant ones are left out, but those that are so in this pose only."""
    index = {(row.joint, row.equation): row.index for row in report.model.rows if row.driver is None}
    kept = report.model.acting.copy()
    for row in report.redundancy.redundant:
        if row.structural is not False and (row.joint, row.equation) in index:
            kept[index[row.joint, row.equation]] = False
    return kept
