"""A run is one run on the command line, too: `nexdyn run half.nc` goes on with what events switched, parameters they changed, and turns."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from continuing_lab import DT, END, HALF, arm, four_bar, state
from turns import in_turns

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.integrate.methods import METHODS as INTEGRATORS


def events(*forgotten: str) -> list[nx.Event]:
    """Two before the cut and one after it, at times of the grid, which they therefore leave as it is."""
    every = [
        nx.Event("slip", time=51 * DT, off="wound"),
        nx.Event("harder", time=77 * DT, parameters={"K": 90.0}),
        nx.Event("again", time=192 * DT, on="wound"),
    ]
    return [event for event in every if event.name not in forgotten]


STEP = f"--dt {DT}"
METHODS = {
    "rk4": (f"--method rk4 {STEP}", 0.0),
    "euler": (f"--method euler {STEP}", 0.0),
    "semi-implicit": (f"--method semi-implicit {STEP}", 0.0),
    "dopri5": ("--method dopri5 --rtol 1e-9 --atol 1e-11", 1e-6),
    "bs32": ("--method bs32 --rtol 1e-7 --atol 1e-9", 1e-5),
    "dop853": ("--method dop853 --rtol 1e-9 --atol 1e-11", 1e-6),
    "hht": (f"--method hht {STEP}", 0.0),
    "hht adaptive": ("--method hht --rtol 1e-6", 1e-4),
    "implicit euler": (f"--method implicit-euler {STEP}", 0.0),
    "bdf2": (f"--method implicit-euler --bdf2 {STEP}", 0.0),
    "baumgarte": (f"--method baumgarte {STEP}", 0.0),
    "baumgarte adaptive": ("--method baumgarte --rtol 1e-9 --atol 1e-11", 1e-6),
    "partitioning": (f"--method partitioning {STEP}", 0.0),
    "partitioning adaptive": ("--method partitioning --rtol 1e-9 --atol 1e-11", 1e-6),
    "projection": (f"--method projection {STEP}", 0.0),
    "projection adaptive": ("--method projection --rtol 1e-9 --atol 1e-11", 1e-6),
}
"""The options of each, and what two such runs differ by at most."""


def test_every_method_goes_on_from_a_file() -> None:
    assert {options.split()[1] for options, _ in METHODS.values()} == set(INTEGRATORS)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> nx.System:
    """`arm.yaml` in the current folder: a joint that turns twice, a controller, a drive, and a spring that winds up."""
    system = arm(calm=True, v0=60.0, events=events())
    nx.save_scene(system, tmp_path / "arm.yaml")
    monkeypatch.chdir(tmp_path)
    return system


def run(line: str, out: str) -> nx.Result:
    assert main(["run", *shlex.split(line), "--out", out, "--quiet"]) == 0
    return nx.open_result(out)


@pytest.mark.parametrize(("options", "tolerance"), METHODS.values(), ids=METHODS)
def test_a_run_goes_on_from_a_file_as_if_it_had_not_stopped(scene: nx.System, options: str, tolerance: float) -> None:
    whole = run(f"arm.yaml {options} --t-end {END}", "whole.nc")
    half = run(f"arm.yaml {options} --t-end {HALF}", "half.nc")
    rest = run(f"half.nc --t-end {END}", "rest.nc")

    told = [[one["name"] for one in x.events] for x in (whole, half, rest)]
    assert told == [["slip", "harder", "again"], ["slip", "harder"], ["again"]]
    times = [[one["time"] for one in x] for x in (whole.events, half.events + rest.events)]
    np.testing.assert_allclose(
        times[1], times[0], rtol=0, atol=1e-9 if tolerance else 0.0
    )  # as near as events are found
    assert float(rest.t[0]) == HALF and float(rest.t[-1]) == END
    assert rest.recording.method == whole.recording.method

    ends = [state(x) for x in (whole, rest)]
    assert abs(whole.observed.of_joint("joint_position", "h2")[-1, 0]) > 2.0 * np.pi
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=tolerance * np.abs(ends[0]).max())
    energies = [x.energy()["total"].values[-1] for x in (whole, rest)]
    assert energies[1] == pytest.approx(energies[0], rel=10.0 * tolerance)


@pytest.mark.parametrize(
    ("options", "tolerance"), in_turns(pytest.param(*given, id=name) for name, given in METHODS.items())
)
def test_a_loop_goes_on_from_a_file(
    options: str, tolerance: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nx.save_scene(four_bar(), tmp_path / "four-bar.yaml")
    monkeypatch.chdir(tmp_path)
    whole = run(f"four-bar.yaml {options} --t-end {END}", "whole.nc")
    run(f"four-bar.yaml {options} --t-end {HALF}", "half.nc")
    rest = run(f"half.nc --t-end {END}", "rest.nc")
    assert float(rest.t[0]) == HALF
    ends = [state(x) for x in (whole, rest)]
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=tolerance * np.abs(ends[0]).max())


@pytest.mark.parametrize("name", ["slip", "harder"])
def test_a_run_that_forgot_an_event_would_end_elsewhere(name: str) -> None:
    """Beyond the tolerances of the law above, which a command that forgets what is switched or changed does not keep."""
    runs = [nx.simulate(arm(calm=True, v0=60.0, events=events(*f)), END, nx.RungeKutta4(DT)) for f in ((), (name,))]
    ends = [state(x) for x in runs]
    assert np.abs(ends[1] - ends[0]).max() > 10.0 * 1e-4 * np.abs(ends[0]).max()


def test_a_loop_goes_on_as_it_was_kept_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The options of the first command hold for the second; at a step as long as this, each ends elsewhere."""
    monkeypatch.chdir(tmp_path)
    ends = []
    for options in ("", "--stabilise baumgarte", "--stabilise none", "--cut D --stabilise none"):
        first = f"four-bar --method rk4 --dt 0.0078125 --v0 A=6 {options}"
        whole = run(f"{first} --t-end 0.5", "whole.nc")
        run(f"{first} --t-end 0.25", "half.nc")
        rest = run("half.nc --t-end 0.5", "rest.nc")
        ends.append(state(whole))
        np.testing.assert_array_equal(state(rest), ends[-1])
        assert rest.recording.settings["stabilise"] == whole.recording.settings["stabilise"]
    assert min(np.abs(a - b).max() for k, a in enumerate(ends) for b in ends[:k]) > 1e-7


def test_a_file_that_does_not_say_how_it_goes_on_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = nx.simulate(nx.load("double-pendulum"), 0.1, nx.HHT(dt=1e-3))
    result.recording.restart = None
    result.save(tmp_path / "half.nc")
    out = str(tmp_path / "out.nc")
    assert main(["run", str(tmp_path / "half.nc"), "--t-end", "0.2", "--out", out]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "it was made by HHT(" in told and "and goes on by RungeKutta4(dt=0.001); --method chooses another" in told
    assert main(["run", str(tmp_path / "half.nc"), "--t-end", "0.2", "--out", out, "--method", "rk4"]) == 0
    assert "it was made by" not in capsys.readouterr().err
