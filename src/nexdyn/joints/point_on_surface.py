"""Point on a surface: the child's point stays on a surface of the parent, wherever the child turns.

Surface = 0, the distance from the surface or a function that vanishes on it (``constraints.surface``)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nexdyn.errors import InputError
from nexdyn.joints.sided import SidedJoint
from nexdyn.model.joint import TURNS, Joint
from nexdyn.model.surfaces import Surface


class PointOnSurface(SidedJoint):
    """Keeps `anchor_b` of the child (its origin by default) on `surface`. A constraint only, supported by absolute coordinates.

    surface: a SphereSurface, CylinderSurface, PlaneSurface, EllipsoidSurface, TorusSurface, ImplicitSurface or
        ParametricSurface in the frame that `anchor_a`, `axis_a`, `reference_a` give on the parent (its own by default).
    """

    kind = "point_on_surface"
    rows = (("Surface", 1),)
    ways = (*TURNS, ("slides on its surface", 2))
    structural = Joint.structural | {"surface"}
    refused = ("at", "axis", "reference", "axis_b", "reference_b")
    surface: Surface

    def __init__(self, name: str, parent: Any, child: Any, *, surface: Any, **options: Any) -> None:
        super().__init__(name, parent, child, **options)
        self._store(surface=surface)

    @property
    def followed(self) -> int:  # type: ignore[override]
        """Parameters of the point that are followed along a motion."""
        return self.surface.parameters

    def data(self, values: Mapping[str, float]) -> list[float]:
        self._callbacks = self.surface.callbacks()
        return self.surface.row(values)

    def check_own(self, values: Mapping[str, float]) -> None:
        if not isinstance(self.surface, Surface):
            raise InputError(f"surface of {self} is {self.surface!r}; a SphereSurface, ImplicitSurface, … is needed")
        try:
            self.surface.row(values)
        except InputError as error:
            raise type(error)(f"surface of {self}: {error}") from error
