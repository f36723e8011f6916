"""The constraint force algorithm for trees, in O(n) (Liu, Hu, Zhang 2016; Fijany, Sharf, D'Eleuterio 1995).

Equation numbers are those of the paper. With the wrench F_i of each joint on its child, in the child's frame,

    F = H F_T + W F_S                                                                          (22)
    P F = I V̇,   Pᵀ V̇ = H Q̇                                                                   (16)
    A F_S = Ẋ,   A = Wᵀ Pᵀ I⁻¹ P W,   Ẋ = −Wᵀ Pᵀ I⁻¹ P H F_T                              (25)–(29)
    Q̇ = Hᵀ Pᵀ I⁻¹ P F                                                                          (28)

of the system without bias: F_T = τ − Hᵀ RNEA(q, v, 0), external forces included. The joint's constraint force is
F_S + Wᵀ RNEA(q, v, 0). Where H is not orthonormal (helical) H F_T is Ĥ F_T, Ĥ = H (HᵀH)⁻¹, and Q̇ = Ĥᵀ Pᵀ V̇.

Block elimination from the leaves inward. Body j, when the joints o that it carries have been eliminated, answers to a
force F_j at its joint with the acceleration Λ_j F_j + β_j, and eliminating joint i of parent p is

    S = Wᵀ (Λ_i + P̂ᵀ Λ_p P̂) W                  A_i of (32), (33), (37) less what the joints outside took away
    φ = S⁻¹ (−Wᵀ (β_i + (Λ_i + P̂ᵀ Λ_p P̂) H F_T,i − P̂ᵀ β_p))
    Λ_p ← Λ_p − Y S⁻¹ Yᵀ,   Y = Λ_p P̂ W;        β_p ← β_p − Λ_p P̂ (W φ + H F_T,i)
    and outward   F_S,i = φ + S⁻¹ Yᵀ G,          G the force on p by its own joint and the joints eliminated after i

Λ_j starts as I_j⁻¹, β_j as 0. All blocks between the joints on one body, (34), (35) and (36), are products through its
6 × 6 matrix Λ, so that a body of n children costs n and no block between two siblings is ever formed.

On a long chain RNEA(q, v, 0) dwarfs the forces that act, and F_S + Wᵀ RNEA(q, v, 0) loses the digits that it cancels. So
where forces are wanted, F_T and F_S are found once more for what is left of the equations of motion at the q̈ just found,
with RNEA(q, v, q̈) in the place of RNEA(q, v, 0) and the factors at hand: q̈ + δq̈, and F_S + Wᵀ RNEA(q, v, q̈) without
cancellation. That is one step of iterative refinement. Where a body borrows inertia for its I⁻¹ (``tables``) such steps go on until
q̈ no longer changes by more than `PAID` of its largest component, and RNEA, which knows nothing of what is borrowed, has the last word.

A degree of freedom with armature D transmits f = F_T − D q̈, not F_T: f is one more unknown, with h as its column of W, 1/D on
the diagonal of A and F_T/D on the right.
"""

from __future__ import annotations

from nexdyn.kernel import formula, inlined
from nexdyn.records import prefetch
from nexdyn.spatial.algebra import ABOUT_Z, Force, Motion, Pose, Vec3, cross, times_turn_z, to_child, z_column
from nexdyn.spatial.mobility import (
    across_z,
    column_about_z,
    coupled,
    coupled_back,
    coupling_about_z,
    factor_across_z,
    force_across_z,
    less_coupled,
    mobility,
    mobility_turned_z,
    seen_from,
    solve_across_z,
    turned_back_z,
)
from nexdyn.spatial.table import (
    FiveRows,
    PoseRows,
    row,
)
from nexdyn.spatial.turned_z import turned_z
from nexdyn.tree.cfa.any_joint import columns_any, control_force_any, factor_any, force_of_any, solve_any
from nexdyn.tree.cfa.tables import ABOUT_Z_FIRST, ANY
from nexdyn.tree.core.aba import external
from nexdyn.tree.core.kinematics import body_motion
from nexdyn.tree.core.tables import world_acceleration

