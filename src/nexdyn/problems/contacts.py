"""Contact, with answers in closed form.

    sliding     block on a slope, tan φ > μ: v = g (sin φ − μ cos φ) t
    standing    block on a slope, tan φ < μ/2, so that it does not slide when it is put there either: its springs hold it for as long as one
                looks, m g sin φ/(4 σ) and what it tilts below where it began
    belt        block put on a belt: μ g t until it has the belt's speed, then that
    conveyor    block and ball put on a conveyor, which stands while its surface runs: the block slides for v/(μ g) and is carried;
                the ball comes to 2/7 of the belt's speed, and rolls
    rolling     ball on a slope, μ > 2/7 tan φ: a = 5/7 g sin φ
    bowling     ball without spin: it rolls from t = 2 v₀/(7 μ g) on, with 5/7 v₀
    bounce      impact of a ball after Hunt and Crossley, oblique, sliding throughout: ε of the speed along the normal, and μ (1 + ε) of it
                along the plane, at whatever stiffness
    cradle      three equal balls that touch, one strikes: −0.07095, 0.07640, 0.99455 of its speed, at whatever stiffness
    floating    ball on a half-space with an elastic foundation: m g = k π h² (R − h/3)

A ball that gives by δ rolls on R − δ: stiffnesses are such that this is far below the tolerances.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nexdyn.forces.contact_group import Contact
from nexdyn.joints import Fixed, Free, Prismatic
from nexdyn.model.driver import Driver
from nexdyn.model.shapes import Box, HalfSpace, Sphere
from nexdyn.model.system import System
from nexdyn.problems.arch import ARCHES
from nexdyn.problems.contact_machines import MACHINES
from nexdyn.problems.dominoes import DOMINOES
from nexdyn.problems.impacts import IMPACTS
from nexdyn.problems.problem import Problem, touching
from nexdyn.problems.slopes import SLOPES
from nexdyn.problems.standing import ROBOTS
from nexdyn.problems.tippe_top import TOPS
from nexdyn.problems.transmissions import TRANSMISSIONS
from nexdyn.problems.wheels import WHEEL
from nexdyn.results.result import Result

G, R, MU = 9.81, 0.1, 0.4
STEEP, FLAT, GENTLE = 0.6, 0.35, 0.15
"""Angles of slopes [rad]: above atan μ, below it, below half of it."""

# --- a block --------------------------------------------------------------------------------------------------------

STIFF = 1e6
PRESSED = G / (4.0 * STIFF)
"""Depth of each corner of a block of 1 kg on the level."""


def block(lean: float, friction: float, belt: float | None = None, harder: float = 1.0) -> System:
    """A block of 1 kg at rest on a plane that leans by `lean`; or on a belt that moves, level. harder: times the stiffness."""
    system = System("block", gravity=(G * math.sin(lean), 0.0, -G * math.cos(lean)))
    top = 0.05 - PRESSED / harder * math.cos(lean)
    system.add_body("block", mass=1.0, position=(0.0, 0.0, top), shapes=[Box((0.3, 0.3, 0.1))])
    system.add_joint(Free("free", "ground", "block"))
    system.add_body("plane", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[HalfSpace()])
    if belt is None:
        system.add_joint(Fixed("stands", "ground", "plane"))
    else:
        system.add_joint(Prismatic("runs", "ground", "plane", axis=(1, 0, 0)))
        system.add_driver(Driver("drive", "runs", f"={belt}*t"))
    law: dict[str, Any] = {"stiffness": harder * STIFF, "exponent": 1.0, "damping": 50.0, "friction": friction}
    system.add_contact(Contact("on", "block", "plane", **law))
    return system


def speed(result: Result) -> np.ndarray:
    """Speed of the block along the plane (N, 1)."""
    return np.asarray(result.velocity("block").values[:, :1])


def place(result: Result) -> np.ndarray:
    """How far the block has slid (N, 1)."""
    return np.asarray(result.position("block").values[:, :1])


SLIDING = Problem(
    "sliding", "block that slides down a slope", "Coulomb's law", lambda: block(STEEP, MU), {"v": "m/s"},
    {0.2: (0.2 * G * (math.sin(STEEP) - MU * math.cos(STEEP)),), 0.5: (0.5 * G * (math.sin(STEEP) - MU * math.cos(STEEP)),)},
    speed, touching(1e-3),
)  # fmt: skip
HELD = G * math.sin(GENTLE) / (4.0 * STIFF) * (1.0 / 0.82 + 0.05**2 / 0.15**2)
STANDING = Problem(
    "standing", "block that stands on a slope", "Coulomb's law and its springs", lambda: block(GENTLE, MU), {"x": "m"},
    {2.0: (HELD,), 20.0: (HELD,)}, place, touching(1e-8, dt=2e-3),
)  # fmt: skip
BELT = Problem(
    "belt", "block put on a belt", "Coulomb's law", lambda: block(0.0, MU, 1.0), {"v": "m/s"},
    {0.1: (0.1 * MU * G,), 0.5: (1.0,)}, speed, touching(1e-8),
)  # fmt: skip

RUNS = 1.0
"""Speed of the surface of a conveyor [m/s]."""


def conveyor(harder: float = 1.0) -> System:
    """A block and a ball of 1 kg on a conveyor. harder: times their stiffness."""
    stiff, round_ = harder * STIFF, harder * ROUND
    system = System("conveyor", gravity=(0.0, 0.0, -G))
    system.add_body("block", mass=1.0, position=(0.0, -1.0, 0.05 - PRESSED / harder), shapes=[Box((0.3, 0.3, 0.1))])
    system.add_body("ball", mass=1.0, position=(0.0, 1.0, R - (G / round_) ** (2.0 / 3.0)), shapes=[Sphere(R)])
    system.add_body("conveyor", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[HalfSpace()])
    system.add_joint(Fixed("stands", "ground", "conveyor"))
    law: dict[str, Any] = {"friction": MU, "surface_velocity_b": (RUNS, 0.0, 0.0)}
    system.add_joint(Free("block free", "ground", "block"))
    system.add_joint(Free("ball free", "ground", "ball"))
    system.add_contact(Contact("block on", "block", "conveyor", stiffness=stiff, exponent=1.0, damping=50.0, **law))
    system.add_contact(Contact("ball on", "ball", "conveyor", stiffness=round_, damping=1.0, **law))
    return system


ROUND, UNTIL = 1e9, RUNS / (MU * G)
"""Stiffness of the ball, and when the block is carried [s]."""
CONVEYOR = Problem(
    "conveyor", "block and ball put on a conveyor", "Coulomb's law", conveyor, {"v": "m/s", "x": "m", "v of the ball": "m/s"},
    {
        0.05: (0.05 * MU * G, 0.5 * MU * G * 0.05**2, 0.05 * MU * G),
        0.2: (0.2 * MU * G, 0.5 * MU * G * 0.2**2, 2.0 / 7.0 * RUNS),
        0.5: (RUNS, RUNS * (0.5 - 0.5 * UNTIL), 2.0 / 7.0 * RUNS),
    },
    lambda result: np.column_stack([speed(result), place(result), result.velocity("ball").values[:, 0]]), touching(3e-5),
)  # fmt: skip

# --- a ball ---------------------------------------------------------------------------------------------------------


def ball(lean: float, v: tuple[float, float, float], height: float = 0.0, **law: Any) -> System:
    """A ball of 1 kg that touches a plane which leans by `lean`, or is `height` above it without gravity."""
    gravity = (0.0, 0.0, 0.0) if height else (G * math.sin(lean), 0.0, -G * math.cos(lean))
    system = System("ball", gravity=gravity)
    given = {"stiffness": 1e9, "exponent": 1.5, "friction": MU, **law}
    pressed = 0.0 if height else (G * math.cos(lean) / given["stiffness"]) ** (2.0 / 3.0)
    system.add_body("ball", mass=1.0, position=(0.0, 0.0, R + height - pressed), shapes=[Sphere(R)])
    system.add_joint(Free("free", "ground", "ball", v0=(0.0, 0.0, 0.0, *v)))
    system.add_contact(Contact("on", "ball", **given))
    return system


def velocity(result: Result) -> np.ndarray:
    """Velocity of the ball along x and z (N, 2)."""
    return np.asarray(result.velocity("ball").values[:, [0, 2]])


ROLLS = 5.0 / 7.0 * G * math.sin(FLAT)
ROLLING = Problem(
    "rolling", "ball that rolls down a slope", "a = 5/7 g sin φ", lambda: ball(FLAT, (0.0, 0.0, 0.0), damping=1.0), {"v": "m/s"},
    {0.2: (0.2 * ROLLS,), 0.5: (0.5 * ROLLS,)}, lambda result: velocity(result)[:, :1], touching(1e-4),
)  # fmt: skip
BOWLING = Problem(
    "bowling", "ball without spin", "rolls from 2 v₀/(7 μ g) on, with 5/7 v₀", lambda: ball(0.0, (2.0, 0.0, 0.0), damping=1.0),
    {"v": "m/s"}, {0.1: (2.0 - 0.1 * MU * G,), 0.2: (10.0 / 7.0,), 0.4: (10.0 / 7.0,)}, lambda result: velocity(result)[:, :1],
    touching(1e-4),
)  # fmt: skip
ELASTIC, DOWN = 0.6, -1.0
BOUNCE = Problem(
    "bounce", "ball that strikes a plane and slides", "Hunt and Crossley 1975",
    lambda: ball(0.0, (3.0, 0.0, DOWN), 0.01, stiffness=1e7, restitution=ELASTIC, impact_speed=1.0, friction=0.1),
    {"v_x": "m/s", "v_z": "m/s"}, {0.05: (3.0 + 0.1 * (1.0 + ELASTIC) * DOWN, -ELASTIC * DOWN)}, velocity,
    touching(1e-4, dt=2e-5),
)  # fmt: skip


def cradle() -> System:
    """Three balls in a row that touch, without gravity."""
    system = System("cradle", gravity=(0.0, 0.0, 0.0))
    for i in range(3):
        system.add_body(f"ball{i}", mass=1.0, position=(2.0 * R * i, 0.0, 0.0), shapes=[Sphere(R)])
        system.add_joint(Free(f"free{i}", "ground", f"ball{i}", v0=(0.0, 0.0, 0.0, 0.0 if i else 1.0, 0.0, 0.0)))
    system.add_contact(Contact("touch", "ball*", "ball*", stiffness=1e8))
    return system


CRADLE = Problem(
    "cradle", "three balls that touch", "recomputed; any stiffness", cradle, {f"v{i}": "m/s" for i in range(3)},
    {0.01: (-0.07095, 0.07640, 0.99455)},
    lambda result: np.stack([result.velocity(f"ball{i}").values[:, 0] for i in range(3)], axis=1),
    touching(5e-5, dt=2e-6),
)  # fmt: skip
LAYER = 1e7
DEPTH = float(min(h for h in np.roots([-LAYER * math.pi / 3.0, LAYER * math.pi * R, 0.0, -G]) if h > 0.0))
"""h of m g = k π h² (R − h/3)."""


def floating() -> System:
    """A ball on a half-space with an elastic foundation, a little above where it rests."""
    system = System("floating")
    system.add_body("ball", mass=1.0, position=(0.0, 0.0, R - 0.9 * DEPTH), shapes=[Sphere(R)])
    system.add_joint(Free("free", "ground", "ball"))
    system.add_contact(Contact("on", "ball", foundation_b=LAYER, damping=10.0, friction=MU))
    return system


FLOATING = Problem(
    "floating", "ball on an elastic foundation", "Archimedes' principle", floating, {"h": "m"}, {1.0: (DEPTH,)},
    lambda result: R - result.position("ball").values[:, 2:], touching(1e-8),
)  # fmt: skip

CONTACTS = (
    SLIDING,
    STANDING,
    BELT,
    CONVEYOR,
    WHEEL,
    ROLLING,
    BOWLING,
    BOUNCE,
    CRADLE,
    FLOATING,
    *IMPACTS,
    *SLOPES,
    *TOPS,
    *MACHINES,
    *TRANSMISSIONS,
    *ROBOTS,
    DOMINOES,
    *ARCHES,
)
