"""On a loop of joints a run is one run, too: cut in two it ends as the whole, under every method, with every attribute and force.

The systems are rows of the covering array of `test_matrix_pairs.py` on rings drawn at random, as few as have all levels that a ring may
have. Steps that are given end at the same bits; adaptive ones, which begin anew with a step of their own, within their tolerance or, where
a system enlarges errors, within what such a run errs by.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from continuing_lab import ADAPTIVE, DT, FIXED
from matrix_drawn import SEED
from test_matrix_pairs import FACTORS, covered, ends, mechanism, system_of
from turns import is_in_turn

import nexdyn as nx

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings(
        "ignore::nexdyn.NexDynWarning"
    ),  # contacts that start pressed in, what methods say of dt
]

HALF, END = 20 * DT, 50 * DT
"""Events of the rows are at 41 DT, between steps."""
OTHERS = (100.0, 10.0, 0.01)
"""Times the tolerance of adaptive runs: where two differ by more than the tolerance, they may by OWN times the most that one of these
differs. On row 64 slip that turns round enlarges what was 1e-11 to 1e-6 within 5 ms, under any method."""
OWN = 3.0
OTHER_KINDS = ("joint", "inertia", "event")
"""Factors of which one level shows what restarts are about; each way of a joint to turn is in `test_matrix_runs.py`."""


def rings() -> list[int]:
    """Rows that have together, of what a ring may have, every level but of OTHER_KINDS; and each event."""
    found = covered()[0]
    own = {n: set(row.items()) for n, row in enumerate(found) if row["carrier"] == "ring"}
    levels = {level for row in own.values() for level in row if level[0] not in OTHER_KINDS or level[0] == "event"}
    chosen: list[int] = []
    while levels:
        chosen.append(max(own, key=lambda n: len(own[n] & levels)))
        levels -= own[chosen[-1]]
    return chosen


def test_rings_have_every_attribute_and_force() -> None:
    seen = set().union(*(set(covered()[0][n].items()) for n in rings()))
    for name, levels in FACTORS.items():
        if levels == (False, True) and name not in ("q0", "v0"):  # several at once do not fit a ring
            assert (name, True) in seen, name


def misses(expected: dict[str, tuple[Any, ...]], result: nx.Result) -> dict[str, float]:
    """Of each group the largest difference from what is expected at the end, as part of its size and change."""
    missed = {}
    for group, (found, *_) in ends(result).items():
        x, change, _ = expected[group]
        missed[group] = float(np.abs(found - x).max()) / max(change, float(np.abs(x).max()))
    return missed


@pytest.mark.parametrize("n", rings())
def test_a_run_on_a_ring_cut_in_two_ends_as_the_whole(n: int, request: pytest.FixtureRequest) -> None:
    row, of, wrong = covered()[0][n], mechanism(n), []
    ways: dict[str, tuple[Any, float]] = {name: (method, 0.0) for name, method in FIXED.items()}
    ways |= {f"adaptive {name}": way for name, way in ADAPTIVE.items()}
    whole_table, place = request.config.getoption("--long"), rings().index(n)
    for k, (name, (method, tolerance)) in enumerate(ways.items()):
        if not whole_table and not is_in_turn(k + place, 3):
            continue
        whole = nx.simulate(system_of(row, of), END, method)
        system = system_of(row, of)
        rest = nx.simulate(system, END, method, initial=nx.simulate(system, HALF, method))
        expected = ends(whole)
        missed = misses(expected, rest)
        own = dict.fromkeys(missed, 0.0)
        for times in OTHERS if tolerance and max(missed.values()) > tolerance else ():
            tolerances = [x for x in ("rtol", "atol") if getattr(method, x, None)]
            other = dataclasses.replace(method, **{x: times * getattr(method, x) for x in tolerances})
            found = misses(expected, nx.simulate(system_of(row, of), END, other))
            own = {group: max(x, found[group]) for group, x in own.items()}
        wrong += [
            f"{group} under {name} by {x:.1e}"
            for group, x in missed.items()
            if not x <= max(tolerance, OWN * own[group])
        ]
    assert not wrong, f"{wrong} in row {n} of NEXDYN_PAIRS={SEED}: {row} on {of}"
