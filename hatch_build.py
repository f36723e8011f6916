"""Compile the kernels of first commands as a wheel is built, so that they start at once where it is installed.

They go along as nexdyn/kernels, for the machine that builds. NEXDYN_BUILD_KERNELS=0 leaves them out, NEXDYN_BUILD_KERNELS=30 stops
after 30 s in place of 90. NEXDYN_BUILD_TIERS=x86-64-v3,x86-64-v4 makes them for processors of these
tiers, as scripts/wheels does. An editable installation has none: its sources change.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.specifiers import SpecifierSet  # hatchling needs it, too

SECONDS = 90.0
GENERATES = ("numpy", "llvmlite", "numba")
"""What generates code, or what code is generated for: kernels serve under these versions alone (`nexdyn.kernel_folders.versions`)."""
PLACE = "nexdyn/kernels"
OF_THESE_SOURCES = "import sys; sys.path.insert(0, {!r}); from nexdyn.cli import main; sys.exit(main(sys.argv[1:]))"
"""Runs this clone's sources. PYTHONPATH would not do: pip's build environment drops folders that are installed as editable."""


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts compiled kernels into a wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """The build runs what it builds, with the versions of what generates code that are installed where the wheel goes.

        `pip install .` builds in a folder of its own, with the Python of the environment that it installs into; kernels of other
        versions would be of no use there. What is not installed there yet comes to both from the same index."""
        return pinned(list(self.metadata.core.dependencies), installed()) if seconds() > 0.0 else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        limit = seconds()
        if version == "editable" or not limit > 0.0:
            return
        self._folder = tempfile.TemporaryDirectory()
        place = Path(self._folder.name) / "kernels"
        tiers = os.environ.get("NEXDYN_BUILD_TIERS", "")
        program = OF_THESE_SOURCES.format(str(Path(self.root) / "src"))
        command = [sys.executable, "-c", program, "warm", "--into", str(place), "--limit", str(limit)]
        done = subprocess.run(
            [*command, *(["--tiers", tiers] if tiers else [])],
            capture_output=True, text=True, check=False,
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


def installed() -> dict[str, str]:
    """Versions of what generates code in the environment of this Python, by name."""
    paths = sysconfig.get_paths()
    found = importlib.metadata.distributions(path=list({paths["purelib"], paths["platlib"]}))
    named = [(distribution.metadata["Name"], distribution.version) for distribution in found]
    versions = {
        name.lower(): version for name, version in named if name
    }  # one that an interrupted installation left has none
    return {name: versions[name] for name in GENERATES if name in versions}


def pinned(requirements: list[str], versions: dict[str, str]) -> list[str]:
    """The requirements, those of what generates code at `versions` where these are allowed: elsewhere they are upgraded, and llvmlite,
    which goes with one numba, is pinned with it alone."""
    ranges = {
        name: [
            SpecifierSet(x[len(name) :].partition(";")[0]) for x in requirements if re.match(rf"{name}(?![\w.-])", x)
        ]
        for name in versions
    }
    kept = {name for name, allowed in ranges.items() if all(versions[name] in one for one in allowed)}
    kept -= set() if "numba" in kept else {"llvmlite"}
    return [*requirements, *(f"{name}=={version}" for name, version in versions.items() if name in kept)]


def seconds() -> float:
    """How long to compile."""
    return float(os.environ.get("NEXDYN_BUILD_KERNELS", "") or SECONDS)
