"""What analyses are given that is something else is an InputError that names it, never Python's own."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import nexdyn as nx

NOTHING_OF_USE: list[Any] = [math.nan, 1j, b"x", object(), np.array(math.nan), Decimal("nan"), 3.0, True, lambda t: t]
"""No system, no names, no mapping."""


def system() -> nx.System:
    made = nx.System("two")
    made.add_body("a", mass=1.0, inertia=(1, 1, 1))
    made.add_joint(nx.Revolute("j", "ground", "a", axis=(0, 1, 0)))
    return made


BOTH = [nx.RungeKutta4(1e-2), nx.ExplicitEuler(1e-2)]
CASES: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "system": (nx.assemble, [*NOTHING_OF_USE, None, "four-bar"]),
    "t": (lambda x: nx.assemble(system(), t=x), [math.nan, math.inf, True, "1", 10**400, None, 1j]),
    "weights": (lambda x: nx.assemble(system(), weights=x), [*NOTHING_OF_USE, "a", ["a"]]),
    "weight": (lambda x: nx.assemble(system(), weights={"a": x}), [math.nan, "x", {}, object(), 1j, 10**400, [1.0]]),
    "locks": (lambda x: nx.assemble(system(), locks=x), [*NOTHING_OF_USE, None, [1]]),
    "translation_limit": (lambda x: nx.assemble(system(), translation_limit=x), [math.nan, -1.0, True, "1", [1], 1j]),
    "rotation_limit": (lambda x: nx.assemble(system(), rotation_limit=x), [math.nan, -1.0, "", np.array(math.nan)]),
    "inputs": (lambda x: nx.linearize(system(), inputs=x), [*NOTHING_OF_USE, None, [1]]),
    "outputs": (lambda x: nx.linearize(system(), outputs=x), [*NOTHING_OF_USE, [1]]),
    "frozen": (lambda x: nx.linearize(system(), frozen=x), [math.nan, "yes", 1, [], None]),
    "ignore": (lambda x: nx.linearize(system(), ignore=x), [math.nan, "yes", 1, []]),
    "methods": (lambda x: nx.compare(system(), x), [*NOTHING_OF_USE, None, "rk4", [], [["rk4"]]]),
    "tolerance": (
        lambda x: nx.agreement(system(), BOTH, tolerance=x),
        [math.nan, math.inf, -1.5, True, None, [1]],
    ),
    "output_times": (
        lambda x: nx.compare(system(), BOTH, output_times=x),
        ["soon", [2.0, 1.0], [math.nan], [True], {}],
    ),
    "parameters": (lambda x: nx.sensitivity(system(), 0.01, x), [*NOTHING_OF_USE, None, [1]]),
}


@pytest.mark.parametrize(("name", "k"), [(name, k) for name, (_, wrong) in CASES.items() for k in range(len(wrong))])
def test_what_is_something_else_is_refused_by_its_name(name: str, k: int) -> None:
    call, wrong = CASES[name]
    with pytest.raises(nx.InputError, match=rf"{name} .*is {re.escape(repr(wrong[k])[:8])}"):
        call(wrong[k])


ENDS: dict[str, Callable[[Any], Any]] = {
    "agreement": lambda t_end: nx.agreement(system(), BOTH, t_end),
    "compare": lambda t_end: nx.compare(system(), BOTH, t_end),
    "sensitivity": lambda t_end: nx.sensitivity(system(), t_end, ["a.mass"]),
    "simulate": lambda t_end: nx.simulate(system(), t_end),
    "simulate a batch": lambda t_end: nx.simulate(system(), t_end, batch={"v0": {"j": [0.0, 1.0]}}),
    "sweep": lambda t_end: nx.sweep(system(), {"a.mass": [1.0]}, measure="steps", t_end=t_end, jobs=1),
    "Simulation.run": lambda t_end: nx.Simulation(system()).run(t_end),
}
"""Every function that takes an end."""


def test_every_function_that_takes_an_end_is_known() -> None:
    functions = [name for name in nx.__all__ if name.islower()]
    found = {name for name in functions if "t_end" in inspect.signature(getattr(nx, name)).parameters}
    assert found == {name.partition(" ")[0] for name in ENDS if name.islower()}


@pytest.mark.parametrize("of", ENDS)
@pytest.mark.parametrize("wrong", [True, "1", "soon", None, math.nan, math.inf, -1.0, [1.0], 1j, 10**400], ids=repr)
def test_an_end_that_is_none_is_refused_by_its_name(of: str, wrong: Any) -> None:
    with pytest.raises(nx.InputError, match=r"^t_end "):
        ENDS[of](wrong)


def test_one_name_or_element_may_stand_for_a_list_of_it() -> None:
    made = system()
    assert nx.linearize(made, frozen=True, inputs="j").B.shape == (2, 1)
    joints: Any = [made.joints["j"]]
    assert nx.linearize(made, frozen=True, inputs=joints).inputs == ["j"]
    body: Any = made.bodies["a"]
    nx.assemble(made, locks=body, translation_limit=math.inf)


def test_a_class_in_the_place_of_a_method_is_refused_with_what_is_meant() -> None:
    with pytest.raises(
        nx.InputError, match=r"method is the class RungeKutta4; give one made of it, like nx\.RungeKutta4\(\)"
    ):
        nx.compare(system(), [nx.RungeKutta4])
