"""A joint that another leads may have a q0 or v0 of its own: its leader starts as it asks, under every method, or both are named.

gear   q_P + 3 q_W = 0.6            mimic   q_W = −⅓ q_P + 0.2
"""

from __future__ import annotations

from typing import Any

import pytest

import nexdyn as nx
from nexdyn.errors import NexDynError
from nexdyn.integrate.methods import METHODS

FACTOR, OFFSET = -1.0 / 3.0, 0.2


def pair(tie: str, first: dict[str, Any], second: dict[str, Any]) -> nx.System:
    """Two wheels P and W, tied; first, second: attributes of their joints."""
    system = nx.System("wheels", gravity=(0.0, 0.0, 0.0))
    for name, at in (("p", 0.0), ("w", 1.0)):
        system.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(at, 0.0, 0.0))
    system.add_joint(nx.Revolute("P", "ground", "p", at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), **first))
    follows = {"mimic": nx.Mimic("P", FACTOR, OFFSET)} if tie == "mimic" else {}
    system.add_joint(nx.Revolute("W", "ground", "w", at=(1.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), **second, **follows))
    if tie == "gear":
        system.add_coupling(nx.Gear("tie", "W", "P", ratio=FACTOR, offset=OFFSET))
    return system


def methods() -> list[Any]:
    """Every method, with a step where it wants one."""
    found = []
    for kind in METHODS.values():
        try:
            found.append(kind())
        except nx.InputError:
            found.append(kind(1e-3))
    return found


@pytest.mark.parametrize("tie", ["gear", "mimic"])
@pytest.mark.parametrize("method", methods(), ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("described", [True, False], ids=["described", "given"])
def test_a_leader_starts_as_its_follower_asks(tie: str, method: Any, described: bool) -> None:
    follower = {"q0": 0.5, "v0": 2.0}
    system = pair(tie, {}, follower if described else {})
    given = {} if described else {"q0": {"W": 0.5}, "v0": {"W": 2.0}}
    result = nx.simulate(system, 2e-3, method=method, **given)
    for joint, q, v in (("W", 0.5, 2.0), ("P", (0.5 - OFFSET) / FACTOR, 2.0 / FACTOR)):
        assert float(result.joint_position(joint).values.ravel()[0]) == pytest.approx(q, abs=1e-9)
        assert float(result.joint_velocity(joint).values.ravel()[0]) == pytest.approx(v, abs=1e-9)


@pytest.mark.parametrize("tie", ["gear", "mimic"])
@pytest.mark.parametrize("method", methods(), ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("what", ["q0", "v0"])
def test_two_that_do_not_agree_are_refused_by_name(tie: str, method: Any, what: str) -> None:
    first, second = {what: 0.3}, {what: 0.5}
    for described, given in (
        ((first, second), {}),
        (({}, second), {what: {"P": 0.3}}),
        ((first, {}), {what: {"W": 0.5}}),
        (({}, {}), {what: {"P": 0.3, "W": 0.5}}),
    ):
        with pytest.raises(NexDynError, match=f"{what}.*'W'|'W'.*{what}"):
            nx.simulate(pair(tie, *described), 2e-3, method=method, **given)


@pytest.mark.parametrize("tie", ["gear", "mimic"])
def test_two_that_agree_are_taken(tie: str) -> None:
    system = pair(tie, {"q0": -0.9}, {"q0": FACTOR * -0.9 + OFFSET})
    for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3)):
        assert float(nx.simulate(system, 2e-3, method=method).joint_position("P").values.ravel()[0]) == pytest.approx(
            -0.9, abs=1e-9
        )
    q = nx.Tree(system).described()
    assert q == pytest.approx([-0.9], abs=1e-12)


@pytest.mark.parametrize("tie", ["gear", "mimic"])
@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3)], ids=lambda m: type(m).__name__)
def test_members_of_a_batch_start_as_runs_alone(method: Any, tie: str) -> None:
    """By the leader or by the follower, as described or as given; a member that asks for what cannot be fails alone, as its run does."""
    system = pair(tie, {}, {"q0": 0.5})
    result = nx.simulate(system, 2e-3, method=method, batch=nx.Batch(v0={"P": [0.0, 1.0]}))
    for k in range(2):
        start = result.member(k).joint_position("P").values.ravel()[0]
        assert float(start) == pytest.approx((0.5 - OFFSET) / FACTOR, abs=1e-9)
    for by in ({"W": [0.3, 0.4]}, {"W": [0.3, 0.4], "P": [(0.3 - OFFSET) / FACTOR, (0.4 - OFFSET) / FACTOR]}):
        result = nx.simulate(pair(tie, {}, {}), 2e-3, method=method, batch=nx.Batch(q0=by, v0={"W": [1.0, 2.0]}))
        for k in range(2):
            given = {"q0": {joint: x[k] for joint, x in by.items()}, "v0": {"W": 1.0 + k}}
            alone = nx.simulate(pair(tie, {}, {}), 2e-3, method=method, **given)
            for what in ("joint_position", "joint_velocity"):
                found, expected = (getattr(run, what)("P").values.ravel() for run in (result.member(k), alone))
                assert found == pytest.approx(expected, abs=1e-12)
    batch = nx.Batch(q0={"W": [0.3, 0.4], "P": [(0.3 - OFFSET) / FACTOR, 5.0]})
    result = nx.simulate(pair(tie, {}, {}), 2e-3, method=method, batch=batch)
    assert list(result.failures) == [1] and "q0 of joint 'W'" in str(result.failures[1])


@pytest.mark.parametrize("tie", ["gear", "mimic"])
@pytest.mark.parametrize("method", methods(), ids=lambda m: type(m).__name__)
def test_events_change_a_state_whose_start_a_follower_asked_for(tie: str, method: Any) -> None:
    """The start that is described counts at the start alone; a follower that an event puts elsewhere takes its leader along."""
    for turned, speed in (({}, 2.0), ({"W": [1.0]}, 1.0), ({"P": [1.0 / FACTOR]}, 1.0)):
        system = pair(tie, {}, {"q0": 0.5, "v0": 2.0})
        system.parameter("k", 0.0)
        system.add_force(nx.JointForce("motor", "P", effort="=k"))

        def put(state: Any, turned: dict[str, list[float]] = turned) -> None:
            state.velocity.update(turned)

        system.add_event(nx.Event("change", time=0.05, parameters={"k": 1e-12}, action=put))
        result = nx.simulate(system, 0.1, method=method)
        assert [event["time"] for event in result.events] == pytest.approx([0.05], abs=1e-9)
        end = float(result.joint_position("W").values.ravel()[-1])
        assert end == pytest.approx(0.5 + 0.05 * 2.0 + 0.05 * speed, abs=1e-6)


@pytest.mark.parametrize("tie", ["gear", "mimic"])
def test_a_start_given_as_an_array_takes_the_place_of_what_followers_ask_for(tie: str) -> None:
    system = pair(tie, {}, {"q0": 0.5, "v0": 2.0})
    result = nx.simulate(system, 2e-3, method=nx.RungeKutta4(1e-3), q0=[0.3], v0=[-1.0])
    assert float(result.joint_position("P").values.ravel()[0]) == 0.3
    assert float(result.joint_velocity("P").values.ravel()[0]) == -1.0
