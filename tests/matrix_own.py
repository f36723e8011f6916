"""Forces of one's own in the matrix: pages that are registered only while a file is read or written, so that other tests meet none.

`as_pages` are their elements; `registered(system)` makes those of a system known to scenes and results in files.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from matrix_skeleton import Element, closed, hung, skeleton
from pages_lab import Linear, OwnSpring

import nexdyn as nx
from nexdyn.pages.registering import forget


@functools.cache
def checked(page: type) -> type:
    """A page that has been registered once, and is known no more."""
    nx.register(page)
    forget(page)
    return page


@contextmanager
def registered(system: nx.System) -> Iterator[None]:
    """The pages of a system are known here."""
    pages = {type(force) for force in system.forces.values() if isinstance(force, nx.ForcePage | nx.EffortPage)}
    for page in pages:
        nx.register(page)
    try:
        yield
    finally:
        for page in pages:
            forget(page)


def _page(name: str, page: Any, base: dict[str, Any], changes: dict[str, Any], part_of: str) -> Element:
    def make(carrier: str, given: dict[str, Any]) -> nx.System:
        system, own = hung(skeleton(carrier)), dict(given)
        ends = [own.pop("joint", "tested")] if issubclass(page, nx.EffortPage) else [own.pop(x, y) for x, y in ENDS]
        system.add_force(checked(page)("acting", *ends, **own))
        return closed(system, carrier)

    return Element(name, page, base, changes, make, part_of=part_of)


ENDS = (("a", "hand"), ("b", "ground"))
PLACED = {"anchor_a": (0.1, 0.05, 0.0), "anchor_b": (0.4, -0.5, 0.4)}
AS_PAGES = (
    _page(
        "force point_spring as a page of one's own",
        OwnSpring,
        {"stiffness": 12.0, "damping": 0.6, "length": 0.3, **PLACED},
        {
            "stiffness": 30.0,
            "damping": 3.0,
            "length": 0.9,
            "a": "arm",
            "anchor_a": (0.0, -0.2, 0.1),
            "anchor_b": (-0.2, 0.3, 0.9),
        },
        "force point_spring",
    ),
    _page(
        "force user_joint_force as a page of one's own",
        Linear,
        {"k": 4.0, "d": 0.1},
        {"k": 30.0, "d": 1.5},
        "force user_joint_force",
    ),
)
