"""Every program in examples/ runs, and prints what it is there to show."""

from __future__ import annotations

import importlib.util
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.problems.contacts import CONTACTS
from nexdyn.problems.problem import Problem
from nexdyn.problems.verify import PROBLEMS

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NUMBER = r"[-+]?\d[\d.]*(?:e[-+]\d+)?"


def run(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the example prints."""
    path = next(path for path in EXAMPLES if path.name.startswith(name))
    runpy.run_path(str(path), run_name="__main__")
    return capsys.readouterr().out


def number_after(text: str, printed: str) -> float:
    """The first number after `text`."""
    found = re.search(re.escape(text) + rf"[^-+\d]*({NUMBER})", printed)
    assert found, printed
    return float(found.group(1))


def test_examples_are_numbered_without_gaps_and_say_how_they_are_run() -> None:
    assert [int(path.name[:2]) for path in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
    for path in EXAMPLES:
        assert f"python examples/{path.name}" in path.read_text(encoding="utf-8")


def test_examples_are_listed_for_newcomers() -> None:
    page = (ROOT / "docs" / "getting_started.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\d\d_\w+\.py)` \|", page, re.MULTILINE) == [path.name for path in EXAMPLES]


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
    assert number_after("sum of the feet:", printed) == pytest.approx(weight, rel=1e-6)
    assert number_after("the trunk moves from 10 s to 60 s by", printed) < 1e-9
    feet = [number_after(f"{leg}_foot ground:", printed) for leg in ("FL", "FR", "RL", "RR")]
    assert min(feet) > 0.1 * weight
    assert 1.0 < number_after("largest motor torque:", printed) < 33.5


# --- published problems: an example for each -------------------------------------------------------------------------

PUBLISHED = {
    "A01_simple_pendulum": (("A01",), 3e-9), "A02_four_bars": (("A02",), 1e-3), "A03_andrews": (("A03",), 1e-8),
    "A04_bricard": (("A04",), 1e-9), "A05_governor": (("A05",), 2e-4), "heavy_top": (("top",), 1e-9),
    "tumbling_body": (("tumbling",), 1e-9), "double_pendulum": (("points", "rods"), 2e-4),
    "implicit_euler": (("alm",), 1e-7), "rolling_coin": (("coin",), 1e-4), "bicycle": (("bicycle", "ride"), 1e-9),
    "gear_pair": (("gears",), 5e-3), "cams": (("roller", "flat"), 1e-5), "geneva": (("geneva",), 5e-6),
    "pin_in_hole": (("hole",), 1e-6), "ball_bearing": (("bearing",), 1e-7), "dominoes": (("dominoes",), 2e-3),
    "humanoid": (("humanoid",), 1e-6),
}  # fmt: skip
"""Example: the problems of `nexdyn verify` that it shows, and how far its numbers are from the published ones at most."""


def test_every_problem_of_verify_but_some_of_contact_is_an_example_that_the_page_names() -> None:
    assert sorted(PUBLISHED) == sorted(path.stem for path in (ROOT / "examples" / "published").glob("*.py"))
    shown = [name for names, _ in PUBLISHED.values() for name in names]
    assert len(shown) == len(set(shown)) and set(shown) <= PROBLEMS.keys()
    assert PROBLEMS.keys() - set(shown) <= {problem.name for problem in CONTACTS}  # in docs/contact_and_control.md
    page = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8").partition("## The problems")[2]
    rows = re.findall(r"^\| ([^|]+) \|.*\| `published/(\w+)\.py` \|$", page, re.MULTILINE)
    named = [(name, example) for names, example in rows for name in names.split(", ")]
    assert sorted(named) == sorted((name, example) for example, (names, _) in PUBLISHED.items() for name in names)


@pytest.mark.filterwarnings("ignore:passes near a singular pose")  # A02's, which is what it is for
@pytest.mark.parametrize("example", PUBLISHED)
def test_published_problems_hold_as_examples(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every published value is printed, beside one that was found near it, for the mechanism that `verify` runs."""
    names, tolerance = PUBLISHED[example]
    path = ROOT / "examples" / "published" / f"{example}.py"
    assert f"python examples/published/{path.name}" in path.read_text(encoding="utf-8")
    program = runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    pairs = np.array(re.findall(rf"({NUMBER})  (?:published|closed form)  ({NUMBER})", printed), float)
    np.testing.assert_allclose(pairs[:, 0], pairs[:, 1], rtol=0, atol=tolerance)
    for problem in (PROBLEMS[name] for name in names):
        check_twins(built(program, problem.name), problem)
        for y in (y for values in problem.reference.values() for y in values):
            assert np.abs(pairs[:, 1] - y).min() <= 1e-9 * max(1.0, abs(y)), (problem.name, y)
    check_what_it_shows(example, printed)


def built(program: dict[str, Any], name: str) -> nx.System:
    """The mechanism of an example: `system`, or of several the one that has the name of the problem or is made by it."""
    if "double_pendulum" in program:
        return program["double_pendulum"](name)
    return program["system"] if "system" in program else program[name]


def check_what_it_shows(example: str, printed: str) -> None:
    """What an example tells besides the published values."""
    if example == "A02_four_bars":
        assert "as drawn: 1 degree" in printed and "lying flat: 3 degrees" in printed
        assert (
            "partitioned: no choice of independent coordinates serves here: a singular pose; use HHT (t = 0.7"
            in printed
        )
    elif example == "A03_andrews":
        assert number_after("from nowhere:", printed) < 1e-9
    elif example == "A04_bricard":
        assert "degrees of freedom counted: 0, found: 1" in printed and "redundant: P6." in printed
        assert number_after("have the ratio", printed) == pytest.approx(4.0, abs=0.2)
    elif example == "tumbling_body":
        assert number_after("largest error in 218 s:", printed) < 1e-7
    elif example == "double_pendulum":
        assert 1e-7 < number_after("rad apart at the start,", printed) < 1e-3
    elif example == "implicit_euler":
        lost = [number_after(f"dt = {dt} s:", printed) for dt in ("0.01", "0.005", "0.0025")]
        assert 1.5 < lost[0] / lost[1] < lost[1] / lost[2] < 2.0  # of first order
    elif example == "gear_pair":
        assert 1e-6 < number_after("the driven gear runs unevenly by", printed) < 2e-4
    elif example == "cams":
        assert "at 0.999 √(g/e) the face stays on its cam" in printed
        assert "at 1.001 √(g/e) the face leaves its cam" in printed
    elif example == "geneva":
        assert number_after("the angle is off by a part of", printed) == pytest.approx(0.25, abs=0.01)
    elif example == "pin_in_hole":
        rigid = number_after("ms, rigid", printed)
        late = [number_after(f"stiffness 1e+{k}: from strike to strike", printed) - rigid for k in ("06", "08", "10")]
        assert late[0] > 4.0 * late[1] > 16.0 * late[2] > 0.0
    elif example == "ball_bearing":
        assert number_after("of rigid balls:", printed) == pytest.approx(20.0, abs=1e-4)
        assert number_after("spinning up:", printed) < 10.0
    elif example == "dominoes":
        assert number_after("the impacts take", printed) > 0.0
    elif example == "humanoid":
        assert number_after("it weighs", printed) == pytest.approx(54.0 * 9.81, abs=0.01)


def public(element: object) -> dict[str, Any]:
    """What describes it."""
    return {name: value for name, value in vars(element).items() if not name.startswith("_")}


def check_twins(system: nx.System, problem: Problem) -> None:
    """The same bodies, joints, contacts and shapes of these, the same initial motion and accelerations: forces act alike."""
    of = problem.build()
    assert list(system.bodies) == list(of.bodies) and list(system.joints) == list(of.joints)
    for name, body in system.bodies.items():
        for found, expected in zip(body.resolved(system.values), of.bodies[name].resolved(of.values), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=name)
        for what in ("shapes", "collision") if of.contacts else ():
            assert getattr(body, what) == getattr(of.bodies[name], what), name
    assert list(system.contacts) == list(of.contacts)
    for name, contact in system.contacts.items():
        assert public(contact) == public(of.contacts[name])
    start = {"lean_rate": 0.0, "push": 0.0}
    reports = [nx.assemble(s.with_parameters({k: v for k, v in start.items() if k in s.values})) for s in (system, of)]
    for what in ("q", "v", "a"):
        found, expected = (getattr(report, what) for report in reports)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max()))


