"""`python -m benchmarks [NAME …] [--smoke] [--json FILE]`: NexDyn beside its peers, on this machine."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import sys
import time
from pathlib import Path

from benchmarks.measure import FULL, SMOKE, machine, table

PAGES = (
    "aba",
    "batch",
    "cfa",
    "assembly",
    "derivatives",
    "hht",
    "hinge_chain",
    "lanes",
    "linear",
    "loops",
    "potential",
    "start",
    "viewer",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run; all by default: {', '.join(PAGES)}")
    parser.add_argument(
        "--smoke", action="store_true", help="run every line once, small, in seconds; no time is judged"
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
    if arguments.json:
        record = {"command": sys.argv[1:], "machine": told, "when": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
        unfinished = arguments.json.with_name(f"{arguments.json.name}.{os.getpid()}")
        unfinished.write_text(
            json.dumps({**record, "reports": [dataclasses.asdict(r) for r in reports]}, indent=1) + "\n"
        )
        unfinished.replace(arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
