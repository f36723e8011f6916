"""The policy of Newton's iteration under HHT: when it ends, when a matrix is made anew, where it starts, what it takes of a correction.

A step solves for x = (a⁺, λ⁺) by corrections Δx_k, k = 1, 2, …, with a matrix kept as long as it serves. A correction of a⁺ moves the
positions by ‖Δx‖ = β h² |Δa|, in rad or lengths of the mechanism. With the contraction

    θ_k = ‖Δx_k‖ / ‖Δx_{k−1}‖                 both by the same matrix
    ‖x − x_k‖ ≤ θ_k/(1 − θ_k) ‖Δx_k‖          error of the iterate, as if θ stayed

the iteration has converged where

    θ < 0.3  and  θ/(1 − θ) ‖Δx_k‖ ≤ κ,   κ = min(1e-11, max(1e-5 e, 1e-11 β h² |a⁺|, floor))

with e the step's own error; or where Δx_k is no more than rounding leaves (below).

Contraction before it is measured. θ of a first correction is not known. That of a matrix which is n steps old is taken as
θ = θ_new + 2 n θ′: θ_new was measured with the last new matrix, θ′ by how much it has grown a step since.

When a matrix is made anew. A new one costs about two iterations. It is made before the step where θ_new + n θ′ > 0.15, or where the last
step took more than two iterations above what a new matrix takes, but not after one correction alone; where h has changed by more than
a factor of 2; and within the iteration where θ > 0.3, or corrections go to and fro. Slow with a new matrix: its form is at fault, and the
next has all of what contacts over areas do, without symmetry (`whole`).

Damping. Over a kink, as where a contact closes, corrections go to and fro: Δx_k > 0.8 Δx_{k−1} from the third on. Then the part p of
a correction that is taken is halved, down to 1/10, else doubled, up to 1; sizes are those of whole corrections.

Rounding. Where bodies rest, accelerations are what is left of gravity: a correction of 2e-11 β h² |g| is rounding, up to 1e-16. Else,
divided by β h², what rounding leaves of C, and how far it drives x, is not known beforehand. It is learnt: a small correction that a new
matrix makes no smaller is what rounding leaves. The mean of such corrections is the floor; it falls with any smaller correction, and by
3 % a step, so that it is asked for again.

Predictor. x starts on the polynomial through the last accepted steps: of degree 0 after a hard step (5 iterations), then 1, then 2.
Where the polynomial misses by more than the accelerations have changed, to expect no change would have been better, and for ten
steps none is expected. Where an extrapolated start leads nowhere the step is tried once more from the last a and λ (`hht.try_step`).

Sources. Hairer & Wanner, Solving Ordinary Differential Equations II, IV.8: θ, the error of the iterate, κ as a part of the tolerance, a
matrix kept while θ is small. What differs:
- There η = θ/(1 − θ) of a first correction is (η of the last step)^0.8, here the age of the matrix tells θ.
- There the Jacobian is kept for θ ≤ 1e-3 and factored anew for each new h. Here matrix and factors are one, and kept for longer.
- There slow convergence ends the step, which is tried again with a smaller h. Here a new matrix comes first: constant steps have no
  smaller h, and most matrices are old when they are slow.
- There κ lies well above rounding. Here it goes down to it, since accelerations and multipliers are found by division by β h².
Negrut, Rampalli, Ottarsson & Sajdak 2007: corrections of accelerations count by β h², as the error of the step does; θ/(1 − θ) again. There
the tolerance of the integration gives κ, here the error that the step has made: constant steps have no tolerance.
"""

from __future__ import annotations

import numpy as np

from nexdyn.kernel import formula
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import Vec3

MOST_ITERATIONS = 12
"""Corrections after which a step has failed; three times as many where they are damped."""
LARGEST_CORRECTION = 2.0
"""[rad or lengths of the mechanism] Beyond it the linearisation means nothing: the step is lost."""

TOLERANCE, PART_OF_ERROR, PART_OF_ACCELERATIONS = 1e-11, 1e-5, 1e-11
"""κ: the most error of the positions that the iteration may leave; of the step's own error e, so that it does not show in it; of β h² |a|,
which are eleven digits of the accelerations."""
SINGULAR_POSE = 1e-9
"""Correction that still counts as solved after `MOST_ITERATIONS`: where rows become dependent, rounding is amplified."""

