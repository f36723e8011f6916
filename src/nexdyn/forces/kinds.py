"""The numbers by which kernels know a force: first those between frames, then those in a degree of freedom of a joint."""

from __future__ import annotations

APPLIED, POINT_SPRING, TORSION_SPRING, BUSHING, FORCE_TABLE, USER = range(6)
JOINT_FORCE, JOINT_TABLE, USER_JOINT = range(6, 9)
CONTACT, SURFACE, BUSHING_XYZ, POINT_GRAVITY, GRAVITY_FIELD = 9, 13, 14, 15, 16
ACTUATOR, JOINT_STOP, JOINT_FRICTION = 10, 11, 12
REGISTERED, REGISTERED_JOINT = 17, 18
