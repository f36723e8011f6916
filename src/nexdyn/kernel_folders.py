"""Where compiled code is kept, so that no change anywhere in the package ever runs a stale kernel.

One folder per state of the sources: its name is a hash of every source file that a kernel can be made of, of the versions that
generate code, and of what else decides about it; an edit or an upgrade starts afresh. Imports run downward and siblings never meet
(pyproject.toml), hence

    a kernel of           is made of the sources of
    tree                  tree and all floors below           (so with absolute, potential and geometry)
    a lower floor         all floors up to tree, absolute and potential: their types give its verbs a meaning
    view, batch           all
    no floor (a user's)   all, and its own file

and an edit of the floors above `tree` (UPPER: they have kernels at most, no formulas that others take up) compiles no
kernel below anew, nor does one of what only words errors (WORDS: no kernel reads anything of theirs). `NEXDYN_CACHE_DIR`
moves the cache. What is not in it may have come with the package, in `nexdyn/kernels`, where `nexdyn warm --into` puts it:
looked up under the same key, never written to, and never read where made for another state or versions.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

import numba
import numpy

from nexdyn import numba_parts

_CONFIG: Any = numba.config
_SETTINGS = ("BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")  # of Numba, that change code
PACKAGE = Path(__file__).resolve().parent
PARTS = "parts"
"""The folder of what has machine code of its own (`machine_code`), beside those of the sources."""
KEPT_CACHES = 32  # caches of other sources that stay, the youngest first

FORMULATIONS = ("tree", "absolute", "potential", "geometry")
UPPER = (
    "__init__.py", "__main__.py", "shown.py", "pages", "cli", "demos", "view", "problems", "io", "studies", "front.py", "batch",
    "simulation", "statics", "assembly", "results",
)  # fmt: skip


WORDS = ("errors.py", "synonyms.py", "checked_calls.py")
"""What words errors."""
LOWER = UPPER + WORDS
"""What the kernels of a lower floor are not made of."""

SHIPPED, MADE = PACKAGE / "kernels", "made.json"
"""What came with the package: a folder for each hash, and `made.json`, which says by what and for which commands."""


def versions() -> dict[str, str]:
    """What generates code, and for what: code that others made does not serve. Patch releases of Python share it.

    The processor, which is part of it, is in the name of each file (`compiler.caches`)."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {
        "Python": f"{python} {sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}", "NumPy": numpy.__version__,
        **numba_parts.versions(),
        "system": f"{sys.platform} {platform.machine()} {' '.join(platform.libc_ver())}".strip(),
    }  # fmt: skip


def _others(floor: str) -> tuple[str, ...]:
    """The floors of FORMULATIONS that kernels of one of them are not made of; geometry is below all others."""
    return tuple(other for other in FORMULATIONS if other not in (floor, "geometry"))


_FLOORS = (WORDS, *(LOWER + _others(floor) for floor in FORMULATIONS), LOWER)
"""What the kernels of some floor are not made of: `not_part_of`."""


@functools.cache
def source_hash(root: Path | None = None, without: tuple[str, ...] = WORDS) -> str:
    """Hash of all Python sources below `root` (the package), and of what else decides about the code they become.

    without: the folders and files of `root` that are left out."""
    settings = [getattr(_CONFIG, name) for name in _SETTINGS]
    salt = f"{versions()} {settings} {os.environ.get('NEXDYN_LANES')}{' plain' * numba_parts.is_plain()}"
    return hash_of(root or PACKAGE, salt, without)


def hash_of(root: Path, salt: str, without: tuple[str, ...] = ()) -> str:
    digest = hashlib.sha256(salt.encode())
    for place in _sources(root, without):
        digest.update(place.encode() + b"\0" + (root / place).read_bytes() + b"\0")
    return digest.hexdigest()[:24]


def _sources(root: Path, without: tuple[str, ...]) -> list[str]:
    """Python's files below `root`, from there; `.` is `root`, where it is one of them."""
    if not root.is_dir():
        return ["."]
    found, folders = [], [""]
    for folder in folders:
        for entry in os.scandir(root / folder):
            place = f"{folder}{entry.name}"
            if not folder and place in without:
                continue
            if entry.is_dir():
                folders.append(f"{place}/")
            elif place.endswith(".py"):
                found.append(place)
    return sorted(found)


