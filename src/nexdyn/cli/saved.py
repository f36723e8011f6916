"""The result that a command line names, for commands that look at one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nexdyn.errors import FileError, InputError

if TYPE_CHECKING:
    from nexdyn.results.result import Result


def saved_result(given: str, command: str) -> Result:
    """The result in the file `given`; an error says how to make one from a model, or names the file that was meant."""
    from nexdyn.io.loader import SUFFIXES, demos
    from nexdyn.results.near_files import meant
    from nexdyn.results.result import open_result

    path = Path(given)
    if given in demos() or path.suffix.lower() in SUFFIXES:
        result = f"{path.stem}.nc"
        raise InputError(
            f"{given!r} is a model, which has not moved yet; make a result of it first: "
            f"nexdyn run {given} && nexdyn {command} {result}"
        )
    if not path.exists():
        near = meant(path, (".nc", ".nc4"))
        how = "" if near.endswith("?") else "; nexdyn run MODEL writes a result"
        raise FileError(f"no such file{near}{how}", file=given)
    return open_result(path)
