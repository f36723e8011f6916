"""`nx.verify` and `nexdyn verify`: every published problem holds under every formulation, and a wrong number would not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from turns import in_turns

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.problems import bicycle
from nexdyn.problems import verify as page
from nexdyn.problems.problem import Outcome, Problem, Run
from nexdyn.problems.verify import PROBLEMS

LONG = ("arch", "thin-arch")
"""Run with --long."""
RUNS = in_turns(
    pytest.param(p, run, id=f"{p.name}, {run.formulation}", marks=[pytest.mark.long] if p.name in LONG else [])
    for p in PROBLEMS.values()
    for run in p.runs
)
"""Each problem under half of its formulations in one run, and under the others in the next."""
DOCUMENT = Path(__file__).parents[1] / "docs" / "verification.md"


@pytest.mark.parametrize(("problem", "run"), RUNS)
def test_every_problem_holds_under_every_formulation(problem: Problem, run: Run) -> None:
    outcome = problem.check(run)
    assert outcome.holds, page.Verification([outcome])


def test_all_that_is_published_is_there_under_all_that_can_carry_it() -> None:
    published = {
        "A01",
        "A02",
        "A03",
        "A04",
        "A05",
        "top",
        "tumbling",
        "points",
        "rods",
        "alm",
        "coin",
        "bicycle",
        "ride",
        "sliding",
        "standing",
        "belt",
        "conveyor",
        "wheel",
        "rolling",
        "bowling",
        "bounce",
        "cradle",
        "floating",
        "spheres",
        "gaps",
        "five",
        "hertz",
        "skidding",
        "hole",
        "cone",
        "groove",
        "below",
        "shaken",
        "tipping",
        "cards",
        "loaded-cards",
        "rod",
        "tippe-top",
        "smooth-top",
        "roller",
        "flat",
        "bearing",
        "gripper",
        "gears",
        "geneva",
        "quadruped",
        "humanoid",
        "dominoes",
        "arch",
        "thin-arch",
    }
    assert set(PROBLEMS) == published
    for problem in PROBLEMS.values():
        kinds = {run.formulation.split(",")[0] for run in problem.runs}
        if problem.name not in ("alm", "bicycle"):
            assert "absolute coordinates" in kinds
        if problem.name not in ("alm", "A02"):  # whose singular pose minimal coordinates do not pass
            assert "minimal coordinates" in kinds, problem.name


def wrong(problem: Problem, by: float) -> Problem:
    """The problem with one of its numbers wrong."""
    t, values = next(iter(problem.reference.items()))
    return replace(problem, reference={**problem.reference, t: (values[0] + by, *values[1:])})


def test_a_wrong_number_is_found() -> None:
    problem = PROBLEMS["rods"]
    run = problem.runs[0]
    outcome = wrong(problem, 3 * run.tolerance).check(run)
    assert not outcome.holds
    worst = outcome.worst
    assert worst is not None and (worst.quantity, worst.t) == ("θ1", 0.5) and 2.0 < worst.share < 4.0
    assert wrong(problem, 0.3 * run.tolerance).check(run).holds


def test_the_linear_bicycle_has_the_published_eigenvalues() -> None:
    # the matrices of the page, from which the motion `ride` is compared with comes, and the eigenvalues are published both
    found = np.linalg.eigvals(bicycle.linear(bicycle.SPEED))
    re, im, capsize, caster = bicycle.BICYCLE.reference[bicycle.SPEED][:4]
    for expected in (complex(re, im), complex(re, -im), capsize, caster):
        assert np.abs(found - expected).min() < 1e-11


def test_full_turns_of_an_angle_do_not_count_and_half_ones_do() -> None:
    problem = PROBLEMS["rods"]
    assert wrong(problem, 2 * np.pi).check(problem.runs[0]).holds
    assert not wrong(problem, np.pi).check(problem.runs[0]).holds


def test_a_run_that_fails_is_told_and_does_not_hold() -> None:
    problem = PROBLEMS["A01"]  # whose body has no moment of inertia
    outcome = problem.check(Run("minimal coordinates, constraint forces", nx.RungeKutta4(1e-3), 1e-6, "cfa"))
    assert not outcome.holds and "that of 'mass' is zero" in outcome.failure
    assert "FAILED: " in str(page.Verification([outcome]))


def test_what_is_not_a_number_does_not_hold() -> None:
    problem = replace(PROBLEMS["rods"], observe=lambda result: np.full((len(result.recording.t), 2), np.nan))
    assert not problem.check(problem.runs[0]).holds


def test_nothing_verified_is_not_all_verified() -> None:
    assert not page.Verification([]).holds


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_command_prints_a_table_and_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "alm", "tumbling"]) == 0
    lines = capsys.readouterr().out.splitlines()
    count = len(PROBLEMS["alm"].runs) + len(PROBLEMS["tumbling"].runs)
    assert lines[0].split()[:2] == ["problem", "formulation"] and len(lines) == count + 2
    assert all(line.endswith("holds") for line in lines[1:-1]) and lines[-1] == f"{count} runs, all hold"


def test_every_value_is_shown_where_that_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "alm", "--all"]) == 0
    assert sum(line.startswith("alm ") for line in capsys.readouterr().out.splitlines()) == 12


def test_one_wrong_value_ends_with_3(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(page.PROBLEMS, "alm", wrong(PROBLEMS["alm"], 1e-3))
    assert main(["verify", "alm"]) == 3
    out = capsys.readouterr().out
    assert "FAILS" in out and "1 run, 1 of them do not hold" in out
    assert main(["verify", "alm", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["holds"] is False and len(found["runs"][0]["values"]) == 12


def test_a_problem_that_is_not_there_is_named_with_its_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "A06"]) == 2
    assert "no problem 'A06'; did you mean 'A0" in capsys.readouterr().err


# --- the documentation ----------------------------------------------------------------------------------------------


def test_the_documented_values_are_those_of_runs_and_hold() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    *lines, last = text[text.index("```text") :].split("```")[1].splitlines()[2:]
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines]
    runs = {(p.name, run.formulation) for p in PROBLEMS.values() for run in p.runs}
    assert {(row[0], row[1]) for row in rows} == runs
    assert last == f"{len(rows)} runs, all hold"
    for name, formulation, _, value, reference, error, tolerance, _, holds in rows:
        assert holds == "holds"
        problem = PROBLEMS[name]
        run = next(r for r in problem.runs if r.formulation == formulation)
        assert float(error) <= float(tolerance), (name, formulation)
        assert abs(float(value) - float(reference)) <= float(error) * 1.06 + 2e-10
        assert any(abs(float(reference) - x) < 1e-9 for values in problem.reference.values() for x in values)
        assert float(tolerance) in [pytest.approx(run.tolerance * scale, rel=0.06) for scale in problem.scales]


def test_outcomes_are_plain_data() -> None:
    outcome: Outcome = PROBLEMS["alm"].check(PROBLEMS["alm"].runs[0])
    assert json.loads(json.dumps(page.Verification([outcome]).to_dict()))["holds"] is True