ARM = """
gravity: [0, -9.81, 0]
bodies:
  upper: {mass: 2, inertia: [0.01, 0.04, 0.04], position: [0.25, 0, 0]}
  lower: {mass: 1, inertia: [0.01, 0.04, 0.04], position: [0.75, 0, 0]}
joints:
  shoulder: {type: revolute, parent: ground, child: upper, at: [0, 0, 0], axis: [0, 0, 1], limits: [-1.5, 1.5]}
  elbow: {type: revolute, parent: upper, child: lower, at: [0.5, 0, 0], axis: [0, 0, 1], limits: [0, 2.5]}
markers:
  hand: {body: lower, at: [1, 0, 0]}
forces:
  shoulder motor: {type: position_actuator, joint: shoulder, kp: 200, kd: 4, target: -0.371834}
  elbow motor: {type: position_actuator, joint: elbow, kp: 200, kd: 4, target: 1.670964}
"""


def test_a_gripper_holds_by_the_friction_that_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("10", capsys)
    assert number_after("friction that holds:", printed) == pytest.approx(0.4 * 11.81 / 20.0, abs=1e-4)
    holds, slips = printed.splitlines()[1:]
    assert "the ball sticks" in holds and abs(number_after("fingers by", holds)) < 1e-5
    # what friction lacks is 5 % of g + a
    assert "the ball slips" in slips and number_after("fingers by", slips) == pytest.approx(
        0.05 * 11.81 * 0.3, rel=1e-4
    )
    for line in (holds, slips):
        assert number_after("presses with", line) == pytest.approx(10.0, rel=1e-3)


