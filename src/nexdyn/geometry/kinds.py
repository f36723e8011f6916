"""The register of shapes: their pages, what a kernel asks of any of them, and the tables that kernels read."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.geometry import box, capsule, cone, cylinder, ellipsoid, half_space, hull, sphere
from nexdyn.geometry.solid import (
    BOX,
    COLUMNS,
    CONE,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HULL,
    SEGMENT,
    Massive,
    Page,
)  # fmt: skip
from nexdyn.kernel import formula

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


@formula
def support(s, tables, n):  # type: ignore[no-untyped-def]
    """A point of the core of `s` that is farthest along n."""
    if s.kind == BOX:
        return box.support(s, n)
    if s.kind == HULL:
        return hull.support(s, tables.vertices, n)
    if s.kind == SEGMENT:
        return capsule.support(s, n)
    if s.kind == CYLINDER:
        return cylinder.support(s, n)
    if s.kind == CONE:
        return cone.support(s, n)
    if s.kind == ELLIPSOID:
        return ellipsoid.support(s, n)
    return sphere.support(s, n)


@formula
def excess(s, tables, x):  # type: ignore[no-untyped-def]
    """How far x is outside the core of `s` at the least; 0 inside."""
    if s.kind == BOX:
        return box.excess(s, x)
    if s.kind == HULL:
        return hull.excess(s, tables.faces, x)
    if s.kind == SEGMENT:
        return capsule.excess(s, x)
    if s.kind == CYLINDER:
        return cylinder.excess(s, x)
    if s.kind == CONE:
        return cone.excess(s, x)
    if s.kind == ELLIPSOID:
        return ellipsoid.excess(s, x)
    return sphere.excess(s, x)


@formula
def has_nearest(kind):  # type: ignore[no-untyped-def]
    """Whether the page has a closed form of the nearest point."""
    return kind != ELLIPSOID and kind != HULL


if {_page.kind for _page in PAGES.values() if _page.nearest is None} != {ELLIPSOID, HULL}:
    raise TypeError("pages of shapes: has_nearest and the pages disagree")


@formula
def nearest(s, x):  # type: ignore[no-untyped-def]
    """Signed distance of x to the core of `s`, and the outward unit normal there; for pages with a closed form."""
    if s.kind == BOX:
        return box.nearest(s, x)
    if s.kind == SEGMENT:
        return capsule.nearest(s, x)
    if s.kind == CYLINDER:
        return cylinder.nearest(s, x)
    if s.kind == CONE:
        return cone.nearest(s, x)
    if s.kind == HALF_SPACE:
        return half_space.nearest(s, x)
    return sphere.nearest(s, x)


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
