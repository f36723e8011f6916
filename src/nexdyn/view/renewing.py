"""Nodes of a scene that is laid out anew: what comes again as it was stays in the browsers, which need not build it again.

A node is kept where it is added again under its name with the same surface, text, colours …; where it stands, how far it is stretched
and how opaque it is are told anew, see `TOLD`. What is not added again goes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

TOLD = (
    "batched_wxyzs",
    "batched_positions",
    "batched_scales",
    "points",
    "opacity",
    "wxyz",
    "position",
)
"""What a node that is kept is told, as far as it has it."""
OF_SCENE = "/motion/"
"""What goes where it is not added again."""


class _Node(NamedTuple):
    handle: Any
    made_by: str
    fixed: dict[str, Any]


class Renewing:
    """The scene of a server [viser's SceneApi], of which it has all that it does not say itself."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._nodes: dict[str, _Node] = {}
        self._stale: set[str] = set()

    @contextmanager
    def anew(self) -> Iterator[Renewing]:
        """Lay the scene out anew within."""
        self._stale = {name for name in self._nodes if name.startswith(OF_SCENE)}
        yield self
        for name in sorted(self._stale, key=lambda name: -name.count("/")):
            node = self._nodes.pop(name)
            if not _gone(node.handle):
                node.handle.remove()
        self._stale = set()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._scene, name)
        if not name.startswith("add_"):
            return found
        signature = inspect.signature(found)

        def add(*given: Any, **named: Any) -> Any:
            bound = signature.bind(*given, **named)
            bound.apply_defaults()
            return self._add(name, lambda: found(*given, **named), dict(bound.arguments))

        return add

    def _add(self, made_by: str, add: Callable[[], Any], given: dict[str, Any]) -> Any:
        node = given["name"]
        fixed = {key: x for key, x in given.items() if key not in (*TOLD, "visible")}
        told = {key: given[key] for key in TOLD if key in given}
        known = self._nodes.get(node)
        self._stale.discard(node)
        if known is not None and not _gone(known.handle) and known.made_by == made_by and _same(known.fixed, fixed):
            handle = known.handle
            if all(_as_long(getattr(handle, key), x) for key, x in told.items()):
                for key, x in told.items():
                    setattr(handle, key, x)
                return handle
        handle = add()
        self._nodes[node] = _Node(handle, made_by, fixed)
        return handle


def _gone(handle: Any) -> bool:
    return bool(handle._impl.removed)


def _same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(x is b[key] or bool(np.array_equal(x, b[key])) for key, x in a.items())


def _as_long(now: Any, given: Any) -> bool:
    """Whether a node can be told this: as many instances as it has, or none as before."""
    if (now is None) != (given is None):
        return given is None or np.ndim(given) == 0
    return np.shape(now) == np.shape(given)
