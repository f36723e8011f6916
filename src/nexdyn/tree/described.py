"""The coordinates of the pose as described.

    X_AB = X_WA⁻¹ X_WB between the two joint frames where the bodies stand;   q = the joint's coordinates nearest to it

What the joint cannot reach is its gap: minimal coordinates close it by moving the child, and this is said.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Container
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import warn
from nexdyn.joints import JOINTS
from nexdyn.joints.kinds import REGISTERED
from nexdyn.model.joint import Joint
from nexdyn.spatial.algebra import Mat3, Pose, Vec3
from nexdyn.spatial.rotations import log_rotation, quaternion

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree

GAP = 1e-6
"""Gap in lengths of the mechanism, or misalignment [rad], below which a joint counts as closed."""


def described_coordinates(
    tree: Tree, given: Container[str] = (), gaps: dict[str, tuple[float, float]] | None = None
) -> np.ndarray:
    """q (nq,) as described; NexDynWarning names the joints that stay open, and by how much.

    The joints `given`, whose coordinates come from elsewhere, stay neutral; of a mapping the values are looked at: InputError where
    the q0 of a joint that is coupled with one of them is another. gaps: where joints that stay open are put, with
    gap [m] and misalignment [rad], in place of the warning.
    """
    q = tree.neutral()
    values = tree.system.values
    found: dict[str, tuple[float, float]] = {}
    told = tree.told_starts("q0", given)
    for name, place in tree.coordinates.items():
        joint = tree.system.joints.get(name)
        if name in given:
            continue
        if joint is None:
            R, p = tree.carried_body(name).pose(values)
            q[place.q] = [*quaternion(R), *p]
            continue
        if name in told:
            q[place.q] = told[name]
            continue
        if not joint.anchored:
            continue  # at and axis: the described pose is q = 0
        q[place.q], gap, turn = nearest_coordinates(joint, tree)
        if turn > GAP or gap > GAP * _reach(tree):
            found[name] = gap, turn
    if gaps is not None:
        gaps |= found
    elif found:
        shown = [f"{name!r} by {gap:.3g} m and {turn:.3g} rad" for name, (gap, turn) in found.items()]
        warn(
            f"joints stay open as described: {', '.join(shown[:10])}; minimal coordinates close them by moving the child"
        )
    return q


def _reach(tree: Tree) -> float:
    """The length of the mechanism [m]: the longest arm of its joints in a body that moves."""
    system, most = tree.system, 0.0
    for joint in system.joints.values():
        frames = joint.tree_frames(system.values)
        arms = [frames.p_BJ] if joint.carrier is system.ground else [frames.p_AJ, frames.p_BJ]
        most = max(most, *(float(np.linalg.norm(p)) for p in arms))
    return most


def nearest_coordinates(joint: Joint, tree: Tree) -> tuple[np.ndarray, float, float]:
    """(q, gap [m], misalignment [rad]) of a joint where its two bodies stand as described."""
    values = tree.system.values
    return coordinates_between(joint, values, joint.parent.pose(values), joint.child.pose(values))


def coordinates_between(
    joint: Joint, values: dict[str, float], parent: tuple[np.ndarray, np.ndarray], child: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, float, float]:
    """(q, gap [m], misalignment [rad]) of a joint between two bodies at poses (R, p) in the world."""
    R_AJ, p_AJ, R_BJ, p_BJ = joint.frames(values)
    (R_WA, p_WA), (R_WB, p_WB) = parent, child
    R_A, p_A = R_WA @ R_AJ, p_WA + R_WA @ p_AJ
    R_B, p_B = R_WB @ R_BJ, p_WB + R_WB @ p_BJ
    R, p = R_A.T @ R_B, R_A.T @ (p_B - p_A)
    if joint.code == REGISTERED:
        found, R_q, p_q = joint.between(R, p, values)  # type: ignore[attr-defined]
        return found, float(np.linalg.norm(p - p_q)), float(np.linalg.norm(log_rotation(R_q.T @ R)))
    found = np.zeros(joint.nq)
    page = sys.modules[JOINTS[joint.kind].__module__]
    if joint.nq:
        in_python(page.coordinates_of)(Mat3(*R.ravel().tolist()), Vec3(*p.tolist()), found, 0)
    if (
        joint.nq > joint.nv and next(x for x in found[:4] if x) < 0.0
    ):  # of the two that are one rotation, that with w ≥ 0
        found[:4] *= -1.0
    own: tuple[float, ...] = ()
    if joint.advances:
        own = (joint.own_number(values),)
        turns = np.round((p[2] / own[0] - found[0]) / (2 * np.pi)) if own[0] else 0.0
        found[0] += 2 * np.pi * turns
    still = Pose(Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
    reached = in_python(page.pose)(still, found, 0, *own) if joint.nq else still
    gap = float(np.linalg.norm(p - [*reached.p]))
    return found, gap, float(np.linalg.norm(log_rotation(np.reshape([*reached.R], (3, 3)).T @ R)))


@functools.cache
def in_python(f: Any) -> Any:
    """A formula, with all that it calls, as the Python functions that they are written as: called as it is, each would be compiled anew
    in every process."""
    plain = getattr(f, "py_func", f)
    called = {
        name: in_python(x) for name in plain.__code__.co_names if hasattr(x := plain.__globals__.get(name), "py_func")
    }
    scope = plain.__globals__ | called
    return types.FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__) if called else plain