SLOW = 0.3
"""θ from which on a new matrix is worth more than another correction, and θ/(1 − θ) is no estimate."""
REUSE = 0.15
"""θ up to which an old matrix serves another step: two corrections with it then gain as one at θ = 0.02."""
REFACTOR_COST_IN_ITERATIONS = 2.0
"""Iterations that a new matrix costs."""
STEP_RATIO = 2.0
"""Most by which the step may differ from that of the matrix: s M + β h² K is then off by 4 at most where K is all there is."""

UNKNOWN = 0.3
"""θ before any has been measured: a correction alone is not believed."""
LEAST_THETA, LEAST_GROWTH = 1e-3, 1e-6
"""No matrix is reckoned to contract by more, or to age by less, however well it did once."""
NO_WORSE = 3e-3
"""θ of a matrix whose second correction was too near rounding to tell: it is no worse."""

ROUNDING, OF_GRAVITY, UNSEEN = 1e-18, 2e-11, 1e-16
"""Correction that is rounding anywhere; of β h² |g|, from which accelerations are what is left where bodies rest; what of that no position
shows."""
MEASURABLE, CLEAR_OF_FLOOR = 1e-14, 30.0
"""Least correction of which θ can be told, and in parts of what rounding was seen to leave."""
ABOVE_FLOOR = 2.0
"""Correction, in parts of the floor, that is no more than rounding: the floor is a mean."""
FADES = 0.97
"""What a step leaves of the floor, so that one seen in a bad pose is forgotten within some thirty steps."""
STOPPED = 0.01
"""Part of the first correction below which one that a new matrix makes no smaller is surely rounding."""

TO_AND_FRO, LEAST_PART = 0.8, 0.1
"""θ from which on the next correction is shortened, and the least part taken."""
HARD, CAUTIOUS = 5, -10.0
"""Iterations from which on the past is no guide to the next step; `smooth` after the predictor misled: steps without one."""
STALE = 0.1
"""Part of the best independence below which rows are to be chosen anew."""

ON, DONE, LOST = range(3)
"""Verdicts: another correction, converged, no convergence."""


class Memory(Record):
    """What a march remembers of its matrix, its iterations and its steps."""

    made_for: float
    """Step h of the matrix at hand; 0: there is none."""
    age: float
    """Steps that it has served."""

    iterations: float
    factorisations: float
    """So far, of the whole run."""

    shifted_for: float
    """Step that a0 and v0 belong to; 0: none."""
    h_last: float
    h_before: float
    """The last two accepted steps; 0: none."""

    theta_new: float
    """Contraction with the last new matrix, …"""
    theta_growth: float
    """… and by how much it has grown a step since; 0: not known."""

    smooth: float
    """Steps since the last hard one: the degree of the predictor, or below 0 `CAUTIOUS`."""
    k_last: float
    """Iterations of the last step, …"""
    k_new: float
    """… and of the last one with a new matrix."""

    floor: float
    """Corrections that rounding was seen to leave, …"""
    grain: float
    """… and up to which it can, as turns."""

    k: float
    """Of the step at hand: its corrections so far, …"""
    assemble: float
    """… whether the next is to have a new matrix, …"""
    new: float
    """… whether a matrix has been made within the step, …"""
    theta: float
    """… contraction, …"""
    size: float
    """… ‖Δx‖ of the last correction, …"""
    nth: float
    """… which correction with the matrix at hand comes next: 1, 2, …, …"""
    missed: float
    """… ‖Δx‖ of the first: what the predictor missed by, …"""
    part: float
    """… the part that is taken of the next, …"""
    error: float
    """… error of the positions, …"""
    extrapolated: float
    """… whether its start is on a polynomial (SIMD lanes)."""

    turned: float
    turning: float
    """By how much angles may have moved since they were counted, before the step at hand and with it [rad]."""

    independence: float
    best_independence: float
    """Of the kept rows, where some are left out: by the last matrix, and the most since they were chosen; 0: not known."""

    length: float
    """Size of the mechanism [m]; 0 where all its points are one: then …"""
    moved: float
    """… how far bodies have been from …"""
    home: Vec3
    """… this place, …"""
    least: float
    """… and the displacement that counts as one however little bodies have moved."""

    whole: float
    """Whether the matrix of the step at hand has all of what contacts over areas do: one without was slow."""


