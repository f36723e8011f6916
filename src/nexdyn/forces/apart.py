"""Surfaces that are too far from each other to touch: of most pairs of a pile, and found before all else.

    |p_A − p_B| > r                 two surfaces, r_A and r_B how far they reach from the origins of their frames, r = r_A + r_B
    n · (p_A − p_B) − o > r         a surface above a plane of B, whose normal is n and which lies at o along it, r = r_A;
                                    above one of A with A and B in each other's place

What is apart does not press, and what friction held has let go of it. Lanes are not looked at: some of them may touch.

Data: `Far`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.forces.contact_data import PointData
from nexdyn.forces.kinds import CONTACT, SURFACE
from nexdyn.forces.tables import ForceEntries, frames_a, frames_b
from nexdyn.kernel import formula, overloaded
from nexdyn.spatial.lanes import pack


def apart(forces: Any, e: Any, X_a: Any, X_b: Any, x: Any) -> Any:
    """Whether force e is a contact of surfaces that are too far from each other to touch, the bodies a and b at X_a and X_b, whose numbers
    are like x."""
    return False if isinstance(x, np.ndarray) else apart_here(forces, e, X_a, X_b)


@overloaded(apart)
def _apart(forces, e, X_a, X_b, x):
    if x is pack:
        return lambda forces, e, X_a, X_b, x: False
    return lambda forces, e, X_a, X_b, x: apart_here(forces, e, X_a, X_b)


def let_go(forces: Any, e: Any, x: Any) -> None:
    """What friction of contact e holds where it is apart: nothing. Lanes hold nothing."""
    if not isinstance(x, np.ndarray):
        let_go_here(forces, e)


@overloaded(let_go)
def _let_go(forces, e, x):
    if x is pack:
        return lambda forces, e, x: None
    return lambda forces, e, x: let_go_here(forces, e)


@formula
def apart_here(forces, e, X_a, X_b):
    """The same of one system."""
    force = ForceEntries(forces.index)[e]
    if force.kind != CONTACT and force.kind != SURFACE:
        return False
    X_aA, X_bB, far = frames_a(forces)[e], frames_b(forces)[e], PointData(forces.data, force.first).far
    d = X_a.p + X_a.R @ X_aA.p - X_b.p - X_b.R @ X_bB.p
    if far.side == 0.0:
        return d @ d > far.reach * far.reach
    n = X_b.R @ (X_bB.R @ far.n) if far.side > 0.0 else X_a.R @ (X_aA.R @ far.n)
    return far.side * (n @ d) - far.offset > far.reach


@formula
def let_go_here(forces, e):
    """The same of one system."""
    force = ForceEntries(forces.index)[e]
    for m in range(force.state, force.state + force.states):
        forces.z[m] = forces.rate[m] = forces.bound[m] = forces.inside[m] = forces.inner[m] = 0.0
