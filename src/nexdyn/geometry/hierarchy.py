"""A hierarchy of boxes over triangles: each node bounds two halves of its triangles, down to one.

Node k is a row (centre, half edges) of `nodes`, in the frame of the mesh; `child[k]` is its first child, the second one
behind it, or −1 − t at a leaf of triangle t. Triangles are halved at the median of their centres, along the axis in which
these are farthest apart, so that the depth is at most log₂ n + 1. Children come after their parent: to refit is one pass from the end.

Boxes i of A and j of B, with r from centre to centre, are no nearer than

    |max(|r| − h_A − |R| h_B, 0)|      in A's axes, R the rotation of B in A, and the same in B's axes.
"""

from __future__ import annotations

import numpy as np

from nexdyn.geometry.triangles import Triangle
from nexdyn.kernel import formula, kernel
from nexdyn.spatial.algebra import Mat3, T, Vec3
from nexdyn.spatial.table import Vec3Rows

MOST_OPEN = 128
"""Pairs of nodes on the stack of a search: one more than two depths, for 2⁶⁰ triangles."""


def build(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(order (nt,), child): the order of triangles `corners` (nt, 3, 3) in which leaves refer to them, and the children of nodes."""
    n = len(corners)
    centres = 0.5 * (corners.min(axis=1) + corners.max(axis=1))
    order = np.arange(n)
    child = np.zeros(2 * n - 1, dtype=np.int64)
    first, last, node = np.array([0]), np.array([n]), np.array([0])
    made = 1
    while len(node):
        single = last - first == 1
        child[node[single]] = -1 - first[single]
        first, last, node = first[~single], last[~single], node[~single]
        if not len(node):
            break
        # triangles of the nodes of this level, one after the other
        count = last - first
        of = np.repeat(np.arange(len(node)), count)
        at = np.arange(len(of)) + np.repeat(first - np.concatenate([[0], np.cumsum(count)[:-1]]), count)
        x, starts = centres[order[at]], np.concatenate([[0], np.cumsum(count)[:-1]])
        spread = np.maximum.reduceat(x, starts) - np.minimum.reduceat(x, starts)
        key = x[np.arange(len(x)), spread.argmax(axis=1)[of]]
        order[at] = order[at][np.lexsort((key, of))]
        middle = (first + last) // 2
        child[node] = made + 2 * np.arange(len(node))
        below = np.column_stack([child[node], child[node] + 1]).ravel()
        first, last = np.column_stack([first, middle]).ravel(), np.column_stack([middle, last]).ravel()
        node, made = below, made + len(below)
    return order, child


@formula
def triangle(corners, k):
    """Row k of the table of corners (nt, 9)."""
    return Triangle(Vec3Rows(corners, 0)[k], Vec3Rows(corners, 3)[k], Vec3Rows(corners, 6)[k])


@kernel
def refit(corners, child, nodes):
    """Fit the boxes to corners (nt, 9) that have moved."""
    centre, half = Vec3Rows(nodes, 0), Vec3Rows(nodes, 3)
    for k in range(len(child) - 1, -1, -1):
        i = child[k]
        if i < 0:
            t = triangle(corners, -1 - i)
            low = Vec3(min(t.p.x, t.q.x, t.r.x), min(t.p.y, t.q.y, t.r.y), min(t.p.z, t.q.z, t.r.z))
            high = Vec3(max(t.p.x, t.q.x, t.r.x), max(t.p.y, t.q.y, t.r.y), max(t.p.z, t.q.z, t.r.z))
        else:
            a, b, c, d = (
                centre[i] - half[i],
                centre[i + 1] - half[i + 1],
                centre[i] + half[i],
                centre[i + 1] + half[i + 1],
            )
            low = Vec3(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z))
            high = Vec3(max(c.x, d.x), max(c.y, d.y), max(c.z, d.z))
        middle = 0.5 * (low + high)
        # half edges from the rounded centre, so that the box holds both ends
        f, g = middle - low, high - middle
        centre[k], half[k] = middle, Vec3(max(f.x, g.x), max(f.y, g.y), max(f.z, g.z))


@formula
def positive_parts(R):
    """|R|, entry by entry."""
    return Mat3(
        abs(R.xx), abs(R.xy), abs(R.xz), abs(R.yx), abs(R.yy), abs(R.yz), abs(R.zx), abs(R.zy), abs(R.zz)
    )  # fmt: skip


@formula
def gap(r, h):
    """|max(|r| − h, 0)|²."""
    x, y, z = max(abs(r.x) - h.x, 0.0), max(abs(r.y) - h.y, 0.0), max(abs(r.z) - h.z, 0.0)
    return x * x + y * y + z * z


@formula
def between(ca, ha, cb, hb, X, S):
    """Lower bound of the square of the distance of two boxes, X the pose of B in A and S = |R|."""
    r = X.p + X.R @ cb - ca
    f = gap(r, ha + S @ hb)
    return max(f, gap(T(X.R) @ r, hb + T(S) @ ha))


def nodes_of(corners: np.ndarray, child: np.ndarray) -> np.ndarray:
    """The boxes (2 nt − 1, 6) of triangles `corners` (nt, 9)."""
    nodes = np.zeros((len(child), 6))
    refit(corners, child, nodes)
    return nodes
