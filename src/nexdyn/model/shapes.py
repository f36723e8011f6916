"""Shapes of bodies: for the viewer, for the inertia of a uniform solid, and for distances. Sizes in metres, in the body's frame.

The axis of a cylinder, a capsule and a cone is z of the shape; a capsule's length is that of its cylindrical part. The origin of a
cone is halfway up. `solid`: the inertia about the origin of the shape, which is its centre, is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass, field, fields, replace
from pathlib import PurePath
from typing import Any, ClassVar, Self

import numpy as np

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, unknown
from nexdyn.model.parameters import floats, frozen, names_in, number, sequence
from nexdyn.model.placement import unit_quaternion
from nexdyn.spatial import rotations, solids
from nexdyn.spatial.lengths import UNITS

_NO_VALUES: Mapping[str, float] = {}


@dataclass(frozen=True)
class Shape(metaclass=CheckedCalls):
    """What every shape has: `position` [m], `orientation` (quaternion w, x, y, z) in the body's frame, `color`, `name`.

    `color`: red, green, blue and perhaps opacity, each 0 to 1. Sizes may be expressions ("=L"); `resolved` has numbers.
    """

    solid: ClassVar[bool] = True
    bounded: ClassVar[bool] = True

    position: Any = field(default=(0.0, 0.0, 0.0), kw_only=True)
    orientation: Any = field(default=(1.0, 0.0, 0.0, 0.0), kw_only=True)
    color: Any = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, frozen(getattr(self, item.name)))
        if not names_in(self):
            self.check(_NO_VALUES)

    def __str__(self) -> str:
        return f"{type(self).__name__}{'' if self.name is None else f' {self.name!r}'}"

    def check(self, values: Mapping[str, float]) -> None:
        """Raise InputError if a size or the pose is not valid under the parameter `values`."""
        floats(self.position, 3, values, f"position of {self}")
        unit_quaternion(self.orientation, values, f"orientation of {self}")
        if self.color is not None:
            count = 4 if isinstance(self.color, Sized) and len(self.color) == 4 else 3
            if any(not 0.0 <= part <= 1.0 for part in floats(self.color, count, values, f"color of {self}")):
                raise InputError(f"color of {self} is {self.color}; red, green, blue, opacity are between 0 and 1")
        self._sizes(values)

    def resolved(self, values: Mapping[str, float]) -> Self:
        """The same shape with numbers in place of expressions."""
        self.check(values)
        pose: dict[str, Any] = {
            "position": floats(self.position, 3, values, "position"),
            "orientation": unit_quaternion(self.orientation, values, "orientation"),
        }
        return replace(self, **pose, **self._sizes(values))

    def inertia(self, mass: float) -> np.ndarray:
        """Inertia [kg m²] of a uniform solid of this shape and `mass` [kg] about its centre, in body axes, (3, 3)."""
        R = rotations.rotation_matrix(np.array(unit_quaternion(self.orientation, _NO_VALUES, f"orientation of {self}")))
        return np.asarray(R @ self._inertia(number(mass, None, f"mass of {self}")) @ R.T)

    def _sizes(self, values: Mapping[str, float]) -> dict[str, Any]:
        return {}

    def _inertia(self, mass: float) -> np.ndarray:
        raise InputError(f"{self} is no solid whose inertia is known; give the body its inertia")


@dataclass(frozen=True)
class Box(Shape):
    """A box of edges `size` = (x, y, z) [m] about its centre."""

    size: Any

    def _sizes(self, values: Mapping[str, float]) -> dict[str, Any]:
        size = floats(self.size, 3, values, f"size of {self}")
        return {"size": tuple(_positive(x, f"size[{i}] of {self}") for i, x in enumerate(size))}

    def _inertia(self, mass: float) -> np.ndarray:
        return solids.box(mass, self._sizes(_NO_VALUES)["size"])


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere of `radius` [m]."""

    radius: Any

    def _sizes(self, values: Mapping[str, float]) -> dict[str, Any]:
        return {"radius": _positive(number(self.radius, values, f"radius of {self}"), f"radius of {self}")}

    def _inertia(self, mass: float) -> np.ndarray:
        return solids.sphere(mass, **self._sizes(_NO_VALUES))


@dataclass(frozen=True)
class _Round(Shape):
    radius: Any
    length: Any

    def _sizes(self, values: Mapping[str, float]) -> dict[str, Any]:
        radius = number(self.radius, values, f"radius of {self}")
        length = number(self.length, values, f"length of {self}")
        return {"radius": _positive(radius, f"radius of {self}"), "length": _positive(length, f"length of {self}")}