Memories = rows_of(Memory)


def new_memory(grain: float, length: float) -> np.ndarray:
    """The memory of a march at its start."""
    vector = np.zeros(Memory.columns)
    memory = Memory(vector)
    memory.theta_new, memory.grain, memory.length = UNKNOWN, grain, length
    return vector


def forget(vector: np.ndarray) -> None:
    """Where the state has been changed from outside: no matrix, no contraction, no step before; what is counted stays."""
    old, memory = Memory(vector.copy()), Memory(vector)
    vector[:] = 0.0
    memory.iterations, memory.factorisations = old.iterations, old.factorisations
    memory.theta_new, memory.grain, memory.turned = UNKNOWN, old.grain, old.turned
    memory.independence, memory.best_independence = old.independence, old.best_independence
    memory.length, memory.moved, memory.home, memory.least = old.length, old.moved, old.home, old.least


# --- before the first correction ----------------------------------------------------------------------------------


@formula
def weights(memory, h):
    """c, d of the predictor x0 + c Δ + d Δ², on the polynomial of degree min(smooth, 2) through the last steps."""
    last, before = memory.h_last, memory.h_before
    c = h / last if memory.smooth > 0.0 and last > 0.0 else 0.0
    d = c * (h + last) / (last + before) if memory.smooth > 1.0 and before > 0.0 else 0.0
    return c, d


@formula
def is_worn(memory):
    """Whether a new matrix costs less than what the one at hand would take longer; not where that needed one correction alone."""
    theta = memory.theta_new + memory.age * memory.theta_growth
    return memory.k_last != 1.0 and (theta > REUSE or memory.k_last > memory.k_new + REFACTOR_COST_IN_ITERATIONS)


@formula
def serves(memory, h):
    """Whether the matrix at hand was made for about this step."""
    return memory.made_for <= STEP_RATIO * h and h <= STEP_RATIO * memory.made_for


@formula
def begin(memory, h):
    """Before the first correction of a step h."""
    memory.assemble = 1.0 if is_worn(memory) or not serves(memory, h) else 0.0
    theta = memory.theta_new + 2.0 * memory.age * memory.theta_growth
    memory.theta = max(LEAST_THETA, theta) if memory.theta_growth > 0.0 else UNKNOWN
    memory.k, memory.new, memory.size, memory.nth, memory.missed = 0.0, 0.0, 0.0, 1.0, 0.0
    memory.part, memory.error, memory.whole = 1.0, 0.0, 0.0


# --- between corrections ------------------------------------------------------------------------------------------


@formula
def note_refactored(memory, h):
    """A matrix for the step h has been factored."""
    memory.made_for, memory.age = h, 0.0
    memory.factorisations += 1.0
    memory.nth, memory.theta, memory.new = 1.0, max(LEAST_THETA, memory.theta_new), 1.0


@formula
def note_independence(memory, independence):
    """How independent a new matrix shows the rows to be."""
    memory.independence = independence
    memory.best_independence = max(memory.best_independence, independence)


@formula
def is_stale(memory):
    """Whether the kept rows have come to depend on each other: they are to be chosen anew."""
    return memory.independence < STALE * memory.best_independence


@formula
def corrected(memory):
    """A correction has been found."""
    memory.iterations += 1.0
    memory.k += 1.0


@formula
def drop_matrix(memory):
    """The next step starts with a new matrix, from the last accelerations."""
    memory.made_for = memory.smooth = 0.0


@formula
def learn_contraction(memory, theta):
    """θ of the second correction with a matrix says how well it contracts, new or at its age."""
    told = memory.size > max(MEASURABLE, CLEAR_OF_FLOOR * memory.floor)
    seen = theta if told else min(theta, NO_WORSE)
    if memory.new > 0.0:
        memory.theta_new = seen
    else:
        memory.theta_growth = max(LEAST_GROWTH, (seen - memory.theta_new) / memory.age)


