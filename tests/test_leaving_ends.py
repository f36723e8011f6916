"""Where a run stops does not depend on how fast the machine is: points that leave their curves, bristles bent too far."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.simulation import steps

METHODS = {
    "HHT": {"method": nx.HHT(dt=1e-2)},
    "adaptive HHT": {"method": nx.HHT(rtol=2e-3)},
    "implicit Euler": {"method": nx.ImplicitEuler(1e-2)},
    "projection": {"method": nx.Projection(1e-2)},
    "adaptive projection": {"method": nx.Projection(rtol=1e-6)},
    "loop": {"method": nx.RungeKutta4(1e-2), "loops": nx.Loops()},
    "loop under Baumgarte": {"method": nx.RungeKutta4(1e-2), "loops": nx.Loops(stabilise="baumgarte")},
    "loop under semi-implicit Euler and Baumgarte": {
        "method": nx.SemiImplicitEuler(1e-2),
        "loops": nx.Loops("baumgarte"),
    },
    "adaptive loop": {"method": nx.DormandPrince(rtol=1e-6), "loops": nx.Loops(stabilise="projection")},
}
SLICES = [0.0, 1e9]
"""How long a part of a run may take [s]: one step at a time, and eight times as many each time."""


def parts_take(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "SLICE", seconds)


def bead() -> nx.System:
    """A bead of 2 kg on a wire that goes down and up again, whose higher end it passes with 2 m/s."""
    system = nx.System("bead", gravity=(0, 0, -9.81))
    system.add_body("bead", mass=2.0, inertia=(0.01, 0.01, 0.01), position=(0.05, 0, 0))
    wire = nx.SplineCurve([(0, 0, 0), (1, 0, -0.3), (2, 0, -0.2)])
    system.add_joint(nx.PointOnCurve("wire", "ground", "bead", curve=wire))
    return system


@pytest.mark.filterwarnings("ignore:joint 'wire' stays open")  # the bead is described beside it
@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_point_that_leaves_its_curve_stops_the_run_at_that_step(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for seconds in SLICES:
        parts_take(seconds, monkeypatch)
        # until 2.3 s it would have been back on the wire
        with pytest.raises(
            nx.SolveError, match=r"joint 'wire' has left its curve: s = \S+ is not within 0 and 2\.0490"
        ) as caught:
            nx.simulate(bead(), 3.0, **METHODS[name])
        told.append(caught.value)
        assert caught.value.where == "wire" and f"at t = {caught.value.time:g} s" in str(caught.value)
    one, all_ = (error.result for error in told)
    assert str(told[0]) == str(told[1]) and one.recording.status == all_.recording.status == "failed"
    x = one.position("bead").values
    np.testing.assert_array_equal(x, all_.position("bead").values)
    # the last state is the first that has left
    assert one.t.values[-1] == told[0].time and x[-2, 0] <= 2.0 + 1e-9 < x[-1, 0] < 2.2
    assert 1.15 < told[0].time < 1.25


@pytest.mark.filterwarnings("ignore:joint 'wire' stays open")  # the bead is described beside it
@pytest.mark.slow
@pytest.mark.parametrize("name", ["HHT", "loop"])
def test_an_event_before_the_end_of_a_curve_stops_the_run_there(name: str) -> None:
    for where in (1.5, 1.995, 1.997, 1.9999):  # but the first within the step that leaves the wire
        system = bead()
        system.add_marker("front", "bead")
        system.add_measure(nx.PointPosition("place", "front"))
        system.add_event(nx.Event("there", measure="place", component="x", value=where, stop=True))
        result = nx.simulate(system, 3.0, **METHODS[name])
        assert result.position("bead").values[-1, 0] == pytest.approx(where, abs=1e-6)
    # one that lies behind the end never comes, and no time is told twice
    system = bead()
    system.add_marker("front", "bead")
    system.add_measure(nx.PointPosition("place", "front"))
    system.add_event(nx.Event("there", measure="place", component="x", value=2.5, stop=True))
    with pytest.raises(nx.SolveError, match="joint 'wire' has left its curve") as caught:
        nx.simulate(system, 3.0, **METHODS[name])
    assert np.diff(caught.value.result.t.values).min() > 1e-6


@pytest.mark.slow
def test_a_point_that_is_driven_off_its_curve_is_named() -> None:
    system = bead()
    slider = system.add_body("slider", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("rail", "ground", slider, axis=(1, 0, 0)))
    system.add_joint(nx.Prismatic("post", slider, "bead", axis=(0, 0, 1)))
    system.add_driver(nx.Driver("go", "rail", nx.Linear(0.05, 1.0)))
    reached = nx.kinematics(system, np.linspace(0.0, 1.9, 20))
    assert reached.position("bead").values[-1, 0] == pytest.approx(1.95, abs=0.06)
    with pytest.raises(
        nx.SolveError, match=r"joint 'wire' has left its curve: s = \S+ is not within 0 and 2\.0490"
    ) as caught:
        nx.kinematics(system, np.linspace(0.0, 3.0, 31))
    assert caught.value.where == "wire" and 1.9 < caught.value.time < 2.1


@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-3), nx.Projection(1e-3)], ids=repr)
def test_a_bristle_that_is_bent_too_far_stops_the_run_at_that_step(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for seconds in SLICES:
        parts_take(seconds, monkeypatch)
        system = nx.System("wheel", gravity=(0, 0, 0))
        system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 1.99))
        system.add_joint(nx.Revolute("axle", system.ground, "wheel", axis=(0, 0, 1), v0=5.0))
        system.add_force(nx.JointFriction("dry", "axle", sliding=5.0, stiffness=1e7, damping=1e4))
        with pytest.raises(nx.SolveError, match="the bristle of force 'dry' is bent by ") as caught:
            nx.simulate(system, 0.1, method)
        told.append(caught.value)
    assert str(told[0]) == str(told[1]) and told[0].time == told[1].time
    assert len(told[0].result.t) == len(told[1].result.t) and told[0].time > 0.0
