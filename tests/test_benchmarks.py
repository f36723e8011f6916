"""The benchmarks run, small, with nothing judged: their rivals agree, and a run is kept, drawn and described."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FIRST = ("aba", "batch", "lanes", "memory")


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ | variables)


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


@pytest.mark.slow
def test_contact_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    figures = tmp_path / "run.json"
    done = run("contact", "--smoke", "--json", str(figures), NEXDYN_ONE_FOR_ALL="1")  # with the kernels of the tests
    assert done.returncode == 0, done.stderr
    report = json.loads(figures.read_text())["reports"][0]
    told = {row["what"]: row["ours"] for row in report["rows"]}
    for what in ("4 spheres, HHT 1 ms", "4 boxes, ImplicitEuler 2 ms", "2 piles of 4 boxes, HHT 1 ms, a pile"):
        assert told[what] > 0.0
    assert any(what.startswith("two wheels of") for what in told)
    compared = sum("settings and largest error" in note for note in report["notes"])
    assert compared == 3  # balls and boxes that bounce, balls that roll


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


def test_the_benchmark_of_the_start_has_every_target_and_measures_a_process(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from benchmarks import start
from benchmarks.measure import Report
report, place = Report("start", ""), Path(sys.argv[1])
start.FIRST = {"info hinge-chain": 18.0, "first.py": None}
start.COLD = {"demos": (60.0, 20.0), "verify": (330.0, 150.0)}
start.FLOOR = ("demos", 1.9, 1.0)
for line in start.FIRST:
    assert start._typed(line, place)[0] == sys.executable
assert "nx.simulate" in (place / "first.py").read_text()
start._without(report, place)
for row in report.rows:
    assert row.ours > 0.0 and row.peer and row.rival == "before" and row.target, row
print(len(report.rows), *report.notes)
found = start.process([sys.executable, "-c", "import sys; x = bytearray(10**8)"], place, place)
assert 0.0 < found.processor and 0.0 < found.wall and 100.0 < found.memory < 1000.0 and not found.compiled
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "3 nexdyn verify cold is left out: NEXDYN_BENCH_VERIFY=1 runs it"


def test_first_commands_of_the_benchmark_come_with_the_package() -> None:
    program = """
from benchmarks import start
from nexdyn.cli import warm
print(sorted(set(start.FIRST) - set(warm.COMMANDS)))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['first.py']"
