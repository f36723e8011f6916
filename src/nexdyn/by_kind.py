"""Formulas that call the function on a page, by the number of its kind: what algorithms ask of joints and forces.

A page is a record or a module of one joint or force; its functions take by their names what they need of the arguments that are given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nexdyn.kernel import formula


class Page(NamedTuple):
    """A module as a page: the number of its kind, its name, and its functions."""

    kind: int
    name: str
    functions: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        """The function `name`, None where the page has none."""
        return self.functions.get(name)


def names_of(f: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's arguments."""
    return tuple(inspect.signature(getattr(f, "py_func", f)).parameters)


def by_kind(
    name: str, what: str, given: Sequence[str], pages: Sequence[Any], otherwise: Sequence[str] = (), **scope: Any
) -> Any:
    """The formula `name`(kind, …) that calls the function `what` of the page of that kind; of pages without it, `otherwise`.

    given: names of the arguments behind `kind`. otherwise: statements, with what `scope` names; without any each page must be one
    that has `what`, and the last of them stands for all other kinds.
    TypeError for a page whose function takes what is not `given`, or is none, and for two pages of one kind."""
    functions: dict[int, Any] = {}
    lines = []
    for page in pages:
        f = getattr(page, what)
        if f is None:
            continue
        if page.kind in functions:
            raise TypeError(f"the page of {page.name} has the number of another: {page.kind}")
        if not callable(f):
            raise TypeError(f"{what} of the page of {page.name} is {f!r}; a function is needed")
        if unknown := [argument for argument in names_of(f) if argument not in given]:
            raise TypeError(
                f"{what} of the page of {page.name} takes {', '.join(unknown)}; there are {', '.join(given)}"
            )
        functions[page.kind] = f
        lines.append(f"if kind == {page.kind}: return f{page.kind}({', '.join(names_of(f))})")
    if otherwise:
        lines += otherwise
    else:
        lines[-1] = lines[-1].partition(": ")[2]
    made: dict[str, Any] = {"__name__": __name__, **scope, **{f"f{kind}": f for kind, f in functions.items()}}
    exec("\n    ".join([f"def {name}(kind, {', '.join(given)}):", *lines]), made)
    return formula(made[name])
