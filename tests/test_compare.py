"""`nx.compare`, `nx.agreement` and `nexdyn compare`: where methods part, and at what step they agree."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.assembly.stopwatch import compiling
from nexdyn.cli import main
from nexdyn.cli.compare import method_of
from nexdyn.problems.double_pendulum import double_pendulum
from nexdyn.problems.four_bars import four_bars
from nexdyn.problems.problem import Problem
from nexdyn.problems.verify import PROBLEMS
from nexdyn.studies.agreement import MOST
from nexdyn.studies.compare import run_at

PRECISE = nx.DormandPrince(rtol=1e-12, atol=1e-13)


@pytest.fixture(scope="module")
def found() -> nx.Comparison:
    methods = [PRECISE, nx.RungeKutta4(1e-3), nx.ExplicitEuler(1e-3)]
    return nx.compare(double_pendulum(), methods, 0.5, output_times=np.linspace(0.0, 0.5, 51))


def test_methods_part_where_they_first_differ_by_more_than_the_tolerance(found: nx.Comparison) -> None:
    for tolerance in (1e-5, 1e-4, 1e-3):
        itself, rk4, euler = found.parted(tolerance)
        assert itself is None and rk4 is None and euler is not None
        n = int(np.flatnonzero(np.isclose(found.times, euler.t))[0])
        assert found.apart[2, n].max() > tolerance >= found.apart[2, :n].max()
        assert euler.body == found.bodies[int(found.apart[2, n].argmax())] and euler.apart == found.apart[2, n].max()
    assert found.parted(1e-5)[2].t < found.parted(1e-3)[2].t  # type: ignore[union-attr]


def test_the_body_that_parts_is_the_one_that_moves_otherwise() -> None:
    system = nx.System("two alone", gravity=(0, 0, -9.81))
    still = system.add_body("still", mass=1.0, inertia=(1, 1, 1))
    swings = system.add_body("swings", mass=1.0, inertia=(1, 1, 1), position=(2, 0, 0))
    system.add_joint(nx.Prismatic("held", system.ground, still, at=(0, 0, 0), axis=(1, 0, 0)))
    system.add_joint(nx.Revolute("hinge", system.ground, swings, at=(1, 0, 0), axis=(0, 1, 0)))
    _, where = nx.compare(system, [PRECISE, nx.ExplicitEuler(1e-2)], 0.5).parted(1e-4)
    assert where is not None and where.body == "swings"


def test_series_are_the_differences_over_time(found: nx.Comparison) -> None:
    for name, series in found.series.items():
        assert series.shape == (3, 51)
        np.testing.assert_array_equal(series.max(axis=1), found.differences[name])
    euler, precise = found.results[2], found.results[0]
    apart = np.abs(euler.position("link2").values[-1] - precise.position("link2").values[-1]).max()
    assert found.series["position"][2, -1] >= apart > 1e-3


def test_the_text_says_where_methods_part(found: nx.Comparison) -> None:
    parted = [line for line in str(found).splitlines() if "parts from" in line]
    where = found.parted()[2]
    assert where is not None and len(parted) == 1
    assert f"at t = {where.t:g} s, body {where.body!r} first" in parted[0] and parted[0].startswith("ExplicitEuler")
    assert json.loads(json.dumps(found.to_dict()))["parted"][2]["body"] == where.body


def test_the_plot_shows_each_method_but_the_first_on_logarithmic_axes(found: nx.Comparison, tmp_path: Path) -> None:
    figure = found.plot(tmp_path / "differences.svg")
    assert (tmp_path / "differences.svg").read_text(encoding="utf-8").startswith("<?xml")
    titles = [axes.get_title("left") for axes in figure.axes]
    assert {"position", "orientation", "velocity"} <= set(titles)
    for axes in figure.axes:
        assert axes.get_yscale() == "log" and len(axes.lines) == 2
    drawn = figure.axes[0].lines[1].get_ydata()
    np.testing.assert_array_equal(drawn[1:], found.series["position"][2, 1:])
    with pytest.raises(nx.InputError, match=r"a plot ends in \.png"):
        found.plot(tmp_path / "differences.txt")


# --- the step at which they agree -----------------------------------------------------------------------------------


def test_refined_until_they_agree_methods_show_their_order() -> None:
    (rk4,) = nx.agreement(double_pendulum(), [PRECISE, nx.RungeKutta4(0.05)], 0.3, tolerance=1e-7)
    (hht,) = nx.agreement(double_pendulum(), [PRECISE, nx.HHT(dt=5e-3)], 0.3, tolerance=1e-5)
    assert rk4.agrees is not None and hht.agrees is not None
    assert rk4.order == pytest.approx(4.0, abs=0.5) and hht.order == pytest.approx(2.0, abs=0.3)
    for one in (rk4, hht):
        assert one.knob == "dt" and one.agrees.dt == one.tried[-1]
        assert one.apart[-1] < one.apart[-2]
        np.testing.assert_allclose(np.diff(np.log2(one.tried)), -1.0)
    assert rk4.tried[-1] > hht.tried[-1]
    assert f"agrees at dt = {hht.tried[-1]:.3g}" in str(hht) and "order 2" in str(hht)


def test_of_adaptive_methods_the_tolerance_is_refined() -> None:
    (one,) = nx.agreement(double_pendulum(), [PRECISE, nx.DormandPrince(rtol=1e-4)], 0.3, tolerance=1e-6)
    assert one.knob == "rtol" and one.agrees is not None and math.isnan(one.order)
    np.testing.assert_allclose(np.diff(np.log10(one.tried)), -1.0)


def test_loops_agree_too() -> None:
    methods = [nx.Projection(rtol=1e-10, atol=1e-12), nx.HHT(dt=4e-3)]
    (one,) = nx.agreement(four_bars(), methods, 0.1, tolerance=1e-7)
    assert one.agrees is not None and one.order == pytest.approx(2.0, abs=0.3)


def test_what_never_agrees_is_told() -> None:
    (one,) = nx.agreement(double_pendulum(), [PRECISE, nx.ExplicitEuler(1e-2)], 0.05, tolerance=1e-9)
    assert one.agrees is None and len(one.tried) == MOST + 1 and one.order == pytest.approx(1.0, abs=0.1)
    assert str(one).startswith("ExplicitEuler does not agree")


def test_bad_input_is_refused() -> None:
    with pytest.raises(nx.InputError, match="at least one to refine"):
        nx.agreement(double_pendulum(), [PRECISE])
    with pytest.raises(nx.InputError, match="tolerance is -1"):
        nx.agreement(double_pendulum(), [PRECISE, nx.RungeKutta4(1e-3)], tolerance=-1)


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_command_compares_agrees_and_plots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["compare", "double-pendulum", "dopri5:rtol=1e-12,atol=1e-13", "rk4:dt=0.01", "euler", "--t-end", "0.2"]
    assert main([*line, "--plot", "d.png", "--agree", "--tolerance", "1e-4"]) == 0
    out = capsys.readouterr().out
    assert "differences from DormandPrince(rtol=1e-12" in out and "ExplicitEuler(dt=0.001) parts from" in out
    assert "RungeKutta4 agrees at dt = " in out and "ExplicitEuler agrees at dt" in out and "written  d.png" in out
    assert (tmp_path / "d.png").read_bytes().startswith(b"\x89PNG")
    assert main([*line, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["parted"][0] is None and data["parted"][2]["body"].startswith("rod")


def test_without_methods_those_that_suit_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "four-bar", "--t-end", "0.05", "--json"]) == 0
    methods = json.loads(capsys.readouterr().out)["methods"]
    assert methods[0].startswith("Projection") and any(m.startswith("HHT") for m in methods)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rk5"], "no method 'rk5'; did you mean 'rk4'"),
        (["rk4:td=1"], "method rk4 has no argument 'td'; did you mean 'dt'"),
        (["rk4:step=1"], "method rk4 has no argument 'step'; did you mean 'dt'"),
        (["rk4:dt"], "'dt' of method 'rk4:dt' is not option=value; options of rk4: dt"),
        (["rk4:dt=x"], "'x' in 'rk4:dt=x' is no number"),
        (["rk4:dt=-1"], "dt of RungeKutta4 is -1"),
        (["rk4", "--plot", "d.txt"], "must end in .png"),
    ],
)
def test_bad_words_are_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "double-pendulum", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_word_is_the_method_that_it_says() -> None:
    assert method_of("implicit-euler:dt=0.01,bdf2=true,updates=3") == nx.ImplicitEuler(0.01, bdf2=True, updates=3)
    assert method_of("hht") == nx.HHT() and method_of("rk4") == nx.RungeKutta4(1e-3)


def test_where_the_table_is_wider_than_the_terminal_methods_stand_side_by_side_as_numbers() -> None:
    methods = [
        nx.RungeKutta4(1e-3),
        nx.HHT(dt=1e-3),
        *(nx.RungeKutta4(dt) for dt in (5e-4, 2e-3, 4e-3, 5e-3, 2.5e-3, 2e-2)),
    ]
    found = nx.compare(nx.load("double-pendulum"), methods, 0.1)
    wide, narrow = found.text(), found.text(width=80)
    assert max(map(len, wide.splitlines())) > 100
    table = [line for line in narrow.splitlines()[1:] if "parts from" not in line]
    assert max(map(len, table)) <= 80
    for name, values in found.differences.items():
        told = [x for line in table if line.startswith(name) for x in line.split()[-6:] if x[0].isdigit() or x == "nan"]
        assert told == [f"{x:.3g}" for x in values]
    assert found.text(width=1000) == wide


class Summing:
    """A controller with a state of its own, which it tells."""

    def __init__(self) -> None:
        self.sum = 0.0

    def __call__(self, t: float, q: float, v: float) -> float:
        self.sum += 0.01 * (1.0 - q)
        return 5.0 * self.sum

    def save_state(self) -> float:
        return self.sum

    def load_state(self, state: float) -> None:
        self.sum = state


def test_each_run_that_is_compared_begins_with_the_states_that_functions_had() -> None:
    system = nx.System("driven")
    body = system.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Revolute("hinge", system.ground, body, axis=(0.0, 1.0, 0.0)))
    system.add_force(nx.Controller("motor", "hinge", function=Summing(), sample_time=0.01))
    found = nx.compare(system, [nx.RungeKutta4(1e-2), nx.RungeKutta4(1e-2)], 0.2)
    assert [found.differences[name][1] for name in ("position", "orientation", "velocity")] == [0.0, 0.0, 0.0]
    assert np.abs(found.results[0].joint_position("hinge").values).max() > 0.05


def test_methods_whose_steps_are_too_long_are_compared_all_the_same() -> None:
    system = nx.System("falling")
    system.add_body("ball", mass=0.1, inertia=(1e-4,) * 3, shapes=[nx.Sphere(0.05)], position=(0.0, 0.0, 0.2))
    system.add_joint(nx.Free("free", "ground", "ball"))
    system.add_contact(nx.Contact("floor", "ball", stiffness=1e8, exponent=1.0))
    with pytest.warns(nx.NexDynWarning, match="too long for contact 'floor'"):
        found = nx.compare(system, [nx.RungeKutta4(1e-3), nx.RungeKutta4(5e-4)], 0.01)
    assert found.differences["position"][1] < 1e-9


def test_times_of_runs_are_without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """In comparisons and in problems, as in runs."""
    listener = compiling()

    def while_it_compiles(function: Any) -> Any:
        def run(*given: Any) -> Any:
            time.sleep(0.2)
            listener.seconds += 0.2
            return function(*given)

        return run

    system, methods = nx.load("double-pendulum"), [nx.RungeKutta4(1e-3)]
    problem = next(iter(PROBLEMS.values()))
    quick = replace(problem.runs[0], until=min(problem.reference))
    nx.compare(system, methods, 0.01)  # now all is compiled
    problem.check(quick)
    monkeypatch.setattr("nexdyn.studies.compare.run_at", while_it_compiles(run_at))
    assert nx.compare(system, methods, 0.01).differences["wall_time"].max() < 0.15
    monkeypatch.setattr(Problem, "found", while_it_compiles(Problem.found))
    assert problem.check(quick).wall_time < 0.15
