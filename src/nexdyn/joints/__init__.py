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


def check_page(cls: type[Joint]) -> None:
    """TypeError for the page of a joint of trees that leaves out what a formulation, results, URDF or the viewer need, by name."""
    if not cls.tree:
        return
    page = sys.modules[cls.__module__]
    wanted = ("pose", "coordinates_of", "motion_subspace") * bool(cls.nv) + ("constraint_subspace",) * (cls.nv < 6)
    for name in wanted:
        if not hasattr(page, name):
            raise TypeError(f"the page of {cls.__name__} has no {name}")
    of = {"coordinate_labels": cls.nq, "velocity_labels": cls.nv, "directions": cls.nv, "rows": 6 - cls.nv}
    for name, needed in of.items():
        if len(getattr(cls, name)) != needed:
            raise TypeError(f"the page of {cls.__name__} has {len(getattr(cls, name))} {name}; {needed} are needed")
    moved = {step.coordinate + i for step in cls.steps for i in range(4 if step.what == "quaternion" else 1)}
    if moved != set(range(cls.nq)):
        raise TypeError(f"the steps of {cls.__name__} move coordinates {sorted(moved)} of {cls.nq}")


for _cls in JOINTS.values():
    check_page(_cls)

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
