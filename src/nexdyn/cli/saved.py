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
    from nexdyn.results.result import open_result

    path = Path(given)
    if given in demos() or path.suffix.lower() in SUFFIXES:
        result = f"{path.stem}.nc"
        raise InputError(
            f"{given!r} is a model, which has not moved yet; make a result of it first: "
            f"nexdyn run {given} && nexdyn {command} {result}"
        )
    if not path.exists():
        raise FileError(f"no such file{_nearest(path)}", file=given)
    return open_result(path)


def _nearest(path: Path) -> str:
    """The result beside `path` whose name is most like it, as a question."""
    import difflib

    try:
        beside = [entry.name for entry in path.parent.iterdir() if entry.suffix in (".nc", ".nc4")][:1000]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {str(path.with_name(near[0]))!r}?"
    return "; nexdyn run MODEL writes a result"
