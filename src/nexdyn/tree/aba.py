"""The articulated-body algorithm (Featherstone 2008, table 7.1), one freedom at a time.

    outward   X, V, c of `kinematics`;   p = V ×* I V − F_ext
    inward    I^A = I + children's shares,   p' = p + children's shares + I^A c
              for the columns h of H, last first:
                  U = I^A h,   d = hᵀ U + armature,   u = τ − hᵀ p'
                  I^A ← I^A − U Uᵀ/d,   p' ← p' + U u/d
              X I^A, X p' are added to the parent
    outward   a = X⁻¹ A_p;  for the columns, first first:  q̈ = (u − Uᵀ a)/d,  a ← a + h q̈;   A = a + c

Eliminating the columns of a joint one after another is the block elimination by D = HᵀU of the book with D factored
as L d Lᵀ; a revolute joint is the case of one column. The shares of children that are not the first wait on a stack (see
``tables``).
"""

from __future__ import annotations

from typing import Any

from nexdyn.generic import defines, generic
from nexdyn.joints.verbs import FREE, PRISMATIC, REVOLUTE
from nexdyn.kernel import inlined
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
from nexdyn.spatial.turned_z import about_z
from nexdyn.tree.free_axes import ABOUT_X, ABOUT_Y, ALONG_X, ALONG_Y
from nexdyn.tree.kinematics import body_motion
from nexdyn.tree.tables import (
    A_,
    ADDS,
    ARMATURE,
    C_,
    D_,
    EXT_,
    F_,
    FLAGS,
    H_,
    IA_,
    IV,
    KIND,
    NV,
    PA_,
    PARENT,
    POPS,
    PUSHES,
    S_,
    TURNS_Z,
    U_,
    V_,
    X_,
    inertias,
    joint_poses,
    world_acceleration,
)  # fmt: skip

external = generic("external", "F_ext of body i. Without force elements (None) it costs nothing.")


@defines(external)
def _(work: Any, i: float, forces: None) -> Any:
    o = zero(work.body[0, 0])
    return Force(Vec3(o, o, o), Vec3(o, o, o))


@defines(external)
def _(work: Any, i: float, forces: Any) -> Any:
    return ForceRows(work.body, EXT_)[i]


@inlined
def bodies_alone(model, q, v, forces, work):
    """X, V, c, p of every body, and the columns h of joints neither revolute nor prismatic."""
    topology, I, X_PJ, H = model.topology, inertias(model), joint_poses(model), MotionRows(work.columns, H_)
    X, V, c, p = (
        PoseRows(work.body, X_),
        MotionRows(work.body, V_),
        MotionRows(work.body, C_),
        ForceRows(work.body, F_),
    )
    for i in range(1, len(topology)):
        X_i, V_i, c_i = body_motion(model, i, q, v, X_PJ[i], V[topology[i, PARENT]], H)
        X[i], V[i], c[i] = X_i, V_i, c_i
        # p = V ×* I V − F_ext
        p[i] = cross(V_i, I[i] @ V_i) - external(work, i, forces)


@inlined
def eliminate(h, j, IA, p, tau, freedom, scratch):
    """One freedom j with column h taken out of (I^A, p')."""
    # U = I^A h,  d = hᵀ U + armature,  u = τ − hᵀ p'
    U = IA @ h
    r = 1.0 / (U @ h + freedom[j, ARMATURE])
    u = tau[j] - p @ h
    k = r * U
    ForceRows(scratch, U_)[j] = k
    scratch[j, D_] = r
    scratch[j, S_] = r * u
    # I^A − U Uᵀ/d,  p' + U u/d
    return minus_outer(IA, U, k), p + u * k


@inlined
def eliminate_free(j, IA, p, tau, freedom, scratch):
    """The six freedoms of a free joint, from j on, taken out of (I^A, p')."""
    IA, p = eliminate(ALONG_Z, j + 5, IA, p, tau, freedom, scratch)
    IA, p = eliminate(ALONG_Y, j + 4, IA, p, tau, freedom, scratch)
    IA, p = eliminate(ALONG_X, j + 3, IA, p, tau, freedom, scratch)
    IA, p = eliminate(ABOUT_Z, j + 2, IA, p, tau, freedom, scratch)
    IA, p = eliminate(ABOUT_Y, j + 1, IA, p, tau, freedom, scratch)
    return eliminate(ABOUT_X, j, IA, p, tau, freedom, scratch)


@inlined
def times_across_z(I, m):
    """I m of a motion without components about and along z."""
    A, B, D, w, v = I.A, I.B, I.D, m.w, m.v
    return Force(
        Vec3(
            A.xx * w.x + A.xy * w.y + B.xx * v.x + B.xy * v.y, A.xy * w.x + A.yy * w.y + B.yx * v.x + B.yy * v.y,
            A.xz * w.x + A.yz * w.y + B.zx * v.x + B.zy * v.y,
        ),
        Vec3(
            B.xx * w.x + B.yx * w.y + D.xx * v.x + D.xy * v.y, B.xy * w.x + B.yy * w.y + D.xy * v.x + D.yy * v.y,
            B.xz * w.x + B.yz * w.y + D.xz * v.x + D.yz * v.y,
        ),
    )  # fmt: skip


