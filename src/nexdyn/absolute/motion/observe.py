"""What can be told of joints in a motion recorded in absolute coordinates: wrenches, coordinates, energy of springs.

    reaction of a joint on its child = − Σ λ_r (∂C_r/∂ child), at the joint's point in the parent-side frame
    transmitted = reaction + the efforts along its degrees of freedom, those of drivers and of couplings among them

The rate of a joint's velocity is a central difference of it along the motion, q ∘ ± ε v, v ± ε a.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.absolute.motion.elements import (
    Acting,
    ActingJoints,
    JointDofs,
    acting,
    joint_frames,
    joint_motion,
    loads,
    moving_joints,
    own_efforts,
    start_coordinates,
)
from nexdyn.absolute.motion.equations import pair_of, place_bodies, turn
from nexdyn.absolute.motion.tables import KeptRows, Links, Slots, centres, motion_tables, new_state
from nexdyn.constraint_rows import tied_joints
from nexdyn.constraints.tables import BodyPairs, FramesOfPairs, RowsOfTerms
from nexdyn.constraints.verbs import gradient, value
from nexdyn.forces.joint import spring_energy
from nexdyn.forces.states import set_states
from nexdyn.forces.tables import NO_DOF, ForceEntries, frames_a, frames_b
from nexdyn.forces.verbs import element_energy, freedom_energy
from nexdyn.generic import defines, generic
from nexdyn.integrate.problem import FORCE_FAILED
from nexdyn.joints.kinds import FREE, HELICAL, SPHERICAL
from nexdyn.joints.verbs import effort_columns
from nexdyn.kernel import formula, kernel
from nexdyn.model.callbacks import failure
from nexdyn.model.joint import Joint
from nexdyn.model.system import System
from nexdyn.spatial.algebra import Force, Quat, T, Vec3, cross, log_quaternion
from nexdyn.spatial.rotations import cross_product, rotation_matrix
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows

PART = 1e-5
"""Of the motion's own time, over which accelerations of coordinates are taken by differences."""


@formula
def rate_of_change(v, a, length):
    """The largest of |ω|, |v|/L, √|ω̇| and √(|v̇|/L) of all bodies [1/s]; 1 where nothing moves."""
    fastest = 0.0
    for i in range(len(v)):
        for c in range(3):
            fastest = max(fastest, abs(v[i, c]), abs(v[i, c + 3]) / length)
            fastest = max(fastest, math.sqrt(abs(a[i, c])), math.sqrt(abs(a[i, c + 3]) / length))
    return fastest if fastest > 0.0 else 1.0


@formula
def set_state(s, q, v, a, eps):
    """q1 ← q ∘ ε v, v1 ← v + ε a, and the places of the bodies."""
    for i in range(1, len(s.q1)):
        for c in range(4):
            s.q0[i, c] = q[i - 1, c]
        x = turn(s.q0, i, Vec3(eps * v[i - 1, 0], eps * v[i - 1, 1], eps * v[i - 1, 2]))
        s.q1[i, 0], s.q1[i, 1], s.q1[i, 2], s.q1[i, 3] = x.w, x.x, x.y, x.z
        for c in range(3):
            s.q1[i, 4 + c] = q[i - 1, 4 + c] + eps * v[i - 1, 3 + c]
        for c in range(6):
            s.v1[i, c] = v[i - 1, c] + eps * a[i - 1, c]
    place_bodies(s, 1)


@formula
def on_child(tables, X, j, child, moment, force):
    """A wrench about the centre of mass of the child of joint j, in the world → about the origin of its frame A, in A."""
    X_A = X[BodyPairs(tables.constraints.pairs)[j].a] @ FramesOfPairs(tables.constraints.frames)[j].X_aA
    Rt = T(X_A.R)
    return Force(Rt @ (moment + cross(X[child].p - X_A.p, force)), Rt @ force)


energy_of_forces = generic("energy_of_forces", "What the force elements store.")


@defines(energy_of_forces)
def _(s: Any, acts: Acting) -> Any:
    X, X_LA, X_LB = PoseRows(s.poses, 0), frames_a(acts.forces), frames_b(acts.forces)
    energy, entries = 0.0, ForceEntries(acts.forces.index)
    for e in range(len(entries)):
        force = entries[e]
        if force.dof != NO_DOF:
            energy += freedom_energy(acts.forces, e, acts.q[force.coordinate])
        else:
            energy += element_energy(acts.forces, e, X[force.body_a] @ X_LA[e], X[force.body_b] @ X_LB[e])
    return energy


@defines(energy_of_forces)
def _(s: Any, acts: Any) -> Any:
    return 0.0


