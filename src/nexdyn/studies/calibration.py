"""`nx.calibrate`: named parameters of a system from measured data, with confidence intervals.

    minimise Σ ((x_k(p, t_i) − d_ki)/σ_k)²   within bounds                          (scipy.optimize.least_squares)
    J = ∂r/∂p,   J = U S Vᵀ in units of each parameter's size
    cov(p) = s² (JᵀJ)⁻¹,   s² = Σ r²/(N − n) where σ is not given, else 1
    interval  p ± t_{N−n} √cov_pp      (Student's t; the normal distribution where σ is given)

Where the data leave a combination of parameters free, these are held near the start in that direction.
A direction of V whose singular value vanishes relative to the largest is not determined by the data: moving the parameters
along it changes nothing. One along which a standard deviation is of the parameters' own size is determined poorly. Both
are told with the combination of parameters that they are. Source: Björck, Numerical Methods for Least Squares (1996), 2.7.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import FileError, InputError, SolveError, counted
from nexdyn.front import simulate
from nexdyn.integrate.methods import FixedStep, Method
from nexdyn.model.system import System
from nexdyn.results.result import Result
from nexdyn.simulation.users import left_as_they_were
from nexdyn.studies.outputs import scalar, series, with_values

Array = np.ndarray
STEP = 1e-5
"""Relative step of the differences of residuals: central, errors of some 1e-10."""
VANISHING = 1e-7
"""A singular value below this part of the largest is what differences left of 0."""
POOR = 0.5
"""A standard deviation above this part of the parameters' sizes is poor."""
KNOWN_UNITS = {"mass": "kg", "com": "m", "inertia": "kg m^2", "position": "m", "gravity": "m/s^2", "pitch": "m/rad"}


@dataclass(frozen=True)
class Data:
    """Measured quantities over common times: t (N,) [s], values {quantity: (N,)}, NaN where there is none."""

    t: Array
    values: dict[str, Array]


@dataclass(frozen=True)
class Combination(metaclass=CheckedCalls):
    """A direction of parameters that the data do not tell: relative changes {parameter: part}, largest 1.

    `determined`: False where nothing changes along it; True where its standard deviation `relative_error` is of the
    parameters' own size.
    """

    parts: dict[str, float]
    determined: bool
    relative_error: float

    def __str__(self) -> str:
        terms = " ".join(f"{part:+.2g}·Δ{name}/{name}" for name, part in self.parts.items())
        if not self.determined:
            return f"the data do not determine {terms}: what they see stays the same along it"
        return f"the data determine {terms} poorly, to {self.relative_error:.0%} of the parameters' sizes"


@dataclass(frozen=True)
class Calibration(metaclass=CheckedCalls):
    """What `nx.calibrate` found.

    values, standard_errors, intervals: {parameter: number}, {parameter: number}, {parameter: (low, high)} at `confidence`.
    covariance (n, n) in the order of `values`. sigma: {quantity: standard deviation}, given or estimated. combinations: what
    the data do not determine, or poorly; at_bounds: the parameters that stand at a bound. system, result: with the values found.
    """

    values: dict[str, float]
    standard_errors: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    confidence: float
    covariance: Array
    sigma: dict[str, float]
    combinations: list[Combination]
    at_bounds: list[str]
    units: dict[str, str]
    system: System
    result: Result
    residuals: dict[str, Array]
    runs: int

    @property
    def determined(self) -> bool:
        """Whether the data determine every parameter."""
        return all(c.determined for c in self.combinations)

    @property
    def correlation(self) -> Array:
        """Correlation (n, n) of the values found."""
        s = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.covariance / np.outer(s, s))

    def __str__(self) -> str:
        width = max(map(len, self.values))
        lines = [f"{self.confidence:.0%} confidence, {counted(self.runs, 'run')}"]
        for name, value in self.values.items():
            low, high = self.intervals[name]
            unit = f" {self.units[name]}" if self.units[name] else ""
            note = "  at its bound" if name in self.at_bounds else ""
            lines.append(f"  {name:{width}}  {value:.6g}{unit}  [{low:.6g}, {high:.6g}]{note}")
        lines += [f"  residual of {name}: σ = {s:.3g}" for name, s in self.sigma.items()]
        return "\n".join([*lines, *(f"  {c}" for c in self.combinations)])


