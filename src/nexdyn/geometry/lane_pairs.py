"""The distance of one pair of shapes in LANES poses at once: the pair that every system of a batch has.

Poses and answers are packs (spatial/lanes.py), the shapes the same in all lanes. All lanes go together, with a selection where
the scalar kernels branch, for

    half-space and any other                                    the lowest point, by the support functions
    sphere and sphere, capsule, box, cylinder; two capsules     closed forms
    hulls, and boxes, with each other, spheres and capsules     simplices (lane_simplex.py)

A lane whose shapes overlap, or whose simplices prove nothing, and all other pairs are answered by narrow.py, lane by lane; so are
boxes with parallel faces or edges, which have many nearest points. Either way a lane has the answer of the scalar kernel to rounding, no
lane's pose decides about another's, and the answer for (b, a) is that for (a, b) turned round, bit for bit.
"""

from __future__ import annotations

from nexdyn.geometry.contact import Contact
from nexdyn.geometry.lane_simplex import lane_apart
from nexdyn.geometry.lane_support import choose, held, lane_support, magnitude, signed
from nexdyn.geometry.narrow import FOUND, NOT_FINITE, PRECISION, is_finite, pair_distance, without_margins
from nexdyn.geometry.solid import BOX, COLUMNS, CYLINDER, HALF_SPACE, HULL, POINT, SEGMENT, solid_of
from nexdyn.kernel import formula, kernel
from nexdyn.spatial.algebra import Mat3, Pose, T, Vec3, cross, plus_turned
from nexdyn.spatial.by_lane import pose_of_lane, vector_of_lane, vector_with_lane
from nexdyn.spatial.lanes import LANES, if_less, lane, packs, sqrt, with_lane, zero
from nexdyn.spatial.table import PoseRows, Vec3Rows

TOGETHER = (POINT, SEGMENT, BOX, CYLINDER)
"""Kinds whose distance from a point all lanes take together."""


@formula
def unit_or_x(r, d):
    """r/d, e_x in the lanes where d is 0."""
    o = zero(d)
    return choose(o, d, (1.0 / if_less(o, d, d, o + 1.0)) * r, Vec3(o + 1.0, o, o))


@formula
def lane_nearest(s, x):
    """Signed distance of x to the core of a shape of TOGETHER, and the outward unit normal there, in each lane."""
    o, h = zero(x.x), s.size
    if s.kind == POINT or s.kind == SEGMENT:
        r = Vec3(x.x, x.y, x.z - (held(x.z, h.z) if s.kind == SEGMENT else o))
        d = sqrt(r @ r)
        return d, unit_or_x(r, d)
    if s.kind == BOX:
        r = Vec3(x.x - held(x.x, h.x), x.y - held(x.y, h.y), x.z - held(x.z, h.z))
        d = sqrt(r @ r)
        gx, gy, gz = magnitude(x.x) - h.x, magnitude(x.y) - h.y, magnitude(x.z) - h.z
        n = choose(gy, gz, Vec3(o, o, signed(1.0, x.z)), Vec3(o, signed(1.0, x.y), o))
        g = if_less(gy, gz, gz, gy)
        n, g = choose(gx, g, n, Vec3(signed(1.0, x.x), o, o)), if_less(gx, g, g, gx)
        return if_less(o, d, d, g), choose(o, d, unit_or_x(r, d), n)
    rho = sqrt(x.x * x.x + x.y * x.y)
    e, up = unit_or_x(Vec3(x.x, x.y, o), rho), signed(1.0, x.z)
    g, f = rho - h.x, magnitude(x.z) - h.z
    u, v = if_less(o, g, g, o), if_less(o, f, f, o)  # beyond a rim both are positive
    d = sqrt(u * u + v * v)
    w = 1.0 / if_less(o, d, d, o + 1.0)
    side = if_less(g, f, o, o + 1.0)
    beyond = if_less(o, u * v, d, o)
    a, b = if_less(o, beyond, u * w, side), if_less(o, beyond, v * w, 1.0 - side)
    return if_less(o, beyond, d, if_less(g, f, f, g)), Vec3(a * e.x, a * e.y, b * up)


