"""What every page of a shape is made of: the record of a shape, and the contract that a page fulfils.

A shape is a convex core swept by a ball of radius `margin`: a sphere is a point, a capsule a segment with a margin. Its row
in the table of shapes (n, COLUMNS) holds

    kind, size x, y, z, margin, bounding radius, first and last vertex, first and last face

Vertices (nv, 3) and faces (nf, 4) = (outward unit normal, offset) are tables that all convex hulls share. Everything is
in the frame of the shape, whose origin lies in the core.

The kernels of a page compute on the core, in its own frame; `tables` holds what shapes share:

    support(s, tables, n)   a point of the core that is farthest along n:  h(n) = max n·x
    excess(s, tables, x)    how far x is outside: at most the distance, 0 inside
    nearest(s, tables, x)   (signed distance of x, outward unit normal there), where a closed form exists
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Vec3

HALF_SPACE, POINT, SEGMENT, BOX, CYLINDER, CONE, ELLIPSOID, HULL = range(8)
COLUMNS = 10


class Solid(NamedTuple):
    kind: int
    size: Vec3
    margin: float
    radius: float
    first: int
    last: int
    first_face: int
    last_face: int


@formula
def solid_of(shapes, i):
    """Row i of the table of shapes."""
    return Solid(
        int(shapes[i, 0]), Vec3(shapes[i, 1], shapes[i, 2], shapes[i, 3]), shapes[i, 4], shapes[i, 5],
        int(shapes[i, 6]), int(shapes[i, 7]), int(shapes[i, 8]), int(shapes[i, 9]),
    )  # fmt: skip


@dataclass(frozen=True)
class Massive:
    """Volume [m³], centre (3,) [m] and inertia per density (3, 3) [m⁵] about that centre, in the frame of the shape."""

    volume: float
    centre: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True)
class Page:
    """What is true of one kind of shape; a field left out is an error when the package is imported."""

    name: str
    kind: int
    sizes: tuple[str, ...]
    """The arguments that make one."""
    round: bool
    """Support points do not span its features: features.py finds them."""
    support: Callable[..., Any]
    excess: Callable[..., Any]
    nearest: Callable[..., Any] | None
    """None where no closed form exists."""
    made: Callable[..., tuple[tuple[float, float, float], float, float]]
    """Size of the core, margin and bounding radius [m] from the arguments."""
    massive: Callable[..., Massive] | None
    """None where the shape has no volume of its own."""
    curvatures: Callable[..., tuple[float, float]]
    """Principal curvatures [1/m] of the surface at a point x with outward normal n; inf at an edge or vertex."""


def positive(value: Any, what: str) -> float:
    """`value` as a length [m] that is greater than 0 and finite; InputError otherwise."""
    try:
        x = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{what} is {value!r}; a length greater than 0 is needed") from None
    if not 0.0 < x < np.inf:
        raise InputError(f"{what} is {x:g}; it must be greater than 0 and finite")
    return x
