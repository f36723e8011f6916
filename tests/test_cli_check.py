"""`nexdyn check`: the report in words, as JSON, and its exit codes."""

from __future__ import annotations

import json

import pytest

from nexdyn.cli import main


def test_a_four_bar_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "four-bar"]) == 0
    said = capsys.readouterr().out
    assert "20 equations, 17 independent, 3 redundant; 1 degree of freedom" in said
    assert "redundant: D.DotZX (rotation about y), consistent, at every pose" in said


@pytest.mark.parametrize(
    ("demo", "redundant", "dof"),
    [("four-bar", 3, 1), ("slider-crank", 3, 1), ("bricard", 1, 1), ("door", 5, 1), ("andrews", 9, 1)],
)
def test_json_holds_the_data(demo: str, redundant: int, dof: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", demo, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert len(data["redundancy"]["redundant"]) == redundant and data["redundancy"]["dof"] == dof
    gaps = [text for text in data["warnings"] if " stays open by " in text]  # its slider is described beside its guide
    assert set(data["reactions"]) and data["warnings"] == gaps and bool(gaps) is (demo == "slider-crank")
    assert sum(motion["dof"] for motion in data["redundancy"]["motions"]) == dof
    gap = data["redundancy"]["rank_gap"]
    assert gap is None or 1e3 < gap < 1e17


def test_a_broken_mechanism_is_refused_with_its_gaps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "broken-four-bar"]) == 3
    out, err = capsys.readouterr()
    assert "joint 'C' stays open by" in out and "cannot be assembled" in err
    assert main(["check", "broken-four-bar", "--json"]) == 3
    data = json.loads(capsys.readouterr().out)
    assert data["error"]["type"] == "AssemblyError" and data["error"]["report"]["gaps"]


def test_the_slider_crank_turns_as_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "slider-crank", "--json"]) == 0
    state = json.loads(capsys.readouterr().out)["state"]
    # 20 rad/s on a crank of 0.1 m, its centre at half the length
    assert sum(x * x for x in state["crank"]["velocity"]) ** 0.5 == pytest.approx(1.0, rel=1e-9)
