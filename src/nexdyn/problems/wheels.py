"""Wheels on a slope, over areas, with answers in closed form.

    wheel   a solid wheel where friction holds, a = g sin φ/(1 + I/(m s²)), s the height of its axle over the ground, and the same wheel
            where it does not, μ < tan φ I/(I + m s²): it slides with a = g (sin φ − μ cos φ), and spins up with μ g cos φ m s/I

It stands so deep that k L A(d) = m g cos φ, A(d) the segment of a disc, d deep. At first the spring of friction is stretched, so that what
slides spins up 0.4 ms late: 0.01 rad/s.
"""

from __future__ import annotations

import math

import numpy as np

from nexdyn.forces.contact_group import Contact
from nexdyn.joints import Free
from nexdyn.model.shapes import Cylinder
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, touching
from nexdyn.results.result import Result

G, R, WIDTH, MASS, SOFT = 9.81, 0.1, 0.04, 1.0, 1e9
"""Radius and width of a wheel [m], its mass [kg], and the stiffness of the ground [N/m³]."""
STEEP = 0.6
"""Angle of the slope [rad]."""
GRIPS, SLIDES = 0.4, 0.15
"""Friction of the two wheels."""


def height_on(soft: float) -> float:
    """Height of an axle over the ground [m], so soft."""
    weight = MASS * G * math.cos(STEEP)
    d = (weight / (soft * WIDTH * 4.0 / 3.0 * math.sqrt(2.0 * R))) ** (2.0 / 3.0)
    for _ in range(20):
        half = 2.0 * math.asin(math.sqrt(0.5 * d / R))
        area = R * R * (half - 0.5 * math.sin(2.0 * half))
        d -= (area - weight / (soft * WIDTH)) / (2.0 * R * math.sin(half))
    return R - d


SPIN, ACROSS = 0.5 * MASS * R * R, MASS * (3.0 * R * R + WIDTH * WIDTH) / 12.0


def wheels(soft: float = SOFT) -> System:
    """Two wheels on a slope, whose axles are y; on ground as soft as that."""
    axle = height_on(soft)
    system = System("wheels", gravity=(G * math.sin(STEEP), 0.0, -G * math.cos(STEEP)))
    turned = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
    for name, y, friction in (("rolls", -1.0, GRIPS), ("slides", 1.0, SLIDES)):
        shape = Cylinder(R, WIDTH, orientation=turned)
        system.add_body(name, mass=MASS, inertia=(ACROSS, SPIN, ACROSS), position=(0.0, y, axle), shapes=[shape])
        system.add_joint(Free(f"{name} free", "ground", name))
        system.add_contact(Contact(f"{name} on", name, foundation_b=soft, friction=friction))
    return system


def speeds(result: Result) -> np.ndarray:
    """Of the wheel that rolls, of the one that slides, and how fast that turns (N, 3)."""
    along = [result.velocity(name).values[:, 0] for name in ("rolls", "slides")]
    return np.column_stack([*along, result.angular_velocity("slides").values[:, 1]])


def gains(soft: float = SOFT) -> tuple[float, float, float]:
    """What those gain in a second."""
    s = height_on(soft)
    rolls = G * math.sin(STEEP) / (1.0 + SPIN / (MASS * s * s))
    slides = G * (math.sin(STEEP) - SLIDES * math.cos(STEEP))
    return rolls, slides, SLIDES * G * math.cos(STEEP) * MASS * s / SPIN


WHEEL = Problem(
    "wheel", "wheels that roll and slide down a slope", "Coulomb's law", wheels, {"v": "m/s", "v sliding": "m/s", "ω sliding": "rad/s"},
    {t: tuple(t * gain for gain in gains()) for t in (0.2, 0.5)}, speeds, touching(1.05e-3), (1.0, 1.0, 10.0),
)  # fmt: skip
