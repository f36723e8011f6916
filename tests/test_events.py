"""Events, joint stops and dry friction: times in closed form, laws of restitution, what is changed and recorded."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.integrate.methods import METHODS as REGISTRY
from nexdyn.integrate.methods import PAIRS
from nexdyn.simulation.choice import simulation_of

G, M = 9.81, 2.0
HIT = math.sqrt(2 * 0.5 / G)
"""When a ball falls 0.5 m."""
METHODS = [nx.RungeKutta4(1e-2), *(pair() for pair in PAIRS.values()), nx.HHT(dt=1e-2, alpha=0.0)]


def ball(*forces: Any, events: Any = (), q0: float = 0.5, gravity: Any = (0, 0, -G), v0: float = 0.0) -> nx.System:
    """A ball on a vertical guide, 0.5 m above its lower limit."""
    system = nx.System("bounce", gravity=gravity)
    system.add_body("ball", mass=M, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("slide", system.ground, "ball", axis=(0, 0, 1), q0=q0, v0=v0, limits=(0.0, 2.0)))
    system.add_measure(nx.PointPosition("where", "ball"))
    for force in forces:
        system.add_force(force)
    for event in events:
        system.add_event(event)
    return system


def times(result: nx.Result, name: str) -> list[float]:
    return [event["time"] for event in result.events if event["name"] == name]


OF_STEPS: dict[str, Any] = {
    "rk4": nx.RungeKutta4(1e-3), "semi-implicit": nx.SemiImplicitEuler(1e-3), "euler": nx.ExplicitEuler(1e-3), "hht": nx.HHT(dt=1e-3),
    "baumgarte": nx.Baumgarte(dt=1e-3), "projection": nx.Projection(dt=1e-3), "partitioning": nx.Partitioning(dt=1e-3),
    "implicit-euler": nx.ImplicitEuler(1e-3), "bdf2": nx.ImplicitEuler(1e-3, bdf2=True),
}  # fmt: skip


@pytest.mark.parametrize("tolerance", [1e-9, 1e-13])
@pytest.mark.parametrize("name", OF_STEPS)
def test_an_event_of_a_time_takes_one_step_to_it(name: str, tolerance: float) -> None:
    """On the grid and off it; no step closes in on what is known. The grid goes on from it."""
    on, off = (nx.Event(f"e{t:g}", time=t, tolerance=tolerance, off="push") for t in (0.003, 0.0105))
    result = nx.simulate(ball(nx.JointForce("push", "slide", 1.0), events=[on, off]), 0.02, OF_STEPS[name])
    assert [event["time"] for event in result.events] == [0.003, 0.0105]
    assert result.recording.steps <= 3 + 8 + 10 + 2, "the steps, and each in which an event was seen once more"
    rows = 1 + 21 + 2  # with each event before and after it; ImplicitEuler's last step is of one and a half
    assert len(result.t) == rows - name.startswith(("implicit", "bdf2"))


# --- where a run begins ---------------------------------------------------------------------------------------------

STEPS_AND_TOLERANCES: dict[str, Any] = {
    **OF_STEPS, "dopri5": nx.DormandPrince(), "bogacki-shampine": nx.BogackiShampine32(), "dop853": nx.DOP853(), "adaptive hht": nx.HHT(),
    "adaptive baumgarte": nx.Baumgarte(), "adaptive projection": nx.Projection(), "adaptive partitioning": nx.Partitioning(),
}  # fmt: skip
DONE: dict[str, dict[str, Any]] = {
    "parameters": {"parameters": {"K": 100.0}},
    "off": {"off": "push"},
    "action": {"action": lambda state: state.velocity.update(hinge=[3.0])},
}


def wheel(*events: nx.Event, K: float = 1.0) -> nx.System:
    """A wheel on a spring, which a torque turns."""
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.parameter("K", K)
    system.parameter("T", 0.3)
    system.add_body("wheel", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Revolute("hinge", "ground", "wheel", axis=(0, 0, 1), stiffness="=K", q0=1.0))
    system.add_force(nx.JointForce("push", "hinge", 2.0))
    for event in events:
        system.add_event(event)
    return system


@pytest.mark.parametrize("does", DONE)
@pytest.mark.parametrize("name", STEPS_AND_TOLERANCES)
def test_an_event_at_the_start_happens_there(name: str, does: str) -> None:
    """As one that comes a billionth of a second later does."""
    method = STEPS_AND_TOLERANCES[name]
    first, later = (nx.simulate(wheel(nx.Event("e", time=t, **DONE[does])), 0.5, method) for t in (0.0, 1e-9))
    assert [event["time"] for event in first.events] == [0.0]
    assert first.joint_position("hinge").values[-1] == pytest.approx(later.joint_position("hinge").values[-1], abs=2e-5)
    assert first.energy().total.values[-1] == pytest.approx(later.energy().total.values[-1], rel=2e-4)
    assert np.all(np.diff(first.t.values) > 0.0)
    assert np.all(np.isfinite(first.joint_acceleration("hinge").values))


def test_a_run_may_end_where_it_begins() -> None:
    result = nx.simulate(wheel(nx.Event("e", time=0.0, stop=True)), 0.5, nx.RungeKutta4(1e-3))
    assert result.t.values.tolist() == [0.0]
    assert "event 'e' ended the run at t = 0 s" in result.message


def test_events_at_the_start_happen_in_the_order_they_are_given_and_once() -> None:
    events = [nx.Event("hard", time=0.0, parameters={"K": 100.0}), nx.Event("free", time=0.0, off="push")]
    result = nx.simulate(wheel(*events), 0.5, nx.RungeKutta4(1e-3))
    assert [event["name"] for event in result.events] == ["hard", "free"]
    same = nx.simulate(wheel(nx.Event("free", time=0.0, off="push"), K=100.0), 0.5, nx.RungeKutta4(1e-3))
    assert result.joint_position("hinge").values[-1] == pytest.approx(
        same.joint_position("hinge").values[-1], abs=1e-12
    )


def test_members_of_a_batch_have_events_at_the_start_too() -> None:
    system = wheel(nx.Event("hard", time="=T", parameters={"K": 100.0}))
    batch = nx.simulate(
        system, 0.5, nx.RungeKutta4(1e-3), batch={"parameters": {"T": [0.0, 1e-9]}}, output_times=[0.0, 0.5]
    )
    ends = batch.joint_position("hinge").values[:, -1]
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)


def test_a_run_that_goes_on_has_events_where_it_begins_and_tells_those_that_have_passed() -> None:
    method = nx.RungeKutta4(1e-3)
    half = nx.simulate(wheel(), 0.25, method)
    whole = nx.simulate(wheel(nx.Event("e", time=0.25, off="push")), 0.5, method)
    result = nx.simulate(wheel(nx.Event("e", time=0.25, off="push")), 0.5, method, initial=half)
    assert times(result, "e") == [0.25]
    assert result.joint_position("hinge").values[-1] == whole.joint_position("hinge").values[-1]
    with pytest.warns(
        nx.NexDynWarning, match=r"event 'e' is at 0\.1 s, which has passed at t = 0\.25 s: it does not happen"
    ):
        late = nx.simulate(wheel(nx.Event("e", time=0.1, off="push")), 0.5, method, initial=half)
    assert late.events == []
    assert [(one["kind"], one["where"], one["value"]) for one in late.warnings] == [("event", "e", 0.1)]
    # one that has happened is not told, and does not happen again
    again = nx.simulate(wheel(nx.Event("e", time=0.1, off="push")), 0.25, method)
    assert nx.simulate(again.system, 0.5, method, initial=again).events == []


def test_an_event_that_another_moves_into_the_past_is_told() -> None:
    events = [nx.Event("first", time=0.2, parameters={"T": 0.1}), nx.Event("second", time="=T", off="push")]
    with pytest.warns(nx.NexDynWarning, match=r"event 'second' is at 0\.1 s, which has passed at t = 0\.2 s"):
        result = nx.simulate(wheel(*events), 0.5, nx.RungeKutta4(1e-3))
    assert [event["name"] for event in result.events] == ["first"]
    # moved to now, it happens now; moved ahead, later
    for T, expected in ((0.2, 0.2), (0.4, 0.4)):
        events = [nx.Event("first", time=0.2, parameters={"T": T}), nx.Event("second", time="=T", off="push")]
        found = nx.simulate(wheel(*events), 0.5, nx.RungeKutta4(1e-3))
        assert times(found, "second") == pytest.approx([expected], abs=1e-9)


@pytest.mark.parametrize("name", STEPS_AND_TOLERANCES)
def test_times_asked_for_may_be_those_of_both_rows_of_an_event(name: str) -> None:
    """As the times of another run with the same event are."""
    system = wheel(nx.Event("e", time=0.333, parameters={"K": 100.0}))
    asked = [0.1, 0.333, math.nextafter(0.333, 1.0), 0.5]
    result = nx.simulate(system, 0.5, STEPS_AND_TOLERANCES[name], output_times=asked)
    assert set(asked) <= set(result.t.values.tolist())


# --- where ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
@pytest.mark.parametrize(
    "signal",
    [
        {"joint": "slide"},
        {"measure": "where", "component": "z"},
        {"function": lambda t, q, v: q[0] ** 3},
        {"joint": "slide", "of": "velocity", "value": -G * HIT, "direction": "falling"},
    ],
    ids=["joint", "measure", "function", "velocity"],
)
def test_a_crossing_is_located_to_its_tolerance_and_can_end_the_run(method: Any, signal: dict[str, Any]) -> None:
    result = nx.simulate(ball(events=[nx.Event("down", stop=True, **signal)]), 1.0, method)
    within = 2e-9 if "function" in signal else 1e-14  # within rounding, but where the signal touches its value flat
    assert times(result, "down") == pytest.approx([HIT], abs=within)
    assert float(result.t[-1]) == times(result, "down")[0]
    assert result.status == "finished"
    assert "event 'down' ended the run at t = 0.319" in result.message


@pytest.mark.parametrize(
    "method",
    [nx.RungeKutta4(2**-7), nx.HHT(dt=2**-7), nx.Projection(dt=2**-7), nx.ImplicitEuler(2**-7)],
    ids=lambda m: m.name,
)
def test_an_event_on_a_step_happens_once(method: Any) -> None:
    passing = [nx.Event("noon", time=0.25), nx.Event("down", joint="slide")]
    result = nx.simulate(ball(events=passing, gravity=(0, 0, 0), v0=-1.0), 1.0, method)
    assert times(result, "noon") == [0.25]
    assert times(result, "down") == pytest.approx([0.5], abs=2e-9)


def test_a_direction_and_once_choose_among_crossings() -> None:
    spring = nx.PointSpring("spring", "ball", "ground", stiffness=M * 4.0 * math.pi**2)  # one turn a second
    for direction, expected in (
        ("both", [0.25, 0.75, 1.25, 1.75]),
        ("falling", [0.25, 1.25]),
        ("rising", [0.75, 1.75]),
    ):
        event = nx.Event("zero", joint="slide", direction=direction)
        system = ball(spring_like(), events=[event], gravity=(0, 0, 0))
        assert times(nx.simulate(system, 2.0, nx.DormandPrince()), "zero") == pytest.approx(expected, abs=1e-7)
    event = nx.Event("zero", joint="slide", once=True)
    system = ball(spring_like(), events=[event], gravity=(0, 0, 0))
    assert times(nx.simulate(system, 2.0, nx.DormandPrince()), "zero") == pytest.approx([0.25], abs=1e-7)
    assert spring.name == "spring"


def spring_like() -> Any:
    """A spring in the joint: one turn a second."""
    return nx.PositionActuator("spring", "slide", kp=M * 4.0 * math.pi**2)


def test_an_action_goes_with_implicit_euler_too() -> None:
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
    system.add_joint(nx.Revolute("axle", system.ground, "wheel", axis=(0, 0, 1), v0=3.0))
    system.add_event(nx.Event("brake", time=0.05, action=lambda state: state.velocity.update(axle=[1.0])))
    result = nx.simulate(system, 0.1, nx.ImplicitEuler(1e-3))
    assert [event["name"] for event in result.events] == ["brake"]
    assert result.joint_position("axle").values[-1] == pytest.approx(3.0 * 0.05 + 1.0 * 0.05, abs=1e-6)


def test_events_leave_the_grid_of_outputs_and_its_times_as_asked() -> None:
    event = nx.Event("down", joint="slide")
    plain = nx.simulate(ball(events=[event]), 0.6, nx.RungeKutta4(1e-2), output_every=10)
    assert len(plain.t) < 12
    asked = [0.1, 0.25, 0.5]
    result = nx.simulate(ball(events=[nx.Event("down", joint="slide")]), 0.6, nx.DormandPrince(), output_times=asked)
    t = result.t.values
    assert set(asked) <= set(t.tolist())
    assert np.allclose(result.joint_position("slide").values, 0.5 - 0.5 * G * t**2, atol=1e-9)


def test_an_event_at_a_time_changes_parameters_and_results_know_it() -> None:
    for method in (nx.DormandPrince(), nx.HHT(dt=1e-3, alpha=0.0)):
        change = nx.Event("release", time=0.2, parameters={"push.effort": 0.0})
        push = nx.JointForce("push", "slide", M * G + 4.0)
        result = nx.simulate(ball(push, events=[change]), 0.5, method)
        v = result.joint_velocity("slide").values
        assert v[-1] == pytest.approx(2.0 * 0.2 - G * 0.3, abs=1e-7)
        assert result.events[0]["change"] == {"parameters": {"push.effort": 0.0}}
        a = result.joint_acceleration("slide").values
        assert a[0] == pytest.approx(2.0)
        assert a[-1] == pytest.approx(-G)
        # the joint transmits the effort before, and none after
        fz = result.transmitted("slide").sel(component="fz").values
        assert fz[0] == pytest.approx(M * G + 4.0, rel=1e-9)
        assert abs(fz[-1]) < 1e-8
        t = result.t.values
        assert (np.diff(t) > 0.0).all()


def test_forces_are_switched_off_and_on_again(tmp_path: Path) -> None:
    system = ball(
        nx.JointForce("push", "slide", M * G),
        events=[nx.Event("off", time=0.1, off="push"), nx.Event("on", time=0.3, on=["push"])],
    )
    result = nx.simulate(system, 0.5, nx.RungeKutta4(1e-3))
    assert result.joint_velocity("slide").values[-1] == pytest.approx(-G * 0.2, abs=1e-8)
    fz = result.transmitted("slide").sel(component="fz")
    assert float(fz.sel(time=0.2, method="nearest")) == pytest.approx(0.0, abs=1e-9)
    assert float(fz[-1]) == pytest.approx(M * G)
    effort = result.effort("push")
    assert float(effort.sel(time=0.2, method="nearest")) == 0.0
    assert effort.values[[0, -1]] == pytest.approx([M * G, M * G])
    result.save(tmp_path / "run.nc")
    again = nx.open_result(tmp_path / "run.nc")
    assert again.events == result.events
    assert np.allclose(again.transmitted("slide").values, result.transmitted("slide").values)


def test_a_contact_that_is_switched_off_tells_no_force() -> None:
    floor = nx.PlaneContact("floor", "ball", radius=0.1, stiffness=1e4)
    system = ball(floor, events=[nx.Event("off", time=0.1, off="floor")], q0=0.09)
    result = nx.simulate(system, 0.15, nx.RungeKutta4(1e-3))
    normal = result.contacts("floor")["normal"].squeeze()
    assert float(normal[0]) == pytest.approx(1e4 * 0.01**1.5)
    assert not normal.sel(time=slice(0.1005, None)).values.any()
    assert result.joint_acceleration("slide").values[-1] == pytest.approx(-G)


def test_an_action_changes_the_state_and_may_end_the_run() -> None:
    seen: list[float] = []

    def turn_back(state: Any) -> None:
        seen.append(float(state.velocity["slide"][0]))
        state.velocity["slide"] = -state.velocity["slide"]
        state.stop = len(seen) == 2

    for method in METHODS:
        seen.clear()
        event = nx.Event("floor", joint="slide", direction="falling", action=turn_back)
        result = nx.simulate(ball(events=[event]), 5.0, method)
        assert times(result, "floor") == pytest.approx([HIT, 3 * HIT], abs=1e-6)
        assert seen == pytest.approx([-G * HIT] * 2, rel=1e-6)
        assert float(result.t[-1]) == pytest.approx(3 * HIT, abs=1e-6)
        # before and after the first stand beside each other
        v, t = result.joint_velocity("slide").values, result.t.values
        first = np.flatnonzero(np.isclose(t, times(result, "floor")[0], atol=1e-12))
        assert v[first] == pytest.approx([-G * HIT, G * HIT], rel=1e-6)


# --- joint stops ----------------------------------------------------------------------------------------------------


BOUNCED: dict[str, tuple[nx.Method, float]] = {
    "rk4": (nx.RungeKutta4(1e-2), 2e-6),
    "dormand-prince": (nx.DormandPrince(), 2e-6),
    "bogacki-shampine": (nx.BogackiShampine32(), 2e-6),
    "dop853": (nx.DOP853(), 2e-6),
    "hht": (nx.HHT(dt=1e-2, alpha=0.0), 2e-5),  # of order 2, with steps of 10 ms
    "hht adaptive": (nx.HHT(rtol=1e-6), 2e-5),
    "baumgarte": (nx.Baumgarte(1e-2), 2e-6),
    "baumgarte adaptive": (nx.Baumgarte(), 2e-6),
    "projection": (nx.Projection(1e-2), 2e-6),
    "projection adaptive": (nx.Projection(), 2e-6),
    "partitioning": (nx.Partitioning(1e-2), 2e-6),
    "partitioning adaptive": (nx.Partitioning(), 2e-6),
}
"""Methods of order 2 and more that bounce, with what they miss."""
LOW_ORDER: dict[str, tuple[Callable[[float], nx.Method], int]] = {
    "euler": (nx.ExplicitEuler, 1),
    "semi-implicit": (nx.SemiImplicitEuler, 1),
    "implicit-euler": (nx.ImplicitEuler, 1),
    "bdf2": (lambda dt: nx.ImplicitEuler(dt, bdf2=True), 2),
}
"""Those that come nearer as dt shrinks, with their orders."""


def test_every_method_bounces() -> None:
    assert {method.name for method, _ in BOUNCED.values()} | {make(1e-3).name for make, _ in LOW_ORDER.values()} == set(
        REGISTRY
    )


@pytest.mark.parametrize(("method", "near"), BOUNCED.values(), ids=BOUNCED)
def test_each_bounce_leaves_the_square_of_the_restitution_of_the_height(method: Any, near: float) -> None:
    e = 0.8
    stop = nx.JointStop("stop", "slide", stiffness=1e7, restitution=e)
    apex = nx.Event("apex", joint="slide", of="velocity", direction="falling")
    result = nx.simulate(ball(stop, events=[apex]), 1.1, method)
    assert times(result, "stop") == pytest.approx([HIT, HIT * (1 + 2 * e)], abs=near)
    t, q = result.t.values, result.joint_position("slide").values
    heights = [q[np.argmin(abs(t - when))] for when in times(result, "apex")]
    assert heights == pytest.approx([0.5 * e**2, 0.5 * e**4], rel=5 * near)
    energy = result.energy().total.values
    assert energy[-1] == pytest.approx(M * G * 0.5 * e**4, rel=5 * near)
    assert all(event.get("impulse") for event in result.events if event["name"] == "stop")


@pytest.mark.parametrize(("make", "order"), LOW_ORDER.values(), ids=LOW_ORDER)
def test_bounces_of_low_order_keep_the_law_of_restitution_and_come_nearer_as_dt_shrinks(make: Any, order: int) -> None:
    e, errors = 0.8, []
    for dt in (4e-3, 1e-3):
        stop = nx.JointStop("stop", "slide", stiffness=1e7, restitution=e)
        result = nx.simulate(ball(stop), 0.9, make(dt))
        v, t = result.joint_velocity("slide").values, result.t.values
        for when in times(result, "stop"):
            before, after = v[np.abs(t - when) < 1e-10][[0, -1]]
            assert after == pytest.approx(-e * before, rel=1e-8)  # the law itself, in any step
        errors.append(np.abs(np.array(times(result, "stop")) - [HIT, HIT * (1 + 2 * e)]).max())
    assert errors[0] < (2e-2 if order == 1 else 2e-3) and errors[1] < 0.4 * errors[0]


@pytest.mark.parametrize("bdf2", [False, True], ids=["order 1", "order 2"])
def test_bounces_under_implicit_euler_come_early_by_what_its_order_leaves(bdf2: bool) -> None:
    """Flights by implicit Euler fall by ½ g t dt more: half a step early at the first bounce, 40 ms of 2.5 s with 1 ms."""
    e, late = 0.8, []
    exact = HIT * (1 + 2 * np.cumsum([0.0, *e ** np.arange(1, 8)]))
    for dt in (2e-3, 1e-3):
        stop = nx.JointStop("stop", "slide", stiffness=1e7, restitution=e)
        struck = times(nx.simulate(ball(stop), 2.5, nx.ImplicitEuler(dt, bdf2=bdf2)), "stop")
        late.append(np.array(struck[: len(exact)]) - exact)
    if not bdf2:
        assert late[1][0] == pytest.approx(-0.5e-3, rel=0.01)
    assert abs(late[1]).max() < (5e-4 if bdf2 else 0.04)
    assert np.log2(late[0][1:] / late[1][1:]) == pytest.approx(2 if bdf2 else 1, abs=0.1)


def bounces_of_implicit_euler(dt: float, e: float, t_end: float) -> np.ndarray:
    """When a mass bounces that falls by implicit Euler, by hand: v ← v − g dt, y ← y + dt v, the last step of a flight to y = 0."""
    t, y, v, found = 0.0, 0.5, 0.0, []
    while t < t_end:
        v_next = v - G * dt
        if y + dt * v_next > 0.0:
            t, y, v = t + dt, y + dt * v_next, v_next
            continue
        last = (v + math.sqrt(v * v + 4.0 * G * y)) / (2.0 * G)  # y + h (v − g h) = 0
        t, y, v = t + last, 0.0, -e * (v - G * last)
        found.append(t)
    return np.array([t for t in found if t < t_end])


@pytest.mark.parametrize("dt", [2e-3, 1e-3])
def test_implicit_euler_bounces_as_often_as_its_shorter_flights_do(dt: float) -> None:
    """10 bounces before 2.58 s in closed form; flights that are dt shorter make more of them, 15 with 2 ms, 11 with 1 ms."""
    e, t_end = 0.8, 2.58
    stop = nx.JointStop("stop", "slide", stiffness=1e7, restitution=e)
    struck = times(nx.simulate(ball(stop), t_end, nx.ImplicitEuler(dt)), "stop")
    expected = bounces_of_implicit_euler(dt, e, t_end)
    assert len(struck) == len(expected) > 10
    assert struck == pytest.approx(expected, abs=0.25 * dt)  # events are closed in by steps that are kept


def test_a_bounce_below_the_rest_speed_is_left_to_the_compliant_stop_which_carries_the_weight() -> None:
    stop = nx.JointStop("stop", "slide", stiffness=1e4, damping=20.0, restitution=0.3, rest_speed=0.05)
    result = nx.simulate(ball(stop), 2.0, nx.DormandPrince())
    struck = [event for event in result.events if event.get("impulse")]
    assert 2 <= len(struck) <= 5
    assert result.joint_position("slide").values[-1] == pytest.approx(-M * G / 1e4, rel=1e-4)
    assert float(result.effort("stop")[-1]) == pytest.approx(M * G, rel=1e-4)


@pytest.mark.parametrize(
    "method",
    [nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.DormandPrince(), nx.Projection(1e-3), nx.ImplicitEuler(1e-3, bdf2=True)],
    ids=lambda m: type(m).__name__,
)
def test_a_run_cut_at_an_impact_tells_it_once(method: Any) -> None:

    def bouncing() -> nx.System:
        return ball(nx.JointStop("stop", "slide", stiffness=1e6, restitution=0.3))

    end = 0.55
    whole = nx.simulate(bouncing(), end, method)
    first, second = times(whole, "stop")[:2]
    for cut in (first, math.nextafter(first, 2.0), first + 1e-10, second):
        half = nx.simulate(bouncing(), cut, method)
        rest = nx.simulate(half.system, end, method, initial=half)
        assert len(half.events) + len(rest.events) == len(whole.events)
        assert all(event.get("impulse") for event in rest.events[:1])
        assert float(rest.joint_position("slide")[-1]) == pytest.approx(
            float(whole.joint_position("slide")[-1]), abs=1e-5
        )
        in_memory = simulation_of(bouncing(), method)
        in_memory.run(cut)
        in_memory.run(min(cut + 1e-10, end))  # not yet back from the end
        assert len(in_memory.run(end).events) == len(whole.events)


def arm(method: Any, stop: Any) -> nx.Result:
    """Two links that swing freely, the second joint against a stop."""
    system = nx.System("arm", gravity=(0, -G, 0))
    for i, x in enumerate((0.5, 1.5)):
        system.add_body(f"link{i}", mass=1.0 + i, inertia=(0.1, 0.1, 0.2), position=(x, 0, 0))
    system.add_joint(nx.Revolute("shoulder", system.ground, "link0", at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(
        nx.Revolute("elbow", "link0", "link1", at=(1, 0, 0), axis=(0, 0, 1), limits=(-0.4, 0.4), q0=0.0, v0=-6.0)
    )
    system.add_force(stop)
    return nx.simulate(system, 0.25, method)


IN_A_CHAIN: dict[str, nx.Method] = {
    "dormand-prince": nx.DormandPrince(),
    "dop853": nx.DOP853(),
    "rk4": nx.RungeKutta4(1e-3),
    "euler": nx.ExplicitEuler(1e-3),
    "semi-implicit": nx.SemiImplicitEuler(1e-3),
    "hht": nx.HHT(dt=1e-3, alpha=0.0),
    "hht adaptive": nx.HHT(rtol=1e-6),
    "baumgarte": nx.Baumgarte(1e-3),
    "projection": nx.Projection(1e-3),
    "partitioning": nx.Partitioning(1e-3),
    "implicit-euler": nx.ImplicitEuler(1e-3),
    "bdf2": nx.ImplicitEuler(1e-3, bdf2=True),
}


@pytest.mark.parametrize("method", IN_A_CHAIN.values(), ids=IN_A_CHAIN)
def test_an_impact_in_a_chain_obeys_newtons_law_and_costs_what_the_law_says(method: Any) -> None:
    e = 0.6
    result = arm(method, nx.JointStop("stop", "elbow", stiffness=1e6, restitution=e))
    when = times(result, "stop")[0]
    i = int(np.argmin(abs(result.t.values - when)))
    v = np.column_stack([result.joint_velocity(name).values for name in ("shoulder", "elbow")])
    before, after = v[i], v[i + 1]
    # implicit Euler closes joints by penalties; its pose is closed again where the velocities jump
    soft = method.name == "implicit-euler"
    assert after[1] == pytest.approx(-e * before[1], rel=3e-6 if soft else 1e-8)
    tree = nx.Tree(result.system)
    q = [float(result.joint_position(name)[i]) for name in tree.joint_names]
    inverse = np.linalg.inv(tree.crba(np.array(q)))
    # the momentum of the shoulder's freedom is not touched, and the energy falls by ½ (1 − ε²) v²/(M⁻¹)_jj
    assert (tree.crba(np.array(q)) @ (after - before))[0] == pytest.approx(0.0, abs=2e-5 if soft else 1e-7)
    kinetic = result.energy().kinetic.values
    assert kinetic[i] - kinetic[i + 1] == pytest.approx(
        0.5 * (1 - e**2) * before[1] ** 2 / inverse[1, 1], rel=1e-5 if soft else 1e-6
    )


@pytest.mark.parametrize("method", [nx.DormandPrince(), nx.HHT(dt=1e-4)], ids=lambda m: m.name)
def test_a_compliant_stop_leaves_its_restitution_in_minimal_and_absolute_coordinates(method: Any) -> None:
    stop = nx.JointStop("stop", "slide", stiffness=1e5, exponent=1.5, restitution=0.5, impact_speed=1.0)
    system = ball(stop, gravity=(0, 0, 0), q0=0.01, v0=-1.0)
    result = nx.simulate(system, 0.1, method)
    loose = {"dopri5": 1e-6, "hht": 2e-3}[method.name]
    assert result.joint_velocity("slide").values[-1] == pytest.approx(0.5, rel=loose)
    energy = result.energy().total.values
    assert energy[-1] == pytest.approx(0.25 * energy[0], rel=2 * loose)


# --- dry friction ---------------------------------------------------------------------------------------------------


def block(slope: float, **friction: Any) -> nx.System:
    """A block on an incline, on a guide along it."""
    system = nx.System("incline", gravity=(G * math.sin(slope), 0, -G * math.cos(slope)))
    system.add_body("block", mass=M, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("slide", system.ground, "block", axis=(1, 0, 0)))
    system.add_force(nx.JointFriction("dry", "slide", **friction))
    return system


def test_a_block_on_an_incline_sticks_without_creep() -> None:
    slope, k = 0.3, 1e5
    load, sliding = M * G * math.sin(slope), 0.5 * M * G * math.cos(slope)
    assert load < 0.7 * sliding
    system = block(slope, sliding=sliding, stiffness=k, damping=2 * math.sqrt(k * M))
    result = nx.simulate(system, 20.0, nx.DormandPrince(rtol=1e-8))
    q = result.joint_position("slide").values
    assert q[-1] == pytest.approx(load / k, rel=1e-6)  # the bound of the page, reached and kept
    assert q.max() <= load / k * (1.0 + 1e-6)
    assert abs(result.joint_velocity("slide").values[-1]) < 1e-9
    assert float(result.effort("dry")[-1]) == pytest.approx(-load, rel=1e-6)


def test_a_block_slides_down_a_steeper_incline_with_what_friction_leaves() -> None:
    slope, mu = 0.8, 0.5
    sliding = mu * M * G * math.cos(slope)
    system = block(slope, sliding=sliding, stiffness=1e5, damping=200.0)
    result = nx.simulate(system, 1.0, nx.DormandPrince(rtol=1e-8))
    a = G * (math.sin(slope) - mu * math.cos(slope))
    assert result.joint_velocity("slide").values[-1] == pytest.approx(a, rel=2e-3)
    # the work of friction is what the energy loses
    q, f, E = result.joint_position("slide").values, result.effort("dry").values, result.energy().total.values
    work = float(np.sum(0.5 * np.diff(q) * (f[1:] + f[:-1])))
    assert E[-1] - E[0] == pytest.approx(work, rel=1e-3)


def test_stick_slip_has_the_period_of_the_closed_form() -> None:
    k, F_s, F_c, v = 100.0, 5.0, 3.0, 0.1
    system = nx.System("stick-slip", gravity=(0, 0, 0))
    system.add_body("block", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("slide", system.ground, "block", axis=(1, 0, 0)))
    system.add_force(nx.PositionActuator("spring", "slide", kp=k, target=f"={v}*t"))
    system.add_force(
        nx.JointFriction("dry", "slide", sliding=F_c, static=F_s, stribeck_speed=1e-3, stiffness=1e7, damping=3000.0)
    )
    system.add_event(nx.Event("breaks away", joint="slide", of="velocity", value=0.05, direction="rising"))
    result = nx.simulate(system, 4.0, nx.DormandPrince(rtol=1e-6, atol=1e-9), output_every=20)
    found = np.diff(times(result, "breaks away"))
    omega, rise = math.sqrt(k), (F_s - F_c) / k
    slip = 2.0 / omega * (math.pi - math.atan(rise * omega / v))
    assert len(found) >= 3
    assert found[1:] == pytest.approx(2.0 * rise / v + slip, rel=0.02)


# --- scenes, and what is wrong --------------------------------------------------------------------------------------

SCENE = """
gravity: [0, 0, -9.81]
bodies:
  ball: {mass: 2}
