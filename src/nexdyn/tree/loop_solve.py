"""Solving with the rows on a tree: A = Cq M⁻¹Cqᵀ = Σ s sᵀ/d as L D Lᵀ, and the way back, M⁻¹Cqᵀ μ (``loops``).

Of rows that share a redundancy in every pose so many are left out as are redundant, but not the same ones for good: those that
are left can become dependent in a pose in which, with another among them, they are not. They are chosen by pivoting, and anew
where the smallest pivot, as a part of its diagonal, falls.

Rows at velocity level, g · V = 0 without a C, take part in all but the projection of positions.
"""

from __future__ import annotations

import numpy as np

from nexdyn.joints.kinds import PRISMATIC, REVOLUTE
from nexdyn.kernel import formula, inlined
from nexdyn.spatial.algebra import ABOUT_Z, ALONG_Z, Motion, Vec3, to_child
from nexdyn.spatial.lanes import packs, zero
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows
from nexdyn.spatial.turned_z import about_z
from nexdyn.tree.loops import (
    C_ROW,
    FIRST_PATH,
    FIRST_ROW,
    FIRST_SHARED,
    FREEDOM,
    FREEDOMS,
    GROUP_A,
    GROUP_B,
    MU_ROW,
    PATH,
    PLACE,
    ROWS,
    SHARED,
)  # fmt: skip
from nexdyn.tree.tables import A_, D_, FLAGS, H_, IV, KIND, NV, PARENT, TURNS_Z, U_, X_

DEPENDENT = 1e-13
"""A pivot below this part of its diagonal is rounding."""
NOTHING = 1e-26
"""So is a diagonal below this part of the largest, in units of the mechanism's size: what its row holds cannot move in this pose."""
WORSE = 0.1
"""Part of its best smallest pivot at which the rows that are left out are chosen anew."""


@inlined
def factor_rows(work, loops, of_positions):
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
def gram(work, loops):
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
def choose_rows(loops):
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
def eliminate(loops, of_positions):
    """L D Lᵀ of A in place, on the diagonal 1/D, and 0 of a row that carries nothing.

    Where rows are left out: the smallest pivot of the others, as a part of its diagonal; else 1."""
    A, low, out, units, least, most = loops.A, loops.first_in_A, loops.left_out, loops.units, 1.0, 0.0
    if loops.spare[0] > 0.0:
        for r in range(len(A)):
            for c in range(low[r], r + 1):
                if out[r] > 0.0 or out[c] > 0.0:
                    A[r, c] = 0.0
    for r in range(len(A)):
        most = max(most, units[r] * units[r] * A[r, r])
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
        moves = units[r] * units[r] * whole > NOTHING * most
        carries = moves and pivot > DEPENDENT * whole and not (of_positions and loops.velocity_level[r])
        A[r, r] = 1.0 / pivot if carries else 0.0
        loops.largest[r] = max(loops.largest[r], whole)
    return least


@formula
def watch_dependence(loops, t):
    """Take note of how dependent the rows are at t, by the factors of A."""
    A, largest, units, d = loops.A, loops.largest, loops.units, loops.dependence
    most, first = 1.0, 0
    while first < len(A):
        end = first
        while end < len(A) and loops.row_of[end, 0] == loops.row_of[first, 0]:
            end += 1
        for r in range(first, end):
            for other in range(first, end):
                if units[other] == units[r]:
                    most = max(most, largest[other] * A[r, r])
        first = end
    d[0] = min(d[0], most)
    if most > d[1]:
        d[1], d[2] = most, t


@inlined
def solve_rows(loops):
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
def response(model, work, loops):
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
        if topology[i, FLAGS] & TURNS_Z != 0:
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
def take_rows(loops, which):
    """μ ← C or Ċ − ν of every row; without a C, 0."""
    for r in range(len(loops.mu)):
        if which == C_ROW and loops.velocity_level[r]:
            loops.mu[r] = 0.0
        else:
            loops.mu[r] = loops.of_rows[loops.row_of[r, 0], which, loops.row_of[r, 1]]


@formula
def largest_residual(loops, which):
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
def largest_left_out(loops):
    """The same of |C| of the rows that are left out, which the others should close too."""
    most = 0.0
    for r in range(len(loops.mu)):
        if loops.left_out[r] > 0.0 and not loops.velocity_level[r]:
            most = max(most, abs(loops.of_rows[loops.row_of[r, 0], C_ROW, loops.row_of[r, 1]]) * loops.units[r])
    return most
