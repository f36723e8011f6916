"""`nx.agreement`: the step, or the tolerance, at which a method finds the same motion as a finer one.

    h_k = h / 2^k (constant steps),  rtol_k = rtol / 10^k (chosen steps);   d_k = how far any body is apart at t_end or before
    order ≈ log₂(d_{k-1} / d_k), of the last two that are above rounding

The motion that is meant is that of the first method; it should be the most precise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nexdyn.assembly.assemble import assemble, mechanism_length
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, SolveError
from nexdyn.integrate.method import positive
from nexdyn.integrate.methods import Method
from nexdyn.model.system import System
from nexdyn.studies.compare import APART, bodies_apart, compared_times, given_methods, run_at, seen_at

MOST = 12
"""Refinements that are tried."""
ROUNDING = 1e-11


@dataclass(frozen=True)
class Agreement(metaclass=CheckedCalls):
    """How a method comes near as it is refined.

    method: as given. knob: "dt" [s] or "rtol". tried: its values, coarse first; apart: how far the bodies are from where the
    finest motion has them, of the mechanism's size or in rad (nan where the run failed). agrees: the method that is near
    enough, or None. order: measured, for constant steps, or nan.
    """

    method: Method
    knob: str
    tried: list[float]
    apart: list[float]
    agrees: Method | None
    order: float

    def __str__(self) -> str:
        name = type(self.method).__name__
        if self.agrees is None:
            return f"{name} does not agree: {self.apart[-1]:.1e} apart at {self.knob} = {self.tried[-1]:.3g}"
        order = f", order {self.order:.1f}" if np.isfinite(self.order) else ""
        return f"{name} agrees at {self.knob} = {self.tried[-1]:.3g}: {self.apart[-1]:.1e} apart{order}"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data (for JSON)."""
        return {
            "method": repr(self.method), "knob": self.knob, "tried": self.tried, "apart": self.apart,
            "agrees": None if self.agrees is None else repr(self.agrees), "order": self.order,
        }  # fmt: skip


@small_on_one_thread
def agreement(
    system: System,
    methods: Sequence[Method | str],
    t_end: float = 1.0,
    *,
    tolerance: float = APART,
    output_times: Any = None,
    q0: Any = None,
    v0: Any = None,
) -> list[Agreement]:
    """Refine each of `methods` but the first until its bodies are within `tolerance` of those of the first.

    tolerance: of the mechanism's size for positions, in rad for attitudes. Other arguments as for `nx.compare`.
    Raises InputError for fewer than two methods; a run that fails counts as far apart.
    """
    chosen = given_methods(methods)
    if len(chosen) < 2:
        raise InputError(f"methods is {methods!r}; a precise method and at least one to refine are needed")
    tolerance = positive(tolerance, "tolerance")
    at, report = compared_times(t_end, output_times, 11), assemble(system, q0=q0, v0=v0)
    length = mechanism_length(report.model)
    precise = seen_at(run_at(system, chosen[0], at, q0, v0), report, at)

    def apart(method: Method) -> float:
        """How far any body is from where the precise method has it; nan where the run fails."""
        try:
            found = seen_at(run_at(system, method, at, q0, v0), report, at)
        except SolveError:
            return np.nan
        return float(bodies_apart(found, precise, length).max(initial=0.0))

    return [_refined(method, tolerance, apart) for method in chosen[1:]]


def _refined(method: Method, tolerance: float, distance: Callable[[Method], float]) -> Agreement:
    knob = "dt" if getattr(method, "dt", None) is not None else "rtol"
    value, factor = float(getattr(method, knob)), 0.5 if knob == "dt" else 0.1
    tried: list[float] = []
    apart: list[float] = []
    for _ in range(MOST + 1):
        if knob == "rtol" and value < 1e-13:
            break
        finer = replace(method, **{knob: value})  # type: ignore[type-var]
        d = distance(finer)
        tried.append(value)
        apart.append(d)
        if d <= tolerance:
            return Agreement(method, knob, tried, apart, finer, _order(knob, apart))
        value *= factor
    return Agreement(method, knob, tried, apart, None, _order(knob, apart))


def _order(knob: str, apart: list[float]) -> float:
    if knob != "dt" or len(apart) < 2 or not apart[-1] > ROUNDING:
        return np.nan
    return float(np.log2(apart[-2] / apart[-1]))
