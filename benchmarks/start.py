"""How long until there is an answer: first commands with the kernels of a wheel, without them, and later; import, help, memory.

Each figure is a process of its own: processor seconds with all that it starts, by the clock on the wall for import and help. The wheel is
built and installed as `pip install .` does it, into a folder of its own, and runs with an empty cache: a row says where it compiled
something nevertheless. Without kernels it is the sources that run, cold with an empty cache and later with what that left.
NEXDYN_BENCH_VERIFY=1 runs `nexdyn verify` cold, too, which takes minutes.

Beside each figure stands what it was in November 2026, before kernels came with the package.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Effort, Report, Row, quartiles
from nexdyn.cli import warm

ROOT = Path(__file__).resolve().parents[1]
BEFORE = "before"
HELP = [sys.executable, "-m", "nexdyn", "--help"]
IMPORT = [sys.executable, "-c", "import nexdyn"]
PYTHON = [sys.executable, "-c", "pass"]

FIRST: dict[str, float | None] = {
    "run hinge-chain": 18.0,
    "run four-bar": 60.0,
    "run four-bar --method rk4": None,
    "run implicit-euler": 62.0,
    "run rolling-coin": None,
    "run robot.urdf --t-end 1": None,
    "check four-bar": 10.0,
    "check stewart": None,
    "compare double-pendulum": 180.0,
    "linearize bicycle": 29.0,
    "view hinge-chain --html page.html": None,
    "first.py": None,  # README's first Python program
}
"""First commands, and their processor seconds before [s]: what was compiled at each first use is compiled with the wheel now."""
AT_MOST = 3.0
"""Processor seconds that each of them takes at most, with nothing compiled."""
COLD: dict[str, tuple[float, float]] = {
    "run hinge-chain": (18.0, 6.0),
    "run four-bar": (60.0, 20.0),
    "compare double-pendulum": (180.0, 45.0),
    "verify": (330.0, 150.0),
}
"""With an empty cache and without shipped kernels: processor seconds before, and the target [s]."""
LONG = ("verify",)
FLOOR = "run hinge-chain", 1.9, 1.0
"""A run that compiles nothing and writes its result: processor seconds before, and the target [s]."""
MEMORY = 350.0, 400.0
"""Of a first run [MB]: before, and the target."""
README = 150.0
"""Seconds on the wall from a clone to the result of README's first command, packages downloaded."""


@dataclass(frozen=True)
class Run:
    """One process: seconds on the wall, processor seconds and peak memory [MB] with all that it started, and whether it compiled."""

    wall: float
    processor: float
    memory: float
    compiled: bool


def run(effort: Effort) -> Report:
    report = Report("start", "seconds of a process from its start to its end")
    times = 1 if effort.smoke else 11
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for command in (IMPORT, HELP, PYTHON):
            process(command, place, place)  # byte code and the disk's cache
        tell(report, "python alone, for comparison", [process(PYTHON, place, place).wall for _ in range(times)])
        tell(report, "import nexdyn", [process(IMPORT, place, place).wall for _ in range(times)], 0.3)
        tell(report, "nexdyn --help", [process(HELP, place, place).wall for _ in range(times)], 0.6)
        if effort.smoke:
            _beside(report, "nexdyn --help", "s CPU", process(HELP, place, place).processor, None, 3.0)
        else:
            _with_kernels(report, place)
            _without(report, place)
    report.notes.append("Medians of import and help; targets are those of two cores.")
    return report


