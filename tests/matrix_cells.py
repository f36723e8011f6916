"""Cells of the matrix: one attribute of one element under one way to compute.

    Δ_ref = x_ref(changed) − x_ref(base),   Δ = x(changed) − x(base)      x: a group of `matrix_observed`, κ its own factor
    a cell holds where  |Δ − Δ_ref| ≤ κ · tolerance · |Δ_ref|  in every group in which the reference changes

or where the law of an analysis holds for the changed system (`matrix_laws`), or where the way refuses the system by name. What changes
nothing in the reference is no cell of a motion: see `reference_change`.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from matrix_elements import ELEMENTS
from matrix_laws import Probe
from matrix_observed import Observed, counts, part
from matrix_ways import REFERENCE, WAYS, Motion, Way

import nexdyn as nx
from nexdyn.errors import NexDynError

SEEN = 1e-3
"""A group counts where the reference changes by this part of its size."""
NAMED = {
    "joint": "tested",
    "force": "acting",
    "coupling": "coupled",
    "driver": "drive",
    "measure": "told",
    "event": "watch",
    "marker": "tip",
    "contact": "acting",
    "gravity": "falling",
}
"""What an element is called in its system."""
SILENT, REFUSED, HOLDS, STOPS, UNSEEN = "silent or wrong", "refused", "holds", "stops", "does not change"


@dataclass(frozen=True)
class Verdict:
    """What became of a cell: HOLDS; REFUSED, with the reason; STOPS; SILENT, with the miss of each group; or UNSEEN, as the reference
    does not change."""

    kind: str
    why: str = ""


def cells() -> Iterator[tuple[str, str, str, str]]:
    """(element, carrier, attribute, way) of all cells."""
    for element in ELEMENTS.values():
        for carrier in element.carriers:
            for attribute in element.changes:
                for way in WAYS.values():
                    if way.takes(element.name, carrier):
                        yield element.name, carrier, attribute, way.name


Given = tuple[tuple[str, str, Any], ...]


@functools.cache
def _reference(element: str, carrier: str, attribute: str | None, given: Given = ()) -> Observed:
    return REFERENCE.motion(_system(element, carrier, attribute, given))


@functools.cache
def _base(motion: Motion, element: str, carrier: str, given: Given) -> Observed | NexDynError:
    try:
        return motion(_system(element, carrier, None, given))
    except NexDynError as error:
        return error


def forget() -> None:
    """Release the cached runs of an element that is finished."""
    _base.cache_clear()
    _reference.cache_clear()
    _probe.cache_clear()


@functools.lru_cache(maxsize=2)
def _probe(element: str, carrier: str, attribute: str, given: Given) -> Probe:
    where = "hand" if element.startswith("body") else NAMED.get(element.split()[0], "tested")
    by = (f"{where}.{attribute}", f"{where}.{attribute}[0]", "gravity[2]")
    if attribute == "sample_time":  # a later sample is a jump of efforts: no derivative
        by = by[2:]
    return Probe(lambda: _system(element, carrier, attribute, given), ("x", *by) if element == "parameter" else by)


def _system(element: str, carrier: str, attribute: str | None, given: Given = ()) -> nx.System:
    found = ELEMENTS[element]
    here = {name: value for prefix, name, value in given if element.startswith(prefix) and name in found.base}
    return found.system(carrier, here | (found.change(attribute) if attribute else {}))


def reference_change(element: str, carrier: str, attribute: str, given: Given = ()) -> dict[str, float]:
    """By which part of its size each group changes in the reference."""
    before, after = (_reference(element, carrier, x, given) for x in (None, attribute))
    return {
        group: float(np.linalg.norm(after[group] - x) / max(np.linalg.norm(x), 1e-3)) for group, x in before.items()
    }


def verdict(element: str, carrier: str, attribute: str, way: str) -> Verdict:
    """What becomes of a cell."""
    how: Way = WAYS[way]
    if how.motion is None:
        return _lawful(how, element, carrier, attribute)
    try:
        misses = _misses(how.motion, how, element, carrier, attribute)
        if misses and how.finer is not None:
            misses = _misses(how.finer, how, element, carrier, attribute)
    except NexDynError as error:
        return _failed(error)
    return Verdict(SILENT, ", ".join(f"{g} {m:.1e}" for g, m in misses.items())) if misses else Verdict(HOLDS)


def _misses(motion: Motion, how: Way, element: str, carrier: str, attribute: str) -> dict[str, float]:
    """By which part of the change each group misses it, where that is more than the way may."""
    base = _base(motion, element, carrier, how.given)
    if isinstance(base, NexDynError):
        raise base
    changed = motion(_system(element, carrier, attribute, how.given))
    before, after = (_reference(element, carrier, x, how.given) for x in (None, attribute))
    shown = reference_change(element, carrier, attribute, how.given)
    misses = {}
    assert set(changed) == set(after) - set(how.untold), f"{how.name} tells {sorted(changed)}"
    for group in changed:
        if not counts(group, shown[group]):
            continue
        wanted = after[group] - before[group]
        miss = float(np.linalg.norm(changed[group] - base[group] - wanted) / np.linalg.norm(wanted))
        if not miss <= part(group) * how.tolerance:
            misses[group] = miss
    return misses


def _lawful(how: Way, element: str, carrier: str, attribute: str) -> Verdict:
    """Whether the law of an analysis holds with the attribute changed."""
    assert how.law is not None
    probe = _probe(element, carrier, attribute, how.given if any(element.startswith(x) for x, *_ in how.given) else ())
    try:
        probe.make()
    except NexDynError as error:
        return _failed(error)
    assert probe.held  # what is refused here is a mistake of the law
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            missed = how.law(probe)
    except NexDynError as error:
        return _failed(error)
    slopes = [str(one.message) for one in told if "has two slopes" in str(one.message)]
    if missed > how.tolerance and slopes:
        return Verdict(REFUSED, slopes[0])
    return Verdict(HOLDS) if missed <= how.tolerance else Verdict(SILENT, f"by {missed:.1e}")


def _failed(error: NexDynError) -> Verdict:
    """Refused by name; what has no place to rest is refused by an equilibrium, and a batch hands on what refuses its members."""
    said = str(error)
    stops = type(error).__name__ == "SolveError" and not said.startswith(("no equilibrium", "member 0: q0 of joint"))
    return Verdict(STOPS if stops else REFUSED, said)
