"""What a result can tell: each quantity over time, with its axes, units and meaning; and the labels of those axes.

One table for the labelled arrays, the netCDF file and the CSV file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nexdyn.errors import InputError
from nexdyn.forces.states import state_labels
from nexdyn.forces.torsion_spring import TURNS
from nexdyn.model.joint import Label
from nexdyn.results.contacts import contact_labels
from nexdyn.results.efforts import effort_labels
from nexdyn.tree.core.compile import joint_class
from nexdyn.tree.tree import Tree
from nexdyn.tree.wound import wound_across


class Quantity(NamedTuple):
    """Axes after time, units ("" where each label of the last axis has its own), and what it is."""

    dims: tuple[str, ...]
    units: str
    long_name: str


QUANTITIES: dict[str, Quantity] = {
    "joint_position": Quantity(("coordinate",), "", "joint coordinates q"),
    "joint_velocity": Quantity(("freedom",), "", "joint velocities v"),
    "joint_acceleration": Quantity(("freedom",), "", "joint accelerations, dv/dt"),
    "position": Quantity(("body", "axis"), "m", "position of the body's origin in the world"),
    "orientation": Quantity(("body", "quaternion"), "1", "orientation of the body in the world, unit quaternion"),
    "rotation": Quantity(
        ("body", "axis", "body_axis"), "1", "rotation matrix: columns are the body's axes in the world"
    ),
    "velocity": Quantity(("body", "axis"), "m/s", "velocity of the body's origin, world axes"),
    "angular_velocity": Quantity(("body", "axis"), "rad/s", "angular velocity of the body, world axes"),
    "acceleration": Quantity(("body", "axis"), "m/s^2", "acceleration of the body's origin, world axes"),
    "angular_acceleration": Quantity(("body", "axis"), "rad/s^2", "angular acceleration of the body, world axes"),
    "reaction": Quantity(
        ("joint", "component"),
        "",
        "reaction of the joint on its child: the part that its degrees of freedom do not feel",
    ),
    "transmitted": Quantity(("joint", "component"), "", "whole force and moment of the joint on its child"),
    "multiplier": Quantity(("row",), "", "multipliers of the constraint rows, 0 of rows that are not kept"),
    "kinetic_energy": Quantity((), "J", "kinetic energy"),
    "gravitational_energy": Quantity((), "J", "energy in gravity, 0 at the world's origin"),
    "elastic_energy": Quantity((), "J", "energy of springs"),
    "total_energy": Quantity((), "J", "kinetic, gravitational and elastic energy"),
    "measure": Quantity(("output",), "", "measures"),
    "effort": Quantity(("actuator",), "", "efforts of the forces in joints"),
    "force_state": Quantity(
        ("state",),
        "",
        "states of forces: what controllers integrate, hold and wait for, bristles, and states of users' forces",
    ),
    "followed": Quantity(
        ("counter",), "", "angles counted over whole turns, and parameters of points on curves and surfaces"
    ),
    "contact_force": Quantity(("contact", "axis"), "N", "force of the contact on body a, world axes"),
    "contact_point": Quantity(("contact", "axis"), "m", "where the contact force acts, in the world"),
    "contact_normal": Quantity(("contact",), "N", "normal force of the contact"),
    "contact_tangential": Quantity(("contact",), "N", "friction force of the contact, its size"),
    "penetration": Quantity(("contact",), "m", "penetration of the contact; below 0 where the surfaces are apart"),
    "contact_direction": Quantity(("contact", "axis"), "1", "normal of the contact, from b to a, in the world"),
    "contact_sliding": Quantity(
        ("contact", "axis"),
        "m/s",
        "velocity of a against b along the surfaces, where the contact force acts, world axes",
    ),
    "contact_sticks": Quantity(("contact",), "1", "1 where the contact sticks, 0 where it slides or is apart"),
    "contact_area": Quantity(
        ("contact",), "m^2", "area over which surfaces touch; of points by the law of Hertz, 0 of other points"
    ),
    "contact_pressure": Quantity(
        ("contact",), "Pa", "largest pressure between surfaces; of points by the law of Hertz, 0 of other points"
    ),
    "contact_moment": Quantity(("contact", "axis"), "N m", "moment of the contact on body a at its point, world axes"),
}

PEAKS: dict[str, Quantity] = {
    "force": Quantity(("joint",), "N", "largest force of the joint's reaction"),
    "force_time": Quantity(("joint",), "s", "when the force is largest"),
    "moment": Quantity(("joint",), "N m", "largest moment of the joint's reaction"),
    "moment_time": Quantity(("joint",), "s", "when the moment is largest"),
}
"""What is told of each joint's reaction over the whole run; no axis of time."""

