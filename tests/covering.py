"""Covering arrays of strength two: a few rows in which every two levels of any two factors stand together.

    rows(factors, rules)      factors: name → levels; rules: (names of factors, whether their levels go together)

Of some random rows that keep the rules, the one with the most new pairs is taken, until every pair is in a row (Cohen, Dalal, Fredman
and Patton, The AETG system, IEEE Trans. Software Eng. 23, 1997). A row is completed factor by factor and taken back where a rule
breaks, so that a pair without a row is one that the rules exclude.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Hashable, Mapping, Sequence

Row = dict[str, Hashable]
Pair = frozenset[tuple[str, Hashable]]
Rule = tuple[tuple[str, ...], Callable[..., bool]]
CANDIDATES = 12
"""Rows of which the best is taken."""


def pairs(row: Row) -> set[Pair]:
    return {frozenset(two) for two in itertools.combinations(row.items(), 2)}


def keeps(row: Row, rules: Sequence[Rule]) -> bool:
    """Whether a row, which may lack factors, keeps the rules."""
    return all(rule(*(row[name] for name in names)) for names, rule in rules if all(name in row for name in names))


def rows(
    factors: Mapping[str, Sequence[Hashable]], rules: Sequence[Rule], seed: int = 0
) -> tuple[list[Row], set[Pair]]:
    """The rows, and the pairs that no row can hold."""
    rng = random.Random(seed)
    left = dict.fromkeys(
        frozenset(((a, x), (b, y)))
        for a, b in itertools.combinations(factors, 2)
        for x in factors[a]
        for y in factors[b]
    )
    of = {name: [rule for rule in rules if name in rule[0]] for name in factors}
    found: list[Row] = []
    impossible: set[Pair] = set()
    while left:
        first = next(iter(left))
        if _row_with(first, factors, of, rng) is None:  # which tries all
            impossible.add(first)
            del left[first]
            continue
        candidates = [row for _ in range(CANDIDATES) if (row := _row_with(first, factors, of, rng))]
        best, seen = max(((row, pairs(row) & left.keys()) for row in candidates), key=lambda x: len(x[1]))
        found.append(best)
        for pair in seen:
            del left[pair]
    return found, impossible


def _row_with(
    pair: Pair, factors: Mapping[str, Sequence[Hashable]], of: Mapping[str, Sequence[Rule]], rng: random.Random
) -> Row | None:
    """A random row that holds a pair; None where the rules exclude it. of: name of a factor → the rules that name it."""
    row = dict(pair)
    if not all(keeps(row, of[name]) for name in row):
        return None
    names = [name for name in factors if name not in row]
    rng.shuffle(names)
    names.sort(key=lambda name: -len(of[name]))  # what most rules bind comes first, so that contradictions show early
    untried: list[list[Hashable]] = []
    while len(untried) < len(names):
        name = names[len(untried)]
        untried.append(rng.sample(list(factors[name]), len(factors[name])))
        while untried and not _next(row, names[len(untried) - 1], untried[-1], of):
            untried.pop()
        if not untried:
            return None
    return row


def _next(row: Row, name: str, levels: list[Hashable], of: Mapping[str, Sequence[Rule]]) -> bool:
    """Give a factor the next of its levels that keeps the rules; without one it is taken from the row."""
    while levels:
        row[name] = levels.pop()
        if keeps(row, of[name]):
            return True
    row.pop(name, None)
    return False
