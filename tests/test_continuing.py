"""A run is one run: run(T₁) then run(T₂) is run(T₁ + T₂), in memory, from a result, from its file; bit for bit where steps are fixed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from continuing_lab import (
    ADAPTIVE,
    ANEW,
    DT,
    END,
    FIXED,
    HALF,
    SYSTEMS,
    WAYS,
    Way,
    arm,
    four_bar,
    from_result,
    hung,
    in_memory,
    state,
    turned_back,
)

import nexdyn as nx
from nexdyn.integrate.methods import PAIRS
from nexdyn.simulation.choice import simulation_of
from nexdyn.simulation.march import COUNTED


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


@pytest.mark.parametrize(("method", "tolerance"), ADAPTIVE.values(), ids=ADAPTIVE)
def test_halves_of_an_adaptive_run_behind_events_are_one(method: Any, tolerance: float, tmp_path: Path) -> None:
    def make() -> nx.System:
        off, harder = (
            nx.Event("slip", time=51 * DT, off="wound"),
            nx.Event("hard", time=77 * DT, parameters={"K": 90.0}),
        )
        return arm(calm=True, v0=60.0, events=(off, harder, nx.Event("again", time=192 * DT, on="wound")))

    whole = nx.simulate(make(), END, method)
    for way in WAYS:
        end = way(make(), method, tmp_path)
        assert [event["name"] for event in end.events][-1] == "again"
        atol = tolerance * max(1.0, np.abs(state(whole)).max())
        np.testing.assert_allclose(state(end), state(whole), rtol=0, atol=atol, err_msg=way.__name__)


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


@pytest.mark.parametrize("make", SYSTEMS.values(), ids=SYSTEMS)
@pytest.mark.parametrize("solver", ["lu", "iterative"])
def test_a_solver_outside_the_loop_goes_on_with_the_factors_that_it_had(solver: Any, make: Any, tmp_path: Path) -> None:
    """They are made again from the same matrix: where a run goes on, and after an output time between two steps."""
    method = nx.HHT(dt=DT, solver=solver)
    whole = state(nx.simulate(make(), END, method))
    for way in WAYS:
        assert np.array_equal(state(way(make(), method, tmp_path)), whole), way.__name__
    assert np.array_equal(state(nx.simulate(make(), END, method, output_times=[2.3 * DT, 11.5 * DT, END])), whole)
    between = nx.simulate(make(), HALF + 0.3 * DT, method)
    assert np.array_equal(state(nx.simulate(make(), END, method, initial=between)), whole)
    if solver == "lu":  # the other takes ten times as long
        adaptive = nx.HHT(rtol=1e-4, solver=solver)
        one, other = (state(way(make(), adaptive, tmp_path)) for way in WAYS[:2])
        assert np.array_equal(one, other)


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


def balls() -> nx.System:
    """Two balls lie on the ground; events switch a force of their contact off, on again, and then all of the contact off."""
    system = nx.System("balls")
    for name in ("ball0", "ball1"):
        system.add_body(name, mass=1.0, inertia=(4e-3, 4e-3, 4e-3), position=(0, 0, 0.1), collision=[nx.Sphere(0.1)])
        system.add_joint(nx.Prismatic(f"of {name}", "ground", name, at=(0, 0, 0.1)))
    system.add_contact(nx.Contact("touch", "ball*", stiffness=1e5))
    first = next(iter(system.forces))
    system.add_event(nx.Event("one off", time=0.02, off=first))
    system.add_event(nx.Event("one on", time=0.04, on=first))
    system.add_event(nx.Event("all off", time=0.06, off="touch"))
    return system


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", ["rk4", "hht"])
def test_what_was_switched_last_counts_of_a_contact_and_of_a_force_of_it(name: str, way: Way, tmp_path: Path) -> None:
    method: Any = replace(FIXED[name], dt=1e-3)
    whole = nx.simulate(balls(), END, method)
    assert whole.position("ball0").values[-1, 2] < 0.09
    np.testing.assert_allclose(state(way(balls(), method, tmp_path)), state(whole), atol=1e-12)


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

EVERY = {**FIXED, **{f"{name} adaptive": method for name, (method, _) in ADAPTIVE.items()}}


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


FIRST_ORDER = (nx.ImplicitEuler, nx.ExplicitEuler, nx.SemiImplicitEuler)


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
            np.testing.assert_allclose(x[-1], y[-1], rtol=0, atol=2e-3 if isinstance(method, FIRST_ORDER) else 2e-5)
    with pytest.raises(nx.NexDynError, match=r"3.*6"):
        nx.simulate(free_pair(), DT, method, v0={"hull": [1.0, 2.0, 3.0]})
