"""Every option that is given changes something, or is refused by name beside that which makes it idle."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from typing import Any

import mechanisms
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.cli.prepare import choose_method
from nexdyn.cli.run import Motion
from nexdyn.integrate.method import Method
from nexdyn.integrate.methods import METHODS
from nexdyn.integrate.pairs.pair import EmbeddedPair
from nexdyn.model.event import SIGNALS

OTHER: dict[str, Any] = {
    "dt": 1e-2, "rtol": 1e-4, "atol": 1e-3, "dt_max": 1e-3, "dt_min": 0.5, "alpha": -0.2, "beta": 5.0, "mu": 500.0, "updates": 5,
    "bdf2": True, "solver": "lu", "pair": "bs32",
}  # fmt: skip
"""A value of each option that is not its default."""
OPTIONS = [(cls, field.name) for cls in METHODS.values() for field in dataclasses.fields(cls)]  # type: ignore[arg-type]


def other(cls: Any, option: str) -> Any:
    return 5.0 if (cls, option) == (nx.Baumgarte, "alpha") else OTHER[option]


def base(cls: Any) -> dict[str, Any]:
    """What a method needs to be made."""
    return {"dt": 2e-2} if any(f.default is dataclasses.MISSING for f in dataclasses.fields(cls)) else {}


def outcome(method: Method) -> bytes:
    """What comes of a run, to the bit."""
    system = nx.load("double-pendulum") if method.coordinates == "tree" else mechanisms.four_bar()
    try:
        r = nx.simulate(
            system, 2.0 if isinstance(method, EmbeddedPair) else 0.1, method
        ).recording  # in which steps are rejected
    except nx.SolveError as error:
        return str(error).encode()
    return b"".join(np.ascontiguousarray(x).tobytes() for x in (r.t, r.q, r.v, r.a))


def test_all_methods_are_looked_at() -> None:
    of_package = [getattr(nx, name) for name in nx.__all__]
    methods = {cls for cls in of_package if inspect.isclass(cls) and issubclass(cls, Method) and hasattr(cls, "name")}
    assert set(METHODS.values()) == methods
    assert {option for _, option in OPTIONS} == set(OTHER)


@pytest.mark.parametrize(("cls", "option"), OPTIONS, ids=[f"{cls.__name__}.{option}" for cls, option in OPTIONS])
def test_an_option_that_is_given_alone_changes_the_run(cls: Any, option: str) -> None:
    assert outcome(cls(**{**base(cls), option: other(cls, option)})) != outcome(cls(**base(cls)))


PAIRS = [
    (cls, one, two)
    for cls in METHODS.values()
    for one, two in itertools.permutations([f.name for f in dataclasses.fields(cls)], 2)  # type: ignore[arg-type]
    if one == "dt"
]


@pytest.mark.parametrize(("cls", "one", "two"), PAIRS, ids=[f"{cls.__name__}.{one}.{two}" for cls, one, two in PAIRS])
def test_an_option_beside_a_step_changes_the_run_or_is_refused_by_the_names_of_both(
    cls: Any, one: str, two: str
) -> None:
    try:
        both = cls(**{one: other(cls, one), two: other(cls, two)})
    except nx.InputError as error:
        assert str(error).startswith(f"{cls.__name__} has {one} and {two}; ")
        return
    assert outcome(both) != outcome(cls(**{one: other(cls, one)}))


@pytest.mark.parametrize("cls", METHODS.values())
@pytest.mark.parametrize("dt", [None, 1e-3])
def test_methods_are_made_again_from_all_their_options(cls: Any, dt: float | None) -> None:
    if dt is None and "dt" in base(cls):
        return
    method = cls() if dt is None or not hasattr(cls(**base(cls)), "dt") else cls(dt=dt)
    known = {name: getattr(nx, name) for name in nx.__all__}
    assert eval(repr(method), known | {"inf": np.inf}) == method
    assert dataclasses.replace(method) == method
    assert cls(**dataclasses.asdict(method)) == method
    if dt is not None and hasattr(method, "dt"):
        assert dataclasses.replace(method, dt=0.5 * dt).dt == 0.5 * dt


# --- on the command line ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hht", "projection", "baumgarte", "partitioning"])
def test_options_of_a_command_take_the_place_of_those_of_the_scene_that_make_them_idle(name: str) -> None:
    cls, system = METHODS[name], mechanisms.four_bar()
    scene = cls(rtol=1e-5), cls(dt=1e-3)
    assert choose_method(scene[0], Motion(dt=2e-3), system) == cls(dt=2e-3)
    assert choose_method(scene[1], Motion(rtol=1e-4), system) == cls(rtol=1e-4)
    assert choose_method(scene[1], Motion(), system) == scene[1]
    assert choose_method(scene[0], Motion(rtol=1e-4), system) == cls(rtol=1e-4)
    with pytest.raises(nx.InputError, match="--dt and --rtol are given"):
        choose_method(None, Motion(method=name, dt=1e-3, rtol=1e-5), system)


# --- events -----------------------------------------------------------------------------------------------------------

GIVEN: dict[str, Any] = {
    "measure": "angle", "joint": "hinge", "contact": "touch", "function": lambda t, q, v: q[0], "time": 0.1,
}  # fmt: skip
ASKED: dict[str, Any] = {"of": "velocity", "freedom": 1, "value": 0.5, "direction": "rising", "component": "x"}
USED = {
    "measure": {"value", "direction", "component"},
    "joint": {"of", "freedom", "value", "direction"},
    "contact": {"of", "value", "direction"},
    "function": {"value", "direction"},
    "time": set[str](),
}


def watching(event: nx.Event) -> nx.System:
    system = nx.System("ball")
    system.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 1), collision=[nx.Sphere(0.1)])
    system.add_joint(nx.Cylindrical("hinge", "ground", "ball", axis=(0, 0, 1)))
    system.add_measure(nx.PointPosition("angle", "ball"))
    system.add_contact(nx.Contact("touch", "ball", "ground", stiffness=1e4))
    system.add_event(event)
    return system


@pytest.mark.parametrize("signal", SIGNALS)
@pytest.mark.parametrize("option", ASKED)
def test_what_a_signal_does_not_have_is_refused_by_name(signal: str, option: str) -> None:
    component = {"component": "z"} if signal == "measure" else {}
    event = nx.Event("e", **{signal: GIVEN[signal], **component, option: ASKED[option]})
    if option in USED[signal]:
        assert watching(event).events["e"] is event
        return
    with pytest.raises(nx.InputError, match=rf"{option} of event 'e' is {ASKED[option]!r}; it is for .*event 'e' has"):
        watching(event)


@pytest.mark.parametrize("signal", SIGNALS)
def test_what_is_as_by_default_is_no_cause_for_a_word(signal: str) -> None:
    component = {"component": "z"} if signal == "measure" else {}
    event = nx.Event(
        "e", **{signal: GIVEN[signal], **component}, of="position", freedom=0, value=0.0, direction="both"
    )  # fmt: skip
    assert watching(event).events["e"] is event
