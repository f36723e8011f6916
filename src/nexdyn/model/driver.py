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
from nexdyn.model.parameters import sequence

if TYPE_CHECKING:
    from nexdyn.model.system import System

CRITICAL = 3
"""The priority of a driver's row: above those of joints."""
COMPONENTS = ("x", "y", "z")
ORIENTATION = ("yaw", "pitch", "roll")
WHOLE = {"rotation_vector": 3, "quaternion": 4, "angles": 3}
"""What says a whole orientation, and of how many components it is."""
PITCH = 0.5 * math.pi
"""The largest pitch of a driver of one angle [rad]."""
ZERO = 1e-150
"""Length of a quaternion below which it has no direction."""


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

    def functions(self, values: Mapping[str, float]) -> tuple[Function, ...]:
        """The functions of time that it follows, with numbers in place of parameters."""
        return (self.resolved(values),)

    def check(self, values: Mapping[str, float]) -> None:
        self.functions(values)
        self._check_priority()

    def _check_priority(self) -> None:
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
    """Drives the orientation of a frame, and leaves its position free: all of it, or one angle.

        R from `seen_from` to `frame`:   rotation_vector ρ, R = exp(ρ);   quaternion (w, x, y, z);   angles (yaw, pitch, roll),
                                         R = Rz(yaw) Ry(pitch) Rx(roll)

    frame: a marker, or a body for its own frame. seen_from: a marker or a body; the ground by default.
    rotation_vector (3) [rad], quaternion (4) of any length but 0, angles (3) [rad]: each component as the function of :class:`Driver`;
        one of the three drives the whole orientation, through every pose. Its effort [N m] has three components: the torque on `frame`,
        in the axes of `frame`.
    angle, function: in their place, one angle alone, "yaw" about z of `seen_from`, "pitch" about y turned by the yaw, or "roll" about x
        of `frame`, and what it is over time [rad]. Yaw and roll may turn many times; a pitch stays within ±π/2, where yaw and roll turn
        about one axis. The effort [N m] is the torque about that angle's axis.
    priority: as for :class:`Driver`.
    """

    kind = "orientation"
    frame: str
    angle: str | None
    rotation_vector: Any
    quaternion: Any
    angles: Any
    seen_from: str

    def __init__(
        self, name: str, frame: Element | str, angle: str | None = None, function: Any = None, *, rotation_vector: Any = None,
        quaternion: Any = None, angles: Any = None, seen_from: Element | str = "ground", priority: int = CRITICAL,
    ) -> None:  # fmt: skip
        Element.__init__(self, name)
        self._store(
            frame=name_of(frame), angle=angle, function=function, rotation_vector=rotation_vector, quaternion=quaternion,
            angles=angles, seen_from=name_of(seen_from), priority=priority,
        )  # fmt: skip

    def __repr__(self) -> str:
        which = f", {self.angle!r}" if self.__dict__.get("angle") is not None else ""
        return f"{type(self).__name__}({self.name!r}, {self.frame!r}{which})"

    @property
    def given(self) -> str:
        """Which it is of: "angle", "rotation_vector", "quaternion", "angles". InputError for none, and for more than one."""
        found = [what for what in ("angle", *WHOLE) if self.__dict__[what] is not None]
        if self.function is not None and "angle" not in found:
            raise InputError(f"{self} has a function and no angle that it is of; {', '.join(ORIENTATION)} are valid")
        if len(found) != 1:
            names = " and ".join(found) or "nothing"
            raise InputError(
                f"{self} is given {names}; one of {', '.join(WHOLE)} is needed, or an angle and its function"
            )
        return found[0]

    def functions(self, values: Mapping[str, float]) -> tuple[Function, ...]:
        given = self.given
        if given == "angle":
            return super().functions(values)
        what, count = f"{given} of {self}", WHOLE[given]
        components = sequence(self.__dict__[given], what, f"{count} components")
        if len(components) != count:
            raise InputError(f"{what} has {len(components)} components; {count} are needed")
        found = []
        for i, x in enumerate(components):
            try:
                found.append(as_function(x, f"component {i}").resolved(values))
            except InputError as error:
                raise type(error)(f"{what}: {error}") from None
        return tuple(found)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """The rows of the components as kernels take them; the driver keeps the user functions that they name."""
        from nexdyn.model.time_kernels import time_callbacks, time_row  # loads Numba, which few need

        functions = self.functions(values)
        self._callbacks = tuple(callback for function in functions for callback in time_callbacks(function))
        return [x for function in functions for x in time_row(function)]

    def check(self, values: Mapping[str, float]) -> None:
        self._check_priority()
        self.functions(values)
        if wrong := self.wrong_at(values, 0.0):
            raise InputError(wrong)

    def wrong_at(self, values: Mapping[str, float], t: float, dt: float = 0.0) -> str:
        """What cannot be driven at a time, or has come near it in a step of dt [s]; "" for nothing."""
        given, functions = self.given, self.functions(values)
        if given == "quaternion":
            size = math.sqrt(sum(float(f.value(t)) ** 2 for f in functions))
            return (
                ""
                if size > ZERO
                else f"{self} has a quaternion of zero length at t = {t:g} s; any other length will do"
            )
        if self.angle == "pitch":
            f = functions[0]
            at = [float(f.value(t)), float(f.value(t + dt)), float(f.value(max(0.0, t - dt)))]
            most = max(at, key=abs)
            if abs(most) > (PITCH if dt == 0.0 else 0.98 * PITCH):
                return (
                    f"{self} asks for a pitch of {most:.4g} rad at t = {t:g} s; it stays within ±π/2, {PITCH:.4g} rad: drive the whole "
                    "orientation by angles=(yaw, pitch, roll), or see it from a frame in which it does"
                )
        return ""

    def check_in(self, system: System) -> None:
        (body, _, _), (base, _, _) = system.frame(self.frame), system.frame(self.seen_from)
        if body is system.ground:
            raise InputError(f"{self} drives a frame of the ground, which does not move; name a body or its marker")
        if body is base:
            raise InputError(f"{self} drives body {body.name!r} against itself; seen_from must be on another body")
        if self.angle is not None and self.angle not in ORIENTATION:
            raise InputError(f"angle of {self} is {self.angle!r}; {', '.join(ORIENTATION)} are valid")


def orientation_wrong_at(system: System, t: float, dt: float = 0.0) -> str:
    """What a driver of an orientation cannot do at a time, or near it; "" for nothing."""
    drivers = (driver for driver in system.drivers.values() if isinstance(driver, OrientationDriver))
    return next((wrong for driver in drivers if (wrong := driver.wrong_at(system.values, t, dt))), "")


DRIVERS: dict[str, type[Driver]] = {cls.kind: cls for cls in (Driver, PointDriver, OrientationDriver)}
