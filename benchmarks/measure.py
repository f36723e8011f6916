"""Measuring two rivals fairly: they take turns within one run, and medians are compared.

A shared machine speeds up and slows down as a whole. Rivals that alternate in short turns see the same weather, so the
ratio of two neighbouring turns says more than either time: the median of those ratios is what is reported.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

os.environ.setdefault("EXUDYN_MODULE", "fast")
"""Exudyn as fast as it comes, without range checks: chosen where it is imported first."""

clock = time.process_time
"""Time on the processor, of all threads: what others run on a shared machine does not count."""

Work = Callable[[int], Any]
"""Does its job that many times."""


@dataclass(frozen=True)
class Effort:
    """How much measuring: rounds of turns, and seconds a turn takes."""

    rounds: int
    turn: float  # [s]

    @property
    def smoke(self) -> bool:
        """Only to see that it runs."""
        return self.turn < 0.01


FULL = Effort(rounds=31, turn=0.03)
SMOKE = Effort(rounds=2, turn=0.001)


@dataclass
class Row:
    """One line of a table: a rival's time beside ours. Without a rival, ours alone."""

    what: str
    unit: str
    ours: float | list[float]
    """A median; or several, of sizes that grow."""
    peer: float | None = None
    rival: str = ""
    ratio: float | None = None
    """How many times as fast as the rival; or, of a law, how far it goes."""
    spread: tuple[float, float] | None = None
    """First and third quartile of the ratio over the rounds."""
    target: str = ""
    met: bool | None = None


@dataclass
class Report:
    """What one benchmark found."""

    name: str
    about: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def calibrated(work: Work, turn: float) -> int:
    """How many repetitions fill a turn. The first call is not counted: it may compile, and it warms what it touches."""
    work(1)
    count = 1
    while True:
        began = clock()
        work(count)
        took = clock() - began
        if took > turn / 4:
            return max(1, round(count * turn / took))
        count *= 4


def alternate(rivals: Mapping[str, Work], effort: Effort) -> dict[str, list[float]]:
    """Seconds a repetition of each rival, one value a round; in a round each has one turn, the order turning round."""
    counts = {name: calibrated(work, effort.turn) for name, work in rivals.items()}
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for turn in range(effort.rounds):
        for name in list(rivals)[:: 1 if turn % 2 == 0 else -1]:
            began = clock()
            rivals[name](counts[name])
            times[name].append((clock() - began) / counts[name])
    return times


def compared(
    what: str, unit: str, scale: float, times: Mapping[str, list[float]], ours: str, rival: str, at_least: float
) -> Row:
    """`ours` beside `rival`: medians in `unit` (seconds × scale), the median ratio of neighbouring turns, its target."""
    ratios = sorted(theirs / mine for theirs, mine in zip(times[rival], times[ours], strict=True))
    ratio = statistics.median(ratios)
    return Row(
        what, unit, statistics.median(times[ours]) * scale, statistics.median(times[rival]) * scale, rival, ratio,
        quartiles(ratios), f"≥ {at_least:g}×", ratio >= at_least,
    )  # fmt: skip


def quartiles(values: list[float]) -> tuple[float, float]:
    """First and third quartile."""
    low, _, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return low, high


def machine() -> dict[str, str]:
    """What this ran on."""
    versions = {}
    for name in ("numpy", "numba", "llvmlite", "pin", "mujoco"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "processor": processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?",
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        **versions,
    }


def processor() -> str:
    """The processor's name, and the widest vectors it has."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    lines = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in lines.items()}
    flags = fields.get("flags", "").split()
    vectors = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "no AVX2")
    return f"{fields.get('model name', platform.machine())} ({vectors})"


def table(report: Report) -> str:
    """The report as a Markdown table."""
    lines = [
        f"## {report.name}: {report.about}", "",
        "| what | NexDyn | rival | ratio (quartiles) | target |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for row in report.rows:
        peer = "" if row.peer is None else f"{figure(row.peer)} {row.unit} {row.rival}"
        spread = "" if row.spread is None else f" ({row.spread[0]:.2f}–{row.spread[1]:.2f})"
        ratio = spread.strip() if row.ratio is None else f"{row.ratio:.2f}×{spread}"
        verdict = "" if row.met is None else "met" if row.met else "MISSED"
        lines.append(f"| {row.what} | {figure(row.ours)} {row.unit} | {peer} | {ratio} | {row.target} {verdict} |")
    return "\n".join([*lines, "", *(f"- {note}" for note in report.notes)])


def figure(x: float | list[float]) -> str:
    """Three significant digits, no exponent."""
    if isinstance(x, list):
        return ", ".join(map(figure, x))
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"
