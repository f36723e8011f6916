"""Steps of `HHT(dt)` that samples of a controller or events divide do not drive the constraints apart; those that Newton's iteration does
not solve where bodies touch are halved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.problems.slopes import cards
from nexdyn.simulation.marches import bodies

DT = 2.0**-10
END = 0.5


def arm(*events: nx.Event, sample_time: float = 4 * DT) -> nx.System:
    """Two links under gravity, the first of which a sampled controller holds."""
    system = nx.System("arm", gravity=(0, -9.81, 0))
    for name, x in (("upper", 0.5), ("lower", 1.05)):
        system.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.15), position=(x, 0, 0))
    system.add_joint(nx.Revolute("h1", "ground", "upper", axis=(0, 0, 1), at=(0, 0, 0)))
    system.add_joint(nx.Revolute("h2", "upper", "lower", axis=(0, 0, 1), at=(1, 0, 0), v0=1.0))
    system.add_force(nx.PositionActuator("servo", "h1", target=0.3, kp=40.0, ki=3.0, kd=4.0, sample_time=sample_time))
    for event in events:
        system.add_event(event)
    return system


def end(system: nx.System, method: Any) -> np.ndarray:
    result = nx.simulate(system, END, method, output_every=10**9)
    return result.position("lower").values[-1]


@pytest.mark.parametrize("ratio", [0.7, 1.4, 1.9, 2.31, 4.01])
def test_samples_within_steps_leave_the_motion_as_accurate_as_on_steps(ratio: float) -> None:
    """Steps alternate by up to a hundred to one; each pair made the constraints' velocities grow by a factor."""
    sample = ratio * DT
    true = end(arm(sample_time=sample), nx.RungeKutta4(DT / 4))
    assert np.abs(end(arm(sample_time=sample), nx.HHT(dt=DT)) - true).max() < 1e-5


@pytest.mark.parametrize("t", [0.0167923, 0.0303, 0.0452])
def test_an_event_that_changes_nothing_leaves_samples_where_they_are(t: float) -> None:
    """Steps count from it, so that from there on samples fall within them."""
    true = end(arm(), nx.RungeKutta4(DT / 4))
    for dt in (DT, DT / 2):
        assert np.abs(end(arm(nx.Event("noted", time=t)), nx.HHT(dt=dt)) - true).max() < 1e-5


def test_events_noted_one_after_another_leave_the_motion_as_it_is() -> None:
    """Fifty of them, each at another part of a step, without a controller: no worse than the run without them."""
    times = [0.01 + 0.007 * k + 1e-4 * k**1.5 for k in range(50)]
    noted, bare = arm(*(nx.Event(f"e{k}", time=t) for k, t in enumerate(times))), arm()
    for system in (noted, bare):
        system.force("servo").__dict__["_off"] = True
    true = end(bare, nx.RungeKutta4(DT / 4))
    errors = [np.abs(end(system, nx.HHT(dt=DT)) - true).max() for system in (noted, bare)]
    assert errors[0] < 2.0 * errors[1] < 2e-4


@pytest.mark.parametrize("t_end", [0.3, 0.7, 0.6])
def test_an_end_that_steps_miss_by_rounding_is_the_end(t_end: float) -> None:
    """3 * 0.1 is more than 0.3: what is recorded ends at 0.3 nevertheless, and a run goes on from there."""
    system = arm()
    whole = nx.simulate(system, 2 * t_end, nx.HHT(dt=0.1))
    half = nx.simulate(system, t_end, nx.HHT(dt=0.1))
    assert half.recording.t[-1] == t_end and half.recording.restart is not None
    again = nx.simulate(system, 2 * t_end, nx.HHT(dt=0.1), initial=half)
    np.testing.assert_allclose(again.position().values[-1], whole.position().values[-1], rtol=0, atol=1e-14)


HALVED = nx.HHT(dt=1e-4)


def test_a_step_that_is_not_solved_where_bodies_touch_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cards that lean on each other, whose edges begin to touch and to stick within a step: the run lies on its grid, is the same
    whatever is recorded and where it is cut, and is right to the order of the method (``nexdyn.problems.forms``)."""
    system = cards()
    result = nx.simulate(system, 0.1, HALVED)
    assert result.recording.steps == 1000
    np.testing.assert_allclose(result.t, 1e-4 * np.arange(1001), rtol=0, atol=1e-15)
    seldom = nx.simulate(system, 0.1, HALVED, output_every=7)
    np.testing.assert_array_equal(seldom.recording.q[:-1], result.recording.q[::7])
    first = nx.simulate(system, 0.0537, HALVED)
    second = nx.simulate(first.system, 0.1, HALVED, initial=first)
    np.testing.assert_array_equal(second.recording.q[-1], result.recording.q[-1])
    finer = nx.simulate(system, 0.1, nx.HHT(dt=2.5e-5), output_times=[0.0, 0.1])
    np.testing.assert_allclose(result.recording.q[-1], finer.recording.q[-1], rtol=0, atol=2e-3)
    monkeypatch.setattr(bodies, "LEAST_PART", 1.0)
    with pytest.raises(nx.SolveError, match=r"does not converge at t = .* reduce dt = 0.0001 s"):
        nx.simulate(system, 0.1, HALVED)
