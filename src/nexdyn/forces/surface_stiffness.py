"""How the force of a contact over an area changes as its bodies move: K = β h² (−∂F/∂x) + γ h (−∂F/∂v) of the force on B, for the motion
of B against A at the origin of B, symmetric, as implicit methods want it.

    normal       k Σ w ∫ (β h² grip + γ h a δ) m dᵀ dA,   m = (r × m, m), d the same of the normal of the depth; of a sphere n nᵀ df/dδ; of
                 a capsule the sum of both points, as they are on its axis; of a round solid on a half-space
                 k ∫ (β h² grip dS + γ h a dV) g gᵀ (``sunk``)
    friction     s̄ (1 − F̂ F̂ᵀ) where it slides, else s̄, across the normal and about it,   s̄ = s (s σ g + d), F̂ = F/|F|    (``sticking``)
                 regularised: γ h Σ w ∫ μ p/s (1 − v_t v_tᵀ/s²) dA,   s = √(v_t² + v_f²)

It leaves out what the normal force makes of friction, which has no symmetry, and whose symmetric part leads nowhere. With `SECANT` friction
has s̄ and 1/s alone: its tangent, small where it slides, can throw Newton's iteration from one direction of slip to the other; but near the
solution the secant takes half of the error with a correction, where the `TANGENT` takes it all.
"""

from __future__ import annotations

import math
from typing import Any

from nexdyn.forces import ball, mesh_list, mesh_overlap, mesh_search, overlap, surface_contact
from nexdyn.forces.capsule_press import axis_of, deepest, is_capsule, point, stiffened
from nexdyn.forces.contact import across, along, running
from nexdyn.forces.contact_data import OVERLAP, Parts, PointData
from nexdyn.forces.pressed import relative, share
from nexdyn.forces.round_press import round_slopes, sunk_here
from nexdyn.forces.sticking import Slip, laid, turned, yielding
from nexdyn.forces.sunk import is_round
from nexdyn.forces.tables import ForceEntries
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.spatial.algebra import Vec3, basis, cross, norm, plus_turned

SECANT, TANGENT = range(2)
NOTHING = 1e-300
"""What is smaller than this is nothing."""


@formula
def add_product(K, c, w, v, y, z):
    """K ← K + c g hᵀ, g = (w, v), h = (y, z)."""
    g, h = (w.x, w.y, w.z, v.x, v.y, v.z), (y.x, y.y, y.z, z.x, z.y, z.z)
    for i in range(6):
        for j in range(6):
            K[i, j] += c * g[i] * h[j]


@outlined
def add_side(data, k, K, room, side, part_of, gh, bh2, v0, w, u, to_b, rubs, kept):
    """The part `part_of` of a polygon; `rubs`: with friction that is regularised."""
    if side.corners < 3:
        return
    own = PointData(data, k)
    a = side.foot + room[side.first, 0] * side.one + room[side.first, 1] * side.two
    for i in range(side.first + 1, side.first + side.corners - 1):
        b = side.foot + room[i, 0] * side.one + room[i, 1] * side.two
        c = side.foot + room[i + 1, 0] * side.one + room[i + 1, 1] * side.two
        normal = cross(b - a, c - a)
        part = part_of * own.stiffness * math.sqrt(normal @ normal) / 6.0
        for h in range(3):
            # the middles of the sides, exact to degree 2
            x = 0.5 * (a + b) if h == 0 else (0.5 * (b + c) if h == 1 else 0.5 * (c + a))
            grip = 1.0 - own.damping * (side.deeper @ (v0 + cross(w, x)))
            if grip > 0.0:
                r, depth = to_b + x, share(side.at - side.n @ x)
                slope = 0.5 * part * (bh2 * grip + gh * own.damping * depth)
                pressed, deeper = cross(r, side.m), cross(r, side.deeper)
                add_product(K, slope, pressed, side.m, deeper, side.deeper)
                add_product(K, slope, deeper, side.deeper, pressed, side.m)
                if rubs:
                    v, rub = v0 + cross(w, x) + u.u, along(u, side.m)
                    v = across(rub, v - (side.m @ v) * side.m)
                    s = 1.0 / math.sqrt(v @ v + own.friction_speed * own.friction_speed)
                    stiff, slides = gh * own.mu * part * grip * depth * s, across(rub, s * v)
                    one, two = basis(side.m)
                    one, two = across(rub, one), across(rub, two)
                    add_product(K, stiff, cross(r, one), one, cross(r, one), one)
                    add_product(K, stiff, cross(r, two), two, cross(r, two), two)
                    if kept == TANGENT:
                        add_product(K, -stiff, cross(r, slides), slides, cross(r, slides), slides)


