"""Work and precision of the embedded pairs on one smooth motion: `python -m benchmarks pairs [--smoke]`.

The small double pendulum of ``tests/regular_problems.py`` over 10 s, 101 outputs, at tolerances half a decade apart. The error is
the largest of both angles at the outputs, against DOP853 at 1e-13. Steps, evaluations and processor time are read off where a pair
reaches each error, between the two tolerances beside it, in logarithms. The pairs take turns at each tolerance.
"""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, clock
from nexdyn.integrate import adaptive
from nexdyn.integrate.methods import PAIRS

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from regular_problems import small_double_pendulum

ERRORS = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
ROUNDS = 5


class Point(NamedTuple):
    """A run: its error, what it took, and the processor time [ms]."""

    error: float
    steps: float
    evaluations: float
    time: float


def moved(method: Any, t_end: float) -> tuple[np.ndarray, adaptive.Control, float]:
    """Angles at the outputs, the counters, and the processor time of the run without its set-up [ms]."""
    controls, begin = list[adaptive.Control](), adaptive.begin

    def kept(*arguments: Any) -> tuple[adaptive.Control, np.ndarray]:
        control, numbers = begin(*arguments)
        controls.append(control)
        return control, numbers

    simulation = nx.Simulation(small_double_pendulum(), method)
    adaptive.begin = kept  # type: ignore[assignment]
    try:
        began = clock()
        result = simulation.run(t_end, output_times=np.linspace(0.0, t_end, 101))
        return result.recording.q, controls[-1], 1e3 * (clock() - began)
    finally:
        adaptive.begin = begin


def at(error: float, points: list[Point]) -> Point | None:
    """What a pair takes for an error; None where no tolerance of those measured gives it."""
    for coarse, fine in pairwise(points):
        if coarse.error >= error >= fine.error:
            share = math.log(coarse.error / error) / math.log(coarse.error / fine.error)
            return Point(*(a * (b / a) ** share for a, b in zip(coarse, fine, strict=True)))
    return None


def run(effort: Effort) -> Report:
    t_end, rounds = (0.5, 1) if effort.smoke else (10.0, ROUNDS)
    tolerances = 10.0 ** -(np.arange(2.0, 13.5, 4.0 if effort.smoke else 0.5))
    exact = moved(nx.DOP853(1e-13, 1e-15), t_end)[0]
    points: dict[str, list[Point]] = {name: [] for name in PAIRS}
    for rtol in tolerances:
        rough = [name for name in PAIRS if not points[name] or points[name][-1].error > ERRORS[-1]]
        took: dict[str, list[float]] = {name: [] for name in rough}
        for _ in range(rounds):
            for name in rough:
                q, control, time = moved(PAIRS[name](rtol, rtol), t_end)
                took[name].append(time)
                if len(took[name]) == rounds:
                    error = float(np.abs(q - exact).max())
                    points[name].append(Point(error, control.steps, control.evaluations, min(took[name])))
    report = Report(
        "pairs", "what each embedded pair takes for errors of " + ", ".join(f"{e:g}" for e in ERRORS) + " rad"
    )
    for k, (what, unit) in enumerate((("steps", "steps"), ("evaluations", "evaluations"), ("time", "ms")), start=1):
        for name in PAIRS:
            found = [at(error, points[name]) for error in ERRORS]
            report.rows.append(
                Row(f"{what}, {name}", unit, [math.nan if x is None else float(round(x[k], 2)) for x in found])
            )
    return report
