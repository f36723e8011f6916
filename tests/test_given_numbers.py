"""Neither text nor True and False are numbers: every argument that needs a number refuses them by its name."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from matrix_elements import ELEMENTS

import nexdyn as nx
from nexdyn.integrate.given import given_numbers
from nexdyn.integrate.methods import METHODS
from nexdyn.simulation.span import checked_times

NO_NUMBERS = [True, False, np.True_, "1"]
CHOSEN = {
    "solver": "one of several words",
    "bdf2": "True or False",
    "stabilise": "a word",
    "cut": "names of joints",
    "pair": "a name",
}
"""Fields of methods that are no numbers."""
FIELDS = [
    (cls, field.name)
    for cls in (*METHODS.values(), nx.Loops)
    for field in dataclasses.fields(cls)  # type: ignore[arg-type]
    if field.name not in CHOSEN
]


@pytest.mark.parametrize(("cls", "field"), FIELDS, ids=[f"{cls.__name__}.{field}" for cls, field in FIELDS])
def test_every_number_of_a_method_refuses_what_is_none(cls: Any, field: str) -> None:
    needs_step = any(f.name == "dt" and f.default is dataclasses.MISSING for f in dataclasses.fields(cls))
    given = ({"dt": 1e-3} if needs_step else {}) | ({"stabilise": "baumgarte"} if cls is nx.Loops else {})
    cls(**given)
    for value in NO_NUMBERS:
        with pytest.raises(nx.InputError, match=rf"{field} of {cls.__name__} is "):
            cls(**{**given, field: value})


def is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool)


def spoiled(value: Any) -> list[Any]:
    """An attribute with what is no number in place of one of its numbers."""
    if is_number(value):
        return [True, "1"]
    if isinstance(value, tuple) and value and all(map(is_number, value)):
        last = [(*value[:-1], wrong) for wrong in (True, "1")]
        return last if len(value) > 1 else [*last, True, "1"]
    return []


@pytest.mark.parametrize("name", ELEMENTS)
def test_every_number_of_an_element_refuses_what_is_none(name: str) -> None:
    element = ELEMENTS[name]
    told = {"limits": "limit of", "value": "parameter 'x'"} if name in ("joint limits", "parameter") else {}
    for attribute, value in element.base.items():
        for wrong in spoiled(value):
            with pytest.raises(
                nx.InputError,
                match=told.get(
                    attribute, "freedom" if attribute.startswith("freedom") else attribute.replace("_", "[_ ]")
                ),
            ):
                element.system("open", {attribute: wrong})


def pendulum() -> nx.System:
    system = nx.System("pendulum", gravity=(0, 0, -9.81))
    system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("pin", "ground", "rod", at=(0, 0, 0), axis=(0, 1, 0)))
    return system


def test_every_number_of_an_event_refuses_what_is_none() -> None:
    for wrong in (True, "1"):
        for given in ({"time": wrong}, {"joint": "pin", "value": wrong}, {"time": 0.1, "tolerance": wrong}):
            attribute = next(name for name, x in given.items() if x is wrong)
            with pytest.raises(nx.InputError, match=f"{attribute} of event 'once' is "):
                pendulum().add_event(nx.Event("once", **given))


@pytest.mark.parametrize("wrong", [True, "1", [True], ["0.05"], np.array([True])], ids=repr)
def test_every_number_of_a_state_and_of_times_refuses_what_is_none(wrong: Any) -> None:
    system, method = pendulum(), nx.RungeKutta4(1e-3)
    for what in ("q0", "v0"):
        for given in ({"pin": wrong}, wrong):
            with pytest.raises(nx.InputError, match=what):
                nx.simulate(system, 0.01, method, **{what: given})
        with pytest.raises(nx.InputError, match=what):
            nx.assemble(system, **{what: {"pin": wrong}})
        with pytest.raises(nx.InputError, match=what):
            nx.simulate(system, 0.01, method, batch={what: {"pin": wrong}})
    with pytest.raises(nx.InputError, match="output_times"):
        checked_times(wrong, 0.0, 2.0)
    with pytest.raises(nx.InputError, match="output_times"):
        nx.simulate(system, 0.01, method, output_times=wrong, batch={"q0": {"pin": [0.0, 0.1]}})
    with pytest.raises(nx.InputError, match="t_end"):
        nx.simulate(system, wrong, method, batch={"q0": {"pin": [0.0, 0.1]}})


def test_numbers_among_truth_values_are_none_and_ragged_ones_are_told_apart() -> None:
    assert given_numbers([1, 2.5, np.float32(3)]).tolist() == [1.0, 2.5, 3.0]
    assert given_numbers(np.array([1, 2])).dtype == float
    for wrong in ([1.0, True], [[0.5], [np.False_]], ["1.5", 2]):
        with pytest.raises(TypeError):
            given_numbers(wrong)
    with pytest.raises(ValueError):
        given_numbers([[1.0], [1.0, 2.0]])
