"""q and −q are one rotation. Of a ball or free joint the one that is told changes smoothly, wherever a run is cut."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matrix_elements import ELEMENTS
from turns import in_turns

import nexdyn as nx
from nexdyn.spatial.rotations import rotation_matrix

METHODS = {
    "rk4": nx.RungeKutta4(1e-3),
    "hht": nx.HHT(dt=1e-3),
    "baumgarte": nx.Baumgarte(dt=1e-3),
    "implicit-euler": nx.ImplicitEuler(1e-3),
}
RATE = 10.0


def spinning(q0: tuple[float, ...] | None = None, *, watched: bool = False) -> nx.System:
    """A ball joint on a turned body that turns about its z: w = cos(5 t); where it is watched, of the event `e` at w = −0.5."""
    system = nx.System("spinning", gravity=(0, 0, 0))
    system.add_body("body", mass=1.0, inertia=(1, 1, 1), orientation=(0.6, 0, 0.8, 0))
    system.add_joint(nx.Spherical("ball", "ground", "body", at=(0, 0, 0), axis=(1, 2, 2), q0=q0, v0=(0, 0, RATE)))
    if watched:
        system.add_event(nx.Event("e", joint="ball", freedom=0, value=-0.5))
    return system


@pytest.mark.parametrize("name", METHODS)
def test_events_of_a_quaternion_are_where_its_angle_is(name: str) -> None:
    result = nx.simulate(spinning(watched=True), 2.0, METHODS[name])
    expected = np.array([2, 4, 8]) * np.pi / 3 / (RATE / 2)
    assert [event["time"] for event in result.events] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_what_is_recorded_does_not_change_the_sign(name: str) -> None:
    result = nx.simulate(spinning(), 2.0, METHODS[name], output_every=700)  # up to 7 rad between samples
    w = result.joint_position("ball").values[:, 0]
    np.testing.assert_allclose(w, np.cos(0.5 * RATE * result.t), atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("first", ["rk4", "hht"])
def test_a_run_that_goes_on_keeps_the_sign(first: str, name: str, tmp_path: Path) -> None:
    nx.simulate(spinning(), 0.5, METHODS[first]).save(tmp_path / "half.nc")  # w = cos 2.5 < 0 there
    result = nx.simulate(spinning(), 1.0, METHODS[name], initial=nx.open_result(tmp_path / "half.nc"))
    w = result.joint_position("ball").values[:, 0]
    np.testing.assert_allclose(w, np.cos(0.5 * RATE * result.t), atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("q0", [(-0.6, 0.0, 0.8, 0.0), (0.6, 0.0, -0.8, 0.0)])
def test_a_run_starts_with_the_sign_that_is_given(q0: tuple[float, ...], name: str) -> None:
    cases: tuple[dict[str, Any], ...] = ({"q0": {"ball": q0}}, {})
    for given in cases:
        result = nx.simulate(spinning(None if given else q0), 0.01, METHODS[name], **given)
        np.testing.assert_allclose(result.joint_position("ball").values[0], q0, atol=1e-12)


@pytest.mark.parametrize("name", ["hht", "implicit-euler"])
def test_a_ball_on_a_ball_keeps_its_sign_where_the_first_one_turns(name: str) -> None:
    system = spinning()
    system.add_body("second", mass=1.0, inertia=(1, 1, 1), orientation=(0.0, 0.6, 0, 0.8))
    system.add_joint(nx.Spherical("other", "body", "second", at=(0, 0, 0), axis=(0, 1, 1), v0=(3, 0, 0)))
    whole = nx.simulate(system, 1.0, METHODS["rk4"])
    half = nx.simulate(system, 0.5, METHODS["rk4"])
    rest = nx.simulate(system, 1.0, METHODS[name], initial=half)
    for joint in ("ball", "other"):
        q = whole.joint_position(joint).values[-1]
        np.testing.assert_allclose(rest.joint_position(joint).values[-1], q, atol=5e-2)


LOOPS: dict[str, tuple[nx.Method, dict[str, Any]]] = {
    f"{cut} cut": (nx.RungeKutta4(2e-3), {"loops": nx.Loops(cut=(cut,))}) for cut in ("ball", "other")
} | {"hht": (nx.HHT(dt=2e-3), {}), "projection": (nx.Projection(dt=2e-3), {})}
"""Ways to compute the loop `closed`, in which one of two balls is cut and the other is in the tree."""
T_END = 1.6


def closed(watched: bool = False, changed: bool = False) -> nx.System:
    """A shaft that turns at 9 rad/s leads a link that turns against it, between two balls; the other end goes where it likes in a carriage:
    the quaternions of both balls come to the other sign. changed: by an event that changes hardly anything all is computed anew."""
    system = nx.System("closed", gravity=(0, 0, -3))
    system.parameter("k", 1.0)
    system.add_body("shaft", mass=1.0, inertia=(0.2, 0.2, 0.3))
    system.add_body("link", mass=0.1, inertia=(0.02, 0.03, 0.025), position=(1.0, 0, 0), orientation=(0.8, 0, 0.6, 0))
    system.add_body("carriage", mass=0.2, inertia=(0.01, 0.01, 0.01), position=(1.6, 0, 0))
    system.add_joint(nx.Revolute("hinge", "ground", "shaft", at=(0, 0, 0), axis=(0, 0, 1), v0=9.0))
    system.add_joint(nx.Spherical("ball", "shaft", "link", at=(0.3, 0, 0), damping="=0.01*k"))
    system.add_joint(nx.Cartesian("guide", "ground", "carriage", damping=0.05))
    system.add_joint(nx.Spherical("other", "carriage", "link", at=(1.6, 0, 0), axis=(1, 2, 2), v0=(0, 0.2, -5.0)))
    if watched:
        for joint in ("ball", "other"):
            system.add_event(nx.Event(f"{joint} turns over", joint=joint, freedom=0, value=0.0))
    if changed:
        system.add_event(nx.Event("change", time=0.5, parameters={"k": 1.0 + 1e-9}))
    return system


@pytest.fixture(scope="module")
def reference() -> nx.Result:
    method, given = LOOPS["other cut"]
    return nx.simulate(closed(), T_END, method, **given)


def quaternions(result: nx.Result) -> np.ndarray:
    return np.hstack([result.joint_position(joint).values for joint in ("ball", "other")])


def test_the_balls_of_the_loop_turn_over(reference: nx.Result) -> None:
    q = quaternions(reference)
    assert (np.ptp(np.sign(q[:, [0, 4]]), axis=0) == 2.0).all()
    for own in (q[:, :4], q[:, 4:]):
        assert own[0, 0] > 0.0 and ((own[1:] * own[:-1]).sum(axis=1) > 0.99).all()


@pytest.mark.parametrize("name", LOOPS)
def test_quaternions_of_cut_balls_change_smoothly(name: str, reference: nx.Result) -> None:
    """From sample to sample, however far these are from each other, at events, and where a run is cut."""
    method, given = LOOPS[name]
    expected, every = quaternions(reference), 400  # 7 rad
    whole = nx.simulate(closed(), T_END, method, output_every=every, **given)
    np.testing.assert_allclose(quaternions(whole), expected[::every], atol=2e-3)
    half = nx.simulate(closed(), 0.75 * T_END, method, **given)
    rest = nx.simulate(closed(), T_END, method, initial=half, **given)
    np.testing.assert_allclose(quaternions(rest)[-1], expected[-1], atol=2e-3)
    other = nx.simulate(closed(changed=True), T_END, method, **given)
    at = [int(np.abs(np.asarray(reference.t) - t).argmin()) for t in np.asarray(other.t)]
    np.testing.assert_allclose(quaternions(other), expected[at], atol=2e-3)


@pytest.mark.parametrize("name", ["ball cut", "other cut"])
def test_events_see_a_cut_ball_turn_over_each_time(name: str, reference: nx.Result) -> None:
    method, given = LOOPS[name]
    w = quaternions(reference)[:, [0, 4]]
    expected = np.concatenate([np.asarray(reference.t)[1:][np.diff(np.sign(w[:, k])) != 0] for k in (0, 1)])
    found = nx.simulate(closed(watched=True), T_END, method, **given).events
    np.testing.assert_allclose(sorted(event["time"] for event in found), np.sort(expected), atol=4e-3)


@pytest.mark.parametrize("first", ["hht", "ball cut"])
@pytest.mark.parametrize("then", ["ball cut", "other cut", "projection"])
def test_another_way_to_compute_goes_on_with_the_sign(
    first: str, then: str, reference: nx.Result, tmp_path: Path
) -> None:
    method, given = LOOPS[first]
    nx.simulate(closed(), 0.5 * T_END, method, **given).save(tmp_path / "half.nc")
    method, given = LOOPS[then]
    rest = nx.simulate(closed(), 0.55 * T_END, method, initial=nx.open_result(tmp_path / "half.nc"), **given)
    at = int(np.abs(np.asarray(reference.t) - float(rest.t[-1])).argmin())
    np.testing.assert_allclose(quaternions(rest)[-1], quaternions(reference)[at], atol=2e-2)


@pytest.mark.parametrize("carrier", ["open", "rod", "ring"])
@pytest.mark.parametrize("name", in_turns([name for name, e in ELEMENTS.items() if name.startswith("joint ")], of=4))
def test_the_quaternion_of_a_body_is_that_of_its_rotation_where_frames_are_not_described_to_coincide(
    name: str, carrier: str
) -> None:
    element = ELEMENTS[name]
    if carrier not in element.carriers:
        return
    changes: list[Any] = [None, *(x for x in ("axis_a", "reference_b", "q0") if x in element.changes)]
    for change in changes:
        system = element.system(carrier, None if change is None else element.change(change))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of gaps, which are meant
            try:
                result = nx.simulate(system, 2e-3, nx.RungeKutta4(1e-3))
            except nx.InputError as error:
                assert re.search("minimal coordinates|cut|q0 is for joints", str(error)), error
                continue
        for body in system.bodies:
            R = rotation_matrix(result.orientation(body).values)
            np.testing.assert_allclose(R, result.rotation(body).values, atol=1e-12, err_msg=f"{body}, {change}")
