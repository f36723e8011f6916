"""The broad phase: which of many shapes are near each other, in time proportional to their number.

    bounds       boxes along the axes of the world, from the support functions: ±h(±e) and the margin
    candidates   pairs whose fat boxes (those of `bounds`, wider by a margin on all sides) overlap, after filters
    near         those candidates whose boxes overlap; as long as no box has left its fat one, they are all there are

Candidates come from grids, one for each power of two that the largest box is wider than others: a box lies in the cell of its
centre, in the grid whose cells are up to twice as wide as it, and looks for others in that grid and in the coarser
ones. Boxes lie in memory in the order of their cells: blocks of cells in a row along x come to one place of a hash table, so that those of
neighbouring cells are read one after another.

What is near is told while candidates are sought, and sorted alone; the candidates are sorted when they are first kept.

Boxes without end (half-spaces) are held against all. Pairs (i, j), i < j, are sorted, so that they depend on
the boxes alone, and `near` not even on the margin.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.geometry.kinds import Tables, support
from nexdyn.geometry.narrow import ANSWER, distances_among, work
from nexdyn.geometry.solid import HALF_SPACE, solid_of
from nexdyn.kernel import formula, kernel
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import T, Vec3
from nexdyn.spatial.table import PoseRows

FOUND, TOO_LITTLE_ROOM, NOT_FINITE = 0, 1, 2
GRIDS = 48
"""Of cells 1, 1/2, 1/4, … of the largest box; smaller boxes lie in the last."""
FARTHEST = 1e15
"""Cells from the origin to the last of a grid."""
BLOCK = 3
"""2ᵏ cells in a row along x stand together."""


class Filters(NamedTuple):
    """body (n,): shapes of one body are no pair. group, mask (n,): i and j are one where group_i & mask_j and
    group_j & mask_i are not 0. apart (k,): bodies i < j that are none, as the sorted numbers i · bodies + j. none: all are pairs."""

    body: np.ndarray
    group: np.ndarray
    mask: np.ndarray
    apart: np.ndarray
    bodies: int
    none: bool


class Box(NamedTuple):
    """All points with low ≤ x ≤ high."""

    low: Vec3
    high: Vec3


class Placed(Record):
    """A row in the order of the cells: fat box, cell, grid, box."""

    fat: Box
    x: float
    y: float
    z: float
    grid: float
    box: Box


PlacedBoxes = rows_of(Placed)


class Found(NamedTuple):
    """How many candidates there are, and how many of them are near."""

    candidates: int
    near: int


class Room(NamedTuple):
    """What `near` works in: fat boxes and their cells; in the order of the cells `Placed`; where each cell begins in that order; how many
    boxes lie in each grid, and how many (1,) are without end; candidates and two spare lists of pairs; state: how many candidates, -1 for
    none known, and whether they are sorted."""

    fat: np.ndarray
    cell: np.ndarray
    placed: np.ndarray
    home: np.ndarray
    order: np.ndarray
    begin: np.ndarray
    grid: np.ndarray
    endless: np.ndarray
    strides: np.ndarray
    begin_of: np.ndarray
    candidates: np.ndarray
    spare: np.ndarray
    half: np.ndarray
    state: np.ndarray


def room(shapes: int, pairs: int) -> Room:
    """Room for so many shapes and candidate pairs."""
    bits = max(4, (4 * shapes).bit_length())
    return Room(
        fat=np.full((shapes, 6), np.nan),
        cell=np.zeros((shapes, 4), dtype=np.int64),
        placed=np.zeros((shapes, Placed.columns)),
        home=np.zeros(shapes, dtype=np.int64),
        order=np.zeros(shapes, dtype=np.int64),
        begin=np.zeros((1 << bits) + 2, dtype=np.int32),
        grid=np.zeros(GRIDS, dtype=np.int64),
        endless=np.zeros(1, dtype=np.int64),
        strides=np.full((GRIDS, 3), bits - BLOCK),
        begin_of=np.zeros(shapes + 1, dtype=np.int64),
        candidates=np.zeros((pairs, 2), dtype=np.int32),
        spare=np.zeros((pairs, 2), dtype=np.int32),
        half=np.zeros((pairs, 2), dtype=np.int32),
        state=np.array([-1, 0]),
    )


@formula
def reach(s, tables, X, e):
    """max e·x over the shape in pose X, for an axis e of the world."""
    n = T(X.R) @ e
    if s.kind == HALF_SPACE:
        return e @ X.p + (0.0 if n.z == 1.0 else math.inf)
    return e @ X.p + n @ support(s, tables, n) + s.margin


@kernel
def bounds(tables, shapes, poses, boxes):
    """boxes (n, 6) = least and most x, y, z [m] of shapes (n,) of the tables in poses (n, 12)."""
    X = PoseRows(poses, 0)
    ex, ey, ez = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)
    for i in range(len(shapes)):
        s, P = solid_of(tables.shapes, shapes[i]), X[i]
        for c in range(3):
            e = ex if c == 0 else ey if c == 1 else ez
            boxes[i, c], boxes[i, 3 + c] = -reach(s, tables, P, -e), reach(s, tables, P, e)


@formula
def box_of(rows, i):
    """The box in row i."""
    return Box(Vec3(rows[i, 0], rows[i, 1], rows[i, 2]), Vec3(rows[i, 3], rows[i, 4], rows[i, 5]))


@formula
def overlap(P, Q):
    """Whether boxes touch or overlap; all six are compared, for a guess that fails costs more."""
    return (
        (P.low.x <= Q.high.x) & (Q.low.x <= P.high.x)
        & (P.low.y <= Q.high.y) & (Q.low.y <= P.high.y)
        & (P.low.z <= Q.high.z) & (Q.low.z <= P.high.z)
    )  # fmt: skip


@formula
def allowed(filters, i, j):
    """Whether the filters let i and j be a pair."""
    if filters.none:
        return True
    p, q = filters.body[i], filters.body[j]
    if p == q or filters.group[i] & filters.mask[j] == 0 or filters.group[j] & filters.mask[i] == 0:
        return False
    key = min(p, q) * filters.bodies + max(p, q)
    low, high = 0, len(filters.apart)
    while low < high:
        middle = (low + high) // 2
        if filters.apart[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low == len(filters.apart) or filters.apart[low] != key


@formula
def bucket(strides, grid, x, y, z, size):
    """The place of a cell in a table of `size`, a power of two; those of a block stand in a row.

    Blocks stand as in space, row by row and layer by layer, as far as the table reaches; what is beyond comes back into it, scattered
    by the golden ratio (Knuth 1998, 6.4)."""
    h = (x >> BLOCK) + strides[grid, 0] * (y + strides[grid, 1] * z)
    beyond = (h >> strides[grid, 2]) + grid & (1 << 31) - 1
    return ((h + (beyond * 2654435769 >> 16)) << BLOCK & (size - 1)) + (x & (1 << BLOCK) - 1)


@formula
def note(room, found, i, j, candidate, touch):
    """Count a pair that is a `candidate`, and among the near ones where its boxes `touch`; written where there is room.

    Without a branch on either: what does not count is written over."""
    first, second = min(i, j), max(i, j)
    if found.candidates < len(room.candidates):
        room.candidates[found.candidates, 0], room.candidates[found.candidates, 1] = first, second
        room.spare[found.near, 0], room.spare[found.near, 1] = first, second
    return Found(found.candidates + (1 if candidate else 0), found.near + (1 if candidate & touch else 0))


@formula
def sorted_by(column, pairs, count, n, begin, out):
    """Pairs in the order of a column, equal ones in the order they had: a counting sort."""
    begin[:] = 0
    for k in range(count):
        begin[pairs[k, column] + 1] += 1
    for i in range(n):
        begin[i + 1] += begin[i]
    for k in range(count):
        value = pairs[k, column]
        at = begin[value]
        begin[value] = at + 1
        out[at, 0], out[at, 1] = pairs[k, 0], pairs[k, 1]


@formula
def place(boxes, room, n):
    """Put all fat boxes into their cells; the width of the coarsest grid's cells."""
    fat = room.fat
    largest, farthest = 0.0, 0.0
    left, right, front, back = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        w = max(fat[i, 3] - fat[i, 0], fat[i, 4] - fat[i, 1], fat[i, 5] - fat[i, 2])
        if w < math.inf:
            largest = max(largest, w)
            for c in range(6):
                farthest = max(farthest, abs(fat[i, c]))
            left, right = min(left, fat[i, 0]), max(right, fat[i, 3])
            front, back = min(front, fat[i, 1]), max(back, fat[i, 4])
    largest = max(largest, farthest / FARTHEST, 1e-300)
    across, along = (right - left) / largest, (back - front) / largest
    for g in range(GRIDS):
        # odd, so that every layer and row begins elsewhere; a cell lies beyond the last where a block is begun
        room.strides[g, 0] = (int(min(across, FARTHEST)) >> BLOCK) + 1 | 1
        room.strides[g, 1] = int(min(along, FARTHEST)) + 1 | 1
        across, along = 2.0 * across, 2.0 * along
    begin, size, cell = room.begin, len(room.begin) - 2, room.cell
    begin[:] = 0
    room.grid[:] = 0
    room.endless[0] = 0
    for i in range(n):
        w = max(fat[i, 3] - fat[i, 0], fat[i, 4] - fat[i, 1], fat[i, 5] - fat[i, 2])
        room.home[i] = -1
        if not w < math.inf:
            room.endless[0] += 1
            continue
        g, width = 0, largest
        while g < GRIDS - 1 and 0.5 * width >= w and farthest < 0.5 * width * FARTHEST:
            g, width = g + 1, 0.5 * width
        room.grid[g] += 1
        cell[i, 3], per = g, 1.0 / width
        for c in range(3):
            cell[i, c] = math.floor((0.5 * fat[i, c] + 0.5 * fat[i, 3 + c]) * per)
        b = bucket(room.strides, g, int(cell[i, 0]), int(cell[i, 1]), int(cell[i, 2]), size)
        room.home[i] = b
        begin[b + 1] += 1
    for b in range(1, size + 2):
        begin[b] += begin[b - 1]
    for i in range(n - 1, -1, -1):  # from behind: begin[b + 1] goes from the end of b to where it begins
        b = room.home[i]
        if b >= 0:
            begin[b + 1] -= 1
            at = begin[b + 1]
            room.order[at] = i
            row = PlacedBoxes(room.placed)[at]
            row.fat, row.box = box_of(fat, i), box_of(boxes, i)
            row.x, row.y, row.z, row.grid = float(cell[i, 0]), float(cell[i, 1]), float(cell[i, 2]), float(cell[i, 3])
    return largest


