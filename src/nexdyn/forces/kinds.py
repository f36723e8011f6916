"""The numbers by which kernels know a force: first those between frames, then those in a freedom of a joint."""

from __future__ import annotations

APPLIED, POINT_SPRING, TORSION_SPRING, BUSHING, FORCE_TABLE, USER = range(6)
JOINT_FORCE, JOINT_TABLE, USER_JOINT = range(6, 9)
CONTACT, SURFACE = 9, 13
ACTUATOR, JOINT_STOP, JOINT_FRICTION = 10, 11, 12
