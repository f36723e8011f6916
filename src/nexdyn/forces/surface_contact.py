"""Contact of two convex bodies with faces by elastic foundations: pressure over the surfaces that are in the other body.

    p_0 = k δ, m                             pressure at rest of a polygon, δ its depth in the other body, m its normal from B to A
    p = p_0 max(0, 1 + a δ̇)                  (``overlap``), with damping as by Hunt and Crossley at a point
    F = Σ w ∫ p m dA,   f_n = |F|,   n = F/f_n     w: w_B of the surface of A, w_A of that of B
    x_p = Σ w ∫ p x dA/Σ w ∫ p dA            the centre of pressure, where F acts, with the moment about it
    friction that sticks                     one spring at x_p for sliding along n and turning about it             (``sticking``)
                                             v with the velocities of surfaces that run, as in ``contact``; δ̇ without
                                             σ = ρ k A,   A = Σ w A;   of a sphere ρ max(df/dδ, f/δ)
                                             across a direction and along it as in ``contact``; along surfaces that
                                             are not parallel, by more than f_n                          (``pressed``)
what resists rolling and turning             the same law of torques over arms, with l_r (1 − n nᵀ) ω and l_t n · ω for v, ω of A against B;
                                             it sticks up to c/l f_n, torques up to c_r f_n and c_t f_n, c the larger of these,
                                             l_r = l c_r/c, l_t = l c_t/c, and l² = I/m: so that bodies sway in it as fast as
                                             along the surfaces (m and I: of both, I the mean of three axes; l = c without)
    with friction_speed v_f                  f_t = −μ Σ w ∫ p v_t/√(|v_t|² + v_f²) dA, without a spring
    U = k ∫ (w_A δ_A + w_B δ_B) dV + Σ ½ |y|²  what is stored

These are integrated over polygons (``pressed``).

A sphere against a solid is such a contact too, over an area or at a point, with the sums that ``ball`` has in closed form; so is a
capsule against a solid, at points (``capsule_press``); and so are a cylinder, a cone, a capsule or an ellipsoid on a half-space, with those
of ``sunk`` or ``touched``, where d δ̇ counts as ∫ p (1 + a δ̇) dA of all that is under the plane, and two solids of triangles
(``mesh_overlap``).

Data: those of a point of contact with e = 1 and k (``contact``), l_r, l_t, c/l, then those of ``overlap``.
States, where friction sticks: y along the surfaces in the axes of B, and about the normal; then the same of what resists rolling.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces import ball, sticking
from nexdyn.forces.capsule_press import capsule_energy, is_capsule, press_capsule, towards
from nexdyn.forces.contact import HELD, Extent, Rub, Seen, across, along, put_state, running
from nexdyn.forces.contact_data import OVERLAP, POINT_DATA, Parts, PointData, Resistance
from nexdyn.forces.foundations import BetweenSolids
from nexdyn.forces.kinds import SURFACE
from nexdyn.forces.mesh_overlap import Room, is_mesh
from nexdyn.forces.mesh_press import meshes_apart, press_meshes, stored_in_meshes
from nexdyn.forces.overlap import (
    UNBOUNDED,
    FacesData,
    deepest,
    near,
    polygon,
    room_for,
    stored,
)
from nexdyn.forces.page import NO_LANES, OF_ITS_STEP, Between, alone, no_number, nowhere
from nexdyn.forces.pressed import (
    DISC,
    Uneven,
    add_side,
    deeper_by,
    evened,
    nothing_pressed,
    pressing,
    relative,
    share,
    uneven,
)
from nexdyn.forces.round_press import press_ball, press_round, round_energy
from nexdyn.forces.sticking import Slip
from nexdyn.forces.sunk import is_round
from nexdyn.forces.tables import ForceEntries
from nexdyn.generic import defines, generic
from nexdyn.geometry.hull import surface
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.model.once import once
from nexdyn.model.shapes import Box, HalfSpace, Hull, Shape
from nexdyn.spatial.algebra import Force, Motion, T, Vec3, cross, norm, vector_at
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.spatial.table import MotionRows, PoseRows


class SurfaceContact(BetweenSolids):
    """Contact of convex solids with faces: each an nx.Box, nx.Hull or nx.HalfSpace."""

    kind = "surface_contact"

    def extent(self, values: Mapping[str, float]) -> Extent:
        thin, reach = [], []
        for solid in (self.solid_a, self.solid_b):
            faces, corners, (*centre, radius) = solid_numbers(solid)
            thin.append(float((faces[:, 3] - faces[:, :3] @ centre).min()) if len(corners) else inf)
            reach.append(float(np.linalg.norm(centre)) + radius)
        return Extent(min(thin) if inf not in thin else inf, *reach)

    def far(self, values: Mapping[str, float]) -> list[float]:
        *numbers, _ = super().far(values)
        plane = {0.0: None, 1.0: self.solid_b, -1.0: self.solid_a}[numbers[1]]
        return [*numbers, 0.0 if plane is None else float(np.dot(numbers[2:], plane.position))]

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Those of a point of contact, then those of the solids."""
        parts, numbers = self.parts(values), super().data(values)
        sides = [solid_numbers(self.__dict__[f"solid_{x}"]) for x in "ab"]
        counts = [len(x) for faces, corners, _ in sides for x in (faces, corners)]
        balls = [x for _, _, ball in sides for x in ball]
        faces = [x for one, _, _ in sides for x in one.ravel().tolist()]
        corners = [x for _, one, _ in sides for x in one.ravel().tolist()]
        return [*numbers, *parts, *counts, *balls, *faces, *corners]

    def room(self, values: Mapping[str, float]) -> int:
        """Rows of scratch that it needs (``overlap``)."""
        return room_for(sum(len(solid_numbers(self.__dict__[f"solid_{x}"])[0]) for x in "ab"))

    def motion_table(self, data: list[float], A: np.ndarray, B: np.ndarray, z: np.ndarray) -> np.ndarray:
        own = FacesData(data, OVERLAP)
        rows = room_for(int(own.faces_a + own.faces_b))
        return observed(data, A, B, z, Room(np.zeros((rows, 4)), None))


