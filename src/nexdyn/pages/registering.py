"""``nx.register``: a class of your own becomes a joint or a force like those of the package."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from nexdyn.checked_calls import checked_call
from nexdyn.describe import SECTIONS
from nexdyn.errors import InputError
from nexdyn.forces import FORCES
from nexdyn.joints import JOINTS
from nexdyn.model.joint import Joint
from nexdyn.pages.checks import check_effort, check_force, check_joint
from nexdyn.pages.force import EffortPage, ForcePage
from nexdyn.pages.joint import JointPage

Page = TypeVar("Page", bound=type)
BASES = (ForcePage, EffortPage, JointPage)


@checked_call
def register(page: Page) -> Page:
    """Make a page of your own known: then scene files have its `type`, and it is simulated, drawn and saved like those of the package.

    page: a class that derives from `nx.JointPage`, `nx.ForcePage` or `nx.EffortPage`, with a `kind` and its functions.

    Its functions are compiled and looked at with random motions. InputError names the page and what is wrong: a function that is missing,
    takes what is not given, cannot be compiled, gives no finite value or does not fit the others, and a `kind` that is taken. No kernel is
    compiled for it. The class is returned, so that ``@nx.register`` may stand above it; one that is registered again takes the place of
    that of the same name.
    """
    if not (inspect.isclass(page) and issubclass(page, BASES) and page not in BASES):
        shown = page.__name__ if inspect.isclass(page) else repr(page)
        raise InputError(
            f"nx.register takes a class that derives from nx.JointPage, nx.ForcePage or nx.EffortPage; {shown} does not"
        )
    of_any: Any = page
    kind = _kind_of(of_any)
    check = check_joint if issubclass(page, Joint) else check_force if issubclass(page, ForcePage) else check_effort
    check(of_any)
    table, section = (JOINTS, "joints") if issubclass(page, Joint) else (FORCES, "forces")
    for known in (table, SECTIONS[section][1]):
        known[kind] = of_any  # type: ignore[index]
    return page


def _kind_of(page: Any) -> str:
    """Its name in data; InputError for none, and for one that is taken."""
    kind = page.__dict__.get("kind")
    if not isinstance(kind, str) or not kind.isidentifier():
        raise InputError(
            f"kind of {page.__name__} is {kind!r}; a name like 'magnet' is needed, which is its type in scene files"
        )
    taken: Any = FORCES.get(kind) or JOINTS.get(kind)
    if taken is not None and not (issubclass(taken, BASES) and taken.__qualname__ == page.__qualname__):
        raise InputError(f"kind of {page.__name__} is {kind!r}, which {taken.__name__} has; choose another name")
    return kind


def forget(page: type) -> None:
    """Take a registered page away again."""
    of_any: Any = page
    tables: Any = (FORCES, JOINTS, SECTIONS["forces"][1], SECTIONS["joints"][1])
    for known in tables:
        if known.get(of_any.kind) is page:
            del known[of_any.kind]
