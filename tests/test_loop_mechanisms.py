"""Closed loops of the literature: one description in minimal and in absolute coordinates, the same motion and reactions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_loops_simulate import agree

import nexdyn as nx
from nexdyn.cli import main

DEMOS = {"slider-crank": 3, "four-bar": 3, "five-bar": 3, "bennett": 3, "sarrus": 1, "stewart": 0}
"""And how many of their rows are redundant."""


@pytest.mark.filterwarnings("ignore:joint 'guide' stays open")  # the slider-crank is described so
@pytest.mark.parametrize(("name", "redundant"), DEMOS.items())
def test_each_moves_the_same_in_both_coordinates(name: str, redundant: int) -> None:
    system = nx.load(name)
    found = nx.simulate(system, 0.3, nx.RungeKutta4(1e-3), output_every=50)
    expected = nx.simulate(system, 0.3, nx.Projection(dt=1e-3), output_every=50)
    agree(found, expected)
    assert len(found.recording.settings["redundant"]) == redundant
    assert found.recording.violation.max() < 1e-11
    if not found.not_conservative:
        assert found.energy_drift < 1e-7


def test_a_bennett_linkage_keeps_its_law_all_round() -> None:
    """tan(θ₁/2) tan(θ₂/2) stays what lengths and twists make it, and no force on the redundant rows is needed."""
    result = nx.simulate(nx.load("bennett"), 2.0, nx.RungeKutta4(1e-3), output_every=20)
    theta1 = np.radians(100.0) + result.joint_position("J1").values
    theta2 = 2.163616722652881 + result.joint_position("J2").values
    k = np.sin(np.radians(50.0)) / np.sin(np.radians(20.0))
    assert_allclose(np.tan(theta1 / 2) * np.tan(theta2 / 2), k, rtol=1e-7)
    assert np.ptp(theta1) > 0.5


def test_a_sarrus_linkage_leads_its_platform_straight() -> None:
    result = nx.simulate(nx.load("sarrus"), 2.0, nx.RungeKutta4(1e-3), output_every=20)
    p = result.position("platform").values
    assert_allclose(p[:, :2], 0.0, atol=1e-10)
    assert np.ptp(p[:, 2]) > 0.05
    assert_allclose(np.abs(result.orientation("platform").values[:, 0]), 1.0, atol=1e-10)


def test_a_stewart_platform_is_driven_by_its_legs_without_integrating() -> None:
    system, times = nx.load("stewart"), np.linspace(0.0, 1.0, 11)
    led = nx.kinematics(system, times)
    moved = nx.simulate(system, 1.0, nx.RungeKutta4(2e-3), output_every=50)
    assert_allclose(led.position("plate").values, moved.position("plate").values, atol=1e-8)
    for i in range(6):
        length = 0.08 * (np.sin(3 * times + i) - np.sin(i))
        assert_allclose(led.joint_position(f"leg{i + 1}").values, length, atol=1e-10)
        assert_allclose(led.effort(f"motor{i + 1}").values, moved.effort(f"motor{i + 1}").values, atol=1e-4)
    # the power of the motors is the rate of the energy
    dense = nx.kinematics(system, np.linspace(0.5, 0.502, 5))
    power = sum(dense.effort(f"motor{i + 1}").values * dense.joint_velocity(f"leg{i + 1}").values for i in range(6))
    rate = np.gradient(dense.energy()["total"].values, dense.recording.t, edge_order=2)
    assert_allclose(power[1:-1], rate[1:-1], rtol=1e-4, atol=1e-3)


def test_the_command_line_cuts_and_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "four-bar", "--method", "rk4", "--t-end", "0.05", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["loops"]["cut"] == ["C"] and told["loops"]["redundant"] == ["C.DZ", "C.DotZX", "C.DotZY"]
    command = [
        "run",
        "four-bar",
        "--method",
        "rk4",
        "--t-end",
        "0.05",
        "--cut",
        "D",
        "--stabilise",
        "baumgarte",
        "--json",
    ]
    assert main(command) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["loops"]["cut"] == ["D"] and told["loops"]["stabilise"] == "baumgarte"
    assert main(["run", "four-bar", "--cut", "D", "--t-end", "0.05"]) == 2
    assert "--cut is for rk4, euler" in capsys.readouterr().err


def test_a_scene_says_how_its_loops_are_kept(tmp_path: Path) -> None:
    text = (Path(nx.__file__).parent / "demos" / "four-bar.yaml").read_text()
    scene = tmp_path / "four-bar.yaml"
    kept = "loops: {stabilise: baumgarte, alpha: 30, cut: [D]}"
    scene.write_text(text.replace("method: {type: hht}", "method: {type: rk4, dt: 1e-3}\n  " + kept))
    from nexdyn.io.loader import load_scene_or_robot
    from nexdyn.io.scene import dump_scene

    read = load_scene_or_robot(str(scene))
    assert read.simulation["loops"] == nx.Loops("baumgarte", alpha=30.0, cut=("D",))
    again = tmp_path / "again.yaml"
    again.write_text(dump_scene(read.system, read.simulation))
    assert load_scene_or_robot(str(again)).simulation["loops"] == read.simulation["loops"]
    scene.write_text(text.replace("method: {type: hht}", "loops: {stabilize: none}"))
    with pytest.raises(nx.InputError, match="stabilise"):
        load_scene_or_robot(str(scene))
