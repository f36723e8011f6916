"""`nx.stability`: eigenvalues over a parameter, and where modes get stable or unstable."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize

from nexdyn.assembly.assemble import assemble
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.report import AssemblyReport
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, is_one_of, unknown
from nexdyn.model.system import System
from nexdyn.statics.equilibrium import equilibrium
from nexdyn.statics.linearize import linearize
from nexdyn.statics.modes import in_order
from nexdyn.statics.reduced import ReducedSystem

NEUTRAL = 1e-5
"""Eigenvalues below this part of the largest count as 0, where limits of stability are looked for."""
UNDAMPED = 1e-9
"""Damping ratio below which an oscillation counts as undamped there."""


@dataclass(frozen=True)
class StabilityLimit:
    """A value of the parameter at which an eigenvalue crosses the imaginary axis, and whether the mode gets stable above."""

    value: float
    eigenvalue: complex
    gets_stable: bool

    def __str__(self) -> str:
        kind = (
            f"oscillation of {abs(self.eigenvalue.imag) / (2.0 * math.pi):.4g} Hz"
            if self.eigenvalue.imag
            else "real mode"
        )
        return f"{self.value:.12g}: {kind} gets {'stable' if self.gets_stable else 'unstable'}"


@dataclass
class StabilitySweep(metaclass=CheckedCalls):
    """Eigenvalues (values, n) over a parameter, and where they cross the imaginary axis."""

    parameter: str
    values: np.ndarray
    eigenvalues: np.ndarray
    limits: list[StabilityLimit]

    def __str__(self) -> str:
        lines = [f"{self.parameter} from {self.values[0]:g} to {self.values[-1]:g}:"]
        for x, row in zip(self.values, self.eigenvalues, strict=True):
            none = 1e-9 * np.abs(row).max(initial=0.0)
            parts = [f"{y.real:+.5g}" + (f" ± {y.imag:.5g}i" if y.imag > none else "") for y in row if y.imag >= -none]
            lines.append(f"  {x:10.6g}  {'  '.join(parts)}")
        return "\n".join([*lines, *(f"  at {limit}" for limit in self.limits)])

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "parameter": self.parameter, "values": self.values.tolist(),
            "eigenvalues": [[[float(x.real), float(x.imag)] for x in row] for row in self.eigenvalues],
            "limits": [
                {"value": x.value, "eigenvalue": [x.eigenvalue.real, x.eigenvalue.imag], "gets_stable": x.gets_stable}
                for x in self.limits
            ],
        }  # fmt: skip


@small_on_one_thread
def stability(
    system: System, parameter: str, values: Sequence[float], *, rest: bool = False, **options: Any
) -> StabilitySweep:  # fmt: skip
    """Linearize `system` over `values` of a parameter and find where modes get stable or unstable, to rounding.

    values: increasing; a crossing and its return between two of them are not seen. rest: about the equilibrium that
    `nx.equilibrium` finds under each of them, nearest to the described pose. options: as for `nx.linearize`, without `at`.
    Eigenvalues that are 0 throughout, of directions in which other steady motions lie, like another speed, do not count.
    """
    if not is_one_of(parameter, system.parameters):
        raise unknown("parameter", parameter, list(system.parameters))
    at = np.asarray(list(values), dtype=float)
    if len(at) < 2 or not (np.diff(at) > 0.0).all() or not np.isfinite(at).all():
        raise InputError(f"values of {parameter!r} must be two or more that increase")
    start = {name: options[name] for name in ("t", "q0", "v0") if name in options}

    def reference(x: float) -> AssemblyReport:
        there = system.with_parameters({parameter: float(x)})
        if not rest:
            return assemble(there, **start)
        return equilibrium(there, nearest=True, **{name: start[name] for name in ("t", "q0") if name in start}).report

    others = {name: value for name, value in options.items() if name not in start}
    report = reference(float(at[0]))
    first = linearize(report.model.system, report, **({"ignore": True} | others))

    def matrix(x: float) -> np.ndarray:
        return first.at_another(ReducedSystem(reference(x), like=first.reduced))

    found = [first.A, *(matrix(x) for x in at[1:].tolist())]
    spectra = [scipy.linalg.eigvals(A) for A in found]
    zeros = min(int((np.abs(values) < _neutral(values, first.rate)).sum()) for values in spectra)
    limits: list[StabilityLimit] = []
    undamped = [_undamped(values, first.rate) for values in spectra]
    # a pair that is on the axis at one of the values alone crosses between its neighbours
    last = len(at) - 1
    clear = [k for k in range(len(at)) if k in (0, last) or undamped[k] <= max(undamped[k - 1], undamped[k + 1])]
    for k, n in itertools.pairwise(clear):
        limits += _crossings(matrix, float(at[k]), float(at[n]), found[k], found[n], zeros, first.rate)
    return StabilitySweep(parameter, at, np.array([in_order(scipy.linalg.eigvals(A)) for A in found]), limits)


def _neutral(values: np.ndarray, rate: float) -> float:
    """Below which eigenvalues are 0 but for rounding, which a double one is to its root. rate: the mechanism's own [1/s]."""
    return NEUTRAL * max(rate, float(np.abs(values).max(initial=0.0)))