@outlined
def add_faces(data, k, K, room, gh, bh2, motion, rubs, kept):
    """The part of the pressure of bodies with faces."""
    X_A, V_A, X_B, V_B = motion
    parts = Parts(data, k + OVERLAP)
    found = overlap.near(data, k + OVERLAP, X_A, X_B, room)
    v0, w = relative(X_A, V_A, X_B, V_B, found.o)
    u, to_b = running(data, k, X_A, X_B), found.o - X_B.p
    for f in range(found.second):
        for g in range(found.second, found.polygons):
            if parts.b > 0.0:
                side = overlap.polygon(found, room, f, g, found.second)
                add_side(data, k, K, room, side, parts.b, gh, bh2, v0, w, u, to_b, rubs, kept)
            if parts.a > 0.0:
                side = overlap.polygon(found, room, g, f, found.second)
                add_side(data, k, K, room, side, parts.a, gh, bh2, v0, w, u, to_b, rubs, kept)


@outlined
def add_triangles(meshes, rows, depth, data, k, K, weights, motion, rubs, kept):
    """The part of the pressure of solids of triangles, which are so deep in each other."""
    gh, bh2 = weights
    X_A, V_A, X_B, V_B = motion
    walk, _, _ = mesh_search.begin(data, k + OVERLAP, X_A, X_B)
    while walk.reach < min(depth, walk.size):
        walk = mesh_search.farther(walk)
    v0, w = relative(X_A, V_A, X_B, V_B, walk.o)
    u, to_b = running(data, k, X_A, X_B), walk.o - X_B.p
    entry = mesh_list.first_entry(meshes, rows, walk)
    while entry.one >= 0:
        side, _ = mesh_list.pressing_side(meshes, rows, walk, entry)
        part = mesh_search.part_of(walk, entry.one)
        add_side(data, k, K, rows, side, part, gh, bh2, v0, w, u, to_b, rubs, kept)
        entry = mesh_list.next_entry(meshes, rows, walk, entry)


add_meshes = generic("add_meshes", "The same; of systems without meshes, which are None, nothing.")


@defines(add_meshes)
def _(meshes: None, place: Any, numbers: Any, K: Any, weights: Any, motion: Any, friction: Any) -> Any:
    return None


@defines(add_meshes)
def _(meshes: Any, place: Any, numbers: Any, K: Any, weights: Any, motion: Any, friction: Any) -> Any:
    rows, depth = place
    data, k = numbers
    rubs, kept = friction
    add_triangles(meshes, rows, depth, data, k, K, weights, motion, rubs, kept)


@formula
def add_friction(K, held, F, stiff, slides, r):
    """Friction over the whole area, S of it `stiff` in all directions, less its part `slides` along the unit vector F; r: from B to the
    centre of pressure."""
    o, n = Vec3(0.0, 0.0, 0.0), held.n
    one, two = basis(n)
    one, two = surface_contact.unscaled(held, one), surface_contact.unscaled(held, two)
    f = surface_contact.unscaled(held, F.along)
    add_product(K, stiff, cross(r, one), one, cross(r, one), one)
    add_product(K, stiff, cross(r, two), two, cross(r, two), two)
    add_product(K, stiff * held.r * held.r, n, o, n, o)
    about = cross(r, f) + (held.r * F.about) * n
    add_product(K, -stiff * slides, about, f, about, f)


@formula
def add_resistance(K, held, F, stiff, slides):
    """The same of what resists rolling and turning."""
    o, n, (rolls, turns) = Vec3(0.0, 0.0, 0.0), held.n, held.arms
    one, two = basis(n)
    add_product(K, stiff * rolls * rolls, one, o, one, o)
    add_product(K, stiff * rolls * rolls, two, o, two, o)
    add_product(K, stiff * turns * turns, n, o, n, o)
    about = rolls * F.along + (turns * F.about) * n
    add_product(K, -stiff * slides, about, o, about, o)


@formula
def sticking_slope(g, y, v, time, n, w, kept):
    """s̄, what of it goes where it slides, and F̂, from y at the start (world axes), by v."""
    part = yielding(g, y, v, time, n, w)
    stiff = part * g.root * g.root * time + g.damping
    F = g.root * turned(y, n, time * w) + stiff * v
    return part * stiff, 1.0 if kept == TANGENT and part < 1.0 else 0.0, (1.0 / max(norm(F), NOTHING)) * F


@formula
def add_moments(K, c, of, X_A, X_B, one, two, n):
    """K += c ∫ g gᵀ over a volume or an area `of` A, g = (r × n, n), r from B."""
    r = plus_turned(X_A.p, X_A.R, of.centre) - X_B.p
    o, a, b = Vec3(0.0, 0.0, 0.0), cross(one, n), cross(two, n)
    add_product(K, c * of.size, cross(r, n), n, cross(r, n), n)
    add_product(K, c * of.m11, a, o, a, o)
    add_product(K, c * of.m12, a, o, b, o)
    add_product(K, c * of.m12, b, o, a, o)
    add_product(K, c * of.m22, b, o, b, o)


