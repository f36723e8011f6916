"""NAME=VALUE on the command line: `--set L=0.3`, `--set gravity=0,0,-1.62`, `--q0 hinge1=pi/2`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from nexdyn.cli.units import in_si, refuse_units
from nexdyn.errors import FileError, InputError

if TYPE_CHECKING:
    from nexdyn.model.joint import Joint
    from nexdyn.model.system import System

_EXAMPLES = {"--set": "L=0.5", "--q0": "hinge1=0.5", "--v0": "hinge1=2.0"}
CONSTANTS = ("pi", "e")


def changes(given: Sequence[str], system: System) -> dict[str, Any]:
    """What `--set` changes, for `system.with_parameters`: numbers, lists and expressions.

    A word alone is an expression if it names a parameter, else text, like the `frame` of a force.
    """
    words = {*system.parameters, *CONSTANTS}
    found = {}
    for name, text in _pairs("--set", given):
        what = f"--set {name}"
        joint, _, attribute = name.rpartition(".")
        if joint in system.joints and attribute in ("q0", "v0"):
            text = in_si(text, what, _units(system.joints[joint], attribute), rate=attribute == "v0")
        refuse_units(text, what, words)
        found[name] = _value(text, what, words)
    return found


def initial(option: str, given: Sequence[str], system: System) -> dict[str, list[float]]:
    """What `--q0` or `--v0` gives: the numbers of each joint, which may be expressions of the system's parameters."""
    from nexdyn.model.parameters import number

    found: dict[str, list[float]] = {}
    for name, text in _pairs(option, given):
        what = f"{option} {name}"
        joint = system.joints.get(name)
        of = () if joint is None else _units(joint, option.removeprefix("--"))
        value = _value(in_si(text, what, of, rate=option == "--v0"), what)
        items = value if isinstance(value, list) else [value]
        found[name] = [number(item, system.values, what) for item in items]
    return found


def _units(joint: Joint, attribute: str) -> list[str]:
    """The units of the coordinates of a joint that its `q0` gives, or of those whose rates its `v0` gives."""
    return [unit for _, unit in (joint.coordinate_labels if attribute == "q0" else joint.velocity_labels)]


def _pairs(option: str, given: Sequence[str]) -> list[tuple[str, str]]:
    """Names and texts. An expression may start with another "=": `I==m*L**2/12`."""
    found = []
    for text in given:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise InputError(f"{option} {text!r} is not of the form NAME=VALUE, like {option} {_EXAMPLES[option]}")
        found.append((name.strip(), value.strip()))
    return found


def _value(text: str, what: str, words: Collection[str] | None = None) -> Any:
    """A number, list or expression as the Python face takes it. `[[-1, 1], [0, 2]]` and `-1, 1` are lists.

    words: what alone is an expression; None for all.
    """
    from nexdyn.io.yaml_positions import read_yaml

    listed = f"[{text}]" if "," in text and not {"[", "("} & {*text} else text
    try:
        data, problems, _ = read_yaml(listed)
    except FileError:
        data, problems = None, []
    if data is None or problems or isinstance(data, dict):
        raise InputError(f"{what} is {text!r}; a number, an expression like 2*pi, or a list like 0,0,-9.81 is needed")
    return _with_expressions(data, words)


def _with_expressions(data: Any, words: Collection[str] | None) -> Any:
    if isinstance(data, list):
        return [_with_expressions(item, words) for item in data]
    is_expression = isinstance(data, str) and (words is None or data in words or not data.isidentifier())
    return "=" + data.removeprefix("=") if is_expression else data
