"""Pairs of triangles that may press on each other, kept from one evaluation to the next while two solids move little.

Polygons of triangle f in the cell of t (``mesh_overlap``) are looked for in a list, which was found at pose X₀ with a ``Play`` about the
point c where the solids pressed last. It has all pairs whose boxes are within √3 (a + b ρ) of the reach, and of which f comes into the
cell when each plane of this is moved out by a + b ρ_f, ρ_f of the farthest corner of f from c; and so all that press until

    |X c_B − X₀ c_B| > a     or     |R − R₀|₂ = |R − R₀|_F/√2 > b

Then it is found anew, for a motion LIFE times as large as that of one evaluation was as a mean. Where no boxes are within, a and b become
as large as the nearest of them allow.

What is in the list and does not press counts nothing, and pairs come in one order, by their numbers: as the searches in cells find them,
and sorted where the search for boxes that are near found them. So forces are the same to the last bit whatever is kept: after any jump, in
the differences that make a tangent, in a run cut in two. Where a list would be too long, it is looked at part by part, and not kept.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from nexdyn.forces.mesh_overlap import misses, nothing, polygon_in_cell, separation
from nexdyn.forces.mesh_search import (
    LONG,
    NEAR,
    ROUNDING,
    START,
    Play,
    inverse,
    is_within,
    next_boxes,
    part_of,
    reaching,
    start,
    start_in_cells,
    triangle_in,
)
from nexdyn.forces.mesh_solid import NO_MESH, corner
from nexdyn.forces.mesh_tables import KeptLists
from nexdyn.forces.overlap import UNBOUNDED
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import T, norm, plus_turned
from nexdyn.spatial.table import PoseRows

LIFE, MOST_PLAY, LEAST_PLAY, LEVER = 64.0, 2e-3, 1e-9, 0.1
"""For how many evaluations a list is to hold; parts of the smaller solid: the most that a list allows to move, and what it allows where
eight evaluations would move so far; how far from c that is."""
TOO_LONG = -2.0
"""The reach of a list that is too long."""
LEAST_SHARE, SHORTER = 0.1, 0.25
"""The least part of what a list allows to move that is that of c, and that of turning; what of it a list allows after one too long."""


class Entry(NamedTuple):
    """A row of the list, where it ends, how many pairs of boxes are left to look at, and the motion since it was found; boxes i of A and j
    of B, and which side."""

    row: int
    end: int
    left: int
    shift: float
    turn: float
    i: int
    j: int
    one: int


@formula
def moved(X, X0, c):
    """|X c − X₀ c| and |R − R₀|₂."""
    R, Q = X.R, X0.R
    square = (
        (R.xx - Q.xx) ** 2 + (R.xy - Q.xy) ** 2 + (R.xz - Q.xz) ** 2 + (R.yx - Q.yx) ** 2 + (R.yy - Q.yy) ** 2
        + (R.yz - Q.yz) ** 2 + (R.zx - Q.zx) ** 2 + (R.zy - Q.zy) ** 2 + (R.zz - Q.zz) ** 2
    )  # fmt: skip
    return norm(plus_turned(X.p, X.R, c) - plus_turned(X0.p, X0.R, c)), sqrt(0.5 * square)


@formula
def far_corner(cells, f, c):
    """ρ_f."""
    return max(norm(corner(cells, f, 0) - c), max(norm(corner(cells, f, 1) - c), norm(corner(cells, f, 2) - c)))


@formula
def poses_of(X, one):
    """The pose of A in B (one = 0), or of B in A."""
    return inverse(X) if one == 0 else X


@outlined
def may_press(meshes, rows, walk, play, f, t, one):
    """(whether triangle f of A comes into the cell of t of B while the list holds, or t into that of f; ρ; how far apart they are)."""
    if walk.a == NO_MESH or walk.b == NO_MESH:
        return True, 0.0, -1.0
    own, other, c = (f, t, play.c_a) if one == 0 else (t, f, play.c_b)
    far = far_corner(meshes.cells, own, c)
    wider = play.shift + play.turn * far
    apart = separation(meshes, own, other, poses_of(walk.X, one), walk.reach, wider)
    if apart > wider:
        return False, far, apart
    side, _ = side_of(meshes, rows, walk, one, f, t, wider)
    return side.corners > 2, far, apart


@formula
def first_entry(meshes, rows, walk):
    """The first side of the list that may press; one = −1 where there is none."""
    left, shift, turn = ready(meshes, rows, walk)
    first = meshes.kept.first[walk.kept]
    end = first + meshes.kept.count[walk.kept, 0]
    return next_entry(meshes, rows, walk, Entry(first - 1, end, left, shift, turn, 0, 0, 0))


@formula
def next_entry(meshes, rows, walk, entry):
    """The next, past those that are farther apart than anything has moved."""
    kept, row, end, left, shift, turn = meshes.kept, entry.row + 1, entry.end, entry.left, entry.shift, entry.turn
    while row < end or left > 0:
        if row == end:
            left = go_on(meshes, rows, walk, left)
            row = kept.first[walk.kept]
            end = row + kept.count[walk.kept, 0]
        elif shift + turn * kept.apart[row, 0] < kept.apart[row, 1]:
            row += 1
        else:
            return Entry(row, end, left, shift, turn, kept.sides[row, 0], kept.sides[row, 1], kept.sides[row, 2])
    return Entry(row, end, 0, shift, turn, -1, -1, -1)


@formula
def pressing_side(meshes, rows, walk, entry):
    """(Side, whether it ends at the reach) of an entry."""
    f, t = triangle_in(meshes, walk.a, entry.i), triangle_in(meshes, walk.b, entry.j)
    side, ends = side_of(meshes, rows, walk, entry.one, f, t, 0.0)
    if side.corners > 2 and not is_within(meshes, walk, entry.i, entry.j):
        return nothing(), False
    return side, ends


@formula
def pressed_at(meshes, walk, x):
    """Remember that solids press about x, about o, within the reach."""
    own = KeptLists(meshes.kept.numbers)[walk.kept]
    own.pressed, own.last, own.known = T(walk.about_b.R) @ (x - walk.about_b.p), walk.reach, 1.0


@formula
def side_of(meshes, rows, walk, one, f, t, wider):
    """(Side, whether it ends at the reach): what triangle f of A has in the cell of t of B (one = 0), or the other way round (one = 1)."""
    if walk.a != NO_MESH and walk.b != NO_MESH:
        own, other = (f, t) if one == 0 else (t, f)
        if misses(meshes, own, other, poses_of(walk.X, one), walk.reach, wider):
            return nothing(), False
    if one == 0:
        return polygon_in_cell(
            meshes, rows, walk.a, f, walk.about_a, walk.b, t, walk.about_b, -1.0, walk.reach, walk.size, wider
        )
    return polygon_in_cell(
        meshes, rows, walk.b, t, walk.about_b, walk.a, f, walk.about_a, 1.0, walk.reach, walk.size, wider
    )


@outlined
def fill(meshes, rows, walk, play, left):
    """(how many pairs of boxes are left to look at, how many times as far all may move as the play): go on with a search until the list is
    full."""
    kept, n, times = meshes.kept, 0, UNBOUNDED
    first, end = kept.first[walk.kept], kept.first[walk.kept + 1]
    i, j, search, left, times = next_boxes(meshes, walk.a, walk.b, walk.X, walk.reach, play, left, times)
    while i >= 0:
        times = 1.0  # not those that are within reach
        f, t = triangle_in(meshes, walk.a, i), triangle_in(meshes, walk.b, j)
        for one in range(2):
            if search == one or (search == NEAR and part_of(walk, one) > 0.0):
                may, far, apart = may_press(meshes, rows, walk, play, f, t, one)
                if may:
                    row = first + n
                    kept.sides[row, 0], kept.sides[row, 1], kept.sides[row, 2] = i, j, one
                    kept.apart[row, 0], kept.apart[row, 1] = far, apart
                    n += 1
        if first + n + 2 > end:
            break
        i, j, search, left, times = next_boxes(meshes, walk.a, walk.b, walk.X, walk.reach, play, left, times)
    kept.count[walk.kept, 0] = n
    return left, times


@formula
def number_of(meshes, walk, row):
    """By what the rows of a list are sorted: which side, the triangle of the cell, the other."""
    i, j, one = meshes.kept.sides[row, 0], meshes.kept.sides[row, 1], meshes.kept.sides[row, 2]
    f, t = triangle_in(meshes, walk.a, i), triangle_in(meshes, walk.b, j)
    cell, other = (t, f) if one == 0 else (f, t)
    return (one * len(meshes.cells) + cell) * len(meshes.cells) + other


@formula
def move_row(kept, to, row):
    """Copy a row of a list."""
    for c in range(3):
        kept.sides[to, c] = kept.sides[row, c]
    for c in range(2):
        kept.apart[to, c] = kept.apart[row, c]


@outlined
def sort_rows(meshes, walk):
    """Sort a list, by Shell's method."""
    kept = meshes.kept
    first, n, step = kept.first[walk.kept], kept.count[walk.kept, 0], 1
    while 3 * step < n:
        step = 3 * step + 1
    while step > 0:
        for k in range(first + step, first + n):
            i, j, one, far, apart = (
                kept.sides[k, 0], kept.sides[k, 1], kept.sides[k, 2], kept.apart[k, 0], kept.apart[k, 1],
            )  # fmt: skip
            number, to = number_of(meshes, walk, k), k
            while to - step >= first and number_of(meshes, walk, to - step) > number:
                move_row(kept, to, to - step)
                to -= step
            kept.sides[to, 0], kept.sides[to, 1], kept.sides[to, 2] = i, j, one
            kept.apart[to, 0], kept.apart[to, 1] = far, apart
        step //= 3


