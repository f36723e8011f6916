"""Scene files: a System and how to simulate it, in YAML 1.2.

    description: text                                   for people
    name, gravity, parameters, bodies, joints,          as ``nexdyn.describe`` lays them out
    couplings, markers, drivers, measures, forces
    simulation: {t_end, method: {type, …}, output_every, output_times, dynamics, loops: {stabilise, cut: […], …},
                 q0: {JOINT: […]}, v0: {JOINT: […]}}

The system is built by the classes that Python users call, so a scene has their checks and their messages. All that is
wrong in a file is reported at once, each with its line and column.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from nexdyn.checked_calls import checked_call
from nexdyn.describe import SECTIONS, Builder, Path, arguments, place_of, shown, to_dict
from nexdyn.errors import FileError, InputError, unknown, warn
from nexdyn.integrate.methods import METHODS, Loops, Method, positive
from nexdyn.io.urdf_xml import read_bytes
from nexdyn.io.yaml_positions import Place, Positions, read_yaml
from nexdyn.io.yaml_writer import yaml_entry, yaml_text
from nexdyn.joints import Free
from nexdyn.model.joint import Joint
from nexdyn.model.parameters import bound, floats, frozen, number, sequence
from nexdyn.model.shapes import Mesh
from nexdyn.model.system import System
from nexdyn.results.atomic import PathLike, file_path, written

DYNAMICS = ("aba", "crba", "cfa")
MAX_ERRORS = 50
VIEW_KEYS = ("eye", "target")
SIMULATION_KEYS = ("t_end", "method", "output_every", "output_times", "dynamics", "loops", "q0", "v0")
SUFFIXES = (".yaml", ".yml")
NEAR = 3
"""Directories that a relative name of a mesh may climb."""
SHOWN = 5
"""Missing meshes that a warning names."""


class Scene(NamedTuple):
    """What a scene file says.

    simulation: arguments of ``nx.simulate``, those that its section gives: t_end [s], method (an object like
        ``RungeKutta4``), output_every, output_times [s], dynamics ("aba", "crba", "cfa"), and q0, v0: {joint: its numbers}.
    """

    system: System
    simulation: dict[str, Any]
    description: str = ""
    section: Any = None
    """The simulation section as it was given, expressions included."""
    view: Mapping[str, tuple[float, float, float]] = {}
    """Where the viewer's page is seen from at first: eye and target [m] in the world; empty for where all is in sight."""

    def with_parameters(self, changes: Mapping[str, Any]) -> Scene:
        """The scene with other values (see `System.with_parameters`); what its simulation says of parameters follows."""
        system = self.system.with_parameters(changes)
        simulation = self.simulation if self.section is None else _simulation(self.section, system, Builder(None))
        return self._replace(system=system, simulation=simulation)


def read_scene(path: PathLike) -> Scene:
    """The scene in a file. FileError lists everything that is wrong, each with line and column."""
    file = os.fspath(path)
    data = read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(
            f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8", file=file, line=line
        ) from None
    return read_scene_text(text, file, FilePath(path).parent)


def load_scene(path: PathLike) -> System:
    """The system in a scene file. FileError lists everything that is wrong, each with line and column."""
    return read_scene(path).system


def read_scene_text(text: str, file: str = "<text>", directory: PathLike | None = None) -> Scene:
    """As :func:`read_scene`, from a text; `file` is what messages call it, meshes are looked for in `directory`."""
    data, problems, _ = read_yaml(text, file)
    errors = _Errors()
    scene = None
    try:
        scene = _scene(data, errors.add, directory)
    except _TooManyError:
        pass
    except InputError as error:
        errors.found.append(((), error))
    if scene is None or problems or errors.found:
        raise all_errors(errors.found, [(p.place, p.message) for p in problems], text, file)
    if missing := [path for path in _meshes(scene.system) if not os.path.isfile(path)]:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        warn(f"{file}: no mesh {', '.join(missing[:SHOWN])}{more}")
    return scene


def _meshes(system: System) -> list[str]:
    shapes = (shape for body in system.bodies.values() for shape in body.shapes)
    return sorted({shape.path for shape in shapes if isinstance(shape, Mesh)})


