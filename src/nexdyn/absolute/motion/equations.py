"""The equations of motion in absolute coordinates, their residual and their iteration matrix.

    r = M v̇ + (ω × J ω, 0) + Cqᵀ λ − Q(t, q, v),      C(q, t)      (armatures: ``armature``)

    [ s M + γ h D + β h² K   Cqᵀ ] [Δv̇]      [ r           ]
    [ Cq T(θ)                −ε  ] [Δλ] = −  [ C/(β h²)    ]

    K = −∂Q/∂q + ∂(Cqᵀ λ)/∂q,   D = −∂Q/∂v + [ω]× J − [J ω]×,   T(θ) = 1 − (1 − cos θ)/θ² [θ]× + (θ − sin θ)/θ³ [θ]×²

T(θ) is the tangent of exp: increments of a step are θ from its start, Cq is for turns at its end. The matrix has no symmetry.
Of ∂(Cqᵀ λ)/∂q it has what each body has by itself (see ``stiffness``).

A velocity row A v + b = 0 has no C: what holds is A v⁺ + b = 0 at the step's end, whose derivative with respect to v̇⁺ is γ h A.
Divided by γ h it stands where C/(β h²) does, with the same matrix; its multiplier is that of A v̇ = γ.

A pair of frames is looked at once for all rows of a node. ε is relative to the diagonal of Cq M⁻¹ Cqᵀ: it keeps pivots
where rows depend on each other; Newton's iteration takes its effect out again where such rows are consistent. Joints that
close no loop have none: the softest motion of a chain of 10⁵ links is as soft as 10⁻¹⁰ itself.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from nexdyn.absolute.model.armature import of_rotors
from nexdyn.absolute.model.frames import pair_of
from nexdyn.absolute.motion.elements import act
from nexdyn.absolute.motion.outside import factor, solve
from nexdyn.absolute.motion.stiffness import direction_stiffness, stiffness_a, stiffness_b
from nexdyn.absolute.motion.tables import (
    FILLS_A,
    FILLS_B,
    FILLS_NODE,
    DrivenRows,
    Links,
    Masses,
    Others,
    Parts,
    Slips,
    Slots,
    Spares,
)
from nexdyn.constraints.kinds import DISTANCE, DOT, FORWARD
from nexdyn.constraints.pair import PairVelocity
from nexdyn.constraints.tables import Terms
from nexdyn.constraints.verbs import explicit_rate, explicit_second, gradient, second, value
from nexdyn.integrate.problem import OK
from nexdyn.kernel import formula, inlined, kernel
from nexdyn.linalg import lu
from nexdyn.linalg.plan import Pivots
from nexdyn.linalg.rows import WIDTH, flat, load, store
from nexdyn.model.time_kernels import time_jet, time_value
from nexdyn.spatial.algebra import (
    Mat3,
    Motion,
    Pose,
    Quat,
    T,
    Vec3,
    column,
    cross,
    exp_quaternion,
    full,
    rotation,
    skew_times,
)
from nexdyn.spatial.lanes import all_less, cos, count, greater, if_less, sin, sqrt, zero
from nexdyn.spatial.table import MotionRows, PoseRows, row

EPSILON = 1e-10
NO_PIVOT = -1
"""What was to be factored is singular."""


@formula
def small_exp(phi):
    """exp of the rotation vector φ as a quaternion; by its series below 1 rad, which is below ½ in the half angle."""
    x = 0.25 * (phi @ phi)
    s = 1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0 * (1.0 - x / 110.0 * (1.0 - x / 156.0)))))
    w = 1.0 - x / 2.0 * (1.0 - x / 12.0 * (1.0 - x / 30.0 * (1.0 - x / 56.0 * (1.0 - x / 90.0 * (1.0 - x / 132.0)))))
    near = Quat(w, 0.5 * s * phi.x, 0.5 * s * phi.y, 0.5 * s * phi.z)
    if all_less(x, 0.25):
        return near
    far = exp_quaternion(phi)
    return Quat(
        if_less(x, 0.25, near.w, far.w), if_less(x, 0.25, near.x, far.x), if_less(x, 0.25, near.y, far.y),
        if_less(x, 0.25, near.z, far.z),
    )  # fmt: skip


@formula
def turn(q0, i, phi):
    """q ∘ exp φ of body i, of length 1."""
    q = Quat(q0[i, 0], q0[i, 1], q0[i, 2], q0[i, 3]) @ small_exp(phi)
    # one step of Newton for 1/√(q·q), which is 1 but for rounding
    s = 1.5 - 0.5 * (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z)
    return s * q


@kernel
def place_bodies(s, i0):
    """Poses of the bodies from q1, and their velocities in world axes from v1."""
    X, V = PoseRows(s.poses, 0), MotionRows(s.twists, 0)
    q, v = s.q1, s.v1
    for i in range(i0, count(q)):
        R = rotation(Quat(q[i, 0], q[i, 1], q[i, 2], q[i, 3]))
        X[i] = Pose(R, Vec3(q[i, 4], q[i, 5], q[i, 6]))
        V[i] = Motion(R @ Vec3(v[i, 0], v[i, 1], v[i, 2]), Vec3(v[i, 3], v[i, 4], v[i, 5]))


@formula
def put(blocks, place, c, row, w, v):
    """The gradient (w, v) of row c of a constraint node into its block with a body."""
    o, step = place + c * row, WIDTH + 1 - row
    blocks[o] += w.x
    blocks[o + step] += w.y
    blocks[o + 2 * step] += w.z
    blocks[o + 3 * step] += v.x
    blocks[o + 4 * step] += v.y
    blocks[o + 5 * step] += v.z


@formula
def tangent_transposed(theta):
    """T(θ)ᵀ = 1 + (1 − cos θ)/θ² [θ]× + (θ − sin θ)/θ³ [θ]×²."""
    x = theta @ theta
    b = 0.5 - x / 24.0 * (1.0 - x / 30.0 * (1.0 - x / 56.0))
    c = (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0))) / 6.0
    if not all_less(x, 0.5):
        angle = sqrt(x)
        b, c = (
            if_less(x, 0.5, b, (1.0 - cos(angle)) / x), if_less(x, 0.5, c, (angle - sin(angle)) / (x * angle)),
        )  # fmt: skip
    bx, by, bz, c_ = b * theta.x, b * theta.y, b * theta.z, 1.0 - c * x
    xy, xz, yz = c * theta.x * theta.y, c * theta.x * theta.z, c * theta.y * theta.z
    return Mat3(
        c_ + c * theta.x * theta.x, xy - bz, xz + by, xy + bz, c_ + c * theta.y * theta.y, yz - bx,
        xz - by, yz + bx, c_ + c * theta.z * theta.z,
    )  # fmt: skip


class Side(NamedTuple):
    """One of the two bodies of a link, as the rows of the link want it."""

    R: Any
    """To the body's axes."""
    T: Any
    """T(θ)ᵀ."""
    per_mass: Any
    per_inertia: Any
    """Reciprocals, 0 where there is next to nothing: of the mean of the diagonal of J."""


