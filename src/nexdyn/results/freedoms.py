"""Names and units of the coordinates and degrees of freedom of joints."""

from __future__ import annotations

from typing import Any

from nexdyn.joints import JOINTS
from nexdyn.model.joint import Joint

_TURN, _SHIFT = ("", "rad"), ("", "m")
_PLACE = (("x", "m"), ("y", "m"), ("z", "m"))
_QUATERNION = (("qw", "1"), ("qx", "1"), ("qy", "1"), ("qz", "1"))
_SPIN = (("wx", "rad"), ("wy", "rad"), ("wz", "rad"))


def _page(base: type[Joint], kind: str) -> type[Joint] | None:
    """The joint of that kind among those that derive from `base`: a process that was sent a system has its class, not registered."""
    for cls in reversed(base.__subclasses__()):
        found = cls if cls.__dict__.get("kind") == kind else _page(cls, kind)
        if found is not None:
            return found
    return None


class _Labels(dict[str, tuple[tuple[str, str], ...]]):
    """Those of the package, and of registered joints what their pages say."""

    def __missing__(self, kind: str) -> tuple[tuple[str, str], ...]:
        page = JOINTS.get(kind) or _page(Joint, kind)
        turning = getattr(page, "turning", None)
        if page is None or turning is None:
            raise KeyError(kind)
        given: Any = page
        names = given.labels or (("",) if len(turning) == 1 else tuple(f"q{i}" for i in range(1, len(turning) + 1)))
        return tuple((name, "rad" if turns else "m") for name, turns in zip(names, turning, strict=True))

    def get(self, kind: str, default: Any = None) -> Any:
        try:
            return self[kind]
        except KeyError:
            return default


COORDINATES = _Labels({
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
})  # fmt: skip
"""Name and unit of each coordinate, by kind of joint; no name where there is only one."""

FREEDOMS = _Labels({**COORDINATES, "spherical": _SPIN, "free": (*_SPIN, ("vx", "m"), ("vy", "m"), ("vz", "m"))})
"""Name of each velocity, and the unit of which it is so many per second."""
