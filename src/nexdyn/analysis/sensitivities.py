"""`nx.sensitivity`: how a whole run depends on its initial state and on named parameters.

    ∂x/∂p = (8 (x(p + h) − x(p − h)) − (x(p + 2h) − x(p − 2h))) / 12h + O(h⁴),    h = 1e-3 of the parameter's size

by four more runs a parameter; where p − 2h is no valid value (a damping of 0), from p, p + h, … p + 4h, also O(h⁴). With a
constant step a run is a smooth function of its parameters, rounding included to some 1e-13 of x/h, and what is found is the
derivative of the march itself. With an adaptive step the choice of steps adds its tolerance over h. The difference from the
formula of second order on the same runs bounds the error, and is told.

Positions move on the manifold: along `Tree.integrate(q0, h e_j)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.analysis.outputs import scalar, series, with_values
from nexdyn.analysis.simulate import simulate
from nexdyn.errors import InputError
from nexdyn.integrate.methods import Method
from nexdyn.model.system import System
from nexdyn.results.result import Result
from nexdyn.tree.tree import Tree

if TYPE_CHECKING:
    import xarray as xr

Array = np.ndarray
STEP = 1e-3
CENTRAL = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}
ONE_SIDED = {0: -25 / 12, 1: 48 / 12, 2: -36 / 12, 3: 16 / 12, 4: -3 / 12}
SECOND = {True: {-1: -0.5, 1: 0.5}, False: {0: -1.5, 1: 2.0, 2: -0.5}}
"""Weights of second order: central, and one-sided."""


@dataclass(frozen=True)
class Variation:
    """Runs about one value: `runs[k]` is that at value + k h."""

    name: str
    h: float
    runs: Mapping[int, Result]

    @property
    def central(self) -> bool:
        """Whether there are runs on both sides."""
        return -1 in self.runs

    def derivative(self, values: Mapping[int, Array]) -> tuple[Array, Array]:
        """∂/∂value of what was found in the runs, and a bound of its error."""
        weights = CENTRAL if self.central else ONE_SIDED
        found = sum(weight * values[k] for k, weight in weights.items()) / self.h
        rough = sum(weight * values[k] for k, weight in SECOND[self.central].items()) / self.h
        return np.asarray(found), np.abs(found - rough)


@dataclass(frozen=True)
class Sensitivity:
    """Derivatives of a run. `result` is the run itself, `names` what it was differentiated by, in the order asked for."""

    result: Result
    names: list[str]
    variations: Sequence[Variation]

    def of(self, text: str) -> xr.DataArray:
        """∂ text/∂ each name (time, parameter), in the unit of `text` per unit of the parameter.

        text: a quantity over time, like "joint_position.hinge1", "position.link2.z", "reaction.hinge1.fx" or a measure.
        `error` in its attributes bounds the error of the largest entry of each parameter.
        """
        import xarray as xr

        nominal = series(self.result, text)
        columns, errors = [], []
        for variation in self.variations:
            values = {k: nominal.values if k == 0 else series(run, text).values for k, run in variation.runs.items()}
            found, error = variation.derivative(values)
            columns.append(found)
            errors.append(float(error.max(initial=0.0)))
        coordinates = {"time": self.result.recording.t.copy(), "parameter": self.names}
        attributes = {"long_name": f"derivative of {text}", "units": f"{nominal.unit} per unit", "error": errors}
        return xr.DataArray(np.stack(columns, axis=1), coordinates, ["time", "parameter"], name=text, attrs=attributes)

    def __repr__(self) -> str:
        return f"Sensitivity({self.result.system.name!r} by {', '.join(self.names)})"


def sensitivity(
    system: System,
    t_end: float,
    parameters: Iterable[str] = (),
    *,
    initial: bool = False,
    method: Method | None = None,
    scale: Mapping[str, float] | None = None,
    q0: Any = None,
    v0: Any = None,
    **options: Any,
) -> Sensitivity:
    """Derivatives of a run by named parameters and, with `initial`, by every freedom of the initial state.

    parameters: paths like "L", "link1.mass", "hinge1.damping", "link1.com[0]", "gravity[2]".
    initial: adds "q0.hinge1", … and "v0.hinge1", … of all freedoms, in the order of the tree; for systems without loops.
    scale: {parameter: its typical size}; by default its value's, or 1 where that is 0. Runs differ by 1e-3 of it.
    method, q0, v0 and other options: as for `nx.simulate`; a constant step differentiates best.

    By differences of fourth order of whole runs; `Sensitivity.of` tells a bound of their error. Raises as `nx.simulate`, and
    UnknownNameError for a parameter that is none.
    """
    names = [parameters] if isinstance(parameters, str) else list(parameters)
    if not names and not initial:
        raise InputError("nothing to differentiate by; name parameters, or say initial=True")
    if len(set(names)) < len(names):
        raise InputError(f"parameters are {names}; each may be named once")
    sizes = {name: _size(system, name, scale) for name in names}
    given = {"method": method, **options}
    result = simulate(system, t_end, q0=q0, v0=v0, **given)

    def run(values: Mapping[str, float]) -> Result:
        return simulate(with_values(system, values), t_end, q0=q0, v0=v0, **given)

    variations = [
        vary(name, scalar(system, name), STEP * sizes[name], result, lambda x, n=name: run({n: x})) for name in names
    ]
    if initial:
        variations += _of_state(system, t_end, q0, v0, result, given)
    return Sensitivity(result, [v.name for v in variations], variations)


def vary(name: str, value: float, h: float, nominal: Result, run: Any) -> Variation:
    """The runs about `value`; `run(x)` is that at x. One-sided where values below are refused."""
    try:
        runs = {k: run(value + k * h) for k in (-2, -1)}
    except InputError:
        return Variation(name, h, {0: nominal} | {k: run(value + k * h) for k in (1, 2, 3, 4)})
    return Variation(name, h, runs | {k: run(value + k * h) for k in (1, 2)})


def _size(system: System, name: str, scale: Mapping[str, float] | None) -> float:
    """The size of a parameter, above 0."""
    size = abs(scalar(system, name)) if scale is None or name not in scale else float(scale[name])
    if not np.isfinite(size) or size < 0.0:
        raise InputError(f"scale of {name!r} is {size:g}; a number above 0 is needed")
    return size or 1.0


def _of_state(
    system: System, t_end: float, q0: Any, v0: Any, result: Result, given: Mapping[str, Any]
) -> list[Variation]:
    """Runs from neighbouring initial states, a freedom each."""
    tree = Tree(system)
    labels = result.observed.labels.dims["freedom"]
    if result.recording.q.shape[1] != tree.nq or result.recording.v.shape[1] != tree.nv:
        raise InputError(
            f"initial=True is for systems in minimal coordinates; {system.name!r} ran in absolute coordinates, where an "
            f"initial state is not free. Choose a method of trees, or differentiate by parameters like a joint's q0"
        )
    q, v = result.recording.q[0], result.recording.v[0]
    found = []
    for j, label in enumerate(labels):
        e = np.zeros(tree.nv)
        e[j] = STEP
        runs = {k: simulate(system, t_end, q0=tree.integrate(q, k * e), v0=v, **given) for k in CENTRAL}
        found.append(Variation(f"q0.{label}", STEP, runs))
    for j, label in enumerate(labels):
        e = np.zeros(tree.nv)
        e[j] = STEP
        runs = {k: simulate(system, t_end, q0=q, v0=v + k * e, **given) for k in CENTRAL}
        found.append(Variation(f"v0.{label}", STEP, runs))
    return found
