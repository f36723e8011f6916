"""A joint's wrench on either body, about any point, in any axes: Newton's and Euler's laws of the body it acts on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx

METHODS = [nx.RungeKutta4(dt=1e-3), nx.HHT(dt=1e-3), nx.ImplicitEuler(dt=1e-3)]
INERTIA = np.array([0.04, 0.1, 0.12])
G = np.array([0.3, -0.2, -9.81])


def pendulum() -> nx.System:
    """A body on a tilted hinge away from its centre of mass, with markers on it and on the ground."""
    system = nx.System("pendulum", gravity=tuple(G))
    system.add_body("bob", mass=2.0, inertia=tuple(INERTIA), com=(0.1, 0.2, 0.0), position=(1.0, 0.0, 0.5))
    system.add_joint(nx.Revolute("hinge", system.ground, "bob", at=(0.0, 0.1, 0.2), axis=(0.1, 1.0, 0.2), v0=2.0))
    system.add_marker("centre", "bob", position=(0.1, 0.2, 0.0), orientation=(0.5, 0.5, -0.5, 0.5))
    system.add_marker("bracket", "ground", position=(0.3, 0.2, 0.1), orientation=(0.6, 0.0, 0.8, 0.0))
    return system


@pytest.fixture(scope="module", params=METHODS, ids=lambda method: method.name)
def result(request: pytest.FixtureRequest) -> nx.Result:
    return nx.simulate(pendulum(), 0.2, request.param, output_every=20)


def parts(wrench: Any) -> tuple[np.ndarray, np.ndarray]:
    assert wrench.dims == ("time", "component")
    return wrench.values[:, :3], wrench.values[:, 3:]


def test_on_the_child_about_its_centre_of_mass_it_is_what_the_motion_asks_for(result: nx.Result) -> None:
    """f = m (a − g);  R Jα + ω × R Jω = moment: in the potential, whose inertia turns along the step, to the order of dt."""
    f, m = parts(result.transmitted("hinge", at="centre", frame="world"))
    assert_allclose(f, 2.0 * (result.acceleration("centre").values - G), atol=1e-9)
    R = result.rotation("bob").values
    spin, rate = result.angular_velocity("bob").values, result.angular_acceleration("bob").values
    J = np.einsum("tij,j,tkj->tik", R, INERTIA, R)
    euler = np.einsum("tij,tj->ti", J, rate) + np.cross(spin, np.einsum("tij,tj->ti", J, spin))
    assert_allclose(m, euler, atol=2e-3 if "implicit" in result.recording.method.lower() else 1e-9)


def test_on_the_parent_it_is_the_opposite_about_the_same_point_in_the_same_axes(result: nx.Result) -> None:
    for asked in ({}, {"frame": "bob"}, {"at": "bracket"}):
        there, here = result.reaction("hinge", on="ground", **asked), result.reaction("hinge", on="bob", **asked)
        assert_allclose(there.values, -here.values, atol=1e-12)


def test_without_a_side_a_point_or_axes_it_is_on_the_child_at_the_joint_in_its_axes(result: nx.Result) -> None:
    assert_allclose(result.reaction("hinge", on="bob").values, result.reaction("hinge").values, atol=1e-12)


def test_points_shift_the_moment_alone_and_axes_turn_both_parts(result: nx.Result) -> None:
    f, m = parts(result.reaction("hinge", frame="world"))
    f_, m_ = parts(result.reaction("hinge", at="bracket", frame="world"))
    assert_allclose(f_, f, atol=1e-12)
    assert_allclose(m_, m + np.cross(np.array([0.0, 0.1, 0.2]) - np.array([0.3, 0.2, 0.1]), f), atol=1e-12)
    R = result.rotation("centre").values
    for told, turned in zip(parts(result.reaction("hinge", frame="centre")), (f, m), strict=True):
        assert_allclose(np.einsum("tij,tj->ti", R, told), turned, atol=1e-12)


def test_three_numbers_are_a_point_of_the_body_that_it_acts_on(result: nx.Result) -> None:
    assert_allclose(
        result.reaction("hinge", at=(0.1, 0.2, 0.0)).values, result.reaction("hinge", at="centre").values, atol=1e-12
    )
    on_ground = result.reaction("hinge", on="ground", at=(0.3, 0.2, 0.1), frame="world")
    assert_allclose(
        on_ground.values, result.reaction("hinge", on="ground", at="bracket", frame="world").values, atol=1e-12
    )
    assert on_ground.attrs["long_name"] == "reaction of hinge on ground, at [0.3, 0.2, 0.1] of ground, in world axes"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"on": "centre"}, "on is 'centre'; joint 'hinge' acts on 'bob' and 'ground'"),
        ({"at": "center"}, "did you mean 'centre'"),
        ({"at": (1.0, 2.0)}, r"at is \(1.0, 2.0\); a body or marker, whose origin is meant, or three numbers"),
        ({"at": (1.0, float("nan"), 0.0)}, "three numbers"),
        ({"frame": "wrold"}, "did you mean 'world'"),
        ({"frame": 3}, "frame is 3; the name of a body or marker"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(result: nx.Result, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        result.reaction("hinge", **asked)


def test_sides_points_and_axes_need_a_joint(result: nx.Result) -> None:
    with pytest.raises(nx.InputError, match="belong to one joint"):
        result.reaction(frame="world")
