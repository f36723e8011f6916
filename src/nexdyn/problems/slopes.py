"""What stands on a slope and what does not: 5 % within the rule, and 5 % beyond it; one block 2 % within, for a minute.

    cone        blocks on a slope, tan φ = 1.05 μ and 0.95 μ: one slides with g (sin φ − μ cos φ), the other stands
    groove      the same of square bars in grooves of 90°, whose walls bear 1/√2 of what presses each, so that friction counts √2 times
    below       block on a slope just below the cone, tan φ = 0.98 μ: from 10 s to 60 s it moves by less than 5e-8 m
    shaken      block on a slope of tan φ = 0.95 μ that shakes up and down at 50 Hz by a tenth of g: it stays where it is
    tipping     blocks on a rough slope, tan φ = 1.05 and 0.95 of width by height: one tips about its lower edge, as a rigid pendulum; the
                other stands
    cards       cards that lean on each other at θ, two by two: they stand for μ > ½ tan θ; else they slip apart; with a load P on top of
                each, of weight W, for μ > tan θ (W/2 + P)/(W + P)
    rod         uniform rod whose end slides on a plane, μ > 4/3, 1 + 3 cos² θ − 3 μ sin θ cos θ < 0: a rigid one has no motion (Painlevé);
                the compliant one stops its end within milliseconds, and leaps

What tips and slips apart has gained a little speed while its springs began to bear, as the root of what they give: at four times the
stiffness errors are half as large.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from nexdyn.forces.applied import AppliedForce
from nexdyn.forces.contact_group import Contact
from nexdyn.joints import Fixed, Free, Planar, Prismatic
from nexdyn.model.driver import Driver
from nexdyn.model.shapes import Box, HalfSpace, Hull, Sphere
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, touching
from nexdyn.results.result import Result

G, SLOPE = 9.81, 0.35
DOWN = (G * math.sin(SLOPE), 0.0, -G * math.cos(SLOPE))
"""Gravity on the slope, whose plane is that of x and y."""
STIFF, STIFFER = 1e6, 1e8


def block(
    system: System, name: str, size: tuple[float, float, float], friction: float, y: float = 0.0, lower: float = 0.5,
    stiffness: float = STIFF,
) -> None:  # fmt: skip
    """A block of 1 kg at rest on `plane`, whose lower corners bear a part of its weight."""
    top = 0.5 * size[2] - G * math.cos(SLOPE) / (4.0 * stiffness)
    turned = (
        G * math.cos(SLOPE) * (lower - 0.5) / (2.0 * stiffness * size[0])
    )  # half of how it leans, by two springs each
    system.add_body(
        name,
        mass=1.0,
        position=(0.0, y, top),
        orientation=(math.cos(turned), 0.0, math.sin(turned), 0.0),
        shapes=[Box(size)],
    )
    system.add_joint(Free(f"{name} free", "ground", name))
    law: dict[str, Any] = {"stiffness": stiffness, "exponent": 1.0, "damping": 50.0, "friction": friction}
    system.add_contact(Contact(f"{name} on", name, "plane", **law))


def plane(name: str) -> System:
    """A system with a plane that leans."""
    system = System(name, gravity=DOWN)
    system.add_body("plane", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[HalfSpace()])
    return system


# --- sliding --------------------------------------------------------------------------------------------------------

WITHIN, BEYOND = math.tan(SLOPE) / 0.95, math.tan(SLOPE) / 1.05
"""Friction with which it stands, and slides."""
FLAT = (0.3, 0.3, 0.1)


def cone() -> System:
    """Two blocks on a slope."""
    system = plane("cone")
    system.add_joint(Fixed("stands", "ground", "plane"))
    block(system, "standing", FLAT, WITHIN, -0.3)
    block(system, "sliding", FLAT, BEYOND, 0.3)
    return system


def since(values: np.ndarray) -> np.ndarray:
    """What has been gained since half a second, by when springs have come to rest: the second sample."""
    return np.asarray(values - values[1])


GAIN = G * (math.sin(SLOPE) - BEYOND * math.cos(SLOPE))
CONE = Problem(
    "cone", "blocks on a slope, 5 % within the cone of friction and beyond", "Coulomb's law", cone,
    {"drift since 0.5 s": "m", "v since 0.5 s": "m/s"}, {0.5: (0.0, 0.0), 1.0: (0.0, 0.5 * GAIN), 2.0: (0.0, 1.5 * GAIN)},
    lambda result: since(np.stack([result.position("standing").values[:, 0], result.velocity("sliding").values[:, 0]], axis=1)),
    touching(1e-7), scale=(1e-2, 1.0),
)  # fmt: skip
BAR, LONG_BAR, DEEP = 0.1, 0.4, 0.3
"""The side of a square bar, its length, and how deep the groove is."""
QUARTER = (math.cos(math.pi / 8.0), math.sin(math.pi / 8.0), 0.0, 0.0)
OTHER = (QUARTER[0], -QUARTER[1], 0.0, 0.0)
"""How the walls of a groove along x are turned about it."""
BESIDE = {"standing": -0.5, "sliding": 0.5}
"""Where [m] the two grooves lie across the slope."""


def groove() -> System:
    """Bars in two grooves on a slope."""
    system = System("groove", gravity=DOWN)
    wall = G * math.cos(SLOPE) / math.sqrt(2.0)
    for name, friction in (("standing", WITHIN), ("sliding", BEYOND)):
        y, sunk = BESIDE[name], math.sqrt(2.0) * wall / (4.0 * STIFF)
        walls = [HalfSpace(position=(0.0, 0.0, -DEEP), orientation=turned) for turned in (QUARTER, OTHER)]
        system.add_body(f"{name} groove", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, y, 0.0), collision=walls)
        system.add_joint(Fixed(f"{name} rests", "ground", f"{name} groove"))
        system.add_body(
            name,
            mass=1.0,
            position=(0.0, y, BAR / math.sqrt(2.0) - DEEP - sunk),
            shapes=[Box((LONG_BAR, BAR, BAR), orientation=QUARTER)],
        )
        system.add_joint(Free(f"{name} free", "ground", name))
        law: dict[str, Any] = {
            "stiffness": STIFF,
            "exponent": 1.0,
            "damping": 50.0,
            "friction": friction / math.sqrt(2.0),
        }
        system.add_contact(Contact(f"{name} in", name, f"{name} groove", **law))
    return system


GROOVE = replace(
    CONE, name="groove", title="bars in grooves on a slope, 5 % within the cone of friction and beyond", build=groove
)
NEARLY = math.tan(SLOPE) / 0.98


def below() -> System:
    """A block on a slope, 2 % within the cone of friction."""
    system = plane("below")
    system.add_joint(Fixed("stands", "ground", "plane"))
    block(system, "block", FLAT, NEARLY)
    return system


def gone(result: Result) -> np.ndarray:
    """How far the block is from where it was at the second sample, whichever way (N, 1)."""
    return np.linalg.norm(since(result.position("block").values), axis=1)[:, None]


BELOW = Problem(
    "below", "block on a slope, 2 % within the cone of friction, for a minute", "Coulomb's law", below, {"drift since 10 s": "m"},
    {10.0: (0.0,), 20.0: (0.0,), 40.0: (0.0,), 60.0: (0.0,)}, gone, touching(5e-8, dt=2e-3),
)  # fmt: skip
HERTZ_50 = 100.0 * math.pi


def shaken() -> System:
    """A block on a slope that shakes along gravity."""
    system = plane("shaken")
    system.add_joint(Prismatic("shakes", "ground", "plane", axis=tuple(-x / G for x in DOWN)))
    system.add_driver(Driver("drive", "shakes", f"={0.1 * G / HERTZ_50**2}*(1 - cos({HERTZ_50}*t))"))
    block(system, "block", FLAT, WITHIN)
    return system


SHAKEN = Problem(
    "shaken", "block on a slope that shakes, 5 % within the cone of friction", "Coulomb's law", shaken, {"drift since 0.5 s": "m"},
    {0.5: (0.0,), 1.0: (0.0,), 2.0: (0.0,)},
    lambda result: since(result.position("block").values[:, :1] - result.position("plane").values[:, :1]),
    touching(1e-9, dt=2.5e-4),
)  # fmt: skip

# --- tipping --------------------------------------------------------------------------------------------------------

TALL = 0.3
NARROW, WIDE = TALL * math.tan(SLOPE) / 1.05, TALL * math.tan(SLOPE) / 0.95


def tipping() -> System:
    """Two tall blocks on a slope."""
    system = plane("tipping")
    system.add_joint(Fixed("stands", "ground", "plane"))
    block(system, "narrow", (NARROW, 0.2, TALL), 1.0, -0.3, 1.0, STIFFER)
    block(system, "wide", (WIDE, 0.2, TALL), 1.0, 0.3, 0.975, STIFFER)
    return system


def lean(result: Result, name: str) -> np.ndarray:
    """By how much a body has turned about y (N,)."""
    w, _, y, _ = result.orientation(name).values.T
    return np.asarray(2.0 * np.arctan2(y, w))


def leans(result: Result, *names: str) -> np.ndarray:
    """How bodies lean (N, n)."""
    return np.stack([lean(result, name) for name in names], axis=1)


HELD = G * math.cos(SLOPE) * TALL * math.tan(SLOPE) / WIDE / (2.0 * STIFFER * WIDE)
"""Lean of the wide block: N_low − N_high = m g cos φ · height tan φ/width, by two springs each."""
TIPPING = Problem(
    "tipping", "tall blocks on a slope, 5 % too narrow to stand and 5 % wider", "rigid pendulum about the edge, recomputed", tipping,
    {"narrow": "rad", "wide": "rad"}, {0.2: (0.01663856622, HELD), 0.3: (0.04499770568, HELD), 0.5: (0.21640715798, HELD)},
    lambda result: leans(result, "narrow", "wide"), touching(1e-3, dt=2e-4, explicit=1e-6), scale=(1.0, 1e-5),
)  # fmt: skip

# --- leaning --------------------------------------------------------------------------------------------------------

LONG, LEAN, EDGE, POINT = 0.3, 0.4, 5e-3, 1e-6
"""Of a card: its length, how it leans [rad], radius of its upper edge and of its lower one, which is next to none."""


def floor(system: System) -> None:
    """A floor that is level."""
    system.add_body("floor", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[HalfSpace()])
    system.add_joint(Fixed("floor stands", "ground", "floor"))


def cards(load: float = 0.0) -> System:
    """Two pairs of cards of 0.1 kg in a plane, that of x and z: a point below, a ball above, on which a load presses [of their weight]."""
    system = System("cards")
    floor(system)
    enough = math.tan(LEAN) * (0.5 + load) / (1.0 + load)
    law: dict[str, Any] = {"stiffness": STIFFER, "exponent": 1.0, "damping": 50.0}
    head = (0.0, 0.0, 0.5 * LONG)
    ends = [Sphere(EDGE, position=head, name="head"), Sphere(POINT, position=(0.0, 0.0, -0.5 * LONG), name="foot")]
    for pair, part in (("stands", 1.05), ("falls", 0.95)):
        for side, x in (("left", -1.0), ("right", 1.0)):
            name, turned = f"{pair} {side}", -0.5 * x * LEAN
            system.add_body(
                name, mass=0.1, inertia=(0.1 * LONG**2 / 12.0, 0.1 * LONG**2 / 12.0, 1e-5),
                position=(x * (0.5 * LONG * math.sin(LEAN) + EDGE), 0.0, 0.5 * LONG * math.cos(LEAN) + POINT),
                orientation=(math.cos(turned), 0.0, math.sin(turned), 0.0), collision=ends,
            )  # fmt: skip
            system.add_joint(Planar(f"{name} plane", "ground", name, axis=(0, 1, 0), reference=(1, 0, 0)))
            system.add_contact(Contact(f"{name} on", name, "floor", friction=part * enough, **law))
            if load:
                system.add_force(AppliedForce(f"{name} load", name, force=(0.0, 0.0, -load * 0.1 * G), anchor=head))
        system.add_contact(Contact(pair, f"{pair} left", f"{pair} right", **law))
    return system


CARDS = Problem(
    "cards", "cards that lean, 5 % within the rule and beyond", "μ = ½ tan θ; rigid cards, recomputed", cards,
    {"stands": "rad", "falls": "rad"}, {0.1: (0.4, 0.40562764823), 0.3: (0.4, 0.474587069402), 0.4: (0.4, 0.583501848986)},
    lambda result: leans(result, "stands left", "falls left"), touching(1e-3, dt=2e-4, explicit=1e-6), scale=(1e-2, 1.0),
)  # fmt: skip

LOADED = replace(
    CARDS, name="loaded-cards", title="cards that lean, each with its weight on top, 5 % within the rule and beyond",
    source="μ = tan θ (W/2 + P)/(W + P); rigid cards, recomputed", build=lambda: cards(1.0),
    reference={0.1: (0.4, 0.420058190467), 0.2: (0.4, 0.527762987791), 0.3: (0.4, 1.007527483510)},
)  # fmt: skip

# --- Painlevé's rod -------------------------------------------------------------------------------------------------

ROUGH, STEEP, REACH, WAIST = 1.6, math.atan(2.0), 0.5, 0.01
"""Friction, angle of the rod to the plane [rad], half of its length, and of its width where it is widest [m]."""


def spindle() -> Hull:
    """The rod: a point at each end, four about its middle."""
    c, s = math.cos(STEEP), math.sin(STEEP)
    ends = [(sign * REACH * c, 0.0, -sign * REACH * s) for sign in (1.0, -1.0)]
    waist = [(x * WAIST * s, y * WAIST, x * WAIST * c) for x, y in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))]
    return Hull((*ends, *waist))


def rod() -> System:
    """A rod of 1 kg and 1 m that slides on its end, which goes before it."""
    system = System("rod")
    place = (0.0, 0.0, REACH * math.sin(STEEP))
    floor(system)
    inertia = (REACH**2 / 3.0, REACH**2 / 3.0, 1e-3)
    system.add_body("rod", mass=1.0, inertia=inertia, position=place, collision=[spindle()])
    system.add_joint(Planar("plane", "ground", "rod", axis=(0, 1, 0), reference=(1, 0, 0), v0=(1.0, 0.0, 0.0)))
    law: dict[str, Any] = {"stiffness": STIFF, "exponent": 1.0, "friction": ROUGH, "friction_speed": 0.01}
    system.add_contact(Contact("end", "rod", "floor", **law))
    return system


def leap(result: Result) -> np.ndarray:
    """Velocity of the middle of the rod along x and z, and how fast it turns down (N, 3)."""
    return np.column_stack([result.velocity("rod").values[:, [0, 2]], result.angular_velocity("rod").values[:, 1]])


ROD = Problem(
    "rod", "rod that slides on its end", "Painlevé 1895; compliant, recomputed", rod, {"v_x": "m/s", "v_z": "m/s", "ω": "rad/s"},
    {0.005: (0.600483277477, 0.252307278568, 1.337060829314), 0.01: (0.514885524888, 0.447799290024, 1.144210573219),
     0.02: (0.514885524888, 0.349699290024, 1.144210573219)},
    leap, touching(1e-5, dt=1e-5, bdf2=1e-4),
)  # fmt: skip

SLOPES = (CONE, GROOVE, BELOW, SHAKEN, TIPPING, CARDS, LOADED, ROD)
