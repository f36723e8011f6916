"""One force, one page: its equations, what describes it, and what it does in kernels."""

from __future__ import annotations

from nexdyn.forces.actuator import Controller, PositionActuator, TorqueActuator, VelocityActuator
from nexdyn.forces.applied import AppliedForce
from nexdyn.forces.bushing import Bushing
from nexdyn.forces.contact import ContactForce
from nexdyn.forces.contact_group import Contact
from nexdyn.forces.contact_law import ContactLaw
from nexdyn.forces.force_table import ForceTable
from nexdyn.forces.gravity import Gravity, GravityField, PointGravity
from nexdyn.forces.joint_force import JointForce
from nexdyn.forces.joint_friction import JointFriction
from nexdyn.forces.joint_stop import JointStop
from nexdyn.forces.pages import ALL
from nexdyn.forces.plane_contact import PlaneContact
from nexdyn.forces.point_spring import PointSpring
from nexdyn.forces.sphere_contact import SphereContact
from nexdyn.forces.surface_contact import SurfaceContact
from nexdyn.forces.torsion_spring import TorsionSpring
from nexdyn.forces.user import UserForce, UserJointForce
from nexdyn.model.force import Force

FORCES: dict[str, type[Force]] = {
    cls.kind: cls
    for cls in (
        AppliedForce, JointForce, PointSpring, TorsionSpring, Bushing, ForceTable, PlaneContact, SphereContact, UserForce,
        UserJointForce, PositionActuator, VelocityActuator, TorqueActuator, Controller, JointStop,
        JointFriction, PointGravity, GravityField,
    )
}  # fmt: skip


def _check_pages() -> None:
    """TypeError for a force whose number has no page."""
    known = {page.kind for page in ALL}
    classes: tuple[type[Force], ...] = (*FORCES.values(), SurfaceContact)
    for cls in classes:
        for code in cls.codes or (cls.code,):
            if code not in known:
                raise TypeError(f"{cls.__name__} has the number {code}, of which nexdyn.forces.pages has no page")


_check_pages()

__all__ = ["FORCES", "Contact", "ContactForce", "ContactLaw", "Gravity", *(cls.__name__ for cls in FORCES.values())]
