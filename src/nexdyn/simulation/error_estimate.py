"""`nx.simulate(…, error_estimate=True)`: a second run, with half the step or a tenth of the tolerance, measures the error of the first.

    e ≈ |x − x'| 2ᵖ/(2ᵖ − 1)  (steps of dt and dt/2, order p),      e ≈ |x − x'| 10/(10 − 2)  (rtol and rtol/10, at worst)

The two part exponentially where their distance grew a hundredfold within the second half of some time: a power tᵏ grows by 2ᵏ, which
is less up to k = 6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from nexdyn.errors import InputError, SolveError
from nexdyn.integrate.methods import ExplicitEuler, ImplicitEuler, Method, SemiImplicitEuler, called
from nexdyn.results.error_estimate import ErrorEstimate
from nexdyn.results.result import Result
from nexdyn.results.samples import in_common
from nexdyn.simulation.users import Afresh

MOST_TIMES = 500
"""Times at which a motion of chosen steps is compared."""
PARTED, HUNDREDFOLD = 0.03, 100.0
"""Distance, in rad and parts of the motion's size, beyond which nothing is known if it grows exponentially; and by how much it then
grows within the second half of some time."""


def with_error_estimate(
    build: Callable[..., Any], system: Any, method: Method | None, run: dict[str, Any], options: dict[str, Any]
) -> Result:
    """The motion with its errors: `build(system, method, **options)` makes a simulation, `run` is for its `run`."""
    functions = Afresh(system)
    first = build(system, method, **options)
    try:
        result: Result = first.run(**run)
        after = functions.users.told()
    finally:
        functions.end()
    if result.status != "finished":
        return result
    finer, factor = finer_method(first.method)
    options, again = dict(options), {**run, "progress": None}
    steps = getattr(first.method, "dt", None) is not None
    if steps and not result.events:
        options["output_every"] = 2 * options["output_every"]
    elif run["output_times"] is None:  # behind an event the steps of the two are not on one grid
        again["output_times"] = _some(between_events(result), None if steps else MOST_TIMES)
    try:
        second: Result = build(system, finer, **options).run(**again)
    except SolveError as error:
        error.args = (f"the second run, {called(finer)}, which is to measure the error of the first: {error.args[0]}",)
        raise
    finally:
        functions.users.load(after)  # as the run that is returned left them
    if second.status == "finished":
        result.error_estimate = measured(result, second, called(finer), factor)
    return result


def finer_method(method: Method) -> tuple[Method, float]:
    """The method with half the step, or a tenth of the tolerance, and the error of `method` beside their distance."""
    dt = getattr(method, "dt", None)
    if dt is not None:
        first_order = isinstance(method, ExplicitEuler | SemiImplicitEuler) or (
            isinstance(method, ImplicitEuler) and not method.bdf2
        )
        return replace(method, dt=0.5 * dt), 2.0 if first_order else 4.0 / 3.0  # type: ignore[type-var]
    given: Any = method
    tighter = {name: 0.1 * getattr(given, name) for name in ("rtol", "atol") if hasattr(given, name)}
    try:
        return replace(given, **tighter), 1.25
    except InputError:  # rounding decides there
        return replace(given, **{name: 100.0 * x for name, x in tighter.items()}), 1.0


def between_events(result: Result) -> np.ndarray:
    """The times of a result but those of its events, at which the state jumps, a little sooner in one run than in the other."""
    t = result.recording.t
    near = 1e-9 * (t[-1] - t[0])
    apart = np.ones(len(t), dtype=bool)
    for event in result.events:
        apart &= np.abs(t - event["time"]) > near
    return np.asarray(t[apart])


def _some(t: np.ndarray, most: int | None) -> np.ndarray:
    """At most so many of the times, evenly chosen, the last one included."""
    return t if most is None else np.asarray(t[np.unique(np.linspace(0, len(t) - 1, min(len(t), most)).astype(int))])


def measured(result: Result, second: Result, name: str, factor: float) -> ErrorEstimate:
    """The errors of `result`, `factor` times its distance from the second run, at the times that both recorded."""
    import xarray as xr

    t = result.recording.t
    rows = in_common([result, second])
    mine = rows[0]
    if not len(mine):
        raise InputError("the two runs have no times in common; give output_times")

    def away(name: str) -> tuple[Any, np.ndarray]:
        a, b = (getattr(r, name)() for r in (result, second))
        return a, a.values[rows[0]] - b.values[rows[1]]

    position, dp = away("position")
    _, dv = away("velocity")
    q, p = (r.orientation().values[k] for r, k in zip((result, second), rows, strict=True))
    turned = (
        2.0
        * np.arcsin(np.clip(np.minimum(np.linalg.norm(q - p, axis=-1), np.linalg.norm(q + p, axis=-1)) / 2, 0, 1))
        * 2.0
    )
    moved = np.linalg.norm(dp, axis=-1)
    until = parted(t[mine], moved, turned, position.values[mine])
    known = np.ones(len(mine)) if until is None else np.where(t[mine] < until, 1.0, np.nan)
    time, body = t[mine], list(position["body"].values)
    found = {
        "position": (("time", "body"), moved, "m"),
        "velocity": (("time", "body"), np.linalg.norm(dv, axis=-1), "m/s"),
        "orientation": (("time", "body"), turned, "rad"),
    }
    errors = {
        what: (dims, factor * known[:, None] * x, {"units": unit, "long_name": f"error of {what}"})
        for what, (dims, x, unit) in found.items()
    }
    coords: dict[str, Any] = {"time": time, "body": body}
    for what in ("joint_position", "joint_velocity"):
        a, dx = away(what)
        axis = str(a.dims[1])
        labels = [str(label) for label in a[axis].values]
        if what == "joint_position":
            dx = _of_either_sign(labels, a.values[rows[0]], dx)
        errors[what] = ((("time", axis)), factor * known[:, None] * np.abs(dx), {"long_name": f"error of {what}"})
        coords[axis] = labels
    return ErrorEstimate(name, xr.Dataset(errors, coords), until)


def _of_either_sign(labels: list[str], x: np.ndarray, dx: np.ndarray) -> np.ndarray:
    """Differences of coordinates, those of unit quaternions of the nearer of their two signs."""
    dx = dx.copy()
    for k in range(len(labels) - 3):
        if [label.rpartition(".")[2] for label in labels[k : k + 4]] == ["qw", "qx", "qy", "qz"]:
            same, opposite = dx[:, k : k + 4], 2.0 * x[:, k : k + 4] - dx[:, k : k + 4]
            nearer = np.linalg.norm(same, axis=1) <= np.linalg.norm(opposite, axis=1)
            dx[:, k : k + 4] = np.where(nearer[:, None], same, opposite)
    return dx


def parted(t: np.ndarray, moved: np.ndarray, turned: np.ndarray, position: np.ndarray) -> float | None:
    """From when on two motions part exponentially [s]; None where they do not."""
    around = position - position.mean(axis=(0, 1))
    size = float(np.linalg.norm(around, axis=-1).max(initial=0.0)) or 1.0
    d = np.maximum.accumulate(np.maximum(moved / size, turned).max(axis=1, initial=0.0))
    if not d[-1] > PARTED:
        return None
    before = np.interp(0.5 * (t + t[0]), t, d)
    far = d > PARTED
    return float(t[np.argmax(far)]) if (d > HUNDREDFOLD * before)[far].any() else None
