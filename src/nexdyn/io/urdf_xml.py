"""Untrusted XML, read into elements that know their place.

A robot file comes from anywhere. It is read by expat through defusedxml: no document type, no entity, nothing external;
at most `MAX_BYTES` bytes, `MAX_ELEMENTS` elements, `MAX_DEPTH` deep. Every element knows its line and column, so that
what reads it can refuse it by name: `robot.urdf:12:5: link 'forearm' <inertial><mass>: value="heavy" is not a number`.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nexdyn.errors import FileError, counted

MAX_BYTES = 64 * 2**20
MAX_ELEMENTS = 1_000_000
MAX_DEPTH = 200
MAX_NUMBER = 1e50  # beyond it a product of three overflows, and no robot is that large
MAX_TEXT = 4096  # characters of a name, a file name or a list of numbers

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_XACRO = re.compile(r"\$[{(]")
_ADVICE_XACRO = "this is a xacro source; expand it first: xacro robot.urdf.xacro > robot.urdf"


class Node:
    """One XML element: `tag` (no namespace of its own root), `attributes`, `children`, and where it stands."""

    __slots__ = ("attributes", "children", "column", "file", "line", "parent", "tag")

    def __init__(
        self, tag: str, attributes: dict[str, str], parent: Node | None, file: str, line: int, column: int
    ) -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.file, self.line, self.column = file, line, column
        self.children: list[Node] = []

    @property
    def label(self) -> str:
        """What a message calls it: `link 'forearm' <inertial><mass>`."""
        path, owner = "", self
        while owner.parent is not None and owner.parent.parent is not None:
            path, owner = f"<{owner.tag}>" + path, owner.parent
        name = owner.attributes.get("name")
        head = f"<{owner.tag}>" if name is None else f"{owner.tag} {shown(name)}"
        return f"{head} {path}" if path else head

    def error(self, message: str) -> FileError:
        """The refusal of this element, to be raised by the caller."""
        return FileError(message, file=self.file, line=self.line, column=self.column, element=self.label)

    # ── children ────────────────────────────────────────────────────────────────────────────────────────────────────
    def all(self, tag: str) -> Iterator[Node]:
        """The children with this tag, in the order of the file."""
        return (child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> Node | None:
        """The only child with this tag, or None; two of them are refused."""
        found = list(self.all(tag))
        if len(found) > 1:
            raise found[1].error(f"<{tag}> is given twice here (first on line {found[0].line}); keep one")
        return found[0] if found else None

    def need(self, tag: str, example: str) -> Node:
        """The only child with this tag; `example` says what a valid one looks like."""
        child = self.one(tag)
        if child is None:
            raise self.error(f"<{tag}> is missing; it reads like {example}")
        return child

    # ── attributes ──────────────────────────────────────────────────────────────────────────────────────────────────
    def text(self, name: str, example: str) -> str:
        """A text that must be there and not be empty."""
        text = self.attributes.get(name, "")
        if not text.strip():
            raise self.error(f"{name} is {'empty' if name in self.attributes else 'missing'}; it reads like {example}")
        if len(text) > MAX_TEXT:
            raise self.error(f"{name} has {len(text)} characters, at most {MAX_TEXT} are taken")
        if _XACRO.search(text):
            raise self.error(f"{name}={shown(text)}: {_ADVICE_XACRO}")
        return text

    def numbers(
        self, name: str, n: int, default: tuple[float, ...] | None = None, *, most: float = MAX_NUMBER
    ) -> tuple[float, ...]:
        """`n` finite numbers, none beyond ±`most`; where the attribute is absent `default`, or a refusal if None."""
        if name not in self.attributes and default is not None:
            return default
        example = f'{name}="{" ".join(["0.1"] * n)}"'
        words = self.text(name, example).split()
        if len(words) != n:
            given = shown(self.attributes[name])
            commas = "; spaces separate numbers, not commas" if "," in self.attributes[name] else ""
            needed = f"{n} {'is' if n == 1 else 'are'} needed"
            raise self.error(f"{name}={given} has {counted(len(words), 'number')}, {needed}, like {example}{commas}")
        return tuple(self._number(name, word, most) for word in words)

    def number(
        self, name: str, default: float | None = None, *, least: float = -math.inf, most: float = MAX_NUMBER
    ) -> float:
        """One finite number, not below `least`; where the attribute is absent `default`, or a refusal if None."""
        value = self.numbers(name, 1, None if default is None else (default,), most=most)[0]
        if value < least:
            raise self.error(f"{name}={value!r} must be at least {least!r}")
        return value

    def _number(self, name: str, word: str, most: float) -> float:
        if not _NUMBER.fullmatch(word):
            hint = "" if word.lower().lstrip("+-") not in ("nan", "inf", "infinity") else "; it must be finite"
            raise self.error(f"{name}: {shown(word)} is not a number{hint}")
        value = float(word)
        if abs(value) > most or math.isinf(value):
            raise self.error(f"{name}: {shown(word)} is beyond {min(most, 1.8e308):g}, the largest number taken")
        return value


def shown(text: str, width: int = 80) -> str:
    """A text from a file as a message quotes it: escaped, and not longer than a line."""
    return repr(text if len(text) <= width else text[: width - 1] + "…")


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The contents of a regular file of at most `MAX_BYTES`, or FileError."""
    name = os.fspath(path)
    try:
        target = Path(path)
        if not target.is_file():
            kind = "is a directory or a device, not a file" if target.exists() else "no such file"
            raise FileError(kind, file=name)
        with target.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise FileError(f"cannot be read: {error}", file=name) from None
    return data


