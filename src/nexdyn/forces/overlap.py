"""Where two convex bodies with faces press on each other, and by how much: their overlap, and the surfaces of both in it.

    depth of x in A    δ_A(x) = min over its faces f of  o_f − n_f · x            (n_f outward; a half-space has one face)
    energy             U = k ∫ (w_A δ_A + w_B δ_B) dV over what both have in common,   w_A = c_A/(c_A + c_B),  w_B = 1 − w_A

c_A and c_B [m³/N] are what the foundations give, k = 1/(c_A + c_B). Its forces are pressures on the surfaces of the bodies: by Gauss's
law, where A is rigid (w_B = 1) and its surface presses with p = k δ_B into B,

    −∇ U = −k ∫ ∇δ_B dV (as A moves) = −∫ k δ_B n_A dA over the surface of A in B

and where both give, of what A does so to B and B to A the parts w_B and w_A. Depths vanish on the surfaces, so that no force jumps,
not where edges pass edges, nor where faces begin to meet. With B a half-space and A rigid, this is buoyancy: the force k V at the centre
of the volume V under the plane; faces that meet flat by δ press with p = k δ whatever gives.

Of each face of the one that presses and each of the other that is the nearest there is one polygon at most. Where A presses, a point
of its surface goes into B with −n_g · v, v = v_A − v_B: a body that slides over a floor, into which its sides reach, meets no damping
there.

Most faces are done with at once. D_B, the least over the faces of A of how deep the corners of B lie behind each, is no less than δ_A of
any point in both bodies. A face f is the nearest of such a point only where B reaches o_f − D_B along n_f.

Data from OVERLAP on: `FacesData`, the faces (n, o) of A and B, their corners. `room`: rows of four numbers, first the
faces about a point o near the contact, in world axes, then two polygons.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from nexdyn.forces.contact_data import Parts
from nexdyn.kernel import formula, outlined
from nexdyn.records import Record
from nexdyn.spatial.algebra import T, Vec3, basis, vector_at

UNBOUNDED = 1e300
"""The radius of a ball around what has no end."""
NOTHING = 1e-12
APART = 1e-12
"""How far bodies are apart that no face separates and that have nothing in common, as a part of `reach`: no more than they are."""


class Ball(NamedTuple):
    """Around a solid, in its axes."""

    centre: Vec3
    radius: float


class FacesData(Record):
    """w_A, w_B, numbers of faces and corners of A, then of B, a ball around each."""

    part_a: float
    part_b: float
    faces_a: float
    corners_a: float
    faces_b: float
    corners_b: float
    ball_a: Ball
    ball_b: Ball


FIRST_FACE = FacesData.columns


class Near(NamedTuple):
    """What may press: the point o, how far from it all that both bodies have in common lies at most; the first rows of B's faces and of
    the polygons; whether any may, and minus the distance that faces tell where they are apart, no more than the true one."""

    o: Vec3
    reach: float
    second: int
    polygons: int
    any: bool
    depth: float


class Side(NamedTuple):
    """A polygon: its rows from `first` on, how many corners (u, w); its plane ξ = foot + u e₁ + w e₂ about o, the normal m from B to A;
    the depth at − n · ξ in the body that it presses into, and its rate −deeper · v where A moves with v against B."""

    first: int
    corners: int
    foot: Vec3
    one: Vec3
    two: Vec3
    m: Vec3
    at: float
    n: Vec3
    deeper: Vec3


@formula
def face(room, i):
    """n of row i."""
    return Vec3(room[i, 0], room[i, 1], room[i, 2])


@formula
def place(data, j, count, X, o, room, first):
    """Faces from datum j on into rows from `first` on, about o."""
    for i in range(count):
        n = X.R @ vector_at(data, j + 4 * i)
        room[first + i, 0], room[first + i, 1], room[first + i, 2] = n.x, n.y, n.z
        room[first + i, 3] = data[j + 4 * i + 3] + n @ (X.p - o)


@formula
def reaching(data, j, count, X, o, n):
    """How far corners from datum j on reach along n, about o; without any, without end."""
    if count == 0:
        return UNBOUNDED
    local = T(X.R) @ n
    most = local @ vector_at(data, j)
    for i in range(1, count):
        most = max(most, local @ vector_at(data, j + 3 * i))
    return most + n @ (X.p - o)


@formula
def least_depth(data, j, count, X, o, room, first, last):
    """The least over faces `first` to `last` of how deep corners from datum j on lie behind each; without corners, without end."""
    depth = UNBOUNDED
    for i in range(first, last):
        if count > 0:
            depth = min(depth, room[i, 3] + reaching(data, j, count, X, o, -face(room, i)))
    return depth


@formula
def keep_faces(data, j, count, X, o, room, first, last, depth):
    """Faces `first` to `last` that a body with corners from datum j on reaches to `depth`, behind each other; how many."""
    kept = first
    for i in range(first, last):
        if room[i, 3] - reaching(data, j, count, X, o, face(room, i)) <= depth:
            for c in range(4):
                room[kept, c] = room[i, c]
            kept += 1
    return kept


@outlined
def near(data, k, X_A, X_B, room):
    """The faces that may press, into `room`; data from k on."""
    own = FacesData(data, k)
    c_A, c_B = X_A.p + X_A.R @ own.ball_a.centre, X_B.p + X_B.R @ own.ball_b.centre
    r_A, r_B = own.ball_a.radius, own.ball_b.radius
    apart = c_B - c_A
    o, reach = (c_A, r_A) if r_A < r_B else (c_B, r_B)
    if r_A < UNBOUNDED and r_B < UNBOUNDED and apart @ apart > (r_A + r_B) * (r_A + r_B):
        return Near(o, reach, 0, 0, False, r_A + r_B - sqrt(apart @ apart))
    nfa, nva, nfb, nvb = int(own.faces_a), int(own.corners_a), int(own.faces_b), int(own.corners_b)
    faces = k + FIRST_FACE
    corners_a = faces + 4 * (nfa + nfb)
    corners_b = corners_a + 3 * nva
    place(data, faces, nfa, X_A, o, room, 0)
    place(data, faces + 4 * nfa, nfb, X_B, o, room, nfa)
    of_a = least_depth(data, corners_a, nva, X_A, o, room, nfa, nfa + nfb)
    of_b = least_depth(data, corners_b, nvb, X_B, o, room, 0, nfa)
    if of_a <= 0.0 or of_b <= 0.0:
        return Near(o, reach, 0, 0, False, min(of_a, of_b, -APART * reach))
    second = keep_faces(data, corners_b, nvb, X_B, o, room, 0, nfa, of_b)
    last = keep_faces(data, corners_a, nva, X_A, o, room, nfa, nfa + nfb, of_a)
    for i in range(nfa, last):
        for c in range(4):
            room[second + i - nfa, c] = room[i, c]
    last = second + last - nfa
    return Near(o, reach, second, last, True, -APART * reach)


@outlined
def clip(room, first, count, into, a, b, c):
    """What a polygon has of a u + b w + c ≥ 0, into rows from `into` on; how many corners."""
    kept = 0
    u, w = room[first + count - 1, 0], room[first + count - 1, 1]
    before = a * u + b * w + c
    for i in range(first, first + count):
        x, y = room[i, 0], room[i, 1]
        now = a * x + b * y + c
        if (before < 0.0) != (now < 0.0):
            s = before / (before - now)
            room[into + kept, 0], room[into + kept, 1] = u + s * (x - u), w + s * (y - w)
            kept += 1 if into + kept + 2 < len(room) else 0
        if now >= 0.0:
            room[into + kept, 0], room[into + kept, 1] = x, y
            kept += 1
        u, w, before = x, y, now
    return kept


@formula
def cut(room, side, other, n, c):
    """The polygon where c − n · ξ ≥ 0, in the other place; and the place that it leaves."""
    a, b, c = -(n @ side.one), -(n @ side.two), c - n @ side.foot
    count = clip(room, side.first, side.corners, other, a, b, c)
    return Side(other, count, side.foot, side.one, side.two, side.m, side.at, side.n, side.deeper), side.first


@formula
def whole(room, first, reach, m, height, at, n, deeper):
    """The square across m at `height` along it, in which all is that lies within `reach` of o."""
    one, two = basis(m)
    size = sqrt(reach * reach - height * height)
    for i in range(4):
        room[first + i, 0] = size if i == 0 or i == 3 else -size
        room[first + i, 1] = size if i < 2 else -size
    return Side(first, 4, height * m, one, two, m, at, n, deeper)


@outlined
def polygon(found, room, i, j, second):
    """What of face i of one body presses where face j is the nearest of the other, whose faces begin at row `second` where it is B; of no
    corners where there is nothing."""
    zero = Vec3(0.0, 0.0, 0.0)
    none = Side(0, 0, zero, zero, zero, zero, 0.0, zero, zero)
    n_i, n_j, o_i, o_j = face(room, i), face(room, j), room[i, 3], room[j, 3]
    if abs(o_i) > found.reach:
        return none
    # from B to A: against the outward normal of A's face, along that of B's
    sign = 1.0 if i >= second else -1.0
    first, other = found.polygons, (found.polygons + len(room)) // 2
    side = whole(room, first, found.reach, sign * n_i, sign * o_i, o_j, n_j, -sign * n_j)
    side, other = cut(room, side, other, n_j, o_j)
    for h in range(found.polygons):
        if side.corners < 3:
            return none
        if (h < second) == (i < second):
            if h != i:
                side, other = cut(room, side, other, face(room, h), room[h, 3])
        elif h != j:
            side, other = cut(room, side, other, face(room, h) - n_j, room[h, 3] - o_j)
    return side if side.corners >= 3 else none


@outlined
def deepest(side, room):
    """The largest depth of a polygon."""
    depth = 0.0
    for i in range(side.first, side.first + side.corners):
        depth = max(depth, side.at - side.n @ (side.foot + room[i, 0] * side.one + room[i, 1] * side.two))
    return depth


@outlined
def flat(side, room):
    """Area of a polygon, and its centre about o."""
    i, area, u, w = side.first, 0.0, 0.0, 0.0
    for j in range(side.first + 1, side.first + side.corners - 1):
        x, y, z, s = (
            room[j, 0] - room[i, 0],
            room[j, 1] - room[i, 1],
            room[j + 1, 0] - room[i, 0],
            room[j + 1, 1] - room[i, 1],
        )
        part = 0.5 * (x * s - y * z)
        area, u, w = area + part, u + part * (x + z), w + part * (y + s)
    third = 1.0 / (3.0 * area) if area > 0.0 else 0.0
    u, w = room[i, 0] + third * u, room[i, 1] + third * w
    return area, side.foot + u * side.one + w * side.two


@formula
def within(found, room, j, i):
    """n and c of what bounds the part of the overlap where face j is the nearest of its body: c − n · ξ ≥ 0; of that body, or the other's
    face i."""
    n_j, o_j, n, o = face(room, j), room[j, 3], face(room, i), room[i, 3]
    if i == j or (i < found.second) != (j < found.second):
        return n, o
    return n - n_j, o - o_j


@outlined
def stored(data, k, found, room):
    """U/k: of every face of what gives, the integral of its depth over where that is the least, by pyramids over what bounds it from a
    point of the face: what lies in its plane, of either body, then counts nothing."""
    U, zero, parts = 0.0, Vec3(0.0, 0.0, 0.0), Parts(data, k)
    first, second = found.polygons, (found.polygons + len(room)) // 2
    for j in range(found.polygons):
        part = parts.a if j < found.second else parts.b
        if part == 0.0:
            continue
        n_j, o_j = face(room, j), room[j, 3]
        tip = o_j * n_j
        for i in range(found.polygons):
            n, c = within(found, room, j, i)
            length = sqrt(n @ n)
            if length <= NOTHING or abs(c) > found.reach * length:
                continue
            side = whole(room, first, found.reach, (1.0 / length) * n, c / length, 0.0, zero, zero)
            other = second
            for h in range(found.polygons):
                if side.corners >= 3 and h != i:
                    normal, constant = within(found, room, j, h)
                    side, other = cut(room, side, other, normal, constant)
            if side.corners >= 3:
                area, centre = flat(side, room)
                # the centre of a pyramid is a quarter of the way from its base to its tip, where the depth is 0
                U += part * (c - n @ tip) / length * area / 3.0 * 0.75 * (o_j - n_j @ centre)
    return U


def room_for(faces: int) -> int:
    """Rows of `room` for two bodies that have so many faces together."""
    return faces + 2 * (faces + 16)
