"""Counts agree with their nouns: "1 body", "2 bodies"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nexdyn.errors import counted

SOURCE = Path(__file__).parents[1] / "src" / "nexdyn"
NOUNS = (
    "bodies bushings columns constraints coordinates cores degrees equations errors events files forces frames functions impacts "
    "iterations joints kernels links members parameters points processes rows runs samples steps values velocities warnings"
)
COUNT = re.compile(r"(?<!of )\{(?:len\([^{}]*\)|[a-z][\w.\[\]]*)(?::[^}]*)?\} (?:" + NOUNS.replace(" ", "|") + r")\b")
ALWAYS_SEVERAL = (
    "bodies are more than", "points of the hull", "of the {len(x)} points", "joints in all", "{len(found)} errors{lines}",
    "links are no joint's child",
    "the batch has {count} members", "in {most} iterations", "over {window} samples", "{self.max_runs} runs", "the grid has",
    "tree {number}",
    "{found.grubler} degrees",
)  # fmt: skip
"""Parts of messages whose count is never 1."""
BY_HAND = {
    "absolute/model/kkt.py", "absolute/model/mobility.py", "forces/force_table.py", "linalg/solvers.py", "model/curves.py",
}  # fmt: skip
"""Pages of whose messages the counts are still written by hand."""


@pytest.mark.parametrize(
    ("n", "thing", "said"),
    [
        (1, "body", "1 body"),
        (0, "body", "0 bodies"),
        (3, "velocity", "3 velocities"),
        (2, "degree of freedom", "2 degrees of freedom"),
    ],
)
def test_a_count_agrees_with_its_noun(n: int, thing: str, said: str) -> None:
    assert counted(n, thing) == said


def test_messages_count_by_the_one_function_for_it() -> None:
    found: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if COUNT.search(line) and not any(part in line for part in ALWAYS_SEVERAL):
                found.setdefault(path.relative_to(SOURCE).as_posix(), []).append(line.strip())
    assert set(found) == BY_HAND, found
