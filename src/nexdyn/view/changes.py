"""What differs between two descriptions of a system, in words: what is new, what is gone, and which attributes have another value."""

from __future__ import annotations

import json
from typing import Any

from nexdyn.describe import to_dict
from nexdyn.model.system import System
from nexdyn.simulation.quiet import quiet
from nexdyn.view.words import Words

MOST = 12
"""Lines; what else has changed is counted."""
LONG = 40
"""Characters of a value that is told."""
ONE = {"bodies": "body"}


def changes(before: System, after: System, words: Words | None = None) -> list[str]:
    """Lines like "joint crank: stiffness 2.0 → 3.0"; none where both describe the same."""
    w = words or Words()
    with quiet():  # what is written in Python is not compared
        old, new = to_dict(before, lossy=True), to_dict(after, lossy=True)
    lines: list[str] = []
    for section in dict.fromkeys([*old, *new]):
        was, now = old.get(section), new.get(section)
        if was == now:
            continue
        if not isinstance(was or {}, dict) or not isinstance(now or {}, dict):
            lines.append(f"{w(section)} {_told(was)} → {_told(now)}")
        elif section == "parameters":
            lines += _attributes(w("parameter"), was or {}, now or {})
        else:
            lines += _elements(w(ONE.get(section, section.removesuffix("s"))), was or {}, now or {}, w)
    more = len(lines) - MOST
    return lines if more <= 0 else [*lines[:MOST], w("and {} more").format(more)]


def _elements(kind: str, old: dict[str, Any], new: dict[str, Any], w: Words) -> list[str]:
    lines = [w("new {} {}").format(kind, name) for name in new if name not in old]
    lines += [w("{} {} is gone").format(kind, name) for name in old if name not in new]
    for name in new:
        if name in old and old[name] != new[name]:
            lines += [f"{kind} {name}: {line}" for line in _attributes("", old[name], new[name])]
    return lines


def _attributes(what: str, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    lines = []
    for name in dict.fromkeys([*new, *old]):
        if name not in old or name not in new or old[name] != new[name]:
            values = f"{_told(old[name]) if name in old else '…'} → {_told(new[name]) if name in new else '…'}"
            lines.append(f"{what} {name} {values}".strip())
    return lines


def _told(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"
