"""One step: the free motion, then minima of the energies while the multipliers are updated, then the new state.

    x̂ → x, λ → v = (x − x̃)/dt̃, a = (v − ṽ)/dt̃           implicit Euler: x̃ = 0, ṽ = vₙ, dt̃ = dt
                                                          BDF2: x̃ = Δₙ/3, ṽ = (4 vₙ − vₙ₋₁)/3, dt̃ = 2 dt/3

As published (`fixed`): `updates` times, Newton's method to the minimum (20 steps at most), then λ ← λ + μ C. The factors of H
serve as long as each step is a hundredth of the one before; so they mostly outlast an update, which changes λ but little.

Adaptive: with every Newton step d the multipliers follow to what C will be to first order, λ⁺ = λ + μ (C + J d), so that

    [ H   Jᵀ   ] [ d  ]      [ ∇E₀ + Jᵀ λ ]
    [ J   −1/μ ] [ Δλ ]  = − [ C          ],      H = ∇²E₀ + Σ y C_qq

is what is solved, with Δλ eliminated: Newton's method for the minimum on C = 0, at a cost that knows no constraints. A step
is judged by E with the multipliers λ⁺ and a small penalty; by these dᵀ∇E = −dᵀ H d − μ |C|² < 0 where C + J d = 0. A
large penalty would follow the curved C = 0 in tiny steps. x and λ start from the last step. It ends when |C + J d| = |Δλ|/μ
and what is left of x are small; where |C + J d| does not fall to a quarter, μ grows tenfold.
"""

from __future__ import annotations

from nexdyn.kernel import formula, kernel
from nexdyn.linalg.rows import WIDTH
from nexdyn.potential.increments import coefficients, series_matrix
from nexdyn.potential.inertia import free_rate, free_turn_bdf2, sym_solve
from nexdyn.potential.joints import add_joints, along_row
from nexdyn.potential.loads import add_loads
from nexdyn.potential.minimum import (
    OK,
    direction,
    evaluate,
    factor_hessian,
    go,
    keep_start,
    largest,
    low_enough,
    newton_direction,
    place_bodies,
    world_gravity,
)
from nexdyn.potential.springs import begin_springs, finish_springs, measure_springs
from nexdyn.potential.tables import BODY_A, COUNT, COUPLED, FIRST, HINGE, INERTIA, KIND, MASS, SLOT, SLOTS
from nexdyn.spatial.algebra import Motion, Pose, Sym3, T, Vec3, exp_quaternion, normalized, rotation
from nexdyn.spatial.table import MotionRows, PoseRows, QuatRows, Sym3Rows, Vec3Rows

NOT_CLOSED, NOT_CONVERGED, NOT_FINITE, LOAD_FAILED = 2, 3, 4, 5
STRAIGHT = 4
"""The place in `run` of whether x̂ + 2 (x − x̂)ₙ − (x − x̂)ₙ₋₁ and 2 λₙ − λₙ₋₁ are where to start from."""
NEARER = 0.3
NEWTON_LIMIT = 20
HALVINGS = 30
LARGE = 1e300
JUDGING = 100.0
"""μ of the E by which adaptive steps are judged, as a multiple of the masses that rows move."""
KEEP = 0.01
"""What a step must be of the one before for its factors to serve the next as well."""
FALL = 0.25
"""What |C| must fall to in an update, or μ grows."""
MOST_UPDATES = 60
SMALL = 1e-11
"""Part of the step's own acceleration to which x is determined."""
MINIMUM = 1e-9
"""The same for the published loop, where the gradient tells it."""
FEW = 1e-15
"""What rounding leaves of a rotation, or of a displacement beside the size of bodies."""
CLOSED = 1e-10
"""|C| at which a constraint counts as met [m, rad]; less for mechanisms below 1 m."""
ASUNDER = 0.2
"""|C| in sizes of the mechanism at which the published loop, which asks for none, has lost its joints if they still open."""
STIFFEST = 1e12
"""Most that μ grows to, as a multiple of the masses that a row moves."""


