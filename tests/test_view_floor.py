"""Where the floor of the page and of pictures lies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from results_lab import resting_ball

import nexdyn as nx
from nexdyn.view.floor import contact_plane
from nexdyn.view.motion import Motion
from nexdyn.view.server import LOOPBACK, free_port
from nexdyn.view.stills import Shot, Studio
from nexdyn.view.viewer import Viewer

Z = np.array([0.0, 0.0, 1.0])


def floors(system: nx.System) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Point and normal of the floor in a picture and on the page."""
    motion = Motion.still(system)
    with Viewer(motion, port=free_port(LOOPBACK, 18700)) as viewer:
        return Studio(motion, Shot(size=(64, 48))).floor, viewer._stage.floor


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
