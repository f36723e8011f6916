"""Sessions: what a hand does is an input like others, the same again to the last bit, and what is refused changes nothing."""

from __future__ import annotations

import copy
import json
import math
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.errors import warn
from nexdyn.simulation import session as page
from nexdyn.simulation.hand import FREQUENCY
from nexdyn.simulation.quiet import quiet

FRAME = 1.0 / 30.0


def pendulum(**parameters: float) -> nx.System:
    """A uniform rod that hangs at rest, with a motor that gives nothing."""
    system = nx.System("pendulum")
    system.parameter("m", parameters.get("m", 2.0))
    rod = system.add_body("rod", mass="=m", inertia=("=m/12", "=m/12", "=m*1e-3"), position=(0, 0, -0.5))
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_force(nx.TorqueActuator("motor", "hinge", target=0.0))
    return system


def four_bar() -> nx.System:
    return nx.load("four-bar")


def recorded(session: nx.Session) -> list[np.ndarray]:
    r = session.result().recording
    return [r.t, r.q, r.v, r.a]


def handled(session: nx.Session, body: str, joint: str, value: float) -> None:
    """A little of everything that a hand can do."""
    session.advance(0.1)
    session.grab(body, (0.1, 0.0, 0.0), strength=2.0)
    assert session.hand is not None
    session.pull(session.hand.point + np.array([0.2, 0.0, 0.3]))
    for _ in range(4):
        session.advance(FRAME)
    session.pull(session.hand.point + np.array([-0.1, 0.0, 0.3]))
    session.advance(FRAME)
    session.change({"gravity": (0.0, 0.0, 0.0)})
    session.advance(FRAME)
    session.release()
    session.advance(0.1)
    session.put({joint: value})
    session.advance(FRAME)
    session.undo()
    session.advance(FRAME)
    session.restart()
    session.advance(FRAME)
    session.undo()
    session.advance(0.05)


@pytest.mark.parametrize(
    ("system", "method", "body", "joint"),
    [
        (pendulum, nx.RungeKutta4(1e-3), "rod", "hinge"),
        (four_bar, nx.HHT(dt=1e-3), "rocker", "D"),
        (four_bar, None, "rocker", "D"),
        (pendulum, nx.ImplicitEuler(1e-3), "rod", "hinge"),
        (four_bar, nx.ImplicitEuler(1e-3, bdf2=True), "rocker", "D"),
        (four_bar, nx.Projection(), "rocker", "D"),
        (four_bar, nx.Baumgarte(1e-3), "rocker", "D"),
    ],
)
def test_what_was_done_is_done_again_to_the_last_bit(system: Any, method: Any, body: str, joint: str) -> None:
    session = nx.Session(system(), method)
    q = session.latest().joint_position(joint).values.ravel()[0]
    handled(session, body, joint, q + 0.1)
    log = json.loads(json.dumps(session.log))  # as a file has it
    again = nx.Session.replay(system(), log, method)
    assert again.t == session.t > 0.4
    for first, second in zip(recorded(session), recorded(again), strict=True):
        np.testing.assert_array_equal(first, second)
    assert list(session.result().system.forces)[-1] == "hand 1"


def test_the_energy_rises_by_the_work_of_the_hand() -> None:
    """∫ F·v dt over the steps, by the trapezoid: its error is h² of the second derivatives."""
    session = nx.Session(pendulum(), nx.RungeKutta4(4e-4))
    session.grab("rod", (0.0, 0.0, -0.5))
    assert session.hand is not None
    session.pull(session.hand.point + np.array([0.5, 0.0, 0.2]))
    for _ in range(750):
        session.advance(4e-4)
    result = session.result()
    t = result.recording.t
    force = np.stack([f.value(t) for f in result.system.forces["hand 1"].force], axis=1)
    arm = result.rotation("rod").values @ np.array([0.0, 0.0, -0.5])
    v = result.velocity("rod").values + np.cross(result.angular_velocity("rod").values, arm)
    work = float(np.trapezoid(np.einsum("ni,ni->n", force, v), t))
    energy = result.energy().total.values
    assert work > 1.0
    assert energy[-1] - energy[0] == pytest.approx(work, rel=1e-5)


