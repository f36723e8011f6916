"""Inertia of solids of even density, 3×3 about the centre of mass, in the solid's own axes [kg·m²].

Axes: the axis of a cylinder, rod or capsule is z. Batches of masses [kg] and dimensions [m] broadcast together.
InputError where a mass or a dimension is negative, not finite, or of the wrong shape.
A capsule is a cylinder with a hemisphere at each end; its `length` is that of the cylinder alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nexdyn.errors import InputError
from nexdyn.spatial.rotations import Array, check_batches, shaped

_overflows_later = np.errstate(over="ignore", invalid="ignore")  # _principal refuses what overflowed


@_overflows_later
def box(mass: ArrayLike, size: ArrayLike) -> Array:
    """Box of edges `size` (..., 3) along x, y, z: I_xx = m (y² + z²)/12."""
    edges = shaped(size, (3,), "box size")
    m, x, y, z = _sizes("box", mass=mass, x=edges[..., 0], y=edges[..., 1], z=edges[..., 2])
    return _principal("box", m * (y**2 + z**2) / 12, m * (x**2 + z**2) / 12, m * (x**2 + y**2) / 12)


@_overflows_later
def sphere(mass: ArrayLike, radius: ArrayLike) -> Array:
    """Solid sphere: 2/5 m r²."""
    m, r = _sizes("sphere", mass=mass, radius=radius)
    return _principal("sphere", *3 * [2 * m * r**2 / 5])


@_overflows_later
def hollow_sphere(mass: ArrayLike, radius: ArrayLike, inner_radius: ArrayLike) -> Array:
    """Sphere with a spherical hole: 2/5 m (r⁵ − s⁵)/(r³ − s³); a thin shell, 2/3 m r², where s = r."""
    m, r, s = _sizes("hollow_sphere", mass=mass, radius=radius, inner_radius=inner_radius)
    # (r⁵ − s⁵)/(r³ − s³), both divided by r − s
    below = r**2 + r * s + s**2
    ratio = (r**4 + r**3 * s + r**2 * s**2 + r * s**3 + s**4) / np.where(below == 0.0, 1.0, below)
    return _principal("hollow_sphere", *3 * [2 * m * ratio / 5])


@_overflows_later
def cylinder(mass: ArrayLike, radius: ArrayLike, length: ArrayLike) -> Array:
    """Solid cylinder: I_zz = m r²/2, I_xx = m (3r² + L²)/12."""
    m, r, L = _sizes("cylinder", mass=mass, radius=radius, length=length)
    across = m * (3 * r**2 + L**2) / 12
    return _principal("cylinder", across, across, m * r**2 / 2)


@_overflows_later
def hollow_cylinder(mass: ArrayLike, radius: ArrayLike, inner_radius: ArrayLike, length: ArrayLike) -> Array:
    """Tube: I_zz = m (r² + s²)/2, I_xx = m (3 (r² + s²) + L²)/12."""
    m, r, s, L = _sizes("hollow_cylinder", mass=mass, radius=radius, inner_radius=inner_radius, length=length)
    across = m * (3 * (r**2 + s**2) + L**2) / 12
    return _principal("hollow_cylinder", across, across, m * (r**2 + s**2) / 2)


@_overflows_later
def rod(mass: ArrayLike, length: ArrayLike) -> Array:
    """Thin rod: I_xx = I_yy = m L²/12, I_zz = 0."""
    m, L = _sizes("rod", mass=mass, length=length)
    across = m * L**2 / 12
    return _principal("rod", across, across, 0.0 * m)


@_overflows_later
def capsule(mass: ArrayLike, radius: ArrayLike, length: ArrayLike) -> Array:
    """Cylinder of `length` with a hemisphere at each end: L + 2r from end to end."""
    m, r, L = _sizes("capsule", mass=mass, radius=radius, length=length)
    # cylinder and sphere share the mass as their volumes π r² L and 4/3 π r³
    volume = L + 4 * r / 3
    mc = m * L / np.where(volume == 0.0, 1.0, volume)
    ms = m - mc
    # a hemisphere about its own centre has 83/320 r² a unit of mass, and lies at L/2 + 3r/8
    across = mc * (3 * r**2 + L**2) / 12 + ms * (2 * r**2 / 5 + L**2 / 4 + 3 * L * r / 8)
    return _principal("capsule", across, across, mc * r**2 / 2 + 2 * ms * r**2 / 5)


def _sizes(solid: str, **given: ArrayLike) -> list[Array]:
    """Masses and dimensions as arrays: none negative, broadcasting together, an inner radius within the outer."""
    sizes = {name: shaped(value, (), f"{solid} {name}") for name, value in given.items()}
    check_batches(solid, *(array.shape for array in sizes.values()))
    for name, array in sizes.items():
        if array.min(initial=0.0) < 0.0:
            raise InputError(f"{solid} {name}: expected 0 or more, received {array.min():g}")
    if "inner_radius" in sizes and (sizes["inner_radius"] > sizes["radius"]).any():
        raise InputError(
            f"{solid} inner_radius: expected at most the radius, received {sizes['inner_radius']} in {sizes['radius']}"
        )
    return list(sizes.values())


def _principal(solid: str, *moments: Array) -> Array:
    if not all(np.isfinite(moment).all() for moment in moments):
        raise InputError(f"{solid}: mass and dimensions are too large, the inertia overflows")
    inertia = np.zeros((*np.broadcast_shapes(*(moment.shape for moment in moments)), 3, 3))
    for k, moment in enumerate(moments):
        inertia[..., k, k] = moment
    return inertia
