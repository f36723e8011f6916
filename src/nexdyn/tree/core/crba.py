"""The composite-rigid-body algorithm and the branch-sparse factorisation (Featherstone 2008, tables 6.2 and 6.4).

I^C_i = I_i + Σ_children I^C;   for each column h_j of joint i:  F_j = I^C_i h_j,
M_jk = h_kᵀ F_j for the columns k of i and, F_j carried up, of its ancestors

All of a tree in the axes of its root, whose own joint M does not depend on, each body about its own origin: what goes from a body
to its parent, by p from the parent's origin to its, is moved and not turned.

    outward   R_i = R_p R(q),   p_i = R_p p
    inward    I^C of i = R I Rᵀ + Σ shares,   F_j = I^C h_j,   M_jk of its own columns
              n_j ← n_j + p × f_j,   M_jk = h_kᵀ F_j   for all columns j of its subtree and k of its parent
              share = I^C about the parent's origin

About its own origin, not the root's: moments about a point far away would lose what is near.

M = Lᵀ D L with L as sparse as the tree: a row of L holds ancestors only, and no fill appears when the last
degree of freedom is eliminated first.
"""

from __future__ import annotations

from nexdyn.joints.kinds import FREE, PRISMATIC, REVOLUTE
from nexdyn.joints.on_tree import child_pose, motion_columns
from nexdyn.kernel import formula, inlined
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import (
    ABOUT_Z,
    ALONG_Z,
    Force,
    Motion,
    Pose,
    RigidInertia,
    Sym3,
    T,
    Vec3,
    cross,
    moved_inertia,
    plus_cross,
    plus_turned,
    times_turn_z,
    z_column,
)
from nexdyn.spatial.lanes import zero
from nexdyn.spatial.sincos import sincos
from nexdyn.spatial.split_moments import plus_turned_moments
from nexdyn.tree.core.tables import (
    ADDS,
    POPS,
    PUSHES,
    TURNS_Z,
)  # fmt: skip


class Axes(Record):
    """The table of columns until F_j takes its place: behind a column of H, in the row of its body's first, the body's R_i and p_i."""

    H: Motion
    X: Pose


class Lifted(Record):
    """And then F_j."""

    H: Motion
    F: Force
    spare: Motion


AxesRows, LiftedRows = rows_of(Axes), rows_of(Lifted)


@formula
def unit_columns(model, work):
    """The columns of H that `kinematics` leaves out, those of revolute and prismatic joints, into the table H."""
    bodies = model.topology
    H = work.columns.H
    o = zero(model.body[0].pitch)
    e = o + 1.0
    for i in range(1, len(bodies)):
        if bodies[i].kind == REVOLUTE:
            H[bodies[i].iv] = Motion(Vec3(o, o, e), Vec3(o, o, o))
        elif bodies[i].kind == PRISMATIC:
            H[bodies[i].iv] = Motion(Vec3(o, o, o), Vec3(o, o, e))


@formula
def composite_inertias(model, work):
    """I^C of every body from X; row 0 gathers the whole system about the world's origin."""
    bodies = model.topology
    I, X, IC = model.body.I, work.body.X, work.spare.IC
    o = zero(model.body[0].pitch)
    IC[0] = RigidInertia(o, Vec3(o, o, o), Sym3(o, o, o, o, o, o))
    for i in range(1, len(bodies)):
        IC[i] = I[i]
    for i in range(len(bodies) - 1, 0, -1):
        p = bodies[i].parent
        IC[p] = IC[p] + X[i] @ IC[i]


