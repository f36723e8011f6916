"""One Newton step towards the minimum of all energies over the increments x of a step.

    E(x) = inertia + gravity + springs + loads + constraints,   x = (θ, δ) of every body

    H d = −∇E,   x ← x + α d,   α = 1, ½, ¼, … until E(x + α d) ≤ E(x) + 10⁻⁴ α d · ∇E

H is positive definite: where the elimination meets a pivot that is not, H is made again without curvature, as mass plus
squares (Gauss–Newton) and what loads add, and at last without these. So d leads down and some α is accepted.

Where E rests on guesses (forces without a potential, ``loads``, ``springs``), its gradient does not: a step then goes to where the
slope along d has fallen, |d · ∇E(x + α d)| ≤ 0.3 |d · ∇E(x)|, as it does on the way to ∇E = 0, between a place where it leads down and one
where it leads up. That takes out, too, what d overshoots by where H has not all of the derivative, as of friction in contacts over areas.
"""

from __future__ import annotations

from nexdyn.constraints.turns import expect_angles
from nexdyn.kernel import formula, outlined
from nexdyn.linalg.ldl import FINE, factor, solve
from nexdyn.linalg.rows import WIDTH
from nexdyn.potential import gravity, inertia, rod
from nexdyn.potential.blocks import add_upper
from nexdyn.potential.contact import add_contacts, add_contacts_hessian
from nexdyn.potential.increments import chart_curvature, coefficients, series_matrix
from nexdyn.potential.joints import add_joints, add_joints_hessian, subtract_rows, upper
from nexdyn.potential.loads import add_loads, add_loads_hessian
from nexdyn.potential.springs import add_springs, add_springs_hessian
from nexdyn.potential.tables import Masses, ThinBodies
from nexdyn.spatial.algebra import Force, Pose, T, Vec3, full
from nexdyn.spatial.table import ForceRows, Mat3Rows, MotionRows, PoseRows, Vec3Rows

OK, SINGULAR = 0, 1
SUFFICIENT = 1e-4
"""Part of the first-order decrease that a step must bring."""
ROUNDING = 1e-14
DOUBT = 0.1
"""Part of what is guessed of E by which E may be off."""
FLATTER = 0.3
"""What the slope must be of that at the start, where E is guessed."""


@formula
def world_gravity(model):
    """g as a vector."""
    return Vec3(model.gravity[0], model.gravity[1], model.gravity[2])


@formula
def place_bodies(model, work):
    """R, δ and A of all bodies at x."""
    X0, X, A, x = PoseRows(work.base, 0), PoseRows(work.pose, 0), Mat3Rows(work.turning, 0), MotionRows(work.x, 0)
    for i in range(1, len(model.mass)):
        k, base = coefficients(x[i].w), X0[i]
        X[i] = Pose(base.R @ series_matrix(x[i].w, k.a, k.b), x[i].v)
        A[i] = base.R @ series_matrix(x[i].w, k.b, k.c)
    expect_angles(model.angles, model.angle_frames, model.expected, work.pose, work.x, work.counted, work.near)


@formula
def evaluate(model, lam, mu, t, dt, work):
    """∇E, C and J at work.x. Returns E, what rounding leaves of it, by how much it may be off, and the load that failed or −1."""
    place_bodies(model, work)
    F, zero = ForceRows(work.force, 0), Vec3(0.0, 0.0, 0.0)
    for i in range(len(model.mass)):
        F[i] = Force(zero, zero)
    E, size = add_joints(model, lam, mu, t, work)
    of_springs, size_of_springs, guessed = add_springs(model, model.springs, t, dt, work)
    x, free, A = MotionRows(work.x, 0), MotionRows(work.free, 0), Mat3Rows(work.turning, 0)
    I, g, out = ThinBodies(model.rods).rest, world_gravity(model), ForceRows(work.gradient, 0)
    X0, to_axis, rest = PoseRows(work.base, 0), Vec3Rows(work.rod, 0), Vec3Rows(work.rod, 3)
    of_bodies = of_springs
    size += size_of_springs
    for i in range(1, len(model.mass)):
        m, at, to = Masses(model.mass)[i].m, x[i], free[i]
        moving, falling = inertia.value(m, I[i], at, to), gravity.value(m, g, at, dt)
        of_bodies += moving + falling
        size += abs(moving) + abs(falling)
        n, f = inertia.gradient(m, I[i], at, to)
        J, e = rod.axis(model, i)
        if J > 0.0:
            turning, size_of_turning = rod.value(J, e, at.w, to_axis[i])
            left = rest[i] @ (at.w - to.w)
            of_bodies += turning + left
            size += size_of_turning + abs(left)
            F[i] = Force(F[i].n + X0[i].R @ rod.covector(J, e, at.w, to_axis[i]), F[i].f)
            n = n + rest[i]
        out[i - 1] = Force(n + T(A[i]) @ F[i].n, f + gravity.gradient(m, g, dt) + F[i].f)
    of_contacts = add_contacts(model, model.contacts, dt, work)
    of_loads, guess, failed = add_loads(model, model.loads, t, dt, work)
    guessed += guess
    rounding = ROUNDING * (size + abs(of_loads) + of_contacts)
    return of_bodies + of_loads + of_contacts + E, rounding, rounding + DOUBT * guessed, failed


