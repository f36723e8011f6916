"""Height fields: the solid below heights z_ij over a grid of x and y, as a closed mesh.

    x_i = −½ size_x + i size_x/(m − 1),    y_j = −½ size_y + j size_y/(n − 1),    z_ij = heights[i, j]

A cell is halved along the diagonal from (i, j) to (i + 1, j + 1), and each half is flat. The solid ends at vertical walls along the
rim and at a flat `bottom`, so that it has an inside, and a body next to it is outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.geometry.mesh import Mesh, mesh
from nexdyn.geometry.solid import positive

MOST_CELLS = 250_000


def height_field(heights: Any, size: Sequence[float], bottom: float | None = None, name: str = "height field") -> Mesh:
    """The solid below heights (m, n) [m] over a rectangle of edges `size` = (x, y) [m] about the origin.

    bottom: z [m] where it ends, by default the larger edge below the lowest height. InputError for what is no height field."""
    try:
        z = np.array(heights, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"heights of the {name} are {heights!r:.80}; numbers (m, n) are needed") from None
    if z.ndim != 2 or min(z.shape) < 2:
        raise InputError(f"heights of the {name} have shape {z.shape}; (m, n) of 2 and more each is needed")
    m, n = z.shape
    if (m - 1) * (n - 1) > MOST_CELLS:
        raise InputError(f"the {name} has {(m - 1) * (n - 1)} cells; at most {MOST_CELLS} are taken: make it coarser")
    if not np.isfinite(z).all():
        i, j = np.argwhere(~np.isfinite(z))[0]
        raise InputError(f"heights[{i}, {j}] of the {name} is {z[i, j]}; finite heights are needed")
    if np.shape(size) != (2,):
        raise InputError(f"size of the {name} is {size!r}; two edges (x, y) are needed")
    x, y = (positive(edge, f"size[{k}] of the {name}") for k, edge in enumerate(size))
    low = float(z.min()) - max(x, y) if bottom is None else float(bottom)
    if not low < z.min():
        raise InputError(f"bottom of the {name} is {low:g}; it must be below the lowest height, {z.min():g}")
    X, Y = np.meshgrid(np.linspace(-0.5 * x, 0.5 * x, m), np.linspace(-0.5 * y, 0.5 * y, n), indexing="ij")
    top = np.column_stack([X.ravel(), Y.ravel(), z.ravel()])
    at = np.arange(m * n).reshape(m, n)
    a, b, c, d = (at[i, j].ravel() for i, j in _CELL)
    # the rim, counter-clockwise from above, and below it
    rim = np.concatenate([at[:-1, 0], at[-1, :-1], at[:0:-1, -1], at[0, :0:-1]])
    after, under = np.roll(rim, -1), m * n + np.arange(len(rim))
    below, middle = top[rim] * [1.0, 1.0, 0.0] + [0.0, 0.0, low], m * n + len(rim)
    parts = (
        (a, b, c), (a, c, d), (rim, under, after), (after, under, np.roll(under, -1)),
        (under, np.full(len(rim), middle), np.roll(under, -1)),
    )  # fmt: skip
    return mesh(np.vstack([top, below, [[0.0, 0.0, low]]]), np.vstack([np.column_stack(part) for part in parts]), name)


_REST, _NEXT = slice(None, -1), slice(1, None)
_CELL = ((_REST, _REST), (_NEXT, _REST), (_NEXT, _NEXT), (_REST, _NEXT))
"""The corners of all cells, counter-clockwise from above."""
