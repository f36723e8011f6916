"""Bodies on planes with friction that sticks: slopes, belts and turntables, and the methods that must agree about them."""

from __future__ import annotations

import math
from typing import Any

import nexdyn as nx

G = 9.81
LAW = {"stiffness": 1e6, "exponent": 1.0, "damping": 20.0}
CORNERS = ((-0.15, -0.1), (-0.15, 0.1), (0.15, 0.1), (0.15, -0.1))
"""Of a box, half its sides along x and y [m]."""
HEIGHT = 0.05
"""Half its height."""
STEPS: dict[str, Any] = {
    "rk4": nx.RungeKutta4(2e-4), "semi-implicit": nx.SemiImplicitEuler(2e-4), "dopri": nx.DormandPrince(rtol=1e-6, atol=1e-8),
    "bs32": nx.BogackiShampine32(rtol=1e-8, atol=1e-10), "dop853": nx.DOP853(rtol=1e-8, atol=1e-10),
    "hht": nx.HHT(rtol=1e-4), "hht dt": nx.HHT(dt=2e-4), "baumgarte": nx.Baumgarte(dt=2e-4), "projection": nx.Projection(dt=2e-4),
    "partitioning": nx.Partitioning(dt=2e-4), "euler": nx.ImplicitEuler(1e-3), "bdf2": nx.ImplicitEuler(5e-4, bdf2=True),
}  # fmt: skip
"""Every method, with steps that the stiffness of `LAW` allows the explicit ones. `ExplicitEuler` it allows none: nothing damps what
bounces so little."""


def ball(
    radius: float = 0.1,
    mass: float = 2.0,
    gravity: Any = (0.0, 0.0, -G),
    height: float = 0.0,
    v0: Any = None,
    **law: Any,
) -> nx.System:
    """A solid ball `height` above the ground."""
    system = nx.System("ball", gravity=gravity)
    J = 0.4 * mass * radius * radius
    system.add_body("ball", mass=mass, inertia=(J, J, J), position=(0, 0, radius + height))
    system.add_joint(nx.Free("free", "ground", "ball", v0=v0))
    system.add_force(nx.PlaneContact("touch", "ball", radius=radius, **law))
    return system


def box(
    friction: float, slope: float = 0.0, mass: float = 2.0, on: str = "ground", v0: Any = None, **law: Any
) -> nx.System:
    """A box that stands with four corners on a plane through the origin, pressed in by its weight; on a slope gravity leans, along x."""
    system = nx.System("box", gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)))
    place(system, friction, slope, mass, on, v0, **law)
    return system


def place(
    system: nx.System, friction: float, slope: float = 0.0, mass: float = 2.0, on: str = "ground", v0: Any = None,
    at: tuple[float, float] = (0.0, 0.0), **law: Any,
) -> None:  # fmt: skip
    """The box into a system."""
    a, b, c = 2 * CORNERS[2][0], 2 * CORNERS[2][1], 2 * HEIGHT
    inertia = [mass / 12.0 * (p * p + q * q) for p, q in ((b, c), (a, c), (a, b))]
    depth = mass * G * math.cos(slope) / (4.0 * LAW["stiffness"])
    system.add_body("box", mass=mass, inertia=inertia, position=(*at, HEIGHT - depth))
    system.add_joint(nx.Free("free", "ground", "box", v0=v0))
    for i, (x, y) in enumerate(CORNERS):
        system.add_force(
            nx.PlaneContact(f"corner{i}", "box", on, anchor_a=(x, y, -HEIGHT), friction=friction, **{**LAW, **law})
        )
