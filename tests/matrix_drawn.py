"""Mechanisms of arm and hand drawn at random, one for each row of a covering array (`test_matrix_pairs.py`).

    rng_of(n)                 the generator of row n, of this run's seed and of n
    drawn(rng, …)             bodies, places of joints, where loops close, perhaps a third body, and a start
    is_regular(system)        whether the mechanism can start, and is well conditioned there
    in_world(given, hand)     a constraint of the matrix between the ground and a hand that is drawn

The hand stays where forces from the ground find it. All else is drawn: masses, inertias and centres of mass, where the arm is and
how the hand is turned, the lengths between joints, their axes, gravity, and the rod or ring that closes a loop. A mechanism with

    σ_min(J) < GAIN           J: rows of joints, couplings and drivers, for turns [rad] and slides [m] of bodies about 1 m long
    λ_min(Nᵀ M N) < LIGHT     N: orthonormal, J N = 0; M: the mass matrix [kg, kg m²]

is near a pose where rows depend on each other, or has a motion that hardly anything weighs: it is drawn again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matrix_skeleton import ARM, HAND
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation
from turns import TURN

import nexdyn as nx
from nexdyn.joints import JOINTS

SEED = int(os.environ.get("NEXDYN_PAIRS") or TURN % 4)
"""One of four in turn; NEXDYN_PAIRS=N draws other mechanisms. Some row of one in a few tens of those misses a tolerance by its method's
error, so that it is looked at by hand."""
TRIES = 60
GAIN, LIGHT = 0.1, 6e-3
"""Most rows on the mechanism of `matrix_skeleton` have 0.3 to 0.7 and 0.02 to 0.4."""
THIRD = ("none", "before", "after")
"""Where a third body is: between the ground and the arm, or at the hand."""
THIRD_JOINTS = ("revolute", "prismatic", "cylindrical", "universal", "spherical")


def rng_of(n: int) -> np.random.Generator:
    return np.random.default_rng((SEED, n))


def direction(rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=3)
    return np.asarray(x / np.linalg.norm(x))


def turned(rng: np.random.Generator, most: float) -> tuple[float, ...]:
    """A quaternion (w, x, y, z) by an angle of 0.3 rad to `most`."""
    x, y, z, w = Rotation.from_rotvec(rng.uniform(0.3, most) * direction(rng)).as_quat()
    return (float(w), float(x), float(y), float(z))


def inertia(rng: np.random.Generator, mass: float) -> np.ndarray:
    """Of three spreads along random axes, of which each body has some: tr(S) 1 − S is always an inertia."""
    R = Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()
    S = R @ np.diag(mass * rng.uniform(0.12, 0.3, size=3) ** 2) @ R.T
    return np.asarray(np.trace(S) * np.eye(3) - S)


def six(I: np.ndarray) -> tuple[float, ...]:
    """Ixx, Iyy, Izz, Ixy, Ixz, Iyz."""
    return tuple(float(I[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


@dataclass(frozen=True)
class Drawn:
    """What a system is made of: arguments of bodies and joints."""

    gravity: tuple[float, ...]
    arm: dict[str, Any]
    hand: dict[str, Any]
    shoulder: dict[str, Any]
    tested: dict[str, Any]
    rod: dict[str, Any]
    ring: dict[str, Any]
    third: str = "none"
    end: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)
    last_kind: str = "revolute"
    closes_at: str = "hand"


def drawn(rng: np.random.Generator, form: str, with_com: bool, is_turned: bool, moves: bool) -> Drawn:
    """form: of the hand's inertia; moves: whether velocities at the start are asked for."""

    def vector(size: float) -> tuple[float, ...]:
        return tuple(float(x) for x in rng.uniform(-size, size, size=3))

    def away(point: Any, least: float, most: float) -> tuple[float, ...]:
        return tuple(float(x) for x in np.asarray(point) + rng.uniform(least, most) * direction(rng))

    def place(at: tuple[float, ...]) -> dict[str, Any]:
        z = direction(rng)
        return {"at": at, "axis": tuple(z.tolist()), "reference": tuple(np.cross(z, direction(rng)).tolist())}

    def body(position: tuple[float, ...], inertia_: Any, mass: float, com: tuple[float, ...]) -> dict[str, Any]:
        return {"mass": mass, "inertia": inertia_, "com": com, "position": position}

    mass = float(rng.uniform(0.6, 1.5))
    I = inertia(rng, mass)
    com = vector(0.08) if with_com else (0.0, 0.0, 0.0)
    if form == "rod":
        com, inertia_ = (com[0], 0.0, 0.0), (0.0, float(I[1, 1]), float(I[1, 1]))
    elif form == "point":
        inertia_ = (0.0, 0.0, 0.0)
    else:
        inertia_ = tuple(np.linalg.eigvalsh(I).tolist()) if form == "principal" else six(I)
    hand = body(HAND, inertia_, mass, com)
    hand["orientation"] = turned(rng, 1.4) if is_turned else (1.0, 0.0, 0.0, 0.0)
    pivot = away(HAND, 0.2, 0.5)
    base = away(pivot, 0.3, 0.8)
    arm_mass = float(rng.uniform(0.7, 1.8))
    middle = tuple(0.5 * (np.asarray(pivot) + base))
    arm = body(away(middle, 0.0, 0.15), six(inertia(rng, arm_mass)), arm_mass, vector(0.06))
    if rng.random() < 0.5:
        arm["orientation"] = turned(rng, 3.0)
    at_hand = np.asarray(vector(0.15))
    rod = {"anchor_a": away(HAND, 0.7, 1.4), "anchor_b": tuple(at_hand.tolist())}
    ring = {"at": away(HAND, 0.1, 0.5)}
    third = str(rng.choice(THIRD))
    end_mass = float(rng.uniform(0.3, 0.9))
    near = away(HAND, 0.2, 0.4) if third == "after" else away(base, 0.2, 0.4)
    end = body(away(near, 0.05, 0.2), six(inertia(rng, end_mass)), end_mass, vector(0.05))
    shoulder, tested, last = place(base), place(pivot), place(near)
    kind = str(rng.choice(THIRD_JOINTS))
    last["damping"] = float(rng.uniform(0.0, 0.2))
    if moves:
        last["v0"] = tuple(rng.uniform(0.2, 0.6, size=JOINTS[kind].nv).tolist())
    closes_at = "end" if third == "after" and rng.random() < 0.5 else "hand"
    gravity = tuple((float(rng.uniform(1.5, 5.0)) * direction(rng)).tolist())
    return Drawn(gravity, arm, hand, shoulder, tested, rod, ring, third, end, last, kind, closes_at)


