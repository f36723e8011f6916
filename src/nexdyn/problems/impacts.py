"""Balls that strike, with known answers.

    spheres     two balls of unlike masses, k δⁿ (1 + a δ̇): with d = a v, v the speed at which they meet, the restitution ε is the root of
                ln((1 + d)/(1 − ε d)) = d (1 + ε); their momentum stays
    gaps        five equal balls apart, two strike: two leave with their speed, the others stand
    five        five equal balls that touch, one strikes: −0.07109, −0.03027, −0.01446, 0.12704, 0.98878 of its speed, at whatever stiffness
    hertz       ball of an elastic material on a plane: m g = 4/3 E* √R δ^1.5
    skidding    ball on a slope, μ < 2/7 tan φ: v = g (sin φ − μ cos φ) t, R ω = 5/2 μ g cos φ t
    hole        frictionless pin in a hole with a clearance: it bounces along chords, within the hole, with the energy it had

The restitution of two balls is found by halving, not by what the library takes from it for its damping.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nexdyn.forces.contact_group import Contact
from nexdyn.forces.sphere_contact import SphereContact
from nexdyn.joints import Free, Planar
from nexdyn.model.materials import Material
from nexdyn.model.shapes import Sphere
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, touching
from nexdyn.results.result import Result

G, R = 9.81, 0.1


def row(masses: tuple[float, ...], speeds: tuple[float, ...], gap: float, **law: Any) -> System:
    """Balls in a row, `gap` between each and the next, without gravity."""
    system = System("row", gravity=(0.0, 0.0, 0.0))
    for i, (mass, speed) in enumerate(zip(masses, speeds, strict=True)):
        system.add_body(f"ball{i}", mass=mass, position=((2.0 * R + gap) * i, 0.0, 0.0), shapes=[Sphere(R)])
        system.add_joint(Free(f"free{i}", "ground", f"ball{i}", v0=(0.0, 0.0, 0.0, speed, 0.0, 0.0)))
    system.add_contact(Contact("touch", "ball*", "ball*", **law))
    return system


def speeds(result: Result, count: int) -> np.ndarray:
    """Speeds of the balls along the row (N, count)."""
    return np.stack([result.velocity(f"ball{i}").values[:, 0] for i in range(count)], axis=1)


# --- along a row ----------------------------------------------------------------------------------------------------

MASSES, MEET, DAMPING = (1.0, 2.0), (1.0, -0.25), 0.6


def restitution(d: float) -> float:
    """ε of ln((1 + d)/(1 − ε d)) = d (1 + ε), by halving."""
    low, high = 0.0, min(1.0, 1.0 / d) * (1.0 - 1e-15)
    for _ in range(60):
        middle = 0.5 * (low + high)
        less = math.log((1.0 + d) / (1.0 - middle * d)) < d * (1.0 + middle)
        low, high = (middle, high) if less else (low, middle)
    return 0.5 * (low + high)


LEFT = restitution(DAMPING * (MEET[0] - MEET[1]))
SPHERES = Problem(
    "spheres", "two balls that strike", "Hunt and Crossley 1975", lambda: row(MASSES, MEET, 0.01, stiffness=1e7, damping=DAMPING),
    {"ε": "1", "momentum": "kg m/s"}, {0.05: (LEFT, MASSES[0] * MEET[0] + MASSES[1] * MEET[1])},
    lambda result: speeds(result, 2) @ np.array([[-1.0, MASSES[0]], [1.0, MASSES[1]]]) / np.array([MEET[0] - MEET[1], 1.0]),
    touching(1e-5, dt=2e-5, bdf2=1e-4), scale=(1.0, 5e-9),  # 1e-10 also where ε is wrong by 2 %, as by steps of first order
)  # fmt: skip
GAPS = Problem(
    "gaps", "five balls apart, two strike", "momentum and energy", lambda: row((1.0,) * 5, (1.0, 1.0, 0.0, 0.0, 0.0), 5e-3, stiffness=1e8),
    {f"v{i}": "m/s" for i in range(5)}, {0.04: (0.0, 0.0, 0.0, 1.0, 1.0)}, lambda result: speeds(result, 5),
    touching(1e-5, dt=5e-6, bdf2=1e-4),
)  # fmt: skip
FIVE = Problem(
    "five", "five balls that touch", "recomputed; any stiffness", lambda: row((1.0,) * 5, (1.0, 0.0, 0.0, 0.0, 0.0), 0.0, stiffness=1e8),
    {f"v{i}": "m/s" for i in range(5)}, {0.01: (-0.07109, -0.03027, -0.01446, 0.12704, 0.98878)}, lambda result: speeds(result, 5),
    touching(5e-5, dt=1.5e-6),
)  # fmt: skip

# --- on a plane -----------------------------------------------------------------------------------------------------

SOFT = Material("soft", young=1e7, poisson=0.4, friction=0.5)
PRESSED = (G / (4.0 / 3.0 * 0.5 * 1e7 / (1.0 - 0.4**2) * math.sqrt(R))) ** (2.0 / 3.0)
"""Depth of a ball of 1 kg: E* is half of E/(1 − ν²), for plane and ball are of one material."""


def hertz() -> System:
    """A ball on a plane, a little above where it rests."""
    system = System("hertz")
    system.add_body("ball", mass=1.0, position=(0.0, 0.0, R - 0.9 * PRESSED), shapes=[Sphere(R)])
    system.add_joint(Free("free", "ground", "ball"))
    system.add_contact(Contact("on", "ball", material_a=SOFT, material_b=SOFT, damping=5.0))
    return system


HERTZ = Problem(
    "hertz", "ball of an elastic material on a plane", "Hertz 1882", hertz, {"δ": "m"}, {1.0: (PRESSED,)},
    lambda result: R - result.position("ball").values[:, 2:], touching(1e-8),
)  # fmt: skip
STEEP, SLIPPERY = 0.6, 0.1


def skidding(stiffness: float = 1e9) -> System:
    """A ball at rest on a slope that is too steep for it to roll."""
    system = System("skidding", gravity=(G * math.sin(STEEP), 0.0, -G * math.cos(STEEP)))
    pressed = (G * math.cos(STEEP) / stiffness) ** (2.0 / 3.0)
    system.add_body("ball", mass=1.0, position=(0.0, 0.0, R - pressed), shapes=[Sphere(R)])
    system.add_joint(Free("free", "ground", "ball"))
    system.add_contact(Contact("on", "ball", stiffness=stiffness, damping=1.0, friction=SLIPPERY))
    return system


DRAG = SLIPPERY * G * math.cos(STEEP)
SKIDDING = Problem(
    "skidding", "ball that slides down a slope and spins up", "Coulomb's law", skidding, {"v": "m/s", "R ω": "m/s"},
    {t: (t * (G * math.sin(STEEP) - DRAG), 2.5 * t * DRAG) for t in (0.2, 0.5)},
    lambda result: np.stack([result.velocity("ball").values[:, 0], R * result.angular_velocity("ball").values[:, 1]], axis=1),
    touching(5e-4),
)  # fmt: skip

# --- in a hole ------------------------------------------------------------------------------------------------------

CLEARANCE, FAST = 1e-3, (0.06, 0.08)
"""Of the hole [m]; the velocity with which the pin leaves its middle, half the clearance aside [m/s]."""


def hole(swapped: bool = False) -> System:
    """A pin of 0.1 kg in a hole that stands still, in a plane, without gravity and friction; `swapped`: a ring of 0.1 kg about a pin that
    stands still, from which the pin is seen to move in the same way."""
    system = System("hole", gravity=(0.0, 0.0, 0.0))
    moves, sign = ("ring", -1.0) if swapped else ("pin", 1.0)
    begins = (sign * 0.5 * CLEARANCE, 0.0, 0.0)
    system.add_body(moves, mass=0.1, inertia=(1e-5, 1e-5, 1e-5), position=begins)
    system.add_joint(Planar("plane", "ground", moves, v0=(sign * FAST[0], sign * FAST[1], 0.0)))
    sides = ("ground", moves) if swapped else (moves, "ground")
    system.add_force(
        SphereContact("wall", *sides, radius_a=0.01, radius_b=0.01 + CLEARANCE, hollow=True, stiffness=1e8)
    )
    return system


def within(result: Result) -> np.ndarray:
    """Place of the pin in the hole [mm], energy [mJ], moment of momentum about its middle [mg m²/s] (N, 4)."""
    moves, sign = ("ring", -1.0) if "ring" in result.system.bodies else ("pin", 1.0)
    p, v = (sign * x.values[:, :2] for x in (result.position(moves), result.velocity(moves)))
    spin = 0.1 * (p[:, 0] * v[:, 1] - p[:, 1] * v[:, 0])
    return np.column_stack([1e3 * p, 1e3 * result.energy().total.values, 1e6 * spin])


HOLE = Problem(
    "hole", "pin in a hole with clearance", "recomputed, place by place; energy and moment of momentum stay", hole,
    {"x": "mm", "y": "mm", "energy": "mJ", "spin": "mg m²/s"},
    {t: (x, y, 0.5, 4.0) for t, (x, y) in {0.01: (0.594523494, 0.497076637), 0.05: (0.498461670, -0.510937594),
                                           0.1: (0.551911722, -0.295076332)}.items()},
    within, touching(1e-5, dt=4e-6, explicit=1e-10, bdf2=1e-3),
)  # fmt: skip

IMPACTS = (SPHERES, GAPS, FIVE, HERTZ, SKIDDING, HOLE)
