"""Work and precision of every method on every published problem that moves: `python -m benchmarks.work_precision [FOLDER] [NAME …]`.

A panel a problem: the error at the first time of its reference, largest over its quantities and beside their scales, over the
processor time of the run without its set-up. Constant steps are halved, tolerances divided by ten. Runs that fail are left
out; one that takes longer than three seconds ends its line. The figure of docs/choosing.md, and its points as a table.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cfa_figures import FOLDER, plotting, save
from nexdyn.errors import NexDynError
from nexdyn.integrate.methods import Method
from nexdyn.problems.problem import EVERY, Problem, Run
from nexdyn.problems.verify import PROBLEMS
from nexdyn.simulation.choice import simulation_of

COARSE = {"dt": 16.0, "rtol": 1e6}
"""Times the value at which `nexdyn verify` runs a method: where its line begins."""
FINER = {"dt": 0.5, "rtol": 0.1}
POINTS = {"dt": 6, "rtol": 7}
LONGEST = 3.0
SHORT, ROUNDS = 0.05, 10
"""Runs that are shorter [s] are run so often, and the fastest counts."""


def refinements(run: Run) -> Iterator[Run]:
    """The run, coarse to fine."""
    method = run.method
    knob = "dt" if getattr(method, "dt", None) is not None else "rtol"
    value = getattr(method, knob) * COARSE[knob]
    for k in range(POINTS[knob]):
        finer: dict[str, float] = {knob: value * FINER[knob] ** k}
        if getattr(method, "atol", None) is not None:
            finer["atol"] = 0.01 * finer[knob]
        yield replace(run, method=replace(method, **finer))  # type: ignore[type-var]


def moved(problem: Problem, method: Method, run: Run, t: float) -> tuple[float, np.ndarray]:
    """Processor time of a run to t [s], and the values there."""
    options: dict[str, Any] = {} if run.dynamics == "aba" else {"dynamics": run.dynamics}
    simulation = simulation_of(problem.build(), method, output_every=EVERY, **options)
    began = time.process_time()
    result = simulation.run(t)
    return time.process_time() - began, np.asarray(problem.observe(result))[-1]


def line(problem: Problem, run: Run) -> list[tuple[float, float]]:
    """(time [s], error) of the refinements of a run."""
    t, reference = next(iter(problem.reference.items()))
    points = []
    for finer in refinements(run):
        assert finer.method is not None
        try:
            moved(problem, finer.method, run, min(t, 1e-3))  # compiles
            took, values = moved(problem, finer.method, run, t)
            if took < SHORT:
                took = min(took, *(moved(problem, finer.method, run, t)[0] for _ in range(ROUNDS - 1)))
        except NexDynError:
            continue  # too coarse
        error = values - reference
        for k, name in enumerate(problem.quantities):
            if name in problem.angles:
                error[k] = np.remainder(error[k] + np.pi, 2 * np.pi) - np.pi
        points.append((took, max(float(np.max(np.abs(error) / problem.scales)), 1e-16)))
        if took > LONGEST:
            break
    return points


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    moving = [p for p in PROBLEMS.values() if p.name != "alm" and all(run.method is not None for run in p.runs)]
    chosen = [p for p in moving if p.name in sys.argv[2:]] or moving
    columns = min(3, len(chosen))
    rows = -(-len(chosen) // columns)
    figure, axes = plotting().subplots(rows, columns, figsize=(3.6 * columns, 3.0 * rows + 0.9), squeeze=False)
    kinds = list(dict.fromkeys(run.formulation for p in moving for run in p.runs))
    drawn = {}
    for ax, problem in zip(axes.flat, chosen, strict=False):
        print(f"{problem.name}: error at {next(iter(problem.reference)):g} s over time")
        for run in problem.runs:
            k = kinds.index(run.formulation)
            points = line(problem, run)
            print(
                f"  {run.formulation:44}" + "  ".join(f"{1e3 * t:.3g} ms {error:.1e}" for t, error in points),
                flush=True,
            )
            if points:
                t, error = zip(*points, strict=True)
                (drawn[run.formulation],) = ax.loglog(
                    t, error, marker="osv^<>DPX*hd"[k % 12], markersize=3, color=f"C{k % 10}"
                )
        ax.set_title(f"{problem.name}: {problem.title}", fontsize=8)
        ax.tick_params(labelsize=7)
        ax.xaxis.set_minor_formatter("")
        ax.set_xlabel("processor time [s]", fontsize=7)
    for ax in axes.flat[len(chosen) :]:
        ax.axis("off")
    for ax in axes[:, 0]:
        ax.set_ylabel("error")
    figure.legend(drawn.values(), drawn.keys(), loc="lower center", ncols=3, fontsize=7)
    figure.tight_layout(rect=(0, 0.9 / (3.0 * rows + 0.9), 1, 1))
    save(figure, folder, "work-precision")


if __name__ == "__main__":
    main()
