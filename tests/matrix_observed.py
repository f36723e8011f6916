"""What a way says of a motion, in groups, for the matrix of attributes × ways.

    observed(result, 0)     poses, velocities, accelerations, reactions, efforts, forces, powers, energies and measures at a sample

The systems of the matrix have no redundant constraints, so that all reactions are unique (`test_matrix.py` holds that). Where frames of
joints are described turned, components change with them: a change of the frames shows in reactions even where nothing moves otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

import nexdyn as nx
from nexdyn.results.forces import along
from nexdyn.results.quantities import ENERGIES
from nexdyn.simulation.needs import needs_rows
from nexdyn.spatial.rotations import rotation_matrix

Observed = dict[str, np.ndarray]
OF_BODIES = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
FIRST = "first "
"""What groups at the start are called by, before their name."""


class Group(NamedTuple):
    """How many times the tolerance of a way a group may miss a change, and why; seen: it counts where the reference changes by this part of
    its size."""

    times: float
    why: str
    seen: float = 1e-3


KEPT: dict[str, Group] = {
    "pose": Group(1.0, "what rates miss, over the time of the run"),
    "velocity": Group(1.0, "the state itself, which the tolerance of a way is given for"),
    "acceleration": Group(1.0, "a function of the state and of forces: what these miss, as a part of what they change"),
    "reactions": Group(1.0, "linear in accelerations and forces, with inertias that are alike under all ways"),
    "efforts": Group(
        1.0, "of drivers and couplings, as reactions; a tree eliminates couplings and tells no effort of theirs"
    ),
    "actuators": Group(1.0, "efforts of forces in joints: their law at the state"),
    "forces": Group(1.0, "laws at the state, whose slopes are alike under all ways"),
    "powers": Group(
        2.0, "products of a force and a velocity, which both miss a part; one number may come out alike by chance", 1e-2
    ),
    "energies": Group(2.0, "squares of velocities and deflections, whose parts count twice"),
    "measures": Group(1.0, "functions of pose and velocity"),
}
"""What is compared."""
GROUPS = tuple(f"{first}{group}" for first in ("", FIRST) for group in KEPT)


def part(group: str) -> float:
    """How many times the tolerance of a way the group may miss a change."""
    return KEPT[group.removeprefix(FIRST)].times


def counts(group: str, change: float) -> bool:
    """Whether a change by this part of its size counts."""
    return change >= KEPT[group.removeprefix(FIRST)].seen


def observed(result: nx.Result, row: int = -1, first: str = "") -> Observed:
    """All groups that the system has, at one sample; first: what their names begin with."""
    return {first + group: values[row] for group, values in everything(result).items()}


def reported(report: Any) -> Observed:
    """The groups that a report of `assemble` or `equilibrium` has."""
    system = report.model.system

    def of(*what: str) -> list[np.ndarray]:
        return [getattr(report, x)(body) for x in what for body in system.bodies]

    turned = [rotation_matrix(report.orientation(body)).ravel() for body in system.bodies]
    couplings = system.couplings if needs_rows(system) else ()
    efforts = [
        np.atleast_1d(x)
        for name in (*system.drivers, *couplings)
        for of_row, x in report.efforts().items()
        if of_row == name or (name in system.drivers and of_row.startswith(f"{name}."))
    ]
    told = {
        "pose": [*of("position"), *turned],
        "velocity": of("velocity", "angular_velocity"),
        "acceleration": of("acceleration", "angular_acceleration"),
        "reactions": [np.concatenate(report.reaction(joint)[:2]) for joint in system.joints],
        "efforts": efforts,
    }
    return {group: np.concatenate(values) for group, values in told.items() if values}


def everything(result: nx.Result) -> Observed:
    """All groups that the system has, over time (N, …); without labels, which cost more than the runs."""
    system, seen, n = result.system, result.observed, len(result.recording.t)
    dims = seen.labels.dims
    taken = seen.collect([*OF_BODIES, "orientation", "reaction"])

    def of(what: str, axis: str, names: Iterable[str]) -> np.ndarray:
        """A quantity of all bodies or joints, in the order of `names`."""
        place = {name: k for k, name in enumerate(dims[axis])}
        return np.asarray(taken[what][:, [place[name] for name in names]].reshape(n, -1))

    # which no group has, since a quaternion may have either sign
    turned = rotation_matrix(taken["orientation"].reshape(-1, 4)).reshape(taken["rotation"].shape)
    np.testing.assert_allclose(turned, taken["rotation"], atol=1e-12)

    bodies, in_joints = list(system.bodies), [x for x, force in system.forces.items() if force.joint_name is not None]
    acting = [along(seen, system, name)[1] for name in system.forces]
    found = {
        "pose": [of("position", "body", bodies), of("rotation", "body", bodies)],
        "velocity": [of("velocity", "body", bodies), of("angular_velocity", "body", bodies)],
        "acceleration": [of("acceleration", "body", bodies), of("angular_acceleration", "body", bodies)],
        "reactions": [of("reaction", "joint", system.joints)],
        "efforts": [
            -seen.take("multiplier")[:, [k]]
            for x in held(system)
            for k, row in enumerate(dims["row"])
            if is_row(row, x)
        ],
        "actuators": [seen.take("effort")[:, [dims["actuator"].index(x)]] for x in in_joints],
        "forces": [wrenches[:, :, part].reshape(n, -1) for _, wrenches, *_ in acting for part in (1, 0)],
        "powers": [x.reshape(n, -1) for *_, power, energy in acting for x in (power, energy)],
        "energies": [seen.energies[x].reshape(n, -1) for x in ENERGIES],
        "measures": [seen.take("measure")] if system.measures else [],
    }
    return {group: np.concatenate(values, axis=1) for group, values in found.items() if values}


def is_row(row: str, of: str) -> bool:
    """Whether it is a row of a driver or coupling; a whole orientation has three, "driver 'turn' (x)"."""
    return row == of or row.startswith(f"{of} (")


def held(system: nx.System) -> list[str]:
    """The rows whose multipliers are efforts: of drivers, and of couplings where rows hold them."""
    couplings = system.couplings if needs_rows(system) else ()
    return [*(f"driver {name!r}" for name in system.drivers), *(f"coupling {name!r}" for name in couplings)]