@formula
def begin(model, state, work, t, dt, second_order):  # type: ignore[no-untyped-def]
    """Base poses, x̃, x̂ and the x to start from. Returns dt̃ and the load that failed, or −1."""
    q, v, off, off_before = (
        QuatRows(state.q, 0), MotionRows(state.v, 0), MotionRows(state.off, 0), MotionRows(state.off_before, 0)
    )  # fmt: skip
    moved, before, past = MotionRows(state.moved, 0), MotionRows(state.v_before, 0), MotionRows(work.past, 0)
    p, X, free, I = (
        Vec3Rows(state.q, 4),
        PoseRows(work.base, 0),
        MotionRows(work.free, 0),
        Sym3Rows(model.mass, INERTIA),
    )
    x, o, third = MotionRows(work.x, 0), Vec3(0.0, 0.0, 0.0), 1.0 / 3.0
    h = 2.0 * dt / 3.0 if second_order else dt
    for i in range(1, len(model.mass)):
        X[i] = Pose(rotation(q[i]), p[i])
        if second_order:
            past[i] = third * moved[i]
            k = coefficients(moved[i].w)
            back = T(series_matrix(moved[i].w, k.a, k.b))  # Rₙᵀ Rₙ₋₁
            momentum = third * (4.0 * (I[i] @ v[i].w) - back @ (I[i] @ before[i].w))
            theta = (0.5 * dt) * (3.0 * v[i].w - before[i].w)
            turn = free_turn_bdf2(I[i], theta, past[i].w, momentum, h, model.spare[i])
            free[i] = Motion(turn, past[i].v + (h * third) * (4.0 * v[i].v - before[i].v))
        else:
            past[i] = Motion(o, o)
            free[i] = Motion(dt * free_rate(I[i], v[i].w, dt), dt * v[i].v)
        x[i] = Motion(o, o)
    for k in range(len(state.near)):
        work.near[k] = state.near[k]
    begin_springs(model.springs, second_order)
    place_bodies(model, work)
    _, _, failed = add_loads(model, model.loads, t + dt, h, work, True)
    for i in range(1, len(model.mass)):
        x[i] = free[i] + off[i]
        if state.run[STRAIGHT] > 0.0:
            x[i] = x[i] + (off[i] - off_before[i])
    return h, failed


@formula
def scales(model, work, dt):  # type: ignore[no-untyped-def]
    """(for θ, for δ): what the step's accelerations move, beside which errors of x are small; rounding is no error."""
    w = v = 0.0
    x, free, g = MotionRows(work.x, 0), MotionRows(work.free, 0), world_gravity(model)
    for i in range(1, len(model.mass)):
        d = x[i] - free[i]
        w, v = max(w, d.w @ d.w), max(v, d.v @ d.v)
    v = max(v**0.5, dt * dt * (g @ g) ** 0.5, FEW / SMALL * model.reach)
    return max(w**0.5, v / model.length, FEW / SMALL), v


@formula
def follow(model, state, work):  # type: ignore[no-untyped-def]
    """Δλ = μ (C + J d) in work.change. Returns the largest |C + J d|, Σ Δλ C and Σ Δλ J d."""
    mu, C, groups = state.mu, work.C, model.groups
    gap = raised = along = 0.0
    for i in range(len(groups)):
        for r in range(groups[i, FIRST], groups[i, FIRST] + groups[i, COUNT]):
            c = along_row(model, i, r, work.J, work.step)
            left = C[r] + c
            change = mu[r] * left
            work.change[r] = change
            raised += change * C[r]
            along += change * c
            if not (abs(left) <= gap):
                gap = abs(left)
    return gap, raised, along