@formula
def independence(tables, s):
    """The least part of a watched row's share of Cq M⁻¹ Cqᵀ that the rows eliminated before it, and those of its node, leave of
    it, by the factored matrix: of rows that depend on each other the last has none left."""
    least, first = inf, count(tables.body) - 1
    for g in range(len(tables.watched)):
        o = tables.diagonal[first + g]
        for c in range(WIDTH):
            if tables.watched[g, c] > 0.0:
                least = min(least, tables.watched[g, c] / abs(s.lower[o + (WIDTH + 1) * c]))
    return least


@formula
def reciprocal(x):
    """1/x, 0 of 0."""
    o = zero(x)
    return if_less(o, x, 1.0 / greater(x, 1e-300), o)


@formula
def side_of(tables, s, X, i, assemble):
    """Body i; of it no more than R unless rows are to be put."""
    body, R = Masses(tables.body)[i], T(X[i].R)
    o = zero(body.m)
    if not assemble:
        return Side(R, R, o, o)
    J, spare = body.J, Spares(tables.spare)[i]
    theta = Vec3(s.turn[i, 0], s.turn[i, 1], s.turn[i, 2])
    return Side(
        R, tangent_transposed(theta), reciprocal(body.m + spare.m), reciprocal((J.xx + J.yy + J.zz) / 3.0 + spare.J)
    )  # fmt: skip


@formula
def clear_blocks(tables, s, link, g, first_node):
    """Before the first row of a link: the blocks that it is the first to fill."""
    n = Pivots(tables.plan.pivots)[tables.plan.position[first_node + g]].unknowns
    fills = link.fills
    if fills & FILLS_NODE:
        clear(s.lower, tables.diagonal[first_node + g], n)
    if fills & FILLS_A:
        rows = 6 if link.row_a == 1 else n
        clear(s.lower, link.place_a, rows)
        clear(s.upper, link.upper_a, rows)
    if fills & FILLS_B:
        rows = 6 if link.row_b == 1 else n
        clear(s.lower, link.place_b, rows)
        clear(s.upper, link.upper_b, rows)