STATES = ("joint_position", "joint_velocity", "joint_acceleration", "force_state")
RECORDED = (*STATES, "followed")
"""What a motion on a tree is recorded by."""
BODY_STATES = (
    "position",
    "orientation",
    "velocity",
    "angular_velocity",
    "acceleration",
    "angular_acceleration",
    "multiplier",
    "force_state",
    "followed",
)
"""What a motion in absolute coordinates is recorded by."""
ENERGIES = ("kinetic_energy", "gravitational_energy", "elastic_energy", "total_energy")
OF_JOINTS = ("reaction", "transmitted")
KEPT = tuple(name for name in QUANTITIES if name != "rotation")
"""What a file holds: all but the rotation matrices, whose content is in the quaternions."""

COMPONENTS = {"fx": "N", "fy": "N", "fz": "N", "mx": "N m", "my": "N m", "mz": "N m"}


@dataclass(frozen=True)
class Labels:
    """The labels of every axis, and of each quantity the unit that each label of its last axis has."""

    dims: dict[str, list[str]]
    units: dict[str, list[str]]

    def unit(self, name: str) -> str:
        """The unit of a quantity; "mixed" where its labels have different ones."""
        return QUANTITIES[name].units or common_unit(self.units[name])

    def shape(self, name: str) -> tuple[int, ...]:
        """Lengths of a quantity's axes after time."""
        return tuple(len(self.dims[dim]) for dim in QUANTITIES[name].dims)

    def with_counters(self, followed: Sequence[tuple[str, str]]) -> Labels:
        """The labels with those of what is followed: (element, what of it)."""
        units = ["1" if of.startswith("parameter") else "rad" for _, of in followed]
        dims = self.dims | {"counter": [" ".join(of) for of in followed]}
        return Labels(dims, self.units | {"followed": units})


def common_unit(units: Sequence[str]) -> str:
    """The one unit that all have, or "mixed"."""
    return units[0] if len(set(units)) == 1 else "mixed"


def labels_of(tree: Tree) -> Labels:
    """The labels of `tree` and its system."""
    coordinates = [label for name in tree.joint_names for label in coordinate_labels(tree, name)]
    freedoms = [label for name in tree.joint_names for label in velocity_labels(tree, name)]
    outputs = [
        (f"{measure.name}.{axis}" if axis else measure.name, measure.unit)
        for measure in tree.system.measures.values()
        for axis in measure.axes or ("",)
    ]
    wrench = list(COMPONENTS.values())
    dims = {
        "body": list(tree.body_names),
        "joint": [arc.name for arc in tree.unmerged.forest.arcs if arc.joint is not None],
        "axis": ["x", "y", "z"],
        "body_axis": ["x", "y", "z"],
        "quaternion": ["w", "x", "y", "z"],
        "component": list(COMPONENTS),
        "coordinate": [label for label, _ in coordinates],
        "freedom": [label for label, _ in freedoms],
        "output": [label for label, _ in outputs],
        "row": [],
        "contact": contact_labels(tree.system),
        "state": [label for label, _ in state_labels(tree.system)],
        "actuator": [label for label, _ in effort_labels(tree.system)],
        "counter": [],
    }
    units = {
        "joint_position": [unit for _, unit in coordinates],
        "joint_velocity": [f"{unit}/s" for _, unit in freedoms],
        "joint_acceleration": [f"{unit}/s^2" for _, unit in freedoms],
        "reaction": wrench,
        "transmitted": wrench,
        "measure": [unit for _, unit in outputs],
        "multiplier": [],
        "effort": [unit for _, unit in effort_labels(tree.system)],
        "force_state": [unit for _, unit in state_labels(tree.system)],
        "followed": [],
    }
    return Labels(dims, units)


def spring_counters(tree: Tree) -> list[tuple[str, str]]:
    """The angles that a tree counts as states: see ``tree.wound``."""
    return [(name, TURNS) for name in wound_across(tree.system, tree.compiled.forest)]


def coordinate_labels(tree: Tree, joint: str) -> list[Label]:
    """Label and unit of each coordinate of a joint, or of the floating body `joint`; of a constraint only none."""
    return _of_joint(joint, joint_class(tree.system.joints.get(joint)).coordinate_labels)


def velocity_labels(tree: Tree, joint: str) -> list[Label]:
    """The same of each degree of freedom: the unit is that of which its velocity is so many per second."""
    return _of_joint(joint, joint_class(tree.system.joints.get(joint)).velocity_labels)


PER = {"joint_position": "", "joint_velocity": "/s", "joint_acceleration": "/s^2"}


def labels_of_joint(tree: Tree, name: str, joint: str) -> list[Label]:
    """Label and unit of each coordinate of a joint, of its velocities or accelerations. InputError where it has none."""
    own = (coordinate_labels if name == "joint_position" else velocity_labels)(tree, joint)
    if not own:
        raise InputError(f"joint {joint!r} has no coordinates; joints: {', '.join(tree.joint_names)}")
    return [(label, unit + PER[name]) for label, unit in own]


def _of_joint(joint: str, labels: tuple[Label, ...]) -> list[Label]:
    return [(f"{joint}.{name}" if name else joint, unit) for name, unit in labels]
