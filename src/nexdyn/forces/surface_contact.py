"""Contact of two convex bodies with faces by elastic foundations: pressure over the surfaces that are in the other body.

    p_0 = k δ, m                             pressure at rest of a polygon, δ its depth in the other body, m its normal from B to A
    p = p_0 max(0, 1 + a δ̇)                  (``overlap``), with damping as by Hunt and Crossley at a point
    F = Σ w ∫ p m dA,   f_n = |F|,   n = F/f_n     w: w_B of the surface of A, w_A of that of B
    x_p = Σ w ∫ p x dA/Σ w ∫ p dA            the centre of pressure, where F acts, with the moment about it
    friction that sticks                     one spring at x_p for sliding along n and turning about it             (``sticking``)
                                             v with the velocities of surfaces that run, as in ``contact``; δ̇ without
                                             σ = ρ k A,   A = Σ w A;   of a sphere ρ max(df/dδ, f/δ)
    with friction_speed v_f                  f_t = −μ Σ w ∫ p v_t/√(|v_t|² + v_f²) dA, without a spring
    U = k ∫ (w_A δ_A + w_B δ_B) dV + ½ |y|²  what is stored

Each polygon is cut to where 1 + a δ̇ ≥ 0 and divided into triangles; what is integrated is of degree 4 at most, for which six points
are exact (Dunavant, Int. J. Numer. Meth. Eng. 21, 1985), but for friction that is regularised.

A sphere against a solid is such a contact too, over an area or at a point, with the sums that ``ball`` has in closed form; and so are
two solids of triangles (``mesh_overlap``).

Data: those of a point of contact with e = 1 and k (``contact``), then those of ``overlap``.
States, where friction sticks: y along the surfaces in the axes of B, and about the normal.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces import ball, sticking
from nexdyn.forces.contact import (
    AREA,
    CONTACT_COLUMNS,
    DEPTH,
    HELD,
    PRESSURE,
    STICK,
    ContactForce,
    Extent,
    Placed,
    put_state,
    running,
    state,
)
from nexdyn.forces.contact_law import LawNumbers
from nexdyn.forces.kinds import SURFACE
from nexdyn.forces.mesh_overlap import Room, about, begin, farther, is_mesh, next_pair, sides_of, start, stored_by
from nexdyn.forces.overlap import (
    FACES_A,
    FACES_B,
    OVERLAP,
    PART_A,
    PART_B,
    UNBOUNDED,
    Near,
    cut,
    deepest,
    flat,
    near,
    polygon,
    room_for,
    stored,
)
from nexdyn.forces.sticking import Slip
from nexdyn.forces.tables import STATE, STATES
from nexdyn.generic import defines, generic
from nexdyn.geometry.hull import surface
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.model.element import Element
from nexdyn.model.shapes import Box, HalfSpace, Hull, Shape
from nexdyn.spatial.algebra import Force, Motion, T, Vec3, cross
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.spatial.table import MotionRows, PoseRows

DISC = 2.0 * sqrt(2.0) / 3.0
"""r of a disc of even pressure, as a part of its radius of gyration."""
INNER, OUTER, W_INNER, W_OUTER = 0.445948490915965, 0.091576213509771, 0.223381589678011, 0.109951743655322
"""The points of a triangle of degree 4: two of their three coordinates, and weights."""


class Foundations(ContactForce):
    """What a contact over an area has: the foundations of both sides."""

    code = SURFACE
    foundation_a: Any
    foundation_b: Any

    @property
    def over_area(self) -> bool:
        """Whether it has an area, not a point."""
        return True

    def states(self, values: Mapping[str, float]) -> list[tuple[str, str, float]]:
        return [(f"held_{axis}", "J^0.5", 0.0) for axis in ("x", "y", "z", "about")] if self.sticks else []

    def stiffness_unit(self, values: Mapping[str, float]) -> str:
        return "N/m^3" if self.over_area else super().stiffness_unit(values)

    def law(self, values: Mapping[str, float]) -> LawNumbers:
        return (
            super().law(values)._replace(stiffness=1.0 / sum(self._gives(values)))
            if self.over_area
            else super().law(values)
        )

    def _gives(self, values: Mapping[str, float]) -> list[float]:
        """c_A and c_B [m³/N]."""
        given = [self.__dict__[f"foundation_{x}"] for x in "ab"]
        gives = [
            0.0 if k is None else 1.0 / self._positive(f"foundation_{x}", values)
            for k, x in zip(given, "ab", strict=True)
        ]
        if not sum(gives) > 0.0:
            raise InputError(f"{self} has no foundation; give foundation_a or foundation_b, or both")
        return gives

    def pressed(self, values: Mapping[str, float], A: np.ndarray, B: np.ndarray) -> tuple[float, float]:
        """The penetration [m], and the largest pressure times the area [N], which is much also where forces cancel."""
        a, b = (np.concatenate([pose, np.zeros(6)])[None] for pose in (A, B))
        row = self.motion_table(self.data(values), a, b, np.zeros((1, 0)))[0, 0]
        return float(row[DEPTH]), float(row[AREA] * row[PRESSURE])

    def parts(self, values: Mapping[str, float]) -> list[float]:
        """w_A and w_B (``overlap``)."""
        gives = self._gives(values)
        return [give / sum(gives) for give in gives]


class BetweenSolids(Foundations):
    """A contact over an area of a solid of `a` and a solid of `b`.

    solid_a, solid_b: resolved shapes, in the axes of `a` and `b`; not both half-spaces.
    foundation_a, foundation_b [N/m³]: of the layer on each; None of what is rigid. All else: :class:`ContactLaw`.
    """

    structural = ContactForce.structural | {"solid_a", "solid_b"}
    solid_a: Shape
    solid_b: Shape

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str,
        *,
        solid_a: Shape,
        solid_b: Shape,
        foundation_a: Any = None,
        foundation_b: Any = None,
        **law: Any,
    ) -> None:
        super().__init__(name, a=a, b=b, **{**law, "stiffness": 1.0, "exponent": 1.0})
        self._store(solid_a=solid_a, solid_b=solid_b, foundation_a=foundation_a, foundation_b=foundation_b)

    def shape(self, values: Mapping[str, float]) -> tuple[float, float, float, float]:
        return 0.0, 0.0, 0.0, 0.0

    def normals(self, values: Mapping[str, float]) -> tuple[np.ndarray | None, np.ndarray | None]:
        return normal_of(self.solid_a), normal_of(self.solid_b)


def normal_of(solid: Shape) -> np.ndarray | None:
    """The normal (3,) of a half-space, in the axes of its body; None of what has no one plane."""
    return place_of(solid).R[:, 2] if isinstance(solid, HalfSpace) else None


def place_of(solid: Shape) -> Placed:
    """The frame of a solid in the axes of its body."""
    return Placed(rotation_matrix(np.array(solid.orientation)), np.array(solid.position))


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
        rows = room_for(int(data[OVERLAP + FACES_A] + data[OVERLAP + FACES_B]))
        return observed(data, A, B, z, Room(np.zeros((rows, 4)), None))


def observed(data: list[float], A: np.ndarray, B: np.ndarray, z: np.ndarray, room: Room) -> np.ndarray:
    """(N, 1, 21), as `motion_table` of a contact, with its scratch."""
    out = np.empty((len(A), 1, CONTACT_COLUMNS))
    motion_a, motion_b, own = (np.ascontiguousarray(x) for x in (A, B, z))
    observe_surface(np.array(data), motion_a, motion_b, own, room, out)
    return out


def solid_numbers(shape: Shape) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Faces (nf, 4), corners (nc, 3), centre and radius of a ball around a solid, in the axes of its body."""
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


