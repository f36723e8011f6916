"""`nx.sensitivity`: how a whole run depends on its initial state and on named parameters.

Runs of constant step in minimal coordinates: the variational equation marched along the run (``variation``). It gives the
tangent (δq, δv, δa) of the motion along a parameter p; what was observed follows by

    ∂x/∂p = (8 (x(+h) − x(−h)) − (x(+2h) − x(−2h))) / 12h + O(h⁴),      x(s) seen in q ∘ s δq, v + s δv, a + s δa at p + s

without a run between. All other runs: the same formula with x(s) of a run at p + s, h = 1e-3 of the parameter's size, four
more runs a parameter; where p − 2h is no valid value (a damping of 0), from p, p + h, … p + 4h, also O(h⁴). With a constant step a
run is a smooth function of its parameters, rounding included to some 1e-13 of x/h, and what is found is the derivative of the
march itself. With an adaptive step the choice of steps adds its tolerance over h. The largest difference from the formulas of second
order on the same values, central, ahead and behind, bounds the error, and is told: where a force has a knee or a limit, the two sides
differ by h, too.

All runs are compared at the same times: where steps are chosen, or start anew at events, the others record at the times of the run
itself. At an event the state jumps and has no derivative: its samples are left out, and those that lie between the events of two runs.

Positions move on the manifold: along `Tree.integrate(q0, h e_j)`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.given import given_names
from nexdyn.batch.alone import runs_beside_others
from nexdyn.batch.simulation import keeps_apart
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError
from nexdyn.front import simulate
from nexdyn.integrate.methods import FixedStep, Method, SemiImplicitEuler, method_of
from nexdyn.model.system import System
from nexdyn.results.recording import BodyRecording
from nexdyn.results.result import Result
from nexdyn.results.samples import alone, in_common, on_one_side_of_events
from nexdyn.simulation.choice import default_method
from nexdyn.simulation.users import left_as_they_were
from nexdyn.simulation.watched import has_events
from nexdyn.studies.outputs import changes_of, scalar, series, with_values
from nexdyn.studies.variation import CENTRAL, Parameter, Tangents, VariationalEquation, starts
from nexdyn.tree.described import described_coordinates
from nexdyn.tree.states import unit_quaternions, vector
from nexdyn.tree.tree import Tree

if TYPE_CHECKING:
    import xarray as xr

Array = np.ndarray
STEP = 1e-3
ONE_SIDED = {0: -25 / 12, 1: 48 / 12, 2: -36 / 12, 3: 16 / 12, 4: -3 / 12}
VARIATIONAL, DIFFERENCES = "variational equation", "differences of runs"
AHEAD, BEHIND = {0: -1.5, 1: 2.0, 2: -0.5}, {0: 1.5, -1: -2.0, -2: 0.5}
SECOND = {True: ({-1: -0.5, 1: 0.5}, AHEAD, BEHIND), False: (AHEAD,)}
"""Weights of second order: where there are runs on both sides, and on one."""


@dataclass(frozen=True)
class Variation:
    """Motions about one value: `runs[k]` is that at value + k h, a run or as the variational equation tells."""

    name: str
    h: float
    runs: Mapping[int, Result]
    by: str = DIFFERENCES

    @property
    def central(self) -> bool:
        """Whether there are runs on both sides."""
        return -1 in self.runs

    def derivative(self, values: Mapping[int, Array]) -> tuple[Array, Array]:
        """∂/∂value of what was found in the runs, and a bound of its error."""
        weights = CENTRAL if self.central else ONE_SIDED
        found = sum(weight * values[k] for k, weight in weights.items()) / self.h
        rough = [sum(w * values[k] for k, w in second.items()) / self.h for second in SECOND[self.central]]
        return np.asarray(found), np.max([np.abs(found - other) for other in rough], axis=0)


@dataclass(frozen=True)
class Sensitivity(metaclass=CheckedCalls):
    """Derivatives of a run. `result` is the run itself, `names` what it was differentiated by, in the order asked for.

    `ways` {name: "variational equation" or "differences of runs"} says how.
    """

    result: Result
    names: list[str]
    variations: Sequence[Variation]

    @property
    def ways(self) -> dict[str, str]:
        """How each derivative was found."""
        return {variation.name: variation.by for variation in self.variations}

    @functools.cached_property
    def _samples(self) -> list[tuple[Array, dict[int, Array]]]:
        """For each variation the rows of `result` and of its runs, at the times that all have."""
        differences = [variation for variation in self.variations if variation.by == DIFFERENCES]
        runs = [self.result, *(run for variation in differences for run in variation.runs.values())]
        rows = on_one_side_of_events(runs, in_common(runs))
        rest = iter(rows[1:])
        return [
            (rows[0], {k: next(rest) if variation.by == DIFFERENCES else rows[0] for k in variation.runs})
            for variation in self.variations
        ]

    def of(self, text: str) -> xr.DataArray:
        """∂ text/∂ each name (time, parameter), in the unit of `text` per unit of the parameter.

        text: a quantity over time, like "joint_position.hinge1", "position.link2.z", "reaction.hinge1.fx" or a measure.
        `error` in its attributes bounds the error of the largest entry of each parameter. Times at which the state jumps are left out.
        """
        import xarray as xr

        unit = series(self.result, text).unit
        columns, errors = [], []
        for variation, (_, rows) in zip(self.variations, self._samples, strict=True):
            found, error = variation.derivative(
                {k: series(run, text).values[rows[k]] for k, run in variation.runs.items()}
            )
            columns.append(found)
            errors.append(float(error.max(initial=0.0)))
        times = self.result.recording.t[self._samples[0][0]]
        attributes = {"long_name": f"derivative of {text}", "units": f"{unit} per unit", "error": errors}
        values = np.stack(columns, axis=1)
        return xr.DataArray(
            values, {"time": times, "parameter": self.names}, ["time", "parameter"], name=text, attrs=attributes
        )

    def __repr__(self) -> str:
        return f"Sensitivity({self.result.system.name!r} by {', '.join(self.names)})"


@small_on_one_thread
def sensitivity(
    system: System,
    t_end: float,
    parameters: Iterable[str] = (),
    *,
    initial_state: bool = False,
    method: Method | None = None,
    scale: Mapping[str, float] | None = None,
    q0: Any = None,
    v0: Any = None,
    **options: Any,
) -> Sensitivity:
    """Derivatives of a run by named parameters and, with `initial_state`, by every degree of freedom of the initial state.

    parameters: paths like "L", "link1.mass", "hinge1.damping", "link1.com[0]", "gravity[2]".
    initial_state: adds "q0.hinge1", … and "v0.hinge1", … of all degrees of freedom, in the order of the tree; for systems without loops.
    scale: {parameter: its typical size}; by default its value's, or 1 where that is 0. Runs differ by 1e-3 of it.
    method, q0, v0 and other options: as for `nx.simulate`; a constant step differentiates best.

    Runs of `RungeKutta4`, `SemiImplicitEuler` and `ExplicitEuler` in minimal coordinates by the variational equation, all others by
    differences of fourth order of whole runs: closed loops and drivers, couplings, absolute coordinates, adaptive steps,
    events, contacts and stops, forces with states, functions in Python, quaternions under semi-implicit Euler. `ways` tells.
    `Sensitivity.of` tells a bound of the error. Raises as `nx.simulate`, and UnknownNameError for a parameter that is none.
    """
    names = given_names(parameters, "parameters")
    if "initial" in options:
        raise InputError("sensitivity starts from q0 and v0, by which it differentiates; give these instead of initial")
    if not names and not initial_state:
        raise InputError("nothing to differentiate by; name parameters, or say initial_state=True")
    if len(set(names)) < len(names):
        raise InputError(f"parameters are {names}; each may be named once")
    sizes = {name: _size(system, name, scale) for name in names}
    given = {"method": method, **options}
    result = _simulated(system, t_end, q0=q0, v0=v0, **given)
    labels = _freedoms(result, Tree(system)) if initial_state else []

    chosen = method_of(method) or default_method(system, options.get("loops"), options.get("dynamics", "aba"))
    given, again = at_the_times_of(result, chosen, given)

    def run(values: Mapping[str, float]) -> Result:
        return _simulated(with_values(system, values), t_end, q0=q0, v0=v0, **given)

    @functools.cache
    def nominal() -> Result:
        return run({}) if again else result

    found: dict[str, Variation] = {}
    if obeys_equation(system, result, method, options):
        found = _along(result, sizes, method, q0, v0, options, labels)
    for name in names:
        if name not in found:
            h = STEP * sizes[name]
            found[name] = vary(name, scalar(system, name), h, lambda x, n=name: run({n: x}), nominal)
    of_state = [f"{which}.{label}" for which in ("q0", "v0") for label in labels]
    if labels and of_state[0] not in found:
        found |= {variation.name: variation for variation in _of_state(system, t_end, labels, result, nominal(), given)}
    return Sensitivity(result, [*names, *of_state], [found[name] for name in [*names, *of_state]])


def obeys_equation(system: System, result: Result, method: Method | None, options: Mapping[str, Any]) -> bool:
    """Whether the variational equation is known along a run."""
    chosen = method or default_method(system)
    joints = [(joint.kind in ("spherical", "free"), joint) for joint in system.joints.values()]
    tree = None if isinstance(result.recording, BodyRecording) else result.tree
    return (
        tree is not None
        and result.status == "finished"
        and isinstance(chosen, FixedStep)
        and set(options) <= {"output_every", "dynamics", "progress"}
        and not keeps_apart(system, chosen, options.get("dynamics", "aba"))
        and runs_beside_others(system)
        and tree.coupling is None
        and not any(force.touches for force in system.forces.values())
        and not (isinstance(chosen, SemiImplicitEuler) and tree.nq > tree.nv)
        and not any(ball and bool(joint.resolved(system.values).friction.any()) for ball, joint in joints)
    )


def _along(
    result: Result, sizes: Mapping[str, float], method: Method | None, q0: Any, v0: Any, options: Mapping[str, Any],
    labels: Sequence[str],
) -> dict[str, Variation]:  # fmt: skip
    """What the variational equation tells; without the parameters that change more than numbers in tables."""
    system, tree = result.system, result.tree
    named: dict[str, Parameter] = {}
    for name, size in sizes.items():
        parameter = _parameter(system, tree, name, STEP * size, q0, v0)
        if parameter is not None:
            named[name] = parameter
    chosen = method or default_method(system)
    assert isinstance(chosen, FixedStep)
    equation = VariationalEquation(result, chosen, options.get("dynamics", "aba"), options.get("output_every", 1))
    tangents = equation.tangents(list(named.values()), bool(labels))
    of_state = [f"{which}.{label}" for which in ("q0", "v0") for label in labels]
    found = {}
    for column, name in enumerate([*of_state, *named]):
        tangent = Tangents(*(x[..., column] for x in tangents))
        h = _within(tangent, result, sizes.get(name, 1.0) if name in named else 1.0)
        weights = named[name].weights if name in named else CENTRAL
        moved = _Beside(result, tangent, h, name if name in named else None, (0, *(k for k in weights if k)))
        found[name] = Variation(name, h, moved, VARIATIONAL)
    return found


def _parameter(system: System, tree: Tree, name: str, h: float, q0: Any, v0: Any) -> Parameter | None:
    """The trees about a parameter's value, and how the initial state moves; None where the tree itself becomes another."""
    try:
        trees = {k: _tree_with(system, tree, name, k * h) for k in (-2, -1)}
        weights = CENTRAL
    except InputError:
        trees, weights = {}, ONE_SIDED
    trees |= {k: _tree_with(system, tree, name, k * h) for k in weights if k > 0}

    def start(tree: Tree) -> tuple[Array, Array]:
        given = () if q0 is None else q0 if isinstance(q0, Mapping) else tree.coordinates
        q = unit_quaternions(tree, vector(tree, q0, "q0", described_coordinates(tree, given)))
        return q, vector(tree, v0, "v0", tree.initial_velocity())

    if any(other.nq != tree.nq or other.nv != tree.nv for other in trees.values()):
        return None
    return Parameter(trees, weights, h, starts(tree, trees, weights, h, start))


