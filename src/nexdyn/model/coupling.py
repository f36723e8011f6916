"""Couplings between the coordinates of joints: gears, racks, and any linear law.

    C = Σ c_i q_i − offset = 0      (q_i counted from where the joint's frames coincide, angles through full turns)

    gear             q_a − ratio q_b − offset = 0
    rack and pinion  q_rack − radius q_pinion − offset = 0

A coupling is a constraint row about all bodies of its joints; it bears whatever force or torque the law asks for, and
none of it counts as a reaction of the joints. Where two joints of one degree of freedom each are coupled, minimal coordinates
support it as they support a mimic joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from nexdyn.errors import InputError, UnknownNameError, counted
from nexdyn.model.element import Element, name_of
from nexdyn.model.joint import is_angle
from nexdyn.model.parameters import number, sequence

if TYPE_CHECKING:
    from nexdyn.model.joint import Joint
    from nexdyn.model.system import System

MEDIUM = 1
"""The priority of a coupling's row."""


class Coupled(NamedTuple):
    """One coordinate of a coupling, and what it counts."""

    joint: str
    freedom: int
    coefficient: float


class Law(NamedTuple):
    """Σ coefficient · coordinate = offset."""

    terms: tuple[Coupled, ...]
    offset: float


class Coupling(Element):
    """Holds a sum of joint coordinates: Σ c_i q_i = offset.

    terms: {joint: coefficient} or {(joint, freedom): coefficient} of two coordinates or more; the degree of freedom counts from 0
    in the order of the joint's q. Also a list of (joint, coefficient) or (joint, freedom, coefficient).
    offset: what the sum is, in the unit of its terms. priority: of its constraint row; larger is kept first.
    """

    kind_of_element: ClassVar[str] = "coupling"
    structural: ClassVar[frozenset[str]] = frozenset(
        {"name", "terms", "priority", "joint_a", "joint_b", "freedom_a", "freedom_b", "pinion", "rack"}
    )
    kind: ClassVar[str] = "sum"
    equation: ClassVar[str] = "Coupling"
    terms: tuple[Any, ...]
    offset: Any
    priority: int

    def __init__(self, name: str, terms: Any, *, offset: Any = 0.0, priority: int = MEDIUM) -> None:
        super().__init__(name)
        self._store(terms=_terms(self, terms), offset=offset, priority=priority)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {', '.join(repr(joint) for joint in self.joints())})"

    def joints(self) -> tuple[str, ...]:
        """The joints that it couples."""
        return tuple(joint for joint, _, _ in self._coefficients())

    def law(self, values: Mapping[str, float]) -> Law:
        """The sum with numbers in place of parameters."""
        terms = tuple(
            Coupled(joint, freedom, self._coefficient(joint, c, values)) for joint, freedom, c in self._coefficients()
        )
        return Law(terms, self.number_of("offset", values))

    def check(self, values: Mapping[str, float]) -> None:
        if type(self.priority) is not int or self.priority < 0:
            raise InputError(f"priority of {self} is {self.priority!r}; a whole number, 0 or more, is needed")
        terms = self.law(values).terms
        if len(terms) < 2:
            raise InputError(
                f"{self} has {counted(len(terms), 'coordinate')}; two or more are needed"
                + ("; a Driver holds a single one" if terms else "")
            )
        seen: set[tuple[str, int]] = set()
        for joint, freedom, _ in terms:
            if (joint, freedom) in seen:
                raise InputError(f"{self} names freedom {freedom} of joint {joint!r} twice; name each coordinate once")
            seen.add((joint, freedom))

    def check_in(self, system: System) -> None:
        """Raise InputError for what only the system tells: its joints, and whether they have such coordinates."""
        for name, freedom, _ in self._coefficients():
            try:
                joint = system.joint(name)
            except UnknownNameError as error:
                raise UnknownNameError(f"{self}: {error}") from None
            count = len(joint.coordinates)
            if not count:
                raise InputError(f"{self}: {joint} ({joint.kind}) has no coordinate that can be coupled")
            if type(freedom) is not int or not 0 <= freedom < count:
                raise InputError(f"freedom {freedom!r} in {self}: {joint} ({joint.kind}) has 0 to {count - 1}")
            self._check_coordinate(joint, joint.coordinates[freedom])

    def _coefficients(self) -> tuple[tuple[str, int, Any], ...]:
        """(joint, freedom, coefficient as given) of every term."""
        return self.terms

    def _coefficient(self, joint: str, c: Any, values: Mapping[str, float]) -> float:
        x = number(c, values, f"coefficient of {joint!r} in {self}")
        if x == 0.0:
            raise InputError(f"coefficient of {joint!r} in {self} is 0; leave the joint out")
        return x

    def _check_coordinate(self, joint: Joint, coordinate: str) -> None:
        """Raise InputError where a coordinate is of the wrong kind."""

    def _nonzero(self, attribute: str, values: Mapping[str, float], otherwise: str) -> float:
        x = self.number_of(attribute, values)
        if x == 0.0:
            raise InputError(f"{attribute} of {self} is 0; {otherwise}")
        return x


