"""Friction that sticks, at a point of contact: a spring along the surfaces that yields where Coulomb's law says so.

    σ = ρ d(k δᵉ)/dδ                stiffness along the surfaces: the part ρ of that along the normal, at the depth δ at hand
    F = √σ y + d v,   d = 2 ζ √(m σ)             v: velocity of A against B along the surfaces
    f = −s F,   ẏ = s √σ v + w n × y,   s = min(1, μ f_n/|F|),   |y| ≤ μ f_n/√σ
    w = ½ n · (ω_A − ω_B)
    μ(v) = μ + (μ_s − μ) exp(−(|v|/v_s)²)        Coulomb's when it slides, μ_s at which it breaks away, by Stribeck's curve

y [√J], in the axes of B, is what the spring is stretched by: it stores ½ |y|², whatever the normal force does
meanwhile, and its power is s √σ y · v, no more than −f · v: the law makes no energy. About the normal n it turns as both bodies do on
average, w against B: half of what gives is in each, and neither is the first. The deflection y/√σ would not do as a state: kept
while δ and σ grow, it makes energy out of nothing. Where the surfaces part, σ, f and the bound of y are 0, so that a spring is released
with its normal force, and the next contact begins with none.

Why no bristle that flows before it slides, like that of ``joint_friction``: its flow begins below the cone, and there it walks with
every sway of the load. Here nothing flows below the cone: a body that sways comes back to where it was, and what stands, stands.

`bound` (nz,) in the tables of forces is the largest |y| at the last evaluation of the force. Explicit methods integrate y as it
stands: beyond its bound it changes no force, and turns as it would there. They shorten and lay it anew where a step begins. Implicit
ones ask for y at the end of the step, y⁺ = c + g ẏ⁺, which is

    y⁺ = c′ + s g √σ v′,   c′ = M c,   v′ = M v⁺,   M = (1 − g w n ×)⁻¹ = (1 + g w n ×)/(1 + g² w²) along the surfaces

with s of F there, s |√σ c′ + s σ g v′ + d v⁺| = μ f_n where it yields.

ρ is 2 (1 − ν)/(2 − ν) for spheres of one material (Mindlin, J. Appl. Mech. 16, 1949), 0.82 for ν = 0.3. m: of both bodies,
m_A m_B/(m_A + m_B).
y lies along the surfaces: where their normal n has turned since, it is laid along them again, y − n (n · y) at its old length.
What lies along them to rounding, and is no longer than its bound to rounding, stays as it is: to evaluate a force again changes nothing.
A force is evaluated in the axes of B, in which y is kept: turned there and back, y would be another by rounding.
Data: a `Friction`. States: the three components of y in the axes of B.

A contact over an area also holds against turning about its normal: F, y and v then have a fourth component, of the torque over a
radius r and of r times the relative rate of turning about n, and all of the law holds for the four together: a body that slides while
it turns is held by less against each. r is 2√2/3 times the radius of gyration of the pressure about its centre: what turns alone is held
by as much as ∫ μ p |ρ| dA of a disc of even pressure, 2/3 μ f_n R (of a square 0.6 % more than that integral, of a line 9 %).
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from nexdyn.generic import defines, generic
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Vec3, cross, norm
from nexdyn.spatial.lanes import exp, greater, if_less, sqrt, zero

LEAST, ITERATIONS = 1e-300, 60
ROUNDING = 1e-14
"""Part of |y| by which y may leave the surfaces, or exceed its bound."""


class Slip(NamedTuple):
    """y, F or v of a contact over an area: along the surfaces, and the fourth component, about the normal."""

    along: Vec3
    about: float


@defines(operator.add)
def _(a: Slip, b: Slip) -> Any:
    return Slip(a.along + b.along, a.about + b.about)


@defines(operator.sub)
def _(a: Slip, b: Slip) -> Any:
    return Slip(a.along - b.along, a.about - b.about)


@defines(operator.mul)
def _(s: float, a: Slip) -> Any:
    return Slip(s * a.along, s * a.about)


@defines(operator.matmul)
def _(a: Slip, b: Slip) -> Any:
    return a.along @ b.along + a.about * b.about


class Grip(NamedTuple):
    """What holds at a point of contact: √σ, d, and the most that the force may be, μ f_n."""

    root: Any
    damping: Any
    most: Any


@formula
def grip(friction, slope, f_n, speed):
    """At d(k δᵉ)/dδ = slope, the normal force f_n and the sliding speed."""
    root = sqrt(friction.ratio * slope)
    ratio = speed / friction.stribeck
    mu = friction.mu + (friction.static - friction.mu) * exp(-ratio * ratio)
    return Grip(root, friction.damping * root, mu * f_n)


@formula
def shortening(F, most):
    """What F is to be multiplied by to be no longer than `most`."""
    length = norm(F)
    return if_less((1.0 + ROUNDING) * most, length, most / greater(length, LEAST), 1.0)


@formula
def shortened(y, most):
    """y, no longer than `most`."""
    return shortening(y, most) * y


laid = generic("laid", "y along the surfaces with the unit normal n, as long as it is.")


@defines(laid)
def _(y: Slip, n: Vec3) -> Any:
    return Slip(laid(y.along, n), y.about)


@defines(laid)
def _(y: Vec3, n: Vec3) -> Any:
    off, square = n @ y, y @ y
    along = y - off * n
    length = norm(along)
    again = if_less(LEAST, length, sqrt(square) / greater(length, LEAST), zero(off)) * along
    most, offset = ROUNDING * ROUNDING * square, off * off
    return Vec3(
        if_less(most, offset, again.x, y.x), if_less(most, offset, again.y, y.y), if_less(most, offset, again.z, y.z)
    )


spun = generic("spun", "n × y of what lies along the surfaces.")


@defines(spun)
def _(y: Slip, n: Vec3) -> Any:
    return Slip(cross(n, y.along), 0.0 * y.about)


@defines(spun)
def _(y: Vec3, n: Vec3) -> Any:
    return cross(n, y)


turned = generic("turned", "M y of what lies along the surfaces, at g w = x.")


@defines(turned)
def _(y: Slip, n: Vec3, x: Any) -> Any:
    return Slip(turned(y.along, n, x), y.about)


@defines(turned)
def _(y: Vec3, n: Vec3, x: Any) -> Any:
    return (1.0 / (1.0 + x * x)) * (y + x * cross(n, y))


@formula
def bound(g):
    """What |y| may be."""
    return if_less(LEAST, g.root, g.most / greater(g.root, LEAST), zero(g.root))


@formula
def drag(g, y, v, n, w):
    """f, y within its bound and ẏ there; and ẏ of y: beyond its bound it turns as it would turn there."""
    most = bound(g)
    inside = shortened(y, most)
    F = g.root * inside + g.damping * v
    s = shortening(F, g.most)
    squared, o = y @ y, zero(most)
    beyond = if_less(LEAST, most, sqrt(squared) / greater(most, LEAST) - 1.0, o)
    beyond = if_less(ROUNDING, beyond, beyond, o)
    across_y = v - if_less(o, beyond, (y @ v) / greater(squared, LEAST), o) * y
    rate, outside = (s * g.root) * v + w * spun(inside, n), (s * g.root) * (v + beyond * across_y) + w * spun(y, n)
    return (-s) * F, inside, rate, outside


@formula
def yielding(g, c, v, time, n, w):
    """s at the end of a step, of c, g = `time` and the velocity v: s² |a + s b|² = (μ f_n)² where |a + b| is more."""
    a = g.root * turned(c, n, time * w) + g.damping * v
    b = (g.root * g.root * time) * turned(v, n, time * w)
    p, q, r, squared = a @ a, a @ b, b @ b, g.most * g.most
    if p + 2.0 * q + r <= (1.0 + ROUNDING) * (1.0 + ROUNDING) * squared:
        return 1.0
    low, high, s = 0.0, 1.0, g.most / (sqrt(p) + sqrt(r) + LEAST)
    for _ in range(ITERATIONS):
        off = s * s * (p + s * (2.0 * q + s * r)) - squared
        if off > 0.0:
            high = s
        else:
            low = s
        slope = s * (2.0 * p + s * (6.0 * q + s * 4.0 * r))
        better = s - off / slope if slope > 0.0 else low
        better = better if low < better < high else 0.5 * (low + high)
        if abs(better - s) <= ROUNDING * s:
            return better
        s = better
    return s


@formula
def stretched(g, c, v, time, n, w):
    """y at the end of such a step."""
    return shortened(turned(c + (yielding(g, c, v, time, n, w) * g.root * time) * v, n, time * w), bound(g))


@formula
def stiffness_across(g, c, v, time, n, w):
    """s (s σ g + d) at the end of such a step: −∂f/∂v, of what slides the secant, without what turns meanwhile."""
    s = yielding(g, c, v, time, n, w)
    return s * (s * g.root * g.root * time + g.damping)
