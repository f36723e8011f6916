"""What the page of a recorded pose needs to move the joints of a tree by sliders (record.js): how bodies hang on joints, and what is drawn.

    X_WB = X_WA X_AJ T(q) X_BJ⁻¹

T(q) is a row of steps, one after another: "turn" about an axis of the joint and "slide" along it, by f q_i + o, and "quaternion", four
coordinates from the i-th, conjugate where f is negative: the steps of the joint's page. Coordinates that follow others have f and o of
what they follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.spatial.rotations import quaternion
from nexdyn.tree.core.compile import joint_class
from nexdyn.view.collision import CollisionShapes
from nexdyn.view.dials import Dial
from nexdyn.view.marks import Marks, Names
from nexdyn.view.poses import poser_of

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree
    from nexdyn.view.stage import Stage

MOST_SLIDERS = 60


def posing(stage: Stage) -> dict[str, Any] | None:
    """What the page is told; None where no sliders can move the system: it has loops, or nothing that moves."""
    poser = poser_of(stage.system)
    if poser is None or poser.follows or not poser.dials:
        return None
    return {
        "q": poser.start().tolist(), "joints": _joints(poser.tree), "nodes": _nodes(stage),
        "dials": [_dial(dial, poser.tree) for dial in poser.dials[:MOST_SLIDERS]], "more": max(0, len(poser.dials) - MOST_SLIDERS),
    }  # fmt: skip


def _joints(tree: Tree) -> list[list[Any]]:
    """Body, number of the joint that carries its parent, −1 of the ground, X_AJ, steps and X_BJ of each joint, parents first."""
    c, coupling, values = tree.compiled, tree.coupling, tree.system.values
    found: list[list[Any]] = []
    for a, arc in enumerate(c.forest.arcs):
        joint = arc.joint
        frames = None if joint is None else joint.tree_frames(values)
        steps: list[tuple[str, int, int, float, float]] = []
        for what, axis, k in joint_class(joint).steps:
            column, factor, offset = int(c.first_q[a]) + k, 1.0, 0.0
            if coupling is not None:
                factor, offset = float(coupling.q_factor[column]), float(coupling.q_offset[column])
                column = int(coupling.q_column[column])
            if joint is not None and joint.advances and what == "slide":
                pitch = joint.own_number(values)
                factor, offset = pitch * factor, pitch * offset
            steps.append((what, axis, column, factor, offset))
        if joint is not None and joint.is_turned and not joint.about_z:  # T⁻¹
            steps = [(what, axis, column, -f, -o) for what, axis, column, f, o in reversed(steps)]
        at = [_pose(np.eye(3), np.zeros(3))] * 2
        if frames is not None:
            at = [_pose(frames.R_AJ, frames.p_AJ), _pose(frames.R_BJ, frames.p_BJ)]
        found.append([arc.child.name, arc.parent, at[0], steps, at[1]])
    return found


def _dial(dial: Dial, tree: Tree) -> dict[str, Any]:
    """A slider: which coordinate it moves, or of a rotation vector which of the three numbers and the first of the four coordinates."""
    first = tree.coordinates[dial.joint].q.start
    return {
        "label": dial.label, "unit": dial.unit, "range": [dial.lower, dial.upper], "value": dial.value,
        "column": first if dial.turns else first + dial.k, "axis": dial.k if dial.turns else -1,
    }  # fmt: skip


def _nodes(stage: Stage) -> dict[str, Any]:
    """What of the scene is fixed to bodies, and how."""
    bodies = list(stage.row)

    def fixed(name: str, rows: np.ndarray, q: np.ndarray, p: np.ndarray) -> list[Any]:
        return [name, [[bodies[i], p_k.tolist(), q_k.tolist()] for i, p_k, q_k in zip(rows, p, q, strict=True)]]

    batches = [
        fixed(handle.name, stage.batch_row[part], stage.batch_q[part], stage.batch_p[part])
        for handle, part in stage.batches
    ]
    names: list[Any] = []
    for marks in stage.marks.values():
        if isinstance(marks, Names):
            at = zip(marks.handles, marks.rows, marks.p, strict=True)
            names = [[handle.name, bodies[i], p.tolist()] for handle, i, p in at]
            continue
        groups: list[Marks] = marks.groups if isinstance(marks, CollisionShapes) else [marks]
        batches += [fixed(group.handle.name, group.rows, group.q, group.p) for group in groups]
    placing = stage.placing
    links = [
        [
            handle.name, bodies[placing.row_a[k]], placing.p_A[k].tolist(), bodies[placing.row_b[k]], placing.p_B[k].tolist(),
            float(placing.length[k]), [[bodies[i], np.asarray(v).tolist()] for i, v in placing.along.get(k, [])],
        ]
        for k, handle in enumerate(stage.links)
    ]  # fmt: skip
    singles = [[handle.name, bodies[i]] for i, handle, _ in stage.singles]
    return {"batches": batches, "names": names, "links": links, "singles": singles}


def _pose(R: np.ndarray, p: np.ndarray) -> list[list[float]]:
    return [np.asarray(p, dtype=float).tolist(), np.asarray(quaternion(R), dtype=float).tolist()]
