"""The coordinates of the pose as described.

    X_AB = X_WA⁻¹ X_WB between the two joint frames where the bodies stand;   q = the joint's coordinates nearest to it

What the joint cannot reach is its gap: minimal coordinates close it by moving the child, and this is said.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

import numpy as np

from nexdyn.errors import warn
from nexdyn.model.joint import Joint
from nexdyn.model.parameters import number
from nexdyn.spatial.rotations import log_rotation, quaternion, rotation_matrix

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree

GAP = 1e-6
"""Gap in lengths of the mechanism, or misalignment [rad], below which a joint counts as closed."""


def described_coordinates(
    tree: Tree, given: Container[str] = (), gaps: dict[str, tuple[float, float]] | None = None
) -> np.ndarray:
    """q (nq,) as described; NexDynWarning names the joints that stay open, and by how much.

    The joints `given`, whose coordinates come from elsewhere, stay neutral. gaps: where joints that stay open are put, with
    gap [m] and misalignment [rad], in place of the warning.
    """
    q = tree.neutral()
    values = tree.system.values
    found: dict[str, tuple[float, float]] = {}
    for name, place in tree.coordinates.items():
        joint = tree.system.joints.get(name)
        if name in given:
            continue
        if joint is None:
            R, p = tree.carried_body(name).pose(values)
            q[place.q] = [*quaternion(R), *p]
            continue
        if joint.q0 is not None:
            q[place.q] = joint.resolved(values).q0
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
        frames = joint.frames(system.values)
        arms = [frames.p_BJ] if joint.parent is system.ground else [frames.p_AJ, frames.p_BJ]
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
    angle = float(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]))
    match joint.kind:
        case "revolute":
            q = np.array([angle])
        case "prismatic":
            q = np.array([p[2]])
        case "helical":
            pitch = number(joint.pitch, values, f"pitch of {joint}")  # type: ignore[attr-defined]
            turns = np.round((p[2] / pitch - angle) / (2 * np.pi)) if pitch else 0.0
            q = np.array([angle + 2 * np.pi * turns])
            p = p - [0.0, 0.0, pitch * q[0]]
        case "cylindrical":
            q = np.array([angle, p[2]])
        case "universal":
            # R = Rz(q₁) Rx(q₂): the first column is (c₁, s₁, 0), the third ends in c₂, the second in s₂
            q = np.array([np.arctan2(R[1, 0], R[0, 0]), np.arctan2(R[2, 1], R[2, 2])])
        case "spherical":
            q = quaternion(R)
        case "planar":
            q = np.array([p[0], p[1], angle])
        case "cartesian":
            q = p.copy()
        case _:
            q = np.array([*quaternion(R), *p])
    return q, *_misfit(joint.kind, q, R, p)


def _misfit(kind: str, q: np.ndarray, R: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """How far (R, p) is from the pose that the joint takes at q; the helical p has lost its advance already."""
    reached_p = {
        "prismatic": [0.0, 0.0, p[2]], "cylindrical": [0.0, 0.0, p[2]], "planar": [p[0], p[1], 0.0],
        "cartesian": p, "free": p,
    }.get(kind, [0.0, 0.0, 0.0])  # fmt: skip
    turn = {"revolute": 0, "helical": 0, "cylindrical": 0, "planar": 2}.get(kind)
    if kind in ("spherical", "free"):
        reached_R = R
    elif kind == "universal":
        reached_R = _about(2, q[0]) @ _about(0, q[1])
    else:
        reached_R = np.eye(3) if turn is None else _about(2, q[turn])
    return float(np.linalg.norm(p - reached_p)), float(np.linalg.norm(log_rotation(reached_R.T @ R)))


def _about(axis: int, angle: float) -> np.ndarray:
    q = np.zeros(4)
    q[0], q[1 + axis] = np.cos(angle / 2), np.sin(angle / 2)
    return rotation_matrix(q)