class Gear(Coupling):
    """Two turning joints in gear: q_a = ratio · q_b + offset [rad].

    joint_a, joint_b: joints or their names. ratio: turns of `joint_a` for one of `joint_b`, ω_a/ω_b = teeth_b/teeth_a;
    negative where they turn against each other, as wheels with outer teeth do about axes of the same sense.
    freedom_a, freedom_b: which coordinate of a joint that has several.
    """

    kind, equation = "gear", "Gear"
    joint_a: str
    joint_b: str
    ratio: Any
    freedom_a: int
    freedom_b: int

    def __init__(
        self,
        name: str,
        joint_a: Element | str,
        joint_b: Element | str,
        *,
        ratio: Any,
        offset: Any = 0.0,
        freedom_a: int = 0,
        freedom_b: int = 0,
        priority: int = MEDIUM,
    ) -> None:
        Element.__init__(self, name)
        self._store(
            joint_a=name_of(joint_a), joint_b=name_of(joint_b), ratio=ratio, offset=offset, freedom_a=freedom_a,
            freedom_b=freedom_b, priority=priority,
        )  # fmt: skip

    def law(self, values: Mapping[str, float]) -> Law:
        ratio = self._nonzero("ratio", values, "a Driver holds a joint where it is")
        (a, i, _), (b, j, _) = self._coefficients()
        return Law((Coupled(a, i, 1.0), Coupled(b, j, -ratio)), self.number_of("offset", values))

    def _coefficients(self) -> tuple[tuple[str, int, Any], ...]:
        return ((self.joint_a, self.freedom_a, 1.0), (self.joint_b, self.freedom_b, None))

    def _check_coordinate(self, joint: Joint, coordinate: str) -> None:
        if not is_angle(coordinate):
            raise InputError(
                f"{self}: that coordinate of {joint} ({joint.kind}) is a length, not an angle; use RackAndPinion or Coupling"
            )


class RackAndPinion(Coupling):
    """A pinion that moves a rack: q_rack = radius · q_pinion + offset [m].

    pinion: a joint that turns, rack: a joint that slides, or their names. radius: of the pinion's pitch circle [m];
    negative where the rack moves against its axis as the pinion turns about its own.
    """

    kind, equation = "rack_and_pinion", "Rack"
    pinion: str
    rack: str
    radius: Any

    def __init__(
        self,
        name: str,
        pinion: Element | str,
        rack: Element | str,
        *,
        radius: Any,
        offset: Any = 0.0,
        priority: int = MEDIUM,
    ) -> None:
        Element.__init__(self, name)
        self._store(pinion=name_of(pinion), rack=name_of(rack), radius=radius, offset=offset, priority=priority)

    def law(self, values: Mapping[str, float]) -> Law:
        radius = self._nonzero("radius", values, "a pinion without a radius moves no rack")
        return Law((Coupled(self.rack, 0, 1.0), Coupled(self.pinion, 0, -radius)), self.number_of("offset", values))

    def check_in(self, system: System) -> None:
        super().check_in(system)
        for role, name, turns in (("pinion", self.pinion, True), ("rack", self.rack, False)):
            joint = system.joint(name)
            if is_angle(joint.coordinates[0]) is not turns:
                raise InputError(
                    f"{role} of {self}: {joint} ({joint.kind}) {'slides' if turns else 'turns'}; "
                    f"a joint that {'turns' if turns else 'slides'} is needed"
                )

    def _coefficients(self) -> tuple[tuple[str, int, Any], ...]:
        return ((self.rack, 0, 1.0), (self.pinion, 0, None))


def _terms(coupling: Coupling, given: Any) -> tuple[tuple[str, int, Any], ...]:
    """(joint, freedom, coefficient) of every term, from a mapping or a list."""
    needed = "{joint: coefficient}, or a list of (joint, freedom, coefficient)"
    if isinstance(given, Mapping):
        items = [(*key, c) if isinstance(key, tuple) and len(key) == 2 else (key, 0, c) for key, c in given.items()]
    else:
        items = []
        for item in sequence(given, f"terms of {coupling}", needed):
            if not isinstance(item, list | tuple) or len(item) not in (2, 3):
                raise InputError(f"terms of {coupling}: {item!r} is no term; write {needed}")
            items.append((item[0], 0, item[1]) if len(item) == 2 else tuple(item))
    return tuple((name_of(joint), freedom, c) for joint, freedom, c in items)


COUPLINGS: dict[str, type[Coupling]] = {cls.kind: cls for cls in (Coupling, Gear, RackAndPinion)}
