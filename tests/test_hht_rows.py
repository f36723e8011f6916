"""Points on curves, rows of the user's own and gears in motion under HHT."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

import nexdyn as nx

pytestmark = pytest.mark.slow  # kernels with these rows are compiled apart


def bead_on(joint: nx.Joint, **body: Any) -> nx.System:
    system = nx.System("bead", gravity=(0, 0, -9.81))
    system.add_body("bead", mass=2.0, inertia=(0.01, 0.01, 0.01), **body)
    system.add_joint(joint)
    return system


def test_a_bead_on_a_circle_keeps_its_energy_and_stays_on_it() -> None:
    circle = nx.ExpressionCurve("=0.5*sin(s)", 0.0, "=-0.5*cos(s)", "=-pi", "=pi", closed=True)
    at = (0.5 * np.sin(2.0), 0, -0.5 * np.cos(2.0))
    system = bead_on(nx.PointOnCurve("track", "ground", "bead", curve=circle), position=at)
    result = nx.simulate(system, 2.0, method=nx.HHT(dt=1e-3, alpha=0.0))
    p, v = result.position("bead").values, result.velocity("bead").values
    np.testing.assert_allclose(np.linalg.norm(p, axis=1), 0.5, atol=1e-12)
    energy = 0.5 * 2.0 * (v**2).sum(axis=1) + 2.0 * 9.81 * p[:, 2]
    assert np.ptp(energy) < 1e-4 * 2.0 * 9.81 * 0.5 and np.ptp(p[:, 2]) > 0.5


def test_a_row_of_the_user_drives_by_the_time_and_says_where_it_fails() -> None:
    @numba.njit
    def slide(t: float, x: np.ndarray, R: np.ndarray) -> float:
        if t > 1.0005:
            raise ValueError("too late")
        return x[0] - 0.2 - 0.3 * np.sin(2 * t)

    system = bead_on(nx.UserConstraint("motor", "ground", "bead", slide), position=(0.2, 0, 0))
    result = nx.simulate(system, 1.0, method=nx.HHT(dt=1e-3))
    t = result.position("bead").time.values
    np.testing.assert_allclose(result.position("bead").values[:, 0], 0.2 + 0.3 * np.sin(2 * t), atol=1e-12)
    np.testing.assert_allclose(result.velocity("bead").values[:, 0], 0.6 * np.cos(2 * t), atol=1e-8)
    with pytest.raises(nx.SolveError, match=r"joint 'motor' raised ValueError: too late at t = 1\.0") as caught:
        nx.simulate(system, 2.0, method=nx.HHT(dt=1e-3))
    assert caught.value.where == "motor" and caught.value.result is not None


@pytest.mark.filterwarnings("ignore:joint 'track' stays open")  # it is described beside its track
def test_a_bead_that_leaves_its_track_is_stopped_by_name() -> None:
    track = nx.SplineCurve([(0, 0, 0), (1, 0, -0.3), (2, 0, -0.2)])
    system = bead_on(nx.PointOnCurve("track", "ground", "bead", curve=track), position=(0.05, 0, 0))
    with pytest.raises(nx.SolveError, match="joint 'track' has left its curve: s = ") as caught:
        nx.simulate(system, 3.0, method=nx.HHT(dt=1e-3))
    assert caught.value.result is not None


def test_gears_turn_many_times() -> None:
    system = nx.System("gears", gravity=(0, 0, 0))
    for i in range(2):
        wheel = system.add_body(f"wheel{i}", mass=1.0, inertia=(1, 1, 1), position=(i, 0, 0))
        system.add_joint(nx.Revolute(f"axle{i}", system.ground, wheel, v0=20.0 if i == 0 else None))
    system.add_coupling(nx.Gear("gear", "axle0", "axle1", ratio=-2.5))
    result = nx.simulate(system, 5.0, method=nx.HHT(dt=1e-2))
    np.testing.assert_allclose(result.angular_velocity("wheel1").values[:, 2], -8.0, atol=1e-9)
