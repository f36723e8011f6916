"""One door for every file that describes a system: a scene, a URDF, or a demo by its name."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nexdyn.checked_calls import checked_call
from nexdyn.errors import FileError, InputError, UnknownNameError, unknown
from nexdyn.model.system import System
from nexdyn.results.atomic import PathLike
from nexdyn.results.near_files import files_near, meant

if TYPE_CHECKING:
    from nexdyn.io.scene import Scene

Base = Literal["fixed", "free"]

DEMOS = Path(__file__).parents[1] / "demos"
SCENE_SUFFIXES = (".yaml", ".yml")
SUFFIXES = (*SCENE_SUFFIXES, ".urdf")


@checked_call
def load(
    path: PathLike,
    *,
    base: Base = "fixed",
    mimic: bool = True,
    strict: bool = False,
    contacts: Mapping[str, Any] | None = None,
    srdf: PathLike | None = None,
) -> System:
    """The system in a scene file (.yaml), in a URDF (.urdf), or in a demo by its name (``nexdyn.demos()`` lists them).

    base: of a URDF, "fixed" to the ground or "free" to float.
    mimic: of a URDF, whether joints that mimic another follow it; False frees them.
    strict: of a URDF, refuse unphysical inertias, which are otherwise a NexDynWarning; a scene says so body by body.

    contacts: of a URDF, what its collision shapes touch the ground's xy-plane with: arguments of `nx.PlaneContact`, like
        {"stiffness": 2e5, "damping": 1.0, "friction": 0.8}, and "links", names or patterns ("*_foot") of those that do, by
        default all. Spheres, capsules, cylinders as capsules, boxes by their corners; meshes do not. With a "foundation" [N/m³] instead of
        a stiffness all shapes, closed meshes too, touch the ground over areas, as they are.
    srdf: of a URDF, a file that names pairs of links that are not tested for collisions.

    Raises FileError with the file, line, column and reason; InputError with the nearest name where nothing is found.
    """
    return load_scene_or_robot(path, base=base, mimic=mimic, strict=strict, contacts=contacts, srdf=srdf).system


def load_scene_or_robot(
    path: PathLike,
    *,
    base: Base = "fixed",
    mimic: bool = True,
    strict: bool = False,
    contacts: Mapping[str, Any] | None = None,
    srdf: PathLike | None = None,
) -> Scene:
    """As :func:`load`, with what a scene says of its simulation; that of a URDF is empty."""
    from nexdyn.io.scene import Scene, read_scene

    file = _found(path)
    kind = _kind(file)
    if kind == "urdf":
        from nexdyn.io.urdf import load_urdf

        return Scene(load_urdf(file, base=base, mimic=mimic, strict=strict, contacts=contacts, srdf=srdf), {})
    if kind == "scene":
        if base != "fixed" or not mimic:
            option = f"base={base!r}" if base != "fixed" else "mimic=False"
            raise InputError(f"{option} is for robot files; {file} is a scene, whose joints say how it is held")
        if contacts is not None:
            raise InputError(f"contacts are for robot files; {file} is a scene, whose contacts say what touches what")
        if srdf is not None:
            raise InputError(
                f"srdf is for robot files; {file} is a scene, whose bodies say with what they do not collide"
            )
        return read_scene(file)
    if kind == "mjcf":
        raise FileError("MJCF is not read yet; scenes (.yaml) and URDF (.urdf) are", file=os.fspath(file))
    if file.suffix.lower() in (".nc", ".zarr"):
        raise FileError("is a result; nx.open_result reads it, and its system is the model", file=os.fspath(file))
    raise FileError(f"unknown kind of file; scenes end in {', '.join(SCENE_SUFFIXES)}, robots in .urdf", file=str(file))


@checked_call
def demos() -> dict[str, str]:
    """The demos that come with NexDyn: name and one line of description."""
    found = {}
    for path in sorted(DEMOS.glob("*.yaml")):
        match = re.search(r"^description: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        found[path.stem] = match[1] if match else ""
    return found


def _found(path: PathLike) -> Path:
    """The file that a path or the name of a demo means."""
    given = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(given, str):
        raise InputError(f"path is {given!r}; text is needed")
    file = Path(given)
    names = list(demos())
    if given in names:
        return DEMOS / f"{given}.yaml"
    try:
        if file.is_file():
            return file
        if file.exists():
            raise FileError("is a directory or a device, not a file", file=given)
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot be read: {error}", file=given) from None
    if not file.suffix and file.name == given:
        beside = ", ".join(map(repr, files_near(file, SUFFIXES)))
        nothing = unknown("demo or file", given, names, plural="demos")
        raise UnknownNameError(f"{nothing}; files here: {beside}") if beside else nothing
    if re.match(r"\w+://", given):
        raise FileError("addresses are not read; download the file, and give its name here", file=given)
    near = meant(file, SUFFIXES)
    raise FileError(f"no such file{near}{'' if near.endswith('?') else ';'} demos: {', '.join(names)}", file=given)


def _kind(file: Path) -> str:
    """ "scene", "urdf" or "mjcf", by suffix; of an .xml file, and one of another suffix, by its root element."""
    suffix = file.suffix.lower()
    if suffix in SCENE_SUFFIXES:
        return "scene"
    if suffix == ".urdf":
        return "urdf"
    try:
        with file.open("rb") as stream:
            root = re.search(rb"<\s*(robot|mujoco)\b", stream.read(65536))
    except OSError as error:
        raise FileError(f"cannot be read: {error}", file=str(file)) from None
    if root:
        return {b"robot": "urdf", b"mujoco": "mjcf"}[root[1]]
    return "mjcf" if suffix == ".xml" else ""
