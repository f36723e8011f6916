"""Run a command under a limit of memory for all its processes together.

python .ci/watch_memory.py GIGABYTES COMMAND…

Their proportional shares (pages that several hold count once) are added up every second. Beyond the limit all of them are
killed, and the largest are named. The peak is printed before the command's last line, which stays the last. Linux only:
elsewhere the command runs without a limit.
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


def memory(process: int) -> int:
    """Proportional share of a process [bytes]; 0 where it has ended."""
    with contextlib.suppress(OSError):
        for line in (PROC / str(process) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


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
    limit, peak, held = float(gigabytes) * 1e9, 0, []
    watched = (PROC / "self" / "smaps_rollup").exists()
    if watched:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    reader = threading.Thread(target=pass_on, args=(run.stdout, held), daemon=True)
    reader.start()
    excess = ""
    while run.poll() is None:
        if watched:
            shares = {process: memory(process) for process in descendants()}
            peak = max(peak, sum(shares.values()))
            if sum(shares.values()) > limit:
                largest = sorted(shares, key=lambda process: -shares[process])[:5]
                excess = "\n".join(f"   {shares[process] / 1e9:5.1f} GB  {name(process)}" for process in largest)
                end(list(shares))
        time.sleep(1.0)
    if watched:
        end(descendants())  # what was left behind would keep the output open
    reader.join(timeout=10)
    last = b"".join(held)
    if excess:
        last += f"── KILLED: more than {limit / 1e9:g} GB\n{excess}\n".encode()
    if watched:
        print(f"── memory of all processes: {peak / 1e9:.2f} GB at most, {limit / 1e9:g} allowed", flush=True)
    sys.stdout.buffer.write(last)
    sys.stdout.buffer.flush()
    return 1 if excess else run.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