@kernel
def observe_joints(
    tables, acts, s, own, joint_of, child_first, t, q, v, a, lam, z, followed, reactions, wrenches, joint_q, joint_v, joint_a,
    elastic, armature,
):  # fmt: skip
    """Of samples t (N,), q (N, nb, 7), v, a (N, nb, 6) about the centres of mass and lam (N, nc): wrenches (N, nj, 6) of the
    joints on their children, coordinates of moving joints, energy of springs (N,); armature (nv,). own (ns,): whether a slot's row is
    the joint's own; joint_of (ns,): the joint that transmits its force, or −1; child_first (ns,): whether that joint's
    child comes first in the slot's pair; followed (N, nk): what was counted, (N, 0) where angles go on from sample to sample.
    Returns (status, samples)."""
    X, links, slots, constraints = PoseRows(s.poses, 0), Links(tables.links), Slots(tables.slots), tables.constraints
    rows = KeptRows(tables.rows)
    for n in range(len(t)):
        set_states(acts.forces, z, n)
        for k in range(followed.shape[1]):
            s.counted[k] = s.near[k] = followed[n, k]
        apart = PART / rate_of_change(v[n], a[n], acts.length)
        for sign in range(2):
            eps = apart if sign == 0 else -apart
            set_state(s, q[n], v[n], a[n], eps)
            for j in range(len(acts.joints)):
                joint_motion(tables, s, acts, j)
            for i in range(joint_v.shape[1]):
                joint_a[n, i] = (joint_a[n, i] + acts.v[i] / eps) if sign == 1 else acts.v[i] / eps
        for i in range(joint_v.shape[1]):
            joint_a[n, i] *= 0.5
        set_state(s, q[n], v[n], a[n], 0.0)
        s.x[:] = 0.0
        for j in range(len(acts.joints)):
            joint_motion(tables, s, acts, j)
            own_efforts(acts, j)
        for i in range(joint_v.shape[1]):
            acts.effort[i] -= armature[i] * joint_a[n, i]  # what drives a rotor is not transmitted
        status = loads(s, t[n], 0.0, 0.0, False, acts)
        if status != 0:
            return status, n
        for i in range(joint_q.shape[1]):
            joint_q[n, i] = acts.q[i]
            if acts.places[i] >= 0:
                s.counted[acts.places[i]] = acts.q[i]
        for i in range(joint_v.shape[1]):
            joint_v[n, i] = acts.v[i]
        for r in range(lam.shape[1]):
            s.lam1[rows[r].node, rows[r].row] = lam[n, r]
        R_out, F_out = ForceRows(reactions[n], 0), ForceRows(wrenches[n], 0)
        o = Vec3(0.0, 0.0, 0.0)
        for j in range(reactions.shape[1]):
            R_out[j], F_out[j] = Force(o, o), Force(o, o)
        for l in range(len(links)):
            link = links[l]
            k, a_, b_, g = link.pair, link.a, link.b, link.node
            pair = pair_of(tables, X, k, a_, b_)
            for e in range(link.first, link.first + link.count):
                j = joint_of[e]
                if j >= 0:
                    term = slots[e].term
                    value(constraints, term, t[n], pair, s.near)
                    D = gradient(constraints, term, t[n], pair, s.near)
                    size = -constraints.scale[term] * s.lam1[g, slots[e].row]
                    if child_first[e]:
                        F = on_child(tables, X, j, a_, size * D.w_a, size * D.v_a)
                    else:
                        F = on_child(tables, X, j, b_, size * D.w_b, size * D.v_b)
                    F_out[j] = F_out[j] + F
                    if own[e]:
                        R_out[j] = R_out[j] + F
        H = MotionRows(acts.H, 0)
        energy = 0.0
        for j in range(len(acts.joints)):
            X_A, X_B = joint_frames(tables, s, acts, j)
            joint = ActingJoints(acts.joints)[j]
            kind, k, first = joint.kind, joint.iq, joint.iv
            effort_columns(kind, acts.pitch[j], acts.q, k, H, 0)
            moment, force = o, o
            for m in range(joint.nv):
                h, y = H[m], acts.effort[first + m]
                moment = moment + y * h.w
                if kind != HELICAL:
                    force = force + y * h.v
            moment, force = X_B.R @ moment, X_B.R @ force
            moment = moment + cross(X_B.p - X_A.p, force)
            Rt, i = T(X_A.R), joint.pair
            F_out[i] = F_out[i] + Force(Rt @ moment, Rt @ force)
            energy += spring_energy_of(acts, j)
        elastic[n] = energy + energy_of_forces(s, acts)
    return 0, len(t)


@formula
def spring_energy_of(acts, j):
    """½ k (q − q₀)² of the degrees of freedom of joint j."""
    joint, dofs, q = ActingJoints(acts.joints)[j], JointDofs(acts.freedoms), acts.q
    kind, k, first = joint.kind, joint.iq, joint.iv
    U = 0.0
    if kind == FREE:
        return U
    if kind == SPHERICAL:
        phi = log_quaternion(Quat(q[k], q[k + 1], q[k + 2], q[k + 3]))
        U += spring_energy(phi.x, dofs[first].stiffness, dofs[first].rest)
        U += spring_energy(phi.y, dofs[first + 1].stiffness, dofs[first + 1].rest)
        U += spring_energy(phi.z, dofs[first + 2].stiffness, dofs[first + 2].rest)
        return U
    for m in range(joint.nv):
        U += spring_energy(q[k + m], dofs[first + m].stiffness, dofs[first + m].rest)
    return U