def _tree_with(system: System, tree: Tree, name: str, more: float) -> Tree:
    """The tree with a parameter greater by `more`."""
    return tree.with_parameters(changes_of(system, {name: scalar(system, name) + more}))


def _within(tangent: Tangents, result: Result, size: float) -> float:
    """A step of the parameter that moves nothing by more than STEP of its size."""
    r = result.recording
    parts = [1.0 / size, np.abs(tangent.q).max(initial=0.0)]
    for moved, x in ((tangent.v, r.v), (tangent.a, r.a)):
        parts.append(np.abs(moved).max(initial=0.0) / (1.0 + np.abs(x).max(initial=0.0)))
    return STEP / float(max(parts))


class _Beside(Mapping[int, Result]):
    """The motions that lie k h beside that of `result` along a tangent, each made when it is first asked for."""

    def __init__(
        self, result: Result, tangent: Tangents, h: float, parameter: str | None, which: tuple[int, ...]
    ) -> None:
        self._result, self._tangent, self._h, self._parameter = result, tangent, h, parameter
        self._made: dict[int, Result | None] = dict.fromkeys(which) | ({0: result} if 0 in which else {})

    def __len__(self) -> int:
        return len(self._made)

    def __iter__(self) -> Iterator[int]:
        return iter(self._made)

    def __getitem__(self, k: int) -> Result:
        found = self._made[k]
        if found is None:
            found = self._made[k] = self._make(k * self._h)
        return found

    def _make(self, s: float) -> Result:
        tree, tangent, r = self._result.tree, self._tangent, self._result.recording
        if self._parameter is not None:
            tree = _tree_with(self._result.system, tree, self._parameter, s)
        moved = replace(r, q=tree.integrate(r.q, s * tangent.q), v=r.v + s * tangent.v, a=r.a + s * tangent.a)
        return Result(tree.system, moved, tree=tree)


