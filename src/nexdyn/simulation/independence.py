"""How independent the kept constraint equations are in a pose, whatever step led there.

    G = D⁻¹ Cq M^(−½), rows of length 1;   G = L Q;   the least L_kk²

the square of the sine between a row and those before it. The matrix of a step shows the same up to a factor
(``equations.independence``) as long as the step turns no body far: it holds Cq T(θ), and T(θ) of a rotation increment θ shrinks
what is across θ by sin(θ/2) / (θ/2), which a step of many turns makes as small as one likes.
"""

from __future__ import annotations

import numpy as np

from nexdyn.absolute.choice import row_shares
from nexdyn.absolute.model import AbsoluteModel
from nexdyn.absolute.motion_tables import MotionTables
from nexdyn.spatial.rotations import rotation_matrix


def independence_here(
    model: AbsoluteModel, tables: MotionTables, kept: np.ndarray, q: np.ndarray, t: float, near: np.ndarray
) -> float:
    """Of the rows `kept` (nc,) bool, in blocks that leave some out; q (nb + 1, 7) of the bodies' origins."""
    per_mass, per_inertia = (np.divide(1.0, x, out=np.zeros(len(x)), where=x > 0.0) for x in _of_bodies(tables))
    nodes, gradients = model.incidence.nodes, model.row_gradients(q, t, near)
    com = model.mass[:, 1:4] / np.where(model.mass[:, 0] > 0.0, model.mass[:, 0], 1.0)[:, None]
    i, R = np.maximum(nodes, 0), rotation_matrix(q[:, :4])
    v = gradients[..., 3:]
    w = gradients[..., :3] + np.cross(np.einsum("rkij,rki->rkj", R[i], v), com[i])
    entries = np.concatenate([np.sqrt(per_inertia[i])[..., None] * w, np.sqrt(per_mass[i])[..., None] * v], axis=2)
    entries[nodes <= 0] = 0.0
    scale = np.sqrt(row_shares(model, tables, q, t, near))
    least = np.inf
    for block in model.loop_blocks:
        rows = block.rows[kept[block.rows]]
        if len(rows) == len(block.rows):
            continue
        places, columns = np.unique(i[rows], return_inverse=True)
        G = np.zeros((len(rows), len(places), 6))
        np.add.at(G, (np.arange(len(rows))[:, None], columns.reshape(i[rows].shape)), entries[rows])
        L = np.linalg.qr((G.reshape(len(rows), -1) / scale[rows, None]).T, mode="r")
        least = min(least, float((np.diagonal(L) ** 2).min(initial=np.inf)) if len(L) == len(rows) else 0.0)
    return least


def _of_bodies(tables: MotionTables) -> tuple[np.ndarray, np.ndarray]:
    """Masses and mean moments of inertia (nb + 1,), as the step's matrix reckons rows by."""
    return tables.body[:, 0] + tables.spare[:, 1], tables.body[:, [1, 4, 6]].mean(axis=1) + tables.spare[:, 0]
