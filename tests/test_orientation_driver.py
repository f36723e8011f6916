"""Drivers of an orientation alone: the position stays free, and the efforts are the torques about the three axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import nexdyn as nx

ANGLES = {"yaw": "=7*t+0.2*sin(3*t)", "pitch": "=0.9*sin(2*t)+0.2", "roll": "=-5*t**2+0.3"}
I = np.diag([0.2, 0.3, 0.45])
G = np.array([0.5, -0.3, -9.81])
T = 1.0
Turning = Callable[[float], np.ndarray]


def driven(by_one: bool = False) -> nx.System:
    system = nx.System("driven", gravity=G)
    system.add_body("body", mass=2.0, inertia=tuple(I.diagonal()), position=(0.1, 0.2, 0.3))
    if by_one:
        system.add_driver(nx.OrientationDriver("turn", "body", angles=tuple(ANGLES.values())))
        return system
    for angle, function in ANGLES.items():
        system.add_driver(nx.OrientationDriver(angle, "body", angle, function))
    return system


def angles(t: Any) -> np.ndarray:
    return np.array([7 * t + 0.2 * np.sin(3 * t), 0.9 * np.sin(2 * t) + 0.2, -5 * t**2 + 0.3])


def rotation(t: float) -> np.ndarray:
    return np.asarray(Rotation.from_euler("ZYX", angles(t)).as_matrix())


def torque(t: float, rotation: Turning = rotation, h: float = 1e-3) -> np.ndarray:
    """The torque d/dt R I ω in the world, by differences of the rotation."""

    def rate(of: Turning, t: float, h: float) -> np.ndarray:
        return np.asarray((8 * (of(t + h) - of(t - h)) - of(t + 2 * h) + of(t - 2 * h)) / (12 * h))

    def momentum(t: float) -> np.ndarray:
        R = rotation(t)
        W = R.T @ rate(rotation, t, 1e-4)
        return np.asarray(R @ I @ np.array([W[2, 1], W[0, 2], W[1, 0]]))

    return rate(momentum, t, h)


def efforts(t: float) -> np.ndarray:
    """The torque about the axes of yaw, pitch and roll."""
    dL, (yaw, _, _) = torque(t), angles(t)
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


def table() -> nx.System:
    """A turntable with a marker, and a head on a ball on it."""
    system = nx.System("table")
    system.add_body("table", mass=5.0, inertia=(1, 1, 1), position=(1, 0, 0))
    system.add_body("head", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 1), com=(0.1, 0, 0.2))
    system.add_joint(nx.Revolute("turn", "ground", "table", at=(0, 0, 0), v0=2.0))
    system.add_joint(nx.Spherical("neck", "table", "head", at=(1, 0, 1)))
    system.add_marker("base", "table", orientation=ON_TABLE.as_quat(scalar_first=True))
    system.add_marker("eye", "head", orientation=ON_HEAD.as_quat(scalar_first=True))
    return system


ON_TABLE, ON_HEAD = Rotation.from_euler("ZYX", (0.3, -0.4, 0.5)), Rotation.from_euler("ZYX", (0.2, 0.1, -0.7))


@pytest.mark.parametrize("whole", [False, True], ids=["angle by angle", "whole"])
def test_it_is_seen_from_a_body_that_turns_and_drives_markers(whole: bool) -> None:
    """Between a marker on a turntable and one on a body that a ball holds to it."""
    system, start = table(), (ON_TABLE.inv() * ON_HEAD).as_euler("ZYX")
    laws = [nx.Polynomial((float(start[i]), 0.5 * i, -0.6)) for i in range(3)]
    if whole:
        system.add_driver(nx.OrientationDriver("all", "eye", angles=laws, seen_from="base"))
    else:
        for angle, law in zip(ANGLES, laws, strict=True):
            system.add_driver(nx.OrientationDriver(angle, "eye", angle, law, seen_from="base"))
    for method, within in ((nx.RungeKutta4(1e-3), 1e-9), (nx.HHT(rtol=1e-7), 1e-8)):
        result = nx.simulate(system, 0.5, method)
        R = {body: Rotation.from_matrix(result.rotation(body).values[-1]) for body in ("table", "head")}
        seen = ((R["table"] * ON_TABLE).inv() * R["head"] * ON_HEAD).as_matrix()
        wanted = Rotation.from_euler("ZYX", [law.value(0.5) for law in laws]).as_matrix()
        np.testing.assert_allclose(seen, wanted, atol=within)
    assert nx.assemble(system).redundancy.dof == 1


OF_TURN = {"angle": None, "function": None}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"frame": "bdy"}, r"driver 'd': no marker or body 'bdy'; did you mean 'body'"),
        ({"angle": "yow"}, r"angle of driver 'd' is 'yow'; yaw, pitch, roll are valid"),
        ({"frame": "ground"}, r"driver 'd' drives a frame of the ground"),
        ({"seen_from": "tip"}, r"driver 'd' drives body 'body' against itself; seen_from must be on another body"),
        ({"seen_from": "tp"}, r"no marker or body 'tp'; did you mean 'tip'"),
        (
            {"angle": None, "function": None},
            r"driver 'd' is given nothing; one of rotation_vector, quaternion, angles is needed",
        ),
        ({"angles": (0, 0, 0)}, r"driver 'd' is given angle and angles; one of"),
        ({"angle": None}, r"driver 'd' has a function and no angle that it is of; yaw, pitch, roll are valid"),
        (OF_TURN | {"quaternion": (1, 0, 0)}, r"quaternion of driver 'd' has 3 components; 4 are needed"),
        (OF_TURN | {"quaternion": ("=t", 0, 0, 0)}, r"driver 'd' has a quaternion of zero length at t = 0 s"),
        (OF_TURN | {"rotation_vector": (0, "=tt", 0)}, r"rotation_vector of driver 'd'.* 'tt'"),
        (OF_TURN | {"angles": (0, [1], 0)}, r"angles of driver 'd'"),
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
    with pytest.raises(nx.InputError, match="asks for a pitch of 2 rad at t = 0 s; it stays within ±π/2"):
        system.add_driver(nx.OrientationDriver("pitch", "body", "pitch", "=2+t"))


def test_three_angles_together_are_the_three_drivers_of_one_angle() -> None:
    system = driven(by_one=True)
    apart, whole = (nx.simulate(each, 0.5, nx.HHT(dt=1e-3)) for each in (driven(), system))
    np.testing.assert_allclose(whole.rotation("body").values, apart.rotation("body").values, atol=1e-9)
    axes = (
        rotation(0.5).T
        @ np.array([[0, 0, 1], [-np.sin(angles(0.5)[0]), np.cos(angles(0.5)[0]), 0], rotation(0.5)[:, 0]]).T
    )
    single = [float(apart.effort(name).values[-1]) for name in ANGLES]
    np.testing.assert_allclose(axes.T @ whole.effort("turn").values[-1], single, atol=1e-5)
    report = nx.assemble(system)
    np.testing.assert_allclose([report.effort(f"turn.{i}") for i in "xyz"], whole.effort("turn").values[0], atol=1e-6)
    assert report.redundancy.dof == 3
