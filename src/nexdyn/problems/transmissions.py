"""Teeth and slots that drive one another, with answers in closed form.

    gears     two equal gears of involute teeth, frictionless. Every normal of an involute is tangent to its base circle, of radius r_b:
              whichever teeth bear, the sum of their normal forces f_n turns the driving shaft by f_n r_b. One tooth after the other does
              the same: over whole teeth the ratio is −1, and the ripple of the driven gear has the lines z ω/2π and its multiples alone
    geneva    pin on a crank of radius r in the four slots of a wheel, d = √2 r between the shafts: tan β = r sin α/(d − r cos α) while
              it is engaged, |α| ≤ π/4; else the wheel stands where it was left, by the dry friction of its shaft

Teeth are prisms of flat facets, made here. An involute is convex, so that each tooth is a hull; its other flank carries nothing, and has
fewer facets. A facet has one normal: f_n r_b is wrong at worst in proportion to its length. Softer teeth touch with the edges of their
tips before they come to the line of action, which adds to it. The pin gives by F/k: the error of β goes with 1/k.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nexdyn.forces.contact_group import Contact
from nexdyn.forces.joint_force import JointForce
from nexdyn.joints import Revolute
from nexdyn.model.driver import Driver
from nexdyn.model.shapes import Hull, Shape, Sphere
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, touching
from nexdyn.results.result import Result

Quaternion = tuple[float, float, float, float]


def about_z(angle: float) -> Quaternion:
    """The orientation turned by an angle about z."""
    return (math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle))


def turned(result: Result) -> np.ndarray:
    """How far the shaft that follows has turned [rad] (N,), full turns included."""
    return np.asarray(result.joint_position("output").values).reshape(-1)


# --- two gears ------------------------------------------------------------------------------------------------------

TEETH, MODULE, PRESSURE, PLAY = 20, 2e-3, math.radians(20.0), 0.01
"""Number of teeth z, module [m], pressure angle; the part of its thickness by which a tooth is thinner."""
PITCH = 0.5 * TEETH * MODULE
BASE, TIP, ROOT = PITCH * math.cos(PRESSURE), PITCH + MODULE, PITCH - 1.25 * MODULE
"""Radii of the circles [m]."""
STEP = 2.0 * math.pi / TEETH
RATE, TORQUE, SOFT, WIDTH, INERTIA = 20.0, 1.0, 1e13, 0.01, 1e-4
"""Speed of the driving gear [rad/s], torque that brakes the other [N m], stiffness of each flank [N/m³], width of the teeth, inertia."""
FLANK = 24
"""Points of a flank that bears."""


def tooth(middle: float, width: float, points: int) -> Hull:
    """A tooth about the direction `middle`, of which the flank on the side of larger angles bears."""
    half = 0.5 * math.pi / TEETH * (1.0 - PLAY) + math.tan(PRESSURE) - PRESSURE
    last = math.sqrt((TIP / BASE) ** 2 - 1.0)
    outline = [(ROOT, -half), (ROOT, half)]
    for side, count in ((1.0, points), (-1.0, 4)):  # u the angle by which a string is unrolled from the base circle
        u = np.linspace(0.0, last, count)
        outline += zip(BASE * np.sqrt(1.0 + u * u), side * (half - u + np.arctan(u)), strict=True)
    return Hull(
        tuple(
            (float(r * math.cos(middle + a)), float(r * math.sin(middle + a)), z)
            for r, a in outline
            for z in (-0.5 * width, 0.5 * width)
        )
    )


Shapes = Sequence[Shape]


def gears(
    soft: float = SOFT, points: int = FLANK, swapped: bool = False, whole: tuple[Shapes, Shapes] | None = None
) -> System:
    """Two gears in mesh, at the start they touch. Without shapes of whole gears those teeth are there that come to bear: one of the driving
    gear is on x, and a gap of the driven one on −x."""
    system = System("gears", gravity=(0.0, 0.0, 0.0))
    inertia = (INERTIA, INERTIA, INERTIA)
    teeth: Shapes = whole[0] if whole else [tooth(-i * STEP, WIDTH, points) for i in range(4)]
    system.add_body("driving", mass=0.1, inertia=inertia, collision=teeth)
    system.add_joint(Revolute("input", "ground", "driving", axis=(0, 0, 1)))
    system.add_driver(Driver("motor", "input", f"={RATE}*t"))
    back = 0.5 * PLAY * STEP  # its teeth touch
    middles = [math.pi + (i + 0.5) * STEP for i in range(-1, 3)]
    teeth = whole[1] if whole else [tooth(middle, 1.2 * WIDTH, points) for middle in middles]
    at = (2.0 * PITCH, 0.0, 0.0)
    system.add_body("driven", mass=0.1, inertia=inertia, position=at, orientation=about_z(back), collision=teeth)
    system.add_joint(Revolute("output", "ground", "driven", at=at, axis=(0, 0, 1), v0=-RATE))
    system.add_force(JointForce("brake", "output", TORQUE))
    a, b = ("driven", "driving") if swapped else ("driving", "driven")
    system.add_contact(Contact("teeth", a, b, foundation_a=soft, foundation_b=soft, damping=10.0))
    return system


PERIOD = STEP / RATE
"""From tooth to tooth [s]."""
COUNT, SAMPLES, LEAD = 2, 32, 16
"""Teeth over which is compared, samples of each, and those before, while the start dies down."""
SAMPLED = tuple(PERIOD / SAMPLES * i for i in range(1, LEAD + COUNT * SAMPLES + 1))


def meshed(result: Result) -> np.ndarray:
    """The ratio, the first line of the ripple by z ω/2π, what lies between the lines by the first; the mean of f_n r_b by the torque of the
    brake, and the largest difference between f_n r_b and that of the motor by it (N, 5)."""
    found = np.zeros((len(result.recording.t), 5))
    if len(found) <= LEAD + COUNT * SAMPLES:
        return found
    output = turned(result)[LEAD:]
    lines = np.abs(np.fft.rfft((output + RATE * result.recording.t[LEAD:])[:-1]))[1:]
    first = int(np.argmax(lines > 0.1 * lines.max())) + 1
    others = np.delete(lines, np.s_[COUNT - 1 :: COUNT])
    force = BASE * result.contacts("teeth").normal.values.sum(axis=1)[LEAD:-1]
    motor = result.effort("motor").values[LEAD:-1]
    found[:] = (
        (output[-1] - output[0]) / (COUNT * STEP),
        first / COUNT,
        math.sqrt(float(np.sum(others**2))) / lines[COUNT - 1],
        force.mean() / TORQUE,
        1.0 + np.abs(force - motor).max() / TORQUE,
    )
    return found


GEARS = Problem(
    "gears", "two equal gears of involute teeth", "involutes", gears,
    {"ratio": "1", "first line": "1", "between": "1", "f r/torque": "1", "f r/motor": "1"},
    {SAMPLED[-1]: (-1.0, 1.0, 0.0, 1.0, 1.0)}, meshed, touching(1e-3, dt=PERIOD / SAMPLES / 8, explicit=1e-6),
    scale=(2e-4, 1e-3, 2.0, 1.0, 5.0), recorded=SAMPLED,
)  # fmt: skip

# --- a Geneva drive -------------------------------------------------------------------------------------------------

APART, PIN, THICK, HARD = 0.1, 0.006, 0.01, 2e7
"""Between the shafts [m], radius of the pin, thickness of the wheel, stiffness between them [N/m], linear."""
CRANK = APART * math.sin(math.pi / 4.0)
"""Radius of the crank, and of the wheel up to the mouths of its slots: there the pin comes in along a slot."""
TURNS, BEFORE = 2.0 * math.pi, 0.15
"""Speed of the crank [rad/s]; how far it is from the slot at the start [rad]."""


def geneva(hard: float = HARD, swapped: bool = False) -> System:
    """A crank that turns, and a wheel of four parts with a slot, as wide as the pin, between each and the next."""
    system = System("geneva", gravity=(0.0, 0.0, 0.0))
    pin = Sphere(PIN, position=(CRANK, 0.0, 0.0))
    start = about_z(-math.pi / 4.0 - BEFORE)
    system.add_body("crank", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), orientation=start, collision=[pin])
    system.add_joint(Revolute("input", "ground", "crank", axis=(0, 0, 1)))
    system.add_driver(Driver("motor", "input", f"={TURNS}*t"))
    corners = ((PIN, PIN), (CRANK, PIN), (PIN, CRANK))
    parts = [
        Hull(tuple((c * x - s * y, s * x + c * y, z) for x, y in corners for z in (-0.5 * THICK, 0.5 * THICK)))
        for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1))
    ]
    at = (APART, 0.0, 0.0)
    system.add_body(
        "wheel", mass=1.0, inertia=(1e-4, 1e-4, 1e-4), position=at, orientation=about_z(math.pi / 4.0), collision=parts
    )
    system.add_joint(Revolute("output", "ground", "wheel", at=at, axis=(0, 0, 1), friction=0.05, friction_speed=0.05))
    a, b = ("wheel", "crank") if swapped else ("crank", "wheel")
    system.add_contact(Contact("slots", a, b, stiffness=hard, exponent=1.0, damping=20.0))
    return system


def indexed(t: float) -> float:
    """How far the wheel has turned [rad], a quarter turn backwards each time that the crank goes round."""
    turns, alpha = divmod(TURNS * t - math.pi / 4.0 - BEFORE + math.pi, 2.0 * math.pi)
    alpha = min(max(alpha - math.pi, -math.pi / 4.0), math.pi / 4.0)
    beta = math.atan2(CRANK * math.sin(alpha), APART - CRANK * math.cos(alpha))
    return -beta - math.pi / 4.0 - 0.5 * math.pi * turns


GENEVA = Problem(
    "geneva", "Geneva drive with four slots", "its geometry", geneva, {"β": "rad"},
    {t: (indexed(t),) for t in (0.04, 0.08, 0.12, 0.16, 0.2, 0.24, 0.6, 1.0, 1.08, 1.12, 1.16, 1.2, 1.3)},
    lambda result: turned(result)[:, None], touching(5e-6, dt=2e-4),
)  # fmt: skip

TRANSMISSIONS = (GEARS, GENEVA)
