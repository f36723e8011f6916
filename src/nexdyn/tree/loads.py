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
from nexdyn.tree.tables import (
    DAMPING,
    EFFORTS,
    FRICTION,
    FRICTION_SPEED,
    FRICTIONAL,
    IQ,
    IV,
    KIND,
    NO_EFFORT,
    NV,
    REST,
    STIFFNESS,
)  # fmt: skip


@formula
def joint_efforts(model, q, v, tau):
    """τ of springs, dampers and friction in the joints."""
    topology, freedom = model.topology, model.freedom
    for i in range(1, len(topology)):
        kind, k, first, count = topology[i, KIND], topology[i, IQ], topology[i, IV], topology[i, NV]
        if topology[i, EFFORTS] == NO_EFFORT:
            for j in range(first, first + count):
                tau[j] = zero(v[j])
            continue
        if kind == SPHERICAL:
            K = Vec3(freedom[first, STIFFNESS], freedom[first + 1, STIFFNESS], freedom[first + 2, STIFFNESS])
            rest = Vec3(freedom[first, REST], freedom[first + 1, REST], freedom[first + 2, REST])
            torque = spherical_spring(Quat(q[k], q[k + 1], q[k + 2], q[k + 3]), K, rest)
            tau[first], tau[first + 1], tau[first + 2] = torque.x, torque.y, torque.z
            for j in range(first, first + 3):
                tau[j] = tau[j] - freedom[j, DAMPING] * v[j]
        elif kind == FREE:
            for j in range(first, first + count):
                tau[j] = -(freedom[j, DAMPING] * v[j])
        else:
            for m in range(count):
                j = first + m
                tau[j] = spring_damper(q[k + m], v[j], freedom[j, STIFFNESS], freedom[j, REST], freedom[j, DAMPING])
        if topology[i, EFFORTS] == FRICTIONAL:
            for j in range(first, first + count):
                tau[j] = tau[j] + friction_effort(v[j], freedom[j, FRICTION], freedom[j, FRICTION_SPEED])


@formula
def joint_energy(model, q):
    """Energy [J] of the springs in the joints."""
    topology, freedom = model.topology, model.freedom
    U = zero(model.body[0, 0])
    for i in range(1, len(topology)):
        kind, k, first = topology[i, KIND], topology[i, IQ], topology[i, IV]
        if topology[i, EFFORTS] == NO_EFFORT or kind == FREE:
            continue
        if kind == SPHERICAL:
            phi = log_quaternion(Quat(q[k], q[k + 1], q[k + 2], q[k + 3]))
            U = U + spring_energy(phi.x, freedom[first, STIFFNESS], freedom[first, REST])
            U = U + spring_energy(phi.y, freedom[first + 1, STIFFNESS], freedom[first + 1, REST])
            U = U + spring_energy(phi.z, freedom[first + 2, STIFFNESS], freedom[first + 2, REST])
        else:
            for m in range(topology[i, NV]):
                U = U + spring_energy(q[k + m], freedom[first + m, STIFFNESS], freedom[first + m, REST])
    return U
