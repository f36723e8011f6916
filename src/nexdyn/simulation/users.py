"""States that functions of the user's keep: controllers, forces, drivers, events that are objects with attributes of their own.

An object may have

    save_state() → numbers, text, lists and mappings of them, as JSON has them
    load_state(state)                                            with what `save_state` gave

which a run asks for at its end, goes back with where an event lies in between, and goes on with. Of other objects it is told whether
their attributes have changed since the simulation was made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.model.element import Element
from nexdyn.model.functions import Function, UserFunction
from nexdyn.model.system import System
from nexdyn.model.time_kernels import time_callbacks

CHANGED = "changed"
"""What is kept of an object that has changed and cannot tell its state."""


PLAIN = frozenset({float, int, bool, str, type(None), np.ndarray})
"""Kinds of values that are no functions and hold none."""


def functions_of(system: System) -> Iterator[tuple[str, Any]]:
    """(whose, function) of all that the user has written for a system."""
    elements = {"force": system.forces, "joint": system.joints, "driver": system.drivers, "event": system.events}
    for kind, named in elements.items():
        for name, element in named.items():
            for key, value in vars(element).items():
                if value.__class__ not in PLAIN and not key.startswith("_"):
                    yield from ((f"{kind} {name!r} ({key})", f) for f in _functions(value))


def keep_drivers_alive(system: System) -> None:
    """Drivers keep the C functions of the functions that they follow: tables of kernels name these by address, and do not keep them."""
    for driver in system.drivers.values():
        with suppress(InputError):  # said where the system is checked
            functions = driver.functions(system.values)
            driver.__dict__["_callbacks"] = tuple(c for function in functions for c in time_callbacks(function))


def _functions(value: Any) -> Iterator[Any]:
    if isinstance(value, UserFunction):
        yield from (f for f in (value.f, value.df, value.ddf) if f is not None)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _functions(item)
    elif callable(value) and not isinstance(value, type | Element | Function):
        yield value


def owner_of(function: Any) -> Any:
    """The object whose attributes a function may change: itself, or the one that it is a method of; None where there is none."""
    if hasattr(function, "py_func"):
        return None  # compiled: what it names is frozen
    owner = getattr(function, "__self__", None)
    if owner is None and not hasattr(function, "__code__"):
        owner = function
    no_object = owner is None or isinstance(owner, type | ModuleType) or not hasattr(owner, "__dict__")
    return None if no_object else owner


class UserStates:
    """Those of one simulation."""

    def __init__(self, system: System) -> None:
        self.owners = {whose: owner for whose, f in functions_of(system) if (owner := owner_of(f)) is not None}
        self._began = {whose: _attributes(owner) for whose, owner in self.owners.items() if not _tells(owner)}
        self._apart: set[str] = set()
        """Those that runs before this one have changed."""

    def told(self) -> dict[str, Any]:
        """The states now of the objects that tell them, by whose they are."""
        return {
            whose: {"state": _plain(owner.save_state(), whose)} for whose, owner in self.owners.items() if _tells(owner)
        }

    def saved(self) -> dict[str, Any]:
        """The same, and which of the others have changed."""
        silent = {whose: _attributes(self.owners[whose]) for whose in self._began}
        apart = [whose for whose, now in silent.items() if whose in self._apart or now != self._began[whose]]
        return self.told() | {whose: {CHANGED: silent[whose]} for whose in apart}

    def load(self, states: Mapping[str, Any]) -> None:
        """Go on with them. InputError for an object that has a state, other than it has now, and cannot take it."""
        for whose, kept in states.items():
            owner = self.owners.get(whose)
            if "state" in kept:
                if owner is None or not _tells(owner):
                    raise InputError(
                        f"the run to go on from had a state of {whose}, saved by its save_state(); here it has no load_state() to take it"
                    )
                owner.load_state(kept["state"])
            elif self._began.get(whose) == kept[CHANGED]:
                self._apart.add(whose)
            else:
                raise InputError(
                    f"{whose} had a state of its own at the end of the run to go on from: attributes of "
                    f"{type(owner).__name__ if owner is not None else 'an object'} had changed. Give it save_state() and load_state(state)"
                )


def _tells(owner: Any) -> bool:
    return callable(getattr(owner, "save_state", None)) and callable(getattr(owner, "load_state", None))


def _attributes(owner: Any) -> str:
    """The attributes of an object as a text that is the same where they are."""
    from nexdyn.simulation.fingerprint import OpaqueError, fingerprint_of

    try:
        return fingerprint_of(vars(owner))
    except OpaqueError:
        return repr(sorted(vars(owner).items(), key=lambda item: item[0]))


def _plain(state: Any, whose: str) -> Any:
    """A state as JSON has it, arrays as lists."""
    try:
        return json.loads(json.dumps(state, default=lambda x: np.asarray(x).tolist()))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"save_state() of {whose} gave {state!r}; numbers, text, lists and mappings of them are needed"
        ) from error
