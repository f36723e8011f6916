"""Runs end as they did when the snapshot was taken; `scripts/snapshot` compares all of them, these tests some.

A difference is a change of behaviour: mend it, or take the snapshot anew and give the reason.
"""

from __future__ import annotations

from typing import Any

import pytest
from matrix_elements import ELEMENTS
from snapshot import FILE, FIXED_STEP, differences, read, taken
from snapshot_cases import CASES, IN_CI, has_cases

from nexdyn.integrate.methods import METHODS


def test_the_snapshot_has_every_case_and_no_other() -> None:
    assert list(read()) == list(CASES)
    assert len(CASES) >= 200
    assert FILE.stat().st_size < 400_000


def test_every_element_and_every_method_is_in_the_snapshot() -> None:
    wanted = [element.name for element in ELEMENTS.values() if has_cases(element)]
    assert [name for name in wanted if not any(case.startswith(f"{name} ") for case in CASES)] == []
    assert set(METHODS) <= {case.method.name for case in CASES.values() if case.method is not None}


def test_few_cases_are_refused_and_none_fails() -> None:
    errors = [(name, kept["error"]) for name, kept in read().items() if "error" in kept]
    assert [name for name, error in errors if error != "InputError"] == []
    assert len(errors) <= 1  # partitioning, of velocities


@pytest.mark.parametrize("name", IN_CI)
def test_a_run_ends_as_in_the_snapshot(name: str) -> None:
    assert differences(CASES[name], taken(CASES[name]), read()[name]) == []


def changed(kept: dict[str, Any], **other: Any) -> list[str]:
    return differences(CASES["double-pendulum / rk4"], {**kept, **other}, kept)


def test_a_difference_in_the_state_a_count_an_event_or_a_warning_is_told() -> None:
    kept: dict[str, Any] = {
        "status": "finished", "t": 0.1, "rows": 101, "steps": 100, "counts": {"iterations": 7},
        "q": [0.5, -40.0], "events": [["down", 0.05]], "warnings": ["gap"],
    }  # fmt: skip
    assert changed(kept) == []
    assert changed(kept, q=[0.5 + 20 * FIXED_STEP, -40.0]) == []
    for name, value in (
        ("q", [0.5, -40.0 * (1.0 + 2.0 * FIXED_STEP)]),
        ("q", [0.5]),
        ("q", [float("nan"), -40.0]),
        ("t", 0.2),
        ("rows", 100),
        ("steps", 99),
        ("counts", {"iterations": 8}),
        ("status", "failed"),
        ("warnings", []),
        ("events", [["up", 0.05]]),
        ("events", [["down", 0.05 + 1e-9]]),
        ("events", []),
        ("error", "SolveError"),
    ):
        assert changed(kept, **{name: value}), name
