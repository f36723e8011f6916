"""A four-bar at equal error: minimal coordinates with a cut joint beside Exudyn, time for what accuracy.

The bars swing under gravity for a second. Exudyn runs generalized-α (index 3, spectral radius 1, so that nothing is damped
and its order is 2) on planar bodies with planar revolute joints, its least costly model of a planar mechanism, in its fast
module, with modified and with full Newton, dense and sparse; the fastest of these at each error, by a run of each, is timed in
turns with ours. NexDyn runs RK4 on the spanning tree of the same bars as spatial bodies, with the joint that was cut projected
after every step. Neither records a step; models are built before.

The error is that of the coupler's place and angle at the end, beside Dormand–Prince at 1e-12. Times at an error are read between the steps
that were run, on logarithmic scales.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, alternate, clock, quartiles
from nexdyn.integrate.fixed import march
from nexdyn.simulation.marches.tree import Simulation

T_END = 1.0
STEPS = {"ours": (12, 18, 25, 50, 100, 200, 400, 800), "exudyn": (100, 200, 400, 800, 1600, 3200, 6400, 12800)}
ERRORS = (1e-3, 1e-4, 1e-5)
AT_LEAST = 5.0
ROUNDS = 9
"""Turns: a run of Exudyn at the smallest error takes about a second."""
POINTS = np.array([(0, 0), (0, 1), (1.5, 1.4), (2, 0)], float)
MASS, INERTIA = 1.0, 0.1
GRAVITY = 9.81


def four_bar() -> nx.System:
    """Three bars of 1 kg and 0.1 kg m² on four hinges."""
    system = nx.System("four-bar", gravity=(0, -GRAVITY, 0))
    bars = [
        system.add_body(name, mass=MASS, inertia=(INERTIA,) * 3, position=(*(POINTS[i] + POINTS[i + 1]) / 2, 0))
        for i, name in enumerate(("crank", "coupler", "rocker"))
    ]
    ends = [(system.ground, bars[0]), (bars[0], bars[1]), (bars[1], bars[2]), (system.ground, bars[2])]
    for name, (a, b), at in zip("ABCD", ends, POINTS, strict=True):
        system.add_joint(nx.Revolute(name, a, b, at=(*at, 0), axis=(0, 0, 1)))
    return system


def coupler(result: nx.Result) -> np.ndarray:
    """(x, y, angle) of the coupler at the end."""
    R, p = result.rotation("coupler").values[-1], result.position("coupler").values[-1]
    return np.array([p[0], p[1], np.arctan2(R[1, 0], R[0, 0])])


class Ours:
    """The compiled march from the start, on tables that are there."""

    def __init__(self) -> None:
        self.simulation = Simulation(four_bar(), nx.RungeKutta4(1e-3))
        sim = self.simulation
        self.start = sim._motion.base.copy(), sim._y.copy()
        self.room = np.empty((1, sim.numbers))

    def __call__(self, steps: int) -> None:
        sim = self.simulation
        sim._motion.base[:], sim._y[:] = self.start
        sim._problem.loops.near[:] = 0.0
        A, b, c, _ = sim._tableau
        status, done, *_ = march(
            sim._problem, A, b, c, False, 0.0, T_END / steps, 0, steps, 0, sim._y, sim._most, sim._stage, sim._K, sim._n,
            self.room,
        )  # fmt: skip
        assert status == 0 and done == steps

    def state(self, steps: int) -> np.ndarray:
        self(steps)
        sim = self.simulation
        R, p = sim.tree.pose(sim._motion.base, "coupler")
        return np.array([p[0], p[1], np.arctan2(R[1, 0], R[0, 0])])


class Exudyn:
    """SolveDynamic of an assembled planar model."""

    def __init__(self, solver: str, modified: bool) -> None:
        import exudyn as exu
        from exudyn import utilities as item

        self.exu = exu
        container = exu.SystemContainer()
        mbs = self.mbs = container.AddSystem()
        ground = mbs.AddObject(item.ObjectGround())
        bars, self.start = [], []
        for i in range(3):
            d, middle = POINTS[i + 1] - POINTS[i], (POINTS[i] + POINTS[i + 1]) / 2
            angle = float(np.arctan2(d[1], d[0]))
            node = mbs.AddNode(item.NodeRigidBody2D(referenceCoordinates=[*middle, angle]))
            bar = mbs.AddObject(item.ObjectRigidBody2D(physicsMass=MASS, physicsInertia=INERTIA, nodeNumber=node))
            mbs.AddLoad(
                item.LoadMassProportional(
                    markerNumber=mbs.AddMarker(item.MarkerBodyMass(bodyNumber=bar)), loadVector=[0, -GRAVITY, 0]
                )
            )
            bars.append((bar, float(np.linalg.norm(d)) / 2))
            self.start.append(angle)

        def marker(body: int, x: float, y: float = 0.0) -> int:
            return int(mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=body, localPosition=[x, y, 0])))

        (crank, a), (bar, b), (rocker, c) = bars
        for one, two in (
            (marker(ground, *POINTS[0]), marker(crank, -a)), (marker(crank, a), marker(bar, -b)),
            (marker(bar, b), marker(rocker, -c)), (marker(rocker, c), marker(ground, *POINTS[3])),
        ):  # fmt: skip
            mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=[one, two]))
        mbs.Assemble()
        self.coupler = bar
        settings = self.settings = exu.SimulationSettings()
        settings.timeIntegration.endTime = T_END
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.newton.useModifiedNewton = modified
        settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = 1e9
        settings.linearSolverType = getattr(exu.LinearSolverType, solver)
        settings.parallel.numberOfThreads = 1

    def __call__(self, steps: int) -> None:
        self.settings.timeIntegration.numberOfSteps = steps
        self.mbs.SolveDynamic(self.settings, solverType=self.exu.DynamicSolverType.GeneralizedAlpha, showHints=False)

    def state(self, steps: int) -> np.ndarray:
        self(steps)
        out = self.exu.OutputVariableType
        p = self.mbs.GetObjectOutputBody(self.coupler, out.Position, [0, 0, 0])
        R = np.reshape(self.mbs.GetObjectOutputBody(self.coupler, out.RotationMatrix, [0, 0, 0]), (3, 3))
        return np.array([p[0], p[1], np.arctan2(R[1, 0], R[0, 0]) - self.start[1]])


def at_error(errors: np.ndarray, times: np.ndarray, wanted: float) -> float:
    """The time at an error, between the runs on either side of it on logarithmic scales."""
    order = np.argsort(errors)
    x, y = np.log(np.maximum(errors[order], 1e-300)), np.log(times[order])
    if not x[0] <= np.log(wanted) <= x[-1]:
        return float("nan")
    return float(np.exp(np.interp(np.log(wanted), x, y)))


def tried(rival: Any, steps: tuple[int, ...], exact: np.ndarray) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Steps, errors and seconds of one run each, until the error is below all that is asked for."""
    done, errors, times = [], [], []
    for n in steps:
        began = clock()
        errors.append(float(np.abs(rival.state(n) - exact).max()))
        times.append(clock() - began)
        done.append(n)
        if errors[-1] < 0.5 * min(ERRORS):
            break
    return done, np.array(errors), np.array(times)


