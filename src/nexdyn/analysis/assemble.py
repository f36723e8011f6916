"""`nx.assemble`: the four initial-condition analyses, in order, and the report.

    redundant constraints → initial configuration → initial velocity → initial acceleration and reactions

A described pose that violates its constraints is first made feasible with all rows; the redundant rows are those of
the assembled pose, and a row that was dropped but turns out violated is tried again, until the set no longer changes.
A system that cannot be assembled raises AssemblyError, which carries the report: which joints stay open, by how much.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from nexdyn.absolute.configuration import (
    Configuration,
    aligned_pose,
    difference,
    feasible_pose,
    nearest_pose,
    row_units,
)
from nexdyn.absolute.driving import driver_gaps, refuse_overdriven, without_drivers
from nexdyn.absolute.model import AbsoluteModel, absolute_model
from nexdyn.absolute.motion import accelerations, consistent_velocity, self_stresses
from nexdyn.absolute.redundancy import Redundancy, find_redundancy
from nexdyn.analysis.absolute_loads import generalized_forces, joint_state
from nexdyn.analysis.report import AssemblyReport, JointGap, RedundancyReport, RedundantRow
from nexdyn.errors import AssemblyError, InputError, SingularError, unknown
from nexdyn.model.system import System

ROUNDS = 5
"""Most times that the set of redundant rows is looked for again."""
CONSISTENT = 1e-8
"""A dropped row below this (in units of the mechanism's size) counts as satisfied."""
PROBE = 0.05
"""Step [rad] along each of the mechanism's motions at which redundant rows are looked at again."""


def assemble(
    system: System,
    *,
    weights: Mapping[str, Any] | None = None,
    locks: tuple[str, ...] = (),
    translation_limit: float | None = None,
    rotation_limit: float | None = None,
) -> AssemblyReport:
    """Analyse `system`: redundant rows, a consistent pose, velocity and acceleration, and every reaction.

    weights: {body: weight or six weights (rotations, then translations)} by which its displacement counts; 1 by default.
    locks: bodies that keep their described pose. translation_limit [m], rotation_limit [rad]: how far a body may move.

    Raises AssemblyError (its `report` says which joints stay open and which rows conflict); InputError.
    """
    for joint in system.joints.values():
        if joint.mimic is not None:
            raise InputError(
                f"{joint} mimics {joint.mimic.joint!r}, which absolute coordinates do not carry yet; load the robot with "
                f"mimic=False, or leave the mimic out"
            )
    model = absolute_model(system)
    length = mechanism_length(model)
    W = _weights(model, weights or {}, locks, length)
    redundancy, pose = _assembled(model, W, length)
    refuse_overdriven(model, redundancy, pose, W, length)
    report = AssemblyReport(model, redundancy=None, q=pose.q, iterations=pose.iterations, length=length)  # type: ignore[arg-type]
    _check_closed(report, pose, length)
    _check_limits(report, translation_limit, rotation_limit)

    report.v = _velocity(report, redundancy, W)
    gamma = model.gamma(pose.q, report.v)
    report.redundancy = _redundancy_report(model, redundancy, pose.q, report.v, gamma, W, length)
    _accelerate(report, redundancy, gamma)
    _warn(report)
    return report


def mechanism_length(model: AbsoluteModel) -> float:
    """The size of the mechanism [m]: the largest distance of a joint or body from their centre; 1 if all coincide."""
    points = [model.q[1:, 4:]]
    for side in (0, 1):
        i = model.tables.pairs[:, side]
        points.append(
            model.q[i, 4:] + np.linalg.norm(model.tables.frames[:, 12 * side + 9 : 12 * side + 12], axis=1)[:, None]
        )
    cloud = np.concatenate(points) if model.nb else np.zeros((1, 3))
    spread = float(np.linalg.norm(cloud - cloud.mean(axis=0), axis=1).max(initial=0.0))
    return spread if spread > 1e-12 else 1.0


def _weights(model: AbsoluteModel, weights: Mapping[str, Any], locks: tuple[str, ...], length: float) -> np.ndarray:
    """W (6 nb,): rotations count in rad, translations in L."""
    W = np.ones((model.nb, 6))
    for name, weight in weights.items():
        if name not in model.system.bodies:
            raise unknown("body", name, model.system.bodies, plural="bodies")
        w = np.asarray(weight, dtype=float)
        if w.shape not in ((), (6,)) or not np.isfinite(w).all() or not (w > 0.0).all():
            raise InputError(
                f"weight of body {name!r} is {weight!r}; a positive number, or six (rotations, translations)"
            )
        W[model.body_index[name] - 1] = w
    for name in locks:
        if name not in model.system.bodies:
            raise unknown("body", name, model.system.bodies, plural="bodies")
        W[model.body_index[name] - 1] *= 1e8
    W[:, 3:] /= length**2
    return W.reshape(-1)


def _assembled(model: AbsoluteModel, W: np.ndarray, length: float) -> tuple[Redundancy, Configuration]:
    """The redundant rows of the assembled pose, and the pose."""
    units = row_units(model, length)
    q0 = model.q
    if np.abs(units * model.residual(q0)).max(initial=0.0) < 1e-11:
        pose = Configuration(q0, 0, float(np.abs(units * model.residual(q0)).max(initial=0.0)), True)
        return find_redundancy(model, q0), pose
    pose = feasible_pose(model, q0, W, length)
    for increments in (4, 16):
        if pose.converged:
            break
        retry = feasible_pose(model, q0, W, length, increments)
        pose = retry if retry.residual < pose.residual else pose
    if not pose.converged or flipped_joints(model, pose.q):
        aligned = feasible_pose(model, aligned_pose(model, q0), W, length)
        if aligned.converged and not flipped_joints(model, aligned.q):
            pose = aligned
    redundancy = find_redundancy(model, pose.q)
    if not pose.converged:
        return redundancy, pose
    for _ in range(ROUNDS):
        try:
            nearest = nearest_pose(model, pose.q, q0, redundancy.kept, W, length)
        except SingularError:
            break
        if not nearest.converged or flipped_joints(model, nearest.q):
            break  # the feasible pose stands
        again = find_redundancy(model, nearest.q)
        same = bool((again.kept == redundancy.kept).all())
        pose = Configuration(nearest.q, pose.iterations + nearest.iterations, nearest.residual, True)
        redundancy = again
        if same:
            break
    return redundancy, pose


def joint_gaps(model: AbsoluteModel, q: np.ndarray, length: float) -> list[JointGap]:
    """Joints that stay open at q: distance [m] and misalignment [rad], the widest first."""
    C = model.residual(q)
    gaps = []
    for joint, rows in model.rows_of_joint.items():
        position = [C[r] for r in rows if model.rows[r].equation in ("DX", "DY", "DZ", "Screw", "Distance")]
        turn = [C[r] for r in rows if model.rows[r].equation.startswith(("Dot", "Angle"))]
        gap, angle = float(np.linalg.norm(position)), float(np.arcsin(min(1.0, float(np.linalg.norm(turn)))))
        if gap > CONSISTENT * length or angle > CONSISTENT:
            gaps.append(JointGap(joint, gap, angle))
    for driver, gap, turns in driver_gaps(model, q):
        if gap > CONSISTENT * (1.0 if turns else length):
            gaps.append(JointGap(driver, 0.0 if turns else gap, gap if turns else 0.0, driver=True))
    return sorted(gaps, key=lambda g: -max(g.distance / length, g.angle))


def flipped_joints(model: AbsoluteModel, q: np.ndarray) -> list[str]:
    """Joints whose directions are met 180° round: products that vanish allow both senses."""
    from nexdyn.absolute.motion import _rotation

    found = []
    for k, (name, joint) in enumerate(model.system.joints.items()):
        equations = {equation for equation, _ in joint.rows}
        a, b = model.tables.pairs[k]
        R_A = _rotation(q[a]) @ model.tables.frames[k, :9].reshape(3, 3)
        R_B = _rotation(q[b]) @ model.tables.frames[k, 12:21].reshape(3, 3)
        D = R_A.T @ R_B
        aligned = {"DotZX", "DotZY"} <= equations
        if (aligned and D[2, 2] < 0.0) or (aligned and "DotXY" in equations and (D[0, 0] < 0.0 or D[1, 1] < 0.0)):
            found.append(name)
    return found


def _check_closed(report: AssemblyReport, pose: Configuration, length: float) -> None:
    model = report.model
    report.gaps = joint_gaps(model, pose.q, length)
    report.flipped = flipped_joints(model, pose.q)
    if not pose.converged:
        shown = "; ".join(str(gap) for gap in report.gaps[:5]) or f"|C| = {pose.residual:.3g}"
        driven = "".join(f"what driver {driver.name!r} asks for, " for driver in model.drivers[:3])
        raise AssemblyError(
            f"system {model.system.name!r} cannot be assembled: {shown}; check {driven}lengths, anchors and axes",
            report=report,
        )
    if report.flipped:
        raise AssemblyError(
            f"system {model.system.name!r} closes only with joint {report.flipped[0]!r} turned 180° round; "
            f"describe the pose nearer to the assembled one, or turn the axis of one side",
            report=report,
        )


def _check_limits(report: AssemblyReport, translation: float | None, rotation: float | None) -> None:
    away = difference(report.q, report.model.q)
    turns, shifts = np.linalg.norm(away[:, :3], axis=1), np.linalg.norm(away[:, 3:], axis=1)
    for values, limit, unit in ((shifts, translation, "m"), (turns, rotation, "rad")):
        if limit is not None and values.size and values.max() > limit:
            body = report.model.bodies[1 + int(values.argmax())]
            raise AssemblyError(
                f"body {body!r} moves by {values.max():.3g} {unit} when assembled, more than the limit {limit:g} {unit}; "
                f"check the described pose",
                report=report,
            )


def _velocity(report: AssemblyReport, redundancy: Redundancy, W: np.ndarray) -> np.ndarray:
    model = report.model
    nu = model.nu()
    return consistent_velocity(model, report.q, model.v, redundancy.kept, nu, W, _given_velocities(model, report.q))


def _given_velocities(model: AbsoluteModel, q: np.ndarray) -> tuple[sp.csr_matrix, np.ndarray] | None:
    """The velocities v0 that joints are given, as rows on the bodies' velocities: H⁺ (V_child − V_parent) = v0."""
    values = model.system.values
    given = [joint for joint in model.system.joints.values() if joint.v0 is not None and joint.nv]
    if not given:
        return None
    blocks, right = [], []
    for joint in given:
        a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
        rows = np.zeros((joint.nv, 6 * len(model.bodies)))
        for body in {a, b}:
            for i in range(6):
                v = np.zeros((len(model.bodies), 6))
                v[body, i] = 1.0
                rows[:, 6 * body + i] = joint_state(model, joint, q, v)[1]
        blocks.append(rows[:, 6:])
        right.append(np.asarray(joint.resolved(values).v0))
    return sp.csr_matrix(np.concatenate(blocks)), np.concatenate(right)


def _accelerate(report: AssemblyReport, redundancy: Redundancy, gamma: np.ndarray) -> None:
    model = report.model
    try:
        a, lam, kkt = accelerations(
            model, report.q, report.v, generalized_forces(model, report.q, report.v), redundancy.kept, gamma
        )
    except SingularError:
        massless = [name for i, name in enumerate(model.bodies) if i and model.mass[i, 0] == 0.0]
        about = f"bodies without mass: {', '.join(massless[:5])}" if massless else "check masses and inertias"
        raise SingularError(f"the accelerations of {model.system.name!r} are not determined; {about}") from None
    if not (np.isfinite(a).all() and np.isfinite(lam).all()):
        raise SingularError(f"the accelerations of {model.system.name!r} are not finite; check masses and inertias")
    report.a, report.multipliers = a, lam
    report.pivot_ratio = kkt.pivot_ratio
    report.stresses = self_stresses(model, redundancy)


def _redundancy_report(
    model: AbsoluteModel, redundancy: Redundancy, q: np.ndarray, v: np.ndarray, gamma: np.ndarray, W: np.ndarray,
    length: float,
) -> RedundancyReport:  # fmt: skip
    units = row_units(model, length)
    C = model.residual(q)
    Cv = model.jacobian(q) @ v[1:].reshape(-1)
    dof = model.nv - redundancy.rank
    structural = _structural(*without_drivers(model, redundancy), q, W, length, dof + len(model.drivers))
    rows = []
    for found in redundancy.dropped:
        # a consistent row repeats what its circuit says: Σ stress · (C, ν, γ) = 0
        off = [abs(x[found.row] - sum(c * x[r] for r, c in found.depends_on.items())) for x in (C, Cv, gamma)]
        row = model.rows[found.row]
        rows.append(
            RedundantRow(
                joint=row.joint,
                equation=row.equation,
                direction=row.direction,
                priority=row.priority,
                depends_on={str(model.rows[r]): c for r, c in sorted(found.depends_on.items())},
                alternatives=[str(model.rows[r]) for r in found.alternatives],
                conflict=(off[0], off[1], off[2]),
                consistent=bool(
                    max(off[0], off[1]) * units[found.row] < CONSISTENT and off[2] * units[found.row] < 1e-6
                ),
                structural=structural.get(found.row),
            )
        )
    joints = model.system.joints
    grubler = model.nv - model.nc
    gaps = [block.gap for block in redundancy.blocks if np.isfinite(block.gap)]
    return RedundancyReport(
        redundant=rows, constraints=model.nc, independent=redundancy.rank, grubler=grubler, dof=dof,
        rank_gap=min(gaps, default=np.inf), joints=len(joints), loops=len(redundancy.blocks),
    )  # fmt: skip


def _structural(
    model: AbsoluteModel, redundancy: Redundancy, q: np.ndarray, W: np.ndarray, length: float, dof: int
) -> dict[int, bool | None]:
    """Whether each dropped row is redundant also at poses reached along the mechanism's own motions."""
    if not redundancy.dropped:
        return {}
    if dof == 0:
        return {found.row: None for found in redundancy.dropped}
    holds: dict[int, bool | None] = {found.row: True for found in redundancy.dropped}
    rng = np.random.default_rng(0)
    reached = 0
    for _ in range(2):
        push = np.zeros((model.nb + 1, 6))
        push[1:] = rng.normal(size=(model.nb, 6)) * ([1.0] * 3 + [length] * 3)
        direction = consistent_velocity(model, q, push, redundancy.kept, np.zeros(model.nc), W)[1:].reshape(-1)
        size = np.abs(direction.reshape(-1, 6) / ([1.0] * 3 + [length] * 3)).max()
        if size < 1e-9:
            continue
        # all rows that hold everywhere keep holding, so that feasibility is asked of all of them
        moved = feasible_pose(model, model.moved(q, PROBE / size * direction), W, length)
        if not moved.converged:
            continue
        reached += 1
        there = find_redundancy(model, moved.q)
        if len(there.dropped) < len(redundancy.dropped):
            still = {found.row for found in there.dropped}
            for row in holds:
                holds[row] = bool(holds[row]) and row in still
    return holds if reached else {row: None for row in holds}  # noqa: C420


def _warn(report: AssemblyReport) -> None:
    found = report.redundancy
    if found.dof == 0 and report.model.nb and not report.model.drivers:
        report.warnings.append("LOCKED: the mechanism has no degree of freedom left; nothing can move")
    for row in found.redundant:
        if not row.consistent:
            report.warnings.append(f"CONFLICT: {row.joint}.{row.equation} contradicts the rows that it depends on")
    if report.pivot_ratio < 1e-14:
        report.warnings.append(f"ill-conditioned: the pivots of the equations of motion span {report.pivot_ratio:.1e}")