class Pressed(NamedTuple):
    """Sums about o: forces on A, with friction that is regularised; those of the normal pressure alone; ∫ p dA, ∫ p x dA,
    ∫ p x² dA; the area that presses, the largest depth and pressure, and the stiffness along the normal at rest, as friction has it."""

    all: Force
    normal: Vec3
    pressure: float
    first: Vec3
    second: float
    area: float
    depth: float
    peak: float
    slope: float


class Held(NamedTuple):
    """What friction holds over an area: normal, centre of pressure (world), f_n, the relative velocity, r, and the grip."""

    n: Vec3
    p: Vec3
    f_n: float
    v: Slip
    r: float
    grip: sticking.Grip


@formula
def share(x):  # type: ignore[no-untyped-def]
    """x, not negative."""
    return x if x > 0.0 else 0.0


@outlined
def add_point(data, k, side, x, weight, v0, w, u, rubs, s):  # type: ignore[no-untyped-def]
    """What stands at the point x about o, of the area `weight`; v = v0 + w × x, and with it the surface of A runs by u."""
    v = v0 + cross(w, x)
    rate = -(side.deeper @ v)
    p = weight * data[k] * share(side.at - side.n @ x) * share(1.0 + data[k + 2] * rate)
    normal = p * side.m
    f = normal
    if rubs:
        v_t = v + u
        v_t = v_t - (side.m @ v_t) * side.m
        f = f - (data[k + 3] * p / sqrt(v_t @ v_t + data[k + 4] * data[k + 4])) * v_t
    return Pressed(
        Force(s.all.n + cross(x, f), s.all.f + f), s.normal + normal, s.pressure + p, s.first + p * x, s.second + p * (x @ x), s.area,
        s.depth, s.peak, s.slope,
    )  # fmt: skip