@formula
def find(meshes, rows, walk, play, long):
    """(how many pairs of boxes are left to look at, how many times as far all may move as the play): a list, or its first part. `long`:
    whether that before was too long."""
    if not long and (walk.a == NO_MESH or walk.b == NO_MESH or walk.reach < LONG * walk.size):
        left, times = fill(meshes, rows, walk, play, start(meshes))
        if left == 0:
            sort_rows(meshes, walk)
            return left, times
    return fill(meshes, rows, walk, play, start_in_cells(meshes, walk))


@formula
def play_of(kept, k, X0):
    """The play of list k, found at X₀."""
    own = KeptLists(kept.numbers)[k]
    return Play(plus_turned(X0.p, X0.R, own.centre), own.centre, own.shift, own.turn)


@formula
def plan(kept, k, X, X0, size, rounding):
    """What motion the next list allows, and about which point."""
    own, lever, most = KeptLists(kept.numbers)[k], LEVER * size, MOST_PLAY * size
    c = own.pressed
    shift, turn = moved(X, X0, c)
    whole = shift + lever * turn
    each, play, part = whole / max(kept.count[k, 1], 1), START * size, 0.5
    if kept.count[k, 1] > 0:
        play = LEAST_PLAY * size
        if 0.0 < each < 0.125 * most:
            play, part = min(LIFE * each, most), min(max(shift / whole, LEAST_SHARE), 1.0 - LEAST_SHARE)
    own.centre, own.shift = c, part * play + min(2.0 * rounding, most)
    own.turn = (1.0 - part) * play / lever


