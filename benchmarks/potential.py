"""The incremental potential: beside Exudyn's step on the published pendulum, its growth with the bodies, beside HHT-α.

`python -m benchmarks potential` measures; `python -m benchmarks.potential` prints the table of docs/implicit_euler.md and draws its
figure, error, energy and time of four methods as the step is halved five times.

The double pendulum of the demo `implicit-euler` at 10 ms, unit inertias, from horizontal. Exudyn runs generalized-α with
spectral radius 0.9 and modified Newton, its fast module, the faster of its dense and sparse solvers, and writes nothing;
NexDyn records nothing either. Solving alone is timed, on models that are built.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, alternate, compared, machine
from nexdyn.potential import step
from nexdyn.simulation.marches.potential import PotentialSimulation

DT, STEPS, RADIUS = 0.01, 300, 0.9
PUBLISHED, ADAPTIVE = 1.0 / 0.6, 1.0 / 0.2


def run(effort: Effort) -> Report:
    report = Report("potential", "steps of the incremental potential, one core")
    steps = 10 if effort.smoke else STEPS
    for name, method, at_least in (
        ("published pendulum, ten updates", nx.ImplicitEuler(DT, mu=1000.0, updates=10), PUBLISHED),
        ("published pendulum, adaptive", nx.ImplicitEuler(DT), ADAPTIVE),
    ):
        rivals = {solver: exudyn_loop(steps, solver) for solver in ("EXUdense", "EigenSparse")}
        times = alternate({"ours": Loop(nx.load("implicit-euler"), method, steps).work, **rivals}, effort)
        best = min(rivals, key=lambda solver: float(np.median(times[solver])))
        row = compared(name, "µs/step", 1e6 / steps, times, "ours", best, at_least)
        row.rival = f"exudyn {best}"
        report.rows.append(row)
    if not effort.smoke:
        scaling(report)
        beside_hht(report, effort)
    return report


class Loop:
    """The compiled loop from the start, on tables that are there."""

    def __init__(self, system: nx.System, method: nx.ImplicitEuler, steps: int) -> None:
        self.simulation = PotentialSimulation(system, method)
        self.steps, self.room = steps, np.empty((1, self.simulation.numbers))
        self.start = [np.copy(x) for x in self.simulation._motion]

    def work(self, repeat: int) -> None:
        sim, method = self.simulation, self.simulation.method
        for _ in range(repeat):
            for target, source in zip(sim._motion, self.start, strict=True):
                target[...] = source
            status, done, *_ = step.march(
                sim._tables,
                sim._motion,
                sim._work,
                0.0,
                method.dt,
                0,
                self.steps,
                0,
                method.updates,
                method.bdf2,
                self.room,
            )
            assert status == 0 and done == self.steps


def scaling(report: Report) -> None:
    """Time a body and step of long chains."""
    from benchmarks.hht import chain

    per_body = []
    for links in (100, 1000, 10000):
        loop = Loop(chain(links), nx.ImplicitEuler(1e-3), 5)
        loop.work(1)
        per_body.append(1e6 * min(timed(loop) for _ in range(5)) / 5 / links)
    ratio = per_body[-1] / per_body[0]
    report.rows.append(
        Row("100, 10³, 10⁴ links", "µs/step and body", per_body, ratio=ratio, target="≤ 2.5×", met=ratio <= 2.5)
    )


def beside_hht(report: Report, effort: Effort) -> None:
    from benchmarks.hht import our_loop

    links, steps = 1000, 10
    from benchmarks.hht import chain

    mine, theirs = Loop(chain(links), nx.ImplicitEuler(1e-3), steps), our_loop(links, steps)
    times = alternate({"potential": mine.work, "hht": theirs.work}, effort)
    row = compared("1000 links at 1 ms", "ms/step", 1e3 / steps, times, "potential", "hht", 0.25)
    row.rival = "NexDyn's HHT-α"
    report.rows.append(row)


def timed(loop: Loop) -> float:
    began = time.process_time()
    loop.work(1)
    return time.process_time() - began


def exudyn_loop(steps: int, solver: str) -> Any:
    """SolveDynamic of the same pendulum."""
    import exudyn as exu
    from exudyn.utilities import RigidBodyInertia

    container = exu.SystemContainer()
    mbs = container.AddSystem()
    parent = mbs.CreateGround()
    inertia = RigidBodyInertia(mass=1.0, inertiaTensor=np.eye(3))
    for i in range(2):
        link = mbs.CreateRigidBody(inertia=inertia, referencePosition=[i + 0.5, 0, 0], gravity=[0, -9.81, 0])
        mbs.CreateRevoluteJoint(bodyNumbers=[parent, link], position=[i, 0, 0], axis=[0, 0, 1], show=False)
        parent = link
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = steps * DT
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = RADIUS
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 1e9
    settings.linearSolverType = getattr(exu.LinearSolverType, solver)
    settings.parallel.numberOfThreads = 1

    def work(repeat: int) -> None:
        for _ in range(repeat):
            mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha, showHints=False)

    return work


# --- the methods beside each other ------------------------------------------------------------------------------------

METHODS = {
    "implicit Euler": nx.ImplicitEuler, "BDF2": lambda dt: nx.ImplicitEuler(dt, bdf2=True),
    "HHT-α": lambda dt: nx.HHT(dt=dt), "RK4": nx.RungeKutta4,
}  # fmt: skip
REPEATS = 15
HALVED = [0.02 / 2**k for k in range(6)]


def comparison() -> dict[str, list[tuple[float, float, float]]]:
    """(error [m], energy lost [J], time [ms]) of each method at each step."""
    system = nx.load("implicit-euler")
    exact = nx.simulate(system, 1.0, nx.RungeKutta4(1e-4), output_every=10**9).position().values[-1]
    found: dict[str, list[tuple[float, float, float]]] = {}
    for name, method in METHODS.items():
        nx.simulate(system, 0.1, method(0.01))
        for dt in HALVED:
            took = []
            for _ in range(REPEATS):
                result = nx.simulate(system, 1.0, method(dt), output_every=10**9)
                took.append(result.recording.wall_time)
            energy = result.energy()["total"].values
            error = float(np.abs(result.position().values[-1] - exact).max())
            found.setdefault(name, []).append((error, float(energy[0] - energy[-1]), 1e3 * min(took)))
    return found


def table_of(found: dict[str, list[tuple[float, float, float]]]) -> str:
    """Lines for docs/implicit_euler.md, and those of times for docs/performance.md."""
    head = ["| dt [ms] | " + " | ".join(found) + " |", "|---" * (1 + len(found)) + "|"]
    accuracy, times = [*head], [*head]
    for k, dt in enumerate(HALVED):
        rows = [rows[k] for rows in found.values()]
        accuracy.append(f"| {1e3 * dt:g} | " + " | ".join(f"{e:.1e} m, {lost:.1e} J" for e, lost, _ in rows) + " |")
        times.append(f"| {1e3 * dt:g} | " + " | ".join(f"{ms:.2g} ms" for *_, ms in rows) + " |")
    return "\n".join([*accuracy, "", *times])


def draw(found: dict[str, list[tuple[float, float, float]]]) -> None:
    """docs/figures/implicit-euler.svg."""
    from benchmarks.cfa_figures import plotting, save

    figure, (left, middle, right) = plotting().subplots(1, 3, figsize=(11, 3.4))
    for (name, rows), mark in zip(found.items(), "osv^", strict=True):
        error, lost, took = (np.array(x) for x in zip(*rows, strict=True))
        left.loglog(1e3 * np.array(HALVED), error, marker=mark, markersize=3, label=name)
        middle.loglog(1e3 * np.array(HALVED), np.abs(lost), marker=mark, markersize=3)
        right.loglog(took, error, marker=mark, markersize=3)
    left.set(xlabel="step [ms]", ylabel="error of the positions at 1 s [m]")
    middle.set(xlabel="step [ms]", ylabel="change of the energy until 1 s [J]")
    right.set(xlabel="time of the run [ms]", ylabel="error of the positions at 1 s [m]")
    left.legend(fontsize=7)
    figure.tight_layout()
    save(figure, Path(__file__).parents[1] / "docs" / "figures", "implicit-euler")


if __name__ == "__main__":
    comparison_found = comparison()
    print("machine: " + ", ".join(f"{key} {value}" for key, value in machine().items()))
    print(table_of(comparison_found))
    draw(comparison_found)
