"""What all methods have in common: a method is data and a docstring."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import ClassVar

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError
from nexdyn.integrate.given import given_number


class Method(metaclass=CheckedCalls):
    """Base of all methods."""

    name: ClassVar[str]
    coordinates: ClassVar[str] = "tree"
    """What it moves: "tree" (minimal coordinates) or "bodies" (absolute coordinates)."""
    idle: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Options that have no effect beside another that is given; `refuse_idle` refuses them."""


def refuse_idle(method: Method, why: str) -> None:
    """InputError, naming both, where an option is given that has no effect beside another. What is as by default counts as not given, so
    that methods are made again from all of their options."""
    known = {field.name: field.default for field in fields(method)}  # type: ignore[arg-type]
    for given, idle in method.idle.items():
        for other in idle if _differs(getattr(method, given), known[given]) else ():
            if _differs(getattr(method, other), known[other]):
                raise InputError(f"{type(method).__name__} has {given} and {other}; {why}")


def _differs(value: object, default: object) -> bool:
    return value is not default and not (isinstance(value, float) and value == default)


def positive(value: object, what: str) -> float:
    """`value` as a finite float above 0, or InputError naming `what`."""
    number = given_number(value, what)
    if not (math.isfinite(number) and number > 0.0):
        raise InputError(f"{what} is {number:g}; it must be finite and greater than 0")
    return number
