"""Batches whose members have events at times of their own: all are recorded at the same times, whatever is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx

DT, END = 1e-3, 0.3
STARTS = [0.0, -1.0, -2.0]
"""The first never comes to the event."""
EVENT: dict[str, Any] = {"joint": "hinge", "value": 0.9, "direction": "falling"}
METHODS: dict[str, Any] = {
    "rk4": nx.RungeKutta4(DT),
    "semi-implicit": nx.SemiImplicitEuler(DT),
    "hht": nx.HHT(dt=DT),
    "projection": nx.Projection(dt=DT),
    "implicit-euler": nx.ImplicitEuler(DT),
}
ASKED: dict[str, tuple[dict[str, Any], list[float]]] = {
    "nothing": ({}, [k * DT for k in range(301)]),
    "some steps": ({"output_every": 100}, [0.0, 0.1, 0.2, 0.3]),
    "times": ({"output_times": [0.1, 0.25]}, [0.1, 0.25, 0.3]),
    "times from the start on": ({"output_times": [0.0, 0.1, 0.3]}, [0.0, 0.1, 0.3]),
}


def wheel(**event: Any) -> nx.System:
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.parameter("K", 1.0)
    system.parameter("T", 0.1)
    system.add_body("wheel", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Revolute("hinge", "ground", "wheel", axis=(0, 0, 1), stiffness="=K", q0=1.0))
    system.add_event(nx.Event("harder", **event))
    return system


def softened() -> nx.System:
    return wheel(**EVENT, parameters={"K": 100.0})


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("first", [0, 1])
def test_members_are_recorded_at_the_same_times_and_tell_their_own_events(asked: str, method: str, first: int) -> None:
    options, times = ASKED[asked]
    starts = STARTS[first:] + STARTS[:first]
    batch = nx.simulate(softened(), END, METHODS[method], batch={"v0": {"hinge": starts}}, **options)
    np.testing.assert_allclose(batch.t.values, times, rtol=0, atol=1e-15)
    q = batch.joint_position("hinge").values
    assert batch.failures == {} and np.isfinite(q).all() and q.shape == (3, len(times))
    for m, v0 in enumerate(starts):
        alone = nx.simulate(softened(), END, METHODS[method], v0={"hinge": v0}, output_times=batch.t.values)
        own = batch.member(m)
        assert [one["name"] for one in own.events] == ["harder"] * (v0 != 0.0) and own.events == alone.events
        np.testing.assert_array_equal(own.recording.t, alone.recording.t)
        np.testing.assert_array_equal(q[m], alone.joint_position("hinge").sel(time=batch.t.values).values)


@pytest.mark.parametrize("method", METHODS)
def test_where_no_event_happens_members_keep_every_step_as_they_do_alone(method: str) -> None:
    never = {"joint": "hinge", "value": -9.0}
    batch = nx.simulate(wheel(**never), 0.05, METHODS[method], batch={"v0": {"hinge": [-0.5, -1.0]}})
    alone = nx.simulate(wheel(**never), 0.05, METHODS[method], v0={"hinge": -1.0})
    own = batch.member(1)
    for name, x in vars(alone.recording).items():
        if isinstance(x, np.ndarray):
            np.testing.assert_array_equal(getattr(own.recording, name), x, err_msg=name)
    assert own.recording.settings == alone.recording.settings and "thinned" not in own.recording.settings


def test_what_is_left_out_behind_an_event_is_told() -> None:
    batch = nx.simulate(softened(), END, METHODS["rk4"], batch={"v0": {"hinge": STARTS}})
    assert [bool(batch.member(m).recording.settings.get("thinned")) for m in range(3)] == [False, True, True]


@pytest.mark.parametrize("options", [{}, {"output_times": [0.02, 0.2]}])
def test_a_member_that_an_event_stops_has_no_values_from_there_on(options: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    given: dict[str, Any] = {"batch": {"v0": {"hinge": STARTS}}, **options}
    batch = nx.simulate(wheel(**EVENT, stop=True), END, METHODS["rk4"], **given)
    t, q = batch.t.values, batch.joint_position("hinge").values
    ends = [batch.member(m).t.values[-1] for m in range(3)]
    assert batch.failures == {} and t[-1] == END == ends[0] and 0.0 < ends[2] < ends[1] < END
    for m in range(3):
        np.testing.assert_array_equal(np.isfinite(q[m]), t <= ends[m])
    stored = nx.simulate(wheel(**EVENT, stop=True), END, METHODS["rk4"], store=tmp_path / "runs.zarr", **given)
    assert stored.joint_position("hinge").equals(batch.joint_position("hinge"))


def test_a_batch_of_which_every_member_is_stopped_before_the_first_time_has_none_but_its_own() -> None:
    batch = nx.simulate(
        wheel(**EVENT, stop=True), END, METHODS["rk4"], batch={"v0": {"hinge": [-1.0, -2.0]}}, output_times=[0.2]
    )
    assert batch.t.values.tolist() == [0.2, 0.3] and np.isnan(batch.joint_position("hinge").values).all()
    assert len(batch.member(0).t) and "2 members" in repr(batch)


@pytest.mark.parametrize("values", [{"T": [0.1, 0.1505]}, {"harder.time": [0.1, 0.1505]}, {"K": [1.0, 2.0]}])
def test_events_of_given_times_are_events_like_others(values: dict[str, Any]) -> None:
    system = wheel(time="=T" if "T" in values else 0.1, parameters={"wheel.mass": 2.0})
    batch = nx.simulate(system, END, METHODS["rk4"], batch={"parameters": values})
    assert np.isfinite(batch.joint_position("hinge").values).all() and len(batch.t) > 300
    times = [0.1, 0.1] if "K" in values else [0.1, 0.1505]
    assert [one["time"] for m in range(2) for one in batch.member(m).events] == times


def test_members_whose_steps_are_chosen_and_differ_are_refused() -> None:
    with pytest.raises(
        nx.InputError, match=r"different times, as DormandPrince\(.*\) chooses its steps; give output_times"
    ):
        nx.simulate(softened(), END, nx.DormandPrince(), batch={"v0": {"hinge": STARTS}})
    one = nx.simulate(softened(), END, nx.DormandPrince(), batch={"v0": {"hinge": [-1.0]}})  # which has no other
    assert one.members == 1 and len(one.t) > 2
    alike = nx.simulate(softened(), END, nx.DormandPrince(), batch={"v0": {"hinge": [-1.0, -1.0]}})
    np.testing.assert_array_equal(alike.t.values, one.t.values)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("near", [0.0, 1e-17, -1e-17, 3e-17, 1e-15, -1e-15, 1e-13, -1e-13, 1e-12, -1e-12])
def test_times_that_miss_an_event_or_the_steps_behind_it_by_rounding_are_there_once(method: str, near: float) -> None:
    system = wheel(time=0.1 + near, parameters={"wheel.mass": 2.0})
    times = DT * np.arange(301)
    result = nx.simulate(system, END, METHODS[method], v0={"hinge": -1.0}, output_times=times)
    t = result.t.values
    assert set(times) <= set(t) and (np.diff(t) > 0.0).all() and len(t) <= len(times) + 2
    fine = nx.simulate(system, END, METHODS[method], v0={"hinge": -1.0})
    q = result.joint_position("hinge").sel(time=times)
    np.testing.assert_allclose(
        q.values, np.interp(times, fine.t.values, fine.joint_position("hinge").values), rtol=0, atol=2e-6
    )
