"""`nx.distance`: of shapes where they stand, of bodies as described and as assembled, and of their nearest points' motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx

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
    with pytest.raises(nx.InputError, match=r"Mesh has no distance; Box, Capsule"):
        nx.distance(bar, nx.Mesh("part.stl"))
    with pytest.raises(nx.InputError, match=r"at is 3; what nx.assemble returns"):
        nx.distance(bar, bar, at=3)  # type: ignore[arg-type]
    with pytest.raises(nx.InputError, match=r"b is .*bar.*, which is no body of"):
        nx.distance(bar, slider()[1], at=nx.assemble(system))
