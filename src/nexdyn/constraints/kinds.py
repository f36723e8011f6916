"""The numbers by which kernels know a constraint primitive, and their names.

DX, DY, DZ are the components of the displacement from A to B in A's axes; DotIJ is the product of axis I of A with axis
J of B. Normal and Binormal are those of a point on a curve, User and UserAngle a function of the user's in m and in rad.
"""

from __future__ import annotations

DX, DY, DZ = 0, 1, 2
DOT = 3  # + 3 i + j for the product of axis i of A and axis j of B
DISTANCE, ANGLE = 12, 13
NORMAL, BINORMAL, SURFACE, USER, USER_ANGLE = 14, 15, 16, 17, 18

NUMBER = {
    "DX": DX, "DY": DY, "DZ": DZ, "Distance": DISTANCE, "Angle": ANGLE, "Normal": NORMAL,
    "Binormal": BINORMAL, "Surface": SURFACE, "User": USER, "UserAngle": USER_ANGLE,
}  # fmt: skip
NUMBER |= {f"Dot{a}{b}": DOT + 3 * i + j for i, a in enumerate("XYZ") for j, b in enumerate("XYZ")}
NAME = {number: name for name, number in NUMBER.items()}
LENGTHS = [DX, DY, DZ, DISTANCE, NORMAL, BINORMAL, SURFACE, USER]
"""The primitives that are lengths [m]; the others are angles or products of directions."""

VELOCITIES: list[int] = []
"""The primitives at velocity level: rows g · V = 0 that no position fulfils or violates."""
