"""From URDF to a scene and back: the same robot, and what is lost is said."""

from __future__ import annotations

import json
import shlex
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from results_lab import menagerie
from test_urdf_robots import LOADED

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.describe import to_dict
from nexdyn.io.scene import load_scene
from nexdyn.io.urdf import load_urdf
from nexdyn.io.urdf_passed import passed_over
from nexdyn.io.urdf_writer import dump_urdf
from nexdyn.spatial.rotations import rotation_matrix

EVERYTHING = Path(__file__).parent / "data" / "urdf" / "everything.urdf"


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nx.NexDynWarning)
        yield


def assert_same(a: Any, b: Any, where: str = "") -> None:
    """Plain data that are equal but for rounding; a quaternion may have the other sign."""
    if isinstance(a, dict) and isinstance(b, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}.{key}")
    elif where.endswith("orientation"):
        np.testing.assert_allclose(
            rotation_matrix(np.array(a)), rotation_matrix(np.array(b)), atol=1e-12, err_msg=where
        )
    elif isinstance(a, list) and isinstance(b, list) and any(isinstance(x, dict | list) for x in a):
        assert len(a) == len(b), where
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{where}[{k}]")
    elif isinstance(a, str | bool) or a is None:
        assert a == b, where
    else:
        np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12, err_msg=where)


def with_every_orientation(data: dict[str, Any]) -> dict[str, Any]:
    """Shapes and bodies with the orientation that is left out where it is the identity, which rounding may not be."""
    for body in data["bodies"].values():
        for thing in (body, *body.get("shapes", ()), *body.get("collision", ())):
            thing["orientation"] = thing.pop("orientation", [1.0, 0.0, 0.0, 0.0])
            thing["position"] = thing.pop("position", [0.0, 0.0, 0.0])
    return data


# --- URDF to scene, URDF to URDF ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", LOADED, ids=lambda path: path.name)
def test_a_robot_comes_back_from_a_scene_and_from_a_urdf(path: Path, tmp_path: Path) -> None:
    robot = load_urdf(path)
    nx.save_scene(robot, tmp_path / "robot.yaml")
    assert to_dict(load_scene(tmp_path / "robot.yaml")) == to_dict(robot)
    lost = nx.save_urdf(robot, tmp_path / "robot.urdf")
    assert all(what.startswith("places of meshes") for what in lost)
    again = load_urdf(tmp_path / "robot.urdf", package_dirs=path.parents[4])
    assert_same(with_every_orientation(to_dict(robot)), with_every_orientation(to_dict(again)))


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_every_part_of_a_urdf_comes_back(tmp_path: Path, base: Any) -> None:
    robot = load_urdf(EVERYTHING, base=base)
    lost = nx.save_urdf(robot, tmp_path / "robot.urdf")
    assert any("base='free'" in what for what in lost) == (base == "free")
    again = load_urdf(tmp_path / "robot.urdf", base=base, package_dirs="/")
    assert_same(with_every_orientation(to_dict(robot)), with_every_orientation(to_dict(again)))


@pytest.mark.parametrize("name", ["ur5_robot.urdf", "talos_full_v2.urdf", "panda.urdf"])
def test_pinocchio_reads_the_same_robot_from_what_is_written(name: str, tmp_path: Path) -> None:
    path = next(path for path in LOADED if path.name == name)
    nx.save_urdf(load_urdf(path), tmp_path / "robot.urdf")
    given, written = (pin.buildModelFromUrdf(str(p)) for p in (path, tmp_path / "robot.urdf"))
    assert list(given.names) == list(written.names)
    q = pin.randomConfiguration(given, -np.ones(given.nq), np.ones(given.nq))
    M = [pin.crba(model, model.createData(), q) for model in (given, written)]
    np.testing.assert_allclose(M[1], M[0], rtol=1e-12, atol=1e-12 * np.abs(M[0]).max())
    np.testing.assert_array_equal(given.lowerPositionLimit, written.lowerPositionLimit)
    np.testing.assert_array_equal(given.effortLimit, written.effortLimit)


