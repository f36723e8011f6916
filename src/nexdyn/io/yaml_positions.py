"""YAML 1.2 from anywhere, read into plain data whose every key and value can be asked for its line and column.

The parser (libyaml through PyYAML, or its pure Python twin) gives events; what they mean is decided here: the core
schema of YAML 1.2, in which 1e-3, 1e3 and .5 are numbers, 012 is twelve, and on, yes, 1_000 and 2024-01-01 are text.
Keys are text always. Nothing is ever executed: tags are refused. So are duplicate keys, a second document, more than
`MAX_BYTES`, more than `MAX_DEPTH` levels, and aliases that are nested or stand for more than `MAX_ALIASED` values.

Why not ruamel.yaml, which knows YAML 1.2 and positions: its reader with positions (0.19.1, round trip, pure Python) takes 3.9 s for a scene
of 4,000 bodies (330 kB), this one 0.23 s, and 0.12 s without them, where its fastest reader, without positions, takes 0.95 s. It ends in a
RecursionError 5,000 levels deep, sets no bound on nesting or on aliases, stops at the first duplicate key, and takes 1_000 for a number,
2024-01-01 for a date, `<<` for a merge, and numbers and lists for keys. All that would be checked here again.

Source: YAML 1.2.2, section 10.3 (https://yaml.org/spec/1.2.2/#103-core-schema).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from nexdyn.errors import FileError

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 100
MAX_ALIASED = 100_000
MAX_PROBLEMS = 100

Path = tuple[str | int, ...]
Place = tuple[int, int]
"""Line and column, from 1."""

_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_BASED = re.compile(r"0o[0-7]{1,300}|0x[0-9a-fA-F]{1,300}")
_NOWHERE: Path = ("", "a duplicate")
_NUMERIC = frozenset("0123456789+-.")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Problem(NamedTuple):
    """What is wrong at a place, though the text can be read on."""

    place: Place
    message: str


class Positions(NamedTuple):
    """Where every key and every value stands, by its path in the data."""

    keys: dict[Path, Place]
    values: dict[Path, Place]


class Reading(NamedTuple):
    """The data of a text, what was wrong with it, and the positions if they were asked for."""

    data: Any
    problems: list[Problem]
    positions: Positions


def read_yaml(text: str, file: str = "<text>", *, positions: bool = False) -> Reading:
    """The one document of a text. FileError where it is no YAML, or beyond a limit."""
    if len(text) > MAX_BYTES:
        raise FileError(f"larger than {MAX_BYTES // 2**20} MB; a scene is not", file=file)
    text = text.removeprefix("\ufeff")
    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        line = text.count("\n", 0, forbidden.start()) + 1
        column = forbidden.start() - text.rfind("\n", 0, forbidden.start())
        raise FileError(
            f"the character U+{ord(forbidden[0]):04X} cannot stand in YAML", file=file, line=line, column=column
        )
    return _Composer(text, file, positions).reading()


def resolved(text: str) -> Any:
    """What a plain scalar means in the core schema: None, a bool, an int, a float, or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _NUMERIC:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            return float(text)
        if _BASED.fullmatch(text):
            return int(text, 0)
    return text


class _Node:
    """A list or mapping that is being read: `key` is that of the next value, None where a key comes next."""

    __slots__ = ("anchor", "data", "dropped", "key", "lines", "path", "size")

    def __init__(self, data: Any, path: Path, anchor: str | None, size: int) -> None:
        self.data, self.path, self.anchor, self.size = data, path, anchor, size
        self.key: str | None = None
        self.dropped = False
        self.lines: dict[str, int] = {}


