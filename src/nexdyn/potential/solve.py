"""The x and λ of a step: minima of the energies while the multipliers are updated.

As published (`fixed`): `updates` times, Newton's method to the minimum (20 steps at most), then λ ← λ + μ C. The factors of H
serve as long as each step is a hundredth of the one before; so they mostly outlast an update, which changes λ but little.

Adaptive: with every Newton step d the multipliers follow to what C will be to first order, λ⁺ = λ + μ (C + J d), so that

    [ H   Jᵀ   ] [ d  ]      [ ∇E₀ + Jᵀ λ ]
    [ J   −1/μ ] [ Δλ ]  = − [ C          ],      H = ∇²E₀ + Σ y C_qq

is what is solved, with Δλ eliminated: Newton's method for the minimum on C = 0, at a cost that knows no constraints. A step
is judged by E with the multipliers λ⁺ and a small penalty; by these dᵀ∇E = −dᵀ H d − μ |C|² < 0 where C + J d = 0. A
large penalty would follow the curved C = 0 in tiny steps. x and λ start from the last step. It ends when |C + J d| = |Δλ|/μ
and what is left of x are small, in each of the ``islands`` by itself; where |C + J d| does not fall to a quarter, μ grows tenfold.

Where rows repeat others, Jᵀ n = 0, the equations say nothing of n in λ, and rounding of C times μ is added to it with each step. The
factors of a step tell it from the rest, Jᵀ μ J being nearly all of H:   λ ← μ J H⁻¹ Jᵀ λ + what that leaves of the rest, once more
"""

from __future__ import annotations

from typing import Any

from nexdyn.constraints.turns import Angles
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula, outlined
from nexdyn.linalg.ldl import solve as by_factors
from nexdyn.linalg.rows import WIDTH
from nexdyn.potential.contact import take_pressure
from nexdyn.potential.islands import LARGE, largest_error, remember_errors, rest, wake
from nexdyn.potential.joints import along_row, subtract_rows
from nexdyn.potential.minimum import (
    FLATTER,
    OK,
    direction,
    evaluate,
    factor_hessian,
    go,
    keep_start,
    largest,
    low_enough,
    slope_along,
    world_gravity,
)
from nexdyn.potential.pairs import pair_at
from nexdyn.potential.tables import Groups, Islands, Masses, Run
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.table import MotionRows, PoseRows

NOT_CLOSED, NOT_CONVERGED, NOT_FINITE, LOAD_FAILED, APART = 2, 3, 4, 5, 6
"""How a step ends; APART: well, with bodies near each other of which the Hessian has no block."""
NEWTON_LIMIT = 20
HALVINGS = 30
SHORT, NEAR_END = 0.5, 0.1
"""α up to which a step has been shortened, not only measured; part of an interval."""
JUDGING = 100.0
"""μ of the E by which adaptive steps are judged, as a multiple of the masses that rows move."""
KEEP = 0.01
"""What a step must be of the one before for its factors to serve the next as well."""
FALL = 0.25
"""What |C| must fall to in an update, or μ grows."""
MOST_UPDATES = 60
SMALL = 1e-11
"""Part of the step's own acceleration to which x is determined."""
SHRINKS = 0.5
"""A step that is no longer shorter than this part of the one before, and changes E by no more than E is rounded, is the last: near
singular poses, where rows all but repeat each other, what rounding leaves of C moves x by more than SMALL."""
MINIMUM = 1e-9
"""The same for the published loop, where the gradient tells it."""
EXPECTED = 0.75
"""Part of what multipliers are expected to be from which they start."""
FEW = 1e-15
"""What rounding leaves of a rotation, or of a displacement beside the size of bodies."""
CLOSED = 1e-10
"""|C| at which a constraint counts as met, lengths beside the longest arm of a joint."""
STIFFEST = 1e12
"""Most that μ grows to, as a multiple of the masses that a row moves."""
ASUNDER = 0.2
"""The same at which the published loop, which asks for none, has lost its joints if they still open."""

solve = generic(
    "solve",
    "The minimum of a step, adaptive where `updates` is None. Returns (status, body or load, Newton steps, largest |C|).",
)


@formula
def scales(model, work, dt):
    """(for θ, for δ): what the step's accelerations move, beside which errors of x are small; rounding is no error."""
    w = v = 0.0
    turned = 1.0
    x, free, g = MotionRows(work.x, 0), MotionRows(work.free, 0), world_gravity(model)
    for i in range(1, len(model.mass)):
        d = x[i] - free[i]
        w, v = max(w, d.w @ d.w), max(v, d.v @ d.v)
    for n in range(len(model.expected)):  # in rows, an angle of many turns is rounded as a number of its size
        turned = max(turned, abs(work.near[Angles(model.angles)[model.expected[n]].near]))
    v = max(v**0.5, dt * dt * (g @ g) ** 0.5, FEW / SMALL * max(model.reach, farthest(model, work)))
    return max(w**0.5, v / model.length, FEW / SMALL * turned), v