@formula
def wanted_error(memory, bh2_a):
    """κ; bh2_a: β h² |a⁺|."""
    # what an old matrix leaves goes one way from step to step, where rounding goes to and fro
    unseen = memory.floor if memory.new > 0.0 else 0.0
    return min(TOLERANCE, max(unseen, max(PART_OF_ACCELERATIONS * bh2_a, PART_OF_ERROR * memory.error)))


@formula
def rounding(memory):
    """The correction up to which all is rounding."""
    return max(ROUNDING, ABOVE_FLOOR * memory.floor)


@formula
def has_converged(memory, theta, size, bh2_a, bh2_g):
    """θ/(1 − θ) ‖Δx‖ ≤ κ, or nothing but rounding is left."""
    return (theta < SLOW and theta / (1.0 - theta) * size <= wanted_error(memory, bh2_a)) or size <= max(
        rounding(memory), min(UNSEEN, OF_GRAVITY * bh2_g)
    )


@formula
def note_converged(memory, bh2_change):
    """The step has converged; bh2_change: β h² |a⁺ − a|."""
    memory.age += 1.0
    memory.floor *= FADES
    memory.smooth = memory.smooth + 1.0 if memory.k < HARD else 0.0
    if memory.smooth > 1.0 and memory.missed > bh2_change:
        memory.smooth = CAUTIOUS  # to expect no change would have been better
    memory.k_last = memory.k
    if memory.new > 0.0:
        memory.k_new = memory.k


@formula
def is_floor(memory, theta, size):
    """Whether a new matrix makes a small correction no smaller."""
    return size < max(TOLERANCE, memory.grain) and theta > SLOW and memory.nth > 1.0 and memory.new > 0.0


@formula
def note_floor(memory, size):
    """The iteration ends at what rounding leaves, which is learnt where it is surely that."""
    memory.age += 1.0
    if size < max(MEASURABLE, STOPPED * memory.missed):
        memory.floor = 0.5 * (memory.floor + size)


@formula
def newton_verdict(memory, correction, change, most, weight, bh2, error_of):
    """ON with another correction, whose matrix `assemble` tells, DONE, or LOST.

    correction, change, most: |p Δa| of the last one, |a⁺ − a| and |a⁺|, as `hht.new_motion` returns them; weight: |g|, as `hht.weight`
    does; error_of: e/|a⁺ − a|.
    """
    k, nth, part = memory.k, memory.nth, memory.part
    size = correction * (bh2 / part)
    memory.error = error_of * change
    if k == 1.0:
        memory.missed = size
    if not (size < LARGEST_CORRECTION):
        drop_matrix(memory)
        return LOST
    theta = size / memory.size if nth > 1.0 else memory.theta
    if nth == 2.0:
        learn_contraction(memory, theta)
    memory.floor = min(memory.floor, max(size, 0.5 * memory.floor))
    if has_converged(memory, theta, size, bh2 * most, bh2 * weight):
        note_converged(memory, bh2 * change)
        return DONE
    if is_floor(memory, theta, size):
        note_floor(memory, size)
        return DONE
    stuck = k > 2.0 and size > TO_AND_FRO * memory.size
    part = max(0.5 * part, LEAST_PART) if stuck else min(1.0, 2.0 * part)
    if k >= MOST_ITERATIONS and (part == 1.0 or k == 3 * MOST_ITERATIONS):
        drop_matrix(memory)
        return DONE if size < SINGULAR_POSE else LOST
    slow = nth > 1.0 and theta > SLOW
    memory.assemble = 1.0 if stuck or slow else 0.0
    if slow and memory.new > 0.0:
        memory.whole = 1.0  # its form is at fault
    memory.theta, memory.size, memory.nth, memory.part = theta, size, nth + 1.0, part
    return ON


# --- after the step -----------------------------------------------------------------------------------------------


@formula
def remember(memory, h):
    """A step h has been accepted; returns its ratio to the one before, 0 where there is none."""
    c = h / memory.h_last if memory.h_last > 0.0 else 0.0
    memory.h_before, memory.h_last = memory.h_last, h
    memory.turned = memory.turning
    return c