def test_a_run_of_the_recorded_force_is_the_same_motion() -> None:
    session = nx.Session(pendulum(), nx.RungeKutta4(1e-3))
    session.advance(0.1)
    session.grab("rod", (0.0, 0.0, -0.5))
    session.pull((0.6, 0.0, -0.8))
    session.advance(0.2)
    session.release()
    session.advance(0.2)
    result = session.result()
    run = nx.simulate(result.system, session.t, nx.RungeKutta4(1e-3))
    q = result.recording.q[-1]
    assert abs(q[0]) > 0.1
    np.testing.assert_allclose(run.recording.q[-1], q, atol=1e-9)


@pytest.mark.parametrize("strength", [0.25, 1.0, 16.0])
def test_a_free_body_follows_the_hand_without_swinging_past_it(strength: float) -> None:
    """x = X (1 − (1 + ω t) e^(−ω t)), ω = 2π f √s, but for the delay of two times at which the force is told."""
    system = nx.System("ball", gravity=(0, 0, 0))
    ball = system.add_body("ball", mass=3.0, inertia=(1, 1, 1))
    system.add_joint(nx.Free("free", system.ground, ball))
    session = nx.Session(system, nx.RungeKutta4(1e-3))
    session.grab("ball", strength=strength)
    session.pull((0.1, 0.0, 0.0))
    omega = 2.0 * math.pi * FREQUENCY * math.sqrt(strength)
    delay, seen = 1.0 / (8.0 * omega), []
    for _ in range(60):
        session.advance(0.125 / omega)
        x = float(session.latest().position("ball").values[0, 0])
        most = 0.1 * (1.0 - (1.0 + omega * session.t) * math.exp(-omega * session.t))
        late = max(0.0, session.t - 2.5 * delay)
        least = 0.1 * (1.0 - (1.0 + omega * late) * math.exp(-omega * late))
        assert least - 3e-3 < x < most + 3e-3  # of 0.1 m: damping is late, too
        seen.append(x)
    assert max(seen) < 0.1 * 1.01
    assert seen[-1] == pytest.approx(0.1, rel=0.02)


def test_the_force_is_limited() -> None:
    session = nx.Session(pendulum(), nx.RungeKutta4(1e-3))
    session.grab("rod", (0.0, 0.0, -0.5))
    session.pull((100.0, 0.0, 0.0))
    session.advance(0.05)
    hand = session.hand
    assert hand is not None
    assert hand.limited
    assert np.linalg.norm(hand.force) == pytest.approx(hand.most)
    session.release()
    session.advance(0.05)
    told = np.array([f.values for f in session.result().system.forces["hand 1"].force])
    assert 0.9 * hand.most < np.linalg.norm(told, axis=0).max() <= hand.most * (1.0 + 1e-12)
    np.testing.assert_array_equal(told[:, -1], 0.0)
    assert session.hand is None


def test_changes_reach_the_system_and_are_taken_back() -> None:
    session = nx.Session(pendulum(), nx.RungeKutta4(1e-3))
    session.change({"motor.target": 5.0})
    session.advance(0.02)
    pushed = float(session.latest().joint_velocity("hinge").values[0])
    assert pushed == pytest.approx(5.0 / (2.0 / 3.0) * 0.02, rel=2e-3)
    session.change({"m": 4.0})
    assert session.system.bodies["rod"].resolved(session.system.values).mass == 4.0
    assert session.can_undo == "change m"
    assert session.undo() == "change m"
    assert session.undo() == "change motor.target"
    assert session.t == 0.0
    session.switch("motor", on=False)
    session.change({"motor.target": 5.0})
    session.advance(0.1)
    assert session.latest().joint_velocity("hinge").values[0] == pytest.approx(0.0, abs=1e-12)


