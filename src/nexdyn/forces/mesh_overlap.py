"""Where two solids of triangles press on each other: the polygons that their surfaces have in each other's depths.

    polygon of f in t      the part of triangle f of one solid that lies in the cell of triangle t of the other (``mesh_solid``)
    p                      k δ, δ the depth in that cell, as between bodies with faces (``overlap``). For convex solids with three faces at
                           each corner both contacts are the same
    U = k ∫ δ dV           over what the cells of both have in common: pyramids over these polygons and over the walls between cells

The boxes around triangles (``geometry.hierarchy``) tell which pairs are within a reach. The first reach is the part START of the smaller
solid. Where a polygon ends at that depth, the search is done again with FARTHER times the reach. This finds all: a surface enters the other
solid through its surface, and so a part that lies deep hangs together with one that does not. A body wholly inside the other feels nothing.

Data behind those of a point of contact: w_A, w_B, −1 (instead of a number of faces), the numbers of the meshes of A and B, −1 of a
half-space, which is one triangle without end; centre and radius of a ball around each.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from nexdyn.forces.mesh_solid import DEEPEST, MORE, MOST_PLANES, NO_MESH, OFFSET, SIDES, corner, normal
from nexdyn.forces.overlap import APART, FACES_A, NOTHING, UNBOUNDED, Side, at, cut, deepest, flat, whole
from nexdyn.geometry.hierarchy import between, positive_parts
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Pose, T, Vec3, basis, plus_turned
from nexdyn.spatial.table import Vec3Rows

MESH_A, MESH_B, BALL_A, BALL_B, COLUMNS = 3, 4, 5, 9, 13
START, FARTHER = 1e-3, 4.0
"""The first reach, as a part of the radius of the smaller solid; how many times farther the next one goes."""
CORNERS = 16 + 2 * MOST_PLANES
"""Rows for a polygon: four corners, and one more at most for each cut, by the planes of a cell of each body."""


class Room(NamedTuple):
    """Scratch of contacts over areas: rows of four numbers (``overlap``), and the meshes, None where there are none."""

    rows: Any
    meshes: Any


class Walk(NamedTuple):
    """A search for pairs: the numbers of the meshes, the pose of B in A and |R|, whether A or B is a half-space; the reach."""

    a: int
    b: int
    X: Pose
    reach: float


@formula
def is_mesh(data, j):  # type: ignore[no-untyped-def]
    """Whether the data of ``overlap`` from j on are those of meshes."""
    return data[j + FACES_A] == -1.0


@formula
def below_plane(nodes, i, n, o):  # type: ignore[no-untyped-def]
    """How far the lowest point of box i lies below the plane n · x = o."""
    c, h = Vec3(nodes[i, 0], nodes[i, 1], nodes[i, 2]), Vec3(nodes[i, 3], nodes[i, 4], nodes[i, 5])
    return o - n @ c + abs(n.x) * h.x + abs(n.y) * h.y + abs(n.z) * h.z


@outlined
def next_pair(meshes, walk, count, apart):  # type: ignore[no-untyped-def]
    """(f, t, how many are left to look at, `apart`): the next triangles of A and B, counted among all, whose boxes are within reach; f = −1
    where there are no more. `apart` becomes no more than the distance of those that are not."""
    nodes, child, pairs = meshes.nodes, meshes.child, meshes.open
    X = walk.X
    S = positive_parts(X.R)
    centre, half = Vec3Rows(nodes, 0), Vec3Rows(nodes, 3)
    plane_a, plane_b = walk.a == NO_MESH, walk.b == NO_MESH
    node_a = 0 if plane_a else meshes.first[walk.a, 1]
    node_b = 0 if plane_b else meshes.first[walk.b, 1]
    cell_a = 0 if plane_a else meshes.first[walk.a, 0]
    cell_b = 0 if plane_b else meshes.first[walk.b, 0]
    while count > 0:
        count -= 1
        i, j = pairs[count, 0], pairs[count, 1]
        if plane_b:
            # its plane is z = 0 of B, in A n · x = n · p
            n = Vec3(X.R.xz, X.R.yz, X.R.zz)
            away = -below_plane(nodes, node_a + i, n, n @ X.p)
        elif plane_a:
            # in B z of A is the third row of R
            n = Vec3(X.R.zx, X.R.zy, X.R.zz)
            away = -below_plane(nodes, node_b + j, n, -X.p.z)
        else:
            away = sqrt(between(centre[node_a + i], half[node_a + i], centre[node_b + j], half[node_b + j], X, S))
        if away > (0.0 if plane_a or plane_b else walk.reach):
            apart = min(apart, away)
            continue
        k = -1 if plane_a else child[node_a + i]
        m = -1 if plane_b else child[node_b + j]
        if k < 0 and m < 0:
            return (-1 - k) + cell_a, (-1 - m) + cell_b, count, apart
        if m < 0 or (k >= 0 and half[node_a + i] @ half[node_a + i] >= half[node_b + j] @ half[node_b + j]):
            pairs[count, 0], pairs[count, 1] = k + 1, j
            pairs[count + 1, 0], pairs[count + 1, 1] = k, j
        else:
            pairs[count, 0], pairs[count, 1] = i, m + 1
            pairs[count + 1, 0], pairs[count + 1, 1] = i, m
        count += 2
    return -1, -1, 0, apart


@formula
def start(meshes):  # type: ignore[no-untyped-def]
    """The first pair to look at: all of both; how many there are."""
    meshes.open[0, 0], meshes.open[0, 1] = 0, 0
    return 1


@formula
def plane_of(meshes, mesh, t, X):  # type: ignore[no-untyped-def]
    """Normal and offset of a triangle, or of a half-space, about o, X the pose of its body there."""
    if mesh == NO_MESH:
        n = Vec3(X.R.xz, X.R.yz, X.R.zz)
        return n, n @ X.p
    n = X.R @ normal(meshes.cells, t)
    return n, meshes.cells[t, OFFSET] + n @ X.p


@outlined
def cut_to_cell(meshes, rows, side, other, mesh, t, X, reach, left_out):  # type: ignore[no-untyped-def]
    """(Side, the other place, whether it ends at the reach): what of a polygon lies in cell t, or in a half-space; X: the pose of its body
    about o; `left_out`: which of the planes between cells not to cut at, −1: none."""
    cells = meshes.cells
    n_t, o_t = plane_of(meshes, mesh, t, X)
    side, other = cut(rows, side, other, n_t, o_t)
    if mesh == NO_MESH:
        return side, other, False
    for c in range(planes_of(meshes, t)):
        if side.corners > 2 and c != left_out:
            nu, least = between_cells(meshes, t, c, X)
            side, other = cut(rows, side, other, -nu, -least)
    most, ends = min(reach, cells[t, DEEPEST]), False
    if side.corners > 2 and deepest_at(side, rows, n_t, o_t) > most:
        # δ ≤ most
        side, other = cut(rows, side, other, -n_t, most - o_t)
        ends = most == reach and side.corners > 2
    return side, other, ends


@formula
def planes_of(meshes, t):  # type: ignore[no-untyped-def]
    """How many planes are between cell t and others."""
    return 3 + int(meshes.cells[t, MORE + 1]) - int(meshes.cells[t, MORE])


@formula
def between_cells(meshes, t, c, X):  # type: ignore[no-untyped-def]
    """(ν, least ν · x in cell t) of plane c between it and others, about o."""
    cells = meshes.cells
    if c < 3:
        nu = X.R @ Vec3(cells[t, SIDES + 3 * c], cells[t, SIDES + 3 * c + 1], cells[t, SIDES + 3 * c + 2])
        return nu, nu @ plus_turned(X.p, X.R, corner(cells, t, c))
    i, planes = int(cells[t, MORE]) + c - 3, meshes.planes
    nu = -(X.R @ Vec3(planes[i, 0], planes[i, 1], planes[i, 2]))
    return nu, nu @ X.p - planes[i, 3]


@formula
def deepest_at(side, rows, n, o):  # type: ignore[no-untyped-def]
    """The largest depth of a polygon below a plane."""
    return deepest(Side(side.first, side.corners, side.foot, side.one, side.two, side.m, o, n, side.deeper), rows)


@formula
def nothing():  # type: ignore[no-untyped-def]
    """A polygon of no corners."""
    zero = Vec3(0.0, 0.0, 0.0)
    return Side(0, 0, zero, zero, zero, zero, 0.0, zero, zero)


@formula
def misses(meshes, f, t, X, reach):  # type: ignore[no-untyped-def]
    """Whether triangle f, X the pose of its body in that of t, lies beyond one of the planes of cell t with all of its corners."""
    cells = meshes.cells
    x, y, z = (
        plus_turned(X.p, X.R, corner(cells, f, 0)),
        plus_turned(X.p, X.R, corner(cells, f, 1)),
        plus_turned(X.p, X.R, corner(cells, f, 2)),
    )
    n, o = normal(cells, t), cells[t, OFFSET]
    a, b, c = o - n @ x, o - n @ y, o - n @ z
    if max(a, max(b, c)) <= 0.0 or min(a, min(b, c)) > min(reach, cells[t, DEEPEST]):
        return True
    for i in range(3):
        nu, p = (
            Vec3(cells[t, SIDES + 3 * i], cells[t, SIDES + 3 * i + 1], cells[t, SIDES + 3 * i + 2]),
            corner(cells, t, i),
        )
        if max(nu @ (x - p), max(nu @ (y - p), nu @ (z - p))) <= 0.0:
            return True
    return False


@outlined
def polygon_in_cell(meshes, rows, f_mesh, f, X_f, t_mesh, t, X_t, sign, reach, size):  # type: ignore[no-untyped-def]
    """(Side, whether it ends at the reach): what triangle f of one has in the cell of triangle t of the other; of no corners where there is
    nothing. sign: 1 where f is of B, −1 of A; X: poses of their bodies about o; size: how far from o all lies that both have in common."""
    n_f, o_f = plane_of(meshes, f_mesh, f, X_f)
    n_t, o_t = plane_of(meshes, t_mesh, t, X_t)
    m = sign * n_f
    other = len(rows) // 2
    if f_mesh == NO_MESH:
        if abs(o_f) > size:
            return nothing(), False
        side = whole(rows, 0, size, m, sign * o_f, o_t, n_t, -sign * n_t)
    else:
        one, two = basis(m)
        foot, most = (sign * o_f) * m, 0.0
        for i in range(3):
            # counter-clockwise about m
            x = plus_turned(X_f.p, X_f.R, corner(meshes.cells, f, i if sign > 0.0 else 2 - i))
            most = max(most, o_t - n_t @ x)
            r = x - foot
            rows[i, 0], rows[i, 1] = one @ r, two @ r
        if not most > 0.0:
            return nothing(), False
        side = Side(0, 3, foot, one, two, m, o_t, n_t, -sign * n_t)
    side, other, ends = cut_to_cell(meshes, rows, side, other, t_mesh, t, X_t, reach, -1)
    return side if side.corners > 2 else nothing(), ends


@outlined
def pyramid(side, rows, n, c, tip):  # type: ignore[no-untyped-def]
    """∫ δ dV over the pyramid from `tip`, where δ = 0, to a polygon in the plane n · x = c."""
    if side.corners < 3:
        return 0.0
    area, centre = flat(side, rows)
    # the centre of a pyramid is a quarter of the way from its base to its tip
    return (c - n @ tip) * area / 3.0 * 0.75 * (side.at - side.n @ centre)


@outlined
def stored_in_cell(meshes, rows, f_mesh, f, X_f, t_mesh, t, X_t, reach, size):  # type: ignore[no-untyped-def]
    """(∫ δ_t dV of what lies in the cell of triangle t and behind triangle f, whether it ends at the reach), by pyramids."""
    if t_mesh == NO_MESH:
        n_t, o_t = plane_of(meshes, t_mesh, t, X_t)
        tip = o_t * n_t
    else:
        tip = plus_turned(X_t.p, X_t.R, corner(meshes.cells, t, 0))
    side, ends = polygon_in_cell(meshes, rows, f_mesh, f, X_f, t_mesh, t, X_t, 1.0, reach, size)
    n_f, o_f = plane_of(meshes, f_mesh, f, X_f)
    U = pyramid(side, rows, n_f, o_f, tip)
    if t_mesh == NO_MESH:
        return U, ends
    n_t, o_t = plane_of(meshes, t_mesh, t, X_t)
    for c in range(planes_of(meshes, t)):
        nu, least = between_cells(meshes, t, c, X_t)
        length = sqrt(nu @ nu)
        n, height = (-1.0 / length) * nu, -least / length
        if abs(height - n @ tip) <= NOTHING * size or abs(height) > size:
            continue
        side = whole(rows, 0, size, n, height, o_t, n_t, n)
        side, other, _ = cut_to_cell(meshes, rows, side, len(rows) // 2, t_mesh, t, X_t, reach, c)
        if side.corners > 2:
            side, other, _ = cut_to_cell(meshes, rows, side, other, f_mesh, f, X_f, size, -1)
        U += pyramid(side, rows, n, height, tip)
    return U, ends


@formula
def about(X, o):  # type: ignore[no-untyped-def]
    """A pose about o, in world axes."""
    return Pose(X.R, X.p - o)


@formula
def begin(data, j, X_A, X_B):  # type: ignore[no-untyped-def]
    """(Walk, o, size, whether they may touch, minus how far apart they are at least where not): o the centre of the smaller solid."""
    c_A, c_B = X_A.p + X_A.R @ at(data, j + BALL_A), X_B.p + X_B.R @ at(data, j + BALL_B)
    r_A, r_B = data[j + BALL_A + 3], data[j + BALL_B + 3]
    o, size = (c_A, r_A) if r_A < r_B else (c_B, r_B)
    X = Pose(T(X_A.R) @ X_B.R, T(X_A.R) @ (X_B.p - X_A.p))
    walk = Walk(int(data[j + MESH_A]), int(data[j + MESH_B]), X, START * size)
    apart = c_B - c_A
    if r_A < UNBOUNDED and r_B < UNBOUNDED and apart @ apart > (r_A + r_B) * (r_A + r_B):
        return walk, o, size, False, r_A + r_B - sqrt(apart @ apart)
    return walk, o, size, True, -APART * size


@formula
def farther(walk):  # type: ignore[no-untyped-def]
    """The same search with more reach."""
    return Walk(walk.a, walk.b, walk.X, FARTHER * walk.reach)


@formula
def stored_by(meshes, rows, walk, one, f, t, about_a, about_b, size):  # type: ignore[no-untyped-def]
    """What is stored of it."""
    if one == 0:
        return stored_in_cell(meshes, rows, walk.a, f, about_a, walk.b, t, about_b, walk.reach, size)
    return stored_in_cell(meshes, rows, walk.b, t, about_b, walk.a, f, about_a, walk.reach, size)


@formula
def sides_of(meshes, rows, walk, one, f, t, about_a, about_b, size):  # type: ignore[no-untyped-def]
    """What triangle f of A has in the cell of t of B (one = 0), or the other way round (one = 1)."""
    if walk.a != NO_MESH and walk.b != NO_MESH:
        X, R = walk.X, T(walk.X.R)
        if misses(
            meshes, f if one == 0 else t, t if one == 0 else f, Pose(R, -(R @ X.p)) if one == 0 else X, walk.reach
        ):
            return nothing(), False
    if one == 0:
        return polygon_in_cell(meshes, rows, walk.a, f, about_a, walk.b, t, about_b, -1.0, walk.reach, size)
    return polygon_in_cell(meshes, rows, walk.b, t, about_b, walk.a, f, about_a, 1.0, walk.reach, size)