@small_on_one_thread
def calibrate(
    system: System,
    data: Any,
    parameters: Iterable[str] | Mapping[str, tuple[float, float] | None],
    *,
    guess: Mapping[str, float] | None = None,
    sigma: Mapping[str, float] | float | None = None,
    confidence: float = 0.95,
    method: Method | None = None,
    q0: Any = None,
    v0: Any = None,
    max_runs: int = 2000,
    **options: Any,
) -> Calibration:
    """Find `parameters` for which a run of `system` follows `data`, by least squares, and how sure they are.

    data: a CSV file as `Result.to_csv` writes it, an xarray Dataset over `time`, or {"time": (N,), quantity: (N,), …}. A
        quantity is one like "joint_position.hinge1", "position.link2.z", "reaction.hinge1.fx" or a measure, in its SI unit;
        NaN where nothing was measured. The runs start at t = 0.
    parameters: paths like "L", "link1.mass", "hinge1.damping", "link1.com[0]", "hinge1.q0"; with bounds {path: (low, high)}.
    guess: where to begin, {path: number}; by default the system's own values.
    sigma: standard deviation of the data, for all or {quantity: number}; estimated from what is left without.
    method, q0, v0 and other options: as for `nx.simulate`.

    Raises UnknownNameError for parameters or quantities that do not exist, InputError for data that do not fit, and
    SolveError where no run near the start succeeds or `max_runs` are not enough.
    """
    from scipy.optimize import least_squares

    measured = read_data(data)
    bounds = _bounds(parameters)
    names = list(bounds)
    begin = np.array([_start(system, name, guess, bounds[name]) for name in names])
    if unknown_guess := set(guess or ()) - set(names):
        raise InputError(f"guess names {', '.join(sorted(unknown_guess))}, not among the parameters {', '.join(names)}")
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence is {confidence!r}; a number between 0 and 1 is needed, like 0.95")
    low, high = (np.array([bounds[name][k] for name in names]) for k in (0, 1))
    size = np.array([_size(x, lo, hi) for x, lo, hi in zip(begin, low, high, strict=True)])
    fit = _Fit(system, measured, names, {"method": method, "q0": q0, "v0": v0, **options}, max_runs)
    known = fit.known_sigma(sigma)
    n, count = len(names), sum(int(np.isfinite(d).sum()) for d in measured.values.values())
    if count <= n:
        raise InputError(
            f"data hold {counted(count, 'number')} for {counted(n, 'parameter')}; more numbers than parameters are needed"
        )

    scales = known or fit.spreads()
    fit.scales = scales
    fit.residuals(begin)  # what is wrong with the start is said as it is
    x, pull = begin, fit.pull(begin, size, low, high)
    for _ in range(1 if known or len(measured.values) == 1 else 2):
        fit.scales = scales
        found = least_squares(
            lambda x: np.concatenate([fit.guarded(x), pull * (x - begin) / size]),
            x,
            jac=lambda x: np.concatenate([fit.jacobian(x, size, low, high), pull * np.diag(1.0 / size)]),
            bounds=(low, high), x_scale=size, xtol=1e-10, ftol=1e-12, gtol=1e-12, max_nfev=200,
        )  # fmt: skip
        x = found.x
        if not known:  # every quantity weighs by what is left of it
            scales = fit.left(x)
    fit.scales = scales
    return _told(fit, x, size, low, high, confidence, bool(known), count)


