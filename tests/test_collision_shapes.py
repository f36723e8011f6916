"""Shapes for collisions: every pair of kinds has a distance, bodies take `collision` before `shapes`, URDF and SRDF fill it."""

from __future__ import annotations

import dataclasses
import re
import warnings
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import mesh_lab as lab
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.describe import SHAPES, from_dict, to_dict
from nexdyn.statics.distance import of_shapes, separation

BOX = np.column_stack([np.arange(8) >> k & 1 for k in range(3)]) - 0.5


def file_of(raw: lab.Raw, path: Path) -> str:
    x, t = raw
    rows = [*(f"v {a!r} {b!r} {c!r}" for a, b, c in x.tolist()), *(f"f {i} {j} {k}" for i, j, k in t + 1)]
    path.write_text("\n".join([*rows, ""]))
    return str(path)


def every(tmp_path: Path) -> list[nx.Body | Any]:
    """A shape of each kind, about 1 m across, around its origin but for the half-space."""
    return [
        nx.Box((1.0, 0.8, 0.6)), nx.Sphere(0.5), nx.Capsule(0.3, 0.5), nx.Cylinder(0.4, 0.9), nx.Cone(0.5, 1.0),
        nx.Ellipsoid((0.5, 0.4, 0.3)), nx.Hull(BOX), nx.HalfSpace(), nx.HeightField(np.zeros((3, 4)), (1.0, 0.8), -0.6),
        nx.Mesh(file_of(lab.box(), tmp_path / "cube.obj")),
    ]  # fmt: skip


def put(shape: Any, position: Any, turn: Any) -> Any:
    return dataclasses.replace(shape, position=tuple(position), orientation=tuple(turn))


# --- every pair of kinds ---------------------------------------------------------------------------------------------