@formula
def in_row(room, filters, k, P, fat, own, x0, x1, y, z, g, found):
    """Note the partners of the box P at place k in cells x0 to x1 at y, z of grid g; where x0 is its `own` cell, of that the later ones."""
    placed, order, size = PlacedBoxes(room.placed), room.order, len(room.begin) - 2
    later, x = k if own else -1, x0
    while x <= x1:
        to = min(x1, x | (1 << BLOCK) - 1)
        b = bucket(room.strides, g, x, y, z, size) + 1
        for m in range(room.begin[b], room.begin[b + 1 + to - x]):
            # blocks that share a place are one: the cell tells them apart
            row = placed[m]
            candidate = (
                overlap(fat, row.fat) & (row.y == y) & (row.z == z) & (row.grid == g)
                & (row.x >= x) & (row.x <= to) & ((m > later) | (row.x != x0))
            )  # fmt: skip
            if not filters.none:
                candidate = candidate and allowed(filters, order[k], order[m])
            found = note(room, found, order[k], order[m], candidate, overlap(P, row.box))
        x = to + 1
    return found


@formula
def in_grid(room, filters, k, g, width, found):
    """Note all partners of the box at place k in grid g; of those in its own grid the ones in its cell and later cells."""
    row = PlacedBoxes(room.placed)[k]
    fat, P = row.fat, row.box
    half, per, own = 0.5 * width * (1.0 + 1e-9), 1.0 / width, row.grid == g
    cx, cy, cz = int(row.x), int(row.y), int(row.z)
    x0, x1 = math.floor((fat.low.x - half) * per), math.floor((fat.high.x + half) * per)
    y0, y1 = math.floor((fat.low.y - half) * per), math.floor((fat.high.y + half) * per)
    z0, z1 = math.floor((fat.low.z - half) * per), math.floor((fat.high.z + half) * per)
    for z in range(cz if own else z0, z1 + 1):
        for y in range(cy if own and z == cz else y0, y1 + 1):
            first = own and z == cz and y == cy
            found = in_row(room, filters, k, P, fat, first, cx if first else x0, x1, y, z, g, found)
    return found


