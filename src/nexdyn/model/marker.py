"""Markers: named frames on bodies, for measures, forces and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nexdyn.errors import InputError
from nexdyn.model.body import Body
from nexdyn.model.element import Element, name_of
from nexdyn.model.placement import IDENTITY, rotation, unit_quaternion


class Marker(Element):
    """A frame fixed to `body`: `position` [m] and `orientation` (unit quaternion w, x, y, z) in the body's frame.

    With `at` [m] instead of `position`, the point and the `orientation` are in the world as described.
    """

    kind_of_element: ClassVar[str] = "marker"
    structural: ClassVar[frozenset[str]] = frozenset({"name", "body"})

    body: Body
    position: Any
    orientation: Any
    at: Any

    def __init__(
        self, name: str, body: Body | str, position: Any = None, orientation: Any = IDENTITY, *, at: Any = None
    ) -> None:
        super().__init__(name)
        self._store(body=body, position=position, orientation=orientation, at=at)

    def __repr__(self) -> str:
        return f"Marker({self.name!r}, on {name_of(self.body)!r})"

    def frame(self, values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """R_BM (3, 3) and p_BM (3,) [m] in the body's frame; needs the body, so the marker must be in a system."""
        R = rotation(unit_quaternion(self.orientation, values, f"orientation of {self}"))
        if self.at is None:
            return R, np.zeros(3) if self.position is None else np.array(self.floats_of("position", 3, values))
        R_WB, p_WB = self.body.pose(values)
        return R_WB.T @ R, R_WB.T @ (np.array(self.floats_of("at", 3, values)) - p_WB)

    def check(self, values: Mapping[str, float]) -> None:
        if self.at is not None and self.position is not None:
            raise InputError(f"{self} has position (in the body) and at (in the world); give one of them")
        for attribute in ("at", "position"):
            if self.__dict__[attribute] is not None:
                self.floats_of(attribute, 3, values)
        unit_quaternion(self.orientation, values, f"orientation of {self}")