@inlined
def articulate(model, tau, work):
    """U/d, 1/d and u/d of every freedom."""
    topology, freedom, scratch, I = model.topology, model.freedom, work.freedom, inertias(model)
    X, c, H = PoseRows(work.body, X_), MotionRows(work.body, C_), MotionRows(work.columns, H_)
    IA, pA = ArticulatedInertiaRows(work.shares, IA_), ForceRows(work.shares, PA_)
    p = ForceRows(work.body, F_)
    o = zero(model.body[0, 0])
    no_force = Force(Vec3(o, o, o), Vec3(o, o, o))
    no_inertia = ArticulatedInertia(Sym3(o, o, o, o, o, o), Mat3(o, o, o, o, o, o, o, o, o), Sym3(o, o, o, o, o, o))

    top, carried_I, carried_p = 0, no_inertia, no_force
    for i in range(len(topology) - 1, 0, -1):
        kind, j, parent = topology[i, KIND], topology[i, IV], topology[i, PARENT]
        # I^A = I + shares,  p' = p + shares + I^A c
        I_A, p_A = carried_I + I[i], carried_p + p[i]
        flags = topology[i, FLAGS]
        if flags & POPS != 0:
            top -= 1
            I_A, p_A = I_A + IA[top], p_A + pA[top]
        if kind == REVOLUTE or kind == PRISMATIC:
            p_A = p_A + times_across_z(I_A, c[i])
        else:
            p_A = p_A + I_A @ c[i]
        if kind == REVOLUTE:
            I_A, p_A = eliminate(ABOUT_Z, j, I_A, p_A, tau, freedom, scratch)
        elif kind == PRISMATIC:
            I_A, p_A = eliminate(ALONG_Z, j, I_A, p_A, tau, freedom, scratch)
        elif kind == FREE:
            I_A, p_A = eliminate_free(j, I_A, p_A, tau, freedom, scratch)
        else:
            for n in range(j + topology[i, NV] - 1, j - 1, -1):
                I_A, p_A = eliminate(H[n], n, I_A, p_A, tau, freedom, scratch)
        carried_I, carried_p = no_inertia, no_force
        if parent > 0:
            X_i = X[i]
            if flags & TURNS_Z != 0:
                I_A, p_A = about_z(X_i) @ I_A, about_z(X_i) @ p_A
            else:
                I_A, p_A = X_i @ I_A, X_i @ p_A
            if flags & PUSHES != 0:
                IA[top], pA[top] = I_A, p_A
                top += 1
            elif flags & ADDS != 0:
                IA[top - 1], pA[top - 1] = IA[top - 1] + I_A, pA[top - 1] + p_A
            else:
                carried_I, carried_p = I_A, p_A


@inlined
def seen_by_parent(turns_z, X, U, A):
    """X U, and X⁻¹ A."""
    if turns_z != 0:
        return about_z(X) @ U, to_child(about_z(X), A)
    return X @ U, to_child(X, A)


@inlined
def accelerate(model, work, qdd):
    """q̈ and the accelerations A."""
    topology, scratch = model.topology, work.freedom
    X, c, A = PoseRows(work.body, X_), MotionRows(work.body, C_), MotionRows(work.body, A_)
    H, U = MotionRows(work.columns, H_), ForceRows(scratch, U_)
    A[0] = world_acceleration(model)
    for i in range(1, len(topology)):
        kind, j = topology[i, KIND], topology[i, IV]
        A_p = A[topology[i, PARENT]]
        if kind == REVOLUTE or kind == PRISMATIC:
            # q̈ = (u − (X U)ᵀ A_p)/d: only this product waits for the parent
            U_p, a = seen_by_parent(topology[i, FLAGS] & TURNS_Z, X[i], U[j], A_p)
            qdd_j = scratch[j, S_] - U_p @ A_p
            qdd[j] = qdd_j
            if kind == REVOLUTE:
                A[i] = (a + c[i]) + qdd_j * ABOUT_Z
            else:
                A[i] = (a + c[i]) + qdd_j * ALONG_Z
        else:
            a = to_child(X[i], A_p)
            for n in range(j, j + topology[i, NV]):
                qdd_n = scratch[n, S_] - U[n] @ a
                qdd[n] = qdd_n
                a = a + qdd_n * H[n]
            A[i] = a + c[i]


@inlined
def articulated_bodies(model, q, v, tau, forces, work, qdd):
    """q̈ from τ and, unless `forces` is None, the external forces in the scratch."""
    bodies_alone(model, q, v, forces, work)
    articulate(model, tau, work)
    accelerate(model, work, qdd)
