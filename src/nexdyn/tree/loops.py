"""Constraint rows on a tree: loops that were cut, drivers, couplings, rolling; O(n + m² d) for m rows on paths of d freedoms.

    M a + h + Cqᵀ λ = τ,   Cq a = γ        a = a₀ − M⁻¹Cqᵀ λ,   (Cq M⁻¹Cqᵀ) λ = C̈₀ + 2 α Ċ + β² C

with a₀ and C̈₀ those of the open tree, by ABA. M⁻¹ is never formed: with K = U/d and 1/d that ABA left in every freedom,
the force F of a row goes inward from its links to the root and leaves

    s = hᵀ F,   F ← F − K s,   F_parent += X F             in each freedom on its path;   Cq M⁻¹Cqᵀ = Σ s sᵀ/d
    δ = (Σ μ s)/d − Kᵀ a,   a ← X⁻¹ a_parent + h δ          outward: δ = M⁻¹Cqᵀ μ

so that one factorisation serves accelerations and, at the end of a step, the projections Δv = −M⁻¹Cqᵀ A⁻¹ (Cq v − ν) and
Δq = −M⁻¹Cqᵀ A⁻¹ C. The rows of a joint, up to eight, go inward together as one pack.

Of rows that share a redundancy in every pose so many are left out as are redundant, but not the same ones for good: those that
are left can become dependent in a pose in which, with another among them, they are not. They are chosen by pivoting, and anew
where the smallest pivot, as a part of its diagonal, falls.

Rows at velocity level, g · V = 0 without a C, take part in all but the projection of positions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.constraints.kinds import DOT
from nexdyn.constraints.pair import Pair, PairVelocity, column
from nexdyn.constraints.tables import BODY_A, BODY_B, DRIVER, PRIMITIVE
from nexdyn.constraints.verbs import explicit_rate, explicit_second, gradient, second, value
from nexdyn.forces.joint import friction_effort, spring_damper
from nexdyn.generic import defines, generic
from nexdyn.joints.kinds import PRISMATIC, REVOLUTE
from nexdyn.kernel import formula, inlined
from nexdyn.model.time_kernels import time_jet
from nexdyn.spatial.algebra import ABOUT_Z, ALONG_Z, Force, Motion, T, Vec3, cross, to_child
from nexdyn.spatial.lanes import LANES, packs, zero
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows, row
from nexdyn.spatial.turned_z import about_z
from nexdyn.tree.tables import A_, D_, EXT_, H_, IV, KIND, NV, PARENT, TURNS_Z, U_, V_, X_, XW_

DEPENDENT = 1e-13
"""A pivot below this part of its diagonal is rounding."""
WORSE = 0.1
"""Part of its best smallest pivot at which the rows that are left out are chosen anew."""
C_ROW, RATE_ROW, SECOND_ROW, MU_ROW = range(4)
"""Of a group's rows: C, Ċ − ν, C̈₀, and multipliers."""
FIRST_ROW, ROWS, FIRST_END, ENDS, FIRST_PATH, PATH = range(6)  # of a group
END_PAIR, LINK_A, LINK_B, PLACE_A, PLACE_B, FIRST_SLOT, SLOTS, PLAIN = range(8)  # of an end
LINK, UP, PLACE, FREEDOM, FREEDOMS = range(5)  # of a link on a path
GROUP_A, GROUP_B, FIRST_SHARED, SHARED = range(4)  # of two groups that share freedoms
OWN_END, OWN_TERM, OWN_Q, OWN_V, OWN_JOINT = range(5)  # of a coordinate of a joint that was cut
STIFFNESS, REST, DAMPING, FRICTION, FRICTION_SPEED = range(5)  # and the numbers of its own efforts


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
    velocity_level bool (m,): rows without a C. units (m,): by which rows in m are divided.
    functions: rows of the drivers' functions of time; driver_at (nd,) where each begins.
    own int64 (no, 5), own_numbers (no, 5): coordinates of joints that were cut, beyond those of the tree.
    near (nk,): what angles are looked for near. s (…, 1, 8), carried (longest path, 6, 8), gradient (1, 12, 8).
    A (m, m), first_in_A (m,): its envelope. of_rows (ng, 4, 8), mu (m,), change (nv,).
    damping (2,): α, β of Baumgarte's stabilisation.
    spare (2,): how many rows are redundant in every pose beside the others, and the smallest pivot, as a part of its
    diagonal, since they were chosen (0: not yet); left_out (m,): 1 for those; chosen (m, m) room to choose, (0, 0) without.
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
    functions: Any
    driver_at: Any
    own: Any
    own_numbers: Any
    near: Any
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


