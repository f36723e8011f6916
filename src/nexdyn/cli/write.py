"""Numbers that a page has come to are written into the scene that it shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nexdyn.errors import FileError


def write_numbers(file: Path, numbers: Mapping[tuple[str, ...], Any]) -> None:
    """Put numbers into a scene, by where they stand in it; all else in it stays as it is."""
    from nexdyn.io.yaml_edit import with_numbers
    from nexdyn.io.yaml_positions import read_yaml
    from nexdyn.results.atomic import written

    try:
        text = file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot be read: {error}", file=str(file)) from None
    new = with_numbers(text, _nested(numbers, read_yaml(text, str(file)).data), str(file))
    with written(file) as whole:
        whole.write_bytes(new.encode("utf-8"))


def _nested(numbers: Mapping[tuple[str, ...], Any], data: Any) -> dict[tuple[str, ...], Any]:
    """The same numbers; those of a simulation in mappings, where what a scene says, `data`, has none for them."""
    section = data.get("simulation") if isinstance(data, Mapping) else None
    found: dict[tuple[str, ...], Any] = {}
    for path, value in numbers.items():
        here = len(path) == 3 and section and (not isinstance(section, Mapping) or section.get(path[1]))
        if len(path) != 3 or path[0] != "simulation" or here:
            found[path] = value
        elif section:
            found.setdefault(path[:2], {})[path[2]] = value
        else:
            found.setdefault(path[:1], {}).setdefault(path[1], {})[path[2]] = value
    return found
