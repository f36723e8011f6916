"""Constraint rows on a tree: loops that were cut, drivers, couplings, rolling; O(n + m² d) for m rows on paths of d freedoms.

    M a + h + Cqᵀ λ = τ,   Cq a = γ        a = a₀ − M⁻¹Cqᵀ λ,   (Cq M⁻¹Cqᵀ) λ = C̈₀ + 2 α Ċ + β² C

with a₀ and C̈₀ those of the open tree, by ABA. M⁻¹ is never formed: with K = U/d and 1/d that ABA left in every freedom,
the force F of a row goes inward from its links to the root and leaves

    s = hᵀ F,   F ← F − K s,   F_parent += X F             in each freedom on its path;   Cq M⁻¹Cqᵀ = Σ s sᵀ/d
    δ = (Σ μ s)/d − Kᵀ a,   a ← X⁻¹ a_parent + h δ          outward: δ = M⁻¹Cqᵀ μ

so that one factorisation (``loop_solve``) serves accelerations and, at the end of a step, the projections
Δv = −M⁻¹Cqᵀ A⁻¹ (Cq v − ν) and Δq = −M⁻¹Cqᵀ A⁻¹ C. This page finds C, Ċ − ν, C̈₀ and s of the rows; those of a joint, up to
eight, go inward together as one pack.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from nexdyn.constraints.kinds import DOT
from nexdyn.constraints.pair import Pair, PairVelocity, column
from nexdyn.constraints.tables import RowsOfTerms, Terms
from nexdyn.constraints.verbs import explicit_rate, explicit_second, gradient, second, value
from nexdyn.joints.kinds import PRISMATIC, REVOLUTE
from nexdyn.kernel import formula, inlined
from nexdyn.model.time_kernels import time_jet
from nexdyn.spatial.algebra import ABOUT_Z, ALONG_Z, Force, Motion, T, Vec3, cross
from nexdyn.spatial.lanes import LANES, packs, zero
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows, row
from nexdyn.spatial.turned_z import about_z
from nexdyn.tree.tables import A_, FLAGS, H_, KIND, PARENT, TURNS_Z, U_, V_, X_, XW_

C_ROW, RATE_ROW, SECOND_ROW, MU_ROW = range(4)
"""Of a group's rows: C, Ċ − ν, C̈₀, and multipliers."""
FIRST_ROW, ROWS, FIRST_END, ENDS, FIRST_PATH, PATH = range(6)  # of a group
END_PAIR, LINK_A, LINK_B, PLACE_A, PLACE_B, FIRST_SLOT, SLOTS, PLAIN = range(8)  # of an end
LINK, UP, PLACE, FREEDOM, FREEDOMS = range(5)  # of a link on a path
GROUP_A, GROUP_B, FIRST_SHARED, SHARED = range(4)  # of two groups that share freedoms


class LoopTables(NamedTuple):
    """The rows on a tree, and room for them.

    tables: ConstraintTables whose pairs are links of the tree, in the links' frames.
    groups int64 (ng, 6): the rows of one owner, up to eight: first row, rows, first end, ends, first link on its path, links.
    ends int64 (ne, 8): a pair seen from one group: pair, links a and b, their places on the path or −1, first slot, slots,
    whether its terms are displacements and products of directions alone.
    slots int64 (ns, 2): term, and lane of its row. row_of int64 (m, 2): group and lane of every row.
    path int64 (np, 5): link, place of its parent on the path or −1, place of its first freedom in s, first freedom, freedoms;
    outermost first. couples int64 (nc, 4): two groups that share freedoms, first in `shared`, how many.
    shared int64 (…, 3): place in s of either, freedom.
    needed: links whose place in the world counts, outward: links that move with some row, both inward to outward.
    velocity_level bool (m,): rows without a C. units (m,), speed_units (nv,): what makes numbers of rows and, but for the
    time, of the tree's velocities.
    functions: rows of the drivers' functions of time; driver_at (nd,) where each begins.
    own int64 (no, 5), balls int64 (nk, 5): coordinates of joints that were cut, and those of them that turn by quaternions;
    own_numbers (nv of both, 5): their springs, dampers and friction (``loop_cuts``).
    near (nk,): what angles are looked for near. angles int64 (na, 3): of each angle its place in near, a term that measures
    it, and its place in q or −1; spun (nk + 1,): their rates, and the time when they were measured (``loop_cuts``).
    s (…, 1, 8), carried (longest path, 6, 8), gradient (1, 12, 8).
    A (m, m), first_in_A (m,): its envelope. of_rows (ng, 4, 8), mu (m,), change (nv,).
    damping (5,): of Baumgarte's stabilisation (``integrate.stabilised``).
    spare (2,): how many rows are redundant in every pose beside the others, and the smallest pivot, as a part of its
    diagonal, since they were chosen (0: not yet); left_out (m,): 1 for those; chosen (m, m) room to choose, (0, 0) without.
    largest (m,): the largest diagonal of each row so far; dependence (3,): what a pivot is smaller by than those of the rows of its joint,
    at most, at the best pose so far and at the worst, and when that was: near a singular pose rows become dependent.
    lent (nv, 2): inertia that freedoms of a tree without inertia borrow (``loop_motion``), and the effort that is paid back, 0 between
    two evaluations; (0, 2) where the tree has inertia in every freedom.
    """

    tables: Any
    groups: Any
    ends: Any
    slots: Any
    row_of: Any
    path: Any
    couples: Any
    shared: Any
    needed: Any
    outward: Any
    velocity_level: Any
    units: Any
    speed_units: Any
    functions: Any
    driver_at: Any
    own: Any
    balls: Any
    own_numbers: Any
    near: Any
    angles: Any
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
    lent: Any


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
    X, X_W, topology, needed = PoseRows(work.body, X_), PoseRows(work.spare, XW_), model.topology, loops.needed
    for n in range(len(needed)):
        i = needed[n]
        # X_Wi = X_Wp X_i
        X_W[i] = X_W[topology[i, PARENT]] @ X[i]