def dump_scene(
    system: System,
    simulation: Mapping[str, Any] | None = None,
    description: str = "",
    *,
    lossy: bool = False,
    directory: PathLike | None = None,
    view: Mapping[str, Any] | None = None,
) -> str:
    """The text of a scene that reads back to the same system; `simulation` and `view` as in :class:`Scene`.

    directory: where the scene will lie; meshes near it are named from there.

    InputError for a force that is a Python function, and for what events have left as no scene can say; `lossy` leaves such forces out
    and describes the rest as it was before the events, with a NexDynWarning.
    """
    data: dict[str, Any] = {"description": description} if description else {}
    data |= to_dict(system, lossy=lossy)
    if left := _left_by_events(system, data):
        told = f"events have left {', '.join(left)}, which no scene can say"
        if not lossy:
            raise InputError(f"{told}; lossy=True writes the system as it was described")
        warn(f"{told}: the scene has the system as it was described")
    if directory is not None:
        _name_meshes_from(data, os.path.abspath(directory))
    if simulation:
        data["simulation"] = {key: _simulation_data(value) for key, value in simulation.items()}
    if view:
        data["view"] = {key: list(value) for key, value in view.items()}
    return "".join(_scene_lines(data))


def _left_by_events(system: System, data: dict[str, Any]) -> list[str]:
    """What events have switched off, or have closed in another pose than the described one. Clamps in the described pose are on or off in
    `data` as they are now."""
    off = [*system.forces.values(), *system.events.values()]
    found = [f"{element} switched off" for element in off if element.__dict__.get("_off")]
    for name, joint in system.joints.items():
        if joint.switchable and "_held" in joint.__dict__ and not joint.is_off:
            found.append(f"{joint} closed where its bodies were")
        elif joint.switchable and joint.is_off is joint.__dict__["on"]:
            data["joints"][name]["on"] = not joint.is_off
    return found