@formula
def farthest(model, work):
    """The largest distance of two frames that rows join: what slides goes far, and its rows are rounded as numbers of that size."""
    X0, X, most = PoseRows(work.base, 0), PoseRows(work.pose, 0), 0.0
    for k in range(len(model.constraints.pairs)):
        d = pair_at(model.constraints, k, X0, X).d
        most = max(most, d @ d)
    return most**0.5


@formula
def search(model, lam, mu, t, dt, work, E_start, slope):
    """x ← start + α d with the first α = 1, ½, … that brings a decrease, or, where E is guessed, with α ≤ 1 where the slope is all but 0,
    between those where it leads down and up; returns E there, what rounding leaves of it and by how much it may be off, the load
    that failed, α."""
    E, rounding, doubt, failed, alpha = E_start, 0.0, 0.0, -1, 1.0
    low, high, of_low = 0.0, 1.0, slope
    for _ in range(HALVINGS):
        go(work, alpha)
        E, rounding, doubt, failed = evaluate(model, lam, mu, t, dt, work)
        if failed >= 0:
            break
        if doubt > rounding:
            along = slope_along(work)
            if abs(along) <= FLATTER * abs(slope) or (along < 0.0 and alpha == 1.0):
                break
            if along < 0.0:
                low, of_low = alpha, along
                alpha = 0.5 * (low + high)
            else:
                high = alpha
                alpha = low + (high - low) * between(of_low / (of_low - along))
        elif low_enough(E, E_start, alpha, slope, doubt):
            break
        else:
            alpha *= 0.5
    return E, rounding, doubt, failed, alpha


@formula
def between(part):
    """A part of an interval, not too near to its ends; half of it where `part` is no number."""
    return (
        part
        if NEAR_END < part < 1.0 - NEAR_END
        else (NEAR_END if part <= NEAR_END else (0.5 if part != part else 1.0 - NEAR_END))
    )


@formula
def follow(model, state, work):
    """Δλ = μ (C + J d) in work.change, 0 where bodies are still. Returns the largest |C + J d| as a number, Σ Δλ C and Σ Δλ J d."""
    mu, C, groups, of = state.mu, work.C, Groups(model.groups), model.of_group
    gap = raised = along = 0.0
    for n in range(len(work.islands)):
        Islands(work.islands)[n].gap = 0.0
    for i in range(len(groups)):
        own = Islands(work.islands)[of[i]]
        for r in range(groups[i].first, groups[i].first + groups[i].count):
            if own.found > 0.0:
                work.change[r] = 0.0
                continue
            c = along_row(model, i, r, work.J, work.step)
            left = C[r] + c
            change = mu[r] * left
            work.change[r] = change
            raised += change * C[r]
            along += change * c
            if not (model.units[r] * abs(left) <= own.gap):
                own.gap = model.units[r] * abs(left)
        if not (own.gap <= gap):
            gap = own.gap
    return gap, raised, along


@formula
def stiffen(state):
    """μ ← 10 μ of all rows, as long as they are not the stiffest."""
    run = Run(state.run)
    if run.stiffness < STIFFEST:
        run.stiffness *= 10.0
        for r in range(len(state.mu)):
            state.mu[r] *= 10.0


@formula
def at_minimum(model, work, for_turn, for_shift):
    """Whether the gradient is what an error MINIMUM of x leaves."""
    g, I = work.gradient, Masses(model.mass).I
    for i in range(1, len(model.mass)):
        n, f = Vec3(g[i - 1, 0], g[i - 1, 1], g[i - 1, 2]), Vec3(g[i - 1, 3], g[i - 1, 4], g[i - 1, 5])
        least = max(min(I[i].xx, I[i].yy, I[i].zz), model.spare[i, 0])
        m = Masses(model.mass)[i].m + model.spare[i, 1]
        if not (f @ f <= (MINIMUM * for_shift * m) ** 2 and n @ n <= (MINIMUM * for_turn * least) ** 2):
            return False
    return True


@outlined
def forget_stress(model, state, work):
    """Take out of λ what puts no force on the bodies, by the factors of the step; of what does it leaves (H₀/Jᵀ μ J)²."""
    lam, mu, left, step, groups = state.lam, state.mu, work.change, work.step, Groups(model.groups)
    for r in range(len(lam)):
        left[r], lam[r] = lam[r], 0.0
    for _ in range(2):
        for i in range(len(step)):
            for k in range(WIDTH):
                step[i, k] = 0.0
        subtract_rows(model, left, work.J, step)
        by_factors(model.plan, work.blocks, step)
        for i in range(len(groups)):
            for r in range(groups[i].first, groups[i].first + groups[i].count):
                told = -mu[r] * along_row(model, i, r, work.J, step)
                lam[r] += told
                left[r] -= told


