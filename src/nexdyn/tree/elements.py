"""Force elements on a tree. Without elements (None) nothing is compiled and nothing costs.

X_WF = X_Wi X_iF,   V_F = (R ω, R (v + ω × p_iF))                 of the frames A and B of an element
F_ext,i += the wrench at the frame's origin, moved to body i;      τ_j += effort in a degree of freedom

Torsion springs whose turns no coordinate counts: ``wound``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from nexdyn.forces import torsion_spring
from nexdyn.forces.apart import apart, let_go
from nexdyn.forces.kinds import TORSION_SPRING
from nexdyn.forces.nearby import choose
from nexdyn.forces.nearby import count as count_near
from nexdyn.forces.page import keep
from nexdyn.forces.states import count
from nexdyn.forces.tables import NO_DOF, ForceEntries, ForceTables, Place, force_tables, frames_a, frames_b
from nexdyn.forces.torsion_spring import Twist, refer, windings
from nexdyn.forces.verbs import element_energy, force_element, freedom_element, freedom_energy
from nexdyn.generic import defines, generic
from nexdyn.integrate.problem import FORCE_FAILED, OK
from nexdyn.kernel import formula
from nexdyn.model.system import System
from nexdyn.spatial.algebra import Force, Motion, T, Vec3, cross
from nexdyn.spatial.lanes import zero
from nexdyn.tree.core.compile import Compiled
from nexdyn.tree.core.kinematics import kinematics, world_poses
from nexdyn.tree.wound import counted
from nexdyn.variants import leaves_out

act = generic("act", "Put the wrenches of force elements in F_ext, add their efforts to τ; returns a status.")
energy_of_elements = generic("energy_of_elements", "Elastic energy [J] of the force elements.")


def tables_of(system: System, compiled: Compiled, counting: bool = False) -> ForceTables | None:
    """The force tables of `system` on these tables of its tree; None without forces. counting: with angles that are states."""
    if leaves_out(not system.forces):
        return None
    of_joint = {arc.name: a for a, arc in enumerate(compiled.forest.arcs) if arc.joint is not None}

    def freedom(joint: str) -> tuple[int, int]:
        return int(compiled.first_q[of_joint[joint]]), int(compiled.first_v[of_joint[joint]])

    forces = wound(system, force_tables(system, place_of_bodies(compiled), freedom), freedom, of_joint)
    return counted(system, forces, compiled.forest) if counting else forces


def wound(
    system: System, forces: ForceTables, freedom: Callable[[str], tuple[int, int]], joints: Collection[str]
) -> ForceTables:
    """The tables with the coordinates of `joints` that wind torsion springs up."""
    data: list[float] = []
    first = len(forces.data)
    paths = windings(system, [name for name in joints if name in system.joints])
    for e, name in enumerate(system.forces):
        if paths.get(name):
            Twist(forces.data, ForceEntries(forces.index)[e].first).path = first + len(data)
            data.append(len(paths[name]))
            for x in paths[name]:
                data += [freedom(x.joint)[0] + x.freedom, x.sign]
    return forces._replace(data=np.concatenate([forces.data, data])) if data else forces


def place_of_bodies(compiled: Compiled) -> Place:
    """Link, R_LB and p_LB of a body, by its name."""
    of_body = {arc.child.name: a for a, arc in enumerate(compiled.forest.arcs)}

    def place(body: str) -> tuple[int, Any, Any]:
        if body == "ground":
            return 0, np.eye(3), np.zeros(3)
        a = of_body[body]
        return int(compiled.link[a]), compiled.R_LB[a], compiled.p_LB[a]

    return place


@formula
def frame_velocity(X_W, V, p):
    """(ω, velocity of the point p of the body) in world axes."""
    return Motion(X_W.R @ V.w, X_W.R @ (V.v + cross(V.w, p)))


@formula
def add_at_frame(F_ext, i, X_W, p, F):
    """F_ext,i += the wrench F, in world axes at the point p of body i, expressed in the body."""
    Rt = T(X_W.R)
    n, f = Rt @ F.n, Rt @ F.f
    F_ext[i] = F_ext[i] + Force(n + cross(p, f), f)


@defines(act)
def _(model: Any, work: Any, t: float, q: Any, v: Any, tau: Any, forces: None) -> Any:
    return OK


@defines(act)
def _(model: Any, work: Any, t: float, q: Any, v: Any, tau: Any, forces: ForceTables) -> Any:
    X_W, V, F_ext = work.spare.X_W, work.body.V, work.body.external
    X_LA, X_LB = frames_a(forces), frames_b(forces)
    entries = ForceEntries(forces.index)
    kinematics(model, q, v, work)
    world_poses(model, work, X_W)
    o = zero(model.body[0].pitch)
    for i in range(len(model.topology)):
        F_ext[i] = Force(Vec3(o, o, o), Vec3(o, o, o))
    choose(forces, X_W, o)
    for n in range(count_near(forces)):
        e = forces.acting[n]
        force = entries[e]
        if force.dof != NO_DOF:
            j = force.dof
            status, effort = freedom_element(forces, e, t, q[force.coordinate], v[j])
            tau[j] = tau[j] + effort
        else:
            a, b = force.body_a, force.body_b
            if apart(forces, e, X_W[a], X_W[b], o):
                let_go(forces, e, o)
                continue
            V_A, V_B = frame_velocity(X_W[a], V[a], X_LA[e].p), frame_velocity(X_W[b], V[b], X_LB[e].p)
            if force.kind == TORSION_SPRING:
                refer(forces.data, force.first, q)
            status, F_A, F_B = force_element(forces, e, t, X_W[a] @ X_LA[e], V_A, X_W[b] @ X_LB[e], V_B)
            add_at_frame(F_ext, a, X_W[a], X_LA[e].p, F_A)
            add_at_frame(F_ext, b, X_W[b], X_LB[e].p, F_B)
        if status != OK:
            return FORCE_FAILED + e
    for i in range(len(forces.winding)):
        e = forces.winding[i]
        a, b = entries[e].body_a, entries[e].body_b
        V_A, V_B = frame_velocity(X_W[a], V[a], X_LA[e].p), frame_velocity(X_W[b], V[b], X_LB[e].p)
        rate = torsion_spring.rate(X_W[a] @ X_LA[e], V_A, X_W[b] @ X_LB[e], V_B)
        keep(forces.rate, count(forces) + i, rate)
    return OK


@defines(energy_of_elements)
def _(work: Any, q: Any, forces: None) -> Any:
    return 0.0


@defines(energy_of_elements)
def _(work: Any, q: Any, forces: ForceTables) -> Any:
    X_W, X_LA, X_LB = work.spare.X_W, frames_a(forces), frames_b(forces)
    entries = ForceEntries(forces.index)
    U = 0.0
    choose(forces, X_W, zero(work.freedom[0].r))
    for n in range(count_near(forces)):
        e = forces.acting[n]
        force = entries[e]
        if force.dof != NO_DOF:
            U += freedom_energy(forces, e, q[force.coordinate])
        else:
            U += element_energy(forces, e, X_W[force.body_a] @ X_LA[e], X_W[force.body_b] @ X_LB[e])
    return U
