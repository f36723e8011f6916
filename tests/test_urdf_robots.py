"""The 69 URDFs of example-robot-data, which nobody here wrote, against Pinocchio."""

from __future__ import annotations

import importlib.metadata
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pin_oracle import PinOracle, composite_inertia, forward_kinematics, moving_joints

from nexdyn.errors import FileError, NexDynWarning
from nexdyn.io.urdf import load_urdf


def robots() -> list[Path]:
    files = importlib.metadata.files("example-robot-data") or []
    return sorted(Path(str(f.locate())).resolve() for f in files if f.suffix == ".urdf")


ROBOTS = robots()
REFUSED = {
    "ur3.urdf": ("robot", "no <link>"),
    "alex_psyonic_hands.urdf": ("joint 'Left_index_q2' <mimic>", "no joint 'index_q1'; did you mean 'Left_index_q1'?"),
}
LOADED = [path for path in ROBOTS if path.name not in REFUSED]

every_robot = pytest.mark.parametrize("path", ROBOTS, ids=lambda path: path.name)
every_good_robot = pytest.mark.parametrize("path", LOADED, ids=lambda path: path.name)


def quietly(path: Path, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NexDynWarning)
        return load_urdf(path, **options)


def test_there_are_69_robots_to_be_judged() -> None:
    assert len(ROBOTS) == 69 and len(LOADED) == 67


@every_robot
def test_every_robot_loads_or_is_refused_with_file_element_and_reason(path: Path) -> None:
    if path.name not in REFUSED:
        assert quietly(path).bodies
        return
    element, reason = REFUSED[path.name]
    with pytest.raises(FileError, match=path.name) as caught:
        quietly(path)
    assert caught.value.file == str(path) and caught.value.line
    assert element in caught.value.element and reason in str(caught.value)


def test_a_robot_refused_for_its_mimic_joints_loads_without_them() -> None:
    path = next(path for path in ROBOTS if path.name == "alex_psyonic_hands.urdf")
    assert len(moving_joints(quietly(path, mimic=False))) == 39


@every_good_robot
def test_mass_and_moving_joints_are_pinocchios(path: Path) -> None:
    system = quietly(path, mimic=False)
    oracle = PinOracle(path, system)
    assert oracle.total_mass() == pytest.approx(sum(body.mass for body in system.bodies.values()), rel=1e-12, abs=1e-15)
    assert oracle.model.njoints - 1 == len(moving_joints(system))


@every_good_robot
def test_followers_are_the_moving_joints_that_the_file_says_mimic(path: Path) -> None:
    joints = ET.parse(path).getroot().findall("joint")
    followers = {j.get("name") for j in joints if j.get("type") != "fixed" and j.find("mimic") is not None}
    system = quietly(path)
    assert {name for name, joint in system.joints.items() if joint.mimic is not None} == followers
    for name in followers:
        assert system.joint(system.joint(name).mimic.joint).mimic is None


@every_good_robot
def test_zero_is_the_described_pose(path: Path) -> None:
    system = quietly(path, mimic=False)
    names = moving_joints(system)
    oracle = PinOracle(path, system)
    poses = forward_kinematics(system, names, oracle.neutral())
    for name, body in system.bodies.items():
        described = body.pose({})
        for R, p in (poses[name], oracle.place(oracle.neutral(), "ground" if name == "ground_link" else name)):
            np.testing.assert_allclose(R, described[0], atol=1e-12)
            np.testing.assert_allclose(p, described[1], atol=1e-12)


@every_good_robot
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_moved_robots_are_where_pinocchio_has_them(path: Path, base: str, rng: np.random.Generator) -> None:
    system = quietly(path, base=base)
    oracle = PinOracle(path, system, base=base)
    q = oracle.random_state(rng)[0]
    poses = forward_kinematics(system, oracle.joint_names, q)
    for name in system.bodies:
        R, p = oracle.place(q, "ground" if name == "ground_link" else name)
        np.testing.assert_allclose(poses[name][0], R, atol=1e-12)
        np.testing.assert_allclose(poses[name][1], p, atol=1e-12)


@every_good_robot
def test_centre_of_mass_and_inertia_of_the_whole_are_pinocchios(path: Path, rng: np.random.Generator) -> None:
    system = quietly(path, base="free")
    oracle = PinOracle(path, system, base="free")
    q = oracle.random_state(rng)[0]
    poses = forward_kinematics(system, oracle.joint_names, q)
    mass, com, inertia = composite_inertia(system, poses)
    expected = oracle.composite_inertia(q)
    assert mass == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(com, expected[1], atol=1e-12)
    np.testing.assert_allclose(inertia, expected[2], rtol=0, atol=1e-11 * np.abs(inertia).max())


def test_unphysical_inertias_are_named_in_one_warning_and_refused_when_strict() -> None:
    path = next(path for path in ROBOTS if path.name == "romeo_small.urdf")
    with pytest.warns(NexDynWarning) as caught:
        load_urdf(path)
    (warning,) = (str(w.message) for w in caught)
    assert "link 'RShoulderYawLink' (line 548)" in warning and "link 'RElbowYawLink'" in warning
    with pytest.raises(FileError, match=r"romeo_small\.urdf:\d+:\d+: link 'R\w+YawLink' <inertial>: principal moments"):
        load_urdf(path, strict=True)


def test_missing_meshes_of_a_file_are_one_warning() -> None:
    path = next(path for path in ROBOTS if path.name == "romeo_laas_small.urdf")
    with pytest.warns(NexDynWarning) as caught:
        load_urdf(path)
    (meshes,) = (str(w.message) for w in caught if "mesh" in str(w.message))
    assert "link 'torso'" in meshes and "file:///usr/Romeo" in meshes


@every_good_robot
def test_meshes_are_found_where_they_lie(path: Path) -> None:
    if path.name == "romeo_laas_small.urdf":
        pytest.skip("its meshes are on somebody's machine")
    for body in quietly(path).bodies.values():
        for shape in body.shapes:
            assert not hasattr(shape, "path") or Path(shape.path).is_file()
