"""What all methods have in common: a method is data and a docstring."""

from __future__ import annotations

import math
from typing import ClassVar

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError
from nexdyn.integrate.given import given_number


class Method(metaclass=CheckedCalls):
    """Base of all methods."""

    name: ClassVar[str]
    coordinates: ClassVar[str] = "tree"
    """What it moves: "tree" (minimal coordinates) or "bodies" (absolute coordinates)."""


def positive(value: object, what: str) -> float:
    """`value` as a finite float above 0, or InputError naming `what`."""
    number = given_number(value, what)
    if not (math.isfinite(number) and number > 0.0):
        raise InputError(f"{what} is {number:g}; it must be finite and greater than 0")
    return number
