"""`nx.distance`, `nx.clearance`, `nx.interferences`: of shapes and bodies as described, as assembled, and along a motion."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import mesh_lab as lab
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.cli import main

HALF = (np.cos(np.pi / 4), 0.0, 0.0, np.sin(np.pi / 4))  # a quarter turn about z


def test_two_shapes_are_apart_by_what_lies_between_them() -> None:
    found = nx.distance(nx.Sphere(0.5), nx.Box((1.0, 2.0, 2.0), position=(3.0, 0.0, 0.0)))
    assert found.distance == pytest.approx(2.0, abs=1e-15)
    assert found.normal == pytest.approx([1.0, 0.0, 0.0])
    assert found.point_a == pytest.approx([0.5, 0.0, 0.0])
    assert found.point_b == pytest.approx([2.5, 0.0, 0.0])
    assert len(found.polygon) == 1
    assert found.rate == 0.0


def test_parallel_faces_share_a_patch_and_overlap_has_a_depth() -> None:
    found = nx.distance(
        nx.Box((1.0, 2.0, 1.0), orientation=HALF), nx.Box((1.0, 1.0, 1.0), position=(0.0, 0.0, 0.75))
    )  # the first is 2 m wide along x
    assert found.distance == pytest.approx(-0.25, abs=1e-12)
    assert found.area == pytest.approx(1.0)
    assert found.centre == pytest.approx([0.0, 0.0, 0.375])


def slider() -> tuple[nx.System, Any, Any]:
    """A bar that turns about z at 2 rad/s beside a post that is fixed to the ground; the post has two shapes."""
    system = nx.System("bar and post", gravity=(0, 0, 0))
    bar = system.add_body("bar", mass=1.0, inertia=(1, 1, 1), shapes=[nx.Sphere(0.1, position=(1.0, 0.0, 0.0))])
    post = system.add_body(
        "post", mass=1.0, inertia=(1, 1, 1), position=(0.0, 2.0, 0.0),
        shapes=[nx.Sphere(0.1, position=(0.0, 9.0, 0.0), name="far"), nx.Sphere(0.5, name="near")],
    )  # fmt: skip
    system.add_joint(nx.Revolute("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 0, 1), v0=2.0))
    system.add_joint(nx.Fixed("foot", system.ground, post, at=(0, 2, 0)))
    return system, bar, post


def test_bodies_have_the_distance_of_their_nearest_shapes_and_its_rate() -> None:
    system, bar, post = slider()
    described = nx.distance(bar, post)
    assert described.distance == pytest.approx(np.sqrt(5.0) - 0.6)
    assert described.shapes[1].name == "near"
    assert described.rate == 0.0
    found = nx.distance(bar, post, at=nx.assemble(system))
    assert found.distance == pytest.approx(np.sqrt(5.0) - 0.6)
    # at angle φ the distance is √(5 − 4 sin φ) − 0.6
    assert found.rate == pytest.approx(-2.0 / np.sqrt(5.0) * 2.0, rel=1e-9)
    back = nx.distance(post, bar, at=nx.assemble(system))
    assert (back.distance, back.rate) == (found.distance, found.rate)
    np.testing.assert_array_equal(back.normal, -found.normal)
    np.testing.assert_array_equal(back.velocity_a, found.velocity_b)


def test_what_has_no_distance_is_named() -> None:
    system, bar, _ = slider()
    bare = system.add_body("bare", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(nx.InputError, match=r"b is .*bare.*, which has no shapes"):
        nx.distance(bar, bare)
    with pytest.raises(nx.InputError, match=r"a is 'bar'; a shape"):
        nx.distance("bar", bare)  # type: ignore[arg-type]
    with pytest.raises(nx.InputError, match=r"part.stl: there is no such file"):
        nx.distance(bar, nx.Mesh("part.stl"))
    with pytest.raises(nx.InputError, match=r"at is 3; what nx.assemble returns"):
        nx.distance(bar, bar, at=3)  # type: ignore[arg-type]
    with pytest.raises(nx.InputError, match=r"b is .*bar.*, which is no body of"):
        nx.distance(bar, slider()[1], at=nx.assemble(system))


# --- meshes ----------------------------------------------------------------------------------------------------------


def cube(path: Any, faces: int = 12) -> str:
    """A cube of 1 m as a file, or the first of its triangles."""
    x, t = lab.box()
    rows = [f"v {a} {b} {c}" for a, b, c in x] + [f"f {i} {j} {k}" for i, j, k in t[:faces] + 1]
    path.write_text("\n".join([*rows, ""]))
    return str(path)


def test_a_mesh_has_the_distance_of_the_shape_that_it_is_of(tmp_path: Any) -> None:
    path = cube(tmp_path / "cube.obj")
    for other in (nx.Sphere(0.3), nx.Box((0.4, 0.5, 0.6)), nx.Capsule(0.2, 0.7), nx.Mesh(path, scale=(0.3, 0.3, 0.3))):
        for at in ((1.1, 0.3, 0.2), (0.9, 0.9, 0.8)):
            there = dataclasses.replace(other, position=at, orientation=(0.8, 0.0, 0.6, 0.0))
            found = nx.distance(nx.Mesh(path, scale=(1.0, 2.0, 1.0), orientation=HALF), there)
            box = (
                nx.Box((0.3, 0.3, 0.3), position=at, orientation=(0.8, 0.0, 0.6, 0.0))
                if isinstance(other, nx.Mesh)
                else there
            )
            expected = nx.distance(nx.Box((1.0, 2.0, 1.0), orientation=HALF), box)
            assert (found.distance > 0.0) == (expected.distance > 0.0)
            if expected.distance > 0.0:
                assert found.distance == pytest.approx(expected.distance, abs=1e-12)
                assert found.normal == pytest.approx(expected.normal, abs=1e-9)
                assert found.centre == pytest.approx(expected.centre, abs=1e-9)
                assert found.area == pytest.approx(expected.area, abs=1e-9)


def test_a_mesh_that_is_open_is_warned_of(tmp_path: Any) -> None:
    path = cube(tmp_path / "open.obj", faces=10)
    with pytest.warns(nx.NexDynWarning, match=r"Mesh: open.obj is open: 4 edges of one triangle"):
        found = nx.distance(nx.Mesh(path), nx.Sphere(0.1, position=(0.0, 0.0, 2.0)))
    assert found.distance == pytest.approx(1.4)


def test_meshes_overlap_in_a_pose_and_have_a_clearance(tmp_path: Any) -> None:
    path = cube(tmp_path / "cube.obj")
    system = nx.System("cubes", gravity=(0, 0, 0))
    one = system.add_body("one", mass=1.0, inertia=(1, 1, 1), shapes=[nx.Mesh(path), nx.Sphere(0.1)])
    two = system.add_body("two", mass=1.0, inertia=(1, 1, 1), position=(0.99, 0.1, 0.0), shapes=[nx.Mesh(path)])
    system.add_joint(nx.Fixed("foot", system.ground, one, at=(0, 0, 0)))
    system.add_joint(nx.Prismatic("rail", system.ground, two, at=(0.99, 0.1, 0), axis=(1, 0, 0), v0=0.5))
    found = nx.interferences(nx.assemble(system))
    assert [(pair.a, pair.b) for pair in found] == [("one", "two")]
    assert found.pairs[0].separation.distance == pytest.approx(-0.01, abs=1e-12)
    assert found.pairs[0].separation.normal == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    result = nx.simulate(system, 0.5, nx.RungeKutta4(dt=0.05))
    with pytest.warns(nx.NexDynWarning, match="body '(one|two)' has no collision shapes; Mesh, as drawn, .* 12 tri"):
        gap = nx.clearance(result, "one", "two")
    np.testing.assert_allclose(gap["distance"], 0.5 * result.recording.t - 0.01, atol=1e-12)
    np.testing.assert_allclose(gap["rate"], 0.5, atol=1e-12)


# --- along a motion --------------------------------------------------------------------------------------------------


def passing() -> nx.Result:
    """A ball of 0.2 m flies by another at 1 m/s, 0.5 m beside it; the second moves at 0.25 m/s across."""
    system = nx.System("balls", gravity=(0, 0, 0))
    ball = system.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(-1.0, 0.0, 0.0), shapes=[nx.Sphere(0.2)])
    other = system.add_body("other", mass=1.0, inertia=(1, 1, 1), position=(0.0, 0.5, 0.0), shapes=[nx.Sphere(0.1)])
    system.add_joint(nx.Cartesian("c", system.ground, ball, at=(-1, 0, 0), v0=(1.0, 0.0, 0.0)))
    system.add_joint(nx.Cartesian("o", system.ground, other, at=(0, 0.5, 0), v0=(0.0, 0.25, 0.0)))
    return nx.simulate(system, 2.0, nx.RungeKutta4(dt=0.05))


def test_the_clearance_along_a_motion_is_the_distance_at_each_sample_and_its_derivative() -> None:
    result = passing()
    found = nx.clearance(result, "ball", "other")
    t = result.recording.t
    x, y = t - 1.0, 0.5 + 0.25 * t
    np.testing.assert_allclose(found["distance"], np.hypot(x, y) - 0.3, atol=1e-12)
    np.testing.assert_allclose(found["rate"], (x + 0.25 * y) / np.hypot(x, y), atol=1e-12)
    gap = found["point_b"] - found["point_a"]
    np.testing.assert_allclose(gap, found["distance"] * found["normal"], atol=1e-12)


def test_the_nearest_approach_lies_between_samples() -> None:
    found = nx.clearance(passing(), "ball", "other")
    t = (1.0 - 0.125) / (1.0 + 0.0625)  # where x ẋ + y ẏ vanishes
    assert found.attrs["nearest_time"] == pytest.approx(t, abs=1e-4)
    assert found.attrs["nearest"] == pytest.approx(
        np.hypot(t - 1.0, 0.5 + 0.25 * t) - 0.3, abs=3e-7
    )  # by the fourth power of the step
    assert found.attrs["nearest"] < float(found["distance"].min())


def test_a_clearance_is_that_of_saved_results_and_of_shapes_in_the_world(tmp_path: Any) -> None:
    result = passing()
    result.save(tmp_path / "run.nc")
    again = nx.clearance(nx.open_result(tmp_path / "run.nc"), "ball", "other")
    np.testing.assert_array_equal(again["distance"], nx.clearance(result, "ball", "other")["distance"])
    wall = nx.Box((0.1, 4.0, 4.0), position=(1.5, 0.0, 0.0))
    found = nx.clearance(result, "ball", wall)
    np.testing.assert_allclose(found["distance"], 1.45 - 0.2 - (result.recording.t - 1.0), atol=1e-12)
    np.testing.assert_allclose(found["rate"], -1.0, atol=1e-12)


def test_a_clearance_of_what_has_none_is_refused_by_name() -> None:
    result = passing()
    with pytest.raises(nx.UnknownNameError, match="bal"):
        nx.clearance(result, "bal", "other")
    with pytest.raises(nx.InputError, match=r"b is .*ground.*, which has no shapes"):
        nx.clearance(result, "ball", "ground")
    with pytest.raises(nx.InputError, match=r"result is 3; what nx.simulate returns"):
        nx.clearance(3, "ball", "other")  # type: ignore[arg-type]


# --- interference ----------------------------------------------------------------------------------------------------


def shelf(mesh: bool = False) -> nx.System:
    """Two boxes that a hinge joins overlap; one of them leans 20 mm into a wall, and touches a third."""
    system = nx.System("shelf", gravity=(0, 0, 0))
    box, skin = nx.Box((1.0, 0.2, 0.2)), [nx.Mesh("part.stl")] if mesh else []
    wall = nx.Box((0.1, 1.0, 1.0), position=(-0.53, 0.0, 0.0))
    bodies = [
        system.add_body(name, mass=1.0, inertia=(1, 1, 1), position=at, shapes=[box, *more])
        for name, at, more in (
            ("left", (0.0, 0.0, 0.0), []), ("right", (0.9, 0.0, 0.0), []), ("top", (0.1, 0.0, 0.2), skin),
        )
    ]  # fmt: skip
    post = system.add_body("wall", mass=1.0, inertia=(1, 1, 1), shapes=[wall])
    system.add_joint(nx.Fixed("bolt", system.ground, post, at=(0, 0, 0)))
    system.add_joint(nx.Revolute("hinge", system.ground, bodies[0], at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("knee", bodies[0], bodies[1], at=(0.45, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Fixed("foot", system.ground, bodies[2], at=(0.1, 0, 0.2)))
    return system


def test_bodies_that_overlap_are_named_with_the_depth_and_what_to_move() -> None:
    found = nx.interferences(nx.assemble(shelf(mesh=True)))
    assert [(pair.a, pair.b) for pair in found] == [("left", "wall")]  # not what a joint joins, nor what touches
    pair = found.pairs[0]
    assert pair.separation.distance == pytest.approx(-0.02, abs=1e-12)
    assert str(pair) == "'left' and 'wall' overlap by 0.02 m: move 'wall' by that along (-1, 0, 0)"
    assert len(found.left_out) == 1 and "Mesh" in found.left_out[0] and "'top'" in found.left_out[0]
    assert found.to_dict()["pairs"][0]["depth"] == pytest.approx(0.02)


def test_the_check_tells_of_collisions(tmp_path: Any, capsys: Any) -> None:
    nx.save_scene(shelf(), tmp_path / "shelf.yaml")
    main(["check", str(tmp_path / "shelf.yaml"), "--collisions"])
    assert "'left' and 'wall' overlap by 0.02 m" in capsys.readouterr().out
    main(["check", str(tmp_path / "shelf.yaml"), "--collisions", "--json"])
    assert json.loads(capsys.readouterr().out)["collisions"]["pairs"][0]["a"] == "left"
    main(["check", str(tmp_path / "shelf.yaml")])
    assert "overlap" not in capsys.readouterr().out
