"""Drivers of a whole orientation, by a rotation vector, a quaternion or three angles: through every pose, with the torque that it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_orientation_driver import G, I, T, torque

import nexdyn as nx
from nexdyn.describe import from_dict, to_dict

WHOLE: dict[str, tuple[dict[str, Any], Callable[[float], Rotation]]] = {
    "rotation_vector": (
        {"rotation_vector": ("=8*t", nx.Harmonic(0.5, 0.6), "=-3*t**2")},
        lambda t: Rotation.from_rotvec((8 * t, 0.5 * np.sin(1.2 * np.pi * t), -3 * t**2)),
    ),
    "quaternion": (
        {"quaternion": ("=cos(4*t)", "=2*sin(4*t)", 0.3, "=t")},
        lambda t: Rotation.from_quat((np.cos(4 * t), 2 * np.sin(4 * t), 0.3, t), scalar_first=True),
    ),
    "angles": (
        {"angles": ("=7*t", "=2.5*t", "=1-t**2")},
        lambda t: Rotation.from_euler("ZYX", (7 * t, 2.5 * t, 1 - t**2)),
    ),
}
"""Whole orientations: past a turn of the rotation vector, of quaternions of any length, past a pitch of π/2 at 0.63 s."""


def follower(given: dict[str, Any]) -> nx.System:
    system = nx.System("follower", gravity=G)
    system.add_body("body", mass=2.0, inertia=tuple(I.diagonal()), position=(0.1, 0.2, 0.3))
    system.add_driver(nx.OrientationDriver("turn", "body", **given))
    return system


@pytest.mark.parametrize("what", WHOLE)
@pytest.mark.parametrize(
    ("method", "within", "of_torque"),
    [
        (nx.HHT(rtol=1e-7), 1e-6, 2e-3), (nx.Projection(rtol=1e-9), 1e-8, 2e-5), (nx.RungeKutta4(1e-3), 1e-8, 2e-5),
        (nx.ImplicitEuler(1e-3, bdf2=True), 2e-2, 0.3),
    ],
    ids=lambda x: repr(x).split("(")[0],
)  # fmt: skip
def test_a_whole_orientation_is_followed_through_every_pose(
    what: str, method: Any, within: float, of_torque: float
) -> None:
    """The torques are those of the motion, in the axes of the body; a potential's are those of its step."""
    given, wanted = WHOLE[what]
    result = nx.simulate(follower(given), T, method)
    np.testing.assert_allclose(result.rotation("body").values[-1], wanted(T).as_matrix(), atol=1e-8)
    np.testing.assert_allclose(result.position("body").values[-1], (0.1, 0.2, 0.3) + G * T**2 / 2, atol=within)
    effort = result.effort("turn")
    assert effort.dims == ("time", "axis") and effort.attrs["units"] == "N m"
    in_body = wanted(T).as_matrix().T @ torque(T, lambda t: wanted(t).as_matrix())
    np.testing.assert_allclose(effort.values[-1], in_body, atol=of_torque)


def steep(given: dict[str, Any]) -> nx.System:
    system = nx.System("steep", gravity=(0, 0, 0))
    system.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    system.add_driver(nx.OrientationDriver("d", "body", **given))
    return system


@pytest.mark.parametrize(
    "method", [nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.HHT(rtol=1e-6), nx.ImplicitEuler(1e-3)], ids=repr
)
@pytest.mark.parametrize(
    ("given", "message", "at"),
    [
        (
            {"angle": "pitch", "function": "=1.5+t"},
            "driver 'd' asks for a pitch of .* rad at t = 0.0.* within ±π/2",
            np.pi / 2 - 1.5,
        ),
        ({"quaternion": ("=0.1-t", 0, 0, 0)}, "driver 'd' has a quaternion of zero length at t = 0.1 s", 0.1),
    ],
)
def test_what_cannot_be_driven_is_named_with_its_time_in_a_run(
    given: dict[str, Any], message: str, at: float, method: Any
) -> None:
    if "quaternion" in given and method.dt is None:
        pytest.skip("steps of its own choice pass by the one instant")
    with pytest.raises(nx.SolveError, match=message) as found:
        nx.simulate(steep(given), 0.3, method)
    assert found.value.time == pytest.approx(at, abs=0.01)


def test_functions_of_the_users_lead_an_orientation_and_what_they_raise_is_told() -> None:
    @numba.njit
    def turn(t: float) -> float:
        return 2.0 * t + 0.3 * t**3

    whole = {"rotation_vector": (turn, "=sin(t)", 0.2)}
    wanted = Rotation.from_rotvec((1.0 + 0.3 / 8, np.sin(0.5), 0.2)).as_matrix()
    for method in (nx.HHT(dt=1e-3), nx.RungeKutta4(1e-3)):
        result = nx.simulate(steep(whole), 0.5, method)
        np.testing.assert_allclose(result.rotation("body").values[-1], wanted, atol=1e-8)

    @numba.njit
    def failing(t: float) -> float:
        if t > 0.1:
            raise ValueError("beyond the data")
        return t

    for method in (nx.HHT(dt=1e-3), nx.RungeKutta4(1e-3)):
        with pytest.raises(nx.SolveError, match=r"driver 'd'.*beyond the data"):
            nx.simulate(steep({"angles": (failing, 0.0, 0.0)}), 0.5, method)


def test_a_whole_orientation_is_written_over_driven_and_no_input() -> None:
    system = nx.System("written", gravity=(0, 0, 0))
    system.parameter("k", 0.5)
    system.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    system.add_driver(nx.OrientationDriver("turn", "body", quaternion=(1.0, "=t", nx.Step5(0, 0, 1, 0.5), "=k*t")))
    again = from_dict(to_dict(system))
    assert again.drivers["turn"].quaternion == system.drivers["turn"].quaternion
    with pytest.raises(nx.InputError, match="driver 'turn' follows 4 functions; an input has one"):
        nx.linearize(system, inputs=["turn"])
    system.add_driver(nx.OrientationDriver("again", "body", "roll", 0.0))
    with pytest.raises(nx.NexDynError, match=r"drivers 'turn' and 'again'|drivers 'again' and 'turn'"):
        nx.assemble(system)
