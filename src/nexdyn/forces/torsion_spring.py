"""Torsion spring about z of A: it acts on the angle θ from x of A to x of B, seen along z of A, turns and all.

    (c, s, d) = R_WAᵀ x_B,   θ = atan2(s, c) and whole turns,   δ = θ − θ₀
    δ̇ = g · ω,   ω = R_WAᵀ (ω_B − ω_A),   g = e_z − d (c, s, 0)/(c² + s²)
    n on B = −T R_WA g,   n on A = T R_WA g,   T = k δ + d δ̇ + m₀;   U = ½ k δ² + m₀ δ

g is e_z where x of B lies in the xy-plane of A, as in a joint about z; with it the torque's power is −U̇ however the
frames turn. Where x of B is along z of A (c² + s² < 1e-12) there is no angle, and no torque.

Turns are counted, as in a joint: of the angles that the frames allow, θ is the one near a reference, which formulations move on with the
motion (`reference` among the data). At first it is θ₀ within half a turn, so that |δ| ≤ π for a rest angle within half a turn;
one of three turns, θ₀ = 6 π, is a spring wound up by three turns.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types

from nexdyn.forces.between import PairForce, non_negative, opposite
from nexdyn.forces.kinds import TORSION_SPRING
from nexdyn.forces.page import ALL_LANES, Between, add_outer
from nexdyn.kernel import formula, overloaded
from nexdyn.model.element import Element
from nexdyn.records import Record
from nexdyn.spatial.algebra import Force, T, Vec3
from nexdyn.spatial.lanes import atan2, common, if_less, lane, zero
from nexdyn.spatial.turns import TURN, near

if TYPE_CHECKING:
    from nexdyn.model.joint import Joint
    from nexdyn.model.system import System

NO_PATH = -1.0
TURNS = "Turns"
"""The name of the angle that is counted."""
TINY = 1e-12
"""c² + s² below which x of B has no direction in the xy-plane of A."""


class Twist(Record):
    """Its data: k, d, θ₀, m₀, the angle near which the present one is, that at first, and where the path is told, for minimal coordinates:
    how many coordinates of the joints between A and B turn (see `windings`), then of each its place in q and its sign."""

    stiffness: float
    damping: float
    rest: float
    torque: float
    reference: float
    first_angle: float
    path: float


class TorsionSpring(PairForce):
    """A torsional spring-damper about z of `a`, on the angle from x of `a` to x of `b`, whose turns are counted.

    stiffness [N m/rad], damping [N m s/rad], rest: angle where the spring is relaxed [rad], beyond half a turn: how far it is
    wound up; torque: what it resists with at that angle [N m]. a, b: bodies or markers (or their names); their axes say what is meant.
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
        """Stiffness, damping, rest angle, torque; the angle near which the present one is, and that at first; no path."""
        return [
            self.number_of("stiffness", values),
            non_negative(self, "damping", values),
            self.number_of("rest", values),
            self.number_of("torque", values),
            self.first_angle(values),
            self.first_angle(values),
            NO_PATH,
        ]

    def first_angle(self, values: Mapping[str, float]) -> float:
        """The angle near which the spring's is at the start: its rest angle within half a turn."""
        return math.remainder(self.number_of("rest", values), TURN)


PARALLEL = 1e-3
"""Sine of the angle between axes up to which they count as parallel: too little to turn one against another, however joints stand."""


class Winding(NamedTuple):
    """A coordinate on the way from A to B whose turns are turns of a spring: joint, number of the coordinate, and sign, which is 0 where
    x of B does not go round; and its axis (3,), in the world as described."""

    joint: str
    freedom: int
    sign: float
    axis: np.ndarray


def windings(system: System, joints: Collection[str]) -> dict[str, list[Winding]]:
    """Of each torsion spring of `system` the coordinates that are angles, along `joints` from A to B.

    x of B goes round z of A as a joint turns about n where |x_B · n| < |z_A · n|."""
    values, found = system.values, {}
    springs = [force for force in system.forces.values() if isinstance(force, TorsionSpring)]
    if not springs:
        return {}
    neighbours: dict[str, list[tuple[str, str, float]]] = {}
    for name in joints:
        joint = system.joints[name]
        neighbours.setdefault(joint.parent.name, []).append((joint.child.name, name, 1.0))
        neighbours.setdefault(joint.child.name, []).append((joint.parent.name, name, -1.0))
    for force in springs:
        A, B = force.frames(system)
        R_A, R_B = (_orientation(system, end.body) @ end.R_BF for end in (A, B))
        found[force.name] = [
            Winding(name, m, sign * math.copysign(abs(R_B[:, 0] @ n) < abs(R_A[:, 2] @ n), R_A[:, 2] @ n), n)
            for name, sign in _path(neighbours, A.body, B.body)
            for m, n in _axes(system, system.joints[name], values)
        ]
    return found


