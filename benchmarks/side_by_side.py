"""Two processes at once, compared with one: runs of small mechanisms must not wait for each other's BLAS threads.

Each process repeats the same short runs with compiled kernels, so that most of the time is set-up with dense matrices. Rounds of
one process and of two alternate. Where each process has a core, two should take as long as one. A process alone should use no
more processor time than wall time.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time

from benchmarks.measure import Effort, Report, Row, quartiles

RUNS, ROUNDS = 150, 7
DEMOS = ("stewart", "four-bar")
AT_MOST = 1.1


def run(effort: Effort) -> Report:
    report = Report("side_by_side", "two processes at once compared with one, HHT of 1 ms, 0.2 s a run")
    runs, rounds = (2, 1) if effort.smoke else (RUNS, ROUNDS)
    for demo in DEMOS:
        together(1, demo, 1)  # compiles, and fills the disk's cache
        slower, busy = [], []
        for _ in range(rounds):
            (alone, processor), *_ = together(1, demo, runs)
            slower.append(max(wall for wall, _ in together(2, demo, runs)) / alone)
            busy.append(processor / alone)
        tell(report, f"{demo}, {runs} runs: two at once ÷ one alone", slower)
        tell(report, f"{demo}, {runs} runs: processor time ÷ wall time, alone", busy)
    report.notes.append(
        f"This machine lends {os.cpu_count()} cores; with fewer than two the first figure means nothing."
    )
    return report


def tell(report: Report, what: str, found: list[float]) -> None:
    middle = statistics.median(found)
    row = Row(what, "×", middle, target=f"≤ {AT_MOST:g}", met=middle <= AT_MOST)
    row.spread = quartiles(found) if len(found) > 1 else None
    report.rows.append(row)


def together(processes: int, demo: str, runs: int) -> list[tuple[float, float]]:
    """(wall time, processor time) [s] of `runs` runs in each of `processes` that begin together."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.side_by_side", demo, str(runs)]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    for process in started:  # all are warm before the first begins
        assert process.stdout is not None
        if process.stdout.readline().strip() != "ready":
            raise SystemExit(f"{' '.join(command)} did not begin")
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [tuple(json.loads(process.communicate()[0])) for process in started]


def main(demo: str, runs: int) -> None:
    import nexdyn as nx

    system = nx.load(demo)
    nx.simulate(system, 0.2, nx.HHT(dt=1e-3))
    print("ready", flush=True)
    sys.stdin.readline()
    wall, processor = time.perf_counter(), time.process_time()
    for _ in range(runs):
        nx.simulate(system, 0.2, nx.HHT(dt=1e-3))
    print(json.dumps((time.perf_counter() - wall, time.process_time() - processor)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
