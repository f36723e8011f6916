"""One door for files: scenes, URDF and demos by name; the demos do what they say."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nexdyn.errors import FileError, InputError, UnknownNameError
from nexdyn.front import simulate
from nexdyn.integrate.methods import RungeKutta4
from nexdyn.io.loader import demos, load, load_scene_or_robot
from nexdyn.io.scene import dump_scene, read_scene_text
from nexdyn.joints import Revolute
from nexdyn.model.shapes import Capsule

URDF = '<robot name="arm"><link name="base"/></robot>'


LOOPS = {
    "andrews", "bennett", "bricard", "broken-four-bar", "door", "five-bar", "four-bar", "sarrus", "slider-crank", "stewart",
}  # fmt: skip


def test_every_demo_has_a_name_and_a_line_of_description() -> None:
    rolling = {"bicycle", "cart", "rolling-coin"}
    assert {
        "bouncing-ball",
        "double-pendulum",
        "hinge-chain",
        "implicit-euler",
        "space-robot",
        *LOOPS,
        *rolling,
    } == set(demos())
    assert all(len(line) > 20 and load_scene_or_robot(name).description == line for name, line in demos().items())


@pytest.mark.parametrize("name", demos())
def test_every_demo_says_how_to_simulate_it_and_reads_back(name: str) -> None:
    scene = load_scene_or_robot(name)
    if name != "broken-four-bar":  # which is refused
        assert {"t_end", "method"} <= scene.simulation.keys()
    assert dump_scene(*read_scene_text(dump_scene(*scene[:3]))[:3]) == dump_scene(*scene[:3])


def test_the_hinge_chain_is_that_of_its_specification() -> None:
    scene = load_scene_or_robot("hinge-chain")
    system = scene.system
    assert system.gravity.tolist() == [0.0, 0.0, -9.81]
    assert len(system.bodies) == len(system.joints) == 6
    for body, joint in zip(system.bodies.values(), system.joints.values(), strict=True):
        assert [type(shape) for shape in body.shapes] == [Capsule]
        assert isinstance(joint, Revolute)
        assert joint.axis == (1, 0, 0)
        assert joint.resolved(system.values).damping == 0.5
        assert joint.child is body
    assert scene.simulation["method"] == RungeKutta4(1e-3)


def test_links_of_the_hinge_chain_meet_at_its_hinges() -> None:
    system = load("hinge-chain")
    L = system.values["L"]
    for body, joint in zip(system.bodies.values(), system.joints.values(), strict=True):
        frames = joint.frames(system.values)
        np.testing.assert_allclose(frames.p_BJ, (0, 0, L / 2), atol=1e-15)
        np.testing.assert_allclose(frames.p_AJ, (0, 0, -L / 2 if joint.parent is not system.ground else 0), atol=1e-15)
        assert body.pose(system.values)[0] == pytest.approx(np.eye(3))


def test_the_double_pendulum_demo_moves_as_published() -> None:
    # both links horizontal at rest, uniform rods, m = L = 1; angles from straight down at t = 0.5, 1, 2 s
    published = {
        0.5: (0.4481426259, 1.0419628873),
        1.0: (-1.2077162382, -0.8143910231),
        2.0: (-0.0827583068, 0.4073620749),
    }
    scene = load_scene_or_robot("double-pendulum")
    recorded = simulate(scene.system, **scene.simulation).recording
    for t, (first, second) in published.items():
        q = recorded.q[np.argmin(np.abs(recorded.t - t))]
        assert (q[0], q[0] + q[1]) == pytest.approx((first, second), abs=1e-8)
    assert recorded.q[0] == pytest.approx((math.pi / 2, 0.0))


def test_listing_demos_loads_no_heavy_library() -> None:
    code = (
        "import sys, nexdyn; nexdyn.demos(); "
        "print(*sorted({'numba', 'scipy', 'yaml', 'defusedxml'} & {m.partition('.')[0] for m in sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.parametrize(("name", "text"), [("arm.urdf", URDF), ("arm.URDF", URDF), ("arm.xml", URDF), ("arm", URDF)])
def test_a_robot_is_known_by_its_suffix_or_its_root(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert load(tmp_path / name).name == "arm"
    assert load_scene_or_robot(str(tmp_path / name)).simulation == {}


def test_a_scene_is_known_by_its_suffix(tmp_path: Path) -> None:
    for name in ("s.yaml", "s.yml", "s.YAML"):
        (tmp_path / name).write_text("name: a scene")
        assert load(tmp_path / name).name == "a scene"


@pytest.mark.parametrize("name", ["model.xml", "model.mjcf"])
def test_mjcf_is_refused_by_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("<mujoco/>")
    with pytest.raises(FileError, match="MJCF is not read yet"):
        load(tmp_path / name)


def test_an_unknown_demo_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="no demo or file 'hinge-chan'; did you mean 'hinge-chain'"):
        load("hinge-chan")


def test_a_missing_file_offers_the_nearest_beside_it(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(URDF)
    with pytest.raises(FileError, match=r"robt.urdf: no such file; did you mean '.*robot.urdf'\? demos: andrews"):
        load(tmp_path / "robt.urdf")
    with pytest.raises(FileError, match=r"no such file; there is no folder '.*nowhere'; demos: andrews"):
        load(tmp_path / "nowhere" / "robot.urdf")


@pytest.mark.parametrize("path", [5, None, b"x.yaml", ["a"]])
def test_a_path_is_text(path: object) -> None:
    with pytest.raises(InputError, match="text is needed"):
        load(path)  # type: ignore[arg-type]


def test_what_is_no_model_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("bodies: {}")
    with pytest.raises(FileError, match=r"notes.txt: unknown kind of file; scenes end in .yaml, .yml, robots in .urdf"):
        load(tmp_path / "notes.txt")
    with pytest.raises(FileError, match="a directory or a device"):
        load(tmp_path)
    for name in ("x\0.yaml", "x" * 5000 + ".yaml"):
        with pytest.raises(InputError):
            load(name)


def test_options_of_robots_are_refused_for_scenes() -> None:
    with pytest.raises(InputError, match="base='free' is for robot files"):
        load("hinge-chain", base="free")
    with pytest.raises(InputError, match="mimic=False is for robot files"):
        load("hinge-chain", mimic=False)
