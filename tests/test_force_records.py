"""The record of a force's page names what the force says in its data, in their order, as kernels read it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.forces.actuator import ROWS, Drive, DriveStates
from nexdyn.forces.contact import Seen, seen_in
from nexdyn.forces.contact_data import POINT_DATA, PointData
from nexdyn.forces.joint_friction import Bristle
from nexdyn.forces.joint_stop import Stop
from nexdyn.forces.point_spring import Spring
from nexdyn.forces.tables import ForceEntries, force_tables
from nexdyn.forces.torsion_spring import Twist
from nexdyn.results.contacts import COLUMNS

SAID: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "point spring": (
        nx.PointSpring("f", "a", "b", stiffness=2.0, damping=0.3, length=0.4, force=5.0), Spring,
        {"stiffness": 2.0, "damping": 0.3, "length": 0.4, "force": 5.0},
    ),
    "torsion spring": (
        nx.TorsionSpring("f", "a", "b", stiffness=2.0, damping=0.3, rest=0.4, torque=5.0), Twist,
        {"stiffness": 2.0, "damping": 0.3, "rest": 0.4, "torque": 5.0, "reference": 0.4, "first_angle": 0.4, "path": -1.0},
    ),
    "joint stop": (
        nx.JointStop("f", "j", stiffness=2.0, exponent=1.5, damping=0.3, lower=-1.0, upper=4.0), Stop,
        {"stiffness": 2.0, "exponent": 1.5, "damping": 0.3, "lower": -1.0, "upper": 4.0},
    ),
    "joint friction": (
        nx.JointFriction("f", "j", sliding=1.0, static=2.0, stribeck_speed=3.0, stiffness=4.0, damping=5.0, viscous=6.0, elastic=0.7),
        Bristle,
        {"sliding": 1.0, "static": 2.0, "stribeck": 3.0, "stiffness": 4.0, "damping": 5.0, "viscous": 6.0, "elastic": 0.7},
    ),
    "actuator": (
        nx.PositionActuator(
            "f", "j", kp=1.0, kd=2.0, ki=3.0, effort_limit=4.0, velocity_limit=5.0, knee=0.6, time_constant=7.0, sample_time=8.0
        ),
        Drive,
        {"law": 0.0, "k_p": 1.0, "k_d": 2.0, "k_i": 3.0, "most": 4.0, "fastest": 5.0, "knee": 0.6, "lag": 7.0, "sample": 8.0},
    ),
    "contact": (
        nx.PlaneContact("f", "a", "b", radius=0.2, stiffness=2.0, exponent=1.5, damping=0.3, friction=0.4, friction_speed=0.05,
                        length=0.6, surface_velocity_a=(1.0, 2.0, 3.0), surface_velocity_b=(4.0, 5.0, 0.0)),
        PointData,
        {"stiffness": 2.0, "exponent": 1.5, "damping": 0.3, "mu": 0.4, "friction_speed": 0.05, "radius": 0.2, "half": 0.3,
         "side": 0.0, "runs_a": (1.0, 2.0, 3.0), "runs_b": (4.0, 5.0, 0.0), "ratio": 1.0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SAID)
def test_a_page_reads_by_name_what_its_force_says(kind: str) -> None:
    force, record, said = SAID[kind]
    data = force.data({})
    own = record(data)
    assert {name: getattr(own, name) for name in said} == {name: pytest.approx(x) for name, x in said.items()}
    behind = {Drive: "two functions of time"}.get(record, "")
    assert len(data) == record.columns or (behind and len(data) > record.columns == ROWS)


def test_a_contact_says_from_where_on_it_is_apart_behind_all_else() -> None:
    force, _, _ = SAID["contact"]
    far = PointData(force.data({})).far
    assert POINT_DATA == PointData.columns == PointData.fields["far"].first + 6
    assert far.reach == pytest.approx(0.3 + 0.2) and (far.side, *far.n, far.offset) == (1.0, 0.0, 0.0, 1.0, 0.0)


def test_a_row_of_the_table_of_forces_says_where_data_states_and_bodies_are() -> None:
    system = nx.System("s")
    for name in ("a", "b"):
        system.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
        system.add_joint(nx.Revolute(f"j{name}", "ground", name))
    system.add_force(nx.JointFriction("dry", "jb", sliding=1.0, stiffness=2.0))
    system.add_force(nx.PointSpring("spring", "a", "b", stiffness=2.0))
    system.add_force(nx.PositionActuator("servo", "ja", kp=1.0, sample_time=0.1))
    number, first = {"ground": 0, "a": 1, "b": 2}, {"ja": (0, 0), "jb": (1, 1)}
    tables = force_tables(system, lambda body: (number[body], np.eye(3), np.zeros(3)), first.__getitem__)
    dry, spring, servo = (ForceEntries(tables.index)[e] for e in range(3))
    assert (dry.dof, dry.coordinate, spring.dof, servo.dof) == (1, 1, -1, 0)
    assert (spring.body_a, spring.body_b) == (1, 2)
    assert (dry.first, spring.first, servo.first) == (0, dry.count, dry.count + spring.count)
    assert (dry.state, dry.states, servo.state, servo.states) == (0, 1, 1, DriveStates.columns)
    assert Drive(tables.data, servo.first).sample == 0.1 and servo.first + servo.count == len(tables.data)


def test_columns_of_what_is_recorded_of_contacts_are_views_by_name() -> None:
    table = np.arange(2.0 * 3.0 * Seen.columns).reshape(2, 3, Seen.columns)
    seen = seen_in(table)
    assert np.array_equal(seen.depth, table[..., COLUMNS["penetration"]])
    assert np.array_equal(np.stack(seen.normal, axis=-1), table[..., COLUMNS["contact_direction"]])
    seen.area = 0.0
    assert not table[..., COLUMNS["contact_area"]].any()
