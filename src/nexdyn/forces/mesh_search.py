"""The search for pairs of triangles of two solids that may press on each other (``mesh_overlap``), by the boxes around them.

A pair may press where its boxes are within a reach. The first reach is the part START of the smaller solid. Where a polygon ends at that
depth, the search is done again with FARTHER times the reach. This finds all: a surface enters the other solid through its surface, and so
a part that lies deep hangs together with one that does not. A body wholly inside the other feels nothing.

Where the reach is short beside the solids, one search finds boxes that are near each other, the larger opened first. Where it is long
nearly all boxes are near each other. Then triangles of A in cells of B are one search, and triangles of B in cells of A another: cells
are opened first, and what lies beyond one plane of a cell is left out (``box_misses``), for a cell meets few triangles. These two find
pairs by their numbers: which search, the triangle of the cell, the other.

    Play    a search that holds for a while: the pose X of B in A may change as long as |X c_B − c_A| ≤ a and |R − R₀|₂ ≤ b. Then a point
            at most ρ from c_A in A moves by no more than a + b ρ in B, and one at most ρ from c_B in B no more in A. The gap of
            two boxes, each coordinate of which changes by no more than that, changes by no more than √3 (a + b ρ)
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from nexdyn.forces.mesh_overlap import extent
from nexdyn.forces.mesh_solid import NO_MESH, Cells, corner, wall
from nexdyn.forces.overlap import APART, UNBOUNDED, Ball
from nexdyn.geometry.hierarchy import between, positive_parts
from nexdyn.kernel import formula, outlined
from nexdyn.records import Record
from nexdyn.spatial.algebra import Pose, T, Vec3, inverse, norm, plus_turned
from nexdyn.spatial.table import Vec3Rows

IN_B, IN_A, NEAR = 0, 1, 2
"""Searches: for triangles of A in cells of B, of B in cells of A, and for boxes that are near."""
LONG = 0.1
"""The reach, as a part of the radius of the smaller solid, from which on cells are opened first."""
START, FARTHER = 1e-3, 4.0
"""The first reach, as a part of the radius of the smaller solid; how many times farther the next one goes."""
ROUNDING = 1e-12
ROOT3 = sqrt(3.0)


class MeshPair(Record):
    """Data from OVERLAP on: w_A and w_B, what tells them; the numbers of the meshes of A and B, −1 of a half-space, which is one triangle
    without end; a ball around each; the number of what is kept."""

    part_a: float
    part_b: float
    form: float
    mesh_a: float
    mesh_b: float
    ball_a: Ball
    ball_b: Ball
    kept: float


class Walk(NamedTuple):
    """A search for pairs: the numbers of the meshes and of what is kept; the pose of B in A, and of both about o, the centre of the smaller
    solid, in world axes; how far from o all lies that both have in common; the middle between both; w_A, w_B; what rounding moves points;
    the reach."""

    a: int
    b: int
    kept: int
    X: Pose
    about_a: Pose
    about_b: Pose
    o: Vec3
    size: float
    middle: Vec3
    part_a: float
    part_b: float
    rounding: float
    reach: float


class Play(NamedTuple):
    """The motion for which a search holds: c about A and about B, a, b."""

    c_a: Vec3
    c_b: Vec3
    shift: float
    turn: float


@formula
def about(X, o):
    """A pose about o, in world axes."""
    return Pose(X.R, X.p - o)


@formula
def begin(data, j, X_A, X_B):
    """(Walk, whether they may touch, minus how far apart they are at least where not)."""
    pair = MeshPair(data, j)
    c_A, c_B = X_A.p + X_A.R @ pair.ball_a.centre, X_B.p + X_B.R @ pair.ball_b.centre
    r_A, r_B = pair.ball_a.radius, pair.ball_b.radius
    o, size = (c_A, r_A) if r_A < r_B else (c_B, r_B)
    X = Pose(T(X_A.R) @ X_B.R, T(X_A.R) @ (X_B.p - X_A.p))
    balls = (r_A if r_A < UNBOUNDED else 0.0) + (r_B if r_B < UNBOUNDED else 0.0)
    rounding = ROUNDING * (extent(X_A.p) + extent(X_B.p) + extent(o) + balls)
    apart = c_B - c_A
    d = sqrt(apart @ apart)
    bounded = r_A < UNBOUNDED and r_B < UNBOUNDED
    middle = Vec3(0.0, 0.0, 0.0)
    if bounded and d > abs(r_A - r_B):
        middle = c_A - o + (0.5 + 0.5 * (r_A - r_B) / d) * apart
    walk = Walk(
        int(pair.mesh_a), int(pair.mesh_b), int(pair.kept), X, about(X_A, o), about(X_B, o), o, size, middle,
        pair.part_a, pair.part_b, rounding, START * size,
    )  # fmt: skip
    if bounded and d > r_A + r_B:
        return walk, False, r_A + r_B - d
    return walk, True, -APART * size


@formula
def reaching(walk, reach):
    """The same search with another reach."""
    return Walk(
        walk.a, walk.b, walk.kept, walk.X, walk.about_a, walk.about_b, walk.o, walk.size, walk.middle, walk.part_a, walk.part_b,
        walk.rounding, reach,
    )  # fmt: skip


@formula
def part_of(walk, one):
    """w of triangles of A in cells of B (one = 0), or the other way round."""
    return walk.part_b if one == 0 else walk.part_a


@formula
def farther(walk):
    """The same search with more reach."""
    return reaching(walk, FARTHER * walk.reach)


@formula
def width(n, h):
    """How far a box of half-lengths h reaches along n, in its own axes."""
    return abs(n.x) * h.x + abs(n.y) * h.y + abs(n.z) * h.z


@formula
def none():
    """No play: a search that holds where it is made."""
    zero = Vec3(0.0, 0.0, 0.0)
    return Play(zero, zero, 0.0, 0.0)


@formula
def below_plane(nodes, i, n, o):
    """How far the lowest point of box i lies below the plane n · x = o."""
    c, h = Vec3(nodes[i, 0], nodes[i, 1], nodes[i, 2]), Vec3(nodes[i, 3], nodes[i, 4], nodes[i, 5])
    return o - n @ c + width(n, h)


@formula
def node_of(meshes, mesh, i):
    """The row of box i of a mesh."""
    return i if mesh == NO_MESH else meshes.first[mesh, 1] + i


@formula
def triangle_in(meshes, mesh, i):
    """The number among all of the triangle in box i of a mesh."""
    return 0 if mesh == NO_MESH else meshes.first[mesh, 0] - 1 - meshes.child[node_of(meshes, mesh, i)]


@formula
def gap(meshes, a, b, X, S, i, j):
    """How far apart box i of A and box j of B are at least, rows among all, S = |R|."""
    nodes = meshes.nodes
    centre, half = Vec3Rows(nodes, 0), Vec3Rows(nodes, 3)
    if b == NO_MESH:
        # its plane is z = 0 of B, in A n · x = n · p
        n = Vec3(X.R.xz, X.R.yz, X.R.zz)
        return -below_plane(nodes, i, n, n @ X.p)
    if a == NO_MESH:
        # in B z of A is the third row of R
        n = Vec3(X.R.zx, X.R.zy, X.R.zz)
        return -below_plane(nodes, j, n, -X.p.z)
    return sqrt(between(centre[i], half[i], centre[j], half[j], X, S))


@formula
def is_within(meshes, walk, i, j):
    """Whether the boxes i of A and j of B are within the reach, or touch a half-space."""
    away = gap(
        meshes, walk.a, walk.b, walk.X, positive_parts(walk.X.R), node_of(meshes, walk.a, i), node_of(meshes, walk.b, j)
    )
    return away <= (0.0 if walk.a == NO_MESH or walk.b == NO_MESH else walk.reach)


@formula
def moves(meshes, a, b, play, i, j):
    """a + b ρ, ρ the farthest of boxes i of A and j of B, rows among all."""
    centre, half = Vec3Rows(meshes.nodes, 0), Vec3Rows(meshes.nodes, 3)
    far = 0.0
    if a != NO_MESH:
        far = norm(centre[i] - play.c_a) + norm(half[i])
    if b != NO_MESH:
        far = max(far, norm(centre[j] - play.c_b) + norm(half[j]))
    return play.shift + play.turn * far


@formula
def box_misses(meshes, t, X, i, reach, enough):
    """How far box i, row among all, X the pose of its body in that of t, lies beyond one of the planes of the cell of triangle t at least;
    negative where it may meet the cell. Beyond `enough` no more are asked."""
    nodes, cells = meshes.nodes, meshes.cells
    c, h = plus_turned(X.p, X.R, Vec3Rows(nodes, 0)[i]), Vec3Rows(nodes, 3)[i]
    cell = Cells(cells)[t]
    n = cell.n
    depth, wide = cell.offset - n @ c, width(T(X.R) @ n, h)
    beyond, side = max(-depth - wide, depth - wide - min(reach, cell.deepest)), 0
    while side < 3 and not beyond > enough:
        nu = wall(cells, t, side)
        beyond = max(beyond, nu @ (corner(cells, t, side) - c) - width(T(X.R) @ nu, h))
        side += 1
    return beyond


@outlined
def next_boxes(meshes, a, b, X, reach, play, count, apart):
    """(i, j, which search, how many are left to look at, `apart`): the next boxes of triangles of A and B that are within reach, or come
    within; i = −1 where there are no more. `apart` becomes no more than the distance of those that are not; with play, no more than how
    many times as far they may move."""
    child, pairs, half = meshes.child, meshes.open, Vec3Rows(meshes.nodes, 3)
    S, back = positive_parts(X.R), inverse(X)
    plane_a, plane_b = a == NO_MESH, b == NO_MESH
    most = 0.0 if plane_a or plane_b else reach
    most_moved = 0.0
    if play.shift != 0.0:
        most_moved = moves(meshes, a, b, play, node_of(meshes, a, 0), node_of(meshes, b, 0))
    while count > 0:
        count -= 1
        i, j, one = pairs[count, 0], pairs[count, 1], pairs[count, 2]
        p, q = node_of(meshes, a, i), node_of(meshes, b, j)
        k = -1 if plane_a else child[p]
        m = -1 if plane_b else child[q]
        away = gap(meshes, a, b, X, S, p, q)
        d = (away - most) / ROOT3
        if d <= most_moved and not (plane_a or plane_b) and ((one == IN_B and m < 0) or (one == IN_A and k < 0)):
            # what presses lies behind all planes of the cell, and no point comes nearer to one of them than by how far it moves
            t, box, Y = (triangle_in(meshes, b, j), p, back) if one == IN_B else (triangle_in(meshes, a, i), q, X)
            d = max(d, box_misses(meshes, t, Y, box, reach, apart * most_moved))
        if not d <= 0.0:
            moved = most_moved
            if 0.0 < moved and d <= max(1.0, apart) * moved:
                moved = min(moved, moves(meshes, a, b, play, p, q))
            if not d <= moved:
                apart = min(apart, d / moved if moved > 0.0 else away)
                continue
        if k < 0 and m < 0:
            return i, j, one, count, apart
        if m < 0 or (k >= 0 and (one == IN_A or (one == NEAR and half[p] @ half[p] >= half[q] @ half[q]))):
            pairs[count, 0], pairs[count, 1], pairs[count, 2] = k + 1, j, one
            pairs[count + 1, 0], pairs[count + 1, 1], pairs[count + 1, 2] = k, j, one
        else:
            pairs[count, 0], pairs[count, 1], pairs[count, 2] = i, m + 1, one
            pairs[count + 1, 0], pairs[count + 1, 1], pairs[count + 1, 2] = i, m, one
        count += 2
    return -1, -1, 0, 0, apart


@formula
def next_pair(meshes, walk, count):
    """(i, j, how many are left to look at): the next pair of boxes of triangles within reach."""
    i, j, _, count, _ = next_boxes(meshes, walk.a, walk.b, walk.X, walk.reach, none(), count, UNBOUNDED)
    return i, j, count


@formula
def start(meshes):
    """The first pair of the search for boxes that are near, all of both; how many there are."""
    meshes.open[0, 0], meshes.open[0, 1], meshes.open[0, 2] = 0, 0, NEAR
    return 1


@formula
def start_in_cells(meshes, walk):
    """The same of the searches for triangles in cells of what presses: of B last, which is looked at first."""
    count = 0
    for one in (IN_A, IN_B):
        if part_of(walk, one) > 0.0:
            meshes.open[count, 0], meshes.open[count, 1], meshes.open[count, 2] = 0, 0, one
            count += 1
    return count
