"""Twelve mechanisms under the incremental potential at steps from 10 ms to 1 µs: no run may stop for a step that is smaller.

`python -m benchmarks steps`. Each problem (``tests/step_problems.py``) runs to its end, or STEPS steps, by implicit Euler and by
BDF2. A line tells the Newton steps that a step took at each dt; it is met where every run came to its end.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row
from nexdyn.simulation.marches.potential import PotentialSimulation

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from step_problems import PROBLEMS

DT = (1e-2, 1e-3, 5e-4, 1e-4, 2e-5, 1e-5, 1e-6)
STEPS = 100_000


def run(effort: Effort) -> Report:
    report = Report("steps", "Newton steps a step at dt = " + ", ".join(f"{dt:g}" for dt in DT) + " s")
    for name, (build, t_end) in PROBLEMS.items():
        for bdf2 in (False, True):
            taken, stopped = [], []
            for dt in DT:
                steps = min(20 if effort.smoke else STEPS, round(t_end / dt))
                simulation = PotentialSimulation(build(), nx.ImplicitEuler(dt, bdf2=bdf2), output_every=steps)
                try:
                    simulation.run(steps * dt)
                except nx.SolveError as error:
                    stopped.append(f"{name}, dt = {dt:g} s: {error}")
                taken.append(simulation.effort["iterations"] / max(1, round(simulation.t / dt)))
            row = Row(f"{name}, {'BDF2' if bdf2 else 'implicit Euler'}", "Newton steps", taken, target="no stop")
            row.met = not stopped
            report.rows.append(row)
            report.notes += stopped
    return report
