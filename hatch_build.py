"""Compile the kernels of first commands as a wheel is built, so that they start at once where it is installed.

They go along as nexdyn/kernels, for the machine that builds. NEXDYN_BUILD_KERNELS=0 leaves them out, NEXDYN_BUILD_KERNELS=30 stops
after 30 s in place of 90. An editable installation has none: its sources change.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SECONDS = 90.0


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts compiled kernels into a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        wanted = os.environ.get("NEXDYN_BUILD_KERNELS", "")
        seconds = float(wanted or SECONDS)
        if version == "editable" or not seconds > 0.0:
            return
        self._folder = tempfile.TemporaryDirectory()
        place = Path(self._folder.name) / "kernels"
        done = subprocess.run(
            [sys.executable, "-m", "nexdyn", "warm", "--into", str(place), "--limit", str(seconds)],
            env=os.environ | {"PYTHONPATH": str(Path(self.root) / "src")}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode or not (place / "made.json").is_file():
            self.app.display_warning(
                f"no kernels go along; they compile as they are needed: {done.stderr.strip()[-1000:]}"
            )
            return
        self.app.display_info(done.stdout.strip())
        build_data["force_include"][str(place)] = "nexdyn/kernels"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()
