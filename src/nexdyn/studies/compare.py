"""`nx.compare`: one description under several methods, and by how much they differ.

    difference of a method from the first = max over times and bodies (joints) of |x − x₁|
    how far a body is apart = max(|p − p₁| / L, angle between its attitudes),  L the size of the mechanism

Reactions are compared in the components that every choice of redundant rows has in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.assembly.assemble import assemble, mechanism_length
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.report import AssemblyReport
from nexdyn.assembly.stopwatch import Stopwatch
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, SolveError
from nexdyn.integrate.given import given_numbers
from nexdyn.integrate.method import positive
from nexdyn.integrate.methods import Method, called, method_of
from nexdyn.model.system import System
from nexdyn.results.atomic import PathLike
from nexdyn.results.result import Result
from nexdyn.shown import drawn
from nexdyn.simulation.choice import simulation_of
from nexdyn.simulation.users import left_as_they_were

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = {
    "position": "m", "orientation": "rad", "velocity": "m/s", "angular_velocity": "rad/s", "force": "N", "moment": "N m",
    "energy": "J", "violation": "", "wall_time": "s", "steps": "",
}  # fmt: skip


DIFFERENCES = ("position", "velocity", "angular_velocity", "force", "moment", "energy")
APART = 1e-6
"""How far apart a body must be for methods to have parted, of the size of the mechanism or in rad."""


class Parting(NamedTuple):
    """Where a method leaves the first one: the first compared time [s], the body farthest off then, and by how much."""

    t: float
    body: str
    apart: float


@dataclass(frozen=True)
class Comparison(metaclass=CheckedCalls):
    """Runs of one system under several methods.

    methods: their names. times (N,) [s]. results: one a method. differences: {quantity: (methods,)}, largest over times of
    position [m], orientation [rad], velocity [m/s], angular_velocity [rad/s] of bodies, force [N] and moment [N m] of
    reactions in unique components, total energy [J], each from those of the first method; violation: the largest |C|;
    wall_time [s]; steps. series: {quantity: (methods, N)}, the same at each time. apart (methods, N, bodies): how far each
    body is from where the first method has it, of the mechanism's size or in rad.
    """

    methods: list[str]
    times: np.ndarray
    results: list[Result]
    differences: dict[str, np.ndarray]
    series: dict[str, np.ndarray]
    apart: np.ndarray
    bodies: list[str]

    def __str__(self) -> str:
        return self.text()

    def text(self, tolerance: float = APART, width: int | None = None) -> str:
        """The differences as a table, and where methods part by more than `tolerance`.

        width: where a line for each method would be longer, there is one for each quantity, methods are numbers, and as many stand
        side by side as have room."""
        head = ["", *(f"{name} [{unit}]" if unit else name for name, unit in COLUMNS.items())]
        numbers = [[f"{self.differences[name][k]:.3g}" for name in COLUMNS] for k in range(len(self.methods))]
        lines = aligned([head, *([method, *row] for method, row in zip(self.methods, numbers, strict=True))])
        if width is not None and max(map(len, lines)) > width:
            names = [str(k) for k in range(1, len(self.methods) + 1)]
            lines = [f"{k}  {method}" for k, method in zip(names, self.methods, strict=True)]
            longest = 2 + max(len(x) for row in numbers for x in row)
            most = max(1, (width - max(map(len, head))) // longest)
            for k in range(0, len(names), most):
                columns = zip(head[1:], *numbers[k : k + most], strict=True)
                lines += aligned([["", *names[k : k + most]], *([name, *row] for name, *row in columns)])
        told = [
            f"{method} parts from {self.methods[0]} by more than {tolerance:g} at t = {where.t:g} s, body {where.body!r} first"
            for method, where in zip(self.methods, self.parted(tolerance), strict=True)
            if where is not None
        ]
        return "\n".join([f"differences from {self.methods[0]} at {len(self.times)} times", *lines, *told])

    def parted(self, tolerance: float = APART) -> list[Parting | None]:
        """Of each method the first compared time at which a body is farther than `tolerance` apart; None if there is none.

        tolerance: of the mechanism's size for positions, in rad for attitudes.
        """
        found: list[Parting | None] = []
        for apart in self.apart:
            at = np.flatnonzero(~(apart.max(axis=1, initial=0.0) <= tolerance))
            if at.size:
                n = int(at[0])
                i = int(np.nan_to_num(apart[n], nan=np.inf).argmax())
                found.append(Parting(float(self.times[n]), self.bodies[i], float(apart[n, i])))
            else:
                found.append(None)
        return found

    def plot(self, path: PathLike | None = None) -> Figure:
        """The differences over time as a matplotlib Figure; written to `path` (.png, .svg, .pdf) if one is given."""
        figure: Figure = drawn("differences", self, path)
        return figure

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data (for JSON)."""
        parted = [None if where is None else where._asdict() for where in self.parted()]
        return {
            "methods": self.methods,
            "times": self.times.tolist(),
            "differences": {name: values.tolist() for name, values in self.differences.items()},
            "series": {name: values.tolist() for name, values in self.series.items()},
            "parted": parted,
        }


