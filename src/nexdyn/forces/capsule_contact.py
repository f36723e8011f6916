"""Contact of a capsule of one body with a convex solid of another, at points: see ``capsule_press``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.ball_contact import solid_numbers, thin_and_far
from nexdyn.forces.capsule_press import ALIGNED, fill_crossed
from nexdyn.forces.contact import ContactForce, Extent, Placed, Seen
from nexdyn.forces.contact_data import OF_CAPSULE
from nexdyn.forces.foundations import BetweenSolids, place_of
from nexdyn.forces.mesh_overlap import Room
from nexdyn.forces.surface_contact import observed
from nexdyn.model.element import Element
from nexdyn.model.shapes import Capsule, Cylinder, Shape

ANGLES = 181
"""At how many angles between the axes the stiffness is computed."""
LITTLE, SHIFTS = 1e-4, 3
"""The part of its least size by which a capsule is pressed in where its stiffness is computed, and how often it is moved there."""


class CapsuleContact(BetweenSolids):
    """Contact of a capsule of `a` with a convex solid of `b`, at two points that share what the capsule presses with.

    solid_a: an nx.Capsule. solid_b: an nx.Capsule, nx.Box, nx.Hull, nx.Cylinder, nx.Cone or nx.Ellipsoid.
    stiffness [N/mᵉ] and exponent: of the whole contact where the axes cross, and of each end where the capsule lies. hertz [m], of a
    capsule or a cylinder: the stiffness is 4/3 E* [Pa], and hertz the relative radius of a sphere on the side of solid_b.
    rolling_resistance, turning_resistance: :class:`Foundations`. All else: :class:`ContactLaw`, without normal_force.
    """

    kind = "capsule_contact"
    structural = BetweenSolids.structural | {"hertz"}
    hertz: float | None

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str,
        *,
        solid_a: Shape,
        solid_b: Shape,
        stiffness: Any,
        exponent: Any = 1.5,
        hertz: float | None = None,
        **law: Any,
    ) -> None:
        super().__init__(name, a, b, solid_a=solid_a, solid_b=solid_b, **law)
        if not isinstance(solid_a, Capsule):
            raise InputError(f"solid_a of {self} is {solid_a}; it must be a Capsule")
        self._store(stiffness=stiffness, exponent=exponent, hertz=hertz)

    @property
    def over_area(self) -> bool:
        return False

    def placed(self, values: Mapping[str, float]) -> tuple[Placed, Placed]:
        return place_of(self.solid_a), place_of(self.solid_b)

    def shape(self, values: Mapping[str, float]) -> tuple[float, float, float, float]:
        """r, a, 0, and r_B where the stiffness is that of crossed cylinders."""
        capsule, other = self.solid_a, self.solid_b
        assert isinstance(capsule, Capsule)
        own = capsule.radius, 0.5 * capsule.length, 0.0
        return (*own, other.radius) if isinstance(other, Capsule | Cylinder) and self.hertz is not None else (*own, 0.0)

    def extent(self, values: Mapping[str, float]) -> Extent:
        radius, half, _, _ = self.shape(values)
        thinner, reach = thin_and_far(self.solid_b)
        return Extent(min(radius, thinner), radius + half, reach)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Those of a point of contact, then those of ``capsule_press``."""
        solid = [0.0, 0.0, OF_CAPSULE, *solid_numbers(self.solid_b)]
        return [*super().data(values), *solid, *(self.aligned(values) if self.hertz is not None else ())]

    def aligned(self, values: Mapping[str, float]) -> tuple[float, float, float]:
        """χ_0, α and β [m^0.5] of axes that are all but parallel."""
        assert self.hertz is not None
        (value, slope), least = self._crossed(values, ALIGNED), math.sqrt(self.hertz)
        beta = (slope - (value - least) / ALIGNED) / ALIGNED
        return least, slope - 2.0 * beta * ALIGNED, beta

    def _crossed(self, values: Mapping[str, float], x: float) -> tuple[float, float]:
        radius, _, _, other = self.shape(values)
        out = np.zeros(2)
        fill_crossed(radius, other, x, out)
        return float(out[0]), float(out[1])

    def factor(self, values: Mapping[str, float], x: float) -> float:
        """χ [m^0.5] by Hertz where sin² of the angle between the axes is x; else 1."""
        if self.hertz is None:
            return 1.0
        if x >= ALIGNED:
            return self._crossed(values, x)[0]
        least, alpha, beta = self.aligned(values)
        return least + x * (alpha + beta * x)

    def stiffnesses(self, values: Mapping[str, float]) -> list[float]:
        if self.hertz is None:
            return super().stiffnesses(values)
        k = self.law(values).stiffness
        found = [k * self.factor(values, math.sin(angle) ** 2) for angle in np.linspace(0.0, 0.5 * math.pi, ANGLES)]
        return [min(found), max(found)]

    def slope_in(self, values: Mapping[str, float], poses: list[np.ndarray], depth: float, load: float) -> float:
        e = self.law(values).exponent
        k = self._stiffness_at(values, poses, max(depth, LITTLE * self.extent(values).thinner))
        depth = max(depth, (load / k) ** (1.0 / e))
        return 0.0 if depth == 0.0 and e > 1.0 else k * e * depth ** (e - 1.0)

    def _stiffness_at(self, values: Mapping[str, float], poses: list[np.ndarray], depth: float) -> float:
        """f_n/δᵉ of both points at rest at a depth [m], capsule and solid turned as at the poses (12,)."""
        still, data = np.zeros(6), self.numbers(values)
        moved, other = (np.concatenate([pose, still])[None] for pose in poses)
        for _ in range(SHIFTS):
            row = Seen(self.motion_table(data, moved, other, np.zeros((1, 0)))[0, 0])
            moved[0, 9:12] += (float(row.depth) - depth) * np.array(row.normal)
        row = Seen(self.motion_table(data, moved, other, np.zeros((1, 0)))[0, 0])
        return float(row.normal_force) / float(row.depth) ** self.law(values).exponent

    def room(self, values: Mapping[str, float]) -> int:
        return 1

    def pressed(self, values: Mapping[str, float], A: np.ndarray, B: np.ndarray) -> tuple[float, float]:
        return ContactForce.pressed(self, values, A, B)

    def motion_table(self, data: list[float], A: np.ndarray, B: np.ndarray, z: np.ndarray) -> np.ndarray:
        return observed(data, A, B, z, Room(np.zeros((1, 4)), None))
