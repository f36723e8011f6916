"""Defaults that have units are few, and the page of limits names each: all others are numbers, or follow from the mechanism.

A new argument whose default is a number fails here until it stands in one of the two lists.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import nexdyn as nx

LIMITS = Path(__file__).resolve().parents[1] / "docs" / "limits.md"
OF_UNITS = frozenset(
    {
        "atol",
        "dt_min",
        "tolerance",
        "friction_speed",
        "stribeck_speed",
        "rest_speed",
        "size",
        "period",
        "gravity",
        "t_end",
    }
)
"""In SI where nothing is given."""
NUMBERS = {
    **dict.fromkeys(("rtol", "knee", "confidence", "concavity", "opacity", "speed"), "a part, or a factor"),
    **dict.fromkeys(
        ("exponent", "multiplier", "alpha", "scale", "arrows", "friction_damping"), "a number without dimension"
    ),
    **dict.fromkeys(("orientation", "axis", "normal"), "a direction"),
    **dict.fromkeys(("elevation", "field"), "angles of a camera"),
    "friction_stiffness": "of the stiffness along the normal",
}
"""Arguments whose defaults have no units, and what they are."""
WITHOUT = {("assemble", "tolerance"), ("agreement", "tolerance")}
"""In parts of the mechanism's size."""


def numbers() -> set[tuple[str, str]]:
    """(who, argument) of all public functions and classes whose default is a number other than 0, or holds one; infinity asks nothing."""
    found = set()
    for name in nx.__all__:
        of = getattr(nx, name)
        if not callable(of) or (inspect.isclass(of) and issubclass(of, BaseException)):
            continue
        for argument in inspect.signature(of).parameters.values():
            given = argument.default if isinstance(argument.default, tuple) else (argument.default,)
            if any(isinstance(x, float) and x not in (0.0, float("inf")) for x in given):
                found.add((name, argument.name))
    return found


def test_each_default_with_units_is_known_and_named_in_the_limits() -> None:
    here = numbers()
    assert len(here) > 60 and here >= WITHOUT
    unknown = {(who, argument) for who, argument in here if argument not in OF_UNITS and argument not in NUMBERS}
    assert not unknown, f"defaults that are numbers and in neither list: {sorted(unknown)}"
    assert {argument for _, argument in here - WITHOUT} == OF_UNITS | set(NUMBERS)
    (told,) = re.findall(
        r"has a default in SI, which you give in other units:(.*?); and for three things",
        LIMITS.read_text("utf-8"),
        re.S,
    )
    assert set(re.findall(r"`(\w+)`", told)) == OF_UNITS | {"dt"}


def test_the_default_step_is_the_one_of_the_limits() -> None:
    """`dt` has a default where `nx.simulate` chooses the method."""
    with_dt = {who for who, argument in numbers() if argument == "dt"}
    assert not with_dt
    t = nx.simulate(nx.load("hinge-chain"), 3e-3).t.values
    assert t == pytest.approx([0.0, 1e-3, 2e-3, 3e-3])
