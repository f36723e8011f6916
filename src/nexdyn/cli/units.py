"""Numbers with units on the command line: `--dt 1ms`, `--q0 hinge1=90deg`. Without a unit they are SI, as everywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

from nexdyn.errors import InputError

TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
ANGLES = {"rad": 1.0, "deg": math.pi / 180.0, "°": math.pi / 180.0, "rev": 2.0 * math.pi}
LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "µm": 1e-6}
RPM = {"rpm": math.pi / 30.0}
OTHERS = {"kg": 1.0, "g": 1e-3, "km": 1e3, "N": 1.0, "kN": 1e3, "Nm": 1.0, **RPM}
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s.+\-*/()=,\[\]][^\s()=,\[\]]*)\s*")


def seconds(_: Any, tokens: Sequence[Any]) -> float:
    """A time in seconds, for the options of a command."""
    return in_seconds(tokens[0].value)


def in_seconds(text: str) -> float:
    """The time in a text, with a unit or in seconds. ValueError where there is none."""
    try:
        return float(text)
    except ValueError:
        found = _with_unit(text, TIMES)
    if found is None:
        raise ValueError(f"{text!r} is no time; seconds are needed, like 0.001 or 1ms")
    return found


def whole(_: Any, tokens: Sequence[Any]) -> int:
    """A whole number, for the options of a command: 2.5 is none, and is not cut to 2."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        pass
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not found.is_integer():
        raise ValueError(f"{text!r} is no whole number, like 10")
    return int(found)


def refuse_units(text: str, what: str, names: Collection[str]) -> None:
    """InputError for a number that carries a unit, or a name without the sign of multiplication, in the text of a value or of a list."""
    sizes = {unit: size for kind in (TIMES, ANGLES, LENGTHS, OTHERS) for unit, size in kind.items()}
    for part in re.split(r"[,\[\]]", text):
        match = _NUMBER.fullmatch(part)
        if match is None:
            continue
        if match[2] in names:
            raise InputError(f"{what} is {part.strip()!r}; write {match[1]}*{match[2]}")
        if match[2] in sizes:
            raise InputError(
                f"{what} is {part.strip()!r}; write {float(match[1]) * sizes[match[2]]:.12g}, in SI units (m, kg, s, rad)"
            )


def in_si(text: str, what: str, of: Sequence[str] = (), rate: bool = False) -> str:
    """The text of a value or of a list of values, with numbers in SI for those that carry a unit of a joint's coordinate
    or, with `rate`, of its rate. of: the units of the joint's coordinates, "rad", "m" or "1"; where none are given any will do.
    InputError for another unit, naming `what`."""
    parts = text.split(",") if not {"[", "("} & {*text} else [text]
    return ",".join(_part(part, of[i] if i < len(of) else "", what, rate) for i, part in enumerate(parts))


def _part(text: str, of: str, what: str, rate: bool) -> str:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    units = _units_of(of, rate)
    if match[2] not in units:
        raise InputError(
            f"{what} is {text.strip()!r}; "
            + (f"the units known here are {', '.join(units)}" if units else "a number without a unit is needed")
        )
    return repr(float(match[1]) * units[match[2]])


def _units_of(of: str, rate: bool) -> dict[str, float]:
    """The units of what is an angle, "rad", a length, "m", or, without one, either."""
    kinds = {"rad": [ANGLES], "m": [LENGTHS], "": [ANGLES, LENGTHS]}.get(of, [])
    units = {unit: size for kind in kinds for unit, size in kind.items()}
    if not rate:
        return units
    return {f"{unit}/s": size for unit, size in units.items()} | (RPM if ANGLES in kinds else {})


def _with_unit(text: str, units: dict[str, float]) -> float | None:
    match = _NUMBER.fullmatch(text)
    return float(match[1]) * units[match[2]] if match is not None and match[2] in units else None