@formula
def lane_segments(A, B, X):
    """As `narrow.segments`, in each lane."""
    h, g, p = A.size.z, B.size.z, X.p
    o = zero(p.x)
    e, f = Vec3(o, o, o + 1.0), Vec3(X.R.xz, X.R.yz, X.R.zz)
    N = cross(e, f)
    square, c = N @ N, f.z
    crossing = if_less(1e-28, square, o + 1.0, o)
    reach = g * magnitude(c)
    low, high = p.z - reach, p.z + reach
    low, high = if_less(low, o - h, o - h, low), if_less(o + h, high, o + h, high)
    s = held(
        if_less(o, crossing, (N @ cross(p, f)) / if_less(o, crossing, square, o + 1.0), 0.5 * (low + high)), h
    )  # fmt: skip
    t = held(c * s - f @ p, g)
    s = if_less(o, crossing, held(p.z + c * t, h), s)
    a, b = s * e, p + t * f
    r = b - a
    n = choose(magnitude(t), o + g, r - (r @ f) * f, r)
    n = choose(magnitude(s), o + h, Vec3(n.x, n.y, o), n)
    size, length = sqrt(n @ n), sqrt(square)
    inside = if_less(magnitude(s), o + h, o + 1.0, o) * if_less(magnitude(t), o + g, o + 1.0, o)
    inside = inside * if_less(size, length * (h + g), o + 1.0, o)
    inside = if_less(1e-14 * (h + g), size, inside, o + 1.0)
    across = choose(o, crossing, choose(n @ N, o, -N, N), Vec3(o + 1.0, o, o))
    n = choose(o, inside, across, n)
    n = (1.0 / sqrt(n @ n)) * n
    return Contact(n @ r, n, a, b, o)


@formula
def placed_by(X, c):
    """A contact in the frame of X, in the world."""
    return Contact(c.d, X.R @ c.n, plus_turned(X.p, X.R, c.a), plus_turned(X.p, X.R, c.b), c.error)


@formula
def together(A, B, tables, XA, XB):
    """The contact of A and B, A first in the order of kinds, in the world; of pairs with a closed form for all lanes."""
    if A.kind == POINT:
        y = T(XB.R) @ (XA.p - XB.p)
        d, n = lane_nearest(B, y)
        c = Contact(d, -(XB.R @ n), XA.p, plus_turned(XB.p, XB.R, y - d * n), zero(d))
        return without_margins(c, A.margin, B.margin)
    X = Pose(T(XA.R) @ XB.R, T(XA.R) @ (XB.p - XA.p))
    if A.kind == HALF_SPACE:
        o = zero(X.p.x)
        n = Vec3(o, o, o + 1.0)
        b = plus_turned(X.p, X.R, lane_support(B, tables, T(X.R) @ (-n)))
        c = without_margins(Contact(b.z, n, Vec3(b.x, b.y, o), b, o), 0.0, B.margin)
    else:
        c = without_margins(lane_segments(A, B, X), A.margin, B.margin)
    return placed_by(XA, c)


@formula
def by_simplices(A, B, tables, XA, XB, guess, done):
    """The contact of A and B, in the world, and the error up to which it is proven [m], in each lane that is not `done` (1)."""
    o = zero(XA.p.x)
    X = Pose(T(XA.R) @ XB.R, T(XA.R) @ (XB.p - XA.p))
    start = T(XA.R) @ guess
    v = choose(o, start @ start, start, X.p)
    v = choose(o, v @ v, v, Vec3(o + 1.0, o, o))
    size = A.radius - A.margin + B.radius - B.margin + sqrt(X.p @ X.p)
    c = without_margins(lane_apart(A, B, X, tables, v, done, size), A.margin, B.margin)
    return placed_by(XA, c), PRECISION * size


@formula
def is_together(a, b):
    """Whether all lanes of a pair of kinds a ≤ b have one closed form."""
    if a == HALF_SPACE:
        return b != HALF_SPACE
    if a == POINT:
        return b == POINT or b == SEGMENT or b == BOX or b == CYLINDER
    return a == SEGMENT and b == SEGMENT


@formula
def has_corners(kind):
    """Whether support points span the core, so that simplices end by themselves."""
    return kind == POINT or kind == SEGMENT or kind == BOX or kind == HULL


@formula
def order(shapes, i, j):
    """−1, 1 or 0: whether shape i goes first, by kind, then sizes, shape j, or the poses of equal ones decide, as in narrow.py."""
    for c in range(COLUMNS):
        if shapes[i, c] != shapes[j, c]:
            return -1 if shapes[i, c] < shapes[j, c] else 1
    return 0


@formula
def before(x, y, then):
    """0 where x < y, 1 where y < x, else `then`."""
    o = zero(x)
    return if_less(x, y, o, if_less(y, x, o + 1.0, then))


@formula
def pose_second(XA, XB):
    """1 in the lanes where the pose XB goes first, as `narrow.pose_first`, else 0."""
    p, q, R, Q = XA.p, XB.p, XA.R, XB.R
    later = before(
        R.xx, Q.xx, before(R.yy, Q.yy, before(R.zz, Q.zz, before(R.yx, Q.yx, before(R.zx, Q.zx, zero(p.x)))))
    )
    return before(p.x, q.x, before(p.y, q.y, before(p.z, q.z, later)))


