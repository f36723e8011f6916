"""Pages of one's own for tests: forces that the package has, too, so that both must move alike."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

import nexdyn as nx
from nexdyn.pages import Force, Vec3, cross


class OwnSpring(nx.ForcePage):
    """A spring and damper between two points, as nx.PointSpring."""

    kind = "own_spring"
    stiffness: float
    damping: float = 0.0
    length: float = 0.0

    @staticmethod
    def wrenches(X_WA: Any, V_A: Any, X_WB: Any, V_B: Any, stiffness: Any, damping: Any, length: Any) -> Any:
        p = X_WB.p - X_WA.p
        l = math.sqrt(p @ p)
        u = (1.0 / l) * p
        f = -(stiffness * (l - length) + damping * (u @ (V_B.v - V_A.v))) * u
        return Force(-cross(p, f) + cross(p, f), -f), Force(Vec3(0.0, 0.0, 0.0), f)

    @staticmethod
    def energy(X_WA: Any, X_WB: Any, stiffness: Any, length: Any) -> Any:
        p = X_WB.p - X_WA.p
        return 0.5 * stiffness * (math.sqrt(p @ p) - length) ** 2


class WithSlopes(OwnSpring):
    """The same with its slopes, those across included."""

    kind = "own_spring_with_slopes"

    @staticmethod
    def slopes(X_WA: Any, X_WB: Any, stiffness: Any, damping: Any, length: Any, gh: Any, bh2: Any, K: Any) -> None:
        p = X_WB.p - X_WA.p
        l = math.sqrt(p @ p)
        u = (p.x / l, p.y / l, p.z / l)
        across = stiffness * (1.0 - length / l)
        for i in range(3):
            K[3 + i, 3 + i] += bh2 * across
            for j in range(3):
                K[3 + i, 3 + j] += (bh2 * (stiffness - across) + gh * damping) * u[i] * u[j]


class Cubic(nx.EffortPage):
    """τ = −k q³ − d v."""

    kind = "cubic"
    k: float
    d: float = 0.0

    @staticmethod
    def effort(q: Any, v: Any, k: Any, d: Any) -> Any:
        return -k * q * q * q - d * v

    @staticmethod
    def energy(q: Any, k: Any) -> Any:
        return 0.25 * k * q**4


class Linear(nx.EffortPage):
    """τ = −k q − d v, as a joint's own spring and damper."""

    kind = "linear"
    k: float
    d: float = 0.0
    sample: ClassVar = {"k": 3.0}

    @staticmethod
    def effort(q: Any, v: Any, k: Any, d: Any) -> Any:
        return -k * q - d * v

    @staticmethod
    def energy(q: Any, k: Any) -> Any:
        return 0.5 * k * q * q


def swinging(spring: Any = None, effort: Any = None, loop: bool = False, **own: Any) -> nx.System:
    """Two links in space; the second end may be held by a spring, and a point of it by a rod; `own` acts in the first joint."""
    first: dict[str, Any] = {} if loop else {"q0": 0.4, "v0": 0.5}
    second: dict[str, Any] = {} if loop else {"q0": (-0.3, 0.2)}
    system = nx.System("two links", gravity=(0, 0, -9.81))
    upper = system.add_body("upper", mass=1.2, inertia=(0.1, 0.09, 0.02), position=(0.0, 0.0, -0.5))
    lower = system.add_body("lower", mass=0.7, inertia=(0.05, 0.06, 0.02), position=(0.0, 0.0, -1.5))
    system.add_joint(nx.Revolute("hip", system.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), **first, **own))
    system.add_joint(nx.Universal("knee", upper, lower, at=(0, 0, -1), axis=(0, 1, 0), **second))
    if loop:
        system.add_joint(nx.Rod("rod", system.ground, lower, anchor_a=(0.8, 0.1, -1.2), anchor_b=(0.0, 0.0, -0.4)))
    if spring is not None:
        system.add_force(spring)
    if effort is not None:
        system.add_force(effort)
    return system


def spring_of(cls: Any) -> Any:
    return cls(
        "spring",
        "lower",
        "ground",
        anchor_a=(0.0, 0.02, -0.5),
        at_b=(0.9, 0.3, -1.6),
        stiffness=40.0,
        damping=0.8,
        length=0.6,
    )


def law_of_spring(t: float, A: Any, B: Any, out: Any) -> None:
    """The same spring as a user's function."""
    x, y, z = B[0] - A[0], B[1] - A[1], B[2] - A[2]
    l = math.sqrt(x * x + y * y + z * z)
    rate = (x * (B[15] - A[15]) + y * (B[16] - A[16]) + z * (B[17] - A[17])) / l
    f = (40.0 * (l - 0.6) + 0.8 * rate) / l
    out[3], out[4], out[5] = f * x, f * y, f * z


def ends(result: nx.Result) -> np.ndarray:
    """Where the second link is, over time."""
    return np.asarray(result.position("lower").values)
