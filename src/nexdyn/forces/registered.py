"""Forces of registered pages (``nexdyn.own``): what a page does is called by address, so that one kernel serves all pages.

    between A and B       wrenches, energy, slopes
    in a joint            effort, energy

A page has up to 16 numbers of its own, p. What a C function is given, and gives:

    wrenches   t;  X_WA, V_A, X_WB, V_B, p            F_A, F_B, each (moment, force)
    energy         X_WA, X_WB, p                      U
    slopes         X_WA, V_A, X_WB, V_B, p, γ h, β h² (6, 6), added to K
    effort     t;  q, v, p                            τ
    energy         q, p                               U

Of lanes one after another. Data: the addresses of the functions (0: not given), the number of numbers, and these.
"""

from __future__ import annotations

import math

import numpy as np

from nexdyn.forces.kinds import REGISTERED, REGISTERED_JOINT
from nexdyn.forces.page import TREE_LANES, Between, InFreedom
from nexdyn.kernel import formula, outlined, overloaded
from nexdyn.model.callbacks import call
from nexdyn.records import Record
from nexdyn.spatial.algebra import Force, Vec3
from nexdyn.spatial.by_lane import force_with_lane, motion_of_lane, pose_of_lane
from nexdyn.spatial.lanes import LANES, common, lane, pack, with_lane, zero

MOST_NUMBERS = 16
"""Numbers of a page, at most: what its call has room for."""
NAN = math.nan
NAN12 = (NAN,) * 12
NAN36 = (NAN,) * 36


class Called(Record):
    """Addresses, and how many numbers follow: `law` gives the wrenches or the effort."""

    law: float
    energy: float
    slopes: float
    count: float


HEAD = Called.columns


@formula
def number_at(data, k, i, s):
    """Number i of the page in lane s; 0 where it has none."""
    return lane(data[k + HEAD + i], s) if i < common(data, k + 3) else 0.0


@formula
def numbers_of(data, k, s):
    """The numbers of the page in lane s, as many as a call has room for."""
    return (
        number_at(data, k, 0, s), number_at(data, k, 1, s), number_at(data, k, 2, s), number_at(data, k, 3, s),
        number_at(data, k, 4, s), number_at(data, k, 5, s), number_at(data, k, 6, s), number_at(data, k, 7, s),
        number_at(data, k, 8, s), number_at(data, k, 9, s), number_at(data, k, 10, s), number_at(data, k, 11, s),
        number_at(data, k, 12, s), number_at(data, k, 13, s), number_at(data, k, 14, s), number_at(data, k, 15, s),
    )  # fmt: skip


# --- one system -------------------------------------------------------------------------------------------------------


@outlined
def one_pair(t, address, p, X_WA, V_A, X_WB, V_B):
    """F_A and F_B; NaN where the function fails."""
    status, out = call(address, t, (X_WA.R, X_WA.p, V_A, X_WB.R, X_WB.p, V_B, p), NAN12)
    wrong = 0.0 if status == 0 else NAN
    return (
        Force(Vec3(out[0] + wrong, out[1], out[2]), Vec3(out[3], out[4], out[5])),
        Force(Vec3(out[6] + wrong, out[7], out[8]), Vec3(out[9], out[10], out[11])),
    )


@outlined
def one_energy(address, p, X_WA, X_WB):
    """U; 0 of a page without energy."""
    if address == 0.0:
        return 0.0
    status, out = call(address, 0.0, (X_WA.R, X_WA.p, X_WB.R, X_WB.p, p), (NAN,))
    return out[0] if status == 0 else NAN


@outlined
def one_effort(t, address, p, q, v):
    """τ; NaN where the function fails."""
    status, out = call(address, t, (q, v, p), (NAN,))
    return out[0] if status == 0 else NAN


@outlined
def one_energy_in_freedom(address, p, q):
    """U; 0 of a page without energy."""
    if address == 0.0:
        return 0.0
    status, out = call(address, 0.0, (q, p), (NAN,))
    return out[0] if status == 0 else NAN


# --- one system, or lanes ---------------------------------------------------------------------------------------------


@formula
def pair_of_one(t, data, k, X_WA, V_A, X_WB, V_B):
    return one_pair(t, common(data, k), numbers_of(data, k, 0), X_WA, V_A, X_WB, V_B)


@formula
def pair_of_lanes(t, data, k, X_WA, V_A, X_WB, V_B):
    o = zero(X_WA.p.x)
    F_A = Force(Vec3(o, o, o), Vec3(o, o, o))
    F_B = F_A
    for s in range(LANES):
        of_A, of_B = one_pair(
            t, common(data, k), numbers_of(data, k, s), pose_of_lane(X_WA, s), motion_of_lane(V_A, s), pose_of_lane(X_WB, s),
            motion_of_lane(V_B, s),
        )  # fmt: skip
        F_A, F_B = force_with_lane(F_A, s, of_A), force_with_lane(F_B, s, of_B)
    return F_A, F_B


