"""Where the floor of the page and of pictures lies."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from results_lab import resting_ball

import nexdyn as nx
from nexdyn.view.floor import _faces, contact_plane, standing
from nexdyn.view.geometry import GREY, _Drawing
from nexdyn.view.motion import Motion
from nexdyn.view.poses import start_pose
from nexdyn.view.server import LOOPBACK, free_port
from nexdyn.view.shot import Shot
from nexdyn.view.studio import Studio
from nexdyn.view.viewer import Viewer

Z = np.array([0.0, 0.0, 1.0])


def floors(system: nx.System) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Point and normal of the floor in a picture and on the page."""
    motion = Motion.still(system)
    with Viewer(motion, port=free_port(LOOPBACK, 18700)) as viewer:
        return Studio(motion, Shot(size=(64, 48))).floor, viewer._desk.stage.floor


@pytest.mark.parametrize("name", ["bicycle", "rolling-coin"])
def test_what_rolls_rolls_on_the_floor(name: str) -> None:
    for point, normal in floors(nx.load(name)):
        assert point @ normal == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(normal, Z, atol=1e-12)


def test_a_ball_above_its_plane_does_not_carry_the_floor_along() -> None:
    for point, normal in floors(resting_ball()):
        assert point @ normal == pytest.approx(0.0, abs=1e-12)


def test_the_floor_of_an_incline_is_inclined() -> None:
    slope = math.radians(20.0)
    n = np.array([math.sin(slope), 0.0, math.cos(slope)])
    system = nx.System("incline", gravity=(0, 0, -9.81))
    ball = system.add_body("ball", mass=1.0, position=tuple(2.0 * n + (0, 0, 0.5)), shapes=[nx.Sphere(0.2)])
    at = (0.0, 0.0, 0.5)
    system.add_force(
        nx.PlaneContact("touch", ball, radius=0.2, normal=tuple(n), anchor_b=at, stiffness=1e4, damping=0.1)
    )
    for point, normal in floors(system):
        np.testing.assert_allclose(normal, n, atol=1e-12)
        assert (point - at) @ n == pytest.approx(0.0, abs=1e-12)


def test_a_wall_is_no_floor() -> None:
    system = nx.System("wall", gravity=(0, 0, -9.81))
    ball = system.add_body("ball", mass=1.0, shapes=[nx.Sphere(0.2)])
    system.add_force(nx.PlaneContact("touch", ball, radius=0.2, normal=(1, 0, 0), stiffness=1e4))
    assert contact_plane(system, Z) is None


def test_a_machine_that_is_fixed_to_the_ground_stands_on_it_though_its_arm_hangs_lower() -> None:
    system = nx.System("arm", gravity=(0, 0, -9.81))
    base = system.add_body("base", mass=1.0, position=(0, 0, 0.1), shapes=[nx.Box((0.2, 0.2, 0.2))])
    arm = system.add_body("arm", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0.2), shapes=[nx.Box((1, 0.05, 0.05))])
    system.add_joint(nx.Fixed("mount", system.ground, base))
    system.add_joint(nx.Revolute("shoulder", base, arm, at=(0, 0, 0.2), axis=(0, 1, 0), damping=5.0))
    result = nx.simulate(system, t_end=3.0, method=nx.RungeKutta4(1e-2))
    assert result.position("arm").values[-1, 2] < -0.2
    studio = Studio(Motion.of(result), Shot(size=(64, 48)))
    assert studio.floor.point @ studio.floor.normal == pytest.approx(0.0, abs=1e-12)


def test_what_hangs_has_its_floor_below_the_whole_motion() -> None:
    result = nx.simulate(nx.load("hinge-chain"), t_end=2.0, method=nx.RungeKutta4(1e-3), output_every=10)
    studio = Studio(Motion.of(result), Shot(size=(64, 48)))
    low = float((result.position().values @ Z).min())
    assert -2.6 < studio.floor.point @ Z < low


POINTS, AREA = {"stiffness": 1e5}, {"foundation": 1e7}
LOADS = {
    "corners of a box": (nx.Box((0.4, 0.4, 0.4)), POINTS),
    "sphere": (nx.Sphere(0.2), POINTS),
    "sphere over an area": (nx.Sphere(0.2), AREA),
    "box over an area": (nx.Box((0.4, 0.4, 0.4)), AREA),
    "cylinder over an area": (nx.Cylinder(0.2, 0.4), AREA),
}


