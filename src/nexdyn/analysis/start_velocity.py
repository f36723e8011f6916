"""The velocities that a description gives: of its joints, and of the bodies that they carry.

Along the spanning tree a body moves as its joint says, which has the velocity `v0` it is given, and none if it is given
none: with p the joint's point and the motion of the joint (ω, u) = H v0 in the child's joint frame, whose axes are R,

    ω_child = ω_parent + R ω,   v_child = v_parent + ω_parent × (p − p_parent) + R u − ω_child × (p − p_child).

An open tree so starts as it does in minimal coordinates. In loops it is a guess, and the constraints have their say.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nexdyn.absolute.model import AbsoluteModel
from nexdyn.analysis.absolute_loads import joint_state
from nexdyn.model.topology import open_forest
from nexdyn.spatial.rotations import rotation_matrix


def described_velocity(model: AbsoluteModel, q: np.ndarray, given: Mapping[str, np.ndarray]) -> np.ndarray:
    """v (nb + 1, 6) of the bodies at q (nb + 1, 7) where joints have the velocities `given` and the others stand still."""
    v = model.v.copy()
    if not given:
        return v
    still = np.zeros_like(v)
    R, p = rotation_matrix(q[:, :4]), q[:, 4:]
    for arc in open_forest(model.system).arcs:
        if arc.joint is None:
            continue
        a, b = model.body_index[arc.joint.parent.name], model.body_index[arc.joint.child.name]
        frames = arc.joint.frames(model.system.values)
        R_J, p_J = R[b] @ frames.R_BJ, p[b] + R[b] @ frames.p_BJ
        motion = np.zeros(6)
        if arc.joint.name in given:
            motion = joint_state(model, arc.joint, q, still)[2] @ given[arc.joint.name]
        w_a = R[a] @ v[a, :3]
        w_b = w_a + R_J @ motion[:3]
        v[b, :3] = R[b].T @ w_b
        v[b, 3:] = v[a, 3:] + np.cross(w_a, p_J - p[a]) + R_J @ motion[3:] - np.cross(w_b, p_J - p[b])
    return v