@formula
def seek(boxes, room, filters, n):
    """Find all candidates, whether there is room or not, and those that are near."""
    width, found = place(boxes, room, n), Found(0, 0)
    for g in range(GRIDS):
        if room.grid[g] > 0:
            for k in range(n - room.endless[0]):
                if PlacedBoxes(room.placed)[k].grid >= g:
                    found = in_grid(room, filters, k, g, width, found)
        width *= 0.5
    if room.endless[0] > 0:
        for i in range(n):
            if room.home[i] < 0:
                P, fat = box_of(boxes, i), box_of(room.fat, i)
                for j in range(n):
                    if (j > i or room.home[j] >= 0) and overlap(fat, box_of(room.fat, j)) and allowed(filters, i, j):
                        found = note(room, found, i, j, True, overlap(P, box_of(boxes, j)))
    return found


@formula
def within(boxes, fat, n):
    """Whether no box has left its fat one; a fat box that is not known holds nothing."""
    for i in range(n):
        for c in range(3):
            if not (fat[i, c] <= boxes[i, c] and boxes[i, 3 + c] <= fat[i, 3 + c]):
                return False
    return True


@kernel
def near(boxes, filters, margin, room, pairs):
    """(status, count): pairs (·, 2) of boxes (n, 6) that touch or overlap, i < j, sorted.

    TOO_LITTLE_ROOM: `count` pairs need room, in `pairs` and in `room`. NOT_FINITE: box `count` is not a number.
    The candidates in `room` are kept while no box has moved farther than `margin` [m]; filters that change need a new room."""
    n = len(boxes)
    if room.state[0] < 0 or not within(boxes, room.fat, n):
        room.state[0], room.state[1] = -1, 0
        for i in range(n):
            for c in range(3):
                low, high = boxes[i, c], boxes[i, 3 + c]
                if not low <= high or low == math.inf or high == -math.inf:
                    return NOT_FINITE, i
                room.fat[i, c], room.fat[i, 3 + c] = low - margin, high + margin
        found = seek(boxes, room, filters, n)
        if found.candidates > len(room.candidates):
            return TOO_LITTLE_ROOM, found.candidates
        room.state[0] = found.candidates
        if found.near <= len(pairs):
            sorted_by(1, room.spare, found.near, n, room.begin_of, room.half)
            sorted_by(0, room.half, found.near, n, room.begin_of, pairs)
            return FOUND, found.near
    if room.state[1] == 0:
        sorted_by(1, room.candidates, room.state[0], n, room.begin_of, room.spare)
        sorted_by(0, room.spare, room.state[0], n, room.begin_of, room.candidates)
        room.state[1] = 1
    count = 0
    if len(pairs) > room.state[0]:  # there is room for all: written without a branch, and counted where they overlap
        for k in range(room.state[0]):
            i, j = room.candidates[k, 0], room.candidates[k, 1]
            pairs[count, 0], pairs[count, 1] = i, j
            count += 1 if overlap(box_of(boxes, i), box_of(boxes, j)) else 0
        return FOUND, count
    for k in range(room.state[0]):
        i, j = room.candidates[k, 0], room.candidates[k, 1]
        if overlap(box_of(boxes, i), box_of(boxes, j)):
            if count < len(pairs):
                pairs[count, 0], pairs[count, 1] = i, j
            count += 1
    return (FOUND if count <= len(pairs) else TOO_LITTLE_ROOM), count