def test_statics_of_an_arm_and_the_same_from_a_scene(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    printed = run("09", capsys)
    assert "reached: True" in printed and "rest: stable" in printed
    elbow = number_after("rad, elbow", printed)
    assert elbow == number_after("law of cosines: elbow", printed)
    assert number_after("at the end:", printed) == pytest.approx(number_after("alone", printed), abs=2e-4)
    assert number_after("force at the shoulder", printed) == pytest.approx(3.0 * 9.81, abs=1e-4)

    (tmp_path / "arm.yaml").write_text(ARM)
    arm = nx.load(tmp_path / "arm.yaml")
    posture = nx.inverse_kinematics(arm, {"hand": {"position": (0.6, 0.3, 0)}}, q0={"elbow": 1.0})
    angles = {name: float(q[0]) for name, q in posture.joints.items()}
    assert posture.reached and angles["elbow"] == pytest.approx(elbow, abs=1e-6)
    rest = nx.equilibrium(arm, q0=angles)
    assert (posture.position("lower") - rest.position("lower"))[1] * 1e3 == pytest.approx(
        number_after("the lower arm", printed), abs=6e-3
    )
    # at rest the motors give what inverse dynamics asks for beside none of them: nothing more
    still = {name: np.full(9, float(np.ravel(rest.joint(name))[0])) for name in angles}
    assert np.abs(nx.inverse_dynamics(arm, still, np.linspace(0, 1, 9)).tau).max() < 1e-6
    frequencies = [mode.natural_frequency for mode in nx.linearize(arm, at=rest).modes if mode.eigenvalue.imag > 0]
    assert frequencies[0] == pytest.approx(number_after("mode:", printed), rel=1e-3)
