"""One joint, one page: motion subspace H, its complement W, bias, position and velocity maps; constraint rows."""

from __future__ import annotations

import sys

from nexdyn.joints.cartesian import Cartesian
from nexdyn.joints.clamp import Clamp
from nexdyn.joints.cylindrical import Cylindrical
from nexdyn.joints.fixed import Fixed
from nexdyn.joints.free import Free
from nexdyn.joints.general import GeneralJoint
from nexdyn.joints.helical import Helical
from nexdyn.joints.knife_edge import KnifeEdge
from nexdyn.joints.parallel import Parallel
from nexdyn.joints.perpendicular import Perpendicular
from nexdyn.joints.planar import Planar
from nexdyn.joints.point_on_curve import PointOnCurve
from nexdyn.joints.point_on_line import PointOnLine
from nexdyn.joints.point_on_plane import PointOnPlane
from nexdyn.joints.point_on_surface import PointOnSurface
from nexdyn.joints.prismatic import Prismatic
from nexdyn.joints.revolute import Revolute
from nexdyn.joints.revolute_prismatic import RevolutePrismatic
from nexdyn.joints.revolute_spherical import RevoluteSpherical
from nexdyn.joints.rod import Rod
from nexdyn.joints.rolling_disk import RollingDisk
from nexdyn.joints.rolling_sphere import RollingSphere
from nexdyn.joints.rotor import add_rotor
from nexdyn.joints.spherical import Spherical
from nexdyn.joints.universal import Universal
from nexdyn.joints.user_constraint import UserConstraint
from nexdyn.joints.velocity_constraint import VelocityConstraint
from nexdyn.model.joint import Joint

JOINTS: dict[str, type[Joint]] = {
    cls.kind: cls
    for cls in (
        Fixed, Revolute, Prismatic, Helical, Cylindrical, Universal, Spherical, Planar, Cartesian, Free,
        PointOnLine, PointOnPlane, Parallel, Perpendicular, Rod, GeneralJoint, Clamp, RevolutePrismatic, RevoluteSpherical,
        PointOnCurve, PointOnSurface, UserConstraint,
        RollingDisk, RollingSphere, KnifeEdge, VelocityConstraint,
    )
}  # fmt: skip
for _cls in JOINTS.values():
    for _formula in ("pose", "coordinates_of", "motion_subspace") if _cls.tree and _cls.nv else ():
        if not hasattr(sys.modules[_cls.__module__], _formula):
            raise TypeError(f"the page of {_cls.__name__} has no {_formula}")
    if _cls.tree and len(_cls.directions) != _cls.nv:
        raise TypeError(f"{_cls.__name__} has {_cls.nv} degrees of freedom and {len(_cls.directions)} directions")

__all__ = [
    "JOINTS",
    "Cartesian",
    "Clamp",
    "Cylindrical",
    "Fixed",
    "Free",
    "GeneralJoint",
    "Helical",
    "KnifeEdge",
    "Parallel",
    "Perpendicular",
    "Planar",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "PointOnSurface",
    "Prismatic",
    "Revolute",
    "RevolutePrismatic",
    "RevoluteSpherical",
    "Rod",
    "RollingDisk",
    "RollingSphere",
    "Spherical",
    "Universal",
    "UserConstraint",
    "VelocityConstraint",
    "add_rotor",
]
