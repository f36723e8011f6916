"""A03, Andrews' squeezing mechanism: seven bodies in the plane, ten hinges, one degree of freedom, driven by a torque.

    invariant: T + V − E₀ − mom (β − β₀) = 0

Schiehlen (ed.), Multibody Systems Handbook; Hairer & Wanner, Solving ODEs II; Test Set for IVP Solvers. All agree but for
misprints: x_B = 0.03635 is negative, and I₄ = 5.667e-7.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.forces import AppliedForce, PointSpring
from nexdyn.joints import Revolute
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, closed, index1, index3, potential
from nexdyn.results.result import Result
from nexdyn.spatial.rotations import exp_quaternion

BODIES = ("K1", "K2", "K3", "K4", "K5", "K6", "K7")
START = {
    "beta": -0.0617138900142764496, "theta": 0.0, "gamma": 0.455279819163070380, "phi": 0.222668390165885885,
    "delta": 0.487364979543842550, "omega": -0.222668390165885885, "epsilon": 1.230547444549821192,
}  # fmt: skip
ANGLES = {
    "beta": 15.8107711951537, "theta": -15.7563710584118, "gamma": 0.0408222401196459, "phi": -0.5347301163420792,
    "delta": 0.5244099658799541, "omega": 0.5347301163420792, "epsilon": 1.0480807410419379,
}  # fmt: skip
RATES = {
    "beta": 1139.92030225911, "theta": -1424.37929517754, "gamma": 11.0329119106186, "phi": 19.2933741050320,
    "delta": 0.573569914829499, "omega": -19.2933741050320, "epsilon": 0.323179149249132,
}  # fmt: skip


def spot(origin: Any, angle: float, point: Any) -> np.ndarray:
    """A point of a planar body in the world."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([origin[0] + c * point[0] - s * point[1], origin[1] + s * point[0] + c * point[1], 0.0])


def andrews() -> System:
    """The bodies where the published angles put them; K4 and K6 have their origins in E."""
    m = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    inertia = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    d, da, ea, rr, ra = 0.028, 0.0115, 0.01421, 0.007, 0.00092
    sa, sb, sc, sd = 0.01874, 0.01043, 0.018, 0.02
    ta, tb, u, ua, ub, zt, fa = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.04, 0.01421
    A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072, 0.0)
    x = START
    angle = (
        x["beta"], x["beta"] + x["theta"], x["gamma"], x["delta"] + x["phi"], x["delta"], x["epsilon"] + x["omega"],
        x["epsilon"],
    )  # fmt: skip
    F = spot((0, 0), angle[0], (rr, 0))
    E = spot(F, angle[1], (-d, 0))
    G, H = spot(A, angle[4], (zt, 0)), spot(A, angle[6], (0, -u))
    origin = ((0, 0, 0), F, (*B, 0), E, (*A, 0), E, (*A, 0))
    com = ((ra, 0), (-da, 0), (sb, -sa), (0, ea), (ta, tb), (-fa, 0), (-ua, -ub))
    system = System("Andrews' squeezing mechanism", gravity=(0, 0, 0))
    K = [
        system.add_body(
            name, mass=m[i], inertia=(inertia[i],) * 3, com=(*com[i], 0), position=origin[i],
            orientation=exp_quaternion(np.array([0.0, 0.0, angle[i]])),
        )
        for i, name in enumerate(BODIES)
    ]  # fmt: skip
    hinges = (
        ("O", system.ground, K[0], (0, 0, 0)), ("F", K[0], K[1], F), ("B", system.ground, K[2], (*B, 0)),
        ("A5", system.ground, K[4], (*A, 0)), ("A7", system.ground, K[6], (*A, 0)), ("E3", K[1], K[2], E),
        ("E4", K[1], K[3], E), ("E6", K[1], K[5], E), ("G", K[4], K[3], G), ("H", K[6], K[5], H),
    )  # fmt: skip
    for name, parent, child, at in hinges:
        system.add_joint(Revolute(name, parent, child, at=at, axis=(0, 0, 1)))
    system.add_force(AppliedForce("motor", K[0], torque=(0, 0, 0.033)))
    system.add_force(
        PointSpring("spring", K[2], "ground", anchor_a=(sd, -sc, 0), anchor_b=C, stiffness=4530.0, length=0.07785)
    )
    return system


def angles_and_rates(result: Result) -> np.ndarray:
    """The seven relative angles, modulo 2π, and their rates (N, 14)."""
    q = np.stack([result.orientation(name).values for name in BODIES], axis=1)
    of = 2.0 * np.arctan2(q[..., 3], q[..., 0])
    rate = np.stack([result.angular_velocity(name).values[:, 2] for name in BODIES], axis=1)
    return np.hstack([_relative(of), _relative(rate)])


def _relative(x: np.ndarray) -> np.ndarray:
    """β, Θ, γ, Φ, δ, Ω, ε from those of the bodies K1 … K7."""
    k1, k2, k3, k4, k5, k6, k7 = x.T
    return np.stack([k1, k2 - k1, k3, k4 - k5, k5, k6 - k7, k7], axis=1)


A03 = Problem(
    "A03", "Andrews' squeezing mechanism", "Test Set for IVP Solvers", andrews,
    dict.fromkeys(ANGLES, "rad") | {f"{name}'": "rad/s" for name in RATES},
    {0.03: (*ANGLES.values(), *RATES.values())},
    angles_and_rates,
    (
        *closed(1e-8),
        *index3(4e-6, dt=1e-6),
        *index1(1e-8),
        *potential(4e-5, dt=2e-6),
    ),
    scale=(1.0,) * 7 + (1000.0,) * 7,
    angles=frozenset(ANGLES),
)  # fmt: skip
