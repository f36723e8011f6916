"""The benchmarks run, small, with nothing judged: their rivals agree, and a run is kept, drawn and described."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FIRST = ("aba", "batch", "lanes", "memory")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_trees_and_batches_are_measured_and_kept(tmp_path: Path) -> None:
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    figures, history, drawing = tmp_path / "run.json", tmp_path / "runs.jsonl", tmp_path / "run.svg"
    history.write_text('{"reports": []}\n')
    done = run(*FIRST, "--smoke", "--json", str(figures), "--history", str(history), "--plot", str(drawing))
    assert done.returncode == 0, done.stderr
    record = json.loads(figures.read_text())
    assert [report["name"] for report in record["reports"]] == list(FIRST)
    assert "processor" in record["machine"]
    told = {row["what"]: row for report in record["reports"] for row in report["rows"]}
    for what in ("7-joint chain, ABA", "30-joint tree, CRBA", "hinge chain of 6, RK4", "import of NexDyn"):
        assert told[what]["ours"] > 0.0
    assert all(row["met"] is None for row in told.values())
    lines = history.read_text().splitlines()
    assert len(lines) == 2
    assert json.loads(lines[1])["reports"] == record["reports"]
    assert "<svg" in drawing.read_text()


def test_an_unknown_benchmark_is_refused() -> None:
    done = run("fast")
    assert done.returncode == 2
    assert "no benchmark 'fast'; there are aba" in done.stderr


def test_the_other_end_of_the_viewers_benchmark_passes_its_gate_and_receives() -> None:
    pytest.importorskip("viser")
    program = """
from benchmarks.measure import SMOKE, Report
from benchmarks.viewer import measure
report = Report("viewer", "")
measure(report, 10, SMOKE)
print(report.rows[0].ours, report.notes[0])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rate, *_, size, _ = done.stdout.split()
    assert float(rate) > 0.0 and float(size) > 0.0


def test_a_refused_other_end_of_the_viewers_benchmark_fails_loudly() -> None:
    pytest.importorskip("viser")
    program = """
from benchmarks import viewer
from benchmarks.measure import SMOKE, Report
viewer.CLIENT = viewer.CLIENT.replace('origin=f"http://{place.netloc}"', 'origin=None')
viewer.measure(Report("viewer", ""), 10, SMOKE)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "other end was refused" in done.stderr
