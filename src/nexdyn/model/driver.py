"""Drivers: a coordinate of a joint, or of a point, that moves as a function of time says.

    C = coordinate − f(t) = 0,   ν = ḟ,   γ = γ_coordinate + f̈

A driver is a constraint: it bears whatever force the motion asks for. Two that drive the same motion are over-driven.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from nexdyn.errors import InputError
from nexdyn.model.element import Element, name_of
from nexdyn.model.functions import Function, as_function

if TYPE_CHECKING:
    from nexdyn.model.system import System

CRITICAL = 3
"""The priority of a driver's row: above those of joints."""
COMPONENTS = ("x", "y", "z")
ORIENTATION = ("yaw", "pitch", "roll")
PITCH = 0.5 * math.pi
"""The largest pitch [rad]."""


class Driver(Element):
    """Drives a coordinate of a joint.

    joint: a joint or its name. function: the coordinate [m, rad] over time: a number, an expression ("=2*pi*t"), a
    function of time (``nexdyn.model.functions``) or a callable f(t); an angle may turn many times. freedom: which of the
    joint's coordinates, from 0, in the order of its q. priority: of its constraint row; larger is kept first.
    """

    kind_of_element: ClassVar[str] = "driver"
    structural: ClassVar[frozenset[str]] = frozenset(
        {"name", "joint", "freedom", "point", "component", "frame", "angle", "seen_from", "priority"}
    )
    kind: ClassVar[str] = "joint"

    joint: str
    function: Any
    freedom: int
    priority: int

    def __init__(
        self, name: str, joint: Element | str, function: Any, *, freedom: int = 0, priority: int = CRITICAL
    ) -> None:
        super().__init__(name)
        self._store(joint=name_of(joint), function=function, freedom=freedom, priority=priority)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.__dict__.get('joint', self.__dict__.get('point'))!r})"

    def resolved(self, values: Mapping[str, float]) -> Function:
        """The function of time with numbers in place of parameters."""
        try:
            return as_function(self.function, "the function").resolved(values)
        except InputError as error:
            raise type(error)(f"{self}: {error}") from None

    def check(self, values: Mapping[str, float]) -> None:
        self.resolved(values)
        if type(self.priority) is not int or self.priority < 0:
            raise InputError(f"priority of {self} is {self.priority!r}; a whole number, 0 or more, is needed")

    def check_in(self, system: System) -> None:
        """Raise InputError for what only the system tells: its joint, and whether that has such a coordinate."""
        joint, freedom = system.joint(self.joint), self.freedom
        count = len(joint.coordinates)
        if not count:
            raise InputError(
                f"{self}: {joint} ({joint.kind}) has no coordinate that can be driven; a PointDriver drives a point"
            )
        if type(freedom) is not int or not 0 <= freedom < count:
            raise InputError(f"freedom of {self} is {freedom!r}; {joint} ({joint.kind}) has 0 to {count - 1}")


class PointDriver(Driver):
    """Drives a world coordinate of a point.

    point: a marker, or a body for its origin. component: "x", "y" or "z". function, priority: as for :class:`Driver`,
    the coordinate in m.
    """

    kind = "point"
    point: str
    component: str

    def __init__(
        self, name: str, point: Element | str, component: str, function: Any, *, priority: int = CRITICAL
    ) -> None:
        Element.__init__(self, name)
        self._store(point=name_of(point), component=component, function=function, priority=priority)

    def check_in(self, system: System) -> None:
        body, _, _ = system.frame(self.point)
        if body is system.ground:
            raise InputError(f"{self} drives a point of the ground, which does not move; name a body or its marker")
        if self.component not in COMPONENTS:
            raise InputError(f"component of {self} is {self.component!r}; x, y, z are valid")


class OrientationDriver(Driver):
    """Drives one angle of the orientation of a frame; three of them drive the orientation alone, and leave the position free.

        R = Rz(yaw) Ry(pitch) Rx(roll)      from `seen_from` to `frame`

    frame: a marker, or a body for its own frame. angle: "yaw" about z of `seen_from`, "pitch" about y turned by the yaw, or "roll" about
    x of `frame`. function, priority: as for :class:`Driver`, the angle in rad; yaw and roll may turn many times, a pitch stays within
    ±π/2, where yaw and roll turn about one axis. seen_from: a marker or a body; the ground by default. The effort [N m] is the
    torque about that angle's axis.
    """

    kind = "orientation"
    frame: str
    angle: str
    seen_from: str

    def __init__(
        self, name: str, frame: Element | str, angle: str, function: Any, *, seen_from: Element | str = "ground",
        priority: int = CRITICAL,
    ) -> None:  # fmt: skip
        Element.__init__(self, name)
        self._store(
            frame=name_of(frame), angle=angle, function=function, seen_from=name_of(seen_from), priority=priority
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.frame!r}, {self.angle!r})"

    def check(self, values: Mapping[str, float]) -> None:
        super().check(values)
        asked = float(self.resolved(values).value(0.0)) if self.angle == "pitch" else 0.0
        if abs(asked) > PITCH:
            raise InputError(
                f"{self} asks for a pitch of {asked:.4g} rad at t = 0; it stays within ±π/2, {PITCH:.4g} rad: see it from a frame in "
                "which it does"
            )

    def check_in(self, system: System) -> None:
        (body, _, _), (base, _, _) = system.frame(self.frame), system.frame(self.seen_from)
        if body is system.ground:
            raise InputError(f"{self} drives a frame of the ground, which does not move; name a body or its marker")
        if body is base:
            raise InputError(f"{self} drives body {body.name!r} against itself; seen_from must be on another body")
        if self.angle not in ORIENTATION:
            raise InputError(f"angle of {self} is {self.angle!r}; {', '.join(ORIENTATION)} are valid")


DRIVERS: dict[str, type[Driver]] = {cls.kind: cls for cls in (Driver, PointDriver, OrientationDriver)}
