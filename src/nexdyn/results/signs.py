"""Quaternions q and −q are one rotation: which of both a joint has follows from those of its bodies.

Quaternions of bodies change smoothly in a run and are kept by results, files and restarts. That of a ball or free joint is

    q = ± (q_A q_AJ)⁻¹ q_B q_BJ,

the sign such that w ≥ 0 as described: it neither jumps nor depends on where a run is cut or what is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.model.joint import Joint
from nexdyn.spatial.rotations import quaternion, quaternion_conjugate, quaternion_multiply


def has_quaternion(joint: Joint) -> bool:
    """Whether the first four coordinates of a joint are a quaternion."""
    return joint.tree and joint.nq > joint.nv


def joint_quaternions(joint: Joint, model: AbsoluteModel, bodies: np.ndarray) -> np.ndarray:
    """The quaternion (…, 4) of a ball or free joint, of quaternions `bodies` (…, nb + 1, 4) of the ground and the bodies."""
    frames = joint.frames(model.system.values)
    a, b = (model.body_index[body.name] for body in (joint.parent, joint.child))

    def of(q: np.ndarray) -> np.ndarray:
        q_A = quaternion_multiply(q[..., a, :], quaternion(frames.R_AJ))
        return quaternion_multiply(
            quaternion_conjugate(q_A), quaternion_multiply(q[..., b, :], quaternion(frames.R_BJ))
        )

    return np.copysign(1.0, of(model.q[:, :4])[0]) * of(bodies)


def with_signs_of(joints: Mapping[str, np.ndarray], model: AbsoluteModel, bodies: np.ndarray) -> np.ndarray:
    """Quaternions of the ground and the bodies (nb + 1, 4) with the signs that give `joints`, {joint: coordinates}, theirs.

    From the ground on along the joints; of those that close loops as it comes out.
    """
    q, known = bodies.copy(), {0}
    open_joints = [joint for joint in model.system.joints.values() if joint.tree]
    while open_joints:
        reached = next(
            (
                joint
                for joint in open_joints
                if len(known & {model.body_index[joint.parent.name], model.body_index[joint.child.name]}) == 1
            ),
            None,
        )
        if reached is None:
            break
        open_joints.remove(reached)
        a, b = (model.body_index[body.name] for body in (reached.parent, reached.child))
        new = b if a in known else a
        given = joints.get(reached.name) if has_quaternion(reached) else None
        if given is not None and joint_quaternions(reached, model, q) @ given[:4] < 0.0:
            q[new] = -q[new]
        known.add(new)
    return q
