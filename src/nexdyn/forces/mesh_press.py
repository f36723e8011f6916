"""What presses of two solids of triangles, and what they store (``mesh_overlap``); nothing of it is compiled where there are none."""

from __future__ import annotations

from typing import Any

from nexdyn.forces.contact import running
from nexdyn.forces.mesh_overlap import about, begin, farther, next_pair, sides_of, start, stored_by
from nexdyn.forces.overlap import OVERLAP, PART_A, PART_B, UNBOUNDED, Near, deepest
from nexdyn.forces.pressed import add_side, deeper_by, nothing_pressed, pressing, relative
from nexdyn.generic import defines, generic
from nexdyn.kernel import outlined
from nexdyn.spatial.algebra import Vec3


@outlined
def press_triangles(meshes, rows, data, k, motion, rubs):  # type: ignore[no-untyped-def]
    """The sums of two solids of triangles, and o."""
    X_A, V_A, X_B, V_B = motion
    j = k + OVERLAP
    walk, o, size, may, depth = begin(data, j, X_A, X_B)
    s, ends = nothing_pressed(depth), may
    about_a, about_b = about(X_A, o), about(X_B, o)
    (v0, w), u = relative(X_A, V_A, X_B, V_B, o), running(data, k, X_A, X_B)
    found = Near(o, size, 0, 0, True, 0.0)
    while ends:
        ends, count, apart, any_ = False, start(meshes), UNBOUNDED, False
        s = nothing_pressed(0.0)
        f, t, count, apart = next_pair(meshes, walk, count, apart)
        while f >= 0 and not ends:
            any_ = True
            for one in range(2):
                part = data[j + PART_B] if one == 0 else data[j + PART_A]
                if part > 0.0:
                    side, ends_here = sides_of(meshes, rows, walk, one, f, t, about_a, about_b, size)
                    ends = ends or (ends_here and walk.reach < size)
                    if side.corners > 2:
                        s = deeper_by(s, deepest(side, rows))
                        side = pressing(data, k, side, found, rows, v0, w)
                        if side.corners > 2:
                            s = add_side(data, k, side, part, rows, v0, w, u, rubs, s)
            f, t, count, apart = next_pair(meshes, walk, count, apart)
        if not s.depth > 0.0:
            # apart by what the boxes tell, at the least
            s = deeper_by(nothing_pressed(-UNBOUNDED), depth if any_ or apart == UNBOUNDED else min(depth, -apart))
        walk = farther(walk)
    return s, o


@outlined
def stored_in_triangles(meshes, rows, data, k, X_A, X_B):  # type: ignore[no-untyped-def]
    """U of two solids of triangles, without friction's."""
    j = k + OVERLAP
    walk, o, size, ends, _ = begin(data, j, X_A, X_B)
    about_a, about_b = about(X_A, o), about(X_B, o)
    U = 0.0
    while ends:
        U, ends, count = 0.0, False, start(meshes)
        f, t, count, _ = next_pair(meshes, walk, count, UNBOUNDED)
        while f >= 0 and not ends:
            for one in range(2):
                part = data[j + PART_B] if one == 0 else data[j + PART_A]
                if part > 0.0:
                    more, ends_here = stored_by(meshes, rows, walk, one, f, t, about_a, about_b, size)
                    ends = ends or (ends_here and walk.reach < size)
                    U += part * data[k] * more
            f, t, count, _ = next_pair(meshes, walk, count, UNBOUNDED)
        walk = farther(walk)
    return U


press_meshes = generic(
    "press_meshes", "The sums and o of two solids of triangles; nothing of them where there are no meshes: None."
)
stored_in_meshes = generic("stored_in_meshes", "U of two solids of triangles.")


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
