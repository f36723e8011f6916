"""Contacts with the ground from the collision shapes of a URDF: a robot stands on what its file says."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx
from nexdyn.cli import main

FLOOR = {"stiffness": 2e5, "damping": 2.0, "friction": 0.8}
ROBOT = """
<robot name="shapes">
  <link name="base">
    <inertial><mass value="3"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/><geometry><box size="0.4 0.2 0.1"/></geometry></collision>
    <collision><origin xyz="1 0 0" rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.05" length="0.3"/></geometry></collision>
    <collision><geometry><mesh filename="package://none/a.stl"/></geometry></collision>
  </link>
  <link name="foot">
    <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.1"/><geometry><sphere radius="0.03"/></geometry></collision>
    <collision><geometry><cylinder radius="0.1" length="0.05"/></geometry></collision>
  </link>
  <joint name="ankle" type="fixed"><parent link="base"/><child link="foot"/><origin xyz="0 0 -0.2"/></joint>
</robot>
"""


@pytest.fixture
def shapes(tmp_path: Path) -> Path:
    path = tmp_path / "shapes.urdf"
    path.write_text(ROBOT)
    return path


def test_shapes_become_the_contacts_that_they_say(shapes: Path) -> None:
    with pytest.warns(
        nx.NexDynWarning, match=r"no contact with a plane has, left out: link 'base' \(line \d+\): <mesh>"
    ):
        robot = nx.load(shapes, base="free", contacts=FLOOR)
    corners = [np.array(force.anchor_a) for name, force in robot.forces.items() if "corner" in name]
    assert_allclose(sorted(map(tuple, np.round(corners, 12))), sorted(
        (x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (0.05, 0.15)
    ), atol=1e-12)  # fmt: skip
    assert all(robot.force(name).radius == 0.0 for name in robot.forces if "corner" in name)
    rod = robot.force("base ground")
    assert (rod.radius, rod.length, rod.anchor_a) == (0.05, pytest.approx(0.2), (1.0, 0.0, 0.0))
    assert_allclose(rod.axis, [1.0, 0.0, 0.0], atol=1e-12)
    assert (robot.force("foot ground").radius, robot.force("foot ground").length) == (0.03, 0.0)
    assert (robot.force("foot ground 2").radius, robot.force("foot ground 2").length) == (0.1, 0.0)
    assert all(force.stiffness == 2e5 and force.friction == 0.8 for force in robot.forces.values())
    chosen = nx.load(shapes, base="free", contacts=FLOOR | {"links": ["f*"]})
    assert list(chosen.forces) == ["foot ground", "foot ground 2"]
    assert not nx.load(shapes, base="free").forces


@pytest.mark.parametrize(
    ("contacts", "message"),
    [
        ({"stifness": 1e5}, "no key of contacts 'stifness'; did you mean 'stiffness'"),
        ({"friction": 1.0}, "contacts have no stiffness; write"),
        ({"stiffness": 1e5, "links": "toe"}, "no link of contacts 'toe'"),
        ({"stiffness": 1e5, "links": 3}, "links of contacts is 3; names or patterns"),
        ({"stiffness": -1.0, "links": "foot"}, r"shapes\.urdf:11:5.*stiffness of force 'foot ground' is -1"),
        (2e5, r"contacts is 200000\.0; what they are made of is needed"),
    ],
)
def test_wrong_contacts_are_refused_by_name(shapes: Path, contacts: Any, message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        nx.load(shapes, base="free", contacts=contacts)


def test_with_a_foundation_shapes_touch_as_they_are(shapes: Path) -> None:
    law = {"foundation": 1e6, "damping": 5.0, "friction": 0.4}
    robot = nx.load(shapes, base="free", contacts=law | {"links": "foot"}, strict=False)
    assert sorted({force.kind for force in robot.forces.values()}) == ["ball_contact", "round_contact"]
    contact = robot.contacts["ground contact"]
    assert (contact.foundation_b, contact.damping, contact.friction) == (1e6, 5.0, 0.4)
    for wrong, message in (
        ({"stiffness": 1e5}, "no key of contacts 'stiffness'"),
        ({"radius": 1.0}, "no key of contacts 'radius'"),
    ):
        with pytest.raises(nx.InputError, match=message):
            nx.load(shapes, base="free", contacts=law | wrong)


def test_contacts_are_for_robots(tmp_path: Path) -> None:
    with pytest.raises(nx.InputError, match="contacts are for robot files"):
        nx.load("four-bar", contacts=FLOOR)


def test_the_command_line_gives_them_and_a_scene_keeps_them(shapes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = shapes.with_suffix(".yaml")
    options = ["--base", "free", "--contacts", "stiffness=2e5,damping=2,friction=0.8,links=foot"]
    assert main(["convert", str(shapes), str(scene), *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lost"] == []
    assert list(nx.load(scene).forces) == ["foot ground", "foot ground 2"]
    assert main(["convert", str(shapes), str(scene), "--contacts", "stiffness"]) == 2
    assert "write it like stiffness=2e5" in capsys.readouterr().err


def test_a_quadruped_rests_on_the_feet_of_its_own_file_which_bear_its_weight() -> None:
    files = importlib.metadata.files("example-robot-data") or []
    path = next(str(file.locate()) for file in files if file.name == "a1.urdf")
    robot = nx.load(path, base="free", contacts=FLOOR | {"links": "*_foot"})
    tree = nx.Tree(robot)
    bent = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}
    legs = {name: bent[name.split("_")[1]] for name in tree.joint_names[1:]}
    for name, angle in legs.items():
        robot.add_force(nx.PositionActuator(f"{name} motor", name, kp=200.0, kd=5.0, target=angle))
    guess = {**legs, tree.joint_names[0]: (1, 0, 0, 0, 0, 0, 0.4 * np.cos(0.8) + 0.02)}
    rest = nx.equilibrium(robot, q0=guess)
    feet = nx.simulate(robot, 2e-5, nx.RungeKutta4(2e-5), initial=rest.report).contacts().isel(time=0)
    assert feet.sizes["contact"] == 4
    assert_allclose(feet.force.sum("contact").values, [0.0, 0.0, tree.mass * 9.81], atol=1e-5)
    assert float(feet.normal.min()) > 20.0
    # the moments too: the feet press about the centre of mass
    moment = np.cross(feet.point.values, feet.force.values).sum(axis=0)
    centre = sum(body.resolved(robot.values).mass * (
        rest.position(name) + _turned(rest.orientation(name), body.resolved(robot.values).com)
    ) for name, body in robot.bodies.items()) / tree.mass  # fmt: skip
    assert_allclose(moment, np.cross(centre, [0.0, 0.0, tree.mass * 9.81]), atol=1e-5)


def test_a_quadruped_stands_on_a_slope_under_hht_with_the_frames_without_mass_of_its_file() -> None:
    """Of 10°: in a hundred steps, by less than 1 µm/s; its weight is the sum of the feet, and its frames press on nothing."""
    files = importlib.metadata.files("example-robot-data") or []
    path = next(str(file.locate()) for file in files if file.name == "a1.urdf")
    phi = np.radians(10.0)
    normal = np.array([np.sin(phi), 0.0, np.cos(phi)])
    floor = FLOOR | {"links": "*_foot", "normal": tuple(normal), "friction_speed": 1e-7}
    robot = nx.load(path, base="free", contacts=floor)
    tree = nx.Tree(robot)
    empty = [name for name, body in robot.bodies.items() if body.resolved(robot.values).mass == 0.0]
    assert sorted(empty) == ["FL_thigh_shoulder", "FR_thigh_shoulder", "RL_thigh_shoulder", "RR_thigh_shoulder", "base"]
    bent = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}
    legs = {name: bent[name.split("_")[1]] for name in tree.joint_names[1:]}
    for name, angle in legs.items():
        robot.add_force(nx.PositionActuator(f"{name} motor", name, kp=200.0, kd=5.0, target=angle))
    base = (np.cos(phi / 2), 0, np.sin(phi / 2), 0, *(0.4 * np.cos(0.8) + 0.02) * normal)
    result = nx.simulate(robot, 6.0, nx.HHT(rtol=2e-3), q0={**legs, tree.joint_names[0]: base})
    t, x = result.t.values, result.position("trunk").values
    k = int(np.searchsorted(t, 3.0))
    assert np.linalg.norm(x[-1] - x[k]) / (t[-1] - t[k]) < 1e-6
    feet = result.contacts().isel(time=-1)
    assert_allclose(feet.force.sum("contact").values, [0.0, 0.0, tree.mass * 9.81], atol=2e-3)
    assert (feet.tangential < 0.8 * feet.normal).all()
    assert np.abs(result.reaction("FL_hip_fixed").values[-1]).max() < 1e-9
    assert result.recording.steps < 500


@pytest.mark.parametrize("method", [nx.HHT(dt=1e-3), nx.Projection(dt=1e-3)], ids=lambda m: m.name)
def test_a_frame_without_mass_changes_no_motion_and_hands_on_what_acts_on_it(method: Any) -> None:
    """A two-link arm with frames on its links, beside the same with the force on the link itself."""

    def arm(frames: bool) -> nx.System:
        system = nx.System("arm", gravity=(0, -9.81, 0))
        for i in (1, 2):
            system.add_body(f"link{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(i - 0.5, 0, 0))
            parent = system.ground if i == 1 else "link1"
            system.add_joint(nx.Revolute(f"hinge{i}", parent, f"link{i}", at=(i - 1, 0, 0), axis=(0.1 * i, 0, 1)))
        pushed = {"force": (0.5, 2.0, 1.0)}
        if frames:
            for i in (1, 2):
                system.add_body(f"frame{i}", mass=0.0, inertia=(0, 0, 0), position=(i, 0.1, 0.2))
                system.add_joint(nx.Fixed(f"weld{i}", f"link{i}", f"frame{i}", at=(i, 0.1, 0.2)))
            system.add_body("third", mass=0.0, inertia=(0, 0, 0), position=(0.5, 0, 0.1))
            system.add_joint(nx.Fixed("weld3", "link1", "third", at=(0.5, 0, 0)))
            system.add_force(nx.AppliedForce("push", "frame2", **pushed))
        else:
            system.add_force(nx.AppliedForce("push", "link2", at=(2, 0.1, 0.2), **pushed))
        return system

    with_frames, without = (nx.simulate(arm(frames), 1.0, method) for frames in (True, False))
    # of 2 m and of 20 N: what Newton's iteration of HHT leaves, which ends elsewhere with more bodies
    assert_allclose(with_frames.position("link2").values, without.position("link2").values, atol=5e-9)
    assert_allclose(with_frames.reaction("hinge1").values, without.reaction("hinge1").values, atol=1e-4)
    assert_allclose(with_frames.reaction("weld1").values, 0.0, atol=1e-9)
    load = with_frames.reaction("weld2").values[-1]
    assert_allclose(np.linalg.norm(load[:3]), np.linalg.norm([0.5, 2.0, 1.0]), rtol=1e-9)
    assert_allclose(load[3:], 0.0, atol=1e-9)


def _turned(q: np.ndarray, p: np.ndarray) -> np.ndarray:
    t = 2.0 * np.cross(q[1:], p)
    return p + q[0] * t + np.cross(q[1:], t)
