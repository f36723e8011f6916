"""What a published problem is, and how it is run under a formulation.

error = |x − reference| / scale, largest over the times and quantities; it holds where error ≤ tolerance
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nexdyn.assembly.stopwatch import Stopwatch
from nexdyn.errors import NexDynError, NexDynWarning
from nexdyn.integrate.methods import HHT, Baumgarte, ImplicitEuler, Method, Partitioning, Projection
from nexdyn.integrate.pairs.dormand_prince import DormandPrince
from nexdyn.model.system import System
from nexdyn.results.result import Result
from nexdyn.simulation.choice import simulation_of
from nexdyn.statics.equilibrium import equilibrium

EVERY = 2**40
"""Steps between outputs that never come: what is recorded are the times of the reference."""


@dataclass(frozen=True)
class Run:
    """One formulation with its method: errors up to `tolerance` (times each quantity's scale) hold.

    method: None where nothing moves, and the values are those of the system. until [s]: the reference beyond is left out,
    where a method would take too long to reach it.
    """

    formulation: str
    method: Method | None
    tolerance: float
    dynamics: Literal["aba", "crba", "cfa"] = "aba"
    until: float = np.inf


@dataclass(frozen=True)
class Problem:
    """A published problem.

    name: short. title, source: for people. build: the system. quantities: name and unit of each value. reference:
    {time [s]: values}, or by what else stands in the place of time, whose unit `at` is. observe: the values (N, n) of a
    result at all its samples, or of the system at all of the reference where nothing moves. scale: what an error of each quantity is
    measured by. angles: quantities that count modulo 2π. runs: the formulations that carry it. singular: whether it passes singular
    poses, of which runs would warn. recorded: times [s] besides those of the reference, for what is observed over time.
    rests: whether it starts where `nx.equilibrium` finds it. pressed: whether it starts with bodies that are pressed together, of which
    runs would warn, too.
    """

    name: str
    title: str
    source: str
    build: Callable[[], System]
    quantities: Mapping[str, str]
    reference: Mapping[float, tuple[float, ...]]
    observe: Callable[[Any], np.ndarray]
    runs: tuple[Run, ...]
    scale: tuple[float, ...] = ()
    angles: frozenset[str] = frozenset()
    at: str = "s"
    singular: bool = False
    recorded: tuple[float, ...] = ()
    rests: bool = False
    pressed: bool = False

    @property
    def scales(self) -> np.ndarray:
        """What errors are measured by (n,)."""
        return np.array(self.scale or (1.0,) * len(self.quantities))

    def motion(self, run: Run) -> Result:
        """The motion under a formulation, recorded at the times of the reference and those besides."""
        if run.method is None:
            raise ValueError(f"{run.formulation!r} of {self.name} does not move")
        options: dict[str, Any] = {} if run.dynamics == "aba" else {"dynamics": run.dynamics}
        system = self.build()
        if self.rests:
            options["initial"] = equilibrium(system).report
        result = None
        with warnings.catch_warnings():
            if self.singular:
                warnings.filterwarnings("ignore", "passes near a singular pose", NexDynWarning)
            if self.pressed:
                warnings.filterwarnings("ignore", "contact .* starts .* deep", NexDynWarning)
            simulation = simulation_of(system, run.method, output_every=EVERY, **options)
            for t in sorted({*self.times(run), *self.recorded}):
                result = simulation.run(t)
        assert result is not None
        return result

    def found(self, run: Run) -> np.ndarray:
        """The values at the times of the reference that a run reaches (k, n)."""
        if run.method is None:
            return self.observe(self.build())
        result = self.motion(run)
        recorded = result.recording.t
        return np.asarray(self.observe(result)[[int(np.abs(recorded - t).argmin()) for t in self.times(run)]])

    def times(self, run: Run) -> list[float]:
        """The times of the reference that a run reaches [s]."""
        return [t for t in self.reference if t <= run.until]

    def check(self, run: Run) -> Outcome:
        """Run it and compare. A run that fails is an outcome too."""
        watch = Stopwatch()
        try:
            found = self.found(run)
        except NexDynError as failure:
            return Outcome(self, run, [], np.nan, watch.seconds, str(failure))
        wall = watch.seconds
        times = self.times(run)
        expected = np.array([self.reference[t] for t in times])
        error = found - expected
        for k, name in enumerate(self.quantities):
            if name in self.angles:
                error[:, k] = np.remainder(error[:, k] + np.pi, 2 * np.pi) - np.pi
        values = [
            Value(name, unit, t, float(expected[n, k] + error[n, k]), float(expected[n, k]), float(abs(error[n, k])),
                  run.tolerance * float(self.scales[k]))
            for n, t in enumerate(times)
            for k, (name, unit) in enumerate(self.quantities.items())
        ]  # fmt: skip
        return Outcome(self, run, values, float(np.max(np.abs(error) / self.scales)), wall)


@dataclass(frozen=True)
class Value:
    """One number that was found, beside the one that is published."""

    quantity: str
    unit: str
    t: float
    value: float
    reference: float
    error: float
    tolerance: float

    @property
    def share(self) -> float:
        """The error as a part of what is allowed."""
        return self.error / self.tolerance if np.isfinite(self.error) else np.inf


@dataclass(frozen=True)
class Outcome:
    """What a run of a problem gave: its values; the largest scaled error; time [s]; why it failed, or ""."""

    problem: Problem
    run: Run
    values: list[Value]
    error: float
    wall_time: float
    failure: str = ""

    @property
    def holds(self) -> bool:
        """Whether every value is within its tolerance."""
        return not self.failure and bool(self.values) and all(v.share <= 1.0 for v in self.values)

    @property
    def worst(self) -> Value | None:
        """The value that is nearest to its tolerance, or furthest beyond."""
        return max(self.values, key=lambda v: v.share, default=None)


# --- the formulations -----------------------------------------------------------------------------------------------


def minimal(tolerance: float, massless: bool = False) -> tuple[Run, ...]:
    """Joint coordinates of a tree, by the three algorithms of forward dynamics.

    massless: some inertia is zero, and the constraint force algorithm, which inverts each body's, cannot carry it.
    """
    method = DormandPrince(rtol=1e-12, atol=1e-13)
    runs = (
        Run("minimal coordinates, ABA", method, tolerance),
        Run("minimal coordinates, CRBA", method, tolerance, "crba"),
        Run("minimal coordinates, constraint forces", method, tolerance, "cfa"),
    )
    return runs[:2] if massless else runs


def closed(tolerance: float, **options: Any) -> tuple[Run, ...]:
    """Joint coordinates of a spanning tree, its loops closed by the rows of the joints that were cut."""
    method = DormandPrince(rtol=1e-10, atol=1e-12)
    return (Run("minimal coordinates, loops projected", method, tolerance, **options),)


def index1(tolerance: float, nonholonomic: bool = False, **options: Any) -> tuple[Run, ...]:
    """Absolute coordinates with the acceleration constraints, kept closed in three ways; explicit and tight.

    nonholonomic: some rows are of velocities alone, and the partitioning of positions cannot carry them.
    """
    methods: tuple[Method, ...] = (
        Baumgarte(rtol=1e-10, atol=1e-12),
        Projection(rtol=1e-10, atol=1e-12),
        Partitioning(rtol=1e-10, atol=1e-12),
    )
    methods = methods[:2] if nonholonomic else methods
    return tuple(
        Run(f"absolute coordinates, index 1, {type(m).__name__.lower()}", m, tolerance, **options) for m in methods
    )


def potential(tolerance: float, dt: float, **options: Any) -> tuple[Run, ...]:
    """Increments of all bodies as the minimum of a potential, implicit Euler's with BDF2: order 2."""
    return (Run("potential, implicit Euler with bdf2", ImplicitEuler(dt, bdf2=True), tolerance, **options),)


def index3(tolerance: float, dt: float, **options: Any) -> tuple[Run, ...]:
    """Absolute coordinates with the position constraints, HHT-α of order 2."""
    return (Run("absolute coordinates, index 3, HHT-α", HHT(dt=dt), tolerance, **options),)


def touching(tolerance: float, dt: float = 5e-4, explicit: float = 1e-8, bdf2: float | None = None) -> tuple[Run, ...]:
    """Of contacts: one method of each kind of coordinates.

    dt [s]: of BDF2; bdf2: its tolerance, if its order promises less; explicit: rtol of explicit methods.
    """
    options: dict[str, Any] = {"rtol": explicit, "atol": 1e-3 * explicit}
    return (
        Run("minimal coordinates, ABA", DormandPrince(**options), tolerance),
        Run("absolute coordinates, index 1, projection", Projection(**options), tolerance),
        Run("absolute coordinates, index 3, HHT-α", HHT(rtol=1e-7), tolerance),
        *potential(tolerance if bdf2 is None else bdf2, dt),
    )
