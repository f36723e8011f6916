"""Which springs, and which points of contact, are looked at: all but those of spheres that are far from each other (``forces.nearby``).

    on the list   every other spring, those that pressed when the step began, and c ≤ c_min + g + s, with g = `skin` of the spring
    anew          where 2 max m > s

A spring that is not on the list has c > c_min + g: it does not press, and the Hessian needs no block of its bodies. Its c is infinite
until it is on the list again; then it is that of the step's start. BDF2 takes the same for c a step before: where it matters, something
begins to press, and the step is taken again as one of implicit Euler (``step``).

    acting    int64   (ns + 1,)  the numbers of the springs on the list, in order; how many there are stands last. Likewise of points
    watched   float64 (nb + 1, 13)  `Watched`: R₀, p₀ of each body, and ρ; (0, 13) where all are on the list
    slack     float64 (1,)       s
"""

from __future__ import annotations

import math
from typing import Any

from nexdyn.constraints.pair import Pair
from nexdyn.forces.joint_stop import Stop
from nexdyn.forces.nearby import moved
from nexdyn.forces.tables import WatchedBodies
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula, outlined
from nexdyn.potential.pairs import pair_at, pair_of
from nexdyn.potential.tables import LAW, ContactTables, Holdings, PointEntries, PointStates, SpringEntries
from nexdyn.spatial.algebra import Pose, Vec3
from nexdyn.spatial.table import PoseRows

list_points = generic("list_points", "Bring the list of points of contact up to date; those off it hold nothing.")


@formula
def listed(springs):
    """How many springs are on the list."""
    return springs.acting[len(springs.index)]


@formula
def place_now(work, b):
    """R and the centre of mass of body b at x."""
    X0, X = PoseRows(work.base, 0)[b], PoseRows(work.pose, 0)[b]
    return Pose(X.R, X0.p + X.p)


@formula
def choose_springs(model, springs, work):
    """Bring the list up to date, the bodies at x."""
    for b in range(len(springs.watched)):
        if not moved(springs, b, place_now(work, b)) <= 0.5 * springs.slack[0]:  # not a number: nothing is near
            choose_anew(model, springs, work)
            break


@outlined
def choose_anew(model, springs, work):
    """The list from x."""
    seen, entries, n, state = WatchedBodies(springs.watched).before, SpringEntries(springs.index), 0, springs.state
    for b in range(len(springs.watched)):
        seen[b] = place_now(work, b)
    for e in range(len(springs.index)):
        if springs.skin[e] > 0.0:
            least = Stop(springs.data, entries[e].first + LAW).lower
            d = pair_at(springs.coordinates, e, PoseRows(work.base, 0), PoseRows(work.pose, 0)).d
            far = least + springs.skin[e] + springs.slack[0]
            if d @ d > far * far and state[e, 0] > least:
                state[e, 0] = math.inf
                springs.value[e, 1] = springs.value[e, 2] = 0.0
                continue
            if state[e, 0] == math.inf:
                d = at_start(springs.coordinates, e, work).d
                state[e, 0] = state[e, 2] = springs.past[e, 0] = math.sqrt(d @ d)
        springs.acting[n] = e
        n += 1
    springs.acting[len(springs.index)] = n
    list_points(springs, model.contacts)


@formula
def at_start(tables: Any, k: Any, work: Any) -> Pair:
    """The two frames of pair k at the start of the step."""
    X0, o = PoseRows(work.base, 0), Vec3(0.0, 0.0, 0.0)
    a, b = tables.pairs[k, 0], tables.pairs[k, 1]
    made: Pair = pair_of(tables, k, X0[a].p, X0[b].p, Pose(X0[a].R, o), Pose(X0[b].R, o))
    return made


@defines(list_points)
def _(springs: Any, contacts: None) -> Any:
    return None


@defines(list_points)
def _(springs: Any, contacts: ContactTables) -> Any:
    n = 0
    for k in range(len(contacts.index)):
        point = PointEntries(contacts.index)[k]
        if springs.state[point.spring, 0] < math.inf:
            contacts.acting[n] = k
            n += 1
            continue
        contacts.pressure[k] = 0.0
        if point.state >= 0:
            own, nothing = PointStates(springs.data, point.state), Vec3(0.0, 0.0, 0.0)
            own.before, own.y, own.now, own.slid = own.y, nothing, nothing, 1.0
            Holdings(contacts.grip)[k].whole = 1.0
    contacts.acting[len(contacts.index)] = n
