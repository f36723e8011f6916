"""What is tried in turn from run to run: half of many like cases, say, in this run and the other half in the next.

Which come first changes with the seed that pytest prints and PYTHONHASHSEED repeats. A slow machine takes fewer at a time, half or a third
of them, and says so; NEXDYN_TURNS repeats that. With --long all are tried.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

TURN = int(os.environ.get("PYTHONHASHSEED", "0"))
"""Of this run: tests/conftest.py draws it, the same for all workers."""
AMONG = TURN // 24
"""What chooses among the cases of a turn: another number, or each case would always come with the same choice."""
SLOWER = int(os.environ.get("NEXDYN_TURNS", "1"))
"""How many times as many turns all cases take: tests/conftest.py measures it, once for all workers."""


def is_in_turn(k: int, of: int = 2) -> bool:
    """Whether the k-th case is among every `of`-th of this run; of a slow machine's, among fewer."""
    return (k + TURN) % (of * SLOWER) == 0


def in_turns(cases: Iterable[Any], of: int = 2) -> list[Any]:
    """Parameters of a test: every `of`-th case of this run's turn, the others marked `long`.

    cases: values, tuples of several, or what pytest.param gives."""
    found = []
    for k, case in enumerate(cases):
        given = case if hasattr(case, "marks") else pytest.param(*case) if type(case) is tuple else pytest.param(case)
        marks = list(given.marks) if is_in_turn(k, of) else [*given.marks, pytest.mark.long]
        found.append(pytest.param(*given.values, id=given.id, marks=marks))
    return found
