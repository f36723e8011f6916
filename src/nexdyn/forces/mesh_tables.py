"""The solids of triangles of all contacts, one behind the other, and room for the pairs of triangles that each contact keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nexdyn.forces.mesh_solid import Cell, Cells, Solid
from nexdyn.geometry.hierarchy import MOST_OPEN
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import Vec3

MOST_KEPT = 4096
"""How many sides of pairs a contact keeps at most."""


class KeptList(Record):
    """A row of `numbers`: c about B, the motion that the list allows: of c and of turning, the reach that it was found with, negative where
    it does not hold; where surfaces pressed last, about B, with which reach, and whether that is known."""

    centre: Vec3
    shift: float
    turn: float
    reach: float
    pressed: Vec3
    last: float
    known: float


KeptLists = rows_of(KeptList)


class Kept(NamedTuple):
    """Of each contact: `first` (n + 1,) row of `sides` (…, 3), of which each is a box of A, one of B, and 0 for the triangle of A in the
    cell of that of B, 1 for the other way round; `apart` (…, 2) how far its triangle reaches from c and how far both are apart; `count`
    (n, 2) how many there are and how often they were used; the pose (n, 12) of B in A at which they were found; `numbers`. np.zeros: what
    no contact uses takes no memory."""

    first: Any
    sides: Any
    apart: Any
    count: Any
    pose: Any
    numbers: Any


class Meshes(NamedTuple):
    """The tables of solids, `first` (n, 2) their first cell and node; the triangles that contacts keep, and scratch for a search."""

    first: Any
    cells: Any
    planes: Any
    nodes: Any
    child: Any
    kept: Kept
    open: Any


def kept_of(triangles: Sequence[tuple[int, int]]) -> Kept:
    """Room for contacts of two solids of so many triangles each, 1 of a half-space; nothing is kept yet."""
    n = len(triangles)
    first = np.cumsum([0, *(min(MOST_KEPT, 2 * a * b) for a, b in triangles)])
    numbers = np.zeros((n, KeptList.columns))
    KeptLists(numbers).reach[:] = -1.0
    rows = int(first[-1])
    sides, count = np.zeros((rows, 3), dtype=np.int64), np.zeros((n, 2), dtype=np.int64)
    return Kept(first, sides, np.zeros((rows, 2)), count, np.zeros((n, 12)), numbers)


def meshes_of(solids: Sequence[Solid], contacts: Sequence[tuple[int, int]]) -> Meshes:
    """The tables of solids, and of contacts of two of them, by their numbers; there may be none."""
    counts = [[0, 0], *([len(s.cells), len(s.nodes)] for s in solids)]
    first = np.cumsum(counts, axis=0)[: len(solids)]
    before, cells = 0, [np.zeros((0, Cell.columns))]
    for s in solids:
        cells.append(s.cells.copy())
        own = Cells(cells[-1])
        for column in (own.first, own.last):
            column += before
        before += len(s.planes)
    size = [*(len(s.cells) for s in solids), 1]  # of NO_MESH, which is −1
    return Meshes(
        first,
        np.vstack(cells),
        np.vstack([np.zeros((0, 4)), *(s.planes for s in solids)]),
        np.vstack([np.zeros((0, 6)), *(s.nodes for s in solids)]),
        np.concatenate([np.zeros(0, dtype=np.int64), *(s.child for s in solids)]),
        kept_of([(size[a], size[b]) for a, b in contacts]),
        np.zeros((2 * MOST_OPEN, 3), dtype=np.int64),
    )