class Crowd:
    """Many shapes and the pairs of them that are near; grows its room as needed.

    tables: of a Catalogue. shapes (n,): their numbers there. body (n,): bodies, by default each shape its own. group, mask
    (n,): bits (see Filters), by default all. apart: pairs of bodies that never meet. margin [m]: how far shapes move
    until candidates are sought again.
    """

    def __init__(
        self, tables: Tables, shapes: Any, *, body: Any = None, group: Any = None, mask: Any = None,
        apart: Any = (), margin: float = 0.0,
    ) -> None:  # fmt: skip
        self.tables = tables
        self.shapes = _numbers(shapes, "shapes", None)
        n = len(self.shapes)
        wrong = (self.shapes < 0) | (self.shapes >= len(tables.shapes))
        if wrong.any():
            raise InputError(
                f"shapes[{wrong.argmax()}] is {self.shapes[wrong.argmax()]}; there are {len(tables.shapes)}"
            )
        if not 0.0 <= margin < np.inf:
            raise InputError(f"margin is {margin!r}; a length of 0 or more is needed")
        bodies = _numbers(np.arange(n) if body is None else body, "body", n)
        if n and bodies.min() < 0:
            raise InputError(f"body[{bodies.argmin()}] is {bodies.min()}; numbers from 0 are needed")
        every = np.full(n, -1)
        count = int(bodies.max(initial=0)) + 1
        pairs = np.array(apart, dtype=np.int64).reshape(-1, 2)
        if pairs.size and not (0 <= pairs.min() and pairs.max() < count):
            raise InputError(f"apart names body {pairs.min() if pairs.min() < 0 else pairs.max()}; there are {count}")
        low, high = pairs.min(axis=1, initial=count), pairs.max(axis=1, initial=-1)
        self.filters = Filters(
            bodies, _numbers(every if group is None else group, "group", n),
            _numbers(every if mask is None else mask, "mask", n), np.unique(low * count + high), count,
            none=body is None and group is None and mask is None and not pairs.size,
        )  # fmt: skip
        self.margin = float(margin)
        self.boxes = np.zeros((n, 6))
        self._room, self._pairs = room(n, 8 * n + 8), np.zeros((8 * n + 8, 2), dtype=np.int64)
        self._work, self._known = work(), [_answers(0), _answers(0)]
        self._found = 0

    def near(self, poses: np.ndarray) -> np.ndarray:
        """Pairs (m, 2) of shapes whose boxes touch or overlap in poses (n, 12), sorted; valid until the next call.

        InputError for a pose that is not finite."""
        if np.shape(poses) != (len(self.shapes), 12):
            raise InputError(f"poses have shape {np.shape(poses)}; ({len(self.shapes)}, 12) is needed")
        bounds(self.tables, self.shapes, poses, self.boxes)
        while True:
            status, count = near(self.boxes, self.filters, self.margin, self._room, self._pairs)
            if status == NOT_FINITE:
                raise InputError(f"the pose of shape {count} is not finite")
            if status == FOUND:
                return self._pairs[:count]
            self._room = room(len(self.shapes), count + count // 2)
            self._pairs = np.zeros((count + count // 2, 2), dtype=np.int64)

    def distances(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs (m, 2) that are near in poses (n, 12), their answers (m, ANSWER) and status (m,), as `narrow.distances` has them.

        The search of a pair begins at its answer of the last call. Valid until the call after the next.
        InputError for a pose that is not finite."""
        pairs = self.near(poses)
        before, m = self._known[0], len(pairs)
        if m > len(self._known[1][0]):
            self._known[1] = _answers(m + m // 2)
        now = self._known[1]
        now[0][:m] = pairs
        distances_among(
            self.tables,
            self.shapes,
            pairs,
            poses,
            before[0][: self._found],
            before[1],
            self._work,
            now[1][:m],
            now[2][:m],
        )
        self._known, self._found = [now, before], m
        return now[0][:m], now[1][:m], now[2][:m]


def _answers(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Room for pairs, answers and status."""
    return np.zeros((count, 2), dtype=np.int64), np.zeros((count, ANSWER)), np.zeros(count, dtype=np.int64)


def _numbers(x: Any, what: str, n: int | None) -> np.ndarray:
    """`x` as whole numbers (n,); InputError otherwise."""
    found = np.asarray(x)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu") or n not in (None, len(found)):
        raise InputError(f"{what} is {x!r:.80}; whole numbers ({'n' if n is None else n},) are needed")
    return np.ascontiguousarray(found, dtype=np.int64)