@formula
def put_gradient(G, lane, scale, g):
    """Lane `lane` of the table of gradients += scale g."""
    G[0, 0, lane] += scale * g.w_a.x
    G[0, 1, lane] += scale * g.w_a.y
    G[0, 2, lane] += scale * g.w_a.z
    G[0, 3, lane] += scale * g.v_a.x
    G[0, 4, lane] += scale * g.v_a.y
    G[0, 5, lane] += scale * g.v_a.z
    G[0, 6, lane] += scale * g.w_b.x
    G[0, 7, lane] += scale * g.w_b.y
    G[0, 8, lane] += scale * g.w_b.z
    G[0, 9, lane] += scale * g.v_b.x
    G[0, 10, lane] += scale * g.v_b.y
    G[0, 11, lane] += scale * g.v_b.z


@formula
def evaluate_rows(model, work, loops, t, accelerated):
    """C, Ċ − ν and, if the links are `accelerated`, C̈₀ of every row; its s along its path."""
    groups, offset, ends, out = loops.groups, loops.tables.offset, loops.ends, loops.of_rows
    needed_poses(model, work, loops)
    for g in range(len(groups)):
        first, count = groups[g, FIRST_ROW], groups[g, ROWS]
        for l in range(count):
            out[g, C_ROW, l] = -offset[first + l]
            out[g, RATE_ROW, l] = 0.0
            out[g, SECOND_ROW, l] = 0.0
        F = ForceRows(packs(loops.carried), 0)
        o = zero(packs(loops.carried)[0, 0])
        for n in range(groups[g, PATH]):
            F[n] = Force(Vec3(o, o, o), Vec3(o, o, o))
        driven = False
        for l in range(count):
            driven = driven or RowsOfTerms(loops.tables.rows)[first + l].driver >= 0
        for e in range(groups[g, FIRST_END], groups[g, FIRST_END] + groups[g, ENDS]):
            if ends[e, PLAIN] != 0:
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
    tables, out, G, slots = loops.tables, loops.of_rows, loops.gradient, loops.slots
    X_W, V, A = PoseRows(work.spare, XW_), MotionRows(work.body, V_), MotionRows(work.body, A_)
    a, b = loops.ends[e, LINK_A], loops.ends[e, LINK_B]
    R_a, R_b = X_W[a].R, X_W[b].R
    pair = link_pair(tables, loops.ends[e, END_PAIR], a, b, X_W)
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
    lanes = packs(G)
    o = zero(lanes[0, 0])
    for c in range(6):
        lanes[0, c] = o
    for k in range(loops.ends[e, FIRST_SLOT], loops.ends[e, FIRST_SLOT] + loops.ends[e, SLOTS]):
        term, lane = slots[k, 0], slots[k, 1]
        scale, kind = tables.scale[term], Terms(tables.terms)[term].primitive
        if kind < DOT:
            u = scale * column(pair.R_A, kind)
            out[g, C_ROW, lane] += scale * component(d, kind)
            out[g, RATE_ROW, lane] += scale * component(d1, kind)
            out[g, SECOND_ROW, lane] += scale * component(d2, kind)
            G[0, 3, lane] += u.x
            G[0, 4, lane] += u.y
            G[0, 5, lane] += u.z
        else:
            u, w = scale * column(pair.R_A, (kind - DOT) // 3), column(pair.R_B, (kind - DOT) % 3)
            swept = cross(spin, w)
            out[g, C_ROW, lane] += u @ w
            out[g, RATE_ROW, lane] += u @ swept
            out[g, SECOND_ROW, lane] += u @ (cross(turn, w) + cross(spin, swept))
            n = cross(w, u)
            G[0, 0, lane] += n.x
            G[0, 1, lane] += n.y
            G[0, 2, lane] += n.z
    at_B = row(ForceRows(lanes, 0), 0)
    F = ForceRows(packs(loops.carried), 0)
    n, m = loops.ends[e, PLACE_A], loops.ends[e, PLACE_B]
    if n >= 0:
        F[n] = F[n] - Force(T(R_a) @ (at_B.n + cross(pair.s_A + pair.d, at_B.f)), T(R_a) @ at_B.f)
    if m >= 0:
        F[m] = F[m] + Force(T(R_b) @ (at_B.n + cross(pair.s_B, at_B.f)), T(R_b) @ at_B.f)


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
    tables, near, out, G, slots = loops.tables, loops.near, loops.of_rows, loops.gradient, loops.slots
    X_W, V, A = PoseRows(work.spare, XW_), MotionRows(work.body, V_), MotionRows(work.body, A_)
    a, b = loops.ends[e, LINK_A], loops.ends[e, LINK_B]
    R_a, R_b = X_W[a].R, X_W[b].R
    pair = link_pair(tables, loops.ends[e, END_PAIR], a, b, X_W)
    V_ab = PairVelocity(R_a @ V[a].w, R_a @ V[a].v, R_b @ V[b].w, R_b @ V[b].v)
    for c in range(12):
        for l in range(LANES):
            G[0, c, l] = 0.0
    for k in range(loops.ends[e, FIRST_SLOT], loops.ends[e, FIRST_SLOT] + loops.ends[e, SLOTS]):
        term, lane = slots[k, 0], slots[k, 1]
        scale = tables.scale[term]
        out[g, C_ROW, lane] += scale * value(tables, term, t, pair, near)
        put_gradient(G, lane, scale, gradient(tables, term, t, pair, near))
        out[g, RATE_ROW, lane] += scale * explicit_rate(tables, term, t, pair)
        if accelerated:
            out[g, SECOND_ROW, lane] += scale * second(tables, term, t, pair, near, V_ab, V_ab)
            out[g, SECOND_ROW, lane] += scale * explicit_second(tables, term, t, pair, V_ab)
    of_rows, lanes = packs(out), packs(G)
    at_a, at_b = row(ForceRows(lanes, 0), 0), row(ForceRows(lanes, 6), 0)
    of_rows[g, RATE_ROW] = of_rows[g, RATE_ROW] + (
        along(at_a, Motion(V_ab.w_a, V_ab.v_a)) + along(at_b, Motion(V_ab.w_b, V_ab.v_b))
    )
    if accelerated:
        # of the origin: v̇ = A_v + ω × v; gravity, which all links share in A, makes no difference
        A_a = Motion(R_a @ A[a].w, R_a @ (A[a].v + cross(V[a].w, V[a].v)))
        A_b = Motion(R_b @ A[b].w, R_b @ (A[b].v + cross(V[b].w, V[b].v)))
        of_rows[g, SECOND_ROW] = of_rows[g, SECOND_ROW] + (along(at_a, A_a) + along(at_b, A_b))
    F = ForceRows(packs(loops.carried), 0)
    n, m = loops.ends[e, PLACE_A], loops.ends[e, PLACE_B]
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
    rows, out, first = RowsOfTerms(loops.tables.rows), loops.of_rows, loops.groups[g, FIRST_ROW]
    for l in range(loops.groups[g, ROWS]):
        if rows[first + l].driver >= 0:
            f, rate, acceleration = time_jet(loops.functions, loops.driver_at[rows[first + l].driver], t)
            out[g, C_ROW, l] -= f
            out[g, RATE_ROW, l] -= rate
            if accelerated:
                out[g, SECOND_ROW, l] -= acceleration


@inlined
def group_inward(model, work, loops, g):
    """The forces of group g inward along its path; s of every freedom on it."""
    topology, path, s = model.topology, loops.path, packs(loops.s)
    F = ForceRows(packs(loops.carried), 0)
    X, H, K = PoseRows(work.body, X_), MotionRows(work.columns, H_), ForceRows(work.freedom, U_)
    first = loops.groups[g, FIRST_PATH]
    for n in range(loops.groups[g, PATH]):
        i, up, place, j = path[first + n, LINK], path[first + n, UP], path[first + n, PLACE], path[first + n, FREEDOM]
        kind, F_i = topology[i, KIND], F[n]
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
            for m in range(path[first + n, FREEDOMS] - 1, -1, -1):
                x = along(F_i, H[j + m])
                s[place + m, 0] = x
                F_i = F_i - x * K[j + m]
        # F_parent += X F
        if up >= 0:
            if topology[i, FLAGS] & TURNS_Z != 0:
                F[up] = F[up] + about_z(X[i]) @ F_i
            else:
                F[up] = F[up] + X[i] @ F_i
