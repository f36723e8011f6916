"""What a case of a peer's suite is, and how it is run and compared under a formulation.

distance = max over t of |x − x_ref| / max(1, max over t of |x_ref|)        (|·| of the vector at one time; 1 in SI units)

A quantity is compared relative to its largest magnitude where that is above one unit, and absolutely below. Two distances are
measured: from the peer, and from our tightest run. A quantity holds where the second is within the run's tolerance, and the
first within the peer's limit and the peer's own error, where it is measured in the same way, added to that. Of accelerations
and forces ten times as much is allowed.
Orientations are compared up to the sign of the quaternion. A chaotic motion is compared until the peer's own error, as it grows with
any deviation, passes the limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from nexdyn.errors import NexDynError
from nexdyn.front import simulate
from nexdyn.model.system import System
from nexdyn.problems.problem import Run
from nexdyn.results.result import Result

Curves = Mapping[str, np.ndarray]
"""Quantity: values (N, n) at the times of the reference."""

UNITS = {
    "angular velocity": "rad/s", "angular acceleration": "rad/s²", "position": "m", "velocity": "m/s", "acceleration": "m/s²",
    "orientation": "1", "force": "N", "torque": "N m", "angle": "rad", "coordinates": "rad, m", "rates": "rad/s, m/s",
}  # fmt: skip
"""Units, by the first of these words that a quantity's name has."""
STATES = ("position", "velocity", "orientation", "angle", "coordinates", "rates")
DERIVED = 10.0
"""How much more is allowed of accelerations and forces, a derivative further than the states that methods control."""


@dataclass(frozen=True)
class Reference:
    """A peer's curves: t (N,) [s]; curves {quantity: (N, n)}; own_error: the peer's, the largest of all quantities, or NaN.

    scaled_alike: whether own_error is measured as distances are, and then added to what is allowed from the peer.
    own_errors: the error of each quantity, where it is known.
    """

    t: np.ndarray
    curves: Curves
    own_error: float = np.nan
    scaled_alike: bool = False
    own_errors: Mapping[str, float] = field(default_factory=dict)

    def error_of(self, quantity: str) -> float:
        """The peer's own error in a quantity, or NaN."""
        return self.own_errors.get(quantity, self.own_error)


@dataclass(frozen=True)
class Scene:
    """One description of the mechanism and the formulations that support it."""

    build: Callable[[], System]
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Case:
    """A case of a peer's suite.

    name: the peer's own. title, source: for people. read: the peer's curves, from a folder or from the peer itself. scenes:
    ours. tight: the tightest run, of the first scene. observe: the quantities of a result in the peer's conventions. limit:
    the distance from the peer up to which states agree. until: the time to which curves are compared [s].
    """

    name: str
    title: str
    source: str
    read: Callable[[Path | None], Reference]
    scenes: tuple[Scene, ...]
    observe: Callable[[Result], Curves]
    limit: float
    tight: Run
    until: float = np.inf

    def runs(self) -> list[tuple[Scene, Run]]:
        """All formulations, each with its scene."""
        return [(scene, run) for scene in self.scenes for run in scene.runs]

    def curves(self, scene: Scene, run: Run, t: np.ndarray) -> Curves:
        """What a formulation gives at the times t (N,) [s]. Raises NexDynError where it fails."""
        result = simulate(scene.build(), float(t[-1]), run.method, output_times=t, dynamics=run.dynamics)
        if result.status != "finished":
            raise NexDynError(f"stopped at t = {float(result.t[-1]):g} s: {result.message}")
        return self.observe(result)

    def tightest(self, t: np.ndarray) -> Curves:
        """Our tightest run."""
        return self.curves(self.scenes[0], self.tight, t)

    def check(self, folder: Path | None = None) -> Iterator[Outcome]:
        """Run it under all formulations and compare. A run that fails is an outcome too.

        folder: where the peer's curves are. Raises InputError where they are not to be had.
        """
        reference = self.read(folder)
        try:
            tightest = self.tightest(reference.t)
        except NexDynError as failure:
            yield Outcome(self, self.tight, (), np.nan, str(failure))
            return
        for scene, run in self.runs():
            began = time.perf_counter()
            try:
                found = self.curves(scene, run, reference.t)
            except NexDynError as failure:
                yield Outcome(self, run, (), time.perf_counter() - began, str(failure))
                continue
            wall = time.perf_counter() - began
            yield Outcome(self, run, self.distances(run, found, tightest, reference), wall)

    def distances(self, run: Run, found: Curves, tightest: Curves, reference: Reference) -> tuple[Distance, ...]:
        """Of each quantity that the peer has."""
        found_distances = []
        when = reference.t <= self.until
        for name, peer in reference.curves.items():
            factor = 1.0 if name.endswith(STATES) else DERIVED
            from_peer = scaled(name, found[name][when], peer[when], peer)
            from_tightest = scaled(name, found[name][when], tightest[name][when], peer)
            own = reference.error_of(name)
            limit = self.limit + (float(np.nan_to_num(own)) if reference.scaled_alike else 0.0)
            allowed = factor * (limit + run.tolerance), factor * run.tolerance
            found_distances.append(Distance(name, unit_of(name), from_peer, from_tightest, own, *allowed))
        return tuple(found_distances)


@dataclass(frozen=True)
class Distance:
    """How far a quantity is from the peer's and from our tightest run, the peer's own error (or NaN), and what is allowed."""

    quantity: str
    unit: str
    from_peer: float
    from_tightest: float
    own_error: float
    allowed_from_peer: float
    allowed_from_tightest: float

    @property
    def share(self) -> float:
        """The larger distance as a part of what is allowed."""
        share = max(self.from_peer / self.allowed_from_peer, self.from_tightest / self.allowed_from_tightest)
        return share if np.isfinite(share) else np.inf


@dataclass(frozen=True)
class Outcome:
    """What a case gave under one formulation; time [s]; why it failed, or ""."""

    case: Case
    run: Run
    distances: tuple[Distance, ...]
    wall_time: float
    failure: str = ""

    @property
    def holds(self) -> bool:
        """Whether every quantity is within what is allowed."""
        return not self.failure and bool(self.distances) and all(d.share <= 1.0 for d in self.distances)

    @property
    def worst(self) -> Distance | None:
        """The quantity that is nearest to what is allowed, or furthest beyond."""
        return max(self.distances, key=lambda d: d.share, default=None)


def unit_of(quantity: str) -> str:
    """The unit of a quantity by the words of its name."""
    return next(unit for words, unit in UNITS.items() if words in quantity)


def scaled(quantity: str, x: np.ndarray, reference: np.ndarray, scale_of: np.ndarray) -> float:
    """The distance of two curves (N, n), measured by the magnitude of a third."""
    difference = np.linalg.norm(x - reference, axis=1)
    if quantity.endswith("orientation"):
        difference = np.minimum(difference, np.linalg.norm(x + reference, axis=1))
    return float(np.max(difference) / max(1.0, float(np.max(np.linalg.norm(scale_of, axis=1)))))
