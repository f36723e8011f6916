"""What acts on a tree in motion: the efforts of the joints themselves, and the force elements.

    τ_j = spring, damper and friction of degree of freedom j;   F_ext of a body = Σ wrenches on it, in its frame

Force elements know poses and velocities of marker frames in world axes, nothing of the tree.
"""

from __future__ import annotations

from nexdyn.forces.joint import friction_effort, spherical_spring, spring_damper, spring_energy
from nexdyn.joints.kinds import FREE, SPHERICAL
from nexdyn.joints.on_tree import described_as
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Quat, Vec3, log_quaternion
from nexdyn.spatial.lanes import zero
from nexdyn.tree.core.tables import FRICTIONAL, NO_EFFORT


@formula
def joint_efforts(model, q, v, tau):
    """τ of springs, dampers and friction in the joints."""
    bodies, dofs = model.topology, model.freedom
    for i in range(1, len(bodies)):
        kind, k, first, count = described_as(bodies[i].kind), bodies[i].iq, bodies[i].iv, bodies[i].nv
        if bodies[i].efforts == NO_EFFORT:
            for j in range(first, first + count):
                tau[j] = zero(v[j])
            continue
        if kind == SPHERICAL:
            K = Vec3(dofs[first].stiffness, dofs[first + 1].stiffness, dofs[first + 2].stiffness)
            rest = Vec3(dofs[first].rest, dofs[first + 1].rest, dofs[first + 2].rest)
            torque = spherical_spring(Quat(q[k], q[k + 1], q[k + 2], q[k + 3]), K, rest)
            tau[first], tau[first + 1], tau[first + 2] = torque.x, torque.y, torque.z
            for j in range(first, first + 3):
                tau[j] = tau[j] - dofs[j].damping * v[j]
        elif kind == FREE:
            for j in range(first, first + count):
                tau[j] = -(dofs[j].damping * v[j])
        else:
            for m in range(count):
                j = first + m
                tau[j] = spring_damper(q[k + m], v[j], dofs[j].stiffness, dofs[j].rest, dofs[j].damping)
        if bodies[i].efforts == FRICTIONAL:
            for j in range(first, first + count):
                tau[j] = tau[j] + friction_effort(v[j], dofs[j].friction, dofs[j].friction_speed)


@formula
def joint_energy(model, q):
    """Energy [J] of the springs in the joints."""
    bodies, dofs = model.topology, model.freedom
    U = zero(model.body[0].pitch)
    for i in range(1, len(bodies)):
        kind, k, first = described_as(bodies[i].kind), bodies[i].iq, bodies[i].iv
        if bodies[i].efforts == NO_EFFORT or kind == FREE:
            continue
        if kind == SPHERICAL:
            phi = log_quaternion(Quat(q[k], q[k + 1], q[k + 2], q[k + 3]))
            U = U + spring_energy(phi.x, dofs[first].stiffness, dofs[first].rest)
            U = U + spring_energy(phi.y, dofs[first + 1].stiffness, dofs[first + 1].rest)
            U = U + spring_energy(phi.z, dofs[first + 2].stiffness, dofs[first + 2].rest)
        else:
            for m in range(bodies[i].nv):
                U = U + spring_energy(q[k + m], dofs[first + m].stiffness, dofs[first + m].rest)
    return U
