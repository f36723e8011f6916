"""Point-to-point spring-damper between the origins of A and B.

    r = p_B − p_A,   L = |r|,   u = r/L,   L̇ = u · (v_B − v_A)
    T = k (L − L₀) + d L̇ + f₀         tension: it pulls the points together
    f on A = T u,   f on B = −T u;   U = ½ k (L − L₀)² + f₀ (L − L₀)

Where L = 0 (below 1e-12 of the points' distance from the origin) no direction is better than another. What is left there is the
damper, f = d (v_B − v_A), to which it tends wherever the points come from; for L₀ = f₀ = 0 the spring tends to 0 (f = k r), otherwise
the points repel or attract with |k L₀ − f₀| as soon as they part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nexdyn.forces.between import PairForce, non_negative, opposite
from nexdyn.forces.kinds import POINT_SPRING
from nexdyn.forces.page import ALL_LANES, Between, add_outer
from nexdyn.kernel import formula
from nexdyn.model.element import Element
from nexdyn.records import Record
from nexdyn.spatial.algebra import Force, Vec3
from nexdyn.spatial.lanes import greater, if_less, sqrt, zero

ROUNDED, NOTHING = 1e-24, 1e-300
"""L² as a part of the squares of the two places, and alone, below which the line through the two points has no direction."""


class Spring(Record):
    """Its data: k, d, L₀, f₀."""

    stiffness: float
    damping: float
    length: float
    force: float


class PointSpring(PairForce):
    """A spring-damper along the line from a point of `a` to a point of `b`.

    stiffness [N/m], damping [N s/m], length: where the spring is relaxed [m], force: tension at that length [N].
    a, b, anchor_a, anchor_b, at_a, at_b: where (:class:`PairForce`).
    """

    kind, code = "point_spring", POINT_SPRING
    stiffness: Any
    damping: Any
    length: Any
    force: Any

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str,
        *,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        length: Any = 0.0,
        force: Any = 0.0,
        anchor_a: Any = None,
        anchor_b: Any = None,
        at_a: Any = None,
        at_b: Any = None,
    ) -> None:
        super().__init__(name, a, b, anchor_a=anchor_a, anchor_b=anchor_b, at_a=at_a, at_b=at_b)
        self._store(stiffness=stiffness, damping=damping, length=length, force=force)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Stiffness, damping, length, force."""
        return [
            self.number_of("stiffness", values),
            non_negative(self, "damping", values),
            non_negative(self, "length", values),
            self.number_of("force", values),
        ]


@formula
def length_and_direction(p_A, p_B):
    """L = |p_B − p_A| and u = (p_B − p_A)/L; 0 and 0 where only rounding of the two places keeps them apart."""
    r = p_B - p_A
    squared, rounded = r @ r, ROUNDED * (p_A @ p_A + p_B @ p_B) + NOTHING
    L = sqrt(if_less(squared, rounded, zero(squared) + 1.0, squared))
    return if_less(squared, rounded, zero(L), L), if_less(squared, rounded, zero(L), 1.0 / L) * r


@formula
def along(T, u):
    """Forces on A and B of the tension T along u."""
    o = zero(T)
    return opposite(Force(Vec3(o, o, o), T * u))


@formula
def wrench(data, k, X_WA, V_A, X_WB, V_B):
    """Forces on A and on B, each at its origin, in the world."""
    L, u = length_and_direction(X_WA.p, X_WB.p)
    v = V_B.v - V_A.v
    spring = Spring(data, k)
    T = spring.stiffness * (L - spring.length) + spring.damping * (u @ v) + spring.force
    o = zero(T)
    return opposite(Force(Vec3(o, o, o), T * u + if_less(L, NOTHING, o + spring.damping, o) * v))


@formula
def energy(data, k, X_WA, X_WB):
    """U = ½ k (L − L₀)² + f₀ (L − L₀)."""
    L, _ = length_and_direction(X_WA.p, X_WB.p)
    spring = Spring(data, k)
    x = L - spring.length
    return (0.5 * spring.stiffness * x + spring.force) * x


@formula
def slopes(data, k, X_WA, V_A, X_WB, V_B, gh, bh2, K):
    """k u uᵀ + T/L (1 − u uᵀ), d u uᵀ; the second part where it does not make the matrix indefinite."""
    L, u = length_and_direction(X_WA.p, X_WB.p)
    spring, o = Spring(data, k), zero(L)
    tension = spring.stiffness * (L - spring.length) + spring.damping * (u @ (V_B.v - V_A.v)) + spring.force
    across = bh2 * if_less(o, L, greater(o, tension) / L, spring.stiffness)
    for c in range(3):
        K[3 + c, 3 + c] = across
    add_outer(K, bh2 * spring.stiffness + gh * spring.damping - across, Vec3(o, o, o), u)
    return True


PAGE = Between(POINT_SPRING, "PointSpring", wrench, energy, slopes, ALL_LANES)
