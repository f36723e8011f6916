"""Surfaces that are too far from each other to touch: of most pairs of a pile, and found before all else.

    |p_A − p_B| > r                 two surfaces, r_A and r_B how far they reach from the origins of their frames, r = r_A + r_B
    n · (p_A − p_B) − o > r         a surface above a plane of B, whose normal is n and which lies at o along it, r = r_A;
                                    above one of A with A and B in each other's place

What is apart does not press, and what friction held has let go of it. Lanes are not looked at: some of them may touch.

Data: r (1e300 of what has no end), 0 or the side of the plane (1: B, −1: A), n in the axes of its frame, o.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.forces.contact import FAR, state
from nexdyn.forces.kinds import CONTACT, SURFACE
from nexdyn.forces.tables import FIRST, KIND, STATE, STATES, frames_a, frames_b
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
    kind, k, data = forces.index[e, KIND], forces.index[e, FIRST] + FAR, forces.data
    if kind != CONTACT and kind != SURFACE:
        return False
    X_aA, X_bB = frames_a(forces)[e], frames_b(forces)[e]
    d, r, side = X_a.p + X_a.R @ X_aA.p - X_b.p - X_b.R @ X_bB.p, data[k], data[k + 1]
    if side == 0.0:
        return d @ d > r * r
    n = X_b.R @ (X_bB.R @ state(data, k + 2)) if side > 0.0 else X_a.R @ (X_aA.R @ state(data, k + 2))
    return side * (n @ d) - data[k + 5] > r


@formula
def let_go_here(forces, e):
    """The same of one system."""
    for m in range(forces.index[e, STATE], forces.index[e, STATE] + forces.index[e, STATES]):
        forces.z[m] = forces.rate[m] = forces.bound[m] = forces.inside[m] = forces.inner[m] = 0.0
