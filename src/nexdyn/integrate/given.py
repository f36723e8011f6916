"""Numbers as a user gives them: neither text nor True and False count as such."""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.errors import InputError

NO_NUMBERS = str | bytes | bool | np.bool_
"""Types that Python converts to a float, but that are not meant as numbers."""


def given_number(value: object, what: str, needed: str = "a number is needed") -> float:
    """`value` as a float, or InputError naming `what`."""
    if isinstance(value, str):
        raise InputError(f"{what} is the text {value!r}; {needed}")
    try:
        if isinstance(value.item() if isinstance(value, np.ndarray) else value, NO_NUMBERS):
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"{what} is {value!r}; {needed}") from None
    except OverflowError:
        raise InputError(f"{what} is too large for a number") from None


def given_numbers(values: Any) -> np.ndarray:
    """`values` as an array of float64; TypeError for what holds no numbers, ValueError for what is ragged."""
    numeric = isinstance(values, np.ndarray) and values.dtype.kind in "iuf"
    # of a list of numbers and truth values NumPy makes numbers
    if not numeric and any(isinstance(item, NO_NUMBERS) for item in np.asarray(values, dtype=object).flat):
        raise TypeError("text, True or False")
    try:
        return np.array(values, dtype=float)
    except OverflowError:
        raise ValueError("one is too large for a number") from None
