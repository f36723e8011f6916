"""What acts on a tree in motion: the efforts of the joints themselves, and the force elements.

    τ_j = spring, damper and friction of freedom j;   F_ext of a body = Σ wrenches on it, in its frame

Force elements know poses and velocities of marker frames in world axes, nothing of the tree.
"""

from __future__ import annotations

from nexdyn.forces.joint import friction_effort, spherical_spring, spring_damper, spring_energy
from nexdyn.joints.verbs import FREE, SPHERICAL
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Quat, Vec3, log_quaternion
from nexdyn.spatial.lanes import zero
from nexdyn.tree.tables import FRICTIONAL, NO_EFFORT


@formula
def joint_efforts(model, q, v, tau):
    """τ of springs, dampers and friction in the joints."""
    topology, freedom = model.topology, model.freedom
    for i in range(1, len(topology)):
        kind, k, first, count = topology[i].kind, topology[i].iq, topology[i].iv, topology[i].nv
        if topology[i].efforts == NO_EFFORT:
            for j in range(first, first + count):
                tau[j] = zero(v[j])
            continue
        if kind == SPHERICAL:
            K = Vec3(freedom[first].stiffness, freedom[first + 1].stiffness, freedom[first + 2].stiffness)
            rest = Vec3(freedom[first].rest, freedom[first + 1].rest, freedom[first + 2].rest)
            torque = spherical_spring(Quat(q[k], q[k + 1], q[k + 2], q[k + 3]), K, rest)
            tau[first], tau[first + 1], tau[first + 2] = torque.x, torque.y, torque.z
            for j in range(first, first + 3):
                tau[j] = tau[j] - freedom[j].damping * v[j]
        elif kind == FREE:
            for j in range(first, first + count):
                tau[j] = -(freedom[j].damping * v[j])
        else:
            for m in range(count):
                j = first + m
                tau[j] = spring_damper(q[k + m], v[j], freedom[j].stiffness, freedom[j].rest, freedom[j].damping)
        if topology[i].efforts == FRICTIONAL:
            for j in range(first, first + count):
                tau[j] = tau[j] + friction_effort(v[j], freedom[j].friction, freedom[j].friction_speed)


@formula
def joint_energy(model, q):
    """Energy [J] of the springs in the joints."""
    topology, freedom = model.topology, model.freedom
    U = zero(model.body[0].pitch)
    for i in range(1, len(topology)):
        kind, k, first = topology[i].kind, topology[i].iq, topology[i].iv
        if topology[i].efforts == NO_EFFORT or kind == FREE:
            continue
        if kind == SPHERICAL:
            phi = log_quaternion(Quat(q[k], q[k + 1], q[k + 2], q[k + 3]))
            U = U + spring_energy(phi.x, freedom[first].stiffness, freedom[first].rest)
            U = U + spring_energy(phi.y, freedom[first + 1].stiffness, freedom[first + 1].rest)
            U = U + spring_energy(phi.z, freedom[first + 2].stiffness, freedom[first + 2].rest)
        else:
            for m in range(topology[i].nv):
                U = U + spring_energy(q[k + m], freedom[first + m].stiffness, freedom[first + m].rest)
    return U
