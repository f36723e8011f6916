"""What every force can do, by its number: the verbs that the formulations call.

    force_element     status, forces on A and B of a force between frames
    freedom_element   status, effort of a force in a joint
    element_energy, freedom_energy   U, 0 where a force has none

The status is FAILED where finite motion gives a force that is not finite, or a function of time a coefficient that is not valid
(``contact_functions``); motion that is not finite itself is for the
integrator to see. Lanes carry their NaN and report no status. A joint's own spring, damper and friction: ``joint``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nexdyn.forces import (
    actuator,
    applied,
    bushing,
    contact,
    force_table,
    gravity,
    joint_force,
    joint_friction,
    joint_stop,
    kinds,
    point_spring,
    surface_contact,
    torsion_spring,
    user,
)
from nexdyn.forces.contact_functions import renewed
from nexdyn.forces.states import keep
from nexdyn.forces.tables import FIRST, KIND, OFF, STATE, STATES
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula, overloaded
from nexdyn.spatial.algebra import Force, Motion, Pose, Vec3
from nexdyn.spatial.lanes import pack, zero

APPLIED, POINT_SPRING, TORSION_SPRING, BUSHING, FORCE_TABLE = (
    kinds.APPLIED, kinds.POINT_SPRING, kinds.TORSION_SPRING, kinds.BUSHING, kinds.FORCE_TABLE
)  # fmt: skip
CONTACT, SURFACE, ACTUATOR, JOINT_STOP, JOINT_FRICTION = (
    kinds.CONTACT, kinds.SURFACE, kinds.ACTUATOR, kinds.JOINT_STOP, kinds.JOINT_FRICTION
)  # fmt: skip
USER, POINT_GRAVITY, GRAVITY_FIELD = kinds.USER, kinds.POINT_GRAVITY, kinds.GRAVITY_FIELD
JOINT_FORCE, JOINT_TABLE, BUSHING_XYZ = kinds.JOINT_FORCE, kinds.JOINT_TABLE, kinds.BUSHING_XYZ

OK, FAILED = 0, 1


def is_finite(x):
    """Whether x is neither NaN nor infinite; lanes are not looked at."""
    return isinstance(x, np.ndarray) or x - x == 0.0


@overloaded(is_finite)
def _is_finite(x):
    return (lambda x: True) if x is pack else (lambda x: x - x == 0.0)


total = generic("total", "The sum of all components: not finite where one of them is not.")


@defines(total)
def _(F: Force) -> Any:
    return F.n.x + F.n.y + F.n.z + F.f.x + F.f.y + F.f.z


@defines(total)
def _(V: Motion) -> Any:
    return V.w.x + V.w.y + V.w.z + V.v.x + V.v.y + V.v.z


@defines(total)
def _(X: Pose) -> Any:
    R, p = X.R, X.p
    return R.xx + R.xy + R.xz + R.yx + R.yy + R.yz + R.zx + R.zy + R.zz + p.x + p.y + p.z


@formula
def element_wrenches(kind, t, data, k, X_WA, V_A, X_WB, V_B):
    """Forces on A and on B, each at its frame's origin, in world axes."""
    if kind == POINT_SPRING:
        return point_spring.wrench(data, k, X_WA, V_A, X_WB, V_B)
    if kind == APPLIED:
        o = zero(X_WA.p.x)
        return applied.wrench(t, data, k, X_WA), Force(Vec3(o, o, o), Vec3(o, o, o))
    if kind == TORSION_SPRING:
        return torsion_spring.wrench(data, k, X_WA, V_A, X_WB, V_B)
    if kind == BUSHING:
        return bushing.wrench(data, k, X_WA, V_A, X_WB, V_B)
    if kind == BUSHING_XYZ:
        return bushing.wrench_xyz(data, k, X_WA, V_A, X_WB, V_B)
    if kind == POINT_GRAVITY:
        return gravity.wrench(data, k, X_WA, X_WB)
    if kind == FORCE_TABLE:
        return force_table.wrench(data, k, X_WA, V_A, X_WB, V_B)
    if kind == CONTACT:
        return contact.wrench(data, k, X_WA, V_A, X_WB, V_B)
    return user.wrench(t, data, k, X_WA, V_A, X_WB, V_B)


@formula
def nowhere(x):
    """No number, in each lane."""
    o = zero(x) + math.nan
    return Force(Vec3(o, o, o), Vec3(o, o, o))


def sticking_contact(tables, e, k, X_WA, V_A, X_WB, V_B, x):
    """Forces on A and on B of a contact whose friction sticks; lanes, which carry none, give NaN."""
    return contact.sticking_wrench(tables, e, k, X_WA, V_A, X_WB, V_B)


@overloaded(sticking_contact)
def _sticking_contact(tables, e, k, X_WA, V_A, X_WB, V_B, x):
    if x is pack:
        return lambda tables, e, k, X_WA, V_A, X_WB, V_B, x: (nowhere(x), nowhere(x))
    return lambda tables, e, k, X_WA, V_A, X_WB, V_B, x: contact.sticking_wrench(tables, e, k, X_WA, V_A, X_WB, V_B)