def test_what_a_scene_leaves_of_a_urdf_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.urdf").write_text(
        """<robot name="a"><link name="b"><collision/><collision/><visual><geometry><box size="1 1 1"/></geometry>
        <material name="m"><texture filename="t.png"/></material></visual></link>
        <gazebo><plugin/></gazebo><transmission name="t"/><hardware/></robot>"""
    )
    assert sorted(passed_over(tmp_path / "a.urdf")) == [
        "<hardware>: 1", "settings of Gazebo: 1", "textures: 1", "transmissions: 1"
    ]  # fmt: skip
    assert passed_over(EVERYTHING) == []


# --- scene to URDF --------------------------------------------------------------------------------------------------


def arm(**joint: Any) -> nx.System:
    """A body off its hinge, turned against it, on another one that is not at the origin."""
    system = nx.System("arm")
    system.add_body(
        "base", mass=2.0, inertia=(0.1, 0.2, 0.25), position=(0.1, 0.2, 0.3), orientation=(0.5, 0.5, 0.5, 0.5)
    )
    system.add_body(
        "tip", mass=1.0, inertia=(0.02, 0.03, 0.04, 0.001, 0.002, 0.003), com=(0.1, 0, 0.05), position=(0.5, -0.1, 0.2),
        orientation=(0.6, 0.0, 0.8, 0.0), shapes=[nx.Box((0.1, 0.2, 0.3), position=(0, 0.1, 0)), nx.Capsule(0.05, 0.3)],
    )  # fmt: skip
    system.add_joint(nx.Revolute("shoulder", "ground", "base", at=(0, 0.1, 0.3), axis=(0.6, 0, 0.8)))
    kind = joint.pop("kind", nx.Revolute)
    system.add_joint(kind("elbow", "base", "tip", at=(0.3, 0.3, 0.1), axis=(0.0, 0.6, 0.8), **joint))
    return system


def coms(tree: nx.Tree, q: np.ndarray) -> dict[str, np.ndarray]:
    """Centre of mass of every body that has one, in the world."""
    found = {}
    R, p = tree.pose(q)
    for k, name in enumerate(tree.body_names):
        body = tree.system.bodies[name].resolved(tree.system.values)
        if body.mass:
            found[name] = p[k] + R[k] @ body.com
    return found


@pytest.mark.parametrize(
    ("kind", "freedoms"),
    [
        (nx.Revolute, ["elbow"]), (nx.Prismatic, ["elbow"]), (nx.Fixed, []),
        (nx.Cylindrical, ["elbow_angle", "elbow_z"]), (nx.Universal, ["elbow_angle1", "elbow_angle2"]),
        (nx.Cartesian, ["elbow_x", "elbow_y", "elbow_z"]), (nx.Helical, ["elbow"]), (nx.Planar, ["elbow"]),
    ],
    ids=lambda x: x.__name__ if isinstance(x, type) else "",
)  # fmt: skip
def test_what_is_written_moves_as_the_system_does(
    kind: type[nx.Joint], freedoms: list[str], tmp_path: Path, rng: np.random.Generator
) -> None:
    more = {"pitch": 0.3} if kind is nx.Helical else {}
    system = arm(kind=kind, **more)
    lost = nx.save_urdf(system, tmp_path / "arm.urdf")
    again = nx.load(tmp_path / "arm.urdf")
    given, written = nx.Tree(system), nx.Tree(again)
    assert list(written.joint_names) == ["shoulder", *freedoms] and written.nq == given.nq
    for _ in range(3):
        q = rng.uniform(-1.0, 1.0, given.nq)
        expected, found = coms(given, q), coms(written, q)
        assert set(found) == set(expected)
        for name in expected:
            np.testing.assert_allclose(found[name], expected[name], atol=1e-12)
        np.testing.assert_allclose(written.crba(q), given.crba(q), atol=1e-12)
    assert any("several in a row" in what and "elbow" in what for what in lost) == (
        len(freedoms) > 1 or kind is nx.Helical
    )
    assert any(what.startswith("capsules") for what in lost)


