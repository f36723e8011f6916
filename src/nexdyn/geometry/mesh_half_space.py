"""The signed distance of a half-space and a triangle mesh: the height of the mesh's lowest vertex over the plane.

    d = min over vertices x of n·(x − o) − margin,        o a point of the plane, n its outward normal

exact apart and overlapping, where −d is the least translation that parts them: only along n can it leave. A box with centre c
and half edges h has no point lower than n·(c − o) − |n|·h, which leaves out all of the hierarchy but a few paths. Of equally
low vertices the first found is the witness; the patch of a face or an edge that lies flat has its centre (mesh_patch.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.geometry.hierarchy import MOST_OPEN, triangle
from nexdyn.geometry.mesh import Surface
from nexdyn.geometry.narrow import ANSWER, FOUND, NOT_FINITE, is_finite
from nexdyn.kernel import formula, kernel
from nexdyn.spatial.algebra import T, Vec3, plus_turned
from nexdyn.spatial.table import PoseRows, Vec3Rows


@formula
def least(centre, half, n, k):
    """The least n·x of the box of node k."""
    c, h = centre[k], half[k]
    return n @ c - (abs(n.x) * h.x + abs(n.y) * h.y + abs(n.z) * h.z)


@formula
def lowest(mesh, n, open):
    """A vertex with the least n·x."""
    centre, half = Vec3Rows(mesh.nodes, 0), Vec3Rows(mesh.nodes, 3)
    best, found = np.inf, Vec3(0.0, 0.0, 0.0)
    open[0, 0], count = 0, 1
    while count > 0:
        count -= 1
        k = open[count, 0]
        if least(centre, half, n, k) >= best:
            continue
        i = mesh.child[k]
        if i >= 0:
            first = least(centre, half, n, i) <= least(centre, half, n, i + 1)
            open[count, 0], open[count + 1, 0] = (i + 1, i) if first else (i, i + 1)
            count += 2
            continue
        t = triangle(mesh.corners, -1 - i)
        for c in range(3):
            x = t.p if c == 0 else t.q if c == 1 else t.r
            h = n @ x
            if h < best:
                best, found = h, x
    return found


@kernel
def half_space_distances(poses_space, mesh, margin, poses, open, answers, status):
    """Answers (n, ANSWER) of half-spaces z ≤ 0 in poses (n, 12), and of a mesh, as `narrow.distances`."""
    XA, XB = PoseRows(poses_space, 0), PoseRows(poses, 0)
    N, P, Q = Vec3Rows(answers, 1), Vec3Rows(answers, 4), Vec3Rows(answers, 7)
    for k in range(len(poses)):
        A, B = XA[k], XB[k]
        answers[k, :] = 0.0
        status[k] = NOT_FINITE
        if is_finite(A) and is_finite(B):
            n = Vec3(A.R.xz, A.R.yz, A.R.zz)
            b = plus_turned(B.p, B.R, lowest(mesh, T(B.R) @ n, open)) - margin * n
            d = n @ (b - A.p)
            status[k] = FOUND
            answers[k, 0] = d
            N[k], P[k], Q[k] = n, b - d * n, b


def space_distances(surface: Surface, poses_space: Any, poses: Any) -> np.ndarray:
    """Answers (n, ANSWER) of half-spaces in poses (n, 12) and a surface. InputError for a pose that is not finite."""
    answers, status = np.zeros((len(poses), ANSWER)), np.zeros(len(poses), dtype=np.int64)
    open = np.zeros((MOST_OPEN, 1), dtype=np.int64)
    half_space_distances(poses_space, surface.tables, surface.margin, poses, open, answers, status)
    if (status != FOUND).any():
        raise InputError(f"pose {(status != FOUND).argmax()} is not finite")
    return answers


def turned_round(answers: np.ndarray) -> np.ndarray:
    """Answers of (b, a) from those of (a, b)."""
    return np.hstack([answers[:, :1], -answers[:, 1:4], answers[:, 7:10], answers[:, 4:7], answers[:, 10:]])
