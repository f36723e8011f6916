"""Impacts: velocities after an impulse along one freedom of a joint, the others free to follow.

v⁺ = v − (1 + ε) v_j u / (h · u),   u = M⁻¹ h          a tree, u by two passes of ABA: M⁻¹ (τ + h − b) − M⁻¹ (τ − b)
[ M   Cqᵀ ] [u]   [ h ]
[ Cq  0   ] [Λ] = [ 0 ]                                 with rows, h the wrench of a unit effort in the joint
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.absolute.kkt import factor_kkt
from nexdyn.absolute.model import absolute_model
from nexdyn.assembly.assemble import Start, assemble
from nexdyn.assembly.loads import _effort, joint_state
from nexdyn.assembly.redundant import kept_rows
from nexdyn.assembly.start_velocity import floating_bodies
from nexdyn.model.system import System
from nexdyn.simulation.continuing import seen_bodies
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.tree.tree import Tree


def on_tree(
    tree: Tree, q: np.ndarray, v: np.ndarray, joint: str, freedom: int, restitution: float
) -> dict[str, np.ndarray]:
    """Velocities by joint after one freedom of a joint of a tree has bounced."""
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
    report = assemble(system, t=t, start=Start(*seen_bodies(observed, absolute_model(system)), q0))
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
    floating = {name: model.body_index[name] for name in floating_bodies(system)}
    return {name: joint_state(model, system.joint(name), q, v)[1] for name in names} | {
        name: np.concatenate([v[i, :3], R[i].T @ v[i, 3:]]) for name, i in floating.items()
    }