@outlined
def add_side(data, k, side, part_of, room, v0, w, u, rubs, s):  # type: ignore[no-untyped-def]
    """The part `part_of` of a polygon, by triangles about its centre, which are the same from whichever corner it is counted."""
    whole, centre = flat(side, room)
    if not whole > 0.0:
        return s
    last = side.first + side.corners - 1
    a = side.foot + room[last, 0] * side.one + room[last, 1] * side.two
    peak = 0.0
    for j in range(side.first, last + 1):
        b = side.foot + room[j, 0] * side.one + room[j, 1] * side.two
        grip = 1.0 - data[k + 2] * (side.deeper @ (v0 + cross(w, b)))
        peak = max(peak, data[k] * (side.at - side.n @ b) * grip)
        part = 0.5 * part_of * abs(side.m @ cross(a - centre, b - centre))
        for h in range(2):
            near_two, weight = (INNER, W_INNER * part) if h == 0 else (OUTER, W_OUTER * part)
            far = 1.0 - 2.0 * near_two
            s = add_point(data, k, side, far * a + near_two * (b + centre), weight, v0, w, u, rubs, s)
            s = add_point(data, k, side, far * b + near_two * (centre + a), weight, v0, w, u, rubs, s)
            s = add_point(data, k, side, far * centre + near_two * (a + b), weight, v0, w, u, rubs, s)
        a = b
    return Pressed(
        s.all, s.normal, s.pressure, s.first, s.second, s.area + part_of * whole, s.depth, max(s.peak, peak),
        s.slope + data[k] * (part_of * whole),
    )  # fmt: skip


@formula
def pressing(data, k, side, found, room, v0, w):  # type: ignore[no-untyped-def]
    """What of a polygon presses: where 1 + a δ̇ ≥ 0."""
    a = data[k + 2]
    if a == 0.0:
        return side
    # δ̇ = −deeper · (v0 + w × ξ)
    other = found.polygons + (found.polygons + len(room)) // 2 - side.first
    side, _ = cut(room, side, other, a * cross(side.deeper, w), 1.0 - a * (side.deeper @ v0))
    return side


@formula
def relative(X_A, V_A, X_B, V_B, o):  # type: ignore[no-untyped-def]
    """The velocity of A against B at o, and of turning."""
    v = V_A.v + cross(V_A.w, o - X_A.p) - V_B.v - cross(V_B.w, o - X_B.p)
    return v, V_A.w - V_B.w


