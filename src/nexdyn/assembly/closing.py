"""Closing a mechanism: a pose that satisfies its constraints, with the redundant rows of that pose.

A described pose that violates them is first made feasible with all rows, then the nearest one is sought with the rows
that are kept; the redundant rows are those of the assembled pose, looked for again until the set no longer changes.
What stays open is named, and so are joints that close only 180° round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nexdyn.absolute.model.configuration import (
    EPS_Q,
    MAX_ITERATIONS,
    Configuration,
    aligned_pose,
    feasible_pose,
    least_gap_pose,
    nearest_pose,
    row_units,
)
from nexdyn.absolute.model.kkt import Solver
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.absolute.model.redundancy import Redundancy, find_redundancy
from nexdyn.assembly.report import JointGap
from nexdyn.errors import SingularError
from nexdyn.spatial.rotations import rotation_matrix

ROUNDS = 5
"""Most times that the set of redundant rows is looked for again."""
CLOSED = 1e-11
"""A described pose with residuals below this, in units of the mechanism's size, is taken as it is."""
OPEN = 1e-8
"""A joint that is off by more, in units of the mechanism's size, is open."""


@dataclass(frozen=True)
class Closing:
    """How to close: W (6 nb,) weights, length [m] the mechanism's size, t [s] of the drivers, the solver, and when to stop."""

    W: np.ndarray
    length: float
    t: float = 0.0
    solver: Solver = "lu"
    tolerance: float = EPS_Q
    iterations: int = MAX_ITERATIONS

    @property
    def options(self) -> dict[str, Any]:
        """What the iterations of `configuration` take."""
        return {"t": self.t, "solver": self.solver, "tolerance": self.tolerance, "iterations": self.iterations}


def closed_pose(model: AbsoluteModel, q0: np.ndarray, how: Closing) -> tuple[Redundancy, Configuration]:
    """The redundant rows of the assembled pose, and the pose nearest to q0."""
    units = row_units(model, how.length)
    size = float(np.abs(units * model.residual(q0, how.t)).max(initial=0.0))
    if size < CLOSED:
        return find_redundancy(model, q0, how.t), Configuration(q0, 0, size, True)
    pose = feasible_pose(model, q0, how.W, how.length, **how.options)
    for increments in (4, 16):
        if pose.converged:
            break
        retry = feasible_pose(model, q0, how.W, how.length, increments, **how.options)
        pose = retry if retry.residual < pose.residual else pose
    if not pose.converged or flipped_joints(model, pose.q):
        aligned = feasible_pose(model, aligned_pose(model, q0), how.W, how.length, **how.options)
        if aligned.converged and not flipped_joints(model, aligned.q):
            pose = aligned
    if not pose.converged:
        open_pose = least_gap_pose(model, pose.q, how.W, how.length, how.t, how.solver)
        return find_redundancy(model, open_pose.q, how.t), open_pose
    redundancy = find_redundancy(model, pose.q, how.t)
    for _ in range(ROUNDS):
        try:
            nearest = nearest_pose(
                model, pose.q, q0, redundancy.kept, how.W, how.length, **how.options
            )  # fmt: skip
        except SingularError:
            break
        if not nearest.converged or flipped_joints(model, nearest.q):
            break  # the feasible pose stands
        again = find_redundancy(model, nearest.q, how.t)
        same = bool((again.kept == redundancy.kept).all())
        pose = Configuration(nearest.q, pose.iterations + nearest.iterations, nearest.residual, True)
        redundancy = again
        if same:
            break
    return redundancy, pose


def joint_gaps(model: AbsoluteModel, q: np.ndarray, how: Closing) -> list[JointGap]:
    """Joints, drivers and couplings that stay open at q: distance [m] and misalignment [rad], the widest first."""
    C = model.residual(q, how.t)
    off = np.abs(C) * row_units(model, how.length) > OPEN
    open_rows: dict[tuple[str, str], list[int]] = {}
    for r in np.flatnonzero(off).tolist():
        open_rows.setdefault(model.rows[r].owner, []).append(r)
    gaps = []
    for (kind, name), rows in open_rows.items():
        lengths = [C[r] for r in rows if model.row_is_length[r]]
        turns = [C[r] for r in rows if not model.row_is_length[r]]
        turned = float(np.linalg.norm(turns))
        angle = float(np.arcsin(min(1.0, turned))) if kind == "joint" else turned
        equations = tuple(model.rows[r].equation for r in rows)
        gaps.append(JointGap(name, float(np.linalg.norm(lengths)), angle, kind, equations))
    return sorted(gaps, key=lambda gap: -max(gap.distance / how.length, gap.angle))


def flipped_joints(model: AbsoluteModel, q: np.ndarray) -> list[str]:
    """Joints whose directions are met 180° round: products that vanish allow both senses."""
    k, axis, turns = model.joints_with_directions
    if not len(k):
        return []
    a, b = model.tables.pairs[k].T
    R_A = rotation_matrix(q[a, :4]) @ model.tables.frames[k, :9].reshape(-1, 3, 3)
    R_B = rotation_matrix(q[b, :4]) @ model.tables.frames[k, 12:21].reshape(-1, 3, 3)
    same = np.einsum("kji,kji->ki", R_A, R_B)
    flipped = (same[np.arange(len(k)), axis] < 0.0) | (~turns & (same < 0.0).any(axis=1))
    names = list(model.system.joints)
    return [names[i] for i in k[flipped].tolist()]
