"""Plain data as YAML 1.2 that people can read, and that readers of YAML 1.1 take for the same.

Mappings stand in blocks as far as asked and where they do not fit in a line; what is smaller stands in one. Texts are
in quotes where they would be something else without; floats carry a decimal point.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from nexdyn.errors import InputError
from nexdyn.io.yaml_positions import resolved

WIDTH = 110

_PLAIN = re.compile(r"[^\W\d/][\w ./+*()=-]*|=[\w./+*()-][\w ./+*()-]*")
_READ_OTHERWISE = {"y", "n", "yes", "no", "on", "off"}
"""Text to us, but true or false to readers of YAML 1.1."""
_MAX_KEY = 1000
"""Longer keys are no "simple" keys, which YAML ends at 1024 characters."""


def yaml_entry(key: str, value: Any, indent: str, levels: int) -> Iterator[str]:
    """Lines of one key and its value: `levels` of blocks, below which what fits in a line stands in one."""
    head = f"{indent}{key}:" if len(key) < _MAX_KEY else f"{indent}? {key}\n{indent}:"
    in_blocks = isinstance(value, Mapping) and bool(value) and levels > 0
    text = "" if in_blocks else _flow(value)
    fits = len(head) + len(text) < WIDTH
    if in_blocks or (isinstance(value, Mapping) and not fits):
        yield f"{head}\n"
        for name, item in value.items():
            yield from yaml_entry(yaml_text(name), item, indent + "  ", levels - 1)
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        yield f"{head}\n"
        for item in value:
            yield from _item(item, indent + "  ")
    elif isinstance(value, list) and not fits:
        yield f"{_wrapped([_flow(item) for item in value], f'{head} [', indent + '  ')}\n"
    else:
        yield f"{head} {text}\n"


def _item(item: Any, indent: str) -> Iterator[str]:
    """Lines of one item of a list."""
    text = _flow(item)
    if not isinstance(item, Mapping) or len(indent) + len(text) < WIDTH:
        yield f"{indent}- {text}\n"
        return
    mark = "- "
    for name, value in item.items():
        for line in yaml_entry(yaml_text(name), value, indent + "  ", 0):
            yield indent + mark + line[len(indent) + 2 :] if mark else line
            mark = ""


def _wrapped(parts: list[str], line: str, indent: str) -> str:
    """A list over several lines; `line` is the start of the first."""
    lines = []
    for i, part in enumerate(parts):
        part += "]" if i == len(parts) - 1 else ","
        if len(line) + len(part) > WIDTH:
            lines.append(line.rstrip())
            line = indent
        line += part + " "
    return "\n".join([*lines, line.rstrip()])


def _flow(value: Any) -> str:
    """A value in one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return yaml_text(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{yaml_text(key)}: {_flow(item)}' for key, item in value.items())}}}"
    return f"[{', '.join(map(_flow, value))}]"


def _number(x: float) -> str:
    """A float that YAML 1.1 reads as one too: with a decimal point."""
    if math.isinf(x):
        return ".inf" if x > 0.0 else "-.inf"
    text = repr(x)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def yaml_text(text: str) -> str:
    """A text, in quotes where it would be something else without."""
    plain = _PLAIN.fullmatch(text) and text[-1] != " " and isinstance(resolved(text), str)
    if plain and text.lower() not in _READ_OTHERWISE:
        return text
    return f'"{"".join(map(_character, text))}"'


def _character(c: str) -> str:
    if c.isprintable():
        return "\\" + c if c in '"\\' else c
    code = ord(c)
    if 0xD800 <= code < 0xE000:
        raise InputError(f"half a character (U+{code:04X}) cannot be written; remove it from the text")
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