@formula
def put_row(s, place, up, row, c, side, w, v, of_velocity):
    """Row c of a constraint node, (w, v) in world axes, into Cqᵀ and, with T(θ) unless it is one `of_velocity`, into Cq.

    Returns its share of Cq M⁻¹ Cqᵀ, about."""
    w = side.R @ w
    turned = w if of_velocity else side.T @ w
    if row == 1:  # the body is eliminated before the node
        put(s.upper, up, c, row, w, v)
        put(s.lower, place, c, row, turned, v)
    else:
        put(s.upper, up, c, row, turned, v)
        put(s.lower, place, c, row, w, v)
    return side.per_mass * (v @ v) + side.per_inertia * (w @ w)


@formula
def clear(blocks, first, rows):
    """`rows` rows from the number `first` on."""
    for k in range(rows):
        store(blocks, first + WIDTH * k, 0.0)


@inlined
def add_inertia(tables, s, scale, gh, assemble):
    """x ← −(M v̇ + ω × Jω − m g) of each body, M with armatures; s M + γ h D of what is gyroscopic (and the spare inertia) into
    the blocks of the bodies; those of `others` are cleared."""
    g = Vec3(row(tables.gravity, 0), row(tables.gravity, 1), row(tables.gravity, 2))
    x, v, d, blocks = s.x, s.v1, s.d1, s.lower
    if assemble:
        others = Others(tables.others)
        for k in range(len(others)):
            clear(s.lower, others[k].place, others[k].numbers // WIDTH)
            clear(s.upper, others[k].upper, others[k].numbers // WIDTH)
    bodies, spares = Masses(tables.body), Spares(tables.spare)
    for i in range(1, len(bodies)):
        m = bodies[i].m
        J: Any = bodies[i].J
        w = Vec3(v[i, 0], v[i, 1], v[i, 2])
        momentum = J @ w
        n = J @ Vec3(d[i, 0], d[i, 1], d[i, 2]) + cross(w, momentum)
        n_ = i - 1
        x[n_, 0], x[n_, 1], x[n_, 2] = -n.x, -n.y, -n.z
        x[n_, 3], x[n_, 4], x[n_, 5] = m * (g.x - d[i, 3]), m * (g.y - d[i, 4]), m * (g.z - d[i, 5])
        x[n_, 6], x[n_, 7] = 0.0, 0.0  # also after a step that went astray
        if assemble:
            o = tables.diagonal[n_]
            clear(blocks, o, 6)
            spare = spares[i].J
            G, h = skew_times(w, full(J)), gh * momentum
            # the diagonal block lies transposed
            blocks[o], blocks[o + 9] = scale * J.xx + spare + gh * G.xx, scale * J.yy + spare + gh * G.yy
            blocks[o + 18] = scale * J.zz + spare + gh * G.zz
            blocks[o + 8], blocks[o + 1] = scale * J.xy + gh * G.xy + h.z, scale * J.xy + gh * G.yx - h.z
            blocks[o + 16], blocks[o + 2] = scale * J.xz + gh * G.xz - h.y, scale * J.xz + gh * G.zx + h.y
            blocks[o + 17], blocks[o + 10] = scale * J.yz + gh * G.yz + h.x, scale * J.yz + gh * G.zy - h.x
            of_mass = scale * m + spares[i].m
            blocks[o + 27], blocks[o + 36], blocks[o + 45] = of_mass, of_mass, of_mass
    if len(tables.rotors) > 0:
        of_rotors(tables, s, scale, assemble)


@formula
def begin_rows(tables, s, t):
    """C of the constraint nodes ← what it is without the terms of links."""
    C = s.C
    for i in range(count(C)):
        for c in range(WIDTH):
            C[i, c] = -tables.offset[i, c]
    drivers = DrivenRows(tables.drivers)
    for d in range(len(drivers)):
        C[drivers[d].node, drivers[d].row] -= time_value(tables.functions, drivers[d].function, t)


@inlined
def add_constraints(tables, s, t, bh2, assemble):
    """x ← x − Cqᵀ λ of the bodies, C of the constraint nodes, and Cqᵀ, Cq T, −ε and β h² ∂(Cqᵀ λ) into the blocks."""
    begin_rows(tables, s, t)
    add_constraints_between(tables, s, t, bh2, assemble, 0, len(tables.links))


@inlined
def add_constraints_between(tables, s, t, bh2, assemble, l0, l1):
    """`add_constraints` of links l0 … l1 − 1, with C begun."""
    X, x, lam, C = PoseRows(s.poses, 0), s.x, s.lam1, s.C
    links, slots, constraints, first_node = (
        Links(tables.links),
        Slots(tables.slots),
        tables.constraints,
        count(tables.body) - 1,
    )
    terms, nothing = Terms(constraints.terms), zero(s.turn[0, 0])
    o: Any = Vec3(nothing, nothing, nothing)
    for l in range(l0, l1):
        link = links[l]
        a, b, g = link.a, link.b, link.node
        pair = pair_of(tables, X, link.pair, a, b)
        on_a, on_b = side_of(tables, s, X, a, assemble), side_of(tables, s, X, b, assemble)
        r = pair.d + pair.s_A
        if assemble:
            clear_blocks(tables, s, link, g, first_node)
        f, n = o, o  # of displacements; of directions, on a
        n_a, f_a, n_b, f_b = o, o, o, o  # of all else
        P = Mat3(nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing)
        for e in range(link.first, link.first + link.count):
            term, c = slots[e].term, slots[e].row
            kind, scale = terms[term].primitive, constraints.scale[term]
            force = scale * lam[g, c]
            if kind < DOT:
                u = column(pair.R_A, kind)
                C[g, c] += scale * (u @ pair.d)
                f = f + force * u
            elif kind < DISTANCE:
                u, w = column(pair.R_A, (kind - DOT) // 3), column(pair.R_B, (kind - DOT) % 3)
                C[g, c] += scale * (u @ w)
                n = n + force * cross(u, w)
                if assemble:
                    P = direction_stiffness(P, force, u, w)
            else:
                C[g, c] += scale * value(constraints, term, t, pair, s.near)
                z = gradient(constraints, term, t, pair, s.near)
                n_a, f_a = n_a + force * z.w_a, f_a + force * z.v_a
                n_b, f_b = n_b + force * z.w_b, f_b + force * z.v_b
            if assemble:
                z = gradient(constraints, term, t, pair, s.near)
                slip, soft = kind >= FORWARD, nothing
                if a > 0:
                    w, v = scale * z.w_a, scale * z.v_a
                    soft = soft + put_row(s, link.place_a, link.upper_a, link.row_a, c, on_a, w, v, slip)
                if b > 0:
                    w, v = scale * z.w_b, scale * z.v_b
                    soft = soft + put_row(s, link.place_b, link.upper_b, link.row_b, c, on_b, w, v, slip)
                if tables.closing[g] > 0:
                    s.lower[tables.diagonal[first_node + g] + (WIDTH + 1) * c] -= EPSILON * soft
        couple_a, couple_b = n + cross(f, r), cross(pair.s_B, f) - n
        n_a, f_a = n_a + couple_a, f_a - f
        n_b, f_b = n_b + couple_b, f_b + f
        if a > 0:
            subtract(x, a - 1, on_a.R @ n_a, f_a)
            if assemble:
                stiffness_a(s.lower, tables.diagonal[a - 1], bh2, on_a.R, P, f, r, couple_a)
        if b > 0:
            subtract(x, b - 1, on_b.R @ n_b, f_b)
            if assemble:
                stiffness_b(s.lower, tables.diagonal[b - 1], bh2, on_b.R, P, f, pair.s_B, couple_b)


@formula
def subtract(x, i, n, f):
    x[i, 0] -= n.x
    x[i, 1] -= n.y
    x[i, 2] -= n.z
    x[i, 3] -= f.x
    x[i, 4] -= f.y
    x[i, 5] -= f.z


@inlined
def residual_here(tables, forces, s, t, scale, gh, bh2, assemble):
    """`residual`, compiled into its caller: the tables of a call are kilobytes."""
    add_inertia(tables, s, scale, gh, assemble)
    begin_rows(tables, s, t)
    status = OK
    if len(forces.joints) + len(forces.forces.index) > 0:
        status = act(tables, s, t, gh, bh2, assemble, forces)
    part_here(tables, s, t, gh, bh2, assemble, 0, len(tables.links))
    return status


@inlined
def part_here(tables, s, t, gh, bh2, assemble, l0, l1):
    """The part of links l0 … l1 − 1 in the residual and the matrix."""
    add_constraints_between(tables, s, t, bh2, assemble, l0, l1)
    if len(tables.slips) > 0:
        slip_residual(tables, s, t)
    first, factor = count(tables.body) - 1, -1.0 / bh2
    flat_C, flat_x = flat(s.C), flat(s.x)
    links, slots, slips = Links(tables.links), Slots(tables.slots), Slips(tables.slips)
    for l in range(l0, l1):
        g = links[l].node
        store(flat_x, WIDTH * (first + g), factor * load(flat_C, WIDTH * g))
    for n in range(len(slips)):
        g, c = links[slips[n].link].node, slots[slips[n].slot].row
        s.x[first + g, c] = -s.C[g, c] / gh


@inlined
def solved_here(tables, forces, s, t, scale, gh, bh2, assemble):
    """x ← the correction that solves for the residual, with a new matrix or the one at hand. Returns the status of the forces, or
    NO_PIVOT.

    Where there are no loops, part after part: what has just been put down is eliminated while it is near."""
    add_inertia(tables, s, scale, gh, assemble)
    begin_rows(tables, s, t)
    if len(forces.joints) + len(forces.forces.index) > 0:
        status = act(tables, s, t, gh, bh2, assemble, forces)
        if status != OK:
            return status
    parts, plan, inside = Parts(tables.parts), tables.plan, tables.outside == 0.0
    for k in range(len(parts) - 1):
        part, after = parts[k], parts[k + 1]
        part_here(tables, s, t, gh, bh2, assemble, part.link, after.link)
        if inside:
            if assemble and lu.factor_part(plan, s.upper, s.lower, s.work, part.pivot, after.pivot) >= 0:
                return NO_PIVOT
            lu.forward(plan, s.lower, s.x, part.pivot, after.pivot)
    if inside:
        lu.backward(plan, s.upper, s.x)
    else:
        if assemble and not factor(tables, s):
            return NO_PIVOT
        solve(tables, s)
    return OK


@kernel
def slip_residual(tables, s, t):
    """C of velocity rows ← A v + b at q1, v1."""
    X, V, constraints = PoseRows(s.poses, 0), MotionRows(s.twists, 0), tables.constraints
    links, slots, slips = Links(tables.links), Slots(tables.slots), Slips(tables.slips)
    for n in range(len(slips)):
        link, slot = links[slips[n].link], slots[slips[n].slot]
        a, b, g, term, c = link.a, link.b, link.node, slot.term, slot.row
        pair = pair_of(tables, X, link.pair, a, b)
        z = gradient(constraints, term, t, pair, s.near)
        rate = z.w_a @ V[a].w + z.v_a @ V[a].v + z.w_b @ V[b].w + z.v_b @ V[b].v
        s.C[g, c] += constraints.scale[term] * (rate + explicit_rate(constraints, term, t, pair))


@formula
def violation(tables, s, t):
    """C of the constraint nodes at q1, v1, nothing else; returns the largest |C|."""
    X, links, slots, constraints, C = (
        PoseRows(s.poses, 0),
        Links(tables.links),
        Slots(tables.slots),
        tables.constraints,
        s.C,
    )
    for i in range(count(C)):
        for c in range(WIDTH):
            C[i, c] = -tables.offset[i, c]
    for l in range(len(links)):
        link = links[l]
        g, pair = link.node, pair_of(tables, X, link.pair, link.a, link.b)
        for e in range(link.first, link.first + link.count):
            term = slots[e].term
            C[g, slots[e].row] += constraints.scale[term] * value(constraints, term, t, pair, s.near)
    drivers = DrivenRows(tables.drivers)
    for d in range(len(drivers)):
        C[drivers[d].node, drivers[d].row] -= time_value(tables.functions, drivers[d].function, t)
    if len(tables.slips) > 0:
        slip_residual(tables, s, t)
    most = zero(s.turn[0, 0])
    for i in range(count(C)):
        for c in range(WIDTH):
            most = greater(most, abs(C[i, c]))
    return most


@kernel
def inertial_residual(tables, s, scale, gh, assemble):
    """The part of the bodies."""
    add_inertia(tables, s, scale, gh, assemble)


@kernel
def constraint_residual(tables, s, t, bh2, assemble):
    """The part of the constraints."""
    add_constraints(tables, s, t, bh2, assemble)


@kernel
def residual(tables, forces, s, t, scale, gh, bh2, assemble):
    """x ← −(r, C/(β h²), (A v + b)/(γ h)) at q1, v1, v̇ = d1, λ1, and with `assemble` the iteration matrix: scale of the
    inertia, γ h, β h².

    Returns the status of the forces."""
    return residual_here(tables, forces, s, t, scale, gh, bh2, assemble)


@kernel
def velocity_residual(tables, s, t, v, out):
    """out (ng, 8) = Cq v − ν at the poses of the state."""
    X, links, slots, constraints = PoseRows(s.poses, 0), Links(tables.links), Slots(tables.slots), tables.constraints
    clear(flat(out), 0, count(out))
    for l in range(len(links)):
        link = links[l]
        a, b, g = link.a, link.b, link.node
        pair = pair_of(tables, X, link.pair, a, b)
        w_a, v_a = X[a].R @ Vec3(v[a, 0], v[a, 1], v[a, 2]), Vec3(v[a, 3], v[a, 4], v[a, 5])
        w_b, v_b = X[b].R @ Vec3(v[b, 0], v[b, 1], v[b, 2]), Vec3(v[b, 3], v[b, 4], v[b, 5])
        for e in range(link.first, link.first + link.count):
            term, c = slots[e].term, slots[e].row
            z = gradient(constraints, term, t, pair, s.near)
            rate = z.w_a @ w_a + z.v_a @ v_a + z.w_b @ w_b + z.v_b @ v_b + explicit_rate(constraints, term, t, pair)
            out[g, c] += constraints.scale[term] * rate
    drivers = DrivenRows(tables.drivers)
    for d in range(len(drivers)):
        _, rate, _ = time_jet(tables.functions, drivers[d].function, t)
        out[drivers[d].node, drivers[d].row] -= rate


@kernel
def jacobian_times(tables, s, t, a, b, out):
    """out (ng, 8) = Cq (a − b) at the poses of the state."""
    X, links, slots, constraints = PoseRows(s.poses, 0), Links(tables.links), Slots(tables.slots), tables.constraints
    clear(flat(out), 0, count(out))
    for l in range(len(links)):
        link = links[l]
        i, j, g = link.a, link.b, link.node
        pair = pair_of(tables, X, link.pair, i, j)
        w_i = X[i].R @ Vec3(a[i, 0] - b[i, 0], a[i, 1] - b[i, 1], a[i, 2] - b[i, 2])
        w_j = X[j].R @ Vec3(a[j, 0] - b[j, 0], a[j, 1] - b[j, 1], a[j, 2] - b[j, 2])
        v_i = Vec3(a[i, 3] - b[i, 3], a[i, 4] - b[i, 4], a[i, 5] - b[i, 5])
        v_j = Vec3(a[j, 3] - b[j, 3], a[j, 4] - b[j, 4], a[j, 5] - b[j, 5])
        for e in range(link.first, link.first + link.count):
            term = slots[e].term
            z = gradient(constraints, term, t, pair, s.near)
            out[g, slots[e].row] += constraints.scale[term] * (z.w_a @ w_i + z.v_a @ v_i + z.w_b @ w_j + z.v_b @ v_j)


@kernel
def acceleration_residual(tables, s, t, v, out):
    """out (ng, 8) = γ = −Γ(v, v) − 2 C_qt v − C_tt + f̈ at the poses of the state."""
    X, links, slots, constraints = PoseRows(s.poses, 0), Links(tables.links), Slots(tables.slots), tables.constraints
    clear(flat(out), 0, count(out))
    for l in range(len(links)):
        link = links[l]
        a, b, g = link.a, link.b, link.node
        pair = pair_of(tables, X, link.pair, a, b)
        V = PairVelocity(
            X[a].R @ Vec3(v[a, 0], v[a, 1], v[a, 2]), Vec3(v[a, 3], v[a, 4], v[a, 5]),
            X[b].R @ Vec3(v[b, 0], v[b, 1], v[b, 2]), Vec3(v[b, 3], v[b, 4], v[b, 5]),
        )  # fmt: skip
        for e in range(link.first, link.first + link.count):
            term, c = slots[e].term, slots[e].row
            drift = second(constraints, term, t, pair, s.near, V, V) + explicit_second(constraints, term, t, pair, V)
            out[g, c] -= constraints.scale[term] * drift
    drivers = DrivenRows(tables.drivers)
    for d in range(len(drivers)):
        _, _, rate = time_jet(tables.functions, drivers[d].function, t)
        out[drivers[d].node, drivers[d].row] += rate