LARGE = 2000
"""Bodies from which on their tables no longer lie in a core's own cache, and rows are asked for ahead."""
PAID, MOST_PAID = 1e-10, 20
"""What may be left of the inertia that is borrowed, before a last step that leaves `LENT` of it; steps after which nothing is paid back."""
AHEAD = 6
"""Bodies ahead of its use that a row is asked for."""


@formula
def keep_pose(cfa, i, X_PJ, X):
    """X_i, of which a joint about z needs the cosine and sine of its turn only: R = R_PJ Rz."""
    if cfa.index[i].way == ANY:
        PoseRows(cfa.X, 0)[cfa.index[i].slot] = X
    else:
        A, B = X_PJ.R, X.R
        cfa.turn[i].cos = A.xx * B.xx + A.yx * B.yx + A.zx * B.zx
        cfa.turn[i].sin = A.xy * B.xx + A.yy * B.yx + A.zy * B.zx


@formula
def pose(model, cfa, i):
    """X_i as `keep_pose` left it."""
    X, X_PJ = PoseRows(cfa.X, 0), model.body.X_PJ
    if cfa.index[i].way == ANY:
        return X[cfa.index[i].slot]
    return pose_about_z(X_PJ[i], cfa.turn[i].cos, cfa.turn[i].sin)


@formula
def pose_about_z(X_PJ, c, s):
    """X_PJ Rz."""
    return Pose(times_turn_z(X_PJ.R, c, s), X_PJ.p)


@formula
def bias_forces(model, cfa, q, v, forces, work):
    """X of every body, and its F alone for q̈ = 0: the outward half of RNEA(q, v, 0). Unless `forces` is None, less the external
    forces in the scratch."""
    index, I, X_PJ = cfa.index, model.body.I, model.body.X_PJ
    V, A = cfa.spare.V, cfa.spare.A
    F, H = cfa.turn.F, work.columns.H
    A[0] = world_acceleration(model)
    V_last, A_last = row(V, 0), row(A, 0)
    large = len(index) > LARGE
    for j in range(len(cfa.before)):
        cfa.before[j] = 0.0
    for i in range(1, len(index)):
        p = index[i].parent
        if p != i - 1:
            V_last, A_last = V[index[p].branches], A[index[p].branches]
        if large:
            prefetch(model.body, i + AHEAD, 3)
            prefetch(cfa.turn, i + AHEAD, 1)
        X_i, V_i, c_i = body_motion(model, i, q, v, X_PJ[i], V_last, H)
        A_i = to_child(X_i, A_last) + c_i
        keep_pose(cfa, i, X_PJ[i], X_i)
        F[i] = I[i] @ A_i + cross(V_i, I[i] @ V_i) - external(work, i, forces)
        if index[i].branches != 0:
            V[index[i].branches], A[index[i].branches] = V_i, A_i
        V_last, A_last = V_i, A_i


@inlined
def eliminate_about_z(M_J, beta, t, Y, M_p, beta_p, least):
    """A joint about z out of the system, M_J = Λ + P̂ᵀ Λ_p P̂: (L D Lᵀ = S, Wᵀ M_J h, φ, Λ_p, β_p, whether S > least)."""
    # S = Wᵀ M_J W
    L, sound = factor_across_z(M_J, least)
    # φ = S⁻¹ (−Wᵀ β − Wᵀ M_J H F_T)
    g = column_about_z(M_J)
    phi = solve_across_z(L, -1.0 * (across_z(beta) + t * g))
    # Λ_p − Y S⁻¹ Yᵀ,  β_p − Λ_p P̂ (W φ + H F_T)
    return L, g, phi, less_coupled(M_p, Y, L), beta_p - coupled(Y, phi, t), sound