def conditions(system: nx.System) -> tuple[float, float]:
    """(σ_min of the rows, λ_min of the mass along what they leave), where a run starts."""
    start = nx.assemble(system)
    J, M = np.asarray(start.model.jacobian(start.q)), np.asarray(start.model.mass_matrix(start.q))
    N = null_space(J) if len(J) else np.eye(start.model.nv)
    gain = float(np.linalg.svd(J, compute_uv=False)[-1]) if len(J) else 1.0
    return gain, float(np.linalg.eigvalsh(N.T @ M @ N)[0]) if N.size else 0.0


def is_regular(system: nx.System) -> bool:
    try:
        gain, lightest = conditions(system)
    except nx.NexDynError:
        return False
    return gain > GAIN and lightest > LIGHT


def in_world(given: dict[str, Any], hand: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a constraint between the arm and the hand of `matrix_skeleton`, neither of which is turned, for one between the ground
    and a hand that is turned and at the same place. Frames that are to be in one place are, and lengths are as they are found."""
    w, *xyz = hand["orientation"]
    to_hand = Rotation.from_quat([*xyz, w]).inv().as_matrix()
    found = {x: y for x, y in given.items() if x not in ("length", "along")}
    if "axis_a" in given and "axis_b" in given and given["axis_a"] == given["axis_b"]:
        found["anchor_a"] = tuple(np.asarray(HAND) + given["anchor_b"])
        found |= {"reference_a": (1.0, 0.1, 0.0), "reference_b": (1.0, 0.1, 0.0)}
    else:
        found["anchor_a"] = tuple(np.asarray(given.get("anchor_a", (0.0, 0.0, 0.0))) + ARM["position"])
    return found | {x: tuple(to_hand @ found[x]) for x in ("anchor_b", "axis_b", "reference_b") if x in found}


def yaw(orientation: tuple[float, ...]) -> float:
    """The first of three angles about z, y and x, each of the frame that those before left."""
    w, *xyz = orientation
    return float(Rotation.from_quat([*xyz, w]).as_euler("ZYX")[0])