def around(errors: np.ndarray, wanted: float) -> list[int]:
    """The two runs with the errors next to one that is asked for, above and below."""
    below = int(np.flatnonzero(errors <= wanted)[0])
    return [max(below - 1, 0), below] if below else [0, 1]


def run(effort: Effort) -> Report:
    report = Report("four_bar", f"a four-bar for {T_END:g} s at equal error, one core")
    exact = coupler(nx.simulate(four_bar(), T_END, nx.DormandPrince(rtol=1e-12, atol=1e-14), output_every=10**9))
    rivals: dict[str, Any] = {"ours": Ours()}
    for solver in ("EXUdense", "EigenSparse"):
        for modified in (True, False):
            rivals[f"{solver}{' modified' if modified else ''}"] = Exudyn(solver, modified)
    rivals["ours"](STEPS["ours"][0])  # compiles
    found = {name: tried(f, STEPS["ours" if name == "ours" else "exudyn"], exact) for name, f in rivals.items()}
    for name, (_, errors, _) in found.items():
        if not errors[-1] < min(ERRORS):
            raise SystemExit(f"{name} differs by {errors[-1]:.1e} at its shortest step; nothing was measured")
    for wanted in ERRORS:
        once = {name: at_error(errors, times, wanted) for name, (_, errors, times) in found.items() if name != "ours"}
        best = min(once, key=lambda name: once[name] if np.isfinite(once[name]) else np.inf)
        near = {name: around(found[name][1], wanted) for name in ("ours", best)}
        work = {f"{name}|{k}": _repeated(rivals[name], found[name][0][k]) for name in near for k in near[name]}
        times = alternate(work, replace(effort, rounds=min(effort.rounds, ROUNDS)))
        mine, theirs = (
            np.array([
                at_error(found[name][1][near[name]], np.array([times[f"{name}|{k}"][r] for k in near[name]]), wanted)
                for r in range(min(effort.rounds, ROUNDS))
            ])
            for name in near
        )  # fmt: skip
        ratios = theirs / mine
        middle = float(np.median(ratios))
        report.rows.append(
            Row(
                f"error {wanted:g}", "ms", 1e3 * float(np.median(mine)), 1e3 * float(np.median(theirs)), f"exudyn {best}",
                middle, quartiles(sorted(ratios)), f"≥ {AT_LEAST:g}×", middle >= AT_LEAST,
            )
        )  # fmt: skip
        told = []
        for name, who in (("ours", "NexDyn"), (best, "Exudyn")):
            steps, errors, _ = found[name]
            told.append(f"{who} {', '.join(f'{steps[k]} steps {errors[k]:.1e}' for k in near[name])}")
        report.notes.append(f"error {wanted:g}: {'; '.join(told)}")
    return report


def _repeated(rival: Any, steps: int) -> Any:
    def work(repeat: int) -> None:
        for _ in range(repeat):
            rival(steps)

    return work
