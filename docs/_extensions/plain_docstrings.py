"""Docstrings are plain text; this turns them into reStructuredText, so that nobody escapes an equation by hand.

A block is what stands between empty lines.

- A first line underlined with dashes is a heading ("Parameters"), and what follows a list of "name: description".
- Indented blocks, and blocks with aligned columns or hanging lines, are shown as they are written.
- Lists of "- " stay lists; in all other text `code` becomes code, and *, |, _ mean themselves.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"(:[a-z:]+:`[^`]+`|``.+?``|`[^`]+`)")


def is_laid_out(block: list[str]) -> bool:
    """Whether a block's line breaks and spaces carry meaning."""
    if block[0].startswith("- "):
        return False
    return any(line.startswith(" ") or re.search(r"\S {2,}\S", line) for line in block)


def as_text(line: str) -> str:
    """One line of prose: `code` as literal, roles such as :func:`f` kept, the rest escaped."""
    parts = CODE.split(line)
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = re.sub(r"([*|\\]|_\b)", r"\\\1", part)
        elif part.startswith("`") and not part.startswith("``"):
            parts[i] = f"`{part}`"
    return "".join(parts)


def has_heading(block: list[str]) -> bool:
    return len(block) > 2 and re.fullmatch(r"-{3,}", block[1]) is not None


def as_descriptions(lines: list[str]) -> list[str]:
    """A list of "name: description" with hanging lines."""
    out: list[str] = []
    for line in lines:
        if line.startswith(" "):
            out.append("  " + as_text(line.strip()))
        else:
            name, colon, description = line.partition(": ")
            out.append(f"- ``{name}``: {as_text(description)}" if colon else "- " + as_text(line))
    return out


def as_list_item(line: str) -> str:
    return "- " + as_text(line[2:]) if line.startswith("- ") else as_text(line)


def as_rst(lines: list[str]) -> list[str]:
    """The reStructuredText of a docstring's lines."""
    out: list[str] = []
    for empty, group in groupby(lines, key=lambda line: not line.strip()):
        block = list(group)
        if empty:
            continue
        if has_heading(block):
            out += [f".. rubric:: {block[0]}", "", *as_descriptions(block[2:]), ""]
        elif is_laid_out(block):
            out += ["::", "", *("    " + line for line in block), ""]
        else:
            out += [*map(as_list_item, block), ""]
    return out


def process(_app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = as_rst(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}