def test_an_event_that_is_switched_off_does_not_happen() -> None:
    system = pendulum()
    system.add_event(nx.Event("far", joint="hinge", value=0.05, parameters={"motor.target": 0.0}))
    for off in (False, True):
        session = nx.Session(system, nx.RungeKutta4(1e-3))
        session.change({"motor.target": 5.0})
        if off:
            session.switch("event:far", on=False)
        session.advance(0.3)
        assert session.system.forces["motor"].target == (5.0 if off else 0.0)  # type: ignore[attr-defined]
        assert ("far" in [event["name"] for event in session.result().events]) is not off
    session.switch("event:far", on=True)  # it swings back over the value
    session.advance(1.6)
    assert "far" in [event["name"] for event in session.result().events]


def test_those_of_a_slider_are_taken_back_together() -> None:
    session = nx.Session(pendulum(), nx.RungeKutta4(1e-3))
    session.advance(0.1)
    for value in (1.0, 2.0, 3.0):
        session.change({"motor.target": value})
        session.advance(FRAME)
    session.undo()
    assert session.can_undo == ""
    assert session.t == pytest.approx(0.1)


def test_in_a_loop_the_other_joints_follow_and_what_cannot_close_is_refused() -> None:
    session = nx.Session(four_bar(), nx.HHT(dt=1e-3))
    session.advance(0.05)
    q = float(session.latest().joint_position("D").values[0])
    session.put({"D": q + 0.05})
    session.advance(0.01)
    result = session.latest()
    assert result.joint_position("D").values[0] == pytest.approx(q + 0.05, abs=5e-3)
    assert result.recording.violation[0] < 1e-9
    before, t = copy.deepcopy(session.log), session.t
    with pytest.raises(nx.NexDynError):
        session.put({"D": q + 0.3, "A": float(result.joint_position("A").values[0]) - 0.3})
    assert session.log == before
    assert session.t == t
    session.advance(0.01)
    assert session.t > t


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda s: s.grab("ground"), "ground cannot be pulled"),
        (lambda s: s.grab("rad"), "did you mean 'rod'"),
        (lambda s: s.grab("rod", (0, 0, math.nan)), "three finite numbers"),
        (lambda s: s.grab("rod", strength=1e9), "a number from"),
        (lambda s: s.grab("rod", "here"), "three finite numbers"),
        (lambda s: s.advance(1e300), "too much at once"),
        (lambda s: s.put({"hinge": "far"}), "numbers .rad, m. are needed"),
        (lambda s: nx.Session.replay(pendulum(), [{"go": [math.inf]}]), "too much at once"),
        (lambda s: nx.Session.replay(pendulum(), [{"go": 3}]), "entry 0 of the log"),
        (lambda s: s.pull((0, 0, 0)), "holds nothing"),
        (lambda s: s.undo(), "nothing has been done"),
        (lambda s: s.advance(-1.0), "a time of 0 s or more"),
        (lambda s: s.advance(math.nan), "a time of 0 s or more"),
        (lambda s: s.change({"n": 1.0}), "'n'"),
        (lambda s: s.put({"hinge": math.nan}), "not finite"),
        (lambda s: s.put({"hange": 1.0}), "did you mean 'hinge'"),
        (lambda s: s.switch("moter", on=True), "did you mean 'motor'"),
        (lambda s: nx.Session.replay(pendulum(), [{"dance": 1}]), "'dance'"),
        (lambda s: nx.Session.replay(pendulum(), [{"grab": "rod"}]), "entry 0 of the log"),
        (lambda s: nx.Session(nx.System("empty")), "no bodies"),
        (lambda s: nx.Session("pendulum"), "System is needed"),
    ],
)
def test_what_is_wrong_is_told_and_changes_nothing(act: Any, said: str) -> None:
    session = nx.Session(pendulum(), nx.RungeKutta4(1e-3))
    with pytest.raises(nx.NexDynError, match=said):
        act(session)
    assert session.log == []
    assert session.can_undo == ""
    session.advance(0.01)
    assert session.t == pytest.approx(0.01)


