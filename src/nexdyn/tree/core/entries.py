"""Where Python meets the tree algorithms: kernels over a batch of states, one row a state.

Each takes the handle of a tree, the states and its outputs; nothing is checked here.
"""

from __future__ import annotations

from nexdyn.joints.kinds import FREE, SPHERICAL
from nexdyn.joints.on_tree import constraint_columns, described_as, motion_columns
from nexdyn.joints.verbs import chart_step
from nexdyn.kernel import formula, kernel
from nexdyn.spatial.algebra import Mat3, Pose, Quat, Vec3, left_jacobian_times, rotation
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows, row
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.core.coriolis import coriolis_matrix
from nexdyn.tree.core.crba import composite_inertias, factor, mass_matrix, mirror, solve_factored, unit_columns
from nexdyn.tree.core.energy import gravity_energy, kinetic_energy, momentum, momentum_matrix, subtree_jacobian
from nexdyn.tree.core.handle import tables_at
from nexdyn.tree.core.jacobian import frame_jacobian
from nexdyn.tree.core.kinematics import forward_kinematics, kinematics, world_poses
from nexdyn.tree.core.rnea import inverse_dynamics
from nexdyn.tree.core.tables import Bodies


@kernel
def aba_one(handle, q, v, tau, qdd):
    """q̈ of one state of the tree with this handle. Returns 1 where a length is wrong, 2 where q̈ is not finite."""
    model, work, nq, nv = tables_at(handle)
    if len(qdd) != nv or len(v) != nv or len(tau) != nv or len(q) != nq:
        return 1
    articulated_bodies(model, q, v, tau, None, work, qdd)
    return 0 if is_finite(qdd) else 2


@formula
def is_finite(x):
    """Whether all components are: a sum is not finite where one of them is not, and x − x = 0 only where x is."""
    total = 0.0
    for m in range(len(x)):
        total += x[m]
    return total - total == 0.0


@kernel
def aba(handle, q, v, tau, qdd):
    """q̈ (N, nv). Returns the first state whose acceleration is not finite, or −1."""
    model, work, _, _ = tables_at(handle)
    for s in range(len(q)):
        articulated_bodies(model, q[s], v[s], tau[s], None, work, qdd[s])
        if not is_finite(qdd[s]):
            return s
    return -1


@kernel
def rnea(handle, q, v, qdd, tau):
    model, work, _, _ = tables_at(handle)
    for s in range(len(q)):
        inverse_dynamics(model, q[s], v[s], qdd[s], work, tau[s])


@kernel
def crba(handle, q, M):
    """M (N, nv, nv), zeroed by the caller."""
    model, work, _, _ = tables_at(handle)
    for s in range(len(q)):
        mass_matrix(model, q[s], work, M[s])
        mirror(M[s], M.shape[1])


@kernel
def factored_dynamics(M, above, right, qdd, pivots):
    """q̈ = M⁻¹ right by the branch-sparse LᵀDL; `pivots` takes D; M is overwritten."""
    for s in range(len(M)):
        factor(M[s], above)
        for j in range(len(above)):
            qdd[s, j] = right[s, j]
            pivots[s, j] = M[s, j, j]
        solve_factored(M[s], above, qdd[s])


@kernel
def coriolis(handle, q, v, poses, C):
    """C (N, nv, nv), zeroed by the caller; `poses` (nb + 1, 12) has the identity in row 0."""
    (model, work, _, _), X_W = tables_at(handle), PoseRows(poses, 0)
    for s in range(len(q)):
        kinematics(model, q[s], v[s], work)
        unit_columns(model, work)
        world_poses(model, work, X_W)
        coriolis_matrix(model, q[s], v[s], work, X_W, C[s])


@kernel
def link_poses(handle, q, poses):
    """World poses (N, nb + 1, 12) of all links; row 0 given."""
    model, _, _, _ = tables_at(handle)
    for s in range(len(q)):
        forward_kinematics(model, q[s], PoseRows(poses[s], 0))


@kernel
def link_motion(handle, q, v, poses, twists):
    """World poses (N, nb + 1, 12) and velocities in link axes (N, nb + 1, 6) of all links; row 0 given."""
    model, work, _, _ = tables_at(handle)
    V = work.body.V
    for s in range(len(q)):
        kinematics(model, q[s], v[s], work)
        world_poses(model, work, PoseRows(poses[s], 0))
        V_out = MotionRows(twists[s], 0)
        for i in range(1, len(model.topology)):
            V_out[i] = V[i]


