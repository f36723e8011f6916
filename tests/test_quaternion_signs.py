"""q and −q are one rotation. Of a ball or free joint the one that is told changes smoothly, wherever a run is cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx

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