def surface_contact_wrench(tables, e, k, X_WA, V_A, X_WB, V_B, x):
    """Forces on A and on B of surfaces in contact; lanes, which know none, give NaN."""
    return surface_contact.surface_wrench(tables.room, tables, e, k, (X_WA, V_A, X_WB, V_B))


@overloaded(surface_contact_wrench)
def _surface_contact_wrench(tables, e, k, X_WA, V_A, X_WB, V_B, x):
    if x is pack:
        return lambda tables, e, k, X_WA, V_A, X_WB, V_B, x: (nowhere(x), nowhere(x))
    return lambda tables, e, k, X_WA, V_A, X_WB, V_B, x: surface_contact.surface_wrench(
        tables.room, tables, e, k, (X_WA, V_A, X_WB, V_B)
    )


def surface_contact_energy(tables, e, k, X_WA, X_WB, x):
    """What surfaces in contact store; lanes, which know none, give NaN."""
    return surface_contact.surface_energy(tables.room, tables, e, k, X_WA, X_WB)


@overloaded(surface_contact_energy)
def _surface_contact_energy(tables, e, k, X_WA, X_WB, x):
    if x is pack:
        return lambda tables, e, k, X_WA, X_WB, x: zero(x) + math.nan
    return lambda tables, e, k, X_WA, X_WB, x: surface_contact.surface_energy(tables.room, tables, e, k, X_WA, X_WB)


def sticking_energy(tables, e, k, X_WA, X_WB, x):
    """What its friction stores; lanes, which carry none, give NaN."""
    return contact.held_energy(tables, e, k, X_WA, X_WB)


@overloaded(sticking_energy)
def _sticking_energy(tables, e, k, X_WA, X_WB, x):
    if x is pack:
        return lambda tables, e, k, X_WA, X_WB, x: zero(x) + math.nan
    return lambda tables, e, k, X_WA, X_WB, x: contact.held_energy(tables, e, k, X_WA, X_WB)


@formula
def force_element(tables, e, t, X_WA, V_A, X_WB, V_B):
    """(status, F_A, F_B) of force e at time t, from the poses and velocities (of the origins) of its frames."""
    k, o = tables.index[e, FIRST], zero(X_WA.p.x)
    if tables.index[e, OFF] != 0:
        nothing = Force(Vec3(o, o, o), Vec3(o, o, o))
        return OK, nothing, nothing
    valid = renewed(tables, e, t, X_WA.p.x)
    if tables.index[e, KIND] == CONTACT and tables.index[e, STATES] > 0:
        F_A, F_B = sticking_contact(tables, e, k, X_WA, V_A, X_WB, V_B, X_WA.p.x)
    elif tables.index[e, KIND] == USER and tables.index[e, STATES] > 0:
        F_A, F_B = stated_wrench(tables, e, t, k, X_WA, V_A, X_WB, V_B, X_WA.p.x)
    elif tables.index[e, KIND] == GRAVITY_FIELD:
        F_A, F_B = field_force(t, tables.data, k, X_WA, X_WA.p.x), Force(Vec3(o, o, o), Vec3(o, o, o))
    elif tables.index[e, KIND] == SURFACE:
        F_A, F_B = surface_contact_wrench(tables, e, k, X_WA, V_A, X_WB, V_B, X_WA.p.x)
    else:
        F_A, F_B = element_wrenches(tables.index[e, KIND], t, tables.data, k, X_WA, V_A, X_WB, V_B)
    status = OK
    if not is_finite(total(F_A) + total(F_B)):
        motion = total(V_A) + total(V_B) + total(X_WA) + total(X_WB)
        status = FAILED if is_finite(motion) else OK
    return status if valid else FAILED, F_A, F_B


def actuator_effort(tables, e, k, t, q, v):
    """τ of the actuator e; lanes, which carry no actuators, give NaN."""
    return one_actuator(tables, e, k, t, q, v)


@overloaded(actuator_effort)
def _actuator_effort(tables, e, k, t, q, v):
    if q is pack:
        return lambda tables, e, k, t, q, v: zero(q) + math.nan
    return lambda tables, e, k, t, q, v: one_actuator(tables, e, k, t, q, v)


def stated_wrench(tables, e, t, k, X_WA, V_A, X_WB, V_B, x):
    """Forces on A and on B of a user's force with states; lanes, which carry none, give NaN."""
    return user.stated_wrench(tables, e, t, k, X_WA, V_A, X_WB, V_B)


@overloaded(stated_wrench)
def _stated_wrench(tables, e, t, k, X_WA, V_A, X_WB, V_B, x):
    if x is pack:
        return lambda tables, e, t, k, X_WA, V_A, X_WB, V_B, x: (nowhere(x), nowhere(x))
    return lambda tables, e, t, k, X_WA, V_A, X_WB, V_B, x: user.stated_wrench(tables, e, t, k, X_WA, V_A, X_WB, V_B)