@dataclass(frozen=True)
class Cylinder(_Round):
    """A cylinder of `radius` and `length` [m] along z."""

    def _inertia(self, mass: float) -> np.ndarray:
        return solids.cylinder(mass, **self._sizes(_NO_VALUES))


@dataclass(frozen=True)
class Capsule(_Round):
    """A capsule along z: `radius` [m], and `length` [m] of the cylindrical part."""

    def _inertia(self, mass: float) -> np.ndarray:
        return solids.capsule(mass, **self._sizes(_NO_VALUES))


@dataclass(frozen=True)
class Cone(_Round):
    """A cone along z: `radius` [m] of its base, and `length` [m] from the base at z = −length/2 to the apex."""

    solid: ClassVar[bool] = False


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid of three `semi_axes` (x, y, z) [m]."""

    semi_axes: Any

    def _sizes(self, values: Mapping[str, float]) -> dict[str, Any]:
        axes = floats(self.semi_axes, 3, values, f"semi_axes of {self}")
        return {"semi_axes": tuple(_positive(x, f"semi_axes[{i}] of {self}") for i, x in enumerate(axes))}

    def _inertia(self, mass: float) -> np.ndarray:
        square = np.square(self._sizes(_NO_VALUES)["semi_axes"])
        return np.diag(mass / 5.0 * (square.sum() - square))


@dataclass(frozen=True)
class Hull(Shape):
    """The convex hull of `points` (n, 3) [m]."""

    points: Any
    solid: ClassVar[bool] = False

    def _sizes(self, values: Mapping[str, float]) -> dict[str, Any]:
        given = sequence(self.points, f"points of {self}", "four points (x, y, z) or more")
        if len(given) < 4:
            raise InputError(f"points of {self} are {len(given)}; four points (x, y, z) or more are needed")
        return {"points": tuple(floats(x, 3, values, f"points[{i}] of {self}") for i, x in enumerate(given))}


@dataclass(frozen=True)
class HalfSpace(Shape):
    """All points with z ≤ 0 in the frame of the shape: a floor, a wall. For collisions only: it has no end."""

    solid: ClassVar[bool] = False
    bounded: ClassVar[bool] = False


@dataclass(frozen=True)
class HeightField(Shape):
    """The solid below `heights` (m, n) [m] at equal steps over a rectangle of edges `size` (x, y) [m] about the origin.

    `bottom`: z [m] where it ends; None: the larger edge below the lowest height."""

    heights: Any
    size: Any
    bottom: Any = None
    solid: ClassVar[bool] = False

    def _sizes(self, values: Mapping[str, float]) -> dict[str, Any]:
        needed = "rows of heights of one length, two or more each way,"
        rows = sequence(self.heights, f"heights of {self}", needed)
        count = len(rows[0]) if rows and isinstance(rows[0], tuple) else 0
        if len(rows) < 2 or count < 2:
            raise InputError(f"heights of {self} have no two rows of two; {needed} are needed")
        size = floats(self.size, 2, values, f"size of {self}")
        bottom = None if self.bottom is None else number(self.bottom, values, f"bottom of {self}")
        return {
            "heights": tuple(floats(row, count, values, f"heights[{i}] of {self}") for i, row in enumerate(rows)),
            "size": tuple(_positive(x, f"size[{i}] of {self}") for i, x in enumerate(size)),
            "bottom": bottom,
        }


@dataclass(frozen=True)
class Mesh(Shape):
    """A mesh file; its `path` is kept as given, the file is read where it is drawn or compared.

    unit: of the file's lengths, "m", "cm", "mm", "um", "in" or "ft"; None: metres, or what a COLLADA file states. scale: factors
    (x, y, z) on top of it; negative ones mirror."""

    path: str
    scale: Any = (1.0, 1.0, 1.0)
    unit: str | None = None
    solid: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | PurePath) or not str(self.path):
            raise InputError(f"path of a mesh is {self.path!r}; the name of a file is needed")
        if self.unit is not None and not (isinstance(self.unit, str) and self.unit in UNITS):
            raise unknown("unit", self.unit, UNITS)
        object.__setattr__(self, "path", str(self.path))
        super().__post_init__()

    def _sizes(self, values: Mapping[str, float]) -> dict[str, Any]:
        scale = floats(self.scale, 3, values, f"scale of {self}")
        if 0.0 in scale:
            raise InputError(f"scale of {self} is {scale}; no component may be 0")
        return {"scale": scale}


def _positive(x: float, what: str) -> float:
    if not x > 0.0:
        raise InputError(f"{what} is {x:g}; it must be greater than 0")
    return x