@formula
def link_pair(tables, k, a, b, X_W):  # type: ignore[no-untyped-def]
    """The two frames of pair k, on links a and b, in world axes."""
    X_a, X_b = X_W[a], X_W[b]
    X_aA, X_bB = PoseRows(tables.frames, 0)[k], PoseRows(tables.frames, 12)[k]
    s_A, s_B = X_a.R @ X_aA.p, X_b.R @ X_bB.p
    return Pair(X_a.R @ X_aA.R, X_b.R @ X_bB.R, s_A, s_B, X_b.p + s_B - X_a.p - s_A)


@inlined
def needed_poses(model, work, loops):  # type: ignore[no-untyped-def]
    """Places in the world of the links that rows look at."""
    X, X_W, topology, needed = PoseRows(work.body, X_), PoseRows(work.spare, XW_), model.topology, loops.needed
    for n in range(len(needed)):
        i = needed[n]
        # X_Wi = X_Wp X_i
        X_W[i] = X_W[topology[i, PARENT]] @ X[i]


@formula
def put_gradient(G, lane, scale, g):  # type: ignore[no-untyped-def]
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
def evaluate_rows(model, work, loops, t, accelerated):  # type: ignore[no-untyped-def]
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
            driven = driven or loops.tables.rows[first + l, DRIVER] >= 0
        for e in range(groups[g, FIRST_END], groups[g, FIRST_END] + groups[g, ENDS]):
            if ends[e, PLAIN] != 0:
                evaluate_plain_end(work, loops, g, e, accelerated)
            else:
                evaluate_end(work, loops, g, e, t, accelerated)
        if driven:
            add_drivers(loops, g, t, accelerated)
        group_inward(model, work, loops, g)


@inlined
def evaluate_plain_end(work, loops, g, e, accelerated):  # type: ignore[no-untyped-def]
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
        scale, kind = tables.scale[term], tables.terms[term, PRIMITIVE]
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
def component(a, i):  # type: ignore[no-untyped-def]
    """Component i of a vector."""
    if i == 0:
        return a.x
    if i == 1:
        return a.y
    return a.z


@inlined
def evaluate_end(work, loops, g, e, t, accelerated):  # type: ignore[no-untyped-def]
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
def along(F, V):  # type: ignore[no-untyped-def]
    """n · ω + f · v."""
    return (F.n.x * V.w.x + F.n.y * V.w.y + F.n.z * V.w.z) + (F.f.x * V.v.x + F.f.y * V.v.y + F.f.z * V.v.z)


@inlined
def add_drivers(loops, g, t, accelerated):  # type: ignore[no-untyped-def]
    """C −= f,  Ċ −= ḟ,  C̈₀ −= f̈."""
    rows, out, first = loops.tables.rows, loops.of_rows, loops.groups[g, FIRST_ROW]
    for l in range(loops.groups[g, ROWS]):
        if rows[first + l, DRIVER] >= 0:
            f, rate, acceleration = time_jet(loops.functions, loops.driver_at[rows[first + l, DRIVER]], t)
            out[g, C_ROW, l] -= f
            out[g, RATE_ROW, l] -= rate
            if accelerated:
                out[g, SECOND_ROW, l] -= acceleration


