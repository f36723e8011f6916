"""How two bodies that turn together move against each other in a step of implicit Euler: not at all.

Velocities at the end of a step are x/dt. Points of two bodies that turn as one by φ, d apart, part by ½ φ × (φ × d) in each step then,
which friction that sticks takes for slip: what stands on a turntable would leave its circle by ½ ω² r dt a second. Seen from axes that
turn by φ_c, in which s is from each centre to the point, b moves against a by

    d − ΔR_c d₀ + (φ_b − φ_c) × s_b − (φ_a − φ_c) × s_a,   ΔR_c = exp φ_c     d₀, d: from a's centre to b's, at the start and the end

instead of d − d₀ + φ_b × s_b − φ_a × s_a: by more by

    d₀ + φ_c × d − ΔR_c d₀ = φ_c × (d − a d₀ − b φ_c × d₀)                                    (a, b: ``increments``)

φ_c is what both turn by together, and nothing of it is left where they turn against each other or one stands, so that what rolls rolls
by its velocity:

    φ_c = (φ_a + φ_b) φ_a · φ_b/(|φ_a|² + |φ_b|²)   where φ_a · φ_b > 0, else 0

BDF2, whose x̃ is not 0, is of second order as it is.
"""

from __future__ import annotations

from nexdyn.kernel import formula
from nexdyn.potential.increments import coefficients
from nexdyn.spatial.algebra import Vec3, cross
from nexdyn.spatial.table import MotionRows, PoseRows


@formula
def carried(work, a, b):
    """By how much more body b moves against body a in the step; world axes."""
    X0, x, past = PoseRows(work.base, 0), MotionRows(work.x, 0), MotionRows(work.past, 0)
    x_a, x_b, past_a, past_b = x[a], x[b], past[a], past[b]
    zero = Vec3(0.0, 0.0, 0.0)
    if past_a.w @ past_a.w + past_a.v @ past_a.v + past_b.w @ past_b.w + past_b.v @ past_b.v > 0.0:
        return zero
    turn_a, turn_b = X0[a].R @ x_a.w, X0[b].R @ x_b.w
    along = turn_a @ turn_b
    if not along > 0.0:
        return zero
    turn = (along / (turn_a @ turn_a + turn_b @ turn_b)) * (turn_a + turn_b)
    d, moved, k = X0[b].p - X0[a].p, x_b.v - x_a.v, coefficients(turn)
    return cross(turn, moved + (1.0 - k.a) * d - k.b * cross(turn, d))