@formula
def eliminate_joints(model, cfa, q, tau, no_motion, refined, work):
    """From the leaves inward: F_T and the factors of every joint, and what refinement needs where it is to come. F becomes
    RNEA(q, v, 0). `no_motion` is a zero q̈. Returns a link whose S is not positive definite, or 0."""
    index, factor, F = cfa.index, cfa.factor, cfa.turn.F
    X, X_PJ = PoseRows(cfa.X, 0), model.body.X_PJ
    inverse, seen = cfa.body.inverse, cfa.body.seen
    Y, running, beta = (
        cfa.body.Y,
        cfa.spare.M,
        cfa.spare.beta,
    )
    factors, along, phi = factor.L, FiveRows(cfa.along, 0), factor.phi
    least = cfa.body.least
    at_rest = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    no_force = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    large = len(index) > LARGE
    lost = 0

    M_i, beta_i, F_child, carried = mobility(row(inverse, 0)), at_rest, no_force, False
    for i in range(len(index) - 1, 0, -1):
        p, way = index[i].parent, index[i].way
        if large:
            prefetch(cfa.body, i - AHEAD, 8)
            prefetch(cfa.turn, i - AHEAD, 1)
            prefetch(cfa.factor, i - AHEAD, 3)
            # a parent that stands far before its child: its I⁻¹ and F
            further = index[max(i - AHEAD, 1)].parent
            prefetch(cfa.body, further, 2)
            prefetch(cfa.turn, further, 1)
        if not carried:
            M_i, beta_i, F_child = mobility(inverse[i]), at_rest, no_force
        F_i = F[i] + F_child
        F[i] = F_i
        # the parent as the joints eliminated before left it
        if index[i].fresh != 0:
            M_p, beta_p = mobility(inverse[p]), at_rest
        else:
            M_p, beta_p = running[index[p].branches], beta[index[p].branches]
        sound = True
        if way == ANY:
            X_i = X[index[i].slot]
            F_p = X_i @ F_i
            columns_any(model, cfa, work, i, q)
            control_force_any(model, cfa, work, i, tau, no_motion, F_i)
            M_p, sound = factor_any(model, cfa, i, X_i, M_i, M_p)
            beta_p = solve_any(cfa, i, X_i, beta_i, beta_p)
        else:
            t, c, s = tau[index[i].iv] - F_i @ ABOUT_Z, cfa.turn[i].cos, cfa.turn[i].sin
            factor[i].cos, factor[i].sin, factor[i].torque = c, s, t
            if way == ABOUT_Z_FIRST:
                # at the joint's frame in the parent, from which the child is turned about z
                F_p = X_PJ[i] @ Force(turned_z(c, s, F_i.n), turned_z(c, s, F_i.f))
                M_J = mobility_turned_z(c, s, M_i) + mobility(seen[i])
                across = Motion(turned_z(c, s, beta_i.w), turned_z(c, s, beta_i.v))
            else:
                # W is the same in the child's frame, where its own motions need no turn
                X_i = pose_about_z(X_PJ[i], c, s)
                F_p = X_i @ F_i
                N, wn, wf, vn, vf = seen_from(X_i, M_p)
                Y[i] = coupling_about_z(wn, wf, vn, vf)
                M_J, across = M_i + N, beta_i - to_child(X_i, beta_p)
            L, g, x, M_p, beta_p, sound = eliminate_about_z(M_J, across, t, Y[i], M_p, beta_p, least[i])
            factors[i], phi[i] = L, x
            if refined:
                along[i] = g
        if not sound:
            lost = i
        # what the first child leaves of its parent stays in registers, what the others leave waits in its row
        carried = p == i - 1
        if carried:
            M_i, beta_i = M_p, beta_p
            F_child = F_p
        elif p > 0:
            running[index[p].branches], beta[index[p].branches] = M_p, beta_p
            F[p] = F[p] + F_p
    return lost


