"""Every program in examples/ runs, and prints what it is there to show."""

from __future__ import annotations

import importlib.util
import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def run(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the example prints."""
    path = next(path for path in EXAMPLES if path.name.startswith(name))
    runpy.run_path(str(path), run_name="__main__")
    return capsys.readouterr().out


def number_after(text: str, printed: str) -> float:
    """The first number after `text`."""
    found = re.search(re.escape(text) + r"[^-+\d]*([-+]?\d[\d.]*(?:e[-+]\d+)?)", printed)
    assert found, printed
    return float(found.group(1))


def test_examples_are_numbered_without_gaps_and_say_how_they_are_run() -> None:
    assert [int(path.name[:2]) for path in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
    for path in EXAMPLES:
        assert f"python examples/{path.name}" in path.read_text(encoding="utf-8")


def test_double_pendulum(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("01", capsys)
    assert "time: 7, axis: 3" in printed
    assert number_after("energy drift:", printed) < 1e-10
    assert -2.0 < number_after("lowest point of the tip:", printed) < -1.5


def test_explicit_euler_gains_energy_in_proportion_to_the_step_and_rk4_hardly_changes_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printed = run("02", capsys)
    gained = {
        (row[0], row[1]): float(row[2])
        for row in (line.split() for line in printed.splitlines())
        if len(row) == 4 and row[0] in ("ExplicitEuler", "SemiImplicitEuler", "RungeKutta4", "DormandPrince")
    }
    assert len(gained) == 7
    assert gained["ExplicitEuler", "0.01"] > 1.0
    assert gained["ExplicitEuler", "0.01"] == pytest.approx(10 * gained["ExplicitEuler", "0.001"], rel=0.2)
    assert abs(gained["SemiImplicitEuler", "0.01"]) < 0.1
    assert abs(gained["RungeKutta4", "0.01"]) < 1e-6
    assert abs(gained["RungeKutta4", "0.001"]) < 1e-10
    assert abs(gained["DormandPrince", "adapts"]) < 1e-5


def test_controller_brings_the_load_to_its_goal(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("03", capsys)
    assert number_after("the cart stands at", printed) == pytest.approx(3.0, abs=0.01)
    assert abs(number_after("and hangs at", printed)) < 0.1


@pytest.mark.skipif(not importlib.util.find_spec("cmeel"), reason="needs example-robot-data")
@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")  # what the file says of its inertias
def test_manipulator_holds_still_and_falls(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("04", capsys)
    assert "panda" in printed
    assert number_after("held:  largest move of a joint after 1 s", printed) < 1e-9
    assert number_after("let go: largest move of a joint after 1 s", printed) > 1.0


@pytest.mark.filterwarnings("ignore:user function 'drag' is plain Python")
def test_user_forces_agree(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("05", capsys)
    assert "agree to the last bit: True" in printed
    assert number_after("without drag   x =", printed) == pytest.approx(76.4269, abs=1e-3)
    assert number_after("Numba          x =", printed) < 60.0


def test_parameters_change_the_mechanism(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("06", capsys)
    assert number_after("two seconds take", printed) == pytest.approx(1.0252, abs=2e-4)
    moon = 1.97575 * (9.81 / 1.62) ** 0.5
    assert number_after("on the Moon, with a rusty pin:", printed) == pytest.approx(moon, rel=2e-3)
    assert "'L': 1.0" in printed


def test_a_crane_rests_reaches_and_is_driven(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("07", capsys)
    assert "at rest (stable)" in printed and "reached: True" in printed
    assert number_after("weight on the shoulder", printed) == pytest.approx(210 * 9.81, abs=0.01)
    assert number_after("nine metres out it misses by", printed) == pytest.approx(3.0, abs=1e-3)  # 3 + 2 + 1 m at most
    assert number_after("reached: True; shoulder", printed) != 0.0


@pytest.mark.skipif(not importlib.util.find_spec("cmeel"), reason="needs example-robot-data")
@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")  # what the file says of its inertias
def test_a_quadruped_stands_and_its_feet_carry_its_weight(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("08", capsys)
    weight = number_after("weight:", printed)
    assert weight > 100.0
    assert number_after("sum of the feet:", printed) == pytest.approx(weight, rel=1e-4)
    assert number_after("speed of the trunk after 2 s:", printed) < 5e-3
    feet = [number_after(f"{leg}_foot ground:", printed) for leg in ("FL", "FR", "RL", "RR")]
    assert min(feet) > 0.1 * weight
    assert 1.0 < number_after("largest motor torque:", printed) < 33.5


def test_a_published_problem_holds_and_shows_the_order_of_the_method(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("09", capsys)
    assert "degrees of freedom counted: 0, found: 1" in printed
    assert printed.count("holds") >= 5 and "FAIL" not in printed
    assert number_after("have the ratio", printed) == pytest.approx(4.0, abs=0.2)