def _with_kernels(report: Report, place: Path) -> None:
    """Build and install a wheel, and run first commands from it, each with an empty cache of its own."""
    site, began = place / "site", time.perf_counter()
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        report.notes.append(f"no wheel could be built, so first commands are left out: {done.stderr.strip()[-300:]}")
        return
    first = process(_typed("run hinge-chain", place), place / "cache of the first", place, site)
    took = time.perf_counter() - began
    _beside(report, "pip install . && nexdyn run hinge-chain, wall", "s", took, None, README)
    compiled = ["run hinge-chain"] if first.compiled else []
    for k, (line, before) in enumerate(FIRST.items()):
        if not warm._runs_here(line):
            continue
        found = process(_typed(line, place), place / f"cache{k}", place, site)
        _beside(report, _shown(line), "s CPU", found.processor, before, AT_MOST)
        compiled += [line] if found.compiled else []
        if k == 0:
            _beside(report, f"{_shown(line)}, memory", "MB", found.memory, MEMORY[0], MEMORY[1])
    told = ", ".join(dict.fromkeys(map(_shown, compiled)))
    report.notes.append(f"with the kernels of the wheel these compiled something: {told or 'none'}")


def _without(report: Report, place: Path) -> None:
    """First commands from the sources with an empty cache, and one of them again."""
    for line, (before, at_most) in COLD.items():
        if line in LONG and not os.environ.get("NEXDYN_BENCH_VERIFY"):
            report.notes.append(f"nexdyn {line} cold is left out: NEXDYN_BENCH_VERIFY=1 runs it")
            continue
        cache = place / f"cold {line.split()[-1]}"
        found = process(_typed(line, place), cache, place)
        _beside(report, f"{_shown(line)}, nothing compiled before", "s CPU", found.processor, before, at_most)
        if line == FLOOR[0]:
            _beside(
                report, f"{_shown(line)}, nothing compiled before, memory", "MB", found.memory, MEMORY[0], MEMORY[1]
            )
            again = [process(_typed(line, place), cache, place).processor for _ in range(5)]
            _beside(report, f"{_shown(line)}, later", "s CPU", statistics.median(again), FLOOR[1], FLOOR[2])


def _typed(line: str, place: Path) -> list[str]:
    """The command of a line; a robot and README's first program are written for it."""
    (place / "robot.urdf").write_text(warm.ROBOT, encoding="utf-8")
    if line == "first.py":
        found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
        assert found is not None
        (place / line).write_text(found[1], encoding="utf-8")
        return [sys.executable, line]
    return [sys.executable, "-m", "nexdyn", *line.split()]


def _shown(line: str) -> str:
    return "README's first program" if line == "first.py" else f"nexdyn {line}"


def process(command: list[str], cache: Path, folder: Path, site: Path | None = None) -> Run:
    """Run `command` in `folder` with its kernels in `cache`, from the sources or from `site`. Byte code is switched on."""
    left_out = ("PYTHONDONTWRITEBYTECODE", "NEXDYN_ONE_FOR_ALL")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment["NEXDYN_CACHE_DIR"] = str(cache)
    if site is not None:
        environment["PYTHONPATH"] = str(site)
    before, began = len(list(cache.rglob("*.nbc"))), time.perf_counter()
    with tempfile.TemporaryFile() as said:
        started = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(started.pid, 0)
        wall, started.returncode = time.perf_counter() - began, os.waitstatus_to_exitcode(status)
        if started.returncode:
            said.seek(0)
            last = said.read().decode(errors="replace").strip()[-300:]
            raise SystemExit(f"{' '.join(command)} ended with {started.returncode}: {last}")
    memory = used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return Run(wall, used.ru_utime + used.ru_stime, memory, len(list(cache.rglob("*.nbc"))) > before)


def _beside(report: Report, what: str, unit: str, ours: float, before: float | None, at_most: float) -> None:
    """A figure, what it was, and whether it is as low as it shall be."""
    row = Row(what, unit, ours, before, BEFORE if before is not None else "")
    row.ratio = None if before is None else before / ours
    row.target, row.met = f"≤ {at_most:g} {unit.split()[0]}", ours <= at_most
    report.rows.append(row)


def tell(report: Report, what: str, measured: list[float], at_most: float | None = None) -> None:
    middle = statistics.median(measured)
    row = Row(what, "s", middle, spread=quartiles(measured) if len(measured) > 1 else None)
    if at_most is not None:
        row.target, row.met = f"≤ {at_most:g} s", middle <= at_most
    report.rows.append(row)
