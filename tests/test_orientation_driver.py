"""Drivers of an orientation alone: the position stays free, and the efforts are the torques about the three axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import nexdyn as nx

ANGLES = {"yaw": "=7*t+0.2*sin(3*t)", "pitch": "=0.9*sin(2*t)+0.2", "roll": "=-5*t**2+0.3"}
I = np.diag([0.2, 0.3, 0.45])
G = np.array([0.5, -0.3, -9.81])
T = 1.0


def driven(**seen_from: str) -> nx.System:
    system = nx.System("driven", gravity=G)
    system.add_body("body", mass=2.0, inertia=tuple(I.diagonal()), position=(0.1, 0.2, 0.3))
    for angle, function in ANGLES.items():
        system.add_driver(nx.OrientationDriver(angle, "body", angle, function, **seen_from))
    return system


def angles(t: Any) -> np.ndarray:
    return np.array([7 * t + 0.2 * np.sin(3 * t), 0.9 * np.sin(2 * t) + 0.2, -5 * t**2 + 0.3])


def rotation(t: float) -> np.ndarray:
    return np.asarray(Rotation.from_euler("ZYX", angles(t)).as_matrix())


def momentum(t: float, h: float = 1e-4) -> np.ndarray:
    """R I ω in the world, ω by differences of the rotation."""
    R = rotation(t)
    dR = (8 * (rotation(t + h) - rotation(t - h)) - rotation(t + 2 * h) + rotation(t - 2 * h)) / (12 * h)
    W = R.T @ dR
    return R @ I @ np.array([W[2, 1], W[0, 2], W[1, 0]])


def efforts(t: float, h: float = 1e-3) -> np.ndarray:
    """The torque L̇ about the axes of yaw, pitch and roll."""
    dL = (8 * (momentum(t + h) - momentum(t - h)) - momentum(t + 2 * h) + momentum(t - 2 * h)) / (12 * h)
    yaw, _, _ = angles(t)
    return np.array([dL[2], -np.sin(yaw) * dL[0] + np.cos(yaw) * dL[1], rotation(t)[:, 0] @ dL])


@pytest.mark.parametrize(
    ("method", "within"),
    [
        (nx.HHT(rtol=1e-7), 1e-6), (nx.Projection(rtol=1e-9), 1e-8), (nx.RungeKutta4(1e-3), 1e-8),
        (nx.ImplicitEuler(1e-3, bdf2=True), 1e-8),
    ],
    ids=lambda x: repr(x).split("(")[0],
)  # fmt: skip
def test_a_body_in_flight_turns_as_driven_and_falls_as_it_likes(method: Any, within: float) -> None:
    """Turns are counted, the roll through almost one. A potential's efforts are those of its step."""
    result = nx.simulate(driven(), T, method)
    np.testing.assert_allclose(result.rotation("body").values[-1], rotation(T), atol=1e-8)
    if isinstance(method, nx.ImplicitEuler):
        within = 2e-2
    np.testing.assert_allclose(result.position("body").values[-1], (0.1, 0.2, 0.3) + G * T**2 / 2, atol=within)
    for name, torque in zip(ANGLES, efforts(T), strict=True):
        most = 0.3 if isinstance(method, nx.ImplicitEuler) else max(2e3 * within, 2e-5)
        assert float(result.effort(name).values[-1]) == pytest.approx(torque, abs=most)


