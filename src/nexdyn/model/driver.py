"""Drivers: a coordinate of a joint, or of a point, that moves as a function of time says.

    C = coordinate − f(t) = 0,   ν = ḟ,   γ = γ_coordinate + f̈

A driver is a constraint: it bears whatever force the motion asks for. Two that drive the same motion are over-driven.
"""

from __future__ import annotations

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


class Driver(Element):
    """Drives a coordinate of a joint.

    joint: a joint or its name. function: the coordinate [m, rad] over time: a number, an expression ("=2*pi*t"), a
    function of time (``nexdyn.model.functions``) or a callable f(t); an angle may turn many times. freedom: which of the
    joint's coordinates, from 0, in the order of its q. priority: of its constraint row; larger is kept first.
    """

    kind_of_element: ClassVar[str] = "driver"
    structural: ClassVar[frozenset[str]] = frozenset({"name", "joint", "freedom", "point", "component", "priority"})
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


DRIVERS: dict[str, type[Driver]] = {cls.kind: cls for cls in (Driver, PointDriver)}