def parse_xml(data: bytes | str, file: str) -> Node:
    """The root element of an XML document, or FileError with the place and the reason."""
    if len(data) > MAX_BYTES:
        raise FileError(f"larger than {MAX_BYTES // 2**20} MB; a robot description is not", file=file)

    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DTDForbidden, EntitiesForbidden, ExternalReferenceForbidden
    from defusedxml.ElementTree import XMLParser

    builder = _Builder(file)
    parser = XMLParser(target=builder, forbid_dtd=True)
    builder.expat = parser.parser
    try:
        parser.feed(data)
        root: Node = parser.close()
        return root
    except ParseError as error:
        line, column = error.position
        reason = str(error).partition(": line ")[0]
        unbound = "unbound prefix" in reason and "xacro" in str(data[:MAX_TEXT])
        advice = f"; {_ADVICE_XACRO}" if unbound else ""
        raise FileError(f"not well-formed XML: {reason}{advice}", file=file, line=line, column=column + 1) from None
    except (DTDForbidden, EntitiesForbidden, ExternalReferenceForbidden):
        reason = "a document type or entity is not taken from a robot file; remove <!DOCTYPE ...>"
        raise builder.refused(reason) from None
    except (ValueError, LookupError) as error:  # an encoding that expat or Python does not know
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot be decoded ({error}); save it as UTF-8", file=file) from None


class _Builder:
    """What expat calls: builds elements, counts them, and stops at the limits."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.expat: Any = None
        self.count = self.depth = 0
        self.namespace = ""
        self.root: Node | None = None
        self.open: Node | None = None

    def refused(self, message: str) -> FileError:
        line, column = self.expat.CurrentLineNumber, self.expat.CurrentColumnNumber + 1
        return FileError(message, file=self.file, line=line, column=column)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        self.depth += 1
        if self.count > MAX_ELEMENTS:
            raise self.refused(f"more than {MAX_ELEMENTS} elements")
        if self.depth > MAX_DEPTH:
            raise self.refused(f"elements nested deeper than {MAX_DEPTH}")
        if tag[0] == "{":
            namespace, _, local = tag[1:].partition("}")
            if "xacro" in namespace:
                raise self.refused(f"<xacro:{local}>: {_ADVICE_XACRO}")
            if self.root is None:
                self.namespace = namespace
            if namespace == self.namespace:
                tag = local
        line, column = self.expat.CurrentLineNumber, self.expat.CurrentColumnNumber + 1
        element = Node(tag, attributes, self.open, self.file, line, column)
        if self.open is None:
            self.root = element
        else:
            self.open.children.append(element)
        self.open = element

    def end(self, tag: str) -> None:
        assert self.open is not None
        self.depth -= 1
        self.open = self.open.parent

    def close(self) -> Node:
        assert self.root is not None
        return self.root