@formula
def deeper_by(s, depth):  # type: ignore[no-untyped-def]
    """The sums with a depth that also counts where a body leaves too fast to press."""
    return Pressed(s.all, s.normal, s.pressure, s.first, s.second, s.area, max(s.depth, depth), s.peak, s.slope)


@formula
def nothing_pressed(depth):  # type: ignore[no-untyped-def]
    """The sums of nothing, with a depth."""
    zero = Vec3(0.0, 0.0, 0.0)
    return Pressed(Force(zero, zero), zero, 0.0, zero, 0.0, 0.0, depth, 0.0, 0.0)


@outlined
def press_ball(data, k, X_A, V_A, X_B, V_B, rubs):  # type: ignore[no-untyped-def]
    """The sums of a sphere about the centre of A and a solid (``ball``), and where it touches."""
    j, o = k + OVERLAP, Vec3(0.0, 0.0, 0.0)
    d, n = ball.distance(data, j, T(X_B.R) @ (X_A.p - X_B.p))
    n, depth = X_B.R @ n, data[k + ball.RADIUS] - d
    law, x = ball.law_of(data, k, j, depth), X_A.p - d * n
    v, w = relative(X_A, V_A, X_B, V_B, x)
    rate = -(n @ v)
    grip = share(1.0 + data[k + 2] * rate)
    f_n = grip * law.f
    f, torque = f_n * n, 0.0
    if rubs:
        slip, about = v + running(data, k, X_A, X_B), law.turning * (n @ w)
        v_t = slip - (n @ slip) * n
        s = data[k + 3] * f_n / sqrt(v_t @ v_t + about * about + data[k + 4] * data[k + 4])
        f, torque = f - s * v_t, -s * law.turning * about
    gyration = law.turning / DISC
    return Pressed(
        Force(torque * n, f), f_n * n, f_n, o, f_n * gyration * gyration, law.area, depth, grip * law.peak, law.hold
    ), x  # fmt: skip


@outlined
def press(data, k, X_A, V_A, X_B, V_B, scratch, rubs):  # type: ignore[no-untyped-def]
    """The sums, and o."""
    if ball.is_ball(data, k + OVERLAP):
        return press_ball(data, k, X_A, V_A, X_B, V_B, rubs)
    if is_mesh(data, k + OVERLAP):
        return press_meshes(scratch.meshes, scratch.rows, data, k, (X_A, V_A, X_B, V_B), rubs)
    room = scratch.rows
    found = near(data, k + OVERLAP, X_A, X_B, room)
    s = nothing_pressed(found.depth)
    if found.any:
        (v0, w), u = relative(X_A, V_A, X_B, V_B, found.o), running(data, k, X_A, X_B)
        for f in range(found.second):
            for g in range(found.second, found.polygons):
                for one in range(2):
                    part, i, j = (data[k + OVERLAP + PART_B], f, g) if one == 0 else (data[k + OVERLAP + PART_A], g, f)
                    if part > 0.0:
                        side = polygon(found, room, i, j, found.second)
                        if side.corners < 3:
                            continue
                        s = deeper_by(s, deepest(side, room))
                        side = pressing(data, k, side, found, room, v0, w)
                        if side.corners > 2:
                            s = add_side(data, k, side, part, room, v0, w, u, rubs, s)
    return s, found.o


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


@formula
def holding(data, k, s, o, X_A, V_A, X_B, V_B):  # type: ignore[no-untyped-def]
    """What friction that sticks holds, of the sums s, which are not nothing."""
    f_n = sqrt(s.normal @ s.normal)
    n, centre = (1.0 / f_n if f_n > 0.0 else 0.0) * s.normal, (1.0 / s.pressure) * s.first
    r = DISC * sqrt(share(s.second / s.pressure - centre @ centre))
    p = o + centre
    v, w = relative(X_A, V_A, X_B, V_B, p)
    v = v + running(data, k, X_A, X_B)
    slip = Slip(v - (n @ v) * n, r * (n @ w))
    return Held(n, p, f_n, slip, r, sticking.grip(data, k + STICK, s.slope, f_n, sticking.size(slip)))


