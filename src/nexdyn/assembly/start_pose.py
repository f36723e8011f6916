"""The pose of a mechanism without loops whose joints and floating bodies have given coordinates.

Along the spanning tree each body is where its joint puts it. Where a body is the child of several joints there is no such tree: then
poses go from body to body, each joint either way, from the ground and from bodies that float:

    X_child = X_parent X_PA X_J(q) X_CB⁻¹,   X_parent = X_child X_CB X_J(q)⁻¹ X_PA⁻¹
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from nexdyn.assembly.loads import joint_state
from nexdyn.assembly.start_velocity import tree_state
from nexdyn.assembly.walk import from_body_to_body, is_forest
from nexdyn.joints import JOINTS
from nexdyn.model.joint import Joint
from nexdyn.spatial.algebra import Mat3, Vec3
from nexdyn.spatial.algebra import Pose as PoseInKernels
from nexdyn.spatial.poses import compose, inverse
from nexdyn.spatial.rotations import quaternion, rotation_matrix
from nexdyn.tree.described import GAP, coordinates_between, described_coordinates, in_python
from nexdyn.tree.tree import Tree

if TYPE_CHECKING:
    from nexdyn.absolute.model.model import AbsoluteModel

Pose = tuple[np.ndarray, np.ndarray]
"""(R, p)."""

Gaps = dict[str, tuple[float, float]]
"""Gap [m] and misalignment [rad] of joints that stay open."""


def pose_without_loops(
    model: AbsoluteModel, given: Mapping[str, np.ndarray], begin: tuple[np.ndarray, np.ndarray] | None, gaps: Gaps
) -> np.ndarray:
    """The pose (nb + 1, 7) that has the coordinates `given`, by joint and by floating body; others are those of `begin`, poses and
    velocities of the bodies, or else as described. gaps: where joints that stay open as described are put."""
    if is_forest(model.system):
        return _along_tree(model, given, begin, gaps)
    return _from_body_to_body(model, given, begin, gaps)


def _along_tree(
    model: AbsoluteModel, given: Mapping[str, np.ndarray], begin: tuple[np.ndarray, np.ndarray] | None, gaps: Gaps
) -> np.ndarray:
    tree = Tree(model.system)
    q = described_coordinates(tree, given, gaps) if begin is None else tree_state(tree, model, *begin)[0]
    for name, values in (tree.coupling.led(given, "q0") if tree.coupling else given).items():
        q[tree.coordinates[name].q] = values
    R, p = tree.pose(q)
    start = model.q.copy()
    for name, R_WB, p_WB in zip(tree.body_names, R, p, strict=True):
        start[model.body_index[name]] = [*quaternion(R_WB), *p_WB]
    return start


def _from_body_to_body(
    model: AbsoluteModel, given: Mapping[str, np.ndarray], begin: tuple[np.ndarray, np.ndarray] | None, gaps: Gaps
) -> np.ndarray:
    system, values = model.system, model.system.values
    start = (model.q if begin is None else begin[0]).copy()
    floating = [name for name in given if name not in system.joints]
    for name in floating:
        start[model.body_index[name]] = given[name]
    for joint, outward in from_body_to_body(system, floating):
        if joint.name in given:
            own = given[joint.name]
        elif begin is None:
            own = _described(joint, model, gaps)
        else:
            own = joint_state(model, joint, *begin)[0]
        a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
        R, p = beyond(joint, own, values, pose_of(start[a if outward else b]), outward)
        start[b if outward else a] = [*quaternion(R), *p]
    return start


def beyond(joint: Joint, own: np.ndarray, values: dict[str, float], near: Pose, outward: bool) -> Pose:
    """The pose of the body beyond a joint with coordinates `own`, of its child where it goes outward, else of its parent, from that of
    the other."""
    frames, X_J = joint.frames(values), _joint_pose(joint, own, values)
    X_PA, X_CB = (frames.R_AJ, frames.p_AJ), (frames.R_BJ, frames.p_BJ)
    if outward:
        return compose(*compose(*compose(*near, *X_PA), *X_J), *inverse(*X_CB))
    return compose(*compose(*compose(*near, *X_CB), *inverse(*X_J)), *inverse(*X_PA))


def pose_of(q: np.ndarray) -> Pose:
    """The pose of seven numbers."""
    return rotation_matrix(q[:4]), q[4:].copy()


def _described(joint: Joint, model: AbsoluteModel, gaps: Gaps) -> np.ndarray:
    """The coordinates (nq,) of a joint as described."""
    if joint.anchored:
        values = model.system.values
        own, gap, turn = coordinates_between(joint, values, joint.parent.pose(values), joint.child.pose(values))
        if turn > GAP or gap > GAP * model.arm:
            gaps[joint.name] = gap, turn
        return own
    own = np.zeros(joint.nq)
    if joint.nq > joint.nv:
        own[0] = 1.0
    return own


def _joint_pose(joint: Joint, q: np.ndarray, values: dict[str, float]) -> Pose:
    """X_J: frame B in frame A."""
    if not joint.nq:
        return np.eye(3), np.zeros(3)
    pitch = (joint.own_number(values),) if joint.advances else ()
    still = PoseInKernels(Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
    X = in_python(sys.modules[JOINTS[joint.kind].__module__].pose)(still, np.asarray(q, dtype=float), 0, *pitch)
    return np.reshape([*X.R], (3, 3)), np.array([*X.p])
