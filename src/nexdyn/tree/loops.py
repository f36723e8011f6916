"""Loops on a tree: the rows of the joints that were cut, closed by forces, O(n + m² d) for m rows on paths of d freedoms.

    M a + h + Cqᵀ λ = τ,   Cq a = γ        a = a₀ − M⁻¹Cqᵀ λ,   (Cq M⁻¹Cqᵀ) λ = C̈₀ + 2 α Ċ + β² C

with a₀ and C̈₀ those of the open tree, by ABA. M⁻¹ is never formed: with K = U/d and 1/d that ABA left in every freedom,
the force F of a row goes inward from its two bodies to the root and leaves

    s = hᵀ F,   F ← F − K s,   F_parent += X F             in each freedom on its path;   Cq M⁻¹Cqᵀ = Σ s sᵀ/d
    δ = (Σ μ s)/d − Kᵀ a,   a ← X⁻¹ a_parent + h δ          outward: δ = M⁻¹Cqᵀ μ

so that one factorisation serves accelerations and, at the end of a step, the projections Δv = −M⁻¹Cqᵀ A⁻¹ (Cq v − ν) and
Δq = −M⁻¹Cqᵀ A⁻¹ C.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from nexdyn.constraints.pair import Pair, PairVelocity
from nexdyn.constraints.tables import BODY_A, BODY_B, COUNT, FIRST, PAIR
from nexdyn.constraints.verbs import explicit_rate, explicit_second, gradient, second, value
from nexdyn.joints.kinds import PRISMATIC, REVOLUTE
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import ABOUT_Z, ALONG_Z, Force, Motion, T, Vec3, cross, to_child
from nexdyn.spatial.lanes import zero
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows
from nexdyn.tree.kinematics import world_poses
from nexdyn.tree.tables import A_, D_, H_, IV, KIND, NV, PARENT, U_, V_, X_, XW_

DEPENDENT = 1e-13
"""A pivot below this part of its diagonal is rounding."""
INFINITE = 1e300
C_ROW, RATE_ROW, SECOND_ROW, MU_ROW = range(4)


class LoopTables(NamedTuple):
    """The rows that close the loops, and room for them.

    tables: ConstraintTables whose pairs are links of the tree, in the links' frames; every row is about one pair.
    path_first (m + 1,), path: the freedoms between the bodies of each row and the root.
    near (nk,): what angles are looked for near. s (m, nv): zero beside the paths. A (m, m). rows (4, m): C, Ċ − ν, C̈₀ and
    multipliers. wrench (m, 12): the row's gradient as wrenches on its two links, in their frames. change (nv,).
    damping (2,): α, β of Baumgarte's stabilisation.
    """

    tables: Any
    path_first: Any
    path: Any
    near: Any
    s: Any
    A: Any
    rows: Any
    wrench: Any
    change: Any
    damping: Any


@formula
def link_pair(tables, k, X_W):  # type: ignore[no-untyped-def]
    """The two frames of pair k in world axes."""
    X_a, X_b = X_W[tables.pairs[k, BODY_A]], X_W[tables.pairs[k, BODY_B]]
    X_aA, X_bB = PoseRows(tables.frames, 0)[k], PoseRows(tables.frames, 12)[k]
    s_A, s_B = X_a.R @ X_aA.p, X_b.R @ X_bB.p
    return Pair(X_a.R @ X_aA.R, X_b.R @ X_bB.R, s_A, s_B, X_b.p + s_B - X_a.p - s_A)


@formula
def handed_inward(model, work, i, F, s, r):  # type: ignore[no-untyped-def]
    """Leaves s in the freedoms of link i and returns what reaches its parent."""
    topology = model.topology
    X, H, K = PoseRows(work.body, X_), MotionRows(work.columns, H_), ForceRows(work.freedom, U_)
    kind, j = topology[i, KIND], topology[i, IV]
    if kind == REVOLUTE:
        s[r, j] = F @ ABOUT_Z
        F = F - s[r, j] * K[j]
    elif kind == PRISMATIC:
        s[r, j] = F @ ALONG_Z
        F = F - s[r, j] * K[j]
    else:
        for n in range(j + topology[i, NV] - 1, j - 1, -1):
            s[r, n] = F @ H[n]
            F = F - s[r, n] * K[n]
    return X[i] @ F


@formula
def row_inward(model, work, loops, r, a, b, F_a, F_b):  # type: ignore[no-untyped-def]
    """The force of row r on links a and b inward to the root; parents have smaller numbers."""
    parent = model.topology
    while a != b:
        if a > b:
            F_a = handed_inward(model, work, a, F_a, loops.s, r)
            a = parent[a, PARENT]
        else:
            F_b = handed_inward(model, work, b, F_b, loops.s, r)
            b = parent[b, PARENT]
    F = F_a + F_b
    while a > 0:
        F = handed_inward(model, work, a, F, loops.s, r)
        a = parent[a, PARENT]


@formula
def evaluate_rows(model, work, loops, t, accelerated):  # type: ignore[no-untyped-def]
    """C, Ċ − ν and, if the links are `accelerated`, C̈₀ of every row; its s along its path."""
    tables, near, out = loops.tables, loops.near, loops.rows
    X_W, V, A = PoseRows(work.spare, XW_), MotionRows(work.body, V_), MotionRows(work.body, A_)
    world_poses(model, work, X_W)
    o = zero(work.body[0, 0])
    for r in range(len(tables.rows)):
        C, rate, acceleration = -tables.offset[r] + o, o, o
        F_a = Force(Vec3(o, o, o), Vec3(o, o, o))
        F_b = F_a
        a, b = 0, 0
        for e in range(tables.rows[r, FIRST], tables.rows[r, FIRST] + tables.rows[r, COUNT]):
            k, scale = tables.terms[e, PAIR], tables.scale[e]
            a, b = tables.pairs[k, BODY_A], tables.pairs[k, BODY_B]
            R_a, R_b = X_W[a].R, X_W[b].R
            pair = link_pair(tables, k, X_W)
            C += scale * value(tables, e, t, pair, near)
            g = gradient(tables, e, t, pair, near)
            V_ab = PairVelocity(R_a @ V[a].w, R_a @ V[a].v, R_b @ V[b].w, R_b @ V[b].v)
            rate += scale * (g.w_a @ V_ab.w_a + g.v_a @ V_ab.v_a + g.w_b @ V_ab.w_b + g.v_b @ V_ab.v_b)
            rate += scale * explicit_rate(tables, e, t, pair)
            if accelerated:
                # of the origin: v̇ = A_v + ω × v; gravity, which all links share in A, makes no difference
                v_a, v_b = A[a].v + cross(V[a].w, V[a].v), A[b].v + cross(V[b].w, V[b].v)
                acceleration += scale * (
                    g.w_a @ (R_a @ A[a].w) + g.v_a @ (R_a @ v_a) + g.w_b @ (R_b @ A[b].w) + g.v_b @ (R_b @ v_b)
                )
                acceleration += scale * second(tables, e, t, pair, near, V_ab, V_ab)
                acceleration += scale * explicit_second(tables, e, t, pair, V_ab)
            F_a = F_a + scale * Force(T(R_a) @ g.w_a, T(R_a) @ g.v_a)
            F_b = F_b + scale * Force(T(R_b) @ g.w_b, T(R_b) @ g.v_b)
        ForceRows(loops.wrench, 0)[r], ForceRows(loops.wrench, 6)[r] = F_a, F_b
        out[C_ROW, r], out[RATE_ROW, r], out[SECOND_ROW, r] = C, rate, acceleration
        row_inward(model, work, loops, r, a, b, F_a, F_b)


@formula
def factor_rows(work, loops):  # type: ignore[no-untyped-def]
    """A = Σ s sᵀ/d as L D Lᵀ in place. A row that depends on those before, in this pose, carries nothing."""
    s, A, first, path = loops.s, loops.A, loops.path_first, loops.path
    for r in range(len(A)):
        for r_ in range(r + 1):
            total = zero(A[0, 0])
            for n in range(first[r], first[r + 1]):
                j = path[n]
                total += s[r, j] * s[r_, j] * work.freedom[j, D_]
            A[r, r_] = total
    for r in range(len(A)):
        whole = A[r, r]
        for c in range(r):
            x = A[r, c]
            for k in range(c):
                x -= A[r, k] * A[c, k]
            A[r, c] = x
        for c in range(r):
            x = A[r, c] / A[c, c]
            A[r, r] -= x * A[r, c]
            A[r, c] = x
        if not A[r, r] > DEPENDENT * whole:
            A[r, r] = INFINITE + zero(whole)


@formula
def solve_rows(loops, mu):  # type: ignore[no-untyped-def]
    """μ ← A⁻¹ μ."""
    A = loops.A
    for r in range(len(A)):
        for c in range(r):
            mu[r] -= A[r, c] * mu[c]
    for r in range(len(A)):
        mu[r] /= A[r, r]
    for r in range(len(A) - 1, -1, -1):
        for c in range(r):
            mu[c] -= A[r, c] * mu[r]


@formula
def response(model, work, loops, mu):  # type: ignore[no-untyped-def]
    """change ← M⁻¹Cqᵀ μ."""
    topology, freedom, change = model.topology, work.freedom, loops.change
    X, H, K, A = (
        PoseRows(work.body, X_),
        MotionRows(work.columns, H_),
        ForceRows(freedom, U_),
        MotionRows(work.body, A_),
    )
    o = zero(freedom[0, 0])
    for j in range(len(change)):
        change[j] = o
    for r in range(len(mu)):
        for n in range(loops.path_first[r], loops.path_first[r + 1]):
            j = loops.path[n]
            change[j] += mu[r] * loops.s[r, j]
    A[0] = Motion(Vec3(o, o, o), Vec3(o, o, o))
    for i in range(1, len(topology)):
        kind, j = topology[i, KIND], topology[i, IV]
        a = to_child(X[i], A[topology[i, PARENT]])
        if kind == REVOLUTE:
            change[j] = change[j] * freedom[j, D_] - K[j] @ a
            a = a + change[j] * ABOUT_Z
        elif kind == PRISMATIC:
            change[j] = change[j] * freedom[j, D_] - K[j] @ a
            a = a + change[j] * ALONG_Z
        else:
            for n in range(j, j + topology[i, NV]):
                change[n] = change[n] * freedom[n, D_] - K[n] @ a
                a = a + change[n] * H[n]
        A[i] = a
