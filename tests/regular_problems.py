"""Ten problems whose motion is regular: errors grow with a power of the time, and tolerances can be held against them."""

from __future__ import annotations

import math
from collections.abc import Callable

import published

import nexdyn as nx

G = (0.0, 0.0, -9.81)


def pendulum() -> nx.System:
    """From the horizontal, its hinge 2 m from the centre of mass; it bears up to 29 N."""
    system = nx.System("pendulum", gravity=G)
    link = system.add_body("link", mass=1.0, inertia=(0.04, 0.1, 0.1), position=(2, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, link, at=(0, 0, 0), axis=(0, 1, 0)))
    return system


def spherical_pendulum() -> nx.System:
    system = nx.System("spherical pendulum", gravity=G)
    link = system.add_body("link", mass=1.0, inertia=(0.04, 0.1, 0.1), position=(1, 0, 0))
    system.add_joint(nx.Spherical("ball", system.ground, link, at=(0, 0, 0), v0=(0.5, 0.0, 3.0)))
    return system


def small_double_pendulum() -> nx.System:
    system = nx.System("double pendulum of small swings", gravity=G)
    upper = system.add_body("upper", mass=1.0, inertia=(0.08, 0.08, 0.01), position=(0, 0, -0.5))
    lower = system.add_body("lower", mass=1.0, inertia=(0.08, 0.08, 0.01), position=(0, 0, -1.5))
    system.add_joint(nx.Revolute("shoulder", system.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), q0=0.3))
    system.add_joint(nx.Revolute("elbow", upper, lower, at=(0, 0, -1), axis=(0, 1, 0), q0=0.1))
    return system


def cart_pole() -> nx.System:
    system = nx.System("cart-pole", gravity=G)
    cart = system.add_body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    pole = system.add_body("pole", mass=1.0, inertia=(0.08, 0.08, 0.01), position=(0, 0, -0.5))
    system.add_joint(nx.Prismatic("rail", system.ground, cart, at=(0, 0, 0), axis=(1, 0, 0)))
    system.add_joint(nx.Revolute("pivot", cart, pole, at=(0, 0, 0), axis=(0, 1, 0), q0=1.0))
    return system


def oscillator(amplitude: float = 1.0) -> nx.System:
    """1 Hz."""
    system = nx.System("oscillator", gravity=(0, 0, 0))
    mass = system.add_body("mass", mass=1.0, inertia=(0.1, 0.1, 0.1))
    stiffness = (2.0 * math.pi) ** 2
    system.add_joint(nx.Prismatic("way", system.ground, mass, axis=(1, 0, 0), stiffness=stiffness, q0=amplitude))
    return system


def plate() -> nx.System:
    """A symmetric body free of torque, thrown up with a wobble."""
    system = nx.System("plate", gravity=(0, 0, 0))
    body = system.add_body("plate", mass=1.0, inertia=(1, 1, 2))
    system.add_joint(nx.Free("free", system.ground, body, v0=(0.5, 0, 2.0, 0.1, 0, 0)))
    return system


def carousel() -> nx.System:
    """A pendulum on an arm that a driver turns."""
    system = nx.System("carousel", gravity=G)
    arm = system.add_body("arm", mass=2.0, inertia=(0.1, 0.1, 0.1))
    link = system.add_body("link", mass=1.0, inertia=(0.08, 0.08, 0.01), position=(0.5, 0, -0.5))
    system.add_joint(nx.Revolute("axle", system.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("pivot", arm, link, at=(0.5, 0, 0), axis=(0, 1, 0), q0=0.0))
    system.add_driver(nx.Driver("motor", "axle", "=2*t"))
    return system


PROBLEMS: dict[str, tuple[Callable[[], nx.System], float]] = {
    "pendulum": (pendulum, 34.0),
    "spherical pendulum": (spherical_pendulum, 15.0),
    "small double pendulum": (small_double_pendulum, 20.0),
    "cart-pole": (cart_pole, 15.0),
    "oscillator": (oscillator, 10.13),
    "tumbling body": (published.tumbling, 50.0),
    "plate": (plate, 30.0),
    "four-bar": (lambda: nx.load("four-bar"), 10.0),
    "slider-crank": (lambda: nx.load("slider-crank"), 5.0),
    "carousel": (carousel, 20.0),
}
"""System and time [s], ten periods or more."""
