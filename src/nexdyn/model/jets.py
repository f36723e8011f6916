"""Exact derivatives of an expression: every operation carries (u, u̇, ü), the value and its two time derivatives.

    f(u)˙ = f′ u̇,   f(u)¨ = f″ u̇² + f′ ü

What depends on the time is an array (n,); what does not is a float with derivatives 0, and stays out of f′, which may
be infinite there (the root of a constant 0).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Jet = tuple[Any, Any, Any]
"""A value with its first and second time derivative."""


def _is_constant(*jets: Jet) -> bool:
    """Whether no time went into them: what depends on the time is an array."""
    return all(isinstance(d, float) and d == 0.0 for jet in jets for d in jet[1:])


def _chain(f: Callable[[Any], Jet]) -> Callable[[Jet], Jet]:
    """f(u) for a jet u, from f that gives f, f′, f″ at a value."""

    def of_jet(u: Jet) -> Jet:
        y, dy, ddy = f(u[0])
        return (y, 0.0, 0.0) if _is_constant(u) else (y, dy * u[1], ddy * u[1] ** 2 + dy * u[2])

    return of_jet


def _tan(u: Any) -> Jet:
    y = np.tan(u)
    return y, 1.0 + y**2, 2.0 * y * (1.0 + y**2)


def _asin(u: Any) -> Jet:
    d = 1.0 / np.sqrt(1.0 - u**2)
    return np.arcsin(u), d, u * d**3


def _acos(u: Any) -> Jet:
    _, d, dd = _asin(u)
    return np.arccos(u), -d, -dd


def _atan(u: Any) -> Jet:
    d = 1.0 / (1.0 + u**2)
    return np.arctan(u), d, -2.0 * u * d**2


def _tanh(u: Any) -> Jet:
    y = np.tanh(u)
    return y, 1.0 - y**2, -2.0 * y * (1.0 - y**2)


def _sqrt(u: Any) -> Jet:
    y = np.sqrt(u)
    return y, 0.5 / y, -0.25 / y**3


def _exp(u: Any) -> Jet:
    y = np.exp(u)
    return y, y, y


UNARY: dict[str, Callable[[Jet], Jet]] = {
    "neg": lambda u: (-u[0], -u[1], -u[2]),
    "sin": _chain(lambda u: (np.sin(u), np.cos(u), -np.sin(u))),
    "cos": _chain(lambda u: (np.cos(u), -np.sin(u), -np.cos(u))),
    "tan": _chain(_tan),
    "asin": _chain(_asin),
    "acos": _chain(_acos),
    "atan": _chain(_atan),
    "tanh": _chain(_tanh),
    "sqrt": _chain(_sqrt),
    "exp": _chain(_exp),
    "log": _chain(lambda u: (np.log(u), 1.0 / u, -1.0 / u**2)),
    "abs": _chain(lambda u: (np.abs(u), np.sign(u), 0.0)),
}


def _product(u: Jet, v: Jet) -> Jet:
    return u[0] * v[0], u[1] * v[0] + u[0] * v[1], u[2] * v[0] + 2.0 * u[1] * v[1] + u[0] * v[2]


def _quotient(u: Jet, v: Jet) -> Jet:
    # y = u/v:  ẏ v = u̇ − y v̇,  ÿ v = ü − 2 ẏ v̇ − y v̈
    y = u[0] / v[0]
    dy = (u[1] - y * v[1]) / v[0]
    return y, dy, (u[2] - 2.0 * dy * v[1] - y * v[2]) / v[0]


def _power(u: Jet, v: Jet) -> Jet:
    if _is_constant(v):
        n = v[0]
        d = n * u[0] ** (n - 1.0) if n != 0.0 else 0.0
        dd = n * (n - 1.0) * u[0] ** (n - 2.0) if n not in (0.0, 1.0) else 0.0
        return _chain(lambda x: (x**n, d, dd))(u)
    # y = exp(l), l = v log u
    y, log = u[0] ** v[0], UNARY["log"](u)
    _, dl, ddl = _product(v, log)
    return y, y * dl, y * (ddl + dl**2)


def _atan2(u: Jet, v: Jet) -> Jet:
    # ẏ r² = u̇ v − u v̇,  r² = u² + v²
    r2 = u[0] ** 2 + v[0] ** 2
    if _is_constant(u, v):
        return np.arctan2(u[0], v[0]), 0.0, 0.0
    dy = (u[1] * v[0] - u[0] * v[1]) / r2
    return np.arctan2(u[0], v[0]), dy, (u[2] * v[0] - u[0] * v[2] - 2.0 * dy * (u[0] * u[1] + v[0] * v[1])) / r2


def _pick(first: Callable[[Any, Any], Any]) -> Callable[[Jet, Jet], Jet]:
    def of_jets(u: Jet, v: Jet) -> Jet:
        if _is_constant(u, v):
            return (u[0] if first(u[0], v[0]) else v[0]), 0.0, 0.0
        chosen = first(u[0], v[0])
        return np.where(chosen, u[0], v[0]), np.where(chosen, u[1], v[1]), np.where(chosen, u[2], v[2])

    return of_jets


BINARY: dict[str, Callable[[Jet, Jet], Jet]] = {
    "+": lambda u, v: (u[0] + v[0], u[1] + v[1], u[2] + v[2]),
    "-": lambda u, v: (u[0] - v[0], u[1] - v[1], u[2] - v[2]),
    "*": _product,
    "/": _quotient,
    "**": _power,
    "atan2": _atan2,
    "min": _pick(lambda u, v: u <= v),
    "max": _pick(lambda u, v: u >= v),
}
