"""Tree algorithms, RK4 and HHT in lanes, time per system, beside Pinocchio's C++ and MuJoCo's rollout; one core.

LANES systems at once (8 with AVX-512, else 4), each in a state of its own, in a compiled loop; Pinocchio's C++ headers
compiled on this machine with -O3 -march=native, one state after another. Trees go to C++ as NexDyn's own tables: a 7-joint
chain, a 30-joint tree, and of `example-robot-data` a manipulator (UR5), a quadruped (ANYmal) and a humanoid (Talos), the
last two on a floating base.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks import pinocchio_cpp
from benchmarks.hht import chain
from benchmarks.hinge_chain import DT, mujoco_chain, nexdyn_chain
from benchmarks.measure import Effort, Report, Row, alternate, compared
from benchmarks.models import nexdyn_system, random_tree
from nexdyn.absolute.motion import hht, hht_lanes
from nexdyn.batch.bodies import Stacked
from nexdyn.batch.lane_tables import stack, with_shared_model
from nexdyn.kernel import kernel
from nexdyn.simulation.marches.bodies import BodySimulation
from nexdyn.simulation.problem import build_problem
from nexdyn.spatial.lanes import LANES, LaneTable, LaneVector
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.core.crba import mass_matrix
from nexdyn.tree.core.rnea import inverse_dynamics
from nexdyn.tree.lanes.entries import new_scratch, shared_model
from nexdyn.tree.lanes.march import EXPLICIT, NEVER, march_lanes
from nexdyn.tree.lanes.memory import lane_zeros

AGREE = 1e-9
TARGETS = (
    {"aba": 12.0, "rnea": 8.0, "crba": 8.0, "rk4": 12.0}
    if LANES == 8
    else {"aba": 6.0, "rnea": 4.0, "crba": 4.0, "rk4": 6.0}
)
TREES = {"7-joint chain": (7, 1), "30-joint tree": (30, 4)}
ROBOTS = {
    "manipulator": ("ur5_robot.urdf", "fixed"), "quadruped": ("anymal.urdf", "free"), "humanoid": ("talos_reduced.urdf", "free"),
}  # fmt: skip
STEPS = 250
Array = np.ndarray


@kernel
def aba_loop(repeat, model, s):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        articulated_bodies(model, s.q, s.v, s.x, None, s.work, s.y)


@kernel
def rnea_loop(repeat, model, s):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        inverse_dynamics(model, s.q, s.v, s.x, s.work, s.y)


@kernel
def crba_loop(repeat, model, s):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        mass_matrix(model, s.q, s.work, s.M)


LOOPS = {"aba": aba_loop, "rnea": rnea_loop, "crba": crba_loop}


def run(effort: Effort) -> Report:
    report = Report("lanes", f"{LANES} systems at once in lanes, time per system, one core")
    library, reason = pinocchio_cpp.load(build=not effort.smoke)
    if library is None:
        report.notes.append(f"No C++ rows: {reason}.")
    for what, (n, among) in TREES.items():
        compare(report, what, nx.Tree(nexdyn_system(random_tree(n, np.random.default_rng(7), among))), library, effort)
    for what, (name, base) in ROBOTS.items():
        path = robot(name)
        if path is None:
            report.notes.append(f"No {what}: example-robot-data is not installed.")
        else:
            compare(report, what, nx.Tree(nx.load(path, base=base)), library, effort)
    for links in (6, 30):
        hinge_chain(report, links, effort)
    constrained(report, "four-bar, HHT", nx.load("four-bar"), effort)
    constrained(report, "chain of 20 in absolute coordinates, HHT", chain(20), effort)
    return report


def robot(name: str) -> Path | None:
    """A robot of `example-robot-data`."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((Path(str(f.locate())) for f in files if f.name == name), None)


def compare(report: Report, what: str, tree: nx.Tree, library: Any, effort: Effort) -> None:
    """All three algorithms on one tree."""
    rng = np.random.default_rng(1)
    q = np.array([tree.random(rng) for _ in range(LANES)])
    v, x = rng.normal(size=(2, LANES, tree.nv))
    c = tree.compiled
    model = shared_model(c.model)
    scratch = new_scratch(len(c.model.topology) - 1, c.nq, c.nv)
    for table, values in ((scratch.q, q), (scratch.v, v), (scratch.x, x)):
        table.data[:, 0] = values.T
    expected = {"aba": tree.aba(q[0], v[0], x[0]), "rnea": tree.rnea(q[0], v[0], x[0]), "crba": tree.crba(q[0])}
    for name, loop in LOOPS.items():
        loop(1, model, scratch)
        found = below(scratch.M.data[:, :, 0]) if name == "crba" else scratch.y.data[:, 0, 0]
        check(f"{name} in lanes", found, expected[name])

        def work(repeat: int, loop: Any = loop) -> None:
            loop(repeat, model, scratch)

        rivals: dict[str, Callable[[int], Any]] = {"lanes": work}
        for axes in (
            ("local", "world") if library is not None and name != "rnea" else ("local",) * (library is not None)
        ):
            rival = f"pinocchio C++, {axes} axes"
            rivals[rival], out = pinocchio_cpp.of_tables(library, name, tree, q[0], v[0], x[0], axes == "world")
            rivals[rival](1)
            check(f"{name} of {rival}", out(), expected[name])
        times = alternate(rivals, effort)
        times["lanes"] = [t / LANES for t in times["lanes"]]
        fastest = min(
            (rival for rival in rivals if rival != "lanes"), key=lambda rival: np.median(times[rival]), default=""
        )
        if library is not None:
            report.rows.append(compared(f"{what}, {name.upper()}", "µs", 1e6, times, "lanes", fastest, TARGETS[name]))
        else:
            report.rows.append(Row(f"{what}, {name.upper()}", "µs", 1e6 * float(np.median(times["lanes"]))))


