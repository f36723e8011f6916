"""Poses that turn about z, X = (Rz, p) with c = cos, s = sin: what they do takes half the work of a general pose.

    Rz a = (c aₓ − s a_y,  s aₓ + c a_y,  a_z)
    X @ F, X @ I, to_child(X, V)   as for a `Pose` (spatial/algebra)

Joints about or along z whose frame in the parent turns about z too give such poses: a chain of parallel axes.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from nexdyn.generic import defines
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import ArticulatedInertia, Force, Mat3, Motion, Sym3, T, Vec3, moved, plus_cross, to_child


class PoseZ(NamedTuple):
    """R = [[c, −s, 0], [s, c, 0], [0, 0, 1]], and p."""

    c: float
    s: float
    p: Vec3


@formula
def about_z(X):
    """A `Pose` that is known to turn about z as what it is."""
    return PoseZ(X.R.xx, X.R.yx, X.p)


@formula
def turned_z(c, s, a):
    """Rz a; Rzᵀ a is that of −s."""
    return Vec3(c * a.x - s * a.y, s * a.x + c * a.y, a.z)


@formula
def symmetric_turned_z(c, s, S):
    """Rz S Rzᵀ; the trace of the block across z stays."""
    u, w = c * S.xx - s * S.xy, c * S.xy - s * S.yy
    xx = c * u - s * w
    return Sym3(xx, s * u + c * w, c * S.xz - s * S.yz, (S.xx + S.yy) - xx, s * S.xz + c * S.yz, S.zz)


@formula
def rows_turned_z(c, s, B):
    """Rz B."""
    return Mat3(
        c * B.xx - s * B.yx, c * B.xy - s * B.yy, c * B.xz - s * B.yz,
        s * B.xx + c * B.yx, s * B.xy + c * B.yy, s * B.xz + c * B.yz,
        B.zx, B.zy, B.zz,
    )  # fmt: skip


@defines(to_child)
def _(X: PoseZ, m: Motion) -> Any:
    return Motion(turned_z(X.c, -X.s, m.w), turned_z(X.c, -X.s, plus_cross(m.v, m.w, X.p)))


@defines(operator.matmul)
def _(X: PoseZ, f: Force) -> Any:
    g = turned_z(X.c, X.s, f.f)
    return Force(plus_cross(turned_z(X.c, X.s, f.n), X.p, g), g)


@defines(operator.matmul)
def _(X: PoseZ, I: ArticulatedInertia) -> Any:
    A, D = symmetric_turned_z(X.c, X.s, I.A), symmetric_turned_z(X.c, X.s, I.D)
    # Rz B Rzᵀ = (Rz (Rz B)ᵀ)ᵀ
    B = T(rows_turned_z(X.c, X.s, T(rows_turned_z(X.c, X.s, I.B))))
    return moved(X.p, A, B, D)
