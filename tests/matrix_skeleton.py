"""The small mechanisms in which elements of the matrix stand, and what an element of it is.

`arm` turns on the ground in the hinge `shoulder`, `hand` hangs on the arm by the joint `tested`. The carriers:

    open    the skeleton, a tree
    rod     a massless rod holds the hand to the ground, too: a loop that a constraint closes
    ring    the hand moves without turning and the arm hangs in a ball joint: a loop of joints, which may be cut; what acts on a body
            that turns is at the arm there (`turning`)

Where little freedom would be left, the rod or the ring ends at a third body, `end`, which hangs on the hand by a ball joint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import nexdyn as nx

NAMES = "names what it is or belongs to"
GRAVITY = (0.6, -1.1, -3.0)
HAND = (0.9, 0.15, 0.2)
PIVOT = (0.55, 0.1, 0.05)
PLACES = {
    "at": PIVOT,
    "axis": (0.2, 0.3, 1.0),
    "reference": (1.0, 0.1, 0.0),
}
IN_BODIES = {
    "anchor_a": (0.25, 0.05, 0.02),
    "axis_a": (0.2, 0.3, 1.0),
    "reference_a": (1.0, 0.1, 0.0),
    "anchor_b": (-0.35, -0.05, -0.15),
    "axis_b": (0.2, 0.3, 1.0),
    "reference_b": (1.0, 0.1, 0.0),
}
ARM = {
    "mass": 1.2,
    "inertia": (0.05, 0.06, 0.04, 0.005, -0.004, 0.003),
    "com": (0.05, 0.02, -0.03),
    "position": (0.3, 0.05, 0.03),
}
HAND_BODY = {
    "mass": 0.8,
    "inertia": (0.03, 0.025, 0.02, 0.002, 0.003, -0.001),
    "com": (0.04, -0.03, 0.05),
    "position": HAND,
    "orientation": (1.0, 0.0, 0.0, 0.0),
}


def skeleton(
    carrier: str,
    hand: Mapping[str, Any] = HAND_BODY,
    gravity: Any = GRAVITY,
    of_arm: Mapping[str, Any] = ARM,
    **parameters: float,
) -> nx.System:
    """The arm on the ground, and the hand not held yet."""
    system = nx.System("matrix", gravity=gravity)
    for name, value in parameters.items():
        system.parameter(name, value)
    arm = system.add_body("arm", **of_arm)
    system.add_body("hand", **hand)
    base: Any = nx.Spherical if carrier == "ring" else nx.Revolute
    start = {} if carrier != "open" else {"v0": 0.7}
    place = {"at": (0.0, 0.0, 0.0)} | ({} if carrier == "ring" else {"axis": (0.1, 0.2, 1.0)})
    system.add_joint(base("shoulder", system.ground, arm, **place, **start))
    return system


def closed(system: nx.System, carrier: str, last: str = "hand") -> nx.System:
    """The loop of a carrier, which ends at the body `last`."""
    if carrier == "rod":
        system.add_joint(nx.Rod("closing", "ground", last, anchor_a=(0.5, -0.6, 0.7), anchor_b=(0.1, 0.0, 0.1)))
    if carrier == "ring":
        system.add_joint(nx.Cartesian("closing", "ground", last, at=(1.0, 0.2, 0.3)))
    return system


def closed_by_end(system: nx.System, carrier: str) -> nx.System:
    """The loop of a carrier over one more body, for what leaves the hand little freedom."""
    if carrier == "open":
        return system
    system.add_body("end", mass=0.3, inertia=(0.01, 0.012, 0.009), position=(1.2, 0.3, 0.1))
    system.add_joint(nx.Spherical("last", "hand", "end", at=(1.05, 0.25, 0.15)))
    return closed(system, carrier, "end")


def turning(carrier: str) -> str:
    """The body that turns."""
    return "arm" if carrier == "ring" else "hand"


def about(carrier: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of the hand, as on other carriers, of the body that turns; and of the arm of the other one."""
    if carrier != "ring":
        return dict(given)
    others = {"hand": "arm", "arm": "hand"}
    return {
        name: others.get(x, x) if name in ("a", "b", "body") and isinstance(x, str) else x for name, x in given.items()
    }


def hung(system: nx.System, moving: float = 0.0, **options: Any) -> nx.System:
    """The hand on a plain hinge, for elements that are not joints. moving: how fast it begins to turn in a ring [rad/s]."""
    if moving and system.joints["shoulder"].kind == "spherical":
        options["v0"] = moving
    system.add_joint(nx.Revolute("tested", "arm", "hand", at=PIVOT, axis=(0.2, 0.3, 1.0), **options))
    return system


@dataclass(frozen=True)
class Element:
    """One class, with attributes that act.

    base: its attributes. changes: attribute → the value it is changed to. make: the system, from a carrier and attributes.
    apart: attribute → why no motion depends on it. part_of: the element that has all other attributes of the class."""

    name: str
    cls: type
    base: dict[str, Any]
    changes: dict[str, Any]
    make: Callable[[str, dict[str, Any]], nx.System]
    apart: dict[str, str] = field(default_factory=dict)
    carriers: tuple[str, ...] = ("open", "rod", "ring")
    part_of: str = ""

    def system(self, carrier: str, change: Mapping[str, Any] | None = None) -> nx.System:
        """The mechanism with the element as in `base`, or with a change of it."""
        return self.make(carrier, {**self.base, **(change or {})})

    def change(self, attribute: str) -> dict[str, Any]:
        """The change of one attribute, with what it needs besides (None to take away what excludes it)."""
        value = self.changes[attribute]
        return dict(value) if isinstance(value, Together) else {attribute: value}


class Together(dict[str, Any]):
    """Attributes that change together, because one excludes the other."""
