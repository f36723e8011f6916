"""Where two solids of triangles press on each other: the polygons that their surfaces have in each other's depths.

    polygon of f in t      the part of triangle f of one solid that lies in the cell of triangle t of the other (``mesh_solid``)
    p                      k δ, δ the depth in that cell, as between bodies with faces (``overlap``). For convex solids with three faces at
                           each corner both contacts are the same
    U = k ∫ δ dV           over what the cells of both have in common: pyramids over these polygons and over the walls between cells

``mesh_search`` tells which pairs to look at, and ``mesh_list`` keeps them.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from nexdyn.forces.contact_data import OF_MESH, Parts
from nexdyn.forces.mesh_solid import MOST_PLANES, NO_MESH, Cells, corner, normal, wall
from nexdyn.forces.overlap import NOTHING, UNBOUNDED, Side, cut, deepest, flat, whole
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Vec3, basis, cross, plus_turned

BLUNT = 1e-3
"""n · ν × ν of planes of a cell that hardly meet."""
CORNERS = 16 + 2 * MOST_PLANES
"""Rows for a polygon: four corners, and one more at most for each cut, by the planes of a cell of each body."""


class Room(NamedTuple):
    """Scratch of contacts over areas: rows of four numbers (``overlap``), and the meshes, None where there are none."""

    rows: Any
    meshes: Any


@formula
def is_mesh(data, j):
    """Whether the data of ``overlap`` from j on are those of meshes."""
    return Parts(data, j).form == OF_MESH


@formula
def plane_of(meshes, mesh, t, X):
    """Normal and offset of a triangle, or of a half-space, about o, X the pose of its body there."""
    if mesh == NO_MESH:
        n = Vec3(X.R.xz, X.R.yz, X.R.zz)
        return n, n @ X.p
    cell = Cells(meshes.cells)[t]
    n = X.R @ cell.n
    return n, cell.offset + n @ X.p


@outlined
def cut_to_cell(meshes, rows, side, other, mesh, t, X, reach, left_out, wider):
    """(Side, the other place, whether it ends at the reach): what of a polygon lies in cell t, or in a half-space; X: the pose of its body
    about o; `left_out`: which of the planes between cells not to cut at, −1: none; `wider`: by how much all planes are moved out."""
    n_t, o_t = plane_of(meshes, mesh, t, X)
    side, other = cut(rows, side, other, n_t, o_t + wider)
    if mesh == NO_MESH:
        return side, other, False
    for c in range(planes_of(meshes, t)):
        if side.corners > 2 and c != left_out:
            nu, least = between_cells(meshes, t, c, X)
            side, other = cut(rows, side, other, -nu, (wider * sqrt(nu @ nu) if wider > 0.0 else 0.0) - least)
    most, ends = min(reach, Cells(meshes.cells)[t].deepest) + wider, False
    if side.corners > 2 and deepest_at(side, rows, n_t, o_t) > most:
        # δ ≤ most
        side, other = cut(rows, side, other, -n_t, most - o_t)
        ends = most == reach + wider and side.corners > 2
    return side, other, ends


@formula
def planes_of(meshes, t):
    """How many planes are between cell t and others."""
    cell = Cells(meshes.cells)[t]
    return 3 + int(cell.last) - int(cell.first)


@formula
def between_cells(meshes, t, c, X):
    """(ν, least ν · x in cell t) of plane c between it and others, about o."""
    cells = meshes.cells
    if c < 3:
        nu = X.R @ wall(cells, t, c)
        return nu, nu @ plus_turned(X.p, X.R, corner(cells, t, c))
    i, planes = int(Cells(cells)[t].first) + c - 3, meshes.planes
    nu = -(X.R @ Vec3(planes[i, 0], planes[i, 1], planes[i, 2]))
    return nu, nu @ X.p - planes[i, 3]


@formula
def deepest_at(side, rows, n, o):
    """The largest depth of a polygon below a plane."""
    return deepest(Side(side.first, side.corners, side.foot, side.one, side.two, side.m, o, n, side.deeper), rows)


@formula
def nothing():
    """A polygon of no corners."""
    zero = Vec3(0.0, 0.0, 0.0)
    return Side(0, 0, zero, zero, zero, zero, 0.0, zero, zero)


@formula
def misses(meshes, f, t, X, reach, wider):
    """Whether triangle f, X the pose of its body in that of t, lies beyond one of the planes of cell t, moved out by
    `wider`, with all of its corners."""
    cells = meshes.cells
    x, y, z = (
        plus_turned(X.p, X.R, corner(cells, f, 0)),
        plus_turned(X.p, X.R, corner(cells, f, 1)),
        plus_turned(X.p, X.R, corner(cells, f, 2)),
    )
    cell = Cells(cells)[t]
    n, o = cell.n, cell.offset
    a, b, c = o - n @ x, o - n @ y, o - n @ z
    if max(a, max(b, c)) <= -wider or min(a, min(b, c)) > min(reach, cell.deepest) + wider:
        return True
    for i in range(3):
        nu, p = wall(cells, t, i), corner(cells, t, i)
        if max(nu @ (x - p), max(nu @ (y - p), nu @ (z - p))) <= -wider:
            return True
    return False


@formula
def extent(x):
    """|x|₁."""
    return abs(x.x) + abs(x.y) + abs(x.z)


@formula
def corner_under(meshes, t, c, h):
    """Where the planes of cell t that meet in corner c of its triangle meet at depth h; far away where they hardly do."""
    cells = meshes.cells
    along = cross(wall(cells, t, c), wall(cells, t, (c + 2) % 3))
    down = normal(cells, t) @ along
    if abs(down) < BLUNT:
        return Vec3(UNBOUNDED, UNBOUNDED, UNBOUNDED)
    return corner(cells, t, c) - (h / down) * along


@formula
def beyond(n, x, top, under):
    """(least, most) of n · (y − x) of the corners y of a cell."""
    a, b, c, d, e, f = n @ top[0], n @ top[1], n @ top[2], n @ under[0], n @ under[1], n @ under[2]
    least, most = min(min(min(a, b), min(c, d)), min(e, f)), max(max(max(a, b), max(c, d)), max(e, f))
    return least - n @ x, most - n @ x


@outlined
def cell_misses(meshes, f, t, X, size, reach):
    """Whether cell f down to the depth `size`, X the pose of its body in that of t, lies beyond one of the planes of what cell t has within
    the reach. A cut across a cell is a triangle that grows or shrinks by depth: all of the cell is between six corners."""
    cells, h = meshes.cells, min(size, Cells(meshes.cells)[f].deepest)
    one, two, three = corner_under(meshes, f, 0, h), corner_under(meshes, f, 1, h), corner_under(meshes, f, 2, h)
    if not max(extent(one), max(extent(two), extent(three))) < UNBOUNDED:
        return False
    under = plus_turned(X.p, X.R, one), plus_turned(X.p, X.R, two), plus_turned(X.p, X.R, three)
    top = (
        plus_turned(X.p, X.R, corner(cells, f, 0)),
        plus_turned(X.p, X.R, corner(cells, f, 1)),
        plus_turned(X.p, X.R, corner(cells, f, 2)),
    )
    least, most = beyond(normal(cells, t), corner(cells, t, 0), top, under)
    if least >= 0.0 or -most >= min(reach, Cells(cells)[t].deepest):
        return True
    for i in range(3):
        nu = wall(cells, t, i)
        _, most = beyond(nu, corner(cells, t, i), top, under)
        if most <= 0.0:
            return True
    return False


@outlined
def separation(meshes, f, t, X, reach, enough):
    """How far triangle f, X the pose of its body in that of t, is at least from what the cell of t has within the reach: as planes of the
    cell, that of f, and those through edges of f across it tell. Beyond `enough` no more are asked."""
    cells = meshes.cells
    x, y, z = (
        plus_turned(X.p, X.R, corner(cells, f, 0)),
        plus_turned(X.p, X.R, corner(cells, f, 1)),
        plus_turned(X.p, X.R, corner(cells, f, 2)),
    )
    cell = Cells(cells)[t]
    n, o, h = cell.n, cell.offset, min(reach, cell.deepest)
    a, b, c = o - n @ x, o - n @ y, o - n @ z
    far = max(-max(a, max(b, c)), min(a, min(b, c)) - h)
    for i in range(3):
        if far > enough:
            return far
        nu, p = wall(cells, t, i), corner(cells, t, i)
        far = max(far, -max(nu @ (x - p), max(nu @ (y - p), nu @ (z - p))))
    top = corner(cells, t, 0), corner(cells, t, 1), corner(cells, t, 2)
    under = corner_under(meshes, t, 0, h), corner_under(meshes, t, 1, h), corner_under(meshes, t, 2, h)
    most = max(extent(under[0]), max(extent(under[1]), extent(under[2])))
    if not most < UNBOUNDED:
        return far
    m = X.R @ normal(cells, f)
    least, most = beyond(m, x, top, under)
    far = max(far, max(least, -most))
    for i in range(3):
        if far > enough:
            return far
        p, q = (x, y) if i == 0 else ((y, z) if i == 1 else (z, x))
        out = cross(q - p, m)
        length = sqrt(out @ out)
        if length > 0.0:
            least, _ = beyond((1.0 / length) * out, p, top, under)
            far = max(far, least)
    return far


@outlined
def polygon_in_cell(meshes, rows, f_mesh, f, X_f, t_mesh, t, X_t, sign, reach, size, wider):
    """(Side, whether it ends at the reach): what triangle f of one has in the cell of triangle t of the other; of no corners where there is
    nothing. sign: 1 where f is of B, −1 of A; X: poses of their bodies about o; size: how far from o all lies that both have in
    common; `wider`: by how much the planes of the cell are moved out."""
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
        foot, most = (sign * o_f) * m, -wider
        for i in range(3):
            # counter-clockwise about m
            x = plus_turned(X_f.p, X_f.R, corner(meshes.cells, f, i if sign > 0.0 else 2 - i))
            most = max(most, o_t - n_t @ x)
            r = x - foot
            rows[i, 0], rows[i, 1] = one @ r, two @ r
        if not most > -wider:
            return nothing(), False
        side = Side(0, 3, foot, one, two, m, o_t, n_t, -sign * n_t)
    side, other, ends = cut_to_cell(meshes, rows, side, other, t_mesh, t, X_t, reach, -1, wider)
    return side if side.corners > 2 else nothing(), ends


@outlined
def pyramid(side, rows, n, c, tip):
    """∫ δ dV over the pyramid from `tip`, where δ = 0, to a polygon in the plane n · x = c."""
    if side.corners < 3:
        return 0.0
    area, centre = flat(side, rows)
    # the centre of a pyramid is a quarter of the way from its base to its tip
    return (c - n @ tip) * area / 3.0 * 0.75 * (side.at - side.n @ centre)


@outlined
def stored_in_cell(meshes, rows, f_mesh, f, X_f, t_mesh, t, X_t, reach, size):
    """(∫ δ_t dV of what lies in the cell of triangle t and behind triangle f, whether it ends at the reach), by pyramids."""
    if t_mesh == NO_MESH:
        n_t, o_t = plane_of(meshes, t_mesh, t, X_t)
        tip = o_t * n_t
    else:
        tip = plus_turned(X_t.p, X_t.R, corner(meshes.cells, t, 0))
    side, ends = polygon_in_cell(meshes, rows, f_mesh, f, X_f, t_mesh, t, X_t, 1.0, reach, size, 0.0)
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
        side, other, _ = cut_to_cell(meshes, rows, side, len(rows) // 2, t_mesh, t, X_t, reach, c, 0.0)
        if side.corners > 2:
            side, other, _ = cut_to_cell(meshes, rows, side, other, f_mesh, f, X_f, size, -1, 0.0)
        U += pyramid(side, rows, n, height, tip)
    return U, ends
