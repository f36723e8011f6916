"""The exceptions of NexDyn, and nothing else.

    NexDynError
    ├── InputError (ValueError)          a description, argument or file is wrong; exit code 2
    │   ├── UnknownNameError             a name that nothing carries; the nearest one is offered
    │   └── FileError                    the same, with file, line and column
    └── SolveError (RuntimeError)        the input is fine, a solution was not found; exit code 3
        ├── SingularError                a mass or constraint matrix that cannot be factored
        └── AssemblyError                joints that cannot be closed, or rows in conflict

NexDynWarning (UserWarning) is what is said without stopping.
"""

from __future__ import annotations

import difflib
import heapq
import operator
import sys
import unicodedata
import warnings
from collections.abc import Iterable
from typing import Any

from nexdyn.synonyms import meant, plain, words_for


class NexDynError(Exception):
    """Root of everything that NexDyn raises on purpose."""


class InputError(NexDynError, ValueError):
    """A description, an argument or a file is wrong. The message names the offender and what would be valid."""


class UnknownNameError(InputError, KeyError):
    """A name that nothing carries. Build it with :func:`unknown`."""

    __str__ = Exception.__str__  # a KeyError's is that of a key, in quotes


class FileError(InputError):
    """A file is wrong; `file`, `line`, `column` (from 1, or None) and `element` say where."""

    def __init__(
        self,
        message: str,
        *,
        file: str = "",
        line: int | None = None,
        column: int | None = None,
        element: str | None = None,
    ) -> None:
        self.file, self.line, self.column, self.element = file, line, column, element
        place = ":".join(str(part) for part in (file, line, column) if part not in (None, ""))
        super().__init__(": ".join(part for part in (place, element, message) if part))


class SolveError(NexDynError, RuntimeError):
    """No solution. `time` [s] and `where` (body or joint) say where it stopped; `result` holds what was reached."""

    def __init__(
        self, message: str, *, time: float | None = None, where: str | None = None, result: Any | None = None
    ) -> None:
        super().__init__(message)
        self.time, self.where, self.result = time, where, result


class SingularError(SolveError):
    """A matrix that must be factored has no usable pivot; `where` names the joint."""


class AssemblyError(SolveError):
    """A mechanism that cannot be assembled; `report` says which joints stay open and which rows conflict."""

    def __init__(self, message: str, *, report: Any) -> None:
        super().__init__(message)
        self.report = report


class NexDynWarning(UserWarning):
    """Something worth knowing that does not stop the work."""


def warn(message: str) -> None:
    """Say `message` as a NexDynWarning that points at the user's line, however deep in the package it comes up."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and f"{frame.f_globals.get('__name__', '')}.".startswith("nexdyn."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, NexDynWarning, stacklevel=level)


def counted(n: int, thing: str) -> str:
    """ "1 body", "3 bodies", "2 degrees of freedom"."""
    return f"{n} {thing if n == 1 else _several(thing)}"


def _several(thing: str) -> str:
    head, of, rest = thing.partition(" of ")
    ies = head.endswith("y") and head[-2:-1] not in "aeiou"
    return (head[:-1] + "ies" if ies else head + "s") + of + rest


def _alike(name: str, names: list[str], most: int = 100) -> list[str]:
    """Of many names those most like `name` by letters in place and pairs of letters: all in full would take seconds."""
    if len(names) <= most:
        return names

    def pairs(word: str) -> set[str]:
        return set(map(operator.add, word, word[1:]))

    wanted = pairs(name)
    return heapq.nlargest(
        most,
        names,
        key=lambda other: len(wanted & pairs(other)) + sum(map(operator.eq, name, other)) - abs(len(other) - len(name)),
    )


def is_one_of(given: object, valid: Iterable[str]) -> bool:
    """Whether what a user gives is one of some words; an array, say, is none, where Python would compare it with each."""
    return isinstance(given, str) and given in valid


def nearest(name: object, names: list[str], cutoff: float = 0.5) -> str | None:
    """The one of `names` that is most like `name`: in other letters of the same size, what other tools call it, or with letters wrong."""
    text = str(name)
    same = next((known for known in names if known.casefold() == text.casefold()), None) or meant(name, names)
    if same is not None:
        return same
    near = difflib.get_close_matches(text, _alike(text, names), n=1, cutoff=cutoff)
    elsewhere = words_for(names)
    words = elsewhere and difflib.get_close_matches(plain(name), elsewhere, n=1, cutoff=0.8)
    if words and not (near and _ratio(text, near[0]) >= _ratio(plain(name), words[0])):
        return elsewhere[words[0]]
    return near[0] if near else None


def _ratio(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b).ratio()


def unknown(
    kind: str, name: object, valid: Iterable[str], *, plural: str | None = None, cutoff: float = 0.5
) -> UnknownNameError:
    """The error for a `kind` called `name` that does not exist, with the nearest valid name and the list of them.

    cutoff: how alike a name must be, from 0 to 1, to be offered."""
    names = [str(v) for v in valid]
    near = nearest(name, names, cutoff)
    hint = f"; did you mean {near!r}?" if near else ";"
    if (composed := unicodedata.normalize("NFC", str(name))) != str(name) and composed in names:
        hint = f", which is spelt with combining characters; write {composed!r} in composed ones (Unicode NFC);"
    most = 12 if near else 20
    shown = ", ".join(names[:most]) + (f", … ({len(names)} in all)" if len(names) > most else "")
    plural = plural or _several(kind)
    return UnknownNameError(f"no {kind} {name!r}{hint} {plural}: {shown or 'none'}")
