"""What the runs of `snapshot_cases` end with, kept as numbers: the net under a change that may not change a motion.

    |x − x_kept| ≤ tolerance · max(1, max |x_kept|)     for x the last q, v, a and states of forces, and the times of events
    tolerance = 1e-13 where steps are constant, 1e-11 where Newton's iteration ends them, rtol/100 where the error chooses them; counts,
    events and warnings are equal, but corrections of Newton's, which rounding decides, to a twentieth

After a change that is meant to change numbers: `scripts/snapshot --write`, and the reason in the commit.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from snapshot_cases import CASES, Case

import nexdyn as nx

FILE = Path(__file__).with_suffix(".json")
FIXED_STEP = 1e-13
NEWTON, CORRECTIONS = 1e-11, 0.05
PART_OF_RTOL = 0.01
STATE = ("q", "v", "a", "z")
COUNTERS = ("iterations", "factorisations", "rejected", "choices", "projections", "partitions")
"""What a recording's settings count."""
Kept = dict[str, Any]


def taken(case: Case) -> Kept:
    """What a run ends with; where it is refused or fails, by which error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of a run are in its result
        try:
            result = case.run()
        except nx.NexDynError as error:
            return {"error": type(error).__name__}
    if isinstance(result, nx.BatchResult):
        return {"members": [_of_run(result.member(k)) for k in range(len(result))]}
    return _of_run(result)


def _of_run(result: nx.Result) -> Kept:
    recording = result.recording
    kept: Kept = {
        "status": recording.status,
        "t": float(recording.t[-1]),
        "rows": len(recording.t),
        "steps": int(recording.steps),
        "counts": {name: int(recording.settings[name]) for name in COUNTERS if name in recording.settings},
    }
    for name in STATE:
        x = getattr(recording, name)
        if x.size:
            kept[name] = [float(number) for number in x[-1].ravel()]
    if result.events:
        kept["events"] = [[event["name"], float(event["time"])] for event in result.events]
    if result.warnings:
        kept["warnings"] = sorted(str(one.get("kind")) for one in result.warnings)
    return kept


def differences(case: Case, found: Kept, kept: Kept) -> list[str]:
    """In what a run differs from the snapshot, in words."""
    fixed = NEWTON if isinstance(case.method, nx.HHT | nx.ImplicitEuler) else FIXED_STEP
    return _differences(fixed if case.rtol is None else PART_OF_RTOL * case.rtol, found, kept)


def _differences(tolerance: float, found: Kept, kept: Kept) -> list[str]:
    if "members" in found and "members" in kept:
        pairs = zip(found["members"], kept["members"], strict=False)
        told = [f"member {k}: {line}" for k, pair in enumerate(pairs) for line in _differences(tolerance, *pair)]
        return told + _unequal("members", len(found["members"]), len(kept["members"]))
    told = []
    for name in sorted(found.keys() | kept.keys()):
        here, there = found.get(name), kept.get(name)
        if here is None or there is None:
            told += [f"{name} is {here!r}; the snapshot has {there!r}"]
        elif name in (*STATE, "t"):
            told += _apart(name, here, there, tolerance)
        elif name == "events":
            told += _unequal("names of events", [x for x, _ in here], [x for x, _ in there])
            told += _apart("times of events", [t for _, t in here], [t for _, t in there], tolerance)
        elif name == "counts":
            of_newton = [x.get("iterations", 0) for x in (here, there)]
            if min(of_newton) >= (1.0 - CORRECTIONS) * max(of_newton):
                here = {**here, **{x: n for x, n in there.items() if x == "iterations"}}
            told += _unequal(name, here, there)
        else:
            told += _unequal(name, here, there)
    return told


def _unequal(name: str, here: Any, there: Any) -> list[str]:
    return [] if here == there else [f"{name}: {here!r}; the snapshot has {there!r}"]


def _apart(name: str, here: Any, there: Any, tolerance: float) -> list[str]:
    x, y = np.atleast_1d(here), np.atleast_1d(there)
    if x.shape != y.shape:
        return [f"{name} has {len(x)} numbers; the snapshot has {len(y)}"]
    apart = float(np.max(np.abs(x - y), initial=0.0) / max(1.0, np.max(np.abs(y), initial=0.0)))
    return [] if apart <= tolerance else [f"{name} differs by {apart:.1e} of its size; {tolerance:.0e} is let pass"]


def read() -> dict[str, Kept]:
    kept: dict[str, Kept] = json.loads(FILE.read_text(encoding="utf-8"))
    return kept


def write(kept: dict[str, Kept]) -> None:
    """One line a case, in the order of the cases."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in CASES)
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
