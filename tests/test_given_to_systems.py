"""What is given in the place of something else is named, with what would be valid; Python's own errors come from nowhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matrix_elements import ELEMENTS

import nexdyn as nx
from nexdyn.forces import FORCES

HUGE = 10**400
"""Larger than any float."""
SEVERAL = np.array([1, 2])
"""Compared with a word, it is no truth value."""


def rod() -> nx.System:
    system = nx.System("rod")
    system.add_body("b", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("j", "ground", "b", at=(0, 0, 0), axis=(0, 1, 0)))
    return system


def event(**given: Any) -> Callable[[], Any]:
    return lambda: rod().add_event(nx.Event("e", **{"time": 1.0} | given))


def body(**given: Any) -> Callable[[], Any]:
    return lambda: rod().add_body("x", mass=1.0, inertia=(1, 1, 1), **given)


def run(*given: Any, **options: Any) -> Callable[[], Any]:
    return lambda: nx.simulate(rod(), *(given or (1e-3,)), **options)


def called(name: str, *given: Any, **named: Any) -> Callable[[], Any]:
    """A method of a system."""
    return lambda: getattr(rod(), name)(*given, **named)


GIVEN: dict[str, tuple[Callable[[], Any], str]] = {
    "off is a number": (event(off=3), "off of event 'e' is 3; forces, contacts or clamps, or their names, are needed"),
    "on is a mapping": (event(on={"a": 1}), "on of event 'e' is {'a': 1}; forces, contacts or clamps"),
    "off holds a number": (event(off=[3]), "3 is neither an element of the system nor the name of one"),
    "direction is a mapping": (event(direction={}), "no direction of event 'e' {}; valid: both, rising, falling"),
    "direction is an array": (event(direction=SEVERAL), "no direction of event 'e'"),
    "of is an array": (event(of=SEVERAL), "no signal of event 'e'"),
    "parameters are a text": (event(parameters=""), "parameters of event 'e' are ''; a mapping"),
    "parameters are a number": (event(parameters=3), "parameters of event 'e' are 3; a mapping"),
    "before all runs": (event(time=-1.0), "time of event 'e' is -1.0 s; runs begin at 0 s"),
    "changes are a number": (called("with_parameters", 3), "changes of system 'rod' are 3; a mapping"),
    "changes are a list": (called("with_parameters", ["a"]), "changes of system 'rod' are ['a']; a mapping"),
    "no body": (called("add_body"), "System.add_body: missing a required argument: 'body'"),
    "mass by position": (called("add_body", "x", 1.0), "System.add_body: too many positional arguments"),
    "no joint": (called("add_joint"), "System.add_joint: missing a required argument: 'joint'; its arguments are joint"),
    "two for one": (called("add_force", "a", "b"), "System.add_force: too many positional arguments"),
    "another name": (called("add_event", evnt=1), "System.add_event has no argument 'evnt'; did you mean 'event'?"),
    "a parameter without value": (called("parameter", "k"), "System.parameter: missing a required argument: 'value'"),
    "shapes of no dimension": (body(shapes=np.array(3.0)), "shapes of body 'x' is array(3.); a list of Box"),
    "collision of no dimension": (body(collision=np.array(3.0)), "collision of body 'x' is array(3.); a list of Box"),
    "no_collision of no dimension": (body(no_collision=np.array(3.0)), "no_collision of body 'x' has array(3.)"),
    "cut is a number": (lambda: nx.Loops(cut=3.0), "cut of Loops is 3.0; joints, or their names, are needed"),
    "cut holds a number": (lambda: nx.Loops(cut=[1]), "cut of Loops is [1]; joints, or their names, are needed"),
    "stabilise is an array": (lambda: nx.Loops(SEVERAL), "stabilise of Loops is array([1, 2])"),  # type: ignore[arg-type]
    "solver is an array": (lambda: nx.HHT(solver=SEVERAL), "solver of HHT is array([1, 2])"),  # type: ignore[arg-type]
    "pair is an array": (lambda: nx.Projection(1e-6, pair=SEVERAL), "Projection"),  # type: ignore[arg-type]
    "dynamics is an array": (run(dynamics=SEVERAL), "no dynamics array([1, 2]); valid: aba, crba, cfa"),
    "on_gap is an array": (run(on_gap=SEVERAL), "on_gap is array([1, 2]); 'warn' or 'error' or 'accept' is needed"),
    "a step beyond numbers": (lambda: nx.RungeKutta4(HUGE), "dt of RungeKutta4 is too large for a number"),
    "an end beyond numbers": (run(HUGE), "a time in seconds is needed"),
    "a start beyond numbers": (run(q0=[HUGE]), "q0 is [1000"),
    "times beyond numbers": (run(output_times=[HUGE]), "output_times is [1000"),
    "a parameter that is a list": (lambda: nx.stability(rod(), ["k"], [1, 2]), "no parameter ['k']"),  # type: ignore[arg-type]
    "problems are a number": (lambda: nx.verify(3.0), "names are 3.0; a list of problems is needed"),  # type: ignore[arg-type]
    "problems are a text": (lambda: nx.verify("A01"), "names are 'A01'; a list of problems is needed"),
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_something_else_is_named(name: str) -> None:
    call, said = GIVEN[name]
    with pytest.raises(nx.InputError) as caught:
        call()
    assert said in str(caught.value)


def test_errors_of_functions_that_methods_call_stay_what_they_are() -> None:
    """A TypeError from within is no wrong call."""

    class Odd(nx.Revolute):
        def check(self, values: Any) -> None:
            raise TypeError("from within")

    with pytest.raises(TypeError, match="from within"):
        rod().add_joint(Odd("k", "ground", "b"))


NOTHING_OF_THE_KIND: tuple[Any, ...] = ({}, {"a": 1}, {1, 2})
"""No argument is a set, or a mapping of this text; and what takes a mapping has no use for one without anything in it."""
MAY_BE_EMPTY = {("event", "parameters")}


@pytest.mark.parametrize("name", [name for name, element in ELEMENTS.items() if not element.part_of])
def test_no_argument_of_any_element_is_a_mapping_or_a_set_of_anything(name: str) -> None:
    element = ELEMENTS[name]
    accepted = []
    arguments = {*element.base, *element.changes, *inspect.signature(element.cls).parameters} - {"name"}
    for argument in sorted(arguments):
        for x in NOTHING_OF_THE_KIND:
            if x == {} and (name, argument) in MAY_BE_EMPTY:
                continue
            change = element.change(argument) if argument in element.changes else {}
            given = {k: v for k, v in {**element.base, **change, argument: x}.items() if v is not None}
            try:
                element.make(element.carriers[0], given)
            except nx.InputError:
                continue
            accepted.append(f"{argument} = {x}")
    assert not accepted, f"{element.cls.__name__} takes {', '.join(accepted)}"


def two_bodies() -> nx.System:
    system = rod()
    for name, body in (("of ground", "ground"), ("of b", "b")):
        system.add_marker(name, body, position=(0.1, 0, 0))
    return system


ALONE = [
    ("ground", "ground"),
    ("of ground", "ground"),
    ("ground", "of ground"),
    ("b", "b"),
    ("of b", "b"),
    ("of b", "of b"),
]


@pytest.mark.parametrize(
    "kind", [kind for kind, cls in FORCES.items() if "joint" not in list(inspect.signature(cls).parameters)[1]]
)
def test_no_force_acts_on_the_ground_alone_or_between_a_body_and_itself(kind: str) -> None:
    cls: Any = FORCES[kind]
    first = list(inspect.signature(cls).parameters)[1]
    points = ("anchor", "at", "anchor_a", "anchor_b")
    base = {key: x for key, x in ELEMENTS[f"force {kind}"].base.items() if key not in (*points, "centre")}
    if kind == "point_gravity":
        base["centre"] = "ground"
    ends = [(a,) for a in ("ground", "of ground")] if first == "body" else ALONE
    for names in ends:
        with pytest.raises(nx.InputError, match=r"on the ground|on itself|a body that moves is needed"):
            two_bodies().add_force(cls("acting", *names, **base))


ON_ITSELF: dict[str, Callable[[nx.System], Any]] = {
    "gear": lambda s: s.add_coupling(nx.Gear("x", "j", "j", ratio=2.0)),
    "coupling": lambda s: s.add_coupling(nx.Coupling("x", (("j", 0, 1.0), ("j", 0, -1.0)))),
    "mimic": lambda s: s.add_joint(nx.Revolute("x", "ground", "b", mimic=nx.Mimic("x"))),
    "joint": lambda s: s.add_joint(nx.Revolute("x", "b", "b")),
    "constraint": lambda s: s.add_joint(nx.Rod("x", "ground", "ground", anchor_b=(1, 0, 0))),
    "contact": lambda s: s.add_contact(nx.Contact("x", "ground", stiffness=1e4)),
    "contact of one body": lambda s: s.add_contact(nx.Contact("x", "b", "b", stiffness=1e4)),
    "driver of a point": lambda s: s.add_driver(nx.PointDriver("x", "of ground", "z", 0.0)),
    "driver of a frame": lambda s: s.add_driver(nx.OrientationDriver("x", "ground", angle="yaw", function=0.0)),
    "driver against itself": lambda s: s.add_driver(
        nx.OrientationDriver("x", "b", angle="yaw", function=0.0, seen_from="of b")
    ),
}


@pytest.mark.parametrize("what", ON_ITSELF)
def test_nothing_else_acts_on_the_ground_alone_or_on_itself(what: str) -> None:
    with pytest.raises(nx.InputError):
        ON_ITSELF[what](two_bodies())
