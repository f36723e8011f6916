"""Measures: named outputs computed from the poses and velocities of two frames, A and B.

With p_AB = R_WAᵀ (p_WB − p_WA) and the axes x, y, z of a frame the columns of its R:

    position          p_AB                                velocity  R_WAᵀ (v_B − v_A − ω_A × (p_WB − p_WA))
    distance          |p_WB − p_WA|                       angle     atan2(|u_A × u_B|, u_A · u_B)  in [0, π]
    displacement      dx, dy, dz: a component of p_AB     direction u_A · u_B  ("zx": z of A, x of B)

Frames are markers or bodies by name; a body stands for its own frame. Velocities are V = (ω, v of the frame's origin)
in the world. Displacements and directions are the building blocks of joint constraints.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nexdyn.errors import InputError
from nexdyn.model.element import Element, name_of
from nexdyn.spatial.rotations import cross_product

Array = NDArray[np.float64]
AXES = "xyz"


class Measure(Element):
    """Base of all measures. `a`, `b`: names of its two frames; `axes`: names of its components, () for a scalar."""

    kind_of_element: ClassVar[str] = "measure"
    structural: ClassVar[frozenset[str]] = frozenset({"name", "a", "b"})
    kind: ClassVar[str] = "measure"
    unit: ClassVar[str] = ""
    axes: ClassVar[tuple[str, ...]] = ()
    a: str
    b: str

    def __init__(self, name: str, a: Any, b: Any) -> None:
        super().__init__(name)
        self.a, self.b = name_of(a), name_of(b)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.a!r}, {self.b!r})"

    def evaluate(
        self, R_WA: ArrayLike, p_WA: ArrayLike, V_A: ArrayLike, R_WB: ArrayLike, p_WB: ArrayLike, V_B: ArrayLike
    ) -> Array:
        """The measure from R (..., 3, 3), p (..., 3), V (..., 6) of both frames: (..., 3), or (...) for a scalar."""
        arrays = (np.asarray(x, dtype=float) for x in (R_WA, p_WA, V_A, R_WB, p_WB, V_B))
        return np.asarray(self._evaluate(*arrays))

    def _evaluate(self, R_WA: Array, p_WA: Array, V_A: Array, R_WB: Array, p_WB: Array, V_B: Array) -> Array:
        raise NotImplementedError


class _OfPoint(Measure):
    """A measure of the origin of frame `of`, which is b, for an observer in frame `seen_from`, which is a."""

    axes = tuple(AXES)

    def __init__(self, name: str, of: Any, seen_from: Any = "ground") -> None:
        super().__init__(name, seen_from, of)

    @property
    def of(self) -> str:
        """Name of the frame whose origin is measured."""
        return self.b

    @property
    def seen_from(self) -> str:
        """Name of the frame it is seen from."""
        return self.a


class PointPosition(_OfPoint):
    """Position [m] of the origin of frame `of`, seen in frame `seen_from` (the world by default)."""

    kind, unit = "point_position", "m"

    def _evaluate(self, R_WA: Array, p_WA: Array, V_A: Array, R_WB: Array, p_WB: Array, V_B: Array) -> Array:
        return _in(R_WA, p_WB - p_WA)


class PointVelocity(_OfPoint):
    """Velocity [m/s] of the origin of frame `of` for an observer that moves with frame `seen_from`, in its axes."""

    kind, unit = "point_velocity", "m/s"

    def _evaluate(self, R_WA: Array, p_WA: Array, V_A: Array, R_WB: Array, p_WB: Array, V_B: Array) -> Array:
        return _in(R_WA, V_B[..., 3:] - V_A[..., 3:] - cross_product(V_A[..., :3], p_WB - p_WA))


class Distance(Measure):
    """Distance [m] between the origins of frames `a` and `b`."""

    kind, unit = "distance", "m"

    def _evaluate(self, R_WA: Array, p_WA: Array, V_A: Array, R_WB: Array, p_WB: Array, V_B: Array) -> Array:
        return np.asarray(np.linalg.norm(p_WB - p_WA, axis=-1))


class Angle(Measure):
    """Angle [rad], 0 to π, between an axis of frame `a` and one of frame `b`; `product` "xz" means x of a, z of b."""

    kind, unit = "angle", "rad"

    def __init__(self, name: str, a: Any, b: Any, product: str = "zz") -> None:
        super().__init__(name, a, b)
        self.product = _checked_product(self, product)

    def _evaluate(self, R_WA: Array, p_WA: Array, V_A: Array, R_WB: Array, p_WB: Array, V_B: Array) -> Array:
        u, v = _axis(R_WA, self.product[0]), _axis(R_WB, self.product[1])
        return np.asarray(np.arctan2(np.linalg.norm(cross_product(u, v), axis=-1), _dot(u, v)))


class Displacement(Measure):
    """Displacement [m] of b's origin along an axis of frame `a`: component "dx", "dy" or "dz"."""

    kind, unit = "displacement", "m"

    def __init__(self, name: str, a: Any, b: Any, component: str) -> None:
        super().__init__(name, a, b)
        if component not in ("dx", "dy", "dz"):
            raise InputError(f"component of {self} is {component!r}; dx, dy, dz are valid")
        self.component = component

    def _evaluate(self, R_WA: Array, p_WA: Array, V_A: Array, R_WB: Array, p_WB: Array, V_B: Array) -> Array:
        return _dot(_axis(R_WA, self.component[1]), p_WB - p_WA)


class Direction(Measure):
    """Product of two directions, the cosine of their angle: "zx" is z of `a` · x of `b`."""

    kind, unit = "direction", "1"

    def __init__(self, name: str, a: Any, b: Any, product: str) -> None:
        super().__init__(name, a, b)
        self.product = _checked_product(self, product)

    def _evaluate(self, R_WA: Array, p_WA: Array, V_A: Array, R_WB: Array, p_WB: Array, V_B: Array) -> Array:
        return _dot(_axis(R_WA, self.product[0]), _axis(R_WB, self.product[1]))


MEASURES: dict[str, type[Measure]] = {
    cls.kind: cls for cls in (PointPosition, PointVelocity, Distance, Angle, Displacement, Direction)
}


def _checked_product(measure: Measure, product: str) -> str:
    if not isinstance(product, str) or len(product) != 2 or not set(product) <= set(AXES):
        raise InputError(f"product of {measure} is {product!r}; an axis of a and one of b are needed, like 'zx'")
    return product


def _axis(R: Array, name: str) -> Array:
    return R[..., :, AXES.index(name)]


def _dot(u: Array, v: Array) -> Array:
    return np.asarray(np.sum(u * v, axis=-1))


def _in(R: Array, v: Array) -> Array:
    """Rᵀ v."""
    return np.asarray(np.sum(R * v[..., :, None], axis=-2))
