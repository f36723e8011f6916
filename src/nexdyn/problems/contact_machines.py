"""Machines whose parts touch, with answers in closed form.

    roller      disc cam, eccentric by e, and a round follower: e cos θ + √((R + r)² − e² sin² θ)
    flat        the same cam and a flat follower under gravity, 5 % below the speed √(g/e) and above: R + e cos θ; above it the follower
                leaves the cam where e ω² cos θ = g, and flies
    bearing     twelve balls that roll between a race that turns and one that stands, in a plane: cage and balls go round with
                ½ ω (1 − d/D), D the diameter on which they go round
    gripper     two pairs of fingers lift balls with acceleration a: they hold for 2 μ N > m (g + a); 5 % below, a ball slips

A part that gives by δ stands δ lower; that is part of the answers. Where a follower leaves its cam, BDF2 takes steps of order 1, and what
it flies is wrong by up to 1 µm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nexdyn.forces.contact_group import Contact
from nexdyn.forces.joint_force import JointForce
from nexdyn.forces.sphere_contact import SphereContact
from nexdyn.joints import Free, Planar, Prismatic, Revolute
from nexdyn.model.driver import Driver
from nexdyn.model.shapes import Box, Sphere
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, touching
from nexdyn.results.result import Result

G = 9.81

# --- a disc cam -----------------------------------------------------------------------------------------------------

DISC, OFF, ROLL, MASS, STIFF = 0.03, 0.006, 0.01, 0.1, 1e7
"""Radius of the disc, its eccentricity, radius of the roller; mass of the follower; stiffness of what touches, linear."""
Spot = tuple[float, float]
"""Where a follower is, and its speed."""


def cam(system: System, name: str, rate: float, start: float, face: Box | Sphere, spot: Spot, y: float = 0.0) -> None:
    """A disc that turns, its middle at θ = start + rate t from the vertical, and a follower above it that starts at a spot."""
    middle = (OFF * math.sin(start), y, OFF * math.cos(start))
    system.add_body(f"{name} cam", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=middle, shapes=[Sphere(DISC)])
    system.add_joint(Revolute(f"{name} turns", "ground", f"{name} cam", at=(0.0, y, 0.0), axis=(0, 1, 0)))
    system.add_driver(Driver(f"{name} drive", f"{name} turns", f"={rate}*t"))
    system.add_body(
        f"{name} follower", mass=MASS, inertia=(1e-4, 1e-4, 1e-4), position=(0.0, y, spot[0]), shapes=[face]
    )
    system.add_joint(Prismatic(f"{name} slides", "ground", f"{name} follower", axis=(0, 0, 1), v0=spot[1]))
    system.add_contact(
        Contact(f"{name} touch", f"{name} cam", f"{name} follower", stiffness=STIFF, exponent=1.0, damping=50.0)
    )


def heights(result: Result, *names: str) -> np.ndarray:
    """Where followers are [mm] (N, n)."""
    return np.stack([1e3 * result.position(f"{name} follower").values[:, 2] for name in names], axis=1)


FAST, PUSH = 50.0, 20.0
"""Speed of the cam with a roller [rad/s], and what presses the roller on it [N]."""


def linear(force: float) -> float:
    """What gives under a force [m]."""
    return force / STIFF


def rolled(t: float, gives_under: Callable[[float], float] = linear) -> Spot:
    """The middle of the roller: the disc and it give by what the load and the inertia along the follower ask for."""
    c, s, both = math.cos(FAST * t), math.sin(FAST * t), DISC + ROLL
    root = math.sqrt(both**2 - (OFF * s) ** 2)
    acceleration = -(FAST**2) * (OFF * c + OFF**2 * (c * c - s * s) / root + OFF**4 * (s * c) ** 2 / root**3)
    gives = gives_under((PUSH + MASS * acceleration) * (both / root))
    return OFF * c + root - gives * both / root, -FAST * (OFF * s + OFF**2 * s * c / root)


def roller() -> System:
    """The cam with a roller that is pressed on it; it lies."""
    system = System("roller", gravity=(0.0, -G, 0.0))
    cam(system, "round", FAST, 0.0, Sphere(ROLL), rolled(0.0))
    system.add_force(JointForce("push", "round slides", -PUSH))
    return system


ROLLER = Problem(
    "roller", "disc cam with a roller", "its geometry", roller, {"height": "mm"},
    {t: (1e3 * rolled(t)[0],) for t in (0.02, 0.05, 0.1)}, lambda result: heights(result, "round"), touching(1e-5, dt=2e-5),
)  # fmt: skip
LIFTS = math.sqrt(G / OFF)
SLOW, QUICK = 0.95 * LIFTS, 1.05 * LIFTS


def rested(rate: float, t: float, gives_under: Callable[[float], float] = linear) -> Spot:
    """The flat face on a disc that was lowest at the start."""
    c, s = math.cos(math.pi + rate * t), math.sin(math.pi + rate * t)
    return DISC + OFF * c - gives_under(MASS * (G - OFF * rate**2 * c)), -rate * OFF * s * (
        1.0 + MASS * rate**2 / STIFF
    )


LEAVES = (math.pi - math.acos(LIFTS**2 / QUICK**2)) / QUICK
"""When the follower of the quicker cam leaves it [s]."""


def flies(t: float) -> float:
    """Where it is after that."""
    place, speed = rested(QUICK, LEAVES)
    return place + speed * (t - LEAVES) - 0.5 * G * (t - LEAVES) ** 2


def flat() -> System:
    """Two cams with flat followers."""
    system = System("flat")
    face = Box((0.1, 0.05, 0.02), position=(0.0, 0.0, 0.01))
    cam(system, "slow", SLOW, math.pi, face, rested(SLOW, 0.0), -0.1)
    cam(system, "quick", QUICK, math.pi, face, rested(QUICK, 0.0), 0.1)
    return system


FACED = Problem(
    "flat", "disc cams with flat followers, 5 % below lift-off and above", "R + e cos θ; free flight", flat, {"slow": "mm", "quick": "mm"},
    {0.05: (1e3 * rested(SLOW, 0.05)[0], 1e3 * rested(QUICK, 0.05)[0]), 0.085: (1e3 * rested(SLOW, 0.085)[0], 1e3 * flies(0.085))},
    lambda result: heights(result, "slow", "quick"), touching(1e-5, dt=1e-5, bdf2=1e-3),
)  # fmt: skip

# --- a ball bearing -------------------------------------------------------------------------------------------------

RACE, BALL, TIGHT, WEIGHT, SPEED, COUNT = 0.02, 0.005, 1e-6, 4e-3, 50.0, 12
"""Radius of the inner race and of the balls, how deep they are pressed into each race, their mass; its speed [rad/s]."""
AROUND = RACE + BALL - TIGHT
"""Radius of the circle on which the balls go round."""


def bearing() -> System:
    """Balls at rest in a plane, which is level, between a race that turns at once and the hollow of one that stands."""
    system = System("bearing")
    system.add_body("race", mass=0.1, inertia=(1e-4, 1e-4, 1e-4))
    system.add_joint(Revolute("turns", "ground", "race", axis=(0, 0, 1)))
    system.add_driver(Driver("drive", "turns", f"={SPEED}*t"))
    inertia = 0.4 * WEIGHT * BALL**2
    law: dict[str, Any] = {"stiffness": STIFF, "exponent": 1.0, "damping": 1.0, "friction": 0.3}
    for i in range(COUNT):
        angle = 2.0 * math.pi * i / COUNT
        place = (AROUND * math.cos(angle), AROUND * math.sin(angle), 0.0)
        system.add_body(f"ball{i}", mass=WEIGHT, inertia=(inertia, inertia, inertia), position=place)
        system.add_joint(Planar(f"plane{i}", "ground", f"ball{i}"))
        system.add_force(SphereContact(f"inner{i}", f"ball{i}", "race", radius_a=BALL, radius_b=RACE, **law))
        outer = RACE + 2.0 * (BALL - TIGHT)
        system.add_force(
            SphereContact(f"outer{i}", f"ball{i}", "ground", radius_a=BALL, radius_b=outer, hollow=True, **law)
        )
    return system


def cage(result: Result) -> np.ndarray:
    """How fast the balls go round, in the mean, and how much the fastest and the slowest differ (N, 2)."""
    p = np.stack([result.position(f"ball{i}").values for i in range(COUNT)])
    v = np.stack([result.velocity(f"ball{i}").values for i in range(COUNT)])
    rates = (p[..., 0] * v[..., 1] - p[..., 1] * v[..., 0]) / np.sum(p[..., :2] ** 2, axis=-1)
    return np.column_stack([rates.mean(axis=0), np.ptp(rates, axis=0)])


def cage_speed() -> float:
    """½ ω (1 − d/D), with what is left of a ball between the points where it is pressed, and a little outwards by its inertia."""
    rigid = 0.5 * SPEED * (1.0 - BALL / (RACE + BALL))
    out = WEIGHT * AROUND * rigid**2 / (2.0 * STIFF)
    inner, outer = TIGHT - out, TIGHT + out
    turns = SPEED * (RACE - 0.5 * inner) / (2.0 * BALL - TIGHT)
    return turns * (BALL - 0.5 * outer) / (AROUND + out)


CAGE = cage_speed()
BEARING = Problem(
    "bearing", "ball bearing whose inner race turns", "rolling at both races", bearing, {"cage": "rad/s", "spread": "rad/s"},
    dict.fromkeys((0.03, 0.05), (CAGE, 0.0)), cage, touching(1e-7, dt=5e-5),
)  # fmt: skip

# --- a gripper ------------------------------------------------------------------------------------------------------

PRESS, HELD, LIFT, HARD = 10.0, 0.4, 2.0, 1e6
"""Force of a finger [N], mass of a ball, its acceleration upwards [m/s²], stiffness of the fingers after Hertz."""


def gripper() -> System:
    """Two hands, each of two fingers with a ball between them."""
    system = System("gripper")
    for hand, part, y in (("holds", 1.05, -0.3), ("slips", 0.95, 0.3)):
        system.add_body(f"{hand} ball", mass=HELD, position=(0.0, y, 0.0), shapes=[Sphere(0.05)])
        system.add_joint(Free(f"{hand} free", "ground", f"{hand} ball"))
        system.add_body(f"{hand} palm", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.0, y, 0.0))
        system.add_joint(Prismatic(f"{hand} lift", "ground", f"{hand} palm", axis=(0, 0, 1)))
        system.add_driver(Driver(f"{hand} up", f"{hand} lift", f"=0.5*{LIFT}*t**2"))
        for side, name in ((-1.0, f"{hand} left"), (1.0, f"{hand} right")):
            place = (side * (0.06 - (PRESS / HARD) ** (2.0 / 3.0)), y, 0.0)
            system.add_body(name, mass=0.1, position=place, shapes=[Box((0.02, 0.06, 0.3))])
            system.add_joint(Prismatic(f"{name} slide", f"{hand} palm", name, axis=(1, 0, 0)))
            system.add_force(JointForce(f"{name} push", f"{name} slide", -side * PRESS))
        friction = part * HELD * (G + LIFT) / (2.0 * PRESS)
        fingers = [f"{hand} left", f"{hand} right"]
        system.add_contact(
            Contact(f"{hand} grip", fingers, f"{hand} ball", stiffness=HARD, damping=5.0, friction=friction)
        )
    return system


def carried(result: Result) -> np.ndarray:
    """How far one ball has slipped down in its hand, and how fast the other does, since the second sample (N, 2)."""
    drift = result.position("holds palm").values[:, 2] - result.position("holds ball").values[:, 2]
    slip = result.velocity("slips palm").values[:, 2] - result.velocity("slips ball").values[:, 2]
    found = np.column_stack([drift, slip])
    return np.asarray(found - found[1])


SLIP = 0.05 * (G + LIFT)
GRIPPER = Problem(
    "gripper", "fingers that lift balls, 5 % within what they hold and beyond", "2 μ N = m (g + a)", gripper,
    {"drift since 0.3 s": "m", "v since 0.3 s": "m/s"}, {0.3: (0.0, 0.0), 0.45: (0.0, 0.15 * SLIP), 0.6: (0.0, 0.3 * SLIP)},
    carried, touching(1e-6), scale=(1e-2, 1.0),
)  # fmt: skip

MACHINES = (ROLLER, FACED, BEARING, GRIPPER)
