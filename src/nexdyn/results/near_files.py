"""What a file that is not there may have been meant to be: files with names like it, in the folder that was named or one like that."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

MOST = 5
"""How many files are named."""
LOOKED_AT = 2000
"""How many entries of a folder are looked at."""
ALIKE = 0.5
"""How alike names are, from 0 to 1: `difflib`."""


def meant(path: Path, suffixes: Iterable[str]) -> str:
    """A clause for an error: "; did you mean 'arm.yaml' or 'arm2.yaml'?", or which files are there; empty where none is.

    suffixes: of files that would be valid, with their dots."""
    kinds = tuple(suffixes)
    if near := files_near(path, kinds):
        *first, last = map(repr, near)
        return f"; did you mean {' or '.join([', '.join(first), last] if first else [last])}?"
    if not path.parent.is_dir():
        return f"; there is no folder {str(path.parent)!r}"
    there = sorted(_files(path.parent, kinds))
    if not there:
        return ""
    more = f", … ({len(there)} in all)" if len(there) > MOST else ""
    return f"; in the same folder {'are' if len(there) > 1 else 'is'} {', '.join(map(repr, there[:MOST]))}{more}"


def files_near(path: Path, suffixes: Iterable[str]) -> list[str]:
    """Names of files like `path`, the most alike first; their suffixes do not count."""
    kinds = tuple(suffixes)
    found = []
    for folder in [path.parent] if path.parent.is_dir() else _folders_near(path.parent):
        for name in _files(folder, kinds):
            alike = difflib.SequenceMatcher(None, path.stem.casefold(), Path(name).stem.casefold()).ratio()
            if alike >= ALIKE:
                found.append((-alike, str(folder / name)))
    return [name for _, name in sorted(found)[:MOST]]


def _files(folder: Path, kinds: tuple[str, ...]) -> list[str]:
    return [entry.name for entry in _entries(folder) if entry.suffix.lower() in kinds]


def _entries(folder: Path) -> list[Path]:
    try:
        seen = [entry for entry, _ in zip(folder.iterdir(), range(LOOKED_AT), strict=False)]
    except (OSError, ValueError):  # no folder, or one that cannot be read
        return []
    return [entry for entry in seen if not entry.name.startswith(".")]  # hidden ones are of other programs


def _folders_near(folder: Path) -> list[Path]:
    """Folders that are there with names like those of `folder`, part by part."""
    if folder == folder.parent:
        return []
    above = [folder.parent] if folder.parent.is_dir() else _folders_near(folder.parent)
    found = []
    for place in above:
        if (place / folder.name).is_dir():
            found.append(place / folder.name)
            continue
        others = {entry.name.casefold(): entry for entry in _entries(place) if entry.is_dir()}
        alike = difflib.get_close_matches(folder.name.casefold(), others, n=3, cutoff=ALIKE)
        found += [others[name] for name in alike]
    return found[:MOST]