@checked_call
def save_scene(
    system: System,
    path: PathLike,
    simulation: Mapping[str, Any] | None = None,
    description: str = "",
    *,
    lossy: bool = False,
    view: Mapping[str, Any] | None = None,
) -> None:
    """Write a scene file, whole or not at all; as :func:`dump_scene`.

    Meshes that lie near the file are named relative to it, so that both can be moved together.
    """
    target = file_path(path, SUFFIXES, "a scene")
    text = dump_scene(system, simulation, description, lossy=lossy, directory=target.parent, view=view)
    with written(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


# --- reading --------------------------------------------------------------------------------------------------------


class _TooManyError(Exception):
    """Enough is wrong already."""


class _Errors:
    """What was found wrong, with its path in the data."""

    def __init__(self) -> None:
        self.found: list[tuple[Path, InputError]] = []

    def add(self, path: Path, error: InputError) -> None:
        self.found.append((path, error))
        if len(self.found) >= MAX_ERRORS:
            raise _TooManyError


Report = Callable[[Path, InputError], None]


def _scene(data: Any, report: Report, directory: PathLike | None) -> Scene:
    if data is None:
        raise InputError("the scene is empty; it needs bodies, like {bodies: {ball: {mass: 1.0}}}")
    if directory is not None:
        _locate_meshes(data, os.path.abspath(directory))
    builder = Builder(report)
    system = builder.system(data, "a scene", ("description", "simulation", "view"))
    description = data.get("description") or ""
    if not isinstance(description, str):
        report(("description",), InputError(f"description is {shown(description)}; text is needed"))
    section = data.get("simulation")
    return Scene(
        system, _simulation(section, system, builder), description, section, _view(data.get("view"), system, builder)
    )


def _view(given: Any, system: System, builder: Builder) -> dict[str, tuple[float, float, float]]:
    """The view section as numbers."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        builder.report(("view",), InputError(f"view is {shown(given)}; a mapping of eye and target is needed"))
        return {}
    builder.check_keys(("view",), given, VIEW_KEYS, "view")
    found: dict[str, tuple[float, float, float]] = {}
    for key in VIEW_KEYS:
        try:
            x, y, z = floats(given.get(key), 3, system.values, f"{key} of the view")
            found[key] = (x, y, z)
        except InputError as error:
            builder.report(("view", key) if key in given else ("view",), error)
    if len(found) == len(VIEW_KEYS) and found["eye"] == found["target"]:
        builder.report(
            ("view",),
            InputError(f"eye and target of the view are both {found['eye']}; one looks from one point at another"),
        )
    return found if len(found) == len(VIEW_KEYS) else {}


def _locate_meshes(data: Any, directory: str) -> None:
    """Make the paths of meshes absolute: relative ones start where the scene lies."""
    bodies = data.get("bodies") if isinstance(data, dict) else None
    for body in bodies.values() if isinstance(bodies, dict) else ():
        given = [body.get(key) for key in ("shapes", "collision")] if isinstance(body, dict) else []
        for shape in [shape for some in given for shape in (some if isinstance(some, list) else [some])]:
            path = shape.get("path", "") if isinstance(shape, dict) else ""
            if isinstance(shape, dict) and isinstance(path, str) and path and ":" not in path.partition("/")[0]:
                shape["path"] = os.path.abspath(os.path.join(directory, path))  # package://… and the like lie elsewhere


def _name_meshes_from(data: Mapping[str, Any], directory: str) -> None:
    """Make paths of meshes relative to where the scene will lie, if no more than `NEAR` directories above it hold both."""
    for body in data.get("bodies", {}).values():
        for shape in (*body.get("shapes", ()), *(body.get("collision") or ())):
            path = shape.get("path", "")
            if os.path.isabs(path):
                relative = os.path.relpath(path, directory) if os.name == "posix" else path
                if not relative.startswith("../" * (NEAR + 1)):
                    shape["path"] = relative


def _simulation(given: Any, system: System, builder: Builder) -> dict[str, Any]:
    """The simulation section as objects and numbers."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        builder.report(("simulation",), InputError(f"simulation is {shown(given)}; a mapping is needed"))
        return {}
    builder.check_keys(("simulation",), given, SIMULATION_KEYS, "simulation")
    readers: dict[str, Callable[[Any], Any]] = {
        "t_end": lambda x: positive(number(x, system.values, "t_end"), "t_end"),
        "method": lambda x: _method(x, system, builder),
        "output_every": _output_every,
        "output_times": lambda x: _times(x, system),
        "dynamics": _dynamics,
        "loops": lambda x: _loops(x, system),
        "q0": lambda x: _initial("q0", x, system, builder),
        "v0": lambda x: _initial("v0", x, system, builder),
    }
    found = {}
    for key in SIMULATION_KEYS:
        if given.get(key) is not None:
            try:
                found[key] = readers[key](given[key])
            except InputError as error:
                if not builder.is_consequence(error):
                    builder.report(("simulation", *(place_of(error, {key: given[key]}) or (key,))), error)
    return found


def _output_every(x: Any) -> int:
    if type(x) is not int or x < 1:
        raise InputError(f"output_every is {shown(x)}; a whole number of steps, 1 or more, is needed")
    return x


def _times(x: Any, system: System) -> list[float]:
    what = "output_times"
    items = sequence(x, what, "times [s]")
    return [number(item, system.values, f"{what}[{i}]") for i, item in enumerate(items)]


def _dynamics(x: Any) -> str:
    if x not in DYNAMICS:
        raise unknown("dynamics", x, DYNAMICS, plural="valid")
    return str(x)


def _loops(given: Any, system: System) -> Loops:
    """The loops that {stabilise: baumgarte, alpha: 5} means; "baumgarte" alone is one with defaults."""
    given = {"stabilise": given} if isinstance(given, str) else given
    valid = [item.name for item in fields(Loops)]
    if not isinstance(given, Mapping):
        raise InputError(f"loops is {shown(given)}; write it like {{stabilise: projection, cut: [hinge]}}")
    for key in given:
        if key not in valid:
            raise unknown("attribute of loops", str(key), valid, plural="valid")
    values = dict(given)
    if values.get("stabilise") == "none":
        values["stabilise"] = None
    for key in ("alpha", "beta"):
        if values.get(key) is not None:
            values[key] = number(values[key], system.values, f"{key} of loops")
    if values.get("cut") is not None:
        values["cut"] = [system.joint(str(name)).name for name in sequence(values["cut"], "cut of loops", "joints")]
    return Loops(**values)


def _method(given: Any, system: System, builder: Builder) -> Method | None:
    """The method that {type: rk4, dt: 1e-3} means; "rk4" alone is one whose arguments all have defaults."""
    given = {"type": given} if isinstance(given, str) else given
    if not isinstance(given, Mapping):
        raise InputError(f"method is {shown(given)}; write it like {{type: rk4, dt: 1e-3}}")
    built = builder.object_of(("simulation", "method"), "method", dict(given), METHODS, "method")
    if built is None:
        return None
    cls, values = built
    for key, value in values.items():
        try:
            values[key] = bound(value, system.values, f"{key} of method {given['type']}")
        except InputError as error:
            if not builder.is_consequence(error):
                builder.report(("simulation", "method", key), error)
            return None
    method: Method = cls(**values)
    return method


def _initial(attribute: str, given: Any, system: System, builder: Builder) -> dict[str, list[float]]:
    """q0 or v0: the numbers of the joints that are named; a body without a joint names its free one."""
    if not isinstance(given, Mapping):
        raise InputError(f"{attribute} is {shown(given)}; a mapping by joint, like {{hinge: 0.5}}, is needed")
    carried = {joint.carried.name for joint in system.joints.values()}
    floating = {name: Free(name, "ground", name) for name in system.bodies if name not in carried}
    joints: dict[str, Joint] = {**floating, **system.joints}
    found: dict[str, list[float]] = {}
    for name, value in given.items():
        if ("body", repr(name)) in builder.failed:
            continue
        try:
            if name not in joints:
                raise unknown("joint", name, joints)
            if value is None:
                raise InputError(f"{attribute} of joint {name!r} is empty; its numbers are needed")
            joint = joints[name].copied(**{attribute: frozen(value)})
            joint.check(system.values)
            found[name] = getattr(joint.resolved(system.values), attribute).tolist()
        except InputError as error:
            if not builder.is_consequence(error):
                builder.report(("simulation", attribute, name), error)
    return found


# --- what is wrong, and where ---------------------------------------------------------------------------------------


_DIGITS, _COMMA = re.compile(r"unknown key '\d+'"), "; a comma separates entries: write numbers with a point, like 1.5"


def all_errors(
    errors: list[tuple[Path, InputError]], problems: Iterable[tuple[Place, str]], text: str, file: str
) -> FileError:
    """One error for everything that is wrong in a file, in the order of its lines. Errors come with the keys that lead to their place."""
    positions = read_yaml(text, file, positions=True).positions
    found = [FileError(message, file=file, line=place[0], column=place[1]) for place, message in problems]
    for path, error in errors:
        message = str(error) + (_COMMA if _DIGITS.match(str(error)) else "")
        found.append(_at(_place(path, message, positions), _element(path), message, file))
    found.sort(key=lambda error: (error.line or 0, error.column or 0))
    if len(found) == 1:
        return found[0]
    lines = "".join(f"\n  {error}" for error in found)
    more = f"\n  … the first {MAX_ERRORS} errors; there may be more" if len(errors) >= MAX_ERRORS else ""
    whole = FileError(f"{len(found)} errors{lines}{more}", file=file)
    whole.line, whole.column, whole.element = found[0].line, found[0].column, found[0].element
    return whole


def _at(place: Place | None, element: str | None, message: str, file: str) -> FileError:
    line, column = place or (None, None)
    named = element is not None and element in message
    error = FileError(message, file=file, line=line, column=column, element=None if named else element)
    error.element = element
    return error


def _element(path: Path) -> str | None:
    if len(path) > 1 and path[0] in SECTIONS:
        return f"{SECTIONS[str(path[0])][0]} {path[1]!r}"
    return str(path[0]) if path and path[0] == "simulation" else None


def _place(path: Path, message: str, positions: Positions) -> Place | None:
    """Line and column of a path: of its key for an element and for a key that means nothing, else of its value."""
    is_element = len(path) == 2 and path[0] in SECTIONS
    if path in positions.keys and (is_element or message.startswith(("unknown key", "no key"))):
        return positions.keys[path]
    while path and path not in positions.values:
        path = path[:-1]
    return positions.values.get(path)


# --- writing --------------------------------------------------------------------------------------------------------


def _simulation_data(value: Any) -> Any:
    """A value of the simulation section as plain data."""
    if isinstance(value, Method):
        defaults = arguments(type(value))
        given = {item.name: getattr(value, item.name) for item in fields(value)}  # type: ignore[arg-type]
        return {"type": value.name, **{key: x for key, x in given.items() if x != defaults[key].default}}
    if isinstance(value, Loops):
        changed = {item.name: x for item in fields(Loops) if (x := getattr(value, item.name)) != item.default}
        return {key: "none" if x is None else list(x) if key == "cut" else x for key, x in changed.items()}
    if isinstance(value, Mapping):
        return {key: _simulation_data(item) for key, item in value.items()}
    value = frozen(value)
    return list(value) if isinstance(value, tuple) else value


def _scene_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Lines of a scene: a line a section, an element, an attribute; an empty line before each section of several."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield "\n"
        # section → element → attribute; the attributes of the simulation stand where elements do
        yield from yaml_entry(yaml_text(key), value, "", 1 if key in ("simulation", "parameters", "view") else 2)
