"""The recursive Newton–Euler algorithm (Featherstone 2008, table 5.1): the forces that a motion takes.

    A_i = X_i⁻¹ A_p + H q̈ + c_i
    F_i = I A_i + V_i ×* I V_i − F_ext,   F_p ← F_p + X_i F_i
    τ = Hᵀ F_i + armature q̈

F_i is the whole wrench that the joint puts on its child, in the child's joint frame.
"""

from __future__ import annotations

from nexdyn.joints.kinds import PRISMATIC, REVOLUTE
from nexdyn.kernel import inlined
from nexdyn.spatial.algebra import ABOUT_Z, ALONG_Z, cross, to_child
from nexdyn.tree.core.kinematics import body_motion
from nexdyn.tree.core.tables import world_acceleration


@inlined
def inverse_dynamics(model, q, v, qdd, work, tau):
    """τ, and X, V, A, F of every body, from the state, q̈ and the external forces in the scratch."""
    bodies, dofs, I, X_PJ = model.topology, model.freedom, model.body.I, model.body.X_PJ
    X, V, A = work.body.X, work.body.V, work.body.A
    H, F, F_ext = work.columns.H, work.body.F, work.body.external

    A[0] = world_acceleration(model)
    for i in range(1, len(bodies)):
        kind, j, p = bodies[i].kind, bodies[i].iv, bodies[i].parent
        X_i, V_i, c_i = body_motion(model, i, q, v, X_PJ[i], V[p], H)
        # A_i = X_i⁻¹ A_p + H q̈ + c_i
        A_i = to_child(X_i, A[p]) + c_i
        if kind == REVOLUTE:
            A_i = A_i + qdd[j] * ABOUT_Z
        elif kind == PRISMATIC:
            A_i = A_i + qdd[j] * ALONG_Z
        else:
            for n in range(j, j + bodies[i].nv):
                A_i = A_i + qdd[n] * H[n]
        X[i], V[i], A[i] = X_i, V_i, A_i
        # F_i = I A + V ×* I V − F_ext
        F[i] = I[i] @ A_i + cross(V_i, I[i] @ V_i) - F_ext[i]

    for i in range(len(bodies) - 1, 0, -1):
        kind, j, p = bodies[i].kind, bodies[i].iv, bodies[i].parent
        # τ = Hᵀ F + armature q̈
        F_i = F[i]
        if kind == REVOLUTE:
            tau[j] = F_i @ ABOUT_Z + dofs[j].armature * qdd[j]
        elif kind == PRISMATIC:
            tau[j] = F_i @ ALONG_Z + dofs[j].armature * qdd[j]
        else:
            for n in range(j, j + bodies[i].nv):
                tau[n] = F_i @ H[n] + dofs[n].armature * qdd[n]
        # F_p ← F_p + X F
        if p > 0:
            F[p] = F[p] + X[i] @ F_i
