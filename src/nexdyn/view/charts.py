"""What a plot shows, as numbers with names and units; how it is drawn is another page (plots.py).

energy                       kinetic, gravitational, elastic, total; below it what the total gained or lost, where
                             nothing but gravity and springs does work
joint_position …             a panel a unit: coordinates and degrees of freedom, of all joints or of those named
position, velocity, …        x, y, z of one body; of several a panel an axis
reaction, transmitted        force and moment: components of one joint, magnitudes |f|, |m| of several
measures                     a panel a unit
phase                        v over q, a panel a degree of freedom; v is dq/dt there, so joints with quaternions have none

The numbers come from `Result.observed`, not as labelled arrays: xarray takes most of a second to import, which a page would wait for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.results.quantities import OF_JOINTS, QUANTITIES
from nexdyn.tree.core.compile import joint_class

if TYPE_CHECKING:
    from nexdyn.results.result import Result

MOST = 10
"""Lines in one panel; of more, those that move most are drawn and the panel says so."""
MOST_PHASES = 9
"""Phase portraits that are drawn when no joint is named."""

JOINT_STATES = {"joint_position": "q", "joint_velocity": "v", "joint_acceleration": "dv/dt"}
OF_BODIES = ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
KINDS = ("energy", *JOINT_STATES, *OF_BODIES, *OF_JOINTS, "measures", "phase")
"""What can be plotted."""
DEFAULT = ("energy", "joint_position")

_QUANTITIES = {
    "rad": "angle", "m": "length", "rad/s": "angular velocity", "m/s": "velocity", "rad/s^2": "angular acceleration",
    "m/s^2": "acceleration", "N": "force", "N m": "moment", "J": "energy", "W": "power",
}  # fmt: skip
_MEANINGS = {"rad": "angle", "m": "length", "N": "force", "N m": "moment", "J": "energy", "1": "quaternion"}


class Line(NamedTuple):
    """A curve: its label, and y over x, both (N,)."""

    label: str
    x: np.ndarray
    y: np.ndarray


class Panel(NamedTuple):
    """One pair of axes. `over_time`: x is time; otherwise y is drawn over x from a marked start."""

    title: str
    x: str
    y: str
    lines: list[Line]
    over_time: bool = True


def panels(result: Result, what: Sequence[str] = DEFAULT, of: Sequence[str] = ()) -> list[Panel]:
    """The panels that show `what` (names of `KINDS`) of the result, of the bodies, joints or measures `of` (all).

    UnknownNameError with the nearest name for what nobody carries; InputError where there is nothing to draw.
    """
    found: list[Panel] = []
    for name in what or DEFAULT:
        if name not in KINDS:
            raise unknown("plot", name, KINDS)
        found += _BUILDERS[name](result, name, list(of))
    return found


# --- energy ---------------------------------------------------------------------------------------------------------


def _energy(result: Result, _: str, of: list[str]) -> list[Panel]:
    t, E = result.recording.t, result.observed.energies
    lines = [Line(name, t, E[f"{name}_energy"]) for name in ("kinetic", "gravitational", "elastic", "total")]
    lines = [line for line in lines if line.label != "elastic" or line.y.any()]
    found = [_panel("energy", "energy [J]", lines)]
    if not result.not_conservative:
        total = E["total_energy"]
        found.append(
            _panel("what the total energy gained", "E − E₀ [J]", [Line("total − initial", t, total - total[0])])
        )
    return found


# --- joints ---------------------------------------------------------------------------------------------------------


def _joint_states(result: Result, name: str, of: list[str]) -> list[Panel]:
    """A panel a unit: those of radians, of metres and of quaternions do not share an axis."""
    labelled = [column for joint in of or [""] for column in _columns(result, name, joint)]
    if not labelled:
        raise InputError(f"{result.system.name!r} has no joint that moves, so no {name} to plot")
    return _by_unit(name, result.recording.t, labelled)


def _by_unit(name: str, t: np.ndarray, labelled: list[tuple[str, np.ndarray, str]]) -> list[Panel]:
    units, symbol = dict.fromkeys(unit for _, _, unit in labelled), JOINT_STATES[name]
    return [
        _panel(
            QUANTITIES[name].long_name if len(units) == 1 else f"{QUANTITIES[name].long_name}: {_meaning(unit)}",
            f"{symbol} [{pretty(unit)}]",
            [Line(label, t, y) for label, y, u in labelled if u == unit],
        )
        for unit in units
    ]


def _columns(result: Result, name: str, joint: str = "") -> list[tuple[str, np.ndarray, str]]:
    """Label, values and unit of each coordinate or freedom, of one joint or of all. Errors as of `Result.joint_position`."""
    observed = result.observed
    if joint:
        return observed.joint_columns(name, joint)
    values, labels = observed.take(name), observed.labels
    own = zip(labels.dims[QUANTITIES[name].dims[0]], labels.units[name], strict=True)
    return [(label, values[:, k], unit) for k, (label, unit) in enumerate(own)]


def _moving(result: Result) -> list[str]:
    return list(result.observed.tree.joint_names)


def _wrenches(result: Result, name: str, of: list[str]) -> list[Panel]:
    labels = result.observed.labels.dims
    joints, components = list(labels["joint"]), list(labels["component"])
    if not joints:
        raise InputError(f"{result.system.name!r} has no joint, so no {name} to plot")
    chosen = _named(of, "joint", joints)
    array = result.observed.take(name)[..., [components.index(axis) for axis in WRENCH]]
    return _of_wrenches(name, result.recording.t, {joint: array[:, joints.index(joint)] for joint in chosen})


def _of_wrenches(name: str, t: np.ndarray, wrenches: dict[str, np.ndarray]) -> list[Panel]:
    """Of wrenches (N, 6) by joint: the components of one, or the magnitudes of several."""
    found = []
    for part, first, unit in (("force", 0, "N"), ("moment", 3, "N m")):
        title, columns = f"{name} {part}", slice(first, first + 3)
        if len(wrenches) == 1:
            ((joint, wrench),) = wrenches.items()
            lines = [Line(axis, t, y) for axis, y in zip(WRENCH[columns], wrench[:, columns].T, strict=True)]
            title += f" of joint {joint!r} on its child, axes of the joint"
        else:
            norms = {joint: np.linalg.norm(wrench[:, columns], axis=1) for joint, wrench in wrenches.items()}
            lines = [Line(joint, t, norm) for joint, norm in norms.items()]
            title += ", magnitude"
        found.append(_panel(title, f"{part} [{pretty(unit)}]", lines))
    return found


def _phase(result: Result, _: str, of: list[str]) -> list[Panel]:
    """v over q of each degree of freedom whose velocity is the rate of its coordinate."""
    joints = _named(of, "joint", _moving(result))
    found = []
    for joint in joints:
        page = joint_class(result.system.joints.get(joint))
        if page.coordinate_labels != page.velocity_labels:
            if of:
                raise InputError(
                    f"joint {joint!r} is {page.kind}: its velocities are not the rates of its coordinates, a quaternion's; "
                    f"a phase portrait is of joints like {', '.join(_with_rates(result)) or 'none in this system'}"
                )
            continue
        q, v = (_columns(result, name, joint) for name in ("joint_position", "joint_velocity"))
        for (label, position, unit), (_, velocity, per) in zip(q, v, strict=True):
            axes = f"q [{pretty(unit)}]", f"v [{pretty(per)}]"
            found.append(Panel(f"phase of {label}, • start", *axes, [Line(label, position, velocity)], over_time=False))
    if not found:
        raise InputError(
            f"{result.system.name!r} has no joint whose velocity is the rate of its coordinate: no phase to plot"
        )
    if not of and len(found) > MOST_PHASES:
        widest = np.argsort([-np.ptp(panel.lines[0].y) for panel in found], kind="stable")[:MOST_PHASES]
        found = [found[k]._replace(title=f"{found[k].title} (of {len(found)})") for k in sorted(widest.tolist())]
    return found


def _with_rates(result: Result) -> list[str]:
    pages = {joint: joint_class(result.system.joints.get(joint)) for joint in _moving(result)}
    return [joint for joint, page in pages.items() if page.coordinate_labels == page.velocity_labels][:5]


# --- bodies and measures --------------------------------------------------------------------------------------------


def _of_bodies(result: Result, name: str, of: list[str]) -> list[Panel]:
    observed = result.observed
    if of:
        curves = {body: observed.at_frame(name, body) for body in of}
    else:
        everything = observed.take(name)
        curves = {body: everything[:, k] for k, body in enumerate(observed.labels.dims["body"])}
    if not curves:
        raise InputError(f"{result.system.name!r} has no body, so no {name} to plot")
    return _of_vectors(name, result.recording.t, curves)


def _of_vectors(name: str, t: np.ndarray, curves: dict[str, np.ndarray]) -> list[Panel]:
    """Of vectors (N, 3) by body: x, y, z of one, or a panel an axis of several."""
    unit = pretty(QUANTITIES[name].units)
    words, _, axes = QUANTITIES[name].long_name.partition(",")
    if len(curves) == 1:
        ((body, x),) = curves.items()
        lines = [Line(axis, t, x[:, k]) for k, axis in enumerate("xyz")]
        of_it = words.replace("the body's origin", f"the origin of {body}").replace("the body", body, 1)
        return [_panel(f"{of_it}{',' * bool(axes)}{axes}", f"{name.replace('_', ' ')} [{unit}]", lines)]
    return [
        _panel(f"{words}: {axis}", f"{axis} [{unit}]", [Line(body, t, x[:, k]) for body, x in curves.items()])
        for k, axis in enumerate("xyz")
    ]


def _measures(result: Result, _: str, of: list[str]) -> list[Panel]:
    names = _named(of, "measure", result.system.measures)
    if not names:
        raise InputError(f"{result.system.name!r} has no measures to plot")
    return _of_measures([line for name in names for line in _measured(result, name)])


def _measured(result: Result, name: str) -> list[tuple[Line, str]]:
    """The curves of a measure, each with its unit."""
    t, values, measure = result.recording.t, result.observed.measured(name), result.system.measures[name]
    if not measure.axes:
        return [(Line(name, t, values), measure.unit)]
    return [(Line(f"{name}.{axis}", t, y), measure.unit) for axis, y in zip(measure.axes, values.T, strict=True)]


def _of_measures(lines: list[tuple[Line, str]]) -> list[Panel]:
    return [
        _panel(
            f"measures in {pretty(unit)}",
            f"{_QUANTITIES.get(unit, 'value')} [{pretty(unit)}]",
            [line for line, of in lines if of == unit],
        )
        for unit in dict.fromkeys(unit for _, unit in lines)
    ]


# --- one by one -------------------------------------------------------------------------------------------------------


def one_by_one(result: Result, name: str) -> dict[str, list[Panel]]:
    """The panels of each body, joint or measure, by its name: those of `panels(result, [name], [of])`, of all at a stroke.

    Where there is nothing of the kind, none; errors of the numbers are raised.
    """
    observed, t = result.observed, result.recording.t
    if name in OF_BODIES:
        array = observed.take(name)
        return {body: _of_vectors(name, t, {body: array[:, k]}) for k, body in enumerate(observed.labels.dims["body"])}
    if name in OF_JOINTS:
        joints, components = list(observed.labels.dims["joint"]), list(observed.labels.dims["component"])
        array = observed.take(name)[..., [components.index(axis) for axis in WRENCH]] if joints else np.zeros((0, 0, 6))
        return {joint: _of_wrenches(name, t, {joint: array[:, k]}) for k, joint in enumerate(joints)}
    if name in JOINT_STATES:
        found = {}
        for joint in _moving(result):
            with contextlib.suppress(InputError):  # a fixed joint has none
                found[joint] = _by_unit(name, t, _columns(result, name, joint))
        return found
    if name == "measures":
        return {measure: _of_measures(_measured(result, measure)) for measure in result.system.measures}
    return {}


# --- all of them ----------------------------------------------------------------------------------------------------


def _panel(title: str, y: str, lines: list[Line]) -> Panel:
    """A panel over time with the lines that move most."""
    if len(lines) == 1 and lines[0].label not in title:
        title = f"{title}: {lines[0].label}"
    if len(lines) > MOST:
        largest = np.argsort([-np.ptp(line.y) for line in lines], kind="stable")[:MOST]
        title = f"{title} ({MOST} of {len(lines)}, those that move most)"
        lines = [lines[k] for k in sorted(largest.tolist())]
    return Panel(title, "time [s]", y, lines)


def _named(of: list[str], kind: str, valid: Iterable[str]) -> list[str]:
    """The names that are asked for; all valid ones where none is."""
    valid = list(valid)
    for name in of:
        if name not in valid:
            raise unknown(kind, name, valid)
    return of or valid


def _meaning(unit: str) -> str:
    base = unit.removesuffix("/s^2").removesuffix("/s")
    return _MEANINGS.get(base, pretty(unit))


def pretty(unit: str) -> str:
    """A unit as print has it: N·m, m/s²."""
    return unit.replace("N m", "N·m").replace("kg m", "kg·m").replace("^2", "²")


_BUILDERS: dict[str, Callable[[Result, str, list[str]], list[Panel]]] = {
    "energy": _energy,
    **dict.fromkeys(JOINT_STATES, _joint_states),
    **dict.fromkeys(OF_BODIES, _of_bodies),
    **dict.fromkeys(OF_JOINTS, _wrenches),
    "measures": _measures,
    "phase": _phase,
}
