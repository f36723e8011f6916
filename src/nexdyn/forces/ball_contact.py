"""Contact of a sphere of one body with a solid of another, at a point or over an area: see ``ball``."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.between import positive
from nexdyn.forces.contact import UNMOVED, ContactForce, Extent, Placed
from nexdyn.forces.contact_data import OF_BALL
from nexdyn.forces.foundations import Foundations, normal_of, place_of
from nexdyn.forces.mesh_overlap import Room
from nexdyn.forces.surface_contact import observed
from nexdyn.geometry.hull import surface
from nexdyn.geometry.kinds import PAGES
from nexdyn.geometry.solid import HULL
from nexdyn.model.element import Element
from nexdyn.model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, HalfSpace, Hull, Shape, Sphere


class BallContact(Foundations):
    """Contact of a sphere of body `a` with a solid of body `b`.

    radius [m]: of the sphere; anchor_a or at_a: its centre. solid: a resolved shape, in the axes of `b`.
    stiffness and exponent: at a point; or foundation_a, foundation_b [N/m³]: over an area, where the solid is a sphere or has flat faces.
    rolling_resistance, turning_resistance: :class:`Foundations`. All else: :class:`ContactLaw`.
    """

    kind = "ball_contact"
    structural = ContactForce.structural | {"solid"}
    radius: Any
    solid: Shape

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str,
        *,
        radius: Any,
        solid: Shape,
        foundation_a: Any = None,
        foundation_b: Any = None,
        stiffness: Any = None,
        exponent: Any = 1.5,
        rolling_resistance: Any = 0.0,
        turning_resistance: Any = 0.0,
        **law: Any,
    ) -> None:
        if stiffness is None and not foundation_a is foundation_b is None:
            stiffness = 1.0
        super().__init__(name, a=a, b=b, stiffness=stiffness, exponent=exponent, **law)
        self._store(
            radius=radius, solid=solid, foundation_a=foundation_a, foundation_b=foundation_b,
            rolling_resistance=rolling_resistance, turning_resistance=turning_resistance,
        )  # fmt: skip

    def placed(self, values: Mapping[str, float]) -> tuple[Placed, Placed]:
        return UNMOVED, place_of(self.solid)

    def normals(self, values: Mapping[str, float]) -> tuple[np.ndarray | None, np.ndarray | None]:
        return None, normal_of(self.solid)

    @property
    def over_area(self) -> bool:
        return self.foundation_a is not None or self.foundation_b is not None

    def shape(self, values: Mapping[str, float]) -> tuple[float, float, float, float]:
        return positive(self, "radius", values), 0.0, 0.0, 0.0

    def extent(self, values: Mapping[str, float]) -> Extent:
        radius = positive(self, "radius", values)
        thinner, reach = thin_and_far(self.solid)
        return Extent(thinner if thinner == math.inf else min(radius, thinner), radius, reach)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Those of a point of contact, then those of ``ball``."""
        numbers, parts = super().data(values), self.parts(values) if self.over_area else [0.0, 0.0]
        return [*numbers, *parts, OF_BALL, *solid_numbers(self.solid)]

    def pressed(self, values: Mapping[str, float], A: np.ndarray, B: np.ndarray) -> tuple[float, float]:
        return ContactForce.pressed(self, values, A, B)

    def room(self, values: Mapping[str, float]) -> int:
        return 1

    def motion_table(self, data: list[float], A: np.ndarray, B: np.ndarray, z: np.ndarray) -> np.ndarray:
        return observed(data, A, B, z, Room(np.zeros((1, 4)), None))


def thin_and_far(solid: Shape) -> tuple[float, float]:
    """How far a solid reaches in from its surface, and from the origin of its frame [m]; of a half-space without end, and 0."""
    match solid:
        case HalfSpace():
            return math.inf, 0.0
        case Hull():
            corners, faces, _ = surface(solid.points)
            centre, far = corners.mean(axis=0), np.linalg.norm(corners, axis=1)
            return float((faces[:, 3] - faces[:, :3] @ centre).min()), float(far.max())
        case _:
            _, *size, margin, _, _ = solid_numbers(solid)
            return margin if margin > 0.0 else min(size), float(np.linalg.norm(size)) + margin


@functools.lru_cache(maxsize=256)
def solid_numbers(shape: Shape) -> tuple[float, ...]:
    """Its kind, sizes, margin, numbers of triangles and faces, and these, in its own frame."""
    match shape:
        case HalfSpace():
            page, sizes = PAGES["half-space"], {}
        case Sphere():
            page, sizes = PAGES["sphere"], {"radius": shape.radius}
        case Box():
            page, sizes = PAGES["box"], {"size": shape.size}
        case Capsule() | Cylinder() | Cone():
            page, sizes = PAGES[type(shape).__name__.lower()], {"radius": shape.radius, "length": shape.length}
        case Ellipsoid():
            page, sizes = PAGES["ellipsoid"], {"semi_axes": shape.semi_axes}
        case Hull():
            _, faces, triangles = surface(shape.points)
            counts = (len(triangles), len(faces))
            return (HULL, 0.0, 0.0, 0.0, 0.0, *counts, *faces.ravel().tolist(), *triangles.ravel().tolist())
        case _:
            raise InputError(f"a sphere and {shape} know no contact with each other")
    size, margin, _ = page.made(**sizes)
    return (page.kind, *size, margin, 0.0, 0.0)
