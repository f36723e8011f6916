"""Functions of any shape, made from the pages: each calls the page's own by the kind in the record.

A page that lacks a function, or has it with other arguments, is named when the package is imported. Nothing stands in
for a page: every kind has a branch, and the last of them is the last page's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from nexdyn.geometry.solid import Page
from nexdyn.kernel import formula


def verb(name: str, parameters: Sequence[str], pages: Sequence[Page]) -> Any:
    """The formula `name`(s, …) that calls the function of that name of the page whose kind is s.kind.

    TypeError for a page without it, or with other `parameters`."""
    functions = {}
    for page in pages:
        f = getattr(page, name)
        if not callable(f):
            raise TypeError(f"the page of {page.name} has no {name}")
        found = tuple(inspect.signature(getattr(f, "py_func", f)).parameters)
        if found != tuple(parameters):
            raise TypeError(f"{name} of the page of {page.name} takes {found}; {tuple(parameters)} is needed")
        functions[page.kind] = f
    arguments = ", ".join(parameters)
    *all_but_last, last = functions
    lines = [f"    if s.kind == {kind}: return f{kind}({arguments})" for kind in all_but_last]
    return _made(name, arguments, [*lines, f"    return f{last}({arguments})"], functions)


def fact(name: str, holds: Callable[[Page], bool], pages: Sequence[Page]) -> Any:
    """The formula `name`(kind): whether `holds` is true of the page of that kind."""
    kinds = [page.kind for page in pages if holds(page)]
    return _made(name, "kind", [f"    return {' or '.join(f'kind == {k}' for k in kinds) or 'False'}"], {})


def _made(name: str, arguments: str, body: list[str], functions: dict[int, Callable[..., Any]]) -> Any:
    scope: dict[str, Any] = {"__name__": __name__, **{f"f{kind}": f for kind, f in functions.items()}}
    exec("\n".join([f"def {name}({arguments}):", *body]), scope)
    return formula(scope[name])
