"""A run is one run: run(T₁) then run(T₂) is run(T₁ + T₂), in memory, from a result, from its file; bit for bit where steps are fixed."""

from __future__ import annotations

import functools
import logging
import re
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.integrate.methods import METHODS, PAIRS
from nexdyn.simulation.choice import simulation_of
from nexdyn.simulation.fingerprint import held_by
from nexdyn.simulation.march import COUNTED
from nexdyn.simulation.users import tells_state

DT = 2.0**-10
"""Times k DT are exact, so that the two halves of a run meet the same times as the whole."""
HALF, END = 0.125, 0.25
FIXED = {
    "rk4": nx.RungeKutta4(DT),
    "euler": nx.ExplicitEuler(DT),
    "semi-implicit": nx.SemiImplicitEuler(DT),
    "hht": nx.HHT(dt=DT),
    "baumgarte": nx.Baumgarte(dt=DT),
    "projection": nx.Projection(dt=DT),
    "partitioning": nx.Partitioning(dt=DT),
    "implicit-euler": nx.ImplicitEuler(DT),
    "bdf2": nx.ImplicitEuler(DT, bdf2=True),
}
ADAPTIVE = {
    "dopri5": (nx.DormandPrince(1e-10, 1e-12), 1e-7),
    "bs32": (nx.BogackiShampine32(1e-7, 1e-9), 1e-5),
    "dop853": (nx.DOP853(1e-10, 1e-12, dt_max=5 * DT), 1e-7),
    "hht": (nx.HHT(rtol=1e-4), 2e-3),
    "baumgarte": (nx.Baumgarte(rtol=1e-10, atol=1e-12), 1e-7),
    "projection": (nx.Projection(rtol=1e-10, atol=1e-12), 1e-7),
    "partitioning": (nx.Partitioning(rtol=1e-10, atol=1e-12), 1e-7),
}
"""Beside each, what two such runs differ by at most."""
ANEW = 3.0
"""Errors of a run, told by half the step, that one more start between steps may make."""
Way = Callable[..., nx.Result]


def in_memory(system: nx.System, method: Any, folder: Path, **how: Any) -> nx.Result:
    simulation = simulation_of(system, method, **how)
    simulation.run(HALF)
    return simulation.run(END)


def from_result(system: nx.System, method: Any, folder: Path, **how: Any) -> nx.Result:
    return nx.simulate(system, END, method, initial=nx.simulate(system, HALF, method, **how), **how)


def from_file(system: nx.System, method: Any, folder: Path, **how: Any) -> nx.Result:
    nx.simulate(system, HALF, method, **how).save(folder / "half.nc", full=False)
    half = nx.open_result(folder / "half.nc")
    return nx.simulate(half.system, END, method, initial=half, **how)


WAYS: list[Way] = [in_memory, from_result, from_file]


def state(result: nx.Result) -> np.ndarray:
    """All that is told of the end: bodies, joints counted over turns, states of forces."""
    seen = result.observed
    names = ["position", "velocity", "angular_velocity"]
    parts = [x[-1].ravel() for x in seen.collect(names).values()]
    parts += [
        result.rotation(body).values[-1].ravel() for body in result.system.bodies
    ]  # quaternions begin with another sign
    parts += [seen.of_joint("joint_position", name)[-1] for name, joint in result.system.joints.items() if joint.nv]
    return np.concatenate([*parts, result.recording.z[-1] if result.recording.z.size else np.zeros(0)])


def arm(*, events: Any = (), calm: bool = False, v0: float | None = None) -> nx.System:
    """Two links whose second turns twice in a run, with a sampled controller, a lagging drive, dry friction and springs that wind up."""
    system = nx.System("arm", gravity=(0, -9.81, 0))
    system.parameter("K", 2.0)
    system.add_body("upper", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.5, 0, 0))
    system.add_body("lower", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(1.05, 0, 0))
    system.add_joint(nx.Revolute("h1", "ground", "upper", axis=(0, 0, 1), at=(0, 0, 0), damping=0.1, stiffness="=K"))
    system.add_joint(
        nx.Revolute("h2", "upper", "lower", axis=(0, 0, 1), at=(1, 0, 0), v0=v0 or (15.0 if calm else 60.0))
    )
    system.add_force(nx.PositionActuator("servo", "h1", target=0.3, kp=40.0, ki=3.0, kd=4.0, sample_time=4 * DT))
    system.add_force(nx.TorqueActuator("drive", "h2", target=nx.Harmonic(3.0, 2.0), time_constant=0.03))
    if not calm:
        system.add_force(nx.JointFriction("dry", "h1", sliding=0.4, static=0.5, stiffness=20.0, damping=0.1))
    system.add_force(nx.TorsionSpring("wound", "upper", "lower", stiffness=0.2))
    for event in events:
        system.add_event(event)
    return system