def test_it_is_seen_from_a_body_that_turns_and_drives_markers() -> None:
    """Between a marker on a turntable and one on a body that a ball holds to it."""
    system = nx.System("table")
    system.add_body("table", mass=5.0, inertia=(1, 1, 1), position=(1, 0, 0))
    system.add_body("head", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 1), com=(0.1, 0, 0.2))
    system.add_joint(nx.Revolute("turn", "ground", "table", at=(0, 0, 0), v0=2.0))
    system.add_joint(nx.Spherical("neck", "table", "head", at=(1, 0, 1)))
    on_table, on_head = Rotation.from_euler("ZYX", (0.3, -0.4, 0.5)), Rotation.from_euler("ZYX", (0.2, 0.1, -0.7))
    system.add_marker("base", "table", orientation=on_table.as_quat(scalar_first=True))
    system.add_marker("eye", "head", orientation=on_head.as_quat(scalar_first=True))
    wanted = (on_table.inv() * on_head).as_euler("ZYX")
    laws = [nx.Polynomial((float(wanted[i]), 0.5 * i, -0.6)) for i in range(3)]
    for angle, law in zip(ANGLES, laws, strict=True):
        system.add_driver(nx.OrientationDriver(angle, "eye", angle, law, seen_from="base"))
    for method, within in ((nx.RungeKutta4(1e-3), 1e-9), (nx.HHT(rtol=1e-7), 1e-8)):
        result = nx.simulate(system, 0.5, method)
        seen = (
            (result.rotation("table").values[-1] @ on_table.as_matrix()).T
            @ result.rotation("head").values[-1]
            @ on_head.as_matrix()
        )
        lead = [law.value(0.5) for law in laws]
        np.testing.assert_allclose(seen, Rotation.from_euler("ZYX", lead).as_matrix(), atol=within)
    assert nx.assemble(system).redundancy.dof == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"frame": "bdy"}, r"driver 'd': no marker or body 'bdy'; did you mean 'body'"),
        ({"angle": "yow"}, r"angle of driver 'd' is 'yow'; yaw, pitch, roll are valid"),
        ({"frame": "ground"}, r"driver 'd' drives a frame of the ground"),
        ({"seen_from": "tip"}, r"driver 'd' drives body 'body' against itself; seen_from must be on another body"),
        ({"seen_from": "tp"}, r"no marker or body 'tp'; did you mean 'tip'"),
    ],
)
def test_a_driver_of_an_orientation_that_means_nothing_is_refused(given: dict[str, Any], message: str) -> None:
    system = nx.System("wrong")
    system.add_body("body", mass=1.0, inertia=(1, 1, 1))
    system.add_marker("tip", "body", position=(1, 0, 0))
    with pytest.raises(nx.InputError, match=message):
        system.add_driver(
            nx.OrientationDriver(**{"name": "d", "frame": "body", "angle": "yaw", "function": 0.0, **given})
        )


def test_the_report_says_what_drivers_without_a_joint_leave_free() -> None:
    found = nx.assemble(driven()).redundancy
    assert found.dof == 3 and str(found.motions[0]) == "'body' moves as its drivers let it (3 degrees of freedom)"


def test_two_drivers_of_one_angle_are_over_driven() -> None:
    system = driven()
    system.add_driver(nx.OrientationDriver("again", "body", "roll", 0.5))
    with pytest.raises(nx.NexDynError, match=r"again|roll"):
        nx.assemble(system)


@pytest.mark.parametrize("start", [3.2, -10.0])
def test_yaw_and_roll_may_start_beyond_half_a_turn(start: float) -> None:
    system = nx.System("turned", gravity=(0, 0, 0))
    system.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    for name, law in (("yaw", f"={start}+t"), ("pitch", "=0.2+0.5*sin(t)"), ("roll", f"={-start}-t")):
        system.add_driver(nx.OrientationDriver(name, "body", name, law))
    for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3)):
        result = nx.simulate(system, 0.1, method)
        wanted = Rotation.from_euler("ZYX", (start + 0.1, 0.2 + 0.5 * np.sin(0.1), -start - 0.1)).as_matrix()
        np.testing.assert_allclose(result.rotation("body").values[-1], wanted, atol=1e-9)


def test_a_pitch_that_asks_for_more_than_a_quarter_turn_is_named_with_its_bounds() -> None:
    system = nx.System("steep", gravity=(0, 0, 0))
    system.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    with pytest.raises(nx.InputError, match="asks for a pitch of 2 rad at t = 0; it stays within ±π/2"):
        system.add_driver(nx.OrientationDriver("pitch", "body", "pitch", "=2+t"))