@formula
def adaptive(model, state, work, t, dt):  # type: ignore[no-untyped-def]
    """The minimum with C = 0. Returns (status, body or load, Newton steps, largest |C|)."""
    lam, mu, weight, closed = state.lam, state.mu, work.weight, CLOSED * min(1.0, model.reach)
    for r in range(len(mu)):
        weight[r] = mu[r] * (JUDGING / state.run[0])
        last = lam[r]
        if state.run[STRAIGHT] > 0.0:
            lam[r] += last - state.lam_before[r]
        state.lam_before[r] = last
    E, doubt, failed = evaluate(model, lam, weight, t, dt, work)
    gap_before = error_before = LARGE
    for steps in range(1, MOST_UPDATES + 1):
        if failed >= 0:
            return LOAD_FAILED, failed, steps, gap_before
        gap = raised = slope = 0.0
        for attempt in range(2):
            status, body, down = newton_direction(model, lam, weight, mu, t, dt, work, attempt == 0)
            if status != OK:
                return status, body, steps, gap_before
            gap, raised, along = follow(model, state, work)
            slope = down + along
            if not (slope > doubt):
                break  # otherwise with squares only, which lead down
        for r in range(len(lam)):
            lam[r] += work.change[r]
        keep_start(work)
        for_turn, for_shift = scales(model, work, dt)
        error = max(largest(work.step, 0) / for_turn, largest(work.step, 3) / for_shift)
        if not (error < LARGE and gap < LARGE):
            return NOT_FINITE, 0, steps, gap
        # what the next step would be, by how much this one is shorter than the one before
        rate = min(1.0, error / error_before) if error_before < LARGE else 1.0
        if gap <= closed and error * rate <= SMALL:
            go(work, 1.0)
            return OK, 0, steps, gap
        E, doubt, failed, alpha = search(model, lam, weight, t, dt, work, E + raised, slope)
        if gap > FALL * gap_before and gap > closed:
            stiffen(state)
        gap_before, error_before = gap, error if alpha == 1.0 else LARGE
    return NOT_CLOSED if gap_before > closed else NOT_CONVERGED, 0, MOST_UPDATES, gap_before


@formula
def search(model, lam, mu, t, dt, work, E_start, slope):  # type: ignore[no-untyped-def]
    """x ← start + α d with the first α = 1, ½, … that brings a decrease; returns E there, its doubt, the load that failed, α."""
    E, doubt, failed, alpha = E_start, 0.0, -1, 1.0
    for _ in range(HALVINGS):
        go(work, alpha)
        E, doubt, failed = evaluate(model, lam, mu, t, dt, work)
        if failed >= 0 or low_enough(E, E_start, alpha, slope, doubt):
            break
        alpha *= 0.5
    return E, doubt, failed, alpha


@formula
def stiffen(state):  # type: ignore[no-untyped-def]
    """μ ← 10 μ of all rows, as long as they are not the stiffest."""
    if state.run[0] < STIFFEST:
        state.run[0] *= 10.0
        for r in range(len(state.mu)):
            state.mu[r] *= 10.0


@formula
def compliance(model, body, J, r, first):  # type: ignore[no-untyped-def]
    """J M⁻¹ Jᵀ of one row and one body."""
    if body == 0:
        return 0.0
    I, m, s = Sym3Rows(model.mass, INERTIA), model.mass[body, MASS], model.spare[body]
    w, v = Vec3(J[r, first], J[r, first + 1], J[r, first + 2]), Vec3(J[r, first + 3], J[r, first + 4], J[r, first + 5])
    K = I[body] + Sym3(s, 0.0, 0.0, s, 0.0, s)
    turning = w @ sym_solve(K, w)
    return turning + (v @ v) / m if m > 0.0 else turning


@kernel
def start_springs(model, state, work):  # type: ignore[no-untyped-def]
    """c of the springs, and its rate, at the present pose and velocity."""
    begin(model, state, work, 0.0, 1.0, False)
    at, V = MotionRows(work.x, 0), MotionRows(state.v, 0)
    o = Vec3(0.0, 0.0, 0.0)
    for i in range(len(model.mass)):
        at[i] = Motion(o, o)
    place_bodies(model, work)
    measure_springs(model, model.springs, work, V)