def test_a_run_that_fails_stops_before_and_can_be_taken_back() -> None:
    session = nx.Session(pendulum(), nx.RungeKutta4(1e-3))
    session.advance(0.05)
    session.change({"motor.target": 1e308})
    with pytest.raises(nx.SolveError):
        for _ in range(200):
            session.advance(FRAME)
    assert session.failure
    t = session.t
    with pytest.raises(nx.SolveError):
        session.advance(FRAME)
    assert session.t == t
    assert session.result().recording.status == "failed"
    session.undo()
    session.advance(FRAME)
    assert session.t == pytest.approx(0.05 + FRAME, abs=1e-3)
    assert session.failure == ""


def test_so_many_actions_are_taken_back_and_no_more() -> None:
    session = nx.Session(pendulum(), nx.RungeKutta4(1e-3))
    for k in range(page.MOST_UNDONE + 5):
        session.change({"motor.target" if k % 2 else "m": 1.0 + k})
    count = 0
    while session.can_undo:
        session.undo()
        count += 1
    assert count == page.MOST_UNDONE


def test_a_second_grab_lets_the_first_go_and_undo_takes_both_back() -> None:
    session = nx.Session(pendulum(), nx.RungeKutta4(1e-3))
    session.grab("rod", (0.0, 0.0, -0.5))
    session.pull((1.0, 0.0, 0.0))
    session.advance(0.05)
    session.grab("rod")
    session.pull((1.0, 0.0, 0.0))
    session.advance(0.05)
    session.release()
    session.advance(0.05)
    pulls = [f for name, f in session.result().system.forces.items() if name.startswith("hand")]
    assert len(pulls) == 2
    for pull in pulls:  # force is zero outside its own time
        (t, values) = pull.force[0].times, np.array([component.values for component in pull.force])  # type: ignore[attr-defined]
        assert np.abs(values).max() > 0.0
        np.testing.assert_array_equal(values[:, [0, -1]], 0.0)
        assert (np.diff(t) > 0.0).all()
    session.undo()
    assert session.hand is not None  # the first holds again, as it did before the second
    session.undo()
    assert session.hand is None and session.t == 0.0


def test_a_long_step_makes_the_spring_softer_and_not_unstable() -> None:
    """1/(8 h) bounds ω: with h = 20 ms it is 6.25/s, where strength 1 asks for 12.6/s."""
    system = nx.System("ball", gravity=(0, 0, 0))
    ball = system.add_body("ball", mass=3.0, inertia=(1, 1, 1))
    system.add_joint(nx.Free("free", system.ground, ball))
    session = nx.Session(system, nx.RungeKutta4(0.02))
    session.grab("ball", strength=50.0)
    session.pull((0.1, 0.0, 0.0))
    seen = []
    for _ in range(60):
        session.advance(0.02)
        seen.append(float(session.latest().position("ball").values[0, 0]))
    assert max(seen) < 0.102
    assert seen[-1] == pytest.approx(0.1, rel=0.02)


def test_an_event_that_stops_the_run_during_a_pull_leaves_a_result_and_a_session() -> None:
    system = pendulum()
    system.add_event(nx.Event("far", joint="hinge", value=0.1, stop=True))
    session = nx.Session(system, nx.RungeKutta4(1e-3))
    session.grab("rod", (0.0, 0.0, -0.5))
    assert session.hand is not None
    session.pull(session.hand.point - np.array([1.0, 0.0, -0.3]))
    with pytest.raises(nx.SolveError, match="'far' ended the run"):
        for _ in range(60):
            session.advance(FRAME)
    t = session.t
    assert abs(session.latest().joint_position("hinge").values[0]) == pytest.approx(0.1, abs=1e-6)
    session.change({"motor.target": 0.1})
    session.advance(0.01)
    result = session.result()
    assert session.t > t and (np.diff(result.recording.t) >= 0.0).all()
    assert (np.diff(result.system.forces["hand 1"].force[0].times) > 0.0).all()  # type: ignore[attr-defined]