def test_every_pair_of_kinds_has_a_distance_with_points_normal_and_patch(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    shapes = every(tmp_path)
    assert {type(shape) for shape in shapes} == set(SHAPES.values())
    upright = Rotation.from_euler("x", 0.1).as_quat(scalar_first=True)
    for one, two in combinations_with_replacement(shapes, 2):
        for far in (3.0, 0.15):
            way, turn = rng.normal(size=3), Rotation.from_quat(rng.normal(size=4)).as_quat(scalar_first=True)
            way[2] = abs(way[2])
            if isinstance(one, nx.HalfSpace) and isinstance(two, nx.HalfSpace):
                continue
            if isinstance(two, nx.HalfSpace):  # upside down, above the other
                way, turn = np.array([0.0, 0.0, 1.0]), Rotation.from_euler("x", np.pi + 0.1).as_quat(scalar_first=True)
            a, b = put(one, (0, 0, 0), upright), put(two, far * way / np.linalg.norm(way), turn)
            found, back = nx.distance(a, b), nx.distance(b, a)
            np.testing.assert_allclose(found.point_b - found.point_a, found.distance * found.normal, atol=1e-9)
            assert np.linalg.norm(found.normal) == pytest.approx(1.0, abs=1e-9)
            assert back.distance == pytest.approx(found.distance, abs=1e-12)
            np.testing.assert_allclose(back.normal, -found.normal, atol=1e-9)
            assert np.isfinite(found.polygon).all() and np.isfinite(found.centre).all() and found.area >= 0.0
            assert (found.distance > 0.0) == (far > 1.0), (one, two, far)


def test_of_every_pair_of_kinds_the_distance_changes_as_the_witness_points_move(tmp_path: Path) -> None:
    """The rate is n·(v_b − v_a), and the difference of the distances a microsecond before and after."""
    rng, dt = np.random.default_rng(11), 1e-6
    for one, two in combinations_with_replacement(every(tmp_path), 2):
        if isinstance(one, nx.HalfSpace):
            one, two = two, one
        if isinstance(one, nx.HalfSpace):
            continue
        A, B = of_shapes([one], {}), of_shapes([two], {})
        for far in (3.0, 0.6):
            turn = Rotation.from_quat(rng.normal(size=(2, 4))).as_matrix().reshape(2, 9)
            turn[1] = np.eye(3).ravel() if isinstance(two, nx.HalfSpace) else turn[1]
            way = (
                np.array([0.0, 0.0, -1.0]) if isinstance(two, nx.HalfSpace) else lab.poses(np.zeros((1, 3)), rng)[0, :3]
            )
            poses = np.hstack([turn, [np.zeros(3), far * way]])
            V = rng.normal(size=(2, 6))

            def at(t: float) -> nx.Separation:
                turns = Rotation.from_rotvec(V[:, :3] * t).as_matrix() @ poses[:, :9].reshape(2, 3, 3)  # noqa: B023
                X = np.hstack([turns.reshape(2, 9), poses[:, 9:] + V[:, 3:] * t])  # noqa: B023
                return separation(A, B, (X[:1], V[:1]), (X[1:], V[1:]))  # noqa: B023

            now, change = at(0.0), (at(dt).distance - at(-dt).distance) / (2.0 * dt)
            if now.distance < 0.0 and any(isinstance(x, nx.Mesh | nx.HeightField) for x in (one, two)):
                continue  # a depth, and no shortest way out
            assert now.rate == pytest.approx(change, abs=1e-5), (one, two, far)
            assert now.rate == pytest.approx(float(now.normal @ (now.velocity_b - now.velocity_a)), abs=1e-12)


FLAT: dict[type, tuple[float, Any]] = {
    nx.Box: (0.3, lambda x: np.where(abs(x) <= 0.5, 0.4, 0.0)),
    nx.Cylinder: (0.45, lambda x: np.sqrt(np.maximum(0.16 - x * x, 0.0))),
    nx.Cone: (0.5, lambda x: np.sqrt(np.maximum(0.25 - x * x, 0.0))),
    nx.Hull: (0.5, lambda x: np.where(abs(x) <= 0.5, 0.5, 0.0)),
    nx.HeightField: (0.0, lambda x: np.where(abs(x) <= 0.5, 0.4, 0.0)),
    nx.Mesh: (0.5, lambda x: np.where(abs(x) <= 0.5, 0.5, 0.0)),
    nx.HalfSpace: (0.0, lambda x: np.full_like(x, 2.0)),
}
"""Of kinds with a flat face: its height over the origin (of a cone below it), and half its width over x."""


@pytest.mark.parametrize("gap", [0.25, 0.0, -0.01])
def test_faces_of_every_two_flat_kinds_share_the_patch_that_lies_on_both(gap: float, tmp_path: Path) -> None:
    shapes = [shape for shape in every(tmp_path) if type(shape) in FLAT]
    x = (np.arange(200_000) + 0.5) * 1e-5 - 1.0

    def facing(shape: Any, up: bool, z: float) -> Any:
        height, turned = FLAT[type(shape)][0], isinstance(shape, nx.Cone) == up
        return put(shape, (0, 0, z - height if up else z + height), (0, 1, 0, 0) if turned else (1, 0, 0, 0))

    for one, two in combinations_with_replacement(shapes, 2):
        found = nx.distance(facing(one, True, 0.0), facing(two, False, gap))
        assert found.distance == pytest.approx(gap, abs=1e-12), (one, two)
        np.testing.assert_allclose(found.normal, [0.0, 0.0, 1.0], atol=1e-9, err_msg=f"{one}, {two}")
        if isinstance(one, nx.HalfSpace) and isinstance(two, nx.HalfSpace):
            continue  # without end
        area = 2.0 * np.minimum(FLAT[type(one)][1](x), FLAT[type(two)][1](x)).sum() * 1e-5
        assert found.area == pytest.approx(area, rel=0.002), (one, two)  # polygons of 64 corners for rims
        np.testing.assert_allclose(found.centre, [0.0, 0.0, 0.5 * gap], atol=1e-9)
        np.testing.assert_allclose(found.polygon[:, 2], 0.5 * gap, atol=1e-9)


def test_a_half_space_touches_a_mesh_as_it_touches_the_box_that_the_mesh_is_of(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    mesh, box, floor = nx.Mesh(file_of(lab.split(lab.box()), tmp_path / "cube.obj")), nx.Box((1, 1, 1)), nx.HalfSpace()
    for turn in (*rng.normal(size=(20, 4)), (1.0, 0.0, 0.0, 0.0), (np.cos(0.3), np.sin(0.3), 0.0, 0.0)):
        turn = turn / np.linalg.norm(turn)
        tilted = put(floor, rng.normal(size=3), (np.cos(0.2), 0.0, np.sin(0.2), 0.0))
        at = rng.normal(size=3)
        ours, exact = nx.distance(tilted, put(mesh, at, turn)), nx.distance(tilted, put(box, at, turn))
        assert ours.distance == pytest.approx(exact.distance, abs=1e-12)
        np.testing.assert_allclose(ours.normal, exact.normal, atol=1e-12)
    flat, level = nx.distance(floor, put(mesh, (0.3, 0.2, 0.4), (1, 0, 0, 0))), 0.5 * (0.0 - 0.1)
    assert flat.distance == pytest.approx(-0.1, abs=1e-12)
    assert flat.area == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(flat.centre, [0.3, 0.2, level], atol=1e-12)


def test_half_spaces_have_a_distance_face_to_face_only() -> None:
    floor, ceiling = nx.HalfSpace(), nx.HalfSpace(position=(0.0, 0.0, 2.0), orientation=(0.0, 1.0, 0.0, 0.0))
    assert nx.distance(floor, ceiling).distance == pytest.approx(2.0)
    with pytest.raises(nx.InputError, match="half-spaces have no distance unless they face each other"):
        nx.distance(floor, nx.HalfSpace(position=(0.0, 0.0, 2.0)))


def test_curvatures_at_the_points_are_those_of_the_surfaces() -> None:
    found = nx.distance(nx.Cylinder(0.5, 2.0), nx.Sphere(0.25, position=(1.0, 0.0, 0.3)))
    assert found.curvatures_a == pytest.approx((0.0, 2.0)) and found.curvatures_b == pytest.approx((4.0, 4.0))
    egg = nx.distance(nx.Ellipsoid((0.6, 0.4, 0.3)), nx.Box((1, 1, 1), position=(1.5, 0.0, 0.0)))
    assert egg.curvatures_a == pytest.approx((0.6 / 0.4**2, 0.6 / 0.3**2))  # a/b², a/c² at the end of a
    assert egg.curvatures_b == (0.0, 0.0)


# --- bodies ----------------------------------------------------------------------------------------------------------


def stack(**of_lid: Any) -> nx.System:
    """A block on the ground and a lid 0.1 m above it, drawn as boxes."""
    system = nx.System("stack")
    system.add_body("block", mass=1.0, shapes=nx.Box((1.0, 1.0, 1.0)), inertia=(1, 1, 1))
    system.add_body("lid", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 1.1), shapes=nx.Box((1, 1, 1)), **of_lid)
    return system


def test_collision_shapes_count_before_those_that_are_drawn() -> None:
    for collision, distance in ((None, 0.1), (nx.Sphere(0.5), 0.1), (nx.Box((1.0, 1.0, 1.4)), -0.1)):
        system = stack(collision=collision)
        found = nx.distance(system.body("block"), system.body("lid"))
        assert found.distance == pytest.approx(distance, abs=1e-12)
        assert len(nx.interferences(nx.assemble(system))) == (distance < 0.0)
    system = stack(collision=())
    with pytest.raises(nx.InputError, match=r"b is .*lid.*, which has no shapes"):
        nx.distance(system.body("block"), system.body("lid"))
    assert not nx.interferences(nx.assemble(system)).pairs


def test_a_floor_is_a_half_space_that_a_body_carries() -> None:
    system = stack(collision=nx.Box((1.0, 1.0, 1.4)))
    floor = system.add_body("floor", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -0.4), collision=nx.HalfSpace())
    other = system.add_body("other", mass=1.0, inertia=(1, 1, 1), collision=[nx.HalfSpace(), nx.Sphere(0.5)])
    system.add_joint(nx.Fixed("f", system.ground, floor, at=(0, 0, 0)))
    system.add_joint(nx.Fixed("o", system.ground, other, at=(0, 0, 0)))
    found = nx.interferences(nx.assemble(system))
    assert {(pair.a, pair.b) for pair in found} == {
        ("block", "lid"), ("block", "floor"), ("block", "other"), ("lid", "other"), ("floor", "other")
    }  # fmt: skip  # two half-spaces are no pair, but the sphere of one meets the other
    depth = {(pair.a, pair.b): -pair.separation.distance for pair in found}
    assert depth["block", "floor"] == pytest.approx(0.1)