def four_bar() -> nx.System:
    """A closed loop in a plane, with redundant rows, driven by a spring."""
    system = nx.System("four-bar", gravity=(0, 0, -9.81))
    points: dict[str, Any] = {
        "crank": ((0, 0, 0), (0, 0, 1)),
        "coupler": ((0, 0, 1), (3, 0, 2)),
        "rocker": ((3, 0, 0), (3, 0, 2)),
    }
    for name, (a, b) in points.items():
        system.add_body(name, mass=1.0, inertia=(0.2, 0.3, 0.2), position=tuple((np.array(a) + b) / 2))
    system.add_joint(nx.Revolute("A", "ground", "crank", at=(0, 0, 0), axis=(0, 1, 0), v0=2.0))
    system.add_joint(nx.Revolute("B", "crank", "coupler", at=(0, 0, 1), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("C", "coupler", "rocker", at=(3, 0, 2), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("D", "ground", "rocker", at=(3, 0, 0), axis=(0, 1, 0)))
    system.add_force(nx.JointForce("push", "A", nx.Harmonic(2.0, 1.5)))
    return system


def hung() -> nx.System:
    """A plate on three rods without mass: a loop in which no angle is counted."""
    system = nx.System("hung", gravity=(0, 0, -9.81))
    system.add_body("plate", mass=1.0, inertia=(0.2, 0.3, 0.4))
    for k, (x, y) in enumerate(((1.0, 0.0), (-0.5, 0.8), (-0.5, -0.8))):
        system.add_joint(nx.Rod(f"rod{k}", "ground", "plate", anchor_a=(x + 0.3, y, 1.0), anchor_b=(x, y, 0.0)))
    return system


SYSTEMS = {"arm": arm, "four-bar": four_bar}


@pytest.mark.parametrize("make", SYSTEMS.values(), ids=SYSTEMS)
@pytest.mark.parametrize("method", FIXED.values(), ids=FIXED)
def test_two_halves_of_a_run_of_constant_step_are_the_whole_to_the_bit(method: Any, make: Any, tmp_path: Path) -> None:
    whole = state(nx.simulate(make(), END, method))
    for way in WAYS:
        assert np.array_equal(state(way(make(), method, tmp_path)), whole), way.__name__


@pytest.mark.parametrize("make", SYSTEMS.values(), ids=SYSTEMS)
@pytest.mark.parametrize(("method", "tolerance"), ADAPTIVE.values(), ids=ADAPTIVE)
def test_halves_of_an_adaptive_run_are_one_as_far_as_the_method_errs(
    method: Any, tolerance: float, make: Any, tmp_path: Path
) -> None:
    whole = state(nx.simulate(make(), END, method))
    found = [state(way(make(), method, tmp_path)) for way in WAYS]
    for way, end in zip(WAYS, found, strict=True):
        np.testing.assert_allclose(
            end, whole, rtol=0, atol=tolerance * max(1.0, np.abs(whole).max()), err_msg=way.__name__
        )
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


LOOPS = {
    "baumgarte": nx.Loops("baumgarte"),
    "baumgarte by numbers": nx.Loops("baumgarte", alpha=20.0, beta=30.0),
    "nothing": nx.Loops(None),
    "cut at D": nx.Loops(cut="D"),
    "cut at D, baumgarte": nx.Loops("baumgarte", cut="D"),
}
"""How minimal coordinates keep the loop closed, other than the projection of a chosen cut."""


@pytest.mark.parametrize("loops", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("name", ["rk4", "semi-implicit", *PAIRS])
def test_a_loop_goes_on_however_it_is_kept_closed(name: str, loops: nx.Loops, tmp_path: Path) -> None:
    method, tolerance = (FIXED[name], 0.0) if name in FIXED else ADAPTIVE[name]
    whole = state(nx.simulate(four_bar(), END, method, loops=loops))
    for way in WAYS:
        end = state(way(four_bar(), method, tmp_path, loops=loops))
        np.testing.assert_allclose(end, whole, rtol=0, atol=tolerance * np.abs(whole).max(), err_msg=way.__name__)


@pytest.mark.parametrize("name", FIXED)
def test_a_half_that_ends_between_steps_leaves_the_grid_as_it_was(name: str, tmp_path: Path) -> None:
    method, between = FIXED[name], HALF + 0.3 * DT
    whole = state(nx.simulate(four_bar(), END, method))
    half = nx.simulate(four_bar(), between, method)
    assert float(half.t[-1]) == between
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        rest = nx.simulate(four_bar(), END, method, initial=initial)
        assert np.array_equal(state(rest), whole)
        assert float(rest.t[0]) == between


@pytest.mark.parametrize("name", FIXED)
def test_times_asked_for_between_steps_leave_the_steps_as_they_are(name: str) -> None:
    """And the state at each is that of a run that ends there."""
    method, times = FIXED[name], [2.3 * DT, 2.4 * DT, 7.0 * DT, 11.5 * DT]
    whole = nx.simulate(four_bar(), END, method)
    told = nx.simulate(four_bar(), END, method, output_times=times)
    assert told.t.values.tolist() == [*times, END]
    # partitioning closes the dependent coordinates anew, from where they were last
    np.testing.assert_allclose(state(told), state(whole), rtol=0, atol=1e-14 * (name == "partitioning"))
    assert told.recording.steps == whole.recording.steps
    for k in (0, 3):
        there = nx.simulate(four_bar(), times[k], method)
        for body in there.system.bodies:
            np.testing.assert_allclose(
                told.position(body).values[k], there.position(body).values[-1], rtol=0, atol=1e-13
            )


@pytest.mark.parametrize("name", FIXED)
def test_steps_behind_an_event_count_from_it_to_the_bit_whatever_is_asked_for(name: str) -> None:
    """Of a step that is no power of two, sums of which are rounded: chunks of steps end elsewhere in both runs."""
    method = replace(FIXED[name], dt=1e-3)

    def run(**options: Any) -> nx.Result:
        system = four_bar()
        system.add_event(nx.Event("let go", time=0.0317, off="push"))
        return nx.simulate(system, END, method, **options)

    whole, told = run(), run(output_times=[0.0123, 0.0405, 0.1111, 0.2, END])
    assert told.events == whole.events
    np.testing.assert_allclose(state(told), state(whole), rtol=0, atol=1e-14 * (name == "partitioning"))


@pytest.mark.parametrize("name", FIXED)
def test_a_file_that_does_not_say_where_steps_are_counted_from_is_gone_on_from(name: str) -> None:
    """As those of older versions, which end on a step, or between two."""
    for t in (HALF, HALF + 0.3 * DT):
        half = nx.simulate(four_bar(), t, FIXED[name])
        restart = half.recording.restart
        assert restart is not None
        for key in [key for key in restart.arrays if key.split(".")[-1] in COUNTED]:
            del restart.arrays[key]
        rest = nx.simulate(four_bar(), END, FIXED[name], initial=half)
        assert np.array_equal(state(rest), state(nx.simulate(four_bar(), END, FIXED[name])))


# --- events -----------------------------------------------------------------------------------------------------------


def broken() -> nx.System:
    """Events switch a spring off and on, and change the stiffness of another."""
    return arm(
        calm=True,
        events=[
            nx.Event("slip", time=0.05, off="wound"),
            nx.Event("harder", time=0.075, parameters={"K": 90.0}),
            nx.Event("again", time=0.1873, on="wound"),
        ],
    )


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("method", [FIXED["hht"], FIXED["projection"], FIXED["implicit-euler"]], ids=lambda m: m.name)
def test_a_loop_in_which_nothing_is_counted_goes_on_too(method: Any, way: Way, tmp_path: Path) -> None:
    whole = nx.simulate(hung(), END, method)
    np.testing.assert_allclose(state(way(hung(), method, tmp_path)), state(whole), atol=1e-12)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", FIXED)
def test_what_events_have_switched_and_changed_stays_so(name: str, way: Way, tmp_path: Path) -> None:
    method: Any = FIXED[name]
    whole = nx.simulate(broken(), END, method)
    assert [one["name"] for one in whole.events] == ["slip", "harder", "again"]
    finer = nx.simulate(broken(), END, replace(method, dt=DT / 2))
    untouched = state(nx.simulate(arm(calm=True), END, method))
    found = way(broken(), method, tmp_path)
    # steps count from the last event, so that the first half ends between two, where BDF2 starts anew
    miss, error = (np.abs(state(x) - state(whole)).max() for x in (found, finer))
    assert miss < ANEW * error
    assert ANEW * error < 0.2 * np.abs(untouched - state(whole)).max()
    energy = found.energy()["total"].values[-1], whole.energy()["total"].values[-1]
    assert energy[0] == pytest.approx(energy[1], abs=error * abs(energy[1]))


def turned_back(state: Any) -> None:
    state.velocity["h1"] = -2.0 * state.velocity["h1"]


@pytest.mark.parametrize("way", [in_memory, from_result], ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", FIXED)
def test_a_run_goes_on_behind_an_action_that_has_changed_the_state(name: str, way: Way, tmp_path: Path) -> None:
    method: Any = FIXED[name]

    def build(action: Any = turned_back) -> nx.System:
        return arm(calm=True, events=[nx.Event("back", time=0.0503, action=action)])

    whole, finer = (nx.simulate(build(), END, m) for m in (method, replace(method, dt=DT / 8)))
    untouched = state(nx.simulate(build(lambda _: None), END, method))
    found = way(build(), method, tmp_path)
    miss, error = (np.abs(state(x) - state(whole)).max() for x in (found, finer))
    assert miss < ANEW * error
    assert ANEW * error < 0.2 * np.abs(untouched - state(whole)).max()
    assert [one["name"] for one in whole.events] == ["back"]


def test_a_second_run_after_an_event_goes_on_from_after_it_and_tells_all_of_both() -> None:
    def stop(state: Any) -> None:
        state.velocity["h2"] = 0.5 * state.velocity["h2"]

    def braked() -> nx.System:
        return arm(calm=True, events=[nx.Event("brake", time=0.1, action=stop)])

    methods: list[Any] = [FIXED["rk4"], FIXED["hht"]]
    for method in methods:
        whole = nx.simulate(braked(), END, method)
        simulation = simulation_of(braked(), method)
        first = simulation.run(HALF)
        again = simulation.run(END)
        assert simulation.t == END
        assert [one["time"] for one in again.events] == [one["time"] for one in whole.events]
        assert len(again.events) == len(first.events) == 1
        assert (np.diff(again.t.values) > 0.0).all()
        assert float(again.t[0]) == 0.0
        finer = nx.simulate(braked(), END, replace(method, dt=DT / 2))
        assert np.abs(state(again) - state(whole)).max() < ANEW * np.abs(state(finer) - state(whole)).max()


def test_an_event_that_is_done_once_stays_done(tmp_path: Path) -> None:
    def watched() -> nx.System:
        return arm(events=[nx.Event("first", joint="h2", value=1.0, once=True), nx.Event("each", joint="h1")])

    whole = nx.simulate(watched(), END, FIXED["rk4"])
    found = in_memory(watched(), FIXED["rk4"], tmp_path)
    assert [one["name"] for one in found.events] == [one["name"] for one in whole.events]
    half = nx.simulate(watched(), HALF, FIXED["rk4"])
    rest = nx.simulate(watched(), END, FIXED["rk4"], initial=half)
    assert [one["name"] for one in half.events + rest.events] == [one["name"] for one in whole.events]


# --- a state of which parts are changed -------------------------------------------------------------------------------

EVERY = {
    "rk4": nx.RungeKutta4(DT),
    "semi-implicit": nx.SemiImplicitEuler(DT),
    "dopri5": nx.DormandPrince(),
    "hht": nx.HHT(dt=DT),
    "baumgarte": nx.Baumgarte(dt=DT),
    "projection": nx.Projection(dt=DT),
    "partitioning": nx.Partitioning(dt=DT),
    "implicit-euler": nx.ImplicitEuler(DT),
    "bdf2": nx.ImplicitEuler(DT, bdf2=True),
}


def first(result: nx.Result, what: str, joint: str) -> float:
    return float(result.observed.of_joint(f"joint_{what}", joint)[0, 0])


@pytest.mark.parametrize("method", EVERY.values(), ids=EVERY)
def test_q0_and_v0_change_parts_of_the_state_that_a_run_goes_on_from(method: Any, tmp_path: Path) -> None:
    half = nx.simulate(arm(), HALF, FIXED["rk4"])
    q, v = (
        {name: float(half.observed.of_joint(f"joint_{what}", name)[-1, 0]) for name in ("h1", "h2")}
        for what in ("position", "velocity")
    )
    assert abs(q["h2"]) > np.pi
    report = nx.assemble(arm())
    for initial, others in ((half, (q, v)), (report, ({"h1": 0.0}, {"h1": 0.0}))):
        system = initial.system if isinstance(initial, nx.Result) else initial.model.system
        moved = nx.simulate(
            system,
            float(getattr(initial, "t", [0.0])[-1]) + DT if initial is half else DT,
            method,
            initial=initial,
            q0={"h2": 0.5},
        )
        assert first(moved, "position", "h2") == pytest.approx(0.5, abs=1e-9)
        assert first(moved, "position", "h1") == pytest.approx(others[0]["h1"], abs=1e-9)
        assert first(moved, "velocity", "h1") == pytest.approx(others[1]["h1"], abs=1e-8)
    still = nx.simulate(arm(), HALF + DT, method, initial=half, v0={"h2": -3.0})
    assert first(still, "velocity", "h2") == pytest.approx(-3.0, abs=1e-8)
    assert first(still, "velocity", "h1") == pytest.approx(v["h1"], abs=1e-8)
    assert first(still, "position", "h2") == pytest.approx(q["h2"], abs=1e-9)
    assert first(still, "position", "h1") == pytest.approx(q["h1"], abs=1e-9)
    assert float(still.t[0]) == HALF


@pytest.mark.parametrize("method", EVERY.values(), ids=EVERY)
def test_a_loop_goes_on_with_another_velocity_or_pose_of_one_joint(method: Any) -> None:
    half = nx.simulate(four_bar(), HALF, nx.HHT(dt=DT))
    faster = nx.simulate(four_bar(), HALF + DT, method, initial=half, v0={"A": 4.0})
    assert first(faster, "velocity", "A") == pytest.approx(4.0, abs=1e-8)
    assert first(faster, "position", "A") == pytest.approx(float(half.joint_position("A")[-1]), abs=1e-9)
    ratio = float(half.joint_velocity("D")[-1] / half.joint_velocity("A")[-1])
    assert first(faster, "velocity", "D") == pytest.approx(4.0 * ratio, abs=1e-7)
    turned = nx.simulate(four_bar(), HALF + DT, method, initial=half, q0={"A": 0.4})
    assert first(turned, "position", "A") == pytest.approx(0.4, abs=1e-9)


@pytest.mark.parametrize("method", EVERY.values(), ids=EVERY)
def test_a_run_goes_on_from_a_result_of_any_other_method(method: Any) -> None:
    for make in (arm, four_bar):
        before = [nx.simulate(make(), HALF, m) for m in (FIXED["rk4"], FIXED["hht"])]
        for half in before:
            rest = nx.simulate(make(), HALF + DT, method, initial=half)
            assert float(rest.t[0]) == HALF
            seen, was = rest.observed, half.observed
            for name in make().joints:
                for what in ("joint_position", "joint_velocity"):
                    np.testing.assert_allclose(
                        seen.of_joint(what, name)[0], was.of_joint(what, name)[-1], rtol=0, atol=1e-8
                    )
            if half.recording.z.size:
                np.testing.assert_allclose(rest.recording.z[0], half.recording.z[-1], rtol=0, atol=1e-12)


def free_pair() -> nx.System:
    """A body that floats, with another on it."""
    system = nx.System("free", gravity=(0, 0, 0))
    system.add_body("hull", mass=2.0, inertia=(1.0, 2.0, 3.0), position=(1, 2, 3))
    system.add_body("arm", mass=0.5, inertia=(0.1, 0.1, 0.1), position=(1.5, 2, 3))
    system.add_joint(nx.Revolute("shoulder", "hull", "arm", at=(1.2, 2, 3), axis=(0, 0, 1)))
    return system


@pytest.mark.parametrize("method", EVERY.values(), ids=EVERY)
def test_a_floating_body_takes_q0_and_v0_by_its_name(method: Any) -> None:
    turn = np.array([np.cos(0.3), 0.0, np.sin(0.3), 0.0])
    start: dict[str, Any] = {
        "q0": {"hull": [*turn, 4, 5, 6], "shoulder": 0.2},
        "v0": {"hull": [0.1, 0.2, 0.3, 1.0, 2.0, 3.0], "shoulder": -1.0},
    }
    run, reference = (nx.simulate(free_pair(), 4 * DT, m, **start) for m in (method, nx.RungeKutta4(DT / 4)))
    for name in ("hull", "arm"):
        for what in ("position", "orientation", "velocity", "angular_velocity"):
            x, y = getattr(run, what)(name).values, getattr(reference, what)(name).values
            np.testing.assert_allclose(x[0], y[0], rtol=0, atol=1e-9)
            np.testing.assert_allclose(
                x[-1], y[-1], rtol=0, atol=2e-3 if isinstance(method, nx.ImplicitEuler) else 2e-5
            )
    with pytest.raises(nx.NexDynError, match=r"3.*6"):
        nx.simulate(free_pair(), DT, method, v0={"hull": [1.0, 2.0, 3.0]})


# --- functions of the user's with a state of their own ------------------------------------------------------------------


class Counter:
    """A controller that counts its samples, silently."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, t: float, q: float, v: float) -> float:
        self.calls += 1
        return 0.1 * self.calls


class Telling(Counter):
    def save_state(self) -> dict[str, int]:
        return {"calls": self.calls}

    def load_state(self, state: dict[str, int]) -> None:
        self.calls = state["calls"]


def controlled(controller: Any) -> nx.System:
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
    system.add_joint(nx.Revolute("axle", "ground", "wheel", axis=(0, 0, 1)))
    system.add_force(nx.Controller("count", "axle", function=controller, sample_time=4 * DT))
    return system


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize(
    ("method", "tolerance"),
    [*((method, 0.0) for method in FIXED.values()), *ADAPTIVE.values()],
    ids=[*FIXED, *(f"{name} adaptive" for name in ADAPTIVE)],
)
def test_a_controller_is_asked_for_its_state_and_told_it(method: Any, tolerance: float, tmp_path: Path) -> None:
    whole = state(nx.simulate(controlled(Telling()), END, method))
    half = nx.simulate(controlled(Telling()), HALF, method)
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        rest = nx.simulate(controlled(Telling()), END, method, initial=initial)
        np.testing.assert_allclose(state(rest), whole, rtol=0, atol=tolerance * np.abs(whole).max())


def test_every_method_has_a_run_that_goes_on() -> None:
    assert {method.name for method in FIXED.values()} == set(METHODS) - set(PAIRS)
    adaptive = {name for name, cls in METHODS.items() if "rtol" in cls.__dataclass_fields__}
    assert {method.name for method, _ in ADAPTIVE.values()} == adaptive


class Latch:
    """Whether it was asked while 30 ms to 60 ms of a run had passed: nothing that a run from `HALF` sees."""

    def __init__(self) -> None:
        self.on = False

    def look(self, t: float) -> None:
        self.on = self.on or 0.03 < t < 0.06

    def save_state(self) -> dict[str, bool]:
        return {"on": self.on}

    def load_state(self, state: dict[str, bool]) -> None:
        self.on = state["on"]


class Push(Latch):
    """A force in x, and a torque, from the time on that it was armed at."""

    def __call__(self, t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        self.look(t)
        out[2] = 5.0 * self.on
        out[3] = 2.0 * self.on


class Ramp(Latch):
    """0 until 0.2 s, then 50 (t − 0.2)³, where it was armed."""

    def f(self, t: float) -> float:
        self.look(t)
        return 50.0 * self.on * max(0.0, t - 0.2) ** 3

    def df(self, t: float) -> float:
        return 150.0 * self.on * max(0.0, t - 0.2) ** 2

    def ddf(self, t: float) -> float:
        return 300.0 * self.on * max(0.0, t - 0.2)


class Forgetful:
    """Takes no state: what a run would do that did not tell it."""

    def load_state(self, state: dict[str, bool]) -> None:
        pass


class ForgetfulPush(Forgetful, Push):
    pass


class ForgetfulRamp(Forgetful, Ramp):
    pass


def pushed(latch: Any) -> nx.System:
    system = nx.System("pushed", gravity=(0, 0, 0))
    system.add_body("sled", mass=1.0, inertia=(1.0, 1.0, 2.0))
    system.add_joint(nx.Planar("floor", "ground", "sled", axis=(0, 0, 1), v0=(0.1, 0.2, 0.3)))
    system.add_force(nx.UserForce("push", "sled", "ground", function=latch))
    return system


def led(latch: Any) -> nx.System:
    system = nx.System("led", gravity=(0, -9.81, 0))
    system.add_body("cart", mass=1.0, inertia=(1.0, 1.0, 2.0))
    system.add_body("bob", mass=0.5, inertia=(0.1, 0.1, 0.1), position=(0.3, -0.4, 0))
    system.add_joint(nx.Prismatic("rail", "ground", "cart", axis=(1, 0, 0)))
    system.add_joint(nx.Revolute("hinge", "cart", "bob", at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_driver(nx.Driver("path", "rail", nx.UserFunction(latch.f, latch.df, latch.ddf)))
    return system


LATCHED: dict[str, tuple[Callable[[Any], nx.System], Any, Any]] = {
    "user force": (pushed, Push, ForgetfulPush),
    "driver": (led, Ramp, ForgetfulRamp),
}


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize("what", LATCHED)
@pytest.mark.parametrize("name", ["rk4", "hht", "projection", "bdf2"])
def test_a_user_force_and_a_driver_are_asked_for_their_state_and_told_it(name: str, what: str, tmp_path: Path) -> None:
    (build, kind, forgetful), method = LATCHED[what], FIXED[name]
    whole = state(nx.simulate(build(kind()), END, method))
    half = nx.simulate(build(kind()), HALF, method)
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        np.testing.assert_array_equal(state(nx.simulate(build(kind()), END, method, initial=initial)), whole)
        forgot = nx.simulate(build(forgetful()), END, method, initial=initial)
        assert np.abs(state(forgot) - whole).max() > 1e-3


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
def test_a_controller_that_keeps_its_state_to_itself_is_refused_by_name(tmp_path: Path) -> None:
    method = FIXED["rk4"]
    whole = state(nx.simulate(controlled(Counter()), END, method))
    same = Counter()
    half = nx.simulate(controlled(same), HALF, method)
    with pytest.raises(nx.InputError, match=r"force 'count' \(function\) had a state of its own.*save_state"):
        nx.simulate(controlled(Counter()), END, method, initial=half)
    assert np.array_equal(state(nx.simulate(controlled(same), END, method, initial=half)), whole)
    with pytest.raises(nx.InputError, match="save_state"):  # it has counted on since
        nx.simulate(controlled(same), END, method, initial=half)
    simulation = simulation_of(controlled(Counter()), method)
    simulation.run(HALF)
    assert np.array_equal(state(simulation.run(END)), whole)


def in_closure() -> Any:
    n = 0

    def control(t: float, q: float, v: float) -> float:
        nonlocal n
        n += 1
        return 0.1 * n

    return control


def in_a_cell() -> Any:
    kept = {"n": 0}

    def control(t: float, q: float, v: float) -> float:
        kept["n"] += 1
        return 0.1 * kept["n"]

    return control


def around_an_object() -> Any:
    counter = Counter()
    return lambda t, q, v: counter(t, q, v)


def in_a_default() -> Any:
    def control(t: float, q: float, v: float, kept: list[int] = [0]) -> float:  # noqa: B006
        kept[0] += 1
        return 0.1 * kept[0]

    return control


calls_so_far = 0


def counts_in_a_global(t: float, q: float, v: float) -> float:
    global calls_so_far
    calls_so_far += 1
    return 0.1 * calls_so_far


def in_a_global() -> Any:
    global calls_so_far
    calls_so_far = 0
    return counts_in_a_global


def in_a_global_of_a_helper() -> Any:
    in_a_global()
    return lambda t, q, v: counts_in_a_global(t, q, v)


def counts_in(kept: Any, t: float, q: float, v: float) -> float:
    kept.append(t)
    return 0.1 * len(kept)


def in_a_partial() -> Any:
    return functools.partial(counts_in, [])


def partial_of_an_object() -> Any:
    return functools.partial(Counter())


def partial_of_a_method() -> Any:
    return functools.partial(Counter().__call__)


def in_an_attribute() -> Any:
    def control(t: float, q: float, v: float) -> float:
        control.n += 1  # type: ignore[attr-defined]
        return 0.1 * control.n  # type: ignore[attr-defined, no-any-return]

    control.n = 0  # type: ignore[attr-defined]
    return control


def in_a_generator() -> Any:
    numbers = (0.1 * n for n in range(1, 10**6))
    return lambda t, q, v: next(numbers)


def in_an_iterator() -> Any:
    numbers = iter([0.1 * n for n in range(1, 1000)])
    return lambda t, q, v: next(numbers)


def in_a_random_generator() -> Any:
    rng = np.random.default_rng(7)
    return lambda t, q, v: rng.normal()


class Slotted:
    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0

    def control(self, t: float, q: float, v: float) -> float:
        self.n += 1
        return 0.1 * self.n


def in_a_slot() -> Any:
    return Slotted().control


class OfTheClass:
    n = 0

    def __call__(self, t: float, q: float, v: float) -> float:
        type(self).n += 1
        return 0.1 * self.n


def in_a_class() -> Any:
    OfTheClass.n = 0
    return OfTheClass()


SILENT: dict[str, tuple[Callable[[], Any], str]] = {
    make.__name__: (make, what)
    for make, what in (
        (in_closure, "variable 'n'"),
        (in_a_cell, "variable 'kept'"),
        (around_an_object, "variable 'counter'"),
        (in_a_default, "default of 'kept'"),
        (in_a_global, "global 'calls_so_far'"),
        (in_a_global_of_a_helper, "global 'counts_in_a_global'"),
        (in_a_partial, "argument 1 of its partial"),
        (partial_of_an_object, "attribute 'calls' of Counter"),
        (partial_of_a_method, "attribute 'calls' of Counter"),
        (in_an_attribute, "attribute 'n'"),
        (in_a_generator, "variable 'numbers'"),
        (in_an_iterator, "variable 'numbers'"),
        (in_a_random_generator, "variable 'rng'"),
        (in_a_slot, "attribute 'n' of Slotted"),
        (in_a_class, "class OfTheClass"),
    )
}
"""Controllers that count their samples, and what it is called where they do."""


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize("where", SILENT)
def test_a_state_is_found_and_named_wherever_a_function_keeps_it(where: str, tmp_path: Path) -> None:
    make, what = SILENT[where]
    same = make()
    half = nx.simulate(controlled(same), HALF, FIXED["rk4"])
    half.save(tmp_path / "half.nc")
    whole = nx.simulate(controlled(same), END, FIXED["rk4"], initial=half)  # it still is where it was
    assert float(whole.t[-1]) == END
    refused = f"force 'count' \\(function\\) had a state of its own.*{what}.*had changed.*save_state"
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        with pytest.raises(nx.InputError, match=refused):
            nx.simulate(controlled(make()), END, FIXED["rk4"], initial=initial)


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
def test_what_a_function_records_goes_on_in_the_process_where_nobody_touched_it() -> None:
    """Making the second simulation calls the function already: what counts is what it held before."""
    seen: list[float] = []

    def pull(t: float, q: float, v: float) -> float:
        seen.append(t)
        return -2.0 * q

    system = nx.System("recorded")
    body = system.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Prismatic("guide", system.ground, body, axis=(1.0, 0.0, 0.0), q0=0.3))
    system.add_force(nx.UserJointForce("spring", "guide", pull))
    half = nx.simulate(system, 0.05, nx.RungeKutta4(1e-2))
    assert float(nx.simulate(system, 0.1, nx.RungeKutta4(1e-2), initial=half).t[-1]) == 0.1
    seen.append(-1.0)
    with pytest.raises(nx.InputError, match=r"variable .seen. had changed.*what only records may tell None"):
        nx.simulate(system, 0.2, nx.RungeKutta4(1e-2), initial=half)


def test_what_cannot_be_looked_into_and_what_is_large_ends_no_run() -> None:
    class Closed:
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise RuntimeError("no")

    closed, table, many = Closed(), np.arange(3_000_000.0), [0.5] * 50_000

    def pull(t: float, q: float, v: float) -> float:
        return -2.0 * q + 0.0 * (table[0] + many[0] + (closed is None))

    before = held_by([pull], tells_state)[0]
    assert held_by([pull], tells_state)[0] == before
    table[1_234_567] += 1.0
    many[-1] = 0.25
    after = held_by([pull], tells_state)[0]
    assert [what for what in before if before[what] != after[what]] == ["variable 'many'", "variable 'table'"]


def telling_in_closure() -> Any:
    counter, gains = Telling(), [0.5, 2.0]
    return lambda t, q, v: gains[0] * gains[1] * counter(t, q, v)


def telling_in_a_partial() -> Any:
    return functools.partial(lambda counter, t, q, v: counter(t, q, v), Telling())


def telling_method() -> Any:
    return Telling().__call__


def telling_by_attributes() -> Any:
    """A plain function, which has the two functions as attributes."""
    n = 0

    def control(t: float, q: float, v: float) -> float:
        nonlocal n
        n += 1
        return 0.1 * n

    def load_state(state: dict[str, int]) -> None:
        nonlocal n
        n = state["n"]

    control.save_state = lambda: {"n": n}  # type: ignore[attr-defined]
    control.load_state = load_state  # type: ignore[attr-defined]
    return control


def two_that_tell() -> Any:
    a, b = Telling(), Telling()
    return lambda t, q, v: a(t, q, v) if t < 0.04 else a(t, q, v) + b(t, q, v)


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize(
    "make", [telling_in_closure, telling_in_a_partial, telling_method, telling_by_attributes, two_that_tell]
)
def test_what_tells_its_state_is_asked_wherever_a_function_holds_it(make: Any, tmp_path: Path) -> None:
    whole = state(nx.simulate(controlled(make()), END, FIXED["rk4"]))
    half = nx.simulate(controlled(make()), HALF, FIXED["rk4"])
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        assert np.array_equal(state(nx.simulate(controlled(make()), END, FIXED["rk4"], initial=initial)), whole)
        with pytest.raises(nx.InputError, match=r"force 'count' \(function\), saved by save_state"):
            nx.simulate(controlled(lambda t, q, v: 0.0), END, FIXED["rk4"], initial=initial)


GAIN = {"p": 3.0, "table": np.linspace(0.0, 1.0, 7)}


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
def test_functions_that_hold_constants_go_on(tmp_path: Path) -> None:
    tree = nx.Tree(arm(calm=True))
    log, lock = logging.getLogger("nexdyn.test"), threading.Lock()

    def make() -> Any:
        k, offsets = 2.0, [0.1, 0.2]

        def helper(q: float) -> float:
            return float(np.interp(q, np.arange(7), GAIN["table"]))

        def control(t: float, q: float, v: float, scale: float = 0.5) -> float:
            with lock:
                log.debug("t = %g", t)
            mass = float(tree.crba(np.array([q, v]))[0, 0])
            return -k * scale * GAIN["p"] * q + offsets[0] - 1e-3 * mass + helper(q)

        return control

    whole = state(nx.simulate(controlled(make()), END, FIXED["rk4"]))
    half = nx.simulate(controlled(make()), HALF, FIXED["rk4"])
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        assert np.array_equal(state(nx.simulate(controlled(make()), END, FIXED["rk4"], initial=initial)), whole)


def silent_push() -> Any:
    kept = {"on": False}

    def push(t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        kept["on"] = kept["on"] or 0.03 < t < 0.06
        out[2] = 5.0 * kept["on"]

    return push


def silent_ramp() -> nx.UserFunction:
    kept = {"on": False}

    def f(t: float) -> float:
        kept["on"] = kept["on"] or 0.03 < t < 0.06
        return 50.0 * kept["on"] * max(0.0, t - 0.2) ** 3

    return nx.UserFunction(f, lambda t: 0.0, lambda t: 0.0)


def pushed_in_silence() -> nx.System:
    return pushed(silent_push())


def led_in_silence() -> nx.System:
    system = led(Ramp()).with_parameters({})
    system.add_driver(nx.Driver("turn", "hinge", silent_ramp()))
    return system


def acted_on_in_silence() -> nx.System:
    n = 0

    def action(state: Any) -> None:
        nonlocal n
        n += 1
        state.velocity["h1"] = 0.1 * n * state.velocity["h1"]

    return arm(calm=True, events=[nx.Event("knock", time=0.05, action=action)])


def watched_in_silence() -> nx.System:
    seen: list[float] = []

    def level(t: float, q: np.ndarray, v: np.ndarray) -> float:
        seen.append(t)
        return float(q[1]) - 1e3 + 1e-9 * len(seen)

    return arm(calm=True, events=[nx.Event("seen", function=level)])


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize(
    ("build", "whose"),
    [
        (pushed_in_silence, "force 'push'"),
        (led_in_silence, "driver 'turn'"),
        (acted_on_in_silence, "event 'knock' (action)"),
        (watched_in_silence, "event 'seen' (function)"),
    ],
)
def test_user_forces_drivers_and_events_that_keep_a_state_to_themselves_are_refused_by_name(
    build: Callable[[], nx.System], whose: str, tmp_path: Path
) -> None:
    half = nx.simulate(build(), HALF, FIXED["hht"])
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        with pytest.raises(nx.InputError, match=re.escape(whose) + ".*had a state of its own"):
            nx.simulate(build(), END, FIXED["hht"], initial=initial)


def test_a_state_that_steps_taken_again_meet_twice_is_told() -> None:
    def counted(controller: Any) -> nx.System:
        system = controlled(controller)
        system.add_event(nx.Event("turned", joint="axle", value=1e-3))
        return system

    with pytest.warns(nx.NexDynWarning) as said:
        result = nx.simulate(counted(in_closure()), END, FIXED["rk4"])
    assert len([w for w in said if "keeps a state to itself (variable 'n' changed)" in str(w.message)]) == 1
    assert [w["where"] for w in result.warnings if w["kind"] == "state"] == ["force 'count' (function)"]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Python.*")
        told = nx.simulate(counted(telling_in_closure()), END, FIXED["rk4"])
    assert not told.warnings
    assert state(told) == pytest.approx(state(nx.simulate(controlled(Telling()), END, FIXED["rk4"])), abs=1e-9)


SEVERAL: dict[str, Any] = {
    "rk4": (nx.RungeKutta4(DT), None),
    "hht": (nx.HHT(dt=DT), None),
    "dopri5": (nx.DormandPrince(), [HALF, END]),
    "dop853": (nx.DOP853(), [HALF, END]),
}


@pytest.mark.filterwarnings("ignore:.*Python.*")
@pytest.mark.parametrize("name", SEVERAL)
def test_members_of_a_batch_begin_with_the_states_that_functions_had(name: str) -> None:
    method, times = SEVERAL[name]
    speeds = [0.0, 1.0, 2.0]
    alone = [state(nx.simulate(controlled(Telling()), END, method, v0={"axle": v}, output_times=times)) for v in speeds]
    batch = nx.simulate(controlled(Telling()), END, method, batch={"v0": {"axle": speeds}}, output_times=times)
    for m, end in enumerate(alone):
        np.testing.assert_array_equal(state(batch.member(m)), end)
    with pytest.warns(
        nx.NexDynWarning, match=r"force 'count' \(function\) keeps a state to itself .*next of several runs"
    ):
        nx.simulate(controlled(in_closure()), END, method, batch={"v0": {"axle": speeds}}, output_times=times)


def test_lanes_leave_out_functions_that_tell_a_state() -> None:
    """A force in Python goes in lanes, where calls for all members mix, unless it has a state."""

    def build(latch: Any) -> nx.System:
        system = nx.System("pushed", gravity=(0, 0, 0))
        system.add_body("sled", mass=1.0, inertia=(1.0, 1.0, 2.0))
        system.add_joint(nx.Prismatic("rail", "ground", "sled", axis=(1, 0, 0)))
        system.add_force(nx.UserForce("push", "sled", "ground", function=latch))
        return system

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Python.*")
        batch = nx.simulate(build(Tired()), END, nx.RungeKutta4(DT), batch={"v0": {"rail": [1.0, 2.0]}})
        alone = [nx.simulate(build(Tired()), END, nx.RungeKutta4(DT), v0={"rail": v}) for v in (1.0, 2.0)]
    for m, one in enumerate(alone):
        np.testing.assert_array_equal(state(batch.member(m)), state(one))


class Tired:
    """Pushes less with every call."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        self.calls += 1
        out[3] = 10.0 / self.calls

    def save_state(self) -> int:
        return self.calls

    def load_state(self, state: int) -> None:
        self.calls = state


@pytest.mark.filterwarnings("ignore:.*Python.*")
def test_second_runs_of_studies_begin_with_the_states_that_functions_had() -> None:
    method = nx.RungeKutta4(DT)
    plain = nx.simulate(controlled(Telling()), END, method, error_estimate=True)
    assert plain.error_estimate is not None
    # steps end at samples, of which the controller alone depends: both runs have the same efforts
    assert float(plain.error_estimate.errors["joint_position"].max()) < 1e-12
    with pytest.warns(nx.NexDynWarning, match="keeps a state to itself"):
        nx.simulate(controlled(in_closure()), END, method, error_estimate=True)
    found = nx.sensitivity(controlled(Telling()), END, ["wheel.mass"], method=method)
    with pytest.warns(nx.NexDynWarning, match="keeps a state to itself"):
        nx.sensitivity(controlled(in_closure()), END, ["wheel.mass"], method=method)
    # of a wheel on an axle nothing depends on the mass
    assert float(np.abs(found.of("joint_position.axle").values).max()) < 1e-9
