"""Numbers put into the text of a scene, all else as it stands: comments, order, the spaces.

A value that is there gives way to the new one; where the key is missing it becomes the first of its mapping, or the last between braces.
The new text is read again: its data must be the old data with the new numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from nexdyn.errors import FileError
from nexdyn.io.yaml_positions import read_yaml, resolved

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


Numbers = float | Sequence[float] | Mapping[str, Sequence[float]]


def with_numbers(text: str, values: Mapping[tuple[str, ...], Numbers], file: str = "<text>") -> str:
    """The text of a scene (YAML or JSON) with these numbers, lists or mappings of them, at these paths, like ("joints", "hinge", "q0").

    FileError where the mapping that shall hold one is not in the text, or is an alias of another.
    """
    import yaml  # type: ignore[import-untyped]

    before = read_yaml(text, file).data
    root = yaml.compose(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    wanted, edits = _apart(before), []
    for path, value in values.items():
        *parents, key = path
        holder, data = root, wanted
        for name in parents:
            holder = _found(holder, name)
            data = data.get(name) if isinstance(data, dict) else None
            if holder is None or not isinstance(holder, yaml.MappingNode) or not isinstance(data, dict):
                raise FileError(f"there is no {'.'.join(parents)} to put {key} into", file=file)
        number = _short(value)
        data[key] = number
        edits.append(_edit(text, starts, root, holder, key, json.dumps(number)))
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    if not _alike(read_yaml(text, file).data, wanted):
        raise FileError("the numbers cannot be put in without other changes; write them by hand", file=file)
    return text


def _short(x: Any) -> Any:
    """Numbers of twelve digits."""
    if isinstance(x, Mapping):
        return {key: _short(value) for key, value in x.items()}
    return [_short(one) for one in x] if isinstance(x, Sequence) else float(f"{x:.12g}")


def _found(node: Any, key: str) -> Any:
    """The value of a key of a mapping node, or None."""
    pairs = node.value if isinstance(getattr(node, "value", None), list) else []
    return next((pair[1] for pair in pairs if isinstance(pair, tuple) and pair[0].value == key), None)


def _edit(text: str, starts: list[int], root: Any, holder: Any, key: str, number: str) -> tuple[int, int, str]:
    """(from, to, what) to replace in the text so that the mapping says `key: number`."""

    def offset(mark: Any) -> int:
        return starts[mark.line] + int(mark.column)

    if (old := _found(holder, key)) is not None:
        begin, end = offset(old.start_mark), offset(old.end_mark)
        end = begin + len(text[begin:end].rstrip())
        return begin, end, number if begin < end else f" {number}"
    plain = _PLAIN.fullmatch(key) and isinstance(resolved(key), str) and not root.flow_style
    pair = f"{key if plain else json.dumps(key)}: {number}"
    if not holder.flow_style:
        begin = offset(holder.value[0][0].start_mark)
        return begin, begin, f"{pair}\n{text[starts[holder.value[0][0].start_mark.line] : begin]}"
    if not holder.value:
        begin = offset(holder.start_mark) + 1
        return begin, begin, pair
    begin = offset(holder.value[-1][1].end_mark)
    return begin, begin, f", {pair}"


def _apart(data: Any) -> Any:
    """A copy in which no two places share what they say, as an alias does with its anchor."""
    if isinstance(data, dict):
        return {key: _apart(value) for key, value in data.items()}
    return [_apart(value) for value in data] if isinstance(data, list) else data


def _alike(a: Any, b: Any) -> bool:
    """Whether both are the same data; a NaN is like another."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_alike(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_alike, a, b))
    return bool(a == b) or (a != a and b != b)