def _undamped(values: np.ndarray, rate: float) -> int:
    """How many oscillate without damping or growth."""
    swings = values.imag > _neutral(values, rate)
    return int((np.abs(values.real[swings]) <= UNDAMPED * np.abs(values[swings])).sum())


def _unstable(values: np.ndarray, rate: float) -> int:
    return int((values.real > _neutral(values, rate)).sum())


def _crossings(
    matrix: Callable[[float], np.ndarray], a: float, b: float, A: np.ndarray, B: np.ndarray, zeros: int, rate: float
) -> list[StabilityLimit]:
    """Between a and b. Of det(λ − A) = λ^zeros (… + c λ⁰), c changes its sign where a real mode crosses."""
    found = []
    start, end = scipy.linalg.eigvals(A), scipy.linalg.eigvals(B)

    def last(A: np.ndarray) -> float:
        return float(np.real(np.poly(A)[len(A) - zeros]))

    if last(A) * last(B) < 0.0:
        x = scipy.optimize.brentq(lambda x: last(matrix(x)), a, b, xtol=1e-13 * (b - a), rtol=1e-14)
        found.append(StabilityLimit(float(x), 0.0 + 0.0j, _unstable(end, rate) < _unstable(start, rate)))
    pairs = [values[values.imag > _neutral(values, rate)] for values in (start, end)]
    if len(pairs[0]) == len(pairs[1]):
        cost = np.abs(pairs[0][:, None] - pairs[1][None, :])
        for i, j in zip(*scipy.optimize.linear_sum_assignment(cost), strict=True):
            one, other = complex(pairs[0][i]), complex(pairs[1][j])
            clear = min(abs(one.real) / abs(one), abs(other.real) / abs(other)) > UNDAMPED
            if clear and one.real * other.real < 0.0:
                found.append(_crossing_of_pair(matrix, a, b, one, other))
    return sorted(found, key=lambda limit: limit.value)


def _crossing_of_pair(
    matrix: Callable[[float], np.ndarray], a: float, b: float, one: complex, other: complex
) -> StabilityLimit:
    def nearest(x: float) -> complex:
        guess = one + (other - one) * (x - a) / (b - a)
        values = scipy.linalg.eigvals(matrix(x))
        values = values[values.imag > 0.0]
        return complex(values[int(np.abs(values - guess).argmin())])

    x = scipy.optimize.brentq(lambda x: nearest(x).real, a, b, xtol=1e-13 * (b - a), rtol=1e-14)
    return StabilityLimit(float(x), complex(0.0, nearest(x).imag), one.real > 0.0)
