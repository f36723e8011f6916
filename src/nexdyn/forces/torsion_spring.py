"""Torsion spring about z of A: it acts on the angle θ from x of A to x of B, seen along z of A.

    (c, s, d) = R_WAᵀ x_B,   θ = atan2(s, c) in (−π, π],   δ = θ − θ₀ wrapped to (−π, π]
    δ̇ = g · ω,   ω = R_WAᵀ (ω_B − ω_A),   g = e_z − d (c, s, 0)/(c² + s²)
    n on B = −T R_WA g,   n on A = T R_WA g,   T = k δ + d δ̇ + m₀;   U = ½ k δ² + m₀ δ

g is e_z where x of B lies in the xy-plane of A, as in a joint about z; with it the torque's power is −U̇ however the
frames turn. Turns are not counted: half a turn from the rest angle the torque jumps from −k π to k π (the stiffness of
a joint has no such end). Where x of B is along z of A (c² + s² < 1e-12) there is no angle, and no torque.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from nexdyn.forces.between import PairForce, non_negative, opposite
from nexdyn.forces.kinds import TORSION_SPRING
from nexdyn.kernel import formula
from nexdyn.model.element import Element
from nexdyn.spatial.algebra import Force, T, Vec3
from nexdyn.spatial.lanes import atan2, if_less, zero

TINY = 1e-12
"""c² + s² below which x of B has no direction in the xy-plane of A."""


class TorsionSpring(PairForce):
    """A torsional spring-damper about z of `a`, on the angle in (−π, π] from x of `a` to x of `b`.

    stiffness [N m/rad], damping [N m s/rad], rest: angle where the spring is relaxed [rad], torque: what it resists
    with at that angle [N m]. a, b: bodies or markers (or their names); their axes say what is meant.
    """

    kind, code = "torsion_spring", TORSION_SPRING
    stiffness: Any
    damping: Any
    rest: Any
    torque: Any

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str,
        *,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        rest: Any = 0.0,
        torque: Any = 0.0,
    ) -> None:
        super().__init__(name, a, b)
        self._store(stiffness=stiffness, damping=damping, rest=rest, torque=torque)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Stiffness, damping, cosine and sine of the rest angle, torque."""
        rest = self._number("rest", values)
        return [
            self._number("stiffness", values),
            non_negative(self, "damping", values),
            math.cos(rest),
            math.sin(rest),
            self._number("torque", values),
        ]


@formula
def deflection(data, k, x):  # type: ignore[no-untyped-def]
    """δ of x_B = (c, s, d) in A: the angle from the rest direction (c₀, s₀) to (c, s)."""
    c0, s0 = data[k + 2], data[k + 3]
    return atan2(x.y * c0 - x.x * s0, x.x * c0 + x.y * s0)


@formula
def wrench(data, k, X_WA, V_A, X_WB, V_B):  # type: ignore[no-untyped-def]
    """Forces on A and on B, each at its origin, in the world."""
    R = X_WB.R
    x = T(X_WA.R) @ Vec3(R.xx, R.yx, R.zx)
    squared = x.x * x.x + x.y * x.y
    o = zero(squared)
    # g = e_z − d (c, s, 0)/(c² + s²)
    h = if_less(squared, TINY, o, x.z / if_less(squared, TINY, o + 1.0, squared))
    g = X_WA.R @ Vec3(-(h * x.x), -(h * x.y), if_less(squared, TINY, o, o + 1.0))
    # T = k δ + d δ̇ + m₀
    torque = data[k] * deflection(data, k, x) + data[k + 1] * (g @ (V_B.w - V_A.w)) + data[k + 4]
    return opposite(Force(torque * g, Vec3(o, o, o)))


@formula
def energy(data, k, X_WA, X_WB):  # type: ignore[no-untyped-def]
    """U = ½ k δ² + m₀ δ."""
    R = X_WB.R
    angle = deflection(data, k, T(X_WA.R) @ Vec3(R.xx, R.yx, R.zx))
    return (0.5 * data[k] * angle + data[k + 4]) * angle
