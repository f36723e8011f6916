"""The columns of a free joint, the six unit motions of its child: types without content, as `AboutZ` and `AlongZ` are.

I h is a column of I, hᵀ f an entry of f: neither costs an operation.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from nexdyn.generic import defines
from nexdyn.spatial.algebra import ArticulatedInertia, Force, Vec3


class AboutX(NamedTuple):
    """H = (e_x, 0)."""


class AboutY(NamedTuple):
    """H = (e_y, 0)."""


class AlongX(NamedTuple):
    """H = (0, e_x)."""


class AlongY(NamedTuple):
    """H = (0, e_y)."""


ABOUT_X, ABOUT_Y, ALONG_X, ALONG_Y = AboutX(), AboutY(), AlongX(), AlongY()


@defines(operator.matmul)
def _(I: ArticulatedInertia, H: AboutX) -> Any:
    return Force(Vec3(I.A.xx, I.A.xy, I.A.xz), Vec3(I.B.xx, I.B.xy, I.B.xz))


@defines(operator.matmul)
def _(I: ArticulatedInertia, H: AboutY) -> Any:
    return Force(Vec3(I.A.xy, I.A.yy, I.A.yz), Vec3(I.B.yx, I.B.yy, I.B.yz))


@defines(operator.matmul)
def _(I: ArticulatedInertia, H: AlongX) -> Any:
    return Force(Vec3(I.B.xx, I.B.yx, I.B.zx), Vec3(I.D.xx, I.D.xy, I.D.xz))


@defines(operator.matmul)
def _(I: ArticulatedInertia, H: AlongY) -> Any:
    return Force(Vec3(I.B.xy, I.B.yy, I.B.zy), Vec3(I.D.xy, I.D.yy, I.D.yz))


@defines(operator.matmul)
def _(f: Force, H: AboutX) -> Any:
    return f.n.x


@defines(operator.matmul)
def _(f: Force, H: AboutY) -> Any:
    return f.n.y


@defines(operator.matmul)
def _(f: Force, H: AlongX) -> Any:
    return f.f.x


@defines(operator.matmul)
def _(f: Force, H: AlongY) -> Any:
    return f.f.y
