"""Contact over an area of a cylinder, a cone, a capsule or an ellipsoid of one body with a half-space of another: see ``sunk``."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from nexdyn.forces.ball_contact import solid_numbers
from nexdyn.forces.contact import Extent, Placed
from nexdyn.forces.contact_data import OF_ROUND
from nexdyn.forces.foundations import BetweenSolids, place_of
from nexdyn.forces.mesh_overlap import Room
from nexdyn.forces.surface_contact import observed


class RoundContact(BetweenSolids):
    """Contact of a round solid of `a`, an nx.Cylinder, nx.Cone, nx.Capsule or nx.Ellipsoid, with an nx.HalfSpace of `b`."""

    kind = "round_contact"

    def placed(self, values: Mapping[str, float]) -> tuple[Placed, Placed]:
        return place_of(self.solid_a), place_of(self.solid_b)

    def extent(self, values: Mapping[str, float]) -> Extent:
        _, *size, margin, _, _ = solid_numbers(self.solid_a)
        return Extent(inf, float(np.linalg.norm(size)) + margin, 0.0)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Those of a point of contact, then those of ``sunk``."""
        kind, *sizes, _, _ = solid_numbers(self.solid_a)
        return [*super().data(values), *self.parts(values), OF_ROUND, kind, *sizes]

    def room(self, values: Mapping[str, float]) -> int:
        return 1

    def motion_table(self, data: list[float], A: np.ndarray, B: np.ndarray, z: np.ndarray) -> np.ndarray:
        return observed(data, A, B, z, Room(np.zeros((1, 4)), None))
