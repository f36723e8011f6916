"""What callers of the analyses give, looked at: what is something else is an InputError that names it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.model.element import Element


def given_names(names: Any, what: str) -> list[str]:
    """Names, one or several; of elements of the system as well."""
    found = [names] if isinstance(names, str | Element) else names
    try:
        listed = list(found) if isinstance(found, Iterable) and not isinstance(found, bytes) else None
    except TypeError:  # an array without axes
        listed = None
    if listed is None or not all(isinstance(name, str | Element) for name in listed):
        raise InputError(f"{what} is {names!r}; a list of names is needed")
    return [name.name if isinstance(name, Element) else name for name in listed]


def given_mapping(values: Any, what: str, of: str) -> Mapping[str, Any]:
    """Values by name."""
    if not isinstance(values, Mapping):
        raise InputError(f"{what} is {values!r}; {{{of}: value}} is needed")
    return values


def given_time(t: Any) -> float:
    """A time [s]."""
    try:
        found = float(t) if isinstance(t, int | float) and not isinstance(t, bool) else math.nan
    except OverflowError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"t is {t!r}; a time in seconds is needed")
    return found


def given_limit(limit: Any, what: str) -> float | None:
    """The most that something may be, or None."""
    if limit is None:
        return None
    try:
        found = float(limit) if isinstance(limit, int | float) and not isinstance(limit, bool) else math.nan
    except OverflowError:
        found = math.inf
    if not found >= 0.0:
        raise InputError(f"{what} is {limit!r}; a number, 0 or more, is needed")
    return found


def given_choice(choice: Any, what: str) -> bool:
    """Yes or no."""
    if not isinstance(choice, bool | np.bool_):
        raise InputError(f"{what} is {choice!r}; True or False is needed")
    return bool(choice)
