"""Half-space: all points with z ≤ 0; its surface is z = 0, its outward normal e_z."""

from __future__ import annotations

import numpy as np

from nexdyn.geometry.solid import HALF_SPACE, Page
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Vec3


@formula
def support(s, tables, n):
    """The origin: the only n for which the support is finite is e_z."""
    return Vec3(0.0, 0.0, 0.0)


@formula
def excess(s, tables, x):
    """max(z, 0)."""
    return max(x.z, 0.0)


@formula
def nearest(s, tables, x):
    """z, e_z."""
    return x.z, Vec3(0.0, 0.0, 1.0)


PAGE = Page(
    name="half-space",
    kind=HALF_SPACE,
    sizes=(),
    round=False,
    support=support,
    excess=excess,
    nearest=nearest,
    made=lambda: ((0.0, 0.0, 0.0), 0.0, np.inf),
    massive=None,
    curvatures=lambda x, n: (0.0, 0.0),
)
