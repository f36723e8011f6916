"""Numbers that tell where a joint stands, as sliders move them: its angles and lengths, and for an orientation its rotation vector.

A quaternion q = exp(φ/2) has the numbers φx, φy, φz [rad], each from −π to π.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from nexdyn.model.joint import Joint
from nexdyn.spatial.rotations import exp_quaternion, log_quaternion


class Dial(NamedTuple):
    """One number [rad, m] of where a joint stands."""

    label: str
    joint: str
    unit: str
    lower: float
    upper: float
    value: float
    of: Callable[[np.ndarray], float]
    """The number, from the coordinates (nq,) of the joint."""
    put: Callable[[np.ndarray, float], np.ndarray]
    """These coordinates with another number."""
    k: int
    """Which of the coordinates it is, or of the three numbers of a rotation vector."""
    turns: bool
    """Whether it is one of a rotation vector."""


def dials(joint: Joint, values: Mapping[str, float], q: np.ndarray) -> list[Dial]:
    """The dials of a joint that stands at q (nq,); none of what cannot move."""
    labels = joint.coordinate_labels
    found = []
    if [unit for _, unit in labels[:4]] == ["1"] * 4:
        for k, axis in enumerate("xyz"):
            of = partial(_turn, k)
            found.append(
                Dial(
                    f"{joint.name}: φ{axis}", joint.name, "rad", -np.pi, np.pi, of(q), of, partial(_turned, k), k, True
                )
            )
    for k, (name, unit) in enumerate(labels):
        if unit == "1":
            continue
        label, value = f"{joint.name}.{name}" if name else joint.name, float(q[k])
        lower, upper = ranges(joint, values, value, k - len(labels) + joint.nv)
        if upper > lower:
            shown = min(max(value, lower), upper)
            found.append(
                Dial(label, joint.name, unit, lower, upper, shown, partial(_number, k), partial(_put, k), k, False)
            )
    return found


def neutral(joint: Joint) -> np.ndarray:
    """The coordinates (nq,) of a joint that is not moved."""
    return np.array([float(name == "qw") for name, _ in joint.coordinate_labels])


def ranges(joint: Joint, values: Mapping[str, float], value: float, freedom: int = 0) -> tuple[float, float]:
    """What a slider of a freedom goes over [rad, m]: its limits, else half a turn or half a metre to both sides of 0 and of `value`."""
    resolved = joint.resolved(values)
    reach = 0.5 if joint.velocity_labels[freedom][1] == "m" else np.pi
    lower, upper = float(resolved.lower[freedom]), float(resolved.upper[freedom])
    lower = lower if np.isfinite(lower) else min(value, 0.0) - reach
    upper = upper if np.isfinite(upper) else max(value, 0.0) + reach
    return lower, upper


def _number(k: int, q: np.ndarray) -> float:
    return float(q[k])


def _put(k: int, q: np.ndarray, value: float) -> np.ndarray:
    moved = np.array(q, dtype=float)
    moved[k] = value
    return moved


def _turn(k: int, q: np.ndarray) -> float:
    return float(log_quaternion(q[:4])[k])


def _turned(k: int, q: np.ndarray, value: float) -> np.ndarray:
    phi = np.array(log_quaternion(q[:4]))
    phi[k] = value
    return np.concatenate([exp_quaternion(phi), q[4:]])