@outlined
def ready(meshes, rows, walk):
    """(how many pairs of boxes are left to look at, |X c_B − X₀ c_B|, |R − R₀|₂) of a list of all that may press, or of its first part."""
    kept, k = meshes.kept, walk.kept
    own, X, X0 = KeptLists(kept.numbers)[k], walk.X, PoseRows(kept.pose, 0)[k]
    shift, turn = moved(X, X0, own.centre)
    near = shift + walk.rounding <= own.shift and turn <= own.turn
    if near and walk.reach <= own.reach:
        kept.count[k, 1] += 1
        return 0, shift + walk.rounding, turn
    if not near:
        if own.known == 0.0:
            own.pressed = T(walk.about_b.R) @ (walk.middle - walk.about_b.p)
        plan(kept, k, X, X0, walk.size, walk.rounding)
    PoseRows(kept.pose, 0)[k] = X
    walk = reaching(walk, max(walk.reach, own.last))
    left, times = find(meshes, rows, walk, play_of(kept, k, X), own.reach == TOO_LONG)
    own.reach = walk.reach
    if left > 0:  # too long to be kept: the next is to be shorter
        own.reach = TOO_LONG
        own.shift = max(SHORTER * own.shift, 2.0 * walk.rounding)
        own.turn *= SHORTER
    if 1.0 < times < UNBOUNDED:
        own.shift *= times * (1.0 - ROUNDING)
        own.turn *= times * (1.0 - ROUNDING)
    kept.count[k, 1] = 1
    return left, walk.rounding, 0.0


@outlined
def go_on(meshes, rows, walk, left):
    """The next part of a list that is too long; how many pairs of boxes are left to look at."""
    kept, k = meshes.kept, walk.kept
    walk = reaching(walk, max(walk.reach, KeptLists(kept.numbers)[k].last))
    left, _ = fill(meshes, rows, walk, play_of(kept, k, PoseRows(kept.pose, 0)[k]), left)
    return left
