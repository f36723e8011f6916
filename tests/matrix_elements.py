"""Every element of the package with every attribute, for the matrix of attributes × ways to compute.

    ELEMENTS["joint revolute"].system(carrier, {"damping": 0.6})     the element in a small mechanism, one attribute changed

An element stands in a skeleton of two bodies (`matrix_skeleton.py`); bodies, events and the like are in `matrix_described.py`.

Every attribute of every class is in `base` (with a value that acts), and in `changes` (with another), or in `apart`, with the reason
why no motion depends on it. A class or an attribute that is in neither fails `test_matrix.py`.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from matrix_contacts import CONTACTS, pressing
from matrix_described import DESCRIBED, hill, hollow
from matrix_own import AS_PAGES
from matrix_skeleton import (
    ARM,
    GRAVITY,
    HAND_BODY,
    IN_BODIES,
    NAMES,
    PIVOT,
    PLACES,
    Element,
    Together,
    about,
    closed,
    closed_by_end,
    hung,
    skeleton,
    turning,
)

import nexdyn as nx
from nexdyn.forces import FORCES
from nexdyn.joints import JOINTS
from nexdyn.model.coupling import COUPLINGS
from nexdyn.model.driver import DRIVERS, WHOLE

ROUND = ("free", "spherical")
"""Kinds that turn by a quaternion: no springs about an angle."""

# --- functions ------------------------------------------------------------------------------------------------------


@numba.njit
def stiffening(t: float, q: float, v: float) -> float:
    return -0.6 * q - 0.8 * q**3 - 0.2 * v


@numba.njit
def driving(t: float, q: float, v: float) -> float:
    return 0.5 - 0.4 * q + 0.1 * t


@numba.njit
def softening(t: float, q: float, v: float) -> float:
    return 0.9 * q - 0.5 * v + 0.3


@numba.njit
def pull(t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    for i in range(3):
        out[3 + i] = 0.8 * (B[i] - A[i])
        out[i] = 0.2 * (B[12 + i] - A[12 + i])


@numba.njit
def push(t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    for i in range(3):
        out[3 + i] = -1.1 * (B[i] - A[i])
        out[i] = 0.1


@numba.njit
def series(t: float, A: np.ndarray, B: np.ndarray, z: np.ndarray, out: np.ndarray, rate: np.ndarray) -> None:
    out[3] = -4.0 * (A[0] - B[0] - z[0])
    rate[0] = 3.0 * (A[0] - B[0] - z[0])


@numba.njit
def lagging(t: float, q: float, v: float, z: np.ndarray, rate: np.ndarray) -> float:
    rate[0] = 5.0 * (0.6 - q - z[0]) - 0.2 * v
    return 0.8 * z[0]


@numba.njit
def wave(t: float, x: np.ndarray, R: np.ndarray) -> float:
    return x[2] + 0.3 * x[0] * x[1]


@numba.njit
def bowl(t: float, x: np.ndarray, R: np.ndarray) -> float:
    return x[2] + 0.1 * x[0] - 0.4 * x[1] * x[1]


@numba.njit
def skew(t: float, x: np.ndarray, R: np.ndarray, out: np.ndarray) -> None:
    out[:] = 0.0
    out[0], out[1], out[5] = np.cos(x[2]), 1.0, 0.5


@numba.njit
def skewed(t: float, x: np.ndarray, R: np.ndarray, out: np.ndarray) -> None:
    out[:] = 0.0
    out[0], out[1], out[3] = 1.0, 0.3, 0.7


DATA = "is data for studies; only a JointStop, an actuator or a warning acts on it"

# --- joints ---------------------------------------------------------------------------------------------------------

ONE_EACH: dict[str, tuple[float, float]] = {
    "damping": (0.15, 0.6),
    "stiffness": (1.5, 4.0),
    "rest": (0.15, -0.4),
    "armature": (0.03, 0.12),
    "friction": (0.05, 0.3),
    "friction_speed": (0.3, 0.05),
}
IN_MOTION = ("damping", "stiffness", "rest", "armature", "friction", "friction_speed", "q0", "v0", "mimic")
NO_PLACE = "moves a body without turning it, alike wherever its point is: as described, both frames are placed together"
ZERO_POSE = "says where the coordinates are 0, and without a q0 the described pose is kept"
UNMOVED = {
    "fixed": dict.fromkeys(("at", "axis", "reference"), "holds the bodies as described, with both frames at any place"),
    "prismatic": {"at": NO_PLACE},
    "cartesian": {"at": NO_PLACE},
    "spherical": dict.fromkeys(("axis_a", "reference_a"), ZERO_POSE),
    "free": dict.fromkeys(("anchor_a", "axis_a", "reference_a"), ZERO_POSE),
}
"""What changes no motion, by joint."""
OWN = {"helical": {"pitch": (0.2, 0.6)}}
APART_JOINT = {
    "limits": DATA,
    "effort_limit": DATA,
    "velocity_limit": DATA,
    "name": NAMES,
    "parent": NAMES,
    "child": NAMES,
    "priority": "says which of several redundant equations is kept; the motion is the same",
}


def start_of(cls: Any) -> tuple[float, ...]:
    """A q0 of a kind of joints, somewhat away from zero."""
    start = np.array([1.0, 0.0, 0.0, 0.0][: 4 * (cls.nq > cls.nv)] + [0.0] * (cls.nq - 4 * (cls.nq > cls.nv)))
    start[-min(3, cls.nv) :] += 0.15
    if cls.nq > cls.nv:
        start[:4] /= np.linalg.norm(start[:4])
    return tuple(start)


def joint(kind: str) -> Element:
    """A joint with coordinates, between arm and hand, placed in the world."""
    cls: Any = JOINTS[kind]
    base: dict[str, Any] = dict(PLACES)
    changes: dict[str, Any] = {"at": (0.6, 0.0, 0.2), "axis": (0.8, 0.1, 0.7), "reference": (0.3, 1.0, 0.0)}
    changes |= {
        "anchor_a": Together(_bodies(anchor_a=(0.2, 0.1, 0.1))),
        "anchor_b": Together(_bodies(anchor_b=(-0.2, 0.0, -0.2))),
    }
    changes |= {
        "axis_a": Together(_bodies(axis_a=(0.9, 0.2, 0.6))),
        "axis_b": Together(_bodies(axis_b=(0.9, -0.2, 0.6))),
    }
    changes |= {
        "reference_a": Together(_bodies(reference_a=(0.1, 1.0, 0.0))),
        "reference_b": Together(_bodies(reference_b=(0.2, 1.0, 0.0))),
    }
    apart = dict(APART_JOINT)
    if cls.nv:
        for attribute, (value, other) in ONE_EACH.items():
            if kind in ROUND and attribute in ("stiffness", "rest"):
                apart[attribute] = "a quaternion has no angle to spring back from: refused as described"
                continue
            base[attribute], changes[attribute] = value, other
        changes["q0"] = start_of(cls)
        base["v0"], changes["v0"] = (0.4,) * cls.nv, (-0.3,) * cls.nv
    else:
        apart |= dict.fromkeys(IN_MOTION, "a fixed joint has no coordinate")
    if kind in ("revolute", "prismatic", "cylindrical", "helical"):
        apart["reference"] = "turns both frames about the axis: q = 0 stays the described pose"
        del changes["reference"]
    unmoved = UNMOVED.get(kind, {})
    apart |= unmoved
    changes = {attribute: value for attribute, value in changes.items() if attribute not in unmoved}
    apart["mimic"] = "couples two joints: the element 'mimic' has it" if cls.nv else apart["mimic"]
    for attribute, (value, other) in OWN.get(kind, {}).items():
        base[attribute], changes[attribute] = value, other

    def make(carrier: str, given: dict[str, Any]) -> nx.System:
        system = skeleton(carrier)
        system.add_joint(cls("tested", "arm", "hand", **given))
        return closed(system, carrier) if cls.nv else closed_by_end(system, carrier)

    return Element(f"joint {kind}", cls, base, changes, make, apart)


def _bodies(**change: Any) -> dict[str, Any]:
    """A joint by its frames in the bodies, one of them changed."""
    return {"at": None, "axis": None, "reference": None, **IN_BODIES, **change}


def held(
    kind: str, base: dict[str, Any], changes: dict[str, Any], carrier_joint: str = "free", **apart: str
) -> Element:
    """A constraint between the ground and the hand, which another joint leaves free enough."""
    cls: Any = JOINTS[kind]
    none = dict.fromkeys(IN_MOTION, "a constraint has no coordinates of its own: refused as described")

    def make(carrier: str, given: dict[str, Any]) -> nx.System:
        system = skeleton(carrier)
        system.add_joint(JOINTS[carrier_joint]("loose", "ground" if carrier_joint == "free" else "arm", "hand"))
        system.add_joint(cls("tested", "ground" if carrier_joint != "free" else "arm", "hand", **given))
        return closed(system, carrier)

    unused = {x: "has no meaning for this constraint" for x in (*PLACES, *IN_BODIES) if x not in {**base, **changes}}
    return Element(f"joint {kind}", cls, base, changes, make, {**APART_JOINT, **none, **unused, **apart})


TWO_SIDES = {
    "anchor_a": (0.2, 0.1, 0.1),
    "axis_a": (0.9, 0.2, 0.6),
    "axis_b": (0.9, -0.2, 0.6),
    "anchor_b": (-0.2, 0.0, -0.2),
}


def to_the_ground(kind: str) -> Element:
    """A joint that is described from the arm to the ground; the hand hangs on the arm by a plain hinge."""
    cls: Any = JOINTS[kind]
    base = {attribute: value for attribute, (value, _) in ONE_EACH.items()} | {"v0": (0.4,) * cls.nv}
    changes = {attribute: value for attribute, (_, value) in ONE_EACH.items()}
    changes |= {"q0": (0.15,) * cls.nv, "v0": (-0.3,) * cls.nv, "at": (0.05, 0.1, 0.0), "axis": (0.5, 0.1, 0.8)}

    def make(carrier: str, given: dict[str, Any]) -> nx.System:
        system = nx.System("matrix", gravity=GRAVITY)
        for name, body in (("arm", ARM), ("hand", HAND_BODY)):
            system.add_body(name, **body)
        system.add_joint(cls("tested", "arm", "ground", **{"at": (0.0, 0.0, 0.0), "axis": (0.1, 0.2, 1.0), **given}))
        system.add_joint(nx.Revolute("elbow", "arm", "hand", at=PIVOT, axis=(0.2, 0.3, 1.0)))
        return closed_by_end(system, carrier)

    return Element(
        f"joint {kind} to the ground", cls, base, changes, make, {}, ("open", "rod"), part_of=f"joint {kind}"
    )


def led(by: str) -> Element:
    """A joint that another one leads, with a start of its own: its leader starts as it asks."""
    base = {attribute: value for attribute, (value, _) in ONE_EACH.items()} | {"q0": 0.1, "v0": 0.4}
    changes = {attribute: value for attribute, (_, value) in ONE_EACH.items()} | {"q0": -0.15, "v0": -0.3}

    def make(carrier: str, given: dict[str, Any]) -> nx.System:
        tie = {"mimic": nx.Mimic("shoulder", -1.5, 0.05)} if by == "mimic" else {}
        system = hung(skeleton("rod"), **given, **tie)
        if by == "gear":
            system.add_coupling(nx.Gear("coupled", "tested", "shoulder", ratio=-1.5, offset=0.05))
        return closed_by_end(system, carrier)

    return Element(
        f"joint revolute led by a {by}", nx.Revolute, base, changes, make, {}, ("open", "rod"), part_of="joint revolute"
    )


# --- forces ---------------------------------------------------------------------------------------------------------


TURNING = {
    **dict.fromkeys(("applied", "torsion_spring", "joint_stop"), 0.7), "joint_friction": 0.1, "bushing": 2.0,
    **dict.fromkeys(("position_actuator", "velocity_actuator", "torque_actuator", "controller"), 1.15),
}  # fmt: skip
"""Forces with attributes that act where a body turns, or its hinge moves: how fast it begins to in a ring [rad/s]."""


def force(
    kind: str,
    base: dict[str, Any],
    changes: dict[str, Any],
    given_by_joint: bool = False,
    where: str = "",
    **apart: str,
) -> Element:
    """A force on the hand from the ground, or in the joint that it hangs on. where: what is added to its name."""
    cls: Any = FORCES[kind]

    def make(carrier: str, given: dict[str, Any]) -> nx.System:
        system = hung(skeleton(carrier), moving=TURNING.get(kind, 0.0), limits=(-0.1, 0.1))
        acted = turning(carrier) if kind in TURNING else "hand"
        given = about(carrier, given) if kind in TURNING else dict(given)
        if given_by_joint:
            system.add_force(cls("acting", given.pop("joint", "tested"), **given))
        elif "joint" in given:
            system.add_force(cls("acting", **given))
        elif kind in ("applied", "point_gravity", "gravity_field"):
            system.add_force(cls("acting", given.pop("body", acted), **given))
        else:
            system.add_force(cls("acting", given.pop("a", acted), given.pop("b", "ground"), **given))
        return closed(system, carrier)

    if where:
        return Element(f"force {kind} {where}", cls, base, changes, make, part_of=f"force {kind}")
    return Element(f"force {kind}", cls, base, changes, make, {"name": NAMES, **apart})


def in_a_universal_joint(kind: str, base: dict[str, Any]) -> Element:
    """A force in the first or in the second freedom of a universal joint."""
    cls: Any = FORCES[kind]

    def make(carrier: str, given: dict[str, Any]) -> nx.System:
        system = skeleton(carrier)
        place = {"at": PIVOT, "axis": (0.2, 0.3, 1.0), "limits": ((-0.003, 0.003), (-0.004, 0.004))}
        system.add_joint(nx.Universal("tested", "arm", "hand", **place))
        system.add_force(cls("acting", joint="tested", **given))
        return closed(system, carrier)

    return Element(
        f"force {kind} in a universal joint",
        cls,
        {**base, "freedom": 0},
        {"freedom": 1},
        make,
        part_of=f"force {kind}",
    )


def across_a_ball(kind: str, base: dict[str, Any], changes: dict[str, Any]) -> Element:
    """A force between the ground and a hand in a ball joint."""
    cls: Any = FORCES[kind]

    def make(carrier: str, given: dict[str, Any]) -> nx.System:
        system = skeleton(carrier)
        system.add_joint(nx.Spherical("tested", "arm", "hand", at=PIVOT, damping=0.1))
        system.add_force(cls("acting", turning(carrier), "ground", **about(carrier, given)))
        return closed(system, carrier)

    name = f"force {kind} across a ball"
    return Element(name, cls, base, changes, make, part_of=f"force {kind}")


ENDS = {"anchor_a": (0.1, 0.05, 0.0), "anchor_b": (0.4, -0.5, 0.4)}
MOVED = {
    "a": "arm",
    "b": "arm",
    "anchor_a": (0.0, -0.2, 0.1),
    "anchor_b": (-0.2, 0.3, 0.9),
    "at_a": Together(anchor_a=None, at_a=(0.9, -0.1, 0.3)),
    "at_b": Together(anchor_b=None, at_b=(-0.2, 0.3, 0.9)),
}
STICKS = "is the element 'force plane_contact that sticks'"
PRESSES = Together(stiffness=None, exponent=1.5, damping=0.0, normal_force=pressing)
SPHERE_STICKS = "is the element 'force sphere_contact on a body'"
IN_JOINT = {"joint": "shoulder"}
DRIVE = {"effort_limit": 5.0, "velocity_limit": 40.0, "knee": 0.5, "time_constant": 0.02}
DRIVEN = {
    "effort_limit": 0.15,
    "velocity_limit": 1.0,
    "knee": Together(velocity_limit=1.2, knee=0.05),
    "time_constant": 0.2,
    "sample_time": 0.02,
}

OWN_STATES = {
    "state_names": "what results call the states",
    "state_units": "the units of the states in results",
    "state_sizes": "is the scale by which errors of the states are judged",
}
FORCE_ELEMENTS = (
    force(
        "applied",
        {
            "force": (0.5, "=sin(9*t)", -0.4),
            "torque": (0.1, 0.2, "=0.3*t"),
            "anchor": (0.1, 0.0, 0.1),
            "expressed_in": "world",
        },
        {
            "force": (1.5, 0.4, 0.2),
            "torque": (-0.2, 0.1, 0.2),
            "anchor": (-0.2, 0.3, 0.0),
            "at": Together(anchor=None, at=(0.7, 0.4, 0.3)),
            "expressed_in": "body",
            "body": "arm",
        },
    ),
    force(
        "point_spring",
        {"stiffness": 3.0, "damping": 0.4, "length": 0.3, "force": 0.2, **ENDS},
        {"stiffness": 9.0, "damping": 1.5, "length": 0.9, "force": -1.0, **MOVED},
    ),
    force(
        "torsion_spring",
        {"stiffness": 0.8, "damping": 0.1, "rest": 0.3, "torque": 0.1},
        {"stiffness": 2.5, "damping": 0.5, "rest": -0.5, "torque": 0.6, "a": "arm", "b": "arm"},
        **dict.fromkeys(("anchor_a", "anchor_b", "at_a", "at_b"), "a torque acts at no point"),
    ),
    force(
        "bushing",
        {
            "stiffness": (0.5, 0.6, 0.7, 2.0, 3.0, 4.0),
            "damping": (0.03, 0.02, 0.01, 0.1, 0.2, 0.3),
            "angles": "rotation_vector",
            **ENDS,
        },
        {
            "stiffness": (1.5, 0.2, 0.4, 6.0, 1.0, 2.0),
            "damping": (0.3, 0.2, 0.1, 0.8, 0.9, 0.5),
            "angles": "xyz",
            **MOVED,
        },
    ),
    force(
        "force_table",
        {
            "deflections": (-1.0, 0.0, 2.0),
            "forces": (-2.0, 0.0, 5.0),
            "rest": 0.5,
            "damping": 0.2,
            "interpolation": "linear",
            "extrapolation": "linear",
            **ENDS,
        },
        {
            "deflections": (-0.5, 0.0, 1.0),
            "forces": (-4.0, 0.5, 1.0),
            "rest": -0.2,
            "damping": 1.0,
            "interpolation": "natural",
            "extrapolation": Together(extrapolation="constant", deflections=(-1.0, 0.0, 0.05)),
            **MOVED,
        },
        joint="is the element 'force force_table in a joint'",
        freedom="is the element 'force force_table in a universal joint'",
    ),
    force(
        "user",
        {"function": pull, **ENDS},
        {"function": push, **MOVED},
        initial_states="is the element 'force user with states'",
        **OWN_STATES,
    ),
    force(
        "point_gravity",
        {"mu": 1.0, "centre": "ground", "at": (0.4, -0.5, 0.9)},
        {
            "mu": 3.0,
            "centre": "arm",
            "at": (-0.2, 0.3, 0.9),
            "anchor": Together(at=None, anchor=(0.4, -0.4, 0.8)),
            "body": "arm",
        },
    ),
    force("gravity_field", {"function": hollow}, {"function": hill, "body": "arm"}),
    force(
        "plane_contact",
        {
            "radius": 0.2,
            "length": 0.3,
            "axis": (0.3, 1.0, 0.2),
            "normal": (0.1, 0.2, 1.0),
            "stiffness": 40.0,
            "exponent": 1.5,
            "damping": 0.5,
            "friction": 0.4,
            "friction_speed": 0.05,
            "anchor_a": (0.0, 0.0, 0.0),
            "anchor_b": (0.9, 0.1, 0.1),
        },
        {
            "radius": 0.25,
            "length": 0.1,
            "axis": (1.0, 0.2, 0.1),
            "normal": (-0.2, 0.3, 1.0),
            "stiffness": 90.0,
            "exponent": 1.2,
            "damping": 2.0,
            "friction": 0.1,
            "friction_speed": 0.5,
            "restitution": Together(damping=0.0, restitution=0.2, impact_speed=0.5),
            "impact_speed": Together(damping=0.0, restitution=0.2, impact_speed=0.1),
            "normal_force": PRESSES,
            "a": "arm",
            "anchor_a": (0.0, 0.1, 0.05),
            "anchor_b": (0.9, 0.1, 0.2),
            "at_a": Together(anchor_a=None, at_a=(0.9, 0.2, 0.15)),
            "at_b": Together(anchor_b=None, at_b=(0.9, 0.1, 0.2)),
            "surface_velocity_a": (0.8, -0.5, 0.3),
            "surface_velocity_b": (1.0, 0.3, -0.16),
            "friction_across": Together(friction_across=0.1, friction_direction_b=(0.2, 1.0, 0.3)),
            "friction_direction_a": Together(friction_across=1.2, friction_direction_a=(1.0, 0.3, -0.2)),
            "friction_direction_b": Together(friction_across=1.2, friction_direction_b=(0.7, -0.6, 0.1)),
        },
        b="is the element 'force plane_contact on a body'",
        static_friction=STICKS,
        stribeck_speed=STICKS,
        friction_stiffness=STICKS,
        friction_damping=STICKS,
    ),
    force(
        "plane_contact",
        {
            "radius": 0.2,
            "normal": (0.1, 0.2, 1.0),
            "stiffness": 40.0,
            "friction": 2.0,
            "static_friction": 3.0,
            "stribeck_speed": 0.3,
            "friction_stiffness": 1.0,
            "friction_damping": 0.1,
            "anchor_a": (0.0, 0.0, 0.0),
            "anchor_b": (0.9, 0.1, 0.1),
        },
        {
            "friction": Together(friction=0.1, static_friction=0.2, friction_stiffness=4.0),
            "static_friction": Together(friction=0.1, static_friction=0.4, friction_stiffness=4.0),
            "stribeck_speed": Together(friction=0.1, static_friction=0.4, friction_stiffness=4.0, stribeck_speed=2.0),
            "friction_stiffness": 0.3,
            "friction_damping": 1.0,
            "friction_speed": Together(static_friction=None, friction=0.4, friction_speed=0.2),
            "surface_velocity_a": (0.8, -0.5, 0.3),
            "surface_velocity_b": (1.0, 0.3, -0.16),
            "friction_across": Together(friction_across=0.6, friction_direction_b=(0.2, 1.0, 0.3)),
            "friction_direction_a": Together(friction_across=5.0, friction_direction_a=(1.0, 0.3, -0.2)),
            "friction_direction_b": Together(friction_across=5.0, friction_direction_b=(0.7, -0.6, 0.1)),
            "length": 0.3,
            "normal": (-0.2, 0.3, 1.0),
        },
        where="that sticks",
    ),
    force(
        "sphere_contact",
        {
            "radius_a": 0.2,
            "radius_b": 0.9,
            "hollow": False,
            "stiffness": 40.0,
            "exponent": 1.5,
            "damping": 0.5,
            "friction": 0.4,
            "friction_speed": 0.05,
            "anchor_a": (0.0, 0.0, 0.0),
            "anchor_b": (0.9, 0.1, -0.8),
        },
        {
            "radius_a": 0.25,
            "radius_b": 0.95,
            "hollow": Together(hollow=True, radius_b=0.7, anchor_b=(0.9, 0.1, -0.4)),
            "stiffness": 90.0,
            "exponent": 1.2,
            "damping": 2.0,
            "friction": 0.1,
            "friction_speed": 0.5,
            "restitution": Together(damping=0.0, restitution=0.2, impact_speed=0.5),
            "impact_speed": Together(damping=0.0, restitution=0.2, impact_speed=0.1),
            "normal_force": PRESSES,
            "a": "arm",
            "anchor_a": (0.0, 0.1, 0.05),
            "anchor_b": (0.9, 0.1, -0.7),
            "at_a": Together(anchor_a=None, at_a=(0.9, 0.2, 0.15)),
            "at_b": Together(anchor_b=None, at_b=(0.9, 0.1, -0.7)),
            "surface_velocity_a": (0.8, -0.5, 0.3),
            "surface_velocity_b": (1.0, 0.3, 0.2),
            "friction_across": Together(friction_across=0.1, friction_direction_b=(0.2, 1.0, 0.3)),
            "friction_direction_a": Together(friction_across=1.2, friction_direction_a=(1.0, 0.3, -0.2)),
            "friction_direction_b": Together(friction_across=1.2, friction_direction_b=(0.7, -0.6, 0.1)),
        },
        b="is the element 'force sphere_contact on a body'",
        static_friction=SPHERE_STICKS,
        stribeck_speed=SPHERE_STICKS,
        friction_stiffness=SPHERE_STICKS,
        friction_damping=SPHERE_STICKS,
    ),
    force(
        "sphere_contact",
        {
            "b": "arm",
            "radius_a": 0.2,
            "radius_b": 0.3,
            "stiffness": 40.0,
            "friction": 2.0,
            "static_friction": 3.0,
            "stribeck_speed": 0.3,
            "friction_stiffness": 1.0,
            "friction_damping": 0.1,
            "anchor_b": (0.6, 0.1, 0.1),
        },
        {
            "b": "ground",
            "radius_b": 0.35,
            "friction": Together(friction=0.1, static_friction=0.2, friction_stiffness=4.0),
            "static_friction": Together(friction=0.1, static_friction=0.4, friction_stiffness=4.0),
            "stribeck_speed": Together(friction=0.1, static_friction=0.4, friction_stiffness=4.0, stribeck_speed=2.0),
            "friction_stiffness": 0.3,
            "friction_damping": 1.0,
            "surface_velocity_a": (0.8, -0.5, 0.3),
            "surface_velocity_b": (1.0, 0.3, 0.2),
            "friction_across": Together(friction_across=0.6, friction_direction_b=(0.2, 1.0, 0.3)),
            "friction_direction_a": Together(friction_across=5.0, friction_direction_a=(1.0, 0.3, -0.2)),
            "friction_direction_b": Together(friction_across=5.0, friction_direction_b=(0.7, -0.6, 0.1)),
        },
        where="on a body",
    ),
    force(
        "joint_force",
        {"effort": "=0.5*cos(8*t)"},
        {"effort": -0.4, **IN_JOINT},
        True,
        freedom="is the element 'force joint_force in a universal joint'",
    ),
    force(
        "user_joint_force",
        {"function": stiffening},
        {"function": softening, **IN_JOINT},
        True,
        freedom="is the element 'force user_joint_force in a universal joint'",
        initial_states="is the element 'force user_joint_force with states'",
        **OWN_STATES,
    ),
    force(
        "position_actuator",
        {"kp": 3.0, "kd": 0.3, "ki": 1.0, "target": "=0.3*sin(5*t)", "feedforward": 0.1, **DRIVE},
        {"kp": 9.0, "kd": 1.0, "ki": 20.0, "target": 0.4, "feedforward": -0.6, **DRIVEN, **IN_JOINT},
        True,
        freedom="is the element 'force position_actuator in a universal joint'",
    ),
    force(
        "velocity_actuator",
        {"kv": 0.8, "ki": 0.5, "target": 0.5, "feedforward": 0.1, **DRIVE},
        {
            "kv": 2.5,
            "ki": 10.0,
            "target": -0.5,
            "feedforward": -0.6,
            **DRIVEN,
            **IN_JOINT,
            "velocity_limit": Together(velocity_limit=1.0, feedforward=0.6),
            "sample_time": Together(sample_time=0.02, kv=2.5),
            "knee": Together(target=1.5, velocity_limit=1.2, knee=0.05),
        },
        True,
        freedom="is the element 'force velocity_actuator in a universal joint'",
    ),
    force(
        "torque_actuator",
        {"target": "=0.5*cos(8*t)", **DRIVE},
        {"target": -0.4, **DRIVEN, **IN_JOINT},
        True,
        freedom="is the element 'force torque_actuator in a universal joint'",
    ),
    force(
        "controller",
        {"function": driving, **DRIVE},
        {"function": softening, **DRIVEN, **IN_JOINT},
        True,
        freedom="is the element 'force controller in a universal joint'",
    ),
    force(
        "joint_stop",
        {"lower": -0.01, "upper": 0.02, "stiffness": 20.0, "exponent": 1.5, "damping": 0.3, "rest_speed": 0.01},
        {
            "lower": Together(lower=0.03, upper=0.5),
            "upper": 0.08,
            "stiffness": 60.0,
            "exponent": 1.1,
            "damping": 3.0,
            "restitution": Together(damping=0.0, restitution=0.2, impact_speed=0.5),
            "impact_speed": Together(damping=0.0, restitution=0.2, impact_speed=0.1),
            **IN_JOINT,
        },
        True,
        rest_speed="counts for impulses alone, which test_events.py has",
        freedom="is the element 'force joint_stop in a universal joint'",
    ),
    force(
        "joint_friction",
        {
            "sliding": 0.3,
            "static": 0.4,
            "stribeck_speed": 0.2,
            "stiffness": 20.0,
            "damping": 0.05,
            "viscous": 0.05,
            "elastic": 0.7,
            "law": "elasto_plastic",
        },
        {
            "sliding": 0.15,
            "static": 0.8,
            "stribeck_speed": 0.8,
            "stiffness": 5.0,
            "damping": 0.4,
            "viscous": 0.5,
            "elastic": 0.1,
            "law": Together(law="lugre", elastic=None),
            **IN_JOINT,
        },
        True,
        freedom="is the element 'force joint_friction in a universal joint'",
    ),
)

FORCES_ELSEWHERE = (
    force(
        "force_table",
        {
            "joint": "tested",
            "deflections": (-1.0, 0.0, 2.0),
            "forces": (-2.0, 0.0, 5.0),
            "rest": 0.1,
            "damping": 0.2,
            "interpolation": "linear",
            "extrapolation": "linear",
        },
        {
            "joint": "shoulder",
            "deflections": (-0.5, 0.0, 1.0),
            "forces": (-4.0, 0.5, 1.0),
            "rest": -0.2,
            "damping": 1.0,
            "interpolation": "natural",
            "extrapolation": Together(extrapolation="constant", deflections=(-1.0, -0.3, -0.15)),
        },
        where="in a joint",
    ),
    force(
        "plane_contact",
        {
            "b": "arm",
            "radius": 0.25,
            "normal": (-1.0, 0.2, 0.3),
            "stiffness": 40.0,
            "damping": 0.5,
            "friction": 0.4,
            "friction_speed": 0.05,
            "anchor_a": (0.0, 0.0, 0.0),
            "anchor_b": (0.8, 0.1, 0.1),
        },
        {
            "b": "ground",
            "normal": (-1.0, -0.3, 0.2),
            "radius": 0.3,
            "anchor_b": (0.85, 0.1, 0.1),
            "surface_velocity_b": (0.2, 1.0, 0.0),
        },
        where="on a body",
    ),
    force("user", {"function": series, "initial_states": (0.1,)}, {"initial_states": (0.9,)}, where="with states"),
    force(
        "user_joint_force",
        {"function": lagging, "initial_states": (0.1,)},
        {"initial_states": (2.0,)},
        True,
        where="with states",
    ),
    across_a_ball(
        "torsion_spring",
        {"stiffness": 0.8, "damping": 0.1, "rest": 0.3, "torque": 0.1},
        {"stiffness": 2.5, "damping": 0.5, "rest": -0.5, "torque": 0.6},
    ),
    in_a_universal_joint("joint_force", {"effort": -0.4}),
    in_a_universal_joint("user_joint_force", {"function": driving}),
    in_a_universal_joint("position_actuator", {"kp": 3.0, "kd": 0.3, "target": 0.3}),
    in_a_universal_joint("velocity_actuator", {"kv": 0.8, "target": 0.5}),
    in_a_universal_joint("torque_actuator", {"target": 0.5}),
    in_a_universal_joint("controller", {"function": driving}),
    in_a_universal_joint("joint_stop", {"stiffness": 20.0}),
    in_a_universal_joint("joint_friction", {"sliding": 0.3, "stiffness": 20.0}),
    in_a_universal_joint("force_table", {"deflections": (-1.0, 0.0, 2.0), "forces": (-2.0, 0.5, 5.0)}),
)

# --- constraints, couplings, drivers ------------------------------------------------------------


def coupling(kind: str, base: dict[str, Any], changes: dict[str, Any], second: str, **apart: str) -> Element:
    cls: Any = COUPLINGS[kind]

    def make(carrier: str, given: dict[str, Any]) -> nx.System:
        system = skeleton("rod")  # without a v0 of the shoulder
        place = {"at": PIVOT, "axis": (0.2, 0.3, 1.0)}
        system.add_joint(JOINTS[second]("tested", "arm", "hand", **place, damping=0.1))
        system.add_coupling(cls("coupled", **given))
        return closed_by_end(system, carrier)

    apart = {"name": NAMES, "priority": APART_JOINT["priority"], **apart}
    return Element(f"coupling {kind}", cls, base, changes, make, apart)


def mimic(carrier: str, given: dict[str, Any]) -> nx.System:
    return closed_by_end(hung(skeleton("rod"), mimic=nx.Mimic("shoulder", **given)), carrier)


LED = ("open", "ring")
"""Where points and orientations are driven: with the rod the hand comes near a pose where it cannot follow."""


def driver(
    kind: str,
    base: dict[str, Any],
    changes: dict[str, Any],
    apart: dict[str, str] | None = None,
    carriers: tuple[str, ...] = LED,
) -> Element:
    cls: Any = DRIVERS[kind]

    def make(carrier: str, given: dict[str, Any]) -> nx.System:
        system = skeleton("rod")
        system.add_joint(nx.Universal("tested", "arm", "hand", at=PIVOT, axis=(0.2, 0.3, 1.0), damping=0.1))
        system.add_marker("tip", "hand", position=(0.2, 0.1, 0.0))
        system.add_driver(cls("drive", **given))
        return closed_by_end(system, carrier)

    return Element(
        f"driver {kind}",
        cls,
        base,
        changes,
        make,
        {"name": NAMES, "priority": APART_JOINT["priority"], **(apart or {})},
        carriers,
    )


def driven_ball(carrier: str, given: dict[str, Any]) -> nx.System:
    """The hand in a ball joint, all of whose turns are driven."""
    system = skeleton("rod")
    system.add_joint(nx.Spherical("tested", "arm", "hand", at=PIVOT, damping=0.1))
    system.add_marker("tip", "hand", position=(0.2, 0.1, 0.0), orientation=(0.6, 0.0, 0.8, 0.0))
    system.add_driver(nx.OrientationDriver("drive", **given))
    return closed_by_end(system, carrier)


FREE = {
    "anchor_a": (0.3, 0.1, 0.1),
    "axis_a": (0.2, 0.3, 1.0),
    "anchor_b": (-0.2, 0.0, -0.1),
    "axis_b": (0.2, 0.3, 1.0),
}
SIDES = {"anchor_a": (0.2, 0.15, 0.1), "anchor_b": (-0.25, 0.05, -0.05)}
AXES = {"axis_a": (0.35, 0.2, 1.0), "axis_b": (0.05, 0.3, 1.0)}
CURVE = nx.ExpressionCurve("=0.8*cos(s)-0.8", "=0.5*sin(s)", "=0.1*s", -4, 4)
OTHER_CURVE = nx.ExpressionCurve("=0.6*cos(s)-0.6", "=0.9*sin(s)", "=-0.2*s", -4, 4)
ROWS = {"unit": "m", "size": 1.0, "period": 1.0}
ROWS_APART = dict.fromkeys(("unit", "size", "period"), "is the scale by which a residual is judged")
UPRIGHT = {"anchor_a": (0.6, 0.1, -0.1), "axis_a": (0.05, 0.1, 1.0), "anchor_b": (0.0, 0.0, 0.0)}

CONSTRAINT_ELEMENTS = (
    held(
        "rod",
        {"anchor_a": (0.2, 0.1, 0.1), "anchor_b": (0.1, 0.0, 0.1), "length": 0.75},
        {"anchor_a": (0.2, 0.2, 0.15), "anchor_b": (0.05, 0.05, 0.1), "length": 0.8},
    ),
    held(
        "general",
        {**FREE, "free": ("y", "rz")},
        {**SIDES, **AXES, "reference_a": (1.0, 0.3, 0.0), "reference_b": (0.8, -0.3, 0.1), "free": ("y", "rz", "rx")},
    ),
    held(
        "clamp",
        {**FREE, "on": True, "free": ("y", "rz")},
        {
            **SIDES,
            **AXES,
            "reference_a": (1.0, 0.3, 0.0),
            "reference_b": (0.8, -0.3, 0.1),
            "free": ("y", "rz", "rx"),
            "on": False,
        },
    ),
    held(
        "revolute_prismatic",
        {**FREE, "slide": (1.0, 0.2, 0.4)},
        {**SIDES, **AXES, "slide": (0.8, -0.3, 0.2)},
        **dict.fromkeys(
            ("reference_a", "reference_b"),
            "turn both frames about the axis: test_links.py has the slide that they give",
        ),
    ),
    held(
        "revolute_spherical",
        {
            "anchor_a": (0.2, 0.1, 0.1),
            "axis_a": (0.2, 0.3, 1.0),
            "anchor_b": (0.1, 0.0, 0.1),
            "length": 0.75,
            "along": 0.1,
        },
        {
            "anchor_a": (0.2, 0.2, 0.15),
            "axis_a": (0.4, 0.3, 1.0),
            "anchor_b": (0.05, 0.05, 0.1),
            "length": 0.8,
            "along": 0.2,
        },
        reference_a="turns the frame about the axis",
    ),
    held("point_on_line", FREE, SIDES | {"axis_a": AXES["axis_a"]}, axis_b="a point has no axis"),
    held("point_on_plane", FREE, SIDES | {"axis_a": AXES["axis_a"]}, axis_b="a point has no axis"),
    held("parallel", FREE, AXES, **dict.fromkeys(("anchor_a", "anchor_b"), "two directions have no points")),
    held(
        "perpendicular",
        {**FREE, "axis_b": (1.0, -0.2, 0.0)},
        {"axis_a": (0.35, 0.2, 1.0), "axis_b": (1.0, -0.35, 0.1)},
        **dict.fromkeys(("anchor_a", "anchor_b"), "two directions have no points"),
    ),
    held(
        "point_on_curve",
        {"curve": CURVE, "anchor_a": (0.6, 0.1, 0.17), "anchor_b": (0.0, 0.0, 0.0)},
        {
            "curve": OTHER_CURVE,
            "anchor_a": (0.6, 0.15, 0.2),
            "anchor_b": (0.05, 0.02, 0.0),
            "axis_a": (0.1, 0.2, 1.0),
            "reference_a": (1.0, 0.2, 0.0),
        },
    ),
    held(
        "point_on_surface",
        {"surface": nx.SphereSurface(0.3), "anchor_a": (0.6, 0.1, -0.13), "anchor_b": (0.0, 0.0, 0.0)},
        {
            "surface": nx.EllipsoidSurface((0.3, 0.4, 0.35)),
            "anchor_a": (0.6, 0.15, -0.1),
            "anchor_b": (0.05, 0.02, 0.0),
        },
        axis_a="a sphere has no axis: test_constraint_curves.py has the others",
        reference_a="a sphere has no axis",
    ),
    held(
        "user_constraint",
        {"function": wave, "anchor_a": (0.6, 0.1, 0.17), "anchor_b": (0.0, 0.0, 0.0), **ROWS},
        {
            "function": bowl,
            "anchor_a": (0.6, 0.3, 0.2),
            "anchor_b": (0.05, 0.02, 0.0),
            "axis_a": (0.1, 0.2, 1.0),
            "reference_a": (1.0, 0.8, 0.0),
        },
        axis_b="this function reads no rotation",
        reference_b="this function reads no rotation",
        gradient="are derivatives of the function",
        hessian="are derivatives of the function",
        **ROWS_APART,
    ),
    held(
        "velocity_constraint",
        {"function": skew, **ROWS, "unit": "m/s"},
        {"function": skewed, "anchor_b": (0.1, 0.2, 0.0)},
        **ROWS_APART,
        **dict.fromkeys(
            ("anchor_a", "axis_a", "reference_a", "axis_b", "reference_b"), "test_constraints.py has the frames"
        ),
    ),
    held(
        "rolling_sphere",
        {**UPRIGHT, "radius": 0.27},
        {"radius": 0.3, "anchor_a": (0.6, 0.1, -0.05), "axis_a": (0.2, 0.0, 1.0), "anchor_b": (0.03, 0.02, 0.0)},
    ),
    held(
        "rolling_disk",
        {**UPRIGHT, "axis_b": (0.2, 1.0, 0.1), "radius": 0.25, "tube": 0.02},
        {
            "radius": 0.3,
            "tube": 0.06,
            "anchor_a": (0.6, 0.1, -0.05),
            "axis_a": (0.2, 0.0, 1.0),
            "anchor_b": (0.03, 0.02, 0.0),
            "axis_b": (0.0, 1.0, 0.3),
        },
    ),
    held(
        "knife_edge",
        {"axis_b": (0.1, 1.0, 0.2), "anchor_b": (0.1, 0.0, 0.0)},
        {"axis_b": (0.6, 1.0, 0.2), "anchor_b": (-0.2, 0.1, 0.0)},
        **dict.fromkeys(("anchor_a", "axis_a"), "a blade has no plane of its own"),
    ),
)

OTHER_ELEMENTS = (
    coupling(
        "sum",
        {"terms": (("shoulder", 0, 1.0), ("tested", 0, -0.5)), "offset": 0.0},
        {"terms": (("shoulder", 0, 1.0), ("tested", 0, 0.8)), "offset": 0.2},
        "revolute",
    ),
    coupling(
        "gear",
        {"joint_a": "shoulder", "joint_b": "tested", "ratio": -1.5, "offset": 0.0, "freedom_a": 0, "freedom_b": 0},
        {
            "joint_a": Together(joint_a="tested", joint_b="shoulder"),
            "joint_b": Together(joint_a="tested", joint_b="shoulder"),
            "ratio": 0.8,
            "offset": 0.2,
            "freedom_b": 1,
        },
        "universal",
        freedom_a="as freedom_b, and the shoulder has one freedom",
    ),
    coupling(
        "rack_and_pinion",
        {"pinion": "shoulder", "rack": "tested", "radius": 0.3, "offset": 0.0},
        {"radius": 0.1, "offset": 0.05},
        "prismatic",
        pinion=NAMES,
        rack=NAMES,
    ),
    Element(
        "mimic",
        nx.Mimic,
        {"multiplier": -1.5, "offset": 0.0},
        {"multiplier": 0.8, "offset": 0.2},
        mimic,
        {"joint": NAMES},
    ),
    driver(
        "joint",
        {"joint": "tested", "function": nx.Harmonic(0.1, 5.0), "freedom": 0},
        {"joint": "shoulder", "function": nx.Linear(0.0, 0.8), "freedom": 1},
        carriers=("open", "rod", "ring"),
    ),
    driver(
        "orientation",
        {"frame": "tip", "angle": "yaw", "function": nx.Harmonic(0.1, 5.0, offset=0.2), "seen_from": "ground"},
        {
            "frame": "hand",
            "angle": "pitch",
            "function": nx.Harmonic(0.1, 9.0, offset=0.2),
            "seen_from": "arm",
        },
        dict.fromkeys(WHOLE, "is the element 'driver orientation as a whole'"),
    ),
    Element(
        "driver orientation as a whole",
        nx.OrientationDriver,
        {"frame": "tip", "angles": ("=0.2*sin(5*t)", "=0.3*t", 0.1), "seen_from": "ground"},
        {
            "angles": ("=0.2*sin(5*t)", "=0.3*t", "=0.1+0.3*t"),
            "rotation_vector": Together(angles=None, rotation_vector=(0.1, "=0.2*sin(5*t)", "=0.3*t")),
            "quaternion": Together(angles=None, quaternion=(1.0, "=0.1+0.2*t", 0.1, "=0.2*t")),
        },
        driven_ball,
        part_of="driver orientation",
    ),
    driver(
        "point",
        {"point": "tip", "component": "z", "function": nx.Harmonic(0.1, 5.0, offset=0.2)},
        {"point": "hand", "component": "y", "function": nx.Harmonic(0.1, 9.0, offset=0.22)},
    ),
)

ELEMENTS: dict[str, Element] = {
    element.name: element
    for element in (
        *(joint(kind) for kind, cls in JOINTS.items() if cls.tree),
        *CONSTRAINT_ELEMENTS,
        *FORCE_ELEMENTS,
        *FORCES_ELSEWHERE,
        *OTHER_ELEMENTS,
        *DESCRIBED,
        *CONTACTS,
        *(to_the_ground(kind) for kind in ("revolute", "cylindrical")),
        *(led(by) for by in ("mimic", "gear")),
        *AS_PAGES,
    )
}
