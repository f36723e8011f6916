"""Events: what is watched in a run, and what happens where it crosses a value.

    g(t, q, v) = signal − value;   the event is at the t where g changes sign, in the direction that is asked for

The signal is one of: a measure, a coordinate or velocity of a joint, the gap of a contact or how fast it slides, a function of the
user's, or the time itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from nexdyn.errors import InputError, is_one_of, unknown
from nexdyn.model.element import Element, name_of

if TYPE_CHECKING:
    from nexdyn.model.system import System

DIRECTIONS = {"both": 0, "rising": 1, "falling": -1}
SIGNALS = ("measure", "joint", "contact", "function", "time")
OF_SIGNALS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "of": ("position", ("joint", "contact")),
    "freedom": (0, ("joint",)),
    "value": (0.0, ("measure", "joint", "contact", "function")),
    "direction": ("both", ("measure", "joint", "contact", "function")),
}
"""Attributes that only some signals have: the default, and which."""


class Event(Element):
    """Something that a run watches; where it happens, to `tolerance` [s], the result says when, and what is asked for is done.

    What is watched, one of:
        measure: a measure; component: of a vector, "x", "y" or "z".
        joint: a joint; freedom: which, from 0; of: "position" or "velocity".
        contact: a contact, or a force that is one; of "position": its least gap [m], which falls through 0 where it begins to touch and
            rises through 0 where it ends; of "velocity": the greatest speed [m/s] at which a point that bears slides, so that
            value=1e-3, direction="rising" tells where it begins to slip. The gap is of the surfaces, also where it is switched off.
        function(t, q, v) → number, with q and v in the order of `Result.joint_position()` and `joint_velocity()`.
        time [s]: when it happens; value and direction are for the others.
    value: what is crossed, in the units of the signal. direction: "both", "rising" or "falling".

    What is done, all that is given:
        stop: end the run there. off, on: forces, contacts or clamps that cease to act, or act again. parameters: {name: value}, as for
        `System.with_parameters`. action(state): a function that may change the state (:class:`nexdyn.simulation.events.EventState`).

    once: only the first time counts.
    """

    kind_of_element: ClassVar[str] = "event"
    structural: ClassVar[frozenset[str]] = frozenset(
        {
            "name",
            "measure",
            "component",
            "joint",
            "contact",
            "freedom",
            "of",
            "function",
            "direction",
            "off",
            "on",
            "action",
        }
    )
    measure: str | None
    component: str | None
    joint: str | None
    contact: str | None
    freedom: int
    of: str
    function: Callable[..., Any] | None
    time: Any
    value: Any
    direction: str
    stop: bool
    off: Any
    on: Any
    parameters: Mapping[str, Any] | None
    action: Callable[..., Any] | None
    once: bool
    tolerance: Any

    def __init__(
        self,
        name: str,
        *,
        measure: Element | str | None = None,
        component: str | None = None,
        joint: Element | str | None = None,
        freedom: int = 0,
        of: str = "position",
        function: Callable[..., Any] | None = None,
        contact: Element | str | None = None,
        time: Any = None,
        value: Any = 0.0,
        direction: str = "both",
        stop: bool = False,
        off: Any = (),
        on: Any = (),
        parameters: Mapping[str, Any] | None = None,
        action: Callable[..., Any] | None = None,
        once: bool = False,
        tolerance: Any = 1e-9,
    ) -> None:
        super().__init__(name)
        self._store(
            measure=None if measure is None else name_of(measure), component=component,
            joint=None if joint is None else name_of(joint),
            contact=None if contact is None else name_of(contact), freedom=freedom, of=of, function=function, time=time,
            value=value, direction=direction, stop=stop, off=_names(name, "off", off), on=_names(name, "on", on), action=action, once=once,
            tolerance=tolerance,
        )  # fmt: skip
        if not (parameters is None or isinstance(parameters, Mapping)):
            raise InputError(
                f"parameters of event {name!r} are {parameters!r}; a mapping like {{'link1.mass': 2.0}} is needed"
            )
        self.__dict__["parameters"] = None if parameters is None else dict(parameters)

    def __repr__(self) -> str:
        return f"Event({self.name!r})"

    def check(self, values: Mapping[str, float]) -> None:
        given = [signal for signal in SIGNALS if self.__dict__[signal] is not None]
        if len(given) != 1:
            found = f"has {' and '.join(given)}" if given else "watches nothing"
            raise InputError(f"{self} {found}; give one of {', '.join(SIGNALS)}")
        for attribute in ("function", "action"):
            if self.__dict__[attribute] is not None and not callable(self.__dict__[attribute]):
                raise InputError(f"{attribute} of {self} is {self.__dict__[attribute]!r}; a function is needed")
        if not is_one_of(self.direction, DIRECTIONS):
            raise unknown(f"direction of {self}", self.direction, DIRECTIONS, plural="valid")
        if not is_one_of(self.of, ("position", "velocity")):
            raise unknown(f"signal of {self}", self.of, ("position", "velocity"), plural="valid")
        if self.time is not None and self.number_of("time", values) < 0.0:
            raise InputError(f"time of {self} is {self.time} s; runs begin at 0 s")
        self.number_of("value", values)
        if not self.number_of("tolerance", values) > 0.0:
            raise InputError(f"tolerance of {self} is {self.tolerance} s; it must be greater than 0")
        for attribute in ("stop", "once"):
            if type(self.__dict__[attribute]) is not bool:
                raise InputError(f"{attribute} of {self} is {self.__dict__[attribute]!r}; True or False is needed")
        for attribute, (default, signals) in OF_SIGNALS.items():
            if self.__dict__[attribute] != default and given[0] not in signals:
                raise InputError(
                    f"{attribute} of {self} is {self.__dict__[attribute]!r}; it is for {' or '.join(signals)}, and {self} has {given[0]}"
                )

    def check_in(self, system: System) -> None:
        """Raise InputError for what only the system tells."""
        if self.measure is None and self.component is not None:
            raise InputError(f"component of {self} is {self.component!r}; it is for a measure, which {self} has not")
        if self.measure is not None:
            axes = system.measure(self.measure).axes
            if axes and self.component not in axes:
                raise InputError(f"component of {self} is {self.component!r}; {self.measure!r} has {', '.join(axes)}")
            if not axes and self.component is not None:
                raise InputError(f"component of {self} is {self.component!r}; {self.measure!r} is one number")
        if self.joint is not None:
            joint = system.joint(self.joint)
            count = joint.nq if self.of == "position" else joint.nv
            if type(self.freedom) is not int or not 0 <= self.freedom < count:
                raise InputError(f"freedom of {self} is {self.freedom!r}; {joint}, {joint.kind}, has 0 to {count - 1}")
        if self.contact is not None and not all(force.touches for force in system.forces_of(self.contact)):
            raise InputError(f"contact of {self} is {self.contact!r}, a force that is no contact")
        for name in (*self.off, *self.on):
            try:
                system.switched(name)
            except InputError as error:
                raise type(error)(f"{self} switches {name!r}: {error}") from None
        if self.parameters is not None:
            try:
                system.with_parameters(self.parameters)
            except InputError as error:
                raise type(error)(f"parameters of {self}: {error}") from None

    @property
    def sign(self) -> int:
        """1 where only rising counts, −1 for falling, 0 for both."""
        return DIRECTIONS[self.direction]


def _names(event: object, role: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, Element | str):
        given = (given,)
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise InputError(
            f"{role} of event {event!r} is {given!r}; forces, contacts or clamps, or their names, are needed"
        )
    return tuple(name_of(item) for item in given)
