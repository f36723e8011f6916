"""A run whose system was changed by events: which samples belong to which system, and which system it ends with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nexdyn.model.system import System
from nexdyn.results.recording import Recording


def segments(system: System, recording: Recording) -> list[tuple[int, int, System]]:
    """(first sample, sample after the last, system) in order; one where nothing was changed.

    A change holds from the second of the two samples that stand for its time.
    """
    found: list[tuple[int, int, System]] = []
    start, t = 0, recording.t
    for event in recording.settings.get("events", []):
        change = event.get("change")
        if not change:
            continue
        stop = int(np.searchsorted(t, event["time"], side="right"))
        if stop > start:
            found.append((start, stop, system))
            start = stop
        system = changed_by(system, change)
    found.append((start, len(t), system))
    return found


def switched(system: System, name: str) -> Sequence[Any]:
    """What is switched by a name: as `System.switched`, or the event of "event:NAME", which then no longer happens."""
    kind, _, event = name.partition(":")
    return [system.event(event)] if kind == "event" else system.switched(name)


def changed_by(system: System, change: Mapping[str, Any]) -> System:
    """The system with other `parameters`, and forces, contacts, clamps or events `off`, then others `on`, or `switched` one after another,
    clamps where they are `held`: {clamp: R_BJ by rows, p_BJ}. UnknownNameError for what it has not."""
    system = system.with_parameters(change.get("parameters", {}))
    for name, off in switches(change):
        for element in switched(system, name):
            element.__dict__["_off"] = off
    for name, pose in change.get("held", {}).items():
        system.joint(name).__dict__["_held"] = tuple(pose)
    return system


def switches(change: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Names in the order in which they are switched, and whether that is off. A contact and a force of it may both be among them."""
    for state in ("off", "on"):
        for name in change.get(state, ()):
            yield name, state == "off"
    for name, off in change.get("switched", ()):
        yield name, bool(off)


def changes(recording: Recording) -> dict[str, Any]:
    """What events have changed in all up to the end, in the runs before this one too: the last of each parameter, force and clamp."""
    settings = recording.settings
    return merged([settings.get("changed", {}), *(event.get("change") or {} for event in settings.get("events", []))])


def merged(found: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Changes one after another as one: the last of each parameter, force and clamp, names that are switched in the order of their last."""
    parameters: dict[str, Any] = {}
    last: dict[str, bool] = {}
    held: dict[str, Any] = {}
    for change in found:
        for name, value in change.get("parameters", {}).items():
            parameters.pop(name, None)
            parameters[name] = value
        for name, off in switches(change):
            last.pop(name, None)
            last[name] = off
        held |= change.get("held", {})
    out = {"parameters": parameters, "switched": [[name, off] for name, off in last.items()], "held": held}
    return {key: x for key, x in out.items() if x}


def last_system(system: System, recording: Recording) -> System:
    """`system` as events have left it; itself where they have changed nothing."""
    change = changes(recording)
    return changed_by(system, change) if change else system