def test_a_floating_joint_is_written_with_its_frame(tmp_path: Path, rng: np.random.Generator) -> None:
    system = arm(kind=nx.Free)
    nx.save_urdf(system, tmp_path / "arm.urdf")
    given, written = nx.Tree(system), nx.Tree(nx.load(tmp_path / "arm.urdf"))
    q = rng.uniform(-1.0, 1.0, given.nq)
    q[1:5] /= np.linalg.norm(q[1:5])
    for name, com in coms(given, q).items():
        np.testing.assert_allclose(coms(written, q)[name], com, atol=1e-12)


def test_attributes_of_joints_are_written_or_named_as_lost(tmp_path: Path) -> None:
    system = arm(
        limits=(-1.0, None),
        damping=0.5,
        friction=0.1,
        effort_limit=30.0,
        velocity_limit=2.0,
        stiffness=3.0,
        armature=0.1,
        q0=0.2,
    )
    lost = nx.save_urdf(system, tmp_path / "arm.urdf")
    elbow = nx.load(tmp_path / "arm.urdf").joint("elbow").resolved({})
    given = system.joint("elbow").resolved({})
    for attribute in ("lower", "upper", "damping", "friction", "effort_limit", "velocity_limit"):
        np.testing.assert_array_equal(getattr(elbow, attribute), getattr(given, attribute))
    for what in ("stiffness of joints: elbow", "armature of joints: elbow", "initial state of joints: elbow"):
        assert what in lost


def test_all_that_has_no_word_in_urdf_is_lost_by_name() -> None:
    system = menagerie(pushed=True)
    system = system.with_parameters({"gravity": (0, -9.81, 0)})
    with pytest.raises(
        nx.InputError, match=r"joint 'spherical' is spherical, which URDF does not have.*fixed, revolute"
    ):
        dump_urdf(system)
    system = arm()
    system.parameter("L", 2.0)
    system.add_marker("end", "tip")
    system.add_measure(nx.PointPosition("where", "end", "ground"))
    system.add_force(nx.AppliedForce("push", "tip", (1, 0, 0)))
    system = system.with_parameters({"gravity": (0, -9.81, 0)})
    said = "; ".join(dump_urdf(system).lost)
    for what in (
        "forces: push", "markers: end", "measures: where", "names of parameters, whose values are written: L",
        "gravity, which is (0, 0, -9.81) m/s² wherever a URDF is read: (0, -9.81, 0)", "frames of bodies",
    ):  # fmt: skip
        assert what in said


