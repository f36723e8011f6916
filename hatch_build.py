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
PLACE = "nexdyn/kernels"


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts compiled kernels into a wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """The build runs what it builds."""
        return list(self.metadata.core.dependencies) if seconds() > 0.0 else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        limit = seconds()
        if version == "editable" or not limit > 0.0:
            return
        self._folder = tempfile.TemporaryDirectory()
        place = Path(self._folder.name) / "kernels"
        paths = [str(Path(self.root) / "src"), os.environ.get("PYTHONPATH", "")]  # pip finds what a build needs by it
        done = subprocess.run(
            [sys.executable, "-m", "nexdyn", "warm", "--into", str(place), "--limit", str(limit)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            self.app.display_warning(f"some kernels compile as they are needed: {done.stderr.strip()[-1000:]}")
        if not (place / "made.json").is_file():
            return
        self.app.display_info(done.stdout.strip())
        build_data["force_include"][str(place)] = PLACE
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def seconds() -> float:
    """How long to compile."""
    return float(os.environ.get("NEXDYN_BUILD_KERNELS", "") or SECONDS)