@formula
def end(model, state, work):
    """Go to the minimum, the whole of the last step."""
    go(work, 1.0)
    if model.repeats:
        forget_stress(model, state, work)


@defines(solve)
def _(updates: None, model: Any, state: Any, work: Any, t: Any, dt: Any) -> Any:
    lam, mu, weight, run = state.lam, state.mu, work.weight, Run(state.run)
    for r in range(len(mu)):
        weight[r] = mu[r] * (JUDGING / run.stiffness)
        last = lam[r]
        if run.straight > 0.0:
            lam[r] += last - state.lam_before[r]
        lam[r] *= EXPECTED
        state.lam_before[r] = last
    E, rounding, doubt, failed = evaluate(model, lam, weight, t, dt, work)
    gap_before, error_before, alpha = LARGE, LARGE, 1.0
    for steps in range(1, MOST_UPDATES + 1):
        if take_pressure(model, model.contacts, dt, work, alpha <= SHORT):
            E, rounding, doubt, failed = evaluate(model, lam, weight, t, dt, work)
        if failed >= 0:
            return LOAD_FAILED, failed, steps, gap_before
        wake(model, work)
        gap = raised = slope = 0.0
        for attempt in range(2):
            status, body = factor_hessian(model, lam, weight, mu, t, dt, work, attempt == 0, alpha <= SHORT)
            if status != OK:
                return status, body, steps, gap_before
            down = direction(model, weight, mu, work)
            gap, raised, along = follow(model, state, work)
            slope = down + along
            if not (slope > doubt):
                break  # otherwise with squares only, which lead down
        for r in range(len(lam)):
            lam[r] += work.change[r]
        keep_start(work)
        for_turn, for_shift = scales(model, work, dt)
        error = largest_error(model, work, for_turn, for_shift)
        if not (error < LARGE and gap < LARGE):
            return NOT_FINITE, 0, steps, gap
        # what the next step would be, by how much this one is shorter than the one before
        rate = min(1.0, error / error_before) if error_before < LARGE else 1.0
        stays = error > SHRINKS * error_before and abs(slope) <= rounding
        if gap <= CLOSED and (error * rate <= SMALL or stays):
            end(model, state, work)
            return OK, 0, steps, gap
        if len(work.islands) > 1 and rest(model, work, CLOSED, SMALL):
            end(model, state, work)
            return OK, 0, steps, gap
        E, rounding, doubt, failed, alpha = search(model, lam, weight, t, dt, work, E + raised, slope)
        remember_errors(work, alpha > SHORT)
        if gap > FALL * gap_before and gap > CLOSED:
            stiffen(state)
        gap_before, error_before = gap, error if alpha > SHORT else LARGE
    return NOT_CLOSED if gap_before > CLOSED else NOT_CONVERGED, 0, MOST_UPDATES, gap_before


@defines(solve)
def _(updates: Any, model: Any, state: Any, work: Any, t: Any, dt: Any) -> Any:
    lam, mu, C = state.lam, state.mu, work.C
    steps, gap, kept = 0, 0.0, False
    for _ in range(updates):
        E, _, doubt, failed = evaluate(model, lam, mu, t, dt, work)
        size_before, alpha = LARGE, 1.0
        for _ in range(NEWTON_LIMIT):
            if take_pressure(model, model.contacts, dt, work, alpha <= SHORT):
                E, _, doubt, failed = evaluate(model, lam, mu, t, dt, work)
            if failed >= 0:
                return LOAD_FAILED, failed, steps, gap
            for_turn, for_shift = scales(model, work, dt)
            if at_minimum(model, work, for_turn, for_shift):
                break
            if not kept:
                status, body = factor_hessian(model, lam, mu, mu, t, dt, work, updates > 0, alpha <= SHORT)
                if status != OK:
                    return status, body, steps, gap
            slope = direction(model, mu, mu, work)
            steps += 1
            turn, shift = largest(work.step, 0), largest(work.step, 3)
            if not (turn < LARGE and shift < LARGE):
                return NOT_FINITE, 0, steps, gap
            keep_start(work)
            E, _, doubt, failed, alpha = search(model, lam, mu, t, dt, work, E, slope)
            if -slope <= doubt:
                break  # no further by what E can tell
            size = max(turn / for_turn, shift / for_shift)
            kept = alpha == 1.0 and size <= KEEP * size_before
            size_before = size
        gap = 0.0
        for r in range(len(lam)):
            lam[r] += mu[r] * C[r]
            if not (model.units[r] * abs(C[r]) <= gap):
                gap = model.units[r] * abs(C[r])
    if gap > ASUNDER and gap > Run(state.run).gap:
        return NOT_CLOSED, 0, steps, gap
    return OK, 0, steps, gap
