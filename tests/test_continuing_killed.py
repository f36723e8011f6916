"""A run is one run where it was killed, too, and behind all that events do: from a result, and from a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from continuing_lab import ADAPTIVE, ANEW, DT, END, FIXED, HALF, Telling, arm, controlled, four_bar, state, turned_back
from turns import in_turns, is_in_turn

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.cli.run import Keeper
from nexdyn.simulation.choice import simulation_of
from nexdyn.simulation.steps import Pace

pytestmark = pytest.mark.filterwarnings("ignore:.*Python.*")


def switched_arm() -> nx.System:
    """At times of the grid, which they leave as it is: before a file is written, and after it."""
    events = [
        nx.Event("slip", time=5 * DT, off="wound"),
        nx.Event("harder", time=9 * DT, parameters={"K": 90.0}),
        nx.Event("again", time=192 * DT, on="wound"),
    ]
    return arm(calm=True, events=events)


def switched_four_bar() -> nx.System:
    """A loop whose push is switched off and on, and with a spring that is harder from an event on."""
    system = four_bar()
    system.parameter("K", 2.0)
    system.add_force(nx.TorsionSpring("spring", "ground", "crank", stiffness="=K"))
    system.add_event(nx.Event("let go", time=5 * DT, off="push"))
    system.add_event(nx.Event("harder", time=9 * DT, parameters={"K": 40.0}))
    system.add_event(nx.Event("push again", time=192 * DT, on="push"))
    return system


SYSTEMS = {"four-bar": four_bar, "arm": arm, "switched arm": switched_arm, "switched four-bar": switched_four_bar}
KEPT = {"all states": {}, "every 7th, with peaks": {"output_every": 7}}


def killed(system: nx.System, method: Any, path: Path, since: float = 80 * DT, **how: Any) -> None:
    """Write the file that a run leaves which is killed behind `since`, between two looks of its keeper."""
    simulation = simulation_of(system, method, **how)
    keeper = Keeper(simulation, path, 0.0)

    def progress(t: float, t_end: float) -> None:
        if t > since and not path.exists():
            keeper(t, t_end)

    simulation.run(END, progress=progress, peaks=True)
    assert path.exists()


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every few steps, however fast the machine is."""
    monkeypatch.setattr(Pace, "adapt", lambda self, done: None)


KILLED = [
    pytest.param(
        name,
        SYSTEMS[system],
        KEPT[how],
        id=f"{name}-{system}-{how}",
        marks=[] if is_in_turn(i + j + k) else [pytest.mark.long],
    )
    for i, name in enumerate(FIXED)
    for j, system in enumerate(SYSTEMS)
    for k, how in enumerate(KEPT)
]
"""Every method with every system, which is kept in one way or the other, in turn from run to run; with --long in both."""


@pytest.mark.parametrize(("name", "make", "how"), KILLED)
def test_a_killed_run_goes_on_from_its_file_to_the_bit(
    name: str, make: Any, how: dict[str, Any], tmp_path: Path
) -> None:
    method, path = FIXED[name], tmp_path / "killed.nc"
    whole = nx.simulate(make(), END, method, **how)
    killed(make(), method, path, **how)
    left = nx.open_result(path)
    assert left.status == "interrupted"
    assert 0.0 < float(left.t[-1]) < END
    rest = nx.simulate(left.system, END, method, initial=left, **how)
    # killed runs and the command look at peaks; partitioning closes the dependent coordinates anew where it is looked at
    rounded = {"rtol": 0.0, "atol": 1e-14 * (name == "partitioning")}
    np.testing.assert_allclose(state(rest), state(whole), **rounded)
    assert [e["name"] for e in left.events + rest.events] == [e["name"] for e in whole.events]
    whole.save(tmp_path / "whole.nc")
    assert main(["run", str(path), "--t-end", str(END), "--out", str(tmp_path / "rest.nc"), "--quiet"]) == 0
    ends = [state(nx.open_result(tmp_path / f"{one}.nc")) for one in ("rest", "whole")]
    np.testing.assert_allclose(*ends, **rounded)


@pytest.mark.parametrize("make", SYSTEMS.values(), ids=SYSTEMS)
@pytest.mark.parametrize("name", ADAPTIVE)
def test_a_killed_adaptive_run_goes_on_as_far_as_the_method_errs(name: str, make: Any, tmp_path: Path) -> None:
    (method, tolerance), path = ADAPTIVE[name], tmp_path / "killed.nc"
    whole = state(nx.simulate(make(), END, method))
    killed(make(), method, path)
    left = nx.open_result(path)
    rest = nx.simulate(left.system, END, method, initial=left)
    np.testing.assert_allclose(state(rest), whole, rtol=0, atol=tolerance * max(1.0, np.abs(whole).max()))


