"""`nx.simulate(…, error_estimate=True)`: what is measured beside the error that there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mechanisms import four_bar
from regular_problems import pendulum, spherical_pendulum

import nexdyn as nx

METHODS = [
    nx.RungeKutta4(2e-2),
    nx.ExplicitEuler(1e-3),
    nx.SemiImplicitEuler(1e-3),
    nx.DormandPrince(rtol=1e-5, atol=1e-6),
    nx.BogackiShampine32(rtol=1e-5, atol=1e-6),
    nx.DOP853(rtol=1e-5, atol=1e-6),
    nx.HHT(dt=5e-3),
    nx.HHT(rtol=1e-4),
    nx.ImplicitEuler(1e-3),
    nx.ImplicitEuler(5e-3, bdf2=True),
    nx.Baumgarte(dt=2e-2),
    nx.Baumgarte(rtol=1e-5, atol=1e-6),
    nx.Partitioning(dt=2e-2),
    nx.Partitioning(rtol=1e-5, atol=1e-6),
    nx.Projection(dt=1e-2),
    nx.Projection(rtol=1e-5, atol=1e-6),
]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_second_run_measures_the_error_of_every_coordinate_under_every_method(method: nx.Method) -> None:
    result = nx.simulate(pendulum(), 3.0, method, error_estimate=True)
    found = result.error_estimate
    assert found is not None and found.valid_until is None
    t = found.errors["time"].values
    exact = nx.simulate(pendulum(), 3.0, nx.DormandPrince(rtol=1e-12, atol=1e-13), output_times=t)
    rows = np.abs(result.t.values[:, None] - t).argmin(axis=0)
    for what, name in (("joint_position", "hinge"), ("joint_velocity", "hinge")):
        there = np.abs(getattr(result, what)(name).values[rows] - getattr(exact, what)(name).values)
        measured = getattr(found, what)(name).values
        assert there.max() > 1e-8
        assert 0.5 * there.max() < measured.max() < 3.0 * there.max(), (what, there.max(), measured.max())
    moved = np.linalg.norm(result.position("link").values[rows] - exact.position("link").values, axis=1)
    assert 0.5 * moved.max() < found.position("link").values.max() < 3.0 * moved.max()
    assert 0.1 * moved.max() < 2.0 * found.orientation("link").values.max() < 5.0 * moved.max()
    assert "hinge" in str(found) and type(method).__name__ in str(found)
    with pytest.raises(nx.UnknownNameError, match="hinge"):
        found.joint_position("hnge")


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("signal", [{"time": 0.333}, {"joint": "hinge", "value": 0.2}], ids=["time", "angle"])
def test_errors_behind_an_event_are_measured(method: nx.Method, signal: dict[str, Any]) -> None:
    """What a hinge that turns freely does when its spring begins to act; with both signals at whatever time between two steps."""

    def hinge() -> nx.System:
        system = nx.System("hinge", gravity=(0, 0, 0))
        system.parameter("K", 0.0)
        system.add_body("link", mass=1.0, inertia=(1, 1, 1))
        system.add_joint(nx.Revolute("hinge", "ground", "link", axis=(0, 1, 0), stiffness="=K", v0=0.9))
        system.add_event(nx.Event("harder", parameters={"K": 100.0}, once=True, **signal))
        return system

    result = nx.simulate(hinge(), 2.0, method, error_estimate=True)
    found = result.error_estimate
    assert found is not None
    t, told = result.t.values, found.errors["time"].values
    behind = t > result.events[0]["time"] + 1e-6
    assert (told > result.events[0]["time"]).sum() >= min(behind.sum() - 2, 300)
    asked = told[told > 0.0]
    exact = nx.simulate(hinge(), 2.0, nx.DormandPrince(rtol=1e-12, atol=1e-13), output_times=asked)
    of_exact = np.abs(exact.t.values[:, None] - asked).argmin(axis=0)
    rows = np.abs(t[:, None] - asked).argmin(axis=0)
    there = np.abs(result.joint_position("hinge").values[rows] - exact.joint_position("hinge").values[of_exact]).max()
    assert 0.5 * there < np.nanmax(found.joint_position("hinge").values) < 3.0 * there


LOOP_METHODS = [nx.RungeKutta4(2e-2), nx.HHT(dt=5e-3), nx.Projection(dt=2e-2), nx.ImplicitEuler(2e-3)]


@pytest.mark.parametrize("method", LOOP_METHODS, ids=str)
def test_the_error_of_a_loop_is_measured_too(method: nx.Method) -> None:
    end, start = 2.0, {"A": 1.0}
    found = nx.simulate(four_bar(), end, method, v0=start, error_estimate=True)
    estimate = found.error_estimate
    assert estimate is not None
    t = estimate.errors["time"].values
    exact = nx.simulate(four_bar(), end, nx.DormandPrince(rtol=1e-12, atol=1e-13), v0=start, output_times=t)
    rows = np.abs(found.t.values[:, None] - t).argmin(axis=0)
    for body in ("crank", "coupler", "rocker"):
        there = np.linalg.norm(found.position(body).values[rows] - exact.position(body).values, axis=1).max()
        assert there > 1e-8
        assert 0.5 * there < np.nanmax(estimate.position(body).values) < 3.0 * there


def test_quaternions_are_compared_whatever_their_sign() -> None:
    found = nx.simulate(spherical_pendulum(), 4.0, nx.HHT(rtol=1e-4), error_estimate=True).error_estimate
    assert found is not None
    assert found.joint_position("ball").shape[1] == 4
    assert 1e-6 < found.joint_position("ball").values.max() < 1e-2


@pytest.mark.parametrize(
    "method",
    [
        nx.RungeKutta4(5e-3),
        nx.DormandPrince(rtol=1e-6, atol=1e-8),
        nx.HHT(rtol=1e-5),
        nx.HHT(dt=1e-3),
        nx.ImplicitEuler(2.5e-4, bdf2=True),
        nx.Projection(dt=5e-3),
        nx.Baumgarte(rtol=1e-6, atol=1e-8),
        nx.Partitioning(dt=5e-3),
    ],
    ids=str,
)
def test_where_two_runs_part_exponentially_no_error_is_told(method: nx.Method) -> None:
    system = nx.load("double-pendulum")
    result = nx.simulate(system, 20.0, method, q0={"hinge1": 2.0, "hinge2": 2.0}, error_estimate=True)
    found = result.error_estimate
    assert found is not None and found.valid_until is not None and 2.0 < found.valid_until < 19.0
    known = found.errors["time"].values < found.valid_until
    assert np.isfinite(found.errors["position"].values[known]).all()
    assert np.isnan(found.errors["position"].values[~known]).all()
    assert "part exponentially" in str(found)


def test_an_error_that_grows_slowly_is_told_however_large_it_is() -> None:
    regular = nx.simulate(pendulum(), 60.0, nx.HHT(dt=2e-2), error_estimate=True).error_estimate
    assert regular is not None and regular.valid_until is None  # off by far, and slowly
    assert regular.orientation("link").values.max() > 0.05


def test_an_estimate_for_a_batch_is_refused() -> None:
    with pytest.raises(nx.InputError, match="single runs"):
        nx.simulate(pendulum(), 1.0, nx.RungeKutta4(1e-2), batch={"v0": {"hinge": [0.0, 1.0]}}, error_estimate=True)
