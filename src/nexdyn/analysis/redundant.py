"""The redundant rows of an assembled mechanism in words and numbers: consistent or not, structural or of this pose only.

A row that was dropped repeats what its circuit says; it is consistent if Σ stress · (C, ν, γ) = 0 at position, velocity
and acceleration level. It is structural if it is redundant too at a pose reached along the mechanism's own motions,
which is looked for block by block: what lies outside a block has no part in it.
"""

from __future__ import annotations

import numpy as np

from nexdyn.absolute.configuration import feasible_pose, row_units
from nexdyn.absolute.mobility import remaining_motions
from nexdyn.absolute.model import AbsoluteModel, part_of
from nexdyn.absolute.motion import consistent_velocity
from nexdyn.absolute.redundancy import Block, Redundancy, find_redundancy
from nexdyn.analysis.closing import OPEN, Closing
from nexdyn.analysis.report import RedundancyReport, RedundantRow

PROBE = 0.05
"""Size [rad, L] of the step along the mechanism's motions at which redundant rows are looked at again."""
PROBES = 3
"""Most steps that are tried until one closes again."""
ACCELERATIONS_AGREE = 1e-6
"""Dropped rows that differ by less in γ, in units of the mechanism's size, are consistent."""


def redundancy_report(
    model: AbsoluteModel, redundancy: Redundancy, q: np.ndarray, v: np.ndarray, gamma: np.ndarray, how: Closing
) -> RedundancyReport:
    """What `nx.assemble` reports of its redundant rows."""
    units = row_units(model, how.length)
    C = model.residual(q, how.t)
    Cv = model.jacobian(q, how.t) @ v[1:].reshape(-1) - model.nu(how.t, q)
    holds: dict[int, bool | None] = {}
    for block in redundancy.blocks:
        if block.dropped:
            holds |= _structural(model, block, q, how)
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
    gaps = [block.gap for block in redundancy.blocks if np.isfinite(block.gap)]
    return RedundancyReport(
        redundant=rows, constraints=model.nc, independent=redundancy.rank, grubler=model.nv - model.nc,
        dof=model.nv - redundancy.rank, rank_gap=min(gaps, default=np.inf), joints=len(model.system.joints),
        loops=len(redundancy.blocks), motions=remaining_motions(model, redundancy, q),
    )  # fmt: skip


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
