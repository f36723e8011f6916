"""The composite-rigid-body algorithm and the branch-sparse factorisation (Featherstone 2008, tables 6.2 and 6.4).

I^C_i = I_i + Σ_children X I^C X*;   for each column h_j of joint i:  F = I^C_i h_j,
M_jk = h_kᵀ F for the columns k of i and, F carried up, of its ancestors

M = Lᵀ D L with L as sparse as the tree: a row of L holds ancestors only, and no fill appears when the last
freedom is eliminated first.
"""

from __future__ import annotations

from nexdyn.joints.verbs import PRISMATIC, REVOLUTE
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import ABOUT_Z, ALONG_Z, Motion, RigidInertia, Sym3, Vec3
from nexdyn.spatial.lanes import zero
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows, RigidInertiaRows
from nexdyn.tree.tables import ARMATURE, H_, IC_, IV, KIND, NV, PARENT, U_, X_, inertias


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


@formula
def mass_matrix(model, work, M):  # type: ignore[no-untyped-def]
    """M (nv × nv, zeroed by the caller), both triangles, from X and H of `kinematics`."""
    topology, freedom = model.topology, model.freedom
    composite_inertias(model, work)
    X, IC = PoseRows(work.body, X_), RigidInertiaRows(work.spare, IC_)
    H, F = MotionRows(work.columns, H_), ForceRows(work.freedom, U_)
    for i in range(len(topology) - 1, 0, -1):
        kind, first = topology[i, KIND], topology[i, IV]
        last = first + topology[i, NV]
        for j in range(first, last):
            # F = I^C h_j
            if kind == REVOLUTE:
                F[j] = IC[i] @ ABOUT_Z
            elif kind == PRISMATIC:
                F[j] = IC[i] @ ALONG_Z
            else:
                F[j] = IC[i] @ H[j]
            F_j = F[j]
            a = i
            while a > 0:
                # M_jk = h_kᵀ F for the columns k of body a;  F ← X F
                above = topology[a, KIND]
                k = topology[a, IV]
                if above == REVOLUTE:
                    M[j, k] = F_j @ ABOUT_Z
                    M[k, j] = M[j, k]
                elif above == PRISMATIC:
                    M[j, k] = F_j @ ALONG_Z
                    M[k, j] = M[j, k]
                else:
                    for n in range(k, k + topology[a, NV]):
                        M[j, n] = F_j @ H[n]
                        M[n, j] = M[j, n]
                F_j = X[a] @ F_j
                a = topology[a, PARENT]
            M[j, j] = M[j, j] + freedom[j, ARMATURE]


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