@pytest.mark.parametrize("sides", [("load", "plate"), ("plate", "load")], ids="-".join)
@pytest.mark.parametrize("kind", LOADS)
def test_a_half_space_that_a_contact_names_is_the_floor(kind: str, sides: tuple[str, str]) -> None:
    """By each way in which nx.Contact computes it, on either side."""
    tilt = 0.2
    shape, law = LOADS[kind]
    given = {f"foundation_{'ab'[sides.index('load')]}" if name == "foundation" else name: x for name, x in law.items()}
    space = nx.HalfSpace(orientation=(math.cos(tilt / 2), 0, math.sin(tilt / 2), 0))
    system = nx.System("half-space", gravity=(0, 0, -9.81))
    system.add_body("load", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 1.0), shapes=[shape])
    system.add_body("plate", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.3), collision=[space])
    system.add_joint(nx.Fixed("mount", system.ground, "plate"))
    system.add_contact(nx.Contact("touch", *sides, damping=0.1, **given))
    floor = contact_plane(system, Z)
    assert floor is not None
    np.testing.assert_allclose(floor.normal, (math.sin(tilt), 0.0, math.cos(tilt)), atol=1e-9)
    assert (floor.point - (0.0, 0.0, 0.3)) @ floor.normal == pytest.approx(0.0, abs=1e-9)


def test_the_ground_that_a_contact_names_is_the_floor_at_height_zero() -> None:
    system = nx.System("ball", gravity=(0, 0, -9.81))
    system.add_body("ball", mass=1.0, position=(0, 0, -3.0), shapes=[nx.Sphere(0.2)])
    system.add_contact(nx.Contact("touch", "ball", "ground", stiffness=1e5))
    for point, normal in floors(system):
        np.testing.assert_allclose(normal, Z, atol=1e-12)
        assert point @ Z == pytest.approx(0.0, abs=1e-12)


def on_a_block(shape: nx.Shape, top: float, above: float = 0.3) -> nx.System:
    """A ball over something that is fixed to the ground, whose middle is at the height 1 m."""
    system = nx.System("block", gravity=(0, 0, -9.81))
    block = system.add_body("block", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 1.0), shapes=[shape])
    system.add_body("ball", mass=1.0, position=(0, 0, top + above), shapes=[nx.Sphere(0.2)])
    system.add_joint(nx.Fixed("mount", system.ground, block))
    system.add_contact(nx.Contact("touch", "ball", "block", stiffness=1e5, damping=0.1))
    return system


def test_a_wide_box_that_is_fixed_and_touched_carries_the_floor_on_its_top() -> None:
    for point, normal in floors(on_a_block(nx.Box((4.0, 4.0, 0.2)), 1.1)):
        np.testing.assert_allclose(normal, Z, atol=1e-9)
        assert point @ Z == pytest.approx(1.1, abs=0.01) and point @ Z < 1.1  # its own face is seen, not the floor


def test_an_inclined_slab_carries_an_inclined_floor() -> None:
    slope = 0.3
    slab = nx.Box((4.0, 4.0, 0.2), orientation=(math.cos(slope / 2), 0, math.sin(slope / 2), 0))
    n = np.array([math.sin(slope), 0.0, math.cos(slope)])
    for point, normal in floors(on_a_block(slab, 1.1)):
        np.testing.assert_allclose(normal, n, atol=1e-4)
        assert (point - (0, 0, 1.0)) @ n == pytest.approx(0.1, abs=0.01)


