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
from nexdyn.spatial.turned_z import about_z
from nexdyn.tree.core.tables import TURNS_Z
from nexdyn.tree.loops.loops import POSITIONS, VELOCITIES, Dependence, OfRows, Redundancy, equation

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
    spare = Redundancy(loops.spare)
    gram(work, loops)
    if spare.rows > 0.0 and spare.pivot == 0.0:
        choose_rows(loops)
    least = eliminate(loops, of_positions)
    if spare.rows > 0.0 and not of_positions:
        if least < WORSE * spare.pivot:
            gram(work, loops)
            choose_rows(loops)
            spare.pivot = 0.0
            least = eliminate(loops, of_positions)
        spare.pivot = max(spare.pivot, least)


@inlined
def gram(work, loops):
    """A = Σ s sᵀ/d, its lower triangle."""
    groups, couples, shared, s = loops.groups, loops.couples, loops.shared, packs(loops.s)
    A, low, mu = loops.A, loops.first_in_A, OfRows(packs(loops.of_rows)).mu
    S = loops.s
    for r in range(len(A)):
        for c in range(low[r], r + 1):
            A[r, c] = 0.0
    for c in range(len(couples)):
        couple = couples[c]
        g, h, first, end = couple.g, couple.h, couple.first, couple.first + couple.count
        row_, column_ = groups[g].first_row, groups[h].first_row
        for l in range(groups[g].rows):
            # the row of A beside all rows of h at once
            total = zero(s[0, 0])
            for n in range(first, end):
                d = work.freedom[shared[n].iv].r * S[shared[n].in_g, 0, l]
                total = total + d * s[shared[n].in_h, 0]
            mu[h] = total
            for k in range(groups[h].rows):
                if column_ + k <= row_ + l:
                    A[row_ + l, column_ + k] = equation(loops, h, k).mu


@inlined
def choose_rows(loops):
    """left_out ← the rows that pivoting on the largest, each beside its diagonal, leaves for last."""
    A, L, out, rest = loops.A, loops.chosen, loops.left_out, loops.mu
    m = len(A)
    for r in range(m):
        out[r] = 1.0
        rest[r] = 1.0 if A[r, r] > 0.0 else 0.0
    for k in range(m - int(Redundancy(loops.spare).rows)):
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
    spare = Redundancy(loops.spare).rows
    if spare > 0.0:
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
        if spare > 0.0 and whole > 0.0:
            least = min(least, pivot / whole)
        moves = units[r] * units[r] * whole > NOTHING * most
        carries = moves and pivot > DEPENDENT * whole and not (of_positions and loops.velocity_level[r])
        A[r, r] = 1.0 / pivot if carries else 0.0
        loops.largest[r] = max(loops.largest[r], whole)
    return least


@formula
def watch_dependence(loops, t):
    """Take note of how dependent the rows are at t, by the factors of A."""
    A, largest, units, worst = loops.A, loops.largest, loops.units, Dependence(loops.dependence)
    most, first = 1.0, 0
    while first < len(A):
        end = first
        while end < len(A) and loops.row_of[end].group == loops.row_of[first].group:
            end += 1
        for r in range(first, end):
            for other in range(first, end):
                if units[other] == units[r]:
                    most = max(most, largest[other] * A[r, r])
        first = end
    worst.at_best = min(worst.at_best, most)
    if most > worst.at_worst:
        worst.at_worst, worst.when = most, t


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
    bodies, reduced, change, mu = model.topology, work.freedom, loops.change, loops.mu
    groups, path, s, outward = loops.groups, loops.path, loops.s, loops.outward
    X, H, K, A = work.body.X, work.columns.H, reduced.U, work.body.A
    for j in range(len(change)):
        change[j] = 0.0
    for g in range(len(groups)):
        group = groups[g]
        first, count = group.first_row, group.rows
        for n in range(group.first_link, group.first_link + group.links):
            place, j = path[n].place, path[n].iv
            for m in range(path[n].nv):
                total = 0.0
                for l in range(count):
                    total += s[place + m, 0, l] * mu[first + l]
                change[j + m] += total
    A[0] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    for n in range(len(outward)):
        i = outward[n]
        kind, j = bodies[i].kind, bodies[i].iv
        if bodies[i].flags & TURNS_Z != 0:
            a = to_child(about_z(X[i]), A[bodies[i].parent])
        else:
            a = to_child(X[i], A[bodies[i].parent])
        if kind == REVOLUTE:
            change[j] = change[j] * reduced[j].r - K[j] @ a
            a = a + change[j] * ABOUT_Z
        elif kind == PRISMATIC:
            change[j] = change[j] * reduced[j].r - K[j] @ a
            a = a + change[j] * ALONG_Z
        else:
            for m in range(j, j + bodies[i].nv):
                change[m] = change[m] * reduced[m].r - K[m] @ a
                a = a + change[m] * H[m]
        A[i] = a


@inlined
def take_rows(loops, which):
    """μ ← C or Ċ − ν of every row; without a C, 0."""
    for r in range(len(loops.mu)):
        loops.mu[r] = residual(loops, r, which)


@formula
def residual(loops, r, which):
    """C or Ċ − ν of a row; without a C, 0."""
    row = equation(loops, loops.row_of[r].group, loops.row_of[r].lane)
    if which == VELOCITIES:
        return row.rate
    return 0.0 if loops.velocity_level[r] else row.C


@formula
def largest_residual(loops, which):
    """The largest |C| (or |Ċ − ν|), lengths in units of the mechanism's size; NaN counts as infinite."""
    most = 0.0
    for r in range(len(loops.mu)):
        if loops.left_out[r] > 0.0:
            continue
        x = abs(residual(loops, r, which)) * loops.units[r]
        if not (x <= most):
            most = x if x == x else np.inf
    return most


@formula
def largest_left_out(loops):
    """The same of |C| of the rows that are left out, which the others should close too."""
    most = 0.0
    for r in range(len(loops.mu)):
        if loops.left_out[r] > 0.0:
            most = max(most, abs(residual(loops, r, POSITIONS)) * loops.units[r])
    return most
