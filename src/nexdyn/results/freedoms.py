"""Names and units of the coordinates and degrees of freedom of joints."""

from __future__ import annotations

_TURN, _SHIFT = ("", "rad"), ("", "m")
_PLACE = (("x", "m"), ("y", "m"), ("z", "m"))
_QUATERNION = (("qw", "1"), ("qx", "1"), ("qy", "1"), ("qz", "1"))
_SPIN = (("wx", "rad"), ("wy", "rad"), ("wz", "rad"))

COORDINATES: dict[str, tuple[tuple[str, str], ...]] = {
    "fixed": (),
    "revolute": (_TURN,),
    "prismatic": (_SHIFT,),
    "helical": (_TURN,),
    "cylindrical": (("angle", "rad"), ("z", "m")),
    "universal": (("angle1", "rad"), ("angle2", "rad")),
    "spherical": _QUATERNION,
    "planar": (("x", "m"), ("y", "m"), ("angle", "rad")),
    "cartesian": _PLACE,
    "free": (*_QUATERNION, ("px", "m"), ("py", "m"), ("pz", "m")),
}
"""Name and unit of each coordinate, by kind of joint; no name where there is only one."""

FREEDOMS = COORDINATES | {"spherical": _SPIN, "free": (*_SPIN, ("vx", "m"), ("vy", "m"), ("vz", "m"))}
"""Name of each velocity, and the unit of which it is so many per second."""
