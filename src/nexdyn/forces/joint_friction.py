"""Dry friction in a joint that sticks: an elasto-plastic bristle with Stribeck's curve.

    g(v) = F_c + (F_s − F_c) exp(−(v/v_s)²)                       Coulomb's F_c when it slides, F_s at which it breaks away
    ż = v (1 − α(z, v) v z/(|v| z_s)),   z_s = g(v)/σ₀             the deflection z of the bristle [m, rad]
    α = 0 for |z| ≤ z_b, or v z < 0;   (1 − cos(π (|z| − z_b)/(z_s − z_b)))/2 between;   1 for |z| ≥ z_s
    τ = −(σ₀ z + σ₁ ż + σ₂ v)
                                            (Dupont, Hayward, Armstrong & Altpeter, IEEE Trans. Automat. Contr. 47, 2002)

A bristle is used, and not modes that an event switches: many joints can stick and slip at once without a search over combinations of
modes, and z is integrated, recorded and restarted like other states.

With law="lugre" α = 1 throughout,  ż = v − |v| z/z_s:  the LuGre model (Canudas de Wit, Olsson, Åström & Lischinsky, IEEE Trans. Automat.
Contr. 40, 1995), for parameters that were identified with it. Its bristle also slips while the joint sticks, so the joint creeps under
an oscillating load, however small: it is not the default for that reason. z_b = 0 is not LuGre: there α grows with z² from 0.

Below z_b = b F_c/σ₀ (b = `elastic`, 0.7) the bristle is a spring. A joint whose load never exceeds b F_c moves by load/σ₀ at most, however
long the load acts and however it oscillates, and returns to its place. Under a constant load f < b F_c its velocity at rest is exactly 0.
σ₁ = 2 ζ √(σ₀ m) damps the bristle.

It breaks away where the creep that precedes slip reaches the Stribeck speed, (1 − α) v_s = Ḟ/σ₀: at F_s where the load rises slowly, a
little below F_s where it rises faster. A larger σ₀ brings it nearer to F_s.

Its state: z.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos as cosine
from math import exp, pi
from typing import Any

from nexdyn.errors import InputError, unknown
from nexdyn.forces.between import FreedomForce, non_negative, positive
from nexdyn.forces.kinds import JOINT_FRICTION
from nexdyn.forces.page import NO_LANES, STORES_NOTHING, InFreedom, alone, no_number
from nexdyn.forces.tables import ForceEntries
from nexdyn.kernel import formula
from nexdyn.model.element import Element, name_of
from nexdyn.model.force import Force as ForceElement
from nexdyn.records import Record

LAWS = ("elasto_plastic", "lugre")
ELASTIC = 0.7


class Bristle(Record):
    """Its data: F_c, F_s, v_s, σ₀, σ₁, σ₂, b (−1 of LuGre)."""

    sliding: float
    static: float
    stribeck: float
    stiffness: float
    damping: float
    viscous: float
    elastic: float


class JointFriction(FreedomForce):
    """Dry friction in one degree of freedom of a joint, with stiction.

    sliding [N, N m]: Coulomb friction. static [N, N m]: friction at breakaway, `sliding` or more (default: `sliding`). stribeck_speed [m/s,
        rad/s]: the speed over which friction falls from static to sliding. viscous [N s/m, N m s/rad]: of friction proportional to speed.
    stiffness [N/m, N m/rad]: of the bristle; the joint moves by sliding / stiffness before it slides. damping [N s/m, N m s/rad]: of the
        bristle; 2 √(stiffness · inertia) is critical. elastic: part of `sliding` below which nothing creeps (default: 0.7).
    law: "elasto_plastic", which sticks, or "lugre", the LuGre model, which creeps under oscillating loads and has no `elastic`.
    freedom: which of the joint's degrees of freedom, from 0.
    """

    kind, code = "joint_friction", JOINT_FRICTION
    needs_coordinate = False
    sliding: Any
    static: Any
    stribeck_speed: Any
    viscous: Any
    stiffness: Any
    damping: Any
    elastic: Any
    law: str
    structural = ForceElement.structural | {"law"}

    def __init__(
        self, name: str, joint: Element | str, *, sliding: Any, stiffness: Any, static: Any = None,
        stribeck_speed: Any = 0.01, viscous: Any = 0.0, damping: Any = 0.0, elastic: Any = None,
        law: str = "elasto_plastic", freedom: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(name)
        self._store(
            joint=name_of(joint), sliding=sliding, stiffness=stiffness, static=static, stribeck_speed=stribeck_speed,
            viscous=viscous, damping=damping, elastic=elastic, law=law, freedom=freedom,
        )  # fmt: skip

    def data(self, values: Mapping[str, float]) -> list[float]:
        """F_c, F_s, v_s, σ₀, σ₁, σ₂, b."""
        sliding, stiffness, speed = (positive(self, x, values) for x in ("sliding", "stiffness", "stribeck_speed"))
        static = sliding if self.static is None else self.number_of("static", values)
        if static < sliding:
            raise InputError(
                f"static of {self} is {static:g}, less than sliding, {sliding:g}; it must be as much or more"
            )
        if self.law not in LAWS:
            raise unknown(f"law of {self}", self.law, LAWS, plural="valid")
        if self.law == "lugre" and self.elastic is not None:
            raise InputError(f"{self} has elastic and law='lugre', which has no elastic part; leave out one of them")
        elastic = ELASTIC if self.elastic is None else self.number_of("elastic", values)
        if not 0.0 <= elastic < 1.0:
            raise InputError(f"elastic of {self} is {elastic:g}; it must lie from 0 to below 1")
        if self.law == "lugre":
            elastic = -1.0
        damping, viscous = (non_negative(self, x, values) for x in ("damping", "viscous"))
        return [sliding, static, speed, stiffness, damping, viscous, elastic]

    def working(self, values: Mapping[str, float]) -> str:
        return str(self)

    def gives(self, values: Mapping[str, float]) -> bool:
        return False

    def states(self, values: Mapping[str, float]) -> list[tuple[str, str, float]]:
        return [("deflection", "", 0.0)]

    def state_efforts(self, values: Mapping[str, float], unit: float) -> list[tuple[float, float, float]]:
        data = Bristle(self.data(values))
        return [(data.stiffness, 0.0, data.static)]


@formula
def bristle(data, k, v, z):
    """τ and ż."""
    own = Bristle(data, k)
    stiffness, speed = own.stiffness, abs(v)
    # z_s = g(v)/σ₀
    ratio = v / own.stribeck
    slip = (own.sliding + (own.static - own.sliding) * exp(-ratio * ratio)) / stiffness
    least, size = own.elastic * own.sliding / stiffness, abs(z)
    alpha = 1.0 if least < 0.0 else 0.0
    if least >= 0.0 and v * z > 0.0 and size > least:
        alpha = 1.0 if size >= slip else 0.5 * (1.0 - cosine(pi * (size - least) / (slip - least)))
    rate = v - alpha * speed * z / slip
    return -(stiffness * z + own.damping * rate + own.viscous * v), rate


@formula
def effort(tables, e, data, k, v):
    """τ, and the rate of its bristle."""
    s = ForceEntries(tables.index)[e].state
    tau, tables.rate[s] = bristle(data, k, v, tables.z[s])
    return tau


PAGE = InFreedom(JOINT_FRICTION, "JointFriction", alone(effort, no_number), STORES_NOTHING, NO_LANES)
