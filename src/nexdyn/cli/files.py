"""The files that a run writes: checked before it starts, so that hours of work do not end at a missing folder."""

from __future__ import annotations

import tempfile
from pathlib import Path

from nexdyn.errors import InputError


def check_writable(option: str, path: Path, suffixes: tuple[str, ...], keep: dict[str, Path | None]) -> None:
    """Raise InputError unless a file can be written at `path`; `keep` are files that it must not replace."""
    folder = path.parent
    if path.is_dir():
        raise InputError(f"{option} {path} is a folder; give a file, like {path / f'run{suffixes[0]}'}")
    if path.exists() and not path.is_file():
        raise InputError(f"{option} {path} is no ordinary file; a result cannot be written there")
    if path.suffix.lower() not in suffixes:
        raise InputError(f"{option} {path} must end in {' or '.join(suffixes)}, like {path.with_suffix(suffixes[0])}")
    if not folder.is_dir():
        raise InputError(f"{option} {path}: there is no folder {str(folder)!r}; make it first")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        place = "the current folder" if folder == Path() else f"folder {str(folder)!r}"
        raise InputError(f"{place} cannot be written to: {error.strerror}; {option} FILE writes elsewhere") from None
    for what, other in keep.items():
        if other is not None and other.exists() and path.exists() and path.samefile(other):
            another = f"{option} {path.stem}2{path.suffix}" if option.startswith("-") else f"{path.stem}2{path.suffix}"
            raise InputError(f"{option} {path} would replace {what}; give another file, like {another}")
