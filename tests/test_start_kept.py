"""q0 of one joint leaves the others where they are, also where a follower hangs on it; whole turns of leaders and followers are kept.

q_K = −2 q_L, with K on the body of J
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nexdyn as nx

METHODS = {
    "rk4": nx.RungeKutta4(1e-3),
    "hht": nx.HHT(dt=1e-3),
    "projection": nx.Projection(dt=1e-3),
    "implicit-euler": nx.ImplicitEuler(1e-3),
}
FACTOR = -2.0
Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def body(system: nx.System, name: str, at: tuple[float, float, float]) -> None:
    system.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.3), position=at)


def add_four_bar(system: nx.System) -> None:
    """Crank A, coupler on B and C, rocker D."""
    ends = {
        "crank": ((0, 3, 0), (0, 3, 0.3)),
        "coupler": ((0, 3, 0.3), (1, 3, 0.8)),
        "rocker": ((1, 3, 0), (1, 3, 0.8)),
    }
    for name, (a, b) in ends.items():
        body(system, name, tuple(((np.array(a) + b) / 2).tolist()))  # type: ignore[arg-type]
    for name, a, b, at in (
        ("A", "ground", "crank", (0, 3, 0)), ("B", "crank", "coupler", (0, 3, 0.3)),
        ("C", "coupler", "rocker", (1, 3, 0.8)), ("D", "ground", "rocker", (1, 3, 0)),
    ):  # fmt: skip
        system.add_joint(nx.Revolute(name, a, b, at=at, axis=Y))


def arm(tie: str, loop: bool = False, leader: str = "L", speed: float = 0.5) -> nx.System:
    """Wheel L and an arm of J and K, of which K follows the leader."""
    system = nx.System("arm", gravity=(0.0, 0.0, 0.0))
    for name, at in (("a", (0.0, 0.0, 0.0)), ("l", (1.0, 0.0, 0.0)), ("b", (0.0, 0.0, 0.3))):
        body(system, name, at)
    if loop:
        add_four_bar(system)
    system.add_joint(nx.Revolute("J", "ground", "a", at=(0.0, 0.0, 0.0), axis=Z, v0=1.0))
    system.add_joint(nx.Revolute("L", "ground", "l", at=(1.0, 0.0, 0.0), axis=Z, v0=speed))
    follows = {"mimic": nx.Mimic(leader, FACTOR)} if tie == "mimic" else {}
    system.add_joint(nx.Revolute("K", "a", "b", at=(0.0, 0.0, 0.3), axis=Z, **follows))
    if tie == "gear":
        system.add_coupling(nx.Gear("tie", "K", leader, ratio=FACTOR))
    return system


ARMS: dict[str, Callable[..., nx.System]] = {
    "mimic": lambda **how: arm("mimic", **how),
    "gear": lambda **how: arm("gear", **how),
    "loop": lambda **how: arm("mimic", loop=True, **how),
}


def at(result: Any, k: int = 0, joints: str = "JLK") -> list[float]:
    return [float(np.ravel(result.joint_position(name).values[k])[0]) for name in joints]


@pytest.mark.parametrize("make", ARMS.values(), ids=ARMS)
@pytest.mark.parametrize("before", ["rk4", "hht"])
def test_q0_of_a_joint_on_which_a_follower_hangs_moves_no_other(before: str, make: Any) -> None:
    half = nx.simulate(make(), 0.1, METHODS[before])
    expected = [1.2, *at(half, -1, "LK")]
    for method in METHODS.values():
        result = nx.simulate(half.system, 0.101, method, initial=half, q0={"J": 1.2})
        assert at(result) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("make", ARMS.values(), ids=ARMS)
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_position_set_by_an_action_moves_no_other(method: Any, make: Any) -> None:
    for put, expected in (
        ({"J": 0.7}, [0.7, 0.005, -0.01]), ({"L": 9.0}, [0.01, 9.0, -18.0]), ({"K": 18.0, "J": 30.0}, [30.0, -9.0, 18.0]),
    ):  # fmt: skip
        system = make()
        new = {name: np.array([x]) for name, x in put.items()}
        system.add_event(nx.Event("put", time=0.01, action=lambda state, new=new: state.position.update(new)))
        result = nx.simulate(system, 0.012, method)
        behind = int(np.flatnonzero(np.abs(result.t.values - 0.01) < 1e-9)[-1])
        assert at(result, behind) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("make", ARMS.values(), ids=ARMS)
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_whole_turns_of_q0_are_those_of_leader_and_follower(method: Any, make: Any) -> None:
    """Fresh, from runs that have turned the other way, from reports; by the leader, by the follower."""
    system = make(speed=20.0)
    starts: list[Any] = [None, *(nx.simulate(system, 0.5, METHODS[name]) for name in ("rk4", "hht"))]
    starts += [nx.assemble(system, q0={"L": 9.0, "J": 20.0})]
    for initial in starts:
        t = 0.5 if isinstance(initial, nx.Result) else 0.0
        for given in ({"L": -9.0}, {"K": 18.0}):
            result = nx.simulate(system, t + 2e-3, method, initial=initial, q0=given)
            assert at(result, joints="LK") == pytest.approx([-9.0, 18.0], abs=1e-9)
            assert at(result, -1, "LK") == pytest.approx([-9.0 + 0.04, 18.0 - 0.08], abs=1e-6)


def test_q0_as_an_array_is_q0_by_joint() -> None:
    system = arm("mimic")
    half = nx.simulate(system, 0.1, METHODS["rk4"])
    for method in METHODS.values():
        result = nx.simulate(system, 0.101, method, initial=half, q0=[1.2, -9.0])
        assert at(result) == pytest.approx([1.2, -9.0, 18.0], abs=1e-9)


@pytest.mark.parametrize("leader", ["A", "B", "C", "D"])
def test_a_follower_of_a_joint_in_a_loop_pulls_nothing_along(leader: str) -> None:
    half = nx.simulate(arm("mimic", True, leader), 0.05, METHODS["rk4"])
    crank = at(half, -1, "A")[0] + 0.2
    for name in ("rk4", "hht"):
        result = nx.simulate(half.system, 0.051, METHODS[name], initial=half, q0={"A": crank})
        now = at(result, joints=f"JLKA{leader}")
        assert now == pytest.approx([*at(half, -1, "JL"), FACTOR * now[-1], crank, now[-1]], abs=1e-8)


def test_a_report_that_is_gone_on_from_keeps_its_turns() -> None:
    system = arm("gear")
    first = nx.assemble(system, q0={"L": 9.0, "J": 20.0})
    second = nx.assemble(system, q0={"J": 21.0}, initial=first)
    result = nx.simulate(system, 1e-3, METHODS["hht"], initial=second)
    assert at(result) == pytest.approx([21.0, 9.0, -18.0], abs=1e-9)
