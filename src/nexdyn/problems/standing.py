"""Robots that stand for a minute, held by position actuators in their joints, from where `nx.equilibrium` finds them.

    quadruped   a trunk on four legs of three joints each, whose feet are balls; its trunk is heavier in front
    humanoid    trunk and arms on two legs of six joints each, whose feet are boxes that touch at their four corners

At rest nothing moves, the feet bear the weight, and what one pair of feet bears follows from the moments about the other. With x along the
robot, X the centre of mass, f the normal forces and x_i where they act:

    Σ f_i = m g,   Σ f_i x_i = m g X

A joint whose actuator holds it turns by its torque over kp, and that torque is the moment of the forces on one side of it:

    kp (θ* − θ) = −Σ (x_i − x_knee) f_i + g Σ m_j (x_j − x_knee)      about y, over the feet and bodies below the knee
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from nexdyn.forces.actuator import PositionActuator
from nexdyn.forces.contact_group import Contact
from nexdyn.integrate.methods import HHT, ImplicitEuler, Projection
from nexdyn.integrate.pairs.dormand_prince import DormandPrince
from nexdyn.joints import Free, Revolute
from nexdyn.model.shapes import Box, Sphere
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, Run
from nexdyn.problems.recast import FLOOR
from nexdyn.results.result import Result

G = 9.81
Point = tuple[float, float, float]


def between(a: Point, b: Point) -> Point:
    """The middle of two points."""
    return (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))


def from_to(a: Point, b: Point) -> Point:
    """b − a."""
    return (b[0] - a[0], b[1] - a[1], b[2] - a[2])


def segment(system: System, name: str, mass: float, a: Point, b: Point, **shapes: Any) -> None:
    """A rod of a robot from a to b, nearly upright and a tenth as thick as it is long."""
    across = mass * math.dist(a, b) ** 2 / 12.0
    system.add_body(name, mass=mass, inertia=(across, across, 0.06 * across), position=between(a, b), **shapes)


def motor(system: System, name: str, parent: str, child: str, at: Point, axis: Point, kp: float) -> None:
    """A revolute joint with an actuator that holds it as it is described."""
    system.add_joint(Revolute(name, parent, child, at=at, axis=axis))
    system.add_force(PositionActuator(f"{name} motor", name, kp=kp, kd=0.02 * kp, target=0.0))


# --- a quadruped ----------------------------------------------------------------------------------------------------

LEG, BENT, BALL = 0.2, 0.7, 0.02
"""Length of thigh and calf, how they lean, radius of a foot."""
LEGS = {"front left": (0.2, 0.1), "front right": (0.2, -0.1), "rear left": (-0.2, 0.1), "rear right": (-0.2, -0.1)}
"""Where the legs of the quadruped are, x and y."""
QUADRUPED_KP = 300.0


def quadruped() -> System:
    """A robot of 15 kg whose twelve actuators hold its legs bent; its centre of mass is in front of its middle."""
    system = System("quadruped")
    top = 2.0 * LEG * math.cos(BENT) + BALL
    system.add_body("trunk", mass=8.0, position=(0.03, 0.0, top), shapes=[Box((0.5, 0.2, 0.1))], collision=[])
    system.add_joint(Free("base", "ground", "trunk"))
    for leg, (x, y) in LEGS.items():
        hip, foot = (x, y, top), (x, y, BALL)
        knee = (x - LEG * math.sin(BENT), y, 0.5 * (top + BALL))
        system.add_body(f"{leg} hip", mass=0.5, inertia=(5e-4, 5e-4, 5e-4), position=hip)
        segment(system, f"{leg} thigh", 1.0, hip, knee)
        segment(
            system, f"{leg} calf", 0.25, knee, foot, shapes=[Sphere(BALL, position=from_to(between(knee, foot), foot))]
        )
        motor(system, f"{leg} abducts", "trunk", f"{leg} hip", hip, (1, 0, 0), QUADRUPED_KP)
        motor(system, f"{leg} swings", f"{leg} hip", f"{leg} thigh", hip, (0, 1, 0), QUADRUPED_KP)
        motor(system, f"{leg} knee", f"{leg} thigh", f"{leg} calf", knee, (0, 1, 0), QUADRUPED_KP)
    system.add_contact(Contact("feet", "* calf", stiffness=2e5, damping=2.0, friction=0.8))
    return system


# --- a humanoid -----------------------------------------------------------------------------------------------------

SHANK, KNEES, SOLE, HIPS, SHOULDERS = 0.4, 0.25, 0.08, 0.1, 0.2
"""Length of thigh and shin, how they lean; height of the ankle; half of the distance of hips and of shoulders."""
HUMANOID_KP = 3000.0


def humanoid() -> System:
    """A robot of 54 kg, held by twelve actuators in its legs and four in its arms, with its knees bent."""
    system = System("humanoid")
    pelvis = SOLE + 2.0 * SHANK * math.cos(KNEES)
    chest = (0.0, 0.0, pelvis + 0.3)
    system.add_body("torso", mass=25.0, position=chest, shapes=[Box((0.2, 0.3, 0.5))], collision=[])
    system.add_joint(Free("base", "ground", "torso"))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hip, ankle = (0.0, sign * HIPS, pelvis), (0.0, sign * HIPS, SOLE)
        knee = (SHANK * math.sin(KNEES), sign * HIPS, 0.5 * (pelvis + SOLE))
        for name in ("yaw", "roll"):
            system.add_body(f"{side} hip {name}", mass=1.0, inertia=(3e-3, 3e-3, 3e-3), position=hip)
        segment(system, f"{side} thigh", 5.0, hip, knee)
        segment(system, f"{side} shin", 3.0, knee, ankle)
        system.add_body(f"{side} ankle", mass=0.5, inertia=(1e-3, 1e-3, 1e-3), position=ankle)
        system.add_body(f"{side} foot", mass=1.0, position=(0.03, sign * HIPS, 0.02), shapes=[Box((0.22, 0.1, 0.04))])
        chain = ["torso", *(f"{side} {part}" for part in ("hip yaw", "hip roll", "thigh", "shin", "ankle", "foot"))]
        places = (hip, hip, hip, knee, ankle, ankle)
        axes = ((0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0), (1, 0, 0))
        names = ("yaws", "rolls", "swings", "knee", "ankle", "ankle rolls")
        for k, name in enumerate(names):
            motor(system, f"{side} {name}", chain[k], chain[k + 1], places[k], axes[k], HUMANOID_KP)
        shoulder, elbow = (0.0, sign * SHOULDERS, chest[2] + 0.2), (0.0, sign * SHOULDERS, chest[2] - 0.1)
        hand = (0.25, sign * SHOULDERS, chest[2] - 0.1)
        segment(system, f"{side} upper arm", 2.0, shoulder, elbow)
        system.add_body(f"{side} forearm", mass=1.0, inertia=(1e-3, 5e-3, 5e-3), position=between(elbow, hand))
        motor(system, f"{side} shoulder", "torso", f"{side} upper arm", shoulder, (0, 1, 0), 0.1 * HUMANOID_KP)
        motor(system, f"{side} elbow", f"{side} upper arm", f"{side} forearm", elbow, (0, 1, 0), 0.1 * HUMANOID_KP)
    system.add_contact(Contact("feet", "* foot", stiffness=1e6, exponent=1.0, damping=20.0, friction=0.8))
    return system


# --- what is known of them ------------------------------------------------------------------------------------------


def turned(q: np.ndarray, p: Sequence[float]) -> np.ndarray:
    """p, fixed in a body, in the axes of the world; q (N, 4) unit quaternions."""
    t = 2.0 * np.cross(q[:, 1:], p)
    return np.asarray(p + q[:, :1] * t + np.cross(q[:, 1:], t))


def held(result: Result, knees: Mapping[str, tuple[str, ...]], kp: float) -> np.ndarray:
    """How far the centre of mass has moved [m], Σ f_i/(m g), Σ f_i x_i/(m g X), and of the knee where it is farthest from 1 the
    torque of its actuator over what it must be, about the joint, of all that is below (N, 4).

    knees: {joint: the bodies below it, from its child on}.
    """
    feet = result.contacts("feet")
    force, point, on = feet.force.values, feet.point.values, feet.a.values
    mass = {
        name: body.resolved(result.system.values).mass for name, body in result.system.bodies.items() if name != FLOOR
    }
    weight = G * sum(mass.values())
    place = {name: result.position(name).values for name in mass}
    centre = np.sum([G * m * place[name] for name, m in mass.items()], axis=0) / weight
    ratios = []
    for knee, below in knees.items():
        joint = result.system.joints[knee]
        child = result.system.bodies[below[0]]
        at = np.array(joint.at) - np.array(child.position)
        p = place[below[0]] + turned(result.orientation(below[0]).values, at)
        moment = sum(G * mass[name] * (place[name] - p)[:, 0] for name in below)
        for i in np.flatnonzero(np.isin(on, below)):
            arm = point[:, i] - p
            moment = moment + arm[:, 2] * force[:, i, 0] - arm[:, 0] * force[:, i, 2]
        ratios.append(-kp * result.joint_position(knee).values.ravel() / -moment)
    ratio = np.stack(ratios, axis=1)
    farthest = ratio[np.arange(len(ratio)), np.abs(ratio - 1.0).argmax(axis=1)]
    return np.column_stack([
        np.linalg.norm(centre - centre[0], axis=1),
        force[:, :, 2].sum(axis=1) / weight,
        (force[:, :, 2] * point[:, :, 0]).sum(axis=1) / (weight * centre[:, 0]),
        farthest,
    ])  # fmt: skip


def standing(
    name: str, title: str, build: Callable[[], System], knees: Mapping[str, tuple[str, ...]], kp: float
) -> Problem:
    """A robot that stands; explicit methods, whose steps its contacts keep short, for a part of the minute."""
    tolerance = 1e-6
    rtol, atol = 1e-8, 1e-11
    return Problem(
        name, title, "statics", build, {"drift": "m", "weight": "1", "lever": "1", "knee": "1"},
        dict.fromkeys((1.0, 10.0, 60.0), (0.0, 1.0, 1.0, 1.0)), lambda result: held(result, knees, kp),
        (
            Run("minimal coordinates, ABA", DormandPrince(rtol, atol), tolerance, until=10.0),
            Run("absolute coordinates, index 1, projection", Projection(rtol=rtol, atol=atol), tolerance, until=1.0),
            Run("absolute coordinates, index 3, HHT-α", HHT(rtol=1e-4), tolerance),
            Run("potential, implicit Euler with bdf2", ImplicitEuler(0.01, bdf2=True), tolerance),
        ),
        rests=True,
    )  # fmt: skip


QUADRUPED = standing(
    "quadruped", "robot on four legs, its knees held by actuators", quadruped,
    {f"{leg} knee": (f"{leg} calf",) for leg in LEGS}, QUADRUPED_KP,
)  # fmt: skip
HUMANOID = standing(
    "humanoid", "robot on two legs, held by actuators", humanoid,
    {f"{side} knee": (f"{side} shin", f"{side} ankle", f"{side} foot") for side in ("left", "right")}, HUMANOID_KP,
)  # fmt: skip

ROBOTS = (QUADRUPED, HUMANOID)