@inlined
def group_inward(model, work, loops, g):  # type: ignore[no-untyped-def]
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
            if topology[i, TURNS_Z] != 0:
                F[up] = F[up] + about_z(X[i]) @ F_i
            else:
                F[up] = F[up] + X[i] @ F_i


@inlined
def factor_rows(work, loops, of_positions):  # type: ignore[no-untyped-def]
    """A = Σ s sᵀ/d as L D Lᵀ in place. A row that depends on those before, in this pose, carries nothing; nor do, where
    positions are projected, rows at velocity level."""
    spare = loops.spare
    gram(work, loops)
    if spare[0] > 0.0 and spare[1] == 0.0:
        choose_rows(loops)
    least = eliminate(loops, of_positions)
    if spare[0] > 0.0 and not of_positions:
        if least < WORSE * spare[1]:
            gram(work, loops)
            choose_rows(loops)
            spare[1] = 0.0
            least = eliminate(loops, of_positions)
        spare[1] = max(spare[1], least)


@inlined
def gram(work, loops):  # type: ignore[no-untyped-def]
    """A = Σ s sᵀ/d, its lower triangle."""
    groups, couples, shared, s = loops.groups, loops.couples, loops.shared, packs(loops.s)
    A, low, block = loops.A, loops.first_in_A, loops.of_rows
    S = loops.s
    for r in range(len(A)):
        for c in range(low[r], r + 1):
            A[r, c] = 0.0
    for c in range(len(couples)):
        g, h = couples[c, GROUP_A], couples[c, GROUP_B]
        first, end = couples[c, FIRST_SHARED], couples[c, FIRST_SHARED] + couples[c, SHARED]
        row_, column_ = groups[g, FIRST_ROW], groups[h, FIRST_ROW]
        for l in range(groups[g, ROWS]):
            # the row of A beside all rows of h at once
            total = zero(s[0, 0])
            for n in range(first, end):
                d = work.freedom[shared[n, 2], D_] * S[shared[n, 0], 0, l]
                total = total + d * s[shared[n, 1], 0]
            packs(block)[h, MU_ROW] = total
            for k in range(groups[h, ROWS]):
                if column_ + k <= row_ + l:
                    A[row_ + l, column_ + k] = block[h, MU_ROW, k]


@inlined
def choose_rows(loops):  # type: ignore[no-untyped-def]
    """left_out ← the rows that pivoting on the largest, each beside its diagonal, leaves for last."""
    A, L, out, rest = loops.A, loops.chosen, loops.left_out, loops.mu
    m = len(A)
    for r in range(m):
        out[r] = 1.0
        rest[r] = 1.0 if A[r, r] > 0.0 else 0.0
    for k in range(m - int(loops.spare[0])):
        p = -1
        for r in range(m):
            if out[r] > 0.0 and (p < 0 or rest[r] > rest[p]):
                p = r
        out[p] = 0.0
        if not rest[p] > DEPENDENT:
            continue
        for r in range(m):
            if out[r] > 0.0 and A[r, r] > 0.0:
                # L_rk = (A_rp − Σ L_rj L_pj)/L_pp of A with a diagonal of 1
                x = A[max(r, p), min(r, p)] / np.sqrt(A[r, r] * A[p, p])
                for j in range(k):
                    x -= L[r, j] * L[p, j]
                L[r, k] = x / np.sqrt(rest[p])
                rest[r] -= L[r, k] * L[r, k]


@inlined
def eliminate(loops, of_positions):  # type: ignore[no-untyped-def]
    """L D Lᵀ of A in place, on the diagonal 1/D, and 0 of a row that carries nothing.

    Where rows are left out: the smallest pivot of the others, as a part of its diagonal; else 1."""
    A, low, out, least = loops.A, loops.first_in_A, loops.left_out, 1.0
    if loops.spare[0] > 0.0:
        for r in range(len(A)):
            for c in range(low[r], r + 1):
                if out[r] > 0.0 or out[c] > 0.0:
                    A[r, c] = 0.0
    for r in range(len(A)):
        whole = A[r, r]
        first = low[r]
        for c in range(first, r):
            x = A[r, c]
            for k in range(max(first, low[c]), c):
                x -= A[r, k] * A[c, k]
            A[r, c] = x
        pivot = whole
        for c in range(first, r):
            x = A[r, c] * A[c, c]
            pivot -= x * A[r, c]
            A[r, c] = x
        if loops.spare[0] > 0.0 and whole > 0.0:
            least = min(least, pivot / whole)
        carries = pivot > DEPENDENT * whole and not (of_positions and loops.velocity_level[r])
        A[r, r] = 1.0 / pivot if carries else 0.0
    return least


