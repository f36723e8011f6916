"""How tests are run: over processes, in any order, under a limit of memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import conftest
import pytest
from turns import PROMISES, of_this_turn

from nexdyn.forces import FORCES

ROOT = Path(__file__).parents[1]
WATCH = ROOT / ".ci" / "watch_memory.py"
needs_proc = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="the system does not tell")


def workers(*arguments: str) -> int | None:
    given: Any = SimpleNamespace(args=[str(ROOT / argument) for argument in arguments])
    return conftest.pytest_xdist_auto_num_workers(given)


def test_a_single_file_runs_in_one_process_and_all_files_on_all_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYTEST_XDIST_AUTO_NUM_WORKERS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(3)), raising=False)
    assert workers("tests/test_ci.py") == workers("tests/test_ci.py::a", "tests/test_ci.py::b") == 0
    monkeypatch.setattr(conftest, "MEMORY_OF_A_WORKER", 1.0)
    assert workers("tests") == workers("tests/test_ci.py", "tests/test_errors.py") == 3
    monkeypatch.setattr(conftest, "MEMORY_OF_A_WORKER", 1e20)
    assert workers("tests") == 1


def test_long_files_come_first_and_those_with_many_tests_next() -> None:
    paths = sorted((ROOT / "tests").glob("test_*.py"))
    assert {path.stem for path in paths} >= set(conftest.LONGEST_FIRST)

    def item(stem: str, name: str) -> Any:
        return SimpleNamespace(path=ROOT / "tests" / f"{stem}.py", name=name)

    last = conftest.LONGEST_FIRST[-1]
    items = [item("test_ci", "a"), item("test_few", "a"), item(last, "a"), item("test_ci", "b"), item("test_few", "c")]
    items += [item("test_ci", "c"), item(conftest.LONGEST_FIRST[0], "a")]
    conftest.in_order(items)
    assert [x.path.stem for x in items] == [conftest.LONGEST_FIRST[0], last, *["test_ci"] * 3, *["test_few"] * 2]
    assert [x.name for x in items[2:]] == ["a", "b", "c", "a", "c"]


def test_what_a_file_of_tests_leaves_changed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = conftest.shared_by_the_process()
    assert conftest.changes(before, conftest.shared_by_the_process()) == []
    monkeypatch.setenv("NEXDYN_LEFT", "1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(FORCES, "left", None)  # type: ignore[arg-type]
    changed = conftest.changes(before, conftest.shared_by_the_process())
    assert {"os.environ['NEXDYN_LEFT']", "os.getcwd()", "nexdyn.forces.FORCES"} <= set(changed)


def watched(limit: str, program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, WATCH, limit, sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@needs_proc
def test_the_peak_of_memory_is_printed_before_the_last_line_of_a_command_whose_status_stays() -> None:
    child = "[sys.executable, '-c', 'import time; x = bytearray(150_000_000); time.sleep(3)']"
    run = watched("8,4", f"import subprocess, sys; print('first'); subprocess.run({child}); print('last'); sys.exit(7)")
    first, peak, last = run.stdout.splitlines()
    assert (first, last, run.returncode) == ("first", "last", 7)
    told = re.fullmatch(
        r"── memory of all processes: (\S+) GB at most, 8 allowed; of one: (\S+) GB at most, 4 allowed", peak
    )
    assert told and 0.15 < float(told[2]) <= float(told[1]) + 0.05 < 1.0, peak


@needs_proc
def test_processes_that_take_more_than_the_limit_are_killed_together() -> None:
    run = watched("0.1,4", "import time; x = bytearray(200_000_000); time.sleep(100)")
    assert run.returncode == 1
    assert "KILLED: more than 0.1 GB" in run.stdout


@needs_proc
def test_one_process_that_takes_more_than_its_share_ends_all() -> None:
    run = watched("8,0.1", "import time; x = bytearray(200_000_000); time.sleep(100)")
    assert run.returncode == 1
    assert "KILLED: in one process, more than 0.1 GB" in run.stdout


@needs_proc
def test_what_takes_longer_than_its_time_is_killed_with_all_that_it_started() -> None:
    child = "[sys.executable, '-c', 'import time; time.sleep(100)']"
    run = watched("8,4,0.04", f"import subprocess, sys; print('begun', flush=True); subprocess.run({child})")
    assert run.returncode == 1
    assert "begun\n" in run.stdout
    assert "KILLED: more than 0.04 minutes" in run.stdout


def test_ci_gives_a_process_four_gigabytes_and_all_of_them_twelve_and_88_minutes() -> None:
    """A process that compiled every kernel of the suite held 21.5 GB before what compiling leaves behind was freed."""
    assert "watch_memory.py 12,4,88 .ci/run" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_ci_runs_files_in_another_order_with_the_kernels_of_the_suite_and_ends_on_the_summary() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    suite, kernels, order, summary = (
        next(k for k, line in enumerate(lines) if line.startswith(begin))
        for begin in (
            "run_as_printed developer",
            "export NEXDYN_CACHE_DIR=",
            "    scripts/any_order --times 0",
            "grep -E",
        )
    )
    assert suite < kernels < order < summary == len(lines) - 2
    assert lines[kernels] == 'export NEXDYN_CACHE_DIR="$work/developer/kernels"' and lines[order].endswith("status=1")
    assert lines[-1] == "exit $status"
    listed = subprocess.run(
        [sys.executable, ROOT / "scripts" / "any_order", "--help"], capture_output=True, text=True, check=True
    )
    assert "--times" in listed.stdout


@pytest.mark.parametrize("turns", [2, 3])
def test_on_a_slow_machine_each_case_has_its_turn_and_what_is_alone_has_all(turns: int) -> None:
    cases = [f"test_a.py::test_b[{k}]" for k in range(7)] + [f"test_c.py::test_d[x-{k}]" for k in range(2)]
    tests = ["test_a.py::test_alone", *cases, "test_c.py::test_alone"]
    drawn = [f"test_page.py::test_{name}" for name in "abcdef"]
    tests += (promised := [f"tests/{name}.py::test_a[{k}]" for name in PROMISES for k in range(3)])
    assert all((ROOT / "tests" / f"{name}.py").is_file() for name in PROMISES)
    tests, draws = tests + drawn, [False] * len(tests) + [True] * len(drawn)
    runs = [of_this_turn(tests, draws, turns, turn) for turn in range(turns)]
    tried = dict(zip(tests, (sum(kept) for kept in zip(*runs, strict=True)), strict=True))
    assert {test for test, times in tried.items() if times == 1} == {*cases, *drawn}
    assert {test for test, times in tried.items() if times == turns} == {tests[0], "test_c.py::test_alone", *promised}
    assert max(map(sum, runs)) < (len(tests) - len(promised)) / turns + len(promised) + 4
