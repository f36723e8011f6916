"""`nx.mass_properties`: mass, centre of mass and inertia of a uniform solid, meshes among them.

    m = ρ V,     c = p + R c_S,     I = ρ R I_S Rᵀ     about the centre of mass, in the axes of the body

V, c_S and I_S of the shape: closed forms, of hulls and meshes sums over the tetrahedra that their triangles make with a point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import InputError
from nexdyn.forces.mesh_solid import is_meshed, triangles_of
from nexdyn.geometry import mesh as geometry
from nexdyn.geometry.kinds import Catalogue
from nexdyn.model.placement import rotation
from nexdyn.model.shapes import Shape
from nexdyn.statics.shape_queries import added


@dataclass(frozen=True, eq=False)
class MassProperties(metaclass=CheckedCalls):
    """mass [kg], com (3,) [m], and inertia (3, 3) [kg m²] about it, in the axes in which the shape is placed."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray

    def __iter__(self) -> Iterator[Any]:
        """For `mass, com, inertia = …`."""
        return iter((self.mass, self.com, self.inertia))


@checked_call
def mass_properties(shape: Shape | geometry.Mesh, density: float) -> MassProperties:
    """Mass, centre of mass and inertia of a uniform solid of `density` [kg/m³], as `nx.System.add_body` takes them.

    shape: any shape with numbers for sizes, a closed `nx.Mesh` or `nx.HeightField` among them, or a mesh of `nexdyn.geometry`.

    Raises InputError for an open mesh and for a half-space, which have no volume, and for a density that is none.
    """
    rho = _density(density)
    if isinstance(shape, geometry.Mesh):
        of, R, p = shape.massive, np.eye(3), np.zeros(3)
    elif isinstance(shape, Shape):
        placed = shape.resolved({})
        R, p = rotation(placed.orientation), np.array(placed.position)
        if is_meshed(placed):
            of = triangles_of(placed).massive
        else:
            catalogue = Catalogue()
            of = catalogue.massive(added(catalogue, placed))
    else:
        raise InputError(f"shape is {shape!r:.80}; a shape, like nx.Mesh('part.stl'), is needed")
    return MassProperties(rho * of.volume, p + R @ of.centre, rho * R @ of.inertia @ R.T)


def _density(x: Any) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not 0.0 < x < math.inf:
        raise InputError(f"density is {x!r}; a number greater than 0 [kg/m³] is needed")
    return float(x)
