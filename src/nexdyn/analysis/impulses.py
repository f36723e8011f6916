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
from nexdyn.analysis.absolute_loads import _effort, joint_state
from nexdyn.analysis.absolute_simulation import kept_rows
from nexdyn.analysis.assemble import Start, assemble
from nexdyn.analysis.continuing import seen_bodies
from nexdyn.analysis.start_velocity import floating_bodies
from nexdyn.forces.joint_stop import JointStop
from nexdyn.spatial.rotations import rotation_matrix


def after_impact(sim: Any, observed: Any, stop: JointStop, end: int) -> dict[str, np.ndarray] | None:
    """Velocities by joint after the joint has struck an end of its stop; None where it is too slow for an impulse."""
    system = sim.system
    values = system.values
    speed = float(observed.of_joint("joint_velocity", stop.joint)[0, stop.freedom])
    towards = speed if end else -speed
    if towards <= stop._number("rest_speed", values):
        return None
    restitution = stop._number("restitution", values)
    if hasattr(sim, "_now") and getattr(sim, "closed", None) is None and sim.tree.coupling is None:
        tree, q, v = sim.tree, sim.q, sim.v
        h = np.zeros(tree.nv)
        j = tree.coordinates[stop.joint].v.start + stop.freedom
        h[j] = 1.0
        still = np.zeros(tree.nv)
        u = tree.aba(q, still, h) - tree.aba(q, still, still)
        v = v - (1.0 + restitution) * v[j] * u / u[j]
        return {name: v[place.v] for name, place in tree.coordinates.items()}
    return _with_rows(system, observed, stop, restitution, float(sim.t))


def _with_rows(system: Any, observed: Any, stop: JointStop, restitution: float, t: float) -> dict[str, np.ndarray]:
    names = [name for name, joint in system.joints.items() if joint.nv and joint.tree]
    q0 = {name: observed.of_joint("joint_position", name)[0] for name in names}
    report = assemble(system, t=t, start=Start(*seen_bodies(observed, absolute_model(system)), q0))
    model, q, v = report.model, report.q, report.v
    joint = system.joint(stop.joint)
    _, rates, H = joint_state(model, joint, q, v)
    unit = np.zeros(joint.nv)
    unit[stop.freedom] = 1.0
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
    v = v - (1.0 + restitution) * rates[stop.freedom] / along[stop.freedom] * jump
    floating = {name: model.body_index[name] for name in floating_bodies(system)}
    return {name: joint_state(model, system.joint(name), q, v)[1] for name in names} | {
        name: np.concatenate([v[i, :3], R[i].T @ v[i, 3:]]) for name, i in floating.items()
    }
