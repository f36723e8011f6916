"""The articulated-body algorithm (Featherstone 2008, table 7.1), one degree of freedom at a time.

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
from nexdyn.joints.kinds import FREE, PRISMATIC, REVOLUTE
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
from nexdyn.spatial.turned_z import about_z
from nexdyn.tree.core.free_axes import ABOUT_X, ABOUT_Y, ALONG_X, ALONG_Y
from nexdyn.tree.core.kinematics import body_motion
from nexdyn.tree.core.tables import (
    ADDS,
    POPS,
    PUSHES,
    TURNS_Z,
    world_acceleration,
)

external = generic("external", "F_ext of body i. Without force elements (None) it costs nothing.")


@defines(external)
def _(work: Any, i: Any, forces: None) -> Any:
    o = zero(work.freedom[0].r)
    return Force(Vec3(o, o, o), Vec3(o, o, o))


@defines(external)
def _(work: Any, i: Any, forces: Any) -> Any:
    return work.body[i].external


@inlined
def bodies_alone(model, q, v, forces, work):
    """X, V, c, p of every body, and the columns h of joints neither revolute nor prismatic."""
    bodies, I, X_PJ, H, moving = model.topology, model.body.I, model.body.X_PJ, work.columns.H, work.body
    X, V, c, p = moving.X, moving.V, moving.c, moving.F
    for i in range(1, len(bodies)):
        X_i, V_i, c_i = body_motion(model, i, q, v, X_PJ[i], V[bodies[i].parent], H)
        X[i], V[i], c[i] = X_i, V_i, c_i
        # p = V ×* I V − F_ext
        p[i] = cross(V_i, I[i] @ V_i) - external(work, i, forces)


@inlined
def eliminate(h, j, IA, p, tau, dofs, reduced):
    """One degree of freedom j with column h taken out of (I^A, p')."""
    # U = I^A h,  d = hᵀ U + armature,  u = τ − hᵀ p'
    U = IA @ h
    r = 1.0 / (U @ h + dofs[j].armature)
    u = tau[j] - p @ h
    k = r * U
    of_j = reduced[j]
    of_j.U = k
    of_j.r = r
    of_j.s = r * u
    # I^A − U Uᵀ/d,  p' + U u/d
    return minus_outer(IA, U, k), p + u * k


@inlined
def eliminate_free(j, IA, p, tau, dofs, reduced):
    """The six degrees of freedom of a free joint, from j on, taken out of (I^A, p')."""
    IA, p = eliminate(ALONG_Z, j + 5, IA, p, tau, dofs, reduced)
    IA, p = eliminate(ALONG_Y, j + 4, IA, p, tau, dofs, reduced)
    IA, p = eliminate(ALONG_X, j + 3, IA, p, tau, dofs, reduced)
    IA, p = eliminate(ABOUT_Z, j + 2, IA, p, tau, dofs, reduced)
    IA, p = eliminate(ABOUT_Y, j + 1, IA, p, tau, dofs, reduced)
    return eliminate(ABOUT_X, j, IA, p, tau, dofs, reduced)


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
    """U/d, 1/d and u/d of every degree of freedom."""
    bodies, I, dofs, moving, reduced = model.topology, model.body.I, model.freedom, work.body, work.freedom
    X, c, p, H, IA, pA = moving.X, moving.c, moving.F, work.columns.H, work.shares.IA, work.shares.pA
    o = zero(model.body[0].pitch)
    no_force = Force(Vec3(o, o, o), Vec3(o, o, o))
    no_inertia = ArticulatedInertia(Sym3(o, o, o, o, o, o), Mat3(o, o, o, o, o, o, o, o, o), Sym3(o, o, o, o, o, o))

    top, carried_I, carried_p = 0, no_inertia, no_force
    for i in range(len(bodies) - 1, 0, -1):
        body = bodies[i]
        kind, j, flags = body.kind, body.iv, body.flags
        # I^A = I + shares,  p' = p + shares + I^A c
        I_A, p_A = carried_I + I[i], carried_p + p[i]
        if flags & POPS != 0:
            top -= 1
            I_A, p_A = I_A + IA[top], p_A + pA[top]
        if kind == REVOLUTE or kind == PRISMATIC:
            p_A = p_A + times_across_z(I_A, c[i])
        else:
            p_A = p_A + I_A @ c[i]
        if kind == REVOLUTE:
            I_A, p_A = eliminate(ABOUT_Z, j, I_A, p_A, tau, dofs, reduced)
        elif kind == PRISMATIC:
            I_A, p_A = eliminate(ALONG_Z, j, I_A, p_A, tau, dofs, reduced)
        elif kind == FREE:
            I_A, p_A = eliminate_free(j, I_A, p_A, tau, dofs, reduced)
        else:
            for n in range(j + body.nv - 1, j - 1, -1):
                I_A, p_A = eliminate(H[n], n, I_A, p_A, tau, dofs, reduced)
        carried_I, carried_p = no_inertia, no_force
        if body.parent > 0:
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
    bodies, moving, H, U, s = model.topology, work.body, work.columns.H, work.freedom.U, work.freedom.s
    X, c, A = moving.X, moving.c, moving.A
    A[0] = world_acceleration(model)
    for i in range(1, len(bodies)):
        body = bodies[i]
        kind, j, A_p = body.kind, body.iv, A[body.parent]
        if kind == REVOLUTE or kind == PRISMATIC:
            # q̈ = (u − (X U)ᵀ A_p)/d: only this product waits for the parent
            U_p, a = seen_by_parent(body.flags & TURNS_Z, X[i], U[j], A_p)
            qdd_j = s[j] - U_p @ A_p
            qdd[j] = qdd_j
            if kind == REVOLUTE:
                A[i] = (a + c[i]) + qdd_j * ABOUT_Z
            else:
                A[i] = (a + c[i]) + qdd_j * ALONG_Z
        else:
            a = to_child(X[i], A_p)
            for n in range(j, j + body.nv):
                qdd_n = s[n] - U[n] @ a
                qdd[n] = qdd_n
                a = a + qdd_n * H[n]
            A[i] = a + c[i]


@inlined
def articulated_bodies(model, q, v, tau, forces, work, qdd):
    """q̈ from τ and, unless `forces` is None, the external forces in the scratch."""
    bodies_alone(model, q, v, forces, work)
    articulate(model, tau, work)
    accelerate(model, work, qdd)
