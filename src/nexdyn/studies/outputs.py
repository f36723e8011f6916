"""What a run is asked for, as text: quantities over time, and numbers made of them. Named parameters by path.

joint_position.hinge1   position.link2.z   reaction.hinge1.fx   total_energy   tip   tip.x        (tip: a measure)
final …   initial …   max …   min …   mean …   rms …   peak … (largest magnitude)   range …      one number of such
energy_drift   wall_time   steps                                                                 numbers of the run

L   link1.mass   hinge1.damping   link1.com[0]   gravity[2]   hinge1.q0                          parameters
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.forces.contact_group import DEFAULTS
from nexdyn.model.parameters import floats, number
from nexdyn.model.system import System
from nexdyn.results.quantities import ENERGIES, OF_JOINTS, QUANTITIES, STATES
from nexdyn.results.result import Result

Array = np.ndarray
OF_BODIES = ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration", "orientation")
VALID = (*STATES, *OF_BODIES, *OF_JOINTS, *ENERGIES)
REDUCTIONS: dict[str, Callable[[Array], Any]] = {
    "final": lambda x: x[-1],
    "initial": lambda x: x[0],
    "max": np.max,
    "min": np.min,
    "mean": np.mean,
    "rms": lambda x: np.sqrt(np.mean(x * x)),
    "peak": lambda x: np.max(np.abs(x)),
    "range": np.ptp,
}
OF_RUN: dict[str, tuple[Callable[[Result], float], str]] = {
    "energy_drift": (lambda result: result.energy_drift, "1"),
    "wall_time": (lambda result: result.recording.wall_time, "s"),
    "steps": (lambda result: float(result.recording.steps), "1"),
}


class Series(NamedTuple):
    """Values (N,) over the samples of a result, and their unit."""

    values: Array
    unit: str


def series(result: Result, text: str) -> Series:
    """What `text` names, at all samples. UnknownNameError with the nearest name; InputError where a component is missing."""
    for name, measure in result.system.measures.items():
        if text == name or text.startswith(f"{name}."):
            return _component(result.measure(name), measure.name, text[len(name) + 1 :], text)
    head, _, rest = text.partition(".")
    if head in ENERGIES and not rest:
        return Series(np.asarray(result.observed.energies[head]).copy(), "J")
    if head not in VALID or head in ENERGIES:
        raise unknown("quantity", head, [*VALID, *result.system.measures], plural="quantities")
    if not rest:
        raise InputError(
            f"{text!r} names no {QUANTITIES[head].dims[0]}; write {head}.NAME, with .COMPONENT if it has several"
        )
    of = result.system
    names = {*of.joints, *of.bodies, *of.markers, "ground"}
    element, component = (rest, "") if rest in names or "." not in rest else rest.rsplit(".", 1)
    return _component(getattr(result, head)(element), element, component, text)


def _component(array: Any, element: str, component: str, text: str) -> Series:
    if array.ndim == 1:
        if component:
            raise InputError(f"{text!r}: {element!r} has one number and no component {component!r}")
        return Series(array.to_numpy(), str(array.attrs.get("units", "")))
    dim = array.dims[-1]
    labels = [str(label).removeprefix(f"{element}.") for label in array[dim].to_numpy()]
    if component not in labels:
        if not component:
            raise InputError(f"{text!r} needs a component: one of {', '.join(f'{text}.{label}' for label in labels)}")
        raise unknown("component", component, labels)
    column = labels.index(component)
    unit = str(array["units"].to_numpy()[column]) if "units" in array.coords else str(array.attrs.get("units", ""))
    return Series(array.to_numpy()[:, column], unit)


def figure(result: Result, text: str) -> tuple[float, str]:
    """The number that `text` names and its unit: "max reaction.hinge1.fx", "energy_drift"."""
    if text in OF_RUN:
        of_run, unit = OF_RUN[text]
        return float(of_run(result)), unit
    word, _, rest = text.strip().partition(" ")
    if word not in REDUCTIONS or not rest:
        ways = f"begin with one of {', '.join(REDUCTIONS)}, like 'max {text}'; or ask for {', '.join(OF_RUN)}"
        raise InputError(f"measure {text!r} is no single number; {ways}")
    found = series(result, rest.strip())
    return float(REDUCTIONS[word](found.values)), found.unit


def check_figure(text: object) -> None:
    """InputError for a text that names no single number, as far as it can be told without a run."""
    if not isinstance(text, str):
        raise InputError(f"measure {text!r} is neither text like 'max reaction.hinge1.fx' nor a function of a Result")
    word, _, rest = text.strip().partition(" ")
    if text not in OF_RUN and (word not in REDUCTIONS or not rest.strip()):
        ways = (
            f"begin with one of {', '.join(REDUCTIONS)}, like 'max reaction.hinge1.fx'; or ask for {', '.join(OF_RUN)}"
        )
        raise InputError(f"measure {text!r} is no single number; {ways}")


def check_names(system: System, text: str) -> None:
    """UnknownNameError for a number of a run that names what `system` does not have; `text` has passed `check_figure`."""
    if text in OF_RUN:
        return
    asked = text.strip().partition(" ")[2].strip()
    if any(asked == name or asked.startswith(f"{name}.") for name in system.measures):
        return
    head, _, rest = asked.partition(".")
    if head not in VALID:
        raise unknown("quantity", head, [*VALID, *system.measures], plural="quantities")
    kinds = (
        ("body", "marker")
        if head in OF_BODIES
        else ("joint", "body")
        if head.startswith(("joint_", *OF_JOINTS))
        else ()
    )
    names = [name for kind in kinds for name in system.elements[kind]] + (["ground"] if "marker" in kinds else [])
    if kinds and rest and rest not in names and rest.rpartition(".")[0] not in names:
        raise unknown(" or ".join(kinds), rest.partition(".")[0], names, plural="valid")


# --- parameters -----------------------------------------------------------------------------------------------------

_INDEXED = re.compile(r"(.*)\[(\d+)\]")


def value_of(system: System, path: str) -> Any:
    """The present value of a parameter, attribute or component: a float, or a tuple of floats. UnknownNameError."""
    if match := _INDEXED.fullmatch(path):
        whole, k = value_of(system, match[1]), int(match[2])
        if not isinstance(whole, tuple) or k >= len(whole):
            size = f"{len(whole)} components" if isinstance(whole, tuple) else "one number"
            raise InputError(f"{path!r}: {match[1]!r} has {size}")
        return whole[k]
    if path in system.parameters:
        return system.values[path]
    if path == "gravity":
        return tuple(float(x) for x in system.gravity)
    kind, name, attribute = system.attribute_of(path)
    given = getattr(system.elements[kind][name], attribute)
    if given is None:
        return _unset(system, kind, name, attribute)
    if isinstance(given, tuple):
        if any(isinstance(item, tuple) for item in given):
            return given
        return floats(given, len(given), system.values, path)
    return number(given, system.values, path)


def _unset(system: System, kind: str, name: str, attribute: str) -> Any:
    """What an attribute that is not given stands for: zeros; None where it is something else."""
    if attribute in ("com", "position"):
        return (0.0, 0.0, 0.0)
    if kind == "joint" and attribute in ("q0", "v0"):
        joint = system.joint(name)
        if attribute == "v0" or joint.nq == joint.nv:
            return (0.0,) * joint.nv
    if kind == "contact" and system.contact(name).__dict__["material_a"] is None:
        return DEFAULTS.get(attribute)
    return None


def with_values(system: System, values: Mapping[str, Any]) -> System:
    """`system.with_parameters` that takes components too: {"link1.com[0]": 0.1}."""
    return system.with_parameters(changes_of(system, values))


def changes_of(system: System, values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` as `with_parameters` takes them: components as the whole that they are of."""
    changes: dict[str, Any] = {}
    for path, value in values.items():
        match = _INDEXED.fullmatch(path)
        if match is None:
            changes[path] = value
            continue
        value_of(system, path)  # checks the index
        whole = list(changes.get(match[1], value_of(system, match[1])))
        whole[int(match[2])] = value
        changes[match[1]] = tuple(whole)
    return changes


def scalar(system: System, path: str) -> float:
    """The present value of a parameter that is one number. InputError for others."""
    value = value_of(system, path)
    if isinstance(value, tuple):
        if len(value) == 1:
            return float(value[0])
        raise InputError(f"{path!r} has {len(value)} components; name one, like {path}[0]")
    if not isinstance(value, float):
        raise InputError(f"{path!r} is {value!r} and not a number; give it a value first")
    return value