@formula
def slip_state(array, j):  # type: ignore[no-untyped-def]
    """The four numbers from j on."""
    return Slip(state(array, j), array[j + 3])


@formula
def put_slip(array, j, y):  # type: ignore[no-untyped-def]
    """array[j:j + 4] = y."""
    put_state(array, j, y.along)
    array[j + 3] = y.about


@formula
def in_b(X_B, y):  # type: ignore[no-untyped-def]
    """What lies along the surfaces in the axes of B."""
    return Slip(T(X_B.R) @ y.along, y.about)


@formula
def held_force(h, f, X_B):  # type: ignore[no-untyped-def]
    """Force and moment on A at the centre of pressure of f (axes of B), world axes."""
    return Force((h.r * f.about) * h.n, X_B.R @ f.along)


@formula
def wrenches(s, o, X_A, X_B):  # type: ignore[no-untyped-def]
    """Forces on A and B, each at its origin, of the sums about o."""
    F = s.all
    return Force(F.n + cross(o - X_A.p, F.f), F.f), Force(-(F.n + cross(o - X_B.p, F.f)), -F.f)


@outlined
def wrench_here(tables, e, k, X_A, V_A, X_B, V_B):  # type: ignore[no-untyped-def]
    """Forces on A and on B, each at its origin, in the world; where friction sticks also the rates of its states, as in ``contact``."""
    data, sticks = tables.data, tables.index[e, STATES] > 0
    s, o = press(data, k, X_A, V_A, X_B, V_B, tables.room, not sticks and data[k + 3] > 0.0)
    F_A, F_B = wrenches(s, o, X_A, X_B)
    if sticks:
        j, zero = tables.index[e, STATE], Slip(Vec3(0.0, 0.0, 0.0), 0.0)
        y, inner, rate, most = zero, zero, zero, 0.0
        if s.pressure > 0.0:
            h = holding(data, k, s, o, X_A, V_A, X_B, V_B)
            f, y, inner, rate = sticking.drag(
                h.grip, sticking.laid(slip_state(tables.z, j), T(X_B.R) @ h.n), in_b(X_B, h.v)
            )
            most, W = sticking.bound(h.grip), held_force(h, f, X_B)
            F_A = F_A + Force(W.n + cross(h.p - X_A.p, W.f), W.f)
            F_B = F_B - Force(W.n + cross(h.p - X_B.p, W.f), W.f)
        put_slip(tables.inside, j, y)
        put_slip(tables.inner, j, inner)
        put_slip(tables.rate, j, rate)
        put_slip(tables.bound, j, Slip(Vec3(most, most, most), most))
    return F_A, F_B


@outlined
def stretch_here(tables, e, k, X_A, V_A, X_B, V_B, c, time):  # type: ignore[no-untyped-def]
    """y at the end of a step into z, by c (axes of B) and g = `time` (``sticking``); returns √σ."""
    data, j, y, root = tables.data, tables.index[e, STATE], Slip(Vec3(0.0, 0.0, 0.0), 0.0), 0.0
    s, o = press(data, k, X_A, V_A, X_B, V_B, tables.room, False)
    if s.pressure > 0.0:
        h = holding(data, k, s, o, X_A, V_A, X_B, V_B)
        y = sticking.stretched(h.grip, sticking.laid(c, T(X_B.R) @ h.n), in_b(X_B, h.v), time)
        root = h.grip.root
    put_slip(tables.z, j, y)
    return root