@formula
def choose_pose(x, y, then, otherwise):
    """`then` in the lanes where x < y, of poses."""
    P, Q = then.R, otherwise.R
    return Pose(
        Mat3(
            if_less(x, y, P.xx, Q.xx), if_less(x, y, P.xy, Q.xy), if_less(x, y, P.xz, Q.xz), if_less(x, y, P.yx, Q.yx),
            if_less(x, y, P.yy, Q.yy), if_less(x, y, P.yz, Q.yz), if_less(x, y, P.zx, Q.zx), if_less(x, y, P.zy, Q.zy),
            if_less(x, y, P.zz, Q.zz),
        ),
        choose(x, y, then.p, otherwise.p),
    )  # fmt: skip


@formula
def put_contact(c, s, x):
    """The contact of packs with that of one pose in lane s."""
    return Contact(
        with_lane(c.d, s, x.d), vector_with_lane(c.n, s, x.n), vector_with_lane(c.a, s, x.a), vector_with_lane(c.b, s, x.b),
        with_lane(c.error, s, x.error),
    )  # fmt: skip


@formula
def aligned(XA, XB):
    """1 in the lanes where an axis of one frame is parallel or perpendicular to one of the other, to 1e-9, else 0."""
    o, R = zero(XA.p.x), T(XA.R) @ XB.R
    least, most = o + 1.0, o
    for x in (R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz):
        size = magnitude(x)
        least, most = if_less(size, least, size, least), if_less(most, size, size, most)
    return if_less(least, o + 1e-9, o + 1.0, if_less(o + (1.0 - 1e-9), most, o + 1.0, o))


@formula
def lane_pair(tables, i, j, XA, XB, work, start, status):
    """The contact of shapes i and j in poses of packs, in the world; `status` (LANES,) as of `narrow.distances`.

    start: packs that guess n, 0 is no guess."""
    o = zero(XA.p.x)
    nothing = Vec3(o, o, o)
    c = Contact(o, nothing, nothing, nothing, o)
    side = order(tables.shapes, i, j)
    first, second = (i, j) if side <= 0 else (j, i)
    A, B = solid_of(tables.shapes, first), solid_of(tables.shapes, second)
    closed = is_together(A.kind, B.kind)
    simplices = not closed and has_corners(A.kind) and has_corners(B.kind)
    if closed or simplices:
        turned = pose_second(XA, XB) if side == 0 else o + (1.0 if side > 0 else 0.0)
        P, Q = choose_pose(o, turned, XB, XA), choose_pose(o, turned, XA, XB)
        if closed:
            c, fine = together(A, B, tables, P, Q), o
        else:
            done = aligned(P, Q) if A.kind == BOX and B.kind == BOX else o
            for s in range(LANES):
                if not (is_finite(pose_of_lane(P, s)) and is_finite(pose_of_lane(Q, s))):
                    done = with_lane(done, s, 1.0)
            c, fine = by_simplices(A, B, tables, P, Q, choose(o, turned, -start, start), done)
        found = if_less(fine, c.error, o, o + 1.0)
        c = Contact(
            c.d, choose(o, turned, -c.n, c.n), choose(o, turned, c.b, c.a), choose(o, turned, c.a, c.b), c.error
        )
    else:
        found = o
    for s in range(LANES):
        P, Q = pose_of_lane(XA, s), pose_of_lane(XB, s)
        if not (is_finite(P) and is_finite(Q)):
            zeros = Vec3(0.0, 0.0, 0.0)
            status[s] = NOT_FINITE
            c = put_contact(c, s, Contact(0.0, zeros, zeros, zeros, 0.0))
        elif lane(found, s) > 0.5:
            status[s] = FOUND
        else:
            guess = vector_of_lane(start, s)
            status[s], one = pair_distance(tables, i, j, P, Q, work, guess)
            c = put_contact(c, s, one)
    return c


@kernel
def lane_distances(tables, pairs, poses_a, poses_b, work, answers, status):
    """Answers (n, ANSWER, LANES) of pairs (n, 2) of shapes in poses (n, 12, LANES), status (n, LANES), as `narrow.distances`."""
    table = packs(answers)
    XA, XB = PoseRows(packs(poses_a), 0), PoseRows(packs(poses_b), 0)
    n, a, b = Vec3Rows(table, 1), Vec3Rows(table, 4), Vec3Rows(table, 7)
    for k in range(len(pairs)):
        c = lane_pair(tables, pairs[k, 0], pairs[k, 1], XA[k], XB[k], work, n[k], status[k])
        table[k, 0], table[k, 10] = c.d, c.error
        n[k], a[k], b[k] = c.n, c.a, c.b