@inlined
def solve_rows(loops):  # type: ignore[no-untyped-def]
    """μ ← A⁻¹ μ."""
    A, low, mu = loops.A, loops.first_in_A, loops.mu
    for r in range(len(A)):
        for c in range(low[r], r):
            mu[r] -= A[r, c] * mu[c]
    for r in range(len(A)):
        mu[r] *= A[r, r]
    for r in range(len(A) - 1, -1, -1):
        for c in range(low[r], r):
            mu[c] -= A[r, c] * mu[r]


@inlined
def response(model, work, loops):  # type: ignore[no-untyped-def]
    """change ← M⁻¹Cqᵀ μ."""
    topology, freedom, change, mu = model.topology, work.freedom, loops.change, loops.mu
    groups, path, s, outward = loops.groups, loops.path, loops.s, loops.outward
    X, H, K, A = (
        PoseRows(work.body, X_),
        MotionRows(work.columns, H_),
        ForceRows(freedom, U_),
        MotionRows(work.body, A_),
    )
    for j in range(len(change)):
        change[j] = 0.0
    for g in range(len(groups)):
        first, count = groups[g, FIRST_ROW], groups[g, ROWS]
        for n in range(groups[g, FIRST_PATH], groups[g, FIRST_PATH] + groups[g, PATH]):
            place, j = path[n, PLACE], path[n, FREEDOM]
            for m in range(path[n, FREEDOMS]):
                total = 0.0
                for l in range(count):
                    total += s[place + m, 0, l] * mu[first + l]
                change[j + m] += total
    A[0] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    for n in range(len(outward)):
        i = outward[n]
        kind, j = topology[i, KIND], topology[i, IV]
        if topology[i, TURNS_Z] != 0:
            a = to_child(about_z(X[i]), A[topology[i, PARENT]])
        else:
            a = to_child(X[i], A[topology[i, PARENT]])
        if kind == REVOLUTE:
            change[j] = change[j] * freedom[j, D_] - K[j] @ a
            a = a + change[j] * ABOUT_Z
        elif kind == PRISMATIC:
            change[j] = change[j] * freedom[j, D_] - K[j] @ a
            a = a + change[j] * ALONG_Z
        else:
            for m in range(j, j + topology[i, NV]):
                change[m] = change[m] * freedom[m, D_] - K[m] @ a
                a = a + change[m] * H[m]
        A[i] = a


@inlined
def take_rows(loops, which):  # type: ignore[no-untyped-def]
    """μ ← C or Ċ − ν of every row; without a C, 0."""
    for r in range(len(loops.mu)):
        if which == C_ROW and loops.velocity_level[r]:
            loops.mu[r] = 0.0
        else:
            loops.mu[r] = loops.of_rows[loops.row_of[r, 0], which, loops.row_of[r, 1]]


@formula
def largest_residual(loops, which):  # type: ignore[no-untyped-def]
    """The largest |C| (or |Ċ − ν|), lengths in units of the mechanism's size; NaN counts as infinite."""
    most = 0.0
    for r in range(len(loops.mu)):
        if loops.left_out[r] > 0.0:
            continue
        x = abs(loops.of_rows[loops.row_of[r, 0], which, loops.row_of[r, 1]]) * loops.units[r]
        if which == C_ROW and loops.velocity_level[r]:
            x = 0.0
        if not (x <= most):
            most = x if x == x else np.inf
    return most


