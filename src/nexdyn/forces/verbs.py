"""What every force can do, by its number: the verbs that the formulations call.

    force_element     status, forces on A and B of a force between frames
    freedom_element   status, effort of a force in a joint
    element_energy, freedom_energy   U, 0 where a force has none

The status is FAILED where finite motion gives a force that is not finite, or a function of time a coefficient that is not valid
(``contact_functions``); motion that is not finite itself is for the
integrator to see. Lanes carry their NaN and report no status. A joint's own spring, damper and friction: ``joint``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.forces.contact_functions import renewed
from nexdyn.forces.pages import effort_of, energy_in_freedom, energy_of, wrenches_of
from nexdyn.forces.tables import ForceEntries
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula, overloaded
from nexdyn.spatial.algebra import Force, Motion, Pose, Vec3
from nexdyn.spatial.lanes import pack, zero

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
def force_element(tables, e, t, X_WA, V_A, X_WB, V_B):
    """(status, F_A, F_B) of force e at time t, from the poses and velocities (of the origins) of its frames."""
    force = ForceEntries(tables.index)[e]
    k, o = force.first, zero(X_WA.p.x)
    if force.off != 0:
        nothing = Force(Vec3(o, o, o), Vec3(o, o, o))
        return OK, nothing, nothing
    valid = renewed(tables, e, t, X_WA.p.x)
    F_A, F_B = wrenches_of(force.kind, tables, e, t, tables.data, k, X_WA, V_A, X_WB, V_B, X_WA.p.x)
    status = OK
    if not is_finite(total(F_A) + total(F_B)):
        motion = total(V_A) + total(V_B) + total(X_WA) + total(X_WB)
        status = FAILED if is_finite(motion) else OK
    return status if valid else FAILED, F_A, F_B


@formula
def freedom_element(tables, e, t, q, v):
    """(status, effort) of force e at time t, from the coordinate and velocity of its degree of freedom."""
    force = ForceEntries(tables.index)[e]
    kind, k, data = force.kind, force.first, tables.data
    if force.off != 0:
        return OK, zero(q)
    effort = effort_of(kind, tables, e, t, data, k, q, v, q)
    status = OK
    if not is_finite(effort):
        status = FAILED if is_finite(q + v) else OK
    return status, effort


@formula
def element_energy(tables, e, X_WA, X_WB):
    """U of force e."""
    force = ForceEntries(tables.index)[e]
    kind, k, data = force.kind, force.first, tables.data
    if force.off != 0:
        return zero(X_WA.p.x)
    return energy_of(kind, tables, e, data, k, X_WA, X_WB, X_WA.p.x)


@formula
def freedom_energy(tables, e, q):
    """U of force e in a joint."""
    force = ForceEntries(tables.index)[e]
    kind, k, data = force.kind, force.first, tables.data
    if force.off != 0:
        return zero(q)
    return energy_in_freedom(kind, tables, e, data, k, q, q)
