"""How two bodies that turn together move against each other in a step of implicit Euler: not at all.

Velocities at the end of a step are x/dt. Points of two bodies that turn as one by φ, d apart, part by ½ φ × (φ × d) in each step then,
which friction that sticks takes for slip: what stands on a turntable would leave its circle by ½ ω² r dt a second. Seen from W, which turns
with them, the other body o moves by

    d − ΔR_W d₀ + (φ_o − φ_W) × s,   ΔR_W = exp φ_W        d₀, d: from W's centre to o's, at the start and the end; s: from o's centre

instead of d − d₀ − φ_W × d + (φ_o − φ_W) × s: by more by

    d₀ + φ_W × d − ΔR_W d₀ = φ_W × (d − a d₀ − b φ_W × d₀)                                    (a, b: ``increments``)

W is that of both which turns less, so that what rolls rolls by its velocity. BDF2, whose x̃ is not 0, is of second order as it is.
"""

from __future__ import annotations

from nexdyn.kernel import formula
from nexdyn.potential.increments import coefficients
from nexdyn.spatial.algebra import Vec3, cross
from nexdyn.spatial.table import MotionRows, PoseRows


@formula
def seen_from(R, theta, d, moved):
    """That of W, at the start at R, which turns by θ, d from the other, which moves by `moved` against it."""
    k, turn = coefficients(theta), R @ theta
    return cross(turn, moved + (1.0 - k.a) * d - k.b * cross(turn, d))


@formula
def carried(work, a, b):
    """By how much more body b moves against body a in the step; world axes."""
    X0, x, past = PoseRows(work.base, 0), MotionRows(work.x, 0), MotionRows(work.past, 0)
    x_a, x_b, past_a, past_b = x[a], x[b], past[a], past[b]
    zero = Vec3(0.0, 0.0, 0.0)
    if past_a.w @ past_a.w + past_a.v @ past_a.v + past_b.w @ past_b.w + past_b.v @ past_b.v > 0.0:
        return zero
    turned_a, turned_b = x_a.w @ x_a.w, x_b.w @ x_b.w
    if turned_a == 0.0 or turned_b == 0.0:
        return zero
    d, moved = X0[b].p - X0[a].p, x_b.v - x_a.v
    if turned_a <= turned_b:
        return seen_from(X0[a].R, x_a.w, d, moved)
    # what b moves by against a is what a moves by against b, the other way
    return seen_from(X0[b].R, x_b.w, d, moved)