class _Fit:
    """Residuals of runs."""

    def __init__(self, system: System, data: Data, names: list[str], given: dict[str, Any], max_runs: int) -> None:
        self.system, self.data, self.names, self.given, self.max_runs = system, data, names, given, max_runs
        self.scales = dict.fromkeys(data.values, 1.0)
        self.runs = 0

    def simulated(self, x: Array) -> Result:
        """The run with values x."""
        if self.runs >= self.max_runs:
            raise SolveError(f"{self.max_runs} runs were not enough; begin closer, or allow more with max_runs")
        self.runs += 1
        system = with_values(self.system, dict(zip(self.names, map(float, x), strict=True)))
        given = self.given
        if not isinstance(given["method"], FixedStep | None) and "output_times" not in given:
            given = {**given, "output_times": self.data.t[self.data.t > 0.0]}
        with left_as_they_were(system):
            return simulate(system, float(self.data.t[-1]), **given)

    def misfit(self, result: Result) -> dict[str, Array]:
        """Run less data of each quantity, unscaled; a run is read between its samples by a cubic spline."""
        from scipy.interpolate import CubicSpline

        t, found = result.recording.t, {}
        for name, measured in self.data.values.items():
            x = series(result, name).values
            at = x if len(t) == len(self.data.t) and np.array_equal(t, self.data.t) else CubicSpline(t, x)(self.data.t)
            found[name] = (at - measured)[np.isfinite(measured)]
        return found

    def residuals(self, x: Array) -> Array:
        """What least squares makes small."""
        misfit = self.misfit(self.simulated(x))
        return np.concatenate([misfit[name] / self.scales[name] for name in misfit])

    def guarded(self, x: Array) -> Array:
        """The same; far off where a value is not valid or a run fails, so that the search turns back."""
        try:
            return self.residuals(x)
        except (InputError, SolveError):
            if self.runs >= self.max_runs:
                raise
            return np.full(sum(int(np.isfinite(d).sum()) for d in self.data.values.values()), 1e6)

    def jacobian(self, x: Array, size: Array, low: Array, high: Array) -> Array:
        """By central differences, one-sided at a bound and where values below are not valid."""
        columns = []
        for j in range(len(x)):
            h = STEP * size[j]
            up, down = min(x[j] + h, high[j]), max(x[j] - h, low[j])
            above = self.residuals(_with(x, j, up))
            try:
                below = self.residuals(_with(x, j, down))
            except InputError:
                down, below = x[j], self.residuals(x)
            columns.append((above - below) / (up - down))
        return np.stack(columns, axis=1)

    def pull(self, x: Array, size: Array, low: Array, high: Array) -> float:
        """How strongly parameters are held at the start where the data leave a combination of them free; 0 where none is.

        It moves what is determined by some 1e-6 of its way.
        """
        s = np.linalg.svd(self.jacobian(x, size, low, high) * size, compute_uv=False)
        return 1e-3 * float(s[0]) if s[-1] <= 10 * VANISHING * s[0] else 0.0

    def known_sigma(self, sigma: Any) -> dict[str, float]:
        """The standard deviations given; {} without any."""
        if sigma is None:
            return {}
        given = dict(sigma) if isinstance(sigma, Mapping) else dict.fromkeys(self.data.values, float(sigma))
        if set(given) != set(self.data.values):
            raise InputError(f"sigma is of {', '.join(given)}; data are of {', '.join(self.data.values)}")
        for name, s in given.items():
            if not (math.isfinite(s) and s > 0.0):
                raise InputError(f"sigma of {name!r} is {s!r}; a number above 0 is needed")
        return {name: float(s) for name, s in given.items()}

    def spreads(self) -> dict[str, float]:
        """How much each quantity varies in the data."""
        return {name: float(np.nanstd(d)) or float(np.nanmax(np.abs(d))) or 1.0 for name, d in self.data.values.items()}

    def left(self, x: Array) -> dict[str, float]:
        """What is left of each quantity, as a standard deviation."""
        floor = self.spreads()
        count = sum(len(d) for d in self.misfit(self.simulated(x)).values())
        correction = math.sqrt(count / max(count - len(self.names), 1))
        left = {name: correction * float(np.sqrt(np.mean(d * d))) for name, d in self.misfit(self.simulated(x)).items()}
        return {name: max(s, 1e-12 * floor[name]) for name, s in left.items()}


def _with(x: Array, j: int, value: float) -> Array:
    out = x.copy()
    out[j] = value
    return out


def _told(
    fit: _Fit, x: Array, size: Array, low: Array, high: Array, confidence: float, known: bool, count: int
) -> Calibration:
    """The values with their covariance, and what is not determined."""
    from scipy.stats import norm, t

    n = len(x)
    size = np.where(x != 0.0, np.abs(x), size)
    result = fit.simulated(x)
    misfit = fit.misfit(result)
    J = fit.jacobian(x, size, low, high) * size
    _, s, Vt = np.linalg.svd(J, full_matrices=False)
    vanishing = s <= VANISHING * max(s[0], np.finfo(float).tiny)
    with np.errstate(divide="ignore"):
        spread = np.where(vanishing, np.inf, 1.0 / np.where(vanishing, 1.0, s))
    combinations = []
    for k in np.flatnonzero(vanishing | (spread > POOR)):
        v = Vt[k] / Vt[k][np.argmax(np.abs(Vt[k]))]
        parts = {name: float(part) for name, part in zip(fit.names, v, strict=True) if abs(part) > 0.05}
        combinations.append(Combination(parts, not vanishing[k], float(spread[k])))
    # a parameter with no part in what is not determined keeps its variance
    part = np.where(np.abs(Vt) > 1e-6, Vt, 0.0)
    with np.errstate(invalid="ignore"):
        scaled = sum(
            np.nan_to_num(np.outer(part[k], part[k]) * spread[k] ** 2, nan=0.0, posinf=np.inf, neginf=-np.inf)
            for k in range(n)
        )
    covariance = np.asarray(scaled) * np.outer(size, size)
    error = np.sqrt(np.diag(covariance))
    quantile = float(norm.ppf(0.5 + 0.5 * confidence) if known else t.ppf(0.5 + 0.5 * confidence, count - n))
    sigma = fit.scales
    units = {name: KNOWN_UNITS.get(re.sub(r"\[\d+\]$", "", name).rpartition(".")[2], "") for name in fit.names}
    at_bounds = [
        name
        for name, y, lo, hi, h in zip(fit.names, x, low, high, size, strict=True)
        if min(y - lo, hi - y) <= 1e-8 * h
    ]
    return Calibration(
        dict(zip(fit.names, x.tolist(), strict=True)), dict(zip(fit.names, error.tolist(), strict=True)),
        {name: (y - quantile * e, y + quantile * e) for name, y, e in zip(fit.names, x.tolist(), error.tolist(), strict=True)},
        confidence, covariance, dict(sigma), combinations, at_bounds, units, result.system, result, misfit, fit.runs,
    )  # fmt: skip


