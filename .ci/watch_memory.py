"""Run a command under a limit of memory for all its processes together, one for each, and one of time.

python .ci/watch_memory.py ALL,EACH[,MINUTES] COMMAND…      in GB

Of all, the proportional shares (pages that several hold count once) are added up every second; of each, what is resident
counts. Beyond a limit all of them are killed, and the largest are named; in the end, those that still run. The peaks are
printed before the command's last line, which stays the last. Linux only: elsewhere the command runs without a limit.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PROC = Path("/proc")
PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>: what loses its parent becomes a child of this process


def descendants() -> list[int]:
    """All processes below this one."""
    children: dict[int, list[int]] = {}
    for place in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(place.name))
    found, below = [], [os.getpid()]
    while below:
        below = [child for parent in below for child in children.get(parent, [])]
        found += below
    return found


def memory(process: int) -> tuple[int, int]:
    """Proportional share of a process, and what is resident of it [bytes]; 0 where it has ended."""
    found = {"Pss:": 0, "Rss:": 0}
    with contextlib.suppress(OSError):
        for line in (PROC / str(process) / "smaps_rollup").read_text().splitlines():
            what, *value = line.split()
            if what in found:
                found[what] = int(value[0]) * 1024
    return found["Pss:"], found["Rss:"]


def name(process: int) -> str:
    with contextlib.suppress(OSError):
        return (PROC / str(process) / "cmdline").read_text().replace("\0", " ")[:100]
    return "?"


def end(processes: list[int]) -> None:
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)


def pass_on(stream: object, held: list[bytes]) -> None:
    """Print lines as they come, the last one excepted, which stays in `held`."""
    for line in stream:  # type: ignore[attr-defined]
        for earlier in held:
            sys.stdout.buffer.write(earlier)
        sys.stdout.buffer.flush()
        held[:] = [line]


def main(gigabytes: str, *command: str) -> int:
    first, each, *minutes = map(float, gigabytes.split(","))
    limits, until = [first * 1e9, each * 1e9], time.monotonic() + 60.0 * (minutes[0] if minutes else float("inf"))
    peaks, held, excess = [0.0, 0.0], list[bytes](), ""
    watched = (PROC / "self" / "smaps_rollup").exists()
    if watched:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    reader = threading.Thread(target=pass_on, args=(run.stdout, held), daemon=True)
    reader.start()
    while run.poll() is None:
        if time.monotonic() > until:
            running = descendants()
            excess = "\n".join(
                [f"more than {minutes[0]:g} minutes", *(f"   {name(process)}" for process in running[:5])]
            )
            end(running)
            run.kill()
        if watched:
            taken = {process: memory(process) for process in descendants()}
            now = [sum(share for share, _ in taken.values()), max((of_it for _, of_it in taken.values()), default=0)]
            peaks = [max(x) for x in zip(peaks, now, strict=True)]
            for limit, x, of, k in zip(limits, now, ("", "in one process, "), (0, 1), strict=True):
                if x > limit:
                    largest = sorted(taken, key=lambda process: -taken[process][k])[:5]
                    named = [f"   {taken[process][k] / 1e9:5.1f} GB  {name(process)}" for process in largest]
                    excess = excess or "\n".join([f"{of}more than {limit / 1e9:g} GB", *named])
                    end(list(taken))
        time.sleep(1.0)
    if watched:
        end(descendants())  # what was left behind would keep the output open
    reader.join(timeout=10)
    last = b"".join(held)
    if excess:
        last += f"── KILLED: {excess}\n".encode()
    if watched:
        told = [
            f"{peak / 1e9:.2f} GB at most, {limit / 1e9:g} allowed" for peak, limit in zip(peaks, limits, strict=True)
        ]
        print(f"── memory of all processes: {told[0]}; of one: {told[1]}", flush=True)
    sys.stdout.buffer.write(last)
    sys.stdout.buffer.flush()
    return 1 if excess else run.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