@formula
def change_motion(model, cfa, work, qdd):
    """RNEA becomes RNEA(q, v, q̈): what I Pᵀ⁻¹ H (q̈ − the q̈ that it holds) adds, outward and inward."""
    before = cfa.before
    index, bodies, I, H = cfa.index, model.topology, model.body.I, work.columns.H
    A, F, more = cfa.result.A, cfa.turn.F, cfa.result.F
    A[0] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    A_p = row(A, 0)
    for i in range(1, len(index)):
        p, j = index[i].parent, index[i].iv
        if p != i - 1:
            A_p = A[p]
        A_i = to_child(pose(model, cfa, i), A_p)
        if index[i].way != ANY:
            A_i = A_i + (qdd[j] - before[j]) * ABOUT_Z
        else:
            for n in range(j, j + bodies[i].nv):
                A_i = A_i + (qdd[n] - before[n]) * H[n]
        A[i], more[i] = A_i, I[i] @ A_i
        A_p = A_i
    for j in range(len(before)):
        before[j] = qdd[j]
    F_child = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    for i in range(len(index) - 1, 0, -1):
        p = index[i].parent
        more_i = more[i] + F_child
        F[i] = F[i] + more_i
        F_child = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
        if p == i - 1:
            F_child = pose(model, cfa, i) @ more_i
        elif p > 0:
            more[p] = more[p] + pose(model, cfa, i) @ more_i


@formula
def solve_again(model, cfa, tau, qdd, work):
    """`eliminate_joints` with the factors at hand and the forces RNEA(q, v, q̈): F_T and φ anew."""
    index, factor = cfa.index, cfa.factor
    F, Y, beta = cfa.turn.F, cfa.body.Y, cfa.spare.beta
    factors, along, phi = factor.L, FiveRows(cfa.along, 0), factor.phi
    at_rest = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    beta_i, carried = at_rest, False
    for i in range(len(index) - 1, 0, -1):
        p, way = index[i].parent, index[i].way
        if not carried:
            beta_i = at_rest
        beta_p = at_rest if index[i].fresh != 0 else beta[index[p].branches]
        if way == ANY:
            control_force_any(model, cfa, work, i, tau, qdd, F[i])
            beta_p = solve_any(cfa, i, pose(model, cfa, i), beta_i, beta_p)
        else:
            t = tau[index[i].iv] - F[i] @ ABOUT_Z
            factor[i].torque = t
            if way == ABOUT_Z_FIRST:
                c, s = factor[i].cos, factor[i].sin
                across = Motion(turned_z(c, s, beta_i.w), turned_z(c, s, beta_i.v))
            else:
                across = beta_i - to_child(pose(model, cfa, i), beta_p)
            x = solve_across_z(factors[i], -1.0 * (across_z(across) + t * along[i]))
            phi[i] = x
            beta_p = beta_p - coupled(Y[i], x, t)
        carried = p == i - 1
        if carried:
            beta_i = beta_p
        elif p > 0:
            beta[index[p].branches] = beta_p


@formula
def add_acceleration(model, cfa, work, i, qdd):
    """Q̇ += Ĥᵀ (V̇_i − P̂ᵀ V̇_p) of one joint (28), where the V̇ of its two bodies are known."""
    index, H = cfa.index, work.columns.H
    A, X_PJ = cfa.result.A, model.body.X_PJ
    p, j = index[i].parent, index[i].iv
    A_i, A_p = A[i], A[p]
    if index[i].way != ANY:
        qdd[j] += A_i.w.z - z_column(X_PJ[i].R) @ A_p.w
    else:
        a = A_i - to_child(pose(model, cfa, i), A_p)
        for n in range(j, j + model.topology[i].nv):
            h = H[n]
            qdd[n] += (h.w @ a.w + h.v @ a.v) / (h.w @ h.w + h.v @ h.v)


