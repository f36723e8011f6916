"""The composite-rigid-body algorithm and the branch-sparse factorisation (Featherstone 2008, tables 6.2 and 6.4).

I^C_i = I_i + Σ_children X I^C X*;   for each column h_j of joint i:  F = I^C_i h_j,
M_jk = h_kᵀ F for the columns k of i and, F carried up, of its ancestors

M = Lᵀ D L with L as sparse as the tree: a row of L holds ancestors only, and no fill appears when the last
freedom is eliminated first.
"""

from __future__ import annotations

import operator
from typing import Any

from nexdyn.generic import defines
from nexdyn.joints.verbs import FREE, PRISMATIC, REVOLUTE
from nexdyn.kernel import formula, inlined
from nexdyn.spatial.algebra import ABOUT_Z, ALONG_Z, Motion, RigidInertia, Sym3, Vec3, moved_inertia
from nexdyn.spatial.lanes import zero
from nexdyn.spatial.table import MotionRows, PoseRows, RigidInertiaRows
from nexdyn.spatial.turned_z import PoseZ, about_z, symmetric_turned_z, turned_z
from nexdyn.tree.tables import (
    ADDS,
    ARMATURE,
    H_,
    IA_,
    IC_,
    IV,
    KIND,
    NV,
    PARENT,
    POPS,
    PUSHES,
    SHARES,
    TURNS_Z,
    X_,
    inertias,
)  # fmt: skip


@formula
def unit_columns(model, work):  # type: ignore[no-untyped-def]
    """The columns of H that `kinematics` leaves out, those of revolute and prismatic joints, into the table H."""
    topology = model.topology
    H = MotionRows(work.columns, H_)
    o = zero(model.body[0, 0])
    e = o + 1.0
    for i in range(1, len(topology)):
        if topology[i, KIND] == REVOLUTE:
            H[topology[i, IV]] = Motion(Vec3(o, o, e), Vec3(o, o, o))
        elif topology[i, KIND] == PRISMATIC:
            H[topology[i, IV]] = Motion(Vec3(o, o, o), Vec3(o, o, e))


@formula
def composite_inertias(model, work):  # type: ignore[no-untyped-def]
    """I^C of every body from X; row 0 gathers the whole system about the world's origin."""
    topology = model.topology
    I, X, IC = inertias(model), PoseRows(work.body, X_), RigidInertiaRows(work.spare, IC_)
    o = zero(model.body[0, 0])
    IC[0] = RigidInertia(o, Vec3(o, o, o), Sym3(o, o, o, o, o, o))
    for i in range(1, len(topology)):
        IC[i] = I[i]
    for i in range(len(topology) - 1, 0, -1):
        p = topology[i, PARENT]
        IC[p] = IC[p] + X[i] @ IC[i]


@defines(operator.matmul)
def _(X: PoseZ, I: RigidInertia) -> Any:
    return moved_inertia(X.p, I.m, turned_z(X.c, X.s, I.h), symmetric_turned_z(X.c, X.s, I.I))


@inlined
def to_parent(turns_z, X, y):  # type: ignore[no-untyped-def]
    """X y of a force or an inertia."""
    if turns_z != 0:
        return about_z(X) @ y
    return X @ y


@inlined
def along_columns(model, i, F, H, M, j):  # type: ignore[no-untyped-def]
    """M_jk = h_kᵀ F for the columns k of body i."""
    topology = model.topology
    kind, k = topology[i, KIND], topology[i, IV]
    if kind == REVOLUTE:
        M[j, k] = F @ ABOUT_Z
    elif kind == PRISMATIC:
        M[j, k] = F @ ALONG_Z
    elif kind == FREE:
        M[j, k], M[j, k + 1], M[j, k + 2] = F.n.x, F.n.y, F.n.z
        M[j, k + 3], M[j, k + 4], M[j, k + 5] = F.f.x, F.f.y, F.f.z
    else:
        for n in range(k, k + topology[i, NV]):
            M[j, n] = F @ H[n]


@formula
def mass_matrix(model, work, M):  # type: ignore[no-untyped-def]
    """M (nv × nv, zeroed by the caller) from X and H of `relative_poses`: rows j, columns k ≤ j and those of j's own joint.

    The shares of children wait on the stack of `articulate` (see ``tables``).
    """
    topology, freedom, I = model.topology, model.freedom, inertias(model)
    X, H, shares = PoseRows(work.body, X_), MotionRows(work.columns, H_), RigidInertiaRows(work.shares, IA_)
    o = zero(model.body[0, 0])
    nothing = RigidInertia(o, Vec3(o, o, o), Sym3(o, o, o, o, o, o))
    top, carried = 0, nothing
    for i in range(len(topology) - 1, 0, -1):
        kind, first, parent = topology[i, KIND], topology[i, IV], topology[i, PARENT]
        turns_z, flags = topology[i, TURNS_Z], topology[i, SHARES]
        # I^C = I + shares
        IC = carried + I[i]
        if flags & POPS != 0:
            top -= 1
            IC = IC + shares[top]
        for j in range(first, first + topology[i, NV]):
            # F = I^C h_j
            if kind == REVOLUTE:
                F = IC @ ABOUT_Z
            elif kind == PRISMATIC:
                F = IC @ ALONG_Z
            else:
                F = IC @ H[j]
            along_columns(model, i, F, H, M, j)
            M[j, j] = M[j, j] + freedom[j, ARMATURE]
            # F ← X F,  M_jk = h_kᵀ F, up to the root
            a, above = i, parent
            while above > 0:
                F = to_parent(topology[a, TURNS_Z], X[a], F)
                along_columns(model, above, F, H, M, j)
                a, above = above, topology[above, PARENT]
        carried = nothing
        if parent > 0:
            IC = to_parent(turns_z, X[i], IC)
            if flags & PUSHES != 0:
                shares[top] = IC
                top += 1
            elif flags & ADDS != 0:
                shares[top - 1] = shares[top - 1] + IC
            else:
                carried = IC


@formula
def mirror(M, n):  # type: ignore[no-untyped-def]
    """The half of M (n × n) above the diagonal from that below."""
    for j in range(n):
        for k in range(j):
            M[k, j] = M[j, k]


@formula
def factor(M, above):  # type: ignore[no-untyped-def]
    """M = Lᵀ D L in place (below the diagonal L, on it D); above[j] is the next freedom towards the root, or −1."""
    for k in range(len(above) - 1, -1, -1):
        i = above[k]
        while i >= 0:
            # a = M_ki/D_k;  M_ij ← M_ij − a M_kj for j at and above i;  L_ki = a
            a = M[k, i] / M[k, k]
            j = i
            while j >= 0:
                M[i, j] = M[i, j] - a * M[k, j]
                j = above[j]
            M[k, i] = a
            i = above[i]


@formula
def solve_factored(M, above, x):  # type: ignore[no-untyped-def]
    """x ← M⁻¹ x with the factors of `factor`: Lᵀ y = x, D z = y, L x = z."""
    n = len(above)
    for k in range(n - 1, -1, -1):
        i = above[k]
        while i >= 0:
            x[i] = x[i] - M[k, i] * x[k]
            i = above[i]
    for k in range(n):
        x[k] = x[k] / M[k, k]
        i = above[k]
        while i >= 0:
            x[k] = x[k] - M[k, i] * x[i]
            i = above[i]
