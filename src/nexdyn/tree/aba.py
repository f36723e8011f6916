"""The articulated-body algorithm (Featherstone 2008, table 7.1), one freedom at a time.

    p' = p^A + I^A c                         p^A = V ×* I V − F_ext + children's shares
    for the columns h of H, last first:
        U = I^A h,   d = hᵀ U + armature,   u = τ − hᵀ p'
        I^A ← I^A − U Uᵀ/d,   p' ← p' + U u/d
    X I^A, X p' are added to the parent
    a = X⁻¹ a_p;  for the columns, first first:  q̈ = (u − Uᵀ a)/d,  a ← a + h q̈;   A = a + c

Eliminating the columns of a joint one after another is the block elimination by D = HᵀU of the book with D factored
as L d Lᵀ; a revolute joint is the case of one column. Bodies come depth first, so that body i + 1 is the first child of i
if i has children at all: going inward, its share is the last one computed.
"""

from __future__ import annotations

from nexdyn.joints.verbs import PRISMATIC, REVOLUTE
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import (
    ABOUT_Z,
    ALONG_Z,
    ArticulatedInertia,
    Force,
    Mat3,
    Sym3,
    Vec3,
    cross,
    minus_outer,
    to_child,
)
from nexdyn.spatial.lanes import zero
from nexdyn.spatial.table import ArticulatedInertiaRows, ForceRows, MotionRows, PoseRows
from nexdyn.tree.tables import (
    A_,
    ARMATURE,
    BRANCHES,
    C_,
    D_,
    EXT_,
    H_,
    IA_,
    IV,
    KIND,
    NV,
    PA_,
    PARENT,
    R_,
    U_,
    V_,
    X_,
    inertias,
    world_acceleration,
)  # fmt: skip


@formula
def eliminate(h, j, IA, p, tau, freedom, U, scratch):  # type: ignore[no-untyped-def]
    """One freedom j with column h taken out of (I^A, p')."""
    # U = I^A h,  d = hᵀ U + armature,  u = τ − hᵀ p'
    U_j = IA @ h
    r = 1.0 / (U_j @ h + freedom[j, ARMATURE])
    u = tau[j] - p @ h
    U[j] = U_j
    scratch[j, D_] = r
    scratch[j, R_] = u
    # I^A − U Uᵀ/d,  p' + U u/d
    k = r * U_j
    return minus_outer(IA, U_j, k), p + u * k


@formula
def accelerate(h, j, a, U, scratch, qdd):  # type: ignore[no-untyped-def]
    """q̈_j = (u − Uᵀ a)/d;  a + h q̈_j."""
    qdd_j = (scratch[j, R_] - U[j] @ a) * scratch[j, D_]
    qdd[j] = qdd_j
    return a + qdd_j * h


@formula
def articulated_bodies(model, tau, work, qdd):  # type: ignore[no-untyped-def]
    """q̈ and the accelerations A from X, V, c, H of `kinematics`, τ and the external forces in the scratch."""
    topology, freedom, scratch = model.topology, model.freedom, work.freedom
    I = inertias(model)
    X, V, c, A = (
        PoseRows(work.body, X_),
        MotionRows(work.body, V_),
        MotionRows(work.body, C_),
        MotionRows(work.body, A_),
    )
    H, U, F_ext = MotionRows(work.columns, H_), ForceRows(scratch, U_), ForceRows(work.body, EXT_)
    IA, pA = ArticulatedInertiaRows(work.spare, IA_), ForceRows(work.spare, PA_)  # children's shares
    o = zero(model.body[0, 0])
    no_force = Force(Vec3(o, o, o), Vec3(o, o, o))
    no_inertia = ArticulatedInertia(Sym3(o, o, o, o, o, o), Mat3(o, o, o, o, o, o, o, o, o), Sym3(o, o, o, o, o, o))

    carried_I, carried_p = no_inertia, no_force
    for i in range(len(topology) - 1, 0, -1):
        kind, j, p = topology[i, KIND], topology[i, IV], topology[i, PARENT]
        # I^A = I + shares,  p' = V ×* I V − F_ext + shares + I^A c
        V_i = V[i]
        I_A = carried_I + I[i]
        p_A = carried_p + cross(V_i, I[i] @ V_i) - F_ext[i]
        if topology[i, BRANCHES] != 0:
            I_A, p_A = I_A + IA[i], p_A + pA[i]
            IA[i], pA[i] = no_inertia, no_force
        p_A = p_A + I_A @ c[i]
        if kind == REVOLUTE:
            I_A, p_A = eliminate(ABOUT_Z, j, I_A, p_A, tau, freedom, U, scratch)
        elif kind == PRISMATIC:
            I_A, p_A = eliminate(ALONG_Z, j, I_A, p_A, tau, freedom, U, scratch)
        else:
            for n in range(j + topology[i, NV] - 1, j - 1, -1):
                I_A, p_A = eliminate(H[n], n, I_A, p_A, tau, freedom, U, scratch)
        # the share of a first child stays in registers, that of the others waits in the parent's row
        carried_I, carried_p = no_inertia, no_force
        if p > 0:
            X_i = X[i]
            if p == i - 1:
                carried_I, carried_p = X_i @ I_A, X_i @ p_A
            else:
                IA[p] = IA[p] + X_i @ I_A
                pA[p] = pA[p] + X_i @ p_A

    A[0] = world_acceleration(model)
    for i in range(1, len(topology)):
        kind, j = topology[i, KIND], topology[i, IV]
        # a = X⁻¹ a_p,  q̈ = (u − Uᵀ a)/d,  A = a + H q̈ + c
        a = to_child(X[i], A[topology[i, PARENT]])
        if kind == REVOLUTE:
            a = accelerate(ABOUT_Z, j, a, U, scratch, qdd)
        elif kind == PRISMATIC:
            a = accelerate(ALONG_Z, j, a, U, scratch, qdd)
        else:
            for n in range(j, j + topology[i, NV]):
                a = accelerate(H[n], n, a, U, scratch, qdd)
        A[i] = a + c[i]
