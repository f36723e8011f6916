"""The largest reactions are those of all steps, however few states a run keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.integrate.methods import METHODS

CONSTANT = [
    nx.RungeKutta4(dt=1e-3), nx.ExplicitEuler(dt=1e-3), nx.SemiImplicitEuler(dt=1e-3), nx.HHT(dt=1e-3), nx.Projection(dt=1e-3),
    nx.Baumgarte(dt=1e-3), nx.Partitioning(dt=1e-3), nx.ImplicitEuler(dt=1e-3), nx.ImplicitEuler(dt=1e-3, bdf2=True),
]  # fmt: skip
CHOSEN = [
    nx.DormandPrince(),
    nx.BogackiShampine32(),
    nx.DOP853(dt_max=2e-3),  # its own steps, of 30 ms, pass by peaks
    nx.HHT(),
    nx.Projection(),
    nx.Baumgarte(),
    nx.Partitioning(),
]
COLUMNS = ("force", "force_time")  # moments are nothing but rounding here
T = 1.1


def named(method: Any) -> str:
    return repr(method).split(", dt_max")[0]


def assert_the_same(found: Any, wanted: Any, rtol: float) -> None:
    for column in COLUMNS:
        np.testing.assert_allclose(found[column].sel(joint=wanted["joint"]), wanted[column], rtol=rtol)


@pytest.mark.parametrize("method", CONSTANT, ids=named)
def test_peaks_do_not_depend_on_which_steps_are_kept(method: Any) -> None:
    system = nx.load("four-bar")
    every = nx.simulate(system, T, method).peaks()
    thinned = nx.simulate(system, T, method, output_every=137)
    with pytest.warns(nx.NexDynWarning, match=r"the peaks of 10 recorded samples alone, of 1100 steps; .*peaks=True"):
        missed = thinned.peaks()
    assert (missed["force"] < 0.999 * every["force"]).any()  # samples alone miss them
    assert (missed.attrs["of"], every.attrs["of"]) == ("samples", "steps")
    assert "largest reactions of the samples; those between were not looked at" in thinned.summary_text()
    kept = nx.simulate(system, T, method, output_every=137, peaks=True)
    assert_the_same(kept.peaks(), every, 1e-9)
    assert "largest reactions\n" in kept.summary_text()
    np.testing.assert_allclose(kept.recording.t, thinned.recording.t, rtol=1e-12)
    np.testing.assert_allclose(kept.recording.q, thinned.recording.q, rtol=1e-9, atol=1e-9)
    asked = nx.simulate(system, T, method, output_times=[0.1, 0.35], peaks=True)
    assert_the_same(asked.peaks(), every, 1e-9)
    assert asked.recording.t.tolist() == [0.1, 0.35, T]  # as without


@pytest.mark.parametrize("method", CHOSEN, ids=named)
def test_peaks_of_chosen_steps_are_those_of_all_of_them(method: Any) -> None:
    system = nx.load("four-bar")
    fine = nx.simulate(system, T, nx.RungeKutta4(dt=5e-4)).peaks()
    kept = nx.simulate(system, T, method, output_times=[0.1, T], peaks=True)
    np.testing.assert_allclose(kept.peaks()["force"].sel(joint=fine["joint"]), fine["force"], rtol=0.02)
    assert len(kept.recording.t) == 2


def test_peaks_are_kept_in_files_and_over_events_and_several_runs(tmp_path: Path) -> None:
    system = nx.load("double-pendulum")
    hinge = next(iter(system.joints))
    system.add_event(nx.Event("knock", time=0.3, action=lambda state: state.velocity[hinge].__imul__(-1.0)))
    every = nx.simulate(system, 0.7, nx.RungeKutta4(dt=1e-3)).peaks()
    simulation = nx.Simulation(system, nx.RungeKutta4(dt=1e-3), output_every=200)
    simulation.run(0.4, peaks=True)
    result = simulation.run(0.7, peaks=True)
    assert_the_same(result.peaks(), every, 1e-6)
    plain = nx.simulate(nx.load("double-pendulum"), 0.7, output_every=200, peaks=True)
    plain.save(tmp_path / "run.nc")
    assert_the_same(nx.open_result(tmp_path / "run.nc").peaks(), plain.peaks(), 0.0)


def test_the_summary_of_the_command_does_not_depend_on_what_it_keeps(tmp_path: Path, capsys: Any) -> None:
    told = []
    for every in ("1", "50"):
        main(
            [
                "run",
                "four-bar",
                "--t-end",
                "0.5",
                "--output-every",
                every,
                "--out",
                str(tmp_path / f"{every}.nc"),
                "--json",
            ]
        )
        told.append(json.loads(capsys.readouterr().out)["peak_reactions"])
    for one, other in zip(*told, strict=True):
        assert one["joint"] == other["joint"]
        for column in COLUMNS:
            assert one[column] == pytest.approx(other[column], rel=1e-9)


def test_peaks_belong_to_single_runs() -> None:
    with pytest.raises(nx.InputError, match="peaks is for single runs"):
        nx.simulate(nx.load("double-pendulum"), 0.1, batch={"L": [0.5, 0.6]}, peaks=True)  # type: ignore[call-overload]


def test_every_method_has_its_peaks() -> None:
    assert {method.name for method in [*CONSTANT, *CHOSEN]} == set(METHODS)


def test_peaks_of_samples_say_so_behind_events_in_files_in_batches_and_where_one_leg_was_not_looked_at(
    tmp_path: Path,
) -> None:
    system = nx.load("double-pendulum")
    system.add_event(nx.Event("lighter", time=0.1, parameters={next(iter(system.parameters)): 0.9}))
    simulation = nx.Simulation(system, nx.RungeKutta4(dt=1e-3), output_every=20)
    simulation.run(0.2)
    behind = simulation.run(0.3, peaks=True)
    behind.save(tmp_path / "run.nc")
    plain = nx.load("double-pendulum")
    batch = {"v0": {next(iter(plain.joints)): [0.0, 1.0]}}
    members = nx.simulate(plain, 0.1, nx.RungeKutta4(dt=1e-3), batch=batch, output_every=20)
    for result in (behind, nx.open_result(tmp_path / "run.nc"), members.member(1)):
        with pytest.warns(nx.NexDynWarning, match="recorded samples alone"):
            result.peaks()
        assert result.summary()["peaks_of"] == "samples"
    all_of_them = nx.simulate(plain, 0.1, nx.RungeKutta4(dt=1e-3), batch=batch).member(1)
    assert all_of_them.peaks().attrs["of"] == "steps"
