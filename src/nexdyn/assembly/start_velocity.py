"""The velocities that a description gives: of its joints, and of the bodies that they carry; and back.

Along the spanning tree a body moves as its joint says, which has the velocity `v0` it is given, and none if it is given
none, and a body that floats freely as it is given: with p the joint's point and the motion of the joint (ω, u) = H v0 in the child's
joint frame, whose axes are R,

    ω_child = ω_parent + R ω,   v_child = v_parent + ω_parent × (p − p_parent) + R u − ω_child × (p − p_child).

An open tree so starts as it does in minimal coordinates. In loops it is a guess, and the constraints have their say. Where a body is the
child of several joints that make no loop, these equations give the parent's motion from the child's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from nexdyn.assembly.loads import joint_state, with_turns
from nexdyn.assembly.walk import from_body_to_body, has_loose_ends
from nexdyn.model.joint import Joint
from nexdyn.model.system import System
from nexdyn.model.topology import open_forest
from nexdyn.spatial.rotations import cross_product, rotation_matrix
from nexdyn.tree.tree import Tree

if TYPE_CHECKING:
    from nexdyn.absolute.model.model import AbsoluteModel


def floating_bodies(system: System) -> list[str]:
    """The bodies that no joint carries: what is given of their motion goes by their own names."""
    return [arc.child.name for arc in open_forest(system).arcs if arc.joint is None]


def described_velocity(
    model: AbsoluteModel,
    q: np.ndarray,
    given: Mapping[str, np.ndarray],
    floating: Mapping[str, np.ndarray] | None = None,
) -> np.ndarray:
    """v (nb + 1, 6) of the bodies at q (nb + 1, 7) where joints have the velocities `given`, floating bodies theirs (6,) in their
    axes, and the others stand still."""
    v, floating = model.v.copy(), floating or {}
    if not given and not floating:
        return v
    still = np.zeros_like(v)
    R, p = rotation_matrix(q[:, :4]), q[:, 4:]
    for name, x in floating.items():
        i = model.body_index[name]
        v[i, :3], v[i, 3:] = x[:3], R[i] @ x[3:]
    for joint, outward in _in_turn(model.system, floating):
        a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
        frames = joint.frames(model.system.values)
        R_J, p_J = R[b] @ frames.R_BJ, p[b] + R[b] @ frames.p_BJ
        motion = np.zeros(6)
        if joint.name in given:
            motion = joint_state(model, joint, q, still)[2] @ given[joint.name]
        turn, shift = R_J @ motion[:3], R_J @ motion[3:]
        if outward:
            w_a = R[a] @ v[a, :3]
            w_b = w_a + turn
            v[b, :3] = R[b].T @ w_b
            v[b, 3:] = v[a, 3:] + cross_product(w_a, p_J - p[a]) + shift - cross_product(w_b, p_J - p[b])
        else:
            w_b = R[b] @ v[b, :3]
            w_a = w_b - turn
            v[a, :3] = R[a].T @ w_a
            v[a, 3:] = v[b, 3:] + cross_product(w_b, p_J - p[b]) - shift - cross_product(w_a, p_J - p[a])
    return v


def _in_turn(system: System, floating: Mapping[str, np.ndarray]) -> Iterator[tuple[Joint, bool]]:
    """Joints, and whether the motion of the child follows from the parent's, else the other way."""
    if has_loose_ends(system):
        yield from from_body_to_body(system, floating)
        return
    for arc in open_forest(system).arcs:
        if arc.joint is not None:
            yield arc.joint, not arc.joint.is_turned


def tree_state(
    tree: Tree, model: AbsoluteModel, q: np.ndarray, v: np.ndarray, t: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities of the tree from poses and velocities of the bodies, with the turns that the model's start has."""
    out_q, out_v = np.zeros(tree.nq), np.zeros(tree.nv)
    counted = model.counted(q, model.near(q, t))
    turned = {of: float(x) for of, x in zip(model.followed, counted, strict=True)}
    for name, place in tree.coordinates.items():
        joint = model.system.joints.get(name)
        if joint is not None:
            own, out_v[place.v], _ = joint_state(model, joint, q, v)
            out_q[place.q] = with_turns(joint, own, turned)
            continue
        i = model.body_index[tree.carried_body(name).name]
        out_q[place.q] = q[i]
        out_v[place.v] = [*v[i, :3], *(rotation_matrix(q[i, :4]).T @ v[i, 3:])]
    return out_q, out_v
