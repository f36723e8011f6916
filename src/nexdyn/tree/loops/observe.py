"""What can be told of the motion of a tree with constraint rows: as ``tree.observe``, with the forces of the rows.

A row acts on its links with −λ g, g its gradient; on a link of the tree that is one more external wrench. The wrench of
a joint that was cut on its child is the sum over the joint's own rows, taken to the joint's point in its parent-side
frame; its springs, dampers and motors come on top in what it transmits, as do drivers, and of couplings the terms of its coordinates.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from nexdyn.constraint_rows import tied_joints
from nexdyn.constraints.pair import PairVelocity
from nexdyn.constraints.tables import BodyPairs, RowsOfTerms, Terms
from nexdyn.constraints.verbs import gradient, second, value
from nexdyn.forces.states import set_states
from nexdyn.forces.tables import ForceEntry, ForceTables, force_tables
from nexdyn.integrate.problem import FORCE_FAILED
from nexdyn.kernel import formula, kernel
from nexdyn.model.callbacks import failure
from nexdyn.model.system import System
from nexdyn.spatial.algebra import Force, T, Vec3, cross
from nexdyn.spatial.table import ForceRows, PoseRows
from nexdyn.tree.core import tables
from nexdyn.tree.core.compile import Compiled
from nexdyn.tree.core.crba import unit_columns
from nexdyn.tree.core.energy import gravity_energy, kinetic_energy
from nexdyn.tree.core.kinematics import kinematics, world_poses
from nexdyn.tree.core.rnea import inverse_dynamics
from nexdyn.tree.elements import act, energy_of_elements, place_of_bodies, wound
from nexdyn.tree.loads import joint_energy
from nexdyn.tree.loops.cuts import (
    add_ball_wrench,
    add_term_wrench,
    ball_efforts,
    ball_energy,
    ball_pair,
    ball_wrench,
    measure_cut_joints,
    own_effort,
)  # fmt: skip
from nexdyn.tree.loops.loops import link_pair
from nexdyn.tree.loops.tables import Rows, loop_tables
from nexdyn.tree.observe import Observation, tell
from nexdyn.tree.tree import Tree
from nexdyn.tree.wound import angles_along, counted

NO_FORCES = ForceTables(np.zeros((0, ForceEntry.columns), dtype=np.int64), np.zeros((0, 24)), np.zeros(0))


@formula
def wrench_on_child(tables_, X_W, k, e, t, near, size, child_first, k_joint):
    """`size` times the gradient of term e of pair k on the child of the joint whose pair is k_joint, at the joint's point
    in its parent-side frame. The child may come first in pair k."""
    a, b = BodyPairs(tables_.pairs)[k_joint].a, BodyPairs(tables_.pairs)[k_joint].b
    joint = link_pair(tables_, k_joint, a, b, X_W)
    pair = link_pair(tables_, k, BodyPairs(tables_.pairs)[k].a, BodyPairs(tables_.pairs)[k].b, X_W)
    g = gradient(tables_, e, t, pair, near)
    n, f = g.w_b, g.v_b
    if child_first:
        n, f = g.w_a, g.v_a
    n, f = size * n, size * f
    n = n + cross(X_W[b].p - (X_W[a].p + joint.s_A), f)
    Rt = T(joint.R_A)
    return Force(Rt @ n, Rt @ f)


@kernel
def cut_reactions(work, loops, joints, of_term, child_first, t, lam, out):
    """out (n, 6): wrenches of the joints with pairs `joints` (n,) on their children; of_term (nt,): whose term, or −1;
    child_first (nt,): whether the child comes first in the pair of a term."""
    tables_, X_W, R = loops.tables, work.spare.X_W, ForceRows(out, 0)
    o = Vec3(0.0, 0.0, 0.0)
    for n in range(len(joints)):
        R[n] = Force(o, o)
    for r in range(len(tables_.rows)):
        row = RowsOfTerms(tables_.rows)[r]
        for e in range(row.first, row.first + row.count):
            n = of_term[e]
            if n >= 0:
                k, size = Terms(tables_.terms)[e].pair, -lam[r] * tables_.scale[e]
                R[n] = R[n] + wrench_on_child(tables_, X_W, k, e, t, loops.near, size, child_first[e], joints[n])


@formula
def own_acceleration(work, loops, n, t):
    """q̈ of a coordinate of a cut joint, from the accelerations of the links."""
    tables_, k, e = loops.tables, loops.own[n].pair, loops.own[n].term
    X_W, V, A = work.spare.X_W, work.body.V, work.body.A
    a, b = BodyPairs(tables_.pairs)[k].a, BodyPairs(tables_.pairs)[k].b
    R_a, R_b = X_W[a].R, X_W[b].R
    pair = link_pair(tables_, k, a, b, X_W)
    V_ab = PairVelocity(R_a @ V[a].w, R_a @ V[a].v, R_b @ V[b].w, R_b @ V[b].v)
    g = gradient(tables_, e, t, pair, loops.near)
    v_a, v_b = A[a].v + cross(V[a].w, V[a].v), A[b].v + cross(V[b].w, V[b].v)
    linear = g.w_a @ (R_a @ A[a].w) + g.v_a @ (R_a @ v_a) + g.w_b @ (R_b @ A[b].w) + g.v_b @ (R_b @ v_b)
    return linear + second(tables_, e, t, pair, loops.near, V_ab, V_ab)


@kernel
def observe_loops(
    model, work, loops, frames, forces, joints, of_term, transmits, external, child_first, t, q, v, a, lam, z, followed,
    q_all, v_all,
    tau, poses, twists, rates, wrenches, reactions, energies, own,
):  # fmt: skip
    """As `observe`, with rows: wrenches and reactions (N, nb + nc, 6) hold the cut joints behind those of the tree.

    of_term, transmits (nt,): the cut joint of whose own row a term is, and that which transmits its force; external (nt,): whether
    its force comes to the links of the tree from outside. q_all, v_all, tau: room for a state with the coordinates of cut
    joints; own (N, 3, no): these, their velocities and accelerations.
    """
    X_W, F_ext = work.spare.X_W, work.body.external
    tables_, nb, o = loops.tables, len(model.topology) - 1, Vec3(0.0, 0.0, 0.0)
    nq, nv = q.shape[1], v.shape[1]
    for s in range(len(t)):
        for k in range(nq):
            q_all[k] = q[s, k]
        for j in range(nv):
            v_all[j] = v[s, j]
        for j in range(len(tau)):
            tau[j] = 0.0
        set_states(forces, z, s)
        for k in range(followed.shape[1]):
            loops.near[k] = followed[s, k]
        kinematics(model, q_all, v_all, work)
        unit_columns(model, work)
        world_poses(model, work, X_W)
        for r in range(len(tables_.rows)):
            row = RowsOfTerms(tables_.rows)[r]
            for e in range(row.first, row.first + row.count):
                k = Terms(tables_.terms)[e].pair
                pair = link_pair(tables_, k, BodyPairs(tables_.pairs)[k].a, BodyPairs(tables_.pairs)[k].b, X_W)
                value(tables_, e, t[s], pair, loops.near)
        measure_cut_joints(model, work, loops, t[s], q_all, v_all)
        for n in range(len(loops.own)):
            own[s, 0, n], own[s, 1, n] = q_all[loops.own[n].q], v_all[loops.own[n].v]
        for i in range(len(model.topology)):
            F_ext[i] = Force(o, o)
        status = act(model, work, t[s], q_all, v_all, tau, forces)
        if status != 0:
            return status, s
        # act has computed velocities, and H as the joints store it
        unit_columns(model, work)
        elastic = 0.0
        cut_reactions(work, loops, joints, of_term, child_first, t[s], lam[s], reactions[s, nb:])
        cut_reactions(work, loops, joints, transmits, child_first, t[s], lam[s], wrenches[s, nb:])
        W = ForceRows(wrenches[s], 0)
        for n in range(len(loops.own)):
            place, x = loops.own[n], q_all[loops.own[n].q]
            k, e, j = place.pair, place.term, place.joint
            effort = tau[place.v] + own_effort(loops, n, q_all, v_all)
            add_term_wrench(tables_, work, k, e, t[s], loops.near, effort)
            elastic += 0.5 * loops.efforts[n].stiffness * (x - loops.efforts[n].rest) ** 2
            F = wrench_on_child(tables_, X_W, k, e, t[s], loops.near, effort, child_first[e], joints[j])
            W[nb + j] = W[nb + j] + F
        for n in range(len(loops.balls)):
            pair = ball_pair(loops, n, X_W)
            elastic += ball_energy(loops, n, pair)
            ball_efforts(loops, n, pair, v_all, tau)
            F = ball_wrench(loops, n, pair, tau)
            add_ball_wrench(loops, work, n, pair, F)
            j, Rt = loops.balls[n].joint, T(pair.R_A)
            W[nb + j] = W[nb + j] + Force(Rt @ (F.n + cross(pair.d, F.f)), Rt @ F.f)
        for r in range(len(tables_.rows)):
            row = RowsOfTerms(tables_.rows)[r]
            for e in range(row.first, row.first + row.count):
                if external[e]:
                    size = -lam[s, r] * tables_.scale[e]
                    add_term_wrench(tables_, work, Terms(tables_.terms)[e].pair, e, t[s], loops.near, size)
        inverse_dynamics(model, q_all, v_all, a[s], work, tau)
        for n in range(len(loops.own)):
            own[s, 2, n] = own_acceleration(work, loops, n, t[s])
        tell(model, work, PoseRows(frames, 0), q_all, poses[s], twists[s], rates[s], wrenches[s], reactions[s])
        energies[s, 0] = kinetic_energy(model, v_all, work)
        energies[s, 1] = gravity_energy(model, X_W)
        energies[s, 2] = joint_energy(model, q_all) + energy_of_elements(work, q_all, forces) + elastic
    return 0, len(t)


@dataclass(frozen=True)
class LoopObservation(Observation):
    """As `Observation`; the joints that were cut stand behind those of the tree. Their coordinates, as far as these are
    numbers, with velocities and accelerations, are own_q, own_v, own_a (N, no)."""

    own_q: np.ndarray
    own_v: np.ndarray
    own_a: np.ndarray


class LoopObserver:
    """Observes motions of a tree with rows: on the tables in which welded bodies are links of their own."""

    def __init__(self, system: System, tree: Tree, cut: list[str], dropped: Collection[str] = ()) -> None:
        self.system, self.cut, self.tree = system, cut, tree
        c = self.compiled = tree.unmerged
        self.rows = loop_tables(system, c, cut, dropped=dropped)
        self.near = self.rows.tables.near.copy()
        names = list(system.joints)
        number = {name: n for n, name in enumerate(cut)}
        self.joints = np.array([names.index(name) for name in cut], dtype=np.int64)
        given = self.rows.tables.tables
        self.of_term, self.transmits = np.full((2, len(given.terms)), -1, dtype=np.int64)
        self.external = np.zeros(len(given.terms), dtype=np.bool_)
        for r, row in enumerate(self.rows.rows):
            first, tied = int(RowsOfTerms(given.rows)[r].first), tied_joints(system, row)
            for i in range(int(RowsOfTerms(given.rows)[r].count)):
                joint = tied[i] if tied else row.joint
                n = self.transmits[first + i] = number.get(joint, -1)
                # what drives a joint of the tree, or ties it to another, is part of what the joint transmits
                self.external[first + i] = n >= 0 or not joint
                if row.driver is None and not tied:
                    self.of_term[first + i] = n

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
        angles: np.ndarray | None = None,
    ) -> LoopObservation:
        """Samples t (N,), q (N, nq), v, a (N, nv), multipliers lam (N, m) and states of forces z (N, nz), by default as at
        the start of a run; followed (N, nk) and angles (N, nw) of springs, without which they go on from sample to sample. SolveError
        where a force fails."""
        c, loops = self.compiled, self.rows.tables
        forces = forces_of(self.system, c, self.rows, counting=True) if with_forces else NO_FORCES
        loops.near[:] = self.near
        z = np.tile(forces.z, (len(t), 1)) if z is None or not with_forces else z
        if followed is None or followed.shape != (len(t), len(self.rows.near)):
            followed = np.zeros((len(t), 0))
        if len(forces.winding):
            z = np.hstack([z, angles_along(self.tree, q) if angles is None else angles])
        n, nb, nc, no, beyond = len(t), len(c.arc_of_link) - 1, len(self.cut), len(loops.own), self.rows.beyond
        frames = np.concatenate([c.R_LB.reshape(nb, 9), c.p_LB], axis=1)
        poses, energies = np.empty((n, nb, 12)), np.empty((n, 3))
        twists, rates = np.empty((2, n, nb, 6))
        wrenches, reactions = np.empty((2, n, nb + nc, 6))
        own = np.empty((n, 3, no))
        status, failed = observe_loops(  # type: ignore[call-arg]
            c.model, tables.new_work(nb, c.nv), loops, frames, forces, self.joints, self.of_term, self.transmits,
            self.external, self.rows.child_first, *(np.ascontiguousarray(x) for x in (t, q, v, a, lam, z, followed)),
            np.zeros(c.nq + beyond), np.zeros(c.nv + beyond), np.zeros(c.nv + beyond), poses, twists, rates, wrenches, reactions,
            energies, own,
        )  # fmt: skip
        if status >= FORCE_FAILED:
            element = list(self.system.forces.values())[status - FORCE_FAILED]
            raise failure(element, float(t[failed]), element.callbacks())
        return LoopObservation(
            poses[..., :9].reshape(n, nb, 3, 3), poses[..., 9:], twists[..., :3], twists[..., 3:], rates[..., :3],
            rates[..., 3:], wrenches, reactions, energies[:, 0], energies[:, 1], energies[:, 2],
            own[:, 0], own[:, 1], own[:, 2],
        )  # fmt: skip


def forces_of(system: System, c: Compiled, rows: Rows, counting: bool = False) -> ForceTables:
    """The force elements of a system whose loops were cut: those in joints that were cut act in `rows.own`. counting: with states of
    ``wound``."""
    arcs = {arc.name: a for a, arc in enumerate(c.forest.arcs)}
    first: dict[str, tuple[int, int]] = {}
    for n, (joint, _) in enumerate(rows.own):
        first.setdefault(joint, (c.nq + n, c.nv + n))
    for ball, j in zip(rows.balls, rows.tables.balls.v.tolist(), strict=True):
        first[ball.name] = c.nq + j - c.nv, j

    def freedom(joint: str) -> tuple[int, int]:
        return first[joint] if joint in first else (int(c.first_q[arcs[joint]]), int(c.first_v[arcs[joint]]))

    if not system.forces:
        return NO_FORCES
    forces = wound(system, force_tables(system, place_of_bodies(c), freedom), freedom, arcs)
    return counted(system, forces, c.forest) if counting else forces
