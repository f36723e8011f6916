"""Batches go on as single runs do: from a result, and from each of their members."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mechanisms import four_bar
from turns import in_turns

import nexdyn as nx

DT = 2.0**-8
HALF, END = 0.0625, 0.125
COUNT = 3
IN_LANES = {
    "rk4": nx.RungeKutta4(DT),
    "euler": nx.ExplicitEuler(DT),
    "semi-implicit": nx.SemiImplicitEuler(DT),
    "hht": nx.HHT(dt=DT),
}
ALONE = {"dopri5": nx.DormandPrince(), "projection": nx.Projection(dt=DT), "implicit-euler": nx.ImplicitEuler(DT)}
EVERY: dict[str, Any] = IN_LANES | ALONE


def arm(*, joints: tuple[str, str] = ("h1", "h2"), events: Any = ()) -> nx.System:
    """Two links, one with a spring of stiffness K, and a spring between them."""
    system = nx.System("arm", gravity=(0, -9.81, 0))
    system.parameter("K", 2.0)
    system.add_body("upper", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.5, 0, 0))
    system.add_body("lower", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(1.05, 0, 0))
    first, second = joints
    system.add_joint(nx.Revolute(first, "ground", "upper", axis=(0, 0, 1), at=(0, 0, 0), stiffness="=K", v0=1.0))
    system.add_joint(nx.Revolute(second, "upper", "lower", axis=(0, 0, 1), at=(1, 0, 0), v0=60.0))
    system.add_force(nx.TorsionSpring("wound", "upper", "lower", stiffness=5.0))
    for event in events:
        system.add_event(event)
    return system


def half_with_events() -> nx.Result:
    """A half in which the spring breaks and the stiffness of the other becomes 90 N m/rad."""
    events = [nx.Event("slip", time=0.02, off="wound"), nx.Event("harder", time=0.03, parameters={"K": 90.0})]
    return nx.simulate(arm(events=events), HALF, nx.RungeKutta4(DT))


def end(result: nx.Result) -> np.ndarray:
    names = [name for name, joint in result.system.joints.items() if joint.nv]
    ends = [getattr(result, what)(name).values[-1] for what in ("joint_position", "joint_velocity") for name in names]
    return np.concatenate([np.atleast_1d(x).ravel() for x in ends])


@pytest.mark.parametrize("method", EVERY.values(), ids=EVERY)
def test_a_batch_takes_what_events_have_left_as_a_single_run_does(method: Any) -> None:
    half, times = half_with_events(), [HALF, END] if method in ALONE.values() else None
    batch = {"v0": {"h1": np.linspace(0.5, 1.0, COUNT)}}
    together = nx.simulate(arm(), END, method, initial=half, batch=batch, output_times=times)
    assert together.failures == {}
    for m, v0 in enumerate(batch["v0"]["h1"]):
        alone = nx.simulate(arm(), END, method, initial=half, v0={"h1": v0}, output_times=times)
        member = together.member(m)
        np.testing.assert_allclose(end(member), end(alone), rtol=0, atol=1e-11 * np.abs(end(alone)).max())
        assert member.recording.settings["changed"] == alone.recording.settings["changed"]
        elastic = [r.energy()["elastic"].values[-1] for r in (member, alone)]
        assert elastic[0] == pytest.approx(elastic[1], rel=1e-9)
    forgot = nx.simulate(arm(), END, method, q0={"h1": 0.1}, v0={"h1": 0.5}, output_times=times and [HALF, END])
    assert np.abs(end(forgot) - end(together.member(0))).max() > 0.1


@pytest.mark.parametrize("method", EVERY.values(), ids=EVERY)
def test_members_with_parameters_of_their_own_keep_what_events_have_left_and_cannot_undo_it(method: Any) -> None:
    half, masses = half_with_events(), [0.5, 1.0]
    times = [HALF, END] if method in ALONE.values() else None
    batch = {"parameters": {"lower.mass": masses}}
    together = nx.simulate(arm(), END, method, initial=half, batch=batch, output_times=times)
    for m, mass in enumerate(masses):
        own = arm().with_parameters({"lower.mass": mass})
        alone = nx.simulate(own, END, method, initial=half, output_times=times)
        np.testing.assert_allclose(end(together.member(m)), end(alone), rtol=0, atol=1e-11 * np.abs(end(alone)).max())
    with pytest.raises(nx.InputError, match=r"'K' is in the batch, but an event"):
        nx.simulate(arm(), END, method, initial=half, batch={"parameters": {"K": [1.0, 2.0]}}, output_times=times)


@pytest.mark.parametrize("method", IN_LANES.values(), ids=IN_LANES)
@pytest.mark.parametrize("of", [nx.RungeKutta4(DT), nx.HHT(dt=DT)], ids=["of rk4", "of hht"])
def test_a_batch_goes_on_from_the_results_of_either_kind_of_coordinates_with_their_turns(method: Any, of: Any) -> None:
    half = nx.simulate(arm(), 2 * HALF, of)
    assert float(half.joint_position("h2")[-1]) > 2 * np.pi
    together = nx.simulate(arm(), 2 * END, method, initial=half, batch={"v0": {"h1": [0.5, 1.0]}})
    alone = nx.simulate(arm(), 2 * END, method, initial=half, v0={"h1": 1.0})
    np.testing.assert_allclose(end(together.member(1)), end(alone), rtol=0, atol=1e-11 * np.abs(end(alone)).max())


@pytest.mark.parametrize("method", EVERY.values(), ids=EVERY)
def test_what_is_changed_behind_a_half_that_ended_between_steps_acts_from_its_end_on(method: Any) -> None:
    """Alone and in a batch, whose members all begin their steps there, also those in which nothing is changed."""
    half = nx.simulate(arm(), HALF + 0.3 * DT, method)
    times = [float(half.t[-1]), END] if method in ALONE.values() else None
    start = {name: float(half.joint_velocity(name)[-1]) for name in ("h1", "h2")}
    stiff = [2.0, 90.0]
    together = nx.simulate(arm(), END, method, initial=half, batch={"parameters": {"K": stiff}}, output_times=times)
    assert (np.diff(together.t.values) > 0.0).all()
    finer = nx.simulate(arm(), HALF + 0.3 * DT, nx.RungeKutta4(DT / 8))
    for m, K in enumerate(stiff):
        own = arm().with_parameters({"K": K})
        alone, anew = (
            end(nx.simulate(own, END, method, initial=half, output_times=times, **how)) for how in ({}, {"v0": start})
        )
        exact = end(nx.simulate(own, END, nx.RungeKutta4(DT / 8), initial=finer))
        # what methods remember of the steps before is part of their error
        error, rounded = np.abs(anew - exact).max(), 1e-11 * np.abs(anew).max()
        remembers = method.name in ("hht", "implicit-euler", "dopri5")
        assert error < 0.03 * np.abs(exact).max()
        assert np.abs(end(together.member(m)) - anew).max() < (3.0 * error if remembers else rounded)
        if K == 90.0:
            assert np.abs(alone - end(together.member(m))).max() < rounded


def test_a_batch_goes_on_from_a_report_and_a_posture() -> None:
    system = arm()
    hand = nx.inverse_kinematics(system, {"lower": (0.9, 0.6, 0.0)})
    for initial in (nx.assemble(system, q0={"h2": 0.3}), hand):
        together = nx.simulate(system, HALF, nx.RungeKutta4(DT), initial=initial, batch={"v0": {"h1": [0.5, 1.0]}})
        alone = nx.simulate(system, HALF, nx.RungeKutta4(DT), initial=initial, v0={"h1": 1.0})
        np.testing.assert_allclose(end(together.member(1)), end(alone), rtol=0, atol=1e-11)


def test_a_result_of_another_mechanism_starts_no_batch() -> None:
    other = nx.simulate(arm(joints=("p", "q")), HALF, nx.RungeKutta4(DT))
    for batch in ({"v0": {"h1": [0.0, 1.0]}}, {"parameters": {"K": [1.0, 2.0]}}):
        with pytest.raises(nx.InputError, match="another mechanism, with the joints p, q; the model has h1, h2"):
            nx.simulate(arm(), END, nx.RungeKutta4(DT), initial=other, batch=batch)


@pytest.mark.parametrize("method", EVERY.values(), ids=EVERY)
def test_a_batch_as_the_start_is_refused_and_its_members_are_named_instead(method: Any) -> None:
    batch = {"v0": {"h1": [0.0, 1.0]}}
    before: Any = nx.simulate(arm(), HALF, nx.RungeKutta4(DT), batch=batch)
    for more in ({}, {"batch": batch}):
        with pytest.raises(nx.InputError, match=r"initial is a BatchResult; .* initial=result.member\(0\)"):
            nx.simulate(arm(), END, method, initial=before, **more)


# --- from members -----------------------------------------------------------------------------------------------------


def arms() -> tuple[nx.System, dict[str, Any]]:
    return arm(), {
        "v0": {"h1": np.linspace(-2.0, 2.0, COUNT)},
        "parameters": {"lower.mass": np.linspace(1.0, 2.0, COUNT)},
    }


def four_bars() -> tuple[nx.System, dict[str, Any]]:
    return four_bar(), {"v0": {"A": np.linspace(0.5, 3.0, COUNT)}}


def balls() -> tuple[nx.System, dict[str, Any]]:
    """That are thrown along a floor, whose friction sticks and has states."""
    system = nx.System("ball", gravity=(0, 0, -9.81))
    system.add_body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004), position=(0, 0, 0.095))
    system.add_joint(nx.Free("free", "ground", "ball"))
    system.add_force(
        nx.PlaneContact("floor", "ball", radius=0.1, stiffness=2e3, exponent=1.0, damping=1.0, friction=0.4)
    )
    return system, {"v0": {"free": [[0.0, 0.0, 0.0, x, 0.0, 0.0] for x in np.linspace(0.1, 0.3, COUNT)]}}


ENDS = [
    *((case, stored, 0.0) for case in (arms, four_bars) for stored in (False, True)),
    *in_turns([(arms, False, 0.3), (arms, True, 0.3), (balls, False, 0.3), (balls, False, 0.0)]),
]
"""What a half is of, whether it is stored, and the part of a step that it ends behind one."""


@pytest.mark.parametrize(("case", "stored", "between"), ENDS)
@pytest.mark.parametrize("name", IN_LANES)
def test_a_member_goes_on_by_itself_to_where_the_whole_run_comes(
    name: str, case: Callable[[], Any], stored: bool, between: float, tmp_path: Path
) -> None:
    """On one grid of steps: one that began anew between two of them would end elsewhere."""
    method = IN_LANES[name]
    system, batch = case()
    store = {"store": tmp_path / "half.zarr"} if stored else {}
    half, whole = (
        nx.simulate(system, t, method, batch=batch, **more) for t, more in ((HALF + between * DT, store), (END, {}))
    )
    for m in range(COUNT):
        member, expected = half.member(m), end(whole.member(m))
        member.save(tmp_path / "half.nc", full=False)
        for initial in (member, nx.open_result(tmp_path / "half.nc")):
            found = end(nx.simulate(initial.system, END, method, initial=initial))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