@outlined
def add_round(data, k, K, gh, bh2, motion, s, place):
    """The part of the pressure of a round solid on a half-space, of the sums s, which act at `place`."""
    X_A, V_A, X_B, V_B = motion
    w, n = sunk_here(data, k, X_A, X_B), Vec3(X_B.R.xz, X_B.R.yz, X_B.R.zz)
    one, two, (v, _) = X_A.R @ w.one, X_A.R @ w.two, relative(X_A, V_A, X_B, V_B, place)
    deeper, faster = round_slopes(data, k, w, s.pressure, -(n @ v))
    add_moments(K, bh2 * deeper, w.area, X_A, X_B, one, two, n)
    if s.pressure > 0.0:
        add_moments(K, gh * faster, w.volume, X_A, X_B, one, two, n)


@outlined
def add_capsule(data, k, K, gh, bh2, motion):
    """The part of the pressure of a capsule on a solid at its two points."""
    X_A, V_A, X_B, V_B = motion
    own, axis, j = PointData(data, k), axis_of(data, k, X_A, X_B), k + OVERLAP
    s, stiff = deepest(data, j, axis), own.stiffness * stiffened(data, k, axis.u).factor
    for i in range(2):
        q = point(data, j, axis, 1.0 - 2.0 * i, s)
        if q.depth > 0.0:
            n, r = X_B.R @ q.n, X_B.R @ q.p
            v, _ = relative(X_A, V_A, X_B, V_B, X_B.p + r)
            grip, f_0 = 1.0 - own.damping * (n @ v), stiff * q.share * q.depth**own.exponent
            if grip > 0.0:
                about = cross(r, n)
                add_product(K, f_0 * (bh2 * grip * own.exponent / q.depth + gh * own.damping), about, n, about, n)


@kernel
def stiffness_over_area(tables, e, k, K, weights, motion, begun, kept):
    """K += that of force e, whose data begin at k; weights (γ h, β h²), the poses and velocities of A and B in turn, what sticks as it has
    `begun`, and what is `kept` of friction: SECANT or TANGENT."""
    gh, bh2 = weights
    X_A, V_A, X_B, V_B = motion
    data, room, own = tables.data, tables.room, PointData(tables.data, k)
    sticks, is_ball = ForceEntries(tables.index)[e].states > 0, ball.is_ball(data, k + OVERLAP)
    s, place = surface_contact.press(data, k, X_A, V_A, X_B, V_B, room, False)
    if not s.pressure > 0.0:
        return
    if is_ball:
        law = ball.law_of(data, k, k + OVERLAP, s.depth)
        n = (1.0 / s.pressure) * s.normal
        about = cross(place - X_B.p, n)
        v, _ = relative(X_A, V_A, X_B, V_B, place)
        deeper, faster = ball.slopes(data, k, law, s.pressure, s.depth, -(n @ v))
        slope = bh2 * deeper + gh * faster
        add_product(K, slope, about, n, about, n)
    elif is_round(data, k + OVERLAP):
        add_round(data, k, K, gh, bh2, motion, s, place)
    elif is_capsule(data, k + OVERLAP):
        add_capsule(data, k, K, gh, bh2, motion)
    elif mesh_overlap.is_mesh(data, k + OVERLAP):
        rubs = not sticks and own.mu > 0.0
        add_meshes(room.meshes, (room.rows, s.depth), (data, k), K, weights, motion, (rubs, kept))
    else:
        add_faces(data, k, K, room.rows, gh, bh2, motion, not sticks and own.mu > 0.0, kept)
    held = surface_contact.holding(data, k, s, place, X_A, V_A, X_B, V_B)
    r, v = held.p - X_B.p, held.v
    if sticks:
        y = laid(Slip(X_B.R @ begun.c.along, begun.c.about), held.n)
        stiff, slides, F = sticking_slope(held.grip, y, v, begun.g, held.n, held.spin, kept)
        add_friction(K, held, F, gh * stiff, slides, r)
        if surface_contact.resists(tables, e):
            y = laid(Slip(X_B.R @ begun.rolled.along, begun.rolled.about), held.n)
            g, time = held.resistance, begun.g_rolled
            stiff, slides, F = sticking_slope(g, y, held.roll, time, held.n, held.spin, kept)
            add_resistance(K, held, F, gh * stiff, slides)
    elif is_ball or is_round(data, k + OVERLAP) or is_capsule(data, k + OVERLAP):
        squared = v @ v + own.friction_speed * own.friction_speed
        F = (1.0 / max(norm(v), NOTHING)) * v
        slides = (v @ v) / squared if kept == TANGENT else 0.0
        add_friction(K, held, F, gh * own.mu * held.f_n / math.sqrt(squared), slides, r)
