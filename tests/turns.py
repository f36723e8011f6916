"""What is tried in turn from run to run: half of many like cases, say, in this run and the other half in the next.

Which come first changes with the seed that pytest prints and PYTHONHASHSEED repeats. With --long all are tried. A slow machine leaves out
more: see tests/conftest.py.
"""

from __future__ import annotations

import collections
import os
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

TURN = int(os.environ.get("PYTHONHASHSEED", "0"))
"""Of this run: tests/conftest.py draws it, the same for all workers."""
AMONG = TURN // 24
"""What chooses among the cases of a turn: another number, or each case would always come with the same choice."""


def is_in_turn(k: int, of: int = 2) -> bool:
    """Whether the k-th case is among every `of`-th of this run."""
    return (k + TURN) % of == 0


def in_turns(cases: Iterable[Any], of: int = 2) -> list[Any]:
    """Parameters of a test: every `of`-th case of this run's turn, the others marked `long`.

    cases: values, tuples of several, or what pytest.param gives."""
    found = []
    for k, case in enumerate(cases):
        given = case if hasattr(case, "marks") else pytest.param(*case) if type(case) is tuple else pytest.param(case)
        marks = list(given.marks) if is_in_turn(k, of) else [*given.marks, pytest.mark.long]
        found.append(pytest.param(*given.values, id=given.id, marks=marks))
    return found


PROMISES = (
    "test_armature", "test_hht_tolerance", "test_implicit_euler_steps", "test_implicit_euler_thin", "test_orders", "test_redundant_loops",
    "test_stabilisation", "test_turns",
)  # fmt: skip
"""Files whose cases are numbers that are promised, orders and tolerances, and not alike."""


def of_this_turn(tests: Sequence[str], drawn: Sequence[bool], turns: int, turn: int = TURN) -> list[bool]:
    """Of each test of a run on a slow machine whether it is tried: one in `turns` of the cases of a function, and of the tests of a file
    that draw in a browser; others in the next turn. All that is alone is, and all of PROMISES.

    tests: their ids, as pytest prints them; drawn: whether each draws."""
    kept, seen = [], collections.Counter[str]()
    for test, draws in zip(tests, drawn, strict=True):
        function, _, case = test.partition("[")
        file = function.partition("::")[0]
        alike, promised = file if draws else function, file.endswith(tuple(f"{name}.py" for name in PROMISES))
        kept.append(promised or not (case or draws) or (seen[alike] + zlib.crc32(alike.encode()) + turn) % turns == 0)
        seen[alike] += 1
    return kept