@kernel
def jacobian(handle, q, v, poses, b, X_bF, reference, J, J_dot):
    """J and J̇ (N, 6, nv), zeroed by the caller, of the frame at pose X_bF (12,) in link b."""
    (model, work, _, _), X_W = tables_at(handle), PoseRows(poses, 0)
    R = Mat3(X_bF[0], X_bF[1], X_bF[2], X_bF[3], X_bF[4], X_bF[5], X_bF[6], X_bF[7], X_bF[8])
    frame = Pose(R, Vec3(X_bF[9], X_bF[10], X_bF[11]))
    for s in range(len(q)):
        kinematics(model, q[s], v[s], work)
        unit_columns(model, work)
        world_poses(model, work, X_W)
        frame_jacobian(model, q[s], v[s], work, X_W, b, frame, reference, J[s], J_dot[s])


@kernel
def momentum_and_energy(handle, q, v, poses, h, A, com, energy):
    """Momentum about the centre of mass (N, 6), its matrix (N, 6, nv), the centre of mass (N, 3), (T, U) (N, 2)."""
    (model, work, _, _), X_W = tables_at(handle), PoseRows(poses, 0)
    IC = work.spare.IC
    for s in range(len(q)):
        kinematics(model, q[s], v[s], work)
        unit_columns(model, work)
        world_poses(model, work, X_W)
        composite_inertias(model, work)
        whole = row(IC, 0)
        c = (1.0 / whole.m) * whole.h
        momentum_matrix(model, work, X_W, c, A[s])
        p = momentum(model, work, X_W, c)
        h[s, 0], h[s, 1], h[s, 2], h[s, 3], h[s, 4], h[s, 5] = p.n.x, p.n.y, p.n.z, p.f.x, p.f.y, p.f.z
        com[s, 0], com[s, 1], com[s, 2] = c.x, c.y, c.z
        energy[s, 0], energy[s, 1] = kinetic_energy(model, v[s], work), gravity_energy(model, X_W)


@kernel
def subtree(handle, q, v, poses, b, com, mass, J):
    """Centre of mass (N, 3), mass (N,) and Jacobian (N, 3, nv; zeroed) of link b and all that hangs on it."""
    (model, work, _, _), X_W = tables_at(handle), PoseRows(poses, 0)
    IC = work.spare.IC
    for s in range(len(q)):
        kinematics(model, q[s], v[s], work)
        unit_columns(model, work)
        world_poses(model, work, X_W)
        composite_inertias(model, work)
        mass[s] = IC[b].m
        c = X_W[b].p + X_W[b].R @ ((1.0 / IC[b].m) * IC[b].h)
        com[s, 0], com[s, 1], com[s, 2] = c.x, c.y, c.z
        subtree_jacobian(model, work, X_W, b, J[s])


@kernel
def retract(topology, base, step, xi, q):
    """q (N, nq) reached from `base` (N, nq) along the constant velocity `step` (N, nv) in unit time; ξ is scratch (nv,).

    A free joint moves along a screw: in its chart φ = ω,  d = R Jₗ(ω) v.
    """
    bodies = Bodies(topology)
    for s in range(len(q)):
        for i in range(1, len(bodies)):
            kind, k, j, n = described_as(bodies[i].kind), bodies[i].iq, bodies[i].iv, bodies[i].nv
            if kind == SPHERICAL or kind == FREE:
                for m in range(n):
                    xi[j + m] = step[s, j + m]
                if kind == FREE:
                    R = rotation(Quat(base[s, k], base[s, k + 1], base[s, k + 2], base[s, k + 3]))
                    screw = Vec3(step[s, j], step[s, j + 1], step[s, j + 2])
                    d = R @ left_jacobian_times(screw, Vec3(step[s, j + 3], step[s, j + 4], step[s, j + 5]))
                    xi[j + 3], xi[j + 4], xi[j + 5] = d.x, d.y, d.z
                chart_step(kind, base[s], k, xi, j, q[s])
            else:
                for m in range(n):
                    q[s, k + m] = base[s, k + m] + step[s, j + m]


@kernel
def joint_columns(kind, pitch, q, H, W):
    """H (nv, 6) and W (6 − nv, 6) of one joint at q, a column a row."""
    motion_columns(kind, pitch, q, 0, MotionRows(H, 0), 0)
    constraint_columns(kind, pitch, q, 0, ForceRows(W, 0))