def at_the_times_of(result: Result, method: Method, given: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Options of runs that record at the times of `result`, and whether these are others than its own."""
    recorded = given.get("output_times") is not None
    if recorded or not (has_events(result.system) or getattr(method, "dt", None) is None):
        return dict(given), False
    t = result.recording.t
    others = {name: option for name, option in given.items() if name != "output_every"}
    return others | {"output_times": t[alone(t)]}, True


def vary(name: str, value: float, h: float, run: Any, nominal: Callable[[], Result]) -> Variation:
    """The runs about `value`; `run(x)` is that at x, `nominal()` that at `value`. One-sided where values below are refused."""
    try:
        runs = {k: run(value + k * h) for k in (-2, -1)}
    except InputError:
        runs = {k: run(value + k * h) for k in (3, 4)}
    runs |= {k: run(value + k * h) for k in (1, 2)}
    return Variation(name, h, {0: nominal()} | runs)


def _size(system: System, name: str, scale: Mapping[str, float] | None) -> float:
    """The size of a parameter, above 0."""
    size = abs(scalar(system, name)) if scale is None or name not in scale else float(scale[name])
    if not np.isfinite(size) or size < 0.0:
        raise InputError(f"scale of {name!r} is {size:g}; a number above 0 is needed")
    return size or 1.0


def _freedoms(result: Result, tree: Tree) -> list[str]:
    """Labels of the degrees of freedom of the initial state."""
    system = result.system
    if result.recording.q.shape[1] != tree.nq or result.recording.v.shape[1] != tree.nv:
        raise InputError(
            f"initial_state=True is for systems in minimal coordinates; {system.name!r} ran in absolute coordinates, where an "
            f"initial state is not free. Choose a method of trees, or differentiate by parameters like a joint's q0"
        )
    return list(result.observed.labels.dims["freedom"])


def _simulated(system: System, t_end: float, **given: Any) -> Result:
    """A run whose functions have the states afterwards that they had before."""
    with left_as_they_were(system):
        return simulate(system, t_end, **given)


def _of_state(
    system: System, t_end: float, labels: Sequence[str], result: Result, nominal: Result, given: Mapping[str, Any]
) -> list[Variation]:
    """Runs from neighbouring initial states, a degree of freedom each."""
    tree = result.tree
    q, v = result.recording.q[0], result.recording.v[0]
    found = []
    for j, label in enumerate(labels):
        e = np.zeros(tree.nv)
        e[j] = STEP
        runs = {k: _simulated(system, t_end, q0=tree.integrate(q, k * e), v0=v, **given) for k in CENTRAL}
        found.append(Variation(f"q0.{label}", STEP, {0: nominal} | runs))
    for j, label in enumerate(labels):
        e = np.zeros(tree.nv)
        e[j] = STEP
        runs = {k: _simulated(system, t_end, q0=q, v0=v + k * e, **given) for k in CENTRAL}
        found.append(Variation(f"v0.{label}", STEP, {0: nominal} | runs))
    return found
