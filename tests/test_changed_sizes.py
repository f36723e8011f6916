"""Parameters that change what coordinates mean, at an event or from one run to the next: sizes, pitches, ratios, places of markers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nexdyn as nx

METHODS = {
    "rk4": nx.RungeKutta4(1e-3),
    "hht": nx.HHT(dt=1e-3),
    "projection": nx.Projection(dt=1e-3),
    "implicit-euler": nx.ImplicitEuler(2e-4),
}
TOLERANCE = {"implicit-euler": 2e-3}
JOINTS = {
    "slide": lambda: nx.Prismatic(
        "tested", "arm", "hand", anchor_a=("=L", 0, 0), anchor_b=(0, 0, 0), axis_a=(1, 0, 0), axis_b=(1, 0, 0),
        stiffness=30.0, rest="=L/10", v0=0.5,
    ),
    "hinge": lambda: nx.Revolute(
        "tested", "arm", "hand", anchor_a=("=L", 0, 0), anchor_b=("=-L/2", 0, 0), axis_a=(0, 1, 0), axis_b=(0, 1, 0), v0=2.0
    ),
    "screw": lambda: nx.Helical("tested", "arm", "hand", at=(0.3, 0, 0), axis=(1, 0, 0), pitch="=L", q0=0.4, v0=3.0),
    "mimic": lambda: nx.Revolute(
        "tested", "arm", "hand", at=(0.3, 0, 0), axis=(0, 1, 0), mimic=nx.Mimic("shoulder", "=5*L", "=L/10")
    ),
    "ball": lambda: nx.Spherical("tested", "arm", "hand", anchor_a=("=L", 0, 0), anchor_b=(0, 0.1, 0), v0=(1, 2, 3)),
}  # fmt: skip
"""Joints that mean another pose for another L."""


def arm(kind: str, size: float = 0.3, *, event: bool = False) -> nx.System:
    system = nx.System("arm", gravity=(0, 0, -9.81))
    system.parameter("L", size)
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.1, 0, 0))
    system.add_body("hand", mass=0.5, inertia=(0.1, 0.12, 0.13), com=(0.05, 0, 0.02), position=(0.3, 0, 0))
    system.add_joint(nx.Revolute("shoulder", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0), q0=0.2, v0=-1.0))
    system.add_joint(JOINTS[kind]())
    system.add_marker(nx.Marker("tip", "hand", ("=L", 0, "=L/2")))
    system.add_measure(nx.Displacement("reach", "ground", "tip", "dx"))
    if event:
        system.add_event(nx.Event("longer", time=0.1, parameters={"L": 0.4}))
    return system


def follower() -> nx.System:
    """A mimic joint with a start of its own, that its leader follows."""
    system = nx.System("follower", gravity=(0, 0, -9.81))
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.1, 0, 0))
    system.add_body("hand", mass=0.5, inertia=(0.1, 0.12, 0.13), position=(0.3, 0, 0))
    system.add_joint(nx.Revolute("shoulder", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0)))
    tie = nx.Mimic("shoulder", -1.5, 0.05)
    system.add_joint(nx.Revolute("tested", "arm", "hand", at=(0.3, 0, 0), axis=(0, 1, 0), mimic=tie, q0=0.1, v0=0.4))
    system.add_measure(nx.Displacement("reach", "ground", "hand", "dx"))
    return system


@pytest.mark.parametrize("name", METHODS)
def test_a_follower_with_a_start_of_its_own_goes_on_in_an_equal_system(name: str) -> None:
    half = nx.simulate(follower(), 0.1, METHODS[name])
    agree(
        nx.simulate(follower(), 0.15, METHODS[name], initial=half), nx.simulate(follower(), 0.15, METHODS[name]), 1e-9
    )


def agree(result: nx.Result, expected: nx.Result, tolerance: float) -> None:
    for body in ("arm", "hand"):
        np.testing.assert_allclose(result.position(body).values[-1], expected.position(body).values[-1], atol=tolerance)
    for joint in ("shoulder", "tested"):
        told, meant = (one.joint_position(joint).values[-1] for one in (result, expected))
        np.testing.assert_allclose(told, meant, atol=tolerance)
    np.testing.assert_allclose(result.measure("reach").values[-1], expected.measure("reach").values[-1], atol=tolerance)


@pytest.mark.filterwarnings("ignore:joint .* stays open")
@pytest.mark.parametrize("name", [name for name in METHODS if name != "rk4"])
@pytest.mark.parametrize("kind", JOINTS)
def test_an_event_that_changes_sizes_is_one_under_every_method(kind: str, name: str) -> None:
    expected = nx.simulate(arm(kind, event=True), 0.15, METHODS["rk4"])
    agree(nx.simulate(arm(kind, event=True), 0.15, METHODS[name]), expected, TOLERANCE.get(name, 2e-5))


@pytest.mark.filterwarnings("ignore:joint .* stays open")
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("first", ["rk4", "hht"])
@pytest.mark.parametrize("kind", JOINTS)
def test_a_run_goes_on_with_other_sizes(kind: str, first: str, name: str) -> None:
    half = nx.simulate(arm(kind), 0.1, METHODS[first])
    expected = nx.simulate(arm(kind, event=True), 0.15, METHODS["rk4"])
    agree(nx.simulate(arm(kind, 0.4), 0.15, METHODS[name], initial=half), expected, TOLERANCE.get(name, 2e-5))


@pytest.mark.filterwarnings("ignore:joint .* stays open")
@pytest.mark.parametrize("name", ["rk4", "hht"])
def test_what_is_told_is_of_the_sizes_at_that_time(name: str, tmp_path: Path) -> None:
    nx.simulate(arm("mimic", event=True), 0.15, METHODS[name]).save(tmp_path / "run.nc")
    result = nx.open_result(tmp_path / "run.nc")
    after = np.arange(len(result.t)) > np.searchsorted(result.t, 0.1)
    size = np.where(after, 0.4, 0.3)
    shoulder, tested = (result.joint_position(joint).values for joint in ("shoulder", "tested"))
    np.testing.assert_allclose(tested, 5.0 * size * shoulder + size / 10.0, atol=1e-9)
    np.testing.assert_allclose(
        result.joint_velocity("tested").values, 5.0 * size * result.joint_velocity("shoulder").values, atol=1e-9
    )
    place = np.stack([size, 0.0 * size, 0.5 * size], axis=1)
    tip = result.position("hand").values + np.einsum("nij,nj->ni", result.rotation("hand").values, place)
    np.testing.assert_allclose(result.position("tip").values, tip, atol=1e-12)
    np.testing.assert_allclose(result.measure("reach").values, tip[:, 0], atol=1e-12)


def four_bar(size: float) -> nx.System:
    system = nx.System("four-bar", gravity=(0, -9.81, 0))
    system.parameter("L", size)
    for name, place in (("crank", (0, 0, 0)), ("rod", (0.3, 0.3, 0)), ("rocker", (0.8, 0.2, 0))):
        system.add_body(name, mass=1.0, inertia=(0.01, 0.02, 0.02), position=place)
    system.add_joint(nx.Revolute("A", "ground", "crank", at=(0, 0, 0), v0=2.0))
    system.add_joint(nx.Revolute("B", "crank", "rod", anchor_a=(0, 0.3, 0), anchor_b=("=-L/2", 0, 0)))
    system.add_joint(nx.Revolute("C", "rod", "rocker", anchor_a=("=L/2", 0, 0), anchor_b=(0, 0.4, 0)))
    system.add_joint(nx.Revolute("D", "ground", "rocker", anchor_a=(0.8, 0, 0), anchor_b=(0, -0.2, 0)))
    return system


@pytest.mark.filterwarnings("ignore:joint .* stays open")
@pytest.mark.parametrize("name", METHODS)
def test_a_loop_goes_on_with_other_sizes_closed_anew(name: str) -> None:
    half = nx.simulate(four_bar(1.0), 0.1, METHODS["rk4"])
    expected = nx.simulate(four_bar(1.1), 0.15, METHODS["hht"], initial=half)
    result = nx.simulate(four_bar(1.1), 0.15, METHODS[name], initial=half)
    for joint in "ABCD":
        told, meant = (one.joint_position(joint).values[-1] for one in (result, expected))
        np.testing.assert_allclose(told, meant, atol=TOLERANCE.get(name, 2e-5))