@kernel
def choose_stiffness(model, state, work, t, stiffness):  # type: ignore[no-untyped-def]
    """μ of every row: `stiffness` times the mass that it moves, 1/(J M⁻¹ Jᵀ), at the present pose.

    The three displacements of a hinge have one μ, and its three directions: no axis is better than another."""
    begin(model, state, work, t, 1.0, False)
    x, o = MotionRows(work.x, 0), Vec3(0.0, 0.0, 0.0)
    for i in range(len(model.mass)):
        x[i] = Motion(o, o)
    place_bodies(model, work)
    add_joints(model, state.lam, state.mu, t, work)
    groups, mu, J = model.groups, state.mu, work.J
    for i in range(len(groups)):
        r, count = groups[i, FIRST], groups[i, COUNT]
        for k in range(r, r + count):
            soft = 0.0
            if groups[i, KIND] == COUPLED:
                for slot in range(groups[i, SLOT], groups[i, SLOT] + groups[i, SLOTS]):
                    soft += compliance(model, model.slot_body[slot], J, slot, 0)
            else:
                for side in range(2):
                    soft += compliance(model, groups[i, BODY_A + side], J, k, WIDTH * side)
            mu[k] = soft
        if groups[i, KIND] == HINGE:
            d, n = (mu[r] + mu[r + 1] + mu[r + 2]) / 3.0, (mu[r + 3] + mu[r + 4] + mu[r + 5]) / 2.0
            for k in range(3):
                mu[r + k], mu[r + 3 + k] = d, n
        for k in range(r, r + count):
            mu[k] = stiffness / mu[k] if mu[k] > 0.0 else 0.0
    state.run[0] = stiffness


@formula
def fixed(model, state, work, t, dt, updates):  # type: ignore[no-untyped-def]
    """As published. Returns (status, body or load, Newton steps, largest |C|)."""
    lam, mu, C = state.lam, state.mu, work.C
    steps, gap, kept = 0, 0.0, False
    for _ in range(updates):
        E, doubt, failed = evaluate(model, lam, mu, t, dt, work)
        size_before = LARGE
        for _ in range(NEWTON_LIMIT):
            if failed >= 0:
                return LOAD_FAILED, failed, steps, gap
            for_turn, for_shift = scales(model, work, dt)
            if at_minimum(model, work, for_turn, for_shift):
                break
            if not kept:
                status, body = factor_hessian(model, lam, mu, mu, t, dt, work, True)
                if status != OK:
                    return status, body, steps, gap
            slope = direction(model, mu, mu, work)
            steps += 1
            turn, shift = largest(work.step, 0), largest(work.step, 3)
            if not (turn < LARGE and shift < LARGE):
                return NOT_FINITE, 0, steps, gap
            keep_start(work)
            E, doubt, failed, alpha = search(model, lam, mu, t, dt, work, E, slope)
            if -slope <= doubt:
                break  # no further by what E can tell
            size = max(turn / for_turn, shift / for_shift)
            kept = alpha == 1.0 and size <= KEEP * size_before
            size_before = size
        gap = 0.0
        for r in range(len(lam)):
            lam[r] += mu[r] * C[r]
            if not (abs(C[r]) <= gap):
                gap = abs(C[r])
    return OK, 0, steps, gap


@formula
def at_minimum(model, work, for_turn, for_shift):  # type: ignore[no-untyped-def]
    """Whether the gradient is what an error MINIMUM of x leaves."""
    g, I = work.gradient, Sym3Rows(model.mass, INERTIA)
    for i in range(1, len(model.mass)):
        n, f = Vec3(g[i - 1, 0], g[i - 1, 1], g[i - 1, 2]), Vec3(g[i - 1, 3], g[i - 1, 4], g[i - 1, 5])
        least = max(min(I[i].xx, I[i].yy, I[i].zz), model.spare[i])
        if not (
            f @ f <= (MINIMUM * for_shift * model.mass[i, MASS]) ** 2 and n @ n <= (MINIMUM * for_turn * least) ** 2
        ):
            return False
    return True