def test_bodies_that_are_named_or_match_a_pattern_are_not_tested() -> None:
    overlapping = nx.Box((1.0, 1.0, 1.4))
    assert len(nx.interferences(nx.assemble(stack(collision=overlapping)))) == 1
    for names in ("block", ["bl*"], "*"):
        assert not nx.interferences(nx.assemble(stack(collision=overlapping, no_collision=names))).pairs
    with pytest.raises(nx.UnknownNameError, match=r"body 'lid': no body 'blokc'; did you mean 'block'"):
        nx.assemble(stack(no_collision="blokc"))
    with pytest.raises(nx.InputError, match=r"no_collision of body 'lid' has 3; names of bodies, or patterns"):
        stack(no_collision=[3])


def test_bodies_that_a_joint_joins_are_tested_where_a_contact_names_both() -> None:
    for contact in (False, True):
        system = stack(collision=nx.Box((1.0, 1.0, 1.4)))
        system.add_joint(nx.Revolute("hinge", "block", "lid", at=(0, 0, 0.55), axis=(0, 0, 1)))
        if contact:
            system.add_force(nx.PlaneContact("c", "lid", "block", stiffness=1e4, at_a=(0, 0, 0.6)))
        assert len(nx.interferences(nx.assemble(system))) == contact


def test_what_collides_survives_a_scene(tmp_path: Path) -> None:
    system = stack(collision=every(tmp_path), no_collision=["block"])
    again = from_dict(to_dict(system))
    assert again.body("lid").collision == system.body("lid").collision
    assert again.body("lid").no_collision == ("block",)
    nx.save_scene(system, tmp_path / "stack.yaml")
    assert "cube.obj" in (tmp_path / "stack.yaml").read_text()
    assert str(tmp_path) not in (tmp_path / "stack.yaml").read_text()  # meshes are named from the scene
    assert nx.load(tmp_path / "stack.yaml").body("lid").collision == system.body("lid").collision