# --- input ----------------------------------------------------------------------------------------------------------


def _bounds(parameters: Any) -> dict[str, tuple[float, float]]:
    if isinstance(parameters, str):
        parameters = [parameters]
    given = dict(parameters) if isinstance(parameters, Mapping) else dict.fromkeys(parameters)
    if not given:
        raise InputError("parameters are empty; name what is to be found, like ['link1.mass']")
    found = {}
    for name, pair in given.items():
        if pair is None:
            found[name] = (-math.inf, math.inf)
            continue
        try:
            low, high = (float(x) for x in pair)
        except (TypeError, ValueError):
            raise InputError(f"bounds of {name!r} are {pair!r}; (low, high) is needed, or None") from None
        if not low < high:
            raise InputError(f"bounds of {name!r} are ({low:g}, {high:g}); the first must be below the second")
        found[name] = (low, high)
    return found


def _start(system: System, name: str, guess: Mapping[str, float] | None, bounds: tuple[float, float]) -> float:
    own = scalar(system, name)
    value = own if guess is None or name not in guess else float(guess[name])
    if not bounds[0] <= value <= bounds[1]:
        if guess is not None and name in guess:
            raise InputError(f"guess of {name!r} is {value:g}, outside its bounds {bounds[0]:g} … {bounds[1]:g}")
        value = min(max(value, bounds[0]), bounds[1])
    return value


def _size(x: float, low: float, high: float) -> float:
    """What counts as a change of a parameter: its value, or the width of its bounds where that is 0."""
    if x != 0.0:
        return abs(x)
    width = high - low
    return width if math.isfinite(width) else 1.0


def read_data(data: Any) -> Data:
    """Data from a CSV file, an xarray Dataset or a mapping. InputError where they do not fit together."""
    if isinstance(data, str | Path):
        data = _read_csv(Path(data))
    if hasattr(data, "data_vars"):
        data = {"time": np.asarray(data["time"]), **{str(name): np.asarray(data[name]) for name in data.data_vars}}
    if not isinstance(data, Mapping):
        raise InputError(
            f"data is {type(data).__name__}; a CSV file, an xarray Dataset or a mapping with 'time' is needed"
        )
    if "time" not in data:
        raise InputError(f"data have no 'time'; they have {', '.join(map(str, data)) or 'nothing'}")
    try:
        columns = {str(name): np.asarray(x, dtype=float) for name, x in data.items()}
    except (TypeError, ValueError) as error:
        raise InputError(f"data are not numbers: {error}") from None
    t = columns.pop("time")
    if t.ndim != 1 or len(t) < 2 or not (np.isfinite(t).all() and (np.diff(t) > 0.0).all() and t[0] >= 0.0):
        raise InputError(
            f"time of the data has shape {t.shape}; two times or more, increasing strictly from 0 or later, are needed"
        )
    if not columns:
        raise InputError("data have times and no quantity; add one, like 'joint_position.hinge1'")
    for name, x in columns.items():
        if x.shape != t.shape:
            raise InputError(f"data of {name!r} have shape {x.shape}; {t.shape} is needed, one number a time")
        if np.isinf(x).any() or np.isnan(x).all():
            raise InputError(f"data of {name!r} are {'not finite' if np.isinf(x).any() else 'all NaN'}")
    return Data(t, columns)


def _read_csv(path: Path) -> dict[str, Array]:
    """Columns headed "time [s]", "position.link2.z [m]", as `Result.to_csv` writes them."""
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=str(path)) from error
    if not rows:
        raise FileError("holds nothing", file=str(path))
    names = [re.sub(r"\s*\[[^\]]*[A-Za-z^/ ][^\]]*\]$|\s*\[1?\]$", "", head).strip() for head in rows[0]]
    found: dict[str, list[float]] = {name: [] for name in names}
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise FileError(f"{len(row)} numbers; {len(names)} are needed, one a heading", file=str(path), line=line)
        for name, text in zip(names, row, strict=True):
            try:
                found[name].append(float(text) if text.strip() else math.nan)
            except ValueError:
                raise FileError(f"{name} is {text!r}; a number is needed", file=str(path), line=line) from None
    return {name: np.array(x) for name, x in found.items()}
