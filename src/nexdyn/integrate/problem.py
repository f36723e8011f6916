"""What an integrator asks of a problem: ẏ = f(t, y) in a chart that moves along with the solution.

    y = (ξ, v, z):   position = base ∘ ξ,   ξ̇ = r(base, ξ, v),   v̇ = a(t, position, v, z),   ż = f(t, position, v, z)

z are states of what acts, such as controllers; a problem may have none.

ξ are coordinates of a chart about a base point (Munthe-Kaas 1999): for joints without quaternions base ∘ ξ is base + ξ
and ξ̇ = v. After every step the base moves to the new position and ξ is 0 again, so that a Runge–Kutta method keeps
its order on the manifold and a quaternion its length.

A formulation defines these for its own type of problem with `@defines(rates)`:

    rates(problem, t, y, K, i)       K[i, :] = ẏ; returns a status, 0 if all is well. i: 0 for the start of a step, or another row of K
    recentre(problem, y, K, i)       base ← base ∘ ξ, ξ ← 0, and the ξ̇ part of K[i, :] for the new chart
    settle(problem, t, y, K)         after a step and its recentring: the state back to what holds at t, and the ξ̇ part of
                                     K[0, :] for it; returns a status, MOVED where the state is another than before
    confine(problem, y, K, i)        after `rates` into K[i] at the state y of a step's start or end: z to the bounds that it has there,
                                     and its rates in K[i]; no other rates know of it
    record(problem, t, y, K, out, r) row r of out ← (t, q, v, a) with a from K[0, :]
    scale(problem, y, s, n)          s[:] = magnitudes beside which errors of y are judged
    stretches(problem, y)            how many stretches y is looked at in: what lies in none is 0, and its rates in all rows of K
    stretch(problem, p, size)        (first, end) of the p-th
    look_at_all(problem)             from here on y and K are anything: one stretch
    look_at_less(problem, K)         a step is done, and settled
    next_sample(problem)             when the next sample of z is due; a step ends there
    take_samples(problem, t, y)      samples that are due at t into z; returns how many
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from nexdyn.generic import defines, generic
from nexdyn.kernel import outlined, overloaded

rates = generic("rates", "K[i, :] = ẏ(t, y); returns a status.")
recentre = generic("recentre", "Move the chart's base to the present position.")
settle = generic("settle", "Bring the state at t back to the constraints; returns a status.")
confine = generic("confine", "z to its bounds at the state whose rates were evaluated last.")
record = generic("record", "Write t, q, v, a.")
stretches = generic("stretches", "How many stretches of y may differ from 0.")
stretch = generic("stretch", "Where the p-th of them begins, and where it ends.")
look_at_all = generic("look_at_all", "y and K have been put from outside.")
look_at_less = generic("look_at_less", "After a step: what is 0 need not be looked at in the next.")
next_sample = generic("next_sample", "When something is sampled next; ∞ for never.")
take_samples = generic("take_samples", "Take the samples that are due at t into y; how many there were.")
scale = generic("scale", "Magnitudes of the components of y.")


@outlined
def rates_aside(problem, t, y, K, i):
    """`rates` from wherever it is not the stages of a step: compiled once for all of these."""
    return rates(problem, t, y, K, i)


MANY = 20
"""Forces with more tables than these, contacts among them, take so long that a call costs nothing beside them."""


def tables_of(kind: Any) -> int:
    """How many arrays and numbers a problem, or a part of it, consists of."""
    members: Any = kind
    if isinstance(kind, types.BaseTuple):
        return sum(tables_of(member) for member in members)
    return 0 if isinstance(kind, types.NoneType) else 1


def tables_of_forces(kind: Any) -> int:
    """How many of those are of forces."""
    if not isinstance(kind, types.BaseNamedTuple):
        return 0
    members = zip(kind.fields, kind, strict=True)  # type: ignore[attr-defined, call-overload]
    return sum(tables_of(member) if name == "forces" else tables_of_forces(member) for name, member in members)


def stage_rates(problem: Any, t: Any, y: Any, K: Any, i: Any) -> Any:
    """`rates` in the stages of a step: compiled into the step, or once for all steps where much acts."""
    return rates(problem, t, y, K, i)


@overloaded(stage_rates)
def _stage_rates(problem, t, y, K, i):
    if tables_of_forces(problem) > MANY:
        return lambda problem, t, y, K, i: rates_aside(problem, t, y, K, i)
    return lambda problem, t, y, K, i: rates(problem, t, y, K, i)


@defines(stretches)
def _(problem: Any, y: Any) -> Any:
    return 1


@defines(stretch)
def _(problem: Any, p: Any, size: Any) -> Any:
    return 0, size


@defines(look_at_all)
def _(problem: Any) -> Any:
    return None


@defines(look_at_less)
def _(problem: Any, K: Any) -> Any:
    return None


@defines(next_sample)
def _(problem: Any) -> Any:
    return np.inf


@defines(confine)
def _(problem: Any, y: Any, K: Any, i: Any) -> Any:
    return None


@defines(take_samples)
def _(problem: Any, t: Any, y: Any) -> Any:
    return 0


OK = 0
NOT_FINITE = 1
STEP_TOO_SMALL = 2
MOVED = 3
FORCE_FAILED = 100
"""FORCE_FAILED + e: the function of force element e raised or returned no number."""
