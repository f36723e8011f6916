"""Rigid bodies, and what makes an inertia physical.

A tensor I about the centre of mass belongs to a mass distribution if and only if Σ = ½ tr(I) 1 − I is positive
semidefinite (Σ = ∫ r rᵀ dm; Wensing, Kim, Slotine 2018), that is, if its principal moments satisfy
A + B ≥ C, B + C ≥ A, C + A ≥ B, from which A, B, C ≥ 0 follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from nexdyn.errors import InputError, warn
from nexdyn.model.element import Element
from nexdyn.model.once import once
from nexdyn.model.parameters import floats, sequence
from nexdyn.model.placement import IDENTITY, ORIGIN, Triple, rotation, unit_quaternion
from nexdyn.model.shapes import Shape

VALID = "Box, Sphere, Cylinder, Capsule, Cone, Ellipsoid, Hull, HeightField, Mesh"
"""Shapes, as messages list them."""
TOLERANCE = 1e-9
"""Relative tolerance of symmetry and of the triangle inequality."""


class ResolvedBody(NamedTuple):
    """A body in numbers: mass [kg], com (3,) [m], inertia (3, 3) [kg m²] about it in body axes; pose in the world."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray
    R: np.ndarray
    p: np.ndarray


class Body(Element):
    """A rigid body, described where it stands.

    Parameters
    ----------
    name: unique among the bodies of a system.
    mass: [kg], 0 or more.
    inertia: [kg m²] about the centre of mass, in body axes: 3 principal moments, 6 components (Ixx, Iyy, Izz, Ixy, Ixz,
        Iyz with Ixy = −∫xy dm), or 3×3. None: that of the only solid among `shapes`, or a point mass without shapes.
    position, orientation: pose of the body's frame in the world; [m], unit quaternion (w, x, y, z).
    com: centre of mass [m] in the body's frame. None: the origin, or the centre of the shape that gives the inertia.
    shapes: what is drawn: Box, Sphere, Cylinder, Capsule, Cone, Ellipsoid, Hull, HeightField, Mesh.
    collision: the shapes that distances and collisions are computed of, HalfSpace among them; () for none. None: `shapes`.
    no_collision: names, or patterns like "arm_*", of bodies that are not tested for collisions with this one.
    strict: False makes an unphysical inertia a NexDynWarning instead of an InputError.
    """

    kind_of_element: ClassVar[str] = "body"
    structural: ClassVar[frozenset[str]] = frozenset({"name", "shapes", "collision", "no_collision", "strict"})

    mass: Any
    inertia: Any
    position: Any
    orientation: Any
    com: Any
    shapes: tuple[Shape, ...]
    collision: tuple[Shape, ...] | None
    no_collision: tuple[str, ...]
    strict: bool

    def __init__(
        self,
        name: str,
        mass: Any = 0.0,
        inertia: Any = None,
        position: Any = ORIGIN,
        orientation: Any = IDENTITY,
        com: Any = None,
        shapes: Sequence[Shape] | Shape = (),
        *,
        collision: Sequence[Shape] | Shape | None = None,
        no_collision: Sequence[str] | str = (),
        strict: bool = True,
    ) -> None:
        super().__init__(name)
        self._store(
            mass=mass,
            inertia=inertia,
            position=position,
            orientation=orientation,
            com=com,
            shapes=_shapes(name, "shapes", shapes),
            collision=None if collision is None else _shapes(name, "collision", collision),
            no_collision=_names(name, no_collision),
            strict=strict,
        )
        if type(strict) is not bool:
            raise InputError(f"strict of {self} is {strict!r}; True or False is needed")
        for role, given in (("shapes", self.shapes), ("collision shapes", self.collision or ())):
            for shape in given:
                if not isinstance(shape, Shape):
                    raise InputError(f"{self} has {shape!r} among its {role}; {VALID} are valid")
        for shape in self.shapes:
            if not shape.bounded:
                raise InputError(f"{self} has {shape} among its shapes, which has no end; it belongs to its collision")

    def __repr__(self) -> str:
        return f"Body({self.name!r}, mass={self.mass})"

    @property
    def colliding(self) -> tuple[Shape, ...]:
        """The shapes that distances and collisions are computed of."""
        return self.shapes if self.collision is None else self.collision

    @property
    def is_ground(self) -> bool:
        """Whether this is the world, fixed and without mass."""
        return self.name == "ground"

    def pose(self, values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """R_WB (3, 3) and p_WB (3,) [m] in the reference configuration."""
        return rotation(self._quaternion(values)), np.array(self.floats_of("position", 3, values))

    def resolved(self, values: Mapping[str, float]) -> ResolvedBody:
        """The body in numbers under the parameter `values`. Raises InputError; whether it is physical says `check`."""
        return once("resolved", lambda: self._resolved(values), self, values)

    def _resolved(self, values: Mapping[str, float]) -> ResolvedBody:
        mass, com, (xx, yy, zz, xy, xz, yz) = self._mass_properties(values)
        R, p = self.pose(values)
        return ResolvedBody(mass, np.array(com), np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))), R, p)

    def check(self, values: Mapping[str, float]) -> None:
        """Raise InputError where a value is not valid or not physical (not `strict`: NexDynWarning for the latter)."""
        self.floats_of("position", 3, values)
        self._quaternion(values)
        for shape in (*self.shapes, *(self.collision or ())):
            try:
                shape.check(values)
            except InputError as error:
                raise type(error)(f"{self}: {error}") from None
        mass, _, inertia = self._mass_properties(values)
        fault = unphysical(mass, inertia)
        if fault and self.strict:
            raise InputError(f"{self}: {fault}")
        if fault:
            warn(f"{self}: {fault}")

    def _quaternion(self, values: Mapping[str, float]) -> Triple:
        q = self.orientation
        return IDENTITY if q == IDENTITY else unit_quaternion(q, values, f"orientation of {self}")

    def _mass_properties(self, values: Mapping[str, float]) -> tuple[float, Triple, Triple]:
        """Mass, centre of mass, and the six components of the inertia."""
        mass = self.number_of("mass", values)
        com = ORIGIN if self.com is None else self.floats_of("com", 3, values)
        if self.inertia is not None:
            return mass, com, self._inertia(values)
        solids = [shape for shape in self.shapes if shape.solid] if self.shapes and mass > 0.0 else []
        if not solids:
            return mass, com, (0.0,) * 6
        if len(solids) > 1:
            raise InputError(f"{self} has {len(solids)} solid shapes and no inertia; give its inertia")
        shape = solids[0].resolved(values)
        if self.com is not None and com != shape.position:
            raise InputError(
                f"{self}: com {com} is not the centre {shape.position} of the shape that would give its inertia; "
                "give the inertia, or leave com out"
            )
        I = shape.inertia(mass)
        return mass, shape.position, (*I.diagonal().tolist(), float(I[0, 1]), float(I[0, 2]), float(I[1, 2]))

    def _inertia(self, values: Mapping[str, float]) -> Triple:
        """(Ixx, Iyy, Izz, Ixy, Ixz, Iyz) from 3 principal moments, 6 components or a symmetric 3×3."""
        what = f"inertia of {self}"
        needed = "3 principal moments, 6 components (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) or a 3×3 matrix"
        given = sequence(self.inertia, what, needed)
        matrix = any(isinstance(row, tuple) for row in given)
        if len(given) == 3 and matrix:
            (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (
                floats(row, 3, values, f"{what}[{i}]") for i, row in enumerate(given)
            )
            asymmetry = max(abs(xy - yx), abs(xz - zx), abs(yz - zy))
            if asymmetry > TOLERANCE * max(map(abs, (xx, yy, zz, xy, xz, yz))):
                raise InputError(f"{what} is not symmetric by {asymmetry:g}; I[i][j] must equal I[j][i]")
            return xx, yy, zz, (xy + yx) / 2, (xz + zx) / 2, (yz + zy) / 2
        if len(given) == 3:
            return (*floats(given, 3, values, what), 0.0, 0.0, 0.0)
        if len(given) == 6 and not matrix:
            return floats(given, 6, values, what)
        raise InputError(f"{what} has {len(given)} entries; {needed} are needed")


def _shapes(body: str, role: str, shapes: Any) -> tuple[Any, ...]:
    """One shape or several, as a tuple."""
    if isinstance(shapes, Shape):
        return (shapes,)
    if not isinstance(shapes, Iterable) or isinstance(shapes, str | np.ndarray | Mapping):
        raise InputError(f"{role} of body {body!r} is {shapes!r}; a list of {VALID} is needed")
    return tuple(shapes)


def _names(body: str, names: Any) -> tuple[str, ...]:
    """One name or several, as a tuple."""
    several = isinstance(names, Iterable) and not isinstance(names, str | np.ndarray | Mapping)
    found = tuple(names) if several else (names,)
    for name in found:
        if not isinstance(name, str) or not name:
            raise InputError(f"no_collision of body {body!r} has {name!r}; names of bodies, or patterns, are needed")
    return found


def unphysical(mass: float, inertia: Triple) -> str | None:
    """Why no rigid body has this mass and inertia (Ixx, Iyy, Izz, Ixy, Ixz, Iyz), or None."""
    if mass < 0.0:
        return f"mass {mass:g} kg is negative; it must be 0 or more"
    xx, yy, zz, xy, xz, yz = inertia
    if mass == 0.0:
        if any(inertia):
            return "its mass is 0 but its inertia is not; give it a mass, or no inertia"
        return None
    # Σ = ½ tr(I) 1 − I; its Cholesky pivots are positive for nearly all bodies, and then no eigenvalues are needed
    largest = max(map(abs, inertia))
    if largest > 1e150:
        return f"its inertia of {largest:g} kg m² is beyond what can be computed with"
    half = (xx + yy + zz) / 2
    sx, sy, sz = half - xx, half - yy, half - zz
    least = TOLERANCE * abs(half)
    if sx > least:
        pivot = sy - xy * xy / sx
        if pivot > least and sz - xz * xz / sx - (yz + xy * xz / sx) ** 2 / pivot > least:
            return None
    A, B, C = np.linalg.eigvalsh(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))).tolist()
    if A + B - C >= -TOLERANCE * max(abs(A), abs(C)):
        return None
    shown = f"principal moments ({A:g}, {B:g}, {C:g}) kg m²"
    if A < 0.0:
        return f"{shown}: {A:g} is negative; no rigid body has that"
    return f"{shown}: {A:g} + {B:g} < {C:g}; of every rigid body the sum of two is at least the third"
