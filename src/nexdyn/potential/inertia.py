"""Inertia: the distance, in the metric of mass, from where the body would go by itself.

    E = ½ m |δ − δ̂|² + ½ (θ − θ̂)ᵀ I (θ − θ̂)
    gradient (I (θ − θ̂), m (δ − δ̂)),   Hessian diag(I, m 1)

x̂ = (θ̂, δ̂) is the free motion over the step: δ̂ = dt v, and θ̂ = dt ω̂ with the rate ω̂ at its end that keeps the angular
momentum in space,

    I ω̂ = exp(−dt ω̂) I ω         (implicit Euler for ω̇ = −I⁻¹ ω × I ω)

In planar motion and for isotropic I that is ω̂ = ω, x̂ = x + dt v. For any other body |I ω̂| = |I ω| and

    ω̂ᵀ I ω̂ − ωᵀ I ω = −(ω̂ − ω)ᵀ I (ω̂ − ω) ≤ 0         since ω̂ · exp(−dt ω̂) I ω = ω̂ · I ω

so that a free body neither gains energy nor loses momentum, however long the step.

Of BDF2, with the velocity (x − x̃)/dt̃ and ṽ as below, x̂ = x̃ + dt̃ ṽ for translations; for rotations θ̂ is chosen so that
at a predicted θ the gradient is that of Euler's equations on the group:

    I (θ − θ̂) = J_rᵀ (I J_r (θ − θ̃) − dt̃ exp(−θ) π̃),   π̃ = momentum of the steps before, in the axes of step n

Bodies thin about an axis have an energy of their own (``rod``), and this one for what that leaves.
"""

from __future__ import annotations

from nexdyn.kernel import formula
from nexdyn.potential.increments import coefficients, series_matrix
from nexdyn.spatial.algebra import Sym3, T, Vec3, cross

ITERATIONS = 25
ACCURATE = 4e-16
MOST_PARTS = 64


@formula
def value(m, I, x, free):
    """E of a body at x = (θ, δ) with x̂ = free, Motions."""
    w, v = x.w - free.w, x.v - free.v
    return 0.5 * (m * (v @ v) + w @ (I @ w))


@formula
def gradient(m, I, x, free):
    """(I (θ − θ̂), m (δ − δ̂))."""
    return I @ (x.w - free.w), m * (x.v - free.v)


@formula
def solve_3(c0, c1, c2, b):
    """x of [c₀ c₁ c₂] x = b, by Cramer's rule."""
    n = cross(c1, c2)
    k = 1.0 / (c0 @ n)
    return Vec3(k * (b @ n), k * (c0 @ cross(b, c2)), k * (c0 @ cross(c1, b)))


@formula
def sym_solve(I, b):
    """I⁻¹ b."""
    return solve_3(Vec3(I.xx, I.xy, I.xz), Vec3(I.xy, I.yy, I.yz), Vec3(I.xz, I.yz, I.zz), b)


@formula
def implicit_rate(I, w, dt):
    """(converged, ω̂) of I ω̂ = exp(−dt ω̂) I ω by Newton's method from ω."""
    p, u = I @ w, w
    size = p @ p
    for _ in range(ITERATIONS):
        theta = dt * u
        k = coefficients(theta)
        turned = T(series_matrix(theta, k.a, k.b)) @ p
        F = I @ u - turned
        if F @ F <= ACCURATE * ACCURATE * size:
            return True, u
        # dF = I + dt [turned]× J_r,  since d(exp(−θ) p) = −J_r dθ × exp(−θ) p
        Jr = series_matrix(theta, -k.b, k.c)
        n = dt * turned
        c0 = Vec3(I.xx, I.xy, I.xz) - cross(n, Vec3(Jr.xx, Jr.yx, Jr.zx))
        c1 = Vec3(I.xy, I.yy, I.yz) - cross(n, Vec3(Jr.xy, Jr.yy, Jr.zy))
        c2 = Vec3(I.xz, I.yz, I.zz) - cross(n, Vec3(Jr.xz, Jr.yz, Jr.zz))
        step = solve_3(c0, c1, c2, F)
        u = u - step
        if not (u @ u < 1e300):
            break
        if step @ step <= 1e-30 * (u @ u):
            return True, u
    return False, w


@formula
def free_rate(I, w, dt):
    """ω̂; a step too long for Newton's method is taken in parts, whose last rate it is."""
    found, u = implicit_rate(I, w, dt)
    parts = 2
    while not found and parts <= MOST_PARTS:
        u = w
        for _ in range(parts):
            found, u = implicit_rate(I, u, dt / parts)
            if not found:
                break
        parts *= 2
    return u


@formula
def slope_at(I, theta, past, momentum, dt):
    """J_rᵀ (I J_r (θ − θ̃) − dt̃ exp(−θ) π̃) at θ; past = θ̃, dt = dt̃, momentum = π̃."""
    k = coefficients(theta)
    Jr = series_matrix(theta, -k.b, k.c)
    return T(Jr) @ (I @ (Jr @ (theta - past)) - dt * (T(series_matrix(theta, k.a, k.b)) @ momentum))


@formula
def free_turn_bdf2(I, theta, past, momentum, dt, spare):
    """θ̂ of BDF2 for the predicted θ; spare: inertia borrowed where I has next to none."""
    lent = Sym3(spare, 0.0, 0.0, spare, 0.0, spare)
    return theta - sym_solve(I + lent, slope_at(I, theta, past, momentum, dt))