def not_part_of(file: Path) -> tuple[str, ...]:
    """The folders and files of the package that no kernel in `file` can be made of."""
    floor = file.relative_to(PACKAGE).parts[0] if file.is_relative_to(PACKAGE) else None
    if floor is None or floor in UPPER:
        return WORDS
    return LOWER + (_others(floor) if floor in FORMULATIONS else ())


def cache_root() -> Path:
    """The folder that holds one cache per state of the sources."""
    if chosen := os.environ.get("NEXDYN_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "nexdyn"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "nexdyn" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nexdyn"


@functools.cache
def cache_folder(without: tuple[str, ...] = WORDS) -> Path | None:
    """The folder for the sources as they are now; None where no folder can be written (then nothing is cached)."""
    try:
        folder = cache_root() / source_hash(None, without)
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe{os.getpid()}"
        probe.touch()
        probe.unlink()  # and the folder counts as used just now
        _tidy(folder)
    except (OSError, RuntimeError):  # no home folder, or one that cannot be written
        return None
    return folder


def _tidy(folder: Path) -> None:
    """The caches that were not used for the longest time go, and the parts that none of those left has used."""
    others = [
        other for other in folder.parent.iterdir() if other.is_dir() and other not in (folder, folder.parent / PARTS)
    ]
    others.sort(key=lambda other: -other.stat().st_mtime)
    if len(others) <= KEPT_CACHES:
        return
    for stale in others[KEPT_CACHES:]:
        shutil.rmtree(stale, ignore_errors=True)
    oldest = others[KEPT_CACHES - 1].stat().st_mtime
    for part in (folder.parent / PARTS).glob("*"):
        if part.stat().st_mtime < oldest:
            part.unlink(missing_ok=True)


@functools.cache
def parts_folder() -> Path | None:
    """The folder of the machine code of parts (`machine_code`), of all sources; None where nothing can be written."""
    if cache_folder(LOWER) is None:
        return None
    folder = cache_root() / PARTS
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return None
    return folder


@functools.cache
def shipped_folder(without: tuple[str, ...] = WORDS) -> Path | None:
    """The folder that came with the package for its sources as they are now; None where none did."""
    folder = SHIPPED / source_hash(None, without)
    return folder if folder.is_dir() else None


def made_for() -> dict[str, Any]:
    """Versions and commands of what came with the package; nothing where nothing did."""
    try:
        found: dict[str, Any] = json.loads((SHIPPED / MADE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def other_versions() -> str:
    """Why what came with the package does not serve here, as a clause; nothing where it does, or nothing came."""
    made = made_for().get("versions", {})
    here = versions()
    of = [
        f"{name} {made[name].split()[0]}, here {here[name].split()[0]}"
        for name in here
        if made.get(name, here[name]) != here[name]
    ]
    if of:
        return f"made for {', '.join(of)}"
    return "made from other sources" if made and not any(map(shipped_folder, _FLOORS)) else ""


def is_kept() -> bool:
    """Whether kernels are kept anywhere."""
    return cache_folder(LOWER) is not None or SHIPPED.is_dir()


@functools.lru_cache(maxsize=8)
def unchanged(without: tuple[str, ...], second: int) -> bool:
    """Whether the sources are those that this process counts on; looked at once a second."""
    return _times(without) == _times_of_known(without)


def _times(without: tuple[str, ...]) -> list[tuple[str, int, int]]:
    """When each of the sources was written, and how long it is."""
    found = ((place, os.stat(PACKAGE / place)) for place in _sources(PACKAGE, without))
    return [(place, seen.st_mtime_ns, seen.st_size) for place, seen in found]


@functools.cache
def _times_of_known(without: tuple[str, ...]) -> list[tuple[str, int, int]] | None:
    """Times of the sources that this process counts on; None where they have changed already."""
    times = _times(without)
    return times if source_hash.__wrapped__(None, without) == source_hash(None, without) else None