def test_an_action_that_is_wrong_leaves_the_state_before_it() -> None:
    def wrong(state: Any) -> None:
        state.parameters["n"] = 1.0

    system = pendulum()
    system.add_event(nx.Event("far", joint="hinge", value=0.05, action=wrong))
    session = nx.Session(system, nx.RungeKutta4(1e-3))
    session.grab("rod", (0.0, 0.0, -0.5))
    assert session.hand is not None
    session.pull(session.hand.point - np.array([1.0, 0.0, -0.3]))
    with pytest.raises(nx.SolveError, match="'n'"):
        for _ in range(60):
            session.advance(FRAME)
    assert "'n'" in session.failure
    assert [event for event in session.result().events if event["name"] == "far"] == []
    session.undo()
    session.advance(FRAME)
    assert session.t == pytest.approx(FRAME, abs=1e-3)


def test_a_session_goes_on_from_a_result_with_what_its_events_have_changed() -> None:
    system = pendulum()
    system.add_event(nx.Event("heavier", time=0.05, parameters={"m": 4.0}))
    result = nx.simulate(system, t_end=0.1, method=nx.RungeKutta4(1e-3), v0={"hinge": 1.0})
    session = nx.Session(system, nx.RungeKutta4(1e-3), initial=result)
    assert (session.t, session.system.values["m"]) == (pytest.approx(0.1), 4.0)
    session.grab("rod")
    session.advance(0.02)
    assert session.system.values["m"] == 4.0
    session.change({"m": 3.0})
    session.restart()
    assert (session.t, session.system.values["m"]) == (pytest.approx(0.1), 3.0)
    assert session.changed == ["m"]
    np.testing.assert_allclose(session.latest().recording.q[0], result.recording.q[-1], atol=1e-15)


def test_a_session_starts_from_a_report() -> None:
    system = pendulum()
    report = nx.assemble(system, q0={"hinge": 0.3})
    session = nx.Session(system, nx.RungeKutta4(1e-3), initial=report)
    assert session.latest().joint_position("hinge").values[0] == pytest.approx(0.3)


def test_no_more_is_recorded_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_NUMBERS", 400)
    session = nx.Session(pendulum(), nx.RungeKutta4(1e-3))
    for _ in range(300):
        session.advance(1e-3)
    t = session.result().recording.t
    assert len(t) * session.result().recording.q.shape[1] < 400
    assert t[0] == 0.0
    assert t[-1] == pytest.approx(0.3)
    assert (np.diff(t) > 0.0).all()


def test_the_last_states_alone_are_those_of_the_whole() -> None:
    """With what was changed and pulled meanwhile."""
    session = nx.Session(pendulum(), nx.RungeKutta4(1e-3))
    handled(session, "rod", "hinge", 0.5)
    session.advance(0.1)
    whole = session.result()
    for last in (1, 3, len(whole.t)):
        part = session.result(last)
        assert len(part.t) == last
        for name in ("joint_position", "reaction"):
            np.testing.assert_array_equal(getattr(part, name)().values, getattr(whole, name)().values[-last:])
        np.testing.assert_array_equal(part.energy().total.values, whole.energy().total.values[-last:])
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(nx.InputError, match="number of states"):
            session.result(wrong)


def test_a_thread_that_is_quiet_silences_no_other() -> None:
    """Two threads are quiet, the first leaves before the second: nothing of others is lost meanwhile, and nothing stays ignored."""
    heard: list[str] = []
    steps = {name: threading.Event() for name in ("first in", "second in", "first out", "second out")}

    def first() -> None:
        with quiet():
            steps["first in"].set()
            assert steps["second in"].wait(60.0)
            warn("of the first")
        steps["first out"].set()

    def second() -> None:
        assert steps["first in"].wait(60.0)
        with quiet():
            steps["second in"].set()
            assert steps["first out"].wait(60.0)
            warn("of the second")
        steps["second out"].set()

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: heard.append(str(message))  # type: ignore[assignment]
        threads = [threading.Thread(target=act) for act in (first, second)]
        for thread in threads:
            thread.start()
        assert steps["second in"].wait(60.0)
        warn("of another")
        for thread in threads:
            thread.join(60.0)
        assert all(step.is_set() for step in steps.values())
        with quiet():
            warn("nothing")
        warn("of another later")
    assert heard == ["of another", "of another later"]