def wrenches(t, data, k, X_WA, V_A, X_WB, V_B):
    """Forces on A and on B, each at its origin, in the world."""
    of = pair_of_lanes if isinstance(X_WA.p.x, np.ndarray) else pair_of_one
    return of(t, data, k, X_WA, V_A, X_WB, V_B)


@overloaded(wrenches)
def _wrenches(t, data, k, X_WA, V_A, X_WB, V_B):
    if X_WA.types[1].dtype is pack:
        return lambda t, data, k, X_WA, V_A, X_WB, V_B: pair_of_lanes(t, data, k, X_WA, V_A, X_WB, V_B)
    return lambda t, data, k, X_WA, V_A, X_WB, V_B: pair_of_one(t, data, k, X_WA, V_A, X_WB, V_B)


@formula
def energy_of_one(data, k, X_WA, X_WB):
    return one_energy(common(data, k + 1), numbers_of(data, k, 0), X_WA, X_WB)


@formula
def energy_of_lanes(data, k, X_WA, X_WB):
    U = zero(X_WA.p.x)
    for s in range(LANES):
        at = pose_of_lane(X_WA, s), pose_of_lane(X_WB, s)
        U = with_lane(U, s, one_energy(common(data, k + 1), numbers_of(data, k, s), at[0], at[1]))
    return U


def energy(data, k, X_WA, X_WB):
    """U."""
    of = energy_of_lanes if isinstance(X_WA.p.x, np.ndarray) else energy_of_one
    return of(data, k, X_WA, X_WB)


@overloaded(energy)
def _energy(data, k, X_WA, X_WB):
    if X_WA.types[1].dtype is pack:
        return lambda data, k, X_WA, X_WB: energy_of_lanes(data, k, X_WA, X_WB)
    return lambda data, k, X_WA, X_WB: energy_of_one(data, k, X_WA, X_WB)


@formula
def slopes_of_one(data, k, X_WA, V_A, X_WB, V_B, gh, bh2, K):
    called = Called(data, k)
    if called.slopes == 0.0:
        return False
    p = numbers_of(data, k, 0)
    status, out = call(called.slopes, 0.0, (X_WA.R, X_WA.p, V_A, X_WB.R, X_WB.p, V_B, p, gh, bh2), NAN36)
    wrong = 0.0 if status == 0 else NAN
    for i in range(6):
        for j in range(6):
            K[i, j] += out[6 * i + j] + wrong
    return True


def slopes(data, k, X_WA, V_A, X_WB, V_B, gh, bh2, K):
    """As the page gives them; without, and in lanes, by differences."""
    return slopes_of_one(data, k, X_WA, V_A, X_WB, V_B, gh, bh2, K)


@overloaded(slopes)
def _slopes(data, k, X_WA, V_A, X_WB, V_B, gh, bh2, K):
    if X_WA.types[1].dtype is pack:
        return lambda data, k, X_WA, V_A, X_WB, V_B, gh, bh2, K: False
    return lambda data, k, X_WA, V_A, X_WB, V_B, gh, bh2, K: slopes_of_one(data, k, X_WA, V_A, X_WB, V_B, gh, bh2, K)


@formula
def effort_of_one(t, data, k, q, v):
    return one_effort(t, common(data, k), numbers_of(data, k, 0), q, v)


@formula
def effort_of_lanes(t, data, k, q, v):
    tau = zero(q)
    for s in range(LANES):
        tau = with_lane(tau, s, one_effort(t, common(data, k), numbers_of(data, k, s), lane(q, s), lane(v, s)))
    return tau


def effort(t, data, k, q, v):
    """τ."""
    return (effort_of_lanes if isinstance(q, np.ndarray) else effort_of_one)(t, data, k, q, v)


@overloaded(effort)
def _effort(t, data, k, q, v):
    if q is pack:
        return lambda t, data, k, q, v: effort_of_lanes(t, data, k, q, v)
    return lambda t, data, k, q, v: effort_of_one(t, data, k, q, v)


@formula
def freedom_energy_of_one(data, k, q):
    return one_energy_in_freedom(common(data, k + 1), numbers_of(data, k, 0), q)


@formula
def freedom_energy_of_lanes(data, k, q):
    U = zero(q)
    for s in range(LANES):
        U = with_lane(U, s, one_energy_in_freedom(common(data, k + 1), numbers_of(data, k, s), lane(q, s)))
    return U


def freedom_energy(data, k, q):
    """U."""
    return (freedom_energy_of_lanes if isinstance(q, np.ndarray) else freedom_energy_of_one)(data, k, q)


@overloaded(freedom_energy)
def _freedom_energy(data, k, q):
    if q is pack:
        return lambda data, k, q: freedom_energy_of_lanes(data, k, q)
    return lambda data, k, q: freedom_energy_of_one(data, k, q)


PAGE = Between(REGISTERED, "ForcePage", wrenches, energy, slopes, TREE_LANES)
JOINT_PAGE = InFreedom(REGISTERED_JOINT, "EffortPage", effort, freedom_energy, TREE_LANES)
