"""Numbers that a page has come to are written into the scene that it shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nexdyn.errors import FileError


def write_numbers(file: Path, numbers: Mapping[tuple[str, ...], Any]) -> None:
    """Put numbers into a scene, by where they stand in it; all else in it stays as it is."""
    from nexdyn.io.yaml_edit import with_numbers
    from nexdyn.results.atomic import written

    try:
        text = file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot be read: {error}", file=str(file)) from None
    new = with_numbers(text, numbers, str(file))
    with written(file) as whole:
        whole.write_bytes(new.encode("utf-8"))
