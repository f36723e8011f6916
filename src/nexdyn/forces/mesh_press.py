"""What presses of two solids of triangles, and what they store (``mesh_overlap``); nothing of it is compiled where there are none."""

from __future__ import annotations

from typing import Any

from nexdyn.forces.contact import running
from nexdyn.forces.contact_data import OVERLAP, PointData
from nexdyn.forces.mesh_list import first_entry, next_entry, poses_of, pressed_at, pressing_side
from nexdyn.forces.mesh_overlap import cell_misses, stored_in_cell
from nexdyn.forces.mesh_search import begin, farther, next_boxes, next_pair, none, part_of, start, triangle_in
from nexdyn.forces.mesh_solid import NO_MESH
from nexdyn.forces.overlap import UNBOUNDED, Near, deepest
from nexdyn.forces.pressed import add_side, deeper_by, nothing_pressed, pressing, relative
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula, outlined
from nexdyn.spatial.algebra import Vec3


@outlined
def press_triangles(meshes, rows, data, k, motion, rubs):
    """The sums of two solids of triangles, and o; where nothing presses, the depth is of no more than the balls around them."""
    X_A, V_A, X_B, V_B = motion
    walk, may, depth = begin(data, k + OVERLAP, X_A, X_B)
    o, s, ends = walk.o, nothing_pressed(depth), may
    (v0, w), u = relative(X_A, V_A, X_B, V_B, o), running(data, k, X_A, X_B)
    found = Near(o, walk.size, 0, 0, True, 0.0)
    while ends:
        ends, s = False, nothing_pressed(0.0)
        entry = first_entry(meshes, rows, walk)
        while entry.one >= 0 and not ends:
            side, ends_here = pressing_side(meshes, rows, walk, entry)
            ends = ends_here and walk.reach < walk.size
            if side.corners > 2:
                s = deeper_by(s, deepest(side, rows))
                side = pressing(data, k, side, found, rows, v0, w)
                if side.corners > 2:
                    s = add_side(data, k, side, entry.one, part_of(walk, entry.one), rows, v0, w, u, rubs, s)
            entry = next_entry(meshes, rows, walk, entry)
        if ends:
            walk = farther(walk)
    if may and not s.depth > 0.0:
        s = nothing_pressed(depth)
    if s.pressure > 0.0:
        pressed_at(meshes, walk, (1.0 / s.pressure) * s.first)
    return s, o


@outlined
def stored_in_triangles(meshes, rows, data, k, X_A, X_B):
    """U of two solids of triangles, without friction's: of what cells have in common, though no surface be in one of both."""
    walk, ends, _ = begin(data, k + OVERLAP, X_A, X_B)
    U = 0.0
    while ends:
        U, ends = 0.0, False
        i, j, count = next_pair(meshes, walk, start(meshes))
        while i >= 0 and not ends:
            f, t = triangle_in(meshes, walk.a, i), triangle_in(meshes, walk.b, j)
            for one in range(2):
                part = part_of(walk, one)
                if part > 0.0:
                    more, ends_here = stored_by(meshes, rows, walk, one, f, t)
                    ends = ends or (ends_here and walk.reach < walk.size)
                    U += part * PointData(data, k).stiffness * more
            i, j, count = next_pair(meshes, walk, count)
        walk = farther(walk)
    return U


@formula
def stored_by(meshes, rows, walk, one, f, t):
    """What is stored of it: of the cell of one triangle in that of the other, down to the reach."""
    if walk.a != NO_MESH and walk.b != NO_MESH:
        own, other = (f, t) if one == 0 else (t, f)
        X, Y = poses_of(walk.X, one), poses_of(walk.X, 1 - one)
        if cell_misses(meshes, own, other, X, walk.size, walk.reach):
            return 0.0, False
        if cell_misses(meshes, other, own, Y, walk.reach, walk.size):
            return 0.0, False
    if one == 0:
        return stored_in_cell(meshes, rows, walk.a, f, walk.about_a, walk.b, t, walk.about_b, walk.reach, walk.size)
    return stored_in_cell(meshes, rows, walk.b, t, walk.about_b, walk.a, f, walk.about_a, walk.reach, walk.size)


@outlined
def depth_apart(meshes, data, k, X_A, X_B):
    """Minus how far apart two solids are at least of which nothing presses, by what the boxes tell where these are not within reach."""
    walk, may, depth = begin(data, k + OVERLAP, X_A, X_B)
    if not may:
        return depth
    i, _, _, _, apart = next_boxes(meshes, walk.a, walk.b, walk.X, walk.reach, none(), start(meshes), UNBOUNDED)
    return depth if i >= 0 or apart == UNBOUNDED else min(depth, -apart)


press_meshes = generic(
    "press_meshes", "The sums and o of two solids of triangles; nothing of them where there are no meshes: None."
)
stored_in_meshes = generic("stored_in_meshes", "U of two solids of triangles.")
meshes_apart = generic(
    "meshes_apart", "Minus how far apart two solids of triangles are at least of which nothing presses."
)


@defines(press_meshes)
def _(meshes: None, rows: Any, data: Any, k: Any, motion: Any, rubs: Any) -> Any:
    return nothing_pressed(-UNBOUNDED), Vec3(0.0, 0.0, 0.0)


@defines(press_meshes)
def _(meshes: Any, rows: Any, data: Any, k: Any, motion: Any, rubs: Any) -> Any:
    return press_triangles(meshes, rows, data, k, motion, rubs)


@defines(stored_in_meshes)
def _(meshes: None, rows: Any, data: Any, k: Any, X_A: Any, X_B: Any) -> Any:
    return 0.0


@defines(stored_in_meshes)
def _(meshes: Any, rows: Any, data: Any, k: Any, X_A: Any, X_B: Any) -> Any:
    return stored_in_triangles(meshes, rows, data, k, X_A, X_B)


@defines(meshes_apart)
def _(meshes: None, data: Any, k: Any, X_A: Any, X_B: Any) -> Any:
    return 0.0


@defines(meshes_apart)
def _(meshes: Any, data: Any, k: Any, X_A: Any, X_B: Any) -> Any:
    return depth_apart(meshes, data, k, X_A, X_B)
