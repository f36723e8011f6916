"""`nx.compare`: one description under several methods, and by how much they differ.

    difference of a method from the first = max over times and bodies (joints) of |x − x₁|

Reactions are compared in the components that every choice of redundant rows has in common.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nexdyn.absolute.model import AbsoluteModel
from nexdyn.analysis.assemble import assemble
from nexdyn.analysis.report import AssemblyReport
from nexdyn.analysis.simulate import simulation_of
from nexdyn.errors import InputError
from nexdyn.integrate.methods import Method
from nexdyn.model.system import System
from nexdyn.results.result import Result

COLUMNS = {
    "position": "m", "orientation": "rad", "velocity": "m/s", "angular_velocity": "rad/s", "force": "N", "moment": "N m",
    "energy": "J", "violation": "", "wall_time": "s", "steps": "",
}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """Runs of one system under several methods.

    methods: their names. times (N,) [s]. results: one a method. differences: {quantity: (methods,)}, largest over times of
    position [m], orientation [rad], velocity [m/s], angular_velocity [rad/s] of bodies, force [N] and moment [N m] of
    reactions in unique components, total energy [J], each from those of the first method; violation: the largest |C|;
    wall_time [s]; steps.
    """

    methods: list[str]
    times: np.ndarray
    results: list[Result]
    differences: dict[str, np.ndarray]

    def __str__(self) -> str:
        head = ["", *(f"{name} [{unit}]" if unit else name for name, unit in COLUMNS.items())]
        rows = [
            [method, *(f"{self.differences[name][k]:.3g}" for name in COLUMNS)] for k, method in enumerate(self.methods)
        ]
        widths = [max(len(row[c]) for row in [head, *rows]) for c in range(len(head))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(x.rjust(w) for x, w in zip(row[1:], widths[1:], strict=True))])
            for row in [head, *rows]
        ]
        return "\n".join([f"differences from {self.methods[0]} at {len(self.times)} times", *lines])

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data (for JSON)."""
        found = {name: values.tolist() for name, values in self.differences.items()}
        return {"methods": self.methods, "times": self.times.tolist(), "differences": found}


def compare(
    system: System, methods: Sequence[Method], t_end: float = 1.0, *, times: Any = None, q0: Any = None, v0: Any = None
) -> Comparison:
    """Run `system` under each of `methods` and compare what they find with what the first one finds.

    times: when to compare [s]; by default eleven times from 0 to t_end. q0, v0: {joint: coordinates}, {joint: velocities}.
    Raises InputError for no methods or a method that does not suit the system; SolveError of a run.
    """
    methods = list(methods)
    if not methods or not all(isinstance(method, Method) for method in methods):
        raise InputError(f"methods is {methods!r}; a list of methods is needed, like [nx.RungeKutta4(1e-3), nx.HHT()]")
    at = np.linspace(0.0, t_end, 11) if times is None else np.atleast_1d(np.asarray(times, dtype=float))
    if at.ndim != 1 or not at.size or not (np.diff(at) > 0.0).all() or at[0] < 0.0:
        raise InputError(f"times is {times!r}; times that increase from 0 s on are needed")
    report = assemble(system, q0=q0, v0=v0)
    results, walls = [], []
    for method in methods:
        began = time.perf_counter()
        results.append(_run(system, method, at, q0, v0))
        walls.append(time.perf_counter() - began)
    seen = [_seen(result, report, at) for result in results]
    first = seen[0]
    differences = {
        name: np.array([float(np.abs(x[name] - first[name]).max(initial=0.0)) for x in seen])
        for name in ("position", "velocity", "angular_velocity", "force", "moment", "energy")
    }
    differences["orientation"] = np.array([_turn(x["orientation"], first["orientation"]) for x in seen])
    differences["violation"] = np.array([float(x["violation"].max(initial=0.0)) for x in seen])
    differences["wall_time"] = np.array(walls)
    differences["steps"] = np.array([result.recording.steps for result in results], dtype=float)
    return Comparison([repr(method) for method in methods], at, results, differences)


def _run(system: System, method: Method, times: np.ndarray, q0: Any, v0: Any) -> Result:
    """The motion with a sample at each of the times."""
    simulation = simulation_of(system, method, q0=q0, v0=v0, output_every=2**40)
    result = None
    for t in times:
        result = simulation.run(float(t))
    assert result is not None
    return result


def _seen(result: Result, report: AssemblyReport, times: np.ndarray) -> dict[str, np.ndarray]:
    """What is compared, at the times."""
    observed, system = result.observed, result.system
    t = result.recording.t
    rows = np.array([int(np.abs(t - x).argmin()) for x in times])
    if not np.allclose(t[rows], times, rtol=0, atol=1e-9 * max(1.0, float(times[-1]))):
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


def _turn(q: np.ndarray, p: np.ndarray) -> float:
    """The largest angle between orientations."""
    along = np.abs(np.einsum("...k,...k->...", q, p))
    apart = np.minimum(np.linalg.norm(q - p, axis=-1), np.linalg.norm(q + p, axis=-1))
    return float(
        np.where(along > 0.9, 4.0 * np.arcsin(0.5 * np.clip(apart, 0, 2)), 2.0 * np.arccos(np.clip(along, 0, 1))).max(
            initial=0.0
        )
    )