@dataclass(frozen=True)
class JointObservation:
    """Of N samples: reaction and wrench (N, nj, 6) moments first, q (N, nq), v, a (N, nv) of moving joints, elastic (N,)."""

    reaction: np.ndarray
    wrench: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    elastic: np.ndarray


class BodyMotion:
    """Motions in absolute coordinates of the bodies of a system: what a result needs to tell of them."""

    def __init__(self, system: System, model: AbsoluteModel) -> None:
        self.system, self.model = system, model

    @property
    def body_names(self) -> list[str]:
        """Bodies, without ground."""
        return self.model.bodies[1:]

    @cached_property
    def joints(self) -> list[Joint]:
        """Joints that have coordinates."""
        return moving_joints(self.model)

    @property
    def joint_names(self) -> list[str]:
        """Their names."""
        return [joint.name for joint in self.joints]

    @property
    def nq(self) -> int:
        """Coordinates of all joints; in closed loops they depend on each other."""
        return sum(joint.nq for joint in self.joints)

    @property
    def nv(self) -> int:
        """Velocities of all joints."""
        return sum(joint.nv for joint in self.joints)

    @cached_property
    def armature(self) -> np.ndarray:
        """Armature of each degree of freedom (nv,)."""
        own = [joint.resolved(self.system.values).armature for joint in self.joints]
        return np.concatenate([np.zeros(0), *own])

    def observe(
        self,
        t: np.ndarray,
        q: np.ndarray,
        v: np.ndarray,
        a: np.ndarray,
        lam: np.ndarray,
        z: np.ndarray | None = None,
        with_forces: bool = True,
        followed: np.ndarray | None = None,
    ) -> JointObservation:
        """Samples t (N,), q (N, nb, 7), v, a (N, nb, 6) of the bodies' origins, multipliers (N, nc) of all rows, states of
        forces z (N, nz), by default as at the start of a run; followed (N, nk): what was counted, without which angles go on from
        one sample to the next.

        SolveError where a force fails."""
        model, values = self.model, self.system.values
        tables = motion_tables(model, np.ones(model.nc, dtype=bool), 1.0)
        acts = acting(model, tables, self.joints, with_forces)
        z = np.tile(acts.forces.z, (len(t), 1)) if z is None or not with_forces else np.ascontiguousarray(z)
        names = list(self.system.joints)
        of_joint = {name: set(rows) for name, rows in model.rows_of_joint.items()}
        rows = RowsOfTerms(tables.constraints.rows)
        row_of_term, first_term = np.repeat(np.arange(model.nc), rows.count), rows.first
        own, child_first = np.zeros((2, len(tables.slots)), dtype=np.bool_)
        joint_of = np.full(len(tables.slots), -1, dtype=np.int64)
        place = {name: j for j, name in enumerate(names)}
        terms = Slots(tables.slots).term
        for link in Links(tables.links):
            for e in range(link.first, link.first + link.count):
                r = int(row_of_term[terms[e]])
                row = model.rows[r]
                own[e] = r in of_joint.get(row.joint, set())
                tied = tied_joints(self.system, row)
                joint = tied[terms[e] - first_term[r]] if tied else row.joint
                if own[e] or tied or (row.driver is not None and joint in place):
                    joint_of[e] = place[joint]
                    child_first[e] = BodyPairs(tables.constraints.pairs).b[joint_of[e]] != link.b
        n, c = len(t), centres(model)[1:]
        # from the origins to the centres of mass
        R = rotation_matrix(q[..., :4])
        w, w_dot = v[..., :3], a[..., :3]
        about, rate = cross_product(w, c), cross_product(w_dot, c) + cross_product(w, cross_product(w, c))
        q, v, a = q.copy(), v.copy(), a.copy()
        q[..., 4:] += np.einsum("...ij,...j->...i", R, np.broadcast_to(c, q[..., 4:].shape))
        v[..., 3:] += np.einsum("...ij,...j->...i", R, about)
        a[..., 3:] += np.einsum("...ij,...j->...i", R, rate)
        reactions, wrenches = np.zeros((2, n, len(names), 6))
        joint_q, joint_v, joint_a = np.zeros((n, self.nq)), np.zeros((n, self.nv)), np.zeros((n, self.nv))
        elastic = np.zeros(n)
        near = model.near(model.q, float(t[0]) if n else 0.0)
        state = new_state(tables, near)
        start_coordinates(self.joints, acts, values, state.counted)
        if followed is None or followed.shape != (n, len(near)):
            followed = np.zeros((n, 0))
        status, failed = observe_joints(
            tables, acts, state, own, joint_of, child_first, t, q, v, a, lam, z, followed, reactions, wrenches,
            joint_q, joint_v, joint_a, elastic, self.armature,
        )  # fmt: skip
        if status >= FORCE_FAILED:
            element: Any = list(self.system.forces.values())[status - FORCE_FAILED]
            raise failure(element, float(t[failed]), element.callbacks())
        return JointObservation(reactions, wrenches, joint_q, joint_v, joint_a, elastic)