def test_meshes_that_stand_in_for_collision_shapes_are_told_with_their_triangles(tmp_path: Path) -> None:
    system = stack()
    mesh = nx.Mesh(file_of(lab.split(lab.box()), tmp_path / "cube.obj"))
    system.add_body("skin", mass=1.0, inertia=(1, 1, 1), position=(5, 0, 0), shapes=mesh)
    system.add_body("both", mass=1.0, inertia=(1, 1, 1), position=(9, 0, 0), shapes=mesh, collision=nx.Box((1, 1, 1)))
    found = nx.interferences(nx.assemble(system))
    assert found.drawn == ("Mesh of 'skin': 48 triangles",)
    assert "as drawn: Mesh of 'skin': 48 triangles" in str(found)
    assert found.to_dict()["drawn"] == ["Mesh of 'skin': 48 triangles"]


def test_a_drawn_mesh_stands_in_only_where_it_is_named_and_is_then_told(tmp_path: Path) -> None:
    mesh = nx.Mesh(file_of(lab.split(lab.box()), tmp_path / "cube.obj"))
    told = r"body 'skin' has no collision shapes; Mesh, as drawn, stands in with 48 triangles"

    def warned(collision: Any, contact: bool) -> tuple[list[str], list[Any]]:
        system = nx.System("drawn")
        for x, name in ((0.0, "skin"), (5.0, "apart")):
            system.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(x, 0, 2), shapes=mesh, collision=collision)
        if contact:
            system.add_contact(nx.Contact("floor", "skin", "ground", foundation_a=1e6))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = nx.simulate(system, 0.002, nx.RungeKutta4(1e-3))
        return [str(one.message) for one in caught], result.warnings

    texts, kept = warned(None, contact=True)
    assert len(texts) == 1 and re.search(rf"contact 'floor': {told}; give the body collision", texts[0])
    assert [(one["kind"], one["where"], one["value"]) for one in kept] == [("drawn", "skin", 48.0)]
    assert warned(None, contact=False) == ([], [])
    assert warned(nx.Box((1.0, 1.0, 1.0)), contact=True) == ([], [])
    skin = nx.Body("skin", mass=1.0, inertia=(1, 1, 1), shapes=mesh)
    with pytest.warns(nx.NexDynWarning, match=told):
        assert nx.distance(skin, nx.Sphere(0.5, position=(2.0, 0.0, 0.0))).distance == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: nx.Body("a", collision=[3]), r"body 'a' has 3 among its collision shapes; Box, Sphere"),
        (lambda: nx.Body("a", collision="box"), r"collision of body 'a' is 'box'; a list of Box"),
        (lambda: nx.Body("a", shapes=nx.HalfSpace()), r"HalfSpace among its shapes, which has no end; it belongs to its coll"),
        (lambda: nx.Hull([(0, 0, 0)]), r"points of Hull are 1; four points"),
        (lambda: nx.Hull([(0, 0, 0)] * 3 + [(0, 0)]), r"points\[3\] of Hull has 2 components; 3 are needed"),
        (lambda: nx.Ellipsoid((1, 2, 0)), r"semi_axes\[2\] of Ellipsoid is 0; it must be greater than 0"),
        (lambda: nx.HeightField([[1, 2]], (1, 1)), r"heights of HeightField have no two rows of two"),
        (lambda: nx.HeightField([[1, 2], [1]], (1, 1)), r"heights\[1\] of HeightField has 1 component"),
        (lambda: nx.Cone(1.0, -1.0), r"length of Cone is -1"),
    ],
)  # fmt: skip
def test_a_shape_that_is_none_is_refused_by_name(make: Any, told: str) -> None:
    with pytest.raises(nx.InputError, match=told):
        make()


