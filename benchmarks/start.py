"""How long until there is an answer: cold and warm first results, import, help.

Each figure is a process of its own, by the clock on the wall. Cold: an empty cache folder, as after installation.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Effort, Report, Row, quartiles

RUN = [sys.executable, "-m", "nexdyn", "run", "hinge-chain"]
HELP = [sys.executable, "-m", "nexdyn", "--help"]
IMPORT = [sys.executable, "-c", "import nexdyn"]
PYTHON = [sys.executable, "-c", "pass"]


def run(effort: Effort) -> Report:
    report = Report("start", "seconds of a process from its start to its end")
    times = 1 if effort.smoke else 11
    with tempfile.TemporaryDirectory() as folder:
        for command in (IMPORT, HELP, PYTHON):
            seconds(command, folder)  # byte code and the disk's cache
        tell(report, "python alone, for comparison", [seconds(PYTHON, folder) for _ in range(times)])
        tell(report, "import nexdyn", [seconds(IMPORT, folder) for _ in range(times)], 0.3)
        tell(report, "nexdyn --help", [seconds(HELP, folder) for _ in range(times)], 0.6)
        if not effort.smoke:
            command = [*RUN, "--out", str(Path(folder) / "result.nc")]
            tell(report, "nexdyn run hinge-chain, empty cache", [seconds(command, folder)], 60.0)
            warm = [seconds([*RUN, "--out", str(Path(folder) / f"result{k}.nc")], folder) for k in range(5)]
            tell(report, "nexdyn run hinge-chain, later", warm, 3.0)
    report.notes.append("Medians; targets are those of two cores.")
    return report


def seconds(command: list[str], cache: str) -> float:
    """How long `command` takes. Its environment has byte code switched on and the cache in `cache`."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["NEXDYN_CACHE_DIR"] = cache
    began = time.perf_counter()
    done = subprocess.run(command, env=environment, cwd=cache, capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return took


def tell(report: Report, what: str, measured: list[float], at_most: float | None = None) -> None:
    middle = statistics.median(measured)
    row = Row(what, "s", middle, spread=quartiles(measured) if len(measured) > 1 else None)
    if at_most is not None:
        row.target, row.met = f"≤ {at_most:g} s", middle <= at_most
    report.rows.append(row)
