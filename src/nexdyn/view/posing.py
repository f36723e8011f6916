"""What the page of a recorded pose needs to move the joints of a tree by sliders (record.js): how bodies hang on joints, and what is drawn.

    X_WB = X_WA X_AJ T(q) X_BJ⁻¹

T(q) is a row of steps, one after another: "turn" about an axis of the joint and "shift" along it, by f q_i + o, and "quaternion", four
coordinates from the i-th. Coordinates that follow others have f and o of what they follow. The pages of the joints have the same T(q).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.model.parameters import number
from nexdyn.spatial.rotations import quaternion
from nexdyn.view.collision import CollisionShapes
from nexdyn.view.dials import Dial
from nexdyn.view.marks import Marks, Names
from nexdyn.view.poses import poser_of

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree
    from nexdyn.view.stage import Stage

X, Y, Z = 0, 1, 2
STEPS: dict[str, list[tuple[str, int, int]]] = {
    "fixed": [],
    "revolute": [("turn", Z, 0)],
    "prismatic": [("shift", Z, 0)],
    "helical": [("turn", Z, 0), ("shift", Z, 0)],
    "cylindrical": [("turn", Z, 0), ("shift", Z, 1)],
    "universal": [("turn", Z, 0), ("turn", X, 1)],
    "spherical": [("quaternion", 0, 0)],
    "planar": [("shift", X, 0), ("shift", Y, 1), ("turn", Z, 2)],
    "cartesian": [("shift", X, 0), ("shift", Y, 1), ("shift", Z, 2)],
    "free": [("shift", X, 4), ("shift", Y, 5), ("shift", Z, 6), ("quaternion", 0, 0)],
}
"""Of each kind of joint: what is done, the axis, and by which of its coordinates."""
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
        frames = None if joint is None else joint.frames(values)
        steps = []
        for what, axis, k in STEPS["free" if joint is None else joint.kind]:
            column, factor, offset = int(c.first_q[a]) + k, 1.0, 0.0
            if coupling is not None:
                factor, offset = float(coupling.q_factor[column]), float(coupling.q_offset[column])
                column = int(coupling.q_column[column])
            if joint is not None and joint.kind == "helical" and what == "shift":
                pitch = number(joint.pitch, values, f"pitch of {joint}")  # type: ignore[attr-defined]
                factor, offset = pitch * factor, pitch * offset
            steps.append([what, axis, column, factor, offset])
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
        fixed(handle.name, stage._batch_row[part], stage._batch_q[part], stage._batch_p[part])
        for handle, part in stage._batches
    ]
    names: list[Any] = []
    for marks in stage.marks.values():
        if isinstance(marks, Names):
            at = zip(marks.handles, marks.rows, marks.p, strict=True)
            names = [[handle.name, bodies[i], p.tolist()] for handle, i, p in at]
            continue
        groups: list[Marks] = marks._groups if isinstance(marks, CollisionShapes) else [marks]
        batches += [fixed(group.handle.name, group.rows, group.q, group.p) for group in groups]
    placing = stage._placing
    links = [
        [
            handle.name, bodies[placing.row_a[k]], placing.p_A[k].tolist(), bodies[placing.row_b[k]], placing.p_B[k].tolist(),
            float(placing.length[k]), [[bodies[i], np.asarray(v).tolist()] for i, v in placing.along.get(k, [])],
        ]
        for k, handle in enumerate(stage._links)
    ]  # fmt: skip
    singles = [[handle.name, bodies[i]] for i, handle, _ in stage._singles]
    return {"batches": batches, "names": names, "links": links, "singles": singles}


def _pose(R: np.ndarray, p: np.ndarray) -> list[list[float]]:
    return [np.asarray(p, dtype=float).tolist(), np.asarray(quaternion(R), dtype=float).tolist()]