def below(M: Array) -> Array:
    """All of a symmetric matrix from its half below the diagonal, which is what both sides compute of M."""
    return np.tril(M) + np.tril(M, -1).T


def check(what: str, found: Array, expected: Array) -> None:
    """Rivals that do not agree are not compared."""
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    if not error < AGREE:
        raise SystemExit(f"{what} differs by {error:.1e}; nothing was measured")


def hinge_chain(report: Report, links: int, effort: Effort) -> None:
    """Steps of RK4 of the damped hinge chain, every step recorded, beside MuJoCo's rollout of as many systems."""
    from mujoco import rollout

    steps = 10 if effort.smoke else STEPS
    work, states = march_work(links, steps)
    model, data, start = mujoco_chain(links)
    starts = np.repeat(start[None], LANES, axis=0)
    starts[:, 1] += 0.1 * np.arange(LANES)
    recorded = np.empty((LANES, steps, len(start)))

    def mujoco(repeat: int) -> None:
        for _ in range(repeat):
            rollout.rollout([model] * LANES, [data], starts, nstep=steps, state=recorded, skip_checks=True)

    work(1)
    mujoco(1)
    check(f"the chain of {links} links", states()[1 : 1 + links].T, recorded[:, -2, 1 : 1 + links])
    times = alternate({"lanes": work, "mujoco.rollout": mujoco}, effort)
    scale = 1e6 / (steps * LANES)
    report.rows.append(
        compared(f"hinge chain of {links}, RK4", "µs/step", scale, times, "lanes", "mujoco.rollout", TARGETS["rk4"])
    )


def constrained(report: Report, what: str, system: nx.System, effort: Effort) -> None:
    """Steps of HHT at 1 ms in absolute coordinates, LANES systems that start at different speeds, beside one after another."""
    steps = 5 if effort.smoke else 200
    joint = next(iter(system.joints))
    runs = [BodySimulation(system, nx.HHT(dt=DT), v0={joint: 1.0 + 0.1 * i}) for i in range(LANES)]
    together = Stacked(runs)
    starts = [[x.copy() for x in run.state] for run in runs]
    start = [x.data.copy() for x in together.state]
    numbers = runs[0].numbers
    out, room = np.empty((1, numbers)), LaneTable(lane_zeros((1, numbers, LANES)), 0)
    alpha = nx.HHT().alpha
    remembered = together.memory.copy()

    def lanes(repeat: int) -> None:
        for _ in range(repeat):
            for x, x0 in zip(together.state, start, strict=True):
                x.data[...] = x0
            together.memory[:] = remembered
            hht_lanes.march_lanes(*together.problem, 0.0, DT, 0, steps, 0, alpha, *together.control, room)

    def one_by_one(repeat: int) -> None:
        for _ in range(repeat):
            for run, begun, memory in zip(runs, starts, remembered, strict=True):
                for x, x0 in zip(run.state, begun, strict=True):
                    x[...] = x0
                run.newton_memory[:] = memory
                hht.march_fixed(
                    run.tables, run.acts, run.state, run.record, 0.0, DT, 0, steps, 0, alpha, run.newton_memory, out
                )

    lanes(1)
    one_by_one(1)
    check(what, together.state.q1.data[:, :, 0], runs[0].state.q1)
    check(what, together.state.q1.data[:, :, -1], runs[-1].state.q1)
    times = alternate({"lanes": lanes, "one by one": one_by_one}, effort)
    row = compared(what, "µs/step", 1e6 / (steps * LANES), times, "lanes", "one by one", 1.0)
    row.rival, row.target, row.met = "NexDyn, one after another", "", None
    report.rows.append(row)


def march_work(links: int, steps: int) -> tuple[Callable[[int], None], Callable[[], Array]]:
    """Work that runs `steps` steps of LANES chains into an array that is there, and the last state of it."""
    tree = nx.Tree(nexdyn_chain(links))
    q0, n, tableau = tree.described(), tree.nv, nx.RungeKutta4(DT).tableau
    problem = with_shared_model(stack([build_problem(tree, q0, "aba")] * LANES), tree)
    starts = np.repeat(q0[:, None], LANES, axis=1)
    starts[0] += 0.1 * np.arange(LANES)
    y, stage = (LaneVector(lane_zeros((2 * n, 1, LANES)), 0) for _ in range(2))
    K, out = LaneTable(lane_zeros((4, 2 * n, LANES)), 0), LaneTable(lane_zeros((steps, 1 + tree.nq + 2 * n, LANES)), 0)
    inputs, failed = LaneTable(lane_zeros((1, n, LANES)), 0), np.full((LANES, 2), NEVER, dtype=np.int64)

    def work(repeat: int) -> None:
        for _ in range(repeat):
            problem.base.data[:, 0], y.data[:] = starts, 0.0
            march_lanes(
                problem, tableau.A, tableau.b, tableau.c, EXPLICIT, 0.0, DT, 0, steps, 1, y, stage, K, n, inputs, 0, failed,
                out,
            )  # fmt: skip

    return work, lambda: out.data[-1]
