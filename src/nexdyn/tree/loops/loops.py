"""Constraint rows on a tree: loops that were cut, drivers, couplings, rolling; O(n + m² d) for m rows on paths of d degrees of freedom.

    M a + h + Cqᵀ λ = τ,   Cq a = γ        a = a₀ − M⁻¹Cqᵀ λ,   (Cq M⁻¹Cqᵀ) λ = C̈₀ + 2 α Ċ + β² C

with a₀ and C̈₀ those of the open tree, by ABA. M⁻¹ is never formed: with K = U/d and 1/d that ABA left in every freedom,
the force F of a row goes inward from its links to the root and leaves

    s = hᵀ F,   F ← F − K s,   F_parent += X F             in each degree of freedom on its path;   Cq M⁻¹Cqᵀ = Σ s sᵀ/d
    δ = (Σ μ s)/d − Kᵀ a,   a ← X⁻¹ a_parent + h δ          outward: δ = M⁻¹Cqᵀ μ

so that one factorisation (``solve``) serves accelerations and, at the end of a step, the projections
Δv = −M⁻¹Cqᵀ A⁻¹ (Cq v − ν) and Δq = −M⁻¹Cqᵀ A⁻¹ C. This page finds C, Ċ − ν, C̈₀ and s of the rows; those of a joint, up to
eight, go inward together as one pack.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from nexdyn.constraints.kinds import DOT
from nexdyn.constraints.pair import Pair, PairVelocity
from nexdyn.constraints.tables import RowsOfTerms, Terms
from nexdyn.constraints.verbs import explicit_rate, explicit_second, gradient, second, value
from nexdyn.joints.kinds import PRISMATIC, REVOLUTE
from nexdyn.kernel import formula, inlined
from nexdyn.model.time_kernels import time_jet
from nexdyn.records import Record, holds_records, rows_of
from nexdyn.spatial.algebra import ABOUT_Z, ALONG_Z, Force, Motion, T, Vec3, column, cross
from nexdyn.spatial.lanes import LaneOfTable, packs, zero
from nexdyn.spatial.table import ForceRows, PoseRows
from nexdyn.spatial.turned_z import about_z
from nexdyn.tree.core.tables import TURNS_Z


class Group(Record):
    """The rows of one owner, up to eight: first row, rows, first end, ends, first link on its path, links."""

    first_row: int
    rows: int
    first_end: int
    ends: int
    first_link: int
    links: int


class End(Record):
    """A pair seen from one group: pair, links a and b, their places on the path or −1, first slot, slots, whether its terms are
    displacements and products of directions alone."""

    pair: int
    a: int
    b: int
    place_a: int
    place_b: int
    first_slot: int
    slots: int
    plain: int


class Slot(Record):
    """A term, and lane of its row."""

    term: int
    lane: int


class RowPlace(Record):
    """Group and lane of a row."""

    group: int
    lane: int


class OnPath(Record):
    """A link on a path: the link, place of its parent on the path or −1, of its first degree of freedom in s, its first v, how many."""

    link: int
    up: int
    place: int
    iv: int
    nv: int


class Couple(Record):
    """Two groups that share degrees of freedom: first in `shared`, how many."""

    g: int
    h: int
    first: int
    count: int


class Shared(Record):
    """A degree of freedom that two groups share: its place in s of either, its velocity."""

    in_g: int
    in_h: int
    iv: int


class Own(Record):
    """A coordinate of a joint that was cut: the pair and term that measure it, its places in q and v, the joint."""

    pair: int
    term: int
    q: int
    v: int
    joint: int


class Ball(Record):
    """A ball or free joint that was cut: its pair, place in v, how many degrees of freedom, joint, first among the efforts."""

    pair: int
    v: int
    nv: int
    joint: int
    efforts: int


class OwnEffort(Record):
    """What acts along a degree of freedom of a joint that was cut."""

    stiffness: float
    rest: float
    damping: float
    friction: float
    friction_speed: float


class Angle(Record):
    """Of an angle: its place in near, a term that measures it, and its place in q or −1."""

    near: int
    term: int
    q: int


class Lent(Record):
    """Inertia that a degree of freedom of a tree without inertia borrows, and the effort that is paid back, 0 between two evaluations
    (``motion``)."""

    inertia: float
    effort: float


class OfRow(Record):
    """Of the rows of a group: C, Ċ − ν, C̈₀, and multipliers."""

    C: float
    rate: float
    second: float
    mu: float


class Gradient(Record):
    """The gradients of the rows of a group with respect to the motions of the links a and b at an end, as wrenches in world axes."""

    on_a: Force
    on_b: Force


class Redundancy(Record):
    """How many rows are redundant in every pose beside the others, and the smallest pivot, as a part of its diagonal, since they were
    chosen (0: not yet)."""

    rows: float
    pivot: float


class Dependence(Record):
    """What a pivot is smaller by than those of the rows of its joint, at most, at the best pose so far and at the worst, and when that
    was: near a singular pose rows become dependent."""

    at_best: float
    at_worst: float
    when: float


OfRows, Gradients = rows_of(OfRow), rows_of(Gradient)
POSITIONS, VELOCITIES = range(2)
"""What is projected: C, or Ċ − ν."""


@holds_records
class LoopTables(NamedTuple):
    """The rows on a tree, and room for them.

    tables: ConstraintTables whose pairs are links of the tree, in the links' frames. path: outermost first.
    needed: links whose place in the world counts, outward: links that move with some row, both inward to outward.
    velocity_level bool (m,): rows without a C. units (m,), speed_units (nv,): what makes numbers of rows and, but for the
    time, of the tree's velocities.
    functions: rows of the drivers' functions of time; driver_at (nd,) where each begins.
    own, balls: coordinates of joints that were cut, and those of them that turn by quaternions; efforts: their springs, dampers and
    friction (``cuts``).
    near (nk,): what angles are looked for near; spun (nk + 1,): the rates of angles, and the time when they were measured (``cuts``).
    s (…, 1, 8), carried (longest path, 6, 8), gradient (1, 12, 8).
    A (m, m), first_in_A (m,): its envelope. of_rows (ng, 4, 8), mu (m,), change (nv,).
    damping (5,): of Baumgarte's stabilisation (``integrate.stabilised``).
    spare: a `Redundancy`; left_out (m,): 1 for rows that are redundant; chosen (m, m) room to choose, (0, 0) without.
    largest (m,): the largest diagonal of each row so far; dependence: a `Dependence`.
    lent: without rows where the tree has inertia in every degree of freedom.
    """

    tables: Any
    groups: Annotated[Any, Group]
    ends: Annotated[Any, End]
    slots: Annotated[Any, Slot]
    row_of: Annotated[Any, RowPlace]
    path: Annotated[Any, OnPath]
    couples: Annotated[Any, Couple]
    shared: Annotated[Any, Shared]
    needed: Any
    outward: Any
    velocity_level: Any
    units: Any
    speed_units: Any
    functions: Any
    driver_at: Any
    own: Annotated[Any, Own]
    balls: Annotated[Any, Ball]
    efforts: Annotated[Any, OwnEffort]
    near: Any
    angles: Annotated[Any, Angle]
    spun: Any
    s: Any
    carried: Any
    gradient: Any
    A: Any
    first_in_A: Any
    of_rows: Any
    mu: Any
    change: Any
    damping: Any
    spare: Any
    left_out: Any
    chosen: Any
    largest: Any
    dependence: Any
    lent: Annotated[Any, Lent]


@formula
def link_pair(tables, k, a, b, X_W):
    """The two frames of pair k, on links a and b, in world axes."""
    X_a, X_b = X_W[a], X_W[b]
    X_aA, X_bB = PoseRows(tables.frames, 0)[k], PoseRows(tables.frames, 12)[k]
    s_A, s_B = X_a.R @ X_aA.p, X_b.R @ X_bB.p
    return Pair(X_a.R @ X_aA.R, X_b.R @ X_bB.R, s_A, s_B, X_b.p + s_B - X_a.p - s_A)


@inlined
def needed_poses(model, work, loops):
    """Places in the world of the links that rows look at."""
    X, X_W, bodies, needed = work.body.X, work.spare.X_W, model.topology, loops.needed
    for n in range(len(needed)):
        i = needed[n]
        # X_Wi = X_Wp X_i
        X_W[i] = X_W[bodies[i].parent] @ X[i]


@formula
def equation(loops, g, lane):
    """What is known of one row of group g."""
    return OfRows(LaneOfTable(loops.of_rows, lane))[g]


@formula
def put_gradient(G, lane, scale, g):
    """Lane `lane` of the table of gradients += scale g."""
    row = Gradients(LaneOfTable(G, lane))[0]
    row.on_a = row.on_a + scale * Force(g.w_a, g.v_a)
    row.on_b = row.on_b + scale * Force(g.w_b, g.v_b)


@formula
def evaluate_rows(model, work, loops, t, accelerated):
    """C, Ċ − ν and, if the links are `accelerated`, C̈₀ of every row; its s along its path."""
    groups, offset, ends = loops.groups, loops.tables.offset, loops.ends
    needed_poses(model, work, loops)
    for g in range(len(groups)):
        first, count = groups[g].first_row, groups[g].rows
        for l in range(count):
            row = equation(loops, g, l)
            row.C, row.rate, row.second = -offset[first + l], 0.0, 0.0
        F = ForceRows(packs(loops.carried), 0)
        o = zero(packs(loops.carried)[0, 0])
        for n in range(groups[g].links):
            F[n] = Force(Vec3(o, o, o), Vec3(o, o, o))
        driven = False
        for l in range(count):
            driven = driven or RowsOfTerms(loops.tables.rows)[first + l].driver >= 0
        for e in range(groups[g].first_end, groups[g].first_end + groups[g].ends):
            if ends[e].plain != 0:
                evaluate_plain_end(work, loops, g, e, accelerated)
            else:
                evaluate_end(work, loops, g, e, t, accelerated)
        if driven:
            add_drivers(loops, g, t, accelerated)
        group_inward(model, work, loops, g)


@inlined
def evaluate_plain_end(work, loops, g, e, accelerated):
    """As `evaluate_end`, of displacements and products of directions alone, as joints have them.

    Seen from A, with ω = ω_b − ω_a, α = ω̇_b − ω̇_a − ω_a × ω and the derivatives d′, d″ of d there, the axes u of A and w of B:
    C = u · d:  Ċ = u · d′,  C̈ = u · d″,  the force u at B;    C = u · w:  Ċ = u · (ω × w),
    C̈ = u · (α × w + ω × (ω × w)),  the couple w × u;  the opposite on a.
    """
    tables, slots, end = loops.tables, loops.slots, loops.ends[e]
    X_W, V, A = work.spare.X_W, work.body.V, work.body.A
    a, b = end.a, end.b
    R_a, R_b = X_W[a].R, X_W[b].R
    pair = link_pair(tables, end.pair, a, b, X_W)
    w_a, w_b = R_a @ V[a].w, R_b @ V[b].w
    spin = w_b - w_a
    seen = T(pair.R_A)
    d = seen @ pair.d
    # ḋ and d′ = ḋ − ω_a × d
    rate = R_b @ V[b].v + cross(w_b, pair.s_B) - R_a @ V[a].v - cross(w_a, pair.s_A) - cross(w_a, pair.d)
    d1 = seen @ rate
    d2, turn = d1, spin
    if accelerated:
        # of the origins: v̇ = A_v + ω × v; gravity, which all links share in A, makes no difference
        e_a, e_b = R_a @ A[a].w, R_b @ A[b].w
        turn = e_b - e_a - cross(w_a, spin)
        second_b = R_b @ (A[b].v + cross(V[b].w, V[b].v)) + cross(e_b, pair.s_B) + cross(w_b, cross(w_b, pair.s_B))
        second_a = R_a @ (A[a].v + cross(V[a].w, V[a].v)) + cross(e_a, pair.s_A) + cross(w_a, cross(w_a, pair.s_A))
        # d″ = d̈ − ω̇_a × d − ω_a × (ω_a × d) − 2 ω_a × d′
        still = cross(e_a, pair.d) + cross(w_a, cross(w_a, pair.d)) + 2.0 * cross(w_a, rate)
        d2 = seen @ (second_b - second_a - still)
    on_b = Gradients(packs(loops.gradient)).on_b
    o = zero(packs(loops.gradient)[0, 0])
    on_b[0] = Force(Vec3(o, o, o), Vec3(o, o, o))
    for k in range(end.first_slot, end.first_slot + end.slots):
        term, lane = slots[k].term, slots[k].lane
        scale, kind = tables.scale[term], Terms(tables.terms)[term].primitive
        row, at_B = equation(loops, g, lane), Gradients(LaneOfTable(loops.gradient, lane)).on_b
        if kind < DOT:
            u = scale * column(pair.R_A, kind)
            row.C += scale * component(d, kind)
            row.rate += scale * component(d1, kind)
            row.second += scale * component(d2, kind)
            at_B.f[0] = at_B.f[0] + u
        else:
            u, w = scale * column(pair.R_A, (kind - DOT) // 3), column(pair.R_B, (kind - DOT) % 3)
            swept = cross(spin, w)
            row.C += u @ w
            row.rate += u @ swept
            row.second += u @ (cross(turn, w) + cross(spin, swept))
            at_B.n[0] = at_B.n[0] + cross(w, u)
    W, F = on_b[0], ForceRows(packs(loops.carried), 0)
    n, m = end.place_a, end.place_b
    if n >= 0:
        F[n] = F[n] - Force(T(R_a) @ (W.n + cross(pair.s_A + pair.d, W.f)), T(R_a) @ W.f)
    if m >= 0:
        F[m] = F[m] + Force(T(R_b) @ (W.n + cross(pair.s_B, W.f)), T(R_b) @ W.f)


@inlined
def component(a, i):
    """Component i of a vector."""
    if i == 0:
        return a.x
    if i == 1:
        return a.y
    return a.z


@inlined
def evaluate_end(work, loops, g, e, t, accelerated):
    """What the terms of one pair add to the rows of group g, and to the forces on its links."""
    tables, near, slots, end = loops.tables, loops.near, loops.slots, loops.ends[e]
    X_W, V, A = work.spare.X_W, work.body.V, work.body.A
    a, b = end.a, end.b
    R_a, R_b = X_W[a].R, X_W[b].R
    pair = link_pair(tables, end.pair, a, b, X_W)
    V_ab = PairVelocity(R_a @ V[a].w, R_a @ V[a].v, R_b @ V[b].w, R_b @ V[b].v)
    gradients, o = Gradients(packs(loops.gradient)), zero(packs(loops.gradient)[0, 0])
    nothing = Force(Vec3(o, o, o), Vec3(o, o, o))
    gradients.on_a[0], gradients.on_b[0] = nothing, nothing
    for k in range(end.first_slot, end.first_slot + end.slots):
        term, lane = slots[k].term, slots[k].lane
        scale, row = tables.scale[term], equation(loops, g, lane)
        row.C += scale * value(tables, term, t, pair, near)
        put_gradient(loops.gradient, lane, scale, gradient(tables, term, t, pair, near))
        row.rate += scale * explicit_rate(tables, term, t, pair)
        if accelerated:
            row.second += scale * second(tables, term, t, pair, near, V_ab, V_ab)
            row.second += scale * explicit_second(tables, term, t, pair, V_ab)
    of_rows, at_a, at_b = OfRows(packs(loops.of_rows)), gradients.on_a[0], gradients.on_b[0]
    of_rows.rate[g] = of_rows.rate[g] + (
        along(at_a, Motion(V_ab.w_a, V_ab.v_a)) + along(at_b, Motion(V_ab.w_b, V_ab.v_b))
    )
    if accelerated:
        # of the origin: v̇ = A_v + ω × v; gravity, which all links share in A, makes no difference
        A_a = Motion(R_a @ A[a].w, R_a @ (A[a].v + cross(V[a].w, V[a].v)))
        A_b = Motion(R_b @ A[b].w, R_b @ (A[b].v + cross(V[b].w, V[b].v)))
        of_rows.second[g] = of_rows.second[g] + (along(at_a, A_a) + along(at_b, A_b))
    F = ForceRows(packs(loops.carried), 0)
    n, m = end.place_a, end.place_b
    if n >= 0:
        F[n] = F[n] + Force(T(R_a) @ at_a.n, T(R_a) @ at_a.f)
    if m >= 0:
        F[m] = F[m] + Force(T(R_b) @ at_b.n, T(R_b) @ at_b.f)


@formula
def along(F, V):
    """n · ω + f · v."""
    return (F.n.x * V.w.x + F.n.y * V.w.y + F.n.z * V.w.z) + (F.f.x * V.v.x + F.f.y * V.v.y + F.f.z * V.v.z)


@inlined
def add_drivers(loops, g, t, accelerated):
    """C −= f,  Ċ −= ḟ,  C̈₀ −= f̈."""
    rows, first = RowsOfTerms(loops.tables.rows), loops.groups[g].first_row
    for l in range(loops.groups[g].rows):
        if rows[first + l].driver >= 0:
            f, rate, acceleration = time_jet(loops.functions, loops.driver_at[rows[first + l].driver], t)
            row = equation(loops, g, l)
            row.C -= f
            row.rate -= rate
            if accelerated:
                row.second -= acceleration


@inlined
def group_inward(model, work, loops, g):
    """The forces of group g inward along its path; s of every degree of freedom on it."""
    bodies, path, s = model.topology, loops.path, packs(loops.s)
    F = ForceRows(packs(loops.carried), 0)
    X, H, K = work.body.X, work.columns.H, work.freedom.U
    first = loops.groups[g].first_link
    for n in range(loops.groups[g].links):
        at = path[first + n]
        i, up, place, j = at.link, at.up, at.place, at.iv
        kind, F_i = bodies[i].kind, F[n]
        # s = hᵀ F,  F ← F − K s
        if kind == REVOLUTE:
            x = F_i @ ABOUT_Z
            s[place, 0] = x
            F_i = F_i - x * K[j]
        elif kind == PRISMATIC:
            x = F_i @ ALONG_Z
            s[place, 0] = x
            F_i = F_i - x * K[j]
        else:
            for m in range(at.nv - 1, -1, -1):
                x = along(F_i, H[j + m])
                s[place + m, 0] = x
                F_i = F_i - x * K[j + m]
        # F_parent += X F
        if up >= 0:
            if bodies[i].flags & TURNS_Z != 0:
                F[up] = F[up] + about_z(X[i]) @ F_i
            else:
                F[up] = F[up] + X[i] @ F_i