@pytest.mark.parametrize(
    ("demo", "message"),
    [("four-bar", "'four-bar' cannot be a URDF, which has trees only: joint 'D' closes the loop")],
)
def test_a_loop_is_refused_with_its_joint(demo: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(nx.InputError) as caught:
        nx.save_urdf(nx.load(demo), tmp_path / "a.urdf")
    assert message in str(caught.value) and not list(tmp_path.iterdir())


def test_an_empty_system_is_refused() -> None:
    with pytest.raises(nx.InputError, match="'empty' has no body"):
        dump_urdf(nx.System("empty"))


def test_names_are_kept_whatever_they_hold(tmp_path: Path) -> None:
    system = nx.System("a < b & c")
    system.add_body('"world"', mass=1.0, inertia=(1, 1, 1))
    system.add_body("world", mass=1.0, inertia=(1, 1, 1))
    for name in ('"world"', "world"):
        system.add_joint(nx.Revolute(f"of {name}", "ground", name, axis=(0, 1, 0)))
    nx.save_urdf(system, tmp_path / "a.urdf")
    again = nx.load(tmp_path / "a.urdf")
    assert again.name == system.name and {'"world"', "world"} <= set(again.bodies)
    assert [joint for joint in again.joints if joint.startswith("of")] == list(system.joints)


def test_meshes_are_named_so_that_the_file_finds_them(tmp_path: Path) -> None:
    package = tmp_path / "robots" / "hand"
    (package / "meshes").mkdir(parents=True)
    (package / "urdf").mkdir()
    mesh = package / "meshes" / "palm.stl"
    mesh.write_bytes(b"")
    system = nx.System("hand")
    system.add_body("palm", mass=1.0, inertia=(1, 1, 1), shapes=nx.Mesh(str(mesh)))
    for folder in (package / "urdf", package, tmp_path):
        assert not [what for what in nx.save_urdf(system, folder / "hand.urdf") if "mesh" in what]
        nx.save_scene(system, folder / "hand.yaml")
        assert str(tmp_path) not in (folder / "hand.yaml").read_text() + (folder / "hand.urdf").read_text()
        for file in ("hand.urdf", "hand.yaml"):
            (shape,) = nx.load(folder / file).bodies["palm"].shapes
            assert Path(shape.path).resolve() == mesh.resolve()


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def nexdyn(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEXDYN_DEBUG", raising=False)

    def call(line: str) -> tuple[int, str, str]:
        return (main(shlex.split(line)), *capsys.readouterr())

    return call


def test_convert_writes_and_says_what_is_lost(nexdyn: Any, tmp_path: Path) -> None:
    text = EVERYTHING.read_text(encoding="utf-8").replace("</robot>", "<transmission name='t'/></robot>")
    (tmp_path / "geared.urdf").write_text(text, encoding="utf-8")
    code, out, _ = nexdyn("convert geared.urdf robot.yaml")
    assert code == 0 and out.startswith("written  robot.yaml: ") and "\nlost     transmissions: 1\n" in out
    assert nx.load(tmp_path / "robot.yaml").bodies
    code, out, _ = nexdyn("convert hinge-chain chain.urdf --set L=0.3 --json")
    data = json.loads(out)
    assert code == 0 and data["files_written"] == ["chain.urdf"] and data["bodies"] == 6
    assert any(what.startswith("capsules") for what in data["lost"]) and "its description" in data["lost"]
    assert "how it is simulated: t_end, method, output_every" in data["lost"]
    assert nx.load(tmp_path / "chain.urdf").gravity.tolist() == [0.0, 0.0, -9.81]


def test_convert_keeps_how_a_scene_is_simulated(nexdyn: Any, tmp_path: Path) -> None:
    assert nexdyn("convert hinge-chain chain.yaml --set L=0.3")[:2] == (0, "written  chain.yaml: 6 bodies, 6 joints\n")
    from nexdyn.io.scene import read_scene

    demo, scene = nx.load("hinge-chain"), read_scene(tmp_path / "chain.yaml")
    assert scene.system.values["L"] == 0.3 and scene.simulation["t_end"] == 10.0 and scene.description
    assert to_dict(scene.system.with_parameters({"L": demo.values["L"]})) == to_dict(demo)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("convert hinge-chain a.sdf", "TARGET a.sdf must end in .yaml or .yml or .urdf, like a.yaml"),
        ("convert hing-chain a.urdf", "did you mean 'hinge-chain'?"),
        ("convert four-bar a.urdf", "cannot be a URDF, which has trees only: joint 'D' closes the loop"),
        ("convert hinge-chain", "convert needs a TARGET."),
        ("convert hinge-chain nowhere/a.urdf", "there is no folder 'nowhere'"),
        ("convert hinge-chain a.urdf --bas free", "Did you mean --base?"),
    ],
)
def test_what_cannot_be_converted_is_said_and_nothing_is_written(
    nexdyn: Any, tmp_path: Path, line: str, message: str
) -> None:
    code, out, err = nexdyn(line)
    assert code == 2 and message in err and not out and not list(tmp_path.iterdir())


def test_convert_does_not_replace_what_it_reads(nexdyn: Any, tmp_path: Path) -> None:
    assert nexdyn("convert hinge-chain a.yaml")[0] == 0
    before = (tmp_path / "a.yaml").read_bytes()
    code, _, err = nexdyn("convert a.yaml a.yaml")
    assert code == 2 and "TARGET a.yaml would replace the model" in err
    assert (tmp_path / "a.yaml").read_bytes() == before
