"""Contact of two solids of triangles over an area, by elastic foundations: see ``mesh_overlap`` and ``surface_contact``."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from nexdyn.forces.contact import Extent, Placed
from nexdyn.forces.contact_data import OF_MESH, OVERLAP
from nexdyn.forces.foundations import BetweenSolids, place_of
from nexdyn.forces.mesh_overlap import CORNERS, Room
from nexdyn.forces.mesh_search import MeshPair
from nexdyn.forces.mesh_solid import NO_MESH, Cells, Solid, solid_from
from nexdyn.forces.mesh_tables import meshes_of
from nexdyn.forces.overlap import UNBOUNDED
from nexdyn.forces.surface_contact import observed

THIN = 0.1
"""The part of a surface under which a solid is thinner than it is said to be."""


class MeshContact(BetweenSolids):
    """Contact of solids by their triangles: each any shape, of which round ones have facets, but not both half-spaces."""

    kind = "mesh_contact"

    def placed(self, values: Mapping[str, float]) -> tuple[Placed, Placed]:
        return place_of(self.solid_a), place_of(self.solid_b)

    def meshes(self, values: Mapping[str, float]) -> list[Solid | None]:
        return [solid_from(self.solid_a), solid_from(self.solid_b)]

    def extent(self, values: Mapping[str, float]) -> Extent:
        thin, reach = inf, []
        for solid in self.meshes(values):
            reach.append(0.0 if solid is None else float(np.linalg.norm(solid.ball[:3])) + float(solid.ball[3]))
            if solid is not None:
                half = Cells(solid.cells).deepest
                half = half[np.isfinite(half) & (half > 0.0)]
                thin = min(thin, 2.0 * float(np.quantile(half, THIN)) if len(half) else inf)
        return Extent(thin, *reach)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Those of a point of contact, then those of ``mesh_search``, the meshes numbered as if there were no others."""
        solids = self.meshes(values)
        balls = [[0.0, 0.0, 0.0, UNBOUNDED] if solid is None else solid.ball.tolist() for solid in solids]
        first = NO_MESH if solids[0] is None else 0
        numbers = first, NO_MESH if solids[1] is None else first + 1
        return [*super().data(values), *self.parts(values), OF_MESH, *map(float, numbers), *balls[0], *balls[1], 0.0]

    def room(self, values: Mapping[str, float]) -> int:
        return 2 * CORNERS

    def motion_table(self, data: list[float], A: np.ndarray, B: np.ndarray, z: np.ndarray) -> np.ndarray:
        solids = [solid for solid in self.meshes({}) if solid is not None]
        pair = MeshPair(data, OVERLAP)
        meshes = meshes_of(solids, [(int(pair.mesh_a), int(pair.mesh_b))])
        return observed(data, A, B, z, Room(np.zeros((2 * CORNERS, 4)), meshes))
