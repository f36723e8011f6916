"""One joint, one page: motion subspace H, its complement W, bias, position and velocity maps."""

from __future__ import annotations

from nexdyn.joints.cartesian import Cartesian
from nexdyn.joints.cylindrical import Cylindrical
from nexdyn.joints.fixed import Fixed
from nexdyn.joints.free import Free
from nexdyn.joints.helical import Helical
from nexdyn.joints.planar import Planar
from nexdyn.joints.prismatic import Prismatic
from nexdyn.joints.revolute import Revolute
from nexdyn.joints.spherical import Spherical
from nexdyn.joints.universal import Universal
from nexdyn.model.joint import Joint

JOINTS: dict[str, type[Joint]] = {
    cls.kind: cls
    for cls in (
        Fixed, Revolute, Prismatic, Helical, Cylindrical, Universal, Spherical, Planar, Cartesian, Free,
    )
}  # fmt: skip

__all__ = [
    "JOINTS",
    "Cartesian",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]
