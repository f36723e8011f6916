"""`python -m benchmarks [NAME …] [--smoke] [--json FILE] [--history FILE] [--plot FILE]`: NexDyn beside its peers, on this machine."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import sys
import time
from pathlib import Path

from benchmarks.measure import FULL, SMOKE, Report, machine, table

PAGES = (
    "aba",
    "batch",
    "cfa",
    "compiling",
    "contact",
    "assembly",
    "derivatives",
    "four_bar",
    "geometry",
    "meshes",
    "hht",
    "hinge_chain",
    "lanes",
    "linear",
    "loops",
    "memory",
    "pairs",
    "potential",
    "precision",
    "side_by_side",
    "start",
    "statics",
    "steps",
    "viewer",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run; all by default: {', '.join(PAGES)}")
    parser.add_argument(
        "--smoke", action="store_true", help="run every line once, small, in seconds; no time is judged"
    )
    parser.add_argument("--history", metavar="FILE", type=Path, help="append the run to FILE, one JSON object a line")
    parser.add_argument(
        "--plot", metavar="FILE", type=Path, help="draw the ratios beside their targets (.png, .svg, .pdf)"
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the figures to FILE, as JSON")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in PAGES]:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(PAGES)}")

    told = machine()
    print("machine: " + ", ".join(f"{key} {value}" for key, value in told.items()), flush=True)
    reports = []
    for name in arguments.names or PAGES:
        began = time.perf_counter()
        report = importlib.import_module(f"benchmarks.{name}").run(SMOKE if arguments.smoke else FULL)
        if arguments.smoke:
            for row in report.rows:
                row.met = None  # a smoke run does not judge
        reports.append(report)
        print(f"\n{table(report)}\n({time.perf_counter() - began:.0f} s)", flush=True)
    record = {"command": sys.argv[1:], "machine": told, "when": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
    record |= {"reports": [dataclasses.asdict(r) for r in reports]}
    if arguments.json:
        unfinished = arguments.json.with_name(f"{arguments.json.name}.{os.getpid()}")
        unfinished.write_text(json.dumps(record, indent=1) + "\n")
        unfinished.replace(arguments.json)
    if arguments.history:
        with arguments.history.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")
    if arguments.plot:
        plot(reports, told, arguments.plot)
    return 0


def plot(reports: list[Report], told: dict[str, str], file: Path) -> None:
    """How many times as fast as its rival each line is, quartiles and targets beside it."""
    from matplotlib.figure import Figure

    rows = [(report.name, row) for report in reports for row in report.rows if row.ratio is not None]
    figure = Figure(figsize=(9, 1.5 + 0.3 * max(len(rows), 1)), layout="constrained")
    axes = figure.add_subplot()
    for k, (_, row) in enumerate(rows):
        axes.barh(k, row.ratio, color="tab:green" if row.met is not False else "tab:red", height=0.6)
        if row.spread is not None:
            axes.plot(row.spread, (k, k), color="black", linewidth=1)
        target = row.target.removeprefix("≥ ").removesuffix("×")
        if target != row.target and target.replace(".", "", 1).isdigit():
            axes.plot((float(target),) * 2, (k - 0.4, k + 0.4), color="tab:orange", linewidth=2)
    axes.set_yticks(range(len(rows)), [f"{name}: {row.what} / {row.rival}" for name, row in rows], fontsize=7)
    axes.invert_yaxis()
    axes.axvline(1.0, color="black", linewidth=0.5)
    axes.set_xscale("log")
    axes.set_xlabel("times as fast; the orange mark is the target")
    axes.set_title(f"{told['processor']}, {told['cores']} cores, load {told['load']}", fontsize=8)
    figure.savefig(file)


if __name__ == "__main__":
    sys.exit(main())