def aligned(rows: list[list[str]]) -> list[str]:
    """Lines of a table, its first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(x.rjust(w) for x, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]


@small_on_one_thread
def compare(
    system: System,
    methods: Sequence[Method | str],
    t_end: float = 1.0,
    *,
    output_times: Any = None,
    q0: Any = None,
    v0: Any = None,
) -> Comparison:
    """Run `system` under each of `methods` and compare what they find with what the first one finds.

    output_times: when to compare [s]; by default 51 times from 0 to t_end. q0, v0: {joint: coordinates}, {joint: velocities}.
    Raises InputError for no methods or a method that does not suit the system; SolveError of a run, with its method.
    """
    chosen = given_methods(methods)
    at = compared_times(t_end, output_times, 51)
    report = assemble(system, q0=q0, v0=v0)
    results, walls = [], []
    for method in chosen:
        watch = Stopwatch()
        try:
            results.append(run_at(system, method, at, q0, v0))
        except SolveError as error:
            message = f"{called(method)}: {error}"
            raise SolveError(message, time=error.time, where=error.where, result=error.result) from error
        walls.append(watch.seconds)
    seen = [seen_at(result, report, at) for result in results]
    first = seen[0]
    series = {name: np.array([_largest(x[name] - first[name]) for x in seen]) for name in DIFFERENCES}
    series["orientation"] = np.array(
        [_turn(x["orientation"], first["orientation"]).max(axis=1, initial=0.0) for x in seen]
    )
    series["violation"] = np.array([x["violation"] for x in seen])
    apart = np.array([bodies_apart(x, first, mechanism_length(report.model)) for x in seen])
    differences = {name: values.max(axis=1, initial=0.0) for name, values in series.items()}
    differences["wall_time"] = np.array(walls)
    differences["steps"] = np.array([result.recording.steps for result in results], dtype=float)
    names = [called(method) for method in chosen]
    return Comparison(names, at, results, differences, series, apart, list(system.bodies))


def given_methods(methods: Any) -> list[Method]:
    """The methods to compare, also by their names; InputError for anything else."""
    try:
        given = [] if isinstance(methods, str) else list(methods)
    except TypeError:
        given = []
    if not given or not all(isinstance(method, Method | str | type) for method in given):
        needed = 'a list of methods is needed, like [nx.RungeKutta4(1e-3), nx.HHT()] or ["rk4", "hht"]'
        raise InputError(f"methods is {methods!r}; {needed}")
    return [method for one in given if (method := method_of(one)) is not None]


def compared_times(t_end: float, times: Any, count: int) -> np.ndarray:
    """When motions are compared (N,) [s], `count` of them by default; InputError for times that do not increase from 0 on."""
    if times is None:
        return np.linspace(0.0, positive(t_end, "t_end"), count)
    try:
        at = np.atleast_1d(given_numbers(times))
    except (TypeError, ValueError):
        at = np.zeros(0)
    if at.ndim != 1 or not at.size or not np.isfinite(at).all() or not (np.diff(at) > 0.0).all() or at[0] < 0.0:
        raise InputError(f"output_times is {times!r}; times that increase from 0 s on are needed")
    return at


def bodies_apart(x: dict[str, np.ndarray], first: dict[str, np.ndarray], length: float) -> np.ndarray:
    """How far bodies are from where the first motion has them (N, bodies): of `length`, or in rad."""
    away = np.linalg.norm(x["position"] - first["position"], axis=-1)
    return np.asarray(np.maximum(away / length, _turn(x["orientation"], first["orientation"])))


def _largest(x: np.ndarray) -> np.ndarray:
    """The largest magnitude at each time (N,)."""
    return np.asarray(np.abs(x).reshape(len(x), -1).max(axis=1, initial=0.0))


def run_at(system: System, method: Method, times: np.ndarray, q0: Any, v0: Any) -> Result:
    """The motion with a sample at each of the times."""
    result = None
    with left_as_they_were(system):
        # what a step that is too long does is what is compared
        simulation = simulation_of(system, method, q0=q0, v0=v0, output_every=2**40, on_gap="accept")
        for t in times:
            result = simulation.run(float(t))
    assert result is not None
    return result


def seen_at(result: Result, report: AssemblyReport, times: np.ndarray) -> dict[str, np.ndarray]:
    """What is compared, at the times."""
    observed, system = result.observed, result.system
    t = result.recording.t
    rows = np.array([int(np.abs(t - x).argmin()) for x in times])
    if not np.allclose(t[rows], times, rtol=0, atol=1e-9 * float(np.abs(times).max(initial=0.0))):
        raise InputError(f"{result!r} has no samples at {times}")
    order = [observed.labels.dims["body"].index(name) for name in system.bodies]
    names = ("position", "orientation", "velocity", "angular_velocity")
    found: dict[str, np.ndarray] = {name: observed.take(name)[rows][:, order] for name in names}
    joints = [observed.labels.dims["joint"].index(name) for name in system.joints]
    reaction = observed.take("reaction")[rows][:, joints] if joints else np.zeros((len(rows), 0, 6))
    unique = np.array([report.reaction(name).unique for name in system.joints]).reshape(-1, 6)
    reaction = np.where(unique, reaction, 0.0)
    found["force"], found["moment"] = reaction[..., :3], reaction[..., 3:]
    found["energy"] = observed.energies["total_energy"][rows]
    found["violation"] = _violation(report.model, found, times)
    return found


def _violation(model: AbsoluteModel, found: dict[str, np.ndarray], times: np.ndarray) -> np.ndarray:
    """The largest |C| at each time."""
    out = np.zeros(len(times))
    q = model.q.copy()
    for n, t in enumerate(times):
        q[1:, :4], q[1:, 4:] = found["orientation"][n], found["position"][n]
        out[n] = np.abs(model.residual(q, float(t))).max(initial=0.0)
    return out


def _turn(q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The angles between orientations (N, bodies) [rad]."""
    along = np.abs(np.einsum("...k,...k->...", q, p))
    apart = np.minimum(np.linalg.norm(q - p, axis=-1), np.linalg.norm(q + p, axis=-1))
    return np.where(along > 0.9, 4.0 * np.arcsin(0.5 * np.clip(apart, 0, 2)), 2.0 * np.arccos(np.clip(along, 0, 1)))
