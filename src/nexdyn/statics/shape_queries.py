"""Shapes of a description as what `nexdyn.geometry` compares: rows of its catalogue, surfaces of triangles, boxes around them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from nexdyn.errors import InputError, warn
from nexdyn.forces.mesh_solid import is_meshed, triangles_of
from nexdyn.geometry.kinds import Catalogue
from nexdyn.geometry.mesh import Surface
from nexdyn.geometry.mesh_shapes import surface_of
from nexdyn.model.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Hull,
    Mesh,
    Shape,
    Sphere,
)

_KINDS: dict[type[Shape], tuple[str, tuple[str, ...]]] = {
    Box: ("box", ("size",)),
    Capsule: ("capsule", ("radius", "length")),
    Cone: ("cone", ("radius", "length")),
    Cylinder: ("cylinder", ("radius", "length")),
    Ellipsoid: ("ellipsoid", ("semi_axes",)),
    HalfSpace: ("half-space", ()),
    Hull: ("hull", ("points",)),
    Sphere: ("sphere", ("radius",)),
}
WIDER = 1e-6
"""Part of a mesh's size by which the box around it is wider than it."""


def _kind(shape: Shape) -> tuple[str, dict[str, Any]]:
    """Name and sizes of a convex shape, as the catalogue has it."""
    if type(shape) not in _KINDS:
        kinds: tuple[type[Shape], ...] = (*_KINDS, HeightField, Mesh)
        valid = ", ".join(sorted(cls.__name__ for cls in kinds))
        raise InputError(f"{shape} has no distance; valid: {valid}")
    name, sizes = _KINDS[type(shape)]
    return name, {size: getattr(shape, size) for size in sizes}


def added(catalogue: Catalogue, shape: Shape) -> int:
    """The number of a convex shape, added to the catalogue."""
    name, sizes = _kind(shape)
    return catalogue.add(name, **sizes)


def in_box(catalogue: Catalogue, shape: Shape) -> int:
    """The number of a shape, of a mesh that of the box around it, for the broad phase."""
    if not is_meshed(shape):
        return added(catalogue, shape)
    x = triangles_of(shape).vertices
    low, high = x.min(axis=0), x.max(axis=0)
    wider = WIDER * (high - low).max()
    ends = np.array([low - wider, high + wider])
    return catalogue.add("hull", points=[(ends[i, 0], ends[j, 1], ends[k, 2]) for i, j, k in product((0, 1), repeat=3)])


def surface(shape: Shape) -> Surface:
    """The triangles of a mesh, which is warned of where it is open or crosses itself, or of another shape."""
    if not is_meshed(shape):
        name, sizes = _kind(shape)
        return surface_of(name, **sizes)
    found = triangles_of(shape)
    for note in found.notes:
        warn(f"{shape}: {note}")
    return found.surface


def fault(shape: Shape) -> str:
    """Why a shape has no distance; empty where it has one."""
    try:
        if is_meshed(shape):
            triangles_of(shape)
        else:
            _kind(shape)
    except InputError as error:
        return str(error)
    return ""
