"""Bodies, parameters, markers, measures, events and limits of joints, for the matrix of attributes × ways to compute.

See `matrix_elements.py`, which has the others.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from matrix_skeleton import (
    ARM,
    GRAVITY,
    HAND,
    HAND_BODY,
    NAMES,
    PIVOT,
    Element,
    Together,
    closed,
    closed_by_end,
    hung,
    skeleton,
    turning,
)

import nexdyn as nx
from nexdyn.model.measure import MEASURES

# --- mechanisms -----------------------------------------------------------------------------------------------------


def body(carrier: str, given: dict[str, Any]) -> nx.System:
    """The arm in a ring, where it turns; else the hand."""
    if carrier != "ring":
        return closed(hung(skeleton(carrier, given), damping=0.1), carrier)
    place = np.array(ARM["position"]) + np.array(given["position"]) - np.array(HAND)
    system = hung(skeleton(carrier, of_arm={**given, "position": place}), moving=0.7, damping=0.1)
    return closed(system, carrier)


def whole(carrier: str, given: dict[str, Any]) -> nx.System:
    return closed(hung(skeleton(carrier, gravity=given["gravity"]), damping=0.1), carrier)


def carried(carrier: str, given: dict[str, Any]) -> nx.System:
    """A body without mass between the arm and the hand."""
    system = skeleton("ring" if carrier == "ring" else "rod")
    system.add_body("carried", **given)
    system.add_joint(nx.Revolute("tested", "arm", "carried", at=PIVOT, axis=(0.2, 0.3, 1.0), damping=0.1))
    system.add_joint(nx.Revolute("last", "carried", "hand", at=PIVOT, axis=(1.0, 0.2, 0.1), damping=0.1))
    return closed(system, carrier)


def thin(carrier: str, given: dict[str, Any]) -> nx.System:
    """A body without inertia about an axis, in a joint that does not turn it about that axis."""
    system = skeleton(carrier, {**HAND_BODY, **given})
    system.add_joint(nx.Universal("tested", "arm", "hand", at=PIVOT, axis=(0.2, 0.3, 1.0), damping=0.1))
    return closed(system, carrier)


def limited(carrier: str, given: dict[str, Any]) -> nx.System:
    """A stop that takes its ends from the limits of its joint."""
    system = hung(skeleton(carrier), moving=0.7, **given)
    system.add_force(nx.JointStop("acting", "tested", stiffness=20.0, exponent=1.5, damping=0.3))
    return closed(system, carrier)


def named(carrier: str, given: dict[str, Any]) -> nx.System:
    """A number in a body, a joint and a force."""
    system = skeleton(carrier, {**HAND_BODY, "mass": "=0.8*x"}, x=given["value"])
    hung(system, damping="=0.1*x")
    system.add_force(nx.JointForce("acting", "tested", "=0.3*x"))
    return closed(system, carrier)


def marked(carrier: str, given: dict[str, Any]) -> nx.System:
    """A force on a marker, in the axes of the marker."""
    system = hung(skeleton(carrier), damping=0.1)
    where = dict(given)
    system.add_marker("tip", where.pop("body"), **where)
    system.add_force(nx.AppliedForce("acting", "tip", force=(0.5, -0.8, 0.4), expressed_in="body"))
    return closed(system, carrier)


@numba.njit
def crossing(t: float, q: np.ndarray, v: np.ndarray) -> float:
    return q[1] + 0.4 * t - 0.006


@numba.njit
def hollow(t: float, x: np.ndarray, out: np.ndarray) -> None:
    for i in range(3):
        out[i] = -2.0 * x[i] + 0.3 * t


@numba.njit
def hill(t: float, x: np.ndarray, out: np.ndarray) -> None:
    out[0], out[1], out[2] = 3.0 * x[0], 1.0 - x[2], 2.0 * x[1]


def attracted(carrier: str, given: dict[str, Any]) -> nx.System:
    """Gravity on bodies by a pattern."""
    system = hung(skeleton(carrier), damping=0.1)
    system.add_gravity(nx.Gravity("falling", "ha*", **given))
    return closed(system, carrier)


def kick(state: Any) -> None:
    state.velocity = {**state.velocity, "tested": state.velocity["tested"] + 0.3}


def event(carrier: str, given: dict[str, Any]) -> nx.System:
    """The hand falls back and comes again: its hinge crosses a value twice."""
    system = hung(skeleton("rod"), damping=0.1, v0=-1.2)
    for name, joint, effort in (("motor", "tested", 2.5), ("brake", "shoulder", 1.5), ("helper", "shoulder", -2.0)):
        system.add_force(nx.JointForce(name, joint, effort))
    system.add_measure(nx.PointPosition("place", "hand"))
    system.add_event(nx.Event("idle", time=0.001, off="helper"))
    system.add_event(nx.Event("watch", **given))
    return closed_by_end(system, carrier)


# --- elements -------------------------------------------------------------------------------------------------------


def measure(kind: str, base: dict[str, Any], changes: dict[str, Any]) -> Element:
    """What is told of two frames; what a way observes has it."""
    cls: Any = MEASURES[kind]

    def make(carrier: str, given: dict[str, Any]) -> nx.System:
        system = hung(skeleton(carrier), moving=0.7, damping=0.1)
        system.add_marker(
            "tip",
            turning(carrier) if kind == "direction" else "hand",
            position=(0.2, 0.1, 0.0),
            orientation=(0.8, 0.0, 0.6, 0.0),
        )
        others = dict(given)
        system.add_measure(cls("told", others.pop("a"), others.pop("b"), **others))
        return closed(system, carrier)

    return Element(f"measure {kind}", cls, base, changes, make, {"name": NAMES})


def inertia(name: str, base: dict[str, Any], changes: dict[str, Any], make: Any = body) -> Element:
    """Another form of the inertia of a body."""
    carriers = (
        ("open", "rod") if make is thin else ("open", "rod", "ring")
    )  # a ring of it is not the same bits in other units
    return Element(f"body {name}", nx.Body, base, changes, make, {}, carriers, part_of="body")


def shaped(name: str, shape: nx.Sphere | nx.Cylinder | nx.Capsule, other: Any) -> Element:
    plain = {key: value for key, value in HAND_BODY.items() if key not in ("inertia", "com")}
    return inertia(name, {**plain, "shapes": [shape]}, {"shapes": [other]})


DESCRIBED = (
    Element(
        "body",
        nx.Body,
        dict(HAND_BODY),
        {
            "mass": 2.0,
            "inertia": (0.1, 0.025, 0.11, 0.0, 0.0, 0.0),
            "com": (-0.1, 0.1, 0.0),
            "position": (0.85, 0.3, 0.1),
            "orientation": (0.8, 0.6, 0.0, 0.0),
            "shapes": Together(inertia=None, com=None, shapes=[nx.Box((0.3, 0.1, 0.5))]),
        },
        body,
        {
            "name": NAMES,
            "strict": "says whether an unphysical inertia is refused",
            **dict.fromkeys(
                ("collision", "no_collision"), "says what distances and overlaps are computed of; bodies do not touch"
            ),
        },
    ),
    inertia("of principal moments", {**HAND_BODY, "inertia": (0.03, 0.025, 0.02)}, {"inertia": (0.1, 0.08, 0.11)}),
    inertia(
        "of a matrix",
        {**HAND_BODY, "inertia": ((0.03, 0.002, 0.003), (0.002, 0.025, -0.001), (0.003, -0.001, 0.02))},
        {"inertia": ((0.1, 0.01, -0.02), (0.01, 0.08, 0.0), (-0.02, 0.0, 0.11))},
    ),
    shaped("of a sphere", nx.Sphere(0.1), nx.Sphere(0.4)),
    shaped("of a cylinder", nx.Cylinder(0.1, 0.4), nx.Cylinder(0.2, 0.9)),
    shaped("of a capsule", nx.Capsule(0.1, 0.4), nx.Capsule(0.15, 0.9)),
    inertia(
        "thin about an axis",
        {**HAND_BODY, "inertia": (0.03, 0.03, 0.0), "com": (0.0, 0.0, 0.1)},
        {"inertia": (0.0, 0.08, 0.08), "mass": 1.6, "com": (0.0, 0.0, -0.1)},
        thin,
    ),
    inertia(
        "without mass",
        {"mass": 0.0, "position": PIVOT},
        {"mass": Together(mass=0.5, inertia=(0.02, 0.03, 0.02)), "position": (0.6, 0.2, 0.1)},
        carried,
    ),
    Element(
        "joint limits",
        nx.Revolute,
        {"limits": (-0.01, 0.02)},
        {"limits": (-0.005, 0.04)},
        limited,
        part_of="joint revolute",
    ),
    Element("parameter", nx.Parameter, {"value": 1.0}, {"value": 1.7}, named),
    Element(
        "marker",
        nx.Marker,
        {"body": "hand", "position": (0.2, 0.1, 0.0), "orientation": (0.8, 0.0, 0.6, 0.0)},
        {
            "body": "arm",
            "position": (-0.1, 0.3, 0.1),
            "orientation": (0.8, 0.6, 0.0, 0.0),
            "at": Together(position=None, at=(0.7, 0.4, 0.3)),
        },
        marked,
        {"name": NAMES},
    ),
    measure("point_position", {"a": "tip", "b": "arm"}, {"a": "hand", "b": "ground"}),
    measure("point_velocity", {"a": "tip", "b": "arm"}, {"a": "hand", "b": "ground"}),
    measure("distance", {"a": "tip", "b": "ground"}, {"a": "arm", "b": "arm"}),
    measure("angle", {"a": "tip", "b": "arm", "product": "zx"}, {"a": "arm", "b": "ground", "product": "xz"}),
    measure(
        "displacement", {"a": "tip", "b": "arm", "component": "dx"}, {"a": "hand", "b": "ground", "component": "dy"}
    ),
    measure("direction", {"a": "tip", "b": "arm", "product": "zx"}, {"a": "arm", "b": "hand", "product": "xz"}),
    Element(
        "event",
        nx.Event,
        {"joint": "tested", "of": "position", "value": -0.005, "direction": "falling", "off": ("brake",)},
        {
            "time": Together(joint=None, value=0.0, direction="both", time=0.04),
            "joint": "shoulder",
            "of": Together(of="velocity", direction="both"),
            "value": -0.008,
            "direction": "rising",
            "function": Together(joint=None, function=crossing, direction="both"),
            "measure": Together(joint=None, measure="place", component="z", value=0.1995),
            "component": Together(joint=None, measure="place", component="x", value=0.901, direction="both"),
            "off": ("motor",),
            "on": ("helper",),
            "parameters": {"motor.effort": 0.5},
            "action": kick,
            "stop": True,
            "once": Together(direction="both", off=(), action=kick, once=True),
        },
        event,
        {
            "name": NAMES,
            "contact": "wants a contact; test_contact_between.py watches one under a method of each formulation",
            "freedom": "counts the freedoms of a joint; test_events.py has joints of several",
            "tolerance": "says how exact the time is, not what happens",
        },
    ),
    Element(
        "event at the start",
        nx.Event,
        {"time": 0.0, "off": ("brake",)},
        {
            "time": 0.03,
            "off": ("motor",),
            "parameters": {"motor.effort": 0.5},
            "action": kick,
            "stop": True,
        },
        event,
        part_of="event",
    ),
    Element("system", nx.System, {"gravity": GRAVITY}, {"gravity": (3.0, 0.5, 1.0)}, whole),
    Element(
        "gravity of a point",
        nx.Gravity,
        {"mu": 1.0, "centre": "ground", "at": (0.4, -0.5, 0.9)},
        {
            "mu": 3.0,
            "centre": "arm",
            "at": (-0.2, 0.3, 0.9),
            "anchor": Together(at=None, anchor=(0.4, -0.4, 0.8)),
        },
        attracted,
        {
            "name": NAMES,
            "function": "is the element 'gravity by place'",
            "bodies": "says how many forces it consists of: test_gravity.py has what it chooses",
        },
    ),
    Element(
        "gravity by place",
        nx.Gravity,
        {"function": hollow},
        {"function": hill},
        attracted,
        part_of="gravity of a point",
    ),
)
