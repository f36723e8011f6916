"""Which forces may act: all but contacts of bodies that are far from each other. A broad phase, as Verlet's lists are.

    gap      of contact e when the list was made: what ``apart`` compares, the distance less r, or the height less o and r
    on it    every other force, and contacts with gap ≤ s
    m_b      = |p − p₀| + ‖R − R₀‖ ρ: how far a point of body b has moved since, ρ that of the farthest frame of a contact on it
    anew     where 2 max m > s

A contact that is not on the list has at most moved by s, and is apart, as ``apart`` would say: what is computed is the same to the last
bit. With s large, the list is long; with s small, it is made anew often: s is `SKIN` times the median of r, or of
how far from the origin of its body a surface lies, if that is more.

Of a list that is to serve longer, as that of the bodies between which matrices have blocks, s is larger: `soon_near`.

Contacts with a plane on a body other than body 0, the world, are on the list always: where a body turns, its plane moves farther, far from
its origin, than what is watched. Whoever puts states of forces from outside calls `tables.forget_nearby`.

    acting   int64   (nf + 1,)   the numbers of the forces on the list, in order; how many there are stands last
    watched  float64 (nb, 13)    `Watched`: R₀, p₀ and ρ of each body; (0, 13) where there are fewer contacts than `FEW`: all are on it
    skin     float64 (1,)        s
    unsettled float64 (1,)       for how many steps those who keep states look at those of all forces, not at those on the list alone
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from nexdyn.forces.apart import let_go_here
from nexdyn.forces.contact_data import PointData
from nexdyn.forces.kinds import CONTACT, SURFACE
from nexdyn.forces.tables import UNSETTLED, ForceEntries, WatchedBodies, frames_a, frames_b
from nexdyn.kernel import formula, kernel, outlined, overloaded
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import pack
from nexdyn.spatial.table import PoseRows


def choose(forces: Any, X: Any, x: Any) -> None:
    """Bring the list up to date, the bodies at the poses X, whose numbers are like x. Lanes have all forces on it."""
    if not isinstance(x, np.ndarray):
        choose_here(forces, X)


@overloaded(choose)
def _choose(forces, X, x):
    if x is pack:
        return lambda forces, X, x: None
    return lambda forces, X, x: choose_here(forces, X)


@formula
def count(forces):
    """How many forces are on the list."""
    return forces.acting[len(forces.index)]


@formula
def choose_here(forces, X):
    """The same of one system; whether the list is another now."""
    for b in range(len(forces.watched)):
        if not moved(forces, b, X[b]) <= 0.5 * forces.skin[0]:  # not a number: nothing is near
            choose_anew(forces, X)
            return True
    return False


@formula
def moved(forces: Any, b: Any, X: Any) -> Any:
    """m of body b at X."""
    body, R = WatchedBodies(forces.watched)[b], X.R
    Q, d = body.before.R, X.p - body.before.p
    x: Any = Vec3(R.xx - Q.xx, R.xy - Q.xy, R.xz - Q.xz)
    y: Any = Vec3(R.yx - Q.yx, R.yy - Q.yy, R.yz - Q.yz)
    z: Any = Vec3(R.zx - Q.zx, R.zy - Q.zy, R.zz - Q.zz)
    return sqrt(d @ d) + sqrt(x @ x + y @ y + z @ z) * body.arm


@outlined
def choose_anew(forces, X):
    """The list from the poses X. What friction of a contact off it held has let go."""
    seen, n = WatchedBodies(forces.watched).before, 0
    for b in range(len(forces.watched)):
        seen[b] = X[b]
    for e in range(len(forces.index)):
        if is_near(forces, e, X, forces.skin[0]):
            forces.acting[n] = e
            n += 1
        else:
            let_go_here(forces, e)
    forces.acting[len(forces.index)] = n
    forces.unsettled[0] = UNSETTLED


@kernel
def soon_near(forces, poses, s, out):
    """out[e] ← whether force e would be on a list with s, the bodies at `poses` (nb + 1, 12)."""
    X = PoseRows(poses, 0)
    for e in range(len(forces.index)):
        out[e] = is_near(forces, e, X, s)


@formula
def is_near(forces, e, X, s):
    """Whether force e is on the list, the bodies at X."""
    force = ForceEntries(forces.index)[e]
    if force.kind != CONTACT and force.kind != SURFACE:
        return True
    a, b, far = force.body_a, force.body_b, PointData(forces.data, force.first).far
    X_a, X_b, X_aA, X_bB = X[a], X[b], frames_a(forces)[e], frames_b(forces)[e]
    d, r = X_a.p + X_a.R @ X_aA.p - X_b.p - X_b.R @ X_bB.p, far.reach + s
    if far.side == 0.0:
        return not d @ d > r * r
    if (b if far.side > 0.0 else a) != 0:
        return True  # its plane moves
    n = X_b.R @ (X_bB.R @ far.n) if far.side > 0.0 else X_a.R @ (X_aA.R @ far.n)
    return not far.side * (n @ d) - far.offset > r
