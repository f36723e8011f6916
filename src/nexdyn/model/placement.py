"""Poses of single elements: quaternions and axes checked and turned into matrices.

Plain floats, because a description of 10⁵ bodies calls these a few times a body; arrays of poses are the work of
``nexdyn.spatial``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.model.parameters import floats

IDENTITY = (1.0, 0.0, 0.0, 0.0)
ORIGIN = (0.0, 0.0, 0.0)

Triple = tuple[float, ...]


def unit_quaternion(x: Any, values: Mapping[str, float], what: str, tol: float = 1e-6) -> Triple:
    """The unit quaternion (w, x, y, z), normalised; InputError where its norm differs from 1 by more than `tol`."""
    if isinstance(x, tuple) and len(x) == 3:
        matrix = all(isinstance(row, tuple) for row in x)
        raise InputError(
            f"{what} {'is a matrix' if matrix else 'has 3 components'}; a unit quaternion (w, x, y, z) is needed, like that which scipy's "
            f"Rotation.{'from_matrix' if matrix else 'from_euler'}(…).as_quat(scalar_first=True) gives"
        )
    return normalised(floats(x, 4, values, what), what, tol)


def normalised(q: Triple, what: object, tol: float = 1e-6) -> Triple:
    """As :func:`unit_quaternion`, of four floats."""
    if q == IDENTITY:
        return q
    norm = math.hypot(*q)
    if abs(norm - 1.0) > tol:
        hint = "divide it by its norm" if norm > 0.0 else "no rotation is (1, 0, 0, 0)"
        raise InputError(
            f"{what} is {_short(q)} with norm {norm:.6g}; a unit quaternion (w, x, y, z) is needed: {hint}"
        )
    return tuple([part / norm for part in q])


def rotation(q: Triple) -> np.ndarray:
    """R(q) of a unit quaternion, (3, 3)."""
    if q == IDENTITY:
        return np.eye(3)
    w, x, y, z = q
    return np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )


def direction(x: Any, values: Mapping[str, float], what: str) -> Triple:
    """A direction as a unit vector; InputError where its length is 0."""
    d = floats(x, 3, values, what)
    length = math.hypot(*d)
    if length < 1e-12:
        raise InputError(f"{what} is {_short(d)}, of length {length:g}; give a direction, like (0, 0, 1)")
    return tuple([part / length for part in d])


def frame(z: Triple, x: Triple | None = None) -> np.ndarray:
    """R whose third column is the unit vector `z` and whose first is `x` made perpendicular to it.

    Without `x`: the world axis least aligned with z, so that z = (0, 0, 1) gives the identity.
    """
    zx, zy, zz = z
    if x is None:
        smallest = min(abs(zx), abs(zy), abs(zz))
        x = (1.0, 0.0, 0.0) if abs(zx) == smallest else (0.0, 1.0, 0.0) if abs(zy) == smallest else (0.0, 0.0, 1.0)
    # x - z (z.x), normalised; twice, because the first difference may have cancelled
    for _ in range(2):
        along = x[0] * zx + x[1] * zy + x[2] * zz
        xx, xy, xz = x[0] - along * zx, x[1] - along * zy, x[2] - along * zz
        length = math.hypot(xx, xy, xz)
        x = (xx / length, xy / length, xz / length)
    xx, xy, xz = x
    # y = z × x
    return np.array(((xx, zy * xz - zz * xy, zx), (xy, zz * xx - zx * xz, zy), (xz, zx * xy - zy * xx, zz)))


def sine_between(a: Triple, b: Triple) -> float:
    """|a × b| of two unit vectors."""
    return math.hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _short(x: Triple) -> str:
    return f"({', '.join(f'{part:g}' for part in x)})"
