"""What a URDF says is what the system holds."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pin_oracle import PinOracle, composite_inertia, forward_kinematics

from nexdyn.errors import FileError, InputError, NexDynWarning
from nexdyn.io.urdf import load_urdf, read_urdf_text
from nexdyn.spatial.rotations import quaternion, rotation_from_euler_zyx

EVERYTHING = Path(__file__).parent / "data" / "urdf" / "everything.urdf"

MASS = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def robot(links: str, joints: str = "") -> str:
    return f'<robot name="r">\n{links}\n{joints}\n</robot>'


def pair(joint: str, kind: str = "revolute") -> str:
    """Two links and a joint `j` between them; `joint` is what it holds besides parent and child."""
    links = f'<link name="a">{MASS}</link>\n<link name="b">{MASS}</link>'
    return robot(links, f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{joint}</joint>')


def single(content: str) -> str:
    """One link `a`."""
    return robot(f'<link name="a">{content}</link>')


@pytest.fixture(scope="module")
def everything() -> Any:
    with pytest.warns(NexDynWarning, match="slide"):
        return load_urdf(EVERYTHING)


# ── joints ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_joint_type_has_its_kind(everything: Any) -> None:
    assert {name: joint.kind for name, joint in everything.joints.items()} == {
        "root_joint": "fixed", "shoulder": "revolute", "axle": "revolute", "rail": "prismatic", "table": "planar",
        "flight": "free", "knuckle1": "revolute", "knuckle2": "revolute", "knuckle3": "revolute", "bracket": "fixed",
    }  # fmt: skip


def test_gravity_points_down_and_the_name_is_the_robots(everything: Any) -> None:
    assert everything.name == "everything"
    np.testing.assert_array_equal(everything.gravity, (0.0, 0.0, -9.81))


def test_joints_come_a_branch_at_a_time_in_the_order_of_the_file(everything: Any) -> None:
    assert list(everything.joints) == [
        "root_joint", "shoulder", "axle", "knuckle1", "knuckle2", "knuckle3", "bracket", "rail", "table", "flight",
    ]  # fmt: skip


def test_both_frames_of_every_joint_coincide_as_described(everything: Any) -> None:
    for joint in everything.joints.values():
        (R_WA, p_WA), (R_WB, p_WB) = joint.parent.pose({}), joint.child.pose({})
        R_AJ, p_AJ, R_BJ, p_BJ = joint.frames({})
        np.testing.assert_allclose(R_WA @ R_AJ, R_WB @ R_BJ, atol=1e-14)
        np.testing.assert_allclose(p_WA + R_WA @ p_AJ, p_WB + R_WB @ p_BJ, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "axis"),
    [
        ("shoulder", (0, 0.6, 0.8)),
        ("axle", (0, 0, -1)),
        ("rail", (1, 0, 0)),
        ("table", (0, 0, 1)),
        ("flight", (0, 0, 1)),
    ],
)
def test_the_axis_is_z_of_the_joint_frame_in_the_child(everything: Any, name: str, axis: tuple[float, ...]) -> None:
    np.testing.assert_allclose(everything.joint(name).frames({}).R_BJ[:, 2], axis, atol=1e-15)


@pytest.mark.parametrize("name", ["table", "flight", "bracket"])
def test_joints_along_z_have_the_axes_of_the_child(everything: Any, name: str) -> None:
    np.testing.assert_allclose(everything.joint(name).frames({}).R_BJ, np.eye(3), atol=1e-15)


def test_limits_damping_and_friction_are_the_joints(everything: Any) -> None:
    shoulder, axle, rail = (everything.joint(name) for name in ("shoulder", "axle", "rail"))
    assert (shoulder.limits, shoulder.effort_limit, shoulder.velocity_limit) == ((-1.5, 2.0), 50.0, 3.0)
    assert (shoulder.damping, shoulder.friction) == (0.2, 0.1)
    assert (axle.limits, axle.effort_limit, axle.velocity_limit, axle.damping) == (None, 7.0, 20.0, 0.0)
    assert rail.limits == (0.0, 0.3)


def test_a_chain_of_mimics_is_composed(everything: Any) -> None:
    second, third = (everything.joint(name).mimic for name in ("knuckle2", "knuckle3"))
    assert (second.joint, second.multiplier, second.offset) == ("knuckle1", -2.0, 0.1)
    assert (third.joint, third.multiplier, third.offset) == ("knuckle1", -1.0, 0.25)


def test_mimic_false_frees_the_followers() -> None:
    with pytest.warns(NexDynWarning, match="slide"):
        system = load_urdf(EVERYTHING, mimic=False)
    assert all(joint.mimic is None for joint in system.joints.values())


@pytest.mark.parametrize("limit", ["", '<limit effort="1" velocity="1"/>'])
def test_a_joint_without_a_range_is_unlimited_with_a_warning(limit: str) -> None:
    with pytest.warns(NexDynWarning, match=r"<text>: no lower and upper limit.*joint 'j' \(line 4\)"):
        assert read_urdf_text(pair(limit)).joint("j").limits is None


def test_a_range_beyond_all_measure_is_none() -> None:
    huge = 'lower="-1.79769e+308" upper="1.79769e+308" effort="1.79769e+308" velocity="2"'
    joint = read_urdf_text(pair(f"<limit {huge}/>")).joint("j")
    assert (joint.limits, joint.effort_limit, joint.velocity_limit) == (None, None, 2.0)


def test_an_empty_range_is_kept_with_a_warning() -> None:
    with pytest.warns(NexDynWarning, match="joint 'j'"):
        assert read_urdf_text(pair('<limit lower="0" upper="0"/>')).joint("j").limits == (0.0, 0.0)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_every_joint_moves_as_in_pinocchio(base: str, rng: np.random.Generator) -> None:
    with pytest.warns(NexDynWarning, match="slide"):
        system = load_urdf(EVERYTHING, base=base)  # type: ignore[arg-type]
    oracle = PinOracle(EVERYTHING, system, base=base)
    q = oracle.random_state(rng)[0]
    poses = forward_kinematics(system, oracle.joint_names, q)
    for name in system.bodies:
        R, p = oracle.place(q, name)
        np.testing.assert_allclose(poses[name][0], R, atol=1e-13)
        np.testing.assert_allclose(poses[name][1], p, atol=1e-13)


# ── the root ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_root_is_welded_or_free() -> None:
    assert read_urdf_text(single(MASS)).joint("root_joint").kind == "fixed"
    root = read_urdf_text(single(MASS), base="free").joint("root_joint")
    assert (root.kind, root.parent.name, root.child.name) == ("free", "ground", "a")
    with pytest.raises(InputError, match="'fixed' or 'free'"):
        read_urdf_text(single(MASS), base="loose")  # type: ignore[arg-type]


def test_a_bare_root_called_world_is_the_ground() -> None:
    text = (
        pair("", "fixed").replace('"a"', '"world"').replace(f'<link name="world">{MASS}</link>', '<link name="world"/>')
    )
    system = read_urdf_text(text)
    assert list(system.bodies) == ["b"] and list(system.joints) == ["j"]
    assert system.joint("j").parent is system.ground
    assert list(read_urdf_text(text, base="free").bodies) == ["world", "b"]


def test_a_root_called_world_that_carries_something_is_a_body() -> None:
    assert list(read_urdf_text(pair("", "fixed").replace('"a"', '"world"')).bodies) == ["world", "b"]


def test_a_link_called_ground_is_renamed_with_a_warning() -> None:
    with pytest.warns(NexDynWarning, match="ground_link"):
        system = read_urdf_text(pair("", "fixed").replace('"b"', '"ground"'))
    assert list(system.bodies) == ["a", "ground_link"] and system.joint("j").child.name == "ground_link"


def test_a_joint_that_is_called_root_joint_keeps_its_name() -> None:
    system = read_urdf_text(pair("", "fixed").replace('"j"', '"root_joint"'))
    assert list(system.joints) == ["root_joint_2", "root_joint"]


def test_a_robot_without_a_name_takes_that_of_its_file() -> None:
    assert read_urdf_text(single(MASS).replace(' name="r"', ""), file="dir/arm.urdf").name == "arm"


# ── links ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_turned_inertial_frame_turns_the_inertia(everything: Any) -> None:
    arm = everything.body("arm").resolved({})
    I = np.array(((0.02, 0.001, -0.002), (0.001, 0.03, 0.003), (-0.002, 0.003, 0.025)))
    R = rotation_from_euler_zyx(0.5, -0.4, 0.3)
    np.testing.assert_allclose(arm.inertia, R @ I @ R.T, rtol=1e-14, atol=1e-17)
    assert (arm.mass, tuple(arm.com)) == (2.0, (0.1, 0.02, 0.2))


def test_the_inertia_of_the_whole_is_pinocchios(rng: np.random.Generator) -> None:
    with pytest.warns(NexDynWarning, match="slide"):
        system = load_urdf(EVERYTHING, base="free")
    oracle = PinOracle(EVERYTHING, system, base="free")
    q = oracle.random_state(rng)[0]
    found = composite_inertia(system, forward_kinematics(system, oracle.joint_names, q))
    for ours, pins in zip(found, oracle.composite_inertia(q), strict=True):
        np.testing.assert_allclose(ours, pins, rtol=1e-12, atol=1e-13)


def test_a_link_without_inertial_has_no_mass_whatever_it_shows() -> None:
    body = read_urdf_text(single('<visual><geometry><box size="1 1 1"/></geometry></visual>')).body("a").resolved({})
    assert body.mass == 0.0 and not body.inertia.any()


def test_shapes_have_sizes_poses_names_and_colours(everything: Any) -> None:
    (plate,), (rod, ball), (slide,) = (everything.body(name).shapes for name in ("base", "arm", "slide"))
    assert (plate.size, plate.color, plate.name) == ((0.4, 0.3, 0.1), (0.5, 0.5, 0.6, 1.0), "plate")
    assert (rod.radius, rod.length, rod.position, rod.color) == (0.03, 0.4, (0.0, 0.0, 0.1), (1.0, 0.0, 0.0, 0.5))
    np.testing.assert_allclose(rod.orientation, quaternion(rotation_from_euler_zyx(0, np.pi / 2, 0)), atol=1e-15)
    assert (ball.radius, ball.color) == (0.05, (1.0, 0.0, 0.0, 0.5))
    assert slide.scale == (0.001, 0.001, -0.001)


@pytest.mark.parametrize(
    ("geometry", "why"),
    [
        ('<box size="0 1 1"/>', "size of <box> is 0"),
        ('<mesh filename=""/>', "<mesh> names no file"),
        ("", "<geometry> is empty"),
        ('<plane normal="0 0 1"/>', "<plane> is no geometry of URDF"),
    ],
)
def test_a_visual_that_shows_nothing_is_left_out_with_a_warning(geometry: str, why: str) -> None:
    with pytest.warns(NexDynWarning, match=f"link 'a' .*{why}"):
        system = read_urdf_text(single(f"{MASS}<visual><geometry>{geometry}</geometry></visual>"))
    assert system.body("a").shapes == ()


@pytest.mark.parametrize(
    ("mass", "moments", "why"),
    [
        (1, (1, 1, 3), r"1 \+ 1 < 3"),
        (1, (-1, 1, 1), "-1 is negative"),
        (-1, (1, 1, 1), "mass -1 kg is negative"),
        (0, (1, 1, 1), "mass is 0 but its inertia is not"),
        (1, (0, 0, 0), "without inertia"),
    ],
)
def test_an_unphysical_inertia_is_a_warning_and_strictly_an_error(
    mass: float, moments: tuple[float, ...], why: str
) -> None:
    x, y, z = moments
    tensor = f'<inertia ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"/>'
    text = single(f'<inertial><mass value="{mass}"/>{tensor}</inertial>')
    with pytest.warns(NexDynWarning, match=rf"{why}.*link 'a' \(line 2\)|link 'a' \(line 2\).*{why}") as caught:
        system = read_urdf_text(text)
    assert len(caught) == 1 and system.body("a").mass == mass
    with pytest.raises(FileError, match=f"<text>:2:16: link 'a' <inertial>: .*{why}"):
        read_urdf_text(text, strict=True)


def test_a_joint_that_moves_no_mass_is_named_in_a_warning() -> None:
    limit = '<limit lower="0" upper="1"/>'
    text = pair(limit).replace(f'<link name="b">{MASS}</link>', '<link name="b"/>')
    with pytest.warns(NexDynWarning, match=r"moves nothing that has mass.*joint 'j' \(line 4\)"):
        read_urdf_text(text)


def test_a_default_namespace_is_no_obstacle() -> None:
    assert read_urdf_text(single(MASS).replace("<robot", '<robot xmlns="http://ros.org"')).bodies


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_file_is_read_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    declared = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    text = f'<?xml version="1.0" encoding="{declared}"?>' + single(MASS).replace('"a"', '"Ärmel"')
    (tmp_path / "r.urdf").write_bytes(text.encode(encoding))
    assert list(load_urdf(tmp_path / "r.urdf").bodies) == ["Ärmel"]


# ── meshes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A ROS package `arm` with a mesh, and one `hand` beside the way to it."""
    for place in ("ws/arm/meshes", "ws/arm/urdf/deep", "elsewhere/hand/meshes", "ws/secret"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("ws/arm/meshes/link.stl", "elsewhere/hand/meshes/palm.dae", "ws/secret/plan.stl"):
        (tmp_path / place).write_bytes(b"solid")
    return tmp_path


def mesh_path(package: Path, name: str, **options: Any) -> tuple[str, str]:
    """The path of the mesh called `name` in ws/arm/urdf/r.urdf, and what was warned."""
    file = package / "ws/arm/urdf/r.urdf"
    file.write_text(single(f'{MASS}<visual><geometry><mesh filename="{name}"/></geometry></visual>'))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (shape,) = load_urdf(file, **options).body("a").shapes
    return shape.path, "; ".join(str(w.message) for w in caught)


@pytest.mark.parametrize(
    "name",
    ["package://arm/meshes/link.stl", "package:///arm/meshes/link.stl", "model://arm/meshes/link.stl",
     "../meshes/link.stl", "file://../meshes/link.stl", "../meshes/./../meshes/link.stl", "..\\meshes\\link.stl"],
)  # fmt: skip
def test_a_mesh_is_found_from_where_the_file_is(package: Path, name: str) -> None:
    assert mesh_path(package, name) == (str(package / "ws/arm/meshes/link.stl"), "")


@pytest.mark.parametrize("name", ["package://hand/meshes/palm.dae", "{}/elsewhere/hand/meshes/palm.dae"])
def test_package_dirs_say_where_else_meshes_lie(package: Path, name: str) -> None:
    name = name.format(package)
    expected = (str(package / "elsewhere/hand/meshes/palm.dae"), "")
    for package_dirs in ([package / "elsewhere"], package / "elsewhere", [str(package / "elsewhere" / "hand")]):
        assert mesh_path(package, name, package_dirs=package_dirs) == expected
    path, warned = mesh_path(package, name)
    assert path == (name if "://" in name else f"unresolved:{name}") and "r.urdf" in warned and "link 'a'" in warned


@pytest.mark.parametrize(
    "name",
    ["../../secret/plan.stl", "package://arm/../secret/plan.stl", "{}/ws/secret/plan.stl", "file://{}/ws/secret/plan.stl",
     "http://example.org/plan.stl", "C:\\plan.stl", "/etc/passwd", "../../../../../../etc/passwd", "package://../secret/plan.stl"],
)  # fmt: skip
def test_a_mesh_name_that_leads_outside_stays_unresolved(package: Path, name: str) -> None:
    path, warned = mesh_path(package, name.format(package))
    assert path in (f"unresolved:{name.format(package)}", name) and "link 'a'" in warned
    assert not os.path.exists(path)


def test_a_missing_mesh_is_a_warning_and_its_expected_place_is_kept(package: Path) -> None:
    path, warned = mesh_path(package, "../meshes/gone.stl")
    assert path == str(package / "ws/arm/meshes/gone.stl")
    assert "r.urdf: mesh not on this machine" in warned and "link 'a' (line 2): '../meshes/gone.stl'" in warned


def test_a_package_xml_marks_how_far_relative_names_may_climb(package: Path) -> None:
    (package / "ws/package.xml").touch()
    assert mesh_path(package, "../../secret/plan.stl") == (str(package / "ws/secret/plan.stl"), "")