class _Composer:
    """Makes data of events, without recursion."""

    def __init__(self, text: str, file: str, positions: bool) -> None:
        self.text, self.file, self.with_positions = text, file, positions
        self.problems: list[Problem] = []
        self.positions = Positions({}, {})
        self.stack: list[_Node] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.size = self.aliased = 0
        self.documents: list[Any] = []

    def reading(self) -> Reading:
        for event in self.events():
            self.take(event)
        return Reading(self.documents[0] if self.documents else None, self.problems, self.positions)

    def events(self) -> Iterator[Any]:
        """The parser's events; its errors with the place and what to do."""
        import yaml  # type: ignore[import-untyped]

        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        try:
            yield from yaml.parse(self.text, Loader=loader)
        except yaml.MarkedYAMLError as error:
            raise self.syntax_error(error) from None
        except yaml.YAMLError as error:
            raise FileError(f"no valid YAML: {error}", file=self.file) from None

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "ScalarEvent":
            self.size += 1
            if event.tag is not None:
                self.refuse_tag(event)
            if self.stack and self.stack[-1].key is None and type(self.stack[-1].data) is dict:
                self.take_key(event)
                return
            value = resolved(event.value) if event.implicit[0] else event.value
            self.add(value, event)
            if event.anchor is not None:
                self.anchors[event.anchor] = (value, 1)
        elif kind == "MappingStartEvent":
            self.open({}, event)
        elif kind == "SequenceStartEvent":
            self.open([], event)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            node = self.stack.pop()
            if node.anchor is not None:
                self.anchors[node.anchor] = (node.data, self.size - node.size)
        elif kind == "AliasEvent":
            self.take_alias(event)
        elif kind == "DocumentStartEvent" and self.documents:
            raise self.error(event, "a second document starts here; one file holds one scene")

    def take_key(self, event: Any) -> None:
        node, key = self.stack[-1], event.value
        node.key, line = key, event.start_mark.line + 1
        if event.anchor is not None:
            raise self.error(event, "an anchor cannot stand at a key; put it at a value")
        node.dropped = key in node.lines
        if node.dropped:
            self.problem(event, f"{key!r} is given twice here (first on line {node.lines[key]}); keep one")
            return
        node.lines[key] = line
        if self.with_positions:
            self.positions.keys[(*node.path, key)] = (line, event.start_mark.column + 1)

    def add(self, value: Any, event: Any) -> Path:
        """Put a value where it belongs; its path."""
        if not self.stack:
            self.documents.append(value)
            path: Path = ()
        else:
            node = self.stack[-1]
            if type(node.data) is list:
                path = (*node.path, len(node.data)) if self.with_positions else ()
                node.data.append(value)
            else:
                assert node.key is not None
                path = (*node.path, node.key) if self.with_positions else ()
                if node.dropped:
                    path = _NOWHERE
                if not node.dropped:
                    node.data[node.key] = value
                node.key = None
        if self.with_positions:
            self.positions.values.setdefault(path, (event.start_mark.line + 1, event.start_mark.column + 1))
        return path

    def open(self, data: Any, event: Any) -> None:
        if event.tag is not None:
            self.refuse_tag(event)
        if len(self.stack) >= MAX_DEPTH:
            raise self.error(event, f"nested deeper than {MAX_DEPTH} levels")
        if self.stack and self.stack[-1].key is None and type(self.stack[-1].data) is dict:
            raise self.error(event, "a list or mapping cannot be a key; keys are text")
        self.size += 1
        self.stack.append(_Node(data, self.add(data, event), event.anchor, self.size))

    def take_alias(self, event: Any) -> None:
        name = event.anchor
        if self.stack and self.stack[-1].key is None and type(self.stack[-1].data) is dict:
            raise self.error(event, f"the alias *{name} cannot be a key; keys are text")
        if name not in self.anchors:
            raise self.error(event, f"the alias *{name} has no anchor &{name} before it; for text, use quotes")
        if any(node.anchor is not None for node in self.stack):
            raise self.error(event, f"the alias *{name} stands in an anchored value; aliases cannot be nested")
        value, size = self.anchors[name]
        self.aliased += size + 1
        if self.aliased > MAX_ALIASED:
            raise self.error(event, f"aliases stand for more than {MAX_ALIASED} values")
        self.add(value, event)

    # --- what is wrong ------------------------------------------------------------------------------------------

    def error(self, event: Any, message: str) -> FileError:
        mark = event.start_mark
        return FileError(message, file=self.file, line=mark.line + 1, column=mark.column + 1)

    def problem(self, event: Any, message: str) -> None:
        if len(self.problems) >= MAX_PROBLEMS:
            raise self.error(event, message)
        self.problems.append(Problem((event.start_mark.line + 1, event.start_mark.column + 1), message))

    def refuse_tag(self, event: Any) -> None:
        tag = event.tag.replace("tag:yaml.org,2002:", "!!")
        self.problem(event, f"the tag {tag} is not taken; a scene is plain data, its numbers and texts are told apart")

    def syntax_error(self, error: Any) -> FileError:
        mark = error.problem_mark or error.context_mark
        if mark is None:
            return FileError(f"no valid YAML: {error.problem}", file=self.file)
        line = self.text.splitlines()[mark.line : mark.line + 1]
        found = line[0][mark.column : mark.column + 1] if line else ""
        reason = error.problem
        if "cannot start any token" in reason:
            reason = f"{found!r} cannot start a value; put the text in quotes"
            if found == "\t":
                reason = "a tab cannot indent; use spaces"
        elif error.context and error.context_mark and error.context_mark.line != mark.line:
            reason += f" {error.context}, which starts on line {error.context_mark.line + 1}"
        return FileError(f"no valid YAML: {reason}", file=self.file, line=mark.line + 1, column=mark.column + 1)