@formula
def largest_left_out(loops):  # type: ignore[no-untyped-def]
    """The same of |C| of the rows that are left out, which the others should close too."""
    most = 0.0
    for r in range(len(loops.mu)):
        if loops.left_out[r] > 0.0 and not loops.velocity_level[r]:
            most = max(most, abs(loops.of_rows[loops.row_of[r, 0], C_ROW, loops.row_of[r, 1]]) * loops.units[r])
    return most


# --- joints that were cut: their own springs, dampers, friction, motors ------------------------------------------------

measure_own = generic("measure_own", "Coordinates and velocities of joints that were cut, beyond those of the tree.")
act_own = generic("act_own", "The efforts in them as wrenches on the links.")


@defines(measure_own)
def _(model: Any, work: Any, loops: Any, t: float, q: Any, v: Any, forces: None) -> Any:
    return 0


@defines(measure_own)
def _(model: Any, work: Any, loops: Any, t: float, q: Any, v: Any, forces: Any) -> Any:
    measure_cut_joints(model, work, loops, t, q, v)
    return 0


@formula
def measure_cut_joints(model, work, loops, t, q, v):  # type: ignore[no-untyped-def]
    """q and v of cut joints from poses and velocities of the links."""
    tables, own, near = loops.tables, loops.own, loops.near
    X_W, V = PoseRows(work.spare, XW_), MotionRows(work.body, V_)
    for n in range(len(own)):
        k, e = own[n, OWN_END], own[n, OWN_TERM]
        a, b = tables.pairs[k, BODY_A], tables.pairs[k, BODY_B]
        R_a, R_b = X_W[a].R, X_W[b].R
        pair = link_pair(tables, k, a, b, X_W)
        q[own[n, OWN_Q]] = value(tables, e, t, pair, near)
        g = gradient(tables, e, t, pair, near)
        v[own[n, OWN_V]] = (g.w_a @ (R_a @ V[a].w) + g.v_a @ (R_a @ V[a].v)) + (
            g.w_b @ (R_b @ V[b].w) + g.v_b @ (R_b @ V[b].v)
        )


@formula
def own_effort(loops, n, q, v):  # type: ignore[no-untyped-def]
    """Spring, damper and friction of a coordinate of a cut joint."""
    x, y, numbers = q[loops.own[n, OWN_Q]], v[loops.own[n, OWN_V]], loops.own_numbers
    effort = spring_damper(x, y, numbers[n, STIFFNESS], numbers[n, REST], numbers[n, DAMPING])
    return effort + friction_effort(y, numbers[n, FRICTION], numbers[n, FRICTION_SPEED])


@formula
def add_term_wrench(tables, work, k, e, t, near, size):  # type: ignore[no-untyped-def]
    """F_ext of the two links of pair k += size times the gradient of term e."""
    X_W, F = PoseRows(work.spare, XW_), ForceRows(work.body, EXT_)
    a, b = tables.pairs[k, BODY_A], tables.pairs[k, BODY_B]
    g = gradient(tables, e, t, link_pair(tables, k, a, b, X_W), near)
    Rt_a, Rt_b = T(X_W[a].R), T(X_W[b].R)
    F[a] = F[a] + size * Force(Rt_a @ g.w_a, Rt_a @ g.v_a)
    F[b] = F[b] + size * Force(Rt_b @ g.w_b, Rt_b @ g.v_b)


@defines(act_own)
def _(work: Any, loops: Any, t: float, q: Any, v: Any, tau: Any, forces: None) -> Any:
    return 0


@defines(act_own)
def _(work: Any, loops: Any, t: float, q: Any, v: Any, tau: Any, forces: Any) -> Any:
    own = loops.own
    for n in range(len(own)):
        tau[own[n, OWN_V]] += own_effort(loops, n, q, v)
        add_term_wrench(loops.tables, work, own[n, OWN_END], own[n, OWN_TERM], t, loops.near, tau[own[n, OWN_V]])
    return 0