@pytest.mark.parametrize("name", ["rk4", "hht", "bdf2"])
def test_the_file_of_a_killed_run_holds_what_functions_tell(name: str, tmp_path: Path) -> None:
    def build() -> nx.System:
        system = controlled(Telling())
        system.add_event(nx.Event("never", joint="axle", value=1e3))
        return system

    whole = state(nx.simulate(build(), END, FIXED[name]))
    killed(build(), FIXED[name], tmp_path / "killed.nc")
    rest = nx.simulate(build(), END, FIXED[name], initial=nx.open_result(tmp_path / "killed.nc"))
    assert np.array_equal(state(rest), whole)


# --- behind events ------------------------------------------------------------------------------------------------------


def halves(build: Any, method: Any, folder: Path, at: float = HALF) -> list[nx.Result]:
    """The second half of a run, from the result of the first and from its file."""
    half = nx.simulate(build(), at, method)
    half.save(folder / "half.nc")
    return [nx.simulate(build(), END, method, initial=x) for x in (half, nx.open_result(folder / "half.nc"))]


@pytest.mark.parametrize("name", FIXED)
def test_forces_that_events_switch_on_loops_stay_so_in_results_and_files_to_the_bit(name: str, tmp_path: Path) -> None:
    whole = nx.simulate(switched_four_bar(), END, FIXED[name])
    untouched = state(nx.simulate(four_bar(), END, FIXED[name]))
    assert np.abs(state(whole) - untouched).max() > 1e-3
    for rest in halves(switched_four_bar, FIXED[name], tmp_path):
        assert np.array_equal(state(rest), state(whole))
        assert [event["name"] for event in rest.events] == ["push again"]


@pytest.mark.parametrize("name", ADAPTIVE)
def test_forces_that_events_switch_on_loops_stay_so_under_adaptive_methods(name: str, tmp_path: Path) -> None:
    method, tolerance = ADAPTIVE[name]
    whole = state(nx.simulate(switched_four_bar(), END, method))
    for rest in halves(switched_four_bar, method, tmp_path):
        np.testing.assert_allclose(state(rest), whole, rtol=0, atol=tolerance * np.abs(whole).max())


def faster(state: Any) -> None:
    state.velocity["A"] = 1.5 * state.velocity["A"]


def hurried() -> nx.System:
    """A loop that an action makes faster, at a time of the grid."""
    system = four_bar()
    system.add_event(nx.Event("faster", time=51 * DT, action=faster))
    return system


def knocked() -> nx.System:
    return arm(calm=True, events=[nx.Event("back", time=51 * DT, action=turned_back)])


ACTED = {"arm": knocked, "four-bar": hurried}


@pytest.mark.parametrize("build", ACTED.values(), ids=ACTED)
@pytest.mark.parametrize("name", FIXED)
def test_a_run_goes_on_behind_an_action_from_a_result_and_a_file(name: str, build: Any, tmp_path: Path) -> None:
    whole = state(nx.simulate(build(), END, FIXED[name]))
    untouched = state(nx.simulate(arm(calm=True) if build is knocked else four_bar(), END, FIXED[name]))
    assert np.abs(whole - untouched).max() > 1e-3
    for rest in halves(build, FIXED[name], tmp_path):
        np.testing.assert_allclose(state(rest), whole, rtol=0, atol=1e-12 * np.abs(whole).max())


@pytest.mark.parametrize("build", ACTED.values(), ids=ACTED)
@pytest.mark.parametrize("name", ADAPTIVE)
def test_an_adaptive_run_goes_on_behind_an_action(name: str, build: Any, tmp_path: Path) -> None:
    method, tolerance = ADAPTIVE[name]
    whole = state(nx.simulate(build(), END, method))
    for rest in halves(build, method, tmp_path):
        np.testing.assert_allclose(state(rest), whole, rtol=0, atol=tolerance * np.abs(whole).max())


def bouncing() -> nx.System:
    """A cart that strikes its stop, bounces, strikes it again, and comes to rest on it."""
    system = nx.System("cart", gravity=(9.81, 0.0, 0.0))
    system.add_body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Prismatic("rail", "ground", "cart", axis=(1, 0, 0), v0=0.2))
    system.add_force(
        nx.JointStop("stop", "rail", upper=0.01, restitution=0.5, rest_speed=0.02, stiffness=1e5, damping=200.0)
    )
    return system


@pytest.mark.parametrize(
    ("name", "at"), in_turns(((name, at) for name in FIXED for at in (30 * DT, 60 * DT, 200 * DT)), of=3)
)
def test_a_run_goes_on_behind_a_stop_that_strikes(name: str, at: float, tmp_path: Path) -> None:
    """Steps count from an impact on, between those of the grid: the second half steps elsewhere, by no more than the method errs."""
    method = FIXED[name]
    whole, finer = (nx.simulate(bouncing(), END, m) for m in (method, replace(method, dt=DT / 4)))
    assert len(whole.events) >= 3
    error = np.abs(state(finer) - state(whole)).max()
    half = nx.simulate(bouncing(), at, method)
    for rest in halves(bouncing, method, tmp_path, at):
        assert np.abs(state(rest) - state(whole)).max() <= ANEW * error + 1e-9
        times = [event["time"] for event in half.events + rest.events]
        np.testing.assert_allclose(times, [event["time"] for event in whole.events], rtol=0, atol=DT)
