"""A tippe top: a ball whose centre of mass lies below its middle spins upright, and turns over.

    friction    regularised at 0.1 m/s: it stands at 170.6° after 1.6 s, its centre of mass above its middle
    smooth      without friction it nods by a fraction of a degree about the tilt it began with, and the moments of momentum about the
                vertical and about its own axis stay

Jellett's quantity, the moment of momentum times the way from the centre of mass to the lowest point, stays where the force acts at that
point: here but for 5e-4, for the ball gives; half of that at twice the stiffness.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nexdyn.forces.contact_group import Contact
from nexdyn.joints import Fixed, Free
from nexdyn.model.shapes import HalfSpace, Sphere
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, touching
from nexdyn.results.result import Result

G, M, R, LOW = 9.81, 0.02, 0.02, 0.3 * 0.02
"""Mass, radius, how far the centre of mass lies below the middle."""
SPIN, TILT, STIFF = 155.0, 0.1, 2e4
ACROSS, ALONG = 131.0 / 350.0 * M * R**2, 0.4 * M * R**2
"""Moments of inertia about the centre of mass."""


def tippe_top(friction: float) -> System:
    """The top on a floor, pressed in by its weight."""
    system = System("tippe-top")
    height = R - LOW * math.cos(TILT) - M * G / STIFF
    leaning = (math.cos(0.5 * TILT), math.sin(0.5 * TILT), 0.0, 0.0)
    system.add_body(
        "top", mass=M, inertia=(ACROSS, ACROSS, ALONG), position=(0.0, 0.0, height), orientation=leaning,
        collision=[Sphere(R, position=(0.0, 0.0, LOW))],
    )  # fmt: skip
    system.add_joint(Free("free", "ground", "top", v0=(0.0, 0.0, SPIN, 0.0, 0.0, 0.0)))
    system.add_body("floor", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[HalfSpace()])
    system.add_joint(Fixed("stands", "ground", "floor"))
    law: dict[str, Any] = {"stiffness": STIFF, "exponent": 1.0, "friction": friction}
    if friction:  # damped, for what hops is chaotic
        law |= {"friction_speed": 0.1, "damping": 50.0}
    system.add_contact(Contact("on", "top", "floor", **law))
    return system


def axis(result: Result) -> np.ndarray:
    """The axis of the top, from its centre of mass to its middle (N, 3)."""
    return np.asarray(result.rotation("top").values[:, :, 2])


def momentum(result: Result) -> np.ndarray:
    """Moment of momentum about the centre of mass (N, 3)."""
    w, e = result.angular_velocity("top").values, axis(result)
    return np.asarray(ACROSS * w + (ALONG - ACROSS) * np.sum(w * e, axis=1)[:, None] * e)


def turned_over(result: Result) -> np.ndarray:
    """Tilt [°], height of the centre of mass [mm], Jellett's quantity as a part of what it was (N, 3)."""
    e = axis(result)
    jellett = np.sum(momentum(result) * (LOW * e - np.array([0.0, 0.0, R])), axis=1)
    began = ALONG * SPIN * (LOW - R * math.cos(TILT))
    return np.column_stack([np.degrees(np.arccos(e[:, 2])), 1e3 * result.position("top").values[:, 2], jellett / began])


def nodding(result: Result) -> np.ndarray:
    """Tilt [°] and the moments of momentum about the vertical and the axis, as parts of what they were (N, 3)."""
    e, L = axis(result), momentum(result)
    spin = ALONG * SPIN
    return np.column_stack(
        [np.degrees(np.arccos(e[:, 2])), L[:, 2] / (spin * math.cos(TILT)), np.sum(L * e, axis=1) / spin]
    )


TURNS = Problem(
    "tippe-top", "tippe top that turns over", "recomputed; Jellett 1872", lambda: tippe_top(0.3),
    {"tilt": "°", "height": "mm", "Jellett": "1"}, {0.4: (11.93598952, 14.118912343, 1.0), 0.8: (46.46245786, 15.849146318, 1.0),
     1.2: (95.95644702, 20.608598842, 1.0), 1.6: (170.60844838, 25.910012391, 1.0)},
    turned_over, touching(1e-3, dt=5e-5, explicit=1e-7), scale=(10.0, 1.0, 1.0),
)  # fmt: skip
NODS = Problem(
    "smooth-top", "tippe top without friction", "recomputed; two moments of momentum stay", lambda: tippe_top(0.0),
    {"tilt": "°", "about vertical": "1", "about axis": "1"},
    {0.1: (5.630638056, 1.0, 1.0), 0.4: (5.688870363, 1.0, 1.0), 1.0: (5.721599684, 1.0, 1.0)}, nodding,
    touching(1e-6, dt=2e-5, explicit=1e-9), scale=(10.0, 1.0, 1.0),
)  # fmt: skip

TOPS = (TURNS, NODS)