def test_what_is_fixed_through_others_stands_where_it_is_assembled() -> None:
    """A plate on a leg on a foot: described apart from each other, put together by their fixed joints."""
    system = nx.System("table", gravity=(0, 0, -9.81))
    foot = system.add_body("foot", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 5.0))
    leg = system.add_body("leg", mass=1.0, inertia=(1, 1, 1), position=(3.0, 0, 0))
    turned = (math.cos(0.2), math.sin(0.2), 0, 0)  # as it is described
    box = nx.Box((4.0, 4.0, 0.2))
    plate = system.add_body(
        "plate", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 9.0), orientation=turned, shapes=[box]
    )
    system.add_body("ball", mass=1.0, position=(0, 0, 2.5), shapes=[nx.Sphere(0.2)])
    at = {"anchor_a": (0, 0, 0.5), "anchor_b": (0, 0, -0.2), "axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    system.add_joint(nx.Fixed("foot on the ground", system.ground, foot, **at))
    system.add_joint(nx.Fixed("leg under the plate", plate, leg, **at))  # the other way round
    system.add_joint(nx.Fixed("leg on the foot", foot, leg, **at))
    system.add_contact(nx.Contact("touch", "ball", "plate", stiffness=1e5, damping=0.1))
    where = standing(system)
    np.testing.assert_allclose(where["plate"][1], (0, 0, 0.7), atol=1e-12)
    np.testing.assert_allclose(where["plate"][0], np.eye(3), atol=1e-12)
    poses = start_pose(system)
    assert poses is not None
    for k, name in enumerate(system.bodies):
        if name in where:
            np.testing.assert_allclose(where[name][0], poses[0][k], atol=1e-9)
            np.testing.assert_allclose(where[name][1], poses[1][k], atol=1e-9)
    motion = Motion.still(system, poses)
    point, normal = Studio(motion, Shot(size=(64, 48))).floor
    np.testing.assert_allclose(normal, Z, atol=1e-9)
    assert 0.78 < point @ Z < 0.8


def test_a_small_block_stands_on_the_floor() -> None:
    for point, normal in floors(on_a_block(nx.Box((0.3, 0.3, 0.6)), 1.3, above=1.0)):
        np.testing.assert_allclose(normal, Z, atol=1e-9)
        assert point @ Z == pytest.approx(0.7, abs=1e-6)


def test_a_mesh_that_is_fixed_and_touched_carries_the_floor_or_stands_on_it(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    slab, hills = tmp_path / "slab.stl", tmp_path / "hills.stl"
    trimesh.creation.box((4.0, 4.0, 0.2)).export(slab)
    rough = trimesh.creation.icosphere(subdivisions=3, radius=2.0)
    rough.apply_scale((1.0, 1.0, 0.2))
    rough.export(hills)
    law = {"foundation_a": 1e7, "damping": 0.1}
    for file, height in ((slab, 1.1), (hills, 0.6)):
        system = nx.System("terrain", gravity=(0, 0, -9.81))
        block = system.add_body("block", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 1.0), shapes=[nx.Mesh(str(file))])
        system.add_body("ball", mass=1.0, position=(0, 0, 2.0), shapes=[nx.Sphere(0.2)])
        system.add_joint(nx.Fixed("mount", system.ground, block))
        system.add_contact(nx.Contact("touch", "ball", "block", **law))
        for point, normal in floors(system):
            np.testing.assert_allclose(normal, Z, atol=1e-6)
            assert point @ Z == pytest.approx(height, abs=0.02)


def test_the_floor_lies_below_a_pendulum_that_hits_a_block_above_its_end() -> None:
    """What hangs in the scene, be it wide, carries no floor through it."""
    for shape, at in ((nx.Box((0.1, 0.1, 0.1)), (0.3, 0.0, -0.3)), (nx.Box((4.0, 4.0, 0.1)), (0.0, 0.0, 0.4))):
        system = nx.System("pendulum")
        block = system.add_body("block", collision=[shape], shapes=[shape], position=at)
        system.add_joint(nx.Fixed("bolt", system.ground, block))
        ball = nx.Sphere(0.1)
        rod = system.add_body(
            "rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, -0.9), shapes=[ball], collision=[ball]
        )
        system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), q0=0.1))
        system.add_contact(nx.Contact("stop", "rod", "block", foundation_a=1e6))
        for height, _ in floors(system):
            assert -1.1 < height[2] < -0.98


def test_flat_parts_of_a_curved_terrain_are_found_in_one_pass() -> None:
    x = np.linspace(-1.0, 1.0, 41)
    heights = tuple(tuple(float(h) for h in row) for row in 0.1 * np.sin(3.0 * x)[:, None] * np.cos(2.0 * x)[None, :])
    surface = (
        _Drawing(nx.System()).pieces_of("terrain", 0, nx.HeightField(heights, (2.0, 2.0), bottom=-1.0), GREY)[0].surface
    )
    vertices = surface.vertices.astype(float)
    found = _faces(vertices, surface.faces, np.array([0.0, 0.0, 1.0]))
    a, b, c = (vertices[surface.faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=1)
    level = normal[:, 2] > 0.5 * size
    assert len(found) > 1000
    assert sum(face.area for face in found) == pytest.approx(size[level].sum() / 2, rel=1e-9)
