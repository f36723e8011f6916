"""States that functions of the user's keep: of controllers, forces, drivers, events.

What tells its state, an object or a function, has

    save_state() → numbers, text, lists and mappings of them, as JSON has them
    load_state(state)                                            with what `save_state` gave

A run asks for it at its end, goes back with it where an event lies in between, and goes on with it. It is found where it is the function,
owns the method that is, or is held by the function: in its closure, a `functools.partial`, a default, a global of its module. All else
that a function holds is compared with what it was when the simulation was made; where it has changed, or holds what cannot be looked
into, no other simulation goes on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

import numpy as np

from nexdyn.errors import InputError, warn
from nexdyn.model.element import Element
from nexdyn.model.functions import Function, UserFunction
from nexdyn.model.system import System
from nexdyn.model.time_kernels import time_callbacks
from nexdyn.simulation.fingerprint import Held, held_by

CHANGED = "changed"
"""What is kept of a function that holds something that has changed and does not tell its state."""
UNKNOWN = "unknown"
"""What is kept of a function that holds something that cannot be looked into."""

ACTION = "(action)"
"""How `whose` ends of what is never called again for a step that is."""
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


class UserStates:
    """Those of one simulation."""

    def __init__(self, system: System) -> None:
        self._functions: dict[str, list[Any]] = {}
        for whose, f in functions_of(system):
            self._functions.setdefault(whose, []).append(f)
        self._began: dict[str, dict[str, str]] = {}
        """The fingerprints of what they hold and what does not tell its state, by whose and by part."""
        self._telling: dict[str, list[Any]] = {}
        for whose, functions in self._functions.items():
            held = held_by(functions, tells_state)
            if held.parts:
                self._began[whose] = held.parts
            if held.tellers:
                self._telling[whose] = held.tellers
        self._apart: dict[str, list[str]] = {}
        """What runs before this one have changed, by whose."""
        self._taken_back, self._look_at = 0, 1

    @property
    def may_change(self) -> bool:
        """Whether there is anything that a run may change."""
        return bool(self._began)

    def told(self) -> dict[str, Any]:
        """The states now of what tells them, by whose they are."""
        return {whose: _states(tellers, whose) for whose, tellers in self._telling.items()}

    def saved(self) -> dict[str, Any]:
        """The same, and which of the others have changed."""
        found = self.told()
        for whose, before in self._began.items():
            held = self._held(whose)
            if what := sorted({*self._apart.get(whose, ()), *_changes(before, held.parts)}):
                found[whose] = found.get(whose, {}) | {CHANGED: _digest(held.parts), "what": what}
            if held.unknown:
                unknown = [f"{part} ({what})" for part, what in sorted(held.unknown.items())]
                found[whose] = found.get(whose, {}) | {UNKNOWN: unknown}
        return found

    def load(self, states: Mapping[str, Any]) -> None:
        """Go on with them. InputError for what has a state, other than it has now, and cannot take it."""
        for whose, kept in states.items():
            if "state" in kept or "states" in kept:
                tellers, given = self._telling.get(whose, []), kept.get("states", [kept.get("state")])
                if len(tellers) != len(given):
                    raise InputError(
                        f"the run to go on from had {_count(given)} of {whose}, saved by save_state(); here "
                        f"{len(tellers) or 'no'} load_state() is there to take it"
                    )
                for teller, state in zip(tellers, given, strict=True):
                    teller.load_state(state)
            if kept.get(UNKNOWN):
                raise InputError(
                    f"{whose} may have had a state of its own at the end of the run to go on from, which cannot be looked into: "
                    f"{', '.join(kept[UNKNOWN])}. Give what holds it save_state() and load_state(state); what only records may tell None"
                )
            if CHANGED in kept:
                what = kept.get("what", [])
                if _digest(self._began.get(whose, {})) != kept[CHANGED]:
                    raise InputError(
                        f"{whose} had a state of its own at the end of the run to go on from: {', '.join(what) or 'attributes'} "
                        f"had changed. Give what changes save_state() and load_state(state); what only records may tell None"
                    )
                self._apart[whose] = list(what)

    def go_back(self, states: Mapping[str, Any]) -> dict[str, list[str]]:
        """Go back with them to a state before. What has changed and cannot go back, by whose, once, where that is seen; it is looked for
        now and then."""
        self._taken_back += 1
        found: dict[str, list[str]] = {}
        if self._began and self._taken_back == self._look_at:
            self._look_at *= 2
            found = {whose: what for whose, what in self.changed().items() if not whose.endswith(ACTION)}
            if found:
                self._look_at = 0  # it is said once
        self.load(states)
        return found

    def changed(self) -> dict[str, list[str]]:
        """What has changed since the simulation was made and is not told, by whose."""
        return {whose: what for whose, x in self._began.items() if (what := _changes(x, self._held(whose).parts))}

    def _held(self, whose: str) -> Held:
        return held_by(self._functions[whose], tells_state)


class Afresh:
    """Several runs of a system, or of it with other parameters, which share its functions: each begins with the states that these had."""

    def __init__(self, system: System) -> None:
        self.users = UserStates(system)
        self.first = self.users.told()
        self._said = False

    def begin(self) -> None:
        """Before a run: the states as they were."""
        self.users.load(self.first)

    def end(self) -> None:
        """After one of several, or the last of them: as before, but that a warning, once, says what has changed and is not told: with it
        the next run begins."""
        self.begin()
        found = self.users.changed()
        if found and not self._said:
            self._said = True
            whose, what = next(iter(found.items()))
            warn(
                f"{whose} keeps a state to itself ({', '.join(what)} changed), with which the next of several runs begins. Give what "
                f"changes save_state() and load_state(state)"
            )


@contextmanager
def left_as_they_were(system: System) -> Iterator[None]:
    """One of several runs of a system: its functions have the states afterwards that they had before."""
    afresh = Afresh(system)
    try:
        yield
    finally:
        afresh.end()


def tells_state(x: Any) -> bool:
    """Whether an object, or a function by attributes, tells its state and takes it."""
    if isinstance(x, type | ModuleType):
        return False
    try:
        kind, own = type(x), getattr(x, "__dict__", None) or {}
        return all(callable(getattr(kind, name, None) or own.get(name)) for name in ("save_state", "load_state"))
    except Exception:  # what cannot be looked into
        return False


def _changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [what for what in {**before, **now} if before.get(what) != now.get(what)]


def _digest(parts: Mapping[str, str]) -> str:
    return hashlib.sha256(repr(sorted(parts.items())).encode()).hexdigest()


def _count(states: Sequence[Any]) -> str:
    return "a state" if len(states) == 1 else f"{len(states)} states"


def _states(tellers: Sequence[Any], whose: str) -> dict[str, Any]:
    states = [_plain(teller.save_state(), whose) for teller in tellers]
    return {"state": states[0]} if len(states) == 1 else {"states": states}


def _plain(state: Any, whose: str) -> Any:
    """A state as JSON has it, arrays as lists."""
    try:
        return json.loads(json.dumps(state, default=lambda x: np.asarray(x).tolist()))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"save_state() of {whose} gave {state!r}; numbers, text, lists and mappings of them are needed"
        ) from error