# --- masses ----------------------------------------------------------------------------------------------------------


def test_mass_properties_are_those_of_the_solid_where_it_is_placed(tmp_path: Path) -> None:
    turn, at, rho = (np.cos(0.4), 0.0, np.sin(0.4), 0.0), (0.1, 0.2, 0.3), 7850.0
    box = nx.Box((1.0, 2.0, 3.0), position=at, orientation=turn)
    mesh = nx.Mesh(file_of(lab.box((1.0, 2.0, 3.0)), tmp_path / "box.obj"), position=at, orientation=turn)
    hull = nx.Hull(BOX * (1.0, 2.0, 3.0), position=at, orientation=turn)
    field = nx.HeightField(np.full((3, 3), 1.5), (1.0, 2.0), -1.5, position=at, orientation=turn)
    for shape in (box, mesh, hull, field):
        found = nx.mass_properties(shape, rho)
        assert found.mass == pytest.approx(6.0 * rho)
        np.testing.assert_allclose(found.com, at, atol=1e-12)
        np.testing.assert_allclose(found.inertia, box.inertia(6.0 * rho), rtol=1e-12, atol=1e-8)
    cone = nx.mass_properties(nx.Cone(0.3, 0.8), 1.0)
    assert cone.mass == pytest.approx(np.pi * 0.09 * 0.8 / 3) and cone.com[2] == pytest.approx(-0.2)
    egg = nx.Ellipsoid((0.3, 0.2, 0.1))
    np.testing.assert_allclose(
        egg.inertia(2.0), nx.mass_properties(egg, 2.0 / nx.mass_properties(egg, 1.0).mass).inertia
    )
    system = nx.System("part")
    mass, com, inertia = found
    system.add_body("part", mass=mass, com=com, inertia=inertia, shapes=mesh)  # as add_body takes them
    with pytest.raises(nx.InputError, match="half-space has no volume"):
        nx.mass_properties(nx.HalfSpace(), 1.0)
    with pytest.raises(nx.InputError, match=r"density is 0; a number greater than 0"):
        nx.mass_properties(box, 0)
    with pytest.raises(nx.InputError, match="open"):
        nx.mass_properties(nx.Mesh(file_of((lab.box()[0], lab.FACES[:10]), tmp_path / "open.obj")), 1.0)


# --- URDF and SRDF ---------------------------------------------------------------------------------------------------

