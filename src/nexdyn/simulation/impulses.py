"""Impacts: velocities after an impulse along one freedom of a joint, the others free to follow, and after clamps have been switched on.

v⁺ = v − (1 + ε) v_j u / (h · u),   u = M⁻¹ h          a tree, u by two passes of ABA: M⁻¹ (τ + h − b) − M⁻¹ (τ − b)
[ M   Cqᵀ ] [u]   [ h ]
[ Cq  0   ] [Λ] = [ 0 ]                                 with rows, h the wrench of a unit effort in the joint

[ M   Cqᵀ ] [v⁺]   [ M v ]
[ Cq  0   ] [Λ ] = [ ν   ]                              clamps among the rows of Cq: they take the motion that they do not allow at once
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nexdyn.absolute.model.kkt import factor_kkt
from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.assembly.assemble import Start, assemble
from nexdyn.assembly.loads import _effort, joint_state
from nexdyn.assembly.redundant import kept_rows
from nexdyn.assembly.report import AssemblyReport
from nexdyn.assembly.start_velocity import floating_bodies
from nexdyn.model.system import System
from nexdyn.simulation.continuing import seen_bodies
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.tree.tree import Tree


def on_tree(
    tree: Tree, q: np.ndarray, v: np.ndarray, joint: str, freedom: int, restitution: float
) -> dict[str, np.ndarray]:
    """Velocities by joint after one degree of freedom of a joint of a tree has bounced."""
    h, still = np.zeros((2, tree.nv))
    j = tree.coordinates[joint].v.start + freedom
    h[j] = 1.0
    u = tree.aba(q, still, h) - tree.aba(q, still, still)
    v = v - (1.0 + restitution) * v[j] * u / u[j]
    return {name: v[place.v] for name, place in tree.coordinates.items()}


def with_rows(
    system: System, t: float, observed: Any, joint_name: str, freedom: int, restitution: float
) -> dict[str, np.ndarray]:
    """The same of a mechanism with rows, where its bodies are `observed`."""
    names = [name for name, joint in system.joints.items() if joint.nv and joint.tree]
    q0 = {name: observed.of_joint("joint_position", name)[0] for name in names}
    report = assemble(system, t=t, initial=Start(*seen_bodies(observed, absolute_model(system)), q0))
    model, q, v = report.model, report.q, report.v
    joint = system.joint(joint_name)
    _, rates, H = joint_state(model, joint, q, v)
    unit = np.zeros(joint.nv)
    unit[freedom] = 1.0
    R = rotation_matrix(q[:, :4])
    a, b, on_a, on_b = _effort(model, joint, R, q, H, unit)
    h = np.zeros((model.nb + 1, 6))
    for body, wrench in ((a, on_a), (b, on_b)):
        h[body] += np.concatenate([R[body].T @ wrench[:3], wrench[3:]])
    kept = kept_rows(report)
    kkt = factor_kkt(model.mass_matrix(q), model.jacobian(q, t)[kept])
    u, _ = kkt.solve(h[1:].reshape(-1), np.zeros(int(kept.sum())))
    jump = np.zeros_like(v)
    jump[1:] = u.reshape(-1, 6)
    _, along, _ = joint_state(model, joint, q, jump)
    v = v - (1.0 + restitution) * rates[freedom] / along[freedom] * jump
    return _by_joint(model, q, v)


def _by_joint(model: AbsoluteModel, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """Velocities by joint that a tree carries, and by floating body."""
    system, R = model.system, rotation_matrix(q[:, :4])
    names = [name for name, joint in system.joints.items() if joint.nv and joint.tree]
    floating = {name: model.body_index[name] for name in floating_bodies(system)}
    return {name: joint_state(model, system.joint(name), q, v)[1] for name in names} | {
        name: np.concatenate([v[i, :3], R[i].T @ v[i, 3:]]) for name, i in floating.items()
    }


def held_by(report: AssemblyReport, clamps: Iterable[str]) -> dict[str, list[float]]:
    """Frame B (R_BJ by rows, p_BJ) of each of the clamps, where its frame A is in a pose."""
    model, held = report.model, {}
    R, p = rotation_matrix(report.q[:, :4]), report.q[:, 4:]
    for name in clamps:
        joint = model.system.joint(name)
        a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
        frames = joint.frames(model.system.values)
        R_WA, p_WA = R[a] @ frames.R_AJ, p[a] + R[a] @ frames.p_AJ
        held[name] = [*(R[b].T @ R_WA).ravel().tolist(), *(R[b].T @ (p_WA - p[b])).tolist()]
    return held


def when_clamped(
    system: System, report: AssemblyReport, near: Mapping[str, np.ndarray], clamps: Iterable[str]
) -> tuple[dict[str, np.ndarray], dict[str, dict[str, list[float]]]]:
    """Velocities by joint after `clamps`, which are on in `system`, have begun to hold in the state of `report`, angles counted `near`;
    and the impulse of each on its child in the world, at the clamp's point: force [N s] and moment [N m s]."""
    held = assemble(system, t=report.t, initial=Start(report.q, report.v, near))
    model, q, kept = held.model, held.q, kept_rows(held)
    M, Cq = model.mass_matrix(q), model.jacobian(q, report.t)[kept]
    v, impulses = factor_kkt(M, Cq).solve(M @ report.v[1:].reshape(-1), model.nu(report.t, q)[kept])
    after, held.multipliers = np.zeros_like(report.v), np.zeros(model.nc)
    after[1:], held.multipliers[kept] = v.reshape(-1, 6), impulses
    told = {}
    for name in clamps:
        joint = system.joint(name)
        R_WA = rotation_matrix(q[model.body_index[joint.parent.name], :4]) @ joint.frames(system.values).R_AJ
        wrench = held.reaction(name)
        told[name] = {"force": (R_WA @ wrench.force).tolist(), "moment": (R_WA @ wrench.moment).tolist()}
    return _by_joint(model, q, after), told
