"""The numbers of a page: annotated names in its class, like ``stiffness: float`` or ``reach: float = 0.1``, become arguments of it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from nexdyn.errors import InputError

RESERVED = frozenset(
    {"name", "a", "b", "anchor_a", "anchor_b", "at_a", "at_b", "joint", "freedom", "t", "q", "v", "X_WA", "V_A", "X_WB", "V_B", "K",
     "gh", "bh2", "R", "p", "kind", "code"}
)  # fmt: skip


def numbers_of(cls: type, base: type) -> dict[str, Any]:
    """Name and default of the numbers that `cls` and the pages it derives from have; `inspect.Parameter.empty`: it must be given."""
    found: dict[str, Any] = {}
    for owner in reversed(cls.__mro__):
        if not issubclass(owner, base) or owner is base:
            continue
        for name, annotation in inspect.get_annotations(owner).items():
            if "ClassVar" in str(annotation) or name.startswith("_"):
                continue
            found[name] = owner.__dict__.get(name, inspect.Parameter.empty)
    return found


def check_numbers(cls: type, numbers: Mapping[str, Any], most: int, taken: frozenset[str] = RESERVED) -> None:
    """InputError for a name that means something else, for a default that is no number, and for too many."""
    for name, default in numbers.items():
        if name in taken:
            raise InputError(
                f"{cls.__name__} has a number {name!r}, which means something else there; choose another name"
            )
        if default is not inspect.Parameter.empty and (
            isinstance(default, bool) or not isinstance(default, int | float)
        ):
            raise InputError(f"{name} of {cls.__name__} is {default!r} by default; a number is needed")
    if len(numbers) > most:
        raise InputError(f"{cls.__name__} has {len(numbers)} numbers; a page has {most} at most")


def give_constructor(cls: Any, before: str, after: str, numbers: Mapping[str, Any], begin: str) -> None:
    """An ``__init__`` of `cls` whose arguments are `before`, its numbers, and `after`: it calls `begin` and keeps the numbers."""
    own = [name if default is inspect.Parameter.empty else f"{name}=_{name}" for name, default in numbers.items()]
    tail = [part for part in (*own, after) if part]
    star = ["*"] if own or (after and not after.startswith("*")) else []
    arguments = ", ".join([before, *star, *tail])
    text = (
        f"def __init__({arguments}):\n    {begin}\n    self._store({', '.join(f'{name}={name}' for name in numbers)})\n"
    )
    scope: dict[str, Any] = {"_base": cls._paged, **{f"_{name}": default for name, default in numbers.items()}}
    exec(text, scope)
    cls.__init__ = scope["__init__"]
    cls.__init__.__qualname__, cls.__init__.__module__ = f"{cls.__name__}.__init__", cls.__module__
