"""A shell at a terminal, by tmux: what stands on its screen after every key."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

NEXDYN = f"{sys.executable} -m nexdyn"


class Terminal:
    """A shell in a tmux server of its own, higher than what a test has said on it."""

    def __init__(self, folder: Path, columns: int = 100, **variables: str) -> None:
        self.folder = folder
        self.socket = f"nexdyn-{os.getpid()}-{time.monotonic_ns()}"
        environment = {key: x for key, x in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "TMUX")}
        environment |= {"LC_ALL": "C.UTF-8", **variables}
        start = folder / ".start"
        start.write_text(f"PS1='$ '\nnexdyn() {{ {NEXDYN} \"$@\"; }}\nrm {start}\n")
        subprocess.run(
            ["tmux", "-L", self.socket, "-f", os.devnull, "new-session", "-d", "-x", str(columns), "-y", "300", "-c", str(folder),
             "bash", "--noprofile", "--rcfile", str(start), "-i"],
            env=environment, check=True, timeout=30,
        )  # fmt: skip
        self.wait_for(r"^\$ $", limit=30.0)

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(["tmux", "-L", self.socket, *arguments], capture_output=True, text=True, timeout=30)
        return done.stdout

    def type(self, line: str) -> None:
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def press(self, key: str) -> None:
        self.tmux("send-keys", key)

    def screen(self, with_colors: bool = False) -> str:
        text = self.tmux("capture-pane", "-p", "-J", *(["-e"] if with_colors else []))
        return "\n".join(line.rstrip() if line.strip() != "$" else "$ " for line in text.rstrip("\n").split("\n"))

    def wait_for(self, pattern: str, limit: float = 240.0) -> str:
        """The screen once it matches; a failure shows what was there instead."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            shown = self.screen()
            if re.search(pattern, shown, re.MULTILINE):
                return shown
            time.sleep(0.1)
        raise AssertionError(f"{pattern!r} did not appear within {limit:g} s:\n{self.screen()}")

    def close(self) -> None:
        self.tmux("kill-server")
