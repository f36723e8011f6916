"""What is drawn of a mechanism beside its bodies: motors, drivers, gears, racks, torsion springs, bushings, and what rolls.

    a motor or driver that turns     a ring about the axis that ends in an arrow, fixed to the parent: the positive sense
    a motor or driver that slides    a cylinder on the parent, and a rod from it to the child, which lengthens (links.py)
    a gear                           the pitch circle of each wheel, fixed to what turns
    a rack                           a bar on what slides, tangent to the pitch circle of its pinion
    a torsion spring                 a spiral;   a bushing: a block of rubber;   both fixed to `a`
    a body without shapes that rolls   a wheel with spokes, or a sphere, that touches its plane

The pitch circles of two parallel axes at the distance d: r_a + r_b = d where the wheels turn against each other, |r_a − r_b| = d where
they turn alike, and r_b / r_a = |ratio|; of axes that meet or coincide only the ratio of the radii is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from nexdyn.forces.actuator import Actuator
from nexdyn.model.coupling import Gear, RackAndPinion
from nexdyn.model.joint import Joint
from nexdyn.model.system import System
from nexdyn.view.surfaces import (
    WHEEL,
    Color,
    Piece,
    Surface,
    box,
    capsule,
    cone,
    cylinder,
    joined,
    moved,
    ring,
    sphere,
    wire_along,
    with_z,
)

MOTOR: Color = (0.86, 0.42, 0.12, 1.0)
STEEL: Color = (0.42, 0.45, 0.50, 1.0)
BRASS: Color = (0.72, 0.58, 0.25, 1.0)
RUBBER: Color = (0.16, 0.17, 0.19, 1.0)
SPOKES = 6
PARALLEL = 0.999
"""Cosine of the angle between axes that count as parallel."""


class Driven(NamedTuple):
    """A direction of a joint that something drives: z of R (3, 3) at p (3,) [m] of the parent; whether it turns."""

    name: str
    parent: str
    child: str
    R: np.ndarray
    p: np.ndarray
    p_B: np.ndarray
    turns: bool


def fittings(system: System, shown: dict[str, list[Piece]], unit: float) -> list[Piece]:
    """The pieces of a system, beside those of its bodies; unit: radius of a drawn rod [m]."""
    return [*motors(system, shown, unit), *gears(system, shown, unit), *springs(system, unit)]


def turns_about_z(joint: Joint) -> bool:
    """Whether parent and child have the axis z in common, about which they turn, and no other."""
    return {(step.what, step.axis) for step in joint.steps if step.what != "slide"} == {("turn", 2)}


def is_hinge(joint: Joint) -> bool:
    """Whether two bodies turn about each other in it at one place of an axis."""
    slides = [step.axis for step in joint.steps if step.what == "slide"]
    return len(slides) < len(joint.steps) and set(slides) <= {2}


def driven(system: System) -> list[Driven]:
    """What actuators, efforts in joints and drivers of coordinates act along, each direction once."""
    found: dict[tuple[str, int], Driven] = {}
    acting: list[Any] = [f for f in system.forces.values() if isinstance(f, Actuator) or f.kind == "joint_force"]
    acting += [driver for driver in system.drivers.values() if driver.kind == "joint"]
    for one in acting:
        joint, k = system.joints.get(one.joint), one.freedom
        if joint is None or k >= len(joint.directions):
            continue
        what, side, axis = joint.directions[k]
        f, turns = joint.frames(system.values), what == "turn"
        if side == "B" and not (turns and turns_about_z(joint)):
            continue
        R = f.R_AJ @ with_z(np.eye(3)[axis])
        found.setdefault(
            (joint.name, k), Driven(one.name, joint.parent.name, joint.child.name, R, f.p_AJ, f.p_BJ, turns)
        )
    return list(found.values())


def motors(system: System, shown: dict[str, list[Piece]], unit: float) -> Iterator[Piece]:
    """Rings about the axes that are driven, and the cylinders of what slides."""
    for one in driven(system):
        if one.turns:
            r = max(3.0 * unit, 1.3 * thickness(shown.get(one.child, [])))
            yield Piece(one.parent, one.name, turning_arrow(r, 0.13 * r), one.R, one.p, MOTOR)
        else:
            h = stroke(unit)
            yield Piece(one.parent, one.name, rod(1.5 * unit, 0.7 * h), one.R, one.p - h * one.R[:, 2], MOTOR)


def stroke(unit: float) -> float:
    """Length of the cylinder of a motor that slides [m], at the start of its joint."""
    return 8.0 * unit


def thickness(pieces: list[Piece]) -> float:
    """The least half width [m] of what is drawn of a body, a third of its largest at most; 0 for nothing."""
    if not pieces:
        return 0.0
    v = np.concatenate([piece.surface.vertices @ piece.R_BS.T + piece.p_BS for piece in pieces])
    half = np.ptp(v, axis=0) / 2
    return float(min(half.min(), half.max() / 3))


def gears(system: System, shown: dict[str, list[Piece]], unit: float) -> Iterator[Piece]:
    """Pitch circles of wheels, and bars of racks."""
    for coupling in system.couplings.values():
        if isinstance(coupling, Gear):
            yield from _wheels(system, coupling, shown, unit)
        elif isinstance(coupling, RackAndPinion):
            yield from _rack(system, coupling, shown, unit)


class _Axis(NamedTuple):
    """Of a joint: the body that moves, R and p of its frame there, and z and p in the world as described."""

    body: str
    R_B: np.ndarray
    p_B: np.ndarray
    z: np.ndarray
    p: np.ndarray


def _axis(system: System, name: str) -> _Axis:
    joint = system.joint(name)
    f = joint.tree_frames(system.values)
    R, p = joint.carried.pose(system.values)
    return _Axis(joint.carried.name, f.R_BJ, f.p_BJ, R @ f.R_BJ[:, 2], p + R @ f.p_BJ)


def _wheels(system: System, gear: Gear, shown: dict[str, list[Piece]], unit: float) -> list[Piece]:
    if not all(turns_about_z(system.joint(name)) for name in (gear.joint_a, gear.joint_b)):
        return []
    a, b = _axis(system, gear.joint_a), _axis(system, gear.joint_b)
    ratio = -gear.law(system.values).terms[1].coefficient
    r_a, r_b = pitch_radii(a.z, b.z, b.p - a.p, ratio, 4.0 * unit)
    along = float(b.z @ (a.p - b.p)) if abs(a.z @ b.z) > PARALLEL else 0.0  # both wheels in one plane
    ends = ((a, r_a, 0.0), (b, r_b, along))
    return [
        Piece(end.body, gear.name, wheel(r, 0.5 * unit, not shown.get(end.body)), end.R_B, end.p_B + z * end.R_B[:, 2], BRASS)
        for end, r, z in ends
    ]  # fmt: skip


def pitch_radii(
    z_a: np.ndarray, z_b: np.ndarray, between: np.ndarray, ratio: float, usual: float
) -> tuple[float, float]:
    """Radii [m] of the pitch circles about two axes, `between` (3,) from a point of one to one of the other; ratio: ω_a/ω_b.

    usual: the larger of them where no distance tells."""
    n, alike = abs(ratio), ratio * float(z_a @ z_b) > 0.0
    d = float(np.linalg.norm(between - (z_a @ between) * z_a))
    if abs(z_a @ z_b) > PARALLEL and d > 1e-6 * usual and not (alike and abs(n - 1.0) < 1e-3):
        r = d / abs(n - 1.0) if alike else d / (1.0 + n)
        return r, n * r
    return (usual / n, usual) if n > 1.0 else (usual, usual * n)


def _rack(system: System, coupling: RackAndPinion, shown: dict[str, list[Piece]], unit: float) -> list[Piece]:
    pinion, rack = _axis(system, coupling.pinion), _axis(system, coupling.rack)
    radius = -coupling.law(system.values).terms[1].coefficient
    r = abs(radius)
    circle = Piece(
        pinion.body, coupling.name, wheel(r, 0.15 * r, not shown.get(pinion.body)), pinion.R_B, pinion.p_B, BRASS
    )
    n = np.cross(rack.z, pinion.z)
    if np.linalg.norm(n) < 0.1:  # it slides along the pinion's axis: no rack can be drawn
        return [circle]
    n /= np.linalg.norm(n)
    # where the pitch circle moves as the rack does: ω a × radius n = ω radius u
    thick = 0.3 * r
    at = pinion.p + (radius + np.copysign(thick / 2, radius)) * n
    R, p = system.body(rack.body).pose(system.values)
    turned = np.column_stack([n, np.cross(rack.z, n), rack.z])
    bar = box((thick, 0.6 * r, 8.0 * r))
    return [circle, Piece(rack.body, coupling.name, bar, R.T @ turned, R.T @ (at - p), STEEL)]


def springs(system: System, unit: float) -> Iterator[Piece]:
    """Torsion springs and bushings."""
    for force in system.forces.values():
        if force.kind == "torsion_spring":
            end = force.frames(system)[0]
            yield Piece(end.body, force.name, spiral(4.5 * unit, 0.25 * unit), end.R_BF, end.p_BF, STEEL)
        elif force.kind == "bushing":
            end = force.frames(system)[0]
            yield Piece(end.body, force.name, box((2.6 * unit,) * 3), end.R_BF, end.p_BF, RUBBER)


def rolling(system: System, body: str, color: Color) -> list[Piece]:
    """The wheels and spheres that a body without shapes rolls on, by its joints."""
    found = []
    for joint in system.joints.values():
        if joint.child.name != body or joint.kind not in ("rolling_disk", "rolling_sphere"):
            continue
        f, data = joint.frames(system.values), joint.data(system.values)
        if joint.kind == "rolling_disk":
            radius, tube = data  # of the circle in the middle of a torus, and of its section
            surface = wheel(radius + tube, max(2.0 * tube, 0.08 * radius))
        else:
            surface = sphere(data[1])
        found.append(Piece(body, joint.name, surface, f.R_BJ, f.p_BJ, color))
    return found


# --- surfaces, about z ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def wheel(radius: float, width: float, spokes: bool = True) -> Surface:
    """A ring of this outer radius [m], with spokes."""
    found = [ring(radius, min(width, 0.4 * radius), width)]
    for k in range(SPOKES // 2 if spokes else 0):
        angle = 2.0 * np.pi * k / SPOKES
        bar = capsule(0.3 * min(width, 0.2 * radius), 1.9 * radius - width)
        found.append(moved(bar, with_z(np.array((np.cos(angle), np.sin(angle), 0.0))), np.zeros(3)))
    return joined(found)


@lru_cache(maxsize=256)
def turning_arrow(radius: float, wire: float) -> Surface:
    """Three quarters of a ring that end in an arrow: the positive sense about z."""
    angle = np.linspace(0.0, 1.5 * np.pi, WHEEL // 2)
    outward = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(len(angle))])
    head = cone(2.4 * wire, 5.0 * wire)
    tip = np.array((0.0, -radius, 0.0)) + np.array((2.0 * wire, 0.0, 0.0))
    return joined([wire_along(radius * outward, outward, wire), moved(head, with_z(np.array((1.0, 0.0, 0.0))), tip)])


@lru_cache(maxsize=256)
def rod(radius: float, length: float) -> Surface:
    """A cylinder from the origin along z."""
    return moved(cylinder(radius, length), np.eye(3), np.array((0.0, 0.0, length / 2)))


@lru_cache(maxsize=256)
def spiral(radius: float, wire: float, turns: int = 4) -> Surface:
    """A wire that winds outward in a plane."""
    s = np.linspace(0.0, 1.0, 24 * turns + 1)
    angle = 2.0 * np.pi * turns * s
    outward = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(len(s))])
    return wire_along((0.15 + 0.85 * s)[:, None] * radius * outward, outward, wire)