joints:
  slide: {type: prismatic, parent: ground, child: ball, axis: [0, 0, 1], q0: 0.5, limits: [0, 2]}
measures:
  where: {type: point_position, of: ball}
forces:
  stop: {type: joint_stop, joint: slide, stiffness: 1.0e+7, restitution: 0.8}
  push: {type: joint_force, joint: slide, effort: 0}
  dry: {type: joint_friction, joint: slide, sliding: 1e-9, stiffness: 1e-9}
events:
  apex: {joint: slide, of: velocity, direction: falling}
  low: {measure: where, component: z, value: 0.1, direction: falling, off: [push], parameters: {push.effort: 1}}
  end: {time: 1.1, stop: true}
simulation: {t_end: 5, method: {type: rk4, dt: 1e-2}}
"""


def test_a_scene_says_the_same_and_is_written_again(tmp_path: Path) -> None:
    (tmp_path / "bounce.yaml").write_text(SCENE)
    system = nx.load(tmp_path / "bounce.yaml")
    nx.save_scene(system, tmp_path / "again.yaml")
    for known in (system, nx.load(tmp_path / "again.yaml")):
        result = nx.simulate(known, 5.0, nx.RungeKutta4(1e-2))
        assert times(result, "stop") == pytest.approx([HIT, HIT * 2.6], abs=1e-5)
        assert float(result.t[-1]) == pytest.approx(1.1, abs=1e-9)
        assert len(times(result, "low")) == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "event 'e' watches nothing; give one of measure, joint, contact, function, time"),
        ({"joint": "slide", "time": 1.0}, "event 'e' has joint and time"),
        ({"joint": "slid"}, "event 'e': no joint 'slid'; did you mean 'slide'"),
        ({"joint": "slide", "freedom": 1}, "freedom of event 'e' is 1"),
        ({"joint": "slide", "of": "speed"}, "signal of event 'e'"),
        ({"joint": "slide", "direction": "up"}, "direction of event 'e'"),
        ({"measure": "where"}, "component of event 'e' is None"),
        ({"measure": "there", "component": "x"}, "no measure 'there'"),
        ({"joint": "slide", "tolerance": 0.0}, "tolerance of event 'e'"),
        ({"joint": "slide", "off": "puhs"}, "no force, contact or clamp 'puhs'"),
        ({"joint": "slide", "parameters": {"push.efort": 1}}, "parameters of event 'e'"),
        ({"function": 3.0}, "function of event 'e' is 3.0"),
    ],
)
def test_a_wrong_event_is_refused_by_name(wrong: dict[str, Any], message: str) -> None:
    system = ball(nx.JointForce("push", "slide", 1.0))
    with pytest.raises(nx.InputError, match=message):
        system.add_event(nx.Event("e", **wrong))


def test_an_event_function_that_raises_is_told_with_event_and_time() -> None:
    def fails(t: float, q: Any, v: Any) -> float:
        return 1.0 / 0.0 if t > 0.1 else 1.0

    system = ball(events=[nx.Event("bad", function=fails)])
    with pytest.raises(
        nx.SolveError, match=r"function of event 'bad' raised ZeroDivisionError.* at t = 0.11 s"
    ) as caught:
        nx.simulate(system, 1.0, nx.RungeKutta4(1e-2))
    assert caught.value.where == "bad"
    assert caught.value.time == pytest.approx(0.11)
    assert caught.value.result is not None
    system = ball(events=[nx.Event("bad", function=lambda t, q, v: math.nan if t else 1.0)])
    with pytest.raises(nx.SolveError, match="function of event 'bad' gives nan"):
        nx.simulate(system, 1.0, nx.RungeKutta4(1e-2))


def test_an_action_that_leaves_the_value_and_repeats_without_end_is_told() -> None:
    def push_up(state: Any) -> None:
        state.position["slide"] = np.array([1e-13])
        state.velocity["slide"] = np.array([-1.0])

    system = ball(events=[nx.Event("again", joint="slide", direction="falling", action=push_up)])
    with pytest.raises(nx.SolveError, match="event 'again' happens again and again"):
        nx.simulate(system, 1.0, nx.RungeKutta4(1e-2))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lower": 1.0, "upper": -1.0}, "limits of force 's' are reversed"),
        ({"lower": 3.0}, "limits of force 's' are reversed: lower 3, upper 2"),
        ({"restitution": -0.1}, "restitution of force 's' is -0.1"),
        ({"restitution": 1.5}, "restitution of force 's' is 1.5"),
        ({"impact_speed": 1.0}, "force 's' has an impact_speed and no restitution"),
        ({"stiffness": 0.0}, "stiffness of force 's' is 0"),
        ({"rest_speed": 0.0}, "rest_speed of force 's' is 0"),
    ],
)
def test_a_wrong_joint_stop_is_refused_by_name(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        ball(nx.JointStop("s", "slide", **({"stiffness": 1.0} | wrong)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sliding": 0.0}, "sliding of force 'dry' is 0"),
        ({"static": 1.0}, "static of force 'dry' is 1, less than sliding, 2"),
        ({"elastic": 1.0}, "elastic of force 'dry' is 1"),
        ({"stribeck_speed": 0.0}, "stribeck_speed of force 'dry' is 0"),
    ],
)
def test_wrong_friction_is_refused_by_name(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        block(0.1, **({"sliding": 2.0, "stiffness": 1.0} | wrong))


@pytest.mark.parametrize("every", [1.001, 1.37])
def test_times_asked_for_between_steps_of_hht_disturb_no_step_beside_events(every: float) -> None:
    """A step of a thousandth of dt before each, and velocities and accelerations moved to it, ended in no convergence."""
    system, method = nx.load("double-pendulum"), nx.HHT(dt=2e-3)
    system.add_event(nx.Event("low", function=lambda t, q, v: q[0], value=1.2, direction="falling"))
    whole = nx.simulate(system, 0.4, method)
    assert len(times(whole, "low")) == 1
    wanted = [*np.arange(every, 199, every) * method.dt, 0.4]
    asked = nx.simulate(system, 0.4, method, output_times=wanted)
    np.testing.assert_allclose(times(asked, "low"), times(whole, "low"), rtol=0, atol=1e-9)
    assert set(np.round(wanted, 12)) <= set(np.round(asked.t.values, 12)) and (np.diff(asked.t) > 0.0).all()
    np.testing.assert_allclose(asked.position("rod2")[-1], whole.position("rod2")[-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(asked.reaction("hinge2")[-1], whole.reaction("hinge2")[-1], rtol=0, atol=1e-5)
    precise = nx.simulate(nx.load("double-pendulum"), 0.4, nx.DormandPrince(rtol=1e-10), output_times=wanted)
    told = asked.position("rod2").values[np.isin(np.round(asked.t.values, 12), np.round(wanted, 12))]
    assert np.abs(told - precise.position("rod2").values).max() < 2e-5


def test_reactions_in_loops_are_those_of_the_system_as_events_left_it() -> None:
    """A spring of a four-bar that an event stiffens: reactions, energy and efforts behind it, by both formulations."""
    Y = (0.0, 1.0, 0.0)

    def four_bar() -> nx.System:
        system = nx.System("four-bar")
        for name, p in (("crank", (0.0, 0.0, 0.5)), ("coupler", (0.6, 0.0, 1.0)), ("rocker", (1.2, 0.0, 0.5))):
            system.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=p)
        for name, a, b, at in (
            ("A", "ground", "crank", (0.0, 0.0, 0.0)), ("B", "crank", "coupler", (0.0, 0.0, 1.0)),
            ("C", "coupler", "rocker", (1.2, 0.0, 1.0)), ("D", "ground", "rocker", (1.2, 0.0, 0.0)),
        ):  # fmt: skip
            system.add_joint(nx.Revolute(name, a, b, at=at, axis=Y))
        system.add_force(nx.PointSpring("spring", "ground", "coupler", stiffness=20.0, at_a=(0.0, 0.0, 0.2)))
        system.add_event(nx.Event("stiffer", time=0.05, parameters={"spring.stiffness": 200.0}))
        return system

    trees = nx.simulate(four_bar(), 0.1, nx.RungeKutta4(1e-3), loops=nx.Loops(cut="C"))
    bodies = nx.simulate(four_bar(), 0.1, nx.HHT(dt=1e-4, alpha=0.0), output_every=10)
    for joint in ("A", "C", "D"):
        for k in (20, -1):
            f = [result.reaction(joint).sel(component=["fx", "fz"]).values[k] for result in (trees, bodies)]
            np.testing.assert_allclose(f[0], f[1], rtol=1e-4, atol=1e-3)
    assert float(trees.energy()["elastic"][-1]) == pytest.approx(float(bodies.energy()["elastic"][-1]), rel=1e-5)
    assert float(trees.energy()["elastic"][-1]) > 5.0 * float(trees.energy()["elastic"][0])


@pytest.mark.parametrize(
    "method",
    [nx.Baumgarte(dt=2e-3), nx.Projection(dt=2e-3), nx.HHT(dt=2e-3), nx.RungeKutta4(2e-3)],
    ids=lambda m: str(m.name),
)
def test_an_event_that_changes_the_system_happens_once_where_constraints_are_closed_anew(method: Any) -> None:
    """Baumgarte leaves joints open by more than an event is located to; closed anew, they are before it again."""
    system = nx.System("pendulum", gravity=(0.0, -9.81, 0.0))
    system.parameter("K", 2.0)
    for name, x in (("upper", 0.5), ("lower", 1.05)):
        system.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.15), position=(x, 0, 0))
    system.add_joint(nx.Revolute("h1", "ground", "upper", axis=(0, 0, 1), at=(0, 0, 0), stiffness="=K"))
    system.add_joint(nx.Revolute("h2", "upper", "lower", axis=(0, 0, 1), at=(1, 0, 0), v0=60.0))
    for k in range(1, 5):
        system.add_event(nx.Event(f"turn {k}", joint="h2", value=2.0 * k, parameters={"K": 10.0 * k}))
    result = nx.simulate(system, 0.16, method)
    assert [event["name"] for event in result.events] == [f"turn {k}" for k in range(1, 5)]


# --- scenes of what events have left ----------------------------------------------------------------------------------


def test_a_scene_of_what_events_have_switched_off_is_refused_or_told(tmp_path: Path) -> None:
    """In silence it would be the system as it was described."""
    system = ball(nx.JointForce("push", "slide", M * G), events=[nx.Event("off", time=0.1, off="push")])
    first = nx.simulate(system, 0.2, nx.RungeKutta4(1e-3))
    later = nx.simulate(system, 0.3, nx.RungeKutta4(1e-3), initial=first).system
    assert later.forces["push"].is_off
    with pytest.raises(nx.InputError, match="force 'push' switched off, which no scene can say; lossy=True"):
        nx.save_scene(later, tmp_path / "later.yaml")
    assert not (tmp_path / "later.yaml").exists()
    with pytest.warns(nx.NexDynWarning, match="force 'push' switched off"):
        nx.save_scene(later, tmp_path / "later.yaml", lossy=True)
    nx.save_scene(system, tmp_path / "first.yaml")
    assert (tmp_path / "later.yaml").read_text() == (tmp_path / "first.yaml").read_text()


def test_a_scene_says_whether_a_clamp_is_on_where_it_was_described(tmp_path: Path) -> None:
    system = nx.System("brake", gravity=(0, 0, 0))
    arm = system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Revolute("hinge", system.ground, arm, axis=(0, 1, 0), v0=1.0))
    free = ("x", "y", "z", "rx", "ry")
    system.add_joint(nx.Clamp("brake", system.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), free=free, on=False))
    system.add_event(nx.Event("on", time=0.1, on="brake"))
    system.add_event(nx.Event("loose", time=0.2, off="brake"))
    first = nx.simulate(system, 0.15, nx.HHT(dt=1e-3))
    held = nx.simulate(system, 0.16, nx.HHT(dt=1e-3), initial=first).system
    with pytest.raises(nx.InputError, match="joint 'brake' closed where its bodies were"):
        nx.save_scene(held, tmp_path / "held.yaml")
    second = nx.simulate(system, 0.25, nx.HHT(dt=1e-3), initial=first)
    loose = nx.simulate(system, 0.26, nx.HHT(dt=1e-3), initial=second).system
    nx.save_scene(loose, tmp_path / "loose.yaml")
    assert nx.load(tmp_path / "loose.yaml").joints["brake"].on is False