@inlined
def root_axes(model, q, work):
    """R_i and p_i of every body but the roots, in the axes of its root, and the columns H of joints that are neither revolute
    nor prismatic, in the body's own."""
    bodies, body, X_PJ = model.topology, model.body, model.body.X_PJ
    X, H = AxesRows(work.columns).X, work.columns.H
    for i in range(1, len(bodies)):
        kind, k, j, parent = bodies[i].kind, bodies[i].iq, bodies[i].iv, bodies[i].parent
        if kind != REVOLUTE and kind != PRISMATIC and not (kind == FREE and parent == 0):
            motion_columns(kind, body[i].pitch, q, k, H, j)
        if parent == 0:
            continue
        below_root, p = bodies[parent].parent == 0, bodies[parent].iv
        # R_i = R_p R_PJ R_J(q),  p_i = R_p p
        if kind == REVOLUTE:
            s, c = sincos(q[k])
            X_i = X_PJ[i]
            if below_root:
                X[j] = Pose(times_turn_z(X_i.R, c, s), X_i.p)
            elif bodies[i].flags & TURNS_Z != 0:
                R, Z = X[p].R, X_i.R
                X[j] = Pose(times_turn_z(R, Z.xx * c - Z.yx * s, Z.yx * c + Z.xx * s), R @ X_i.p)
            else:
                R, R_i = X[p].R, times_turn_z(X_i.R, c, s)
                X[j] = Pose(R @ R_i, R @ X_i.p)
        else:
            X_i = child_pose(kind, X_PJ[i], body[i].pitch, q, k)
            if not below_root:
                R = X[p].R
                X_i = Pose(R @ X_i.R, R @ X_i.p)
            X[j] = X_i


@inlined
def along_columns(model, i, F, H, M, j):
    """M_jk = h_kᵀ F for the columns k of body i, F in its own axes."""
    bodies = model.topology
    kind, k = bodies[i].kind, bodies[i].iv
    if kind == REVOLUTE:
        M[j, k] = F @ ABOUT_Z
    elif kind == PRISMATIC:
        M[j, k] = F @ ALONG_Z
    elif kind == FREE:
        M[j, k], M[j, k + 1], M[j, k + 2] = F.n.x, F.n.y, F.n.z
        M[j, k + 3], M[j, k + 4], M[j, k + 5] = F.f.x, F.f.y, F.f.z
    else:
        for n in range(k, k + bodies[i].nv):
            M[j, n] = F @ H[n]


@inlined
def root_block(model, i, IC, H, M):
    """M_jk = h_kᵀ I^C h_j of a root's own columns k ≤ j."""
    bodies, dofs = model.topology, model.freedom
    kind, j = bodies[i].kind, bodies[i].iv
    I, h, m = IC.I, IC.h, IC.m
    if kind == REVOLUTE:
        M[j, j] = I.zz
    elif kind == PRISMATIC:
        M[j, j] = m
    elif kind == FREE:
        M[j, j] = I.xx
        M[j + 1, j], M[j + 1, j + 1] = I.xy, I.yy
        M[j + 2, j], M[j + 2, j + 1], M[j + 2, j + 2] = I.xz, I.yz, I.zz
        # [h]× beside what stays zero
        M[j + 3, j + 1], M[j + 3, j + 2], M[j + 3, j + 3] = h.z, -h.y, m
        M[j + 4, j], M[j + 4, j + 2], M[j + 4, j + 4] = -h.z, h.x, m
        M[j + 5, j], M[j + 5, j + 1], M[j + 5, j + 5] = h.y, -h.x, m
    else:
        for n in range(j, j + bodies[i].nv):
            along_columns(model, i, IC @ H[n], H, M, n)
    for n in range(j, j + bodies[i].nv):
        M[n, n] = M[n, n] + dofs[n].armature


@inlined
def own_columns(model, i, R, below, h, H, F, M):
    """F_j = I^C h_j of body i, which is no root, and M_jk of its own columns; I^C is I in its own axes, in which what is along
    its axis is exact, and `below` in the root's, with the sum of both h."""
    bodies, dofs = model.topology, model.freedom
    kind, j, I = bodies[i].kind, bodies[i].iv, model.body.I[i]
    if kind == REVOLUTE:
        z = z_column(R)
        n = below.I @ z
        M[j, j] = dofs[j].armature + I.I.zz + z @ n
        F[j] = Force(plus_turned(n, R, Vec3(I.I.xz, I.I.yz, I.I.zz)), cross(z, h))
    elif kind == PRISMATIC:
        z, m = z_column(R), below.m + I.m
        M[j, j] = dofs[j].armature + m
        F[j] = Force(cross(h, z), m * z)
    else:
        for n in range(j, j + bodies[i].nv):
            f, g = I @ H[n], below @ Motion(R @ H[n].w, R @ H[n].v)
            along_columns(model, i, f + Force(T(R) @ g.n, T(R) @ g.f), H, M, n)
            M[n, n] = M[n, n] + dofs[n].armature
            F[n] = Force(plus_turned(g.n, R, f.n), plus_turned(g.f, R, f.f))