def field_force(t, data, k, X_WA, x):
    """Force on A of a field of gravity; lanes, which know none, give NaN."""
    return gravity.field_force(t, data, k, X_WA)


@overloaded(field_force)
def _field_force(t, data, k, X_WA, x):
    if x is pack:
        return lambda t, data, k, X_WA, x: nowhere(x)
    return lambda t, data, k, X_WA, x: gravity.field_force(t, data, k, X_WA)


def stated_effort(tables, e, t, k, q, v):
    """τ of a user's force with states; lanes, which carry none, give NaN."""
    return user.stated_effort(tables, e, t, k, q, v)


@overloaded(stated_effort)
def _stated_effort(tables, e, t, k, q, v):
    if q is pack:
        return lambda tables, e, t, k, q, v: zero(q) + math.nan
    return lambda tables, e, t, k, q, v: user.stated_effort(tables, e, t, k, q, v)


def friction_effort(tables, e, k, v):
    """τ of dry friction; lanes, which carry none that sticks, give NaN."""
    return one_friction(tables, e, k, v)


@overloaded(friction_effort)
def _friction_effort(tables, e, k, v):
    if v is pack:
        return lambda tables, e, k, v: zero(v) + math.nan
    return lambda tables, e, k, v: one_friction(tables, e, k, v)


@formula
def one_actuator(tables, e, k, t, q, v):
    """τ of the actuator e, and the rates of its states."""
    o, s = zero(q), tables.index[e, STATE]
    if tables.index[e, STATES] == 0:
        effort, _, _ = actuator.effort_and_rates(t, tables.data, k, q, v, o, o, 0.0)
        return effort
    z = tables.z
    effort, dx, dy = actuator.effort_and_rates(t, tables.data, k, q, v, o + z[s], o + z[s + 1], z[s + 2])
    keep(tables.rate, s, dx)
    keep(tables.rate, s + 1, dy)
    return effort


@formula
def one_friction(tables, e, k, v):
    """τ of dry friction, and the rate of its bristle."""
    s = tables.index[e, STATE]
    effort, rate = joint_friction.bristle(tables.data, k, v, tables.z[s])
    keep(tables.rate, s, rate)
    return effort


@formula
def freedom_element(tables, e, t, q, v):
    """(status, effort) of force e at time t, from the coordinate and velocity of its freedom."""
    kind, k, data = tables.index[e, KIND], tables.index[e, FIRST], tables.data
    if tables.index[e, OFF] != 0:
        return OK, zero(q)
    if kind == JOINT_FORCE:
        effort = joint_force.effort(t, data, k, q)
    elif kind == ACTUATOR:
        effort = actuator_effort(tables, e, k, t, q, v)
    elif kind == JOINT_FRICTION:
        effort = friction_effort(tables, e, k, v)
    elif kind == JOINT_STOP:
        effort = joint_stop.effort(tables.data, k, q, v)
    elif kind == JOINT_TABLE:
        effort = force_table.joint_table_effort(data, k, q, v)
    elif tables.index[e, STATES] > 0:
        effort = stated_effort(tables, e, t, k, q, v)
    else:
        effort = user.joint_effort(t, data, k, q, v)
    status = OK
    if not is_finite(effort):
        status = FAILED if is_finite(q + v) else OK
    return status, effort


@formula
def element_energy(tables, e, X_WA, X_WB):
    """U of force e."""
    kind, k, data = tables.index[e, KIND], tables.index[e, FIRST], tables.data
    if tables.index[e, OFF] != 0:
        return zero(X_WA.p.x)
    if kind == POINT_SPRING:
        return point_spring.energy(data, k, X_WA, X_WB)
    if kind == TORSION_SPRING:
        return torsion_spring.energy(data, k, X_WA, X_WB)
    if kind == BUSHING:
        return bushing.energy(data, k, X_WA, X_WB)
    if kind == BUSHING_XYZ:
        return bushing.energy_xyz(data, k, X_WA, X_WB)
    if kind == POINT_GRAVITY:
        return gravity.energy(data, k, X_WA, X_WB)
    if kind == FORCE_TABLE:
        return force_table.energy(data, k, X_WA, X_WB)
    if kind == SURFACE:
        return surface_contact_energy(tables, e, k, X_WA, X_WB, X_WA.p.x)
    if kind == CONTACT:
        U = contact.energy(data, k, X_WA, X_WB)
        return U + sticking_energy(tables, e, k, X_WA, X_WB, U) if tables.index[e, STATES] > 0 else U
    return zero(X_WA.p.x)


@formula
def freedom_energy(tables, e, q):
    """U of force e in a joint."""
    kind, k, data = tables.index[e, KIND], tables.index[e, FIRST], tables.data
    if tables.index[e, OFF] != 0:
        return zero(q)
    if kind == JOINT_TABLE:
        return force_table.joint_table_energy(data, k, q)
    if kind == JOINT_STOP:
        return joint_stop.energy(data, k, q)
    return zero(q)
