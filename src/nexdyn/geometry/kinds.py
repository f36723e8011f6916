"""The register of shapes: their pages, what a kernel asks of any of them, and the tables that kernels read."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.geometry import box, capsule, cone, cylinder, ellipsoid, half_space, hull, sphere
from nexdyn.geometry.dispatch import fact, verb
from nexdyn.geometry.solid import COLUMNS, HULL, Massive, Page

PAGES: dict[str, Page] = {
    page.name: page
    for page in (
        half_space.PAGE, sphere.PAGE, capsule.PAGE, box.PAGE, cylinder.PAGE, cone.PAGE, ellipsoid.PAGE, hull.PAGE,
    )
}  # fmt: skip
if [page.kind for page in PAGES.values()] != list(range(len(PAGES))):
    raise TypeError("pages of shapes: kinds must be 0, 1, 2, … in the order of the register")
for _page in PAGES.values():
    if tuple(inspect.signature(_page.made).parameters) != _page.sizes:
        raise TypeError(f"the page of {_page.name} makes it from other arguments than {_page.sizes}")


_pages = tuple(PAGES.values())
support = verb("support", ("s", "tables", "n"), _pages)
"""A point of the core of `s` that is farthest along n."""
excess = verb("excess", ("s", "tables", "x"), _pages)
"""How far x is outside the core of `s` at the least; 0 inside."""
has_nearest = fact("has_nearest", lambda page: page.nearest is not None, _pages)
"""Whether the page of a kind has a closed form of the nearest point."""
nearest = verb("nearest", ("s", "tables", "x"), [page for page in _pages if page.nearest is not None])
"""Signed distance of x to the core of `s`, and the outward unit normal there; for pages with a closed form."""
is_round = fact("is_round", lambda page: page.round, _pages)
"""Whether features of a kind are not spanned by support points."""


class Tables(NamedTuple):
    """What kernels read: shapes (n, COLUMNS), vertices (nv, 3) and faces (nf, 4) of the hulls among them."""

    shapes: np.ndarray
    vertices: np.ndarray
    faces: np.ndarray


class Catalogue:
    """Shapes by number, for kernels. `add` gives each its number; `tables` what kernels read."""

    def __init__(self) -> None:
        self._rows: list[list[float]] = []
        self._vertices: list[np.ndarray] = []
        self._faces: list[np.ndarray] = []
        self._made: list[tuple[Page, dict[str, Any]]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, name: str, **sizes: Any) -> int:
        """The number of a new shape: its page's name and the sizes [m] that the page lists.

        InputError for an unknown name, a size that is missing or not the shape's, or one that makes no shape.
        """
        page = PAGES.get(name)
        if page is None:
            raise unknown("shape", name, PAGES)
        if set(sizes) != set(page.sizes):
            given, needed = ", ".join(sizes) or "nothing", ", ".join(page.sizes) or "nothing"
            raise InputError(f"a {name} is made from {needed}; {given} is given")
        vertices, faces = np.empty((0, 3)), np.empty((0, 4))
        if page.kind == HULL:
            vertices, faces, _ = hull.surface(**sizes)
        first, first_face = sum(map(len, self._vertices)), sum(map(len, self._faces))
        size, margin, radius = page.made(**sizes)
        self._rows.append(
            [page.kind, *size, margin, radius, first, first + len(vertices), first_face, first_face + len(faces)]
        )
        self._vertices.append(vertices)
        self._faces.append(faces)
        self._made.append((page, sizes))
        return len(self._rows) - 1

    def tables(self) -> Tables:
        """The tables of all shapes added so far."""
        shapes = np.array(self._rows, dtype=float).reshape(-1, COLUMNS)
        vertices = np.vstack([np.zeros((1, 3)), *self._vertices])[1:]
        return Tables(shapes, np.ascontiguousarray(vertices), np.vstack([np.zeros((1, 4)), *self._faces])[1:].copy())

    def massive(self, i: int) -> Massive:
        """Volume, centre and inertia per density of shape `i`; InputError for one without volume."""
        page, sizes = self._made[i]
        if page.massive is None:
            raise InputError(f"a {page.name} has no volume")
        return page.massive(**sizes)

    def curvatures(self, i: int, x: Any, n: Any) -> tuple[float, float]:
        """Principal curvatures [1/m] of shape `i` at the point x (3,) with outward normal n (3,), in its own frame.

        The smaller first; inf across an edge, at a rim and at a vertex."""
        page, sizes = self._made[i]
        first, second = page.curvatures(np.asarray(x, dtype=float), np.asarray(n, dtype=float), **sizes)
        return (first, second) if first <= second else (second, first)