@inlined
def parent_columns(model, i, p, X, H, F, M):
    """The columns j of the subtree of body i to its parent's origin, n ← n + p × f, and M_jk = h_kᵀ F of the parent's columns k."""
    bodies, n = model.topology, F.n
    first, end, parent = bodies[i].iv, bodies[i].end, bodies[i].parent
    kind, k = bodies[parent].kind, bodies[parent].iv
    if bodies[parent].parent == 0:
        # in the root's own axes, and nobody asks for n again
        if kind == REVOLUTE:
            for j in range(first, end):
                M[j, k] = F[j].n.z + p.x * F[j].f.y - p.y * F[j].f.x
        else:
            for j in range(first, end):
                along_columns(model, parent, Force(plus_cross(F[j].n, p, F[j].f), F[j].f), H, M, j)
    elif kind == REVOLUTE:
        z = z_column(X[k].R)
        for j in range(first, end):
            n_j = plus_cross(F[j].n, p, F[j].f)
            n[j] = n_j
            M[j, k] = n_j @ z
    else:
        R = X[k].R
        for j in range(first, end):
            n_j, f_j = plus_cross(F[j].n, p, F[j].f), F[j].f
            n[j] = n_j
            along_columns(model, parent, Force(T(R) @ n_j, T(R) @ f_j), H, M, j)


@inlined
def mass_matrix(model, q, work, M):
    """M (nv × nv, zeroed by the caller): rows j, columns k ≤ j.

    R_i and p_i stand in the rows of the body's degrees of freedom until its own F_j take their place; the shares of children wait on
    a stack (see ``tables``) in the rows of composite inertias.
    """
    bodies, I, S = model.topology, model.body.I, model.body.split
    X, F, H, shares = AxesRows(work.columns).X, LiftedRows(work.columns).F, work.columns.H, work.spare.IC
    o = zero(model.body[0].pitch)
    nothing = RigidInertia(o, Vec3(o, o, o), Sym3(o, o, o, o, o, o))
    root_axes(model, q, work)
    top, below = 0, nothing
    for i in range(len(bodies) - 1, 0, -1):
        j, parent, flags = bodies[i].iv, bodies[i].parent, bodies[i].flags
        if flags & POPS != 0:
            top -= 1
            below = below + shares[top]
        if parent == 0:
            root_block(model, i, below + I[i], H, M)
            below = nothing
            continue
        # I^C = R I Rᵀ + that of the subtrees below
        R, p = X[j].R, X[j].p
        m, h = below.m + I[i].m, plus_turned(below.h, R, I[i].h)
        own_columns(model, i, R, below, h, H, F, M)
        # to the parent's origin
        share = moved_inertia(p, m, h, plus_turned_moments(below.I, R, S[i]))
        below = nothing
        if flags & PUSHES != 0:
            shares[top] = share
            top += 1
        elif flags & ADDS != 0:
            shares[top - 1] = shares[top - 1] + share
        else:
            below = share
        parent_columns(model, i, p, X, H, F, M)


@formula
def mirror(M, n):
    """The half of M (n × n) above the diagonal from that below."""
    for j in range(n):
        for k in range(j):
            M[k, j] = M[j, k]


@formula
def factor(M, above):
    """M = Lᵀ D L in place (below the diagonal L, on it D); above[j] is the next degree of freedom towards the root, or −1."""
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
def solve_factored(M, above, x):
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
