"""The numbers by which kernels know a constraint primitive, and their names.

DX, DY, DZ are the components of the displacement from A to B in A's axes; DotIJ is the product of axis I of A with axis
J of B. Pitch is the second of the angles yaw, pitch, roll; OrientX, OrientY, OrientZ are what an orientation that follows one of the
time misses it by. Normal and Binormal are those of a point on a curve, User and
UserAngle a function of the user's in m and in rad. Contact is the height of a disk's edge above a plane. From FORWARD on
a primitive is a velocity A(q, t) v + b(q, t), which belongs to no position: Forward, Sideways, RollX, RollY are slips of a
disk or a sphere on a plane, Edge that of a blade, Velocity and Turning the user's in m/s and in rad/s.
"""

from __future__ import annotations

DX, DY, DZ = 0, 1, 2
DOT = 3  # + 3 i + j for the product of axis i of A and axis j of B
DISTANCE, ANGLE, PITCH = 12, 13, 14
NORMAL, BINORMAL, SURFACE, USER, USER_ANGLE = 15, 16, 17, 18, 19
ORIENT_X, ORIENT_Y, ORIENT_Z = 20, 21, 22
CONTACT = 23
FORWARD, SIDEWAYS, ROLL_X, ROLL_Y, EDGE, USER_VELOCITY, USER_TURNING = 24, 25, 26, 27, 28, 29, 30

NUMBER = {
    "DX": DX, "DY": DY, "DZ": DZ, "Distance": DISTANCE, "Angle": ANGLE, "Pitch": PITCH, "Normal": NORMAL,
    "Binormal": BINORMAL, "Surface": SURFACE, "User": USER, "UserAngle": USER_ANGLE, "OrientX": ORIENT_X,
    "OrientY": ORIENT_Y, "OrientZ": ORIENT_Z, "Contact": CONTACT,
    "Forward": FORWARD, "Sideways": SIDEWAYS, "RollX": ROLL_X, "RollY": ROLL_Y, "Edge": EDGE, "Velocity": USER_VELOCITY,
    "Turning": USER_TURNING,
}  # fmt: skip
NUMBER |= {f"Dot{a}{b}": DOT + 3 * i + j for i, a in enumerate("XYZ") for j, b in enumerate("XYZ")}
NAME = {number: name for name, number in NUMBER.items()}
OWN_ROWS = tuple(f"Own{i}" for i in range(6)), tuple(f"OwnAngle{i}" for i in range(6))
"""Names of the rows of registered joints: lengths, and others."""
NUMBER |= {name: (USER, USER_ANGLE)[i] for i in (0, 1) for name in OWN_ROWS[i]}
LENGTHS = [
    DX, DY, DZ, DISTANCE, NORMAL, BINORMAL, SURFACE, USER, CONTACT, FORWARD, SIDEWAYS, ROLL_X, ROLL_Y, EDGE, USER_VELOCITY,
]  # fmt: skip
"""The primitives that are lengths [m] or velocities of points [m/s]; the others are angles, products of directions, rates."""
USERS = [USER, USER_ANGLE, USER_VELOCITY, USER_TURNING]
"""The primitives that are functions of the user's."""

OF_TIME = [*USERS, ORIENT_X, ORIENT_Y, ORIENT_Z]
"""The primitives that may depend on the time by themselves."""

VELOCITIES = [FORWARD, SIDEWAYS, ROLL_X, ROLL_Y, EDGE, USER_VELOCITY, USER_TURNING]
"""The primitives at velocity level: rows A v + b = 0 that no position fulfils or violates."""
