"""The directive `public-names`: documents the names of `nexdyn.__all__` that live below one of its packages.

    .. public-names:: joints

A name shows under the one path that users write (`nexdyn.Revolute`), wherever its source is, and a new name needs no
line here. A public name that no page shows is a warning.
"""

from __future__ import annotations

import inspect
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import nexdyn

ENTRIES = {
    "class": ".. autoclass:: {0}\n   :members:\n   :show-inheritance:\n",
    "exception": ".. autoexception:: {0}\n   :show-inheritance:\n",
    "module": ".. automodule:: {0}\n   :members:\n",
    "function": ".. autofunction:: {0}\n",
    "data": ".. autodata:: {0}\n",
}


def public_names() -> dict[str, Any]:
    return {name: getattr(nexdyn, name) for name in getattr(nexdyn, "__all__", ()) if not name.startswith("__")}


def home(thing: Any) -> str:
    """The package or module directly below nexdyn that holds `thing`."""
    module = thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", "nexdyn")
    return module.partition(".")[2].partition(".")[0]


def kind(thing: Any) -> str:
    if inspect.isclass(thing):
        return "exception" if issubclass(thing, BaseException) else "class"
    return "module" if inspect.ismodule(thing) else "function" if callable(thing) else "data"


def short_signature(thing: Any) -> str:
    """For a class that inherits its long signature from a documented one: what comes by position; else nothing."""
    if not inspect.isclass(thing) or "__init__" in vars(thing) or issubclass(thing, (tuple, BaseException)):
        return ""
    parameters = inspect.signature(thing).parameters.values()
    names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return f"({', '.join(names)}, **attributes)" if len(names) < len(parameters) else ""


def entry(name: str, thing: Any) -> str:
    path = thing.__name__ if inspect.ismodule(thing) else f"nexdyn.{name}"
    return ENTRIES[kind(thing)].format(path + short_signature(thing))


class PublicNames(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        package = self.arguments[0]
        shown = {name: thing for name, thing in public_names().items() if home(thing) == package}
        self.env.shown_public_names = getattr(self.env, "shown_public_names", set()) | shown.keys()
        pages = {name: thing for name, thing in shown.items() if not (inspect.ismodule(thing) and callable(thing))}
        text = "\n".join(entry(name, thing) for name, thing in pages.items())  # nexdyn.view is written out there
        return self.parse_text_to_nodes(text)


def report_names_not_shown(_app: Sphinx, env: Any) -> None:
    if missing := sorted(public_names().keys() - getattr(env, "shown_public_names", set())):
        logging.getLogger(__name__).warning("public names on no page: %s", ", ".join(missing))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("public-names", PublicNames)
    app.connect("env-check-consistency", report_names_not_shown)
    return {"parallel_read_safe": False}