def turn_each_other(path: Sequence[Winding]) -> bool:
    """Whether coordinates on a path turn the axes of others, which then wind the spring up by other signs than as described."""
    return any(float(np.linalg.norm(np.cross(path[0].axis, other.axis))) > PARALLEL for other in path[1:])


def _orientation(system: System, body: str) -> np.ndarray:
    return np.eye(3) if body == "ground" else np.asarray(system.bodies[body].pose(system.values)[0])


def _axes(system: System, joint: Joint, values: Mapping[str, float]) -> Iterator[tuple[int, np.ndarray]]:
    """Number and axis (3,), in the world as described, of each coordinate that is an angle."""
    R_AJ, _, R_BJ, _ = joint.frames(values)
    for m, equation in enumerate(joint.coordinates):
        if equation == "Angle":
            yield m, _orientation(system, joint.parent.name) @ R_AJ[:, 2]
        elif equation == "Tilt":
            yield m, _orientation(system, joint.child.name) @ R_BJ[:, 0]


def _path(neighbours: Mapping[str, list[tuple[str, str, float]]], a: str, b: str) -> list[tuple[str, float]]:
    """The joints from body a to body b, by the fewest, and whether each leads to its child (1) or its parent (−1)."""
    came: dict[str, tuple[str, str, float] | None] = {a: None}
    row = [a]
    for body in row:
        for other, joint, sign in neighbours.get(body, ()):
            if other not in came:
                came[other] = body, joint, sign
                row.append(other)
    path = []
    step = came.get(b)
    while step is not None:
        path.append((step[1], step[2]))
        step = came[step[0]]
    return path[::-1]


@formula
def refer(data, k, q):
    """The angle near which the spring's is, from the coordinates of the joints on its path."""
    twist = Twist(data, k)
    at = int(lane(twist.path, 0))
    if at >= 0:
        angle = zero(q[0]) + twist.first_angle
        for i in range(int(common(data, at))):
            angle = angle + data[at + 2 + 2 * i] * q[int(common(data, at + 1 + 2 * i))]
        keep_reference(data, twist, angle)


def keep_reference(data, twist, angle):
    """The reference of a spring among the data; an array of floats, which all lanes share, takes that of the first."""
    twist.reference = lane(angle, 0) if isinstance(data, np.ndarray) else angle


@overloaded(keep_reference)
def _keep_reference(data, twist, angle):
    def shared(data, twist, angle):
        twist.reference = lane(angle, 0)

    def own(data, twist, angle):
        twist.reference = angle

    return shared if isinstance(data, types.Array) else own


@formula
def rate(X_WA, V_A, X_WB, V_B):
    """θ̇ = g · ω."""
    return direction(X_WA, X_WB) @ (V_B.w - V_A.w)


@formula
def direction(X_WA, X_WB):
    """g, in the world."""
    R = X_WB.R
    x = T(X_WA.R) @ Vec3(R.xx, R.yx, R.zx)
    squared = x.x * x.x + x.y * x.y
    o = zero(squared)
    # g = e_z − d (c, s, 0)/(c² + s²)
    h = if_less(squared, TINY, o, x.z / if_less(squared, TINY, o + 1.0, squared))
    return X_WA.R @ Vec3(-(h * x.x), -(h * x.y), if_less(squared, TINY, o, o + 1.0))


@formula
def angle_near(X_WA, X_WB, reference):
    """θ, of those that the frames allow the one near a reference."""
    R = X_WB.R
    x = T(X_WA.R) @ Vec3(R.xx, R.yx, R.zx)
    return near(atan2(x.y, x.x), reference)


@formula
def deflection(twist, X_WA, X_WB):
    """δ."""
    return angle_near(X_WA, X_WB, twist.reference) - twist.rest


@formula
def wrench(data, k, X_WA, V_A, X_WB, V_B):
    """Forces on A and on B, each at its origin, in the world."""
    g, o, twist = direction(X_WA, X_WB), zero(X_WA.p.x), Twist(data, k)
    # T = k δ + d δ̇ + m₀
    torque = twist.stiffness * deflection(twist, X_WA, X_WB) + twist.damping * (g @ (V_B.w - V_A.w)) + twist.torque
    return opposite(Force(torque * g, Vec3(o, o, o)))


@formula
def energy(data, k, X_WA, X_WB):
    """U = ½ k δ² + m₀ δ."""
    twist = Twist(data, k)
    angle = deflection(twist, X_WA, X_WB)
    return (0.5 * twist.stiffness * angle + twist.torque) * angle


@formula
def slopes(data, k, X_WA, gh, bh2, K):
    """About z of A."""
    R, o, twist = X_WA.R, zero(X_WA.p.x), Twist(data, k)
    add_outer(K, bh2 * twist.stiffness + gh * twist.damping, Vec3(R.xz, R.yz, R.zz), Vec3(o, o, o))
    return True


PAGE = Between(TORSION_SPRING, "TorsionSpring", wrench, energy, slopes, ALL_LANES)
