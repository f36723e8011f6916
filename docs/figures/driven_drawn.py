"""Every coupling and every driver."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from forces_drawn import aimed
from stages import CHILD, add_child, dots, stage

import nexdyn as nx


def wheel(system: nx.System, stand: nx.Body, name: str, x: float, radius: float, v0: float = 0.0) -> None:
    """A wheel with a white spoke, on a hinge about z."""
    body = system.add_body(
        name, mass=1.0, inertia=(0.01, 0.01, 0.02), position=(x, 0, 0.05),
        shapes=[nx.Cylinder(radius=radius, length=0.05, color=CHILD),
                nx.Box((2 * radius, 0.03, 0.06), color=(0.95, 0.95, 0.95, 1.0))],
    )  # fmt: skip
    system.add_joint(nx.Revolute(name, stand, body, at=(x, 0, 0.05), axis=(0, 0, 1), v0=v0))


def gear() -> nx.System:
    system, stand = stage("gear")
    wheel(system, stand, "pinion", 0.0, 0.1, 3.0)
    wheel(system, stand, "wheel", 0.3, 0.2)
    system.add_coupling(nx.Gear("coupling", "pinion", "wheel", ratio=-2.0))
    return system


def slide(system: nx.System, stand: nx.Body, name: str, y: float, v0: float = 0.0) -> None:
    """A bar on a slide along x."""
    bar = system.add_body(
        name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=(-0.2, y, 0.05),
        shapes=[nx.Box((0.36, 0.06, 0.06), color=CHILD),
                nx.Box((0.06, 0.065, 0.065), position=(0.15, 0, 0), color=(0.95, 0.95, 0.95, 1.0))],
    )  # fmt: skip
    system.add_joint(nx.Prismatic(name, stand, bar, at=(-0.2, y, 0.05), axis=(1, 0, 0), v0=v0))


def rack_and_pinion() -> nx.System:
    system, stand = stage("rack_and_pinion")
    wheel(system, stand, "pinion", 0.0, 0.15, 2.5)
    slide(system, stand, "rack", -0.18)
    system.add_coupling(nx.RackAndPinion("coupling", "pinion", "rack", radius=0.15))
    return system


def coupling() -> nx.System:
    system, stand = stage("coupling")
    slide(system, stand, "a", -0.12, 0.25)
    slide(system, stand, "b", 0.12)
    system.add_coupling(nx.Coupling("coupling", {"a": 2.0, "b": -1.0}))
    return system


def driver() -> nx.System:
    system = aimed("driver", 1.0)
    system.add_driver(nx.Driver("driver", "joint", nx.Step5(0.1, -1.0, 0.9, 1.0)))
    return system


def point_driver() -> nx.System:
    heights = [(0.5, 0.0, z) for z in np.linspace(-0.15, 0.35, 9)]
    system, stand = stage("point_driver", True, dots(heights))
    child = add_child(system)
    system.add_joint(nx.Revolute("joint", stand, child, at=(0, 0, 0), axis=(0, -1, 0)))
    tip = system.add_marker(nx.Marker("tip", child, (0.43, 0, 0)))
    system.add_driver(nx.PointDriver("driver", tip, "z", "=0.12-0.22*cos(pi*t)"))
    return system


def orientation_driver() -> nx.System:
    system, stand = stage("orientation_driver", True)
    child = add_child(system)
    system.add_joint(nx.Spherical("joint", stand, child, at=(0, 0, 0)))
    for angle, law in (("yaw", "=0.9*t"), ("pitch", "=-0.6*t"), ("roll", "=1.2*t")):
        system.add_driver(nx.OrientationDriver(angle, child, angle, law))
    return system


DRIVEN: dict[str, tuple[str, Callable[[], nx.System]]] = {
    "gear": ("coupling", gear), "rack_and_pinion": ("coupling", rack_and_pinion), "coupling": ("coupling", coupling),
    "driver": ("driver", driver), "point_driver": ("driver", point_driver), "orientation_driver": ("driver", orientation_driver),
}  # fmt: skip
