"""Index-3 dynamics in absolute coordinates beside Exudyn's generalized-α: an n-link spatial hinge chain at 1 ms.

Unit masses and inertias, links of 1 m, hinges about two axes in turn, falling from horizontal. Exudyn runs generalized-α
with spectral radius 0.9 and modified Newton, its fast module, the faster of its dense and sparse solvers at each n, and writes nothing;
HHT has α = −0.0526, which is the same spectral radius, and records nothing. Solving alone is timed: both models are built
and assembled before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import splu

import nexdyn as nx
from benchmarks.measure import Effort, Report, alternate, compared
from nexdyn.absolute.motion import hht
from nexdyn.linalg.lu import factor, solve
from nexdyn.linalg.solvers import Pattern, iterative, unknowns
from nexdyn.simulation.marches.bodies import BodySimulation

DT, ALPHA, RADIUS = 1e-3, -1.0 / 19.0, 0.9
STEPS = {2: 1000, 6: 500, 20: 200, 100: 60, 500: 20}
AT_LEAST = 5.0
AGREE = 2e-5
"""Positions [m] by which the two may differ: both are of order 2."""


def run(effort: Effort) -> Report:
    report = Report("hht", "steps of an n-link spatial hinge chain at 1 ms in absolute coordinates, one core")
    sizes = {2: 20, 6: 20} if effort.smoke else STEPS
    for links, steps in sizes.items():
        compare(report, links, steps, effort)
    report.notes.append(
        "Exudyn: fast module, generalized-α, spectral radius 0.9, modified Newton, Euler parameters, revolute joints, the faster of "
        "EXUdense and EigenSparse; NexDyn: HHT with α = −1/19, of the same spectral radius. Neither records a step."
    )
    solvers(report, 20 if effort.smoke else 1000, effort)
    if not effort.smoke:
        scaling(report)
    return report


def solvers(report: Report, links: int, effort: Effort) -> None:
    """The iteration matrix of a chain: factored and solved by our elimination, by SuperLU and by GMRES."""
    sim = BodySimulation(chain(links), nx.HHT(alpha=ALPHA, dt=DT, solver="lu"))  # which leaves the matrix as it is
    sim.run(DT)
    s, plan = sim.state, sim.tables.plan
    rng, places = np.random.default_rng(0), unknowns(plan)
    b = plan.new_vector()
    b.reshape(-1)[places] = rng.normal(size=len(places))
    upper, lower, work, x = s.upper.copy(), s.lower.copy(), plan.new_work(), b.copy()
    matrix, right = Pattern(plan).matrix(s.upper, s.lower), b.reshape(-1)[places]

    def block(repeat: int) -> None:
        for _ in range(repeat):
            upper[:], lower[:], x[:] = s.upper, s.lower, b
            factor(plan, upper, lower, work)
            solve(plan, upper, lower, x)

    rivals = {"superlu": lambda: splu(matrix).solve(right), "gmres": lambda: iterative(matrix)(right)}
    block(1)
    mine = x.reshape(-1)[places]
    work_of: dict[str, Any] = {"block": block}
    for name, solution in rivals.items():
        error = float(np.abs(mine - solution()).max() / np.abs(mine).max())
        if not error < 1e-6:
            raise SystemExit(f"the elimination differs from {name} by {error:.1e}; nothing was measured")

        def repeated(repeat: int, solution: Any = solution) -> None:
            for _ in range(repeat):
                solution()

        work_of[name] = repeated
    times = alternate(work_of, effort)
    for name, long in (("superlu", "SuperLU (scipy)"), ("gmres", "GMRES on an incomplete LU (scipy)")):
        row = compared(f"factor and solve, {links} links", "µs", 1e6, times, "block", name, AT_LEAST)
        row.rival = long
        report.rows.append(row)


def compare(report: Report, links: int, steps: int, effort: Effort) -> None:
    ours = our_loop(links, steps)
    rivals: dict[str, Any] = {}
    for solver in ("EXUdense", "EigenSparse"):
        if solver == "EXUdense" and links > 100:
            continue
        rivals[solver] = exudyn_loop(links, steps, solver)
    tip = ours.tip()
    for solver, (_, position) in rivals.items():
        error = float(np.abs(position() - tip).max())
        if not error < AGREE * max(1.0, links / 6):
            raise SystemExit(
                f"the tip of {links} links differs from Exudyn ({solver}) by {error:.1e}; nothing was measured"
            )
    work = {"hht": ours.work, **{name: loop for name, (loop, _) in rivals.items()}}
    times = alternate(work, effort)
    best = min(rivals, key=lambda name: float(np.median(times[name])))
    row = compared(f"{links} links", "µs/step", 1e6 / steps, times, "hht", best, AT_LEAST)
    row.rival = f"exudyn {best}"
    report.rows.append(row)


class our_loop:  # noqa: N801
    """NexDyn's compiled loop from the start, on tables that are there."""

    def __init__(self, links: int, steps: int) -> None:
        self.simulation = BodySimulation(chain(links), nx.HHT(alpha=ALPHA, dt=DT))
        self.steps, self.room = steps, np.empty((1, self.simulation.numbers))
        s = self.simulation.state
        self.start = [x.copy() for x in (s.q0, s.v0, s.d0, s.lam0)]

    def work(self, repeat: int) -> None:
        sim = self.simulation
        s = sim.state
        for _ in range(repeat):
            for target, source in zip((s.q0, s.v0, s.d0, s.lam0), self.start, strict=True):
                target[:] = source
            s.a0[:] = s.d0
            sim.newton_memory[:] = hht.memory_at_start(sim.tables, s)
            status, done, _ = hht.march_fixed(
                sim.tables, sim.acts, s, sim.record, 0.0, DT, 0, self.steps, 0, ALPHA, sim.newton_memory, self.room
            )
            assert status == 0 and done == self.steps

    def tip(self) -> np.ndarray:
        self.work(1)
        return self.simulation.state.q0[-1, 4:7].copy()