@formula
def hessian(model, lam, weight, mu, t, dt, work, curved, loaded, careful):
    """H in work.blocks at the point of the last evaluation; `curved`: with curvature, `loaded`: with what loads add, `careful`: as
    loads are after a step that had to be shortened."""
    blocks, I, to_axis = work.blocks, ThinBodies(model.rods).rest, Vec3Rows(work.rod, 0)
    X, x, F = PoseRows(work.pose, 0), MotionRows(work.x, 0), ForceRows(work.force, 0)
    for k in range(len(blocks)):
        blocks[k] = 0.0
    for i in range(1, len(model.mass)):
        D, m = model.diagonal[i], Masses(model.mass)[i].m
        add_upper(blocks, D, I[i])
        for c in range(3):
            blocks[D + (WIDTH + 1) * c] += model.spare[i, 0]
            blocks[D + (WIDTH + 1) * (c + 3)] += m + model.spare[i, 1]
        theta = x[i].w
        k = coefficients(theta)
        J, e = rod.axis(model, i)
        if J > 0.0:
            K, Jl = rod.curvature(J, e, theta, to_axis[i], curved), series_matrix(theta, k.b, k.c)
            add_upper(blocks, D, upper(T(Jl) @ full(K) @ Jl))
        if curved:
            add_upper(blocks, D, chart_curvature(theta, T(X[i].R) @ F[i].n, k))
    add_joints_hessian(model, lam, weight, mu, t, work, curved)
    add_springs_hessian(model, model.springs, t, work, curved)
    add_contacts_hessian(model, model.contacts, dt, work)
    if loaded:
        add_loads_hessian(model, model.loads, t, dt, work, careful)


@outlined
def factor_hessian(model, lam, weight, mu, t, dt, work, curved, careful):
    """The factors of H, of E with the penalty μ, at a point evaluated with the penalty `weight`; `curved`: with curvature if
    H is positive definite then. Returns (status, body without a pivot)."""
    wrong = failed = 1
    for attempt in range(3):
        if attempt == 2 and model.loads is None:
            break
        hessian(model, lam, weight, mu, t, dt, work, curved and attempt == 0, attempt < 2, careful)
        wrong, failed = factor(model.plan, work.blocks, work.scratch)
        if wrong == FINE and failed == FINE:
            return OK, 0
    return SINGULAR, 1 + (failed if failed != FINE else wrong)


@formula
def direction(model, weight, mu, work):
    """d in work.step by the factors that are there, 0 of bodies that are still; returns d · ∇E of `weight`."""
    step, g = work.step, work.gradient
    for i in range(len(step)):
        for k in range(WIDTH):
            step[i, k] = -g[i, k]
    y = work.change
    for r in range(len(y)):
        y[r] = (mu[r] - weight[r]) * work.C[r]
    subtract_rows(model, y, work.J, step)
    solve(model.plan, work.blocks, step)
    for i in range(len(step)):
        if work.still[i + 1] > 0.0:
            for k in range(WIDTH):
                step[i, k] = 0.0
    return slope_along(work)


@formula
def go(work, alpha):
    """x ← start + α d."""
    for i in range(len(work.step)):
        for k in range(6):
            work.x[i + 1, k] = work.start[i + 1, k] + alpha * work.step[i, k]


@formula
def keep_start(work):
    """start ← x."""
    for i in range(len(work.x)):
        for k in range(6):
            work.start[i, k] = work.x[i, k]


@formula
def low_enough(E, E_start, alpha, slope, doubt):
    """Whether a step of α brought the decrease that is asked, as far as E can tell; not where E is NaN."""
    return E <= E_start + SUFFICIENT * alpha * slope + doubt


@formula
def slope_along(work):
    """d · ∇E."""
    step, g, slope = work.step, work.gradient, 0.0
    for i in range(len(step)):
        for k in range(6):
            slope += step[i, k] * g[i, k]
    return slope


@formula
def largest(rows, first):
    """Largest length of the vectors in columns first … first + 2 of the rows."""
    most = 0.0
    for i in range(len(rows)):
        s = (
            rows[i, first] * rows[i, first]
            + rows[i, first + 1] * rows[i, first + 1]
            + rows[i, first + 2] * rows[i, first + 2]
        )
        if not (s <= most):
            most = s
    return most**0.5