@formula
def joint_forces(model, cfa, work, qdd):
    """From the roots outward: F_i = W F_S + H F_T of every joint, V̇ of every body, and Q̇ += Ĥᵀ Pᵀ V̇ (28).

    All forces on a body are known when its last child's is, and with them its V̇: a joint's two are known then, unless its
    parent waits for later children (`late`)."""
    index, factor, Y = cfa.index, cfa.factor, cfa.body.Y
    X, X_PJ, factors, phi = PoseRows(cfa.X, 0), model.body.X_PJ, factor.L, factor.phi
    inverse = cfa.body.inverse
    F, A, net = cfa.result.F, cfa.result.A, cfa.spare.net
    no_force = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    F_last = no_force
    large = len(index) > LARGE
    A[0] = Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    for i in range(1, len(index)):
        p, way = index[i].parent, index[i].way
        if large:
            prefetch(cfa.body, i + AHEAD, 5)
            prefetch(cfa.factor, i + AHEAD, 3)
            prefetch(cfa.result, i + AHEAD, 2)
        # the force on the parent by its own joint and the joints eliminated after this one
        alone = index[p].branches == 0
        G = F_last if alone else net[index[p].branches]
        if p == 0:
            G = no_force
        if way == ANY:
            F_i = force_of_any(cfa, index[i].slot, index[i].nw, G)
            F_p = X[index[i].slot] @ F_i
        else:
            # F_S = φ + S⁻¹ Yᵀ G
            g = coupled_back(Y[i], G)
            F_i = force_across_z(phi[i] + solve_across_z(factors[i], g), factor[i].torque)
            # at the joint's frame in the parent as well
            c, s = factor[i].cos, factor[i].sin
            F_J = F_i
            if way == ABOUT_Z_FIRST:
                F_i = Force(turned_back_z(c, s, F_i.n), turned_back_z(c, s, F_i.f))
            else:
                F_J = Force(turned_z(c, s, F_i.n), turned_z(c, s, F_i.f))
            F_p = X_PJ[i] @ F_J
        F[i] = F_i
        # V̇ = I⁻¹ (P F) where all forces on a body are known
        if p > 0:
            rest = G - F_p
            if index[i].fresh != 0:
                A[p] = inverse[p] @ rest
                if index[p].fresh != 0:
                    add_acceleration(model, cfa, work, p, qdd)
            else:
                net[index[p].branches] = rest
        if index[i].branches != 0:
            net[index[i].branches] = F_i
        elif index[i].leaf != 0:
            A[i] = inverse[i] @ F_i
            if index[i].fresh != 0:
                add_acceleration(model, cfa, work, i, qdd)
        F_last = F_i
    for n in range(len(cfa.late)):
        add_acceleration(model, cfa, work, cfa.late[n], qdd)


@formula
def constraint_forces(model, cfa, q, tau, refined, work, qdd):
    """q̈ and the forces F_i once `bias_forces` are known; `refined` if `refine` follows. Returns a link whose block of A is not
    positive definite, or 0."""
    for j in range(len(qdd)):
        qdd[j] = 0.0
    lost = eliminate_joints(model, cfa, q, tau, qdd, refined, work)
    joint_forces(model, cfa, work, qdd)
    return lost


@formula
def refine(model, cfa, tau, work, qdd):
    """One step of refinement: q̈ + δq̈, and F_i for RNEA(q, v, q̈) in the place of the RNEA at hand."""
    change_motion(model, cfa, work, qdd)
    solve_again(model, cfa, tau, qdd, work)
    joint_forces(model, cfa, work, qdd)


@formula
def pay_back(model, cfa, tau, work, qdd):
    """Refinement until what bodies borrow is paid back; a link where it is not, or 0."""
    for _ in range(MOST_PAID if cfa.lends[0] != 0 else 0):
        refine(model, cfa, tau, work, qdd)
        most, left = 0.0, 0.0
        for j in range(len(qdd)):
            most, left = max(most, abs(qdd[j])), max(left, abs(qdd[j] - cfa.before[j]))
        if left <= PAID * most:
            return 0
    return cfa.lends[0]
