"""Quaternions q and −q are one rotation: which of both a joint has follows from those of its bodies.

Quaternions of bodies change smoothly in a run and are kept by results, files and restarts. That of a ball or free joint is

    q = ± (q_A q_AJ)⁻¹ q_B q_BJ,

the sign such that w ≥ 0 as described: it neither jumps nor depends on where a run is cut or what is recorded. In minimal coordinates
those of the bodies are products of what their joints turn by,

    q_B = ± q_A q_AJ turn(q) q_BJ⁻¹,      turn(q) = (cos q/2, sin q/2 e) of an angle, whose turns are counted, or the quaternion itself,

smooth in the coordinates, with the sign of the body as described. A joint that is described from a body to the ground, which the tree
carries the other way, turns the body by the conjugate of turn(q).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from nexdyn.model.joint import Joint
from nexdyn.spatial.rotations import (
    quaternion,
    quaternion_conjugate,
    quaternion_multiply,
    rotation_matrix,
)
from nexdyn.tree.tree import Tree

if TYPE_CHECKING:
    from nexdyn.absolute.model.model import AbsoluteModel

WAY = 0.5
"""Of a registered joint, whose turn is known as a rotation alone, the farthest that its coordinates go from one look to the next."""


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


def body_quaternions(tree: Tree, model: AbsoluteModel, q: np.ndarray) -> np.ndarray:
    """The quaternions (N, nb + 1, 4) of the ground and the bodies, in the order of `model`, at coordinates q (N, nq) of a tree."""
    values, index = tree.system.values, model.body_index
    out = np.broadcast_to(model.q[:, :4], (len(q), *model.q[:, :4].shape)).copy()
    arcs = tree.compiled.forest.arcs
    for arc in arcs:
        a, b = index[arcs[arc.parent].child.name if arc.parent >= 0 else "ground"], index[arc.child.name]
        place = tree.coordinates.get(arc.name)
        if arc.joint is None:
            assert place is not None
            out[:, b] = q[:, place.q][:, :4]
            continue
        joint = arc.joint
        frames = joint.frames(values)
        q_AJ, q_BJ = quaternion(frames.R_AJ), quaternion(frames.R_BJ)
        on_carrier, on_carried = (q_BJ, q_AJ) if joint.is_turned else (q_AJ, q_BJ)

        def carried(
            q_A: np.ndarray, turn: np.ndarray, before: np.ndarray = on_carrier, after: np.ndarray = on_carried
        ) -> np.ndarray:
            return quaternion_multiply(
                quaternion_multiply(q_A, before), quaternion_multiply(turn, quaternion_conjugate(after))
            )

        def along(turn: np.ndarray, back: bool = joint.is_turned) -> np.ndarray:
            return quaternion_conjugate(turn) if back else turn

        R_A, R_B = (
            rotation_matrix(model.q[index[body.name], :4]) @ R
            for body, R in ((joint.parent, frames.R_AJ), (joint.child, frames.R_BJ))
        )
        sign = np.copysign(1.0, carried(model.q[a, :4], along(quaternion(R_A.T @ R_B))) @ model.q[b, :4])
        # without coordinates its frames coincide, also where they are not described so
        turn = np.array([1.0, 0.0, 0.0, 0.0]) if place is None else _turn(tree, joint, q[:, place.q])
        out[:, b] = sign * carried(out[:, a], along(turn))
    return out


def _turn(tree: Tree, joint: Joint, q: np.ndarray) -> np.ndarray:
    """What a joint turns by at its coordinates q (N, nq), (N, 4), smooth in q."""
    if not joint.steps:
        return _turn_along(tree, joint, q)
    turn = np.array([1.0, 0.0, 0.0, 0.0])
    for step in joint.steps:
        k = step.coordinate
        if step.what == "quaternion":
            turn = quaternion_multiply(turn, q[:, k : k + 4])
        elif step.what == "turn":
            half, own = 0.5 * q[:, k], np.zeros((len(q), 4))
            own[:, 0], own[:, 1 + step.axis] = np.cos(half), np.sin(half)
            turn = quaternion_multiply(turn, own)
    return np.broadcast_to(turn, (len(q), 4))


def _turn_along(tree: Tree, joint: Joint, q: np.ndarray) -> np.ndarray:
    """The same of a registered joint, on a way from 0 to the first coordinates and on from each to the next."""
    ways, at = [np.zeros((1, q.shape[1]))], [0]
    for before, after in zip(np.vstack([ways[0], q[:-1]]), q, strict=True):
        n = max(1, int(np.ceil(np.abs(after - before).max() / WAY)))
        ways.append(before + np.arange(1, n + 1)[:, None] / n * (after - before))
        at.append(at[-1] + n)
    along = np.concatenate(ways)
    whole = np.tile(tree.neutral(), (len(along), 1))
    whole[:, tree.coordinates[joint.name].q] = along
    frames = joint.frames(tree.system.values)

    def of(body: str) -> np.ndarray:
        return np.eye(3) if body == "ground" else tree.pose(whole, f"body:{body}")[0]

    R_A, R_B = of(joint.parent.name) @ frames.R_AJ, of(joint.child.name) @ frames.R_BJ
    return continued(quaternion(np.swapaxes(R_A, -1, -2) @ R_B), None)[at[1:]]


def continued(q: np.ndarray, before: np.ndarray | None) -> np.ndarray:
    """Unit quaternions (n, …, 4) with the signs that make them change smoothly along n, and on from `before`."""
    if before is not None:
        q = np.concatenate([before[None], q])
    turn = np.einsum("...k,...k->...", q[1:], q[:-1]) < 0.0
    sign = np.concatenate([np.ones((1, *q.shape[1:-1])), np.cumprod(np.where(turn, -1.0, 1.0), axis=0)])
    q = q * sign[..., None]
    return q if before is None else q[1:]