def scaling(report: Report) -> None:
    """Time and memory a body of long chains, over the first steps and over more."""
    import time

    from benchmarks.measure import Row

    sizes, size = (100, 1000, 10000, 100000), 0.0
    for steps in (5, 20):
        per_body = []
        for links in sizes:
            loop = our_loop(links, steps)
            loop.work(1)
            per_body.append(1e6 * min(_timed(loop, time.process_time) for _ in range(5)) / steps / links)
            sim = loop.simulation
            arrays = [
                x for x in (*sim.state, *sim.tables, *sim.tables.constraints, *sim.tables.plan) if hasattr(x, "nbytes")
            ]
            size = sum(x.nbytes for x in {id(x): x for x in arrays}.values()) / links
        ratio, what = per_body[-1] / per_body[0], f"100, 10³, 10⁴, 10⁵ links, {steps} steps"
        report.rows.append(Row(what, "µs/step and body", per_body, ratio=ratio, target="≤ 2.5×", met=ratio <= 2.5))
    report.rows.append(Row("model, state and workspace", "bytes a body", size, target="≤ 5000", met=size <= 5000))


def _timed(loop: our_loop, clock: Any) -> float:
    began = clock()
    loop.work(1)
    return float(clock() - began)


def axis(i: int) -> tuple[float, float, float]:
    return (0.0, 1.0, 0.0) if i % 2 == 0 else (0.0, 0.6, 0.8)


def chain(links: int) -> nx.System:
    system = nx.System(f"spatial chain of {links}", gravity=(0, 0, -9.81))
    parent = system.ground
    for i in range(links):
        link = system.add_body(f"link{i}", mass=1.0, inertia=(1, 1, 1), position=(i + 0.5, 0, 0))
        system.add_joint(nx.Revolute(f"hinge{i}", parent, link, at=(i, 0, 0), axis=axis(i)))
        parent = link
    return system


def exudyn_loop(links: int, steps: int, solver: str) -> tuple[Any, Any]:
    """(work, position of the last link): SolveDynamic of an assembled model."""
    import exudyn as exu
    from exudyn.utilities import RigidBodyInertia

    container = exu.SystemContainer()
    mbs = container.AddSystem()
    parent = mbs.CreateGround()
    inertia = RigidBodyInertia(mass=1.0, inertiaTensor=np.eye(3))
    for i in range(links):
        link = mbs.CreateRigidBody(inertia=inertia, referencePosition=[i + 0.5, 0, 0], gravity=[0, 0, -9.81])
        mbs.CreateRevoluteJoint(bodyNumbers=[parent, link], position=[i, 0, 0], axis=list(axis(i)), show=False)
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

    def position() -> np.ndarray:
        work(1)
        return np.array(mbs.GetObjectOutputBody(parent, exu.OutputVariableType.Position, [0, 0, 0]))

    return work, position
