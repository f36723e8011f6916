"""What can be told of a motion afterwards: poses, velocities, accelerations, joint wrenches, energies of every body.

From (t, q, v, a) of the samples, on the tables in which welded bodies are links of their own, with the forces of the run:

    A_true = A + X⁻¹ (0, g);   v̇ of a point p of the link = A.v + ω × V.v + ω̇ × p + ω × (ω × p)
    wrench of a joint on its child = X_J F, at the parent-side frame's origin in its axes
    reaction = X_J (F − Ĥ HᵀF): what is left without the effort along the joint's degrees of freedom
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.forces.states import set_states
from nexdyn.integrate.problem import FORCE_FAILED
from nexdyn.joints.kinds import HELICAL
from nexdyn.joints.on_tree import child_pose, is_reversed
from nexdyn.kernel import formula, kernel
from nexdyn.model.callbacks import failure
from nexdyn.spatial.algebra import Force, Mat3, Motion, Pose, Vec3, cross
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows
from nexdyn.tree.core import tables
from nexdyn.tree.core.crba import unit_columns
from nexdyn.tree.core.energy import gravity_energy, kinetic_energy
from nexdyn.tree.core.handle import Handle, tables_at
from nexdyn.tree.core.kinematics import kinematics, world_poses
from nexdyn.tree.core.rnea import inverse_dynamics
from nexdyn.tree.core.tables import gravity
from nexdyn.tree.elements import act, energy_of_elements, tables_of
from nexdyn.tree.loads import joint_energy
from nexdyn.tree.wound import angles_along

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree


@formula
def tell(model, work, X_LB, q, poses, twists, rates, wrenches, reactions):
    """One sample of `observe`, from X_W, V, A, F and H in the scratch."""
    bodies, body = model.topology, model.body
    X_W, V, A = work.spare.X_W, work.body.V, work.body.A
    F, H = work.body.F, work.columns.H
    g = gravity(model)
    X_out, V_out, A_out = PoseRows(poses, 0), MotionRows(twists, 0), MotionRows(rates, 0)
    F_out, R_out = ForceRows(wrenches, 0), ForceRows(reactions, 0)
    for i in range(1, len(bodies)):
        R, p = X_W[i].R, X_LB[i - 1].p
        w, w_dot = V[i].w, A[i].w
        # velocity and acceleration of the body's origin, a point of the link
        u = V[i].v + cross(w, p)
        u_dot = A[i].v + cross(w, V[i].v) + cross(w_dot, p) + cross(w, cross(w, p))
        X_out[i - 1] = X_W[i] @ X_LB[i - 1]
        V_out[i - 1] = Motion(R @ w, R @ u)
        A_out[i - 1] = Motion(R @ w_dot, R @ u_dot + g)
        # the joint's wrench, and what it is without the effort along its freedoms
        identity = Pose(Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))
        kind = bodies[i].kind
        X_J = child_pose(kind, identity, body[i].pitch, q, bodies[i].iq)
        # in the axes in which the columns are as described, unit ones at right angles: of the child, or of the ground that is one
        turned = is_reversed(kind)
        whole = across = X_J @ F[i] if turned else F[i]
        for j in range(bodies[i].iv, bodies[i].iv + bodies[i].nv):
            h = X_J @ H[j] if turned else H[j]
            effort = whole @ h
            if kind == HELICAL:
                across = across - Force(effort * h.w, 0.0 * h.v)
            else:
                across = across - Force(effort * h.w, effort * h.v)
        F_out[i - 1] = X_J @ F[i]
        R_out[i - 1] = across if turned else X_J @ across


@kernel
def observe(
    handle, frames, forces, t, q, v, a, z, tau,
    poses, twists, rates, wrenches, reactions, energies,
):  # fmt: skip
    """Fill poses (N, nb, 12) and, in world axes, twists and their rates (N, nb, 6) of the frames X_LB (nb, 12); wrenches
    and reactions (N, nb, 6) of the joints in their parent-side frames; energies (N, 3): kinetic, gravity, elastic."""
    model, work, _, _ = tables_at(handle)
    X_W = work.spare.X_W
    for s in range(len(t)):
        kinematics(model, q[s], v[s], work)
        unit_columns(model, work)
        world_poses(model, work, X_W)
        set_states(forces, z, s)
        status = act(model, work, t[s], q[s], v[s], tau, forces)
        if status != 0:
            return status, s
        inverse_dynamics(model, q[s], v[s], a[s], work, tau)
        tell(model, work, PoseRows(frames, 0), q[s], poses[s], twists[s], rates[s], wrenches[s], reactions[s])
        energies[s, 0] = kinetic_energy(model, v[s], work)
        energies[s, 1] = gravity_energy(model, X_W)
        energies[s, 2] = joint_energy(model, q[s]) + energy_of_elements(work, q[s], forces)
    return 0, len(t)


@dataclass(frozen=True)
class Observation:
    """Arrays over samples (N) and bodies or joints (nb), both in the order of the tree's `body_names` (each body with
    the joint that carries it). World axes; moments before forces. SI units."""

    R: np.ndarray
    position: np.ndarray
    angular_velocity: np.ndarray
    velocity: np.ndarray
    angular_acceleration: np.ndarray
    acceleration: np.ndarray
    wrench: np.ndarray
    reaction: np.ndarray
    kinetic: np.ndarray
    gravitational: np.ndarray
    elastic: np.ndarray


def observe_motion(
    tree: Tree,
    t: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    with_forces: bool = True,
    z: np.ndarray | None = None,
    angles: np.ndarray | None = None,
) -> Observation:
    """Observe samples t (N,), q (N, nq), v, a (N, nv), and z (N, nz) of forces, of `tree`, the forces of its system acting or not.
    angles (N, nw): of torsion springs, see ``wound``, without which they go on from sample to sample.

    Raises SolveError where a force fails at a sample.
    """
    forces = tables_of(tree.system, tree.unmerged, counting=True) if with_forces else None
    states = np.zeros((len(t), 0)) if z is None else z
    if forces is not None and len(forces.winding):
        states = np.hstack([states, angles_along(tree, q) if angles is None else angles])
    c, coupling = tree.unmerged, tree.coupling
    if coupling is not None:
        q, v, a = coupling.full_q(q), coupling.full_v(v), coupling.full_v(a)
    n, nb = len(t), len(c.arc_of_link) - 1
    frames = np.concatenate([c.R_LB.reshape(nb, 9), c.p_LB], axis=1)
    poses, energies = np.empty((n, nb, 12)), np.empty((n, 3))
    twists, rates, wrenches, reactions = np.empty((4, n, nb, 6))
    handle = Handle(c.model, tables.new_work(nb, c.nv))
    status, failed = observe(  # type: ignore[call-arg]
        handle.address, frames, forces, np.ascontiguousarray(t), *(np.ascontiguousarray(x) for x in (q, v, a)),
        np.ascontiguousarray(states), np.zeros(max(c.nv, 1)),
        poses, twists, rates, wrenches, reactions, energies,
    )  # fmt: skip
    if status >= FORCE_FAILED:
        element = list(tree.system.forces.values())[status - FORCE_FAILED]
        raise failure(element, float(t[failed]), element.callbacks())
    return Observation(
        poses[..., :9].reshape(n, nb, 3, 3), poses[..., 9:], twists[..., :3], twists[..., 3:], rates[..., :3],
        rates[..., 3:], wrenches, reactions, energies[:, 0], energies[:, 1], energies[:, 2],
    )  # fmt: skip


def joint_wrenches(tree: Tree, q: Any, v: Any, a: Any) -> dict[str, np.ndarray]:
    """See `Tree.joint_wrenches`."""
    shape, (q, v, a) = tree.batch(("q", q, tree.nq), ("v", v, tree.nv), ("a", a, tree.nv))
    seen = observe_motion(tree, np.zeros(len(q)), q, v, a, with_forces=False)
    names = [arc.name for arc in tree.unmerged.forest.arcs]
    return {name: seen.wrench[:, i].reshape(*shape, 6) for i, name in enumerate(names)}
