"""The model that a command line names: a scene, a robot, a demo, or a result that holds its system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nexdyn.cli.assignments import changes
from nexdyn.cli.options import Reading
from nexdyn.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from nexdyn.model.system import System
    from nexdyn.results.result import Result


@dataclass(frozen=True)
class Model:
    """What was read. simulation: arguments of `nx.simulate` that a scene gives. result: where a result was named. view: where a scene is
    to be seen from, eye and target [m]."""

    name: str
    system: System
    simulation: dict[str, Any]
    description: str = ""
    result: Result | None = None
    view: Mapping[str, Any] = field(default_factory=dict)


def read(given: str, reading: Reading) -> Model:
    """Read what `given` names, and change what `--set` says."""
    if not given.strip():
        raise InputError("MODEL is empty; name a scene, a robot, a demo or a result")
    if Path(given).suffix != ".nc":
        return _scene_or_robot(given, reading)
    model = _result(given)
    return (
        replace(model, system=model.system.with_parameters(changes(reading.set, model.system)))
        if reading.set
        else model
    )


def _scene_or_robot(given: str, reading: Reading) -> Model:
    from nexdyn.io.loader import load_scene_or_robot

    contacts = _contacts(reading.contacts) if reading.contacts else None
    try:
        scene = load_scene_or_robot(
            given, base=reading.base, mimic=not reading.no_mimic, strict=reading.strict, contacts=contacts,
            srdf=reading.srdf or None,
        )  # fmt: skip
    except UnknownNameError as error:
        from nexdyn.results.near_files import files_near

        if Path(given).suffix or Path(given).exists() or not (results := files_near(Path(given), (".nc",))):
            raise
        raise UnknownNameError(f"{error}; results here: {', '.join(map(repr, results))}") from None
    if reading.set:
        scene = scene.with_parameters(changes(reading.set, scene.system))
    return Model(Path(given).stem, scene.system, scene.simulation, scene.description, view=scene.view)


def _contacts(given: str) -> dict[str, Any]:
    """What --contacts stiffness=2e5,links=*_foot says; links may be repeated."""
    found: dict[str, Any] = {}
    for part in given.split(","):
        key, equals, value = (text.strip() for text in part.partition("="))
        if not equals or not value:
            raise InputError(
                f"--contacts {part!r} is not understood; write it like stiffness=2e5,friction=0.8,links=*_foot"
            )
        if key == "links":
            found.setdefault(key, []).append(value)
            continue
        try:
            found[key] = float(value)
        except ValueError:
            raise InputError(f"--contacts {key}={value}: a number is needed") from None
    return found


def _result(given: str) -> Model:
    from nexdyn.results.result import open_result
    from nexdyn.simulation.continuing import arguments

    result = open_result(given)
    restart = result.recording.restart
    return Model(Path(given).stem, result.system, arguments(restart) if restart else {}, result=result)
