"""The result file: netCDF-4, which xarray, MATLAB, ParaView, Panoply, ncdump and others open.

    time                                  [s]
    joint_position, joint_velocity, …     the states, from which a run restarts and all else can be computed again
    position, orientation, reaction, …    with full=True what `Result` tells, each with `units` and `long_name`
    NAME_units                            the unit of each label, where one quantity has several
    system_description                    the system as JSON, from which it is built again
    restart/numbers, restart/layout       all of the run's state at its end, and as JSON what each of its numbers is

Attributes: nexdyn_schema (of this layout), source, title, method, status, message, steps, wall_time, settings, kernels (the tiers of
processors that they were made for, and the name of the processor that made some for itself: `compiler.tiers`),
lost_forces (JSON: forces that are Python and so not in the description), lost (the same of all that may be Python but forces).
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.errors import FileError, NexDynError, NexDynWarning, warn
from nexdyn.forces.states import state_labels
from nexdyn.results.atomic import PathLike, SteadyFile, checked_path, file_path, written
from nexdyn.results.mesh_files import FILES, changed_files, files_of
from nexdyn.results.near_files import meant
from nexdyn.results.quantities import BODY_STATES, KEPT, OF_JOINTS, PEAKS, QUANTITIES, RECORDED, spring_counters
from nexdyn.results.recording import BodyRecording, LoopRecording, Recording
from nexdyn.results.restart import Restart, unpacked
from nexdyn.results.segments import changed_by

if TYPE_CHECKING:
    from nexdyn.model.system import System
    from nexdyn.results.result import Result

SUFFIXES = (".nc", ".nc4")
SCHEMA = 1
STATUSES = ("finished", "interrupted", "failed")
HDF5, CLASSIC = b"\x89HDF\r\n\x1a\n", b"CDF"
LARGEST_COMPRESSION = 2000
"""No compression makes numbers smaller by more than this."""


def nexdyn_version() -> str:
    """The version of the installed package."""
    try:
        return version("nexdyn")
    except PackageNotFoundError:
        return "unknown"


def attributes(result: Result) -> dict[str, Any]:
    """What a file says of the run as a whole."""
    r = result.recording
    return {
        "title": result.system.name,
        "source": f"NexDyn {nexdyn_version()}",
        "kernels": r.settings.get("kernels", ""),
        "nexdyn_schema": SCHEMA,
        "method": r.method,
        "status": r.status,
        "message": r.message,
        "steps": int(r.steps),
        "wall_time": float(r.wall_time),
        "settings": json.dumps(r.settings, default=str),
    }


def kept_quantities(result: Result, full: bool) -> list[str]:
    """The quantities that a file or a dataset holds."""
    observed = result.observed
    states: tuple[str, ...] = BODY_STATES if isinstance(result.recording, BodyRecording) else RECORDED
    if isinstance(result.recording, LoopRecording):
        states = (*RECORDED, "multiplier")
    names = [name for name in (KEPT if full else states) if observed.knows(name)]
    return [name for name in names if 0 not in observed.labels.shape(name)]


GROUPS = ("contacts", "gravities")
"""Sections of a description whose elements consist of forces."""

# --- writing --------------------------------------------------------------------------------------------------------


def write_result(result: Result, path: PathLike, full: bool) -> None:
    """See `Result.save`."""
    import h5netcdf

    from nexdyn.describe import to_dict

    target = file_path(path, SUFFIXES, "a result file")
    described = to_dict(result.system, lossy=True)
    held = {name for section in ("forces", *GROUPS) for name in described.get(section, {})}
    lost = [*result.lost_forces]
    lost += [name for name, force in result.system.forces.items() if (force.part_of or name) not in held]
    unheld = {
        section: [name for name in getattr(result.system, section) if name not in described.get(section, {})]
        for section in ("joints", "drivers", *GROUPS, "events")
    }
    names = kept_quantities(result, full)
    with written(target) as temporary, SteadyFile(temporary, "r+") as stream:
        try:
            with h5netcdf.File(stream, "w") as file:
                file.attrs.update(attributes(result) | {"lost_forces": json.dumps(lost), "lost": json.dumps(unheld)})
                _write_text(file, "system_description", (), json.dumps(described), "the system, as JSON")
                _write_quantities(file, result, names, stream.check)
                _write_restart(file, result.recording.restart)
        finally:
            stream.check()


def _write_quantities(file: Any, result: Result, names: list[str], check: Callable[[], None]) -> None:
    observed, t = result.observed, result.recording.t
    labels = observed.labels
    file.dimensions["time"] = len(t)
    _write_numbers(file, "time", ("time",), "s", "time", t)
    used = [dim for name in names for dim in QUANTITIES[name].dims]
    for dim in dict.fromkeys(used):
        file.dimensions[dim] = len(labels.dims[dim])
        _write_text(file, dim, (dim,), labels.dims[dim], f"label of each {dim}")
    variables = {}
    for name in names:
        dims, units, long_name = QUANTITIES[name]
        variable = _write_numbers(file, name, ("time", *dims), labels.unit(name), long_name)
        if not units:
            _write_text(file, f"{name}_units", dims[-1:], labels.units[name], f"units of {name}")
            variable.attrs["coordinates"] = f"{name}_units"
        variables[name] = variable
    for rows, found in observed.tables(names) if names else ():
        for name, values in found.items():
            variables[name][rows] = values
        check()
    if "reaction" in names:
        for name, values in observed.peaks._asdict().items():
            _write_numbers(file, f"peak_{name}", *PEAKS[name], values)


def _write_restart(file: Any, restart: Restart | None) -> None:
    if restart is None:
        return
    numbers, layout = restart.packed()
    group = file.create_group("restart")
    group.dimensions["number"] = len(numbers)
    _write_numbers(group, "numbers", ("number",), "1", "the run's state at its end", numbers)
    _write_text(group, "layout", (), layout, "what the numbers are, as JSON")


def _write_numbers(
    file: Any, name: str, dims: tuple[str, ...], units: str, long_name: str, values: np.ndarray | None = None
) -> Any:
    variable = file.create_variable(name, dims, dtype="f8")
    variable.attrs["units"], variable.attrs["long_name"] = units, long_name
    if values is not None:
        variable[...] = values
    return variable


def _write_text(file: Any, name: str, dims: tuple[str, ...], text: str | Sequence[str], long_name: str) -> None:
    import h5py

    variable = file.create_variable(name, dims, dtype=h5py.string_dtype())
    variable.attrs["long_name"] = long_name
    variable[...] = text if isinstance(text, str) else np.array(text, dtype=object)


# --- reading --------------------------------------------------------------------------------------------------------


class Contents(NamedTuple):
    """What a file holds of a `Result`, as its arguments."""

    system: System
    recording: Recording
    tree: Any
    lost_forces: list[str]
    stored: dict[str, np.ndarray]


def read_result(path: PathLike) -> Contents:
    """See `nx.open_result`."""
    import h5netcdf

    name = _readable(path)
    try:
        with h5netcdf.File(name, "r", phony_dims="sort") as file:
            return _read(file, name)
    except NexDynError:
        raise
    except Exception as error:  # what a damaged file makes HDF5 raise can be anything
        reason = str(error).strip() or type(error).__name__
        raise FileError(f"is damaged or cut short: {reason}", file=name) from error


def _readable(path: PathLike) -> str:
    """The name of a file that begins like netCDF-4."""
    name = checked_path(path)
    try:
        if not Path(name).is_file():
            there = Path(name).exists()
            raise FileError(
                "is a folder or a device" if there else f"no such file{meant(Path(name), SUFFIXES)}", file=name
            )
        with open(name, "rb") as stream:
            start = stream.read(len(HDF5))
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", file=name) from error
    if start.startswith(CLASSIC):
        raise FileError("is a netCDF file of the classic kind; results of NexDyn are netCDF-4", file=name)
    if start != HDF5:
        raise FileError("is empty" if not start else "is no netCDF-4 file, so no result of NexDyn", file=name)
    return name


def _read(file: Any, name: str) -> Contents:
    from nexdyn.tree.loops.closed import spanning_tree
    from nexdyn.tree.loops.tables import loop_tables
    from nexdyn.tree.tree import Tree

    schema = file.attrs.get("nexdyn_schema")
    if schema is None:
        raise FileError("is a netCDF file, but no result of NexDyn (it has no attribute nexdyn_schema)", file=name)
    if int(schema) > SCHEMA:
        source = file.attrs.get("source", "a newer NexDyn")
        raise FileError(
            f"was written by {source} in layout {int(schema)}; this NexDyn {nexdyn_version()} reads up to layout "
            f"{SCHEMA}: upgrade it",
            file=name,
        )
    settings = _settings(file, name)
    system = _read_system(file, name, settings.get("changed", {}))
    t = _numbers(file, name, "time", ())
    if not len(t) or not np.isfinite(t).all() or not (np.diff(t) > 0.0).all():
        raise FileError("must have times that increase, at least one", file=name, element="time")
    _say_lost(file, name)
    _say_changed(system, settings, name)
    looped = settings.get("coordinates") == "loops"
    if looped:
        settings["cut"] = [joint for joint in settings["cut"] if joint in system.joints]
    if not looped and ("multiplier" in file.variables or settings.get("coordinates") == "bodies"):
        return _read_bodies(file, name, system, t)
    tree = spanning_tree(system, settings["cut"]) if looped else Tree(system)
    q = _numbers(file, name, "joint_position", (tree.nq,), len(t))
    v, a = (_numbers(file, name, key, (tree.nv,), len(t)) for key in ("joint_velocity", "joint_acceleration"))
    lost = [str(force) for force in json.loads(_text(file, name, "lost_forces", "[]"))]
    counters = [" ".join(of) for of in spring_counters(tree)]
    recording = Recording(
        t, q, v, a,
        method=_text(file, name, "method"), steps=int(file.attrs.get("steps", 0)), status=_status(file, name),
        message=_text(file, name, "message"), wall_time=float(file.attrs.get("wall_time", 0.0)),
        settings=settings,
        followed=_followed(file, name, counters, len(t)),
        z=np.zeros((0, 0)) if lost else _numbers(file, name, "force_state", (len(state_labels(system)),), len(t)),
        restart=_read_restart(file, name),
    )  # fmt: skip
    if looped:
        dropped = settings.get("dropped", settings["redundant"])
        rows = loop_tables(system, tree.compiled, settings["cut"], dropped=dropped)
        followed = _followed(file, name, [*(" ".join(of) for of in rows.near), *counters], len(t))
        recording = LoopRecording(
            **(vars(recording) | {"followed": followed}),
            multipliers=_labelled(file, name, "multiplier", [str(row) for row in rows.rows], len(t)),
            violation=np.full(len(t), np.nan),
        )  # fmt: skip
    stored = {}
    alone = _alone(file, name, lost)
    if lost:
        joints = sum(arc.joint is not None for arc in tree.unmerged.forest.arcs) + len(settings.get("cut", ()))
        stored = {key: _numbers(file, name, key, (joints, 6), len(t)) for key in OF_JOINTS if key in file.variables}
    if alone:
        warn(
            f"{name} was run with {', '.join(map(repr, alone))}: Python, which no file holds. The system in it lacks "
            f"that and would not go on as it did; reactions are {'those in the file' if stored else 'not known'}",
        )
    return Contents(tree.system, recording, tree, lost, stored)


def _read_bodies(file: Any, name: str, system: System, t: np.ndarray) -> Contents:
    """A result in absolute coordinates."""
    from nexdyn.results.bodies import body_motion
    from nexdyn.spatial.rotations import rotation_matrix

    motion = body_motion(system)
    nb, n = motion.model.nb, len(t)
    shapes = {key: (nb, 4 if key == "orientation" else 3) for key in BODY_STATES[:6]}
    x = {key: _numbers(file, name, key, shape, n) for key, shape in shapes.items()}
    multipliers = _labelled(file, name, "multiplier", [str(row) for row in motion.model.rows], n)
    lost = [str(force) for force in json.loads(_text(file, name, "lost_forces", "[]"))]
    R = rotation_matrix(x["orientation"])
    turned = {key: np.einsum("snji,snj->sni", R, x[key]) for key in ("angular_velocity", "angular_acceleration")}
    recording = BodyRecording(
        t, np.concatenate([x["orientation"], x["position"]], axis=2),
        np.concatenate([turned["angular_velocity"], x["velocity"]], axis=2),
        np.concatenate([turned["angular_acceleration"], x["acceleration"]], axis=2),
        method=_text(file, name, "method"), steps=int(file.attrs.get("steps", 0)), status=_status(file, name),
        message=_text(file, name, "message"), wall_time=float(file.attrs.get("wall_time", 0.0)),
        settings=_settings(file, name), multipliers=multipliers, violation=np.full(n, np.nan),
        z=np.zeros((0, 0)) if lost else _numbers(file, name, "force_state", (len(state_labels(system)),), n),
        followed=_followed(file, name, [" ".join(of) for of in motion.model.followed], n), restart=_read_restart(file, name),
    )  # fmt: skip
    stored = {}
    alone = _alone(file, name, lost)
    if lost:
        stored = {
            key: _labelled(file, name, key, list(system.joints), n, (6,)) for key in OF_JOINTS if key in file.variables
        }
    if alone:
        warn(
            f"{name} was run with {', '.join(map(repr, alone))}: Python, which no file holds. The system in it lacks "
            f"that and would not go on as it did",
        )
    return Contents(system, recording, motion, lost, stored)


def _read_restart(file: Any, name: str) -> Restart | None:
    """The state at the end; None where a file of an older version has none."""
    group = file.groups.get("restart")
    if group is None:
        return None
    missing = [key for key in ("numbers", "layout") if key not in group.variables]
    if missing:
        raise FileError("is missing", file=name, element=f"restart/{missing[0]}")
    numbers = group.variables["numbers"]
    if len(numbers.shape) != 1 or numbers.dtype.kind != "f":
        raise FileError(
            f"has shape {tuple(numbers.shape)} of {numbers.dtype}; floats in a row are needed",
            file=name,
            element="restart",
        )
    if 8 * numbers.shape[0] > LARGEST_COMPRESSION * os.path.getsize(name):
        raise FileError(f"claims {numbers.shape[0]} numbers, more than the file holds", file=name, element="restart")
    text = np.asarray(group.variables["layout"][...]).item()
    return unpacked(np.ascontiguousarray(numbers[...], dtype=float), text, name)


def _followed(file: Any, name: str, labels: Sequence[str], n: int) -> np.ndarray:
    """What was counted (n, …); (0, 0) where a file of an older version holds nothing of it."""
    return _labelled(file, name, "followed", labels, n) if "followed" in file.variables else np.zeros((0, 0))


def _labelled(file: Any, name: str, key: str, labels: Sequence[str], n: int, shape: tuple[int, ...] = ()) -> np.ndarray:
    """The columns of a variable (time, label, …) that `labels` names; others are of what the description could not hold."""
    dim = QUANTITIES[key].dims[0]
    held = list(labels)
    if dim in file.variables:
        held = [x.decode() if isinstance(x, bytes) else str(x) for x in np.asarray(file.variables[dim][...]).tolist()]
    found = _numbers(file, name, key, (len(held), *shape), n) if held else np.zeros((n, 0, *shape))
    missing = [label for label in labels if label not in held]
    if missing:
        raise FileError(f"lacks {', '.join(map(repr, missing[:5]))}", file=name, element=key)
    return found if list(labels) == held else found[:, [held.index(label) for label in labels]]


def _settings(file: Any, name: str) -> dict[str, Any]:
    """The settings of the run; what events and hands have switched, without what the file does not hold."""
    settings: dict[str, Any] = json.loads(_text(file, name, "settings", "{}"))
    lost = {*json.loads(_text(file, name, "lost_forces", "[]")), *_lost(file, name)}
    lost |= {f"event:{event}" for event in lost}
    for change in (settings.get("changed"), *(event.get("change") for event in settings.get("events", []))):
        for state in ("off", "on"):
            if change and state in change:
                change[state] = [x for x in change[state] if x not in lost]
        if change and "switched" in change:
            change["switched"] = [[x, off] for x, off in change["switched"] if x not in lost]
    return settings


def _alone(file: Any, name: str, lost: Sequence[str]) -> list[str]:
    """The forces that the file lacks, without those of contacts and gravities that it lacks: the warning names these."""
    missing = json.loads(_text(file, name, "lost", "{}"))
    groups = [group for section in GROUPS for group in missing.get(section, [])]
    return [force for force in lost if not any(force.startswith(f"{group} ") for group in groups)]


def _say_changed(system: System, settings: Mapping[str, Any], name: str) -> None:
    """NexDynWarning for meshes that have changed since the run: what is computed again would be of others."""
    if settings.get(FILES) and (paths := changed_files(settings, files_of(system))):
        warn(
            f"{name}: the mesh {', '.join(map(repr, paths))} has changed since the run; contacts, reactions and energies are computed "
            f"again from what it holds now"
        )


def _lost(file: Any, name: str) -> list[str]:
    """Joints, drivers, contacts, gravities and events that the file does not hold."""
    return [str(x) for section in json.loads(_text(file, name, "lost", "{}")).values() for x in section]


def _say_lost(file: Any, name: str) -> None:
    """NexDynWarning for joints, drivers, contacts, gravities and events that no file holds."""
    lost = _lost(file, name)
    if lost:
        warnings.warn(
            f"{name} was run with {', '.join(map(repr, lost))}: Python, which no file holds. The system in it lacks that and "
            "would not go on as it did",
            NexDynWarning,
            stacklevel=5,
        )


def _read_system(file: Any, name: str, changed: Mapping[str, Any]) -> System:
    from nexdyn.describe import from_dict

    if "system_description" not in file.variables:
        raise FileError("is missing", file=name, element="system_description")
    try:
        described = json.loads(np.asarray(file.variables["system_description"][...]).item())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NexDynWarning)  # said when the system was made
            system = from_dict(described)
            return changed_by(system, changed) if changed else system
    except (ValueError, RecursionError) as error:  # an InputError is a ValueError
        raise FileError(str(error), file=name, element="system_description") from error


def _numbers(file: Any, name: str, key: str, shape: tuple[int, ...], samples: int | None = None) -> np.ndarray:
    """A variable as float64 (time, *shape); FileError where it is missing or has another shape."""
    if samples is not None and 0 in shape:
        return np.zeros((samples, *shape))
    if key not in file.variables:
        raise FileError("is missing", file=name, element=key)
    variable = file.variables[key]
    found = tuple(variable.shape)
    expected = (found[0] if samples is None and found else samples, *shape)
    if found != expected or variable.dtype.kind != "f":
        raise FileError(f"has shape {found} of {variable.dtype}; floats {expected} are needed", file=name, element=key)
    if 8 * int(np.prod(found)) > LARGEST_COMPRESSION * os.path.getsize(name):
        raise FileError(f"claims the shape {found}, more than the file holds", file=name, element=key)
    return np.ascontiguousarray(variable[...], dtype=float)


def _status(file: Any, name: str) -> str:
    found = _text(file, name, "status", "finished")
    if found not in STATUSES:
        raise FileError(f"is {found!r}; {', '.join(map(repr, STATUSES))} are known", file=name, element="status")
    return found


def _text(file: Any, name: str, key: str, default: str = "") -> str:
    found = file.attrs.get(key, default)
    if not isinstance(found, str):
        raise FileError(f"is {np.asarray(found).tolist()}; text is needed", file=name, element=key)
    return found