@formula
def finish(model, state, work, dt, h, second_order):  # type: ignore[no-untyped-def]
    """q, v, a of the end of the step from x."""
    Q, P, V, A = QuatRows(state.q, 0), Vec3Rows(state.q, 4), MotionRows(state.v, 0), MotionRows(state.a, 0)
    x, free, off = MotionRows(work.x, 0), MotionRows(work.free, 0), MotionRows(state.off, 0)
    moved, before = MotionRows(state.moved, 0), MotionRows(state.v_before, 0)
    off_before = MotionRows(state.off_before, 0)
    s, from_last, from_line = 1.0 / h, 0.0, 0.0
    for i in range(1, len(model.mass)):
        old, at, here, last = V[i], x[i], x[i] - free[i], off[i]
        change = here - last
        bend = change - (last - off_before[i])
        from_last += (change.w @ change.w) * model.length * model.length + change.v @ change.v
        from_line += (bend.w @ bend.w) * model.length * model.length + bend.v @ bend.v
        if second_order:
            third = 1.0 / 3.0
            k = coefficients(at.w)
            past = third * moved[i]
            v = Motion(s * (series_matrix(at.w, -k.b, k.c) @ (at.w - past.w)), s * (at.v - past.v))
            A[i] = s * (v - third * (4.0 * old - before[i]))
        else:
            v = s * at
            A[i] = s * (v - old)
        V[i], before[i], moved[i] = v, old, at
        off_before[i], off[i] = last, here
        Q[i] = normalized(Q[i] @ exp_quaternion(at.w))
        P[i] = P[i] + at.v
    for k in range(len(state.near)):
        state.near[k] = work.near[k]
    state.run[STRAIGHT] = 1.0 if from_line < NEARER * NEARER * from_last else 0.0
    place_bodies(model, work)
    finish_springs(model.springs, work, h)


@formula
def step(model, state, work, t, dt, updates, second_order):  # type: ignore[no-untyped-def]
    """From t to t + dt; `updates` 0: adaptive. Returns (status, body or load, Newton steps, largest |C|)."""
    h, failed = begin(model, state, work, t, dt, second_order)
    if failed >= 0:
        return LOAD_FAILED, failed, 0, 0.0
    if updates > 0:
        status, where, steps, gap = fixed(model, state, work, t + dt, h, updates)
        if status == OK and gap > ASUNDER * model.length and gap > state.run[3]:
            return NOT_CLOSED, 0, steps, gap
    else:
        status, where, steps, gap = adaptive(model, state, work, t + dt, h)
    if status == OK:
        finish(model, state, work, dt, h, second_order)
    return status, where, steps, gap


@formula
def record(model, state, t, gap, out, r):  # type: ignore[no-untyped-def]
    """Row r of out ← t, |C|, then q, v, a of each body but the ground, then λ/dt²."""
    k = 2
    out[r, 0], out[r, 1] = t, gap
    for i in range(1, len(state.q)):
        for m in range(7):
            out[r, k + m] = state.q[i, m]
        for m in range(6):
            out[r, k + 7 + m], out[r, k + 13 + m] = state.v[i, m], state.a[i, m]
        k += 19
    s = 1.0 / (state.run[2] * state.run[2])
    for m in range(len(state.lam)):
        out[r, k + m] = s * state.lam[m]


@kernel
def sample(model, state, t, out):  # type: ignore[no-untyped-def]
    """The present state into row 0 of out."""
    record(model, state, t, state.run[3], out, 0)


@kernel
def march(model, state, work, t0, dt, k, k_stop, every, updates, bdf2, out):  # type: ignore[no-untyped-def]
    """Steps k … k_stop − 1 from t₀ + k dt; every `every`-th state (0: none) goes to the next row of `out` before its step.

    Returns (status, steps done in all, rows written, body or load where it failed, largest |C|, Newton steps).
    """
    row = newton = 0
    worst = 0.0
    while k < k_stop:
        t = t0 + k * dt
        second_order = bdf2 and state.run[1] > 0.0
        if every > 0 and k % every == 0:
            record(model, state, t, state.run[3], out, row)
            row += 1
        status, where, steps, gap = step(model, state, work, t, dt, updates, second_order)
        newton += steps
        worst = max(worst, gap)
        if status != OK:
            return status, k, row, where, gap, newton
        state.run[1], state.run[3] = 1.0, gap
        state.run[2] = 2.0 * dt / 3.0 if second_order else dt
        k += 1
    return OK, k, row, -1, worst, newton
