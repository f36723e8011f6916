"""Contact of a cylinder, a cone, a capsule or an ellipsoid of one body with a half-space of another: over an area (``sunk``); of a
cylinder also along a line, of an ellipsoid at a point (``touched``)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from nexdyn.forces.ball_contact import solid_numbers
from nexdyn.forces.contact import ContactForce, Extent, Placed, Seen
from nexdyn.forces.contact_data import OF_ROUND
from nexdyn.forces.foundations import BetweenSolids, place_of
from nexdyn.forces.mesh_overlap import Room
from nexdyn.forces.surface_contact import observed
from nexdyn.forces.touched import GIVEN, HERTZ, OVER_AREA
from nexdyn.model.element import Element
from nexdyn.model.materials import Numbers, contact_modulus
from nexdyn.model.shapes import Cylinder, Ellipsoid

LITTLE = 1e-4
"""The part of its least size by which a solid is pressed in where its stiffness is told."""
HALVED, DIFFERENCE = 60, 1e-4
"""How often an interval of depths is halved, and the part of a depth over which a difference is taken."""


class RoundContact(BetweenSolids):
    """Contact of a round solid of `a`, an nx.Cylinder, nx.Cone, nx.Capsule or nx.Ellipsoid, with an nx.HalfSpace of `b`.

    foundation_a, foundation_b: over an area. Else an nx.Ellipsoid touches at a point, an nx.Cylinder along a line and on its ends:
    stiffness and exponent, of a cylinder of its whole line and of a whole end; or hertz, and stiffness 4/3 E* of an ellipsoid, E* [Pa] of
    a cylinder: hertz is 1 of an ellipsoid, Q [m] of a cylinder (`reach_of`). Of an ellipsoid also normal_force.
    """

    kind = "round_contact"
    structural = BetweenSolids.structural | {"hertz"}
    hertz: float | None

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str,
        *,
        stiffness: Any = None,
        exponent: Any = 1.5,
        hertz: float | None = None,
        **law: Any,
    ) -> None:
        super().__init__(name, a, b, **law)
        self._store(hertz=hertz)
        if not self.over_area:
            self._store(stiffness=stiffness, exponent=exponent)

    @property
    def over_area(self) -> bool:
        return self.foundation_a is not None or self.foundation_b is not None

    def placed(self, values: Mapping[str, float]) -> tuple[Placed, Placed]:
        return place_of(self.solid_a), place_of(self.solid_b)

    def extent(self, values: Mapping[str, float]) -> Extent:
        _, *size, margin, _, _ = solid_numbers(self.solid_a)
        return Extent(inf, float(np.linalg.norm(size)) + margin, 0.0)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Those of a point of contact, then those of ``sunk``."""
        kind, *sizes, _, _ = solid_numbers(self.solid_a)
        parts, by = [0.0, 0.0], GIVEN if self.hertz is None else HERTZ
        if self.over_area:
            parts, by = self.parts(values), OVER_AREA
        return [*super().data(values), *parts, OF_ROUND, kind, *sizes, by, self.hertz or 0.0]

    def room(self, values: Mapping[str, float]) -> int:
        return 1

    def motion_table(self, data: list[float], A: np.ndarray, B: np.ndarray, z: np.ndarray) -> np.ndarray:
        return observed(data, A, B, z, Room(np.zeros((1, 4)), None))

    def pressed(self, values: Mapping[str, float], A: np.ndarray, B: np.ndarray) -> tuple[float, float]:
        return super().pressed(values, A, B) if self.over_area else ContactForce.pressed(self, values, A, B)

    def stiffness_unit(self, values: Mapping[str, float]) -> str:
        return "N/m" if self._along_line else super().stiffness_unit(values)

    @property
    def _along_line(self) -> bool:
        return self.hertz is not None and isinstance(self.solid_a, Cylinder)

    def stiffnesses(self, values: Mapping[str, float]) -> list[float]:
        if self.hertz is None:
            return super().stiffnesses(values)
        turns, size, power = [np.eye(3)[[1, 2, 0]]], self.solid_a, 1.0
        if isinstance(size, Ellipsoid):
            turns, power = [np.eye(3)[[i, (i + 1) % 3, (i + 2) % 3]] for i in range(3)], 1.5
        depth = LITTLE * min(x for x in solid_numbers(size)[1:4] if x > 0.0)
        plane = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
        poses = [np.concatenate([R.ravel(), np.zeros(3)]) for R in turns]
        return [self._force_at(values, A, plane, depth) / depth**power for A in poses]

    def slope_in(self, values: Mapping[str, float], poses: list[np.ndarray], depth: float, load: float) -> float:
        if self.over_area or self.normal_force is not None:
            return super().slope_in(values, poses, depth, load)
        A, B = poses
        _, *sizes, _, _, _ = solid_numbers(self.solid_a)
        most = min(x for x in sizes if x > 0.0)
        depth = max(depth, 0.0)
        if self._force_at(values, A, B, depth) < load:
            low, high = depth, most
            for _ in range(HALVED):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if self._force_at(values, A, B, middle) < load else (low, middle)
            depth = high
        if not depth > 0.0:
            return 0.0
        up, down = (self._force_at(values, A, B, (1.0 + x) * depth) for x in (DIFFERENCE, -DIFFERENCE))
        return (up - down) / (2.0 * DIFFERENCE * depth)

    def _force_at(self, values: Mapping[str, float], A: np.ndarray, B: np.ndarray, depth: float) -> float:
        """f_n [N] at rest at a depth [m], the solid turned as at the pose A (12,), the half-space at B."""
        n, still = B[:9].reshape(3, 3)[:, 2], np.zeros(6)
        A = A.copy()
        data, below = self.numbers(values), np.concatenate([B, still])[None]
        for _ in range(2):
            row = Seen(self.motion_table(data, np.concatenate([A, still])[None], below, np.zeros((1, 0)))[0, 0])
            A[9:] += (float(row.depth) - depth) * n
        row = Seen(self.motion_table(data, np.concatenate([A, still])[None], below, np.zeros((1, 0)))[0, 0])
        return float(row.normal_force)


def reach_of(solid: Cylinder, material: Numbers, below: Numbers) -> float:
    """Q [m] of ``touched``, of the materials of the cylinder and of the half-space."""
    E = contact_modulus(material, below)
    of_solid, of_plane = ((1.0 - x.poisson**2) / x.young * E for x in (material, below))
    wide, long = 4.0 * solid.radius, 2.0 * solid.length
    return math.pi / wide * float(wide ** (2.0 * of_solid) * long ** (2.0 * of_plane)) * math.exp(of_plane - of_solid)