def observed(data: list[float], A: np.ndarray, B: np.ndarray, z: np.ndarray, room: Room) -> np.ndarray:
    """(N, 1, 21), as `motion_table` of a contact, with its scratch."""
    out = np.empty((len(A), 1, Seen.columns))
    motion_a, motion_b, own = (np.ascontiguousarray(x) for x in (A, B, z))
    observe_surface(np.array(data), motion_a, motion_b, own, room, out)
    return out


def solid_numbers(shape: Shape) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Faces (nf, 4), corners (nc, 3), centre and radius of a ball around a solid, in the axes of its body."""
    return once(("solid", shape), lambda: _solid_numbers(shape))


def _solid_numbers(shape: Shape) -> tuple[np.ndarray, np.ndarray, list[float]]:
    R, p = rotation_matrix(np.array(shape.orientation)), np.array(shape.position)
    match shape:
        case HalfSpace():
            faces, corners = np.array([[0.0, 0.0, 1.0, 0.0]]), np.zeros((0, 3))
        case Box():
            half = 0.5 * np.array(shape.size)
            faces = np.column_stack([np.vstack([np.eye(3), -np.eye(3)]), np.tile(half, 2)])
            corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]) * half
        case Hull():
            corners, faces, _ = surface(shape.points)
        case _:
            raise InputError(f"{shape} has no faces; a Box, a Hull or a HalfSpace has")
    normals, corners = faces[:, :3] @ R.T, corners @ R.T + p
    faces = np.column_stack([normals, faces[:, 3] + normals @ p])
    centre = 0.5 * (corners.min(axis=0) + corners.max(axis=0)) if len(corners) else p
    radius = float(np.linalg.norm(corners - centre, axis=1).max()) if len(corners) else UNBOUNDED
    return faces, corners, [*centre.tolist(), radius]


class Held(NamedTuple):
    """What friction holds over an area: normal, centre of pressure (world), f_n, the sliding velocity, S of it and about the normal, r,
    how the surfaces rub, by what they hold more than a plane, w of ``sticking``, and the grip; of what resists rolling its arms, velocity
    and grip."""

    n: Vec3
    p: Vec3
    f_n: float
    v_t: Vec3
    v: Slip
    r: float
    rub: Rub
    uneven: Uneven
    spin: float
    grip: sticking.Grip
    arms: tuple[float, float]
    roll: Slip
    resistance: sticking.Grip


@outlined
def press(data, k, X_A, V_A, X_B, V_B, scratch, rubs):
    """The sums, and o."""
    if ball.is_ball(data, k + OVERLAP):
        return press_ball(data, k, X_A, V_A, X_B, V_B, rubs)
    if is_round(data, k + OVERLAP):
        return press_round(data, k, X_A, V_A, X_B, V_B, rubs)
    if is_capsule(data, k + OVERLAP):
        return press_capsule(data, k, X_A, V_A, X_B, V_B, rubs)
    if is_mesh(data, k + OVERLAP):
        return press_meshes(scratch.meshes, scratch.rows, data, k, (X_A, V_A, X_B, V_B), rubs)
    room = scratch.rows
    found = near(data, k + OVERLAP, X_A, X_B, room)
    s = nothing_pressed(found.depth)
    if found.any:
        (v0, w), u, parts = relative(X_A, V_A, X_B, V_B, found.o), running(data, k, X_A, X_B), Parts(data, k + OVERLAP)
        for f in range(found.second):
            for g in range(found.second, found.polygons):
                for one in range(2):
                    part, i, j = (parts.b, f, g) if one == 0 else (parts.a, g, f)
                    if part > 0.0:
                        side = polygon(found, room, i, j, found.second)
                        if side.corners < 3:
                            continue
                        s = deeper_by(s, deepest(side, room))
                        side = pressing(data, k, side, found, room, v0, w)
                        if side.corners > 2:
                            s = add_side(data, k, side, one, part, room, v0, w, u, rubs, s)
    return s, found.o


@formula
def holding(data, k, s, o, X_A, V_A, X_B, V_B):
    """What friction that sticks holds, of the sums s, which are not nothing."""
    f_n = sqrt(s.normal @ s.normal)
    n, centre = (1.0 / f_n if f_n > 0.0 else 0.0) * s.normal, (1.0 / s.pressure) * s.first
    r = DISC * sqrt(share(s.second / s.pressure - centre @ centre))
    p = o + centre
    v, w = relative(X_A, V_A, X_B, V_B, p)
    rub = along(running(data, k, X_A, X_B), n)
    v = v + rub.u
    v_t = v - (n @ v) * n
    more = uneven(s, n)
    slip = Slip(evened(more, across(rub, v_t)), r * (n @ w))
    grip = sticking.grip(PointData(data, k).friction, s.slope, more.gain * f_n, norm(slip))
    own = Resistance(data, k + POINT_DATA)
    arms = (own.rolls, own.turns)
    roll = Slip(arms[0] * (w - (n @ w) * n), arms[1] * (n @ w))
    resistance = sticking.Grip(grip.root, grip.damping, own.part * f_n)
    return Held(n, p, f_n, v_t, slip, r, rub, more, 0.5 * (n @ w), grip, arms, roll, resistance)


@formula
def slip_state(array, j):
    """The four numbers from j on."""
    return Slip(vector_at(array, j), array[j + 3])


@formula
def put_slip(array, j, y):
    """array[j:j + 4] = y."""
    put_state(array, j, y.along)
    array[j + 3] = y.about


@formula
def in_b(X_B, y):
    """What lies along the surfaces in the axes of B."""
    return Slip(T(X_B.R) @ y.along, y.about)


@formula
def held_force(h, f, X_B):
    """Force and moment on A at the centre of pressure of f (axes of B), world axes."""
    return Force((h.r * f.about) * h.n, unscaled(h, X_B.R @ f.along))


@formula
def scaled(h, x):
    """S x of what moves along the surfaces: friction is held within a circle of it."""
    return evened(h.uneven, across(h.rub, x))


@formula
def unscaled(h, f):
    """Sᵀ f."""
    return across(h.rub, evened(h.uneven, f))


@formula
def held_moment(h, f, X_B):
    """Moment on A of what resists rolling and turning by f (axes of B), world axes."""
    return h.arms[0] * (X_B.R @ f.along) + (h.arms[1] * f.about) * h.n


class Begun(NamedTuple):
    """c (axes of B) and g of the step at hand of what friction holds, and of what resists rolling (``sticking``)."""

    c: Slip
    g: float
    rolled: Slip
    g_rolled: float


NOT_HELD = Slip(Vec3(0.0, 0.0, 0.0), 0.0)
NOT_BEGUN = Begun(NOT_HELD, 0.0, NOT_HELD, 0.0)
ONE = 4
"""How many states one vector of what is held has."""


@formula
def wrenches(s, o, X_A, X_B):
    """Forces on A and B, each at its origin, of the sums about o."""
    F = s.all
    return Force(F.n + cross(o - X_A.p, F.f), F.f), Force(-(F.n + cross(o - X_B.p, F.f)), -F.f)


@outlined
def wrench_here(tables, e, k, X_A, V_A, X_B, V_B):
    """Forces on A and on B, each at its origin, in the world; where friction sticks also the rates of its states, as in ``contact``."""
    force = ForceEntries(tables.index)[e]
    data, sticks = tables.data, force.states > 0
    s, o = press(data, k, X_A, V_A, X_B, V_B, tables.room, not sticks and PointData(data, k).mu > 0.0)
    F_A, F_B = wrenches(s, o, X_A, X_B)
    if sticks:
        for m in range(force.state, force.state + force.states):
            tables.inside[m] = tables.inner[m] = tables.rate[m] = tables.bound[m] = 0.0
        if s.pressure > 0.0:
            h = holding(data, k, s, o, X_A, V_A, X_B, V_B)
            W = held_force(h, pulled(tables, force.state, h.grip, h.v, h, X_B), X_B)
            if resists(tables, e):
                f = pulled(tables, force.state + ONE, h.resistance, h.roll, h, X_B)
                W = Force(W.n + held_moment(h, f, X_B), W.f)
            F_A = F_A + Force(W.n + cross(h.p - X_A.p, W.f), W.f)
            F_B = F_B - Force(W.n + cross(h.p - X_B.p, W.f), W.f)
    return F_A, F_B


@formula
def resists(tables, e):
    """Whether force e resists rolling."""
    return ForceEntries(tables.index)[e].states > ONE


@formula
def pulled(tables, j, grip, v, h, X_B):
    """f (axes of B) of the states from j on, which the velocity v (world) stretches; fills their rates and bounds."""
    n = T(X_B.R) @ h.n
    f, y, inner, rate = sticking.drag(grip, sticking.laid(slip_state(tables.z, j), n), in_b(X_B, v), n, h.spin)
    most = sticking.bound(grip)
    put_slip(tables.inside, j, y)
    put_slip(tables.inner, j, inner)
    put_slip(tables.rate, j, rate)
    put_slip(tables.bound, j, Slip(Vec3(most, most, most), most))
    return f


@outlined
def stretch_here(tables, e, k, X_A, V_A, X_B, V_B, begun):
    """y at the end of a step into z (``sticking``); returns √σ."""
    force = ForceEntries(tables.index)[e]
    data, j, root = tables.data, force.state, 0.0
    for m in range(j, j + force.states):
        tables.z[m] = 0.0
    s, o = press(data, k, X_A, V_A, X_B, V_B, tables.room, False)
    if s.pressure > 0.0:
        h = holding(data, k, s, o, X_A, V_A, X_B, V_B)
        n, root = T(X_B.R) @ h.n, h.grip.root
        c, rolled, w = sticking.laid(begun.c, n), sticking.laid(begun.rolled, n), h.spin
        put_slip(tables.z, j, sticking.stretched(h.grip, c, in_b(X_B, h.v), begun.g, n, w))
        if resists(tables, e):
            y = sticking.stretched(h.resistance, rolled, in_b(X_B, h.roll), begun.g_rolled, n, w)
            put_slip(tables.z, j + ONE, y)
    return root


@outlined
def energy_here(tables, e, k, X_A, X_B):
    """U."""
    force = ForceEntries(tables.index)[e]
    data, zero, own = tables.data, Vec3(0.0, 0.0, 0.0), PointData(tables.data, k)
    if ball.is_ball(data, k + OVERLAP):
        d, _ = ball.distance(data, k + OVERLAP, T(X_B.R) @ (X_A.p - X_B.p))
        U = ball.law_of(data, k, k + OVERLAP, own.radius - d).energy
    elif is_round(data, k + OVERLAP):
        U = round_energy(data, k, X_A, X_B)
    elif is_capsule(data, k + OVERLAP):
        U = capsule_energy(data, k, X_A, X_B)
    elif is_mesh(data, k + OVERLAP):
        U = stored_in_meshes(tables.room.meshes, tables.room.rows, data, k, X_A, X_B)
    else:
        rows = tables.room.rows
        found = near(data, k + OVERLAP, X_A, X_B, rows)
        if not found.any:
            return 0.0
        U = own.stiffness * stored(data, k + OVERLAP, found, rows)
    if force.states > 0:
        still = Motion(zero, zero)
        s, o = press(data, k, X_A, still, X_B, still, tables.room, False)
        if s.pressure > 0.0:
            h = holding(data, k, s, o, X_A, still, X_B, still)
            j = force.state
            y = sticking.shortened(slip_state(tables.z, j), sticking.bound(h.grip))
            U += 0.5 * (y @ y)
            if resists(tables, e):
                y = sticking.shortened(slip_state(tables.z, j + ONE), sticking.bound(h.resistance))
                U += 0.5 * (y @ y)
    return U


surface_wrench = generic(
    "surface_wrench",
    "The forces on A and B, of their poses and velocities in turn; none where `room` is None: no areas.",
)
surface_stretch = generic("surface_stretch", "The stretch at the end of a step; returns √σ.")
surface_energy = generic("surface_energy", "U.")


@defines(surface_wrench)
def _(room: None, tables: Any, e: Any, k: Any, motion: Any) -> Any:
    nothing = Vec3(0.0, 0.0, 0.0)
    return Force(nothing, nothing), Force(nothing, nothing)


@defines(surface_wrench)
def _(room: Any, tables: Any, e: Any, k: Any, motion: Any) -> Any:
    X_A, V_A, X_B, V_B = motion
    return wrench_here(tables, e, k, X_A, V_A, X_B, V_B)


@defines(surface_stretch)
def _(room: None, tables: Any, e: Any, k: Any, motion: Any, begun: Any) -> Any:
    return 0.0


@defines(surface_stretch)
def _(room: Any, tables: Any, e: Any, k: Any, motion: Any, begun: Any) -> Any:
    X_A, V_A, X_B, V_B = motion
    return stretch_here(tables, e, k, X_A, V_A, X_B, V_B, begun)


@defines(surface_energy)
def _(room: None, tables: Any, e: Any, k: Any, X_A: Any, X_B: Any) -> Any:
    return 0.0


@defines(surface_energy)
def _(room: Any, tables: Any, e: Any, k: Any, X_A: Any, X_B: Any) -> Any:
    return energy_here(tables, e, k, X_A, X_B)


@kernel
def observe_surface(data, motion_a, motion_b, z, room, out):
    """Fill out (N, 1, 21) as ``contact.observe_contacts`` does; z (N, 8), (N, 4) or (N, 0)."""
    X_A, V_A, X_B, V_B = (
        PoseRows(motion_a, 0),
        MotionRows(motion_a, 12),
        PoseRows(motion_b, 0),
        MotionRows(motion_b, 12),
    )
    for i in range(len(out)):
        row, held, own = Seen(out[i, 0]), z.shape[1] > 0, PointData(data)
        rubs = not held and own.mu > 0.0 and own.friction_speed > 0.0
        s, o = press(data, 0, X_A[i], V_A[i], X_B[i], V_B[i], room, rubs)
        for c in range(out.shape[2]):
            out[i, 0, c] = 0.0
        if not s.pressure > 0.0:
            row.point, row.depth = o, s.depth
            if is_mesh(data, OVERLAP) and not s.depth > 0.0:
                row.depth = meshes_apart(room.meshes, data, 0, X_A[i], X_B[i])
            of_ball, of_capsule = ball.is_ball(data, OVERLAP), is_capsule(data, OVERLAP)
            if of_ball or of_capsule or is_round(data, OVERLAP):
                n = X_B[i].R @ Vec3(0.0, 0.0, 1.0)
                if of_ball:
                    _, n = ball.distance(data, OVERLAP, T(X_B[i].R) @ (X_A[i].p - X_B[i].p))
                    n = X_B[i].R @ n
                elif of_capsule:
                    n = towards(data, 0, X_A[i], X_B[i])
                v, _ = relative(X_A[i], V_A[i], X_B[i], V_B[i], o)
                v = v + running(data, 0, X_A[i], X_B[i]).u
                row.normal, row.sliding = n, v - (n @ v) * n
            continue
        h = holding(data, 0, s, o, X_A[i], V_A[i], X_B[i], V_B[i])
        if held:
            n, w = T(X_B[i].R) @ h.n, h.spin
            f, _, _, _ = sticking.drag(h.grip, sticking.laid(slip_state(z[i], 0), n), in_b(X_B[i], h.v), n, w)
            W = held_force(h, f, X_B[i])
            f_t, moment = W.f, s.all.n - cross(h.p - o, s.all.f) + W.n
            if z.shape[1] > ONE:
                y = sticking.laid(slip_state(z[i], ONE), n)
                g, _, _, _ = sticking.drag(h.resistance, y, in_b(X_B[i], h.roll), n, w)
                moment = moment + held_moment(h, g, X_B[i])
            row.sticks = 1.0 if norm(f) < HELD * h.grip.most else 0.0
        else:
            f_t = s.all.f - s.normal
            moment = s.all.n - cross(h.p - o, s.all.f)
        row.force, row.point, row.moment = s.normal + f_t, h.p, moment
        row.normal_force, row.tangential_force, row.depth = h.f_n, sqrt(f_t @ f_t), s.depth
        row.normal, row.sliding = h.n, h.v_t
        row.area, row.pressure = s.area, s.peak


@formula
def area_wrenches(tables, e, k, X_WA, V_A, X_WB, V_B):
    """Forces on A and on B."""
    return surface_wrench(tables.room, tables, e, k, (X_WA, V_A, X_WB, V_B))


@formula
def area_energy(tables, e, k, X_WA, X_WB):
    """U."""
    return surface_energy(tables.room, tables, e, k, X_WA, X_WB)


PAGE = Between(
    SURFACE, "contact over areas", alone(area_wrenches, nowhere), alone(area_energy, no_number), OF_ITS_STEP, NO_LANES
)