@outlined
def energy_here(tables, e, k, X_A, X_B):  # type: ignore[no-untyped-def]
    """U."""
    data, zero = tables.data, Vec3(0.0, 0.0, 0.0)
    if ball.is_ball(data, k + OVERLAP):
        d, _ = ball.distance(data, k + OVERLAP, T(X_B.R) @ (X_A.p - X_B.p))
        U = ball.law_of(data, k, k + OVERLAP, data[k + ball.RADIUS] - d).energy
    elif is_mesh(data, k + OVERLAP):
        U = stored_in_meshes(tables.room.meshes, tables.room.rows, data, k, X_A, X_B)
    else:
        rows = tables.room.rows
        found = near(data, k + OVERLAP, X_A, X_B, rows)
        if not found.any:
            return 0.0
        U = data[k] * stored(data, k + OVERLAP, found, rows)
    if tables.index[e, STATES] > 0:
        still = Motion(zero, zero)
        s, o = press(data, k, X_A, still, X_B, still, tables.room, False)
        if s.pressure > 0.0:
            h = holding(data, k, s, o, X_A, still, X_B, still)
            y = sticking.shortened(slip_state(tables.z, tables.index[e, STATE]), sticking.bound(h.grip))
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
def _(room: None, tables: Any, e: Any, k: Any, motion: Any, c: Any, time: Any) -> Any:
    return 0.0


@defines(surface_stretch)
def _(room: Any, tables: Any, e: Any, k: Any, motion: Any, c: Any, time: Any) -> Any:
    X_A, V_A, X_B, V_B = motion
    return stretch_here(tables, e, k, X_A, V_A, X_B, V_B, c, time)


@defines(surface_energy)
def _(room: None, tables: Any, e: Any, k: Any, X_A: Any, X_B: Any) -> Any:
    return 0.0


@defines(surface_energy)
def _(room: Any, tables: Any, e: Any, k: Any, X_A: Any, X_B: Any) -> Any:
    return energy_here(tables, e, k, X_A, X_B)


@kernel
def observe_surface(data, motion_a, motion_b, z, room, out):  # type: ignore[no-untyped-def]
    """Fill out (N, 1, 21) as ``contact.observe_contacts`` does; z (N, 4) or (N, 0)."""
    X_A, V_A, X_B, V_B = (
        PoseRows(motion_a, 0),
        MotionRows(motion_a, 12),
        PoseRows(motion_b, 0),
        MotionRows(motion_b, 12),
    )
    for i in range(len(out)):
        row, held = out[i, 0], z.shape[1] > 0
        s, o = press(data, 0, X_A[i], V_A[i], X_B[i], V_B[i], room, not held and data[3] > 0.0 and data[4] > 0.0)
        for c in range(len(row)):
            row[c] = 0.0
        if not s.pressure > 0.0:
            put_state(row, 3, o)
            row[8] = s.depth
            if ball.is_ball(data, OVERLAP):
                _, n = ball.distance(data, OVERLAP, T(X_B[i].R) @ (X_A[i].p - X_B[i].p))
                n, (v, _) = X_B[i].R @ n, relative(X_A[i], V_A[i], X_B[i], V_B[i], o)
                v = v + running(data, 0, X_A[i], X_B[i])
                put_state(row, 9, n)
                put_state(row, 12, v - (n @ v) * n)
            continue
        h = holding(data, 0, s, o, X_A[i], V_A[i], X_B[i], V_B[i])
        if held:
            y = sticking.laid(Slip(Vec3(z[i, 0], z[i, 1], z[i, 2]), z[i, 3]), T(X_B[i].R) @ h.n)
            f, _, _, _ = sticking.drag(h.grip, y, in_b(X_B[i], h.v))
            W = held_force(h, f, X_B[i])
            f_t, moment = W.f, s.all.n - cross(h.p - o, s.all.f) + W.n
            row[15] = 1.0 if sticking.size(f) < HELD * h.grip.most else 0.0
        else:
            f_t = s.all.f - s.normal
            moment = s.all.n - cross(h.p - o, s.all.f)
        put_state(row, 0, s.normal + f_t)
        put_state(row, 3, h.p)
        row[6], row[7], row[8] = h.f_n, sqrt(f_t @ f_t), s.depth
        put_state(row, 9, h.n)
        put_state(row, 12, h.v.along)
        row[16], row[17] = s.area, s.peak
        put_state(row, 18, moment)