ARM = """<robot name="arm">
  <link name="base"><visual><geometry><box size="1 1 1"/></geometry></visual>
    <collision name="foot"><origin xyz="0 0 0.1" rpy="0 0 0.5"/><geometry><box size="0.4 0.2 0.1"/></geometry></collision></link>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.3"/></geometry></collision>
    <collision><geometry><mesh filename="part.obj" scale="0.1 0.1 0.1"/></geometry></collision></link>
  <link name="lower"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.3"/><geometry><cylinder radius="0.3" length="0.5"/></geometry></collision></link>
  <link name="tool"><visual><geometry><sphere radius="0.3"/></geometry></visual></link>
  <joint name="j1" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.3"/><limit effort="1" velocity="1"
    lower="-1" upper="1"/></joint>
  <joint name="j2" type="fixed"><parent link="upper"/><child link="tool"/></joint>
  <joint name="j3" type="fixed"><parent link="tool"/><child link="lower"/></joint>
</robot>
"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    file_of(lab.box(), tmp_path / "part.obj")
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def test_collision_elements_of_a_urdf_are_what_its_bodies_collide_with(arm: Path, tmp_path: Path) -> None:
    robot = nx.load(arm)
    (foot,) = robot.body("base").collision or ()
    assert (type(foot), foot.name, foot.position, foot.color) == (nx.Box, "foot", (0.0, 0.0, 0.1), None)
    assert [type(shape) for shape in robot.body("upper").collision or ()] == [nx.Sphere, nx.Mesh]
    assert robot.body("tool").collision == ()  # drawn, but without an element: it does not collide
    found = nx.interferences(nx.assemble(robot))
    assert {(pair.a, pair.b) for pair in found} == {("base", "lower"), ("upper", "lower")} or {
        (pair.a, pair.b) for pair in found
    } == {("upper", "lower")}
    nx.save_urdf(robot, tmp_path / "again.urdf")
    assert nx.load(tmp_path / "again.urdf").body("upper").collision == robot.body("upper").collision
    (tmp_path / "drawn.urdf").write_text(ARM.replace("<collision", "<!--").replace("</collision>", "-->"))


def test_a_urdf_without_collision_elements_collides_as_it_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "a.urdf").write_text(
        '<robot name="a"><link name="b"><visual><geometry><box size="1 1 1"/></geometry></visual></link></robot>'
    )
    assert nx.load(tmp_path / "a.urdf").body("b").collision is None


def test_a_collision_shape_that_cannot_be_read_is_told_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.urdf").write_text(
        """<robot name="a"><link name="b"><collision/><collision><geometry><sphere radius="x"/></geometry></collision>
        <collision><geometry><box size="1 0 1"/></geometry></collision>
        <collision><geometry><sphere radius="1"/></geometry></collision></link></robot>"""
    )
    with pytest.warns(nx.NexDynWarning, match=r"collision shape that cannot be read, left out: link 'b' \(line 1\)"):
        robot = nx.load(tmp_path / "a.urdf")
    assert robot.body("b").collision == (nx.Sphere(1.0),)


def test_pairs_that_an_srdf_disables_are_not_tested(arm: Path, tmp_path: Path) -> None:
    srdf = tmp_path / "arm.srdf"

    def of(text: str) -> set[tuple[str, str]]:
        srdf.write_text(f'<robot name="arm"><group name="all"/>{text}</robot>')
        return {(pair.a, pair.b) for pair in nx.interferences(nx.assemble(nx.load(arm, srdf=srdf)))}

    assert ("upper", "lower") in of("")
    assert ("upper", "lower") not in of('<disable_collisions link1="lower" link2="upper" reason="Never"/>')
    assert of('<disable_default_collisions link="lower"/>') == set()
    assert ("upper", "lower") in of(
        '<disable_default_collisions link="lower"/><enable_collisions link1="upper" link2="lower"/>'
    )
    with pytest.warns(nx.NexDynWarning, match=r"links that the robot does not have, left out: 'hand' \(line 1\)"):
        of('<disable_collisions link1="hand" link2="upper"/>')
    with pytest.raises(nx.InputError, match=r"link2 is missing"):
        of('<disable_collisions link1="lower"/>')
    srdf.write_text("<robo/>")
    with pytest.raises(nx.InputError, match="this is no SRDF"):
        nx.load(arm, srdf=srdf)
    with pytest.raises(nx.InputError, match="srdf is for robot files"):
        nx.load("four-bar", srdf=srdf)


def test_the_check_of_a_robot_takes_an_srdf(arm: Path, tmp_path: Path, capsys: Any) -> None:
    main(["check", str(arm), "--collisions"])
    assert "'upper' and 'lower' overlap" in capsys.readouterr().out
    (tmp_path / "arm.srdf").write_text('<robot name="arm"><disable_collisions link1="lower" link2="upper"/></robot>')
    main(["check", str(arm), "--collisions", "--srdf", str(tmp_path / "arm.srdf")])
    assert "'upper' and 'lower' overlap" not in capsys.readouterr().out
